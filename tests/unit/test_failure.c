/*
 * How a cycle ends without success: parked, backing off, retried because of an event, or GONE and
 * STALE.
 */
#include <string.h>

#include "fixture.h"

static void
a_rejected_pod_is_parked(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 3);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_advance(fixture, SEC(2));
    schedq_result_t result = fx_fail(fixture, &popped, fit->bit, 0);
    assert_place(result.place, SCHEDQ_PARKED);
    assert_true(result.pod.bits == pod.bits);
    assert_int_equal(result.to_parked, 1);
    assert_int_equal(result.to_active + result.to_backoff + result.to_gated, 0);
    assert_int_equal(result.poppable, 0);
    assert_ns_equal(result.timestamp_ns, FX_START + SEC(2));
    schedq_pod_info_t info = fx_info(fixture, pod);
    assert_int_equal(info.unschedulable, fit->bit);
    assert_int_equal(info.history.rejections, 1);
    assert_int_equal(info.history.errors, 0);
    assert_int_equal(info.history.attempts, 1);
    assert_ns_equal(info.history.timestamp_ns, FX_START + SEC(2));
    fx_pop_nothing(fixture);
}

static void
a_pod_that_only_waits_is_parked_too(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *wait = fx_plugin(fixture, "Wait", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_place(fx_fail(fixture, &popped, 0, wait->bit).place, SCHEDQ_PARKED);
    assert_int_equal(fx_info(fixture, pod).history.rejections, 1);
    assert_int_equal(fx_info(fixture, pod).pending, wait->bit);
}

static void
an_error_backs_off_and_never_parks(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_result_t result = fx_fail(fixture, &popped, 0, 0);
    assert_place(result.place, SCHEDQ_ERROR_BACKOFF);
    assert_int_equal(result.to_backoff, 1);
    assert_int_equal(result.poppable, 0);
    assert_int_equal(fx_info(fixture, pod).history.errors, 1);
    assert_int_equal(fx_info(fixture, pod).history.rejections, 0);
    fx_pop_nothing(fixture);
}

static void
with_errors_park_an_error_parks(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.errors_park = 1;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_place(fx_fail(fixture, &popped, 0, 0).place, SCHEDQ_PARKED);
}

static void
without_backoff_an_error_is_active_at_once(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_backoff_ns = 0;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_result_t result = fx_fail(fixture, &popped, 0, 0);
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_int_equal(result.to_active, 1);
    assert_int_equal(result.poppable, 1);
}

static void
a_rejection_ends_the_count_of_errors_and_an_error_keeps_that_of_rejections(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    static const struct {
        bool error;
        unsigned errors, rejections;
    } steps[] = {{true, 1, 0},  {true, 2, 0}, {false, 0, 1},
                 {false, 0, 2}, {true, 1, 2}, {false, 0, 3}};
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        schedq_popped_t popped = fx_pop(fixture, "ns/a");
        fx_fail(fixture, &popped, steps[i].error ? 0 : fit->bit, 0);
        assert_int_equal(fx_info(fixture, pod).history.errors, steps[i].errors);
        assert_int_equal(fx_info(fixture, pod).history.rejections, steps[i].rejections);
        assert_int_equal(fx_info(fixture, pod).history.attempts, i + 1);
        assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    }
}

/* ---- events during the flight ---- */

static void
an_event_during_the_flight_brings_the_pod_back_after_its_backoff(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    schedq_result_t result = fx_fail(fixture, &popped, fit->bit, 0);
    assert_place(result.place, SCHEDQ_BACKOFF);
    assert_int_equal(result.to_backoff, 1);
    assert_int_equal(result.poppable, 1);
}

static void
an_event_before_the_pop_does_not_count(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/other", 9);
    fx_pop(fixture, "ns/other");
    fx_add(fixture, "ns/a", 0);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
    assert_int_equal(fit->hint_calls, 0);
}

