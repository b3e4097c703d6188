/*
 * Cluster events that callbacks decide: see moves.c.
 */
#ifndef SCHEDQ_MUTEX_MOVES_H
#define SCHEDQ_MUTEX_MOVES_H

#include "mutex/queue.h"

struct cluster_event {
    schedq_event_t event;
    uint64_t old_object, new_object;
};

/** What an event means to a waiting pod, by its rejectors. Gates are not looked at. */
enum strategy mutex_moves_judge(struct mutex_queue *queue, const struct entry *entry,
                                const struct cluster_event *event);

/** Tells the pods in flight: draws the event's sequence, raises the stamps, writes it down. */
void mutex_moves_announce(struct mutex_queue *queue, const struct cluster_event *event);

/** Entry of the engine's table. */
schedq_status_t mutex_notify(schedq_worker_t *worker, const schedq_change_t *change,
                             const struct assigned_pod *assigned,
                             const struct schedq_pod_list *listed, schedq_result_t *result);

#endif
