/*
 * How many pods are before one, asked while four threads add, pop, update, hold and delete: the
 * bounds hold in every answer.
 *
 * The pod that is asked about stands in the middle of 100,000 and is never popped, because there
 * are always pods before it. What enters and leaves the line before it is counted by the threads,
 * when it begins and when it has ended, so that the asker knows two numbers: how many pods were
 * before it during the whole of a question, at least, and how many at any time of it, at most.
 *
 * SCHEDQ_TEST_QUESTIONS in the environment: asks so many (tests/run --long).
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "rounds.h"
#include "seed.h"
#include "squad.h"

enum {
    PODS = 100000,
    HIGH = PODS / 2,  /* pods of higher priorities */
    OLDER = PODS / 4, /* of its own priority, before it */
    WORKERS = 4,
    QUESTIONS = 50, /* 1..1,000,000 */
    BETWEEN = 50,   /* calls of others between two questions, at least */
    OWN = 64,       /* pods that a thread may update and delete */
    PRIORITY = 5
};

/* Pods before the one that is asked about. */
typedef struct ledger_of_line {
    atomic_ulong entering, entered, leaving, left;
} line_t;

typedef struct arena {
    line_t line;
    schedq_pod_t asked;
    bool only_pops; /* no pod is updated, deleted or held */
    unsigned long questions;
    atomic_bool over;
    atomic_ulong calls;
    unsigned long width; /* of all answers, in sum */
    unsigned long exact; /* answers whose bounds are equal */
} arena_t;

static void
name_of(char *name, size_t size, unsigned number, unsigned long pod)
{
    snprintf(name, size, "ns%u/%lu", number, pod);
}

static bool
is_before(int32_t priority)
{
    return priority > PRIORITY;
}

/* ---- the threads that work ------------------------------------------------------------------- */

typedef struct own {
    schedq_pod_t pod;
    char name[32];
    bool before;
} own_t;

static void
add_own(soldier_t *soldier, own_t *own, unsigned long number)
{
    arena_t *arena = soldier->ctx;
    int32_t priority = arena->only_pops ? PRIORITY + 1 + (int32_t)(seed_next(&soldier->seed) % 3)
                                        : (int32_t)(seed_next(&soldier->seed) % 10);
    schedq_result_t result;
    name_of(own->name, sizeof own->name, soldier->number, number);
    schedq_pod_spec_t spec = fx_spec(priority);
    own->before = is_before(priority);
    if (own->before)
        atomic_fetch_add(&arena->line.entering, 1);
    if (mailbox_check(soldier->mailbox, schedq_add(soldier->worker, own->name, strlen(own->name),
                                                   &spec, &result) == SCHEDQ_OK))
        own->pod = result.pod;
    if (own->before)
        atomic_fetch_add(&arena->line.entered, 1);
}

/* Each pop takes a pod that is before the one that is asked about. */
static void
pop_one(soldier_t *soldier)
{
    arena_t *arena = soldier->ctx;
    schedq_popped_t popped;
    atomic_fetch_add(&arena->line.leaving, 1);
    if (!mailbox_check(soldier->mailbox, schedq_try_pop(soldier->worker, &popped) == SCHEDQ_OK))
        return;
    atomic_fetch_add(&arena->line.left, 1);
    mailbox_check(soldier->mailbox, is_before(popped.priority));
    schedq_status_t status = schedq_done(soldier->worker, popped.token);
    mailbox_check(soldier->mailbox, status == SCHEDQ_OK || status == SCHEDQ_GONE);
}

static schedq_status_t
leave_line(soldier_t *soldier, schedq_pod_t pod, schedq_result_t *result)
{
    if (seed_next(&soldier->seed) % 2 == 0)
        return schedq_delete(soldier->worker, pod, result);
    schedq_status_t status = schedq_hold(soldier->worker, pod, result);
    if (status == SCHEDQ_OK && result->place == SCHEDQ_HELD)
        mailbox_check(soldier->mailbox, schedq_delete(soldier->worker, pod, NULL) == SCHEDQ_OK);
    return status;
}

