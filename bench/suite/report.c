/* The table and the JSON file. */
#include "report.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

/* The contestant of this name on that row, or NULL. */
static const figures_t *
figures_of(const result_t *result, const char *name)
{
    for (unsigned i = 0; i < contestant_count; i++) {
        if (strcmp(contestants[i].name, name) == 0 && result->of[i].present) {
            return &result->of[i];
        }
    }
    return NULL;
}

/*
 * How much faster the lock-free engine is than the mutex engine, or where that does not enter, than
 * `bare`; 0 if one is not there. */
static double
ratio_of(const result_t *result)
{
    const figures_t *schedq = figures_of(result, "schedq");
    const figures_t *mutex = figures_of(result, "mutex");
    const figures_t *other = mutex != NULL ? mutex : figures_of(result, "bare");
    return schedq != NULL && other != NULL ? other->median / schedq->median : 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

static bool
is_contestant(const char *name)
{
    for (unsigned i = 0; i < contestant_count; i++) {
        if (strcmp(contestants[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

void
report_heading(FILE *out)
{
    fprintf(out, "\n%-24s", "ns per operation");
    for (unsigned i = 0; i < contestant_count; i++) {
        fprintf(out, " %9s %21s", contestants[i].name, "min .. max");
    }
    fprintf(out, " %11s", "mutex/bare");
    if (is_contestant("schedq")) {
        fprintf(out, " %12s", "mutex/schedq");
    }
    fprintf(out, " %9s\n", "control");
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

    if (!figures->present) {
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

void
report_line(FILE *out, const result_t *result)
{
    const figures_t *mutex = figures_of(result, "mutex");
    const figures_t *bare = figures_of(result, "bare");
    double control = 0;

    fprintf(out, "%-24s", result->name);
    for (unsigned i = 0; i < contestant_count; i++) {
        print_figures(out, &result->of[i]);
        control = fmax(control, result->of[i].control);
    }
    print_ratio(out, 11, mutex != NULL && bare != NULL ? mutex->median / bare->median : 0);
    if (is_contestant("schedq")) {
        print_ratio(out, 12, ratio_of(result));
    }
    if (control > 0) {
        fprintf(out, " %9.0f", control);
    }
    fputc('\n', out);
    fflush(out);
}

void
report_legend(FILE *out)
{
    fputs(
        "\nMedian, least and greatest of the repetitions, wall-clock ns for one operation of all "
        "threads together.\n"
        "preemption: `bare` is the plain way, and in the place of mutex/schedq stands "
        "bare/schedq.\n"
        "control: the same maximum of a thread that only reads the clock. Threads are not pinned.\n"
        "docs/BENCH.md says what each row does.\n",
        out);
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
json_row(const result_t *result)
{
    const figures_t *schedq = figures_of(result, "schedq");
    const figures_t *leading = schedq != NULL ? schedq : figures_of(result, "mutex");
    double ratio = ratio_of(result);
    json_t *row = json_object();

    json_object_set_new(row, "row", json_string(result->name));
    json_object_set_new(row, "unit", json_string("ns"));
    json_object_set_new(row, "schedq", json_median(result, "schedq"));
    json_object_set_new(row, "mutex", json_median(result, "mutex"));
    json_object_set_new(row, "bare", json_median(result, "bare"));
    json_object_set_new(row, "ratio",
                        ratio > 0 ? json_real(round(ratio * 1000) / 1000) : json_null());
    json_object_set_new(row, "min", leading != NULL ? json_number(leading->min) : json_null());
    json_object_set_new(row, "max", leading != NULL ? json_number(leading->max) : json_null());
    json_object_set_new(row, "reps", json_integer(result->repetitions));
    if (leading != NULL && leading->control > 0) {
        json_object_set_new(row, "control", json_number(leading->control));
    }
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
