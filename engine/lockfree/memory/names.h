/*
 * The texts "namespace/name", each in one contiguous place that pop may hand out a pointer to.
 *
 * A text of up to 63 bytes lies in the `own` words of its pod's record; a longer one in a cell. Two
 * sizes of cells, each a slab: texts of up to 127 and 319 bytes with their NUL. All are padded
 * with NULs to whole words. A text is written word by word with atomic stores before its pod
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

/** Bytes of a record's own words: texts that are shorter need no cell. */
#define NAMES_OWN 64
#define NAMES_OWN_WORDS (NAMES_OWN / TEXT_WORD)

#define NAME_CLASSES 2
/*
 * A name's place is {0:4, record:28} if the record's own words have the text; else it is a cell,
 * {1 + class:4, object:28}.
 */
#define NAMES_CLASS_SHIFT 28

/* The links lie in the text, which a free cell does not need. */
#define NAMES_LINK 0

extern const uint32_t names_bytes[NAME_CLASSES];

struct names {
    struct slab classes[NAME_CLASSES];
};

struct names_cache {
    struct slab_cache classes[NAME_CLASSES];
};

void names_open(struct names *names, struct memory *memory);
void names_close(struct names *names);

void names_flush(struct names *names, struct names_cache *cache);
void names_trim(struct names *names, struct epoch_record *epoch);

/** A cell with a copy of a text that no record has room for; 0: no memory. */
RARELY uint32_t names_take(struct names *names, struct names_cache *cache, const char *text,
                           uint32_t length);

RARELY void names_give_cell(struct names *names, struct names_cache *cache, uint32_t cell);

STRAIGHT bool
names_is_cell(uint32_t place)
{
    return place >> NAMES_CLASS_SHIFT != 0;
}

/** Gives the cell of a name back, if it has one. */
STRAIGHT void
names_give(struct names *names, struct names_cache *cache, uint32_t place)
{
    if (names_is_cell(place)) {
        names_give_cell(names, cache, place);
    }
}

/** The words of a cell that has room for a text of this length; NULL: this is no such cell. */
RARELY const atomic_u64 *names_cell(const struct names *names, uint32_t cell, uint32_t length);

/**
 * Is this the text? False for NULL. The answer counts only if the pod is found unchanged
 * afterwards.
 */
STRAIGHT bool
names_equal(const atomic_u64 *words, const char *text, uint32_t length)
{
    uint32_t whole = length / TEXT_WORD;
    uint32_t i = 0;

    if (words == NULL) {
        return false;
    }
    while (i < whole && u64_load_acquire(&words[i]) == text_word(text, i)) {
        i++;
    }
    return i == whole && u64_load_acquire(&words[whole]) == text_tail(text, length);
}

/**
 * Copies the text out, with a NUL; of NULL an empty one. `out` has room for whole words (length + 8
 * bytes). It counts only if the pod is found unchanged afterwards.
 */
void names_copy(const atomic_u64 *words, char *out, uint32_t length);

STRAIGHT void
names_write(atomic_u64 *words, const char *text, uint32_t length)
{
    uint32_t whole = length / TEXT_WORD;

    for (uint32_t i = 0; i < whole; i++) {
        u64_store(&words[i], text_word(text, i));
    }
    u64_store(&words[whole], text_tail(text, length));
}

#endif
