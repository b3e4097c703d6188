/*
 * The mutex engine: the whole queue behind one lock.
 *
 * It is the baseline of every benchmark, the reference of every comparison, and what a user selects
 * to find out whether a problem is the lock-free engine's. So it is plain: heaps with positions, a
 * hash table, lists by rejector set; every call takes the lock once, does its work, and leaves. The
 * parts, which use each other downwards only:
 *
 *   engine.c     the table of functions, making and ending a queue
 *   cycle.c      pop, done, fail, readd
 *   pods.c       add, find, update, delete, activate, nominate
 *   hold.c       hold, release, not-before
 *   label.c      all pods of a label
 *   group.c      declaring, updating, ending, and looking at groups; their pop and its end
 *   moves.c      events that callbacks decide
 *   host.c       events that the host decides
 *   look.c       get, snapshot, nominated pods, peek, position, stats
 *   watch.c      pods, for a watchdog
 *   sleep.c      blocking pop, tick, the timer thread
 *   time.c       due backoff, leftovers
 *   workers.c    handles that calls take
 *   lock.c       the lock, the words, waking
 *   deadline.c   when time is wanted next
 *   route.c      where a pod goes: gates, backoff, active
 *   gather.c     members and the record of their root
 *   admit.c      making and ending a pod's record
 *   place.c      putting a pod into a place and taking it out; counts
 *   heap, keeps, labels, groups, lots, index, names, bands, nominator, event_log, entry: containers
 *   that know nothing of each other
 *
 * INVARIANTS, true whenever the lock is free
 *   1  entry.place says where a pod is, and exactly the containers of that place hold it:
 *        ACTIVE          heap active; a record: heap groups.active
 *        BACKOFF         heap backoff, lot BACKOFF
 *        ERROR_BACKOFF   heap error_backoff, lot ERROR_BACKOFF
 *        PARKED          its lot, age list parked
 *        GATED           its lot, age list gated
 *        HELD            heap keeps.until if a time releases it, else none
 *        ASIDE           a member: the list of its group; a record: none
 *        INFLIGHT        none
 *   2  the index holds every pod but those that are in flight and deleted, and no record.
 *   3  every heap, the positions and the index have room for as many pods as there are records; a
 *      pod takes a record at admission, so no later call needs memory for it.
 *   4  a pod that something keeps back is in flight or HELD.
 *   5  entry.version is new after every change of place and every update of a waiting pod.
 *   6  a member is ASIDE, HELD or in flight. A record is queued only if its group is a root and
 *      complete; then it is not ASIDE, unless a call is about to bring it out.
 *
 * Hints, PreEnqueue and preCheck run with the lock held, as in kube-scheduler; visitors and
 * metrics' writers do not.
 */
#ifndef SCHEDQ_MUTEX_QUEUE_H
#define SCHEDQ_MUTEX_QUEUE_H

#include "engine.h"
#include "mutex/bands.h"
#include "mutex/classes.h"
#include "mutex/entry.h"
#include "mutex/event_log.h"
#include "mutex/groups.h"
#include "mutex/heap.h"
#include "mutex/index.h"
#include "mutex/keeps.h"
#include "mutex/labels.h"
#include "mutex/lots.h"
#include "mutex/names.h"
#include "mutex/nominator.h"
#include "observe/metrics.h"
#include "platform/futex.h"

#include <pthread.h>

/** Pods in the order in which they began to wait here: the first is the oldest. */
struct age_list {
    uint32_t head, tail, count;
};

struct counters {
    uint64_t adds, pops, dones, failures, deletes, updates, moves, events, hint_calls, gate_calls;
};

struct sleepers {
    atomic_u32 sequence; /* a futex: changes with each wake-up, under the lock */
    uint32_t waiting;    /* dead ones too, until their workers are adopted */
    uint64_t ticks;      /* a virtual clock moved: look again */
    uint64_t wakes;      /* signals and broadcasts so far */
};

struct timer {
    pthread_t thread;
    pthread_cond_t wake;
    schedq_worker_t *worker;
    bool running, stopping;
};

struct mutex_queue {
    schedq_t base;

    _Alignas(CACHE_LINE) pthread_mutex_t lock;
    bool closed;
    bool yields;            /* events give the lock away while a thread waits for it */
    bool armed;             /* the host is told of the next pod (pop that found nothing) */
    bool time_changed;      /* a pod entered or left a place that time looks at */
    uint32_t made_poppable; /* since the lock was taken; a record counts as two */
    uint32_t waiting;       /* threads that wait for the lock, where it is given away */
    uint32_t turns;         /* there too: grows with every unlock */

