/*
 * The end of a group's cycle.
 *
 * Its holder reads the members that wait. Those whose flight was in this cycle say what rejected
 * them: the record's sets are the union, and each such member is judged by the events since the
 * group's pop. Then the holder moves the record as it moves a pod that fails (fail.c): it describes
 * it, publishes it, looks at the stamps, and switches it.
 *
 * LINEARIZATION. OK: switch_announced:B, or a helper's. STALE: the load of the word. The first
 * exchange takes the token: a second call with it is late.
 *
 * ORDERING. As in fail.c; gather_join.h.
 *
 * PROGRESS. Lock-free: each further round is another thread's change of the record, or an event. A
 * holder that stops keeps the group.
 *
 * EVIDENCE. tests/model: group; tests/unit/test_group.c.
 */
#include "lockfree/calls/add.h"
#include "lockfree/calls/events.h"
#include "lockfree/calls/ops.h"
#include "lockfree/moves/gather_join.h"
#include "lockfree/moves/objects.h"

struct ending {
    struct worker *worker;
    const schedq_group_end_t *end;
    schedq_result_t *result;
    uint32_t record;
    uint64_t cycle; /* the token that the members' flights name */
    uint64_t base;  /* the token's version, since the last exchange of this call that raised it */
    uint64_t life;
    int64_t now, key; /* key: if it was drawn */
    bool drawn;
    schedq_history_t history; /* as at the pop */
};

/* What the members that were tried and failed say. */
struct said {
    uint64_t unschedulable, pending;
    enum strategy strategy; /* what events since the pop mean to them */
    bool attempted, outdated, affinity;
};

/* Judges one of them; leaves the section for hints. */
static enum strategy
judge_tried(struct ending *ending, uint64_t seen, struct gathered_pod *pod)
{
    struct worker *worker = ending->worker;
    struct queue *queue = queue_of(worker);
    struct verdict_on_flight verdict = {STRATEGY_SKIP, seen};
    struct view view = pod->view;
    uint64_t desc;

    if (objects_counted(queue) &&
        !objects_take(worker, view.entry, view.state, &view.description, &desc)) {
        return STRATEGY_AFTER_BACKOFF; /* it changed: it is worth another try */
    }
    section_pause(worker);
    events_judge_flight(worker, &view, &verdict);
    object_give_back(queue, view.description.object);
    section_resume(worker);
    pod->token = verdict.up_to;
    return verdict.strategy;
}

static struct said
hear_members(struct ending *ending, uint64_t seen, struct gathered *gathered, bool judges)
{
    struct said said = {.strategy = STRATEGY_SKIP};

    for (uint32_t i = 0; i < gathered->count; i++) {
        struct gathered_pod *pod = &gathered->pods[i];
        bool known = (pod->view.unschedulable | pod->view.pending) != 0;

        pod->token = UINT64_MAX;
        if (pod->view.seen != ending->cycle) {
            continue;
        }
        said.attempted = true;
        said.unschedulable |= pod->view.unschedulable;
        said.pending |= pod->view.pending;
        said.affinity |= (pod->view.description.flags & SCHEDQ_POD_AFFINITY) != 0;
        if (judges && known) {
            /* the entry may be of an earlier section: hints were asked about another member */
            pod->view.entry = entry_at(&queue_of(ending->worker)->entries, pod->record);
            if (pod->view.entry != NULL) {
                said.strategy = group_stronger(said.strategy, judge_tried(ending, seen, pod));
            }
        }
    }
    said.pending &= ~said.unschedulable;
    if (!judges) {
        said.unschedulable = said.pending = 0; /* only a rejected record waits for an event */
    }
    return said;
}

/* Behind the publication: did an event come that was not judged? */
static bool
event_reached_any(const struct queue *queue, const struct gathered *gathered)
{
    for (uint32_t i = 0; i < gathered->count; i++) {
        const struct gathered_pod *pod = &gathered->pods[i];

        if (pod->token != UINT64_MAX && events_newest(queue, &pod->view) > pod->token) {
            return true;
        }
    }
    return false;
}

/*
 * The top, and groups whose members were in a cycle that ended in PLACED, need one member only from
 * now on. Blocks are looked up by number: hints and gates were asked outside of the section in
 * which they were read.
 */
