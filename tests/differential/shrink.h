/*
 * Runs rounds in a process of their own, so that a crash, or a call that does not return, is a finding like any other;
 * and finds the few operations of a round that a finding needs.
 */
#ifndef DIFFERENTIAL_SHRINK_H
#define DIFFERENTIAL_SHRINK_H

#include <sys/types.h>

#include "round.h"

/** How a process ended: 0 nothing found, SHRINK_DIFFERENT, or how it broke down. */
#define SHRINK_DIFFERENT 10

/** Waits for a process. Returns 0 or SHRINK_DIFFERENT; else -1, and `words` say how it broke down. */
int shrink_wait(pid_t process, char *words, size_t size);

/** Called by a process that runs operations, before they run: it is ended if it does not call again in time. */
void shrink_watch(void);

/** Leaves out all operations that the finding does not need, and shows what is left, with all answers. */
void shrink(world_t *world, record_t *record, const options_t *options);

#endif
