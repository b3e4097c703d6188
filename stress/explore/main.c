/*
 * schedq-explore: episodes of one scenario or of all, until the first failure of each, and what
 * repeats it.
 */
#define _GNU_SOURCE /* SA_ONSTACK, strsignal */
#include "episode.h"
#include "options.h"
#include "sanitized.h"
#include "support/interrupt.h"
#include "trace.h"
#include "world.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STEPS_SHOWN 60
#define CRASH_STACK_BYTES (64 * 1024)
#define CRASH_SECONDS 60

/* What runs at the moment: a crash is reported from a signal handler. */
static struct {
    struct options options;
    const struct scenario *scenario;
    uint64_t episode;
    char again[400];
} now;

static void
note_how_to_repeat(void)
{
    const struct options *options = &now.options;

    (void)snprintf(now.again, sizeof now.again,
                   "--scenario %s --seed %" PRIu64 " --episode %" PRIu64
                   " --episodes 1 --frozen %u --engine %s%s%s --trace",
                   now.scenario->name, options->seed, now.episode, options->frozen,
                   options->engine->name, options->strategy != NULL ? " --strategy " : "",
                   options->strategy != NULL ? options->strategy->name : "");
}

static void
report(const char *what)
{
    note_how_to_repeat();
    printf("\nFAILED: %s: %s\n", now.scenario->name, what);
    printf("strategy %s, seed %" PRIu64 ", episode %" PRIu64
           ", threads frozen %u; the last steps:\n",
           sim_strategy_name(), now.options.seed, now.episode, sim_frozen());
    trace_print(stdout, now.options.trace ? UINT32_MAX : STEPS_SHOWN);
    printf("again: schedq-explore %s\n\n", now.again);
    (void)fflush(stdout);
}

/*
 * The program is about to die. Nothing here is safe in a signal handler, and need not be. If steps
 * were not kept, another run of the same episode keeps them.
 */
static void
last_words(const char *what)
{
    char command[600];

    if (trace_is_on) {
        report(what);
        return;
    }
    note_how_to_repeat();
    printf("\nFAILED: %s: %s; the episode again:\n", now.scenario->name, what);
    (void)fflush(stdout);
    (void)snprintf(command, sizeof command, "exec /proc/%ld/exe %s", (long)getpid(), now.again);
    (void)!system(command);
}

/* An assertion or a fault in the engine. */
static void
crashed(int signal)
{
    char what[64];

    (void)alarm(CRASH_SECONDS);
    (void)snprintf(what, sizeof what, "signal %d (%s)", signal, strsignal(signal));
    last_words(what);
    _exit(1);
}

#if defined(EXPLORE_SANITIZED)
static void
sanitizer_found(void)
{
    last_words("the sanitizer's report is above");
}
#endif

static void
catch_crashes(void)
{
    static const int signals[] = {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    static char stack[CRASH_STACK_BYTES];
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = crashed, .sa_flags = SA_ONSTACK | (int)SA_RESETHAND};

#if defined(EXPLORE_SANITIZED)
    __sanitizer_set_death_callback(sanitizer_found);
#endif
    (void)sigaltstack(&alternative, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        (void)sigaction(signals[i], &action, NULL);
    }
}

static double
seconds(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

struct sums {
    uint64_t episodes, steps, frozen;
};

/* With its steps kept, which makes no difference to it. */
static void
run_again(const struct sim_plan *plan)
{
    trace_is_on = true;
    (void)episode_run(now.scenario, plan);
    report(sim_failure() != NULL
               ? sim_failure()
               : "a failure that does not repeat: the engine depends on more than the seed");
    trace_is_on = now.options.trace;
}

static bool
run_episodes(const struct sim_plan *plan, struct sums *sums)
{
    const struct options *options = &now.options;
    struct sim_plan one = *plan;

    for (uint64_t i = 0; i < options->episodes && !interrupt_came(); i++) {
        now.episode = options->first_episode + i;
        one.seed = episode_seed(now.scenario, options->seed, now.episode);
        bool good = episode_run(now.scenario, &one);

        sums->episodes++;
        sums->steps += sim_steps();
        sums->frozen += sim_frozen() > 0;
        if (!good) {
            run_again(&one);
            return false;
        }
    }
    return true;
}

static bool
explore(const struct scenario *scenario)
{
    const struct options *options = &now.options;
    struct sums sums = {0};
    double begin = seconds();

    now.scenario = scenario;
    now.episode = UINT64_MAX;
    struct sim_plan plan = {
        .strategy = options_strategy(options),
        .frozen_max = scenario->never_frozen ? 0 : options->frozen,
        .estimate = episode_measure(scenario, options->seed, options_strategy(options))};
    bool good = run_episodes(&plan, &sums);
    double took = seconds() - begin;

    printf("%-28s %s %9" PRIu64 " episodes, %6" PRIu64
           " steps each, %8.0f/s, with frozen threads %" PRIu64 "\n",
           scenario->name, good ? "ok    " : "FAILED", sums.episodes,
           sums.steps / (sums.episodes > 0 ? sums.episodes : 1), (double)sums.episodes / took,
           sums.frozen);
    (void)fflush(stdout);
    if (good && options->trace) {
        trace_print(stdout, UINT32_MAX);
    }
    return good;
}

static bool
explore_all(void)
{
    bool good = true;

    for (const struct scenario *next = scenario_next(NULL); next != NULL && !interrupt_came();
         next = scenario_next(next)) {
        if (!next->sleeps || now.options.engine->value != SCHEDQ_ENGINE_MUTEX) {
            good = explore(next) && good;
        }
    }
    return good;
}

static void
list(void)
{
    for (const struct scenario *next = scenario_next(NULL); next != NULL;
         next = scenario_next(next)) {
        printf("%-28s %s\n", next->name, next->about);
    }
}

int
main(int argc, char **argv)
{
    options_parse(&now.options, argc, argv);
    if (now.options.list) {
        list();
        return 0;
    }
    printf("seed %" PRIu64 "\n", now.options.seed);
    (void)fflush(stdout);
    trace_is_on = now.options.trace;
    world_use_engine((uint8_t)now.options.engine->value);
    catch_crashes();
    interrupt_catch();
    bool good = now.options.scenario != NULL ? explore(now.options.scenario) : explore_all();

    return interrupt_end(good ? 0 : 1, "the episodes above are all that ran");
}
