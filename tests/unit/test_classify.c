/* What an update of a pod or of a node means: which events, in kube's order. SPEC 8.5, 8.6. */
#include <string.h>

#include "engines.h"

static const schedq_quantity_t requests[] = {{1, 1000}, {2, 500}};

static void
expect_events(const schedq_event_t *got, size_t count, const schedq_event_t *expected,
              size_t expected_count)
{
    assert_int_equal(count, expected_count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(got[i], expected[i]);
}

#define EXPECT(...)                                                                 \
    do {                                                                            \
        const schedq_event_t expected[] = {__VA_ARGS__};                            \
        expect_events(events, count, expected, sizeof expected / sizeof *expected); \
    } while (0)

static size_t
classify_facts(const schedq_pod_facts_t *before, const schedq_pod_facts_t *after,
               schedq_event_t events[7])
{
    return schedq_classify_pod_update(before, requests, 2, after, requests, 2, events);
}

static void
a_change_that_no_kind_names_is_a_generic_update(void **state)
{
    (void)state;
    schedq_pod_facts_t before = {.labels = 1}, after = {.labels = 1};
    schedq_event_t events[7];
    size_t count = classify_facts(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE);
    after.assigned = 1;
    count = classify_facts(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_ASSIGNED_POD_UPDATE);
    count = classify_facts(&after, &before, events);
    EXPECT(SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE);
}

static void
each_kind_of_change_is_one_event(void **state)
{
    (void)state;
    const schedq_pod_facts_t before = {.labels = 1, .claims = 2, .gates = 1, .tolerations = 3};
    schedq_event_t events[7];
    schedq_pod_facts_t after = before;
    after.labels = 9;
    size_t count = classify_facts(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL);
    after = before;
    after.gates = 0;
    count = classify_facts(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED);
    after = before;
    after.tolerations = 2;
    count = classify_facts(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_TOLERATION);
    after = before;
    after.claims = 7;
    count = classify_facts(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GENERATED_CLAIM);
    after.assigned = 1;
    count = classify_facts(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_GENERATED_CLAIM);
}

static void
only_the_removal_of_the_last_gate_counts(void **state)
{
    (void)state;
    schedq_pod_facts_t before = {.gates = 2}, after = {.gates = 1};
    schedq_event_t events[7];
    size_t count = classify_facts(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE);
    before.gates = 0;
    count = classify_facts(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE);
}

static void
all_kinds_together_come_in_kubes_order(void **state)
{
    (void)state;
    const schedq_pod_facts_t before = {.labels = 1, .claims = 2, .gates = 1, .tolerations = 3};
    const schedq_pod_facts_t after = {.labels = 2, .claims = 3, .gates = 0, .tolerations = 4};
    const schedq_quantity_t less[] = {{1, 999}, {2, 500}};
    schedq_event_t events[7];
    size_t count = schedq_classify_pod_update(&before, requests, 2, &after, less, 2, events);
    EXPECT(SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL,
           SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_DOWN,
           SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED,
           SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_TOLERATION,
           SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GENERATED_CLAIM);
}

static size_t
classify_requests(const schedq_quantity_t *before, size_t before_count,
                  const schedq_quantity_t *after, size_t after_count, schedq_event_t events[7])
{
    static const schedq_pod_facts_t facts = {.assigned = 1};
    return schedq_classify_pod_update(&facts, before, before_count, &facts, after, after_count,
                                      events);
}

static void
a_scale_down_is_any_request_that_shrank_or_vanished(void **state)
{
    (void)state;
    schedq_event_t events[7];
    const schedq_quantity_t smaller[] = {{2, 499}, {1, 9000}}, vanished[] = {{2, 500}},
                            swapped[] = {{2, 500}, {1, 1000}};
    const schedq_quantity_t larger[] = {{1, 1001}, {2, 500}, {3, 1}};
    size_t count = classify_requests(requests, 2, smaller, 2, events);
    EXPECT(SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_DOWN);
    count = classify_requests(requests, 2, vanished, 1, events);
    EXPECT(SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_DOWN);
    count = classify_requests(requests, 2, NULL, 0, events);
    EXPECT(SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_DOWN);
    count = classify_requests(requests, 2, swapped, 2, events);
    EXPECT(SCHEDQ_EVENT_ASSIGNED_POD_UPDATE);
    count = classify_requests(requests, 2, larger, 3, events);
    EXPECT(SCHEDQ_EVENT_ASSIGNED_POD_UPDATE);
    count = classify_requests(NULL, 0, requests, 2, events);
    EXPECT(SCHEDQ_EVENT_ASSIGNED_POD_UPDATE);
}

/* ---- nodes ---- */

static void
a_heartbeat_is_no_event(void **state)
{
    (void)state;
    const schedq_node_facts_t node = {
        .allocatable = 1, .labels = 2, .taints = 3, .conditions = 4, .annotations = 5};
    schedq_event_t events[7];
    assert_int_equal(schedq_classify_node_update(&node, &node, events), 0);
}

static void
each_change_of_a_node_is_one_event(void **state)
{
    (void)state;
    const schedq_node_facts_t before = {
        .allocatable = 1, .labels = 2, .taints = 3, .conditions = 4, .annotations = 5};
    schedq_event_t events[7];
    schedq_node_facts_t after = before;
    after.allocatable = 9;
    size_t count = schedq_classify_node_update(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE);
    after = before;
    after.labels = 9;
    count = schedq_classify_node_update(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_NODE_UPDATE_LABEL);
    after = before;
    after.taints = 9;
    count = schedq_classify_node_update(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_NODE_UPDATE_TAINT);
    after = before;
    after.conditions = 9;
    count = schedq_classify_node_update(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_NODE_UPDATE_CONDITION);
    after = before;
    after.annotations = 9;
    count = schedq_classify_node_update(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION);
}

static void
a_node_that_became_schedulable_is_a_taint_event(void **state)
{
    (void)state;
    schedq_node_facts_t closed = {.unschedulable = 1}, open = {.unschedulable = 0};
    schedq_event_t events[7];
    size_t count = schedq_classify_node_update(&closed, &open, events);
    EXPECT(SCHEDQ_EVENT_NODE_UPDATE_TAINT);
    assert_int_equal(schedq_classify_node_update(&open, &closed, events), 0);
}

static void
all_changes_of_a_node_come_in_kubes_order_and_none_twice(void **state)
{
    (void)state;
    const schedq_node_facts_t before = {.unschedulable = 1};
    schedq_node_facts_t after = {
        .allocatable = 1, .labels = 2, .taints = 3, .conditions = 4, .annotations = 5};
    schedq_event_t events[7];
    size_t count = schedq_classify_node_update(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_NODE_UPDATE_TAINT, SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE,
           SCHEDQ_EVENT_NODE_UPDATE_LABEL, SCHEDQ_EVENT_NODE_UPDATE_CONDITION,
           SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION);
    after.unschedulable = 1;
    count = schedq_classify_node_update(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE, SCHEDQ_EVENT_NODE_UPDATE_LABEL,
           SCHEDQ_EVENT_NODE_UPDATE_TAINT, SCHEDQ_EVENT_NODE_UPDATE_CONDITION,
           SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION);
}

/* kube 1.37: an update may be both, and the waiting pod itself is a resource of its own. */
static void
a_request_that_grew_is_a_scale_up_if_the_facts_ask_for_it(void **state)
{
    (void)state;
    const schedq_quantity_t other[] = {{1, 999}, {3, 1}};
    schedq_pod_facts_t before = {.labels = 1}, after = before;
    schedq_event_t events[7];
    size_t count = schedq_classify_pod_update(&before, requests, 2, &after, other, 2, events);
    EXPECT(SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_DOWN);
    after.scale_up = 1;
    count = schedq_classify_pod_update(&before, requests, 2, &after, other, 2, events);
    EXPECT(SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_DOWN,
           SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_UP);
    after.target = 1;
    after.labels = 2;
    count = schedq_classify_pod_update(&before, requests, 2, &after, other, 2, events);
    EXPECT(SCHEDQ_EVENT_TARGET_POD_UPDATE_LABEL, SCHEDQ_EVENT_TARGET_POD_UPDATE_SCALE_DOWN,
           SCHEDQ_EVENT_TARGET_POD_UPDATE_SCALE_UP);
    after.assigned = 1;
    count = schedq_classify_pod_update(&before, requests, 1, &after, requests, 2, events);
    EXPECT(SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_LABEL, SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_UP);
    after = (schedq_pod_facts_t){.labels = 1, .target = 1};
    count = schedq_classify_pod_update(&before, requests, 2, &after, requests, 2, events);
    EXPECT(SCHEDQ_EVENT_TARGET_POD_UPDATE);
}

static void
a_nodes_policy_and_features_come_last(void **state)
{
    (void)state;
    const schedq_node_facts_t before = {.preemption_policy = 1, .declared_features = 4};
    const schedq_node_facts_t after = {
        .annotations = 1, .preemption_policy = 2, .declared_features = 5};
    schedq_event_t events[7];
    size_t count = schedq_classify_node_update(&before, &after, events);
    EXPECT(SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION, SCHEDQ_EVENT_NODE_UPDATE_PREEMPTION_POLICY,
           SCHEDQ_EVENT_NODE_UPDATE_DECLARED_FEATURE);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_change_that_no_kind_names_is_a_generic_update),
        cmocka_unit_test(each_kind_of_change_is_one_event),
        cmocka_unit_test(only_the_removal_of_the_last_gate_counts),
        cmocka_unit_test(all_kinds_together_come_in_kubes_order),
        cmocka_unit_test(a_scale_down_is_any_request_that_shrank_or_vanished),
        cmocka_unit_test(a_heartbeat_is_no_event),
        cmocka_unit_test(each_change_of_a_node_is_one_event),
        cmocka_unit_test(a_node_that_became_schedulable_is_a_taint_event),
        cmocka_unit_test(all_changes_of_a_node_come_in_kubes_order_and_none_twice),
        cmocka_unit_test(a_request_that_grew_is_a_scale_up_if_the_facts_ask_for_it),
        cmocka_unit_test(a_nodes_policy_and_features_come_last),
    };
    return fx_run_tests(argc, argv, tests);
}
