/*
 * What the command line asks for.
 */
#ifndef EXPLORE_OPTIONS_H
#define EXPLORE_OPTIONS_H

#include "scenario.h"

struct options {
    const struct scenario *scenario; /* NULL: all */
    uint64_t episodes, first_episode, seed;
    unsigned frozen;
    enum sim_strategy strategy;
    uint8_t engine; /* SCHEDQ_ENGINE_ */
    bool list, trace;
};

/** Ends the program with status 2, and words, if the command line is wrong. */
void options_parse(struct options *options, int argc, char **argv);

/** "", " --strategy uniform" or " --strategy pct"; "" or " --engine mutex". */
const char *options_strategy(const struct options *options);
const char *options_engine(const struct options *options);

#endif
