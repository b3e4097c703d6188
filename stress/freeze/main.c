/*
 * schedq-freeze: stops workers, watches the others, settles, prints the table.
 *
 * Main thread: chooses the victim and the moment. Actors, and the queue's timer thread: the
 * victims. Control threads: tell a machine that stood still from a queue that did.
 */
#include <stdio.h>
#include <stdlib.h>

#include "control.h"
#include "report.h"
#include "run.h"
#include "settle.h"
#include "support/interrupt.h"
#include "watch.h"

#define WARM_UP_NS INT64_C(200000000)
#define WARM_UP_KILL_NS INT64_C(20000000)
#define PAUSE_US 3000u
#define LOOKS_FOR_A_CALL 100000u
#define STOPS_FOR_A_CALL 2000u

typedef struct stage {
    const options_t *options;
    report_t report;
    actor_t dice; /* the main thread's random numbers */
    unsigned violations;
    unsigned stops;
} stage_t;

static void
wait_some_time(stage_t *stage, int64_t at_least)
{
    clock_sleep_until(clock_now() + at_least + 1000 * (int64_t)actor_roll(&stage->dice, PAUSE_US));
}

/* The timer thread is as likely as any other. */
static actor_t *
choose_victim(stage_t *stage, run_t *run)
{
    unsigned number = actor_roll(&stage->dice, run->actor_count + atomic_load(&run->timer_known));
    return number < run->actor_count ? &run->actors[number] : &run->timer;
}

static unsigned
hit_of(actor_t *victim)
{
    return atomic_load(&victim->ice.allocating) ? REPORT_ALLOCATOR : atomic_load(&victim->ice.call);
}

/* A thread that is in `wanted`, as far as can be seen; after a while any. */
static actor_t *
find_inside(stage_t *stage, run_t *run, unsigned wanted)
{
    actor_t *victim = choose_victim(stage, run);
    for (unsigned i = 0; i < LOOKS_FOR_A_CALL; i++) {
        victim = &run->actors[i % run->actor_count];
        if (wanted == CALL_TIMER && atomic_load(&run->timer_known))
            return &run->timer;
        if (atomic_load_explicit(&victim->ice.call, memory_order_relaxed) == wanted)
            break;
    }
    return victim;
}

/*
 * Stops a thread: every second time any thread at any instruction; in between one inside the call
 * that was hit least so far, however many stops it takes to meet it there. With --kill always any.
 * NULL: it cannot be stopped.
 */
static actor_t *
stop_one(stage_t *stage, run_t *run)
{
    bool aims = !stage->options->kill && stage->stops++ % 2 == 1;
    unsigned wanted = report_rarest(&stage->report, stage->options);
    actor_t *victim = NULL;
    for (unsigned tries = 0; tries < STOPS_FOR_A_CALL; tries++) {
        victim = aims ? find_inside(stage, run, wanted) : choose_victim(stage, run);
        if (!ice_freeze(&victim->ice, victim->thread)) {
            tally_violation(&run->tally, "thread %u cannot be stopped", victim->number);
            return NULL;
        }
        if (!aims || hit_of(victim) == wanted || tries + 1 == STOPS_FOR_A_CALL)
            break;
        ice_release(&victim->ice);
    }
    return victim;
}

/*
 * Stops one thread and watches the others. It stands still when this returns. NULL: it could not be
 * stopped.
 */
static actor_t *
freeze_one(stage_t *stage, run_t *run)
{
    watch_t watch;
    actor_t *victim = stop_one(stage, run);
    if (victim == NULL)
        return NULL;
    unsigned hit = hit_of(victim);
    watch_others(run, victim, &watch);
    report_add(&stage->report, stage->options, hit, &watch);
    if (watch_violations(&watch) > 0)
        printf("thread %u stopped in %s: %u of %u windows without progress\n", victim->number,
               hit == REPORT_ALLOCATOR ? "the allocator" : call_name(hit), watch_violations(&watch),
               watch.windows);
    return victim;
}

