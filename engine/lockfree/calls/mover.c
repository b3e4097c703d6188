/*
 * The moves of mover.h, which has the essay. The fences between what was published and what is
 * looked at next are in transfer.c, and for batches here (move_batch:A).
 */
#include "lockfree/calls/mover.h"

#include "lockfree/calls/class.h"
#include "lockfree/calls/sort.h"
#include "lockfree/moves/backoff.h"
#include "lockfree/moves/describe.h"
#include "lockfree/moves/gather_join.h"
#include "lockfree/moves/hold.h"
#include "lockfree/moves/objects.h"
#include "lockfree/moves/stray.h"
#include "lockfree/refs/tie.h"
#include "policy/backoff.h"

#define FETCHED_AHEAD 8

static void
empty(struct mover_batch *batch)
{
    batch->count = batch->group_count = 0;
    batch->to = batch->from = 0;
}

void
mover_begin(struct mover *mover)
{
    mover->batch = mover->worker->batch;
    mover->batch->lost = 0;
    empty(mover->batch);
    mover->no_memory = mover->like.known = false;
    mover->asks_host |= queue_of(mover->worker)->base.registry.has_gates;
}

/*
 * Installs a description. SCHEDQ_OK: nothing else changed, so the decision holds, and *view shows
 * the pod afterwards. SCHEDQ_RETRY: look at the pod again.
 */
static schedq_status_t
install(struct worker *worker, uint32_t record, struct view *view, struct redescription *change)
{
    const struct queue *queue = queue_of(worker);
    uint64_t state = view->state;
    schedq_status_t status = describe_install(worker, record, view, change);

    if (status == SCHEDQ_OK && !(report_any(queue, record, view) && view->state == state)) {
        status = SCHEDQ_RETRY;
    }
    return status;
}

/* Does the pod's nomination change when it becomes active? */
STRAIGHT bool
renominates(const struct mover *mover, const struct view *view)
{
    const struct description *now = &view->description;

    return (now->described_node | now->nominated_node) != 0 &&
           nominate_when_active(queue_of(mover->worker)->base.rules.nominate, mover->label);
}

/*
 * Installs what becoming active, or a flush, says of a pod: before the pod is published, because a
 * helper would not know it. The initial attempt counts only where the pod is active.
 */
__attribute__((noinline, cold)) static schedq_status_t
describe_moved(const struct mover *mover, uint32_t record, struct view *view, enum place to)
{
    struct redescription change = describe_begin(view);

    if (mover->flushes) {
        change.gating.stay |= STAY_FLUSHED;
        change.gating.tried = mover->now;
    }
    change.renominates = to == PLACE_ACTIVE && renominates(mover, view);
    if (change.renominates) {
        change.description.nominated_node = view->description.described_node;
    }
    if ((to == PLACE_ACTIVE || to == PLACE_READY) && view->history.initial_attempt_ns == 0) {
        change.gating.first = mover->now;
        change.gating.stay |= to == PLACE_READY ? STAY_ATTEMPTED : 0;
    }
    return install(mover->worker, record, view, &change);
}

STRAIGHT bool
is_described(const struct mover *mover, const struct view *view, enum place to)
{
    return mover->flushes ||
           (to == PLACE_ACTIVE ? view->history.initial_attempt_ns == 0 || renominates(mover, view)
                               : to == PLACE_READY && view->history.initial_attempt_ns == 0);
}

static void
give_up(struct mover *mover)
{
    mover->no_memory = true;
    if (mover->tells) {
        stray_leave_short(queue_of(mover->worker), STRAY_UNJUDGED);
    }
}

/* ---- behind a gate --------------------------------------------------------------------------- */

/*
 * What was published for the next version gets stale, the pod stays where it is. The lag must be
 * below its end.
 */
static void
raise_lag(struct entry *entry, uint64_t state)
{
    (void)u64_cas(&entry->word.low, state, state_described(state)); /* raise_lag:A */
}

/* AGAIN: it changed, or is behind a gate that heard of an event. MOVES: to where its way says. */
enum outcome { OUTCOME_DONE, OUTCOME_AGAIN, OUTCOME_MOVES, OUTCOME_OUTDATED };

static uint32_t
cause_of_gated(const struct mover *mover, bool came_in)
{
    bool counts =
        came_in && queue_of(mover->worker)->base.rules.counts_updates && mover->label != NO_LABEL;

    return counts ? cause_of(mover->label, false) : CAUSE_NONE;
}

static void
count_gated(struct mover *mover, const struct mover_pod *pod, const struct view *view)
{
    uint32_t cause = cause_of_gated(mover, pod->came_in);

    if (view_is_group(view)) {
        gather_count(mover->worker, view->seen, PLACE_GATED, cause);
        gather_look_at_gate(mover->worker, view->seen, mover->result);
    } else {
        switch_count(mover->worker, PLACE_GATED, cause);
    }
}

static void
tell_gated(struct mover *mover, bool counts)
{
    tally_add(&mover->worker->tally.moves, mover->counts_gated ? 1 : 0);
    if (counts) {
        transfer_report(PLACE_GATED, mover->result);
    }
}

/*
 * Its gate refuses it again: the pod stays where events and time find it. For a host the version
 * changes, and so its ref does.
 */
static enum outcome
stay_gated(struct mover *mover, const struct mover_pod *pod, const struct view *view)
{
    if (queue_of(mover->worker)->base.rules.host &&
        !u64_cas(&view->entry->word.low, view->state, state_described(view->state))) {
        return OUTCOME_AGAIN;
    }
    count_gated(mover, pod, view);
    tell_gated(mover, pod->came_in || pod->moved);
    return OUTCOME_DONE;
}

/*
 * The switch to GATED, with the gate if that is another one, and with the time of a flush.
 * SCHEDQ_RETRY: another thread changed the pod.
 */
