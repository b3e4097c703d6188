/*
 * Preemption without the library: what a scheduler does that keeps its nodes' pods in arrays.
 *
 * One more array says for each node what would be left of it if all pods below one priority were
 * gone, and how many these are: so a node that is no candidate costs a look. It is kept up with
 * each change of a pod, and summed anew for a preemptor of another priority. A candidate's
 * potential victims are sorted once, and pods are taken out of the room instead of adding up again
 * for each filter call. Same rules, same result, no budgets and nominations, which the rows do not
 * have.
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

typedef struct plain_room {
    int64_t cpu, memory;
    int32_t slots;
    uint32_t lower;
} plain_room_t;

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
    plain_room_t *rooms; /* of each node, for `room_priority` */
    int32_t room_priority;
    bool has_rooms;
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

/* A pod goes, and another takes its number and its node. */
void plain_replace(plain_cluster_t *cluster, uint32_t node, uint32_t pod, const plain_pod_t *other);

/* The best candidate, or NULL. */
const plain_candidate_t *plain_decide(plain_cluster_t *cluster, const plain_preemptor_t *preemptor);

#endif
