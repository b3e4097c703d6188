/* The options of schedq-stress. */
#include "options.h"

#include <time.h>

#include "support/arguments.h"

static const argument_t table[] = {
    ARGUMENT_CHOICE(options_t, engine, "engine", 'e', argument_engines,
                    "lockfree (default) or mutex"),
    ARGUMENT_NUMBER(options_t, threads, "threads", 't', 1, OPTIONS_THREADS_MAX,
                    "producers, and as many consumers; 1..250, default 2"),
    ARGUMENT_NUMBER(options_t, seconds, "seconds", 's', 1, 86400, "how long; 1..86400, default 10"),
    ARGUMENT_NUMBER(options_t, seed, "seed", 'r', 0, UINT64_MAX,
                    "of all random choices; default: the time"),
    ARGUMENT_CHOICE(options_t, preset, "preset", 'p', argument_presets,
                    "default, kube-1.37, kube-1.34, kube-1.26 or kube-1.12"),
    ARGUMENTS_END};

static const command_line_t line = {
    .table = table,
    .doc =
        "Lets threads add, pop, fail, update, delete and move pods of one queue at random, as far "
        "as the engine has "
        "these calls, while others tick, trim, reserve and change their workers. Then it drains "
        "the queue and checks "
        "that every add ended in exactly one done or delete, that no sleeper was left behind and "
        "that every object "
        "was given back.\vExit status: 0 nothing wrong; 1 a violation; 2 bad usage; 130 "
        "interrupted."};

void
options_parse(options_t *options, int argc, char **argv)
{
    *options = (options_t){.engine = argument_engine_default(),
                           .threads = 2,
                           .seconds = 10,
                           .seed = (uint64_t)time(NULL),
                           .preset = argument_presets};
    arguments_read(&line, argc, argv, options);
}
