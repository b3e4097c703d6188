/*
 * The slab of slab.h: pages that are found by number, caches of free objects, magazines between
 * them.
 *
 * 1 CONTRACT. slab.h. An object belongs to exactly one of: its user, a cache, a magazine, a thread
 *   inside a function of this file. Not an allocator for blocks whose address is kept without their
 *   number, and not one that gives memory back by itself.
 *
 * 2 MEMORY
 *   slab          pages, made, holes, floor, root: written when a page comes or goes
 *                 magazines, on a line of its own: one CAS per MAGAZINE objects taken or given
 *   root -> leaf -> page = {128 bytes: header | objects | what each has apart}; trim unsets the
 *                 arrow to a page
 *   header        the epoch's block; the floor that the page began at, written by its maker only
 *   free object   link: {next of its list}
 *                 magazine_link, of a magazine's first: {length:32, next magazine:32}
 *   cache         head, count, memory of the head: the list in use; spare: a full one; the owner's
 *
 * 3 A SLOT OF A LEAF
 *   NULL -> page   CAS (page_install:A)
 *   page -> NULL   exchange (page_unmake:B), by the thread that owns every object of the page
 *
 * 4 INVARIANTS
 *   a  Empty slots below `pages` = `holes` + threads between taking a number and filling its slot.
 *      Only the number of a thread that stops there is lost. `holes` may be off for a moment: then
 *      a hole is found later, or looked for and not found.
 *   b  A list in the stack has a length, and no end mark: the link of its last object is anything.
 *   c  `floor` covers a trimmed page before its slot is NULL, and is read after a new page fills
 *      the slot. So a version in the new page comes after all versions that a stale reference to
 *      this number can have. Versions go round, so none is the highest: each is measured from the
 *      floor that its page began at, and floors have 64 bits.
 *
 * 5 LINEARIZATION. A magazine changes hands at the CAS of `magazines` (magazine_push:B,
 *   magazine_pop:B, stack_take_all:A). Objects of a page exist from page_install:A to
 *   page_unmake:B.
 *
 * 6 ORDERING
 *   magazine_push:A, B -> magazine_pop:A, B
 *       the magazine's link, the links in it, and the objects' contents
 *   page_install:A -> slab_at's acquire loads
 *       the page is zeroed
 *   page_unmake:A, B -> page_install:A, page_fill:A
 *       a page in a slot that was emptied begins at the raised floor
 *
 * 7 PROGRESS. Lock-free: every retry follows another thread's successful CAS. A thread that stops
 *   holds back its cache (SLAB_CACHE_MAX), one magazine, or one page that it is making; after
 *   stack_take_all:A all that was in the magazines: the others make new pages. The allocator is
 *   called by reserve, by trim, and by a take that finds nothing free.
 *
 * 8 ABA, RECLAMATION. magazine_pop:A reads a link that may be another user's data by then; the tag,
 *   one up with each success, makes magazine_pop:B fail. The page behind the link may be unlinked
 *   meanwhile, not unmapped: takes are called in an epoch section.
 *
 * 9 WRAPAROUND. 36 bits of tag, one step per 64 objects taken or given: at 20 million a second
 *   after 61 hours. A thread must sleep between magazine_pop:A and magazine_pop:B for exactly a
 *   multiple of that, and find the same object on top.
 *
 * 10 NOT CHOSEN. Cutting a list that is too long: its cold end is found by walking it, its warm end
 *   is what the worker takes next. Of two lists the older is the colder, and nothing is walked.
 *   Preparing a page before it is linked: the floor may rise between the two.
 *
 * 11 EVIDENCE. stress/explore: trim, upkeep_*, mixed_upkeep; tests/unit/test_lockfree_slab.c,
 *   test_upkeep_threads.c.
 */
#include "lockfree/memory/slab.h"

#include "lockfree/memory/stack.h"

#include <string.h>

/* In front of a page's objects, which stay aligned to pairs of lines. */
struct page_header {
    _Alignas(LINE_PAIR) struct epoch_block block;
    uint64_t floor; /* that its versions began after */
};

#define PAGE_HEADER sizeof(struct page_header)

_Static_assert(PAGE_HEADER == LINE_PAIR, "the objects stay aligned");

/* ---- links ----------------------------------------------------------------------------------- */

static atomic_u64 *
word_in(void *object, uint32_t offset)
{
    return (atomic_u64 *)(void *)((char *)object + offset);
}

static uint32_t
next_object(const struct slab *slab, uint32_t object)
{
    return (uint32_t)u64_load(word_in(slab_at(slab, object), slab->kind.link));
}

static void
set_next(const struct slab *slab, uint32_t object, uint32_t next)
{
    u64_store(word_in(slab_at(slab, object), slab->kind.link), next);
}

