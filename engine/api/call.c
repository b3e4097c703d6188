/* Frames of call.h. */
#include "api/call.h"

#include "platform/words.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local struct call *innermost;

static bool
is_inside(const schedq_t *queue)
{
    for (const struct call *call = innermost; call != NULL; call = call->outer) {
        if (call->queue == queue) {
            return true;
        }
    }
    return false;
}

static void
push(struct call *call, schedq_t *queue, schedq_worker_t *worker)
{
    call->queue = queue;
    call->worker = worker;
    call->outer = innermost;
    innermost = call;
}

schedq_status_t
call_begin(struct call *call, schedq_t *queue)
{
    if (queue == NULL) {
        return SCHEDQ_INVALID;
    }
    if (is_inside(queue)) {
        return SCHEDQ_BUSY;
    }
    push(call, queue, NULL);
    return SCHEDQ_OK;
}

schedq_status_t
call_begin_worker(struct call *call, schedq_worker_t *worker)
{
    if (worker == NULL) {
        return SCHEDQ_INVALID;
    }
    if (is_inside(worker->queue) || !word_try_take(&worker->busy)) {
        return SCHEDQ_BUSY;
    }
    worker->words[0] = '\0';
    push(call, worker->queue, worker);
    return SCHEDQ_OK;
}

void
call_end_without_worker(struct call *call)
{
    innermost = call->outer;
}

void
call_end(struct call *call)
{
    innermost = call->outer;
    if (call->worker != NULL) {
        word_give_back(&call->worker->busy);
    }
}

void
say(char *why, size_t size, const char *format, ...)
{
    va_list arguments;

    if (why == NULL || size == 0) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(why, size, format, arguments);
    va_end(arguments);
}

void
worker_say(schedq_worker_t *worker, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(worker->words, sizeof worker->words, format, arguments);
    va_end(arguments);
}
