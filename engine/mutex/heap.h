/*
 * Heaps with positions: the best element in O(1), any element removed or re-keyed in O(log n).
 *
 * Three of them hang on a queue. The active one orders by (rank, key): pop's order. Backoff and
 * error backoff order by (key, rank, order key): by expiry, and among equal expiries (one-second
 * windows make many) as the active one would.
 *
 * An element is 16 bytes, and the positions are in one array for all heaps, indexed by record
 * number: a record is in one heap at most. A sift so touches nothing but these two arrays. Binary:
 * with the level after next prefetched it was as fast as a 4-ary one at 100,000 pods, and faster at
 * 1,000, where three comparisons a level cost more than the levels they save.
 */
#ifndef SCHEDQ_MUTEX_HEAP_H
#define SCHEDQ_MUTEX_HEAP_H

#include "mutex/entry.h"
#include "policy/order.h"

enum heap_order { HEAP_BY_RANK, HEAP_BY_TIME };

struct heap {
    struct order *items; /* the first is unused, see FIRST in heap.c */
    uint32_t count;
    enum heap_order order;
};

/** Room for heaps of `capacity` elements each, and their positions. */
struct heap_room {
    struct memory *memory;
    const struct entries *entries;
    uint32_t *positions; /* by record number */
    uint32_t capacity;   /* elements of each heap */
    uint32_t numbers;    /* positions */
};

/**
 * Gives `count` heaps another capacity, and positions to as many record numbers. False: no memory;
 * nothing changed.
 */
bool heap_resize(struct heap_room *room, struct heap *const *heaps, uint32_t count,
                 uint32_t capacity, uint32_t numbers);
void heap_shut(struct heap_room *room, struct heap *const *heaps, uint32_t count);

void heap_push(struct heap_room *room, struct heap *heap, struct order item);
void heap_remove(struct heap_room *room, struct heap *heap, uint32_t entry);

/** Called after the key or rank of an element changed. */
void heap_replace(struct heap_room *room, struct heap *heap, struct order item);

/** How many elements of a heap by rank are before `limit`. O(those). */
uint32_t heap_count_before(const struct heap *heap, struct order limit);

/**
 * The records of the best elements, in order, up to `count`; returns how many. O(count log count).
 *
 * @param frontier room for as many positions, and one more
 */
uint32_t heap_best_many(const struct heap_room *room, const struct heap *heap, uint32_t *records,
                        uint32_t *frontier, uint32_t count);

/** The best element; the heap is not empty. */
struct order heap_best(const struct heap *heap);

#endif
