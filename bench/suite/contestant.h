/*
 * Who is compared: the engines, through the public API, and their rivals.
 *
 * A contestant is one entry of the table in contestant.c. Workloads that a rival can do go through
 * the operations; those that need events, backoff or parked pods call the public API and take only
 * `engine` and `yields` from here.
 */
#ifndef SCHEDQ_BENCH_CONTESTANT_H
#define SCHEDQ_BENCH_CONTESTANT_H

#include "support.h"

#include <stdbool.h>

enum { CONTESTANTS_MAX = 12, BATCH = 32 };

/* A pod to add. */
typedef struct fresh {
    pod_name_t name;
    int32_t priority;
    uint64_t object;
} fresh_t;

/* A popped pod, until `done`. */
typedef struct taken {
    uint64_t token;
    uint64_t object;
    const char *name;
} taken_t;

typedef struct contestant contestant_t;

/* What a contestant can do, each more than the one before; and what a workload needs. */
typedef enum ability {
    ABLE_PUSH_POP, /* add, pop and done, in the order of one producer inside a priority */
    ABLE_LIFE,     /* in strict order; a pod is found and deleted by its name */
    ABLE_QUEUE,    /* another priority for a pending pod; a pop that waits */
    ABLE_SCHEDQ,   /* the public API, for pods that are active or in flight */
    ABLE_EVENTS,   /* all of it */
    ABLE_FROZEN    /* all of it, also while a thread stands still inside a call */
} ability_t;

/* Groups of contestants; a workload says which enter. */
enum {
    GROUP_ENGINES = 1,
    GROUP_BARE = 2,
    GROUP_RIVALS = 4, /* `bare` too */
    GROUP_YIELDING = 8,
    /* What the lock-free engine does without what the row is about, or the machine alone. */
    GROUP_BASE = 16,
};

/* What a queue has to have room for. */
typedef struct room {
    uint32_t pods;
    unsigned workers;
    bool relaxed; /* the order inside a priority may differ; who knows one order only keeps it */
} room_t;

/*
 * What a queue can do. A worker is used by one thread at a time. An outcome that the workloads
 * never provoke (a name that is taken, a full queue) ends the program. NULL: it cannot.
 */
typedef struct queue_ops {
    void *(*open)(const contestant_t *contestant, const room_t *room);
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
    /* The object of the pod of this name, which there is. */
    uint64_t (*find)(void *worker, const pod_name_t *name);
    /* Up to BATCH pods in one call. */
    void (*add_many)(void *worker, const fresh_t *pods, unsigned count);
    unsigned (*pop_many)(void *worker, taken_t *out, unsigned capacity);
    void (*done_many)(void *worker, const taken_t *pods, unsigned count);
} queue_ops_t;

struct contestant {
    const char *name;
    const queue_ops_t *ops;
    uint8_t engine; /* for schedq_config.engine; 0: no engine of schedq */
    bool yields;    /* the mutex engine gives its lock away during an event */
    ability_t able;
    unsigned groups;
    /* What it leaves out of the work that the others do; NULL: nothing. */
    const char *missing;
};

extern const contestant_t contestants[];
extern const unsigned contestant_count;

/* NULL: it is not in this build. */
const contestant_t *contestant_find(const char *name);

extern const queue_ops_t bare_ops;
extern const queue_ops_t bands_ops;
extern const queue_ops_t bands_spin_ops;
extern const queue_ops_t schedq_ops;
#ifdef SCHEDQ_BENCH_RIVALS
extern const queue_ops_t tbb_ops;
extern const queue_ops_t tbb_unnamed_ops;
extern const queue_ops_t moodycamel_ops;
extern const queue_ops_t moodycamel_unnamed_ops;
#endif

#endif
