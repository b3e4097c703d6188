/* The arithmetic of backoff.h. */
#include "policy/backoff.h"

#define SECOND_NS INT64_C(1000000000)

/* Down to the whole second, also before zero. */
static int64_t
second_of(int64_t time_ns)
{
    int64_t rest = time_ns % SECOND_NS;

    if (rest < 0) {
        rest += SECOND_NS;
    }
    return time_add(time_ns, -rest);
}

static int64_t
doubled(int64_t initial, int64_t max, uint32_t doublings)
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

int64_t
backoff_duration(const struct backoff_rules *rules, const struct backoff_counters *counters)
{
    if (rules->max_ns == 0) {
        return 0;
    }
    if (rules->by_attempts) {
        if (counters->attempts <= 1) {
            return rules->initial_ns;
        }
        return doubled(rules->initial_ns, rules->max_ns, counters->attempts - 1);
    }
    uint32_t failures = counters->errors > 0 ? counters->errors : counters->rejections;
    return failures == 0 ? 0 : doubled(rules->initial_ns, rules->max_ns, failures - 1);
}

int64_t
backoff_expiry(const struct backoff_rules *rules, const struct backoff_counters *counters,
               int64_t timestamp)
{
    int64_t duration = backoff_duration(rules, counters);

    if (duration == 0) {
        return BACKOFF_NONE;
    }
    int64_t expiry = time_add(timestamp, duration);
    return rules->windows ? second_of(expiry) : expiry;
}

bool
backoff_is_waiting(const struct backoff_rules *rules, int64_t expiry, int64_t now)
{
    if (expiry == BACKOFF_NONE) {
        return false;
    }
    int64_t compared = rules->windows ? second_of(now) : now;
    return rules->at_expiry ? expiry >= compared : expiry > compared;
}

int64_t
backoff_latest_due(const struct backoff_rules *rules, int64_t now)
{
    int64_t compared = rules->windows ? second_of(now) : now;

    return rules->at_expiry ? time_add(compared, -1) : compared;
}

int64_t
backoff_due(const struct backoff_rules *rules, int64_t expiry)
{
    if (expiry == BACKOFF_NONE || !rules->at_expiry) {
        return expiry;
    }
    return time_add(expiry, rules->windows ? SECOND_NS : 1);
}
