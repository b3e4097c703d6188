/*
 * The back end of atomic.h for schedq-cost (bench/cost), which defines the five functions below.
 *
 * Everything runs on one thread of the operating system, which plays all workers in turns, a call
 * at a time. So the operations are plain, and each reports its access before it is made. A T_cas
 * that fails reports a read-modify-write too: it takes the line as one that succeeds does. u64_max
 * reports what it is made of.
 */
#ifndef SCHEDQ_PLATFORM_ATOMIC_COUNTING_H
#define SCHEDQ_PLATFORM_ATOMIC_COUNTING_H

void count_load(const void *word);
void count_store(const void *word);
void count_rmw(const void *word);
void count_fence(void);
/** `to_write`: the processor asks for the line as a store does. */
void count_prefetch(const void *line, int to_write);

/*
 * Prefetches move lines. Without prefetchw gcc makes an ordinary prefetch of one that asks to
 * write.
 */
#if defined(__PRFCHW__) || !defined(__x86_64__)
#define COUNT_PREFETCH(line, to_write, ...) count_prefetch(line, to_write)
#else
#define COUNT_PREFETCH(line, ...) count_prefetch(line, 0)
#endif
#define __builtin_prefetch(...) COUNT_PREFETCH(__VA_ARGS__, 0, 0)

#define ACCESS_LOAD(word, type, from) (count_load(word), (word)->raw)
#define ACCESS_STORE(word, value, to) (count_store(word), (void)((word)->raw = (value)))
#define ACCESS_RMW(word) count_rmw(word)
#define ACCESS_FENCE() count_fence()
#include "platform/atomic_stepped.h"

#endif
