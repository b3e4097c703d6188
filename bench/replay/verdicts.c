/* One remembered answer per shape, valid for one version of the cluster. */
#include "verdicts.h"

#include "alloc.h"

#include <stdlib.h>

typedef struct verdict {
    uint64_t version; /* of the cluster; it counts from 1 */
    uint32_t node;
    unsigned lacks;
} verdict_t;

struct verdicts {
    verdict_t *by_shape;
};

verdicts_t *
verdicts_new(const workload_t *workload)
{
    verdicts_t *verdicts = alloc_array(1, sizeof *verdicts);

    verdicts->by_shape = alloc_array(workload->shape_count, sizeof *verdicts->by_shape);
    return verdicts;
}

void
verdicts_free(verdicts_t *verdicts)
{
    if (verdicts != NULL) {
        free(verdicts->by_shape);
        free(verdicts);
    }
}

uint32_t
verdicts_find(verdicts_t *verdicts, const cluster_t *cluster, const workload_pod_t *pod,
              unsigned *lacks)
{
    verdict_t *verdict = &verdicts->by_shape[pod->shape];
    uint64_t version = cluster_version(cluster);

    if (verdict->version != version) {
        verdict->node = cluster_find(cluster, pod, &verdict->lacks);
        verdict->version = version;
    }
    *lacks = verdict->lacks;
    return verdict->node;
}
