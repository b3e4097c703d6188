/* engine/policy/label.h: what metrics call an event. SPEC 8.7. */
#include <string.h>

#include "expect.h"
#include "policy/label.h"
#include "schedq/schedq.h"

static void
expect_label(uint8_t kube_minor, const char *resource, uint32_t number, uint32_t actions,
             const char *expected)
{
    char text[100];
    label_compose(text, sizeof text, resource, (struct event_kind){number, actions}, kube_minor);
    assert_string_equal(text, expected);
}

static void
a_label_is_resource_and_action(void **state)
{
    (void)state;
    static const struct {
        uint32_t action;
        const char *text;
    } actions[] = {
        {SCHEDQ_ACTION_ADD, "ThingAdd"},
        {SCHEDQ_ACTION_DELETE, "ThingDelete"},
        {SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE, "ThingUpdateNodeAllocatable"},
        {SCHEDQ_ACTION_UPDATE_NODE_LABEL, "ThingUpdateNodeLabel"},
        {SCHEDQ_ACTION_UPDATE_NODE_TAINT, "ThingUpdateNodeTaint"},
        {SCHEDQ_ACTION_UPDATE_NODE_CONDITION, "ThingUpdateNodeCondition"},
        {SCHEDQ_ACTION_UPDATE_NODE_ANNOTATION, "ThingUpdateNodeAnnotation"},
        {SCHEDQ_ACTION_UPDATE_POD_LABEL, "ThingUpdatePodLabel"},
        {SCHEDQ_ACTION_UPDATE_POD_SCALE_DOWN, "ThingUpdatePodScaleDown"},
        {SCHEDQ_ACTION_UPDATE_POD_TOLERATION, "ThingUpdatePodToleration"},
        {SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED, "ThingUpdatePodSchedulingGatesEliminated"},
        {SCHEDQ_ACTION_UPDATE_POD_GENERATED_CLAIM, "ThingUpdatePodGeneratedResourceClaim"},
        {SCHEDQ_ACTION_UPDATE, "ThingUpdate"},
        {SCHEDQ_ACTION_ALL, "ThingAll"},
        {SCHEDQ_ACTION_ADD | SCHEDQ_ACTION_DELETE, "Thing"},
    };
    for (size_t i = 0; i < sizeof actions / sizeof *actions; i++) {
        expect_label(34, "Thing", RESOURCE_FIRST_FREE, actions[i].action, actions[i].text);
        expect_label(0, "Thing", RESOURCE_FIRST_FREE, actions[i].action, actions[i].text);
    }
    expect_label(34, "AssignedPod", RESOURCE_ASSIGNED_POD, SCHEDQ_ACTION_ADD, "AssignedPodAdd");
    expect_label(34, "UnschedulablePod", RESOURCE_UNSCHEDULED_POD, SCHEDQ_ACTION_ADD,
                 "UnschedulablePodAdd");
}

static void
kube_1_26_has_names_of_its_own(void **state)
{
    (void)state;
    expect_label(26, "Node", RESOURCE_NODE, SCHEDQ_ACTION_ADD, "NodeAdd");
    expect_label(26, "Node", RESOURCE_NODE, SCHEDQ_ACTION_UPDATE_NODE_TAINT, "NodeTaintChange");
    expect_label(26, "Node", RESOURCE_NODE, SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE,
                 "NodeAllocatableChange");
    expect_label(26, "Node", RESOURCE_NODE, SCHEDQ_ACTION_UPDATE_NODE_LABEL, "NodeLabelChange");
    expect_label(26, "Node", RESOURCE_NODE, SCHEDQ_ACTION_UPDATE_NODE_CONDITION,
                 "NodeConditionChange");
    expect_label(26, "UnschedulablePod", RESOURCE_UNSCHEDULED_POD, SCHEDQ_ACTION_ADD, "PodAdd");
    expect_label(26, "AssignedPod", RESOURCE_ASSIGNED_POD, SCHEDQ_ACTION_ADD, "AssignedPodAdd");
    expect_label(26, "AssignedPod", RESOURCE_ASSIGNED_POD, SCHEDQ_ACTION_DELETE,
                 "AssignedPodDelete");
}

static void
a_long_label_is_cut_and_ends(void **state)
{
    (void)state;
    char text[12];
    memset(text, '?', sizeof text);
    label_compose(text, 8, "Something", (struct event_kind){RESOURCE_FIRST_FREE, SCHEDQ_ACTION_ADD},
                  34);
    assert_string_equal(text, "Somethi");
    assert_int_equal(text[8], '?');
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_label_is_resource_and_action),
        cmocka_unit_test(kube_1_26_has_names_of_its_own),
        cmocka_unit_test(a_long_label_is_cut_and_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
