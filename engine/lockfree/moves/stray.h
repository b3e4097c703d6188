/*
 * Notes: what a call left undone for the next one that looks, as bits of one word. They are about
 * pods that no pop finds because there was no memory to move or publish them, and about pods whose
 * gates are still to be asked (a question that is owed).
 *
 * A pop that finds nothing, tick, and, if a pod may be in no lot, an event and schedq_candidates
 * see a note. For a pod that is not moved or not published they go through all records, for one
 * that is not judged through all lots. Such a pass happens only after an allocator failed, a
 * housekeeper met a pod that was not published or not moved, a worker was given up, a worker owed a
 * second question, a group's member left while its gate was noted, or, at each of a pod's questions
 * to its gates, the pod changed or an event came.
 *
 * A note makes a tick due: while there is one, each planner plans for this moment. What lacked
 * memory has a note of its own (short). While that is there, tick says NOMEM. A pass that lacked
 * memory says when it may be worth another (strays_again, STRAY_PAUSE_NS later): planners plan for
 * that time. Until then schedq_tick, an event and schedq_candidates try; pops, peeks and the timer
 * thread do not. So a host that ticks when it is told to, a pop that waits and the timer thread
 * pause. Fresh notes do not wait for short ones. note_nobody leaves a short note if there is one
 * for unmoved pods: it cannot tell whether its group's gate lacked memory.
 *
 * A question that is owed needs no note: each worker names the pod that it is about to ask about
 * (mover.h), and the pod that it published for another worker (settle.h). Most often that worker
 * asks at the same time, and one of the two finds nothing to do.
 *
 * ORDERING
 *   leave:A -> begin_pass:A
 *       the pod that the note is about; the word counts notes, both kinds apart, so take_notes:A
 *       takes none if one of its kind came since A
 *   leave:A, leave:B, deadline_lower:A | deadline_begin:A, look at the notes (serve.c)
 *       a planner sees the note, and plans for it; or its deadline_end fails; or a pass did what
 *       the note is about, and took it, before
 *
 * PROGRESS. Lock-free: one pass. A thread that stops in it takes no note away; one that stops
 * before its note leaves a pod that is settled or moved when it is next reported (settle.h,
 * publish.h).
 *
 * WRAPAROUND. A count comes back after 2^27 notes that are left during one pass.
 *
 * EVIDENCE. stress/explore: no_memory_*, event_gate_reserve, tick_note;
 * tests/unit/test_no_memory.c, test_lockfree_callbacks.c.
 */
#ifndef SCHEDQ_LOCKFREE_STRAY_H
#define SCHEDQ_LOCKFREE_STRAY_H

#include "lockfree/queue.h"

/** Between two passes without memory. */
#define STRAY_PAUSE_NS INT64_C(500000000)

/** Is one of these notes left, for want of memory or not? */
static inline bool
stray_is_noted(const struct queue *queue, uint64_t notes)
{
    /* of leave:A */
    return (u64_load_acquire(&queue->strays) & (notes | notes << STRAY_SHORT)) != 0;
}

/** Not for want of memory? */
static inline bool
stray_is_fresh(const struct queue *queue, uint64_t notes)
{
    return (u64_load_acquire(&queue->strays) & notes) != 0; /* as stray_is_noted */
}

/** For want of memory? */
static inline bool
stray_is_short(const struct queue *queue, uint64_t notes)
{
    return (u64_load_acquire(&queue->strays) & notes << STRAY_SHORT) != 0; /* as stray_is_noted */
}

/**
 * Leaves a note. Makes a tick due; a sleeper, the timer thread or the host may be woken for that.
 */
void stray_leave(struct queue *queue, uint64_t note);

/** The same for want of memory. */
void stray_leave_short(struct queue *queue, uint64_t note);

/**
 * Looks after strays if there is a note. True: there was one; what pops see may have changed.
 */
bool stray_gather(struct worker *worker);

/** The same, but for notes for which memory was missing a short time ago. */
bool stray_gather_in_time(struct worker *worker);

/** As stray_gather_in_time, of classes alone. May leave the section. */
bool stray_heal_classes(struct worker *worker);

/** Outside of a section, before lots are read: a pod that callers were told of may be in none. */
static inline void
stray_gather_unpublished(struct worker *worker)
{
    if (stray_is_noted(queue_of(worker), STRAY_UNPUBLISHED)) {
        section_begin(worker);
        (void)stray_gather(worker);
        section_end(worker);
    }
}

/** Asks about a pod that one of the workers owes a question. */
void stray_ask(struct worker *worker, uint64_t owed);

/**
 * Asks about the pods that a worker owes a question: its thread may have stopped (mover.h).
 */
static inline void
stray_ask_owed(struct worker *worker, const struct worker *other)
{
    /* of gate_pod's store, and ask_later's */
    uint64_t owed = u64_load_acquire(&other->owed), settled = u64_load_acquire(&other->settled);

    if ((owed | settled) != 0) {
        stray_ask(worker, owed);
        stray_ask(worker, settled);
    }
}

#endif
