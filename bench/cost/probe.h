/*
 * What measures the calls that play.c makes. Two programs, two probes: probe_callgrind.c counts
 * instructions under valgrind, probe_counting.c the accesses that the counting back end reports.
 */
#ifndef SCHEDQ_COST_PROBE_H
#define SCHEDQ_COST_PROBE_H

#include <stdbool.h>
#include <stdint.h>

/* The numbers of workers that a row is played with, up to a 0. */
extern const unsigned probe_workers[];

/* Of the engine that is not lock-free, and of `bare`, too? */
extern const bool probe_all;

/* A queue begins: what was seen of memory is forgotten. */
void probe_reset(void);
/* The calls that follow are this worker's. */
void probe_worker(unsigned worker);
/* Warm-up is over; rounds follow. */
void probe_start(void);
void probe_round(void);
/* Around each measured call. */
void probe_on(void);
void probe_off(void);
/* Prints what the measured calls cost, which did `units` of the operation. */
void probe_finish(const char *subject, const char *row, unsigned workers, uint64_t units);

#endif
