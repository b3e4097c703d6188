/*
 * Switches: the second half of "publish, then switch", with everything that is counted by it.
 *
 * The thread whose CAS wins does the counting: pods by place, incoming pods by label, moves. A
 * helper needs the label. So a run carries it (its cause, run.h), and so does a lane for the ref
 * that its owner published last; a failure or a reorder has none. If the owner, or its thread, gave
 * up a ref and went on, the ref stays FUTURE, and is counted by the lane's next label.
 *
 * COUNTS. Pods that are active or in flight are in the workers' tallies. An active pod is counted
 * after the switch, or publication, that brings it, and counted off after it has left: so the sum
 * may be less than the number of pods, and greater only by pods that have left (position.c). Those
 * that wait are in the public words, which hosts read without a call: a word is raised before the
 * CAS that may bring the pod, and taken back if that fails, so it is never 0 while a pod waits
 * there. A holder or mover that parks or gates a pod raises it before it looks at the stamps
 * (switch_announce), so a host that stamps an event and then reads 0 misses no pod. A thread that
 * stops between leaves the word too high: by one; in add_many by the pods that it had admitted and
 * not inserted; in a batch of switches by the batch's pods. Once all calls have returned, the words
 * are exact. They are raised before the deadline is lowered for the pod, too: a planner passes over
 * places whose words say 0 (serve.c).
 *
 * LINEARIZATION. switch_announced:B, switches_one:A.
 *
 * ORDERING
 *   stores into the record, switch_announced:B -> take_plain:B, take_other:B, report_record:A,
 *   switch_help:A
 *   ref, switch_announced:A, B -> scan, take_plain:A, take_other:A or walk_take:B (pop.c)
 *   a word's raise, the stamps | stamps_raise:A ; a host's read of the word
 * A word is lowered behind switch_announced:B, or the last switches_one:A. Tallies are stored
 * relaxed by their worker, that of active pods behind a full fence: the switch, or let_in:A.
 *
 * PROGRESS. switch_pod is wait-free, switch_help lock-free: each further round is another's change
 * of the words. A thread that stops before switch_announced:B has moved nothing; behind it, the pod
 * has moved, and what it had not counted stays uncounted.
 *
 * EVIDENCE. tests/model: intent, help, walk, tick (counts); stress/explore: tick_tick,
 * help_backoff, batch_losers, and every program's end (release.c: words);
 * tests/unit/test_host_words.c, test_look.c, test_metrics.c.
 */
#ifndef SCHEDQ_LOCKFREE_SWITCH_H
#define SCHEDQ_LOCKFREE_SWITCH_H

#include "lockfree/queue.h"

/*
 * A cause is 1 + a label, perhaps with CAUSE_MOVE: it counts as a move; and with CAUSE_NAMED, if
 * entities are counted: a verdict named the place (observe/metrics.h). Or CAUSE_NONE.
 */
#define CAUSE_NONE 0
#define CAUSE_MOVE (UINT32_C(1) << 31)
#define CAUSE_NAMED (UINT32_C(1) << 30)
#define CAUSE_LABEL (CAUSE_NAMED - 1)

static inline uint32_t
cause_of(uint32_t label, bool moves)
{
    return (label + 1) | (moves ? CAUSE_MOVE : 0);
}

/**
 * 1 + label, for entry_note_freed; 0: the end of a backoff frees nothing. A switch without a cause
 * is an update that is not counted.
 */
static inline uint32_t
cause_freed(uint32_t cause)
{
    if ((cause & CAUSE_LABEL) == LABEL_BACKOFF_COMPLETE + 1) {
        return 0;
    }
    uint32_t label = cause != CAUSE_NONE ? cause & CAUSE_LABEL : LABEL_POD_UPDATE + 1;

    return label < FREED_LABEL_MAX ? label : FREED_LABEL_MAX;
}

/** Notes what freed a pod that waited for an event: after the switch. `freed` is not 0. */
STRAIGHT void
switch_freed(struct worker *worker, uint32_t record, struct entry *entry, uint64_t next,
             uint32_t freed)
{
    entry_note_freed(entry, next, freed);
    probe_free(queue_of(worker), record, freed);
}

/** The same after any switch. */
static inline void
switch_note_freed(struct worker *worker, uint32_t record, struct entry *entry, uint64_t state,
                  uint64_t next, uint32_t cause)
{
    if (place_waits_for_event(state_place(state))) {
        switch_freed(worker, record, entry, next, cause_freed(cause));
    }
}

static inline enum incoming_place
incoming_place(enum place place)
{
    switch (place) {
    case PLACE_ACTIVE:
        return INCOMING_ACTIVE;
    case PLACE_BACKOFF:
    case PLACE_ERROR_BACKOFF:
        return INCOMING_BACKOFF;
    default:
        return INCOMING_UNSCHEDULABLE;
    }
}

/** Counts pods that came into a place, for a cause. */
STRAIGHT void
switch_count_many(struct worker *worker, enum place to, uint32_t cause, uint32_t count)
{
    struct queue *queue = queue_of(worker);
    uint32_t label = (cause & CAUSE_LABEL) - 1;

    if (cause == CAUSE_NONE) {
        return;
    }
    if ((cause & CAUSE_MOVE) != 0) {
        tally_add(&worker->tally.moves, count);
    }
    if (label != LABEL_POD_UPDATE || queue->base.rules.counts_updates) {
        incoming_count(worker->incoming, &queue->incoming_late, label, incoming_place(to),
                       (cause & CAUSE_NAMED) != 0, count);
    }
}

/** Counts one. */
STRAIGHT void
switch_count(struct worker *worker, enum place to, uint32_t cause)
{
    switch_count_many(worker, to, cause, 1);
}

