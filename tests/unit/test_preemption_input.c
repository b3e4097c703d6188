/*
 * Bad arguments of every preemption call: a typed error with words (field, value, range), and
 * nothing has changed.
 */
#include "snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void
same_text(const snapshot_t *snapshot, char *before)
{
    char *after = snapshot_text(snapshot);

    assert_string_equal(after, before);
    free(after);
    free(before);
}

/* The call fails so, its words have `part` in them, and the snapshot is as it was. */
#define REFUSED(snapshot, call, status, part)                             \
    do {                                                                  \
        char *before = snapshot_text(snapshot);                           \
        assert_status((call), (status));                                  \
        assert_contains(schedq_cluster_error((snapshot)->cluster), part); \
        same_text(snapshot, before);                                      \
    } while (0)

/* A node, a pod, a budget and a nomination. */
static uint32_t
fill(snapshot_t *snapshot)
{
    const schedq_requirement_t requirement = {.key = "app", .value = "web"};
    const schedq_budget_spec_t budget = {.struct_size = sizeof(schedq_budget_spec_t),
                                         .name = "ns/d",
                                         .requirements = &requirement,
                                         .requirement_count = 1,
                                         .selector = SCHEDQ_SELECT_ALL_OF};
    uint32_t node = snapshot_node(snapshot, "n1", 1000);
    const schedq_nominated_spec_t nominated = {.struct_size = sizeof(schedq_nominated_spec_t),
                                               .name = "ns/q",
                                               .node = node,
                                               .expires_ns = SCHEDQ_NO_DEADLINE};

    (void)snapshot_pod(snapshot, "ns/a", node, 1, 100);
    assert_ok(schedq_cluster_set_budget(snapshot->cluster, &budget));
    assert_ok(schedq_cluster_nominate(snapshot->cluster, &nominated, NULL));
    return node;
}

static void
bad_names_are_refused_everywhere(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = fill(snapshot);
    static char too_long[SCHEDQ_NAME_MAX + 2];
    memset(too_long, 'x', sizeof too_long - 1);
    too_long[2] = '/';
    const char *names[] = {NULL, "", "abc", "/ab", "ab/", "a/b/c", "a//b", too_long};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const schedq_running_spec_t pod = snapshot_pod_spec(names[i], node, 0, 0);
        const schedq_budget_spec_t budget = {.struct_size = sizeof(schedq_budget_spec_t),
                                             .name = names[i]};
        const schedq_nominated_spec_t nominated = {
            .struct_size = sizeof(schedq_nominated_spec_t), .name = names[i], .node = node};
        schedq_running_t found;

        REFUSED(snapshot, schedq_cluster_add_pod(snapshot->cluster, &pod, NULL), SCHEDQ_INVALID,
                "name");
        REFUSED(snapshot, schedq_cluster_set_budget(snapshot->cluster, &budget), SCHEDQ_INVALID,
                "name");
        REFUSED(snapshot, schedq_cluster_remove_budget(snapshot->cluster, names[i]), SCHEDQ_INVALID,
                "name");
        REFUSED(snapshot, schedq_cluster_nominate(snapshot->cluster, &nominated, NULL),
                SCHEDQ_INVALID, "name");
        REFUSED(snapshot, schedq_cluster_unnominate(snapshot->cluster, names[i], 0), SCHEDQ_INVALID,
                "name");
        assert_status(schedq_cluster_find_pod(snapshot->cluster, names[i], &found), SCHEDQ_INVALID);
    }
    const char *node_names[] = {NULL, "", too_long};

    for (size_t i = 0; i < sizeof node_names / sizeof *node_names; i++) {
        const schedq_node_spec_t spec = {.struct_size = sizeof(schedq_node_spec_t),
                                         .name = node_names[i]};
        uint32_t number;

        REFUSED(snapshot, schedq_cluster_add_node(snapshot->cluster, &spec, NULL), SCHEDQ_INVALID,
                "name");
        REFUSED(snapshot, schedq_cluster_resource(snapshot->cluster, node_names[i], &number),
                SCHEDQ_INVALID, "name");
        assert_status(schedq_cluster_find_node(snapshot->cluster, node_names[i], &number),
                      SCHEDQ_INVALID);
    }
}

