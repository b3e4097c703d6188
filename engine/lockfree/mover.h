/*
 * Moving waiting pods, many in one call: events, time, activation.
 *
 * A caller hands pods over one after the other (mover_try). For each, his `decide` says where it goes. What goes to active or
 * backoff is collected, up to MOVER_BATCH, sorted, and published as one run per container; then each is switched. What goes behind a
 * gate is published and switched at once.
 *
 * WHAT MAY COME BETWEEN. The switch is a CAS from the very words that the decision was taken on, so a decision about an older object, or
 * an older state, is never applied. Who loses it and finds the pod still waiting, in the same life, decides again. Who gates a
 * pod looks at the gate's stamp between publication and switch: an event that came since PreEnqueue was asked has either seen the published
 * ref, and then disturbs the mover (mover_disturb), or is seen in the stamp.
 *
 * DISTURB. An event that meets a FUTURE ref in a lot cannot know what its mover has seen. It makes the mover decide again: in
 * flight by FLAG_JUDGE, else by a raise of version and lag. That keeps the pod where it is, and makes the published ref stale.
 * A pod whose lag is at its end, after four million updates and disturbances in one place, is moved as if an event helped it, by whoever
 * finds it so.
 *
 * LINEARIZATION. Of each pod by itself: switch_pod:B, or a helper's. Staying: the load of the words that `decide` saw.
 *
 * ORDERING
 *   refs, move_group:A or mover_apply:A, mark           |  begin_clearing:A, scan (bin.h)
 *   refs, move_group:A or mover_apply:A, the deadline   |  deadline_begin:A, looks (deadline.h)
 *   ref, gate_pod:A, the gate's stamp                   |  stamps, events_announce:A, lots, disturb:B (stamps.c)
 *
 * PROGRESS. Lock-free: each further round of one pod means that somebody changed its words or its gate's stamp. A
 * thread that stops has moved what it had switched. What it had published, and not switched, is switched by who meets
 * it in a band or for backoff; in a lot by nobody, and the pod stays where it was, like what was only collected.
 *
 * EVIDENCE. tests/model: park, gate, tick, help; stress/explore: event_park*, event_gate*, batch_*, tick_tick,
 * lag_end, host_apply; tests/unit/test_move.c, test_move_threads.c, test_many_updates.c, test_apply.c.
 */
#ifndef SCHEDQ_LOCKFREE_MOVER_H
#define SCHEDQ_LOCKFREE_MOVER_H

#include "lockfree/destination.h"
#include "lockfree/report.h"

#define MOVER_BATCH SIZE(256, 4)

/** No label: what comes in is not counted. */
#define NO_LABEL UINT32_MAX

struct mover;

/** A pod that is to go to active or backoff, published, not switched. */
struct mover_item {
    uint64_t life, state, desc;
    struct entry *entry;
    uint32_t record;
    struct destination to;
};

struct mover_batch {
    uint32_t count;
    uint32_t order[MOVER_BATCH];
    struct mover_item items[MOVER_BATCH];
};

struct mover {
    struct worker *worker;
    int64_t now;
    uint32_t label;    /* why the pods come in, for metrics */
    bool counts;       /* as moves */
    bool counts_gated; /* as moves, if a gate refuses them too */
    bool recount;      /* a pod that is refused again counts as one that came in again */
    bool tells;        /* a pod that stays for want of memory missed something: a note is left (stray.h) */
    bool no_memory;    /* some pod stayed where it was */
    schedq_result_t *result;
    /* Where the pod goes; false: it stays. The object in view->description is alive. */
    bool (*decide)(struct mover *mover, const struct view *view, struct way *way);
    void *ctx; /* decide's */
    struct mover_batch *batch;
};

/** Begins; the caller filled in all but `no_memory` and `batch`. One mover of a worker at a time. */
void mover_begin(struct mover *mover);

/** Tries the pod behind a ref of a lot, if it is there; a FUTURE one is disturbed. True: the ref is not stale. */
bool mover_try_ref(struct mover *mover, uint64_t ref);

/** Tries the pod of a record, if it still has this life and waits in backoff, parked or gated. */
void mover_try(struct mover *mover, uint32_t record, uint64_t life);

/** Is the record's pod among those that are collected? */
bool mover_holds(const struct mover *mover, uint32_t record);

/** Moves what is collected. */
void mover_end(struct mover *mover);

/**
 * Makes whoever is about to bring a pod into a lot decide again, if the ref is FUTURE there. A pod that is at the end of its
 * lag is left alone.
 */
bool mover_disturb(struct worker *worker, uint64_t ref);

/**
 * [host] Moves the pod as `view` shows it, and no other: no batch, no decide.
 *
 * @retval SCHEDQ_OK       moved
 * @retval SCHEDQ_CHANGED  somebody changed it
 * @retval SCHEDQ_RETRY    GATED, and the gate has a stamp newer than `asked`
 * @retval SCHEDQ_NOMEM    nothing changed
 */
schedq_status_t mover_apply(struct mover *mover, uint32_t record, struct view *view, const struct way *way,
                            uint64_t asked);

/** What a waiting pod is to route.c. */
struct subject mover_subject(const struct view *view);

#endif
