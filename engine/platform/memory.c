/* The three sources of memory.h. */
#include "platform/memory.h"

#include <string.h>

#if defined(SCHEDQ_ALLOCATOR_JEMALLOC)

#include <jemalloc/jemalloc.h>

/*
 * Thread caches would mix the queues of one thread and outlive them, so they are off; every call goes to the arena, which
 * is why nothing in the engine allocates at operation rate.
 */
static void *
arena_alloc(void *ctx, size_t bytes, size_t align)
{
    const struct memory *memory = ctx;

    return mallocx(bytes, MALLOCX_ARENA(memory->arena) | MALLOCX_TCACHE_NONE | MALLOCX_ALIGN(align));
}

static void
arena_free(void *ctx, void *block, size_t bytes)
{
    const struct memory *memory = ctx;

    (void)bytes;
    dallocx(block, MALLOCX_ARENA(memory->arena) | MALLOCX_TCACHE_NONE);
}

static bool
default_open(struct memory *memory)
{
    size_t size = sizeof memory->arena;

    if (mallctl("arenas.create", &memory->arena, &size, NULL, 0) != 0) {
        return false;
    }
    memory->owns_arena = true;
    memory->source = (schedq_allocator_t){.alloc = arena_alloc, .free = arena_free, .ctx = memory};
    return true;
}

static void
default_close(struct memory *memory)
{
    size_t mib[3];
    size_t length = sizeof mib / sizeof mib[0];

    if (mallctlnametomib("arena.0.destroy", mib, &length) == 0) {
        mib[1] = memory->arena;
        (void)mallctlbymib(mib, length, NULL, NULL, NULL, 0);
    }
}

#else

#include <stdlib.h>

static void *
system_alloc(void *ctx, size_t bytes, size_t align)
{
    void *block = NULL;

    (void)ctx;
    if (align < sizeof(void *)) {
        align = sizeof(void *);
    }
    return posix_memalign(&block, align, bytes) == 0 ? block : NULL;
}

static void
system_free(void *ctx, void *block, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(block);
}

static bool
default_open(struct memory *memory)
{
    memory->source = (schedq_allocator_t){.alloc = system_alloc, .free = system_free};
    return true;
}

static void
default_close(struct memory *memory)
{
    (void)memory; /* the C library's heap has no end; owns_arena is never set */
}

#endif

bool
memory_open(struct memory *memory, const schedq_allocator_t *wanted)
{
    memset(memory, 0, sizeof *memory);
    if (wanted->alloc != NULL) {
        memory->source = *wanted;
        return true;
    }
    return default_open(memory);
}

void
memory_adopt(struct memory *memory, const struct memory *from)
{
    *memory = *from;
    if (memory->owns_arena) {
        memory->source.ctx = memory;
    }
}

void
memory_close(struct memory *memory)
{
    if (memory->owns_arena) {
        default_close(memory);
    }
}

void *
memory_alloc_raw(struct memory *memory, enum memory_kind kind, size_t bytes, size_t align)
{
    void *block = memory->source.alloc(memory->source.ctx, bytes, align);

    if (block != NULL) {
        (void)__atomic_fetch_add(&memory->bytes[kind], bytes, __ATOMIC_RELAXED);
    }
    return block;
}

void *
memory_alloc(struct memory *memory, enum memory_kind kind, size_t bytes, size_t align)
{
    void *block = memory_alloc_raw(memory, kind, bytes, align);

    if (block != NULL) {
        memset(block, 0, bytes);
    }
    return block;
}

void
memory_free(struct memory *memory, enum memory_kind kind, void *block, size_t bytes)
{
    if (block != NULL) {
        memory->source.free(memory->source.ctx, block, bytes);
        (void)__atomic_fetch_sub(&memory->bytes[kind], bytes, __ATOMIC_RELAXED);
    }
}

uint64_t
memory_bytes(const struct memory *memory, enum memory_kind kind)
{
    return __atomic_load_n(&memory->bytes[kind], __ATOMIC_RELAXED);
}

void *
memory_grow(struct memory *memory, enum memory_kind kind, void *array, size_t old_count, size_t new_count,
            size_t element_bytes)
{
    void *larger = memory_alloc(memory, kind, new_count * element_bytes, CACHE_LINE);

    if (larger == NULL) {
        return NULL;
    }
    if (array != NULL) {
        memcpy(larger, array, (old_count < new_count ? old_count : new_count) * element_bytes);
        memory_free(memory, kind, array, old_count * element_bytes);
    }
    return larger;
}
