/*
 * From an add until a blocked pop returns; the base: from a store and a futex's wake-up until the
 * thread that waits for it has read the clock.
 *
 * Thread 0 adds a pod when thread 1 has been waiting for a while, so that it sleeps.
 */
#include "histogram.h"
#include "team.h"

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { ASLEEP_NS = 60000 };

typedef struct wake_run {
    team_t team;
    bool base;
    _Alignas(128) _Atomic uint32_t word;    /* the base's futex: turns */
    _Alignas(128) _Atomic uint32_t waiting; /* turns that thread 1 began to wait for */
    _Atomic int64_t begin_ns;
    histogram_t *latency;
} wake_run_t;

static void *
open_wake(const subject_t *subject)
{
    wake_run_t *run = bench_alloc(1, sizeof *run);

    run->base = (subject->contestant->groups & GROUP_BASE) != 0;
    team_open(&run->team, subject, 16, false);
    return run;
}

static void
prepare(void *ctx)
{
    wake_run_t *run = ctx;

    histogram_free(run->latency);
    run->latency = histogram_new();
    if (run->latency == NULL) {
        bench_fail("no memory for a histogram");
    }
    atomic_store(&run->word, 0);
    atomic_store(&run->waiting, 0);
}

static void
wake(wake_run_t *run, uint32_t turn)
{
    const struct timespec asleep = {.tv_nsec = ASLEEP_NS};

    while (atomic_load(&run->waiting) < turn) {
        spin_pause();
    }
    nanosleep(&asleep, NULL);
    atomic_store(&run->begin_ns, clock_ns());
    if (run->base) {
        atomic_store(&run->word, turn);
        syscall(SYS_futex, &run->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    } else {
        member_add(&run->team, &run->team.members[0]);
    }
}

static void
sleep_once(wake_run_t *run, uint32_t turn)
{
    member_t *member = &run->team.members[1];
    taken_t taken;

    atomic_store(&run->waiting, turn);
    if (run->base) {
        while (atomic_load(&run->word) < turn) {
            syscall(SYS_futex, &run->word, FUTEX_WAIT_PRIVATE, turn - 1, NULL, NULL, 0);
        }
    } else {
        run->team.ops->pop(member->worker, &taken);
    }
    histogram_record(run->latency, (uint64_t)(clock_ns() - atomic_load(&run->begin_ns)));
    if (!run->base) {
        member_read(member, &taken);
        run->team.ops->done(member->worker, taken.token);
    }
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    wake_run_t *run = ctx;
    unsigned me = gbench_thread_index(thread);

    while (gbench_next(thread)) {
        for (uint32_t turn = 1; turn <= run->team.row->count; turn++) {
            if (me == 0) {
                wake(run, turn);
            } else {
                sleep_once(run, turn);
            }
        }
    }
}

static void
settle(void *ctx, double seconds, sample_t *samples)
{
    const wake_run_t *run = ctx;

    (void)seconds;
    samples[0].ns = (double)histogram_percentile(run->latency, 50);
    samples[1].ns = (double)histogram_percentile(run->latency, 99);
}

static void
close_wake(void *ctx)
{
    wake_run_t *run = ctx;

    team_close(&run->team);
    histogram_free(run->latency);
    free(run);
}

static const value_t values[] = {{"p50", RATIO_TO_BASE, NULL}, {"p99", RATIO_TO_BASE, NULL}, {0}};

const workload_t wake_workload = {
    .suite = "wake",
    .values = values,
    .groups = GROUP_ENGINES | GROUP_BARE | GROUP_BASE,
    .needs = ABLE_QUEUE,
    .counts_work = true,
    .open = open_wake,
    .prepare = prepare,
    .body = body,
    .settle = settle,
    .close = close_wake,
};
