/* Records of admit.h. */
#include "mutex/admit.h"

#include "mutex/class.h"
#include "mutex/place.h"
#include "mutex/report.h"
#include "policy/order.h"

static void
object_retain(const struct mutex_queue *queue, uint64_t object)
{
    const schedq_config_t *config = &queue->base.config;

    if (config->objects == SCHEDQ_OBJECTS_COUNTED) {
        config_retain(config, object);
    }
}

static void
object_release(const struct mutex_queue *queue, uint64_t object)
{
    const schedq_config_t *config = &queue->base.config;

    if (config->objects == SCHEDQ_OBJECTS_COUNTED) {
        config_release(config, object);
    }
}

schedq_status_t
admit_check_absent(const struct mutex_queue *queue, const struct hashed_name *name,
                   schedq_result_t *result)
{
    if (queue->closed) {
        return SCHEDQ_CLOSED;
    }
    uint32_t index = mutex_index_find(&queue->index, name);

    if (index == NO_ENTRY) {
        return SCHEDQ_OK;
    }
    mutex_report_pod(queue, index, result);
    return SCHEDQ_EXISTS;
}

schedq_status_t
admit_check_gate(const struct mutex_queue *queue, schedq_profile_t profile, uint8_t gate,
                 uint64_t judged_up_to, schedq_result_t *result)
{
    if (mutex_event_log_newest_stamp(&queue->log, profile, gate_bit(gate)) <= judged_up_to) {
        return SCHEDQ_OK;
    }
    result->sequence = queue->log.newest;
    return SCHEDQ_RETRY;
}

static uint32_t
doubled_to(uint32_t capacity, uint32_t wanted)
{
    capacity = capacity < PAGE_ENTRIES ? PAGE_ENTRIES : capacity;
    while (capacity < wanted) {
        capacity *= 2;
    }
    return capacity;
}

static bool
resize_heaps(struct mutex_queue *queue, uint32_t capacity, uint32_t numbers)
{
    struct heap *const heaps[] = {&queue->active, &queue->backoff, &queue->error_backoff,
                                  &queue->groups.active};

    if (capacity == queue->room.capacity && numbers == queue->room.numbers) {
        return true;
    }
    return heap_resize(&queue->room, heaps, sizeof heaps / sizeof heaps[0], capacity, numbers);
}

/* The containers first: records without room in a heap would break invariant 3. */
bool
admit_reserve(struct mutex_queue *queue, uint32_t pods)
{
    uint32_t made = entries_made(&queue->entries);
    uint32_t records = (pods + PAGE_ENTRIES - 1) / PAGE_ENTRIES * PAGE_ENTRIES;

    if (records <= made) {
        return true;
    }
    /* Positions are indexed by number, and trim may have left holes among the numbers. */
    uint32_t numbers = entries_end(&queue->entries) + (records - made);

    return resize_heaps(queue, doubled_to(queue->room.capacity, records),
                        doubled_to(queue->room.numbers, numbers)) &&
           mutex_index_reserve(&queue->index, records) && entries_reserve(&queue->entries, records);
}

void
admit_trim(struct mutex_queue *queue)
{
    entries_trim(&queue->entries);
    mutex_keeps_trim(&queue->keeps);
    mutex_labels_trim(&queue->labels);
    if (queue->pods == 0) {
        mutex_classes_trim(&queue->classes);
    }
    mutex_index_trim(&queue->index, entries_made(&queue->entries));
    (void)resize_heaps(queue, doubled_to(0, entries_made(&queue->entries)),
                       doubled_to(0, entries_end(&queue->entries)));
}

static uint32_t
cap_or(uint32_t cap, uint32_t width)
{
    return cap == 0 ? width : cap;
}

/* With config.fifo all priorities count as one. */
static int32_t
band_of(const struct mutex_queue *queue, int32_t priority)
{
    return queue->base.rules.fifo ? 0 : priority;
}

STRAIGHT schedq_status_t
check_pods(schedq_worker_t *worker)
{
    const struct mutex_queue *queue = queue_of(worker);
    uint32_t pods_max = cap_or(queue->base.config.max_pods, PODS_MAX);

    if (queue->pods >= pods_max) {
        worker_say(worker, "pods: there are %u, as many as there may be (max_pods)", pods_max);
        return SCHEDQ_FULL;
    }
    return SCHEDQ_OK;
}

