/*
 * The snapshot's parts: what nodes.c, pods.c, budgets.c, nominations.c and evictions.c keep, and
 * evaluations read.
 *
 * Two things are kept so that evaluations need not compute them. The pods of a node are sorted by
 * importance. And of every node it is known how much room there would be if only the pods above a
 * priority stayed (levels.h), in columns: one array over all nodes for each resource and level, so
 * that most nodes are judged by reading a few numbers in a row.
 */
#ifndef SCHEDQ_PREEMPTION_CLUSTER_H
#define SCHEDQ_PREEMPTION_CLUSTER_H

#include <schedq/preemption.h>

#include "preemption/check.h"
#include "preemption/levels.h"
#include "preemption/map.h"
#include "preemption/texts.h"

/** Nodes whose bits a word has: GROUP_NODES groups of GROUP_NODES. */
#define WORD_NODES 64

/** An amount of an extended resource; lists are sorted by resource. */
struct amount {
    int64_t amount;
    uint32_t resource;
};

/**
 * Copies of the lists that a description brings: what allocates, so that everything after it cannot
 * fail.
 */
struct amounts {
    int64_t cpu, memory;
    struct amount *extended;
    uint32_t extended_count;
};

enum slot_flag {
    SLOT_PROTECTED = 1,
    SLOT_TERMINATING = 2,
    SLOT_BY_SCHEDULER = 4, /* condition DisruptionTarget is True, reason PreemptionByScheduler */
    SLOT_LABELS = 8,
    SLOT_EXTENDED = 16,
    SLOT_WORKLOAD = 32
};

/** A pod in its node's list: what an evaluation reads of most pods. */
struct slot {
    schedq_running_t pod;
    int32_t priority;
    uint32_t flags; /* enum slot_flag */
    int64_t start_ns;
    int64_t cpu, memory;
};

struct label {
    uint32_t key, value; /* texts */
};

struct pod {
    uint64_t object, workload;
    uint64_t sequence; /* order of arrival on the node */
    uint32_t generation;
    uint32_t node; /* SCHEDQ_NO_NODE: this number is free */
    uint32_t space, name;
    struct label *labels;
    uint32_t label_count;
    uint32_t next_free; /* 1 + number of a pod */
    uint32_t flags;
    int32_t priority;
    int64_t start_ns;
    struct amounts requests;
};

struct node {
    uint64_t object;
    uint32_t name; /* text; 0: this number is free */
    uint32_t slot_count, slot_capacity;
    uint32_t first_nomination, last_nomination; /* 1 + number of a nomination; 0: none */
    struct slot *slots;                         /* most important first */
};

struct requirement {
    uint32_t key, value; /* texts; value 0: the key exists */
};

struct budget {
    uint32_t space, name;
    uint32_t next; /* in its namespace, and among the free: 1 + number of a budget; 0: none */
    int32_t allowed;
    uint32_t requirement_count; /* 0: matches nothing */
    uint32_t disrupted_count;
    uint32_t selector;
    struct requirement *requirements;
    uint32_t *disrupted; /* texts, ascending */
};

struct nomination {
    uint64_t object;
    uint64_t generation; /* 0: this number is free */
    uint64_t key;        /* namespace and name */
    int64_t expires_ns;
    uint32_t node;
    uint32_t before, after; /* on its node: 1 + number; `after` among the free ones too */
    int32_t priority;
    struct amounts requests;
};

struct schedq_cluster {
    struct memory memory;
    struct texts texts;

    uint32_t *resources;     /* texts of the extended ones; number 3 is the first */
    uint32_t resource_count; /* all of them */

    struct node *nodes;
    /* a multiple of WORD_NODES, as long as every column */
    uint32_t node_capacity;
    uint32_t nodes_end, node_count, free_node; /* no free number is below free_node */
    uint64_t *present;                         /* a bit for each number: there is a node */
    struct map node_names;
    struct levels levels;

    struct pod *pods;
    uint32_t pod_capacity, pods_end, pod_count, free_pod; /* free_pod: 1 + number, 0: none */
    struct map pod_names;
    uint64_t arrivals;

    struct budget *budgets;
    uint32_t budget_capacity, budgets_end, budget_count, free_budget;
    struct map budget_spaces; /* text of the namespace -> 1 + number of its first budget */

    struct nomination *nominations;
    uint32_t nomination_capacity, nominations_end, nomination_count, free_nomination;
    struct map nominated_names;
    uint64_t nominated_ever;

    struct map evictions; /* workload -> time */

    char words[400];
};

/** Joins the texts of a namespace and a name to a key of a map; 0 if one of them is 0. */
static inline uint64_t
name_key(uint32_t space, uint32_t name)
{
    return space == 0 || name == 0 ? 0 : (uint64_t)space << 32 | name;
}

static inline size_t
presence_bytes(uint32_t node_capacity)
{
    return node_capacity / WORD_NODES * sizeof(uint64_t);
}

static inline uint64_t
presence_bit(uint32_t node)
{
    return UINT64_C(1) << node % WORD_NODES;
}

static inline bool
node_exists(const schedq_cluster_t *cluster, uint32_t node)
{
    return node < cluster->nodes_end &&
           (cluster->present[node / WORD_NODES] & presence_bit(node)) != 0;
}

/** The pod of a handle, or NULL. */
static inline struct pod *
pod_of(const schedq_cluster_t *cluster, schedq_running_t handle)
{
    if (handle.index >= cluster->pods_end) {
        return NULL;
    }
    struct pod *pod = &cluster->pods[handle.index];

    return pod->node != SCHEDQ_NO_NODE && pod->generation == handle.generation ? pod : NULL;
}

/** Where the column of a resource begins in a table of the levels. */
static inline const int64_t *
table_column(const schedq_cluster_t *cluster, const int64_t *table, uint32_t resource)
{
    return table + resource * column_cells(cluster->node_capacity);
}

/** What a request asks of an extended resource. */
static inline int64_t
amount_of(const struct amounts *amounts, uint32_t resource)
{
    for (uint32_t i = 0; i < amounts->extended_count; i++) {
        if (amounts->extended[i].resource == resource) {
            return amounts->extended[i].amount;
        }
    }
    return 0;
}

/** Where the words of a call go; those of the last one are gone. */
struct words cluster_words(schedq_cluster_t *cluster);

/** An array with room for at least `wanted` elements, or false: no memory. */
bool array_reserve(struct memory *memory, void *array, uint32_t *capacity, uint32_t wanted,
                   size_t element_bytes);

/** Copies a checked list; false: no memory. */
bool amounts_copy(struct amounts *amounts, const schedq_amounts_t *from, struct memory *memory);
void amounts_free(struct amounts *amounts, struct memory *memory);

/** Texts of "namespace/name", both used once more; false: no memory. */
bool name_use(struct texts *texts, const char *name, uint32_t *space, uint32_t *local);
/** The key of a name, or 0 if nothing has it. */
uint64_t name_find(const struct texts *texts, const char *name);

/** Without checks, for the removal of a node. */
void pod_take_away(schedq_cluster_t *cluster, struct pod *pod);
/** The same, but its node's list and the levels stay as they are: for clear, which ends them. */
void pod_drop(schedq_cluster_t *cluster, struct pod *pod);
void nomination_end(schedq_cluster_t *cluster, struct nomination *nomination);
void budgets_clear(schedq_cluster_t *cluster);

#endif