static schedq_status_t
switch_gated(struct mover *mover, const struct view *view, const struct transfer *transfer,
             uint32_t cause)
{
    struct worker *worker = mover->worker;
    uint8_t gate = transfer->to.gate;

    if (stay_gate(view->gating.stay) == gate && !mover->flushes &&
        (view->gating.stay & STAY_FLUSHED) == 0) {
        return transfer_switch(worker, transfer, cause) ? SCHEDQ_OK : SCHEDQ_RETRY;
    }
    struct redescription change = describe_begin(view);

    change.gating.stay = (change.gating.stay & ~(UINT64_C(0xff) | STAY_FLUSHED)) | gate;
    change.gating.tried = mover->flushes ? mover->now : change.gating.tried;
    change.gating.refused |= gate_bit(gate);
    change.word = transfer_next(transfer);
    schedq_status_t status = describe_install(worker, transfer->record, view, &change);

    if (status == SCHEDQ_OK) {
        switch_counted(worker, view->state, change.word, cause);
    } else {
        transfer_withdraw(worker, transfer);
    }
    return status;
}

/*
 * Names in `owed` a pod that is owed a question. If another pod is still named there, because its
 * switch failed, that one gets a note.
 */
static void
owe(struct worker *worker, uint64_t debt)
{
    uint64_t before = u64_load(&worker->owed);

    if (before != 0 && before != debt) {
        stray_leave(queue_of(worker), STRAY_UNJUDGED);
    }
    u64_store(&worker->owed, debt); /* the switch is a full fence */
}

/* For a leftover the limit counts from this flush on. False: no memory. */
static bool
prepare_gated(struct mover *mover, uint32_t record, const struct view *view, const struct way *way,
              struct transfer *transfer)
{
    struct view planned = *view;

    planned.gating.tried = mover->flushes ? mover->now : view->gating.tried;
    return transfer_prepare(mover->worker, record, &planned, way, mover->now, transfer);
}

/*
 * The gates saw the events up to `asked`. A later event either meets the ref and disturbs this
 * mover, or the mover sees its stamp. In the second case the pod is switched all the same, and its
 * gates are asked once more where it is: there every event finds it, so a second refusal by the
 * same gate needs no look. A pod that has this gate already stays where it is: the event finds it
 * there. A host is told to ask again instead.
 *
 * `owed`: if the mover stops in between, a tick asks.
 */
__attribute__((noinline, cold)) static enum outcome
gate_pod(struct mover *mover, struct mover_pod *pod, const struct view *view, const struct way *way,
         uint64_t asked)
{
    struct worker *worker = mover->worker;
    const struct queue *queue = queue_of(worker);
    const struct rules *rules = &queue->base.rules;
    enum place from = state_place(view->state);
    bool stays = from == PLACE_GATED && view->gate == way->gate;
    bool may_stay = !state_lag_is_at_end(view->state);
    struct transfer transfer;

    pod->came_in = pod->came_in || mover->recount || !place_waits_for_event(from);
    pod->moved = pod->moved || from != PLACE_GATED;
    if (stays && may_stay && (pod->unjudged || !(rules->gates_see_leftover || mover->flushes))) {
        return stay_gated(mover, pod, view);
    }
    if (!prepare_gated(mover, pod->record, view, way, &transfer)) {
        give_up(mover);
        return OUTCOME_DONE;
    }
    transfer_publish(worker, &transfer, CAUSE_NONE);
    bool judged = stamps_newest(&queue->stamps, view->profile, gate_bit(way->gate)) <= asked;

    if (!judged && may_stay && (stays || rules->host)) {
        transfer_withdraw(worker, &transfer);
        raise_lag(view->entry, view->state);
        return rules->host ? OUTCOME_OUTDATED : stay_gated(mover, pod, view);
    }
    if (!judged && !rules->host) {
        owe(worker, ref_make(pod->life, pod->record));
    }
    schedq_status_t status = switch_gated(
        mover, view, &transfer,
        judged && !view_is_group(view) ? cause_of_gated(mover, pod->came_in) : CAUSE_NONE);

    if (status != SCHEDQ_OK) {
        if (status == SCHEDQ_NOMEM) {
            give_up(mover);
        }
        return status == SCHEDQ_NOMEM ? OUTCOME_DONE : OUTCOME_AGAIN;
    }
    if (description_class(&view->description) != 0) {
        const struct class_key key = class_of_view(queue, view);

        class_doubt(queue_of(worker), &key, entry_handle(pod->record, view->life));
    }
    if (!judged) {
        pod->unjudged = true;
        return OUTCOME_AGAIN;
    }
    if (view_is_group(view)) {
        count_gated(mover, pod, view);
    }
    tell_gated(mover, pod->came_in || pod->moved);
    return OUTCOME_DONE;
}

/* ---- to active or backoff, alone ------------------------------------------------------------- */

STRAIGHT uint32_t
cause_of_mover(const struct mover *mover, bool named)
{
    return mover->label != NO_LABEL
               ? cause_of(mover->label, mover->counts) | (named ? CAUSE_NAMED : 0)
               : CAUSE_NONE;
}

/* Brings a member back to its group. */
COLD static schedq_status_t
join_again(struct mover *mover, uint32_t record, const struct view *view, uint32_t cause)
{
    struct worker *worker = mover->worker;
    const uint64_t group = view->description.group;
    uint64_t counted = gather_announce(worker, group);

    if (!switch_pod(worker, view->entry, view->state, view->desc,
                    state_switched(view->state, 0, PLACE_ASIDE), CAUSE_NONE)) {
        gather_withdraw(worker, group, counted);
        return SCHEDQ_CHANGED;
    }
    tally_add(&worker->tally.moves, (cause & CAUSE_MOVE) != 0 ? UINT64_C(1) : 0);
    gather_joined(worker, group, counted, entry_handle(record, view->life), mover->result);
    return SCHEDQ_OK;
}

/* As transfer_switch. Ends: each further round is another thread's change of the description. */
STRAIGHT bool
switch_as_decided(struct worker *worker, const struct transfer *transfer, uint32_t cause)
{
    uint64_t desc = transfer->desc;

    do {
        if (switch_announced(worker, transfer->entry, transfer->state, desc,
                             transfer_next(transfer), cause)) {
            return true;
        }
    } while (switch_is_still_due(transfer->entry, transfer->state, &desc));
    transfer_withdraw(worker, transfer);
    return false;
}

