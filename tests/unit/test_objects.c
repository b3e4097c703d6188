/*
 * Whose objects are alive how long: reference counts of COUNTED objects on every path, and what
 * BORROWED changes.
 */
#include <string.h>

#include "fixture.h"

static int
count(fixture_t *fixture, uint64_t object)
{
    return ledger_count(&fixture->ledger, object);
}

static fx_plugin_t *
counted_with_plugin(fixture_t *fixture)
{
    fx_count_objects(fixture);
    return fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
}

static schedq_pod_t
add_object(fixture_t *fixture, const char *name, uint64_t object)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = object;
    return fx_add_spec(fixture, name, &spec).pod;
}

static void
update_object(fixture_t *fixture, const char *name, uint64_t old_object, uint64_t object,
              schedq_event_t event)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = object;
    spec.flags = SCHEDQ_POD_ADD;
    assert_ok(
        schedq_update(fx_worker(fixture), name, strlen(name), &spec, old_object, &event, 1, NULL));
}

static void
an_active_pod_holds_one_reference_and_a_popped_one_two(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    add_object(fixture, "ns/a", 5);
    assert_int_equal(count(fixture, 5), 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(count(fixture, 5), 2);
    fx_done(fixture, &popped);
    assert_int_equal(count(fixture, 5), 0);
}

static void
a_waiting_pod_holds_one_reference_and_a_popped_one_two(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = counted_with_plugin(fixture);
    add_object(fixture, "ns/a", 5);
    assert_int_equal(count(fixture, 5), 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(count(fixture, 5), 2);
    fx_fail(fixture, &popped, fit->bit, 0);
    assert_int_equal(count(fixture, 5), 1);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_int_equal(count(fixture, 5), 1);
    popped = fx_pop(fixture, "ns/a");
    assert_int_equal(count(fixture, 5), 2);
    fx_done(fixture, &popped);
    assert_int_equal(count(fixture, 5), 0);
}

static void
an_add_that_fails_keeps_no_reference(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    add_object(fixture, "ns/a", 5);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 6;
    schedq_result_t result;
    assert_status(schedq_add(fx_worker(fixture), "ns/a", 4, &spec, &result), SCHEDQ_EXISTS);
    assert_int_equal(result.object, 5);
    assert_status(schedq_add(fx_worker(fixture), "ns/a", 0, &spec, NULL), SCHEDQ_INVALID);
    assert_ok(schedq_close(fx_queue(fixture)));
    spec = fx_spec(0);
    spec.object = 6;
    assert_status(schedq_add(fx_worker(fixture), "ns/b", 4, &spec, NULL), SCHEDQ_CLOSED);
    assert_int_equal(count(fixture, 6), 0);
    assert_int_equal(count(fixture, 5), 1);
}

static void
an_update_swaps_the_reference_in_every_waiting_place(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = counted_with_plugin(fixture);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    fx_wait_everywhere(fixture, fit, gate);
    fx_add(fixture, "ns/active", 0);
    static const char *const names[] = {"ns/backoff", "ns/error", "ns/parked", "ns/gated",
                                        "ns/active"};
    for (unsigned i = 0; i < 5; i++) {
        uint64_t before = fx_find(fixture, names[i]).object;
        assert_int_equal(count(fixture, before), 1);
        update_object(fixture, names[i], before, 10 + i, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE);
        assert_int_equal(count(fixture, before), 0);
        assert_int_equal(count(fixture, 10 + i), 1);
    }
}

static void
an_update_of_an_active_pod_swaps_the_reference(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    add_object(fixture, "ns/a", 5);
    update_object(fixture, "ns/a", 5, 14, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE);
    assert_int_equal(count(fixture, 5), 0);
    assert_int_equal(count(fixture, 14), 1);
    update_object(fixture, "ns/a", 14, 14, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE);
    assert_int_equal(count(fixture, 14), 1);
    schedq_pod_spec_t spec = fx_spec(77);
    spec.object = 15;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 14, NULL, 0, NULL));
    assert_int_equal(count(fixture, 14), 0);
    assert_int_equal(count(fixture, 15), 1);
}

static void
an_update_that_adds_holds_one_reference(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    update_object(fixture, "ns/a", 4, 5, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE);
    assert_int_equal(count(fixture, 4), 0);
    assert_int_equal(count(fixture, 5), 1);
}

