/* Numbers and slots of classes.h. */
#include "mutex/classes.h"

#include <string.h>

#define RING_MIN 16

void
mutex_classes_open(struct classes *classes, struct memory *memory, const struct entries *entries)
{
    *classes = (struct classes){.memory = memory, .entries = entries};
}

static void
give_slots(struct classes *classes)
{
    for (uint32_t i = 0; classes->slots != NULL && i < CLASS_SLOTS; i++) {
        memory_free(classes->memory, MEMORY_QUEUES, classes->slots[i].refs,
                    classes->slots[i].capacity * sizeof(uint64_t));
    }
    memory_free(classes->memory, MEMORY_QUEUES, classes->slots,
                classes->slots != NULL ? CLASS_SLOTS * sizeof *classes->slots : 0);
    classes->slots = NULL;
}

void
mutex_classes_shut(struct classes *classes)
{
    give_slots(classes);
    memory_free(classes->memory, MEMORY_QUEUES, classes->numbers,
                classes->known * sizeof *classes->numbers);
}

bool
mutex_classes_reserve(struct classes *classes)
{
    uint32_t wanted = entries_end(classes->entries), known = classes->known;

    if (wanted <= known) {
        return true;
    }
    known = known == 0 ? PAGE_ENTRIES : known;
    while (known < wanted) {
        known *= 2;
    }
    uint64_t *numbers = memory_grow(classes->memory, MEMORY_QUEUES, classes->numbers,
                                    classes->known, known, sizeof *numbers);
    if (numbers == NULL) {
        return false;
    }
    classes->numbers = numbers;
    classes->known = known;
    return true;
}

void
mutex_classes_set(struct classes *classes, uint32_t index, uint64_t number)
{
    struct entry *entry = entry_at(classes->entries, index);

    if (number != 0) {
        entry->flags |= ENTRY_CLASSED;
        classes->numbers[index] = number;
    } else {
        entry->flags &= (uint8_t) ~(ENTRY_CLASSED | ENTRY_WAITED);
    }
}

struct class_slot *
mutex_classes_slot(const struct classes *classes, const struct class_key *key)
{
    return classes->slots != NULL ? &classes->slots[class_slot_of(key)] : NULL;
}

bool
mutex_classes_make(struct classes *classes)
{
    if (classes->slots != NULL) {
        return true;
    }
    classes->slots = memory_alloc(classes->memory, MEMORY_QUEUES,
                                  CLASS_SLOTS * sizeof *classes->slots, CACHE_LINE);
    for (uint32_t i = 0; classes->slots != NULL && i < CLASS_SLOTS; i++) {
        classes->slots[i] = (struct class_slot){.scout = NO_ENTRY};
    }
    return classes->slots != NULL;
}

/* ---- pods that wait -------------------------------------------------------------------------- */

static uint64_t *
ref_at(const struct class_slot *slot, uint32_t i)
{
    return &slot->refs[(slot->first + i) & (slot->capacity - 1)];
}

/* NO_ENTRY: it is stale. */
static uint32_t
waits(const struct classes *classes, uint64_t ref)
{
    uint32_t index;
    const struct entry *entry = entry_of_bits(classes->entries, ref, &index);

    return entry != NULL && entry->place == SCHEDQ_HELD && entry_ref(entry, index) == ref
               ? index
               : NO_ENTRY;
}

static void
forget_stale(const struct classes *classes, struct class_slot *slot)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < slot->count; i++) {
        if (waits(classes, *ref_at(slot, i)) != NO_ENTRY) {
            *ref_at(slot, kept++) = *ref_at(slot, i);
        }
    }
    slot->count = kept;
}

bool
mutex_classes_make_room(struct classes *classes, struct class_slot *slot)
{
    if (slot->count < slot->capacity) {
        return true;
    }
    forget_stale(classes, slot);
    /* half of it is free: so each look at all of it is paid for by as many refs */
    if (slot->capacity > 0 && slot->count <= slot->capacity / 2) {
        return true;
    }
    uint32_t capacity = slot->capacity == 0 ? RING_MIN : 2 * slot->capacity;
    uint64_t *refs =
        memory_alloc(classes->memory, MEMORY_QUEUES, capacity * sizeof *refs, CACHE_LINE);

    if (refs == NULL) {
        return slot->count < slot->capacity;
    }
    for (uint32_t i = 0; i < slot->count; i++) {
        refs[i] = *ref_at(slot, i);
    }
    memory_free(classes->memory, MEMORY_QUEUES, slot->refs, slot->capacity * sizeof *refs);
    slot->refs = refs;
    slot->first = 0;
    slot->capacity = capacity;
    return true;
}

void
mutex_classes_put(struct class_slot *slot, uint64_t ref)
{
    *ref_at(slot, slot->count++) = ref;
}

uint32_t
mutex_classes_take(const struct classes *classes, struct class_slot *slot)
{
    uint32_t index = NO_ENTRY;

    while (slot->count > 0 && index == NO_ENTRY) {
        index = waits(classes, *ref_at(slot, 0));
        slot->first = (slot->first + 1) & (slot->capacity - 1);
        slot->count--;
    }
    return index;
}

void
mutex_classes_trim(struct classes *classes)
{
    uint64_t hides = classes->hides, turns = classes->turns;

    mutex_classes_shut(classes);
    mutex_classes_open(classes, classes->memory, classes->entries);
    classes->hides = hides;
    classes->turns = turns;
}
