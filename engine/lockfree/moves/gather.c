/* What is read of members: gather.h has the essay. */
#include "lockfree/moves/gather.h"

#include "lockfree/moves/hinted.h"
#include "lockfree/moves/objects.h"

#include <string.h>

#define FEW 16
/* A group's depth is how many are above it. A group below this depth has no root. */
#define DEEPEST (SCHEDQ_GROUP_DEPTH_MAX - 1)
#define FEW_GROUPS 2
/* Room is made for so many members at once, at most. */
#define MEMBERS_AT_ONCE 65536

/* ---- one by one ------------------------------------------------------------------------------ */

struct members_walk {
    struct worker *worker;
    nominated_fn *is_enough;
    void *ctx;
    uint32_t depth;
    bool joins; /* the walk is in a group whose members join one by one, or below it */
};

static bool walk_members(struct members_walk *walk, uint64_t number);

/* nominated_fn, where members join one by one. */
static bool
meet_joiner(void *ctx, uint32_t record, uint64_t life)
{
    const struct members_walk *walk = ctx;
    struct view view;

    return gather_is_here(walk->worker, record, life, true, &view) &&
           walk->is_enough(walk->ctx, record, life);
}

/* nominated_fn */
static bool
meet_group(void *ctx, uint32_t record, uint64_t life)
{
    struct members_walk *walk = ctx;
    struct group_found below;

    return gather_view_declared(walk->worker, record, life, &below) &&
           walk_members(walk, below.block->number);
}

static bool
walk_members(struct members_walk *walk, uint64_t number)
{
    struct worker *worker = walk->worker;
    struct queue *queue = queue_of(worker);
    const bool joins_above = walk->joins;

    walk->joins = joins_above || worker->joins_up_to.group == number;
    bool enough =
        nominator_any(&queue->members, worker->epoch, number,
                      walk->joins ? meet_joiner : walk->is_enough, walk->joins ? walk : walk->ctx);

    if (!enough && walk->depth < DEEPEST) {
        walk->depth++;
        enough = nominator_any(&queue->families, worker->epoch, number, meet_group, walk);
        walk->depth--;
    }
    walk->joins = joins_above;
    return enough;
}

bool
gather_any(struct worker *worker, uint64_t number, nominated_fn *is_enough, void *ctx)
{
    return walk_members(
        &(struct members_walk){.worker = worker, .is_enough = is_enough, .ctx = ctx}, number);
}

/* ---- enough? --------------------------------------------------------------------------------- */

/* A group that is over is never complete. */
static uint32_t
needs_of(struct worker *worker, const struct group_block *block, bool placed)
{
    uint32_t quorum;

    if (!gather_quorum(worker, block, &quorum)) {
        return UINT32_MAX;
    }
    return group_needs(quorum, placed || u32_load_acquire(&block->placed) != 0);
}

/* How many groups below one are complete, as far as they were looked for. */
struct completeness {
    struct worker *worker;
    uint32_t needs, complete, depth;
};

static bool is_complete_at(struct worker *worker, const struct group_block *block, uint32_t depth);

/* nominated_fn */
static bool
count_complete(void *ctx, uint32_t record, uint64_t life)
{
    struct completeness *above = ctx;
    struct group_found below;

    above->complete += gather_view_declared(above->worker, record, life, &below) &&
                               is_complete_at(above->worker, below.block, above->depth + 1)
                           ? 1
                           : 0;
    return above->complete >= above->needs;
}

static bool
is_complete_at(struct worker *worker, const struct group_block *block, uint32_t depth)
{
    int64_t waiting = (int64_t)u64_load_acquire(&block->waiting);
    struct completeness above = {
        .worker = worker, .needs = needs_of(worker, block, false), .depth = depth};

    return waiting >= (int64_t)above.needs ||
           (depth < DEEPEST && nominator_any(&queue_of(worker)->families, worker->epoch,
                                             block->number, count_complete, &above));
}

size_t
gather_roots(struct worker *worker, uint64_t **numbers, size_t *bytes)
{
    struct memory *memory = &queue_of(worker)->base.memory;
    struct hinted hints;
    size_t count = 0;

    *numbers = NULL;
    *bytes = 0;
    if (!hinted_read(worker, &queue_of(worker)->families, 0, &hints)) {
        return 0;
    }
    *bytes = (hints.count + 1) * sizeof **numbers;
    *numbers = memory_alloc(memory, MEMORY_OTHER, *bytes, CACHE_LINE);
    for (size_t i = 0; *numbers != NULL && i < hints.count; i++) {
        struct group_found root;

        if (gather_view(worker, hints.pods[i].record, hints.pods[i].life, &root)) {
            (*numbers)[count++] = root.block->number;
        }
    }
    hinted_free(worker, &hints);
    return count;
}

