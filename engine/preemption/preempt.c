/* schedq_preempt: the steps of a decision, one after the other. */
#include "preemption/evaluation.h"

#include <string.h>

/* ---- what the steps read --------------------------------------------------------------------- */

static bool
prepare_lanes(schedq_preemption_t *of)
{
    uint32_t tasks = of->preemptor.executor == NULL ? 1 : of->preemptor.executor->tasks;

    for (uint32_t i = 0; i < tasks; i++) {
        struct lane *lane = &of->lanes[i];

        lane_reset(lane);
        if (!lane_room(lane, of->need_count)) {
            return false;
        }
    }
    return true;
}

static bool
prepare(schedq_preemption_t *of, const schedq_cluster_t *cluster,
        const schedq_preemption_config_t *config, const schedq_preemptor_t *preemptor)
{
    if (!question_set(of, cluster, config, preemptor,
                      levels_below(&cluster->levels, preemptor->priority))) {
        return false;
    }
    /*
     * A filter that goes first has to see every node. A node whose pods fit as they are is judged
     * by its pods.
     */
    of->prunes = preemptor->filter == NULL || preemptor->filter_first == 0;
    of->spares = config->min_run_ns > 0 || config->evict_again_ns > 0;
    of->only_room = of->below.exact && !of->spares && preemptor->filter == NULL &&
                    of->need_count == NEED_EXTENDED && cluster->budget_count == 0 &&
                    config->victim_order == SCHEDQ_VICTIMS_BY_IMPORTANCE;
    return prepare_lanes(of) && scan_prepare(of);
}

/* ---- the steps ------------------------------------------------------------------------------- */

static void
conclude(schedq_preemption_decision_t *decision, schedq_outcome_t outcome,
         schedq_nomination_t nomination)
{
    decision->outcome = (uint8_t)outcome;
    decision->nomination = (uint8_t)nomination;
}

static void
tell_dry_run(const schedq_preemption_t *of, schedq_preemption_decision_t *decision)
{
    decision->potential = of->potential;
    decision->offset = of->offset;
    decision->wanted = of->wanted;
    decision->rejected = of->rejected;
    decision->errors = of->errors;
    decision->candidates = of->peaceful.items;
    decision->candidate_count = of->peaceful.count;
}

static int64_t
lease_end(const schedq_preemption_t *of)
{
    int64_t lease = of->config.nomination_lease_ns;

    return lease == 0 || of->preemptor.now_ns > INT64_MAX - lease ? SCHEDQ_NO_DEADLINE
                                                                  : of->preemptor.now_ns + lease;
}

static void
set_costs(schedq_preemption_t *of)
{
    for (uint32_t i = 0; of->config.victim_cost != NULL && i < of->peaceful.count; i++) {
        of->peaceful.items[i].cost = cost_of(of, &of->peaceful.items[i]);
    }
}

static schedq_status_t
pick(schedq_preemption_t *of, schedq_preemption_decision_t *decision)
{
    set_costs(of);

    schedq_status_t status =
        of->preemptor.extender_count == 0 ? SCHEDQ_OK : ask_extenders(of, &decision->extender);

    if (status == SCHEDQ_INVALID) {
        conclude(decision, SCHEDQ_PREEMPT_EXTENDER, SCHEDQ_NOMINATION_KEEP);
        return SCHEDQ_OK;
    }
    if (status != SCHEDQ_OK) {
        return status;
    }
    const schedq_candidate_node_t *chosen =
        choose(of, of->preemptor.extender_count == 0 ? &of->peaceful : &of->left);

    if (chosen == NULL) {
        conclude(decision, SCHEDQ_PREEMPT_UNSCHEDULABLE, SCHEDQ_NOMINATION_KEEP);
        return SCHEDQ_OK;
    }
    decision->chosen = chosen->node;
    decision->victims = chosen->victims;
    decision->victim_count = chosen->victim_count;
    decision->nomination_expires_ns = lease_end(of);
    conclude(decision, SCHEDQ_PREEMPT_SUCCESS, SCHEDQ_NOMINATION_SET);
    return plan_actions(of, chosen, decision) ? SCHEDQ_OK : SCHEDQ_NOMEM;
}

