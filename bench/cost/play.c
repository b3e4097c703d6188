/* Playing rows. */
#include "play.h"

#include "arena.h"
#include "clock.h"
#include "probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of each step, of all workers together: to warm up, and measured. */
enum { CALLS = 2048, ROUNDS_MIN = 4 };

static const char *
subject_name(unsigned subject)
{
    return subject == LOCKFREE ? "lockfree" : subject == MUTEX ? "mutex" : "bare";
}

void
play_require(bool right, const struct play *play, const char *what)
{
    if (!right) {
        fprintf(stderr, "schedq-cost: row %s: %s did not do what the row is about\n",
                play->row->name, what);
        exit(1);
    }
}

void
play_begin(const struct play *play)
{
    if (play->measured) {
        probe_on();
    }
}

void
play_end(const struct play *play)
{
    if (play->measured) {
        probe_off();
    }
}

/* ---- opening --------------------------------------------------------------------------------- */

static void
make_plugin(struct play *play, const char *name, const schedq_interest_t *interests, size_t count,
            uint64_t *bit)
{
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;

    plugin.name = name;
    plugin.interests = interests;
    plugin.interest_count = count;
    play_require(schedq_plugin_register(play->queue, &plugin, bit, NULL, 0) == SCHEDQ_OK, play,
                 "schedq_plugin_register");
}

static schedq_hint_t
says_skip(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx;
    (void)pod;
    (void)old_object;
    (void)new_object;
    return SCHEDQ_HINT_SKIP;
}

/*
 * A new node, or another label, helps those that Waits rejected; Hears rejects no pod; where the
 * row asks, a node's label asks Stays0, which says no. The rest wants nothing.
 */
static void
make_plugins(struct play *play)
{
    static const schedq_interest_t asks = {
        .resource = "Node", .actions = SCHEDQ_ACTION_UPDATE_NODE_LABEL, .hint = says_skip};
    static const schedq_interest_t help[] = {
        {.resource = "Node", .actions = SCHEDQ_ACTION_ADD},
        {.resource = "UnschedulablePod", .actions = SCHEDQ_ACTION_UPDATE_POD_LABEL}};
    static const schedq_interest_t heard = {.resource = "Node", .actions = SCHEDQ_ACTION_DELETE};
    uint64_t unused;

    make_plugin(play, "Waits", help, 2, &play->waits);
    make_plugin(play, "Hears", &heard, 1, &unused);
    for (unsigned i = 0; i < REJECTORS; i++) {
        char name[16];

        snprintf(name, sizeof name, "Stays%u", i);
        make_plugin(play, name, &asks, i == 0 && play->row->asks, &play->rejectors[i]);
    }
}

static void
open_queue(struct play *play, unsigned subject)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    char why[200] = "";

    config.engine = subject == LOCKFREE ? SCHEDQ_ENGINE_LOCKFREE : SCHEDQ_ENGINE_MUTEX;
    config.allocator = arena_allocator();
    config.max_bands = 0;
    config.order = play->row->relaxed ? SCHEDQ_ORDER_RELAXED : SCHEDQ_ORDER_STRICT;
    config.decide = play->row->workload->decide ? SCHEDQ_DECIDE_HOST : SCHEDQ_DECIDE_CALLBACKS;
    if (schedq_create(&config, &play->queue, why, sizeof why) != SCHEDQ_OK) {
        fprintf(stderr, "schedq-cost: schedq_create: %s\n", why);
        exit(1);
    }
    make_plugins(play);
    for (unsigned i = 0; i < play->worker_count; i++) {
        play_require(schedq_worker_register(play->queue, &play->workers[i], NULL, 0) == SCHEDQ_OK,
                     play, "schedq_worker_register");
    }
}

static void
close_queue(struct play *play)
{
    if (play->bare != NULL) {
        bare_free(play->bare);
        return;
    }
    for (unsigned i = 0; i < play->worker_count; i++) {
        (void)schedq_worker_unregister(play->workers[i]);
    }
    play_require(schedq_destroy_with_pods(play->queue, NULL, 0) == SCHEDQ_OK, play,
                 "schedq_destroy");
}

/* ---- playing --------------------------------------------------------------------------------- */

static bool
takes_part(const struct play *play, const struct step *step, unsigned worker, uint64_t round)
{
    unsigned half = (play->worker_count + 1) / 2;

    switch (step->who) {
    case ONE:
        return worker == round % play->worker_count;
    case FIRST_HALF:
        return worker < half;
    case SECOND_HALF:
        return worker >= half || play->worker_count == 1;
    default:
        return true;
    }
}

/*
 * Returns what the first measured step did: a row of several steps is about what went through all
 * of them.
 */
static uint64_t
play_round(struct play *play, uint64_t round, bool measured)
{
    unsigned mask = play->row->measured;
    uint64_t units = 0;

    probe_round();
    for (unsigned i = 0; i < STEPS_MAX && play->row->workload->steps[i].call != NULL; i++) {
        const struct step *step = &play->row->workload->steps[i];
        bool counts = (unsigned)__builtin_ctz(mask) == i;

        play->measured = measured && (mask >> i & 1) != 0;
        for (unsigned worker = 0; worker < play->worker_count; worker++) {
            if (takes_part(play, step, worker, round)) {
                probe_worker(worker);
                uint64_t did = step->call(play, worker);

                units += counts ? did : 0;
            }
        }
    }
    return units;
}

/* Groups count as so many calls: a round of them is long. */
static uint64_t
rounds_of(const struct play *play, unsigned calls)
{
    unsigned each_round = play->row->workload->group ? GROUP : play->worker_count;
    uint64_t rounds = calls / each_round;

    return rounds < ROUNDS_MIN ? ROUNDS_MIN : rounds;
}

void
play_row(const struct row *row, unsigned subject, unsigned workers)
{
    static struct play play;
    unsigned calls = row->calls != 0 ? row->calls : CALLS;
    uint64_t units = 0;

    arena_reset();
    clock_reset();
    probe_reset();
    memset(&play, 0, sizeof play);
    play.row = row;
    play.worker_count = workers;
    play.each = workers < GROUP ? GROUP / workers : 1;
    if (subject == BARE) {
        play.bare = bare_new(row->pending + 1024);
        play_require(play.bare != NULL, &play, "bare_new");
    } else {
        open_queue(&play, subject);
    }
    row->workload->open(&play);
    for (uint64_t round = 0; round < rounds_of(&play, calls); round++) {
        (void)play_round(&play, round, false);
    }
    probe_start();
    for (uint64_t round = 0; round < rounds_of(&play, calls); round++) {
        units += play_round(&play, round, true);
    }
    probe_finish(subject_name(subject), row->name, workers, units);
    close_queue(&play);
}
