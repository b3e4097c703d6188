/*
 * lockfree/refs/bin.h: the word that tells walks where to look is CLEAR only when nothing is there,
 * and threads that rely on it find every pod.
 */
#include <pthread.h>
#include <sched.h>

#include "bin_world.h"
#include "mailbox.h"

/* ---- the word -------------------------------------------------------------------------------- */

static uint64_t
bin_word(const struct bin *bin)
{
    return u64_load(bin->word);
}

static void
assert_phase(const struct bin *bin, enum bin_phase phase, uint64_t version)
{
    assert_int_equal(bin_phase(bin_word(bin)), phase);
    assert_int_equal(bin_word(bin) >> 3, version);
}

static void
found_empty_often(world_t *world, struct bin *bin, unsigned times)
{
    uint64_t seen = bin_word(bin);
    for (unsigned i = 0; i < times; i++)
        bin_found_empty(bin, &world->pool, seen);
}

static void
each_change_of_the_word_raises_its_version(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    assert_phase(bin, BIN_CLEAR, 0);
    for (uint64_t round = 0; round < 5; round++) {
        assert_true(bin_mark(bin));
        assert_phase(bin, BIN_SET, 3 * round + 1);
        assert_true(bin_mark(bin));
        assert_phase(bin, BIN_SET, 3 * round + 1);
        found_empty_often(world, bin, BIN_FRUITLESS - 1);
        assert_phase(bin, BIN_SET, 3 * round + 1);
        found_empty_often(world, bin, 1);
        assert_phase(bin, BIN_CLEAR, 3 * round + 3);
    }
}

static void
a_bin_with_a_pod_is_not_cleared(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    make_active(world, bin, 0, 1);
    assert_true(bin_mark(bin));
    found_empty_often(world, bin, BIN_FRUITLESS);
    assert_phase(bin, BIN_CLEARING, 2);
    assert_false(bin_clear(bin, &world->pool));
    assert_phase(bin, BIN_CLEARING, 2);
    assert_true(bin_mark(bin));
    assert_phase(bin, BIN_SET, 3);
    assert_claims(world, bin, 0);
}

static void
a_bin_with_an_early_ref_is_not_cleared_and_its_pod_is_not_moved(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    (void)move(world, 0, OTHER_BAND, PLACE_ACTIVE);
    uint64_t before = word_of(world, 0);
    assert_true(publish_one(world, bin, next_ref_of(world, 0), 1));
    assert_true(bin_mark(bin));
    found_empty_often(world, bin, BIN_FRUITLESS);
    assert_phase(bin, BIN_CLEARING, 2);
    assert_true(word_of(world, 0) == before);
}

static void
a_bin_with_stale_refs_only_is_cleared(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    assert_true(bin_prepare(bin, &world->caller, 3));
    for (unsigned i = 0; i < 3; i++) {
        (void)move(world, i, BAND, PLACE_ACTIVE);
        lane_put(bin_lane(bin, 0), ref_of(world, i), (int64_t)i);
        make_active(world, bin, 10 + i, (int64_t)i);
    }
    lane_publish(bin_lane(bin, 0));
    for (unsigned i = 0; i < 20; i++)
        (void)move(world, i, BAND, PLACE_DEAD);
    assert_true(bin_mark(bin));
    found_empty_often(world, bin, BIN_FRUITLESS);
    assert_phase(bin, BIN_CLEAR, 3);
}

static void
whoever_finds_clearing_and_nothing_else_finishes_it(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    make_active(world, bin, 0, 1);
    assert_true(bin_mark(bin));
    found_empty_often(world, bin, BIN_FRUITLESS);
    assert_phase(bin, BIN_CLEARING, 2);
    assert_claims(world, bin, 0);
    bin_found_empty(bin, &world->pool, bin_word(bin));
    assert_phase(bin, BIN_CLEAR, 3);
}

/*
 * The scan began when the word was `seen`: a producer who came since is not known to have been seen
 * by it.
 */
