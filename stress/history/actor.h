/*
 * One thread's worker, and every call of the API that it makes, recorded.
 *
 * What is popped stays in hand until its token is used, or given away. Tokens and handles travel
 * between threads through shared slots: who finishes a cycle need not be who began it, and two may
 * try. Tokens go with release and acquire, since using one frees the name that its giver has read;
 * handles go without any ordering.
 */
#ifndef SCHEDQ_HISTORY_ACTOR_H
#define SCHEDQ_HISTORY_ACTOR_H

#include <stdatomic.h>

#include "cluster.h"
#include "record.h"

enum { IN_HAND_MAX = 24, SHARED_SLOTS = 64, USED_TOKENS = 64, KEPT_MAX = 16 };

typedef struct shared {
    _Atomic uint64_t tokens[SHARED_SLOTS];
    _Atomic uint64_t pods[SHARED_SLOTS];
} shared_t;

typedef struct in_hand {
    uint64_t token;
    const char *name; /* the queue's memory */
    uint32_t name_length;
    uint32_t index;
    uint64_t seen; /* host: its failure is judged by the events behind it */
} in_hand_t;

typedef struct actor {
    _Alignas(64) schedq_t *queue;
    schedq_worker_t *worker;
    book_t *book;
    shared_t *shared;
    cluster_t *cluster;
    unsigned number;
    uint64_t dice;
    int64_t last_timestamp;
    unsigned in_hand_count;
    in_hand_t in_hand[IN_HAND_MAX];
    unsigned kept_count;
    unsigned kept_label_count;
    uint64_t kept[KEPT_MAX]; /* pods that it held, and has to release */
    uint32_t kept_labels[KEPT_MAX];
    uint64_t used[USED_TOKENS]; /* tokens of long ago, some of earlier rounds */
    _Atomic uint32_t doing;     /* as in a record; OP_NONE between calls */
    _Atomic uint64_t calls;     /* ever */
} actor_t;

/** How a new or updated pod is described. */
typedef struct description {
    uint32_t name;
    uint32_t label; /* 0: none */
    int32_t priority;
    bool keyed;
    int64_t key;
    bool gated; /* its object has the gate `gate`; else whichever comes */
    unsigned gate;
    bool never_gated; /* its object has no gate */
} description_t;

/** Why a cycle fails: sets of plugins; none: an error. */
typedef struct rejection {
    uint8_t unschedulable, pending;
} rejection_t;

/** Ends the process with words if the queue refuses. */
void actor_register(actor_t *actor);
void actor_unregister(actor_t *actor);

/** Returns the handle of the pod that has the name then, 0 if it was refused. */
uint64_t actor_add(actor_t *actor, const description_t *what);
void actor_add_many(actor_t *actor, const description_t *what, size_t count);
/** With an event of that kind; KINDS: with none. */
void actor_update(actor_t *actor, const description_t *what, unsigned kind);
/** As if it had failed once, without a rejector. */
void actor_readd(actor_t *actor, const description_t *what);

/* Pops return the status; what was popped is in hand then. */
schedq_status_t actor_try_pop(actor_t *actor);
schedq_status_t actor_pop(actor_t *actor, int64_t deadline_ns);
schedq_status_t actor_pop_many(actor_t *actor, size_t capacity);

/** Finishes the `which`-th in hand. */
void actor_done_in_hand(actor_t *actor, unsigned which);
/** Finishes the last `count` in hand. */
void actor_done_many(actor_t *actor, size_t count);
/** Takes the `which`-th out of hand, for somebody else to finish; returns its token. */
uint64_t actor_give_away(actor_t *actor, unsigned which);
/** Finishes whatever token this is. */
void actor_done(actor_t *actor, uint64_t token);
/** Fails the `which`-th in hand. */
void actor_fail_in_hand(actor_t *actor, unsigned which, rejection_t why);
/** Fails whatever token this is. */
void actor_fail(actor_t *actor, uint64_t token, rejection_t why);
void actor_alive(actor_t *actor, uint64_t token);

/** An event; `class` says whom it helps if the kind is KIND_FIT. */
void actor_event(actor_t *actor, kind_t kind, unsigned class);
/** A wildcard with a target. */
void actor_target(actor_t *actor, uint64_t pod);
void actor_activate(actor_t *actor, const uint64_t *pods, size_t count);
void actor_tick(actor_t *actor);
/** Holds a pod, and notes that it has to be released. */
void actor_hold(actor_t *actor, uint64_t pod);
/** Releases one of those that it held, if any. */
void actor_release(actor_t *actor);
/* The same of the pods of a label. */
void actor_label_hold(actor_t *actor, uint32_t label);
void actor_label_release(actor_t *actor);
/** Deletes at most `room` pods of a label, 1..MANY. */
void actor_label_cancel(actor_t *actor, uint32_t label, size_t room);
void actor_label_count(actor_t *actor, uint32_t label);
/** `node`: 0: to none. */
void actor_nominate(actor_t *actor, uint64_t pod, unsigned node);
void actor_gate(actor_t *actor, unsigned gate, bool shut);

/** Returns the pod's handle, 0 if there is none. */
uint64_t actor_find(actor_t *actor, uint32_t name);
/** find, and what the next round must know of the pod. */
void actor_look(actor_t *actor, uint32_t name);
void actor_get(actor_t *actor, uint64_t pod);
void actor_peek(actor_t *actor);
/** 1..MANY */
void actor_peek_many(actor_t *actor, size_t count);
void actor_position(actor_t *actor, uint64_t pod);
void actor_delete_name(actor_t *actor, uint32_t name);
void actor_delete_pod(actor_t *actor, uint64_t pod);
void actor_close(actor_t *actor);

#endif
