/*
 * Copies of pods for visitors.
 */
#ifndef SCHEDQ_LOCKFREE_LOOK_H
#define SCHEDQ_LOCKFREE_LOOK_H

#include "lockfree/moves/report.h"

/**
 * Does the index know the pod that `view` shows? A record is filled before its pod exists. Uses
 * worker->name.
 */
bool look_exists(struct worker *worker, uint32_t record, const struct view *view);

#endif
