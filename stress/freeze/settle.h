/*
 * The end of a run: everybody stops, the queue is drained, every pod is accounted for, the queue is
 * destroyed.
 */
#ifndef SCHEDQ_FREEZE_SETTLE_H
#define SCHEDQ_FREEZE_SETTLE_H

#include "run.h"

/**
 * `dead` is the actor that stands still for ever, whose worker is adopted; NULL if there is none.
 *
 * Returns false if threads are left that may use the queue; then it is not destroyed.
 */
bool settle(run_t *run, actor_t *dead);

#endif
