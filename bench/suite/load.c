/*
 * How long pop and add take while something else goes on: an open loop, so that a stall is seen by
 * every operation that it held up.
 *
 * Thread 0 is the cluster: it does what the row is about. Thread 1 is the scheduler: a pop is due
 * at every tick, and half a tick later, if an ordinary pod was popped, an add. A latency counts
 * from when the operation was due, not from when the thread got round to it. Pods that the events
 * brought back are rejected again; others end, and another is added. What is still due when the
 * time is up counts with the time that it has waited.
 *
 * The second half of a repetition is the control: the same again, but thread 1 only reads the clock
 * on the same schedule. What it sees is the machine (the operating system, the other programs), not
 * the queue.
 *
 * THE MACHINE has perhaps two processors, and other programs. So the cluster sleeps between its
 * events, also between close ones: what the operating system has to do finds a processor. And the
 * scheduler's thread has precedence over other programs where the system allows it: a percentile of
 * a queue is wanted, not of a time slice. Both hold for all contestants, and for the control.
 *
 * The base contestant is the lock-free engine beside an idle cluster.
 */
#include "contestant_schedq.h"
#include "histogram.h"
#include "workload.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum {
    STORM_PERIOD_NS = 20000,
    PERIOD_NS = 8000,
    PAUSE_NS_PER_POD = 10, /* so that the scheduler can catch up, whatever the size */
    BACK_ONE_IN = 1000,
    ORDINARY = 10000, /* pods that are active all the time */
    SETS = 32,
    GROUPS = 16, /* of parked pods that an event of their own reaches, in turn */
    GROUP_PODS = 10,
    GROUP_PRIORITY = 1000,
    ASLEEP_NS = 1000000,
    NAPS_ABOVE_NS = 40000, /* a thread that has so long to wait sleeps */
    PRECEDENCE = -20,      /* of the scheduler's thread, as a nice value */
};

#define SECOND INT64_C(1000000000)
#define OVERTIME_NS (3 * SECOND)

/*
 * Objects of pods that were rejected; their numbers, and so their names, are apart from the
 * others'.
 */
#define REJECTED (UINT64_C(1) << 44)
#define STOP (UINT64_C(1) << 45)

typedef struct load {
    const row_t *row;
    const contestant_t *contestant;
    schedq_t *queue;
    schedq_worker_t *cluster;
    schedq_worker_t *scheduler;
    uint64_t rejector;
    uint64_t set_bits[SETS];
    uint64_t group_bits[GROUPS];
    schedq_event_t group_events[GROUPS];
    int64_t period_ns;
    int64_t now_ns; /* BACKOFFS: the queue's clock, which the cluster moves */
    uint64_t next_ordinary;
    uint64_t random;
    uint64_t events;
    uint64_t counted; /* events beside pops, and what they moved */
    uint64_t moved;
    uint64_t rejected; /* by the scheduler in this half */
    bool alone;        /* this half is the control */
    pthread_barrier_t meet;
    atomic_bool over; /* this half of the repetition */
    /* TO_POP: when the group's event was due; 0: a pod of it has been popped since */
    _Atomic int64_t fired_ns[GROUPS];
    histogram_t *pop;
    histogram_t *add;
    histogram_t *control;
    histogram_t *event;
} load_t;

/* ---- the queue ------------------------------------------------------------------------------- */

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
register_plugins(load_t *load)
{
    char name[16];
    char why[200];

    load->rejector = plugin_create(load->queue, "fit", "Node",
                                   SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE, one_in_a_thousand, NULL);
    if (load->row->part == LOAD_STORM) {
        return;
    }
    plugin_create(load->queue, "nobody", "Node", SCHEDQ_ACTION_UPDATE_NODE_LABEL, NULL, NULL);
    for (unsigned i = 0; i < SETS; i++) {
        snprintf(name, sizeof name, "set-%u", i);
        load->set_bits[i] =
            plugin_create(load->queue, name, "PersistentVolume", SCHEDQ_ACTION_ADD, NULL, NULL);
    }
    for (unsigned i = 0; i < GROUPS; i++) {
        snprintf(name, sizeof name, "group-%u", i);
        load->group_bits[i] = plugin_create(load->queue, name, name, SCHEDQ_ACTION_ADD, NULL, NULL);
        must(schedq_event_define(load->queue, name, SCHEDQ_ACTION_ADD, NULL, &load->group_events[i],
                                 why, sizeof why),
             "schedq_event_define");
    }
}

