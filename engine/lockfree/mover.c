/*
 * The moves of mover.h, which has the essay: linearization, ordering, progress. The fences between what was published and what is
 * looked at next are here (gate_pod:A, move_group:A, mover_apply:A); each loop says whose change another round is.
 */
#include "lockfree/mover.h"

#include "lockfree/describe.h"
#include "lockfree/objects.h"
#include "lockfree/sort.h"
#include "lockfree/switch.h"
#include "lockfree/tie.h"

void
mover_begin(struct mover *mover)
{
    mover->batch = mover->worker->batch;
    mover->batch->count = 0;
    mover->no_memory = false;
}

struct subject
mover_subject(const struct view *view)
{
    return (struct subject){.object = view->description.object,
                            .history = &view->history,
                            .unschedulable = view->unschedulable,
                            .pending = view->pending,
                            .profile = view->profile,
                            .gate = view->gate};
}

/* What was decided stands if nothing else changed: *view is as of afterwards. SCHEDQ_RETRY: look at the pod again. */
static schedq_status_t
renominate(struct worker *worker, uint32_t record, struct view *view)
{
    const struct queue *queue = queue_of(worker);
    uint64_t state = view->state;
    schedq_status_t status = describe_nomination(worker, record, view, view->description.described_node);

    if (status == SCHEDQ_OK && !(report_any(queue, record, view) && view->state == state)) {
        status = SCHEDQ_RETRY;
    }
    return status;
}

static struct moving
moving_of(const struct view *view, int64_t since)
{
    return (struct moving){.description = &view->description,
                           .history = &view->history,
                           .unschedulable = view->unschedulable,
                           .pending = view->pending,
                           .since = since,
                           .profile = view->profile};
}

static void
give_up(struct mover *mover)
{
    mover->no_memory = true;
    if (mover->tells) {
        queue_note_stray(queue_of(mover->worker), STRAY_UNJUDGED);
    }
}

static void
tell(struct mover *mover, enum place place)
{
    switch (place) {
    case PLACE_ACTIVE:
        mover->result->to_active++;
        break;
    case PLACE_GATED:
        mover->result->to_gated++;
        break;
    default:
        mover->result->to_backoff++;
        break;
    }
}

/* ---- behind a gate ---------------------------------------------------------------------------------------------------------- */

/* What was published for the next version gets stale, the pod stays where it is. The lag must be below its end. */
static void
raise_lag(struct entry *entry, uint64_t state)
{
    (void)u64_cas(&entry->word.low, state, state_described(state)); /* raise_lag:A */
}

/* UNJUDGED: the pod was moved behind a gate that somebody has to ask. */
enum outcome { OUTCOME_DONE, OUTCOME_AGAIN, OUTCOME_OUTDATED, OUTCOME_UNJUDGED };

static uint32_t
cause_of_gated(const struct mover *mover, bool came_in)
{
    bool counts = came_in && queue_of(mover->worker)->base.rules.counts_updates && mover->label != NO_LABEL;

    return counts ? cause_of(mover->label, false) : CAUSE_NONE;
}

static void
tell_gated(struct mover *mover, bool counts)
{
    tally_add(&mover->worker->tally.moves, mover->counts_gated ? 1 : 0);
    if (counts) {
        tell(mover, PLACE_GATED);
    }
}

/* Its gate refuses it again: it stands where events and time find it. A host's ref gets another version. */
static enum outcome
stay_gated(struct mover *mover, const struct view *view, bool came_in)
{
    if (queue_of(mover->worker)->base.rules.host &&
        !u64_cas(&view->entry->word.low, view->state, state_described(view->state))) {
        return OUTCOME_AGAIN;
    }
    switch_count(mover->worker, PLACE_GATED, cause_of_gated(mover, came_in));
    tell_gated(mover, came_in);
    return OUTCOME_DONE;
}

