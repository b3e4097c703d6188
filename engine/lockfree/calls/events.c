/*
 * notify and assigned_pod_*, and event_begin and event_stamp of a host: pods in flight are told
 * first, then the lots that the event reaches are read, and each pod in them is judged by its own
 * rejectors.
 *
 * NO EVENT IS MISSED. An event: draw, log, stamps, FENCE, read lots. A holder that parks: note the
 * sequence, judge, publish in the lot, FENCE, read the stamps, switch. Either the event's reader
 * meets the published ref and disturbs its holder (mover.h), or the holder sees the stamp; both
 * make the holder judge again. The holder compares the stamps with what its judgement covered: the
 * sequence that it noted if it read the log, else `seen`, because an event that had drawn its
 * number before the holder noted the sequence may have raised no stamp yet.
 *
 * A pod that a gate refuses again is published anew in a lot while the walk goes on. The walk ends
 * in its own worker's lanes at the newest insertion there was when it began, so it meets no pod
 * twice by its own doing. In other workers' lanes it ends at the newest insertion that there was
 * when it came there: else it would not end as long as those workers' events have gates asked,
 * slowly. A pod that they publish later was compared with this event's stamp.
 *
 * LINEARIZATION. Of an event's number: stamps_draw:A. Of what it does to a waiting pod: the switch.
 * To one in flight: the stamp, or the flag.
 *
 * ORDERING
 *   stamps_draw:A, log, stamps_raise:A, announce:A, lots | the holder's steps (stamps.c)
 *   stamps_draw:A, stamps_raise:A, lockfree_event_stamp:A, candidates | the same, for hosts
 *   stamps_raise:A, announce:A, others_used | count_failure:A, ref, transfer_announce:A,
 *           stamps
 *   stamps_raise:A, announce:A, the lot's affinity | lot_note_affinity, ref, stamps
 *   events_activate_in_flight:A, events_judge_again:A -> still_flies
 *       if the holder does not see the flag, its switch fails
 * The sum over the tallies orders nothing: the holder of a pod that it misses finds a gap in the
 * log, and a gap counts as help.
 *
 * PROGRESS. Lock-free. A walk is as long as what was in the lots when it came to them; a pod is
 * tried again only if another thread changed it, or an event reached its gate. A thread that stops
 * before its stamps has announced no event. One that stops behind them leaves pods in lots that it
 * did not reach, and the next event, or the limit, finds them there; what it had published and not
 * switched is FUTURE in its bin, and a helper finishes it (transfer.h says when).
 *
 * EVIDENCE. tests/model: park, gate, event_log; stress/explore: event_park*, event_update,
 * event_log, event_lots, event_gate*, activate_fail, batch_moves, batch_losers; stress/history:
 * missed events; tests/conformance; tests/unit/test_move.c, test_move_threads.c,
 * test_assigned_pod.c, test_failure.c, test_gates.c.
 */
#include "lockfree/calls/events.h"

#include "lockfree/calls/ops.h"
#include "lockfree/moves/gather_record.h"
#include "lockfree/moves/stray.h"
#include "platform/inside.h"
#include "plugins/narrow.h"

#include <string.h>

/* ---- telling those in flight ----------------------------------------------------------------- */

/*
 * Relaxed: a holder that has not counted its pod yet finds a gap in the log, which counts as help.
 */
static bool
anybody_flies(const struct queue *queue)
{
    uint64_t inflight = u64_load(&queue->guests.inflight);

    for (uint32_t i = 0; i < queue_counters(queue); i++) {
        const struct worker *worker = queue_counter(queue, i);

        inflight += worker != NULL ? u64_load(&worker->tally.inflight) : 0;
    }
    return inflight != 0;
}

/*
 * Raises the stamps of every profile. Returns the plugins that the event concerns, of all profiles
 * together.
 */
static uint64_t
stamp_profiles(struct queue *queue, schedq_event_t event, uint64_t sequence)
{
    const struct registry *registry = &queue->base.registry;
    uint64_t all = 0;

    for (uint32_t i = 0; i < registry_profile_count(registry); i++) {
        uint64_t reached = registry_reached(registry, (schedq_profile_t)i, event);

        stamps_raise(&queue->stamps, (schedq_profile_t)i, reached, sequence);
        all |= reached;
    }
    return all;
}

