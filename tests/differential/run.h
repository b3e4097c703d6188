/* Calls that more than one operation makes, and specs. */
#ifndef DIFFERENTIAL_RUN_H
#define DIFFERENTIAL_RUN_H

#include "both.h"

/** Takes down what a call answered that may have made a pod. */
void take_added(world_t *world, uint32_t name, const schedq_pod_spec_t *spec, both_t *both);

/**
 * Before a pop that waits: it serves a slice of what is due, and which pods that has is each
 * engine's own choice. So a tick serves all, if that may be more.
 */
void serve_before_pop(world_t *world);

/** A deadline that has passed. */
int64_t deadline_now(const world_t *world);

/** Pops one pod on each side; `element` of the running operation. */
schedq_status_t try_pop_both(world_t *world, uint32_t element);

/** Compares what a pop gave, and takes it down. */
bool take_popped(world_t *world, uint32_t element, schedq_popped_t popped[SIDES]);

/** Looks whether a popped name still stands where it was. */
bool compare_kept_names(world_t *world, const cycle_t *cycle);

/** Deletes a pod by its name on each side; `how` is shown. */
void delete_both(world_t *world, uint32_t name, bool terse, const char *how);

/** Takes down what a done answered. */
void take_done(world_t *world, cycle_t *cycle, schedq_status_t status);

/** Ends a cycle on each side. */
void done_both(world_t *world, cycle_t *cycle);

/** Ends the cycles of all groups on each side. */
void end_groups_both(world_t *world);

/** Sets the clocks to when every wait that began is over. */
void leave_time_behind(world_t *world);

/** Ticks on each side. */
void tick_both(world_t *world);

/** Tells both sides of an event that reaches every waiting pod. */
void move_everything(world_t *world);

/** Finds a name on each side. True if the statuses agree. */
bool find_both(world_t *world, uint32_t name, both_t *both);

#endif