/* ---- magazines ------------------------------------------------------------------------------- */

/* A list outside the stack. */
struct list {
    uint32_t first, length;
};

static void
magazine_push(struct slab *slab, struct list list)
{
    atomic_u64 *link = word_in(slab_at(slab, list.first), slab->kind.magazine_link);
    uint64_t seen = u64_load(&slab->magazines);

    do {
        u64_store(link, (uint64_t)list.length << 32 | stack_top(seen)); /* magazine_push:A */
    } while (!stack_swing(&slab->magazines, &seen, list.first));        /* magazine_push:B */
}

/* Length 0: there is no magazine. */
static struct list
magazine_pop(struct slab *slab)
{
    uint64_t seen = u64_load_acquire(&slab->magazines); /* magazine_pop:A */

    while (stack_top(seen) != 0) {
        uint32_t first = stack_top(seen);
        const char *object = slab_at(slab, first);

        /*
         * The object was popped and trimmed since, so the stack's word is another: each round is a
         * pop.
         */
        if (object == NULL) {
            seen = u64_load_acquire(&slab->magazines); /* as magazine_pop:A */
            continue;
        }
        uint64_t link =
            u64_load((const atomic_u64 *)(const void *)(object + slab->kind.magazine_link));

        if (stack_swing(&slab->magazines, &seen, stack_top(link))) { /* magazine_pop:B */
            return (struct list){first, (uint32_t)(link >> 32)};
        }
    }
    return (struct list){0, 0};
}

/* ---- pages ----------------------------------------------------------------------------------- */

static uint32_t
page_objects(const struct slab *slab)
{
    return UINT32_C(1) << slab->kind.page_bits;
}

/* The number 0 names no object. */
static uint32_t
page_usable(const struct slab *slab, uint32_t page)
{
    return page_objects(slab) - (page == 0 ? 1 : 0);
}

static uint32_t
page_first(const struct slab *slab, uint32_t page)
{
    return (page << slab->kind.page_bits) + (page == 0 ? 1 : 0);
}

static struct page_header *
page_header(char *objects)
{
    return (struct page_header *)(void *)(objects - PAGE_HEADER);
}

static size_t
page_bytes(const struct slab *slab)
{
    return PAGE_HEADER + (size_t)page_objects(slab) * (slab->kind.bytes + slab->kind.apart);
}

static uint32_t
pages_max(const struct slab *slab)
{
    uint32_t by_number = (SLAB_OBJECTS_MAX + 1) >> slab->kind.page_bits;
    uint32_t by_tree = SLAB_ROOT * SLAB_LEAF;

    return by_number < by_tree ? by_number : by_tree;
}

/* The slot of a page number, with a leaf if there is memory for it; else NULL. */
static atomic_ptr *
page_slot(struct slab *slab, uint32_t page)
{
    atomic_ptr *root = &slab->root[page / SLAB_LEAF];
    atomic_ptr *leaf = ptr_load_acquire(root); /* of the exchange below, another thread's */

    if (leaf == NULL) {
        atomic_ptr *own =
            memory_alloc(slab->memory, slab->kind.memory, SLAB_LEAF * sizeof *own, CACHE_LINE);

        if (own == NULL) {
            return NULL;
        }
        leaf = ptr_cas_value(root, NULL, own);
        if (leaf != NULL) {
            memory_free(slab->memory, slab->kind.memory, own, SLAB_LEAF * sizeof *own);
        } else {
            leaf = own;
        }
    }
    return &leaf[page % SLAB_LEAF];
}

/* Puts the page into its slot, if that is there and empty. */
static bool
page_install(atomic_ptr *slot, char *objects)
{
    /* page_install:A */
    return slot != NULL && ptr_load(slot) == NULL && ptr_cas(slot, NULL, objects);
}

/*
 * Puts the page where one was trimmed. One pass: a thread that is overtaken everywhere takes a new
 * number.
 */
static bool
page_into_hole(struct slab *slab, char *objects, uint32_t *page)
{
    uint32_t pages = u32_load_acquire(&slab->pages);
    uint32_t at = u32_load(&slab->hole_hint);

    if (u32_load(&slab->holes) == 0) {
        return false;
    }
    for (uint32_t i = 0; i < pages; i++, at++) {
        at = at < pages ? at : 0;
        if (page_install(page_slot(slab, at), objects)) {
            (void)u32_add(&slab->holes, UINT32_MAX);
            u32_store(&slab->hole_hint, at + 1);
            *page = at;
            return true;
        }
    }
    return false;
}

/*
 * A new number; false: there are no more. Ends: each failed exchange is another thread's number.
 */
