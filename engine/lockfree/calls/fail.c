/*
 * The end of a cycle without success: fail.
 *
 * The holder decides: parked, backing off, behind a gate, active at once because of what happened
 * during the flight, or held, if something keeps the pod back (hold.h). Only it writes the record's
 * counters and sets, until its switch.
 *
 * PARKING is publish, then look, then switch. The holder puts the pod's next ref into its lot; the
 * raise of the public word is a full fence. It compares the stamps of the rejectors with what its
 * judgement covered (events.c). Then it switches, from the very words that were judged: an update,
 * an activation, a deletion, or an event that met the published ref has changed them. In each of
 * these cases, and if a stamp is newer, the holder raises the version of the flight, which makes
 * stale what was published, and judges what is new: each event once, unless an update brought
 * another object. The gates are asked once for each strategy. If the gate that refused heard of an
 * event meanwhile, the gates are asked again when the pod is behind it (mover.h).
 *
 * Hints and gates run outside of a section (queue.h). The record stays: the flight is the holder's.
 *
 * LINEARIZATION. OK: switch_announced:B, or a helper's. RETRY: the look at the stamps. GONE: the
 * deletion's flag. STALE: the load of the word. From its first raise_version:A on the call has the
 * flight to itself: a second call with the same token is late. NOMEM puts back what was taken, an
 * activation in flight too.
 *
 * ORDERING
 *   the record's fields (relaxed), ref, switch -> switch_help:A, loads of the word
 *   ref, transfer_announce:A, stamps | stamps_raise:A, announce:A, lots (stamps.c)
 *   count_failure:A, ref, transfer_announce:A, stamps | announce:A, others_used
 *   ref, transfer_announce:A, mark | summary_doubt:A, scan (bin.h)
 *   ref, transfer_announce:A, deadline_lower:A | deadline_begin:A, looks (deadline.h)
 *
 * PROGRESS. Lock-free: each further round means that another thread changed the pod, or an event
 * reached it. A holder that stops before its switch keeps the pod, as it did before the call. If it
 * had published the pod in a band or for backoff, a helper finishes the switch.
 *
 * EVIDENCE. tests/model: park, tick; stress/explore: event_park*, event_update, activate_fail,
 * delete_fail, lag_end_fail, tick_fail; tests/unit/test_failure.c, test_lockfree_callbacks.c.
 */
#include "lockfree/calls/add.h"
#include "lockfree/calls/class.h"
#include "lockfree/calls/events.h"
#include "lockfree/calls/ops.h"
#include "lockfree/moves/describe.h"
#include "lockfree/moves/finish.h"
#include "lockfree/moves/gather_join.h"
#include "lockfree/moves/objects.h"
#include "lockfree/moves/switch.h"
#include "plugins/verdict.h"
#include "policy/history.h"

/* A flight that fails. */
struct failing {
    struct worker *worker;
    const schedq_failure_t *failure;
    schedq_result_t *result;
    uint32_t record;
    uint64_t version; /* of the flight: the token */
    struct entry *entry;
    int64_t now;
    uint64_t popped; /* the holder's object */
    bool asks_host;  /* queue_asks_host */
    bool activated;
    /* the gate that it was put behind heard of an event that it was not asked about */
    bool unjudged;
    bool described;          /* the failure's newest description was installed */
    bool drawn;              /* the record has the order key of this failure */
    uint64_t group, counted; /* of a member: its group, and what gather_announce returned */
    bool joins, others;      /* it is a member; it is, or has a class: others are told */
    bool classed; /* it has a class, or its newest description has: what follows is set */
    struct {
        struct class_key key; /* of its flight; number 0: none */
        bool shares;          /* its class shares the reasons for which it is parked */
        bool hidden;          /* and keeps it back, until a time */
    } class;
    struct view view; /* as it was seen last */
    struct {
        schedq_history_t history;
        uint64_t unschedulable, pending, pop_order;
        int64_t order_key; /* the record's own */
    } before;              /* what is put back if nothing is to change after all */
    struct {
        /* something is known; its gates were asked, for `strategy` */
        bool any, asked;
        uint64_t object;                  /* that it is about */
        struct verdict_on_flight verdict; /* on the events that came so far */
        enum strategy strategy;
        struct way way;
        uint64_t asked_at; /* events, before the gates were asked */
    } judged;
};

/* ---- the flight ------------------------------------------------------------------------------ */

