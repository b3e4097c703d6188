/* The clock of clock.h. */
#include "clock.h"

#include <time.h>

#define BEGIN_NS INT64_C(1000000000000)
#define STEP_NS 100
#define NS_PER_SECOND INT64_C(1000000000)

static int64_t now = BEGIN_NS;

void
clock_reset(void)
{
    now = BEGIN_NS;
}

void
clock_pass(int64_t ns)
{
    now += ns;
}

int
clock_gettime(clockid_t clock, struct timespec *time)
{
    (void)clock;
    now += STEP_NS;
    time->tv_sec = now / NS_PER_SECOND;
    time->tv_nsec = now % NS_PER_SECOND;
    return 0;
}
