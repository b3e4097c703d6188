/* The cycle and the life of single pods. */
#include "api/call.h"
#include "api/check_straight.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- add ------------------------------------------------------------------------------------- */

schedq_status_t
schedq_add(schedq_worker_t *worker, const char *name, size_t length, const schedq_pod_spec_t *spec,
           schedq_result_t *result)
{
    struct hashed_name hashed;
    schedq_status_t status = call_begin_worker(worker);

    if (result != NULL) {
        *result = (schedq_result_t){0};
    }
    if (status != SCHEDQ_OK) {
        return status;
    }
    status = check_spec(worker, name, length, spec, &hashed)
                 ? worker->queue->ops->add(worker, &hashed, spec, result)
                 : SCHEDQ_INVALID;
    call_end_worker(worker);
    return status;
}

/*
 * Without an array for statuses a bad item has no place of its own to be told at: it stops the
 * whole batch.
 */
static schedq_status_t
add_batch(schedq_worker_t *worker, size_t names_length, struct add_batch *batch,
          schedq_result_t *result)
{
    uint32_t hashes[BATCH_HASHES];
    struct hashed_name name;

    for (size_t i = 0; i < batch->count; i++) {
        bool legal = check_item(worker, batch->names, names_length, &batch->items[i], i, &name);

        if (legal && i < BATCH_HASHES) {
            hashes[i] = name.hash;
        }
        if (batch->statuses != NULL) {
            batch->statuses[i] = (uint8_t)(legal ? SCHEDQ_OK : SCHEDQ_INVALID);
        } else if (!legal) {
            return SCHEDQ_INVALID;
        }
    }
    if (batch->pods != NULL) {
        memset(batch->pods, 0, batch->count * sizeof *batch->pods);
    }
    batch->hashes = hashes;
    return worker->queue->ops->add_many(worker, batch, result);
}

schedq_status_t
schedq_add_many(schedq_worker_t *worker, const char *names, size_t names_length,
                const schedq_add_item_t *items, size_t count, schedq_pod_t *pods, uint8_t *statuses,
                schedq_result_t *result)
{
    schedq_result_t unseen;
    schedq_status_t status = call_begin_answer(&unseen, worker, &result);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (count > 0 &&
        (!check_not_null(worker, names, "names") || !check_not_null(worker, items, "items"))) {
        status = SCHEDQ_INVALID;
    } else {
        struct add_batch batch = {
            .names = names, .items = items, .count = count, .pods = pods, .statuses = statuses};

        status = add_batch(worker, names_length, &batch, result);
    }
    call_end_worker(worker);
    return status;
}

/* ---- the cycle ------------------------------------------------------------------------------- */

/* Inline in those that do not wait. */
STRAIGHT schedq_status_t
pop(schedq_worker_t *worker, enum waits waits, int64_t time, schedq_popped_t *out, size_t capacity,
    size_t *count)
{
    schedq_status_t status = call_begin_worker(worker);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (!check_not_null(worker, out, "out") || !check_not_null(worker, count, "count") ||
        (waits == WAITS_FOR && !check_wait(worker, time))) {
        status = SCHEDQ_INVALID;
    } else if (capacity == 0) {
        worker_say(worker, "capacity 0: at least 1");
        status = SCHEDQ_INVALID;
    } else if (waits == WAITS_NOT) {
        status = worker->queue->ops->pop(worker, out, capacity, count);
    } else {
        status = worker->queue->ops->pop_waiting(worker, call_deadline(worker, waits, time), out,
                                                 capacity, count);
    }
    call_end_worker(worker);
    return status;
}

static schedq_status_t
pop_waiting(schedq_worker_t *worker, enum waits waits, int64_t time, schedq_popped_t *out,
            size_t capacity, size_t *count)
{
    return pop(worker, waits, time, out, capacity, count);
}

schedq_status_t
schedq_try_pop(schedq_worker_t *worker, schedq_popped_t *out)
{
    size_t count;

    return pop(worker, WAITS_NOT, 0, out, 1, &count);
}

schedq_status_t
schedq_try_pop_many(schedq_worker_t *worker, schedq_popped_t *out, size_t capacity, size_t *count)
{
    return pop(worker, WAITS_NOT, 0, out, capacity, count);
}

schedq_status_t
schedq_pop(schedq_worker_t *worker, schedq_popped_t *out)
{
    size_t count;

    return pop_waiting(worker, WAITS_UNTIL, SCHEDQ_NO_DEADLINE, out, 1, &count);
}

schedq_status_t
schedq_pop_for(schedq_worker_t *worker, int64_t wait_ns, schedq_popped_t *out)
{
    size_t count;

    return pop_waiting(worker, WAITS_FOR, wait_ns, out, 1, &count);
}

