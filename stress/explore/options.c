/* The options of schedq-explore. */
#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/arguments.h"

static void
choose_scenario(const struct argp_state *state, void *input, char *name)
{
    struct options *options = input;

    (void)state;
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

static const argument_t table[] = {
    ARGUMENT_CALL("scenario", 's', "NAME", "one of --list, or `all` (default)", choose_scenario),
    ARGUMENT_NUMBER(struct options, episodes, "episodes", 'n', 1, UINT64_C(1000000000000),
                    "per scenario; 1..10^12, default 10000"),
    ARGUMENT_NUMBER(struct options, seed, "seed", 'r', 0, UINT64_MAX,
                    "of all random choices; default: the time"),
    ARGUMENT_NUMBER(struct options, frozen, "frozen", 'f', 0, 2,
                    "at most so many threads stop for ever; 0..2, default 0"),
    ARGUMENT_CHOICE(struct options, strategy, "strategy", 'y', strategies,
                    "uniform or pct; default: both"),
    ARGUMENT_NUMBER(struct options, first_episode, "episode", 'e', 0, UINT64_MAX / 2,
                    "number of the first episode; default 0"),
    ARGUMENT_CHOICE(struct options, engine, "engine", 'g', argument_engines,
                    "lockfree (default); mutex, whose calls are one step: are the scenarios "
                    "right?"),
    ARGUMENT_FLAG(struct options, trace, "trace", 't',
                  "print all steps of the episode that fails, or of the last one"),
    ARGUMENT_FLAG(struct options, list, "list", 'l', "name the scenarios"),
    ARGUMENTS_END};

static const command_line_t line = {
    .table = table,
    .doc = "Runs the lock-free engine's real code under a scheduler "
           "that decides at every access to shared memory which "
           "simulated thread runs next, and checks each episode: every "
           "pod is reached, exactly once, in the order that "
           "the "
           "header promises, however many threads stop for ever.\vExit "
           "status: 0 nothing wrong; 1 a failure; 2 bad usage; 130 interrupted."};

void
options_parse(struct options *options, int argc, char **argv)
{
    *options = (struct options){.episodes = 10000,
                                .seed = (uint64_t)time(NULL),
                                .engine = argument_find(argument_engines, "lockfree")};
    arguments_read(&line, argc, argv, options);
}

enum sim_strategy
options_strategy(const struct options *options)
{
    return options->strategy != NULL ? (enum sim_strategy)options->strategy->value : SIM_ANY;
}
