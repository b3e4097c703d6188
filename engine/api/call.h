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

struct call {
    struct inside inside;
    schedq_worker_t *worker; /* NULL: the call takes none */
    schedq_result_t unseen;  /* the answer that a caller does not want */
};

/** SCHEDQ_OK: go on, and end with call_end. SCHEDQ_BUSY, SCHEDQ_INVALID (NULL): return that. */
schedq_status_t call_begin(struct call *call, schedq_t *queue);
schedq_status_t call_begin_worker(struct call *call, schedq_worker_t *worker);

/**
 * The same for a call with an answer: *result, NULL or the caller's, becomes a place to write it
 * to, all zero.
 */
schedq_status_t call_begin_answer(struct call *call, schedq_worker_t *worker,
                                  schedq_result_t **result);

void call_end(struct call *call);

/** call_end for a worker that does not exist any more. */
void call_end_without_worker(struct call *call);

/** Writes words for calls that have no worker; `why` may be NULL. */
__attribute__((format(printf, 3, 4))) void say(char *why, size_t size, const char *format, ...);

#endif
