/*
 * Times before which a pod is not popped: spec.not_before_ns in add, update, readd and failures,
 * and schedq_not_before.
 */
#include <schedq/hold.h>
#include <stdio.h>
#include <time.h>

#include "host.h"

static schedq_pod_t
add_until(fixture_t *fixture, const char *name, int64_t time)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = ++fixture->next_object;
    spec.not_before_ns = time;
    return fx_add_spec(fixture, name, &spec).pod;
}

static schedq_result_t
not_before(fixture_t *fixture, schedq_pod_t pod, int64_t time)
{
    schedq_result_t result;
    assert_ok(schedq_not_before(fx_worker(fixture), pod, time, &result));
    return result;
}

static int64_t
deadline(fixture_t *fixture)
{
    return schedq_words(fx_queue(fixture))->next_deadline_ns;
}

static void
a_new_pod_is_held_until_its_time(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = add_until(fixture, "ns/a", FX_START + SEC(5));
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_HELD);
    assert_int_equal(fx_stats(fixture).held, 1);
    assert_int_equal(fx_info(fixture, pod).held, 0);
    assert_ns_equal(fx_info(fixture, pod).not_before_ns, FX_START + SEC(5));
    assert_ns_equal(deadline(fixture), FX_START + SEC(5));
    fx_pass(fixture, SEC(5) - 1);
    fx_pop_nothing(fixture);
    schedq_result_t result = fx_pass(fixture, 1);
    assert_int_equal(result.to_active, 1);
    assert_int_equal(fx_stats(fixture).moves, 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(popped.from_backoff, 0);
    assert_ns_equal(popped.history.timestamp_ns, FX_START);
    fx_done(fixture, &popped);
    assert_ns_equal(deadline(fixture), SCHEDQ_NO_DEADLINE);
}

/* 0 is no time. */
static void
where_the_clock_reads_less_than_0_it_is_0(void **state)
{
    fixture_t *fixture = *state;
    fx_advance(fixture, -FX_START - SEC(3));
    fx_add(fixture, "ns/a", 0);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    assert_ns_equal(schedq_now(fx_queue(fixture)), 0);
    fx_advance(fixture, SEC(4));
    assert_ns_equal(schedq_now(fx_queue(fixture)), SEC(1));
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ns_equal(popped.history.timestamp_ns, 0);
    fx_done(fixture, &popped);
}

static void
a_time_that_is_past_holds_nothing(void **state)
{
    fixture_t *fixture = *state;
    fx_worker(fixture);
    add_until(fixture, "ns/a", FX_START);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
}

static void
pods_of_a_batch_are_held_each_until_its_own_time(void **state)
{
    fixture_t *fixture = *state;
    const char names[] = "ns/ans/bns/c";
    schedq_add_item_t items[3];
    uint8_t statuses[3];
    schedq_result_t result;
    for (unsigned i = 0; i < 3; i++) {
        items[i] = (schedq_add_item_t)SCHEDQ_ADD_ITEM_INIT;
        items[i].name_offset = 4 * i;
        items[i].name_length = 4;
        items[i].spec.not_before_ns = FX_START + SEC(3 - i);
    }
    assert_ok(schedq_add_many(fx_worker(fixture), names, 12, items, 3, NULL, statuses, &result));
    assert_int_equal(result.to_active, 0);
    assert_int_equal(fx_stats(fixture).held, 3);
    fx_pass(fixture, SEC(1));
    schedq_popped_t popped = fx_pop(fixture, "ns/c");
    fx_done(fixture, &popped);
    fx_pass(fixture, SEC(1));
    popped = fx_pop(fixture, "ns/b");
    fx_done(fixture, &popped);
    fx_pop_nothing(fixture);
    fx_pass(fixture, SEC(1));
    popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
}

static void
gates_are_asked_when_the_time_has_come(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    gate->refuses = true;
    add_until(fixture, "ns/a", FX_START + SEC(5));
    assert_int_equal(gate->gate_calls, 0);
    fx_pass(fixture, SEC(5));
    assert_int_equal(gate->gate_calls, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_GATED);
    gate->refuses = false;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
}

static void
any_place_can_get_a_time(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    const fx_waiting_t waiting = fx_wait_everywhere(fixture, fit, gate);
    const schedq_pod_t pods[] = {waiting.backoff, waiting.parked, waiting.error, waiting.gated,
                                 fx_add(fixture, "ns/active", 0)};
    for (unsigned i = 0; i < 5; i++)
        assert_place(not_before(fixture, pods[i], FX_START + SEC(10)).place, SCHEDQ_HELD);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    fx_pass(fixture, SEC(9));
    fx_pop_nothing(fixture);
    assert_int_equal(fx_stats(fixture).held, 5);
    assert_int_equal(fx_pass(fixture, SEC(1)).to_active, 5);
}

