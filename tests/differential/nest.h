/*
 * What callbacks call: they may end cycles, read the clock and a worker's words; every other call
 * is refused (CALLBACKS in schedq/schedq.h).
 *
 * An operation has a guest, a cycle that one callback of each side ends; which, by number, is the
 * operation's own. If so many do not run, the guest is ended behind the operation's calls. Its end
 * is told alike and no answer about another pod may tell where it was, for it is no pod that the
 * operation is about: of two calls that overlap each may be first, and in a callback the mutex
 * engine ends the pod later than it answers. Nor has it a class: the call may serve the time by
 * which another pod takes the turn of a scout, before it ends or not.
 *
 * Questions and visits are the same ones on both sides. When objects are retained and released, and
 * when a host is woken, is each engine's own: these do not count if the operation is about the pod
 * after all.
 */
#ifndef DIFFERENTIAL_NEST_H
#define DIFFERENTIAL_NEST_H

#include "operation.h"

/** Before the operation's calls, and behind them. */
void nest_begin(world_t *world, const operation_t *operation);
void nest_end(world_t *world);

/** In a callback of a side. `alike`: it is one that the other side has, too. */
void nest_call(side_t *side, bool alike);

/** That pod may have been ended meanwhile: a walk may meet it or not. */
bool nest_has_guest(const side_t *side, schedq_pod_t pod);

#endif
