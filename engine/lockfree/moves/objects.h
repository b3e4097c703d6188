/*
 * References to callers' objects, where config.objects is COUNTED; else nothing happens.
 *
 * The queue has one reference for each description it stores, the holder of a pod in flight has one
 * more.
 *
 * ORDERING, PROGRESS. objects_take pins, a full fence, then reads the words again; a thread that
 * takes a description out does so by a CAS, then scans the pins (hazard.c). Lock-free: each further
 * round is an update. A thread that stops with a pin or a reference keeps that object alive.
 *
 * EVIDENCE. tests/model: event_log (the pins); stress/explore: counted_update, counted_delete,
 * event_counted, upkeep_destroy; tests/unit/test_objects.c, test_objects_threads.c.
 */
#ifndef SCHEDQ_LOCKFREE_OBJECTS_H
#define SCHEDQ_LOCKFREE_OBJECTS_H

#include "lockfree/queue.h"

static inline bool
objects_counted(const struct queue *queue)
{
    return queue->base.rules.objects == SCHEDQ_OBJECTS_COUNTED;
}

/**
 * An object that the caller passes in, or that is pinned, or that the caller has a reference to.
 */
static inline void
object_retain(const struct queue *queue, uint64_t object)
{
    if (objects_counted(queue)) {
        config_retain(&queue->base.config, object);
    }
}

/** An object that can no longer be found in the queue: released when no thread has it pinned. */
static inline void
object_release(struct worker *worker, uint64_t object)
{
    if (objects_counted(queue_of(worker))) {
        hazard_release(&queue_of(worker)->hazards, worker->hazard, object);
    }
}

/** Gives back a holder's reference; no pin depends on it. */
static inline void
object_give_back(const struct queue *queue, uint64_t object)
{
    if (objects_counted(queue)) {
        config_release(&queue->base.config, object);
    }
}

/**
 * The newest description of a pod and its desc word, the object retained for the caller.
 *
 * False: the state word is not `state` any more, flags apart; nothing was retained.
 */
bool objects_take(struct worker *worker, struct entry *entry, uint64_t state,
                  struct description *description, uint64_t *desc);

#endif
