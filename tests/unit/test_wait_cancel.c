/*
 * Ending one worker's wait, and waiting for many pods. No time is asserted.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "squad.h"

/* ---- many ------------------------------------------------------------------------------------ */

static void
add_three(fixture_t *fixture)
{
    fx_add(fixture, "ns/a", 1);
    fx_add(fixture, "ns/b", 3);
    fx_add(fixture, "ns/c", 2);
}

static void
what_is_there_is_taken_in_order_up_to_the_capacity(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped[4];
    size_t count = 9;
    add_three(fixture);
    assert_ok(schedq_pop_many_until(fx_worker(fixture), 0, popped, 2, &count));
    assert_int_equal(count, 2);
    assert_string_equal(popped[0].name, "ns/b");
    assert_string_equal(popped[1].name, "ns/c");
    assert_int_equal(popped[1].more, 1);
    assert_ok(schedq_pop_many_for(fx_worker(fixture), INT64_MAX, popped, 4, &count));
    assert_int_equal(count, 1);
    assert_string_equal(popped[0].name, "ns/a");
    assert_status(schedq_pop_many_until(fx_worker(fixture), 0, popped, 4, &count), SCHEDQ_TIMEDOUT);
    assert_int_equal(count, 0);
    assert_status(schedq_pop_many_for(fx_worker(fixture), 0, popped, 4, &count), SCHEDQ_TIMEDOUT);
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_status(schedq_pop_many_for(fx_worker(fixture), SEC(9), popped, 4, &count),
                  SCHEDQ_CLOSED);
}

static void
a_wait_on_a_real_clock_ends(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped[4];
    size_t count = 9;
    fx_use_real_clock(fixture);
    assert_status(schedq_pop_many_for(fx_worker(fixture), MS(2), popped, 4, &count),
                  SCHEDQ_TIMEDOUT);
    assert_int_equal(count, 0);
}

static void
what_is_out_of_range_is_refused_in_words(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_popped_t popped;
    size_t count = 9;
    assert_status(schedq_pop_many_for(worker, -1, &popped, 1, &count), SCHEDQ_INVALID);
    assert_string_equal(schedq_worker_error(worker), "wait_ns -1: 0..9223372036854775807");
    assert_status(schedq_pop_many_until(worker, 0, &popped, 0, &count), SCHEDQ_INVALID);
    assert_string_equal(schedq_worker_error(worker), "capacity 0: at least 1");
    assert_status(schedq_pop_many_until(worker, 0, NULL, 1, &count), SCHEDQ_INVALID);
    assert_status(schedq_pop_many_until(worker, 0, &popped, 1, NULL), SCHEDQ_INVALID);
    assert_status(schedq_pop_many_until(NULL, 0, &popped, 1, &count), SCHEDQ_INVALID);
    assert_int_equal(count, 9);
}

/* ---- cancel ---------------------------------------------------------------------------------- */

static void
a_cancel_ends_the_next_wait_and_no_other(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_popped_t popped[3];
    size_t count = 9;
    add_three(fixture);
    assert_ok(schedq_wait_cancel(worker));
    assert_ok(schedq_wait_cancel(worker));
    fx_done(fixture, &(schedq_popped_t){.token = fx_pop(fixture, "ns/b").token});
    assert_status(schedq_pop(worker, popped), SCHEDQ_CANCELED);
    assert_ok(schedq_pop(worker, popped));
    assert_string_equal(popped[0].name, "ns/c");
    assert_ok(schedq_wait_cancel(worker));
    assert_status(schedq_pop_many_until(worker, 0, popped, 3, &count), SCHEDQ_CANCELED);
    assert_int_equal(count, 0);
    assert_ok(schedq_pop_many_until(worker, 0, popped, 3, &count));
    assert_ok(schedq_wait_cancel(worker));
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_status(schedq_pop(worker, popped), SCHEDQ_CANCELED);
    assert_status(schedq_pop(worker, popped), SCHEDQ_CLOSED);
}

static void
a_worker_that_is_registered_anew_is_not_cancelled(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker;
    schedq_popped_t popped;
    assert_ok(schedq_worker_register(fx_queue(fixture), &worker, NULL, 0));
    assert_ok(schedq_wait_cancel(worker));
    assert_ok(schedq_worker_unregister(worker));
    assert_ok(schedq_worker_register(fx_queue(fixture), &worker, NULL, 0));
    assert_status(schedq_pop_until(worker, 0, &popped), SCHEDQ_TIMEDOUT);
    assert_ok(schedq_worker_unregister(worker));
}

/* ---- sleepers that are cancelled ------------------------------------------------------------- */

enum { SLEEPERS = 6 };

typedef struct dormitory {
    atomic_uint canceled, popped;
    schedq_worker_t *_Atomic workers[SLEEPERS];
} dormitory_t;

