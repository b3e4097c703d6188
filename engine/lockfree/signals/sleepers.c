/*
 * The words of sleepers.h.
 *
 * 1 CONTRACT. (a) If something was made poppable before sleepers_wake_one, and a prepared thread
 *   has not seen it, then a prepared thread looks again. Not: that this thread is scheduled, or
 *   takes the pod. A woken thread that finds more than it takes wakes the next. (b) When only
 *   waiting calls are under way, and the deadline is not later than `wanted`, a sleeper wakes at
 *   `wanted`, or none sleeps. If threads stop for ever, another looks within WATCH_NS times the
 *   number of sleepers, and (b) holds again.
 *
 * 2 MEMORY. `word` is {sequence:32, the host's:22, waiters:10}; the futex is the half with the
 *   sequence. What the host waits for elsewhere is readiness.c's; it is in this word so that a
 *   producer asks one. The sequence and the waiters change by one add each, so neither is lost to
 *   the other's change. Sleepers write it; producers only while a thread waits, or the host.
 *   `watched` is written by sleepers only.
 *
 * 3 STATES of a thread. Counted: from sleepers_prepare:A to sleepers_cancel:A. Asleep: the kernel
 *   found the sequence of sleepers_prepare:A. Watching: from sleepers_watch:A to
 *   sleepers_unwatch:A.
 *
 * 4 INVARIANTS. waiters = counted threads (tested: 0 when all have left), fewer than 2^10. The
 *   sequence changes only when waiters was seen above 0, or in wake_all. Two threads that watch the
 *   same time may both take it away: then one more sleeper is woken than needed.
 *
 * 5 LINEARIZATION. Asleep: the kernel's comparison. Woken: sleepers_wake_one:B,
 *   sleepers_wake_named:B, sleepers_wake_all:A. The watch: sleepers_watch:A, sleepers_unwatch:A.
 *
 * 6 ORDERING
 *     sleepers_prepare:A, look for pods, `closed`, the deadline
 *         | the producer's ref ; sleepers_wake_one:A
 *         | the exchange of `closed`, sleepers_wake_all:A
 *         if sleepers_wake_one:B comes before the kernel's comparison, the comparison fails; if
 *         after, FUTEX_WAKE takes a sleeper, this one or another, and each looks again
 *     sleepers_prepare:A, the flag of a cancel
 *         | the exchange of the flag ; sleepers_wake_named:A
 *         as for a producer; FUTEX_WAKE_BITSET takes the sleeper with that name
 *     sleepers_prepare:A, the deadline, sleepers_watch:A, the kernel's comparison
 *         | the deadline is lowered ; sleepers_wake_for:A, look for waiters
 *         a sleeper that read the old deadline is counted: the lowerer finds a time watched that is
 *         early enough and not past, or changes the sequence
 *     sleepers_unwatch:A, sleepers_cancel:A, the deadline, sleepers_wake_for:A
 *         | the deadline is lowered ; sleepers_wake_for:A, look for waiters
 *         the leaver reads the lower deadline, or the lowerer finds no watch; a sleeper that relied
 *         on the watch was counted before it ended, so the leaver finds it
 *
 * 7 PROGRESS. Lock-free but for sleepers_wait: sleepers_watch:A fails only if another thread
 *   changed `watched`. A thread that stops after sleepers_prepare:A costs producers a system call
 *   per add. One that stops with a wake-up leaves a pod that other sleepers do not see; one that
 *   stops as watcher, or between a lower deadline and sleepers_wake_for:A, leaves time unwatched.
 *   The next look ends each of these: of the first in the line, the timer thread, or a tick. A
 *   watcher that stopped makes one time late: the next sleepers_wake_for:A or sleepers_watch:A
 *   overtakes it.
 *
 * 8 ABA. The sequence only grows; nothing is reclaimed. A `watched` that comes back says what it
 *   said before.
 *
 * 9 WRAPAROUND. The sequence repeats after 2^32 wake-ups, each a system call: half an hour, and a
 *   thread would have to stop before the kernel's comparison during exactly that many. Each waiter
 *   takes away what it added, or the adoption of its worker does, if its thread died in its sleep:
 *   the lowest 10 bits do not carry. (A thread that dies while it is counted and does not sleep
 *   stays counted: 2^10 of these would carry.)
 *
 * 10 NOT CHOSEN. ck_ec: it clears its flag before it wakes, so a second producer sees no sleeper to
 *   wake; with wake-one that loses wake-ups (found by its model). A condition variable: it has a
 *   lock. All sleep until the deadline: each deadline would be a stampede. Each looks once in a
 *   tick: an idle queue would cost with its sleepers.
 *
 * 11 EVIDENCE. tests/unit/test_lockfree_sleepers.c, test_idle.c; tests/model: sleepers;
 *   stress/explore: sleep_*, watch_hand_over, serve_sleepers.
 */
