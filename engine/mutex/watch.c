/*
 * The pods that a watchdog looks at, with the lock held for a batch of records at a time.
 *
 * The lock's holder may be what is wrong: so a watchdog waits for it only for so long, and lets its
 * caller go on.
 */
#include "mutex/watch.h"

#define BATCH_RECORDS 256
#define PATIENCE_NS 100000000

/* A member that a gate refuses stays aside: the record of its group is gated, and is no pod. */
static schedq_place_t
place_of(const struct entry *entry)
{
    bool gated = entry->place == SCHEDQ_ASIDE && entry->gate != 0;

    return gated ? SCHEDQ_GATED : (schedq_place_t)entry->place;
}

/* With the lock held. */
COLD static void
see(const struct mutex_queue *queue, uint32_t index, const struct watching *watching)
{
    const struct entry *entry = pod_at(queue, index);
    const struct watched pod = {.pod = entry_handle(entry, index),
                                .place = place_of(entry),
                                .profile = entry->profile,
                                .gate = entry->gate,
                                .rejectors = entry->unschedulable | entry->pending,
                                .pop_order =
                                    entry->place == SCHEDQ_INFLIGHT ? entry->flight.pop_order : 0,
                                .timestamp = entry->timestamp,
                                .freed_by = entry_freed(entry)};

    if (pod.place != SCHEDQ_NOWHERE && !entry_is_group(entry) &&
        watching_wants(pod.place, pod.freed_by)) {
        watching->each(watching->ctx, &pod);
    }
}

COLD schedq_status_t
mutex_watch(schedq_worker_t *worker, struct watching *watching)
{
    struct mutex_queue *queue = queue_of(worker);
    bool more = true;

    for (uint32_t next = 0; more;) {
        if (!queue_try_lock_for(queue, PATIENCE_NS)) {
            return SCHEDQ_TIMEDOUT;
        }
        watching->popped = next == 0 ? queue->pop_orders : watching->popped;
        for (uint32_t end = next + BATCH_RECORDS; more && next < end; next++) {
            more = next < entries_end(&queue->entries);
            if (more && queue->entries.pages[next / PAGE_ENTRIES] != NULL) {
                see(queue, next, watching);
            }
        }
        queue_unlock(queue);
    }
    return SCHEDQ_OK;
}
