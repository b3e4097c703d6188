/*
 * Named pods in flat arrays: what the queues that schedq is compared with keep of a pod, and their
 * hash map. Under their lock; a queue orders the pods by their numbers, in arrays of its own.
 *
 *   pods       32 bytes a pod: what pop returns, and the hash, so that done hashes nothing
 *   names      64 bytes a pod: the name and a NUL
 *   cells       8 bytes, at least two for each pod: the hash map, open addressing, linear probing,
 *              removal by moving later cells back (no tombstones, so that it does not decay under
 *              churn)
 *   free_pods   4 bytes a pod: the free numbers, a stack, so that the one freed last, whose memory
 *              is warm, is used next
 */
#ifndef SCHEDQ_BENCH_NAME_TABLE_H
#define SCHEDQ_BENCH_NAME_TABLE_H

#include "name_hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define NO_POD UINT32_MAX

typedef struct pod {
    uint64_t object;
    int64_t arrival_ns;
    uint32_t hash;
    uint32_t name_length;
    int32_t priority;
    uint32_t mark; /* the queue's own */
} pod_t;

typedef struct name_cell {
    uint32_t hash;
    uint32_t pod; /* NO_POD: empty */
} name_cell_t;

typedef struct name_table {
    uint32_t capacity;
    uint32_t free_count;
    uint32_t cell_mask;
    pod_t *pods;
    char *names;
    name_cell_t *cells;
    uint32_t *free_pods;
} name_table_t;

/* ---- life ------------------------------------------------------------------------------------ */

static inline void *
flat_array(size_t count, size_t size)
{
    size_t bytes = (count * size + 63) / 64 * 64;
    return aligned_alloc(64, bytes);
}

static inline void
name_table_free(name_table_t *table)
{
    free(table->pods);
    free(table->names);
    free(table->cells);
    free(table->free_pods);
}

/* False: no memory; name_table_free all the same. */
static inline bool
name_table_make(name_table_t *table, uint32_t capacity)
{
    uint32_t cells = 4;

    while (cells < 2 * capacity) {
        cells *= 2;
    }
    table->pods = flat_array(capacity, sizeof *table->pods);
    table->names = flat_array(capacity, NAME_CELL);
    table->cells = flat_array(cells, sizeof *table->cells);
    table->free_pods = flat_array(capacity, sizeof *table->free_pods);
    if (!table->pods || !table->names || !table->cells || !table->free_pods) {
        return false;
    }
    table->capacity = capacity;
    table->cell_mask = cells - 1;
    for (uint32_t i = 0; i < cells; i++) {
        table->cells[i].pod = NO_POD;
    }
    for (uint32_t i = 0; i < capacity; i++) {
        table->free_pods[i] = capacity - 1 - i;
    }
    table->free_count = capacity;
    return true;
}

/* ---- names ----------------------------------------------------------------------------------- */

static inline bool
name_fits(uint32_t length)
{
    return length >= 1 && length <= NAME_MAX_BYTES;
}

static inline const char *
name_of_pod(const name_table_t *table, uint32_t pod)
{
    return table->names + (size_t)pod * NAME_CELL;
}

static inline void
name_prefetch(const name_table_t *table, uint32_t hash)
{
    __builtin_prefetch(&table->cells[hash & table->cell_mask], 1);
}

/* The cell of this name, or the empty cell that ends its search. */
static inline name_cell_t *
name_search(const name_table_t *table, const char *name, uint32_t length, uint32_t hash)
{
    uint32_t i = hash & table->cell_mask;
    for (;; i = (i + 1) & table->cell_mask) {
        name_cell_t *cell = &table->cells[i];
        if (cell->pod == NO_POD) {
            return cell;
        }
        if (cell->hash == hash && table->pods[cell->pod].name_length == length &&
            memcmp(name_of_pod(table, cell->pod), name, length) == 0) {
            return cell;
        }
    }
}

/* Takes a free pod, which there is, fills it, and gives it the empty cell of its name. */
static inline uint32_t
name_take(name_table_t *table, name_cell_t *cell, const char *name, const pod_t *values)
{
    uint32_t pod = table->free_pods[--table->free_count];
    char *copy = table->names + (size_t)pod * NAME_CELL;

    table->pods[pod] = *values;
    memcpy(copy, name, values->name_length);
    copy[values->name_length] = '\0';
    *cell = (name_cell_t){.hash = values->hash, .pod = pod};
    return pod;
}

/* The pod's name, and its number, are free again. */
static inline void
name_release(name_table_t *table, uint32_t pod)
{
    const uint32_t mask = table->cell_mask;
    uint32_t hole = table->pods[pod].hash & mask;

    while (table->cells[hole].pod != pod) {
        hole = (hole + 1) & mask;
    }
    /*
     * A later cell of the cluster fills the hole unless the hole lies before the cell's own home.
     */
    for (uint32_t i = (hole + 1) & mask; table->cells[i].pod != NO_POD; i = (i + 1) & mask) {
        uint32_t home = table->cells[i].hash & mask;
        if (((i - home) & mask) >= ((i - hole) & mask)) {
            table->cells[hole] = table->cells[i];
            hole = i;
        }
    }
    table->cells[hole].pod = NO_POD;
    table->free_pods[table->free_count++] = pod;
}

#endif
