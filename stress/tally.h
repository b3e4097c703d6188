/*
 * What happened to each name: how often it was added, how often that ended, and who holds its
 * object.
 *
 * Names are few and used again and again, so that lives of one name follow each other closely and
 * overlap in flight. All of it is relaxed: an account that ordered the threads would hide from
 * ThreadSanitizer what the queue does not order.
 *
 * Every name has TALLY_VARIANTS objects, so that an update can replace one by another; 0 is no
 * object.
 */
#ifndef SCHEDQ_STRESS_TALLY_H
#define SCHEDQ_STRESS_TALLY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "ops/op.h"

#define TALLY_NAMES 2048u
#define TALLY_VARIANTS 4u
#define TALLY_OBJECTS (TALLY_NAMES * TALLY_VARIANTS)

typedef struct tally {
    atomic_uint adds[TALLY_NAMES];  /* add, add_many, update and readd that made a pod */
    atomic_uint dones[TALLY_NAMES]; /* done that was OK */
    atomic_uint deletes[TALLY_NAMES];
    atomic_int references[TALLY_OBJECTS + 1];
    atomic_uint_fast64_t pops, updates, failures, gones, deletes_in_flight;
    atomic_uint violations;
} tally_t;

#define TALLY_COUNT(counter) atomic_fetch_add_explicit(&(counter), 1, memory_order_relaxed)
#define TALLY_READ(counter) atomic_load_explicit(&(counter), memory_order_relaxed)

/** "s<i % 7>/pod-<i>"; `name` has room for 32 bytes. Returns the length. */
uint32_t tally_name(unsigned index, char *name);
/** The index in a name that tally_name wrote. */
unsigned tally_index(const char *name);
/** An object of that name. Of variant 0 it is index + 1. */
static inline uint64_t
tally_object(unsigned index, unsigned variant)
{
    return 1 + index + (uint64_t)variant % TALLY_VARIANTS * TALLY_NAMES;
}
/** Is it one of that name? */
static inline bool
tally_object_is_of(uint64_t object, unsigned index)
{
    return object >= 1 && object <= TALLY_OBJECTS && (object - 1) % TALLY_NAMES == index;
}

/** Prints what is wrong and remembers that something is. */
void tally_violation(tally_t *tally, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define TALLY_CHECK(tally, good, ...) ((good) ? (void)0 : tally_violation((tally), __VA_ARGS__))

/**
 * Enters what a call did, for names of these indices (of pops: nothing but their number), and
 * checks its answers by op_legal (`closes` as there). Returns how many pods it changed.
 */
unsigned tally_op(tally_t *tally, schedq_worker_t *worker, const op_t *op, const unsigned *indices,
                  bool closes);

/** Reference counting callbacks; ctx is the tally. */
void tally_retain(void *ctx, uint64_t object);
void tally_release(void *ctx, uint64_t object);

/** After the drain: every life has ended once. */
void tally_check_lives(tally_t *tally);
/**
 * After the drain: the queue counted the same, and nothing is left in it. Prints the numbers if
 * `print`.
 */
void tally_check_stats(tally_t *tally, schedq_t *queue, bool print);
/** After destroy: no object is held. */
void tally_check_references(tally_t *tally);

uint64_t tally_sum(atomic_uint *counts);

#endif