bool
gather_is_complete(struct worker *worker, const struct group_block *block)
{
    return is_complete_at(worker, block, 0);
}

/* ---- counted --------------------------------------------------------------------------------- */

struct sum {
    struct worker *worker;
    uint64_t members;
    uint32_t depth;
};

static void sum_members(struct sum *sum, const struct group_block *block);

/* nominated_fn */
static bool
add_below(void *ctx, uint32_t record, uint64_t life)
{
    struct sum *sum = ctx;
    struct group_found below;

    if (gather_view_declared(sum->worker, record, life, &below)) {
        sum_members(sum, below.block);
    }
    return false;
}

static void
sum_members(struct sum *sum, const struct group_block *block)
{
    struct worker *worker = sum->worker;
    int64_t waiting = (int64_t)u64_load_acquire(&block->waiting);

    if (worker->joins_up_to.group != 0 && worker->joins_up_to.group == block->number) {
        sum->members += worker->joins_up_to.joined;
        return;
    }
    sum->members += waiting > 0 ? (uint64_t)waiting : 0;
    if (sum->depth < DEEPEST) {
        sum->depth++;
        (void)nominator_any(&queue_of(worker)->families, worker->epoch, block->number, add_below,
                            sum);
        sum->depth--;
    }
}

uint64_t
gather_size(struct worker *worker, const struct group_block *block)
{
    struct sum sum = {.worker = worker};

    sum_members(&sum, block);
    return sum.members;
}

/* ---- reading all ----------------------------------------------------------------------------- */

/* NULL: no memory; what there was stays. What comes behind it is not zero. */
static void *
grow(struct worker *worker, void *old, uint32_t *capacity, uint32_t wanted, size_t size)
{
    struct memory *memory = &queue_of(worker)->base.memory;
    void *grown = memory_alloc_raw(memory, MEMORY_OTHER, wanted * size, CACHE_LINE);

    if (grown != NULL) {
        if (old != NULL) {
            memcpy(grown, old, *capacity * size);
            memory_free(memory, MEMORY_OTHER, old, *capacity * size);
        }
        *capacity = wanted;
    }
    return grown;
}

/* As many as are counted come at once, as a rule. */
static uint32_t
room_for(const struct group_block *block, uint32_t least)
{
    int64_t waiting = (int64_t)u64_load(&block->waiting);

    return waiting > (int64_t)least && waiting < MEMBERS_AT_ONCE ? (uint32_t)waiting : least;
}

static bool
make_room_for_pod(struct gathered *gathered, const struct group_block *block)
{
    uint32_t wanted = room_for(block, gathered->capacity == 0 ? FEW : 2 * gathered->capacity);
    void *grown =
        grow(gathered->worker, gathered->pods, &gathered->capacity, wanted, sizeof *gathered->pods);

    if (grown == NULL) {
        gathered->no_memory = true;
        return false;
    }
    gathered->pods = grown;
    return true;
}

static bool
add_group(struct gathered *gathered, struct group_block *block, uint32_t above)
{
    if (gathered->group_count == gathered->group_capacity) {
        uint32_t wanted = gathered->group_count == 0 ? FEW_GROUPS : 2 * gathered->group_count;
        void *grown = grow(gathered->worker, gathered->groups, &gathered->group_capacity, wanted,
                           sizeof *gathered->groups);

        if (grown == NULL) {
            gathered->no_memory = true;
            return false;
        }
        gathered->groups = grown;
    }
    const uint64_t joins = gathered->worker->joins_up_to.group;
    const bool is_top = gathered->group_count == 0;
    const bool joins_above = !is_top && gathered->groups[above].joins;
    const uint32_t depth = is_top ? 0 : gathered->groups[above].depth + 1;

    gathered->groups[gathered->group_count++] =
        (struct gathered_group){.block = block,
                                .number = block->number,
                                .above = above,
                                .depth = depth,
                                .joins = joins_above || (joins != 0 && joins == block->number),
                                .counted = u32_load_acquire(&block->counted) != 0};
    return true;
}

/* One reading of a group's members. */
struct reading {
    struct gathered *gathered;
    uint32_t node;
};