static unsigned
group_of(uint64_t object)
{
    return (unsigned)((object - REJECTED) / GROUP_PODS);
}

static uint64_t
rejectors_of(const load_t *load, uint64_t object)
{
    if (load->row->part == LOAD_STORM) {
        return load->rejector;
    }
    if (group_of(object) < GROUPS) {
        return load->group_bits[group_of(object)];
    }
    return load->rejector | load->set_bits[object % SETS];
}

/* With BACKOFFS it is an error, so that it backs off. */
static void
reject(load_t *load, schedq_popped_t *popped)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    if (load->row->part != LOAD_BACKOFFS) {
        failure.unschedulable = rejectors_of(load, popped->object);
    }
    must(schedq_fail(load->scheduler, &popped->token, &failure, NULL), "schedq_fail");
    load->rejected++;
}

static void
reject_all(load_t *load)
{
    schedq_popped_t popped;

    while (schedq_try_pop(load->scheduler, &popped) == SCHEDQ_OK) {
        reject(load, &popped);
    }
}

static void
add_ordinary(load_t *load)
{
    uint64_t number = load->next_ordinary++;
    uint32_t priorities = load->row->part == LOAD_PRIORITIES ? load->row->rate : 1;

    worker_add(load->scheduler, number, (int32_t)(number % priorities));
}

static void
add_rejected(load_t *load, uint32_t number)
{
    int32_t priority = load->row->part != LOAD_STORM && group_of(REJECTED + number) < GROUPS
                           ? GROUP_PRIORITY
                           : random_priority(&load->random);

    worker_add(load->scheduler, REJECTED + number, priority);
}

