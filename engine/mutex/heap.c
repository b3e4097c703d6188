/* The heaps of heap.h. */
#include "mutex/heap.h"

#include "policy/order.h"

#define WAYS 4
/*
 * The root is item 3, so the children of item i are 4(i-2) .. 4(i-2)+3, which begin at a multiple of four: one cache line,
 * since the array is aligned to a line.
 */
#define FIRST 3

static inline uint32_t
parent_of(uint32_t position)
{
    return position / WAYS + 2;
}

static inline uint32_t
first_child_of(uint32_t position)
{
    return (position - 2) * WAYS;
}

static inline bool
before(const struct heap_room *room, const struct heap *heap, const struct heap_item *a, const struct heap_item *b)
{
    if (heap->order == HEAP_BY_RANK) {
        return order_before(a->rank, a->key, b->rank, b->key);
    }
    if (a->key != b->key) {
        return a->key < b->key;
    }
    return order_before(a->rank, entry_at(room->entries, a->entry)->order_key, b->rank,
                        entry_at(room->entries, b->entry)->order_key);
}

static inline void
put(struct heap_room *room, struct heap *heap, uint32_t position, struct heap_item item)
{
    heap->items[position] = item;
    room->positions[item.entry] = position;
}

static void
sift_up(struct heap_room *room, struct heap *heap, uint32_t position, struct heap_item item)
{
    while (position > FIRST) {
        uint32_t parent = parent_of(position);

        if (!before(room, heap, &item, &heap->items[parent])) {
            break;
        }
        put(room, heap, position, heap->items[parent]);
        position = parent;
    }
    put(room, heap, position, item);
}

static inline uint32_t
best_child(const struct heap_room *room, const struct heap *heap, uint32_t child, uint32_t end)
{
    uint32_t best = child;

    for (uint32_t other = child + 1; other < child + WAYS && other < end; other++) {
        if (before(room, heap, &heap->items[other], &heap->items[best])) {
            best = other;
        }
    }
    return best;
}

/*
 * The hole goes down to a leaf along the best children, then the item goes up from there: an item that replaces a removed
 * one came from the bottom and belongs near it, so comparing it on the way down is in vain.
 */
static void
sift_down(struct heap_room *room, struct heap *heap, uint32_t position, struct heap_item item)
{
    uint32_t end = FIRST + heap->count;
    uint32_t child;

    while ((child = first_child_of(position)) < end) {
        uint32_t best = best_child(room, heap, child, end);

        put(room, heap, position, heap->items[best]);
        position = best;
    }
    sift_up(room, heap, position, item);
}

bool
heap_resize(struct heap_room *room, struct heap *const *heaps, uint32_t count, uint32_t capacity, uint32_t numbers)
{
    uint32_t *positions = memory_alloc(room->memory, MEMORY_QUEUES, numbers * sizeof *positions, CACHE_LINE);
    struct heap_item *items[8] = {NULL};
    bool complete = positions != NULL;

    for (uint32_t i = 0; i < count && complete; i++) {
        items[i] = memory_alloc(room->memory, MEMORY_QUEUES, (capacity + FIRST) * sizeof *items[i], CACHE_LINE);
        complete = items[i] != NULL;
    }
    if (!complete) {
        memory_free(room->memory, MEMORY_QUEUES, positions, numbers * sizeof *positions);
        for (uint32_t i = 0; i < count; i++) {
            memory_free(room->memory, MEMORY_QUEUES, items[i], (capacity + FIRST) * sizeof *items[i]);
        }
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < heaps[i]->count; j++) {
            items[i][FIRST + j] = heaps[i]->items[FIRST + j];
            positions[items[i][FIRST + j].entry] = FIRST + j;
        }
    }
    heap_shut(room, heaps, count);
    for (uint32_t i = 0; i < count; i++) {
        heaps[i]->items = items[i];
    }
    room->positions = positions;
    room->capacity = capacity;
    room->numbers = numbers;
    return true;
}

void
heap_shut(struct heap_room *room, struct heap *const *heaps, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        memory_free(room->memory, MEMORY_QUEUES, heaps[i]->items,
                    (room->capacity + FIRST) * sizeof *heaps[i]->items);
        heaps[i]->items = NULL;
    }
    memory_free(room->memory, MEMORY_QUEUES, room->positions, room->numbers * sizeof *room->positions);
    room->positions = NULL;
    room->capacity = 0;
    room->numbers = 0;
}

void
heap_push(struct heap_room *room, struct heap *heap, struct heap_item item)
{
    sift_up(room, heap, FIRST + heap->count++, item);
}

void
heap_remove(struct heap_room *room, struct heap *heap, uint32_t entry)
{
    uint32_t position = room->positions[entry];
    struct heap_item last = heap->items[FIRST + --heap->count];

    if (last.entry != entry) {
        /* sift_down's way up may pass the hole: then the last one ranks before the hole's parent. */
        sift_down(room, heap, position, last);
    }
}

void
heap_replace(struct heap_room *room, struct heap *heap, struct heap_item item)
{
    sift_down(room, heap, room->positions[item.entry], item);
}

struct heap_item
heap_best(const struct heap *heap)
{
    return heap->items[FIRST];
}
