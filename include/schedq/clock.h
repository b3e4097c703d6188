/**
 * schedq/clock: a queue's time, and who serves it.
 *
 * Pods whose time has come move while a thread serves time: the queue's own (schedq_run), one that
 * waits in a pop, or one that calls schedq_tick.
 */
#ifndef SCHEDQ_CLOCK_H
#define SCHEDQ_CLOCK_H

#include <schedq/pod.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns the time on the queue's clock, in nanoseconds.
 *
 * Callbacks may call it, except config.clock.now_ns.
 * @retval 0 queue is NULL
 *
 * Threads: [queue]  Progress: wait-free, but for config.clock.now_ns.
 */
SCHEDQ_API int64_t schedq_now(schedq_t *queue);

/**
 * Does what time demands: due backoff becomes active, pods parked for too long are tried again.
 *
 * With kube_minor, leftovers are left alone until flush_ns after the last flush that found one. A
 * flush is an event for the pods in flight (SCHEDQ_EVENT_WILDCARD), once, also if only gated pods
 * were old. [host] due backoff is left to schedq_candidates and schedq_apply if pop_from_backoff is
 * 0 (result->left; next_ns stays in the past until it is applied). So are leftovers, always; they
 * do not count in next_ns, the host looks for them when it wants to.
 * @param next_ns receives when it is wanted again, on the queue's clock, or SCHEDQ_NO_DEADLINE; may
 *         be NULL
 * @param result  counts; its `poppable` says whether anything is poppable at all
 * @retval SCHEDQ_OK     what was due was dealt with
 * @retval SCHEDQ_NOMEM  (never with MUTEX) the rest stays due
 * @retval SCHEDQ_BUSY   nothing changed
 *
 * Threads: [worker]  Progress: locks; O(pods that are due * log n).
 */
SCHEDQ_API schedq_status_t schedq_tick(schedq_worker_t *worker, int64_t *next_ns,
                                       schedq_result_t *result);

/**
 * Starts the timer thread, which does what schedq_tick does when it is due, 256 pods at a time.
 *
 * It sleeps while nothing is due. What it cannot serve now (memory is missing) it tries again after
 * pauses that grow to 2 s; what only the host can end it leaves alone.
 * It takes a worker slot until schedq_stop, so it ends setup. All signals are blocked in it.
 * @retval SCHEDQ_OK       it runs
 * @retval SCHEDQ_EXISTS   it runs already
 * @retval SCHEDQ_FULL     max_workers; nothing changed
 * @retval SCHEDQ_NOMEM    no memory, or no thread; nothing changed
 * @retval SCHEDQ_CLOSED   nothing changed
 * @retval SCHEDQ_INVALID  virtual or external clock; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: locks; allocates.
 */
SCHEDQ_API schedq_status_t schedq_run(schedq_t *queue, char *why, size_t why_size);

/**
 * Ends and joins the timer thread.
 *
 * @retval SCHEDQ_OK    also if none runs, or another schedq_stop is ending it (then without
 *         waiting)
 * @retval SCHEDQ_BUSY  called from a callback; nothing changed
 *
 * Threads: [queue]  Progress: locks, and waits for the thread.
 */
SCHEDQ_API schedq_status_t schedq_stop(schedq_t *queue);

/**
 * Raises words.now_ns to `now_ns`, never back.
 *
 * It wakes no sleeper: schedq_tick does.
 * @retval SCHEDQ_OK       also if words.now_ns was later already
 * @retval SCHEDQ_INVALID  the queue has no external_clock; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: lock-free.
 */
SCHEDQ_API schedq_status_t schedq_clock_advance(schedq_t *queue, int64_t now_ns);

#ifdef __cplusplus
}
#endif

#endif
