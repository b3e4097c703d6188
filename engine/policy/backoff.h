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

/** The time of a tick that is due, but for no pod: before every time that a pod waits for. */
#define TIME_AT_ONCE INT64_C(0)

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

#define BACKOFF_SECOND_NS INT64_C(1000000000)

/* Down to the whole second, also before zero. */
static inline int64_t
backoff_second_of(int64_t time_ns)
{
    int64_t rest = time_ns % BACKOFF_SECOND_NS;

    if (rest < 0) {
        rest += BACKOFF_SECOND_NS;
    }
    return time_add(time_ns, -rest);
}

static inline int64_t
backoff_doubled(int64_t initial, int64_t max, uint32_t doublings)
{
    /*
     * A shift by 63 or more leaves nothing of max, so every initial is above it; C does not define
     * such a shift.
     */
    if (doublings >= 63 || initial > (max >> doublings)) {
        return max;
    }
    return initial << doublings;
}

/** The number that the length of the wait depends on; 0: there is no wait. */
static inline uint32_t
backoff_failures(const struct backoff_rules *rules, const struct backoff_counters *counters)
{
    if (rules->by_attempts) {
        return counters->attempts > 1 ? counters->attempts : 1;
    }
    return counters->errors > 0 ? counters->errors : counters->rejections;
}

/** Length of the wait in nanoseconds; 0 = none. Never negative, at most INT64_MAX. */
static inline int64_t
backoff_duration(const struct backoff_rules *rules, const struct backoff_counters *counters)
{
    uint32_t failures = backoff_failures(rules, counters);

    if (rules->max_ns == 0 || failures == 0) {
        return 0;
    }
    return rules->by_attempts && failures == 1
               ? rules->initial_ns
               : backoff_doubled(rules->initial_ns, rules->max_ns, failures - 1);
}

/** `failures`: 0 if there was none. No failure, no wait, whatever the attempts. */
static inline bool
backoff_never_was(const struct backoff_rules *rules, uint32_t failures)
{
    return failures == 0 && !rules->by_attempts;
}

/** End of a wait of this length, as it is compared; BACKOFF_NONE if there is none. */
static inline int64_t
backoff_end(const struct backoff_rules *rules, int64_t timestamp, int64_t duration)
{
    if (duration == 0) {
        return BACKOFF_NONE;
    }
    int64_t expiry = time_add(timestamp, duration);

    return rules->windows ? backoff_second_of(expiry) : expiry;
}

/** backoff_end of the wait that began at `timestamp`. */
static inline int64_t
backoff_expiry(const struct backoff_rules *rules, const struct backoff_counters *counters,
               int64_t timestamp)
{
    return backoff_end(rules, timestamp, backoff_duration(rules, counters));
}

/** The expiry as callers are told it: no wait is 0. */
static inline int64_t
backoff_public(int64_t expiry)
{
    return expiry == BACKOFF_NONE ? 0 : expiry;
}

/** Is a pod with this expiry still backing off at `now`? */
static inline bool
backoff_is_waiting(const struct backoff_rules *rules, int64_t expiry, int64_t now)
{
    if (expiry == BACKOFF_NONE) {
        return false;
    }
    int64_t compared = rules->windows ? backoff_second_of(now) : now;
    return rules->at_expiry ? expiry >= compared : expiry > compared;
}

/** The latest expiry that is over at `now`. */
static inline int64_t
backoff_latest_due(const struct backoff_rules *rules, int64_t now)
{
    int64_t compared = rules->windows ? backoff_second_of(now) : now;

    return rules->at_expiry ? time_add(compared, -1) : compared;
}

/** The first reading of the clock at which a pod with this expiry does not back off any more. */
static inline int64_t
backoff_due(const struct backoff_rules *rules, int64_t expiry)
{
    if (expiry == BACKOFF_NONE || !rules->at_expiry) {
        return expiry;
    }
    return time_add(expiry, rules->windows ? BACKOFF_SECOND_NS : 1);
}

static inline int64_t
time_earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
