/*
 * Concurrency Kit's ring, for lockfree/refs/lane.h. CK's atomics: atomic_ck.h.
 *
 * ThreadSanitizer cannot see into CK's assembly, but it sees the plain accesses beside it, and
 * reports those. Compiled without instrumentation, CK's inline functions are invisible to it as a
 * whole. What happens before what, it then learns from the engine's own atomics, entry by entry.
 * That is exact; an edge per container would hide faults.
 */
#ifndef SCHEDQ_PLATFORM_CK_H
#define SCHEDQ_PLATFORM_CK_H

#include "platform/sanitizer.h"

#include <ck_cc.h>

#if defined(SCHEDQ_THREAD_SANITIZER)
#undef CK_CC_INLINE
#undef CK_CC_FORCE_INLINE
/* Not always_inline: that would put them into instrumented functions. */
#define CK_CC_INLINE CK_CC_UNUSED inline __attribute__((no_sanitize("thread")))
#define CK_CC_FORCE_INLINE CK_CC_INLINE
#endif

#include <ck_ring.h>

#endif
