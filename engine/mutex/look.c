/*
 * Looking at pods with the lock held for a batch at a time: the batch is copied, objects pinned and
 * names included, and visited without the lock.
 *
 * A look at the first pods in line chooses them all at once, by record and version, and copies
 * those that have not changed when their batch comes.
 *
 * A snapshot goes through the records by number. A pod keeps its record for its whole life, so one
 * that is in the queue during the whole call is met exactly once, however it moves between places
 * meanwhile.
 */
#include "mutex/look.h"

#include "mutex/place.h"
#include "mutex/report.h"
#include "platform/inside.h"
#include "policy/group.h"

#include <string.h>

#define BATCH_PODS 32

struct seen_pod {
    schedq_pod_info_t info;
    char name[SCHEDQ_NAME_MAX + 3];
};

struct batch {
    struct mutex_queue *queue;
    struct seen_pod *pods;
    uint32_t count;
};

static bool
batch_open(struct batch *batch, struct mutex_queue *queue, uint32_t pods)
{
    *batch = (struct batch){.queue = queue};
    queue_lock(queue);
    batch->pods =
        memory_alloc(&queue->base.memory, MEMORY_OTHER, pods * sizeof *batch->pods, CACHE_LINE);
    queue_unlock(queue);
    return batch->pods != NULL;
}

static void
batch_shut(struct batch *batch, uint32_t pods)
{
    queue_lock(batch->queue);
    memory_free(&batch->queue->base.memory, MEMORY_OTHER, batch->pods, pods * sizeof *batch->pods);
    queue_unlock(batch->queue);
}

/* With the lock held. */
static void
batch_take(struct batch *batch, uint32_t index)
{
    struct seen_pod *seen = &batch->pods[batch->count++];
    const schedq_config_t *config = &batch->queue->base.config;

    mutex_report_info(batch->queue, index, &seen->info);
    memcpy(seen->name, seen->info.name, seen->info.name_length + 1);
    seen->info.name = seen->name;
    if (config->objects == SCHEDQ_OBJECTS_COUNTED) {
        config_retain(config, seen->info.object);
    }
}

/* Without the lock. Returns false if the visitor wants no more; every pin is taken back. */
static bool
batch_visit(struct batch *batch, schedq_visit_fn visit, void *ctx)
{
    const schedq_config_t *config = &batch->queue->base.config;
    bool more = true;

    for (uint32_t i = 0; i < batch->count; i++) {
        const struct seen_pod *seen = &batch->pods[i];

        inside_calls(CALLBACK_VISITOR);
        more = more && visit(ctx, &seen->info) != 0;
        if (config->objects == SCHEDQ_OBJECTS_COUNTED) {
            inside_calls(CALLBACK_VISITED);
            config->release(config->object_ctx, seen->info.object);
        }
        inside_calls(CALLBACK_NONE);
    }
    batch->count = 0;
    return more;
}

schedq_status_t
mutex_get(schedq_worker_t *worker, schedq_pod_t pod, schedq_visit_fn visit, void *ctx)
{
    struct mutex_queue *queue = queue_of(worker);
    struct seen_pod seen;
    struct batch batch = {.queue = queue, .pods = &seen};
    uint32_t index;

    queue_lock(queue);
    bool found = entry_of_handle(&queue->entries, pod, &index) != NULL;
    if (found) {
        batch_take(&batch, index);
    }
    queue_unlock(queue);
    (void)batch_visit(&batch, visit, ctx);
    return found ? SCHEDQ_OK : SCHEDQ_NOT_FOUND;
}

/* Copies the next pods at or after *index, and moves that behind them. False: there are none. */
static bool
snapshot_batch(struct batch *batch, uint32_t *index)
{
    struct mutex_queue *queue = batch->queue;

    queue_lock(queue);
    for (; *index < entries_end(&queue->entries) && batch->count < BATCH_PODS; ++*index) {
        bool exists = queue->entries.pages[*index / PAGE_ENTRIES] != NULL;

        if (exists && pod_at(queue, *index)->place != SCHEDQ_NOWHERE &&
            !entry_is_group(pod_at(queue, *index))) {
            batch_take(batch, *index);
        }
    }
    queue_unlock(queue);
    return batch->count > 0;
}

schedq_status_t
mutex_snapshot(schedq_worker_t *worker, schedq_visit_fn visit, void *ctx)
{
    struct batch batch;
    uint32_t index = 0;

    if (!batch_open(&batch, queue_of(worker), BATCH_PODS)) {
        return SCHEDQ_NOMEM;
    }
    while (snapshot_batch(&batch, &index) && batch_visit(&batch, visit, ctx)) {
    }
    batch_shut(&batch, BATCH_PODS);
    return SCHEDQ_OK;
}