/*
 * `asked` is the newest event that was drawn before PreEnqueue was asked: what changed by then, it has seen.
 *
 * One gate counts for the next version: who finds another's there, or an event that nobody asked about, makes that version stale and
 * decides again. With a lag at its end there is no version to stay at: then the pod moves behind the gate that stands, which ends
 * the lag, and is decided about again. Who stops in between leaves a note.
 */
static enum outcome
gate_pod(struct mover *mover, uint32_t record, const struct view *view, const struct way *way, uint64_t asked)
{
    struct worker *worker = mover->worker;
    struct queue *queue = queue_of(worker);
    const struct rules *rules = &queue->base.rules;
    uint64_t next = state_switched(view->state, state_band(view->state), PLACE_GATED);
    const struct moving moving = moving_of(view, rules->gates_see_leftover ? mover->now : view->history.timestamp_ns);
    enum place from = state_place(view->state);
    bool came_in = mover->recount || (from != PLACE_PARKED && from != PLACE_GATED);
    bool may_stay = !state_lag_is_at_end(view->state);
    struct way there = *way;
    struct destination to;

    if (from == PLACE_GATED && view->gate == way->gate && !rules->gates_see_leftover && may_stay) {
        return stay_gated(mover, view, came_in);
    }
    there.gate = entry_set_gate(view->entry, view->state, state_version(next), way->gate);
    if (there.gate != way->gate && may_stay) {
        raise_lag(view->entry, view->state);
        return OUTCOME_AGAIN;
    }
    if (!destination_find(worker, &there, &moving, &to) || !destination_prepare(worker, &to)) {
        give_up(mover);
        return OUTCOME_DONE;
    }
    u64_or(&view->entry->unschedulable, gate_bit(there.gate)); /* before the ref: who meets that sees the bit */
    switch_announce(worker, PLACE_GATED);                      /* before the look at the stamp: hosts read the word */
    destination_publish(worker, &to, ref_make(state_version(next), record), CAUSE_NONE);
    atomic_fence(); /* gate_pod:A, between the ref and the look at the stamp */
    bool judged =
        there.gate == way->gate && stamps_newest(&queue->stamps, view->profile, gate_bit(there.gate)) <= asked;

    if (!judged && may_stay) {
        switch_withdraw(worker, PLACE_GATED);
        raise_lag(view->entry, view->state);
        return OUTCOME_OUTDATED;
    }
    if (!judged && !rules->host) {
        queue_note_stray(queue, STRAY_UNJUDGED);
    }
    (void)destination_announce(worker, &to);
    if (!switch_announced(worker, view->entry, view->state, view->desc, next,
                          judged ? cause_of_gated(mover, came_in) : CAUSE_NONE)) {
        switch_withdraw(worker, PLACE_GATED);
        return OUTCOME_AGAIN;
    }
    if (!judged) {
        return OUTCOME_UNJUDGED;
    }
    tell_gated(mover, came_in || from != PLACE_GATED);
    return OUTCOME_DONE;
}

/* ---- batches ------------------------------------------------------------------------------------------------------------------ */

static bool
goes_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct mover_batch *batch = ctx;
    const struct destination *first = &batch->items[a].to, *second = &batch->items[b].to;

    if (first->bin != second->bin) {
        return (uintptr_t)first->bin < (uintptr_t)second->bin;
    }
    return first->key != second->key ? first->key < second->key : tie_before(&first->tie, &second->tie);
}

static uint64_t
next_of(const struct mover_item *item)
{
    uint32_t band = item->to.band != NULL ? item->to.band->id : state_band(item->state);

    return state_switched(item->state, band, item->to.place);
}

static uint32_t
cause_of_mover(const struct mover *mover)
{
    return mover->label != NO_LABEL ? cause_of(mover->label, mover->counts) : CAUSE_NONE;
}

