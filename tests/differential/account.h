/* How many references to each object a queue holds (SCHEDQ_OBJECTS_COUNTED). */
#ifndef DIFFERENTIAL_ACCOUNT_H
#define DIFFERENTIAL_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

typedef struct account {
    uint32_t *held; /* by object_slot */
    uint64_t sum;
    bool wrong; /* an object that is none of ours, or one given back more often than taken */
} account_t;

/** config.retain and config.release; the context is an account_t. */
void account_retain(void *ctx, uint64_t object);
void account_release(void *ctx, uint64_t object);

#endif
