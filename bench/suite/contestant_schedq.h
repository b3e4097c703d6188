/*
 * A queue of schedq as the benchmarks make it: a contestant's engine, memory reserved, one failure
 * path.
 */
#ifndef SCHEDQ_BENCH_CONTESTANT_SCHEDQ_H
#define SCHEDQ_BENCH_CONTESTANT_SCHEDQ_H

#include "contestant.h"

/* schedq's own defaults with the contestant's engine and no cap on pods. */
void config_for(schedq_config_t *config, const contestant_t *contestant);
/* A queue with room for that many pods, sixteen priorities and the workers. */
schedq_t *queue_create(const contestant_t *contestant, const schedq_config_t *config, uint32_t pods,
                       unsigned workers);
void queue_destroy(schedq_t *queue);

/*
 * A plugin that wants to hear of one kind of event (resource, actions); returns its bit. hint NULL:
 * every such event helps.
 */
uint64_t plugin_create(schedq_t *queue, const char *name, const char *resource, uint32_t actions,
                       schedq_hint_fn hint, void *ctx);

schedq_worker_t *worker_create(schedq_t *queue);
void worker_end(schedq_worker_t *worker);

/* Adds a pod that the queue does not know; its name is made from `object`. */
void worker_add(schedq_worker_t *worker, uint64_t object, int32_t priority);

#endif
