/*
 * The descriptor of a queue, the callback, and when time is wanted: what a host sees that waits in
 * an event loop.
 */
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "gang.h"
#include "sleeper.h"
#include "squad.h"

static int
descriptor(fixture_t *fixture)
{
    int fd = -1;
    assert_ok(schedq_wait_fd(fx_queue(fixture), &fd, fixture->why, sizeof fixture->why));
    assert_true(fd >= 0);
    return fd;
}

static bool
is_readable(int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};
    return poll(&wanted, 1, 0) == 1;
}

/* ---- the descriptor -------------------------------------------------------------------------- */

static void
a_queue_has_one_descriptor_which_is_readable_at_first(void **state)
{
    fixture_t *fixture = *state;
    int fd = descriptor(fixture);
    assert_int_equal(descriptor(fixture), fd);
    assert_true(is_readable(fd));
    fx_pop_nothing(fixture);
    assert_false(is_readable(fd));
    assert_int_equal(descriptor(fixture), fd);
    assert_false(is_readable(fd));
}

static void
it_is_readable_from_the_first_pod_until_a_pop_finds_nothing(void **state)
{
    fixture_t *fixture = *state;
    int fd = descriptor(fixture);
    fx_pop_nothing(fixture);
    fx_add(fixture, "ns/a", 0);
    assert_true(is_readable(fd));
    fx_add(fixture, "ns/b", 0);
    schedq_popped_t a = fx_pop(fixture, "ns/a");
    assert_true(is_readable(fd));
    schedq_popped_t b = fx_pop(fixture, "ns/b");
    assert_true(is_readable(fd)); /* nobody was told yet that nothing is left */
    fx_pop_nothing(fixture);
    assert_false(is_readable(fd));
    fx_pop_nothing(fixture);
    assert_false(is_readable(fd));
    fx_done(fixture, &a);
    fx_done(fixture, &b);
    assert_false(is_readable(fd));
    fx_add(fixture, "ns/c", 0);
    assert_true(is_readable(fd));
}

static void
a_batch_that_finds_nothing_arms_it_too(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped[4];
    size_t count;
    int fd = descriptor(fixture);
    assert_status(schedq_try_pop_many(fx_worker(fixture), popped, 4, &count), SCHEDQ_EMPTY);
    assert_false(is_readable(fd));
    fx_add(fixture, "ns/a", 0);
    assert_true(is_readable(fd));
    assert_ok(schedq_try_pop_many(fx_worker(fixture), popped, 4, &count));
    assert_true(is_readable(fd));
}

static void
a_pod_that_an_event_frees_makes_it_readable(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    int fd = descriptor(fixture);
    fx_park(fixture, "ns/a", fit->bit);
    fx_pop_nothing(fixture);
    assert_false(is_readable(fd));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_true(is_readable(fd));
}

static void
a_pod_that_time_frees_makes_it_readable(void **state)
{
    fixture_t *fixture = *state;
    int fd = descriptor(fixture);
    fx_err(fixture, "ns/a");
    fx_pop_nothing(fixture);
    assert_false(is_readable(fd));
    fx_pass(fixture, SEC(1));
    assert_true(is_readable(fd));
    fx_pop(fixture, "ns/a");
}

