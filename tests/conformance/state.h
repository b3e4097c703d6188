/* The state line of a vector, as the queue's own snapshot gives it. */
#ifndef CONFORM_STATE_H
#define CONFORM_STATE_H

#include "world.h"

/** Writes what stands after "= ". */
void state_write(struct world *world, FILE *out);
/** The state that a vector states, without what this project's engines need not match; the line is changed. */
void state_strip(char *state);

#endif
