/*
 * lockfree/signals/event_log.h: a read finds the event as it was written, or a gap; references add
 * up whatever happens between; with writers, readers and forgetting at once too.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "expect.h"
#include "lockfree/signals/event_log.h"
#include "mailbox.h"

#define OBJECTS 64
#define SIZE 4
#define SLOTS 2

typedef struct world {
    struct event_log log;
    struct hazards hazards;
    struct memory memory;
    account_t account;
    struct hazard_slot slots[SLOTS];
    struct hazard_kept lists[SLOTS][HAZARD_PINS * SLOTS + 1];
    struct hazard_slot *writer, *reader;
    int references[OBJECTS]; /* that the log has */
} world_t;

static struct event_slot *
ring_of(const world_t *world)
{
    return ptr_load(&world->log.ring);
}

static void
count_retain(void *ctx, uint64_t object)
{
    world_t *world = ctx;
    assert_in_range(object, 1, OBJECTS - 1);
    world->references[object]++;
}

static void
count_release(void *ctx, uint64_t object)
{
    world_t *world = ctx;
    assert_in_range(object, 1, OBJECTS - 1);
    assert_true(world->references[object] > 0);
    world->references[object]--;
}

static struct hazard_slot *
join(world_t *world, uint32_t worker)
{
    hazard_join(&world->hazards, &world->slots[worker], world->lists[worker]);
    return &world->slots[worker];
}

static void
open_world(world_t *world)
{
    memset(world, 0, sizeof *world);
    account_init(&world->account);
    const schedq_allocator_t allocator = account_allocator(&world->account);
    memory_open(&world->memory, &allocator);
    hazards_open(&world->hazards, count_release, world);
    world->writer = join(world, 0);
    world->reader = join(world, 1);
}

static void
close_world(world_t *world)
{
    hazards_drain(&world->hazards);
    for (unsigned i = 0; i < OBJECTS; i++)
        assert_int_equal(world->references[i], 0);
    assert_int_equal(memory_bytes(&world->memory, MEMORY_OTHER), 0);
    assert_int_equal(atomic_load(&world->account.blocks), 0);
    assert_int_equal(atomic_load(&world->account.faults), 0);
    memory_close(&world->memory);
}

static int
setup(void **state, uint32_t size, schedq_objects_t mode)
{
    static world_t world;
    bool counted = mode == SCHEDQ_OBJECTS_COUNTED;
    open_world(&world);
    event_log_open(&world.log, &world.memory, size, (uint8_t)mode, &world.hazards,
                   counted ? count_retain : NULL);
    assert_true(event_log_make(&world.log));
    *state = &world;
    return 0;
}

static int
setup_stable(void **state)
{
    return setup(state, SIZE, SCHEDQ_OBJECTS_STABLE);
}

static int
setup_counted(void **state)
{
    return setup(state, SIZE, SCHEDQ_OBJECTS_COUNTED);
}

static int
setup_borrowed(void **state)
{
    return setup(state, SIZE, SCHEDQ_OBJECTS_BORROWED);
}

static int
setup_none(void **state)
{
    return setup(state, 0, SCHEDQ_OBJECTS_COUNTED);
}

static int
teardown(void **state)
{
    world_t *world = *state;
    event_log_close(&world->log);
    close_world(world);
    return 0;
}

static void
write_event(world_t *world, uint64_t sequence, uint64_t old_object, uint64_t new_object)
{
    event_log_write(&world->log, world->writer, sequence, (schedq_event_t)(1000 + sequence),
                    old_object, new_object);
}

static void
forget(world_t *world, uint64_t up_to)
{
    event_log_forget(&world->log, world->writer, up_to);
}

static bool
is_gap(world_t *world, uint64_t sequence)
{
    struct event_record record;
    if (!event_log_read(&world->log, world->reader, sequence, &record))
        return true;
    event_log_unpin(&world->log, world->reader);
    return false;
}

/* Leaves it pinned. */
static void
expect_record(world_t *world, uint64_t sequence, uint64_t old_object, uint64_t new_object)
{
    struct event_record record;
    assert_true(event_log_read(&world->log, world->reader, sequence, &record));
    assert_int_equal(record.event, 1000 + sequence);
    assert_int_equal(record.old_object, old_object);
    assert_int_equal(record.new_object, new_object);
    assert_false(record.opaque);
}

/* ---- records and gaps ------------------------------------------------------------------------ */

