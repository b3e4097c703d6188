/*
 * platform/epoch.h: what is retired is freed after the sections that could see it, not before, and
 * not later than epoch_close. The accounting allocator poisons what is freed.
 */
#include <pthread.h>
#include <string.h>

#include "ground.h"
#include "mailbox.h"
#include "platform/atomic.h"
#include "platform/epoch.h"

#define ALIVE UINT64_C(0x600d600d600d600d)

typedef struct block {
    struct epoch_block epoch;
    uint64_t content; /* plain: written before it is published */
} block_t;

struct world {
    struct ground ground;
    struct epoch_record *writer, *reader;
};

static int
setup(void **state)
{
    world_t *world = ground_make(sizeof *world);
    world->writer = world->ground.record;
    world->reader = epoch_record_make(world->ground.epoch);
    *state = world;
    return 0;
}

/* The same with fences in each section. */
static int
setup_real(void **state)
{
    (void)setup(state);
    ((world_t *)*state)->ground.epoch->asymmetric = false;
    return 0;
}

static int
teardown(void **state)
{
    ground_free(*state);
    return 0;
}

static block_t *
block_make(world_t *world)
{
    block_t *block = memory_alloc(&world->ground.memory, MEMORY_QUEUES, sizeof *block, CACHE_LINE);
    block->content = ALIVE;
    return block;
}

static void
block_retire(world_t *world, struct epoch_record *record, block_t *block)
{
    epoch_retire(record, &block->epoch, &world->ground.memory, MEMORY_QUEUES, sizeof *block);
}

static void
retire_one(world_t *world)
{
    epoch_enter(world->writer);
    block_retire(world, world->writer, block_make(world));
    epoch_leave(world->writer);
}

/* A grace period takes a few polls. */
static void
poll_some(world_t *world)
{
    for (unsigned i = 0; i < 10; i++)
        epoch_poll(world->writer);
}

static uint64_t
waiting(world_t *world)
{
    return memory_bytes(&world->ground.memory, MEMORY_QUEUES) / sizeof(block_t);
}

static void
what_a_section_holds_back_is_told(void **state)
{
    world_t *world = *state;
    struct epoch *epoch = world->ground.epoch;
    assert_int_equal(epoch_waiting_bytes(epoch), 0);
    epoch_enter(world->reader);
    assert_int_equal(epoch_standing(epoch), 0);
    retire_one(world);
    assert_int_equal(epoch_waiting_bytes(epoch), sizeof(block_t));
    poll_some(world);
    retire_one(world);
    retire_one(world);
    assert_int_equal(epoch_waiting_bytes(epoch), 3 * sizeof(block_t));
    assert_int_equal(epoch_standing(epoch), 1);
    epoch_leave(world->reader);
    assert_int_equal(epoch_standing(epoch), 0);
    poll_some(world);
    assert_int_equal(epoch_waiting_bytes(epoch), 0);
}

static void
a_guest_that_stands_is_told(void **state)
{
    world_t *world = *state;
    struct epoch *epoch = world->ground.epoch;
    epoch_guest_enter(epoch);
    epoch_guest_enter(epoch);
    assert_int_equal(epoch_standing(epoch), 0);
    retire_one(world);
    poll_some(world);
    assert_int_equal(epoch_standing(epoch), 2);
    epoch_guest_leave(epoch);
    assert_int_equal(epoch_standing(epoch), 1);
    epoch_guest_leave(epoch);
    assert_int_equal(epoch_standing(epoch), 0);
}

static void
a_poll_frees_what_nobody_can_read(void **state)
{
    world_t *world = *state;
    epoch_poll(world->writer);
    retire_one(world);
    retire_one(world);
    assert_int_equal(waiting(world), 2);
    epoch_poll(world->writer);
    assert_int_equal(waiting(world), 0);
}

static void
a_section_that_was_there_before_holds_it_back(void **state)
{
    world_t *world = *state;
    epoch_enter(world->reader);
    retire_one(world);
    poll_some(world);
    assert_int_equal(waiting(world), 1);
    epoch_leave(world->reader);
    poll_some(world);
    assert_int_equal(waiting(world), 0);
}

