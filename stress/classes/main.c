/*
 * schedq-class-history: rounds of calls on pods of classes, by several threads; each round has a
 * queue of its own, and is followed by the check of what was recorded.
 */
#include "book.h"
#include "history/stamp.h"
#include "support/arguments.h"
#include "support/interrupt.h"
#include "support/patience.h"
#include "work.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of processor time, or of sleep, in which no call ends. */
enum { PATIENCE_SECONDS = 60, CALLS_OF_A_ROUND = 2400 };

typedef struct options {
    const argument_choice_t *engine, *plant;
    uint32_t threads;
    uint64_t operations, seed;
} options_t;

static argument_choice_t plant_names[16];
static actor_t actors[THREADS_MAX + 1];
static book_t book;
static round_t round_of;
static atomic_bool over;

/* ---- a round --------------------------------------------------------------------------------- */

static void
refuse(const char *what, const char *why)
{
    fprintf(stderr, "schedq-class-history: %s: %s\n", what, why);
    exit(1);
}

static void
open_queue(const options_t *options)
{
    const schedq_interest_t interest = {"Node", SCHEDQ_ACTION_ADD, 0, NULL};
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    char why[200] = "";
    config.engine = (uint8_t)options->engine->value;
    config.initial_backoff_ns = config.max_backoff_ns = BACKOFF_NS;
    config.class_patience_ns = PATIENCE_NS;
    config.pop_from_backoff = 0; /* a pod that backs off is popped whatever its class */
    config.external_clock = 1;
    config.start_ns = atomic_load(&round_of.now);
    plugin.name = "Fit";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    if (schedq_create(&config, &round_of.queue, why, sizeof why) != SCHEDQ_OK)
        refuse("no queue", why);
    if (schedq_plugin_register(round_of.queue, &plugin, &round_of.plugin, why, sizeof why) !=
        SCHEDQ_OK)
        refuse("no plugin", why);
}

static void
prepare(actor_t *actor, unsigned number, uint64_t dice)
{
    char why[200] = "";
    actor->round = &round_of;
    actor->number = number;
    actor->late = false;
    actor->dice = dice;
    actor->count = actor->in_hand_count = 0;
    if (schedq_worker_register(round_of.queue, &actor->worker, why, sizeof why) != SCHEDQ_OK)
        refuse("no worker", why);
}

static void *
body(void *argument)
{
    work(argument);
    return NULL;
}

/* Ends the process if no call ends any more. */
static void *
watch(void *argument)
{
    const struct timespec pause = {.tv_nsec = PATIENCE_LOOK_NS};
    patience_t patience;
    (void)argument;
    patience_begin(&patience, getpid(), PATIENCE_SECONDS, PATIENCE_LOOKS(PATIENCE_SECONDS));
    while (!atomic_load(&over)) {
        (void)nanosleep(&pause, NULL);
        if (patience_look(&patience, atomic_load(&round_of.made)) != PATIENCE_LASTS) {
            printf("no call ends any more\n");
            fflush(stdout);
            _Exit(1);
        }
    }
    return NULL;
}

static void
collect(const options_t *options)
{
    book.count = 0;
    for (unsigned i = 0; i <= options->threads; i++) {
        if (book.count + actors[i].count > RECORDS_MAX)
            refuse("a round", "it has too many calls");
        memcpy(&book.records[book.count], actors[i].records,
               actors[i].count * sizeof *book.records);
        book.count += actors[i].count;
    }
}

static void
do_round(const options_t *options, uint64_t number)
{
    pthread_t threads[THREADS_MAX];
    char why[200] = "";
    atomic_store(&round_of.pods_added, 0);
    atomic_store(&round_of.now, BACKOFF_NS);
    round_of.loses = number % 2 == 1;
    round_of.threads = options->threads;
    round_of.calls = CALLS_OF_A_ROUND / options->threads;
    open_queue(options);
    for (unsigned i = 0; i <= options->threads; i++)
        prepare(&actors[i], i, options->seed * 1000003 + number * 1009 + i);
    for (unsigned i = 0; i < options->threads; i++) {
        if (pthread_create(&threads[i], NULL, body, &actors[i]) != 0)
            refuse("no thread", "the system has none");
    }
    for (unsigned i = 0; i < options->threads; i++)
        pthread_join(threads[i], NULL);
    work_drain(&actors[options->threads]);
    for (unsigned i = 0; i <= options->threads; i++)
        (void)schedq_worker_unregister(actors[i].worker);
    if (schedq_destroy_with_pods(round_of.queue, why, sizeof why) != SCHEDQ_OK)
        refuse("the queue stays", why);
    collect(options);
}

