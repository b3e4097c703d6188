/*
 * Two queues with one configuration, and what is known of every pod and token that they gave.
 *
 * Handles and tokens are each engine's own values: a pod's life has one of each side, a cycle too.
 * What is known follows from the answers of side 0, the mutex engine.
 */
#ifndef DIFFERENTIAL_WORLD_H
#define DIFFERENTIAL_WORLD_H

#include <schedq/schedq.h>
#include <stdbool.h>
#include <stdio.h>

#include "account.h"
#include "bits_set.h"
#include "coverage.h"
#include "lack.h"
#include "names.h"
#include "plant.h"
#include "settings.h"

#define SIDES 2
#define NOTHING UINT32_MAX
#define BATCH_MAX 16
#define REFS_KEPT 3
#define LENT_MAX (BATCH_MAX + 3)
#define PROFILES 2
#define LIVES_MAX (4 * ROUND_OPERATIONS_MAX)

/** Names what operation `number` made as its `element`-th; NOTHING names nothing. */
static inline uint32_t
reference_of(uint32_t number, uint32_t element)
{
    return number * BATCH_MAX + element;
}

/** A waiting pod at one version, as each side names it; 0: not known. */
typedef struct ref {
    uint64_t bits[SIDES];
} ref_t;

/** `ns` later, at most the end of time. */
static inline int64_t
time_after(int64_t now, int64_t ns)
{
    return now > INT64_MAX - ns ? INT64_MAX : now + ns;
}

/** The profile of the pods with a name. */
static inline schedq_profile_t
profile_of(uint32_t name)
{
    return name & 1;
}

/** A pod from add to the end of its life. */
typedef struct life {
    schedq_pod_t handles[SIDES];
    uint64_t object; /* of its newest description */
    uint32_t reference;
    uint32_t name;
    bool own_time;  /* its Timestamp is one that no other pod has */
    bool order_key; /* its description has one */
    bool classed;   /* the same, of a class */
    bool in_flight;
    bool waits;            /* [host] when it was last heard of */
    ref_t refs[REFS_KEPT]; /* [host] newest first; of side 0 they differ */
} life_t;

/** A flight of a pod, from pop to the use of its token. */
typedef struct cycle {
    schedq_token_t tokens[SIDES];
    const char *names[SIDES];
    uint64_t object;   /* as popped */
    uint64_t seen;     /* [host] */
    uint64_t sequence; /* words.event_sequence when it was popped */
    uint32_t reference;
    uint32_t life;
    uint32_t slot; /* in world.open; NOTHING: the token was used */
} cycle_t;

/** References to objects that a queue has to hold. */
typedef struct references {
    uint64_t owed;
    /* pods that were deleted in flight: it may hold their newest object until the flight ends */
    uint64_t optional;
} references_t;

typedef struct side {
    struct world *world;
    const char *engine;
    uint8_t number; /* config.engine */
    schedq_t *queue;
    schedq_words_t *words;
    schedq_worker_t *workers[WORKERS_MAX];
    schedq_worker_t *gone; /* one that was unregistered; NULL: none was */
    schedq_watch_t watch;
    lack_t memory;
    account_t account;
    bits_set_t handles, tokens;   /* given in this round: none may come twice */
    uint64_t rejectors[PROFILES]; /* the bits of each profile's plugins and late names */
    uint64_t heard;               /* of the questions of this operation, in any order */
    bool woken;                   /* since a pop found nothing */
} side_t;

/** A group's cycle. */
typedef struct gang {
    schedq_token_t tokens[SIDES]; /* of its last one; {0}: it had none */
    bool flies;
} gang_t;

/** What a callback of the operation calls: see nest.h. */
typedef struct nest {
    cycle_t *guest; /* NULL: there is none */
    uint64_t random;
    uint32_t waits[SIDES]; /* callbacks that come before it */
    schedq_status_t statuses[SIDES];
    bool called[SIDES];
    bool calls; /* some callback may */
    bool only_alike;
} nest_t;

