/*
 * Which candidate loses least: the criteria in their order, each deciding only where those before
 * it tie.
 *
 * Upstream takes a random one of those that tie in everything. Here it is the one that was visited
 * first, which the offset spreads over the nodes.
 */
#include "preemption/evaluation.h"

uint64_t
cost_of(const schedq_preemption_t *of, const schedq_candidate_node_t *candidate)
{
    const schedq_preemption_config_t *config = &of->config;
    uint64_t sum = 0;

    for (uint32_t i = 0; config->victim_cost != NULL && i < candidate->victim_count; i++) {
        sum += config->victim_cost(config->victim_cost_ctx, of->cluster, candidate->victims[i]);
    }
    return sum;
}

/* Strictly: of two that tie the one that came first stays. */
static bool
is_better(const schedq_preemption_t *of, const schedq_candidate_node_t *a,
          const schedq_candidate_node_t *b)
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
choose(const schedq_preemption_t *of, const struct candidates *from)
{
    const schedq_candidate_node_t *best = NULL;

    for (uint32_t i = 0; i < from->count; i++) {
        const schedq_candidate_node_t *candidate = &from->items[i];

        if (candidate->victim_count == 0) {
            return candidate;
        }
        if (best == NULL || is_better(of, candidate, best)) {
            best = candidate;
        }
    }
    return best;
}