static void
what_was_marked_since_is_not_cleared(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    make_active(world, bin, 0, 1);
    assert_true(bin_mark(bin));
    found_empty_often(world, bin, BIN_FRUITLESS);
    uint64_t clearing = bin_word(bin);
    assert_claims(world, bin, 0);
    make_active(world, bin, 1, 1);
    assert_true(bin_mark(bin));
    bin_found_empty(bin, &world->pool, clearing);
    assert_phase(bin, BIN_SET, 3);
    for (unsigned i = 0; i < 2 * BIN_FRUITLESS; i++)
        bin_found_empty(bin, &world->pool, clearing ^ BIN_CLEARING ^ BIN_SET);
    assert_phase(bin, BIN_SET, 3);
    assert_claims(world, bin, 1);
}

static void
a_set_bin_counts_its_fruitless_scans_anew(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    assert_true(bin_mark(bin));
    found_empty_often(world, bin, BIN_FRUITLESS);
    assert_phase(bin, BIN_CLEAR, 3);
    assert_true(bin_mark(bin));
    found_empty_often(world, bin, BIN_FRUITLESS - 1);
    assert_phase(bin, BIN_SET, 4);
}

static void
retire(struct bin *bin)
{
    u64_store(bin->word, bin_word_next(bin_word(bin), BIN_RETIRED));
}

static void
retired_is_for_ever(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    assert_true(bin_mark(bin));
    assert_true(bin_clear(bin, &world->pool));
    retire(bin);
    assert_phase(bin, BIN_RETIRED, 4);
    make_active(world, bin, 0, 1);
    assert_false(bin_mark(bin));
    assert_false(bin_clear(bin, &world->pool));
    bin_found_empty(bin, &world->pool, bin_word(bin) - 8 - BIN_RETIRED + BIN_CLEARING);
    assert_phase(bin, BIN_RETIRED, 4);
}

static void
a_bin_is_cleared_at_once_only_when_it_is_empty(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    make_active(world, bin, 0, 1);
    assert_true(bin_mark(bin));
    assert_false(bin_clear(bin, &world->pool));
    assert_false(bin_clear(bin, &world->pool));
    assert_int_not_equal(bin_phase(bin_word(bin)), BIN_CLEAR);
    assert_claims(world, bin, 0);
    assert_true(bin_clear(bin, &world->pool));
    assert_int_equal(bin_phase(bin_word(bin)), BIN_CLEAR);
}

static unsigned notes;

static void
note(struct bin *bin)
{
    assert_int_equal(bin_phase(bin_word(bin)), BIN_SETTING);
    notes++;
}

static void
a_bin_that_is_noted_elsewhere_is_noted_before_it_is_set(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    notes = 0;
    bin->note = note;
    assert_true(bin_mark(bin));
    assert_phase(bin, BIN_SET, 2);
    assert_true(bin_mark(bin));
    assert_int_equal(notes, 1);
    found_empty_often(world, bin, BIN_FRUITLESS);
    assert_phase(bin, BIN_CLEAR, 4);
    u64_store(bin->word, bin_word_next(bin_word(bin), BIN_LEAVING));
    assert_true(bin_mark(bin));
    assert_phase(bin, BIN_SET, 7);
    assert_int_equal(notes, 2);
}

/*
 * Who published an early ref, and stops before he marks the bin, must not take the pod out of
 * sight.
 */
static void
a_pod_that_a_helper_switched_is_in_a_bin_that_walks_look_at(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    struct bin_head head = {0};
    uint64_t word;
    (void)move(world, 0, OTHER_BAND, PLACE_ACTIVE);
    assert_true(publish_one(world, bin, next_ref_of(world, 0), 1));
    assert_true(bin_first(bin, &world->pool, &head));
    assert_true(bin_judge(bin, &world->caller, bin_head_ref(&head), bin_head_cause(&head), &word));
    assert_int_equal(state_band(word), BAND);
    assert_int_equal(bin_phase(bin_word(bin)), BIN_SET);
    assert_int_equal(u64_load(&world->reorder), 1);
}

static void
pods_that_a_merge_switched_are_in_a_bin_that_walks_look_at(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < BIN_RUNS; i++) {
        (void)move(world, i, OTHER_BAND, PLACE_ACTIVE);
        assert_true(publish_one(world, world->bins[0], next_ref_of(world, i), (int64_t)i));
    }
    make_active(world, world->bins[0], 100, 50);
    assert_int_equal(bin_phase(bin_word(world->bins[0])), BIN_SET);
}

