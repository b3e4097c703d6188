/* The table of index.h. */
#include "mutex/index.h"

#include <string.h>

#define SLOTS_MIN 256

/* Every slot empty: the record number is all ones. */
static struct index_slot *
slots_make(struct memory *memory, uint32_t count)
{
    struct index_slot *slots =
        memory_alloc(memory, MEMORY_INDEX, count * sizeof *slots, CACHE_LINE);

    if (slots != NULL) {
        memset(slots, 0xff, count * sizeof *slots);
    }
    return slots;
}

bool
mutex_index_open(struct index *index, struct memory *memory, const struct entries *entries)
{
    *index = (struct index){.memory = memory, .entries = entries, .mask = SLOTS_MIN - 1};
    index->slots = slots_make(memory, SLOTS_MIN);
    return index->slots != NULL;
}

void
mutex_index_shut(struct index *index)
{
    memory_free(index->memory, MEMORY_INDEX, index->slots,
                ((size_t)index->mask + 1) * sizeof *index->slots);
}

void
mutex_index_insert(struct index *index, uint32_t entry, uint32_t hash)
{
    uint32_t i = hash & index->mask;

    while (index->slots[i].entry != NO_ENTRY) {
        i = (i + 1) & index->mask;
    }
    index->slots[i] = (struct index_slot){.hash = hash, .entry = entry};
    index->count++;
}

static bool
resize(struct index *index, uint32_t capacity)
{
    struct index_slot *old = index->slots;
    uint32_t old_capacity = index->mask + 1;
    struct index_slot *slots = slots_make(index->memory, capacity);

    if (slots == NULL) {
        return false;
    }
    index->slots = slots;
    index->mask = capacity - 1;
    index->count = 0;
    for (uint32_t i = 0; i < old_capacity; i++) {
        if (old[i].entry != NO_ENTRY) {
            mutex_index_insert(index, old[i].entry, old[i].hash);
        }
    }
    memory_free(index->memory, MEMORY_INDEX, old, old_capacity * sizeof *old);
    return true;
}

static uint32_t
capacity_for(uint32_t count)
{
    uint32_t capacity = SLOTS_MIN;

    while (capacity / 2 < count) {
        capacity *= 2;
    }
    return capacity;
}

bool
mutex_index_reserve(struct index *index, uint32_t count)
{
    uint32_t capacity = capacity_for(count);

    return capacity <= index->mask + 1 || resize(index, capacity);
}

void
mutex_index_trim(struct index *index, uint32_t count)
{
    uint32_t capacity = capacity_for(count);

    if (capacity < index->mask + 1) {
        (void)resize(index, capacity);
    }
}

uint32_t
mutex_index_find(const struct index *index, const struct hashed_name *name)
{
    for (uint32_t i = name->hash & index->mask; index->slots[i].entry != NO_ENTRY;
         i = (i + 1) & index->mask) {
        const struct entry *entry;

        if (index->slots[i].hash != name->hash) {
            continue;
        }
        entry = entry_at(index->entries, index->slots[i].entry);
        if (entry->name_length == name->length &&
            memcmp(entry->name, name->text, name->length) == 0) {
            return index->slots[i].entry;
        }
    }
    return NO_ENTRY;
}

void
mutex_index_remove(struct index *index, uint32_t entry, uint32_t hash)
{
    uint32_t hole = hash & index->mask;

    while (index->slots[hole].entry != entry) {
        hole = (hole + 1) & index->mask;
    }
    /* Shift back what would not be found any more across the hole: no tombstones, so no decay. */
    for (uint32_t i = (hole + 1) & index->mask; index->slots[i].entry != NO_ENTRY;
         i = (i + 1) & index->mask) {
        uint32_t home = index->slots[i].hash & index->mask;

        if (((i - home) & index->mask) >= ((i - hole) & index->mask)) {
            index->slots[hole] = index->slots[i];
            hole = i;
        }
    }
    index->slots[hole].entry = NO_ENTRY;
    index->count--;
}