/* A pod of the thread's own leaves, or comes to stand before the one that is asked about. */
static void
change_own(soldier_t *soldier, own_t *own)
{
    arena_t *arena = soldier->ctx;
    bool leaves = seed_next(&soldier->seed) % 2 == 0;
    atomic_ulong *begun = leaves ? &arena->line.leaving : &arena->line.entering;
    atomic_ulong *ended = leaves ? &arena->line.left : &arena->line.entered;
    schedq_pod_spec_t spec = fx_spec(PRIORITY + 1 + (int32_t)(own->pod.bits % 3));
    bool counts = leaves == own->before;
    if (counts)
        atomic_fetch_add(begun, 1);
    schedq_result_t result;
    schedq_status_t status = leaves ? leave_line(soldier, own->pod, &result)
                                    : schedq_update(soldier->worker, own->name, strlen(own->name),
                                                    &spec, 0, NULL, 0, &result);
    bool flew = status == SCHEDQ_NOT_FOUND || result.place == SCHEDQ_INFLIGHT;
    if (counts && !flew)
        atomic_fetch_add(ended, 1);
    else if (counts)
        atomic_fetch_sub(begun, 1);
    mailbox_check(soldier->mailbox, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
    own->before = true; /* or it is gone */
}

static void
work(soldier_t *soldier)
{
    arena_t *arena = soldier->ctx;
    own_t own[OWN] = {{.pod = {0}}};
    for (unsigned long number = 0; !atomic_load(&arena->over); number++) {
        own_t *pod = &own[seed_next(&soldier->seed) % OWN];
        if (pod->pod.bits != 0 && !arena->only_pops)
            change_own(soldier, pod);
        add_own(soldier, pod, number);
        if (atomic_load(&arena->line.entered) > atomic_load(&arena->line.leaving) + HIGH / 2)
            pop_one(soldier);
        atomic_fetch_add(&arena->calls, 1);
    }
}

/* ---- the thread that asks -------------------------------------------------------------------- */

static void
ask(soldier_t *soldier)
{
    arena_t *arena = soldier->ctx;
    line_t *line = &arena->line;
    uint64_t lower = 0, upper = 0;
    unsigned long entered = atomic_load(&line->entered), left = atomic_load(&line->left);
    schedq_status_t status = schedq_position(soldier->worker, arena->asked, &lower, &upper);
    unsigned long leaving = atomic_load(&line->leaving), entering = atomic_load(&line->entering);
    uint64_t least = OLDER + (entered > leaving ? entered - leaving : 0);
    uint64_t most = OLDER + entering - left;
    if (status != SCHEDQ_OK || lower > most || upper < least || lower > upper)
        mailbox_complain(soldier->mailbox, "status %d: %llu to %llu; there were %llu to %llu",
                         status, (unsigned long long)lower, (unsigned long long)upper,
                         (unsigned long long)least, (unsigned long long)most);
    arena->width += upper - lower;
    arena->exact += upper == lower;
}

static void
ask_or_work(soldier_t *soldier)
{
    arena_t *arena = soldier->ctx;
    if (soldier->number > 0) {
        work(soldier);
        return;
    }
    for (unsigned long i = 0; i < arena->questions; i++) {
        while (atomic_load(&arena->calls) < i * BETWEEN + WORKERS)
            sched_yield();
        ask(soldier);
    }
    atomic_store(&arena->over, true);
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void
fill(fixture_t *fixture, arena_t *arena)
{
    char name[32];
    for (unsigned long i = 0; i < PODS; i++) {
        int32_t priority = i < HIGH ? PRIORITY + 1 + (int32_t)(i % 3) : PRIORITY;
        name_of(name, sizeof name, SQUAD_MAX, i);
        schedq_pod_t pod = fx_add(fixture, name, priority);
        if (i == HIGH + OLDER)
            arena->asked = pod;
    }
    atomic_store(&arena->line.entering, HIGH);
    atomic_store(&arena->line.entered, HIGH);
}

static unsigned long
questions(void)
{
    const char *given = getenv("SCHEDQ_TEST_QUESTIONS");
    unsigned long count = given != NULL ? strtoul(given, NULL, 10) : rounds_of(QUESTIONS);
    if (count < 1 || count > 1000000)
        fail_msg("SCHEDQ_TEST_QUESTIONS is %s: legal are 1..1000000", given);
    return count;
}

static void
the_bounds_hold(fixture_t *fixture, bool only_pops)
{
    arena_t *arena = calloc(1, sizeof *arena);
    uint64_t lower, upper;
    assert_non_null(arena);
    arena->only_pops = only_pops;
    arena->questions = questions();
    fill(fixture, arena);
    assert_ok(schedq_position(fx_worker(fixture), arena->asked, &lower, &upper));
    assert_int_equal(lower, HIGH + OLDER);
    assert_int_equal(upper, HIGH + OLDER);
    squad_run(fixture, 1 + WORKERS, seed_of("test_position_threads"), ask_or_work, arena);
    print_message("%lu answers, %lu exact, bounds %.1f apart\n", arena->questions, arena->exact,
                  (double)arena->width / (double)arena->questions);
    uint64_t before = OLDER + atomic_load(&arena->line.entered) - atomic_load(&arena->line.left);
    assert_ok(schedq_position(fx_worker(fixture), arena->asked, &lower, &upper));
    assert_int_equal(lower, before);
    assert_int_equal(upper, before);
    free(arena);
}

static void
bounds_hold_while_pods_come_and_are_popped(void **state)
{
    the_bounds_hold(*state, true);
}

static void
bounds_hold_while_pods_are_updated_held_and_deleted_too(void **state)
{
    the_bounds_hold(*state, false);
}

/* ---- a hole before the pod, and another pod that is held ------------------------------------- */

enum { HOLDS = 100000, PAUSE = 200 };

typedef struct hole {
    schedq_pod_t asked, held;
    unsigned holds;
    atomic_bool over;
} hole_t;

static void
hold_and_release(soldier_t *soldier, hole_t *hole)
{
    for (unsigned i = 0; i < hole->holds; i++) {
        schedq_status_t held = schedq_hold(soldier->worker, hole->held, NULL);
        for (volatile unsigned pause = 0; pause < PAUSE; pause++)
            ;
        schedq_status_t released = schedq_release(soldier->worker, hole->held, NULL);
        mailbox_check(soldier->mailbox, held == SCHEDQ_OK && released == SCHEDQ_OK);
    }
    atomic_store(&hole->over, true);
}

static void
ask_or_hold(soldier_t *soldier)
{
    hole_t *hole = soldier->ctx;
    if (soldier->number > 0) {
        hold_and_release(soldier, hole);
        return;
    }
    while (!atomic_load(&hole->over)) {
        uint64_t lower = 0, upper = 0;
        schedq_status_t status = schedq_position(soldier->worker, hole->asked, &lower, &upper);
        mailbox_check(soldier->mailbox, status == SCHEDQ_OK && lower <= 1 && upper >= 1);
    }
}

static void
a_held_pod_behind_it_hides_no_hole_before_it(void **state)
{
    fixture_t *fixture = *state;
    hole_t hole = {.holds = rounds_of(HOLDS)};
    (void)fx_add(fixture, "ns/before", 1);
    schedq_pod_t left = fx_add(fixture, "ns/left", 1);
    hole.asked = fx_add(fixture, "ns/asked", 1);
    hole.held = fx_add(fixture, "ns/held", 0);
    assert_ok(schedq_hold(fx_worker(fixture), left, NULL));
    squad_run(fixture, 2, seed_of("test_position_threads"), ask_or_hold, &hole);
}

int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        fx_test(bounds_hold_while_pods_come_and_are_popped),
        fx_test(bounds_hold_while_pods_are_updated_held_and_deleted_too),
        fx_test(a_held_pod_behind_it_hides_no_hole_before_it),
    };
    return fx_run_tests(argc, argv, tests);
}
