/*
 * schedq_pop with threads: what wakes a sleeper, one at a time and many at once. No time is
 * asserted.
 */
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "sleeper.h"
#include "squad.h"

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
    schedq_pod_spec_t spec = fx_spec(0);
    spec.flags = SCHEDQ_POD_ADD;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL));
}

static void
wake_by_add_many(fixture_t *fixture)
{
    schedq_pod_spec_t spec = fx_spec(0);
    assert_ok(schedq_add_many(fx_worker(fixture), "ns/a", 4, &(schedq_add_item_t){0, 4, spec}, 1,
                              NULL, NULL, NULL));
}

static void
wake_by_readd(fixture_t *fixture)
{
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_history_t history = {0};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = fit(fixture)->bit;
    assert_ok(schedq_readd(fx_worker(fixture), "ns/a", 4, &spec, &history, &failure, NULL));
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
        sleeper_start(&sleepers[i], fixture, &mailbox,
                      i % 2 == 0 ? SCHEDQ_NO_DEADLINE : FX_START + SEC(100));
    sleeper_pause();
    assert_ok(schedq_close(fx_queue(fixture)));
    for (int i = 0; i < SLEEPERS; i++)
        sleeper_join(&sleepers[i], SCHEDQ_CLOSED);
}

static void
a_batch_wakes_as_many_sleepers_as_it_has_pods(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleepers[SLEEPERS];
    schedq_add_item_t items[SLEEPERS];
    mailbox_init(&mailbox);
    fx_worker(fixture);
    for (uint32_t i = 0; i < SLEEPERS; i++) {
        items[i] = fx_item(5 * i, 4, 0);
        sleeper_start(&sleepers[i], fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    }
    sleeper_pause();
    assert_ok(schedq_add_many(fx_worker(fixture), "ns/a ns/b ns/c ns/d ns/e ns/f", 29, items,
                              SLEEPERS, NULL, NULL, NULL));
    for (int i = 0; i < SLEEPERS; i++)
        sleeper_join(&sleepers[i], SCHEDQ_OK);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

/* Odd ones have deadlines that pass one after the other; the even ones get what is added then. */
static void
sleepers_with_and_without_deadlines_do_not_take_each_others_wake_ups(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleepers[SLEEPERS];
    char name[] = "ns/0";
    mailbox_init(&mailbox);
    fx_worker(fixture);
    for (int i = 0; i < SLEEPERS; i++)
        sleeper_start(&sleepers[i], fixture, &mailbox,
                      i % 2 == 0 ? SCHEDQ_NO_DEADLINE : FX_START + SEC(i));
    sleeper_pause();
    for (int i = 1; i < SLEEPERS; i += 2) {
        fx_pass(fixture, FX_START + SEC(i) - fx_now(fixture));
        sleeper_join(&sleepers[i], SCHEDQ_TIMEDOUT);
    }
    for (int i = 0; i < SLEEPERS; i += 2) {
        name[3] = (char)('0' + i);
        fx_add(fixture, name, 0);
    }
    for (int i = 0; i < SLEEPERS; i += 2)
        sleeper_join(&sleepers[i], SCHEDQ_OK);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

/*
 * A pod that is gone before the woken sleeper looks is no pod for it; it sleeps on, and the next
 * one wakes it.
 */
static void
a_pod_that_another_takes_does_not_end_a_sleep(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleeper;
    mailbox_init(&mailbox);
    fx_worker(fixture);
    sleeper_start(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    sleeper_pause();
    for (int i = 0; i < 200; i++) {
        schedq_popped_t popped;
        fx_add(fixture, "ns/b", 0);
        if (schedq_try_pop(fx_worker(fixture), &popped) != SCHEDQ_OK)
            break; /* the sleeper was faster */
        fx_done(fixture, &popped);
    }
    schedq_pod_spec_t spec = fx_spec(0);
    assert_ok(schedq_add(fx_worker(fixture), "ns/a", 4, &spec, NULL));
    assert_int_equal(pthread_join(sleeper.thread, NULL), 0);
    assert_ok(sleeper.status);
    mailbox_assert_empty(&mailbox);
}

/* ---- pods handed round ---- */

enum { PODS = 3000 };

typedef struct round_trip {
    atomic_uint seen[PODS]; /* pops of each pod */
    atomic_uint done;
} round_trip_t;

/* Two add, the others sleep for them: every pod is popped once, and close ends it. */
static void
add_or_sleep(soldier_t *soldier)
{
    round_trip_t *trip = soldier->ctx;
    schedq_popped_t popped;
    schedq_status_t status;
    char name[16];
    if (soldier->number < 2) {
        for (unsigned i = soldier->number; i < PODS; i += 2) {
            snprintf(name, sizeof name, "ns/%u", i);
            schedq_pod_spec_t spec = fx_spec((int32_t)(i % 3));
            spec.object = i;
            mailbox_check(soldier->mailbox, schedq_add(soldier->worker, name, strlen(name), &spec,
                                                       NULL) == SCHEDQ_OK);
        }
        return;
    }
    while ((status = schedq_pop(soldier->worker, &popped)) == SCHEDQ_OK) {
        if (!mailbox_check(soldier->mailbox, popped.object < PODS))
            return;
        mailbox_check(soldier->mailbox, atomic_fetch_add(&trip->seen[popped.object], 1) == 0);
        mailbox_check(soldier->mailbox, schedq_done(soldier->worker, popped.token) == SCHEDQ_OK);
        if (atomic_fetch_add(&trip->done, 1) + 1 == PODS)
            mailbox_check(soldier->mailbox, schedq_close(soldier->queue) == SCHEDQ_OK);
    }
    mailbox_check(soldier->mailbox, status == SCHEDQ_CLOSED);
}

static void
sleepers_pop_every_pod_once(void **state)
{
    fixture_t *fixture = *state;
    static round_trip_t trip;
    memset(&trip, 0, sizeof trip);
    squad_run(fixture, 5, 0, add_or_sleep, &trip);
    assert_int_equal(atomic_load(&trip.done), PODS);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

/* With the real clock and deadlines so short that they pass now and then. */
static void
add_or_sleep_a_little(soldier_t *soldier)
{
    round_trip_t *trip = soldier->ctx;
    schedq_popped_t popped;
    char name[16];
    for (unsigned i = 0; soldier->number == 0 && i < PODS; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        schedq_pod_spec_t spec = fx_spec(0);
        mailbox_check(soldier->mailbox,
                      schedq_add(soldier->worker, name, strlen(name), &spec, NULL) == SCHEDQ_OK);
    }
    while (soldier->number != 0 && atomic_load(&trip->done) < PODS) {
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        int64_t deadline = SEC(now.tv_sec) + now.tv_nsec + MS(soldier->number) / 20;
        schedq_status_t status = schedq_pop_until(soldier->worker, deadline, &popped);
        if (status == SCHEDQ_OK) {
            atomic_fetch_add(&trip->done, 1);
            mailbox_check(soldier->mailbox,
                          schedq_done(soldier->worker, popped.token) == SCHEDQ_OK);
        } else if (!mailbox_check(soldier->mailbox, status == SCHEDQ_TIMEDOUT)) {
            return;
        }
    }
}

static void
sleepers_with_short_deadlines_lose_no_pod(void **state)
{
    fixture_t *fixture = *state;
    static round_trip_t trip;
    memset(&trip, 0, sizeof trip);
    fx_use_real_clock(fixture);
    squad_run(fixture, 4, 0, add_or_sleep_a_little, &trip);
    assert_int_equal(atomic_load(&trip.done), PODS);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

static void
close_lets_what_is_left_be_popped(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_ok(schedq_pop(fx_worker(fixture), &popped));
    assert_status(schedq_pop(fx_worker(fixture), &popped), SCHEDQ_CLOSED);
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
    mailbox_check(call->mailbox,
                  schedq_get(call->worker, call->pod, wait_in_visit, call) == SCHEDQ_OK);
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
        fx_test(an_add_wakes_a_sleeper),
        fx_test(an_update_that_adds_wakes_a_sleeper),
        fx_test(a_batch_wakes_a_sleeper),
        fx_test(every_sleeper_gets_one_pod),
        fx_test(a_batch_wakes_as_many_sleepers_as_it_has_pods),
        fx_test(sleepers_with_and_without_deadlines_do_not_take_each_others_wake_ups),
        fx_test(a_pod_that_another_takes_does_not_end_a_sleep),
        fx_test(sleepers_pop_every_pod_once),
        fx_test(sleepers_with_short_deadlines_lose_no_pod),
        fx_test(close_wakes_every_sleeper),
        fx_test(close_lets_what_is_left_be_popped),
        fx_test(a_worker_inside_a_call_is_busy),
        fx_test(a_readd_into_backoff_wakes_a_sleeper),
        fx_test(an_event_wakes_a_sleeper),
        fx_test(an_activation_wakes_a_sleeper),
        fx_test(the_leftover_limit_wakes_a_sleeper),
        fx_test(the_end_of_an_error_backoff_wakes_a_sleeper),
        fx_test(a_failure_into_backoff_wakes_a_sleeper),
        fx_test(one_event_wakes_as_many_sleepers_as_it_moves_pods),
    };
    return fx_run_tests(argc, argv, tests);
}
