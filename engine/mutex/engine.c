/*
 * The mutex engine's table of functions; making, growing and ending a queue. queue.h has the
 * picture.
 */
#include "engine.h"

#include "mutex/admit.h"
#include "mutex/cycle.h"
#include "mutex/group.h"
#include "mutex/hold.h"
#include "mutex/host.h"
#include "mutex/label.h"
#include "mutex/look.h"
#include "mutex/moves.h"
#include "mutex/place.h"
#include "mutex/pods.h"
#include "mutex/sleep.h"
#include "mutex/watch.h"
#include "mutex/workers.h"

/* ---- life ------------------------------------------------------------------------------------ */

static void
containers_shut(struct mutex_queue *queue)
{
    struct heap *const heaps[] = {&queue->active, &queue->backoff, &queue->error_backoff,
                                  &queue->groups.active};
    struct memory *memory = &queue->base.memory;

    heap_shut(&queue->room, heaps, sizeof heaps / sizeof heaps[0]);
    mutex_keeps_shut(&queue->keeps);
    mutex_labels_shut(&queue->labels);
    mutex_classes_shut(&queue->classes);
    mutex_groups_shut(&queue->groups);
    entries_shut(&queue->entries);
    mutex_names_shut(&queue->names);
    memory_free(memory, MEMORY_OTHER, queue->incoming,
                queue->incoming_capacity * sizeof *queue->incoming);
}

static bool
containers_open(struct mutex_queue *queue)
{
    struct memory *memory = &queue->base.memory;

    queue->active.order = HEAP_BY_RANK;
    queue->backoff.order = HEAP_BY_TIME;
    queue->error_backoff.order = HEAP_BY_TIME;
    queue->room = (struct heap_room){.memory = memory, .entries = &queue->entries};
    queue->parked = (struct age_list){.head = NO_ENTRY, .tail = NO_ENTRY};
    queue->gated = (struct age_list){.head = NO_ENTRY, .tail = NO_ENTRY};
    queue->ended = NO_ENTRY;
    queue->gated_oldest = INT64_MAX;
    queue->leftover_flushed = INT64_MIN;
    queue->last_key = INT64_MIN;
    entries_open(&queue->entries, memory, queue_first_version(&queue->base));
    mutex_keeps_open(&queue->keeps, memory, &queue->entries);
    mutex_labels_open(&queue->labels, memory, &queue->entries);
    mutex_classes_open(&queue->classes, memory, &queue->entries);
    mutex_groups_open(&queue->groups, memory, &queue->entries);
    mutex_names_open(&queue->names, memory);
    return mutex_place_reserve_labels(queue, registry_label_count(&queue->base.registry));
}

static bool
mutex_open(schedq_t *base)
{
    struct mutex_queue *queue = mutex_queue(base);
    struct memory *memory = &base->memory;

    if (!containers_open(queue)) {
        return false;
    }
    bool index = mutex_index_open(&queue->index, memory, &queue->entries);
    bool bands = mutex_bands_open(&queue->bands, memory);
    bool lots = mutex_lots_open(&queue->lots, memory, &queue->entries);
    bool nominator = mutex_nominator_open(&queue->nominator, memory, &queue->entries);
    bool log = mutex_event_log_open(&queue->log, base);
    bool sleepers = sleep_open(queue);

    if (index && bands && lots && nominator && log && sleepers) {
        return true;
    }
    if (index) {
        mutex_index_shut(&queue->index);
    }
    if (bands) {
        mutex_bands_shut(&queue->bands);
    }
    if (lots) {
        mutex_lots_shut(&queue->lots);
    }
    if (nominator) {
        mutex_nominator_shut(&queue->nominator);
    }
    if (log) {
        mutex_event_log_shut(&queue->log);
    }
    if (sleepers) {
        sleep_shut(queue);
    }
    containers_shut(queue);
    return false;
}