static void
a_retired_bin_helps_no_early_ref(void **state)
{
    world_t *world = *state;
    struct bin *bin = world->bins[0];
    struct bin_head head = {0};
    uint64_t word;
    retire(bin);
    (void)move(world, 0, OTHER_BAND, PLACE_ACTIVE);
    uint64_t before = word_of(world, 0);
    assert_true(publish_one(world, bin, next_ref_of(world, 0), 1));
    assert_true(bin_first(bin, &world->pool, &head));
    assert_false(bin_judge(bin, &world->caller, bin_head_ref(&head), bin_head_cause(&head), &word));
    assert_true(word_of(world, 0) == before);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { PRODUCERS = 3, CONSUMERS = 2, EACH = PODS / PRODUCERS, LAPS = 40 };

typedef struct team {
    world_t *world;
    mailbox_t mailbox;
    atomic_u32 producing, claimed;
    atomic_u32 times[PODS]; /* how often it was claimed in this lap */
} team_t;

typedef struct member {
    pthread_t thread;
    team_t *team;
    struct bin_caller caller;
    unsigned first;
    uint64_t seed;
} member_t;

static uint32_t
member_draw(member_t *member, uint32_t below)
{
    member->seed = member->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(member->seed >> 33) % below;
}

static bool
member_publish(member_t *member, struct bin *bin, uint64_t ref, int64_t key)
{
    struct run *run = run_take(member->caller.pool, 1);
    if (run == NULL)
        return false;
    run_put(run, ref, key);
    return bin_publish_run(bin, &member->caller, run);
}

static void
arrive(member_t *member, unsigned pod)
{
    world_t *world = member->team->world;
    struct bin *bin = world->bins[member_draw(member, 2)];
    (void)move(world, pod, bin->residence.band, PLACE_ACTIVE);
    if (member_draw(member, 2) == 0) {
        mailbox_check(&member->team->mailbox, bin_prepare(bin, &member->caller, 1));
        lane_put(bin_lane(bin, member->caller.worker), ref_of(world, pod), (int64_t)pod);
        lane_publish(bin_lane(bin, member->caller.worker));
    } else {
        mailbox_check(&member->team->mailbox,
                      member_publish(member, bin, ref_of(world, pod), (int64_t)pod));
    }
    atomic_fence();
    mailbox_check(&member->team->mailbox, bin_mark(bin));
}

/* To the other bin, unless it is claimed by then. */
static void
update(member_t *member, unsigned pod)
{
    world_t *world = member->team->world;
    uint64_t state = word_of(world, pod);
    struct bin *to = world->bins[state_band(state) == BAND ? 1 : 0];
    uint32_t band = to->residence.band;
    while (state_place(state) == PLACE_ACTIVE && state_band(state) != band) {
        uint64_t next = state_switched(state, band, PLACE_ACTIVE);
        uint64_t ref = ref_make(state_version(next), world->records[pod]);
        mailbox_check(&member->team->mailbox, member_publish(member, to, ref, (int64_t)pod));
        atomic_fence();
        mailbox_check(&member->team->mailbox, bin_mark(to));
        (void)u64_add(&world->reorder, 1);
        (void)u64_cas(&entry_of(world, pod)->word.low, state, next);
        state = word_of(world, pod);
    }
}

static void *
producer_main(void *argument)
{
    member_t *member = argument;
    for (unsigned i = 0; i < EACH; i++) {
        epoch_enter(member->caller.epoch);
        arrive(member, member->first + i);
        if (i > 0 && member_draw(member, 3) == 0)
            update(member, member->first + member_draw(member, i));
        if (member_draw(member, 2000) == 0)
            run_pool_trim(member->caller.pool, member->caller.epoch);
        epoch_leave(member->caller.epoch);
        epoch_poll(member->caller.epoch);
    }
    (void)u32_add(&member->team->producing, UINT32_MAX);
    return NULL;
}

static void
take_one(member_t *member, struct bin *bin)
{
    world_t *world = member->team->world;
    uint64_t word = u64_load_acquire(bin->word), state;
    struct bin_head head = {0};
    if (bin_phase(word) == BIN_CLEAR)
        return;
    while (bin_first(bin, member->caller.pool, &head)) {
        uint64_t ref = bin_head_ref(&head);
        struct entry *entry = entry_at(&world->ground.entries, ref_record(ref));
        if (!bin_judge(bin, &member->caller, ref, bin_head_cause(&head), &state)) {
            bin_advance(&head);
        } else if (u64_cas(&entry->word.low, state, state_switched(state, 0, PLACE_INFLIGHT))) {
            bin_advance(&head);
            (void)u32_add(&member->team->times[u64_load(&entry->object)], 1);
            (void)u32_add(&member->team->claimed, 1);
            return;
        }
    }
    bin_found_empty(bin, member->caller.pool, word);
}

static bool
is_over(const team_t *team)
{
    const world_t *world = team->world;
    return u32_load(&team->producing) == 0 &&
           bin_phase(u64_load_acquire(&world->words[0])) == BIN_CLEAR &&
           bin_phase(u64_load_acquire(&world->words[1])) == BIN_CLEAR;
}

static void *
consumer_main(void *argument)
{
    member_t *member = argument;
    while (!is_over(member->team)) {
        epoch_enter(member->caller.epoch);
        for (unsigned i = 0; i < 20; i++)
            take_one(member, member->team->world->bins[i % 2]);
        epoch_leave(member->caller.epoch);
        if (member_draw(member, 4) == 0)
            (void)sched_yield();
    }
    return NULL;
}

static void
run_lap(team_t *team, member_t *members)
{
    (void)u32_exchange(&team->producing, PRODUCERS);
    (void)u32_exchange(&team->claimed, 0);
    for (unsigned i = 0; i < PODS; i++)
        (void)u32_exchange(&team->times[i], 0);
    for (unsigned i = 0; i < PRODUCERS + CONSUMERS; i++)
        assert_int_equal(pthread_create(&members[i].thread, NULL,
                                        i < PRODUCERS ? producer_main : consumer_main, &members[i]),
                         0);
    for (unsigned i = 0; i < PRODUCERS + CONSUMERS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    mailbox_assert_empty(&team->mailbox);
    for (unsigned i = 0; i < EACH * PRODUCERS; i++) {
        if (u32_load(&team->times[i]) != 1)
            fail_msg("pod %u was claimed %u times", i, u32_load(&team->times[i]));
    }
    assert_int_equal(u32_load(&team->claimed), EACH * PRODUCERS);
}

static void
threads_that_publish_move_and_claim_claim_every_pod_once(void **state)
{
    world_t *world = *state;
    static team_t team;
    static member_t members[PRODUCERS + CONSUMERS];
    memset((void *)&team, 0, sizeof team);
    team.world = world;
    mailbox_init(&team.mailbox);
    for (unsigned i = 0; i < PRODUCERS + CONSUMERS; i++) {
        members[i] =
            (member_t){.team = &team, .caller = world->caller, .first = i * EACH, .seed = i};
        members[i].caller.worker = i;
        members[i].caller.epoch = epoch_record_make(world->ground.epoch);
    }
    for (unsigned i = 0; i < PODS; i++)
        (void)u64_exchange(&entry_of(world, i)->object, i);
    for (unsigned lap = 0; lap < LAPS; lap++) {
        /* Keys begin anew, and lanes must not fall. */
        for (unsigned i = 0; i < 2; i++) {
            free_bin(world, world->bins[i]);
            world->bins[i] = make_bin(world, i);
        }
        run_lap(&team, members);
    }
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(each_change_of_the_word_raises_its_version),
        TEST(a_bin_with_a_pod_is_not_cleared),
        TEST(a_bin_with_an_early_ref_is_not_cleared_and_its_pod_is_not_moved),
        TEST(a_bin_with_stale_refs_only_is_cleared),
        TEST(whoever_finds_clearing_and_nothing_else_finishes_it),
        TEST(what_was_marked_since_is_not_cleared),
        TEST(a_set_bin_counts_its_fruitless_scans_anew),
        TEST(retired_is_for_ever),
        TEST(a_bin_is_cleared_at_once_only_when_it_is_empty),
        TEST(a_bin_that_is_noted_elsewhere_is_noted_before_it_is_set),
        TEST(a_pod_that_a_helper_switched_is_in_a_bin_that_walks_look_at),
        TEST(pods_that_a_merge_switched_are_in_a_bin_that_walks_look_at),
        TEST(a_retired_bin_helps_no_early_ref),
        TEST(threads_that_publish_move_and_claim_claim_every_pod_once),
#undef TEST
    };
    return cmocka_run_group_tests_name("lockfree_bin_word", tests, NULL, NULL);
}
