/*
 * The moves of mover.h, which has the essay. The fences between what was published and what is
 * looked at next are in transfer.c, and for batches here (move_group:A).
 */
#include "lockfree/calls/mover.h"

#include "lockfree/calls/sort.h"
#include "lockfree/moves/describe.h"
#include "lockfree/moves/objects.h"
#include "lockfree/refs/tie.h"

void
mover_begin(struct mover *mover)
{
    mover->batch = mover->worker->batch;
    mover->batch->count = 0;
    mover->no_memory = false;
}

/*
 * The decision holds if nothing else changed: *view is the pod afterwards. SCHEDQ_RETRY: look at
 * the pod again.
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

/*
 * What becoming active says of a pod: its nomination, and the initial attempt of one that had none.
 * Before it is published, because a helper knows neither; the attempt counts only where the pod is
 * active.
 */
static schedq_status_t
describe_active(const struct mover *mover, uint32_t record, struct view *view)
{
    const struct rules *rules = &queue_of(mover->worker)->base.rules;
    const struct description *now = &view->description;
    bool renominates = (now->described_node != 0 || now->nominated_node != 0) &&
                       nominate_when_active(rules->nominate, mover->label);
    bool is_first = view->history.initial_attempt_ns == 0;

    if (!renominates && !is_first) {
        return SCHEDQ_OK;
    }
    struct redescription change = describe_begin(view);

    change.renominates = renominates;
    if (renominates) {
        change.description.nominated_node = now->described_node;
    }
    if (is_first) {
        change.gating.first = mover->now;
    }
    return install(mover->worker, record, view, &change);
}

