/* Groups and members of gather.h, which has the essay. */
#include "lockfree/moves/gather.h"

#include "lockfree/moves/objects.h"
#include "lockfree/moves/route.h"
#include "lockfree/moves/stray.h"

#include <string.h>

#define FEW 16
#define CAUSE_JOIN (LABEL_POD_ADD + 1)

/* ---- finding --------------------------------------------------------------------------------- */

struct hashed_name
gather_name(const struct queue *queue, uint64_t number, char text[GROUP_NAME_BYTES])
{
    text[0] = '\0';
    memcpy(text + 1, &number, sizeof number);
    return (struct hashed_name){.text = text,
                                .length = GROUP_NAME_BYTES,
                                .hash = hash_text(queue->base.seed, text, GROUP_NAME_BYTES)};
}

/* Of a record that `view` shows; NULL: it is over. */
static struct group_block *
block_of(const struct view *view)
{
    struct entry *entry = view->entry;
    uint64_t address = u64_load_acquire(&entry->popped);

    /* of this life, if the record lives: a later owner's stores come behind a full fence */
    return u64_load_acquire(&entry->life) == view->life && state_is_pod(entry_state(entry))
               ? (struct group_block *)(uintptr_t)address
               : NULL;
}

static bool
view_group(struct worker *worker, uint32_t record, uint64_t life, struct group_found *found)
{
    found->record = record;
    found->block = NULL;
    if (report_view(queue_of(worker), record, life, &found->view) && view_is_group(&found->view)) {
        found->block = block_of(&found->view);
    }
    return found->block != NULL;
}

/* A hint comes before its record is committed. */
static bool
view_declared(struct worker *worker, const struct nominated *hint, struct group_found *found)
{
    return view_group(worker, hint->record, hint->life, found) && group_is_declared(found) &&
           report_exists(worker, hint->record, &found->view);
}

bool
gather_find(struct worker *worker, uint64_t number, struct group_found *found)
{
    struct queue *queue = queue_of(worker);
    const struct index_caller caller = index_caller(worker);
    char text[GROUP_NAME_BYTES];
    const struct hashed_name name = gather_name(queue, number, text);
    uint32_t record;
    uint64_t life;

    if (!queue_has_groups(queue)) {
        return false;
    }
    /* Ends: each further round means that the record ended. */
    do {
        record = index_find(&queue->index, &caller, &name, &life);
    } while (record != 0 && !view_group(worker, record, life, found));
    return record != 0;
}

bool
gather_root(struct worker *worker, uint64_t number, struct group_found *root)
{
    for (uint32_t depth = 0; depth < SCHEDQ_GROUP_DEPTH_MAX; depth++) {
        if (!gather_find(worker, number, root) || !group_is_declared(root)) {
            return false;
        }
        if (root->block->parent == 0) {
            return true;
        }
        number = root->block->parent;
    }
    return false;
}

/* ---- hints ----------------------------------------------------------------------------------- */

struct hints {
    struct nominated few[FEW], *pods;
    size_t count, capacity;
};

static void
hints_end(struct worker *worker, struct hints *hints)
{
    if (hints->pods != hints->few) {
        memory_free(&queue_of(worker)->base.memory, MEMORY_OTHER, hints->pods,
                    hints->capacity * sizeof *hints->pods);
    }
}

/* False: no memory, and nothing to give back. */
static bool
hints_read(struct worker *worker, struct nominator *nominator, uint64_t key, struct hints *hints)
{
    struct memory *memory = &queue_of(worker)->base.memory;

    hints->pods = hints->few;
    hints->capacity = FEW;
    hints->count = 0;
    if (ptr_load_acquire(&nominator->buckets) == NULL) {
        return true;
    }
    /* Ends: each further round means that as many came under the key meanwhile as it had. */
    while ((hints->count = nominator_read(nominator, worker->epoch, key, hints->pods,
                                          hints->capacity)) > hints->capacity) {
        size_t capacity = 2 * hints->count;

        hints_end(worker, hints);
        hints->pods =
            memory_alloc(memory, MEMORY_OTHER, capacity * sizeof *hints->pods, CACHE_LINE);
        if (hints->pods == NULL) {
            return false;
        }
        hints->capacity = capacity;
    }
    return true;
}

/* ---- enough? --------------------------------------------------------------------------------- */

static uint32_t
needs_of(const struct group_block *block)
{
    return group_needs(u32_load_acquire(&block->quorum), u32_load_acquire(&block->placed) != 0);
}

static bool
is_complete_at(struct worker *worker, const struct group_block *block, uint32_t depth)
{
    int64_t waiting = (int64_t)u64_load_acquire(&block->waiting);
    uint32_t needs = needs_of(block), complete = 0;
    struct hints hints;

    if (waiting >= (int64_t)needs) {
        return true;
    }
    if (depth >= SCHEDQ_GROUP_DEPTH_MAX) {
        return false;
    }
    if (!hints_read(worker, &queue_of(worker)->families, block->number, &hints)) {
        return true; /* who reads the members finds out */
    }
    for (size_t i = 0; complete < needs && i < hints.count; i++) {
        struct group_found below;

        complete += view_declared(worker, &hints.pods[i], &below) &&
                            is_complete_at(worker, below.block, depth + 1)
                        ? 1
                        : 0;
    }
    hints_end(worker, &hints);
    return complete >= needs;
}

