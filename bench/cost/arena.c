/*
 * The arena of arena.h: blocks whose sizes are powers of two. The freed ones of each size are in a
 * list, the one freed last first.
 */
#define _GNU_SOURCE /* MAP_FIXED_NOREPLACE */
#include "arena.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SMALLEST_BITS = 6, SIZES = 33, PAGE = 4096 };

struct freed {
    struct freed *next;
};

static struct freed *freed[SIZES];
static bool mapped;
static size_t used;

void
arena_reset(void)
{
    void *wanted = (void *)(uintptr_t)ARENA_BEGIN;

    if (mapped) {
        (void)munmap(wanted, ARENA_BYTES);
    }
    if (mmap(wanted, ARENA_BYTES, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) != wanted) {
        perror("schedq-cost: no memory at the arena's address");
        exit(1);
    }
    for (unsigned size = 0; size < SIZES; size++) {
        freed[size] = NULL;
    }
    mapped = true;
    used = 0;
}

static unsigned
bits_of(size_t bytes, size_t align)
{
    unsigned bits = SMALLEST_BITS;

    while (((size_t)1 << bits) < bytes || ((size_t)1 << bits) < align) {
        bits++;
    }
    return bits;
}

/*
 * A block of a power of two is aligned to it, and so to anything that was asked for; above a page
 * that is enough.
 */
static void *
arena_alloc(void *ctx, size_t bytes, size_t align)
{
    unsigned bits = bits_of(bytes, align);
    size_t size = (size_t)1 << bits;
    size_t to = size < PAGE ? size : PAGE;
    size_t begin = (used + to - 1) & ~(to - 1);

    (void)ctx;
    if (bits >= SIZES) {
        return NULL;
    }
    if (freed[bits] != NULL) {
        struct freed *block = freed[bits];

        freed[bits] = block->next;
        return block;
    }
    if (begin + size > ARENA_BYTES) {
        return NULL;
    }
    used = begin + size;
    return (void *)(uintptr_t)(ARENA_BEGIN + begin);
}

static void
arena_free(void *ctx, void *memory, size_t bytes)
{
    struct freed *block = memory;
    unsigned bits = bits_of(bytes, 1);

    (void)ctx;
    block->next = freed[bits];
    freed[bits] = block;
}

schedq_allocator_t
arena_allocator(void)
{
    return (schedq_allocator_t){.alloc = arena_alloc, .free = arena_free};
}
