/* Visiting pods, and what is told of them without taking them. */
#include "api/call.h"
#include "api/check.h"

/* As call_begin_worker, of a call with a visitor. */
static schedq_status_t
begin(schedq_worker_t *worker, schedq_visit_fn visit)
{
    schedq_status_t status = call_begin_worker(worker);

    if (status == SCHEDQ_OK && !check_not_null(worker, (const void *)(uintptr_t)visit, "visit")) {
        call_end_worker(worker);
        status = SCHEDQ_INVALID;
    }
    return status;
}

schedq_status_t
schedq_get(schedq_worker_t *worker, schedq_pod_t pod, schedq_visit_fn visit, void *ctx)
{
    schedq_status_t status = begin(worker, visit);

    if (status == SCHEDQ_OK) {
        status = worker->queue->ops->get(worker, pod, visit, ctx);
        call_end_worker(worker);
    }
    return status;
}

schedq_status_t
schedq_snapshot(schedq_worker_t *worker, schedq_visit_fn visit, void *ctx)
{
    schedq_status_t status = begin(worker, visit);

    if (status == SCHEDQ_OK) {
        status = worker->queue->ops->snapshot(worker, visit, ctx);
        call_end_worker(worker);
    }
    return status;
}

schedq_status_t
schedq_nominated_pods(schedq_worker_t *worker, uint64_t node, schedq_visit_fn visit, void *ctx)
{
    schedq_status_t status = begin(worker, visit);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (node == 0) {
        worker_say(worker, "node 0: any other number, 0 names no node");
        status = SCHEDQ_INVALID;
    } else {
        status = worker->queue->ops->nominated_pods(worker, node, visit, ctx);
    }
    call_end_worker(worker);
    return status;
}

schedq_status_t
schedq_peek(schedq_worker_t *worker, schedq_visit_fn visit, void *ctx)
{
    schedq_status_t status = begin(worker, visit);

    if (status == SCHEDQ_OK) {
        status = worker->queue->ops->peek(worker, visit, ctx);
        call_end_worker(worker);
    }
    return status;
}

schedq_status_t
schedq_peek_many(schedq_worker_t *worker, size_t count, schedq_visit_fn visit, void *ctx)
{
    schedq_status_t status = begin(worker, visit);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (count == 0) {
        worker_say(worker, "count 0: 1 or more");
        status = SCHEDQ_INVALID;
    } else {
        status = worker->queue->ops->peek_many(worker, count, visit, ctx);
    }
    call_end_worker(worker);
    return status;
}

schedq_status_t
schedq_position(schedq_worker_t *worker, schedq_pod_t pod, uint64_t *lower, uint64_t *upper)
{
    schedq_status_t status = call_begin_worker(worker);

    if (status != SCHEDQ_OK) {
        return status;
    }
    status = check_not_null(worker, lower, "lower") && check_not_null(worker, upper, "upper")
                 ? worker->queue->ops->position(worker, pod, lower, upper)
                 : SCHEDQ_INVALID;
    call_end_worker(worker);
    return status;
}
