/*
 * Extenders may take candidates out, and victims off a candidate. Each gets a copy, so that one
 * that fails changed nothing.
 *
 * What it gives back is taken at its word only as far as it makes sense: victims have to run on
 * their node, each once.
 */
#include "preemption/evaluation.h"

#include <string.h>

/* ---- what it gets ---------------------------------------------------------------------------- */

static bool
copy_candidates(schedq_preemption_t *of, struct candidates *to, const struct candidates *from)
{
    struct lane *lane = &of->lanes[0];

    to->count = 0;
    for (uint32_t i = 0; i < from->count; i++) {
        schedq_candidate_node_t copy = from->items[i];

        copy.victims = lane_reserve(lane, copy.victim_count);
        if (copy.victims == NULL || !candidates_push(to, &of->memory, &copy)) {
            return false;
        }
        if (copy.victim_count > 0) {
            memcpy(copy.victims, from->items[i].victims, copy.victim_count * sizeof *copy.victims);
        }
        lane_keep(lane, copy.victim_count);
    }
    return true;
}

/* ---- what it gives back ---------------------------------------------------------------------- */

static bool
is_named_again(const schedq_candidate_node_t *candidate, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++) {
        if (candidate->victims[i].index == candidate->victims[at].index) {
            return true;
        }
    }
    return false;
}

static bool
makes_sense(const schedq_cluster_t *cluster, const schedq_candidate_node_t *now,
            const schedq_candidate_node_t *before)
{
    if (now->dropped != 0) {
        return true;
    }
    if (now->node != before->node || now->victim_count > before->victim_count) {
        return false;
    }
    for (uint32_t i = 0; i < now->victim_count; i++) {
        const struct pod *pod = pod_of(cluster, now->victims[i]);

        if (pod == NULL || pod->node != now->node || is_named_again(now, i)) {
            return false;
        }
    }
    return true;
}

/* A node without victims is no answer of an extender, unless such nodes are taken anyway. */
static bool
is_empty(const schedq_preemption_t *of, const schedq_candidate_node_t *candidate)
{
    return candidate->dropped == 0 && candidate->victim_count == 0 &&
           of->config.no_victims == SCHEDQ_NO_VICTIMS_ERROR;
}

static bool
is_accepted(const schedq_preemption_t *of, bool ignorable)
{
    for (uint32_t i = 0; i < of->trial.count; i++) {
        const schedq_candidate_node_t *candidate = &of->trial.items[i];

        if (!makes_sense(of->cluster, candidate, &of->left.items[i]) ||
            (!ignorable && is_empty(of, candidate))) {
            return false;
        }
    }
    return true;
}

static void
accept(schedq_preemption_t *of)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < of->trial.count; i++) {
        schedq_candidate_node_t candidate = of->trial.items[i];

        if (candidate.dropped != 0 || is_empty(of, &candidate)) {
            continue;
        }
        score(of->cluster, &candidate);
        candidate.cost = cost_of(of, &candidate);
        of->left.items[count++] = candidate;
    }
    of->left.count = count;
}

/* ---- one after the other --------------------------------------------------------------------- */

static schedq_status_t
ask_one(schedq_preemption_t *of, const schedq_extender_t *extender)
{
    if (!copy_candidates(of, &of->trial, &of->left)) {
        return SCHEDQ_NOMEM;
    }
    int answer = extender->process(extender->ctx, of->cluster, of->trial.items, of->trial.count);

    if (answer == SCHEDQ_EXTENDER_UNINTERESTED) {
        return SCHEDQ_OK;
    }
    if (answer == SCHEDQ_EXTENDER_DONE && is_accepted(of, extender->ignorable != 0)) {
        accept(of);
        return SCHEDQ_OK;
    }
    return extender->ignorable != 0 ? SCHEDQ_OK : SCHEDQ_INVALID;
}

schedq_status_t
ask_extenders(schedq_preemption_t *of, uint32_t *failed)
{
    of->left.count = 0;
    for (uint32_t i = 0; i < of->peaceful.count; i++) {
        if (!candidates_push(&of->left, &of->memory, &of->peaceful.items[i])) {
            return SCHEDQ_NOMEM;
        }
    }
    for (uint32_t i = 0; i < of->preemptor.extender_count && of->left.count > 0; i++) {
        schedq_status_t status = ask_one(of, &of->preemptor.extenders[i]);

        if (status != SCHEDQ_OK) {
            *failed = i;
            return status;
        }
    }
    return SCHEDQ_OK;
}
