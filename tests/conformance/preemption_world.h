/* A case as a snapshot, and the decision that the library makes for it. */
#ifndef CONFORM_PREEMPTION_WORLD_H
#define CONFORM_PREEMPTION_WORLD_H

#include "preemption_case.h"

/** How a case is asked. All of them have to answer alike, but for `asynchronous`. */
struct preemption_way {
    bool asynchronous;
    bool threads; /* an executor, which runs its tasks last to first */
};

struct preemption_world {
    struct preemption_case *of;
    schedq_cluster_t *cluster;
    schedq_preemption_t *preemption;
    uint8_t *statuses;              /* by number of node */
    const struct case_node **nodes; /* by number */
    uint32_t node_count;
    schedq_preemption_config_t config;
    schedq_preemptor_t preemptor;
    schedq_preemption_decision_t decision;
    schedq_extender_t *extenders;
    uint32_t gpu; /* the number of the extended resource */
};

/**
 * False: the library refused something, which has been reported. preemption_world_close in either
 * case.
 */
bool preemption_world_open(struct preemption_world *world, struct preemption_case *of);
bool preemption_world_decide(struct preemption_world *world, const struct preemption_way *way);
void preemption_world_close(struct preemption_world *world);

#endif
