/*
 * A hash map from handles or tokens to lives, made for one round and emptied for the next.
 */
#ifndef SCHEDQ_HISTORY_MAP_H
#define SCHEDQ_HISTORY_MAP_H

#include <stddef.h>
#include <stdint.h>

typedef struct map {
    struct {
        uint64_t key; /* 0: free */
        void *value;
    } * cells;
    size_t mask;
} map_t;

/** Room for `count` keys; ends the process if there is no memory. */
void map_make(map_t *map, size_t count);
void map_free(map_t *map);
void map_clear(map_t *map);
/** NULL if the key, which is not 0, is not there. */
void *map_get(const map_t *map, uint64_t key);
/** Adds a key that is not there. `value` is not NULL. */
void map_put(map_t *map, uint64_t key, void *value);

#endif
