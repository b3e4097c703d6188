/*
 * One pod is in flight while `count` events arrive that its rejector hears of; then it fails.
 *
 * EVENT: ns per such event. FAILURE: ns of the one add_unschedulable, which has to know whether one
 * of the events helps the pod. Below the table: by how many bytes the queue grew meanwhile
 * (schedq_stats), at the most over all repetitions. The plugin's hint says that no event helps.
 * Backoff is off. One thread; the bare queue has no events.
 */
#include "contestant_schedq.h"
#include "workload.h"

#include <stdlib.h>

typedef struct inflight_run {
    const row_t *row;
    const contestant_t *contestant;
    schedq_t *queue;
    schedq_worker_t *worker;
    uint64_t rejector;
    uint64_t next_object;
    schedq_token_t flying;
    int64_t failure_ns;
    uint64_t before_bytes;
    uint64_t growth_bytes;
    schedq_place_t place; /* where the failed pod went */
} inflight_run_t;

static schedq_hint_t
skip(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx;
    (void)pod;
    (void)old_object;
    (void)new_object;
    return SCHEDQ_HINT_SKIP;
}

static uint64_t
bytes_held(const inflight_run_t *run)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    must(schedq_stats(run->queue, &stats), "schedq_stats");
    return stats.bytes_entries + stats.bytes_names + stats.bytes_index + stats.bytes_queues +
           stats.bytes_other;
}

static void *
open_inflight(const subject_t *subject)
{
    inflight_run_t *run = bench_alloc(1, sizeof *run);
    schedq_config_t config;

    run->row = subject->row;
    run->contestant = subject->contestant;
    config_for(&config, subject->contestant);
    config.max_backoff_ns = 0;
    run->queue = queue_create(subject->contestant, &config, subject->row->pods, 1);
    run->rejector =
        plugin_create(run->queue, "fit", "Node", SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE, skip, NULL);
    run->worker = worker_create(run->queue);
    return run;
}

/* The pod of the repetition before ends; a new one is in flight. */
static void
prepare(void *ctx)
{
    inflight_run_t *run = ctx;
    schedq_popped_t popped;
    pod_name_t name;

    if (run->next_object > 0) {
        pod_name_make(&name, run->next_object);
        must(schedq_delete_name(run->worker, name.text, name.length, NULL), "schedq_delete");
    }
    worker_add(run->worker, ++run->next_object, 0);
    must(schedq_try_pop(run->worker, &popped), "schedq_try_pop");
    run->flying = popped.token;
    run->before_bytes = bytes_held(run);
}

static void
tell_events(inflight_run_t *run)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;

    change.event = SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE;
    for (uint32_t i = 0; i < run->row->count; i++) {
        change.new_object = i + 1;
        must(schedq_notify(run->worker, &change, NULL), "schedq_notify");
    }
}

static void
measure_growth(inflight_run_t *run)
{
    uint64_t bytes = bytes_held(run);
    uint64_t growth = bytes > run->before_bytes ? bytes - run->before_bytes : 0;

    run->growth_bytes = growth > run->growth_bytes ? growth : run->growth_bytes;
}

static void
fail(inflight_run_t *run)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;

    failure.unschedulable = run->rejector;
    int64_t begin_ns = clock_ns();
    must(schedq_fail(run->worker, &run->flying, &failure, &result), "schedq_fail");
    run->failure_ns = clock_ns() - begin_ns;
    run->place = (schedq_place_t)result.place;
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    inflight_run_t *run = ctx;

    while (gbench_next(thread)) {
        tell_events(run);
        gbench_pause(thread);
        measure_growth(run);
        fail(run);
        gbench_resume(thread);
    }
}

static void
settle(void *ctx, double seconds, sample_t *samples)
{
    const inflight_run_t *run = ctx;

    samples[0].ns = seconds * 1e9 / run->row->count;
    samples[1].ns = (double)run->failure_ns;
}

static void
note(void *ctx, FILE *out)
{
    const inflight_run_t *run = ctx;

    fprintf(out,
            "%s: %s grew by %llu B while %u events arrived for a pod in flight; after its failure "
            "it was %s\n",
            run->row->name, run->contestant->name, (unsigned long long)run->growth_bytes,
            run->row->count, schedq_place_name(run->place));
}

static void
close_inflight(void *ctx)
{
    inflight_run_t *run = ctx;
    worker_end(run->worker);
    queue_destroy(run->queue);
    free(run);
}

static const value_t values[] = {
    {"event", RATIO_ENGINES, NULL}, {"failure", RATIO_ENGINES, NULL}, {0}};

const workload_t inflight_workload = {
    .suite = "inflight",
    .groups = GROUP_ENGINES,
    .needs = ABLE_EVENTS,
    .values = values,
    .open = open_inflight,
    .prepare = prepare,
    .body = body,
    .settle = settle,
    .note = note,
    .close = close_inflight,
};
