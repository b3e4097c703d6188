/*
 * Names of the pods that the queues hold which schedq is compared with: their room and their hash.
 */
#ifndef SCHEDQ_BENCH_NAME_HASH_H
#define SCHEDQ_BENCH_NAME_HASH_H

#include <stdint.h>
#include <string.h>

enum { NAME_CELL = 64, NAME_MAX_BYTES = NAME_CELL - 1 };

static inline uint64_t
name_mix(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide_t;
    wide_t product = (wide_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t
name_load_64(const char *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/*
 * Eight bytes a step; the last step takes the last eight bytes, which may overlap the step before.
 */
static inline uint32_t
name_hash(const char *name, uint32_t length)
{
    const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t hash = name_mix(length ^ k, UINT64_C(0xd1b54a32d192ed03));

    if (length < 8) {
        uint64_t word = 0;
        memcpy(&word, name, length);
        return (uint32_t)name_mix(hash ^ word, k);
    }
    for (uint32_t i = 0; i + 8 < length; i += 8) {
        hash = name_mix(hash ^ name_load_64(name + i), k);
    }
    return (uint32_t)name_mix(hash ^ name_load_64(name + length - 8), k);
}

#endif
