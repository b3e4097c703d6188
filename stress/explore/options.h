/*
 * What the command line asks for.
 */
#ifndef EXPLORE_OPTIONS_H
#define EXPLORE_OPTIONS_H

#include "scenario.h"
#include "support/arguments.h"

struct options {
    const struct scenario *scenario; /* NULL: all */
    uint64_t episodes, first_episode, seed;
    unsigned frozen;
    const argument_choice_t *strategy; /* NULL: any */
    const argument_choice_t *engine;
    bool list, trace;
};

/** Ends the program with status 2, and words, if the command line is wrong. */
void options_parse(struct options *options, int argc, char **argv);

enum sim_strategy options_strategy(const struct options *options);

#endif
