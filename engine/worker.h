/*
 * What every worker begins with: the thread that is inside of it, and what a watchdog can tell from
 * outside.
 *
 * BUSY. A call stores its thread's number into `busy` when it begins, and 0 when it ends. It is
 * load and store, not an exchange: that shows most misuses, nothing else relies on it, and a locked
 * instruction in every call was 4 % of a life cycle. `inside` is the call's frame
 * (platform/inside.h): its `what` is stored where the caller's code begins and where it ends.
 *
 * MARKS. No call stores when it began: that would take a look at the clock. A watchdog
 * (api/watch.c) finds out by two looks. Its first one puts a mark, the time of the look, beside the
 * number that it read in `busy`. The call's end takes the mark away, because it stores the whole
 * word; so a mark that a later look finds is that of this call, which has been running since then
 * at least. The same holds for `what` and one run of the caller's code. So a call that is watched
 * pays nothing, and any number of threads may watch.
 *
 *   word       low half                                          high half
 *   busy       0: no thread; WORKER_NOBODYS; a thread's number   0, or the mark
 *   what       CALLBACK_NONE; what runs; CALLBACK_SLEEP          0, or the mark
 *
 *   writer     from                    to                     by
 *   the call   0, 0                    number, 0              worker_try_take:A
 *   the call   number, any mark        0, 0                   worker_give_back:A
 *   watchdog   number, 0               number, mark           worker_mark:A, a compare-and-swap
 *   the call   number, any mark        number, 0              worker_anew:A
 *
 * LATE MARKS. A watchdog reads the word, then the clock, then exchanges. If the call ended in
 * between, and the thread is in its next call, that one gets the mark. It is claimed to have run
 * longer than it has, by no more than passed between the look at the clock and the exchange. The
 * claimed time ends at an earlier look at the clock: the one with which the watchdog began.
 *
 * SLEEP. A call that waits for a pod is not overdue. It says so in `what` while it sleeps, and
 * begins anew when it wakes (worker_anew:A), before it takes that back.
 *
 * ORDERING
 *   worker_anew:A, worker_wakes:A -> `what`, then `busy` again (look_at_worker in api/watch.c)
 *       a watchdog that sees that a call does not sleep any more sees that its mark is gone
 *
 * RESOLUTION. A mark counts units of 2^24 ns, 17 ms, and comes round after 2.3 years. Rounding
 * makes what is told at most two units too short, and never too long.
 *
 * PROGRESS. Wait-free: if a mark's exchange fails, the next look tries again.
 *
 * EVIDENCE. tests/model: watch; tests/unit/test_watch.c.
 */
#ifndef SCHEDQ_WORKER_H
#define SCHEDQ_WORKER_H

#include "platform/inside.h"
#include "platform/probe.h"
#include "platform/words.h"

#include <schedq/schedq.h>

/** As a worker's user: it is not registered; no call may use it. */
#define WORKER_NOBODYS UINT32_MAX

struct schedq_worker {
    schedq_t *queue;
    uint32_t number;
    uint32_t canceled; /* 1: its wait ends, or the next one */
    uint64_t busy;
    struct inside inside;
    char words[256];
};

/** When its memory is made: it is not registered. */
static inline void
worker_make_base(schedq_worker_t *worker, schedq_t *queue, uint32_t number)
{
    worker->queue = queue;
    worker->number = number;
    worker->busy = WORKER_NOBODYS;
    worker->inside.queue = queue;
}

/** For a new owner: no call is inside. */
static inline void
worker_open(schedq_worker_t *worker)
{
    word_store(&worker->inside.what, (uint64_t)CALLBACK_NONE); /* its last owner may have died */
    word_store(&worker->busy, UINT64_C(0));
}

/** No call may use it. */
static inline void
worker_bar(schedq_worker_t *worker)
{
    word_store(&worker->busy, (uint64_t)WORKER_NOBODYS);
}

/** The thread that is inside; 0: none; WORKER_NOBODYS. */
static inline uint32_t
worker_user(const schedq_worker_t *worker)
{
    return (uint32_t)word_load(&worker->busy);
}

/** False: it is taken. What its last holder did is visible to the next. */
static inline bool
worker_try_take(schedq_worker_t *worker, uint32_t user)
{
    if (word_load(&worker->busy) != 0) {
        return false;
    }
    __atomic_store_n(&worker->busy, user, __ATOMIC_RELAXED); /* worker_try_take:A */
    return true;
}

static inline void
worker_give_back(schedq_worker_t *worker)
{
    word_store(&worker->busy, UINT64_C(0)); /* worker_give_back:A */
}

/** From here on the call counts as one that has just begun. */
static inline void
worker_anew(schedq_worker_t *worker)
{
    word_store(&worker->busy, (uint64_t)INSIDE_THREAD.number); /* worker_anew:A */
}

/** Around a sleep. */
static inline void
worker_sleeps(schedq_worker_t *worker)
{
    word_store(&worker->inside.what, (uint64_t)CALLBACK_SLEEP);
    probe_sleep(worker);
}

static inline void
worker_wakes(schedq_worker_t *worker)
{
    probe_wake(worker);
    worker_anew(worker);
    word_store(&worker->inside.what, (uint64_t)CALLBACK_NONE); /* worker_wakes:A */
}

/* ---- for a watchdog -------------------------------------------------------------------------- */

#define WORKER_MARK_SHIFT 24 /* of nanoseconds */

/** `value` is what it read in `word`, unmarked. */
static inline void
worker_mark(uint64_t *word, uint64_t value, int64_t now)
{
    uint64_t units =
        (((uint64_t)now + (1u << WORKER_MARK_SHIFT) - 1) >> WORKER_MARK_SHIFT) & UINT32_MAX;
    uint64_t marked = value | (units != 0 ? units : 1) << 32;

    /* worker_mark:A */
    (void)__atomic_compare_exchange_n(word, &value, marked, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/** For how long a word has been marked, at least; 0: it is not, or the clock went back. */
static inline int64_t
worker_since(uint64_t value, int64_t now)
{
    uint32_t mark = (uint32_t)(value >> 32);
    int32_t units = (int32_t)((uint32_t)((uint64_t)now >> WORKER_MARK_SHIFT) - mark);

    return mark != 0 && units > 0 ? (int64_t)units << WORKER_MARK_SHIFT : 0;
}

#endif
