/*
 * What is replayed: a workload, multiplied and thinned as the options say.
 *
 * Copy 0 of the pods is the workload itself. Each pod of the copies 1, 2, ... arrives later than
 * its original by a jitter that is uniform in [0, jitter_ns). Of the nodes, the share
 * nodes_fraction is kept (rounded, at least one), and of these the share late_nodes joins at a time
 * uniform between the first and the last arrival of a pod. Jitter, which nodes are kept, which are
 * late and when: each is a hash of the seed and the pod's or node's number, so it does not depend
 * on the other options.
 */
#ifndef SCHEDQ_REPLAY_SCENARIO_H
#define SCHEDQ_REPLAY_SCENARIO_H

#include "workload.h"

typedef struct scenario_options {
    uint64_t seed;
    uint32_t copies;
    int64_t jitter_ns;
    double nodes_fraction; /* above 0, at most 1 */
    double late_nodes;     /* 0 to 1 */
} scenario_options_t;

typedef struct scenario_pod {
    int64_t arrival_ns;
    uint32_t pod; /* in the workload */
    uint32_t copy;
} scenario_pod_t;

typedef struct scenario_node {
    int64_t arrival_ns;
    uint32_t node; /* in the workload */
} scenario_node_t;

/* Pods and nodes in the order of their arrival. */
typedef struct scenario {
    const workload_t *workload;
    scenario_pod_t *pods;
    size_t pod_count;
    scenario_node_t *nodes;
    size_t node_count;
} scenario_t;

/* The workload must outlive the scenario. */
void scenario_init(scenario_t *scenario, const workload_t *workload,
                   const scenario_options_t *options);
void scenario_clear(scenario_t *scenario);

#endif
