/*
 * The queue under stress, its plugins and what its threads share.
 *
 * The phases: RUNNING, everything at random; DRAINING, hints and gates say yes, consumers finish
 * what they pop and nobody adds; CLOSED.
 */
#ifndef SCHEDQ_STRESS_WORLD_H
#define SCHEDQ_STRESS_WORLD_H

#include "options.h"
#include "tally.h"

enum { PHASE_RUNNING, PHASE_DRAINING };
enum { WORLD_PLUGINS = 5 };
enum { WORLD_RECENT = 16 };

typedef struct world {
    const options_t *options;
    schedq_t *queue;
    uint64_t bits[WORLD_PLUGINS];
    atomic_uint phase;
    atomic_uint_fast64_t dice;        /* of the callbacks, which have no thread's generator */
    atomic_uint recent[WORLD_RECENT]; /* indices of pods that were popped last: likely in flight */
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
/** The worker becomes another one, or is adopted as if its user had died. */
void actor_change_worker(actor_t *actor);
/** 0..below - 1 */
unsigned actor_roll(actor_t *actor, unsigned below);

/** A random index: of any name, or of a pod that is likely in flight. */
unsigned actor_index(actor_t *actor);
unsigned actor_recent(actor_t *actor);
/**
 * A reference of the caller's own to an object that he gives to the queue, which is returned; and
 * its end.
 */
uint64_t actor_hold(actor_t *actor, uint64_t object);
void actor_let_go(actor_t *actor, uint64_t object);
/**
 * A random spec with the name of that index and an object that is held. `name` has room for 32
 * bytes. Returns the name's length.
 */
size_t actor_spec(actor_t *actor, unsigned index, schedq_pod_spec_t *spec, char *name);
/** Makes a call and enters it; its answer is checked. */
schedq_status_t actor_do(actor_t *actor, op_t *op, const unsigned *indices);
/**
 * Updates the pod of that index, or adds it. `replaced`, which may be NULL, receives the object
 * that it had, or 0.
 */
schedq_status_t actor_update(actor_t *actor, unsigned index, const schedq_event_t *events,
                             size_t event_count, uint64_t *replaced);
/** A random set of rejectors, never empty. */
uint64_t actor_rejectors(actor_t *actor);
/** Sleeps for up to `microseconds`. */
void actor_nap(actor_t *actor, unsigned microseconds);

/** What producers do all the time, for once. */
void producer_add(actor_t *actor, unsigned index);
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
void *churn_run(void *start); /* deletes, updates, activates, nominates, looks */
/* what a scheduler's host does beside the pods: events, looks, memory */
void *host_run(void *start);
void *ticks_run(void *start); /* tick, and the timer thread now and then */

#endif
