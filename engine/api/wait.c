/* Waiting elsewhere: the descriptor, the callback, the deadline; ending a worker's wait. */
#include "api/call.h"
#include "api/check.h"

#include <schedq/wait.h>

#include <errno.h>
#include <string.h>

schedq_status_t
schedq_wait_fd(schedq_t *queue, int *fd, char *why, size_t why_size)
{
    struct call call;
    schedq_status_t status = call_begin_why(&call, queue, why, why_size);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (fd == NULL) {
        say(why, why_size, "fd NULL: a pointer");
        status = SCHEDQ_INVALID;
    } else {
        int descriptor = notifier_descriptor(&queue->notifier);

        if (descriptor < 0) {
            say(why, why_size, "no descriptor: eventfd: %s", strerror(errno));
            status = SCHEDQ_NOMEM;
        } else {
            *fd = descriptor;
            /* by each call until one has: the thread that made it may have stopped before */
            if (word_load(&queue->notifier.told) == 0) {
                queue->ops->tell_host(queue);
                word_store(&queue->notifier.told, 1);
            }
        }
    }
    call_end(&call);
    return status;
}

schedq_status_t
schedq_wait_callback(schedq_t *queue, void (*wake)(void *ctx), void *ctx, char *why,
                     size_t why_size)
{
    struct call call;
    schedq_status_t status = call_begin_why(&call, queue, why, why_size);

    if (status != SCHEDQ_OK) {
        return status;
    }
    schedq_stats_t stats;

    queue->ops->stats(queue, &stats);
    if (wake == NULL) {
        say(why, why_size, "wake NULL: a function");
        status = SCHEDQ_INVALID;
    } else if (stats.workers > 0) {
        say(why, why_size, SETUP_IS_OVER);
        status = SCHEDQ_BUSY;
    } else {
        notifier_set_wake(&queue->notifier, wake, ctx);
    }
    call_end(&call);
    return status;
}

int64_t
schedq_next_deadline(schedq_t *queue)
{
    struct call call;
    int64_t next = SCHEDQ_NO_DEADLINE;

    if (call_begin(&call, queue) == SCHEDQ_OK) {
        next = word_load(&queue->words.next_deadline_ns);
        if (next != SCHEDQ_NO_DEADLINE) {
            int64_t now = clock_now(&queue->clock);

            next = next > now ? next : now;
        }
        call_end(&call);
    }
    return next;
}

schedq_status_t
schedq_wait_cancel(schedq_worker_t *worker)
{
    struct call call;

    if (worker == NULL) {
        return SCHEDQ_INVALID;
    }
    schedq_status_t status = call_begin(&call, worker->queue);

    if (status == SCHEDQ_OK) {
        worker->queue->ops->wait_cancel(worker);
        call_end(&call);
    }
    return status;
}