/* One that waits for pods serves time, and brings out a group, which it does not take. */
static void
a_group_that_a_waiting_pop_frees_makes_it_readable(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleeper;
    mailbox_init(&mailbox);
    fx_use_real_clock(fixture);
    fixture->config.initial_backoff_ns = MS(50);
    struct pollfd wanted = {.fd = descriptor(fixture), .events = POLLIN};
    form(fixture, 2, "ab");
    pop(fixture, GANG, "ab");
    fail_all(fixture, 0);
    sleeper_start(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    sleeper_pause();
    end(fixture, SCHEDQ_GROUP_ERROR);
    /* without a timeout, as the sleeper serves time */
    while (try_pop(fixture) == SCHEDQ_EMPTY)
        assert_int_equal(poll(&wanted, 1, -1), 1);
    assert_int_equal(group.group, GANG);
    assert_ok(schedq_close(fx_queue(fixture)));
    sleeper_join(&sleeper, SCHEDQ_CLOSED);
}

/* A loop that sleeps until the first deadline has to sleep for less long. */
static void
a_deadline_that_becomes_sooner_makes_it_readable(void **state)
{
    fixture_t *fixture = *state;
    int fd = descriptor(fixture);
    fx_add(fixture, "ns/a", 0);
    fx_add(fixture, "ns/b", 0);
    schedq_popped_t a = fx_pop(fixture, "ns/a"), b = fx_pop(fixture, "ns/b");
    fx_pop_nothing(fixture);
    fx_fail(fixture, &a, SCHEDQ_REJECTOR_OTHERS, 0);
    assert_true(is_readable(fd));
    fx_pop_nothing(fixture);
    assert_false(is_readable(fd));
    fx_fail(fixture, &b, 0, 0);
    assert_true(is_readable(fd));
    fx_pop_nothing(fixture);
    assert_false(is_readable(fd));
}

static void
close_makes_it_readable_for_ever(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    int fd = descriptor(fixture);
    fx_pop_nothing(fixture);
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_true(is_readable(fd));
    for (int i = 0; i < 3; i++) {
        assert_status(schedq_try_pop(fx_worker(fixture), &popped), SCHEDQ_CLOSED);
        assert_true(is_readable(fd));
    }
}

static void
a_pop_that_waits_leaves_it_alone(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    int fd = descriptor(fixture);
    fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_pop(fx_worker(fixture), &popped));
    assert_true(is_readable(fd));
    assert_status(schedq_pop_until(fx_worker(fixture), 0, &popped), SCHEDQ_TIMEDOUT);
    assert_true(is_readable(fd));
    fx_pop_nothing(fixture);
    fx_add(fixture, "ns/b", 0);
    assert_ok(schedq_pop(fx_worker(fixture), &popped));
    assert_true(is_readable(fd));
}

/* ---- the callback ---------------------------------------------------------------------------- */

typedef struct listener {
    schedq_t *queue;
    unsigned calls;
    schedq_status_t status; /* of a call of the queue from the callback */
} listener_t;

/* The teardown's close calls back too. */
static listener_t listener;

static void
count_call(void *ctx)
{
    assert_ptr_equal(ctx, &listener);
    listener.calls++;
    listener.status = schedq_close(listener.queue);
}

static void
listen_to(fixture_t *fixture)
{
    listener = (listener_t){.queue = fx_queue(fixture)};
    assert_ok(schedq_wait_callback(fx_queue(fixture), count_call, &listener, NULL, 0));
}

static void
the_callback_is_called_once_until_a_pop_finds_nothing(void **state)
{
    fixture_t *fixture = *state;
    listen_to(fixture);
    fx_add(fixture, "ns/a", 0);
    assert_int_equal(listener.calls, 0); /* at the beginning the host pops by itself */
    fx_pop(fixture, "ns/a");
    fx_pop_nothing(fixture);
    fx_add(fixture, "ns/b", 0);
    assert_int_equal(listener.calls, 1);
    assert_status(listener.status, SCHEDQ_BUSY);
    fx_add(fixture, "ns/c", 0);
    fx_pop(fixture, "ns/b");
    assert_int_equal(listener.calls, 1);
    fx_pop(fixture, "ns/c");
    fx_pop_nothing(fixture);
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_int_equal(listener.calls, 2);
}

static void
a_queue_may_have_a_callback_and_a_descriptor(void **state)
{
    fixture_t *fixture = *state;
    listen_to(fixture);
    fx_pop_nothing(fixture);
    int fd = descriptor(fixture); /* readable at first, so the callback hears of it */
    assert_true(is_readable(fd));
    listener.calls = 0;
    fx_pop_nothing(fixture);
    assert_false(is_readable(fd));
    fx_add(fixture, "ns/a", 0);
    assert_true(is_readable(fd));
    assert_int_equal(listener.calls, 1);
}

static void
a_callback_comes_before_the_first_worker(void **state)
{
    fixture_t *fixture = *state;
    schedq_t *queue = fx_queue(fixture);
    assert_status(schedq_wait_callback(queue, NULL, NULL, fixture->why, sizeof fixture->why),
                  SCHEDQ_INVALID);
    assert_string_equal(fixture->why, "wake NULL: a function");
    fx_worker(fixture);
    assert_status(
        schedq_wait_callback(queue, count_call, &listener, fixture->why, sizeof fixture->why),
        SCHEDQ_BUSY);
    assert_string_equal(fixture->why,
                        "a worker is registered (the timer thread is one), which ends setup");
}

/* ---- time ------------------------------------------------------------------------------------ */

static void
the_next_deadline_is_never_before_now(void **state)
{
    fixture_t *fixture = *state;
    assert_true(schedq_next_deadline(fx_queue(fixture)) == SCHEDQ_NO_DEADLINE);
    fx_err(fixture, "ns/a");
    fx_tick(fixture);
    assert_int_equal(schedq_next_deadline(fx_queue(fixture)), FX_START + SEC(1));
    fx_advance(fixture, SEC(3));
    assert_int_equal(schedq_next_deadline(fx_queue(fixture)), FX_START + SEC(3));
    fx_tick(fixture);
    assert_true(schedq_next_deadline(fx_queue(fixture)) == SCHEDQ_NO_DEADLINE);
    assert_true(schedq_next_deadline(NULL) == SCHEDQ_NO_DEADLINE);
}

