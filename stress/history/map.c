/* Open addressing at most half full, linear probing. */
#include "map.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
map_make(map_t *map, size_t count)
{
    size_t size = 1024;
    while (size < 2 * count)
        size *= 2;
    map->cells = calloc(size, sizeof *map->cells);
    if (map->cells == NULL) {
        fprintf(stderr, "schedq-history: no memory for a map of %zu\n", size);
        exit(1);
    }
    map->mask = size - 1;
}

void
map_free(map_t *map)
{
    free(map->cells);
}

void
map_clear(map_t *map)
{
    memset(map->cells, 0, (map->mask + 1) * sizeof *map->cells);
}

static size_t
cell_of(const map_t *map, uint64_t key)
{
    size_t i = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & map->mask;
    while (map->cells[i].key != 0 && map->cells[i].key != key)
        i = (i + 1) & map->mask;
    return i;
}

void *
map_get(const map_t *map, uint64_t key)
{
    return key == 0 ? NULL : map->cells[cell_of(map, key)].value;
}

void
map_put(map_t *map, uint64_t key, void *value)
{
    size_t i = cell_of(map, key);
    map->cells[i].key = key;
    map->cells[i].value = value;
}
