/*
 * Trim, reserve, statistics, and an allocator that fails now and then, beside threads that use the
 * queue. Each thread adds, moves and deletes pods of its own names only, so it knows what it may
 * find; all of them pop whatever is best. What is left in the end is counted by the threads'
 * answers: lives that began, less those that ended in a delete or in a done.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "seed.h"
#include "squad.h"

enum { USERS = 3, NAMES = 400, STEPS = 6000 };

typedef struct upkeep {
    fixture_t *fixture;
    atomic_uint ready; /* users that are registered */
    atomic_uint users; /* still at it */
    atomic_uint begun, ended;
    bool trims, starves;
} upkeep_t;

static bool
is_memory_answer(const upkeep_t *upkeep, schedq_status_t status)
{
    return status == SCHEDQ_OK || (upkeep->starves && status == SCHEDQ_NOMEM);
}

/* ---- the one who keeps it up ---- */

static void
look(soldier_t *soldier)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    char text[100];
    mailbox_check(soldier->mailbox, schedq_stats(soldier->queue, &stats) == SCHEDQ_OK);
    mailbox_check(soldier->mailbox, stats.workers >= 1 && stats.workers <= USERS + 1);
    mailbox_check(soldier->mailbox, schedq_pending_text(soldier->queue, text, sizeof text) > 0);
    mailbox_check(soldier->mailbox, schedq_tick(soldier->worker, NULL, NULL) == SCHEDQ_OK);
}

static void
keep_up(soldier_t *soldier)
{
    upkeep_t *upkeep = soldier->ctx;
    account_t *memory = &upkeep->fixture->memory;
    while (atomic_load(&upkeep->ready) < USERS)
        sched_yield();
    while (atomic_load(&upkeep->users) > 0) {
        uint32_t pods = (uint32_t)(seed_next(&soldier->seed) % 3000);
        look(soldier);
        if (upkeep->starves)
            atomic_store(&memory->fail_all, seed_next(&soldier->seed) % 2 == 0);
        if (upkeep->trims) {
            mailbox_check(soldier->mailbox, schedq_trim(soldier->queue) == SCHEDQ_OK);
            mailbox_check(
                soldier->mailbox,
                is_memory_answer(upkeep, schedq_reserve(soldier->queue, pods, 9, 4, NULL, 0)));
        }
    }
    atomic_store(&memory->fail_all, false);
}

/* ---- the users ---- */

typedef struct own_pod {
    schedq_pod_t pod; /* of its last life */
    bool deleted;     /* that life: surely ended */
} own_pod_t;

/*
 * The users end a shortage, after some four refusals. The keeper that began it may stand still
 * until they are through, and they would begin no lives meanwhile.
 */
static void
end_shortage(soldier_t *soldier)
{
    upkeep_t *upkeep = soldier->ctx;
    if (seed_next(&soldier->seed) % 4 == 0)
        atomic_store(&upkeep->fixture->memory.fail_all, false);
}

static void
add_own(soldier_t *soldier, own_pod_t *own, const char *name, const schedq_pod_spec_t *spec)
{
    upkeep_t *upkeep = soldier->ctx;
    schedq_result_t result;
    schedq_status_t status = schedq_add(soldier->worker, name, strlen(name), spec, &result);
    if (status == SCHEDQ_EXISTS) {
        mailbox_check(soldier->mailbox, !own->deleted && result.pod.bits == own->pod.bits);
    } else if (status == SCHEDQ_OK) {
        mailbox_check(soldier->mailbox, result.pod.bits != own->pod.bits);
        *own = (own_pod_t){.pod = result.pod};
        atomic_fetch_add(&upkeep->begun, 1);
    } else if (mailbox_check(soldier->mailbox, is_memory_answer(upkeep, status))) {
        end_shortage(soldier);
    }
}

static void
move_own(soldier_t *soldier, own_pod_t *own, const char *name, const schedq_pod_spec_t *spec)
{
    upkeep_t *upkeep = soldier->ctx;
    schedq_result_t result;
    schedq_pod_spec_t adding = *spec;
    adding.flags |= SCHEDQ_POD_ADD;
    schedq_status_t status =
        schedq_update(soldier->worker, name, strlen(name), &adding, 0, NULL, 0, &result);
    if (!mailbox_check(soldier->mailbox, is_memory_answer(upkeep, status)))
        return;
    if (status != SCHEDQ_OK) {
        end_shortage(soldier);
        return;
    }
    mailbox_check(soldier->mailbox, result.added == (result.pod.bits != own->pod.bits));
    atomic_fetch_add(&upkeep->begun, result.added);
    *own = (own_pod_t){.pod = result.pod};
}

static void
delete_own(soldier_t *soldier, own_pod_t *own, const char *name, uint32_t length)
{
    upkeep_t *upkeep = soldier->ctx;
    bool by_name = seed_next(&soldier->seed) % 2 == 0;
    if (own->pod.bits == 0)
        return;
    schedq_status_t status = by_name ? schedq_delete_name(soldier->worker, name, length, NULL)
                                     : schedq_delete(soldier->worker, own->pod, NULL);
    mailbox_check(soldier->mailbox,
                  status == SCHEDQ_NOT_FOUND || (status == SCHEDQ_OK && !own->deleted));
    atomic_fetch_add(&upkeep->ended, status == SCHEDQ_OK);
    own->deleted = true;
}

