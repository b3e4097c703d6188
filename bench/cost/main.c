/*
 * schedq-cost: what each operation costs, counted. docs/COST.md.
 */
#include "measure.h"
#include "table.h"

#include <argp.h>
#include <libgen.h>
#include <limits.h>
#include <regex.h>
#include <schedq/schedq.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAD_USAGE = 2 };

static const char doc[] =
    "Counts what each operation of schedq's engines and of a bare queue costs: instructions "
    "(valgrind), accesses to "
    "shared words, and cache lines that change owner when workers take turns. Two runs print the "
    "same.\v"
    "Without --check and --write it prints the table. Needs valgrind, and schedq-cost-accesses of "
    "the preset "
    "`counting`. "
    "Exit status: 0 done; 1 a figure rose by more than 3 %, or something failed; 2 bad usage.";

static const struct argp_option option_table[] = {
    {"check", 'c', "FILE", 0, "Compare with the figures in FILE; status 1 if one rose", 0},
    {"write", 'w', "FILE", OPTION_ARG_OPTIONAL,
     "Write the figures to FILE; default: bench/cost/budget.json", 0},
    {"from", 'f', "FILE", 0, "Take the figures from FILE instead of measuring them", 0},
    {"rows", 'r', "REGEX", 0, "Only operations whose names match this extended regular expression",
     0},
    {"slow", 's', NULL, 0, "The slow rows too", 0},
    {"details", 'd', NULL, 0, "Transfers by their kind: read misses, write misses, upgrades", 0},
    {"life", 'l', NULL, 0,
     "Instead: how many files, functions and calls across files one pod's life takes", 0},
    {0},
};

typedef struct options {
    const char *check, *write, *from, *rows;
    bool slow, details, life;
    bool may_follow; /* --write came last, without a file */
} options_t;

static void
check_regex(struct argp_state *state, const char *text)
{
    regex_t regex;
    char why[128];
    int code = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);

    if (code != 0) {
        regerror(code, &regex, why, sizeof why);
        argp_error(state, "--rows is \"%s\": legal are POSIX extended regular expressions (%s)",
                   text, why);
    }
    regfree(&regex);
}

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    options_t *options = state->input;
    bool follows = options->may_follow;

    options->may_follow = false;
    switch (key) {
    case 'c':
        options->check = value;
        return 0;
    case 'w':
        options->write = value != NULL ? value : COST_BUDGET;
        options->may_follow = value == NULL;
        return 0;
    case 'f':
        options->from = value;
        return 0;
    case 'r':
        check_regex(state, value);
        options->rows = value;
        return 0;
    case 's':
        options->slow = true;
        return 0;
    case 'd':
        options->details = true;
        return 0;
    case 'l':
        options->life = true;
        return 0;
    case ARGP_KEY_ARG:
        if (!follows) {
            argp_error(state, "unexpected argument \"%s\": there are only options", value);
        }
        options->write = value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void
parse(options_t *options, int argc, char **argv)
{
    static const struct argp argp = {option_table, parse_option, NULL, doc, NULL, NULL, NULL};
    static char version[32];
    uint32_t linked = schedq_version();

    *options = (options_t){.check = NULL};
    snprintf(version, sizeof version, "schedq-cost %u.%u.%u", linked >> 16, linked >> 8 & 255,
             linked & 255);
    argp_program_version = version;
    argp_err_exit_status = BAD_USAGE;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, options);
}

static void
read_file(table_t *table, const char *option, const char *path)
{
    char why[256] = "";

    if (!table_read(table, path, why, sizeof why)) {
        fprintf(stderr, "schedq-cost: %s is \"%s\": legal are files that --write wrote (%s)\n",
                option, path, why);
        exit(BAD_USAGE);
    }
}

/* Where this program is: the others are beside it. */
static const char *
own_directory(void)
{
    static char self[PATH_MAX];

    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0) {
        perror("schedq-cost: /proc/self/exe");
        exit(1);
    }
    return dirname(self);
}

static void
find_figures(table_t *table, const options_t *options)
{
    if (options->from != NULL) {
        read_file(table, "--from", options->from);
        return;
    }
    measure(table, own_directory(), options->rows != NULL ? options->rows : ".", options->slow);
    if (table->count == 0) {
        fprintf(stderr, "schedq-cost: --rows is \"%s\": no operation has such a name\n",
                options->rows);
        exit(BAD_USAGE);
    }
}

int
main(int argc, char **argv)
{
    static table_t before, now;
    options_t options;
    unsigned risen = 0;
    char why[256] = "";

    parse(&options, argc, argv);
    if (options.life) {
        measure_life(own_directory(), stdout);
        return 0;
    }
    if (options.check != NULL) {
        read_file(&before, "--check", options.check);
    }
    find_figures(&now, &options);
    if (options.check == NULL || options.details) {
        table_print(&now, options.details, stdout);
    }
    if (options.check != NULL) {
        risen = table_compare(&before, &now, options.rows == NULL, stdout);
        printf("%u rows compared with %s: %u figures rose by more than 3 %%\n", now.count,
               options.check, risen);
    }
    if (options.write != NULL && !table_write(&now, options.write, why, sizeof why)) {
        fprintf(stderr,
                "schedq-cost: --write is \"%s\": legal are files that can be written (%s)\n",
                options.write, why);
        return BAD_USAGE;
    }
    return risen > 0;
}
