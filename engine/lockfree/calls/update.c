/*
 * update: replaces the description by one CAS on {state word, description word}; it fails if the
 * pod left its place, or ended, meanwhile. If the new description changes an active pod's place in
 * the order, the same CAS raises the lag (state.h), and the pod is published in its new place and
 * switched. A pod in flight is only described anew: its place is decided when its flight ends. A
 * name that no pod has is added (add.c). A pod that is held, or that the new description keeps
 * back, goes by hold.h.
 *
 * Of an active pod the call reads no more than the exchange, and the answer, need. What it read is
 * of the word that the exchange compares.
 *
 * LINEARIZATION. entry_describe:A. NOT_FOUND: the look at the index or the word.
 *
 * ORDERING. The word changes by a full fence (state.h, entry.h). An update in flight sets
 * FLAG_JUDGE with the description, before its events are announced: a holder that looked at the
 * stamps before fails to switch, or has parked the pod where tell_holder then finds it (events.c).
 * A pod that moves inside the order, or gets another place in backoff, is published as in
 * transfer.h.
 *
 * PROGRESS. Lock-free: every loop's further round is another thread's change of the pod, or its
 * end. A thread that stops behind entry_describe:A: describe.h; an active pod's move is finished by
 * the next call that reports or pops it, a waiting pod stays, and the update's own events are lost.
 *
 * EVIDENCE. tests/model: description, intent, park (UPDATE), walk; stress/explore: update_*,
 * told_*, lag_end, upkeep_*; tests/unit/test_update.c, test_update_threads.c, test_many_updates.c.
 */
#include "lockfree/calls/add.h"
#include "lockfree/calls/class.h"
#include "lockfree/calls/events.h"
#include "lockfree/calls/hold.h"
#include "lockfree/calls/ops.h"
#include "lockfree/moves/backoff.h"
#include "lockfree/moves/describe.h"
#include "lockfree/moves/hold.h"
#include "lockfree/moves/objects.h"
#include "lockfree/moves/settle.h"
#include "lockfree/moves/switch.h"
#include "lockfree/moves/waiting.h"

struct update {
    const schedq_pod_spec_t *spec;
    uint64_t old_object;
    const schedq_event_t *events;
    size_t event_count;
    uint32_t record;
    uint64_t life;
    /* of a pod that is not active: */
    struct view before;
    struct redescription change;
};

/* A new key, or a new priority: the pod moves in the order of its place. */
static inline bool
moves_in_order(const struct queue *queue, const struct description *before,
               const struct description *description)
{
    return description->order_key != before->order_key ||
           queue_rank(queue, description->priority) != queue_rank(queue, before->priority);
}

/* SCHEDQ_RETRY: the profile was read at the word `state`, which changed since. */
COLD static schedq_status_t
refuse_profile(struct worker *worker, const struct entry *entry, uint64_t state, uint8_t profile,
               uint8_t wanted)
{
    if (entry_state(entry) != state) {
        return SCHEDQ_RETRY;
    }
    worker_say(&worker->base, "spec.profile %u: %u, a pod keeps its profile", wanted, profile);
    return SCHEDQ_INVALID;
}

/* Has the spec neither a time nor a class? Then an active pod need not be looked at closely. */
static inline bool
is_brief(const schedq_pod_spec_t *spec)
{
    return ((uint64_t)spec->not_before_ns | spec->class_id) == 0;
}

/* ---- an active pod --------------------------------------------------------------------------- */

/* Moves the pod, whose words are `state` and `desc`; if they change first, as it is then. */
STRAIGHT void
move_active(struct worker *worker, const struct update *update, struct entry *entry, uint64_t state,
            uint64_t desc, struct band *band, int64_t key)
{
    struct transfer transfer;

    transfer.record = update->record;
    transfer.entry = entry;
    transfer.state = state;
    transfer.desc = desc;
    transfer.to = (struct destination){.place = PLACE_ACTIVE,
                                       .band = band,
                                       .bin = &band->bin,
                                       .key = key,
                                       .due = SCHEDQ_NO_DEADLINE};
    transfer_publish(worker, &transfer, CAUSE_NONE);
    if (!transfer_switch(worker, &transfer, CAUSE_NONE)) {
        (void)transfer_follow(worker, update->record, update->life);
    }
}

