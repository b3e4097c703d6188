/*
 * The queue's clock: CLOCK_MONOTONIC, the caller's function, or a word that the host raises.
 */
#ifndef SCHEDQ_PLATFORM_CLOCK_H
#define SCHEDQ_PLATFORM_CLOCK_H

#include <schedq/schedq.h>

#include <stdbool.h>

struct clock {
    schedq_clock_t source;
    const int64_t *word; /* external clock; else NULL */
};

int64_t clock_now(const struct clock *clock);

/** True if time passes only when the host says so: no thread can sleep until a deadline. */
static inline bool
clock_is_virtual(const struct clock *clock)
{
    return clock->word != NULL || clock->source.is_virtual != 0;
}

/**
 * May two readings be equal, though a call of the queue came between them?
 *
 * They may with the caller's clocks, and with a CLOCK_MONOTONIC that the kernel counts in timer
 * interrupts. Any other CLOCK_MONOTONIC goes on during the shortest call.
 */
bool clock_repeats(const struct clock *clock);

/** CLOCK_MONOTONIC, nanoseconds: what timed waits are made of. */
int64_t clock_monotonic(void);

/** Does the processor count at one rate on all its cores? Then clock_ticks may be called. */
bool clock_has_ticks(void);

/**
 * The processor's count: it orders what happens on different threads one after the other, without a
 * word that all write.
 */
static inline uint64_t
clock_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

#endif