/* Soldier 0 cancels them one by one. */
static void
sleep_or_cancel(soldier_t *soldier)
{
    dormitory_t *dormitory = soldier->ctx;
    schedq_popped_t popped;
    if (soldier->number > 0) {
        atomic_store(&dormitory->workers[soldier->number - 1], soldier->worker);
        schedq_status_t status = schedq_pop(soldier->worker, &popped);
        mailbox_check(soldier->mailbox, status == SCHEDQ_CANCELED);
        atomic_fetch_add(&dormitory->canceled, 1);
        return;
    }
    for (unsigned i = 0; i < SLEEPERS; i++) {
        while (atomic_load(&dormitory->workers[i]) == NULL)
            (void)sched_yield();
        for (unsigned pause = 0; pause < i * 20; pause++)
            (void)sched_yield();
        mailbox_check(soldier->mailbox,
                      schedq_wait_cancel(atomic_load(&dormitory->workers[i])) == SCHEDQ_OK);
        while (atomic_load(&dormitory->canceled) != i + 1)
            (void)sched_yield();
    }
}

static void
each_cancel_ends_one_sleep(void **state)
{
    fixture_t *fixture = *state;
    dormitory_t dormitory = {0};
    squad_run(fixture, SLEEPERS + 1, 1, sleep_or_cancel, &dormitory);
    assert_int_equal(atomic_load(&dormitory.canceled), SLEEPERS);
}

enum { PODS = 600 };

/*
 * A pod at a time, each taken before the next comes, while sleepers are cancelled at random: a
 * wake-up that a cancel swallowed would leave the pod, and the test would hang.
 */
static void
pop_through_cancels(soldier_t *soldier)
{
    dormitory_t *dormitory = soldier->ctx;
    schedq_popped_t popped[2];
    schedq_status_t status = SCHEDQ_OK;
    size_t count;
    atomic_store(&dormitory->workers[soldier->number - 2], soldier->worker);
    while (status != SCHEDQ_CLOSED) {
        status = schedq_pop_many_until(soldier->worker, SCHEDQ_NO_DEADLINE, popped, 2, &count);
        if (status == SCHEDQ_OK) {
            for (size_t i = 0; i < count; i++)
                mailbox_check(soldier->mailbox,
                              schedq_done(soldier->worker, popped[i].token) == SCHEDQ_OK);
            atomic_fetch_add(&dormitory->popped, (unsigned)count);
        } else {
            mailbox_check(soldier->mailbox, status == SCHEDQ_CANCELED || status == SCHEDQ_CLOSED);
        }
    }
}

static void
add_one_by_one(soldier_t *soldier)
{
    dormitory_t *dormitory = soldier->ctx;
    char name[32];
    for (unsigned i = 0; i < PODS; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        schedq_pod_spec_t spec = fx_spec(0);
        mailbox_check(soldier->mailbox,
                      schedq_add(soldier->worker, name, strlen(name), &spec, NULL) == SCHEDQ_OK);
        while (atomic_load(&dormitory->popped) != i + 1)
            (void)sched_yield();
    }
    mailbox_check(soldier->mailbox, schedq_close(soldier->queue) == SCHEDQ_OK);
}

static void
cancel_at_random(soldier_t *soldier)
{
    dormitory_t *dormitory = soldier->ctx;
    uint64_t random = soldier->seed | 1;
    while (atomic_load(&dormitory->popped) < PODS) {
        random ^= random << 13, random ^= random >> 7, random ^= random << 17;
        schedq_worker_t *worker = atomic_load(&dormitory->workers[random % SLEEPERS]);
        if (worker != NULL)
            mailbox_check(soldier->mailbox, schedq_wait_cancel(worker) == SCHEDQ_OK);
        (void)sched_yield();
    }
}

static void
take_a_part(soldier_t *soldier)
{
    if (soldier->number == 0)
        add_one_by_one(soldier);
    else if (soldier->number == 1)
        cancel_at_random(soldier);
    else
        pop_through_cancels(soldier);
}

static void
no_pod_is_lost_between_a_cancel_and_a_wake_up(void **state)
{
    fixture_t *fixture = *state;
    dormitory_t dormitory = {0};
    squad_run(fixture, SLEEPERS + 2, 1, take_a_part, &dormitory);
    assert_int_equal(atomic_load(&dormitory.popped), PODS);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(what_is_there_is_taken_in_order_up_to_the_capacity),
        fx_test(a_wait_on_a_real_clock_ends),
        fx_test(what_is_out_of_range_is_refused_in_words),
        fx_test(a_cancel_ends_the_next_wait_and_no_other),
        fx_test(a_worker_that_is_registered_anew_is_not_cancelled),
        fx_test(each_cancel_ends_one_sleep),
        fx_test(no_pod_is_lost_between_a_cancel_and_a_wake_up),
    };
    return fx_run_tests(argc, argv, tests);
}
