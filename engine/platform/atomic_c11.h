/*
 * The back end of atomic.h on the compiler's atomics: what ThreadSanitizer checks.
 *
 * A fence is an exchange with a word of the caller's own: the sanitizer does not model fences, and
 * nothing in the engine relies on a fence to publish data.
 *
 * On AArch64 acquire and release are ldar and stlr, which suffice. Read-modify-writes are full
 * fences there only as single instructions (LSE), and a T_cas that fails is none: this back end
 * does not give what atomic.h promises. The one on CK does.
 */
#ifndef SCHEDQ_PLATFORM_ATOMIC_C11_H
#define SCHEDQ_PLATFORM_ATOMIC_C11_H

#define ATOMIC_OPERATIONS(T, type)                                                              \
    static inline type T##_load(const atomic_##T *word)                                         \
    {                                                                                           \
        return __atomic_load_n(&word->raw, __ATOMIC_RELAXED);                                   \
    }                                                                                           \
    static inline type T##_load_acquire(const atomic_##T *word)                                 \
    {                                                                                           \
        return __atomic_load_n(&word->raw, __ATOMIC_ACQUIRE);                                   \
    }                                                                                           \
    static inline void T##_store(atomic_##T *word, type value)                                  \
    {                                                                                           \
        __atomic_store_n(&word->raw, value, __ATOMIC_RELAXED);                                  \
    }                                                                                           \
    static inline void T##_store_release(atomic_##T *word, type value)                          \
    {                                                                                           \
        __atomic_store_n(&word->raw, value, __ATOMIC_RELEASE);                                  \
    }                                                                                           \
    static inline type T##_exchange(atomic_##T *word, type value)                               \
    {                                                                                           \
        return __atomic_exchange_n(&word->raw, value, __ATOMIC_SEQ_CST);                        \
    }                                                                                           \
    static inline bool T##_cas(atomic_##T *word, type expected, type desired)                   \
    {                                                                                           \
        return __atomic_compare_exchange_n(&word->raw, &expected, desired, 0, __ATOMIC_SEQ_CST, \
                                           __ATOMIC_SEQ_CST);                                   \
    }                                                                                           \
    static inline type T##_cas_value(atomic_##T *word, type expected, type desired)             \
    {                                                                                           \
        (void)__atomic_compare_exchange_n(&word->raw, &expected, desired, 0, __ATOMIC_SEQ_CST,  \
                                          __ATOMIC_SEQ_CST);                                    \
        return expected;                                                                        \
    }

#define ATOMIC_ARITHMETIC(T, type)                                      \
    static inline type T##_add(atomic_##T *word, type value)            \
    {                                                                   \
        return __atomic_fetch_add(&word->raw, value, __ATOMIC_SEQ_CST); \
    }                                                                   \
    static inline void T##_or(atomic_##T *word, type value)             \
    {                                                                   \
        (void)__atomic_fetch_or(&word->raw, value, __ATOMIC_SEQ_CST);   \
    }

ATOMIC_OPERATIONS(u32, uint32_t)
ATOMIC_OPERATIONS(u64, uint64_t)
ATOMIC_OPERATIONS(ptr, void *)
ATOMIC_ARITHMETIC(u32, uint32_t)
ATOMIC_ARITHMETIC(u64, uint64_t)

static inline bool
pair_cas(atomic_pair *word, struct pair expected, struct pair desired)
{
    __extension__ typedef unsigned __int128 wide;

    return __sync_bool_compare_and_swap((wide *)(void *)word,
                                        (wide)expected.high << 64 | expected.low,
                                        (wide)desired.high << 64 | desired.low);
}

static inline void
atomic_fence(void)
{
    uint32_t own = 0;

    (void)__atomic_exchange_n(&own, 1, __ATOMIC_SEQ_CST);
}

static inline void
atomic_light_fence(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

#undef ATOMIC_OPERATIONS
#undef ATOMIC_ARITHMETIC

#endif
