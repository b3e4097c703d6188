/*
 * Those who wait for a pod, and how they are woken: one word, and the futex on half of it.
 *
 * HOW TO WAIT                                     HOW TO WAKE
 *   sequence = sleepers_prepare                     make something poppable (or closed, or due)
 *   look at everything again: bands, backoff,       a full fence
 *     closed                                        sleepers_wake_one, or sleepers_wake_all
 *   nothing: sleepers_wait(sequence, deadline)
 *   sleepers_cancel, always                         A pop that leaves something behind does the same.
 *   look again; also after the deadline passed:
 *     a wake-up may have been this thread's
 */
#ifndef SCHEDQ_LOCKFREE_SLEEPERS_H
#define SCHEDQ_LOCKFREE_SLEEPERS_H

#include "platform/atomic.h"
#include "platform/futex.h"

struct sleepers {
    atomic_u64 word; /* sequence:32 | waiters:32 */
};

/** The caller is counted as one who may sleep; a full fence. Returns the sequence to wait for a change of. */
uint32_t sleepers_prepare(struct sleepers *sleepers);

/** Sleeps until the sequence changes or `deadline_ns` (CLOCK_MONOTONIC; FUTEX_NO_DEADLINE); may return without a reason. */
void sleepers_wait(struct sleepers *sleepers, uint32_t sequence, int64_t deadline_ns);

/** Ends what sleepers_prepare began, whether the caller slept or not. */
void sleepers_cancel(struct sleepers *sleepers);

/** Wakes one sleeper, if there may be any. After the caller's full fence. True: somebody was counted. */
bool sleepers_wake_one(struct sleepers *sleepers);

/** Wakes all. A full fence. */
void sleepers_wake_all(struct sleepers *sleepers);

/** How many are between prepare and cancel; by the time of the answer, it may be another number. */
static inline uint32_t
sleepers_waiting(const struct sleepers *sleepers)
{
    return (uint32_t)u64_load(&sleepers->word);
}

#endif
