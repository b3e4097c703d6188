/** @file
 * schedq/clock: a queue's time, and the threads that serve it.
 *
 * A pod whose time has come moves when a thread serves time: the timer thread (schedq_run), one
 * that waits in a pop, or one that calls schedq_tick.
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
 * Callbacks may call it, except config.clock.now_ns. So may a child after fork.
 * @retval 0 queue is NULL
 *
 * Threads: [queue]  Progress: wait-free, but for config.clock.now_ns.
 */
SCHEDQ_API int64_t schedq_now(schedq_t *queue);

/**
 * Serves time: pods whose backoff is over become active, leftovers are tried again.
 *
 * With kube_minor leftovers are tried in flushes, at least flush_ns apart. A flush counts as one
 * SCHEDQ_EVENT_WILDCARD for the pods in flight, also if it found only gated pods.
 *
 * [host] With pop_from_backoff 0 it leaves due backoff to schedq_candidates and schedq_apply
 * (result->left); *next_ns stays in the past until the host has applied it. It leaves leftovers to
 * the host, too; they do not count in *next_ns.
 * @param next_ns receives when to call again, on the queue's clock (SCHEDQ_NO_DEADLINE); or NULL
 * @param result  counts; `poppable` is 1 if any pod, or a group, is poppable now
 * @retval SCHEDQ_OK     all that was due was served, or left to the host
 * @retval SCHEDQ_NOMEM  (never with MUTEX) some pods stay due, and *next_ns is not after now; or
 *                       what an earlier call changed has not reached all pods, and *next_ns is at
 *                       most half a second from now. The call may be made again
 * @retval SCHEDQ_BUSY   nothing changed
 *
 * Threads: [worker]  Progress: locks; O(pods that are due * log n); a flush: + gated pods.
 */
SCHEDQ_API schedq_status_t schedq_tick(schedq_worker_t *worker, int64_t *next_ns,
                                       schedq_result_t *result);

/**
 * Starts the timer thread. It serves time as schedq_tick does, 256 pods at a time.
 *
 * It sleeps while nothing is due. If memory is missing it tries again, after pauses of up to
 * 2 s. It leaves to the host what only the host can end. It has a worker until schedq_stop, so it
 * ends setup. All signals are blocked in it.
 * @retval SCHEDQ_OK       it runs
 * @retval SCHEDQ_EXISTS   it runs already, or another call is starting or ending it; nothing
 *                         changed
 * @retval SCHEDQ_FULL     max_workers are registered; nothing changed
 * @retval SCHEDQ_NOMEM    no memory, or the system gives no thread; nothing changed
 * @retval SCHEDQ_CLOSED   the queue is closed, and it does not run; nothing changed
 * @retval SCHEDQ_INVALID  virtual or external clock; nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: locks; allocates.
 */
SCHEDQ_API schedq_status_t schedq_run(schedq_t *queue, char *why, size_t why_size);

/**
 * Ends the timer thread, and waits for its end.
 *
 * @retval SCHEDQ_OK    also if none runs; or, without waiting, if another schedq_stop is ending it
 * @retval SCHEDQ_BUSY  called from a callback; nothing changed
 *
 * Threads: [queue]  Progress: locks, and waits for the thread.
 */
SCHEDQ_API schedq_status_t schedq_stop(schedq_t *queue);

/**
 * Raises words.now_ns to `now_ns`, never back (config.external_clock).
 *
 * It serves no time and wakes no waiting pop: schedq_tick does.
 * @param now_ns nanoseconds, the new reading of the queue's clock
 * @retval SCHEDQ_OK       words.now_ns is `now_ns`, or was later already
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
