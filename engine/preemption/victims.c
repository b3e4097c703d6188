/*
 * The pods that one node would lose: all of lower priority leave, then come back one by one while
 * the preemptor still fits.
 *
 * Pods whose eviction would violate a budget come back first, and within each group the most
 * important first; a pod that does not fit any more is a victim.
 */
#include "preemption/evaluation.h"
#include "preemption/room.h"

#include <string.h>

/* ---- potential victims ----------------------------------------------------------------------- */

/* Pods of one priority in the order in which they came, for rules that look at nothing else. */
static void
sort_by_arrival(const schedq_cluster_t *cluster, const struct slot *slots, uint32_t *list,
                uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t moving = list[i];
        uint64_t sequence = cluster->pods[slots[moving].pod.index].sequence;
        uint32_t at = i;

        while (at > 0 && slots[list[at - 1]].priority == slots[moving].priority &&
               cluster->pods[slots[list[at - 1]].pod.index].sequence > sequence) {
            list[at] = list[at - 1];
            at--;
        }
        list[at] = moving;
    }
}

/* The pods that the rules that depend on time do not spare. */
static uint32_t
drop_spared(const schedq_preemption_t *of, const struct slot *slots, uint32_t *list, uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++) {
        list[kept] = list[i];
        kept += !is_spared(of, &slots[list[i]]);
    }
    return kept;
}

/* Fills lane->potential with positions in the node's list, most important first. */
static uint32_t
list_potential(const schedq_preemption_t *of, struct lane *lane, const struct node *node,
               uint32_t first)
{
    const struct slot *slots = node->slots;
    uint32_t *list = lane->potential;
    uint32_t end = node->slot_count;
    uint32_t count = 0;

    for (uint32_t i = first; i < end; i++) {
        list[count] = i;
        count += (slots[i].flags & SLOT_PROTECTED) == 0;
    }
    if (of->spares) {
        count = drop_spared(of, slots, list, count);
    }
    if (of->config.victim_order == SCHEDQ_VICTIMS_BY_PRIORITY) {
        sort_by_arrival(of->cluster, slots, list, count);
    }
    return count;
}

/* ---- victims --------------------------------------------------------------------------------- */

static inline void
score_add(schedq_candidate_node_t *candidate, int32_t priority, int64_t start_ns)
{
    candidate->priority_sum += (uint64_t)((int64_t)priority - INT32_MIN);
    if (priority > candidate->highest_priority) {
        candidate->highest_priority = priority;
        candidate->earliest_start_ns = start_ns;
    } else if (priority == candidate->highest_priority && start_ns < candidate->earliest_start_ns) {
        candidate->earliest_start_ns = start_ns;
    }
}

static inline void
score_first(schedq_candidate_node_t *candidate, int32_t priority, int64_t start_ns)
{
    candidate->priority_sum = (uint64_t)((int64_t)priority - INT32_MIN);
    candidate->first_priority = priority;
    candidate->highest_priority = priority;
    candidate->earliest_start_ns = start_ns;
}

static inline void
add_victim(schedq_candidate_node_t *candidate, const struct slot *slot)
{
    if (candidate->victim_count == 0) {
        score_first(candidate, slot->priority, slot->start_ns);
    } else {
        score_add(candidate, slot->priority, slot->start_ns);
    }
    candidate->victims[candidate->victim_count++] = slot->pod;
}

void
score(const schedq_cluster_t *cluster, schedq_candidate_node_t *candidate)
{
    for (uint32_t i = 0; i < candidate->victim_count; i++) {
        const struct pod *pod = pod_of(cluster, candidate->victims[i]);

        if (i == 0) {
            score_first(candidate, pod->priority, pod->start_ns);
        } else {
            score_add(candidate, pod->priority, pod->start_ns);
        }
    }
}

/* ---- coming back ----------------------------------------------------------------------------- */

/* Pods that are away, for the filter; their order means nothing. */
static void
away_remove(struct lane *lane, uint32_t *count, schedq_running_t pod)
{
    uint32_t at = 0;

    while (lane->away[at].index != pod.index) {
        at++;
    }
    lane->away[at] = lane->away[--*count];
}

static bool
fits_again(const schedq_preemption_t *of, struct lane *lane, uint32_t node, const struct slot *slot,
           uint32_t *away)
{
    if (of->preemptor.filter == NULL) {
        return !room_is_short(of, lane);
    }
    away_remove(lane, away, slot->pod);
    if (fits(of, lane, node, *away).kind == SCHEDQ_VERDICT_CANDIDATE) {
        return true;
    }
    lane->away[(*away)++] = slot->pod;
    return false;
}

/*
 * The same for resources alone, and no extended ones: most decisions. The room stays in registers.
 */
