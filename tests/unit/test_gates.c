/*
 * PreEnqueue: who is asked, when, in which order, and what gets a gated pod out. SPEC 4.3, 5.7, 9.
 */
#include <string.h>

#include "fixture.h"

static schedq_pod_t
add_gated(fixture_t *fixture, const char *name, fx_plugin_t *gate)
{
    gate->refuses = true;
    schedq_pod_t pod = fx_add(fixture, name, 0);
    assert_place(fx_place(fixture, name), SCHEDQ_GATED);
    return pod;
}

static void
a_refused_pod_is_gated_and_not_poppable(void **state)
{
    fixture_t *fixture = *state;
    fx_gate(fixture, "Other", "Pod", SCHEDQ_ACTION_ALL);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_ALL);
    gate->refuses = true;
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 31;
    schedq_result_t result = fx_add_spec(fixture, "ns/a", &spec);
    assert_place(result.place, SCHEDQ_GATED);
    assert_int_equal(result.gate, gate->gate);
    assert_int_equal(result.to_gated, 1);
    assert_int_equal(result.to_active, 0);
    assert_int_equal(result.poppable, 0);
    assert_int_equal(gate->gate_pod, 31);
    fx_pop_nothing(fixture);
    schedq_pod_info_t info = fx_info(fixture, result.pod);
    assert_int_equal(info.gate, gate->gate);
    assert_int_equal(info.unschedulable, gate->bit);
    assert_int_equal(info.pending, 0);
    assert_int_equal(info.history.initial_attempt_ns, 0);
    assert_int_equal(fx_stats(fixture).pre_enqueue_calls, 2);
}

static void
the_first_refusal_wins_in_the_order_of_registration(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *first = fx_gate(fixture, "First", NULL, 0);
    fx_plugin_t *second = fx_gate(fixture, "Second", NULL, 0);
    fx_plugin_t *third = fx_gate(fixture, "Third", NULL, 0);
    second->refuses = third->refuses = true;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    assert_int_equal(fx_info(fixture, pod).gate, second->gate);
    assert_int_equal(first->gate_calls, 1);
    assert_int_equal(second->gate_calls, 1);
    assert_int_equal(third->gate_calls, 0);
}

static void
the_plugin_that_gates_is_asked_first_next_time(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *first = fx_gate(fixture, "First", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *second = fx_gate(fixture, "Second", "Node", SCHEDQ_ACTION_ADD);
    add_gated(fixture, "ns/a", second);
    assert_int_equal(first->gate_calls, 1);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_int_equal(second->gate_calls, 2);
    assert_int_equal(first->gate_calls, 1);
    second->refuses = false;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_int_equal(second->gate_calls, 3);
    assert_int_equal(first->gate_calls, 2);
    assert_true(second->asked_at < first->asked_at);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
}

static void
an_event_that_the_gate_registered_asks_it_again(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED);
    add_gated(fixture, "ns/a", gate);
    schedq_result_t result = fx_move(fixture, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED);
    assert_int_equal(result.to_active, 0);
    assert_int_equal(gate->gate_calls, 2);
    gate->refuses = false;
    fx_advance(fixture, SEC(3));
    result = fx_move(fixture, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED);
    assert_int_equal(result.to_active, 1);
    assert_int_equal(result.poppable, 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ns_equal(popped.history.timestamp_ns, FX_START);
    assert_ns_equal(popped.history.initial_attempt_ns, FX_START + SEC(3));
    assert_int_equal(popped.unschedulable, gate->bit);
}

static void
an_event_that_the_gate_did_not_register_is_not_for_it(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED);
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    (void)fit;
    add_gated(fixture, "ns/a", gate);
    gate->refuses = false;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_int_equal(gate->gate_calls, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_GATED);
}

static void
a_hint_that_skips_keeps_the_gate_from_being_asked(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    add_gated(fixture, "ns/a", gate);
    gate->hint = SCHEDQ_HINT_SKIP;
    gate->refuses = false;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_int_equal(gate->gate_calls, 1);
    assert_int_equal(gate->hint_calls, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_GATED);
}

