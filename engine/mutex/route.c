/* The ways of route.h. */
#include "mutex/route.h"

#include "mutex/class.h"
#include "mutex/gather.h"
#include "policy/leftover.h"

/*
 * Called before the pod leaves where it waits. Without a label it is an update that is not counted.
 */
static inline void
note_freed(const struct route *route, struct entry *entry, uint32_t index)
{
    if (entry->place == SCHEDQ_PARKED || entry->place == SCHEDQ_GATED) {
        uint32_t freed = 1 + (route->label != LABEL_NONE ? route->label : LABEL_POD_UPDATE);

        entry_set_freed(entry, freed);
        probe_free(route->queue, index, freed);
    }
}

/* A record becomes active: its members' first attempts begin, unless it was active already. */
COLD static void
enter_active_as_record(const struct route *route, uint32_t index, bool named)
{
    struct mutex_queue *queue = route->queue;
    struct entry *entry = pod_at(queue, index);

    if (entry->place != SCHEDQ_ACTIVE) {
        if (entry->initial_attempt == 0) {
            entry->initial_attempt = route->now;
        }
        mutex_gather_begin_attempts(queue, index, route->now);
    }
    note_freed(route, entry, index);
    mutex_place_leave(queue, index);
    mutex_place_enter(queue, index, SCHEDQ_ACTIVE);
    mutex_place_count_record(queue, index, INCOMING_ACTIVE, named, route->label);
    route->result->to_active++;
}

/* `named`: by a verdict (metrics.h). */
static void
enter_active(const struct route *route, uint32_t index, bool named)
{
    struct mutex_queue *queue = route->queue;
    struct entry *entry = pod_at(queue, index);

    if (entry_is_group(entry)) {
        enter_active_as_record(route, index, named);
        return;
    }
    if (entry->initial_attempt == 0) {
        entry->initial_attempt = route->now;
    }
    note_freed(route, entry, index);
    mutex_place_leave(queue, index);
    mutex_place_enter(queue, index, SCHEDQ_ACTIVE);
    mutex_place_count_pod(queue, INCOMING_ACTIVE, named, route->label);
    route->result->to_active++;
    if (nominate_when_active(queue->base.rules.nominate, route->label)) {
        mutex_nominator_set(&queue->nominator, index, entry->described_node);
    }
}

static void
enter_backoff(const struct route *route, uint32_t index, bool named)
{
    struct mutex_queue *queue = route->queue;

    struct entry *entry = pod_at(queue, index);

    note_freed(route, entry, index);
    mutex_place_leave(queue, index);
    mutex_place_enter(queue, index, mutex_place_of_backoff(queue, entry));
    mutex_place_count(queue, entry, index, INCOMING_BACKOFF, named, route->label);
    route->result->to_backoff++;
}

void
mutex_route_admitted(const struct route *route, uint32_t index, schedq_place_t place, bool named)
{
    if (entry_is_member(pod_at(route->queue, index))) {
        mutex_route_aside(route, index);
        return;
    }
    if (place == SCHEDQ_BACKOFF &&
        mutex_place_is_backing_off(route->queue, pod_at(route->queue, index), index, route->now)) {
        enter_backoff(route, index, named);
    } else {
        enter_active(route, index, named && place == SCHEDQ_ACTIVE);
    }
}

void
mutex_route_gated(const struct route *route, uint32_t index, uint8_t gate)
{
    struct mutex_queue *queue = route->queue;
    struct entry *entry = pod_at(queue, index);

    bool stays = entry->place == SCHEDQ_GATED;
    bool came_in = route->recount || (entry->place != SCHEDQ_PARKED && !stays);

    mutex_place_leave(queue, index);
    if (entry_has_class(entry)) {
        mutex_class_doubt(queue, index);
    }
    entry->unschedulable |= gate_bit(gate);
    entry->gate = gate;
    entry->marks &= (uint8_t)~MARK_FLUSHED;
    entry->parking.since =
        leftover_since(&queue->base.rules, entry->timestamp, entry->parking.flushed, route->now);
    mutex_place_enter(queue, index, SCHEDQ_GATED);
    if (came_in || !stays) {
        route->result->to_gated++;
    }
    if (came_in && queue->base.rules.counts_updates) {
        mutex_place_count(queue, entry, index, INCOMING_UNSCHEDULABLE, false, route->label);
    }
}