static void
a_struct_that_was_only_zeroed_is_refused(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = fill(snapshot);
    const schedq_node_spec_t no_size = {.name = "n2"};
    const schedq_running_spec_t pod = {.name = "ns/b", .node = node};
    const schedq_budget_spec_t budget = {.name = "ns/e"};
    const schedq_nominated_spec_t nominated = {.name = "ns/r", .node = node};
    const schedq_cluster_arrays_t arrays = {.node_count = 0};
    schedq_running_t found;

    assert_ok(schedq_cluster_find_pod(snapshot->cluster, "ns/a", &found));
    REFUSED(snapshot, schedq_cluster_add_node(snapshot->cluster, &no_size, NULL), SCHEDQ_INVALID,
            "spec.struct_size 0: ");
    REFUSED(snapshot, schedq_cluster_update_node(snapshot->cluster, node, &no_size), SCHEDQ_INVALID,
            "spec.struct_size 0: ");
    REFUSED(snapshot, schedq_cluster_add_pod(snapshot->cluster, &pod, NULL), SCHEDQ_INVALID,
            "spec.struct_size 0: ");
    REFUSED(snapshot, schedq_cluster_update_pod(snapshot->cluster, found, &pod), SCHEDQ_INVALID,
            "spec.struct_size 0: ");
    REFUSED(snapshot, schedq_cluster_set_budget(snapshot->cluster, &budget), SCHEDQ_INVALID,
            "spec.struct_size 0: ");
    REFUSED(snapshot, schedq_cluster_nominate(snapshot->cluster, &nominated, NULL), SCHEDQ_INVALID,
            "spec.struct_size 0: ");
    REFUSED(snapshot, schedq_cluster_load(snapshot->cluster, &arrays), SCHEDQ_INVALID,
            "arrays.struct_size 0: ");
}

static void
names_that_are_taken_are_refused(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = fill(snapshot);
    const schedq_running_spec_t pod = snapshot_pod_spec("ns/a", node, 5, 1);
    const schedq_node_spec_t again = {.struct_size = sizeof(schedq_node_spec_t), .name = "n1"};

    REFUSED(snapshot, schedq_cluster_add_pod(snapshot->cluster, &pod, NULL), SCHEDQ_EXISTS, "ns/a");
    REFUSED(snapshot, schedq_cluster_add_node(snapshot->cluster, &again, NULL), SCHEDQ_EXISTS,
            "n1");
}

