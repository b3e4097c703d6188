/* The table and the JSON file. */
#include "report.h"

#include "headline.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* Contestants that have a column each; the others that entered come behind them. */
static const char *const columns[] = {"mutex", "schedq", "bare"};

enum { COLUMNS = sizeof columns / sizeof columns[0] };

/* The contestant of this name on that row, or NULL. */
static const figures_t *
figures_of(const result_t *result, const char *name)
{
    const contestant_t *contestant = contestant_find(name);

    if (contestant == NULL || !result->of[contestant - contestants].present) {
        return NULL;
    }
    return &result->of[contestant - contestants];
}

/* The rival that does the same work in the shortest time, or NULL. */
static const contestant_t *
best_rival(const result_t *result)
{
    const contestant_t *best = NULL;

    for (unsigned i = 0; i < contestant_count; i++) {
        const contestant_t *rival = &contestants[i];

        if (result->of[i].present && (rival->groups & GROUP_RIVALS) != 0 &&
            rival->missing == NULL &&
            (best == NULL || result->of[i].median < result->of[best - contestants].median)) {
            best = rival;
        }
    }
    return best;
}

static double
quotient(const figures_t *above, const figures_t *below)
{
    return above != NULL && below != NULL && below->median > 0 ? above->median / below->median : 0;
}

/* Names of contestants. */
typedef struct sides {
    const char *above, *below;
} sides_t;

/* What the ratio is made of, as workload.h says. */
static sides_t
sides_of(const result_t *result)
{
    const contestant_t *rival = best_rival(result);

    switch (result->value->ratio) {
    case RATIO_BEST_RIVAL:
        return (sides_t){rival != NULL ? rival->name : "mutex", "schedq"};
    case RATIO_YIELDING:
        return (sides_t){"yielding", "schedq"};
    case RATIO_OF_BASE:
        return (sides_t){"base", "schedq"};
    case RATIO_TO_BASE:
        return (sides_t){"schedq", "base"};
    default:
        return (sides_t){figures_of(result, "mutex") != NULL ? "mutex" : "bare", "schedq"};
    }
}

/* 0 if a side is not there. */
static double
ratio_of(const result_t *result)
{
    const sides_t sides = sides_of(result);

    return quotient(figures_of(result, sides.above), figures_of(result, sides.below));
}

static const char *
unit_of(const result_t *result)
{
    return result->value->unit != NULL ? result->value->unit : "ns";
}

