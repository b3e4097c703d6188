/*
 * The way of a pod from the place that its word names to another: "publish, then switch", once.
 *
 *   find      which containers these are; a band or a lot is made if need be
 *   prepare   room in them
 *   publish   the pod's next ref goes there
 *   raise     the public word of a place where pods wait: hosts read it. It is the fence, too
 *   announce  the bin is marked, then the deadline lowered: every thread that should look, will
 *   switch    the words, from the very ones that were decided on
 *   repair    what a lost switch leaves: the word of the place is lowered, the ref is stale
 * transfer_prepare is the first two, transfer_publish the next three, transfer_switch the last two.
 *
 * WHAT EACH USER LEAVES OUT, AND WHAT IT DOES BETWEEN FENCE AND SWITCH
 *   an add            add.c         no switch: the pod begins where it is published. Of an active
 *                                   pod the commit of its name is the fence
 *   settle_again      settle.c      no switch: one more ref of the version that it has
 *   transfer_follow   transfer.c    leaves nothing out. It is repeated until the pod has no lag
 *   a failure         fail.c        before: the newest description, the record. Between: the
 *                                   stamps. Repair: the flight's version is raised
 *   a gate's refusal  mover.c       between: the gate's stamp. A switch with a description, if the
 *                                   gate is another. Repair: asks again
 *   a mover's batch   mover.c       once for a bin, one fence for all bins; the words are raised
 *                                   behind it, before the deadline. Repair: tried again
 * The look between fence and switch may come after the announcement. If there is no switch then, a
 * bin was marked, or a deadline lowered, for nothing: that costs a look.
 *
 * LINEARIZATION. switch_announced:B, or a helper's.
 *
 * ORDERING
 *   ref, transfer_announce:A, mark | summary_doubt:A, scan (bin.h)
 *   mark, deadline_lower:A | deadline_begin:A, looks (deadline.h)
 *   ref, transfer_announce:A, the look | stamps_raise:A, announce:A, lots (stamps.c)
 *   transfer_announce:A, the raise, and the look | stamps_raise:A, lockfree_event_stamp:A, the word
 *   ref, switch_announced:A, switch_announced:B -> scan, take_plain:A, take_other:A or walk_take:B
 *   (pop.c)
 *       a walk meets the pod in one of two places, or begins again
 *
 * PROGRESS. Lock-free, like its parts; what is prepared does not fail. A thread that stops before
 * the publication has changed nothing. One that stops behind it leaves a FUTURE ref: in a band or a
 * bin of backoff the next thread that meets it marks, lowers the deadline and switches (bin_judge,
 * switch_help); in a lot no thread switches, and the pod stays where it was. It also stays if only
 * threads that serve time would meet the ref, in backoff, the thread stopped before it raised that
 * place's word, and no other pod is there: a word of 0 is passed over. A further round of
 * transfer_follow means that another thread changed the pod.
 *
 * EVIDENCE. tests/model: intent, walk, help, park, gate, tick; stress/explore: update_*, told_*,
 * event_*, batch_*, host_*, help_backoff, order_keys; tests/unit/test_update.c, test_move.c,
 * test_failure.c, test_apply.c.
 */
#ifndef SCHEDQ_LOCKFREE_TRANSFER_H
#define SCHEDQ_LOCKFREE_TRANSFER_H

#include "lockfree/moves/backoff.h"
#include "lockfree/moves/publish.h"
#include "lockfree/moves/report.h"
#include "lockfree/moves/route.h"
#include "lockfree/moves/switch.h"
#include "lockfree/moves/waiting.h"
#include "lockfree/refs/tie.h"
#include "policy/leftover.h"

/** The containers of a place. */
struct destination {
    enum place place;
    uint8_t gate;
    struct band *band; /* ACTIVE */
    struct bin *bin; /* ACTIVE: of the band; backoff; parked, gated: by age; held: by time; NULL */
    struct lot *lot; /* parked, gated, hosts' backoff, or NULL */
    int64_t key;
    struct tie tie;
    int64_t due; /* when time has to look; SCHEDQ_NO_DEADLINE */
};

/** A pod on its way. */
struct transfer {
    uint32_t record;
    struct entry *entry;
    uint64_t state, desc; /* the words that were decided on */
    struct destination to;
};

/** Makes time look at what is due then: the timer thread, or a sleeper. After a full fence. */
void transfer_lower_deadline(struct worker *worker, int64_t due);

/**
 * Publishes a ref of the pod, passes a fence, announces. Only a band is marked here; one that this
 * call found is in the table (band.h). `raises`: the public word of the place has to be raised,
 * which is a fence.
 */
