/*
 * The lock-free engine's table of functions; making, growing and ending a queue; numbers. queue.h
 * has the picture.
 */
#include "engine.h"

#include "lockfree/calls/add.h"
#include "lockfree/calls/ops.h"
#include "lockfree/calls/workers.h"
#include "lockfree/moves/backoff.h"
#include "lockfree/moves/finish.h"
#include "lockfree/moves/gather_find.h"
#include "lockfree/moves/objects.h"
#include "lockfree/moves/settle.h"
#include "lockfree/moves/waiting.h"

#define TRIM_ROUNDS 3

/* ---- life ------------------------------------------------------------------------------------ */

static void
containers_close(struct queue *queue)
{
    workers_free(queue);
    if (queue->epoch != NULL) {
        epoch_close(queue->epoch);
    }
    event_log_close(&queue->log);
    nominator_close(&queue->nominator);
    nominator_close(&queue->labels);
    nominator_close(&queue->members);
    nominator_close(&queue->families);
    stamps_close(&queue->stamps);
    waiting_close(queue);
    backoff_close(queue);
    incoming_close(&queue->incoming_late);
    bands_close(&queue->bands);
    run_pool_close(&queue->runs);
    names_close(&queue->names);
    records_close(&queue->entries);
}

/* What they allocate is made for the first worker (workers.c): a queue without one is small. */
static void
parts_open(struct queue *queue)
{
    const schedq_config_t *config = &queue->base.config;
    struct memory *memory = &queue->base.memory;

    waiting_open(queue);
    nominator_open(&queue->nominator, memory, &queue->entries, HINTS_OF_NODES);
    nominator_open(&queue->labels, memory, &queue->entries, HINTS_OF_KEYS);
    nominator_open(&queue->members, memory, &queue->entries, HINTS_OF_KEYS);
    nominator_open(&queue->families, memory, &queue->entries, HINTS_OF_KEYS);
    event_log_open(&queue->log, memory, queue->base.rules.host ? 0 : config->event_log,
                   config->objects, &queue->hazards, config->retain);
    index_open(&queue->index, memory, &queue->entries, &queue->names, settle_pod,
               config->max_workers + HOUSEKEEPERS);
}

static bool
lockfree_open(schedq_t *base)
{
    struct queue *queue = queue_of_base(base);
    struct memory *memory = &base->memory;

    records_open(&queue->entries, memory, queue_first_version(base));
    names_open(&queue->names, memory);
    run_pool_open(&queue->runs, memory);
    hazards_open(&queue->hazards, base->config.release, base->config.object_ctx);
    u64_store(&queue->last_key, (uint64_t)INT64_MIN);
    u64_store(&queue->pops_at_tick, UINT64_MAX);
    queue->has_ticks = clock_has_ticks() && !queue->base.rules.count_cycles;
    queue->shares_keys = clock_repeats(&base->clock);
    queue->plain_max = queue->shares_keys || base->config.max_bands != 0 ? 0 : add_pods_max(queue);
    queue->epoch = epoch_open(memory, base->config.fences == SCHEDQ_FENCES_ASYMMETRIC);
    bool bands = bands_open(&queue->bands, memory, &queue->entries, &queue->runs);

    incoming_open(&queue->incoming_late, memory, queue->base.rules.counts_entities);
    deadline_open(&queue->deadline, &base->words.next_deadline_ns);
    sleepers_open(&queue->sleepers);
    time_store(&queue->leftover_flushed, INT64_MIN);
    parts_open(queue);
    bool stamps = stamps_open(&queue->stamps, memory, u64_of(&base->words.event_sequence));

    queue->stamps.of_all = base->rules.host ? 0 : SCHEDQ_REJECTOR_OTHERS;

    if (queue->epoch != NULL && bands && stamps) {
        return true;
    }
    containers_close(queue);
    return false;
}

/*
 * Every reference that the queue holds goes back, those for pods in flight included. No other
 * thread uses the queue: loads are relaxed. An object that a dead holder had not noted is not
 * released: an update may have replaced it, and no word says then which it was.
 */
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
        if ((description.flags & DESCRIBED_GROUP) != 0) {
            continue;
        }
        object_give_back(queue, description.object);
        if (place == PLACE_INFLIGHT && entry_pop_order(entry) != 0) {
            object_give_back(queue, u64_load(&entry->popped));
        }
    }
    if (objects_counted(queue)) {
        finish_ended_alone(queue);
        hazards_drain(&queue->hazards);
    }
}

