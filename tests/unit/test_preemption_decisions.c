/*
 * What decisions are beyond the recorded ones: ties, leases, anti-thrash, costs, limits, threads,
 * allocations, many levels.
 */
#include "snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the deterministic rule ------------------------------------------------------------------ */

static void
of_nodes_that_tie_the_first_visited_wins(void **state)
{
    snapshot_t *snapshot = *state;
    const char *names[] = {"n1", "n2", "n3"};
    const char *pods[] = {"ns/a", "ns/b", "ns/c"};

    for (size_t i = 0; i < 3; i++) {
        (void)snapshot_pod(snapshot, pods[i], snapshot_node(snapshot, names[i], 100), 1, 100);
    }
    for (uint32_t offset = 0; offset < 7; offset++) {
        snapshot->preemptor.offset = offset;
        snapshot_decide(snapshot);
        assert_int_equal(snapshot->decision.offset, offset % 3);
        assert_int_equal(snapshot->decision.chosen, offset % 3);
    }
}

static void
pods_of_equal_importance_are_reprieved_in_the_order_of_their_coming(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = snapshot_node(snapshot, "n1", 300);
    uint32_t other = snapshot_node(snapshot, "n2", 0);
    schedq_running_t a = snapshot_pod(snapshot, "ns/a", node, 1, 100);
    schedq_running_t b = snapshot_pod(snapshot, "ns/b", node, 1, 100);
    schedq_running_t c = snapshot_pod(snapshot, "ns/c", node, 1, 100);
    schedq_running_spec_t spec = snapshot_pod_spec(NULL, node, 1, 100);

    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.victims[0].index, c.index);
    assert_ok(schedq_cluster_update_pod(snapshot->cluster, b, &spec));
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.victims[0].index, c.index);
    spec.node = other;
    assert_ok(schedq_cluster_update_pod(snapshot->cluster, a, &spec));
    spec.node = node;
    assert_ok(schedq_cluster_update_pod(snapshot->cluster, a, &spec));
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.victims[0].index, a.index);
}

static void
at_least_one_candidate_is_looked_for_outside_the_kube_presets(void **state)
{
    snapshot_t *snapshot = *state;

    (void)snapshot_pod(snapshot, "ns/a", snapshot_node(snapshot, "n1", 100), 1, 100);
    snapshot->config.candidates_absolute = 0;
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.wanted, 0);
    assert_int_equal(snapshot->decision.outcome, SCHEDQ_PREEMPT_UNSCHEDULABLE);
    snapshot->config = (schedq_preemption_config_t)SCHEDQ_PREEMPTION_CONFIG_INIT;
    snapshot->config.candidates_absolute = 0;
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.wanted, 1);
    assert_int_equal(snapshot->decision.outcome, SCHEDQ_PREEMPT_SUCCESS);
}

/* ---- anti-thrash ----------------------------------------------------------------------------- */

static void
a_pod_that_has_just_started_is_no_victim(void **state)
{
    snapshot_t *snapshot = *state;
    schedq_running_spec_t spec =
        snapshot_pod_spec("ns/a", snapshot_node(snapshot, "n1", 100), 1, 100);
    schedq_running_t pod;

    spec.start_ns = 1000;
    assert_ok(schedq_cluster_add_pod(snapshot->cluster, &spec, &pod));
    snapshot->config.min_run_ns = 500;
    snapshot->preemptor.now_ns = 1499;
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, SCHEDQ_NO_NODE);
    snapshot->preemptor.now_ns = 1500;
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, 0);
    spec.start_ns = SCHEDQ_NO_START;
    assert_ok(schedq_cluster_update_pod(snapshot->cluster, pod, &spec));
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, SCHEDQ_NO_NODE);
    spec.terminating = 1;
    assert_ok(schedq_cluster_update_pod(snapshot->cluster, pod, &spec));
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, 0);
}

