/*
 * Random calls with random arguments, some of them wrong, some without memory: whatever does not
 * return OK changed nothing, which the text of the snapshot shows, sums included.
 */
#include "seed.h"
#include "snapshot.h"

#include <stdio.h>
#include <stdlib.h>

enum { CALLS = 20000, NAMES = 6 };

static uint64_t seed;

static uint32_t
below(uint32_t bound)
{
    return (uint32_t)(seed_next(&seed) % bound);
}

static bool
once_in(uint32_t n)
{
    return below(n) == 0;
}

/* Mostly sound. */
static const char *
name_of(char *text, const char *prefix, const char *kind)
{
    static const char *const wrong[] = {"", "/", "a", "a/", "/b", "a/b/c", "//"};

    if (once_in(20)) {
        return once_in(4) ? NULL : wrong[below(7)];
    }
    (void)snprintf(text, 32, "%s%s%u", prefix, kind, below(NAMES));
    return text;
}

static int64_t
amount(void)
{
    const int64_t odd[] = {-1, INT64_MIN, INT64_MAX, SCHEDQ_QUANTITY_MAX, SCHEDQ_QUANTITY_MAX + 1};

    if (once_in(6)) {
        return SCHEDQ_QUANTITY_MAX / 2 + 1; /* once, but not twice on a node */
    }
    return once_in(8) ? odd[below(5)] : below(5) * 100;
}

static schedq_amounts_t
amounts(schedq_amount_t *extended)
{
    schedq_amounts_t made = {.cpu_milli = amount(), .memory_bytes = amount()};

    if (once_in(2)) {
        made.extended_count = below(4);
        made.extended = once_in(20) ? NULL : extended;
        for (uint32_t i = 0; i < 4; i++) {
            extended[i] = (schedq_amount_t){
                .resource = 2 + below(4), .amount = amount(), .reserved = once_in(40)};
        }
    }
    made.reserved = once_in(60);
    return made;
}

static int32_t
priority(void)
{
    const int32_t values[] = {INT32_MIN, -5, 0, 5, 10, INT32_MAX};

    return once_in(3) ? (int32_t)below(80) : values[below(6)];
}

static schedq_running_t
handle(void)
{
    return (schedq_running_t){.index = below(NAMES + 2), .generation = below(30)};
}

static schedq_running_t
known(const snapshot_t *snapshot, const char *name)
{
    schedq_running_t pod;

    return schedq_cluster_find_pod(snapshot->cluster, name, &pod) == SCHEDQ_OK && !once_in(10)
               ? pod
               : handle();
}

static schedq_status_t
call_node(snapshot_t *snapshot)
{
    schedq_amount_t extended[4];
    char name[32];
    const schedq_node_spec_t spec = {.struct_size = sizeof(schedq_node_spec_t),
                                     .name = name_of(name, "", "n"),
                                     .object = below(9),
                                     .allocatable = amounts(extended),
                                     .pods = amount()};

    switch (below(4)) {
    case 0:
    case 1:
        return schedq_cluster_add_node(snapshot->cluster, once_in(50) ? NULL : &spec, NULL);
    case 2:
        return schedq_cluster_update_node(snapshot->cluster, below(NAMES + 2), &spec);
    default:
        return schedq_cluster_remove_node(snapshot->cluster, below(NAMES + 20));
    }
}

