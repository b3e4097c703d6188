/*
 * One freeze, seen from outside: in which windows did the others get no work done, and whose fault
 * is that?
 *
 * Work is a call that changed something: pops of an empty queue, and looks, are none. A window
 * without work counts against the engine only if the control threads ran through it, and if the
 * others had a core or wanted none: while one of them waits for a core that other processes have,
 * nothing can be said. Such windows do not count, and a freeze lasts until enough do.
 *
 * And one thread may not stand while the others go on: a call that took half of the freeze of its
 * own thread's processor time, or that slept at every look though it does not wait for a pod, is
 * stuck.
 */
#ifndef SCHEDQ_FREEZE_WATCH_H
#define SCHEDQ_FREEZE_WATCH_H

#include "run.h"

typedef struct watch {
    unsigned windows;
    unsigned counted;      /* those that say something: moving, blocked, spinning */
    unsigned moving;       /* the others got work done */
    unsigned uncontrolled; /* they did not, but a control thread did not run through it either */
    unsigned starved;      /* they did not, but waited for a core */
    unsigned blocked;      /* a violation: they slept */
    unsigned spinning;     /* a violation: they ran, and got nothing done */
    unsigned stuck;        /* violations: threads that completed no call, though they had work */
    /* the longest time without work; 1/5 of a window is the resolution */
    int64_t others_gap_ns;
    int64_t control_gap_ns;
    uint64_t calls, pods; /* that the others completed and popped during the freeze */
} watch_t;

/** How many windows of a freeze have to count. */
unsigned watch_wanted(const options_t *options);

/** Watches all but `victim` for the length of a freeze, and until enough windows count. */
void watch_others(run_t *run, const actor_t *victim, watch_t *watch);

static inline unsigned
watch_violations(const watch_t *watch)
{
    return watch->blocked + watch->spinning + watch->stuck;
}

#endif
