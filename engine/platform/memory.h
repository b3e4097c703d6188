/*
 * Where memory comes from, and how much of it there is, by kind.
 *
 * Three sources behind one table of functions: the caller's allocator, jemalloc, or the C library
 * (`system`: what sanitizers need, see the build's SCHEDQ_ALLOCATOR). The only file that knows
 * jemalloc is memory.c. It is the library's own copy, beside the program's malloc, whatever that
 * is; its arenas are shared by all queues of the process. schedq_preemption and schedq_evictor
 * compile memory.c anew, with the C library as their build's source.
 *
 * Any thread may allocate and free; the byte counts are sums of what all did, and order nothing.
 */
#ifndef SCHEDQ_PLATFORM_MEMORY_H
#define SCHEDQ_PLATFORM_MEMORY_H

#include <schedq/base.h>

#include <stdbool.h>

enum memory_kind {
    MEMORY_ENTRIES,
    MEMORY_NAMES,
    MEMORY_INDEX,
    MEMORY_QUEUES,
    MEMORY_OTHER,
    MEMORY_KINDS
};

struct memory {
    schedq_allocator_t source;
    uint64_t taken[MEMORY_KINDS], given[MEMORY_KINDS]; /* bytes since memory_open */
    bool is_default;                                   /* the source is the build's */
};

#define CACHE_LINE 64
/** What a load brings on many processors: a line and its neighbour. */
#define LINE_PAIR (2 * CACHE_LINE)

/**
 * A zeroed `wanted` means the build's default.
 *
 * The description may be copied while no other thread allocates or frees.
 */
void memory_open(struct memory *memory, const schedq_allocator_t *wanted);

/**
 * Called when everything was freed. Returns that to the kernel, with what other queues freed, when
 * there is enough of it.
 */
void memory_close(const struct memory *memory);

/** Returns what was freed to the kernel, if the source is the build's jemalloc. */
void memory_purge(const struct memory *memory);

/** Zeroed memory, or NULL. `align` is a power of two. */
void *memory_alloc(struct memory *memory, enum memory_kind kind, size_t bytes, size_t align);

/** As memory_alloc, not zeroed: for what is large and written before it is read. */
void *memory_alloc_raw(struct memory *memory, enum memory_kind kind, size_t bytes, size_t align);

/** NULL is allowed. */
void memory_free(struct memory *memory, enum memory_kind kind, void *block, size_t bytes);

/** Bytes that are allocated of a kind; exact when no thread allocates or frees meanwhile. */
uint64_t memory_bytes(const struct memory *memory, enum memory_kind kind);

/**
 * A larger copy of an array: the new elements are zero. NULL if there is no memory; the old array
 * stays.
 *
 * A NULL array with old_count 0 is an ordinary allocation.
 */
void *memory_grow(struct memory *memory, enum memory_kind kind, void *array, size_t old_count,
                  size_t new_count, size_t element_bytes);

#endif
