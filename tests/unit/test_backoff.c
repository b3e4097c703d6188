/*
 * How long a failed pod backs off, when that is over, and in which order pop takes from backoff.
 * SPEC 2.
 */
#include <string.h>

#include "fixture.h"

/*
 * Fails the best pod once, as an error or as a rejection with an event in flight; returns how long
 * it backs off.
 */
static int64_t
fail_once(fixture_t *fixture, const char *name, const fx_plugin_t *fit, bool error)
{
    schedq_popped_t popped = fx_pop(fixture, name);
    if (!error)
        fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    schedq_result_t result = fx_fail(fixture, &popped, error ? 0 : fit->bit, 0);
    assert_place(result.place,
                 error && !fixture->config.errors_park ? SCHEDQ_ERROR_BACKOFF : SCHEDQ_BACKOFF);
    schedq_pod_info_t info = fx_info(fixture, result.pod);
    assert_ns_equal(info.history.timestamp_ns, fx_now(fixture));
    return info.backoff_expiry_ns - info.history.timestamp_ns;
}

static fx_plugin_t *
fit_plugin(fixture_t *fixture)
{
    return fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
}

static void
check_sequence(fixture_t *fixture, bool errors, const int64_t *seconds, size_t count)
{
    fx_plugin_t *fit = fit_plugin(fixture);
    fx_add(fixture, "ns/a", 0);
    for (size_t i = 0; i < count; i++) {
        int64_t backoff = fail_once(fixture, "ns/a", fit, errors);
        assert_ns_equal(backoff, SEC(seconds[i]));
        assert_int_equal(fx_pass(fixture, backoff).to_active, 1);
    }
}

static void
rejections_double_the_backoff_up_to_its_limit(void **state)
{
    static const int64_t seconds[] = {1, 2, 4, 8, 10, 10, 10};
    check_sequence(*state, false, seconds, 7);
}

static void
errors_double_the_backoff_up_to_its_limit(void **state)
{
    static const int64_t seconds[] = {1, 2, 4, 8, 10, 10, 10};
    check_sequence(*state, true, seconds, 7);
}

static void
counting_attempts_gives_the_same_sequence(void **state)
{
    static const int64_t seconds[] = {1, 2, 4, 8, 10, 10, 10};
    check_sequence(*state, false, seconds, 7);
}

static void
one_error_after_many_rejections_waits_the_shortest_time(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_plugin(fixture);
    fx_add(fixture, "ns/a", 0);
    static const struct {
        bool error;
        int64_t seconds;
    } steps[] = {{false, 1}, {false, 2}, {false, 4}, {true, 1},
                 {true, 2},  {false, 8}, {true, 1},  {false, 10}};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        int64_t backoff = fail_once(fixture, "ns/a", fit, steps[i].error);
        assert_ns_equal(backoff, SEC(steps[i].seconds));
        fx_pass(fixture, backoff);
    }
}

static void
counting_attempts_makes_no_difference_between_errors_and_rejections(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.backoff_counts = SCHEDQ_COUNT_ATTEMPTS;
    fx_plugin_t *fit = fit_plugin(fixture);
    fx_add(fixture, "ns/a", 0);
    static const int64_t seconds[] = {1, 2, 4, 8, 10};
    for (size_t i = 0; i < 5; i++) {
        int64_t backoff = fail_once(fixture, "ns/a", fit, i % 2 == 1);
        assert_ns_equal(backoff, SEC(seconds[i]));
        fx_pass(fixture, backoff);
    }
}

static void
an_initial_backoff_above_the_limit_is_cut_to_it(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.initial_backoff_ns = SEC(5);
    fixture->config.max_backoff_ns = SEC(2);
    fx_plugin_t *fit = fit_plugin(fixture);
    fx_add(fixture, "ns/a", 0);
    assert_ns_equal(fail_once(fixture, "ns/a", fit, false), SEC(2));
    fx_pass(fixture, SEC(2));
    assert_ns_equal(fail_once(fixture, "ns/a", fit, false), SEC(2));
}

static void
counting_attempts_the_first_backoff_is_the_initial_one_even_above_the_limit(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.initial_backoff_ns = SEC(5);
    fixture->config.max_backoff_ns = SEC(2);
    fx_plugin_t *fit = fit_plugin(fixture);
    fx_add(fixture, "ns/a", 0);
    assert_ns_equal(fail_once(fixture, "ns/a", fit, false), SEC(5));
    fx_pass(fixture, SEC(5));
    assert_ns_equal(fail_once(fixture, "ns/a", fit, false), SEC(2));
}