static void
a_later_or_earlier_time_replaces_the_first(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = add_until(fixture, "ns/a", FX_START + SEC(5));
    not_before(fixture, pod, FX_START + SEC(9));
    fx_pass(fixture, SEC(5));
    fx_pop_nothing(fixture);
    assert_ns_equal(deadline(fixture), FX_START + SEC(9));
    not_before(fixture, pod, FX_START + SEC(6));
    assert_ns_equal(deadline(fixture), FX_START + SEC(6));
    assert_int_equal(fx_stats(fixture).held, 1);
    fx_pass(fixture, SEC(1));
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
}

static void
no_time_lets_the_pod_go(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = add_until(fixture, "ns/a", SCHEDQ_NO_DEADLINE);
    schedq_pod_t other = add_until(fixture, "ns/b", FX_START + SEC(5));
    assert_place(not_before(fixture, pod, 0).place, SCHEDQ_ACTIVE);
    schedq_result_t result = not_before(fixture, other, FX_START);
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_int_equal(result.poppable, 1);
    assert_int_equal(fx_stats(fixture).held, 0);
}

static void
a_hold_and_a_time_keep_back_each_by_itself(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = add_until(fixture, "ns/a", FX_START + SEC(5));
    assert_ok(schedq_hold(fx_worker(fixture), pod, NULL));
    schedq_result_t result;
    assert_ok(schedq_release(fx_worker(fixture), pod, &result));
    assert_place(result.place, SCHEDQ_HELD);
    assert_ok(schedq_release(fx_worker(fixture), pod, &result));
    assert_place(result.place, SCHEDQ_HELD);
    assert_ok(schedq_hold(fx_worker(fixture), pod, NULL));
    fx_pass(fixture, SEC(5));
    fx_pop_nothing(fixture);
    assert_place(not_before(fixture, pod, 0).place, SCHEDQ_HELD);
    assert_ok(schedq_release(fx_worker(fixture), pod, &result));
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_int_equal(fx_stats(fixture).held, 0);
}

static void
an_update_replaces_the_time_and_not_the_mark(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_result_t result;
    spec.not_before_ns = FX_START + SEC(5);
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, &result));
    assert_place(result.place, SCHEDQ_HELD);
    spec.not_before_ns = FX_START + SEC(9);
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, &result));
    fx_pass(fixture, SEC(5));
    fx_pop_nothing(fixture);
    assert_ok(schedq_hold(fx_worker(fixture), pod, NULL));
    spec.not_before_ns = 0;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, &result));
    assert_place(result.place, SCHEDQ_HELD);
    assert_ok(schedq_release(fx_worker(fixture), pod, &result));
    assert_place(result.place, SCHEDQ_ACTIVE);
    spec.not_before_ns = FX_START + SEC(9);
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, &result));
    assert_place(result.place, SCHEDQ_HELD);
    spec.not_before_ns = FX_START;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, &result));
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_int_equal(result.to_active, 1);
}

static void
one_in_flight_is_held_if_it_fails_before_its_time(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_place(not_before(fixture, pod, FX_START + SEC(5)).place, SCHEDQ_INFLIGHT);
    fx_advance(fixture, SEC(1));
    assert_place(fx_fail(fixture, &popped, 0, 0).place, SCHEDQ_HELD);
    fx_pass(fixture, SEC(3));
    fx_pop_nothing(fixture);
    fx_pass(fixture, SEC(1));
    popped = fx_pop(fixture, "ns/a");
    not_before(fixture, pod, FX_START + SEC(6));
    fx_advance(fixture, SEC(1));
    assert_place(fx_fail(fixture, &popped, 0, 0).place, SCHEDQ_ERROR_BACKOFF);
}

static void
the_newest_spec_of_a_failure_has_a_time(void **state)
{
    fixture_t *fixture = *state;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_pod_spec_t newest = SCHEDQ_POD_SPEC_INIT;
    newest.not_before_ns = FX_START + SEC(5);
    failure.newest = &newest;
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, &result));
    assert_place(result.place, SCHEDQ_HELD);
    fx_pass(fixture, SEC(5));
    popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
}

static void
a_readd_has_a_time(void **state)
{
    fixture_t *fixture = *state;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;
    const schedq_history_t history = {.timestamp_ns = FX_START, .attempts = 1};
    schedq_pod_spec_t spec = fx_spec(0);
    spec.not_before_ns = FX_START + MS(1);
    assert_ok(schedq_readd(fx_worker(fixture), "ns/a", 4, &spec, &history, &failure, &result));
    assert_place(result.place, SCHEDQ_HELD);
    fx_pass(fixture, MS(1));
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ERROR_BACKOFF);
}

