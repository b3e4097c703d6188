/* Workers: as many as there may be, coming and going, adopted; what they leave behind stays. */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "squad.h"

enum { MOST = 64 };

static void
register_all(fixture_t *fixture, schedq_worker_t *workers[MOST])
{
    for (unsigned i = 0; i < MOST; i++) {
        assert_ok(schedq_worker_register(fx_queue(fixture), &workers[i], fixture->why,
                                         sizeof fixture->why));
        assert_string_equal(fixture->why, "");
        assert_int_equal(fx_stats(fixture).workers, i + 1);
        for (unsigned j = 0; j < i; j++)
            assert_true(workers[i] != workers[j]);
    }
}

static void
as_many_as_there_may_be_work_side_by_side(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *workers[MOST], *more = (schedq_worker_t *)1;
    char name[16];
    for (int round = 0; round < 3; round++) {
        register_all(fixture, workers);
        assert_status(
            schedq_worker_register(fx_queue(fixture), &more, fixture->why, sizeof fixture->why),
            SCHEDQ_FULL);
        assert_null(more);
        assert_contains(fixture->why, "64");
        for (unsigned i = 0; i < MOST; i++) {
            snprintf(name, sizeof name, "ns/%u", i);
            schedq_pod_spec_t spec = fx_spec((int32_t)(i % 5));
            assert_ok(schedq_add(workers[i], name, strlen(name), &spec, NULL));
        }
        int32_t last = INT32_MAX;
        for (unsigned i = 0; i < MOST; i++) {
            schedq_popped_t popped;
            assert_ok(schedq_try_pop(workers[MOST - 1 - i], &popped));
            assert_true(popped.priority <= last);
            last = popped.priority;
            assert_ok(schedq_done(workers[(i + 7) % MOST], popped.token));
        }
        for (unsigned i = 0; i < MOST; i++)
            assert_ok(schedq_worker_unregister(workers[(i * 5) % MOST]));
        assert_int_equal(fx_stats(fixture).workers, 0);
    }
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
    assert_int_equal(fx_stats(fixture).adds, 3 * MOST);
    assert_int_equal(fx_stats(fixture).dones, 3 * MOST);
}

static void
pods_outlive_the_worker_that_added_or_popped_them(void **state)
{
    fixture_t *fixture = *state;
    char name[16];
    schedq_popped_t popped[300];
    for (unsigned i = 0; i < 300; i++) {
        schedq_worker_t *worker;
        assert_ok(schedq_worker_register(fx_queue(fixture), &worker, NULL, 0));
        snprintf(name, sizeof name, "ns/%u", i);
        schedq_pod_spec_t spec = fx_spec((int32_t)(i % 3));
        assert_ok(schedq_add(worker, name, strlen(name), &spec, NULL));
        assert_ok(schedq_worker_unregister(worker));
    }
    for (unsigned i = 0; i < 300; i++) {
        schedq_worker_t *worker;
        assert_ok(schedq_worker_register(fx_queue(fixture), &worker, NULL, 0));
        assert_ok(schedq_try_pop(worker, &popped[i]));
        snprintf(name, sizeof name, "ns/%u", i % 100 * 3 + (2 - i / 100));
        assert_string_equal(popped[i].name, name);
        assert_ok(schedq_worker_unregister(worker));
    }
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 300);
    for (unsigned i = 0; i < 300; i++)
        fx_done(fixture, &popped[i]);
    assert_int_equal(fx_stats(fixture).adds, 300);
    assert_int_equal(fx_stats(fixture).pops, 300);
}

static void
memory_does_not_grow_with_workers_that_come_and_go(void **state)
{
    fixture_t *fixture = *state;
    uint64_t after_first = 0;
    for (unsigned i = 0; i < 500; i++) {
        schedq_worker_t *worker;
        schedq_popped_t popped;
        assert_ok(schedq_worker_register(fx_queue(fixture), &worker, NULL, 0));
        schedq_pod_spec_t spec = fx_spec((int32_t)(i % 3));
        assert_ok(schedq_add(worker, "ns/a", 4, &spec, NULL));
        assert_ok(schedq_try_pop(worker, &popped));
        assert_ok(schedq_done(worker, popped.token));
        assert_ok(schedq_worker_unregister(worker));
        if (i == 100)
            after_first = atomic_load(&fixture->memory.bytes);
    }
    assert_int_equal(atomic_load(&fixture->memory.bytes), after_first);
}

