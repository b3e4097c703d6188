/*
 * What the tests of lock-free parts stand on: memory that counts, an epoch, the records of pods.
 *
 * A test's world begins with its ground. The allocator runs a hook, so that another thread's work
 * comes exactly where a part allocates. When the ground is given back every byte must be back, each
 * freed with its size.
 */
#ifndef SCHEDQ_TESTS_UNIT_GROUND_H
#define SCHEDQ_TESTS_UNIT_GROUND_H

#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "expect.h"
#include "lockfree/pod/entry.h"

typedef struct world world_t; /* each test's own */

struct ground {
    account_t account;
    schedq_allocator_t plain;
    void (*hook)(world_t *world); /* once, inside the next allocation */
    struct memory memory;
    struct epoch *epoch;
    struct epoch_record *record; /* of the main thread, outside of sections */
    struct entries entries;
};

static inline void *
ground_alloc(void *ctx, size_t bytes, size_t align)
{
    struct ground *ground = ctx;
    void (*hook)(world_t *) = ground->hook;
    if (hook != NULL) {
        ground->hook = NULL;
        hook(ctx);
    }
    return ground->plain.alloc(ground->plain.ctx, bytes, align);
}

static inline void
ground_dealloc(void *ctx, void *memory, size_t bytes)
{
    struct ground *ground = ctx;
    ground->plain.free(ground->plain.ctx, memory, bytes);
}

/** A world of so many bytes: its ground, then zeroes. */
static inline world_t *
ground_make(size_t world_bytes)
{
    void *world = NULL;
    assert_int_equal(posix_memalign(&world, CACHE_LINE, world_bytes), 0);
    memset(world, 0, world_bytes);
    struct ground *ground = world;
    account_init(&ground->account);
    ground->plain = account_allocator(&ground->account);
    const schedq_allocator_t allocator = {
        .alloc = ground_alloc, .free = ground_dealloc, .ctx = ground};
    memory_open(&ground->memory, &allocator);
    ground->epoch = epoch_open(&ground->memory, true);
    ground->record = epoch_record_make(ground->epoch);
    records_open(&ground->entries, &ground->memory, 0);
    return world;
}

/** Frees the world, when nothing stands on its ground any more. */
static inline void
ground_free(world_t *world)
{
    struct ground *ground = (struct ground *)(void *)world;
    records_close(&ground->entries);
    epoch_close(ground->epoch);
    for (unsigned i = 0; i < MEMORY_KINDS; i++)
        assert_int_equal(memory_bytes(&ground->memory, i), 0);
    assert_int_equal(atomic_load(&ground->account.blocks), 0);
    assert_int_equal(atomic_load(&ground->account.faults), 0);
    memory_close(&ground->memory);
    free(world);
}

#endif
