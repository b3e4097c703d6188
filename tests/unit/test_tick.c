/* schedq_tick: what it moves, and when it wants to be called again. */
#include "fixture.h"

static int64_t
next_of(fixture_t *fixture)
{
    int64_t next = 0;
    assert_ok(schedq_tick(fx_worker(fixture), &next, NULL));
    return next;
}

static void
an_empty_queue_wants_no_tick(void **state)
{
    fixture_t *fixture = *state;
    schedq_result_t result;
    int64_t next = 0;
    assert_ok(schedq_tick(fx_worker(fixture), &next, &result));
    assert_ns_equal(next, SCHEDQ_NO_DEADLINE);
    assert_ns_equal(schedq_words(fx_queue(fixture))->next_deadline_ns, SCHEDQ_NO_DEADLINE);
    assert_int_equal(result.to_active + result.to_backoff + result.to_parked + result.to_gated, 0);
    assert_int_equal(result.poppable, 0);
    assert_ok(schedq_tick(fx_worker(fixture), NULL, NULL));
}

static void
an_active_pod_wants_no_tick_but_is_reported_as_poppable(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    assert_int_equal(fx_tick(fixture).poppable, 1);
    assert_ns_equal(next_of(fixture), SCHEDQ_NO_DEADLINE);
    fx_pop(fixture, "ns/a");
    assert_int_equal(fx_tick(fixture).poppable, 0);
}

/* At the instant that tick asks for, and not before, something happens. */
static void
expect_move_exactly_at(fixture_t *fixture, int64_t free_at)
{
    int64_t next = next_of(fixture);
    assert_true(next >= free_at && next <= free_at + fixture->config.tick_ns);
    assert_ns_equal(schedq_words(fx_queue(fixture))->next_deadline_ns, next);
    schedq_result_t result = fx_pass(fixture, free_at - 1 - fx_now(fixture));
    assert_int_equal(result.to_active + result.to_backoff, 0);
    result = fx_pass(fixture, next - fx_now(fixture));
    assert_int_equal(result.to_active + result.to_backoff, 1);
}

static void
tick_is_wanted_when_a_backoff_ends(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_back_off(fixture, "ns/a", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    expect_move_exactly_at(fixture, FX_START + SEC(1));
    assert_ns_equal(next_of(fixture), SCHEDQ_NO_DEADLINE);
}

static void
tick_is_wanted_when_an_error_backoff_ends(void **state)
{
    fixture_t *fixture = *state;
    fx_err(fixture, "ns/a");
    assert_ns_equal(schedq_words(fx_queue(fixture))->next_deadline_ns, FX_START + SEC(1));
    expect_move_exactly_at(fixture, FX_START + SEC(1));
}

static void
tick_is_wanted_one_nanosecond_later_with_backoff_at_expiry(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.backoff_at_expiry = 1;
    fx_err(fixture, "ns/a");
    expect_move_exactly_at(fixture, FX_START + SEC(1) + 1);
}

static void
in_kube_1_34_tick_is_wanted_at_the_next_whole_second(void **state)
{
    fixture_t *fixture = *state;
    fx_worker(fixture);
    fx_advance(fixture, MS(300));
    fx_err(fixture, "ns/a");
    expect_move_exactly_at(fixture, FX_START + SEC(2));
}

static void
tick_is_wanted_when_a_parked_pod_is_past_the_limit(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    expect_move_exactly_at(fixture, FX_START + SEC(300) + 1);
}

/* The pod stays where it is, and counts as an event each time. */
static void
in_kube_1_34_an_old_gated_pod_wants_a_tick_every_30_seconds(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_ALL);
    gate->refuses = true;
    fx_add(fixture, "ns/gated", 0);
    int64_t due = FX_START + fixture->config.max_parked_ns + 1;
    assert_ns_equal(next_of(fixture), due);
    fx_advance(fixture, due - fx_now(fixture));
    assert_ns_equal(next_of(fixture), due + SEC(30));
    fx_advance(fixture, SEC(30));
    assert_ns_equal(next_of(fixture), due + SEC(60));
}

static void
the_earliest_of_all_is_wanted(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_parked_ns = MS(1500);
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/parked", fit->bit);
    fx_advance(fixture, MS(100));
    fx_err(fixture, "ns/error");
    fx_advance(fixture, MS(100));
    fx_back_off(fixture, "ns/backoff", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    /* the event has moved ns/parked to backoff */
    expect_move_exactly_at(fixture, FX_START + SEC(1));
    expect_move_exactly_at(fixture, FX_START + MS(1100));
    expect_move_exactly_at(fixture, FX_START + MS(1200));
    assert_ns_equal(next_of(fixture), SCHEDQ_NO_DEADLINE);
}

static void
tick_moves_all_that_is_due(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_err(fixture, "ns/a");
    fx_err(fixture, "ns/b");
    fx_back_off(fixture, "ns/c", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    fx_park(fixture, "ns/d", fit->bit);
    schedq_result_t result = fx_pass(fixture, SEC(3600));
    assert_int_equal(result.to_active, 4);
    assert_int_equal(result.poppable, 1);
    assert_int_equal(fx_stats(fixture).moves, 4);
    fx_assert_counts(fixture, 4, 0, 0, 0, 0, 0);
    result = fx_tick(fixture);
    assert_int_equal(result.to_active, 0);
    assert_int_equal(result.poppable, 1);
}

static void
a_stale_deadline_may_come_early_but_never_late(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t first = fx_err(fixture, "ns/a");
    fx_advance(fixture, MS(500));
    fx_err(fixture, "ns/b");
    assert_ok(schedq_delete(fx_worker(fixture), first, NULL));
    assert_true(next_of(fixture) <= FX_START + MS(1500));
    assert_int_equal(fx_pass(fixture, MS(500)).to_active, 0);
    expect_move_exactly_at(fixture, FX_START + MS(1500));
}

static void
try_pop_does_not_serve_time(void **state)
{
    fixture_t *fixture = *state;
    fx_err(fixture, "ns/a");
    fx_advance(fixture, SEC(60));
    fx_pop_nothing(fixture);
    schedq_popped_t popped;
    size_t count;
    assert_status(schedq_try_pop_many(fx_worker(fixture), &popped, 1, &count), SCHEDQ_EMPTY);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ERROR_BACKOFF);
    fx_tick(fixture);
    fx_pop(fixture, "ns/a");
}

static void
a_closed_queue_still_serves_time(void **state)
{
    fixture_t *fixture = *state;
    fx_err(fixture, "ns/a");
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_int_equal(fx_pass(fixture, SEC(1)).to_active, 1);
    fx_pop(fixture, "ns/a");
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(an_empty_queue_wants_no_tick),
        fx_test(an_active_pod_wants_no_tick_but_is_reported_as_poppable),
        fx_test(tick_is_wanted_when_a_backoff_ends),
        fx_test(tick_is_wanted_when_an_error_backoff_ends),
        fx_test(tick_is_wanted_one_nanosecond_later_with_backoff_at_expiry),
        fx_test_1_34(in_kube_1_34_tick_is_wanted_at_the_next_whole_second),
        fx_test(tick_is_wanted_when_a_parked_pod_is_past_the_limit),
        fx_test_1_34(in_kube_1_34_an_old_gated_pod_wants_a_tick_every_30_seconds),
        fx_test(the_earliest_of_all_is_wanted),
        fx_test(tick_moves_all_that_is_due),
        fx_test(a_stale_deadline_may_come_early_but_never_late),
        fx_test(try_pop_does_not_serve_time),
        fx_test(a_closed_queue_still_serves_time),
    };
    return fx_run_tests(argc, argv, tests);
}
