/*
 * The back end of atomic.h for the controlled scheduler (stress/explore), which defines the four
 * functions below.
 *
 * Everything runs on one thread of the operating system; control passes to another simulated thread
 * only inside these functions, so that the scheduler's choices and a seed repeat a run exactly. A
 * store goes to the simulated thread's store buffer (x86-TSO); a fence empties it; a
 * read-modify-write is a fence, then the operation.
 */
#ifndef SCHEDQ_PLATFORM_ATOMIC_CONTROLLED_H
#define SCHEDQ_PLATFORM_ATOMIC_CONTROLLED_H

/** A point where another thread may run; then the value as this thread sees it. */
uint64_t control_load(const void *word, unsigned bytes);

/** A point where another thread may run; then the store enters the buffer. */
void control_store(void *word, uint64_t value, unsigned bytes);

/** A point where another thread may run; then this thread's buffer is emptied. */
void control_fence(void);

/** The same; the read-modify-write of the word that follows at once is one step with it. */
void control_rmw(const void *word);

#define ACCESS_LOAD(word, type, from) ((type)from control_load(&(word)->raw, sizeof(word)->raw))
#define ACCESS_STORE(word, value, to) \
    control_store(&(word)->raw, (uint64_t)to(value), sizeof(word)->raw)
#define ACCESS_RMW(word) control_rmw(word)
#define ACCESS_FENCE() control_fence()
#include "platform/atomic_stepped.h"

#endif
