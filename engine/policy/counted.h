/*
 * With SCHEDQ_OBJECTS_COUNTED: calls of the caller's code that counts. Out of line: so they take no
 * registers of the paths that they lie on, in queues that count nothing.
 */
#ifndef SCHEDQ_POLICY_COUNTED_H
#define SCHEDQ_POLICY_COUNTED_H

#include <schedq/schedq.h>

void config_retain(const schedq_config_t *config, uint64_t object);
void config_release(const schedq_config_t *config, uint64_t object);

#endif
