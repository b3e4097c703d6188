/*
 * Taking references of objects.h, which says ordering and progress: pin, full fence, look again; a
 * further round is an update.
 */
#include "lockfree/moves/objects.h"

/*
 * Between reading the description and retaining its object an update may replace it, and release
 * the object for the last time. If the object is pinned, and the word still names its description
 * afterwards, that release will see the pin (hazard.h).
 */
bool
objects_take(struct worker *worker, struct entry *entry, uint64_t state,
             struct description *description, uint64_t *desc)
{
    const struct queue *queue = queue_of(worker);

    /* Ends: each further round means that an update came in between. */
    for (;;) {
        *desc = entry_description(&queue->entries, entry, description);

        if (!objects_counted(queue)) {
            return ((entry_state(entry) ^ state) & ~STATE_DETAIL_MASK) == 0;
        }
        hazard_pin(worker->hazard, description->object); /* objects_take:A, a full fence */
        bool same = ((entry_state(entry) ^ state) & ~STATE_DETAIL_MASK) == 0;
        /* objects_take:B; false: an update was first */
        bool newest = u64_load_acquire(&entry->word.high) == *desc;

        if (same && newest) {
            object_retain(queue, description->object);
        }
        hazard_unpin(worker->hazard);
        if (!same || newest) {
            return same;
        }
    }
}
