/*
 * Where a pod goes next: to active or backoff, or behind a gate. This file only answers that; the
 * caller moves the pod.
 *
 * Asked about pods that are new, in flight, or waiting. PreEnqueue runs here, with a reference to
 * the pod's object that the caller holds.
 */
#ifndef SCHEDQ_LOCKFREE_ROUTE_H
#define SCHEDQ_LOCKFREE_ROUTE_H

#include "lockfree/moves/backoff.h"
#include "lockfree/moves/report.h"

/**
 * How often one call asks the gates about a pod, at most. It asks more often only about a pod that
 * is let go, while other threads change it and no gate refuses it. About a group's record it asks
 * so often in a row, while an event of the gate that refuses comes each time.
 */
#define ASKS_MAX 3

struct way {
    enum place place; /* ACTIVE, BACKOFF, ERROR_BACKOFF, GATED; of a member ASIDE */
    uint8_t gate;     /* GATED: which; backoff: the one that it keeps; else 0 */
    bool named;       /* a verdict named the place, and that is counted (observe/metrics.h) */
};

/** Does a pod with this history back off still? Some rules let no gated pod back off. */
STRAIGHT bool
route_is_backing_off(const struct queue *queue, uint8_t gate, const schedq_history_t *history,
                     int64_t now)
{
    const struct rules *rules = &queue->base.rules;

    return rules->backoff.max_ns != 0 && (gate == 0 || !rules->gated_never_backs_off) &&
           backoff_is_waiting(&rules->backoff, backoff_expiry_of(queue, history), now);
}

/** The way of a pod that fails, and waits for an event. */
static inline struct way
route_parked(const struct queue *queue)
{
    return (struct way){.place = PLACE_PARKED, .named = queue->base.rules.counts_entities};
}

/** The first gate that refuses; 0: none. There are gates. */
uint8_t route_ask_gates(struct worker *worker, const struct view *view);

STRAIGHT uint8_t
route_first_refusal(struct worker *worker, const struct view *view)
{
    return queue_of(worker)->base.registry.has_gates ? route_ask_gates(worker, view) : 0;
}

/**
 * Is it a member, or a group's record? A member waits aside and is tried with its group; the only
 * other place where it waits is HELD.
 */
static inline bool
route_is_aside(const struct view *view)
{
    return (view->description.marks & MARK_MEMBER) != 0;
}

/** Of a member: aside. Of a group's record: where its members let it. */
COLD struct way route_with_group(struct worker *worker, const struct view *view,
                                 bool after_backoff);

/** The way to active, if no gate refuses. */
STRAIGHT struct way
route_to_active(struct worker *worker, const struct view *view)
{
    if (route_is_aside(view)) {
        return route_with_group(worker, view, false);
    }
    uint8_t gate = route_first_refusal(worker, view);

    return (struct way){.place = gate != 0 ? PLACE_GATED : PLACE_ACTIVE, .gate = gate};
}

/** The same for a pod that a call activates. */
struct way route_activated(struct worker *worker, const struct view *view);

/** The same for a pod whose backoff is over. */
struct way route_from_backoff(struct worker *worker, const struct view *view);

/**
 * To backoff while that lasts, else to active; the gates that the rules put before it are asked.
 */
struct way route_after_backoff(struct worker *worker, const struct view *view, int64_t now);

/**
 * Is the pod held, and nothing keeps it back any more? Then *way is where it goes. [host] No gate
 * is asked.
 */
bool route_from_hold(struct worker *worker, const struct view *view, int64_t now, struct way *way);

/** If no gate refuses, or a host has asked them: backoff while that lasts, with `backoff`. */
STRAIGHT struct way
route_admitted(const struct queue *queue, uint64_t rejectors, const schedq_history_t *history,
               bool backoff, int64_t now)
{
    if (backoff && route_is_backing_off(queue, 0, history, now)) {
        return (struct way){.place = backoff_place(queue, rejectors)};
    }
    return (struct way){.place = PLACE_ACTIVE};
}

/**
 * Marks such a way as named, if entities are counted: the host's verdict named backoff, or active.
 */
static inline void
route_name(const struct queue *queue, bool backoff, struct way *way)
{
    if (queue->base.rules.counts_entities) {
        way->named = !backoff || place_backs_off(way->place);
    }
}

/** As a strategy says, which is not SKIP. */
STRAIGHT struct way
route_by_strategy(struct worker *worker, const struct view *view, enum strategy strategy,
                  int64_t now)
{
    bool backoff = strategy != STRATEGY_IMMEDIATELY;
    struct way way =
        backoff ? route_after_backoff(worker, view, now) : route_to_active(worker, view);

    if (queue_of(worker)->base.rules.counts_entities) {
        bool active = way.place == PLACE_ACTIVE || way.place == PLACE_READY;

        way.named = place_backs_off(way.place) || (!backoff && active);
    }
    return way;
}

#endif
