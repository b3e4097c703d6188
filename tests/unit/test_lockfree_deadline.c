/*
 * lockfree/signals/deadline.h: the word is never later than what waits, whoever looks, parks, or
 * stops in between.
 */
#include <pthread.h>
#include <string.h>

#include "expect.h"
#include "lockfree/signals/deadline.h"
#include "mailbox.h"
#include "seed.h"

/* Planned without a pod. */
static enum planned
ends(struct deadline *deadline, const struct planning *planning, int64_t next)
{
    return deadline_end(deadline, planning, &(struct timed){.at = next});
}

typedef struct world {
    int64_t word;
    struct deadline deadline;
} world_t;

static int
setup(void **state)
{
    static world_t world;
    memset(&world, 0, sizeof world);
    deadline_open(&world.deadline, &world.word);
    *state = &world;
    return 0;
}

/* Looks, and finds `next`. */
static enum planned
plan(world_t *world, int64_t next)
{
    struct planning planning = deadline_begin(&world->deadline);
    return ends(&world->deadline, &planning, next);
}

static bool
is_due_now(world_t *world)
{
    return deadline_read(&world->deadline) < 0; /* clocks begin at 0 */
}

static void
it_begins_without_a_deadline(void **state)
{
    world_t *world = *state;
    assert_ns_equal(deadline_read(&world->deadline), SCHEDQ_NO_DEADLINE);
    assert_ns_equal(world->word, SCHEDQ_NO_DEADLINE);
}

static void
who_parks_lowers_it_and_never_raises_it(void **state)
{
    world_t *world = *state;
    assert_true(deadline_lower(&world->deadline, 10));
    assert_ns_equal(world->word, 10);
    assert_false(deadline_lower(&world->deadline, 20));
    assert_false(deadline_lower(&world->deadline, 10));
    assert_ns_equal(deadline_read(&world->deadline), 10);
    assert_true(deadline_lower(&world->deadline, 0));
    assert_ns_equal(deadline_read(&world->deadline), 0);
}

static void
while_somebody_looks_it_is_due_now_and_then_what_was_found(void **state)
{
    world_t *world = *state;
    deadline_lower(&world->deadline, 10);
    struct planning planning = deadline_begin(&world->deadline);
    assert_true(is_due_now(world));
    assert_int_equal(ends(&world->deadline, &planning, 30), PLANNED);
    assert_ns_equal(deadline_read(&world->deadline), 30);
    assert_int_equal(plan(world, SCHEDQ_NO_DEADLINE), PLANNED);
    assert_ns_equal(deadline_read(&world->deadline), SCHEDQ_NO_DEADLINE);
    assert_int_equal(plan(world, SCHEDQ_NO_DEADLINE), PLANNED);
}

static void
who_finds_less_than_there_was_is_told_to_wake_sleepers(void **state)
{
    world_t *world = *state;
    assert_int_equal(plan(world, 30), PLANNED_SOONER);
    assert_int_equal(plan(world, 30), PLANNED);
    assert_int_equal(plan(world, 29), PLANNED_SOONER);
}

static void
a_pod_that_was_parked_meanwhile_keeps_it_due_now(void **state)
{
    world_t *world = *state;
    struct planning planning = deadline_begin(&world->deadline);
    assert_true(deadline_lower(&world->deadline, 50));
    assert_int_equal(ends(&world->deadline, &planning, 60), PLANNED_AGAIN);
    assert_true(is_due_now(world));
    assert_int_equal(plan(world, 50), PLANNED_SOONER);
    assert_ns_equal(deadline_read(&world->deadline), 50);
}

static void
of_two_who_look_the_later_one_sets_it(void **state)
{
    world_t *world = *state;
    struct planning first = deadline_begin(&world->deadline),
                    second = deadline_begin(&world->deadline);
    assert_int_equal(ends(&world->deadline, &first, 10), PLANNED_AGAIN);
    assert_true(is_due_now(world));
    assert_int_equal(ends(&world->deadline, &second, 20), PLANNED_SOONER);
    assert_ns_equal(deadline_read(&world->deadline), 20);
}

static void
who_stopped_while_he_looked_holds_nobody_up_and_sets_nothing_later(void **state)
{
    world_t *world = *state;
    struct planning stopped = deadline_begin(&world->deadline);
    for (int64_t i = 0; i < 1000; i++) {
        struct planning planning = deadline_begin(&world->deadline);
        assert_true(planning.marker != stopped.marker);
        if (i % 3 == 0)
            deadline_lower(&world->deadline, 7);
        assert_int_equal(ends(&world->deadline, &stopped, 99), PLANNED_AGAIN);
        assert_int_equal(ends(&world->deadline, &planning, i) == PLANNED_AGAIN, i % 3 == 0);
    }
    assert_int_equal(ends(&world->deadline, &stopped, 99), PLANNED_AGAIN);
    assert_true(is_due_now(world));
}

