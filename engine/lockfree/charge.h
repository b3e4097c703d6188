/*
 * How many pods each band has, counted without a word that all write: each worker counts, by band, the pods that it brought
 * in and those that it took out, in memory of its own. The sums are wanted only when the band table is full.
 *
 * Both counts only grow. So if all that entered is added up first, and then all that left, the difference is at most what was
 * true at the moment in between: FULL that is said of it was true then, whatever others do meanwhile. Two that are let in at
 * once may go beyond a cap together; nobody is refused below it.
 */
#ifndef SCHEDQ_LOCKFREE_CHARGE_H
#define SCHEDQ_LOCKFREE_CHARGE_H

#include "engine.h"
#include "platform/atomic.h"

#define CHARGE_CHUNK 64
#define CHARGE_CHUNKS (UINT32_C(65536) / CHARGE_CHUNK)

struct charge {
    atomic_u32 entered, left;
};

/** One worker's counts. */
struct charges {
    atomic_ptr chunks[CHARGE_CHUNKS]; /* of CHARGE_CHUNK struct charge; by band id */
};

/** Where the counts of all workers are. */
struct charge_books {
    const atomic_ptr *workers; /* [WORKERS_MAX], of struct charges; NULL where no worker ever was */
    const atomic_u64 *count;   /* those with smaller numbers may be there */
};

/** The worker counts a pod to a band, or off it. Without memory for its own count it uses the band's, `shared`. */
void charge_enter(struct charges *charges, struct memory *memory, struct charge *shared, uint32_t id);
void charge_leave(struct charges *charges, struct memory *memory, struct charge *shared, uint32_t id);

/** What all workers counted for one band. */
uint32_t charge_entered(const struct charge_books *books, const struct charge *shared, uint32_t id);
uint32_t charge_left(const struct charge_books *books, const struct charge *shared, uint32_t id);

/** Alone. */
void charges_free(struct charges *charges, struct memory *memory);

#endif