static void *
open_load(const subject_t *subject)
{
    load_t *load = bench_alloc(1, sizeof *load);
    const row_t *row = subject->row;
    schedq_config_t config;

    load->row = row;
    load->contestant = subject->contestant;
    load->random = subject->seed;
    load->period_ns = row->part == LOAD_STORM ? STORM_PERIOD_NS : PERIOD_NS;
    config_for(&config, subject->contestant);
    config.max_backoff_ns = 0;
    if (row->part == LOAD_BACKOFFS) {
        load->now_ns = 1000 * SECOND;
        config.max_backoff_ns = config.initial_backoff_ns = SECOND;
        config.external_clock = 1;
        config.start_ns = load->now_ns;
    }
    load->queue = queue_create(subject->contestant, &config, row->pods + ORDINARY + 2, 2);
    register_plugins(load);
    load->cluster = worker_create(load->queue);
    load->scheduler = worker_create(load->queue);
    for (uint32_t i = 0; i < row->pods && row->part != LOAD_PRIORITIES; i++) {
        add_rejected(load, i);
    }
    reject_all(load);
    for (uint32_t i = 0; i < ORDINARY && row->part != LOAD_TO_POP; i++) {
        add_ordinary(load);
    }
    for (uint32_t i = ORDINARY; i < row->pods && row->part == LOAD_PRIORITIES; i++) {
        add_ordinary(load);
    }
    pthread_barrier_init(&load->meet, NULL, 2);
    return load;
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

/* What the last repetition left behind is rejected again. */
static void
settle_down(load_t *load)
{
    schedq_popped_t popped;
    uint32_t ordinary = 0;
    schedq_token_t *tokens = bench_alloc(load->row->pods + ORDINARY + 2, sizeof *tokens);

    while (schedq_try_pop(load->scheduler, &popped) == SCHEDQ_OK) {
        if (popped.object >= REJECTED) {
            reject(load, &popped);
        } else {
            tokens[ordinary++] = popped.token;
        }
    }
    for (uint32_t i = 0; i < ordinary; i++) {
        must(schedq_done(load->scheduler, tokens[i]), "schedq_done");
        add_ordinary(load);
    }
    free(tokens);
}

static void
prepare(void *ctx)
{
    load_t *load = ctx;

    renew(&load->pop);
    renew(&load->add);
    renew(&load->control);
    renew(&load->event);
    for (unsigned i = 0; i < GROUPS; i++) {
        atomic_store(&load->fired_ns[i], 0);
    }
    if (load->row->part != LOAD_STORM && load->row->part != LOAD_PRIORITIES) {
        settle_down(load);
    }
}

/* ---- the cluster ----------------------------------------------------------------------------- */

static void
wait_until(int64_t due_ns)
{
    int64_t left_ns;

    while ((left_ns = due_ns - clock_ns()) > 0) {
        if (left_ns > NAPS_ABOVE_NS) {
            const struct timespec nap = {.tv_nsec = (long)(left_ns - NAPS_ABOVE_NS / 2)};
            nanosleep(&nap, NULL);
        } else {
            spin_pause();
        }
    }
}

static void
sleep_until_over(const load_t *load)
{
    const struct timespec nap = {.tv_nsec = ASLEEP_NS};

    while (!atomic_load(&load->over)) {
        nanosleep(&nap, NULL);
    }
}

static void
fire(load_t *load, schedq_event_t event)
{
    schedq_result_t result;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    int64_t begin_ns = clock_ns();

    change.event = event;
    change.new_object = ++load->events;
    must(schedq_notify(load->cluster, &change, &result), "schedq_notify");
    histogram_record(load->event, (uint64_t)(clock_ns() - begin_ns));
    if (!load->alone) {
        load->counted++;
        load->moved += result.to_active;
    }
}

static void
storm_until_over(load_t *load)
{
    const struct timespec pause = {.tv_nsec = (long)load->row->pods * PAUSE_NS_PER_POD};

    while (!atomic_load(&load->over)) {
        fire(load, SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE);
        nanosleep(&pause, NULL);
    }
}

static schedq_event_t
next_event(const load_t *load)
{
    switch (load->row->part) {
    case LOAD_NONE:
        return SCHEDQ_EVENT_NODE_UPDATE_LABEL;
    case LOAD_ALL:
        return SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE;
    default:
        return load->group_events[load->events % GROUPS];
    }
}

/* So many events a second; those that could not keep up follow each other. */
static void
fire_on_schedule(load_t *load, int64_t end_ns)
{
    const int64_t apart_ns = SECOND / load->row->rate;
    int64_t due_ns = clock_ns();

    while (!atomic_load(&load->over) && due_ns < end_ns) {
        int64_t none = 0;
        schedq_event_t event = next_event(load);

        wait_until(due_ns);
        if (load->row->part == LOAD_TO_POP) {
            atomic_compare_exchange_strong(&load->fired_ns[load->events % GROUPS], &none, due_ns);
        }
        fire(load, event);
        due_ns += apart_ns;
    }
}

static void
end_backoffs(load_t *load)
{
    int64_t begin_ns = clock_ns();

    wait_until(begin_ns + load->row->count / 4 * load->period_ns);
    if (!load->alone) {
        schedq_result_t result;

        load->now_ns += 10 * SECOND;
        must(schedq_clock_advance(load->queue, load->now_ns), "schedq_clock_advance");
        begin_ns = clock_ns();
        must(schedq_tick(load->cluster, NULL, &result), "schedq_tick");
        histogram_record(load->event, (uint64_t)(clock_ns() - begin_ns));
        load->counted++;
        load->moved += result.to_active;
    }
    sleep_until_over(load);
}

/*
 * All pods that backed off have become active, and only those that were popped and rejected since
 * back off. Beside a pop the tick's own answer is no such check: it leaves out pods that the pop
 * switched for it.
 */
static void
check_that_backoffs_ended(const load_t *load)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    must(schedq_stats(load->queue, &stats), "schedq_stats");
    if (stats.backoff + stats.error_backoff != load->rejected) {
        bench_fail("%s: %llu pods back off, %llu were rejected", load->row->name,
                   (unsigned long long)(stats.backoff + stats.error_backoff),
                   (unsigned long long)load->rejected);
    }
}

/* The first pod that the event would look at stops the thread, inside of the queue. */
static int
stand_still(void *ctx, uint64_t pod)
{
    (void)pod;
    sleep_until_over(ctx);
    return 0;
}

static void
freeze(load_t *load)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;

    change.event = SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE;
    change.precheck = stand_still;
    change.precheck_ctx = load;
    must(schedq_notify(load->cluster, &change, NULL), "schedq_notify");
}

static void
be_the_cluster(load_t *load)
{
    if ((load->contestant->groups & GROUP_BASE) != 0) {
        sleep_until_over(load);
        return;
    }
    switch (load->row->part) {
    case LOAD_STORM:
        storm_until_over(load);
        break;
    case LOAD_BACKOFFS:
        end_backoffs(load);
        break;
    case LOAD_FROZEN:
        freeze(load);
        break;
    case LOAD_PRIORITIES:
        sleep_until_over(load);
        break;
    default:
        fire_on_schedule(load, INT64_MAX);
        break;
    }
}

