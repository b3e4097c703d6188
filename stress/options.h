/* Command line of schedq-stress. */
#ifndef SCHEDQ_STRESS_OPTIONS_H
#define SCHEDQ_STRESS_OPTIONS_H

#include <stdint.h>

#include "schedq/schedq.h"
#include "support/arguments.h"

/* OTHER_THREADS: beside them, that have a worker: who change workers, host, tick, drain. */
enum { OPTIONS_THREADS_MAX = 250, OTHER_THREADS = 4 };

typedef struct options {
    unsigned threads; /* producers, and as many consumers */
    unsigned seconds;
    uint64_t seed;
    const argument_choice_t *engine, *preset;
} options_t;

/** Ends the process with status 2 on bad usage. */
void options_parse(options_t *options, int argc, char **argv);

#endif
