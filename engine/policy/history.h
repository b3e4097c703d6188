/*
 * What a pod went through, counted on. Counters stay at their end: a pod that failed 2^32 times
 * must not look like a new one.
 */
#ifndef SCHEDQ_POLICY_HISTORY_H
#define SCHEDQ_POLICY_HISTORY_H

#include <stdint.h>

static inline uint32_t
history_raised(uint32_t count)
{
    return count < UINT32_MAX ? count + 1 : count;
}

/**
 * A failure: with an error if there are no rejectors. `errors` are those since the last rejection.
 */
static inline void
history_count_failure(uint32_t *rejections, uint32_t *errors, uint64_t rejectors)
{
    if (rejectors == 0) {
        *errors = history_raised(*errors);
    } else {
        *rejections = history_raised(*rejections);
        *errors = 0;
    }
}

#endif
