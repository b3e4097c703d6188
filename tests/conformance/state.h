/* The state line of a vector, rendered from a snapshot of the queue. */
#ifndef CONFORM_STATE_H
#define CONFORM_STATE_H

#include "script.h"
#include "snapshot.h"

/**
 * Writes what stands after "= ". The snapshot's pods are sorted by it.
 *
 * Pods in flight are listed if they were popped after `forgotten_pops`: upstream's Close forgets
 * the others.
 */
void state_write(const struct script *script, struct snapshot *snapshot, uint64_t forgotten_pops,
                 FILE *out);
/** What vectors name a place: as the library does, but kube's word "unschedulable" for parked. */
const char *state_place_name(schedq_place_t place);
/** The newest pop of a snapshot, 0 if none of its pods is in flight. */
uint64_t state_newest_pop(const struct snapshot *snapshot);
/**
 * The state that a vector states, without what this project's engines need not match; the line is
 * changed.
 */
void state_strip(char *state);

#endif
