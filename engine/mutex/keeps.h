/*
 * Times before which pods are not to be popped, and the held pods in the order of theirs.
 *
 * Few queues know such times, so the record has a mark of them only (MARK_TIMED): they lie in an
 * array by its number, made when the first one is set, with room for as many pods as there are
 * records. A pod that got a time has room in the heap from then on; so to hold it when its cycle
 * fails needs no memory.
 */
#ifndef SCHEDQ_MUTEX_KEEPS_H
#define SCHEDQ_MUTEX_KEEPS_H

#include "mutex/heap.h"

struct keeps {
    struct heap until; /* held pods that a time releases */
    struct heap_room room;
    int64_t *times; /* by record number, as many as room.numbers; 0: none */
};

void mutex_keeps_open(struct keeps *keeps, struct memory *memory, const struct entries *entries);
void mutex_keeps_shut(struct keeps *keeps);

/** The time before which the pod is not to be popped; 0: none. */
static inline int64_t
mutex_keeps_time(const struct keeps *keeps, uint32_t index)
{
    return index < keeps->room.numbers ? keeps->times[index] : 0;
}

/** Room for another pod with a time. False: no memory, nothing changed. */
bool mutex_keeps_grow(struct keeps *keeps);

/** The same, if this is a time. */
static inline bool
mutex_keeps_reserve(struct keeps *keeps, int64_t time)
{
    return time == 0 || mutex_keeps_grow(keeps);
}

/** Sets that time; 0: none. There is room. The pod is not in the heap. */
static inline void
mutex_keeps_set(struct keeps *keeps, uint32_t index, int64_t time)
{
    if (index < keeps->room.numbers) {
        keeps->times[index] = time;
    }
}

/** Gives back what no pod needs. */
void mutex_keeps_trim(struct keeps *keeps);

#endif
