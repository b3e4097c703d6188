/* The ways of route.h. */
#include "lockfree/moves/route.h"

#include "lockfree/moves/gather_record.h"

struct way
route_with_group(struct worker *worker, const struct view *view, bool after_backoff)
{
    return view_is_group(view) ? gather_way(worker, view, after_backoff)
                               : (struct way){.place = PLACE_ASIDE};
}

uint8_t
route_ask_gates(struct worker *worker, const struct view *view)
{
    const struct registry *registry = &queue_of(worker)->base.registry;
    uint32_t count;
    uint64_t calls = 0;
    const struct gate *gates = registry_gates(registry, view->profile, &count);
    uint8_t gate = gating_ask(gates, count, view->gate, view->description.object, &calls);

    tally_add(&worker->tally.gate_calls, calls);
    return gate;
}

struct way
route_activated(struct worker *worker, const struct view *view)
{
    bool passed = queue_of(worker)->base.rules.backoff_opens_gates &&
                  place_backs_off(state_place(view->state));

    return passed ? (struct way){.place = PLACE_ACTIVE} : route_to_active(worker, view);
}

/* If pops take from backoff, the gates were asked before the backoff. */
struct way
route_from_backoff(struct worker *worker, const struct view *view)
{
    if (queue_of(worker)->base.rules.pop_from_backoff) {
        if (view_is_group(view)) {
            return (struct way){.place = PLACE_READY};
        }
        return (struct way){.place = PLACE_ACTIVE};
    }
    return route_to_active(worker, view);
}

struct way
route_after_backoff(struct worker *worker, const struct view *view, int64_t now)
{
    const struct queue *queue = queue_of(worker);

    if (route_is_aside(view)) {
        return route_with_group(worker, view, true);
    }
    if (!route_is_backing_off(queue, view->gate, &view->history, now)) {
        return route_to_active(worker, view);
    }
    /*
     * Pops ask no gates: if they take from backoff, gates are asked before the backoff. Else the
     * pod keeps its gate there.
     */
    uint8_t gate = queue->base.rules.pop_from_backoff ? route_first_refusal(worker, view) : 0;

    if (gate != 0) {
        return (struct way){.place = PLACE_GATED, .gate = gate};
    }
    return (struct way){.place = backoff_place(queue, view->unschedulable | view->pending),
                        .gate = queue_backoff_keeps_gate(queue) ? view->gate : 0};
}

bool
route_from_hold(struct worker *worker, const struct view *view, int64_t now, struct way *way)
{
    const struct queue *queue = queue_of(worker);

    if (state_place(view->state) != PLACE_HELD || description_keeps(&view->description, now)) {
        return false;
    }
    if (route_is_aside(view)) {
        *way = (struct way){.place = PLACE_ASIDE};
        return true;
    }
    *way = queue->base.rules.host ? route_admitted(queue, view->unschedulable | view->pending,
                                                   &view->history, true, now)
                                  : route_after_backoff(worker, view, now);
    return true;
}
