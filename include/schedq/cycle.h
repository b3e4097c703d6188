/**
 * schedq/cycle: one try of a pod. A worker pops it, looks for a place, and says done or fail.
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
 * Not a handle: the types differ, so that mixing them does not compile.
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
    uint32_t errors;             /**< failures without one since the last rejection */
    uint32_t reserved; /**< zero */
} schedq_history_t;

/** A popped pod: the caller's, until it uses the token. Layout frozen (128 bytes). */
typedef struct schedq_popped {
    schedq_token_t token;         /**< names this cycle: for done, fail, get */
    schedq_pod_t   pod;           /**< its handle */
    uint64_t       object;        /**< COUNTED: one reference is the caller's, which using the token
                                       gives back */
    const char    *name;          /**< its name and a NUL; the queue's memory, valid until
                                       done or fail ends the cycle (OK, GONE), also
                                       after a deletion */
    uint32_t       name_length;   /**< bytes, without the NUL */
    int32_t        priority;      /**< as at this pop */
    schedq_history_t history;     /**< this pop is counted in its attempts */
    uint64_t       unschedulable; /**< what had rejected it until now; the pod's own sets are empty
                                       from here on */
    uint64_t       pending;       /**< the same */
    /** [host] events after this sequence happened during the cycle */
    uint64_t       seen;
    uint64_t       cycle;         /**< 1, 2, ...; 0 unless config.count_cycles */
    uint64_t       nominated_node; /**< where it is nominated; 0 = nowhere */
    int64_t        backoff_expiry_ns; /**< end of its last backoff as compared; 0 = it had none */
    /** 1: nothing was active, and it was taken out of backoff, over or not */
    uint8_t        from_backoff;
    uint8_t        more;          /**< 1: something else is poppable (LOCKFREE: perhaps): pass the
                                       wake-up on */
    schedq_profile_t profile;     /**< whose plugins judge it */
    uint8_t        flags;         /**< SCHEDQ_POD_* */
    uint8_t        reserved[4]; /**< zero */
} schedq_popped_t;

/* ---- pop ------------------------------------------------------------------------------------- */

/**
 * Takes the best pod, without waiting.
 *
 * It does not serve time: a due backoff stays until schedq_tick, a pop that waits, or the timer
 * thread.
 * @param out written with OK only
 * @retval SCHEDQ_OK       the pod is in flight, and the caller's until it uses out->token
 * @retval SCHEDQ_EMPTY    nothing is poppable
 * @retval SCHEDQ_CLOSED   the queue is closed, and nothing is poppable
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * What was done before the pod was added, failed or moved happens before the return.
 * Threads: [worker]  Progress: locks; O(log n).
 */
SCHEDQ_API schedq_status_t schedq_try_pop(schedq_worker_t *worker, schedq_popped_t *out);

/**
 * Takes up to `capacity` of the best pods, without waiting.
 *
 * @param out      room for `capacity`; the first *count are written
 * @param capacity at least 1
 * @param count    receives how many
 * @retval SCHEDQ_OK       *count is at least 1; each as from schedq_try_pop
 * @retval SCHEDQ_EMPTY    nothing is poppable; *count is 0
 * @retval SCHEDQ_CLOSED   the queue is closed, and nothing is poppable; *count is 0
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [worker]  Progress: locks; O(capacity log n).
 */
SCHEDQ_API schedq_status_t schedq_try_pop_many(schedq_worker_t *worker, schedq_popped_t *out,
                                               size_t capacity, size_t *count);

/**
 * Takes the best pod, waits for one if there is none.
 *
 * While it waits it serves time as schedq_tick does, if no other thread does: up to 256 pods, then
 * it looks for its pod again (a flush asks the gates of all old gated pods at once). The worker is
 * inside a call all the while. While nothing happens, one of all waiting pops looks in 2 s
 * (LOCKFREE), or none (MUTEX). With a virtual or external clock it sleeps untimed and looks again
 * at every schedq_tick.
 * @param out written with OK only
 * @retval SCHEDQ_OK        as schedq_try_pop
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable
 * @retval SCHEDQ_INVALID   nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: locks, and waits while there is nothing to pop; O(log n).
 */
SCHEDQ_API schedq_status_t schedq_pop(schedq_worker_t *worker, schedq_popped_t *out);

