/* A set of 64-bit values, none of them 0: open addressing in a table that never grows. */
#ifndef DIFFERENTIAL_BITS_SET_H
#define DIFFERENTIAL_BITS_SET_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "chance.h"

typedef struct bits_set {
    uint64_t *slots;
    uint32_t mask;
} bits_set_t;

/** Empties the set; it must not get more than half of `slots` values. */
static inline void
bits_set_clear(bits_set_t *set, uint32_t slots)
{
    set->mask = slots - 1;
    memset(set->slots, 0, slots * sizeof *set->slots);
}

/** False if it is there already. */
static inline bool
bits_set_add(bits_set_t *set, uint64_t bits)
{
    uint32_t i = (uint32_t)chance_mix(bits) & set->mask;

    while (set->slots[i] != 0) {
        if (set->slots[i] == bits) {
            return false;
        }
        i = (i + 1) & set->mask;
    }
    set->slots[i] = bits;
    return true;
}

#endif
