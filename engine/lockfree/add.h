/*
 * New pods: what add, add_many, and update of an unknown name have in common.
 */
#ifndef SCHEDQ_LOCKFREE_ADD_H
#define SCHEDQ_LOCKFREE_ADD_H

#include "lockfree/queue.h"

/** A pod that the index found: its record, and a word of the record at which it was that pod. */
struct present {
    uint32_t record;
    uint64_t state;
};

/** Adds one pod, inside a section. As schedq_add; *present with SCHEDQ_EXISTS. */
schedq_status_t add_one(struct worker *worker, const char *names, const schedq_pod_spec_t *spec, uint32_t hash,
                        schedq_result_t *result, struct present *present);

#endif
