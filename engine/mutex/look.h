/*
 * get, snapshot, nominated pods, peek, position, statistics, metrics: see look.c. Entries of the
 * engine's table.
 */
#ifndef SCHEDQ_MUTEX_LOOK_H
#define SCHEDQ_MUTEX_LOOK_H

#include "mutex/queue.h"

schedq_status_t mutex_get(schedq_worker_t *worker, schedq_pod_t pod, schedq_visit_fn visit,
                          void *ctx);
schedq_status_t mutex_snapshot(schedq_worker_t *worker, schedq_visit_fn visit, void *ctx);
schedq_status_t mutex_nominated_pods(schedq_worker_t *worker, uint64_t node, schedq_visit_fn visit,
                                     void *ctx);
schedq_status_t mutex_peek(schedq_worker_t *worker, schedq_visit_fn visit, void *ctx);
schedq_status_t mutex_peek_many(schedq_worker_t *worker, size_t count, schedq_visit_fn visit,
                                void *ctx);
schedq_status_t mutex_position(schedq_worker_t *worker, schedq_pod_t pod, uint64_t *lower,
                               uint64_t *upper);
void mutex_reasons(schedq_worker_t *worker, schedq_profile_t profile, schedq_reasons_t *reasons);
int64_t mutex_flushed(schedq_t *queue);
void mutex_stats(schedq_t *queue, schedq_stats_t *stats);
schedq_status_t mutex_metrics(schedq_t *queue, struct text *text);

#endif
