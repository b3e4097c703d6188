/*
 * From a name to its pod: find.c.
 */
#ifndef SCHEDQ_LOCKFREE_FIND_H
#define SCHEDQ_LOCKFREE_FIND_H

#include "lockfree/moves/report.h"

/** The pod that has a name, and *view of it; 0: none. */
uint32_t find_name(struct worker *worker, const struct hashed_name *name, struct view *view);

#endif
