/* The three sources of memory.h. */
#include "platform/memory.h"

#include <string.h>

#if defined(SCHEDQ_ALLOCATOR_JEMALLOC)

#include <jemalloc/jemalloc.h>
#include <sys/types.h>

#define TEXT(number) TEXT_OF(number)
#define TEXT_OF(number) #number

/*
 * jemalloc's own arenas, which all queues of the process share: a thread keeps to one of them. An
 * arena for each queue would cost a large part of a MB, and there can be 4,095. Thread caches would
 * hold back what queues gave, and are not worth their memory: nothing in the engine allocates at
 * operation rate.
 */
#define FLAGS MALLOCX_TCACHE_NONE

/** jemalloc reads it before anything else. */
const char *malloc_conf = "tcache:false";

/*
 * What the copy calls instead of secure_getenv, for MALLOC_CONF, and of readlink, for
 * /etc/malloc.conf (engine/CMakeLists.txt): these are settings of another jemalloc, and could make
 * this one print, abort or start threads.
 */
char *jemalloc_secure_getenv(const char *name);
ssize_t jemalloc_readlink(const char *path, char *out, size_t capacity);

char *
jemalloc_secure_getenv(const char *name)
{
    (void)name;
    return NULL;
}

ssize_t
jemalloc_readlink(const char *path, char *out, size_t capacity)
{
    (void)path;
    (void)out;
    (void)capacity;
    return -1;
}

static void *
default_alloc(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    return mallocx(bytes, FLAGS | MALLOCX_ALIGN(align));
}

/*
 * What comes fresh from the kernel is zero, and is not touched. jemalloc does so with blocks of
 * LARGE bytes and more, and writes zeroes into smaller ones: what is nearly as large becomes LARGE,
 * so that it is resident only where it is used.
 */
#define LARGE ((size_t)16384)
#define NEARLY_LARGE (LARGE / 2)

static void *
default_alloc_zeroed(size_t bytes, size_t align)
{
    size_t size = bytes >= NEARLY_LARGE && bytes < LARGE ? LARGE : bytes;

    return mallocx(size, FLAGS | MALLOCX_ZERO | MALLOCX_ALIGN(align));
}

static void
default_free(void *ctx, void *block, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    dallocx(block, FLAGS);
}

/* Returns what is free in all arenas: a queue's blocks may lie in any of them. */
static void
default_purge(void)
{
    (void)mallctl("arena." TEXT(MALLCTL_ARENAS_ALL) ".purge", NULL, NULL, NULL, 0);
}

#else

#include <stdlib.h>

static void *
default_alloc(void *ctx, size_t bytes, size_t align)
{
    void *block = NULL;

    (void)ctx;
    if (align < sizeof(void *)) {
        align = sizeof(void *);
    }
    return posix_memalign(&block, align, bytes) == 0 ? block : NULL;
}

static void
default_free(void *ctx, void *block, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(block);
}

static void *
default_alloc_zeroed(size_t bytes, size_t align)
{
    void *block = default_alloc(NULL, bytes, align);

    if (block != NULL) {
        memset(block, 0, bytes);
    }
    return block;
}

static void
default_purge(void)
{
    /* The C library's heap is the program's as well, which decides when it shrinks. */
}

#endif

/** Bytes that ended queues gave back; so many are worth a visit to the kernel. */
#define PURGE_AFTER (UINT64_C(1) << 20)
static uint64_t given_back;

void
memory_open(struct memory *memory, const schedq_allocator_t *wanted)
{
    memset(memory, 0, sizeof *memory);
    memory->is_default = wanted->alloc == NULL;
    memory->source = *wanted;
    if (memory->is_default) {
        memory->source = (schedq_allocator_t){.alloc = default_alloc, .free = default_free};
    }
}

static void *
counted(struct memory *memory, enum memory_kind kind, void *block, size_t bytes)
{
    if (block != NULL) {
        (void)__atomic_fetch_add(&memory->taken[kind], bytes, __ATOMIC_RELAXED);
    }
    return block;
}

void *
memory_alloc_raw(struct memory *memory, enum memory_kind kind, size_t bytes, size_t align)
{
    return counted(memory, kind, memory->source.alloc(memory->source.ctx, bytes, align), bytes);
}

void *
memory_alloc(struct memory *memory, enum memory_kind kind, size_t bytes, size_t align)
{
    if (memory->is_default) {
        return counted(memory, kind, default_alloc_zeroed(bytes, align), bytes);
    }
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
        (void)__atomic_fetch_add(&memory->given[kind], bytes, __ATOMIC_RELEASE);
    }
}

void
memory_purge(const struct memory *memory)
{
    if (memory->is_default) {
        default_purge();
    }
}

void
memory_close(const struct memory *memory)
{
    uint64_t bytes = 0;

    for (unsigned kind = 0; kind < MEMORY_KINDS; kind++) {
        bytes += memory->given[kind];
    }
    if (__atomic_add_fetch(&given_back, bytes, __ATOMIC_RELAXED) >= PURGE_AFTER) {
        __atomic_store_n(&given_back, 0, __ATOMIC_RELAXED);
        memory_purge(memory);
    }
}

uint64_t
memory_bytes(const struct memory *memory, enum memory_kind kind)
{
    /* In this order: bytes are taken before they are given, so the difference does not wrap. */
    uint64_t given = __atomic_load_n(&memory->given[kind], __ATOMIC_ACQUIRE);

    return __atomic_load_n(&memory->taken[kind], __ATOMIC_RELAXED) - given;
}

void *
memory_grow(struct memory *memory, enum memory_kind kind, void *array, size_t old_count,
            size_t new_count, size_t element_bytes)
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
