/*
 * The timer thread: serves time (serve.h) when the deadline comes, and does what else tick does:
 * once per config.tick_ns while pods are popped, or a sleeper has to be woken for one; else after
 * pauses that grow up to WATCH_NS. A due pod for which memory is missing is tried again after such
 * pauses too. The thread does not look at pods that only the host lets go (serve_due).
 *
 * Its role is advice. It holds nothing that others need: a blocking pop that finds the deadline
 * passed by a whole tick serves itself, and so does schedq_tick at any time. A thread that lowers
 * the deadline wakes a sleeper besides, which watches it (sleepers.h): if the timer thread stops
 * for ever, that sleeper serves a tick late.
 *
 * PHASES
 *   NONE -> STARTING              timer_run, a CAS
 *   STARTING -> RUNNING or NONE   the same call, an exchange
 *   RUNNING -> STOPPING           timer_stop, a CAS
 *   STOPPING -> NONE              the same call, behind the join
 * `worker` and `thread` are plain: the call that made the phase STARTING or STOPPING owns them, and
 * starts the thread after it wrote them.
 *
 * ORDERING
 *   deadline_lower:B, the phase, wakes + 1 | timer_main:A (wakes), the deadline, futex_wait
 *       the thread sees the new deadline, or futex_wait finds `wakes` changed
 *   deadline_lower:B, sleepers_wake_for | sleepers_prepare:A, the deadline (sleepers.c)
 *   deadline_lower:B, the phase, readiness_signal:A | readiness_arm:A, the host reads the deadline
 *   STOPPING, wakes + 1 | timer_main:A (wakes), the phase
 * In each phase a sleeper is woken too, unless one watches a tick behind the deadline, or, without
 * the thread, the deadline itself. Unless the phase is RUNNING, a host that waits in poll is told
 * too: it has to wait for a shorter time.
 *
 * PROGRESS. The thread and timer_wake are lock-free. timer_stop waits for the thread, and so for a
 * callback that runs in it: blocking. A thread that stops inside timer_run leaves STARTING: no
 * other timer thread, and sleepers serve time themselves. One that stops in timer_stop leaves
 * STOPPING, with the same effect.
 *
 * WRAPAROUND. `wakes` comes back after 2^32 wake-ups between its load and the futex's comparison.
 *
 * EVIDENCE. tests/model: deadline; stress/explore: timer_frozen, timer_wakes, timer_stops;
 * tests/unit/test_timer.c, test_lockfree_timer.c.
 */
#ifndef SCHEDQ_LOCKFREE_TIMER_H
#define SCHEDQ_LOCKFREE_TIMER_H

#include "platform/atomic.h"
#include "platform/thread.h"

#include <schedq/schedq.h>

struct queue;
struct worker;

struct timer {
    atomic_u32 wakes; /* a futex: changes when the thread has to plan anew */
    atomic_u32 phase;
    atomic_ptr worker; /* the thread's; NULL: none runs */
    struct thread thread;
};

/** SCHEDQ_EXISTS: it runs; SCHEDQ_CLOSED; SCHEDQ_FULL: no worker slot; SCHEDQ_NOMEM. */
schedq_status_t timer_run(struct queue *queue);

/** Ends the thread and waits for it; nothing if none runs, or if another call ends it. */
void timer_stop(struct queue *queue);

/** The thread's; NULL: none runs. Relaxed: it is compared, or read by the thread itself. */
struct worker *timer_worker(const struct queue *queue);

/** Does the thread serve time? */
bool timer_is_running(const struct queue *queue);

/**
 * The deadline was lowered: wakes the thread, or tells the host; and wakes a sleeper to watch it,
 * if none does. After a full fence.
 */
void timer_wake(struct queue *queue);

#endif
