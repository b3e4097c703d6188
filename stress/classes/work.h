/* The threads of a round: random calls on one queue, each recorded with its interval. */
#ifndef SCHEDQ_CLASSES_WORK_H
#define SCHEDQ_CLASSES_WORK_H

#include "book.h"

#include <stdatomic.h>

enum { IN_HAND_MAX = 8 };

#define BACKOFF_NS INT64_C(1000000)
#define PATIENCE_NS INT64_C(3600000000000)

typedef struct round {
    schedq_t *queue;
    uint64_t plugin; /* that rejects pods */
    unsigned threads, calls;
    bool loses; /* at the end the holders of all scouts never report */
    atomic_uint pods_added;
    atomic_llong now;   /* of the queue's clock */
    atomic_ullong made; /* calls, of all threads */
} round_t;

typedef struct actor {
    _Alignas(64) round_t *round;
    schedq_worker_t *worker;
    unsigned number;
    bool late;
    uint64_t dice;
    unsigned in_hand_count;
    record_t in_hand[PODS]; /* pops whose pods have not ended */
    size_t count;
    record_t records[RECORDS_MAX / 4];
} actor_t;

/** A thread's random calls. It has nothing in hand when it returns. */
void work(actor_t *actor);
/** When all threads have returned: looks at all pods, and ends them. */
void work_drain(actor_t *actor);

#endif
