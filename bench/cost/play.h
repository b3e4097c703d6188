/*
 * What is measured: rows, each a workload of which some steps count.
 *
 * A workload is a round of steps that leaves the queue as it found it, so that it can go on for
 * ever. A step is one public call, made by each worker in turn, or by some of them; or it prepares,
 * and then is never measured. Rounds are played until nothing changes any more but details
 * (warm-up), then measured.
 */
#ifndef SCHEDQ_COST_PLAY_H
#define SCHEDQ_COST_PLAY_H

#include "bare.h"

#include <schedq/schedq.h>

#include <stdbool.h>
#include <stdint.h>

enum {
    PLAY_WORKERS_MAX = 64,
    GROUP = 64,      /* pods of all workers together that one event moves, one tick, ... */
    GROUP_EACH = 64, /* room of a hand */
    STEPS_MAX = 9,
    REJECTORS = 14,
};

/* What a worker has in its hands between two steps. */
struct hand {
    unsigned count;
    uint64_t number; /* of the pod that it added last */
    schedq_popped_t popped[GROUP_EACH];
    uint64_t refs[GROUP_EACH];
    bare_popped_t bare[GROUP_EACH];
};

struct play {
    const struct row *row;
    schedq_t *queue;
    bare_t *bare; /* then there is no queue */
    schedq_worker_t *workers[PLAY_WORKERS_MAX];
    unsigned worker_count;
    unsigned each; /* pods of one worker, where a step is about GROUP of them */
    bool measured; /* this step, now */
    uint64_t next; /* number of the next pod */
    uint64_t turn; /* for updates: which of the pending ones */
    uint64_t rejectors[REJECTORS];
    uint64_t waits; /* the plugin that a Node ADD helps */
    struct hand hands[PLAY_WORKERS_MAX];
};

enum who { EACH, ONE, FIRST_HALF, SECOND_HALF };

/* Makes the calls of one worker; returns how many pods (or calls) that was. */
typedef uint64_t step_fn(struct play *play, unsigned worker);

struct step {
    step_fn *call;
    enum who who;
};

struct workload {
    void (*open)(struct play *play); /* what lies in the queue before the first round */
    struct step steps[STEPS_MAX];
    bool group;  /* steps are about GROUP pods of all workers together */
    bool decide; /* the host decides */
};

enum { LOCKFREE = 1, MUTEX = 2, BARE = 4, ENGINES = LOCKFREE | MUTEX, ALL = ENGINES | BARE };

struct row {
    const char *name;
    const struct workload *workload;
    unsigned subjects;
    unsigned measured; /* bit i: the workload's step i */
    uint32_t pending;  /* active pods that stay */
    uint32_t priorities;
    uint32_t parked; /* pods that stay parked */
    uint32_t before; /* priorities, or rejector sets, that the queue has seen; groups in it */
    uint32_t size;   /* of a group of pods that are tried together */
    uint32_t calls;  /* that are measured; 0: as many as usual */
    bool relaxed;
    bool labelled; /* each 100 pods that stay share a label */
    bool slow;     /* only if it is asked for */
    bool asks;     /* an event asks a hint of each pod that stays parked */
    bool alone;    /* with one worker only: it is about what the queue has seen */
};

extern const struct row rows[];
extern const unsigned row_count;

/* A row's subject with that many workers, from the queue's creation to its end. */
void play_row(const struct row *row, unsigned subject, unsigned workers);

/* ---- for rows.c: what steps are made of ------------------------------------------------------ */

void play_require(bool right, const struct play *play, const char *what);

/* Around a measured call; nothing in steps that are not. */
void play_begin(const struct play *play);
void play_end(const struct play *play);

/* What the call says, which alone is measured. */
#define MEASURED(play, call)             \
    __extension__({                      \
        play_begin(play);                \
        __typeof__(call) said_ = (call); \
        play_end(play);                  \
        said_;                           \
    })

#endif
