/*
 * What time demands: see time.c.
 */
#ifndef SCHEDQ_MUTEX_TIME_H
#define SCHEDQ_MUTEX_TIME_H

#include "mutex/queue.h"

/** What a pop moves before it looks for its pod, and the timer thread before it lets others in. */
#define TIME_SLICE 256
#define TIME_ALL UINT32_MAX

/**
 * Serves what is due at `now`, `slice` pods at most, with the lock held. Returns true if it did
 * anything.
 */
bool mutex_time_serve(struct mutex_queue *queue, int64_t now, uint32_t slice,
                      schedq_result_t *result);

#endif