/* True: the flight goes on, *state is its word. Else it was ended, or its pod deleted. */
static bool
still_flies(const struct failing *failing, uint64_t *state)
{
    *state = entry_state(failing->entry);
    return state_place(*state) == PLACE_INFLIGHT && state_version(*state) == failing->version &&
           (*state & FLAG_DELETED) == 0;
}

/*
 * Makes stale what was published, so that a helper's switch fails, and takes the flags. False: the
 * word changed.
 */
static bool
raise_version(struct failing *failing, uint64_t state)
{
    uint64_t next = state_next_version(state) | state_of(PLACE_INFLIGHT);

    if (!u64_cas(&failing->entry->word.low, state, next)) { /* raise_version:A */
        return false;
    }
    failing->version = state_version(next);
    if (failing->view.state == state) {
        failing->view.state = next; /* nothing else of it changed */
    }
    if ((state & FLAG_ACTIVATED) != 0) {
        failing->activated = true;
        failing->judged.asked = false; /* what the gates said before does not count */
    }
    return true;
}

/*
 * Makes the published ref stale. False: a helper was first, and the pod is there; or it was
 * deleted.
 */
COLD static bool
take_back(struct failing *failing)
{
    uint64_t state;

    /*
     * Ends: each further round means that a flag was set, each of which stays, or that the flight
     * is over.
     */
    while (still_flies(failing, &state)) {
        if (raise_version(failing, state)) {
            return true;
        }
    }
    return false;
}

/*
 * Sees the pod as it is while its word is `state`: once, unless it changed. A nomination changes
 * the description alone. False: it changed again.
 */
static bool
see(struct failing *failing, uint64_t state)
{
    struct view *view = &failing->view;
    /* of entry_describe:A */
    uint64_t desc = u64_load_acquire(&failing->entry->word.high);

    return (view->state == state && view->desc == desc) ||
           report_at(queue_of(failing->worker), failing->entry, state, view);
}

/* Sees the pod, whatever its word; the flags are taken. False: it was ended, or its pod deleted. */
RARELY static bool
see_flight(struct failing *failing)
{
    uint64_t state;

    /* Ends: each further round is another thread's change of the pod. */
    while (still_flies(failing, &state)) {
        if (state_flags(state) != 0) {
            (void)raise_version(failing, state);
        } else if (see(failing, state)) {
            return true;
        }
    }
    return false;
}

/* ---- what the failure says ------------------------------------------------------------------- */

/* [host] The newest event that its verdict must have covered. */
static uint64_t
newest_for_host(const struct queue *queue, uint8_t profile, const schedq_failure_t *failure)
{
    uint64_t rejectors = verdict_rejectors(failure);

    return rejectors == 0 ? stamps_drawn(&queue->stamps)
                          : stamps_newest(&queue->stamps, profile, rejectors);
}

/* [host] */
static bool
is_outdated(const struct failing *failing)
{
    const struct queue *queue = queue_of(failing->worker);
    const schedq_failure_t *failure = failing->failure;

    return verdict_covers_events(failure) &&
           (failing->activated ||
            newest_for_host(queue, failing->view.profile, failure) > failure->judged_up_to);
}

/* ---- the newest description ------------------------------------------------------------------ */

static bool
draws_key(const struct queue *queue, uint8_t flags)
{
    return (flags & SCHEDQ_POD_ORDER_KEY) == 0 && !queue->base.rules.keep_order;
}

/* Orders the pod behind all that came before. Not called if the caller chose the pod's key. */
static void
draw_key(struct failing *failing)
{
    if (!failing->drawn) {
        time_store(&failing->entry->order_key, add_draw_key(failing->worker, failing->now));
        failing->drawn = true;
    }
}

/*
 * Its class is asked from here on. If an update brings the pod's first class meanwhile, it counts
 * as coming behind the failure.
 */
COLD static void
note_class(struct failing *failing)
{
    failing->classed = failing->others = true;
    failing->class.key = class_of_view(queue_of(failing->worker), &failing->view);
    failing->class.shares = failing->class.hidden = false;
}

/* May it be described anew by its failure? Else what was seen stays. */
static bool
may_be_described(const struct failing *failing)
{
    const struct description *description = &failing->view.description;

    if (failing->view.desc == 0) {
        return !failing->described && failing->failure->newest != NULL;
    }
    return !failing->described &&
           (failing->failure->newest != NULL || (description->marks & MARK_OWN_KEY) != 0 ||
            (description->flags & DESCRIBED_WAITED) != 0 ||
            (description->described_node | description->nominated_node) != 0);
}