static void
give_up(struct mover *mover)
{
    mover->no_memory = true;
    if (mover->tells) {
        queue_note_stray(queue_of(mover->worker), STRAY_UNJUDGED);
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

/* UNJUDGED: the pod is behind a gate that heard of an event, and has to be asked once more. */
enum outcome { OUTCOME_DONE, OUTCOME_AGAIN, OUTCOME_OUTDATED, OUTCOME_UNJUDGED };

static uint32_t
cause_of_gated(const struct mover *mover, bool came_in)
{
    bool counts =
        came_in && queue_of(mover->worker)->base.rules.counts_updates && mover->label != NO_LABEL;

    return counts ? cause_of(mover->label, false) : CAUSE_NONE;
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
 * Its gate refuses it again: the pod stays where events and time find it. A host's ref gets another
 * version.
 */
static enum outcome
stay_gated(struct mover *mover, const struct question *question)
{
    const struct view *view = &question->view;

    if (queue_of(mover->worker)->base.rules.host &&
        !u64_cas(&view->entry->word.low, view->state, state_described(view->state))) {
        return OUTCOME_AGAIN;
    }
    switch_count(mover->worker, PLACE_GATED, cause_of_gated(mover, question->answer.came_in));
    tell_gated(mover, question->answer.came_in || question->answer.moved);
    return OUTCOME_DONE;
}

/*
 * The switch to GATED, with the gate if that is another one. SCHEDQ_RETRY: another thread changed
 * the pod.
 */
static schedq_status_t
switch_gated(struct mover *mover, const struct question *question, const struct transfer *transfer,
             uint32_t cause)
{
    struct worker *worker = mover->worker;
    const struct view *view = &question->view;
    uint8_t gate = question->answer.way.gate;

    if (stay_gate(view->gating.stay) == gate) {
        return transfer_switch(worker, transfer, cause) ? SCHEDQ_OK : SCHEDQ_RETRY;
    }
    struct redescription change = describe_begin(view);

    change.gating.stay = (change.gating.stay & ~UINT64_C(0xff)) | gate;
    change.gating.refused |= gate_bit(gate);
    change.word = transfer_next(transfer);
    schedq_status_t status = describe_install(worker, question->record, view, &change);

    if (status == SCHEDQ_OK) {
        switch_counted(worker, view->state, change.word, cause);
    } else {
        transfer_withdraw(worker, transfer);
    }
    return status;
}

/* A pod that lost its switch may be owed a question still when another comes to be. */
static void
owe(struct worker *worker, uint64_t debt)
{
    uint64_t before = u64_load(&worker->owed);

    if (before != 0 && before != debt) {
        queue_note_stray(queue_of(worker), STRAY_UNJUDGED);
    }
    u64_store(&worker->owed, debt); /* the switch is a full fence */
}

/*
 * The gates saw the events up to question->answer.asked. A later event either meets the ref and
 * disturbs this mover, or the mover sees its stamp. Then the pod is switched all the same, and
 * asked about once more where it is: there every event finds it, so a second refusal by the same
 * gate needs no look. A pod that has this gate already stays where it is: the event finds it there.
 * A host is told instead.
 *
 * `owed`: if the mover stops in between, a tick asks.
 */
static enum outcome
gate_pod(struct mover *mover, struct question *question)
{
    struct worker *worker = mover->worker;
    const struct queue *queue = queue_of(worker);
    const struct rules *rules = &queue->base.rules;
    const struct view *view = &question->view;
    const struct way *way = &question->answer.way;
    enum place from = state_place(view->state);
    bool stays = from == PLACE_GATED && view->gate == way->gate;
    bool may_stay = !state_lag_is_at_end(view->state);
    struct transfer transfer;

    question->answer.came_in =
        question->answer.came_in || mover->recount || (from != PLACE_PARKED && from != PLACE_GATED);
    question->answer.moved = question->answer.moved || from != PLACE_GATED;
    if (stays && may_stay && (question->answer.placed || !rules->gates_see_leftover)) {
        return stay_gated(mover, question);
    }
    if (!transfer_prepare(worker, question->record, view, way, mover->now, &transfer)) {
        give_up(mover);
        return OUTCOME_DONE;
    }
    transfer_publish(worker, &transfer, CAUSE_NONE);
    bool judged =
        stamps_newest(&queue->stamps, view->profile, gate_bit(way->gate)) <= question->answer.asked;

    if (!judged && may_stay && (stays || rules->host)) {
        transfer_withdraw(worker, &transfer);
        raise_lag(view->entry, view->state);
        return rules->host ? OUTCOME_OUTDATED : stay_gated(mover, question);
    }
    if (!judged && !rules->host) {
        owe(worker, ref_make(question->life, question->record));
    }
    schedq_status_t status =
        switch_gated(mover, question, &transfer,
                     judged ? cause_of_gated(mover, question->answer.came_in) : CAUSE_NONE);

    if (status != SCHEDQ_OK) {
        if (status == SCHEDQ_NOMEM) {
            give_up(mover);
        }
        return status == SCHEDQ_NOMEM ? OUTCOME_DONE : OUTCOME_AGAIN;
    }
    question->answer.placed = true;
    if (!judged) {
        return OUTCOME_UNJUDGED;
    }
    tell_gated(mover, question->answer.came_in || question->answer.moved);
    return OUTCOME_DONE;
}

/* ---- batches --------------------------------------------------------------------------------- */

static bool
goes_before(const void *ctx, uint32_t a, uint32_t b)
{
    const struct mover_batch *batch = ctx;
    const struct destination *first = &batch->items[a].transfer.to,
                             *second = &batch->items[b].transfer.to;

    if (first->bin != second->bin) {
        return (uintptr_t)first->bin < (uintptr_t)second->bin;
    }
    return first->key != second->key ? first->key < second->key
                                     : tie_before(&first->tie, &second->tie);
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
    struct bin *bin = batch->items[batch->order[from]].transfer.to.bin;
    const struct bin_caller caller = bin_caller(worker);
    struct run *run = run_take(caller.pool, to - from);

    if (run == NULL) {
        return false;
    }
    run_set_cause(run, cause_of_mover(mover));
    for (uint32_t i = from; i < to; i++) {
        const struct transfer *item = &batch->items[batch->order[i]].transfer;
        uint64_t ref = transfer_ref(item);

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

/*
 * The switch, by this thread or a helper, which does not report the pod. Lost: another thread
 * changed the pod.
 */
static bool
switch_item(struct mover *mover, const struct transfer *item)
{
    if (transfer_switch(mover->worker, item, cause_of_mover(mover))) {
        transfer_report(item->to.place, mover->result);
        return true;
    }
    return transfer_was_helped(item);
}

static void
forget_item(struct mover_item *item)
{
    item->transfer.entry = NULL;
}

static void
switch_group(struct mover *mover, uint32_t from, uint32_t to)
{
    struct mover_batch *batch = mover->batch;

    for (uint32_t i = from; i < to; i++) {
        struct mover_item *item = &batch->items[batch->order[i]];

        switch_announce(mover->worker, item->transfer.to.place);
        if (switch_item(mover, &item->transfer)) {
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
        const struct destination *destination = &batch->items[batch->order[i]].transfer.to;

        due = destination->due < due ? destination->due : due;
    }
    transfer_lower_deadline(mover->worker, due);
}

static void
move_group(struct mover *mover, uint32_t from, uint32_t to)
{
    struct worker *worker = mover->worker;
    struct mover_batch *batch = mover->batch;
    const struct destination *first = &batch->items[batch->order[from]].transfer.to;

    if (!publish_group(mover, from, to)) {
        give_up(mover);
        for (uint32_t i = from; i < to; i++) {
            forget_item(&batch->items[batch->order[i]]);
        }
        return;
    }
    /* move_group:A, between the refs and the looks at the bin's word and the deadline */
    atomic_fence();
    (void)bin_mark(first->bin); /* a band that find_again, or collect, found is not retired */
    /* marked before: planners pass over bins that are not (deadline.h) */
    announce_group(mover, from, to);
    switch_group(mover, from, to);
    mover->result->poppable |= transfer_is_poppable(queue_of(worker), first->place) ? 1 : 0;
}

/*
 * What was found before a pause is found again: a band may have been given back, and so may the
 * page of a pod that is over.
 */
static bool
find_again(const struct mover *mover, struct mover_item *item)
{
    struct queue *queue = queue_of(mover->worker);
    struct destination *to = &item->transfer.to;

    item->transfer.entry = entry_at(&queue->entries, item->pod.record);
    if (item->transfer.entry != NULL && to->place == PLACE_ACTIVE) {
        to->band = publish_band(mover->worker, item->priority);
        to->bin = to->band != NULL ? &to->band->bin : NULL;
    }
    return item->transfer.entry != NULL && to->bin != NULL;
}

/* Those that are there, in batch->order. Without memory for its band a pod stays where it was. */
static uint32_t
order_batch(struct mover *mover)
{
    struct mover_batch *batch = mover->batch;
    uint32_t count = 0;

    for (uint32_t i = 0; i < batch->count; i++) {
        struct mover_item *item = &batch->items[i];

        if (mover->worker->pauses == batch->pauses || find_again(mover, item)) {
            batch->order[count++] = i;
        } else if (item->transfer.entry != NULL) {
            give_up(mover);
            forget_item(item);
        }
    }
    sort_numbers(batch->order, count, goes_before, batch);
    return count;
}

static void
move_batch(struct mover *mover)
{
    struct mover_batch *batch = mover->batch;
    uint32_t count = order_batch(mover);

    for (uint32_t from = 0, to = 0; from < count; from = to) {
        const struct bin *bin = batch->items[batch->order[from]].transfer.to.bin;

        while (to < count && batch->items[batch->order[to]].transfer.to.bin == bin) {
            to++;
        }
        move_group(mover, from, to);
    }
    if (mover->result->poppable) {
        publish_wake(mover->worker);
    }
}

static void try_again(struct mover *mover, const struct mover_loser *loser);

/*
 * Losers are tried again: at most as many as there is room for. Answers about pods that did not
 * change are kept.
 */
static void
flush(struct mover *mover)
{
    struct mover_batch *batch = mover->batch;

    while (batch->count > 0) {
        struct mover_loser losers[MOVER_BATCH];
        uint32_t lost = 0;

        move_batch(mover);
        for (uint32_t i = 0; i < batch->count; i++) {
            if (batch->items[i].transfer.entry != NULL) {
                losers[lost++] = batch->items[i].pod;
            }
        }
        batch->count = 0;
        for (uint32_t i = 0; i < lost; i++) {
            try_again(mover, &losers[i]);
        }
    }
}

static void
collect(struct mover *mover, const struct question *question)
{
    struct mover_batch *batch = mover->batch;
    struct mover_item *item = &batch->items[batch->count];
    const struct view *view = &question->view;

    if (batch->count == 0) {
        batch->pauses = mover->worker->pauses;
    }
    if (!transfer_prepare(mover->worker, question->record, view, &question->answer.way, mover->now,
                          &item->transfer)) {
        give_up(mover);
        return;
    }
    item->pod = (struct mover_loser){
        .record = question->record, .life = question->life, .answer = question->answer};
    item->priority = view->description.priority;
    batch->count++;
}

/* ---- one pod --------------------------------------------------------------------------------- */

/*
 * False: it stays. `unjudged`: one that waits for an event does not, without its gates being asked.
 */
static bool
decide(struct mover *mover, const struct view *view, bool unjudged, struct way *way)
{
    bool owed = unjudged && place_waits_for_event(state_place(view->state));

    if (mover->decide(mover, view, way)) {
        return true;
    }
    if (!owed && !state_lag_is_at_end(view->state)) {
        return false;
    }
    *way = route_after_backoff(mover->worker, view, mover->now);
    return true;
}

/*
 * Is what was answered about the pod as it was said of the pod as it is? Its version, and its
 * nomination, do not matter.
 */
static bool
is_about(const struct answer *answer, const struct view *view)
{
    return answer->object == view->description.object && answer->stay == view->gating.stay &&
           answer->place == state_place(view->state);
}

/*
 * The pod as it is, its object retained if it has to be asked about. False: it is not there, or
 * another thread moved it.
 */
static bool
look(struct mover *mover, struct question *question)
{
    const struct queue *queue = queue_of(mover->worker);
    struct view *view = &question->view;

    /* Ends: each further round is another thread's change of the pod. */
    while (report_view(queue, question->record, question->life, view) && state_waits(view->state)) {
        uint64_t desc = view->desc;

        question->answer.known = question->answer.known && is_about(&question->answer, view);
        if (question->answer.known || !objects_counted(queue)) {
            return true;
        }
        if (objects_take(mover->worker, view->entry, view->state, &view->description,
                         &view->desc)) {
            if (view->desc == desc) {
                return true;
            }
            object_give_back(queue, view->description.object);
        }
    }
    return false;
}

/*
 * Asks what becomes of the pod, outside of a section: the CAS that follows compares. False: it was
 * asked about often enough.
 */
static bool
ask(struct mover *mover, struct question *question)
{
    struct worker *worker = mover->worker;
    struct queue *queue = queue_of(worker);
    struct answer *answer = &question->answer;
    struct view *view = &question->view;
    uint64_t calls = u64_load(&worker->tally.gate_calls);
    bool may = answer->asks < ASKS_MAX;
    bool pauses = mover->has_precheck || queue_asks_host(queue);

    if (pauses) {
        section_pause(worker);
    }
    answer->asked = stamps_drawn(&queue->stamps); /* before a hint or gate is asked */
    answer->moves = may && decide(mover, view, answer->unjudged, &answer->way);
    if (u64_load(&worker->tally.gate_calls) != calls) {
        answer->asks++;
    }
    answer->known = true;
    answer->object = view->description.object;
    answer->stay = view->gating.stay;
    answer->place = (uint8_t)state_place(view->state);
    object_give_back(queue, view->description.object);
    if (pauses) {
        section_resume(worker);
        view->entry = entry_at(&queue->entries, question->record);
    }
    return may;
}

/*
 * Without memory for it the pod stays where it was, or, if only its nomination is concerned, moves
 * without.
 */
static enum outcome
act(struct mover *mover, struct question *question)
{
    struct answer *answer = &question->answer;
    struct view *view = &question->view;

    /* none: the pod is over, and its page was given back */
    if (!answer->moves || view->entry == NULL) {
        return OUTCOME_DONE;
    }
    if (answer->way.place == PLACE_GATED) {
        return gate_pod(mover, question);
    }
    if (answer->way.place == PLACE_ACTIVE) {
        switch (describe_active(mover, question->record, view)) {
        case SCHEDQ_OK:
            break;
        case SCHEDQ_NOMEM:
            if (view->history.initial_attempt_ns == 0) {
                give_up(mover);
                return OUTCOME_DONE;
            }
            break;
        default:
            return OUTCOME_AGAIN;
        }
    }
    collect(mover, question);
    return OUTCOME_DONE;
}

static void
try_question(struct mover *mover, struct question *question)
{
    struct worker *worker = mover->worker;
    struct answer *answer = &question->answer;
    enum outcome outcome = OUTCOME_AGAIN;

    if (mover->batch->count == MOVER_BATCH) {
        flush(mover);
    }
    /*
     * Ends: each further round is another thread's change of the pod, or an event of a gate:
     * ASKS_MAX times.
     */
    while (outcome != OUTCOME_DONE && look(mover, question)) {
        if (!answer->known && !ask(mover, question)) {
            queue_note_stray(queue_of(worker), STRAY_UNJUDGED);
            break;
        }
        outcome = act(mover, question);
        if (outcome == OUTCOME_UNJUDGED) {
            answer->known = false;
            answer->unjudged = true;
        }
    }
    const uint64_t debt = ref_make(question->life, question->record);

    if (u64_load(&worker->owed) == debt) {
        flush(mover); /* the pod, if it was collected */
        /* behind its switch, or the note; of another pod if that was tried again */
        if (u64_load(&worker->owed) == debt) {
            u64_store_release(&worker->owed, 0);
        }
    }
}

static void
try_again(struct mover *mover, const struct mover_loser *loser)
{
    struct question question; /* its view is filled by look */

    question.record = loser->record;
    question.life = loser->life;
    question.answer = loser->answer;
    try_question(mover, &question);
}

void
mover_try(struct mover *mover, uint32_t record, uint64_t life)
{
    try_again(mover, &(struct mover_loser){
                         .record = record, .life = life, .answer = {.asks = mover->asks}});
}

void
mover_try_placed(struct mover *mover, uint32_t record, uint64_t life)
{
    try_again(mover, &(struct mover_loser){
                         .record = record,
                         .life = life,
                         .answer = {.asks = 1, .unjudged = true, .placed = true},
                     });
}

enum disturbance { DISTURBED, NOT_FUTURE, LAG_AT_END };

/* Its mover has to decide again. */
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

bool
mover_try_ref(struct mover *mover, uint64_t ref)
{
    uint32_t record = ref_record(ref);
    struct entry *entry = entry_at(&queue_of(mover->worker)->entries, record);

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
        /* acquire: the look at the word comes after */
        uint64_t life = u64_load_acquire(&entry->life);

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

static schedq_status_t
apply_gated(struct mover *mover, uint32_t record, const struct view *view, const struct way *way,
            uint64_t asked)
{
    struct question question = {.record = record,
                                .life = view->life,
                                .view = *view,
                                .answer = {.way = *way, .asked = asked}};

    switch (gate_pod(mover, &question)) {
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

schedq_status_t
mover_apply(struct mover *mover, uint32_t record, struct view *view, const struct way *way,
            uint64_t asked)
{
    if (way->place == PLACE_GATED) {
        return apply_gated(mover, record, view, way, asked);
    }
    struct worker *worker = mover->worker;
    struct transfer transfer;

    if (!transfer_prepare(worker, record, view, way, mover->now, &transfer)) {
        return SCHEDQ_NOMEM;
    }
    if (way->place == PLACE_ACTIVE) {
        schedq_status_t status = describe_active(mover, record, view);

        if (status != SCHEDQ_OK) {
            return status == SCHEDQ_NOMEM ? SCHEDQ_NOMEM : SCHEDQ_CHANGED;
        }
        transfer.desc = view->desc;
    }
    transfer_publish(worker, &transfer, cause_of_mover(mover));
    if (!switch_item(mover, &transfer)) {
        return SCHEDQ_CHANGED;
    }
    if (transfer_is_poppable(queue_of(worker), way->place)) {
        mover->result->poppable = 1;
        publish_wake(worker);
    }
    return SCHEDQ_OK;
}

bool
mover_holds(const struct mover *mover, uint32_t record)
{
    uint32_t i = 0;

    while (i < mover->batch->count && mover->batch->items[i].pod.record != record) {
        i++;
    }
    return i < mover->batch->count;
}

void
mover_end(struct mover *mover)
{
    flush(mover);
}
