/** @file
 * schedq/watch: a watchdog. Which pod, worker or callback is overdue?
 *
 * A host calls schedq_watch once a period, from a thread of its own. Each call looks at what is
 * there and compares it with what the calls before it saw. The calls that are watched pay nothing:
 * none looks at the clock, or stores anything more, for the watchdog. So what began between two
 * looks counts from the later one. A fault is named at most two periods and its limit after it
 * began (INFLIGHT: 1/8 of the limit more; CALL, CALLBACK: 34 ms more).
 *
 *   kind       overdue is                                     since
 *   INFLIGHT   a pod whose cycle has not ended: its token     the first look that saw the pod in
 *              was forgotten, or its holder hangs             flight, or the first one from
 *                                                             inflight_ns / 8 later on
 *   GATED      a pod that a gate keeps out; a member of a     its Timestamp
 *              group (group.h) that its gate refused
 *   LEFTOVER   a pod that nothing freed but the limit of      its Timestamp
 *              waiting (max_parked_ns): the event that
 *              helps it is not among its plugins' interests
 *   CALL       a worker inside of a call, which hangs, or     the first look that saw the call
 *              waits for the lock (MUTEX); one that waits
 *              for a pod is not
 *   CALLBACK   a callback that has not returned               the first look that saw it run
 *
 * The timer thread (schedq_run) is watched like any worker. With MUTEX a hint, a gate, a precheck,
 * config.affinity_matches, retain, release and the clock run with the lock held: when one of these
 * is overdue, calls that are overdue too are waiting for it.
 */
#ifndef SCHEDQ_WATCH_H
#define SCHEDQ_WATCH_H

#include <schedq/cycle.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is overdue. */
typedef enum schedq_overdue_kind {
    SCHEDQ_OVERDUE_INFLIGHT = 1,
    SCHEDQ_OVERDUE_GATED,
    SCHEDQ_OVERDUE_LEFTOVER,
    SCHEDQ_OVERDUE_CALL,
    SCHEDQ_OVERDUE_CALLBACK
} schedq_overdue_kind_t;

/** The caller's code that runs inside of a call. */
typedef enum schedq_callback {
    SCHEDQ_CALLBACK_NONE = 0,
    SCHEDQ_CALLBACK_HINT,
    SCHEDQ_CALLBACK_PRE_HINT,
    SCHEDQ_CALLBACK_PRE_ENQUEUE,
    SCHEDQ_CALLBACK_PRECHECK,
    SCHEDQ_CALLBACK_AFFINITY, /**< config.affinity_matches */
    SCHEDQ_CALLBACK_CLOCK,    /**< config.clock.now_ns */
    SCHEDQ_CALLBACK_RETAIN,
    SCHEDQ_CALLBACK_RELEASE,
    SCHEDQ_CALLBACK_VISITOR,
    SCHEDQ_CALLBACK_WAKE /**< that of schedq_wait_callback */
} schedq_callback_t;

/**
 * Limits, and what the looks of one watchdog leave for its next one. Begin with SCHEDQ_WATCH_INIT.
 * It is the caller's, and belongs to one queue; a queue may have several.
 */
typedef struct schedq_watch_t {
    uint32_t struct_size; /**< set by SCHEDQ_WATCH_INIT */
    uint32_t leftovers;   /**< default 1: LEFTOVER is looked for; 0: not */
    int64_t inflight_ns;  /**< limits on the queue's clock; 0: that kind is not looked for.
                               Default 15 min */
    int64_t gated_ns;     /**< default 1 h */
    int64_t call_ns;      /**< default 10 s; exact to 34 ms, never early */
    int64_t callback_ns;  /**< default 1 s; the same */
    uint64_t notes[66];   /**< the library's; zero at first */
} schedq_watch_t;

