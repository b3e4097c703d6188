/*
 * What waiting costs: how often threads that wait for a pod, and the timer thread, look at
 * anything; how much of what is due a pop serves. The clock counts its readings: each look of a
 * thread reads it, so no time is asserted.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sleeper.h"

/* ---- a clock that counts --------------------------------------------------------------------- */

typedef struct counting_clock {
    atomic_uint_fast64_t readings;
    atomic_int_fast64_t ahead; /* of CLOCK_MONOTONIC */
} counting_clock_t;

static int64_t
read_and_count(void *ctx)
{
    counting_clock_t *clock = ctx;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    atomic_fetch_add(&clock->readings, 1);
    return SEC(now.tv_sec) + now.tv_nsec + (int64_t)atomic_load(&clock->ahead);
}

static void
use_counting_clock(fixture_t *fixture, counting_clock_t *clock)
{
    memset(clock, 0, sizeof *clock);
    fixture->config.clock = (schedq_clock_t){.now_ns = read_and_count, .ctx = clock};
}

static void
pause_ms(unsigned ms)
{
    struct timespec pause = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&pause, NULL);
}

/* How often the clock was read while this thread slept for some time. */
static uint64_t
readings_of_a_while(counting_clock_t *clock)
{
    uint64_t before = atomic_load(&clock->readings);
    pause_ms(400);
    return atomic_load(&clock->readings) - before;
}

/* ---- idle threads ---------------------------------------------------------------------------- */

enum { SLEEPERS = 60 };

typedef struct crowd {
    mailbox_t mailbox;
    sleeper_t sleepers[SLEEPERS];
} crowd_t;

static void
lie_down(fixture_t *fixture, crowd_t *crowd)
{
    mailbox_init(&crowd->mailbox);
    for (unsigned i = 0; i < SLEEPERS; i++)
        sleeper_start(&crowd->sleepers[i], fixture, &crowd->mailbox, SCHEDQ_NO_DEADLINE);
    while (fx_stats(fixture).workers < SLEEPERS)
        pause_ms(1);
}

static void
get_up(fixture_t *fixture, crowd_t *crowd)
{
    assert_ok(schedq_close(fx_queue(fixture)));
    for (unsigned i = 0; i < SLEEPERS; i++)
        sleeper_join(&crowd->sleepers[i], SCHEDQ_CLOSED);
}

/* Some may have lain down late. If each looked once in a tick, there were 24,000 readings. */
#define READINGS_OF_THE_IDLE (4 * SLEEPERS + 40)

static void
who_waits_on_an_empty_queue_does_not_look(fixture_t *fixture, bool timer)
{
    counting_clock_t clock;
    crowd_t crowd;
    use_counting_clock(fixture, &clock);
    fx_queue(fixture);
    lie_down(fixture, &crowd);
    if (timer)
        assert_ok(schedq_run(fx_queue(fixture), NULL, 0));
    pause_ms(100);
    uint64_t readings = readings_of_a_while(&clock);
    get_up(fixture, &crowd);
    assert_ok(schedq_stop(fx_queue(fixture)));
    assert_in_range(readings, 0, READINGS_OF_THE_IDLE);
}

static void
sixty_sleepers_of_an_empty_queue_do_not_look(void **state)
{
    who_waits_on_an_empty_queue_does_not_look(*state, false);
}

static void
sixty_sleepers_and_the_timer_thread_do_not_look(void **state)
{
    who_waits_on_an_empty_queue_does_not_look(*state, true);
}

/* A deadline far away wakes one sleeper, which watches it. */
static void
a_deadline_far_away_is_not_looked_at(void **state)
{
    fixture_t *fixture = *state;
    counting_clock_t clock;
    crowd_t crowd;
    use_counting_clock(fixture, &clock);
    fx_park(fixture, "ns/parked", SCHEDQ_REJECTOR_OTHERS);
    lie_down(fixture, &crowd);
    pause_ms(100);
    uint64_t readings = readings_of_a_while(&clock);
    get_up(fixture, &crowd);
    assert_in_range(readings, 0, READINGS_OF_THE_IDLE);
}