/*
 * The failure's newest description, and what kube does to nominations; false: what `view` shows
 * stays.
 */
RARELY static bool
plan_description(struct failing *failing, const struct view *view, struct redescription *change)
{
    struct queue *queue = queue_of(failing->worker);
    const struct rules *rules = &queue->base.rules;
    bool wanted = false;

    *change = describe_begin(view);
    if (failing->failure->newest != NULL) {
        struct view popped = *view;

        /* What loses its order key is ordered by the Timestamp that it had. */
        popped.history = failing->before.history;
        describe_by_spec(change, &popped, failing->failure->newest);
        if (failing->failure->newest->class_id != 0 && !failing->classed) {
            note_class(failing);
        }
        if (rules->nominate == NOMINATE_AT_ADD) {
            describe_renominate(change, view);
        }
        wanted = true;
    }
    if (rules->nominate == NOMINATE_ALWAYS &&
        (change->description.described_node != 0 || view->description.nominated_node != 0)) {
        change->description.nominated_node = change->description.described_node;
        change->renominates = wanted = true;
    }
    if ((change->description.flags & DESCRIBED_WAITED) != 0) {
        description_note_try(&change->description);
        wanted = true;
    }
    if ((change->description.marks & MARK_OWN_KEY) != 0 &&
        draws_key(queue, change->description.flags)) {
        /* an update may have taken the caller's key from it since the failure was counted */
        draw_key(failing);
        change->description.marks &= (uint8_t)~MARK_OWN_KEY;
        change->description.order_key = time_load(&failing->entry->order_key);
        wanted = true;
    }
    return wanted;
}

/*
 * Installs what was planned on the pod that `view` shows; afterwards `view` shows the result. All
 * other memory was taken before: NOMEM leaves the old description.
 */
RARELY static schedq_status_t
take_newest(struct failing *failing, struct redescription *change)
{
    struct view *view = &failing->view;
    const struct queue *queue = queue_of(failing->worker);
    uint64_t state = view->state;
    schedq_status_t status = describe_install(failing->worker, failing->record, view, change);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (!failing->described) {
        failing->result->object = view->description.object;
    }
    failing->described = true;
    /* An update that came since has set a flag. */
    return report_any(queue, failing->record, view) && view->state == state ? SCHEDQ_OK
                                                                            : SCHEDQ_RETRY;
}

/* ---- the record ------------------------------------------------------------------------------ */

/* Relaxed: the flight is this thread's; the switch publishes it. */
static void
write_record(const struct failing *failing, const schedq_history_t *history, uint64_t unschedulable,
             uint64_t pending)
{
    struct entry *entry = failing->entry;

    u64_store(&entry->unschedulable, unschedulable);
    u64_store(&entry->pending, pending);
    u64_store(&entry->attempts_rejections, (uint64_t)history->attempts << 32 | history->rejections);
    u32_store(&entry->errors, history->errors);
    time_store(&entry->timestamp, history->timestamp_ns);
    time_store(&entry->initial_attempt, history->initial_attempt_ns);
}

/*
 * others_used is loaded relaxed: count_failure:A of the thread that set it, or of this one, comes
 * before this thread's transfer_announce:A.
 */
static void
count_failure(struct failing *failing)
{
    struct queue *queue = queue_of(failing->worker);
    const schedq_failure_t *failure = failing->failure;
    struct view *view = &failing->view;
    uint8_t flags = failure->newest != NULL ? failure->newest->flags : view->description.flags;

    if (((failure->unschedulable | failure->pending) & SCHEDQ_REJECTOR_OTHERS) != 0 &&
        u32_load(&queue->others_used) == 0) {
        (void)u32_exchange(&queue->others_used, 1); /* count_failure:A */
    }
    failing->before.history = view->history;
    failing->before.unschedulable = view->unschedulable;
    failing->before.pending = view->pending;
    failing->before.pop_order = view->pop_order;
    failing->before.order_key = time_load(&failing->entry->order_key);
    history_count_failure(&view->history.rejections, &view->history.errors,
                          failure->unschedulable | failure->pending);
    view->history.timestamp_ns = failing->now;
    view->unschedulable = failure->unschedulable;
    view->pending = failure->pending;
    write_record(failing, &view->history, failure->unschedulable, failure->pending);
    if (draws_key(queue, flags)) {
        draw_key(failing);
        if ((view->description.marks & MARK_OWN_KEY) == 0) {
            view->description.order_key = time_load(&failing->entry->order_key);
        }
    }
}