static void
a_workload_is_not_evicted_twice_within_the_time(void **state)
{
    snapshot_t *snapshot = *state;
    schedq_running_spec_t spec =
        snapshot_pod_spec("ns/a", snapshot_node(snapshot, "n1", 100), 1, 100);

    spec.workload = 7;
    assert_ok(schedq_cluster_add_pod(snapshot->cluster, &spec, NULL));
    assert_ok(schedq_cluster_record_eviction(snapshot->cluster, 7, 1000));
    assert_ok(schedq_cluster_record_eviction(snapshot->cluster, 7, 900));
    snapshot->preemptor.now_ns = 1499;
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, 0);
    snapshot->config.evict_again_ns = 500;
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, SCHEDQ_NO_NODE);
    snapshot->preemptor.now_ns = 1500;
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, 0);
    snapshot->preemptor.now_ns = 1499;
    schedq_cluster_forget_evictions(snapshot->cluster, 1001);
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, 0);
}

/* ---- leases ---------------------------------------------------------------------------------- */

static void
a_nomination_counts_until_its_lease_is_over(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = snapshot_node(snapshot, "n1", 200);
    const schedq_nominated_spec_t nominated = {.struct_size = sizeof(schedq_nominated_spec_t),
                                               .name = "ns/q",
                                               .node = node,
                                               .priority = 500,
                                               .requests.cpu_milli = 150,
                                               .expires_ns = 1000};
    const schedq_nominated_spec_t renewed = {.struct_size = sizeof(schedq_nominated_spec_t),
                                             .name = "ns/q",
                                             .node = node,
                                             .priority = 500,
                                             .requests.cpu_milli = 150,
                                             .expires_ns = 2000};
    uint64_t first;
    uint64_t second;

    (void)snapshot_pod(snapshot, "ns/a", node, 1, 200);
    assert_ok(schedq_cluster_nominate(snapshot->cluster, &nominated, &first));
    snapshot->preemptor.now_ns = 1000;
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, SCHEDQ_NO_NODE);
    snapshot->config.nomination_lease_ns = 300;
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, node);
    assert_ns_equal(snapshot->decision.nomination_expires_ns, 1300);
    snapshot->preemptor.now_ns = 999;
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, SCHEDQ_NO_NODE);
    assert_ok(schedq_cluster_nominate(snapshot->cluster, &renewed, &second));
    assert_int_not_equal(first, second);
    assert_status(schedq_cluster_unnominate(snapshot->cluster, "ns/q", first), SCHEDQ_STALE);
    assert_ok(schedq_cluster_expire(snapshot->cluster, 1999, NULL, NULL));
    assert_ok(schedq_cluster_unnominate(snapshot->cluster, "ns/q", second));
}

static void
count_expired(void *ctx, uint64_t object)
{
    *(uint64_t *)ctx += object;
}

static void
expired_nominations_are_told(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = snapshot_node(snapshot, "n1", 200);
    schedq_nominated_spec_t nominated = {.struct_size = sizeof(schedq_nominated_spec_t),
                                         .name = "ns/q",
                                         .object = 1,
                                         .node = node,
                                         .expires_ns = 10};
    uint64_t sum = 0;

    assert_ok(schedq_cluster_nominate(snapshot->cluster, &nominated, NULL));
    nominated = (schedq_nominated_spec_t){.struct_size = sizeof(schedq_nominated_spec_t),
                                          .name = "ns/r",
                                          .object = 10,
                                          .node = node,
                                          .expires_ns = 11};
    assert_ok(schedq_cluster_nominate(snapshot->cluster, &nominated, NULL));
    nominated = (schedq_nominated_spec_t){.struct_size = sizeof(schedq_nominated_spec_t),
                                          .name = "ns/s",
                                          .object = 100,
                                          .node = node,
                                          .expires_ns = SCHEDQ_NO_DEADLINE};
    assert_ok(schedq_cluster_nominate(snapshot->cluster, &nominated, NULL));
    nominated.name = "ns/t";
    nominated.expires_ns = 0; /* the same */
    assert_ok(schedq_cluster_nominate(snapshot->cluster, &nominated, NULL));
    assert_ok(schedq_cluster_expire(snapshot->cluster, 10, count_expired, &sum));
    assert_int_equal(sum, 1);
    assert_ok(schedq_cluster_expire(snapshot->cluster, INT64_MAX, count_expired, &sum));
    assert_int_equal(sum, 11);
}

