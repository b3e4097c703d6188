/*
 * A pod that was parked for longer than max_parked_ns is tried again, whatever its hints say. SPEC
 * 2.3, 5.11.
 */
#include "fixture.h"

static fx_plugin_t *
start(fixture_t *fixture)
{
    fixture->config.max_parked_ns = SEC(60);
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fit->hint = SCHEDQ_HINT_SKIP;
    return fit;
}

static void
a_pod_parked_for_longer_than_the_limit_is_active(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = start(fixture);
    schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
    assert_int_equal(fx_pass(fixture, SEC(60)).to_active, 0);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    schedq_result_t result = fx_pass(fixture, 1);
    assert_int_equal(result.to_active, 1);
    assert_int_equal(result.poppable, 1);
    assert_int_equal(fit->hint_calls, 0);
    assert_ns_equal(fx_info(fixture, pod).history.timestamp_ns, FX_START);
    assert_int_equal(fx_metric(fixture, "scheduler_queue_incoming_pods_total{queue=\"active\","
                                        "event=\"UnschedulableTimeout\"}"),
                     1);
    assert_int_equal(fx_pop(fixture, "ns/a").unschedulable, fit->bit);
}

static void
the_default_limit_is_five_minutes(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    assert_int_equal(fx_pass(fixture, SEC(300)).to_active, 0);
    assert_int_equal(fx_pass(fixture, SEC(1)).to_active, 1);
}

static void
in_kube_1_12_the_limit_is_one_minute(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    assert_int_equal(fx_pass(fixture, SEC(60)).to_active, 0);
    assert_int_equal(fx_pass(fixture, SEC(1)).to_active, 1);
}

static void
only_those_past_the_limit_move(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = start(fixture);
    fx_plugin_t *other = fx_plugin(fixture, "Other", NULL, 0);
    fx_park(fixture, "ns/a", fit->bit);
    fx_advance(fixture, SEC(10));
    fx_park(fixture, "ns/b", other->bit);
    fx_advance(fixture, SEC(10));
    fx_park(fixture, "ns/c", fit->bit);
    assert_int_equal(fx_pass(fixture, SEC(41)).to_active, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    assert_int_equal(fx_pass(fixture, SEC(10)).to_active, 1);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_ACTIVE);
    assert_int_equal(fx_pass(fixture, SEC(10)).to_active, 1);
    fx_assert_counts(fixture, 3, 0, 0, 0, 0, 0);
}

static void
an_explicit_old_timestamp_does_not_count_the_failure_does(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = start(fixture);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.timestamp_ns = SEC(1);
    fx_add_spec(fixture, "ns/a", &spec);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit, 0);
    assert_int_equal(fx_pass(fixture, SEC(60)).to_active, 0);
    assert_int_equal(fx_pass(fixture, 1).to_active, 1);
}

static void
a_pod_that_is_still_backing_off_goes_to_backoff(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.initial_backoff_ns = SEC(100);
    fixture->config.max_backoff_ns = SEC(200);
    fx_plugin_t *fit = start(fixture);
    fx_park(fixture, "ns/a", fit->bit);
    schedq_result_t result = fx_pass(fixture, SEC(61));
    assert_int_equal(result.to_backoff, 1);
    assert_int_equal(result.to_active, 0);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_BACKOFF);
}

static void
a_gate_may_refuse_a_leftover(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = start(fixture);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    fx_park(fixture, "ns/a", fit->bit);
    gate->refuses = true;
    schedq_result_t result = fx_pass(fixture, SEC(61));
    assert_int_equal(result.to_active, 0);
    assert_int_equal(result.to_gated, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_GATED);
}

static void
a_pod_that_fails_again_waits_the_whole_limit_again(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = start(fixture);
    fx_park(fixture, "ns/a", fit->bit);
    fx_pass(fixture, SEC(61));
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
    assert_int_equal(fx_pass(fixture, SEC(60)).to_active, 0);
    assert_int_equal(fx_pass(fixture, 1).to_active, 1);
}

