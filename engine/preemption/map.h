/*
 * A map from 64-bit keys to 64-bit values: names of pods (as two text numbers), node names,
 * workloads.
 *
 * Open addressing with linear probing; removal shifts back what follows, so no tombstones. Key 0 is
 * not a key.
 */
#ifndef SCHEDQ_PREEMPTION_MAP_H
#define SCHEDQ_PREEMPTION_MAP_H

#include "platform/memory.h"

struct map_line {
    uint64_t key; /* 0: empty */
    uint64_t value;
};

struct map {
    struct map_line *lines;
    uint32_t size; /* a power of two, or 0 */
    uint32_t count;
};

/** Room for one more; false: no memory, nothing changed. */
bool map_reserve(struct map *map, struct memory *memory);

/** NULL if the key is not there. */
uint64_t *map_find(const struct map *map, uint64_t key);

/** Adds a key that is not there; map_reserve came before. */
void map_add(struct map *map, uint64_t key, uint64_t value);

/** The key is there. */
void map_remove(struct map *map, uint64_t key);

void map_clear(struct map *map);
void map_free(struct map *map, struct memory *memory);

#endif
