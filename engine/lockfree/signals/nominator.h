/*
 * Which pods are nominated to a node.
 *
 * CONTRACT. A pod is nominated to a node if its newest description says so: {nominated node,
 * nomination}. A nomination is a number that no other has; the numbers order the pods of a node.
 * Here are hints, by node, which readers judge against the pods' descriptions. So a call that
 * changes a nomination keeps to three rules:
 *   1. It draws a number for each change, also for one to no node (nominated_node 0).
 *   2. It inserts the pod here, and installs the description afterwards: publish, then switch.
 *   3. The numbers of a life's descriptions only grow. A call that finds a larger one than its own
 *      draws and inserts again.
 * An update keeps node and number. A hint whose description was never installed is dropped later.
 * nominator_read returns, once, each pod that was nominated to the node from the call's beginning
 * to its end, and no pod that was not at some moment of the call. It is no snapshot: two pods may
 * be reported as of two moments.
 *
 * PICTURE
 *   buckets   by hash of the node: {fresh, old}, two lists, in one pair of words
 *   hint      {life, record} of the pod, nomination, node, next; constant once a bucket has it
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
 * Rule 3 makes what is dropped final. If a pod is nominated again while it is read, its new hint
 * was there before the new description. So a reader that finds the old nomination replaced meets
 * the new one as well, or finds the pair changed. If it met the new one first, and judged it before
 * it was installed, it counts fewer pending hints afterwards (is_overtaken). In both cases it
 * begins again. A reader that found both valid keeps the newer.
 *
 * BOUND. An insertion judges two hints, copies at most two, and allocates at most three. `old` of m
 * hints is used up after m / 2 insertions: a bucket has at most about twice the hints that lived
 * there at once, and a reading looks at all of them.
 *
 * LABELS, and groups: a label or a group is a node to which a pod is nominated for all of its life,
 * with a number that is always 0. A life has at most one hint under a key, and no
 * description of it has another key. An add that fails behind its hint raises the record's version
 * (refuse, add_give_up), so no other pod gets the life that the hint names. So a hint is needed as
 * long as its life is not over, and nothing but the record's word and life says whether it is.
 * Rules 1 and 3 say nothing then. No hint replaces another, so a reading judges the lists of one
 * moment and never begins again: insertions do not keep it from its end, however long the lists
 * are.
 *
 * ENDS. The last pods of a label leave hints in a bucket to which perhaps no other pod comes. So
 * each bucket of labels has a count of the lives that are not over: of one life in ENDS_A_COUNT, by
 * a hash of {life, record}. Each hint knows how many are behind it. An end that is counted, and
 * finds that most hints are over, takes some off `old`, as an insertion does. It judges a bounded
 * number of them. A label whose pods are over leaves a few hints. The count is advice: an adder
 * that dies leaves it one too high. A guest (finish.c) counts, and sweeps nothing.
 *
 * MEMORY. The buckets are made for the first worker (memory_alloc_first:A), those of labels for the
 * first pod that has one, and stay. A bucket of nodes that is neither inserted into nor read keeps
 * what it has, until trim. Hints that were taken off wait for a grace period.
 *
 * LINEARIZATION. A nomination is the installation of its description (entry_describe:A).
 * nominator_read: for each pod the load of its description (entry_description:A).
 *
 * ORDERING
 *   exchange_lists:A or sweep_bucket:A -> bucket_load:A to C
 *       a list, as it was made
 *   exchange_lists:A, entry_describe:A -> entry_description:A
 *       a reader of the description finds the hint
 *   exchange_lists:A -> life_is_over:A, B
 *       the free record's word, or what came behind it
 * The pair is loaded by halves: old, fresh, old again (bucket_load:A to C). That is one moment, for
 * each exchange makes `old` another, or both halves empty; with an empty `old`, what is in `fresh`
 * was dropped. A thread that has to know whether the pair changed since compares both halves
 * (is_replaced:A, B). An address does not come back within a section that saw it.
 *
 * PROGRESS. Lock-free; a failed exchange, or a reading that begins again, is another's exchange of
 * the pair. Insertions allocate; readings do, and go on if there is no memory. A thread that stops
 * behind exchange_lists:A leaves a hint that is no nomination.
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

/** What hints are of. */
enum nominator_kind { HINTS_OF_NODES, HINTS_OF_KEYS };

struct nominator {
    struct memory *memory;
    const struct entries *entries;
    /*
     * atomic_pair [NOMINATOR_BUCKETS or LABEL_BUCKETS], low: fresh, high: old, addresses; of labels
     * atomic_u32 [LABEL_BUCKETS] behind it, lives (ENDS); NULL before nominator_make.
     */
    atomic_ptr buckets;
    enum nominator_kind kind;
    atomic_u64 drawn; /* of nodes */
};

/** A pod that is nominated to a node, as a hint says. */
struct nominated {
    uint32_t record;
    uint64_t life, nomination;
};

/** `nominator` is zeroed. Labels and groups: see LABELS. Allocates nothing. */
void nominator_open(struct nominator *nominator, struct memory *memory,
                    const struct entries *entries, enum nominator_kind kind);

/** Called before a thread's first insertion or reading, by any of them. False: no memory. */
bool nominator_make(struct nominator *nominator);

/** When no other thread uses it. */
void nominator_close(struct nominator *nominator);

/** The next number, from 1. */
uint64_t nominator_draw(struct nominator *nominator);

/**
 * Makes a nomination findable before it is installed. Inside a section. False: no memory, nothing
 * changed.
 */
bool nominator_insert(struct nominator *nominator, struct epoch_record *epoch, uint64_t node,
                      uint32_t record, uint64_t life, uint64_t nomination);

/* One of so many lives is counted. */
#define ENDS_A_COUNT 4

static inline bool
nominator_counts(uint64_t ref)
{
    return (ref * UINT64_C(0x9e3779b97f4a7c15) >> 32) % ENDS_A_COUNT == 0;
}

/** Labels and groups: a life begins that has a hint. */
void nominator_count_begin(struct nominator *nominator, uint64_t key);

/** The life is over. Inside a section, and may sweep (ENDS), unless `epoch` is NULL. */
void nominator_count_end(struct nominator *nominator, struct epoch_record *epoch, uint64_t key);

/** Drops the hints that are not needed (PICTURE). Inside a section. */
void nominator_trim(struct nominator *nominator, struct epoch_record *epoch);

/**
 * The pods that are nominated to a node, in the order of their nominations; those of a label or a
 * group in none. Inside a section.
 *
 * Returns how many there are; if that is more than `capacity`, a pod may be counted twice, and what
 * `out` has is of no use.
 */
size_t nominator_read(struct nominator *nominator, struct epoch_record *epoch, uint64_t node,
                      struct nominated *out, size_t capacity);

/** True: it is enough. */
typedef bool nominated_fn(void *ctx, uint32_t record, uint64_t life);

/**
 * Labels and groups: calls it once for each life that a hint under a key names, as of one moment,
 * in no order, until it is enough. The life may not have begun, or be over by then: the callee
 * looks. Inside a section, which it must not leave. Returns whether it was enough.
 */
bool nominator_any(const struct nominator *nominator, struct epoch_record *epoch, uint64_t key,
                   nominated_fn *is_enough, void *ctx);

#endif
