/*
 * Runs rounds in a process of their own, so that a crash, or a call that does not return, is a
 * finding like any other; and finds the few operations of a round that a finding needs.
 */
#ifndef DIFFERENTIAL_SHRINK_H
#define DIFFERENTIAL_SHRINK_H

#include <sys/types.h>

#include "round.h"

/**
 * Seconds of processor time: thousands of times what one operation needs. The time it takes is not
 * what is tested.
 */
#define SHRINK_CPU_FOR_AN_OPERATION 60

/** How a process ended: 0 nothing found, SHRINK_DIFFERENT, or how it broke down. */
#define SHRINK_DIFFERENT 10
/** An operation slept for ever. */
#define SHRINK_ASLEEP (-2)

/**
 * Starts a process that runs operations; it ends with this one, and when this one is interrupted. 0
 * in that process.
 */
pid_t shrink_fork(void);

/**
 * Waits for a process that works on `record`. Returns 0 or SHRINK_DIFFERENT; else less than 0, and
 * `words` say how it broke down: it crashed, or an operation took `cpu_limit` seconds of processor
 * time, or slept for ever (support/patience.h).
 */
int shrink_wait(pid_t process, const record_t *record, unsigned cpu_limit, char *words,
                size_t size);

/**
 * Leaves out all operations that the finding does not need, and shows what is left, with all
 * answers.
 */
void shrink(world_t *world, record_t *record, const options_t *options);

#endif
