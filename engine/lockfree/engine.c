/* The lock-free engine's table of functions; making, growing and ending a queue; numbers. queue.h has the picture. */
#include "engine.h"

#include "lockfree/objects.h"
#include "lockfree/ops.h"
#include "lockfree/publish.h"
#include "lockfree/workers.h"

/* ---- life ------------------------------------------------------------------------------------------------------------- */

static uint32_t
bands_max(const schedq_config_t *config)
{
    return config->max_bands != 0 ? config->max_bands : BANDS_MAX;
}

static void
containers_close(struct queue *queue)
{
    workers_free(queue);
    if (queue->epoch != NULL) {
        epoch_close(queue->epoch);
    }
    bands_close(&queue->bands);
    run_pool_close(&queue->runs);
    names_close(&queue->names);
    records_close(&queue->entries);
}

static bool
lockfree_open(schedq_t *base)
{
    struct queue *queue = queue_of_base(base);
    struct memory *memory = &base->memory;

    records_open(&queue->entries, memory);
    names_open(&queue->names, memory);
    run_pool_open(&queue->runs, memory);
    hazards_open(&queue->hazards, base->config.release, base->config.object_ctx);
    u64_store(&queue->last_key, (uint64_t)INT64_MIN);
    u64_store(&queue->pops_at_tick, UINT64_MAX);
    queue->has_ticks = clock_has_ticks();
    queue->epoch = epoch_open(memory);
    const struct charge_books books = {.workers = queue->charges, .count = &queue->slots};
    bool bands = bands_open(&queue->bands, memory, &queue->entries, &queue->reorder, &queue->runs, &books,
                            bands_max(&base->config));

    if (queue->epoch != NULL && bands && workers_open(queue) &&
        index_open(&queue->index, memory, &queue->entries, &queue->names, publish_settle)) {
        return true;
    }
    containers_close(queue);
    return false;
}

/* Every reference that the queue holds goes back, those for pods in flight included. */
static void
release_objects(struct queue *queue)
{
    for (uint32_t i = 0; objects_counted(queue) && i < slab_end(&queue->entries.records); i++) {
        const struct entry *entry = entry_at(&queue->entries, i);
        enum place place = entry != NULL ? state_place(entry_state(entry)) : PLACE_FREE;
        struct description description;

        if (place == PLACE_FREE || place == PLACE_DEAD) {
            continue;
        }
        (void)entry_description(&queue->entries, entry, &description);
        object_give_back(queue, description.object);
        if (place == PLACE_INFLIGHT) {
            /* A holder who died before he noted what he holds: it is what the pod has, unless an update came since. */
            bool noted = entry_pop_order(entry) != 0;

            object_give_back(queue, noted ? u64_load(&entry->popped) : description.object);
        }
    }
    if (objects_counted(queue)) {
        hazards_drain(&queue->hazards);
    }
}

static schedq_status_t
lockfree_shut(schedq_t *base)
{
    struct queue *queue = queue_of_base(base);

    if (workers_count(queue) > 0) {
        return SCHEDQ_BUSY;
    }
    release_objects(queue);
    index_close(&queue->index);
    containers_close(queue);
    return SCHEDQ_OK;
}

/* The index grows in a section, which needs an epoch record. */
static bool
reserve_index(struct queue *queue, uint32_t pods)
{
    uint32_t house;
    struct worker *worker = workers_keep_house(queue, &house);

    if (worker == NULL) {
        return false;
    }
    const struct index_caller caller = index_caller(worker);

    section_begin(worker);
    bool ok = index_reserve(&queue->index, &caller, pods);
    section_end(worker);
    workers_leave_house(queue, house);
    return ok;
}

