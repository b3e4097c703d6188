/* Whether a pod may preempt at all, and which pods it may preempt. */
#include "preemption/evaluation.h"

/* True if `from` is less than `span` before now; not started counts as just started. */
static bool
is_recent(const schedq_preemption_t *of, int64_t from, int64_t span)
{
    return span > 0 && (from == SCHEDQ_NO_START || from > of->preemptor.now_ns - span);
}

/* A pod that terminates is on its way out already: sparing it changes nothing. */
bool
is_spared(const schedq_preemption_t *of, const struct slot *slot)
{
    if ((slot->flags & SLOT_TERMINATING) != 0) {
        return false;
    }
    if (is_recent(of, slot->start_ns, of->config.min_run_ns)) {
        return true;
    }
    if (of->config.evict_again_ns == 0 || (slot->flags & SLOT_WORKLOAD) == 0) {
        return false;
    }
    const uint64_t *evicted =
        map_find(&of->cluster->evictions, of->cluster->pods[slot->pod.index].workload);

    return evicted != NULL && is_recent(of, (int64_t)*evicted, of->config.evict_again_ns);
}

/* Halves without a branch on the pods: which way it goes is a guess. */
uint32_t
first_below(const schedq_preemption_t *of, const struct node *node)
{
    const struct slot *at = node->slots;
    uint32_t count = node->slot_count;

    while (count > 0) {
        uint32_t half = count / 2;
        bool above = at[half].priority >= of->preemptor.priority;

        at += above ? half + 1 : 0;
        count = above ? count - half - 1 : half;
    }
    return (uint32_t)(at - node->slots);
}

static bool
blocks(const schedq_preemption_t *of, const struct slot *slot)
{
    if ((slot->flags & SLOT_TERMINATING) == 0) {
        return false;
    }
    if (of->config.terminating_rule == SCHEDQ_BLOCKED_BY_ANY) {
        return true;
    }
    return (slot->flags & SLOT_PROTECTED) == 0 && (slot->flags & SLOT_BY_SCHEDULER) != 0;
}

schedq_eligibility_t
eligibility(const schedq_preemption_t *of)
{
    const schedq_preemptor_t *preemptor = &of->preemptor;

    if (of->config.heeds_never != 0 && preemptor->never != 0) {
        return SCHEDQ_INELIGIBLE_NEVER;
    }
    if (preemptor->nominated_node == SCHEDQ_NO_NODE) {
        return SCHEDQ_ELIGIBLE;
    }
    if (of->config.terminating_rule == SCHEDQ_BLOCKED_BY_TARGET && preemptor->statuses != NULL &&
        preemptor->statuses[preemptor->nominated_node] == SCHEDQ_NODE_UNRESOLVABLE) {
        return SCHEDQ_ELIGIBLE;
    }
    const struct node *node = &of->cluster->nodes[preemptor->nominated_node];

    for (uint32_t i = first_below(of, node); i < node->slot_count; i++) {
        if (blocks(of, &node->slots[i])) {
            return SCHEDQ_INELIGIBLE_TERMINATING;
        }
    }
    return SCHEDQ_ELIGIBLE;
}
