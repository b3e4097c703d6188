/*
 * From a name to its pod.
 *
 * LINEARIZATION. Found: report_unchanged:A, or pay:A. Not found: index_look:C. ORDERING. index.c,
 * report.h, settle.h.
 *
 * PROGRESS. Lock-free: a pod that ends between the look at the index and the look at its record is
 * looked for again, because another may have its name; each further round means that a pod ended,
 * or changed.
 *
 * EVIDENCE. tests/model: index; stress/explore: find_told, event_gate_told, told_update;
 * tests/unit/test_update.c, test_delete.c.
 */
#include "lockfree/calls/ops.h"
#include "lockfree/moves/report.h"
#include "lockfree/moves/settle.h"

schedq_status_t
lockfree_find(schedq_worker_t *base, const struct hashed_name *name, schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    const struct index_caller caller = index_caller(worker);
    struct view view;
    uint32_t record;
    uint64_t life;

    section_begin(worker);
    /* Ends: each further round means that the pod changed, or ended. */
    do {
        record = index_find(&queue->index, &caller, name, &life);
    } while (record != 0 &&
             !(report_view(queue, record, life, &view) && settle_told(worker, record, &view)));
    if (record != 0) {
        report_pod(queue, record, &view, result);
    }
    section_ask(worker);
    section_leave(worker);
    return record != 0 ? SCHEDQ_OK : SCHEDQ_NOT_FOUND;
}
