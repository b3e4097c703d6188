/*
 * How long pop takes while events storm over `pods` parked pods.
 *
 * Thread 0 is the cluster: an event, a pause of a millisecond for each 100,000 parked pods, the
 * next event. Every event concerns all parked pods; the queueing hint sends one in a thousand of
 * them back. Thread 1 is the scheduler: a pop is due every 20 microseconds, and its latency counts
 * from when it was due, not from when the thread got round to it, so that a stall is seen by every
 * pop that it held up. Pods that the events brought back are rejected again; others end, and
 * another is added.
 *
 * The second half of a repetition is the control: the same storm, but thread 1 only reads the clock
 * on the same schedule. What it sees is the machine (the operating system, the other programs), not
 * the queue.
 */
#include "contestant_schedq.h"
#include "histogram.h"
#include "workload.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum {
    PERIOD_NS = 20000,
    PAUSE_NS_PER_POD = 10, /* so that the scheduler can catch up, whatever the size */
    BACK_ONE_IN = 1000,
    ORDINARY = 10000, /* pods that are active all the time */
};

/*
 * Objects of pods that the plugin rejects; their numbers, and so their names, are apart from the
 * others'.
 */
#define REJECTED (UINT64_C(1) << 44)

typedef struct storm {
    const row_t *row;
    schedq_t *queue;
    schedq_worker_t *cluster;
    schedq_worker_t *scheduler;
    uint64_t rejector;
    uint64_t next_ordinary;
    uint64_t random;
    uint64_t events;
    pthread_barrier_t meet;
    atomic_bool over; /* this half of the repetition */
    histogram_t *pop;
    histogram_t *control;
    histogram_t *event;
} storm_t;

/* The hint: a look at the pod and the event that takes a few nanoseconds. */
static schedq_hint_t
one_in_a_thousand(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx;
    (void)old_object;
    return scramble(pod ^ new_object << 20) % BACK_ONE_IN == 0 ? SCHEDQ_HINT_QUEUE
                                                               : SCHEDQ_HINT_SKIP;
}

static void
reject(storm_t *storm, schedq_popped_t *popped)
{
    schedq_failure_t failure;

    schedq_failure_init(&failure);
    failure.unschedulable = storm->rejector;
    must(schedq_add_unschedulable(storm->scheduler, &popped->token, &failure, NULL),
         "schedq_add_unschedulable");
}

static void
add_ordinary(storm_t *storm)
{
    worker_add(storm->scheduler, storm->next_ordinary++, 0);
}

static void *
open_storm(const subject_t *subject)
{
    storm_t *storm = bench_alloc(1, sizeof *storm);
    uint32_t pods = subject->row->pods;
    schedq_config_t config;
    schedq_popped_t popped;

    storm->row = subject->row;
    storm->random = subject->seed;
    config_for(&config, subject->contestant);
    config.max_backoff_ns = 0;
    storm->queue = queue_create(&config, pods + ORDINARY + 1, 2);
    storm->rejector = plugin_create(storm->queue, "fit", "Node",
                                    SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE, one_in_a_thousand, NULL);
    storm->cluster = worker_create(storm->queue);
    storm->scheduler = worker_create(storm->queue);
    for (uint32_t i = 0; i < pods; i++) {
        worker_add(storm->scheduler, REJECTED + i, random_priority(&storm->random));
    }
    while (schedq_try_pop(storm->scheduler, &popped) == SCHEDQ_OK) {
        reject(storm, &popped);
    }
    for (uint32_t i = 0; i < ORDINARY; i++) {
        add_ordinary(storm);
    }
    pthread_barrier_init(&storm->meet, NULL, 2);
    return storm;
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

static void
prepare(void *ctx)
{
    storm_t *storm = ctx;
    renew(&storm->pop);
    renew(&storm->control);
    renew(&storm->event);
}

static void
storm_until_over(storm_t *storm)
{
    const struct timespec pause = {.tv_nsec = (long)storm->row->pods * PAUSE_NS_PER_POD};
    schedq_move_t move;

    schedq_move_init(&move);
    move.event = SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE;
    while (!atomic_load(&storm->over)) {
        int64_t begin_ns = clock_ns();
        move.new_object = ++storm->events;
        must(schedq_move_all(storm->cluster, &move, NULL), "schedq_move_all");
        histogram_record(storm->event, (uint64_t)(clock_ns() - begin_ns));
        nanosleep(&pause, NULL);
    }
}

static void
schedule_one(storm_t *storm, int64_t due_ns)
{
    schedq_popped_t popped;

    must(schedq_try_pop(storm->scheduler, &popped), "schedq_try_pop");
    histogram_record(storm->pop, (uint64_t)(clock_ns() - due_ns));
    if (popped.object >= REJECTED) {
        reject(storm, &popped);
    } else {
        must(schedq_done(storm->scheduler, popped.token), "schedq_done");
        add_ordinary(storm);
    }
}

static void
keep_to_schedule(storm_t *storm, bool control)
{
    int64_t due_ns = clock_ns();

    for (uint32_t i = 0; i < storm->row->count; i++, due_ns += PERIOD_NS) {
        int64_t now_ns;
        while ((now_ns = clock_ns()) < due_ns) {
            spin_pause();
        }
        if (control) {
            histogram_record(storm->control, (uint64_t)(now_ns - due_ns));
        } else {
            schedule_one(storm, due_ns);
        }
    }
    atomic_store(&storm->over, true);
}

static void
half(storm_t *storm, unsigned me, bool control)
{
    pthread_barrier_wait(&storm->meet);
    if (me == 0) {
        storm_until_over(storm);
    } else {
        keep_to_schedule(storm, control);
    }
    pthread_barrier_wait(&storm->meet);
    if (me == 0) {
        atomic_store(&storm->over, false);
    }
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    unsigned me = gbench_thread_index(thread);

    while (gbench_next(thread)) {
        half(ctx, me, false);
        half(ctx, me, true);
    }
}

static const char *const values[] = {"pop-p50", "pop-p99", "pop-p99.9", "pop-max", "event", NULL};

static void
settle(void *ctx, double seconds, sample_t *samples)
{
    const storm_t *storm = ctx;

    (void)seconds;
    samples[0].ns = (double)histogram_percentile(storm->pop, 50);
    samples[1].ns = (double)histogram_percentile(storm->pop, 99);
    samples[2].ns = (double)histogram_percentile(storm->pop, 99.9);
    samples[3].ns = (double)histogram_max(storm->pop);
    samples[3].control_ns = (double)histogram_max(storm->control);
    samples[4].ns = (double)histogram_percentile(storm->event, 50);
}

static void
close_storm(void *ctx)
{
    storm_t *storm = ctx;

    pthread_barrier_destroy(&storm->meet);
    histogram_free(storm->pop);
    histogram_free(storm->control);
    histogram_free(storm->event);
    worker_end(storm->cluster);
    worker_end(storm->scheduler);
    queue_destroy(storm->queue);
    free(storm);
}

const workload_t storm_workload = {
    .suite = "storm",
    .needs = ABLE_EVENTS,
    .values = values,
    .open = open_storm,
    .prepare = prepare,
    .body = body,
    .settle = settle,
    .close = close_storm,
};
