/*
 * nominate: a pod's description gets another node.
 *
 * LINEARIZATION. entry_describe:A. NOT_FOUND: the look at the word. ORDERING: describe.h,
 * nominator.h.
 *
 * PROGRESS. Lock-free: each further round is another thread's change of the pod.
 *
 * EVIDENCE. stress/explore: nominate_update; tests/unit/test_nominate.c.
 */
#include "lockfree/calls/ops.h"
#include "lockfree/moves/describe.h"

schedq_status_t
lockfree_nominate(schedq_worker_t *base, schedq_pod_t pod, uint64_t node)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    schedq_status_t status;
    struct view view;

    section_begin(worker);
    /* Ends: each further round is another thread's change of the pod. */
    do {
        status = report_handle(queue, pod, &view)
                     ? describe_nomination(worker, ref_record(pod.bits), &view, node)
                     : SCHEDQ_NOT_FOUND;
    } while (status == SCHEDQ_RETRY);
    section_end(worker);
    return status;
}