/* Nobody pops the group. */
static void
a_group_that_waits_wakes_no_sleeper_again_and_again(void **state)
{
    fixture_t *fixture = *state;
    counting_clock_t clock;
    mailbox_t mailbox;
    sleeper_t sleeper;
    schedq_group_spec_t group = SCHEDQ_GROUP_SPEC_INIT;
    schedq_pod_spec_t member = fx_spec(0);
    use_counting_clock(fixture, &clock);
    mailbox_init(&mailbox);
    member.group = 1;
    assert_ok(schedq_group_add(fx_worker(fixture), 1, &group, NULL));
    assert_ok(schedq_add(fx_worker(fixture), "ns/a", 4, &member, NULL));
    assert_int_equal(fx_tick(fixture).poppable, 1);
    assert_ok(schedq_run(fx_queue(fixture), NULL, 0));
    sleeper_start(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    pause_ms(100);
    uint64_t readings = readings_of_a_while(&clock);
    assert_ok(schedq_close(fx_queue(fixture)));
    sleeper_join(&sleeper, SCHEDQ_CLOSED);
    assert_ok(schedq_stop(fx_queue(fixture)));
    assert_in_range(readings, 0, 100);
}

/* As one that counts a suspension does. If no thread looked again, this took an hour. */
static void
a_clock_that_gains_is_looked_at_again(void **state)
{
    fixture_t *fixture = *state;
    counting_clock_t clock;
    mailbox_t mailbox;
    sleeper_t sleeper;
    schedq_pod_spec_t spec = fx_spec(0);
    use_counting_clock(fixture, &clock);
    mailbox_init(&mailbox);
    spec.not_before_ns = read_and_count(&clock) + SEC(3600);
    assert_ok(schedq_add(fx_worker(fixture), "ns/a", 4, &spec, NULL));
    sleeper_start(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    pause_ms(100);
    atomic_store(&clock.ahead, SEC(7200));
    sleeper_join(&sleeper, SCHEDQ_OK);
    spec.not_before_ns = read_and_count(&clock) + SEC(3600);
    assert_ok(schedq_add(fx_worker(fixture), "ns/b", 4, &spec, NULL));
    assert_ok(schedq_run(fx_queue(fixture), NULL, 0));
    pause_ms(100);
    atomic_store(&clock.ahead, SEC(14400));
    while (fx_stats(fixture).active == 0)
        pause_ms(10);
    assert_ok(schedq_stop(fx_queue(fixture)));
}

/* ---- what no thread can serve ---------------------------------------------------------------- */

static void
expect_no_spinning(fixture_t *fixture, counting_clock_t *clock)
{
    mailbox_t mailbox;
    sleeper_t sleeper;
    mailbox_init(&mailbox);
    assert_ok(schedq_run(fx_queue(fixture), NULL, 0));
    uint64_t timer = readings_of_a_while(clock);
    assert_ok(schedq_stop(fx_queue(fixture)));
    sleeper_start(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    uint64_t pop = readings_of_a_while(clock);
    assert_ok(schedq_close(fx_queue(fixture)));
    account_heal(&fixture->memory);
    sleeper_join(&sleeper, SCHEDQ_CLOSED);
    assert_in_range(timer, 0, 400);
    assert_in_range(pop, 0, 400);
}

static void
a_due_pod_that_the_host_has_to_let_go_is_not_looked_at(void **state)
{
    fixture_t *fixture = *state;
    counting_clock_t clock;
    use_counting_clock(fixture, &clock);
    fixture->config.pop_from_backoff = 0;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    failure.unschedulable = SCHEDQ_REJECTOR_OTHERS;
    failure.place = SCHEDQ_BACKOFF;
    failure.judged_up_to = popped.seen;
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, &result));
    assert_place(result.place, SCHEDQ_BACKOFF);
    atomic_store(&clock.ahead, SEC(100));
    expect_no_spinning(fixture, &clock);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_BACKOFF);
    assert_true(schedq_words(fx_queue(fixture))->next_deadline_ns < read_and_count(&clock));
    fx_tick(fixture);
}

static void
fail_many(fixture_t *fixture, unsigned count)
{
    char name[32];
    for (unsigned i = 0; i < count; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        fx_err(fixture, name);
    }
}

static void
without_memory_due_pods_are_tried_after_longer_and_longer_pauses(void **state)
{
    fixture_t *fixture = *state;
    counting_clock_t clock;
    use_counting_clock(fixture, &clock);
    fail_many(fixture, 600);
    fx_worker(fixture);
    assert_ok(schedq_run(fx_queue(fixture), NULL, 0)); /* takes what a thread needs */
    assert_ok(schedq_stop(fx_queue(fixture)));
    atomic_store(&fixture->memory.fail_all, true);
    atomic_store(&clock.ahead, SEC(100));
    expect_no_spinning(fixture, &clock);
    fx_tick(fixture);
    assert_int_equal(fx_stats(fixture).error_backoff, 0);
}

/* ---- slices ---------------------------------------------------------------------------------- */

enum { SLICE = 256, DUE = 2000 };

/* Moved out of where it waited. */
static uint64_t
served(fixture_t *fixture)
{
    schedq_stats_t stats = fx_stats(fixture);
    return DUE - stats.error_backoff - stats.parked - stats.gated;
}

/* A deadline that has passed is one look, and that serves time. */
static void
expect_slices(fixture_t *fixture)
{
    schedq_popped_t popped;
    for (unsigned popped_so_far = 0; popped_so_far < DUE; popped_so_far++) {
        uint64_t before = served(fixture);
        assert_ok(schedq_pop_until(fx_worker(fixture), fx_now(fixture) - 1, &popped));
        fx_done(fixture, &popped);
        assert_in_range(served(fixture) - before, 0, SLICE);
    }
    assert_int_equal(served(fixture), DUE);
    assert_status(schedq_pop_until(fx_worker(fixture), fx_now(fixture) - 1, &popped),
                  SCHEDQ_TIMEDOUT);
}