/*
 * Nothing changes after all. If the newest description was installed, it stays, and so does the key
 * that was drawn.
 */
static void
put_back(const struct failing *failing)
{
    write_record(failing, &failing->before.history, failing->before.unschedulable,
                 failing->before.pending);
    if (!failing->described) {
        time_store(&failing->entry->order_key, failing->before.order_key);
    }
    /* as begin_flight:A */
    u64_store_release(&failing->entry->flight, failing->before.pop_order);
}

/* The flag was taken, and nothing came of it: the next failure of this flight finds it again. */
static void
put_activation_back(const struct failing *failing)
{
    uint64_t state;

    /* Ends: each further round means that the word changed. */
    while (failing->activated && still_flies(failing, &state) &&
           /* put_activation_back:A */
           !u64_cas(&failing->entry->word.low, state, state | FLAG_ACTIVATED)) {
    }
}

/* ---- deciding -------------------------------------------------------------------------------- */

/* Where the pod is to go, and up to which event it was judged. */
struct decision {
    struct way way;
    uint64_t up_to; /* PARKED: the newest event that was judged */
    uint64_t asked; /* GATED: the newest event before the gates were asked */
};

static void
decide_by_host(const struct failing *failing, const struct view *view, struct decision *decision)
{
    const schedq_failure_t *failure = failing->failure;

    decision->up_to = decision->asked = failure->judged_up_to;
    switch (failure->place) {
    case SCHEDQ_PARKED:
        decision->way = route_parked(queue_of(failing->worker));
        break;
    case SCHEDQ_GATED:
        decision->way = (struct way){.place = PLACE_GATED, .gate = failure->gate};
        break;
    default:
        decision->way =
            route_admitted(queue_of(failing->worker), view->unschedulable | view->pending,
                           &view->history, failure->place == SCHEDQ_BACKOFF, failing->now);
        route_name(queue_of(failing->worker), failure->place == SCHEDQ_BACKOFF, &decision->way);
        break;
    }
}

/* Judges each event once, unless an update brought another object. */
static void
judge_events(struct failing *failing, const struct view *view, struct decision *decision)
{
    if (!failing->judged.any || failing->judged.object != view->description.object) {
        failing->judged.any = true;
        failing->judged.asked = false;
        failing->judged.object = view->description.object;
        failing->judged.verdict = (struct verdict_on_flight){STRATEGY_SKIP, failing->view.seen};
    }
    events_judge_flight(failing->worker, view, &failing->judged.verdict);
    decision->up_to = failing->judged.verdict.up_to;
}

/*
 * Asks once for each strategy. If the gates hear of an event meanwhile, they are asked again when
 * the pod is in its new place.
 */
static void
ask_gates(struct failing *failing, const struct view *view, enum strategy strategy,
          struct decision *decision)
{
    struct worker *worker = failing->worker;

    if (!failing->judged.asked || failing->judged.strategy != strategy) {
        failing->judged.asked = true;
        failing->judged.strategy = strategy;
        failing->judged.asked_at = stamps_drawn(&queue_of(worker)->stamps);
        failing->judged.way = route_by_strategy(worker, view, strategy, failing->now);
    }
    decision->asked = failing->judged.asked_at;
    decision->way = failing->judged.way;
}

/* Held, or with its group. FREE: neither. */
COLD static enum place
place_of_kept(const struct description *description, int64_t now)
{
    return description_keeps(description, now)       ? PLACE_HELD
           : (description->marks & MARK_MEMBER) != 0 ? PLACE_ASIDE
                                                     : PLACE_FREE;
}

/* The object in view->description is alive. */
static void
decide_failure(struct failing *failing, const struct view *view, struct decision *decision)
{
    struct worker *worker = failing->worker;

    if ((view->description.marks & (MARKS_KEEP | MARK_MEMBER)) != 0) {
        enum place place = place_of_kept(&view->description, failing->now);

        if (place != PLACE_FREE) {
            *decision = (struct decision){.way = {.place = place}};
            return;
        }
    }
    if (queue_of(worker)->base.rules.host) {
        decide_by_host(failing, view, decision);
        return;
    }
    if (failing->asks_host) {
        section_pause(worker);
    }
    judge_events(failing, view, decision);
    enum strategy strategy = failing->judged.verdict.strategy;

    if (failing->activated && strategy == STRATEGY_SKIP) {
        strategy = STRATEGY_AFTER_BACKOFF;
    }
    if (strategy == STRATEGY_SKIP) {
        decision->way = route_parked(queue_of(worker));
        decision->asked = 0;
    } else {
        ask_gates(failing, view, strategy, decision);
    }
    if (failing->asks_host) {
        section_resume(worker);
    }
}