static schedq_status_t
decide(schedq_preemption_t *of, schedq_preemption_decision_t *decision)
{
    decision->eligibility = (uint8_t)eligibility(of);
    if (decision->eligibility != SCHEDQ_ELIGIBLE) {
        conclude(decision, SCHEDQ_PREEMPT_UNSCHEDULABLE, SCHEDQ_NOMINATION_KEEP);
        return SCHEDQ_OK;
    }
    if (of->cluster->node_count == 0) {
        conclude(decision, SCHEDQ_PREEMPT_NO_NODES, SCHEDQ_NOMINATION_KEEP);
        return SCHEDQ_OK;
    }
    if (!dry_run(of)) {
        return SCHEDQ_NOMEM;
    }
    tell_dry_run(of, decision);
    if (of->peaceful.count > 0) {
        return pick(of, decision);
    }
    if (of->errors > 0) {
        conclude(decision, SCHEDQ_PREEMPT_NODE_ERRORS, SCHEDQ_NOMINATION_KEEP);
    } else {
        conclude(decision, SCHEDQ_PREEMPT_UNSCHEDULABLE, SCHEDQ_NOMINATION_CLEAR);
    }
    return SCHEDQ_OK;
}

schedq_status_t
schedq_preempt(const schedq_cluster_t *cluster, schedq_preemption_t *preemption,
               const schedq_preemption_config_t *config, const schedq_preemptor_t *preemptor,
               schedq_preemption_decision_t *decision)
{
    if (preemption == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = {.text = preemption->words, .size = sizeof preemption->words};

    preemption->words[0] = '\0';
    preemption->cluster = NULL;
    if (!check_pointer(&words, "cluster", cluster) || !check_config(&words, config) ||
        !check_preemptor(&words, cluster, preemptor) || !check_decision(&words, decision)) {
        return SCHEDQ_INVALID;
    }
    schedq_preemption_decision_t made = SCHEDQ_PREEMPTION_DECISION_INIT;

    made.chosen = SCHEDQ_NO_NODE;
    made.nomination_expires_ns = SCHEDQ_NO_DEADLINE;
    if (!prepare(preemption, cluster, config, preemptor)) {
        preemption->cluster = NULL;
        return SCHEDQ_NOMEM;
    }
    schedq_status_t status = decide(preemption, &made);

    if (status == SCHEDQ_OK) {
        *decision = made;
    } else {
        preemption->cluster = NULL;
    }
    return status;
}

/* ---- afterwards ------------------------------------------------------------------------------ */

schedq_status_t
schedq_preemption_verdict(schedq_preemption_t *preemption, uint32_t node, schedq_verdict_t *verdict)
{
    if (verdict != NULL) {
        *verdict = (schedq_verdict_t){0};
    }
    if (preemption == NULL || verdict == NULL || preemption->cluster == NULL) {
        return SCHEDQ_INVALID;
    }
    if (!node_exists(preemption->cluster, node)) {
        return SCHEDQ_NOT_FOUND;
    }
    uint64_t bit = UINT64_C(1) << node % WORD_NODES;

    if ((preemption->evaluated[node / WORD_NODES] & bit) == 0) {
        return SCHEDQ_OK;
    }
    if ((preemption->pruned[node / WORD_NODES] & bit) == 0) {
        *verdict = preemption->verdicts[node];
        return SCHEDQ_OK;
    }
    struct lane *lane = &preemption->lanes[0];
    schedq_candidate_node_t unused;
    schedq_verdict_t found = victims_on(preemption, lane, node, &unused);

    if (lane->no_memory) {
        lane->no_memory = false;
        return SCHEDQ_NOMEM;
    }
    *verdict = found;
    return SCHEDQ_OK;
}