/* False if the thread that was stopped completes no call any more. */
static bool
goes_on(run_t *run, actor_t *victim)
{
    uint64_t before = atomic_load(&victim->calls);
    patience_t patience;
    ice_release(&victim->ice);
    run_wait(&patience);
    while (atomic_load(&victim->calls) == before && run_waited(&patience, 0)) {
    }
    bool good = atomic_load(&victim->calls) != before;
    TALLY_CHECK(&run->tally, good, "thread %u completes no call after its release; it is in %s",
                victim->number, call_name(atomic_load(&victim->ice.call)));
    return good;
}

static void
freeze_often(stage_t *stage)
{
    run_t *run = aligned_alloc(_Alignof(run_t), sizeof *run);
    if (run == NULL || !run_open(run, stage->options, stage->options->seed)) {
        stage->violations++;
        return;
    }
    wait_some_time(stage, WARM_UP_NS);
    uint64_t allocations = atomic_load(&run->allocations);
    bool good = true;
    for (unsigned i = 0; good && i < stage->options->freezes && !interrupt_came(); i++) {
        actor_t *victim = freeze_one(stage, run);
        good = victim != NULL && goes_on(run, victim);
        wait_some_time(stage, 0);
    }
    stage->report.allocations += atomic_load(&run->allocations) - allocations;
    /* What is left of threads that do not end uses `run` until the process ends. */
    bool ended = good && settle(run, NULL);
    stage->violations += atomic_load(&run->tally.violations);
    if (ended)
        free(run);
}

/* One round; false if the others did not end. `run` stays: the dead thread stands in it. */
static bool
kill_one(stage_t *stage, unsigned round)
{
    run_t *run = aligned_alloc(_Alignof(run_t), sizeof *run);
    if (run == NULL || !run_open(run, stage->options, stage->options->seed + round)) {
        stage->violations++;
        return false;
    }
    wait_some_time(stage, WARM_UP_KILL_NS);
    uint64_t allocations = atomic_load(&run->allocations);
    actor_t *victim = freeze_one(stage, run);
    stage->report.allocations += atomic_load(&run->allocations) - allocations;
    if (victim != NULL && atomic_load(&victim->ice.allocating)) {
        /* Nothing is promised then: it comes back after all. */
        ice_release(&victim->ice);
        victim = NULL;
    }
    bool good = settle(run, victim);
    unsigned violations = atomic_load(&run->tally.violations);
    if (violations > 0)
        printf("round %u (--seed %llu --freezes 1): %u violations; the dead thread is %u\n", round,
               (unsigned long long)(stage->options->seed + round), violations,
               victim != NULL ? victim->number : ACTORS_MAX);
    stage->violations += violations;
    if (good && victim == NULL)
        free(run);
    return good;
}

static void
kill_often(stage_t *stage)
{
    for (unsigned i = 0; i < stage->options->freezes && !interrupt_came(); i++) {
        if (!kill_one(stage, i))
            return;
    }
}

int
main(int argc, char **argv)
{
    static options_t options;
    static stage_t stage;
    static run_t nothing;
    options_parse(&options, argc, argv);
    setvbuf(stdout, NULL, _IOLBF, 0);
    options_print(&options);
    stage.options = &options;
    nothing.seed = options.seed;
    actor_prepare(&stage.dice, &nothing, ACTORS_MAX + 1);
    ice_install();
    interrupt_catch();
    if (!control_start()) {
        fprintf(stderr, "schedq-freeze: no control thread on every core\n");
        return 1;
    }
    if (options.kill)
        kill_often(&stage);
    else
        freeze_often(&stage);
    bool moving = report_print(&stage.report, &options);
    control_stop();
    printf("violations in the account: %u\n", stage.violations);
    bool good = stage.violations == 0 && (moving || interrupt_came());
    int status = interrupt_end(good ? 0 : 1, "what is above was seen until then");
    fflush(stdout);
    /* Dead threads stand in memory that must stay: no exit handlers. */
    _Exit(status);
}