/* After the publication and a full fence: did an event come that was not judged? */
static bool
event_came(const struct failing *failing, const struct view *view, const struct decision *decision)
{
    const struct queue *queue = queue_of(failing->worker);

    switch (decision->way.place) {
    case PLACE_PARKED:
        return queue->base.rules.host
                   ? newest_for_host(queue, view->profile, failing->failure) > decision->up_to
                   : events_newest(queue, view) > decision->up_to;
    case PLACE_GATED:
        return stamps_newest(&queue->stamps, view->profile, gate_bit(decision->way.gate)) >
               decision->asked;
    default:
        return false;
    }
}

/* ---- moving ---------------------------------------------------------------------------------- */

static void
prepare_record(const struct failing *failing, const struct transfer *transfer)
{
    struct entry *entry = failing->entry;
    const struct destination *to = &transfer->to;

    u64_store(&entry->flight, stay_word(state_version(transfer_next(transfer)), to->gate));
    /* An earlier attempt may have left the bit of another gate. */
    u64_store(&entry->unschedulable,
              failing->failure->unschedulable | gate_bit(to->place == PLACE_GATED ? to->gate : 0));
    if (to->place == PLACE_ACTIVE && u64_load(&entry->initial_attempt) == 0) {
        time_store(&entry->initial_attempt, failing->now);
    }
}

STRAIGHT void
tell_failure(const struct failing *failing, const struct view *view, const struct destination *to)
{
    const struct queue *queue = queue_of(failing->worker);
    schedq_result_t *result = failing->result;

    result->pod = entry_handle(failing->record, view->life);
    result->timestamp_ns = failing->now;
    result->place = (uint8_t)place_public(to->place);
    result->gate = to->gate;
    result->unschedulable =
        failing->failure->unschedulable | gate_bit(to->place == PLACE_GATED ? to->gate : 0);
    result->pending = failing->failure->pending;
    if (queue->base.rules.host && to->place != PLACE_ACTIVE && to->place < PLACE_HELD) {
        result->ref = ref_make(version_next(failing->version), failing->record);
        result->backing_off = route_is_backing_off(queue, to->gate, &view->history, failing->now);
    }
    transfer_report(to->place, result);
    result->poppable = transfer_is_poppable(queue, to->place) ? 1 : 0;
}

enum attempt { ATTEMPT_DONE, ATTEMPT_AGAIN, ATTEMPT_OUTDATED, ATTEMPT_NOMEM };

/*
 * One attempt to bring the pod where `decision` says, described as `change` says; NULL: as it is.
 */
static enum attempt
try_once(struct failing *failing, const struct view *planned, const struct decision *decision,
         struct redescription *change)
{
    struct worker *worker = failing->worker;
    const struct queue *queue = queue_of(worker);
    struct view *view = &failing->view;
    struct transfer transfer;

    if (!transfer_prepare(worker, failing->record, planned, &decision->way, failing->now,
                          &transfer)) {
        return ATTEMPT_NOMEM;
    }
    schedq_status_t status = change != NULL ? take_newest(failing, change) : SCHEDQ_OK;

    if (status != SCHEDQ_OK) {
        return status == SCHEDQ_NOMEM ? ATTEMPT_NOMEM : ATTEMPT_AGAIN;
    }
    const struct destination *to = &transfer.to;

    transfer.desc = view->desc;
    prepare_record(failing, &transfer);
    transfer_publish(worker, &transfer, CAUSE_NONE);
    bool outdated = event_came(failing, view, decision);
    /* from PLACE_HELD on, places are those of pods that are kept */
    bool counts =
        to->place < PLACE_HELD && (to->place != PLACE_GATED || queue->base.rules.counts_updates);
    const uint32_t cause = cause_of(LABEL_FAILURE, false) | (decision->way.named ? CAUSE_NAMED : 0);
    const uint64_t version = failing->version;