static void
deleted_and_moved_pods_leave_nothing_to_flush(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = start(fixture);
    schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    pod = fx_park(fixture, "ns/b", fit->bit);
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    schedq_result_t result = fx_pass(fixture, SEC(3600));
    assert_int_equal(result.to_active + result.to_backoff, 0);
}

static void
in_kube_1_34_a_leftover_retries_the_pods_in_flight(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = start(fixture);
    fx_park(fixture, "ns/parked", fit->bit);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(fx_pass(fixture, SEC(61)).to_active, 1);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_BACKOFF);
}

static void
in_kube_1_34_a_gated_pod_past_the_limit_retries_the_pods_in_flight(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = start(fixture);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_ALL);
    gate->refuses = true;
    fx_add(fixture, "ns/gated", 0);
    gate->refuses = false;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(fx_pass(fixture, SEC(61)).to_active, 0);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_BACKOFF);
    /* at each flush again */
    popped = fx_pop(fixture, "ns/a");
    assert_int_equal(fx_pass(fixture, SEC(30)).to_active, 0);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_BACKOFF);
    popped = fx_pop(fixture, "ns/a");
    assert_int_equal(fx_pass(fixture, SEC(30) - 1).to_active, 0);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
}

/*
 * kube looks for leftovers every 30 s: whatever was found, there is no other flush, and no event,
 * before that.
 */
static void
in_kube_leftovers_are_tried_in_flushes_thirty_seconds_apart(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = start(fixture);
    fx_park(fixture, "ns/a", fit->bit);
    fx_advance(fixture, SEC(10));
    fx_park(fixture, "ns/b", fit->bit);
    fx_advance(fixture, SEC(10));
    fx_park(fixture, "ns/c", fit->bit);
    fx_advance(fixture, SEC(20));
    fx_park(fixture, "ns/d", fit->bit);
    assert_ns_equal(schedq_words(fx_queue(fixture))->next_deadline_ns, FX_START + SEC(60) + 1);
    assert_int_equal(fx_pass(fixture, SEC(20) + 1).to_active, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    assert_ns_equal(schedq_words(fx_queue(fixture))->next_deadline_ns, FX_START + SEC(90) + 1);
    fx_add(fixture, "ns/flies", 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/flies");
    assert_int_equal(fx_pass(fixture, SEC(30) - 1).to_active, 0);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_PARKED);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
    assert_int_equal(fx_pass(fixture, 1).to_active, 2);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_ACTIVE);
    assert_place(fx_place(fixture, "ns/c"), SCHEDQ_ACTIVE);
    assert_ns_equal(schedq_words(fx_queue(fixture))->next_deadline_ns, FX_START + SEC(120) + 1);
    assert_int_equal(fx_pass(fixture, SEC(30)).to_active, 1);
    assert_place(fx_place(fixture, "ns/d"), SCHEDQ_ACTIVE);
}

/*
 * After a pause nobody waits for the next flush: the period counts from the last one that found
 * anything.
 */
static void
in_kube_the_first_leftover_after_a_pause_is_tried_at_once(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = start(fixture);
    fx_park(fixture, "ns/a", fit->bit);
    assert_int_equal(fx_pass(fixture, SEC(61)).to_active, 1);
    fx_pop(fixture, "ns/a");
    fx_advance(fixture, SEC(1000));
    fx_park(fixture, "ns/b", fit->bit);
    assert_int_equal(fx_pass(fixture, SEC(60)).to_active, 0);
    assert_int_equal(fx_pass(fixture, 1).to_active, 1);
}

static void
the_period_of_flushes_can_be_chosen(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.flush_ns = SEC(2);
    fx_plugin_t *fit = start(fixture);
    fx_park(fixture, "ns/a", fit->bit);
    fx_advance(fixture, SEC(1));
    fx_park(fixture, "ns/b", fit->bit);
    assert_int_equal(fx_pass(fixture, SEC(59) + 1).to_active, 1);
    assert_int_equal(fx_pass(fixture, SEC(2) - 1).to_active, 0);
    assert_int_equal(fx_pass(fixture, 1).to_active, 1);
}

