/*
 * schedq-history: rounds of calls on one queue, each followed by the check of what was recorded.
 *
 * The queue lives through all rounds, so records, lives, tokens and workers are used again and
 * again; memory is that of a round. Pods that stay for the next round are looked up when all is
 * quiet, and begin it as calls that made them.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/arguments.h"
#include "support/interrupt.h"

#include "check.h"
#include "counts.h"
#include "crew.h"
#include "names.h"
#include "objects.h"
#include "plant.h"
#include "stamp.h"

/* Of processor time, or of sleep, in which no call ends. */
#define PATIENCE_SECONDS 60
#define PATIENCE_PLANTED 3
#define NEVER_NS (INT64_C(3600) * 1000000000) /* plant: a backoff that is never over */

typedef struct run {
    options_t options;
    world_t world;
    crew_t crew;
    checker_t *checker;
    counts_t counts;
    report_t report;
    const plant_t *plant;
    bool planted;
    bool timer;        /* the timer thread runs */
    record_t *carried; /* the next round's first records */
    uint32_t carried_count;
    uint64_t ran_ns, checked_ns;
    char again[300];
} run_t;

/* ---- the queue ------------------------------------------------------------------------------- */

/* The seed says which of two or three ways to go. */
static void
configure(const options_t *options, schedq_config_t *config)
{
    if (options->queue == QUEUE_KUBE)
        schedq_config_kube_1_34(config);
    else
        *config = (schedq_config_t)SCHEDQ_CONFIG_INIT;
    if (options->queue == QUEUE_COUNTED) {
        config->objects = SCHEDQ_OBJECTS_COUNTED;
        config->retain = objects_retain;
        config->release = objects_release;
    }
    if (options->queue == QUEUE_HOST)
        config->decide = SCHEDQ_DECIDE_HOST;
    if (options->queue == QUEUE_CAPPED)
        config->max_pods = options->names / 16;
    config->engine = (uint8_t)options->engine->value;
    if (options->queue != QUEUE_KUBE && options->queue != QUEUE_HOST) /* there ticks end backoffs */
        config->pop_from_backoff = options->seed / 2 % 2 == 0;
    config->initial_backoff_ns = INT64_C(1000000);
    config->max_backoff_ns = INT64_C(4000000);
    config->event_log = options->seed % 3 == 0 ? 64 : config->event_log;
    config->max_lots = options->seed % 5 == 0 ? 2 : config->max_lots;
    if (options->plant != NULL && strcmp(options->plant, "never-due") == 0)
        config->initial_backoff_ns = config->max_backoff_ns = NEVER_NS;
}

static schedq_t *
make_queue(const options_t *options, settings_t *settings)
{
    schedq_config_t config;
    schedq_t *queue;
    char why[200];
    configure(options, &config);
    *settings = (settings_t){.pop_from_backoff = config.pop_from_backoff != 0,
                             .initial_backoff_ns = config.initial_backoff_ns,
                             .max_backoff_ns = config.max_backoff_ns,
                             .kube = options->queue == QUEUE_KUBE,
                             .host = options->queue == QUEUE_HOST,
                             .max_pods = options->queue == QUEUE_CAPPED ? config.max_pods : 0};
    schedq_status_t status = schedq_create(&config, &queue, why, sizeof why);
    if (status != SCHEDQ_OK) {
        fprintf(stderr, "schedq-history: --engine %s: this library says %s: %s\n",
                options->engine->name, schedq_status_name(status), why);
        exit(status == SCHEDQ_INVALID ? 2 : 1);
    }
    return queue;
}

static void
make_actors(world_t *world)
{
    for (unsigned i = 0; i <= world->options->threads; i++) {
        actor_t *actor = &world->actors[i];
        actor->queue = world->queue;
        actor->book = &world->book;
        actor->shared = &world->shared;
        actor->cluster = &world->cluster;
        actor->number = i;
        actor->dice = world->options->seed * 1000 + i;
        actor->last_timestamp = (int64_t)stamp_monotonic();
    }
}

