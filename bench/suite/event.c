/*
 * What one event costs while `pods` pods are parked: it reaches none of them, 10, 1,000, 100,000,
 * or all of the large group. ns for each pod that the event moves; that many it has to move. SKIPS:
 * the event concerns all of the large group, and the hint says of each that it does not help; ns
 * for each pod that is asked about. NONE: ns for the event.
 *
 * Five groups of parked pods, each rejected by a plugin that hears of one kind of node event: none,
 * 10, 1,000, 100,000 (in the rows whose event reaches them) and `pods` pods. The large group is
 * spread over 32 rejector sets by a second rejector, so that an event which concerns nobody still
 * has sets to look at. Backoff is off, so a pod that an event reaches is active at once; untimed,
 * it is popped and parked again before the next event. One thread; the bare queue has no events.
 */
#include "contestant_schedq.h"
#include "workload.h"

#include <stdlib.h>

enum {
    SETS = 32,
    SMALL = 10,
    MIDDLE = 1000,
    MANY = 100000,
};

typedef struct event_run {
    const row_t *row;
    const contestant_t *contestant;
    schedq_t *queue;
    schedq_worker_t *worker;
    uint64_t small_bit;
    uint64_t middle_bit;
    uint64_t many_bit;
    uint64_t large_bit;
    uint64_t set_bits[SETS];
    schedq_event_t event;
    uint32_t many;    /* the size of the group of 100,000; 0: there is none */
    uint32_t reached; /* pods that the event is to move */
    uint32_t units;   /* of work in one event */
} event_run_t;

static schedq_hint_t
skip(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx;
    (void)pod;
    (void)old_object;
    (void)new_object;
    return SCHEDQ_HINT_SKIP;
}

static void
register_plugins(event_run_t *run)
{
    char name[16];

    plugin_create(run->queue, "nobody", "Node", SCHEDQ_ACTION_UPDATE_NODE_LABEL, NULL, NULL);
    run->small_bit =
        plugin_create(run->queue, "small", "Node", SCHEDQ_ACTION_UPDATE_NODE_TAINT, NULL, NULL);
    run->middle_bit = plugin_create(run->queue, "middle", "Node",
                                    SCHEDQ_ACTION_UPDATE_NODE_CONDITION, NULL, NULL);
    run->many_bit =
        plugin_create(run->queue, "many", "Node", SCHEDQ_ACTION_UPDATE_NODE_ANNOTATION, NULL, NULL);
    run->large_bit =
        plugin_create(run->queue, "large", "Node", SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE,
                      run->row->part == EVENT_SKIPS ? skip : NULL, NULL);
    for (unsigned i = 0; i < SETS; i++) {
        snprintf(name, sizeof name, "set-%u", i);
        run->set_bits[i] =
            plugin_create(run->queue, name, "PersistentVolume", SCHEDQ_ACTION_ADD, NULL, NULL);
    }
}

/*
 * A pod's number is its object: the first ones are the small group, then come the middle one and
 * that of 100,000.
 */
static uint64_t
rejectors_of(const event_run_t *run, uint64_t number)
{
    if (number < SMALL) {
        return run->small_bit;
    }
    if (number < SMALL + MIDDLE) {
        return run->middle_bit;
    }
    if (number < SMALL + MIDDLE + run->many) {
        return run->many_bit;
    }
    return run->large_bit | run->set_bits[number % SETS];
}

static void
park_all(event_run_t *run)
{
    schedq_popped_t popped;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;

    while (schedq_try_pop(run->worker, &popped) == SCHEDQ_OK) {
        failure.unschedulable = rejectors_of(run, popped.object);
        must(schedq_fail(run->worker, &popped.token, &failure, &result), "schedq_fail");
        if (result.place != SCHEDQ_PARKED) {
            bench_fail("a rejected pod is %s, not parked",
                       schedq_place_name((schedq_place_t)result.place));
        }
    }
}

static void
choose_event(event_run_t *run)
{
    switch (run->row->part) {
    case EVENT_NONE:
        run->event = SCHEDQ_EVENT_NODE_UPDATE_LABEL;
        run->reached = 0;
        break;
    case EVENT_10:
        run->event = SCHEDQ_EVENT_NODE_UPDATE_TAINT;
        run->reached = SMALL;
        break;
    case EVENT_1K:
        run->event = SCHEDQ_EVENT_NODE_UPDATE_CONDITION;
        run->reached = MIDDLE;
        break;
    case EVENT_100K:
        run->event = SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION;
        run->reached = MANY;
        break;
    default:
        run->event = SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE;
        run->reached = run->row->part == EVENT_SKIPS ? 0 : run->row->pods;
        break;
    }
    run->units = run->row->part == EVENT_SKIPS ? run->row->pods : run->reached;
}

static void *
open_event(const subject_t *subject)
{
    event_run_t *run = bench_alloc(1, sizeof *run);
    uint32_t pods = subject->row->pods + SMALL + MIDDLE;
    uint64_t random = subject->seed;
    schedq_config_t config;

    run->row = subject->row;
    run->contestant = subject->contestant;
    run->many = subject->row->part == EVENT_100K ? MANY : 0;
    config_for(&config, subject->contestant);
    config.max_backoff_ns = 0;
    run->queue = queue_create(subject->contestant, &config, pods, 1);
    register_plugins(run);
    run->worker = worker_create(run->queue);
    for (uint32_t i = 0; i < pods; i++) {
        worker_add(run->worker, i, random_priority(&random));
    }
    park_all(run);
    choose_event(run);
    return run;
}

static void
body(gbench_thread_t *thread, void *ctx)
{
    event_run_t *run = ctx;
    schedq_result_t result;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;

    change.event = run->event;
    while (gbench_next(thread)) {
        must(schedq_notify(run->worker, &change, &result), "schedq_notify");
        if (result.to_active != run->reached) {
            bench_fail("the event moved %u pods, not %u", result.to_active, run->reached);
        }
        if (run->reached > 0) {
            gbench_pause(thread);
            park_all(run);
            gbench_resume(thread);
        }
    }
}

static void
settle(void *ctx, double seconds, sample_t *samples)
{
    const event_run_t *run = ctx;

    samples[0].ns = seconds * 1e9 / run->row->rounds / (run->units > 0 ? run->units : 1);
}

/* What a parked pod costs in memory. */
static void
note(void *ctx, FILE *out)
{
    const event_run_t *run = ctx;
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    must(schedq_stats(run->queue, &stats), "schedq_stats");
    if (run->row->part != EVENT_NONE) {
        return;
    }
    double pods = (double)stats.parked;
    fprintf(out,
            "%s: %s holds for each of %.0f parked pods: entries %.1f B, names %.1f B, index %.1f "
            "B, queues %.1f B, "
            "other %.1f B\n",
            run->row->name, run->contestant->name, pods, (double)stats.bytes_entries / pods,
            (double)stats.bytes_names / pods, (double)stats.bytes_index / pods,
            (double)stats.bytes_queues / pods, (double)stats.bytes_other / pods);
}

static void
close_event(void *ctx)
{
    event_run_t *run = ctx;
    worker_end(run->worker);
    queue_destroy(run->queue);
    free(run);
}

const workload_t event_workload = {
    .suite = "event",
    .values = one_value,
    .groups = GROUP_ENGINES,
    .needs = ABLE_EVENTS,
    .open = open_event,
    .body = body,
    .settle = settle,
    .note = note,
    .close = close_event,
};
