/*
 * Threads that wait for a pod, how they are woken, and which of them watches time.
 *
 * HOW TO WAIT                                     HOW TO WAKE
 *   ticket = sleepers_prepare                       make something poppable, or close
 *   look at everything again: bands, backoff,       a full fence
 *     closed, time                                  sleepers_wake_one, or sleepers_wake_all
 *   nothing: sleepers_watch;
 *     sleepers_wait(ticket, until);                 A pop that leaves something does the same.
 *     sleepers_unwatch
 *   sleepers_cancel, always
 *   look again; also after `until` passed: the wake-up may have been this thread's
 *   when the call returns: sleepers_wake_for(the time that is wanted next)
 *
 * CANCEL. A thread that ends another's wait sets a flag that the other looks at after
 * sleepers_prepare, and calls sleepers_wake_named. The sleeper that leaves because of the flag may
 * have been woken for a pod, and passes that wake-up on.
 *
 * THE WATCH. `watched` is a time for which one sleeper sleeps at most. A sleeper that finds there a
 * later time than it wants puts its own there, and sleeps until then; any other need not wake for
 * time at all. A thread that lowers the deadline below `watched` wakes one sleeper, which looks at
 * the deadline, and then watches it. A thread that leaves wakes another if time is not watched any
 * more: so the watch is handed over, and a wake-up for time that reached a thread which took a pod
 * instead is passed on. A time that is past by more than a tick counts as not watched, for all of
 * these: its watcher stopped, and is overtaken.
 *
 * THE LINE. The watcher may stop for ever, and so may a thread that should wake one. So each
 * sleeper looks at everything again by itself after WATCH_NS times its position: the number that
 * sleep, itself included, when it lies down. It lies down again at the end of the line. So one of N
 * sleepers looks in each WATCH_NS, and each of them within N times WATCH_NS.
 */
#ifndef SCHEDQ_LOCKFREE_SLEEPERS_H
#define SCHEDQ_LOCKFREE_SLEEPERS_H

#include "platform/atomic.h"
#include "platform/futex.h"

/** How long all sleepers together, and the timer thread by itself, leave an idle queue alone. */
#define WATCH_NS INT64_C(2000000000)

struct sleepers {
    atomic_u64 word;    /* sequence:32 | the host's:22 (readiness.h) | waiters:10 */
    atomic_u64 watched; /* a time on the queue's clock; INT64_MAX: none */
};

#define SLEEPERS_WAITERS UINT64_C(0x3ff)

struct sleepers_ticket {
    uint32_t sequence; /* to wait for a change of */
    uint32_t position; /* in the line, from 1 */
};

void sleepers_open(struct sleepers *sleepers);

/** Counts the caller as a thread that may sleep; a full fence. */
struct sleepers_ticket sleepers_prepare(struct sleepers *sleepers);

/**
 * Sleeps until the sequence changes or `deadline_ns` (CLOCK_MONOTONIC; FUTEX_NO_DEADLINE); may
 * return without a reason. `name` is the sleeper's number, for sleepers_wake_named.
 */
void sleepers_wait(struct sleepers *sleepers, uint32_t sequence, int64_t deadline_ns,
                   uint32_t name);

/** Ends what sleepers_prepare began, whether the caller slept or not; a full fence. */
void sleepers_cancel(struct sleepers *sleepers);

/**
 * Between prepare and wait. True: the caller has to sleep until `wanted` at most, and to call
 * sleepers_unwatch after it.
 */
bool sleepers_watch(struct sleepers *sleepers, int64_t wanted, int64_t now, int64_t tick);

/** A full fence. The caller looks at the deadline again. */
void sleepers_unwatch(struct sleepers *sleepers, int64_t wanted);

/**
 * Wakes one sleeper, if there may be any. After the caller's full fence. True: a thread was
 * counted.
 */
bool sleepers_wake_one(struct sleepers *sleepers);

/** Wakes one sleeper if none watches a time up to `wanted`. After the caller's full fence. */
void sleepers_wake_for(struct sleepers *sleepers, int64_t wanted, int64_t now, int64_t tick);

/** Wakes all. A full fence. */
void sleepers_wake_all(struct sleepers *sleepers);

/**
 * Wakes the sleeper with this number, and those whose numbers are equal in the last five bits.
 * After the caller's full fence.
 */
void sleepers_wake_named(struct sleepers *sleepers, uint32_t name);

/** How many are between prepare and cancel: a hint. */
static inline uint32_t
sleepers_waiting(const struct sleepers *sleepers)
{
    return (uint32_t)(u64_load(&sleepers->word) & SLEEPERS_WAITERS);
}

/** How many times sleepers were woken, or would have been; begins again after 2^32. */
static inline uint32_t
sleepers_wakes(const struct sleepers *sleepers)
{
    return (uint32_t)(u64_load(&sleepers->word) >> 32);
}

#endif
