/*
 * One freeze, seen from outside: in which windows did the others complete no call, and whose fault
 * is that?
 *
 * A window without a completed call counts against the engine only if the control threads ran
 * through it, and if the others had a core or wanted none: while one of them waits for a core that
 * other processes have, nothing can be said.
 */
#ifndef SCHEDQ_FREEZE_WATCH_H
#define SCHEDQ_FREEZE_WATCH_H

#include "run.h"

typedef struct watch {
    unsigned windows;
    unsigned counted;      /* the control threads ran through it */
    unsigned moving;       /* the others completed calls */
    unsigned uncontrolled; /* they did not, but a control thread did not run through it either */
    unsigned starved;      /* they did not, but waited for a core */
    unsigned blocked;      /* a violation: they slept */
    unsigned spinning;     /* a violation: they ran, and completed nothing */
    /* the longest time without a completed call; 1/5 of a window is the resolution */
    int64_t others_gap_ns;
    int64_t control_gap_ns;
    uint64_t calls, pods; /* that the others completed and popped during the freeze */
} watch_t;

/** Watches everybody but `victim` for the length of a freeze. */
void watch_others(run_t *run, const actor_t *victim, watch_t *watch);

static inline unsigned
watch_violations(const watch_t *watch)
{
    return watch->blocked + watch->spinning;
}

#endif
