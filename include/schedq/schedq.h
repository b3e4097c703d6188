/** @file
 * schedq: which pod (job, task) does a scheduler look at next.
 *
 * A pod is what a scheduler has to place: 64 bits of the caller's, a name, a priority. A queue
 * keeps every pod that is not placed yet in exactly one place:
 *
 *   active    may be taken next
 *   backoff   its last try failed; it waits until its backoff is over
 *   parked    its last try was rejected; it waits for a change that could help
 *   gated     a plugin keeps it out
 *   in flight popped; its cycle has not ended
 *   held      kept back by a call, or until a time (schedq/hold.h)
 *   aside     waits for the others of its group (schedq/group.h)
 *
 * `pop` takes the best active pod. The pod's cycle ends with `done` (placed) or `fail` (not now).
 * An event brings back the parked pods that it could help (schedq/events.h). This is what
 * SchedulingQueue does in kube-scheduler. Use schedq when a scheduler must keep popping in priority
 * order while many pods wait for events or for time. Do not use it as a general work queue: every
 * pod costs a name, a history and a place.
 *
 * TERMS. A pod's Timestamp is when it entered the queue, or when it failed last. A plugin is a test
 * that pods have to pass; a rejector of a pod is a plugin that rejected it. A plugin's number
 * counts from 0; its bit is 1 << number. A pod's holder is the caller that popped it and has its
 * token. "Waiting" is backoff, parked or gated. A leftover is a pod that was parked for longer than
 * config.max_parked_ns. [callbacks] marks what holds only with SCHEDQ_DECIDE_CALLBACKS, [host] what
 * holds only with SCHEDQ_DECIDE_HOST, LOCKFREE and MUTEX what holds only with that engine.
 *
 * GUARANTEES
 *   order    higher priority first (any int32), then older Timestamp, then the pod that got its
 *            Timestamp first. A caller's order key replaces the Timestamp. A pop never returns a
 *            pod while a pod that ranks before it was active during the whole of that call.
 *            (LOCKFREE: of two adds that overlap, the one that ends first may rank first.)
 *            (config.fifo: priorities do not count. SCHEDQ_ORDER_RELAXED: only they count. Pods
 *            whose Timestamp is INT64_MAX, the end of time, tie.)
 *   once     a pod is in exactly one place. It stays in the queue until one done or one delete ends
 *            it. (schedq_destroy_with_pods ends all.)
 *   events   a change whose schedq_notify ([host] schedq_event_begin) starts after a pod was popped
 *            reaches that pod, before or after it is parked. The memory for that does not grow with
 *            the number of changes.
 *   time     a due pod becomes active at most tick_ns after its expiry, plus the time to move the
 *            pods due before it. That holds while a thread calls schedq_tick, waits in a pop, or is
 *            the timer thread. (backoff_window: at the next whole second. [host] with
 *            pop_from_backoff 0: when the host applies it.) If the timer thread stops for ever,
 *            waiting pops serve time, tick_ns later. LOCKFREE: one waiting pop watches time for
 *            all. If its thread stops for ever, pods are late once: until another waiting pop looks
 *            by itself (within 2 s times the number of waiting pops), or, after the watched time, a
 *            pod becomes the next to be due. A pod is due when it becomes a leftover; with
 *            kube_minor leftovers are tried in flushes: at most flush_ns after they became that.
 *   host     no global state but the default allocator's arenas, which all queues share, a
 *            pthread_key_t (from the first schedq_worker_get on), and a count of forks. No thread
 *            but that of schedq_run, no signal handler, no printing, no abort for an operating
 *            error. No environment variable is read, by the copy of jemalloc neither.
 *
 * THREADS. Each declaration names its class after "Threads:".
 *   [any]    any thread, at any time: it touches no queue.
 *   [worker] any thread, one call at a time per worker. A worker is a handle, not a thread: the
 *            next call may come from another thread, if the caller orders the two calls. Only
 *            schedq_worker_get ties a worker to a thread.
 *   [queue]  any thread, at any time.
 *   [setup]  before the first worker is registered; overlaps with no other call on this queue.
 *   [alone]  overlaps with no other call on this queue.
 *            worker  queue  setup  alone       . may overlap
 *   worker     .1      .      X      X        .1 may overlap if the workers differ
 *   queue      .       .      X      X         X the caller must exclude it
 * SCHEDQ_BUSY answers a call from a callback of the same queue (see CALLBACKS), and a [setup] call
 * while a worker is registered (the timer thread has one). Two threads must not call with one
 * worker at a time: the second call mostly returns SCHEDQ_BUSY; where it does not, the behavior is
 * undefined. schedq_done and schedq_done_many never return BUSY: they end the cycle all the same.
 * The words of BUSY (schedq_worker_error, or `why`) name the callback, or the thread that is inside
 * the worker. After schedq_close every call stays safe until the queue is destroyed.
 *
 * LIVES. What a class allows in four situations:
 *            signal handler  child after fork  destructor of thread-local data  thread that ends
 *   any        yes             yes               yes                              leaves nothing
 *   worker     no.1            INVALID.2         yes.3                            see 4
 *   queue      no.1            INVALID.2         yes                              leaves nothing
 *   setup      no.1            INVALID.2         yes                              leaves nothing
 *   alone      no.1            INVALID.2         yes                              leaves nothing
 *   1  undefined, except where it is found out: in a handler that interrupted a call of the same
 *      queue on its thread, calls return BUSY, done and done_many INVALID, with words.
 *   2  for a queue made before the fork: words say so, nothing changes, destroy does not free it.
 *      Calls without a status answer as in CALLBACKS. A child may make queues of its own.
 *   3  with its own worker (schedq_worker_get) too, up to the last but one round of destructors.
 *   4  its own worker is given back. One of schedq_worker_register stays registered, and any thread
 *      may go on with it. Tokens that the thread held work with any worker.
 *
 * PROGRESS. Each declaration says after "Progress:" whether it is wait-free, lock-free or "locks",
 * what it costs if that is not O(1), and whether it allocates. "locks" depends on config.engine.
 * MUTEX: blocking; the call waits for the call that holds the queue's one mutex. Callbacks run with
 * it held, except visitors and the writer of metrics. LOCKFREE: lock-free; a thread that stops for
 * ever inside a call stops no other, and strands no pod but those that it popped (create and
 * destroy are for one thread). Calls wait for nothing else, with three exceptions: a waiting pop
 * waits for a pod, schedq_stop for the timer thread, and a call that lists SCHEDQ_NOMEM or says
 * "allocates" for the allocator. Costs are those of MUTEX; n is the number of pods in the queue.
 * LOCKFREE adds, pops and ends a pod in O(priorities that have pods + workers), whatever n is. A
 * move also copies 16 bytes O(log n) times per pod, to merge sorted runs.
 *
 * ENGINES. Both do all of these headers and answer alike. SCHEDQ_ENGINE_LOCKFREE is the default.
 * SCHEDQ_ENGINE_MUTEX is the whole queue behind one lock: the reference, and the way to find out
 * whether a problem is LOCKFREE's. In results, to_active and its like count what the call itself
 * moved; a pod whose move another thread finished is not counted.
 *
 * ORDERING. What a thread did before it passed a pod to the queue (add, fail, a change that moved
 * it) happens before what a thread does after it popped that pod. Statistics and words are exact
 * when the queue is quiet.
 *
 * ARGUMENTS. Some are the same everywhere, and have no words at each declaration. `queue` or
 * `worker`, at times a snapshot, a workspace or an evictor: what the call is made on. `pod`: a
 * handle (schedq/pod.h). `length`: bytes of `name`. `result`: receives what happened
 * (schedq_result_t); may be NULL. What a call writes must not overlap what it reads:
 * schedq_activate does not find a handle that lies in its `result`. `ctx`: passed to the callback.
 * `why`, `why_size`: room for words, in bytes. A NULL that is not allowed is SCHEDQ_INVALID, also
 * where a list does not name it (calls without a status: as in CALLBACKS); schedq_classify_* do not
 * check. A token that this queue never gave is SCHEDQ_STALE. A handle that it never gave names no
 * pod (LOCKFREE: a guess may name one whose add has not returned). Queues begin their numbers at
 * different places, so that a token or a handle of another queue is mostly one that this queue
 * never gave. But it may be equal to one of its own, and then it is taken for that: keep each with
 * its queue. Reserved bytes and unknown flags must be 0, and struct_size what the initializer sets,
 * else SCHEDQ_INVALID. `why` receives words with INVALID, FULL, BUSY and NOT_EMPTY: argument, value
 * and legal range, or what is in the way (a callback, a thread, workers, pods). With other statuses
 * the text is empty, unless the declaration names it. It is cut to why_size bytes with a NUL, and
 * may be NULL.
 *
 * CALLBACKS run on the caller's thread, or on the timer thread. They must not call the queue that
 * runs them, but for schedq_done, schedq_done_many, schedq_now and schedq_worker_error: any other
 * such call returns SCHEDQ_BUSY. A call without a status returns 0, NULL, or SCHEDQ_NO_DEADLINE
 * where it returns a time. A callback may run twice for one change, concurrently on several
 * threads, and for a decision that is discarded. The objects that it gets are held during the call.
 * LOCKFREE: a call that tells of one pod (find, get, explain, snapshot, nominated_pods, peek,
 * position, overdue_text, and an add that answers EXISTS) first finishes what a call that has not
 * returned left half done of that pod. Of a gated pod it may ask PreEnqueue, in place of that call.
 *
 * RESTRICTIONS. A thread must not be cancelled inside a call. Struct layouts are those of 64-bit
 * platforms. The default build contains a copy of jemalloc; the program's malloc stays what it is.
 * The copy needs more thread-local storage than glibc can add to a running program: a
 * module for dlopen needs a build with SCHEDQ_ALLOCATOR=system. A module that links the static
 * library must not be dlclosed; the shared library stays loaded by itself.
 */
#ifndef SCHEDQ_SCHEDQ_H
#define SCHEDQ_SCHEDQ_H

#include <schedq/base.h>
#include <schedq/config.h>
#include <schedq/queue.h>
#include <schedq/pod.h>
#include <schedq/cycle.h>
#include <schedq/clock.h>
#include <schedq/events.h>
#include <schedq/wait.h>
#include <schedq/watch.h>
#include <schedq/hold.h>
#include <schedq/label.h>
#include <schedq/group.h>
#include <schedq/look.h>
#include <schedq/host.h>

#endif