/* Without hints, a holder asks only whether an event moved pods since. */
static void
raise_moved(struct queue *queue, uint64_t sequence)
{
    if (!queue->base.rules.hints) {
        stamps_raise_moved(&queue->stamps, sequence);
    }
}

static uint64_t
announce(struct worker *worker, const struct cluster_event *event, bool registered)
{
    struct queue *queue = queue_of(worker);
    uint64_t sequence = stamps_draw(&queue->stamps);

    if (anybody_flies(queue)) {
        /* No hint will ask for the objects of an event that is not registered. */
        event_log_write(&queue->log, worker->hazard, sequence, event->event,
                        registered ? event->old_object : 0, registered ? event->new_object : 0);
    }
    uint64_t reached = stamp_profiles(queue, event->event, sequence);

    if (registered || !queue->base.rules.ignores_unregistered) {
        raise_moved(queue, sequence);
    }
    atomic_fence(); /* announce:A, between the stamps and the looks at lots */
    return reached;
}

void
events_announce(struct worker *worker, const struct cluster_event *event)
{
    (void)announce(worker, event,
                   registry_is_registered(&queue_of(worker)->base.registry, event->event));
}

/* ---- judging --------------------------------------------------------------------------------- */

static enum strategy
judge(struct worker *worker, const struct view *view, const struct event_record *record)
{
    const schedq_t *base = &queue_of(worker)->base;
    const struct requeue_question question = {.pod = view->description.object,
                                              .old_object = record->old_object,
                                              .new_object = record->new_object,
                                              .unschedulable = view->unschedulable,
                                              .pending = view->pending,
                                              .ask = base->rules.hints,
                                              .opaque = record->opaque};
    uint64_t calls = 0;
    enum strategy strategy =
        registry_judge(&base->registry, view->profile, record->event, &question, &calls);

    tally_add(&worker->tally.hint_calls, calls);
    return strategy;
}

enum strategy
events_judge(struct worker *worker, const struct view *view, const struct cluster_event *event)
{
    const struct event_record record = {
        .event = event->event, .old_object = event->old_object, .new_object = event->new_object};

    return judge(worker, view, &record);
}

static enum strategy
judge_record(struct worker *worker, const struct view *view, uint64_t sequence)
{
    struct queue *queue = queue_of(worker);
    struct event_record record;

    if (!event_log_read(&queue->log, worker->hazard, sequence, &record)) {
        return STRATEGY_AFTER_BACKOFF;
    }
    enum strategy strategy = judge(worker, view, &record);

    event_log_unpin(&queue->log, worker->hazard);
    return strategy;
}

static enum strategy
judge_log(struct worker *worker, const struct view *view, const struct verdict_on_flight *before,
          uint64_t newest)
{
    const struct queue *queue = queue_of(worker);
    uint64_t kept = queue->log.size, from = before->up_to;
    enum strategy best = before->strategy;

    if (newest - from > kept) {
        best = best > STRATEGY_AFTER_BACKOFF ? best : STRATEGY_AFTER_BACKOFF;
        from = newest - kept;
    }
    for (uint64_t i = from + 1; i <= newest && best < requeue_strongest(view->pending); i++) {
        enum strategy strategy = judge_record(worker, view, i);

        best = strategy > best ? strategy : best;
    }
    return best;
}

void
events_judge_newer(struct worker *worker, const struct view *view, uint64_t drawn,
                   struct verdict_on_flight *verdict)
{
    const struct rules *rules = &queue_of(worker)->base.rules;

