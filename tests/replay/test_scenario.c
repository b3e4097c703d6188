/* Copies of the pods, and which nodes are kept and when they join. */
#include "files.h"

#include "scenario.h"

#include <string.h>

enum { PODS = 50, NODES = 40 };

typedef struct world {
    workload_t workload;
    workload_pod_t pods[PODS];
    workload_node_t nodes[NODES];
} world_t;

static void
build(world_t *world)
{
    memset(world, 0, sizeof *world);
    for (int i = 0; i < PODS; i++) {
        world->pods[i].arrival_ns = (100 + i) * NS_PER_SECOND;
    }
    world->workload.pods = world->pods;
    world->workload.pod_count = PODS;
    world->workload.nodes = world->nodes;
    world->workload.node_count = NODES;
}

static void
without_options_the_scenario_is_the_workload(void **state)
{
    world_t world;
    scenario_t scenario;
    (void)state;
    build(&world);
    scenario_init(&scenario, &world.workload,
                  &(scenario_options_t){.seed = 1, .copies = 1, .nodes_fraction = 1});
    assert_int_equal(scenario.pod_count, PODS);
    assert_int_equal(scenario.node_count, NODES);
    for (uint32_t i = 0; i < PODS; i++) {
        assert_int_equal(scenario.pods[i].pod, i);
        assert_int_equal(scenario.pods[i].arrival_ns, world.pods[i].arrival_ns);
    }
    for (uint32_t i = 0; i < NODES; i++) {
        assert_int_equal(scenario.nodes[i].node, i);
        assert_int_equal(scenario.nodes[i].arrival_ns, 0);
    }
    scenario_clear(&scenario);
}

static void
later_copies_arrive_within_the_jitter_after_the_original(void **state)
{
    world_t world;
    scenario_t scenario;
    unsigned copies[3] = {0};
    unsigned moved = 0;
    (void)state;
    build(&world);
    scenario_options_t options = {
        .seed = 1, .copies = 3, .jitter_ns = 60 * NS_PER_SECOND, .nodes_fraction = 1};
    scenario_init(&scenario, &world.workload, &options);
    assert_int_equal(scenario.pod_count, 3 * PODS);
    for (size_t i = 0; i < scenario.pod_count; i++) {
        const scenario_pod_t *pod = &scenario.pods[i];
        int64_t late_ns = pod->arrival_ns - world.pods[pod->pod].arrival_ns;
        assert_true(late_ns >= 0 && late_ns < options.jitter_ns);
        assert_true(pod->copy > 0 || late_ns == 0);
        assert_true(i == 0 || scenario.pods[i - 1].arrival_ns <= pod->arrival_ns);
        copies[pod->copy]++;
        moved += late_ns > 30 * NS_PER_SECOND;
    }
    assert_int_equal(copies[0], PODS);
    assert_int_equal(copies[1], PODS);
    assert_int_equal(copies[2], PODS);
    assert_true(moved > 25 && moved < 75);
    scenario_clear(&scenario);
}

static void
the_seed_decides_and_nothing_else(void **state)
{
    world_t world;
    scenario_t a;
    scenario_t b;
    scenario_t c;
    scenario_options_t options = {.seed = 1,
                                  .copies = 2,
                                  .jitter_ns = 60 * NS_PER_SECOND,
                                  .nodes_fraction = 0.5,
                                  .late_nodes = 0.5};
    (void)state;
    build(&world);
    scenario_init(&a, &world.workload, &options);
    scenario_init(&b, &world.workload, &options);
    options.seed = 2;
    scenario_init(&c, &world.workload, &options);
    assert_memory_equal(a.pods, b.pods, a.pod_count * sizeof *a.pods);
    assert_memory_not_equal(a.pods, c.pods, a.pod_count * sizeof *a.pods);
    for (size_t i = 0; i < a.node_count; i++) {
        assert_int_equal(a.nodes[i].node, b.nodes[i].node);
        assert_int_equal(a.nodes[i].arrival_ns, b.nodes[i].arrival_ns);
    }
    scenario_clear(&a);
    scenario_clear(&b);
    scenario_clear(&c);
}

static void
the_stated_share_of_nodes_is_kept_and_at_least_one(void **state)
{
    static const struct {
        double fraction;
        size_t kept;
    } rows[] = {{1, 40}, {0.5, 20}, {0.04, 2}, {0.05, 2}, {0.07, 3}, {0.001, 1}};
    world_t world;
    scenario_t scenario;
    (void)state;
    build(&world);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        scenario_options_t options = {.seed = 1, .copies = 1, .nodes_fraction = rows[i].fraction};
        scenario_init(&scenario, &world.workload, &options);
        assert_int_equal(scenario.node_count, rows[i].kept);
        for (size_t node = 1; node < scenario.node_count; node++) {
            assert_true(scenario.nodes[node - 1].node < scenario.nodes[node].node);
        }
        scenario_clear(&scenario);
    }
}

static void
late_nodes_join_between_the_first_and_the_last_arrival(void **state)
{
    world_t world;
    scenario_t scenario;
    unsigned late = 0;
    (void)state;
    build(&world);
    scenario_options_t options = {.seed = 1, .copies = 1, .nodes_fraction = 1, .late_nodes = 0.25};
    scenario_init(&scenario, &world.workload, &options);
    assert_int_equal(scenario.node_count, NODES);
    for (size_t i = 0; i < scenario.node_count; i++) {
        int64_t at_ns = scenario.nodes[i].arrival_ns;
        if (at_ns != 0) {
            assert_true(at_ns >= world.pods[0].arrival_ns &&
                        at_ns <= world.pods[PODS - 1].arrival_ns);
            late++;
        }
    }
    assert_int_equal(late, 10);
    scenario_clear(&scenario);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_options_the_scenario_is_the_workload),
        cmocka_unit_test(later_copies_arrive_within_the_jitter_after_the_original),
        cmocka_unit_test(the_seed_decides_and_nothing_else),
        cmocka_unit_test(the_stated_share_of_nodes_is_kept_and_at_least_one),
        cmocka_unit_test(late_nodes_join_between_the_first_and_the_last_arrival),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