    failing->unjudged = outdated && to->place == PLACE_GATED && !queue->base.rules.host;
    if (failing->unjudged) {
        /* as in gate_pod (mover.c) */
        u64_store(&worker->owed, ref_make(view->life, failing->record));
        outdated = false;
    }

    if (outdated) {
        transfer_withdraw(worker, &transfer);
    } else if (transfer_switch(worker, &transfer, counts ? cause : CAUSE_NONE)) {
        tell_failure(failing, view, to);
        return ATTEMPT_DONE;
    }
    /* Only a helper changes the version of a flight that was claimed: it brought the pod there. */
    if (!take_back(failing) && state_version(entry_state(failing->entry)) != failing->version) {
        failing->version = version;
        tell_failure(failing, view, to);
        return ATTEMPT_DONE;
    }
    view->state = 0; /* the record was written: it is looked at again */
    return outdated && queue->base.rules.host ? ATTEMPT_OUTDATED : ATTEMPT_AGAIN;
}

/* What the pod is now, its object retained. False: it is gone. */
RARELY static bool
look_in_flight(struct failing *failing)
{
    const struct queue *queue = queue_of(failing->worker);
    struct view *view = &failing->view;

    while (see_flight(failing)) {
        if (!objects_counted(queue) || objects_take(failing->worker, failing->entry, view->state,
                                                    &view->description, &view->desc)) {
            view->unschedulable = failing->failure->unschedulable;
            return true;
        }
    }
    return false;
}

/*
 * The pod, which `planned` shows, is about to be parked. True: its class keeps it back. Then it was
 * given a time, there is room where it will be held, and the caller looks at it again.
 */
COLD static bool
goes_with_class(struct failing *failing, const struct view *planned, struct redescription *change)
{
    struct worker *worker = failing->worker;
    const struct queue *queue = queue_of(worker);
    const struct class_key key = class_of_view(queue, planned);
    const struct way way = {.place = PLACE_HELD};
    struct view held = *planned;
    struct transfer transfer;

    failing->class.shares = key.number != 0 && class_shares(failing->failure);
    failing->class.hidden = false;
    if (!failing->class.shares ||
        !class_is_shut(worker, &key, entry_handle(failing->record, planned->life))) {
        return false;
    }
    if (planned == &failing->view) {
        *change = describe_begin(planned);
    }
    description_set_time_by_class(&change->description,
                                  class_until(&queue->base.rules, failing->now));
    held.description = change->description;
    failing->class.hidden =
        transfer_prepare(worker, failing->record, &held, &way, failing->now, &transfer) &&
        take_newest(failing, change) != SCHEDQ_NOMEM;
    return failing->class.hidden;
}

/* One round: judges, tries. SCHEDQ_STALE: a second call ended the flight. */
static schedq_status_t
try_round(struct failing *failing, enum attempt *attempt)
{
    const struct queue *queue = queue_of(failing->worker);
    const struct view *planned = &failing->view;
    const uint64_t object = failing->view.description.object;
    struct redescription change;
    struct decision decision;
    struct view described;

    if (may_be_described(failing) && plan_description(failing, &failing->view, &change)) {
        described = failing->view;
        described.description = change.description;
        planned = &described;
    }
    decide_failure(failing, planned, &decision);
    object_give_back(queue, object);
    /* Its page stays while the host's code runs, unless a second call ended the flight. */
    if (failing->asks_host && entry_at(&queue->entries, failing->record) != failing->entry) {
        return SCHEDQ_STALE;
    }
    if (failing->classed && decision.way.place == PLACE_PARKED &&
        goes_with_class(failing, planned, &change)) {
        *attempt = ATTEMPT_AGAIN;
        return SCHEDQ_OK;
    }
    if (!failing->described) {
        failing->result->object = object;
    }
    *attempt = queue->base.rules.host && failing->activated && is_outdated(failing)
                   ? ATTEMPT_OUTDATED
                   : try_once(failing, planned, &decision, planned == &described ? &change : NULL);
    return SCHEDQ_OK;
}

/* [host] Events came: nothing changes but the token, and the newest description. */
COLD static schedq_status_t
judge_again(const struct failing *failing)
{
    const struct queue *queue = queue_of(failing->worker);

    report_pod(queue, failing->record, &failing->view, failing->result);
    failing->result->sequence = stamps_drawn(&queue->stamps);
    return SCHEDQ_RETRY;
}