size_t
gather_roots(struct worker *worker, uint64_t **numbers, size_t *bytes)
{
    struct memory *memory = &queue_of(worker)->base.memory;
    struct hints hints;
    size_t count = 0;

    *numbers = NULL;
    *bytes = 0;
    if (!hints_read(worker, &queue_of(worker)->families, 0, &hints)) {
        return 0;
    }
    *bytes = (hints.count + 1) * sizeof **numbers;
    *numbers = memory_alloc(memory, MEMORY_OTHER, *bytes, CACHE_LINE);
    for (size_t i = 0; *numbers != NULL && i < hints.count; i++) {
        struct group_found root;

        if (view_group(worker, hints.pods[i].record, hints.pods[i].life, &root)) {
            (*numbers)[count++] = root.block->number;
        }
    }
    hints_end(worker, &hints);
    return count;
}

bool
gather_is_complete(struct worker *worker, const struct group_block *block)
{
    return is_complete_at(worker, block, 0);
}

/* ---- reading all ----------------------------------------------------------------------------- */

/* NULL: no memory; what there was stays. */
static void *
grow(struct worker *worker, void *old, uint32_t *capacity, size_t size)
{
    struct memory *memory = &queue_of(worker)->base.memory;
    uint32_t wanted = *capacity == 0 ? FEW : 2 * *capacity;
    void *grown = memory_alloc(memory, MEMORY_OTHER, wanted * size, CACHE_LINE);

    if (grown != NULL) {
        if (old != NULL) {
            memcpy(grown, old, *capacity * size);
            memory_free(memory, MEMORY_OTHER, old, *capacity * size);
        }
        *capacity = wanted;
    }
    return grown;
}

static struct gathered_pod *
add_pod(struct gathered *gathered)
{
    if (gathered->count == gathered->capacity) {
        void *grown =
            grow(gathered->worker, gathered->pods, &gathered->capacity, sizeof *gathered->pods);

        if (grown == NULL) {
            gathered->no_memory = true;
            return NULL;
        }
        gathered->pods = grown;
    }
    return &gathered->pods[gathered->count++];
}

static bool
add_group(struct gathered *gathered, struct group_block *block, uint32_t above)
{
    if (gathered->group_count == gathered->group_capacity) {
        void *grown = grow(gathered->worker, gathered->groups, &gathered->group_capacity,
                           sizeof *gathered->groups);

        if (grown == NULL) {
            gathered->no_memory = true;
            return false;
        }
        gathered->groups = grown;
    }
    uint64_t joins = gathered->worker->joins_up_to.group;
    bool joins_above = gathered->group_count > 0 && gathered->groups[above].joins;

    gathered->groups[gathered->group_count++] =
        (struct gathered_group){.block = block,
                                .number = block->number,
                                .above = above,
                                .joins = joins_above || (joins != 0 && joins == block->number),
                                .counted = u32_load_acquire(&block->counted) != 0};
    return true;
}

/* Has it not come to join so far? */
static bool
joins_later(const struct worker *worker, const struct view *view)
{
    int64_t time = view->history.timestamp_ns;

    return time != worker->joins_up_to.time ? time > worker->joins_up_to.time
                                            : view->description.order_key > worker->joins_up_to.key;
}

static void
read_members(struct gathered *gathered, uint32_t node)
{
    struct worker *worker = gathered->worker;
    struct hints hints;

    if (!hints_read(worker, &queue_of(worker)->members, gathered->groups[node].block->number,
                    &hints)) {
        gathered->no_memory = true;
        return;
    }
    for (size_t i = 0; i < hints.count; i++) {
        struct view view;

        if (!report_view(queue_of(worker), hints.pods[i].record, hints.pods[i].life, &view) ||
            state_place(view.state) != PLACE_ASIDE ||
            !report_exists(worker, hints.pods[i].record, &view)) {
            continue;
        }
        if (gathered->groups[node].joins && joins_later(worker, &view)) {
            continue;
        }
        struct gathered_pod *pod = add_pod(gathered);

        if (pod == NULL) {
            break;
        }
        *pod = (struct gathered_pod){.view = view, .record = hints.pods[i].record, .node = node};
        gathered->groups[node].here++;
    }
    hints_end(worker, &hints);
}

static void
read_families(struct gathered *gathered, uint32_t node)
{
    struct worker *worker = gathered->worker;
    struct hints hints;

    if (!hints_read(worker, &queue_of(worker)->families, gathered->groups[node].block->number,
                    &hints)) {
        gathered->no_memory = true;
        return;
    }
    for (size_t i = 0; i < hints.count; i++) {
        struct group_found below;

        if (view_declared(worker, &hints.pods[i], &below) &&
            !add_group(gathered, below.block, node)) {
            break;
        }
    }
    hints_end(worker, &hints);
}

/* Groups come behind the one above: a root has no circle below it. */
static bool
read_all(struct worker *worker, struct group_block *top, bool below, struct gathered *gathered)
{
    *gathered = (struct gathered){.worker = worker};
    if (!add_group(gathered, top, 0)) {
        return false;
    }
    for (uint32_t node = 0; !gathered->no_memory && node < gathered->group_count; node++) {
        read_members(gathered, node);
        if (below) {
            read_families(gathered, node);
        }
    }
    if (gathered->no_memory) {
        gather_free(gathered);
    }
    return !gathered->no_memory;
}

