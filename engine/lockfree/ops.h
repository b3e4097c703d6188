/*
 * The operations of the lock-free engine that its table names, by file.
 */
#ifndef SCHEDQ_LOCKFREE_OPS_H
#define SCHEDQ_LOCKFREE_OPS_H

#include "lockfree/queue.h"

/* add.c, and batch.c behind it */
schedq_status_t lockfree_add_many(schedq_worker_t *worker, const struct add_batch *batch, schedq_result_t *result);

/* pop.c */
schedq_status_t lockfree_pop(schedq_worker_t *worker, enum pop_mode mode, int64_t deadline, schedq_popped_t *out,
                             size_t capacity, size_t *count);
void lockfree_tick(schedq_worker_t *worker, int64_t *next, schedq_result_t *result);
void lockfree_close(schedq_t *queue);

/* finish.c */
schedq_status_t lockfree_done_many(schedq_worker_t *worker, const schedq_token_t *tokens, size_t count,
                                   uint8_t *statuses);
schedq_status_t lockfree_token_alive(schedq_worker_t *worker, schedq_token_t token);

/* pods.c */
schedq_status_t lockfree_find(schedq_worker_t *worker, const char *name, uint32_t length, schedq_result_t *result);
schedq_status_t lockfree_update(schedq_worker_t *worker, const char *names, const schedq_pod_spec_t *spec,
                                uint64_t old_object, const schedq_event_t *events, size_t count,
                                schedq_result_t *result);
schedq_status_t lockfree_delete(schedq_worker_t *worker, const struct pod_key *key, schedq_result_t *result);
schedq_status_t lockfree_get(schedq_worker_t *worker, schedq_pod_t pod, schedq_visit_fn visit, void *ctx);

/* workers.c */
schedq_status_t lockfree_worker_register(schedq_t *queue, schedq_worker_t **worker);
void lockfree_worker_unregister(schedq_worker_t *worker);
schedq_status_t lockfree_worker_adopt(schedq_t *queue, schedq_worker_t *abandoned);

#endif
