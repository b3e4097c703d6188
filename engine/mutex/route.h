/*
 * Where a pod goes next: through the gates to active or backoff, behind a gate, or into a lot to
 * wait for an event.
 *
 * A routed pod may be new, in flight, or waiting; it is taken out of where it is. The caller has
 * set its sets, Timestamp and counters.
 */
#ifndef SCHEDQ_MUTEX_ROUTE_H
#define SCHEDQ_MUTEX_ROUTE_H

#include "mutex/place.h"

struct route {
    struct mutex_queue *queue;
    schedq_result_t *result;
    int64_t now;
    uint32_t label; /* for the counters of what comes in */
    bool recount;   /* a pod that is refused again counts as one that came in again (as moves do) */
};

/** To active, if no gate refuses. */
void mutex_route_to_active(const struct route *route, uint32_t index);

/**
 * To backoff while its backoff lasts, else to active; the gates that the rules put before it are
 * asked.
 */
void mutex_route_after_backoff(const struct route *route, uint32_t index);

/**
 * As a strategy says. SKIP leaves the pod where it is. Returns true if it is active or backs off.
 */
bool mutex_route_by_strategy(const struct route *route, uint32_t index, enum strategy strategy);

/* Without asking a gate. */
void mutex_route_parked(const struct route *route, uint32_t index);
void mutex_route_gated(const struct route *route, uint32_t index, uint8_t gate);
/* active, or backoff while it lasts; `named`: by a verdict (metrics.h) */
void mutex_route_admitted(const struct route *route, uint32_t index, schedq_place_t place,
                          bool named);
void mutex_route_held(const struct route *route, uint32_t index); /* something keeps it back */

/**
 * A member, wherever it would go if it were tried by itself: it waits on its group (gather.c). All
 * ways above that do not hold a pod end here for members.
 */
void mutex_route_aside(const struct route *route, uint32_t index);

/**
 * Routes a held pod that nothing keeps back any more, as an update routes a waiting one. [host]
 * Asks no gate.
 */
void mutex_route_from_hold(const struct route *route, uint32_t index);

#endif
