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

void
gather_begin_attempt(struct worker *worker, uint32_t record, uint64_t life, int64_t now)
{
    struct view view;

    if (report_view(queue_of(worker), record, life, &view) &&
        state_place(view.state) == PLACE_ASIDE && view.history.initial_attempt_ns == 0) {
        struct redescription change = describe_begin(&view);

        change.gating.first = now;
        change.gating.stay |= STAY_ATTEMPTED;
        (void)describe_install(worker, record, &view, &change);
    }
}

void
gather_begin_attempts(struct worker *worker, uint64_t number, int64_t now)
{
    struct group_found top;
    struct gathered gathered;

    if (gather_find(worker, number, &top) && gather_read(worker, top.block, &gathered)) {
        for (uint32_t i = 0; i < gathered.count; i++) {
            if (gathered.pods[i].view.history.initial_attempt_ns == 0) {
                gather_begin_attempt(worker, gathered.pods[i].record, gathered.pods[i].view.life,
                                     now);
            }
        }
        gather_free(&gathered);
    }
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

/*
 * A helper may switch the record before its new description is installed. Then it is where the old
 * one puts it. If that is another place in the order, the caller begins again. Else only the first
 * attempt is not noted; the pop takes the time since which the record was READY.
 */
enum gather_step
gather_bring(struct worker *worker, uint32_t record, const struct view *view, const struct way *way,
             struct redescription *change, uint64_t asked, uint32_t cause, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    struct view planned = *view;
    struct transfer transfer;

    change->gating.stay &= ~(UINT64_C(0xff) | (way->place == PLACE_GATED ? STAY_FLUSHED : 0));
    change->gating.stay |= way->gate;
    change->gating.refused |= gate_bit(way->gate);
    if (way->place == PLACE_READY && state_place(view->state) != PLACE_READY &&
        view->history.initial_attempt_ns == 0) {
        change->gating.first = queue_now(queue);
        change->gating.stay |= STAY_ATTEMPTED;
    }
    planned.description = change->description;
    planned.gating = change->gating;
    planned.history.timestamp_ns = change->description.not_before;
    if (!transfer_prepare(worker, record, &planned, way, queue_now(queue), &transfer)) {
        return GATHER_NOMEM;
    }
    struct group_block *block = gather_block_of(view);

    if (way->place == PLACE_READY && state_place(view->state) != PLACE_READY) {
        if (block != NULL) {
            u64_store(&block->since, (uint64_t)queue_now(queue));
        }
        gather_begin_attempts(worker, view->seen, queue_now(queue));
    }
    transfer_publish(worker, &transfer, CAUSE_NONE);
    if (way->place == PLACE_GATED &&
        stamps_newest(&queue->stamps, view->profile, gate_bit(way->gate)) > asked) {
        transfer_withdraw(worker, &transfer);
        /* what was published gets stale: the version rises, and refs stay good */
        (void)u64_cas(&view->entry->word.low, view->state, state_described(view->state));
        return GATHER_AGAIN;
    }
    if (state_place(view->state) == PLACE_READY) {
        (void)u64_add(&queue->reorder, 1); /* as switch_announced:A */
    }
    change->word = transfer_next(&transfer);
    schedq_status_t status = describe_install(worker, record, view, change);

    if (status != SCHEDQ_OK) {
        transfer_withdraw(worker, &transfer);
        if (status == SCHEDQ_NOMEM) {
            return GATHER_NOMEM;
        }
        if (is_sorted_anew(view, change) || !place_has_helpers(way->place) ||
            !transfer_was_helped(view->entry, change->word)) {
            return GATHER_AGAIN;
        }
    } else {
        switch_counted(worker, view->state, change->word, CAUSE_NONE);
        switch_note_freed(worker, record, view->entry, view->state, change->word, CAUSE_NONE);
    }
    if (way->place != PLACE_GATED) {
        gather_count(worker, view->seen, way->place, cause);
    } else if (queue->base.rules.counts_updates &&
               (((cause & CAUSE_LABEL) == CAUSE_JOIN && state_place(view->state) != PLACE_GATED) ||
                !place_waits_for_event(state_place(view->state)))) {
        gather_count(worker, view->seen, way->place, cause & ~CAUSE_NAMED);
    }
    if (way->place == PLACE_READY) {
        result->to_active++;
        result->poppable = 1;
        gather_wake(worker);
    } else if (way->place != state_place(view->state)) {
        transfer_report(way->place, result);
    }
    return GATHER_DONE;
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

    /* without memory nobody was asked; a pop takes no member that was not (gather_passed) */
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
 * One round: described as it begins to wait, then moved. DONE: there is nothing more to do. Of two
 * that do it the second finds it described, and hinders the first no more.
 */
static enum gather_step
complete_once(struct worker *worker, uint64_t number, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    struct group_found root;
    struct gathered gathered;

    if (!gather_root(worker, number, &root) || state_place(root.view.state) != PLACE_IDLE) {
        return GATHER_DONE;
    }
    uint64_t changes = u64_load_acquire(&root.block->changes);

    if (changes == u64_load_acquire(&root.block->refuted) ||
        !gather_is_complete(worker, root.block)) {
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
    gather_free(&gathered);
    change.desc = root.view.desc;
    if (!says_the_same(&root.view, &change)) {
        gather_describe(&change, &root.view);
        schedq_status_t status = describe_install(worker, root.record, &root.view, &change);

        if (status != SCHEDQ_OK) {
            return status == SCHEDQ_NOMEM ? GATHER_NOMEM : GATHER_AGAIN;
        }
    }
    const uint64_t life = root.view.life, desc = change.desc, asked = stamps_drawn(&queue->stamps);
    struct view view;

    if (!report_view(queue, root.record, life, &view) || view.state != change.word) {
        return GATHER_AGAIN;
    }
    const struct way way = gather_way(worker, &view, true);

    if (!report_view(queue, root.record, life, &view) || view.state != change.word ||
        view.desc != desc) {
        return GATHER_AGAIN;
    }
    change = describe_begin(&view);
    return gather_bring(worker, root.record, &view, &way, &change, asked, CAUSE_JOIN, result);
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
        queue_note_stray(queue_of(worker), STRAY_UNMOVED); /* a tick completes it */
    }
}

bool
gather_put_aside(struct worker *worker, const struct group_found *root, schedq_result_t *result)
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
    bool done = status != SCHEDQ_RETRY; /* without memory a pop finds out */

    if (status == SCHEDQ_OK) {
        switch_counted(worker, view->state, change.word, CAUSE_NONE);
        gather_complete(worker, number, result);
    }
    u64_store_release(&worker->joining, named);
    return done;
}