/* CHANGED: by another thread. */
STRAIGHT schedq_status_t
move_by(struct mover *mover, uint32_t record, const struct view *view, const struct way *way)
{
    struct worker *worker = mover->worker;
    uint32_t cause = way->place != PLACE_HELD ? cause_of_mover(mover, way->named) : CAUSE_NONE;
    uint32_t counted = CAUSE_NONE;
    const uint32_t freed = cause;
    struct transfer transfer;

    if (way->place == PLACE_ASIDE) {
        return join_again(mover, record, view, cause);
    }
    if (way->place == PLACE_READY) {
        gather_begin_attempts(worker, view->seen, mover->now);
    }
    if (view_is_group(view)) {
        counted = cause;
        cause = CAUSE_NONE;
    }
    if (!transfer_prepare(worker, record, view, way, mover->now, &transfer)) {
        return SCHEDQ_NOMEM;
    }
    transfer_publish(worker, &transfer, cause);
    const bool moved = switch_as_decided(worker, &transfer, cause);

    if (moved) {
        switch_note_freed(worker, record, transfer.entry, transfer.state, transfer_next(&transfer),
                          freed);
        transfer_report(way->place, mover->result);
        if (counted != CAUSE_NONE) {
            tally_add(&worker->tally.moves, (counted & CAUSE_MOVE) != 0 ? UINT64_C(1) : 0);
            gather_count(worker, view->seen, way->place, counted);
        }
    } else if (!transfer_was_helped(transfer.entry, transfer_next(&transfer))) {
        return SCHEDQ_CHANGED;
    }
    if (transfer_is_poppable(queue_of(worker), way->place)) {
        mover->result->poppable = 1;
        publish_wake(worker);
    } else if (way->place == PLACE_READY) {
        mover->result->to_active += moved ? 1 : 0;
        mover->result->poppable = 1;
        gather_wake(worker);
    }
    return SCHEDQ_OK;
}

RARELY static schedq_status_t
move_elsewhere(struct mover *mover, uint32_t record, const struct view *view, const struct way *way)
{
    return move_by(mover, record, view, way);
}

/* The same; a move to active is compiled for that place alone. */
static schedq_status_t
move_alone(struct mover *mover, uint32_t record, const struct view *view, const struct way *way)
{
    if (way->place != PLACE_ACTIVE) {
        return move_elsewhere(mover, record, view, way);
    }
    const struct way active = {.place = PLACE_ACTIVE, .named = way->named};

    return move_by(mover, record, view, &active);
}

/* ---- what is collected ----------------------------------------------------------------------- */

/* Two pods that are alike in this go to one bin. */
STRAIGHT void
destination_like(const struct queue *queue, const struct view *view, enum place place,
                 uint64_t like[2])
{
    const schedq_history_t *history = &view->history;
    bool active = place == PLACE_ACTIVE;

    like[0] = active ? (uint32_t)queue_rank(queue, view->description.priority)
                     : (uint64_t)history->attempts << 32 | history->rejections;
    like[1] = active ? 0 : history->errors;
}

static void move_batch(struct mover *mover);

/*
 * The batch has as many groups as it can: moves them. The pod that is tried, and the group that was
 * looked for, stay: they begin the next batch.
 */
__attribute__((noinline, cold)) static struct mover_group *
make_group_room(struct mover *mover)
{
    struct mover_batch *batch = mover->batch;
    const struct mover_pod tried = batch->items[batch->count].pod;

    move_batch(mover);
    batch->items[0].pod = tried;
    batch->groups[0] = batch->groups[MOVER_GROUPS];
    return &batch->groups[0];
}

/* NULL: no memory. */
__attribute__((noinline)) static struct mover_group *
find_group(struct mover *mover, const struct view *view, const struct way *way)
{
    struct mover_batch *batch = mover->batch;
    struct mover_group *made = &batch->groups[batch->group_count];

    if (!transfer_find(mover->worker, view, way, view->history.timestamp_ns, &made->to)) {
        return NULL;
    }
    /*
     * Groups of active pods were compared by rank before (known_group), and are not compared by
     * their bins: a band that was found before a pause may have been given back, and another bin
     * may have its address.
     */
    struct mover_group *group = way->place == PLACE_ACTIVE ? made : batch->groups;

    while (group != made && (group->to.place == PLACE_ACTIVE || group->to.bin != made->to.bin)) {
        group++;
    }
    if (group == made) {
        group = batch->group_count < MOVER_GROUPS ? made : make_group_room(mover);
        batch->group_count++;
        group->priority = view->description.priority;
        group->count = 0;
        group->ordered = true;
        group->named = way->named;
        batch->to |= UINT32_C(1) << way->place;
    }
    destination_like(queue_of(mover->worker), view, way->place, group->pods_like);
    return group;
}

/* The group that pods like this one go to; NULL: none is known. */
STRAIGHT struct mover_group *
known_group(const struct mover *mover, const struct view *view, const struct way *way)
{
    struct mover_batch *batch = mover->batch;
    uint64_t like[2];

    destination_like(queue_of(mover->worker), view, way->place, like);
    for (uint32_t i = batch->group_count; i-- > 0;) {
        struct mover_group *group = &batch->groups[i];

        if (group->to.place == way->place && group->pods_like[0] == like[0] &&
            group->pods_like[1] == like[1]) {
            return group;
        }
    }
    return NULL;
}

STRAIGHT bool
comes_before(const struct mover_item *first, const struct mover_item *second)
{
    return first->key != second->key ? first->key < second->key
                                     : tie_before(&first->tie, &second->tie);
}

STRAIGHT void
append(struct mover_batch *batch, struct mover_group *group, uint32_t number)
{
    if (group->count == 0) {
        group->first = number;
    } else {
        struct mover_item *last = &batch->items[group->last];

        last->next = number;
        group->ordered = group->ordered && !comes_before(&batch->items[number], last);
    }
    group->last = number;
    group->count++;
}

/* Collects the pod that is tried, as `view` shows it. */
STRAIGHT void
collect_in(struct mover *mover, struct mover_group *group, const struct view *view,
           const struct way *way)
{
    const struct queue *queue = queue_of(mover->worker);
    struct mover_batch *batch = mover->batch;
    struct mover_item *item = &batch->items[batch->count];

    if (batch->count == 0) {
        batch->pauses = mover->worker->pauses;
    }
    item->entry = view->entry;
    item->state = view->state;
    item->desc = view->desc;
    item->named = way->named;
    item->lost = item->unpublished = false;
    if (way->place == PLACE_ACTIVE) {
        item->key = view->description.order_key;
        item->tie = (struct tie){.rank = 0};
    } else {
        item->key = backoff_expiry_of(queue, &view->history);
        item->tie = tie_of_description(&group->to.bin->residence, &view->description);
        group->to.due =
            time_earlier(group->to.due, backoff_due(&queue->base.rules.backoff, item->key));
    }
    batch->from |= UINT32_C(1) << state_place(view->state);
    append(batch, group, batch->count++);
}

