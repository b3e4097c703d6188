/*
 * The store buffer of a simulated processor (x86-TSO): stores wait in it, in order, until they
 * reach memory one by one.
 *
 * The owner sees its own stores at once, everybody else sees memory. Words are 4 or 8 bytes and
 * aligned; the halves of a word may be accessed alone.
 */
#ifndef EXPLORE_BUFFER_H
#define EXPLORE_BUFFER_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define BUFFER_STORES 16

struct buffered_store {
    void *word;
    uint64_t value;
    unsigned bytes;
};

struct buffer {
    unsigned first, count;
    struct buffered_store stores[BUFFER_STORES];
};

/** Memory, without a buffer between. */
static inline uint64_t
memory_word(const void *word, unsigned bytes)
{
    uint32_t half;
    uint64_t whole;

    if (bytes == sizeof half) {
        memcpy(&half, word, sizeof half);
        return half;
    }
    memcpy(&whole, word, sizeof whole);
    return whole;
}

void memory_set_word(void *word, uint64_t value, unsigned bytes);

static inline void
buffer_clear(struct buffer *buffer)
{
    buffer->first = buffer->count = 0;
}

static inline bool
buffer_is_empty(const struct buffer *buffer)
{
    return buffer->count == 0;
}

/** A full buffer lets its oldest store go first. */
void buffer_store(struct buffer *buffer, void *word, uint64_t value, unsigned bytes);

/** What the owner of a buffer that is not empty sees: buffer_load. */
uint64_t buffer_load_among(struct buffer *buffer, const void *word, unsigned bytes);

/**
 * What the owner sees.
 *
 * A word of which the newest store in the buffer covers only a part is read from memory, after the
 * buffer was emptied: that is what the processor does too.
 */
static inline uint64_t
buffer_load(struct buffer *buffer, const void *word, unsigned bytes)
{
    return buffer_is_empty(buffer) ? memory_word(word, bytes)
                                   : buffer_load_among(buffer, word, bytes);
}

/** Lets the oldest store go and returns it. The buffer is not empty. */
struct buffered_store buffer_flush_one(struct buffer *buffer);

void buffer_flush(struct buffer *buffer);

#endif