STRAIGHT void
transfer_announce(struct worker *worker, const struct destination *destination, uint64_t ref,
                  uint32_t cause, bool raises)
{
    /* the tie by its fields: copied whole it would have to be in memory */
    const struct placing placing = {
        .ref = ref,
        .key = destination->key,
        .tie = {.rank = destination->tie.rank, .key = destination->tie.key},
        .cause = cause};

    if (destination->lot != NULL) {
        lot_publish(destination->lot, worker->base.number, ref, ++worker->insertions);
    }
    bool fenced = destination->bin != NULL && publish_ref(worker, destination->bin, &placing);

    /* transfer_announce:A, between the refs and the looks at mark, deadline and stamps */
    if (raises && place_waits(destination->place)) {
        switch_enter(worker, destination->place);
    } else if (!fenced) {
        atomic_fence();
    }
    if (destination->band != NULL) {
        (void)publish_mark(worker, destination->band);
    }
    if (destination->due != SCHEDQ_NO_DEADLINE) {
        transfer_lower_deadline(worker, destination->due);
    }
}

/** Counts pods that came to a place, and records that wait. */
static inline void
transfer_report_many(enum place place, uint32_t count, schedq_result_t *result)
{
    result->to_active += place == PLACE_ACTIVE ? count : 0;
    result->to_parked += place == PLACE_PARKED ? count : 0;
    result->to_gated += place == PLACE_GATED ? count : 0;
    result->to_backoff += place_backs_off(place) ? count : 0;
}

/** Counts one. */
static inline void
transfer_report(enum place place, schedq_result_t *result)
{
    transfer_report_many(place, 1, result);
}

/** Can a pod be popped there? */
static inline bool
transfer_is_poppable(const struct queue *queue, enum place place)
{
    return place == PLACE_ACTIVE || (place == PLACE_BACKOFF && queue->base.rules.pop_from_backoff);
}

STRAIGHT bool
transfer_to_active(struct worker *worker, const struct view *view, struct destination *destination)
{
    destination->band = publish_band(worker, view->description.priority);
    destination->key = view->description.order_key;
    destination->bin = destination->band != NULL ? &destination->band->bin : NULL;
    return destination->band != NULL;
}

STRAIGHT bool
transfer_to_backoff_by(struct worker *worker, const struct backoff_rules *rules,
                       const struct view *view, struct destination *destination)
{
    struct queue *queue = queue_of(worker);
    const struct backoff_counters counters = backoff_counters_of(&view->history);
    int64_t duration = backoff_duration(rules, &counters);

    destination->bin =
        backoff_bin(queue, destination->place, backoff_failures(rules, &counters), duration);
    if (destination->bin == NULL) {
        return false;
    }
    destination->key = backoff_end(rules, view->history.timestamp_ns, duration);
    destination->tie = tie_of_description(&destination->bin->residence, &view->description);
    destination->due = backoff_due(rules, destination->key);
    destination->lot = waiting_backoff_lot(queue, destination->place);
    return true;
}

/**
 * The same of a group's record, whose backoff depends on its size. Passed by value: the address of
 * the caller's struct is not taken, so it can stay in registers.
 */
COLD struct destination transfer_record_to_backoff(struct worker *worker, const struct view *view,
                                                   struct destination destination);

STRAIGHT bool
transfer_to_backoff(struct worker *worker, const struct view *view, struct destination *destination)
{
    if ((view->description.flags & DESCRIBED_GROUP) != 0) {
        *destination = transfer_record_to_backoff(worker, view, *destination);
        return destination->bin != NULL;
    }
    return transfer_to_backoff_by(worker, &queue_of(worker)->base.rules.backoff, view, destination);
}

STRAIGHT void
transfer_to_waiting(struct worker *worker, const struct view *view, int64_t since,
                    struct destination *destination)
{
    struct queue *queue = queue_of(worker);
    const struct lot_key key = {.unschedulable = view->unschedulable | gate_bit(destination->gate),
                                .pending = view->pending,
                                .profile = view->profile,
                                .gate = destination->gate};

    destination->lot = waiting_lot(worker, &key);
    if ((view->description.flags & (SCHEDQ_POD_AFFINITY | DESCRIBED_GROUP)) != 0) {
        lot_note_affinity(destination->lot);
    }
    destination->bin = waiting_ages(queue, destination->place);
    destination->key = since;
    destination->due =
        destination->bin != NULL ? leftover_due(&queue->base.rules, since) : SCHEDQ_NO_DEADLINE;
}

