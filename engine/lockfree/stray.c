/* Notes and gathering of stray.h. */
#include "lockfree/stray.h"

#include "lockfree/publish.h"
#include "lockfree/report.h"

#define NOTES (STRAY_UNMOVED | STRAY_UNPUBLISHED)

/* The record's pod as the index has it: a record is filled before its pod exists. */
static bool
index_knows(struct worker *worker, uint32_t record, const struct view *view)
{
    struct queue *queue = queue_of(worker);
    const struct index_caller caller = index_caller(worker);
    struct index_key key = {.name = worker->name, .length = view->name_length};
    uint64_t state;

    names_copy(&queue->names, view->name, worker->name, view->name_length);
    if (entry_state(view->entry) != view->state) {
        return false; /* changed: found by who changed it */
    }
    key.hash = index_hash(&queue->index, key.name, key.length);
    return index_find(&queue->index, &caller, &key, &state) == record &&
           u64_load_acquire(&view->entry->life) == view->life;
}

/* A pod that is published is published twice by this, which is harmless. */
static bool
bring_back(struct worker *worker, uint32_t record, uint64_t notes)
{
    struct view view;

    if (!report_any(queue_of(worker), record, &view) || state_place(view.state) != PLACE_ACTIVE ||
        !index_knows(worker, record, &view)) {
        return true;
    }
    return ((notes & STRAY_UNPUBLISHED) == 0 || publish_again(worker, view.entry, record, view.state)) &&
           publish_follow(worker, record, view.life);
}

/*
 * The note goes when all is done, and only if nobody left another meanwhile: who stops in here takes no note with him, and who
 * comes while another is at it does the same work.
 */
bool
stray_gather(struct worker *worker)
{
    struct queue *queue = queue_of(worker);
    uint64_t notes = u64_load_acquire(&queue->strays);
    bool all = true;

    if ((notes & NOTES) == 0) {
        return false;
    }
    for (uint32_t i = 0; i < slab_end(&queue->entries.records); i++) {
        all = bring_back(worker, i, notes) && all;
    }
    if (all) {
        (void)u64_cas(&queue->strays, notes, notes & ~(uint64_t)NOTES); /* stray_gather:A */
    }
    return true;
}
