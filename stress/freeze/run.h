/*
 * One queue, its actors and the account of its pods.
 *
 * The phases: RUNNING, everything at random; DRAINING, nobody adds, actors that pop without a
 * deadline finish what they get until the queue is closed.
 */
#ifndef SCHEDQ_FREEZE_RUN_H
#define SCHEDQ_FREEZE_RUN_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "ice.h"
#include "options.h"
#include "schedq/schedq.h"
#include "support/patience.h"
#include "tally.h"

#define ACTORS_MAX 32u
#define BATCH 4u
#define HELD_MAX 16u /* popped pods in one actor's hands */

/** From here on actors also pop without a deadline: two are left that never wait for long. */
#define FIRST_SLEEPER 2u

enum { PHASE_RUNNING, PHASE_DRAINING };
enum { RUN_PLUGINS = 4 };

typedef struct run run_t;

typedef struct held {
    schedq_token_t token;
    unsigned index; /* of its name */
} held_t;

/*
 * One thread, the one that settles a run, or the queue's timer thread.
 *
 * `intent` is the call whose outcome is not in the account yet, with the names it was given: what a
 * thread that never comes back leaves open.
 */
typedef struct actor {
    _Alignas(64) ice_t ice;
    atomic_uint_fast64_t calls; /* completed */
    /* of these, that changed something: a pop that found nothing is no progress */
    atomic_uint_fast64_t works;
    atomic_uint_fast64_t pods; /* popped */
    atomic_int tid;
    _Alignas(64) run_t *run;
    unsigned number;
    pthread_t thread;
    schedq_worker_t *worker;
    uint64_t random;
    atomic_uint intent;
    unsigned intent_count;
    unsigned intent_index[BATCH];
    atomic_uint held_count;
    held_t held[HELD_MAX];
} actor_t;

struct run {
    const options_t *options;
    uint64_t seed;
    schedq_t *queue;
    atomic_uint phase;
    atomic_uint_fast64_t allocations;
    uint64_t bits[RUN_PLUGINS];
    atomic_uint_fast64_t answers; /* of hints and gates, so far */
    unsigned actor_count;
    actor_t actors[ACTORS_MAX];
    actor_t settler;
    /*
     * the queue's timer thread; it has no worker here, and its calls are its readings of the clock
     */
    actor_t timer;
    atomic_bool timer_known;
    tally_t tally;
};

/** Makes the calling thread one whose readings of the queue's clock are not the timer thread's. */
void run_enter_thread(void);

/**
 * Makes the queue, reserves for all that will be in it, starts the actors. False, with a violation,
 * if it cannot.
 */
bool run_open(run_t *run, const options_t *options, uint64_t seed);

/** Sets everything but the worker. */
void actor_prepare(actor_t *actor, run_t *run, unsigned number);
void *actor_main(void *actor);
/**
 * Begins to wait for something that must happen; only a lost wake-up or a stranded pod takes longer
 * than that lasts.
 */
void run_wait(patience_t *patience);
/**
 * Waits for a tenth of a millisecond; false: `progress` has not changed for so long that it never
 * will.
 */
bool run_waited(patience_t *patience, uint64_t progress);
/**
 * What became of pods, and the settler's calls: idle poppers and the timer thread complete calls
 * for ever.
 */
uint64_t run_progress(run_t *run);
/** Waits for a thread. False: it does not end. */
bool run_join(run_t *run, pthread_t thread, void **result);
/** 0..below - 1 */
unsigned actor_roll(actor_t *actor, unsigned below);

/* What actors do, for the settler. */
schedq_status_t actor_add_named(actor_t *actor, unsigned index);
schedq_status_t actor_try_pop(actor_t *actor);
void actor_finish_held(actor_t *actor);
schedq_status_t actor_find_named(actor_t *actor, unsigned index, schedq_result_t *result);
schedq_status_t actor_delete_named(actor_t *actor, unsigned index);
/** Adds it as a pod that failed with an error: it backs off. */
schedq_status_t actor_readd_named(actor_t *actor, unsigned index);
void actor_notify(actor_t *actor, schedq_event_t event);
void actor_tick(actor_t *actor);

#endif
