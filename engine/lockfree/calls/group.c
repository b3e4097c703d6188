/*
 * Groups: declaring them, changing and ending that, looking at them, activating.
 *
 * A declaration makes a record, as add makes a pod: the record is filled, a hint names it below the
 * group above, and the index commits it. Then the members that came before are counted, and the
 * root is completed. The end of a declaration takes the record's word to DEAD. If the group is in
 * its cycle, that is noted in the description, and the cycle's end ends the record. So each
 * declaration, and each end, is one exchange of the record's words.
 *
 * LINEARIZATION. add: commit:A of the index; of one that was ended in its cycle, entry_describe:A.
 * update: entry_describe:A; of one that changes nothing, the load of the description. delete: the
 * switch to DEAD, or entry_describe:A. The others: the load of the word.
 *
 * ORDERING, PROGRESS: gather_join.h. If a thread stops behind a commit, its `joining` names the
 * group.
 *
 * EVIDENCE. tests/model: group; tests/unit/test_group.c.
 */
#include "lockfree/calls/add.h"
#include "lockfree/calls/ops.h"
#include "lockfree/calls/sort.h"
#include "lockfree/moves/gather_join.h"
#include "lockfree/moves/stray.h"

#include <inttypes.h>

static bool
is_as_declared(struct worker *worker, const struct group_found *found,
               const schedq_group_spec_t *spec)
{
    if (found->block->parent != spec->parent) {
        worker_say(&worker->base, "spec.parent %" PRIu64 ": %" PRIu64 ", a group keeps its parent",
                   spec->parent, found->block->parent);
        return false;
    }
    if (found->view.profile != spec->profile) {
        worker_say(&worker->base, "spec.profile %u: %u, a group keeps its profile", spec->profile,
                   found->view.profile);
        return false;
    }
    return true;
}

/* ---- declaring ------------------------------------------------------------------------------- */

/*
 * Adds to `waiting` the members that came before the declaration, and sets `counted`. False: no
 * memory.
 */
static bool
count_members(struct worker *worker, struct group_block *block)
{
    struct gathered gathered;

    if (!gather_read_own(worker, block, &gathered)) {
        return false;
    }
    if (gathered.groups[0].here > 0) {
        (void)u64_add(&block->waiting, gathered.groups[0].here);
    }
    u32_store_release(&block->counted, 1);
    gather_free(&gathered);
    return true;
}

/*
 * For a call that declared a group and found no memory to count its members: takes the declaration
 * back. Else a tick would raise `waiting` and leave `counted` 0, and a member that leaves would
 * lower nothing.
 * False: the group is in its cycle, or another call moves it.
 */
COLD static bool
take_declaration_back(struct worker *worker, const struct group_found *declared)
{
    const uint64_t number = declared->block->number, named = gather_named(declared);
    struct group_found found;

    /* Ends: each further round is another thread's change of the record. */
    while (gather_find(worker, number, &found) && gather_named(&found) == named &&
           state_place(found.view.state) == PLACE_IDLE) {
        if (switch_pod(worker, found.view.entry, found.view.state, found.view.desc,
                       state_switched(found.view.state, 0, PLACE_DEAD), CAUSE_NONE)) {
            gather_end(worker, found.record, found.view.entry, found.block);
            return true;
        }
    }
    return false;
}

/* sort_numbers's `before`. */
static bool
waits_longer(const void *ctx, uint32_t i, uint32_t j)
{
    const struct gathered *gathered = ctx;
    const struct view *a = &gathered->pods[i].view, *b = &gathered->pods[j].view;

    return a->history.timestamp_ns != b->history.timestamp_ns
               ? a->history.timestamp_ns < b->history.timestamp_ns
               : a->description.order_key < b->description.order_key;
}

/*
 * Fills `order` with the members that are to join, oldest first. Returns how many. The field `here`
 * of their groups is 0 then.
 */
static uint32_t
sort_joiners(struct gathered *gathered, uint32_t *order)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < gathered->count; i++) {
        if (gathered->groups[gathered->pods[i].node].joins) {
            order[count++] = i;
        }
    }
    for (uint32_t node = 0; node < gathered->group_count; node++) {
        gathered->groups[node].here =
            gathered->groups[node].joins ? 0 : gathered->groups[node].here;
    }
    sort_numbers(order, count, waits_longer, gathered);
    return count;
}

