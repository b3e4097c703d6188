/*
 * What ends with a queue: destroy refuses while there are pods, says how many are where, and who
 * else is in the way.
 */
#include "fixture.h"

static void
leave(fixture_t *fixture)
{
    if (fixture->worker != NULL)
        assert_ok(schedq_worker_unregister(fixture->worker));
    fixture->worker = NULL;
}

static void
refused(fixture_t *fixture, const char *words)
{
    leave(fixture);
    char *why = fixture->why;
    assert_status(schedq_destroy(fixture->queue, why, sizeof fixture->why), SCHEDQ_NOT_EMPTY);
    assert_contains(why, words);
    assert_contains(why, "schedq_destroy_with_pods");
    assert_status(schedq_destroy(fixture->queue, NULL, 0), SCHEDQ_NOT_EMPTY);
}

static void
each_place_keeps_a_queue(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    (void)fx_wait_everywhere(fixture, fit, gate);
    fx_add(fixture, "ns/flying", 9);
    (void)fx_pop(fixture, "ns/flying");
    fx_add(fixture, "ns/active1", 0);
    fx_add(fixture, "ns/active2", 0);
    refused(fixture, "2 active, 2 backoff, 1 parked, 1 gated, 1 in flight");
    fx_assert_counts(fixture, 2, 1, 1, 1, 1, 1);
}

static void
held_pods_keep_a_queue_too(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_hold(fx_worker(fixture), pod, NULL));
    refused(fixture, "1 held");
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
}

static void
a_pod_in_flight_that_was_deleted_keeps_a_queue_too(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    refused(fixture, "1 in flight");
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_GONE);
}

static void
an_empty_queue_is_destroyed(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
    leave(fixture);
    fixture->why[0] = '?';
    assert_ok(schedq_destroy(fixture->queue, fixture->why, sizeof fixture->why));
    assert_string_equal(fixture->why, "");
    fixture->queue = NULL;
}

static void
with_pods_drops_them(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    fx_add(fixture, "ns/a", 0);
    fx_add(fixture, "ns/b", 0);
    (void)fx_pop(fixture, "ns/a");
    leave(fixture);
    assert_ok(schedq_destroy_with_pods(fixture->queue, fixture->why, sizeof fixture->why));
    assert_string_equal(fixture->why, "");
    fixture->queue = NULL;
}

static void
the_words_say_who_is_registered(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *second;
    char *why = fixture->why;
    (void)fx_worker(fixture);
    assert_status(schedq_destroy(fixture->queue, why, sizeof fixture->why), SCHEDQ_BUSY);
    assert_contains(why, "workers that are registered: 1: schedq_worker_unregister");
    assert_ok(schedq_worker_register(fixture->queue, &second, NULL, 0));
    assert_status(schedq_destroy_with_pods(fixture->queue, why, sizeof fixture->why), SCHEDQ_BUSY);
    assert_contains(why, "workers that are registered: 2:");
    assert_ok(schedq_worker_unregister(second));
}

static void
the_words_say_that_the_timer_thread_runs(void **state)
{
    fixture_t *fixture = *state;
    char *why = fixture->why;
    fx_use_real_clock(fixture);
    assert_ok(schedq_run(fx_queue(fixture), NULL, 0));
    assert_status(schedq_destroy(fixture->queue, why, sizeof fixture->why), SCHEDQ_BUSY);
    assert_contains(why, "schedq_stop for the timer thread");
    assert_ok(schedq_stop(fixture->queue));
    assert_ok(schedq_destroy(fixture->queue, why, sizeof fixture->why));
    fixture->queue = NULL;
}

static void
nothing_is_destroyed_without_a_queue(void **state)
{
    (void)state;
    char why[20] = "?";
    assert_ok(schedq_destroy(NULL, why, sizeof why));
    assert_string_equal(why, "");
    assert_ok(schedq_destroy_with_pods(NULL, NULL, 0));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(each_place_keeps_a_queue),
        fx_test(held_pods_keep_a_queue_too),
        fx_test(a_pod_in_flight_that_was_deleted_keeps_a_queue_too),
        fx_test(an_empty_queue_is_destroyed),
        fx_test(with_pods_drops_them),
        fx_test(the_words_say_who_is_registered),
        fx_test(the_words_say_that_the_timer_thread_runs),
        cmocka_unit_test(nothing_is_destroyed_without_a_queue),
    };
    return fx_run_tests(argc, argv, tests);
}
