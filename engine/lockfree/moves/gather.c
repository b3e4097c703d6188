/* What is read of members: gather.h has the essay. */
#include "lockfree/moves/gather.h"

#include "lockfree/moves/objects.h"

#include <string.h>

#define FEW 16

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

        complete += gather_view_declared(worker, &hints.pods[i], &below) &&
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

        if (gather_view(worker, hints.pods[i].record, hints.pods[i].life, &root)) {
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

/* ---- counted --------------------------------------------------------------------------------- */

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

        if (gather_view_declared(worker, &hints.pods[i], &below)) {
            count += members_at(worker, below.block, depth + 1);
        }
    }
    hints_end(worker, &hints);
    return count;
}

uint64_t
gather_size(struct worker *worker, const struct group_block *block)
{
    return members_at(worker, block, 0);
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

        if (gather_view_declared(worker, &hints.pods[i], &below) &&
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

/* ---- each member ----------------------------------------------------------------------------- */

/* False: the member is not there any more, or `each` wants no more of them. */
static bool
visit(struct worker *worker, const struct nominated *one, bool outside, gather_each_fn *each,
      void *ctx)
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
        size_t bytes = (count + 1) * sizeof(struct nominated);
        struct nominated *all = memory_alloc(memory, MEMORY_OTHER, bytes, CACHE_LINE);

        for (uint32_t i = 0; all != NULL && i < count; i++) {
            all[i] = (struct nominated){.record = gathered.pods[i].record,
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
