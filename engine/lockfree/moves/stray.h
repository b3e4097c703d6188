/*
 * What a tick has to make good: pods that stand where no pop finds them, because there was no
 * memory when they should have been moved or published; and gated pods that somebody owes a
 * question.
 *
 * The first: whoever could not do it leaves a note. A pop that finds nothing, and tick, look after
 * it: they go through all records, and move or publish what has to be. It costs a pass over
 * everything, and happens only behind an allocator that failed, or a pod that changed at each
 * question of its gates.
 *
 * The second: each worker names the pod that it is about to ask about (mover.h). Most often its
 * mover asks at the same time, and one of the two finds nothing to do.
 *
 * ORDERING, PROGRESS. The word counts notes, so stray_gather:B fails if one came since A;
 * queue_note_stray:A -> stray_gather:A (acquire): the pod that the note is about. Lock-free: one
 * pass. A thread that stops in it takes no note with it; one that stops before its note leaves a
 * pod that is settled or moved when somebody is told of it (settle.h, publish.h).
 *
 * EVIDENCE. stress/explore: no_memory_*; tests/unit/test_no_memory.c.
 */
#ifndef SCHEDQ_LOCKFREE_STRAY_H
#define SCHEDQ_LOCKFREE_STRAY_H

#include "lockfree/queue.h"

/**
 * Looks after strays if somebody left a note. True: there was one; what pops see may have changed.
 */
bool stray_gather(struct worker *worker);

/**
 * Asks about the gated pods that movers owe a question: their threads may have stopped (mover.h).
 */
void stray_ask_owed(struct worker *worker);

#endif