static void
what_is_not_there_is_not_found(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = fill(snapshot);
    const schedq_running_t nobody[] = {{0, 0}, {0, 2}, {7, 1}, {UINT32_MAX, UINT32_MAX}};
    const schedq_running_spec_t here = snapshot_pod_spec("ns/b", node, 5, 1);
    const schedq_running_spec_t nowhere = snapshot_pod_spec("ns/b", node + 1, 5, 1);
    const schedq_nominated_spec_t nominated = {
        .struct_size = sizeof(schedq_nominated_spec_t), .name = "ns/r", .node = SCHEDQ_NO_NODE};
    const schedq_node_spec_t spec = {.struct_size = sizeof(schedq_node_spec_t), .name = "n2"};
    schedq_running_view_t view;
    schedq_running_t a;

    for (size_t i = 0; i < sizeof nobody / sizeof *nobody; i++) {
        REFUSED(snapshot, schedq_cluster_remove_pod(snapshot->cluster, nobody[i]), SCHEDQ_NOT_FOUND,
                "handle");
        REFUSED(snapshot, schedq_cluster_update_pod(snapshot->cluster, nobody[i], &here),
                SCHEDQ_NOT_FOUND, "handle");
        assert_status(schedq_cluster_pod(snapshot->cluster, nobody[i], &view), SCHEDQ_NOT_FOUND);
    }
    assert_ok(schedq_cluster_find_pod(snapshot->cluster, "ns/a", &a));
    REFUSED(snapshot, schedq_cluster_add_pod(snapshot->cluster, &nowhere, NULL), SCHEDQ_NOT_FOUND,
            "node 1");
    schedq_running_spec_t moved = nowhere;
    moved.name = NULL;
    REFUSED(snapshot, schedq_cluster_update_pod(snapshot->cluster, a, &moved), SCHEDQ_NOT_FOUND,
            "node 1");
    REFUSED(snapshot, schedq_cluster_update_pod(snapshot->cluster, a, &here), SCHEDQ_INVALID,
            "ns/b");
    REFUSED(snapshot, schedq_cluster_nominate(snapshot->cluster, &nominated, NULL),
            SCHEDQ_NOT_FOUND, "node");
    REFUSED(snapshot, schedq_cluster_remove_node(snapshot->cluster, 1), SCHEDQ_NOT_FOUND, "node 1");
    REFUSED(snapshot, schedq_cluster_update_node(snapshot->cluster, 1, &spec), SCHEDQ_NOT_FOUND,
            "node 1");
    REFUSED(snapshot, schedq_cluster_update_node(snapshot->cluster, node, &spec), SCHEDQ_INVALID,
            "n2");
    REFUSED(snapshot, schedq_cluster_remove_budget(snapshot->cluster, "ns/e"), SCHEDQ_NOT_FOUND,
            "ns/e");
    REFUSED(snapshot, schedq_cluster_unnominate(snapshot->cluster, "ns/r", 0), SCHEDQ_NOT_FOUND,
            "ns/r");
    REFUSED(snapshot, schedq_cluster_unnominate(snapshot->cluster, "ns/q", 77), SCHEDQ_STALE, "77");
    assert_ok(schedq_cluster_remove_pod(snapshot->cluster, a));
    REFUSED(snapshot, schedq_cluster_remove_pod(snapshot->cluster, a), SCHEDQ_NOT_FOUND, "handle");
}

static void
quantities_out_of_range_are_refused(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = fill(snapshot);
    const int64_t bad[] = {-1, INT64_MIN, SCHEDQ_QUANTITY_MAX + 1, INT64_MAX};
    uint32_t gpu;

    assert_ok(schedq_cluster_resource(snapshot->cluster, "gpu", &gpu));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const schedq_amount_t extended = {.resource = gpu, .amount = bad[i]};
        const schedq_amounts_t amounts[] = {{.cpu_milli = bad[i]},
                                            {.memory_bytes = bad[i]},
                                            {.extended = &extended, .extended_count = 1}};

        for (size_t k = 0; k < sizeof amounts / sizeof *amounts; k++) {
            schedq_running_spec_t pod = snapshot_pod_spec("ns/b", node, 0, 0);
            const schedq_node_spec_t spec = {
                .struct_size = sizeof(schedq_node_spec_t), .name = "n2", .allocatable = amounts[k]};
            const schedq_nominated_spec_t nominated = {.struct_size =
                                                           sizeof(schedq_nominated_spec_t),
                                                       .name = "ns/r",
                                                       .node = node,
                                                       .requests = amounts[k]};

            pod.requests = amounts[k];
            REFUSED(snapshot, schedq_cluster_add_pod(snapshot->cluster, &pod, NULL), SCHEDQ_INVALID,
                    "0..");
            REFUSED(snapshot, schedq_cluster_add_node(snapshot->cluster, &spec, NULL),
                    SCHEDQ_INVALID, "0..");
            REFUSED(snapshot, schedq_cluster_nominate(snapshot->cluster, &nominated, NULL),
                    SCHEDQ_INVALID, "0..");
        }
        const schedq_node_spec_t slots = {
            .struct_size = sizeof(schedq_node_spec_t), .name = "n2", .pods = bad[i]};

        REFUSED(snapshot, schedq_cluster_add_node(snapshot->cluster, &slots, NULL), SCHEDQ_INVALID,
                "pods");
    }
}

