/*
 * Accesses to the words that other threads read without the queue's lock: schedq_words_t, a
 * worker's busy flag, counts that argument checks read.
 *
 * Store with release, load with acquire: a reader of a count sees what was done before it was
 * stored. Wait-free, but for word_raise_i64, which is lock-free.
 */
#ifndef SCHEDQ_PLATFORM_WORDS_H
#define SCHEDQ_PLATFORM_WORDS_H

#include <stdint.h>

#define word_load(word) __atomic_load_n((word), __ATOMIC_ACQUIRE)
#define word_store(word, value) __atomic_store_n((word), (value), __ATOMIC_RELEASE)

/**
 * Raises `word` to `value`; it never goes back. Ends: each failed exchange is another thread's
 * raise.
 */
static inline void
word_raise_i64(int64_t *word, int64_t value)
{
    int64_t found = __atomic_load_n(word, __ATOMIC_ACQUIRE);

    while (found < value && !__atomic_compare_exchange_n(word, &found, value, 0, __ATOMIC_ACQ_REL,
                                                         __ATOMIC_ACQUIRE)) {
    }
}

/**
 * Takes a flag that is 0 for `user`, not 0; false if it is taken. What its last holder did is
 * visible to the next.
 *
 * Load and store, not an exchange: it shows a misuse most often, nothing relies on it, and a locked
 * instruction in every call was 4 % of a life cycle.
 */
static inline int
word_try_take(uint32_t *flag, uint32_t user)
{
    if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) != 0) {
        return 0;
    }
    __atomic_store_n(flag, user, __ATOMIC_RELAXED);
    return 1;
}

static inline void
word_give_back(uint32_t *flag)
{
    __atomic_store_n(flag, 0, __ATOMIC_RELEASE);
}

#endif
