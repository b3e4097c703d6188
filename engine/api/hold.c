/* Pods that are kept back. */
#include "api/call.h"
#include "api/check.h"

#include <schedq/hold.h>

#include <inttypes.h>

static schedq_status_t
hold(schedq_worker_t *worker, schedq_pod_t pod, bool holds, schedq_result_t *result)
{
    schedq_result_t unseen;
    schedq_status_t status = call_begin_answer(&unseen, worker, &result);

    if (status == SCHEDQ_OK) {
        status = worker->queue->ops->hold(worker, pod, holds, result);
        call_end_worker(worker);
    }
    return status;
}

schedq_status_t
schedq_hold(schedq_worker_t *worker, schedq_pod_t pod, schedq_result_t *result)
{
    return hold(worker, pod, true, result);
}

schedq_status_t
schedq_release(schedq_worker_t *worker, schedq_pod_t pod, schedq_result_t *result)
{
    return hold(worker, pod, false, result);
}

schedq_status_t
schedq_not_before(schedq_worker_t *worker, schedq_pod_t pod, int64_t time_ns,
                  schedq_result_t *result)
{
    schedq_result_t unseen;
    schedq_status_t status = call_begin_answer(&unseen, worker, &result);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (time_ns < 0) {
        worker_say(worker, "time_ns %" PRId64 ": 0..%" PRId64, time_ns, INT64_MAX);
        status = SCHEDQ_INVALID;
    } else {
        status = worker->queue->ops->not_before(worker, pod, time_ns, result);
    }
    call_end_worker(worker);
    return status;
}
