/*
 * Groups: calls of group.h, as entries of the engine's table; and the pop of groups.
 */
#ifndef SCHEDQ_MUTEX_GROUP_H
#define SCHEDQ_MUTEX_GROUP_H

#include "mutex/queue.h"

schedq_status_t mutex_group_add(schedq_worker_t *worker, uint64_t number,
                                const schedq_group_spec_t *spec, schedq_result_t *result);
schedq_status_t mutex_group_update(schedq_worker_t *worker, uint64_t number,
                                   const schedq_group_spec_t *spec, schedq_result_t *result);
schedq_status_t mutex_group_delete(schedq_worker_t *worker, uint64_t number,
                                   schedq_result_t *result);
schedq_status_t mutex_group_activate(schedq_worker_t *worker, uint64_t number,
                                     schedq_result_t *result);
schedq_status_t mutex_group_get(schedq_worker_t *worker, uint64_t number,
                                schedq_group_info_t *info);
schedq_status_t mutex_group_done(schedq_worker_t *worker, schedq_token_t *token,
                                 const schedq_group_end_t *end, schedq_result_t *result);

/** What a pop of groups writes to. */
struct group_pop {
    schedq_popped_group_t *group;
    schedq_popped_t *members;
    size_t room, count;
};

/**
 * Takes the best group or pod, with the lock held.
 *
 * @retval SCHEDQ_OK
 * @retval SCHEDQ_FULL   the best has more members, `count` says how many; nothing changed
 * @retval SCHEDQ_EMPTY  nothing is poppable
 */
schedq_status_t mutex_group_take(struct mutex_queue *queue, struct group_pop *pop);

#endif