/* Lets members join one by one, the oldest first. False: the root never had enough. */
static bool
join_one_by_one(struct worker *worker, const struct group_found *found, struct gathered *gathered,
                uint32_t *order, schedq_result_t *result)
{
    const uint64_t number = found->block->number, counted = gather_named(found);
    const uint32_t count = sort_joiners(gathered, order);
    bool complete = gather_judge_groups(gathered, false);

    for (uint32_t i = 0; i < count; i++) {
        const struct gathered_pod *pod = &gathered->pods[order[i]];
        struct gathered_group *group = &gathered->groups[pod->node];

        group->here++;
        if (!complete && group->here == group->needs) {
            complete = gather_judge_groups(gathered, false);
        }
        if (complete) {
            worker->joins_up_to.time = pod->view.history.timestamp_ns;
            worker->joins_up_to.key = pod->view.description.order_key;
            worker->joins_up_to.joined = i + 1;
            u64_store(&worker->joining, number);
            gather_joined(worker, number, counted, entry_handle(pod->record, pod->view.life),
                          result);
        }
    }
    return complete;
}

/*
 * Members join one by one, as in kube: each counts as one that comes in, once the root is complete.
 * Without memory to read them a tick lets them join; without memory to sort them they join
 * together.
 */
static void
join_as_kube(struct worker *worker, const struct group_found *found, schedq_result_t *result)
{
    struct memory *memory = &queue_of(worker)->base.memory;
    const uint64_t number = found->block->number, counted = gather_named(found);
    bool joined = false;
    struct group_found root;
    struct gathered gathered;

    if (!gather_root(worker, number, &root)) {
        return;
    }
    worker->joins_up_to.group = number;
    worker->joins_up_to.time = worker->joins_up_to.key = INT64_MAX;
    if (!gather_read(worker, root.block, &gathered)) {
        worker->joins_up_to.group = 0;
        stray_leave_short(queue_of(worker), STRAY_UNMOVED);
        return;
    }
    size_t bytes = (gathered.count + 1) * sizeof(uint32_t);
    uint32_t *order = memory_alloc(memory, MEMORY_OTHER, bytes, CACHE_LINE);

    if (order != NULL) {
        joined = join_one_by_one(worker, found, &gathered, order, result);
    }
    worker->joins_up_to.group = 0;
    memory_free(memory, MEMORY_OTHER, order, bytes);
    gather_free(&gathered);
    if (!joined) { /* members that were not read may be enough */
        gather_joined(worker, number, counted, (schedq_pod_t){0}, result);
    }
}

/* Do members wait in the group, or below it? Without memory to look: yes. */
static bool
has_members(struct worker *worker, struct group_block *block)
{
    struct gathered gathered;
    bool any = true;

    if (gather_read(worker, block, &gathered)) {
        any = gathered.count > 0;
        gather_free(&gathered);
    }
    return any;
}

/*
 * After a declaration. If it gives members a root, its own or those of groups below, they join. May
 * leave the section. False: no memory, it was taken back.
 */
static bool
begin(struct worker *worker, uint64_t number, schedq_result_t *result)
{
    struct group_found found, root;

    u64_store(&worker->joining, number);
    bool known = gather_find(worker, number, &found);

    /* one that is declared again in its cycle was counted, unless memory was missing */
    if (known && u32_load_acquire(&found.block->counted) == 0 &&
        !count_members(worker, found.block)) {
        if (take_declaration_back(worker, &found)) {
            u64_store_release(&worker->joining, 0);
            return false;
        }
        stray_leave_short(queue_of(worker), STRAY_UNMOVED); /* a tick counts */
    }
    if (known && queue_of(worker)->base.rules.groups_as_kube) {
        join_as_kube(worker, &found, result);
        u64_store_release(&worker->joining, 0);
    } else if (known && gather_root(worker, number, &root) && !has_members(worker, found.block)) {
        gather_changed(worker, number, LABEL_POD_ADD, result); /* no member joins */
    } else {
        gather_joined(worker, number, known ? gather_named(&found) : 0, (schedq_pod_t){0}, result);
    }
    return true;
}

static void
fill_group(struct entry *entry, const struct group_block *block, const struct hashed_name *name,
           uint64_t desc, const schedq_group_spec_t *spec, int64_t now)
{
    const uint64_t life = block->life;

    u64_store(&entry->life, life);
    u64_store(&entry->word.high, desc);
    u64_store(&entry->object, 0);
    time_store(&entry->order_key, now);
    u64_store(&entry->attributes,
              attributes_pack(spec->priority, name->length, spec->profile, DESCRIBED_GROUP));
    u64_store(&entry->name, (uint64_t)name->hash << 32 | block->record);
    names_write(entry_own_words(entry, block->record), name->text, name->length);
    u64_store(&entry->unschedulable, 0);
    u64_store(&entry->pending, 0);
    time_store(&entry->timestamp, 0);
    time_store(&entry->initial_attempt, 0);
    u64_store(&entry->attempts_rejections, 0);
    u32_store(&entry->errors, 0);
    u64_store(&entry->seen, block->number);
    u64_store(&entry->popped, (uintptr_t)block);
    u64_store(&entry->flight, stay_word(life, 0));
    u64_store_release(&entry->word.low, state_make(life, 0, PLACE_IDLE)); /* as fill:A (add.c) */
}

