/*
 * Notes: what a call left undone for the next one that looks, as bits of one word. Pods that no pop
 * finds because there was no memory to move or publish them, and pods that are owed a question.
 *
 * A pop that finds nothing, tick, and, if a pod may be in no lot, an event and schedq_candidates
 * see a note. For a pod that is not moved or not published they go through all records, for one
 * that is not judged through all lots. Such a pass happens only after an allocator failed, a
 * housekeeper met a pod that was not published or not moved, a worker was given up, a worker owed a
 * second question, a group's member left while its gate was noted, or a pod changed, or an event
 * came, at each question of its gates.
 *
 * A note makes a tick due: while there is one, each planner plans for this moment. If memory is
 * missing, STRAY_NO_MEMORY is beside the note. Then tick says NOMEM. A pass that lacked memory says
 * when it may be worth another (strays_again, STRAY_PAUSE_NS later): planners plan for that time,
 * and until then only a tick that the host makes, and an event, try. So nobody tries all the time:
 * neither a host that ticks when it is told to, nor a pop that waits, nor the timer thread. A note
 * beside one that lacks memory waits with it.
 *
 * A question that is owed needs no note: each worker names the pod that it is about to ask about
 * (mover.h), and the pod that it published for another worker (settle.h). Most often that worker
 * asks at the same time, and one of the two finds nothing to do.
 *
 * ORDERING
 *   stray_leave:A -> stray_gather:A
 *       the pod that the note is about; the word counts notes, so take_notes:A fails if one came
 *       since A
 *   stray_leave:A, stray_leave:B, deadline_lower:A | deadline_begin:A, look at the notes (serve.c)
 *       a planner sees the note, and plans for it; or its deadline_end fails; or a pass did what
 *       the note is about, and took it, before
 *
 * PROGRESS. Lock-free: one pass. A thread that stops in it takes no note away; one that stops
 * before its note leaves a pod that is settled or moved when it is next reported (settle.h,
 * publish.h).
 *
 * EVIDENCE. stress/explore: no_memory_*, event_gate_reserve, tick_note;
 * tests/unit/test_no_memory.c, test_lockfree_callbacks.c.
 */
#ifndef SCHEDQ_LOCKFREE_STRAY_H
#define SCHEDQ_LOCKFREE_STRAY_H

#include "lockfree/queue.h"

/** Between two passes without memory. */
#define STRAY_PAUSE_NS INT64_C(500000000)

/** Is one of these notes left? */
static inline bool
stray_is_noted(const struct queue *queue, uint64_t notes)
{
    return (u64_load_acquire(&queue->strays) & notes) != 0; /* of stray_leave:A */
}

/**
 * Leaves a note, with STRAY_NO_MEMORY if memory is missing. Makes a tick due; a sleeper, the timer
 * thread or the host may be woken for that.
 */
void stray_leave(struct queue *queue, uint64_t note);

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