static void
a_pop_from_backoff_does_not_take_a_pod_before_its_time(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_back_off(fixture, "ns/a", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    not_before(fixture, pod, FX_START + MS(1));
    fx_pop_nothing(fixture);
    fx_pass(fixture, MS(1));
    /* what is left of its backoff */
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(popped.from_backoff, 1);
    fx_done(fixture, &popped);
}

static int64_t
real_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return SEC(now.tv_sec) + now.tv_nsec;
}

static void
a_blocking_pop_waits_for_the_time(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    fx_use_real_clock(fixture);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    int64_t time = real_now() + MS(20);
    not_before(fixture, pod, time);
    assert_ok(schedq_pop(fx_worker(fixture), &popped));
    assert_true(real_now() >= time);
    fx_done(fixture, &popped);
}

static void
bad_times_are_refused_in_words(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_pod_spec_t spec = fx_spec(0);
    assert_status(schedq_not_before(fx_worker(fixture), pod, -1, NULL), SCHEDQ_INVALID);
    assert_contains(schedq_worker_error(fx_worker(fixture)), "time_ns");
    spec.not_before_ns = -1;
    assert_status(schedq_add(fx_worker(fixture), "ns/b", 4, &spec, NULL), SCHEDQ_INVALID);
    assert_contains(schedq_worker_error(fx_worker(fixture)), "not_before_ns");
    assert_status(schedq_update(fx_worker(fixture), "ns/b", 4, &spec, 0, NULL, 0, NULL),
                  SCHEDQ_INVALID);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
}

static void
a_host_does_not_combine_a_gate_with_a_time(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    spec.gate = 1;
    spec.not_before_ns = FX_START + SEC(1);
    assert_status(schedq_add(fx_worker(fixture), "ns/a", 4, &spec, NULL), SCHEDQ_INVALID);
    assert_contains(schedq_worker_error(fx_worker(fixture)), "not_before_ns");
}

static void
a_host_s_pod_is_active_when_its_time_has_come(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    fx_worker(fixture);
    spec.not_before_ns = FX_START + SEC(1);
    schedq_result_t result = fx_add_spec(fixture, "ns/a", &spec);
    assert_place(result.place, SCHEDQ_HELD);
    assert_int_equal(result.ref, 0);
    assert_int_equal(fx_pass(fixture, SEC(1)).to_active, 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
}

/* More than a slice, in no order, and by a worker that comes and goes. */
static void
many_times_come_in_their_order(void **state)
{
    enum { PODS = 700 };
    fixture_t *fixture = *state;
    char name[32];
    for (unsigned i = 0; i < PODS; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        add_until(fixture, name, FX_START + 1 + (int64_t)(i * 463 % PODS));
    }
    for (unsigned i = 0; i < PODS; i++) {
        fx_pass(fixture, 1);
        assert_int_equal(fx_stats(fixture).active, 1);
        schedq_popped_t popped;
        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
        assert_ns_equal(fx_info(fixture, popped.pod).not_before_ns, fx_now(fixture));
        fx_done(fixture, &popped);
    }
    assert_int_equal(fx_stats(fixture).held, 0);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(a_new_pod_is_held_until_its_time),
        fx_test_1_34(a_new_pod_is_held_until_its_time),
        fx_test(where_the_clock_reads_less_than_0_it_is_0),
        fx_test(a_time_that_is_past_holds_nothing),
        fx_test(pods_of_a_batch_are_held_each_until_its_own_time),
        fx_test(gates_are_asked_when_the_time_has_come),
        fx_test(any_place_can_get_a_time),
        fx_test(a_later_or_earlier_time_replaces_the_first),
        fx_test(no_time_lets_the_pod_go),
        fx_test(a_hold_and_a_time_keep_back_each_by_itself),
        fx_test(an_update_replaces_the_time_and_not_the_mark),
        fx_test(one_in_flight_is_held_if_it_fails_before_its_time),
        fx_test(the_newest_spec_of_a_failure_has_a_time),
        fx_test(a_readd_has_a_time),
        fx_test(a_pop_from_backoff_does_not_take_a_pod_before_its_time),
        fx_test(a_blocking_pop_waits_for_the_time),
        fx_test(bad_times_are_refused_in_words),
        fx_test(many_times_come_in_their_order),
        fx_test_host(a_host_does_not_combine_a_gate_with_a_time),
        fx_test_host(a_host_s_pod_is_active_when_its_time_has_come),
    };
    return fx_run_tests(argc, argv, tests);
}
