/*
 * What a pod went through, counted on. Counters stay at their end: a pod that failed 2^32 times must not look like a new one.
 */
#ifndef SCHEDQ_LOCKFREE_HISTORY_H
#define SCHEDQ_LOCKFREE_HISTORY_H

#include <schedq/schedq.h>

static inline uint32_t
history_raised(uint32_t count)
{
    return count < UINT32_MAX ? count + 1 : count;
}

/** A failure: with an error if there are no rejectors. */
static inline void
history_count_failure(schedq_history_t *history, uint64_t rejectors)
{
    if (rejectors == 0) {
        history->errors = history_raised(history->errors);
    } else {
        history->rejections = history_raised(history->rejections);
        history->errors = 0;
    }
}

#endif