static void
sections_that_come_later_do_not_hold_it_back_for_ever(void **state)
{
    world_t *world = *state;
    retire_one(world);
    for (unsigned i = 0; i < 10; i++) {
        epoch_enter(world->reader);
        epoch_poll(world->writer);
        epoch_leave(world->reader);
    }
    assert_int_equal(waiting(world), 0);
}

static void
an_abandoned_section_holds_nothing_back(void **state)
{
    world_t *world = *state;
    epoch_enter(world->reader);
    retire_one(world);
    epoch_abandon(world->reader);
    poll_some(world);
    assert_int_equal(waiting(world), 0);
    epoch_abandon(world->reader); /* not in a section */
    epoch_enter(world->reader);
    retire_one(world);
    poll_some(world);
    assert_int_equal(waiting(world), 1);
    epoch_leave(world->reader);
}

static void
close_frees_what_still_waits(void **state)
{
    world_t *world = *state;
    epoch_enter(world->reader);
    for (unsigned i = 0; i < 100; i++) {
        retire_one(world);
        epoch_poll(world->writer);
    }
    block_retire(world, world->reader, block_make(world));
    epoch_leave(world->reader);
    assert_true(waiting(world) > 0); /* teardown looks for the rest */
}

static void
without_memory_there_is_no_record(void **state)
{
    world_t *world = *state;
    atomic_store(&world->ground.account.fail_all, true);
    assert_null(epoch_record_make(world->ground.epoch));
    assert_null(epoch_open(&world->ground.memory, true));
    (void)account_heal(&world->ground.account);
    struct epoch_record *record = epoch_record_make(world->ground.epoch);
    assert_non_null(record);
    epoch_enter(record);
    retire_one(world);
    poll_some(world);
    assert_int_equal(waiting(world), 1);
    epoch_leave(record);
}

static void
polls_at_the_end_of_calls_do_something_once_in_a_while(void **state)
{
    world_t *world = *state;
    unsigned calls = 0;
    retire_one(world);
    while (waiting(world) > 0 && calls < 3 * EPOCH_DUE) {
        epoch_poll_seldom(world->writer);
        calls++;
    }
    assert_in_range(calls, EPOCH_DUE, 2 * EPOCH_DUE);
    assert_true(epoch_asks(world->ground.epoch) <= 1);
}

static void
one_barrier_is_good_for_many_blocks(void **state)
{
    world_t *world = *state;
    enum { BATCH = EPOCH_DUE / EPOCH_BLOCK, BLOCKS = 100 * BATCH };
    for (unsigned i = 0; i < BLOCKS; i++) {
        retire_one(world);
        epoch_poll_seldom(world->writer);
        assert_true(waiting(world) <= 3 * BATCH);
    }
    bool asks = world->ground.epoch->asymmetric;
    assert_in_range(epoch_asks(world->ground.epoch), asks ? 1 : 0, asks ? 450 : 0);
}

static void
large_blocks_do_not_wait_for_others(void **state)
{
    world_t *world = *state;
    enum { BYTES = 1 << 20 };
    for (unsigned i = 0; i < 4; i++) {
        block_t *block = memory_alloc(&world->ground.memory, MEMORY_QUEUES, BYTES, CACHE_LINE);
        epoch_retire(world->writer, &block->epoch, &world->ground.memory, MEMORY_QUEUES, BYTES);
        epoch_poll_seldom(world->writer);
    }
    assert_true(memory_bytes(&world->ground.memory, MEMORY_QUEUES) <= 2 * BYTES);
}

static void
make_due(struct epoch_record *record)
{
    record->pressure = EPOCH_DUE;
    epoch_poll_seldom(record);
}

static void
one_barrier_is_good_for_all_that_was_closed_before(void **state)
{
    world_t *world = *state;
    if (!world->ground.epoch->asymmetric)
        skip();
    retire_one(world);
    block_retire(world, world->reader, block_make(world));
    make_due(world->writer);
    make_due(world->reader);
    assert_int_equal(waiting(world), 2);
    epoch_poll_often(world->reader);
    assert_int_equal(epoch_asks(world->ground.epoch), 1);
    make_due(world->writer);
    make_due(world->reader);
    assert_int_equal(waiting(world), 0);
    epoch_poll_often(world->reader);
    assert_int_equal(epoch_asks(world->ground.epoch), 1);
}

