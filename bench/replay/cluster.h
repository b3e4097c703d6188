/*
 * The simulated cluster: nodes with processors, memory and GPUs, and where a pod fits.
 *
 * A GPU has 1000 milli. A pod takes gpu_milli of each of `gpus` different GPUs of one node: pods
 * that take less than
 * 1000 share a GPU. A pod that names GPU models fits only on nodes of these.
 *
 * cluster_find takes the node that would be left with the least free GPU milli, of these the one
 * with the least free CPU, of these the lowest number. On it each GPU is the fullest one that still
 * has room, the lowest number among equals.
 *
 * Nodes are known from the start and take pods from cluster_join on. find, reserve, release and
 * join exclude each other; cluster_fits may overlap with them: it reads a view that is a moment
 * old, as a hint's may be.
 */
#ifndef SCHEDQ_REPLAY_CLUSTER_H
#define SCHEDQ_REPLAY_CLUSTER_H

#include "workload.h"

typedef struct cluster cluster_t;

#define CLUSTER_NOWHERE UINT32_MAX /* instead of a node */

/* Which filter refused a node. */
enum {
    CLUSTER_LACKS_RESOURCES = 1, /* processors or memory; looked at first */
    CLUSTER_LACKS_GPUS = 2       /* GPUs, or their model */
};

/* `numbers` picks nodes of the workload: node i of the cluster is workload->nodes[numbers[i]]. */
cluster_t *cluster_new(const workload_t *workload, const uint32_t *numbers, size_t count);
void cluster_free(cluster_t *cluster);

void cluster_join(cluster_t *cluster, uint32_t node);
/*
 * The node for this pod, or CLUSTER_NOWHERE; then *lacks has the filters that refused nodes
 * (CLUSTER_LACKS_RESOURCES if there is no node at all).
 */
uint32_t cluster_find(const cluster_t *cluster, const workload_pod_t *pod, unsigned *lacks);
/*
 * A further filter: the bits of CLUSTER_LACKS_* for which it refuses a node on which the pod fits;
 * 0: it does not.
 */
typedef unsigned cluster_filter_fn(void *ctx, uint32_t node);
/* As cluster_find among the nodes that `filter` does not refuse. */
uint32_t cluster_find_filtered(const cluster_t *cluster, const workload_pod_t *pod,
                               cluster_filter_fn *filter, void *ctx, unsigned *lacks);
/* Takes what the pod needs of a node on which it fits; returns a bit for each GPU it got. */
uint64_t cluster_reserve(cluster_t *cluster, uint32_t node, const workload_pod_t *pod);
void cluster_release(cluster_t *cluster, uint32_t node, const workload_pod_t *pod, uint64_t gpus);
/* Does the pod fit on this node as it is now? */
bool cluster_fits(const cluster_t *cluster, uint32_t node, const workload_pod_t *pod);
/* Would the pod fit on this node if it were there and empty? */
bool cluster_node_ever_fits(const cluster_t *cluster, uint32_t node, const workload_pod_t *pod);
/* Would the pod fit on some node if all nodes were there and empty? */
bool cluster_ever_fits(const cluster_t *cluster, const workload_pod_t *pod);
/* A number from 1 that grows with each join, reserve and release. */
uint64_t cluster_version(const cluster_t *cluster);
/* Is everything that was reserved released? */
bool cluster_is_empty(const cluster_t *cluster);

/*
 * A node as it would be: a copy on which pods are reserved and released in thought. For one thread.
 */
typedef struct cluster_trial cluster_trial_t;

cluster_trial_t *cluster_trial_new(void);
void cluster_trial_free(cluster_trial_t *trial);
/* The trial becomes this node as it is now. */
void cluster_trial_begin(cluster_trial_t *trial, const cluster_t *cluster, uint32_t node);
/* `gpus` is what cluster_reserve returned. */
void cluster_trial_release(cluster_trial_t *trial, const workload_pod_t *pod, uint64_t gpus);
/* The pod must fit. */
void cluster_trial_reserve(cluster_trial_t *trial, const workload_pod_t *pod);
/* The bit of CLUSTER_LACKS_* of the filter that refuses the pod; 0: it fits. */
unsigned cluster_trial_lacks(const cluster_trial_t *trial, const workload_pod_t *pod);

#endif
