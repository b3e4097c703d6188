/*
 * The back end of atomic.h for the controlled scheduler (stress/explore), which defines the four
 * functions below.
 *
 * Everything runs on one thread of the operating system; control passes to another simulated thread
 * only inside these functions, so that the scheduler's choices and a seed repeat a run exactly. A
 * store goes to the simulated thread's store buffer (x86-TSO); a fence empties it; a
 * read-modify-write is a fence, then the operation.
 */
#ifndef SCHEDQ_PLATFORM_ATOMIC_CONTROLLED_H
#define SCHEDQ_PLATFORM_ATOMIC_CONTROLLED_H

/** A point where another thread may run; then the value as this thread sees it. */
uint64_t control_load(const void *word, unsigned bytes);

/** A point where another thread may run; then the store enters the buffer. */
void control_store(void *word, uint64_t value, unsigned bytes);

/**
 * A point where another thread may run; then this thread's buffer is emptied. What follows at once
 * is one step with it.
 */
void control_fence(void);

#define CONTROL_RMW(expression) \
    do {                        \
        control_fence();        \
        expression;             \
    } while (0)

#define ATOMIC_OPERATIONS(T, type, from, to)                                        \
    static inline type T##_load(const atomic_##T *word)                             \
    {                                                                               \
        return (type)from control_load(&word->raw, sizeof word->raw);               \
    }                                                                               \
    static inline type T##_load_acquire(const atomic_##T *word)                     \
    {                                                                               \
        return (type)from control_load(&word->raw, sizeof word->raw);               \
    }                                                                               \
    static inline void T##_store(atomic_##T *word, type value)                      \
    {                                                                               \
        control_store(&word->raw, (uint64_t)to value, sizeof word->raw);            \
    }                                                                               \
    static inline void T##_store_release(atomic_##T *word, type value)              \
    {                                                                               \
        control_store(&word->raw, (uint64_t)to value, sizeof word->raw);            \
    }                                                                               \
    static inline type T##_exchange(atomic_##T *word, type value)                   \
    {                                                                               \
        type old;                                                                   \
        CONTROL_RMW(old = word->raw);                                               \
        word->raw = value;                                                          \
        return old;                                                                 \
    }                                                                               \
    static inline type T##_cas_value(atomic_##T *word, type expected, type desired) \
    {                                                                               \
        type found;                                                                 \
        CONTROL_RMW(found = word->raw);                                             \
        if (found == expected) {                                                    \
            word->raw = desired;                                                    \
        }                                                                           \
        return found;                                                               \
    }                                                                               \
    static inline bool T##_cas(atomic_##T *word, type expected, type desired)       \
    {                                                                               \
        return T##_cas_value(word, expected, desired) == expected;                  \
    }

#define ATOMIC_ARITHMETIC(T, type)                           \
    static inline type T##_add(atomic_##T *word, type value) \
    {                                                        \
        type old;                                            \
        CONTROL_RMW(old = word->raw);                        \
        word->raw = old + value;                             \
        return old;                                          \
    }                                                        \
    static inline void T##_or(atomic_##T *word, type value)  \
    {                                                        \
        CONTROL_RMW(word->raw |= value);                     \
    }

ATOMIC_OPERATIONS(u32, uint32_t, , )
ATOMIC_OPERATIONS(u64, uint64_t, , )
ATOMIC_OPERATIONS(ptr, void *, (uintptr_t), (uintptr_t))
ATOMIC_ARITHMETIC(u32, uint32_t)
ATOMIC_ARITHMETIC(u64, uint64_t)

static inline bool
pair_cas(atomic_pair *word, struct pair expected, struct pair desired)
{
    bool same;

    CONTROL_RMW(same = word->low.raw == expected.low && word->high.raw == expected.high);
    if (same) {
        word->low.raw = desired.low;
        word->high.raw = desired.high;
    }
    return same;
}

static inline void
atomic_fence(void)
{
    control_fence();
}

#undef CONTROL_RMW
#undef ATOMIC_OPERATIONS
#undef ATOMIC_ARITHMETIC

#endif
