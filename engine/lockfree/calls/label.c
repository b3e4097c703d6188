/*
 * All pods of a label. Where they are found: nominator.h, LABELS.
 *
 * LINEARIZATION. Of a pod that is found: the load of its description in the reading. What is done
 * to it is a call of its own.
 *
 * ORDERING
 *   nominator_insert:A, the commit that makes the pod exist (add.c) -> bucket_load:A to C
 *       who begins after the add returned finds the pod, as long as it lives
 *
 * PROGRESS. Lock-free: a reading that begins again means that another thread added a pod whose
 * label is in the same bucket, or dropped hints there. Nothing is held between two pods.
 *
 * EVIDENCE. tests/model: nominator; tests/unit/test_label.c.
 */
#include "lockfree/calls/hinted.h"
#include "lockfree/calls/ops.h"

schedq_status_t
lockfree_labelled(schedq_worker_t *base, uint64_t label, label_fn *each, void *ctx)
{
    struct worker *worker = worker_of(base);
    struct hinted found;
    schedq_status_t status = SCHEDQ_OK;

    if (!hinted_read(worker, &queue_of(worker)->labels, label, &found)) {
        return SCHEDQ_NOMEM;
    }
    for (size_t i = 0; status == SCHEDQ_OK && i < found.count; i++) {
        status = each(ctx, entry_handle(found.pods[i].record, found.pods[i].life));
    }
    hinted_free(worker, &found);
    return status;
}