schedq_status_t
schedq_pop_until(schedq_worker_t *worker, int64_t deadline_ns, schedq_popped_t *out)
{
    size_t count;

    return pop_waiting(worker, WAITS_UNTIL, deadline_ns, out, 1, &count);
}

schedq_status_t
schedq_pop_many(schedq_worker_t *worker, schedq_popped_t *out, size_t capacity, size_t *count)
{
    return pop_waiting(worker, WAITS_UNTIL, SCHEDQ_NO_DEADLINE, out, capacity, count);
}

schedq_status_t
schedq_pop_many_for(schedq_worker_t *worker, int64_t wait_ns, schedq_popped_t *out, size_t capacity,
                    size_t *count)
{
    return pop_waiting(worker, WAITS_FOR, wait_ns, out, capacity, count);
}

schedq_status_t
schedq_pop_many_until(schedq_worker_t *worker, int64_t deadline_ns, schedq_popped_t *out,
                      size_t capacity, size_t *count)
{
    return pop_waiting(worker, WAITS_UNTIL, deadline_ns, out, capacity, count);
}

/*
 * What ends a cycle is not refused for a reason that passes unseen: a call that may not use the
 * worker ends the cycles without one.
 */
COLD static schedq_status_t
end_without_worker(schedq_worker_t *worker, const schedq_token_t *tokens, size_t count,
                   uint8_t *statuses)
{
    schedq_t *queue = worker->queue;
    const struct inside *frame = inside_find(queue);
    enum callback callback = frame != NULL ? inside_callback(frame) : CALLBACK_NONE;
    bool held = frame != NULL && callback != CALLBACK_VISITOR && callback != CALLBACK_VISITED &&
                callback != CALLBACK_WRITER && callback != CALLBACK_PRE_HINT;
    struct inside inside;

    if (count > 0 && tokens == NULL) {
        call_refuse(worker, "tokens NULL: a pointer");
        return SCHEDQ_INVALID;
    }
    if (frame != NULL && (callback == CALLBACK_NONE || callback == CALLBACK_DESTROY)) {
        return SCHEDQ_INVALID; /* the words of the refusal say why */
    }
    call_forgive();
    inside_enter(&inside, queue);
    schedq_status_t status = queue->ops->end_many(queue, tokens, count, statuses, held);
    inside_leave(&inside);
    return status;
}

schedq_status_t
schedq_done_many(schedq_worker_t *worker, const schedq_token_t *tokens, size_t count,
                 uint8_t *statuses)
{
    schedq_status_t status = call_begin_worker(worker);

    if (status == SCHEDQ_BUSY) {
        return end_without_worker(worker, tokens, count, statuses);
    }
    if (status != SCHEDQ_OK) {
        return status;
    }
    if (count > 0 && !check_not_null(worker, tokens, "tokens")) {
        status = SCHEDQ_INVALID;
    } else {
        status = worker->queue->ops->done_many(worker, tokens, count, statuses);
    }
    call_end_worker(worker);
    return status;
}

schedq_status_t
schedq_done(schedq_worker_t *worker, schedq_token_t token)
{
    schedq_status_t status = call_begin_worker(worker);

    if (status == SCHEDQ_OK) {
        status = worker->queue->ops->done(worker, token);
        call_end_worker(worker);
    } else if (status == SCHEDQ_BUSY) {
        status = end_without_worker(worker, &token, 1, NULL);
    }
    return status;
}

schedq_status_t
schedq_token_alive(schedq_worker_t *worker, schedq_token_t token)
{
    schedq_status_t status = call_begin_worker(worker);

    if (status == SCHEDQ_OK) {
        status = worker->queue->ops->token_alive(worker, token);
        call_end_worker(worker);
    }
    return status;
}

schedq_status_t
schedq_fail(schedq_worker_t *worker, schedq_token_t *token, const schedq_failure_t *failure,
            schedq_result_t *result)
{
    schedq_result_t unseen;
    schedq_status_t status = call_begin_answer(&unseen, worker, &result);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (check_not_null(worker, token, "token") && check_failure(worker, failure, false)) {
        status = worker->queue->ops->fail(worker, token, failure, result);
    } else {
        status = SCHEDQ_INVALID;
    }
    probe_fail(worker, status, result);
    call_end_worker(worker);
    return status;
}

static bool
check_readd(schedq_worker_t *worker, const schedq_pod_spec_t *spec, const schedq_history_t *history,
            const schedq_failure_t *failure)
{
    if (!check_history(worker, history) || !check_failure(worker, failure, true)) {
        return false;
    }
    if (spec->gate != 0) {
        worker_say(worker, "spec.gate %u: 0, a readd's gate stands in failure.gate", spec->gate);
        return false;
    }
    return true;
}

