/* A question about a pod: what its evaluation reads of snapshot, configuration and description. */
#include "preemption/evaluation.h"

static void
set_need(schedq_preemption_t *of, uint32_t number, uint32_t resource, int64_t amount)
{
    of->needs[number] = (struct need){
        .resource = resource,
        .amount = amount,
        .least = amount > 0 ? amount : -ROOM_ENOUGH,
        .column = table_column(of->cluster, of->below.table, resource),
    };
}

/* In the order of their numbers, whatever the caller's is. */
static void
add_extended(schedq_preemption_t *of, const schedq_amount_t *asked)
{
    uint32_t at = of->need_count++;

    for (; at > NEED_EXTENDED && of->needs[at - 1].resource > asked->resource; at--) {
        of->needs[at] = of->needs[at - 1];
    }
    set_need(of, at, asked->resource, asked->amount);
}

static bool
list_needs(schedq_preemption_t *of)
{
    const schedq_amounts_t *requests = &of->preemptor.requests;

    if (!array_reserve(&of->memory, &of->needs, &of->need_capacity,
                       NEED_EXTENDED + requests->extended_count, sizeof *of->needs)) {
        return false;
    }
    set_need(of, NEED_PODS, SCHEDQ_RESOURCE_PODS, 1);
    set_need(of, NEED_CPU, SCHEDQ_RESOURCE_CPU, requests->cpu_milli);
    set_need(of, NEED_MEMORY, SCHEDQ_RESOURCE_MEMORY, requests->memory_bytes);
    of->need_count = NEED_EXTENDED;
    for (uint32_t i = 0; i < requests->extended_count; i++) {
        if (requests->extended[i].amount > 0) {
            add_extended(of, &requests->extended[i]);
        }
    }
    return true;
}

static const struct nomination *
own_nomination(const schedq_cluster_t *cluster, const char *name)
{
    uint64_t key = name == NULL ? 0 : name_find(&cluster->texts, name);
    const uint64_t *found = key == 0 ? NULL : map_find(&cluster->nominated_names, key);

    return found == NULL ? NULL : &cluster->nominations[*found];
}

bool
question_set(schedq_preemption_t *of, const schedq_cluster_t *cluster,
             const schedq_preemption_config_t *config, const schedq_preemptor_t *preemptor,
             struct room below)
{
    of->cluster = cluster;
    of->config = *config;
    of->preemptor = *preemptor;
    of->below = below;
    of->own = own_nomination(cluster, preemptor->name);
    return list_needs(of);
}
