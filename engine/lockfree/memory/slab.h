/*
 * Objects of one size that are used again at once: records of pods, names, descriptions, runs.
 *
 * CONTRACT. An object is named by a number from 1 to 2^28 - 1; 0 names none. Its memory stays
 * mapped, with the same type, until slab_trim or slab_close. So any thread may read an object of
 * another, and must make sure afterwards, by versions, tags or generations, that it was the one it
 * meant. Recycling does not wait for a grace period: one thread that stops would hold back 100 MB a
 * second. Takes and slab_trim are called inside an epoch section: they read objects whose page may
 * be trimmed meanwhile. The other functions touch only what is the caller's.
 *
 * FREE OBJECTS. Each worker has a cache of its own (struct slab_cache), last in, first out: what
 * was used last is warm. Caches exchange magazines of MAGAZINE objects through a stack that all
 * share. The links lie in two words of the free objects; a late reader sees links there instead of
 * data, like any other change.
 */
#ifndef SCHEDQ_LOCKFREE_SLAB_H
#define SCHEDQ_LOCKFREE_SLAB_H

#include "engine.h"
#include "lockfree/memory/sizes.h"
#include "platform/atomic.h"
#include "platform/epoch.h"
#include "platform/memory.h"

#define SLAB_OBJECTS_MAX ((UINT32_C(1) << 28) - 1)
/** A worker that is stopped for ever holds at most so many free objects. */
#define SLAB_CACHE_MAX (2 * MAGAZINE)

#define SLAB_VERSION_MASK ((UINT64_C(1) << 36) - 1)

#define SLAB_ROOT 256
#define SLAB_LEAF 4096

/**
 * What a slab's objects are. Offsets are in bytes; the slab uses the words there while the object
 * is free.
 */
struct slab_kind {
    enum memory_kind memory;
    uint32_t bytes; /* a multiple of 8 */
    uint32_t apart; /* bytes that each object has behind all objects of its page (slab_apart) */
    /* objects per page = 1 << page_bits: 6 (a magazine) to 27; all numbers exist from 8 on */
    uint32_t page_bits;
    uint32_t link;          /* an atomic_u64: the next of a chain */
    uint32_t magazine_link; /* an atomic_u64: the next magazine */
    /*
     * Objects in a page that was made after another was given back must not repeat what stale
     * references say: `prepare` starts an object's version (a number that goes round after
     * SLAB_VERSION_MASK) after `floor`, `version` reads it. Both NULL: nothing refers to versions.
     * prepare finds the object zeroed, and late readers looking at it: it stores atomically.
     */
    void (*prepare)(void *object, uint64_t floor);
    uint64_t (*version)(const void *object);
};

struct slab {
    struct slab_kind kind;
    struct memory *memory;
    /*
     * no version in a trimmed page came after; its low bits are a version, and it does not go round
     */
    atomic_u64 floor;
    atomic_u32 pages; /* page numbers given out, of pages that were trimmed too */
    atomic_u32 made;  /* objects that exist */
    /* page numbers below `pages` without a page, and without a thread that brings one */
    atomic_u32 holes;
    atomic_u32 hole_hint;                      /* where a hole is looked for first */
    atomic_ptr root[SLAB_ROOT];                /* of leaves of SLAB_LEAF page pointers */
    _Alignas(CACHE_LINE) atomic_u64 magazines; /* {tag:36, first object:28} */
};

/** A worker's own free objects. All zero: none. */
struct slab_cache {
    uint32_t head, count; /* a list shorter than MAGAZINE between calls */
    uint32_t spare;       /* a list of MAGAZINE that is colder; 0: none */
    void *memory;         /* of `head`, unless the list is empty */
};

void slab_open(struct slab *slab, const struct slab_kind *kind, struct memory *memory);

/** When no other thread uses it. */
void slab_close(struct slab *slab);

/**
 * Makes at least `objects` exist, free and used ones together. False: no memory; what was made
 * stays.
 */
bool slab_reserve(struct slab *slab, uint32_t objects);

/** Gives all that a worker holds to the others. */
void slab_flush(struct slab *slab, struct slab_cache *cache);

/**
 * Gives pages whose objects all are in shared magazines back to the allocator, after a grace period
 * of `epoch`.
 *
 * Any thread, at any time, inside a section of `epoch`; takes that come meanwhile find fewer free
 * objects and make new pages. Needs memory for a moment (8 bytes a page); without it, nothing is
 * given back.
 */
void slab_trim(struct slab *slab, struct epoch_record *epoch);

/** Objects that exist. */
static inline uint32_t
slab_made(const struct slab *slab)
{
    /* relaxed: raised before an object of the page can be another's */
    return u32_load(&slab->made);
}

/** One past the highest number that was ever given out. */
static inline uint32_t
slab_end(const struct slab *slab)
{
    return u32_load_acquire(&slab->pages) << slab->kind.page_bits; /* of page_number's exchange */
}