STRAIGHT schedq_status_t
check_caps(schedq_worker_t *worker, int32_t priority)
{
    struct mutex_queue *queue = queue_of(worker);
    uint32_t bands_max = queue->base.config.max_bands;

    if (check_pods(worker) != SCHEDQ_OK) {
        return SCHEDQ_FULL;
    }
    if (bands_max != 0 && queue->bands.active >= bands_max &&
        !mutex_bands_has(&queue->bands, band_of(queue, priority))) {
        worker_say(worker,
                   "priority %d: active pods have %u other priorities, as many as there may be "
                   "(max_bands)",
                   priority, bands_max);
        return SCHEDQ_FULL;
    }
    return SCHEDQ_OK;
}

/* Room for one more priority. */
static bool
reserve_band(struct mutex_queue *queue)
{
    return queue->base.config.max_bands == 0 ||
           mutex_bands_reserve(&queue->bands, queue->bands.count + 1);
}

static int64_t
draw_key(struct mutex_queue *queue, int64_t now)
{
    queue->last_key = order_key_next(now, queue->last_key);
    return queue->last_key;
}

static void
fill(struct mutex_queue *queue, struct entry *entry, const schedq_pod_spec_t *spec, int64_t now)
{
    entry->object = spec->object;
    entry->priority = spec->priority;
    entry->profile = spec->profile;
    entry->flags = spec->flags;
    entry->described_node = spec->nominated_node;
    entry->timestamp = spec->timestamp_ns != 0 ? spec->timestamp_ns : now;
    if ((spec->flags & SCHEDQ_POD_ORDER_KEY) != 0) {
        entry->order_key = spec->order_key;
    } else {
        entry->order_key = spec->timestamp_ns != 0 ? spec->timestamp_ns : draw_key(queue, now);
    }
    if (queue->base.rules.attempt_starts_at_add) {
        entry->initial_attempt = entry->timestamp;
    }
}

/* Room for what few pods have, and what is not in the record. */
COLD static bool
reserve_aside(struct mutex_queue *queue, const schedq_pod_spec_t *spec)
{
    return mutex_keeps_reserve(&queue->keeps, spec->not_before_ns) &&
           (spec->label == 0 || mutex_labels_reserve(&queue->labels)) &&
           (spec->class_id == 0 || mutex_classes_reserve(&queue->classes)) &&
           (spec->group == 0 || mutex_groups_reserve(&queue->groups));
}

COLD static void
fill_aside(struct mutex_queue *queue, uint32_t index, const schedq_pod_spec_t *spec)
{
    struct entry *entry = pod_at(queue, index);

    mutex_place_set_time(queue, entry, index, spec->not_before_ns);
    if (spec->label != 0) {
        entry->marks |= MARK_LABELLED;
        mutex_labels_enter(&queue->labels, index, spec->label);
    }
    if (spec->group != 0) {
        entry->marks |= MARK_MEMBER;
        mutex_groups_name(&queue->groups, index, spec->group);
    }
    if (spec->class_id != 0) {
        mutex_classes_set(&queue->classes, index,
                          class_that_counts(&queue->base.rules, spec->class_id, spec->group != 0));
    }
}

/* Has the pod a label, a time or a group? Few have. */
static inline bool
has_aside(const schedq_pod_spec_t *spec)
{
    return (spec->label | (uint64_t)spec->not_before_ns | spec->group | spec->class_id) != 0;
}

