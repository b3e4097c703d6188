/*
 * Events on one thread, failures and updates on others: a pod that was popped before an event began
 * is not parked when both calls are over. Each round has one event, so that no later one makes good
 * what it missed.
 *
 * Most rounds leave it to chance what overlaps. In every FORCED_EVERYth the event begins when a
 * parker holds a pod, and that parker gives it back when the event has begun: so many failures at
 * least have to be of pods in flight when the event came.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "rounds.h"
#include "seed.h"
#include "squad.h"

enum { PARKERS = 3, PODS = 9, ROUNDS = 6000, FORCED_EVERY = 8, PLUGINS = 3 };

typedef struct arena {
    fixture_t *fixture;
    unsigned rounds;
    pthread_barrier_t barrier;
    atomic_uint changes;    /* of the cluster, each followed by an event */
    atomic_uint seen[PODS]; /* changes that there were when the pod had been popped */
    uint64_t rejectors[PLUGINS];
    atomic_uint held;     /* rounds in which a parker held a pod that the event has to wait for */
    atomic_uint begun;    /* events: rounds in which one has begun */
    atomic_uint overlaps; /* failures of pods in flight when the event came */
    bool moves_assigned;  /* the events are those of assigned pods */
    unsigned at_rest;     /* pods that were parked when a round was over, in all rounds */
} arena_t;

static void
linger(soldier_t *soldier)
{
    for (uint64_t i = seed_next(&soldier->seed) % 20000; i > 0; i--)
        __asm__ volatile("" ::: "memory");
}

static void
change_cluster(soldier_t *soldier)
{
    arena_t *arena = soldier->ctx;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_status_t status;
    change.event = arena->moves_assigned ? SCHEDQ_EVENT_ASSIGNED_POD_ADD : SCHEDQ_EVENT_NODE_ADD;
    atomic_fetch_add(&arena->changes, 1);
    atomic_fetch_add(&arena->begun, 1);
    if (arena->moves_assigned)
        status = schedq_assigned_pod_added(soldier->worker, &change, "ns", 2, NULL);
    else
        status = schedq_notify(soldier->worker, &change, NULL);
    mailbox_check(soldier->mailbox, status == SCHEDQ_OK);
}

static bool
is_forced(unsigned round)
{
    return round % FORCED_EVERY == 0;
}

/*
 * The first parker, and the event, wait for each other. `begun` counts two a round: the event, and
 * the one that ends it.
 */
static void
meet_the_event(soldier_t *soldier, unsigned round)
{
    arena_t *arena = soldier->ctx;
    atomic_fetch_add(&arena->held, 1);
    while (atomic_load(&arena->begun) < 2 * round + 1)
        sched_yield();
}

/* Pops and rejects what it gets; the pods that it parks may be moved and got again. */
static void
park_some(soldier_t *soldier, unsigned round)
{
    arena_t *arena = soldier->ctx;
    schedq_popped_t popped;
    bool meets = is_forced(round) && soldier->number == 2;
    for (unsigned i = 0; i < PODS / PARKERS; i++) {
        schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
        if (schedq_try_pop(soldier->worker, &popped) != SCHEDQ_OK)
            continue;
        unsigned changes = atomic_load(&arena->changes);
        atomic_store(&arena->seen[popped.object], changes);
        if (meets)
            meet_the_event(soldier, round);
        meets = false;
        linger(soldier);
        atomic_fetch_add(&arena->overlaps, atomic_load(&arena->changes) != changes);
        failure.unschedulable = arena->rejectors[seed_next(&soldier->seed) % PLUGINS];
        if (!arena->moves_assigned)
            failure.pending = arena->rejectors[seed_next(&soldier->seed) % PLUGINS];
        mailbox_check(soldier->mailbox,
                      schedq_fail(soldier->worker, &popped.token, &failure, NULL) == SCHEDQ_OK);
    }
}

/* Other descriptions, of pods that may be anywhere. */
static void
update_some(soldier_t *soldier)
{
    char name[32];
    for (unsigned i = 0; i < 3; i++) {
        unsigned number = (unsigned)(seed_next(&soldier->seed) % PODS);
        snprintf(name, sizeof name, "ns/%u", number);
        schedq_pod_spec_t spec = fx_spec((int32_t)(seed_next(&soldier->seed) % 3));
        spec.object = number;
        mailbox_check(soldier->mailbox, schedq_update(soldier->worker, name, strlen(name), &spec, 0,
                                                      NULL, 0, NULL) == SCHEDQ_OK);
        linger(soldier);
    }
}