/** Default limits, before the first look. */
#define SCHEDQ_WATCH_INIT                                                         \
    {                                                                             \
        sizeof(schedq_watch_t), 1, INT64_C(900000000000), INT64_C(3600000000000), \
            INT64_C(10000000000), INT64_C(1000000000),                            \
        {                                                                         \
            0                                                                     \
        }                                                                         \
    }

/** One that is overdue. Layout frozen (48 bytes). */
typedef struct schedq_overdue {
    uint8_t kind;             /**< schedq_overdue_kind_t */
    uint8_t callback;         /**< CALL, CALLBACK: schedq_callback_t that runs; else 0 */
    schedq_profile_t profile; /**< of the pod; hint, pre-hint and gate: of the plugin */
    uint8_t plugin;        /**< 1 + its number: GATED: the gate; hint, pre-hint, gate: whose it is;
                               0 = none */
    uint32_t worker;       /**< CALL, CALLBACK: number of the worker */
    uint32_t thread;       /**< the same: the kernel's number of the thread (gettid) */
    uint32_t reserved;     /**< zero */
    schedq_pod_t pod;      /**< INFLIGHT, GATED, LEFTOVER: its handle; else 0. A pod in flight that
                               was deleted is named too */
    uint64_t rejectors;    /**< LEFTOVER: what rejected it, as bits (schedq_rejector_name); 0 from
                               its next pop on */
    int64_t for_ns;        /**< how long it had been so when the call looked, at least, since what
                               the table says; nanoseconds on the queue's clock */
    uint64_t reserved_too; /**< zero */
} schedq_overdue_t;

/**
 * Looks once, and names what is overdue.
 *
 * The caller orders the calls of one watchdog. Give it a worker of its own: the worker that it
 * looks with is not watched. No callback is run but the clock, and no object retained.
 * @param watch limits, and the notes, which the call brings up to date
 * @param out   receives the first `room` in no order, workers before pods; NULL only if room is 0
 * @param room  elements of `out`
 * @param found how many are overdue, those without room too. A worker counts once at most, as
 *              CALLBACK if call and callback are overdue. A pod counts once for each kind
 * @retval SCHEDQ_OK        *found and out are set
 * @retval SCHEDQ_TIMEDOUT  (only with MUTEX) the same, for workers only: the lock was not to be had
 *                          for 100 ms, and no pod was looked at, or not all
 * @retval SCHEDQ_INVALID   watch or found is NULL, or out while room is not 0; struct_size; a limit
 *                          less than 0; leftovers other than 0 and 1; notes that are neither zero
 *                          nor the library's (not always found out); nothing is set
 * @retval SCHEDQ_BUSY      nothing is set
 *
 * Threads: [worker]  Progress: locks, for 256 pods at a time, and waits no longer than that; O(n +
 *          max_workers). LOCKFREE: O(n + max_workers).
 */
SCHEDQ_API schedq_status_t schedq_watch(schedq_worker_t *worker, schedq_watch_t *watch,
                                        schedq_overdue_t *out, size_t room, size_t *found);

/**
 * Writes one that is overdue as a sentence for a person: "pod ns/a: popped 301.200 s ago or
 * earlier, and its cycle has not ended"; "worker 3, thread 4711: a hint of Fit has not returned for
 * 2.013 s or longer".
 *
 * @param overdue what schedq_watch named, of this worker's queue
 * @param text    room for `size` bytes; what does not fit is cut off, and a NUL ends it; NULL only
 *                if size is 0
 * @param size    bytes that `text` has room for
 * @retval length that it needs without the NUL, as snprintf. A pod that has left the queue, or was
 *                deleted in flight, is named by its handle
 * @retval 0      called from a callback, another thread is inside the worker, it is not registered,
 *                or a NULL that is not allowed
 *
 * Threads: [worker]  Progress: locks, for a pod.
 */
SCHEDQ_API size_t schedq_overdue_text(schedq_worker_t *worker, const schedq_overdue_t *overdue,
                                      char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
