/* Lots and ages of waiting.h. */
#include "lockfree/moves/waiting.h"

#include "lockfree/calls/class.h"
#include "policy/leftover.h"

static const enum place aged[] = {PLACE_PARKED, PLACE_GATED};

void
waiting_open(struct queue *queue)
{
    struct waiting *waiting = &queue->waiting;
    const enum place backoffs[BACKOFF_KINDS] = {PLACE_BACKOFF, PLACE_ERROR_BACKOFF};
    uint32_t workers = queue->base.config.max_workers;

    for (uint32_t i = 0; i < 2; i++) {
        bin_open(&waiting->ages[i],
                 &(struct residence){.entries = &queue->entries, .place = aged[i]});
    }
    bin_open(&waiting->held, &(struct residence){.entries = &queue->entries, .place = PLACE_HELD});
    for (uint32_t i = 0; i < BACKOFF_KINDS; i++) {
        lot_open(&waiting->backing_off[i], &queue->entries, backoffs[i], workers);
    }
    lots_open(&waiting->lots, &queue->base.memory, &queue->entries, queue->base.config.max_lots,
              workers);
}

void
waiting_close(struct queue *queue)
{
    struct memory *memory = &queue->base.memory;

    for (uint32_t i = 0; i < 2; i++) {
        bin_close(&queue->waiting.ages[i], memory);
    }
    bin_close(&queue->waiting.held, memory);
    classes_close(queue);
    for (uint32_t i = 0; i < BACKOFF_KINDS; i++) {
        lot_close(&queue->waiting.backing_off[i], memory);
    }
    lots_close(&queue->waiting.lots);
}

struct lot *
waiting_get_lot(struct worker *worker, const struct lot_key *key, const atomic_ptr **cell)
{
    const struct bin_caller caller = bin_caller(worker);
    struct lot *lot = lots_get(&queue_of(worker)->waiting.lots, &caller, key);

    *cell = lot_place(lot);
    return lot;
}

struct timed
waiting_first_in(struct queue *queue, struct bin *bin)
{
    struct bin_head head;

    return bin_first_live(bin, &queue->runs, &head)
               ? (struct timed){.at = bin_head_key(&head), .ref = bin_head_ref(&head)}
               : (struct timed){.ref = 0};
}

struct timed
waiting_oldest(struct queue *queue, enum place place)
{
    struct bin *ages = waiting_may_be(queue, place) ? waiting_ages(queue, place) : NULL;

    return ages != NULL ? waiting_first_in(queue, ages) : (struct timed){.ref = 0};
}

struct timed
waiting_held_first(struct queue *queue)
{
    return waiting_may_be(queue, PLACE_HELD) ? waiting_first_in(queue, &queue->waiting.held)
                                             : (struct timed){.ref = 0};
}

struct timed
waiting_next(const struct queue *queue, const struct timed *parked, const struct timed *gated)
{
    const struct rules *rules = &queue->base.rules;
    int64_t flushed = time_load(&queue->leftover_flushed); /* relaxed: an old one says too early */
    struct timed next = {.at = SCHEDQ_NO_DEADLINE};

    if (parked->ref != 0) {
        next = (struct timed){.at = leftover_tried(rules, parked->at, flushed), .ref = parked->ref};
    }
    if (gated->ref != 0) {
        int64_t due = leftover_due(rules, gated->at);
        int64_t again = leftover_again(rules, flushed);

        /* it is due once in each flush, and stays gated */
        due = rules->leftover_is_event && due < again ? again : due;
        if (due < next.at) {
            next = (struct timed){.at = due, .ref = gated->ref};
        }
    }
    return next;
}

struct timed
waiting_first(struct queue *queue)
{
    const struct timed parked = waiting_oldest(queue, PLACE_PARKED);
    const struct timed gated = waiting_oldest(queue, PLACE_GATED);

    return waiting_next(queue, &parked, &gated);
}

void
waiting_tend(struct queue *queue, struct epoch_record *epoch, uint32_t worker)
{
    struct memory *memory = &queue->base.memory;

    for (uint32_t i = 0; i < 2; i++) {
        bin_tend(&queue->waiting.ages[i], memory, epoch, worker);
    }
    bin_tend(&queue->waiting.held, memory, epoch, worker);
    for (uint32_t i = 0; i < BACKOFF_KINDS; i++) {
        lot_tend(&queue->waiting.backing_off[i], memory, epoch, worker);
    }
    lots_tend(&queue->waiting.lots, memory, epoch, worker);
    classes_tend(queue, epoch, worker);
    if (queue_has_groups(queue)) {
        bin_tend(&queue_groups(queue)->ready, memory, epoch, worker);
    }
}