COLD static schedq_status_t update_more(struct worker *worker, struct entry *entry, uint64_t state,
                                        const struct update *update, schedq_result_t *result);

/* Was the pod, as it was before, the scout of its class? May leave the section. */
COLD static void
look_at_class(struct worker *worker, const struct update *update, const struct view *before,
              schedq_result_t *result)
{
    const struct class_key key = class_of_view(queue_of(worker), before);

    result->poppable |= class_look(worker, &key, entry_handle(update->record, update->life));
}

/*
 * What is read is of the word `state` if the exchange finds it. `more`: the spec has a time, which
 * is past, or a class, or the pod has a label or a class. SCHEDQ_RETRY: the pod changed meanwhile.
 */
STRAIGHT schedq_status_t
update_active(struct worker *worker, struct entry *entry, uint64_t state, bool more,
              const struct update *update, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    const schedq_pod_spec_t *spec = update->spec;
    struct view before;

    report_brief(queue, entry, state, &before);
    if (before.life != update->life) {
        return SCHEDQ_RETRY;
    }
    if (before.profile != spec->profile) {
        return refuse_profile(worker, entry, state, before.profile, spec->profile);
    }
    if (!more && (before.description.marks & MARK_LABEL) != 0) {
        return update_more(worker, entry, state, update, result);
    }
    struct description description = before.description;

    describe_as(&description, spec, before.history.timestamp_ns);
    if (more) {
        describe_class(&description, &before.description, spec->class_id);
    } else {
        description.marks &= MARK_OWN_KEY; /* so the compiler knows that no more is stored */
    }
    struct band *band = publish_band(worker, spec->priority);
    bool described = moves_in_order(queue, &before.description, &description);
    /* An update that came before, and stopped before it moved the pod, is finished here too. */
    bool moves = described || state_lag(state) != 0;

    if (described && state_lag_is_at_end(state)) {
        return transfer_follow(worker, update->record, update->life) ? SCHEDQ_RETRY : SCHEDQ_NOMEM;
    }
    if (band == NULL || (moves && !publish_prepare(worker, &band->bin))) {
        return SCHEDQ_NOMEM;
    }
    bool renominates = describe_names_node(&before.description, &description);

    if (renominates) {
        const struct description old = before.description; /* copies: the others have no address */
        struct description new = description;

        if (!describe_nominate(worker, update->record, update->life, &old, &new)) {
            return SCHEDQ_NOMEM;
        }
        description = new;
    }
    uint64_t word = described ? state_described(state) : state, desc = before.desc;
    schedq_status_t status =
        describe_swap(worker, entry, state, word, &description, &before.gating, &desc);

    if (status != SCHEDQ_OK) {
        if (renominates) {
            describe_end(worker, &description);
        }
        return status;
    }
    if (renominates) {
        describe_end(worker, &before.description);
    }
    object_release(worker, before.description.object);
    if (moves) {
        move_active(worker, update, entry, word, desc, band, description.order_key);
    } else if (band->id != state_band(state) || !publish_mark(worker, band)) {
        (void)transfer_follow(worker, update->record, update->life);
    }
    report_told(update->record, &before, result);
    result->place = SCHEDQ_ACTIVE;
    if (more) {
        look_at_class(worker, update, &before, result);
    }
    return SCHEDQ_OK;
}

COLD static schedq_status_t
update_more(struct worker *worker, struct entry *entry, uint64_t state, const struct update *update,
            schedq_result_t *result)
{
    return update_active(worker, entry, state, true, update, result);
}

/* ---- a pod in flight, or one that waits ------------------------------------------------------ */

/*
 * Where only a host takes pods out of backoff, their order means nothing, and a walk could miss a
 * pod that moved.
 */
