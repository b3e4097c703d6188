/*
 * Which of two active pods is popped first.
 *
 * Higher priority first, then the smaller order key. The order key is the Timestamp, made unique by
 * order_key_next, unless the caller chose one. A rank is the priority turned round, so that
 * "smaller first" holds for both parts.
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

/**
 * A place in an order, and a pod, in 128 bits that compare as one number, smaller first.
 *
 *   by rank   rank:32 | key:64 | pod:32            what pop takes
 *   by time   expiry:64 | rank:32 | pod:32         what backs off; equal expiry and rank: by key,
 *           which is not in here
 *
 * Times are signed; their highest bit is turned, so that they compare as unsigned.
 */
struct order {
    uint64_t high, low;
};

static inline uint64_t
order_unsigned(int64_t time)
{
    return (uint64_t)time ^ (UINT64_C(1) << 63);
}

static inline struct order
order_by_rank(uint32_t rank, int64_t key, uint32_t pod)
{
    uint64_t time = order_unsigned(key);

    return (struct order){.high = (uint64_t)rank << 32 | time >> 32, .low = time << 32 | pod};
}

static inline struct order
order_by_time(int64_t expiry, uint32_t rank, uint32_t pod)
{
    return (struct order){.high = order_unsigned(expiry), .low = (uint64_t)rank << 32 | pod};
}

static inline uint32_t
order_pod(struct order order)
{
    return (uint32_t)order.low;
}

/** The expiry in an order by time. */
static inline int64_t
order_expiry(struct order order)
{
    return (int64_t)(order.high ^ (UINT64_C(1) << 63));
}

/** True if two orders by time differ in nothing but the pod. */
static inline bool
order_ties_in_time(struct order a, struct order b)
{
    return a.high == b.high && a.low >> 32 == b.low >> 32;
}

static inline bool
order_before(const struct order *a, const struct order *b)
{
    return a->high < b->high || (a->high == b->high && a->low < b->low);
}

/**
 * The key of a pod that enters at `now`: at least now, and after every key drawn before.
 *
 * Clocks repeat readings (virtual ones, coarse ones); pods that enter at one reading keep the order
 * in which they came. At INT64_MAX they tie.
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
