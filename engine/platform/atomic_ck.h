/*
 * The back end of atomic.h on Concurrency Kit. On x86-64 every locked instruction is a full fence
 * and the fences of loads and stores are empty; elsewhere CK's fences are not empty, and stand
 * around the operation. On AArch64 that is dmb ish on both sides of each read-modify-write, also of
 * a T_cas that fails, behind an acquire and before a release: more than the facade promises, never
 * less.
 */
#ifndef SCHEDQ_PLATFORM_ATOMIC_CK_H
#define SCHEDQ_PLATFORM_ATOMIC_CK_H

#include <ck_pr.h>

#if defined(CK_MD_TSO)
#define RMW_FENCE() ((void)0)
#else
#define RMW_FENCE() ck_pr_fence_memory()
#endif

/* ck_pr's stores take constants that no instruction can hold. */
#define IN_REGISTER(value) __asm__("" : "+r"(value))

#define ATOMIC_OPERATIONS(T, type, suffix)                                          \
    static inline type T##_load(const atomic_##T *word)                             \
    {                                                                               \
        return ck_pr_load_##suffix(&word->raw);                                     \
    }                                                                               \
    static inline type T##_load_acquire(const atomic_##T *word)                     \
    {                                                                               \
        type value = ck_pr_load_##suffix(&word->raw);                               \
        ck_pr_fence_acquire();                                                      \
        return value;                                                               \
    }                                                                               \
    static inline void T##_store(atomic_##T *word, type value)                      \
    {                                                                               \
        IN_REGISTER(value);                                                         \
        ck_pr_store_##suffix(&word->raw, value);                                    \
    }                                                                               \
    static inline void T##_store_release(atomic_##T *word, type value)              \
    {                                                                               \
        ck_pr_fence_release();                                                      \
        IN_REGISTER(value);                                                         \
        ck_pr_store_##suffix(&word->raw, value);                                    \
    }                                                                               \
    static inline type T##_exchange(atomic_##T *word, type value)                   \
    {                                                                               \
        RMW_FENCE();                                                                \
        type old = ck_pr_fas_##suffix(&word->raw, value);                           \
        RMW_FENCE();                                                                \
        return old;                                                                 \
    }                                                                               \
    static inline bool T##_cas(atomic_##T *word, type expected, type desired)       \
    {                                                                               \
        RMW_FENCE();                                                                \
        bool done = ck_pr_cas_##suffix(&word->raw, expected, desired);              \
        RMW_FENCE();                                                                \
        return done;                                                                \
    }                                                                               \
    static inline type T##_cas_value(atomic_##T *word, type expected, type desired) \
    {                                                                               \
        type found;                                                                 \
        RMW_FENCE();                                                                \
        (void)ck_pr_cas_##suffix##_value(&word->raw, expected, desired, &found);    \
        RMW_FENCE();                                                                \
        return found;                                                               \
    }

#define ATOMIC_ARITHMETIC(T, type, suffix)                   \
    static inline type T##_add(atomic_##T *word, type value) \
    {                                                        \
        RMW_FENCE();                                         \
        type old = ck_pr_faa_##suffix(&word->raw, value);    \
        RMW_FENCE();                                         \
        return old;                                          \
    }                                                        \
    static inline void T##_or(atomic_##T *word, type value)  \
    {                                                        \
        RMW_FENCE();                                         \
        ck_pr_or_##suffix(&word->raw, value);                \
        RMW_FENCE();                                         \
    }

ATOMIC_OPERATIONS(u32, uint32_t, 32)
ATOMIC_OPERATIONS(u64, uint64_t, 64)
ATOMIC_OPERATIONS(ptr, void *, ptr)
ATOMIC_ARITHMETIC(u32, uint32_t, 32)
ATOMIC_ARITHMETIC(u64, uint64_t, 64)

static inline bool
pair_cas(atomic_pair *word, struct pair expected, struct pair desired)
{
    uint64_t compare[2] = {expected.low, expected.high};
    uint64_t set[2] = {desired.low, desired.high}, found[2];

    /* On x86-64 ck_pr_cas_64_2 reads `compare` from memory; this one has all in registers. */
    RMW_FENCE();
    bool done = ck_pr_cas_64_2_value((uint64_t *)(void *)word, compare, set, found);
    RMW_FENCE();
    return done;
}

/* CK's is mfence on x86-64, which takes twice as long as a locked instruction. */
static inline void
atomic_fence(void)
{
#if defined(__x86_64__)
    __asm__ volatile("lock orq $0, (%%rsp)" ::: "memory", "cc");
#else
    ck_pr_fence_memory();
#endif
}

static inline void
atomic_light_fence(void)
{
    ck_pr_barrier();
}

#undef RMW_FENCE
#undef IN_REGISTER
#undef ATOMIC_OPERATIONS
#undef ATOMIC_ARITHMETIC

#endif
