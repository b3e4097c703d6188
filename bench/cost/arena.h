/*
 * The memory of the measured queue: at the same place in every run, so that nothing that the engine
 * makes of an address (the seed of its hash) differs from run to run.
 */
#ifndef SCHEDQ_COST_ARENA_H
#define SCHEDQ_COST_ARENA_H

#include <schedq/schedq.h>

#define ARENA_BEGIN UINT64_C(0x20000000000)
#define ARENA_BYTES ((size_t)1 << 32)

/* Empty and zeroed again, as it was at first. */
void arena_reset(void);
schedq_allocator_t arena_allocator(void);

#endif
