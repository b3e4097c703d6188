/* What an actor does in scenarios of several files. */
#ifndef EXPLORE_BODIES_H
#define EXPLORE_BODIES_H

#include "actor.h"

/** Adds pod 0, with priority 1. */
void add_0(struct actor *actor);
/** Adds pod 1, with priority 2. */
void add_1(struct actor *actor);

#endif