/* ---- limits and costs ------------------------------------------------------------------------ */

static void
a_node_that_needs_more_victims_than_allowed_is_no_candidate(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t first = snapshot_node(snapshot, "n1", 100);
    uint32_t second = snapshot_node(snapshot, "n2", 100);
    schedq_verdict_t verdict;

    (void)snapshot_pod(snapshot, "ns/a", first, 1, 50);
    (void)snapshot_pod(snapshot, "ns/b", first, 1, 50);
    (void)snapshot_pod(snapshot, "ns/c", second, 50, 100);
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, first);
    snapshot->config.max_victims = 1;
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, second);
    assert_ok(schedq_preemption_verdict(snapshot->preemption, first, &verdict));
    assert_int_equal(verdict.kind, SCHEDQ_VERDICT_UNSCHEDULABLE);
    assert_int_equal(verdict.reason, SCHEDQ_REASON_MAX_VICTIMS);
}

static uint32_t
cost(void *ctx, const schedq_cluster_t *cluster, schedq_running_t pod)
{
    schedq_running_view_t view;

    (void)ctx;
    assert_ok(schedq_cluster_pod(cluster, pod, &view));
    return (uint32_t)view.object;
}

static void
the_least_cost_wins_before_priorities(void **state)
{
    snapshot_t *snapshot = *state;
    schedq_running_spec_t cheap =
        snapshot_pod_spec("ns/a", snapshot_node(snapshot, "n1", 100), 50, 100);
    schedq_running_spec_t dear =
        snapshot_pod_spec("ns/b", snapshot_node(snapshot, "n2", 100), 1, 100);

    cheap.object = 3;
    dear.object = 4;
    assert_ok(schedq_cluster_add_pod(snapshot->cluster, &cheap, NULL));
    assert_ok(schedq_cluster_add_pod(snapshot->cluster, &dear, NULL));
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, 1);
    snapshot->config.victim_cost = cost;
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, 0);
    assert_int_equal(snapshot->decision.candidates[1].cost, 4);
}

/* ---- size ------------------------------------------------------------------------------------ */

/* 100 priorities on one node: more than the tables that are kept. */
static void
more_priorities_than_levels_are_summed_right(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = snapshot_node(snapshot, "n1", 10000);
    schedq_running_t pods[100];
    char name[16];

    for (int32_t i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "ns/p%d", i);
        pods[i] = snapshot_pod(snapshot, name, node, i * 7 % 100, 100);
    }
    for (int round = 0; round < 2; round++) {
        for (int32_t priority = 1; priority <= 100; priority += 9) {
            snapshot->preemptor.priority = priority;
            snapshot->preemptor.requests.cpu_milli = 100 * (priority - round * 50);
            if (priority <= round * 50) {
                continue;
            }
            snapshot_decide(snapshot);
            assert_int_equal(snapshot->decision.victim_count, priority - round * 50);
            snapshot->preemptor.requests.cpu_milli += 1;
            snapshot_decide(snapshot);
            assert_int_equal(snapshot->decision.chosen, SCHEDQ_NO_NODE);
        }
        /* Half of the priorities go, the lower ones, and room with them. */
        for (int i = 0; round == 0 && i < 100; i++) {
            if (i * 7 % 100 < 50) {
                assert_ok(schedq_cluster_remove_pod(snapshot->cluster, pods[i]));
            }
        }
        const schedq_node_spec_t smaller = {
            .struct_size = sizeof(schedq_node_spec_t), .allocatable.cpu_milli = 5000, .pods = 110};
        assert_ok(schedq_cluster_update_node(snapshot->cluster, node, &smaller));
    }
}

static void
run_backwards(void *ctx, void (*task)(void *argument, uint32_t i), void *argument, uint32_t count)
{
    ++*(uint32_t *)ctx;
    while (count > 0) {
        task(argument, --count);
    }
}

