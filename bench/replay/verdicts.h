/*
 * Remembers where pods fit, by shape: thousands of pods of one shape ask in a row while nothing on
 * the nodes changes. The answers are those of cluster_find.
 */
#ifndef SCHEDQ_REPLAY_VERDICTS_H
#define SCHEDQ_REPLAY_VERDICTS_H

#include "cluster.h"

typedef struct verdicts verdicts_t;

/* For the pods of a finished workload. */
verdicts_t *verdicts_new(const workload_t *workload);
void verdicts_free(verdicts_t *verdicts);
/* As cluster_find; `pod` is one of the workload's. */
uint32_t verdicts_find(verdicts_t *verdicts, const cluster_t *cluster, const workload_pod_t *pod,
                       unsigned *lacks);

#endif
