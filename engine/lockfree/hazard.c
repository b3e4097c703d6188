/*
 * The slots of hazard.h.
 *
 * ORDERING. A full fence on both sides:
 *     pin       object, then pinned = 1 by an exchange (pin:B)     ; read the pod again
 *     release   take the object out of the pod (the caller's RMW)  ; read the slots (scan:A, scan:B)
 * If the second read of the pod finds the object, pin:B came before the object was taken out. So the scan finds the pin,
 * or what its owner did since (unpin:A, a later pin): then he has his reference, or gave the object up.
 * unpin:A is a release, scan:A an acquire: what the pinner did with the object happens before its release.
 *
 * PROGRESS. Wait-free, but for the caller's callback. A thread that stops with a pin keeps one object alive.
 *
 * EVIDENCE. tests/unit/test_lockfree_hazard.c.
 */
#include "lockfree/hazard.h"

#include <string.h>

/* What was in the slots, each looked at once. */
struct pins {
    uint32_t count;
    uint64_t objects[WORKERS_MAX];
};

void
hazards_open(struct hazards *hazards, void (*release)(void *ctx, uint64_t object), void *ctx)
{
    memset(hazards, 0, sizeof *hazards);
    hazards->release = release;
    hazards->ctx = ctx;
}

struct hazard_slot *
hazard_slot(struct hazards *hazards, uint32_t worker)
{
    (void)u64_max(&hazards->slots, worker + UINT64_C(1));
    return &hazards->slot[worker];
}

void
hazard_pin(struct hazard_slot *slot, uint64_t object)
{
    u64_store(&slot->object, object);     /* pin:A; relaxed: pin:B orders it */
    (void)u32_exchange(&slot->pinned, 1); /* pin:B */
}

void
hazard_unpin(struct hazard_slot *slot)
{
    u32_store_release(&slot->pinned, 0); /* unpin:A */
}

static void
scan(const struct hazards *hazards, struct pins *pins)
{
    uint32_t slots = (uint32_t)u64_load(&hazards->slots);

    pins->count = 0;
    for (uint32_t i = 0; i < slots; i++) {
        if (u32_load_acquire(&hazards->slot[i].pinned) != 0) {                 /* scan:A */
            pins->objects[pins->count++] = u64_load(&hazards->slot[i].object); /* scan:B */
        }
    }
}

static bool
is_pinned(const struct pins *pins, uint64_t object)
{
    for (uint32_t i = 0; i < pins->count; i++) {
        if (pins->objects[i] == object) {
            return true;
        }
    }
    return false;
}

static void
keep(struct hazard_slot *slot, uint64_t object)
{
    for (uint32_t i = 0; i < slot->kept; i++) {
        if (slot->list[i].object == object) {
            slot->list[i].times++;
            return;
        }
    }
    slot->list[slot->kept++] = (struct hazard_kept){object, 1};
}

/* Takes the objects that no pin holds off the list. */
static uint32_t
take_unpinned(struct hazard_slot *slot, const struct pins *pins, struct hazard_kept *taken)
{
    uint32_t count = 0, left = 0;

    for (uint32_t i = 0; i < slot->kept; i++) {
        if (is_pinned(pins, slot->list[i].object)) {
            slot->list[left++] = slot->list[i];
        } else {
            taken[count++] = slot->list[i];
        }
    }
    slot->kept = left;
    return count;
}

static void
release_all(const struct hazards *hazards, const struct hazard_kept *taken, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint64_t times = taken[i].times; times > 0; times--) {
            hazards->release(hazards->ctx, taken[i].object);
        }
    }
}

static void
retry_with(struct hazards *hazards, struct hazard_slot *slot, const struct pins *pins)
{
    struct hazard_kept taken[WORKERS_MAX + 1];

    release_all(hazards, taken, take_unpinned(slot, pins, taken));
}

void
hazard_release(struct hazards *hazards, struct hazard_slot *slot, uint64_t object)
{
    struct pins pins;

    scan(hazards, &pins);
    if (slot->kept == 0 && !is_pinned(&pins, object)) {
        hazards->release(hazards->ctx, object);
        return;
    }
    keep(slot, object);
    retry_with(hazards, slot, &pins);
}

void
hazard_retry(struct hazards *hazards, struct hazard_slot *slot)
{
    struct pins pins;

    if (slot->kept != 0) {
        scan(hazards, &pins);
        retry_with(hazards, slot, &pins);
    }
}

void
hazards_drain(struct hazards *hazards)
{
    const struct pins none = {.count = 0};

    for (uint32_t i = 0; i < WORKERS_MAX; i++) {
        retry_with(hazards, &hazards->slot[i], &none);
    }
}