static uint32_t
count_nominated(struct mutex_queue *queue, uint64_t node)
{
    uint32_t count = 0;

    queue_lock(queue);
    for (uint32_t i = mutex_nominator_first(&queue->nominator, node); i != NO_ENTRY;
         i = mutex_nominator_next(&queue->nominator, i)) {
        count++;
    }
    queue_unlock(queue);
    return count;
}

schedq_status_t
mutex_nominated_pods(schedq_worker_t *worker, uint64_t node, schedq_visit_fn visit, void *ctx)
{
    struct mutex_queue *queue = queue_of(worker);
    struct batch batch;
    uint32_t room = count_nominated(queue, node);

    /*
     * The pods of a node are few; if more come in between, they came after the call began and may
     * be left out.
     */
    if (room == 0) {
        return SCHEDQ_OK;
    }
    if (!batch_open(&batch, queue, room)) {
        return SCHEDQ_NOMEM;
    }
    queue_lock(queue);
    for (uint32_t i = mutex_nominator_first(&queue->nominator, node);
         i != NO_ENTRY && batch.count < room; i = mutex_nominator_next(&queue->nominator, i)) {
        batch_take(&batch, i);
    }
    queue_unlock(queue);
    (void)batch_visit(&batch, visit, ctx);
    batch_shut(&batch, room);
    return SCHEDQ_OK;
}

/* ---- the line -------------------------------------------------------------------------------- */

/* A pod in line, and room to look for it. */
struct ahead {
    uint64_t version;
    uint32_t index;
};

struct line {
    struct ahead *pods;
    uint32_t *records, *frontier;
    uint32_t room, count, next;
};

static size_t
line_bytes(uint32_t room)
{
    return room * (sizeof(struct ahead) + sizeof(uint32_t)) + (room + 1) * sizeof(uint32_t);
}

/* With the lock held. */
static void
line_take(struct mutex_queue *queue, const struct heap *heap, struct line *line)
{
    uint32_t found =
        heap_best_many(&queue->room, heap, line->records, line->frontier, line->room - line->count);

    for (uint32_t i = 0; i < found; i++) {
        line->pods[line->count++] = (struct ahead){
            .index = line->records[i], .version = pod_at(queue, line->records[i])->version};
    }
}

/* NOMEM, or the first pods that a pop would take, as many as there are up to `count`. */
static schedq_status_t
line_open(struct mutex_queue *queue, size_t count, struct line *line)
{
    uint64_t there = queue->active.count;

    there += queue->base.rules.pop_from_backoff ? queue->backoff.count : 0;
    *line = (struct line){.room = (uint32_t)(count < there ? count : there)};
    if (line->room == 0) {
        return SCHEDQ_EMPTY;
    }
    line->pods =
        memory_alloc(&queue->base.memory, MEMORY_OTHER, line_bytes(line->room), CACHE_LINE);
    if (line->pods == NULL) {
        return SCHEDQ_NOMEM;
    }
    line->records = (uint32_t *)(void *)(line->pods + line->room);
    line->frontier = line->records + line->room;
    line_take(queue, &queue->active, line);
    if (queue->base.rules.pop_from_backoff) {
        line_take(queue, &queue->backoff, line);
    }
    return SCHEDQ_OK;
}

/* With the lock held. The next pods that are as they were chosen. False: there are none. */
static bool
line_batch(struct batch *batch, struct line *line, uint32_t room)
{
    while (line->next < line->count && batch->count < room) {
        const struct ahead *ahead = &line->pods[line->next++];
        const struct entries *entries = &batch->queue->entries;

        if (entries->pages[ahead->index / PAGE_ENTRIES] != NULL &&
            pod_at(batch->queue, ahead->index)->version == ahead->version) {
            batch_take(batch, ahead->index);
        }
    }
    return batch->count > 0;
}

static schedq_status_t
visit_line(struct batch *batch, size_t count, schedq_visit_fn visit, void *ctx)
{
    struct mutex_queue *queue = batch->queue;
    struct line line;
    bool more = true;

    queue_lock(queue);
    schedq_status_t status = line_open(queue, count, &line);

    while (status == SCHEDQ_OK && more && line_batch(batch, &line, BATCH_PODS)) {
        queue_unlock(queue);
        more = batch_visit(batch, visit, ctx);
        queue_lock(queue);
    }
    if (line.pods != NULL) {
        memory_free(&queue->base.memory, MEMORY_OTHER, line.pods, line_bytes(line.room));
    }
    queue_unlock(queue);
    return status;
}