static void
each_gated_pod_is_tried_at_its_own_time(void **state)
{
    fixture_t *fixture = *state;
    start(fixture);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    gate->refuses = true;
    fx_add(fixture, "ns/a", 0);
    fx_advance(fixture, SEC(30));
    fx_add(fixture, "ns/b", 0);
    fx_pass(fixture, SEC(31));
    assert_int_equal(gate->gate_calls, 3);
    fx_pass(fixture, SEC(30));
    assert_int_equal(gate->gate_calls, 4);
    gate->refuses = false;
    assert_int_equal(fx_pass(fixture, SEC(31)).to_active, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    assert_int_equal(fx_pass(fixture, SEC(30)).to_active, 1);
}

static void
a_gated_pod_past_the_limit_is_no_event_for_pods_in_flight(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = start(fixture);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_ALL);
    gate->refuses = true;
    fx_add(fixture, "ns/gated", 0);
    gate->refused_object = fixture->next_object;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(fx_pass(fixture, SEC(61)).to_active, 0);
    assert_place(fx_place(fixture, "ns/gated"), SCHEDQ_GATED);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
}

/*
 * Its gate lets it go, and the other one refuses it: it waits anew, and the flush that did so does
 * not meet it again. The next one does.
 */
static void
a_flush_tries_a_pod_once_that_it_brings_behind_another_gate(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.gates_see_wildcards = 1;
    start(fixture);
    fx_plugin_t *one = fx_gate(fixture, "One", NULL, 0);
    fx_plugin_t *two = fx_gate(fixture, "Two", NULL, 0);
    one->refuses = true;
    fx_add(fixture, "ns/a", 0);
    one->refuses = false;
    two->refuses = true;
    two->gate_calls = 0;
    schedq_result_t result = fx_pass(fixture, SEC(61));
    assert_int_equal(result.to_gated, 1);
    assert_int_equal(two->gate_calls, 1);
    assert_int_equal(fx_find(fixture, "ns/a").gate, two->gate);
    result = fx_pass(fixture, SEC(61));
    assert_int_equal(result.to_gated, 1);
    assert_int_equal(two->gate_calls, 2);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(a_pod_parked_for_longer_than_the_limit_is_active),
        fx_test(the_default_limit_is_five_minutes),
        fx_test_1_12(in_kube_1_12_the_limit_is_one_minute),
        fx_test(only_those_past_the_limit_move),
        fx_test(an_explicit_old_timestamp_does_not_count_the_failure_does),
        fx_test(a_pod_that_is_still_backing_off_goes_to_backoff),
        fx_test(a_gate_may_refuse_a_leftover),
        fx_test(a_pod_that_fails_again_waits_the_whole_limit_again),
        fx_test(deleted_and_moved_pods_leave_nothing_to_flush),
        fx_test_1_34(in_kube_1_34_a_leftover_retries_the_pods_in_flight),
        fx_test_1_34(in_kube_1_34_a_gated_pod_past_the_limit_retries_the_pods_in_flight),
        fx_test_1_34(in_kube_leftovers_are_tried_in_flushes_thirty_seconds_apart),
        fx_test_1_34(in_kube_the_first_leftover_after_a_pause_is_tried_at_once),
        fx_test_1_34(the_period_of_flushes_can_be_chosen),
        fx_test(each_gated_pod_is_tried_at_its_own_time),
        fx_test(a_gated_pod_past_the_limit_is_no_event_for_pods_in_flight),
        fx_test(a_flush_tries_a_pod_once_that_it_brings_behind_another_gate),
        fx_test_1_37(a_flush_tries_a_pod_once_that_it_brings_behind_another_gate),
        fx_test_1_34(a_flush_tries_a_pod_once_that_it_brings_behind_another_gate),
        fx_test_1_26(a_flush_tries_a_pod_once_that_it_brings_behind_another_gate),
        fx_test_1_12(a_flush_tries_a_pod_once_that_it_brings_behind_another_gate),
    };
    return fx_run_tests(argc, argv, tests);
}
