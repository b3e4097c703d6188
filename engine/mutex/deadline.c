/* The soonest of deadline.h. */
#include "mutex/deadline.h"

#include "policy/leftover.h"

static int64_t
earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t
gated_due(const struct mutex_queue *queue)
{
    if (queue->gated.head == NO_ENTRY) {
        return SCHEDQ_NO_DEADLINE;
    }
    if (queue->base.rules.leftover_is_event) {
        int64_t due = leftover_due(&queue->base.rules, queue->gated_oldest);

        return due > queue->leftover_again ? due : queue->leftover_again;
    }
    return queue->base.rules.gates_see_leftover
               ? leftover_due(&queue->base.rules, pod_at(queue, queue->gated.head)->parking.since)
               : SCHEDQ_NO_DEADLINE;
}

int64_t
mutex_deadline_next(const struct mutex_queue *queue)
{
    const struct backoff_rules *rules = &queue->base.rules.backoff;
    int64_t next = SCHEDQ_NO_DEADLINE;

    if (queue->backoff.count > 0) {
        next = earlier(next, backoff_due(rules, order_expiry(heap_best(&queue->backoff))));
    }
    if (queue->error_backoff.count > 0) {
        next = earlier(next, backoff_due(rules, order_expiry(heap_best(&queue->error_backoff))));
    }
    if (queue->base.rules.host) {
        return next;
    }
    if (queue->parked.head != NO_ENTRY) {
        next = earlier(next, leftover_due(&queue->base.rules, pod_at(queue, queue->parked.head)->parking.since));
    }
    return earlier(next, gated_due(queue));
}
