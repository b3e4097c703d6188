/*
 * The command line. A bad value is named with the legal range, and ends the program with status 2.
 */
#include "options.h"

#include "headline.h"
#include "measure.h"
#include "support/arguments.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORT_REPETITIONS = 5,
    HEADLINE_REPETITIONS = 7,
    FULL_REPETITIONS = 9,
    QUICK_REPETITIONS = 1,
};

#define SUITES                                                                               \
    "lifecycle, fill, steady, churn, event, inflight, storm, backoff, lateness, memory, "    \
    "preemption, group, headline, pushpop, priorities, host, load, wake, replay, transfer, " \
    "scaling"

static const char doc[] = "Measures schedq's engines and a bare mutex + heap + hash map side by "
                          "side, in one process and in turns.\v"
                          "Without --full: the rows of an everyday run, under two minutes. With "
                          "it: all but those of the suites headline (under fifteen minutes), load, "
                          "scaling, replay and transfer, in half an hour. Prints a table; "
                          "figures are nanoseconds, medians of the repetitions. Exit status: 0 "
                          "done, 1 failed, 2 bad usage, 130 interrupted.";

static void
parse_filter(const struct argp_state *state, void *input, char *text)
{
    options_t *options = input;
    char why[128];

    if (options->filtered) {
        regfree(&options->filter);
    }
    int code = regcomp(&options->filter, text, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        regerror(code, &options->filter, why, sizeof why);
        argument_bad(state, "filter", text, "POSIX extended regular expressions (%s)", why);
    }
    options->filtered = true;
}

static void
parse_suite(const struct argp_state *state, void *input, char *text)
{
    options_t *options = input;

    options->headline = strcmp(text, HEADLINE) == 0;
    if (options->headline) {
        return;
    }
    for (unsigned i = 0; i < row_count; i++) {
        if (strcmp(rows[i].workload->suite, text) == 0) {
            options->suite = rows[i].workload->suite;
            return;
        }
    }
    argument_bad(state, "suite", text, SUITES);
}

static const argument_t table[] = {
    ARGUMENT_FLAG(options_t, full, "full", 'f', "Every row"),
    ARGUMENT_CALL("filter", 'F', "REGEX",
                  "Only rows whose names match this extended regular expression", parse_filter),
    ARGUMENT_CALL("suite", 's', "NAME", "Only rows of this suite: " SUITES, parse_suite),
    ARGUMENT_FLAG(options_t, quick, "quick", 'q',
                  "Rows made so small that they show only that they work"),
    ARGUMENT_NUMBER(options_t, repetitions, "reps", 'r', 1, REPETITIONS_MAX,
                    "Repetitions, 1..1000; default 5, with --full 9, of the suite headline 7, with "
                    "--quick 1"),
    ARGUMENT_NUMBER(options_t, seed, "seed", 'S', 0, UINT64_MAX,
                    "Start of the random numbers, 0..18446744073709551615; default 1"),
    ARGUMENT_TEXT(options_t, json, "json", 'j', "FILE",
                  "Write the results to FILE as a JSON array too"),
    ARGUMENT_FLAG(options_t, list, "list", 'l',
                  "Print the names of the rows that would run, and end"),
    ARGUMENTS_END};

static const command_line_t line = {.table = table, .doc = doc};

void
options_parse(options_t *options, int argc, char **argv)
{
    *options = (options_t){.seed = 1};
    arguments_read(&line, argc, argv, options);
    if (options->repetitions == 0) {
        options->repetitions = options->quick      ? QUICK_REPETITIONS
                               : options->headline ? HEADLINE_REPETITIONS
                               : options->full     ? FULL_REPETITIONS
                                                   : SHORT_REPETITIONS;
    }
}

void
options_free(options_t *options)
{
    if (options->filtered) {
        regfree(&options->filter);
    }
}
