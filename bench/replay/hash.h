/*
 * A mixing function for random streams and digests. Not for adversaries.
 */
#ifndef SCHEDQ_REPLAY_HASH_H
#define SCHEDQ_REPLAY_HASH_H

#include <stdint.h>

/* The finalizer of splitmix64: a bijection; every bit of the input changes half of the output. */
static inline uint64_t
hash_mix(uint64_t value)
{
    value += UINT64_C(0x9e3779b97f4a7c15);
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

#endif
