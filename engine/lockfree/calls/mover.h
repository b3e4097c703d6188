/*
 * Moving waiting pods, many in one call: events, time, activation.
 *
 * A caller hands pods over one after the other (mover_try). For each, its `decide` says where it
 * goes. What goes to active or backoff is collected, up to MOVER_BATCH pods of MOVER_GROUPS places.
 * Those of each place are published at once, in the worker's lane if they are few and fit it, else
 * as a run; behind one fence all are switched, and counted together. What goes behind a gate, or is
 * the only pod of its call, is published and switched at once.
 *
 * WHAT MAY COME BETWEEN. The switch is a CAS from the very words that the decision was taken on, so
 * a decision about an older object, or an older state, is never applied. Nothing is written into a
 * pod's record before it: a gate, its bit and the initial attempt go with a description (entry.h).
 * A mover that loses the CAS and finds the pod still waiting, in the same life, decides again.
 *
 * GATES. Between publication and switch the mover looks at the gate's stamp: an event that came
 * since PreEnqueue was asked either meets the published ref and disturbs the mover (mover_disturb),
 * or the mover sees its stamp. If it sees one:
 *   the pod has that gate already: it stays where it is, and the event finds it there
 *   another gate: the pod is switched, and its gates are asked once more. From the switch on every
 *       event finds it, so a second refusal by the same gate needs no look. `owed` names the pod
 *       meanwhile: if the mover stops, a tick asks. A second pod that is owed a question gets a
 *       note (stray.h)
 *   a host's decision: the host is told to ask again
 * A leftover that its gate refuses again gets a new ref with the time of the flush, which is also
 * in the description that its switch installs. A leftover that goes on is described before it is
 * published, as is a pod that becomes active for the first time.
 *
 * So one call asks a pod's gates once, twice if an event came, three times (ASKS_MAX) if another
 * gate refuses then, or the pod changed. A pod for which that was not enough counts as helped at
 * the next tick, which is due at once (STRAY_UNJUDGED, stray_leave). Until then a held pod that is
 * let go (hold.h) waits behind the gate that refused it last.
 *
 * SECTIONS. `decide` runs outside of a section (queue.h): the view is a copy, its object is
 * retained, and what follows is a CAS from the words that it shows. Passes read MOVER_REFS refs, or
 * MOVER_DUE due pods, try them, and begin a new reading behind these. What is collected is looked
 * up again before it is published.
 *
 * ALIKE. Where no gate is and no host is asked, `decide` may leave its answer for pods that are
 * like the one it was asked about (struct mover_like). A parked pod behind a VALID ref then moves
 * without being asked about, if its record shows that it is like: the same sets and profile, no
 * description, no lag; and it is no group's record. What was read of it is of one moment, as in a
 * view: the words are looked at again, and its switch compares them. try_ref tries every other pod.
 *
 * DISTURB. An event that meets a FUTURE ref in a lot cannot know what its mover has seen. It makes
 * the mover decide again: in flight by FLAG_JUDGE, else by a raise of version and lag. That keeps
 * the pod where it is, and makes the published ref stale. A pod whose lag is at its end, after four
 * million updates and disturbances in one place, is moved as if an event helped it.
 *
 * LINEARIZATION. Of each pod by itself: switches_one:A, switch_announced:B, or a helper's. Staying:
 * the load of the words that `decide` saw.
 *
 * ORDERING
 *   refs, move_batch:A, mark | summary_doubt:A, scan (bin.h)
 *   refs, move_batch:A, deadline_lower:A | deadline_begin:A, looks (deadline.h)
 *   ref, transfer_announce:A, the gate's stamp | stamps_raise:A, announce:A, lots, disturb:B
 *   owed, the switch -> stray_ask_owed
 *       a thread that could find the pod behind its gate finds `owed`
 *
 * PROGRESS. Lock-free: each further round of one pod is another thread's change of its words, and
 * its gates are asked ASKS_MAX times at most, but for a pod that is let go (hold.h). A thread that
 * stops has moved what it had switched. What it had published, and not switched, a helper switches
 * in a band or a bin of backoff; in a lot the pod stays where it was. So does what was only
 * collected.
 *
 * EVIDENCE. tests/model: park, gate, tick, help; stress/explore: event_park*, event_gate*, batch_*,
 * tick_tick, lag_end, host_apply; tests/unit/test_alike.c, test_move.c, test_move_threads.c,
 * test_many_updates.c, test_apply.c, test_lockfree_callbacks.c.
 */
