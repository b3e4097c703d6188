/* The hash of hash.h: multiplication of 64 by 64 bits, both halves folded together. */
#include "platform/hash.h"

#include <string.h>

static uint64_t
mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/*
 * Eight bytes at a time; the tail is read as one short word, so no byte behind the text is touched.
 */
uint32_t
hash_text(uint64_t seed, const char *text, uint32_t length)
{
    uint64_t hash = seed ^ length;
    uint64_t word;

    while (length >= sizeof word) {
        memcpy(&word, text, sizeof word);
        hash = mix(hash ^ word, UINT64_C(0xa0761d6478bd642f));
        text += sizeof word;
        length -= (uint32_t)sizeof word;
    }
    word = 0;
    memcpy(&word, text, length);
    hash = mix(hash ^ word, UINT64_C(0xe7037ed1a0b428db));
    return (uint32_t)(hash ^ (hash >> 32));
}

uint64_t
hash_seed(const void *first, const void *second)
{
    return (uint64_t)(uintptr_t)first * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)(uintptr_t)second;
}
