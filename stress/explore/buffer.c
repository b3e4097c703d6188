/* The store buffers of buffer.h. */
#include "buffer.h"

#include "arena.h"
#include "scheduler.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low half of a word comes first");

void
memory_set_word(void *word, uint64_t value, unsigned bytes)
{
    if (bytes == sizeof(uint32_t)) {
        uint32_t half = (uint32_t)value;

        memcpy(word, &half, sizeof half);
    } else {
        memcpy(word, &value, sizeof value);
    }
}

struct buffered_store
buffer_flush_one(struct buffer *buffer)
{
    struct buffered_store store = buffer->stores[buffer->first];

    buffer->first = (buffer->first + 1) % BUFFER_STORES;
    buffer->count--;
    if (arena_is_dead(store.word)) {
        sim_fail("a store reaches memory that was given back meanwhile: arena+0x%llx",
                 (unsigned long long)arena_offset(store.word));
    }
    memory_set_word(store.word, store.value, store.bytes);
    return store;
}

void
buffer_flush(struct buffer *buffer)
{
    while (!buffer_is_empty(buffer)) {
        (void)buffer_flush_one(buffer);
    }
}

void
buffer_store(struct buffer *buffer, void *word, uint64_t value, unsigned bytes)
{
    if (buffer->count == BUFFER_STORES) {
        (void)buffer_flush_one(buffer);
    }
    buffer->stores[(buffer->first + buffer->count) % BUFFER_STORES] =
        (struct buffered_store){.word = word, .value = value, .bytes = bytes};
    buffer->count++;
}

static bool
overlaps(const struct buffered_store *store, uintptr_t word, unsigned bytes)
{
    uintptr_t begin = (uintptr_t)store->word;

    return begin < word + bytes && word < begin + store->bytes;
}

static bool
covers(const struct buffered_store *store, uintptr_t word, unsigned bytes)
{
    uintptr_t begin = (uintptr_t)store->word;

    return begin <= word && word + bytes <= begin + store->bytes;
}

uint64_t
buffer_load_among(struct buffer *buffer, const void *word, unsigned bytes)
{
    for (unsigned i = buffer->count; i-- > 0;) {
        const struct buffered_store *store = &buffer->stores[(buffer->first + i) % BUFFER_STORES];

        if (!overlaps(store, (uintptr_t)word, bytes)) {
            continue;
        }
        if (!covers(store, (uintptr_t)word, bytes)) {
            buffer_flush(buffer);
            break;
        }
        uint64_t value = 0;
        memcpy(&value, (const char *)&store->value + ((uintptr_t)word - (uintptr_t)store->word),
               bytes);
        return value;
    }
    return memory_word(word, bytes);
}
