/* Frames of call.h. */
#include "api/call.h"

#include "platform/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

schedq_status_t
call_begin(struct call *call, schedq_t *queue)
{
    if (queue == NULL) {
        return SCHEDQ_INVALID;
    }
    if (inside_is(queue)) {
        return SCHEDQ_BUSY;
    }
    call->worker = NULL;
    inside_enter(&call->inside, queue);
    return SCHEDQ_OK;
}

schedq_status_t
call_begin_worker(struct call *call, schedq_worker_t *worker)
{
    if (worker == NULL) {
        return SCHEDQ_INVALID;
    }
    if (inside_is(worker->queue) || !word_try_take(&worker->busy)) {
        return SCHEDQ_BUSY;
    }
    worker->words[0] = '\0';
    call->worker = worker;
    inside_enter(&call->inside, worker->queue);
    return SCHEDQ_OK;
}

schedq_status_t
call_begin_answer(struct call *call, schedq_worker_t *worker, schedq_result_t **result)
{
    if (*result == NULL) {
        *result = &call->unseen;
    }
    memset(*result, 0, sizeof **result);
    return call_begin_worker(call, worker);
}

void
call_end_without_worker(struct call *call)
{
    inside_leave(&call->inside);
}

void
call_end(struct call *call)
{
    inside_leave(&call->inside);
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
