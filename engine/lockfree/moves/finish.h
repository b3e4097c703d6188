/*
 * The end of a pod's life: what its record held goes back.
 */
#ifndef SCHEDQ_LOCKFREE_FINISH_H
#define SCHEDQ_LOCKFREE_FINISH_H

#include "lockfree/queue.h"

/** Gives the record back; for the thread that made the word DEAD, and so owns it. */
void finish_record(struct worker *worker, uint32_t record, struct entry *entry);

/** The newest object of a pod in flight. */
uint64_t finish_object(const struct queue *queue, const struct entry *entry);

/** Ends a flight, and the pod; inside a section. As schedq_done. */
schedq_status_t finish_flight(struct worker *worker, schedq_token_t token);

/**
 * Gives back what calls without a worker ended and left (finish.c); inside a section. Cheap if that
 * is nothing.
 */
void finish_ended(struct worker *worker);

/** When no other thread uses the queue: releases their objects. */
void finish_ended_alone(struct queue *queue);

#endif