/* What each worker may hold of free objects comes on top: nobody shall miss what lies with another. */
static schedq_status_t
lockfree_reserve(schedq_t *base, uint32_t pods, uint32_t bands, uint32_t workers)
{
    struct queue *queue = queue_of_base(base);
    uint32_t held = workers * SLAB_CACHE_MAX;
    uint32_t objects = pods == 0 ? 0 : pods < SLAB_OBJECTS_MAX - held ? pods + held : SLAB_OBJECTS_MAX;
    bool ok = slab_reserve(&queue->entries.records, objects) && names_reserve(&queue->names, objects) &&
              reserve_index(queue, pods) && bands_reserve(&queue->bands, bands) && workers_reserve(queue, workers);

    return ok ? SCHEDQ_OK : SCHEDQ_NOMEM;
}

/* Lanes are made small by who unregisters: they are his. */
static void
lockfree_trim(schedq_t *base)
{
    struct queue *queue = queue_of_base(base);
    uint32_t house;
    struct worker *worker = workers_keep_house(queue, &house);

    if (worker == NULL) {
        return;
    }
    section_begin(worker);
    slab_trim(&queue->entries.records, worker->epoch);
    slab_trim(&queue->entries.descriptions, worker->epoch);
    names_trim(&queue->names, worker->epoch);
    run_pool_trim(&queue->runs, worker->epoch);
    section_end(worker);
    workers_leave_house(queue, house);
}

/* ---- what this engine has no part for ----------------------------------------------------------------------------------- */

static schedq_status_t
lacks(schedq_worker_t *worker, const char *what)
{
    worker_say(worker, "engine lockfree: it has no %s; SCHEDQ_ENGINE_MUTEX (%d) has", what, SCHEDQ_ENGINE_MUTEX);
    return SCHEDQ_INVALID;
}

/* Nothing was started. */
static void
lockfree_stop(schedq_t *queue)
{
    (void)queue;
}

static uint64_t
lockfree_event_plugins(schedq_t *queue, schedq_profile_t profile, schedq_event_t event)
{
    return registry_reached(&queue->registry, profile, event);
}

static uint64_t
lockfree_rejector_bit(schedq_t *queue, schedq_profile_t profile, const char *name, uint32_t length)
{
    (void)queue, (void)profile, (void)name, (void)length;
    return SCHEDQ_REJECTOR_OTHERS;
}

static schedq_status_t
lockfree_add_unschedulable(schedq_worker_t *worker, schedq_token_t *token, const schedq_failure_t *failure,
                           schedq_result_t *result)
{
    (void)token, (void)failure, (void)result;
    return lacks(worker, "parking and no backoff (add_unschedulable)");
}

static schedq_status_t
lockfree_readd(schedq_worker_t *worker, const char *names, const schedq_pod_spec_t *spec,
               const schedq_history_t *history, const schedq_failure_t *failure, schedq_result_t *result)
{
    (void)names, (void)spec, (void)history, (void)failure, (void)result;
    return lacks(worker, "backoff (readd)");
}

/* Every pod is active or in flight, and no flight fails: there is nothing to activate. */
static void
lockfree_activate(schedq_worker_t *worker, const schedq_pod_t *pods, size_t count, schedq_result_t *result)
{
    (void)worker, (void)pods, (void)count, (void)result;
}

static schedq_status_t
lockfree_nominate(schedq_worker_t *worker, schedq_pod_t pod, uint64_t node)
{
    (void)pod, (void)node;
    return lacks(worker, "nominations (nominate)");
}

static schedq_status_t
lockfree_move(schedq_worker_t *worker, const schedq_move_t *move, const struct assigned_pod *assigned,
              schedq_result_t *result)
{
    (void)move, (void)assigned, (void)result;
    return lacks(worker, "events (move_all, assigned_pod_*)");
}

static void
lockfree_event_begin(schedq_worker_t *worker, uint64_t *sequence)
{
    (void)worker;
    *sequence = 0;
}

static schedq_status_t
lockfree_event_stamp(schedq_worker_t *worker, uint64_t sequence, schedq_profile_t profile, uint64_t plugins)
{
    (void)sequence, (void)profile, (void)plugins;
    return lacks(worker, "events (event_stamp)");
}

