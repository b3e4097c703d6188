/*
 * How a round ends: pods handed one by one to sleepers; the last round: close.
 */
#ifndef SCHEDQ_HISTORY_ENDING_H
#define SCHEDQ_HISTORY_ENDING_H

#include "workload.h"

/** One thread's part, when nobody has a pod in hand. */
void ending_run(world_t *world, actor_t *actor);
/** The same in the last round. */
void ending_close(world_t *world, actor_t *actor);

#endif
