/*
 * The word of sleepers.h.
 *
 * 1 CONTRACT. If something was made poppable before sleepers_wake_one, and somebody was prepared who has not seen it,
 *   then a thread that was prepared looks again. Not: that this thread is scheduled, or takes the pod. Who is woken and
 *   finds more than it takes wakes the next; who leaves without looking again has swallowed a wake-up.
 *
 * 2 MEMORY. One word, {sequence:32, waiters:32}. Both halves change by one add each, so neither can be lost to the
 *   other's change; the futex is the half with the sequence. Written by sleepers, and by producers only while somebody
 *   waits.
 *
 * 3 STATES of a thread. Counted: from prepare:A to cancel:A. Asleep: the kernel found the sequence of prepare:A.
 *
 * 4 INVARIANTS. waiters = threads between prepare:A and cancel:A (tested: 0 when all have left). The sequence changes
 *   only when waiters was seen above 0, or in wake_all.
 *
 * 5 LINEARIZATION. Asleep: the kernel's comparison. Woken: wake:B.
 *
 * 6 ORDERING. Publish, then look, on both sides:
 *     sleeper   waiters + 1 (prepare:A, a full fence)          ; look for pods
 *     producer  publish the pod ; full fence (the caller's)    ; look for waiters (wake:A)
 *   One of the two sees the other. If the producer sees the sleeper, wake:B comes before or after the kernel's
 *   comparison: before, the comparison fails; after, the thread is in the kernel's queue and FUTEX_WAKE takes one from
 *   there. The one that it takes may be another sleeper, prepared before or after: each of them looks again, and for
 *   each pod one is woken or finds its comparison failed.
 *
 * 7 PROGRESS. Wait-free but for sleepers_wait. A thread that stops after prepare:A costs producers a system call per
 *   add. One that stops after it was woken has the wake-up, and a pod may lie there while others sleep: tick wakes one
 *   more if there are pods, waiters, and no pop since the last tick.
 *
 * 8 ABA. The sequence only grows; nothing is reclaimed.
 *
 * 9 WRAPAROUND. The sequence repeats after 2^32 wake-ups: each is a system call, so that takes half an hour, and a
 *   thread would have to stand between prepare and the kernel's comparison during exactly that many. Waiters are at
 *   most WORKERS_MAX, and each takes away what it added: the lower half never carries into the sequence.
 *
 * 10 NOT CHOSEN. ck_ec: it clears its flag before it wakes, so a second producer sees nobody to wake; with wake-one
 *   that loses wake-ups (found by its model), and waking all is a stampede for one pod. A condition variable: it has a
 *   lock.
 *
 * 11 EVIDENCE. tests/unit/test_lockfree_sleepers.c; tests/model: sleepers.
 */
#include "lockfree/sleepers.h"

#define ONE_WAITER UINT64_C(1)
#define ONE_WAKE (UINT64_C(1) << 32)

/* The half of the word that holds the sequence. */
static atomic_u32 *
sequence_half(struct sleepers *sleepers)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    return (atomic_u32 *)(void *)&sleepers->word + 1;
#else
    return (atomic_u32 *)(void *)&sleepers->word;
#endif
}

uint32_t
sleepers_prepare(struct sleepers *sleepers)
{
    return (uint32_t)(u64_add(&sleepers->word, ONE_WAITER) >> 32); /* prepare:A */
}

void
sleepers_wait(struct sleepers *sleepers, uint32_t sequence, int64_t deadline_ns)
{
    futex_wait(sequence_half(sleepers), sequence, deadline_ns);
}

void
sleepers_cancel(struct sleepers *sleepers)
{
    (void)u64_add(&sleepers->word, 0 - ONE_WAITER); /* cancel:A */
}

bool
sleepers_wake_one(struct sleepers *sleepers)
{
    if ((uint32_t)u64_load(&sleepers->word) == 0) { /* wake:A; relaxed: the caller's fence orders it */
        return false;
    }
    (void)u64_add(&sleepers->word, ONE_WAKE); /* wake:B */
    futex_wake(sequence_half(sleepers), 1);
    return true;
}

void
sleepers_wake_all(struct sleepers *sleepers)
{
    if ((uint32_t)u64_add(&sleepers->word, ONE_WAKE) != 0) {
        futex_wake(sequence_half(sleepers), UINT32_MAX);
    }
}