/* Fills 1,000 nodes with two pods each. */
static void
fill_many(snapshot_t *snapshot)
{
    char name[16];

    for (int i = 0; i < 1000; i++) {
        (void)snprintf(name, sizeof name, "n%d", i);
        uint32_t node = snapshot_node(snapshot, name, 200);
        (void)snprintf(name, sizeof name, "ns/a%d", i);
        (void)snapshot_pod(snapshot, name, node, i % 13, 100);
        (void)snprintf(name, sizeof name, "ns/b%d", i);
        (void)snapshot_pod(snapshot, name, node, i % 7 == 0 ? 200 : 5, 100);
    }
}

static void
an_executor_changes_nothing(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t calls = 0;
    schedq_executor_t executor = {.run = run_backwards, .ctx = &calls};
    const uint32_t offsets[] = {0, 1, 63, 64, 500, 999};
    const uint32_t shares[] = {0, 10, 50, 100};
    schedq_candidate_node_t plain[1000];

    fill_many(snapshot);
    snapshot->preemptor.requests.cpu_milli = 150;
    for (size_t i = 0; i < 24; i++) {
        snapshot->config.candidates_percentage = shares[i % 4];
        snapshot->preemptor.offset = offsets[i % 6];
        snapshot->preemptor.executor = NULL;
        snapshot_decide(snapshot);
        schedq_preemption_decision_t expected = snapshot->decision;
        memcpy(plain, expected.candidates, expected.candidate_count * sizeof *plain);
        executor.tasks = 1 + (uint32_t)i % 7;
        snapshot->preemptor.executor = &executor;
        snapshot_decide(snapshot);
        assert_int_equal(snapshot->decision.chosen, expected.chosen);
        assert_int_equal(snapshot->decision.rejected, expected.rejected);
        assert_int_equal(snapshot->decision.candidate_count, expected.candidate_count);
        for (uint32_t k = 0; k < expected.candidate_count; k++) {
            assert_int_equal(snapshot->decision.candidates[k].node, plain[k].node);
            assert_int_equal(snapshot->decision.candidates[k].victim_count, plain[k].victim_count);
        }
    }
    assert_true(calls >= 24);
}

static void
a_second_evaluation_allocates_nothing(void **state)
{
    snapshot_t *snapshot = *state;

    fill_many(snapshot);
    snapshot->config.candidates_percentage = 100;
    snapshot->preemptor.requests.cpu_milli = 150;
    snapshot_decide(snapshot);
    snapshot->account.fail_all = true;
    for (uint32_t offset = 0; offset < 1000; offset += 111) {
        snapshot->preemptor.offset = offset;
        snapshot_decide(snapshot);
        assert_int_equal(snapshot->decision.outcome, SCHEDQ_PREEMPT_SUCCESS);
    }
    snapshot->account.fail_all = false;
}

static void
without_memory_a_decision_is_as_it_was(void **state)
{
    snapshot_t *snapshot = *state;
    schedq_status_t status = SCHEDQ_NOMEM;

    fill_many(snapshot);
    for (int64_t successes = 0; status != SCHEDQ_OK; successes++) {
        schedq_preemption_decision_t before = snapshot->decision;

        account_fail_after(&snapshot->account, successes);
        status = schedq_preempt(snapshot->cluster, snapshot->preemption, &snapshot->config,
                                &snapshot->preemptor, &snapshot->decision);
        if (account_heal(&snapshot->account)) {
            assert_status(status, SCHEDQ_NOMEM);
            assert_memory_equal(&before, &snapshot->decision, sizeof before);
        }
    }
}

/*
 * A level that goes hands its table on, which is made anew from all pods: not where all of them go.
 */
static void
a_snapshot_is_cleared_without_tables_for_the_levels_that_are_left(void **state)
{
    snapshot_t *snapshot = *state;
    uint64_t allocations;
    uint32_t first;
    char name[16];

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 50; i++) {
            (void)snprintf(name, sizeof name, "n%d", i);
            assert_int_equal(snapshot_node(snapshot, name, 100), i);
        }
        assert_ok(schedq_cluster_first_fit(snapshot->cluster, snapshot->preemption,
                                           &snapshot->config, &snapshot->preemptor, &first));
        assert_int_equal(first, 0);
        for (int32_t i = 0; i < 50; i++) {
            (void)snprintf(name, sizeof name, "ns/p%d", i);
            (void)snapshot_pod(snapshot, name, (uint32_t)i, 50 - i, 100);
        }
        snapshot_decide(snapshot);
        assert_int_equal(snapshot->decision.chosen, 49);
        allocations = atomic_load(&snapshot->account.allocations);
        schedq_cluster_clear(snapshot->cluster);
        assert_int_equal(atomic_load(&snapshot->account.allocations), allocations);
        assert_int_equal(schedq_cluster_nodes_end(snapshot->cluster), 0);
    }
}

