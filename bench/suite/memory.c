/*
 * A large queue: nine of ten pods active, one of ten parked. One wildcard event, which moves all
 * that are parked: ns for the whole event. And the memory that the queue holds for each pod
 * (schedq_stats) beside what the engine's structs add up to.
 *
 * The parked pods have a higher priority than the others, so that between two events the same ones
 * are popped and parked again. Backoff is off. One thread; the bare queue has no events.
 */
#include "contestant_schedq.h"
#include "workload.h"

#include "mutex/entry.h"
#include "mutex/heap.h"
#include "mutex/index.h"

#include <stdlib.h>

typedef struct memory_run {
    const row_t *row;
    const contestant_t *contestant;
    schedq_t *queue;
    schedq_worker_t *worker;
    uint64_t rejector;
    uint32_t parked;
} memory_run_t;

static void
park(memory_run_t *run)
{
    schedq_popped_t popped;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    failure.unschedulable = run->rejector;
    for (uint32_t i = 0; i < run->parked; i++) {
        must(schedq_try_pop(run->worker, &popped), "schedq_try_pop");
        if (popped.priority == 0) {
            bench_fail("wildcard: an ordinary pod was popped");
        }
        must(schedq_fail(run->worker, &popped.token, &failure, NULL), "schedq_fail");
    }
}

static void *
open_memory(const subject_t *subject)
{
    memory_run_t *run = bench_alloc(1, sizeof *run);
    schedq_config_t config;

    run->row = subject->row;
    run->contestant = subject->contestant;
    run->parked = subject->row->pods / 10;
    config_for(&config, subject->contestant);
    config.max_backoff_ns = 0;
    run->queue = queue_create(subject->contestant, &config, subject->row->pods, 1);
    run->rejector =
        plugin_create(run->queue, "fit", "Node", SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE, NULL, NULL);
    run->worker = worker_create(run->queue);
    for (uint32_t i = 0; i < subject->row->pods; i++) {
        worker_add(run->worker, i, i < run->parked ? 1000 : 0);
    }
    park(run);
    return run;
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    memory_run_t *run = ctx;
    schedq_result_t result;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;

    change.event = SCHEDQ_EVENT_WILDCARD;
    while (gbench_next(thread)) {
        must(schedq_notify(run->worker, &change, &result), "schedq_notify");
        if (result.to_active != run->parked) {
            bench_fail("wildcard: the event moved %u pods, not %u", result.to_active, run->parked);
        }
        gbench_pause(thread);
        park(run);
        gbench_resume(thread);
    }
}

static void
settle(void *ctx, double seconds, sample_t *samples)
{
    const memory_run_t *run = ctx;
    samples[0].ns = seconds * 1e9 / run->row->rounds;
}

/*
 * What the mutex engine's structs take for one pod with a name of at most 63 bytes; the other's
 * grow in steps, by what happens.
 */
typedef struct arithmetic {
    double entries;
    double names;
    double index;
    double queues;
} arithmetic_t;

/*
 * Index: a power of two of slots, at least two for each pod. Queues: an item in each of three
 * heaps, and a position.
 */
static arithmetic_t
mutex_arithmetic(uint32_t pods)
{
    uint64_t slots = 1;
    while (slots < 2 * (uint64_t)pods) {
        slots *= 2;
    }
    return (arithmetic_t){
        .entries = sizeof(struct entry),
        .names = 64,
        .index = (double)(slots * sizeof(struct index_slot)) / pods,
        .queues = 3 * sizeof(struct order) + sizeof(uint32_t),
    };
}

static void
print_bytes(FILE *out, const char *what, uint64_t bytes, uint32_t pods, const double *structs)
{
    fprintf(out, "  %-8s %10.1f MiB %8.1f B/pod", what, (double)bytes / 1048576.0,
            (double)bytes / pods);
    if (structs != NULL) {
        fprintf(out, " %8.1f by the structs", *structs);
    }
    fputc('\n', out);
}

static void
note(void *ctx, FILE *out)
{
    const memory_run_t *run = ctx;
    const uint32_t pods = run->row->pods;
    const arithmetic_t structs = mutex_arithmetic(pods);
    const double sum = structs.entries + structs.names + structs.index + structs.queues;
    const bool known = run->contestant->engine == SCHEDQ_ENGINE_MUTEX;
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    must(schedq_stats(run->queue, &stats), "schedq_stats");
    uint64_t total = stats.bytes_entries + stats.bytes_names + stats.bytes_index +
                     stats.bytes_queues + stats.bytes_other;
    fprintf(out, "%s: memory that %s holds for %u pods (%u parked), names of 31 bytes\n",
            run->row->name, run->contestant->name, pods, run->parked);
    print_bytes(out, "entries", stats.bytes_entries, pods, known ? &structs.entries : NULL);
    print_bytes(out, "names", stats.bytes_names, pods, known ? &structs.names : NULL);
    print_bytes(out, "index", stats.bytes_index, pods, known ? &structs.index : NULL);
    print_bytes(out, "queues", stats.bytes_queues, pods, known ? &structs.queues : NULL);
    print_bytes(out, "other", stats.bytes_other, pods, NULL);
    print_bytes(out, "sum", total, pods, known ? &sum : NULL);
}

static void
close_memory(void *ctx)
{
    memory_run_t *run = ctx;
    worker_end(run->worker);
    queue_destroy(run->queue);
    free(run);
}

const workload_t memory_workload = {
    .suite = "memory",
    .values = one_value,
    .groups = GROUP_ENGINES,
    .needs = ABLE_EVENTS,
    .open = open_memory,
    .body = body,
    .settle = settle,
    .note = note,
    .close = close_memory,
};
