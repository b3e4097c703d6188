/*
 * The oldest preset: two containers, no backoff, a move retries what is in flight, priorities may
 * be ignored.
 */
#include "fixture.h"

static void
an_error_goes_straight_back(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_place(fx_fail(fixture, &popped, 0, 0).place, SCHEDQ_ACTIVE);
}

static void
a_rejection_parks(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    assert_int_equal(fx_pass(fixture, SEC(59)).to_active, 0);
}

static void
a_move_during_the_flight_goes_straight_back(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_ACTIVE);
}

static void
a_move_makes_parked_pods_active(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 1);
}

static void
priorities_order_unless_fifo_is_set(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/low", 1);
    fx_advance(fixture, 1);
    fx_add(fixture, "ns/high", 2);
    fx_pop(fixture, "ns/high");

    fixture_t *fifo = fx_new(SCHEDQ_PRESET_KUBE_1_12);
    fifo->config.fifo = 1;
    fx_add(fifo, "ns/low", 1);
    fx_advance(fifo, 1);
    fx_add(fifo, "ns/high", 2);
    fx_pop(fifo, "ns/low");
    fx_free(fifo);
}

static void
an_update_that_changed_something_makes_a_parked_pod_active(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    fx_park(fixture, "ns/a", fit->bit);
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_event_t event = SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE;
    schedq_result_t result;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, &result));
    assert_place(result.place, SCHEDQ_PARKED);
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, &event, 1, &result));
    assert_place(result.place, SCHEDQ_ACTIVE);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test_1_12(priorities_order_unless_fifo_is_set),
        fx_test_1_12(an_error_goes_straight_back),
        fx_test_1_12(a_rejection_parks),
        fx_test_1_12(a_move_during_the_flight_goes_straight_back),
        fx_test_1_12(a_move_makes_parked_pods_active),
        fx_test_1_12(an_update_that_changed_something_makes_a_parked_pod_active),
    };
    return fx_run_tests(argc, argv, tests);
}
