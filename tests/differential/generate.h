/* Draws operations that make sense for what the queues hold. */
#ifndef DIFFERENTIAL_GENERATE_H
#define DIFFERENTIAL_GENERATE_H

#include "operation.h"

void generate(const world_t *world, chance_t *chance, uint32_t number, operation_t *operation);

#endif
