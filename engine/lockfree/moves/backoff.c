/*
 * The bins of backoff.h, which has the essay: when their words are marked, ordering, progress.
 * Nothing here waits or loops over a CAS; a bin's refs and its word are changed by bin.c alone.
 */
#include "lockfree/moves/backoff.h"

#include "policy/backoff.h"

static uint32_t
kind_of(enum place place)
{
    return place == PLACE_ERROR_BACKOFF ? 1 : 0;
}

/* NULL: no pod ever waited so. */
static struct bin *
bin_at(const struct queue *queue, uint32_t kind, uint32_t class)
{
    return ptr_load_acquire(&queue->backoff.bins[kind][class]); /* of backoff_bin:A */
}

static struct bin *
bin_make(struct queue *queue, uint32_t kind)
{
    struct bin *bin = memory_alloc(&queue->base.memory, MEMORY_QUEUES, sizeof *bin, CACHE_LINE);

    if (bin != NULL) {
        bin_open(bin,
                 &(struct residence){.entries = &queue->entries,
                                     .place = kind == 0 ? PLACE_BACKOFF : PLACE_ERROR_BACKOFF,
                                     .ties = queue->base.rules.fifo ? TIES_BY_KEY : TIES_BY_RANK});
    }
    return bin;
}

void
backoff_close(struct queue *queue)
{
    for (uint32_t i = 0; i < BACKOFF_CLASSES; i++) {
        for (uint32_t kind = 0; kind < BACKOFF_KINDS; kind++) {
            struct bin *bin = bin_at(queue, kind, i);

            if (bin != NULL) {
                bin_close(bin, &queue->base.memory);
                memory_free(&queue->base.memory, MEMORY_QUEUES, bin, sizeof *bin);
            }
        }
    }
}

enum place
backoff_place(const struct queue *queue, uint64_t rejectors)
{
    return rejectors == 0 && queue->base.rules.errors_apart ? PLACE_ERROR_BACKOFF : PLACE_BACKOFF;
}

/*
 * By the doublings of the first wait; the longest has a class of its own, because it need not be a
 * doubling.
 */
static uint32_t
duration_class(const struct backoff_rules *rules, int64_t duration)
{
    uint64_t times = (uint64_t)duration / (uint64_t)rules->initial_ns;

    if (duration >= rules->max_ns || times == 0) {
        return BACKOFF_CLASSES - 1;
    }
    uint32_t doublings = 63 - (uint32_t)__builtin_clzll(times);

    return doublings < BACKOFF_CLASSES - 1 ? doublings : BACKOFF_CLASSES - 2;
}

/* A bin is noted by each thread that will publish there: its maker may have stopped. */
static void
note_use(struct queue *queue, uint32_t kind, uint32_t class)
{
    uint64_t bit = UINT64_C(1) << (kind * BACKOFF_CLASSES + class);

    if ((u64_load(&queue->backoff.used) & bit) == 0) {
        (void)u64_or(&queue->backoff.used, bit); /* note_use:A, read by backoff_used:A */
    }
}

struct bin *
backoff_bin(struct queue *queue, enum place place, const schedq_history_t *history)
{
    const struct backoff_rules *rules = &queue->base.rules.backoff;
    const struct backoff_counters counters = backoff_counters_of(history);
    uint32_t kind = kind_of(place),
             class = duration_class(rules, backoff_duration(rules, &counters));
    struct bin *bin = bin_at(queue, kind, class);

    if (bin == NULL) {
        struct bin *own = bin_make(queue, kind);

        if (own == NULL) {
            return NULL;
        }
        bin = ptr_cas_value(&queue->backoff.bins[kind][class], NULL, own); /* backoff_bin:A */
        if (bin != NULL) {
            memory_free(&queue->base.memory, MEMORY_QUEUES, own, sizeof *own);
        } else {
            bin = own;
        }
    }
    note_use(queue, kind, class);
    return bin;
}

uint32_t
backoff_used(const struct queue *queue, enum place place)
{
    /* backoff_used:A reads from note_use:A */
    return (uint32_t)(u64_load_acquire(&queue->backoff.used) >> kind_of(place) * BACKOFF_CLASSES);
}

struct bin *
backoff_next_used(const struct queue *queue, enum place place, uint32_t *used)
{
    uint32_t i = (uint32_t)__builtin_ctz(*used);

    *used &= *used - 1;
    return bin_at(queue, kind_of(place), i);
}

static void
earliest(struct queue *queue, enum place place, struct timed *first)
{
    for (uint32_t used = backoff_used(queue, place); used != 0;) {
        struct bin *bin = backoff_next_used(queue, place, &used);
        struct bin_head head;

        if (bin_first(bin, &queue->runs, &head)) {
            if (bin_head_key(&head) < first->at) {
                *first = (struct timed){.at = bin_head_key(&head), .ref = bin_head_ref(&head)};
            }
        }
    }
}

struct timed
backoff_next(struct queue *queue)
{
    struct timed next = {.at = SCHEDQ_NO_DEADLINE};

    earliest(queue, PLACE_BACKOFF, &next);
    earliest(queue, PLACE_ERROR_BACKOFF, &next);
    if (next.at != SCHEDQ_NO_DEADLINE) {
        next.at = backoff_due(&queue->base.rules.backoff, next.at);
    }
    return next;
}

void
backoff_resume(struct queue *queue, uint32_t worker)
{
    for (uint32_t i = 0; i < BACKOFF_CLASSES; i++) {
        for (uint32_t kind = 0; kind < BACKOFF_KINDS; kind++) {
            struct bin *bin = bin_at(queue, kind, i);

            if (bin != NULL) {
                bin_resume(bin, worker);
            }
        }
    }
}

void
backoff_shrink(struct queue *queue, struct epoch_record *epoch, uint32_t worker)
{
    for (uint32_t i = 0; i < BACKOFF_CLASSES; i++) {
        for (uint32_t kind = 0; kind < BACKOFF_KINDS; kind++) {
            struct bin *bin = bin_at(queue, kind, i);

            if (bin != NULL) {
                bin_shrink(bin, &queue->base.memory, epoch, worker);
            }
        }
    }
}
