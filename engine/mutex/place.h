/*
 * Putting a pod into a place and taking it out: the only code that touches the containers of
 * waiting pods.
 */
#ifndef SCHEDQ_MUTEX_PLACE_H
#define SCHEDQ_MUTEX_PLACE_H

#include "mutex/queue.h"

/** The pod is in no container; its key, sets, gate, Timestamp and counters are final. */
void mutex_place_enter(struct mutex_queue *queue, uint32_t index, schedq_place_t place);

/**
 * Takes the pod out of the containers that hold it. Its entry.place stays: the caller enters
 * another or ends the pod.
 */
void mutex_place_leave(struct mutex_queue *queue, uint32_t index);

/**
 * After the order, expiry, sets or flags of a waiting pod changed: the same place again, and a new
 * version.
 */
void mutex_place_again(struct mutex_queue *queue, uint32_t index);

/** Does a call or a time keep the pod back at `now`? Then it is in flight or HELD. */
static inline bool
mutex_place_keeps(const struct mutex_queue *queue, const struct entry *entry, uint32_t index,
                  int64_t now)
{
    return (entry->marks & MARKS_KEPT) != 0 &&
           ((entry->marks & MARK_HELD) != 0 || mutex_keeps_time(&queue->keeps, index) > now);
}

/** Gives the pod, which is not HELD, a time; 0: none. There is room. */
static inline void
mutex_place_set_time(struct mutex_queue *queue, struct entry *entry, uint32_t index, int64_t time)
{
    if (time != 0 || (entry->marks & MARK_TIMED) != 0) {
        mutex_keeps_set(&queue->keeps, index, time);
        entry->flags &= (uint8_t)~ENTRY_BY_CLASS;
        entry->marks = (uint8_t)((entry->marks & ~MARK_TIMED) | (time != 0 ? MARK_TIMED : 0));
    }
}

/** Counts so many members that came in, and their record as an entity, or not. */
void mutex_place_count_group(struct mutex_queue *queue, enum incoming_place place, uint64_t pods,
                             bool entity, uint32_t label);

#define LABEL_NONE UINT32_MAX

/** Are pods counted that come in by this label? */
static inline bool
mutex_place_counts(const struct mutex_queue *queue, uint32_t label)
{
    return label != LABEL_NONE && (label != LABEL_POD_UPDATE || queue->base.rules.counts_updates);
}

void mutex_place_count_record(struct mutex_queue *queue, uint32_t index, enum incoming_place place,
                              bool named, uint32_t label);

/** Counts a pod that came in. */
static inline void
mutex_place_count_pod(struct mutex_queue *queue, enum incoming_place place, bool named,
                      uint32_t label)
{
    if (mutex_place_counts(queue, label)) {
        queue->incoming[label][incoming_counter(place, named)]++;
    }
}

/** Counts a pod that came in; a record with its members. `named`: by a verdict (metrics.h). */
static inline void
mutex_place_count(struct mutex_queue *queue, const struct entry *entry, uint32_t index,
                  enum incoming_place place, bool named, uint32_t label)
{
    if (entry_is_group(entry)) {
        mutex_place_count_record(queue, index, place, named, label);
    } else {
        mutex_place_count_pod(queue, place, named, label);
    }
}

/** Makes the counters reach all labels that are known. False: no memory. */
bool mutex_place_reserve_labels(struct mutex_queue *queue, uint32_t labels);

/** What orders a pod before its key: its priority turned round, unless priorities do not order. */
uint32_t mutex_place_rank(const struct mutex_queue *queue, const struct entry *entry);

/** The backoff place that fits the pod's rejectors. */
schedq_place_t mutex_place_of_backoff(const struct mutex_queue *queue, const struct entry *entry);

/** End of its backoff as it is compared; BACKOFF_NONE if it has none. */
int64_t mutex_place_expiry(const struct mutex_queue *queue, const struct entry *entry,
                           uint32_t index);

/** The same of a pod: of what is no group's record. */
RARELY int64_t mutex_place_expiry_of_pod(const struct mutex_queue *queue,
                                         const struct entry *entry);

/** True: a pod with this expiry is still backing off at `now`. */
bool mutex_place_backs_off_until(const struct mutex_queue *queue, const struct entry *entry,
                                 int64_t expiry, int64_t now);

/** True: the pod's backoff is not over at `now`. */
bool mutex_place_is_backing_off(const struct mutex_queue *queue, const struct entry *entry,
                                uint32_t index, int64_t now);

#endif
