/* One histogram per operation. */
#include "costs.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const names[COST_COUNT] = {"add",      "pop",  "add_unschedulable", "done",
                                              "move_all", "tick", "preempt",           "clock"};

const char *
cost_name(cost_t cost)
{
    return names[cost];
}

void
costs_init(costs_t *costs)
{
    for (int i = 0; i < COST_COUNT; i++) {
        costs->histograms[i] = histogram_new();
        if (costs->histograms[i] == NULL) {
            fputs("out of memory: a histogram was refused\n", stderr);
            exit(EXIT_FAILURE);
        }
    }
}

void
costs_free(costs_t *costs)
{
    for (int i = 0; i < COST_COUNT; i++) {
        histogram_free(costs->histograms[i]);
        costs->histograms[i] = NULL;
    }
}

void
costs_merge(costs_t *into, const costs_t *from)
{
    for (int i = 0; i < COST_COUNT; i++) {
        histogram_merge(into->histograms[i], from->histograms[i]);
    }
}