/* One run for items[order[from, to)], which go into one bin. */
static bool
publish_group(struct mover *mover, uint32_t from, uint32_t to)
{
    struct worker *worker = mover->worker;
    struct mover_batch *batch = mover->batch;
    struct bin *bin = batch->items[batch->order[from]].to.bin;
    const struct bin_caller caller = bin_caller(worker);
    struct run *run = run_take(caller.pool, to - from);

    if (run == NULL) {
        return false;
    }
    run_set_cause(run, cause_of_mover(mover));
    for (uint32_t i = from; i < to; i++) {
        const struct mover_item *item = &batch->items[batch->order[i]];
        uint64_t ref = ref_make(state_version(next_of(item)), item->record);

        run_put(run, ref, item->to.key);
        if (item->to.lot != NULL) {
            lot_publish(item->to.lot, worker->base.number, ref, ++worker->insertions);
        }
    }
    if (!bin_publish_run(bin, &caller, run)) {
        run_give(caller.pool, run);
        return false;
    }
    return true;
}

/* The switch, or somebody who helped: what he moved he does not tell. Lost: somebody changed the pod. */
static bool
switch_item(struct mover *mover, const struct mover_item *item)
{
    uint64_t next = next_of(item);

    if (switch_pod(mover->worker, item->entry, item->state, item->desc, next, cause_of_mover(mover))) {
        tell(mover, item->to.place);
        return true;
    }
    uint64_t state = entry_state(item->entry);

    return state_version(state) == state_version(next) && state_place(state) == item->to.place;
}

static void
forget_item(struct mover_item *item)
{
    item->entry = NULL;
}

static void
switch_group(struct mover *mover, uint32_t from, uint32_t to)
{
    struct mover_batch *batch = mover->batch;

    for (uint32_t i = from; i < to; i++) {
        struct mover_item *item = &batch->items[batch->order[i]];

        if (switch_item(mover, item)) {
            forget_item(item);
        }
    }
}

static void
announce_group(struct mover *mover, uint32_t from, uint32_t to)
{
    struct mover_batch *batch = mover->batch;
    int64_t due = SCHEDQ_NO_DEADLINE;

    for (uint32_t i = from; i < to; i++) {
        const struct destination *destination = &batch->items[batch->order[i]].to;

        due = destination->due < due ? destination->due : due;
    }
    destination_due(mover->worker, due);
}

/* What cannot be published, or stands in a band that was retired meanwhile, is left in the batch. */
static void
move_group(struct mover *mover, uint32_t from, uint32_t to)
{
    struct worker *worker = mover->worker;
    struct mover_batch *batch = mover->batch;
    const struct destination *first = &batch->items[batch->order[from]].to;

    if (!publish_group(mover, from, to)) {
        give_up(mover);
        for (uint32_t i = from; i < to; i++) {
            forget_item(&batch->items[batch->order[i]]);
        }
        return;
    }
    atomic_fence(); /* move_group:A, between the refs and the looks at the bin's word and the deadline */
    if (first->band != NULL ? !publish_mark(worker, first->band) : !bin_mark(first->bin)) {
        return;
    }
    announce_group(mover, from, to); /* marked before: who plans passes over bins that are not (deadline.h) */
    switch_group(mover, from, to);
    mover->result->poppable |= destination_is_poppable(queue_of(worker), first->place) ? 1 : 0;
}

static void
move_batch(struct mover *mover)
{
    struct mover_batch *batch = mover->batch;
    uint32_t count = batch->count;

    for (uint32_t i = 0; i < count; i++) {
        batch->order[i] = i;
    }
    sort_numbers(batch->order, count, goes_before, batch);
    for (uint32_t from = 0, to = 0; from < count; from = to) {
        const struct bin *bin = batch->items[batch->order[from]].to.bin;

        while (to < count && batch->items[batch->order[to]].to.bin == bin) {
            to++;
        }
        move_group(mover, from, to);
    }
    if (mover->result->poppable) {
        publish_wake(mover->worker);
    }
}

struct loser {
    uint32_t record;
    uint64_t life;
};