/* Every reference that the queue holds goes back, those for pods in flight included. */
static void
release_objects(struct mutex_queue *queue)
{
    const schedq_config_t *config = &queue->base.config;

    if (config->objects != SCHEDQ_OBJECTS_COUNTED) {
        return;
    }
    for (uint32_t i = 0; i < entries_end(&queue->entries); i++) {
        if (queue->entries.pages[i / PAGE_ENTRIES] == NULL) {
            continue;
        }
        const struct entry *entry = pod_at(queue, i);

        if (entry_is_group(entry)) {
            continue;
        }
        if (entry->place != SCHEDQ_NOWHERE) {
            config->release(config->object_ctx, entry->object);
        }
        if (entry->place == SCHEDQ_INFLIGHT) {
            config->release(config->object_ctx, entry->flight.popped_object);
        }
    }
}

static schedq_status_t
mutex_shut(schedq_t *base)
{
    struct mutex_queue *queue = mutex_queue(base);

    queue_lock(queue);
    bool used = queue->worker_count > 0 || queue->timer.running;
    queue_unlock(queue);
    if (used) {
        return SCHEDQ_BUSY;
    }
    release_objects(queue);
    mutex_event_log_shut(&queue->log);
    mutex_nominator_shut(&queue->nominator);
    mutex_lots_shut(&queue->lots);
    mutex_bands_shut(&queue->bands);
    mutex_index_shut(&queue->index);
    mutex_workers_shut(queue);
    sleep_shut(queue);
    containers_shut(queue);
    return SCHEDQ_OK;
}

static schedq_status_t
mutex_reserve(schedq_t *base, uint32_t pods, uint32_t bands, uint32_t workers)
{
    struct mutex_queue *queue = mutex_queue(base);

    /* One more priority: a pod enters its new one before it leaves the old one. */
    queue_lock(queue);
    bool ok = admit_reserve(queue, pods) && mutex_names_reserve(&queue->names, pods) &&
              mutex_bands_reserve(&queue->bands, bands + 1) &&
              mutex_lots_reserve(&queue->lots, base->config.max_lots) &&
              mutex_nominator_reserve(&queue->nominator, pods) &&
              mutex_workers_reserve(queue, workers);
    queue_unlock(queue);
    return ok ? SCHEDQ_OK : SCHEDQ_NOMEM;
}

static void
mutex_trim(schedq_t *base)
{
    struct mutex_queue *queue = mutex_queue(base);

    queue_lock(queue);
    admit_trim(queue);
    mutex_names_trim(&queue->names);
    queue_unlock(queue);
}

/* ---- setup ----------------------------------------------------------------------------------- */

static schedq_status_t
mutex_event_define(schedq_t *base, const char *resource, uint32_t actions, const char *label,
                   schedq_event_t *event)
{
    struct mutex_queue *queue = mutex_queue(base);

    queue_lock(queue);
    schedq_status_t status = SCHEDQ_NOMEM;

    /*
     * An event brings one label at most; once it is defined nothing may fail, for every event is
     * counted by its label.
     */
    if (mutex_place_reserve_labels(queue, registry_label_count(&base->registry) + 1)) {
        status = registry_define_event(&base->registry, resource, actions, label, event);
    }
    queue_unlock(queue);
    return status;
}

/*
 * Argument checks read profiles and plugins without the lock: they are fixed when the first worker
 * exists.
 */
static bool
setup_is_over(const struct mutex_queue *queue)
{
    return queue->worker_count > 0;
}

static schedq_status_t
mutex_profile_define(schedq_t *base, const char *name, schedq_profile_t *profile)
{
    struct mutex_queue *queue = mutex_queue(base);
    schedq_status_t status = SCHEDQ_NOMEM;

    queue_lock(queue);
    if (setup_is_over(queue)) {
        status = SCHEDQ_BUSY;
    } else if (mutex_event_log_add_profile(&queue->log,
                                           registry_profile_count(&base->registry) + 1)) {
        status = registry_define_profile(&base->registry, name, profile);
    }
    queue_unlock(queue);
    return status;
}

