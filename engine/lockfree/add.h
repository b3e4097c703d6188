/*
 * New pods: what add, add_many, and update of an unknown name have in common.
 */
#ifndef SCHEDQ_LOCKFREE_ADD_H
#define SCHEDQ_LOCKFREE_ADD_H

#include "lockfree/queue.h"

/** Adds one pod, inside a section. As schedq_add; with SCHEDQ_EXISTS *found is the record of the pod that has the name. */
schedq_status_t add_one(struct worker *worker, const char *names, const schedq_pod_spec_t *spec, uint32_t hash,
                        schedq_result_t *result, uint32_t *found);

#endif
