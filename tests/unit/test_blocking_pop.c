/* schedq_pop with threads: what wakes it, deadlines, close, the virtual clock, the timer thread. No time is asserted. */
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "fixture.h"
#include "mailbox.h"

#define SLEEPERS 6

/* One thread that pops once. */
typedef struct sleeper {
    pthread_t thread;
    schedq_t *queue;
    schedq_worker_t *worker; /* pop_despite_busy: whose */
    mailbox_t *mailbox;
    int64_t deadline_ns;
    schedq_status_t status;
    char name[64];
    bool finish; /* calls done */
} sleeper_t;

static void *
sleep_in_pop(void *argument)
{
    sleeper_t *sleeper = argument;
    schedq_worker_t *worker;
    schedq_popped_t popped;
    if (!mailbox_check(sleeper->mailbox, schedq_worker_register(sleeper->queue, &worker, NULL, 0) == SCHEDQ_OK))
        return NULL;
    sleeper->status = schedq_pop(worker, sleeper->deadline_ns, &popped);
    if (sleeper->status == SCHEDQ_OK) {
        strncpy(sleeper->name, popped.name, sizeof sleeper->name - 1);
        if (sleeper->finish)
            mailbox_check(sleeper->mailbox, schedq_done(worker, popped.token) == SCHEDQ_OK);
    }
    mailbox_check(sleeper->mailbox, schedq_worker_unregister(worker) == SCHEDQ_OK);
    return NULL;
}

static void
start_sleeper(sleeper_t *sleeper, fixture_t *fixture, mailbox_t *mailbox, int64_t deadline_ns)
{
    memset(sleeper, 0, sizeof *sleeper);
    sleeper->queue = fx_queue(fixture);
    sleeper->mailbox = mailbox;
    sleeper->deadline_ns = deadline_ns;
    sleeper->finish = true;
    assert_int_equal(pthread_create(&sleeper->thread, NULL, sleep_in_pop, sleeper), 0);
}

static void
join_sleeper(sleeper_t *sleeper, schedq_status_t expected)
{
    assert_int_equal(pthread_join(sleeper->thread, NULL), 0);
    assert_status(sleeper->status, expected);
    mailbox_assert_empty(sleeper->mailbox);
}

/* Gives the others time to fall asleep; nothing depends on whether they do. */
static void
let_others_run(void)
{
    struct timespec pause = {0, 20000000};
    nanosleep(&pause, NULL);
}

static void
use_real_clock(fixture_t *fixture)
{
    memset(&fixture->config.clock, 0, sizeof fixture->config.clock);
}

static int64_t
real_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return SEC(now.tv_sec) + now.tv_nsec;
}

/* ---- what wakes a sleeper ---- */

typedef void (*waker_fn)(fixture_t *fixture);

static fx_plugin_t *
fit(fixture_t *fixture)
{
    return &fixture->plugins[0];
}

static void
check_waker(fixture_t *fixture, waker_fn prepare, waker_fn wake)
{
    mailbox_t mailbox;
    sleeper_t sleeper;
    mailbox_init(&mailbox);
    fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    if (prepare != NULL)
        prepare(fixture);
    start_sleeper(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    let_others_run();
    wake(fixture);
    join_sleeper(&sleeper, SCHEDQ_OK);
    assert_string_equal(sleeper.name, "ns/a");
}

static void
wake_by_add(fixture_t *fixture)
{
    fx_add(fixture, "ns/a", 0);
}

static void
wake_by_update(fixture_t *fixture)
{
    schedq_pod_spec_t spec = fx_spec("ns/a", 0);
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", &spec, 0, NULL, 0, NULL));
}

static void
wake_by_add_many(fixture_t *fixture)
{
    schedq_pod_spec_t spec = fx_spec("ns/a", 0);
    assert_ok(schedq_add_many(fx_worker(fixture), "ns/a", &spec, 1, NULL, NULL, NULL));
}

static void
wake_by_readd(fixture_t *fixture)
{
    schedq_pod_spec_t spec = fx_spec("ns/a", 0);
    schedq_history_t history = {0};
    schedq_failure_t failure;
    schedq_failure_init(&failure);
    failure.unschedulable = fit(fixture)->bit;
    assert_ok(schedq_readd(fx_worker(fixture), "ns/a", &spec, &history, &failure, NULL));
}

static void
prepare_parked(fixture_t *fixture)
{
    fx_park(fixture, "ns/a", fit(fixture)->bit);
}

static void
wake_by_event(fixture_t *fixture)
{
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).poppable, 1);
}

