/* The records of groups: gather_record.h has the essay. */
#include "lockfree/moves/gather_record.h"

#include "lockfree/moves/stray.h"

/* ---- the record ------------------------------------------------------------------------------ */

void
gather_wake(struct worker *worker)
{
    struct queue *queue = queue_of(worker);

    u32_store(u32_of(&queue->base.words.poppable), 1);
    sleepers_wake_all(&queue->sleepers);
    if (waiters_are_there(&queue->sleepers)) {
        waiters_wake(&queue->sleepers, &queue->base.notifier);
    }
}

static void
begin_attempt(struct worker *worker, uint32_t record, const struct view *view, int64_t now)
{
    if (state_place(view->state) == PLACE_ASIDE && view->history.initial_attempt_ns == 0) {
        struct redescription change = describe_begin(view);

        change.gating.first = now;
        change.gating.stay |= STAY_ATTEMPTED;
        (void)describe_install(worker, record, view, &change);
    }
}

void
gather_begin_attempt(struct worker *worker, uint32_t record, uint64_t life, int64_t now)
{
    struct view view;

    if (report_view(queue_of(worker), record, life, &view)) {
        begin_attempt(worker, record, &view, now);
    }
}

struct beginning {
    struct worker *worker;
    int64_t now;
};

/* nominated_fn. Most members have been tried before, and their records say so. */
static bool
begin_one(void *ctx, uint32_t record, uint64_t life)
{
    const struct beginning *beginning = ctx;
    struct worker *worker = beginning->worker;
    const struct entry *entry = entry_at(&queue_of(worker)->entries, record);
    struct view view;

    if (entry == NULL || u64_load_acquire(&entry->initial_attempt) != 0) {
        return false; /* or a later life's: that began meanwhile, and is joining */
    }
    if (gather_is_here(worker, record, life, false, &view)) {
        begin_attempt(worker, record, &view, beginning->now);
    }
    return false;
}

void
gather_begin_attempts(struct worker *worker, uint64_t number, int64_t now)
{
    (void)gather_any(worker, number, begin_one, &(struct beginning){.worker = worker, .now = now});
}

void
gather_count_pods(struct worker *worker, enum place place, uint32_t cause, uint64_t pods,
                  bool entity)
{
    struct queue *queue = queue_of(worker);
    uint32_t label = (cause & CAUSE_LABEL) - 1;
    enum incoming_place to = place == PLACE_READY ? INCOMING_ACTIVE : incoming_place(place);

    if (cause != CAUSE_NONE && (label != LABEL_POD_UPDATE || queue->base.rules.counts_updates)) {
        incoming_count_group(&queue_groups(queue)->incoming, label, to, pods, entity);
    }
}

void
gather_count(struct worker *worker, uint64_t number, enum place place, uint32_t cause)
{
    struct group_found top;

    if (cause != CAUSE_NONE && gather_find(worker, number, &top)) {
        gather_count_pods(worker, place, cause, gather_size(worker, top.block),
                          (cause & CAUSE_NAMED) == 0);
    }
}

static bool
is_sorted_anew(const struct view *view, const struct redescription *change)
{
    const struct description *was = &view->description, *is = &change->description;

    return was->priority != is->priority || was->order_key != is->order_key ||
           was->not_before != is->not_before;
}

static bool
becomes_ready(const struct gather_move *move)
{
    return move->way.place == PLACE_READY && state_place(move->view->state) != PLACE_READY;
}

/* Describes what the way says. */
static void
describe_way(const struct gather_move *move, int64_t now)
{
    struct redescription *change = move->change;
    const struct way *way = &move->way;

    change->gating.stay &= ~(UINT64_C(0xff) | (way->place == PLACE_GATED ? STAY_FLUSHED : 0));
    change->gating.stay |= way->gate;
    change->gating.refused |= gate_bit(way->gate);
    if (becomes_ready(move) && move->view->history.initial_attempt_ns == 0) {
        change->gating.first = now;
        change->gating.stay |= STAY_ATTEMPTED;
    }
}

/*
 * Of the members that the caller read in this section. For one that has changed since, its pop
 * notes when it was tried first.
 */