/**
 * Takes the best pod, waits for one for at most so long. As schedq_pop otherwise.
 *
 * @param wait_ns nanoseconds of the queue's clock, at least 0; 0: one look
 * @param out     written with OK only
 * @retval SCHEDQ_OK        as schedq_try_pop
 * @retval SCHEDQ_TIMEDOUT  the time is over, and nothing is poppable
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable
 * @retval SCHEDQ_INVALID   also a negative wait_ns; nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: as schedq_pop.
 */
SCHEDQ_API schedq_status_t schedq_pop_for(schedq_worker_t *worker, int64_t wait_ns,
                                          schedq_popped_t *out);

/**
 * Takes the best pod, waits for one until a time. As schedq_pop otherwise.
 *
 * @param deadline_ns on the queue's clock (schedq_now); SCHEDQ_NO_DEADLINE: none; one that has
 *                    passed: one look
 * @param out         written with OK only
 * @retval SCHEDQ_OK        as schedq_try_pop
 * @retval SCHEDQ_TIMEDOUT  the deadline passed, and nothing is poppable
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable
 * @retval SCHEDQ_INVALID   nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: as schedq_pop.
 */
SCHEDQ_API schedq_status_t schedq_pop_until(schedq_worker_t *worker, int64_t deadline_ns,
                                            schedq_popped_t *out);

/**
 * Takes up to `capacity` of the best pods, waits for the first if there is none. As schedq_pop
 * otherwise.
 *
 * It does not wait for more than one: it takes what is there.
 * @param out      room for `capacity`; the first *count are written
 * @param capacity at least 1
 * @param count    receives how many; 0 with any status but OK, INVALID and BUSY
 * @retval SCHEDQ_OK        *count is at least 1; each as from schedq_try_pop
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable
 * @retval SCHEDQ_INVALID   nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: locks, and waits while there is nothing to pop; O(capacity log n).
 */
SCHEDQ_API schedq_status_t schedq_pop_many(schedq_worker_t *worker, schedq_popped_t *out,
                                           size_t capacity, size_t *count);

/**
 * Takes up to `capacity` of the best pods, waits for the first for at most so long. As
 * schedq_pop_many otherwise.
 *
 * @param wait_ns nanoseconds of the queue's clock, at least 0; 0: one look
 * @retval SCHEDQ_OK        *count is at least 1; each as from schedq_try_pop
 * @retval SCHEDQ_TIMEDOUT  the time is over, and nothing is poppable
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable
 * @retval SCHEDQ_INVALID   also a negative wait_ns; nothing changed
 * @retval SCHEDQ_BUSY      nothing changed
 *
 * Threads: [worker]  Progress: as schedq_pop_many.
 */
SCHEDQ_API schedq_status_t schedq_pop_many_for(schedq_worker_t *worker, int64_t wait_ns,
                                               schedq_popped_t *out, size_t capacity,
                                               size_t *count);

/**
 * Takes up to `capacity` of the best pods, waits for the first until a time. As schedq_pop_many
 * otherwise.
 *
 * @param deadline_ns as for schedq_pop_until
 * @retval SCHEDQ_OK        *count is at least 1; each as from schedq_try_pop
 * @retval SCHEDQ_TIMEDOUT  the deadline passed, and nothing is poppable
 * @retval SCHEDQ_CANCELED  schedq_wait_cancel; nothing was taken
 * @retval SCHEDQ_CLOSED    the queue is closed, and nothing is poppable
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
 * Ends a pod that was placed; its nomination ends.
 *
 * @retval SCHEDQ_OK     the pod left the queue; the token is used up
 * @retval SCHEDQ_GONE   it was deleted meanwhile; the token is used up
 * @retval SCHEDQ_STALE  the token was used before, or by a failure whose callback this is; nothing
 *                       changed
 *
 * Never BUSY: if another thread is inside the worker, if the worker is not registered any more, or
 * in a callback of the queue, the cycle ends without the worker. LOCKFREE: with some more
 * exchanges; a COUNTED object's last release comes with a later done, tick or unregistration.
 * MUTEX: in a callback the pod ends when the call that runs the callback gives up the lock.
 * Threads: [worker], and in callbacks  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_done(schedq_worker_t *worker, schedq_token_t token);

/**
 * Ends many pods, each as schedq_done does.
 *
 * @param statuses receives what schedq_done would have returned for element i; may be NULL
 * @retval SCHEDQ_OK       all of them are OK (count 0 too)
 * @retval other           the first element's status that is not OK; the others were still ended,
 *                         see `statuses`
 * @retval SCHEDQ_INVALID  tokens is NULL; nothing changed
 *
 * Never BUSY, as schedq_done.
 * Threads: [worker], and in callbacks  Progress: locks; O(count).
 */
