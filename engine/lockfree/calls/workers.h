/*
 * Worker slots: memory that is made once and stays until the queue ends; what lies in a slot
 * (lanes, free objects, counts) is continued by its next owner.
 */
#ifndef SCHEDQ_LOCKFREE_WORKERS_H
#define SCHEDQ_LOCKFREE_WORKERS_H

#include "lockfree/queue.h"

/** Takes a slot. SCHEDQ_FULL: max_workers are taken; SCHEDQ_NOMEM. */
schedq_status_t workers_take(struct queue *queue, struct worker **worker);

/**
 * Gives a slot back; the worker's free objects go to the others, its lanes become small. Outside a
 * section.
 */
void workers_give(struct worker *worker);

/** A housekeeper, for one caller; NULL: all are at work, or no memory. */
struct worker *workers_keep_house(struct queue *queue, uint32_t *house);
void workers_leave_house(struct queue *queue, uint32_t house);

/** Frees what housekeepers retired, if its grace period is over. Outside a section. */
void workers_poll(struct queue *queue);

/** Slots that are taken. The words are read one by one: exact while none is taken or given back. */
uint32_t workers_count(const struct queue *queue);

/** Makes what is allocated for the first worker, a housekeeper too. False: no memory. */
bool workers_make_shared(struct queue *queue);

/** Makes slots. False: no memory. */
bool workers_reserve(struct queue *queue, uint32_t count);

/** While no other thread uses the queue. */
void workers_free(struct queue *queue);

#endif
