/*
 * Whom one node would lose: everybody of lower priority leaves, then they come back one by one while the preemptor still fits.
 *
 * Those whose eviction would violate a budget come back first, and within each group the most important first; whoever does
 * not fit any more is a victim.
 */
#include "preemption/evaluation.h"
#include "preemption/room.h"

/* ---- potential victims ----------------------------------------------------------------------------------------------- */

/* Pods of one priority in the order in which they came, for those who look at nothing else. */
static void
sort_by_arrival(const schedq_cluster_t *cluster, const struct slot *slots, uint32_t *list, uint32_t count)
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

/* Fills lane->potential with positions in the node's list, most important first. */
static uint32_t
list_potential(const schedq_preemption_t *of, struct lane *lane, const struct node *node, uint32_t first)
{
    uint32_t count = 0;

    for (uint32_t i = first; i < node->slot_count; i++) {
        const struct slot *slot = &node->slots[i];
        bool stays = (slot->flags & SLOT_PROTECTED) != 0 || (of->spares && is_spared(of, slot));

        lane->potential[count] = i;
        count += !stays;
    }
    if (of->config.victim_order == SCHEDQ_VICTIMS_BY_PRIORITY) {
        sort_by_arrival(of->cluster, node->slots, lane->potential, count);
    }
    return count;
}

/* ---- who comes back -------------------------------------------------------------------------------------------------- */

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
fits_again(const schedq_preemption_t *of, struct lane *lane, uint32_t node, const struct slot *slot, uint32_t *away)
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

/* The same for resources alone, and no extended ones: most decisions. The room stays in registers. */
static uint32_t
reprieve_by_room(struct lane *lane, const struct slot *slots, const uint32_t *group, uint32_t count, uint32_t victims)
{
    int64_t pods = lane->room[NEED_PODS];
    int64_t cpu = lane->room[NEED_CPU];
    int64_t memory = lane->room[NEED_MEMORY];

    for (uint32_t i = 0; i < count; i++) {
        const struct slot *slot = &slots[group[i]];

        if (((pods - 1) | (cpu - slot->cpu) | (memory - slot->memory)) < 0) {
            lane->victims[victims++] = group[i];
            continue;
        }
        pods--;
        cpu -= slot->cpu;
        memory -= slot->memory;
    }
    lane->room[NEED_PODS] = pods;
    lane->room[NEED_CPU] = cpu;
    lane->room[NEED_MEMORY] = memory;
    return victims;
}

/* Appends to lane->victims; returns their number. */
static uint32_t
reprieve(const schedq_preemption_t *of, struct lane *lane, uint32_t node, const uint32_t *group, uint32_t count,
         uint32_t victims, uint32_t *away)
{
    const struct slot *slots = of->cluster->nodes[node].slots;

    if (of->preemptor.filter == NULL && of->need_count == NEED_EXTENDED) {
        return reprieve_by_room(lane, slots, group, count, victims);
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct slot *slot = &slots[group[i]];

        room_change(of, lane, slot, -1);
        if (!fits_again(of, lane, node, slot, away)) {
            room_change(of, lane, slot, 1);
            lane->victims[victims++] = group[i];
        }
    }
    return victims;
}

/* ---- order and score ------------------------------------------------------------------------------------------------- */

static bool
is_more_important(const schedq_preemption_t *of, const struct slot *a, const struct slot *b)
{
    if (a->priority != b->priority) {
        return a->priority > b->priority;
    }
    return of->config.victim_order == SCHEDQ_VICTIMS_BY_IMPORTANCE && a->start_ns < b->start_ns;
}

/* Both groups are in order; of equal ones those that violate a budget stay in front. */
static const uint32_t *
merge(const schedq_preemption_t *of, struct lane *lane, const struct slot *slots, uint32_t violating, uint32_t count)
{
    uint32_t left = 0;
    uint32_t right = violating;

    for (uint32_t i = 0; i < count; i++) {
        bool take_right = left == violating || (right < count && is_more_important(of, &slots[lane->victims[right]],
                                                                                   &slots[lane->victims[left]]));

        lane->merged[i] = lane->victims[take_right ? right++ : left++];
    }
    return lane->merged;
}

static void
score_begin(schedq_candidate_node_t *candidate, int32_t priority, int64_t start_ns)
{
    candidate->first_priority = priority;
    candidate->highest_priority = priority;
    candidate->earliest_start_ns = start_ns;
}

static void
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

void
score(const schedq_cluster_t *cluster, schedq_candidate_node_t *candidate)
{
    candidate->priority_sum = 0;
    for (uint32_t i = 0; i < candidate->victim_count; i++) {
        const struct pod *pod = pod_of(cluster, candidate->victims[i]);

        if (i == 0) {
            score_begin(candidate, pod->priority, pod->start_ns);
        }
        score_add(candidate, pod->priority, pod->start_ns);
    }
}

/* False: no memory. */
static bool
describe(struct lane *lane, const struct slot *slots, const uint32_t *order, uint32_t count,
         schedq_candidate_node_t *candidate)
{
    candidate->victims = lane_reserve(lane, count);
    if (candidate->victims == NULL) {
        return false;
    }
    candidate->victim_count = count;
    for (uint32_t i = 0; i < count; i++) {
        const struct slot *slot = &slots[order[i]];

        candidate->victims[i] = slot->pod;
        if (i == 0) {
            score_begin(candidate, slot->priority, slot->start_ns);
        }
        score_add(candidate, slot->priority, slot->start_ns);
    }
    lane_keep(lane, count);
    return true;
}

/* ---- the node -------------------------------------------------------------------------------------------------------- */

/* Whoever does not fit back; CANDIDATE: *candidate is set. */
static schedq_verdict_t
select_victims(const schedq_preemption_t *of, struct lane *lane, uint32_t node, uint32_t count, uint32_t away,
               schedq_candidate_node_t *candidate)
{
    const struct slot *slots = of->cluster->nodes[node].slots;
    bool budgets = of->cluster->budget_count > 0;
    uint32_t violating = budgets ? split_by_budgets(of, lane, &of->cluster->nodes[node], count) : 0;
    const uint32_t *peaceful = budgets ? lane->peaceful : lane->potential;
    uint32_t violations = reprieve(of, lane, node, lane->violating, violating, 0, &away);
    uint32_t victims = reprieve(of, lane, node, peaceful, count - violating, violations, &away);
    const uint32_t *order = lane->victims;

    if (victims == 0 && of->config.no_victims == SCHEDQ_NO_VICTIMS_ERROR) {
        return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_ERROR, .reason = SCHEDQ_REASON_FITS};
    }
    if (of->config.max_victims > 0 && victims > of->config.max_victims) {
        return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_UNSCHEDULABLE, .reason = SCHEDQ_REASON_MAX_VICTIMS};
    }
    if (of->config.sorts_again != 0 && violating > 0 && violating < count) {
        order = merge(of, lane, slots, violations, victims);
    }
    *candidate = (schedq_candidate_node_t){.node = node, .violations = violations};
    (void)describe(lane, slots, order, victims, candidate);
    return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_CANDIDATE};
}

schedq_verdict_t
victims_on(const schedq_preemption_t *of, struct lane *lane, uint32_t node, schedq_candidate_node_t *candidate)
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
        return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_UNRESOLVABLE, .reason = SCHEDQ_REASON_NO_VICTIMS};
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
