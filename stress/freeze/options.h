/* Command line of schedq-freeze. */
#ifndef SCHEDQ_FREEZE_OPTIONS_H
#define SCHEDQ_FREEZE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "call.h"
#include "engines.h"

typedef struct options {
    const engine_t *engine;
    unsigned threads;
    unsigned freezes;
    unsigned milliseconds; /* one freeze */
    unsigned window;       /* milliseconds */
    unsigned stops;        /* that are wanted inside each call */
    uint64_t seed;
    bool kill;
    const char *mix; /* as given, "" = the default weights */
    unsigned weights[CALL_CHOSEN];
    unsigned weight_sum;
} options_t;

/** The engine has waiting places, events and the timer thread. */
static inline bool
options_wait(const options_t *options)
{
    return ((NEEDS_WAITING | NEEDS_EVENTS | NEEDS_TIMER) & ~options->engine->has) == 0;
}

/** Ends the process with status 2 on bad usage. */
void options_parse(options_t *options, int argc, char **argv);

/** Prints the line that runs the same again. */
void options_print(const options_t *options);

#endif