/* Losers are decided again: at most as many as there is room for. */
static void
flush(struct mover *mover)
{
    struct mover_batch *batch = mover->batch;

    while (batch->count > 0) {
        struct loser losers[MOVER_BATCH];
        uint32_t lost = 0;

        move_batch(mover);
        for (uint32_t i = 0; i < batch->count; i++) {
            if (batch->items[i].entry != NULL) {
                losers[lost++] = (struct loser){batch->items[i].record, batch->items[i].life};
            }
        }
        batch->count = 0;
        for (uint32_t i = 0; i < lost; i++) {
            mover_try(mover, losers[i].record, losers[i].life);
        }
    }
}

static void
note_first_attempt(const struct mover *mover, const struct view *view, const struct way *way)
{
    if (way->place == PLACE_ACTIVE && u64_load(&view->entry->initial_attempt) == 0) { /* the exchange looks again */
        (void)u64_cas(&view->entry->initial_attempt, 0, (uint64_t)mover->now);
    }
}

static void
collect(struct mover *mover, uint32_t record, const struct view *view, const struct way *way)
{
    struct mover_batch *batch = mover->batch;
    struct mover_item *item = &batch->items[batch->count];
    const struct moving moving = moving_of(view, 0);

    if (!destination_find(mover->worker, way, &moving, &item->to) || !destination_prepare(mover->worker, &item->to)) {
        give_up(mover);
        return;
    }
    if (way->gate != 0) {
        (void)entry_set_gate(view->entry, view->state, version_next(state_version(view->state)), way->gate);
    }
    note_first_attempt(mover, view, way);
    item->entry = view->entry;
    item->record = record;
    item->life = view->life;
    item->state = view->state;
    item->desc = view->desc;
    batch->count++;
}

/* ---- one pod -------------------------------------------------------------------------------------------------------------------- */

static bool
is_movable(uint64_t state)
{
    switch (state_place(state)) {
    case PLACE_BACKOFF:
    case PLACE_ERROR_BACKOFF:
    case PLACE_PARKED:
    case PLACE_GATED:
        return true;
    default:
        return false;
    }
}

/* False: it stays. `unjudged`: not without its gates being asked. */
static bool
decide(struct mover *mover, const struct view *view, bool unjudged, struct way *way)
{
    if (mover->decide(mover, view, way)) {
        return true;
    }
    if (!unjudged && !state_lag_is_at_end(view->state)) {
        return false;
    }
    const struct subject subject = mover_subject(view);

    *way = route_after_backoff(mover->worker, &subject, mover->now);
    return true;
}

static enum outcome
try_view(struct mover *mover, uint32_t record, struct view *view, bool unjudged)
{
    struct worker *worker = mover->worker;
    struct queue *queue = queue_of(worker);
    uint64_t asked = stamps_drawn(&queue->stamps); /* before anybody is asked */
    struct way way;

    if (!objects_take(worker, view->entry, view->state, &view->description, &view->desc)) {
        return OUTCOME_AGAIN;
    }
    bool moves = decide(mover, view, unjudged, &way);

    object_give_back(queue, view->description.object);
    if (!moves) {
        return OUTCOME_DONE;
    }
    if (way.place == PLACE_GATED) {
        return gate_pod(mover, record, view, &way, asked);
    }
    /* An event's label may be that of an add. Without memory the nomination stays as it was. */
    if (way.place == PLACE_ACTIVE && nominate_when_active(queue->base.rules.nominate, mover->label) &&
        renominate(worker, record, view) == SCHEDQ_RETRY) {
        return OUTCOME_AGAIN;
    }
    collect(mover, record, view, &way);
    return OUTCOME_DONE;
}

void
mover_try(struct mover *mover, uint32_t record, uint64_t life)
{
    const struct queue *queue = queue_of(mover->worker);
    struct view view;

    if (mover->batch->count == MOVER_BATCH) {
        flush(mover);
    }
    enum outcome outcome = OUTCOME_AGAIN;
    bool unjudged = false;

    /* Ends: each further round means that somebody changed the pod, that an event reached its gate, or that a lag ended. */
    while (outcome != OUTCOME_DONE && report_view(queue, record, life, &view) && is_movable(view.state)) {
        outcome = try_view(mover, record, &view, unjudged);
        unjudged = unjudged || outcome == OUTCOME_UNJUDGED;
    }
}