/* ---- the scheduler --------------------------------------------------------------------------- */

static int64_t
spin_until(int64_t due_ns)
{
    int64_t now_ns;

    while ((now_ns = clock_ns()) < due_ns) {
        spin_pause();
    }
    return now_ns;
}

static void
record_since(histogram_t *histogram, int64_t due_ns)
{
    histogram_record(histogram, (uint64_t)(clock_ns() - due_ns));
}

static void
schedule_one(load_t *load, int64_t due_ns)
{
    schedq_popped_t popped;

    must(schedq_try_pop(load->scheduler, &popped), "schedq_try_pop");
    record_since(load->pop, due_ns);
    if (popped.object >= REJECTED) {
        reject(load, &popped);
        return;
    }
    must(schedq_done(load->scheduler, popped.token), "schedq_done");
    due_ns += load->period_ns / 2;
    spin_until(due_ns);
    add_ordinary(load);
    record_since(load->add, due_ns);
}

static void
keep_to_schedule(load_t *load)
{
    const int64_t begin_ns = clock_ns();
    const int64_t end_ns = begin_ns + load->row->count * load->period_ns;

    for (int64_t due_ns = begin_ns; due_ns < end_ns; due_ns += load->period_ns) {
        int64_t now_ns = spin_until(due_ns);

        if (load->alone) {
            histogram_record(load->control, (uint64_t)(now_ns - due_ns));
        } else if (now_ns > end_ns + OVERTIME_NS) {
            histogram_record(load->pop, (uint64_t)(now_ns - due_ns));
            histogram_record(load->add, (uint64_t)(now_ns - due_ns));
        } else {
            schedule_one(load, due_ns);
        }
    }
    atomic_store(&load->over, true);
}

/* ---- from an event to a pop ------------------------------------------------------------------ */

static void
fire_then_stop(load_t *load)
{
    fire_on_schedule(load, clock_ns() + load->row->count * load->period_ns);
    worker_add(load->cluster, STOP, GROUP_PRIORITY + 1);
}

static void
wait_for_pods(load_t *load)
{
    schedq_popped_t popped;

    for (;;) {
        must(schedq_pop(load->scheduler, &popped), "schedq_pop");
        if (popped.object == STOP) {
            break;
        }
        int64_t fired_ns = atomic_exchange(&load->fired_ns[group_of(popped.object)], 0);

        if (fired_ns != 0) {
            record_since(load->pop, fired_ns);
        }
        reject(load, &popped);
    }
    must(schedq_done(load->scheduler, popped.token), "schedq_done");
}

/* ---- a repetition ---------------------------------------------------------------------------- */

