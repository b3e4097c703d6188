/*
 * What hold, release, not_before and update of a held pod have in common.
 */
#ifndef SCHEDQ_LOCKFREE_CALLS_HOLD_H
#define SCHEDQ_LOCKFREE_CALLS_HOLD_H

#include "lockfree/calls/mover.h"

/** mover.decide: is the pod held, and nothing keeps it back any more? */
bool hold_is_over(struct mover *mover, const struct view *view, struct way *way);

/** The same for a pod that was found due: if it is kept back all the same, it is held anew. */
bool hold_is_due(struct mover *mover, const struct view *view, struct way *way);

/** Moves the pod out, if it is held and nothing keeps it back. For want of memory a tick does. */
void hold_leave(struct worker *worker, uint32_t record, uint64_t life, schedq_result_t *result);

/**
 * Tells of the pod: where `before` has it, or, if it `left` by hold_leave, where it was moved; the
 * rest as it is now.
 */
void hold_report(const struct queue *queue, uint32_t record, const struct view *before, bool left,
                 schedq_result_t *result);

#endif