static void
the_hint_is_asked_about_each_event_of_the_flight(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 77;
    fx_add_spec(fixture, "ns/a", &spec);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_NODE_ADD;
    for (uint64_t i = 1; i <= 3; i++) {
        change.old_object = 10 * i;
        change.new_object = 10 * i + 1;
        assert_ok(schedq_notify(fx_worker(fixture), &change, NULL));
    }
    assert_int_equal(fit->hint_calls, 0);
    fit->hint = SCHEDQ_HINT_SKIP;
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
    assert_int_equal(fit->hint_calls, 3);
    assert_int_equal(fit->hint_pod, 77);
    assert_int_equal(fit->hint_old, 30);
    assert_int_equal(fit->hint_new, 31);
}

static void
an_event_that_concerns_other_plugins_parks(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *volume = fx_plugin(fixture, "Volume", "PersistentVolume", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_fail(fixture, &popped, volume->bit, 0).place, SCHEDQ_PARKED);
    assert_int_equal(fit->hint_calls, 0);
}

static void
an_event_wanted_by_a_plugin_that_only_waits_skips_the_backoff(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *wait = fx_plugin(fixture, "Wait", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    schedq_result_t result = fx_fail(fixture, &popped, fit->bit, wait->bit);
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_int_equal(result.poppable, 1);
}

static void
a_plugin_in_both_sets_counts_as_one_that_waits(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_fail(fixture, &popped, fit->bit, fit->bit).place, SCHEDQ_ACTIVE);
}

static void
a_waiting_plugin_that_says_skip_leaves_the_choice_to_the_others(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *wait = fx_plugin(fixture, "Wait", "Node", SCHEDQ_ACTION_ADD);
    wait->hint = SCHEDQ_HINT_SKIP;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_fail(fixture, &popped, fit->bit, wait->bit).place, SCHEDQ_BACKOFF);
}

static void
a_later_event_may_raise_what_an_earlier_one_decided(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *wait = fx_plugin(fixture, "Wait", "PersistentVolume", SCHEDQ_ACTION_ADD);
    schedq_event_t volume_add;
    assert_ok(schedq_event_define(fx_queue(fixture), "PersistentVolume", SCHEDQ_ACTION_ADD, NULL,
                                  &volume_add, NULL, 0));
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    fx_move(fixture, volume_add);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_fail(fixture, &popped, fit->bit, wait->bit).place, SCHEDQ_ACTIVE);
}

static void
a_wildcard_during_the_flight_brings_every_pod_back(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *deaf = fx_plugin(fixture, "Deaf", NULL, 0);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_move(fixture, SCHEDQ_EVENT_WILDCARD);
    assert_place(fx_fail(fixture, &popped, deaf->bit, 0).place, SCHEDQ_BACKOFF);
}

static void
a_late_rejector_hears_of_every_event_of_the_flight(void **state)
{
    fixture_t *fixture = *state;
    uint64_t late = schedq_rejector_bit(fx_queue(fixture), 0, "Late", 4);
    assert_true(late != 0);
    for (int i = 0; i < 2; i++) {
        fx_add(fixture, "ns/a", 0);
        schedq_popped_t popped = fx_pop(fixture, "ns/a");
        fx_move(fixture, SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION);
        schedq_result_t result =
            fx_fail(fixture, &popped, i == 0 ? late : SCHEDQ_REJECTOR_OTHERS, 0);
        assert_place(result.place, SCHEDQ_BACKOFF);
        assert_ok(schedq_delete(fx_worker(fixture), result.pod, NULL));
    }
}

static void
a_name_without_a_bit_hears_of_events_before_it_was_ever_used(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_move(fixture, SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION);
    assert_place(fx_fail(fixture, &popped, SCHEDQ_REJECTOR_OTHERS, 0).place, SCHEDQ_BACKOFF);
}

static void
a_late_name_hears_of_events_before_it_came(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_move(fixture, SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION);
    uint64_t late = schedq_rejector_bit(fx_queue(fixture), 0, "Late", 4);
    assert_place(fx_fail(fixture, &popped, late, 0).place, SCHEDQ_BACKOFF);
}