static void
what_was_written_is_read(void **state)
{
    world_t *world = *state;
    write_event(world, 1, 10, 11);
    write_event(world, 3, 0, 31);
    expect_record(world, 1, 10, 11);
    event_log_unpin(&world->log, world->reader);
    expect_record(world, 3, 0, 31);
    event_log_unpin(&world->log, world->reader);
}

static void
what_was_not_written_is_a_gap(void **state)
{
    world_t *world = *state;
    for (uint64_t sequence = 1; sequence < 20; sequence++)
        assert_true(is_gap(world, sequence));
    write_event(world, 6, 1, 2);
    for (uint64_t sequence = 1; sequence < 20; sequence++)
        assert_int_equal(is_gap(world, sequence), sequence != 6);
}

static void
the_ring_keeps_the_newest(void **state)
{
    world_t *world = *state;
    for (uint64_t sequence = 1; sequence <= 11; sequence++)
        write_event(world, sequence, sequence, sequence + 20);
    for (uint64_t sequence = 1; sequence <= 11; sequence++) {
        if (sequence <= 11 - SIZE) {
            assert_true(is_gap(world, sequence));
        } else {
            expect_record(world, sequence, sequence, sequence + 20);
            event_log_unpin(&world->log, world->reader);
        }
    }
}

static void
an_event_that_comes_after_a_newer_one_is_a_gap(void **state)
{
    world_t *world = *state;
    write_event(world, 9, 1, 2);
    write_event(world, 5, 3, 4);
    write_event(world, 8, 5, 6);
    assert_true(is_gap(world, 5));
    assert_false(is_gap(world, 8));
    assert_int_equal(world->references[3], 0);
    expect_record(world, 9, 1, 2);
    event_log_unpin(&world->log, world->reader);
}

static void
large_sequences_are_told_from_small_ones(void **state)
{
    world_t *world = *state;
    const uint64_t large = (UINT64_C(1) << 62) + 1;
    write_event(world, 1, 1, 2);
    write_event(world, large, 3, 4);
    assert_true(is_gap(world, 1));
    assert_false(is_gap(world, large));
    write_event(world, large - SIZE, 5, 6);
    assert_true(is_gap(world, large - SIZE));
    assert_false(is_gap(world, large));
}

static void
a_ring_of_size_0_has_only_gaps_and_no_memory(void **state)
{
    world_t *world = *state;
    write_event(world, 1, 1, 2);
    assert_true(is_gap(world, 1));
    forget(world, 1);
    event_log_unpin(&world->log, world->reader);
    assert_int_equal(world->references[1], 0);
    assert_int_equal(memory_bytes(&world->memory, MEMORY_OTHER), 0);
}

static void
borrowed_objects_are_not_stored_and_the_record_says_so(void **state)
{
    world_t *world = *state;
    struct event_record record;
    write_event(world, 1, 10, 11);
    assert_true(event_log_read(&world->log, world->reader, 1, &record));
    assert_int_equal(record.event, 1001);
    assert_int_equal(record.old_object, 0);
    assert_int_equal(record.new_object, 0);
    assert_true(record.opaque);
    event_log_unpin(&world->log, world->reader);
    for (unsigned slot = 0; slot < SIZE; slot++) {
        assert_int_equal(u64_load(&ring_of(world)[slot].old_object), 0);
        assert_int_equal(u64_load(&ring_of(world)[slot].new_object), 0);
    }
}

static void
without_memory_nothing_is_made(void **state)
{
    static world_t world;
    (void)state;
    open_world(&world);
    account_fail_after(&world.account, 0);
    event_log_open(&world.log, &world.memory, SIZE, SCHEDQ_OBJECTS_STABLE, &world.hazards, NULL);
    assert_false(event_log_make(&world.log));
    assert_true(account_heal(&world.account));
    event_log_close(&world.log);
    close_world(&world);
}

/* ---- dead writers ---------------------------------------------------------------------------- */

/* As if the writer of `sequence` had stopped when the slot was his. */
static void
die_writing(world_t *world, uint64_t sequence)
{
    u64_store(&ring_of(world)[sequence % SIZE].word, sequence << 1 | 1);
}

static void
a_dead_writer_leaves_a_gap_at_each_turn_of_the_ring(void **state)
{
    world_t *world = *state;
    die_writing(world, 2);
    for (uint64_t sequence = 3; sequence <= 3 * SIZE; sequence++) {
        write_event(world, sequence, 1, 2);
        assert_int_equal(is_gap(world, sequence), sequence % SIZE == 2);
    }
    assert_true(is_gap(world, 2));
}