static void
extended_resources_are_known_and_named_once(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t gpu;

    assert_ok(schedq_cluster_resource(snapshot->cluster, "gpu", &gpu));
    assert_int_equal(gpu, 3);
    const schedq_amount_t twice[] = {{.resource = gpu, .amount = 1},
                                     {.resource = gpu, .amount = 1}};
    const schedq_amount_t unknown[] = {{.resource = gpu + 1}, {.resource = SCHEDQ_RESOURCE_CPU}};
    schedq_node_spec_t spec = {.struct_size = sizeof(schedq_node_spec_t),
                               .name = "n2",
                               .allocatable = {.extended = twice, .extended_count = 2}};

    REFUSED(snapshot, schedq_cluster_add_node(snapshot->cluster, &spec, NULL), SCHEDQ_INVALID,
            "once");
    spec.allocatable.extended_count = 1;
    for (size_t i = 0; i < 2; i++) {
        spec.allocatable.extended = &unknown[i];
        REFUSED(snapshot, schedq_cluster_add_node(snapshot->cluster, &spec, NULL), SCHEDQ_INVALID,
                "resource");
    }
    spec.allocatable.extended = NULL;
    REFUSED(snapshot, schedq_cluster_add_node(snapshot->cluster, &spec, NULL), SCHEDQ_INVALID,
            "extended");
    REFUSED(snapshot, schedq_cluster_resource(snapshot->cluster, "cpu", &gpu), SCHEDQ_INVALID,
            "cpu");
    for (uint32_t i = 0; i < SCHEDQ_RESOURCES_MAX - 4; i++) {
        char name[16];
        (void)snprintf(name, sizeof name, "r%u", i);
        assert_ok(schedq_cluster_resource(snapshot->cluster, name, &gpu));
    }
    REFUSED(snapshot, schedq_cluster_resource(snapshot->cluster, "one more", &gpu), SCHEDQ_FULL,
            "1024");
}

static void
sums_that_would_overflow_are_refused(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = snapshot_node(snapshot, "n1", SCHEDQ_QUANTITY_MAX);
    schedq_running_t a = snapshot_pod(snapshot, "ns/a", node, 1, SCHEDQ_QUANTITY_MAX);
    const schedq_running_spec_t one_more = snapshot_pod_spec("ns/b", node, 1, 1);
    schedq_running_spec_t same = snapshot_pod_spec(NULL, node, 2, SCHEDQ_QUANTITY_MAX);
    schedq_nominated_spec_t nominated = {.struct_size = sizeof(schedq_nominated_spec_t),
                                         .name = "ns/q",
                                         .node = node,
                                         .requests.cpu_milli = SCHEDQ_QUANTITY_MAX,
                                         .expires_ns = 1};

    REFUSED(snapshot, schedq_cluster_add_pod(snapshot->cluster, &one_more, NULL), SCHEDQ_FULL,
            "0..1152921504606846976");
    assert_ok(schedq_cluster_update_pod(snapshot->cluster, a, &same));
    assert_ok(schedq_cluster_nominate(snapshot->cluster, &nominated, NULL));
    assert_ok(schedq_cluster_nominate(snapshot->cluster, &nominated, NULL));
    nominated.name = "ns/r";
    nominated.requests.cpu_milli = 1;
    REFUSED(snapshot, schedq_cluster_nominate(snapshot->cluster, &nominated, NULL), SCHEDQ_FULL,
            "together");
    snapshot->preemptor.requests.cpu_milli = SCHEDQ_QUANTITY_MAX;
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, node);
}