    verdict->strategy = !rules->hints || events_is_error(view)
                            ? STRATEGY_AFTER_BACKOFF
                            : judge_log(worker, view, verdict, drawn);
    verdict->up_to = drawn;
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* What the event means to all pods that have this in common, unless the host is asked by hints. */
struct judgement {
    bool known;
    uint8_t profile, gate;
    uint64_t unschedulable, pending;
    bool reaches;           /* the event reaches a rejector, and the gate */
    enum strategy strategy; /* if it reaches, and no hint is to be asked */
};

struct walk {
    struct mover mover;
    struct cluster_event event;
    const schedq_change_t *change;
    const struct assigned_pod *assigned;  /* NULL: every pod is a candidate */
    const struct schedq_pod_list *listed; /* NULL: the same */
    bool helps;                           /* the event helps a group, whatever its members say */
    bool asks;                            /* hints are asked about each pod */
    /* what follows is of the profile that was asked for last */
    bool knows_profile;
    schedq_profile_t profile;
    uint64_t reached;
    struct judgement last;
    int64_t newest_insertion; /* of the worker's own, before the walk */
};

static const struct queue *
queue_of_walk(const struct walk *walk)
{
    return queue_of(walk->mover.worker);
}

static bool
gate_hears(const struct walk *walk, schedq_profile_t profile, uint8_t gate)
{
    return registry_gate_hears(&queue_of_walk(walk)->base.registry, profile, gate,
                               walk->event.event);
}

/*
 * Copies the name of the pod that `view` shows. If the pod is over by now, another name, or none:
 * that does no harm.
 */
static void
copy_name(struct worker *worker, const struct view *view, char name[SCHEDQ_NAME_MAX + 9])
{
    bool outside = worker->outside;

    if (outside) {
        section_resume(worker);
    }
    names_copy(view_words(queue_of(worker), view), name, view->name_length);
    if (outside) {
        section_pause(worker);
    }
}

static bool
in_namespace(struct worker *worker, const struct view *view, const struct assigned_pod *assigned)
{
    char name[SCHEDQ_NAME_MAX + 9];

    if (view->name_length <= assigned->namespace_length) {
        return false;
    }
    copy_name(worker, view, name);
    return name[assigned->namespace_length] == '/' &&
           memcmp(name, assigned->namespace_name, assigned->namespace_length) == 0;
}

static bool
concerns_assigned(const struct walk *walk, const struct view *view)
{
    const schedq_t *base = &queue_of_walk(walk)->base;

    if ((view->unschedulable & registry_spread(&base->registry, view->profile)) != 0 &&
        in_namespace(walk->mover.worker, view, walk->assigned)) {
        return true;
    }
    if ((view->description.flags & SCHEDQ_POD_AFFINITY) == 0 ||
        base->config.affinity_matches == NULL) {
        return false;
    }
    inside_calls(CALLBACK_AFFINITY);
    bool matches = base->config.affinity_matches(base->config.object_ctx, view->description.object,
                                                 walk->change->new_object) != 0;

    inside_calls(CALLBACK_NONE);
    return matches;
}

STRAIGHT bool
is_candidate(const struct walk *walk, const struct view *view)
{
    if (walk->assigned != NULL && !concerns_assigned(walk, view)) {
        return false;
    }
    if (walk->change->precheck == NULL) {
        return true;
    }
    inside_calls(CALLBACK_PRECHECK);
    bool passes = walk->change->precheck(walk->change->precheck_ctx, view->description.object) != 0;

    inside_calls(CALLBACK_NONE);
    return passes;
}

/* The registry is asked once for many lots and pods of one profile. */
static bool
is_reached(struct walk *walk, schedq_profile_t profile, uint64_t rejectors)
{
    if (!walk->knows_profile || walk->profile != profile) {
        walk->reached =
            registry_reached(&queue_of_walk(walk)->base.registry, profile, walk->event.event);
        walk->profile = profile;
        walk->knows_profile = true;
    }
    return rejectors == 0 || (rejectors & walk->reached) != 0;
}

/* Can any pod of this lot be a candidate? In the catch-all each pod is judged by itself. */
static bool
lot_is_reached(struct walk *walk, const struct lot *lot)
{
    const struct registry *registry = &queue_of_walk(walk)->base.registry;

    if (lot->catch_all) {
        return true;
    }
    if (!is_reached(walk, lot->key.profile, lot->key.unschedulable | lot->key.pending)) {
        return false;
    }
    if (walk->assigned != NULL && !lot_may_have_affinity(lot) &&
        (lot->key.unschedulable & registry_spread(registry, lot->key.profile)) == 0) {
        return false;
    }
    return gate_hears(walk, lot->key.profile, lot->key.gate);
}

__attribute__((noinline)) static void
judge_like(struct walk *walk, const struct view *view)
{
    walk->last = (struct judgement){
        .known = true,
        .profile = view->profile,
        .gate = view->gate,
        .unschedulable = view->unschedulable,
        .pending = view->pending,
        .reaches = is_reached(walk, view->profile, view->unschedulable | view->pending) &&
                   gate_hears(walk, view->profile, view->gate)};
    if (walk->last.reaches && !walk->asks) {
        walk->last.strategy = events_judge(walk->mover.worker, view, &walk->event);
    }
    walk->mover.like = (struct mover_like){
        .known = walk->last.reaches && !walk->mover.asks_host && walk->assigned == NULL &&
                 walk->listed == NULL && walk->last.strategy != STRATEGY_SKIP,
        .profile = view->profile,
        .strategy = walk->last.strategy,
        .unschedulable = view->unschedulable,
        .pending = view->pending};
}

/* The judgement of the pod that `view` shows: the last one, for most pods of a lot. */
static inline const struct judgement *
judgement_of(struct walk *walk, const struct view *view)
{
    const struct judgement *last = &walk->last;

    if (!last->known || last->unschedulable != view->unschedulable ||
        last->pending != view->pending || last->profile != view->profile ||
        last->gate != view->gate) {
        judge_like(walk, view);
    }
    return last;
}

/*
 * The answer of the plugins that are to be asked about the pod; SKIP for a pod that is on no list.
 */
COLD static enum strategy
judge_listed(struct walk *walk, const struct view *view)
{
    struct worker *worker = walk->mover.worker;
    char name[SCHEDQ_NAME_MAX + 9];
    struct view seen = *view;
    uint64_t silent;

    copy_name(worker, view, name);
    bool skips = !narrow_concerns(walk->listed, view->profile, name, view->name_length, &silent) ||
                 !is_candidate(walk, view) ||
                 narrow_skips(silent, &seen.unschedulable, &seen.pending);

    return skips ? STRATEGY_SKIP : events_judge(worker, &seen, &walk->event);
}

/* What an event means to a group: the strongest answer of its members, all of which are asked. */
struct members {
    struct walk *walk;
    enum strategy best;
    bool any_known, any_passes;
};

/* gather_each_fn */
static bool
passes(void *ctx, const struct view *member)
{
    struct members *members = ctx;

    members->any_passes |= is_candidate(members->walk, member);
    return true;
}

/* gather_each_fn */
static bool
judge_member(void *ctx, const struct view *member)
{
    struct members *members = ctx;
    struct worker *worker = members->walk->mover.worker;
    bool known = (member->unschedulable | member->pending) != 0;

    members->any_known |= known;
    if (known || queue_of(worker)->base.rules.groups_as_kube) {
        members->best =
            group_stronger(members->best, events_judge(worker, member, &members->walk->event));
    }
    return true;
}

/*
 * A member that nothing rejected failed because its group did. In kube any event helps such a
 * member; else only if nothing rejected any of the others either. Pre-queueing hints narrow no
 * group. Without memory to ask, the event helps.
 */
COLD static enum strategy
judge_members(struct walk *walk, const struct view *view)
{
    struct members members = {.walk = walk, .best = STRATEGY_SKIP};
    struct worker *worker = walk->mover.worker;

    if ((walk->assigned != NULL || walk->change->precheck != NULL) &&
        gather_each(worker, view->seen, passes, &members) && !members.any_passes) {
        return STRATEGY_SKIP;
    }
    if (!gather_each(worker, view->seen, judge_member, &members) || !members.any_known) {
        return group_stronger(members.best, STRATEGY_AFTER_BACKOFF);
    }
    return members.best;
}

/* One round. AGAIN: the record changed. */
static enum gather_step
help_group_once(struct worker *worker, uint64_t number, const struct cluster_event *event,
                schedq_result_t *result, bool *ends)
{
    struct queue *queue = queue_of(worker);
    struct walk walk;
    struct members members = {.walk = &walk, .best = STRATEGY_SKIP};
    const uint64_t asked = stamps_drawn(&queue->stamps);
    struct group_found root;

    walk.mover.worker = worker;
    walk.event = *event;
    if (!gather_root(worker, number, &root) ||
        !place_waits_for_event(state_place(root.view.state))) {
        *ends = true;
        return GATHER_DONE;
    }
    section_pause(worker);
    bool read = gather_each(worker, root.view.seen, judge_member, &members);

    section_resume(worker);
    if (!read || !members.any_known) {
        members.best = group_stronger(members.best, STRATEGY_AFTER_BACKOFF);
    }
    if (members.best == STRATEGY_SKIP) {
        return GATHER_DONE;
    }
    const struct way way = gather_way(worker, &root.view, members.best != STRATEGY_IMMEDIATELY);

    if (gather_stays_gated(queue, &root.view, &way)) {
        return GATHER_DONE;
    }
    bool named = members.best == STRATEGY_IMMEDIATELY ? way.place == PLACE_READY
                                                      : place_backs_off(way.place);
    const uint32_t cause = cause_of(registry_label(&queue->base.registry, event->event), false) |
                           (named ? CAUSE_NAMED : 0);
    enum gather_step step = gather_bring_queued(worker, &root, &way, asked, cause, result);

    *ends = step == GATHER_DONE && !place_waits_for_event(way.place);
    tally_add(&worker->tally.moves, *ends ? 1 : 0);
    return step;
}

bool
events_help_group(struct worker *worker, uint64_t number, const struct cluster_event *event,
                  schedq_result_t *result)
{
    enum gather_step step = GATHER_AGAIN;
    bool ends = false;

    /*
     * Ends: each further round is another thread's change of the record, or an event of its gate.
     */
    while (step == GATHER_AGAIN) {
        step = help_group_once(worker, number, event, result, &ends);
    }
    if (step == GATHER_NOMEM) {
        stray_leave_short(queue_of(worker), STRAY_UNJUDGED);
    }
    return ends;
}

/* mover.decide. Pods in backoff come here only as targets, and are left alone. */
static bool
decide_reached(struct mover *mover, const struct view *view, struct way *way)
{
    struct walk *walk = mover->ctx;

    if (!place_waits_for_event(state_place(view->state))) {
        return false;
    }
    const struct judgement *like = judgement_of(walk, view);

    if (view_is_group(view)) {
        enum strategy strategy = walk->helps     ? STRATEGY_AFTER_BACKOFF
                                 : like->reaches ? judge_members(walk, view)
                                                 : STRATEGY_SKIP;

        if (strategy != STRATEGY_SKIP) {
            *way = route_by_strategy(mover->worker, view, strategy, mover->now);
        }
        return strategy != STRATEGY_SKIP;
    }
    if (!like->reaches || (walk->listed == NULL && !is_candidate(walk, view))) {
        return false;
    }
    enum strategy strategy = walk->listed != NULL ? judge_listed(walk, view)
                             : walk->asks         ? events_judge(mover->worker, view, &walk->event)
                                                  : like->strategy;

    if (strategy == STRATEGY_SKIP) {
        return false;
    }
    *way = route_by_strategy(mover->worker, view, strategy, mover->now);
    return true;
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* Reads the lot that the walk came to. False: there was no pod. */
static bool
walk_lot(struct mover *mover, const struct lots_walk *lots, struct lot *lot,
         int64_t newest_insertion)
{
    struct worker *worker = mover->worker;
    const struct bin_caller caller = bin_caller(worker);
    struct lot_reader reader;
    struct lane_ref *refs = mover->batch->read.refs;
    bool any = false;
    size_t count;

    lot_read_begin(&reader, lot, &caller, newest_insertion);
    while ((count = lot_read(&reader, refs, MOVER_REFS)) > 0) {
        uint64_t pauses = worker->pauses;
        uint32_t stale = mover_try_refs(mover, refs, count);

        any = true;
        if (worker->pauses != pauses) {
            if (!lots_again(lots)) {
                break;
            }
            lot_read_again(&reader);
        }
        lot_found_stale(&reader, stale);
    }
    return any;
}

/*
 * Moves the heads of the lots that were read, when all pods are switched. `only`: the one lot that
 * was read, good as long as the worker has not left its section since `pauses`; NULL: there were
 * more.
 */
__attribute__((noinline)) static void
pass_lots(struct walk *walk, uint64_t plugins, struct lot *only, uint64_t pauses)
{
    const struct bin_caller caller = bin_caller(walk->mover.worker);
    struct lots_walk to;
    struct lot *lot;

    mover_end(&walk->mover);
    if (only != NULL && walk->mover.worker->pauses == pauses) {
        lot_pass(only, &caller, UINT32_MAX);
        return;
    }
    lots_walk_begin(&to, &queue_of(walk->mover.worker)->waiting.lots, plugins, 0);
    while ((lot = lots_next(&to)) != NULL) {
        if (lot_is_reached(walk, lot)) {
            lot_pass(lot, &caller, UINT32_MAX);
        }
    }
}

COLD static void
look_at_lot(struct worker *worker, struct lot *lot)
{
    const struct bin_caller caller = bin_caller(worker);

    lots_look(&queue_of(worker)->waiting.lots, lot, &caller);
}

/*
 * `plugins`: those that the event concerns. For pods of plugins that came since, by late names, the
 * holders see its stamp.
 */
static void
walk_lots(struct walk *walk, uint64_t plugins)
{
    const uint64_t pauses = walk->mover.worker->pauses;
    struct lot *lot, *only = NULL;
    struct lots_walk to;
    uint32_t count = 0;

    lots_walk_begin(&to, &queue_of(walk->mover.worker)->waiting.lots, plugins, 0);
    while ((lot = lots_next(&to)) != NULL) {
        if (!lot_is_reached(walk, lot)) {
            continue;
        }
        if (walk_lot(&walk->mover, &to, lot, walk->newest_insertion)) {
            only = count++ == 0 ? lot : NULL;
        } else if (!lot->catch_all) {
            look_at_lot(walk->mover.worker, lot);
        }
    }
    if (count > 0) {
        pass_lots(walk, plugins, only, pauses);
    }
}

void
events_activate_in_flight(struct entry *entry, uint64_t life)
{
    /* Ends: each further round means that the word changed. */
    for (;;) {
        uint64_t state = entry_state(entry);

        if (state_place(state) != PLACE_INFLIGHT ||
            (state & (FLAG_ACTIVATED | FLAG_DELETED)) != 0 ||
            /* of this word, if the exchange finds it still */
            u64_load_acquire(&entry->life) != life ||
            u64_cas(&entry->word.low, state,
                    state | FLAG_ACTIVATED)) { /* events_activate_in_flight:A */
            return;
        }
    }
}

bool
events_judge_again(struct queue *queue, uint32_t record, uint64_t life, struct view *view)
{
    /* Ends: each further round means that the word changed. */
    while (report_view(queue, record, life, view) && state_place(view->state) == PLACE_INFLIGHT) {
        /* events_judge_again:A */
        if (u64_cas(&view->entry->word.low, view->state, view->state | FLAG_JUDGE)) {
            return false;
        }
    }
    return report_view(queue, record, life, view) &&
           (state_place(view->state) == PLACE_PARKED || state_place(view->state) == PLACE_GATED);
}

/* nominated_fn */
static bool
is_unrejected(void *ctx, uint32_t record, uint64_t life)
{
    const struct worker *worker = ctx;
    struct view member;

    return report_view(queue_of(worker), record, life, &member) &&
           state_place(member.state) == PLACE_ASIDE && (member.unschedulable | member.pending) == 0;
}

/* Moves a root's record, if it waits for an event. `own`: the target is its member. */
static void
move_target_group(struct walk *walk, uint64_t number, bool own)
{
    struct worker *worker = walk->mover.worker;
    struct queue *queue = queue_of(worker);
    struct members members = {.walk = walk};
    struct group_found root;

    if (!gather_root(worker, number, &root) ||
        !place_waits_for_event(state_place(root.view.state)) ||
        !gate_hears(walk, root.view.profile, root.view.gate) ||
        (!own && !gather_any(worker, number, is_unrejected, worker))) {
        return;
    }
    struct view view = root.view;

    section_pause(worker);
    /* without memory to ask: yes */
    bool helps = (walk->assigned == NULL && walk->change->precheck == NULL) ||
                 !gather_each(worker, number, passes, &members) || members.any_passes;

    section_resume(worker);
    if (helps && report_view(queue, root.record, root.view.life, &view)) {
        walk->helps = true;
        mover_try(&walk->mover, root.record, &view);
        mover_end(&walk->mover);
        walk->helps = false;
    }
}

/*
 * Moves each group that has a member which nothing rejected: in kube any event helps such a member.
 */
COLD static void
move_unrejected_groups(struct walk *walk, uint64_t own)
{
    struct worker *worker = walk->mover.worker;
    uint64_t *numbers;
    size_t bytes, count = gather_roots(worker, &numbers, &bytes);

    if (numbers == NULL) {
        walk->mover.no_memory = true;
        stray_leave_short(queue_of(worker), STRAY_UNJUDGED);
    }
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] != own) {
            move_target_group(walk, numbers[i], false);
        }
    }
    memory_free(&queue_of(worker)->base.memory, MEMORY_OTHER, numbers, bytes);
}

