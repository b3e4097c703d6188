/*
 * When each workload last lost a pod to preemption: what keeps it from losing the next one right
 * away.
 */
#include "preemption/cluster.h"

schedq_status_t
schedq_cluster_record_eviction(schedq_cluster_t *cluster, uint64_t workload, int64_t now_ns)
{
    if (cluster == NULL) {
        return SCHEDQ_INVALID;
    }
    const struct words words = cluster_words(cluster);

    if (workload == 0) {
        words_say(&words, "workload 0: 1 or more");
        return SCHEDQ_INVALID;
    }
    if (!check_time(&words, "now_ns", now_ns)) {
        return SCHEDQ_INVALID;
    }
    uint64_t *last = map_find(&cluster->evictions, workload);

    if (last != NULL) {
        *last = (uint64_t)now_ns > *last ? (uint64_t)now_ns : *last;
        return SCHEDQ_OK;
    }
    if (!map_reserve(&cluster->evictions, &cluster->memory)) {
        return SCHEDQ_NOMEM;
    }
    map_add(&cluster->evictions, workload, (uint64_t)now_ns);
    return SCHEDQ_OK;
}

void
schedq_cluster_forget_evictions(schedq_cluster_t *cluster, int64_t before_ns)
{
    if (cluster == NULL || before_ns <= 0) {
        return;
    }
    /*
     * A removal shifts a line that was not looked at yet into this one, so it is looked at again.
     */
    for (uint32_t i = 0; i < cluster->evictions.size;) {
        const struct map_line *line = &cluster->evictions.lines[i];

        if (line->key != 0 && line->value < (uint64_t)before_ns) {
            map_remove(&cluster->evictions, line->key);
        } else {
            i++;
        }
    }
}