/*
 * A node that columns refused was not looked at, so that its verdict may need more room than the
 * decision did.
 */
static void
a_verdict_without_memory_is_none(void **state)
{
    snapshot_t *snapshot = *state;
    char name[40];
    uint32_t full = snapshot_node(snapshot, "full", 50);
    schedq_verdict_t verdict;

    for (int i = 0; i < 100; i++) {
        (void)snprintf(name, sizeof name, "ns/p%d", i);
        (void)snapshot_pod(snapshot, name, full, 1, 0);
    }
    (void)snapshot_pod(snapshot, "ns/a", snapshot_node(snapshot, "n1", 100), 1, 100);
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.rejected, 1);
    account_fail_after(&snapshot->account, 0);
    assert_status(schedq_preemption_verdict(snapshot->preemption, full, &verdict), SCHEDQ_NOMEM);
    assert_int_equal(verdict.kind, SCHEDQ_VERDICT_UNSEEN);
    assert_true(account_heal(&snapshot->account));
    assert_ok(schedq_preemption_verdict(snapshot->preemption, full, &verdict));
    assert_int_equal(verdict.kind, SCHEDQ_VERDICT_UNRESOLVABLE);
    assert_int_equal(verdict.reason, SCHEDQ_REASON_RESOURCE);
}

static void
handles_of_nodes_that_went_are_used_again_lowest_first(void **state)
{
    snapshot_t *snapshot = *state;
    schedq_running_view_t view;

    for (int i = 0; i < 5; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "n%d", i);
        assert_int_equal(snapshot_node(snapshot, name, 100), i);
    }
    schedq_running_t pod = snapshot_pod(snapshot, "ns/a", 3, 1, 100);
    assert_ok(schedq_cluster_remove_node(snapshot->cluster, 3));
    assert_status(schedq_cluster_pod(snapshot->cluster, pod, &view), SCHEDQ_NOT_FOUND);
    assert_ok(schedq_cluster_remove_node(snapshot->cluster, 1));
    assert_int_equal(snapshot_node(snapshot, "n5", 100), 1);
    assert_int_equal(snapshot_node(snapshot, "n6", 100), 3);
    assert_ok(schedq_cluster_remove_node(snapshot->cluster, 4));
    assert_int_equal(schedq_cluster_nodes_end(snapshot->cluster), 4);
    assert_int_equal(snapshot_node(snapshot, "n7", 100), 4);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        snapshot_test(of_nodes_that_tie_the_first_visited_wins),
        snapshot_test(pods_of_equal_importance_are_reprieved_in_the_order_of_their_coming),
        snapshot_test(at_least_one_candidate_is_looked_for_outside_the_kube_presets),
        snapshot_test(a_pod_that_has_just_started_is_no_victim),
        snapshot_test(a_workload_is_not_evicted_twice_within_the_time),
        snapshot_test(a_nomination_counts_until_its_lease_is_over),
        snapshot_test(expired_nominations_are_told),
        snapshot_test(a_node_that_needs_more_victims_than_allowed_is_no_candidate),
        snapshot_test(the_least_cost_wins_before_priorities),
        snapshot_test(more_priorities_than_levels_are_summed_right),
        snapshot_test(an_executor_changes_nothing),
        snapshot_test(a_second_evaluation_allocates_nothing),
        snapshot_test(without_memory_a_decision_is_as_it_was),
        snapshot_test(a_snapshot_is_cleared_without_tables_for_the_levels_that_are_left),
        snapshot_test(a_verdict_without_memory_is_none),
        snapshot_test(handles_of_nodes_that_went_are_used_again_lowest_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
