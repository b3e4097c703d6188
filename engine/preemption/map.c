/* The map of map.h: at most three quarters full. */
#include "preemption/map.h"

#include <string.h>

#define MAP_MIN 64

static uint32_t
home_of(const struct map *map, uint64_t key)
{
    key = (key ^ key >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(key >> 32) & (map->size - 1);
}

static struct map_line *
line_of(const struct map *map, uint64_t key)
{
    uint32_t at = home_of(map, key);

    while (map->lines[at].key != 0 && map->lines[at].key != key) {
        at = (at + 1) & (map->size - 1);
    }
    return &map->lines[at];
}

bool
map_reserve(struct map *map, struct memory *memory)
{
    if ((uint64_t)map->count * 4 + 4 <= (uint64_t)map->size * 3) {
        return true;
    }
    struct map grown = {.size = map->size == 0 ? MAP_MIN : map->size * 2};

    grown.lines = memory_alloc(memory, MEMORY_INDEX, grown.size * sizeof *grown.lines, CACHE_LINE);
    if (grown.lines == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < map->size; i++) {
        if (map->lines[i].key != 0) {
            map_add(&grown, map->lines[i].key, map->lines[i].value);
        }
    }
    map_free(map, memory);
    *map = grown;
    return true;
}

uint64_t *
map_find(const struct map *map, uint64_t key)
{
    if (map->count == 0) {
        return NULL;
    }
    struct map_line *line = line_of(map, key);

    return line->key == 0 ? NULL : &line->value;
}

void
map_add(struct map *map, uint64_t key, uint64_t value)
{
    *line_of(map, key) = (struct map_line){key, value};
    map->count++;
}

void
map_remove(struct map *map, uint64_t key)
{
    uint32_t mask = map->size - 1;
    uint32_t hole = (uint32_t)(line_of(map, key) - map->lines);

    for (uint32_t at = (hole + 1) & mask; map->lines[at].key != 0; at = (at + 1) & mask) {
        /* A line may move into the hole unless its home lies behind it. */
        if (((at - home_of(map, map->lines[at].key)) & mask) >= ((at - hole) & mask)) {
            map->lines[hole] = map->lines[at];
            hole = at;
        }
    }
    map->lines[hole] = (struct map_line){0, 0};
    map->count--;
}

void
map_clear(struct map *map)
{
    if (map->count > 0) {
        memset(map->lines, 0, map->size * sizeof *map->lines);
        map->count = 0;
    }
}

void
map_free(struct map *map, struct memory *memory)
{
    memory_free(memory, MEMORY_INDEX, map->lines, map->size * sizeof *map->lines);
    *map = (struct map){0};
}
