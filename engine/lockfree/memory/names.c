/*
 * The cells of names.h, which has the ordering.
 */
#include "lockfree/memory/names.h"

#include "platform/text.h"

#define CLASS_SHIFT 28

static const uint32_t class_bytes[NAME_CLASSES] = {64, 128, 320};

static uint32_t
name_class(uint32_t length)
{
    uint32_t class = 0;

    while (class < NAME_CLASSES && length >= class_bytes[class]) {
        class ++;
    }
    return class;
}

static uint32_t
cell_class(uint32_t cell)
{
    return cell >> CLASS_SHIFT;
}

static uint32_t
cell_object(uint32_t cell)
{
    return cell & SLAB_OBJECTS_MAX;
}

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
        /*
         * As many names as there can be pods. The links lie in the text, which a free cell does not
         * need.
         */
        struct slab_kind kind = {.memory = MEMORY_NAMES,
                                 .bytes = class_bytes[i],
                                 .page_bits = RECORD_PAGE_BITS,
                                 .link = 0,
                                 .magazine_link = TEXT_WORD};

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
names_take(struct names *names, struct names_cache *cache, const char *text, uint32_t length)
{
    uint32_t class = name_class(length);
    uint32_t object =
        class < NAME_CLASSES ? slab_take(&names->classes[class], &cache->classes[class]) : 0;

    if (object == 0) {
        return 0;
    }
    atomic_u64 *words = slab_at(&names->classes[class], object);

    uint32_t whole = length / TEXT_WORD;

    for (uint32_t i = 0; i < whole; i++) {
        u64_store(&words[i], text_word(text, i));
    }
    u64_store(&words[whole], text_tail(text, length));
    return class << CLASS_SHIFT | object;
}

void
names_give(struct names *names, struct names_cache *cache, uint32_t cell)
{
    uint32_t class = cell_class(cell), object = cell_object(cell);
    struct slab *slab = &names->classes[class];

    slab_give_at(slab, &cache->classes[class], object,
                 slab_unchecked(slab, object, RECORD_PAGE_BITS, class_bytes[class]));
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

const char *
names_text(const struct names *names, uint32_t cell)
{
    return slab_unchecked(&names->classes[cell_class(cell)], cell_object(cell), RECORD_PAGE_BITS,
                          class_bytes[cell_class(cell)]);
}

bool
names_equal(const struct names *names, uint32_t cell, const char *text, uint32_t length)
{
    uint32_t class = cell_class(cell);

    /*
     * A cell that was read from a record that is another pod's by now may be any number, also none.
     */
    if (class >= NAME_CLASSES || length >= class_bytes[class]) {
        return false;
    }
    const atomic_u64 *words = slab_at(&names->classes[class], cell_object(cell));
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

void
names_copy(const struct names *names, uint32_t cell, char *out, uint32_t length)
{
    uint32_t class = cell_class(cell);
    const atomic_u64 *words = class < NAME_CLASSES && length < class_bytes[class]
                                  ? slab_at(&names->classes[class], cell_object(cell))
                                  : NULL;

    for (uint32_t i = 0; words != NULL && i < word_count(length); i++) {
        uint64_t word = u64_load_acquire(&words[i]);

        memcpy(out + i * sizeof word, &word, sizeof word);
    }
    out[words != NULL ? length : 0] = '\0';
}