static void
a_pop_serves_a_slice_of_backoff_before_it_looks_for_its_pod(void **state)
{
    fixture_t *fixture = *state;
    fail_many(fixture, DUE);
    fx_advance(fixture, SEC(100));
    expect_slices(fixture);
}

static void
park_many(fixture_t *fixture)
{
    char name[32];
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    for (unsigned i = 0; i < DUE; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        fx_park(fixture, name, fit->bit);
        fx_advance(fixture, 1);
    }
    fx_advance(fixture, SEC(301));
}

static void
a_pop_serves_a_slice_of_leftovers_before_it_looks_for_its_pod(void **state)
{
    fixture_t *fixture = *state;
    park_many(fixture);
    expect_slices(fixture);
}

/* All slices are one flush: those that were popped meanwhile do not hear of it again. */
static void
in_kube_the_slices_of_a_flush_are_one_event(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    park_many(fixture);
    uint64_t events = schedq_words(fx_queue(fixture))->event_sequence;
    assert_ok(schedq_pop_until(fx_worker(fixture), fx_now(fixture) - 1, &popped));
    uint64_t bits = popped.unschedulable;
    assert_int_equal(served(fixture), SLICE);
    assert_int_equal(schedq_words(fx_queue(fixture))->event_sequence, events + 1);
    for (unsigned i = 1; i < DUE; i++) {
        schedq_popped_t other;
        assert_ok(schedq_pop_until(fx_worker(fixture), fx_now(fixture) - 1, &other));
        fx_done(fixture, &other);
    }
    assert_int_equal(schedq_words(fx_queue(fixture))->event_sequence, events + 1);
    assert_place(fx_fail(fixture, &popped, bits, 0).place, SCHEDQ_PARKED);
}

/* ---- eight at once --------------------------------------------------------------------------- */

enum { POPPERS = 8 };

static void
eight_pops_serve_a_slice_each(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleepers[POPPERS];
    mailbox_init(&mailbox);
    fail_many(fixture, DUE + POPPERS * SLICE);
    fx_advance(fixture, SEC(100));
    for (unsigned i = 0; i < POPPERS; i++)
        sleeper_start(&sleepers[i], fixture, &mailbox, fx_now(fixture) - 1);
    for (unsigned i = 0; i < POPPERS; i++)
        sleeper_join(&sleepers[i], SCHEDQ_OK);
    assert_true(fx_stats(fixture).error_backoff >= DUE);
    fx_tick(fixture);
    assert_int_equal(fx_stats(fixture).error_backoff, 0);
}

/* A pop that leaves with its pod leaves the rest to those that sleep: nobody ticks here. */
static void
what_a_pop_leaves_due_is_served_by_those_that_sleep(void **state)
{
    fixture_t *fixture = *state;
    counting_clock_t clock;
    mailbox_t mailbox;
    sleeper_t sleepers[POPPERS];
    use_counting_clock(fixture, &clock);
    mailbox_init(&mailbox);
    fixture->config.initial_backoff_ns = fixture->config.max_backoff_ns = SEC(3600);
    fail_many(fixture, 4 * SLICE);
    for (unsigned i = 0; i < POPPERS; i++)
        sleeper_start(&sleepers[i], fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    pause_ms(50);
    atomic_store(&clock.ahead, SEC(4000));
    fx_add(fixture, "ns/first", 0); /* wakes one; the others learn of time from each other */
    for (unsigned i = 0; i < POPPERS; i++)
        sleeper_join(&sleepers[i], SCHEDQ_OK);
    assert_int_equal(fx_stats(fixture).dones, POPPERS);
    fx_tick(fixture);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(sixty_sleepers_of_an_empty_queue_do_not_look),
        fx_test(sixty_sleepers_and_the_timer_thread_do_not_look),
        fx_test(a_deadline_far_away_is_not_looked_at),
        fx_test(a_group_that_waits_wakes_no_sleeper_again_and_again),
        fx_test(a_clock_that_gains_is_looked_at_again),
        fx_test_host(a_due_pod_that_the_host_has_to_let_go_is_not_looked_at),
        fx_test_lockfree(without_memory_due_pods_are_tried_after_longer_and_longer_pauses),
        fx_test(a_pop_serves_a_slice_of_backoff_before_it_looks_for_its_pod),
        fx_test(a_pop_serves_a_slice_of_leftovers_before_it_looks_for_its_pod),
        fx_test_1_34(in_kube_the_slices_of_a_flush_are_one_event),
        fx_test(eight_pops_serve_a_slice_each),
        fx_test_lockfree(what_a_pop_leaves_due_is_served_by_those_that_sleep),
    };
    return fx_run_tests(argc, argv, tests);
}
