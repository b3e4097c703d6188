/*
 * schedq_hold and schedq_release: a held pod is in the queue, and nothing but its release brings it
 * out.
 */
#include <stdio.h>

#include <schedq/hold.h>

#include "host.h"

static schedq_result_t
hold(fixture_t *fixture, schedq_pod_t pod)
{
    schedq_result_t result;
    assert_ok(schedq_hold(fx_worker(fixture), pod, &result));
    assert_true(result.pod.bits == pod.bits);
    return result;
}

static schedq_result_t
release(fixture_t *fixture, schedq_pod_t pod)
{
    schedq_result_t result;
    assert_ok(schedq_release(fx_worker(fixture), pod, &result));
    assert_true(result.pod.bits == pod.bits);
    return result;
}

static void
assert_held(fixture_t *fixture, unsigned held)
{
    assert_int_equal(fx_stats(fixture).held, held);
    assert_int_equal(schedq_words(fx_queue(fixture))->held, held);
    assert_int_equal(fx_metric(fixture, "schedq_held_pods"), held);
}

static void
every_waiting_place_and_active_can_be_held(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    const fx_waiting_t waiting = fx_wait_everywhere(fixture, fit, gate);
    const schedq_pod_t pods[] = {waiting.backoff, waiting.parked, waiting.error, waiting.gated,
                                 fx_add(fixture, "ns/active", 0)};
    for (unsigned i = 0; i < 5; i++) {
        schedq_result_t result = hold(fixture, pods[i]);
        assert_place(result.place, SCHEDQ_HELD);
        assert_int_equal(result.gate, 0);
        assert_int_equal(result.poppable, 0);
        assert_place(fx_info(fixture, pods[i]).place, SCHEDQ_HELD);
        assert_int_equal(fx_info(fixture, pods[i]).held, 1);
        assert_held(fixture, i + 1);
    }
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
    fx_pop_nothing(fixture);
}

static void
nothing_but_its_release_brings_a_held_pod_out(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    const fx_waiting_t waiting = fx_wait_everywhere(fixture, fit, gate);
    const schedq_pod_t pods[] = {waiting.backoff, waiting.parked, waiting.error, waiting.gated};
    for (unsigned i = 0; i < 4; i++)
        hold(fixture, pods[i]);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    fx_move(fixture, SCHEDQ_EVENT_WILDCARD);
    fx_pass(fixture, SEC(30));
    fx_pass(fixture, SEC(3600));
    assert_ok(schedq_activate(fx_worker(fixture), pods, 4, NULL));
    fx_pop_nothing(fixture);
    assert_held(fixture, 4);
    assert_true(schedq_words(fx_queue(fixture))->next_deadline_ns == SCHEDQ_NO_DEADLINE);
    for (unsigned i = 0; i < 4; i++)
        assert_place(release(fixture, pods[i]).place, SCHEDQ_ACTIVE);
    fx_assert_counts(fixture, 4, 0, 0, 0, 0, 0);
    assert_held(fixture, 0);
}