static void
begin_as_read(struct worker *worker, const struct gathered *members, int64_t now)
{
    for (uint32_t i = 0; i < members->count; i++) {
        begin_attempt(worker, members->pods[i].record, &members->pods[i].view, now);
    }
}

static void
begin_ready(struct worker *worker, const struct gather_move *move)
{
    struct group_block *block = gather_block_of(move->view);
    int64_t now = queue_now(queue_of(worker));

    if (block != NULL) {
        u64_store(&block->since, (uint64_t)now);
    }
    if (move->members != NULL) {
        begin_as_read(worker, move->members, now);
    } else {
        gather_begin_attempts(worker, move->view->seen, now);
    }
}

/*
 * DONE: it is where its way says. A helper may switch the record before its new description is
 * installed. Then it is where the old one puts it. If that is another place in the order, the
 * caller begins again. Else only the first attempt is not noted; the pop takes the time at which
 * the record became READY.
 */
static enum gather_step
install_way(struct worker *worker, const struct gather_move *move, const struct transfer *transfer)
{
    const struct view *view = move->view;
    struct redescription *change = move->change;
    schedq_status_t status = describe_install(worker, move->record, view, change);

    if (status == SCHEDQ_OK) {
        switch_counted(worker, view->state, change->word, CAUSE_NONE);
        if (move->way.place != PLACE_GATED) {
            switch_note_freed(worker, move->record, view->entry, view->state, change->word,
                              move->cause);
        }
        return GATHER_DONE;
    }
    transfer_withdraw(worker, transfer);
    if (status == SCHEDQ_NOMEM) {
        return GATHER_NOMEM;
    }
    return is_sorted_anew(view, change) || !place_has_helpers(move->way.place) ||
                   !transfer_was_helped(view->entry, change->word)
               ? GATHER_AGAIN
               : GATHER_DONE;
}

static void
count_and_tell(struct worker *worker, const struct gather_move *move, schedq_result_t *result)
{
    const enum place from = state_place(move->view->state), to = move->way.place;
    const uint32_t cause = move->cause;

    if (to != PLACE_GATED) {
        gather_count(worker, move->view->seen, to, cause);
    } else if (queue_of(worker)->base.rules.counts_updates &&
               (((cause & CAUSE_LABEL) == CAUSE_JOIN && from != PLACE_GATED) ||
                !place_waits_for_event(from))) {
        gather_count(worker, move->view->seen, to, cause & ~CAUSE_NAMED);
    }
    if (to == PLACE_READY) {
        result->to_active++;
        result->poppable = 1;
        gather_wake(worker);
    } else if (to != from) {
        transfer_report(to, result);
    }
}

/* The note is left before the switch too: this thread may stop right after the switch. */
bool
gather_is_overtaken(struct worker *worker, const struct view *view, uint8_t gate, uint64_t asked,
                    bool *unjudged)
{
    struct queue *queue = queue_of(worker);
    bool heard = stamps_newest(&queue->stamps, view->profile, gate_bit(gate)) > asked;

    *unjudged = heard && ++worker->overtaken >= ASKS_MAX;
    if (*unjudged) {
        stray_leave(queue, STRAY_UNJUDGED);
    }
    if (!heard || *unjudged) {
        worker->overtaken = 0;
    }
    return heard && !*unjudged;
}

/* The note is left behind the switch again: a tick may have taken the one before it. */
void
gather_note_unjudged(struct worker *worker, bool unjudged)
{
    if (unjudged) {
        stray_leave(queue_of(worker), STRAY_UNJUDGED);
    }
}

