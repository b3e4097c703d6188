/*
 * Sleeping until a word changes.
 */
#ifndef SCHEDQ_PLATFORM_FUTEX_H
#define SCHEDQ_PLATFORM_FUTEX_H

#include "platform/atomic.h"

#define FUTEX_NO_DEADLINE INT64_MAX

/** A sleeper with these bits is woken whatever bits futex_wake_bits gives. */
#define FUTEX_ANY UINT32_MAX

/**
 * Sleeps while *word is `expected`, until woken or until `deadline_ns` on CLOCK_MONOTONIC.
 *
 * It may return without a reason: callers look again.
 * @param bits not 0: what futex_wake_bits may name it by
 */
void futex_wait(atomic_u32 *word, uint32_t expected, int64_t deadline_ns, uint32_t bits);

/** Wakes at most `count` of those that sleep on `word`. */
void futex_wake(atomic_u32 *word, uint32_t count);

/** Wakes all that sleep on `word` with one of these bits. */
void futex_wake_bits(atomic_u32 *word, uint32_t bits);

#endif
