/**
 * One test program, several engines: `test_add --engine mutex`. Without the argument: lockfree.
 *
 * Nearly every test runs on any engine. A group of tests says what it needs that not every engine
 * has; on an engine that lacks it the group is left out, by name. So what runs where is decided
 * here and in the program's list of groups, never inside a test.
 */
#ifndef SCHEDQ_TESTS_SUPPORT_ENGINES_H
#define SCHEDQ_TESTS_SUPPORT_ENGINES_H

#include "expect.h"

/** What a group may need. The table in engines.c says which engine has it. */
enum {
    FX_ANY_ENGINE = 0,
    FX_EXACT_CAPS = 1,    /* no cap is exceeded, however many add at once */
    FX_FULL_RESERVE = 2,  /* what reserve made room for needs no memory, not even the first time */
    FX_FULL_TRIM = 4,     /* trim shrinks everything, the index of names too */
    FX_MOVES_IN_PLACE = 8 /* events, time, activation and nominations need no memory */
};

typedef struct fx_group {
    const char *name;
    const struct CMUnitTest *tests;
    size_t count;
    unsigned needs; /* FX_ bits */
} fx_group_t;

/** A group of the array `tests`, under its name. */
#define fx_group(tests, needs)                                  \
    {                                                           \
#tests, (tests), sizeof(tests) / sizeof *(tests), needs \
    }

/**
 * main() of a program that knows its engine: reads the arguments, runs the groups. Returns main's
 * value.
 */
int fx_run(int argc, char **argv, const fx_group_t *groups, size_t count);
#define fx_run_groups(argc, argv, groups) \
    fx_run(argc, argv, groups, sizeof(groups) / sizeof *(groups))
/** The same for a program all of whose tests run on any engine. */
#define fx_run_tests(argc, argv, tests) \
    fx_run(argc, argv, &(const fx_group_t)fx_group(tests, FX_ANY_ENGINE), 1)

/** SCHEDQ_ENGINE_ of this run, and its name. */
uint8_t fx_engine(void);
const char *fx_engine_name(void);

#endif
