/* The words of results, as vectors write them. */
#ifndef CONFORM_RESULT_H
#define CONFORM_RESULT_H

#include "world.h"

/** "ok", or "error", the status and what the library says about it. */
void write_status(const struct world *world, schedq_status_t status, FILE *result);
/** P, and its uid if that is not its name. */
void write_identity(const char *name, const char *uid, FILE *result);
/** The counters and times. */
void write_history(const schedq_history_t *history, FILE *result);
/** The names of a rejector set, sorted. */
void write_rejectors(const struct profile *profile, uint64_t set, FILE *result);

#endif
