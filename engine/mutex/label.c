/*
 * All pods of a label: their handles are collected with the lock, and what is done to each of them
 * is a call of its own. Room for the handles is made with the lock, too: the caller's allocator is
 * for one thread at a time.
 */
#include "mutex/label.h"

struct handles {
    schedq_pod_t *pods;
    size_t count, room;
};

#define FEW 16

__attribute__((noinline, cold)) static void
put_last_at(struct handles *handles, size_t at)
{
    const schedq_pod_t last = handles->pods[handles->count - 1];

    handles->pods[handles->count - 1] = handles->pods[at];
    handles->pods[at] = last;
}

/*
 * Those that have it now; as many as there is room for. Those that are kept back come first, so
 * that none of them gets its class's turn when the scout goes.
 */
static void
collect(struct mutex_queue *queue, uint64_t label, struct handles *handles)
{
    size_t first = 0;

    handles->count = 0;
    const bool any_kept_back = queue->base.words.held != 0;

    for (uint32_t i = mutex_labels_first(&queue->labels, label); i != NO_ENTRY;
         i = mutex_labels_next(&queue->labels, i)) {
        const struct entry *entry = pod_at(queue, i);

        if ((entry->marks & MARK_DELETED) == 0 && handles->count++ < handles->room) {
            handles->pods[handles->count - 1] = entry_handle(entry, i);
            if (any_kept_back && entry->place == SCHEDQ_HELD) {
                put_last_at(handles, first++);
            }
        }
    }
}

/* Collects more than few, in memory of their own. False: there is none. */
static bool
collect_many(struct mutex_queue *queue, uint64_t label, struct handles *handles)
{
    handles->room = handles->count;
    handles->pods = memory_alloc(&queue->base.memory, MEMORY_OTHER,
                                 handles->room * sizeof *handles->pods, CACHE_LINE);
    if (handles->pods == NULL) {
        return false;
    }
    collect(queue, label, handles);
    return true;
}

static void
give_many(struct mutex_queue *queue, const struct handles *handles)
{
    queue_lock(queue);
    memory_free(&queue->base.memory, MEMORY_OTHER, handles->pods,
                handles->room * sizeof *handles->pods);
    queue_unlock(queue);
}

schedq_status_t
mutex_labelled(schedq_worker_t *worker, uint64_t label, label_fn *each, void *ctx)
{
    struct mutex_queue *queue = queue_of(worker);
    schedq_pod_t few[FEW];
    struct handles handles = {.pods = few, .room = FEW};
    schedq_status_t status = SCHEDQ_OK;

    queue_lock(queue);
    collect(queue, label, &handles);
    if (handles.count > FEW && !collect_many(queue, label, &handles)) {
        status = SCHEDQ_NOMEM;
    }
    queue_unlock(queue);
    for (size_t i = 0; status == SCHEDQ_OK && i < handles.count; i++) {
        status = each(ctx, handles.pods[i]);
    }
    if (handles.room > FEW && handles.pods != NULL) {
        give_many(queue, &handles);
    }
    return status;
}
