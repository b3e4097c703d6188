/* A pod that failed after its done comes back with its history, and is never parked. */
#include <string.h>

#include "fixture.h"

static schedq_status_t
readd(fixture_t *fixture, const char *name, const schedq_history_t *history, uint64_t unschedulable,
      schedq_result_t *result)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 55;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = unschedulable;
    return schedq_readd(fx_worker(fixture), name, strlen(name), &spec, history, &failure, result);
}

static schedq_history_t
history_of(uint32_t attempts, uint32_t rejections, uint32_t errors)
{
    schedq_history_t history;
    memset(&history, 0, sizeof history);
    history.timestamp_ns = SEC(10);
    history.initial_attempt_ns = SEC(9);
    history.attempts = attempts;
    history.rejections = rejections;
    history.errors = errors;
    return history;
}

static void
a_pod_that_failed_with_an_error_after_done_backs_off_with_its_history(void **state)
{
    fixture_t *fixture = *state;
    schedq_history_t history = history_of(5, 2, 1);
    schedq_result_t result;
    assert_ok(readd(fixture, "ns/a", &history, 0, &result));
    assert_place(result.place, SCHEDQ_ERROR_BACKOFF);
    assert_int_equal(result.added, 1);
    assert_int_equal(result.to_backoff, 1);
    assert_ns_equal(result.timestamp_ns, FX_START);
    schedq_pod_info_t info = fx_info(fixture, result.pod);
    assert_int_equal(info.history.attempts, 5);
    assert_int_equal(info.history.rejections, 2);
    assert_int_equal(info.history.errors, 2);
    assert_ns_equal(info.history.initial_attempt_ns, SEC(9));
    assert_ns_equal(info.history.timestamp_ns, FX_START);
    assert_ns_equal(info.backoff_expiry_ns, FX_START + SEC(2));
    fx_pass(fixture, SEC(2));
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(popped.history.attempts, 6);
    assert_ns_equal(popped.history.initial_attempt_ns, SEC(9));
    assert_int_equal(popped.object, 55);
}

/* A caller may hand in the spec that the pod was added with. */
static void
a_readded_pod_is_ordered_by_now_whatever_its_spec_says(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_backoff_ns = 0;
    schedq_history_t history = history_of(1, 0, 0);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_result_t result;
    spec.timestamp_ns = FX_START + SEC(100);
    assert_ok(schedq_readd(fx_worker(fixture), "ns/a", 4, &spec, &history, &failure, &result));
    assert_ns_equal(result.timestamp_ns, FX_START);
    fx_advance(fixture, SEC(1));
    fx_add(fixture, "ns/b", 0);
    spec.timestamp_ns = 1;
    assert_ok(schedq_readd(fx_worker(fixture), "ns/c", 4, &spec, &history, &failure, &result));
    fx_pop(fixture, "ns/a");
    fx_pop(fixture, "ns/b");
    fx_pop(fixture, "ns/c");
}

static void
a_pod_that_was_rejected_after_done_backs_off_and_is_not_parked(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_history_t history = history_of(5, 2, 1);
    schedq_result_t result;
    assert_ok(readd(fixture, "ns/a", &history, fit->bit, &result));
    assert_place(result.place, SCHEDQ_BACKOFF);
    assert_int_equal(result.poppable, 1);
    schedq_pod_info_t info = fx_info(fixture, result.pod);
    assert_int_equal(info.unschedulable, fit->bit);
    assert_int_equal(info.history.rejections, 3);
    assert_int_equal(info.history.errors, 0);
    assert_ns_equal(info.backoff_expiry_ns, FX_START + SEC(4));
}

static void
without_backoff_a_readded_pod_is_active(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_backoff_ns = 0;
    schedq_history_t history = history_of(1, 0, 0);
    schedq_result_t result;
    assert_ok(readd(fixture, "ns/a", &history, 0, &result));
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_int_equal(result.to_active, 1);
    assert_int_equal(result.poppable, 1);
}

static void
a_name_that_is_there_is_not_readded(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_history_t history = history_of(1, 0, 0);
    schedq_result_t result;
    assert_status(readd(fixture, "ns/a", &history, 0, &result), SCHEDQ_EXISTS);
    assert_true(result.pod.bits == pod.bits);
    fx_pop(fixture, "ns/a");
    assert_status(readd(fixture, "ns/a", &history, 0, &result), SCHEDQ_EXISTS);
    assert_place(result.place, SCHEDQ_INFLIGHT);
    assert_int_equal(fx_stats(fixture).adds, 1);
}

