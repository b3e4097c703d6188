/*
 * What a pending pod costs in memory: a queue that reserved nothing gets `pods` pods with names of
 * 40 bytes; ns per add while everything grows, and below the table the bytes that the queue holds
 * (schedq_stats).
 */
#include "contestant_schedq.h"
#include "workload.h"

#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 40

typedef struct pending_run {
    const row_t *row;
    const contestant_t *contestant;
    uint64_t random;
    schedq_t *queue;
    schedq_worker_t *worker;
} pending_run_t;

static void *
open_pending(const subject_t *subject)
{
    pending_run_t *run = bench_alloc(1, sizeof *run);
    *run = (pending_run_t){
        .row = subject->row, .contestant = subject->contestant, .random = subject->seed};
    return run;
}

static void
end_queue(pending_run_t *run)
{
    if (run->queue != NULL) {
        worker_end(run->worker);
        queue_destroy(run->queue);
    }
}

/* Each repetition has a queue of its own: what grew once does not grow again. */
static void
prepare(void *ctx)
{
    pending_run_t *run = ctx;
    schedq_config_t config;

    end_queue(run);
    config_for(&config, run->contestant);
    run->queue = queue_create(run->contestant, &config, 0, 1);
    run->worker = worker_create(run->queue);
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    pending_run_t *run = ctx;

    while (gbench_next(thread)) {
        for (uint32_t i = 0; i < run->row->pods; i++) {
            char name[NAME_BYTES + 1];
            schedq_pod_spec_t spec = {.struct_size = sizeof(schedq_pod_spec_t),
                                      .object = i,
                                      .priority = random_priority(&run->random)};

            snprintf(name, sizeof name, "namespace/pod-of-a-deployment-%010u", i);
            must(schedq_add(run->worker, name, NAME_BYTES, &spec, NULL), "schedq_add");
        }
    }
}

static void
settle(void *ctx, double seconds, sample_t *samples)
{
    samples[0].ns = seconds * 1e9 / ((pending_run_t *)ctx)->row->pods;
}

/* What the queue holds for a pod, names apart. */
static double
bytes_of(const pending_run_t *run, schedq_stats_t *stats)
{
    *stats = (schedq_stats_t)SCHEDQ_STATS_INIT;
    must(schedq_stats(run->queue, stats), "schedq_stats");
    return (double)(stats->bytes_entries + stats->bytes_index + stats->bytes_queues +
                    stats->bytes_other) /
           run->row->pods;
}

static void
settle_bytes(void *ctx, double seconds, sample_t *samples)
{
    schedq_stats_t stats;

    (void)seconds;
    samples[0].ns = bytes_of(ctx, &stats);
}

static void
note(void *ctx, FILE *out)
{
    const pending_run_t *run = ctx;
    const double pods = run->row->pods;
    schedq_stats_t stats;
    double apart = bytes_of(run, &stats);

    fprintf(out,
            "%s: %s holds %.1f B for each of %u pending pods (entries %.1f, index %.1f, queues "
            "%.1f, other %.1f), "
            "and %.1f B for its name of %d bytes\n",
            run->row->name, run->contestant->name, apart, run->row->pods,
            (double)stats.bytes_entries / pods, (double)stats.bytes_index / pods,
            (double)stats.bytes_queues / pods, (double)stats.bytes_other / pods,
            (double)stats.bytes_names / pods, NAME_BYTES);
}

static void
close_pending(void *ctx)
{
    end_queue(ctx);
    free(ctx);
}

const workload_t pending_workload = {
    .suite = "memory",
    .values = one_value,
    .groups = GROUP_ENGINES,
    .needs = ABLE_SCHEDQ,
    .open = open_pending,
    .prepare = prepare,
    .body = body,
    .settle = settle,
    .note = note,
    .close = close_pending,
};

static const value_t bytes[] = {{"bytes-per-pod", RATIO_ENGINES, "B"}, {0}};

/* The same bytes in every repetition. */
const workload_t bytes_workload = {
    .suite = "memory",
    .values = bytes,
    .groups = GROUP_ENGINES,
    .needs = ABLE_SCHEDQ,
    .once = true,
    .open = open_pending,
    .prepare = prepare,
    .body = body,
    .settle = settle_bytes,
    .close = close_pending,
};
