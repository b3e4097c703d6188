/*
 * The tables of levels.h, kept up to date by differences; only a new level is added up from the
 * nodes.
 */
#include "preemption/levels.h"

#include "preemption/cluster.h"

#include <string.h>

static size_t
table_bytes(const schedq_cluster_t *cluster)
{
    return column_cells(cluster->node_capacity) * cluster->resource_count * sizeof(int64_t);
}

static void
table_free(schedq_cluster_t *cluster, int64_t **table)
{
    memory_free(&cluster->memory, MEMORY_QUEUES, *table, table_bytes(cluster));
    *table = NULL;
}

/* Position of a priority, or of the first one above it. */
static uint32_t
position(const struct levels *levels, int32_t priority)
{
    uint32_t low = 0;
    uint32_t high = levels->count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (levels->items[middle].priority < priority) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static struct level *
level_at(const struct levels *levels, int32_t priority)
{
    return &levels->items[position(levels, priority)];
}

/* ---- one node in one table ------------------------------------------------------------------- */

/* A group's greatest cell is looked for again only if the one that shrinks may have been it. */
static void
cell_add(const schedq_cluster_t *cluster, int64_t *table, uint32_t node, uint32_t resource,
         int64_t difference)
{
    int64_t *column = table + resource * column_cells(cluster->node_capacity);
    int64_t *greatest = &column[cluster->node_capacity + node / GROUP_NODES];
    const int64_t *group = &column[node / GROUP_NODES * GROUP_NODES];
    int64_t before = column[node];

    column[node] += difference;
    if (difference < 0 && before == *greatest) {
        *greatest = group[0];
        for (uint32_t i = 1; i < GROUP_NODES; i++) {
            *greatest = group[i] > *greatest ? group[i] : *greatest;
        }
    } else if (column[node] > *greatest) {
        *greatest = column[node];
    }
}

static void
table_add(const schedq_cluster_t *cluster, int64_t *table, uint32_t node,
          const struct amounts *amounts, int64_t pods, int64_t sign)
{
    cell_add(cluster, table, node, SCHEDQ_RESOURCE_CPU, sign * amounts->cpu);
    cell_add(cluster, table, node, SCHEDQ_RESOURCE_MEMORY, sign * amounts->memory);
    cell_add(cluster, table, node, SCHEDQ_RESOURCE_PODS, sign * pods);
    for (uint32_t i = 0; i < amounts->extended_count; i++) {
        cell_add(cluster, table, node, amounts->extended[i].resource,
                 sign * amounts->extended[i].amount);
    }
}

static bool
stays(const struct level *level, int32_t priority, bool is_protected)
{
    return is_protected || priority > level->priority;
}

void
levels_pod(schedq_cluster_t *cluster, uint32_t node, int32_t priority, bool is_protected,
           const struct amounts *requests, int sign)
{
    struct levels *levels = &cluster->levels;

    table_add(cluster, levels->free, node, requests, 1, sign);
    for (uint32_t i = 0; i < levels->count; i++) {
        if (levels->items[i].room != NULL && stays(&levels->items[i], priority, is_protected)) {
            table_add(cluster, levels->items[i].room, node, requests, 1, sign);
        }
    }
}

/* Adds `now` - `before` of every resource to a node. */
static void
table_change(const schedq_cluster_t *cluster, int64_t *table, uint32_t node,
             const int64_t *difference)
{
    for (uint32_t r = 0; r < cluster->resource_count; r++) {
        cell_add(cluster, table, node, r, difference[r]);
    }
}

void
levels_node(schedq_cluster_t *cluster, uint32_t node, const struct amounts *amounts, int64_t pods)
{
    struct levels *levels = &cluster->levels;
    int64_t difference[SCHEDQ_RESOURCES_MAX];

    for (uint32_t r = 0; r < cluster->resource_count; r++) {
        difference[r] = -table_column(cluster, levels->allocatable, r)[node];
    }
    if (amounts != NULL) {
        difference[SCHEDQ_RESOURCE_CPU] += amounts->cpu;
        difference[SCHEDQ_RESOURCE_MEMORY] += amounts->memory;
        difference[SCHEDQ_RESOURCE_PODS] += pods;
        for (uint32_t i = 0; i < amounts->extended_count; i++) {
            difference[amounts->extended[i].resource] += amounts->extended[i].amount;
        }
    }
    table_change(cluster, levels->allocatable, node, difference);
    table_change(cluster, levels->free, node, difference);
    for (uint32_t i = 0; i < levels->count; i++) {
        if (levels->items[i].room != NULL) {
            table_change(cluster, levels->items[i].room, node, difference);
        }
    }
}

/* ---- levels ---------------------------------------------------------------------------------- */

/* What is free, and what the pods that may go at this level hold. */
static void
fill(const schedq_cluster_t *cluster, const struct level *level)
{
    memcpy(level->room, cluster->levels.free, table_bytes(cluster));
    for (uint32_t node = 0; node < cluster->nodes_end; node++) {
        const struct node *of = &cluster->nodes[node];

        for (uint32_t i = of->slot_count; i > 0 && of->slots[i - 1].priority <= level->priority;
             i--) {
            if ((of->slots[i - 1].flags & SLOT_PROTECTED) == 0) {
                table_add(cluster, level->room, node,
                          &cluster->pods[of->slots[i - 1].pod.index].requests, 1, 1);
            }
        }
    }
}

/* False: no memory. A table beyond LEVELS_MAX is not made. */
static bool
make_table(schedq_cluster_t *cluster, struct level *level)
{
    if (cluster->levels.tables == LEVELS_MAX) {
        return true;
    }
    level->room = memory_alloc(&cluster->memory, MEMORY_QUEUES, table_bytes(cluster), CACHE_LINE);
    if (level->room == NULL) {
        return false;
    }
    cluster->levels.tables++;
    fill(cluster, level);
    return true;
}

bool
levels_prepare(schedq_cluster_t *cluster, int32_t priority)
{
    struct levels *levels = &cluster->levels;
    uint32_t at = position(levels, priority);

    if (at < levels->count && levels->items[at].priority == priority) {
        return true;
    }
    if (!array_reserve(&cluster->memory, &levels->items, &levels->capacity, levels->count + 1,
                       sizeof *levels->items)) {
        return false;
    }
    struct level made = {.priority = priority};

    if (!make_table(cluster, &made)) {
        return false;
    }
    memmove(&levels->items[at + 1], &levels->items[at],
            (levels->count - at) * sizeof *levels->items);
    levels->items[at] = made;
    levels->count++;
    return true;
}

void
levels_retain(schedq_cluster_t *cluster, int32_t priority)
{
    level_at(&cluster->levels, priority)->pods++;
}

/* A table that has become free goes to the highest priority without one, if there is memory. */
static void
hand_on(schedq_cluster_t *cluster)
{
    struct levels *levels = &cluster->levels;

    for (uint32_t i = levels->count; i > 0; i--) {
        if (levels->items[i - 1].room == NULL) {
            (void)make_table(cluster, &levels->items[i - 1]);
            return;
        }
    }
}

void
levels_release(schedq_cluster_t *cluster, int32_t priority)
{
    struct levels *levels = &cluster->levels;
    struct level *level = level_at(levels, priority);

    if (level->pods > 0 && --level->pods > 0) {
        return;
    }
    bool had_table = level->room != NULL;

    table_free(cluster, &level->room);
    levels->count--;
    memmove(level, level + 1, (size_t)(&levels->items[levels->count] - level) * sizeof *level);
    if (had_table) {
        levels->tables--;
        hand_on(cluster);
    }
}

struct room
levels_below(const struct levels *levels, int32_t priority)
{
    uint32_t at = position(levels, priority);

    if (at == 0) {
        return (struct room){.table = levels->free, .exact = true, .none = true};
    }
    if (levels->items[at - 1].room != NULL) {
        return (struct room){.table = levels->items[at - 1].room, .exact = true};
    }
    for (; at < levels->count; at++) {
        if (levels->items[at].room != NULL) {
            return (struct room){.table = levels->items[at].room};
        }
    }
    return (struct room){.table = levels->allocatable};
}

/* ---- sizes ----------------------------------------------------------------------------------- */

/* A table of the new size with what the old one holds, or NULL. */
static int64_t *
table_resized(schedq_cluster_t *cluster, const int64_t *old, uint32_t node_capacity,
              uint32_t resource_count)
{
    size_t bytes = column_cells(node_capacity) * resource_count * sizeof *old;
    int64_t *table = memory_alloc(&cluster->memory, MEMORY_QUEUES, bytes, CACHE_LINE);
    uint32_t nodes = cluster->node_capacity;

    if (table == NULL || old == NULL) {
        return table;
    }
    for (uint32_t r = 0; r < cluster->resource_count; r++) {
        const int64_t *from = table_column(cluster, old, r);
        int64_t *to = table + r * column_cells(node_capacity);

        memcpy(to, from, nodes * sizeof *to);
        memcpy(to + node_capacity, from + nodes, nodes / GROUP_NODES * sizeof *to);
    }
    return table;
}

/* All tables: `free`, `allocatable`, and those of the levels. */
static int64_t **
table_number(struct levels *levels, uint32_t number)
{
    if (number < 2) {
        return number == 0 ? &levels->free : &levels->allocatable;
    }
    return &levels->items[number - 2].room;
}

bool
levels_resize(schedq_cluster_t *cluster, uint32_t node_capacity, uint32_t resource_count)
{
    struct levels *levels = &cluster->levels;
    uint32_t count = levels->count + 2;
    size_t list_bytes = count * sizeof(int64_t *);
    int64_t **made = memory_alloc(&cluster->memory, MEMORY_OTHER, list_bytes, CACHE_LINE);
    bool enough = made != NULL;

    for (uint32_t i = 0; enough && i < count; i++) {
        const int64_t *old = *table_number(levels, i);

        if (i < 2 || old != NULL) {
            made[i] = table_resized(cluster, old, node_capacity, resource_count);
            enough = made[i] != NULL;
        }
    }
    for (uint32_t i = 0; made != NULL && i < count; i++) {
        int64_t **table = table_number(levels, i);

        if (enough) {
            table_free(cluster, table);
            *table = made[i];
        } else if (made[i] != NULL) {
            memory_free(&cluster->memory, MEMORY_QUEUES, made[i],
                        column_cells(node_capacity) * resource_count * sizeof(int64_t));
        }
    }
    memory_free(&cluster->memory, MEMORY_OTHER, made, list_bytes);
    return enough;
}

void
levels_clear(schedq_cluster_t *cluster)
{
    struct levels *levels = &cluster->levels;

    for (uint32_t i = 0; i < levels->count; i++) {
        table_free(cluster, &levels->items[i].room);
    }
    levels->count = 0;
    levels->tables = 0;
    if (levels->free != NULL) {
        memset(levels->free, 0, table_bytes(cluster));
        memset(levels->allocatable, 0, table_bytes(cluster));
    }
}

void
levels_free(schedq_cluster_t *cluster)
{
    struct levels *levels = &cluster->levels;

    levels_clear(cluster);
    table_free(cluster, &levels->free);
    table_free(cluster, &levels->allocatable);
    memory_free(&cluster->memory, MEMORY_OTHER, levels->items,
                levels->capacity * sizeof *levels->items);
}
