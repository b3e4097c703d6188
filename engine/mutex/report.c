/* Copies for report.h. */
#include "mutex/report.h"

#include "mutex/class.h"
#include "mutex/place.h"

static bool
backs_off(const struct entry *entry)
{
    return entry->place == SCHEDQ_BACKOFF || entry->place == SCHEDQ_ERROR_BACKOFF;
}

void
mutex_report_moved(const struct mutex_queue *queue, uint32_t index, schedq_result_t *result)
{
    const struct entry *entry = pod_at(queue, index);

    result->pod = entry_handle(entry, index);
    result->object = entry->object;
    if (queue->base.rules.host && entry_is_candidate(entry)) {
        result->ref = entry_ref(entry, index);
        result->backing_off = mutex_place_is_backing_off(queue, entry, index, queue_now(queue));
    }
    result->timestamp_ns = entry->timestamp;
    result->place = entry->place;
    /* its group's record is gated by what refuses a member */
    result->gate = entry->place == SCHEDQ_ASIDE ? 0 : entry->gate;
}

void
mutex_report_pod(const struct mutex_queue *queue, uint32_t index, schedq_result_t *result)
{
    const struct entry *entry = pod_at(queue, index);

    mutex_report_moved(queue, index, result);
    result->unschedulable = entry->unschedulable;
    result->pending = entry->pending;
}

/* What few pods have is not in the record. */
COLD static void
report_aside(const struct mutex_queue *queue, uint32_t index, schedq_pod_info_t *info)
{
    const struct entry *entry = pod_at(queue, index);

    info->not_before_ns = mutex_keeps_time(&queue->keeps, index);
    if ((entry->marks & MARK_LABELLED) != 0) {
        info->label = mutex_labels_of(&queue->labels, index);
    }
    if (entry_is_member(entry)) {
        info->group = group_at(&queue->groups, group_of(&queue->groups, index))->number;
    }
    if (entry_has_class(entry)) {
        uint32_t scout = mutex_class_scout(queue, index);

        info->class_id = mutex_classes_of(&queue->classes, index);
        info->kept_by_class = entry->place == SCHEDQ_HELD && (entry->flags & ENTRY_BY_CLASS) != 0;
        info->scout.bits = scout != NO_ENTRY ? entry_handle(pod_at(queue, scout), scout).bits : 0;
    }
}

void
mutex_report_info(const struct mutex_queue *queue, uint32_t index, schedq_pod_info_t *info)
{
    const struct entry *entry = pod_at(queue, index);
    bool flying = entry->place == SCHEDQ_INFLIGHT;

    *info = (schedq_pod_info_t){
        .struct_size = (uint32_t)sizeof *info,
        .place = entry->place,
        .profile = entry->profile,
        .flags = entry->flags & POD_FLAGS,
        .deleted = (entry->marks & MARK_DELETED) != 0,
        .pod = entry_handle(entry, index),
        .object = entry->object,
        .name = entry->name,
        .name_length = entry->name_length,
        .priority = entry->priority,
        .history = {.timestamp_ns = entry->timestamp,
                    .initial_attempt_ns = entry->initial_attempt,
                    .attempts = entry->attempts,
                    .rejections = entry->rejections,
                    .errors = entry->errors},
        .backoff_expiry_ns = backs_off(entry) ? backoff_public(entry->expiry) : 0,
        .unschedulable = entry->unschedulable,
        .pending = entry->pending,
        .gate = entry->gate,
        .held = (entry->marks & MARK_HELD) != 0,
        .freed_by = entry_freed(entry),
        .pop_order = flying ? entry->flight.pop_order : 0,
        .cycle = flying && queue->base.rules.count_cycles ? entry->flight.pop_order : 0,
        .nominated_node = entry->nominated ? entry->nominated_node : 0,
        .nomination = entry->nominated ? entry->nomination : 0,
    };
    if (entry_has(entry, ENTRY_CLASSED, MARK_TIMED | MARK_LABELLED | MARK_MEMBER)) {
        report_aside(queue, index, info);
    }
}

void
mutex_report_candidate(const struct mutex_queue *queue, uint32_t index, int64_t now,
                       schedq_candidate_t *candidate)
{
    const struct entry *entry = pod_at(queue, index); /* of a host: it has no groups */
    int64_t expiry = mutex_place_expiry_of_pod(queue, entry);

    *candidate = (schedq_candidate_t){
        .ref = entry_ref(entry, index),
        .object = entry->object,
        .pod = entry_handle(entry, index),
        .unschedulable = entry->unschedulable,
        .pending = entry->pending,
        .timestamp_ns = entry->timestamp,
        .expiry_ns = backoff_public(expiry),
        .place = entry->place,
        .gate = entry->gate,
        .backing_off = mutex_place_backs_off_until(queue, entry, expiry, now),
        .profile = entry->profile,
    };
}
