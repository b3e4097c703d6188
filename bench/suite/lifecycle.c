/*
 * The life of a pod: add, pop, done, while `pods` others are pending.
 *
 * WHOLE: each thread does all three, one pod after the other. SPLIT: half of the threads add, the
 * other half pops and ends; the side that gets ahead by half of the pending pods yields, so that
 * the number pending stays near the one in the row's name whatever the operating system does with
 * the threads.
 */
#include "team.h"

#include <sched.h>
#include <stdlib.h>

/* Operations between two looks at the other side. */
enum { STEP = 64 };

static void *
open_lifecycle(const subject_t *subject)
{
    team_t *team = bench_alloc(1, sizeof *team);
    uint32_t pods = subject->row->pods;
    /* SPLIT lets half as many more in, and every thread may be a step further than it told. */
    uint32_t more =
        subject->row->part == LIFECYCLE_SPLIT ? pods / 2 + THREADS_MAX * STEP : THREADS_MAX;

    team_open(team, subject, pods + more);
    team_fill(team, pods);
    return team;
}

static void
live(team_t *team, member_t *member)
{
    for (uint32_t i = 0; i < team->row->count; i++) {
        member_add(team, member);
        while (!member_take(team, member)) {
            sched_yield();
        }
    }
}

static void
tell_progress(member_t *member)
{
    uint64_t progress = atomic_load_explicit(&member->progress, memory_order_relaxed);
    atomic_store_explicit(&member->progress, progress + STEP, memory_order_relaxed);
}

static void
produce(team_t *team, member_t *member)
{
    const int64_t ahead = team->row->pods / 2;

    for (uint32_t i = 0; i < team->row->count; i += STEP) {
        while (team_balance(team) > ahead) {
            sched_yield();
        }
        for (uint32_t j = 0; j < STEP; j++) {
            member_add(team, member);
        }
        tell_progress(member);
    }
}

static void
consume(team_t *team, member_t *member)
{
    const int64_t ahead = team->row->pods / 2;

    for (uint32_t i = 0; i < team->row->count; i += STEP) {
        while (-team_balance(team) > ahead) {
            sched_yield();
        }
        for (uint32_t j = 0; j < STEP; j++) {
            while (!member_take(team, member)) {
                sched_yield();
            }
        }
        tell_progress(member);
    }
}

static void
body(gbench_thread_t *thread, void *run)
{
    team_t *team = run;
    unsigned me = gbench_thread_index(thread);

    while (gbench_next(thread)) {
        if (team->row->part == LIFECYCLE_WHOLE) {
            live(team, &team->members[me]);
        } else if (me < team->row->threads / 2) {
            produce(team, &team->members[me]);
        } else {
            consume(team, &team->members[me]);
        }
        team_finish(team);
    }
}

static void
settle(void *run, double seconds, sample_t *samples)
{
    const row_t *row = ((team_t *)run)->row;
    unsigned adders = row->part == LIFECYCLE_WHOLE ? row->threads : row->threads / 2;

    samples[0].ns = seconds * 1e9 / ((double)row->count * adders * row->rounds);
}

static void
close_lifecycle(void *run)
{
    team_close(run);
    free(run);
}

const workload_t lifecycle_workload = {
    .suite = "lifecycle",
    .needs = ABLE_QUEUE,
    .open = open_lifecycle,
    .body = body,
    .settle = settle,
    .close = close_lifecycle,
};
