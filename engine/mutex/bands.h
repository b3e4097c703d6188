/*
 * How many pods of each priority are in the queue: what max_bands limits.
 *
 * A set of priorities with counts, open addressing. The lock-free engine has a bin per band; here a band is only counted,
 * so that both engines refuse the same pods.
 */
#ifndef SCHEDQ_MUTEX_BANDS_H
#define SCHEDQ_MUTEX_BANDS_H

#include "platform/memory.h"

struct band {
    int32_t priority;
    uint32_t pods; /* 0: empty slot */
};

struct bands {
    struct memory *memory;
    struct band *slots;
    uint32_t mask, count;
};

bool mutex_bands_open(struct bands *bands, struct memory *memory);
void mutex_bands_shut(struct bands *bands);

/** Room for `count` priorities. False: no memory, nothing changed. */
bool mutex_bands_reserve(struct bands *bands, uint32_t count);

bool mutex_bands_has(const struct bands *bands, int32_t priority);

/** One more pod; room for a priority that is not there was reserved. */
void mutex_bands_enter(struct bands *bands, int32_t priority);
void mutex_bands_leave(struct bands *bands, int32_t priority);

#endif
