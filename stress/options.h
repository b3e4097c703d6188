/* Command line of schedq-stress. */
#ifndef SCHEDQ_STRESS_OPTIONS_H
#define SCHEDQ_STRESS_OPTIONS_H

#include <stdint.h>

#include "engines.h"
#include "schedq/schedq.h"

typedef struct options {
    unsigned threads; /* producers, and as many consumers */
    unsigned seconds;
    uint64_t seed;
    const engine_t *engine;
    schedq_preset_t preset;
    const char *preset_name;
} options_t;

/** Ends the process with status 2 on bad usage. */
void options_parse(options_t *options, int argc, char **argv);

#endif
