/* The table of sample.h, and its lines in the metrics. */
#include "api/sample.h"

#include "observe/histogram.h"
#include "observe/metrics.h"

#include <stdio.h>

enum timed {
    TIMED_ADD,
    TIMED_ADD_MANY,
    TIMED_POP,
    TIMED_DONE,
    TIMED_DONE_MANY,
    TIMED_FAIL,
    TIMED_UPDATE,
    TIMED_DELETE,
    TIMED_NOTIFY,
    TIMED_CANDIDATES,
    TIMED_APPLY,
    TIMED_TICK,
    TIMED_KINDS
};

/* Of a worker. */
struct samples {
    _Alignas(CACHE_LINE) uint64_t random; /* 0: nothing was drawn yet */
    struct histogram calls[TIMED_KINDS];
    struct histogram waits, attempts; /* of pods that were popped */
};

struct sample {
    _Alignas(CACHE_LINE) struct engine_ops ops;
    const struct engine_ops *engine;
    uint32_t workers;
    struct samples of[];
};

#define NOT_TIMED INT64_MIN

static const struct engine_ops *
sampled_engine(const schedq_worker_t *worker)
{
    return worker->queue->sample->engine;
}

static struct samples *
samples_of(const schedq_worker_t *worker)
{
    return &worker->queue->sample->of[worker->number];
}

/* Xorshift, 64 bits; the worker's first draw seeds it. */
static bool
draw(schedq_worker_t *worker)
{
    struct samples *samples = samples_of(worker);
    uint64_t random = samples->random;

    if (random == 0) {
        random = (worker->queue->seed ^ (worker->number * UINT64_C(0x9e3779b97f4a7c15))) | 1;
    }
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    samples->random = random;
    return (random >> 32) * worker->queue->config.sample_calls >> 32 == 0;
}

/* NOT_TIMED, or when it began. */
static int64_t
sample_begin(schedq_worker_t *worker)
{
    return draw(worker) ? clock_monotonic() : NOT_TIMED;
}

static void
sample_end(schedq_worker_t *worker, enum timed kind, int64_t began)
{
    if (began != NOT_TIMED) {
        histogram_add(&samples_of(worker)->calls[kind], HISTOGRAM_CALLS, clock_monotonic() - began);
    }
}

static void
look_at_popped(schedq_worker_t *worker, const schedq_popped_t *popped, size_t count)
{
    struct samples *samples = samples_of(worker);
    int64_t now = clock_now(&worker->queue->clock);

    for (size_t i = 0; i < count; i++) {
        const schedq_history_t *history = &popped[i].history;
        int64_t wait = history->timestamp_ns < now ? now - history->timestamp_ns : 0;

        histogram_add(&samples->waits, HISTOGRAM_WAITS, wait);
        histogram_add(&samples->attempts, HISTOGRAM_ATTEMPTS, history->attempts);
    }
}

/* ---- the functions --------------------------------------------------------------------------- */

static schedq_status_t
timed_add(schedq_worker_t *worker, const struct hashed_name *name, const schedq_pod_spec_t *spec,
          schedq_result_t *result)
{
    int64_t began = sample_begin(worker);
    schedq_status_t status = sampled_engine(worker)->add(worker, name, spec, result);

    sample_end(worker, TIMED_ADD, began);
    return status;
}

static schedq_status_t
timed_add_many(schedq_worker_t *worker, const struct add_batch *batch, schedq_result_t *result)
{
    int64_t began = sample_begin(worker);
    schedq_status_t status = sampled_engine(worker)->add_many(worker, batch, result);

    sample_end(worker, TIMED_ADD_MANY, began);
    return status;
}

static schedq_status_t
timed_pop(schedq_worker_t *worker, schedq_popped_t *out, size_t capacity, size_t *count)
{
    int64_t began = sample_begin(worker);
    schedq_status_t status = sampled_engine(worker)->pop(worker, out, capacity, count);

    if (status == SCHEDQ_OK && began != NOT_TIMED) {
        sample_end(worker, TIMED_POP, began);
        look_at_popped(worker, out, *count);
    }
    return status;
}