static void
reprieve_by_room(struct lane *lane, const struct slot *slots, const uint32_t *group, uint32_t count,
                 schedq_candidate_node_t *candidate)
{
    int64_t pods = lane->room[NEED_PODS];
    int64_t cpu = lane->room[NEED_CPU];
    int64_t memory = lane->room[NEED_MEMORY];

    for (uint32_t i = 0; i < count; i++) {
        const struct slot *slot = &slots[group[i]];
        int64_t cpu_left = cpu - slot->cpu;
        int64_t memory_left = memory - slot->memory;

        if (((pods - 1) | cpu_left | memory_left) < 0) {
            add_victim(candidate, slot);
            continue;
        }
        pods--;
        cpu = cpu_left;
        memory = memory_left;
    }
    lane->room[NEED_PODS] = pods;
    lane->room[NEED_CPU] = cpu;
    lane->room[NEED_MEMORY] = memory;
}

static void
reprieve(const schedq_preemption_t *of, struct lane *lane, const uint32_t *group, uint32_t count,
         uint32_t *away, schedq_candidate_node_t *candidate)
{
    const struct slot *slots = of->cluster->nodes[candidate->node].slots;

    if (of->preemptor.filter == NULL && of->need_count == NEED_EXTENDED) {
        reprieve_by_room(lane, slots, group, count, candidate);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct slot *slot = &slots[group[i]];

        room_change(of, lane, slot, -1);
        if (!fits_again(of, lane, candidate->node, slot, away)) {
            room_change(of, lane, slot, 1);
            add_victim(candidate, slot);
        }
    }
}

/* ---- order ----------------------------------------------------------------------------------- */

static bool
is_more_important(const schedq_preemption_t *of, schedq_running_t a, schedq_running_t b)
{
    const struct pod *left = pod_of(of->cluster, a);
    const struct pod *right = pod_of(of->cluster, b);

    if (left->priority != right->priority) {
        return left->priority > right->priority;
    }
    return of->config.victim_order == SCHEDQ_VICTIMS_BY_IMPORTANCE &&
           left->start_ns < right->start_ns;
}

/* Both groups are in order; of equal ones those that violate a budget stay in front. */
static void
merge(const schedq_preemption_t *of, struct lane *lane, schedq_candidate_node_t *candidate)
{
    schedq_running_t *violating = lane->away;
    schedq_running_t *to = candidate->victims;
    uint32_t left = 0;
    uint32_t right = candidate->violations;

    memcpy(violating, to, candidate->violations * sizeof *to);
    while (left < candidate->violations) {
        bool take_right = right < candidate->victim_count &&
                          is_more_important(of, candidate->victims[right], violating[left]);

        *to++ = take_right ? candidate->victims[right++] : violating[left++];
    }
    score(of->cluster, candidate);
}

/* ---- the node -------------------------------------------------------------------------------- */

/* Whoever does not fit back; CANDIDATE: *candidate is set. */
static schedq_verdict_t
select_victims(const schedq_preemption_t *of, struct lane *lane, uint32_t node, uint32_t count,
               uint32_t away, schedq_candidate_node_t *candidate)
{
    bool budgets = of->cluster->budget_count > 0;
    uint32_t violating = budgets ? split_by_budgets(of, lane, &of->cluster->nodes[node], count) : 0;
    const uint32_t *peaceful = budgets ? lane->peaceful : lane->potential;

    *candidate = (schedq_candidate_node_t){.node = node, .victims = lane_reserve(lane, count)};
    if (candidate->victims == NULL) {
        return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_ERROR};
    }
    if (violating > 0) {
        reprieve(of, lane, lane->violating, violating, &away, candidate);
        candidate->violations = candidate->victim_count;
    }
    reprieve(of, lane, peaceful, count - violating, &away, candidate);
    if (candidate->victim_count == 0 && of->config.no_victims == SCHEDQ_NO_VICTIMS_ERROR) {
        return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_ERROR, .reason = SCHEDQ_REASON_FITS};
    }
    if (of->config.max_victims > 0 && candidate->victim_count > of->config.max_victims) {
        return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_UNSCHEDULABLE,
                                  .reason = SCHEDQ_REASON_MAX_VICTIMS};
    }
    if (of->config.sorts_again != 0 && candidate->violations > 0) {
        merge(of, lane, candidate);
    }
    lane_keep(lane, candidate->victim_count);
    return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_CANDIDATE};
}

schedq_verdict_t
victims_on(const schedq_preemption_t *of, struct lane *lane, uint32_t node,
           schedq_candidate_node_t *candidate)
{
    const struct node *here = &of->cluster->nodes[node];
    uint32_t first = first_below(of, here);
    const schedq_verdict_t stopped = {.kind = SCHEDQ_VERDICT_ERROR};

    if (!lane_lists(lane, here->slot_count - first)) {
        return stopped;
    }
    uint32_t count = list_potential(of, lane, here, first);
    uint32_t away = 0;

    if (count == 0 && of->config.no_victims == SCHEDQ_NO_VICTIMS_ERROR) {
        return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_UNRESOLVABLE,
                                  .reason = SCHEDQ_REASON_NO_VICTIMS};
    }
    for (; of->preemptor.filter != NULL && away < count; away++) {
        lane->away[away] = here->slots[lane->potential[away]].pod;
    }
    room_without(of, lane, node, count);

    schedq_verdict_t verdict = fits(of, lane, node, away);

    if (verdict.kind != SCHEDQ_VERDICT_CANDIDATE) {
        return verdict;
    }
    return select_victims(of, lane, node, count, away, candidate);
}
