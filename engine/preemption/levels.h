/*
 * How much room every node would have if only its pods above some priority stayed.
 *
 * A level is a priority of running pods. Its table says for each resource and node what would be
 * free if all pods of that priority and below left (protected ones stay). A preemptor looks at the
 * level right below its own priority: a node with less room than it asks for is no candidate, and
 * none of its pods has to be read. Two tables stand beside the levels: `free`, what is free now,
 * and `allocatable`.
 *
 * Tables are kept for LEVELS_MAX priorities. If there are more, a preemptor may have to do with the
 * table of a higher priority, or with `allocatable`: too much room, so that no candidate is lost,
 * but such a node's pods have to be added up.
 */
#ifndef SCHEDQ_PREEMPTION_LEVELS_H
#define SCHEDQ_PREEMPTION_LEVELS_H

#include "platform/memory.h"

#define LEVELS_MAX 32
/* Nodes of a group: as many cells as a cache line has. */
#define GROUP_NODES 8

/**
 * A table has a column for each resource: a cell for each node, then for each group of nodes the
 * greatest of its cells.
 */
struct level {
    int32_t priority;
    uint32_t pods;
    int64_t *room; /* NULL: no table is kept */
};

struct levels {
    struct level *items; /* by priority, ascending */
    uint32_t count, capacity;
    uint32_t tables;
    int64_t *allocatable, *free;
};

struct amounts;
typedef struct schedq_cluster schedq_cluster_t;

/** Cells of a column, those of its groups included. */
static inline size_t
column_cells(uint32_t node_capacity)
{
    return (size_t)node_capacity + node_capacity / GROUP_NODES;
}

/**
 * Makes room for one more node, or for one more resource, in every table; false: no memory, nothing
 * changed.
 */
bool levels_resize(schedq_cluster_t *cluster, uint32_t node_capacity, uint32_t resource_count);

/**
 * Makes sure that there is a level for this priority; false: no memory, nothing changed but an
 * unused level.
 */
bool levels_prepare(schedq_cluster_t *cluster, int32_t priority);

/**
 * A pod comes to a node (sign -1: the room shrinks) or leaves it (+1). Its priority has a level.
 */
void levels_pod(schedq_cluster_t *cluster, uint32_t node, int32_t priority, bool is_protected,
                const struct amounts *requests, int sign);

/** One pod of this priority less; the last one takes the level with it. */
void levels_release(schedq_cluster_t *cluster, int32_t priority);
void levels_retain(schedq_cluster_t *cluster, int32_t priority);

/** Gives a node without pods these amounts (NULL: nothing), or one with pods other ones. */
void levels_node(schedq_cluster_t *cluster, uint32_t node, const struct amounts *amounts,
                 int64_t pods);

/** The table for a preemptor, as levels_below finds it. */
struct room {
    const int64_t *table;
    bool exact; /* not more than what is free without the pods below that may go */
    bool none;  /* no pod at all is below */
};

struct room levels_below(const struct levels *levels, int32_t priority);

void levels_clear(schedq_cluster_t *cluster);
void levels_free(schedq_cluster_t *cluster);

#endif