static void
note_placed(struct worker *worker, struct gathered *gathered, bool placed)
{
    for (uint32_t i = 0; i < gathered->group_count; i++) {
        struct gathered_group *group = &gathered->groups[i];
        struct group_found found;

        if (gather_find(worker, group->number, &found)) {
            group->was_tried = u32_load(&found.block->tried) != 0;
            group->became_placed =
                placed && (i == 0 || group->was_tried) && u32_load(&found.block->placed) == 0;
            if (group->became_placed) {
                u32_store_release(&found.block->placed, 1);
            }
            u32_store(&found.block->tried, 0);
        }
    }
}

/*
 * Undoes note_placed, because the cycle goes on: another round may find no memory, and has to leave
 * the groups as they were.
 */
static void
take_note_back(struct worker *worker, const struct gathered *gathered)
{
    for (uint32_t i = 0; i < gathered->group_count; i++) {
        const struct gathered_group *group = &gathered->groups[i];
        struct group_found found;

        if ((group->was_tried || group->became_placed) &&
            gather_find(worker, group->number, &found)) {
            u32_store(&found.block->tried, group->was_tried ? 1 : 0);
            if (group->became_placed) {
                u32_store_release(&found.block->placed, 0);
            }
        }
    }
}

/* Where it goes; there are enough members. May leave the section. */
static struct way
way_of_end(struct ending *ending, const struct view *view, const struct said *said, bool activated)
{
    struct worker *worker = ending->worker;
    const struct rules *rules = &queue_of(worker)->base.rules;
    const schedq_group_end_t *end = ending->end;
    bool known = (said->unschedulable | said->pending) != 0;

    if (end->outcome == SCHEDQ_GROUP_PLACED) {
        return gather_way(worker, view, false);
    }
    if (end->outcome == SCHEDQ_GROUP_ERROR || rules->groups_as_kube || !known) {
        return gather_way(worker, view, true);
    }
    if (said->strategy == STRATEGY_SKIP && !activated) {
        return (struct way){.place = PLACE_PARKED, .named = true};
    }
    bool at_once = said->strategy == STRATEGY_IMMEDIATELY;
    struct way way = gather_way(worker, view, !at_once);

    way.named = at_once ? way.place == PLACE_READY : place_backs_off(way.place);
    return way;
}

/* Relaxed: the flight is this thread's; the switch publishes it. */
static void
write_end(const struct ending *ending, struct entry *entry, const schedq_history_t *history,
          const struct said *said, const struct way *way, uint64_t next)
{
    bool keeps = way->place != PLACE_IDLE;

    u64_store(&entry->unschedulable,
              (keeps ? said->unschedulable : 0) | (way->gate != 0 ? gate_bit(way->gate) : 0));
    u64_store(&entry->pending, keeps ? said->pending : 0);
    u64_store(&entry->attempts_rejections, (uint64_t)history->attempts << 32 | history->rejections);
    u32_store(&entry->errors, history->errors);
    if (way->place == PLACE_READY && history->initial_attempt_ns == 0) {
        time_store(&entry->timestamp, ending->now); /* as begin_cycle */
    }
    u64_store(&entry->flight, stay_word(state_version(next), way->gate));
}

static void
plan(struct ending *ending, const struct said *said, struct redescription *change,
     schedq_history_t *history)
{
    struct queue *queue = queue_of(ending->worker);

    *history = ending->history;
    group_count_outcome((schedq_group_outcome_t)ending->end->outcome, &history->rejections,
                        &history->errors);
    if (ending->end->outcome != SCHEDQ_GROUP_PLACED || !said->attempted) {
        change->description.not_before = ending->now;
        if (!queue->base.rules.keep_order) {
            if (!ending->drawn) {
                ending->key = add_draw_key(ending->worker, ending->now);
                ending->drawn = true;
            }
            change->description.order_key = ending->key;
        }
    }
    history->timestamp_ns = change->description.not_before;
    change->description.flags &=
        (uint8_t) ~(DESCRIBED_ACTIVATED | DESCRIBED_FORGOTTEN | SCHEDQ_POD_AFFINITY);
    change->description.flags |= said->affinity ? SCHEDQ_POD_AFFINITY : 0;
    change->gating = (struct gating){.stay = 0};
}

