/*
 * Waiting for a pod, tick, and the timer thread: see sleep.c. Entries of the engine's table.
 */
#ifndef SCHEDQ_MUTEX_SLEEP_H
#define SCHEDQ_MUTEX_SLEEP_H

#include "mutex/queue.h"

bool sleep_open(struct mutex_queue *queue);
void sleep_shut(struct mutex_queue *queue);

/** A worker's thread is dead, perhaps in its sleep: it waits no more. With the lock. */
void sleep_ended(struct mutex_queue *queue, const schedq_worker_t *dead);

schedq_status_t mutex_pop(schedq_worker_t *worker, schedq_popped_t *out, size_t capacity,
                          size_t *count);
schedq_status_t mutex_pop_waiting(schedq_worker_t *worker, int64_t deadline, schedq_popped_t *out,
                                  size_t capacity, size_t *count);
schedq_status_t mutex_pop_group(schedq_worker_t *worker, bool waits, int64_t deadline,
                                schedq_popped_group_t *group, schedq_popped_t *members, size_t room,
                                size_t *count);
void mutex_wait_cancel(schedq_worker_t *worker);
void mutex_tell_host(schedq_t *queue);
schedq_status_t mutex_tick(schedq_worker_t *worker, int64_t *next, schedq_result_t *result);
schedq_status_t mutex_run(schedq_t *queue);
void mutex_stop(schedq_t *queue);
void mutex_close(schedq_t *queue);

#endif