enum disturbance { DISTURBED, NOT_FUTURE, LAG_AT_END };

/* Whoever moves it has to decide again. */
static enum disturbance
disturb(struct entry *entry, uint64_t ref)
{
    /* Ends: each further round means that somebody changed the word. */
    for (;;) {
        uint64_t state = entry_state(entry); /* disturb:A */

        if (state_judge(state, ref, PLACE_PARKED, 0) != VERDICT_FUTURE) {
            return NOT_FUTURE;
        }
        bool flies = state_place(state) == PLACE_INFLIGHT;

        if (!flies && state_lag_is_at_end(state)) {
            return LAG_AT_END;
        }
        if (u64_cas(&entry->word.low, state, flies ? state | FLAG_JUDGE : state_described(state))) { /* disturb:B */
            return DISTURBED;
        }
    }
}

bool
mover_try_ref(struct mover *mover, uint64_t ref)
{
    uint32_t record = ref_record(ref);
    struct entry *entry = entry_at(&queue_of(mover->worker)->entries, record);

    /* Ends: each further round means that somebody changed the word. */
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
        uint64_t life = u64_load_acquire(&entry->life); /* acquire: the look at the word comes after */

        if (entry_state(entry) == state) { /* the life of the version that was judged */
            mover_try(mover, record, life);
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

schedq_status_t
mover_apply(struct mover *mover, uint32_t record, struct view *view, const struct way *way, uint64_t asked)
{
    struct worker *worker = mover->worker;
    bool renews =
        way->place == PLACE_ACTIVE && nominate_when_active(queue_of(worker)->base.rules.nominate, mover->label);
    const struct moving moving = moving_of(view, 0);
    struct mover_item item = {
        .life = view->life, .state = view->state, .desc = view->desc, .entry = view->entry, .record = record};

    if (way->place == PLACE_GATED) {
        switch (gate_pod(mover, record, view, way, asked)) {
        case OUTCOME_AGAIN:
        case OUTCOME_UNJUDGED:
            return SCHEDQ_CHANGED;
        case OUTCOME_OUTDATED:
            return SCHEDQ_RETRY;
        case OUTCOME_DONE:
            break;
        }
        return mover->no_memory ? SCHEDQ_NOMEM : SCHEDQ_OK;
    }
    /* Ends: each further round means that a band was retired. */
    do {
        if (!destination_find(worker, way, &moving, &item.to) || !destination_prepare(worker, &item.to)) {
            return SCHEDQ_NOMEM;
        }
        if (renews) {
            schedq_status_t status = renominate(worker, record, view);

            if (status != SCHEDQ_OK) {
                return status == SCHEDQ_NOMEM ? SCHEDQ_NOMEM : SCHEDQ_CHANGED;
            }
            item.desc = view->desc;
            renews = false;
        }
        note_first_attempt(mover, view, way);
        destination_publish(worker, &item.to, ref_make(state_version(next_of(&item)), record), cause_of_mover(mover));
        atomic_fence(); /* mover_apply:A, as move_group:A */
    } while (!destination_announce(worker, &item.to));
    if (!switch_item(mover, &item)) {
        return SCHEDQ_CHANGED;
    }
    if (destination_is_poppable(queue_of(worker), way->place)) {
        mover->result->poppable = 1;
        publish_wake(worker);
    }
    return SCHEDQ_OK;
}

bool
mover_holds(const struct mover *mover, uint32_t record)
{
    uint32_t i = 0;

    while (i < mover->batch->count && mover->batch->items[i].record != record) {
        i++;
    }
    return i < mover->batch->count;
}

void
mover_end(struct mover *mover)
{
    flush(mover);
}
