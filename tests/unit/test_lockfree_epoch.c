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
    assert_null(epoch_open(&world->ground.memory));
    (void)account_heal(&world->ground.account);
    struct epoch_record *record = epoch_record_make(world->ground.epoch);
    assert_non_null(record);
    epoch_enter(record);
    retire_one(world);
    poll_some(world);
    assert_int_equal(waiting(world), 1);
    epoch_leave(record);
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_poll_frees_what_nobody_can_read, setup, teardown),
        cmocka_unit_test_setup_teardown(a_section_that_was_there_before_holds_it_back, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(sections_that_come_later_do_not_hold_it_back_for_ever,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(an_abandoned_section_holds_nothing_back, setup, teardown),
        cmocka_unit_test_setup_teardown(close_frees_what_still_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_there_is_no_record, setup, teardown),
        cmocka_unit_test_setup_teardown(threads_never_read_what_was_freed, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
