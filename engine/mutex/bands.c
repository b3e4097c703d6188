/* The set of bands.h. */
#include "mutex/bands.h"

#define SLOTS_MIN 64

static uint32_t
home_of(const struct bands *bands, int32_t priority)
{
    return ((uint32_t)priority * UINT32_C(0x9e3779b1)) >> 7 & bands->mask;
}

static uint32_t
slot_of(const struct bands *bands, int32_t priority)
{
    uint32_t i = home_of(bands, priority);

    while (bands->slots[i].pods != 0 && bands->slots[i].priority != priority) {
        i = (i + 1) & bands->mask;
    }
    return i;
}

bool
mutex_bands_open(struct bands *bands, struct memory *memory)
{
    *bands = (struct bands){.memory = memory, .mask = SLOTS_MIN - 1};
    bands->slots =
        memory_alloc(memory, MEMORY_QUEUES, SLOTS_MIN * sizeof *bands->slots, CACHE_LINE);
    return bands->slots != NULL;
}

void
mutex_bands_shut(struct bands *bands)
{
    memory_free(bands->memory, MEMORY_QUEUES, bands->slots,
                ((size_t)bands->mask + 1) * sizeof *bands->slots);
}

bool
mutex_bands_reserve(struct bands *bands, uint32_t count)
{
    uint32_t capacity = bands->mask + 1;
    struct bands larger = *bands;

    if (count <= capacity / 2) {
        return true;
    }
    while (capacity / 2 < count) {
        capacity *= 2;
    }
    larger.mask = capacity - 1;
    larger.slots =
        memory_alloc(bands->memory, MEMORY_QUEUES, capacity * sizeof *larger.slots, CACHE_LINE);
    if (larger.slots == NULL) {
        return false;
    }
    for (uint32_t i = 0; i <= bands->mask; i++) {
        if (bands->slots[i].pods != 0) {
            larger.slots[slot_of(&larger, bands->slots[i].priority)] = bands->slots[i];
        }
    }
    mutex_bands_shut(bands);
    *bands = larger;
    return true;
}

bool
mutex_bands_has(const struct bands *bands, int32_t priority)
{
    return bands->slots[slot_of(bands, priority)].active != 0;
}

void
mutex_bands_activate(struct bands *bands, int32_t priority)
{
    bands->active += bands->slots[slot_of(bands, priority)].active++ == 0 ? 1 : 0;
}

void
mutex_bands_deactivate(struct bands *bands, int32_t priority)
{
    bands->active -= --bands->slots[slot_of(bands, priority)].active == 0 ? 1 : 0;
}

void
mutex_bands_enter(struct bands *bands, int32_t priority)
{
    struct band *band = &bands->slots[slot_of(bands, priority)];

    if (band->pods == 0) {
        bands->count++;
        band->priority = priority;
        band->active = 0;
    }
    band->pods++;
}

void
mutex_bands_leave(struct bands *bands, int32_t priority)
{
    uint32_t hole = slot_of(bands, priority);

    if (--bands->slots[hole].pods != 0) {
        return;
    }
    bands->count--;
    for (uint32_t i = (hole + 1) & bands->mask; bands->slots[i].pods != 0;
         i = (i + 1) & bands->mask) {
        uint32_t home = home_of(bands, bands->slots[i].priority);

        if (((i - home) & bands->mask) >= ((i - hole) & bands->mask)) {
            bands->slots[hole] = bands->slots[i];
            bands->slots[i] = (struct band){0};
            hole = i;
        }
    }
}
