/** @file
 * schedq/cycle: one try of a pod. Its holder pops it, looks for a node, and calls done or fail.
 */
#ifndef SCHEDQ_CYCLE_H
#define SCHEDQ_CYCLE_H

#include <schedq/pod.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Names one cycle of a pod: from pop to done or fail. {0} names none.
 *
 * A token is not a handle: the types differ, so that mixing them does not compile.
 */
typedef struct schedq_token {
    uint64_t bits; /**< opaque; equal for equal cycles */
} schedq_token_t;

/**
 * What a pod went through. Times are nanoseconds on the queue's clock. Layout frozen (32 bytes).
 */
typedef struct schedq_history {
    int64_t  timestamp_ns;       /**< when it entered the queue, or failed last; at least 0 */
    int64_t  initial_attempt_ns; /**< when it first became active (kube_minor 12, 26: was added); 0
                                      = never yet; at least 0 */
    uint32_t attempts;           /**< pops */
    uint32_t rejections;         /**< failures with a rejector */
    uint32_t errors;             /**< failures without a rejector, since the last rejection */
    uint32_t reserved; /**< zero */
} schedq_history_t;

/** A popped pod: the holder's until done or fail ends the cycle. Layout frozen (128 bytes). */
typedef struct schedq_popped {
    schedq_token_t token;         /**< names this cycle: for done, fail, token_alive */
    schedq_pod_t   pod;           /**< its handle */
    uint64_t       object;        /**< COUNTED: the holder has a reference, which the end of the
                                       cycle (OK, GONE) releases */
    const char    *name;          /**< its name and a NUL; the queue's memory, valid until done or
                                       fail ends the cycle (OK, GONE), also after a deletion */
    uint32_t       name_length;   /**< bytes, without the NUL */
    int32_t        priority;      /**< as at this pop */
    schedq_history_t history;     /**< this pop is counted in its attempts */
    uint64_t       unschedulable; /**< bits of the plugins that rejected it before this pop; the
                                       pod's own set is empty from here on */
    uint64_t       pending;       /**< bits of those that only waited for something; the same */
    /** [host] events after this sequence happened during the cycle */
    uint64_t       seen;
    uint64_t       cycle;         /**< number of this pop, from 1; 0 unless config.count_cycles */
    uint64_t       nominated_node; /**< where it is nominated; 0 = nowhere */
    int64_t        backoff_expiry_ns; /**< end of its last backoff, on the queue's clock, cut to the
                                           second with backoff_window; 0 = it had none */
    /** 1: nothing was active, and it was taken out of backoff, over or not */
    uint8_t        from_backoff;
    uint8_t        more;          /**< 1: another pod is poppable (LOCKFREE: perhaps); the caller
                                       may wake a waiter of its own */
    schedq_profile_t profile;     /**< whose plugins judge it */
    uint8_t        flags;         /**< SCHEDQ_POD_* */
    /** 1: max_parked_ns (with kube_minor 37 only), or a host's limit ([host] decision.flushed),
        brought it out of where it waited, and since then it has not failed, was not held, and no
        gate refused it. Else 0: schedq_explain tells what freed a pod last */
    uint8_t        flushed;
    uint8_t        reserved[3]; /**< zero */
} schedq_popped_t;

/* ---- pop ------------------------------------------------------------------------------------- */

/**
 * Takes the best pod, without waiting.
 *
 * No pod that ranks before it was active during the whole call (with SCHEDQ_ORDER_RELAXED: no pod
 * of a higher priority). EMPTY says that no pod was active during the whole call: with LOCKFREE
 * other threads may have taken one and added one meanwhile. A thread that must have a pod calls
 * schedq_pop, which waits, or tries again.
 *
 * It does not serve time: a pod whose backoff is over stays there until schedq_tick, a waiting pop
 * or the timer thread moves it. It passes groups by: only a pop of groups takes members (group.h).
 * A pod that its class keeps back is not poppable; a pop that meets up to 256 of them holds them
 * (CLASSES in hold.h). (LOCKFREE: what an earlier call could not finish for want of memory is not
 * poppable before a schedq_tick, or a pop half a second later, finds memory.)
 * @param out written with OK only
 * @retval SCHEDQ_OK       the pod is in flight; the caller is its holder
 * @retval SCHEDQ_EMPTY    nothing is poppable
 * @retval SCHEDQ_CLOSED   the queue is closed, and nothing is poppable now
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * What was done before the pod was added, failed or moved happens before the return.
 * Threads: [worker]  Progress: locks; O(log n); allocates if it keeps a pod back (CLASSES in
 *          hold.h).
 */