schedq_status_t
schedq_readd(schedq_worker_t *worker, const char *name, size_t length,
             const schedq_pod_spec_t *spec, const schedq_history_t *history,
             const schedq_failure_t *failure, schedq_result_t *result)
{
    schedq_result_t unseen;
    struct hashed_name hashed;
    schedq_status_t status = call_begin_answer(&unseen, worker, &result);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (check_named(worker, name, length, spec, POD_FLAGS, &hashed) &&
        check_readd(worker, spec, history, failure)) {
        status = worker->queue->ops->readd(worker, &hashed, spec, history, failure, result);
    } else {
        status = SCHEDQ_INVALID;
    }
    call_end_worker(worker);
    return status;
}

/* ---- by name or handle ----------------------------------------------------------------------- */

schedq_status_t
schedq_find(schedq_worker_t *worker, const char *name, size_t length, schedq_result_t *result)
{
    schedq_result_t unseen;
    struct hashed_name checked;
    schedq_status_t status = call_begin_answer(&unseen, worker, &result);

    if (status != SCHEDQ_OK) {
        return status;
    }
    status = check_name(worker, name, length, &checked)
                 ? worker->queue->ops->find(worker, &checked, result)
                 : SCHEDQ_INVALID;
    call_end_worker(worker);
    return status;
}

static bool
check_events(schedq_worker_t *worker, const schedq_event_t *events, size_t count)
{
    if (count > 0 && !check_not_null(worker, events, "events")) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (!registry_has_event(&worker->queue->registry, events[i])) {
            char argument[40];

            snprintf(argument, sizeof argument, "events[%zu]", i);
            return check_event(worker, argument, events[i]);
        }
    }
    return true;
}

schedq_status_t
schedq_update(schedq_worker_t *worker, const char *name, size_t length,
              const schedq_pod_spec_t *spec, uint64_t old_object, const schedq_event_t *events,
              size_t event_count, schedq_result_t *result)
{
    schedq_result_t unseen;
    struct hashed_name hashed;
    schedq_status_t status = call_begin_answer(&unseen, worker, &result);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (check_named(worker, name, length, spec, UPDATE_FLAGS, &hashed) &&
        check_events(worker, events, event_count)) {
        status = worker->queue->ops->update(worker, &hashed, spec, old_object, events, event_count,
                                            result);
    } else {
        status = SCHEDQ_INVALID;
    }
    probe_update(worker, status, result);
    call_end_worker(worker);
    return status;
}

schedq_status_t
schedq_delete(schedq_worker_t *worker, schedq_pod_t pod, schedq_result_t *result)
{
    schedq_result_t unseen;
    const struct pod_key key = {.pod = pod};
    schedq_status_t status = call_begin_answer(&unseen, worker, &result);

    if (status != SCHEDQ_OK) {
        return status;
    }
    status =
        pod.bits != 0 ? worker->queue->ops->delete_pod(worker, &key, result) : SCHEDQ_NOT_FOUND;
    probe_delete(worker, status, result);
    call_end_worker(worker);
    return status;
}

schedq_status_t
schedq_delete_name(schedq_worker_t *worker, const char *name, size_t length,
                   schedq_result_t *result)
{
    schedq_result_t unseen;
    struct pod_key key = {.pod = {0}};
    schedq_status_t status = call_begin_answer(&unseen, worker, &result);

    if (status != SCHEDQ_OK) {
        return status;
    }
    status = check_name(worker, name, length, &key.name)
                 ? worker->queue->ops->delete_pod(worker, &key, result)
                 : SCHEDQ_INVALID;
    probe_delete(worker, status, result);
    call_end_worker(worker);
    return status;
}

schedq_status_t
schedq_activate(schedq_worker_t *worker, const schedq_pod_t *pods, size_t count,
                schedq_result_t *result)
{
    schedq_result_t unseen;
    schedq_status_t status = call_begin_answer(&unseen, worker, &result);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (count > 0 && !check_not_null(worker, pods, "pods")) {
        status = SCHEDQ_INVALID;
    } else {
        status = worker->queue->ops->activate(worker, pods, count, result);
    }
    call_end_worker(worker);
    return status;
}

schedq_status_t
schedq_nominate(schedq_worker_t *worker, schedq_pod_t pod, uint64_t node)
{
    schedq_status_t status = call_begin_worker(worker);

    if (status == SCHEDQ_OK) {
        status = worker->queue->ops->nominate(worker, pod, node);
        call_end_worker(worker);
    }
    return status;
}
