/*
 * The cells of names.h, which has the ordering.
 */
#include "lockfree/memory/names.h"

const uint32_t names_bytes[NAME_CLASSES] = {128, 320};

/* The words of a text with its NUL. */
static uint32_t
word_count(uint32_t length)
{
    return length / TEXT_WORD + 1;
}

static uint32_t
cell_class(uint32_t cell)
{
    return (cell >> NAMES_CLASS_SHIFT) - 1;
}

static uint32_t
cell_object(uint32_t cell)
{
    return cell & SLAB_OBJECTS_MAX;
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

uint32_t
names_take(struct names *names, struct names_cache *cache, const char *text, uint32_t length)
{
    uint32_t class = 0;

    while (class < NAME_CLASSES && length >= names_bytes[class]) {
        class ++;
    }
    if (class == NAME_CLASSES) {
        return 0;
    }
    struct slab *slab = &names->classes[class];
    uint32_t object = slab_take(slab, &cache->classes[class]);

    if (object == 0) {
        return 0;
    }
    names_write(slab_unchecked(slab, slab_layout(slab), object), text, length);
    return (class + 1) << NAMES_CLASS_SHIFT | object;
}

void
names_give_cell(struct names *names, struct names_cache *cache, uint32_t cell)
{
    uint32_t class = cell_class(cell);

    slab_give(&names->classes[class], &cache->classes[class], cell_object(cell));
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
 * A cell's number that was read from a record that is another pod's by then may be any number.
 */
const atomic_u64 *
names_cell(const struct names *names, uint32_t cell, uint32_t length)
{
    uint32_t class = cell_class(cell);

    return class < NAME_CLASSES && length < names_bytes[class]
               ? slab_at(&names->classes[class], cell_object(cell))
               : NULL;
}

void
names_copy(const atomic_u64 *words, char *out, uint32_t length)
{
    for (uint32_t i = 0; words != NULL && i < word_count(length); i++) {
        uint64_t word = u64_load_acquire(&words[i]);

        memcpy(out + i * sizeof word, &word, sizeof word);
    }
    out[words != NULL ? length : 0] = '\0';
}