static bool
has_column(const contestant_t *contestant)
{
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (strcmp(columns[i], contestant->name) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- table ----------------------------------------------------------------------------------- */

void
report_heading(FILE *out)
{
    fprintf(out, "\n%-32s", "ns per operation");
    for (unsigned i = 0; i < COLUMNS; i++) {
        fprintf(out, " %9s %21s", columns[i], "min .. max");
    }
    fprintf(out, " %11s %12s %11s %9s\n", "mutex/bare", "ratio", "bare/schedq", "control");
}

static const char *
number(char *text, size_t size, double value)
{
    snprintf(text, size, value < 100 ? "%.1f" : "%.0f", value);
    return text;
}

static void
print_figures(FILE *out, const figures_t *figures)
{
    char median[32];
    char min[32];
    char max[32];
    char range[72];

    if (figures == NULL) {
        fprintf(out, " %9s %21s", "-", "");
        return;
    }
    snprintf(range, sizeof range, "%s .. %s", number(min, sizeof min, figures->min),
             number(max, sizeof max, figures->max));
    fprintf(out, " %9s %21s", number(median, sizeof median, figures->median), range);
}

static void
print_ratio(FILE *out, int width, double ratio)
{
    if (ratio > 0) {
        fprintf(out, " %*.2f", width, ratio);
    } else {
        fprintf(out, " %*s", width, "-");
    }
}

static double
control_of(const result_t *result)
{
    double control = 0;

    for (unsigned i = 0; i < contestant_count; i++) {
        control = fmax(control, result->of[i].control);
    }
    return control;
}

/* "; bands 120, tbb 480 (no map of names)" */
static void
print_others(FILE *out, const result_t *result)
{
    const char *between = "  ";
    char median[32];

    for (unsigned i = 0; i < contestant_count; i++) {
        const contestant_t *other = &contestants[i];

        if (!result->of[i].present || has_column(other)) {
            continue;
        }
        fprintf(out, "%s%s %s", between, other->name,
                number(median, sizeof median, result->of[i].median));
        if (other->missing != NULL) {
            fprintf(out, " (%s)", other->missing);
        }
        between = ", ";
    }
}

void
report_line(FILE *out, const result_t *result)
{
    const figures_t *bare = figures_of(result, "bare");
    double control = control_of(result);

    fprintf(out, "%-32s", result->name);
    for (unsigned i = 0; i < COLUMNS; i++) {
        print_figures(out, figures_of(result, columns[i]));
    }
    print_ratio(out, 11, quotient(figures_of(result, "mutex"), bare));
    print_ratio(out, 12, ratio_of(result));
    print_ratio(out, 11, quotient(bare, figures_of(result, "schedq")));
    if (control > 0) {
        fprintf(out, " %9.0f", control);
    } else {
        fprintf(out, " %9s", "-");
    }
    print_others(out, result);
    fputc('\n', out);
    fflush(out);
}

void
report_legend(FILE *out)
{
    fputs(
        "\nMedian, least and greatest of the repetitions, wall-clock ns for one operation of all "
        "threads together.\n"
        "ratio: mutex/schedq. Without a mutex engine bare/schedq (preemption: `bare` is the plain "
        "way). best-rival: the best that leaves nothing out/schedq. yielding: that "
        "engine/schedq.\n"
        "10k-events, frozen: base (nothing happens)/schedq. 4096-vs-1: schedq/base (one priority). "
        "wake: schedq/base (a futex). group: schedq/base (pods in no group).\n"
        "bytes-per-pod: bytes. control: the same maximum of a thread that only reads the clock. "
        "Threads are not pinned.\n"
        "docs/BENCH.md says what each row does.\n",
        out);
#ifndef SCHEDQ_BENCH_RIVALS
    fputs("This build has no tbb and no moodycamel: libtbb-dev and libconcurrentqueue-dev were "
          "missing.\n",
          out);
#endif
}

/* ---- JSON ------------------------------------------------------------------------------------ */

/* Tenths of a nanosecond are enough, and make the file readable. */
static json_t *
json_number(double value)
{
    return json_real(round(value * 10) / 10);
}

static json_t *
json_median(const result_t *result, const char *name)
{
    const figures_t *figures = figures_of(result, name);
    return figures != NULL ? json_number(figures->median) : json_null();
}

static json_t *
json_ratio(double ratio)
{
    return ratio > 0 ? json_real(round(ratio * 1000) / 1000) : json_null();
}

/* "mutex/schedq" */
static json_t *
json_sides(const result_t *result)
{
    const sides_t sides = sides_of(result);
    char text[64];

    snprintf(text, sizeof text, "%s/%s", sides.above, sides.below);
    return ratio_of(result) > 0 ? json_string(text) : json_null();
}

/* The percentiles that so many values can tell, each with its value. */
static json_t *
json_distribution(const histogram_t *distribution)
{
    static const double percents[] = {0,  1,  10,   25,   50,    75,    90,     95,
                                      98, 99, 99.5, 99.9, 99.95, 99.99, 99.995, 99.999};
    const double count = (double)histogram_count(distribution);
    json_t *points = json_array();

    for (size_t i = 0; i < sizeof percents / sizeof percents[0]; i++) {
        if ((100 - percents[i]) * count >= 100) {
            json_array_append_new(
                points, json_pack("[f, I]", percents[i],
                                  (json_int_t)histogram_percentile(distribution, percents[i])));
        }
    }
    json_array_append_new(points,
                          json_pack("[f, I]", 100.0, (json_int_t)histogram_max(distribution)));
    return points;
}

/* All that entered: what `ratio` was made of, and how far the repetitions lie apart. */
static json_t *
json_figures(const result_t *result)
{
    json_t *all = json_object();

    for (unsigned i = 0; i < contestant_count; i++) {
        const figures_t *figures = &result->of[i];
        json_t *one = json_object();

        if (!figures->present) {
            json_decref(one);
            continue;
        }
        json_object_set_new(one, "median", json_number(figures->median));
        json_object_set_new(one, "min", json_number(figures->min));
        json_object_set_new(one, "max", json_number(figures->max));
        if (figures->distribution != NULL) {
            json_object_set_new(one, "distribution", json_distribution(figures->distribution));
        }
        if (contestants[i].missing != NULL) {
            json_object_set_new(one, "missing", json_string(contestants[i].missing));
        }
        json_object_set_new(all, contestants[i].name, one);
    }
    return all;
}

static json_t *
json_row(const result_t *result)
{
    const figures_t *schedq = figures_of(result, "schedq");
    const figures_t *leading = schedq != NULL ? schedq : figures_of(result, "mutex");
    const contestant_t *rival = best_rival(result);
    json_t *row = json_object();

    json_object_set_new(row, "row", json_string(result->name));
    json_object_set_new(row, "unit", json_string(unit_of(result)));
    json_object_set_new(row, "headline", json_boolean(is_headline(result->name)));
    json_object_set_new(row, "schedq", json_median(result, "schedq"));
    json_object_set_new(row, "mutex", json_median(result, "mutex"));
    json_object_set_new(row, "bare", json_median(result, "bare"));
    json_object_set_new(row, "ratio", json_ratio(ratio_of(result)));
    json_object_set_new(row, "ratio_of", json_sides(result));
    json_object_set_new(row, "bare_ratio",
                        json_ratio(quotient(figures_of(result, "bare"), schedq)));
    json_object_set_new(row, "min", leading != NULL ? json_number(leading->min) : json_null());
    json_object_set_new(row, "max", leading != NULL ? json_number(leading->max) : json_null());
    json_object_set_new(row, "reps", json_integer(result->repetitions));
    if (leading != NULL && leading->control > 0) {
        json_object_set_new(row, "control", json_number(leading->control));
    }
    if (result->value->ratio == RATIO_BEST_RIVAL && rival != NULL) {
        json_object_set_new(row, "rival", json_string(rival->name));
    }
    json_object_set_new(row, "figures", json_figures(result));
    return row;
}

bool
report_json(FILE *out, const result_t *results, unsigned count)
{
    json_t *array = json_array();

    for (unsigned i = 0; i < count; i++) {
        json_array_append_new(array, json_row(&results[i]));
    }
    bool written = json_dumpf(array, out, JSON_INDENT(1) | JSON_REAL_PRECISION(12)) == 0;
    json_decref(array);
    return written && fputc('\n', out) != EOF && fflush(out) == 0;
}
