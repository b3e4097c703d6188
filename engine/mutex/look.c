/*
 * Looking at pods with the lock held for a batch at a time: the batch is copied, objects pinned and
 * names included, and visited without the lock.
 *
 * A snapshot goes through the records by number. A pod keeps its record for its whole life, so one
 * that is in the queue during the whole call is met exactly once, however it moves between places
 * meanwhile.
 */
#include "mutex/look.h"

#include "mutex/report.h"
#include "platform/inside.h"

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

        if (exists && pod_at(queue, *index)->place != SCHEDQ_NOWHERE) {
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

/* ---- numbers --------------------------------------------------------------------------------- */

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
        .inflight = queue->inflight,
        .nominated = queue->nominator.count,
        .adds = counters->adds,
        .pops = counters->pops,
        .dones = counters->dones,
        .failures = counters->failures,
        .deletes = counters->deletes,
        .updates = counters->updates,
        .moves = counters->moves,
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
count_incoming(const void *base, uint32_t label, uint64_t counts[INCOMING_PLACES])
{
    const struct mutex_queue *queue = base;

    memcpy(counts, queue->incoming[label], sizeof queue->incoming[label]);
}

/*
 * metrics_rejectors_fn. Goes through every record: exact whatever moved, and nothing is counted at
 * operation rate for a text read once a minute.
 */
static void
count_rejectors(const void *base, schedq_profile_t profile, uint64_t counts[REGISTRY_REJECTORS])
{
    const struct mutex_queue *queue = base;

    for (uint32_t i = 0; i < entries_end(&queue->entries); i++) {
        if (queue->entries.pages[i / PAGE_ENTRIES] == NULL) {
            continue;
        }
        const struct entry *entry = pod_at(queue, i);

        if (!entry_is_waiting(entry) || entry->profile != profile) {
            continue;
        }
        for (uint64_t bits = entry->unschedulable | entry->pending; bits != 0; bits &= bits - 1) {
            counts[__builtin_ctzll(bits)]++;
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
    metrics_stats(text, &stats);
    metrics_incoming(text, &base->registry, count_incoming, queue);
    metrics_rejectors(text, &base->registry, count_rejectors, queue);
    queue_unlock(queue);
    return text->failed ? SCHEDQ_NOMEM : SCHEDQ_OK;
}
