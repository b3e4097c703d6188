/*
 * add, find, update, delete, activate, nominate: see pods.c. Entries of the engine's table.
 */
#ifndef SCHEDQ_MUTEX_PODS_H
#define SCHEDQ_MUTEX_PODS_H

#include "mutex/queue.h"

schedq_status_t mutex_add(schedq_worker_t *worker, const struct hashed_name *name,
                          const schedq_pod_spec_t *spec, schedq_result_t *result);
schedq_status_t mutex_add_many(schedq_worker_t *worker, const struct add_batch *batch,
                               schedq_result_t *result);
schedq_status_t mutex_find(schedq_worker_t *worker, const struct hashed_name *name,
                           schedq_result_t *result);
schedq_status_t mutex_update(schedq_worker_t *worker, const struct hashed_name *name,
                             const schedq_pod_spec_t *spec, uint64_t old_object,
                             const schedq_event_t *events, size_t count, schedq_result_t *result);
schedq_status_t mutex_delete(schedq_worker_t *worker, const struct pod_key *key,
                             schedq_result_t *result);
schedq_status_t mutex_activate(schedq_worker_t *worker, const schedq_pod_t *pods, size_t count,
                               schedq_result_t *result);
/** A pod, or a record, that waits, or is in flight. */
struct route;
void mutex_activate_one(const struct route *route, uint32_t index);

schedq_status_t mutex_nominate(schedq_worker_t *worker, schedq_pod_t pod, uint64_t node);

#endif
