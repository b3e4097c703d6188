/* Words for what was wrong, and for what is in the way. */
#include "api/call.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

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

/* ---- refusals -------------------------------------------------------------------------------- */

/* Not in static TLS: most threads are never refused. */
static _Thread_local struct {
    const schedq_worker_t *worker; /* NULL: there are no words of a worker's call */
    char words[160];
    char queue_words[160]; /* of a call without a worker, for its `why` */
} refusal;

void
call_refuse(const schedq_worker_t *worker, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(worker != NULL ? refusal.words : refusal.queue_words, sizeof refusal.words,
                    format, arguments);
    va_end(arguments);
    if (worker != NULL) {
        refusal.worker = worker;
        inside_look_next();
    }
}

const char *
call_refusal(const schedq_worker_t *worker)
{
    return worker == refusal.worker ? refusal.words : NULL;
}

void
call_forgive(void)
{
    refusal.worker = NULL;
}

const char *
call_name(enum callback callback)
{
    switch (callback) {
    case CALLBACK_HINT:
        return "a hint";
    case CALLBACK_PRE_HINT:
        return "a pre-queueing hint";
    case CALLBACK_PRE_ENQUEUE:
        return "pre_enqueue";
    case CALLBACK_PRECHECK:
        return "precheck";
    case CALLBACK_AFFINITY:
        return "config.affinity_matches";
    case CALLBACK_CLOCK:
        return "config.clock.now_ns";
    case CALLBACK_RETAIN:
        return "config.retain";
    case CALLBACK_RELEASE:
    case CALLBACK_VISITED:
        return "config.release";
    case CALLBACK_VISITOR:
        return "a visitor";
    case CALLBACK_WRITER:
        return "the writer of metrics";
    case CALLBACK_WAKE:
        return "the callback of schedq_wait_callback";
    case CALLBACK_DESTROY:
        return "config.release at the end";
    case CALLBACK_NONE:
    case CALLBACK_SLEEP:
        break;
    }
    return "a signal handler, or an allocator,";
}

schedq_status_t
call_look(const schedq_t *queue, const schedq_worker_t *worker)
{
    const struct inside *frame = inside_find(queue);

    if (frame != NULL) {
        call_refuse(worker, "called from %s of this queue, inside of a call of it",
                    call_name(inside_callback(frame)));
        return SCHEDQ_BUSY;
    }
    if (queue->forks != inside_forks()) {
        call_refuse(worker, "the queue is another process's: this one is a child that was forked "
                            "when the queue was there");
        return SCHEDQ_INVALID;
    }
    if (refusal.worker == worker) {
        refusal.worker = NULL;
    }
    inside_settle(refusal.worker != NULL);
    return SCHEDQ_OK;
}

schedq_status_t
call_refuse_worker(const schedq_worker_t *worker)
{
    uint32_t user = worker_user(worker);

    if (user == WORKER_NOBODYS) {
        call_refuse(worker, "worker %" PRIu32 ": it is not registered", worker->number);
    } else if (user == 0) {
        call_refuse(worker, "worker %" PRIu32 ": another thread was inside a call with it",
                    worker->number);
    } else {
        call_refuse(worker,
                    "worker %" PRIu32 ": thread %" PRIu32 " is inside a call with it; one call "
                    "at a time for each worker",
                    worker->number, user);
    }
    return SCHEDQ_BUSY;
}

schedq_status_t
call_begin_why(struct call *call, schedq_t *queue, char *why, size_t why_size)
{
    schedq_status_t status = call_begin(call, queue);

    if (status == SCHEDQ_OK) {
        say(why, why_size, "%s", "");
    } else {
        say(why, why_size, "%s", queue == NULL ? "queue NULL: a pointer" : refusal.queue_words);
    }
    return status;
}
