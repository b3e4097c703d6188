/* Workers: registering, ending, adopting, and the words of the last refusal. */
#include "api/call.h"

#include <inttypes.h>

schedq_status_t
schedq_worker_register(schedq_t *queue, schedq_worker_t **worker, char *why, size_t why_size)
{
    struct call call;
    schedq_status_t status = call_begin_why(&call, queue, why, why_size);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (worker == NULL) {
        say(why, why_size, "worker NULL: a pointer");
        status = SCHEDQ_INVALID;
    } else {
        *worker = NULL;
        status = queue->ops->worker_register(queue, worker);
        if (status == SCHEDQ_FULL) {
            say(why, why_size, "workers: all %" PRIu32 " are registered (max_workers)",
                queue->config.max_workers);
        }
    }
    call_end(&call);
    return status;
}

schedq_status_t
schedq_worker_unregister(schedq_worker_t *worker)
{
    struct call call;
    schedq_status_t status = call_begin_worker(&call, worker);

    if (status == SCHEDQ_OK) {
        word_store(&worker->busy, WORKER_NOBODYS);
        worker->queue->ops->worker_unregister(worker);
        call_end(&call);
    }
    return status;
}

schedq_status_t
schedq_worker_adopt(schedq_t *queue, schedq_worker_t *abandoned)
{
    struct call call;
    schedq_status_t status = call_begin(&call, queue);

    if (status == SCHEDQ_OK) {
        status = queue->ops->worker_adopt(queue, abandoned);
        call_end(&call);
    }
    return status;
}

const char *
schedq_worker_error(const schedq_worker_t *worker)
{
    if (worker == NULL) {
        return "worker NULL: a pointer";
    }
    const char *refusal = call_refusal(worker);

    return refusal != NULL ? refusal : worker->words;
}
