/*
 * Timed calls, of a queue with config.sample_calls: how long they took, how long the pods that were
 * popped had waited, and at which attempt.
 *
 * Such a queue has a table of functions of its own: a copy of the engine's, in which some are
 * replaced by ones that may time the engine's. Every other queue has the engine's table, so that
 * what is not switched on is not even asked about.
 *
 * WHICH CALLS. Each draws for itself, so that a rhythm of calls has no say in it. Pops that found
 * nothing do not count: an idle worker makes nothing else. A pop that waits is not timed, since
 * that would be the wait; its pods count. Ends of cycles without a worker are not timed.
 *
 * MEMORY, THREADS. A worker's numbers are in the place of its slot, until the queue ends; the
 * slot's next owner goes on with them. Only a call with that worker writes, any thread adds up.
 *
 * EVIDENCE. tests/unit/test_sample.c.
 */
#ifndef SCHEDQ_API_SAMPLE_H
#define SCHEDQ_API_SAMPLE_H

#include "engine.h"

/** Before the engine opens. Does nothing if it is not switched on. False: no memory. */
bool sample_open(schedq_t *queue);

/** The queue has the engine's table again. Also after sample_open failed or was not called. */
void sample_shut(schedq_t *queue);

/** Its families, if it is switched on. */
void sample_write(const schedq_t *queue, struct text *text);

#endif
