/*
 * Which candidate loses least: the criteria in their order, each deciding only where those before it tie.
 *
 * Upstream takes a random one of those that tie in everything. Here it is the one that was visited first, which the offset
 * spreads over the nodes.
 */
#include "preemption/evaluation.h"

static void
add_costs(schedq_preemption_t *of)
{
    const schedq_preemption_config_t *config = &of->config;

    for (uint32_t i = 0; i < of->left.count; i++) {
        schedq_candidate_node_t *candidate = &of->left.items[i];

        candidate->cost = 0;
        for (uint32_t k = 0; k < candidate->victim_count; k++) {
            candidate->cost += config->victim_cost(config->victim_cost_ctx, of->cluster, candidate->victims[k]);
        }
    }
}

/* Strictly: of two that tie the one that came first stays. */
static bool
is_better(const schedq_preemption_t *of, const schedq_candidate_node_t *a, const schedq_candidate_node_t *b)
{
    if (a->violations != b->violations) {
        return a->violations < b->violations;
    }
    if (a->cost != b->cost) {
        return a->cost < b->cost;
    }
    if (a->first_priority != b->first_priority) {
        return a->first_priority < b->first_priority;
    }
    if (a->priority_sum != b->priority_sum) {
        return a->priority_sum < b->priority_sum;
    }
    if (a->victim_count != b->victim_count) {
        return a->victim_count < b->victim_count;
    }
    return of->config.start_criterion != 0 && a->earliest_start_ns > b->earliest_start_ns;
}

const schedq_candidate_node_t *
choose(schedq_preemption_t *of)
{
    const schedq_candidate_node_t *best = NULL;

    if (of->config.victim_cost != NULL) {
        add_costs(of);
    }
    for (uint32_t i = 0; i < of->left.count; i++) {
        const schedq_candidate_node_t *candidate = &of->left.items[i];

        if (candidate->victim_count == 0) {
            return candidate;
        }
        if (best == NULL || is_better(of, candidate, best)) {
            best = candidate;
        }
    }
    return best;
}
