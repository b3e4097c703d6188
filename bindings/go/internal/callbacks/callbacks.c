#include "callbacks.h"

uint64_t limit;

int
is_odd(void *ctx, uint64_t pod)
{
    (void)ctx;
    return pod % 2 == 1;
}

int
is_at_most(void *limit_of, uint64_t pod)
{
    return pod <= *(const uint64_t *)limit_of;
}

schedq_hint_t
is_enough(void *ctx, uint64_t pod, uint64_t before, uint64_t after)
{
    (void)ctx, (void)before;
    return after >= pod ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
}