bool
gather_read(struct worker *worker, struct group_block *top, struct gathered *gathered)
{
    return read_all(worker, top, true, gathered);
}

bool
gather_read_own(struct worker *worker, struct group_block *block, struct gathered *gathered)
{
    return read_all(worker, block, false, gathered);
}

void
gather_free(struct gathered *gathered)
{
    struct memory *memory = &queue_of(gathered->worker)->base.memory;

    memory_free(memory, MEMORY_OTHER, gathered->pods, gathered->capacity * sizeof *gathered->pods);
    memory_free(memory, MEMORY_OTHER, gathered->groups,
                gathered->group_capacity * sizeof *gathered->groups);
    gathered->pods = NULL;
    gathered->groups = NULL;
}

bool
gather_judge_groups(struct gathered *gathered, bool placed)
{
    for (uint32_t i = 0; i < gathered->group_count; i++) {
        struct gathered_group *group = &gathered->groups[i];

        group->needs = placed && gather_was_tried(gathered, i)
                           ? group_needs(u32_load_acquire(&group->block->quorum), true)
                           : needs_of(group->block);
        group->complete_below = 0;
    }
    for (uint32_t i = gathered->group_count; i-- > 0;) {
        struct gathered_group *group = &gathered->groups[i];

        group->complete = group_is_complete(group->needs, group->here, group->complete_below);
        if (i > 0 && group->complete) {
            gathered->groups[group->above].complete_below++;
        }
    }
    return gathered->groups[0].complete;
}

/* ---- gates ----------------------------------------------------------------------------------- */

/* The gates let it pass: its group's pop may take it. */
static void
let_pass(const struct view *view)
{
    if ((view->state & FLAG_PASSED) == 0) {
        (void)u64_cas(&view->entry->word.low, view->state, view->state | FLAG_PASSED);
    }
}

/*
 * The member keeps what was said of it; if it changed meanwhile, that is of the past. It passed if
 * it is as it was when its gates were asked.
 */
static void
note_gate(struct worker *worker, uint32_t record, const struct view *seen, uint8_t gate)
{
    struct view view;

    if (!report_view(queue_of(worker), record, seen->life, &view) ||
        state_place(view.state) != PLACE_ASIDE) {
        return;
    }
    const bool passed = gate == 0 && ((view.state ^ seen->state) & ~(uint64_t)FLAG_PASSED) == 0;

    if (gate != seen->gate) {
        struct redescription change = describe_begin(&view);

        change.gating.stay = (change.gating.stay & ~UINT64_C(0xff)) | gate;
        change.gating.stay |= gate == 0 ? STAY_UNGATED : 0;
        change.gating.refused |= gate_bit(gate);
        change.word |= passed ? FLAG_PASSED : 0;
        if (describe_install(worker, record, &view, &change) != SCHEDQ_NOMEM) {
            return;
        }
    }
    if (passed) {
        let_pass(&view);
    }
}

/* Leaves the section. */
static uint8_t
ask_member(struct worker *worker, uint32_t record, const struct view *view)
{
    const struct queue *queue = queue_of(worker);
    uint64_t calls = 0, object = view->description.object;
    uint32_t count;
    struct description description;
    uint64_t desc;

    const struct gate *gates = registry_gates(&queue->base.registry, view->profile, &count);

    if (objects_counted(queue)) {
        if (!objects_take(worker, view->entry, view->state, &description, &desc)) {
            return 0;
        }
        object = description.object;
    }
    section_pause(worker);
    uint8_t gate = gating_ask(gates, count, view->gate, object, &calls);

    object_give_back(queue, object);
    section_resume(worker);
    tally_add(&worker->tally.gate_calls, calls);
    note_gate(worker, record, view, gate);
    return gate;
}

struct asked {
    uint32_t record;
    uint64_t life;
    uint32_t node, name, name_length; /* what orders it */
    int32_t priority;
    schedq_history_t history;
};

static uint8_t
ask_one(struct worker *worker, const struct asked *asked)
{
    struct view view;

    return report_view(queue_of(worker), asked->record, asked->life, &view) &&
                   state_place(view.state) == PLACE_ASIDE
               ? ask_member(worker, asked->record, &view)
               : 0;
}

/* Are both in one group, and is the first behind the other in its order? Or is its group later? */
static bool
is_behind(struct worker *worker, const struct asked *a, const struct asked *b)
{
    const struct names *names = &queue_of(worker)->names;
    char name[2][SCHEDQ_NAME_MAX + 9];
    const struct asked *both[] = {a, b};
    schedq_popped_t popped[2] = {0};

    if (a->node != b->node) {
        return a->node > b->node;
    }
    for (uint32_t i = 0; i < 2; i++) {
        names_copy(names, both[i]->name, name[i], both[i]->name_length);
        popped[i].name = name[i];
        popped[i].name_length = both[i]->name_length;
        popped[i].priority = both[i]->priority;
        popped[i].history = both[i]->history;
    }
    return group_member_before(&popped[1], &popped[0]);
}

static struct asked
asked_of(const struct gathered_pod *pod)
{
    return (struct asked){.record = pod->record,
                          .life = pod->view.life,
                          .node = pod->node,
                          .name = pod->view.name,
                          .name_length = pod->view.name_length,
                          .priority = pod->view.description.priority,
                          .history = pod->view.history};
}

