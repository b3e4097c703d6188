/*
 * The bins of backoff.h, which has the essay: when their words are marked, ordering, progress.
 * Nothing here waits or loops over a CAS; a bin's refs and its word are changed by bin.c alone.
 */
#include "lockfree/moves/backoff.h"

#include "policy/backoff.h"

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
            struct bin *bin = backoff_bin_at(queue, kind, i);

            if (bin != NULL) {
                bin_close(bin, &queue->base.memory);
                memory_free(&queue->base.memory, MEMORY_QUEUES, bin, sizeof *bin);
            }
        }
    }
}

struct bin *
backoff_make_bin(struct queue *queue, enum place place, uint32_t class)
{
    uint32_t kind = backoff_kind(place);
    struct bin *bin = backoff_bin_at(queue, kind, class);

    if (bin == NULL) {
        struct bin *own = bin_make(queue, kind);

        if (own == NULL) {
            return NULL;
        }
        bin = ptr_cas_value(&queue->backoff.bins[kind][class], NULL, own); /* backoff_make_bin:A */
        if (bin != NULL) {
            memory_free(&queue->base.memory, MEMORY_QUEUES, own, sizeof *own);
        } else {
            bin = own;
        }
    }
    /* by each thread that will publish there: the bin's maker may have stopped */
    (void)u64_or(&queue->backoff.used, backoff_bit(kind, class)); /* backoff_make_bin:B */
    return bin;
}

uint32_t
backoff_used(const struct queue *queue, enum place place)
{
    /* backoff_used:A reads from backoff_make_bin:B */
    return (uint32_t)(u64_load_acquire(&queue->backoff.used) >>
                      backoff_kind(place) * BACKOFF_CLASSES);
}

struct bin *
backoff_next_used(const struct queue *queue, enum place place, uint32_t *used)
{
    uint32_t i = (uint32_t)__builtin_ctz(*used);

    *used &= *used - 1;
    return backoff_bin_at(queue, backoff_kind(place), i);
}

void
backoff_tend(struct queue *queue, struct epoch_record *epoch, uint32_t worker)
{
    for (uint32_t i = 0; i < BACKOFF_CLASSES * BACKOFF_KINDS; i++) {
        struct bin *bin = backoff_bin_at(queue, i % BACKOFF_KINDS, i / BACKOFF_KINDS);

        if (bin != NULL) {
            bin_tend(bin, &queue->base.memory, epoch, worker);
        }
    }
}