enum gather_step
gather_bring(struct worker *worker, const struct gather_move *move, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    const struct view *view = move->view;
    const struct way *way = &move->way;
    struct redescription *change = move->change;
    struct view planned = *view;
    struct transfer transfer;
    bool unjudged = false;

    describe_way(move, queue_now(queue));
    planned.description = change->description;
    planned.gating = change->gating;
    planned.history.timestamp_ns = change->description.not_before;
    /* both before the publication: a pop would help a published ref that lacks its description */
    if (!describe_prepare(worker) ||
        !transfer_prepare(worker, move->record, &planned, way, queue_now(queue), &transfer)) {
        return GATHER_NOMEM;
    }
    if (becomes_ready(move)) {
        begin_ready(worker, move);
    }
    transfer_publish(worker, &transfer, CAUSE_NONE);
    if (way->place == PLACE_GATED &&
        gather_is_overtaken(worker, view, way->gate, move->asked, &unjudged)) {
        transfer_withdraw(worker, &transfer);
        /* Makes the published ref stale: the version rises. Older refs stay good. */
        if (!state_lag_is_at_end(view->state)) {
            (void)u64_cas(&view->entry->word.low, view->state, state_described(view->state));
        }
        return GATHER_AGAIN;
    }
    if (state_place(view->state) == PLACE_READY) {
        (void)u64_add(&queue->reorder, 1); /* as switch_announced:A */
    }
    change->word = transfer_next(&transfer);
    enum gather_step step = install_way(worker, move, &transfer);

    if (step == GATHER_DONE) {
        gather_note_unjudged(worker, unjudged);
        count_and_tell(worker, move, result);
    }
    return step;
}

enum gather_step
gather_bring_queued(struct worker *worker, const struct group_found *root, const struct way *way,
                    uint64_t asked, uint32_t cause, schedq_result_t *result)
{
    struct view view;

    if (!report_view(queue_of(worker), root->record, root->view.life, &view) ||
        state_place(view.state) != state_place(root->view.state)) {
        return GATHER_AGAIN;
    }
    struct redescription change = describe_begin(&view);

    return gather_bring(worker,
                        &(struct gather_move){.record = root->record,
                                              .view = &view,
                                              .way = *way,
                                              .change = &change,
                                              .asked = asked,
                                              .cause = cause},
                        result);
}

struct way
gather_way(struct worker *worker, const struct view *view, bool after_backoff)
{
    const struct queue *queue = queue_of(worker);
    bool backs_off = after_backoff && gather_is_backing_off(worker, view, queue_now(queue));

    if (backs_off && queue_backoff_keeps_gate(queue)) {
        return (struct way){.place = PLACE_ERROR_BACKOFF, .gate = view->gate};
    }
    uint8_t gate;

    /* false: no memory, no gate was asked; a pop takes no member that has not passed */
    (void)gather_ask(worker, view->seen, &gate);
    if (gate != 0) {
        return (struct way){.place = PLACE_GATED, .gate = gate};
    }
    return (struct way){.place = backs_off ? PLACE_ERROR_BACKOFF : PLACE_READY};
}

/* Its Timestamp is that of the member that has waited for longest. */
static void
begin_to_wait(const struct gathered *gathered, struct redescription *change)
{
    const struct gathered_pod *oldest = NULL;

    for (uint32_t i = 0; i < gathered->count; i++) {
        const struct gathered_pod *pod = &gathered->pods[i];
        int64_t time = pod->view.history.timestamp_ns;

        if (oldest == NULL || time < oldest->view.history.timestamp_ns ||
            (time == oldest->view.history.timestamp_ns &&
             pod->view.description.order_key < oldest->view.description.order_key)) {
            oldest = pod;
        }
    }
    if (oldest != NULL) {
        change->description.not_before = oldest->view.history.timestamp_ns;
        change->description.order_key = oldest->view.description.order_key;
        if (change->gating.first == 0) {
            change->gating.first = oldest->view.history.initial_attempt_ns;
        }
        change->gating.stay |= change->gating.first != 0 ? STAY_ATTEMPTED : 0;
    }
    change->gating.stay &= ~(UINT64_C(0xff) | STAY_FLUSHED);
    change->gating.tried = 0;
}

static bool
says_the_same(const struct view *view, const struct redescription *change)
{
    const struct gating *was = &view->gating, *is = &change->gating;

    return !is_sorted_anew(view, change) && was->refused == is->refused && was->stay == is->stay &&
           was->first == is->first && was->tried == is->tried;
}

/*
 * Brings out a complete record, which begins to wait as *change says. Gates are asked outside of
 * the section: afterwards the members' views are of an earlier section.
 */