/* What a declaration takes before other threads see it. */
struct making {
    struct group_block *block;
    uint32_t record;
    uint64_t desc;
};

static void
undo_making(struct worker *worker, const struct making *making)
{
    struct queue *queue = queue_of(worker);

    if (making->record != 0) {
        slab_give(&queue->entries.records, &worker->records, making->record);
    }
    description_give(&queue->entries, &worker->descriptions, making->desc);
    memory_free(&queue->base.memory, MEMORY_QUEUES, making->block, sizeof *making->block);
}

/* Declares a group that has no record. Unless the answer is OK, the record never existed. */
static schedq_status_t
declare_new(struct worker *worker, uint64_t number, const schedq_group_spec_t *spec)
{
    struct queue *queue = queue_of(worker);
    const struct index_caller caller = index_caller(worker);
    int64_t now = queue_now(queue);
    char text[GROUP_NAME_BYTES];
    const struct hashed_name name = gather_name(queue, number, text);
    struct description description = {.order_key = now,
                                      .flags = DESCRIBED_GROUP,
                                      .marks = MARK_OWN_KEY | MARK_NOT_BEFORE | MARK_MEMBER,
                                      .not_before = now,
                                      .group = spec->parent};
    struct making making = {.block = NULL};
    struct index_ticket ticket;
    struct index_found present;
    void *memory = NULL;

    schedq_status_t status = add_check_pods(worker);

    group_declare(&description, spec);
    if (status != SCHEDQ_OK) {
        return status;
    }
    if (!gather_open(queue)) {
        return SCHEDQ_NOMEM;
    }
    making.block =
        memory_alloc(&queue->base.memory, MEMORY_QUEUES, sizeof *making.block, CACHE_LINE);
    making.record =
        slab_take_known(&queue->entries.records, &worker->records, RECORD_LAYOUT, &memory);
    making.desc = description_make(&queue->entries, &worker->descriptions, &description, NULL);
    if (making.block == NULL || making.record == 0 || making.desc == 0) {
        undo_making(worker, &making);
        return SCHEDQ_NOMEM;
    }
    struct entry *entry = memory;
    uint64_t life = version_next(state_version(u64_load(&entry->word.low)));

    making.block->number = number;
    making.block->parent = spec->parent;
    making.block->life = life;
    making.block->record = making.record;
    u64_store(&making.block->refuted, UINT64_MAX);
    u32_store(&making.block->size, 1);
    if (!nominator_insert(&queue->families, worker->epoch, spec->parent, making.record, life, 0)) {
        undo_making(worker, &making);
        return SCHEDQ_NOMEM;
    }
    if (spec->parent != 0 && nominator_counts(ref_make(life, making.record))) {
        nominator_count_begin(&queue->families, spec->parent);
    }
    tally_add(&worker->tally.taken, 1);
    u64_store(&worker->joining, number);
    fill_group(entry, making.block, &name, making.desc, spec, now);
    enum index_answer answer = index_insert(&queue->index, &caller, &name,
                                            ref_make(life, making.record), &ticket, &present);

    if (answer == INDEX_DONE) {
        index_finish(&ticket);
        return SCHEDQ_OK;
    }
    u64_store_release(&worker->joining, 0);
    /* a reader that met the hint finds that the index does not know the record */
    uint64_t state = entry_state(entry);

    while (!entry_switch(entry, state, making.desc, state_switched(state, 0, PLACE_FREE))) {
        state = entry_state(entry);
    }
    gather_end(worker, making.record, entry, making.block);
    return answer == INDEX_EXISTS ? SCHEDQ_EXISTS : SCHEDQ_NOMEM;
}

/*
 * The group was undeclared in its cycle, which goes on; it is declared again. SCHEDQ_RETRY: the
 * record changed.
 */
static schedq_status_t
describe_again(struct worker *worker, const struct group_found *found,
               const schedq_group_spec_t *spec)
{
    struct redescription change = describe_begin(&found->view);

    change.description.flags &= (uint8_t)~DESCRIBED_ENDED;
    group_declare(&change.description, spec);
    gather_describe(&change, &found->view);
    return describe_install(worker, found->record, &found->view, &change);
}