static void
a_late_name_parks_if_nothing_happened(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_move(fixture, SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    uint64_t late = schedq_rejector_bit(fx_queue(fixture), 0, "Late", 4);
    assert_place(fx_fail(fixture, &popped, late, 0).place, SCHEDQ_PARKED);
}

static void
more_events_than_the_log_keeps_count_as_one_that_helps(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.event_log = 4;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fit->hint = SCHEDQ_HINT_SKIP;
    fx_add(fixture, "ns/a", 1);
    fx_add(fixture, "ns/b", 0);
    schedq_popped_t a = fx_pop(fixture, "ns/a"), b = fx_pop(fixture, "ns/b");
    for (int i = 0; i < 2; i++)
        fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_fail(fixture, &a, fit->bit, 0).place, SCHEDQ_PARKED);
    for (int i = 0; i < 20; i++)
        fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_fail(fixture, &b, fit->bit, 0).place, SCHEDQ_BACKOFF);
}

/* ---- tokens ---- */

static void
a_token_works_once(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_token_alive(fx_worker(fixture), popped.token));
    fx_fail(fixture, &popped, fit->bit, 0);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_token_t used = popped.token;
    assert_status(schedq_fail(fx_worker(fixture), &used, &failure, NULL), SCHEDQ_STALE);
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_STALE);
    assert_status(schedq_token_alive(fx_worker(fixture), popped.token), SCHEDQ_STALE);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
}

static void
the_token_of_an_earlier_cycle_does_not_end_the_next_one(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_backoff_ns = 0;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t first = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &first, 0, 0);
    schedq_popped_t second = fx_pop(fixture, "ns/a");
    assert_true(first.token.bits != second.token.bits);
    assert_status(schedq_done(fx_worker(fixture), first.token), SCHEDQ_STALE);
    fx_done(fixture, &second);
    assert_status(schedq_done(fx_worker(fixture), second.token), SCHEDQ_STALE);
}

static void
expect_gone_once(fixture_t *fixture,
                 schedq_status_t (*end)(fixture_t *fixture, const schedq_popped_t *popped))
{
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    assert_status(schedq_token_alive(fx_worker(fixture), popped.token), SCHEDQ_GONE);
    assert_status(end(fixture, &popped), SCHEDQ_GONE);
    assert_status(schedq_token_alive(fx_worker(fixture), popped.token), SCHEDQ_STALE);
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_STALE);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

static schedq_status_t
end_by_done(fixture_t *fixture, const schedq_popped_t *popped)
{
    return schedq_done(fx_worker(fixture), popped->token);
}

static schedq_status_t
end_by_failure(fixture_t *fixture, const schedq_popped_t *popped)
{
    schedq_token_t token = popped->token;
    schedq_result_t result;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = fixture->plugins[0].bit;
    schedq_status_t status = schedq_fail(fx_worker(fixture), &token, &failure, &result);
    assert_int_equal(result.object, popped->object);
    assert_place(result.place, SCHEDQ_NOWHERE);
    return status;
}

static void
the_holder_of_a_deleted_pod_who_is_done_gets_gone_once(void **state)
{
    expect_gone_once(*state, end_by_done);
}

static void
the_holder_of_a_deleted_pod_who_failed_gets_gone_once(void **state)
{
    fx_plugin(*state, "Fit", "Node", SCHEDQ_ACTION_ADD);
    expect_gone_once(*state, end_by_failure);
}

static void
a_token_is_used_up_by_done(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_token_alive(fx_worker(fixture), popped.token));
    fx_done(fixture, &popped);
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_STALE);
    assert_status(schedq_token_alive(fx_worker(fixture), popped.token), SCHEDQ_STALE);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
}

