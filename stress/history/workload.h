/*
 * What the threads do in a round: a mixture of all calls, then pods handed one by one to sleepers;
 * in the end, close.
 */
#ifndef SCHEDQ_HISTORY_WORKLOAD_H
#define SCHEDQ_HISTORY_WORKLOAD_H

#include <pthread.h>

#include "actor.h"
#include "plan.h"

typedef struct world {
    const options_t *options;
    schedq_t *queue;
    plan_t plan; /* of this round; the main thread writes it between rounds */
    book_t book;
    shared_t shared;
    cluster_t cluster;
    pthread_barrier_t all_done;      /* the random part of a round is over */
    _Atomic uint64_t balls;          /* caught by sleepers, ever */
    _Atomic bool park_next;          /* who catches the next ball parks it first */
    actor_t actors[THREADS_MAX + 1]; /* the last one, [threads], is the main thread's */
    schedq_worker_t *elsewhere;      /* plant: a worker of another queue, whose pods never come */
} world_t;

/** A pod as the round's plan has them. */
description_t workload_describe(world_t *world, actor_t *actor);

/** One thread's part of a round. When all are through, nobody has a pod in hand. */
void workload_run(world_t *world, unsigned number);

/** Finishes what is in shared slots. */
void workload_finish_shared(world_t *world, actor_t *actor);

/**
 * The main thread's part when all threads are through: finishes what is in shared slots, looks
 * every name up.
 */
void workload_look(world_t *world);

/** All names: those of pods, and of what is handed to sleepers. */
static inline uint32_t
workload_names(const options_t *options)
{
    return options->names + options->threads;
}

#endif
