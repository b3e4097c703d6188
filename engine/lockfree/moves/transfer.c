/* Transfers of transfer.h, which has the essay: linearization, ordering, progress. */
#include "lockfree/moves/transfer.h"

#include "lockfree/calls/timer.h"
#include "lockfree/moves/backoff.h"
#include "lockfree/moves/waiting.h"
#include "lockfree/refs/tie.h"
#include "policy/backoff.h"
#include "policy/leftover.h"

static bool
find_active(struct worker *worker, const struct view *view, struct destination *destination)
{
    destination->band = publish_band(worker, view->description.priority);
    destination->key = view->description.order_key;
    destination->bin = destination->band != NULL ? &destination->band->bin : NULL;
    return destination->band != NULL;
}

static bool
find_backoff(struct worker *worker, const struct view *view, struct destination *destination)
{
    struct queue *queue = queue_of(worker);

    destination->bin = backoff_bin(queue, destination->place, &view->history);
    if (destination->bin == NULL) {
        return false;
    }
    destination->key = backoff_expiry_of(queue, &view->history);
    destination->tie = tie_of_description(&destination->bin->residence, &view->description);
    destination->due = backoff_due(&queue->base.rules.backoff, destination->key);
    destination->lot = waiting_backoff_lot(queue, destination->place);
    return true;
}

static void
find_waiting(struct worker *worker, const struct view *view, int64_t since,
             struct destination *destination)
{
    struct queue *queue = queue_of(worker);

    destination->lot =
        waiting_lot(worker, view->profile, view->unschedulable | gate_bit(destination->gate),
                    view->pending, destination->gate);
    if ((view->description.flags & SCHEDQ_POD_AFFINITY) != 0) {
        lot_note_affinity(destination->lot);
    }
    destination->bin = waiting_ages(queue, destination->place);
    destination->key = since;
    destination->due =
        destination->bin != NULL ? leftover_due(&queue->base.rules, since) : SCHEDQ_NO_DEADLINE;
}

bool
transfer_find(struct worker *worker, const struct view *view, const struct way *way, int64_t since,
              struct destination *destination)
{
    *destination =
        (struct destination){.place = way->place, .gate = way->gate, .due = SCHEDQ_NO_DEADLINE};
    switch (way->place) {
    case PLACE_ACTIVE:
        return find_active(worker, view, destination);
    case PLACE_BACKOFF:
    case PLACE_ERROR_BACKOFF:
        return find_backoff(worker, view, destination);
    default:
        find_waiting(worker, view, since, destination);
        return true;
    }
}

bool
transfer_make_room(struct worker *worker, const struct destination *destination)
{
    if (destination->bin != NULL && !publish_prepare(worker, destination->bin)) {
        return false;
    }
    if (destination->lot == NULL) {
        return true;
    }
    const struct bin_caller caller = bin_caller(worker);

    return lot_prepare(destination->lot, &caller, 2);
}

void
transfer_lower_deadline(struct worker *worker, int64_t due)
{
    struct queue *queue = queue_of(worker);

    if (deadline_lower(&queue->deadline, due)) {
        timer_wake(queue);
    }
}

/* ---- pods that exist ------------------------------------------------------------------------- */

bool
transfer_prepare(struct worker *worker, uint32_t record, const struct view *view,
                 const struct way *way, int64_t now, struct transfer *transfer)
{
    const struct rules *rules = &queue_of(worker)->base.rules;
    bool tried_now = way->place == PLACE_GATED && rules->gates_see_leftover;
    transfer->record = record;
    transfer->entry = view->entry;
    transfer->state = view->state;
    transfer->desc = view->desc;
    return transfer_find(worker, view, way, tried_now ? now : view->history.timestamp_ns,
                         &transfer->to) &&
           transfer_make_room(worker, &transfer->to);
}

/* Does the pod that `view` shows stand where its description wants it? */
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
            /* it has no lanes, and the pod has left the order since it was looked at */
            queue_note_stray(queue, STRAY_UNMOVED);
            return false;
        }
        if (!transfer_prepare(worker, record, &view, &way, view.history.timestamp_ns, &transfer)) {
            if (way.place == PLACE_ACTIVE) {
                queue_note_stray(queue, STRAY_UNMOVED);
            }
            return false;
        }
        transfer_publish(worker, &transfer, CAUSE_NONE);
        if (transfer_switch(worker, &transfer, CAUSE_NONE)) {
            break; /* from the description that it compared */
        }
    }
    return true;
}