static schedq_status_t
call_pod(snapshot_t *snapshot)
{
    static const char *const texts[] = {"app", "tier", "web", "db", "", NULL};
    schedq_amount_t extended[4];
    schedq_label_t labels[3];
    char name[32];
    schedq_running_spec_t spec = {
        .struct_size = sizeof(schedq_running_spec_t),
        .name = name_of(name, "ns/", "p"),
        .object = below(9),
        .workload = below(3),
        .node = below(NAMES + 1),
        .priority = priority(),
        .start_ns = once_in(3) ? SCHEDQ_NO_START : (int64_t)below(50) - 20,
        .requests = amounts(extended),
        .labels = once_in(30) ? NULL : labels,
        .label_count = below(4),
        .terminating = (uint8_t)(once_in(30) ? 2 : below(2)),
        .is_protected = (uint8_t)(once_in(30) ? 9 : below(2)),
        .disruption_status = (uint8_t)(once_in(30) ? 2 : below(2)),
        .disruption_reason = once_in(2) ? NULL : "PreemptionByScheduler",
        .reserved = {once_in(60)},
    };

    for (int i = 0; i < 3; i++) {
        labels[i] =
            (schedq_label_t){texts[once_in(20) ? below(6) : (uint32_t)i % 2], texts[2 + below(3)]};
    }
    switch (below(5)) {
    case 0:
    case 1:
        return schedq_cluster_add_pod(snapshot->cluster, once_in(50) ? NULL : &spec, NULL);
    case 2:
    case 3: {
        schedq_running_t pod = known(snapshot, spec.name);
        return schedq_cluster_update_pod(snapshot->cluster, pod, once_in(50) ? NULL : &spec);
    }
    default:
        return schedq_cluster_remove_pod(snapshot->cluster, known(snapshot, spec.name));
    }
}

static schedq_status_t
call_budget(snapshot_t *snapshot)
{
    static const char *const texts[] = {"app", "tier", "web", "", NULL};
    static const char *const disrupted[] = {"p0", "p1", "p2", ""};
    schedq_requirement_t requirements[2];
    char name[32];
    const schedq_budget_spec_t spec = {
        .struct_size = sizeof(schedq_budget_spec_t),
        .name = name_of(name, "ns/", "d"),
        .requirements = once_in(30) ? NULL : requirements,
        .requirement_count = below(3),
        .selector = once_in(20)  ? 3
                    : once_in(4) ? below(2)
                                 : SCHEDQ_SELECT_ALL_OF,
        .allowed = (int32_t)below(4) - 1,
        .disrupted = once_in(30) ? NULL : disrupted,
        .disrupted_count = once_in(20) ? 4 : below(4),
    };

    for (int i = 0; i < 2; i++) {
        requirements[i] = (schedq_requirement_t){.key = texts[once_in(20) ? 4 : i],
                                                 .value = texts[once_in(4) ? 4 : 2],
                                                 .kind = once_in(20) ? 2U : once_in(4)};
    }
    return once_in(4) ? schedq_cluster_remove_budget(snapshot->cluster, spec.name)
                      : schedq_cluster_set_budget(snapshot->cluster, once_in(50) ? NULL : &spec);
}

static schedq_status_t
call_nomination(snapshot_t *snapshot)
{
    schedq_amount_t extended[4];
    char name[32];
    const schedq_nominated_spec_t spec = {
        .struct_size = sizeof(schedq_nominated_spec_t),
        .name = name_of(name, "ns/", "q"),
        .object = below(9),
        .node = below(NAMES + 1),
        .priority = priority(),
        .requests = amounts(extended),
        .expires_ns = once_in(10) ? -1 : (int64_t)below(100),
    };

    switch (below(6)) {
    case 0:
        return schedq_cluster_unnominate(snapshot->cluster, spec.name,
                                         below(3) == 0 ? below(40) : 0);
    case 1:
        return schedq_cluster_expire(snapshot->cluster, (int64_t)below(40) - 20, NULL, NULL);
    case 2:
        return schedq_cluster_record_eviction(snapshot->cluster, below(4), (int64_t)below(40) - 4);
    default:
        return schedq_cluster_nominate(snapshot->cluster, once_in(50) ? NULL : &spec, NULL);
    }
}