/* Ends the record: the group was undeclared in its cycle. */
static enum gather_step
end_record(struct ending *ending, const struct group_found *found)
{
    struct worker *worker = ending->worker;
    const struct view *view = &found->view;

    if (!switch_pod(worker, view->entry, view->state, view->desc,
                    state_switched(view->state, 0, PLACE_DEAD), CAUSE_NONE)) {
        return GATHER_AGAIN;
    }
    gather_end(worker, found->record, view->entry, found->block);
    ending->result->place = SCHEDQ_NOWHERE;
    return GATHER_DONE;
}

/* False: a helper ended the cycle, by what this thread had published. */
static bool
find_record(struct ending *ending, struct group_found *found)
{
    struct queue *queue = queue_of(ending->worker);

    found->record = ending->record;
    if (!report_view(queue, ending->record, ending->life, &found->view) ||
        state_place(found->view.state) != PLACE_CYCLE ||
        state_base(found->view.state) != ending->base) {
        return false;
    }
    found->block = (struct group_block *)(uintptr_t)u64_load(&found->view.entry->popped);
    return true;
}

/* What was published gets stale: the version rises, and the token with it. */
static void
raise_token(struct ending *ending, const struct view *view)
{
    uint64_t next = state_next_version(view->state) | state_of(PLACE_CYCLE);

    if (u64_cas(&view->entry->word.low, view->state, next)) {
        ending->base = state_version(next);
    }
}

/* Publishes and switches the record, which is written, and described. */
static enum gather_step
bring(struct ending *ending, const struct view *view, const struct way *way,
      struct transfer *transfer, uint64_t asked, const struct gathered *gathered)
{
    struct worker *worker = ending->worker;
    struct queue *queue = queue_of(worker);
    struct group_found found;

    if (way->place == PLACE_READY) {
        gather_begin_attempts(worker, view->seen, ending->now);
    }
    transfer_publish(worker, transfer, CAUSE_NONE);
    bool unjudged = false;
    bool outdated = (way->place == PLACE_PARKED && event_reached_any(queue, gathered)) ||
                    (way->place == PLACE_GATED &&
                     gather_is_overtaken(worker, view, way->gate, asked, &unjudged));

    if (outdated) {
        transfer_withdraw(worker, transfer);
        raise_token(ending, view);
        return GATHER_AGAIN;
    }
    if (!transfer_switch(worker, transfer, CAUSE_NONE) && find_record(ending, &found)) {
        return GATHER_AGAIN; /* it was described meanwhile */
    }
    gather_note_unjudged(worker, unjudged);
    transfer_report(way->place, ending->result);
    const uint32_t cause = cause_of(LABEL_FAILURE, false);

    if (way->place == PLACE_GATED ? queue->base.rules.counts_updates : way->place != PLACE_IDLE) {
        gather_count(worker, view->seen, way->place, cause | (way->named ? CAUSE_NAMED : 0));
    }
    if (way->place == PLACE_READY) {
        ending->result->to_active++;
        ending->result->poppable = 1;
        gather_wake(worker);
    }
    return GATHER_DONE;
}

