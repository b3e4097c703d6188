/*
 * What time demands: see time.c.
 */
#ifndef SCHEDQ_MUTEX_TIME_H
#define SCHEDQ_MUTEX_TIME_H

#include "mutex/queue.h"

/**
 * Serves everything that is due at `now`, with the lock held. Returns true if it moved any pod.
 *
 * @param asked a caller's own tick; otherwise the queue's, which does not repeat in vain (kube presets)
 */
bool mutex_time_serve(struct mutex_queue *queue, int64_t now, bool asked, schedq_result_t *result);

#endif
