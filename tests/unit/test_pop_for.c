/*
 * The pops that wait, and the clock that they wait by: so long, until a time, or for ever. No time
 * is asserted.
 */
#include "fixture.h"

static void
every_way_of_waiting_takes_what_is_there(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    const int64_t waits[] = {0, 1, SEC(1), INT64_MAX};
    const int64_t deadlines[] = {INT64_MIN, 0, FX_START, FX_START + 1, SCHEDQ_NO_DEADLINE};
    schedq_popped_t popped;
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        fx_add(fixture, "a", 0);
        assert_ok(schedq_pop_for(worker, waits[i], &popped));
        fx_done(fixture, &popped);
    }
    for (size_t i = 0; i < sizeof deadlines / sizeof *deadlines; i++) {
        fx_add(fixture, "a", 0);
        assert_ok(schedq_pop_until(worker, deadlines[i], &popped));
        fx_done(fixture, &popped);
    }
    fx_add(fixture, "a", 0);
    assert_ok(schedq_pop(worker, &popped));
    fx_done(fixture, &popped);
}

static void
a_wait_of_nothing_is_one_look(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_popped_t popped;
    assert_status(schedq_pop_for(worker, 0, &popped), SCHEDQ_TIMEDOUT);
    assert_status(schedq_pop_until(worker, FX_START, &popped), SCHEDQ_TIMEDOUT);
    assert_status(schedq_pop_until(worker, -1, &popped), SCHEDQ_TIMEDOUT);
}

static void
a_wait_ends(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    fx_use_real_clock(fixture);
    schedq_worker_t *worker = fx_worker(fixture);
    int64_t before = schedq_now(fx_queue(fixture));
    assert_status(schedq_pop_for(worker, MS(20), &popped), SCHEDQ_TIMEDOUT);
    assert_true(schedq_now(fx_queue(fixture)) - before >= MS(20));
}

static void
a_closed_queue_ends_each(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_popped_t popped;
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_status(schedq_pop(worker, &popped), SCHEDQ_CLOSED);
    assert_status(schedq_pop_for(worker, SEC(9), &popped), SCHEDQ_CLOSED);
    assert_status(schedq_pop_until(worker, SCHEDQ_NO_DEADLINE, &popped), SCHEDQ_CLOSED);
}

static void
now_is_the_queues_clock(void **state)
{
    fixture_t *fixture = *state;
    assert_ns_equal(schedq_now(fx_queue(fixture)), FX_START);
    fx_advance(fixture, 7);
    assert_ns_equal(schedq_now(fx_queue(fixture)), FX_START + 7);
    assert_ns_equal(schedq_now(NULL), 0);
}

static void
now_is_an_external_clocks_word(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.clock = (schedq_clock_t){0};
    fixture->config.external_clock = 1;
    fixture->config.start_ns = 11;
    assert_ns_equal(schedq_now(fx_queue(fixture)), 11);
    assert_ok(schedq_clock_advance(fx_queue(fixture), 12));
    assert_ns_equal(schedq_now(fx_queue(fixture)), 12);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(every_way_of_waiting_takes_what_is_there),
        fx_test(a_wait_of_nothing_is_one_look),
        fx_test(a_wait_ends),
        fx_test(a_closed_queue_ends_each),
        fx_test(now_is_the_queues_clock),
        fx_test(now_is_an_external_clocks_word),
    };
    return fx_run_tests(argc, argv, tests);
}
