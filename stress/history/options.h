/* Command line of schedq-history. */
#ifndef SCHEDQ_HISTORY_OPTIONS_H
#define SCHEDQ_HISTORY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "support/arguments.h"

typedef struct options {
    const argument_choice_t *engine;
    unsigned threads;
    uint64_t operations;       /* in all */
    uint32_t round_operations; /* recorded, then checked, at a time */
    uint32_t names;
    uint64_t seed;
    bool perturb;
    const char *plant; /* NULL: none */
} options_t;

/** Ends the process with status 2 on bad usage. */
void options_parse(options_t *options, int argc, char **argv);

#endif