/* The same. False: no memory. */
STRAIGHT bool
collect(struct mover *mover, const struct view *view, const struct way *way)
{
    struct mover_group *group = known_group(mover, view, way);

    if (group == NULL) {
        group = find_group(mover, view, way);
    }
    if (group != NULL) {
        collect_in(mover, group, view, way);
    }
    return group != NULL;
}

/* Moves the pod that is tried, or collects it. CHANGED: by another thread. */
STRAIGHT schedq_status_t
bring(struct mover *mover, uint32_t record, const struct view *view, const struct way *way)
{
    if (mover->alone || route_is_aside(view) || way->place == PLACE_HELD) {
        return move_alone(mover, record, view, way);
    }
    return collect(mover, view, way) ? SCHEDQ_OK : SCHEDQ_NOMEM;
}

/* ---- moving it ------------------------------------------------------------------------------- */

/* sort_numbers's `before`: pods that are equal stay in their order. */
static bool
goes_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct mover_item *items = ctx;

    return comes_before(&items[a], &items[b]) || (a < b && !comes_before(&items[b], &items[a]));
}

__attribute__((noinline, cold)) static void
order_group(struct mover_batch *batch, struct mover_group *group)
{
    uint32_t count = 0;

    for (uint32_t i = group->first; count < group->count; i = batch->items[i].next) {
        batch->order[count++] = i;
    }
    sort_numbers(batch->order, count, goes_before, batch->items);
    group->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        append(batch, group, batch->order[i]);
    }
}

/*
 * What was found before a pause is found again: a band may have been given back, and so may the
 * page of a pod that is over. A group without memory for its band has no bin.
 */
__attribute__((noinline, cold)) static void
find_again(struct mover *mover)
{
    struct mover_batch *batch = mover->batch;

    for (uint32_t i = 0; i < batch->count; i++) {
        batch->items[i].entry =
            entry_at(&queue_of(mover->worker)->entries, batch->items[i].pod.record);
    }
    for (uint32_t i = 0; i < batch->group_count; i++) {
        struct destination *to = &batch->groups[i].to;

        if (to->place == PLACE_ACTIVE) {
            to->band = publish_band(mover->worker, batch->groups[i].priority);
            to->bin = to->band != NULL ? &to->band->bin : NULL;
        }
    }
}

/* The ref of the version behind the switch. */
STRAIGHT uint64_t
next_ref(const struct mover_item *item)
{
    return state_next_version(item->state) | item->pod.record;
}

/*
 * The worker's lane, with room, if the group's first pod and its last fit it; else NULL. A thread
 * that serves time reads all lanes of a bin of backoff: it finds many pods faster in one run.
 */
static struct lane *
lane_for(const struct mover *mover, const struct mover_group *group,
         const struct bin_caller *caller)
{
    const struct worker *worker = mover->worker;
    const struct mover_item *items = mover->batch->items, *first = &items[group->first];
    const struct placing placing = {.key = first->key, .tie = first->tie};
    struct bin *bin = group->to.bin;
    bool active = group->to.place == PLACE_ACTIVE;

    if (group->count > (active ? MOVER_LANE : 1) ||
        !(bank_has_room(&bin->bank, worker->base.number, group->count) ||
          bin_prepare(bin, caller, group->count)) ||
        (active && items[group->last].key > worker->last_drawn)) {
        return NULL;
    }
    return publish_lane(worker, bin, &placing);
}

/*
 * Publishes the only pod of a group, which fits no lane, beside the pods that came alone before it,
 * so that events that move one pod each do not fill the bin's slots. False: no memory.
 */
static bool
publish_lone(const struct mover *mover, const struct mover_group *group, uint32_t cause)
{
    struct worker *worker = mover->worker;
    const struct mover_item *item = &mover->batch->items[group->first];
    uint64_t ref = next_ref(item);

    if (group->to.lot != NULL) {
        lot_publish(group->to.lot, worker->base.number, ref, ++worker->insertions);
    }
    return publish_in_run(worker, group->to.bin, ref, item->key, cause);
}

/* Publishes all pods that go into one bin, in the lane or as one run. False: no memory. */
static bool
publish_group(struct mover *mover, struct mover_group *group, const struct bin_caller *caller)
{
    const uint32_t cause = cause_of_mover(mover, group->named);
    struct worker *worker = mover->worker;
    struct mover_batch *batch = mover->batch;
    const struct destination *to = &group->to;

    if (to->bin == NULL || (to->lot != NULL && !lot_prepare(to->lot, caller, group->count))) {
        return false;
    }
    if (!group->ordered) {
        order_group(batch, group);
    }
    struct lane *lane = lane_for(mover, group, caller);

    if (lane == NULL && group->count == 1) {
        return publish_lone(mover, group, cause);
    }
    struct run *run = lane == NULL ? run_take(caller->pool, group->count) : NULL;

    if (lane == NULL && run == NULL) {
        return false;
    }
    for (uint32_t i = group->first, n = 0; n < group->count; i = batch->items[i].next, n++) {
        uint64_t ref = next_ref(&batch->items[i]);

        if (lane != NULL) {
            lane_put(lane, ref, batch->items[i].key);
        } else {
            run_put(run, ref, batch->items[i].key);
        }
        if (to->lot != NULL) {
            lot_publish(to->lot, worker->base.number, ref, ++worker->insertions);
        }
    }
    if (lane != NULL) {
        lane->last_tie = batch->items[group->last].tie;
        lane_set_cause(lane, cause);
        lane_publish(lane);
        return true;
    }
    run_set_cause(run, cause);
    if (!bin_publish_run(to->bin, caller, run)) {
        run_give(caller->pool, run);
        return false;
    }
    return true;
}

