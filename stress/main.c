/*
 * schedq-stress: runs the threads, drains the queue, closes it, and says whether the account is
 * even.
 *
 * A thread that does not end, or a queue that does not drain, while nothing happens to any pod and
 * all threads sleep, is a lost wake-up or a stranded pod (support/patience.h); nothing depends on
 * time that others take.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <unistd.h>

#include "support/interrupt.h"
#include "support/patience.h"
#include "world.h"

/* Seconds of processor time, or of sleep, in which nothing happens to any pod. */
#define PATIENCE_SECONDS 120
#define NAP_US 200u
#define LOOKS_A_SECOND 20u
#define THREADS_MAX (2 * OPTIONS_THREADS_MAX + OTHER_THREADS)

typedef struct crew {
    pthread_t threads[THREADS_MAX];
    start_t starts[THREADS_MAX];
    unsigned count;
} crew_t;

static bool
hire(crew_t *crew, world_t *world, void *(*body)(void *), unsigned number)
{
    start_t *start = &crew->starts[crew->count];
    *start = (start_t){world, number};
    if (pthread_create(&crew->threads[crew->count], NULL, body, start) != 0)
        return false;
    crew->count++;
    return true;
}

static uint64_t
progress(world_t *world)
{
    tally_t *tally = &world->tally;
    return tally_sum(tally->adds) + tally_sum(tally->dones) + tally_sum(tally->deletes) +
           atomic_load(&tally->pops);
}

static void
begin_patience(patience_t *patience)
{
    patience_begin(patience, getpid(), PATIENCE_SECONDS, PATIENCE_LOOKS(PATIENCE_SECONDS));
}

/* False if one of them does not end. */
static bool
wait_for(crew_t *crew, world_t *world)
{
    patience_t patience;
    begin_patience(&patience);
    for (unsigned i = 0; i < crew->count; i++) {
        while (!patience_joined(crew->threads[i], NULL)) {
            if (patience_look(&patience, progress(world)) != PATIENCE_LASTS)
                return false;
        }
    }
    return true;
}

static bool
is_empty(world_t *world)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    schedq_stats(world->queue, &stats);
    return stats.active + stats.backoff + stats.error_backoff + stats.parked + stats.gated +
               stats.held + stats.inflight ==
           0;
}

static void
send(actor_t *actor, schedq_event_t event)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = event;
    schedq_status_t status = schedq_notify(actor->worker, &change, NULL);
    TALLY_CHECK(&actor->world->tally, status == SCHEDQ_OK, "a move says %s",
                schedq_status_name(status));
}

/* False if it stays as it is. */
static bool
wait_until_empty(actor_t *actor)
{
    unsigned naps = 0;
    patience_t patience;
    begin_patience(&patience);
    while (!is_empty(actor->world)) {
        actor_nap(actor, NAP_US);
        if (++naps % (PATIENCE_LOOK_NS / (1000 * NAP_US)) == 0 &&
            patience_look(&patience, progress(actor->world)) != PATIENCE_LASTS)
            return false;
    }
    return true;
}

/*
 * One wildcard, and one event of the gates, concern every pod that waits, and every one that fails
 * later but was popped before. The rest is done by time, which the consumers serve in their sleep,
 * and by them: this thread helps nobody.
 */
static bool
drain(actor_t *actor)
{
    send(actor, SCHEDQ_EVENT_WILDCARD);
    send(actor, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED);
    return wait_until_empty(actor);
}

/*
 * Hands pods to consumers that all sleep by now, one or a few at a time: here no other call makes
 * up for a lost wake-up.
 */
static bool
hand_over(actor_t *actor)
{
    for (unsigned round = 0; round < 200; round++) {
        if (round % 2 == 0)
            producer_add_one(actor);
        else
            producer_add_batch(actor);
        if (!wait_until_empty(actor))
            return false;
    }
    return true;
}

static void
finish(world_t *world)
{
    actor_t actor;
    char text[100];
    actor_begin(&actor, world, 999);
    bool good = drain(&actor) && hand_over(&actor);
    actor_end(&actor);
    schedq_pending_text(world->queue, text, sizeof text);
    TALLY_CHECK(&world->tally, good, "the queue does not drain: %s", text);
}

static void
let_them_work(unsigned seconds)
{
    const struct timespec pause = {.tv_nsec = 1000000000 / LOOKS_A_SECOND};
    for (unsigned i = 0; i < seconds * LOOKS_A_SECOND && !interrupt_came(); i++)
        nanosleep(&pause, NULL);
}

/* False if threads are left that would use a destroyed queue. */
static bool
run(world_t *world, const options_t *options)
{
    static crew_t disturbers, consumers;
    tally_t *tally = &world->tally;
    unsigned number = 0;
    bool all = true;
    for (unsigned i = 0; i < options->threads; i++) {
        all = hire(&consumers, world, consumer_run, number++) && all;
        all = hire(&disturbers, world, producer_run, number++) && all;
    }
    all = hire(&disturbers, world, churn_run, number++) && all;
    all = hire(&disturbers, world, host_run, number++) && all;
    all = hire(&disturbers, world, ticks_run, number++) && all;
    TALLY_CHECK(tally, all, "a thread could not be started");

    let_them_work(options->seconds);
    atomic_store(&world->phase, PHASE_DRAINING);
    if (!wait_for(&disturbers, world)) {
        tally_violation(tally, "a thread that never sleeps in the queue does not end");
        return false;
    }
    finish(world);
    schedq_close(world->queue);
    if (!wait_for(&consumers, world)) {
        tally_violation(tally, "a consumer sleeps on after close");
        return false;
    }
    return true;
}

int
main(int argc, char **argv)
{
    static world_t world;
    options_t options;
    options_parse(&options, argc, argv);
    printf("seed %llu; again with: schedq-stress --engine %s --threads %u --seconds %u --seed %llu "
           "--preset %s\n",
           (unsigned long long)options.seed, options.engine->name, options.threads, options.seconds,
           (unsigned long long)options.seed, options.preset->name);
    fflush(stdout);
    interrupt_catch();
    world_open(&world, &options);
    if (run(&world, &options)) {
        tally_check_lives(&world.tally);
        tally_check_stats(&world.tally, world.queue, true);
        world_close(&world);
    }
    unsigned violations = atomic_load(&world.tally.violations);
    printf("violations %u\n", violations);
    return interrupt_end(violations == 0 ? 0 : 1, "the account above is that of a shorter run");
}
