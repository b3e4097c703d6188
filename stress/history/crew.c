/*
 * One mutex and one condition for the start and the end of rounds. Workers are now and then given
 * back and registered again, so that others get their slots.
 */
#include "crew.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support/patience.h"

typedef struct post {
    crew_t *crew;
    unsigned number;
} post_t;

static post_t posts[THREADS_MAX];

/* Returns false when there is no next round. */
static bool
wait_for_round(crew_t *crew, uint64_t *round)
{
    pthread_mutex_lock(&crew->lock);
    while (crew->started == *round && !crew->over)
        pthread_cond_wait(&crew->changed, &crew->lock);
    *round = crew->started;
    bool over = crew->over;
    pthread_mutex_unlock(&crew->lock);
    return !over;
}

static void
finish_round(crew_t *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->finished++;
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
}

static void *
body(void *argument)
{
    const post_t *post = argument;
    world_t *world = post->crew->world;
    actor_t *actor = &world->actors[post->number];
    uint64_t round = 0;
    actor_register(actor);
    while (wait_for_round(post->crew, &round)) {
        if (world->plan.new_workers) {
            actor_unregister(actor);
            actor_register(actor);
        }
        workload_run(world, post->number);
        finish_round(post->crew);
    }
    actor_unregister(actor);
    return NULL;
}

void
crew_hire(crew_t *crew, world_t *world)
{
    pthread_condattr_t monotonic;
    memset(crew, 0, sizeof *crew);
    crew->world = world;
    pthread_mutex_init(&crew->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&crew->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    for (; crew->hired < world->options->threads; crew->hired++) {
        post_t *post = &posts[crew->hired];
        *post = (post_t){crew, crew->hired};
        if (pthread_create(&crew->threads[crew->hired], NULL, body, post) != 0) {
            fprintf(stderr, "schedq-history: thread %u cannot be started\n", crew->hired);
            exit(1);
        }
    }
}

static uint64_t
calls_made(crew_t *crew)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < crew->hired; i++)
        sum += atomic_load_explicit(&crew->world->actors[i].calls, memory_order_relaxed);
    return sum;
}

bool
crew_run(crew_t *crew, unsigned patience)
{
    bool lasts = true;
    patience_t looks;
    patience_begin(&looks, getpid(), patience, PATIENCE_LOOKS(patience));
    pthread_mutex_lock(&crew->lock);
    crew->finished = 0;
    crew->started++;
    pthread_cond_broadcast(&crew->changed);
    while (crew->finished < crew->hired && lasts) {
        struct timespec limit;
        clock_gettime(CLOCK_MONOTONIC, &limit);
        limit.tv_nsec += PATIENCE_LOOK_NS;
        limit.tv_sec += limit.tv_nsec / 1000000000;
        limit.tv_nsec %= 1000000000;
        if (pthread_cond_timedwait(&crew->changed, &crew->lock, &limit) != 0)
            lasts = patience_look(&looks, calls_made(crew)) == PATIENCE_LASTS;
    }
    bool all = crew->finished == crew->hired;
    pthread_mutex_unlock(&crew->lock);
    return all;
}

void
crew_explain(crew_t *crew, report_t *report)
{
    schedq_stats_t stats;
    unsigned sleepers = 0, inside = 0;
    for (unsigned i = 0; i < crew->hired; i++) {
        uint32_t doing = atomic_load_explicit(&crew->world->actors[i].doing, memory_order_relaxed);
        if (doing == OP_NONE)
            continue;
        printf("thread %u is in %s\n", i, call_name((uint8_t)doing));
        inside += doing != OP_POP;
        sleepers += doing == OP_POP;
    }
    if (inside > 0) {
        report_violation(report, RULE_WAKEUP, NULL, NULL,
                         "%u calls that never wait for a pod do not end", inside);
        return;
    }
    stats = (schedq_stats_t)SCHEDQ_STATS_INIT;
    schedq_stats(crew->world->queue, &stats);
    report_violation(
        report, RULE_WAKEUP, NULL, NULL,
        "%u threads sleep in pop for ever; %" PRIu64 " pods are active, %" PRIu64
        " back off, %" PRIu64 " are parked, %" PRIu64 " gated%s",
        sleepers, stats.active, stats.backoff + stats.error_backoff, stats.parked, stats.gated,
        stats.active + stats.backoff + stats.error_backoff + stats.parked + stats.gated == 0
            ? ": those that were to wake them are lost"
            : "");
}

void
crew_dismiss(crew_t *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->over = true;
    pthread_cond_broadcast(&crew->changed);
    pthread_mutex_unlock(&crew->lock);
    for (unsigned i = 0; i < crew->hired; i++)
        pthread_join(crew->threads[i], NULL);
}