schedq_status_t
admit_pod(schedq_worker_t *worker, const struct hashed_name *name, const schedq_pod_spec_t *spec,
          int64_t now, bool again, uint32_t *index)
{
    struct mutex_queue *queue = queue_of(worker);
    schedq_status_t status = check_caps(worker, spec->priority);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if (!reserve_band(queue) ||
        (queue->entries.free_count == 0 &&
         !admit_reserve(queue, entries_made(&queue->entries) + 1)) ||
        (has_aside(spec) && !reserve_aside(queue, spec))) {
        return SCHEDQ_NOMEM;
    }
    const char *copy = mutex_names_take(&queue->names, name->text, name->length);
    if (copy == NULL) {
        return SCHEDQ_NOMEM;
    }
    *index = entries_take(&queue->entries);
    struct entry *entry = pod_at(queue, *index);

    entry->name = copy;
    entry->name_length = (uint16_t)name->length;
    entry->hash = name->hash;
    fill(queue, entry, spec, now);
    if (has_aside(spec)) {
        fill_aside(queue, *index, spec);
    }
    object_retain(queue, entry->object);
    if (queue->base.config.max_bands != 0) {
        mutex_bands_enter(&queue->bands, band_of(queue, entry->priority));
    }
    mutex_index_insert(&queue->index, *index, name->hash);
    queue->pods++;
    if (nominate_when_admitted(queue->base.rules.nominate, again)) {
        mutex_nominator_set(&queue->nominator, *index, entry->described_node);
    }
    return SCHEDQ_OK;
}

schedq_status_t
admit_record(schedq_worker_t *worker, const schedq_group_spec_t *spec, uint32_t *index)
{
    struct mutex_queue *queue = queue_of(worker);
    schedq_status_t status = check_pods(worker);

    if (status != SCHEDQ_OK) {
        return status;
    }
    if ((queue->entries.free_count == 0 &&
         !admit_reserve(queue, entries_made(&queue->entries) + 1)) ||
        !mutex_groups_reserve(&queue->groups)) {
        return SCHEDQ_NOMEM;
    }
    *index = entries_take(&queue->entries);
    struct entry *entry = pod_at(queue, *index);

    entry->marks = MARK_GROUP;
    entry->name = "";
    entry->timestamp = queue_now(queue);
    entry->object = spec->object;
    entry->priority = spec->priority;
    entry->profile = spec->profile;
    queue->pods++;
    return SCHEDQ_OK;
}

void
admit_end_record(struct mutex_queue *queue, uint32_t index)
{
    entries_give(&queue->entries, index);
    queue->pods--;
}

void
admit_end_group_flight(struct mutex_queue *queue)
{
    if (--queue->groups.inflight == 0 && queue->inflight == 0) {
        mutex_event_log_forget(&queue->log);
    }
}

void
admit_end_ended(struct mutex_queue *queue)
{
    /* Ends: each round is a pod whose token was used; releases that run here may use others. */
    while (queue->ended != NO_ENTRY) {
        uint32_t index = queue->ended;
        struct entry *entry = pod_at(queue, index);

        queue->ended = entry->lot_next;
        if (entry_has_class(entry)) {
            mutex_class_end_quietly(queue, index);
        }
        admit_end_flight(queue, entry);
        admit_end(queue, index);
    }
}

/* For a pod that was deleted in flight, or has a time, a label or a group. */
COLD static void
forget_marked(struct mutex_queue *queue, const struct entry *entry, uint32_t index)
{
    if ((entry->marks & MARK_DELETED) == 0) {
        mutex_index_remove(&queue->index, index, entry->hash);
    }
    if ((entry->marks & MARK_TIMED) != 0) {
        mutex_keeps_set(&queue->keeps, index, 0);
    }
    if ((entry->marks & MARK_LABELLED) != 0) {
        mutex_labels_leave(&queue->labels, index);
    }
    if (entry_is_member(entry)) {
        mutex_groups_forget(&queue->groups, index);
    }
}

void
admit_end(struct mutex_queue *queue, uint32_t index)
{
    struct entry *entry = pod_at(queue, index);

    if (entry->nominated) {
        mutex_nominator_set(&queue->nominator, index, 0);
    }
    if ((entry->marks & (MARK_DELETED | MARKS_ASIDE)) == 0) {
        mutex_index_remove(&queue->index, index, entry->hash);
    } else {
        forget_marked(queue, entry, index);
    }
    mutex_names_give(&queue->names, entry->name, entry->name_length);
    if (queue->base.config.max_bands != 0) {
        mutex_bands_leave(&queue->bands, band_of(queue, entry->priority));
    }
    object_release(queue, entry->object);
    entries_give(&queue->entries, index);
    queue->pods--;
}