static bool
page_number(struct slab *slab, uint32_t *page)
{
    uint32_t pages = u32_load(&slab->pages);

    while (pages < pages_max(slab)) {
        if (u32_swing(&slab->pages, &pages, pages + 1)) {
            *page = pages;
            return true;
        }
    }
    return false;
}

/*
 * A thread that looks for a hole can take the slot of this thread's new number. Then the hole that
 * it would have taken is still there, and this thread looks again. Ends: each further round is that
 * thread's page.
 */
static bool
page_place(struct slab *slab, char *objects, uint32_t *page)
{
    while (!page_into_hole(slab, objects, page)) {
        if (!page_number(slab, page)) {
            return false;
        }
        atomic_ptr *slot = page_slot(slab, *page);

        if (page_install(slot, objects)) {
            return true;
        }
        (void)u32_add(&slab->holes, 1);
        if (slot == NULL) {
            return false; /* no memory for a leaf */
        }
    }
    return true;
}

static void
page_fill(const struct slab *slab, uint32_t page, char *objects)
{
    uint32_t first = page << slab->kind.page_bits;

    if (slab->kind.prepare != NULL) {
        uint64_t floor = u64_load_acquire(&slab->floor); /* page_fill:A */

        page_header(objects)->floor = floor;
        for (uint32_t i = 0; i < page_objects(slab); i++) {
            slab->kind.prepare(objects + (size_t)i * slab->kind.bytes, floor & SLAB_VERSION_MASK);
        }
    }
    for (uint32_t i = 0; i < page_objects(slab); i++) {
        u64_store(word_in(objects + (size_t)i * slab->kind.bytes, slab->kind.link), first + i + 1);
    }
}

/*
 * Makes a page; its first magazine is the caller's, the others go to the stack, the lowest on top.
 * Length 0: no page.
 */
static struct list
page_make(struct slab *slab)
{
    char *block = memory_alloc(slab->memory, slab->kind.memory, page_bytes(slab), LINE_PAIR);
    uint32_t page;

    if (block == NULL) {
        return (struct list){0, 0};
    }
    if (!page_place(slab, block + PAGE_HEADER, &page)) {
        memory_free(slab->memory, slab->kind.memory, block, page_bytes(slab));
        return (struct list){0, 0};
    }
    page_fill(slab, page, block + PAGE_HEADER);
    (void)u32_add(&slab->made, page_usable(slab, page));
    uint32_t start = page << slab->kind.page_bits;

    for (uint32_t offset = page_objects(slab) - MAGAZINE; offset > 0; offset -= MAGAZINE) {
        magazine_push(slab, (struct list){start + offset, MAGAZINE});
    }
    return (struct list){page_first(slab, page), MAGAZINE - (page == 0 ? 1 : 0)};
}

/* ---- taking and giving ----------------------------------------------------------------------- */

bool
slab_refill(struct slab *slab, struct slab_cache *cache)
{
    struct list list = {cache->spare, MAGAZINE};

    if (cache->spare == 0) {
        list = magazine_pop(slab);
    }
    cache->spare = 0;
    if (list.length == 0) {
        list = page_make(slab);
    }
    cache->head = list.first;
    cache->count = list.length;
    cache->memory = slab_at(slab, list.first);
    return list.length != 0;
}

void
slab_spill(struct slab *slab, struct slab_cache *cache)
{
    uint32_t colder = cache->spare;

    cache->spare = cache->head;
    cache->head = 0;
    cache->count = 0;
    if (colder != 0) {
        magazine_push(slab, (struct list){colder, MAGAZINE});
    }
}

void
slab_flush(struct slab *slab, struct slab_cache *cache)
{
    struct slab_cache all = *cache;

    *cache = (struct slab_cache){0};
    if (all.spare != 0) {
        magazine_push(slab, (struct list){all.spare, MAGAZINE});
    }
    if (all.count != 0) {
        magazine_push(slab, (struct list){all.head, all.count});
    }
}

bool
slab_reserve(struct slab *slab, uint32_t objects)
{
    while (slab_made(slab) < objects) {
        struct list list = page_make(slab);

        if (list.length == 0) {
            return false;
        }
        magazine_push(slab, list);
    }
    return true;
}

/* ---- trim ------------------------------------------------------------------------------------ */

/* The free objects of a page that trim has in hand. */
struct pile {
    uint32_t head, count;
};

static uint32_t
stack_take_all(struct slab *slab)
{
    uint64_t seen = u64_load(&slab->magazines);

    /* stack_take_all:A; ends: each failed swing is another's */
    while (!stack_swing(&slab->magazines, &seen, 0)) {
    }
    return stack_top(seen);
}

