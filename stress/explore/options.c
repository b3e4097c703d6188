/* Options by argp. Every refusal names the value and what is legal. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/arguments.h"

static const struct argp_option known[] = {
    {"scenario", 's', "NAME", 0, "one of --list, or `all` (default)", 0},
    {"episodes", 'n', "N", 0, "per scenario; 1..10^12, default 10000", 0},
    {"seed", 'r', "N", 0, "of all random choices; default: the time", 0},
    {"frozen", 'f', "N", 0, "at most so many threads stop for ever; 0..2, default 0", 0},
    {"strategy", 'y', "NAME", 0, "uniform or pct; default: both", 0},
    {"episode", 'e', "N", 0, "number of the first episode; default 0", 0},
    {"engine", 'g', "NAME", 0,
     "lockfree (default); mutex, whose calls are one step: are the scenarios right?", 0},
    {"trace", 't', NULL, 0, "print all steps of the episode that fails, or of the last one", 0},
    {"list", 'l', NULL, 0, "name the scenarios", 0},
    {0},
};

static void
choose_scenario(struct options *options, const char *name)
{
    options->scenario = scenario_find(name);
    if (options->scenario != NULL || strcmp(name, "all") == 0) {
        return;
    }
    (void)fprintf(stderr, "schedq-explore: --scenario is \"%s\": legal are all", name);
    for (const struct scenario *next = scenario_next(NULL); next != NULL;
         next = scenario_next(next)) {
        (void)fprintf(stderr, ", %s", next->name);
    }
    (void)fprintf(stderr, "\n");
    exit(2);
}

static const argument_choice_t strategies[] = {
    {"uniform", SIM_UNIFORM},
    {"pct", SIM_PCT},
    {0},
};

static error_t
parse_option(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 's':
        choose_scenario(options, argument);
        return 0;
    case 'n':
        options->episodes =
            argument_number(state, "episodes", argument, 1, UINT64_C(1000000000000));
        return 0;
    case 'r':
        options->seed = argument_number(state, "seed", argument, 0, UINT64_MAX);
        return 0;
    case 'f':
        options->frozen = (unsigned)argument_number(state, "frozen", argument, 0, 2);
        return 0;
    case 'y':
        options->strategy = argument_choice(state, "strategy", argument, strategies)->value;
        return 0;
    case 'e':
        options->first_episode = argument_number(state, "episode", argument, 0, UINT64_MAX / 2);
        return 0;
    case 'g':
        options->engine =
            (uint8_t)argument_choice(state, "engine", argument, argument_engines)->value;
        return 0;
    case 't':
        options->trace = true;
        return 0;
    case 'l':
        options->list = true;
        return 0;
    case ARGP_KEY_ARG:
        argument_unexpected(state, argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void
options_parse(struct options *options, int argc, char **argv)
{
    static const struct argp parser = {known,
                                       parse_option,
                                       NULL,
                                       "Runs the lock-free engine's real code under a scheduler "
                                       "that decides at every access to shared memory which "
                                       "simulated thread runs next, and checks each episode: every "
                                       "pod is reached, exactly once, in the order that "
                                       "the "
                                       "header promises, however many threads stop for ever.\vExit "
                                       "status: 0 nothing wrong; 1 a failure; 2 bad usage.",
                                       NULL,
                                       NULL,
                                       NULL};

    *options = (struct options){.episodes = 10000,
                                .seed = (uint64_t)time(NULL),
                                .strategy = SIM_ANY,
                                .engine = SCHEDQ_ENGINE_LOCKFREE};
    arguments_parse(&parser, argc, argv, options);
}

const char *
options_strategy(const struct options *options)
{
    switch (options->strategy) {
    case SIM_UNIFORM:
        return " --strategy uniform";
    case SIM_PCT:
        return " --strategy pct";
    default:
        return "";
    }
}

const char *
options_engine(const struct options *options)
{
    return options->engine == SCHEDQ_ENGINE_MUTEX ? " --engine mutex" : "";
}
