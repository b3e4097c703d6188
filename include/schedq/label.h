/** @file
 * schedq/label: pods that belong together: a label, and calls on all pods that have it.
 *
 * A label is a number of the caller's, not 0, that many pods may share: a job, a queue, a user. A
 * pod gets it when it is added (schedq_pod_spec_t.label; readd too) and keeps it until it ends; the
 * spec of an update, or of a failure, does not change it. Pods without a label pay nothing.
 *
 * WHICH PODS A CALL REACHES. Every pod of the label whose add returned before the call began, and
 * that has not ended when the call comes to it: wherever it is, in flight too. A pod whose add
 * overlaps the call may be reached or not: so end what adds such pods first. The call is no
 * snapshot: it comes to one pod after the other, and what other calls do meanwhile happens in
 * between. Each pod is cancelled, held or released as by the call for one pod, at one moment.
 *
 * COST. O(m log m) for m pods of the label, and O(n / 65536) for n pods that have any label,
 * however many pods are in the queue. What the queue notes for a label is freed when its pods end.
 * LOCKFREE: later, by adds of other labelled pods, by label calls and by schedq_trim.
 */
#ifndef SCHEDQ_LABEL_H
#define SCHEDQ_LABEL_H

#include <schedq/pod.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Deletes the pods of a label, each as schedq_delete does: one in flight loses its name at once,
 * and its holder gets GONE. Pods that are held or kept back are deleted first, so that the end of
 * another pod of their class does not let them go.
 *
 * @param label   not 0
 * @param results receives a result for each, as from schedq_delete, in no order; NULL: none
 * @param room    of `results`: deletes at most so many; call again while *count is `room`. Each
 *                call reads all pods of the label. With results NULL: 0, and all are deleted
 * @param count   how many this call deleted; may be NULL
 * @retval SCHEDQ_OK       also if there was none
 * @retval SCHEDQ_NOMEM    nothing changed, *count is 0; the call may be made again
 * @retval SCHEDQ_INVALID  label 0; results NULL and room not 0, or the other way round; *count is 0
 * @retval SCHEDQ_BUSY     *count is 0
 *
 * Threads: [worker]  Progress: locks, once for each pod; COST; allocates.
 */
SCHEDQ_API schedq_status_t schedq_label_cancel(schedq_worker_t *worker, uint64_t label,
                                               schedq_result_t *results, size_t room,
                                               size_t *count);

/**
 * Holds the pods of a label, each as schedq_hold does. It begins with those that are held or kept
 * back already. Pods that are added later are not held.
 *
 * @param label not 0
 * @param count how many are held now, or will be when their cycle fails; may be NULL
 * @retval SCHEDQ_OK       also if there was none
 * @retval SCHEDQ_NOMEM    those that *count counts are held; call again
 * @retval SCHEDQ_INVALID  label 0; *count is 0
 * @retval SCHEDQ_BUSY     *count is 0
 *
 * Threads: [worker]  Progress: locks, once for each pod; COST; allocates.
 */
SCHEDQ_API schedq_status_t schedq_label_hold(schedq_worker_t *worker, uint64_t label,
                                             size_t *count);

/**
 * Releases the pods of a label, each as schedq_release does.
 *
 * @param label not 0
 * @param count how many the call left without a mark, also those that had none; may be NULL
 * @retval SCHEDQ_OK       also if there was none
 * @retval SCHEDQ_NOMEM    those that *count counts are released; call again
 * @retval SCHEDQ_INVALID  label 0; *count is 0
 * @retval SCHEDQ_BUSY     *count is 0
 *
 * Threads: [worker]  Progress: locks, once for each pod; COST; allocates.
 */
SCHEDQ_API schedq_status_t schedq_label_release(schedq_worker_t *worker, uint64_t label,
                                                size_t *count);

/**
 * Counts the pods of a label, those in flight too, without those that were deleted there.
 *
 * @param label not 0
 * @param count at least the pods that WHICH PODS names; at most all that had the label during the
 *              call, and those whose add was under way
 * @retval SCHEDQ_OK       also if there is none
 * @retval SCHEDQ_NOMEM    *count is 0
 * @retval SCHEDQ_INVALID  label 0, or count is NULL; *count is 0
 * @retval SCHEDQ_BUSY     *count is 0
 *
 * Threads: [worker]  Progress: locks; COST; allocates.
 */
SCHEDQ_API schedq_status_t schedq_label_count(schedq_worker_t *worker, uint64_t label,
                                              size_t *count);

#ifdef __cplusplus
}
#endif

#endif
