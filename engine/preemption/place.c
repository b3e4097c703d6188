/*
 * Where a pod fits as things are: the question of schedq_preempt, asked of nodes that no pod
 * leaves.
 *
 * It is the same code that judges candidates, so that a host whose placement asks here never finds
 * a node that a decision would not, or the other way round. Only the room differs: columns of what
 * is free instead of a level's.
 */
#include "preemption/evaluation.h"

#include <inttypes.h>

/* Words go to the workspace, whose last evaluation cannot be asked any more. */
static struct words
begin_places(schedq_preemption_t *of)
{
    of->words[0] = '\0';
    of->cluster = NULL;
    return (struct words){.text = of->words, .size = sizeof of->words};
}

/* False: no memory. Lists of the last decision stay as they are. */
static bool
prepare_places(schedq_preemption_t *of, const schedq_cluster_t *cluster,
               const schedq_preemption_config_t *config, const schedq_preemptor_t *pod)
{
    const struct room now = {.table = cluster->levels.free, .exact = true};

    if (!question_set(of, cluster, config, pod, now)) {
        return false;
    }
    of->prunes = true;
    of->spares = false;
    of->lanes[0].no_memory = false; /* of a decision that found none */
    return lane_room(&of->lanes[0], of->need_count);
}

static schedq_verdict_t
judge_place(schedq_preemption_t *of, uint32_t node)
{
    struct lane *lane = &of->lanes[0];

    room_without(of, lane, node, 0);
    return fits(of, lane, node, 0);
}

/* Afterwards: a list of nominated pods that found no memory is told once. */
static schedq_status_t
end_places(schedq_preemption_t *of)
{
    bool no_memory = of->lanes[0].no_memory;

    of->lanes[0].no_memory = false;
    of->cluster = NULL;
    return no_memory ? SCHEDQ_NOMEM : SCHEDQ_OK;
}

static schedq_fit_t
fit_of(schedq_verdict_t verdict)
{
    switch (verdict.kind) {
    case SCHEDQ_VERDICT_CANDIDATE:
        return SCHEDQ_FIT_YES;
    case SCHEDQ_VERDICT_UNSCHEDULABLE:
        return SCHEDQ_FIT_UNSCHEDULABLE;
    case SCHEDQ_VERDICT_UNRESOLVABLE:
        return SCHEDQ_FIT_UNRESOLVABLE;
    default:
        return SCHEDQ_FIT_ERROR;
    }
}

schedq_status_t
schedq_cluster_fits(const schedq_cluster_t *cluster, schedq_preemption_t *preemption,
                    const schedq_preemption_config_t *config, const schedq_preemptor_t *pod,
                    uint32_t node, schedq_fit_t *fit, uint32_t *resource)
{
    if (preemption == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = begin_places(preemption);

    if (!check_pointer(&words, "cluster", cluster) || !check_pointer(&words, "fit", fit) ||
        !check_config(&words, config) || !check_pod(&words, cluster, pod)) {
        return SCHEDQ_INVALID;
    }
    if (!node_exists(cluster, node)) {
        words_say(&words, "node %" PRIu32 ": the number of a node, below %" PRIu32, node,
                  cluster->nodes_end);
        return SCHEDQ_NOT_FOUND;
    }
    if (!prepare_places(preemption, cluster, config, pod)) {
        preemption->cluster = NULL;
        return SCHEDQ_NOMEM;
    }
    schedq_verdict_t verdict = judge_place(preemption, node);
    schedq_status_t status = end_places(preemption);

    if (status == SCHEDQ_OK) {
        *fit = fit_of(verdict);
        if (resource != NULL) {
            *resource =
                verdict.reason == SCHEDQ_REASON_RESOURCE ? verdict.resource : SCHEDQ_NO_RESOURCE;
        }
    }
    return status;
}

/* Its own node first: that is where room was made for it. */
static uint32_t
find_place(schedq_preemption_t *of)
{
    uint32_t own = of->preemptor.nominated_node;
    struct scan scan;
    uint32_t node;

    if (own != SCHEDQ_NO_NODE && judge_place(of, own).kind == SCHEDQ_VERDICT_CANDIDATE) {
        return own;
    }
    scan_open(&scan, 0, of->cluster->nodes_end);
    do {
        node = scan_next(&scan, of);
    } while (node != SCHEDQ_NO_NODE && !of->lanes[0].no_memory &&
             judge_place(of, node).kind != SCHEDQ_VERDICT_CANDIDATE);
    return node;
}

schedq_status_t
schedq_cluster_first_fit(const schedq_cluster_t *cluster, schedq_preemption_t *preemption,
                         const schedq_preemption_config_t *config, const schedq_preemptor_t *pod,
                         uint32_t *node)
{
    if (node != NULL) {
        *node = SCHEDQ_NO_NODE;
    }
    if (preemption == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = begin_places(preemption);

    if (!check_pointer(&words, "cluster", cluster) || !check_pointer(&words, "node", node) ||
        !check_config(&words, config) || !check_pod(&words, cluster, pod) ||
        !check_nominated_node(&words, cluster, pod)) {
        return SCHEDQ_INVALID;
    }
    if (!prepare_places(preemption, cluster, config, pod)) {
        preemption->cluster = NULL;
        return SCHEDQ_NOMEM;
    }
    preemption->preemptor.statuses = NULL; /* of another search: none refuses a node here */
    if (!scan_prepare(preemption)) {
        preemption->cluster = NULL;
        return SCHEDQ_NOMEM;
    }
    uint32_t found = find_place(preemption);
    schedq_status_t status = end_places(preemption);

    if (status != SCHEDQ_OK) {
        return status;
    }
    *node = found;
    return found == SCHEDQ_NO_NODE ? SCHEDQ_NOT_FOUND : SCHEDQ_OK;
}