static void
an_update_in_flight_leaves_the_holder_its_own_reference(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = counted_with_plugin(fixture);
    add_object(fixture, "ns/a", 5);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_event_t none = SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE;
    update_object(fixture, "ns/a", 0, 6, none);
    assert_int_equal(count(fixture, 5), 1);
    assert_int_equal(count(fixture, 6), 1);
    update_object(fixture, "ns/a", 0, 7, none);
    assert_int_equal(count(fixture, 6), 0);
    fx_fail(fixture, &popped, fit->bit, 0);
    assert_int_equal(count(fixture, 5), 0);
    assert_int_equal(count(fixture, 7), 1);
}

static void
done_after_an_update_in_flight_gives_both_objects_back(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    add_object(fixture, "ns/a", 5);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    update_object(fixture, "ns/a", 0, 6, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE);
    assert_int_equal(count(fixture, 5), 1);
    assert_int_equal(count(fixture, 6), 1);
    update_object(fixture, "ns/a", 0, 7, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE);
    assert_int_equal(count(fixture, 6), 0);
    fx_done(fixture, &popped);
    assert_int_equal(count(fixture, 5) + count(fixture, 6) + count(fixture, 7), 0);
}

static void
the_newest_description_takes_the_place_of_the_popped_object(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = counted_with_plugin(fixture);
    add_object(fixture, "ns/a", 5);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = fit->bit;
    schedq_pod_spec_t newest = SCHEDQ_POD_SPEC_INIT;
    failure.newest = &newest;
    newest.object = 6;
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL));
    assert_int_equal(count(fixture, 5), 0);
    assert_int_equal(count(fixture, 6), 1);
}

static void
a_deleted_pod_lets_go_of_its_object(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    schedq_pod_t active = add_object(fixture, "ns/a", 5);
    schedq_result_t result;
    assert_ok(schedq_delete(fx_worker(fixture), active, &result));
    assert_int_equal(result.object, 5);
    assert_int_equal(count(fixture, 5), 0);
}

/* A pod with object 6 that is deleted in flight. */
static schedq_popped_t
delete_in_flight(fixture_t *fixture)
{
    schedq_pod_t pod = add_object(fixture, "ns/b", 6);
    schedq_popped_t popped = fx_pop(fixture, "ns/b");
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    assert_true(count(fixture, 6) >= 1);
    return popped;
}

static void
a_pod_deleted_in_flight_lets_go_of_its_object_when_its_holder_is_done(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    schedq_popped_t popped = delete_in_flight(fixture);
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_GONE);
    assert_int_equal(count(fixture, 6), 0);
}

static void
a_pod_deleted_in_flight_lets_go_of_its_object_when_its_holder_failed(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = counted_with_plugin(fixture);
    schedq_popped_t popped = delete_in_flight(fixture);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = fit->bit;
    schedq_pod_spec_t newest = SCHEDQ_POD_SPEC_INIT;
    failure.newest = &newest;
    newest.object = 7;
    assert_status(schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL), SCHEDQ_GONE);
    assert_int_equal(count(fixture, 6), 0);
    assert_int_equal(count(fixture, 7), 0);
}

static void
a_readded_pod_holds_one_reference(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 5;
    schedq_history_t history = {0};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    assert_ok(schedq_readd(fx_worker(fixture), "ns/a", 4, &spec, &history, &failure, NULL));
    assert_int_equal(count(fixture, 5), 1);
    spec.object = 6;
    assert_status(schedq_readd(fx_worker(fixture), "ns/a", 4, &spec, &history, &failure, NULL),
                  SCHEDQ_EXISTS);
    assert_int_equal(count(fixture, 6), 0);
}

static schedq_status_t
send(fixture_t *fixture, uint64_t old_object, uint64_t new_object)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_NODE_ADD;
    change.old_object = old_object;
    change.new_object = new_object;
    return schedq_notify(fx_worker(fixture), &change, NULL);
}

static void
events_hold_their_objects_only_while_something_is_in_flight(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = counted_with_plugin(fixture);
    fit->hint = SCHEDQ_HINT_SKIP;
    add_object(fixture, "ns/parked", 4);
    schedq_popped_t popped = fx_pop(fixture, "ns/parked");
    fx_fail(fixture, &popped, fit->bit, 0);
    assert_ok(send(fixture, 20, 21));
    assert_int_equal(count(fixture, 20) + count(fixture, 21), 0);
    assert_int_equal(fit->hint_new, 21);

    add_object(fixture, "ns/a", 5);
    popped = fx_pop(fixture, "ns/a");
    assert_ok(send(fixture, 30, 31));
    assert_int_equal(count(fixture, 30), 1);
    assert_int_equal(count(fixture, 31), 1);
    fx_fail(fixture, &popped, fit->bit, 0);
    assert_int_equal(fit->hint_new, 31);
    assert_int_equal(fit->hint_old, 30);
}

