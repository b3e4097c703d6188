/*
 * Walks over candidates with a cursor, in pieces, over many lots and the lanes of several workers,
 * while others park, apply and update: a pod that stays where it is comes up in every walk that
 * wants it, and what comes up was wanted.
 */
#include <stdio.h>
#include <string.h>

#include "host.h"
#include "seed.h"
#include "squad.h"

enum { WALKERS = 2, CHURNERS = 2, STABLE = 240, WALKS = 120, PLUGINS = 9, PIECE = 9 };

typedef struct arena {
    uint64_t bits[PLUGINS];
    /* of the pods that stay; 0: it backs off, or is gated by the first plugin */
    uint64_t rejectors[STABLE];
    atomic_uint walking;
} arena_t;

static uint64_t
draw_rejectors(const arena_t *arena, uint64_t *seed)
{
    uint64_t rejectors = 0, draw = 0;
    while (draw == 0)
        draw = seed_next(seed) & seed_next(seed) & ((UINT64_C(1) << PLUGINS) - 1);
    for (unsigned i = 0; i < PLUGINS; i++)
        rejectors |= (draw >> i & 1) != 0 ? arena->bits[i] : 0;
    return rejectors;
}

static bool
is_gated(unsigned number)
{
    return number % 10 == 9;
}

static bool
is_in_backoff(unsigned number)
{
    return number % 10 == 8;
}

/* ---- those who walk ---- */

/*
 * Stable pods have their numbers as objects, plus multiples of STABLE for updates; others have
 * SCHEDQ_REJECTOR_OTHERS.
 */
static bool
is_stable(uint64_t object)
{
    return object < UINT64_C(1) << 32;
}

static bool
is_wanted(const schedq_candidate_t *candidate, const schedq_query_t *query)
{
    switch (candidate->place) {
    case SCHEDQ_PARKED:
        return ((candidate->unschedulable | candidate->pending) &
                (query->rejectors | SCHEDQ_REJECTOR_OTHERS)) != 0;
    case SCHEDQ_GATED:
        return (query->gates >> (candidate->gate - 1) & 1) != 0;
    default:
        return query->backoff != 0;
    }
}

static void
check_walk(soldier_t *soldier, const schedq_query_t *query, const bool *met)
{
    const arena_t *arena = soldier->ctx;
    for (unsigned i = 0; i < STABLE; i++) {
        bool wanted = is_gated(i)        ? (query->gates & arena->bits[0]) != 0
                      : is_in_backoff(i) ? query->backoff != 0
                                         : (arena->rejectors[i] & query->rejectors) != 0;
        if (wanted && !met[i])
            mailbox_complain(soldier->mailbox, "pod %u stayed where it is, and was not given", i);
    }
}

static void
walk_once(soldier_t *soldier)
{
    const arena_t *arena = soldier->ctx;
    schedq_candidate_t out[PIECE];
    schedq_query_t query = hx_query(draw_rejectors(arena, &soldier->seed), 0);
    schedq_status_t status;
    size_t count, capacity = 1 + seed_next(&soldier->seed) % PIECE;
    bool met[STABLE] = {false};
    query.backoff = seed_next(&soldier->seed) % 2 == 0;
    query.gates = seed_next(&soldier->seed) % 2 == 0 ? arena->bits[0] : 0;
    while ((status = schedq_candidates(soldier->worker, &query, out, capacity, &count)) ==
           SCHEDQ_OK) {
        mailbox_check(soldier->mailbox, count >= 1 && count <= capacity);
        for (size_t i = 0; i < count; i++) {
            mailbox_check(soldier->mailbox, out[i].ref != 0 && is_wanted(&out[i], &query));
            if (is_stable(out[i].object))
                met[out[i].object % STABLE] = true;
        }
    }
    mailbox_check(soldier->mailbox, status == SCHEDQ_EMPTY && count == 0);
    check_walk(soldier, &query, met);
}

static void
walk(soldier_t *soldier)
{
    arena_t *arena = soldier->ctx;
    for (unsigned i = 0; i < WALKS; i++)
        walk_once(soldier);
    atomic_fetch_sub(&arena->walking, 1);
}

/* ---- those who churn ---- */

/*
 * A new pod, parked or backing off; what is popped may be the other's, who may delete it meanwhile.
 */
static void
park_another(soldier_t *soldier, uint64_t step)
{
    const arena_t *arena = soldier->ctx;
    char name[64];
    schedq_popped_t popped;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    snprintf(name, sizeof name, "ns/churn%u-%u", soldier->number, (unsigned)(step % 100));
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = UINT64_C(1) << 32 | step;
    schedq_status_t status = schedq_add(soldier->worker, name, strlen(name), &spec, NULL);
    mailbox_check(soldier->mailbox, status == SCHEDQ_OK || status == SCHEDQ_EXISTS);
    if (schedq_try_pop(soldier->worker, &popped) != SCHEDQ_OK)
        return;
    failure.place = seed_next(&soldier->seed) % 4 == 0 ? SCHEDQ_BACKOFF : SCHEDQ_PARKED;
    failure.unschedulable = draw_rejectors(arena, &soldier->seed);
    failure.judged_up_to = UINT64_MAX;
    status = schedq_fail(soldier->worker, &popped.token, &failure, NULL);
    mailbox_check(soldier->mailbox, status == SCHEDQ_OK || status == SCHEDQ_GONE);
}