static void
what_is_missing_is_refused(void **state)
{
    fixture_t *fixture = *state;
    int fd;
    assert_status(schedq_wait_fd(NULL, &fd, fixture->why, sizeof fixture->why), SCHEDQ_INVALID);
    assert_string_equal(fixture->why, "queue NULL: a pointer");
    assert_status(schedq_wait_fd(fx_queue(fixture), NULL, fixture->why, sizeof fixture->why),
                  SCHEDQ_INVALID);
    assert_string_equal(fixture->why, "fd NULL: a pointer");
    assert_status(schedq_wait_callback(NULL, count_call, NULL, NULL, 0), SCHEDQ_INVALID);
    assert_status(schedq_wait_cancel(NULL), SCHEDQ_INVALID);
}

/* ---- several loops --------------------------------------------------------------------------- */

enum { LOOPS = 3, PRODUCERS = 3, PODS_EACH = 4000 };

typedef struct hall {
    int fd;
    atomic_uint taken;
} hall_t;

static void
produce(soldier_t *soldier)
{
    char name[32];
    for (unsigned i = 0; i < PODS_EACH; i++) {
        snprintf(name, sizeof name, "ns/%u-%u", soldier->number, i);
        schedq_pod_spec_t spec = fx_spec((int32_t)(i % 3));
        mailbox_check(soldier->mailbox,
                      schedq_add(soldier->worker, name, strlen(name), &spec, NULL) == SCHEDQ_OK);
        if (i % 16 == 0)
            (void)sched_yield();
    }
}

/* No timeout: a wake-up that is lost hangs the test. */
static void
consume(soldier_t *soldier)
{
    hall_t *hall = soldier->ctx;
    schedq_popped_t popped;
    schedq_status_t status = SCHEDQ_EMPTY;
    while (status != SCHEDQ_CLOSED) {
        struct pollfd wanted = {.fd = hall->fd, .events = POLLIN};
        (void)poll(&wanted, 1, -1);
        /* Every other loop goes back after one pod: the level stays. */
        do {
            status = schedq_try_pop(soldier->worker, &popped);
            if (status == SCHEDQ_OK) {
                mailbox_check(soldier->mailbox,
                              schedq_done(soldier->worker, popped.token) == SCHEDQ_OK);
                if (atomic_fetch_add(&hall->taken, 1) + 1 == PRODUCERS * PODS_EACH)
                    mailbox_check(soldier->mailbox, schedq_close(soldier->queue) == SCHEDQ_OK);
            }
        } while (status == SCHEDQ_OK && soldier->number % 2 == 0);
    }
}

static void
produce_or_consume(soldier_t *soldier)
{
    if (soldier->number < PRODUCERS)
        produce(soldier);
    else
        consume(soldier);
}

static void
several_loops_take_every_pod_of_one_queue(void **state)
{
    fixture_t *fixture = *state;
    hall_t hall = {.fd = descriptor(fixture)};
    squad_run(fixture, PRODUCERS + LOOPS, 1, produce_or_consume, &hall);
    assert_int_equal(atomic_load(&hall.taken), PRODUCERS * PODS_EACH);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(a_queue_has_one_descriptor_which_is_readable_at_first),
        fx_test(it_is_readable_from_the_first_pod_until_a_pop_finds_nothing),
        fx_test(a_batch_that_finds_nothing_arms_it_too),
        fx_test(a_pod_that_an_event_frees_makes_it_readable),
        fx_test(a_pod_that_time_frees_makes_it_readable),
        fx_test(a_group_that_a_waiting_pop_frees_makes_it_readable),
        fx_test(a_deadline_that_becomes_sooner_makes_it_readable),
        fx_test(close_makes_it_readable_for_ever),
        fx_test(a_pop_that_waits_leaves_it_alone),
        fx_test(the_callback_is_called_once_until_a_pop_finds_nothing),
        fx_test(a_queue_may_have_a_callback_and_a_descriptor),
        fx_test(a_callback_comes_before_the_first_worker),
        fx_test(the_next_deadline_is_never_before_now),
        fx_test(what_is_missing_is_refused),
        fx_test(several_loops_take_every_pod_of_one_queue),
    };
    return fx_run_tests(argc, argv, tests);
}