static void
huge_counts_wait_the_limit_and_nothing_overflows(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.initial_backoff_ns = SEC(3600);
    fixture->config.max_backoff_ns = SEC(24 * 3600);
    static const struct {
        uint32_t errors;
        int64_t hours;
    } cases[] = {{0, 1},          {3, 8},   {4, 16},  {5, 24},  {6, 24},    {31, 24},
                 {62, 24},        {63, 24}, {64, 24}, {65, 24}, {1000, 24}, {UINT32_MAX - 1, 24},
                 {UINT32_MAX, 24}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        schedq_pod_spec_t spec = fx_spec(0);
        schedq_history_t history = {.errors = cases[i].errors, .attempts = UINT32_MAX};
        schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
        schedq_result_t result;
        assert_ok(schedq_readd(fx_worker(fixture), "ns/a", 4, &spec, &history, &failure, &result));
        assert_place(result.place, SCHEDQ_ERROR_BACKOFF);
        assert_ns_equal(fx_info(fixture, result.pod).backoff_expiry_ns,
                        fx_now(fixture) + SEC(3600 * cases[i].hours));
        assert_ok(schedq_delete(fx_worker(fixture), result.pod, NULL));
    }
}

static void
near_the_end_of_time_nothing_overflows(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_plugin(fixture);
    atomic_store(&fixture->now_ns, INT64_MAX - SEC(1) / 2);
    fx_park(fixture, "ns/parked", fit->bit);
    fx_err(fixture, "ns/error");
    fx_tick(fixture);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    fx_tick(fixture);
    fx_assert_counts(fixture, 0, 1, 1, 0, 0, 0);
}

static void
at_the_end_of_time_a_pop_that_waits_serves_it(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    fx_queue(fixture);
    atomic_store(&fixture->now_ns, INT64_MAX - SEC(1) / 2);
    fx_err(fixture, "ns/error");
    assert_status(schedq_pop_until(fx_worker(fixture), 0, &popped), SCHEDQ_TIMEDOUT);
    atomic_store(&fixture->now_ns, INT64_MAX);
    assert_ok(schedq_pop_until(fx_worker(fixture), 0, &popped));
    assert_string_equal(popped.name, "ns/error");
}

/* ---- when it is over ---- */

/* Puts ns/a in backoff; returns its expiry as the queue shows it. */
static int64_t
expiry_of_first_backoff(fixture_t *fixture)
{
    fx_plugin_t *fit = fit_plugin(fixture);
    fx_worker(fixture);
    fx_advance(fixture, MS(300));
    return fx_info(fixture, fx_back_off(fixture, "ns/a", fit->bit, SCHEDQ_EVENT_NODE_ADD))
        .backoff_expiry_ns;
}

static void
at_its_expiry_a_pod_is_free(void **state)
{
    fixture_t *fixture = *state;
    int64_t expiry = expiry_of_first_backoff(fixture);
    assert_ns_equal(expiry, FX_START + MS(1300));
    assert_int_equal(fx_pass(fixture, expiry - 1 - fx_now(fixture)).to_active, 0);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_BACKOFF);
    assert_int_equal(fx_pass(fixture, 1).to_active, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
}

static void
with_backoff_at_expiry_it_is_free_only_after_it(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.backoff_at_expiry = 1;
    int64_t expiry = expiry_of_first_backoff(fixture);
    assert_ns_equal(expiry, FX_START + MS(1300));
    assert_int_equal(fx_pass(fixture, expiry - fx_now(fixture)).to_active, 0);
    assert_int_equal(fx_pass(fixture, 1).to_active, 1);
}

static void
in_kube_1_34_expiries_are_cut_to_seconds_and_compared_strictly(void **state)
{
    fixture_t *fixture = *state;
    int64_t expiry = expiry_of_first_backoff(fixture);
    assert_ns_equal(expiry, FX_START + SEC(1));
    assert_int_equal(fx_pass(fixture, FX_START + SEC(2) - 1 - fx_now(fixture)).to_active, 0);
    assert_int_equal(fx_pass(fixture, 1).to_active, 1);
}

static void
an_event_finds_the_backoff_over_by_the_same_rule(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_plugin(fixture);
    fx_worker(fixture);
    fx_advance(fixture, MS(300));
    fx_park(fixture, "ns/a", fit->bit);
    fx_park(fixture, "ns/b", fit->bit);
    fx_advance(fixture, FX_START + SEC(2) - 1 - fx_now(fixture));
    fit->only_object = fixture->next_object;
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_backoff, 1);
    fit->only_object = 0;
    fx_advance(fixture, 1);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 1);
}

static void
an_error_that_waited_its_time_is_active(void **state)
{
    fixture_t *fixture = *state;
    fx_err(fixture, "ns/a");
    fx_pop_nothing(fixture);
    schedq_result_t result = fx_pass(fixture, SEC(1));
    assert_int_equal(result.to_active, 1);
    assert_int_equal(result.poppable, 1);
    assert_int_equal(fx_pop(fixture, "ns/a").from_backoff, 0);
}

/* ---- popping from backoff ---- */

