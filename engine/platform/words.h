/*
 * Accesses to the words that other threads read without the queue's lock: schedq_words_t, a
 * worker's words, counts that argument checks read.
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

#endif
