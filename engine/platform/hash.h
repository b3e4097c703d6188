/*
 * The hash of a text, for the index of either engine: multiplications of 64 by 64 bits, both halves
 * folded together.
 *
 * Seeded per queue, so that a chooser of names cannot choose the collisions. Not for anything
 * that leaves the process: the value depends on the seed and on the byte order.
 */
#ifndef SCHEDQ_PLATFORM_HASH_H
#define SCHEDQ_PLATFORM_HASH_H

#include "platform/text.h"

static inline uint64_t
hash_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* ---- in steps, for a loop that does something else with the words too ------------------------ */

static inline uint64_t
hash_begin(uint64_t seed, uint32_t length)
{
    return seed ^ length;
}

/** For each whole word. */
static inline uint64_t
hash_word(uint64_t hash, uint64_t word)
{
    return hash_mix(hash ^ word, UINT64_C(0xa0761d6478bd642f));
}

/**
 * With text_tail. All 32 bits are equally good, so that an index may cut its line numbers and its
 * tags out of different ends.
 */
static inline uint32_t
hash_end(uint64_t hash, uint64_t tail)
{
    hash = hash_mix(hash ^ tail, UINT64_C(0xe7037ed1a0b428db));
    return (uint32_t)(hash ^ (hash >> 32));
}

/* ---- at once --------------------------------------------------------------------------------- */

static inline uint32_t
hash_text(uint64_t seed, const char *text, uint32_t length)
{
    uint64_t hash = hash_begin(seed, length);

    for (uint32_t i = 0; i < length / TEXT_WORD; i++) {
        hash = hash_word(hash, text_word(text, i));
    }
    return hash_end(hash, text_tail(text, length));
}

/**
 * A seed that differs from queue to queue: address randomization is randomness enough against
 * chosen names.
 */
static inline uint64_t
hash_seed(const void *first, const void *second)
{
    return (uint64_t)(uintptr_t)first * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(uintptr_t)second;
}

#endif