static enum gather_step
bring_out(struct worker *worker, const struct group_found *root, struct gathered *gathered,
          struct redescription *change, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    const uint64_t life = root->view.life;

    change->desc = root->view.desc;
    if (!says_the_same(&root->view, change)) {
        gather_describe(change, &root->view);
        schedq_status_t status = describe_install(worker, root->record, &root->view, change);

        if (status != SCHEDQ_OK) {
            return status == SCHEDQ_NOMEM ? GATHER_NOMEM : GATHER_AGAIN;
        }
    }
    const uint64_t desc = change->desc, word = change->word, asked = stamps_drawn(&queue->stamps);
    struct view view;

    if (!report_view(queue, root->record, life, &view) || view.state != word) {
        return GATHER_AGAIN;
    }
    const struct way way = gather_way(worker, &view, true);

    if (!report_view(queue, root->record, life, &view) || view.state != word || view.desc != desc) {
        return GATHER_AGAIN;
    }
    *change = describe_begin(&view);
    return gather_bring(
        worker,
        &(struct gather_move){.record = root->record,
                              .view = &view,
                              .way = way,
                              .change = change,
                              .asked = asked,
                              .cause = CAUSE_JOIN,
                              .members = queue->base.registry.has_gates ? NULL : gathered},
        result);
}

/*
 * One round: described as it begins to wait, then moved. DONE: there is nothing more to do. Of two
 * completers the second finds the record described, and does not make the first begin again.
 */
static enum gather_step
complete_once(struct worker *worker, uint64_t number, schedq_result_t *result)
{
    struct group_found root;
    struct gathered gathered;

    if (!gather_root(worker, number, &root) || state_place(root.view.state) != PLACE_IDLE) {
        return GATHER_DONE;
    }
    uint64_t changes = u64_load_acquire(&root.block->changes);

    if (!gather_may_complete(worker, root.block)) {
        return GATHER_DONE;
    }
    if (!gather_read(worker, root.block, &gathered)) {
        return GATHER_NOMEM;
    }
    if (!gather_judge_groups(&gathered, false)) {
        u64_store_release(&root.block->refuted, changes);
        gather_free(&gathered);
        return GATHER_AGAIN;
    }
    struct redescription change = describe_begin(&root.view);

    begin_to_wait(&gathered, &change);
    enum gather_step step = bring_out(worker, &root, &gathered, &change, result);

    gather_free(&gathered);
    return step;
}

void
gather_complete(struct worker *worker, uint64_t number, schedq_result_t *result)
{
    enum gather_step step = GATHER_AGAIN;

    /* Ends: each further round is another's change of the record, or an event. */
    while (step == GATHER_AGAIN) {
        step = complete_once(worker, number, result);
    }
    if (step == GATHER_NOMEM) {
        stray_leave_short(queue_of(worker), STRAY_UNMOVED); /* a tick completes it */
    }
}

bool
gather_make_idle(struct worker *worker, const struct group_found *root, schedq_result_t *result)
{
    const struct view *view = &root->view;
    const uint64_t number = root->block->number;
    struct redescription change = describe_begin(view);

    if (queue_of(worker)->base.rules.groups_as_kube) {
        /* as if it had just been declared: kube knows nothing of a group that is in no queue */
        change.description.flags |= DESCRIBED_FORGOTTEN;
        change.gating.first = 0;
    }
    change.word = state_switched(view->state, 0, PLACE_IDLE);
    const uint64_t named = u64_load(&worker->joining);

    u64_store(&worker->joining, number);
    schedq_status_t status = describe_install(worker, root->record, view, &change);

    if (status == SCHEDQ_OK) {
        switch_counted(worker, view->state, change.word, CAUSE_NONE);
        gather_complete(worker, number, result);
    } else if (status == SCHEDQ_NOMEM && place_waits_for_event(state_place(view->state))) {
        stray_leave_short(queue_of(worker), STRAY_UNMOVED); /* else a pop finds out */
    }
    u64_store_release(&worker->joining, named);
    return status != SCHEDQ_RETRY;
}
