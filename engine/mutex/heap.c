/* The heaps of heap.h. */
#include "mutex/heap.h"

/* The root; item 0 is unused, so that the children of i are 2i and 2i+1 and share a cache line. */
#define FIRST 1

/*
 * Every function below that takes `order` is compiled once per order: a sift decides nothing about
 * it at run time.
 */
#define PER_ORDER static inline __attribute__((always_inline))

static int64_t
key_of(const struct heap_room *room, struct order item)
{
    return entry_at(room->entries, order_pod(item))->order_key;
}

PER_ORDER bool
before(const struct heap_room *room, enum heap_order order, const struct order *a,
       const struct order *b)
{
    if (order == HEAP_BY_TIME && order_ties_in_time(*a, *b)) {
        return key_of(room, *a) < key_of(room, *b);
    }
    return order_before(a, b);
}

static inline void
put(struct heap_room *room, struct heap *heap, uint32_t position, const struct order *item)
{
    heap->items[position] = *item;
    room->positions[order_pod(*item)] = position;
}

PER_ORDER void
sift_up_in(struct heap_room *room, struct heap *heap, enum heap_order order, uint32_t position,
           struct order item)
{
    while (position > FIRST) {
        uint32_t parent = position / 2;

        if (!before(room, order, &item, &heap->items[parent])) {
            break;
        }
        put(room, heap, position, &heap->items[parent]);
        position = parent;
    }
    put(room, heap, position, &item);
}

/*
 * The hole goes down to a leaf along the better children, then the item goes up from there: an item
 * that replaces a removed one came from the bottom and belongs near it.
 */
PER_ORDER void
sift_down_in(struct heap_room *room, struct heap *heap, enum heap_order order, uint32_t position,
             struct order item)
{
    const uint32_t last = FIRST + heap->count - 1;
    uint32_t child = 2 * position;

    while (child < last) {
        /*
         * The items two levels below, which are wanted when this pair has been compared. Beyond the
         * end it does nothing.
         */
        __builtin_prefetch((const char *)heap->items + (size_t)child * 4 * sizeof *heap->items, 1);
        child += before(room, order, &heap->items[child + 1], &heap->items[child]);
        put(room, heap, position, &heap->items[child]);
        position = child;
        child = 2 * position;
    }
    if (child == last) {
        put(room, heap, position, &heap->items[child]);
        position = child;
    }
    sift_up_in(room, heap, order, position, item);
}

static void
sift_up(struct heap_room *room, struct heap *heap, uint32_t position, struct order item)
{
    if (heap->order == HEAP_BY_RANK) {
        sift_up_in(room, heap, HEAP_BY_RANK, position, item);
    } else {
        sift_up_in(room, heap, HEAP_BY_TIME, position, item);
    }
}

static void
sift_down(struct heap_room *room, struct heap *heap, uint32_t position, struct order item)
{
    if (heap->order == HEAP_BY_RANK) {
        sift_down_in(room, heap, HEAP_BY_RANK, position, item);
    } else {
        sift_down_in(room, heap, HEAP_BY_TIME, position, item);
    }
}