/* The event helps the group of that pod, if the pod is a member that waits. */
COLD static void
move_target_groups(struct walk *walk, schedq_pod_t target)
{
    struct worker *worker = walk->mover.worker;
    struct group_found root;
    struct view view;
    uint64_t own = 0;

    if (report_handle(queue_of(worker), target, &view) && state_place(view.state) == PLACE_ASIDE &&
        gather_root(worker, view.description.group, &root)) {
        own = root.block->number;
        move_target_group(walk, own, true);
    }
    if (queue_of(worker)->base.rules.groups_as_kube) {
        move_unrejected_groups(walk, own);
    }
}

/* A wildcard that has an object concerns the one pod that is the object, or none. */
static void
move_target(struct walk *walk, schedq_pod_t target)
{
    const struct queue *queue = queue_of_walk(walk);
    uint32_t record = ref_record(target.bits);
    struct view view;

    if (queue_has_groups(queue)) {
        move_target_groups(walk, target);
    }
    if (!report_handle(queue, target, &view) || !report_exists(walk->mover.worker, record, &view)) {
        return;
    }
    events_activate_in_flight(view.entry, view.life);
    walk->mover.alone = true;
    mover_try(&walk->mover, record, &view);
    mover_end(&walk->mover);
}

static void
move(struct walk *walk)
{
    struct worker *worker = walk->mover.worker;
    struct queue *queue = queue_of(worker);
    const struct rules *rules = &queue->base.rules;
    const struct registry *registry = &queue->base.registry;
    bool registered = registry_is_registered(registry, walk->event.event);

    tally_add(&worker->tally.events, registered ? 1 : 0);
    if (registry_is_wildcard(registry, walk->event.event) && rules->targets_wildcards &&
        (walk->change->target.bits != 0 || walk->change->new_object != 0)) {
        move_target(walk, walk->change->target);
        return;
    }
    uint64_t reached = announce(worker, &walk->event, registered);

    /*
     * Looked up again, behind the fence: this event reaches a plugin whose name came late
     * meanwhile. A thread that makes that name, or sets others_used (count_failure:A), after this
     * look sees the stamps.
     */
    if (!registered && registry_is_registered(&queue->base.registry, walk->event.event)) {
        registered = true;
        /* for pods that fail by that name from here on */
        raise_moved(queue, stamps_drawn(&queue->stamps));
        atomic_fence();
    }
    if (registered || u32_load_acquire(&queue->others_used) != 0 || !rules->ignores_unregistered) {
        walk_lots(walk, reached);
    }
}

