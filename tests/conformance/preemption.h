/*
 * Vectors of preemption: small clusters, and what kube-scheduler decided for them.
 * docs/CONFORMANCE.md has their format.
 */
#ifndef CONFORM_PREEMPTION_H
#define CONFORM_PREEMPTION_H

#include <stdbool.h>

/** Is this the text of such a vector? */
bool preemption_is(const char *text);

/** Runs every case of a file whose text it cuts. Prints what happened; true: all agree. */
bool preemption_run(const char *file, char *text);

#endif
