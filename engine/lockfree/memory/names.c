/*
 * The cells of names.h, which has the ordering.
 */
#include "lockfree/memory/names.h"

const uint32_t names_bytes[NAME_CLASSES] = {NAMES_LEAST, 128, 320};

/* The words of a text with its NUL. */
static uint32_t
word_count(uint32_t length)
{
    return length / TEXT_WORD + 1;
}

void
names_open(struct names *names, struct memory *memory)
{
    for (uint32_t i = 0; i < NAME_CLASSES; i++) {
        /* As many names as there can be pods. */
        struct slab_kind kind = {.memory = MEMORY_NAMES,
                                 .bytes = names_bytes[i],
                                 .page_bits = RECORD_PAGE_BITS,
                                 .link = NAMES_LINK,
                                 .magazine_link = NAMES_LINK + TEXT_WORD};

        slab_open(&names->classes[i], &kind, memory);
    }
}

void
names_close(struct names *names)
{
    for (uint32_t i = 0; i < NAME_CLASSES; i++) {
        slab_close(&names->classes[i]);
    }
}

bool
names_reserve(struct names *names, uint32_t pods)
{
    return slab_reserve(&names->classes[0], pods);
}

uint32_t
names_take_long(struct names *names, struct names_cache *cache, const char *text, uint32_t length)
{
    uint32_t class = 1;

    while (class < NAME_CLASSES && length >= names_bytes[class]) {
        class ++;
    }
    return class < NAME_CLASSES
               ? names_take_in(names, cache, class, names_layout(class), text, length)
               : 0;
}

void
names_give(struct names *names, struct names_cache *cache, uint32_t cell)
{
    uint32_t class = cell_class(cell), object = cell_object(cell);
    struct slab_layout layout = names_layout(class);
    struct slab *slab = &names->classes[class];

    slab_give_known(slab, &cache->classes[class], layout, object,
                    slab_unchecked(slab, layout, object));
}

void
names_flush(struct names *names, struct names_cache *cache)
{
    for (uint32_t i = 0; i < NAME_CLASSES; i++) {
        slab_flush(&names->classes[i], &cache->classes[i]);
    }
}

void
names_trim(struct names *names, struct epoch_record *epoch)
{
    for (uint32_t i = 0; i < NAME_CLASSES; i++) {
        slab_trim(&names->classes[i], epoch);
    }
}

/*
 * A cell that was read from a record that is another pod's by now may be any number, also none.
 */
bool
names_equal_other(const struct names *names, uint32_t cell, const char *text, uint32_t length)
{
    uint32_t class = cell_class(cell);

    if (class >= NAME_CLASSES || length >= names_bytes[class]) {
        return false;
    }
    const atomic_u64 *words = slab_at(&names->classes[class], cell_object(cell));

    return words != NULL && words_equal(words, text, length);
}

void
names_copy(const struct names *names, uint32_t cell, char *out, uint32_t length)
{
    uint32_t class = cell_class(cell);
    const atomic_u64 *words = class < NAME_CLASSES && length < names_bytes[class]
                                  ? slab_at(&names->classes[class], cell_object(cell))
                                  : NULL;

    for (uint32_t i = 0; words != NULL && i < word_count(length); i++) {
        uint64_t word = u64_load_acquire(&words[i]);

        memcpy(out + i * sizeof word, &word, sizeof word);
    }
    out[words != NULL ? length : 0] = '\0';
}
