/* Containers by place (invariant 1 of queue.h). */
#include "mutex/place.h"

#include "platform/words.h"
#include "policy/group.h"
#include "policy/order.h"

uint32_t
mutex_place_rank(const struct mutex_queue *queue, const struct entry *entry)
{
    return queue->base.rules.fifo ? 0 : order_rank(entry->priority);
}

static int32_t
entry_band(const struct mutex_queue *queue, const struct entry *entry)
{
    return queue->base.rules.fifo ? 0 : entry->priority;
}

static struct heap *
heap_of(struct mutex_queue *queue, const struct entry *entry)
{
    switch (entry->place) {
    case SCHEDQ_ACTIVE:
        return entry_is_group(entry) ? &queue->groups.active : &queue->active;
    case SCHEDQ_BACKOFF:
        return &queue->backoff;
    case SCHEDQ_ERROR_BACKOFF:
        return &queue->error_backoff;
    default:
        return NULL;
    }
}

static struct age_list *
age_list_of(struct mutex_queue *queue, uint8_t place)
{
    return place == SCHEDQ_PARKED ? &queue->parked : place == SCHEDQ_GATED ? &queue->gated : NULL;
}

static void
age_append(struct mutex_queue *queue, struct age_list *list, uint32_t index)
{
    struct entry *entry = pod_at(queue, index);

    entry->age_next = NO_ENTRY;
    entry->age_prev = list->tail;
    if (list->tail == NO_ENTRY) {
        list->head = index;
    } else {
        pod_at(queue, list->tail)->age_next = index;
    }
    list->tail = index;
    list->count++;
}

static void
age_remove(struct mutex_queue *queue, struct age_list *list, uint32_t index)
{
    const struct entry *entry = pod_at(queue, index);

    if (entry->age_prev == NO_ENTRY) {
        list->head = entry->age_next;
    } else {
        pod_at(queue, entry->age_prev)->age_next = entry->age_next;
    }
    if (entry->age_next == NO_ENTRY) {
        list->tail = entry->age_prev;
    } else {
        pod_at(queue, entry->age_next)->age_prev = entry->age_prev;
    }
    list->count--;
}

schedq_place_t
mutex_place_of_backoff(const struct mutex_queue *queue, const struct entry *entry)
{
    bool failed_with_error = (entry->unschedulable | entry->pending) == 0;

    /* no pop takes from there: a record is not taken early, whatever the rules */
    return entry_is_group(entry) || (failed_with_error && queue->base.rules.errors_apart)
               ? SCHEDQ_ERROR_BACKOFF
               : SCHEDQ_BACKOFF;
}

/* The wait of a record goes by the number of members that it had when it failed. */
COLD static int64_t
expiry_of_record(const struct mutex_queue *queue, const struct entry *entry, uint32_t index)
{
    uint32_t slot = group_of(&queue->groups, index);
    const struct backoff_counters counters = {
        .attempts = entry->attempts, .rejections = entry->rejections, .errors = entry->errors};
    const struct backoff_rules rules = group_backoff_rules(
        &queue->base.rules.backoff, group_at(&queue->groups, slot)->backoff_size, entry->attempts);

    return backoff_expiry(&rules, &counters, entry->timestamp);
}

int64_t
mutex_place_expiry_of_pod(const struct mutex_queue *queue, const struct entry *entry)
{
    const struct backoff_counters counters = {
        .attempts = entry->attempts, .rejections = entry->rejections, .errors = entry->errors};

    return backoff_expiry(&queue->base.rules.backoff, &counters, entry->timestamp);
}

int64_t
mutex_place_expiry(const struct mutex_queue *queue, const struct entry *entry, uint32_t index)
{
    return entry_is_group(entry) ? expiry_of_record(queue, entry, index)
                                 : mutex_place_expiry_of_pod(queue, entry);
}

