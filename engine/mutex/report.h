/*
 * What a call tells about a pod.
 */
#ifndef SCHEDQ_MUTEX_REPORT_H
#define SCHEDQ_MUTEX_REPORT_H

#include "mutex/queue.h"

/** Fills in the pod's part of a result: handle, object, ref, sets, Timestamp, place, gate. */
void mutex_report_pod(const struct mutex_queue *queue, uint32_t index, schedq_result_t *result);

/** The same without the sets: the caller told them as they were before it changed them. */
void mutex_report_moved(const struct mutex_queue *queue, uint32_t index, schedq_result_t *result);

/** What a visitor sees; the name is the pod's own memory. */
void mutex_report_info(const struct mutex_queue *queue, uint32_t index, schedq_pod_info_t *info);

void mutex_report_candidate(const struct mutex_queue *queue, uint32_t index, int64_t now,
                            schedq_candidate_t *candidate);

#endif
