/* The times of keeps.h. */
#include "mutex/keeps.h"

#include <string.h>

void
mutex_keeps_open(struct keeps *keeps, struct memory *memory, const struct entries *entries)
{
    *keeps = (struct keeps){.until = {.order = HEAP_BY_TIME},
                            .room = {.memory = memory, .entries = entries}};
}

void
mutex_keeps_shut(struct keeps *keeps)
{
    struct heap *const heaps[] = {&keeps->until};

    memory_free(keeps->room.memory, MEMORY_QUEUES, keeps->times,
                keeps->room.numbers * sizeof *keeps->times);
    heap_shut(&keeps->room, heaps, 1);
}

static uint32_t
enough_for(uint32_t capacity, uint32_t wanted)
{
    capacity = capacity < PAGE_ENTRIES ? PAGE_ENTRIES : capacity;
    while (capacity < wanted) {
        capacity *= 2;
    }
    return capacity;
}

bool
mutex_keeps_grow(struct keeps *keeps)
{
    struct heap *const heaps[] = {&keeps->until};
    struct memory *memory = keeps->room.memory;
    uint32_t made = entries_made(keeps->room.entries), end = entries_end(keeps->room.entries);
    uint32_t before = keeps->room.numbers;

    if (made <= keeps->room.capacity && end <= before) {
        return true;
    }
    uint32_t capacity = enough_for(keeps->room.capacity, made), numbers = enough_for(before, end);
    int64_t *times = memory_alloc(memory, MEMORY_QUEUES, numbers * sizeof *times, CACHE_LINE);

    if (times == NULL) {
        return false;
    }
    if (!heap_resize(&keeps->room, heaps, 1, capacity, numbers)) {
        memory_free(memory, MEMORY_QUEUES, times, numbers * sizeof *times);
        return false;
    }
    memset(times, 0, numbers * sizeof *times);
    if (before > 0) {
        memcpy(times, keeps->times, before * sizeof *times);
        memory_free(memory, MEMORY_QUEUES, keeps->times, before * sizeof *times);
    }
    keeps->times = times;
    return true;
}

void
mutex_keeps_trim(struct keeps *keeps)
{
    struct memory *memory = keeps->room.memory;
    const struct entries *entries = keeps->room.entries;

    for (uint32_t i = 0; i < keeps->room.numbers; i++) {
        if (keeps->times[i] != 0) {
            return;
        }
    }
    mutex_keeps_shut(keeps);
    mutex_keeps_open(keeps, memory, entries);
}
