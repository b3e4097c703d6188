/*
 * Priorities cost while pods have them, and nothing afterwards: none is FULL for those that were.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

static void
name_of(char *name, size_t size, int64_t i)
{
    snprintf(name, size, "ns/%lld", (long long)i);
}

static schedq_pod_t
add(fixture_t *fixture, int64_t i, int32_t priority)
{
    char name[32];
    name_of(name, sizeof name, i);
    return fx_add(fixture, name, priority);
}

static void
pop_and_end(fixture_t *fixture, int32_t priority)
{
    schedq_popped_t popped;
    assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
    assert_int_equal(popped.priority, priority);
    fx_done(fixture, &popped);
}

static uint64_t
bytes(fixture_t *fixture)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    assert_ok(schedq_stats(fx_queue(fixture), &stats));
    return stats.bytes_queues;
}

/* More than a 16-bit number holds, each with one pod. */
enum { MANY = 70000, FEW = 10000 };

static void
one_after_the_other(fixture_t *fixture, int32_t count, int32_t from, int32_t step)
{
    for (int32_t i = 0; i < count; i++) {
        add(fixture, i, from + i * step);
        pop_and_end(fixture, from + i * step);
    }
    fx_pop_nothing(fixture);
}

static void
priorities_that_come_one_after_the_other_leave_nothing(void **state)
{
    fixture_t *fixture = *state;
    one_after_the_other(fixture, MANY, 0, 3);
    uint64_t first = bytes(fixture);
    one_after_the_other(fixture, FEW, 0, -3);
    one_after_the_other(fixture, FEW, INT32_MIN, 30011);
    assert_true(bytes(fixture) <= 2 * first + 1000000);
    assert_true(bytes(fixture) < 4000000);
    pop_and_end(fixture, (add(fixture, 1, 2000001000), 2000001000));
}

/* Nothing is popped that stands below, so no pop ever looks there. */
static void
priorities_whose_pods_are_deleted_leave_nothing(void **state)
{
    fixture_t *fixture = *state;
    add(fixture, -1, INT32_MAX);
    for (int32_t i = 0; i < FEW; i++) {
        schedq_pod_t pod = add(fixture, i, i);
        assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    }
    assert_true(bytes(fixture) < 4000000);
    pop_and_end(fixture, INT32_MAX);
    fx_pop_nothing(fixture);
}

/* A few pods are there all the time; each of them leaves when as many others have come. */
static void
priorities_that_rise_or_fall_leave_nothing(void **unused)
{
    enum { THERE = 100 };
    (void)unused;
    for (unsigned way = 0; way < 4; way++) {
        fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
        char name[32];
        for (int32_t i = 0; i < FEW; i++) {
            add(fixture, i, way % 2 == 0 ? i : -i);
            if (i < THERE)
                continue;
            if (way < 2) {
                schedq_popped_t popped;
                assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
                fx_done(fixture, &popped);
            } else {
                name_of(name, sizeof name, i - THERE);
                assert_ok(schedq_delete_name(fx_worker(fixture), name, strlen(name), NULL));
            }
        }
        assert_int_equal(fx_stats(fixture).active, THERE);
        assert_true(bytes(fixture) < 4000000);
        fx_free(fixture);
    }
}

static void
many_priorities_at_once_are_popped_in_order(void **state)
{
    fixture_t *fixture = *state;
    enum { COUNT = 20011 };
    assert_ok(schedq_trim(fx_queue(fixture)));
    for (int64_t i = 0; i < COUNT; i++)
        add(fixture, i, (int32_t)(i * 7919 % COUNT));
    for (int32_t i = COUNT - 1; i >= 0; i--)
        pop_and_end(fixture, i);
    fx_pop_nothing(fixture);
    for (unsigned i = 0; i < 3; i++) {
        assert_ok(schedq_trim(fx_queue(fixture)));
        fx_tick(fixture);
    }
    assert_true(bytes(fixture) < 4000000);
}

/* As many low ones as the table was made for once, then two that come and go. */
static void
two_priorities_that_come_and_go_are_never_full(void **state)
{
    fixture_t *fixture = *state;
    for (int32_t i = 0; i < 1024; i++) {
        add(fixture, i, i);
        pop_and_end(fixture, i);
    }
    for (int32_t i = 0; i < MANY; i++) {
        add(fixture, i, i % 2 == 0 ? 2000 : 3000);
        pop_and_end(fixture, i % 2 == 0 ? 2000 : 3000);
    }
    pop_and_end(fixture, (add(fixture, 1, 2000001000), 2000001000));
    pop_and_end(fixture, (add(fixture, 1, 1023), 1023));
}

static void
a_failure_brings_any_priority_after_many_others(void **state)
{
    fixture_t *fixture = *state;
    one_after_the_other(fixture, MANY, 0, 1);
    add(fixture, 1, 5);
    schedq_popped_t popped = fx_pop(fixture, "ns/1");
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_pod_spec_t newest = SCHEDQ_POD_SPEC_INIT;
    failure.newest = &newest;
    newest.priority = MANY + 1;
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL));
    schedq_pod_spec_t spec = fx_spec(7);
    add(fixture, 2, 6);
    assert_ok(schedq_update(fx_worker(fixture), "ns/2", 4, &spec, 0, NULL, 0, NULL));
    pop_and_end(fixture, 7);
}

/* Updates bring priorities too. */
static void
one_pod_has_many_priorities_one_after_the_other(void **state)
{
    fixture_t *fixture = *state;
    add(fixture, 1, -1);
    for (int32_t i = 0; i < FEW; i++) {
        schedq_pod_spec_t spec = fx_spec(i);
        assert_ok(schedq_update(fx_worker(fixture), "ns/1", 4, &spec, 0, NULL, 0, NULL));
    }
    assert_true(bytes(fixture) < 4000000);
    pop_and_end(fixture, FEW - 1);
}

/* The second pod's priority is known, and its row may be gone between any two calls. */
static void
pods_among_thousands_of_priorities_are_found_by_name_and_moved(void **state)
{
    fixture_t *fixture = *state;
    char name[32];
    for (int32_t i = 0; i < 3000; i++)
        add(fixture, i, i);
    for (int32_t i = 0; i < 3000; i += 2) {
        name_of(name, sizeof name, i);
        schedq_pod_spec_t spec = fx_spec(10000 + i);
        assert_ok(schedq_update(fx_worker(fixture), name, strlen(name), &spec, 0, NULL, 0, NULL));
        if (i % 100 == 0)
            assert_ok(schedq_trim(fx_queue(fixture)));
    }
    for (int32_t i = 2998; i >= 0; i -= 2)
        pop_and_end(fixture, 10000 + i);
    for (int32_t i = 2999; i >= 0; i -= 2)
        pop_and_end(fixture, i);
    fx_pop_nothing(fixture);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(priorities_that_come_one_after_the_other_leave_nothing),
        fx_test(priorities_whose_pods_are_deleted_leave_nothing),
        cmocka_unit_test(priorities_that_rise_or_fall_leave_nothing),
        fx_test(many_priorities_at_once_are_popped_in_order),
        fx_test(two_priorities_that_come_and_go_are_never_full),
        fx_test(a_failure_brings_any_priority_after_many_others),
        fx_test(one_pod_has_many_priorities_one_after_the_other),
        fx_test(pods_among_thousands_of_priorities_are_found_by_name_and_moved),
    };
    const fx_group_t groups[] = {fx_group(tests, FX_ANY_ENGINE)};
    return fx_run_groups(argc, argv, groups);
}
