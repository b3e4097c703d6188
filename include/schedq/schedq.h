/**
 * schedq: which pod (job, task) does a scheduler look at next.
 *
 * A pod (job, task) is what a scheduler has to place: 64 bits of the caller's, a name, a priority.
 * A queue keeps every pod that is not placed yet in exactly one place:
 *
 *   active    may be taken next
 *   backoff   failed lately, waits until its backoff is over
 *   parked    was rejected, waits for a change that could help
 *   gated     a plugin keeps it out until it lets it pass
 *   in flight taken, and not finished yet
 *   held      kept back by a call, or until a time (schedq/hold.h)
 *
 * `pop` takes the best active pod; its cycle ends with `done` (placed) or `fail` (not now). Events
 * bring back the parked pods that they could help (schedq/events.h). This is the job of
 * kube-scheduler's SchedulingQueue, as a library without global state. Use it when a scheduler must
 * keep popping in priority order while many pods wait for events or for time. Do not use it as a
 * general work queue: every pod has a name, a history and a place, and pays for them.
 *
 * TERMS. A pod's Timestamp is when it entered the queue, or failed last. A rejector is a plugin
 * that rejected a pod. "Waiting" is backoff, parked or gated. [callbacks] and [host] mark what
 * holds only with SCHEDQ_DECIDE_CALLBACKS or only with SCHEDQ_DECIDE_HOST, LOCKFREE and MUTEX what
 * holds only with that engine. "The number of a plugin" counts from 0; its bit is 1 << number. A
 * tick is config.tick_ns.
 *
 * GUARANTEES
 *   order    higher priority first (any int32), then older Timestamp, then the one that got its
 *            Timestamp first. A caller's order key replaces the Timestamp. A pop never returns a
 *            pod while a pod that ranks before it was active during the whole of that call.
 *            (config.fifo: without the priority; SCHEDQ_ORDER_RELAXED: the priority only. Nothing
 *            is later than INT64_MAX: pods that enter there tie.)
 *   once     a pod is in exactly one place; every add ends in one done or one delete, or the pod is
 *            still pending.
 *   events   a change whose schedq_notify (host: event_begin) starts after a pod was popped reaches
 *            that pod, before or after it is parked. The memory for that does not grow with the
 *            number of changes.
 *   time     a due pod is active at the latest one tick, plus the time to move those due before it,
 *            after its expiry, while any thread calls schedq_tick or waits in a pop, or the timer
 *            thread runs. (With backoff_window: at the next whole second. With host decisions and
 *            pop_from_backoff 0: when the host applies it.) If the timer thread stops for ever,
 *            pops that wait serve time a tick later. If the pop stops for ever that watched time
 *            for all (LOCKFREE), another finds that out, once: after 2 s times the number of pops
 *            that wait, or as soon as a pod becomes the next that is due after the time that was
 *            watched. A pod that was parked for longer than max_parked_ns is due; with kube_minor
 *            such leftovers are tried in flushes, flush_ns apart: each between its limit and one
 *            flush_ns later.
 *   host     no global state but the default allocator's arenas, which all queues share, a
 *            pthread_key_t (from the first schedq_worker_get on), and a count of forks; no thread
 *            (unless schedq_run), no signal handler, no printing, no environment variable (that of
 *            a jemalloc is not heard), no abort for an operating error.
 *
 * THREADS. Each declaration names its class after "Threads:".
 *   [any]    any thread, at any time: it touches no queue.
 *   [worker] any thread, but one call at a time per worker. A worker is a handle, not a thread: the
 *            next call may come from another thread (which the caller synchronizes). Only
 *            schedq_worker_get ties one to a thread.
 *   [queue]  any thread, at any time.
 *   [setup]  before the first worker is registered; overlaps with no other call on this queue.
 *   [alone]  overlaps with no other call on this queue.
 *            worker  queue  setup  alone       . may overlap
 *   worker     .1      .      X      X        .1 may overlap if the workers differ
 *   queue      .       .      X      X         X the caller must exclude it
 * SCHEDQ_BUSY answers every call from a callback of the same queue, and a [setup] call while a
 * worker is registered (the timer thread is one). Two threads must not call with one worker at a
 * time: the second call mostly returns SCHEDQ_BUSY, and if it does not, the behavior is undefined.
 * schedq_done and schedq_done_many never return BUSY: they end the cycle all the same. The words of
 * BUSY (schedq_worker_error, or `why`) name the callback, or the thread that is inside the worker.
 * After schedq_close every call stays safe until the queue is destroyed.
 *
 * LIVES. What the classes allow beside that:
 *            signal handler  child after fork  destructor of thread-local data  thread that ends
 *   any        yes             yes               yes                              leaves nothing
 *   worker     no.1            INVALID.2         yes.3                            see 4
 *   queue      no.1            INVALID.2         yes                              leaves nothing
 *   setup      no.1            INVALID.2         yes                              leaves nothing
 *   alone      no.1            INVALID.2         yes                              leaves nothing
 *   1  undefined, except where it is found out: in a handler that interrupted a call of the same
 *      queue on its thread, calls return BUSY, done and done_many INVALID, with words.
 *   2  of a queue that was there before the fork; words say so, nothing changes, destroy does not
 *      free it (functions that return a size, a mask or a pointer: 0 or NULL). A child may make
 *      queues of its own.
 *   3  with its own worker (schedq_worker_get) too, up to the last but one round of destructors.
 *   4  its own worker is given back. One of schedq_worker_register stays registered, and any thread
 *      may go on with it; so may any worker with the tokens that the thread held.
 *
 * PROGRESS. Each declaration says after "Progress:" whether it is wait-free, lock-free or "locks",
 * what it costs if that is not O(1), and whether it allocates. "locks" depends on config.engine.
 * MUTEX: blocking; the call waits for the call that holds the queue's one mutex, and hints,
 * PreEnqueue, preCheck, affinity_matches, the clock, retain and release run with it held; visitors
 * and the writer of metrics do not. LOCKFREE: lock-free; a thread that stops for ever inside a call
 * stops no other, and strands no pod but those that it has popped (create and destroy are for one
 * thread). No call waits for anything else, except a pop that waits for a pod, schedq_stop (for the
 * timer thread), and the allocator, in calls that list SCHEDQ_NOMEM or say "allocates". Costs are
 * those of MUTEX; n is the number of pods in the queue. LOCKFREE adds, pops and ends in O(1) of n,
 * O(priorities that have pods + workers); what it moves it publishes in runs that are merged,
 * O(log n) copies of 16 bytes per pod.
 *
 * ENGINES. Both do all of these headers and answer alike. SCHEDQ_ENGINE_LOCKFREE is the default.
 * SCHEDQ_ENGINE_MUTEX is the whole queue behind one lock: plain, a reference, and the way to find
 * out whether a problem is the other's. In results, to_active and its like count what the call
 * itself moved: what it published and another thread switched for it is not counted.
 *
 * ORDERING. What a thread did before it passed a pod to the queue (add, fail, a change that moved
 * it) happens before what a thread does after it popped that pod. Statistics and words are exact
 * when the queue is quiet.
 *
 * ARGUMENTS. A NULL that is not allowed is SCHEDQ_INVALID (0 or NULL from functions that return a
 * size, a mask or a pointer), also where a list does not name it; schedq_classify_* do not check. A
 * token that this queue never gave is SCHEDQ_STALE, such a handle names no pod (LOCKFREE: a guess
 * may name a pod whose add has not returned). Reserved bytes and unknown flags must be 0, and
 * struct_size what the initializer sets, else SCHEDQ_INVALID. `why` receives words with every
 * status but OK (argument, value and legal range; with BUSY who is in the way), cut to why_size
 * bytes with a NUL; else an empty text. It may be NULL.
 *
 * CALLBACKS run on the caller's thread, or on the timer thread. They must not call the queue that
 * runs them, but for schedq_done, schedq_done_many and schedq_now: any other such call returns
 * SCHEDQ_BUSY (or 0 or NULL from functions that return a size, a mask or a pointer). They may run
 * twice for one change, concurrently on several threads, and for a decision that is discarded. The
 * objects that they get are held during the call. LOCKFREE: calls that only look at a pod (find,
 * get, snapshot, nominated_pods) finish first what a call that has not returned left half done of
 * it: if its gate has heard of a change since, they ask PreEnqueue.
 *
 * RESTRICTIONS. A thread must not be cancelled inside a call. Struct layouts are those of 64-bit
 * platforms. The default build contains a copy of jemalloc, beside the program's malloc, which it
 * leaves alone. That copy's thread-local words are more than glibc can add to a running program:
 * what is loaded by dlopen needs a build with SCHEDQ_ALLOCATOR=system. A module that links the
 * static library must not be dlclosed; the shared one stays by itself.
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
#include <schedq/hold.h>
#include <schedq/look.h>
#include <schedq/host.h>

#endif
