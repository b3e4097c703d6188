/*
 * schedq_activate: a waiting pod becomes active whatever its backoff; one in flight is retried when
 * it fails.
 */
#include "fixture.h"

static schedq_result_t
activate(fixture_t *fixture, schedq_pod_t pod)
{
    schedq_result_t result;
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, &result));
    return result;
}

static void
every_waiting_place_gives_its_pods_up(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    const fx_waiting_t waiting = fx_wait_everywhere(fixture, fit, gate);
    const schedq_pod_t pods[] = {waiting.backoff, waiting.parked, waiting.error, waiting.gated};
    fx_assert_counts(fixture, 0, 1, 1, 1, 1, 0);
    schedq_result_t result;
    assert_ok(schedq_activate(fx_worker(fixture), pods, 4, &result));
    assert_int_equal(result.to_active, 4);
    assert_int_equal(result.to_backoff + result.to_parked + result.to_gated, 0);
    assert_int_equal(result.poppable, 1);
    fx_assert_counts(fixture, 4, 0, 0, 0, 0, 0);
}

static void
an_activated_pod_keeps_its_history(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
    fx_advance(fixture, SEC(3));
    activate(fixture, pod);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ns_equal(popped.history.timestamp_ns, FX_START);
    assert_int_equal(popped.history.attempts, 2);
    assert_int_equal(popped.history.rejections, 1);
    assert_int_equal(popped.unschedulable, fit->bit);
}

static void
a_pod_that_a_gate_refuses_is_gated(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    schedq_pod_t backoff = fx_back_off(fixture, "ns/backoff", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    schedq_pod_t parked = fx_park(fixture, "ns/parked", fit->bit);
    schedq_pod_t error = fx_err(fixture, "ns/error");
    gate->refuses = true;
    schedq_result_t result = activate(fixture, parked);
    assert_int_equal(result.to_active, 0);
    assert_int_equal(result.to_gated, 1);
    assert_int_equal(activate(fixture, backoff).to_gated, 1);
    assert_int_equal(activate(fixture, error).to_gated, 1);
    fx_assert_counts(fixture, 0, 0, 0, 0, 3, 0);
    assert_int_equal(fx_info(fixture, backoff).backoff_expiry_ns, 0);
    fx_pop_nothing(fixture);
    fx_pass(fixture, SEC(30));
    fx_pop_nothing(fixture);
    assert_int_equal(activate(fixture, parked).to_active, 0);
    fx_assert_counts(fixture, 0, 0, 0, 0, 3, 0);
}

static void
a_pod_in_flight_is_retried_after_its_backoff(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *deaf = fx_plugin(fixture, "Deaf", NULL, 0);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 1);
    fx_add(fixture, "ns/b", 0);
    schedq_popped_t a = fx_pop(fixture, "ns/a"), b = fx_pop(fixture, "ns/b");
    schedq_result_t result = activate(fixture, pod);
    assert_int_equal(result.to_active, 0);
    assert_int_equal(result.poppable, 0);
    assert_place(fx_fail(fixture, &b, deaf->bit, 0).place, SCHEDQ_PARKED);
    assert_place(fx_fail(fixture, &a, deaf->bit, 0).place, SCHEDQ_BACKOFF);
}

static void
an_activation_counts_for_one_flight(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *deaf = fx_plugin(fixture, "Deaf", NULL, 0);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    activate(fixture, pod);
    assert_place(fx_fail(fixture, &popped, deaf->bit, 0).place, SCHEDQ_BACKOFF);
    popped = fx_pop(fixture, "ns/a");
    assert_place(fx_fail(fixture, &popped, deaf->bit, 0).place, SCHEDQ_PARKED);
}

static void
a_plugin_that_waits_does_not_make_an_activation_skip_the_backoff(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *wait = fx_plugin(fixture, "Wait", NULL, 0);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    activate(fixture, pod);
    assert_place(fx_fail(fixture, &popped, 0, wait->bit).place, SCHEDQ_BACKOFF);
}

static void
active_and_unknown_pods_are_ignored(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t active = fx_add(fixture, "ns/a", 0);
    schedq_pod_t gone = fx_add(fixture, "ns/b", 0);
    assert_ok(schedq_delete(fx_worker(fixture), gone, NULL));
    const schedq_pod_t pods[] = {active, gone, {0}, {UINT64_MAX}, {12345}};
    schedq_result_t result;
    assert_ok(schedq_activate(fx_worker(fixture), pods, 5, &result));
    assert_int_equal(result.to_active + result.to_backoff + result.to_parked + result.to_gated, 0);
    assert_ok(schedq_activate(fx_worker(fixture), NULL, 0, &result));
    fx_assert_counts(fixture, 1, 0, 0, 0, 0, 0);
}

static void
one_pod_given_twice_is_activated_once(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
    const schedq_pod_t pods[] = {pod, pod};
    schedq_result_t result;
    assert_ok(schedq_activate(fx_worker(fixture), pods, 2, &result));
    assert_int_equal(result.to_active, 1);
    fx_assert_counts(fixture, 1, 0, 0, 0, 0, 0);
}

static void
activation_moves_no_other_pod(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
    fx_park(fixture, "ns/b", fit->bit);
    activate(fixture, pod);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_PARKED);
    assert_int_equal(fit->hint_calls, 0);
}

static void
in_kube_1_26_a_pod_in_flight_is_not_retried_for_it(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    activate(fixture, pod);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(active_and_unknown_pods_are_ignored),
        fx_test(every_waiting_place_gives_its_pods_up),
        fx_test(an_activated_pod_keeps_its_history),
        fx_test(a_pod_that_a_gate_refuses_is_gated),
        fx_test(a_pod_in_flight_is_retried_after_its_backoff),
        fx_test(an_activation_counts_for_one_flight),
        fx_test(a_plugin_that_waits_does_not_make_an_activation_skip_the_backoff),
        fx_test(one_pod_given_twice_is_activated_once),
        fx_test(activation_moves_no_other_pod),
        fx_test_1_26(in_kube_1_26_a_pod_in_flight_is_not_retried_for_it),
    };
    return fx_run_tests(argc, argv, tests);
}