static bool
moves_in_backoff(const struct queue *queue, const struct view *before,
                 const struct description *description)
{
    return place_backs_off(state_place(before->state)) &&
           moves_in_order(queue, &before->description, description) &&
           (!queue->base.rules.host || queue->base.rules.pop_from_backoff);
}

/* The lag is at its end: it ends when the pod is moved. False: no memory. */
COLD static bool
end_lag(struct worker *worker, const struct update *update)
{
    if (place_waits_for_event(state_place(update->before.state)) &&
        !queue_of(worker)->base.rules.host) {
        return events_help(worker, update->record, update->life);
    }
    return transfer_follow(worker, update->record, update->life);
}

/*
 * Makes room for the pod in its new place, before the description is installed: while a pod that
 * backs off has a new description in its old place, runs that are merged to make room come out in
 * no order. False: no memory.
 */
RARELY static bool
prepare_new_place(struct worker *worker, const struct update *update,
                  const struct description *description, struct transfer *transfer)
{
    const struct view *before = &update->before;
    const struct way way = {.place = state_place(before->state), .gate = before->gate};
    struct view planned = *before;

    planned.description = *description;
    return transfer_prepare(worker, update->record, &planned, &way, before->history.timestamp_ns,
                            transfer);
}

/*
 * A holder that is about to switch the pod has to decide again; a waiting pod gets another version.
 * SCHEDQ_RETRY: the pod changed meanwhile.
 */
static schedq_status_t
install_update(struct worker *worker, struct update *update)
{
    struct queue *queue = queue_of(worker);
    struct view *before = &update->before;
    bool flies = state_place(before->state) == PLACE_INFLIGHT;
    struct redescription *change = &update->change;
    struct transfer transfer; /* if it follows */

    if (!flies && state_lag_is_at_end(before->state)) {
        return end_lag(worker, update) ? SCHEDQ_RETRY : SCHEDQ_NOMEM;
    }
    *change = describe_begin(before);
    describe_by_spec(change, before, update->spec);
    if (!flies || queue->base.rules.nominate == NOMINATE_AT_ADD) {
        describe_renominate(change, before);
    }
    change->word = flies ? before->state | FLAG_JUDGE : state_described(before->state);
    bool follows = moves_in_backoff(queue, before, &change->description);

    if (follows && !prepare_new_place(worker, update, &change->description, &transfer)) {
        return SCHEDQ_NOMEM;
    }
    if (place_waits_for_event(state_place(before->state)) &&
        (update->spec->flags & SCHEDQ_POD_AFFINITY) != 0) {
        lots_note_affinity(&queue->waiting.lots, before->profile, before->unschedulable,
                           before->pending);
    }
    schedq_status_t status = describe_install(worker, update->record, before, change);

    if (status == SCHEDQ_OK && follows) {
        transfer.state = change->word;
        transfer.desc = change->desc;
        transfer_publish(worker, &transfer, CAUSE_NONE);
        if (!transfer_switch(worker, &transfer, CAUSE_NONE)) {
            (void)transfer_follow(worker, update->record, update->life);
        }
    }
    return status;
}

/* ---- what an update means to those that wait, and to those in flight ------------------------- */

/* mover.decide: without hints any event is worth another attempt. */
static bool
decide_without_hints(struct mover *mover, const struct view *view, struct way *way)
{

    if (!place_waits_for_event(state_place(view->state))) {
        return false;
    }
    *way = route_after_backoff(mover->worker, view, mover->now);
    return true;
}

static bool
decide_by_event(struct mover *mover, const struct view *view, struct way *way)
{
    const struct cluster_event *event = mover->ctx;

    if (!place_waits_for_event(state_place(view->state))) {
        return false;
    }
    struct cluster_event now = *event;

    now.new_object = view->description.object;
    enum strategy strategy = events_judge(mover->worker, view, &now);

    if (strategy == STRATEGY_SKIP) {
        return false;
    }
    *way = route_by_strategy(mover->worker, view, strategy, mover->now);
    return true;
}

/* Is any of the pod's rejectors to be asked about the event? */
static bool
reaches(const struct queue *queue, const struct view *view, schedq_event_t event)
{
    uint64_t rejectors = view->unschedulable | view->pending;

    return rejectors == 0 ||
           (rejectors & registry_reached(&queue->base.registry, view->profile, event)) != 0;
}