static void
give_up_group(struct mover *mover, struct mover_group *group)
{
    struct mover_batch *batch = mover->batch;

    give_up(mover);
    for (uint32_t i = group->first, n = 0; n < group->count; i = batch->items[i].next, n++) {
        batch->items[i].lost = mover->decide == NULL; /* a host is told of each */
        batch->items[i].unpublished = true;
    }
    group->count = 0;
}

/* How many pods of the batch go there. */
static uint32_t
pods_for(const struct mover_batch *batch, enum place place)
{
    uint32_t count = 0;

    if ((batch->to >> place & 1) == 0) {
        return 0;
    }
    for (uint32_t i = 0; i < batch->group_count; i++) {
        count += batch->groups[i].to.place == place ? batch->groups[i].count : 0;
    }
    return count;
}

static void
raise_word(struct mover *mover, enum place place)
{
    uint32_t count = pods_for(mover->batch, place);

    if (count > 0) {
        switch_change(mover->worker, place, count);
    }
}

/*
 * Marks bins, and raises words, before it lowers the deadline: planners pass over bins that are not
 * marked, and over places whose words are 0 (deadline.h, waiting.h).
 */
static void
announce_groups(struct mover *mover)
{
    struct mover_batch *batch = mover->batch;
    int64_t due = SCHEDQ_NO_DEADLINE;

    for (uint32_t i = 0; i < batch->group_count; i++) {
        const struct destination *to = &batch->groups[i].to;

        if (batch->groups[i].count > 0) {
            if (to->band != NULL) { /* bands alone are marked; this section found it in the table */
                (void)publish_mark(mover->worker, to->band);
            }
            due = time_earlier(due, to->due);
            mover->result->poppable |=
                transfer_is_poppable(queue_of(mover->worker), to->place) ? 1 : 0;
        }
    }
    raise_word(mover, PLACE_BACKOFF);
    raise_word(mover, PLACE_ERROR_BACKOFF);
    if (due != SCHEDQ_NO_DEADLINE) {
        transfer_lower_deadline(mover->worker, due);
    }
}

/* Is the record's pod among the first ones? */
__attribute__((noinline, cold)) static bool
has(const struct mover_batch *batch, uint32_t count, uint32_t record)
{
    uint32_t i = 0;

    while (i < count && batch->items[i].pod.record != record) {
        i++;
    }
    return i < count;
}

/*
 * Switches the group's pods; those that helpers switched first are not reported. Lost are the pods
 * that another thread changed. Returns their number.
 */
STRAIGHT uint32_t
switch_group(struct mover *mover, const struct mover_group *group, struct switches *switches,
             uint32_t freed)
{
    struct mover_batch *batch = mover->batch;
    /* as state_switched */
    const uint64_t there =
        state_make(0, group->to.band != NULL ? group->to.band->id : 0, switches->to);
    uint32_t lost = 0;

    for (uint32_t i = group->first, n = 0; n < group->count; i = batch->items[i].next, n++) {
        struct mover_item *item = &batch->items[i];
        uint64_t next = state_next_version(item->state) | there, desc = item->desc;
        bool came;

        if (item->entry == NULL) {
            continue;
        }
        /* Ends: each further round is another thread's change of the description. */
        do {
            came = switches_one(switches, item->entry, item->state, desc, next);
        } while (!came && switch_is_still_due(item->entry, item->state, &desc));
        if (came) {
            switches->named += item->named ? 1 : 0;
            if (freed != 0 && place_waits_for_event(state_place(item->state))) {
                switch_freed(mover->worker, item->pod.record, item->entry, next, freed);
            }
            continue;
        }
        /*
         * A host may decide twice about a pod: then the first decision switched it, not a helper,
         * and the second is lost.
         */
        item->lost = !transfer_was_helped(item->entry, next) ||
                     (mover->decide == NULL && has(batch, i, item->pod.record));
        lost += item->lost ? 1 : 0;
    }
    return lost;
}

/*
 * Switches all pods that go to one place, and counts them together. Returns how many were lost.
 * Places are switched in a fixed order, so no batch may have two decisions about one pod that name
 * two places (goes_with, apply.c).
 */
static uint32_t
switch_place(struct mover *mover, enum place place)
{
    const uint32_t cause = cause_of_mover(mover, false), count = pods_for(mover->batch, place);
    const uint32_t backoffs = UINT32_C(1) << PLACE_BACKOFF | UINT32_C(1) << PLACE_ERROR_BACKOFF;
    struct mover_batch *batch = mover->batch;
    uint32_t lost = 0;
    struct switches switches;

    if (count == 0) {
        return 0;
    }
    switches_begin(mover->worker, &switches, place, count, (batch->from & backoffs) != 0);
    for (uint32_t i = 0; i < batch->group_count; i++) {
        if (batch->groups[i].to.place == place) {
            lost += switch_group(mover, &batch->groups[i], &switches, cause_freed(cause));
        }
    }
    switches_end(mover->worker, &switches, cause);
    transfer_report_many(place, switches.came, mover->result);
    return lost;
}

/*
 * Keeps lost pods at the end of the batch. From the last one down, so that none is overwritten
 * before it is copied.
 */
__attribute__((noinline, cold)) static void
keep_lost(struct mover_batch *batch)
{
    for (uint32_t i = batch->count; i-- > 0;) {
        if (batch->items[i].lost) {
            batch->items[MOVER_BATCH - ++batch->lost] = batch->items[i];
        }
    }
}

static void
move_batch(struct mover *mover)
{
    const struct bin_caller caller = bin_caller(mover->worker);
    struct mover_batch *batch = mover->batch;
    uint32_t lost = 0;

    if (mover->worker->pauses != batch->pauses) {
        find_again(mover);
    }
    for (uint32_t i = 0; i < batch->group_count; i++) {
        if (!publish_group(mover, &batch->groups[i], &caller)) {
            give_up_group(mover, &batch->groups[i]);
            lost++;
        }
    }
    /* move_batch:A, between the refs and the looks at the bins' words and the deadline */
    atomic_fence();
    announce_groups(mover);
    lost += switch_place(mover, PLACE_ACTIVE);
    lost += switch_place(mover, PLACE_BACKOFF);
    lost += switch_place(mover, PLACE_ERROR_BACKOFF);
    if (lost > 0) {
        keep_lost(batch);
    }
    empty(batch);
    if (mover->result->poppable) {
        publish_wake(mover->worker);
    }
}

