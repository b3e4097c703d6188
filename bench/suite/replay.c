/*
 * The bundled trace, pressed: `pods` superposed copies of its pods on `rate` of 10,000 of its
 * nodes, so that most attempts fail. One worker, in virtual time. Both engines have to decide the
 * same.
 */
#include "replayed.h"
#include "workload.h"

#include <stdlib.h>

typedef struct replay_run {
    const row_t *row;
    const contestant_t *contestant;
    replayed_trace_t *trace;
    replayed_t last;
} replay_run_t;

/* What the engines' replays of this row decided; 0: none has ended yet. */
static uint64_t digest;

static void *
open_replay(const subject_t *subject)
{
    replay_run_t *run = bench_alloc(1, sizeof *run);

    run->row = subject->row;
    run->contestant = subject->contestant;
    run->trace = replayed_open(run->row->pods, run->row->rate / 10000.0);
    if (run->trace == NULL) {
        bench_fail("%s: the trace cannot be read", run->row->name);
    }
    digest = 0;
    return run;
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    replay_run_t *run = ctx;

    while (gbench_next(thread)) {
        const char *why = replayed_run(run->trace, run->contestant->engine, &run->last);

        if (why != NULL) {
            bench_fail("%s: %s", run->row->name, why);
        }
        if (digest != 0 && run->last.digest != digest) {
            bench_fail("%s: the engines decide differently", run->row->name);
        }
        digest = run->last.digest;
    }
}

static void
settle(void *ctx, double seconds, sample_t *samples)
{
    const replayed_t *last = &((replay_run_t *)ctx)->last;

    (void)seconds;
    samples[0].ns = last->cpu_ns;
    samples[1].ns = last->tick_ns;
    samples[2].ns = last->pop_ns;
    samples[3].ns = last->add_unschedulable_ns;
    samples[4].ns = last->move_all_ns;
}

/* Not pressed at all. */
static void
quicken(row_t *row)
{
    row->pods = 1;
    row->rate = 10000;
}

static void
close_replay(void *ctx)
{
    replay_run_t *run = ctx;

    replayed_close(run->trace);
    free(run);
}

static const value_t values[] = {
    {"pressed", RATIO_ENGINES, NULL},  {"tick", RATIO_ENGINES, NULL},
    {"pop", RATIO_ENGINES, NULL},      {"add_unschedulable", RATIO_ENGINES, NULL},
    {"move_all", RATIO_ENGINES, NULL}, {0}};

const workload_t replay_workload = {
    .suite = "replay",
    .values = values,
    .groups = GROUP_ENGINES,
    .needs = ABLE_EVENTS,
    .once = true,
    .quicken = quicken,
    .open = open_replay,
    .body = body,
    .settle = settle,
    .close = close_replay,
};
