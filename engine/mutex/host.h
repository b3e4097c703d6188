/*
 * Events that the host decides, without a callback: see host.c. Entries of the engine's table.
 */
#ifndef SCHEDQ_MUTEX_HOST_H
#define SCHEDQ_MUTEX_HOST_H

#include "mutex/queue.h"

void mutex_event_begin(schedq_worker_t *worker, uint64_t *sequence);
schedq_status_t mutex_event_stamp(schedq_worker_t *worker, uint64_t sequence,
                                  schedq_profile_t profile, uint64_t plugins);
schedq_status_t mutex_candidates(schedq_worker_t *worker, schedq_query_t *query,
                                 schedq_candidate_t *out, size_t capacity, size_t *count);
schedq_status_t mutex_apply_many(schedq_worker_t *worker, const schedq_decision_t *decisions,
                                 size_t count, uint8_t *statuses, schedq_result_t *results,
                                 schedq_result_t *sum);

#endif