schedq_status_t
lockfree_notify(schedq_worker_t *base, const schedq_change_t *request,
                const struct assigned_pod *assigned, const struct schedq_pod_list *listed,
                schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    const struct registry *registry = &queue->base.registry;

    stray_gather_unpublished(worker);
    section_begin(worker);
    struct walk walk; /* what it remembers of the last pod is not written */

    walk.mover = (struct mover){.worker = worker,
                                .now = queue_now(queue),
                                .label = registry_label(registry, request->event),
                                .counts = true,
                                .recount = true,
                                .tells = true,
                                .asks_host = request->precheck != NULL || queue_asks_host(queue),
                                .result = result,
                                .decide = decide_reached,
                                .ctx = &walk};
    walk.event = (struct cluster_event){.event = request->event,
                                        .old_object = request->old_object,
                                        .new_object = request->new_object};
    walk.change = request;
    walk.assigned = assigned;
    walk.listed = listed;
    walk.helps = false;
    walk.asks = registry->has_hints && queue->base.rules.hints;
    walk.knows_profile = walk.last.known = false;
    walk.newest_insertion = worker->insertions;
    mover_begin(&walk.mover);
    move(&walk);
    section_end(worker);
    return walk.mover.no_memory ? SCHEDQ_NOMEM : SCHEDQ_OK;
}

