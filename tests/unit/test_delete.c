/*
 * Deletion: from every place, by handle or by name; of a pod in flight it frees the name and tells
 * the holder.
 */
#include <string.h>

#include "fixture.h"

static void
each_waiting_place_lets_go_of_a_deleted_pod(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    static const char *const names[] = {"ns/backoff", "ns/error", "ns/parked", "ns/gated",
                                        "ns/active"};
    const fx_waiting_t waiting = fx_wait_everywhere(fixture, fit, gate);
    const schedq_pod_t pods[] = {waiting.backoff, waiting.error, waiting.parked, waiting.gated,
                                 fx_add(fixture, "ns/active", 0)};
    const uint64_t rejectors[] = {fit->bit, 0, fit->bit, gate->bit, 0};
    fx_assert_counts(fixture, 1, 1, 1, 1, 1, 0);

    for (int i = 0; i < 5; i++) {
        uint64_t object = fx_info(fixture, pods[i]).object;
        schedq_result_t result;
        if (i % 2 == 0)
            assert_ok(schedq_delete(fx_worker(fixture), pods[i], &result));
        else
            assert_ok(schedq_delete_name(fx_worker(fixture), names[i], strlen(names[i]), &result));
        assert_true(result.pod.bits == pods[i].bits);
        assert_true(result.object == object);
        assert_true(result.unschedulable == rejectors[i]);
        assert_place(result.place, SCHEDQ_NOWHERE);
        assert_place(fx_place(fixture, names[i]), SCHEDQ_NOWHERE);
        assert_status(schedq_delete(fx_worker(fixture), pods[i], NULL), SCHEDQ_NOT_FOUND);
    }
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
    assert_int_equal(fx_stats(fixture).deletes, 5);
    fx_pop_nothing(fixture);
    fx_pass(fixture, SEC(3600));
    fx_move(fixture, SCHEDQ_EVENT_WILDCARD);
    fx_pop_nothing(fixture);
}

static void
an_unknown_name_or_handle_is_not_found(void **state)
{
    fixture_t *fixture = *state;
    schedq_result_t result;
    memset(&result, 0xff, sizeof result);
    assert_status(schedq_delete_name(fx_worker(fixture), "ns/a", 4, &result), SCHEDQ_NOT_FOUND);
    assert_int_equal(result.pod.bits, 0);
    schedq_pod_t invented = {UINT64_C(0x123456789abcdef)};
    assert_status(schedq_delete(fx_worker(fixture), invented, NULL), SCHEDQ_NOT_FOUND);
    assert_status(schedq_delete(fx_worker(fixture), (schedq_pod_t){UINT64_MAX}, NULL),
                  SCHEDQ_NOT_FOUND);
    assert_int_equal(fx_stats(fixture).deletes, 0);
}

static void
the_handle_of_a_former_pod_deletes_nothing(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t former = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
    fx_add(fixture, "ns/a", 0);
    assert_status(schedq_delete(fx_worker(fixture), former, NULL), SCHEDQ_NOT_FOUND);
    fx_pop(fixture, "ns/a");
}

static void
no_handle_names_no_pod(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    assert_status(schedq_delete(fx_worker(fixture), (schedq_pod_t){0}, NULL), SCHEDQ_NOT_FOUND);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
}

/* ---- in flight ---- */

static void
deleting_in_flight_frees_the_name_at_once(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t first = fx_add(fixture, "ns/a", 0);
    schedq_popped_t cycle = fx_pop(fixture, "ns/a");
    schedq_result_t result;
    assert_ok(schedq_delete_name(fx_worker(fixture), "ns/a", 4, &result));
    assert_true(result.pod.bits == first.bits);
    assert_int_equal(result.object, cycle.object);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
    schedq_pod_t second = fx_add(fixture, "ns/a", 0);
    assert_true(first.bits != second.bits);
    assert_status(schedq_done(fx_worker(fixture), cycle.token), SCHEDQ_GONE);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    schedq_popped_t again = fx_pop(fixture, "ns/a");
    assert_true(again.pod.bits == second.bits);
    assert_int_equal(again.history.attempts, 1);
    assert_status(schedq_done(fx_worker(fixture), cycle.token), SCHEDQ_STALE);
    fx_done(fixture, &again);
}