static schedq_status_t
looked_pop_waiting(schedq_worker_t *worker, int64_t deadline, schedq_popped_t *out, size_t capacity,
                   size_t *count)
{
    schedq_status_t status =
        sampled_engine(worker)->pop_waiting(worker, deadline, out, capacity, count);

    if (status == SCHEDQ_OK && draw(worker)) {
        look_at_popped(worker, out, *count);
    }
    return status;
}

/* As a pop of pods: one that waits would be timed by its wait. */
static schedq_status_t
timed_pop_group(schedq_worker_t *worker, bool waits, int64_t deadline, schedq_popped_group_t *group,
                schedq_popped_t *members, size_t room, size_t *count)
{
    int64_t began = sample_begin(worker);
    schedq_status_t status =
        sampled_engine(worker)->pop_group(worker, waits, deadline, group, members, room, count);

    if (status == SCHEDQ_OK && began != NOT_TIMED) {
        if (!waits) {
            sample_end(worker, TIMED_POP, began);
        }
        look_at_popped(worker, members, *count);
    }
    return status;
}

static schedq_status_t
timed_done(schedq_worker_t *worker, schedq_token_t token)
{
    int64_t began = sample_begin(worker);
    schedq_status_t status = sampled_engine(worker)->done(worker, token);

    sample_end(worker, TIMED_DONE, began);
    return status;
}

static schedq_status_t
timed_done_many(schedq_worker_t *worker, const schedq_token_t *tokens, size_t count,
                uint8_t *statuses)
{
    int64_t began = sample_begin(worker);
    schedq_status_t status = sampled_engine(worker)->done_many(worker, tokens, count, statuses);

    sample_end(worker, TIMED_DONE_MANY, began);
    return status;
}

static schedq_status_t
timed_fail(schedq_worker_t *worker, schedq_token_t *token, const schedq_failure_t *failure,
           schedq_result_t *result)
{
    int64_t began = sample_begin(worker);
    schedq_status_t status = sampled_engine(worker)->fail(worker, token, failure, result);

    sample_end(worker, TIMED_FAIL, began);
    return status;
}

static schedq_status_t
timed_update(schedq_worker_t *worker, const struct hashed_name *name, const schedq_pod_spec_t *spec,
             uint64_t old_object, const schedq_event_t *events, size_t count,
             schedq_result_t *result)
{
    int64_t began = sample_begin(worker);
    schedq_status_t status =
        sampled_engine(worker)->update(worker, name, spec, old_object, events, count, result);

    sample_end(worker, TIMED_UPDATE, began);
    return status;
}

static schedq_status_t
timed_delete(schedq_worker_t *worker, const struct pod_key *key, schedq_result_t *result)
{
    int64_t began = sample_begin(worker);
    schedq_status_t status = sampled_engine(worker)->delete_pod(worker, key, result);

    sample_end(worker, TIMED_DELETE, began);
    return status;
}

static schedq_status_t
timed_notify(schedq_worker_t *worker, const schedq_change_t *change,
             const struct assigned_pod *assigned, const struct schedq_pod_list *listed,
             schedq_result_t *result)
{
    int64_t began = sample_begin(worker);
    schedq_status_t status =
        sampled_engine(worker)->notify(worker, change, assigned, listed, result);

    sample_end(worker, TIMED_NOTIFY, began);
    return status;
}

static schedq_status_t
timed_candidates(schedq_worker_t *worker, schedq_query_t *query, schedq_candidate_t *out,
                 size_t capacity, size_t *count)
{
    int64_t began = sample_begin(worker);
    schedq_status_t status =
        sampled_engine(worker)->candidates(worker, query, out, capacity, count);

    sample_end(worker, TIMED_CANDIDATES, began);
    return status;
}

static schedq_status_t
timed_apply(schedq_worker_t *worker, const schedq_decision_t *decisions, size_t count,
            uint8_t *statuses, schedq_result_t *results, schedq_result_t *sum)
{
    int64_t began = sample_begin(worker);
    schedq_status_t status =
        sampled_engine(worker)->apply_many(worker, decisions, count, statuses, results, sum);

    sample_end(worker, TIMED_APPLY, began);
    return status;
}

