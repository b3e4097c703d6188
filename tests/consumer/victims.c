/* Exit status 0 if a pod that needs the whole node gets its one pod as victim. Knows no queue. */
#include <schedq/preemption.h>

#include <stdio.h>

static int
decides(const schedq_cluster_t *cluster, schedq_preemption_t *workspace, schedq_running_t running)
{
    schedq_preemption_config_t rules = SCHEDQ_PREEMPTION_CONFIG_INIT;
    schedq_preemptor_t preemptor = SCHEDQ_PREEMPTOR_INIT;
    schedq_preemption_decision_t decision = SCHEDQ_PREEMPTION_DECISION_INIT;

    preemptor.name = "default/db";
    preemptor.object = 2;
    preemptor.priority = 100;
    preemptor.requests.cpu_milli = 1000;
    if (schedq_preempt(cluster, workspace, &rules, &preemptor, &decision) != SCHEDQ_OK) {
        printf("schedq_preempt: %s\n", schedq_preemption_error(workspace));
        return 0;
    }
    return decision.chosen == 0 && decision.delete_count == 1 &&
           decision.deletes[0].index == running.index &&
           decision.deletes[0].generation == running.generation;
}

int
main(void)
{
    const schedq_node_spec_t node = {.struct_size = sizeof(schedq_node_spec_t),
                                     .name = "node",
                                     .object = 1,
                                     .allocatable = {.cpu_milli = 1000},
                                     .pods = 10};
    const schedq_running_spec_t web = {.struct_size = sizeof(schedq_running_spec_t),
                                       .name = "default/web",
                                       .object = 1,
                                       .requests = {.cpu_milli = 600}};
    schedq_cluster_t *cluster;
    schedq_preemption_t *workspace;
    schedq_running_t running;
    char why[200];

    if (schedq_cluster_create(NULL, &cluster, why, sizeof why) != SCHEDQ_OK ||
        schedq_preemption_create(NULL, &workspace, why, sizeof why) != SCHEDQ_OK ||
        schedq_cluster_add_node(cluster, &node, NULL) != SCHEDQ_OK ||
        schedq_cluster_add_pod(cluster, &web, &running) != SCHEDQ_OK) {
        printf("a snapshot cannot be made\n");
        return 1;
    }
    int good = decides(cluster, workspace, running);

    schedq_preemption_destroy(workspace);
    schedq_cluster_destroy(cluster);
    return good ? 0 : 1;
}
