/**
 * One test program, several engines: `test_add --engine lockfree`. Without the argument: mutex.
 *
 * Tests stand in groups, and a group says what it needs that not every engine has. On an engine that lacks it the group is
 * left out, by name, and a program of which no group is left fails: so what runs where is decided here and in the
 * program's list of groups, never inside a test.
 */
#ifndef SCHEDQ_TESTS_SUPPORT_ENGINES_H
#define SCHEDQ_TESTS_SUPPORT_ENGINES_H

#include "expect.h"

/** What a group may need. The engines' table in engines.c says who has it. */
enum {
    FX_ANY_ENGINE = 0,
    FX_EVENTS = 1,         /* plugins, gates, profiles, kinds of events, moves */
    FX_WAITING = 2,        /* parking and backoff: add_unschedulable, readd, and pods that wait */
    FX_NOMINATIONS = 4,    /* nominate, and nominations of specs */
    FX_WALKS = 8,          /* snapshot and metrics */
    FX_HOST = 16,          /* SCHEDQ_DECIDE_HOST */
    FX_TIMER = 32,         /* schedq_run */
    FX_EXACT_CAPS = 64,    /* no cap is exceeded, however many add at once */
    FX_FULL_RESERVE = 128, /* what reserve made room for needs no memory, not even the first time */
    FX_FULL_TRIM = 256     /* trim shrinks everything, the index of names too */
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

/** main() of a program that knows its engine: reads the arguments, runs the groups. Returns main's value. */
int fx_run(int argc, char **argv, const fx_group_t *groups, size_t count);
#define fx_run_groups(argc, argv, groups) fx_run(argc, argv, groups, sizeof(groups) / sizeof *(groups))

/** SCHEDQ_ENGINE_ of this run, and its name. */
uint8_t fx_engine(void);
const char *fx_engine_name(void);

#endif
