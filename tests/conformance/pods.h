/* The operations on one pod, from add to done. Each writes its result. */
#ifndef CONFORM_PODS_H
#define CONFORM_PODS_H

#include "world.h"

void run_add(struct world *world, const struct operation *operation, FILE *result);
void run_pop(struct world *world, const struct operation *operation, FILE *result);
void run_fail(struct world *world, const struct operation *operation, FILE *result);
void run_done(struct world *world, const struct operation *operation, FILE *result);
void run_update(struct world *world, const struct operation *operation, FILE *result);
void run_delete(struct world *world, const struct operation *operation, FILE *result);
void run_nominate(struct world *world, const struct operation *operation, FILE *result);

#endif