static schedq_status_t
call_load(snapshot_t *snapshot)
{
    schedq_node_spec_t nodes[3] = {
        {.struct_size = sizeof(schedq_node_spec_t), .name = "n0"},
        {.struct_size = sizeof(schedq_node_spec_t), .name = "n1"},
        {.struct_size = sizeof(schedq_node_spec_t), .name = once_in(2) ? "n1" : "n2"}};
    schedq_running_spec_t pods[2] = {
        snapshot_pod_spec("ns/p0", below(4), priority(), amount()),
        snapshot_pod_spec(once_in(2) ? "ns/p0" : "ns/p1", 0, priority(), amount())};
    const schedq_cluster_arrays_t arrays = {.struct_size = sizeof(schedq_cluster_arrays_t),
                                            .nodes = nodes,
                                            .node_count = below(4),
                                            .pods = once_in(9) ? NULL : pods,
                                            .pod_count = below(3)};

    if (once_in(3)) {
        schedq_cluster_clear(snapshot->cluster);
    }
    return schedq_cluster_load(snapshot->cluster, &arrays);
}

static schedq_status_t
call_preempt(snapshot_t *snapshot)
{
    schedq_amount_t extended[4];
    const uint8_t statuses[2 * NAMES + 8] = {1, 1, 0, 1, (uint8_t)(once_in(10) ? 2 : 1),
                                             /* wrong names of pods are good ones of nodes */
                                             1, 1, 1};
    schedq_preemptor_t preemptor = SCHEDQ_PREEMPTOR_INIT;
    char name[32];

    preemptor.priority = priority();
    preemptor.requests = amounts(extended);
    preemptor.name = once_in(2) ? NULL : name_of(name, "ns/", "q");
    preemptor.nominated_node = once_in(2) ? SCHEDQ_NO_NODE : below(NAMES + 1);
    preemptor.statuses = once_in(2) ? NULL : statuses;
    preemptor.status_count =
        preemptor.statuses == NULL ? 0 : schedq_cluster_nodes_end(snapshot->cluster);
    preemptor.offset = below(100);
    preemptor.now_ns = (int64_t)below(100) - 2;
    return schedq_preempt(snapshot->cluster, snapshot->preemption, &snapshot->config, &preemptor,
                          &snapshot->decision);
}

static schedq_status_t
call_any(snapshot_t *snapshot)
{
    static schedq_status_t (*const calls[])(snapshot_t *) = {
        call_node,   call_node,   call_pod,        call_pod,     call_pod,
        call_budget, call_budget, call_nomination, call_preempt, call_preempt};

    return calls[below(sizeof calls / sizeof *calls)](snapshot);
}

static void
what_does_not_return_ok_changes_nothing(void **state)
{
    snapshot_t *snapshot = *state;
    uint64_t met[SCHEDQ_INVALID + 1] = {0};
    uint32_t resource;

    seed = seed_of("test_preemption_chance");
    assert_ok(schedq_cluster_resource(snapshot->cluster, "gpu", &resource));
    assert_ok(schedq_cluster_resource(snapshot->cluster, "disk", &resource));
    for (uint32_t i = 0; i < CALLS; i++) {
        if (once_in(200)) {
            met[call_load(snapshot)]++;
        }
        char *before = snapshot_text(snapshot);

        if (once_in(5)) {
            account_fail_after(&snapshot->account, below(8));
        }
        schedq_status_t status = call_any(snapshot);

        (void)account_heal(&snapshot->account);
        met[status]++;
        if (status != SCHEDQ_OK) {
            char *after = snapshot_text(snapshot);

            assert_string_equal(before, after);
            free(after);
        }
        free(before);
    }
    assert_true(met[SCHEDQ_OK] > 1000);
    assert_true(met[SCHEDQ_INVALID] > 1000);
    assert_true(met[SCHEDQ_EXISTS] > 100);
    assert_true(met[SCHEDQ_NOT_FOUND] > 1000);
    assert_true(met[SCHEDQ_FULL] > 10);
    assert_true(met[SCHEDQ_NOMEM] > 10);
    assert_true(met[SCHEDQ_STALE] > 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        snapshot_test(what_does_not_return_ok_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
