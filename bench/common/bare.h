/*
 * The bare queue: one mutex, a binary heap and a hash map, without any of schedq's semantics.
 *
 * The yardstick beside the engines in schedq-bench: what adding, popping and finishing named pods
 * costs when a queue keeps nothing but a name, a priority and an arrival time. It takes the
 * shortcuts an engine may not take: capacity is fixed, names have at most 63 bytes, there are no
 * rejectors, events, backoff, counters or metrics, a handle that is used twice corrupts it, and
 * nothing is checked that a benchmark cannot get wrong. What it does, it does in full: names are
 * copied and compared, a name stays taken while its pod is in flight, the clock is read for every
 * add, and pods leave by priority, then by arrival.
 */
#ifndef SCHEDQ_BENCH_BARE_H
#define SCHEDQ_BENCH_BARE_H

#include <stdint.h>

enum { BARE_NAME_MAX = 63, BARE_BATCH_MAX = 64 };

typedef struct bare bare_t;

/* Names a pod from its add to its done or delete; the value is then used again for another pod. */
typedef uint32_t bare_pod_t;

typedef enum bare_status {
    BARE_OK = 0,
    BARE_EMPTY,     /* nothing to pop */
    BARE_EXISTS,    /* a pod of this name is pending or in flight */
    BARE_NOT_FOUND, /* no pod of this name is pending */
    BARE_FULL,      /* `capacity` pods are there */
    BARE_BAD_NAME,  /* not 1..63 bytes */
} bare_status_t;

typedef struct bare_popped {
    uint64_t object;
    const char *name; /* ends in NUL; valid until done */
    uint32_t name_length;
    bare_pod_t pod;
    int32_t priority;
} bare_popped_t;

/* A pod of a batch; its name has 1..63 bytes. */
typedef struct bare_new {
    const char *name;
    uint32_t name_length;
    int32_t priority;
    uint64_t object;
} bare_new_t;

/*
 * Room for 1..2^30 pods, in flight ones included. NULL without memory or with a capacity out of
 * range.
 */
bare_t *bare_new(uint32_t capacity);
/* NULL is allowed. No other call may run. */
void bare_free(bare_t *queue);

/* OK, EXISTS, FULL, BAD_NAME. */
bare_status_t bare_add(bare_t *queue, const char *name, uint32_t length, int32_t priority,
                       uint64_t object);
/* OK, EMPTY. */
bare_status_t bare_try_pop(bare_t *queue, bare_popped_t *out);
/* Waits until there is a pod. */
void bare_pop(bare_t *queue, bare_popped_t *out);
/* Ends a popped pod: its name is free again. */
void bare_done(bare_t *queue, bare_pod_t pod);
/*
 * Gives a pending pod another priority and object; it keeps its arrival time. OK, NOT_FOUND,
 * BAD_NAME.
 */
bare_status_t bare_update(bare_t *queue, const char *name, uint32_t length, int32_t priority,
                          uint64_t object);
/* Removes a pending pod. OK, NOT_FOUND, BAD_NAME. */
bare_status_t bare_delete(bare_t *queue, const char *name, uint32_t length);
/* Looks for a pod, pending or in flight. OK, NOT_FOUND, BAD_NAME. */
bare_status_t bare_find(bare_t *queue, const char *name, uint32_t length, uint64_t *object);

/*
 * Many pods under the mutex once; at most BARE_BATCH_MAX are added. add_many ends at the first that
 * is not OK; pop_many returns how many there were.
 */
bare_status_t bare_add_many(bare_t *queue, const bare_new_t *pods, uint32_t count);
uint32_t bare_pop_many(bare_t *queue, bare_popped_t *out, uint32_t capacity);
void bare_done_many(bare_t *queue, const bare_pod_t *pods, uint32_t count);

#endif
