/* Memory that the first of several threads brings, and all use. */
#ifndef SCHEDQ_PLATFORM_MEMORY_FIRST_H
#define SCHEDQ_PLATFORM_MEMORY_FIRST_H

#include "platform/atomic.h"
#include "platform/memory.h"

/**
 * Puts zeroed memory, aligned to a line, into `place`, which is NULL or what another such call put
 * there.
 *
 * Any number of threads at once. Behind it the caller's loads of `place` may be relaxed. False: no
 * memory.
 */
bool memory_alloc_first(struct memory *memory, enum memory_kind kind, atomic_ptr *place,
                        size_t bytes);

#endif
