/*
 * Control threads: did this machine let anybody run?
 *
 * One per core that the process may use, pinned to it, in the workers' scheduling class. Each reads
 * the clock in a loop and sleeps for a fraction of a millisecond between two readings, so that it
 * leaves the core to the workers and sees a core that was taken away (by a hypervisor, by an
 * interrupt storm) as a gap between its readings.
 */
#ifndef SCHEDQ_FREEZE_CONTROL_H
#define SCHEDQ_FREEZE_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

int64_t clock_now(void); /* nanoseconds, CLOCK_MONOTONIC */
void clock_sleep_until(int64_t when);

/** False if a thread cannot be started. */
bool control_start(void);
void control_stop(void);
unsigned control_cores(void);

/**
 * The longest time between from and to, over all cores, without a reading. Reaches back about a
 * second.
 */
int64_t control_gap(int64_t from, int64_t to);

#endif
