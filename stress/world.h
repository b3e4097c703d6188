/*
 * The queue under stress, its plugins and what its threads share.
 *
 * The phases: RUNNING, everything at random; DRAINING, hints and gates say yes, consumers finish what they pop and
 * nobody adds; CLOSED.
 */
#ifndef SCHEDQ_STRESS_WORLD_H
#define SCHEDQ_STRESS_WORLD_H

#include "options.h"
#include "tally.h"

enum { PHASE_RUNNING, PHASE_DRAINING };
enum { WORLD_PLUGINS = 5 };

typedef struct world {
    const options_t *options;
    schedq_t *queue;
    uint64_t bits[WORLD_PLUGINS];
    atomic_uint phase;
    atomic_uint_fast64_t dice; /* of the callbacks, which have no thread's generator */
    tally_t tally;
} world_t;

/** One thread's view: its worker and its random numbers. */
typedef struct actor {
    world_t *world;
    schedq_worker_t *worker;
    uint64_t random;
} actor_t;

void world_open(world_t *world, const options_t *options);
/** Closes and destroys; checks references. */
void world_close(world_t *world);
static inline bool
world_is_running(world_t *world)
{
    return atomic_load(&world->phase) == PHASE_RUNNING;
}

/** Registers a worker; `number` makes the random sequence of this actor its own. */
void actor_begin(actor_t *actor, world_t *world, unsigned number);
void actor_end(actor_t *actor);
/** 0..below - 1 */
unsigned actor_roll(actor_t *actor, unsigned below);
/** A random spec with the name of a random index, which is returned. `name` has room for 32 bytes. */
unsigned actor_spec(actor_t *actor, schedq_pod_spec_t *spec, char *name);
/** A random set of rejectors, never empty. */
uint64_t actor_rejectors(actor_t *actor);
/** Sleeps for up to `microseconds`. */
void actor_nap(actor_t *actor, unsigned microseconds);

/** What producers do all the time, for once. */
void producer_add_one(actor_t *actor);
void producer_add_batch(actor_t *actor);

/** What a thread body gets. */
typedef struct start {
    world_t *world;
    unsigned number;
} start_t;

/* Thread bodies. */
void *producer_run(void *start);
void *consumer_run(void *start);
void *churn_run(void *start);  /* deletes, updates, activates, nominates, looks */
void *events_run(void *start); /* moves, snapshots, metrics */
void *ticks_run(void *start);  /* tick, and the timer thread now and then */

#endif
