/*
 * Where a group's record goes, and what is counted and woken then.
 *
 * A record is published and switched as a pod is (transfer.h); its new description goes with the
 * same exchange. It is complete if its members are enough. A thread that finds it IDLE, and
 * complete, asks the gates and brings it out: it is a completer. Of two completers the second finds
 * the record described as it would describe it, and does not describe it again: so the first need
 * not begin again.
 *
 * ORDERING
 *   switch of the record to IDLE, looks at `changes` | commit of a member, `waiting`, `changes`
 *       the thread that brought it there sees the join, or the joiner sees the record IDLE
 *   transfer_publish, the look at the gate's stamp | an event's stamp, its look at the lots
 *       as in mover.h
 *
 * PROGRESS. Lock-free: each further round is another's change of the record, or an event of a gate
 * that refuses. Because of events a call asks ASKS_MAX times in a row at most; then the record is
 * gated as it is, and a tick, which is due at once, asks. Without memory gather_complete leaves a
 * stray note; a tick completes the record.
 *
 * EVIDENCE. tests/model: group; tests/unit/test_group.c, test_group_gates.c, test_lockfree_told.c.
 */
#ifndef SCHEDQ_LOCKFREE_GATHER_RECORD_H
#define SCHEDQ_LOCKFREE_GATHER_RECORD_H

#include "lockfree/moves/describe.h"
#include "lockfree/moves/gather_gate.h"
#include "lockfree/moves/route.h"
#include "lockfree/moves/transfer.h"

/** The cause of a record that comes in because a member came or went. */
#define CAUSE_JOIN (LABEL_POD_ADD + 1)

enum gather_step { GATHER_DONE, GATHER_AGAIN, GATHER_NOMEM };

/**
 * Where a complete record goes: GATED if a gate refuses, else READY. With `after_backoff`, while
 * its backoff lasts: ERROR_BACKOFF in place of READY; and if a backoff keeps the gate
 * (queue_backoff_keeps_gate), no gate is asked. May leave the section.
 */
struct way gather_way(struct worker *worker, const struct view *view, bool after_backoff);

/**
 * Would the record stay GATED, by the same gate, with nothing to note? With gates_see_leftover the
 * limit of a leftover counts from the last refusal, so each refusal is noted.
 */
static inline bool
gather_stays_gated(const struct queue *queue, const struct view *view, const struct way *way)
{
    return way->place == PLACE_GATED && state_place(view->state) == PLACE_GATED &&
           way->gate == view->gate && !queue->base.rules.gates_see_leftover;
}

/**
 * A new description of a record that stays where it is raises the version: what was published for
 * an older one gets stale, and refs and a token stay good. At the end of its lag a queued record is
 * first brought to its place anew (group.c); one in its cycle keeps the version, and the cycle's
 * end begins another.
 */
static inline void
gather_describe(struct redescription *change, const struct view *view)
{
    bool at_end = state_lag_is_at_end(view->state);

    change->word = !at_end ? state_described(view->state)
                   : state_place(view->state) == PLACE_IDLE
                       ? state_switched(view->state, 0, PLACE_IDLE)
                       : view->state;
}

/**
 * `gate` refused a member, and knows the events up to `asked`. True: the gate had an event since,
 * and the gates have to be asked again. After ASKS_MAX times in a row: false, and *unjudged; the
 * record is gated, and gather_note_unjudged follows.
 */
bool gather_is_overtaken(struct worker *worker, const struct view *view, uint8_t gate,
                         uint64_t asked, bool *unjudged);

/** If the record was gated unjudged, a tick is made to ask about it. */
void gather_note_unjudged(struct worker *worker, bool unjudged);

/** How a record goes from where it is. */
struct gather_move {
    uint32_t record;
    const struct view *view;
    struct way way;
    struct redescription *change;   /* what else is described anew; its word is overwritten */
    uint64_t asked;                 /* the last event that the gates know */
    uint32_t cause;                 /* by which it is counted, and freed (switch.h) */
    const struct gathered *members; /* NULL, or as they were read in this section */
};

/**
 * Brings the record that `view` shows where `way` says, described as `change` says: publish, look
 * at the gate's stamp, install. AGAIN: it changed, or events overtook the asking.
 */
enum gather_step gather_bring(struct worker *worker, const struct gather_move *move,
                              schedq_result_t *result);

/**
 * The same of a queued record, which keeps its description, by gates that know the events up to
 * `asked`. AGAIN also: it is not where `root` shows it.
 */
enum gather_step gather_bring_queued(struct worker *worker, const struct group_found *root,
                                     const struct way *way, uint64_t asked, uint32_t cause,
                                     schedq_result_t *result);

/**
 * Counts a record that came in, with its members, for a cause (switch.h). How many they are is what
 * `waiting` says: exact while no member joins or leaves.
 */
void gather_count(struct worker *worker, uint64_t number, enum place place, uint32_t cause);

/** Counts so many pods; `entity`: the record too. */
void gather_count_pods(struct worker *worker, enum place place, uint32_t cause, uint64_t pods,
                       bool entity);

/** The record becomes READY: begins the first attempt of its members that had none. */
void gather_begin_attempts(struct worker *worker, uint64_t number, int64_t now);

/** The same of one member; if it changed meanwhile, its pop notes when it was tried first. */
void gather_begin_attempt(struct worker *worker, uint32_t record, uint64_t life, int64_t now);

/**
 * Has an IDLE root enough, by what is counted, and did no reading refute that since its last
 * change?
 */
static inline bool
gather_may_complete(struct worker *worker, const struct group_block *block)
{
    return u64_load_acquire(&block->changes) != u64_load_acquire(&block->refuted) &&
           gather_is_complete(worker, block);
}

/** Brings a record that is IDLE, and complete, where it belongs. */
void gather_complete(struct worker *worker, uint64_t number, schedq_result_t *result);

/** A READY or waiting record, at the words that `view` shows, becomes IDLE; then is completed. */
bool gather_make_idle(struct worker *worker, const struct group_found *root,
                      schedq_result_t *result);

/** A record became READY: tells all that wait for one. */
void gather_wake(struct worker *worker);

#endif