static void
pop_takes_from_backoff_when_nothing_is_active(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_plugin(fixture);
    fx_back_off(fixture, "ns/a", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    fx_add(fixture, "ns/low", -100);
    assert_int_equal(fx_pop(fixture, "ns/low").from_backoff, 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(popped.from_backoff, 1);
    assert_ns_equal(popped.backoff_expiry_ns, FX_START + SEC(1));
    assert_int_equal(popped.more, 0);
    assert_int_equal(popped.history.attempts, 2);
}

static void
without_pop_from_backoff_pods_wait_their_time(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.pop_from_backoff = 0;
    fx_plugin_t *fit = fit_plugin(fixture);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    schedq_result_t result = fx_fail(fixture, &popped, fit->bit, 0);
    assert_place(result.place, SCHEDQ_BACKOFF);
    assert_int_equal(result.poppable, 0);
    fx_pop_nothing(fixture);
    fx_pass(fixture, SEC(1));
    assert_int_equal(fx_pop(fixture, "ns/a").from_backoff, 0);
}

static void
back_off_with(fixture_t *fixture, const char *name, int32_t priority, const fx_plugin_t *fit)
{
    fx_add(fixture, name, priority);
    schedq_popped_t popped = fx_pop(fixture, name);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_BACKOFF);
}

static void
pop_takes_the_earliest_expiry_then_priority(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_plugin(fixture);
    back_off_with(fixture, "ns/early-low", 1, fit);
    back_off_with(fixture, "ns/early-high", 2, fit);
    fx_advance(fixture, MS(100));
    back_off_with(fixture, "ns/late", 9, fit);
    fx_pop(fixture, "ns/early-high");
    fx_pop(fixture, "ns/early-low");
    fx_pop(fixture, "ns/late");
}

static void
in_kube_1_34_pods_of_one_second_are_popped_by_priority(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_plugin(fixture);
    back_off_with(fixture, "ns/early", 1, fit);
    fx_advance(fixture, MS(100));
    back_off_with(fixture, "ns/late", 9, fit);
    fx_advance(fixture, MS(100));
    back_off_with(fixture, "ns/same", 1, fit);
    fx_advance(fixture, MS(800));
    back_off_with(fixture, "ns/next", 100, fit);
    fx_pop(fixture, "ns/late");
    fx_pop(fixture, "ns/early");
    fx_pop(fixture, "ns/same");
    fx_pop(fixture, "ns/next");
}

static void
a_pod_that_became_active_by_time_keeps_its_place_in_the_order(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_plugin(fixture);
    back_off_with(fixture, "ns/old", 0, fit);
    fx_advance(fixture, MS(500));
    fx_add(fixture, "ns/young", 0);
    fx_pass(fixture, MS(500));
    fx_pop(fixture, "ns/old");
    fx_pop(fixture, "ns/young");
}

static void
many_pods_of_different_backoffs_become_active_each_at_its_time(void **state)
{
    fixture_t *fixture = *state;
    char name[] = "ns/0";
    for (uint32_t i = 0; i < 10; i++) {
        name[3] = (char)('0' + (i * 7) % 10);
        schedq_pod_spec_t spec = fx_spec(0);
        schedq_history_t history = {.errors = i % 4};
        schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
        assert_ok(
            schedq_readd(fx_worker(fixture), name, strlen(name), &spec, &history, &failure, NULL));
    }
    assert_int_equal(fx_pass(fixture, SEC(1)).to_active, 3);
    assert_int_equal(fx_pass(fixture, SEC(1)).to_active, 3);
    assert_int_equal(fx_pass(fixture, SEC(1)).to_active, 0);
    assert_int_equal(fx_pass(fixture, SEC(1)).to_active, 2);
    assert_int_equal(fx_pass(fixture, SEC(4)).to_active, 2);
    fx_assert_counts(fixture, 10, 0, 0, 0, 0, 0);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(rejections_double_the_backoff_up_to_its_limit),
        fx_test(errors_double_the_backoff_up_to_its_limit),
        fx_test_1_26(counting_attempts_gives_the_same_sequence),
        fx_test(one_error_after_many_rejections_waits_the_shortest_time),
        fx_test(counting_attempts_makes_no_difference_between_errors_and_rejections),
        fx_test(an_initial_backoff_above_the_limit_is_cut_to_it),
        fx_test_1_26(counting_attempts_the_first_backoff_is_the_initial_one_even_above_the_limit),
        fx_test(huge_counts_wait_the_limit_and_nothing_overflows),
        fx_test(near_the_end_of_time_nothing_overflows),
        fx_test(at_its_expiry_a_pod_is_free),
        fx_test(with_backoff_at_expiry_it_is_free_only_after_it),
        fx_test_1_34(in_kube_1_34_expiries_are_cut_to_seconds_and_compared_strictly),
        fx_test_1_34(an_event_finds_the_backoff_over_by_the_same_rule),
        fx_test(an_error_that_waited_its_time_is_active),
        fx_test(pop_takes_from_backoff_when_nothing_is_active),
        fx_test(at_the_end_of_time_a_pop_that_waits_serves_it),
        fx_test(without_pop_from_backoff_pods_wait_their_time),
        fx_test(pop_takes_the_earliest_expiry_then_priority),
        fx_test_1_34(in_kube_1_34_pods_of_one_second_are_popped_by_priority),
        fx_test(a_pod_that_became_active_by_time_keeps_its_place_in_the_order),
        fx_test(many_pods_of_different_backoffs_become_active_each_at_its_time),
    };
    return fx_run_tests(argc, argv, tests);
}
