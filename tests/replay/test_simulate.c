/* The scheduler over the queue, on workloads small enough to foresee. */
#include "simulated.h"

#include <string.h>

static void
a_pod_that_fits_is_placed_after_one_service_time(void **state)
{
    world_t world;
    (void)state;
    world_build(&world, "n a 0 1000 10 0 -\np x 5 7 1000 10 0 0 LS -\nend 1 1\n", NULL);
    world_run(&world);
    assert_int_equal(world.result.pods_total, 1);
    assert_int_equal(world.result.pods_scheduled, 1);
    assert_int_equal(world.result.pods_unscheduled, 0);
    assert_int_equal(world.result.attempts, 1);
    assert_int_equal(world.result.first_failed, 0);
    assert_int_equal(world.result.waiting_max, 1);
    assert_int_equal(world_waits(&world, "LS")->max_ns, SERVICE_NS);
    assert_int_equal(world.result.events, 2);
    assert_int_equal(world.result.virtual_ns, 12 * NS_PER_SECOND + SERVICE_NS);
    world_tear_down(&world);
}

static void
a_completion_brings_back_the_pod_that_waited_for_it(void **state)
{
    world_t world;
    (void)state;
    world_build(
        &world,
        "n a 0 1000 10 0 -\np x 0 100 1000 10 0 0 LS -\np y 1 7 1000 10 0 0 BE -\nend 1 2\n", NULL);
    world_run(&world);
    assert_int_equal(world.result.pods_scheduled, 2);
    assert_int_equal(world.result.first_failed, 1);
    assert_int_equal(world.result.attempts, 3);
    assert_int_equal(world.result.attempts_max, 2);
    /* x ends at 100 s and its service time; y's second attempt takes one more. */
    assert_int_equal(world_waits(&world, "BE")->max_ns, 99 * NS_PER_SECOND + 2 * SERVICE_NS);
    assert_int_equal(world.result.moves, 1);
    world_tear_down(&world);
}

/* z waits; the first completion is on a node that is too small for it, the second is not. */
static const char too_small_first[] =
    "n a 0 1000 10 0 -\nn b 0 2000 10 0 -\n"
    "p x 0 50 1000 10 0 0 LS -\np y 0 100 2000 10 0 0 LS -\np z 1 7 2000 10 0 0 BE -\nend 2 3\n";

static void
a_completion_on_a_node_too_small_moves_nobody(void **state)
{
    world_t world;
    (void)state;
    world_build(&world, too_small_first, NULL);
    world_run(&world);
    assert_int_equal(world.result.pods_scheduled, 3);
    assert_int_equal(world.result.moves, 1);
    assert_int_equal(world.result.attempts, 4);
    world_tear_down(&world);
}

static void
with_hints_of_kube_a_completion_anywhere_moves_it(void **state)
{
    world_t world;
    (void)state;
    world_build(&world, too_small_first, NULL);
    world.options.hints = HINTS_KUBE;
    world_run(&world);
    assert_int_equal(world.result.pods_scheduled, 3);
    assert_int_equal(world.result.moves, 2);
    assert_int_equal(world.result.attempts, 5);
    world_tear_down(&world);
}

static void
with_hints_of_kube_a_node_too_small_moves_nobody(void **state)
{
    world_t world;
    (void)state;
    world_build(&world,
                "n a 0 1000 10 0 -\nn b 50 500 10 0 -\nn c 60 2000 10 0 -\n"
                "p x 1 7 2000 10 0 0 LS -\nend 3 1\n",
                NULL);
    world.options.hints = HINTS_KUBE;
    world_run(&world);
    assert_int_equal(world.result.moves, 1);
    assert_int_equal(world.result.attempts, 2);
    world_tear_down(&world);
}

static void
expect_causes(const char *lines, const uint64_t attempts[CAUSE_COUNT])
{
    world_t world;

    world_build(&world, lines, NULL);
    world_run(&world);
    for (int i = 0; i < CAUSE_COUNT; i++) {
        assert_int_equal(world.result.attempts_by[i], attempts[i]);
    }
    world_tear_down(&world);
}

static void
attempts_are_split_by_what_caused_them(void **state)
{
    (void)state;
    /* y waits for x to end: an event. */
    expect_causes("n a 0 1000 10 0 -\np x 0 100 1000 10 0 0 LS -\n"
                  "p y 1 7 1000 10 0 0 BE -\nend 1 2\n",
                  (uint64_t[]){[CAUSE_ARRIVAL] = 2, [CAUSE_EVENT] = 1, [CAUSE_FLUSH] = 0});
    /* The same, while y still backs off. */
    expect_causes("n a 0 1000 10 0 -\np x 0 2 1000 10 0 0 LS -\n"
                  "p y 1.5 7 1000 10 0 0 BE -\nend 1 2\n",
                  (uint64_t[]){[CAUSE_ARRIVAL] = 2, [CAUSE_TIME] = 1, [CAUSE_FLUSH] = 0});
    /* Parked for too long twice before x ends. */
    expect_causes("n a 0 1000 10 0 -\np x 0 700 1000 10 0 0 LS -\n"
                  "p y 1 7 1000 10 0 0 BE -\nend 1 2\n",
                  (uint64_t[]){[CAUSE_ARRIVAL] = 2, [CAUSE_EVENT] = 1, [CAUSE_FLUSH] = 2});
}

