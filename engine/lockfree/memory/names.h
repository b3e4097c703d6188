/*
 * The texts "namespace/name", each in one contiguous cell that pop may hand out a pointer to.
 *
 * Three sizes of cells, each a slab: texts of up to 63, 127 and 319 bytes with their NUL, padded
 * with NULs to whole words. A cell is written word by word with atomic stores before its pod
 * exists, and any thread may read it at any time: the index compares names of records that may get
 * another pod meanwhile, and looks at the record's life afterwards.
 *
 * ORDERING, PROGRESS. Words are stored relaxed: the state word of the pod publishes them (fill:A,
 * add.c). They are loaded with acquire, so that the reader's second look at word or life comes
 * after them (index_look:C, report_unchanged:A). Wait-free, but for slab_take.
 *
 * EVIDENCE. stress/explore: index_growth, delete_readd, trim; tests/unit/test_lockfree_names.c,
 * test_lockfree_index.c, test_add.c.
 */
#ifndef SCHEDQ_LOCKFREE_NAMES_H
#define SCHEDQ_LOCKFREE_NAMES_H

#include "lockfree/memory/slab.h"
#include "platform/text.h"

#define NAME_CLASSES 3
#define NAMES_CLASS_SHIFT 28 /* of a cell's number: {class:4, object:28} */

/* The links lie in the text, which a free cell does not need. */
#define NAMES_LINK 0

#define NAMES_LEAST 64
extern const uint32_t names_bytes[NAME_CLASSES];

struct names {
    struct slab classes[NAME_CLASSES];
};

struct names_cache {
    struct slab_cache classes[NAME_CLASSES];
};

void names_open(struct names *names, struct memory *memory);
void names_close(struct names *names);

/** Room for `pods` names of at most 63 bytes. False: no memory; what was made stays. */
bool names_reserve(struct names *names, uint32_t pods);

void names_give(struct names *names, struct names_cache *cache, uint32_t cell);
void names_flush(struct names *names, struct names_cache *cache);
void names_trim(struct names *names, struct epoch_record *epoch);

/**
 * Copies the text out, with a NUL; `out` has room for whole words (length + 8 bytes). It counts
 * only if the cell's pod is found unchanged afterwards.
 */
void names_copy(const struct names *names, uint32_t cell, char *out, uint32_t length);

static inline uint32_t
cell_class(uint32_t cell)
{
    return cell >> NAMES_CLASS_SHIFT;
}

static inline uint32_t
cell_object(uint32_t cell)
{
    return cell & SLAB_OBJECTS_MAX;
}

static inline struct slab_layout
names_layout(uint32_t class)
{
    return (struct slab_layout){
        .page_bits = RECORD_PAGE_BITS, .bytes = names_bytes[class], .link = NAMES_LINK};
}

/** The text, ending in NUL; for the thread that owns the cell, or holds its pod. */
static inline const char *
names_text(const struct names *names, uint32_t cell)
{
    uint32_t class = cell_class(cell);

    return slab_unchecked(&names->classes[class], names_layout(class), cell_object(cell));
}

#define NAMES_LEAST_LAYOUT \
    ((struct slab_layout){.page_bits = RECORD_PAGE_BITS, .bytes = NAMES_LEAST, .link = NAMES_LINK})

/** Do these words hold the text? */
static inline bool
words_equal(const atomic_u64 *words, const char *text, uint32_t length)
{
    uint32_t whole = length / TEXT_WORD;
    uint32_t i = 0;

    while (i < whole && u64_load_acquire(&words[i]) == text_word(text, i)) {
        i++;
    }
    return i == whole && u64_load_acquire(&words[whole]) == text_tail(text, length);
}

/** names_equal of what is in no smallest cell, or in none. */
bool names_equal_other(const struct names *names, uint32_t cell, const char *text, uint32_t length);

/**
 * Does the cell hold this text? The answer counts only if the cell's pod is found unchanged
 * afterwards.
 */
STRAIGHT bool
names_equal(const struct names *names, uint32_t cell, const char *text, uint32_t length)
{
    if (cell_class(cell) != 0 || length >= NAMES_LEAST) {
        return names_equal_other(names, cell, text, length);
    }
    const atomic_u64 *words = slab_at_known(&names->classes[0], NAMES_LEAST_LAYOUT, cell);

    return words != NULL && words_equal(words, text, length);
}

/** names_take with a cell of this class, which has room for the text. */
STRAIGHT uint32_t
names_take_in(struct names *names, struct names_cache *cache, uint32_t class,
              struct slab_layout layout, const char *text, uint32_t length)
{
    void *memory;
    uint32_t object =
        slab_take_known(&names->classes[class], &cache->classes[class], layout, &memory);

    if (object == 0) {
        return 0;
    }
    atomic_u64 *words = memory;
    uint32_t whole = length / TEXT_WORD;

    for (uint32_t i = 0; i < whole; i++) {
        u64_store(&words[i], text_word(text, i));
    }
    u64_store(&words[whole], text_tail(text, length));
    return class << NAMES_CLASS_SHIFT | object;
}

/** names_take of a text that no smallest cell has room for. */
uint32_t names_take_long(struct names *names, struct names_cache *cache, const char *text,
                         uint32_t length);

/** A cell with a copy of the text; 0: no memory. */
STRAIGHT uint32_t
names_take(struct names *names, struct names_cache *cache, const char *text, uint32_t length)
{
    return length < NAMES_LEAST ? names_take_in(names, cache, 0, NAMES_LEAST_LAYOUT, text, length)
                                : names_take_long(names, cache, text, length);
}

#endif
