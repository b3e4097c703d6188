/* The command line. A bad value is named with the legal range, and ends the program with status 2. */
#include "options.h"

#include "measure.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHORT_REPETITIONS = 5,
    FULL_REPETITIONS = 9,
    BAD_USAGE = 2,
};

static char version[32];

static const char doc[] =
    "Measures schedq's engines and a bare mutex + heap + hash map side by side, in one process and in turns.\v"
    "Without --full: the rows of an everyday run, under two minutes. With it: every row, under twenty. Prints a table; "
    "figures are nanoseconds, medians of the repetitions. Exit status: 0 done, 1 failed, 2 bad usage.";

static const struct argp_option option_table[] = {
    {"full", 'f', NULL, 0, "Every row", 0},
    {"filter", 'F', "REGEX", 0, "Only rows whose names match this extended regular expression", 0},
    {"suite", 's', "NAME", 0,
     "Only rows of this suite: lifecycle, fill, steady, churn, event, inflight, storm, backoff, lateness, memory or "
     "preemption",
     0},
    {"reps", 'r', "N", 0, "Repetitions, 1..1000; default 5, with --full 9", 0},
    {"seed", 'S', "N", 0, "Start of the random numbers, 0..18446744073709551615; default 1", 0},
    {"json", 'j', "FILE", 0, "Write the results to FILE as a JSON array too", 0},
    {"list", 'l', NULL, 0, "Print the names of the rows that would run, and end", 0},
    {0},
};

static uint64_t
parse_number(struct argp_state *state, const char *option, const char *text, uint64_t min, uint64_t max)
{
    char *end = NULL;
    bool digits = text[0] >= '0' && text[0] <= '9';

    errno = 0;
    unsigned long long value = digits ? strtoull(text, &end, 10) : 0;
    if (!digits || *end != '\0' || errno != 0 || value < min || value > max) {
        argp_error(state, "%s is \"%s\": legal are whole numbers from %llu to %llu", option, text,
                   (unsigned long long)min, (unsigned long long)max);
    }
    return value;
}

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
        argp_error(state, "--filter is \"%s\": legal are POSIX extended regular expressions (%s)", text, why);
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
    argp_error(
        state,
        "--suite is \"%s\": legal are lifecycle, fill, steady, churn, event, inflight, storm, backoff, lateness, "
        "memory and preemption",
        text);
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
        options->repetitions = (unsigned)parse_number(state, "--reps", value, 1, REPETITIONS_MAX);
        return 0;
    case 'S':
        options->seed = parse_number(state, "--seed", value, 0, UINT64_MAX);
        return 0;
    case 'j':
        options->json = value;
        return 0;
    case 'l':
        options->list = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected argument \"%s\": there are only options", value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void
options_parse(options_t *options, int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
    uint32_t linked = schedq_version();

    *options = (options_t){.seed = 1};
    snprintf(version, sizeof version, "schedq-bench %u.%u.%u", linked >> 16, linked >> 8 & 255, linked & 255);
    argp_program_version = version;
    argp_err_exit_status = BAD_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, options);
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
