/*
 * A thread of a queue scenario: a worker, and calls of the public API that are checked and
 * recorded.
 *
 * Pods are numbers; each has one name. Every status is checked against the header's list and,
 * afterwards, against what all threads did (ledger.h). What is popped is kept until actor_done or
 * actor_done_all.
 */
#ifndef EXPLORE_ACTOR_H
#define EXPLORE_ACTOR_H

#include "scenario.h"

#define KEYS_MAX 256
#define HELD_MAX 64

struct actor {
    unsigned number;
    schedq_worker_t *worker;
    schedq_popped_t held[HELD_MAX];
    unsigned holds;
    bool guest;           /* another thread seems to be inside the worker when it ends a cycle */
    schedq_popped_t last; /* let go of */
};

void actor_register(struct actor *actor);
void actor_unregister(struct actor *actor);

/**
 * Goes on with the worker of a thread that will never come back. False: that thread was about to
 * unregister it.
 */
bool actor_adopt(struct actor *actor, const struct actor *frozen);

/** Goes on with the worker of a frozen thread instead of its own, if there is one. */
void actor_succeed(struct actor *actor);

/** True: OK. False: EXISTS, CLOSED, or what the scenario allows (world_allow). */
bool actor_add(struct actor *actor, uint32_t key, int32_t priority);
bool actor_add_at(struct actor *actor, uint32_t key, int32_t priority, int64_t order_key);

/** One of a class; 0: of none. */
bool actor_add_of_class(struct actor *actor, uint32_t key, int32_t priority, uint64_t class_id);

/** Held for so long from now. */
bool actor_add_until(struct actor *actor, uint32_t key, int32_t priority, int64_t ns);

/** Pods first..first + count - 1 in one call. Returns how many were there already: EXISTS. */
unsigned actor_add_many(struct actor *actor, uint32_t first, uint32_t count, int32_t priority);

/** As actor_add_many, each pod with a priority higher by one than the pod's before it. */
unsigned actor_add_rising(struct actor *actor, uint32_t first, uint32_t count, int32_t priority);

/** True: OK. It may have added the pod. */
bool actor_update(struct actor *actor, uint32_t key, int32_t priority);
bool actor_update_event(struct actor *actor, uint32_t key, int32_t priority, schedq_event_t event);
bool actor_update_at(struct actor *actor, uint32_t key, int32_t priority, int64_t order_key);

/** It is of that class from then on; 0: of none. */
bool actor_update_of_class(struct actor *actor, uint32_t key, int32_t priority, uint64_t class_id);

/** Finds the pod, and updates that one. False: NOT_FOUND. */
bool actor_update_found(struct actor *actor, uint32_t key, int32_t priority);

/** True: OK. False: NOT_FOUND. */
bool actor_delete(struct actor *actor, uint32_t key);
bool actor_delete_held(struct actor *actor, unsigned held);

/** True: the pod is there. */
bool actor_find(struct actor *actor, uint32_t key);

/** As actor_find, and looks at it by its handle. */
bool actor_get(struct actor *actor, uint32_t key);

/** True: one more is held. */
bool actor_pop(struct actor *actor);

/** The same by a pop of groups, where there are none. */
bool actor_pop_or_group(struct actor *actor);

/** Waits for ever; false: CLOSED. */
bool actor_pop_wait(struct actor *actor);

/** Waits until `after_ns` from now; false: CLOSED or TIMEDOUT. */
bool actor_pop_until(struct actor *actor, int64_t after_ns);

/** Returns how many more are held. */
unsigned actor_pop_many(struct actor *actor, unsigned capacity);

/** Waits for ever; 0: CLOSED, or CANCELED (world_allow). */
unsigned actor_pop_many_wait(struct actor *actor, unsigned capacity);

/** Ends the wait of the thread with this number. */
void actor_wait_cancel(struct actor *actor, unsigned number);

