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
 *   hazard_join:A -> scan_slots:A
 *       a slot's links; the slot is there before its first pin:A
 * The pins of a slot share the word `pinned`, which only its owner writes: each write repeats the
 * bits of its other pins. The two pins of an event come with one pin:A, behind both objects.
 *
 * PROGRESS. Wait-free, but for hazard_join, which is lock-free, and the caller's callback. A thread
 * that stops with its pins keeps three objects alive.
 *
 * EVIDENCE. tests/model: event_log; stress/explore: counted_*, event_counted;
 * tests/unit/test_lockfree_hazard.c, test_lockfree_event_log.c, test_objects_threads.c.
 */
#include "lockfree/memory/hazard.h"

#include <string.h>

#define BIT(pin) (UINT32_C(1) << (pin))
#define EVENT_BITS (BIT(HAZARD_EVENT_OLD) | BIT(HAZARD_EVENT_NEW))

void
hazards_open(struct hazards *hazards, void (*release)(void *ctx, uint64_t object), void *ctx)
{
    memset(hazards, 0, sizeof *hazards);
    hazards->release = release;
    hazards->ctx = ctx;
}

void
hazard_join(struct hazards *hazards, struct hazard_slot *slot, struct hazard_kept *list)
{
    slot->list = list;
    /* Ends: each failed exchange is another thread's join. */
    do {
        slot->older = ptr_load(&hazards->slots);
        /* hazard_join:A; slots stay, so no ABA */
    } while (!ptr_cas(&hazards->slots, slot->older, slot));
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

/*
 * Is one of a list of objects among the pins of a slot? Those that are pinned are noted in the
 * list.
 */
static bool
scan_slot(const struct hazard_slot *slot, struct hazard_kept *list, uint32_t count)
{
    bool found = false;

    /* Ends: a bit less each round. */
    /* scan_slot:A */
    for (uint32_t bits = u32_load_acquire(&slot->pinned); bits != 0; bits &= bits - 1) {
        /* scan_slot:B */
        uint64_t object = u64_load_acquire(&slot->objects[__builtin_ctz(bits)]);

        for (uint32_t i = 0; i < count; i++) {
            if (list[i].object == object) {
                list[i].pinned = found = true;
            }
        }
    }
    return found;
}

/* Each slot is looked at once, for all objects of a list. True: some pin rests on one of them. */
static bool
scan_slots(const struct hazards *hazards, struct hazard_kept *list, uint32_t count)
{
    bool found = false;

    /* scan_slots:A */
    for (const struct hazard_slot *slot = ptr_load_acquire(&hazards->slots); slot != NULL;
         slot = slot->older) {
        found |= scan_slot(slot, list, count);
    }
    return found;
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
    slot->list[slot->kept++] = (struct hazard_kept){.object = object, .times = 1};
}

/* Releases what is not noted as pinned, one object after the other; each leaves the list first. */
static void
release_unpinned(const struct hazards *hazards, struct hazard_slot *slot)
{
    for (uint32_t i = 0; i < slot->kept;) {
        struct hazard_kept taken = slot->list[i];

        if (taken.pinned) {
            i++;
            continue;
        }
        slot->list[i] = slot->list[--slot->kept];
        for (; taken.times > 0; taken.times--) {
            hazards_call(hazards, taken.object);
        }
    }
}

static void
note_unpinned(struct hazard_slot *slot)
{
    for (uint32_t i = 0; i < slot->kept; i++) {
        slot->list[i].pinned = false;
    }
}

void
hazard_release(struct hazards *hazards, struct hazard_slot *slot, uint64_t object)
{
    struct hazard_kept only = {.object = object, .times = 1};

    if (slot->kept != 0) {
        keep(slot, object);
        hazard_retry(hazards, slot);
    } else if (scan_slots(hazards, &only, 1)) {
        keep(slot, object);
    } else {
        hazards_call(hazards, object);
    }
}

void
hazard_retry(struct hazards *hazards, struct hazard_slot *slot)
{
    if (slot->kept != 0) {
        note_unpinned(slot);
        (void)scan_slots(hazards, slot->list, slot->kept);
        release_unpinned(hazards, slot);
    }
}

void
hazards_drain(struct hazards *hazards)
{
    for (struct hazard_slot *slot = ptr_load_acquire(&hazards->slots); slot != NULL;
         slot = slot->older) {
        note_unpinned(slot);
        release_unpinned(hazards, slot);
    }
}