#ifndef SCHEDQ_LOCKFREE_MOVER_H
#define SCHEDQ_LOCKFREE_MOVER_H

#include "lockfree/moves/report.h"
#include "lockfree/moves/transfer.h"

#define MOVER_BATCH SIZE(1024, 4)
/** Pods of a group that a lane takes at once; below SEGMENT_SLOTS_MAX / 2. */
#define MOVER_LANE SIZE(64, 3)
/** Places that they go to: bands, and bins of backoff. */
#define MOVER_GROUPS SIZE(16, 2)

/** No label: what comes in is not counted. */
#define NO_LABEL UINT32_MAX

/** A pod that is tried, or collected, or that another thread changed before it was switched. */
struct mover_pod {
    uint64_t life; /* or its number for mover_collect */
    uint32_t record;
    uint8_t asks; /* how often its gates were asked, in this call */
    uint8_t gate; /* the one that refused it last, in this call; 0: none did */
    /* this call brought it behind its gate, which heard of an event: only gates' answers count */
    bool unjudged;
    bool came_in, moved;
};

/** A collected pod, and what its switch needs. */
struct mover_item {
    struct mover_pod pod;
    struct entry *entry; /* NULL: the pod is over */
    uint64_t state, desc;
    int64_t key;
    struct tie tie;
    uint32_t next;    /* of its group */
    bool named;       /* of its way */
    bool lost;        /* another thread changed the pod */
    bool unpublished; /* there was no memory for the run */
};

/** Collected pods that go to one place, and are published as one run. */
struct mover_group {
    struct destination to; /* `due`: the earliest */
    uint64_t pods_like[2]; /* what destination_like says of the pod that came last */
    int32_t priority;      /* ACTIVE */
    uint32_t first, last;  /* items, by `next` */
    uint32_t count;
    bool named;   /* of the first pod's way: helpers count all pods by it */
    bool ordered; /* `next` is the order of the keys */
};

/** How many refs a pass reads before it tries the pods behind them. */
#define MOVER_REFS SIZE(1024, 3)
#define MOVER_DUE SIZE(1024, 3)

/**
 * What was decided about the pod that `decide` saw last. Where no gate is, and no host is asked,
 * it holds for each parked pod that has this in common with it.
 */
struct mover_like {
    bool known; /* `decide` was asked, and such a pod moves */
    uint8_t profile;
    enum strategy strategy;
    uint64_t unschedulable, pending;
};

/**
 * The pods that are collected are the first `count`, the one that is tried is behind them, and
 * those that were lost and are to be tried again are the last `lost`.
 */
struct mover_batch {
    uint32_t count, lost, group_count;
    uint32_t to, from; /* places that some collected pod goes to, and comes from, as bits */
    uint64_t pauses;   /* of the worker, when the first was collected */
    union {
        struct lane_ref refs[MOVER_REFS];
        struct bin_ref due[MOVER_DUE];
    } read;                                      /* by the pass that feeds the mover */
    struct mover_group groups[MOVER_GROUPS + 1]; /* the last one: for a group that is looked for */
    struct mover_item items[MOVER_BATCH];
    uint32_t order[MOVER_BATCH]; /* of a group whose keys came in another order */
};