static void
bad_selectors_and_labels_are_refused(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = fill(snapshot);
    const schedq_requirement_t bad[] = {
        {.key = NULL, .value = "web"},
        {.key = "", .value = "web"},
        {.key = "app", .value = NULL},
        {.key = "app", .kind = 2},
        {.key = "app", .value = "web", .kind = SCHEDQ_LABEL_EXISTS},
        {.key = "app", .value = "web", .reserved = 1},
    };
    schedq_budget_spec_t budget = {.struct_size = sizeof(schedq_budget_spec_t),
                                   .name = "ns/e",
                                   .selector = SCHEDQ_SELECT_ALL_OF,
                                   .requirement_count = 1};
    const char *disrupted[] = {"a", NULL};
    const schedq_label_t labels[] = {{"app", "web"}, {"app", "db"}, {NULL, "x"}, {"tier", NULL}};
    schedq_running_spec_t pod = snapshot_pod_spec("ns/b", node, 0, 0);

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        budget.requirements = &bad[i];
        REFUSED(snapshot, schedq_cluster_set_budget(snapshot->cluster, &budget), SCHEDQ_INVALID,
                "requirement");
    }
    budget.requirements = NULL;
    REFUSED(snapshot, schedq_cluster_set_budget(snapshot->cluster, &budget), SCHEDQ_INVALID,
            "requirements NULL");
    budget.selector = SCHEDQ_SELECT_NIL;
    REFUSED(snapshot, schedq_cluster_set_budget(snapshot->cluster, &budget), SCHEDQ_INVALID,
            "requirement_count 1");
    budget.selector = 3;
    REFUSED(snapshot, schedq_cluster_set_budget(snapshot->cluster, &budget), SCHEDQ_INVALID,
            "selector 3");
    budget = (schedq_budget_spec_t){.struct_size = sizeof(schedq_budget_spec_t),
                                    .name = "ns/d",
                                    .disrupted = disrupted,
                                    .disrupted_count = 2};
    REFUSED(snapshot, schedq_cluster_set_budget(snapshot->cluster, &budget), SCHEDQ_INVALID,
            "disrupted");
    pod.labels = labels;
    for (uint32_t i = 2; i <= 4; i++) {
        pod.label_count = i == 2 ? 2 : 1;
        pod.labels = i == 2 ? labels : &labels[i - 1];
        REFUSED(snapshot, schedq_cluster_add_pod(snapshot->cluster, &pod, NULL), SCHEDQ_INVALID,
                "labels");
    }
    pod.labels = NULL;
    REFUSED(snapshot, schedq_cluster_add_pod(snapshot->cluster, &pod, NULL), SCHEDQ_INVALID,
            "labels NULL");
    pod.label_count = SCHEDQ_LABELS_MAX + 1;
    REFUSED(snapshot, schedq_cluster_add_pod(snapshot->cluster, &pod, NULL), SCHEDQ_INVALID,
            "0..1024");
}

