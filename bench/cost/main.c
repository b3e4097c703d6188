/*
 * schedq-cost: what each operation costs, counted. docs/COST.md.
 */
#include "measure.h"
#include "table.h"

#include "support/arguments.h"
#include "support/interrupt.h"

#include <libgen.h>
#include <limits.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INTERRUPTED "the other figures were not measured, and no file was written"

enum { BAD_USAGE = ARGUMENTS_BAD };

typedef struct options {
    const char *check, *write, *from, *rows;
    bool slow, details, life;
    bool may_follow; /* --write came last, without a file */
} options_t;

static void
take_regex(const struct argp_state *state, options_t *options, const char *text)
{
    regex_t regex;
    char why[128];
    int code = regcomp(&regex, text, REG_EXTENDED | REG_NOSUB);

    if (code != 0) {
        regerror(code, &regex, why, sizeof why);
        argument_bad(state, "rows", text, "POSIX extended regular expressions (%s)", why);
    }
    regfree(&regex);
    options->rows = text;
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
        take_regex(state, options, value);
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
            argument_unexpected(state, value);
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
    static const struct argp_option known[] = {
        {"check", 'c', "FILE", 0, "Compare with the figures in FILE; status 1 if one rose", 0},
        {"write", 'w', "FILE", OPTION_ARG_OPTIONAL,
         "Write the figures to FILE; default: bench/cost/budget.json", 0},
        {"from", 'f', "FILE", 0, "Take the figures from FILE instead of measuring them", 0},
        {"rows", 'r', "REGEX", 0,
         "Only operations whose names match this extended regular expression", 0},
        {"slow", 's', NULL, 0, "The slow rows too", 0},
        {"details", 'd', NULL, 0, "Transfers by their kind: read misses, write misses, upgrades",
         0},
        {"life", 'l', NULL, 0,
         "Instead: how many files, functions and calls across files one pod's life takes", 0},
        {0},
    };
    static const struct argp parser = {
        .options = known,
        .parser = parse_option,
        .doc = "Counts what each operation of schedq's engines and of a bare queue costs: "
               "instructions (valgrind), accesses to shared words, and cache lines that change "
               "owner when workers take turns. Two runs print the same.\v"
               "Without --check and --write it prints the table. Needs valgrind, and "
               "schedq-cost-accesses of the preset `counting`. "
               "Exit status: 0 done; 1 a figure rose by more than 3 %, or something failed; 2 bad "
               "usage; 130 interrupted: the table so far.",
    };

    *options = (options_t){.check = NULL};
    arguments_parse_in_order(&parser, argc, argv, options);
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
    if (table->count == 0 && !interrupt_came()) {
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
    interrupt_catch();
    if (options.life) {
        measure_life(own_directory(), stdout);
        return interrupt_end(0, INTERRUPTED);
    }
    if (options.check != NULL) {
        read_file(&before, "--check", options.check);
    }
    find_figures(&now, &options);
    if (interrupt_came()) {
        table_print(&now, options.details, stdout);
        return interrupt_end(0, INTERRUPTED);
    }
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