static schedq_status_t
lockfree_shut(schedq_t *base)
{
    struct queue *queue = queue_of_base(base);

    if (workers_count(queue) > 0) { /* the timer thread's among them */
        return SCHEDQ_BUSY;
    }
    release_objects(queue);
    gather_close(queue);
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

/* The free objects that each worker may hold come on top: a worker may need what another holds. */
static schedq_status_t
lockfree_reserve(schedq_t *base, uint32_t pods, uint32_t bands, uint32_t workers)
{
    struct queue *queue = queue_of_base(base);
    uint32_t held = workers * SLAB_CACHE_MAX;
    uint32_t objects = pods == 0                        ? 0
                       : pods < SLAB_OBJECTS_MAX - held ? pods + held
                                                        : SLAB_OBJECTS_MAX;
    bool ok = workers_make_shared(queue) && slab_reserve(&queue->entries.records, objects) &&
              reserve_index(queue, pods) && bands_reserve(&queue->bands, bands) &&
              workers_reserve(queue, workers);

    return ok ? SCHEDQ_OK : SCHEDQ_NOMEM;
}

static void
trim_once(struct queue *queue, struct worker *worker)
{
    const struct bin_caller caller = bin_caller(worker);

    section_begin(worker);
    bands_tend(&queue->bands, worker->epoch, EVERY_WORKER);
    backoff_tend(queue, worker->epoch, EVERY_WORKER);
    waiting_tend(queue, worker->epoch, EVERY_WORKER);
    bands_trim(&queue->bands, worker->epoch);
    lots_trim(&queue->waiting.lots, &caller);
    nominator_trim(&queue->nominator, worker->epoch);
    nominator_trim(&queue->labels, worker->epoch);
    nominator_trim(&queue->members, worker->epoch);
    nominator_trim(&queue->families, worker->epoch);
    slab_trim(&queue->entries.records, worker->epoch);
    slab_trim(&queue->entries.descriptions, worker->epoch);
    names_trim(&queue->names, worker->epoch);
    run_pool_trim(&queue->runs, worker->epoch);
    section_end(worker);
}

/*
 * What a round takes out is freed after a grace period, and only then can another round take out
 * what a band or a lot had. If no other call is under way, TRIM_ROUNDS are enough for all of it.
 */
static void
lockfree_trim(schedq_t *base)
{
    struct queue *queue = queue_of_base(base);
    uint32_t house;
    struct worker *worker = workers_keep_house(queue, &house);

    if (worker == NULL) {
        return;
    }
    for (uint32_t round = 0; round < TRIM_ROUNDS; round++) {
        trim_once(queue, worker);
        epoch_poll(worker->epoch);
    }
    workers_leave_house(queue, house);
}

/* ---- time ------------------------------------------------------------------------------------ */

static schedq_status_t
lockfree_run(schedq_t *base)
{
    return timer_run(queue_of_base(base));
}

static void
lockfree_stop(schedq_t *base)
{
    timer_stop(queue_of_base(base));
}

/* ---- setup ----------------------------------------------------------------------------------- */

/* Room to count incoming pods by event is made before the event's number is returned. */
static schedq_status_t
lockfree_event_define(schedq_t *base, const char *resource, uint32_t actions, const char *label,
                      schedq_event_t *event)
{
    struct queue *queue = queue_of_base(base);
    uint32_t coming = registry_label_count(&base->registry) + base->config.max_workers;

    if (!incoming_reserve(&queue->incoming_late, coming) ||
        !incoming_reserve(&queue->incoming_late, registry_label_count(&base->registry))) {
        return SCHEDQ_NOMEM;
    }
    schedq_status_t status =
        registry_define_event(&base->registry, resource, actions, label, event);

    if (status == SCHEDQ_OK) {
        (void)incoming_reserve(&queue->incoming_late, registry_label(&base->registry, *event));
    }
    return status;
}

/*
 * Argument checks read profiles and plugins without a lock: they are fixed when the first worker
 * exists.
 */
static bool
setup_is_over(const struct queue *queue)
{
    return workers_count(queue) > 0;
}

static schedq_status_t
lockfree_profile_define(schedq_t *base, const char *name, schedq_profile_t *profile)
{
    struct queue *queue = queue_of_base(base);

    if (setup_is_over(queue)) {
        return SCHEDQ_BUSY;
    }
    if (!stamps_add_profile(&queue->stamps, registry_profile_count(&base->registry) + 1)) {
        return SCHEDQ_NOMEM;
    }
    return registry_define_profile(&base->registry, name, profile);
}

static schedq_status_t
lockfree_plugin_register(schedq_t *base, const schedq_plugin_t *plugin, uint64_t *bit)
{
    return setup_is_over(queue_of_base(base)) ? SCHEDQ_BUSY
                                              : registry_add_plugin(&base->registry, plugin, bit);
}

static uint64_t
lockfree_event_plugins(schedq_t *base, schedq_profile_t profile, schedq_event_t event)
{
    return registry_reached(&base->registry, profile, event);
}

static uint64_t
lockfree_rejector_bit(schedq_t *base, schedq_profile_t profile, const char *name, uint32_t length)
{
    struct queue *queue = queue_of_base(base);
    uint64_t bit = registry_rejector(&base->registry, profile, name, length);

    if ((bit & registry_late(&base->registry, profile)) != 0) {
        stamps_begin_late(&queue->stamps, profile, bit);
    }
    return bit;
}

const struct engine_ops lockfree_engine = {
    .name = "lockfree",
    .number = SCHEDQ_ENGINE_LOCKFREE,
    .queue_bytes = sizeof(struct queue),
    .open = lockfree_open,
    .shut = lockfree_shut,
    .reserve = lockfree_reserve,
    .trim = lockfree_trim,
    .run = lockfree_run,
    .stop = lockfree_stop,
    .close = lockfree_close,
    .tell_host = lockfree_tell_host,
    .event_define = lockfree_event_define,
    .profile_define = lockfree_profile_define,
    .plugin_register = lockfree_plugin_register,
    .event_plugins = lockfree_event_plugins,
    .rejector_bit = lockfree_rejector_bit,
    .worker_register = lockfree_worker_register,
    .worker_unregister = lockfree_worker_unregister,
    .worker_adopt = lockfree_worker_adopt,
    .add = lockfree_add,
    .add_many = lockfree_add_many,
    .pop = lockfree_pop,
    .pop_waiting = lockfree_pop_waiting,
    .wait_cancel = lockfree_wait_cancel,
    .done = lockfree_done,
    .done_many = lockfree_done_many,
    .end_many = lockfree_end_many,
    .token_alive = lockfree_token_alive,
    .fail = lockfree_fail,
    .readd = lockfree_readd,
    .find = lockfree_find,
    .update = lockfree_update,
    .delete_pod = lockfree_delete,
    .activate = lockfree_activate,
    .nominate = lockfree_nominate,
    .hold = lockfree_hold,
    .not_before = lockfree_not_before,
    .labelled = lockfree_labelled,
    .group_add = lockfree_group_add,
    .group_update = lockfree_group_update,
    .group_delete = lockfree_group_delete,
    .group_activate = lockfree_group_activate,
    .group_get = lockfree_group_get,
    .pop_group = lockfree_pop_group,
    .group_done = lockfree_group_done,
    .notify = lockfree_notify,
    .event_begin = lockfree_event_begin,
    .event_stamp = lockfree_event_stamp,
    .candidates = lockfree_candidates,
    .apply_many = lockfree_apply_many,
    .get = lockfree_get,
    .snapshot = lockfree_snapshot,
    .nominated_pods = lockfree_nominated_pods,
    .peek = lockfree_peek,
    .peek_many = lockfree_peek_many,
    .position = lockfree_position,
    .reasons = lockfree_reasons,
    .flushed = lockfree_flushed,
    .stats = lockfree_stats,
    .worker_at = lockfree_worker_at,
    .watch = lockfree_watch,
    .metrics = lockfree_metrics,
    .tick = lockfree_tick,
};
