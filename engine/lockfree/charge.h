/*
 * How many pods each band has, counted without a word that all write: each worker counts, by band, the pods that it
 * brought in and those that it took out, in memory of its own. The sums are wanted only when the band table is full.
 *
 * CONTRACT. Both counts only grow. So if all that entered is added up first (charge_entered), and then all that left
 * (charge_left), of one band or of many, the difference is at most what was true at the moment in between: FULL that
 * is said of it was true then, whatever others do meanwhile. Two that are let in at once may go beyond a cap
 * together; nobody is refused below it. Not the number of pods that pops find: a pod counts from its admission to the
 * return of its record. add.c adds up records in the same way.
 *
 * MEMORY. A worker makes a chunk of its book when it first counts one of the chunk's bands; it stays. Each count
 * there has one writer. The band's own count, `shared`, is written by all workers that had no memory.
 *
 * ORDERING. The loads of a sum are acquire, so that the first sum is complete before the second begins. own_count:A
 * -> count_of:B: a chunk is seen zeroed. join:A (workers.c) -> count_of:A: a worker's book. Counts are stored
 * relaxed: they publish nothing, and who is told that a call returned sees what it counted.
 *
 * PROGRESS. Wait-free, but for the allocator. A pod is counted before it exists, and off after it ended: a thread
 * that stops in between leaves a priority that counts as used. An update counts the pod off its old band first: one
 * that stops there leaves a pod that no band counts, and one priority more may come in. Which band may retire is
 * decided by its bin, not by this.
 *
 * WRAPAROUND. 32 bits: the difference is right while a band has less than 2^31 pods; PODS_MAX is 2^28.
 *
 * EVIDENCE. stress/explore: band_retire_exact; tests/unit/test_lockfree_band.c, test_caps.c.
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
