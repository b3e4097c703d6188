/*
 * Arrivals and service in balance: half of the threads add, the other half waits for pods in a
 * blocking pop and ends them, and the queue is nearly empty. What it shows is the hand-over: how
 * dear sleeping, waking and an empty queue are.
 *
 * A producer stops while `pods` pods or more are pending.
 */
#include "team.h"

#include <sched.h>
#include <stdlib.h>

/* A producer looks at the other side before every so many adds. */
enum { STEP = 8 };

static void *
open_steady(const subject_t *subject)
{
    team_t *team = bench_alloc(1, sizeof *team);
    team_open(team, subject, 2 * subject->row->pods + THREADS_MAX * STEP, false);
    return team;
}

static void
tell_progress(member_t *member, uint64_t pods)
{
    uint64_t progress = atomic_load_explicit(&member->progress, memory_order_relaxed);
    atomic_store_explicit(&member->progress, progress + pods, memory_order_relaxed);
}

static void
produce(team_t *team, member_t *member)
{
    for (uint32_t i = 0; i < team->row->count; i += STEP) {
        while (team_balance(team) >= team->row->pods) {
            sched_yield();
        }
        for (uint32_t j = 0; j < STEP; j++) {
            member_add(team, member);
        }
        tell_progress(member, STEP);
    }
}

static void
consume(team_t *team, member_t *member)
{
    taken_t taken;

    for (uint32_t i = 0; i < team->row->count; i++) {
        team->ops->pop(member->worker, &taken);
        member_read(member, &taken);
        team->ops->done(member->worker, taken.token);
        tell_progress(member, 1);
    }
}

static void
body(gbench_thread_t *thread, void *run)
{
    team_t *team = run;
    unsigned me = gbench_thread_index(thread);

    while (gbench_next(thread)) {
        if (me < team->row->threads / 2) {
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
    samples[0].ns = seconds * 1e9 / ((double)row->count * row->threads / 2 * row->rounds);
}

static void
close_steady(void *run)
{
    team_close(run);
    free(run);
}

const workload_t steady_workload = {
    .counts_work = true,
    .suite = "steady",
    .values = one_value,
    .groups = GROUP_ENGINES | GROUP_BARE,
    .needs = ABLE_QUEUE,
    .open = open_steady,
    .body = body,
    .settle = settle,
    .close = close_steady,
};
