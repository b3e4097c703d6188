/** @file
 * schedq/wait: waiting for pods in an event loop, and ending one worker's wait.
 *
 * A thread that has nothing else to do waits in schedq_pop. A thread that also waits for sockets,
 * timers or children waits in its event loop (poll, epoll, libuv). For it the queue has a
 * descriptor (schedq_wait_fd), a callback (schedq_wait_callback), and the time of the next
 * schedq_tick (schedq_next_deadline).
 *
 * THE LOOP
 *   fd = schedq_wait_fd; add it to the loop, for reading
 *   for ever
 *       schedq_try_pop until it returns EMPTY, but 64 times at most; work on the pods
 *       if it returned CLOSED: leave the loop
 *       timeout = schedq_next_deadline - schedq_now; poll(fd and others, timeout)
 *       if the deadline has passed: schedq_tick
 *
 * There is nothing to arm or to drain: the pop that returns EMPTY does it. A loop that goes back to
 * poll before EMPTY finds the descriptor readable, and comes again. A loop that pops without a
 * bound hears neither its timers nor the queue's while there are pods. Several loops may share one
 * queue and its descriptor: while a pod is poppable, each of them is woken. (With EPOLLEXCLUSIVE
 * not each of them. Without it some are woken for a pod that another has taken.)
 *
 * GROUPS. A loop that takes groups calls schedq_try_pop_group instead of schedq_try_pop. So must
 * each other loop on this queue, and each thread that pops without waiting. The reason:
 * schedq_try_pop passes groups by, and when it returns EMPTY the descriptor becomes unreadable,
 * even if a group is poppable. Pops that wait leave the descriptor alone.
 *
 * TIME. While all threads wait in loops, none serves time. So one of them calls schedq_tick at
 * schedq_next_deadline, or schedq_run starts the timer thread. The timeout need not be exact. It
 * goes into poll's milliseconds, rounded up, or into a timerfd (TFD_TIMER_ABSTIME on
 * CLOCK_MONOTONIC, which is the queue's clock unless config says otherwise).
 */
#ifndef SCHEDQ_WAIT_H
#define SCHEDQ_WAIT_H

#include <schedq/cycle.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Gives the queue's descriptor for poll and the like. It is readable while a pod is poppable.
 *
 * It becomes readable
 *   at the first call of this;
 *   when a pod becomes poppable;
 *   when schedq_next_deadline becomes sooner, and no timer thread runs;
 *   at schedq_close, for ever.
 * It stays readable until schedq_try_pop, schedq_try_pop_many or schedq_try_pop_group returns
 * EMPTY; the first two pass groups by (GROUPS above). Pops that wait leave it alone. It may be
 * readable although no pod is poppable: another thread took the pod. Only the first add after that
 * EMPTY makes a system call for it. (LOCKFREE: a second may, while the first is about to. If a
 * thread, in schedq_close too, stops for ever before its system call, the next add or tick makes
 * it.)
 * Do not read, write or close it. All calls give the same one; it ends with the queue.
 * @param fd receives the descriptor: an eventfd(2), close-on-exec; written with OK only
 * @retval SCHEDQ_OK       *fd is the queue's until schedq_destroy
 * @retval SCHEDQ_NOMEM    the system has no descriptor to give (`why` says which limit); the same
 *                         call may be made again
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: locks; a system call.
 */
SCHEDQ_API schedq_status_t schedq_wait_fd(schedq_t *queue, int *fd, char *why, size_t why_size);

/**
 * Sets a callback for loops that are woken by a call (uv_async_send). The queue calls it when
 * schedq_wait_fd's descriptor would become readable.
 *
 * After each call of `wake`, and once at the beginning, pop until EMPTY: else it is not called
 * again. It runs inside the call for which the descriptor would become readable, on that call's
 * thread (CALLBACKS in schedq/schedq.h): it must return soon. That may be any call. Several threads
 * may be in it at once, and it may be called for nothing. A queue may have a descriptor too.
 * @param wake stays until another replaces it, or until schedq_destroy
 * @param ctx  passed to wake
 * @retval SCHEDQ_OK       it is called from now on
 * @retval SCHEDQ_INVALID  wake is NULL; nothing changed
 * @retval SCHEDQ_BUSY     a worker is registered, or called from a callback; nothing changed
 *
 * Threads: [setup]  Progress: locks.
 */
SCHEDQ_API schedq_status_t schedq_wait_callback(schedq_t *queue, void (*wake)(void *ctx), void *ctx,
                                                char *why, size_t why_size);

/**
 * Returns when to call schedq_tick: nanoseconds on the queue's clock.
 *
 * It may be too early, as words.next_deadline_ns; schedq_tick sets it right. Read it after the pop
 * that returned EMPTY: if it becomes sooner later, the descriptor becomes readable.
 * @retval SCHEDQ_NO_DEADLINE  nothing will be due; or queue is NULL, or called from a callback
 * @retval other               now, or later; now if it has passed
 *
 * Threads: [queue]  Progress: wait-free, but for config.clock.now_ns.
 */
SCHEDQ_API int64_t schedq_next_deadline(schedq_t *queue);

/**
 * Ends the wait of one worker: its waiting pop, or else its next one, returns SCHEDQ_CANCELED and
 * takes nothing.
 *
 * "Waiting pops" are schedq_pop, schedq_pop_many, their _for and _until, schedq_pop_group_for and
 * schedq_pop_group_until. Exactly one of them returns CANCELED, even if a pod or a group is
 * poppable, and even if its deadline has passed. One that has taken a pod or a group when this is
 * called returns OK, and the next one CANCELED. Several cancels before one is answered are one. No
 * pod waits longer for it: a wake-up that the worker got meanwhile goes to another.
 * @param worker registered, also during the whole call. (A new registration has no cancel
 *               outstanding)
 * @retval SCHEDQ_OK       the cancel is outstanding, or was answered already
 * @retval SCHEDQ_INVALID  worker is NULL
 * @retval SCHEDQ_BUSY     called from a callback; nothing changed
 *
 * Threads: [queue], also while `worker` is inside a call  Progress: locks. (MUTEX: all waiting
 *          threads look once.)
 */
SCHEDQ_API schedq_status_t schedq_wait_cancel(schedq_worker_t *worker);

#ifdef __cplusplus
}
#endif

#endif
