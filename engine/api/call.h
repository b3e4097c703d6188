/*
 * What every public call does first and last.
 *
 * A call for a queue that this thread is already inside of comes from one of that queue's callbacks
 * and is refused, whatever worker it names; a call for another queue goes through
 * (platform/inside.h).
 *
 * A worker is marked busy for the time of the call, with the thread's number. Two threads that use
 * one worker at once break the header's rule; most often one of them gets SCHEDQ_BUSY, and nothing
 * relies on it (worker.h).
 *
 * Words of BUSY are the thread's, not the worker's: another thread uses the worker. They are
 * forgotten when a call of this thread with that worker goes through; so that no call has to look
 * whether there are any, the stack of frames ends in INSIDE_LOOK until then.
 */
#ifndef SCHEDQ_API_CALL_H
#define SCHEDQ_API_CALL_H

#include "engine.h"

struct call {
    struct inside inside;
};

/**
 * A call that is not plain: SCHEDQ_OK: it may go on. SCHEDQ_BUSY: it comes from a callback;
 * SCHEDQ_INVALID: the queue is a parent process's; refused in words. `worker` may be NULL.
 */
COLD schedq_status_t call_look(const schedq_t *queue, const schedq_worker_t *worker);

/** Returns SCHEDQ_BUSY, with words: another thread uses the worker, or none may. */
COLD schedq_status_t call_refuse_worker(const schedq_worker_t *worker);

/** Words for this thread; worker NULL: for the `why` of the call. */
__attribute__((format(printf, 2, 3))) void call_refuse(const schedq_worker_t *worker,
                                                       const char *format, ...);

/** Why this thread's last call with the worker was refused before it began; NULL: it was not. */
const char *call_refusal(const schedq_worker_t *worker);

/** What a callback is, in words. */
const char *call_name(enum callback callback);

/** Forgets that: the call did what it was asked to. */
void call_forgive(void);

/**
 * SCHEDQ_OK: go on, and end with call_end. SCHEDQ_BUSY, SCHEDQ_INVALID (NULL, or a parent
 * process's): return that.
 */
static inline schedq_status_t
call_begin(struct call *call, schedq_t *queue)
{
    if (queue == NULL) {
        return SCHEDQ_INVALID;
    }
    if (!inside_is_plain()) {
        schedq_status_t status = call_look(queue, NULL);

        if (status != SCHEDQ_OK) {
            return status;
        }
    }
    inside_enter(&call->inside, queue);
    return SCHEDQ_OK;
}

/** The same with words for the caller: an empty text if it may go on. */
schedq_status_t call_begin_why(struct call *call, schedq_t *queue, char *why, size_t why_size);

/** How a pop waits, and so what its time is: none, a deadline, or a duration. */
enum waits { WAITS_NOT, WAITS_UNTIL, WAITS_FOR };

/**
 * The deadline of a wait, on the queue's clock; one that is longer than the clock has none. The
 * clock's last reading is SCHEDQ_NO_DEADLINE: a wait until then ends the reading before.
 */
static inline int64_t
call_deadline(const schedq_worker_t *worker, enum waits waits, int64_t time)
{
    int64_t end;

    if (waits != WAITS_FOR) {
        return time;
    }
    if (__builtin_add_overflow(clock_now(&worker->queue->clock), time, &end)) {
        return SCHEDQ_NO_DEADLINE;
    }
    return end < SCHEDQ_NO_DEADLINE ? end : end - 1;
}

/** The same as call_begin, with call_end_worker; the frame is the worker's. */
static inline schedq_status_t
call_begin_worker(schedq_worker_t *worker)
{
    if (worker == NULL) {
        return SCHEDQ_INVALID;
    }
    if (!inside_is_plain()) {
        schedq_status_t status = call_look(worker->queue, worker);

        if (status != SCHEDQ_OK) {
            return status;
        }
    }
    if (!worker_try_take(worker, INSIDE_THREAD.number)) {
        return call_refuse_worker(worker);
    }
    worker->words[0] = '\0';
    inside_enter_again(&worker->inside);
    return SCHEDQ_OK;
}

/**
 * The same for a call with an answer: *result, NULL or the caller's, becomes a place to write it
 * to, all zero. `unseen` takes the answer that a caller does not want.
 */
static inline schedq_status_t
call_begin_answer(schedq_result_t *unseen, schedq_worker_t *worker, schedq_result_t **result)
{
    if (*result == NULL) {
        *result = unseen;
    }
    **result = (schedq_result_t){0};
    return call_begin_worker(worker);
}

/** After call_begin, and for a worker that does not exist any more. */
static inline void
call_end(const struct call *call)
{
    inside_leave(&call->inside);
}

static inline void
call_end_worker(schedq_worker_t *worker)
{
    inside_leave(&worker->inside);
    worker_give_back(worker);
}

/** Writes words for calls that have no worker; `why` may be NULL. */
__attribute__((format(printf, 3, 4))) void say(char *why, size_t size, const char *format, ...);

#endif
