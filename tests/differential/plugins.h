/* Plugins of both queues (FEATURES_ALL): hints and PreEnqueue are pure functions, so both queues hear the same. */
#ifndef DIFFERENTIAL_PLUGINS_H
#define DIFFERENTIAL_PLUGINS_H

#include "world.h"

/** Defines a second profile and registers the plugins of both; false, with a difference taken down, if that fails. */
bool plugins_register(world_t *world, side_t *side);

/** Any of the events that every queue knows. */
schedq_event_t plugins_event(chance_t *chance);

/** A preCheck; the context is not used. */
int plugins_precheck(void *ctx, uint64_t pod);

#endif
