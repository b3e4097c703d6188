/* The clocks of clock.h. */
#include "platform/clock.h"

#include "platform/inside.h"
#include "platform/words.h"

#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

/*
 * The resolution of clocks that read a counter is 1 ns, of those that count interrupts a ms or
 * more.
 */
#define COARSE_NS 100

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
    if (clock->source.now_ns == NULL) {
        return clock_monotonic();
    }
    /* a callback may be running, and may call schedq_now */
    const uint64_t before = inside_interrupts(CALLBACK_CLOCK);
    int64_t now = clock->source.now_ns(clock->source.ctx);

    inside_goes_on(before);
    return now > 0 ? now : 0;
}

bool
clock_repeats(const struct clock *clock)
{
    struct timespec step;

    return clock->source.now_ns != NULL || clock_is_virtual(clock) ||
           clock_getres(CLOCK_MONOTONIC, &step) != 0 || step.tv_sec != 0 ||
           step.tv_nsec > COARSE_NS;
}

bool
clock_has_ticks(void)
{
#if defined(__x86_64__)
    unsigned eax, ebx, ecx, edx;

    return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx >> 8 & 1) != 0;
#else
    return false;
#endif
}
