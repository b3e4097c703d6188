/*
 * Pods that are kept back, by a call or until a time.
 *
 * The mark is on the record, the time in keeps.h. In flight they only are noted: the failure asks
 * for them (cycle.c).
 */
#include "mutex/hold.h"

#include "mutex/class.h"
#include "mutex/report.h"
#include "mutex/route.h"

void
mutex_hold_take_out(struct mutex_queue *queue, uint32_t index)
{
    mutex_place_leave(queue, index);
    pod_at(queue, index)->place = SCHEDQ_NOWHERE;
}

void
mutex_hold_settle(struct mutex_queue *queue, uint32_t index, bool lifted, schedq_result_t *result)
{
    const struct route route = {.queue = queue,
                                .result = result,
                                .now = queue_now(queue),
                                .label = LABEL_POD_UPDATE,
                                .recount = true};

    if (mutex_place_keeps(queue, pod_at(queue, index), index, route.now)) {
        mutex_route_held(&route, index);
    } else if (lifted) {
        mutex_route_from_hold(&route, index);
    }
}

/* There is room for the time. */
static void
change(struct mutex_queue *queue, uint32_t index, bool held, int64_t time, schedq_result_t *result)
{
    struct entry *entry = pod_at(queue, index);
    bool lifted = entry->place == SCHEDQ_HELD;
    bool same_time = time == mutex_keeps_time(&queue->keeps, index);
    bool same = same_time && held == ((entry->marks & MARK_HELD) != 0);
    struct class_slot *scouted = entry_has_class(entry) ? mutex_class_scouted(queue, index) : NULL;

    if (lifted && same && mutex_place_keeps(queue, entry, index, queue_now(queue))) {
        mutex_report_pod(queue, index, result);
        return;
    }
    if (lifted) {
        mutex_hold_take_out(queue, index);
    }
    entry->marks = (uint8_t)((entry->marks & ~MARK_HELD) | (held ? MARK_HELD : 0));
    if (!same_time) {
        mutex_place_set_time(queue, entry, index, time);
    }
    if (entry->place != SCHEDQ_INFLIGHT) {
        mutex_hold_settle(queue, index, lifted, result);
        mutex_class_look(queue, scouted);
    }
    mutex_report_pod(queue, index, result);
    result->poppable = queue->made_poppable > 0;
}

schedq_status_t
mutex_hold(schedq_worker_t *worker, schedq_pod_t pod, bool holds, schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    uint32_t index;

    queue_lock(queue);
    const struct entry *entry = entry_of_handle(&queue->entries, pod, &index);

    if (entry != NULL) {
        /* by its class: its turn would never come, its ref is stale */
        bool forgets = holds && (entry->flags & ENTRY_BY_CLASS) != 0;

        change(queue, index, holds, forgets ? 0 : mutex_keeps_time(&queue->keeps, index), result);
    }
    queue_unlock(queue);
    return entry != NULL ? SCHEDQ_OK : SCHEDQ_NOT_FOUND;
}

schedq_status_t
mutex_not_before(schedq_worker_t *worker, schedq_pod_t pod, int64_t time, schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);
    schedq_status_t status = SCHEDQ_NOT_FOUND;
    uint32_t index;

    queue_lock(queue);
    const struct entry *entry = entry_of_handle(&queue->entries, pod, &index);

    if (entry != NULL) {
        status = mutex_keeps_reserve(&queue->keeps, time) ? SCHEDQ_OK : SCHEDQ_NOMEM;
    }
    if (status == SCHEDQ_OK) {
        change(queue, index, (entry->marks & MARK_HELD) != 0, time > queue_now(queue) ? time : 0,
               result);
    }
    queue_unlock(queue);
    return status;
}
