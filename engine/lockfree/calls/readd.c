/*
 * readd: a pod comes back after its done, with its history and the reason of its failure. It enters
 * as a new pod does (add.c); where it goes is decided as for a failure.
 *
 * LINEARIZATION, ORDERING, PROGRESS: add.c. EVIDENCE. tests/unit/test_readd.c.
 */
#include "lockfree/calls/add.h"
#include "lockfree/calls/ops.h"
#include "lockfree/moves/gather_join.h"
#include "plugins/verdict.h"

schedq_status_t
lockfree_readd(schedq_worker_t *base, const struct hashed_name *name, const schedq_pod_spec_t *spec,
               const schedq_history_t *history, const schedq_failure_t *failure,
               schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    const struct incoming_pod pod = {
        .spec = spec, .history = history, .failure = failure, .label = LABEL_FAILURE};
    schedq_status_t status = verdict_check_failure(&queue->base.registry, spec->profile, failure,
                                                   base->words, sizeof base->words);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (((failure->unschedulable | failure->pending) & SCHEDQ_REJECTOR_OTHERS) != 0) {
        (void)u32_exchange(&queue->others_used, 1); /* as count_failure:A */
    }
    section_begin(worker);
    status = add_again(worker, name, &pod, result);
    if (status == SCHEDQ_OK) {
        result->added = 1;
        result->unschedulable =
            failure->unschedulable | gate_bit(result->place == SCHEDQ_GATED ? result->gate : 0);
        result->pending = failure->pending;
        if (result->place == SCHEDQ_ASIDE) {
            gather_tell_joined(worker, result->pod, result);
        }
    }
    section_end(worker);
    return status;
}
