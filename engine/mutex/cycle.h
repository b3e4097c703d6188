/*
 * pop, done, fail, readd: see cycle.c. The functions named mutex_ are entries of the
 * engine's table.
 */
#ifndef SCHEDQ_MUTEX_CYCLE_H
#define SCHEDQ_MUTEX_CYCLE_H

#include "mutex/queue.h"

/** Takes the best pod, with the lock held. False: nothing is poppable. */
bool cycle_pop(struct mutex_queue *queue, schedq_popped_t *out);

/** The same, whatever its class. */
bool cycle_take(struct mutex_queue *queue, schedq_popped_t *out);

/** What a pop tells of a pod that it is about to take: all but token, cycle and more. */
void cycle_describe(const struct mutex_queue *queue, uint32_t index, schedq_popped_t *out);

/**
 * Puts the pod, which is in no container, into flight; sets token and cycle of the answer. `order`:
 * of its pop, which the members of a group share.
 */
void cycle_begin_flight(struct mutex_queue *queue, uint32_t index, uint64_t order,
                        schedq_popped_t *out);

/** What the events since its pop mean to a pod that something rejected. */
enum strategy cycle_judge_events(struct mutex_queue *queue, const struct entry *entry);

schedq_status_t mutex_done(schedq_worker_t *worker, schedq_token_t token);
schedq_status_t mutex_done_many(schedq_worker_t *worker, const schedq_token_t *tokens, size_t count,
                                uint8_t *statuses);
schedq_status_t mutex_end_many(schedq_t *queue, const schedq_token_t *tokens, size_t count,
                               uint8_t *statuses, bool held);
schedq_status_t mutex_token_alive(schedq_worker_t *worker, schedq_token_t token);
schedq_status_t mutex_fail(schedq_worker_t *worker, schedq_token_t *token,
                           const schedq_failure_t *failure, schedq_result_t *result);
schedq_status_t mutex_readd(schedq_worker_t *worker, const struct hashed_name *name,
                            const schedq_pod_spec_t *spec, const schedq_history_t *history,
                            const schedq_failure_t *failure, schedq_result_t *result);

#endif