static void
the_log_lets_go_of_what_it_overwrites(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.event_log = 4;
    fx_count_objects(fixture);
    add_object(fixture, "ns/a", 5);
    fx_pop(fixture, "ns/a");
    for (uint64_t i = 0; i < 100; i++)
        assert_ok(send(fixture, 0, 1000 + i));
    int held = 0;
    for (uint64_t i = 0; i < 100; i++)
        held += count(fixture, 1000 + i);
    assert_true(held <= 4);
}

static void
absent_objects_of_events_are_not_counted(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    add_object(fixture, "ns/a", 5);
    fx_pop(fixture, "ns/a");
    assert_ok(send(fixture, 0, 0));
    assert_int_equal(count(fixture, 0), 0);
}

static void
destroy_keeping_the_ledger(fixture_t *fixture)
{
    assert_ok(schedq_worker_unregister(fixture->worker));
    fixture->worker = NULL;
    assert_ok(schedq_destroy_with_pods(fixture->queue, NULL, 0));
    fixture->queue = NULL;
    assert_int_equal(ledger_sum(&fixture->ledger), 0);
}

static void
destroying_a_queue_gives_the_references_of_active_and_flying_pods_back(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    add_object(fixture, "ns/flying", 5);
    fx_pop(fixture, "ns/flying");
    schedq_pod_t doomed = add_object(fixture, "ns/doomed", 6);
    fx_pop(fixture, "ns/doomed");
    assert_ok(schedq_delete(fx_worker(fixture), doomed, NULL));
    update_object(fixture, "ns/flying", 5, 7, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL);
    add_object(fixture, "ns/active", 8);
    add_object(fixture, "ns/updated", 9);
    update_object(fixture, "ns/updated", 9, 10, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL);
    assert_int_equal(fx_stats(fixture).inflight, 2);
    assert_int_equal(count(fixture, 5), 1);
    assert_true(count(fixture, 6) >= 1);
    destroy_keeping_the_ledger(fixture);
}

static void
destroying_a_full_queue_gives_every_reference_back(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = counted_with_plugin(fixture);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    fx_wait_everywhere(fixture, fit, gate);
    add_object(fixture, "ns/flying", 5);
    fx_pop(fixture, "ns/flying");
    schedq_pod_t doomed = add_object(fixture, "ns/doomed", 6);
    fx_pop(fixture, "ns/doomed");
    assert_ok(schedq_delete(fx_worker(fixture), doomed, NULL));
    assert_ok(send(fixture, 30, 31));
    update_object(fixture, "ns/flying", 5, 7, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL);
    fx_add(fixture, "ns/active", 0);
    assert_int_equal(fx_stats(fixture).inflight, 2);
    /* also what pop gave: nobody can use those tokens any more */
    assert_int_equal(count(fixture, 5), 1);
    assert_true(count(fixture, 6) >= 1);
    destroy_keeping_the_ledger(fixture);
}

/* A visitor sees a pinned object; the pin is gone afterwards. */
static int
pinned(void *ctx, const schedq_pod_info_t *pod)
{
    fixture_t *fixture = ctx;
    assert_true(ledger_count(&fixture->ledger, pod->object) >= 2);
    return 1;
}

static void
a_visitor_of_one_pod_sees_a_pinned_object(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    schedq_pod_t pod = add_object(fixture, "ns/a", 5);
    assert_ok(schedq_get(fx_worker(fixture), pod, pinned, fixture));
    assert_int_equal(count(fixture, 5), 1);
}

static void
visitors_see_pinned_objects(void **state)
{
    fixture_t *fixture = *state;
    fx_count_objects(fixture);
    schedq_pod_t pod = add_object(fixture, "ns/a", 5);
    add_object(fixture, "ns/b", 6);
    assert_ok(schedq_nominate(fx_worker(fixture), pod, 3));
    assert_ok(schedq_get(fx_worker(fixture), pod, pinned, fixture));
    assert_ok(schedq_snapshot(fx_worker(fixture), pinned, fixture));
    assert_ok(schedq_nominated_pods(fx_worker(fixture), 3, pinned, fixture));
    assert_int_equal(count(fixture, 5), 1);
    assert_int_equal(count(fixture, 6), 1);
}