/* The gate of the last that is refused. */
static uint8_t
ask_all(struct worker *worker, const struct asked *all, uint32_t count)
{
    const struct asked *last = NULL;
    uint8_t gate = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint8_t refused = ask_one(worker, &all[i]);

        if (refused != 0 && (last == NULL || is_behind(worker, &all[i], last))) {
            last = &all[i];
            gate = refused;
        }
    }
    return gate;
}

/* All are asked: each keeps what was said of it. */
bool
gather_ask(struct worker *worker, uint64_t number, uint8_t *gate)
{
    struct queue *queue = queue_of(worker);
    struct memory *memory = &queue->base.memory;
    bool outside = worker->outside, asked = true;
    struct group_found top;
    struct gathered gathered;

    *gate = 0;
    if (!queue->base.registry.has_gates) {
        return true;
    }
    worker->asked_members = true;
    if (outside) {
        section_resume(worker);
    }
    if (gather_find(worker, number, &top)) {
        asked = gather_read(worker, top.block, &gathered);
        if (asked) {
            uint32_t count = gathered.count;
            size_t bytes = (count + 1) * sizeof(struct asked);
            struct asked *all = memory_alloc(memory, MEMORY_OTHER, bytes, CACHE_LINE);

            for (uint32_t i = 0; all != NULL && i < count; i++) {
                all[i] = asked_of(&gathered.pods[i]);
            }
            gather_free(&gathered);
            asked = all != NULL;
            if (asked) {
                *gate = ask_all(worker, all, count);
            }
            memory_free(memory, MEMORY_OTHER, all, bytes);
        }
    }
    if (outside) {
        section_pause(worker);
    }
    return asked;
}

/* ---- each member ----------------------------------------------------------------------------- */

/* False: the member is not there any more, or `each` wants no more of them. */
static bool
visit(struct worker *worker, const struct asked *one, bool outside, gather_each_fn *each, void *ctx)
{
    const struct queue *queue = queue_of(worker);
    struct view view;
    uint64_t desc;

    if (!report_view(queue, one->record, one->life, &view) ||
        state_place(view.state) != PLACE_ASIDE ||
        (objects_counted(queue) &&
         !objects_take(worker, view.entry, view.state, &view.description, &desc))) {
        return true;
    }
    if (outside) {
        section_pause(worker);
    }
    bool goes_on = each(ctx, &view);

    object_give_back(queue, view.description.object);
    if (outside) {
        section_resume(worker);
    }
    return goes_on;
}

bool
gather_each(struct worker *worker, uint64_t number, gather_each_fn *each, void *ctx)
{
    struct memory *memory = &queue_of(worker)->base.memory;
    bool outside = worker->outside, done = false;
    struct group_found top;
    struct gathered gathered;

    if (outside) {
        section_resume(worker);
    }
    if (gather_find(worker, number, &top) && gather_read(worker, top.block, &gathered)) {
        uint32_t count = gathered.count;
        size_t bytes = (count + 1) * sizeof(struct asked);
        struct asked *all = memory_alloc(memory, MEMORY_OTHER, bytes, CACHE_LINE);

        for (uint32_t i = 0; all != NULL && i < count; i++) {
            all[i] = (struct asked){.record = gathered.pods[i].record,
                                    .life = gathered.pods[i].view.life};
        }
        gather_free(&gathered);
        done = all != NULL;
        for (uint32_t i = 0; all != NULL && i < count; i++) {
            if (!visit(worker, &all[i], outside, each, ctx)) {
                break;
            }
        }
        memory_free(memory, MEMORY_OTHER, all, bytes);
    }
    if (outside) {
        section_pause(worker);
    }
    return done;
}

/* ---- backoff --------------------------------------------------------------------------------- */

struct backoff_rules
gather_backoff_rules(struct worker *worker, const struct view *view)
{
    const struct backoff_rules *rules = &queue_of(worker)->base.rules.backoff;
    bool outside = worker->outside;
    struct group_found found;
    uint32_t size = 1;

    if (outside) {
        section_resume(worker);
    }
    if (gather_find(worker, view->seen, &found)) {
        size = u32_load_acquire(&found.block->size);
    }
    if (outside) {
        section_pause(worker);
    }
    return group_backoff_rules(rules, size, view->history.attempts);
}

bool
gather_is_backing_off(struct worker *worker, const struct view *view, int64_t now)
{
    const struct queue *queue = queue_of(worker);
    const struct backoff_counters counters = backoff_counters_of(&view->history);

    if (view->gate != 0 && queue->base.rules.gated_never_backs_off) {
        return false;
    }
    const struct backoff_rules rules = gather_backoff_rules(worker, view);

    return backoff_is_waiting(&rules, backoff_expiry(&rules, &counters, view->history.timestamp_ns),
                              now);
}

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

/* Of one member; if it changed meanwhile, its pop says when it was tried first. */
static void
begin_attempt(struct worker *worker, uint32_t record, uint64_t life, int64_t now)
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
                begin_attempt(worker, gathered.pods[i].record, gathered.pods[i].view.life, now);
            }
        }
        gather_free(&gathered);
    }
}

