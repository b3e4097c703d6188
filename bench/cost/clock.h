/*
 * CLOCK_MONOTONIC of the measuring programs: clock.c defines clock_gettime, so that the engines run
 * with the clock that an embedder has by default, and every run sees the same readings. Each
 * reading is 100 ns after the one before.
 */
#ifndef SCHEDQ_COST_CLOCK_H
#define SCHEDQ_COST_CLOCK_H

#include <stdint.h>

void clock_reset(void);
void clock_pass(int64_t ns);

#endif