/*
 * Is the change worth another attempt of a parked or gated pod? The first event that moves the pod
 * is the last that is tried.
 */
static void
retry_updated(struct worker *worker, const struct update *update, struct view *now,
              schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    const struct rules *rules = &queue->base.rules;
    struct cluster_event event = {.old_object = update->old_object};
    struct mover mover = {
        .worker = worker,
        .now = queue_now(queue),
        .label = rules->counts_updates ? LABEL_POD_UPDATE : NO_LABEL,
        .tells = true,
        .alone = true,
        .asks_host = queue_asks_host(queue),
        /* settle_told asked twice at most */
        .asks = worker->told == ref_make(update->life, update->record) ? ASKS_MAX - 1 : 0,
        .result = result,
        .decide = rules->hints ? decide_by_event : decide_without_hints,
        .ctx = &event};

    mover_begin(&mover);
    for (size_t i = 0; i < update->event_count && place_waits_for_event(state_place(now->state));
         i++) {
        if (rules->hints && !reaches(queue, now, update->events[i])) {
            continue;
        }
        if (rules->hints) {
            event.event = update->events[i];
            mover.label = registry_label(&queue->base.registry, event.event);
            mover.counts = true;
        }
        result->gate = now->gate; /* for report_updated: backoff may keep the gate */
        mover_try(&mover, update->record, now);
        mover_end(&mover);
        if (i + 1 == update->event_count || !rules->hints ||
            !report_view(queue, update->record, update->life, now)) {
            break;
        }
    }
}

/*
 * Announces the events, then looks at the pod again: its holder may have parked it before it could
 * see the stamps, or have looked at the stamps before and be about to park it.
 */
static void
tell_holder(struct worker *worker, const struct update *update, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    struct view now;

    for (size_t i = 0; i < update->event_count; i++) {
        events_announce(worker, &(struct cluster_event){.event = update->events[i],
                                                        .old_object = update->old_object,
                                                        .new_object = update->spec->object});
    }
    if (events_judge_again(queue, update->record, update->life, &now)) {
        retry_updated(worker, update, &now, result);
    }
}

/*
 * A parked or gated pod that its events moved; `now` is the pod as it is, NULL if it is not any
 * more.
 */
static void
report_retried(const struct queue *queue, const struct view *before, const struct view *now,
               uint8_t moved_with, schedq_result_t *result)
{
    if (result->to_active > 0) {
        result->place = SCHEDQ_ACTIVE;
        result->gate = 0;
    } else if (result->to_backoff > 0) {
        result->place =
            (uint8_t)place_public(backoff_place(queue, before->unschedulable | before->pending));
        result->gate = queue->base.rules.pop_from_backoff ? 0 : moved_with; /* as route.c has it */
    } else if (result->to_gated > 0 || result->place == SCHEDQ_GATED) {
        bool is_gated = now != NULL && state_place(now->state) == PLACE_GATED;

        result->place = SCHEDQ_GATED;
        result->gate = is_gated ? now->gate : before->gate;
    }
}

/*
 * Tells where this call put the pod, or left it: it may be elsewhere by now. Of a pod that was in
 * flight no later move is told: it belongs to another stay. Two things are told of the pod as it is
 * now: a host's newest ref, and the gate behind which an event brought the pod.
 */
static void
report_updated(const struct queue *queue, const struct update *update, schedq_result_t *result)
{
    const struct view *before = &update->before;
    struct view now;
    /* to_gated does not count a gated pod that another gate refuses now */
    bool is_gated = result->to_gated > 0 || state_place(before->state) == PLACE_GATED;
    bool exists = (queue->base.rules.host || is_gated) &&
                  report_view(queue, update->record, update->life, &now);
    /* one event may have brought it behind a gate, and the next away from there */
    uint8_t moved_with = result->gate;

    report_pod(queue, update->record, before, result);
    if (queue->base.rules.host && state_is_candidate(before->state)) {
        bool stays = exists && state_place(now.state) == state_place(before->state);

        result->ref =
            ref_make(state_version(stays ? now.state : update->change.word), update->record);
    }
    if (place_waits_for_event(state_place(before->state))) {
        report_retried(queue, before, exists ? &now : NULL, moved_with, result);
    }
}

