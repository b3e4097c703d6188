/*
 * A backoff storm: `pods` pods fail together, and their backoff ends together.
 *
 * FAIL: ns per add_unschedulable of a pod that goes into backoff (an event during its flight could
 * have helped it). PARK: ns per such a call that parks the pod. NOTHING: ns per tick while all of
 * them wait and none is due. TICK: one tick finds all of them due; ns per pod. The pods failed one
 * to five times before, so that their backoffs are of 2, 4, 8 and 10 s. Time is the queue's
 * external clock, which the benchmark moves. One thread; the bare queue has no backoff.
 */
#include "contestant_schedq.h"
#include "workload.h"

#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

enum { FAILURES = 5 };

typedef struct backoff_run {
    const row_t *row;
    schedq_t *queue;
    schedq_worker_t *worker;
    uint64_t rejector;
    uint64_t random;
    int64_t now_ns;
    schedq_token_t *flying; /* all pods, popped */
} backoff_run_t;

static void
advance(backoff_run_t *run, int64_t by_ns)
{
    run->now_ns += by_ns;
    must(schedq_clock_advance(run->queue, run->now_ns), "schedq_clock_advance");
}

static void *
open_backoff(const subject_t *subject)
{
    backoff_run_t *run = bench_alloc(1, sizeof *run);
    schedq_config_t config;

    run->row = subject->row;
    run->random = subject->seed;
    run->now_ns = 1000 * SECOND;
    run->flying = bench_alloc(subject->row->pods, sizeof *run->flying);
    config_for(&config, subject->contestant);
    config.external_clock = 1;
    config.start_ns = run->now_ns;
    run->queue = queue_create(subject->contestant, &config, subject->row->pods, 1);
    run->rejector =
        plugin_create(run->queue, "fit", "Node", SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE, NULL, NULL);
    run->worker = worker_create(run->queue);
    return run;
}

/* Adds every pod with a history; waits the backoffs that this begins out. */
static void
add_all(backoff_run_t *run)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    pod_name_t name;

    failure.unschedulable = run->rejector;
    for (uint32_t i = 0; i < run->row->pods; i++) {
        pod_name_make(&name, i);
        schedq_pod_spec_t spec = {.struct_size = sizeof(schedq_pod_spec_t),
                                  .object = i,
                                  .priority = random_priority(&run->random)};
        schedq_history_t history = {.timestamp_ns = run->now_ns,
                                    .initial_attempt_ns = run->now_ns,
                                    .attempts = 1 + i % FAILURES,
                                    .rejections = i % FAILURES};
        must(schedq_readd(run->worker, name.text, name.length, &spec, &history, &failure, NULL),
             "schedq_readd");
    }
    advance(run, 20 * SECOND);
    must(schedq_tick(run->worker, NULL, NULL), "schedq_tick");
}

static uint32_t
pop_all(backoff_run_t *run)
{
    schedq_popped_t popped;
    uint32_t count = 0;

    while (schedq_try_pop(run->worker, &popped) == SCHEDQ_OK) {
        run->flying[count++] = popped.token;
    }
    return count;
}

static void
end_all(backoff_run_t *run)
{
    uint32_t count = pop_all(run);
    for (uint32_t i = 0; i < count; i++) {
        must(schedq_done(run->worker, run->flying[i]), "schedq_done");
    }
}

static void
tell_event(backoff_run_t *run)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE;
    must(schedq_notify(run->worker, &change, NULL), "schedq_notify");
}

/* All pods are in flight, and an event came meanwhile. */
static void
prepare(void *ctx)
{
    backoff_run_t *run = ctx;

    end_all(run);
    add_all(run);
    if (pop_all(run) != run->row->pods) {
        bench_fail("backoff: not all pods could be popped");
    }
    if (run->row->part != BACKOFF_PARK) {
        tell_event(run);
    }
}

/* The clock moves on by a microsecond every 16 failures. */
static void
fail_all(backoff_run_t *run)
{
    const schedq_place_t place = run->row->part == BACKOFF_PARK ? SCHEDQ_PARKED : SCHEDQ_BACKOFF;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;

    failure.unschedulable = run->rejector;
    for (uint32_t i = 0; i < run->row->pods; i++) {
        if (i % 16 == 0) {
            advance(run, 1000);
        }
        must(schedq_fail(run->worker, &run->flying[i], &failure, &result), "schedq_fail");
        if (result.place != place) {
            bench_fail("%s: a failed pod is %s", run->row->name,
                       schedq_place_name((schedq_place_t)result.place));
        }
    }
}

static void
tick_nothing(backoff_run_t *run)
{
    schedq_result_t result;

    for (uint32_t i = 0; i < run->row->count; i++) {
        must(schedq_tick(run->worker, NULL, &result), "schedq_tick");
        if (result.to_active != 0) {
            bench_fail("%s: a tick made %u pods active", run->row->name, result.to_active);
        }
    }
}

/* All pods are active: as after a tick. */
static void
unpark_all(backoff_run_t *run)
{
    advance(run, 20 * SECOND);
    tell_event(run);
}

static void
tick_all(backoff_run_t *run)
{
    schedq_result_t result;

    advance(run, 20 * SECOND);
    must(schedq_tick(run->worker, NULL, &result), "schedq_tick");
    if (result.to_active != run->row->pods) {
        bench_fail("backoff: the tick made %u pods active, not %u", result.to_active,
                   run->row->pods);
    }
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    backoff_run_t *run = ctx;

    while (gbench_next(thread)) {
        bool fails = run->row->part == BACKOFF_FAIL || run->row->part == BACKOFF_PARK;

        if (!fails) {
            gbench_pause(thread);
        }
        fail_all(run);
        if (fails) {
            gbench_pause(thread);
        } else {
            gbench_resume(thread);
        }
        if (run->row->part == BACKOFF_NOTHING) {
            tick_nothing(run);
            gbench_pause(thread);
        }
        if (run->row->part == BACKOFF_PARK) {
            unpark_all(run);
        } else {
            tick_all(run);
        }
        if (run->row->part != BACKOFF_TICK) {
            gbench_resume(thread);
        }
    }
}

static void
settle(void *ctx, double seconds, sample_t *samples)
{
    const backoff_run_t *run = ctx;
    samples[0].ns =
        seconds * 1e9 / (run->row->part == BACKOFF_NOTHING ? run->row->count : run->row->pods);
}

static void
close_backoff(void *ctx)
{
    backoff_run_t *run = ctx;
    worker_end(run->worker);
    queue_destroy(run->queue);
    free(run->flying);
    free(run);
}

const workload_t backoff_workload = {
    .suite = "backoff",
    .values = one_value,
    .groups = GROUP_ENGINES,
    .needs = ABLE_EVENTS,
    .open = open_backoff,
    .prepare = prepare,
    .body = body,
    .settle = settle,
    .close = close_backoff,
};