static void
done_many_answers_for_each_token(void **state)
{
    fixture_t *fixture = *state;
    uint8_t statuses[4] = {9, 9, 9, 9};
    fx_add(fixture, "ns/a", 3);
    schedq_pod_t doomed = fx_add(fixture, "ns/b", 2);
    fx_add(fixture, "ns/c", 1);
    schedq_popped_t a = fx_pop(fixture, "ns/a"), b = fx_pop(fixture, "ns/b"),
                    c = fx_pop(fixture, "ns/c");
    assert_ok(schedq_delete(fx_worker(fixture), doomed, NULL));
    const schedq_token_t tokens[] = {a.token, b.token, a.token, c.token};
    assert_status(schedq_done_many(fx_worker(fixture), tokens, 4, statuses), SCHEDQ_GONE);
    assert_int_equal(statuses[0], SCHEDQ_OK);
    assert_int_equal(statuses[1], SCHEDQ_GONE);
    assert_int_equal(statuses[2], SCHEDQ_STALE);
    assert_int_equal(statuses[3], SCHEDQ_OK);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
    assert_ok(schedq_done_many(fx_worker(fixture), NULL, 0, NULL));
}

static void
a_token_may_be_used_by_another_worker(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    schedq_worker_t *other;
    assert_ok(schedq_worker_register(fx_queue(fixture), &other, NULL, 0));
    schedq_popped_t popped;
    assert_ok(schedq_try_pop(other, &popped));
    assert_ok(schedq_worker_unregister(other));
    fx_done(fixture, &popped);
}

/* ---- the newest description ---- */

static void
the_newest_description_replaces_the_popped_one(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = fit->bit;
    schedq_pod_spec_t newest = SCHEDQ_POD_SPEC_INIT;
    failure.newest = &newest;
    newest = fx_spec(8);
    newest.object = 4242;
    newest.flags = SCHEDQ_POD_AFFINITY;
    newest.timestamp_ns = 1;
    schedq_result_t result;
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, &result));
    assert_int_equal(result.object, popped.object);
    schedq_pod_info_t info = fx_info(fixture, pod);
    assert_int_equal(info.object, 4242);
    assert_int_equal(info.priority, 8);
    assert_int_equal(info.flags, SCHEDQ_POD_AFFINITY);
    assert_ns_equal(info.history.timestamp_ns, fx_now(fixture));
    fx_add(fixture, "ns/b", 5);
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    assert_int_equal(fx_pop(fixture, "ns/a").priority, 8);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(the_holder_of_a_deleted_pod_who_is_done_gets_gone_once),
        fx_test(a_token_is_used_up_by_done),
        fx_test(done_many_answers_for_each_token),
        fx_test(a_token_may_be_used_by_another_worker),
        fx_test(a_rejected_pod_is_parked),
        fx_test(a_pod_that_only_waits_is_parked_too),
        fx_test(an_error_backs_off_and_never_parks),
        fx_test(with_errors_park_an_error_parks),
        fx_test(without_backoff_an_error_is_active_at_once),
        fx_test(a_rejection_ends_the_count_of_errors_and_an_error_keeps_that_of_rejections),
        fx_test(an_event_during_the_flight_brings_the_pod_back_after_its_backoff),
        fx_test(an_event_before_the_pop_does_not_count),
        fx_test(the_hint_is_asked_about_each_event_of_the_flight),
        fx_test(an_event_that_concerns_other_plugins_parks),
        fx_test(an_event_wanted_by_a_plugin_that_only_waits_skips_the_backoff),
        fx_test(a_plugin_in_both_sets_counts_as_one_that_waits),
        fx_test(a_waiting_plugin_that_says_skip_leaves_the_choice_to_the_others),
        fx_test(a_later_event_may_raise_what_an_earlier_one_decided),
        fx_test(a_wildcard_during_the_flight_brings_every_pod_back),
        fx_test(a_late_rejector_hears_of_every_event_of_the_flight),
        fx_test(a_name_without_a_bit_hears_of_events_before_it_was_ever_used),
        fx_test(a_late_name_hears_of_events_before_it_came),
        fx_test(a_late_name_parks_if_nothing_happened),
        fx_test(more_events_than_the_log_keeps_count_as_one_that_helps),
        fx_test(a_token_works_once),
        fx_test(the_token_of_an_earlier_cycle_does_not_end_the_next_one),
        fx_test(the_holder_of_a_deleted_pod_who_failed_gets_gone_once),
        fx_test(the_newest_description_replaces_the_popped_one),
    };
    return fx_run_tests(argc, argv, tests);
}
