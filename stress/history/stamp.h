/*
 * The clock that orders calls of different threads: readings of all threads are on one line.
 *
 * A call is [stamp_begin, stamp_end]. Nothing of the call runs before the first reading, and all it
 * loaded, and every read-modify-write it did, is over at the second. A plain store of the call may
 * still be on its way then: a queue that says OK before others can see what it did is found out.
 */
#ifndef SCHEDQ_HISTORY_STAMP_H
#define SCHEDQ_HISTORY_STAMP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/** The processor's counter is used; else CLOCK_MONOTONIC in nanoseconds. */
extern bool stamp_is_counter;

/** Chooses the clock; once, before the threads start. */
void stamp_choose(void);

static inline uint64_t
stamp_monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t
stamp_begin(void)
{
#if defined(__x86_64__)
    if (stamp_is_counter) {
        uint64_t now = __rdtsc();
        _mm_lfence(); /* what follows does not start before the reading */
        return now;
    }
#endif
    return stamp_monotonic();
}

static inline uint64_t
stamp_end(void)
{
#if defined(__x86_64__)
    if (stamp_is_counter) {
        _mm_lfence(); /* what came before is over, stores that still wait for the cache apart */
        return __rdtsc();
    }
#endif
    return stamp_monotonic();
}

/** A stamp behind which everybody sees what this thread has stored. */
static inline uint64_t
stamp_settled(void)
{
    /* An exchange: ThreadSanitizer has no fences. */
    static _Thread_local atomic_uint own;

    (void)atomic_exchange(&own, 0);
    return stamp_end();
}

#endif