static void
a_node_that_joins_brings_back_the_pods_that_fit_there(void **state)
{
    world_t world;
    (void)state;
    world_build(&world,
                "n a 0 1000 10 0 -\nn b 50 4000 10 2 -\n"
                "p x 1 7 2000 10 1 1000 LS -\np y 1 7 1000 10 2 500 BE -\nend 2 2\n",
                NULL);
    world_run(&world);
    assert_int_equal(world.result.pods_scheduled, 2);
    assert_int_equal(world.result.first_failed, 2);
    assert_int_equal(world.result.events, 4);
    assert_true(world_waits(&world, "LS")->max_ns == 49 * NS_PER_SECOND + SERVICE_NS);
    world_tear_down(&world);
}

static void
a_pod_that_fits_nowhere_stays_and_the_run_ends(void **state)
{
    world_t world;
    (void)state;
    world_build(
        &world,
        "n a 0 1000 10 0 -\np x 1 1000 1000 10 0 0 LS -\np y 1 7 1001 10 0 0 BE -\nend 1 2\n",
        NULL);
    world_run(&world);
    assert_int_equal(world.result.pods_scheduled, 1);
    assert_int_equal(world.result.pods_unscheduled, 1);
    assert_int_equal(world.result.pods_impossible, 1);
    assert_int_equal(world_waits(&world, "BE")->scheduled, 0);
    world_tear_down(&world);
}

static void
higher_priority_goes_first(void **state)
{
    world_t world;
    (void)state;
    world_build(&world,
                "n a 0 1000 10 0 -\np x 0 10 1000 10 0 0 none -\n"
                "p y 1 10 1000 10 0 0 BE -\np z 2 10 1000 10 0 0 LS -\nend 1 3\n",
                NULL);
    world_set_priority(&world, "LS", 10);
    world_run(&world);
    assert_true(world_waits(&world, "LS")->max_ns < 10 * NS_PER_SECOND);
    assert_true(world_waits(&world, "BE")->max_ns > 18 * NS_PER_SECOND);
    world_tear_down(&world);
}

static uint64_t
digest_of_crowd(schedq_preset_t preset, unsigned workers, uint64_t seed)
{
    const world_crowd_t crowd = {
        .preset = preset, .preemption = SIMULATE_NO_PREEMPTION, .workers = workers, .seed = seed};

    return world_digest_of_crowd(&crowd);
}

static void
one_worker_decides_the_same_every_time(void **state)
{
    static const schedq_preset_t presets[] = {SCHEDQ_PRESET_DEFAULT, SCHEDQ_PRESET_KUBE_1_34,
                                              SCHEDQ_PRESET_KUBE_1_26, SCHEDQ_PRESET_KUBE_1_12};
    (void)state;
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
        assert_int_equal(digest_of_crowd(presets[i], 1, 1), digest_of_crowd(presets[i], 1, 1));
    }
    assert_int_not_equal(digest_of_crowd(SCHEDQ_PRESET_DEFAULT, 1, 1),
                         digest_of_crowd(SCHEDQ_PRESET_DEFAULT, 1, 2));
}

static void
many_workers_place_every_pod_once(void **state)
{
    static const schedq_preset_t presets[] = {SCHEDQ_PRESET_DEFAULT, SCHEDQ_PRESET_KUBE_1_34,
                                              SCHEDQ_PRESET_KUBE_1_26, SCHEDQ_PRESET_KUBE_1_12};
    (void)state;
    for (unsigned round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++) {
            digest_of_crowd(presets[i], 4, 1);
        }
    }
}

static void
expect_missed(uint64_t withhold, unsigned workers)
{
    world_t world;
    scenario_options_t options = {
        .seed = 1, .copies = 3, .jitter_ns = 5 * NS_PER_SECOND, .nodes_fraction = 1};

    world_build(&world, world_crowd(), &options);
    world.options.workers = workers;
    world.options.withhold = withhold;
    assert_false(
        simulate(&world.scenario, &world.options, &world.result, world.why, sizeof world.why));
    assert_contains(world.why, "it fits on that node");
    world_tear_down(&world);
}

static void
an_event_that_the_queue_misses_is_found(void **state)
{
    (void)state;
    expect_missed(1, 1);
    expect_missed(7, 1);
    expect_missed(7, 4);
}