/*
 * Applies some of what is there, and deletes what became active; the pods that stay are left alone.
 */
static void
apply_some(soldier_t *soldier)
{
    const arena_t *arena = soldier->ctx;
    schedq_candidate_t out[PIECE];
    schedq_query_t query = hx_query(draw_rejectors(arena, &soldier->seed), 0);
    size_t count;
    query.backoff = 1;
    if (schedq_candidates(soldier->worker, &query, out, PIECE, &count) != SCHEDQ_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        schedq_decision_t decision = SCHEDQ_DECISION_INIT;
        if (is_stable(out[i].object))
            continue;
        decision.ref = out[i].ref;
        decision.place = SCHEDQ_ACTIVE;
        decision.event = SCHEDQ_EVENT_WILDCARD;
        schedq_status_t status = schedq_apply(soldier->worker, &decision, NULL);
        mailbox_check(soldier->mailbox,
                      status == SCHEDQ_OK || status == SCHEDQ_GONE || status == SCHEDQ_CHANGED);
        if (seed_next(&soldier->seed) % 2 == 0)
            (void)schedq_delete(soldier->worker, out[i].pod, NULL);
    }
}

static void
update_one_that_stays(soldier_t *soldier, uint64_t step)
{
    char name[32];
    unsigned number = (unsigned)(seed_next(&soldier->seed) % STABLE);
    snprintf(name, sizeof name, "ns/stays%u", number);
    schedq_pod_spec_t spec = fx_spec((int32_t)(step % 3));
    spec.object = number + STABLE * (step % 1000);
    mailbox_check(soldier->mailbox, schedq_update(soldier->worker, name, strlen(name), &spec, 0,
                                                  NULL, 0, NULL) == SCHEDQ_OK);
}

static void
churn(soldier_t *soldier)
{
    arena_t *arena = soldier->ctx;
    for (uint64_t step = 0; atomic_load(&arena->walking) > 0; step++) {
        park_another(soldier, step);
        if (step % 3 == 0)
            apply_some(soldier);
        if (step % 2 == 0)
            update_one_that_stays(soldier, step);
    }
}

static void
fight(soldier_t *soldier)
{
    if (soldier->number < WALKERS)
        walk(soldier);
    else
        churn(soldier);
}

/* ---- the pods that stay ---- */

/* By workers of their own, who leave: so their pods stand in several lanes of each lot. */
static void
put(fixture_t *fixture, arena_t *arena, schedq_worker_t *worker, unsigned number, uint64_t *seed)
{
    char name[32];
    schedq_popped_t popped;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;
    snprintf(name, sizeof name, "ns/stays%u", number);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = number;
    spec.gate = is_gated(number) ? 1 : 0;
    assert_ok(schedq_add(worker, name, strlen(name), &spec, &result));
    if (is_gated(number))
        return;
    popped = fx_pop(fixture, name);
    failure.place = is_in_backoff(number) ? SCHEDQ_BACKOFF : SCHEDQ_PARKED;
    failure.unschedulable = draw_rejectors(arena, seed);
    arena->rejectors[number] = failure.unschedulable;
    assert_ok(schedq_fail(worker, &popped.token, &failure, &result));
    assert_place(result.place, failure.place);
}

static void
check_walks(fixture_t *fixture, uint32_t max_lots)
{
    static arena_t arena;
    static const char *const names[PLUGINS] = {"P0", "P1", "P2", "P3", "P4",
                                               "P5", "P6", "P7", "P8"};
    schedq_worker_t *workers[3];
    uint64_t seed = seed_of("test_candidates_threads");
    memset(&arena, 0, sizeof arena);
    atomic_init(&arena.walking, WALKERS);
    fixture->config.max_lots = max_lots;
    fixture->config.pop_from_backoff = 0;
    for (unsigned i = 0; i < PLUGINS; i++)
        arena.bits[i] = fx_plugin(fixture, names[i], NULL, 0)->bit;
    for (unsigned i = 0; i < 3; i++)
        assert_ok(schedq_worker_register(fx_queue(fixture), &workers[i], NULL, 0));
    for (unsigned i = 0; i < STABLE; i++)
        put(fixture, &arena, workers[i % 3], i, &seed);
    for (unsigned i = 0; i < 3; i++)
        assert_ok(schedq_worker_unregister(workers[i]));
    squad_run(fixture, WALKERS + CHURNERS, seed, fight, &arena);
}

static void
a_walk_gives_every_pod_that_stays(void **state)
{
    check_walks(*state, 64);
}

static void
a_walk_gives_every_pod_that_stays_where_all_sets_share_one_lot(void **state)
{
    check_walks(*state, 1);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test_host(a_walk_gives_every_pod_that_stays),
        fx_test_host(a_walk_gives_every_pod_that_stays_where_all_sets_share_one_lot),
    };
    return fx_run_tests(argc, argv, tests);
}