SCHEDQ_API schedq_status_t schedq_try_pop(schedq_worker_t *worker, schedq_popped_t *out);

/**
 * Takes up to `capacity` of the best pods, without waiting.
 *
 * @param out      room for `capacity`; the first *count are written, best first
 * @param capacity at least 1
 * @param count    receives how many; not written with INVALID and BUSY
 * @retval SCHEDQ_OK       *count is at least 1; each as from schedq_try_pop
 * @retval SCHEDQ_EMPTY    nothing is poppable; *count is 0
 * @retval SCHEDQ_CLOSED   the queue is closed, and nothing is poppable now; *count is 0
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; O(capacity log n); allocates as schedq_try_pop.
 */
SCHEDQ_API schedq_status_t schedq_try_pop_many(schedq_worker_t *worker, schedq_popped_t *out,
                                               size_t capacity, size_t *count);

/**
 * Takes the best pod; waits for one if there is none.
 *
 * While it waits it serves time as schedq_tick does, if no other thread does. It moves at most 256
 * due pods, then looks for its pod again (a flush with kube_minor asks the gates of all old gated
 * pods at once). The worker is inside this call all the while. While nothing happens, one of all
 * waiting pops wakes up every 2 s (LOCKFREE), or none (MUTEX; but with config.clock.now_ns each one
 * that has a time to wait for). With a virtual or external clock a waiting pop sleeps untimed, and
 * looks again at every schedq_tick.
 * @param out written with OK only
 * @retval SCHEDQ_OK        as schedq_try_pop
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable now
 * @retval SCHEDQ_INVALID   nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: locks, and waits while there is nothing to pop; O(log n); allocates
 *          as schedq_try_pop.
 */
SCHEDQ_API schedq_status_t schedq_pop(schedq_worker_t *worker, schedq_popped_t *out);

/**
 * Takes the best pod; waits for one for at most wait_ns. As schedq_pop otherwise.
 *
 * @param wait_ns nanoseconds of the queue's clock, at least 0; 0: it does not wait
 * @param out     written with OK only
 * @retval SCHEDQ_OK        as schedq_try_pop
 * @retval SCHEDQ_TIMEDOUT  the time is over, and nothing is poppable
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable now
 * @retval SCHEDQ_INVALID   also a negative wait_ns; nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: as schedq_pop.
 */
SCHEDQ_API schedq_status_t schedq_pop_for(schedq_worker_t *worker, int64_t wait_ns,
                                          schedq_popped_t *out);

/**
 * Takes the best pod; waits for one until a time. As schedq_pop otherwise.
 *
 * @param deadline_ns on the queue's clock (schedq_now); SCHEDQ_NO_DEADLINE: none. If it has passed,
 *                    the call does not wait
 * @param out         written with OK only
 * @retval SCHEDQ_OK        as schedq_try_pop
 * @retval SCHEDQ_TIMEDOUT  the deadline passed, and nothing is poppable
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable now
 * @retval SCHEDQ_INVALID   nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: as schedq_pop.
 */
SCHEDQ_API schedq_status_t schedq_pop_until(schedq_worker_t *worker, int64_t deadline_ns,
                                            schedq_popped_t *out);

/**
 * Takes up to `capacity` of the best pods; waits for the first if there is none. As schedq_pop
 * otherwise.
 *
 * It does not wait for a second pod: it takes those that are there.
 * @param out      room for `capacity`; the first *count are written, best first
 * @param capacity at least 1
 * @param count    receives how many; not written with INVALID and BUSY; 0 with the others but OK
 * @retval SCHEDQ_OK        *count is at least 1; each as from schedq_try_pop
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable now
 * @retval SCHEDQ_INVALID   nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: locks, and waits while there is nothing to pop; O(capacity log n);
 *          allocates as schedq_try_pop.
 */
SCHEDQ_API schedq_status_t schedq_pop_many(schedq_worker_t *worker, schedq_popped_t *out,
                                           size_t capacity, size_t *count);

/**
 * Takes up to `capacity` of the best pods; waits for the first for at most wait_ns. As
 * schedq_pop_many otherwise.
 *
 * @param wait_ns  nanoseconds of the queue's clock, at least 0; 0: it does not wait
 * @param out      as for schedq_pop_many, and capacity
 * @param capacity at least 1
 * @param count    as for schedq_pop_many
 * @retval SCHEDQ_OK        *count is at least 1; each as from schedq_try_pop
 * @retval SCHEDQ_TIMEDOUT  the time is over, and nothing is poppable
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable now
 * @retval SCHEDQ_INVALID   also a negative wait_ns; nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: as schedq_pop_many.
 */
