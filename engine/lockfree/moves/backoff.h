/*
 * Pods that back off. Each length of the wait has a bin; pods that failed with an error have bins
 * of their own.
 *
 * Pods that wait equally long end their wait in the order in which they failed, so a worker's lane
 * takes them in the order of their expiries. A pod that comes in another order (an event let it out
 * of its lot) goes into the bin as a run. A bin's key is the expiry, as expiries are compared: with
 * windows, in whole seconds. Equal ones are ordered by rank and order key, because pop may take
 * from here.
 *
 * MEMORY. A bin is made when the first pod comes that waits so long, and stays.
 *
 * USED. One word says of each bin whether a pod may ever have been put there: a bit is set by the
 * thread that is about to publish in the bin, and never taken away. Pops, movers of due pods and
 * planners of the next deadline pass over the others. So the bit is set before the ref is
 * published: also before the pod is switched, before its add returns, and before the deadline is
 * lowered for it.
 *
 * ORDERING
 *   backoff_make_bin:A, B -> backoff_used:A
 *       a reader that finds the bit finds the bin
 *   backoff_make_bin:B ; deadline_lower:A | deadline_begin:A, backoff_used:A
 *       a planner finds the bit, or deadline_lower:A finds its marker, or what it put in place of
 *       that, and lowers the deadline
 *   backoff_make_bin:A -> backoff_bin_at's acquire load
 *       a bin as it was opened
 *
 * PROGRESS. Nothing here is retried; the bins' own is in bin.h. A thread that stops before its ref
 * leaves its pod where it was; one that it was adding is settled by the next call that meets its
 * name (add.c).
 *
 * EVIDENCE. tests/model: tick, deadline; stress/explore: tick_pop, tick_update, tick_fail,
 * update_backoff, help_backoff; tests/unit/test_backoff.c, test_backoff_order.c, test_tick.c.
 */
#ifndef SCHEDQ_LOCKFREE_BACKOFF_H
#define SCHEDQ_LOCKFREE_BACKOFF_H

#include "lockfree/queue.h"
#include "policy/backoff.h"

/** When no other thread uses it. */
void backoff_close(struct queue *queue);

static inline struct backoff_counters
backoff_counters_of(const schedq_history_t *history)
{
    return (struct backoff_counters){.attempts = history->attempts,
                                     .rejections = history->rejections,
                                     .errors = history->errors};
}

/** The expiry of a pod with this history; BACKOFF_NONE: it does not back off. */
STRAIGHT int64_t
backoff_expiry_of(const struct queue *queue, const schedq_history_t *history)
{
    const struct backoff_counters counters = backoff_counters_of(history);

    return backoff_expiry(&queue->base.rules.backoff, &counters, history->timestamp_ns);
}

/** BACKOFF, or ERROR_BACKOFF for a pod without rejectors where errors are kept apart. */
static inline enum place
backoff_place(const struct queue *queue, uint64_t rejectors)
{
    return rejectors == 0 && queue->base.rules.errors_apart ? PLACE_ERROR_BACKOFF : PLACE_BACKOFF;
}

static inline uint32_t
backoff_kind(enum place place)
{
    return place == PLACE_ERROR_BACKOFF ? 1 : 0;
}

/** The bin's bit in `used`. */
static inline uint64_t
backoff_bit(uint32_t kind, uint32_t class)
{
    return UINT64_C(1) << (kind * BACKOFF_CLASSES + class);
}

/** NULL: it was not made, because no pod ever waited that long. */
static inline struct bin *
backoff_bin_at(const struct queue *queue, uint32_t kind, uint32_t class)
{
    return ptr_load_acquire(&queue->backoff.bins[kind][class]); /* of backoff_make_bin:A */
}

/** backoff_bin for a bin that is not made yet, or not noted as used. */
struct bin *backoff_make_bin(struct queue *queue, enum place place, uint32_t class);

/**
 * The bin of pods that back off for so long, made if need be, and noted as used. NULL: no memory.
 *
 * Bins go by the number of doublings of the first wait. The longest wait has a bin of its own,
 * because it need not be a doubling.
 */
STRAIGHT struct bin *
backoff_bin(struct queue *queue, enum place place, uint32_t failures, int64_t duration)
{
    uint32_t kind = backoff_kind(place), class = BACKOFF_CLASSES - 1;

    if (duration < queue->base.rules.backoff.max_ns && failures > 0) {
        class = failures < BACKOFF_CLASSES ? failures - 1 : BACKOFF_CLASSES - 2;
    }
    struct bin *bin = backoff_bin_at(queue, kind, class);

    return bin != NULL && (u64_load(&queue->backoff.used) & backoff_bit(kind, class)) != 0
               ? bin
               : backoff_make_bin(queue, place, class);
}

/** The bins of a place where pods may be, as bits. */
uint32_t backoff_used(const struct queue *queue, enum place place);

/** The bin of the lowest of these bits, which is taken away. */
struct bin *backoff_next_used(const struct queue *queue, enum place place, uint32_t *used);

/** The lanes of a worker's slot: as bank_tend. */
void backoff_tend(struct queue *queue, struct epoch_record *epoch, uint32_t worker);

#endif
