/*
 * schedq-bench: selects the rows, measures them one after the other, prints the table, writes the
 * JSON file.
 *
 * Progress goes to standard error when that is a terminal; notes of the workloads come below the
 * table.
 */
#include "headline.h"
#include "machine.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "support/interrupt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool
value_selected(const options_t *options, const row_t *row, unsigned value)
{
    char name[64];

    row_value_name(row, value, name, sizeof name);
    if (options->headline && !is_headline(name)) {
        return false;
    }
    return !options->filtered || regexec(&options->filter, name, 0, NULL, 0) == 0;
}

/* Is the row among those that the options ask for, whatever the filter says? */
static bool
is_its_time(const options_t *options, const row_t *row)
{
    if (options->headline) {
        return true;
    }
    if (options->suite == NULL) {
        return row->when == EVERYDAY || (row->when == FULL && options->full);
    }
    return strcmp(row->workload->suite, options->suite) == 0 &&
           (row->when != FULL || options->full);
}

static bool
row_selected(const options_t *options, const row_t *row)
{
    if (!is_its_time(options, row)) {
        return false;
    }
    for (unsigned value = 0; value < row_values(row); value++) {
        if (value_selected(options, row, value)) {
            return true;
        }
    }
    return false;
}

static unsigned
count_selected(const options_t *options)
{
    unsigned count = 0;
    for (unsigned i = 0; i < row_count; i++) {
        count += row_selected(options, &rows[i]);
    }
    return count;
}

static void
list(const options_t *options)
{
    char name[64];

    for (unsigned i = 0; i < row_count; i++) {
        if (!row_selected(options, &rows[i])) {
            continue;
        }
        for (unsigned value = 0; value < row_values(&rows[i]); value++) {
            if (value_selected(options, &rows[i], value)) {
                row_value_name(&rows[i], value, name, sizeof name);
                puts(name);
            }
        }
    }
}

static void
progress(unsigned number, unsigned count, const char *name)
{
    if (isatty(STDERR_FILENO)) {
        fprintf(stderr, "\r\033[K[%u/%u] %s", number, count, name);
    }
}

static void
progress_end(void)
{
    if (isatty(STDERR_FILENO)) {
        fputs("\r\033[K", stderr);
    }
}

/* Measures all selected rows; returns how many results were stored. */
static unsigned
measure(const options_t *options, unsigned count, result_t *results, FILE *notes)
{
    unsigned number = 0;
    unsigned stored = 0;

    for (unsigned i = 0; i < row_count; i++) {
        const row_t quick = row_quick(&rows[i]);
        const row_t *row = options->quick ? &quick : &rows[i];
        result_t values[VALUES_MAX];
        if (!row_selected(options, &rows[i])) {
            continue;
        }
        progress(++number, count, row->name);
        bool measured = measure_row(row, options->repetitions, options->seed, values, notes);
        progress_end();
        if (!measured) {
            break;
        }
        for (unsigned value = 0; value < row_values(row); value++) {
            if (value_selected(options, row, value)) {
                report_line(stdout, &values[value]);
                results[stored++] = values[value];
            } else {
                result_clear(&values[value]);
            }
        }
    }
    return stored;
}

static bool
write_json(const char *path, const result_t *results, unsigned count)
{
    output_t output;

    if (!output_begin(&output, path)) {
        return false;
    }
    FILE *json = fdopen(output.descriptor, "w");
    bool written = json != NULL && report_json(json, results, count);

    if (json != NULL) {
        output.descriptor = -1;
        written = fclose(json) == 0 && written;
    }
    return output_end(&output, written) && written;
}

static void
run(const options_t *options, unsigned count)
{
    char *text = NULL;
    size_t size = 0;
    FILE *notes = open_memstream(&text, &size);
    result_t *results = bench_alloc((size_t)count * VALUES_MAX, sizeof *results);

    if (notes == NULL) {
        bench_fail("no memory for the notes");
    }
    machine_print(stdout);
    printf("run       %u rows, %u repetitions, seed %llu%s\n", count, options->repetitions,
           (unsigned long long)options->seed,
           options->quick ? ", QUICK: these figures mean nothing" : "");
    report_heading(stdout);
    unsigned stored = measure(options, count, results, notes);
    report_legend(stdout);
    fclose(notes);
    if (size > 0) {
        printf("\n%s", text);
    }
    if (options->json != NULL && !interrupt_came() && !write_json(options->json, results, stored)) {
        bench_fail("cannot write %s: %s", options->json, strerror(errno));
    }
    for (unsigned i = 0; i < stored; i++) {
        result_clear(&results[i]);
    }
    free(text);
    free(results);
}

/* Before the measurements, so that a wrong path does not cost a run. */
static bool
check_json(const options_t *options)
{
    if (options->json == NULL || output_check(options->json)) {
        return true;
    }
    fprintf(stderr, "schedq-bench: --json is \"%s\": legal are files that can be written (%s)\n",
            options->json, strerror(errno));
    return false;
}

/* Returns the exit status. */
static int
measure_and_report(const options_t *options, unsigned count)
{
    if (!check_json(options)) {
        return 2;
    }
    interrupt_catch();
    run(options, count);
    return interrupt_end(0, "the other rows were not measured, and no file was written");
}

int
main(int argc, char **argv)
{
    options_t options;
    int status = 0;

    options_parse(&options, argc, argv);
    unsigned count = count_selected(&options);
    if (count == 0) {
        fprintf(stderr, "schedq-bench: no row is selected: --list prints the names%s\n",
                options.full ? "" : ", with --full all of them");
        status = 2;
    } else if (options.list) {
        list(&options);
    } else {
        status = measure_and_report(&options, count);
    }
    options_free(&options);
    return status;
}
