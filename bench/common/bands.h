/*
 * A queue with a FIFO for each priority, the hash map of names, and one lock: the plain structure
 * when there are few priorities.
 *
 * As the bare queue (bare.h) it has a fixed capacity, names of at most 63 bytes, no semantics, and
 * checks nothing that a benchmark cannot get wrong. It reads no clock: the order of arrival is that
 * of the lock. What it cannot do: give a pending pod another priority and keep its arrival.
 */
#ifndef SCHEDQ_BENCH_BANDS_H
#define SCHEDQ_BENCH_BANDS_H

#include "bare.h"

#include <stdbool.h>

typedef struct bands bands_t;

/*
 * As bare_new. `spins`: the lock spins, and yields the processor from time to time; else it is a
 * mutex that sleeps.
 */
bands_t *bands_new(uint32_t capacity, bool spins);
/* NULL is allowed. No other call may run. */
void bands_free(bands_t *queue);

/* Each takes the lock once; outcomes as of the bare queue's calls. */
bare_status_t bands_add(bands_t *queue, const bare_new_t *pods, uint32_t count);
uint32_t bands_pop(bands_t *queue, bare_popped_t *out, uint32_t capacity);
void bands_done(bands_t *queue, const bare_pod_t *pods, uint32_t count);
bare_status_t bands_delete(bands_t *queue, const char *name, uint32_t length);
bare_status_t bands_find(bands_t *queue, const char *name, uint32_t length, uint64_t *object);

#endif
