/* The buckets of histogram.h. */
#include "observe/histogram.h"

#include <inttypes.h>

#define SECOND INT64_C(1000000000)

struct bound {
    int64_t most; /* the greatest value that the bucket counts */
    const char *text;
};

#define BOUNDS_MAX (HISTOGRAM_BUCKETS - 1)

static const struct {
    struct bound list[BOUNDS_MAX];
    uint32_t count;
} bounds[] = {
    [HISTOGRAM_WAITS] = {{{SECOND / 1000, "0.001"},
                          {SECOND / 100, "0.01"},
                          {SECOND / 10, "0.1"},
                          {SECOND, "1"},
                          {5 * SECOND, "5"},
                          {10 * SECOND, "10"},
                          {30 * SECOND, "30"},
                          {60 * SECOND, "60"},
                          {300 * SECOND, "300"},
                          {1800 * SECOND, "1800"},
                          {3600 * SECOND, "3600"},
                          {21600 * SECOND, "21600"},
                          {86400 * SECOND, "86400"}},
                         13},
    [HISTOGRAM_CALLS] = {{{250, "0.00000025"},
                          {500, "0.0000005"},
                          {1000, "0.000001"},
                          {2000, "0.000002"},
                          {4000, "0.000004"},
                          {8000, "0.000008"},
                          {16000, "0.000016"},
                          {32000, "0.000032"},
                          {64000, "0.000064"},
                          {128000, "0.000128"},
                          {256000, "0.000256"},
                          {512000, "0.000512"},
                          {SECOND / 1000, "0.001"},
                          {SECOND / 100, "0.01"},
                          {SECOND / 10, "0.1"},
                          {SECOND, "1"}},
                         16},
    [HISTOGRAM_ATTEMPTS] =
        {{{0, "0"}, {1, "1"}, {2, "2"}, {4, "4"}, {8, "8"}, {16, "16"}, {32, "32"}, {64, "64"}}, 8},
};

static uint64_t
value_of(const uint64_t *number)
{
    return __atomic_load_n(number, __ATOMIC_RELAXED);
}

static void
set(uint64_t *number, uint64_t value)
{
    __atomic_store_n(number, value, __ATOMIC_RELAXED);
}

static void
raise(uint64_t *number, uint64_t by)
{
    set(number, value_of(number) + by);
}

void
histogram_add(struct histogram *histogram, enum histogram_kind kind, int64_t value)
{
    uint32_t bucket = 0;

    if (value < 0) {
        value = 0;
    }
    while (bucket < bounds[kind].count && value > bounds[kind].list[bucket].most) {
        bucket++;
    }
    raise(&histogram->counts[bucket], 1);
    if (kind == HISTOGRAM_ATTEMPTS) {
        raise(&histogram->rest, (uint64_t)value);
        return;
    }
    uint64_t rest = value_of(&histogram->rest) + (uint64_t)(value % SECOND);

    raise(&histogram->seconds, (uint64_t)(value / SECOND) + rest / (uint64_t)SECOND);
    set(&histogram->rest, rest % (uint64_t)SECOND);
}

void
histogram_merge(struct histogram *sum, const struct histogram *other)
{
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        raise(&sum->counts[i], value_of(&other->counts[i]));
    }
    raise(&sum->seconds, value_of(&other->seconds));
    raise(&sum->rest, value_of(&other->rest));
}

static void
add_bucket(struct text *text, const char *name, const char *labels, const char *bound,
           uint64_t count)
{
    text_add(text, "%s_bucket{%s%sle=\"%s\"} %" PRIu64 "\n", name, labels,
             labels[0] != '\0' ? "," : "", bound, count);
}

static void
add_total(struct text *text, const char *name, const char *what, const char *labels)
{
    if (labels[0] != '\0') {
        text_add(text, "%s_%s{%s} ", name, what, labels);
    } else {
        text_add(text, "%s_%s ", name, what);
    }
}

void
histogram_write(struct text *text, const char *name, const char *labels, enum histogram_kind kind,
                const struct histogram *histogram)
{
    uint64_t seconds = value_of(&histogram->seconds), rest = value_of(&histogram->rest);
    uint32_t count = bounds[kind].count;
    uint64_t so_far = 0;

    for (uint32_t i = 0; i < count; i++) {
        so_far += value_of(&histogram->counts[i]);
        add_bucket(text, name, labels, bounds[kind].list[i].text, so_far);
    }
    so_far += value_of(&histogram->counts[count]);
    add_bucket(text, name, labels, "+Inf", so_far);
    add_total(text, name, "sum", labels);
    if (kind == HISTOGRAM_ATTEMPTS) {
        text_add(text, "%" PRIu64 "\n", rest);
    } else {
        text_add(text, "%" PRIu64 ".%09" PRIu64 "\n", seconds + rest / (uint64_t)SECOND,
                 rest % (uint64_t)SECOND);
    }
    add_total(text, name, "count", labels);
    text_add(text, "%" PRIu64 "\n", so_far);
}