typedef struct world {
    settings_t settings;
    side_t sides[SIDES];
    int64_t now; /* what the clocks of both queues show */
    life_t *lives;
    uint32_t life_count;
    cycle_t *cycles;
    uint32_t cycle_count;
    uint32_t *open; /* cycles whose token was not used */
    uint32_t open_count;
    uint32_t pods, most_pods;      /* in the queue, those deleted in flight too */
    uint32_t *life_of_name;        /* NOTHING: no pod has the name */
    uint32_t *lives_of_operation;  /* the first life that it made */
    uint32_t *cycles_of_operation; /* the first cycle that it made */
    references_t *references;      /* by object_slot */
    references_t reference_sum;
    gang_t *gangs; /* by group */
    bool closed;
    uint32_t gate_epoch;     /* changes what PreEnqueue answers */
    uint32_t event_count;    /* the events 0 to below this one are defined */
    uint64_t lent[LENT_MAX]; /* objects that the caller holds during the operation's calls */
    uint32_t lent_count;
    /* What is going on. */
    uint32_t operation;    /* its number */
    uint8_t worker;        /* its worker */
    bool worker_said;      /* the words of the worker are to be compared */
    bool careful;          /* every count after every operation */
    bool different;        /* a difference was found: the round is over */
    FILE *trace;           /* NULL: nobody wants to see the calls */
    const field_t *plant;  /* NULL: none */
    char difference[1024]; /* in words */
    uint64_t *met;         /* how often each status was answered */
    coverage_t *coverage;  /* NULL: nobody counts */
    seen_t seen;           /* in this operation, for the coverage */
    nest_t nest;
} world_t;

/** The caller holds these during the operation's calls; callbacks may get them. */
static inline void
world_lend(world_t *world, uint64_t object)
{
    if (world->lent_count < LENT_MAX) {
        world->lent[world->lent_count++] = object;
    }
}

/** Something happened that no answer tells. */
static inline void
world_mark(const world_t *world, enum mark mark)
{
    if (world->coverage != NULL) {
        world->coverage->marks[mark]++;
    }
}

/**
 * Memory for rounds, which one world serves one after another. Exits with a message if there is
 * none.
 */
void world_make(world_t *world);

/** Creates both queues; false, with words in world->difference, if one refuses. */
bool world_open(world_t *world, const settings_t *settings, uint8_t engine,
                const char *engine_name);

/**
 * Drains the queues if the settings say so, destroys them, and looks whether everything was given
 * back.
 */
void world_end(world_t *world);

/** The tables have no room for another operation. */
bool world_is_full(const world_t *world);

/** Only gives the queues back, after a difference. */
void world_abandon(world_t *world);

/** Names are namespace/name. */
static inline bool
world_is_kube(const world_t *world)
{
    return world->settings.config.kube_minor != 0;
}

static inline schedq_worker_t *
world_worker(const world_t *world, unsigned side)
{
    return world->sides[side].workers[world->worker];
}

/** Does this side run out of memory? */
static inline bool
world_lacks(const world_t *world, unsigned side)
{
    return side == 1 && settings_have(&world->settings, FEATURE_MEMORY);
}

/** Makes a call on a side, which fails first if that runs out of memory. */
#define WORLD_CALL(world, side, status, call)                    \
    do {                                                         \
        if (world_lacks((world), (side))) {                      \
            LACKING(&(world)->sides[side].memory, status, call); \
        } else {                                                 \
            (status) = (call);                                   \
        }                                                        \
    } while (0)

/** The life or cycle that a reference names; NULL if the operation that made it was left out. */
life_t *world_life(const world_t *world, uint32_t reference);
cycle_t *world_cycle(const world_t *world, uint32_t reference);

/** The pod that has a name; NULL: none. */
life_t *world_named(const world_t *world, uint32_t name);

/**
 * Takes down what an answer says. The handles and tokens of both sides are checked for being new.
 */
void world_born(world_t *world, uint32_t element, uint32_t name, const schedq_pod_spec_t *spec,
                const schedq_pod_t pods[SIDES]);
void world_described(world_t *world, life_t *life, const schedq_pod_spec_t *spec);
void world_deleted(world_t *world, life_t *life);
void world_popped(world_t *world, uint32_t element, life_t *life,
                  const schedq_popped_t popped[SIDES]);
/** A waiting pod's ref came back. */
void world_referred(life_t *life, const uint64_t refs[SIDES]);
/** The flight goes on under other tokens. */
void world_retried(world_t *world, cycle_t *cycle, const schedq_token_t tokens[SIDES]);
/** The token was used; the pod's life is over, too, if `life_ends`. */
void world_flown(world_t *world, cycle_t *cycle, bool life_ends);

/** Shows a call, if somebody wants to see it. */
#define SHOW(world, ...)                          \
    do {                                          \
        if ((world)->trace != NULL) {             \
            fprintf((world)->trace, __VA_ARGS__); \
        }                                         \
    } while (0)

#endif
