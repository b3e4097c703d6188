/*
 * Log-linear histogram. A value's bucket is made of its highest set bit and the seven bits below
 * it; the first two groups of 128 buckets hold the values below 256 one by one.
 */
#include "histogram.h"

#include <stdlib.h>

enum {
    LINEAR_BITS = 7,
    LINEAR = 1 << LINEAR_BITS,
    GROUPS = 64 - LINEAR_BITS + 1,
    BUCKETS = GROUPS * LINEAR,
};

struct histogram {
    uint64_t count;
    uint64_t min;
    uint64_t max;
    uint64_t buckets[BUCKETS];
};

static unsigned
bucket_of(uint64_t value)
{
    if (value < LINEAR) {
        return (unsigned)value;
    }
    unsigned group = 64u - LINEAR_BITS - (unsigned)__builtin_clzll(value);
    unsigned below = (unsigned)(value >> (group - 1)) & (LINEAR - 1);
    return group * LINEAR + below;
}

/* The largest value that falls into a bucket. */
static uint64_t
bucket_top(unsigned bucket)
{
    unsigned group = bucket / LINEAR;
    uint64_t below = bucket % LINEAR;

    if (group == 0) {
        return below;
    }
    unsigned shift = group - 1;
    return ((LINEAR + below) << shift) + ((UINT64_C(1) << shift) - 1);
}

histogram_t *
histogram_new(void)
{
    return calloc(1, sizeof(histogram_t));
}

void
histogram_free(histogram_t *histogram)
{
    free(histogram);
}

void
histogram_record(histogram_t *histogram, uint64_t value)
{
    if (histogram->count == 0 || value < histogram->min) {
        histogram->min = value;
    }
    if (value > histogram->max) {
        histogram->max = value;
    }
    histogram->count++;
    histogram->buckets[bucket_of(value)]++;
}

void
histogram_merge(histogram_t *into, const histogram_t *from)
{
    if (from->count == 0) {
        return;
    }
    if (into->count == 0 || from->min < into->min) {
        into->min = from->min;
    }
    if (from->max > into->max) {
        into->max = from->max;
    }
    into->count += from->count;
    for (unsigned i = 0; i < BUCKETS; i++) {
        into->buckets[i] += from->buckets[i];
    }
}

uint64_t
histogram_count(const histogram_t *histogram)
{
    return histogram->count;
}

/* How many values, counted from the smallest, the percentile covers: 1..count. */
static uint64_t
rank_of(uint64_t count, double percent)
{
    if (!(percent < 100.0)) {
        return count;
    }
    if (percent <= 0.0) {
        return 1;
    }
    /*
     * The subtracted 1e-9 keeps 99.9 % of 1,000 at rank 999: the double above 999 must not round up
     * to 1,000.
     */
    double exact = percent / 100.0 * (double)count - 1e-9;
    uint64_t rank = exact > 0.0 ? (uint64_t)exact + 1 : 1;
    return rank < count ? rank : count;
}

uint64_t
histogram_percentile(const histogram_t *histogram, double percent)
{
    if (histogram->count == 0) {
        return 0;
    }
    if (percent <= 0.0) {
        return histogram->min;
    }
    uint64_t rank = rank_of(histogram->count, percent);
    uint64_t seen = 0;
    for (unsigned i = 0; i < BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen >= rank) {
            uint64_t top = bucket_top(i);
            return top < histogram->max ? top : histogram->max;
        }
    }
    return histogram->max;
}

uint64_t
histogram_max(const histogram_t *histogram)
{
    return histogram->max;
}

uint64_t
histogram_min(const histogram_t *histogram)
{
    return histogram->min;
}
