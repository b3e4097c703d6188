/* Steps about groups: pods that are tried together. Each worker has one, of row.size pods. */
#ifndef SCHEDQ_COST_GANGS_H
#define SCHEDQ_COST_GANGS_H

#include "play.h"

enum { GANG_PRIORITY = 1000000, GANG_MAX = 512 };

/** row.before groups that wait, each with GANG_OTHERS members. */
void gangs_open(struct play *play);

/** Declares the worker's group, then adds its members; the last of them completes it. */
uint64_t gang_join(struct play *play, unsigned worker);
/** Takes a group. */
uint64_t gang_pop(struct play *play, unsigned worker);
/** Fails all members of the group in hand. */
uint64_t gang_fail(struct play *play, unsigned worker);
/** Ends its cycle: it parks. */
uint64_t gang_reject(struct play *play, unsigned worker);
/** An event that makes the groups of all workers active. */
uint64_t gang_event(struct play *play, unsigned worker);
/** Ends all members of the group in hand, its cycle and its declaration. */
uint64_t gang_end(struct play *play, unsigned worker);

#endif
