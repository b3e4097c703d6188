/*
 * How late a pod becomes active whose backoff is over: from its expiry until a blocking pop returns
 * it.
 *
 * `pods` pods fail with an error again and again; each then backs off for BACKOFF_NS, and no pop
 * may take it before. One thread pops and fails them. RUNNING: the timer thread serves time. ALONE:
 * there is none, so the blocking pop does it. FROZEN: there is one, which stands still; its role
 * must not keep others from serving time.
 *
 * The timer thread blocks all signals, so it is stopped where it reads the clock: the queue's clock
 * is a function of this file, which does not return while the thread is to stand still. With the
 * mutex engine that would be with the mutex held; it takes no part in FROZEN.
 */
#include "contestant_schedq.h"
#include "histogram.h"
#include "workload.h"

#include <pthread.h>
#include <stdlib.h>

#define BACKOFF_NS INT64_C(20000000)

/* What the clock of a queue needs to know. */
typedef struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    bool shut;    /* the timer thread is to stand still */
    bool waiting; /* it does */
} gate_t;

typedef struct lateness_run {
    const row_t *row;
    schedq_t *queue;
    schedq_worker_t *worker;
    histogram_t *late;
    gate_t gate;
} lateness_run_t;

/* Threads of the benchmark; the only other one that reads the queue's clock is its timer thread. */
static _Thread_local bool is_own;

static void
stand_still(gate_t *gate)
{
    pthread_mutex_lock(&gate->mutex);
    while (gate->shut) {
        gate->waiting = true;
        pthread_cond_broadcast(&gate->changed);
        pthread_cond_wait(&gate->changed, &gate->mutex);
    }
    gate->waiting = false;
    pthread_mutex_unlock(&gate->mutex);
}

static int64_t
read_clock(void *ctx)
{
    if (!is_own) {
        stand_still(ctx);
    }
    return clock_ns();
}

/* Returns when the timer thread stands still. */
static void
freeze(gate_t *gate)
{
    pthread_mutex_lock(&gate->mutex);
    gate->shut = true;
    while (!gate->waiting) {
        pthread_cond_wait(&gate->changed, &gate->mutex);
    }
    pthread_mutex_unlock(&gate->mutex);
}

static void
thaw(gate_t *gate)
{
    pthread_mutex_lock(&gate->mutex);
    gate->shut = false;
    pthread_cond_broadcast(&gate->changed);
    pthread_mutex_unlock(&gate->mutex);
}

/* ---- the queue ------------------------------------------------------------------------------- */

static void
fail(lateness_run_t *run, schedq_popped_t *popped)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    must(schedq_fail(run->worker, &popped->token, &failure, NULL), "schedq_fail");
}

/* The pods' backoffs begin evenly spread over the length of one. */
static void
fail_all_once(lateness_run_t *run)
{
    const struct timespec apart = {.tv_nsec = (long)(BACKOFF_NS / run->row->pods)};
    schedq_popped_t popped;

    for (uint32_t i = 0; i < run->row->pods; i++) {
        worker_add(run->worker, i, 0);
        must(schedq_try_pop(run->worker, &popped), "schedq_try_pop");
        fail(run, &popped);
        nanosleep(&apart, NULL);
    }
}

static void *
open_lateness(const subject_t *subject)
{
    lateness_run_t *run = bench_alloc(1, sizeof *run);
    schedq_config_t config;

    is_own = true;
    run->row = subject->row;
    pthread_mutex_init(&run->gate.mutex, NULL);
    pthread_cond_init(&run->gate.changed, NULL);
    config_for(&config, subject->contestant);
    config.initial_backoff_ns = config.max_backoff_ns = BACKOFF_NS;
    config.clock = (schedq_clock_t){.now_ns = read_clock, .ctx = &run->gate};
    run->queue = queue_create(subject->contestant, &config, subject->row->pods, 2);
    run->worker = worker_create(run->queue);
    fail_all_once(run);
    if (run->row->part != LATENESS_ALONE) {
        must(schedq_run(run->queue, NULL, 0), "schedq_run");
    }
    return run;
}

static void
pop_and_fail(lateness_run_t *run)
{
    schedq_popped_t popped;

    must(schedq_pop(run->worker, &popped), "schedq_pop");
    int64_t late_ns = clock_ns() - popped.backoff_expiry_ns;
    if (late_ns < 0) {
        bench_fail("lateness: a pod was popped %lld ns before its backoff was over",
                   (long long)-late_ns);
    }
    histogram_record(run->late, (uint64_t)late_ns);
    fail(run, &popped);
}

static void
renew(histogram_t **histogram)
{
    histogram_free(*histogram);
    *histogram = histogram_new();
    if (*histogram == NULL) {
        bench_fail("no memory for a histogram");
    }
}

/* What fell due between repetitions is no lateness of this one. */
static void
prepare(void *ctx)
{
    lateness_run_t *run = ctx;

    renew(&run->late);
    if (run->row->part == LATENESS_FROZEN) {
        freeze(&run->gate);
    }
    for (uint32_t i = 0; i < 2 * run->row->pods; i++) {
        pop_and_fail(run);
    }
    renew(&run->late);
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    lateness_run_t *run = ctx;

    is_own = true;
    while (gbench_next(thread)) {
        for (uint32_t i = 0; i < run->row->count; i++) {
            pop_and_fail(run);
        }
    }
}

static void
settle(void *ctx, double seconds, sample_t *samples)
{
    lateness_run_t *run = ctx;

    (void)seconds;
    thaw(&run->gate);
    samples[0].ns = (double)histogram_percentile(run->late, 50);
    samples[1].ns = (double)histogram_percentile(run->late, 99);
    samples[2].ns = (double)histogram_max(run->late);
}

static void
close_lateness(void *ctx)
{
    lateness_run_t *run = ctx;

    must(schedq_stop(run->queue), "schedq_stop");
    worker_end(run->worker);
    queue_destroy(run->queue);
    histogram_free(run->late);
    pthread_cond_destroy(&run->gate.changed);
    pthread_mutex_destroy(&run->gate.mutex);
    free(run);
}

static const value_t values[] = {
    {"p50", RATIO_ENGINES, NULL}, {"p99", RATIO_ENGINES, NULL}, {"max", RATIO_ENGINES, NULL}, {0}};

const workload_t lateness_workload = {
    .counts_work = true,
    .suite = "lateness",
    .groups = GROUP_ENGINES,
    .needs = ABLE_EVENTS,
    .values = values,
    .open = open_lateness,
    .prepare = prepare,
    .body = body,
    .settle = settle,
    .close = close_lateness,
};

const workload_t lateness_frozen_workload = {
    .counts_work = true,
    .suite = "lateness",
    .groups = GROUP_ENGINES,
    .needs = ABLE_FROZEN,
    .values = values,
    .open = open_lateness,
    .prepare = prepare,
    .body = body,
    .settle = settle,
    .close = close_lateness,
};
