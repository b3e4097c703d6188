/*
 * Classes: pods that are kept back because another one of their class was rejected.
 *
 * The rejected pod is the class's scout. Its handle is in the slot of its class (policy/class.h).
 * The pods behind it are HELD until a time (hold.h), each with a ref in the slot's bin, in the
 * order in which they came. A scout that ends, is held or gated, changes its class or its priority,
 * or is rejected for reasons of its own, is no scout any more: then the pod that came first is let
 * go, and is the scout. So an event wakes one pod of the class, the scout.
 *
 * NO POD DEPENDS ON IT. A pod that is kept back is a held pod, which its time lets go, and which
 * all calls may find and change; a change makes its ref stale. A pod that could not be kept back,
 * for want of memory or of a slot, is tried. So a scout may be wrong, or missing, and no pod is
 * lost by that. A thread that stops between two steps leaves pods that wait until their time.
 *
 * STATES of a pod of a class that is shut, and the thread that changes them
 *   ACTIVE, not WAITED    -> HELD until then, listed   a pop that meets it (class_meet)
 *   INFLIGHT              -> the same                  its holder, which would park it (fail.c)
 *   HELD, listed          -> HELD, due; then out       the thread that promotes it (let_next_go)
 *   HELD, listed          -> wherever it goes          any thread: its ref is stale by that
 *   ACTIVE, WAITED        popped, whatever its class; its failure takes that away
 * and of a slot's scout
 *   0, or one that is none -> a pod that was parked    its holder (class_scouts)
 *   a scout                -> the first that waits, 0  the thread that made it leave (promote)
 *   0                      -> the first that waits     a thread that listed it, or that opened the
 *                                                      class (promote)
 *
 * LINEARIZATION. Keeping back, letting go: entry_describe:A. The scout: promote:A, class_scouts:A.
 *
 * ORDERING
 *   ref, class_list:A (full fence), scout | promote:A (an exchange), look into the bin
 *       a thread that lists a pod sees that the class is open, or the one that opens it sees the
 *       pod
 *   class_scouts:A, look at the pod | the pod's end or hold (an exchange), look at the scout
 *       a scout that left before it was one is seen by one of the two
 *
 * PROGRESS. Lock-free: each further round of promote is another thread's change of a pod, or of the
 * scout. A pop that meets a class which was opened meanwhile leaves a note (stray.h), because its
 * walk must not leave the section; so do a done without a worker, a mover that gates a scout, and a
 * call that has no memory to let the next pod go.
 *
 * EVIDENCE. tests/model: class, hold; stress/explore: class_*; stress/classes;
 * tests/unit/test_class.c.
 */
#ifndef SCHEDQ_LOCKFREE_CALLS_CLASS_H
#define SCHEDQ_LOCKFREE_CALLS_CLASS_H

#include "lockfree/moves/report.h"
#include "policy/class.h"

/** A pop keeps so many pods back, then takes the next one whatever its class. */
#define CLASS_SLICE SIZE(256, 2)

struct class_slot {
    _Alignas(CACHE_LINE) atomic_u64 scout; /* a handle; 0: the class is open */
    atomic_u64 drawn;                      /* how many keys were drawn for the bin */
    uint32_t number;                       /* of the slot */
    struct bin waiting;
};

struct classes {
    atomic_ptr slots[CLASS_SLOTS]; /* NULL until a class there is shut; they stay */
};

/** While no other thread uses the queue. */
void classes_close(struct queue *queue);

/** As waiting_tend. */
void classes_tend(struct queue *queue, struct epoch_record *epoch, uint32_t worker);

/** The class that counts; number 0: none. */
static inline struct class_key
class_of(const struct queue *queue, const struct description *description, uint8_t profile)
{
    bool member = (description->marks & MARK_MEMBER) != 0;

    return (struct class_key){
        .number = class_that_counts(&queue->base.rules, description_class(description), member),
        .priority = description->priority,
        .profile = profile};
}

static inline struct class_key
class_of_view(const struct queue *queue, const struct view *view)
{
    return class_of(queue, &view->description, view->profile);
}

/** The pod that is tried for all of its class; {0}: there is none. */
schedq_pod_t class_scout(const struct queue *queue, const struct class_key *key);

/**
 * A pop meets an active pod whose word is `state`. True: it was kept back. The section stays.
 */
bool class_meet(struct worker *worker, uint32_t record, struct entry *entry, uint64_t state);

/** Would its class keep the pod back? Then room for class_list was made. */
bool class_is_shut(struct worker *worker, const struct class_key *key, schedq_pod_t pod);

/*
 * The four functions that follow may let the next pod of the class go. True: that made a pod
 * poppable. They may leave the section.
 */

/** A pod of that class is HELD at the version of `ref`: lists it. `may` false: lets none go. */
bool class_list(struct worker *worker, const struct class_key *key, uint64_t ref, bool may);

/** A pod was rejected for reasons of its class, and parked: it is the scout if there is none. */
bool class_scouts(struct worker *worker, const struct class_key *key, schedq_pod_t pod);

/** This pod left, or is not tried for its class any more: if it was the scout, the next one is. */
bool class_hands_over(struct worker *worker, const struct class_key *key, schedq_pod_t pod);

/** A pod that had this class was changed: as class_hands_over, unless it still is a good scout. */
bool class_look(struct worker *worker, const struct class_key *key, schedq_pod_t pod);

/**
 * This pod left, or is gated, in a call that can let no other go: if it was the scout, a note is
 * left, and time is due.
 */
void class_doubt(struct queue *queue, const struct class_key *key, schedq_pod_t pod);

/** Looks at all scouts, because there was such a note. */
void class_heal(struct worker *worker);

#endif