/** A slab's layout, as constants, for a caller that knows its kind. */
struct slab_layout {
    uint32_t page_bits, bytes, apart, link; /* as in slab_kind */
    bool brief;                             /* a taker mostly writes the first line only */
};

static inline struct slab_layout
slab_layout(const struct slab *slab)
{
    return (struct slab_layout){.page_bits = slab->kind.page_bits,
                                .bytes = slab->kind.bytes,
                                .apart = slab->kind.apart,
                                .link = slab->kind.link};
}

STRAIGHT void *
slab_in_page(char *page, struct slab_layout layout, uint32_t object)
{
    return page + (size_t)(object & ((UINT32_C(1) << layout.page_bits) - 1)) * layout.bytes;
}

/** What the object at `memory` has behind all objects of its page. */
STRAIGHT void *
slab_apart(struct slab_layout layout, uint32_t object, const void *memory)
{
    size_t objects = (size_t)1 << layout.page_bits;

    return (char *)memory + objects * layout.bytes -
           (object & (objects - 1)) * (layout.bytes - layout.apart);
}

/** slab_at for a caller that knows the kind. */
STRAIGHT void *
slab_at_known(const struct slab *slab, struct slab_layout layout, uint32_t object)
{
    /* acquire, both: of page_slot's exchange, and page_install:A */
    uint32_t page = object >> layout.page_bits;
    const atomic_ptr *leaf = (const atomic_ptr *)ptr_load_acquire(&slab->root[page / SLAB_LEAF]);
    char *memory = leaf != NULL ? (char *)ptr_load_acquire(&leaf[page % SLAB_LEAF]) : NULL;

    return memory != NULL ? slab_in_page(memory, layout, object) : NULL;
}

/**
 * The same of an object that was made once, without a look whether its page is there: for the
 * object's owner, or an address to prefetch.
 */
STRAIGHT void *
slab_unchecked(const struct slab *slab, struct slab_layout layout, uint32_t object)
{
    uint32_t page = object >> layout.page_bits;
    const atomic_ptr *leaf = (const atomic_ptr *)ptr_load_acquire(&slab->root[page / SLAB_LEAF]);

    return slab_in_page((char *)ptr_load_acquire(&leaf[page % SLAB_LEAF]), layout, object);
}

/**
 * The object's memory; NULL if its page was trimmed, or never made.
 *
 * Valid until the caller's epoch section ends; for the object's owner, as long as it owns it.
 */
static inline void *
slab_at(const struct slab *slab, uint32_t object)
{
    return slab_at_known(slab, slab_layout(slab), object);
}

/* ---- taking and giving ----------------------------------------------------------------------- */

/** Gets another list: the one in use is empty. False: no memory, or no numbers. */
bool slab_refill(struct slab *slab, struct slab_cache *cache);

/** Makes room: the list in use is as long as a magazine. */
void slab_spill(struct slab *slab, struct slab_cache *cache);

/**
 * An object that is the caller's, with whatever words its last user left; 0: no memory, or no
 * numbers.
 *
 * The next take's object is fetched while the caller is busy with this one.
 */
STRAIGHT uint32_t
slab_take_known(struct slab *slab, struct slab_cache *cache, struct slab_layout layout,
                void **memory)
{
    if (cache->count == 0 && !slab_refill(slab, cache)) {
        return 0;
    }
    uint32_t object = cache->head;
    char *own = cache->memory;

    if (--cache->count != 0) {
        uint32_t next = (uint32_t)u64_load((const atomic_u64 *)(const void *)(own + layout.link));
        char *ahead = slab_unchecked(slab, layout, next);

        cache->head = next;
        cache->memory = ahead;
        __builtin_prefetch(ahead, 1);
        for (uint32_t at = CACHE_LINE; at < layout.bytes && !layout.brief; at += CACHE_LINE) {
            __builtin_prefetch(ahead + at, 1);
        }
    }
    *memory = own;
    return object;
}

/** Gives an object back; it may be another's at once. */
STRAIGHT void
slab_give_known(struct slab *slab, struct slab_cache *cache, struct slab_layout layout,
                uint32_t object, void *memory)
{
    u64_store((atomic_u64 *)(void *)((char *)memory + layout.link), cache->head);
    cache->head = object;
    cache->memory = memory;
    if (++cache->count == MAGAZINE) {
        slab_spill(slab, cache);
    }
}

static inline uint32_t
slab_take(struct slab *slab, struct slab_cache *cache)
{
    void *memory;

    return slab_take_known(slab, cache, slab_layout(slab), &memory);
}

static inline void
slab_give(struct slab *slab, struct slab_cache *cache, uint32_t object)
{
    struct slab_layout layout = slab_layout(slab);

    slab_give_known(slab, cache, layout, object, slab_unchecked(slab, layout, object));
}

#endif
