/**
 * schedq/wait: waiting for pods in an event loop, and ending one thread's wait.
 *
 * A thread that has nothing else to do waits in schedq_pop. One that also waits for sockets, timers
 * or children waits in its event loop (poll, epoll, libuv): the queue gives it a descriptor
 * (schedq_wait_fd), or calls it back (schedq_wait_callback), and says when time is wanted
 * (schedq_next_deadline).
 *
 * THE LOOP
 *   fd = schedq_wait_fd; add it to the loop, for reading
 *   for ever
 *       schedq_try_pop until it says EMPTY; work on the pods
 *       timeout = schedq_next_deadline - the queue's time; poll(fd and others, timeout)
 *       if the deadline has passed: schedq_tick
 *
 * There is nothing to arm or to drain: the pop that says EMPTY does it. A loop that goes back to
 * poll before EMPTY finds the descriptor readable, and comes again. So several loops may share one
 * queue and its descriptor: while something can be popped, each of them is woken. (With
 * EPOLLEXCLUSIVE not each; without it some are woken for a pod that another has taken.)
 *
 * TIME. Nobody serves time while all threads wait in loops: one of them calls schedq_tick when it
 * is wanted, or schedq_run starts a thread for it; then schedq_next_deadline is of no interest. The
 * timeout need not be exact, and goes into poll's milliseconds rounded up, or into a timerfd
 * (TFD_TIMER_ABSTIME on CLOCK_MONOTONIC, which is the queue's clock unless config says otherwise).
 */
#ifndef SCHEDQ_WAIT_H
#define SCHEDQ_WAIT_H

#include <schedq/cycle.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Gives the queue's descriptor for poll and the like: it is readable while something can be popped.
 *
 * It is readable
 *   from the first pod that becomes poppable after a pop said EMPTY, until the next pop says so
 *       (schedq_try_pop or the one for many; pops that wait leave it alone);
 *   when schedq_next_deadline becomes sooner, and no timer thread runs: then too until a pop says
 *       EMPTY;
 *   at first, and for ever after schedq_close.
 * It may be readable although nothing can be popped: another thread took the pod. An add makes a
 * system call for it only if no pod was told of since a pop said EMPTY. (LOCKFREE: one more may,
 * while another thread is about to make it. What a thread had to tell that stops for ever there,
 * the next add or tick tells.)
 * Do not read, write or close it. All calls give the same one; it ends with the queue.
 * @param fd receives the descriptor: an eventfd(2), close-on-exec
 * @retval SCHEDQ_OK       *fd is the queue's until schedq_destroy
 * @retval SCHEDQ_NOMEM    the system has no descriptor to give (`why` says which limit); *fd is not
 *                         set; the same call may be made again
 * @retval SCHEDQ_INVALID  nothing changed
 * @retval SCHEDQ_BUSY     nothing changed
 *
 * Threads: [queue]  Progress: locks; a system call.
 */
SCHEDQ_API schedq_status_t schedq_wait_fd(schedq_t *queue, int *fd, char *why, size_t why_size);

/**
 * Has `wake` called when schedq_wait_fd's descriptor would become readable: for loops that are
 * woken by a call (uv_async_send).
 *
 * After each call of it, and once at the beginning, pop until EMPTY: else it is not called again.
 * It runs on the thread that makes something poppable, inside that thread's call: it must return
 * soon, and must not call the queue (SCHEDQ_BUSY). Several threads may be in it at once, and it may
 * be called for nothing. A queue may have a descriptor besides.
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
 * Says when schedq_tick is wanted, on the queue's clock.
 *
 * Like words.next_deadline_ns it may be too early: then a tick sets it right. Read it after the pop
 * that said EMPTY: if it becomes sooner later, the descriptor becomes readable.
 * @retval SCHEDQ_NO_DEADLINE  never, as things are; or queue is NULL, or called from a callback
 * @retval other               never before now: one that has passed is given as now
 *
 * Threads: [queue]  Progress: wait-free.
 */
SCHEDQ_API int64_t schedq_next_deadline(schedq_t *queue);

/**
 * Ends the wait of one worker: its waiting pop, or else its next one, returns SCHEDQ_CANCELED and
 * takes nothing.
 *
 * Exactly one does: a waiting pop that begins after this call and before another has said CANCELED
 * says it, also if there is something to pop, and if its deadline has passed. One that has taken a
 * pod already when this is called says OK, and the next one CANCELED. Several cancels before one
 * was answered are one. Calls that do not wait are not concerned. No pod waits longer for it: a
 * wake-up that the worker got with it goes to another.
 * @param worker registered; not unregistered during the call. (A worker that is registered anew has
 *               no cancel outstanding)
 * @retval SCHEDQ_OK       the cancel is outstanding, or was answered already
 * @retval SCHEDQ_INVALID  worker is NULL
 * @retval SCHEDQ_BUSY     called from a callback; nothing changed
 *
 * Threads: any thread, at any time, also while `worker` is inside a call.  Progress: locks. (MUTEX:
 *          all waiting threads look once.)
 */
SCHEDQ_API schedq_status_t schedq_wait_cancel(schedq_worker_t *worker);

#ifdef __cplusplus
}
#endif

#endif