bool
mutex_place_backs_off_until(const struct mutex_queue *queue, const struct entry *entry,
                            int64_t expiry, int64_t now)
{
    return (entry->gate == 0 || !queue->base.rules.gated_never_backs_off) &&
           backoff_is_waiting(&queue->base.rules.backoff, expiry, now);
}

bool
mutex_place_is_backing_off(const struct mutex_queue *queue, const struct entry *entry,
                           uint32_t index, int64_t now)
{
    return mutex_place_backs_off_until(queue, entry, mutex_place_expiry(queue, entry, index), now);
}

static struct order
order_of(const struct mutex_queue *queue, uint32_t index)
{
    const struct entry *entry = pod_at(queue, index);
    uint32_t rank = mutex_place_rank(queue, entry);

    return entry->place == SCHEDQ_ACTIVE ? order_by_rank(rank, entry->order_key, index)
                                         : order_by_time(entry->expiry, rank, index);
}

/* Puts a pod that backs off into its heap. */
static void
heap_enter(struct mutex_queue *queue, uint32_t index)
{
    struct entry *entry = pod_at(queue, index);

    entry->expiry = mutex_place_expiry(queue, entry, index);
    heap_push(&queue->room, heap_of(queue, entry), order_of(queue, index));
}

/* Does a time release it? Else only a call does. */
static bool
is_timed(const struct entry *entry)
{
    return (entry->marks & MARK_HELD) == 0;
}

static void
hold_enter(struct mutex_queue *queue, uint32_t index)
{
    const struct entry *entry = pod_at(queue, index);

    word_store(&queue->base.words.held, queue->base.words.held + 1);
    if (is_timed(entry)) {
        struct order order = order_by_time(mutex_keeps_time(&queue->keeps, index),
                                           mutex_place_rank(queue, entry), index);

        heap_push(&queue->keeps.room, &queue->keeps.until, order);
    }
}

static void
hold_leave(struct mutex_queue *queue, uint32_t index)
{
    word_store(&queue->base.words.held, queue->base.words.held - 1);
    queue->time_changed = true;
    if (is_timed(pod_at(queue, index))) {
        heap_remove(&queue->keeps.room, &queue->keeps.until, index);
    }
}

/* A record that is aside is nowhere. */
static void
aside_enter(struct mutex_queue *queue, uint32_t index)
{
    if (entry_is_member(pod_at(queue, index))) {
        word_store(&queue->base.words.aside, queue->base.words.aside + 1);
        mutex_groups_enter(&queue->groups, index);
    }
}

static void
aside_leave(struct mutex_queue *queue, uint32_t index)
{
    if (entry_is_member(pod_at(queue, index))) {
        word_store(&queue->base.words.aside, queue->base.words.aside - 1);
        mutex_groups_leave(&queue->groups, index);
    }
}

COLD static void
kept_enter(struct mutex_queue *queue, uint32_t index)
{
    if (pod_at(queue, index)->place == SCHEDQ_ASIDE) {
        aside_enter(queue, index);
    } else {
        queue->time_changed = true;
        hold_enter(queue, index);
    }
}

COLD static void
kept_leave(struct mutex_queue *queue, uint32_t index)
{
    if (pod_at(queue, index)->place == SCHEDQ_ASIDE) {
        aside_leave(queue, index);
    } else {
        hold_leave(queue, index);
    }
}