static inline void
switch_change(struct worker *worker, enum place place, uint64_t by)
{
    schedq_words_t *words = &queue_of(worker)->base.words;

    switch (place) {
    case PLACE_ACTIVE:
        tally_add(&worker->tally.active, by);
        break;
    case PLACE_INFLIGHT:
        tally_add(&worker->tally.inflight, by);
        break;
    case PLACE_BACKOFF:
        (void)u64_add(u64_of(&words->backoff), by);
        break;
    case PLACE_ERROR_BACKOFF:
        (void)u64_add(u64_of(&words->error_backoff), by);
        break;
    case PLACE_PARKED:
        (void)u64_add(u64_of(&words->parked), by);
        break;
    case PLACE_GATED:
        (void)u64_add(u64_of(&words->gated), by);
        break;
    case PLACE_HELD:
        (void)u64_add(u64_of(&words->held), by);
        break;
    case PLACE_ASIDE:
        (void)u64_add(u64_of(&words->aside), by);
        break;
    case PLACE_READY:
        (void)u64_add(&queue_groups(queue_of(worker))->at_ready, by);
        break;
    case PLACE_CYCLE:
        (void)u64_add(&queue_of(worker)->guests.inflight, by);
        break;
    case PLACE_IDLE:
    case PLACE_FREE:
    case PLACE_DEAD:
        break;
    }
}

/** Raises or lowers how many pods there are in a place. */
static inline void
switch_enter(struct worker *worker, enum place place)
{
    switch_change(worker, place, 1);
}

static inline void
switch_leave(struct worker *worker, enum place place)
{
    switch_change(worker, place, UINT64_MAX);
}

/**
 * Raises the word of a place where a pod is to wait, if it is one; withdrawn if the pod does not
 * come.
 */
static inline void
switch_announce(struct worker *worker, enum place to)
{
    if (place_waits(to)) {
        switch_enter(worker, to);
    }
}

static inline void
switch_withdraw(struct worker *worker, enum place to)
{
    if (place_waits(to)) {
        switch_leave(worker, to);
    }
}

/*
 * Does the pod move inside of the order of pops? Then a walk that had passed the new place, and had
 * not reached the old one, must begin again. If pops take from backoff, backoff is in that order
 * too.
 */
STRAIGHT bool
switch_stays_in_order(const struct queue *queue, enum place from, enum place to)
{
    bool backoff_counts = queue->base.rules.pop_from_backoff;

    return (to == PLACE_ACTIVE || (to == PLACE_BACKOFF && backoff_counts)) &&
           (from == PLACE_ACTIVE || (from == PLACE_BACKOFF && backoff_counts));
}

/** Counts a switch that the caller made, of a pod that was announced. */
STRAIGHT void
switch_counted(struct worker *worker, uint64_t state, uint64_t next, uint32_t cause)
{
    enum place from = state_place(state), to = state_place(next);

    if (place_waits(to)) {
        switch_leave(worker, from);
    } else if (from != to) {
        switch_enter(worker, to);
        switch_leave(worker, from);
    }
    switch_count(worker, to, cause);
}

/** As switch_pod for a pod that was announced, and still is if this fails. */
STRAIGHT bool
switch_announced(struct worker *worker, struct entry *entry, uint64_t state, uint64_t desc,
                 uint64_t next, uint32_t cause)
{
    struct queue *queue = queue_of(worker);

    if (switch_stays_in_order(queue, state_place(state), state_place(next))) {
        (void)u64_add(&queue->reorder,
                      1); /* switch_announced:A, read by take_plain:A, walk_take:B */
    }
    if (!entry_switch(entry, state, desc, next)) { /* switch_announced:B */
        return false;
    }
    switch_counted(worker, state, next, cause);
    return true;
}

/**
 * Switches a pod whose words still are `state` and `desc` to `next`, and counts it. False: they
 * changed.
 *
 * DEAD is counted as leaving only.
 */
bool switch_pod(struct worker *worker, struct entry *entry, uint64_t state, uint64_t desc,
                uint64_t next, uint32_t cause);

/**
 * Of a waiting pod that lost its switch, before anything is decided anew: has only its description
 * changed, and not the version (a nomination, or a time that keeps nothing back)? Then what was
 * published is not stale, and the same switch has to be tried again, with *desc, as a helper tries
 * it.
 */
static inline bool
switch_is_still_due(const struct entry *entry, uint64_t state, uint64_t *desc)
{
    uint64_t seen = *desc;

    *desc = u64_load_acquire(&entry->word.high); /* of entry_describe:A; the switch compares it */
    return *desc != seen && entry_state(entry) == state;
}

/** Waiting pods that are switched to one place, one after the other, and counted together. */
struct switches {
    enum place to;
    uint32_t announced, came;
    uint32_t named; /* of those that came: where a verdict named (CAUSE_NAMED) */
    uint32_t left[STATE_PLACES];
};

/**
 * Called before the first, after all are published. `count`: how many pods at most; by that the
 * caller has raised the word of a place where pods wait. `from_backoff`: some of them back off.
 */
void switches_begin(struct worker *worker, struct switches *switches, enum place to, uint32_t count,
                    bool from_backoff);

/** As switch_pod. */
static inline bool
switches_one(struct switches *switches, struct entry *entry, uint64_t state, uint64_t desc,
             uint64_t next)
{
    bool came = entry_switch(entry, state, desc, next); /* switches_one:A */

    switches->came += came ? 1 : 0;
    switches->left[state_place(state)] += came ? 1 : 0;
    return came;
}

/** After the last, for those that came. `cause` is without CAUSE_NAMED. */
void switches_end(struct worker *worker, const struct switches *switches, uint32_t cause);

#endif