/* ---- threads ---- */

enum { PARKERS = 2, PLANNERS = 2, ROUNDS = 3000 };

typedef struct arena {
    struct deadline *deadline;
    pthread_barrier_t barrier;
    atomic_u64 dues[PARKERS]; /* what waits */
    mailbox_t mailbox;
} arena_t;

typedef struct member {
    arena_t *arena;
    pthread_t thread;
    unsigned number;
    uint64_t seed;
} member_t;

static int64_t
least_due(arena_t *arena)
{
    int64_t least = SCHEDQ_NO_DEADLINE;
    for (unsigned i = 0; i < PARKERS; i++) {
        int64_t due = time_load(&arena->dues[i]);
        least = due < least ? due : least;
    }
    return least;
}

static void
linger(member_t *member)
{
    for (uint64_t i = seed_next(&member->seed) % 20000; i > 0; i--)
        __asm__ volatile("" ::: "memory");
}

static void
look(member_t *member)
{
    arena_t *arena = member->arena;
    struct planning planning = deadline_begin(arena->deadline);
    linger(member);
    int64_t next = least_due(arena);
    linger(member);
    (void)ends(arena->deadline, &planning, next);
}

static void
park(member_t *member)
{
    arena_t *arena = member->arena;
    int64_t due = 1 + (int64_t)(seed_next(&member->seed) % 100);
    linger(member);
    time_store(&arena->dues[member->number], due);
    atomic_fence();
    (void)deadline_lower(arena->deadline, due);
}

static void *
member_main(void *argument)
{
    member_t *member = argument;
    arena_t *arena = member->arena;
    for (unsigned round = 0; round < ROUNDS; round++) {
        pthread_barrier_wait(&arena->barrier);
        if (member->number < PARKERS)
            park(member);
        else
            look(member);
        pthread_barrier_wait(&arena->barrier);
        if (member->number == 0) {
            mailbox_check(&arena->mailbox, deadline_read(arena->deadline) <= least_due(arena));
            look(member);
            mailbox_check(&arena->mailbox, deadline_read(arena->deadline) == least_due(arena));
            for (unsigned i = 0; i < PARKERS; i++)
                time_store(&arena->dues[i], SCHEDQ_NO_DEADLINE);
            if (round % 2 == 0)
                look(member);
        }
    }
    return NULL;
}

static void
with_threads_it_is_never_later_than_what_waits(void **state)
{
    world_t *world = *state;
    static arena_t arena;
    member_t members[PARKERS + PLANNERS];
    uint64_t seed = seed_of("test_lockfree_deadline");
    memset(&arena, 0, sizeof arena);
    arena.deadline = &world->deadline;
    mailbox_init(&arena.mailbox);
    for (unsigned i = 0; i < PARKERS; i++)
        time_store(&arena.dues[i], SCHEDQ_NO_DEADLINE);
    assert_int_equal(pthread_barrier_init(&arena.barrier, NULL, PARKERS + PLANNERS), 0);
    for (unsigned i = 0; i < PARKERS + PLANNERS; i++) {
        members[i] = (member_t){.arena = &arena, .number = i, .seed = seed + i};
        assert_int_equal(pthread_create(&members[i].thread, NULL, member_main, &members[i]), 0);
    }
    for (unsigned i = 0; i < PARKERS + PLANNERS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    pthread_barrier_destroy(&arena.barrier);
    mailbox_assert_empty(&arena.mailbox);
}

#define deadline_test(function) cmocka_unit_test_setup(function, setup)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        deadline_test(it_begins_without_a_deadline),
        deadline_test(who_parks_lowers_it_and_never_raises_it),
        deadline_test(while_somebody_looks_it_is_due_now_and_then_what_was_found),
        deadline_test(who_finds_less_than_there_was_is_told_to_wake_sleepers),
        deadline_test(a_pod_that_was_parked_meanwhile_keeps_it_due_now),
        deadline_test(of_two_who_look_the_later_one_sets_it),
        deadline_test(who_stopped_while_he_looked_holds_nobody_up_and_sets_nothing_later),
        deadline_test(with_threads_it_is_never_later_than_what_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