static void
wake_by_activate(fixture_t *fixture)
{
    schedq_pod_t pod = fx_find(fixture, "ns/a").pod;
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
}

static void
wake_by_time(fixture_t *fixture)
{
    fx_pass(fixture, SEC(600));
}

static void
prepare_error(fixture_t *fixture)
{
    fx_err(fixture, "ns/a");
}

static void
wake_by_failure(fixture_t *fixture)
{
    schedq_popped_t popped;
    fx_add(fixture, "ns/a", 0);
    if (schedq_try_pop(fx_worker(fixture), &popped) != SCHEDQ_OK)
        return; /* the sleeper was faster */
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    fx_fail(fixture, &popped, fit(fixture)->bit, 0);
}

static void
an_add_wakes_a_sleeper(void **state)
{
    check_waker(*state, NULL, wake_by_add);
}

static void
an_update_that_adds_wakes_a_sleeper(void **state)
{
    check_waker(*state, NULL, wake_by_update);
}

static void
a_batch_wakes_a_sleeper(void **state)
{
    check_waker(*state, NULL, wake_by_add_many);
}

static void
a_readd_into_backoff_wakes_a_sleeper(void **state)
{
    check_waker(*state, NULL, wake_by_readd);
}

static void
an_event_wakes_a_sleeper(void **state)
{
    check_waker(*state, prepare_parked, wake_by_event);
}

static void
an_activation_wakes_a_sleeper(void **state)
{
    check_waker(*state, prepare_parked, wake_by_activate);
}

static void
the_leftover_limit_wakes_a_sleeper(void **state)
{
    check_waker(*state, prepare_parked, wake_by_time);
}

static void
the_end_of_an_error_backoff_wakes_a_sleeper(void **state)
{
    check_waker(*state, prepare_error, wake_by_time);
}

static void
a_failure_into_backoff_wakes_a_sleeper(void **state)
{
    check_waker(*state, NULL, wake_by_failure);
}

/* ---- many sleepers ---- */