struct mover {
    struct worker *worker;
    int64_t now;
    uint32_t label;    /* why the pods come in, for metrics */
    bool counts;       /* as moves */
    bool counts_gated; /* as moves, if a gate refuses them too */
    bool recount;      /* a pod that is refused again counts as one that came in again */
    bool flushes;      /* the leftover limit is why, and rules.flush_begins_anew */
    /* a pod that stays for want of memory missed an event: a note is left (stray.h) */
    bool tells;
    bool asks_host; /* `decide` may ask a hint, an affinity, a precheck; or a gate (mover_begin) */
    bool alone;     /* it is about one pod: nothing is collected */
    uint8_t asks;   /* how often the call asked the pod's gates before */
    bool no_memory; /* some pod stayed where it was */
    schedq_result_t *result;
    /* Where the pod goes; false: it stays. The object in view->description is alive. */
    bool (*decide)(struct mover *mover, const struct view *view, struct way *way);
    void *ctx;              /* decide's */
    struct mover_like like; /* of pods that go on as it says, without being asked about */
    const struct view *due; /* shows the pod of mover_try_due's ref while its word is: */
    uint64_t due_state;
    struct mover_batch *batch;
};

/** For `decide`: does the view show a pod at the version that a ref of mover_try_due names? */
static inline bool
mover_is_due(const struct mover *mover, const struct view *view)
{
    return mover->due == view && mover->due_state == view->state;
}

/**
 * Begins; the caller filled in all but `no_memory` and `batch`, and of `asks_host` all but the
 * gates. One mover of a worker at a time.
 */
void mover_begin(struct mover *mover);

/**
 * Tries the pods that refs of a lot name and that are there. The mover or holder behind a FUTURE
 * ref is disturbed. Returns how many of the refs were stale.
 */
uint32_t mover_try_refs(struct mover *mover, const struct lane_ref *refs, size_t count);

/**
 * The same for a ref of a bin. A FUTURE one is helped in a bin of backoff; in others its publisher
 * is disturbed. True: the pod was there.
 */
bool mover_try_due(struct mover *mover, struct bin *bin, const struct bin_ref *ref);

/**
 * Tries the pod that `view` shows, as read in this section, if it waits; a pod that did not wait
 * when it was read is looked at again. *view is used up.
 */
void mover_try(struct mover *mover, uint32_t record, struct view *view);

/**
 * The same for a pod that the caller asked about once, and put behind a gate that heard of an event
 * meanwhile.
 */
void mover_try_placed(struct mover *mover, uint32_t record, uint64_t life);

static inline bool
mover_holds_any(const struct mover *mover)
{
    return mover->batch->count > 0;
}

/** Is the record's pod among those that are collected? */
bool mover_holds(const struct mover *mover, uint32_t record);

/** Moves what is collected. */
void mover_end(struct mover *mover);

/**
 * Makes a holder or mover that is about to bring a pod into a lot decide again, if the ref is
 * FUTURE there. False: the pod is at the end of its lag, and was left alone.
 */
bool mover_disturb(struct worker *worker, uint64_t ref);

/**
 * [host] Collects the pod as `view` shows it, to go to ACTIVE or backoff, and no other place;
 * nothing is asked. MOVER_BATCH at most. `number` is the caller's.
 *
 * @retval SCHEDQ_OK       collected: mover_move tells the rest; or moved, if it goes alone
 * @retval SCHEDQ_CHANGED  another thread changed it
 * @retval SCHEDQ_NOMEM    nothing changed
 */
schedq_status_t mover_collect(struct mover *mover, uint32_t record, struct view *view,
                              const struct way *way, uint64_t number);

/** [host] Moves what is collected. */
void mover_move(struct mover *mover);

/**
 * [host] A pod that was collected and not moved, each once: `changed` by another thread, else for
 * want of memory. False: there are no more.
 */
bool mover_next_lost(struct mover *mover, uint64_t *number, bool *changed);

/**
 * [host] Brings the pod that `view` shows, and no other, behind a gate.
 *
 * @retval SCHEDQ_OK       moved
 * @retval SCHEDQ_CHANGED  another thread changed it
 * @retval SCHEDQ_RETRY    the gate has a stamp newer than `asked`
 * @retval SCHEDQ_NOMEM    nothing changed
 */
schedq_status_t mover_gate(struct mover *mover, uint32_t record, const struct view *view,
                           uint8_t gate, uint64_t asked);

#endif