schedq_status_t
mutex_peek(schedq_worker_t *worker, schedq_visit_fn visit, void *ctx)
{
    struct mutex_queue *queue = queue_of(worker);
    struct seen_pod seen;
    struct batch batch = {.queue = queue, .pods = &seen};

    queue_lock(queue);
    bool found = is_poppable(queue);
    if (found) {
        batch_take(&batch, order_pod(heap_best(queue->active.count > 0 ? &queue->active
                                                                       : &queue->backoff)));
    }
    queue_unlock(queue);
    (void)batch_visit(&batch, visit, ctx);
    return found ? SCHEDQ_OK : SCHEDQ_EMPTY;
}

schedq_status_t
mutex_peek_many(schedq_worker_t *worker, size_t count, schedq_visit_fn visit, void *ctx)
{
    struct batch batch;

    if (!batch_open(&batch, queue_of(worker), BATCH_PODS)) {
        return SCHEDQ_NOMEM;
    }
    schedq_status_t status = visit_line(&batch, count, visit, ctx);

    batch_shut(&batch, BATCH_PODS);
    return status;
}

schedq_status_t
mutex_position(schedq_worker_t *worker, schedq_pod_t pod, uint64_t *lower, uint64_t *upper)
{
    struct mutex_queue *queue = queue_of(worker);
    schedq_status_t status = SCHEDQ_NOT_FOUND;
    uint32_t index;

    queue_lock(queue);
    const struct entry *entry = entry_of_handle(&queue->entries, pod, &index);

    if (entry != NULL && entry->place == SCHEDQ_ACTIVE) {
        bool relaxed = queue->base.config.order == SCHEDQ_ORDER_RELAXED;
        uint32_t rank = mutex_place_rank(queue, entry);
        const struct order first = order_by_rank(rank, relaxed ? INT64_MIN : entry->order_key, 0);
        const struct order last =
            order_by_rank(rank, relaxed ? INT64_MAX : entry->order_key, UINT32_MAX);

        *lower = heap_count_before(&queue->active, first);
        *upper = heap_count_before(&queue->active, last) - 1;
        status = SCHEDQ_OK;
    } else if (entry != NULL) {
        status = SCHEDQ_GONE;
    }
    queue_unlock(queue);
    return status;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void
add_groups(const struct mutex_queue *queue, schedq_stats_t *stats)
{
    const struct groups *groups = &queue->groups;

    for (uint32_t slot = 0; slot < groups->made; slot++) {
        const struct group *group = group_at(groups, slot);

        if (group->number == 0 || group->record == NO_ENTRY || group->parent != 0) {
            continue;
        }
        uint8_t place = pod_at(queue, group->record)->place;

        group_count_root(stats, place, group->declared ? mutex_groups_size(groups, slot) : 0);
    }
}

static void
fill_stats(const struct mutex_queue *queue, schedq_stats_t *stats)
{
    const struct counters *counters = &queue->counters;
    const struct memory *memory = &queue->base.memory;

    *stats = (schedq_stats_t){
        .struct_size = (uint32_t)sizeof *stats,
        .workers = queue->worker_count,
        .active = queue->active.count,
        .backoff = queue->backoff.count,
        .error_backoff = queue->error_backoff.count,
        .parked = queue->parked.count,
        .gated = queue->gated.count,
        .held = queue->base.words.held,
        .aside = queue->base.words.aside,
        .groups = queue->groups.records,
        .groups_known = queue->groups.capacity != 0,
        .inflight = queue->inflight,
        .nominated = queue->nominator.count,
        .adds = counters->adds,
        .pops = counters->pops,
        .dones = counters->dones,
        .failures = counters->failures,
        .deletes = counters->deletes,
        .updates = counters->updates,
        .moves = counters->moves,
        .class_hides = queue->classes.hides,
        .class_turns = queue->classes.turns,
        .events = counters->events,
        .hint_calls = counters->hint_calls,
        .pre_enqueue_calls = counters->gate_calls,
        .bytes_entries = memory_bytes(memory, MEMORY_ENTRIES),
        .bytes_names = memory_bytes(memory, MEMORY_NAMES),
        .bytes_index = memory_bytes(memory, MEMORY_INDEX),
        .bytes_queues = memory_bytes(memory, MEMORY_QUEUES),
        .bytes_other = memory_bytes(memory, MEMORY_OTHER),
        .fences = SCHEDQ_FENCES_REAL,
    };
    add_groups(queue, stats);
}

/* `count` pods that wait so. */
static void
add_reason(schedq_reasons_t *reasons, uint64_t rejectors, uint8_t gate, uint32_t count)
{
    if (gate != 0) {
        reasons->gated += count;
        reasons->gated_by[gate - 1] += count;
        return;
    }
    reasons->parked += count;
    for (; rejectors != 0; rejectors &= rejectors - 1) {
        reasons->parked_by[__builtin_ctzll(rejectors)] += count;
    }
}

/* The pods of the catch-all have sets of their own. */
static void
add_reasons_of_each(const struct mutex_queue *queue, const struct lot *lot,
                    schedq_profile_t profile, schedq_reasons_t *reasons)
{
    for (uint32_t i = lot->head; i != NO_ENTRY; i = pod_at(queue, i)->lot_next) {
        const struct entry *entry = pod_at(queue, i);

        if (entry->profile == profile) {
            add_reason(reasons, entry->unschedulable | entry->pending,
                       entry->place == SCHEDQ_GATED ? entry->gate : 0, 1);
        }
    }
}

void
mutex_reasons(schedq_worker_t *worker, schedq_profile_t profile, schedq_reasons_t *reasons)
{
    struct mutex_queue *queue = queue_of(worker);

    queue_lock(queue);
    reasons->backoff = queue->backoff.count;
    reasons->error_backoff = queue->error_backoff.count;
    for (uint32_t i = mutex_lots_first(&queue->lots); i != NO_LOT;
         i = mutex_lots_next(&queue->lots, i)) {
        const struct lot *lot = lot_at(&queue->lots, i);

        if (i == LOT_CATCH_ALL) {
            add_reasons_of_each(queue, lot, profile, reasons);
        } else if (lot->key.profile == profile) {
            add_reason(reasons, lot->key.unschedulable | lot->key.pending, lot->key.gate,
                       lot->count);
        }
    }
    queue_unlock(queue);
}

int64_t
mutex_flushed(schedq_t *base)
{
    struct mutex_queue *queue = mutex_queue(base);

    queue_lock(queue);
    int64_t flushed = queue->leftover_flushed;
    queue_unlock(queue);
    return flushed;
}

void
mutex_stats(schedq_t *base, schedq_stats_t *stats)
{
    struct mutex_queue *queue = mutex_queue(base);

    queue_lock(queue);
    fill_stats(queue, stats);
    queue_unlock(queue);
}

/* metrics_incoming_fn */
static void
count_incoming(const void *base, uint32_t label, uint64_t counts[INCOMING_ALL])
{
    const struct mutex_queue *queue = base;

    memcpy(counts, queue->incoming[label], sizeof queue->incoming[label]);
}

/*
 * metrics_pods_fn. Goes through every record: exact whatever moved, and nothing is counted at
 * operation rate for a text read once a minute.
 */
static void
visit_pods(const void *base, struct metrics_pods *pods)
{
    const struct mutex_queue *queue = base;

    for (uint32_t i = 0; i < entries_end(&queue->entries); i++) {
        if (queue->entries.pages[i / PAGE_ENTRIES] == NULL) {
            continue;
        }
        const struct entry *entry = pod_at(queue, i);

        if (entry->place != SCHEDQ_NOWHERE && !entry_is_group(entry) &&
            (entry->marks & MARK_DELETED) == 0) {
            metrics_pods_add(
                pods, &(struct metrics_pod){.place = (schedq_place_t)entry->place,
                                            .profile = entry->profile,
                                            .attempts = entry->attempts,
                                            .timestamp_ns = entry->timestamp,
                                            .rejectors = entry->unschedulable | entry->pending});
        }
    }
}

schedq_status_t
mutex_metrics(schedq_t *base, struct text *text)
{
    struct mutex_queue *queue = mutex_queue(base);
    schedq_stats_t stats;

    queue_lock(queue);
    fill_stats(queue, &stats);
    metrics_stats(text, &stats, &(struct metrics_inside){.wakes = queue->sleepers.wakes},
                  base->rules.counts_entities);
    metrics_incoming(text, &base->registry, count_incoming, queue);
    metrics_pods(text, &base->registry, queue_now(queue), visit_pods, queue);
    metrics_pre_hints(text, &base->registry);
    queue_unlock(queue);
    return text->failed ? SCHEDQ_NOMEM : SCHEDQ_OK;
}
