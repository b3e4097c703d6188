/*
 * The pop of a group, or of a pod, whichever is better.
 *
 * A call looks at the best record that is READY, and at pods before it (pop.h). It reads the
 * record's members, then claims the record from the word that it read before them; behind the claim
 * it takes each member by a CAS of its own. If some left in between, and the rest is not enough, it
 * gives all back.
 *
 * LINEARIZATION. OK of a group: the CAS of its last member (pop_take_member). Each member is the
 * caller's alone from its own CAS on. Of a pod, and EMPTY: pop.c. FULL: the load of the record's
 * word.
 *
 * ORDERING: gather_join.h. `reorder` is read before both looks, and found unchanged behind them.
 *
 * PROGRESS. Lock-free: a round that takes nothing is another thread's change of the record or its
 * members, or makes a record idle. A thread that stops behind the claim holds the group, as a
 * holder does.
 *
 * EVIDENCE. tests/model: group; tests/unit/test_group.c, test_lockfree_poppable.c.
 */
#include "lockfree/calls/ops.h"
#include "lockfree/calls/pop.h"
#include "lockfree/moves/gather_join.h"
#include "policy/group.h"
#include "policy/history.h"

/* The best record that is READY. */
struct ready {
    struct bin_head head;
    struct group_found root;
};

static bool
find_ready(struct worker *worker, struct ready *ready)
{
    struct queue *queue = queue_of(worker);
    const struct bin_caller caller = bin_caller(worker);
    struct groups *groups = queue_groups(queue);

    if (groups == NULL) {
        return false;
    }
    struct bin *bin = &groups->ready;

    /* Ends: each further round passes a head, or is another thread's change of the record. */
    while (bin_first(bin, &queue->runs, &ready->head)) {
        uint64_t ref = bin_head_ref(&ready->head), state;
        struct group_found *root = &ready->root;
        struct entry *entry = entry_at(&queue->entries, ref_record(ref));

        if (entry != NULL &&
            state_judge(entry_state(entry), ref, PLACE_READY, 0) == VERDICT_FUTURE) {
            /*
             * it may be READY in another place of the order: walks begin again, as behind
             * switch_announced:A
             */
            (void)u64_add(&queue->reorder, 1);
        }
        if (entry == NULL || !bin_judge(bin, &caller, ref, bin_head_cause(&ready->head), &state)) {
            bin_advance(&ready->head);
        } else if (report_at(queue, entry, state, &root->view)) {
            root->record = ref_record(ref);
            root->block = (struct group_block *)(uintptr_t)u64_load_acquire(&entry->popped);
            if (entry_state(entry) == state) {
                return true;
            }
        }
    }
    return false;
}

/* The number of members in groups that have enough. */
static size_t
members_to_take(const struct gathered *gathered)
{
    size_t count = 0;

    for (uint32_t i = 0; i < gathered->group_count; i++) {
        const struct gathered_group *group = &gathered->groups[i];

        count += group->here >= group->needs ? group->here : 0;
    }
    return count;
}

/*
 * Takes each member that was read, of groups that have enough of their own. A group that has too
 * few then gets its members back. False: the top has too few; all that were taken are aside again.
 */
static bool
take_members(struct worker *worker, struct gathered *gathered)
{
    bool enough;

    /*
     * Members are taken of the groups that have enough now. The others count as empty: an update
     * may lower a quorum meanwhile, and this consumer took none of their members.
     */
    for (uint32_t i = 0; i < gathered->group_count; i++) {
        struct gathered_group *group = &gathered->groups[i];

        group->here = group->here >= group->needs ? group->here : 0;
    }
    for (uint32_t i = 0; i < gathered->count; i++) {
        struct gathered_pod *pod = &gathered->pods[i];
        struct gathered_group *group = &gathered->groups[pod->node];

        pod->token = 0;
        if (group->here > 0 && !pop_take_member(worker, pod)) {
            group->here--;
        }
    }
    enough = gather_judge_groups(gathered, false);
    for (uint32_t i = 0; i < gathered->count; i++) {
        struct gathered_pod *pod = &gathered->pods[i];
        const struct gathered_group *group = &gathered->groups[pod->node];

        if (pod->token != 0 && (!enough || group->here < group->needs)) {
            pop_give_back(worker, pod);
        }
    }
    return enough;
}

