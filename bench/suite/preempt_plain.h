/*
 * Preemption without a snapshot that remembers anything: what a scheduler does that keeps its
 * nodes' pods in arrays.
 *
 * It sums a node's pods once per decision, sorts its potential victims once, and takes pods out of
 * the sum and back instead of adding up again for each filter call. Same rules, same result, no
 * budgets and nominations, which the rows do not have.
 */
#ifndef SCHEDQ_BENCH_PREEMPT_PLAIN_H
#define SCHEDQ_BENCH_PREEMPT_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct plain_pod {
    int32_t priority;
    uint32_t number;
    int64_t start_ns, cpu, memory;
} plain_pod_t;

/* Its pods are pods[first..first + count - 1] of the cluster. */
typedef struct plain_node {
    int64_t cpu, memory, slots;
    uint32_t first, count;
} plain_node_t;

typedef struct plain_candidate {
    uint32_t node, victim_count;
    uint32_t *victims; /* numbers of pods */
    int32_t first_priority;
    uint64_t priority_sum;
    int64_t earliest_start_ns;
} plain_candidate_t;

typedef struct plain_cluster {
    plain_node_t *nodes;
    plain_pod_t *pods;
    uint32_t node_count, pod_count;
    /* What a decision fills; made large enough once. */
    plain_candidate_t *candidates;
    uint32_t *victims;
    uint32_t candidate_count;
} plain_cluster_t;

typedef struct plain_preemptor {
    int32_t priority;
    int64_t cpu, memory;
    const uint8_t *statuses; /* 1: preemption might help */
    uint32_t offset, percentage, absolute;
} plain_preemptor_t;

plain_cluster_t *plain_make(uint32_t nodes, uint32_t pods_per_node);
void plain_free(plain_cluster_t *cluster);

/* The best candidate, or NULL. */
const plain_candidate_t *plain_decide(plain_cluster_t *cluster, const plain_preemptor_t *preemptor);

#endif
