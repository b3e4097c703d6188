/*
 * What every public call does first and last.
 *
 * A call for a queue that this thread is already inside of comes from one of that queue's callbacks
 * and is refused, whatever worker it names; a call for another queue goes through
 * (platform/inside.h).
 *
 * A worker is marked busy for the time of the call. Two threads that use one worker at once break
 * the header's rule; most often one of them gets SCHEDQ_BUSY, and nothing relies on it
 * (platform/words.h).
 */
#ifndef SCHEDQ_API_CALL_H
#define SCHEDQ_API_CALL_H

#include "engine.h"
#include "platform/inside.h"
#include "platform/words.h"

struct call {
    struct inside inside;
    schedq_result_t unseen; /* the answer that a caller does not want */
};

/** SCHEDQ_OK: go on, and end with call_end. SCHEDQ_BUSY, SCHEDQ_INVALID (NULL): return that. */
static inline schedq_status_t
call_begin(struct call *call, schedq_t *queue)
{
    if (queue == NULL) {
        return SCHEDQ_INVALID;
    }
    if (inside_is(queue)) {
        return SCHEDQ_BUSY;
    }
    inside_enter(&call->inside, queue);
    return SCHEDQ_OK;
}

/** The same with call_end_worker. */
static inline schedq_status_t
call_begin_worker(struct call *call, schedq_worker_t *worker)
{
    if (worker == NULL) {
        return SCHEDQ_INVALID;
    }
    if (inside_is(worker->queue) || !word_try_take(&worker->busy)) {
        return SCHEDQ_BUSY;
    }
    worker->words[0] = '\0';
    inside_enter(&call->inside, worker->queue);
    return SCHEDQ_OK;
}

/**
 * The same for a call with an answer: *result, NULL or the caller's, becomes a place to write it
 * to, all zero.
 */
static inline schedq_status_t
call_begin_answer(struct call *call, schedq_worker_t *worker, schedq_result_t **result)
{
    if (*result == NULL) {
        *result = &call->unseen;
    }
    **result = (schedq_result_t){0};
    return call_begin_worker(call, worker);
}

/** After call_begin, and for a worker that does not exist any more. */
static inline void
call_end(const struct call *call)
{
    inside_leave(&call->inside);
}

static inline void
call_end_worker(const struct call *call, schedq_worker_t *worker)
{
    inside_leave(&call->inside);
    word_give_back(&worker->busy);
}

/** Writes words for calls that have no worker; `why` may be NULL. */
__attribute__((format(printf, 3, 4))) void say(char *why, size_t size, const char *format, ...);

#endif
