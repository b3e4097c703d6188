/*
 * The back end of atomic.h for schedq-cost (bench/cost), which defines the five functions below.
 *
 * Everything runs on one thread of the operating system, which plays all workers in turns, a call
 * at a time. So the operations are plain, and each reports its access before it is made. A T_cas
 * that fails reports a read-modify-write too: it takes the line as one that succeeds does. u64_max
 * reports what it is made of.
 */
#ifndef SCHEDQ_PLATFORM_ATOMIC_COUNTING_H
#define SCHEDQ_PLATFORM_ATOMIC_COUNTING_H

void count_load(const void *word);
void count_store(const void *word);
void count_rmw(const void *word);
void count_fence(void);
/** `to_write`: the processor asks for the line as a store does. */
void count_prefetch(const void *line, int to_write);

/*
 * Prefetches move lines. Without prefetchw gcc makes an ordinary prefetch of one that asks to
 * write.
 */
#if defined(__PRFCHW__) || !defined(__x86_64__)
#define COUNT_PREFETCH(line, to_write, ...) count_prefetch(line, to_write)
#else
#define COUNT_PREFETCH(line, ...) count_prefetch(line, 0)
#endif
#define __builtin_prefetch(...) COUNT_PREFETCH(__VA_ARGS__, 0, 0)

#define ATOMIC_OPERATIONS(T, type)                                                  \
    static inline type T##_load(const atomic_##T *word)                             \
    {                                                                               \
        count_load(word);                                                           \
        return word->raw;                                                           \
    }                                                                               \
    static inline type T##_load_acquire(const atomic_##T *word)                     \
    {                                                                               \
        count_load(word);                                                           \
        return word->raw;                                                           \
    }                                                                               \
    static inline void T##_store(atomic_##T *word, type value)                      \
    {                                                                               \
        count_store(word);                                                          \
        word->raw = value;                                                          \
    }                                                                               \
    static inline void T##_store_release(atomic_##T *word, type value)              \
    {                                                                               \
        count_store(word);                                                          \
        word->raw = value;                                                          \
    }                                                                               \
    static inline type T##_exchange(atomic_##T *word, type value)                   \
    {                                                                               \
        type old = word->raw;                                                       \
        count_rmw(word);                                                            \
        word->raw = value;                                                          \
        return old;                                                                 \
    }                                                                               \
    static inline type T##_cas_value(atomic_##T *word, type expected, type desired) \
    {                                                                               \
        type found = word->raw;                                                     \
        count_rmw(word);                                                            \
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
        type old = word->raw;                                \
        count_rmw(word);                                     \
        word->raw = old + value;                             \
        return old;                                          \
    }                                                        \
    static inline void T##_or(atomic_##T *word, type value)  \
    {                                                        \
        count_rmw(word);                                     \
        word->raw |= value;                                  \
    }

ATOMIC_OPERATIONS(u32, uint32_t)
ATOMIC_OPERATIONS(u64, uint64_t)
ATOMIC_OPERATIONS(ptr, void *)
ATOMIC_ARITHMETIC(u32, uint32_t)
ATOMIC_ARITHMETIC(u64, uint64_t)

static inline bool
pair_cas(atomic_pair *word, struct pair expected, struct pair desired)
{
    bool same = word->low.raw == expected.low && word->high.raw == expected.high;

    count_rmw(word);
    if (same) {
        word->low.raw = desired.low;
        word->high.raw = desired.high;
    }
    return same;
}

static inline void
atomic_fence(void)
{
    count_fence();
}

#undef ATOMIC_OPERATIONS
#undef ATOMIC_ARITHMETIC

#endif
