/*
 * Would the preemptor fit a node from which some pods are away?
 *
 * Only what the preemptor asks for is looked at: a node may be overcommitted in anything else.
 * Nominated pods of at least its priority count as if they ran there. A filter is asked with them
 * and without them, as kube-scheduler does; for resources the second question follows from the
 * first.
 */
#include "preemption/evaluation.h"
#include "preemption/room.h"

/* ---- nominated pods -------------------------------------------------------------------------- */

bool
nomination_counts(const schedq_preemption_t *of, const struct nomination *nomination)
{
    return nomination != of->own && nomination->priority >= of->preemptor.priority &&
           (of->config.nomination_lease_ns == 0 || nomination->expires_ns == SCHEDQ_NO_DEADLINE ||
            nomination->expires_ns > of->preemptor.now_ns);
}

static const struct nomination *
next_nomination(const schedq_cluster_t *cluster, uint32_t number)
{
    return number == 0 ? NULL : &cluster->nominations[number - 1];
}

static void
take_nominated(const schedq_preemption_t *of, struct lane *lane, uint32_t node)
{
    const struct nomination *at =
        next_nomination(of->cluster, of->cluster->nodes[node].first_nomination);

    for (; at != NULL; at = next_nomination(of->cluster, at->after)) {
        if (!nomination_counts(of, at)) {
            continue;
        }
        lane->room[NEED_PODS]--;
        lane->room[NEED_CPU] -= at->requests.cpu;
        lane->room[NEED_MEMORY] -= at->requests.memory;
        for (uint32_t i = NEED_EXTENDED; i < of->need_count; i++) {
            lane->room[i] -= amount_of(&at->requests, of->needs[i].resource);
        }
    }
}

/* Fills lane->nominated; false: no memory. */
static bool
list_nominated(const schedq_preemption_t *of, struct lane *lane, uint32_t node, uint32_t *count)
{
    const struct nomination *at =
        next_nomination(of->cluster, of->cluster->nodes[node].first_nomination);

    *count = 0;
    for (; at != NULL; at = next_nomination(of->cluster, at->after)) {
        if (!nomination_counts(of, at)) {
            continue;
        }
        if (!array_reserve(lane->memory, &lane->nominated, &lane->nominated_capacity, *count + 1,
                           sizeof *lane->nominated)) {
            lane->no_memory = true;
            return false;
        }
        lane->nominated[(*count)++] = at->object;
    }
    return true;
}

/* ---- room ------------------------------------------------------------------------------------ */

static int64_t
room_of(const schedq_preemption_t *of, const struct need *need, const int64_t *table, uint32_t node)
{
    return need->amount == 0
               ? ROOM_ENOUGH
               : table_column(of->cluster, table, need->resource)[node] - need->amount;
}

void
room_without(const schedq_preemption_t *of, struct lane *lane, uint32_t node, uint32_t count)
{
    const struct node *here = &of->cluster->nodes[node];
    bool known = of->below.exact && !of->spares;
    const int64_t *table = known ? of->below.table : of->cluster->levels.free;

    for (uint32_t i = 0; i < of->need_count; i++) {
        lane->room[i] = room_of(of, &of->needs[i], table, node);
    }
    for (uint32_t i = 0; !known && i < count; i++) {
        room_change(of, lane, &here->slots[lane->potential[i]], 1);
    }
    if (here->first_nomination != 0) {
        take_nominated(of, lane, node);
    }
}

/*
 * The first resource that is short; unresolvable if the preemptor alone is too much for the node,
 * in any of them.
 */
static schedq_verdict_t
verdict_of_room(const schedq_preemption_t *of, const struct lane *lane, uint32_t node)
{
    schedq_verdict_t verdict = {.kind = SCHEDQ_VERDICT_UNSCHEDULABLE, .reason = SCHEDQ_REASON_NONE};

    for (uint32_t i = 0; i < of->need_count; i++) {
        if (lane->room[i] >= 0) {
            continue;
        }
        if (verdict.reason == SCHEDQ_REASON_NONE) {
            verdict.reason = SCHEDQ_REASON_RESOURCE;
            verdict.resource = (uint16_t)of->needs[i].resource;
        }
        if (i != NEED_PODS &&
            room_of(of, &of->needs[i], of->cluster->levels.allocatable, node) < 0) {
            verdict.kind = SCHEDQ_VERDICT_UNRESOLVABLE;
        }
    }
    return verdict;
}

/* ---- both ------------------------------------------------------------------------------------ */

static schedq_verdict_t
ask(const schedq_preemption_t *of, const struct lane *lane, uint32_t node, uint32_t away_count,
    uint32_t nominated_count)
{
    const schedq_filter_question_t question = {
        .cluster = of->cluster,
        .preemptor = of->preemptor.object,
        .node = node,
        .removed_count = away_count,
        .removed = lane->away,
        .nominated = nominated_count == 0 ? NULL : lane->nominated,
        .nominated_count = nominated_count,
    };

    switch (of->preemptor.filter(of->preemptor.filter_ctx, &question)) {
    case SCHEDQ_FIT_YES:
        return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_CANDIDATE};
    case SCHEDQ_FIT_UNSCHEDULABLE:
        return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_UNSCHEDULABLE,
                                  .reason = SCHEDQ_REASON_FILTER};
    case SCHEDQ_FIT_UNRESOLVABLE:
        return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_UNRESOLVABLE,
                                  .reason = SCHEDQ_REASON_FILTER};
    case SCHEDQ_FIT_ERROR:
    default:
        return (schedq_verdict_t){.kind = SCHEDQ_VERDICT_ERROR, .reason = SCHEDQ_REASON_FILTER};
    }
}

schedq_verdict_t
fits(const schedq_preemption_t *of, struct lane *lane, uint32_t node, uint32_t away_count)
{
    schedq_verdict_t verdict = {.kind = SCHEDQ_VERDICT_CANDIDATE};
    bool is_short = room_is_short(of, lane);
    uint32_t nominated;

    if (is_short && (of->preemptor.filter == NULL || of->preemptor.filter_first == 0)) {
        return verdict_of_room(of, lane, node);
    }
    if (of->preemptor.filter == NULL || !list_nominated(of, lane, node, &nominated)) {
        return verdict;
    }
    verdict = ask(of, lane, node, away_count, nominated);
    if (verdict.kind == SCHEDQ_VERDICT_CANDIDATE && is_short) {
        return verdict_of_room(of, lane, node);
    }
    if (verdict.kind == SCHEDQ_VERDICT_CANDIDATE && nominated > 0) {
        verdict = ask(of, lane, node, away_count, 0);
    }
    return verdict;
}
