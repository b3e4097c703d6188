/* The arena of arena.h. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "arena.h"

#include "sanitized.h"
#include "scheduler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(EXPLORE_SANITIZED)
#define POISON(memory, bytes) __asan_poison_memory_region((memory), (bytes))
#define UNPOISON(memory, bytes) __asan_unpoison_memory_region((memory), (bytes))
#else
#define POISON(memory, bytes) ((void)(memory), (void)(bytes))
#define UNPOISON(memory, bytes) ((void)(memory), (void)(bytes))
#endif

#define ARENA_BYTES ((size_t)256 << 20)
#define GIVEN_BACK 0xdb

/* A fixed place: what the engine makes of an address is the same in every run. */
#define ARENA_ADDRESS ((void *)(uintptr_t)UINT64_C(0x200000000000))

struct arena_map arena_map;

static char *memory;
static uint64_t live;
static uint32_t failing; /* arena_fail */

static void *
map(void *wanted, size_t bytes)
{
    void *mapped = mmap(wanted, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (mapped == MAP_FAILED) {
        perror("schedq-explore: no memory for the arena");
        exit(2);
    }
    return mapped;
}

void
arena_reset(void)
{
    if (memory == NULL) {
        memory = map(ARENA_ADDRESS, ARENA_BYTES);
        arena_map.begin = (uintptr_t)memory;
        arena_map.alive = map(NULL, ARENA_BYTES / ARENA_GRANULE);
    }
    memset(arena_map.alive, 0, arena_map.used / ARENA_GRANULE);
    UNPOISON(memory, arena_map.used);
    arena_map.used = 0;
    live = 0;
    failing = 0;
}

void
arena_fail(uint32_t one_in)
{
    failing = one_in;
}

static size_t
round_up(size_t bytes, size_t unit)
{
    return (bytes + unit - 1) & ~(unit - 1);
}

/*
 * Both functions empty the store buffer: an allocator hands memory to other threads by locked
 * instructions.
 */
static void *
arena_alloc(void *ctx, size_t bytes, size_t align)
{
    size_t granules = round_up(bytes, ARENA_GRANULE);
    size_t begin =
        round_up(arena_map.used + ARENA_GRANULE, align < ARENA_GRANULE ? ARENA_GRANULE : align);

    (void)ctx;
    sim_settle();
    if (begin + granules > ARENA_BYTES ||
        (failing != 0 && random_below(sim_random(), failing) == 0)) {
        return NULL;
    }
    memset(arena_map.alive + begin / ARENA_GRANULE, 1, granules / ARENA_GRANULE);
    POISON(memory + arena_map.used, begin + granules - arena_map.used);
    UNPOISON(memory + begin, bytes);
    arena_map.used = begin + granules;
    live += bytes;
    return memory + begin;
}

static void
arena_free(void *ctx, void *block, size_t bytes)
{
    size_t begin = (size_t)((char *)block - memory);

    (void)ctx;
    sim_settle();
    if (arena_is_dead(block)) {
        sim_fail("memory is given back that is not allocated: arena+0x%zx, %zu bytes", begin,
                 bytes);
    }
    memset(block, GIVEN_BACK, bytes);
    memset(arena_map.alive + begin / ARENA_GRANULE, 0,
           round_up(bytes, ARENA_GRANULE) / ARENA_GRANULE);
    POISON(block, bytes);
    live -= bytes;
}

schedq_allocator_t
arena_allocator(void)
{
    return (schedq_allocator_t){.alloc = arena_alloc, .free = arena_free};
}

uint64_t
arena_live_bytes(void)
{
    return live;
}

uint64_t
arena_offset(const void *address)
{
    uintptr_t offset = (uintptr_t)address - arena_map.begin;

    return offset < arena_map.used ? offset : UINT64_MAX;
}