/* Nothing is to change, or there is no memory for it. */
COLD static schedq_status_t
stay_in_flight(struct failing *failing, enum attempt attempt)
{
    uint64_t state;

    if (attempt == ATTEMPT_OUTDATED && !still_flies(failing, &state)) {
        return SCHEDQ_GONE;
    }
    put_back(failing);
    if (attempt == ATTEMPT_OUTDATED) {
        return report_view(queue_of(failing->worker), failing->record, failing->view.life,
                           &failing->view)
                   ? judge_again(failing)
                   : SCHEDQ_GONE;
    }
    put_activation_back(failing);
    return SCHEDQ_NOMEM;
}

/* SCHEDQ_GONE: the pod was deleted. */
static schedq_status_t
move_failing(struct failing *failing)
{
    enum attempt attempt;
    bool looked = !objects_counted(queue_of(failing->worker));

    /* Ends: each further round is another thread's change of the pod, or an event. */
    for (;; looked = false) {
        if (!looked && !look_in_flight(failing)) {
            return SCHEDQ_GONE;
        }
        schedq_status_t status = try_round(failing, &attempt);

        if (status != SCHEDQ_OK || attempt == ATTEMPT_DONE) {
            return status;
        }
        if (attempt != ATTEMPT_AGAIN) {
            return stay_in_flight(failing, attempt);
        }
    }
}

/* ---- the call -------------------------------------------------------------------------------- */

/*
 * Claims the token's flight, as it is: from then on another call with this token is late.
 * SCHEDQ_STALE: its record is no more; SCHEDQ_GONE: the flight is over, or the pod was deleted.
 */
static schedq_status_t
claim(struct failing *failing, schedq_token_t token)
{
    schedq_worker_t *base = &failing->worker->base;
    const struct queue *queue = queue_of(failing->worker);
    uint64_t state;

    failing->record = ref_record(token.bits);
    failing->version = ref_version(token.bits);
    failing->entry = entry_at(&queue->entries, failing->record);
    if (failing->entry == NULL) {
        return SCHEDQ_STALE;
    }
    __builtin_prefetch((const char *)failing->entry + CACHE_LINE, 1);

    schedq_profile_t profile = attributes_profile(u64_load_acquire(&failing->entry->attributes));

    if (!still_flies(failing, &state)) { /* else the profile is this pod's */
        return SCHEDQ_GONE;
    }
    if (!verdict_fits(&queue->base.registry, profile, failing->failure)) {
        schedq_status_t status = verdict_check_failure(
            &queue->base.registry, profile, failing->failure, base->words, sizeof base->words);

        if (status != SCHEDQ_OK) {
            return status;
        }
    }
    failing->now = queue_now(queue);
    failing->view.state = state;
    if (!raise_version(failing, state) ||
        !report_at(queue, failing->entry, failing->view.state, &failing->view)) {
        failing->view.state = 0; /* nothing was seen */
        return see_flight(failing) ? SCHEDQ_OK : SCHEDQ_GONE;
    }
    return SCHEDQ_OK;
}

/* Gives back the newest object if it was not installed; asks the gates again if `owed` says so. */
COLD static void
settle_debts(struct failing *failing, schedq_status_t status)
{
    struct worker *worker = failing->worker;

    if (failing->failure->newest != NULL && !failing->described) {
        object_give_back(queue_of(worker), failing->failure->newest->object);
    }
    if (u64_load(&worker->owed) != 0) {
        if (status == SCHEDQ_OK && failing->unjudged) {
            events_help_placed(worker, failing->record, failing->view.life);
        }
        u64_store_release(&worker->owed, 0);
    }
}

static schedq_status_t
fail(struct failing *failing)
{
    struct worker *worker = failing->worker;
    struct queue *queue = queue_of(worker);

    failing->popped = u64_load(&failing->entry->popped);
    if (queue->base.rules.host && is_outdated(failing)) {
        return judge_again(failing);
    }
    if (failing->failure->newest != NULL) {
        object_retain(queue, failing->failure->newest->object);
    }
    count_failure(failing);
    schedq_status_t status = move_failing(failing);

    if (failing->failure->newest != NULL || u64_load(&worker->owed) != 0) {
        settle_debts(failing, status);
    }
    if (status == SCHEDQ_OK) {
        tally_add(&worker->tally.failures, 1);
        object_give_back(queue, failing->popped);
        if (failing->result->poppable) {
            publish_wake(worker);
        }
    }
    return status;
}

