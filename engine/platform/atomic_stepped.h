/*
 * The operations of atomic.h for back ends that run all threads on one of the operating system: so
 * each is plain, behind what the back end does before it. Included by one of them, which defines
 *
 *   ACCESS_LOAD(word, type, from)    the value; `from` casts a number to a pointer
 *   ACCESS_STORE(word, value, to)    the store; `to` casts a pointer to a number
 *   ACCESS_RMW(word)                 before a read-modify-write; it is one step with it
 *   ACCESS_FENCE()
 */
#define ATOMIC_OPERATIONS(T, type, from, to)                                        \
    static inline type T##_load(const atomic_##T *word)                             \
    {                                                                               \
        return ACCESS_LOAD(word, type, from);                                       \
    }                                                                               \
    static inline type T##_load_acquire(const atomic_##T *word)                     \
    {                                                                               \
        return ACCESS_LOAD(word, type, from);                                       \
    }                                                                               \
    static inline void T##_store(atomic_##T *word, type value)                      \
    {                                                                               \
        ACCESS_STORE(word, value, to);                                              \
    }                                                                               \
    static inline void T##_store_release(atomic_##T *word, type value)              \
    {                                                                               \
        ACCESS_STORE(word, value, to);                                              \
    }                                                                               \
    static inline type T##_exchange(atomic_##T *word, type value)                   \
    {                                                                               \
        ACCESS_RMW(word);                                                           \
        type old = word->raw;                                                       \
        word->raw = value;                                                          \
        return old;                                                                 \
    }                                                                               \
    static inline type T##_cas_value(atomic_##T *word, type expected, type desired) \
    {                                                                               \
        ACCESS_RMW(word);                                                           \
        type found = word->raw;                                                     \
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
        ACCESS_RMW(word);                                    \
        type old = word->raw;                                \
        word->raw = old + value;                             \
        return old;                                          \
    }                                                        \
    static inline void T##_or(atomic_##T *word, type value)  \
    {                                                        \
        ACCESS_RMW(word);                                    \
        word->raw |= value;                                  \
    }

ATOMIC_OPERATIONS(u32, uint32_t, , )
ATOMIC_OPERATIONS(u64, uint64_t, , )
ATOMIC_OPERATIONS(ptr, void *, (uintptr_t), (uintptr_t))
ATOMIC_ARITHMETIC(u32, uint32_t)
ATOMIC_ARITHMETIC(u64, uint64_t)

static inline bool
pair_cas(atomic_pair *word, struct pair expected, struct pair desired)
{
    ACCESS_RMW(word);
    bool same = word->low.raw == expected.low && word->high.raw == expected.high;

    if (same) {
        word->low.raw = desired.low;
        word->high.raw = desired.high;
    }
    return same;
}

static inline void
atomic_fence(void)
{
    ACCESS_FENCE();
}

static inline void
atomic_light_fence(void)
{
}

#undef ACCESS_LOAD
#undef ACCESS_STORE
#undef ACCESS_RMW
#undef ACCESS_FENCE
#undef ATOMIC_OPERATIONS
#undef ATOMIC_ARITHMETIC
