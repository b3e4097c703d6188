/* The soonest of deadline.h. */
#include "mutex/deadline.h"

#include "mutex/class.h"
#include "policy/leftover.h"

static int64_t
earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t
parked_due(const struct mutex_queue *queue)
{
    return queue->parked.head != NO_ENTRY
               ? leftover_tried(&queue->base.rules,
                                pod_at(queue, queue->parked.head)->parking.since,
                                queue->leftover_flushed)
               : SCHEDQ_NO_DEADLINE;
}

static int64_t
gated_due(const struct mutex_queue *queue)
{
    const struct rules *rules = &queue->base.rules;

    if (queue->gated.head == NO_ENTRY) {
        return SCHEDQ_NO_DEADLINE;
    }
    if (rules->leftover_is_event) {
        int64_t due = leftover_due(rules, queue->gated_oldest);
        int64_t again = leftover_again(rules, queue->leftover_flushed);

        return due > again ? due : again;
    }
    return rules->gates_see_leftover
               ? leftover_due(rules, pod_at(queue, queue->gated.head)->parking.since)
               : SCHEDQ_NO_DEADLINE;
}

int64_t
mutex_deadline_next(struct mutex_queue *queue)
{
    const struct backoff_rules *rules = &queue->base.rules.backoff;
    int64_t next = SCHEDQ_NO_DEADLINE;

    if (queue->classes.doubted && mutex_class_is_due(queue)) {
        return TIME_AT_ONCE;
    }
    if (queue->backoff.count > 0) {
        next = earlier(next, backoff_due(rules, order_expiry(heap_best(&queue->backoff))));
    }
    if (queue->error_backoff.count > 0) {
        next = earlier(next, backoff_due(rules, order_expiry(heap_best(&queue->error_backoff))));
    }
    if (queue->keeps.until.count > 0) {
        next = earlier(next, order_expiry(heap_best(&queue->keeps.until)));
    }
    if (queue->base.rules.host) {
        return next;
    }
    return earlier(next, earlier(parked_due(queue), gated_due(queue)));
}
