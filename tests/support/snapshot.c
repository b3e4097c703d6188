/* The snapshot of snapshot.h. */
#include "snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
snapshot_setup(void **state)
{
    snapshot_t *snapshot = calloc(1, sizeof *snapshot);

    account_init(&snapshot->account);

    const schedq_allocator_t allocator = account_allocator(&snapshot->account);

    assert_ok(schedq_cluster_create(&allocator, &snapshot->cluster, NULL, 0));
    assert_ok(schedq_preemption_create(&allocator, &snapshot->preemption, NULL, 0));
    schedq_preemption_config_kube_1_34(&snapshot->config);
    snapshot->preemptor = (schedq_preemptor_t)SCHEDQ_PREEMPTOR_INIT;
    snapshot->preemptor.priority = 100;
    snapshot->preemptor.requests.cpu_milli = 100;
    snapshot->decision = (schedq_preemption_decision_t)SCHEDQ_PREEMPTION_DECISION_INIT;
    *state = snapshot;
    return 0;
}

int
snapshot_teardown(void **state)
{
    snapshot_t *snapshot = *state;

    schedq_preemption_destroy(snapshot->preemption);
    schedq_cluster_destroy(snapshot->cluster);
    assert_int_equal(snapshot->account.blocks, 0);
    assert_int_equal(snapshot->account.bytes, 0);
    assert_int_equal(snapshot->account.faults, 0);
    free(snapshot);
    return 0;
}

uint32_t
snapshot_node(snapshot_t *snapshot, const char *name, int64_t cpu_milli)
{
    const schedq_node_spec_t spec = {.struct_size = sizeof(schedq_node_spec_t),
                                     .name = name,
                                     .allocatable.cpu_milli = cpu_milli,
                                     .pods = 110};
    uint32_t node;

    assert_ok(schedq_cluster_add_node(snapshot->cluster, &spec, &node));
    return node;
}

schedq_running_spec_t
snapshot_pod_spec(const char *name, uint32_t node, int32_t priority, int64_t cpu_milli)
{
    return (schedq_running_spec_t){.struct_size = sizeof(schedq_running_spec_t),
                                   .name = name,
                                   .node = node,
                                   .priority = priority,
                                   .requests.cpu_milli = cpu_milli};
}

schedq_running_t
snapshot_pod(snapshot_t *snapshot, const char *name, uint32_t node, int32_t priority,
             int64_t cpu_milli)
{
    const schedq_running_spec_t spec = snapshot_pod_spec(name, node, priority, cpu_milli);
    schedq_running_t pod;

    assert_ok(schedq_cluster_add_pod(snapshot->cluster, &spec, &pod));
    return pod;
}

void
snapshot_decide(snapshot_t *snapshot)
{
    assert_ok(schedq_preempt(snapshot->cluster, snapshot->preemption, &snapshot->config,
                             &snapshot->preemptor, &snapshot->decision));
}

static int
append(void *ctx, const char *text, size_t length)
{
    return fwrite(text, 1, length, ctx) == length;
}

char *
snapshot_text(const snapshot_t *snapshot)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_ok(schedq_cluster_write(snapshot->cluster, append, out));
    (void)fclose(out);
    return text;
}
