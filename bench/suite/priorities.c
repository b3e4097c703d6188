/*
 * Pop and done while `pods` pods are pending, of as many priorities as the row's `rate` says; the
 * base: of one.
 *
 * A round pops ROUND pods and ends them; untimed, each is replaced by one of the same priority, so
 * that the number of priorities stays.
 */
#include "team.h"

#include <stdlib.h>

enum { ROUND = 512 };

typedef struct priorities_run {
    team_t team;
    uint32_t priorities;
    uint64_t popped[ROUND];
} priorities_run_t;

static void
put(priorities_run_t *run, uint64_t number)
{
    member_put(&run->team, &run->team.members[0], number, (int32_t)(number % run->priorities));
}

static void *
open_priorities(const subject_t *subject)
{
    priorities_run_t *run = bench_alloc(1, sizeof *run);
    bool base = (subject->contestant->groups & GROUP_BASE) != 0;

    run->priorities = base ? 1 : subject->row->rate;
    team_open(&run->team, subject, subject->row->pods + ROUND, false);
    for (uint32_t i = 0; i < subject->row->pods; i++) {
        put(run, i);
    }
    return run;
}

static void
take_round(priorities_run_t *run)
{
    member_t *member = &run->team.members[0];
    taken_t taken;

    for (uint32_t i = 0; i < ROUND; i++) {
        if (!run->team.ops->try_pop(member->worker, &taken)) {
            bench_fail("%s: nothing to pop", run->team.row->name);
        }
        member_read(member, &taken);
        run->popped[i] = taken.object;
        run->team.ops->done(member->worker, taken.token);
    }
}

/* The number of the new one is that of the old one plus a multiple of the priorities. */
static void
put_round(priorities_run_t *run)
{
    uint64_t above = (uint64_t)run->priorities * run->team.row->pods;

    for (uint32_t i = 0; i < ROUND; i++) {
        put(run, run->popped[i] + above);
    }
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    priorities_run_t *run = ctx;

    while (gbench_next(thread)) {
        take_round(run);
        gbench_pause(thread);
        put_round(run);
        gbench_resume(thread);
    }
}

static void
settle(void *ctx, double seconds, sample_t *samples)
{
    const priorities_run_t *run = ctx;

    samples[0].ns = seconds * 1e9 / run->team.row->rounds / ROUND;
}

static void
close_priorities(void *ctx)
{
    priorities_run_t *run = ctx;

    team_close(&run->team);
    free(run);
}

static const value_t values[] = {{"4096-vs-1", RATIO_TO_BASE, NULL}, {0}};

const workload_t priorities_workload = {
    .suite = "priorities",
    .values = values,
    .groups = GROUP_ENGINES | GROUP_BARE | GROUP_BASE,
    .needs = ABLE_QUEUE,
    .open = open_priorities,
    .body = body,
    .settle = settle,
    .close = close_priorities,
};