bool
heap_resize(struct heap_room *room, struct heap *const *heaps, uint32_t count, uint32_t capacity,
            uint32_t numbers)
{
    uint32_t *positions =
        memory_alloc(room->memory, MEMORY_QUEUES, numbers * sizeof *positions, CACHE_LINE);
    struct order *items[8] = {NULL};
    bool complete = positions != NULL;

    for (uint32_t i = 0; i < count && complete; i++) {
        items[i] = memory_alloc(room->memory, MEMORY_QUEUES, (capacity + FIRST) * sizeof *items[i],
                                CACHE_LINE);
        complete = items[i] != NULL;
    }
    if (!complete) {
        memory_free(room->memory, MEMORY_QUEUES, positions, numbers * sizeof *positions);
        for (uint32_t i = 0; i < count; i++) {
            memory_free(room->memory, MEMORY_QUEUES, items[i],
                        (capacity + FIRST) * sizeof *items[i]);
        }
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < heaps[i]->count; j++) {
            items[i][FIRST + j] = heaps[i]->items[FIRST + j];
            positions[order_pod(items[i][FIRST + j])] = FIRST + j;
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
    memory_free(room->memory, MEMORY_QUEUES, room->positions,
                room->numbers * sizeof *room->positions);
    room->positions = NULL;
    room->capacity = 0;
    room->numbers = 0;
}

void
heap_push(struct heap_room *room, struct heap *heap, struct order item)
{
    sift_up(room, heap, FIRST + heap->count++, item);
}

void
heap_remove(struct heap_room *room, struct heap *heap, uint32_t entry)
{
    uint32_t position = room->positions[entry];
    struct order last = heap->items[FIRST + --heap->count];

    if (order_pod(last) != entry) {
        /*
         * sift_down's way up may pass the hole: then the last one ranks before the hole's parent.
         */
        sift_down(room, heap, position, last);
    }
}

void
heap_replace(struct heap_room *room, struct heap *heap, struct order item)
{
    sift_down(room, heap, room->positions[order_pod(item)], item);
}

struct order
heap_best(const struct heap *heap)
{
    return heap->items[FIRST];
}

/* What is below an element that is not before the limit is not either: so it is passed over. */
uint32_t
heap_count_before(const struct heap *heap, struct order limit)
{
    const uint32_t end = FIRST + heap->count;
    uint32_t count = 0, at = FIRST;

    for (;;) {
        if (at < end && order_before(&heap->items[at], &limit)) {
            count++;
            at *= 2;
            continue;
        }
        while (at != FIRST && at % 2 != 0) {
            at /= 2;
        }
        if (at == FIRST) {
            return count;
        }
        at++;
    }
}

static bool
position_before(const struct heap_room *room, const struct heap *heap, uint32_t a, uint32_t b)
{
    return before(room, heap->order, &heap->items[a], &heap->items[b]);
}

/* The frontier is a heap too, of positions: its best is next, and its children replace it. */
static void
frontier_push(const struct heap_room *room, const struct heap *heap, uint32_t *frontier,
              uint32_t *count, uint32_t position)
{
    uint32_t at = (*count)++;

    for (; at > 0 && position_before(room, heap, position, frontier[(at - 1) / 2]);
         at = (at - 1) / 2) {
        frontier[at] = frontier[(at - 1) / 2];
    }
    frontier[at] = position;
}

static uint32_t
frontier_pop(const struct heap_room *room, const struct heap *heap, uint32_t *frontier,
             uint32_t *count)
{
    uint32_t best = frontier[0], last = frontier[--*count], at = 0, child;

    while ((child = 2 * at + 1) < *count) {
        child +=
            child + 1 < *count && position_before(room, heap, frontier[child + 1], frontier[child])
                ? 1
                : 0;
        if (!position_before(room, heap, frontier[child], last)) {
            break;
        }
        frontier[at] = frontier[child];
        at = child;
    }
    frontier[at] = last;
    return best;
}

uint32_t
heap_best_many(const struct heap_room *room, const struct heap *heap, uint32_t *records,
               uint32_t *frontier, uint32_t count)
{
    const uint32_t end = FIRST + heap->count;
    uint32_t waiting = 0, found = 0;

    if (heap->count > 0 && count > 0) {
        frontier_push(room, heap, frontier, &waiting, FIRST);
    }
    while (waiting > 0 && found < count) {
        uint32_t at = frontier_pop(room, heap, frontier, &waiting);

        records[found++] = order_pod(heap->items[at]);
        for (uint32_t child = 2 * at; child < end && child <= 2 * at + 1; child++) {
            frontier_push(room, heap, frontier, &waiting, child);
        }
    }
    return found;
}
