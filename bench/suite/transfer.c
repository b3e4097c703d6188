/*
 * What it costs that a cache line goes from one processor to another: two threads on two processors
 * pass one line back and forth. The machine alone, no queue.
 *
 * STORE: each waits until it sees the other's number, then stores the next: the line goes to the
 * reader, and its ownership to the writer. RMW: the same with an exchange instead of the store. ns
 * for one pass: a read miss and an upgrade together. The median of BURSTS of passes, so that one in
 * which a thread was not running does not count.
 */
#define _GNU_SOURCE /* CPU_SET and its like */
#include "histogram.h"
#include "workload.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { BURST = 512 };

typedef struct transfer_run {
    const row_t *row;
    _Alignas(128) _Atomic uint64_t number;
    _Alignas(128) cpu_set_t allowed;
    histogram_t *bursts;
} transfer_run_t;

static void *
open_transfer(const subject_t *subject)
{
    transfer_run_t *run = bench_alloc(1, sizeof *run);

    run->row = subject->row;
    if (sched_getaffinity(0, sizeof run->allowed, &run->allowed) != 0 ||
        CPU_COUNT(&run->allowed) < 2) {
        bench_fail("%s needs two processors", run->row->name);
    }
    return run;
}

static void
prepare(void *ctx)
{
    transfer_run_t *run = ctx;

    histogram_free(run->bursts);
    run->bursts = histogram_new();
    if (run->bursts == NULL) {
        bench_fail("no memory for a histogram");
    }
}

/* The first and the last processor that this program may use. */
static void
pin(const transfer_run_t *run, unsigned me)
{
    cpu_set_t one;
    unsigned chosen = 0;

    for (unsigned i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &run->allowed)) {
            chosen = i;
            if (me == 0) {
                break;
            }
        }
    }
    CPU_ZERO(&one);
    CPU_SET(chosen, &one);
    (void)sched_setaffinity(0, sizeof one, &one);
}

static void
pass(transfer_run_t *run, unsigned me)
{
    const uint64_t begin = atomic_load(&run->number) & ~UINT64_C(1);
    int64_t begin_ns = clock_ns();

    for (uint64_t turn = 0; turn < run->row->count; turn++) {
        uint64_t mine = begin + 2 * turn + me;

        while (atomic_load_explicit(&run->number, memory_order_acquire) != mine) {
        }
        if (run->row->part == TRANSFER_RMW) {
            atomic_exchange(&run->number, mine + 1);
        } else {
            atomic_store_explicit(&run->number, mine + 1, memory_order_release);
        }
        if (me == 0 && turn % BURST == BURST - 1) {
            int64_t now_ns = clock_ns();

            histogram_record(run->bursts, (uint64_t)(now_ns - begin_ns));
            begin_ns = now_ns;
        }
    }
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    transfer_run_t *run = ctx;
    unsigned me = gbench_thread_index(thread);

    pin(run, me);
    while (gbench_next(thread)) {
        pass(run, me);
    }
    (void)sched_setaffinity(0, sizeof run->allowed, &run->allowed);
}

static void
settle(void *ctx, double seconds, sample_t *samples)
{
    const transfer_run_t *run = ctx;

    (void)seconds;
    samples[0].ns = (double)histogram_percentile(run->bursts, 50) / (2.0 * BURST);
}

static void
close_transfer(void *ctx)
{
    histogram_free(((transfer_run_t *)ctx)->bursts);
    free(ctx);
}

const workload_t transfer_workload = {
    .suite = "transfer",
    .values = one_value,
    .groups = GROUP_BASE,
    .needs = ABLE_PUSH_POP,
    .counts_work = true,
    .open = open_transfer,
    .prepare = prepare,
    .body = body,
    .settle = settle,
    .close = close_transfer,
};
