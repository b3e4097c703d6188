/*
 * Which values a configuration may have.
 */
#ifndef SCHEDQ_API_CONFIG_H
#define SCHEDQ_API_CONFIG_H

#include <schedq/schedq.h>

#include <stdbool.h>

/** True, or `why` says which field is wrong, its value, and what it may be. */
bool config_check(const schedq_config_t *config, char *why, size_t why_size);

#endif