#include "lockfree/signals/sleepers.h"

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

void
sleepers_open(struct sleepers *sleepers)
{
    u64_store(&sleepers->word, 0);
    time_store(&sleepers->watched, INT64_MAX);
}

struct sleepers_ticket
sleepers_prepare(struct sleepers *sleepers)
{
    uint64_t word = u64_add(&sleepers->word, ONE_WAITER); /* sleepers_prepare:A */

    return (struct sleepers_ticket){.sequence = (uint32_t)(word >> 32),
                                    .position = (uint32_t)(word & SLEEPERS_WAITERS) + 1};
}

static uint32_t
bit_of(uint32_t name)
{
    return UINT32_C(1) << (name % 32);
}

void
sleepers_wait(struct sleepers *sleepers, uint32_t sequence, int64_t deadline_ns, uint32_t name)
{
    futex_wait(sequence_half(sleepers), sequence, deadline_ns, bit_of(name));
}

void
sleepers_cancel(struct sleepers *sleepers)
{
    (void)u64_add(&sleepers->word, 0 - ONE_WAITER); /* sleepers_cancel:A */
}

/* A watcher that is a tick late is overtaken. */
static bool
is_unwatched(int64_t watched, int64_t wanted, int64_t now, int64_t tick)
{
    return watched > wanted || watched < now - tick;
}

bool
sleepers_watch(struct sleepers *sleepers, int64_t wanted, int64_t now, int64_t tick)
{
    uint64_t watched = u64_load(&sleepers->watched);

    /* Ends: each failed exchange means that another sleeper watches, or ceased to. */
    while (is_unwatched((int64_t)watched, wanted, now, tick)) {
        if (u64_swing(&sleepers->watched, &watched, (uint64_t)wanted)) { /* sleepers_watch:A */
            return true;
        }
    }
    return false;
}

void
sleepers_unwatch(struct sleepers *sleepers, int64_t wanted)
{
    (void)u64_cas(&sleepers->watched, (uint64_t)wanted,
                  (uint64_t)INT64_MAX); /* sleepers_unwatch:A */
}

bool
sleepers_wake_one(struct sleepers *sleepers)
{
    /* sleepers_wake_one:A; relaxed: the caller's fence orders it */
    if (sleepers_waiting(sleepers) == 0) {
        return false;
    }
    (void)u64_add(&sleepers->word, ONE_WAKE); /* sleepers_wake_one:B */
    futex_wake(sequence_half(sleepers), 1);
    return true;
}

void
sleepers_wake_for(struct sleepers *sleepers, int64_t wanted, int64_t now, int64_t tick)
{
    int64_t watched =
        time_load(&sleepers->watched); /* sleepers_wake_for:A; relaxed: the caller's fence */

    if (wanted != INT64_MAX && is_unwatched(watched, wanted, now, tick)) {
        (void)sleepers_wake_one(sleepers);
    }
}

void
sleepers_wake_all(struct sleepers *sleepers)
{
    /* sleepers_wake_all:A */
    if ((u64_add(&sleepers->word, ONE_WAKE) & SLEEPERS_WAITERS) != 0) {
        futex_wake(sequence_half(sleepers), UINT32_MAX);
    }
}

void
sleepers_wake_named(struct sleepers *sleepers, uint32_t name)
{
    /* sleepers_wake_named:A; relaxed: the caller's fence orders it */
    if (sleepers_waiting(sleepers) > 0) {
        (void)u64_add(&sleepers->word, ONE_WAKE); /* sleepers_wake_named:B */
        futex_wake_bits(sequence_half(sleepers), bit_of(name));
    }
}
