/*
 * The command line. A bad value is named with the legal range, and ends the program with status 2.
 */
#include "options.h"

#include "measure.h"
#include "support/arguments.h"

#include <stdlib.h>
#include <string.h>

enum {
    SHORT_REPETITIONS = 5,
    FULL_REPETITIONS = 9,
};

static const char doc[] = "Measures schedq's engines and a bare mutex + heap + hash map side by "
                          "side, in one process and in turns.\v"
                          "Without --full: the rows of an everyday run, under two minutes. With "
                          "it: every row, under twenty. Prints a table; "
                          "figures are nanoseconds, medians of the repetitions. Exit status: 0 "
                          "done, 1 failed, 2 bad usage.";

static const struct argp_option option_table[] = {
    {"full", 'f', NULL, 0, "Every row", 0},
    {"filter", 'F', "REGEX", 0, "Only rows whose names match this extended regular expression", 0},
    {"suite", 's', "NAME", 0,
     "Only rows of this suite: lifecycle, fill, steady, churn, event, inflight, storm, backoff, "
     "lateness, memory or "
     "preemption",
     0},
    {"reps", 'r', "N", 0, "Repetitions, 1..1000; default 5, with --full 9", 0},
    {"seed", 'S', "N", 0, "Start of the random numbers, 0..18446744073709551615; default 1", 0},
    {"json", 'j', "FILE", 0, "Write the results to FILE as a JSON array too", 0},
    {"list", 'l', NULL, 0, "Print the names of the rows that would run, and end", 0},
    {0},
};

static void
parse_filter(struct argp_state *state, options_t *options, const char *text)
{
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

static const char *
parse_suite(struct argp_state *state, const char *text)
{
    for (unsigned i = 0; i < row_count; i++) {
        if (strcmp(rows[i].workload->suite, text) == 0) {
            return rows[i].workload->suite;
        }
    }
    argument_bad(state, "suite", text,
                 "lifecycle, fill, steady, churn, event, inflight, storm, backoff, lateness, "
                 "memory, preemption");
    return NULL;
}

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    options_t *options = state->input;

    switch (key) {
    case 'f':
        options->full = true;
        return 0;
    case 'F':
        parse_filter(state, options, value);
        return 0;
    case 's':
        options->suite = parse_suite(state, value);
        return 0;
    case 'r':
        options->repetitions = (unsigned)argument_number(state, "reps", value, 1, REPETITIONS_MAX);
        return 0;
    case 'S':
        options->seed = argument_number(state, "seed", value, 0, UINT64_MAX);
        return 0;
    case 'j':
        options->json = value;
        return 0;
    case 'l':
        options->list = true;
        return 0;
    case ARGP_KEY_ARG:
        argument_unexpected(state, value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void
options_parse(options_t *options, int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};

    *options = (options_t){.seed = 1};
    arguments_parse(&argp, argc, argv, options);
    if (options->repetitions == 0) {
        options->repetitions = options->full ? FULL_REPETITIONS : SHORT_REPETITIONS;
    }
}

void
options_free(options_t *options)
{
    if (options->filtered) {
        regfree(&options->filter);
    }
}