static void
count_pods(struct worker *worker, enum place place, uint32_t cause, uint64_t pods, bool entity)
{
    struct queue *queue = queue_of(worker);
    uint32_t label = (cause & CAUSE_LABEL) - 1;
    enum incoming_place to = place == PLACE_READY ? INCOMING_ACTIVE : incoming_place(place);

    if (cause != CAUSE_NONE && (label != LABEL_POD_UPDATE || queue->base.rules.counts_updates)) {
        incoming_count_group(&queue_groups(queue)->incoming, label, to, pods, entity);
    }
}

/* Members that wait, of a group and of those below; without memory, of those that were found. */
static uint64_t
members_at(struct worker *worker, const struct group_block *block, uint32_t depth)
{
    int64_t waiting = (int64_t)u64_load_acquire(&block->waiting);
    uint64_t count = waiting > 0 ? (uint64_t)waiting : 0;
    struct hints hints;

    if (worker->joins_up_to.group != 0 && worker->joins_up_to.group == block->number) {
        return worker->joins_up_to.joined;
    }
    if (depth >= SCHEDQ_GROUP_DEPTH_MAX ||
        !hints_read(worker, &queue_of(worker)->families, block->number, &hints)) {
        return count;
    }
    for (size_t i = 0; i < hints.count; i++) {
        struct group_found below;

        if (view_declared(worker, &hints.pods[i], &below)) {
            count += members_at(worker, below.block, depth + 1);
        }
    }
    hints_end(worker, &hints);
    return count;
}

