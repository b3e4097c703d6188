/* Preemption in the replay: who is evicted, when, what it costs, and that nobody is lost by it. */
#include "simulated.h"

#define IMPORTANT 10

/* Lines of a scenario with classes LS, which is important, and BE. */
static void
build(world_t *world, const char *lines, int preemption)
{
    world_build(world, lines, NULL);
    world_set_priority(world, "LS", IMPORTANT);
    world->options.preemption = preemption;
}

static const int both[] = {SCHEDQ_PRESET_KUBE_1_34, SCHEDQ_PRESET_KUBE_1_12};

static void
an_important_pod_evicts_a_less_important_one_which_runs_anew(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        world_t world;
        build(&world,
              "n a 0 1000 10 0 -\np x 0 100 1000 10 0 0 BE -\np y 10 7 1000 10 0 0 LS -\nend 1 2\n",
              both[i]);
        world_run(&world);
        assert_int_equal(world.result.preemptions, 1);
        assert_int_equal(world.result.evictions, 1);
        assert_int_equal(world_waits(&world, "BE")->evictions, 1);
        assert_int_equal(world_waits(&world, "LS")->evictions, 0);
        /* x ran from the end of its first service time to the end of y's first attempt. */
        assert_int_equal(world.result.wasted_ns, 10 * NS_PER_SECOND);
        assert_int_equal(world.result.pods_scheduled, 2);
        /* y's first attempt, its backoff, its second. */
        assert_true(world_waits(&world, "LS")->max_ns < 2 * NS_PER_SECOND);
        /* x waits for y, not counting what it ran; then it runs in full. */
        assert_true(world_waits(&world, "BE")->max_ns > 7 * NS_PER_SECOND);
        assert_true(world_waits(&world, "BE")->max_ns < 10 * NS_PER_SECOND);
        assert_true(world.result.virtual_ns > 117 * NS_PER_SECOND);
        world_tear_down(&world);
    }
}

static void
without_preemption_the_important_pod_waits(void **state)
{
    world_t world;
    (void)state;
    build(&world,
          "n a 0 1000 10 0 -\np x 0 100 1000 10 0 0 BE -\np y 10 7 1000 10 0 0 LS -\nend 1 2\n",
          SIMULATE_NO_PREEMPTION);
    world_run(&world);
    assert_int_equal(world.result.evictions, 0);
    assert_int_equal(world.result.wasted_ns, 0);
    assert_true(world_waits(&world, "LS")->max_ns > 89 * NS_PER_SECOND);
    world_tear_down(&world);
}

static void
pods_as_important_are_not_evicted(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        world_t world;
        build(&world,
              "n a 0 1000 10 0 -\np x 0 100 1000 10 0 0 LS -\np y 10 7 1000 10 0 0 LS -\nend 1 2\n",
              both[i]);
        world_run(&world);
        assert_int_equal(world.result.preemptions, 0);
        assert_int_equal(world.result.evictions, 0);
        world_tear_down(&world);
    }
}

/* x leaves at once and is popped while y backs off: it may not take y's place again. */
static void
a_place_that_was_made_is_kept_for_the_pod_it_was_made_for(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        world_t world;
        build(&world,
              "n a 0 1000 10 0 -\np x 0 100 600 5 0 0 BE -\np z 0 100 400 5 0 0 BE -\n"
              "p y 10 7 1000 10 0 0 LS -\nend 1 3\n",
              both[i]);
        world_run(&world);
        assert_int_equal(world.result.evictions, 2);
        assert_int_equal(world.result.preemptions, 1);
        assert_int_equal(world.result.pods_scheduled, 3);
        world_tear_down(&world);
    }
}

static void
only_who_frees_the_gpu_is_evicted(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        world_t world;
        build(&world,
              "n a 0 4000 10 2 -\np x 0 100 100 1 1 700 BE -\np z 0 100 100 1 1 900 BE -\np u 0 "
              "100 100 1 0 0 BE -\n"
              "p y 10 7 100 1 1 300 LS -\np w 11 7 100 1 1 1000 LS -\nend 1 5\n",
              both[i]);
        world_run(&world);
        /* y fits beside x; for w one of the GPUs has to be emptied. */
        assert_int_equal(world.result.preemptions, 1);
        assert_true(world.result.evictions == 1);
        assert_int_equal(world.result.pods_scheduled, 5);
        world_tear_down(&world);
    }
}

static uint64_t
digest_of_crowd(schedq_preset_t preset, int preemption, unsigned workers)
{
    const world_crowd_t crowd = {
        .preset = preset, .preemption = preemption, .workers = workers, .seed = 1};

    return world_digest_of_crowd(&crowd);
}

static const schedq_preset_t presets[] = {SCHEDQ_PRESET_DEFAULT, SCHEDQ_PRESET_KUBE_1_34,
                                          SCHEDQ_PRESET_KUBE_1_26, SCHEDQ_PRESET_KUBE_1_12};

static void
one_worker_decides_the_same_every_time(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 2; j++) {
            assert_int_equal(digest_of_crowd(presets[i], both[j], 1),
                             digest_of_crowd(presets[i], both[j], 1));
        }
    }
}

static void
many_workers_place_every_pod(void **state)
{
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 2; j++) {
            digest_of_crowd(presets[i], both[j], 4);
        }
    }
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
        cmocka_unit_test(an_important_pod_evicts_a_less_important_one_which_runs_anew),
        cmocka_unit_test(without_preemption_the_important_pod_waits),
        cmocka_unit_test(pods_as_important_are_not_evicted),
        cmocka_unit_test(a_place_that_was_made_is_kept_for_the_pod_it_was_made_for),
        cmocka_unit_test(only_who_frees_the_gpu_is_evicted),
        cmocka_unit_test(one_worker_decides_the_same_every_time),
        cmocka_unit_test(many_workers_place_every_pod),
    };
    world_choose_engine(argc, argv);
    return cmocka_run_group_tests(tests, NULL, remove_files);
}