static void
follow_up(struct worker *worker, const struct update *update, schedq_result_t *result)
{
    const struct rules *rules = &queue_of(worker)->base.rules;

    if (rules->host || update->event_count == 0) {
        return;
    }
    if (state_place(update->before.state) == PLACE_INFLIGHT) {
        if (rules->hints) {
            tell_holder(worker, update, result);
        }
    } else if (place_waits_for_event(state_place(update->before.state))) {
        struct view now = update->before;

        now.state = update->change.word;
        now.desc = update->change.desc;
        now.description = update->change.description;
        retry_updated(worker, update, &now, result);
    }
}

/* ---- a pod that is held, or will be ---------------------------------------------------------- */

/* SCHEDQ_RETRY: it changed. */
COLD static schedq_status_t
update_kept(struct worker *worker, struct update *update, int64_t now, schedq_result_t *result)
{
    const struct queue *queue = queue_of(worker);
    const struct view *before = &update->before;
    struct redescription change = describe_begin(before);

    describe_by_spec(&change, before, update->spec);
    describe_renominate(&change, before);
    schedq_status_t status = hold_install(worker, update->record, before, &change, now, result);

    if (status != SCHEDQ_OK) {
        return status;
    }
    struct view held = *before;
    bool leaves = !description_keeps(&change.description, now);

    held.state = change.word;
    if (leaves) {
        hold_leave(worker, update->record, update->life, result);
    }
    hold_report(queue, update->record, &held, leaves, result);
    result->object = before->description.object;
    result->unschedulable = before->unschedulable;
    result->pending = before->pending;
    return SCHEDQ_OK;
}

/* Is the pod held, or about to be? */
static bool
is_kept(const struct queue *queue, const struct update *update, int64_t *now)
{
    enum place place = state_place(update->before.state);
    int64_t not_before = update->spec->not_before_ns;

    if (place == PLACE_INFLIGHT || (place != PLACE_HELD && not_before == 0)) {
        return false;
    }
    *now = queue_now(queue);
    return place == PLACE_HELD || not_before > *now;
}

/* No container has a ref of the pod: one exchange is all. SCHEDQ_RETRY: it changed. */
COLD static schedq_status_t
update_aside(struct worker *worker, struct update *update, schedq_result_t *result)
{
    const struct view *before = &update->before;
    struct redescription change = describe_begin(before);

    describe_by_spec(&change, before, update->spec);
    describe_renominate(&change, before);
    /* like an active pod, it is not asked about again */
    change.word = state_switched(before->state, 0, PLACE_ASIDE) | (before->state & FLAGS_ASIDE);
    schedq_status_t status = describe_install(worker, update->record, before, &change);

    if (status != SCHEDQ_OK) {
        return status;
    }
    report_pod(queue_of(worker), update->record, before, result);
    /* its group's record hears of the update as a waiting pod does */
    for (size_t i = 0; !queue_of(worker)->base.rules.host && i < update->event_count; i++) {
        const struct cluster_event event = {.event = update->events[i],
                                            .old_object = update->old_object,
                                            .new_object = update->spec->object};

        if (events_help_group(worker, before->description.group, &event, result)) {
            break;
        }
    }
    return status;
}

