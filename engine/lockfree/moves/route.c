/* The ways of route.h. */
#include "lockfree/moves/route.h"

#include "lockfree/moves/backoff.h"

static uint8_t
first_refusal(struct worker *worker, const struct subject *subject)
{
    const struct registry *registry = &queue_of(worker)->base.registry;
    uint32_t count;
    uint64_t calls = 0;

    if (!registry->has_gates) {
        return 0;
    }
    const struct gate *gates = registry_gates(registry, subject->profile, &count);
    uint8_t gate = gating_ask(gates, count, subject->gate, subject->object, &calls);

    tally_add(&worker->tally.gate_calls, calls);
    return gate;
}

bool
route_is_backing_off(const struct queue *queue, const struct subject *subject, int64_t now)
{
    if (subject->gate != 0 && queue->base.rules.gated_never_backs_off) {
        return false;
    }
    return backoff_is_waiting(&queue->base.rules.backoff,
                              backoff_expiry_of(queue, subject->history), now);
}

static enum place
backoff_of(const struct queue *queue, const struct subject *subject)
{
    return backoff_place(queue, subject->unschedulable | subject->pending);
}

struct way
route_to_active(struct worker *worker, const struct subject *subject)
{
    uint8_t gate = first_refusal(worker, subject);

    return (struct way){.place = gate != 0 ? PLACE_GATED : PLACE_ACTIVE, .gate = gate};
}

/* Where pop takes from backoff, the gates stood before it. */
struct way
route_from_backoff(struct worker *worker, const struct subject *subject)
{
    if (queue_of(worker)->base.rules.pop_from_backoff) {
        return (struct way){.place = PLACE_ACTIVE};
    }
    return route_to_active(worker, subject);
}

struct way
route_after_backoff(struct worker *worker, const struct subject *subject, int64_t now)
{
    const struct queue *queue = queue_of(worker);

    if (!route_is_backing_off(queue, subject, now)) {
        return route_to_active(worker, subject);
    }
    /*
     * Pop does not ask: where it takes from backoff, gates are asked before backoff. Else the pod
     * keeps its gate there.
     */
    uint8_t gate = queue->base.rules.pop_from_backoff ? first_refusal(worker, subject) : 0;

    if (gate != 0) {
        return (struct way){.place = PLACE_GATED, .gate = gate};
    }
    return (struct way){.place = backoff_of(queue, subject),
                        .gate = route_backoff_keeps_gate(queue) ? subject->gate : 0};
}

struct way
route_by_strategy(struct worker *worker, const struct subject *subject, enum strategy strategy,
                  int64_t now)
{
    return strategy == STRATEGY_IMMEDIATELY ? route_to_active(worker, subject)
                                            : route_after_backoff(worker, subject, now);
}

struct way
route_admitted(struct worker *worker, const struct subject *subject, bool backoff, int64_t now)
{
    const struct queue *queue = queue_of(worker);

    if (backoff && route_is_backing_off(queue, subject, now)) {
        return (struct way){.place = backoff_of(queue, subject)};
    }
    return (struct way){.place = PLACE_ACTIVE};
}