static void
a_released_pod_has_the_order_and_history_that_it_had(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t first = fx_add(fixture, "ns/first", 1);
    fx_add(fixture, "ns/second", 1);
    fx_add(fixture, "ns/last", 0);
    fx_advance(fixture, SEC(5));
    hold(fixture, first);
    fx_advance(fixture, SEC(5));
    schedq_popped_t second = fx_pop(fixture, "ns/second");
    schedq_result_t result = release(fixture, first);
    assert_int_equal(result.to_active, 1);
    assert_int_equal(result.poppable, 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/first");
    assert_ns_equal(popped.history.timestamp_ns, FX_START);
    assert_ns_equal(popped.history.initial_attempt_ns, FX_START);
    assert_int_equal(popped.history.attempts, 1);
    fx_done(fixture, &second);
    fx_done(fixture, &popped);
    popped = fx_pop(fixture, "ns/last");
    fx_done(fixture, &popped);
}

static void
a_pod_that_became_active_before_it_was_held_keeps_its_first_attempt(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    gate->refuses = true;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    gate->refuses = false;
    fx_pass(fixture, SEC(1));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    hold(fixture, pod);
    assert_ns_equal(fx_info(fixture, pod).history.initial_attempt_ns, FX_START + SEC(1));
    fx_pass(fixture, SEC(1));
    release(fixture, pod);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ns_equal(popped.history.initial_attempt_ns, FX_START + SEC(1));
    fx_done(fixture, &popped);
}

static void
a_released_pod_backs_off_for_the_rest_of_its_backoff(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
    hold(fixture, pod);
    fx_pass(fixture, MS(400));
    schedq_result_t result = release(fixture, pod);
    assert_place(result.place, SCHEDQ_BACKOFF);
    assert_int_equal(result.to_backoff, 1);
    assert_ns_equal(fx_info(fixture, pod).backoff_expiry_ns, FX_START + SEC(1));
    fx_pass(fixture, MS(600));
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(popped.unschedulable, fit->bit);
    fx_done(fixture, &popped);
}

static void
a_released_pod_is_gated_if_its_gate_still_refuses(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    gate->refuses = true;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    hold(fixture, pod);
    schedq_result_t result = release(fixture, pod);
    assert_place(result.place, SCHEDQ_GATED);
    assert_int_equal(result.gate, gate->gate);
    assert_int_equal(result.to_gated, 1);
    hold(fixture, pod);
    /* the event comes while nobody listens */
    gate->refuses = false;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(release(fixture, pod).place, SCHEDQ_ACTIVE);
}

static void
one_in_flight_is_held_when_its_cycle_fails(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_place(hold(fixture, pod).place, SCHEDQ_INFLIGHT);
    assert_held(fixture, 0);
    assert_int_equal(fx_info(fixture, pod).held, 1);
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    schedq_result_t result = fx_fail(fixture, &popped, fit->bit, 0);
    assert_place(result.place, SCHEDQ_HELD);
    assert_int_equal(result.unschedulable, fit->bit);
    assert_int_equal(result.to_active + result.to_backoff + result.to_parked + result.to_gated, 0);
    assert_int_equal(fx_info(fixture, pod).history.rejections, 1);
    assert_held(fixture, 1);
    fx_pass(fixture, SEC(3600));
    fx_pop_nothing(fixture);
    assert_place(release(fixture, pod).place, SCHEDQ_ACTIVE);
}

static void
one_that_is_released_in_flight_is_not_held(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    hold(fixture, pod);
    assert_place(release(fixture, pod).place, SCHEDQ_INFLIGHT);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
}

static void
done_ends_one_that_was_to_be_held(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    hold(fixture, pod);
    fx_done(fixture, &popped);
    assert_status(schedq_release(fx_worker(fixture), pod, NULL), SCHEDQ_NOT_FOUND);
    fx_add(fixture, "ns/a", 0);
    popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
}

static void
a_held_pod_is_found_updated_nominated_and_deleted(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
    schedq_pod_spec_t spec = fx_spec(7);
    const schedq_event_t event = SCHEDQ_EVENT_NODE_ADD;
    schedq_result_t result;
    hold(fixture, pod);
    assert_status(schedq_add(fx_worker(fixture), "ns/a", 4, &spec, &result), SCHEDQ_EXISTS);
    assert_place(result.place, SCHEDQ_HELD);
    assert_place(fx_find(fixture, "ns/a").place, SCHEDQ_HELD);
    spec.object = 77;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, &event, 1, &result));
    assert_place(result.place, SCHEDQ_HELD);
    assert_int_equal(result.unschedulable, fit->bit);
    assert_int_equal(result.to_active, 0);
    assert_int_equal(fx_info(fixture, pod).object, 77);
    assert_int_equal(fx_info(fixture, pod).priority, 7);
    assert_ok(schedq_nominate(fx_worker(fixture), pod, 3));
    assert_int_equal(fx_info(fixture, pod).nominated_node, 3);
    assert_held(fixture, 1);
    fx_pass(fixture, SEC(2));
    release(fixture, pod);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(popped.object, 77);
    assert_int_equal(popped.priority, 7);
    assert_int_equal(popped.nominated_node, 3);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
    hold(fixture, pod);
    assert_ok(schedq_delete(fx_worker(fixture), pod, &result));
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
    assert_held(fixture, 0);
}

