/* schedq_pop with threads: what wakes a sleeper, one at a time and many at once. No time is asserted. */
#include <semaphore.h>
#include <string.h>

#include "sleeper.h"

#define SLEEPERS 6

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
    fx_queue(fixture);
    if (prepare != NULL)
        prepare(fixture);
    sleeper_start(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    sleeper_pause();
    wake(fixture);
    sleeper_join(&sleeper, SCHEDQ_OK);
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
prepare_plugin(fixture_t *fixture)
{
    fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
}

static void
prepare_parked(fixture_t *fixture)
{
    prepare_plugin(fixture);
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
    check_waker(*state, prepare_plugin, wake_by_readd);
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
    check_waker(*state, prepare_plugin, wake_by_failure);
}

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
        sleeper_start(&sleepers[i], fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    sleeper_pause();
    for (int i = 0; i < SLEEPERS; i++) {
        name[3] = (char)('0' + i);
        fx_add(fixture, name, 0);
    }
    unsigned seen = 0;
    for (int i = 0; i < SLEEPERS; i++) {
        sleeper_join(&sleepers[i], SCHEDQ_OK);
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
        sleeper_start(&sleepers[i], fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    sleeper_pause();
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    for (int i = 0; i < SLEEPERS; i++)
        sleeper_join(&sleepers[i], SCHEDQ_OK);
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
        sleeper_start(&sleepers[i], fixture, &mailbox, i % 2 == 0 ? SCHEDQ_NO_DEADLINE : FX_START + SEC(100));
    sleeper_pause();
    assert_ok(schedq_close(fx_queue(fixture)));
    for (int i = 0; i < SLEEPERS; i++)
        sleeper_join(&sleepers[i], SCHEDQ_CLOSED);
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

/* A call that lasts until it is told to end: a visitor of the other thread's worker. */
typedef struct long_call {
    schedq_worker_t *worker;
    schedq_pod_t pod;
    mailbox_t *mailbox;
    sem_t inside, enough;
} long_call_t;

static int
wait_in_visit(void *ctx, const schedq_pod_info_t *pod)
{
    long_call_t *call = ctx;
    (void)pod;
    sem_post(&call->inside);
    sem_wait(&call->enough);
    return 0;
}

static void *
call_for_long(void *argument)
{
    long_call_t *call = argument;
    mailbox_check(call->mailbox, schedq_get(call->worker, call->pod, wait_in_visit, call) == SCHEDQ_OK);
    return NULL;
}

static void
a_worker_inside_a_call_is_busy(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    long_call_t call = {.mailbox = &mailbox};
    pthread_t thread;
    schedq_popped_t popped;
    mailbox_init(&mailbox);
    sem_init(&call.inside, 0, 0);
    sem_init(&call.enough, 0, 0);
    call.pod = fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_worker_register(fx_queue(fixture), &call.worker, NULL, 0));
    assert_int_equal(pthread_create(&thread, NULL, call_for_long, &call), 0);
    sem_wait(&call.inside);
    schedq_status_t pop = schedq_try_pop(call.worker, &popped);
    schedq_status_t unregister = schedq_worker_unregister(call.worker);
    schedq_status_t others = schedq_token_alive(fx_worker(fixture), (schedq_token_t){1});
    sem_post(&call.enough);
    assert_int_equal(pthread_join(thread, NULL), 0);
    mailbox_assert_empty(&mailbox);
    assert_status(pop, SCHEDQ_BUSY);
    assert_status(unregister, SCHEDQ_BUSY);
    assert_status(others, SCHEDQ_STALE);
    assert_ok(schedq_worker_unregister(call.worker));
    sem_destroy(&call.inside);
    sem_destroy(&call.enough);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(an_add_wakes_a_sleeper),         fx_test(an_update_that_adds_wakes_a_sleeper),
        fx_test(a_batch_wakes_a_sleeper),        fx_test(every_sleeper_gets_one_pod),
        fx_test(close_wakes_every_sleeper),      fx_test(close_lets_what_is_left_be_popped),
        fx_test(a_worker_inside_a_call_is_busy),
    };
    const struct CMUnitTest with_events_and_waiting[] = {
        fx_test(a_readd_into_backoff_wakes_a_sleeper),
        fx_test(an_event_wakes_a_sleeper),
        fx_test(an_activation_wakes_a_sleeper),
        fx_test(the_leftover_limit_wakes_a_sleeper),
        fx_test(the_end_of_an_error_backoff_wakes_a_sleeper),
        fx_test(a_failure_into_backoff_wakes_a_sleeper),
        fx_test(one_event_wakes_as_many_sleepers_as_it_moves_pods),
    };
    const fx_group_t groups[] = {
        fx_group(tests, FX_ANY_ENGINE),
        fx_group(with_events_and_waiting, FX_EVENTS | FX_WAITING),
    };
    return fx_run_groups(argc, argv, groups);
}
