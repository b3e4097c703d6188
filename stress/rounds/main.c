/* The command of a subject: its rounds, and what is said of them. */
#include "history/stamp.h"
#include "rounds.h"
#include "support/arguments.h"
#include "support/interrupt.h"
#include "support/patience.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Of processor time, or of sleep, in which no call ends. */
enum { PATIENCE_SECONDS = 60, CALLS_OF_A_ROUND = 2400, PRINTED_PER_RULE = 3 };

typedef struct options {
    const argument_choice_t *engine, *plant;
    uint32_t threads;
    uint64_t operations, seed;
} options_t;

static const subject_t *subject;
static argument_choice_t plant_names[16];
static actor_t actors[THREADS_MAX + 1];
static book_t recorded;
static round_t round_of;
static atomic_bool over;

/* ---- a round --------------------------------------------------------------------------------- */

static void
refuse(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s: %s\n", subject->command, what, why);
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
    subject->configure(&round_of, &config);
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
    actor_t *actor = argument;
    for (unsigned i = 0; i < round_of.calls; i++) {
        subject->act(actor);
        atomic_fetch_add_explicit(&round_of.made, 1, memory_order_relaxed);
    }
    while (actor->in_hand_count > 0)
        subject->end_one(actor);
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
    recorded.count = 0;
    for (unsigned i = 0; i <= options->threads; i++) {
        if (recorded.count + actors[i].count > RECORDS_MAX)
            refuse("a round", "it has too many calls");
        memcpy(&recorded.records[recorded.count], actors[i].records,
               actors[i].count * sizeof *recorded.records);
        recorded.count += actors[i].count;
    }
}

static void
do_round(const options_t *options, uint64_t number)
{
    pthread_t threads[THREADS_MAX];
    char why[200] = "";
    atomic_store(&round_of.pods_added, 0);
    atomic_store(&round_of.groups_declared, 0);
    round_of.number = number;
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
    subject->drain(&actors[options->threads]);
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
    const command_line_t line = {.table = table, .doc = subject->doc};
    for (size_t i = 0; subject->plants[i].name != NULL; i++)
        plant_names[i] = (argument_choice_t){subject->plants[i].name, (int64_t)i};
    *options = (options_t){.engine = argument_engine_default(),
                           .threads = 4,
                           .operations = 1000000,
                           .seed = (uint64_t)time(NULL)};
    arguments_read(&line, argc, argv, options);
}

/* ---- what is said ---------------------------------------------------------------------------- */

void
violation(report_t *report, unsigned rule, const record_t *first, const record_t *second,
          const char *format, ...)
{
    if (report->violations[rule]++ >= PRINTED_PER_RULE)
        return;
    va_list arguments;
    va_start(arguments, format);
    printf("violation of %s in round %" PRIu64 " of seed %" PRIu64 ": ", subject->rules[rule],
           report->round, report->seed);
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
    if (first != NULL)
        subject->print(first);
    if (second != NULL)
        subject->print(second);
    printf("  again with: %s\n", report->again);
}

bool
plant_lost(book_t *book)
{
    for (size_t i = 0; i < book->count; i++) {
        record_t *use = &book->records[i];
        if (use->call == CALL_DONE && use->status == SCHEDQ_OK) {
            use->call = CALL_NONE;
            return true;
        }
    }
    return false;
}

static uint64_t
sum(const uint64_t counts[RULES_MAX])
{
    uint64_t all = 0;
    for (unsigned rule = 0; rule < RULES_MAX; rule++)
        all += counts[rule];
    return all;
}

static void
print_counts(const char *what, const uint64_t counts[RULES_MAX])
{
    printf("%s:", what);
    for (unsigned rule = 0; subject->rules[rule] != NULL; rule++)
        printf("%s %s %" PRIu64, rule == 0 ? "" : ",", subject->rules[rule], counts[rule]);
    printf("\n");
}

static int
verdict(const plant_t *plant, const report_t *report, bool planted)
{
    if (plant != NULL && !interrupt_came()) {
        bool found = planted && report->violations[plant->rule] > 0;
        printf("plant %s: %s\n", plant->name,
               !planted ? "no place for it in these rounds"
               : found  ? "found"
                        : "NOT FOUND");
        return found ? 0 : 1;
    }
    bool idle = false;
    for (unsigned rule = 0; subject->rules[rule] != NULL && !interrupt_came(); rule++) {
        if (report->obligations[rule] == 0) {
            printf("rule %s never had anything to decide\n", subject->rules[rule]);
            idle = true;
        }
    }
    return sum(report->violations) > 0 || idle ? 1 : 0;
}

int
rounds_main(const subject_t *of, int argc, char **argv)
{
    static char again[200];
    options_t options;
    report_t report = {.again = again};
    uint64_t calls = 0;
    bool planted = false;
    pthread_t watcher;
    subject = of;
    read_options(&options, argc, argv);
    const plant_t *plant = options.plant != NULL ? &subject->plants[options.plant->value] : NULL;
    snprintf(again, sizeof again,
             "%s --engine %s --threads %u --operations %" PRIu64 " --seed %" PRIu64 "%s%s",
             subject->command, options.engine->name, options.threads, options.operations,
             options.seed, plant != NULL ? " --plant " : "", plant != NULL ? plant->name : "");
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
        calls += recorded.count;
        planted = plant != NULL && plant->plant(&recorded);
        subject->check(&recorded, &report);
        report.round++;
    }
    atomic_store(&over, true);
    pthread_join(watcher, NULL);
    printf("%" PRIu64 " operations in %" PRIu64 " rounds\n", calls, report.round);
    print_counts("violations", report.violations);
    print_counts("obligations", report.obligations);
    return interrupt_end(verdict(plant, &report, planted),
                         "the figures above are of the rounds until then");
}
