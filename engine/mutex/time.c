/*
 * Due backoff becomes active; pods that waited for longer than the limit are tried again.
 *
 * The parked pods hang in one list in the order of their Timestamps (a pod is parked when it fails, and its Timestamp is
 * set then), so the old ones are at its head. So are the gated ones in schedq's own behaviour, where their limit counts
 * from the last try.
 *
 * The kube presets count a gated pod from its Timestamp, which is in no order, and 1.34 does not let it go either: an old
 * gated pod stays, and every flush in which there is one counts as an event (D13 of kube's defects). There a lower bound of
 * the Timestamps saves most walks, and a flush that nobody asked for waits kube's 30 seconds before it repeats that.
 */
#include "mutex/time.h"

#include "mutex/moves.h"
#include "mutex/route.h"
#include "policy/leftover.h"

static bool
flush_backoff(struct mutex_queue *queue, struct heap *heap, int64_t now, schedq_result_t *result)
{
    const struct route route = {
        .queue = queue, .result = result, .now = now, .label = LABEL_BACKOFF_COMPLETE, .recount = true};
    bool moved = false;

    while (heap->count > 0 && !backoff_is_waiting(&queue->base.rules.backoff, order_expiry(heap_best(heap)), now)) {
        if (queue->base.rules.host_ends_backoff) {
            result->left = 1;
            return false;
        }
        if (queue->base.rules.host) {
            mutex_route_admitted(&route, order_pod(heap_best(heap)), SCHEDQ_ACTIVE);
        } else {
            mutex_route_to_active(&route, order_pod(heap_best(heap)));
        }
        queue->counters.moves++;
        moved = true;
    }
    return moved;
}

static bool
is_old(const struct mutex_queue *queue, int64_t since, int64_t now)
{
    return since <= leftover_latest(&queue->base.rules, now);
}

static bool
flush_parked(const struct route *route)
{
    struct mutex_queue *queue = route->queue;
    bool moved = false;

    while (queue->parked.head != NO_ENTRY &&
           is_old(queue, pod_at(queue, queue->parked.head)->parking.since, route->now)) {
        mutex_route_after_backoff(route, queue->parked.head);
        queue->counters.moves++;
        moved = true;
    }
    return moved;
}

/* schedq's own: a pod that is refused again counts from now, and goes to the end of the list. */
static void
flush_gated(const struct route *route)
{
    struct mutex_queue *queue = route->queue;

    while (queue->gated.head != NO_ENTRY &&
           is_old(queue, pod_at(queue, queue->gated.head)->parking.since, route->now)) {
        mutex_route_after_backoff(route, queue->gated.head);
    }
}

static bool
kube_tries_again(const struct mutex_queue *queue, const struct entry *entry)
{
    return registry_gate_hears(&queue->base.registry, entry->profile, entry->gate, SCHEDQ_EVENT_WILDCARD);
}

static int64_t
oldest_gated(const struct mutex_queue *queue)
{
    int64_t oldest = INT64_MAX;

    for (uint32_t i = queue->gated.head; i != NO_ENTRY; i = pod_at(queue, i)->age_next) {
        int64_t since = pod_at(queue, i)->parking.since;

        oldest = since < oldest ? since : oldest;
    }
    return oldest;
}

/* Returns true if any gated pod is old, whether or not it may be tried again. */
static bool
flush_gated_as_kube(const struct route *route)
{
    struct mutex_queue *queue = route->queue;
    uint64_t newest_insertion = queue->lots.sequence;
    bool any = false;

    if (queue->gated.count == 0 || !is_old(queue, queue->gated_oldest, route->now)) {
        return false;
    }
    /* Refused pods come back at the end of the list, with a newer insertion: the walk ends there. */
    for (uint32_t i = queue->gated.head, next; i != NO_ENTRY; i = next) {
        const struct entry *entry = pod_at(queue, i);

        next = entry->age_next;
        if (entry->parking.sequence > newest_insertion || !is_old(queue, entry->parking.since, route->now)) {
            continue;
        }
        any = true;
        if (kube_tries_again(queue, entry)) {
            mutex_route_after_backoff(route, i);
        }
    }
    queue->gated_oldest = oldest_gated(queue);
    if (any) {
        queue->leftover_again = time_add(route->now, LEFTOVER_FLUSH_NS);
    }
    queue->time_changed = true;
    return any;
}

static bool
flush_leftovers(struct mutex_queue *queue, int64_t now, bool asked, schedq_result_t *result)
{
    const struct route route = {.queue = queue, .result = result, .now = now, .label = LABEL_LEFTOVER, .recount = true};

    if (queue->base.rules.host) {
        return false;
    }
    if (!queue->base.rules.leftover_is_event) {
        bool moved = flush_parked(&route);

        if (queue->base.rules.gates_see_leftover) {
            flush_gated(&route);
        }
        return moved || route.result->to_active > 0 || route.result->to_backoff > 0;
    }
    /* Gated first: a parked pod that a gate refuses must not be tried twice in one flush. */
    bool any = (asked || now >= queue->leftover_again) && flush_gated_as_kube(&route);

    any |= flush_parked(&route);
    if (any) {
        const struct cluster_event wildcard = {.event = SCHEDQ_EVENT_WILDCARD};

        mutex_moves_announce(queue, &wildcard);
    }
    return any;
}

bool
mutex_time_serve(struct mutex_queue *queue, int64_t now, bool asked, schedq_result_t *result)
{
    bool moved = flush_backoff(queue, &queue->backoff, now, result);

    moved |= flush_backoff(queue, &queue->error_backoff, now, result);
    moved |= flush_leftovers(queue, now, asked, result);
    return moved;
}
