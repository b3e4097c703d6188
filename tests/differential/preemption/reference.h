/*
 * Preemption done the plain way: arrays of everything, nothing kept sorted, nothing added up before
 * it is needed.
 *
 * It shares no code and no data structure with the library, only the names of its public header. A
 * node's pods are gone through for every question, O(nodes x pods) and more.
 */
#ifndef DIFFERENTIAL_PREEMPTION_REFERENCE_H
#define DIFFERENTIAL_PREEMPTION_REFERENCE_H

#include <schedq/preemption.h>

#include <stdbool.h>

enum {
    NODES_MAX = 160,
    PODS_MAX = 64,
    BUDGETS_MAX = 4,
    NOMINATED_MAX = 6,
    EXTENDERS_MAX = 3,
    WORKLOADS = 4,
    RESOURCES = 5 /* cpu, memory, pods, two extended ones */
};

enum { NONE = -1 };

struct ref_node {
    bool used;
    int64_t allocatable[RESOURCES];
    bool tainted; /* the filter refuses it */
    bool broken;  /* the filter gives an error */
    bool unresolvable;
};

struct ref_pod {
    bool used;
    int node;
    int space;     /* of namespaces */
    int app, tier; /* labels; 0: none */
    int32_t priority;
    int64_t start_ns;
    int64_t requests[RESOURCES];
    uint64_t workload;
    uint64_t sequence;
    bool terminating, is_protected, condition, by_scheduler;
    schedq_running_t handle;
};

enum {
    SELECT_APP,
    SELECT_TIER,
    SELECT_APP_EXISTS,
    SELECT_BOTH,
    SELECT_EMPTY,
    SELECT_NIL,
    SELECT_INVALID,
    SELECTORS
};

struct ref_budget {
    bool used;
    int space;
    int selector;
    int app, tier;
    int32_t allowed;
    uint64_t disrupted; /* a bit for each pod's number: its name */
};

struct ref_nominated {
    bool used;
    int node;
    int32_t priority;
    int64_t requests[RESOURCES];
    int64_t expires_ns;
    uint64_t order; /* of nomination */
    uint64_t generation;
};

struct ref_extender {
    uint64_t drop, empty; /* bits of node number modulo 64 */
    bool fails, ignorable, uninterested, shortens;
};

struct ref_cluster {
    int nodes_end, pods_end; /* behind the last one that is used */
    struct ref_node nodes[NODES_MAX];
    struct ref_pod pods[PODS_MAX];
    struct ref_budget budgets[BUDGETS_MAX];
    struct ref_nominated nominated[NOMINATED_MAX];
    int64_t evicted_ns[WORKLOADS + 1]; /* NONE: never */
};

/* What is asked, apart from the cluster. */
struct ref_question {
    schedq_preemption_config_t config;
    int32_t priority;
    int64_t requests[RESOURCES];
    int nominated_node; /* NONE */
    int own;            /* its number among the nominated, or NONE */
    bool never;
    bool statuses; /* false: after a PreFilter refusal */
    uint32_t offset;
    int64_t now_ns;
    bool filter, filter_first;
    int conflict;       /* the filter refuses a node with a pod of this app; 0: none */
    bool odd_nominated; /* and one with a nominated pod of odd number */
    struct ref_extender extenders[EXTENDERS_MAX];
    int extender_count;
};

struct ref_candidate {
    int node;
    uint32_t violations;
    int victims[PODS_MAX];
    int victim_count;
    uint64_t cost;
};

struct ref_decision {
    schedq_eligibility_t eligibility;
    schedq_outcome_t outcome;
    schedq_nomination_t nomination;
    uint32_t potential, offset, wanted, rejected, errors;
    struct ref_candidate candidates[NODES_MAX];
    int candidate_count;
    schedq_verdict_t verdicts[NODES_MAX];
    int chosen; /* NONE */
    int victims[PODS_MAX];
    int victim_count;
    int deletes[PODS_MAX];
    int delete_count;
    int clears[NOMINATED_MAX]; /* in their order */
    int clear_count;
    bool holds;
    uint32_t extender;
    int64_t nomination_expires_ns;
};

void reference_decide(const struct ref_cluster *cluster, const struct ref_question *question,
                      struct ref_decision *decision);

/* What a node says to the pod as things are. CANDIDATE: it fits. */
schedq_verdict_t reference_fits(const struct ref_cluster *cluster,
                                const struct ref_question *question, int node);

/* What a victim costs, for both sides. */
uint32_t reference_cost(const struct ref_pod *pod);

#endif
