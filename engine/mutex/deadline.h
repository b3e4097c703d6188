/*
 * When time wants to be served next: what words.next_deadline_ns says, and what sleepers plan by.
 */
#ifndef SCHEDQ_MUTEX_DEADLINE_H
#define SCHEDQ_MUTEX_DEADLINE_H

#include "mutex/queue.h"

/** On the queue's clock; SCHEDQ_NO_DEADLINE: never. With the lock held. */
int64_t mutex_deadline_next(struct mutex_queue *queue);

#endif