static void
find_own(soldier_t *soldier, const own_pod_t *own, const char *name, uint32_t length)
{
    schedq_result_t result;
    fx_seen_t seen;
    memset(&seen, 0, sizeof seen);
    schedq_status_t status = schedq_find(soldier->worker, name, length, &result);
    mailbox_check(soldier->mailbox,
                  status == SCHEDQ_NOT_FOUND ||
                      (status == SCHEDQ_OK && !own->deleted && result.pod.bits == own->pod.bits));
    if (schedq_get(soldier->worker, own->pod, fx_see, &seen) == SCHEDQ_OK) {
        mailbox_check(soldier->mailbox, !own->deleted);
        mailbox_check(soldier->mailbox,
                      strlen(seen.text) == length && memcmp(seen.text, name, length) == 0);
    }
}

static void
pop_any(soldier_t *soldier)
{
    upkeep_t *upkeep = soldier->ctx;
    schedq_popped_t popped;
    if (schedq_try_pop(soldier->worker, &popped) != SCHEDQ_OK)
        return;
    mailbox_check(soldier->mailbox, popped.name_length == strlen(popped.name));
    mailbox_check(soldier->mailbox, memcmp(popped.name, "ns/", 3) == 0);
    schedq_status_t status = schedq_done(soldier->worker, popped.token);
    mailbox_check(soldier->mailbox, status == SCHEDQ_OK || status == SCHEDQ_GONE);
    atomic_fetch_add(&upkeep->ended, status == SCHEDQ_OK); /* GONE: the delete counted it */
    mailbox_check(soldier->mailbox, schedq_done(soldier->worker, popped.token) == SCHEDQ_STALE);
}

/* Grows for a while, then shrinks, and so on. */
static void
use(soldier_t *soldier)
{
    upkeep_t *upkeep = soldier->ctx;
    own_pod_t own[NAMES];
    char name[32];
    memset(own, 0, sizeof own);
    atomic_fetch_add(&upkeep->ready, 1);
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned i = (unsigned)(seed_next(&soldier->seed) % NAMES);
        uint32_t length = (uint32_t)snprintf(name, sizeof name, "ns/%u-%u", soldier->number, i);
        schedq_pod_spec_t spec = fx_spec((int32_t)(seed_next(&soldier->seed) % 5));
        spec.flags = seed_next(&soldier->seed) % 2 == 0 ? SCHEDQ_POD_ORDER_KEY : 0;
        spec.order_key = (int64_t)(seed_next(&soldier->seed) % 100);
        bool grows = step / 500 % 2 == 0;
        switch (seed_next(&soldier->seed) % 8) {
        case 0:
        case 1:
        case 2:
            if (grows)
                add_own(soldier, &own[i], name, &spec);
            else
                pop_any(soldier);
            break;
        case 3:
            move_own(soldier, &own[i], name, &spec);
            break;
        case 4:
            delete_own(soldier, &own[i], name, length);
            break;
        case 5:
            find_own(soldier, &own[i], name, length);
            break;
        default:
            pop_any(soldier);
        }
    }
    atomic_fetch_sub(&upkeep->users, 1);
}

static void
use_or_keep_up(soldier_t *soldier)
{
    if (soldier->number < USERS)
        use(soldier);
    else
        keep_up(soldier);
}

/* Afterwards every pod that is left is popped once, best first. The teardown counts the bytes. */
static void
run(fixture_t *fixture, bool trims, bool starves)
{
    upkeep_t upkeep = {.fixture = fixture, .users = USERS, .trims = trims, .starves = starves};
    fx_queue(fixture);
    squad_run(fixture, USERS + 1, seed_of("test_upkeep_threads"), use_or_keep_up, &upkeep);
    schedq_popped_t popped;
    int32_t last = INT32_MAX;
    assert_true(atomic_load(&upkeep.begun) > USERS * NAMES);
    assert_true(atomic_load(&upkeep.ended) > 0);
    unsigned left = atomic_load(&upkeep.begun) - atomic_load(&upkeep.ended);
    assert_int_equal(fx_stats(fixture).active, left);
    for (; left > 0; left--) {
        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
        assert_true(popped.priority <= last);
        last = popped.priority;
        fx_done(fixture, &popped);
    }
    fx_pop_nothing(fixture);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

static void
pods_keep_their_names_and_handles_beside_trim_and_reserve(void **state)
{
    run(*state, true, false);
}

static void
pods_keep_their_names_and_handles_while_memory_comes_and_goes(void **state)
{
    run(*state, false, true);
}

static void
pods_keep_their_names_and_handles_beside_all_of_that(void **state)
{
    run(*state, true, true);
}

static void
so_they_do_with_a_clock_that_runs(void **state)
{
    fx_use_real_clock(*state);
    run(*state, true, true);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(pods_keep_their_names_and_handles_beside_trim_and_reserve),
        fx_test(pods_keep_their_names_and_handles_while_memory_comes_and_goes),
        fx_test(pods_keep_their_names_and_handles_beside_all_of_that),
        fx_test(so_they_do_with_a_clock_that_runs),
    };
    return fx_run_tests(argc, argv, tests);
}