static void
half(load_t *load, unsigned me, bool control)
{
    const bool to_pop = load->row->part == LOAD_TO_POP && !control;

    if (me == 0) {
        load->alone = control;
        load->rejected = 0;
    }
    pthread_barrier_wait(&load->meet);
    if (me == 0) {
        if (to_pop) {
            fire_then_stop(load);
        } else {
            be_the_cluster(load);
        }
    } else if (to_pop) {
        wait_for_pods(load);
    } else {
        keep_to_schedule(load);
    }
    pthread_barrier_wait(&load->meet);
    if (me == 0) {
        atomic_store(&load->over, false);
        if (load->row->part == LOAD_BACKOFFS && !control &&
            (load->contestant->groups & GROUP_BASE) == 0) {
            check_that_backoffs_ended(load);
        }
    }
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    unsigned me = gbench_thread_index(thread);

    /* Advice, both: of the calling thread, which is used again. */
    (void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
    (void)setpriority(PRIO_PROCESS, 0, me == 0 ? 0 : PRECEDENCE);
    while (gbench_next(thread)) {
        half(ctx, me, false);
        half(ctx, me, true);
    }
    (void)setpriority(PRIO_PROCESS, 0, 0);
}

static histogram_t *
give_away(histogram_t **histogram)
{
    histogram_t *given = *histogram;

    *histogram = NULL;
    return given;
}

static void
settle(void *ctx, double seconds, sample_t *samples)
{
    load_t *load = ctx;

    (void)seconds;
    samples[0].ns = (double)histogram_percentile(load->pop, 50);
    samples[1].ns = (double)histogram_percentile(load->pop, 99);
    samples[2].ns = (double)histogram_percentile(load->pop, 99.9);
    samples[3].ns = (double)histogram_max(load->pop);
    samples[2].control_ns = (double)histogram_percentile(load->control, 99.9);
    samples[3].control_ns = (double)histogram_max(load->control);
    samples[4].control_ns = samples[2].control_ns;
    samples[4].ns = (double)histogram_percentile(load->add, 99.9);
    samples[5].ns = (double)histogram_max(load->add);
    samples[5].control_ns = samples[3].control_ns;
    samples[6].ns = (double)histogram_percentile(load->event, 50);
    samples[7].ns = samples[2].ns;
    samples[2].distribution = give_away(&load->pop);
    samples[4].distribution = give_away(&load->add);
}

static void
settle_to_pop(void *ctx, double seconds, sample_t *samples)
{
    load_t *load = ctx;

    (void)seconds;
    samples[0].ns = (double)histogram_percentile(load->pop, 50);
    samples[1].ns = (double)histogram_percentile(load->pop, 99);
    samples[2].ns = (double)histogram_max(load->pop);
    samples[2].control_ns = (double)histogram_max(load->control);
    samples[1].distribution = give_away(&load->pop);
}

static void
note(void *ctx, FILE *out)
{
    const load_t *load = ctx;

    if (load->counted > 0) {
        fprintf(out, "%s: %s: %llu events in all repetitions moved %.1f pods each\n",
                load->row->name, load->contestant->name, (unsigned long long)load->counted,
                (double)load->moved / (double)load->counted);
    }
}

static void
close_load(void *ctx)
{
    load_t *load = ctx;

    pthread_barrier_destroy(&load->meet);
    histogram_free(load->pop);
    histogram_free(load->add);
    histogram_free(load->control);
    histogram_free(load->event);
    worker_end(load->cluster);
    worker_end(load->scheduler);
    queue_destroy(load->queue);
    free(load);
}

/* The last one is a third one again: how much better than the engine that yields. */
#define VALUES(ratio_of_tails)                                                                 \
    {                                                                                          \
        {"pop-p50", RATIO_ENGINES, NULL}, {"pop-p99", RATIO_ENGINES, NULL},                    \
            {"pop-p99.9", ratio_of_tails, NULL}, {"pop-max", RATIO_ENGINES, NULL},             \
            {"add-p99.9", ratio_of_tails, NULL}, {"add-max", RATIO_ENGINES, NULL},             \
            {"event", RATIO_ENGINES, NULL}, {"pop-p99.9/yielding", RATIO_YIELDING, NULL}, {0}, \
    }

static const value_t values[] = VALUES(RATIO_ENGINES);
static const value_t base_values[] = VALUES(RATIO_OF_BASE);
static const value_t to_pop_values[] = {
    {"p50", RATIO_ENGINES, NULL}, {"p99", RATIO_ENGINES, NULL}, {"max", RATIO_ENGINES, NULL}, {0}};

#define LOAD(...)                                                                               \
    {                                                                                           \
        .counts_work = true, .open = open_load, .prepare = prepare, .body = body, .note = note, \
        .close = close_load, __VA_ARGS__                                                        \
    }

const workload_t storm_workload =
    LOAD(.suite = "storm", .values = values, .groups = GROUP_ENGINES | GROUP_YIELDING,
         .needs = ABLE_EVENTS, .settle = settle);
const workload_t load_workload =
    LOAD(.suite = "load", .values = values, .groups = GROUP_ENGINES | GROUP_YIELDING,
         .needs = ABLE_EVENTS, .settle = settle);
const workload_t load_base_workload = LOAD(.suite = "load", .values = base_values,
                                           .groups = GROUP_ENGINES | GROUP_YIELDING | GROUP_BASE,
                                           .needs = ABLE_EVENTS, .settle = settle);
const workload_t load_frozen_workload =
    LOAD(.suite = "load", .values = base_values, .groups = GROUP_ENGINES | GROUP_BASE,
         .needs = ABLE_FROZEN, .settle = settle);
const workload_t event_to_pop_workload =
    LOAD(.suite = "load", .values = to_pop_values, .groups = GROUP_ENGINES | GROUP_YIELDING,
         .needs = ABLE_EVENTS, .settle = settle_to_pop);