void
mutex_place_enter(struct mutex_queue *queue, uint32_t index, schedq_place_t place)
{
    struct entry *entry = pod_at(queue, index);

    entry->place = (uint8_t)place;
    entry_changed(entry);
    if (place == SCHEDQ_ACTIVE) {
        if (entry_is_group(entry)) {
            heap_push(&queue->room, &queue->groups.active, order_of(queue, index));
            queue->made_poppable++; /* all are woken */
        } else {
            heap_push(&queue->room, &queue->active,
                      order_by_rank(mutex_place_rank(queue, entry), entry->order_key, index));
            if (queue->base.config.max_bands != 0) {
                mutex_bands_activate(&queue->bands, entry_band(queue, entry));
            }
        }
        queue->made_poppable++;
        return;
    }
    if (place >= SCHEDQ_HELD) { /* and none is behind ASIDE */
        kept_enter(queue, index);
        return;
    }
    queue->time_changed = true;
    if (place == SCHEDQ_BACKOFF || place == SCHEDQ_ERROR_BACKOFF) {
        heap_enter(queue, index);
        queue->made_poppable +=
            place == SCHEDQ_BACKOFF && queue->base.rules.pop_from_backoff ? 1 : 0;
    } else {
        age_append(queue, age_list_of(queue, entry->place), index);
    }
    if (place == SCHEDQ_GATED && entry->parking.since < queue->gated_oldest) {
        queue->gated_oldest = entry->parking.since;
    }
    mutex_lots_insert(&queue->lots, index);
}

void
mutex_place_leave(struct mutex_queue *queue, uint32_t index)
{
    const struct entry *entry = pod_at(queue, index);

    switch (entry->place) {
    case SCHEDQ_ACTIVE:
        heap_remove(&queue->room, entry_is_group(entry) ? &queue->groups.active : &queue->active,
                    index);
        if (queue->base.config.max_bands != 0 && !entry_is_group(entry)) {
            mutex_bands_deactivate(&queue->bands, entry_band(queue, entry));
        }
        return;
    case SCHEDQ_BACKOFF:
    case SCHEDQ_ERROR_BACKOFF:
        heap_remove(&queue->room, heap_of(queue, entry), index);
        break;
    case SCHEDQ_PARKED:
    case SCHEDQ_GATED:
        age_remove(queue, age_list_of(queue, entry->place), index);
        break;
    case SCHEDQ_HELD:
    case SCHEDQ_ASIDE:
        kept_leave(queue, index);
        return;
    default:
        return;
    }
    mutex_lots_remove(&queue->lots, index);
    queue->time_changed = true;
}

void
mutex_place_again(struct mutex_queue *queue, uint32_t index)
{
    struct entry *entry = pod_at(queue, index);
    struct heap *heap = heap_of(queue, entry);

    entry_changed(entry);
    if (heap != NULL) {
        heap_replace(&queue->room, heap, order_of(queue, index));
    } else if (entry->place == SCHEDQ_PARKED || entry->place == SCHEDQ_GATED) {
        /*
         * Its flags or sets may name another lot. The age list, in order of waiting, does not
         * change.
         */
        mutex_lots_reinsert(&queue->lots, index);
    }
}

void
mutex_place_count_record(struct mutex_queue *queue, uint32_t index, enum incoming_place place,
                         bool named, uint32_t label)
{
    mutex_place_count_group(queue, place,
                            mutex_groups_size(&queue->groups, group_of(&queue->groups, index)),
                            !named, label);
}

void
mutex_place_count_group(struct mutex_queue *queue, enum incoming_place place, uint64_t pods,
                        bool entity, uint32_t label)
{
    if (mutex_place_counts(queue, label)) {
        queue->incoming[label][incoming_group_pods(place)] += pods;
        queue->incoming[label][incoming_groups(place)] += entity ? 1 : 0;
    }
}

bool
mutex_place_reserve_labels(struct mutex_queue *queue, uint32_t labels)
{
    uint32_t capacity = queue->incoming_capacity == 0 ? 64 : queue->incoming_capacity;

    while (capacity < labels) {
        capacity *= 2;
    }
    if (capacity == queue->incoming_capacity) {
        return true;
    }
    uint64_t(*incoming)[INCOMING_ALL] =
        memory_grow(&queue->base.memory, MEMORY_OTHER, queue->incoming, queue->incoming_capacity,
                    capacity, sizeof *incoming);
    if (incoming == NULL) {
        return false;
    }
    queue->incoming = incoming;
    queue->incoming_capacity = capacity;
    return true;
}
