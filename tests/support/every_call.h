/**
 * Every call on a queue, made once: where all of them are refused, all of them have to be.
 *
 * Left out are those that are never refused so: schedq_done, schedq_done_many, schedq_now and
 * schedq_worker_error. tests/docs/declarations looks whether a call of the headers is missing.
 */
#ifndef SCHEDQ_TESTS_SUPPORT_EVERY_CALL_H
#define SCHEDQ_TESTS_SUPPORT_EVERY_CALL_H

#include <schedq/schedq.h>

/** What the calls are made on. They must be refused: they would end the queue. */
typedef struct every_call {
    schedq_t *queue;
    schedq_worker_t *worker;
    schedq_token_t token;
    schedq_pod_t pod;
} every_call_t;

/**
 * Gets what a call answered. `words`: of the worker, or the call's `why`; NULL: the call has none.
 * A call without a status that answered 0, NULL or SCHEDQ_NO_DEADLINE is given `refusal`, else
 * SCHEDQ_OK.
 */
typedef void (*every_call_fn)(void *ctx, const char *call, schedq_status_t status,
                              const char *words);

/** Makes each, with arguments that are legal. */
void every_call_make(const every_call_t *on, schedq_status_t refusal, every_call_fn judge,
                     void *ctx);

#endif