void
gather_count(struct worker *worker, uint64_t number, enum place place, uint32_t cause)
{
    struct group_found top;

    if (cause != CAUSE_NONE && gather_find(worker, number, &top)) {
        count_pods(worker, place, cause, members_at(worker, top.block, 0),
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
 * A helper may switch the record before its description is installed: then it is where its old one
 * wants it. If that is another place in the order, the caller begins again; else the first attempt
 * alone is not noted, and the pop knows since when the record was READY.
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
    struct group_block *block = block_of(view);

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

    (void)gather_ask(worker, view->seen, &gate); /* who was not asked no pop takes */
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

/* ---- joining --------------------------------------------------------------------------------- */

/* Only in a queue that knows groups: else nothing can be found by the number. */
uint64_t
gather_announce(struct worker *worker, uint64_t number)
{
    struct group_found found;

    u64_store(&worker->joining, number);
    if (!gather_find(worker, number, &found)) {
        return 0;
    }
    (void)u64_add(&found.block->waiting, 1);
    return gather_named(&found);
}

void
gather_withdraw(struct worker *worker, uint64_t number, uint64_t counted)
{
    struct group_found found;

    if (counted != 0 && gather_find(worker, number, &found) && gather_named(&found) == counted) {
        (void)u64_add(&found.block->waiting, UINT64_MAX);
    }
    u64_store_release(&worker->joining, 0);
}

static bool
is_queued(enum place place)
{
    return place == PLACE_READY || place_waits(place);
}

/* Who came to a record that is queued: a member, or those of a group and below, or nobody. */
struct comers {
    schedq_pod_t one;
    uint64_t group;
};

static void
begin_attempts_of(struct worker *worker, const struct comers *comers, int64_t now)
{
    if (comers->one.bits != 0) {
        begin_attempt(worker, ref_record(comers->one.bits), ref_version(comers->one.bits), now);
    } else if (comers->group != 0) {
        gather_begin_attempts(worker, comers->group, now);
    }
}

/*
 * Whoever joins, or leaves, makes a record come in again where it is: all are asked. False: it
 * changed.
 */
static bool
come_in_again(struct worker *worker, const struct group_found *root, const struct comers *comers,
              uint32_t cause, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    enum place place = state_place(root->view.state);
    const uint64_t asked = stamps_drawn(&queue->stamps), life = root->view.life;
    const uint32_t record = root->record;
    struct view view;

    if (place != PLACE_READY && !place_backs_off(place)) {
        gather_count(worker, root->view.seen, PLACE_PARKED, cause | CAUSE_NAMED);
        return true; /* nothing but its size changes */
    }
    const struct way way = gather_way(worker, &root->view, place != PLACE_READY);

    if (way.place == place) {
        gather_count(worker, root->view.seen, place, cause | CAUSE_NAMED);
        if (place == PLACE_READY) {
            begin_attempts_of(worker, comers, queue_now(queue));
        }
        return true;
    }
    if (!report_view(queue, record, life, &view) || state_place(view.state) != place) {
        return false;
    }
    struct redescription change = describe_begin(&view);

    return gather_bring(worker, record, &view, &way, &change, asked, cause, result) != GATHER_AGAIN;
}

static bool reconsider(struct worker *worker, const struct group_found *root, uint32_t cause,
                       schedq_result_t *result);

/*
 * A record that is queued, whose group has one more: one that is parked is worth another try, and
 * what passed the gates asks about the newcomer only. False: it changed.
 */
static bool
join_queued(struct worker *worker, const struct group_found *root, const struct comers *comers,
            schedq_result_t *result)
{
    const schedq_pod_t newcomer = comers->one;
    struct queue *queue = queue_of(worker);
    const struct rules *rules = &queue->base.rules;
    enum place place = state_place(root->view.state);
    const uint64_t asked = stamps_drawn(&queue->stamps), life = root->view.life;
    struct way way = {.place = place};
    struct view view;
    const uint32_t record = root->record;
    bool passed = place == PLACE_READY || (place != PLACE_PARKED && rules->pop_from_backoff);

    if (rules->groups_as_kube ||
        (newcomer.bits == 0 && place != PLACE_PARKED && place != PLACE_GATED)) {
        return come_in_again(worker, root, comers, CAUSE_JOIN, result);
    }
    if (newcomer.bits == 0 && place == PLACE_GATED) {
        return reconsider(worker, root, CAUSE_JOIN, result);
    }
    if (place == PLACE_PARKED) {
        way = gather_way(worker, &root->view, true);
    } else if (place == PLACE_GATED || !passed) {
        count_pods(worker, place, CAUSE_JOIN, 1, false);
        return true;
    } else {
        const struct asked one = {.record = ref_record(newcomer.bits),
                                  .life = ref_version(newcomer.bits)};

        way.gate = queue->base.registry.has_gates ? ask_one(worker, &one) : 0;
        if (way.gate == 0) {
            count_pods(worker, place, CAUSE_JOIN, 1, false);
            if (place == PLACE_READY) {
                begin_attempt(worker, one.record, one.life, queue_now(queue));
            }
            return true;
        }
        way.place = PLACE_GATED;
    }
    if (!report_view(queue, record, life, &view) || state_place(view.state) != place) {
        return false;
    }
    struct redescription change = describe_begin(&view);

    return gather_bring(worker, record, &view, &way, &change, asked, CAUSE_JOIN, result) !=
           GATHER_AGAIN;
}

void
gather_joined(struct worker *worker, uint64_t number, uint64_t counted, schedq_pod_t newcomer,
              schedq_result_t *result)
{
    const struct comers comers = {.one = newcomer, .group = number};
    struct group_found found;

    if (gather_find(worker, number, &found)) {
        if (gather_named(&found) != counted) {
            (void)u64_add(&found.block->waiting, 1);
        }
        if (gather_root(worker, number, &found)) {
            (void)u64_add(&found.block->changes, 1);
        }
        /* Ends: each further round is another's change of the record, or an event. */
        while (gather_root(worker, number, &found)) {
            enum place place = state_place(found.view.state);

            if (place == PLACE_IDLE) {
                gather_complete(worker, number, result);
                break;
            }
            if (!is_queued(place) || join_queued(worker, &found, &comers, result)) {
                break;
            }
        }
        gather_look_at_gate(worker, number, result);
    }
    u64_store_release(&worker->joining, 0);
}

void
gather_tell_joined(struct worker *worker, schedq_pod_t member, schedq_result_t *result)
{
    struct view view;

    if (report_handle(queue_of(worker), member, &view) && state_place(view.state) == PLACE_ASIDE) {
        result->unschedulable = view.unschedulable;
    }
}

struct gate_search {
    struct worker *worker;
    uint8_t gate;
    uint32_t depth;
};

static bool
member_is_gated(void *ctx, uint32_t record, uint64_t life)
{
    const struct gate_search *search = ctx;
    struct view view;

    return report_view(queue_of(search->worker), record, life, &view) &&
           state_place(view.state) == PLACE_ASIDE && view.gate == search->gate;
}

static bool is_gated_at(struct gate_search *search, uint64_t number);

static bool
group_is_gated(void *ctx, uint32_t record, uint64_t life)
{
    struct gate_search *search = ctx;
    const struct nominated hint = {.record = record, .life = life};
    struct group_found below;

    return view_declared(search->worker, &hint, &below) && is_gated_at(search, below.block->number);
}

static bool
is_gated_at(struct gate_search *search, uint64_t number)
{
    const struct queue *queue = queue_of(search->worker);
    bool gated = nominator_any(&queue->members, number, member_is_gated, search);

    if (!gated && search->depth < SCHEDQ_GROUP_DEPTH_MAX) {
        search->depth++;
        gated = nominator_any(&queue->families, number, group_is_gated, search);
        search->depth--;
    }
    return gated;
}

/*
 * Does a member wait behind this gate, as far as they keep what was said of them? The search ends
 * at the first.
 */
static bool
is_gated_by(struct worker *worker, uint64_t number, uint8_t gate)
{
    return is_gated_at(&(struct gate_search){.worker = worker, .gate = gate}, number);
}

/* A member refused, and could not keep it: when it leaves, nobody will know what it was for. */
static void
note_nobody(struct worker *worker, uint64_t number, uint8_t gate)
{
    if (!is_gated_by(worker, number, gate)) {
        queue_note_stray(queue_of(worker), STRAY_UNMOVED); /* a tick asks all again */
    }
}

/* A queued record: it has too few, or the member that gated it is gone. False: it changed. */
static bool
reconsider(struct worker *worker, const struct group_found *root, uint32_t cause,
           schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    enum place place = state_place(root->view.state);
    const uint64_t asked = stamps_drawn(&queue->stamps), life = root->view.life;
    const uint32_t record = root->record;
    struct view view;

    if (!gather_is_complete(worker, root->block)) {
        return gather_put_aside(worker, root, result);
    }
    if (queue->base.rules.groups_as_kube) {
        return come_in_again(worker, root, &(struct comers){.group = 0}, cause, result);
    }
    if (place != PLACE_GATED) {
        return true;
    }
    const struct way way = gather_way(worker, &root->view, true);

    if (gather_stays_gated(queue, &root->view, &way)) {
        note_nobody(worker, root->block->number, way.gate);
        return true;
    }
    if (!report_view(queue, record, life, &view) || state_place(view.state) != place) {
        return false;
    }
    struct redescription change = describe_begin(&view);

    return gather_bring(worker, record, &view, &way, &change, asked, cause, result) != GATHER_AGAIN;
}

/*
 * Who asked a group brought its record to GATED, or left it there. Whom it was for may have left in
 * between, and seen the record elsewhere: then all are asked again. In kube's groups the record
 * waits for an event.
 *
 *   switch to GATED, members' gates | a member leaves ASIDE, gather_left's look at the record
 */
void
gather_look_at_gate(struct worker *worker, uint64_t number, schedq_result_t *result)
{
    struct group_found root;

    bool asked = worker->asked_members && !queue_of(worker)->base.rules.groups_as_kube;

    worker->asked_members = false;
    /* Ends: each further round is another's change of the record, or an event. */
    while (asked && gather_root(worker, number, &root) &&
           state_place(root.view.state) == PLACE_GATED &&
           !is_gated_by(worker, root.block->number, root.view.gate) &&
           !reconsider(worker, &root, CAUSE_JOIN, result)) {
    }
}

void
gather_changed(struct worker *worker, uint64_t number, uint32_t label, schedq_result_t *result)
{
    struct group_found root;

    u64_store(&worker->joining, number);
    if (gather_root(worker, number, &root)) {
        (void)u64_add(&root.block->changes, 1);
    }
    /* Ends: each further round is another's change of the record, or an event. */
    while (gather_root(worker, number, &root)) {
        enum place place = state_place(root.view.state);

        if (place == PLACE_IDLE) {
            gather_complete(worker, number, result);
            break;
        }
        if (!is_queued(place) || reconsider(worker, &root, cause_of(label, false), result)) {
            break;
        }
    }
    gather_look_at_gate(worker, number, result);
    u64_store_release(&worker->joining, 0);
}

uint64_t
gather_leaves(struct worker *worker, uint64_t number)
{
    struct group_found found;

    u64_store(&worker->joining, number);
    return gather_find(worker, number, &found) && u32_load_acquire(&found.block->counted) != 0
               ? gather_named(&found)
               : 0;
}

/* Is the record gated, and not because of a member that had this gate? */
static bool
stays_without(struct worker *worker, const struct group_found *root, uint8_t gate)
{
    return state_place(root->view.state) == PLACE_GATED &&
           !queue_of(worker)->base.rules.groups_as_kube &&
           gather_is_complete(worker, root->block) &&
           (gate != root->view.gate || is_gated_by(worker, root->block->number, gate));
}

void
gather_left(struct worker *worker, uint64_t number, uint64_t counted, uint8_t gate,
            schedq_result_t *result)
{
    struct group_found found;

    if (counted != 0 && gather_find(worker, number, &found) && gather_named(&found) == counted) {
        (void)u64_add(&found.block->waiting, UINT64_MAX);
    }
    /* Ends: each further round is another's change of the record, or an event. */
    while (gather_root(worker, number, &found) && is_queued(state_place(found.view.state)) &&
           !stays_without(worker, &found, gate) &&
           !reconsider(worker, &found, CAUSE_JOIN, result)) {
    }
    gather_look_at_gate(worker, number, result);
    u64_store_release(&worker->joining, 0);
}

/* A member came since the others passed: as if it joined once more, all are asked. */
enum gather_step
gather_ask_newcomers(struct worker *worker, const struct group_found *root)
{
    struct queue *queue = queue_of(worker);
    const uint64_t asked = stamps_drawn(&queue->stamps), life = root->view.life;
    const uint64_t number = root->block->number;
    const uint32_t record = root->record;
    enum gather_step step = GATHER_AGAIN;
    schedq_result_t unseen = {0};
    struct way way = {.place = PLACE_GATED};
    struct view view;

    if (!gather_ask(worker, number, &way.gate)) {
        return GATHER_NOMEM;
    }
    u64_store(&worker->joining, number);
    if (way.gate != 0 && report_view(queue, record, life, &view) &&
        state_place(view.state) == PLACE_READY) {
        struct redescription change = describe_begin(&view);

        step = gather_bring(worker, record, &view, &way, &change, asked, CAUSE_JOIN, &unseen);
    }
    gather_look_at_gate(worker, number, &unseen);
    u64_store_release(&worker->joining, 0);
    return step == GATHER_NOMEM ? GATHER_NOMEM : GATHER_AGAIN;
}

/* ---- activation, ticks ----------------------------------------------------------------------- */

void
gather_activate(struct worker *worker, uint64_t number, schedq_result_t *result)
{
    struct queue *queue = queue_of(worker);
    struct group_found root;
    enum gather_step step = GATHER_AGAIN;

    /* Ends: the same. */
    while (step == GATHER_AGAIN && gather_root(worker, number, &root)) {
        enum place place = state_place(root.view.state);
        const uint64_t asked = stamps_drawn(&queue->stamps);
        struct redescription change = describe_begin(&root.view);
        struct view view;

        if (place == PLACE_CYCLE && !queue->base.rules.activates_in_flight) {
            return;
        }
        if (place == PLACE_CYCLE) {
            change.description.flags |= DESCRIBED_ACTIVATED;
            gather_describe(&change, &root.view);
            schedq_status_t status = describe_install(worker, root.record, &root.view, &change);

            step = status == SCHEDQ_RETRY ? GATHER_AGAIN
                   : status == SCHEDQ_OK  ? GATHER_DONE
                                          : GATHER_NOMEM;
            continue;
        }
        if (!place_waits(place)) {
            return;
        }
        const struct way way = queue->base.rules.pop_from_backoff &&
                                       queue->base.rules.backoff_opens_gates &&
                                       place_backs_off(place)
                                   ? (struct way){.place = PLACE_READY}
                                   : gather_way(worker, &root.view, false);

        if (gather_stays_gated(queue, &root.view, &way)) {
            return;
        }
        if (report_view(queue, root.record, root.view.life, &view) &&
            state_place(view.state) == place) {
            change = describe_begin(&view);
            step = gather_bring(worker, root.record, &view, &way, &change, asked,
                                cause_of(LABEL_FORCE_ACTIVATE, false), result);
        }
    }
    if (step == GATHER_NOMEM) {
        queue_note_stray(queue, STRAY_UNJUDGED);
    }
    gather_look_at_gate(worker, number, result);
}

/* What is counted is not less than what is read from here on. */
static void
count_again(struct gathered *gathered)
{
    for (uint32_t i = 0; i < gathered->group_count; i++) {
        struct group_block *block = gathered->groups[i].block;
        int64_t less =
            (int64_t)gathered->groups[i].here - (int64_t)u64_load_acquire(&block->waiting);

        if (less > 0) {
            (void)u64_add(&block->waiting, (uint64_t)less);
        }
    }
}

void
gather_look_after(struct worker *worker, uint64_t number)
{
    schedq_result_t unseen = {0};
    struct group_found root;
    struct gathered gathered;

    if (!gather_root(worker, number, &root)) {
        if (gather_find(worker, number, &root) && gather_read_own(worker, root.block, &gathered)) {
            count_again(&gathered);
            gather_free(&gathered);
        }
        return;
    }
    if (!gather_read(worker, root.block, &gathered)) {
        return;
    }
    count_again(&gathered);
    if (gather_judge_groups(&gathered, false)) {
        (void)u64_add(&root.block->changes, 1);
    }
    gather_free(&gathered);
    gather_complete(worker, number, &unseen);
    /* the member that gated it may have left, or one whose gate refuses be among the members */
    /* Ends: each further round is another's change of the record, or an event. */
    while (!queue_of(worker)->base.rules.groups_as_kube && gather_root(worker, number, &root) &&
           state_place(root.view.state) == PLACE_GATED &&
           !reconsider(worker, &root, CAUSE_JOIN, &unseen)) {
    }
}

/* ---- ends ------------------------------------------------------------------------------------ */

void
gather_end(struct worker *worker, uint32_t record, struct entry *entry, struct group_block *block)
{
    struct queue *queue = queue_of(worker);
    uint64_t name = u64_load(&entry->name);

    tally_add(&worker->tally.given, 1);
    index_remove(&queue->index, (uint32_t)(name >> 32), record, u64_load(&entry->life));
    description_give(&queue->entries, &worker->descriptions, u64_load(&entry->word.high));
    names_give(&queue->names, &worker->names, (uint32_t)name);
    slab_give(&queue->entries.records, &worker->records, record);
    epoch_retire(worker->epoch, &block->block, &queue->base.memory, MEMORY_QUEUES, sizeof *block);
}

static bool
make_groups(struct queue *queue)
{
    struct memory *memory = &queue->base.memory;

    if (!nominator_make(&queue->families) || !nominator_make(&queue->members)) {
        return false;
    }
    struct groups *made = memory_alloc(memory, MEMORY_OTHER, sizeof *made, CACHE_LINE);

    if (made == NULL) {
        return false;
    }
    bin_open(&made->ready,
             &(struct residence){.entries = &queue->entries,
                                 .place = PLACE_READY,
                                 .ties = queue->base.rules.fifo ? TIES_BY_KEY : TIES_BY_RANK});
    incoming_open_groups(&made->incoming, memory);
    if (!ptr_cas(&queue->groups, NULL, made)) { /* make_groups:A, read by queue_groups */
        bin_close(&made->ready, memory);
        incoming_close(&made->incoming);
        memory_free(memory, MEMORY_OTHER, made, sizeof *made);
    }
    return true;
}

bool
gather_open(struct queue *queue)
{
    if (!queue_has_groups(queue) && !make_groups(queue)) {
        return false;
    }
    if (!stray_is_noted(queue, STRAY_GROUPS)) {
        queue_note_stray(queue, STRAY_GROUPS); /* also for one that stopped here */
    }
    return true;
}

void
gather_close(struct queue *queue)
{
    struct groups *groups = ptr_load(&queue->groups);

    for (uint32_t i = 0; groups != NULL && i < slab_end(&queue->entries.records); i++) {
        struct entry *entry = entry_at(&queue->entries, i);
        bool lives = entry != NULL && state_is_pod(entry_state(entry));

        if (lives && (attributes_flags(u64_load(&entry->attributes)) & DESCRIBED_GROUP) != 0) {
            memory_free(&queue->base.memory, MEMORY_QUEUES,
                        (void *)(uintptr_t)u64_load(&entry->popped), sizeof(struct group_block));
        }
    }
    if (groups != NULL) {
        bin_close(&groups->ready, &queue->base.memory);
        incoming_close(&groups->incoming);
        memory_free(&queue->base.memory, MEMORY_OTHER, groups, sizeof *groups);
    }
}
