/**
 * A snapshot for preemption tests, a workspace, and short ways to fill and to ask them. Its
 * allocator counts and can fail.
 */
#ifndef SCHEDQ_TESTS_SUPPORT_SNAPSHOT_H
#define SCHEDQ_TESTS_SUPPORT_SNAPSHOT_H

#include "account.h"
#include "expect.h"
#include "schedq/preemption.h"

typedef struct snapshot {
    account_t account;
    schedq_cluster_t *cluster;
    schedq_preemption_t *preemption;
    schedq_preemption_config_t config; /* kube-1.34's */
    schedq_preemptor_t preemptor;      /* priority 100, 100 milli of cpu */
    schedq_preemption_decision_t decision;
} snapshot_t;

/** cmocka's setup and teardown; teardown fails if memory is left. */
int snapshot_setup(void **state);
int snapshot_teardown(void **state);

#define snapshot_test(function) \
    cmocka_unit_test_setup_teardown(function, snapshot_setup, snapshot_teardown)

/** A node of that much cpu with 110 slots; returns its number. */
uint32_t snapshot_node(snapshot_t *snapshot, const char *name, int64_t cpu_milli);
/** A description of a pod, to be changed and added. */
schedq_running_spec_t snapshot_pod_spec(const char *name, uint32_t node, int32_t priority,
                                        int64_t cpu_milli);
schedq_running_t snapshot_pod(snapshot_t *snapshot, const char *name, uint32_t node,
                              int32_t priority, int64_t cpu_milli);
/** Asks with snapshot->config and snapshot->preemptor. */
void snapshot_decide(snapshot_t *snapshot);
/** What schedq_cluster_write writes; the caller's to free. */
char *snapshot_text(const snapshot_t *snapshot);

#endif
