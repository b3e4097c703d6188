/*
 * The pods that one node would lose: all of lower priority leave, then come back one by one while
 * the preemptor still fits.
 *
 * Pods whose eviction would violate a budget come back first, and within each group the most
 * important first; a pod that does not fit any more is a victim. Where nothing but room decides, a
 * node takes one pass over its pods, without lists.
 */
#include "preemption/evaluation.h"
#include "preemption/room.h"

#include <string.h>

/* ---- potential victims ----------------------------------------------------------------------- */

/* Of two pods on a list by priority: does `b` go before `a`, which stands before it? */
static bool
came_first(const schedq_cluster_t *cluster, const struct slot *slots, uint32_t a, uint32_t b)
{
    return slots[a].priority == slots[b].priority &&
           cluster->pods[slots[b].pod.index].sequence < cluster->pods[slots[a].pod.index].sequence;
}

/*
 * Pods of one priority in the order in which they came, for rules that look at nothing else: merges
 * runs of 1, 2, 4, ... by way of `spare`, which has room for all.
 */
static void
sort_by_arrival(const schedq_cluster_t *cluster, const struct slot *slots, uint32_t *list,
                uint32_t *spare, uint32_t count)
{
    uint32_t in_order = 1;

    while (in_order < count && !came_first(cluster, slots, list[in_order - 1], list[in_order])) {
        in_order++;
    }
    if (in_order >= count) {
        return; /* nearly always: who came first started first */
    }
    for (uint64_t run = 1; run < count; run *= 2) {
        for (uint64_t from = 0; from < count; from += 2 * run) {
            uint64_t left = from, middle = from + run < count ? from + run : count;
            uint64_t right = middle, end = middle + run < count ? middle + run : count;

            for (uint64_t to = from; to < end; to++) {
                bool take_right =
                    right < end &&
                    (left == middle || came_first(cluster, slots, list[left], list[right]));

                spare[to] = take_right ? list[right++] : list[left++];
            }
        }
        memcpy(list, spare, count * sizeof *list);
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
        sort_by_arrival(of->cluster, slots, list, lane->peaceful, count);
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

static void
reprieve(const schedq_preemption_t *of, struct lane *lane, const uint32_t *group, uint32_t count,
         uint32_t *away, schedq_candidate_node_t *candidate)
{
    const struct slot *slots = of->cluster->nodes[candidate->node].slots;

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

static const schedq_verdict_t no_potential = {.kind = SCHEDQ_VERDICT_UNRESOLVABLE,
                                              .reason = SCHEDQ_REASON_NO_VICTIMS};

/* What is left beside the preemptor. */
struct spare {
    int64_t pods, cpu, memory;
};

/* Without the pods below: from the columns that scan looks at. */
static struct spare
spare_of(const schedq_preemption_t *of, uint32_t node)
{
    const struct need *needs = of->needs;

    return (struct spare){needs[NEED_PODS].column[node] - needs[NEED_PODS].least,
                          needs[NEED_CPU].column[node] - needs[NEED_CPU].least,
                          needs[NEED_MEMORY].column[node] - needs[NEED_MEMORY].least};
}

/* What came back, and what did not: is it a candidate? */
static schedq_verdict_t
judge(const schedq_preemption_t *of, struct lane *lane, const schedq_candidate_node_t *candidate)
{
    if (candidate->victim_count == 0 && of->config.no_victims == SCHEDQ_NO_VICTIMS_ERROR) {
        return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_ERROR, .reason = SCHEDQ_REASON_FITS};
    }
    if (of->config.max_victims > 0 && candidate->victim_count > of->config.max_victims) {
        return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_UNSCHEDULABLE,
                                  .reason = SCHEDQ_REASON_MAX_VICTIMS};
    }
    lane_keep(lane, candidate->victim_count);
    return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_CANDIDATE};
}

/* Those that do not fit back; CANDIDATE: *candidate is set. */
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

    schedq_verdict_t verdict = judge(of, lane, candidate);

    if (verdict.kind == SCHEDQ_VERDICT_CANDIDATE && of->config.sorts_again != 0 &&
        candidate->violations > 0) {
        merge(of, lane, candidate);
    }
    return verdict;
}

/*
 * One pass over the pods of a node, where nothing but room decides, and which has the room without
 * them. They stand by importance, so the first victim has the highest priority, and started first.
 */
static schedq_verdict_t
victims_by_room(const schedq_preemption_t *of, struct lane *lane, const struct node *here,
                struct spare left, schedq_candidate_node_t *candidate)
{
    const struct slot *end = here->slots + here->slot_count;
    const struct slot *slot = end, *highest = end;
    bool potential = false;
    uint32_t count = 0;
    uint64_t sum = 0;

    while (slot > here->slots && slot[-1].priority < of->preemptor.priority) {
        slot--;
    }
    schedq_running_t *victims = lane_reserve(lane, (uint32_t)(end - slot));

    if (victims == NULL) {
        return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_ERROR};
    }
    for (; slot < end; slot++) {
        const struct spare then = {left.pods - 1, left.cpu - slot->cpu, left.memory - slot->memory};

        if ((slot->flags & SLOT_PROTECTED) != 0) {
            continue;
        }
        potential = true;
        if ((then.pods | then.cpu | then.memory) >= 0) {
            left = then;
            continue;
        }
        highest = count == 0 ? slot : highest;
        sum += (uint64_t)((int64_t)slot->priority - INT32_MIN);
        victims[count++] = slot->pod;
    }
    if (!potential && of->config.no_victims == SCHEDQ_NO_VICTIMS_ERROR) {
        return no_potential;
    }
    *candidate = (schedq_candidate_node_t){.node = (uint32_t)(here - of->cluster->nodes),
                                           .victims = victims,
                                           .victim_count = count,
                                           .priority_sum = sum};
    if (count > 0) {
        candidate->first_priority = candidate->highest_priority = highest->priority;
        candidate->earliest_start_ns = highest->start_ns;
    }
    return judge(of, lane, candidate);
}

schedq_verdict_t
victims_on(const schedq_preemption_t *of, struct lane *lane, uint32_t node,
           schedq_candidate_node_t *candidate)
{
    const struct node *here = &of->cluster->nodes[node];

    if (of->only_room && here->first_nomination == 0) {
        const struct spare left = spare_of(of, node);

        if ((left.pods | left.cpu | left.memory) >= 0) {
            return victims_by_room(of, lane, here, left, candidate);
        }
    }
    uint32_t first = first_below(of, here);

    if (!lane_lists(lane, here->slot_count - first)) {
        return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_ERROR};
    }
    uint32_t count = list_potential(of, lane, here, first);
    uint32_t away = 0;

    if (count == 0 && of->config.no_victims == SCHEDQ_NO_VICTIMS_ERROR) {
        return no_potential;
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