SCHEDQ_API schedq_status_t schedq_done_many(schedq_worker_t *worker, const schedq_token_t *tokens,
                                            size_t count, uint8_t *statuses);

/**
 * Asks before binding whether the pod still exists; changes nothing.
 *
 * @retval SCHEDQ_OK     it does
 * @retval SCHEDQ_GONE   it was deleted meanwhile; the token still has to be used
 * @retval SCHEDQ_STALE  the token was used before
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
    uint8_t  reserved[2]; /**< zero */
    uint64_t unschedulable; /**< bits of the plugins that rejected it, in its profile; both 0: it
                                 failed with an error; bits that were never given out: INVALID */
    uint64_t pending;       /**< bits of the plugins that wait for something: a hint of theirs skips
                                 the backoff */
    uint64_t judged_up_to;  /**< [host] `place` judges every event in (seen, this]; one that was
                                 drawn but is not in the host's log yet counts as one that helps */
    const schedq_pod_spec_t *newest; /**< replaces what pop, or an update during the flight, left:
                                          object, priority, nomination, flags, order_key (profile,
                                          gate and times are ignored); NULL: nothing does */
} schedq_failure_t;

#define SCHEDQ_FAILURE_INIT                                          \
    {                                                                \
        sizeof(schedq_failure_t), SCHEDQ_NOWHERE, 0, {0, 0}, 0, 0, 0, NULL \
    }

/**
 * Ends a cycle without success: parks the pod, lets it back off, or retries it because of an event
 * during its flight.
 *
 * Never FULL: its space was taken at admission. The Timestamp becomes now.
 *
 * The call takes the token when it begins: a done of another thread with the same one gets STALE
 * from then on. [host] BACKOFF acts as ACTIVE if the configuration leaves no backoff, which begins
 * with this call; as ERROR_BACKOFF after an error. PARKED and GATED only if no stamp of a rejector
 * (GATED: of the gate; no rejectors: of any event) is newer than judged_up_to and the pod was not
 * activated; else RETRY. The host asks PreEnqueue before ACTIVE, and before BACKOFF too with
 * pop_from_backoff; a gate's bit joins unschedulable.
 * @param token in and out: RETRY leaves the pod in flight and the caller's, under the token that is
 *              stored here
 * @retval SCHEDQ_OK       `result` tells where; the token is used up
 * @retval SCHEDQ_RETRY    [host] judge up to result->sequence, call again; the token that was
 *                         passed is used up, *token is the next
 * @retval SCHEDQ_GONE     it was deleted meanwhile; the token is used up
 * @retval SCHEDQ_STALE    the token was used before, or by a call that has not returned; nothing
 *         changed
 * @retval SCHEDQ_NOMEM    the pod stays in flight under *token, the token that was passed is used
 *                         up; nothing else changed
 * @retval SCHEDQ_INVALID  the same
 * @retval SCHEDQ_BUSY     the same
 *
 * What was done before this call happens before the return of the pop that takes the pod next.
 * Threads: [worker]  Progress: locks; O(log n + events since its pop, if one concerns its
 *                    rejectors).
 */
SCHEDQ_API schedq_status_t schedq_fail(schedq_worker_t *worker, schedq_token_t *token,
                                                    const schedq_failure_t *failure,
                                                    schedq_result_t *result);

/**
 * Puts back a pod that failed after its done (binding): it comes with its history and is never
 * parked.
 *
 * [callbacks] It backs off (through PreEnqueue if pop takes from backoff), or is active, through
 * PreEnqueue, if no backoff is left.
 * @param name    as schedq_add, and length
 * @param spec    as in schedq_add; timestamp_ns (at least 0) and judged_up_to are ignored, gate
 *                must be 0
 * @param history counters and times before this failure; the failure is counted on top. Timestamp
 *                becomes now; with config.keep_order it is ordered by history->timestamp_ns
 * @param failure as in schedq_fail; newest must be NULL: `spec` is the newest; [host] place
 *                ACTIVE, BACKOFF or GATED, with gate and judged_up_to
 * @retval SCHEDQ_OK       it is active, backs off or is gated (result->place)
 * @retval SCHEDQ_EXISTS   this name is in the queue, in any place: `result` describes that pod;
 *                         nothing changed
 * @retval SCHEDQ_RETRY    [host] GATED, and the gate has a stamp newer than failure->judged_up_to:
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