static void
what_a_dead_writer_kept_goes_when_the_log_ends(void **state)
{
    world_t *world = *state;
    write_event(world, 1, 1, 2);
    die_writing(world, 1 + SIZE);
    assert_true(is_gap(world, 1));
    assert_true(is_gap(world, 1 + SIZE));
    write_event(world, 1 + 2 * SIZE, 3, 4);
    forget(world, 1 + 3 * SIZE);
    assert_int_equal(world->references[1], 1);
    assert_int_equal(world->references[2], 1);
    assert_int_equal(world->references[3], 0);
    /* The rest is in teardown: it closes the log, and finds no reference left. */
}

/* ---- references ------------------------------------------------------------------------------ */

static void
a_record_has_a_reference_to_each_object_until_the_next_takes_its_slot(void **state)
{
    world_t *world = *state;
    write_event(world, 1, 1, 2);
    write_event(world, 2, 1, 1);
    write_event(world, 3, 0, 3);
    write_event(world, 4, 4, 0);
    assert_int_equal(world->references[1], 3);
    assert_int_equal(world->references[2], 1);
    assert_int_equal(world->references[3], 1);
    assert_int_equal(world->references[4], 1);
    write_event(world, 2 + SIZE, 0, 5);
    assert_int_equal(world->references[1], 1);
    write_event(world, 1 + SIZE, 0, 0);
    assert_int_equal(world->references[1], 0);
    assert_int_equal(world->references[2], 0);
    write_event(world, 1 + 2 * SIZE, 2, 2);
    assert_int_equal(world->references[2], 2);
}

static void
what_a_reader_has_pinned_lives_until_he_lets_go(void **state)
{
    world_t *world = *state;
    write_event(world, 1, 1, 2);
    expect_record(world, 1, 1, 2);
    write_event(world, 1 + SIZE, 3, 4);
    assert_int_equal(world->references[1], 1);
    assert_int_equal(world->references[2], 1);
    event_log_unpin(&world->log, world->reader);
    hazard_retry(&world->hazards, world->writer);
    assert_int_equal(world->references[1], 0);
    assert_int_equal(world->references[2], 0);
    expect_record(world, 1 + SIZE, 3, 4);
    forget(world, 1 + SIZE);
    assert_int_equal(world->references[3], 1);
    assert_int_equal(world->references[4], 1);
    event_log_unpin(&world->log, world->reader);
    hazard_retry(&world->hazards, world->writer);
    assert_int_equal(world->references[3], 0);
    assert_int_equal(world->references[4], 0);
}

static void
reading_leaves_the_pin_of_a_pod_alone_and_a_gap_pins_nothing(void **state)
{
    world_t *world = *state;
    world->references[9] = 1;
    hazard_pin(world->reader, 9);
    write_event(world, 1, 1, 2);
    expect_record(world, 1, 1, 2);
    event_log_unpin(&world->log, world->reader);
    assert_true(is_gap(world, 1 + SIZE));
    hazard_release(&world->hazards, world->writer, 9);
    assert_int_equal(world->references[9], 1);
    hazard_unpin(world->reader);
    hazard_retry(&world->hazards, world->writer);
    assert_int_equal(world->references[9], 0);
    write_event(world, 1 + SIZE, 0, 0);
    assert_int_equal(world->references[1], 0);
    assert_int_equal(world->references[2], 0);
}

/* ---- forgetting ------------------------------------------------------------------------------ */

static void
what_is_forgotten_is_a_gap_and_lets_its_objects_go(void **state)
{
    world_t *world = *state;
    for (uint64_t sequence = 1; sequence <= SIZE; sequence++)
        write_event(world, sequence, sequence, sequence + 10);
    forget(world, 3);
    for (uint64_t sequence = 1; sequence <= SIZE; sequence++) {
        assert_int_equal(is_gap(world, sequence), sequence <= 3);
        assert_int_equal(world->references[sequence], sequence > 3);
        assert_int_equal(world->references[sequence + 10], sequence > 3);
    }
    forget(world, 3);
    forget(world, 2);
    assert_false(is_gap(world, 4));
    forget(world, 1000);
    assert_true(is_gap(world, 4));
    assert_int_equal(world->references[4], 0);
    write_event(world, 1001, 1, 2);
    expect_record(world, 1001, 1, 2);
    event_log_unpin(&world->log, world->reader);
}

static void
forgetting_finds_events_that_unrecorded_ones_followed(void **state)
{
    world_t *world = *state;
    write_event(world, 1, 1, 2);
    write_event(world, 3, 3, 4);
    forget(world, 1);
    forget(world, 3 + SIZE);
    assert_int_equal(world->references[3], 0);
    assert_int_equal(world->references[4], 0);
}