/* Room was reserved. */
static void
change_band(struct mutex_queue *queue, const struct entry *entry, int32_t priority)
{
    int32_t old = band_of(queue, entry->priority), band = band_of(queue, priority);

    mutex_bands_enter(&queue->bands, band);
    if (entry->place == SCHEDQ_ACTIVE) {
        mutex_bands_activate(&queue->bands, band);
        mutex_bands_deactivate(&queue->bands, old);
    }
    mutex_bands_leave(&queue->bands, old);
}

/* Has the pod, or gets it, what is not in the record? Its label stays. */
static inline bool
changes_aside(const struct entry *entry, const schedq_pod_spec_t *spec)
{
    return ((uint64_t)spec->not_before_ns | spec->class_id) != 0 ||
           entry_has(entry, ENTRY_CLASSED, MARK_TIMED);
}

static uint64_t
class_in(const struct mutex_queue *queue, const struct entry *entry, const schedq_pod_spec_t *spec)
{
    return class_that_counts(&queue->base.rules, spec->class_id, entry_is_member(entry));
}

static bool
reserve_changed_aside(struct mutex_queue *queue, const struct entry *entry,
                      const schedq_pod_spec_t *spec)
{
    return mutex_keeps_reserve(&queue->keeps, spec->not_before_ns) &&
           (class_in(queue, entry, spec) == 0 || mutex_classes_reserve(&queue->classes));
}

/* False: no memory, nothing changed. */
COLD static bool
change_aside(struct mutex_queue *queue, uint32_t index, const schedq_pod_spec_t *spec)
{
    struct entry *entry = pod_at(queue, index);

    if (!reserve_changed_aside(queue, entry, spec)) {
        return false;
    }
    mutex_place_set_time(queue, entry, index, spec->not_before_ns);
    mutex_classes_set(&queue->classes, index, class_in(queue, entry, spec));
    return true;
}

void
admit_describe_record(struct mutex_queue *queue, uint32_t index, const schedq_group_spec_t *spec)
{
    struct entry *entry = pod_at(queue, index);

    entry->priority = spec->priority;
    entry->object = spec->object;
}

COLD bool
admit_reserve_description(struct mutex_queue *queue, uint32_t index, const schedq_pod_spec_t *spec)
{
    const struct entry *entry = pod_at(queue, index);

    return reserve_band(queue) &&
           (!changes_aside(entry, spec) || reserve_changed_aside(queue, entry, spec));
}

schedq_status_t
admit_describe(struct mutex_queue *queue, uint32_t index, const schedq_pod_spec_t *spec)
{
    struct entry *entry = pod_at(queue, index);
    bool had_key = (entry->flags & SCHEDQ_POD_ORDER_KEY) != 0;

    if (!reserve_band(queue) || (changes_aside(entry, spec) && !change_aside(queue, index, spec))) {
        return SCHEDQ_NOMEM;
    }
    object_retain(queue, spec->object);
    object_release(queue, entry->object);
    entry->object = spec->object;
    if (queue->base.config.max_bands != 0) {
        change_band(queue, entry, spec->priority);
    }
    entry->priority = spec->priority;
    entry->flags = (uint8_t)((spec->flags & POD_FLAGS) | (entry->flags & ENTRY_CLASS_FLAGS));
    entry->described_node = spec->nominated_node;
    if ((spec->flags & SCHEDQ_POD_ORDER_KEY) != 0) {
        entry->order_key = spec->order_key;
    } else if (had_key) {
        entry->order_key = entry->timestamp;
    }
    return SCHEDQ_OK;
}

void
admit_renominate(struct mutex_queue *queue, uint32_t index, uint64_t old_described)
{
    const struct entry *entry = pod_at(queue, index);
    bool spoken_of = old_described != 0 || entry->described_node != 0;

    if (spoken_of || entry->nominated) {
        mutex_nominator_set(&queue->nominator, index,
                            spoken_of ? entry->described_node : entry->nominated_node);
    }
}

void
admit_stamp_time(struct mutex_queue *queue, struct entry *entry, int64_t now)
{
    entry->timestamp = now;
    if ((entry->flags & SCHEDQ_POD_ORDER_KEY) == 0 && !queue->base.rules.keep_order) {
        entry->order_key = draw_key(queue, now);
    }
}
