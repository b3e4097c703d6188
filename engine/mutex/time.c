/*
 * Held pods whose time has come go on; due backoff becomes active; pods that waited for longer than
 * the limit are tried again.
 *
 * The parked pods hang in one list in the order of their Timestamps (a pod is parked when it fails,
 * and its Timestamp is set then), so the old ones are at its head. So are the gated ones in
 * schedq's own behaviour, where their limit counts from the last try.
 *
 * The kube presets try leftovers in flushes (policy/leftover.h). They count a gated pod from its
 * Timestamp, 1.37 also from its last flush: that is in no order, so a lower bound saves most walks.
 * 1.34 does not let it go either: an old gated pod stays, and every flush in which there is one
 * counts as an event (D13 of kube's defects).
 *
 * SLICES. A pop that serves time moves a bounded number of pods before it looks for its own
 * (sleep.c); the timer thread lets others in between two slices. A tick serves all that is due.
 * What begins a flush is not divided: the look at the gated pods. Before 1.37 they keep their
 * Timestamps, so no look could tell which of them have been tried.
 */
#include "mutex/time.h"

#include "mutex/class.h"
#include "mutex/moves.h"
#include "mutex/route.h"
#include "policy/leftover.h"

struct serving {
    struct route route;
    uint32_t left; /* how many pods may be moved */
    bool moved;    /* a pod, or a flush began */
};

/* False: the slice is at its end. */
static bool
take_from_slice(struct serving *serving)
{
    if (serving->left == 0) {
        return false;
    }
    serving->left--;
    serving->moved = true;
    return true;
}

static struct serving
serving_of(struct mutex_queue *queue, int64_t now, uint32_t slice, uint32_t label,
           schedq_result_t *result)
{
    return (struct serving){
        .route = {.queue = queue, .result = result, .now = now, .label = label, .recount = true},
        .left = slice};
}

/* ---- backoff --------------------------------------------------------------------------------- */

static void
flush_backoff(struct serving *serving, struct heap *heap)
{
    const struct route *route = &serving->route;
    struct mutex_queue *queue = route->queue;
    const struct rules *rules = &queue->base.rules;

    while (heap->count > 0 &&
           !backoff_is_waiting(&rules->backoff, order_expiry(heap_best(heap)), route->now)) {
        if (rules->host_ends_backoff) {
            route->result->left = 1;
            return;
        }
        if (!take_from_slice(serving)) {
            return;
        }
        if (rules->host) {
            mutex_route_admitted(route, order_pod(heap_best(heap)), SCHEDQ_ACTIVE, false);
        } else {
            mutex_route_to_active(route, order_pod(heap_best(heap)));
        }
        queue->counters.moves++;
    }
}

/* ---- held pods ------------------------------------------------------------------------------- */

/* Lets the held pods go whose time has come. Returns what is left of the slice. */
COLD static uint32_t
flush_held(struct mutex_queue *queue, int64_t now, uint32_t slice, schedq_result_t *result)
{
    struct serving serving = serving_of(queue, now, slice, LABEL_POD_UPDATE, result);
    struct heap *until = &queue->keeps.until;

    while (until->count > 0 && order_expiry(heap_best(until)) <= now && take_from_slice(&serving)) {
        mutex_route_from_hold(&serving.route, order_pod(heap_best(until)));
        queue->counters.moves++;
    }
    return serving.left;
}

/* ---- leftovers ------------------------------------------------------------------------------- */

/* Tries a leftover, as if an event concerned it. */
static void
try_leftover(const struct serving *serving, uint32_t index)
{
    struct mutex_queue *queue = serving->route.queue;
    struct entry *entry = pod_at(queue, index);

    if (queue->base.rules.flush_begins_anew) {
        entry->marks |= MARK_FLUSHED;
        entry->parking.flushed = serving->route.now;
    }
    (void)mutex_route_by_strategy(&serving->route, index, STRATEGY_AFTER_BACKOFF);
}

/* Tries the pods that wait since `latest` or before. */
static void
flush_parked(struct serving *serving, int64_t latest)
{
    struct mutex_queue *queue = serving->route.queue;

    while (queue->parked.head != NO_ENTRY &&
           pod_at(queue, queue->parked.head)->parking.since <= latest && take_from_slice(serving)) {
        try_leftover(serving, queue->parked.head);
        queue->counters.moves++;
    }
}

