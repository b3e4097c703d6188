/* Options by argp. Every refusal names the value and what is legal. */
#include "options.h"

#include <time.h>

#include "support/arguments.h"

static const struct argp_option known[] = {
    {"engine", 'e', "NAME", 0, "lockfree (default) or mutex", 0},
    {"threads", 't', "N", 0, "producers, and as many consumers; 1..30, default 2", 0},
    {"seconds", 's', "N", 0, "how long; 1..86400, default 10", 0},
    {"seed", 'r', "N", 0, "of all random choices; default: the time", 0},
    {"preset", 'p', "NAME", 0, "default, kube-1.34, kube-1.26 or kube-1.12", 0},
    {0},
};

static error_t
parse_option(int key, char *argument, struct argp_state *state)
{
    options_t *options = state->input;
    switch (key) {
    case 'e':
        options->engine = argument_choice(state, "engine", argument, argument_engines);
        return 0;
    case 't':
        options->threads = (unsigned)argument_number(state, "threads", argument, 1, 30);
        return 0;
    case 's':
        options->seconds = (unsigned)argument_number(state, "seconds", argument, 1, 86400);
        return 0;
    case 'r':
        options->seed = argument_number(state, "seed", argument, 0, UINT64_MAX);
        return 0;
    case 'p':
        options->preset = argument_choice(state, "preset", argument, argument_presets);
        return 0;
    case ARGP_KEY_ARG:
        argument_unexpected(state, argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void
options_parse(options_t *options, int argc, char **argv)
{
    static const struct argp parser = {
        known,
        parse_option,
        NULL,
        "Lets threads add, pop, fail, update, delete and move pods of one queue at random, as far "
        "as the engine has "
        "these calls, while others tick, trim, reserve and change their workers. Then it drains "
        "the queue and checks "
        "that every add ended in exactly one done or delete, that no sleeper was left behind and "
        "that every object "
        "was given back.\vExit status: 0 nothing wrong; 1 a violation; 2 bad usage.",
        NULL,
        NULL,
        NULL};
    *options = (options_t){.engine = argument_engine_default(),
                           .threads = 2,
                           .seconds = 10,
                           .seed = (uint64_t)time(NULL),
                           .preset = argument_presets};
    arguments_parse(&parser, argc, argv, options);
}
