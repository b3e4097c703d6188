/* The threads of a round: random calls on one queue, each recorded with its interval. */
#ifndef SCHEDQ_GROUPS_WORK_H
#define SCHEDQ_GROUPS_WORK_H

#include "book.h"

#include <stdatomic.h>

enum { IN_HAND_MAX = 64 };

typedef struct round {
    schedq_t *queue;
    uint64_t plugin; /* that rejects members */
    unsigned threads, calls;
    atomic_uint pods_added, groups_declared;
    atomic_ullong made; /* calls, of all threads */
} round_t;

typedef struct actor {
    _Alignas(64) round_t *round;
    schedq_worker_t *worker;
    unsigned number;
    bool late;
    uint64_t dice;
    unsigned in_hand_count;
    record_t in_hand[IN_HAND_MAX]; /* pops whose pods end behind their group's cycle */
    size_t count;
    record_t records[RECORDS_MAX / 4];
} actor_t;

/** A thread's random calls. It has nothing in hand when it returns. */
void work(actor_t *actor);
/** When all threads have returned: declares all groups, and ends all pods. */
void work_drain(actor_t *actor);

#endif
