/*
 * When a pod has waited for too long (max_parked_ns): then it is tried again, whatever did not happen.
 *
 * Too long is more than the limit: a pod that began to wait at `since` is a leftover from since + max + 1 on. All arithmetic
 * saturates, as that of backoff.h.
 */
#ifndef SCHEDQ_POLICY_LEFTOVER_H
#define SCHEDQ_POLICY_LEFTOVER_H

#include "policy/rules.h"

/** Where leftovers are an event (rules.leftover_is_event), a flush that nobody asked for repeats it after kube's period. */
#define LEFTOVER_FLUSH_NS (30 * INT64_C(1000000000))

/** The first reading of the clock at which a pod that waits since then is a leftover. */
static inline int64_t
leftover_due(const struct rules *rules, int64_t since)
{
    return time_add(time_add(since, rules->max_parked_ns), 1);
}

/** The latest beginning of a wait that is too long at `now`. */
static inline int64_t
leftover_latest(const struct rules *rules, int64_t now)
{
    return time_add(time_add(now, -rules->max_parked_ns), -1);
}

#endif
