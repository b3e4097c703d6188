/*
 * Showing one pod to a visitor: a copy, taken inside of a section, visited outside of it (get.c).
 */
#ifndef SCHEDQ_LOCKFREE_GET_H
#define SCHEDQ_LOCKFREE_GET_H

#include "lockfree/moves/report.h"

/**
 * Copies the name and retains the object, as of the version that `view` shows, for get_show. False:
 * the pod changed.
 */
bool get_take(struct worker *worker, struct view *view);

/** Visits what was taken, and gives it back. False: the visitor wants no more. */
bool get_show(struct worker *worker, uint32_t record, const struct view *view,
              schedq_visit_fn visit, void *ctx);

#endif