/* One round. `number` is the group's; *changes what it was before the members were read. */
static enum gather_step
end_once(struct ending *ending, uint64_t *number, uint64_t *changes)
{
    struct worker *worker = ending->worker;
    struct queue *queue = queue_of(worker);
    const uint64_t asked = stamps_drawn(&queue->stamps);
    struct group_found found;
    struct gathered gathered;
    schedq_history_t history;

    if (!find_record(ending, &found)) {
        return GATHER_DONE;
    }
    *number = found.block->number;
    if (!group_is_declared(&found)) {
        return end_record(ending, &found);
    }
    *changes = u64_load_acquire(&found.block->changes);
    if (!gather_read(worker, found.block, &gathered)) {
        return GATHER_NOMEM;
    }
    const bool placed = ending->end->outcome == SCHEDQ_GROUP_PLACED;
    bool complete = gather_judge_groups(&gathered, placed);

    u32_store(&found.block->size, gathered.count > 0 ? gathered.count : 1);
    uint64_t seen = u64_load(&found.block->seen);
    bool activated = (found.view.description.flags & DESCRIBED_ACTIVATED) != 0 ||
                     u32_load(&found.block->activated) != 0;
    bool judges =
        ending->end->outcome == SCHEDQ_GROUP_REJECTED && !queue->base.rules.groups_as_kube;
    const struct said said = hear_members(ending, seen, &gathered, judges);
    struct redescription change = describe_begin(&found.view);

    plan(ending, &said, &change, &history);
    if (!complete && queue->base.rules.groups_as_kube) {
        change.description.flags |= DESCRIBED_FORGOTTEN;
    }
    struct view planned = found.view;

    planned.description = change.description;
    planned.gating = change.gating;
    planned.history = history;
    planned.gate = 0;
    planned.unschedulable = said.unschedulable;
    planned.pending = said.pending;
    const struct way way = complete ? way_of_end(ending, &planned, &said, activated)
                                    : (struct way){.place = PLACE_IDLE};
    enum gather_step step = GATHER_AGAIN;
    struct group_found again;
    struct transfer transfer;

    /* hints and gates were asked outside of the section */
    if (find_record(ending, &again) && again.view.state == found.view.state &&
        again.view.desc == found.view.desc) {
        planned.entry = again.view.entry;
        schedq_status_t status =
            transfer_prepare(worker, ending->record, &planned, &way, ending->now, &transfer)
                ? describe_install(worker, ending->record, &again.view, &change)
                : SCHEDQ_NOMEM;

        step = status == SCHEDQ_NOMEM ? GATHER_NOMEM : GATHER_AGAIN;
        if (status == SCHEDQ_OK) {
            planned.desc = transfer.desc = change.desc;
            u32_store(&again.block->activated, activated ? 1 : 0);
            note_placed(worker, &gathered, placed);
            write_end(ending, planned.entry, &history, &said, &way,
                      state_next_version(planned.state));
            if (way.place == PLACE_IDLE) {
                u64_store(&worker->joining, *number);
            }
            step = bring(ending, &planned, &way, &transfer, asked, &gathered);
            if (step == GATHER_AGAIN) {
                take_note_back(worker, &gathered);
            }
        }
    }
    gather_free(&gathered);
    return step;
}

/* Looks after the members that came in the cycle, and were not read. */
static void
look_again(struct ending *ending, uint64_t number, uint64_t changes)
{
    struct worker *worker = ending->worker;
    struct group_found root;

    if (gather_root(worker, number, &root)) {
        if (state_place(root.view.state) == PLACE_IDLE) {
            gather_complete(worker, number, ending->result);
        } else if (u64_load_acquire(&root.block->changes) != changes) {
            gather_joined(worker, number, gather_named(&root), (schedq_pod_t){0}, ending->result);
        }
        gather_look_at_gate(worker, number, ending->result);
    }
    u64_store_release(&worker->joining, 0);
}

/* Takes the token. False: it was used, or is none of a group. */
static bool
claim_cycle(struct ending *ending, schedq_token_t token)
{
    struct queue *queue = queue_of(ending->worker);
    struct view view;

    ending->record = ref_record(token.bits);
    /* Ends: each further round is another thread's change of the record. */
    while (ending->record < slab_end(&queue->entries.records) &&
           report_any(queue, ending->record, &view) && state_place(view.state) == PLACE_CYCLE &&
           state_base(view.state) == ref_version(token.bits)) {
        uint64_t next = state_next_version(view.state) | state_of(PLACE_CYCLE);

        if (u64_cas(&view.entry->word.low, view.state, next)) {
            struct group_block *block =
                (struct group_block *)(uintptr_t)u64_load(&view.entry->popped);

            ending->base = state_version(next);
            ending->life = view.life;
            ending->history = view.history;
            ending->cycle = u64_load(&block->cycle);
            return true;
        }
    }
    return false;
}

schedq_status_t
lockfree_group_done(schedq_worker_t *base, schedq_token_t *token, const schedq_group_end_t *end,
                    schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    struct ending ending = {.worker = worker, .end = end, .result = result};
    enum gather_step step = GATHER_AGAIN;
    uint64_t number = 0, changes = 0;

    section_begin(worker);
    ending.now = queue_now(queue_of(worker));
    if (!claim_cycle(&ending, *token)) {
        section_end(worker);
        return SCHEDQ_STALE;
    }
    /* Ends: each further round is another thread's change of the record, or an event. */
    while (step == GATHER_AGAIN) {
        step = end_once(&ending, &number, &changes);
    }
    if (step == GATHER_NOMEM) {
        struct group_found found;

        token->bits = find_record(&ending, &found)
                          ? ref_make(state_base(found.view.state), ending.record)
                          : token->bits;
    } else {
        look_again(&ending, number, changes);
        gather_report(worker, number, result);
    }
    section_end(worker);
    return step == GATHER_NOMEM ? SCHEDQ_NOMEM : SCHEDQ_OK;
}
