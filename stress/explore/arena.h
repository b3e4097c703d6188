/*
 * The memory of the queue under test: a caller's allocator (schedq_config_t.allocator) that only
 * ever advances, and is reset for each episode.
 *
 * So a queue costs no more than it touches, an abandoned one costs nothing, addresses repeat from
 * run to run, and memory that was given back is not used again in the episode: an access to it is
 * seen for sure.
 */
#ifndef EXPLORE_ARENA_H
#define EXPLORE_ARENA_H

#include <schedq/schedq.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void arena_reset(void);
schedq_allocator_t arena_allocator(void);

/**
 * From here to the next reset one allocation out of `one_in`, drawn at random, gives nothing; 0:
 * none, 1: all.
 */
void arena_fail(uint32_t one_in);

/** Bytes that were allocated and not given back. */
uint64_t arena_live_bytes(void);

#define ARENA_GRANULE 16

/**
 * The arena as arena_is_dead sees it: where it begins, how far it is used, and a byte per granule:
 * is it allocated?
 */
struct arena_map {
    uintptr_t begin;
    size_t used;
    uint8_t *alive;
};

extern struct arena_map arena_map;

/** Does the address lie in the arena, outside every block that is allocated? */
static inline bool
arena_is_dead(const void *address)
{
    uintptr_t offset = (uintptr_t)address - arena_map.begin;

    return offset < arena_map.used && arena_map.alive[offset / ARENA_GRANULE] == 0;
}

/** How far into the arena an address is; UINT64_MAX: it is elsewhere. */
uint64_t arena_offset(const void *address);

#endif