static void try_again(struct mover *mover);

/* Moves what is collected. Pods that were lost are tried again. */
static void
flush(struct mover *mover)
{
    struct mover_batch *batch = mover->batch;

    /* Ends: each further round is another thread's change of a pod. */
    while (batch->count > 0 || batch->lost > 0) {
        if (batch->count > 0) {
            move_batch(mover);
        }
        while (batch->lost > 0) {
            batch->items[batch->count].pod = batch->items[MOVER_BATCH - batch->lost--].pod;
            try_again(mover);
        }
    }
}

/* ---- one pod --------------------------------------------------------------------------------- */

/*
 * Where does the pod go? False: it stays. `unjudged`: a pod that waits for an event goes on, so
 * that its gates are asked.
 */
STRAIGHT bool
decide(struct mover *mover, const struct view *view, bool unjudged, struct way *way)
{
    enum place place = state_place(view->state);
    bool owed = unjudged && place_waits_for_event(place);

    if (mover->decide(mover, view, way)) {
        return true;
    }
    if (place_is_kept(place) || (!owed && !state_lag_is_at_end(view->state))) {
        return false;
    }
    *way = route_after_backoff(mover->worker, view, mover->now);
    return true;
}

static bool
is_let_go(const struct mover *mover, const struct view *view)
{
    return state_place(view->state) == PLACE_HELD &&
           !description_keeps(&view->description, mover->now);
}

/* False: another thread changed the pod. */
static bool
hold_object(struct worker *worker, struct view *view)
{
    uint64_t desc = view->desc;

    if (!objects_counted(queue_of(worker)) || view_is_group(view)) {
        return true;
    }
    if (!objects_take(worker, view->entry, view->state, &view->description, &view->desc)) {
        return false;
    }
    if (view->desc != desc) {
        object_give_back(queue_of(worker), view->description.object);
    }
    return view->desc == desc;
}

/*
 * For a pod that was asked about often enough: a tick asks. A held pod that is let go does not stay
 * held until then: it goes behind the gate that refused it last.
 */
__attribute__((noinline, cold)) static enum outcome
ask_no_more(struct mover *mover, const struct mover_pod *pod, const struct view *view,
            struct way *way)
{
    stray_leave(queue_of(mover->worker), STRAY_UNJUDGED);
    if (!is_let_go(mover, view)) {
        return OUTCOME_DONE;
    }
    *way = (struct way){.place = PLACE_GATED, .gate = pod->gate};
    return OUTCOME_MOVES;
}

/*
 * Asks what becomes of the pod, outside of a section: the CAS that follows compares. A held pod
 * that is let go is asked about more than ASKS_MAX times, as long as no gate refused it.
 */
__attribute__((noinline)) static enum outcome
ask_host(struct mover *mover, struct mover_pod *pod, struct view *view, struct way *way,
         uint64_t *asked)
{
    struct worker *worker = mover->worker;
    struct queue *queue = queue_of(worker);
    uint64_t calls = u64_load(&worker->tally.gate_calls);

    if (pod->asks >= ASKS_MAX && (pod->gate != 0 || !is_let_go(mover, view))) {
        return ask_no_more(mover, pod, view, way);
    }
    if (!hold_object(worker, view)) {
        return OUTCOME_AGAIN;
    }
    section_pause(worker);
    *asked = stamps_drawn(&queue->stamps); /* before a hint or gate is asked */
    bool moves = decide(mover, view, pod->unjudged, way);

    if (u64_load(&worker->tally.gate_calls) != calls) {
        pod->asks++;
    }
    if (moves && way->place == PLACE_GATED) {
        pod->gate = way->gate;
    }
    if (!view_is_group(view)) {
        object_give_back(queue, view->description.object);
    }
    section_resume(worker);
    if (!moves) {
        return OUTCOME_DONE;
    }
    view->entry = entry_at(&queue->entries, pod->record);
    /* none: the pod is over, and its page was given back */
    return view->entry != NULL ? OUTCOME_MOVES : OUTCOME_DONE;
}

/*
 * Without memory for a description the pod stays where it was; if only its nomination needed one,
 * it moves without.
 */
STRAIGHT enum outcome
act_on(struct mover *mover, struct mover_pod *pod, struct view *view)
{
    struct way way;
    uint64_t asked = 0;

    if (mover->asks_host) {
        enum outcome outcome = ask_host(mover, pod, view, &way, &asked);

        if (outcome != OUTCOME_MOVES) {
            return outcome;
        }
    } else if (!decide(mover, view, false, &way)) {
        return OUTCOME_DONE;
    }
    if (way.place == PLACE_GATED) {
        return gate_pod(mover, pod, view, &way, asked);
    }
    schedq_status_t status = is_described(mover, view, way.place)
                                 ? describe_moved(mover, pod->record, view, way.place)
                                 : SCHEDQ_OK;

    if (status != SCHEDQ_OK && status != SCHEDQ_NOMEM) {
        return OUTCOME_AGAIN;
    }
    if (status == SCHEDQ_OK || (view->history.initial_attempt_ns != 0 && !mover->flushes)) {
        status = bring(mover, pod->record, view, &way);
    }
    if (status == SCHEDQ_NOMEM) {
        give_up(mover);
    }
    return status == SCHEDQ_CHANGED ? OUTCOME_AGAIN : OUTCOME_DONE;
}

/* The pod that is owed a question is switched, or noted, or over, when this returns. */
__attribute__((noinline, cold)) static void
pay(struct mover *mover, uint64_t debt)
{
    struct worker *worker = mover->worker;

    if (u64_load(&worker->owed) != debt) {
        return;
    }
    flush(mover); /* the pod, if it was collected */
    if (mover->no_memory) {
        /* no caller knows of a pod that is behind a gate and has to be asked once more */
        stray_leave_short(queue_of(worker), STRAY_UNJUDGED);
    }
    /* behind the pod's switch, or its note; else flush tried another pod, which is owed now */
    if (u64_load(&worker->owed) == debt) {
        u64_store_release(&worker->owed, 0);
    }
}