/* What a thread does after the random part is bounded by the pods that there are. */
static uint32_t
records_of_a_thread(const options_t *options)
{
    return options->round_operations / options->threads + 2 * workload_names(options) + 8192;
}

static void
open_run(run_t *run)
{
    const options_t *options = &run->options;
    world_t *world = &run->world;
    uint32_t names = workload_names(options);
    world->options = options;
    names_make(names);
    objects_open(options->threads, options->queue == QUEUE_COUNTED);
    book_make(&world->book, options->threads, records_of_a_thread(options));
    world->queue = make_queue(options, &world->book.settings);
    cluster_open(&world->cluster, world->queue, options->queue == QUEUE_HOST);
    pthread_barrier_init(&world->all_done, NULL, options->threads);
    make_actors(world);
    actor_register(&world->actors[options->threads]);
    run->checker = checker_make(
        &world->book, (size_t)options->round_operations + 2 * (size_t)names + 4096, names);
    run->carried = calloc(names, sizeof *run->carried);
    if (run->carried == NULL) {
        fprintf(stderr, "schedq-history: no memory for %u pods\n", names);
        exit(1);
    }
    run->report.book = &world->book;
    run->report.seed = options->seed;
    run->report.again = run->again;
    crew_hire(&run->crew, world);
}

static void
close_run(run_t *run)
{
    const options_t *options = &run->options;
    crew_dismiss(&run->crew);
    actor_unregister(&run->world.actors[options->threads]);
    schedq_stop(run->world.queue);
    schedq_status_t status = schedq_destroy_with_pods(run->world.queue, NULL, 0);
    if (status != SCHEDQ_OK)
        report_violation(&run->report, RULE_CLOSED, NULL, NULL, "destroy says %s",
                         schedq_status_name(status));
    objects_check_end(&run->report);
    objects_close();
    pthread_barrier_destroy(&run->world.all_done);
    checker_free(run->checker);
    book_free(&run->world.book);
    names_free();
    free(run->carried);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void
begin_book(run_t *run)
{
    book_t *book = &run->world.book;
    book_clear(book);
    book->begin = stamp_begin();
    for (uint32_t i = 0; i < run->carried_count; i++) {
        record_t *record = book_take(book, book->threads);
        *record = run->carried[i];
        record->begin = record->end = record->settled = book->begin;
    }
}

/* The plant "object-released". */
static bool
release_some_object(const lives_t *lives)
{
    for (size_t i = 0; i < lives->count; i++) {
        if (lives->lives[i].pending != NULL) {
            objects_give_back(lives->lives[i].pending->object);
            return true;
        }
    }
    return false;
}

/* The gates and the timer thread of this round. */
static void
begin_waiting(run_t *run)
{
    world_t *world = &run->world;
    char why[200];
    for (unsigned gate = 0; gate < GATES; gate++)
        actor_gate(&world->actors[world->options->threads], gate,
                   (world->plan.gates_shut >> gate & 1) != 0);
    if (run->timer == world->plan.timer)
        return;
    schedq_status_t status =
        run->timer ? schedq_stop(world->queue) : schedq_run(world->queue, why, sizeof why);
    if (status != SCHEDQ_OK) {
        fprintf(stderr, "schedq-history: the timer thread: %s\n", schedq_status_name(status));
        exit(1);
    }
    run->timer = world->plan.timer;
}

/* What is pending is described by the newest update, or by its add. */
static void
carry(run_t *run)
{
    const lives_t *lives = checker_lives(run->checker);
    run->carried_count = 0;
    for (size_t i = 0; i < lives->count; i++) {
        const life_t *life = &lives->lives[i];
        const record_t *newest =
            life->pending != NULL ? life_description(life, life->pending->object) : NULL;
        if (newest == NULL)
            continue;
        record_t *record = &run->carried[run->carried_count++];
        *record = (record_t){.call = CALL_CARRY,
                             .thread = (uint8_t)run->options.threads,
                             .name = life->created->name,
                             .pod = life->created->pod,
                             .label = life->created->label,
                             .object = newest->object,
                             .priority = newest->priority,
                             .keyed = newest->keyed,
                             .key = newest->key,
                             .place = life->pending->place,
                             .node = life->pending->node,
                             .tells_node = true,
                             .attempts = life->pending->attempts,
                             .rejections = life->pending->rejections,
                             .errors = life->pending->errors,
                             .unschedulable = life->pending->unschedulable,
                             .pending = life->pending->pending,
                             .timestamp_ns = life->last->timestamp_ns};
    }
}

/* A plant that was applied has changed what the records say. */
static void
look_when_quiet(run_t *run)
{
    const lives_t *lives = checker_lives(run->checker);
    if (run->plant != NULL && strcmp(run->plant->name, "object-released") == 0)
        run->planted = run->planted || release_some_object(lives);
    if (run->planted && run->plant->rule != RULE_OBJECTS)
        return;
    objects_check(lives, &run->report);
    nominations_look(lives, run->world.actors[run->options.threads].worker,
                     schedq_words(run->world.queue)->nominations, &run->report);
}

static void
check_round(run_t *run)
{
    checker_run(run->checker, &run->world.book, &run->report);
    if (run->plant != NULL && run->plant->apply != NULL && report_sum(&run->report) == 0) {
        run->planted = run->plant->apply(&run->world.book, checker_lives(run->checker));
        if (run->planted)
            checker_run(run->checker, &run->world.book, &run->report);
    }
    look_when_quiet(run);
    counts_add(&run->counts, &run->world.book);
    if (run->plant != NULL && strcmp(run->plant->name, "counter") == 0) {
        run->planted = true;
        run->counts.adds++;
    }
    if (!run->planted || run->plant->rule == RULE_COUNTERS)
        counts_check(&run->counts, run->world.queue, run->options.threads + 1 + run->timer,
                     run->timer, &run->report);
    if (run->world.plan.last && schedq_words(run->world.queue)->closed != 1)
        report_violation(&run->report, RULE_CLOSED, NULL, NULL,
                         "words.closed is not 1 after close");
    carry(run);
}

static bool
is_stuck_by_plan(const run_t *run)
{
    return run->world.elsewhere != NULL ||
           (run->plant != NULL && strcmp(run->plant->name, "never-due") == 0);
}

/* False: threads are stuck in the queue, nothing can be freed. */
static bool
do_round(run_t *run, uint64_t round, bool last)
{
    uint64_t begun = stamp_monotonic();
    plan_round(&run->world.plan, &run->options, round, last);
    run->report.round = round;
    begin_book(run);
    begin_waiting(run);
    if (!crew_run(&run->crew, is_stuck_by_plan(run) ? PATIENCE_PLANTED : PATIENCE_SECONDS)) {
        crew_explain(&run->crew, &run->report);
        return false;
    }
    workload_look(&run->world);
    uint64_t ran = stamp_monotonic();
    check_round(run);
    if (round % 8 == 7)
        schedq_trim(run->world.queue);
    run->ran_ns += ran - begun;
    run->checked_ns += stamp_monotonic() - ran;
    return true;
}

static void
lead_astray(run_t *run)
{
    char why[200];
    if (run->plant == NULL || run->options.threads == 1)
        return;
    run->planted = strcmp(run->plant->name, "never-due") == 0;
    if (strcmp(run->plant->name, "asleep") != 0)
        return;
    settings_t unused;
    schedq_t *elsewhere = make_queue(&run->options, &unused);
    run->planted =
        schedq_worker_register(elsewhere, &run->world.elsewhere, why, sizeof why) == SCHEDQ_OK;
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static void
summarize(const run_t *run)
{
    double ran = (double)run->ran_ns / 1e9, checked = (double)run->checked_ns / 1e9;
    double millions = (double)run->counts.records / 1e6;
    counts_print(&run->counts);
    printf("%" PRIu64 " operations in %" PRIu64
           " rounds: ran %.1f s (%.2f M/s), checked %.1f s (%.2f M/s)\n",
           run->counts.records, run->report.round + 1, ran, millions / ran, checked,
           millions / checked);
    for (unsigned rule = 0; rule < RULES; rule++)
        printf("%s %s %" PRIu64, rule == 0 ? "violations:" : ",", rule_name((rule_t)rule),
               run->report.violations[rule]);
    printf("\nobligations:");
    for (unsigned rule = 0; rule < RULES; rule++)
        printf("%s %s %" PRIu64, rule == 0 ? "" : ",", rule_name((rule_t)rule),
               run->report.obligations[rule]);
    printf("\n");
}

/* Does the queue, as it is, give the rule anything to decide? */
static bool
has_obligations(const options_t *options, rule_t rule)
{
    switch (rule) {
    case RULE_DUE:
        /* a round ends before the second does in which kube's backoffs are over */
        return options->queue != QUEUE_KUBE;
    case RULE_GATES:
        return options->queue != QUEUE_HOST; /* its pods have no gates */
    case RULE_CAPS:
        return options->queue == QUEUE_CAPPED;
    case RULE_OBJECTS:
        return options->queue == QUEUE_COUNTED;
    default:
        return true;
    }
}

static bool
had_obligations(const run_t *run)
{
    bool all = true;
    for (unsigned rule = 0; rule < RULES; rule++) {
        if (run->report.obligations[rule] == 0 && has_obligations(&run->options, (rule_t)rule)) {
            printf("rule %s never had anything to decide\n", rule_name((rule_t)rule));
            all = false;
        }
    }
    return all;
}

static int
verdict(const run_t *run)
{
    if (run->plant == NULL || interrupt_came())
        return report_sum(&run->report) == 0 && (interrupt_came() || had_obligations(run)) ? 0 : 1;
    bool found = run->planted && run->report.violations[run->plant->rule] > 0;
    printf("plant %s: %s\n", run->plant->name,
           !run->planted ? "no place for it in these rounds"
           : found       ? "found"
                         : "NOT FOUND");
    return found ? 0 : 1;
}

static const char *
kind_name_of(const options_t *options)
{
    const argument_choice_t *choice = kinds_of_queue;
    while (choice->value != (int64_t)options->queue)
        choice++;
    return choice->name;
}

static void
name_command(run_t *run)
{
    const options_t *options = &run->options;
    snprintf(run->again, sizeof run->again,
             "schedq-history --engine %s --threads %u --operations %" PRIu64
             " --round-operations %u --names %u --seed "
             "%" PRIu64 " --queue %s%s%s%s",
             options->engine->name, options->threads, options->operations,
             options->round_operations, options->names, options->seed, kind_name_of(options),
             options->perturb ? " --perturb" : "", options->plant != NULL ? " --plant " : "",
             options->plant != NULL ? options->plant : "");
    printf("%s\nclock: %s\n", run->again,
           stamp_is_counter ? "time stamp counter" : "CLOCK_MONOTONIC");
    fflush(stdout);
}

int
main(int argc, char **argv)
{
    static run_t run;
    bool free_to_go = true;
    options_parse(&run.options, argc, argv);
    run.plant = run.options.plant != NULL ? plant_find(run.options.plant) : NULL;
    stamp_choose();
    open_run(&run);
    name_command(&run);
    interrupt_catch();
    lead_astray(&run);
    uint64_t rounds =
        (run.options.operations + run.options.round_operations - 1) / run.options.round_operations;
    for (uint64_t round = 0;
         round < rounds && free_to_go && report_sum(&run.report) == 0 && !interrupt_came(); round++)
        free_to_go = do_round(&run, round, round + 1 == rounds);
    if (free_to_go)
        close_run(&run);
    summarize(&run);
    int status = interrupt_end(verdict(&run), "the figures above are of the rounds until then");
    fflush(stdout);
    if (!free_to_go)
        _Exit(status);
    return status;
}