    struct heap active, backoff, error_backoff;
    struct heap_room room;
    struct entries entries;
    struct index index;
    struct names names;
    struct bands bands;
    uint64_t inflight;
    uint32_t ended;   /* records that callbacks ended under the lock, chained by lot_next */
    uint64_t failing; /* the token that a failure uses, else 0 */
    uint64_t pop_orders;
    int64_t last_key;
    uint32_t pods; /* records in use */

    struct lots lots;
    struct keeps keeps;
    struct labels labels;
    struct classes classes;
    struct groups groups;
    struct age_list parked, gated;
    int64_t gated_oldest;     /* no gated pod counts from before this */
    int64_t leftover_flushed; /* kube presets: what the last flush reached (policy/leftover.h) */
    struct event_log log;
    /* some pod failed with SCHEDQ_REJECTOR_OTHERS: unregistered events matter too */
    bool others_used;
    uint64_t moved; /* move cycles: sequence of the last move */
    struct nominator nominator;

    struct counters counters;
    uint64_t (*incoming)[INCOMING_ALL]; /* by label */
    uint32_t incoming_capacity;

    struct sleepers sleepers;
    struct timer timer;
    /* made; the registered ones are marked in worker_slots */
    schedq_worker_t *workers[WORKERS_MAX];
    uint64_t worker_slots[WORKERS_MAX / 64];
    uint32_t worker_count;
};

static inline struct mutex_queue *
mutex_queue(schedq_t *queue)
{
    return (struct mutex_queue *)queue;
}

static inline struct mutex_queue *
queue_of(const schedq_worker_t *worker)
{
    return (struct mutex_queue *)worker->queue;
}

static inline struct entry *
pod_at(const struct mutex_queue *queue, uint32_t index)
{
    return entry_at(&queue->entries, index);
}

static inline int64_t
queue_now(const struct mutex_queue *queue)
{
    return clock_now(&queue->base.clock);
}

/** Are there groups? Then a lot may have records, whose members answer for themselves. */
static inline bool
queue_has_groups(const struct mutex_queue *queue)
{
    return queue->groups.records > 0;
}

static inline bool
is_poppable(const struct mutex_queue *queue)
{
    return queue->active.count > 0 ||
           (queue->base.rules.pop_from_backoff && queue->backoff.count > 0);
}

/** Is anything poppable for a pop that takes groups too? */
static inline bool
is_poppable_with_groups(const struct mutex_queue *queue)
{
    return queue->groups.active.count > 0 || is_poppable(queue);
}

void queue_lock(struct mutex_queue *queue);

/** queue_lock, but waits for `wait_ns` at most. False: the lock was not to be had. */
bool queue_try_lock_for(struct mutex_queue *queue, int64_t wait_ns);

/**
 * Before the lock is given up: ends the pods whose cycles callbacks ended, publishes the words,
 * then wakes the threads, and tells the host, that have something to do.
 */
void queue_announce(struct mutex_queue *queue);

/** queue_announce, and unlocks. */
void queue_unlock(struct mutex_queue *queue);

/** Wakes so many threads that wait in a pop. With the lock. */
static inline void
queue_wake(struct mutex_queue *queue, uint32_t count)
{
    queue->sleepers.wakes++;
    if (queue->sleepers.waiting > 0) {
        (void)u32_add(&queue->sleepers.sequence, 1);
        futex_wake(&queue->sleepers.sequence, count);
    }
}

static inline void
queue_wake_one(struct mutex_queue *queue)
{
    queue_wake(queue, 1);
}

static inline void
queue_wake_all(struct mutex_queue *queue)
{
    queue_wake(queue, UINT32_MAX);
}

/** Does a thread wait for the lock, or would one be woken by its unlock? */
static inline bool
queue_is_wanted(const struct mutex_queue *queue)
{
    return queue->yields && (__atomic_load_n(&queue->waiting, __ATOMIC_RELAXED) > 0 ||
                             (queue->made_poppable > 0 && queue->sleepers.waiting > 0));
}

/** Since when a thread that serves time keeps callers away from the lock, on CLOCK_MONOTONIC. */
struct lock_stay {
    int64_t since;
};

/** Begins a stay, with the lock. */
void lock_stay_begin(struct lock_stay *stay);

/** Unlocks and locks: between two slices of a thread that serves time. */
void queue_let_others(struct mutex_queue *queue, struct lock_stay *stay);

/** Tells a host that waits in poll, or by a callback; the descriptor is readable. With the lock. */
void queue_tell_host(struct mutex_queue *queue);

/** Unlocks, lets a thread that waits have its turn, and locks again. */
void queue_give_turn(struct mutex_queue *queue);

#endif
