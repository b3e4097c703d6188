/*
 * Making a pod's record, changing its description, and ending it.
 */
#ifndef SCHEDQ_MUTEX_ADMIT_H
#define SCHEDQ_MUTEX_ADMIT_H

#include "mutex/queue.h"

/**
 * May a pod of this name be added?
 *
 * @retval SCHEDQ_OK, SCHEDQ_CLOSED, SCHEDQ_EXISTS (`result` describes the pod that has the name)
 */
schedq_status_t admit_check_absent(const struct mutex_queue *queue, const struct hashed_name *name,
                                   schedq_result_t *result);

/**
 * Host decisions: does a gate's refusal still stand? @retval SCHEDQ_OK, SCHEDQ_RETRY (`result` says
 * up to which event)
 */
schedq_status_t admit_check_gate(const struct mutex_queue *queue, schedq_profile_t profile,
                                 uint8_t gate, uint64_t judged_up_to, schedq_result_t *result);

/**
 * Makes the record of a pod whose name is not in the queue, with everything later calls will need.
 * It is in no place yet.
 *
 * @param again it comes back, with a history
 * @retval SCHEDQ_OK, SCHEDQ_FULL (the worker's words say which cap), SCHEDQ_NOMEM: nothing changed
 */
schedq_status_t admit_pod(schedq_worker_t *worker, const struct hashed_name *name,
                          const schedq_pod_spec_t *spec, int64_t now, bool again, uint32_t *index);

/**
 * Ends a flight, and its token. The record's flight part is read for the last time here: parking
 * shares its memory.
 */
static inline void
admit_end_flight(struct mutex_queue *queue, struct entry *entry)
{
    if (queue->base.rules.objects == SCHEDQ_OBJECTS_COUNTED) {
        entry_changed(entry); /* the callback may try the token */
        config_release(&queue->base.config, entry->flight.popped_object);
    }
    if (--queue->inflight == 0 && queue->groups.inflight == 0) {
        mutex_event_log_forget(&queue->log);
    }
}

/**
 * Makes the record of a group, in no place yet, and room for its slot and its parent's. As
 * admit_pod.
 */
schedq_status_t admit_record(schedq_worker_t *worker, const schedq_group_spec_t *spec,
                             uint32_t *index);

/** Ends the record of a group, which is in no container. */
void admit_end_record(struct mutex_queue *queue, uint32_t index);

/** Gives the record of a group another priority and object. */
void admit_describe_record(struct mutex_queue *queue, uint32_t index,
                           const schedq_group_spec_t *spec);

/** The flight of a group's record ends. */
void admit_end_group_flight(struct mutex_queue *queue);

/** Ends the pods whose cycles ended in a callback under the lock (cycle.c). */
void admit_end_ended(struct mutex_queue *queue);

/** Ends a pod that is in no container any more: its record, name and references go back. */
void admit_end(struct mutex_queue *queue, uint32_t index);

/** Room for a new description. False: no memory, nothing changed. */
bool admit_reserve_description(struct mutex_queue *queue, uint32_t index,
                               const schedq_pod_spec_t *spec);

/**
 * Gives a pod a new description: object, priority, flags, order key, described node. Its containers
 * are not touched.
 *
 * @retval SCHEDQ_OK, SCHEDQ_NOMEM: nothing changed
 */
schedq_status_t admit_describe(struct mutex_queue *queue, uint32_t index,
                               const schedq_pod_spec_t *spec);

/**
 * The nominator after a description changed: a nomination that neither description speaks of is
 * kept, but made anew.
 */
void admit_renominate(struct mutex_queue *queue, uint32_t index, uint64_t old_described);

/** A new Timestamp, and with it the order among equals, unless the pod's order is its caller's. */
void admit_stamp_time(struct mutex_queue *queue, struct entry *entry, int64_t now);

/** Room for `pods` records in everything that holds them. */
bool admit_reserve(struct mutex_queue *queue, uint32_t pods);

/** Gives back what no pod needs; keeps what there is no memory to copy. */
void admit_trim(struct mutex_queue *queue);

#endif