static schedq_status_t
timed_tick(schedq_worker_t *worker, int64_t *next, schedq_result_t *result)
{
    int64_t began = sample_begin(worker);
    schedq_status_t status = sampled_engine(worker)->tick(worker, next, result);

    sample_end(worker, TIMED_TICK, began);
    return status;
}

/* ---- life ------------------------------------------------------------------------------------ */

static size_t
sample_bytes(uint32_t workers)
{
    return sizeof(struct sample) + workers * sizeof(struct samples);
}

static void
fill_table(struct engine_ops *ops)
{
    ops->add = timed_add;
    ops->add_many = timed_add_many;
    ops->pop = timed_pop;
    ops->pop_waiting = looked_pop_waiting;
    ops->pop_group = timed_pop_group;
    ops->done = timed_done;
    ops->done_many = timed_done_many;
    ops->fail = timed_fail;
    ops->update = timed_update;
    ops->delete_pod = timed_delete;
    ops->notify = timed_notify;
    ops->candidates = timed_candidates;
    ops->apply_many = timed_apply;
    ops->tick = timed_tick;
}

bool
sample_open(schedq_t *queue)
{
    uint32_t workers = queue->config.max_workers;

    if (queue->config.sample_calls == 0) {
        return true;
    }
    struct sample *sample =
        memory_alloc(&queue->memory, MEMORY_OTHER, sample_bytes(workers), CACHE_LINE);

    if (sample == NULL) {
        return false;
    }
    sample->ops = *queue->ops;
    sample->engine = queue->ops;
    sample->workers = workers;
    fill_table(&sample->ops);
    queue->sample = sample;
    queue->ops = &sample->ops;
    return true;
}

void
sample_shut(schedq_t *queue)
{
    struct sample *sample = queue->sample;

    if (sample != NULL) {
        queue->ops = sample->engine;
        queue->sample = NULL;
        memory_free(&queue->memory, MEMORY_OTHER, sample, sample_bytes(sample->workers));
    }
}

/* ---- metrics --------------------------------------------------------------------------------- */

static void
add_calls(const struct sample *sample, struct text *text)
{
    static const char name[] = "schedq_call_seconds";
    static const char *const calls[TIMED_KINDS] = {"add",       "add_many",   "pop",    "done",
                                                   "done_many", "fail",       "update", "delete",
                                                   "notify",    "candidates", "apply",  "tick"};

    metrics_head(text, name, "histogram", "Duration of the calls that were timed.");
    for (uint32_t kind = 0; kind < TIMED_KINDS; kind++) {
        struct histogram sum = {{0}, 0, 0};
        char labels[40];

        for (uint32_t i = 0; i < sample->workers; i++) {
            histogram_merge(&sum, &sample->of[i].calls[kind]);
        }
        (void)snprintf(labels, sizeof labels, "call=\"%s\"", calls[kind]);
        histogram_write(text, name, labels, HISTOGRAM_CALLS, &sum);
    }
}

static void
add_popped(const struct sample *sample, struct text *text)
{
    static const char waits_name[] = "schedq_popped_wait_seconds",
                      attempts_name[] = "schedq_popped_attempts";
    struct histogram waits = {{0}, 0, 0}, attempts = {{0}, 0, 0};

    for (uint32_t i = 0; i < sample->workers; i++) {
        histogram_merge(&waits, &sample->of[i].waits);
        histogram_merge(&attempts, &sample->of[i].attempts);
    }
    metrics_head(text, waits_name, "histogram",
                 "Time from when a pod came or failed last until a sampled pop took it.");
    histogram_write(text, waits_name, "", HISTOGRAM_WAITS, &waits);
    metrics_head(text, attempts_name, "histogram",
                 "Pops of a pod until a sampled pop took it, that one too.");
    histogram_write(text, attempts_name, "", HISTOGRAM_ATTEMPTS, &attempts);
}

void
sample_write(const schedq_t *queue, struct text *text)
{
    static const char name[] = "schedq_sample_calls";

    if (queue->sample == NULL) {
        return;
    }
    metrics_head(text, name, "gauge", "One call of so many is timed, by chance.");
    text_add(text, "%s %u\n", name, queue->config.sample_calls);
    add_calls(queue->sample, text);
    add_popped(queue->sample, text);
}