/**
 * Held: where a time releases it, unless a call does. A member aside and an idle record: in no
 * container. A record that is READY: in the bin of those.
 */
COLD struct destination transfer_to_kept(struct worker *worker, const struct view *view,
                                         struct destination destination);

/**
 * Finds the containers. Of the pod that `view` shows it needs description, history, sets and
 * profile. `since`: parked, gated: from when the limit counts. False: no memory.
 */
STRAIGHT bool
transfer_find(struct worker *worker, const struct view *view, const struct way *way, int64_t since,
              struct destination *destination)
{
    *destination =
        (struct destination){.place = way->place, .gate = way->gate, .due = SCHEDQ_NO_DEADLINE};
    switch (way->place) {
    case PLACE_ACTIVE:
        return transfer_to_active(worker, view, destination);
    case PLACE_BACKOFF:
    case PLACE_ERROR_BACKOFF:
        return transfer_to_backoff(worker, view, destination);
    case PLACE_PARKED:
    case PLACE_GATED:
        transfer_to_waiting(worker, view, since, destination);
        return true;
    default:
        *destination = transfer_to_kept(worker, view, *destination);
        return true;
    }
}

/** Makes a lane there, or makes it larger. False: no memory. */
bool transfer_make_lot_room(struct worker *worker, struct lot *lot);

/** False: no memory, nothing changed. */
STRAIGHT bool
transfer_make_room(struct worker *worker, const struct destination *destination)
{
    return (destination->bin == NULL || publish_prepare(worker, destination->bin)) &&
           (destination->lot == NULL ||
            bank_has_room(&destination->lot->bank, worker->base.number, 2) ||
            transfer_make_lot_room(worker, destination->lot));
}

/**
 * Finds, and makes room: for the pod that `view` shows, described as it shows. `now`: that of the
 * call. False: no memory, nothing changed.
 */
STRAIGHT bool
transfer_prepare(struct worker *worker, uint32_t record, const struct view *view,
                 const struct way *way, int64_t now, struct transfer *transfer)
{
    int64_t since = view->history.timestamp_ns;

    if (way->place == PLACE_GATED) {
        since = leftover_since(&queue_of(worker)->base.rules, since, view->gating.tried, now);
    }
    transfer->record = record;
    transfer->entry = view->entry;
    transfer->state = view->state;
    transfer->desc = view->desc;
    return transfer_find(worker, view, way, since, &transfer->to) &&
           transfer_make_room(worker, &transfer->to);
}

/** The word behind the switch. */
STRAIGHT uint64_t
transfer_next(const struct transfer *transfer)
{
    const struct band *band = transfer->to.band;

    return state_switched(transfer->state, band != NULL ? band->id : 0, transfer->to.place);
}

/** The ref that is published: of the version behind the switch. */
STRAIGHT uint64_t
transfer_ref(const struct transfer *transfer)
{
    return state_next_version(transfer->state) | transfer->record;
}

/** Publishes and announces. `cause`: by which a helper counts. */
STRAIGHT void
transfer_publish(struct worker *worker, const struct transfer *transfer, uint32_t cause)
{
    transfer_announce(worker, &transfer->to, transfer_ref(transfer), cause, true);
}

/** Instead of the switch. */
STRAIGHT void
transfer_withdraw(struct worker *worker, const struct transfer *transfer)
{
    switch_withdraw(worker, transfer->to.place);
}

/** The switch, counted for a cause. False: the words changed; repaired. */
STRAIGHT bool
transfer_switch(struct worker *worker, const struct transfer *transfer, uint32_t cause)
{
    if (switch_announced(worker, transfer->entry, transfer->state, transfer->desc,
                         transfer_next(transfer), cause)) {
        return true;
    }
    transfer_withdraw(worker, transfer);
    return false;
}

/** After a lost switch to the word `next`: did a helper do it? */
static inline bool
transfer_was_helped(const struct entry *entry, uint64_t next)
{
    uint64_t state = entry_state(entry);

    return state_version(state) == state_version(next) && state_place(state) == state_place(next);
}

/**
 * Moves a pod to where its newest description wants it in its own place, and ends its lag, also if
 * the thread that described it stopped. A parked or gated pod only where the host judges every
 * update: an event that reads the lot meanwhile may miss both refs.
 *
 * If there is no such pod, does nothing. False: no memory; the pod stays where it is; an active one
 * is a stray (stray.h).
 */
bool transfer_follow(struct worker *worker, uint32_t record, uint64_t life);

#endif