static void
the_history_of_a_popped_pod_can_be_handed_in_as_it_is(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
    schedq_result_t result;
    assert_ok(readd(fixture, "ns/a", &popped.history, 0, &result));
    assert_int_equal(fx_info(fixture, result.pod).history.errors, 1);
    assert_true(result.pod.bits != popped.pod.bits);
    assert_int_equal(fx_stats(fixture).adds, 2);
}

static void
a_readded_pod_passes_the_gates(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    gate->refuses = true;
    schedq_history_t history = history_of(1, 0, 0);
    schedq_result_t result;
    assert_ok(readd(fixture, "ns/a", &history, fit->bit, &result));
    assert_place(result.place, SCHEDQ_GATED);
    assert_int_equal(result.gate, gate->gate);
    assert_int_equal(result.to_gated, 1);
    assert_int_equal(fx_info(fixture, result.pod).unschedulable, fit->bit | gate->bit);
}

static void
the_newest_description_is_the_spec_itself(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_history_t history = history_of(1, 0, 0);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_pod_spec_t newest = SCHEDQ_POD_SPEC_INIT;
    failure.newest = &newest;
    assert_status(schedq_readd(fx_worker(fixture), "ns/a", 4, &spec, &history, &failure, NULL),
                  SCHEDQ_INVALID);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
}

static void
the_gate_of_a_readded_pod_comes_with_its_failure(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_plugin(fixture, "Gate", NULL, 0);
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_history_t history = history_of(1, 0, 0);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.place = SCHEDQ_ACTIVE;
    spec.gate = (uint8_t)gate->gate;
    assert_status(schedq_readd(fx_worker(fixture), "ns/a", 4, &spec, &history, &failure, NULL),
                  SCHEDQ_INVALID);
    assert_contains(schedq_worker_error(fx_worker(fixture)), "gate");
}

static void
with_keep_order_a_readded_pod_is_ordered_by_its_history(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.keep_order = 1;
    fixture->config.max_backoff_ns = 0;
    fx_add(fixture, "ns/waiting", 0);
    fx_advance(fixture, SEC(1));
    schedq_history_t history = history_of(1, 0, 0);
    schedq_result_t result;
    assert_ok(readd(fixture, "ns/a", &history, 0, &result));
    assert_ns_equal(result.timestamp_ns, FX_START + SEC(1));
    fx_pop(fixture, "ns/a");
    fx_pop(fixture, "ns/waiting");
}

static void
after_close_nothing_is_readded(void **state)
{
    fixture_t *fixture = *state;
    fx_worker(fixture);
    assert_ok(schedq_close(fx_queue(fixture)));
    schedq_history_t history = history_of(1, 0, 0);
    assert_status(readd(fixture, "ns/a", &history, 0, NULL), SCHEDQ_CLOSED);
}

static void
a_readded_pod_counts_its_nomination(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    spec.nominated_node = 3;
    schedq_history_t history = history_of(1, 0, 0);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    assert_ok(schedq_readd(fx_worker(fixture), "ns/a", 4, &spec, &history, &failure, NULL));
    assert_int_equal(schedq_words(fx_queue(fixture))->nominations, 1);
    assert_int_equal(fx_stats(fixture).nominated, 1);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(a_pod_that_failed_with_an_error_after_done_backs_off_with_its_history),
        fx_test(a_readded_pod_is_ordered_by_now_whatever_its_spec_says),
        fx_test(a_pod_that_was_rejected_after_done_backs_off_and_is_not_parked),
        fx_test(without_backoff_a_readded_pod_is_active),
        fx_test(a_name_that_is_there_is_not_readded),
        fx_test(the_history_of_a_popped_pod_can_be_handed_in_as_it_is),
        fx_test(a_readded_pod_passes_the_gates),
        fx_test(the_newest_description_is_the_spec_itself),
        fx_test_host(the_gate_of_a_readded_pod_comes_with_its_failure),
        fx_test(with_keep_order_a_readded_pod_is_ordered_by_its_history),
        fx_test(after_close_nothing_is_readded),
        fx_test(a_readded_pod_counts_its_nomination),
    };
    return fx_run_tests(argc, argv, tests);
}