schedq_status_t
lockfree_group_add(schedq_worker_t *base, uint64_t number, const schedq_group_spec_t *spec,
                   schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    schedq_status_t status = SCHEDQ_RETRY;
    struct group_found found;

    section_begin(worker);
    /* Ends: each further round is another thread's declaration, or the end of one. */
    while (status == SCHEDQ_RETRY) {
        if (queue_is_closed(queue_of(worker))) {
            status = SCHEDQ_CLOSED;
        } else if (!gather_find(worker, number, &found)) {
            status = declare_new(worker, number, spec);
        } else if (group_is_declared(&found)) {
            status = SCHEDQ_EXISTS;
        } else if (!is_as_declared(worker, &found, spec)) {
            status = SCHEDQ_INVALID;
        } else {
            status = describe_again(worker, &found, spec);
        }
    }
    if (status == SCHEDQ_OK && !begin(worker, number, result)) {
        status = SCHEDQ_NOMEM;
    }
    if (status == SCHEDQ_OK || status == SCHEDQ_EXISTS) {
        gather_report(worker, number, result);
    }
    section_end(worker);
    return status;
}

/* ---- changing -------------------------------------------------------------------------------- */

/*
 * Brings a queued record to its own place once more, so that its lag is 0. At the end of the lag
 * another description would keep the version, and a ref that a mover has published would be good
 * beside it.
 */
COLD static schedq_status_t
end_lag(struct worker *worker, const struct group_found *found)
{
    const uint64_t asked = stamps_drawn(&queue_of(worker)->stamps);
    const struct way way = {.place = state_place(found->view.state), .gate = found->view.gate};
    schedq_result_t unseen = {0};
    enum gather_step step = gather_bring_queued(worker, found, &way, asked, CAUSE_NONE, &unseen);

    return step == GATHER_NOMEM ? SCHEDQ_NOMEM : SCHEDQ_RETRY;
}

/* The new priority sorts a READY record anew. SCHEDQ_RETRY: it changed. */
static schedq_status_t
describe_anew(struct worker *worker, const struct group_found *found,
              const schedq_group_spec_t *spec)
{
    const struct view *view = &found->view;
    enum place place = state_place(view->state);
    struct redescription change = describe_begin(view);
    schedq_result_t unseen = {0};

    group_declare(&change.description, spec);
    if (spec->priority == view->description.priority &&
        spec->object == group_object(&view->description) &&
        spec->quorum == group_quorum(&view->description)) {
        return SCHEDQ_OK;
    }
    if (state_lag_is_at_end(view->state) && place != PLACE_IDLE && place != PLACE_CYCLE) {
        return end_lag(worker, found);
    }
    if (place == PLACE_READY && spec->priority != view->description.priority) {
        const struct way way = {.place = PLACE_READY};
        enum gather_step step = gather_bring(worker,
                                             &(struct gather_move){.record = found->record,
                                                                   .view = view,
                                                                   .way = way,
                                                                   .change = &change,
                                                                   .cause = CAUSE_NONE},
                                             &unseen);

        return step == GATHER_DONE ? SCHEDQ_OK : step == GATHER_AGAIN ? SCHEDQ_RETRY : SCHEDQ_NOMEM;
    }
    gather_describe(&change, view);
    return describe_install(worker, found->record, view, &change);
}

schedq_status_t
lockfree_group_update(schedq_worker_t *base, uint64_t number, const schedq_group_spec_t *spec,
                      schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    schedq_status_t status = SCHEDQ_RETRY;
    struct group_found found;

    section_begin(worker);
    u64_store(&worker->joining, number);
    /* Ends: each further round is another thread's change of the record. */
    while (status == SCHEDQ_RETRY) {
        if (!gather_find(worker, number, &found) || !group_is_declared(&found)) {
            status = SCHEDQ_NOT_FOUND;
        } else if (!is_as_declared(worker, &found, spec)) {
            status = SCHEDQ_INVALID;
        } else {
            status = describe_anew(worker, &found, spec);
        }
    }
    if (status == SCHEDQ_OK && group_quorum(&found.view.description) != spec->quorum) {
        gather_changed(worker, number, LABEL_POD_UPDATE, result);
    }
    u64_store_release(&worker->joining, 0);
    if (status == SCHEDQ_OK) {
        gather_report(worker, number, result);
    }
    section_end(worker);
    return status;
}