/* ---- BORROWED ---- */

/* A count would be a call of NULL. */
static void
a_borrowed_object_is_handed_out_and_never_counted(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.objects = SCHEDQ_OBJECTS_BORROWED;
    schedq_pod_t pod = add_object(fixture, "ns/a", 5);
    assert_int_equal(fx_info(fixture, pod).object, 5);
    update_object(fixture, "ns/a", 5, 6, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(popped.object, 6);
    fx_done(fixture, &popped);
    add_object(fixture, "ns/b", 7);
}

static void
a_pod_with_borrowed_objects_is_retried_after_any_event_that_concerns_it(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.objects = SCHEDQ_OBJECTS_BORROWED;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *deaf = fx_plugin(fixture, "Deaf", NULL, 0);
    fit->hint = SCHEDQ_HINT_SKIP;
    fx_add(fixture, "ns/a", 1);
    fx_add(fixture, "ns/b", 0);
    schedq_popped_t a = fx_pop(fixture, "ns/a"), b = fx_pop(fixture, "ns/b");
    assert_ok(send(fixture, 20, 21));
    assert_place(fx_fail(fixture, &a, fit->bit, 0).place, SCHEDQ_BACKOFF);
    assert_place(fx_fail(fixture, &b, deaf->bit, 0).place, SCHEDQ_PARKED);
    assert_int_equal(fit->hint_calls, 0);
}

static void
hints_see_borrowed_objects_of_events_while_the_call_lasts(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.objects = SCHEDQ_OBJECTS_BORROWED;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fit->hint = SCHEDQ_HINT_SKIP;
    fx_park(fixture, "ns/a", fit->bit);
    assert_ok(send(fixture, 20, 21));
    assert_int_equal(fit->hint_new, 21);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
}

static void
a_plugin_that_waits_does_not_skip_the_backoff_of_borrowed_objects(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.objects = SCHEDQ_OBJECTS_BORROWED;
    fx_plugin_t *wait = fx_plugin(fixture, "Wait", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(send(fixture, 20, 21));
    assert_place(fx_fail(fixture, &popped, 0, wait->bit).place, SCHEDQ_BACKOFF);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(an_active_pod_holds_one_reference_and_a_popped_one_two),
        fx_test(an_add_that_fails_keeps_no_reference),
        fx_test(an_update_of_an_active_pod_swaps_the_reference),
        fx_test(an_update_that_adds_holds_one_reference),
        fx_test(done_after_an_update_in_flight_gives_both_objects_back),
        fx_test(a_deleted_pod_lets_go_of_its_object),
        fx_test(a_pod_deleted_in_flight_lets_go_of_its_object_when_its_holder_is_done),
        fx_test(destroying_a_queue_gives_the_references_of_active_and_flying_pods_back),
        fx_test(a_visitor_of_one_pod_sees_a_pinned_object),
        fx_test(a_borrowed_object_is_handed_out_and_never_counted),
        fx_test(a_waiting_pod_holds_one_reference_and_a_popped_one_two),
        fx_test(an_update_swaps_the_reference_in_every_waiting_place),
        fx_test(an_update_in_flight_leaves_the_holder_its_own_reference),
        fx_test(the_newest_description_takes_the_place_of_the_popped_object),
        fx_test(a_pod_deleted_in_flight_lets_go_of_its_object_when_its_holder_failed),
        fx_test(a_readded_pod_holds_one_reference),
        fx_test(events_hold_their_objects_only_while_something_is_in_flight),
        fx_test(the_log_lets_go_of_what_it_overwrites),
        fx_test(absent_objects_of_events_are_not_counted),
        fx_test(destroying_a_full_queue_gives_every_reference_back),
        fx_test(a_pod_with_borrowed_objects_is_retried_after_any_event_that_concerns_it),
        fx_test(hints_see_borrowed_objects_of_events_while_the_call_lasts),
        fx_test(a_plugin_that_waits_does_not_skip_the_backoff_of_borrowed_objects),
        fx_test(visitors_see_pinned_objects),
    };
    return fx_run_tests(argc, argv, tests);
}