/* `before` shows the pod. */
STRAIGHT schedq_status_t
update_seen(struct worker *worker, struct update *update, schedq_result_t *result)
{
    struct view *before = &update->before;
    int64_t now;

    if (before->profile != update->spec->profile) {
        return refuse_profile(worker, before->entry, before->state, before->profile,
                              update->spec->profile);
    }
    if (is_kept(queue_of(worker), update, &now)) {
        return update_kept(worker, update, now, result);
    }
    if (state_place(before->state) == PLACE_ASIDE) {
        return update_aside(worker, update, result);
    }
    if (state_place(before->state) == PLACE_ACTIVE) {
        return is_brief(update->spec)
                   ? SCHEDQ_RETRY
                   : update_more(worker, before->entry, before->state, update, result);
    }
    /* settle_told may ask its gates; meanwhile another thread may hold it, or let it in */
    if (state_place(before->state) == PLACE_GATED &&
        (!settle_told(worker, update->record, before) ||
         state_place(before->state) != PLACE_GATED)) {
        return SCHEDQ_RETRY;
    }
    schedq_status_t status = install_update(worker, update);

    if (status == SCHEDQ_OK) {
        follow_up(worker, update, result);
        report_updated(queue_of(worker), update, result);
    }
    return status;
}

/* The pod is not active, or may be kept back. SCHEDQ_RETRY: it changed. */
__attribute__((noinline)) static schedq_status_t
update_other(struct worker *worker, struct update *update, schedq_result_t *result)
{
    if (!report_view(queue_of(worker), update->record, update->life, &update->before)) {
        return SCHEDQ_RETRY;
    }
    schedq_status_t status = update_seen(worker, update, result);

    if (status == SCHEDQ_OK && description_class(&update->before.description) != 0) {
        look_at_class(worker, update, &update->before, result);
    }
    return status;
}

/* ---- the call -------------------------------------------------------------------------------- */

/* SCHEDQ_NOT_FOUND: no pod has this name, or another than the one that is meant. */
STRAIGHT schedq_status_t
update_present(struct worker *worker, const struct hashed_name *name, struct update *update,
               schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    const struct index_caller caller = index_caller(worker);
    schedq_status_t status = SCHEDQ_RETRY;

    /* Ends: each further round is another thread's change of the pod, or its end. */
    while (status == SCHEDQ_RETRY) {
        update->record = index_find(&queue->index, &caller, name, &update->life);
        if (update->record == 0 ||
            spec_means_another(update->spec, entry_handle(update->record, update->life))) {
            return SCHEDQ_NOT_FOUND;
        }
        struct entry *entry = entry_at(&queue->entries, update->record);

        if (entry != NULL) {
            uint64_t state = entry_state(entry);

            status = state_place(state) == PLACE_ACTIVE && is_brief(update->spec)
                         ? update_active(worker, entry, state, false, update, result)
                         : update_other(worker, update, result);
        }
    }
    return status;
}

/* True: another call added it first. */
COLD static bool
add_unknown(struct worker *worker, const struct hashed_name *name, const schedq_pod_spec_t *spec,
            schedq_result_t *result, schedq_status_t *status)
{
    const schedq_pod_spec_t added = spec_of_pod(spec);
    const struct incoming_pod pod = {
        .spec = &added, .label = rules_label_of_addition(&queue_of(worker)->base.rules)};
    struct index_found present;

    if ((spec->flags & SCHEDQ_POD_ADD) == 0) {
        return false;
    }
    *status = add_one(worker, name, &pod, result, &present);
    result->added = *status == SCHEDQ_OK;
    return *status == SCHEDQ_EXISTS;
}

schedq_status_t
lockfree_update(schedq_worker_t *base, const struct hashed_name *name,
                const schedq_pod_spec_t *spec, uint64_t old_object, const schedq_event_t *events,
                size_t count, schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    struct update update; /* the rest is set when the pod is found */

    update.spec = spec;
    update.old_object = old_object;
    update.events = events;
    update.event_count = count;
    section_begin(worker);
    queue_sweep(worker);
    object_retain(queue, spec->object);
    schedq_status_t status;

    /*
     * Ends: between "not there" and "exists" another call added it, between "exists" and "not
     * there" another ended it.
     */
    do {
        status = update_present(worker, name, &update, result);
    } while (status == SCHEDQ_NOT_FOUND && add_unknown(worker, name, spec, result, &status));
    if (status == SCHEDQ_OK && !result->added) {
        tally_add(&worker->tally.updates, 1);
    } else {
        object_give_back(queue, spec->object); /* add_one took its own */
    }
    section_end(worker);
    return status;
}
