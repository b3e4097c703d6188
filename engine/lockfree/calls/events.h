/*
 * Cluster events that callbacks decide: telling those in flight, and judging those that wait.
 */
#ifndef SCHEDQ_LOCKFREE_EVENTS_H
#define SCHEDQ_LOCKFREE_EVENTS_H

#include "lockfree/calls/mover.h"

struct cluster_event {
    schedq_event_t event;
    uint64_t old_object, new_object;
};

/**
 * Draws the event's sequence, writes it down for the pods in flight, raises the stamps; a full
 * fence.
 *
 * A holder that parks a pod looks at the stamps behind its publication. If it misses this event's
 * stamps, its pod is in a lot that the caller reads afterwards.
 */
void events_announce(struct worker *worker, const struct cluster_event *event);

/**
 * What an event means to a pod with these rejectors, whose object is alive. Gates are not looked
 * at.
 */
enum strategy events_judge(struct worker *worker, const struct view *view,
                           const struct cluster_event *event);

/**
 * An event that concerns a member that waits may help its group. Inside a section, which it leaves.
 * True: the group's record does not wait for an event, or not any more.
 */
bool events_help_group(struct worker *worker, uint64_t number, const struct cluster_event *event,
                       schedq_result_t *result);

/** How far a judgement of a flight reaches. */
struct verdict_on_flight {
    enum strategy strategy;
    uint64_t up_to; /* stamps that are not newer were looked at */
};

static inline bool
events_is_error(const struct view *view)
{
    return (view->unschedulable | view->pending) == 0;
}

/** The newest event that a pod with these rejectors has to care for: a stamp, or a number. */
STRAIGHT uint64_t
events_newest(const struct queue *queue, const struct view *view)
{
    if (!queue->base.rules.hints) {
        return stamps_moved(&queue->stamps);
    }
    return events_is_error(view)
               ? stamps_drawn(&queue->stamps)
               : stamps_newest(&queue->stamps, view->profile, view->unschedulable | view->pending);
}

/** events_judge_flight where an event came since: `drawn` was the newest number before that. */
void events_judge_newer(struct worker *worker, const struct view *view, uint64_t drawn,
                        struct verdict_on_flight *verdict);

/**
 * What the events since its pop mean to a pod in flight that fails with these rejectors.
 *
 * *verdict is what was judged so far, of the same object: {SKIP, the sequence of its pop} at first.
 * Goes on from there.
 */
STRAIGHT void
events_judge_flight(struct worker *worker, const struct view *view,
                    struct verdict_on_flight *verdict)
{
    const struct queue *queue = queue_of(worker);
    uint64_t drawn = stamps_drawn(&queue->stamps); /* before anything else is looked at */

    if (events_is_error(view) && !queue->base.rules.errors_park) {
        *verdict = (struct verdict_on_flight){STRATEGY_AFTER_BACKOFF, drawn};
    } else if (events_newest(queue, view) > verdict->up_to) {
        events_judge_newer(worker, view, drawn, verdict);
    }
}

/**
 * A pod in flight is retried when it fails; one that is not in flight, or of another life, is left
 * alone.
 */
void events_activate_in_flight(struct entry *entry, uint64_t life);

/**
 * A holder that is about to park the pod judges it again. True: the pod is parked or gated, as
 * `view` shows.
 */
bool events_judge_again(struct queue *queue, uint32_t record, uint64_t life, struct view *view);

/** This waiting pod counts as one that an event helps. False: no memory, a note was left. */
bool events_help(struct worker *worker, uint32_t record, uint64_t life);

/**
 * The same for a pod that a thread asked the gates about, and put behind one that heard of an event
 * meanwhile. It does not count as one that came in again.
 */
void events_help_placed(struct worker *worker, uint32_t record, uint64_t life);

/**
 * Begins a mover, tries the pods behind gates that hear of wildcards, perhaps some others that
 * wait, and ends it. None twice by the worker's own doing.
 */
void events_flush_gated(struct mover *mover);

/**
 * Every waiting pod counts as one that an event helps: so do those that could not be judged for
 * want of memory. Without memory a note is left again.
 */
void events_judge_all(struct worker *worker);

#endif