/* Begins the cycle of a record that this thread claimed. */
static void
begin_cycle(struct worker *worker, const struct group_found *root, uint64_t state, uint64_t order,
            schedq_popped_group_t *out)
{
    struct queue *queue = queue_of(worker);
    struct entry *entry = root->view.entry;
    const struct view *view = &root->view;
    schedq_history_t history = view->history;
    const struct backoff_rules rules = gather_backoff_rules(worker, view);
    const struct backoff_counters counters = backoff_counters_of(&history);
    int64_t expiry = backoff_expiry(&rules, &counters, history.timestamp_ns);
    uint64_t token = (state & ~(uint64_t)REF_INDEX_MASK) | root->record;

    history.attempts = history_raised(history.attempts);
    if (history.initial_attempt_ns == 0) {
        history.initial_attempt_ns = (int64_t)u64_load(&root->block->since);
    }
    u64_store(&entry->attempts_rejections, (uint64_t)history.attempts << 32 | history.rejections);
    /* history may have been forgotten (DESCRIBED_FORGOTTEN): its counters begin at 0 here */
    u32_store(&entry->errors, history.errors);
    u64_store(&entry->unschedulable, 0);
    u64_store(&entry->pending, 0);
    time_store(&entry->timestamp, history.initial_attempt_ns);
    u64_store(&entry->flight, stay_word(state_version(state), 0));
    *out = (schedq_popped_group_t){
        .token.bits = token,
        .group = root->block->number,
        .object = group_object(&view->description),
        .history = history,
        .seen = u64_load_acquire(u64_of(&queue->base.words.event_sequence)),
        .cycle = queue->base.rules.count_cycles ? order : 0,
        .backoff_expiry_ns = backoff_public(expiry),
        .priority = view->description.priority,
        .profile = view->profile,
        .flushed = (view->gating.stay & STAY_FLUSHED) != 0,
    };
    u64_store(&root->block->seen, out->seen);
    u64_store(&root->block->cycle, token);
    u32_store(&root->block->activated, 0);
}

static void
begin_members(struct worker *worker, struct gathered *gathered, uint64_t order,
              struct group_pop *pop)
{
    const int64_t since = (int64_t)u64_load(&gathered->groups[0].block->since);

    pop->count = 0;
    for (uint32_t i = 0; i < gathered->count; i++) {
        const struct gathered_pod *pod = &gathered->pods[i];
        struct group_block *block = gathered->groups[pod->node].block;

        if (pod->token != 0) {
            schedq_popped_t *out = &pop->members[pop->count++];

            if (gathered->groups[pod->node].counted) {
                (void)u64_add(&block->waiting, UINT64_MAX);
            }
            u32_store(&block->tried, 1);
            pop_begin_member(worker, pod, pop->group->token.bits, order, since, out);
            out->cycle = block->number; /* group_sort's */
        }
    }
    group_sort(pop->members, pop->count);
    bool more = pop_something_is_left(worker);

    pop->group->more = more ? 1 : 0;
    for (size_t i = 0; i < pop->count; i++) {
        pop->members[i].cycle = pop->group->cycle;
        pop->members[i].more = pop->group->more;
    }
}

/* Too few were found: the record becomes idle, if it is as it was; `changes` was read before. */
static bool
leave_idle(struct worker *worker, const struct group_found *root, uint64_t changes)
{
    const uint64_t number = root->block->number;
    schedq_result_t unseen = {0};

    u64_store_release(&root->block->refuted, changes);
    u64_store(&worker->joining, number);
    bool idle = switch_pod(worker, root->view.entry, root->view.state, root->view.desc,
                           state_switched(root->view.state, 0, PLACE_IDLE), CAUSE_NONE);

    if (idle) {
        gather_complete(worker, number, &unseen); /* may leave the section */
        gather_look_at_gate(worker, number, &unseen);
    }
    u64_store_release(&worker->joining, 0);
    return idle;
}

/*
 * The same for a record that this thread claimed, at `state`. Other threads may describe it
 * meanwhile: if one undeclared it, the record ends.
 */