void
mutex_route_parked(const struct route *route, uint32_t index)
{
    struct entry *entry = pod_at(route->queue, index);

    if (entry_is_member(entry)) {
        mutex_route_aside(route, index);
        return;
    }
    mutex_place_leave(route->queue, index);
    entry->gate = 0;
    entry->parking.since = entry->timestamp;
    mutex_place_enter(route->queue, index, SCHEDQ_PARKED);
    mutex_place_count(route->queue, entry, index, INCOMING_UNSCHEDULABLE, true, route->label);
    route->result->to_parked++;
}

void
mutex_route_held(const struct route *route, uint32_t index)
{
    struct entry *entry = pod_at(route->queue, index);
    bool was_aside = entry->place == SCHEDQ_ASIDE;
    const uint8_t gate = entry->gate;

    mutex_place_leave(route->queue, index);
    entry->gate = 0;
    entry->marks &= (uint8_t)~MARK_FLUSHED;
    entry->parking.flushed = 0;
    mutex_place_enter(route->queue, index, SCHEDQ_HELD);
    if (was_aside) {
        mutex_gather_left(route, group_of(&route->queue->groups, index), gate);
    }
}

/*
 * 0: no gate refuses; the pod then has no gate, though its sets keep the gates that refused it
 * before.
 */
STRAIGHT uint8_t
ask_gates(struct mutex_queue *queue, const struct entry *entry, uint32_t index)
{
    if (entry_is_group(entry)) {
        return mutex_gather_ask(queue, index);
    }
    uint32_t count;
    const struct gate *gates = registry_gates(&queue->base.registry, entry->profile, &count);

    return gating_ask(gates, count, entry->gate, entry->object, &queue->counters.gate_calls);
}

/* Pop asks no gate of what backs off, and some rules do not when it is activated. */
static bool
passed_before(const struct route *route, const struct entry *entry)
{
    const struct rules *rules = &route->queue->base.rules;

    return (entry->place == SCHEDQ_BACKOFF || entry->place == SCHEDQ_ERROR_BACKOFF) &&
           rules->pop_from_backoff &&
           (route->label == LABEL_BACKOFF_COMPLETE ||
            (rules->backoff_opens_gates && route->label == LABEL_FORCE_ACTIVATE));
}

static void
to_active(const struct route *route, uint32_t index, bool named)
{
    struct mutex_queue *queue = route->queue;
    struct entry *entry = pod_at(queue, index);

    if (entry_is_member(entry)) {
        mutex_route_aside(route, index);
        return;
    }
    uint8_t gate = passed_before(route, entry) ? 0 : ask_gates(queue, entry, index);

    if (gate != 0) {
        mutex_route_gated(route, index, gate);
        return;
    }
    entry->gate = 0;
    enter_active(route, index, named);
}

void
mutex_route_to_active(const struct route *route, uint32_t index)
{
    to_active(route, index, false);
}

static void
after_backoff(const struct route *route, uint32_t index, bool named)
{
    struct mutex_queue *queue = route->queue;
    struct entry *entry = pod_at(queue, index);

    if (entry_is_member(entry)) {
        mutex_route_aside(route, index);
        return;
    }
    if (!mutex_place_is_backing_off(queue, entry, index, route->now)) {
        to_active(route, index, false);
        return;
    }
    /*
     * Pops ask no gates: if they take from backoff, gates are asked before the backoff. Else the
     * pod keeps its gate there.
     */
    if (queue->base.rules.pop_from_backoff) {
        uint8_t gate = ask_gates(queue, entry, index);

        if (gate != 0) {
            mutex_route_gated(route, index, gate);
            return;
        }
        entry->gate = 0;
    }
    enter_backoff(route, index, named);
}

void
mutex_route_after_backoff(const struct route *route, uint32_t index)
{
    after_backoff(route, index, false);
}

void
mutex_route_from_hold(const struct route *route, uint32_t index)
{
    struct mutex_queue *queue = route->queue;

    mutex_place_leave(queue, index);
    pod_at(queue, index)->place = SCHEDQ_NOWHERE;
    if (queue->base.rules.host) {
        mutex_route_admitted(route, index, SCHEDQ_BACKOFF, false);
    } else {
        mutex_route_after_backoff(route, index);
    }
}

bool
mutex_route_by_strategy(const struct route *route, uint32_t index, enum strategy strategy)
{
    switch (strategy) {
    case STRATEGY_SKIP:
        return false;
    case STRATEGY_AFTER_BACKOFF:
        after_backoff(route, index, true);
        break;
    case STRATEGY_IMMEDIATELY:
        to_active(route, index, true);
        break;
    }
    uint8_t place = pod_at(route->queue, index)->place;

    return place != SCHEDQ_PARKED && place != SCHEDQ_GATED;
}