static void
the_name_stays_readable_for_the_holder_of_a_deleted_pod(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    fx_add(fixture, "ns/a", 0);
    fx_add(fixture, "ns/b", 0);
    assert_string_equal(popped.name, "ns/a");
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_GONE);
}

static void
a_pod_in_flight_is_deleted_once(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    assert_status(schedq_delete(fx_worker(fixture), pod, NULL), SCHEDQ_NOT_FOUND);
    assert_status(schedq_delete_name(fx_worker(fixture), "ns/a", 4, NULL), SCHEDQ_NOT_FOUND);
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_GONE);
}

static void
a_deleted_pod_in_flight_is_no_longer_found_by_its_handle(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_GONE);
    fx_seen_t seen;
    assert_status(schedq_get(fx_worker(fixture), pod, fx_see, &seen), SCHEDQ_NOT_FOUND);
}

static void
a_deleted_pod_in_flight_cannot_be_nominated(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    fx_pop(fixture, "ns/a");
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    assert_status(schedq_nominate(fx_worker(fixture), pod, 5), SCHEDQ_NOT_FOUND);
}

static void
two_cycles_of_one_name_are_done_apart(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t first = fx_add(fixture, "ns/a", 0);
    schedq_popped_t one = fx_pop(fixture, "ns/a");
    assert_ok(schedq_delete(fx_worker(fixture), first, NULL));
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t two = fx_pop(fixture, "ns/a");
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 2);
    fx_done(fixture, &two);
    assert_status(schedq_done(fx_worker(fixture), one.token), SCHEDQ_GONE);
    assert_status(schedq_done(fx_worker(fixture), two.token), SCHEDQ_STALE);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

static void
two_cycles_of_one_name_end_apart(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t first = fx_add(fixture, "ns/a", 0);
    schedq_popped_t one = fx_pop(fixture, "ns/a");
    assert_ok(schedq_delete(fx_worker(fixture), first, NULL));
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t two = fx_pop(fixture, "ns/a");
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 2);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = fit->bit;
    assert_place(fx_fail(fixture, &two, fit->bit, 0).place, SCHEDQ_PARKED);
    assert_status(schedq_fail(fx_worker(fixture), &one.token, &failure, NULL), SCHEDQ_GONE);
    fx_assert_counts(fixture, 0, 0, 0, 1, 0, 0);
}

static void
deleting_the_best_of_many_leaves_the_order_of_the_others(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pods[9];
    char name[] = "ns/0";
    for (int i = 0; i < 9; i++) {
        name[3] = (char)('0' + i);
        pods[i] = fx_add(fixture, name, (i * 4) % 9);
    }
    for (int priority = 8; priority >= 0; priority -= 2) {
        for (int i = 0; i < 9; i++) {
            if ((i * 4) % 9 == priority)
                assert_ok(schedq_delete(fx_worker(fixture), pods[i], NULL));
        }
    }
    for (int priority = 7; priority > 0; priority -= 2) {
        schedq_popped_t popped;
        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
        assert_int_equal(popped.priority, priority);
    }
    fx_pop_nothing(fixture);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(an_unknown_name_or_handle_is_not_found),
        fx_test(the_handle_of_a_former_pod_deletes_nothing),
        fx_test(no_handle_names_no_pod),
        fx_test(deleting_in_flight_frees_the_name_at_once),
        fx_test(the_name_stays_readable_for_the_holder_of_a_deleted_pod),
        fx_test(a_pod_in_flight_is_deleted_once),
        fx_test(a_deleted_pod_in_flight_is_no_longer_found_by_its_handle),
        fx_test(two_cycles_of_one_name_are_done_apart),
        fx_test(deleting_the_best_of_many_leaves_the_order_of_the_others),
        fx_test(each_waiting_place_lets_go_of_a_deleted_pod),
        fx_test(two_cycles_of_one_name_end_apart),
        fx_test(a_deleted_pod_in_flight_cannot_be_nominated),
    };
    return fx_run_tests(argc, argv, tests);
}