static void
missing_arguments_are_refused(void **state)
{
    snapshot_t *snapshot = *state;
    schedq_cluster_t *cluster = snapshot->cluster;
    const schedq_running_t pod = {0, 0};
    uint32_t node;

    fill(snapshot);
    REFUSED(snapshot, schedq_cluster_add_node(cluster, NULL, NULL), SCHEDQ_INVALID, "spec NULL");
    REFUSED(snapshot, schedq_cluster_update_node(cluster, 0, NULL), SCHEDQ_INVALID, "spec NULL");
    REFUSED(snapshot, schedq_cluster_add_pod(cluster, NULL, NULL), SCHEDQ_INVALID, "spec NULL");
    REFUSED(snapshot, schedq_cluster_update_pod(cluster, pod, NULL), SCHEDQ_INVALID, "spec NULL");
    REFUSED(snapshot, schedq_cluster_set_budget(cluster, NULL), SCHEDQ_INVALID, "spec NULL");
    REFUSED(snapshot, schedq_cluster_nominate(cluster, NULL, NULL), SCHEDQ_INVALID, "spec NULL");
    REFUSED(snapshot, schedq_cluster_load(cluster, NULL), SCHEDQ_INVALID, "arrays NULL");
    REFUSED(snapshot, schedq_cluster_resource(cluster, "gpu", NULL), SCHEDQ_INVALID,
            "resource NULL");
    REFUSED(snapshot, schedq_cluster_record_eviction(cluster, 0, 1), SCHEDQ_INVALID, "workload 0");
    REFUSED(snapshot, schedq_cluster_record_eviction(cluster, 1, -1), SCHEDQ_INVALID, "now_ns -1");
    REFUSED(snapshot, schedq_cluster_expire(cluster, -1, NULL, NULL), SCHEDQ_INVALID, "now_ns -1");
    assert_status(schedq_cluster_write(cluster, NULL, NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_find_node(cluster, "n1", NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_find_pod(cluster, "ns/a", NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_pod(cluster, pod, NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_add_node(NULL, NULL, NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_update_node(NULL, 0, NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_remove_node(NULL, 0), SCHEDQ_INVALID);
    assert_status(schedq_cluster_find_node(NULL, "n1", &node), SCHEDQ_INVALID);
    assert_status(schedq_cluster_add_pod(NULL, NULL, NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_update_pod(NULL, pod, NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_remove_pod(NULL, pod), SCHEDQ_INVALID);
    assert_status(schedq_cluster_set_budget(NULL, NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_remove_budget(NULL, "ns/d"), SCHEDQ_INVALID);
    assert_status(schedq_cluster_nominate(NULL, NULL, NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_unnominate(NULL, "ns/q", 0), SCHEDQ_INVALID);
    assert_status(schedq_cluster_expire(NULL, 0, NULL, NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_record_eviction(NULL, 1, 0), SCHEDQ_INVALID);
    assert_status(schedq_cluster_load(NULL, NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_resource(NULL, "gpu", &node), SCHEDQ_INVALID);
    assert_status(schedq_cluster_create(NULL, NULL, NULL, 0), SCHEDQ_INVALID);
    assert_status(schedq_preemption_create(NULL, NULL, NULL, 0), SCHEDQ_INVALID);
    assert_int_equal(schedq_cluster_nodes_end(NULL), 0);
    assert_int_equal(schedq_cluster_node_object(NULL, 0), 0);
    assert_string_equal(schedq_cluster_error(NULL), "");
    schedq_cluster_destroy(NULL);
    schedq_cluster_clear(NULL);
    schedq_preemption_destroy(NULL);
}

/* `why` begins with something that a call that says nothing would leave there. */
static void
what_cannot_be_made_says_why(void **state)
{
    snapshot_t *snapshot = *state;
    schedq_allocator_t half = account_allocator(&snapshot->account);
    schedq_allocator_t reserved = half;
    schedq_preemption_t *preemption;
    schedq_cluster_t *cluster;
    char why[100] = "?";

    half.free = NULL;
    reserved.reserved = 1;
    assert_status(schedq_cluster_create(NULL, NULL, why, sizeof why), SCHEDQ_INVALID);
    assert_string_equal(why, "cluster NULL: a pointer");
    assert_status(schedq_preemption_create(NULL, NULL, why, sizeof why), SCHEDQ_INVALID);
    assert_string_equal(why, "preemption NULL: a pointer");
    assert_status(schedq_cluster_create(&half, &cluster, why, sizeof why), SCHEDQ_INVALID);
    assert_string_equal(why, "allocator: alloc and free, or neither");
    assert_null(cluster);
    assert_status(schedq_preemption_create(&reserved, &preemption, why, sizeof why),
                  SCHEDQ_INVALID);
    assert_contains(why, "allocator.reserved 1: 0");
    assert_null(preemption);
}

static void
a_load_that_fails_leaves_nothing_and_says_where(void **state)
{
    snapshot_t *snapshot = *state;
    const schedq_node_spec_t nodes[] = {
        {.struct_size = sizeof(schedq_node_spec_t), .name = "n1", .pods = 1},
        {.struct_size = sizeof(schedq_node_spec_t), .name = "n2", .pods = 1}};
    schedq_running_spec_t pods[] = {snapshot_pod_spec("ns/a", 0, 1, 1),
                                    snapshot_pod_spec("ns/b", 1, 1, 1)};
    schedq_budget_spec_t budgets[] = {
        {.struct_size = sizeof(schedq_budget_spec_t), .name = "ns/d"},
        {.struct_size = sizeof(schedq_budget_spec_t), .name = "ns/e"}};
    schedq_nominated_spec_t nominated[] = {
        {.struct_size = sizeof(schedq_nominated_spec_t), .name = "ns/q"},
        {.struct_size = sizeof(schedq_nominated_spec_t), .name = "ns/r"}};
    schedq_cluster_arrays_t arrays = {.struct_size = sizeof(schedq_cluster_arrays_t),
                                      .nodes = nodes,
                                      .node_count = 2,
                                      .pods = pods,
                                      .pod_count = 2,
                                      .budgets = budgets,
                                      .budget_count = 2,
                                      .nominated = nominated,
                                      .nominated_count = 2};

    pods[1].name = "ns/a";
    REFUSED(snapshot, schedq_cluster_load(snapshot->cluster, &arrays), SCHEDQ_EXISTS,
            "pods[1]: name \"ns/a\"");
    pods[1] = snapshot_pod_spec("ns/b", 2, 1, 1);
    REFUSED(snapshot, schedq_cluster_load(snapshot->cluster, &arrays), SCHEDQ_NOT_FOUND,
            "pods[1]: node 2");
    pods[1] = snapshot_pod_spec("ns/b", 1, 1, -1);
    REFUSED(snapshot, schedq_cluster_load(snapshot->cluster, &arrays), SCHEDQ_INVALID,
            "pods[1]: cpu_milli -1");
    pods[1] = snapshot_pod_spec("ns/b", 1, 1, 1);
    budgets[1].name = "ns/d";
    REFUSED(snapshot, schedq_cluster_load(snapshot->cluster, &arrays), SCHEDQ_EXISTS, "budgets[1]");
    budgets[1].name = "ns/e";
    nominated[1].name = "ns/q";
    REFUSED(snapshot, schedq_cluster_load(snapshot->cluster, &arrays), SCHEDQ_EXISTS,
            "nominated[1]");
    nominated[1].name = "ns/r";
    arrays.pods = NULL;
    REFUSED(snapshot, schedq_cluster_load(snapshot->cluster, &arrays), SCHEDQ_INVALID,
            "arrays.pods NULL");
    arrays.pods = pods;
    assert_ok(schedq_cluster_load(snapshot->cluster, &arrays));
    REFUSED(snapshot, schedq_cluster_load(snapshot->cluster, &arrays), SCHEDQ_INVALID,
            "clear it first");
}

/* An evaluation with one thing wrong. */
static void
refuse(snapshot_t *snapshot, const char *part)
{
    schedq_preemption_decision_t before = snapshot->decision;

    assert_status(schedq_preempt(snapshot->cluster, snapshot->preemption, &snapshot->config,
                                 &snapshot->preemptor, &snapshot->decision),
                  SCHEDQ_INVALID);
    assert_contains(schedq_preemption_error(snapshot->preemption), part);
    assert_memory_equal(&before, &snapshot->decision, sizeof before);
}

#define REFUSES(snapshot, field, value, part)   \
    do {                                        \
        snapshot_t good = *(snapshot);          \
        (snapshot)->field = (value);            \
        refuse((snapshot), (part));             \
        (snapshot)->config = good.config;       \
        (snapshot)->preemptor = good.preemptor; \
        (snapshot)->decision = good.decision;   \
    } while (0)

static void
bad_questions_are_refused(void **state)
{
    snapshot_t *snapshot = *state;
    const uint8_t statuses[] = {2};
    const schedq_extender_t extender = {0};
    schedq_executor_t executor = {.tasks = 1};

    fill(snapshot);
    REFUSES(snapshot, config.struct_size, 1, "config.struct_size 1");
    REFUSES(snapshot, config.candidates_percentage, 101, "candidates_percentage 101: 0..100");
    REFUSES(snapshot, config.victim_order, 2, "victim_order 2");
    REFUSES(snapshot, config.budget_rule, 2, "budget_rule 2");
    REFUSES(snapshot, config.terminating_rule, 2, "terminating_rule 2");
    REFUSES(snapshot, config.no_victims, 2, "no_victims 2");
    REFUSES(snapshot, config.asynchronous, 2, "asynchronous 2");
    REFUSES(snapshot, config.min_run_ns, -1, "min_run_ns -1");
    REFUSES(snapshot, config.evict_again_ns, -1, "evict_again_ns -1");
    REFUSES(snapshot, config.nomination_lease_ns, -1, "nomination_lease_ns -1");
    REFUSES(snapshot, config.reserved, 1, "config.reserved");
    REFUSES(snapshot, preemptor.struct_size, 1, "preemptor.struct_size 1");
    REFUSES(snapshot, preemptor.name, "x", "preemptor.name \"x\"");
    REFUSES(snapshot, preemptor.requests.cpu_milli, -1, "cpu_milli -1");
    REFUSES(snapshot, preemptor.nominated_node, 1, "nominated_node 1");
    REFUSES(snapshot, preemptor.never, 2, "never 2");
    REFUSES(snapshot, preemptor.status_count, 1, "status_count 1: 0");
    REFUSES(snapshot, preemptor.statuses, statuses, "status_count 0: 1");
    REFUSES(snapshot, preemptor.now_ns, -1, "now_ns -1");
    REFUSES(snapshot, preemptor.filter_first, 2, "filter_first 2");
    REFUSES(snapshot, preemptor.extender_count, 1, "extenders NULL");
    REFUSES(snapshot, decision.struct_size, 1, "decision.struct_size 1");
    snapshot->preemptor.statuses = statuses;
    REFUSES(snapshot, preemptor.status_count, 1, "statuses[0] 2");
    snapshot->preemptor.statuses = NULL;
    snapshot->preemptor.extenders = &extender;
    REFUSES(snapshot, preemptor.extender_count, 1, "extenders[0].process NULL");
    snapshot->preemptor.extenders = NULL;
    REFUSES(snapshot, preemptor.executor, &executor, "executor.run NULL");
    assert_status(schedq_preempt(NULL, snapshot->preemption, &snapshot->config,
                                 &snapshot->preemptor, &snapshot->decision),
                  SCHEDQ_INVALID);
    assert_status(schedq_preempt(snapshot->cluster, NULL, &snapshot->config, &snapshot->preemptor,
                                 &snapshot->decision),
                  SCHEDQ_INVALID);
    assert_status(schedq_preempt(snapshot->cluster, snapshot->preemption, NULL,
                                 &snapshot->preemptor, &snapshot->decision),
                  SCHEDQ_INVALID);
    assert_status(schedq_preempt(snapshot->cluster, snapshot->preemption, &snapshot->config, NULL,
                                 &snapshot->decision),
                  SCHEDQ_INVALID);
    assert_status(schedq_preempt(snapshot->cluster, snapshot->preemption, &snapshot->config,
                                 &snapshot->preemptor, NULL),
                  SCHEDQ_INVALID);
    snapshot_decide(snapshot);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        snapshot_test(bad_names_are_refused_everywhere),
        snapshot_test(a_struct_that_was_only_zeroed_is_refused),
        snapshot_test(names_that_are_taken_are_refused),
        snapshot_test(what_is_not_there_is_not_found),
        snapshot_test(quantities_out_of_range_are_refused),
        snapshot_test(extended_resources_are_known_and_named_once),
        snapshot_test(sums_that_would_overflow_are_refused),
        snapshot_test(bad_selectors_and_labels_are_refused),
        snapshot_test(missing_arguments_are_refused),
        snapshot_test(what_cannot_be_made_says_why),
        snapshot_test(a_load_that_fails_leaves_nothing_and_says_where),
        snapshot_test(bad_questions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
