/*
 * lockfree/signals/stamps.h: sequences are drawn once each, stamps keep the largest, and profiles
 * do not touch each other.
 */
#include <pthread.h>
#include <string.h>

#include "account.h"
#include "expect.h"
#include "lockfree/signals/stamps.h"
#include "mailbox.h"

typedef struct world {
    struct stamps stamps;
    struct memory memory;
    atomic_u64 sequence;
    account_t account;
} world_t;

static void
open_memory(world_t *world)
{
    memset(world, 0, sizeof *world);
    account_init(&world->account);
    const schedq_allocator_t allocator = account_allocator(&world->account);
    memory_open(&world->memory, &allocator);
}

static void
close_memory(world_t *world)
{
    assert_int_equal(memory_bytes(&world->memory, MEMORY_OTHER), 0);
    assert_int_equal(atomic_load(&world->account.blocks), 0);
    assert_int_equal(atomic_load(&world->account.faults), 0);
    memory_close(&world->memory);
}

static int
setup(void **state)
{
    static world_t world;
    open_memory(&world);
    assert_true(stamps_open(&world.stamps, &world.memory, &world.sequence));
    *state = &world;
    return 0;
}

static int
teardown(void **state)
{
    world_t *world = *state;
    stamps_close(&world->stamps);
    close_memory(world);
    return 0;
}

static void
sequences_are_drawn_from_one_on_and_stand_in_the_shared_word(void **state)
{
    world_t *world = *state;
    assert_int_equal(stamps_drawn(&world->stamps), 0);
    assert_int_equal(stamps_draw(&world->stamps), 1);
    assert_int_equal(stamps_draw(&world->stamps), 2);
    assert_int_equal(stamps_drawn(&world->stamps), 2);
    assert_int_equal(u64_load(&world->sequence), 2);
}

static void
a_stamp_is_raised_for_the_named_rejectors_only(void **state)
{
    world_t *world = *state;
    struct stamps *stamps = &world->stamps;
    assert_int_equal(stamps_newest(stamps, 0, UINT64_MAX), 0);
    stamps_raise(stamps, 0, UINT64_C(1) << 63 | 1, 7);
    for (unsigned plugin = 0; plugin < STAMPS; plugin++)
        assert_int_equal(stamps_newest(stamps, 0, UINT64_C(1) << plugin),
                         plugin == 0 || plugin == 63 ? 7 : 0);
    stamps_raise(stamps, 0, 0, 9);
    assert_int_equal(stamps_newest(stamps, 0, UINT64_MAX), 7);
}

static void
a_stamp_is_never_lowered(void **state)
{
    world_t *world = *state;
    struct stamps *stamps = &world->stamps;
    stamps_raise(stamps, 0, 6, 5);
    stamps_raise(stamps, 0, 3, 4);
    assert_int_equal(stamps_newest(stamps, 0, 1), 4);
    assert_int_equal(stamps_newest(stamps, 0, 2), 5);
    assert_int_equal(stamps_newest(stamps, 0, 4), 5);
    stamps_raise(stamps, 0, 6, 5);
    assert_int_equal(stamps_newest(stamps, 0, 6), 5);
    stamps_raise(stamps, 0, 2, UINT64_MAX / 2);
    assert_int_equal(stamps_newest(stamps, 0, 2), UINT64_MAX / 2);
}

static void
the_newest_is_the_largest_among_the_rejectors(void **state)
{
    world_t *world = *state;
    struct stamps *stamps = &world->stamps;
    for (unsigned plugin = 0; plugin < STAMPS; plugin++)
        stamps_raise(stamps, 0, UINT64_C(1) << plugin, 100 + (plugin * 37) % STAMPS);
    assert_int_equal(stamps_newest(stamps, 0, 0), 0);
    assert_int_equal(stamps_newest(stamps, 0, UINT64_MAX), 163);
    assert_int_equal(stamps_newest(stamps, 0, 1 | 2 | 4), 137); /* 100, 137, 110 */
    assert_int_equal(stamps_newest(stamps, 0, 1 | 4), 110);
}

static void
the_stamp_of_moves_is_its_own_and_is_never_lowered(void **state)
{
    world_t *world = *state;
    struct stamps *stamps = &world->stamps;
    stamps_raise(stamps, 0, UINT64_MAX, 9);
    assert_int_equal(stamps_moved(stamps), 0);
    stamps_raise_moved(stamps, 12);
    stamps_raise_moved(stamps, 11);
    assert_int_equal(stamps_moved(stamps), 12);
    assert_int_equal(stamps_newest(stamps, 0, UINT64_MAX), 9);
}

