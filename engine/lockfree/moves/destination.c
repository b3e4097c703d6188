/* The steps of destination.h. */
#include "lockfree/moves/destination.h"

#include "lockfree/calls/timer.h"
#include "lockfree/moves/backoff.h"
#include "lockfree/moves/waiting.h"
#include "lockfree/refs/tie.h"
#include "policy/backoff.h"
#include "policy/leftover.h"

static bool
find_active(struct worker *worker, const struct moving *moving, struct destination *destination)
{
    destination->band = publish_band(worker, moving->description->priority);
    destination->key = moving->description->order_key;
    destination->bin = destination->band != NULL ? &destination->band->bin : NULL;
    return destination->band != NULL;
}

static bool
find_backoff(struct worker *worker, const struct moving *moving, struct destination *destination)
{
    struct queue *queue = queue_of(worker);

    destination->bin = backoff_bin(queue, destination->place, moving->history);
    if (destination->bin == NULL) {
        return false;
    }
    destination->key = backoff_expiry_of(queue, moving->history);
    destination->tie = tie_of_description(&destination->bin->residence, moving->description);
    destination->due = backoff_due(&queue->base.rules.backoff, destination->key);
    destination->lot = waiting_backoff_lot(queue, destination->place);
    return true;
}

static void
find_waiting(struct worker *worker, const struct moving *moving, struct destination *destination)
{
    struct queue *queue = queue_of(worker);

    destination->lot =
        waiting_lot(queue, moving->profile, moving->unschedulable | gate_bit(destination->gate),
                    moving->pending, destination->gate);
    if ((moving->description->flags & SCHEDQ_POD_AFFINITY) != 0) {
        lot_note_affinity(destination->lot);
    }
    destination->bin = waiting_ages(queue, destination->place);
    destination->key = moving->since;
    destination->due = destination->bin != NULL ? leftover_due(&queue->base.rules, moving->since)
                                                : SCHEDQ_NO_DEADLINE;
}

bool
destination_find(struct worker *worker, const struct way *way, const struct moving *moving,
                 struct destination *destination)
{
    *destination =
        (struct destination){.place = way->place, .gate = way->gate, .due = SCHEDQ_NO_DEADLINE};
    switch (way->place) {
    case PLACE_ACTIVE:
        return find_active(worker, moving, destination);
    case PLACE_BACKOFF:
    case PLACE_ERROR_BACKOFF:
        return find_backoff(worker, moving, destination);
    default:
        find_waiting(worker, moving, destination);
        return true;
    }
}

bool
destination_prepare(struct worker *worker, const struct destination *destination)
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
destination_publish(struct worker *worker, const struct destination *destination, uint64_t ref,
                    uint32_t cause)
{
    const struct placing placing = {
        .ref = ref, .key = destination->key, .tie = destination->tie, .cause = cause};

    if (destination->bin != NULL) {
        publish_ref(worker, destination->bin, &placing);
    }
    if (destination->lot != NULL) {
        lot_publish(destination->lot, worker->base.number, ref, ++worker->insertions);
    }
}

void
destination_due(struct worker *worker, int64_t due)
{
    struct queue *queue = queue_of(worker);

    if (due != SCHEDQ_NO_DEADLINE && deadline_lower(&queue->deadline, due)) {
        timer_wake(queue);
    }
}

bool
destination_announce(struct worker *worker, const struct destination *destination)
{
    if (destination->band != NULL) {
        return publish_mark(worker, destination->band);
    }
    if (destination->bin != NULL) {
        (void)bin_mark(destination->bin);
    }
    destination_due(worker, destination->due);
    return true;
}

bool
destination_is_poppable(const struct queue *queue, enum place place)
{
    return place == PLACE_ACTIVE || (place == PLACE_BACKOFF && queue->base.rules.pop_from_backoff);
}