SCHEDQ_API schedq_status_t schedq_pop_many_for(schedq_worker_t *worker, int64_t wait_ns,
                                               schedq_popped_t *out, size_t capacity,
                                               size_t *count);

/**
 * Takes up to `capacity` of the best pods; waits for the first until a time. As schedq_pop_many
 * otherwise.
 *
 * @param deadline_ns as for schedq_pop_until
 * @param out         as for schedq_pop_many, and capacity
 * @param capacity    at least 1
 * @param count       as for schedq_pop_many
 * @retval SCHEDQ_OK        *count is at least 1; each as from schedq_try_pop
 * @retval SCHEDQ_TIMEDOUT  the deadline passed, and nothing is poppable
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable now
 * @retval SCHEDQ_INVALID   nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: as schedq_pop_many.
 */
SCHEDQ_API schedq_status_t schedq_pop_many_until(schedq_worker_t *worker, int64_t deadline_ns,
                                                 schedq_popped_t *out, size_t capacity,
                                                 size_t *count);

/* ---- the end of a cycle ---------------------------------------------------------------------- */

/**
 * Ends the cycle of a pod that was placed, and its nomination. The pod leaves the queue.
 *
 * @param token of a pod's cycle, from a pop or a schedq_fail
 * @retval SCHEDQ_OK       the pod left the queue; the token is used up
 * @retval SCHEDQ_GONE     it was deleted meanwhile; the token is used up
 * @retval SCHEDQ_STALE    the token was used before, or is a group's. Or this call comes from a
 *                         callback of the schedq_fail that uses the token. Nothing changed
 * @retval SCHEDQ_INVALID  worker is NULL; or called from an allocator, or from a release while the
 *                         queue is destroyed; nothing changed
 *
 * It may let another pod of the class go (CLASSES in hold.h). A caller whose threads do not wait in
 * a pop looks at words.poppable and words.next_deadline_ns then.
 * Never BUSY: the cycle ends without the worker if another thread is inside it, if it is not
 * registered any more, or in a callback. LOCKFREE: that takes some more exchanges, and the last
 * release of a COUNTED object comes with a later call: a pop that finds a pod, a tick, the
 * unregistration of a worker, or a done that uses its worker. MUTEX: in a callback the pod ends
 * when the call that runs the callback gives up the lock.
 * Threads: [worker], and in callbacks  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_done(schedq_worker_t *worker, schedq_token_t token);

/**
 * Ends many cycles, each as schedq_done does.
 *
 * @param tokens   NULL only if count is 0
 * @param count    elements of `tokens`
 * @param statuses receives what schedq_done would have returned for element i; may be NULL
 * @retval SCHEDQ_OK       all of them are OK (count 0 too)
 * @retval other           the first status of an element that is not OK; the other cycles have
 *                         ended all the same, see `statuses`
 * @retval SCHEDQ_INVALID  tokens is NULL, or as schedq_done; nothing changed, no array is written
 *
 * Threads: [worker], and in callbacks  Progress: locks; O(count).
 */
SCHEDQ_API schedq_status_t schedq_done_many(schedq_worker_t *worker, const schedq_token_t *tokens,
                                            size_t count, uint8_t *statuses);

/**
 * Tells whether a pod in flight still exists: a question before binding. Changes nothing.
 *
 * @param token as schedq_done
 * @retval SCHEDQ_OK     it exists
 * @retval SCHEDQ_GONE   it was deleted meanwhile; done or fail still has to end the cycle
 * @retval SCHEDQ_STALE  the token was used before, or is a group's
 * @retval SCHEDQ_BUSY   nothing was looked at
 *
 * Threads: [worker]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_token_alive(schedq_worker_t *worker, schedq_token_t token);

/** Why a cycle failed. Begin with SCHEDQ_FAILURE_INIT; a default is 0. */
typedef struct schedq_failure {
    uint32_t struct_size; /**< set by SCHEDQ_FAILURE_INIT */
    uint8_t  place;       /**< [host] PARKED, BACKOFF, ACTIVE or GATED; [callbacks] 0 */
    uint8_t  gate;        /**< [host] GATED: 1 + number of the plugin; else 0 */
    uint8_t  own_reasons; /**< 1: its rejectors say nothing about the others of its class
                               (CLASSES in hold.h), which are tried; default 0. Without a class, or
                               rejectors, it has no effect */
    uint8_t  reserved;    /**< zero */
    uint64_t unschedulable; /**< bits of the plugins that rejected it, in its profile; 0 here and in
                                 `pending`: an error; bits that were never given out: INVALID */
    uint64_t pending;       /**< bits of the rejectors that only wait for something: if a hint of
                                 one says QUEUE, the pod skips its backoff */
    uint64_t judged_up_to;  /**< [host] `place` takes into account every event in (popped.seen,
                                 this]. An event whose sequence is drawn, and that is not in the
                                 host's log yet, has to count as one that helps */
    const schedq_pod_spec_t *newest; /**< the pod's description from now on: object, priority,
                                          nomination, flags, order_key, not_before_ns, class_id
                                          (profile, gate, timestamp_ns, judged_up_to, label and
                                          group are ignored); NULL: the description stays */
} schedq_failure_t;