static void
end_vain_cycle(struct worker *worker, const struct group_found *root, uint64_t state,
               uint64_t changes)
{
    struct group_found now = *root;
    bool over = false;

    /* Ends: each further round is another thread's description. */
    while (!over && report_view(queue_of(worker), root->record, root->view.life, &now.view) &&
           state_place(now.view.state) == PLACE_CYCLE &&
           state_base(now.view.state) == state_version(state)) {
        if (group_is_declared(&now)) {
            over = leave_idle(worker, &now, changes);
        } else if (switch_pod(worker, now.view.entry, now.view.state, now.view.desc,
                              state_switched(now.view.state, 0, PLACE_DEAD), CAUSE_NONE)) {
            gather_end(worker, root->record, now.view.entry, root->block);
            over = true;
        }
    }
}

/* Is there a member to take that the gates have not let pass since it came? */
static bool
someone_is_unasked(struct worker *worker, const struct gathered *gathered)
{
    for (uint32_t i = 0; i < gathered->count; i++) {
        const struct gathered_group *group = &gathered->groups[gathered->pods[i].node];

        if (group->here >= group->needs &&
            !gather_passed(queue_of(worker), gathered->pods[i].view.state)) {
            return true;
        }
    }
    return false;
}

/* EMPTY: it has to be looked for again. */
static schedq_status_t
take_record(struct worker *worker, const struct ready *ready, struct group_pop *pop)
{
    const struct group_found *root = &ready->root;
    const uint64_t changes = u64_load_acquire(&root->block->changes);
    const uint64_t next = state_switched(root->view.state, 0, PLACE_CYCLE);
    struct gathered gathered;
    schedq_status_t status = SCHEDQ_EMPTY;

    if (!gather_read(worker, root->block, &gathered)) {
        return SCHEDQ_NOMEM;
    }
    if (!gather_judge_groups(&gathered, false)) {
        (void)leave_idle(worker, root, changes);
    } else if (members_to_take(&gathered) > pop->room) {
        pop->count = members_to_take(&gathered);
        status = SCHEDQ_FULL;
    } else if (someone_is_unasked(worker, &gathered)) {
        status = gather_ask_newcomers(worker, root) == GATHER_NOMEM ? SCHEDQ_NOMEM : SCHEDQ_EMPTY;
    } else if (switch_pod(worker, root->view.entry, root->view.state, root->view.desc, next,
                          CAUSE_NONE)) {
        bin_advance(&ready->head);
        if (take_members(worker, &gathered)) {
            uint64_t order = pop_draw_order(queue_of(worker));

            begin_cycle(worker, root, next, order, pop->group);
            begin_members(worker, &gathered, order, pop);
            status = SCHEDQ_OK;
        } else {
            end_vain_cycle(worker, root, next, changes);
        }
    }
    gather_free(&gathered);
    return status;
}

static schedq_status_t
tell_of_pod(struct group_pop *pop)
{
    *pop->group = (schedq_popped_group_t){
        .seen = pop->members->seen, .cycle = pop->members->cycle, .more = pop->members->more};
    pop->count = 1;
    return SCHEDQ_OK;
}

schedq_status_t
group_take(struct worker *worker, struct group_pop *pop)
{
    struct queue *queue = queue_of(worker);
    bool closed = queue_is_closed(queue);
    schedq_status_t status = SCHEDQ_EMPTY;
    enum pop_look look = POP_LOOK_FIRST;

    pop->count = 0;
    section_begin(worker);
    /* Ends: each further round is another thread's change, or is due to pop_looks_again. */
    while (status == SCHEDQ_EMPTY) {
        uint64_t reorder = u64_load_acquire(&queue->reorder); /* as walk_take:A */
        struct ready ready;
        bool found = find_ready(worker, &ready);
        const struct pop_limit limit = {
            .rank = found ? queue_rank(queue, ready.root.view.description.priority) : 0,
            .key = found ? ready.root.view.description.order_key : 0};
        enum pop_step step = pop_before(worker, reorder, found ? &limit : NULL, pop->members);

        if (step == POP_TAKEN) {
            status = tell_of_pod(pop);
        } else if (step == POP_AGAIN || u64_load_acquire(&queue->reorder) != reorder) {
            continue;
        } else if (found) {
            status = take_record(worker, &ready, pop);
        } else if (!pop_looks_again(worker, &look)) {
            break;
        }
    }
    if (status != SCHEDQ_EMPTY) {
        pop_looked(worker, look);
    }
    section_end(worker);
    return status == SCHEDQ_EMPTY && closed ? SCHEDQ_CLOSED : status;
}