static int
check_pod(void *ctx, const schedq_pod_info_t *pod)
{
    soldier_t *soldier = ctx;
    arena_t *arena = soldier->ctx;
    if (pod->place != SCHEDQ_PARKED)
        return 1;
    arena->at_rest++;
    mailbox_check(soldier->mailbox,
                  atomic_load(&arena->seen[pod->object]) == atomic_load(&arena->changes));
    return 1;
}

/* Nobody else is at work: looks, then brings everything back. */
static void
end_round(soldier_t *soldier)
{
    schedq_words_t *words = schedq_words(soldier->queue);
    mailbox_check(soldier->mailbox,
                  schedq_snapshot(soldier->worker, check_pod, soldier) == SCHEDQ_OK);
    change_cluster(soldier);
    mailbox_check(soldier->mailbox, words->parked == 0);
}

/* Soldier 0 is the cluster, 1 updates, the others park. */
static void
fight(soldier_t *soldier)
{
    arena_t *arena = soldier->ctx;
    for (unsigned round = 0; round < arena->rounds; round++) {
        pthread_barrier_wait(&arena->barrier);
        if (soldier->number == 0) {
            while (is_forced(round) && atomic_load(&arena->held) < round / FORCED_EVERY + 1)
                sched_yield();
            linger(soldier);
            change_cluster(soldier);
        } else if (soldier->number == 1) {
            update_some(soldier);
        } else {
            park_some(soldier, round);
        }
        pthread_barrier_wait(&arena->barrier);
        if (soldier->number == 0)
            end_round(soldier);
    }
}

static void
run_rounds(fixture_t *fixture, bool moves_assigned)
{
    static const char *const names[PLUGINS] = {"One", "Two", "Three"};
    static arena_t arena;
    char name[32];
    uint64_t seed = seed_of("test_move_threads");
    memset(&arena, 0, sizeof arena);
    arena.fixture = fixture;
    arena.rounds = rounds_of(ROUNDS);
    arena.moves_assigned = moves_assigned;
    fixture->config.max_backoff_ns = 0;
    for (unsigned i = 0; i < PLUGINS; i++) {
        const schedq_interest_t interests[] = {
            {.resource = "Node", .actions = SCHEDQ_ACTION_ADD},
            {.resource = "AssignedPod", .actions = SCHEDQ_ACTION_ADD}};
        arena.rejectors[i] =
            fx_plugin_full(fixture, 0, names[i], SCHEDQ_PLUGIN_SPREAD, interests, 2, false)->bit;
    }
    for (unsigned i = 0; i < PODS; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        schedq_pod_spec_t spec = fx_spec(0);
        spec.object = i;
        fx_add_spec(fixture, name, &spec);
    }
    assert_int_equal(pthread_barrier_init(&arena.barrier, NULL, PARKERS + 2), 0);
    squad_run(fixture, PARKERS + 2, seed, fight, &arena);
    pthread_barrier_destroy(&arena.barrier);
    assert_true(arena.at_rest > 0);
    assert_true(atomic_load(&arena.overlaps) >= arena.rounds / FORCED_EVERY);
}

static void
no_event_misses_a_pod_that_is_being_parked(void **state)
{
    run_rounds(*state, false);
}

static void
no_event_misses_a_pod_where_all_sets_share_one_lot(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_lots = 1;
    run_rounds(fixture, false);
}

static void
no_event_misses_a_pod_when_no_event_is_kept(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.event_log = 0;
    run_rounds(fixture, false);
}

static void
no_assigned_pod_misses_a_pod_that_is_being_parked(void **state)
{
    run_rounds(*state, true);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(no_event_misses_a_pod_that_is_being_parked),
        fx_test_1_26(no_event_misses_a_pod_that_is_being_parked),
        fx_test(no_event_misses_a_pod_where_all_sets_share_one_lot),
        fx_test(no_event_misses_a_pod_when_no_event_is_kept),
        fx_test_1_26(no_assigned_pod_misses_a_pod_that_is_being_parked),
    };
    return fx_run_tests(argc, argv, tests);
}