/* ---- what could not be judged ---------------------------------------------------------------- */

static bool
decide_helped(struct mover *mover, const struct view *view, struct way *way)
{
    enum place place = state_place(view->state);

    if (place != PLACE_PARKED && place != PLACE_GATED) {
        return false;
    }
    *way = route_after_backoff(mover->worker, view, mover->now);
    return true;
}

static struct mover
helper(struct worker *worker, bool alone, schedq_result_t *unseen)
{
    struct queue *queue = queue_of(worker);

    return (struct mover){.worker = worker,
                          .now = queue_now(queue),
                          .label = registry_label(&queue->base.registry, SCHEDQ_EVENT_WILDCARD),
                          .counts = true,
                          .recount = true,
                          .tells = true,
                          .alone = alone,
                          .result = unseen,
                          .decide = decide_helped};
}

bool
events_help(struct worker *worker, uint32_t record, uint64_t life)
{
    schedq_result_t unseen = {0};
    struct mover mover = helper(worker, true, &unseen);
    struct view view;

    if (queue_of(worker)->base.rules.host) {
        return true;
    }
    mover_begin(&mover);
    if (report_view(queue_of(worker), record, life, &view)) {
        mover_try(&mover, record, &view);
    }
    mover_end(&mover);
    return !mover.no_memory;
}