static void
profiles_have_rows_of_their_own_and_keep_them_when_more_come(void **state)
{
    world_t *world = *state;
    struct stamps *stamps = &world->stamps;
    assert_int_equal(memory_bytes(&world->memory, MEMORY_OTHER), sizeof(struct stamp_row));
    stamps_raise(stamps, 0, UINT64_MAX, 1000);
    for (uint32_t count = 2; count <= REGISTRY_PROFILES_MAX; count++) {
        assert_true(stamps_add_profile(stamps, count));
        assert_true(stamps_add_profile(stamps, count));
        assert_int_equal(stamps_newest(stamps, (schedq_profile_t)(count - 1), UINT64_MAX), 0);
        stamps_raise(stamps, (schedq_profile_t)(count - 1), UINT64_MAX, count);
    }
    assert_true(stamps_add_profile(stamps, 1));
    assert_int_equal(memory_bytes(&world->memory, MEMORY_OTHER),
                     REGISTRY_PROFILES_MAX * sizeof(struct stamp_row));
    assert_int_equal(stamps_newest(stamps, 0, 1), 1000);
    for (uint32_t profile = 1; profile < REGISTRY_PROFILES_MAX; profile++) {
        assert_int_equal(stamps_newest(stamps, (schedq_profile_t)profile, UINT64_MAX), profile + 1);
        assert_int_equal((uintptr_t)stamps->rows[profile] % CACHE_LINE, 0);
    }
}

static void
without_memory_nothing_is_opened_and_the_rows_that_exist_stay(void **state)
{
    static world_t world;
    (void)state;
    open_memory(&world);
    account_fail_after(&world.account, 0);
    assert_false(stamps_open(&world.stamps, &world.memory, &world.sequence));
    account_fail_after(&world.account, 2);
    assert_true(stamps_open(&world.stamps, &world.memory, &world.sequence));
    stamps_raise(&world.stamps, 0, 1, 3);
    assert_false(stamps_add_profile(&world.stamps, 3));
    assert_true(account_heal(&world.account));
    assert_int_equal(stamps_newest(&world.stamps, 0, 1), 3);
    assert_true(stamps_add_profile(&world.stamps, 3));
    stamps_raise(&world.stamps, 2, 1, 4);
    assert_int_equal(stamps_newest(&world.stamps, 2, 1), 4);
    stamps_close(&world.stamps);
    close_memory(&world);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 30000 };

static mailbox_t mailbox;

typedef struct member {
    pthread_t thread;
    struct stamps *stamps;
    uint64_t number, largest[3]; /* by rejector */
    uint64_t sum;
} member_t;

static void *
member_main(void *argument)
{
    member_t *member = argument;
    for (unsigned round = 0; round < ROUNDS; round++) {
        uint64_t sequence = stamps_draw(member->stamps);
        unsigned rejector = (unsigned)((round + member->number) % 3);
        stamps_raise(member->stamps, 0, UINT64_C(1) << rejector, sequence);
        stamps_raise_moved(member->stamps, sequence);
        mailbox_check(&mailbox,
                      stamps_newest(member->stamps, 0, UINT64_C(1) << rejector) >= sequence);
        mailbox_check(&mailbox, stamps_moved(member->stamps) >= sequence);
        member->largest[rejector] = sequence;
        member->sum += sequence;
    }
    return NULL;
}

static void
threads_draw_each_sequence_once_and_never_find_a_stamp_below_what_they_raised(void **state)
{
    world_t *world = *state;
    member_t members[THREADS];
    uint64_t largest[3] = {0}, sum = 0;
    const uint64_t drawn = (uint64_t)THREADS * ROUNDS;
    mailbox_init(&mailbox);
    for (unsigned i = 0; i < THREADS; i++) {
        members[i] = (member_t){.stamps = &world->stamps, .number = i};
        assert_int_equal(pthread_create(&members[i].thread, NULL, member_main, &members[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
        sum += members[i].sum;
        for (unsigned rejector = 0; rejector < 3; rejector++) {
            if (members[i].largest[rejector] > largest[rejector])
                largest[rejector] = members[i].largest[rejector];
        }
    }
    mailbox_assert_empty(&mailbox);
    assert_int_equal(stamps_drawn(&world->stamps), drawn);
    assert_int_equal(sum, drawn * (drawn + 1) / 2);
    for (unsigned rejector = 0; rejector < 3; rejector++)
        assert_int_equal(stamps_newest(&world->stamps, 0, UINT64_C(1) << rejector),
                         largest[rejector]);
    assert_int_equal(stamps_newest(&world->stamps, 0, 7), drawn);
    assert_int_equal(stamps_moved(&world->stamps), drawn);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            sequences_are_drawn_from_one_on_and_stand_in_the_shared_word, setup, teardown),
        cmocka_unit_test_setup_teardown(a_stamp_is_raised_for_the_named_rejectors_only, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_stamp_is_never_lowered, setup, teardown),
        cmocka_unit_test_setup_teardown(the_newest_is_the_largest_among_the_rejectors, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_stamp_of_moves_is_its_own_and_is_never_lowered, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(
            profiles_have_rows_of_their_own_and_keep_them_when_more_come, setup, teardown),
        cmocka_unit_test(without_memory_nothing_is_opened_and_the_rows_that_exist_stay),
        cmocka_unit_test_setup_teardown(
            threads_draw_each_sequence_once_and_never_find_a_stamp_below_what_they_raised, setup,
            teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