static void
depth_and_costs_are_recorded(void **state)
{
    world_t world;
    (void)state;
    world_build(&world, world_crowd(), NULL);
    world_run(&world);
    assert_true(world.result.depth.count > 2);
    const costs_t *costs = &world.result.costs;
    assert_int_equal(histogram_count(costs->histograms[COST_ADD]), 100);
    assert_int_equal(histogram_count(costs->histograms[COST_DONE]), 100);
    assert_int_equal(histogram_count(costs->histograms[COST_POP]), world.result.attempts);
    assert_int_equal(histogram_count(costs->histograms[COST_ADD_UNSCHEDULABLE]),
                     world.result.attempts - 100);
    assert_int_equal(histogram_count(costs->histograms[COST_MOVE_ALL]), world.result.events);
    assert_true(histogram_count(costs->histograms[COST_CLOCK]) > 0);
    uint64_t pods = 0;
    for (int i = 0; i < SIMULATE_ATTEMPT_BUCKETS; i++) {
        pods += world.result.attempt_buckets[i];
    }
    assert_int_equal(pods, 100);
    assert_int_equal(world.result.attempt_buckets[0], 0);
    assert_int_equal(world.result.attempt_buckets[1], 100 - world.result.first_failed);
    world_tear_down(&world);
}

static void
a_paced_run_decides_as_a_fast_one(void **state)
{
    world_t world;
    uint64_t digest;
    (void)state;
    world_build(&world, world_crowd(), NULL);
    world_run(&world);
    digest = world.result.digest;
    world_tear_down(&world);
    world_build(&world, world_crowd(), NULL);
    world.options.pace = 1000;
    world_run(&world);
    assert_int_equal(world.result.digest, digest);
    assert_true(world.result.wall_seconds >= 0.03);
    world_tear_down(&world);
}

static void
a_run_that_takes_longer_than_time_can_count_is_refused(void **state)
{
    char lines[1024] = "n a 0 1000 10 0 -\n";
    world_t world;
    (void)state;
    for (int i = 0; i < 6; i++) {
        size_t length = strlen(lines);
        snprintf(lines + length, sizeof lines - length, "p p%d 0 1000000000 1000 10 0 0 LS -\n", i);
    }
    strcat(lines, "end 1 6\n");
    world_build(&world, lines, NULL);
    world.options.max_parked_ns = 365 * 86400 * NS_PER_SECOND;
    assert_false(
        simulate(&world.scenario, &world.options, &world.result, world.why, sizeof world.why));
    assert_contains(world.why, "s of virtual time, legal: up to 4611686018 s");
    world_tear_down(&world);
}

/* Five pods wait for the one that fills the node; each completion has room for one of them. */
static const char alike[] = "n a 0 1000 10 0 -\n"
                            "p x 0 50 1000 10 0 0 LS -\n"
                            "p a 1 20 1000 10 0 0 LS -\np b 1 20 1000 10 0 0 LS -\n"
                            "p c 1 20 1000 10 0 0 LS -\np d 1 20 1000 10 0 0 LS -\n"
                            "p e 1 20 500 10 0 0 LS -\nend 1 6\n";

static void
with_classes_one_pod_is_tried_for_all_that_ask_for_the_same(void **state)
{
    world_t world;
    (void)state;
    world_build(&world, alike, NULL);
    world_run(&world);
    assert_int_equal(world.result.pods_scheduled, 6);
    uint64_t attempts = world.result.attempts;
    assert_int_equal(world.result.kept_back, 0);
    world_tear_down(&world);
    world_build(&world, alike, NULL);
    world.options.classes = true;
    world_run(&world);
    assert_int_equal(world.result.pods_scheduled, 6);
    assert_int_equal(world.result.pods_unscheduled, 0);
    assert_true(world.result.attempts < attempts);
    assert_true(world.result.kept_back > 0);
    world_tear_down(&world);
}

static int
remove_files(void **state)
{
    (void)state;
    files_remove();
    return 0;
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pod_that_fits_is_placed_after_one_service_time),
        cmocka_unit_test(a_completion_brings_back_the_pod_that_waited_for_it),
        cmocka_unit_test(a_completion_on_a_node_too_small_moves_nobody),
        cmocka_unit_test(with_hints_of_kube_a_completion_anywhere_moves_it),
        cmocka_unit_test(with_hints_of_kube_a_node_too_small_moves_nobody),
        cmocka_unit_test(attempts_are_split_by_what_caused_them),
        cmocka_unit_test(a_node_that_joins_brings_back_the_pods_that_fit_there),
        cmocka_unit_test(a_pod_that_fits_nowhere_stays_and_the_run_ends),
        cmocka_unit_test(higher_priority_goes_first),
        cmocka_unit_test(one_worker_decides_the_same_every_time),
        cmocka_unit_test(many_workers_place_every_pod_once),
        cmocka_unit_test(an_event_that_the_queue_misses_is_found),
        cmocka_unit_test(depth_and_costs_are_recorded),
        cmocka_unit_test(a_paced_run_decides_as_a_fast_one),
        cmocka_unit_test(with_classes_one_pod_is_tried_for_all_that_ask_for_the_same),
        cmocka_unit_test(a_run_that_takes_longer_than_time_can_count_is_refused),
    };
    world_choose_engine(argc, argv);
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
