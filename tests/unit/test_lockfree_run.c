/*
 * lockfree/refs/run.h: the pool of runs. A run that was given back has another name, memory and
 * numbers come back.
 */
#include "bin_world.h"

static struct {
    void (*others)(world_t *world); /* once */
    world_t *world;
    unsigned loads_before;
} interleave;

static uint64_t
load_after_others(const atomic_u64 *word)
{
    void (*others)(world_t *) = interleave.others;
    if (others != NULL && interleave.loads_before-- == 0) {
        interleave.others = NULL;
        others(interleave.world);
    }
    return u64_load_acquire(word);
}

/*
 * run.c is compiled into this test, with loads that let others go first: what they do comes between
 * the steps of a look.
 */
#define u64_load_acquire load_after_others
#include "lockfree/refs/run.c"
#undef u64_load_acquire

/* ---- the pool of runs ------------------------------------------------------------------------ */

static void
a_run_that_was_given_back_has_another_word(void **state)
{
    world_t *world = *state;
    struct run *run = run_take(&world->pool, 1);
    uint64_t word = run_word(run);
    run_give(&world->pool, run);
    assert_ptr_equal(run_take(&world->pool, 1), run);
    assert_true(run_word(run) != word);
    assert_int_equal((uint32_t)run_word(run), (uint32_t)word);
    assert_int_equal(u32_load(&run->count), 0);
    run_give(&world->pool, run);
}

static void
a_late_advance_does_not_move_the_next_users_head(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    struct bin_head old = {0}, head = {0};
    make_active(world, bin, 0, 1);
    assert_true(bin_first(bin, &world->pool, &old));
    assert_claims(world, bin, 0);
    assert_claims(world, bin, PODS); /* the run goes back */
    make_active(world, bin, 1, 2);
    assert_true(bin_first(bin, &world->pool, &head));
    assert_ptr_equal(head.run.run, old.run.run);
    bin_advance(&old);
    assert_claims(world, bin, 1);
}

static void
runs_have_room_for_what_was_asked(void **state)
{
    world_t *world = *state;
    static const uint32_t counts[] = {1, 2, 3, 4, 5, 16, 17, 255, 256, 257, 1000};
    struct run *runs[sizeof counts / sizeof *counts];
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        runs[i] = run_take(&world->pool, counts[i]);
        for (uint32_t j = 0; j < counts[i]; j++)
            run_put(runs[i], ref_make(i + 1, j + 1), (int64_t)j);
    }
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_int_equal(u32_load(&runs[i]->count), counts[i]);
        for (uint32_t j = 0; j < counts[i]; j++)
            assert_true(u64_load(&runs[i]->slots[j].ref) == ref_make(i + 1, j + 1));
        run_give(&world->pool, runs[i]);
    }
    assert_null(run_take(&world->pool, (1u << 28) + 1));
}

/* By words, as slots have them. */
static void
a_run_goes_on_where_generations_go_round_though_trims_come_between(void **state)
{
    world_t *world = *state;
    enum { ROUNDS = 12 };
    uint64_t words[ROUNDS];
    struct run *run = run_take(&world->pool, 1);
    u64_store(&run->generation, UINT32_MAX - 3);
    for (unsigned i = 0; i < ROUNDS; i++) {
        words[i] = run_word(run);
        for (unsigned j = 0; j < i; j++)
            assert_true(words[i] != words[j]);
        run_give(&world->pool, run);
        if (i % 2 == 1) {
            epoch_enter(world->ground.record);
            run_pool_trim(&world->pool, world->ground.record);
            epoch_leave(world->ground.record);
        }
        run = run_take(&world->pool, 1);
    }
    run_give(&world->pool, run);
}

static void
trim_gives_back_free_runs_and_their_numbers(void **state)
{
    world_t *world = *state;
    enum { COUNT = 40 };
    struct run *runs[COUNT];
    uint64_t words[COUNT];
    uint64_t leaf = RUN_LEAF * sizeof(atomic_ptr);
    uint64_t before = memory_bytes(&world->ground.memory, MEMORY_QUEUES);
    for (unsigned i = 0; i < COUNT; i++) {
        runs[i] = run_take(&world->pool, 1 + i);
        words[i] = run_word(runs[i]);
    }
    for (unsigned i = 0; i < COUNT; i++)
        run_give(&world->pool, runs[i]);
    run_pool_trim(&world->pool, world->caller.epoch);
    for (unsigned i = 0; i < COUNT; i++)
        assert_null(run_at(&world->pool, words[i]));
    for (unsigned i = 0; i < 8; i++) {
        epoch_leave(world->caller.epoch);
        epoch_poll(world->caller.epoch);
        epoch_enter(world->caller.epoch);
    }
    assert_int_equal(memory_bytes(&world->ground.memory, MEMORY_QUEUES), before + leaf);
    for (unsigned i = 0; i < COUNT; i++) {
        runs[i] = run_take(&world->pool, 1 + i);
        assert_true(runs[i]->number <= COUNT);
        for (unsigned j = 0; j < COUNT; j++)
            assert_true(run_word(runs[i]) != words[j]);
    }
    for (unsigned i = 0; i < COUNT; i++)
        run_give(&world->pool, runs[i]);
}

static void
without_memory_there_is_no_run_and_no_number_is_lost(void **state)
{
    world_t *world = *state;
    for (int64_t successes = 0; successes < 2; successes++) {
        account_fail_after(&world->ground.account, successes);
        assert_null(run_take(&world->pool, 1));
        assert_true(account_heal(&world->ground.account));
    }
    struct run *run = run_take(&world->pool, 1);
    assert_int_equal(run->number, 1);
    run_give(&world->pool, run);
}

/* The pod is claimed, its run goes back, and is another bin's at once. */
static void
use_the_run_again(world_t *world)
{
    assert_claims(world, world->bins[0], 0);
    assert_claims(world, world->bins[0], PODS);
    (void)move(world, 1, OTHER_BAND, PLACE_ACTIVE);
    assert_true(publish_one(world, world->bins[1], ref_of(world, 1), 77));
}

static void
a_run_that_is_used_again_while_it_is_read_is_not_taken_for_the_old_one(void **state)
{
    world_t *world = *state;
    for (unsigned loads = 0; loads < 4; loads++) { /* the head, the key, the ref, the slot */
        struct bin *bin = world->bins[0];
        struct run_head head = {0};
        unsigned slot = 0;
        make_active(world, bin, 0, 5);
        while (u64_load(&bin->runs[slot]) == 0)
            slot++;
        uint64_t word = u64_load(&bin->runs[slot]);
        interleave.world = world;
        interleave.loads_before = loads;
        interleave.others = use_the_run_again;
        assert_int_equal(run_peek(&world->pool, &bin->runs[slot], word, &head), RUN_CHANGED);
        assert_null(interleave.others);
        int64_t key = -1;
        assert_int_equal(claim(world, world->bins[1], &key), 1);
        assert_ns_equal(key, 77);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(a_run_that_was_given_back_has_another_word),
        TEST(a_late_advance_does_not_move_the_next_users_head),
        TEST(runs_have_room_for_what_was_asked),
        TEST(trim_gives_back_free_runs_and_their_numbers),
        cmocka_unit_test_setup_teardown(
            a_run_goes_on_where_generations_go_round_though_trims_come_between, setup, teardown),
        TEST(a_run_that_is_used_again_while_it_is_read_is_not_taken_for_the_old_one),
        TEST(without_memory_there_is_no_run_and_no_number_is_lost),
#undef TEST
    };
    return cmocka_run_group_tests_name("lockfree_run", tests, NULL, NULL);
}