static bool
look(struct mover *mover, const struct mover_pod *pod, struct view *view)
{
    return report_view(queue_of(mover->worker), pod->record, pod->life, view) &&
           state_waits(view->state);
}

/* Tries the pod behind those that are collected; it waits, as `view` shows. */
STRAIGHT void
try_pod(struct mover *mover, struct view *view)
{
    struct mover_pod *pod = &mover->batch->items[mover->batch->count].pod;
    const uint64_t debt = ref_make(pod->life, pod->record);

    /*
     * Ends: each further round is another thread's change of the pod, or an event of a gate:
     * ASKS_MAX times.
     */
    while (act_on(mover, pod, view) != OUTCOME_DONE && look(mover, pod, view)) {
    }
    if (u64_load(&mover->worker->owed) != 0) {
        pay(mover, debt);
    }
}

__attribute__((noinline)) static void
try_seen(struct mover *mover, struct view *view)
{
    try_pod(mover, view);
}

static void
try_again(struct mover *mover)
{
    const struct mover_pod *pod = &mover->batch->items[mover->batch->count].pod;
    struct view view;

    if (look(mover, pod, &view)) {
        try_seen(mover, &view);
    } else {
        pay(mover, ref_make(pod->life, pod->record));
    }
}

static inline bool
is_full(const struct mover_batch *batch)
{
    return batch->count + batch->lost >= MOVER_BATCH;
}

static inline void
empty_if_full(struct mover *mover)
{
    if (is_full(mover->batch)) {
        flush(mover);
    }
}

STRAIGHT struct mover_pod *
begin_pod(struct mover *mover, uint32_t record, uint64_t life)
{
    struct mover_pod *pod = &mover->batch->items[mover->batch->count].pod;

    pod->life = life;
    pod->record = record;
    pod->asks = pod->gate = 0;
    pod->unjudged = pod->came_in = pod->moved = false;
    return pod;
}

void
mover_try(struct mover *mover, uint32_t record, struct view *view)
{
    uint64_t pauses = mover->worker->pauses;

    empty_if_full(mover); /* may leave the section */
    begin_pod(mover, record, view->life)->asks = mover->asks;
    if (mover->worker->pauses == pauses && state_waits(view->state)) {
        try_seen(mover, view);
    } else {
        try_again(mover);
    }
}

void
mover_try_placed(struct mover *mover, uint32_t record, uint64_t life)
{
    empty_if_full(mover);
    struct mover_pod *pod = begin_pod(mover, record, life);

    pod->asks = 1;
    pod->unjudged = true;
    try_again(mover);
}

enum disturbance { DISTURBED, NOT_FUTURE, LAG_AT_END };

/* Makes the mover, or the holder, of a FUTURE ref decide again. */
static enum disturbance
disturb(struct entry *entry, uint64_t ref)
{
    /* Ends: each further round is another thread's change of the word. */
    for (;;) {
        uint64_t state = entry_state(entry); /* disturb:A */

        if (state_judge(state, ref, PLACE_PARKED, 0) != VERDICT_FUTURE) {
            return NOT_FUTURE;
        }
        bool flies = state_place(state) == PLACE_INFLIGHT;

        if (!flies && state_lag_is_at_end(state)) {
            return LAG_AT_END;
        }
        /* disturb:B */
        if (u64_cas(&entry->word.low, state, flies ? state | FLAG_JUDGE : state_described(state))) {
            return DISTURBED;
        }
    }
}

/* False: the ref is stale. */
STRAIGHT bool
try_ref(struct mover *mover, uint64_t ref)
{
    uint32_t record = ref_record(ref);
    const struct queue *queue = queue_of(mover->worker);
    struct view view;

    empty_if_full(mover); /* may leave the section */
    struct entry *entry = entry_at(&queue->entries, record);

    /* Ends: each further round is another thread's change of the word. */
    while (entry != NULL) {
        uint64_t state = entry_state(entry);
        enum verdict verdict = state_judge(state, ref, PLACE_PARKED, 0);

        if (verdict == VERDICT_STALE) {
            return false;
        }
        if (verdict == VERDICT_FUTURE) {
            enum disturbance disturbance = disturb(entry, ref);

            if (disturbance == DISTURBED) {
                return true;
            }
            if (disturbance == NOT_FUTURE) {
                continue;
            }
        }
        if (report_at(queue, entry, state, &view)) {
            if (state_place(state) == PLACE_HELD) {
                (void)transfer_follow(mover->worker, record, view.life); /* ends its lag */
            } else if (state_waits(state)) {
                (void)begin_pod(mover, record, view.life);
                try_pod(mover, &view);
            }
            return true;
        }
    }
    return false;
}

/* Collects the first pod of a group, at the word `state`. False: no memory, or the word changed. */
RARELY static bool
try_first_like(struct mover *mover, struct entry *entry, uint64_t ref, uint64_t state,
               struct way way)
{
    struct view view;

    if (!report_plain(queue_of(mover->worker), entry, state, &view)) {
        return false;
    }
    (void)begin_pod(mover, ref_record(ref), view.life);
    return collect(mover, &view, &way);
}

/*
 * The straight way of try_ref, for most pods of most events. It collects a pod if three things
 * hold: the pod is parked; it has no lag; `decide` was asked last about a pod like it. False: one
 * does not hold, or the pod changed, or there is no memory. Nothing was done to it then, and the
 * mover goes on with try_ref.
 */
STRAIGHT bool
try_like(struct mover *mover, uint64_t ref)
{
    const struct queue *queue = queue_of(mover->worker);
    const struct mover_like *like = &mover->like;
    const uint64_t state = (ref & ~REF_INDEX_MASK) | state_of(PLACE_PARKED);
    struct view view;

    if (!like->known || is_full(mover->batch)) { /* emptying it may ask about other pods */
        return false;
    }
    struct entry *entry = entry_at(&queue->entries, ref_record(ref));

    if (entry == NULL || entry_state(entry) != state || !report_plain(queue, entry, state, &view) ||
        view.unschedulable != like->unschedulable || view.pending != like->pending ||
        view.profile != like->profile || view_is_group(&view)) {
        return false;
    }
    struct way way = route_admitted(queue, view.unschedulable | view.pending, &view.history,
                                    like->strategy != STRATEGY_IMMEDIATELY, mover->now);

    route_name(queue, like->strategy != STRATEGY_IMMEDIATELY, &way);
    struct mover_group *group = known_group(mover, &view, &way);

    if (group == NULL) {
        return try_first_like(mover, entry, ref, state, way);
    }
    (void)begin_pod(mover, ref_record(ref), view.life);
    collect_in(mover, group, &view, &way);
    return true;
}