static void
an_adopted_worker_goes_on(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker;
    schedq_popped_t popped;
    assert_ok(schedq_worker_register(fx_queue(fixture), &worker, NULL, 0));
    schedq_pod_spec_t spec = fx_spec(0);
    assert_ok(schedq_add(worker, "ns/a", 4, &spec, NULL));
    for (int i = 0; i < 3; i++) {
        assert_ok(schedq_worker_adopt(fx_queue(fixture), worker));
        assert_ok(schedq_try_pop(worker, &popped));
        assert_ok(schedq_worker_adopt(fx_queue(fixture), worker));
        assert_ok(schedq_done(worker, popped.token));
        assert_ok(schedq_add(worker, "ns/a", 4, &spec, NULL));
    }
    assert_int_equal(fx_stats(fixture).workers, 1);
    assert_ok(schedq_worker_unregister(worker));
    assert_int_equal(fx_stats(fixture).workers, 0);
    fx_pop(fixture, "ns/a");
}

/* An old pointer may be the address of the worker that the timer thread got. */
static void
the_timer_thread_s_worker_is_not_adopted(void **state)
{
    fixture_t *fixture = *state;
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_t *queue;
    schedq_worker_t *worker;
    config.engine = fixture->config.engine;
    assert_ok(schedq_create(&config, &queue, NULL, 0));
    for (int i = 0; i < 3; i++) {
        assert_ok(schedq_worker_register(queue, &worker, NULL, 0));
        assert_ok(schedq_worker_unregister(worker));
        assert_ok(schedq_run(queue, NULL, 0));
        assert_status(schedq_worker_adopt(queue, worker), SCHEDQ_INVALID);
        assert_ok(schedq_stop(queue));
    }
    assert_ok(schedq_worker_register(queue, &worker, NULL, 0));
    assert_ok(schedq_worker_adopt(queue, worker));
    assert_ok(schedq_worker_unregister(worker));
    assert_ok(schedq_destroy(queue, NULL, 0));
}

static void
a_new_worker_has_no_words_of_the_one_before(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker;
    for (int i = 0; i < 3; i++) {
        assert_ok(schedq_worker_register(fx_queue(fixture), &worker, NULL, 0));
        assert_string_equal(schedq_worker_error(worker), "");
        assert_status(schedq_try_pop(worker, NULL), SCHEDQ_INVALID);
        assert_true(strlen(schedq_worker_error(worker)) > 0);
        assert_ok(schedq_worker_unregister(worker));
    }
}

static void
reserving_workers_registers_none(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *workers[MOST];
    assert_ok(schedq_reserve(fx_queue(fixture), 0, 0, MOST, NULL, 0));
    assert_int_equal(fx_stats(fixture).workers, 0);
    register_all(fixture, workers);
    for (unsigned i = 0; i < MOST; i++)
        assert_ok(schedq_worker_unregister(workers[i]));
}

static void
after_close_workers_still_come_and_go(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker;
    schedq_popped_t popped;
    fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_ok(schedq_worker_register(fx_queue(fixture), &worker, NULL, 0));
    assert_ok(schedq_try_pop(worker, &popped));
    assert_ok(schedq_done(worker, popped.token));
    assert_status(schedq_try_pop(worker, &popped), SCHEDQ_CLOSED);
    assert_ok(schedq_worker_unregister(worker));
}

static void
come_and_go(soldier_t *soldier)
{
    char name[16];
    for (unsigned i = 0; i < 200; i++) {
        schedq_worker_t *worker;
        schedq_popped_t popped;
        if (!mailbox_check(soldier->mailbox,
                           schedq_worker_register(soldier->queue, &worker, NULL, 0) == SCHEDQ_OK))
            return;
        snprintf(name, sizeof name, "ns/%u-%u", soldier->number, i);
        schedq_pod_spec_t spec = fx_spec((int32_t)(i % 3));
        mailbox_check(soldier->mailbox,
                      schedq_add(worker, name, strlen(name), &spec, NULL) == SCHEDQ_OK);
        mailbox_check(soldier->mailbox, schedq_try_pop(worker, &popped) == SCHEDQ_OK);
        mailbox_check(soldier->mailbox, schedq_worker_unregister(worker) == SCHEDQ_OK);
        mailbox_check(soldier->mailbox, schedq_done(soldier->worker, popped.token) == SCHEDQ_OK);
    }
}

static void
workers_of_several_threads_come_and_go(void **state)
{
    fixture_t *fixture = *state;
    squad_run(fixture, 4, 0, come_and_go, NULL);
    assert_int_equal(fx_stats(fixture).workers, 0);
    assert_int_equal(fx_stats(fixture).adds, 800);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(as_many_as_there_may_be_work_side_by_side),
        fx_test(pods_outlive_the_worker_that_added_or_popped_them),
        fx_test(memory_does_not_grow_with_workers_that_come_and_go),
        fx_test(an_adopted_worker_goes_on),
        fx_test(the_timer_thread_s_worker_is_not_adopted),
        fx_test(a_new_worker_has_no_words_of_the_one_before),
        fx_test(reserving_workers_registers_none),
        fx_test(after_close_workers_still_come_and_go),
        fx_test(workers_of_several_threads_come_and_go),
    };
    return fx_run_tests(argc, argv, tests);
}