static schedq_status_t
mutex_plugin_register(schedq_t *base, const schedq_plugin_t *plugin, uint64_t *bit)
{
    struct mutex_queue *queue = mutex_queue(base);

    queue_lock(queue);
    schedq_status_t status =
        setup_is_over(queue) ? SCHEDQ_BUSY : registry_add_plugin(&base->registry, plugin, bit);
    queue_unlock(queue);
    return status;
}

static uint64_t
mutex_event_plugins(schedq_t *base, schedq_profile_t profile, schedq_event_t event)
{
    struct mutex_queue *queue = mutex_queue(base);

    queue_lock(queue);
    uint64_t plugins = registry_reached(&base->registry, profile, event);
    queue_unlock(queue);
    return plugins;
}

static uint64_t
mutex_rejector_bit(schedq_t *base, schedq_profile_t profile, const char *name, uint32_t length)
{
    struct mutex_queue *queue = mutex_queue(base);

    queue_lock(queue);
    uint64_t late = registry_late(&base->registry, profile);
    uint64_t bit = registry_rejector(&base->registry, profile, name, length);

    if ((bit & registry_late(&base->registry, profile) & ~late) != 0) {
        /*
         * Events that came before the name did reach it as well: a pod that is in flight may have
         * missed them.
         */
        mutex_event_log_stamp(&queue->log, profile, bit, queue->log.newest);
    }
    queue_unlock(queue);
    return bit;
}

const struct engine_ops mutex_engine = {
    .name = "mutex",
    .number = SCHEDQ_ENGINE_MUTEX,
    .queue_bytes = sizeof(struct mutex_queue),
    .open = mutex_open,
    .shut = mutex_shut,
    .reserve = mutex_reserve,
    .trim = mutex_trim,
    .run = mutex_run,
    .stop = mutex_stop,
    .close = mutex_close,
    .tell_host = mutex_tell_host,
    .event_define = mutex_event_define,
    .profile_define = mutex_profile_define,
    .plugin_register = mutex_plugin_register,
    .event_plugins = mutex_event_plugins,
    .rejector_bit = mutex_rejector_bit,
    .worker_register = mutex_worker_register,
    .worker_unregister = mutex_worker_unregister,
    .worker_adopt = mutex_worker_adopt,
    .add = mutex_add,
    .add_many = mutex_add_many,
    .pop = mutex_pop,
    .pop_waiting = mutex_pop_waiting,
    .wait_cancel = mutex_wait_cancel,
    .done = mutex_done,
    .done_many = mutex_done_many,
    .end_many = mutex_end_many,
    .token_alive = mutex_token_alive,
    .fail = mutex_fail,
    .readd = mutex_readd,
    .find = mutex_find,
    .update = mutex_update,
    .delete_pod = mutex_delete,
    .activate = mutex_activate,
    .nominate = mutex_nominate,
    .hold = mutex_hold,
    .not_before = mutex_not_before,
    .labelled = mutex_labelled,
    .group_add = mutex_group_add,
    .group_update = mutex_group_update,
    .group_delete = mutex_group_delete,
    .group_activate = mutex_group_activate,
    .group_get = mutex_group_get,
    .pop_group = mutex_pop_group,
    .group_done = mutex_group_done,
    .notify = mutex_notify,
    .event_begin = mutex_event_begin,
    .event_stamp = mutex_event_stamp,
    .candidates = mutex_candidates,
    .apply_many = mutex_apply_many,
    .get = mutex_get,
    .snapshot = mutex_snapshot,
    .nominated_pods = mutex_nominated_pods,
    .peek = mutex_peek,
    .peek_many = mutex_peek_many,
    .position = mutex_position,
    .reasons = mutex_reasons,
    .flushed = mutex_flushed,
    .stats = mutex_stats,
    .worker_at = mutex_worker_at,
    .watch = mutex_watch,
    .metrics = mutex_metrics,
    .tick = mutex_tick,
};
