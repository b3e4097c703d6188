/*
 * How long a failed pod waits, and when the wait is over.
 *
 * Two formulas. FAILURES (kube 1.34): errors since the last rejection if there are any, else
 * rejections, c of them: initial * 2^(c-1), at most max; no failure, no wait. ATTEMPTS (kube <=
 * 1.31): the same over the number of pops, but the first wait is `initial` even if that is more
 * than max, and a pod that was never popped waits as one popped once.
 *
 * An expiry is Timestamp + duration. With windows it is cut down to a whole second, and seconds are
 * compared.
 *
 *                    pod is backing off while          the wait ends at
 *   plain            expiry > now                      expiry
 *   at expiry        expiry >= now                     expiry + 1
 *   windows          cut(expiry) > cut(now)            cut(expiry)
 *   both             cut(expiry) >= cut(now)           cut(expiry) + 1 s
 *
 * All arithmetic saturates: an expiry beyond the end of time is the end of time.
 */
#ifndef SCHEDQ_POLICY_BACKOFF_H
#define SCHEDQ_POLICY_BACKOFF_H

#include <stdbool.h>
#include <stdint.h>

/** a + b, kept inside int64. */
static inline int64_t
time_add(int64_t a, int64_t b)
{
    int64_t sum;

    if (__builtin_add_overflow(a, b, &sum)) {
        return b > 0 ? INT64_MAX : INT64_MIN;
    }
    return sum;
}

/** Expiry of a pod that does not back off at all: before every reading of a clock. */
#define BACKOFF_NONE INT64_MIN

struct backoff_rules {
    int64_t initial_ns;
    int64_t max_ns;   /* 0: no pod backs off */
    bool by_attempts; /* the formula of kube <= 1.31 */
    bool windows;
    bool at_expiry;
};

struct backoff_counters {
    uint32_t attempts;
    uint32_t rejections;
    uint32_t errors;
};

/** Length of the wait in nanoseconds; 0 = none. Never negative, at most INT64_MAX. */
int64_t backoff_duration(const struct backoff_rules *rules,
                         const struct backoff_counters *counters);

/** `failures`: 0 if there was none. No failure, no wait, whatever the attempts. */
static inline bool
backoff_never_was(const struct backoff_rules *rules, uint32_t failures)
{
    return failures == 0 && !rules->by_attempts;
}

/**
 * End of the wait that began at `timestamp`, as it is compared; BACKOFF_NONE if there is no wait.
 */
int64_t backoff_expiry(const struct backoff_rules *rules, const struct backoff_counters *counters,
                       int64_t timestamp);

/** The expiry as callers are told it: no wait is 0. */
static inline int64_t
backoff_public(int64_t expiry)
{
    return expiry == BACKOFF_NONE ? 0 : expiry;
}

/** Is a pod with this expiry still backing off at `now`? */
bool backoff_is_waiting(const struct backoff_rules *rules, int64_t expiry, int64_t now);

/** The latest expiry that is over at `now`. */
int64_t backoff_latest_due(const struct backoff_rules *rules, int64_t now);

/** The first reading of the clock at which it is not. */
int64_t backoff_due(const struct backoff_rules *rules, int64_t expiry);

static inline int64_t
time_earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
