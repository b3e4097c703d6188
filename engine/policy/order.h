/*
 * Which of two active pods is popped first.
 *
 * Higher priority first, then the smaller order key. The order key is the Timestamp, made unique by order_key_next,
 * unless the caller chose one. A rank is the priority turned round, so that "smaller first" holds for both parts and
 * they compare as unsigned and signed integers without a branch on the sign of the priority.
 */
#ifndef SCHEDQ_POLICY_ORDER_H
#define SCHEDQ_POLICY_ORDER_H

#include <stdbool.h>
#include <stdint.h>

/** The whole range of int32 is legal: INT32_MAX has rank 0, INT32_MIN has rank UINT32_MAX. */
static inline uint32_t
order_rank(int32_t priority)
{
    return (uint32_t)INT32_MAX - (uint32_t)priority;
}

static inline bool
order_before(uint32_t rank_a, int64_t key_a, uint32_t rank_b, int64_t key_b)
{
    return rank_a != rank_b ? rank_a < rank_b : key_a < key_b;
}

/**
 * The key of a pod that enters at `now`: at least now, and after every key drawn before.
 *
 * Clocks repeat readings (virtual ones, coarse ones); pods that enter at one reading keep the order in which they came.
 */
static inline int64_t
order_key_next(int64_t now, int64_t last_key)
{
    if (now > last_key) {
        return now;
    }
    return last_key == INT64_MAX ? INT64_MAX : last_key + 1;
}

#endif