static void
while_another_asks_nobody_does(void **state)
{
    world_t *world = *state;
    if (!world->ground.epoch->asymmetric)
        skip();
    ptr_store(&world->ground.epoch->asker, world->reader); /* it died there */
    retire_one(world);
    poll_some(world);
    assert_int_equal(waiting(world), 1);
    assert_int_equal(epoch_asks(world->ground.epoch), 0);
    epoch_abandon(world->reader);
    poll_some(world);
    assert_int_equal(waiting(world), 0);
}

/* Its blocks are in both lists then. */
static void
a_thread_that_dies_while_it_closes_a_batch_frees_it_once(void **state)
{
    world_t *world = *state;
    retire_one(world);
    retire_one(world);
    world->writer->closed = u64_add(&world->ground.epoch->now, 1) + 1;
    world->writer->waiting = world->writer->fresh;
    epoch_abandon(world->writer);
    poll_some(world);
    assert_int_equal(waiting(world), 0);
    retire_one(world);
    world->writer->closed = u64_add(&world->ground.epoch->now, 1) + 1;
    world->writer->waiting = world->writer->fresh; /* teardown frees it once */
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 30000, PLACES = 4 };

typedef struct team {
    world_t *world;
    mailbox_t mailbox;
    atomic_ptr place[PLACES];
} team_t;

/* Reads everywhere, replaces somewhere. */
static void *
member_main(void *argument)
{
    team_t *team = argument;
    struct epoch_record *record = epoch_record_make(team->world->ground.epoch);
    for (unsigned round = 0; round < ROUNDS; round++) {
        epoch_enter(record);
        for (unsigned i = 0; i < PLACES; i++) {
            const block_t *block = ptr_load_acquire(&team->place[i]);
            mailbox_check(&team->mailbox, block->content == ALIVE);
        }
        if (round % 8 == 0)
            block_retire(team->world, record,
                         ptr_exchange(&team->place[round / 8 % PLACES], block_make(team->world)));
        epoch_leave(record);
        epoch_poll(record);
    }
    return NULL;
}

static void
threads_never_read_what_was_freed(void **state)
{
    static team_t team;
    pthread_t threads[THREADS];
    memset(&team, 0, sizeof team);
    team.world = *state;
    mailbox_init(&team.mailbox);
    for (unsigned i = 0; i < PLACES; i++)
        ptr_store(&team.place[i], block_make(team.world));
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, member_main, &team), 0);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    mailbox_assert_empty(&team.mailbox);
    for (unsigned i = 0; i < PLACES; i++)
        memory_free(&team.world->ground.memory, MEMORY_QUEUES, ptr_load(&team.place[i]),
                    sizeof(block_t));
}

/* With each kind of fences. */
#define TEST(function)                                                   \
    cmocka_unit_test_setup_teardown(function, setup, teardown),          \
    {                                                                    \
#function " (real fences)", function, setup_real, teardown, NULL \
    }

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_a_section_holds_back_is_told),
        TEST(a_guest_that_stands_is_told),
        TEST(a_poll_frees_what_nobody_can_read),
        TEST(a_section_that_was_there_before_holds_it_back),
        TEST(sections_that_come_later_do_not_hold_it_back_for_ever),
        TEST(an_abandoned_section_holds_nothing_back),
        TEST(close_frees_what_still_waits),
        TEST(without_memory_there_is_no_record),
        TEST(polls_at_the_end_of_calls_do_something_once_in_a_while),
        TEST(one_barrier_is_good_for_many_blocks),
        TEST(large_blocks_do_not_wait_for_others),
        TEST(one_barrier_is_good_for_all_that_was_closed_before),
        TEST(while_another_asks_nobody_does),
        TEST(a_thread_that_dies_while_it_closes_a_batch_frees_it_once),
        TEST(threads_never_read_what_was_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
