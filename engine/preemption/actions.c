/* What is to be done for the chosen node: pods to delete, nominations to clear. */
#include "preemption/evaluation.h"

static bool
list_deletes(schedq_preemption_t *of, const schedq_candidate_node_t *chosen, uint32_t *count)
{
    if (!array_reserve(&of->memory, &of->deletes, &of->delete_capacity, chosen->victim_count,
                       sizeof *of->deletes)) {
        return false;
    }
    *count = 0;
    for (uint32_t i = 0; i < chosen->victim_count; i++) {
        if ((pod_of(of->cluster, chosen->victims[i])->flags & SLOT_TERMINATING) == 0) {
            of->deletes[(*count)++] = chosen->victims[i];
        }
    }
    return true;
}

static bool
list_clears(schedq_preemption_t *of, uint32_t node, uint32_t *count)
{
    const schedq_cluster_t *cluster = of->cluster;

    *count = 0;
    for (uint32_t at = cluster->nodes[node].first_nomination; at != 0;
         at = cluster->nominations[at - 1].after) {
        const struct nomination *nomination = &cluster->nominations[at - 1];

        if (nomination->priority >= of->preemptor.priority) {
            continue;
        }
        if (!array_reserve(&of->memory, &of->clears, &of->clear_capacity, *count + 1,
                           sizeof *of->clears)) {
            return false;
        }
        of->clears[(*count)++] = (schedq_lower_nomination_t){.object = nomination->object,
                                                             .generation = nomination->generation};
    }
    return true;
}

/* The asynchronous form stops before the nominations if no pod is left to be deleted. */
bool
plan_actions(schedq_preemption_t *of, const schedq_candidate_node_t *chosen,
             schedq_preemption_decision_t *decision)
{
    bool asynchronous = of->config.asynchronous != 0;

    if (!list_deletes(of, chosen, &decision->delete_count) ||
        !list_clears(of, chosen->node, &decision->clear_count)) {
        return false;
    }
    if (asynchronous && decision->delete_count == 0) {
        decision->clear_count = 0;
    }
    decision->holds = asynchronous && decision->delete_count > 0;
    decision->deletes = of->deletes;
    decision->clears = of->clears;
    return true;
}
