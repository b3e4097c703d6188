/*
 * Pods that belong together. An engine finds the pods of a label; what is done to each of them is
 * the call for one pod.
 */
#include "api/call.h"
#include "api/check.h"

#include <schedq/label.h>

#include <inttypes.h>

struct cancelling {
    schedq_worker_t *worker;
    schedq_result_t *results;
    size_t room, count;
};

struct keeping {
    schedq_worker_t *worker;
    bool holds;
    size_t count;
};

static bool
check_label(schedq_worker_t *worker, uint64_t label)
{
    if (label == 0) {
        worker_say(worker, "label 0: 1..%" PRIu64 ", 0 is no label", UINT64_MAX);
    }
    return label != 0;
}

/* SCHEDQ_OK: go on, to the next pod; anything else is what the call returns. */
static schedq_status_t
cancel_one(void *ctx, schedq_pod_t pod)
{
    struct cancelling *cancelling = ctx;
    const struct pod_key key = {.pod = pod};
    schedq_result_t unseen, *result = &unseen;

    if (cancelling->results != NULL && cancelling->count == cancelling->room) {
        return SCHEDQ_FULL;
    }
    if (cancelling->results != NULL) {
        result = &cancelling->results[cancelling->count];
    }
    *result = (schedq_result_t){0};
    if (cancelling->worker->queue->ops->delete_pod(cancelling->worker, &key, result) == SCHEDQ_OK) {
        cancelling->count++;
    }
    return SCHEDQ_OK;
}

schedq_status_t
schedq_label_cancel(schedq_worker_t *worker, uint64_t label, schedq_result_t *results, size_t room,
                    size_t *count)
{
    struct cancelling cancelling = {.worker = worker, .results = results, .room = room};
    schedq_status_t status = call_begin_worker(worker);

    if (count != NULL) {
        *count = 0;
    }
    if (status != SCHEDQ_OK) {
        return status;
    }
    if (!check_label(worker, label)) {
        status = SCHEDQ_INVALID;
    } else if ((results != NULL) != (room != 0)) {
        worker_say(worker, "room %zu: %s", room,
                   results != NULL ? "at least 1" : "0, results is NULL");
        status = SCHEDQ_INVALID;
    } else {
        status = worker->queue->ops->labelled(worker, label, cancel_one, &cancelling);
        status = status == SCHEDQ_FULL ? SCHEDQ_OK : status;
    }
    if (count != NULL) {
        *count = cancelling.count;
    }
    call_end_worker(worker);
    return status;
}

static schedq_status_t
keep_one(void *ctx, schedq_pod_t pod)
{
    struct keeping *keeping = ctx;
    schedq_result_t unseen = {0};
    schedq_status_t status =
        keeping->worker->queue->ops->hold(keeping->worker, pod, keeping->holds, &unseen);

    keeping->count += status == SCHEDQ_OK ? 1 : 0;
    return status == SCHEDQ_NOT_FOUND ? SCHEDQ_OK : status;
}

static schedq_status_t
count_one(void *ctx, schedq_pod_t pod)
{
    struct keeping *keeping = ctx;

    (void)pod;
    keeping->count++;
    return SCHEDQ_OK;
}

static schedq_status_t
go_through(schedq_worker_t *worker, uint64_t label, label_fn *each, bool holds, size_t *count)
{
    struct keeping keeping = {.worker = worker, .holds = holds};
    schedq_status_t status = call_begin_worker(worker);

    if (count != NULL) {
        *count = 0;
    }
    if (status != SCHEDQ_OK) {
        return status;
    }
    if (!check_label(worker, label) ||
        (each == count_one && !check_not_null(worker, count, "count"))) {
        status = SCHEDQ_INVALID;
    } else {
        status = worker->queue->ops->labelled(worker, label, each, &keeping);
    }
    if (count != NULL) {
        *count = keeping.count;
    }
    call_end_worker(worker);
    return status;
}

schedq_status_t
schedq_label_hold(schedq_worker_t *worker, uint64_t label, size_t *count)
{
    return go_through(worker, label, keep_one, true, count);
}

schedq_status_t
schedq_label_release(schedq_worker_t *worker, uint64_t label, size_t *count)
{
    return go_through(worker, label, keep_one, false, count);
}

schedq_status_t
schedq_label_count(schedq_worker_t *worker, uint64_t label, size_t *count)
{
    return go_through(worker, label, count_one, false, count);
}
