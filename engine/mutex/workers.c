/* The slots of workers.h. */
#include "mutex/workers.h"

#include "platform/words.h"

schedq_status_t
workers_add(struct mutex_queue *queue, schedq_worker_t **worker)
{
    uint32_t slot = 0;

    if (queue->worker_count == queue->base.config.max_workers) {
        return SCHEDQ_FULL;
    }
    while (queue->workers[slot] != NULL) {
        slot++;
    }
    *worker = memory_alloc(&queue->base.memory, MEMORY_OTHER, sizeof **worker, CACHE_LINE);
    if (*worker == NULL) {
        return SCHEDQ_NOMEM;
    }
    (*worker)->queue = &queue->base;
    (*worker)->number = slot;
    queue->workers[slot] = *worker;
    queue->worker_count++;
    return SCHEDQ_OK;
}

void
workers_remove(struct mutex_queue *queue, schedq_worker_t *worker)
{
    queue->workers[worker->number] = NULL;
    queue->worker_count--;
    memory_free(&queue->base.memory, MEMORY_OTHER, worker, sizeof *worker);
}

schedq_status_t
mutex_worker_register(schedq_t *base, schedq_worker_t **worker)
{
    struct mutex_queue *queue = mutex_queue(base);

    queue_lock(queue);
    schedq_status_t status = workers_add(queue, worker);
    queue_unlock(queue);
    return status;
}

void
mutex_worker_unregister(schedq_worker_t *worker)
{
    struct mutex_queue *queue = queue_of(worker);

    queue_lock(queue);
    workers_remove(queue, worker);
    queue_unlock(queue);
}

schedq_status_t
mutex_worker_adopt(schedq_t *base, schedq_worker_t *abandoned)
{
    struct mutex_queue *queue = mutex_queue(base);
    schedq_status_t status = SCHEDQ_INVALID;

    queue_lock(queue);
    for (uint32_t i = 0; i < WORKERS_MAX; i++) {
        if (queue->workers[i] == abandoned && abandoned != NULL && abandoned != queue->timer.worker) {
            word_give_back(&abandoned->busy);
            status = SCHEDQ_OK;
        }
    }
    queue_unlock(queue);
    return status;
}