static void
a_pod_that_goes_from_one_gate_to_another_carries_both_rejectors(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *one = fx_gate(fixture, "One", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *two = fx_gate(fixture, "Two", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = add_gated(fixture, "ns/a", one);
    one->refuses = false;
    two->refuses = true;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    schedq_pod_info_t info = fx_info(fixture, pod);
    assert_int_equal(info.gate, two->gate);
    assert_int_equal(info.unschedulable, one->bit | two->bit);
    two->refuses = false;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_int_equal(fx_info(fixture, pod).unschedulable, one->bit | two->bit);
    assert_int_equal(fx_info(fixture, pod).gate, 0);
    assert_int_equal(fx_pop(fixture, "ns/a").unschedulable, one->bit | two->bit);
    assert_int_equal(fx_info(fixture, pod).unschedulable, 0);
}

static void
an_update_tells_the_gate_that_refuses_the_pod_now(void **state)
{
    fixture_t *fixture = *state;
    const schedq_event_t event = SCHEDQ_EVENT_NODE_ADD;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_result_t result;
    fx_plugin_t *one = fx_gate(fixture, "One", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *two = fx_gate(fixture, "Two", "Node", SCHEDQ_ACTION_ADD);
    add_gated(fixture, "ns/a", one);
    one->refuses = false;
    two->refuses = true;
    assert_status(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, &event, 1, &result),
                  SCHEDQ_OK);
    assert_place(result.place, SCHEDQ_GATED);
    assert_int_equal(result.gate, two->gate);
    assert_int_equal(fx_find(fixture, "ns/a").gate, two->gate);
}

/* ---- wildcards and the leftover limit ---- */

/* Each would be the next one's time already. */
static void
at_the_end_of_time_leftovers_are_tried_in_one_flush(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    schedq_popped_t popped;
    add_gated(fixture, "ns/a", gate);
    fx_advance(fixture, INT64_MAX - fx_now(fixture));
    fx_tick(fixture);
    assert_int_equal(gate->gate_calls, 2);
    fx_tick(fixture);
    assert_int_equal(gate->gate_calls, 2);
    assert_status(schedq_pop_for(fx_worker(fixture), 0, &popped), SCHEDQ_TIMEDOUT);
    assert_int_equal(gate->gate_calls, 2);
}

static void
a_wildcard_asks_gates_again(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    add_gated(fixture, "ns/a", gate);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_WILDCARD).to_active, 0);
    assert_int_equal(gate->gate_calls, 2);
    gate->refuses = false;
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_WILDCARD).to_active, 1);
}

static void
in_kube_1_34_no_wildcard_asks_a_gate_unless_it_registered_everything(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_ALL);
    fx_plugin_t *curious = fx_gate(fixture, "Curious", "*", SCHEDQ_ACTION_ALL);
    add_gated(fixture, "ns/a", gate);
    gate->refuses = false;
    add_gated(fixture, "ns/b", curious);
    curious->refuses = false;
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_WILDCARD).to_active, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_GATED);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_ACTIVE);
}

static void
the_leftover_limit_tries_a_gated_pod_once_per_limit(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_parked_ns = SEC(60);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    add_gated(fixture, "ns/a", gate);
    fx_pass(fixture, SEC(60));
    assert_int_equal(gate->gate_calls, 1);
    fx_pass(fixture, 1);
    assert_int_equal(gate->gate_calls, 2);
    for (int i = 0; i < 10; i++)
        fx_pass(fixture, SEC(1));
    assert_int_equal(gate->gate_calls, 2);
    gate->refuses = false;
    fx_pass(fixture, SEC(51));
    assert_int_equal(gate->gate_calls, 3);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
}

static void
in_kube_1_34_the_leftover_limit_does_not_try_gated_pods(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_parked_ns = SEC(60);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_ALL);
    add_gated(fixture, "ns/a", gate);
    gate->refuses = false;
    fx_pass(fixture, SEC(3600));
    assert_int_equal(gate->gate_calls, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_GATED);
}

/* ---- on the way into backoff and out of it ---- */

static void
gates_are_asked_on_the_way_into_backoff(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_ALL);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    gate->refuses = true;
    schedq_result_t result = fx_fail(fixture, &popped, fit->bit, 0);
    assert_place(result.place, SCHEDQ_GATED);
    assert_int_equal(result.gate, gate->gate);
    assert_int_equal(result.to_gated, 1);
    assert_int_equal(fx_info(fixture, result.pod).unschedulable, fit->bit | gate->bit);
}

static void
gates_are_not_asked_on_the_way_into_the_parked_pods(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_ALL);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    gate->refuses = true;
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
    assert_int_equal(gate->gate_calls, 1);
}