/* The pod did not move: its flight goes on, or ends here. */
COLD static schedq_status_t
give_token_back(struct failing *failing, schedq_token_t *token, schedq_status_t status)
{
    struct worker *worker = failing->worker;

    if (status != SCHEDQ_STALE) {
        token->bits = ref_make(failing->version, failing->record);
    }
    if (status == SCHEDQ_GONE) {
        uint64_t object = finish_object(queue_of(worker), failing->entry);

        status = finish_flight(worker, *token);
        *failing->result = (schedq_result_t){.object = status == SCHEDQ_GONE ? object : 0};
    } else if (status != SCHEDQ_RETRY) {
        *failing->result = (schedq_result_t){0};
    }
    return status;
}

/* Ends what gather_announce began, for a member. May leave the section. */
COLD static void
join_group(struct failing *failing, schedq_status_t status)
{
    const uint64_t group = failing->group;

    if (status == SCHEDQ_OK && failing->result->place == SCHEDQ_ASIDE) {
        const schedq_pod_t pod = entry_handle(failing->record, failing->view.life);

        gather_joined(failing->worker, group, failing->counted, pod, failing->result);
        gather_tell_joined(failing->worker, pod, failing->result);
    } else {
        gather_withdraw(failing->worker, group, failing->counted);
    }
}

/* At the end of the call, tells the class of the pod's new place. May leave the section. */
COLD static void
tell_class(const struct failing *failing)
{
    struct worker *worker = failing->worker;
    const struct class_key key = class_of_view(queue_of(worker), &failing->view);
    const schedq_pod_t pod = entry_handle(failing->record, failing->view.life);
    uint8_t place = failing->result->place;
    bool poppable = false;

    /* a time that another call gave it since is not its class's: its turn does not end that */
    if (place == SCHEDQ_HELD && failing->class.hidden &&
        (failing->view.description.flags & DESCRIBED_BY_CLASS) != 0) {
        uint64_t ref = ref_make(version_next(failing->version), failing->record);

        poppable = class_list(worker, &key, ref, true);
    } else if (place == SCHEDQ_PARKED && failing->class.shares) {
        poppable = class_scouts(worker, &key, pod);
        if (class_slot_of(&key) == class_slot_of(&failing->class.key)) {
            failing->result->poppable |= poppable; /* both its classes have one slot */
            return;
        }
    } else if (place == SCHEDQ_PARKED) {
        poppable = class_hands_over(worker, &failing->class.key, pod);
    }
    poppable |= class_look(worker, &failing->class.key, pod);
    failing->result->poppable |= poppable;
}

/* The group is told of its member before the member is there. */
static void
announce_member(struct failing *failing)
{
    failing->joins = failing->others = true;
    failing->group = failing->view.description.group;
    failing->counted = gather_announce(failing->worker, failing->group);
}

/* Begins the failure of a pod that is a member of a group, or has a class. */
COLD static void
begin_with_others(struct failing *failing)
{
    if ((failing->view.description.flags & DESCRIBED_CLASS) != 0) {
        note_class(failing);
    }
    if (route_is_aside(&failing->view)) {
        announce_member(failing);
    }
}

/* Tells its group, or others of its class. May leave the section. */
COLD static void
tell_others(struct failing *failing, schedq_status_t status)
{
    if (failing->joins) {
        join_group(failing, status);
    } else if (status == SCHEDQ_OK) {
        tell_class(failing);
    }
}

schedq_status_t
lockfree_fail(schedq_worker_t *base, schedq_token_t *token, const schedq_failure_t *failure,
              schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    struct failing failing;

    section_begin(worker);
    failing.worker = worker;
    failing.failure = failure;
    failing.result = result;
    failing.asks_host = queue_asks_host(queue_of(worker));
    failing.activated = failing.unjudged = failing.described = failing.drawn = false;
    failing.classed = failing.joins = failing.others = false;
    failing.judged.any = failing.judged.asked = false;
    schedq_status_t status = claim(&failing, *token);

    if (status == SCHEDQ_OK) {
        if (failing.view.desc != 0 && ((failing.view.description.flags & DESCRIBED_CLASS) != 0 ||
                                       (failing.view.description.marks & MARK_MEMBER) != 0)) {
            begin_with_others(&failing);
        }
        status = fail(&failing);
        if (failing.others) {
            tell_others(&failing, status);
        }
    }
    if (status != SCHEDQ_OK) {
        status = give_token_back(&failing, token, status);
    }
    section_end(worker);
    return status;
}
