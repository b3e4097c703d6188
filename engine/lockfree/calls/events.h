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

/** How far a judgement of a flight reaches. */
struct verdict_on_flight {
    enum strategy strategy;
    uint64_t up_to; /* stamps that are not newer were looked at */
};

/**
 * What the events since its pop mean to a pod in flight that fails with these rejectors.
 *
 * `before` is what was judged so far, of the same object: {SKIP, the sequence of its pop} at first.
 * Goes on from there.
 */
struct verdict_on_flight events_judge_flight(struct worker *worker, const struct view *view,
                                             const struct verdict_on_flight *before);

/** Has a stamp of the pod's rejectors, or what stands for it, changed since? */
bool events_came_since(const struct queue *queue, const struct view *view, uint64_t up_to);

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
 * Every waiting pod counts as one that an event helps: what could not be judged for want of memory
 * is.
 */
bool events_judge_all(struct worker *worker);

#endif
