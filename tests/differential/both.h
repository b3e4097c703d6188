/* A call of tests/ops on both sides: shown, made, and the statuses compared. */
#ifndef DIFFERENTIAL_BOTH_H
#define DIFFERENTIAL_BOTH_H

#include "ops/op.h"
#include "spec.h"

typedef struct both {
    name_text_t *names; /* where the call's lie; NULL: it has none, or its own */
    op_t ops[SIDES];
    schedq_result_t results[SIDES]; /* of ops */
} both_t;

/** Describes the call, field by field; `side` is the side that gets it. */
#define BOTH(both, ...)                                 \
    do {                                                \
        for (unsigned side = 0; side < SIDES; side++) { \
            (both)->ops[side] = (op_t){__VA_ARGS__};    \
        }                                               \
    } while (0)

/**
 * Shows the call: its name, the details, which end the line, and its specs. Makes it on both sides.
 * True if the statuses agree, those of the elements too.
 */
bool both_call(world_t *world, both_t *both, const char *details, ...)
    __attribute__((format(printf, 3, 4)));

/** The same for a call that was shown. */
bool both_run(world_t *world, both_t *both);

#endif
