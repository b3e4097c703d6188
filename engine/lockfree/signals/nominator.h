/*
 * Which pods are nominated to a node.
 *
 * CONTRACT. A pod is nominated to a node if its newest description says so: {nominated node,
 * nomination}. A nomination is a number that no other has; the numbers order the pods of a node.
 * What is held here are hints, by node, judged against the pods' descriptions by who reads them.
 * For that, whoever changes a nomination keeps to three rules:
 *   1. He draws a number for each change, also for one to no node (nominated_node 0, nomination as
 *   drawn).
 *   2. He inserts the pod here, and installs the description afterwards: publish, then switch.
 *   3. The numbers of a life's descriptions only grow. Who finds a larger one there than his own
 *   draws and inserts again.
 * An update keeps node and number. A hint whose description was never installed is dropped later.
 * nominator_read returns, once, each pod that was nominated to the node from the call's beginning
 * to its end, and no pod that was not at some moment of the call. It is no snapshot: two pods may
 * be reported as of two moments.
 *
 * PICTURE
 *   buckets      by hash of the node: {fresh, old}, two lists, in one pair of words
 *   hint         {life, record} of the pod, nomination, node, next; never changed once a bucket has
 *                it
 * An insertion puts its hint in front of `fresh`, and takes the first two hints off `old`: those
 * that may be needed are copied in front of `fresh`, too. When `old` is empty, `fresh` becomes
 * `old`. All of it is one exchange of the pair, so at each moment the two lists have what is
 * needed. A reading that met more hints to drop than others puts a list without them in the place
 * of both. What is needed:
 *   the pod's life is over                              drop
 *   the life has not begun (its record is being made)   keep
 *   the description's nomination is smaller             keep: it is about to be installed
 *   it is this one                                      keep
 *   it is larger                                        drop: this one was replaced, or lost
 * Rule 3 makes what is dropped final. A pod that is nominated again while it is read: its new hint
 * was there before the new description. So a reader that finds the old nomination replaced meets
 * the new one as well, or finds the pair changed. If it met the new one first, and judged it before
 * it was installed, it counts fewer of those afterwards (is_overtaken). In both cases it begins
 * again. One that found both valid keeps the newer.
 *
 * COST. An insertion judges two hints, copies at most two, and allocates at most three; the end of
 * a nomination is a number. `old` of m hints is used up after m / 2 insertions, so `fresh` has then
 * m / 2 and those that live: a bucket's lists have at most about twice what lived there at once. A
 * reading looks at all of them. After one that dropped, they are those that live, so readings cost
 * what is nominated in the bucket, and what ended since the last one.
 *
 * MEMORY. The buckets are made for the first worker (memory_alloc_first:A), and stay. A bucket into
 * which nothing is inserted, and which is not read, keeps what it has. So memory grows with the
 * nominations that were alive at once, not with their number. Hints that were taken off wait for a
 * grace period.
 *
 * LINEARIZATION. A nomination is the installation of its description (entry_describe:A).
 * nominator_read: for each pod the load of its description (entry_description:A).
 *
 * ORDERING. nominator_insert:A and sweep_bucket:A (full fences) -> bucket_load:A to C (acquire): a
 * list is seen as it was made. The fence also stands between a hint and its description: who sees
 * the description finds the hint. The pair is loaded by halves, and found unchanged by halves
 * afterwards (nominator_read:A, B). That is one moment: each exchange makes both halves new, or
 * empty; `old` is empty only if both are; and while `old` has not changed, nothing has. An address
 * does not come back while a section lasts that saw it.
 *
 * PROGRESS. Lock-free; a failed exchange, or a reading that begins again, is another's exchange of
 * the pair. Insertions allocate; readings do, and go on if there is no memory. A thread that stops
 * behind nominator_insert:A leaves a hint that is no nomination.
 *
 * WRAPAROUND. Nominations have 64 bits. A life is compared for being equal.
 *
 * EVIDENCE. tests/model: nominator; stress/explore: nominate_update;
 * tests/unit/test_lockfree_nominator.c, test_nominate.c.
 */
#ifndef SCHEDQ_LOCKFREE_NOMINATOR_H
#define SCHEDQ_LOCKFREE_NOMINATOR_H

#include "lockfree/pod/entry.h"
#include "platform/epoch.h"

struct nominator {
    struct memory *memory;
    const struct entries *entries;
    /*
     * atomic_pair [NOMINATOR_BUCKETS], low: fresh, high: old, addresses; NULL before
     * nominator_make.
     */
    atomic_ptr buckets;
    atomic_u64 drawn;
};

/** A pod that is nominated to a node. */
struct nominated {
    uint32_t record;
    uint64_t life, nomination;
};

/** `nominator` is zeroed. Allocates nothing. */
void nominator_open(struct nominator *nominator, struct memory *memory,
                    const struct entries *entries);

/** Before a thread's first insertion or reading; by any number of them. False: no memory. */
bool nominator_make(struct nominator *nominator);

/** Alone. */
void nominator_close(struct nominator *nominator);

/** The next number, from 1. */
uint64_t nominator_draw(struct nominator *nominator);

/**
 * Makes a nomination findable before it is installed. Inside a section. False: no memory, nothing
 * changed.
 */
bool nominator_insert(struct nominator *nominator, struct epoch_record *epoch, uint64_t node,
                      uint32_t record, uint64_t life, uint64_t nomination);

/**
 * The pods that are nominated to a node, in the order of their nominations. Inside a section.
 *
 * Returns how many there are; if that is more than `capacity`, `out` has the first ones, and a pod
 * may be counted twice.
 */
size_t nominator_read(struct nominator *nominator, struct epoch_record *epoch, uint64_t node,
                      struct nominated *out, size_t capacity);

#endif
