/*
 * Shared memory, as the lock-free engine sees it: wrapper types, so that a plain access does not
 * compile, and the operations on them.
 *
 * Four back ends, chosen by the build (SCHEDQ_ATOMICS):
 *   ck           Concurrency Kit's ck_pr: what users get
 *   c11          the compiler's atomics, which ThreadSanitizer understands (it cannot see into
 *                ck_pr's assembly)
 *   controlled   every access is a call to the scheduler of stress/explore, which decides which
 *                thread runs next, and when a store leaves the storing thread's buffer
 *   counting     every access is reported to schedq-cost, which runs all workers on one thread, in
 *                turns
 *
 * WHAT AN OPERATION ORDERS, in every back end
 *   T_load           nothing; the value is one that was stored
 *   T_load_acquire   what follows in program order happens after it
 *   T_store          nothing
 *   T_store_release  what precedes in program order happens before it
 *   T_exchange, T_cas, T_swing, T_add, T_or, T_max, pair_cas
 *                    full fences, also when one fails. "Publish, then look" needs one between
 *                    the store and the load: an operation of this group there, or atomic_fence, is
 *                    what provides it.
 *   atomic_fence     a full fence
 *   atomic_light_fence
 *                    the compiler moves no access across it. With membarrier_ask (membarrier.h) in
 *                    the other thread it is worth a full one
 *
 * T is u32, u64, ptr. A pair is two u64 that change together; each may also be used alone.
 */
#ifndef SCHEDQ_PLATFORM_ATOMIC_H
#define SCHEDQ_PLATFORM_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint32_t raw;
} atomic_u32;

typedef struct {
    uint64_t raw;
} atomic_u64;

typedef struct {
    void *raw;
} atomic_ptr;

typedef struct {
    _Alignas(16) atomic_u64 low;
    atomic_u64 high;
} atomic_pair;

/** What a pair is compared with, and set to. */
struct pair {
    uint64_t low, high;
};

#if defined(SCHEDQ_ATOMICS_CONTROLLED)
#include "platform/atomic_controlled.h"
#elif defined(SCHEDQ_ATOMICS_COUNTING)
#include "platform/atomic_counting.h"
#elif defined(SCHEDQ_ATOMICS_C11)
#include "platform/atomic_c11.h"
#else
#include "platform/atomic_ck.h"
#endif

/** T_cas from *seen to `value`. False: *seen is what the word was. */
static inline bool
u32_swing(atomic_u32 *word, uint32_t *seen, uint32_t value)
{
    uint32_t expected = *seen;

    *seen = u32_cas_value(word, expected, value);
    return *seen == expected;
}

static inline bool
u64_swing(atomic_u64 *word, uint64_t *seen, uint64_t value)
{
    uint64_t expected = *seen;

    *seen = u64_cas_value(word, expected, value);
    return *seen == expected;
}

static inline bool
ptr_swing(atomic_ptr *word, void **seen, void *value)
{
    void *expected = *seen;

    *seen = ptr_cas_value(word, expected, value);
    return *seen == expected;
}

/**
 * Raises to `value`, never lowers. Ends: each failed exchange is another thread's raise.
 * Returns what it was.
 */
static inline uint64_t
u64_max(atomic_u64 *word, uint64_t value)
{
    uint64_t found = u64_load(word);

    while (found < value && !u64_swing(word, &found, value)) {
    }
    return found;
}

static inline uint32_t
u32_max(atomic_u32 *word, uint32_t value)
{
    uint32_t found = u32_load(word);

    while (found < value && !u32_swing(word, &found, value)) {
    }
    return found;
}

/** Times are signed; they are kept in words. */
static inline int64_t
time_load(const atomic_u64 *word)
{
    return (int64_t)u64_load(word);
}

static inline void
time_store(atomic_u64 *word, int64_t value)
{
    u64_store(word, (uint64_t)value);
}

/**
 * A plain word of another library's structure, or of the public header's, which the engine accesses
 * like its own.
 */
static inline atomic_u32 *
u32_of(unsigned int *word)
{
    return (atomic_u32 *)(void *)word;
}

static inline atomic_u64 *
u64_of(uint64_t *word)
{
    return (atomic_u64 *)(void *)word;
}

#endif