static schedq_status_t
lockfree_candidates(schedq_worker_t *worker, schedq_query_t *query, schedq_candidate_t *out, size_t capacity,
                    size_t *count)
{
    (void)query, (void)out, (void)capacity, (void)count;
    return lacks(worker, "waiting pods (candidates)");
}

static schedq_status_t
lockfree_apply_many(schedq_worker_t *worker, const schedq_decision_t *decisions, size_t count, uint8_t *statuses,
                    schedq_result_t *results, schedq_result_t *sum)
{
    (void)decisions, (void)count, (void)statuses, (void)results, (void)sum;
    return lacks(worker, "waiting pods (apply)");
}

static schedq_status_t
lockfree_snapshot(schedq_worker_t *worker, schedq_visit_fn visit, void *ctx)
{
    (void)visit, (void)ctx;
    return lacks(worker, "snapshot");
}

static schedq_status_t
lockfree_nominated_pods(schedq_worker_t *worker, uint64_t node, schedq_visit_fn visit, void *ctx)
{
    (void)node, (void)visit, (void)ctx;
    return lacks(worker, "nominations (nominated_pods)");
}

/* ---- numbers -------------------------------------------------------------------------------------------------------------- */

static void
lockfree_stats(schedq_t *base, schedq_stats_t *stats)
{
    const struct queue *queue = queue_of_base(base);

    *stats = (schedq_stats_t){
        .struct_size = (uint32_t)sizeof *stats,
        .workers = workers_count(queue),
        .bytes_entries = memory_bytes(&base->memory, MEMORY_ENTRIES),
        .bytes_names = memory_bytes(&base->memory, MEMORY_NAMES),
        .bytes_index = memory_bytes(&base->memory, MEMORY_INDEX),
        .bytes_queues = memory_bytes(&base->memory, MEMORY_QUEUES),
        .bytes_other = memory_bytes(&base->memory, MEMORY_OTHER),
    };
    for (uint32_t i = 0; i < queue_slots(queue); i++) {
        const struct worker *worker = ptr_load_acquire(&queue->workers[i]);

        if (worker != NULL) {
            stats->active += u64_load(&worker->tally.active);
            stats->inflight += u64_load(&worker->tally.inflight);
            stats->adds += u64_load(&worker->tally.adds);
            stats->pops += u64_load(&worker->tally.pops);
            stats->dones += u64_load(&worker->tally.dones);
            stats->deletes += u64_load(&worker->tally.deletes);
            stats->updates += u64_load(&worker->tally.updates);
        }
    }
}

const struct engine_ops lockfree_engine = {
    .name = "lockfree",
    .number = SCHEDQ_ENGINE_LOCKFREE,
    .queue_bytes = sizeof(struct queue),
    .open = lockfree_open,
    .shut = lockfree_shut,
    .reserve = lockfree_reserve,
    .trim = lockfree_trim,
    .stop = lockfree_stop,
    .close = lockfree_close,
    .event_plugins = lockfree_event_plugins,
    .rejector_bit = lockfree_rejector_bit,
    .worker_register = lockfree_worker_register,
    .worker_unregister = lockfree_worker_unregister,
    .worker_adopt = lockfree_worker_adopt,
    .add_many = lockfree_add_many,
    .pop = lockfree_pop,
    .done_many = lockfree_done_many,
    .token_alive = lockfree_token_alive,
    .add_unschedulable = lockfree_add_unschedulable,
    .readd = lockfree_readd,
    .find = lockfree_find,
    .update = lockfree_update,
    .delete_pod = lockfree_delete,
    .activate = lockfree_activate,
    .nominate = lockfree_nominate,
    .move = lockfree_move,
    .event_begin = lockfree_event_begin,
    .event_stamp = lockfree_event_stamp,
    .candidates = lockfree_candidates,
    .apply_many = lockfree_apply_many,
    .get = lockfree_get,
    .snapshot = lockfree_snapshot,
    .nominated_pods = lockfree_nominated_pods,
    .stats = lockfree_stats,
    .tick = lockfree_tick,
};