static void
forgetting_leaves_newer_events_alone(void **state)
{
    world_t *world = *state;
    write_event(world, 1 + SIZE, 1, 2);
    forget(world, SIZE);
    expect_record(world, 1 + SIZE, 1, 2);
    event_log_unpin(&world->log, world->reader);
    assert_int_equal(world->references[1], 1);
}

static void
an_event_that_is_written_after_it_was_forgotten_keeps_nothing(void **state)
{
    world_t *world = *state;
    forget(world, 7);
    write_event(world, 7, 1, 2);
    write_event(world, 8, 3, 4);
    assert_true(is_gap(world, 7));
    assert_int_equal(world->references[1], 0);
    assert_int_equal(world->references[2], 0);
    assert_int_equal(world->references[3], 1);
    assert_int_equal(world->references[4], 1);
}

static void
objects_that_are_not_counted_need_no_forgetting(void **state)
{
    world_t *world = *state;
    write_event(world, 1, 1, 2);
    forget(world, 1);
    assert_false(is_gap(world, 1));
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { WRITERS = 3, READERS = 2, EVENTS_EACH = 20000, RING_MAX = 8 };

/*
 * A counted object of the host; what it was made for is written before, and read while it is
 * pinned.
 */
typedef struct thing {
    uint32_t references;
    uint32_t side;
    uint64_t sequence;
} thing_t;

typedef struct team {
    struct event_log log;
    struct hazards hazards;
    struct memory memory;
    mailbox_t mailbox;
    atomic_u64 sequence;
    atomic_u32 writers;
    int64_t things;
} team_t;

typedef struct member {
    pthread_t thread;
    team_t *team;
    struct hazard_slot hazard;
    struct hazard_kept list[HAZARD_PINS * (WRITERS + READERS) + 1];
} member_t;

static void
thing_retain(void *ctx, uint64_t object)
{
    team_t *team = ctx;
    thing_t *thing = (thing_t *)(uintptr_t)object;
    mailbox_check(&team->mailbox, __atomic_fetch_add(&thing->references, 1, __ATOMIC_RELAXED) > 0);
}

static void
thing_release(void *ctx, uint64_t object)
{
    team_t *team = ctx;
    thing_t *thing = (thing_t *)(uintptr_t)object;
    if (__atomic_fetch_sub(&thing->references, 1, __ATOMIC_ACQ_REL) == 1) {
        thing->sequence = 0;
        free(thing);
        __atomic_fetch_sub(&team->things, 1, __ATOMIC_RELAXED);
    }
}

/* Every third event has no old object, every fifth no new one. */
static bool
has_object(uint64_t sequence, uint32_t side)
{
    return sequence % (side == 0 ? 3 : 5) != 0;
}

static uint64_t
thing_make(team_t *team, uint64_t sequence, uint32_t side)
{
    if (!has_object(sequence, side))
        return 0;
    thing_t *thing = malloc(sizeof *thing);
    *thing = (thing_t){.references = 1, .side = side, .sequence = sequence};
    __atomic_fetch_add(&team->things, 1, __ATOMIC_RELAXED);
    return (uint64_t)(uintptr_t)thing;
}

static void *
writer_main(void *argument)
{
    member_t *member = argument;
    team_t *team = member->team;
    for (unsigned round = 0; round < EVENTS_EACH; round++) {
        uint64_t sequence = u64_add(&team->sequence, 1) + 1;
        uint64_t objects[] = {thing_make(team, sequence, 0), thing_make(team, sequence, 1)};
        event_log_write(&team->log, &member->hazard, sequence, (schedq_event_t)(sequence % 1000),
                        objects[0], objects[1]);
        for (unsigned side = 0; side < 2; side++) {
            if (objects[side] != 0)
                thing_release(team, objects[side]);
        }
        if (round % 16 == 0)
            event_log_forget(&team->log, &member->hazard, u64_load(&team->sequence));
    }
    (void)u32_add(&team->writers, UINT32_MAX);
    return NULL;
}

static void
check_object(team_t *team, uint64_t object, uint64_t sequence, uint32_t side)
{
    const thing_t *thing = (const thing_t *)(uintptr_t)object;
    if (!mailbox_check(&team->mailbox, (object != 0) == has_object(sequence, side)) || object == 0)
        return;
    mailbox_check(&team->mailbox, thing->sequence == sequence);
    mailbox_check(&team->mailbox, thing->side == side);
    mailbox_check(&team->mailbox, __atomic_load_n(&thing->references, __ATOMIC_RELAXED) > 0);
}

static void
read_one(member_t *member, uint64_t sequence)
{
    team_t *team = member->team;
    struct event_record record;
    if (!event_log_read(&team->log, &member->hazard, sequence, &record)) {
        mailbox_check(&team->mailbox, u32_load(&member->hazard.pinned) == 0);
        return;
    }
    mailbox_check(&team->mailbox, record.event == sequence % 1000);
    mailbox_check(&team->mailbox, !record.opaque);
    check_object(team, record.old_object, sequence, 0);
    check_object(team, record.new_object, sequence, 1);
    event_log_unpin(&team->log, &member->hazard);
}

static void *
reader_main(void *argument)
{
    member_t *member = argument;
    team_t *team = member->team;
    while (u32_load_acquire(&team->writers) > 0) {
        uint64_t newest = u64_load(&team->sequence);
        for (uint64_t back = 0; back <= RING_MAX && back < newest; back++)
            read_one(member, newest - back);
    }
    return NULL;
}

static void
run_team(uint32_t size)
{
    static team_t team;
    member_t members[WRITERS + READERS];
    memset(&team, 0, sizeof team);
    mailbox_init(&team.mailbox);
    memory_open(&team.memory, &(schedq_allocator_t){0});
    hazards_open(&team.hazards, thing_release, &team);
    event_log_open(&team.log, &team.memory, size, SCHEDQ_OBJECTS_COUNTED, &team.hazards,
                   thing_retain);
    assert_true(event_log_make(&team.log));
    u32_store(&team.writers, WRITERS);
    for (uint32_t i = 0; i < WRITERS + READERS; i++) {
        members[i] = (member_t){.team = &team};
        hazard_join(&team.hazards, &members[i].hazard, members[i].list);
        assert_int_equal(pthread_create(&members[i].thread, NULL,
                                        i < WRITERS ? writer_main : reader_main, &members[i]),
                         0);
    }
    for (unsigned i = 0; i < WRITERS + READERS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    mailbox_assert_empty(&team.mailbox);
    event_log_forget(&team.log, &members[0].hazard, u64_load(&team.sequence));
    hazards_drain(&team.hazards);
    assert_int_equal(team.things, 0);
    event_log_close(&team.log);
    memory_close(&team.memory);
}

static void
threads_read_whole_records_and_every_reference_is_given_back(void **state)
{
    (void)state;
    run_team(RING_MAX);
}

static void
threads_in_a_ring_of_one_slot_do_so_too(void **state)
{
    (void)state;
    run_team(1);
}

int
main(void)
{
#define ON(kind, test) cmocka_unit_test_setup_teardown(test, setup_##kind, teardown)
    const struct CMUnitTest tests[] = {
        ON(stable, what_was_written_is_read),
        ON(counted, what_was_written_is_read),
        ON(stable, what_was_not_written_is_a_gap),
        ON(counted, what_was_not_written_is_a_gap),
        ON(stable, the_ring_keeps_the_newest),
        ON(counted, the_ring_keeps_the_newest),
        ON(counted, an_event_that_comes_after_a_newer_one_is_a_gap),
        ON(stable, large_sequences_are_told_from_small_ones),
        ON(none, a_ring_of_size_0_has_only_gaps_and_no_memory),
        ON(borrowed, borrowed_objects_are_not_stored_and_the_record_says_so),
        cmocka_unit_test(without_memory_nothing_is_made),
        ON(counted, a_dead_writer_leaves_a_gap_at_each_turn_of_the_ring),
        ON(counted, what_a_dead_writer_kept_goes_when_the_log_ends),
        ON(counted, a_record_has_a_reference_to_each_object_until_the_next_takes_its_slot),
        ON(counted, what_a_reader_has_pinned_lives_until_he_lets_go),
        ON(counted, reading_leaves_the_pin_of_a_pod_alone_and_a_gap_pins_nothing),
        ON(counted, what_is_forgotten_is_a_gap_and_lets_its_objects_go),
        ON(counted, forgetting_finds_events_that_unrecorded_ones_followed),
        ON(counted, forgetting_leaves_newer_events_alone),
        ON(counted, an_event_that_is_written_after_it_was_forgotten_keeps_nothing),
        ON(stable, objects_that_are_not_counted_need_no_forgetting),
        cmocka_unit_test(threads_read_whole_records_and_every_reference_is_given_back),
        cmocka_unit_test(threads_in_a_ring_of_one_slot_do_so_too),
    };
#undef ON
    return cmocka_run_group_tests(tests, NULL, NULL);
}
