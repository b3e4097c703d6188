/* Performs the operations of a vector through the public API. */
#ifndef CONFORM_RUN_H
#define CONFORM_RUN_H

#include "world.h"

/**
 * Performs one operation, with the next worker, and writes its result, as a vector writes it after
 * "> ".
 *
 * What a vector cannot contain is written as "error ..." and so differs from whatever is expected.
 */
void run_operation(struct world *world, const struct operation *operation, FILE *result);

#endif