/* schedq's own: a pod that is refused again counts from now, and goes to the end of the list. */
static void
flush_gated(struct serving *serving, int64_t latest)
{
    struct mutex_queue *queue = serving->route.queue;

    while (queue->gated.head != NO_ENTRY &&
           pod_at(queue, queue->gated.head)->parking.since <= latest && take_from_slice(serving)) {
        try_leftover(serving, queue->gated.head);
    }
}

static bool
kube_tries_again(const struct mutex_queue *queue, const struct entry *entry)
{
    return registry_gate_hears(&queue->base.registry, entry->profile, entry->gate,
                               SCHEDQ_EVENT_WILDCARD);
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

/* Refused pods come back at the end of the list, with a newer insertion: the walk ends there. */
static void
flush_gated_as_kube(struct serving *serving, int64_t latest)
{
    struct mutex_queue *queue = serving->route.queue;
    uint64_t newest_insertion = queue->lots.sequence;

    for (uint32_t i = queue->gated.head, next; i != NO_ENTRY; i = next) {
        const struct entry *entry = pod_at(queue, i);

        next = entry->age_next;
        if (entry->parking.sequence <= newest_insertion && entry->parking.since <= latest &&
            kube_tries_again(queue, entry)) {
            try_leftover(serving, i);
        }
    }
}

static bool
has_leftover(struct mutex_queue *queue, int64_t latest)
{
    if (queue->gated.count > 0 && queue->gated_oldest <= latest) {
        queue->gated_oldest = oldest_gated(queue);
        queue->time_changed = true;
    }
    return (queue->gated.count > 0 && queue->gated_oldest <= latest) ||
           (queue->parked.head != NO_ENTRY &&
            pod_at(queue, queue->parked.head)->parking.since <= latest);
}

/* An old gated pod counts, whether or not it may leave. */
static void
begin_flush(struct serving *serving)
{
    static const struct cluster_event wildcard = {.event = SCHEDQ_EVENT_WILDCARD};
    struct mutex_queue *queue = serving->route.queue;
    const struct rules *rules = &queue->base.rules;
    int64_t now = serving->route.now, latest = leftover_latest(rules, now);

    if (!leftover_may_flush(rules, queue->leftover_flushed, now) || !has_leftover(queue, latest)) {
        return;
    }
    queue->leftover_flushed = latest;
    queue->time_changed = true;
    serving->moved = true;
    mutex_moves_announce(queue, &wildcard);
    /* Before the parked ones: one that a gate refuses must not be tried twice in a flush. */
    flush_gated_as_kube(serving, latest);
}

static void
flush_leftovers(struct serving *serving)
{
    const struct mutex_queue *queue = serving->route.queue;
    const struct rules *rules = &queue->base.rules;
    int64_t latest = leftover_latest(rules, serving->route.now);

    if (rules->host) {
        return;
    }
    if (rules->leftover_is_event) {
        begin_flush(serving);
        flush_parked(serving, queue->leftover_flushed);
        return;
    }
    flush_parked(serving, latest);
    if (rules->gates_see_leftover) {
        flush_gated(serving, latest);
    }
}

bool
mutex_time_serve(struct mutex_queue *queue, int64_t now, uint32_t slice, schedq_result_t *result)
{
    bool healed = mutex_class_heals(queue);

    /* First the held ones: some of them go on to backoff. Then there are none that are due. */
    if (queue->keeps.until.count > 0) {
        uint32_t left = flush_held(queue, now, slice, result);

        if (left < slice) {
            (void)mutex_time_serve(queue, now, left, result);
            return true;
        }
    }
    struct serving backoff = serving_of(queue, now, slice, LABEL_BACKOFF_COMPLETE, result);

    flush_backoff(&backoff, &queue->backoff);
    flush_backoff(&backoff, &queue->error_backoff);

    struct serving leftovers = serving_of(queue, now, backoff.left, LABEL_LEFTOVER, result);

    if (backoff.left > 0) {
        flush_leftovers(&leftovers);
    }
    healed |= mutex_class_heals(queue); /* a gate may have refused a scout just now */
    return backoff.moved || leftovers.moved || healed;
}