void
events_help_placed(struct worker *worker, uint32_t record, uint64_t life)
{
    schedq_result_t unseen = {0};
    struct mover mover = helper(worker, true, &unseen);

    mover.recount = false; /* no event came for it */
    mover_begin(&mover);
    mover_try_placed(&mover, record, life);
    mover_end(&mover);
}

void
events_judge_all(struct worker *worker)
{
    struct lots *lots = &queue_of(worker)->waiting.lots;
    schedq_result_t unseen = {0};
    struct mover mover = helper(worker, false, &unseen);
    struct lots_walk to;
    struct lot *lot;

    if (queue_of(worker)->base.rules.host) {
        return;
    }
    mover_begin(&mover);
    lots_walk_begin(&to, lots, LOTS_ALL, 0);
    while ((lot = lots_next(&to)) != NULL) {
        (void)walk_lot(&mover, &to, lot, worker->insertions);
    }
    mover_end(&mover);
}

/* ---- flushes --------------------------------------------------------------------------------- */

void
events_flush_gated(struct mover *mover)
{
    struct queue *queue = queue_of(mover->worker);
    const int64_t newest_insertion = mover->worker->insertions;
    struct lots_walk to;
    struct lot *lot;

    mover_begin(mover);
    lots_walk_begin(&to, &queue->waiting.lots, LOTS_ALL, 0);
    while ((lot = lots_next(&to)) != NULL) {
        const struct lot_key *key = &lot->key;

        if (lot->catch_all ||
            (key->gate != 0 && registry_gate_hears(&queue->base.registry, key->profile, key->gate,
                                                   SCHEDQ_EVENT_WILDCARD))) {
            (void)walk_lot(mover, &to, lot, newest_insertion);
        }
    }
    mover_end(mover);
}

/* ---- events of a host that decides by itself ------------------------------------------------- */

void
lockfree_event_begin(schedq_worker_t *base, uint64_t *sequence)
{
    struct worker *worker = worker_of(base);

    *sequence = stamps_draw(&queue_of(worker)->stamps);
    tally_add(&worker->tally.events, 1);
}

schedq_status_t
lockfree_event_stamp(schedq_worker_t *base, uint64_t sequence, schedq_profile_t profile,
                     uint64_t plugins)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    uint64_t drawn = stamps_drawn(&queue->stamps);

    if (sequence == 0 || sequence > drawn) {
        worker_say(base, "sequence %llu: 1..%llu, as schedq_event_begin drew it",
                   (unsigned long long)sequence, (unsigned long long)drawn);
        return SCHEDQ_INVALID;
    }
    stamps_raise(&queue->stamps, profile,
                 plugins | registry_reached_always(&queue->base.registry, profile), sequence);
    /* lockfree_event_stamp:A, between the stamps and the caller's looks at words and candidates */
    atomic_fence();
    stray_gather_unpublished(worker);
    return SCHEDQ_OK;
}
