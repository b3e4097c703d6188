/*
 * plugins/verdict.h: what a caller may say of a pod of a profile, and which events a host's verdict
 * must have covered.
 */
#include "expect.h"
#include "plugins/verdict.h"

enum { OTHER_PROFILE = 1 };

typedef struct world {
    struct memory memory;
    struct rules rules;
    struct registry registry;
    char why[256];
} world_t;

static int
opens(void *ctx, uint64_t pod)
{
    (void)ctx;
    (void)pod;
    return 1;
}

/* The default profile has two plugins, the second one a gate; the other profile has none. */
static int
setup_deciding(void **state, uint8_t decide)
{
    static world_t world;
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_profile_t profile;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    uint64_t bit;
    config.decide = decide;
    rules_from_config(&world.rules, &config);
    memory_open(&world.memory, &config.allocator);
    assert_true(registry_open(&world.registry, &world.memory, &world.rules, 0));
    assert_ok(registry_define_profile(&world.registry, "batch", &profile));
    assert_int_equal(profile, OTHER_PROFILE);
    plugin.name = "Fit";
    assert_ok(registry_add_plugin(&world.registry, &plugin, &bit));
    plugin.name = "Gates";
    plugin.pre_enqueue = decide == SCHEDQ_DECIDE_HOST ? NULL : opens;
    assert_ok(registry_add_plugin(&world.registry, &plugin, &bit));
    world.why[0] = '\0';
    *state = &world;
    return 0;
}

static int
setup(void **state)
{
    return setup_deciding(state, SCHEDQ_DECIDE_CALLBACKS);
}

static int
setup_host(void **state)
{
    return setup_deciding(state, SCHEDQ_DECIDE_HOST);
}

static int
teardown(void **state)
{
    world_t *world = *state;
    registry_close(&world->registry);
    memory_close(&world->memory);
    return 0;
}

static schedq_status_t
check_failure(world_t *world, schedq_profile_t profile, schedq_failure_t failure)
{
    return verdict_check_failure(&world->registry, profile, &failure, world->why,
                                 sizeof world->why);
}

static schedq_status_t
check_gate(world_t *world, schedq_profile_t profile, uint8_t gate)
{
    return verdict_check_gate(&world->registry, profile, "decision.gate", gate, world->why,
                              sizeof world->why);
}

static void
rejectors_are_those_of_the_profile(void **state)
{
    world_t *world = *state;
    const uint64_t others = SCHEDQ_REJECTOR_OTHERS;
    assert_ok(check_failure(world, 0,
                            (schedq_failure_t){.struct_size = sizeof(schedq_failure_t),
                                               .unschedulable = 1 | others,
                                               .pending = 2}));
    assert_ok(check_failure(
        world, OTHER_PROFILE,
        (schedq_failure_t){.struct_size = sizeof(schedq_failure_t), .pending = others}));
    assert_string_equal(world->why, "");
    assert_status(check_failure(world, 0,
                                (schedq_failure_t){.struct_size = sizeof(schedq_failure_t),
                                                   .unschedulable = 5,
                                                   .pending = 8}),
                  SCHEDQ_INVALID);
    assert_string_equal(
        world->why, "failure: rejector bits 0xc: bits of 0x8000000000000003, those of profile 0");
    assert_status(
        check_failure(world, OTHER_PROFILE,
                      (schedq_failure_t){.struct_size = sizeof(schedq_failure_t), .pending = 1}),
        SCHEDQ_INVALID);
    assert_contains(world->why, "of profile 1");
}

static void
a_gate_is_a_plugin_of_the_profile_that_has_a_pre_enqueue(void **state)
{
    world_t *world = *state;
    assert_ok(check_failure(
        world, 0, (schedq_failure_t){.struct_size = sizeof(schedq_failure_t), .gate = 2}));
    assert_ok(check_gate(world, 0, 2));
    assert_ok(check_gate(world, OTHER_PROFILE, 0));
    assert_string_equal(world->why, "");
    assert_status(
        check_failure(world, 0,
                      (schedq_failure_t){.struct_size = sizeof(schedq_failure_t), .gate = 1}),
        SCHEDQ_INVALID);
    assert_string_equal(world->why, "failure.gate 1: 1 + the number of a plugin of profile 0");
    assert_status(check_gate(world, OTHER_PROFILE, 2), SCHEDQ_INVALID);
    assert_string_equal(world->why, "decision.gate 2: 1 + the number of a plugin of profile 1");
    assert_status(check_gate(world, 0, 64), SCHEDQ_INVALID);
    assert_status(check_gate(world, 0, 255), SCHEDQ_INVALID);
}

static void
with_host_decisions_each_plugin_may_be_a_gate(void **state)
{
    world_t *world = *state;
    assert_ok(check_gate(world, 0, 1));
    assert_ok(check_gate(world, 0, 2));
    assert_status(check_gate(world, 0, 3), SCHEDQ_INVALID);
    assert_status(check_gate(world, 0, 64), SCHEDQ_INVALID);
}

static void
who_parks_or_gates_a_pod_must_have_seen_the_events_that_would_have_kept_it(void **state)
{
    (void)state;
    schedq_failure_t failure = {.struct_size = sizeof(schedq_failure_t),
                                .place = SCHEDQ_PARKED,
                                .unschedulable = 1,
                                .pending = 4,
                                .gate = 2};
    assert_true(verdict_covers_events(&failure));
    assert_int_equal(verdict_rejectors(&failure), 5);
    failure.place = SCHEDQ_GATED;
    assert_true(verdict_covers_events(&failure));
    assert_int_equal(verdict_rejectors(&failure), 2);
    failure.place = SCHEDQ_BACKOFF;
    assert_false(verdict_covers_events(&failure));
    failure.place = SCHEDQ_ACTIVE;
    assert_false(verdict_covers_events(&failure));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(rejectors_are_those_of_the_profile, setup, teardown),
        cmocka_unit_test_setup_teardown(a_gate_is_a_plugin_of_the_profile_that_has_a_pre_enqueue,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(with_host_decisions_each_plugin_may_be_a_gate, setup_host,
                                        teardown),
        cmocka_unit_test(
            who_parks_or_gates_a_pod_must_have_seen_the_events_that_would_have_kept_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
