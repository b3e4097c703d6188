#define _GNU_SOURCE /* asprintf */
/* Options by argp. Every refusal names the value and what is legal. */
#include "options.h"

#include <stdio.h>
#include <time.h>

#include "plant.h"
#include "record.h"
#include "support/arguments.h"

const argument_choice_t kinds_of_queue[] = {{"plain", QUEUE_PLAIN},   {"counted", QUEUE_COUNTED},
                                            {"capped", QUEUE_CAPPED}, {"kube", QUEUE_KUBE},
                                            {"host", QUEUE_HOST},     {0}};

enum { OPTION_PLANT = 256, OPTION_PERTURB, OPTION_NAMES, OPTION_ROUND };

static const struct argp_option known[] = {
    {"engine", 'e', "NAME", 0, "lockfree (default) or mutex", 0},
    {"threads", 't', "N", 0, "1..32, default 4", 0},
    {"operations", 'n', "N", 0, "in all; 1000..10^12, default 1000000", 0},
    {"round-operations", OPTION_ROUND, "N", 0,
     "recorded and checked at a time; 1000..1000000, default 50000", 0},
    {"names", OPTION_NAMES, "N", 0, "different pods; 16..100000, default 2000", 0},
    {"seed", 'r', "N", 0, "of all random choices; default: the time", 0},
    {"queue", 'q', "KIND", 0,
     "plain (default); counted objects; capped, with max_pods; kube, the preset of 1.34; host, "
     "which "
     "decides by candidates and apply",
     0},
    {"perturb", OPTION_PERTURB, NULL, 0, "threads yield the processor now and then, between calls",
     0},
    {"plant", OPTION_PLANT, "NAME", 0, "falsifies one history; see below", 0},
    {0},
};

static void
choose_plant(struct argp_state *state, options_t *options, const char *name)
{
    if (plant_find(name) == NULL)
        argument_bad(state, "plant", name, "%s", plant_names());
    options->plant = name;
}

static error_t
parse_option(int key, char *argument, struct argp_state *state)
{
    options_t *options = state->input;
    switch (key) {
    case 'e':
        options->engine = argument_choice(state, "engine", argument, argument_engines);
        return 0;
    case 't':
        options->threads = (unsigned)argument_number(state, "threads", argument, 1, THREADS_MAX);
        return 0;
    case 'n':
        options->operations =
            argument_number(state, "operations", argument, 1000, UINT64_C(1000000000000));
        return 0;
    case 'r':
        options->seed = argument_number(state, "seed", argument, 0, UINT64_MAX);
        return 0;
    case OPTION_ROUND:
        options->round_operations =
            (uint32_t)argument_number(state, "round-operations", argument, 1000, 1000000);
        return 0;
    case OPTION_NAMES:
        options->names = (uint32_t)argument_number(state, "names", argument, 16, 100000);
        return 0;
    case 'q':
        options->queue =
            (kind_of_queue_t)argument_choice(state, "queue", argument, kinds_of_queue)->value;
        return 0;
    case OPTION_PERTURB:
        options->perturb = true;
        return 0;
    case OPTION_PLANT:
        choose_plant(state, options, argument);
        return 0;
    case ARGP_KEY_ARG:
        argument_unexpected(state, argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static char *
list_plants(int key, const char *text, void *input)
{
    char *help;
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC ||
        asprintf(&help, "%s\nPlants: %s.", text, plant_names()) < 0)
        return (char *)(uintptr_t)text;
    return help;
}

void
options_parse(options_t *options, int argc, char **argv)
{
    static const struct argp parser = {
        known,
        parse_option,
        NULL,
        "Lets threads call one queue at random, records each call with its interval, its arguments "
        "and its answer, and "
        "checks afterwards that the histories keep every rule of the header: exactly once, the "
        "pod's states, tokens, "
        "strict order, EMPTY, wake-ups, events, gates, backoffs that are over, Timestamps, "
        "counters, close, nominations, max_pods, labels, peek and position, references. It says "
        "how often each rule had "
        "something to decide. The seed "
        "also says how the queue is configured.\vExit status: 0 nothing wrong (with --plant: the "
        "planted violation was found); 1 a violation (with --plant: it was not found), or a rule "
        "that never had anything to decide; 2 bad usage, or an engine that this library does not "
        "have; 130 interrupted. A seed fixes what the threads choose, not how they "
        "interleave.",
        NULL,
        list_plants,
        NULL};
    *options = (options_t){.engine = argument_engine_default(),
                           .threads = 4,
                           .operations = 1000000,
                           .round_operations = 50000,
                           .names = 2000,
                           .seed = (uint64_t)time(NULL)};
    arguments_parse(&parser, argc, argv, options);
}
