/* The slots of workers.h. */
#include "mutex/workers.h"

#include "mutex/sleep.h"
#include "platform/words.h"

/* With the first one comes the room for events: a queue without workers is small. */
static bool
worker_make(struct mutex_queue *queue, uint32_t slot)
{
    if (!mutex_event_log_make(&queue->log)) {
        return false;
    }
    schedq_worker_t *worker =
        memory_alloc(&queue->base.memory, MEMORY_OTHER, sizeof *worker, CACHE_LINE);

    if (worker == NULL) {
        return false;
    }
    worker_make_base(worker, &queue->base, slot);
    word_store(&queue->workers[slot], worker); /* a watchdog reads it without the lock */
    return true;
}

bool
mutex_workers_reserve(struct mutex_queue *queue, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (queue->workers[i] == NULL && !worker_make(queue, i)) {
            return false;
        }
    }
    return true;
}

void
mutex_workers_shut(struct mutex_queue *queue)
{
    for (uint32_t i = 0; i < WORKERS_MAX; i++) {
        memory_free(&queue->base.memory, MEMORY_OTHER, queue->workers[i],
                    sizeof *queue->workers[i]);
    }
}

static bool
is_registered(const struct mutex_queue *queue, uint32_t slot)
{
    return (queue->worker_slots[slot / 64] >> slot % 64 & 1) != 0;
}

schedq_status_t
mutex_workers_add(struct mutex_queue *queue, schedq_worker_t **worker)
{
    uint32_t slot = 0;

    if (queue->worker_count == queue->base.config.max_workers) {
        return SCHEDQ_FULL;
    }
    while (is_registered(queue, slot)) {
        slot++;
    }
    if (queue->workers[slot] == NULL && !worker_make(queue, slot)) {
        return SCHEDQ_NOMEM;
    }
    queue->worker_slots[slot / 64] |= UINT64_C(1) << slot % 64;
    queue->worker_count++;
    *worker = queue->workers[slot];
    (*worker)->words[0] = '\0';
    (*worker)->canceled = 0;
    worker_open(*worker);
    return SCHEDQ_OK;
}

/*
 * Its memory stays, and stays busy: a call with a worker that was unregistered is refused, not a
 * use after free.
 */
void
mutex_workers_remove(struct mutex_queue *queue, schedq_worker_t *worker)
{
    queue->worker_slots[worker->number / 64] &= ~(UINT64_C(1) << worker->number % 64);
    queue->worker_count--;
}

schedq_status_t
mutex_worker_register(schedq_t *base, schedq_worker_t **worker)
{
    struct mutex_queue *queue = mutex_queue(base);

    queue_lock(queue);
    schedq_status_t status = mutex_workers_add(queue, worker);
    queue_unlock(queue);
    return status;
}

void
mutex_worker_unregister(schedq_worker_t *worker)
{
    struct mutex_queue *queue = queue_of(worker);

    queue_lock(queue);
    mutex_workers_remove(queue, worker);
    queue_unlock(queue);
}

schedq_status_t
mutex_worker_adopt(schedq_t *base, schedq_worker_t *abandoned)
{
    struct mutex_queue *queue = mutex_queue(base);
    schedq_status_t status = SCHEDQ_INVALID;

    queue_lock(queue);
    for (uint32_t i = 0; i < WORKERS_MAX; i++) {
        if (is_registered(queue, i) && queue->workers[i] == abandoned &&
            abandoned != queue->timer.worker) {
            sleep_ended(queue, abandoned);
            worker_open(abandoned);
            status = SCHEDQ_OK;
        }
    }
    queue_unlock(queue);
    return status;
}

schedq_worker_t *
mutex_worker_at(schedq_t *base, uint32_t number)
{
    return word_load(&mutex_queue(base)->workers[number]);
}
