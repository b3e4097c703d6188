/*
 * When a pod has waited for too long (max_parked_ns): then it is tried again, without an event.
 *
 * Too long is more than the limit: a pod that began to wait at `since` is a leftover from since +
 * max + 1 on.
 *
 * Leftovers are tried each by itself, or in flushes. In schedq's own behaviour each pod is tried
 * when it gets a leftover. Where leftovers are an event (rules.leftover_is_event, the kube presets)
 * each flush reaches the pods in flight too, so leftovers are tried together: a flush reaches all
 * that are leftovers by then, and for rules.flush_ns after it there is no other. `flushed` is what
 * the last flush reached: the latest beginning of a wait that was too long; INT64_MIN: there was
 * none. kube-scheduler looks every 30 s from its start. Here the first leftover after a pause of
 * that length is tried at once: no pod waits for longer than in kube, limit + period.
 *
 * All arithmetic saturates, as that of backoff.h.
 */
#ifndef SCHEDQ_POLICY_LEFTOVER_H
#define SCHEDQ_POLICY_LEFTOVER_H

#include "policy/rules.h"

/**
 * From when a pod counts as waiting that a gate refuses at `now`. `flushed`: when the limit tried
 * it last, 0 if it did not. schedq counts from the last refusal, kube 1.37 from the last flush or
 * the Timestamp, earlier releases from the Timestamp.
 */
static inline int64_t
leftover_since(const struct rules *rules, int64_t timestamp, int64_t flushed, int64_t now)
{
    if (rules->gates_see_leftover) {
        return now;
    }
    return rules->flush_begins_anew && flushed > timestamp ? flushed : timestamp;
}

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

/** [flushes] The first reading at which the next flush may come. */
static inline int64_t
leftover_again(const struct rules *rules, int64_t flushed)
{
    return time_add(leftover_due(rules, flushed), rules->flush_ns);
}

/**
 * [flushes] May the next flush come at `now`? A flush that is due at the end of time never comes:
 * at that time each flush would make the next one due at once.
 */
static inline bool
leftover_may_flush(const struct rules *rules, int64_t flushed, int64_t now)
{
    int64_t again = leftover_again(rules, flushed);

    return again <= now && again < INT64_MAX;
}

/** When a pod that waits since then is tried again. */
static inline int64_t
leftover_tried(const struct rules *rules, int64_t since, int64_t flushed)
{
    int64_t due = leftover_due(rules, since);

    if (!rules->leftover_is_event || since <= flushed) {
        return due;
    }
    int64_t again = leftover_again(rules, flushed);

    return due < again ? again : due;
}

#endif