/* The records are fetched some refs ahead: each would miss the cache. */
uint32_t
mover_try_refs(struct mover *mover, const struct lane_ref *refs, size_t count)
{
    const struct entries *entries = &queue_of(mover->worker)->entries;
    uint32_t stale = 0;

    for (size_t i = 0; i < count + FETCHED_AHEAD; i++) {
        if (i < count) {
            entry_prefetch(entries, ref_record(refs[i].ref));
        }
        if (i >= FETCHED_AHEAD) {
            uint64_t ref = refs[i - FETCHED_AHEAD].ref;

            stale += try_like(mover, ref) || try_ref(mover, ref) ? 0 : 1;
        }
    }
    return stale;
}

/*
 * Makes a pod due that its class keeps back, and whose ref is due: the ref is that of a call that
 * stopped before its exchange, or lost it. Held anew, the pod would lose its turn.
 */
COLD static void
end_turn(struct mover *mover, uint32_t record, const struct view *view)
{
    if (hold_end_turn(mover->worker, record, view, mover->now) == SCHEDQ_NOMEM) {
        give_up(mover);
    }
}

/*
 * Makes a FUTURE ref stale that is due where there are no helpers: its publisher stopped, or is
 * slow and has to decide again. Else the bin would be due until the pod changes. A pod that its
 * class keeps back is let go, as the publisher of the ref wanted: most often that thread gives the
 * pod its turn. The publisher of a ref saw the version before it, so the look finds that version,
 * or a later one, for which the ref is not FUTURE.
 */
COLD static void
end_promise(struct mover *mover, const struct bin_ref *ref)
{
    struct worker *worker = mover->worker;
    struct view view;

    if (report_any(queue_of(worker), ref_record(ref->ref), &view) && hold_waits_for_turn(&view)) {
        end_turn(mover, ref_record(ref->ref), &view);
        return;
    }
    if (mover_disturb(worker, ref->ref) &&
        report_any(queue_of(worker), ref_record(ref->ref), &view) &&
        (state_place(view.state) == PLACE_ACTIVE || state_place(view.state) == PLACE_HELD)) {
        (void)transfer_follow(worker, ref_record(ref->ref), view.life); /* ends its lag */
    }
}

bool
mover_try_due(struct mover *mover, struct bin *bin, const struct bin_ref *ref)
{
    uint32_t record = ref_record(ref->ref);
    const struct queue *queue = queue_of(mover->worker);
    struct view view;

    empty_if_full(mover); /* may leave the section */
    struct entry *entry = entry_at(&queue->entries, record);

    /* Ends: each further round is another thread's change of the word. */
    while (entry != NULL) {
        uint64_t state;
        enum verdict verdict = bin_verdict_of(bin, entry, ref->ref, &state);

        if (verdict == VERDICT_FUTURE && place_backs_off(bin->residence.place)) {
            const struct bin_caller caller = bin_caller(mover->worker);

            if (bin_help(bin, &caller, entry, ref->ref, ref->cause, &state)) {
                continue;
            }
        }
        if (verdict == VERDICT_FUTURE) {
            end_promise(mover, ref);
        }
        if (verdict != VERDICT_VALID) {
            return false;
        }
        if (report_at(queue, entry, state, &view)) {
            if (hold_waits_for_turn(&view) && description_keeps(&view.description, mover->now)) {
                end_turn(mover, record, &view);
                return true;
            }
            (void)begin_pod(mover, record, view.life);
            mover->due = &view;
            mover->due_state = state;
            try_pod(mover, &view);
            mover->due = NULL;
            return true;
        }
    }
    return false;
}

bool
mover_disturb(struct worker *worker, uint64_t ref)
{
    struct entry *entry = entry_at(&queue_of(worker)->entries, ref_record(ref));

    return entry == NULL || disturb(entry, ref) != LAG_AT_END;
}

/* ---- hosts ----------------------------------------------------------------------------------- */

bool
mover_holds(const struct mover *mover, uint32_t record)
{
    return has(mover->batch, mover->batch->count, record);
}

schedq_status_t
mover_collect(struct mover *mover, uint32_t record, struct view *view, const struct way *way,
              uint64_t number)
{
    if (is_described(mover, view, way->place)) {
        if (mover_holds(mover, record)) {
            move_batch(mover); /* the earlier decision is the one that counts */
        }
        schedq_status_t status = describe_moved(mover, record, view, way->place);

        if (status != SCHEDQ_OK) {
            return status == SCHEDQ_NOMEM ? SCHEDQ_NOMEM : SCHEDQ_CHANGED;
        }
    }
    (void)begin_pod(mover, record, number);
    return bring(mover, record, view, way);
}

void
mover_move(struct mover *mover)
{
    if (mover->batch->count > 0) {
        move_batch(mover);
    }
}

bool
mover_next_lost(struct mover *mover, uint64_t *number, bool *changed)
{
    struct mover_batch *batch = mover->batch;

    if (batch->lost == 0) {
        return false;
    }
    const struct mover_item *item = &batch->items[MOVER_BATCH - batch->lost--];

    *number = item->pod.life;
    *changed = !item->unpublished;
    return true;
}

schedq_status_t
mover_gate(struct mover *mover, uint32_t record, const struct view *view, uint8_t gate,
           uint64_t asked)
{
    const struct way way = {.place = PLACE_GATED, .gate = gate};
    struct mover_pod pod = {.record = record, .life = view->life};

    mover->no_memory = false; /* for a pod before */
    switch (gate_pod(mover, &pod, view, &way, asked)) {
    case OUTCOME_OUTDATED:
        return SCHEDQ_RETRY;
    case OUTCOME_DONE:
        return mover->no_memory ? SCHEDQ_NOMEM : SCHEDQ_OK;
    default:
        return SCHEDQ_CHANGED;
    }
}

void
mover_end(struct mover *mover)
{
    flush(mover);
}
