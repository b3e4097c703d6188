/* Workers: registering, ending, adopting, and the words of the last refusal. */
#include "api/call.h"
#include "api/own.h"

#include <inttypes.h>

/* A slot may be a thread's that is no more. */
static schedq_status_t
take_worker(schedq_t *queue, schedq_worker_t **worker, char *why, size_t why_size)
{
    schedq_status_t status;

    if (worker == NULL) {
        say(why, why_size, "worker NULL: a pointer");
        return SCHEDQ_INVALID;
    }
    *worker = NULL;
    status = queue->ops->worker_register(queue, worker);
    if (status == SCHEDQ_FULL && own_reclaim(queue)) {
        status = queue->ops->worker_register(queue, worker);
    }
    if (status == SCHEDQ_FULL) {
        say(why, why_size, "workers: all %" PRIu32 " are registered (max_workers)",
            queue->config.max_workers);
    }
    return status;
}

schedq_status_t
schedq_worker_register(schedq_t *queue, schedq_worker_t **worker, char *why, size_t why_size)
{
    struct call call;
    schedq_status_t status = call_begin_why(&call, queue, why, why_size);

    if (status == SCHEDQ_OK) {
        status = take_worker(queue, worker, why, why_size);
        call_end(&call);
    }
    return status;
}

static schedq_status_t
make_own(schedq_t *queue, schedq_worker_t **worker, char *why, size_t why_size)
{
    schedq_status_t status = take_worker(queue, worker, why, why_size);

    if (status != SCHEDQ_OK) {
        return status;
    }
    status = own_begin(*worker);
    if (status != SCHEDQ_OK) {
        worker_bar(*worker);
        queue->ops->worker_unregister(*worker);
        *worker = NULL;
    }
    if (status == SCHEDQ_INVALID) {
        say(why, why_size, "the thread is ending, and has given its workers back");
    }
    return status;
}

schedq_status_t
schedq_worker_get(schedq_t *queue, schedq_worker_t **worker, char *why, size_t why_size)
{
    struct call call;
    schedq_status_t status = call_begin_why(&call, queue, why, why_size);

    if (status != SCHEDQ_OK) {
        return status;
    }
    schedq_worker_t *own = worker != NULL ? own_find(queue) : NULL;

    if (own != NULL) {
        *worker = own;
    } else {
        status = make_own(queue, worker, why, why_size);
    }
    call_end(&call);
    return status;
}

schedq_status_t
schedq_worker_unregister(schedq_worker_t *worker)
{
    schedq_status_t status = call_begin_worker(worker);
    struct call call;
    uint32_t thread;

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (!own_end(worker->queue, worker, false, &thread)) {
        worker_say(worker,
                   "worker %" PRIu32 ": thread %" PRIu32 "'s own (schedq_worker_get), which gives "
                   "it back when it ends",
                   worker->number, thread);
        call_end_worker(worker);
        return SCHEDQ_INVALID;
    }
    schedq_t *queue = worker->queue;

    /* What this call calls is its own: another thread may have the worker before it ends. */
    inside_leave(&worker->inside);
    inside_enter(&call.inside, queue);
    worker_bar(worker);
    queue->ops->worker_unregister(worker);
    call_end(&call);
    return SCHEDQ_OK;
}

schedq_status_t
schedq_worker_adopt(schedq_t *queue, schedq_worker_t *abandoned)
{
    struct call call;
    schedq_status_t status = call_begin(&call, queue);
    uint32_t thread;

    if (status == SCHEDQ_OK) {
        status = queue->ops->worker_adopt(queue, abandoned);
        if (status == SCHEDQ_OK) {
            (void)own_end(queue, abandoned, true, &thread);
        }
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