static void
a_parked_pod_that_an_event_takes_out_may_be_gated(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_ALL);
    schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
    gate->refuses = true;
    fx_advance(fixture, SEC(60));
    schedq_result_t result = fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_int_equal(result.to_gated, 1);
    assert_int_equal(result.to_active, 0);
    assert_int_equal(result.poppable, 0);
    assert_int_equal(fx_info(fixture, pod).unschedulable, fit->bit | gate->bit);
    assert_int_equal(fx_info(fixture, pod).gate, gate->gate);
}

static void
gates_are_not_asked_from_backoff_to_active(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_ALL);
    fx_back_off(fixture, "ns/a", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    fx_back_off(fixture, "ns/b", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    gate->refuses = true;
    unsigned asked = gate->gate_calls;
    fx_pop(fixture, "ns/a");
    assert_int_equal(fx_pass(fixture, SEC(1)).to_active, 1);
    assert_int_equal(gate->gate_calls, asked);
    fx_pop(fixture, "ns/b");
}

static void
without_pop_from_backoff_gates_are_asked_on_the_way_out_of_backoff(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.pop_from_backoff = 0;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_ALL);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    gate->refuses = true;
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_BACKOFF);
    schedq_result_t result = fx_pass(fixture, SEC(1));
    assert_int_equal(result.to_active, 0);
    assert_int_equal(result.to_gated, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_GATED);
}

static void
an_error_that_a_gate_refuses_returns_through_the_ordinary_backoff(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    gate->refuses = true;
    schedq_result_t result = fx_fail(fixture, &popped, 0, 0);
    assert_place(result.place, SCHEDQ_GATED);
    assert_int_equal(fx_info(fixture, result.pod).unschedulable, gate->bit);
    gate->refuses = false;
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_backoff, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_BACKOFF);
    fx_pop(fixture, "ns/a");
}

static void
a_pod_that_became_active_once_keeps_its_first_attempt_through_a_gate(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_backoff_ns = 0;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    gate->refuses = true;
    fx_fail(fixture, &popped, 0, 0);
    gate->refuses = false;
    fx_advance(fixture, SEC(9));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_ns_equal(fx_pop(fixture, "ns/a").history.initial_attempt_ns, FX_START);
}

static void
in_kube_1_26_a_gated_pod_hears_of_every_event_of_its_plugins(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    add_gated(fixture, "ns/a", gate);
    gate->refuses = false;
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_DELETE).to_active, 0);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 1);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(a_refused_pod_is_gated_and_not_poppable),
        fx_test(the_first_refusal_wins_in_the_order_of_registration),
        fx_test(the_plugin_that_gates_is_asked_first_next_time),
        fx_test(an_event_that_the_gate_registered_asks_it_again),
        fx_test(an_event_that_the_gate_did_not_register_is_not_for_it),
        fx_test(a_hint_that_skips_keeps_the_gate_from_being_asked),
        fx_test(a_pod_that_goes_from_one_gate_to_another_carries_both_rejectors),
        fx_test(an_update_tells_the_gate_that_refuses_the_pod_now),
        fx_test_1_26(at_the_end_of_time_leftovers_are_tried_in_one_flush),
        fx_test(a_wildcard_asks_gates_again),
        fx_test_1_34(in_kube_1_34_no_wildcard_asks_a_gate_unless_it_registered_everything),
        fx_test(the_leftover_limit_tries_a_gated_pod_once_per_limit),
        fx_test_1_34(in_kube_1_34_the_leftover_limit_does_not_try_gated_pods),
        fx_test(gates_are_asked_on_the_way_into_backoff),
        fx_test(gates_are_not_asked_on_the_way_into_the_parked_pods),
        fx_test(a_parked_pod_that_an_event_takes_out_may_be_gated),
        fx_test(gates_are_not_asked_from_backoff_to_active),
        fx_test(without_pop_from_backoff_gates_are_asked_on_the_way_out_of_backoff),
        fx_test(an_error_that_a_gate_refuses_returns_through_the_ordinary_backoff),
        fx_test(a_pod_that_became_active_once_keeps_its_first_attempt_through_a_gate),
        fx_test_1_26(in_kube_1_26_a_gated_pod_hears_of_every_event_of_its_plugins),
    };
    return fx_run_tests(argc, argv, tests);
}
