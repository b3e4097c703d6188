/*
 * Plugins of both queues: hints, PreEnqueue and so on are pure functions of their arguments (and of
 * world->gate_epoch), so both queues hear the same. What they are asked is taken down, and whether
 * what they got was held.
 */
#ifndef DIFFERENTIAL_PLUGINS_H
#define DIFFERENTIAL_PLUGINS_H

#include "world.h"

#define PLUGINS_REGISTERED 7 /* in each profile; the bits behind are those of late names */

/**
 * Defines a second profile and registers the plugins of both; false, with a difference taken down,
 * if that fails.
 */
bool plugins_register(world_t *world, side_t *side);

/** Any of the events that are defined. */
schedq_event_t plugins_event(const world_t *world, chance_t *chance);

/** Any set of rejectors that may stand in a failure of a pod of this profile; may be empty. */
uint64_t plugins_set(const world_t *world, chance_t *chance, schedq_profile_t profile);

/** [host] 1 + the number of a plugin. */
uint8_t plugins_gate(chance_t *chance);

/** [host] Up to where a host says that it judged; often the newest event, never before `seen`. */
uint64_t plugins_judgement(const world_t *world, chance_t *chance, uint64_t seen);

/** A preCheck, and config.affinity_matches; the context is a side_t. */
int plugins_precheck(void *ctx, uint64_t pod);
int plugins_affinity(void *ctx, uint64_t pod, uint64_t assigned);

#endif
