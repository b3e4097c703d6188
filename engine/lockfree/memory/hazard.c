/*
 * The slots of hazard.h.
 *
 * ORDERING
 *   the object, pin:A (an exchange that sets its bit), second read of the object's source
 *       | the caller's RMW that takes the object out of there, scan_slot:A, B
 *       if the second read finds the object, the scan finds the pin, or what its owner did after it
 *       (unpin:A, a later pin): then the owner has its reference, or has given the object up
 *   the pinner's use of the object, unpin:A -> scan_slot:A
 *   hazard_pin:A or hazard_pin_event:A -> scan_slot:B
 *       between scan_slot:A and B the owner may unpin, and pin another object: B finds that one
 * The pins of a slot share the word `pinned`, which only its owner writes: each write repeats the
 * bits of its other pins. The two pins of an event come with one pin:A, behind both objects.
 *
 * PROGRESS. Wait-free, but for the caller's callback. A thread that stops with its pins keeps three
 * objects alive.
 *
 * EVIDENCE. tests/model: event_log; stress/explore: counted_*, event_counted;
 * tests/unit/test_lockfree_hazard.c, test_lockfree_event_log.c, test_objects_threads.c.
 */
#include "lockfree/memory/hazard.h"

#include <string.h>

/* What was in the slots, each looked at once. */
struct pins {
    uint32_t count;
    uint64_t objects[HAZARD_PINS_MAX];
};

#define BIT(pin) (UINT32_C(1) << (pin))
#define EVENT_BITS (BIT(HAZARD_EVENT_OLD) | BIT(HAZARD_EVENT_NEW))

void
hazards_open(struct hazards *hazards, void (*release)(void *ctx, uint64_t object), void *ctx)
{
    memset(hazards, 0, sizeof *hazards);
    hazards->release = release;
    hazards->ctx = ctx;
}

struct hazard_slot *
hazard_slot(struct hazards *hazards, uint32_t worker, struct hazard_kept *list)
{
    hazards->slot[worker].list = list;
    (void)u64_max(&hazards->slots, worker + UINT64_C(1));
    return &hazards->slot[worker];
}

/* `bits`: of pins whose objects are in the slot already. */
static void
pin(struct hazard_slot *slot, uint32_t bits)
{
    /* pin:A; the load: the owner's own word */
    (void)u32_exchange(&slot->pinned, u32_load(&slot->pinned) | bits);
}

static void
unpin(struct hazard_slot *slot, uint32_t bits)
{
    u32_store_release(&slot->pinned, u32_load(&slot->pinned) & ~bits); /* unpin:A */
}

void
hazard_pin(struct hazard_slot *slot, uint64_t object)
{
    u64_store_release(&slot->objects[HAZARD_POD], object); /* hazard_pin:A, read by scan_slot:B */
    pin(slot, BIT(HAZARD_POD));
}

void
hazard_unpin(struct hazard_slot *slot)
{
    unpin(slot, BIT(HAZARD_POD));
}

void
hazard_pin_event(struct hazard_slot *slot, uint64_t old_object, uint64_t new_object)
{
    uint32_t bits = (old_object != 0 ? BIT(HAZARD_EVENT_OLD) : 0) |
                    (new_object != 0 ? BIT(HAZARD_EVENT_NEW) : 0);

    if (bits != 0) {
        /* hazard_pin_event:A, two stores, read by scan_slot:B */
        u64_store_release(&slot->objects[HAZARD_EVENT_OLD], old_object);
        u64_store_release(&slot->objects[HAZARD_EVENT_NEW], new_object);
        pin(slot, bits);
    }
}

void
hazard_unpin_event(struct hazard_slot *slot)
{
    unpin(slot, EVENT_BITS);
}

void
hazard_forget(struct hazard_slot *slot)
{
    unpin(slot, BIT(HAZARD_POD) | EVENT_BITS);
    slot->kept = 0;
}

static void
scan_slot(const struct hazard_slot *slot, struct pins *pins)
{
    /* Ends: a bit less each round. */
    /* scan_slot:A */
    for (uint32_t bits = u32_load_acquire(&slot->pinned); bits != 0; bits &= bits - 1) {
        /* scan_slot:B */
        pins->objects[pins->count++] = u64_load_acquire(&slot->objects[__builtin_ctz(bits)]);
    }
}

static void
scan_slots(const struct hazards *hazards, struct pins *pins)
{
    /* relaxed: raised before the first pin:A of that slot */
    uint32_t slots = (uint32_t)u64_load(&hazards->slots);

    pins->count = 0;
    for (uint32_t i = 0; i < slots; i++) {
        scan_slot(&hazards->slot[i], pins);
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
            hazards_call(hazards, taken[i].object);
        }
    }
}

static void
retry_with(struct hazards *hazards, struct hazard_slot *slot, const struct pins *pins)
{
    struct hazard_kept taken[HAZARD_KEPT_MAX];

    release_all(hazards, taken, take_unpinned(slot, pins, taken));
}

void
hazard_release(struct hazards *hazards, struct hazard_slot *slot, uint64_t object)
{
    struct pins pins;

    scan_slots(hazards, &pins);
    if (slot->kept == 0 && !is_pinned(&pins, object)) {
        hazards_call(hazards, object);
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
        scan_slots(hazards, &pins);
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