static void
calls_that_are_repeated_change_nothing(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    assert_place(release(fixture, pod).place, SCHEDQ_ACTIVE);
    for (unsigned i = 0; i < 3; i++)
        assert_place(hold(fixture, pod).place, SCHEDQ_HELD);
    assert_held(fixture, 1);
    assert_place(release(fixture, pod).place, SCHEDQ_ACTIVE);
    schedq_result_t result = release(fixture, pod);
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_int_equal(result.to_active, 0);
    assert_held(fixture, 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_pop_nothing(fixture);
    for (unsigned i = 0; i < 3; i++)
        assert_place(hold(fixture, pod).place, SCHEDQ_INFLIGHT);
    assert_place(fx_fail(fixture, &popped, 0, 0).place, SCHEDQ_HELD);
}

static void
handles_that_name_no_pod_are_not_found(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t gone = fx_add(fixture, "ns/a", 0), flying = fx_add(fixture, "ns/b", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
    popped = fx_pop(fixture, "ns/b");
    assert_ok(schedq_delete(fx_worker(fixture), flying, NULL));
    const schedq_pod_t pods[] = {gone, flying, {0}, {UINT64_MAX}, {12345}};
    for (unsigned i = 0; i < 5; i++) {
        assert_status(schedq_hold(fx_worker(fixture), pods[i], NULL), SCHEDQ_NOT_FOUND);
        assert_status(schedq_release(fx_worker(fixture), pods[i], NULL), SCHEDQ_NOT_FOUND);
        assert_status(schedq_not_before(fx_worker(fixture), pods[i], 1, NULL), SCHEDQ_NOT_FOUND);
    }
    assert_status(schedq_hold(NULL, gone, NULL), SCHEDQ_INVALID);
    assert_status(schedq_release(NULL, gone, NULL), SCHEDQ_INVALID);
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_GONE);
}

static void
references_come_out_even(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    schedq_pod_t held = fx_add(fixture, "ns/held", 2), out = fx_add(fixture, "ns/out", 1);
    hold(fixture, out);
    release(fixture, out);
    schedq_popped_t popped = fx_pop(fixture, "ns/held");
    hold(fixture, held);
    fx_fail(fixture, &popped, 0, 0);
    popped = fx_pop(fixture, "ns/out");
    fx_done(fixture, &popped);
}

static void
held_pods_are_popped_by_nobody_after_close_either(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped;
    hold(fixture, pod);
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_status(schedq_try_pop(fx_worker(fixture), &popped), SCHEDQ_CLOSED);
    release(fixture, pod);
    popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
}

/* ---- host decisions -------------------------------------------------------------------------- */

static void
a_host_gets_no_candidate_of_a_held_pod(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_candidate_t found[4];
    schedq_pod_t pod = hx_park(fixture, "ns/a", 1, fit->bit);
    uint64_t ref = fx_find(fixture, "ns/a").ref;
    schedq_result_t result = hold(fixture, pod);
    assert_place(result.place, SCHEDQ_HELD);
    assert_int_equal(result.ref, 0);
    assert_int_equal(hx_collect(fixture, hx_query(fit->bit, 0), found, 4, 1), 0);
    assert_status(hx_apply(fixture, ref, SCHEDQ_ACTIVE, 0, 0, &result), SCHEDQ_GONE);
    result = release(fixture, pod);
    assert_place(result.place, SCHEDQ_BACKOFF);
    assert_true(result.ref != 0);
    hold(fixture, pod);
    fx_advance(fixture, SEC(2));
    assert_place(release(fixture, pod).place, SCHEDQ_ACTIVE);
}

/* Each pod that is kept back has a description of its own; each is kept for less long. */
static void
a_time_for_which_memory_is_missing_makes_no_tick_due(void **state)
{
    enum { MOST = 400 };
    fixture_t *fixture = *state;
    static schedq_pod_t pods[MOST];
    int64_t next = SCHEDQ_NO_DEADLINE;
    char name[16];
    for (int i = 0; i < MOST; i++) {
        (void)snprintf(name, sizeof name, "ns/%d", i);
        pods[i] = fx_add(fixture, name, 0);
    }
    atomic_store(&fixture->memory.fail_all, true);
    for (int i = 0; i < MOST; i++) {
        int64_t until = fx_now(fixture) + SEC(1000 - i);
        if (schedq_not_before(fx_worker(fixture), pods[i], until, NULL) != SCHEDQ_OK)
            break;
        next = until;
    }
    assert_true(schedq_next_deadline(fx_queue(fixture)) == next);
    (void)account_heal(&fixture->memory);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(every_waiting_place_and_active_can_be_held),
        fx_test(nothing_but_its_release_brings_a_held_pod_out),
        fx_test_1_34(nothing_but_its_release_brings_a_held_pod_out),
        fx_test(a_released_pod_has_the_order_and_history_that_it_had),
        fx_test(a_pod_that_became_active_before_it_was_held_keeps_its_first_attempt),
        fx_test(a_released_pod_backs_off_for_the_rest_of_its_backoff),
        fx_test(a_released_pod_is_gated_if_its_gate_still_refuses),
        fx_test(one_in_flight_is_held_when_its_cycle_fails),
        fx_test(one_that_is_released_in_flight_is_not_held),
        fx_test(done_ends_one_that_was_to_be_held),
        fx_test(a_held_pod_is_found_updated_nominated_and_deleted),
        fx_test(calls_that_are_repeated_change_nothing),
        fx_test(handles_that_name_no_pod_are_not_found),
        fx_test(references_come_out_even),
        fx_test(held_pods_are_popped_by_nobody_after_close_either),
        fx_test_host(a_host_gets_no_candidate_of_a_held_pod),
        fx_test(a_time_for_which_memory_is_missing_makes_no_tick_due),
    };
    return fx_run_tests(argc, argv, tests);
}
