/* schedq-trace: turns recorded pods and nodes into a trace file. */
#include "alloc.h"
#include "input_options.h"
#include "support/arguments.h"
#include "support/interrupt.h"
#include "trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_USAGE = ARGUMENTS_BAD, KEY_SOURCE = 0x100, KEY_OUTPUT };

typedef struct convert_options {
    input_options_t input;
    const char *source;
    const char *output;
} convert_options_t;

static const struct argp_option option_list[] = {
    {"output", KEY_OUTPUT, "FILE", 0, "The trace to write, compressed if its name ends in .gz", 2},
    {"source", KEY_SOURCE, "TEXT", 0,
     "Where the figures come from: a line for the file, at least one word", 2},
    {0},
};

static const char documentation[] =
    "Converts recorded pods and nodes (CSV, SWF) to schedq's trace format.\v"
    "Exit status: 0 done; 1 the trace could not be written; 2 bad usage or input; 130 interrupted.";

static error_t
parse_option(int key, char *value, struct argp_state *state)
{
    convert_options_t *options = state->input;

    switch (key) {
    case KEY_OUTPUT:
        options->output = value;
        break;
    case KEY_SOURCE:
        if (strpbrk(value, "\r\n") != NULL || value[strspn(value, " \t")] == '\0') {
            argument_bad(state, "source", value, "lines of text that are not blank");
        }
        options->source = value;
        break;
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->input;
        break;
    case ARGP_KEY_ARG:
        argument_unexpected(state, value);
        break;
    case ARGP_KEY_END:
        if (options->output == NULL) {
            argp_error(state, "no output is given: legal are --output FILE");
        }
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static int
convert(const convert_options_t *options, workload_t *workload)
{
    input_problems_t problems = {.out = stderr, .skip_bad = options->input.skip_bad};
    char why[400];

    if (!workload_load(workload, &options->input.files, &problems)) {
        return EXIT_USAGE;
    }
    if (options->source != NULL) {
        free(workload->source);
        workload->source = alloc_text(options->source, strlen(options->source));
    }
    if (!trace_write(options->output, workload, why, sizeof why)) {
        if (interrupt_came()) {
            return EXIT_SUCCESS;
        }
        fprintf(stderr, "schedq-trace: %s\n", why);
        return EXIT_FAILURE;
    }
    printf("%s: %zu nodes, %zu pods, %" PRIu64 " bad lines left out\n", options->output,
           workload->node_count, workload->pod_count, problems.bad_lines);
    return EXIT_SUCCESS;
}

int
main(int argc, char **argv)
{
    static const struct argp_child children[] = {{&input_argp_recorded, 0, NULL, 0}, {0}};
    static const struct argp parser = {
        .options = option_list, .parser = parse_option, .doc = documentation, .children = children};
    convert_options_t options = {0};
    workload_t workload;

    arguments_parse(&parser, argc, argv, &options);
    interrupt_catch();
    workload_init(&workload);
    int status = convert(&options, &workload);
    workload_clear(&workload);
    return interrupt_end(status, "the trace is as it was before");
}
