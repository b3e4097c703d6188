/*
 * The options that schedq-replay and schedq-trace share: which files are read, and what happens to
 * broken lines.
 */
#ifndef SCHEDQ_REPLAY_INPUT_OPTIONS_H
#define SCHEDQ_REPLAY_INPUT_OPTIONS_H

#include "load.h"

#include <argp.h>

typedef struct input_options {
    load_files_t files;
    bool skip_bad;
    bool takes_trace; /* set by the tool: --trace is one of its options */
} input_options_t;

/*
 * Child parsers; their input is an input_options_t. One reads --pods and --nodes, the other --trace
 * too.
 */
extern const struct argp input_argp_recorded;
extern const struct argp input_argp_any;

#endif