/* nominated_fn: enough, when there is no memory. */
static bool
read_member(void *ctx, uint32_t record, uint64_t life)
{
    const struct reading *reading = ctx;
    struct gathered *gathered = reading->gathered;
    struct gathered_group *group = &gathered->groups[reading->node];
    struct worker *worker = gathered->worker;

    if (gathered->count == gathered->capacity && !make_room_for_pod(gathered, group->block)) {
        return true;
    }
    struct gathered_pod *pod = &gathered->pods[gathered->count];

    if (gather_is_here(worker, record, life, group->joins, &pod->view)) {
        pod->record = record;
        pod->node = reading->node;
        gathered->count++;
        group->here++;
    }
    return false;
}

static void
read_members(struct gathered *gathered, uint32_t node)
{
    struct worker *worker = gathered->worker;
    struct reading reading = {.gathered = gathered, .node = node};

    (void)nominator_any(&queue_of(worker)->members, worker->epoch,
                        gathered->groups[node].block->number, read_member, &reading);
}

static void
read_families(struct gathered *gathered, uint32_t node)
{
    struct worker *worker = gathered->worker;
    struct hinted hints;

    if (!hinted_read(worker, &queue_of(worker)->families, gathered->groups[node].block->number,
                     &hints)) {
        gathered->no_memory = true;
        return;
    }
    for (size_t i = 0; i < hints.count; i++) {
        struct group_found below;

        if (gather_view_declared(worker, hints.pods[i].record, hints.pods[i].life, &below) &&
            !add_group(gathered, below.block, node)) {
            break;
        }
    }
    hinted_free(worker, &hints);
}

/* Reads each group behind the one above it. Ends: there is no circle below a root. */
static bool
read_all(struct worker *worker, struct group_block *top, bool below, struct gathered *gathered)
{
    *gathered = (struct gathered){.worker = worker};
    if (!add_group(gathered, top, 0)) {
        return false;
    }
    for (uint32_t node = 0; !gathered->no_memory && node < gathered->group_count; node++) {
        read_members(gathered, node);
        if (below && gathered->groups[node].depth < DEEPEST) {
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

        group->needs =
            needs_of(gathered->worker, group->block, placed && gather_was_tried(gathered, i));
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

/* ---- each member ----------------------------------------------------------------------------- */

/* False: `each` wants no more of them. True also if the member is not there any more. */
static bool
visit(struct worker *worker, const struct nominated *one, bool outside, gather_each_fn *each,
      void *ctx)
{
    const struct queue *queue = queue_of(worker);
    struct view view;
    uint64_t desc;

    if (!gather_is_here(worker, one->record, one->life, false, &view) ||
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

/* Members as numbers, for a caller that leaves the section between them. */
struct listed {
    struct worker *worker;
    struct nominated *pods;
    uint32_t count, capacity, expected;
    bool no_memory;
};

/* nominated_fn: enough, when there is no memory. */
static bool
list_one(void *ctx, uint32_t record, uint64_t life)
{
    struct listed *listed = ctx;

    if (listed->count == listed->capacity) {
        uint32_t wanted =
            listed->capacity < listed->expected ? listed->expected : 2 * listed->capacity;
        void *grown =
            grow(listed->worker, listed->pods, &listed->capacity, wanted, sizeof *listed->pods);

        listed->no_memory = grown == NULL;
        if (grown == NULL) {
            return true;
        }
        listed->pods = grown;
    }
    listed->pods[listed->count++] = (struct nominated){.record = record, .life = life};
    return false;
}

bool
gather_each(struct worker *worker, uint64_t number, gather_each_fn *each, void *ctx)
{
    bool outside = worker->outside, known;
    struct listed listed = {.worker = worker};
    struct group_look top;

    if (outside) {
        section_resume(worker);
    }
    known = gather_look(worker, number, &top);
    if (known) {
        listed.expected = room_for(top.block, FEW);
        (void)gather_any(worker, number, list_one, &listed);
    }
    for (uint32_t i = 0; !listed.no_memory && i < listed.count; i++) {
        if (!visit(worker, &listed.pods[i], outside, each, ctx)) {
            break;
        }
    }
    memory_free(&queue_of(worker)->base.memory, MEMORY_OTHER, listed.pods,
                listed.capacity * sizeof *listed.pods);
    if (outside) {
        section_pause(worker);
    }
    return known && !listed.no_memory;
}