/* Takes the first magazine off a stack that is the caller's. */
static struct list
stack_split(const struct slab *slab, uint32_t *stack)
{
    uint32_t first = *stack;
    uint64_t link = u64_load(word_in(slab_at(slab, first), slab->kind.magazine_link));

    *stack = stack_top(link);
    return (struct list){first, (uint32_t)(link >> 32)};
}

static void
sort_into_piles(const struct slab *slab, uint32_t stack, struct pile *piles)
{
    while (stack != 0) {
        struct list list = stack_split(slab, &stack);

        for (uint32_t object = list.first; list.length > 0; list.length--) {
            struct pile *pile = &piles[object >> slab->kind.page_bits];
            uint32_t next = next_object(slab, object);

            set_next(slab, object, pile->head);
            pile->head = object;
            pile->count++;
            object = next;
        }
    }
}

/*
 * A floor that no version in the page comes after, if no object's version went all round here.
 */
static uint64_t
page_floor(const struct slab *slab, char *objects)
{
    uint64_t floor = page_header(objects)->floor;
    uint64_t longest = 0;

    for (uint32_t i = 0; slab->kind.version != NULL && i < page_objects(slab); i++) {
        uint64_t version = slab->kind.version(objects + (size_t)i * slab->kind.bytes);
        uint64_t way = (version - floor) & SLAB_VERSION_MASK;

        longest = way > longest ? way : longest;
    }
    return floor + longest;
}

static void
page_unmake(struct slab *slab, struct epoch_record *epoch, uint32_t page)
{
    char *objects = slab_at(slab, page << slab->kind.page_bits);

    (void)u64_max(&slab->floor, page_floor(slab, objects)); /* page_unmake:A */
    (void)u32_add(&slab->made, 0 - page_usable(slab, page));
    (void)ptr_exchange(page_slot(slab, page), NULL); /* page_unmake:B */
    (void)u32_add(&slab->holes, 1);
    epoch_retire(epoch, &page_header(objects)->block, slab->memory, slab->kind.memory,
                 page_bytes(slab));
}

static void
pile_give(struct slab *slab, struct slab_cache *cache, struct pile pile)
{
    for (uint32_t object = pile.head; pile.count > 0; pile.count--) {
        uint32_t next = next_object(slab, object);

        slab_give(slab, cache, object);
        object = next;
    }
}

static void
stack_push_back(struct slab *slab, uint32_t stack)
{
    while (stack != 0) {
        struct list list = stack_split(slab, &stack);

        magazine_push(slab, list);
    }
}

void
slab_trim(struct slab *slab, struct epoch_record *epoch)
{
    uint32_t stack = stack_take_all(slab);
    /* after stack_take_all:A: counts the pages of all that was taken */
    uint32_t pages = u32_load_acquire(&slab->pages);
    struct slab_cache rest = {0};

    if (stack == 0) {
        return;
    }
    struct pile *piles =
        memory_alloc(slab->memory, MEMORY_OTHER, pages * sizeof *piles, CACHE_LINE);

    if (piles == NULL) {
        stack_push_back(slab, stack);
        return;
    }
    sort_into_piles(slab, stack, piles);
    for (uint32_t page = 0; page < pages; page++) {
        if (piles[page].count == page_usable(slab, page)) {
            page_unmake(slab, epoch, page);
        } else {
            pile_give(slab, &rest, piles[page]);
        }
    }
    slab_flush(slab, &rest);
    memory_free(slab->memory, MEMORY_OTHER, piles, pages * sizeof *piles);
}

/* ---- life ------------------------------------------------------------------------------------ */

void
slab_open(struct slab *slab, const struct slab_kind *kind, struct memory *memory)
{
    memset(slab, 0, sizeof *slab);
    slab->kind = *kind;
    slab->memory = memory;
}

static void
leaf_close(struct slab *slab, atomic_ptr *leaf, uint32_t pages)
{
    for (uint32_t i = 0; i < pages && i < SLAB_LEAF; i++) {
        char *objects = ptr_load(&leaf[i]);

        if (objects != NULL) {
            memory_free(slab->memory, slab->kind.memory, objects - PAGE_HEADER, page_bytes(slab));
        }
    }
    memory_free(slab->memory, slab->kind.memory, leaf, SLAB_LEAF * sizeof *leaf);
}

void
slab_close(struct slab *slab)
{
    uint32_t pages = u32_load(&slab->pages);

    for (uint32_t first = 0; first < pages; first += SLAB_LEAF) {
        atomic_ptr *leaf = ptr_load(&slab->root[first / SLAB_LEAF]);

        if (leaf != NULL) {
            leaf_close(slab, leaf, pages - first);
        }
    }
}
