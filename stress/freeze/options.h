/* Command line of schedq-freeze. */
#ifndef SCHEDQ_FREEZE_OPTIONS_H
#define SCHEDQ_FREEZE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "call.h"
#include "support/arguments.h"

typedef struct options {
    const argument_choice_t *engine;
    unsigned threads;
    unsigned freezes;
    unsigned milliseconds; /* one freeze */
    unsigned window;       /* milliseconds */
    unsigned stops;        /* that are wanted inside each call */
    uint64_t seed;
    bool kill;
    const char *mix; /* as given, "" = the default weights */
    unsigned weights[OPS];
    unsigned weight_sum;
} options_t;

/** Ends the process with status 2 on bad usage. */
void options_parse(options_t *options, int argc, char **argv);

/** Prints the line that runs the same again. */
void options_print(const options_t *options);

#endif
