/*
 * Deadlines of a blocking pop on each kind of clock, who serves time, and the timer thread. No time
 * is asserted.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sleeper.h"

static int64_t
real_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return SEC(now.tv_sec) + now.tv_nsec;
}

static void
a_deadline_in_the_past_is_one_attempt(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    assert_status(schedq_pop_until(fx_worker(fixture), FX_START - 1, &popped), SCHEDQ_TIMEDOUT);
    assert_status(schedq_pop_until(fx_worker(fixture), 0, &popped), SCHEDQ_TIMEDOUT);
    assert_status(schedq_pop_until(fx_worker(fixture), INT64_MIN, &popped), SCHEDQ_TIMEDOUT);
    fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_pop_until(fx_worker(fixture), FX_START - 1, &popped));
}

static void
with_a_virtual_clock_a_deadline_is_seen_at_a_tick(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleeper;
    mailbox_init(&mailbox);
    fx_worker(fixture);
    sleeper_start(&sleeper, fixture, &mailbox, FX_START + SEC(5));
    sleeper_pause();
    fx_pass(fixture, SEC(4));
    sleeper_pause();
    fx_pass(fixture, SEC(1));
    sleeper_join(&sleeper, SCHEDQ_TIMEDOUT);
}

static void
with_an_external_clock_a_deadline_is_seen_at_a_tick(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleeper;
    mailbox_init(&mailbox);
    fx_use_real_clock(fixture);
    fixture->config.external_clock = 1;
    fixture->config.start_ns = SEC(1);
    fx_worker(fixture);
    sleeper_start(&sleeper, fixture, &mailbox, SEC(5));
    sleeper_pause();
    assert_ok(schedq_clock_advance(fx_queue(fixture), SEC(5)));
    fx_tick(fixture);
    sleeper_join(&sleeper, SCHEDQ_TIMEDOUT);
}

/* SCHEDQ_NO_DEADLINE is the clock's last reading, too. */
static void
at_the_end_of_time_a_pop_without_deadline_waits(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleeper;
    schedq_popped_t popped;
    mailbox_init(&mailbox);
    fx_use_real_clock(fixture);
    fixture->config.external_clock = 1;
    fixture->config.start_ns = INT64_MAX;
    assert_status(schedq_pop_for(fx_worker(fixture), 0, &popped), SCHEDQ_TIMEDOUT);
    sleeper_start(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    sleeper_pause();
    fx_tick(fixture);
    sleeper_pause();
    fx_add(fixture, "ns/a", 0);
    sleeper_join(&sleeper, SCHEDQ_OK);
}

static void
with_the_real_clock_a_deadline_passes_by_itself(void **state)
{
    fixture_t *fixture = *state;
    fx_use_real_clock(fixture);
    schedq_popped_t popped;
    int64_t deadline = real_now() + MS(30);
    assert_status(schedq_pop_until(fx_worker(fixture), deadline, &popped), SCHEDQ_TIMEDOUT);
    assert_true(real_now() >= deadline);
}

static void
a_blocking_pop_serves_time_itself(void **state)
{
    fixture_t *fixture = *state;
    fx_use_real_clock(fixture);
    fixture->config.initial_backoff_ns = MS(20);
    schedq_popped_t popped;
    fx_err(fixture, "ns/a");
    assert_ok(schedq_pop(fx_worker(fixture), &popped));
    assert_string_equal(popped.name, "ns/a");
    assert_int_equal(popped.from_backoff, 0);
}

static void
a_sleeper_without_deadline_serves_time_that_others_create(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleeper;
    mailbox_init(&mailbox);
    fx_use_real_clock(fixture);
    fixture->config.initial_backoff_ns = MS(20);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    sleeper_start(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    sleeper_pause();
    fx_fail(fixture, &popped, 0, 0);
    sleeper_join(&sleeper, SCHEDQ_OK);
    assert_string_equal(sleeper.name, "ns/a");
}

/* ---- what a sleeper served, and has no pod of ---- */

/* A gate that refuses one pod, once. */
static struct {
    atomic_bool shut;
    atomic_uint refusals;
} gate;

static int
refuse_once(void *ctx, uint64_t pod)
{
    (void)ctx;
    (void)pod;
    if (!atomic_exchange(&gate.shut, false))
        return 1;
    atomic_fetch_add(&gate.refusals, 1);
    return 0;
}

static void
use_gate(fixture_t *fixture)
{
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    uint64_t bit;
    atomic_store(&gate.shut, false);
    atomic_store(&gate.refusals, 0);
    plugin.name = "RefusesOnce";
    plugin.pre_enqueue = refuse_once;
    assert_ok(schedq_plugin_register(fx_queue(fixture), &plugin, &bit, NULL, 0));
}

/* "ns/a" is gated by the sleeper, at the end of its backoff; "ns/b" is in flight since before. */
static schedq_popped_t
let_a_sleeper_gate(fixture_t *fixture, mailbox_t *mailbox, sleeper_t *sleeper)
{
    mailbox_init(mailbox);
    fx_use_real_clock(fixture);
    fixture->config.initial_backoff_ns = MS(20);
    fixture->config.pop_from_backoff = 0;    /* the gate is asked at the end of backoff */
    fixture->config.gates_see_wildcards = 0; /* there is no deadline but that */
    use_gate(fixture);
    fx_add(fixture, "ns/b", 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/b");
    fx_err(fixture, "ns/a");
    atomic_store(&gate.shut, true);
    sleeper_start(sleeper, fixture, mailbox, SCHEDQ_NO_DEADLINE);
    while (atomic_load(&gate.refusals) == 0)
        sleeper_pause();
    return popped;
}

/* By words alone: any call would announce it, too. */
static void
what_a_sleeper_served_is_in_the_words(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleeper;
    schedq_popped_t popped = let_a_sleeper_gate(fixture, &mailbox, &sleeper);
    const schedq_words_t *words = schedq_words(fx_queue(fixture));
    while (__atomic_load_n(&words->gated, __ATOMIC_ACQUIRE) == 0 ||
           __atomic_load_n(&words->error_backoff, __ATOMIC_ACQUIRE) != 0)
        sleeper_pause();
    fx_fail(fixture, &popped, 0, 0);
    sleeper_join(&sleeper, SCHEDQ_OK);
}

/* The deadline that it served is past: the next one is not sooner than that, and is sooner. */
static void
a_sleeper_hears_of_a_deadline_behind_one_that_it_served(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleeper;
    schedq_popped_t popped = let_a_sleeper_gate(fixture, &mailbox, &sleeper);
    fx_fail(fixture, &popped, 0, 0);
    sleeper_join(&sleeper, SCHEDQ_OK);
    assert_string_equal(sleeper.name, "ns/b");
}

/* ---- leftovers that a gate refuses for longer than they wait ---- */

#define SLOW_PODS 600
#define PATIENCE 20000 /* what a pop that serves for ever asks, and then gets a pod */

static struct {
    fixture_t *fixture;
    atomic_uint asked;
    uint64_t lets_pass; /* this object, and all that are asked too late */
    bool takes_time;    /* not only the clock's */
} slow;

static int
refuse_slowly(void *ctx, uint64_t pod)
{
    const struct timespec little = {.tv_nsec = 50000};
    (void)ctx;
    if (slow.takes_time)
        nanosleep(&little, NULL);
    fx_advance(slow.fixture, MS(1));
    return atomic_fetch_add(&slow.asked, 1) >= PATIENCE || pod == slow.lets_pass;
}

/* All are due, and were asked once. */
static void
use_slow_gate(fixture_t *fixture)
{
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    uint64_t bit;
    slow.fixture = fixture;
    slow.lets_pass = UINT64_MAX;
    slow.takes_time = false;
    atomic_store(&slow.asked, 0);
    fixture->config.max_parked_ns = MS(100);
    plugin.name = "Slow";
    plugin.pre_enqueue = refuse_slowly;
    assert_ok(schedq_plugin_register(fx_queue(fixture), &plugin, &bit, NULL, 0));
    for (unsigned i = 0; i < SLOW_PODS; i++) {
        char name[16];
        assert_true(snprintf(name, sizeof name, "ns/%u", i) > 0);
        fx_add(fixture, name, 0);
    }
    fx_advance(fixture, MS(101));
    atomic_store(&slow.asked, 0);
}

static void
a_pop_ends_beside_leftovers_that_are_always_due(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    use_slow_gate(fixture);
    assert_status(schedq_pop_for(fx_worker(fixture), MS(150), &popped), SCHEDQ_TIMEDOUT);
    assert_in_range(atomic_load(&slow.asked), 1, SLOW_PODS - 1);
}

static void
a_pop_whose_deadline_has_passed_tries_each_leftover_once(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    use_slow_gate(fixture);
    assert_status(schedq_pop_for(fx_worker(fixture), 0, &popped), SCHEDQ_TIMEDOUT);
    assert_int_equal(atomic_load(&slow.asked), SLOW_PODS);
}

static void
a_pop_that_always_serves_lets_others_add(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleeper;
    mailbox_init(&mailbox);
    use_slow_gate(fixture);
    slow.takes_time = true;
    sleeper_start(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    while (atomic_load(&slow.asked) < SLOW_PODS)
        sleeper_pause();
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = slow.lets_pass;
    assert_ok(schedq_add(fx_worker(fixture), "ns/a", 4, &spec, NULL));
    sleeper_join(&sleeper, SCHEDQ_OK);
    assert_string_equal(sleeper.name, "ns/a");
    assert_in_range(atomic_load(&slow.asked), SLOW_PODS, PATIENCE);
}

/*
 * Returns when a pod that failed with an error is active again, though this thread calls nothing
 * but try_pop.
 */
static void
expect_time_to_be_served(fixture_t *fixture, const char *name)
{
    schedq_popped_t popped;
    fx_err(fixture, name);
    while (schedq_try_pop(fx_worker(fixture), &popped) == SCHEDQ_EMPTY)
        sleeper_pause();
    assert_string_equal(popped.name, name);
}

static void
the_timer_thread_serves_time_and_takes_a_worker_slot(void **state)
{
    fixture_t *fixture = *state;
    fx_use_real_clock(fixture);
    fixture->config.initial_backoff_ns = MS(5);
    fx_worker(fixture);
    assert_ok(schedq_run(fx_queue(fixture), NULL, 0));
    assert_status(schedq_run(fx_queue(fixture), NULL, 0), SCHEDQ_EXISTS);
    assert_int_equal(fx_stats(fixture).workers, 2);
    assert_status(schedq_destroy_with_pods(fx_queue(fixture), NULL, 0), SCHEDQ_BUSY);
    expect_time_to_be_served(fixture, "ns/a");
    assert_ok(schedq_stop(fx_queue(fixture)));
    assert_ok(schedq_stop(fx_queue(fixture)));
    assert_int_equal(fx_stats(fixture).workers, 1);
    assert_ok(schedq_run(fx_queue(fixture), NULL, 0));
    expect_time_to_be_served(fixture, "ns/b");
    assert_ok(schedq_stop(fx_queue(fixture)));
}

static void
the_timer_thread_wakes_a_sleeper(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleeper;
    mailbox_init(&mailbox);
    fx_use_real_clock(fixture);
    fixture->config.initial_backoff_ns = MS(20);
    fx_worker(fixture);
    assert_ok(schedq_run(fx_queue(fixture), NULL, 0));
    fx_err(fixture, "ns/a");
    sleeper_start(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    sleeper_join(&sleeper, SCHEDQ_OK);
    assert_string_equal(sleeper.name, "ns/a");
}

static void
the_timer_thread_finds_no_slot_when_all_are_taken(void **state)
{
    fixture_t *fixture = *state;
    fx_use_real_clock(fixture);
    fixture->config.max_workers = 1;
    fx_worker(fixture);
    assert_status(schedq_run(fx_queue(fixture), fixture->why, sizeof fixture->why), SCHEDQ_FULL);
    assert_contains(fixture->why, "max_workers");
    assert_contains(fixture->why, "1");
}

static void
the_timer_thread_takes_the_last_slot(void **state)
{
    fixture_t *fixture = *state;
    fx_use_real_clock(fixture);
    fixture->config.max_workers = 1;
    assert_ok(schedq_run(fx_queue(fixture), NULL, 0));
    schedq_worker_t *worker;
    assert_status(
        schedq_worker_register(fx_queue(fixture), &worker, fixture->why, sizeof fixture->why),
        SCHEDQ_FULL);
    assert_contains(fixture->why, "max_workers");
    assert_ok(schedq_stop(fx_queue(fixture)));
}

static void
with_a_virtual_clock_no_timer_thread_runs(void **state)
{
    fixture_t *fixture = *state;
    assert_status(schedq_run(fx_queue(fixture), fixture->why, sizeof fixture->why), SCHEDQ_INVALID);
    assert_contains(fixture->why, "clock");
    assert_ok(schedq_stop(fx_queue(fixture)));
}

static void
a_closed_queue_starts_no_timer_thread(void **state)
{
    fixture_t *fixture = *state;
    fx_use_real_clock(fixture);
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_status(schedq_run(fx_queue(fixture), NULL, 0), SCHEDQ_CLOSED);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(a_deadline_in_the_past_is_one_attempt),
        fx_test(with_a_virtual_clock_a_deadline_is_seen_at_a_tick),
        fx_test(with_an_external_clock_a_deadline_is_seen_at_a_tick),
        fx_test(at_the_end_of_time_a_pop_without_deadline_waits),
        fx_test(with_the_real_clock_a_deadline_passes_by_itself),
        fx_test(with_a_virtual_clock_no_timer_thread_runs),
        fx_test(a_blocking_pop_serves_time_itself),
        fx_test(a_sleeper_without_deadline_serves_time_that_others_create),
        fx_test(what_a_sleeper_served_is_in_the_words),
        fx_test(a_sleeper_hears_of_a_deadline_behind_one_that_it_served),
        fx_test(a_pop_ends_beside_leftovers_that_are_always_due),
        fx_test(a_pop_whose_deadline_has_passed_tries_each_leftover_once),
        fx_test(a_pop_that_always_serves_lets_others_add),
        fx_test(the_timer_thread_serves_time_and_takes_a_worker_slot),
        fx_test(the_timer_thread_wakes_a_sleeper),
        fx_test(the_timer_thread_finds_no_slot_when_all_are_taken),
        fx_test(the_timer_thread_takes_the_last_slot),
        fx_test(a_closed_queue_starts_no_timer_thread),
    };
    return fx_run_tests(argc, argv, tests);
}
