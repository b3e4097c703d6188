/* The clocks of clock.h. */
#include "platform/clock.h"

#include "platform/words.h"

#include <time.h>

int64_t
clock_monotonic(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

int64_t
clock_now(const struct clock *clock)
{
    if (clock->word != NULL) {
        return word_load(clock->word);
    }
    return clock->source.now_ns != NULL ? clock->source.now_ns(clock->source.ctx) : clock_monotonic();
}
