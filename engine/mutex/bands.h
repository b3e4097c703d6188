/*
 * How many active pods each priority has: what max_bands limits. Kept only if there is a limit.
 *
 * A set of priorities with counts, open addressing. A priority has a slot while any pod of the
 * queue has it, so that there is room for it when its pods become active. The lock-free engine has
 * a bin per band; here a band is only counted, so that both engines refuse the same pods.
 */
#ifndef SCHEDQ_MUTEX_BANDS_H
#define SCHEDQ_MUTEX_BANDS_H

#include "platform/memory.h"

struct band {
    int32_t priority;
    uint32_t pods; /* in any place; 0: empty slot */
    uint32_t active;
};

struct bands {
    struct memory *memory;
    struct band *slots;
    uint32_t mask, count;
    uint32_t active; /* priorities that active pods have */
};

bool mutex_bands_open(struct bands *bands, struct memory *memory);
void mutex_bands_shut(struct bands *bands);

/** Room for `count` priorities. False: no memory, nothing changed. */
bool mutex_bands_reserve(struct bands *bands, uint32_t count);

/** Has an active pod this priority? */
bool mutex_bands_has(const struct bands *bands, int32_t priority);

/** One more pod; room for a priority that is not there was reserved. */
void mutex_bands_enter(struct bands *bands, int32_t priority);
void mutex_bands_leave(struct bands *bands, int32_t priority);

/** One of the pods becomes active, or is active no more. */
void mutex_bands_activate(struct bands *bands, int32_t priority);
void mutex_bands_deactivate(struct bands *bands, int32_t priority);

#endif
