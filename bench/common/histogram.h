/*
 * A log-linear histogram of 64-bit values: counts for latencies, in fixed memory.
 *
 * Values below 128 are kept exactly; every power of two above is cut into 128 equal buckets, so a
 * percentile is at most 1/128 (0.8 %) above the recorded value it stands for, and never below it.
 * Minimum and maximum are exact. One histogram is 58 KiB whatever is recorded. Not synchronized:
 * one per thread, merged at the end.
 */
#ifndef SCHEDQ_BENCH_HISTOGRAM_H
#define SCHEDQ_BENCH_HISTOGRAM_H

#include <stdint.h>

typedef struct histogram histogram_t;

/* An empty histogram, or NULL without memory. */
histogram_t *histogram_new(void);
/* NULL is allowed. */
void histogram_free(histogram_t *histogram);
void histogram_record(histogram_t *histogram, uint64_t value);
/* Adds what `from` counted to `into`; `from` stays as it is. */
void histogram_merge(histogram_t *into, const histogram_t *from);
uint64_t histogram_count(const histogram_t *histogram);
/*
 * The smallest value (as its bucket's upper edge, cut to the maximum) that at least `percent` of
 * the recorded values do not exceed. Below 0 counts as 0, which is the minimum; above 100 (and NaN)
 * as 100, the maximum. 0 when empty.
 */
uint64_t histogram_percentile(const histogram_t *histogram, double percent);
/* 0 when empty. */
uint64_t histogram_max(const histogram_t *histogram);
/* 0 when empty. */
uint64_t histogram_min(const histogram_t *histogram);

#endif
