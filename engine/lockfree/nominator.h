/*
 * Which pods are nominated to a node.
 *
 * CONTRACT. A pod is nominated to a node if its newest description says so: {nominated node, nomination}. A nomination is a
 * number that no other has; the numbers order the pods of a node. What is held here are hints, by node, judged against the
 * pods' descriptions by who reads them. For that, whoever changes a nomination keeps to three rules:
 *   1. He draws a number for each change, also for one to no node (nominated_node 0, nomination as drawn).
 *   2. He inserts the pod here, and installs the description afterwards: publish, then switch.
 *   3. The numbers of a life's descriptions only grow. Who finds a larger one there than his own draws and inserts again.
 * An update keeps node and number. A hint whose description was never installed is dropped later.
 * nominator_read returns, once, each pod that was nominated to the node from the call's beginning to its end, and no pod that
 * was not at some moment of the call. It is no snapshot: two pods may be reported as of two moments.
 *
 * PICTURE
 *   buckets      by hash of the node: NULL, or an immutable array of hints, by nomination
 *   hint         {life, record} of the pod, nomination, node
 * An insertion replaces the array by a copy with one hint more, and without those that nobody will need:
 *   the pod's life is over                              drop
 *   the life has not begun (its record is being made)   keep
 *   the description's nomination is smaller             keep: it is about to be installed
 *   it is this one                                      keep
 *   it is larger                                        drop: this one was replaced, or lost
 * Rule 3 makes what is dropped final. A pod that is nominated again while it is read: its new hint was there before the new
 * description, so a reader who finds the old nomination replaced meets the new one behind it, or finds the array replaced
 * and begins again; who found the old one valid, and then the new one, forgets the old one.
 *
 * MEMORY. A bucket into which nothing is inserted keeps the array that it has. So memory grows with the nominations that were
 * alive at once, not with their number. Replaced arrays wait for a grace period.
 *
 * LINEARIZATION. A nomination is the installation of its description (entry_describe:A). nominator_read: for each pod the load
 * of its description (entry_description:A).
 *
 * ORDERING. nominator_insert:B (full fence) -> nominator_read:A, B, nominator_insert:A (acquire): an array is seen as it was
 * filled. The fence also stands between a hint and its description: who sees the description finds the hint.
 *
 * PROGRESS. Lock-free; a failed exchange, or a reading that begins again, is another insertion into the bucket. An insertion
 * judges and copies the hints of the bucket, and allocates. A thread that stops behind it leaves a hint that is no nomination.
 *
 * WRAPAROUND. Nominations have 64 bits. ABA: an array that a section has seen is not freed, so its address is not another's.
 *
 * EVIDENCE. tests/model: nominator; stress/explore: nominate_update; tests/unit/test_lockfree_nominator.c,
 * test_nominate.c.
 */
#ifndef SCHEDQ_LOCKFREE_NOMINATOR_H
#define SCHEDQ_LOCKFREE_NOMINATOR_H

#include "lockfree/entry.h"
#include "platform/epoch.h"

struct nominator {
    struct memory *memory;
    const struct entries *entries;
    atomic_ptr *buckets;
    atomic_u64 drawn;
};

/** A pod that is nominated to a node. */
struct nominated {
    uint32_t record;
    uint64_t life, nomination;
};

/** `nominator` is zeroed. False: no memory; nominator_close is due all the same. */
bool nominator_open(struct nominator *nominator, struct memory *memory, const struct entries *entries);

/** Alone. */
void nominator_close(struct nominator *nominator);

/** The next number, from 1. */
uint64_t nominator_draw(struct nominator *nominator);

/** Makes a nomination findable before it is installed. Inside a section. False: no memory, nothing changed. */
bool nominator_insert(struct nominator *nominator, struct epoch_record *epoch, uint64_t node, uint32_t record,
                      uint64_t life, uint64_t nomination);

/**
 * The pods that are nominated to a node, in the order of their nominations. Inside a section.
 *
 * Returns how many there are; if that is more than `capacity`, `out` has `capacity` of them, and a pod may be counted twice.
 */
size_t nominator_read(const struct nominator *nominator, uint64_t node, struct nominated *out, size_t capacity);

#endif
