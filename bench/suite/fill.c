/*
 * FILL: an empty queue gets `pods` pods; ns per add. DRAIN: a queue of `pods` pods is popped empty;
 * ns per pop and done.
 *
 * The threads share the work evenly. What the one part needs, the other one does untimed.
 */
#include "team.h"

#include <stdlib.h>

static void *
open_fill(const subject_t *subject)
{
    team_t *team = bench_alloc(1, sizeof *team);
    team_open(team, subject, subject->row->pods, false);
    return team;
}

static void
fill(team_t *team, member_t *member)
{
    uint32_t share = team->row->pods / team->row->threads;
    for (uint32_t i = 0; i < share; i++) {
        member_add(team, member);
    }
    team_finish(team);
}

static void
drain(team_t *team, member_t *member)
{
    while (member_take(team, member)) {
    }
    team_finish(team);
}

static void
body(gbench_thread_t *thread, void *run)
{
    team_t *team = run;
    member_t *member = &team->members[gbench_thread_index(thread)];

    while (gbench_next(thread)) {
        if (team->row->part == FILL) {
            fill(team, member);
            gbench_pause(thread);
            drain(team, member);
            gbench_resume(thread);
        } else {
            gbench_pause(thread);
            fill(team, member);
            gbench_resume(thread);
            drain(team, member);
        }
    }
}

static void
settle(void *run, double seconds, sample_t *samples)
{
    const row_t *row = ((team_t *)run)->row;
    samples[0].ns = seconds * 1e9 / ((double)row->pods * row->rounds);
}

static void
close_fill(void *run)
{
    team_close(run);
    free(run);
}

const workload_t fill_workload = {
    .suite = "fill",
    .values = one_value,
    .groups = GROUP_ENGINES | GROUP_BARE,
    .needs = ABLE_QUEUE,
    .open = open_fill,
    .body = body,
    .settle = settle,
    .close = close_fill,
};
