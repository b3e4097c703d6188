/*
 * The end of a pod's life: what its record held goes back.
 */
#ifndef SCHEDQ_LOCKFREE_FINISH_H
#define SCHEDQ_LOCKFREE_FINISH_H

#include "lockfree/queue.h"

/** For whoever made the word DEAD: the record is his, and is given back. */
void finish_record(struct worker *worker, uint32_t record, struct entry *entry);

#endif
