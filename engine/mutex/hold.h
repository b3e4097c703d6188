/*
 * hold, release, not_before: see hold.c. Entries of the engine's table.
 */
#ifndef SCHEDQ_MUTEX_HOLD_H
#define SCHEDQ_MUTEX_HOLD_H

#include "mutex/queue.h"

/** Takes a held pod out, before what keeps it back changes. */
void mutex_hold_take_out(struct mutex_queue *queue, uint32_t index);

/** After that, for a pod that is not in flight: holds it, or lets it go if it was taken out. */
void mutex_hold_settle(struct mutex_queue *queue, uint32_t index, bool lifted,
                       schedq_result_t *result);

schedq_status_t mutex_hold(schedq_worker_t *worker, schedq_pod_t pod, bool holds,
                           schedq_result_t *result);
schedq_status_t mutex_not_before(schedq_worker_t *worker, schedq_pod_t pod, int64_t time,
                                 schedq_result_t *result);

#endif
