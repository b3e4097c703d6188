/* --trace, --pods, --nodes, --skip-bad. */
#include "input_options.h"

#define OPTION_PODS                                                                       \
    {                                                                                     \
        "pods", 'p', "FILE", 0, "Pods: CSV as openb has it, or SWF 2.2; plain or gzip", 1 \
    }
#define OPTION_NODES                                                                            \
    {                                                                                           \
        "nodes", 'n', "FILE", 0,                                                                \
            "Nodes: CSV, or an SWF file, whose header describes them; not needed if --pods is " \
            "SWF",                                                                              \
            1                                                                                   \
    }
#define OPTION_SKIP                                                          \
    {                                                                        \
        "skip-bad", 'k', NULL, 0, "Leave broken lines out and count them", 1 \
    }

static const struct argp_option recorded_options[] = {OPTION_PODS, OPTION_NODES, OPTION_SKIP, {0}};
static const struct argp_option any_options[] = {
    {"trace", 't', "FILE", 0, "Pods and nodes in schedq's trace format, plain or gzip", 1},
    OPTION_PODS,
    OPTION_NODES,
    OPTION_SKIP,
    {0},
};

static void
check_files(const input_options_t *options, struct argp_state *state)
{
    const load_files_t *files = &options->files;

    if (files->trace != NULL && (files->pods != NULL || files->nodes != NULL)) {
        argp_error(state, "--trace is \"%s\": legal are traces without --pods and --nodes",
                   files->trace);
    }
    if (files->trace == NULL && files->pods == NULL) {
        argp_error(state, "no input is given: legal are %s",
                   options->takes_trace ? "--trace FILE, or --pods FILE --nodes FILE"
                                        : "--pods FILE --nodes FILE");
    }
}

static error_t
parse(int key, char *argument, struct argp_state *state)
{
    input_options_t *options = state->input;

    switch (key) {
    case 't':
        options->files.trace = argument;
        return 0;
    case 'p':
        options->files.pods = argument;
        return 0;
    case 'n':
        options->files.nodes = argument;
        return 0;
    case 'k':
        options->skip_bad = true;
        return 0;
    case ARGP_KEY_END:
        check_files(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp input_argp_recorded = {.options = recorded_options, .parser = parse};
const struct argp input_argp_any = {.options = any_options, .parser = parse};
