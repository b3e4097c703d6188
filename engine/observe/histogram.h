/*
 * Counts of values by size, and their lines in the metrics' text.
 *
 * One thread adds to a histogram; others may read it meanwhile, and then miss what it is adding.
 * The accesses are relaxed, and the compiler's: they are part of no protocol that atomic.h's other
 * back ends look at.
 */
#ifndef SCHEDQ_OBSERVE_HISTOGRAM_H
#define SCHEDQ_OBSERVE_HISTOGRAM_H

#include "observe/text.h"

#include <stdint.h>

/** What the values are, and so which bounds there are. */
enum histogram_kind {
    HISTOGRAM_WAITS,    /* nanoseconds, told in seconds: 1 ms to a day */
    HISTOGRAM_CALLS,    /* the same: 250 ns to a second */
    HISTOGRAM_ATTEMPTS, /* pops of a pod: 0 to 64 */
};

/** One for each bound, and one for what is greater than all. */
#define HISTOGRAM_BUCKETS 17

struct histogram {
    uint64_t counts[HISTOGRAM_BUCKETS];
    uint64_t seconds, rest; /* the sum; of attempts all is rest */
};

/** Counts a value; one that is negative counts as 0. */
void histogram_add(struct histogram *histogram, enum histogram_kind kind, int64_t value);

/** Adds another's counts. */
void histogram_merge(struct histogram *sum, const struct histogram *other);

/** The samples of a family `name`; `labels` "": without, else as "place=\"active\"". */
void histogram_write(struct text *text, const char *name, const char *labels,
                     enum histogram_kind kind, const struct histogram *histogram);

#endif
