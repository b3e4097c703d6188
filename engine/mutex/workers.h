/*
 * The workers of a queue: handles that calls take, at most WORKERS_MAX of them.
 */
#ifndef SCHEDQ_MUTEX_WORKERS_H
#define SCHEDQ_MUTEX_WORKERS_H

#include "mutex/queue.h"

/** Makes `count` workers exist. With the lock held. */
bool mutex_workers_reserve(struct mutex_queue *queue, uint32_t count);
void mutex_workers_shut(struct mutex_queue *queue);

/* With the lock held. @retval SCHEDQ_OK, SCHEDQ_FULL, SCHEDQ_NOMEM */
schedq_status_t mutex_workers_add(struct mutex_queue *queue, schedq_worker_t **worker);
void mutex_workers_remove(struct mutex_queue *queue, schedq_worker_t *worker);

/* Entries of the engine's table. */
schedq_status_t mutex_worker_register(schedq_t *queue, schedq_worker_t **worker);
void mutex_worker_unregister(schedq_worker_t *worker);
/** Without the lock. */
schedq_worker_t *mutex_worker_at(schedq_t *queue, uint32_t number);
schedq_status_t mutex_worker_adopt(schedq_t *queue, schedq_worker_t *abandoned);

#endif
