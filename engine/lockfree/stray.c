/* Gathering of stray.h. */
#include "lockfree/stray.h"

#include "lockfree/publish.h"

/* A pod that is active and published is published twice by this, which is harmless. */
static bool
bring_back(struct worker *worker, uint32_t record, uint32_t notes)
{
    struct queue *queue = queue_of(worker);
    struct entry *entry = entry_at(&queue->entries, record);
    uint64_t state = entry != NULL ? entry_state(entry) : 0;

    if (state_place(state) != PLACE_ACTIVE) {
        return true;
    }
    uint64_t life = u64_load_acquire(&entry->life);

    if (entry_state(entry) != state) {
        return true; /* found by somebody */
    }
    return ((notes & STRAY_UNPUBLISHED) == 0 || publish_again(worker, entry, record, state)) &&
           publish_follow(worker, record, life);
}

bool
stray_gather(struct worker *worker)
{
    struct queue *queue = queue_of(worker);
    uint32_t notes = u32_load(&queue->strays);
    bool all = true;

    if (notes == 0) {
        return false;
    }
    /* The note first: one that comes from now on is of a pod that this pass may have passed. */
    notes = u32_exchange(&queue->strays, 0); /* stray_gather:A */
    for (uint32_t i = 0; i < slab_end(&queue->entries.records) && all; i++) {
        all = bring_back(worker, i, notes);
    }
    if (!all) {
        u32_or(&queue->strays, notes);
    }
    return all;
}
