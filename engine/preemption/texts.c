/* The texts of texts.h: an array of entries, chained in buckets. */
#include "preemption/texts.h"

#include "platform/hash.h"

#include <string.h>

#define TEXTS_MIN 64

void
texts_open(struct texts *texts, struct memory *memory)
{
    *texts = (struct texts){.memory = memory, .end = 1, .seed = hash_seed(texts, memory)};
}

void
texts_clear(struct texts *texts)
{
    for (uint32_t i = 1; i < texts->end; i++) {
        struct text_entry *entry = &texts->entries[i];

        if (entry->bytes != NULL) {
            memory_free(texts->memory, MEMORY_NAMES, entry->bytes, entry->length + 1);
        }
    }
    if (texts->capacity > 0) {
        memset(texts->entries, 0, texts->capacity * sizeof *texts->entries);
        memset(texts->buckets, 0, texts->capacity * sizeof *texts->buckets);
    }
    texts->end = 1;
    texts->first_free = 0;
}

void
texts_close(struct texts *texts)
{
    texts_clear(texts);
    memory_free(texts->memory, MEMORY_NAMES, texts->entries,
                texts->capacity * sizeof *texts->entries);
    memory_free(texts->memory, MEMORY_NAMES, texts->buckets,
                texts->capacity * sizeof *texts->buckets);
}

static void
chain_text(struct texts *texts, uint32_t number)
{
    uint32_t *bucket = &texts->buckets[texts->entries[number].hash & (texts->capacity - 1)];

    texts->entries[number].next = *bucket;
    *bucket = number;
}

static bool
grow(struct texts *texts)
{
    struct memory *memory = texts->memory;
    uint32_t capacity = texts->capacity == 0 ? TEXTS_MIN : texts->capacity * 2;
    uint32_t *buckets = memory_alloc(memory, MEMORY_NAMES, capacity * sizeof *buckets, CACHE_LINE);
    struct text_entry *entries =
        memory_alloc(memory, MEMORY_NAMES, capacity * sizeof *entries, CACHE_LINE);

    if (buckets == NULL || entries == NULL) {
        memory_free(memory, MEMORY_NAMES, buckets, capacity * sizeof *buckets);
        memory_free(memory, MEMORY_NAMES, entries, capacity * sizeof *entries);
        return false;
    }
    if (texts->capacity > 0) {
        memcpy(entries, texts->entries, texts->capacity * sizeof *entries);
    }
    memory_free(memory, MEMORY_NAMES, texts->entries, texts->capacity * sizeof *entries);
    memory_free(memory, MEMORY_NAMES, texts->buckets, texts->capacity * sizeof *buckets);
    texts->entries = entries;
    texts->buckets = buckets;
    texts->capacity = capacity;
    for (uint32_t i = 1; i < texts->end; i++) {
        if (entries[i].bytes != NULL) {
            chain_text(texts, i);
        }
    }
    return true;
}

static uint32_t
find_hashed(const struct texts *texts, const char *text, uint32_t length, uint32_t hash)
{
    if (texts->capacity == 0) {
        return 0;
    }
    uint32_t number = texts->buckets[hash & (texts->capacity - 1)];

    while (number != 0) {
        const struct text_entry *entry = &texts->entries[number];

        if (entry->hash == hash && entry->length == length &&
            memcmp(entry->bytes, text, length) == 0) {
            return number;
        }
        number = entry->next;
    }
    return 0;
}

uint32_t
texts_find(const struct texts *texts, const char *text, uint32_t length)
{
    return find_hashed(texts, text, length, hash_text(texts->seed, text, length));
}

static uint32_t
take_number(struct texts *texts)
{
    uint32_t number = texts->first_free;

    if (number != 0) {
        texts->first_free = texts->entries[number].next;
        return number;
    }
    if (texts->end >= texts->capacity && !grow(texts)) {
        return 0;
    }
    return texts->end++;
}

static void
give_number(struct texts *texts, uint32_t number)
{
    texts->entries[number] = (struct text_entry){.next = texts->first_free};
    texts->first_free = number;
}

uint32_t
texts_use(struct texts *texts, const char *text, uint32_t length)
{
    uint32_t hash = hash_text(texts->seed, text, length);
    uint32_t number = find_hashed(texts, text, length, hash);

    if (number != 0) {
        texts->entries[number].uses++;
        return number;
    }
    number = take_number(texts);
    if (number == 0) {
        return 0;
    }
    char *bytes = memory_alloc(texts->memory, MEMORY_NAMES, length + 1, 1);

    if (bytes == NULL) {
        give_number(texts, number);
        return 0;
    }
    memcpy(bytes, text, length);
    texts->entries[number] =
        (struct text_entry){.bytes = bytes, .length = length, .uses = 1, .hash = hash};
    chain_text(texts, number);
    return number;
}

void
texts_drop(struct texts *texts, uint32_t number)
{
    if (number == 0 || --texts->entries[number].uses > 0) {
        return;
    }
    struct text_entry *entry = &texts->entries[number];
    uint32_t *link = &texts->buckets[entry->hash & (texts->capacity - 1)];

    while (*link != number) {
        link = &texts->entries[*link].next;
    }
    *link = entry->next;
    memory_free(texts->memory, MEMORY_NAMES, entry->bytes, entry->length + 1);
    give_number(texts, number);
}

const char *
texts_get(const struct texts *texts, uint32_t number)
{
    return number == 0 ? "" : texts->entries[number].bytes;
}
