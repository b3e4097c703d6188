/*
 * Who is compared: the engines, through the public API, and the bare queue.
 *
 * A contestant is one entry of the table in contestant.c. Workloads that the bare queue can do go
 * through its operations; those that need events, backoff or parked pods call the public API and
 * take only `engine` from here.
 */
#ifndef SCHEDQ_BENCH_CONTESTANT_H
#define SCHEDQ_BENCH_CONTESTANT_H

#include "support.h"

#include <stdbool.h>

enum { CONTESTANTS_MAX = 4 };

/* A popped pod, until `done`. */
typedef struct taken {
    uint64_t token;
    uint64_t object;
    const char *name;
} taken_t;

typedef struct contestant contestant_t;

/* What a contestant can do, each more than the one before; and what a workload needs. */
typedef enum ability {
    ABLE_QUEUE,  /* queue_ops_t */
    ABLE_SCHEDQ, /* the public API, for pods that are active or in flight */
    ABLE_EVENTS, /* all of it */
    ABLE_FROZEN  /* all of it, also while a thread stands still inside a call */
} ability_t;

/*
 * What a queue can do. A worker is used by one thread at a time. An outcome that the workloads
 * never provoke (a name that is taken, a full queue) ends the program.
 */
typedef struct queue_ops {
    /* Room for that many pods and workers, reserved. */
    void *(*open)(const contestant_t *contestant, uint32_t pods, unsigned workers);
    void (*close)(void *queue);
    void *(*join)(void *queue);
    void (*leave)(void *worker);
    void (*add)(void *worker, const pod_name_t *name, int32_t priority, uint64_t object);
    /* False: nothing to pop. */
    bool (*try_pop)(void *worker, taken_t *out);
    /* Waits for a pod. */
    void (*pop)(void *worker, taken_t *out);
    void (*done)(void *worker, uint64_t token);
    void (*update)(void *worker, const pod_name_t *name, int32_t priority, uint64_t object);
    void (*delete_pod)(void *worker, const pod_name_t *name);
} queue_ops_t;

struct contestant {
    const char *name;
    const queue_ops_t *ops;
    uint8_t engine; /* for schedq_config.engine; 0: no engine of schedq */
    ability_t able;
};

extern const contestant_t contestants[];
extern const unsigned contestant_count;

extern const queue_ops_t bare_ops;
extern const queue_ops_t schedq_ops;

#endif
