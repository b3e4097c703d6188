/*
 * The life of a pod: add, pop, done, while `pods` others are pending; one by one, or BATCH of them
 * in a call.
 *
 * WHOLE: each thread does all three, one pod after the other. SPLIT: half of the threads add, the
 * other half pops and ends; the side that gets ahead by half of the pending pods yields, so that
 * the number pending stays near the one in the row's name whatever the operating system does with
 * the threads. RELAXED: the queue may change the order inside a priority.
 *
 * Push and pop is the same for those who cannot delete, or keep no order over producers: they stand
 * in the table, and do not count as the best rival.
 */
#include "team.h"

#include <sched.h>
#include <stdlib.h>

/* Pods between two looks at the other side. */
enum { STEP = 64 };

_Static_assert(STEP % BATCH == 0, "a step is a number of batches");

static void *
open_lifecycle(const subject_t *subject)
{
    team_t *team = bench_alloc(1, sizeof *team);
    uint32_t pods = subject->row->pods;
    /* SPLIT lets half as many more in, and every thread may be a step further than it told. */
    uint32_t more = (subject->row->part & LIFECYCLE_SPLIT) ? pods / 2 + THREADS_MAX * STEP
                                                           : THREADS_MAX * BATCH;

    team_open(team, subject, pods + more, (subject->row->part & LIFECYCLE_RELAXED) != 0);
    team_fill(team, pods);
    return team;
}

static void
add_step(const team_t *team, member_t *member, uint32_t pods)
{
    const bool batches = team->row->workload->batches;

    for (uint32_t i = 0; i < pods; i += batches ? BATCH : 1) {
        if (batches) {
            member_add_many(team, member, BATCH);
        } else {
            member_add(team, member);
        }
    }
}

static void
take_step(const team_t *team, member_t *member, uint32_t pods)
{
    const bool batches = team->row->workload->batches;

    while (pods > 0) {
        uint32_t wanted = pods < BATCH ? pods : BATCH;
        uint32_t count =
            batches ? member_take_many(team, member, wanted) : (uint32_t)member_take(team, member);

        if (count == 0) {
            sched_yield();
        }
        pods -= count;
    }
}

static void
live(team_t *team, member_t *member)
{
    const uint32_t step = team->row->workload->batches ? BATCH : 1;

    for (uint32_t i = 0; i < team->row->count; i += step) {
        add_step(team, member, step);
        take_step(team, member, step);
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
        add_step(team, member, STEP);
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
        take_step(team, member, STEP);
        tell_progress(member);
    }
}

static void
body(gbench_thread_t *thread, void *run)
{
    team_t *team = run;
    unsigned me = gbench_thread_index(thread);

    while (gbench_next(thread)) {
        if ((team->row->part & LIFECYCLE_SPLIT) == 0) {
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
    unsigned adders = (row->part & LIFECYCLE_SPLIT) == 0 ? row->threads : row->threads / 2;

    samples[0].ns = seconds * 1e9 / ((double)row->count * adders * row->rounds);
}

static void
close_lifecycle(void *run)
{
    team_close(run);
    free(run);
}

#define LIFECYCLE(suite_name, ...)                                                      \
    {                                                                                   \
        .suite = suite_name, .counts_work = true, .open = open_lifecycle, .body = body, \
        .settle = settle, .close = close_lifecycle, __VA_ARGS__                         \
    }

static const value_t best_rival[] = {{"best-rival", RATIO_BEST_RIVAL, NULL}, {0}};

const workload_t lifecycle_workload = LIFECYCLE(
    "lifecycle", .values = one_value, .groups = GROUP_ENGINES | GROUP_BARE, .needs = ABLE_QUEUE);
const workload_t lifecycle_batch_workload =
    LIFECYCLE("lifecycle", .values = one_value, .groups = GROUP_ENGINES | GROUP_RIVALS,
              .needs = ABLE_LIFE, .batches = true);
const workload_t lifecycle_rivals_workload = LIFECYCLE(
    "lifecycle", .values = best_rival, .groups = GROUP_ENGINES | GROUP_RIVALS, .needs = ABLE_LIFE);
const workload_t push_pop_workload =
    LIFECYCLE("pushpop", .values = best_rival, .groups = GROUP_ENGINES | GROUP_RIVALS,
              .needs = ABLE_PUSH_POP);
const workload_t scaling_workload = LIFECYCLE(
    "scaling", .values = one_value, .groups = GROUP_ENGINES | GROUP_BARE, .needs = ABLE_QUEUE);