/* ---- the command ----------------------------------------------------------------------------- */

static void
read_options(options_t *options, int argc, char **argv)
{
    static const argument_t table[] = {
        ARGUMENT_CHOICE(options_t, engine, "engine", 'e', argument_engines,
                        "lockfree (default) or mutex"),
        ARGUMENT_NUMBER(options_t, threads, "threads", 't', 1, THREADS_MAX, "1..32, default 4"),
        ARGUMENT_NUMBER(options_t, operations, "operations", 'n', 1000, UINT64_C(1000000000000),
                        "in all; 1000..10^12, default 1000000"),
        ARGUMENT_NUMBER(options_t, seed, "seed", 'r', 0, UINT64_MAX,
                        "of all random choices; default: the time"),
        ARGUMENT_CHOICE(options_t, plant, "plant", 256, plant_names, "falsifies one history"),
        ARGUMENTS_END,
    };
    static const command_line_t line = {
        .table = table,
        .doc =
            "Lets threads add, pop, end and fail pods of a few classes at random, records each "
            "call with its interval, and checks afterwards that of a class that is shut one pod "
            "was tried, that each pod that its class kept back had a scout, was tried behind its "
            "patience, and that none was lost. It says how often each rule had something to "
            "decide.\vExit status: "
            "0 nothing wrong (with --plant: the planted violation was found); 1 a violation (with "
            "--plant: it was not found), or a rule that never had anything to decide; 2 bad "
            "usage; 130 interrupted. A seed fixes what the threads choose, not how they "
            "interleave.",
    };
    for (size_t i = 0; plants[i].name != NULL; i++)
        plant_names[i] = (argument_choice_t){plants[i].name, (int64_t)i};
    *options = (options_t){.engine = argument_engine_default(),
                           .threads = 4,
                           .operations = 1000000,
                           .seed = (uint64_t)time(NULL)};
    arguments_read(&line, argc, argv, options);
}

static uint64_t
sum(const uint64_t counts[RULES])
{
    uint64_t all = 0;
    for (unsigned rule = 0; rule < RULES; rule++)
        all += counts[rule];
    return all;
}

static void
print_counts(const char *what, const uint64_t counts[RULES])
{
    printf("%s:", what);
    for (unsigned rule = 0; rule < RULES; rule++)
        printf("%s %s %" PRIu64, rule == 0 ? "" : ",", rule_name((rule_t)rule), counts[rule]);
    printf("\n");
}

static int
verdict(const options_t *options, const report_t *report, bool planted)
{
    if (options->plant != NULL && !interrupt_came()) {
        bool found = planted && report->violations[plants[options->plant->value].rule] > 0;
        printf("plant %s: %s\n", options->plant->name,
               !planted ? "no place for it in these rounds"
               : found  ? "found"
                        : "NOT FOUND");
        return found ? 0 : 1;
    }
    bool idle = false;
    for (unsigned rule = 0; rule < RULES && !interrupt_came(); rule++) {
        if (report->obligations[rule] == 0) {
            printf("rule %s never had anything to decide\n", rule_name((rule_t)rule));
            idle = true;
        }
    }
    return sum(report->violations) > 0 || idle ? 1 : 0;
}

int
main(int argc, char **argv)
{
    static char again[200];
    options_t options;
    report_t report = {.again = again};
    uint64_t calls = 0;
    bool planted = false;
    pthread_t watcher;
    read_options(&options, argc, argv);
    snprintf(again, sizeof again,
             "schedq-class-history --engine %s --threads %u --operations %" PRIu64
             " --seed %" PRIu64 "%s%s",
             options.engine->name, options.threads, options.operations, options.seed,
             options.plant != NULL ? " --plant " : "",
             options.plant != NULL ? options.plant->name : "");
    printf("%s\n", again);
    fflush(stdout);
    stamp_choose();
    interrupt_catch();
    report.seed = options.seed;
    if (pthread_create(&watcher, NULL, watch, NULL) != 0)
        refuse("no thread", "the system has none");
    while (calls < options.operations && sum(report.violations) == 0 && !planted &&
           !interrupt_came()) {
        do_round(&options, report.round);
        calls += book.count;
        planted = options.plant != NULL && plants[options.plant->value].plant(&book);
        rules_check(&book, &report);
        report.round++;
    }
    atomic_store(&over, true);
    pthread_join(watcher, NULL);
    printf("%" PRIu64 " operations in %" PRIu64 " rounds\n", calls, report.round);
    print_counts("violations", report.violations);
    print_counts("obligations", report.obligations);
    return interrupt_end(verdict(&options, &report, planted),
                         "the figures above are of the rounds until then");
}