/** The defaults. */
#define SCHEDQ_FAILURE_INIT                                          \
    {                                                                \
        sizeof(schedq_failure_t), SCHEDQ_NOWHERE, 0, 0, 0, 0, 0, 0, NULL \
    }

/**
 * Ends a cycle without success. The pod is parked, backs off, is gated, or is tried again because
 * of an event during the cycle. A member of a group is aside, whatever rejected it (group.h). A pod
 * that would be parked is HELD if another one of its class waits, rejected (CLASSES in hold.h).
 *
 * Never FULL: its space was taken when it was added. The Timestamp becomes now. The call takes the
 * token when it begins: from then on a done of another thread with the same token gets STALE.
 *
 * [host] BACKOFF acts as ERROR_BACKOFF after an error, and as ACTIVE if the configuration gives no
 * backoff. PARKED and GATED hold only if the pod was not activated, and no event after judged_up_to
 * stamped a rejector (GATED: the gate; no rejectors: any event counts); else RETRY. The host asks
 * PreEnqueue before ACTIVE, and with pop_from_backoff before BACKOFF too. A gate's bit joins
 * unschedulable.
 * @param token   in and out: while the pod stays in flight (RETRY, NOMEM, INVALID, BUSY), *token
 *                is the token of its cycle
 * @param failure why, and [host] where the pod goes
 * @retval SCHEDQ_OK       `result` tells where the pod is; the token is used up
 * @retval SCHEDQ_RETRY    [host] judge the events up to result->sequence, then call again; *token
 *                         is a new token, the old one is used up
 * @retval SCHEDQ_GONE     it was deleted meanwhile; the token is used up
 * @retval SCHEDQ_STALE    the token was used before, is a group's, or is in use by a call that has
 *                         not returned; nothing changed
 * @retval SCHEDQ_NOMEM    *token may be a new token, the old one is used up then; nothing else
 *                         changed
 * @retval SCHEDQ_INVALID  nothing changed, *token is as it was
 * @retval SCHEDQ_BUSY     nothing changed, *token is as it was
 *
 * What was done before this call happens before the return of the pop that takes the pod next.
 * Threads: [worker]  Progress: locks; O(log n + events since its pop, if one concerns its
 *                    rejectors).
 */
SCHEDQ_API schedq_status_t schedq_fail(schedq_worker_t *worker, schedq_token_t *token,
                                       const schedq_failure_t *failure, schedq_result_t *result);

/**
 * Puts back a pod that failed after its done (in binding), with its history. It is never parked.
 *
 * [callbacks] It backs off, or is active if no backoff is left. PreEnqueue is asked before it is
 * active, and with pop_from_backoff before it backs off too.
 * @param name    as schedq_add, and length
 * @param spec    as in schedq_add; gate must be 0; timestamp_ns (at least 0) and judged_up_to are
 *                ignored
 * @param history counters and times before this failure, which is added to them. The Timestamp
 *                becomes now; with config.keep_order it is ordered by history->timestamp_ns
 * @param failure as in schedq_fail; newest must be NULL, since `spec` is the newest; [host] place
 *                ACTIVE, BACKOFF or GATED, with gate and judged_up_to
 * @retval SCHEDQ_OK       it is active, backs off or is gated (result->place). Or it is HELD until
 *                         not_before_ns, or, a member of a group, ASIDE, as with schedq_add
 * @retval SCHEDQ_EXISTS   a pod in any place has this name: `result` describes it; nothing changed
 * @retval SCHEDQ_RETRY    [host] GATED, and an event after failure->judged_up_to stamped the gate:
 *                         ask PreEnqueue again; nothing changed
 * @retval SCHEDQ_CLOSED   nothing changed
 * @retval SCHEDQ_FULL     max_pods or max_bands; nothing changed
 * @retval SCHEDQ_NOMEM    nothing changed
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; O(log n); allocates.
 */
SCHEDQ_API schedq_status_t schedq_readd(schedq_worker_t *worker, const char *name, size_t length,
                                        const schedq_pod_spec_t *spec,
                                        const schedq_history_t *history,
                                        const schedq_failure_t *failure, schedq_result_t *result);

#ifdef __cplusplus
}
#endif

#endif
