/*
 * The timer thread: serves time (serve.h) when the deadline comes, and once per config.tick_ns whatever else tick does.
 *
 * Its role is advice. It holds nothing that others need: a blocking pop that finds the deadline passed by a whole tick serves
 * itself, and so does schedq_tick at any time. Frozen or gone, it strands nobody.
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
    struct worker *worker; /* the thread's */
    struct thread thread;
};

/** SCHEDQ_EXISTS: it runs; SCHEDQ_CLOSED; SCHEDQ_FULL: no worker slot; SCHEDQ_NOMEM. */
schedq_status_t timer_run(struct queue *queue);

/** Ends the thread and waits for it; nothing if none runs, or if somebody else ends it. */
void timer_stop(struct queue *queue);

/** Does the thread serve time? */
bool timer_is_running(const struct queue *queue);

/** The deadline was lowered: wakes the thread, or, if none runs, all sleepers. After a full fence. */
void timer_wake(struct queue *queue);

#endif
