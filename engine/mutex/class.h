/*
 * Pods that their class keeps back: see class.c.
 */
#ifndef SCHEDQ_MUTEX_CLASS_H
#define SCHEDQ_MUTEX_CLASS_H

#include "mutex/queue.h"

/** mutex_class_settle where a class was ever shut. */
void mutex_class_settle_active(struct mutex_queue *queue, const struct order *limit);

/**
 * Called before a pop looks. Afterwards the best active pod is one that its class does not keep
 * back, or whose turn it is, or that comes behind the limit. `limit` NULL: there is none.
 */
static inline void
mutex_class_settle(struct mutex_queue *queue, const struct order *limit)
{
    if (__builtin_expect(queue->classes.slots != NULL, 0)) {
        mutex_class_settle_active(queue, limit);
    }
}

/** A pod that has a class fails. Called before anything is changed. */
void mutex_class_fails(struct mutex_queue *queue, uint32_t index);

/**
 * The pod was tried: its class may keep it back again, and the time that its class gave is past.
 */
void mutex_class_note_try(struct mutex_queue *queue, uint32_t index);

/**
 * Judges the failure of a pod that has a class by then, and that nothing else keeps back. `parks`:
 * it is about to be parked. If classes.turn is CLASS_HIDES afterwards, it has its time, and is HELD
 * next.
 */
void mutex_class_judge(struct mutex_queue *queue, uint32_t index, const schedq_failure_t *failure,
                       bool parks, int64_t now);

/** Called after these. `failed`: the pod was put where it waits; else nothing changed. */
void mutex_class_failed(struct mutex_queue *queue, uint32_t index, bool failed);

/** The pod that is tried for all of a pod's class; NO_ENTRY: there is none. */
uint32_t mutex_class_scout(const struct mutex_queue *queue, uint32_t index);

/** Before a pod is changed: the slot that it is the scout of; NULL: it is none. */
struct class_slot *mutex_class_scouted(const struct mutex_queue *queue, uint32_t index);

/** Called after the change: if the pod is not the scout any more, another one takes its turn. */
void mutex_class_look(struct mutex_queue *queue, struct class_slot *scouted);

/** A pod that has a class ends now. */
void mutex_class_end(struct mutex_queue *queue, uint32_t index);

/** A pod that has a class is gated, or ends: if it was the scout, a tick is due that looks. */
void mutex_class_doubt(struct mutex_queue *queue, uint32_t index);

/** There was doubt: is there a scout that is none any more? */
bool mutex_class_is_due(struct mutex_queue *queue);

/** mutex_class_end where no other pod may move: another one takes its turn when a tick looks. */
void mutex_class_end_quietly(struct mutex_queue *queue, uint32_t index);

/** Are there scouts that are none any more? Then others take their turn. */
void mutex_class_heal(struct mutex_queue *queue);

/** The same, behind a pop that found nothing. False: there was no reason to. */
static inline bool
mutex_class_heals(struct mutex_queue *queue)
{
    bool doubted = __builtin_expect(queue->classes.doubted, 0);

    if (doubted) {
        mutex_class_heal(queue);
    }
    return doubted;
}

#endif
