/*
 * What each queue operation cost, in nanoseconds of CLOCK_MONOTONIC, by histogram.
 *
 * Every figure contains one reading of the clock: from the end of one reading to the end of the
 * next. COST_CLOCK is that alone, with nothing in between.
 */
#ifndef SCHEDQ_REPLAY_COSTS_H
#define SCHEDQ_REPLAY_COSTS_H

#include "histogram.h"

#include <time.h>

typedef enum cost {
    COST_ADD,
    COST_POP, /* that returned a pod */
    COST_ADD_UNSCHEDULABLE,
    COST_DONE,
    COST_MOVE_ALL,
    COST_TICK,
    COST_PREEMPT,
    COST_CLOCK,
    COST_COUNT
} cost_t;

typedef struct costs {
    histogram_t *histograms[COST_COUNT];
} costs_t;

/* "add", "pop", ... */
const char *cost_name(cost_t cost);
void costs_init(costs_t *costs);
void costs_free(costs_t *costs);
void costs_merge(costs_t *into, const costs_t *from);

static inline uint64_t
costs_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Records what began at `start` and ends now. Returns now, where the next operation may begin. */
static inline uint64_t
costs_record(costs_t *costs, cost_t cost, uint64_t start)
{
    uint64_t now = costs_now();

    histogram_record(costs->histograms[cost], now - start);
    return now;
}

#endif
