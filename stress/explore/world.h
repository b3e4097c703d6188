/*
 * The queue of an episode, its actors, and how every queue scenario begins and ends.
 *
 * BEGIN   a queue in the arena, a worker per thread, then the scenario's `prepare`.
 * DRAIN   allocations succeed; a healthy thread with a worker of its own pops and ends what is
 *         left, looks for every pod that somebody was told of, and uses every name once more, some
 *         of the time with the worker of a frozen thread: whatever frozen threads hold, nothing
 *         else may be missing.
 * END     nobody frozen: counts, references and bytes come out even.
 */
#ifndef EXPLORE_WORLD_H
#define EXPLORE_WORLD_H

#include "actor.h"
#include "ledger.h"

#define HEALTHY SIM_THREADS_MAX /* number of the actor that prepares and drains */

struct world {
    schedq_t *queue;
    schedq_config_t config;
    struct ledger ledger;
    struct actor actors[SIM_THREADS_MAX + 1];
    uint32_t refusals; /* a bit per status: world_allow */
    uint32_t keys;     /* one past the highest pod that was named */
};

extern struct world world;
extern const struct harness queue_harness;

/**
 * Instead of the drain the workers of frozen threads are adopted, all are unregistered, and the
 * queue is destroyed with what is left in it.
 */
extern const struct harness destroy_harness;

/** Which engine the queues get: SCHEDQ_ENGINE_. */
void world_use_engine(uint8_t engine);

/** The worker's actor of a thread, for `prepare`. */
struct actor *world_actor(unsigned thread);

/** Adds and updates may answer this: FULL, NOMEM. */
void world_allow(schedq_status_t refusal);

/**
 * One allocation out of `one_in` fails, until world_has_memory or the drain; adds and updates may
 * answer NOMEM.
 */
void world_lacks_memory(uint32_t one_in);
void world_has_memory(void);

/**
 * For the beginning of a drain: a host that reads words.poppable, and makes no call while it is 0,
 * finds what is active.
 */
void world_check_poppable(void);

/** The name of a pod: text that stays; its length. */
const char *world_name(uint32_t key, size_t *length);
uint32_t world_key(const char *name, uint32_t length);

/**
 * A last thread for scenarios with sleepers: acts only when nobody else can run. It ticks, which
 * must wake whoever sleeps beside a pod; then it closes the queue.
 */
void world_heal(struct actor *actor);

#endif
