/*
 * Reproducible random numbers: splitmix64.
 *
 * A round has one stream for the choice of operations; each operation has one of its own for its
 * details, so that leaving other operations out does not change it.
 */
#ifndef DIFFERENTIAL_CHANCE_H
#define DIFFERENTIAL_CHANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct chance {
    uint64_t state;
} chance_t;

static inline uint64_t
chance_mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static inline uint64_t
chance_next(chance_t *chance)
{
    chance->state += UINT64_C(0x9e3779b97f4a7c15);
    return chance_mix(chance->state);
}

/** 0..bound-1; bound is at least 1. */
static inline uint32_t
chance_below(chance_t *chance, uint32_t bound)
{
    return (uint32_t)((chance_next(chance) >> 32) * bound >> 32);
}

/** True once in `n` times. */
static inline bool
chance_one_in(chance_t *chance, uint32_t n)
{
    return chance_below(chance, n) == 0;
}

/** One of the elements of an array. */
#define CHANCE_OF(chance, array) \
    ((array)[chance_below((chance), (uint32_t)(sizeof(array) / sizeof *(array)))])

#endif
