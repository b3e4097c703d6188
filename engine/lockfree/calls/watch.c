/*
 * What a watchdog looks at: workers by number, and pods, by the numbers of their records as a
 * snapshot does (get.c), but as they lie there. A pod is not settled, its object not retained: no
 * callback runs, and nothing is written but the section.
 *
 * LINEARIZATION. Of each pod that is shown: report_unchanged:A.
 *
 * ORDERING. Pods: report.h. A pod in flight whose place among pops is not behind `popped` had been
 * popped when that was read: a pop takes its place before it tells it (begin_flight:A).
 *
 * PROGRESS. Lock-free, as get.c. A section covers some records at a time: a watchdog that stops in
 * one holds back what waits for a grace period.
 *
 * EVIDENCE. tests/unit/test_watch.c, test_lockfree_half_done.c.
 */
#include "lockfree/calls/ops.h"
#include "lockfree/moves/gather_find.h"
#include "lockfree/moves/report.h"

#define SECTION_RECORDS 64

schedq_worker_t *
lockfree_worker_at(schedq_t *base, uint32_t number)
{
    /* of slot_worker:A */
    struct worker *worker = ptr_load_acquire(&queue_of_base(base)->workers[number]);

    return worker != NULL ? &worker->base : NULL;
}

/* A first look that is nearly always the last. */
COLD static bool
is_wanted(const struct queue *queue, uint32_t record)
{
    struct entry *entry = entry_at(&queue->entries, record);

    if (entry == NULL) {
        return false;
    }
    schedq_place_t place = (schedq_place_t)place_public(state_place(entry_state(entry)));

    return place == SCHEDQ_ASIDE ||
           (place != SCHEDQ_NOWHERE &&
            watching_wants(place, u32_load(&entry->freed) & FREED_LABEL_MAX)); /* relaxed: a note */
}

/* A member that a gate refuses stays aside: the record of its group is gated, and is no pod. */
static schedq_place_t
place_of(const struct view *view)
{
    bool gated = state_place(view->state) == PLACE_ASIDE && view->gate != 0;

    return gated ? SCHEDQ_GATED : (schedq_place_t)place_public(state_place(view->state));
}

/*
 * As report_exists, but a pod that was not moved, and whose add has not come to its end, is left
 * out: to find it would settle it, and its gate would have to be asked.
 */
COLD static bool
was_added(const struct queue *queue, uint32_t record, const struct view *view)
{
    const uint32_t hash = (uint32_t)(u64_load_acquire(&view->entry->name) >> 32);

    return state_version(view->state) != view->life ||
           index_has(&queue->index, hash, record, view->life);
}

/* Inside a section. */
COLD static void
see(const struct queue *queue, uint32_t record, const struct watching *watching)
{
    struct view view;

    if (!report_record(queue, record, &view) || view_is_group(&view) ||
        !was_added(queue, record, &view)) {
        return;
    }
    const struct watched pod = {.pod = entry_handle(record, view.life),
                                .place = place_of(&view),
                                .profile = view.profile,
                                .gate = view.gate,
                                .rejectors = view.unschedulable | view.pending,
                                .pop_order =
                                    state_place(view.state) == PLACE_INFLIGHT ? view.pop_order : 0,
                                .timestamp = view.history.timestamp_ns,
                                .freed_by = entry_freed(view.entry, view.life, view.state)};

    if (watching_wants(pod.place, pod.freed_by)) {
        watching->each(watching->ctx, &pod);
    }
}

COLD schedq_status_t
lockfree_watch(schedq_worker_t *base, struct watching *watching)
{
    struct worker *worker = worker_of(base);
    struct queue *queue = queue_of(worker);
    uint32_t end = slab_end(&queue->entries.records);

    /* Relaxed: a later value is another pop's that overlaps this call. */
    watching->popped = queue->has_ticks ? clock_ticks() : u64_load(&queue->pop_orders);
    for (uint32_t next = 0; next < end;) {
        section_begin(worker);
        for (uint32_t stop = next + SECTION_RECORDS; next < end && next < stop; next++) {
            if (is_wanted(queue, next)) {
                see(queue, next, watching);
            }
        }
        section_leave(worker);
    }
    return SCHEDQ_OK;
}