static void
every_sleeper_gets_one_pod(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleepers[SLEEPERS];
    char name[] = "ns/0";
    mailbox_init(&mailbox);
    fx_worker(fixture);
    for (int i = 0; i < SLEEPERS; i++)
        start_sleeper(&sleepers[i], fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    let_others_run();
    for (int i = 0; i < SLEEPERS; i++) {
        name[3] = (char)('0' + i);
        fx_add(fixture, name, 0);
    }
    unsigned seen = 0;
    for (int i = 0; i < SLEEPERS; i++) {
        join_sleeper(&sleepers[i], SCHEDQ_OK);
        seen |= 1u << (sleepers[i].name[3] - '0');
    }
    assert_int_equal(seen, (1u << SLEEPERS) - 1);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

static void
one_event_wakes_as_many_sleepers_as_it_moves_pods(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleepers[SLEEPERS];
    char name[] = "ns/0";
    mailbox_init(&mailbox);
    fx_plugin_t *plugin = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    for (int i = 0; i < SLEEPERS; i++) {
        name[3] = (char)('0' + i);
        fx_park(fixture, name, plugin->bit);
    }
    for (int i = 0; i < SLEEPERS; i++)
        start_sleeper(&sleepers[i], fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    let_others_run();
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    for (int i = 0; i < SLEEPERS; i++)
        join_sleeper(&sleepers[i], SCHEDQ_OK);
}

static void
close_wakes_every_sleeper(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleepers[SLEEPERS];
    mailbox_init(&mailbox);
    fx_worker(fixture);
    for (int i = 0; i < SLEEPERS; i++)
        start_sleeper(&sleepers[i], fixture, &mailbox, i % 2 == 0 ? SCHEDQ_NO_DEADLINE : FX_START + SEC(100));
    let_others_run();
    assert_ok(schedq_close(fx_queue(fixture)));
    for (int i = 0; i < SLEEPERS; i++)
        join_sleeper(&sleepers[i], SCHEDQ_CLOSED);
}

static void
close_lets_what_is_left_be_popped(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_ok(schedq_pop(fx_worker(fixture), SCHEDQ_NO_DEADLINE, &popped));
    assert_status(schedq_pop(fx_worker(fixture), SCHEDQ_NO_DEADLINE, &popped), SCHEDQ_CLOSED);
}

/* ---- deadlines ---- */

static void
a_deadline_in_the_past_is_one_attempt(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    assert_status(schedq_pop(fx_worker(fixture), FX_START - 1, &popped), SCHEDQ_TIMEDOUT);
    assert_status(schedq_pop(fx_worker(fixture), 0, &popped), SCHEDQ_TIMEDOUT);
    assert_status(schedq_pop(fx_worker(fixture), INT64_MIN, &popped), SCHEDQ_TIMEDOUT);
    fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_pop(fx_worker(fixture), FX_START - 1, &popped));
}

static void
with_a_virtual_clock_a_deadline_is_seen_at_a_tick(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleeper;
    mailbox_init(&mailbox);
    fx_worker(fixture);
    start_sleeper(&sleeper, fixture, &mailbox, FX_START + SEC(5));
    let_others_run();
    fx_pass(fixture, SEC(4));
    let_others_run();
    fx_pass(fixture, SEC(1));
    join_sleeper(&sleeper, SCHEDQ_TIMEDOUT);
}

static void
with_an_external_clock_a_deadline_is_seen_at_a_tick(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleeper;
    mailbox_init(&mailbox);
    use_real_clock(fixture);
    fixture->config.external_clock = 1;
    fixture->config.start_ns = SEC(1);
    fx_worker(fixture);
    start_sleeper(&sleeper, fixture, &mailbox, SEC(5));
    let_others_run();
    assert_ok(schedq_clock_advance(fx_queue(fixture), SEC(5)));
    fx_tick(fixture);
    join_sleeper(&sleeper, SCHEDQ_TIMEDOUT);
}

static void
with_the_real_clock_a_deadline_passes_by_itself(void **state)
{
    fixture_t *fixture = *state;
    use_real_clock(fixture);
    schedq_popped_t popped;
    int64_t deadline = real_now() + MS(30);
    assert_status(schedq_pop(fx_worker(fixture), deadline, &popped), SCHEDQ_TIMEDOUT);
    assert_true(real_now() >= deadline);
}

static void
a_blocking_pop_serves_time_itself(void **state)
{
    fixture_t *fixture = *state;
    use_real_clock(fixture);
    fixture->config.initial_backoff_ns = MS(20);
    schedq_popped_t popped;
    fx_err(fixture, "ns/a");
    assert_ok(schedq_pop(fx_worker(fixture), SCHEDQ_NO_DEADLINE, &popped));
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
    use_real_clock(fixture);
    fixture->config.initial_backoff_ns = MS(20);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    start_sleeper(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    let_others_run();
    fx_fail(fixture, &popped, 0, 0);
    join_sleeper(&sleeper, SCHEDQ_OK);
    assert_string_equal(sleeper.name, "ns/a");
}

/* ---- the timer thread ---- */

static void
the_timer_thread_serves_time_and_takes_a_worker_slot(void **state)
{
    fixture_t *fixture = *state;
    use_real_clock(fixture);
    fixture->config.initial_backoff_ns = MS(5);
    fx_worker(fixture);
    assert_ok(schedq_run(fx_queue(fixture), NULL, 0));
    assert_status(schedq_run(fx_queue(fixture), NULL, 0), SCHEDQ_EXISTS);
    assert_int_equal(fx_stats(fixture).workers, 2);
    assert_status(schedq_destroy(fx_queue(fixture)), SCHEDQ_BUSY);
    fx_err(fixture, "ns/a");
    schedq_popped_t popped;
    while (schedq_try_pop(fx_worker(fixture), &popped) == SCHEDQ_EMPTY)
        let_others_run();
    assert_string_equal(popped.name, "ns/a");
    assert_ok(schedq_stop(fx_queue(fixture)));
    assert_ok(schedq_stop(fx_queue(fixture)));
    assert_int_equal(fx_stats(fixture).workers, 1);
    assert_ok(schedq_run(fx_queue(fixture), NULL, 0));
    assert_ok(schedq_stop(fx_queue(fixture)));
}

static void
the_timer_thread_wakes_a_sleeper(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleeper;
    mailbox_init(&mailbox);
    use_real_clock(fixture);
    fixture->config.initial_backoff_ns = MS(20);
    fx_worker(fixture);
    assert_ok(schedq_run(fx_queue(fixture), NULL, 0));
    fx_err(fixture, "ns/a");
    start_sleeper(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    join_sleeper(&sleeper, SCHEDQ_OK);
    assert_string_equal(sleeper.name, "ns/a");
}

static void
the_timer_thread_finds_no_slot_when_all_are_taken(void **state)
{
    fixture_t *fixture = *state;
    use_real_clock(fixture);
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
    use_real_clock(fixture);
    fixture->config.max_workers = 1;
    assert_ok(schedq_run(fx_queue(fixture), NULL, 0));
    schedq_worker_t *worker;
    assert_status(schedq_worker_register(fx_queue(fixture), &worker, fixture->why, sizeof fixture->why), SCHEDQ_FULL);
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
    use_real_clock(fixture);
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_status(schedq_run(fx_queue(fixture), NULL, 0), SCHEDQ_CLOSED);
}

/* ---- a worker is one call at a time ---- */

static void *
pop_despite_busy(void *argument)
{
    sleeper_t *sleeper = argument;
    schedq_worker_t *worker = sleeper->worker;
    schedq_popped_t popped;
    do {
        sleeper->status = schedq_pop(worker, SCHEDQ_NO_DEADLINE, &popped);
    } while (sleeper->status == SCHEDQ_BUSY);
    return NULL;
}

static void
a_worker_inside_a_call_is_busy(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleeper = {.mailbox = &mailbox};
    schedq_worker_t *shared;
    schedq_popped_t popped;
    schedq_status_t status;
    mailbox_init(&mailbox);
    assert_ok(schedq_worker_register(fx_queue(fixture), &shared, NULL, 0));
    sleeper.worker = shared;
    assert_int_equal(pthread_create(&sleeper.thread, NULL, pop_despite_busy, &sleeper), 0);
    while ((status = schedq_try_pop(shared, &popped)) != SCHEDQ_BUSY)
        assert_status(status, SCHEDQ_EMPTY);
    while ((status = schedq_token_alive(shared, (schedq_token_t){1})) != SCHEDQ_BUSY)
        assert_status(status, SCHEDQ_STALE);
    fx_add(fixture, "ns/a", 0);
    join_sleeper(&sleeper, SCHEDQ_OK);
    assert_ok(schedq_worker_unregister(shared));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fx_test(an_add_wakes_a_sleeper),
        fx_test(an_update_that_adds_wakes_a_sleeper),
        fx_test(a_batch_wakes_a_sleeper),
        fx_test(a_readd_into_backoff_wakes_a_sleeper),
        fx_test(an_event_wakes_a_sleeper),
        fx_test(an_activation_wakes_a_sleeper),
        fx_test(the_leftover_limit_wakes_a_sleeper),
        fx_test(the_end_of_an_error_backoff_wakes_a_sleeper),
        fx_test(a_failure_into_backoff_wakes_a_sleeper),
        fx_test(every_sleeper_gets_one_pod),
        fx_test(one_event_wakes_as_many_sleepers_as_it_moves_pods),
        fx_test(close_wakes_every_sleeper),
        fx_test(close_lets_what_is_left_be_popped),
        fx_test(a_deadline_in_the_past_is_one_attempt),
        fx_test(with_a_virtual_clock_a_deadline_is_seen_at_a_tick),
        fx_test(with_an_external_clock_a_deadline_is_seen_at_a_tick),
        fx_test(with_the_real_clock_a_deadline_passes_by_itself),
        fx_test(a_blocking_pop_serves_time_itself),
        fx_test(a_sleeper_without_deadline_serves_time_that_others_create),
        fx_test(the_timer_thread_serves_time_and_takes_a_worker_slot),
        fx_test(the_timer_thread_wakes_a_sleeper),
        fx_test(the_timer_thread_finds_no_slot_when_all_are_taken),
        fx_test(the_timer_thread_takes_the_last_slot),
        fx_test(with_a_virtual_clock_no_timer_thread_runs),
        fx_test(a_closed_queue_starts_no_timer_thread),
        fx_test(a_worker_inside_a_call_is_busy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
