/*
 * Updates of existing pods by some threads while another lets pods of the same name come and go.
 *
 * An object is the number of the life that it was given in, what an update made of it, and its
 * priority. Now and then a life waits until more updates were OK than could have meant the life
 * before it: then it must end as one of them left it.
 */
#include <sched.h>

#include "fixture.h"
#include "rounds.h"
#include "seed.h"
#include "squad.h"

enum { UPDATERS = 2, LIVES = 100000, UPDATED_EVERY = 512 };

#define UPDATED (UINT64_C(1) << 32)
#define PRIORITY_SHIFT 40

typedef struct arena {
    atomic_bool over;
    atomic_uint updated;
    unsigned lives;
    bool only_one; /* updates mean the pod that they found */
} arena_t;

/* Each updater may be in an update of the life before, and it tells of one at a time. */
static void
wait_for_an_update(arena_t *arena)
{
    unsigned before = atomic_load(&arena->updated);
    while (atomic_load(&arena->updated) - before <= UPDATERS)
        sched_yield();
}

static void
check_description(soldier_t *soldier, const schedq_popped_t *popped, unsigned number, bool waited)
{
    const arena_t *arena = soldier->ctx;
    bool updated = (popped->object & UPDATED) != 0;
    mailbox_check(soldier->mailbox, updated || (popped->object == number && popped->priority == 0));
    mailbox_check(soldier->mailbox,
                  !updated || popped->object >> PRIORITY_SHIFT == (uint64_t)popped->priority);
    mailbox_check(soldier->mailbox, !arena->only_one || (uint32_t)popped->object == number);
    mailbox_check(soldier->mailbox, updated || !waited);
}

/* One life, to its end in a place that the seed chooses. */
static void
live(soldier_t *soldier, unsigned number)
{
    arena_t *arena = soldier->ctx;
    bool waits = number % UPDATED_EVERY == 0;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_popped_t popped;
    spec.object = number;
    mailbox_check(soldier->mailbox,
                  schedq_add(soldier->worker, "ns/a", 4, &spec, NULL) == SCHEDQ_OK);
    if (waits)
        wait_for_an_update(arena);
    else if (seed_next(&soldier->seed) % 4 == 0) {
        schedq_status_t status = schedq_delete_name(soldier->worker, "ns/a", 4, NULL);
        mailbox_check(soldier->mailbox, status == SCHEDQ_OK);
        return;
    }
    if (schedq_try_pop(soldier->worker, &popped) != SCHEDQ_OK) {
        mailbox_complain(soldier->mailbox, "the pod is not there");
        return;
    }
    mailbox_check(soldier->mailbox, popped.flags == 0);
    check_description(soldier, &popped, number, waits);
    mailbox_check(soldier->mailbox, schedq_done(soldier->worker, popped.token) == SCHEDQ_OK);
    mailbox_check(soldier->mailbox, schedq_try_pop(soldier->worker, &popped) == SCHEDQ_EMPTY);
}

static void
update(soldier_t *soldier)
{
    arena_t *arena = soldier->ctx;
    schedq_pod_spec_t spec = fx_spec((int32_t)(seed_next(&soldier->seed) % 3));
    schedq_result_t result;
    spec.object = UPDATED | (uint64_t)spec.priority << PRIORITY_SHIFT;
    if (arena->only_one) {
        if (schedq_find(soldier->worker, "ns/a", 4, &result) != SCHEDQ_OK)
            return;
        spec.only = result.pod;
        if (seed_next(&soldier->seed) % 16 == 0)
            sched_yield();
        spec.object |= (uint32_t)result.object;
    }
    schedq_status_t status = schedq_update(soldier->worker, "ns/a", 4, &spec, 0, NULL, 0, &result);
    if (status == SCHEDQ_OK)
        atomic_fetch_add(&arena->updated, 1);
    else
        mailbox_check(soldier->mailbox, status == SCHEDQ_NOT_FOUND && result.pod.bits == 0);
    mailbox_check(soldier->mailbox, result.added == 0);
}

static void
fight(soldier_t *soldier)
{
    arena_t *arena = soldier->ctx;
    if (soldier->number > 0) {
        while (!atomic_load(&arena->over))
            update(soldier);
        return;
    }
    for (unsigned i = 0; i < arena->lives; i++)
        live(soldier, i);
    atomic_store(&arena->over, true);
}

static void
updates_meet_lives(fixture_t *fixture, bool only_one)
{
    arena_t arena = {.only_one = only_one, .lives = rounds_of(LIVES)};
    atomic_init(&arena.over, false);
    atomic_init(&arena.updated, 0);
    squad_run(fixture, 1 + UPDATERS, seed_of("test_update_threads"), fight, &arena);
    schedq_stats_t stats = fx_stats(fixture);
    assert_int_equal(stats.adds, arena.lives);
    assert_int_equal(stats.updates, atomic_load(&arena.updated));
    assert_true(atomic_load(&arena.updated) > arena.lives / UPDATED_EVERY * UPDATERS);
    assert_int_equal(stats.active + stats.inflight, 0);
}

static void
an_update_of_existing_pods_never_adds(void **state)
{
    updates_meet_lives(*state, false);
}

static void
an_update_of_one_pod_reaches_no_other_life(void **state)
{
    updates_meet_lives(*state, true);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(an_update_of_existing_pods_never_adds),
        fx_test(an_update_of_one_pod_reaches_no_other_life),
    };
    return fx_run_tests(argc, argv, tests);
}
