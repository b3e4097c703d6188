/* Transfers of transfer.h, which has the essay: linearization, ordering, progress. */
#include "lockfree/moves/transfer.h"

#include "lockfree/calls/timer.h"
#include "lockfree/moves/gather_find.h"
#include "lockfree/moves/stray.h"

bool
transfer_make_lot_room(struct worker *worker, struct lot *lot)
{
    const struct bin_caller caller = bin_caller(worker);

    return lot_prepare(lot, &caller, 2);
}

void
transfer_lower_deadline(struct worker *worker, int64_t due)
{
    struct queue *queue = queue_of(worker);

    if (deadline_lower(&queue->deadline, due)) {
        timer_wake(queue);
    }
}

struct destination
transfer_record_to_backoff(struct worker *worker, const struct view *view,
                           struct destination destination)
{
    const struct backoff_rules rules = gather_backoff_rules(worker, view);

    (void)transfer_to_backoff_by(worker, &rules, view, &destination); /* false: no bin */
    return destination;
}

struct destination
transfer_to_kept(struct worker *worker, const struct view *view, struct destination destination)
{
    struct queue *queue = queue_of(worker);

    if (destination.place == PLACE_READY) {
        destination.bin = &queue_groups(queue)->ready;
        destination.tie = tie_of_description(&destination.bin->residence, &view->description);
    } else if (destination.place == PLACE_HELD && !description_is_held(&view->description)) {
        destination.bin = &queue->waiting.held;
        destination.key = destination.due = view->description.not_before;
    }
    return destination;
}

/* ---- pods that exist ------------------------------------------------------------------------- */

/* Is the pod that `view` shows where its description wants it? */
static bool
stands_right(struct worker *worker, const struct view *view)
{
    struct queue *queue = queue_of(worker);

    switch (state_place(view->state)) {
    case PLACE_ACTIVE: {
        struct band *band = bands_at(&queue->bands, state_band(view->state));

        return state_lag(view->state) == 0 && band != NULL &&
               band->priority == queue_rank(queue, view->description.priority) &&
               bin_mark(&band->bin);
    }
    case PLACE_PARKED:
    case PLACE_GATED:
        return !queue->base.rules.host || state_lag(view->state) == 0;
    case PLACE_CYCLE: /* its token is the base */
        return true;
    default:
        return state_lag(view->state) == 0; /* the others have none, but in backoff */
    }
}

bool
transfer_follow(struct worker *worker, uint32_t record, uint64_t life)
{
    struct queue *queue = queue_of(worker);
    struct view view;

    /* Ends: each further round means that another thread changed the pod. */
    while (report_view(queue, record, life, &view) && !stands_right(worker, &view)) {
        const struct way way = {.place = state_place(view.state), .gate = view.gate};
        struct transfer transfer;

        if (worker->base.number == HOUSEKEEPER && way.place != PLACE_ACTIVE) {
            /* a housekeeper has no lanes; the pod left the order since it was looked at */
            stray_leave(queue, STRAY_UNMOVED);
            return false;
        }
        if (!transfer_prepare(worker, record, &view, &way, view.history.timestamp_ns, &transfer)) {
            if (way.place == PLACE_ACTIVE) {
                stray_leave_short(queue, STRAY_UNMOVED);
            }
            return false;
        }
        transfer_publish(worker, &transfer, CAUSE_NONE);
        if (transfer_switch(worker, &transfer, CAUSE_NONE)) {
            break; /* switched by the description that it compared */
        }
    }
    return true;
}
