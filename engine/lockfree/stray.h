/*
 * Pods that stand where no pop finds them, because there was no memory when they should have been moved or published.
 *
 * Whoever could not do it leaves a note. A pop that finds nothing, and tick, look after it: they go through all records, and
 * move or publish what has to be. It costs a pass over everything, and happens only behind an allocator that failed.
 */
#ifndef SCHEDQ_LOCKFREE_STRAY_H
#define SCHEDQ_LOCKFREE_STRAY_H

#include "lockfree/queue.h"

/** Looks after strays if somebody left a note. True: there was one; what pops see may have changed. */
bool stray_gather(struct worker *worker);

#endif