/** Waits for the descriptor, then pops `pops` times at most; false: CLOSED. */
bool actor_poll_and_pop(struct actor *actor, unsigned pops);

/** Uses the token of held[0], of all that is held. True: all were OK. */
bool actor_done(struct actor *actor);
bool actor_done_all(struct actor *actor);
bool actor_done_many(struct actor *actor);

/** Pops up to `pops` times and ends what it got. */
void actor_consume(struct actor *actor, unsigned pops);

void actor_token_alive(struct actor *actor);
/* ---- actor_wait.c: pods that wait ------------------------------------------------------------ */

/** Fails held[0], rejected by these; 0: an error. False: GONE. */
bool actor_fail(struct actor *actor, uint64_t rejectors);

/** As actor_fail: it says nothing about others of the pod's class. */
bool actor_fail_alone(struct actor *actor, uint64_t rejectors);

/** Pops and fails; false: there was nothing. */
bool actor_pop_and_fail(struct actor *actor, uint64_t rejectors);

/** Puts the pod that was let go of last back with its history. True: OK. */
bool actor_readd(struct actor *actor, uint64_t rejectors);

void actor_move(struct actor *actor, schedq_event_t event);

/** Opens a gate and tells the queue. */
void actor_open(struct actor *actor, uint64_t gate);

void actor_activate(struct actor *actor, uint32_t key);
void actor_tick(struct actor *actor);

/** Lets time pass, and serves it. */
void actor_tick_after(struct actor *actor, int64_t ns);

void actor_nominate(struct actor *actor, uint32_t key, uint64_t node);

/** Looks at all pods, and at those that are nominated to a node. */
void actor_snapshot(struct actor *actor);
void actor_nominated(struct actor *actor, uint64_t node);

/* ---- actor_line.c: who is next --------------------------------------------------------------- */

/** How many are before the pod, which somebody was told of. */
void actor_position(struct actor *actor, uint32_t key);

/** The next pods; one: by peek. */
void actor_peek(struct actor *actor, unsigned count);

/* ---- actor_label.c: all pods of a label ------------------------------------------------------ */

bool actor_add_labelled(struct actor *actor, uint32_t key, int32_t priority, uint64_t label);
void actor_cancel_label(struct actor *actor, uint64_t label);
void actor_hold_label(struct actor *actor, uint64_t label);

/* ---- actor_hold.c: pods that are kept back --------------------------------------------------- */

/** Finds the pod, and holds or releases that one. */
void actor_hold(struct actor *actor, uint32_t key);
void actor_release(struct actor *actor, uint32_t key);

/** Keeps it back for so long from now; 0: not any more. */
void actor_not_before(struct actor *actor, uint32_t key, int64_t ns);

/** One of the three, drawn at random. */
void actor_keep_back(struct actor *actor, uint32_t key);

/** Lets all go that are held. */
void actor_release_all(struct actor *actor);

/* ---- actor_host.c: decisions of a host ------------------------------------------------------- */

/**
 * Judges what happened since the pop, and parks held[0] or lets it back off, until the queue
 * agrees. False: GONE.
 */
bool actor_host_fail(struct actor *actor, uint64_t rejectors);

/** Sets the place, and a gate, of a failure whose rejectors and judged_up_to are set. */
typedef void actor_host_judge(const schedq_popped_t *held, schedq_failure_t *failure);

/** The same by another judge. */
bool actor_host_fail_judged(struct actor *actor, uint64_t rejectors, actor_host_judge *judge);

/** The newest event's sequence, as a host reads it. */
uint64_t actor_host_newest(void);

/** Draws, logs, stamps; looks for candidates and applies. */
void actor_host_event(struct actor *actor, schedq_event_t event);

/** All that wait become active. */
void actor_host_release(struct actor *actor);

void actor_close(struct actor *actor);
void actor_trim(struct actor *actor);
void actor_reserve(struct actor *actor, uint32_t pods, uint32_t bands, uint32_t workers);

#endif