/* ---- ending a declaration -------------------------------------------------------------------- */

/* SCHEDQ_RETRY: it changed. */
static schedq_status_t
end_declaration(struct worker *worker, const struct group_found *found, bool *flies)
{
    const struct view *view = &found->view;

    *flies = state_place(view->state) == PLACE_CYCLE;
    if (*flies) {
        struct redescription change = describe_begin(view);

        change.description.flags |= DESCRIBED_ENDED;
        gather_describe(&change, view);
        return describe_install(worker, found->record, view, &change);
    }
    if (!switch_pod(worker, view->entry, view->state, view->desc,
                    state_switched(view->state, 0, PLACE_DEAD), CAUSE_NONE)) {
        return SCHEDQ_RETRY;
    }
    gather_end(worker, found->record, view->entry, found->block);
    return SCHEDQ_OK;
}

schedq_status_t
lockfree_group_delete(schedq_worker_t *base, uint64_t number, schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    schedq_status_t status = SCHEDQ_RETRY;
    struct group_found found;
    uint64_t parent = 0;
    bool flies = false;

    section_begin(worker);
    gather_report(worker, number, result);
    /* Ends: each further round is another thread's change of the record. */
    while (status == SCHEDQ_RETRY) {
        if (!gather_find(worker, number, &found) || !group_is_declared(&found)) {
            status = SCHEDQ_NOT_FOUND;
        } else {
            parent = found.block->parent;
            status = end_declaration(worker, &found, &flies);
        }
    }
    if (status == SCHEDQ_NOMEM) {
        *result = (schedq_result_t){0};
    }
    if (status == SCHEDQ_OK && parent == 0) {
        result->place = (uint8_t)place_public(state_place(found.view.state));
    }
    if (status == SCHEDQ_OK && parent != 0) {
        gather_changed(worker, parent, LABEL_POD_UPDATE, result);
    }
    section_end(worker);
    return status;
}

/* ---- activating, looking --------------------------------------------------------------------- */

schedq_status_t
lockfree_group_activate(schedq_worker_t *base, uint64_t number, schedq_result_t *result)
{
    struct worker *worker = worker_of(base);
    struct group_found found;

    section_begin(worker);
    schedq_status_t status = SCHEDQ_NOT_FOUND;

    if (gather_find(worker, number, &found) && group_is_declared(&found)) {
        status = gather_activate(worker, number, result) ? SCHEDQ_OK : SCHEDQ_NOMEM;
    }
    if (status == SCHEDQ_OK) {
        gather_report(worker, number, result);
    }
    section_end(worker);
    return status;
}

/*
 * How many members wait in the group and below it, or, without a root, in the group alone. Without
 * memory to read them: the group's own count.
 */
static uint64_t
count_waiting(struct worker *worker, struct group_block *block, bool has_root)
{
    struct gathered gathered;

    if (!(has_root ? gather_read(worker, block, &gathered)
                   : gather_read_own(worker, block, &gathered))) {
        return u64_load_acquire(&block->waiting);
    }
    uint64_t count = gathered.count;

    gather_free(&gathered);
    return count;
}

schedq_status_t
lockfree_group_get(schedq_worker_t *base, uint64_t number, schedq_group_info_t *info)
{
    struct worker *worker = worker_of(base);
    struct group_found found, root;

    section_begin(worker);
    bool known = gather_find(worker, number, &found);

    if (known) {
        const struct view *view = &found.view;
        enum place place = state_place(view->state);
        const struct backoff_rules rules = gather_backoff_rules(worker, view);
        const struct backoff_counters counters = backoff_counters_of(&view->history);
        bool has_root = gather_root(worker, number, &root);

        *info = (schedq_group_info_t){
            .struct_size = (uint32_t)sizeof *info,
            .priority = view->description.priority,
            .quorum = group_quorum(&view->description),
            .place = (uint8_t)place_public(place),
            .gate = view->gate,
            .profile = view->profile,
            .declared = group_is_declared(&found),
            .object = group_object(&view->description),
            .parent = found.block->parent,
            .root = has_root ? root.block->number : 0,
            .history = view->history,
            .backoff_expiry_ns =
                place_backs_off(place)
                    ? backoff_public(backoff_expiry(&rules, &counters, view->history.timestamp_ns))
                    : 0,
            .unschedulable = view->unschedulable,
            .pending = view->pending,
            .waiting = count_waiting(worker, found.block, has_root),
        };
    }
    section_end(worker);
    return known ? SCHEDQ_OK : SCHEDQ_NOT_FOUND;
}
