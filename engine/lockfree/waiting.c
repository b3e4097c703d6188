/* Lots and ages of waiting.h. */
#include "lockfree/waiting.h"

#include "policy/leftover.h"

static const enum place aged[] = {PLACE_PARKED, PLACE_GATED};

bool
waiting_open(struct queue *queue)
{
    struct waiting *waiting = &queue->waiting;
    const enum place backoffs[BACKOFF_KINDS] = {PLACE_BACKOFF, PLACE_ERROR_BACKOFF};

    for (uint32_t i = 0; i < 2; i++) {
        bin_open(&waiting->ages[i], &waiting->words[i],
                 &(struct residence){.entries = &queue->entries, .place = aged[i], .reorder = &queue->reorder});
    }
    for (uint32_t i = 0; i < BACKOFF_KINDS; i++) {
        lot_open(&waiting->backing_off[i], &queue->entries, backoffs[i]);
    }
    return lots_open(&waiting->lots, &queue->base.memory, &queue->entries, queue->base.config.max_lots);
}

void
waiting_close(struct queue *queue)
{
    struct memory *memory = &queue->base.memory;

    for (uint32_t i = 0; i < 2; i++) {
        bin_close(&queue->waiting.ages[i], memory);
    }
    for (uint32_t i = 0; i < BACKOFF_KINDS; i++) {
        lot_close(&queue->waiting.backing_off[i], memory);
    }
    lots_close(&queue->waiting.lots);
}

struct lot *
waiting_lot(struct queue *queue, uint8_t profile, uint64_t unschedulable, uint64_t pending, uint8_t gate)
{
    const struct lot_key key = {.unschedulable = unschedulable, .pending = pending, .profile = profile, .gate = gate};

    return lots_get(&queue->waiting.lots, &key);
}

struct lot *
waiting_backoff_lot(struct queue *queue, enum place place)
{
    return queue->base.rules.host ? &queue->waiting.backing_off[place == PLACE_ERROR_BACKOFF ? 1 : 0] : NULL;
}

struct bin *
waiting_ages(struct queue *queue, enum place place)
{
    const struct rules *rules = &queue->base.rules;
    bool timed = !rules->host && (place == PLACE_PARKED || rules->leftover_is_event || rules->gates_see_leftover);

    return timed ? &queue->waiting.ages[place == PLACE_PARKED ? 0 : 1] : NULL;
}

static int64_t
earliest(struct queue *queue, enum place place)
{
    struct bin *bin = waiting_ages(queue, place);
    struct bin_head head;

    if (bin == NULL) {
        return SCHEDQ_NO_DEADLINE;
    }
    bin_pass(bin, &queue->runs);
    return bin_first(bin, &queue->runs, &head) ? leftover_due(&queue->base.rules, bin_head_key(&head))
                                               : SCHEDQ_NO_DEADLINE;
}

/* Kube's flush of gated pods that may not leave is repeated at its own pace (serve.c). */
int64_t
waiting_next(struct queue *queue)
{
    int64_t parked = earliest(queue, PLACE_PARKED);
    int64_t gated = earliest(queue, PLACE_GATED);
    int64_t again = time_load(&queue->leftover_again); /* relaxed: advice (serve.c) */

    if (queue->base.rules.leftover_is_event && gated != SCHEDQ_NO_DEADLINE && gated < again) {
        gated = again;
    }
    return parked < gated ? parked : gated;
}

void
waiting_resume(struct queue *queue, uint32_t worker)
{
    for (uint32_t i = 0; i < 2; i++) {
        bin_resume(&queue->waiting.ages[i], worker);
    }
    for (uint32_t i = 0; i < BACKOFF_KINDS; i++) {
        lot_resume(&queue->waiting.backing_off[i], worker);
    }
    lots_resume(&queue->waiting.lots, worker);
}

void
waiting_shrink(struct queue *queue, struct epoch_record *epoch, uint32_t worker)
{
    struct memory *memory = &queue->base.memory;

    for (uint32_t i = 0; i < 2; i++) {
        bin_shrink(&queue->waiting.ages[i], memory, epoch, worker);
    }
    for (uint32_t i = 0; i < BACKOFF_KINDS; i++) {
        lot_shrink(&queue->waiting.backing_off[i], memory, epoch, worker);
    }
    lots_shrink(&queue->waiting.lots, memory, epoch, worker);
}
