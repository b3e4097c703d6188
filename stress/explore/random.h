/*
 * Random numbers that a seed repeats on every machine: splitmix64.
 */
#ifndef EXPLORE_RANDOM_H
#define EXPLORE_RANDOM_H

#include <stdint.h>

struct random {
    uint64_t state;
};

static inline uint64_t
random_mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static inline uint64_t
random_next(struct random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    return random_mix(random->state);
}

/** 0..limit - 1. The bias is below limit / 2^32. */
static inline uint32_t
random_below(struct random *random, uint32_t limit)
{
    return (uint32_t)((random_next(random) >> 32) * limit >> 32);
}

/** True once in `rate` calls. */
static inline int
random_once_in(struct random *random, uint32_t rate)
{
    return random_below(random, rate) == 0;
}

#endif
