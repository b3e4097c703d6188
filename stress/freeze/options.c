/* The options of schedq-freeze; the mix by getsubopt. */
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "schedq/schedq.h"
#include "support/arguments.h"

#define KILLS_MAX 2000u /* each leaves a thread behind */

const char *
call_name(unsigned call)
{
    return call == OP_NONE ? "outside" : call == CALL_TIMER ? "timer" : op_name(call);
}

/*
 * What has one here can be chosen. Adds and removals balance, so that the queue is neither empty
 * nor full of all names.
 */
static const unsigned default_weights[OPS] = {
    [OP_ADD] = 24,         [OP_ADD_MANY] = 6, [OP_TRY_POP] = 16, [OP_POP_UNTIL] = 8,
    [OP_TRY_POP_MANY] = 6, [OP_DELETE] = 8,   [OP_UPDATE] = 10,  [OP_FIND] = 10,
    [OP_GET] = 4,          [OP_TICK] = 2,     [OP_NOTIFY] = 4,   [OP_ACTIVATE] = 2,
};

static void
choose_mix(const struct argp_state *state, void *input, char *text)
{
    options_t *options = input;
    static char *tokens[OPS + 1];
    char *copy = strdup(text), *rest = copy, *value;
    if (copy == NULL)
        argp_failure(state, 1, errno, "--mix");
    for (unsigned i = 0; i < OPS; i++)
        tokens[i] = (char *)(uintptr_t)op_name(i);
    while (rest != NULL && *rest != '\0') {
        int call = getsubopt(&rest, tokens, &value);
        if (call < 0 || default_weights[call] == 0 || value == NULL)
            argument_bad(state, "mix", text,
                         "lists of CALL=0..1000, with the calls that --help names");
        else
            options->weights[call] = (unsigned)argument_number(state, "mix", value, 0, 1000);
    }
    free(copy);
    options->mix = text;
}

static void
finish(const struct argp_state *state, void *input)
{
    options_t *options = input;
    for (unsigned i = 0; i < OPS; i++)
        options->weight_sum += options->weights[i];
    if (options->weights[OP_ADD] + options->weights[OP_ADD_MANY] == 0)
        argument_bad(state, "mix", options->mix, "lists with add or add_many above 0");
    if (options->weights[OP_TRY_POP] + options->weights[OP_POP_UNTIL] +
            options->weights[OP_TRY_POP_MANY] ==
        0)
        argument_bad(state, "mix", options->mix,
                     "lists with try_pop, pop_until or try_pop_many above 0");
    if (options->kill && options->freezes > KILLS_MAX)
        argp_error(state, "--freezes is \"%u\": legal are 1..%u with --kill", options->freezes,
                   KILLS_MAX);
    if (options->window > options->milliseconds)
        argp_error(state, "--window is \"%u\": legal are 1..%u, the length of a freeze",
                   options->window, options->milliseconds);
}

static const argument_t table[] = {
    ARGUMENT_CHOICE(options_t, engine, "engine", 'e', argument_engines,
                    "lockfree (default) or mutex"),
    ARGUMENT_NUMBER(options_t, threads, "threads", 't', 2, 32,
                    "worker threads; 2..32, default 4; those from the third on also pop without a "
                    "deadline"),
    ARGUMENT_NUMBER(options_t, freezes, "freezes", 'f', 1, 100000,
                    "how often a thread is stopped; 1..100000, default 200; with --kill: rounds, "
                    "1..2000"),
    ARGUMENT_NUMBER(options_t, milliseconds, "milliseconds", 'm', 1, 60000,
                    "how long it stands still; 1..60000, default 100"),
    ARGUMENT_NUMBER(options_t, window, "window", 'w', 1, 1000,
                    "milliseconds in which the others must make progress; 1..1000, default 5"),
    ARGUMENT_NUMBER(options_t, stops, "stops", 's', 0, 1000,
                    "stops that are wanted inside each call that threads make, or the run fails; "
                    "0..1000, default 1"),
    ARGUMENT_NUMBER(options_t, seed, "seed", 'r', 0, UINT64_MAX,
                    "of all random choices; default: the time"),
    ARGUMENT_CALL(
        "mix", 'x', "CALL=N,...",
        "weights, 0..1000, of add, add_many, try_pop, pop_until, try_pop_many, delete, "
        "update, find, get, tick, notify, activate; what is not named keeps its default. Every "
        "popped pod ends in done, done_many or fail",
        choose_mix),
    ARGUMENT_FLAG(options_t, kill, "kill", 'k',
                  "the stopped thread never comes back; each round has a queue of its own"),
    ARGUMENTS_END};

static const command_line_t line = {
    .table = table,
    .finish = finish,
    .doc =
        "Stops a worker's thread, or the timer thread, at a random instruction, again and again, "
        "and looks whether the "
        "others go on: in no "
        "window may they complete no call. At the end it drains the queue and checks that every "
        "pod ended once. With "
        "--kill the stopped thread never comes back, a worker's is adopted, and every pod that it "
        "had not popped must "
        "still be reached.\vExit status: 0 nothing wrong; 1 a violation; 2 bad usage; 130 "
        "interrupted."};

void
options_parse(options_t *options, int argc, char **argv)
{
    *options = (options_t){.engine = argument_engine_default(),
                           .threads = 4,
                           .freezes = 200,
                           .milliseconds = 100,
                           .window = 5,
                           .stops = 1,
                           .seed = (uint64_t)time(NULL),
                           .mix = ""};
    memcpy(options->weights, default_weights, sizeof default_weights);
    arguments_read(&line, argc, argv, options);
}

void
options_print(const options_t *options)
{
    printf("seed %llu; again with: schedq-freeze --engine %s --threads %u --freezes %u "
           "--milliseconds %u --window %u "
           "--stops %u --seed %llu%s%s%s\n",
           (unsigned long long)options->seed, options->engine->name, options->threads,
           options->freezes, options->milliseconds, options->window, options->stops,
           (unsigned long long)options->seed, options->mix[0] != '\0' ? " --mix " : "",
           options->mix, options->kill ? " --kill" : "");
}
