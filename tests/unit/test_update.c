/*
 * An update replaces a pod's description where it is; its events decide whether a waiting pod is
 * tried again.
 */
#include <string.h>

#include "fixture.h"

static schedq_result_t
update(fixture_t *fixture, const char *name, int32_t priority, uint64_t object,
       schedq_event_t event)
{
    schedq_pod_spec_t spec = fx_spec(priority);
    schedq_result_t result;
    spec.object = object;
    spec.flags = SCHEDQ_POD_ADD;
    assert_ok(schedq_update(fx_worker(fixture), name, strlen(name), &spec, 7,
                            event != 0 ? &event : NULL, event != 0 ? 1 : 0, &result));
    return result;
}

static void
an_unknown_pod_is_added(void **state)
{
    fixture_t *fixture = *state;
    schedq_result_t result = update(fixture, "ns/a", 4, 11, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE);
    assert_int_equal(result.added, 1);
    assert_int_equal(result.to_active, 1);
    assert_int_equal(result.poppable, 1);
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_ns_equal(result.timestamp_ns, FX_START);
    assert_int_equal(fx_pop(fixture, "ns/a").object, 11);
    assert_int_equal(fx_stats(fixture).adds, 1);
}

static void
an_unknown_pod_may_be_gated(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    gate->refuses = true;
    schedq_result_t result = update(fixture, "ns/a", 4, 11, 0);
    assert_int_equal(result.added, 1);
    assert_int_equal(result.to_gated, 1);
    assert_place(result.place, SCHEDQ_GATED);
}

static void
an_unknown_pod_is_not_added_after_close(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/there", 0);
    assert_ok(schedq_close(fx_queue(fixture)));
    schedq_pod_spec_t spec = fx_spec(0);
    spec.flags = SCHEDQ_POD_ADD;
    assert_status(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL),
                  SCHEDQ_CLOSED);
    assert_int_equal(update(fixture, "ns/there", 3, 9, 0).added, 0);
}

static schedq_status_t
update_only(fixture_t *fixture, const char *name, schedq_pod_t only, int32_t priority,
            uint64_t object, schedq_result_t *result)
{
    const schedq_event_t event = SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE;
    schedq_pod_spec_t spec = fx_spec(priority);
    spec.object = object;
    spec.flags = SCHEDQ_POD_AFFINITY;
    spec.only = only;
    return schedq_update(fx_worker(fixture), name, strlen(name), &spec, 7, &event, 1, result);
}

static schedq_status_t
update_existing(fixture_t *fixture, const char *name, int32_t priority, uint64_t object,
                schedq_result_t *result)
{
    return update_only(fixture, name, (schedq_pod_t){0}, priority, object, result);
}

static schedq_result_t
found_or_nothing(fixture_t *fixture, const char *name)
{
    schedq_result_t result;
    (void)schedq_find(fx_worker(fixture), name, strlen(name), &result);
    return result;
}

static void
not_this_pod_and_nothing_changed(fixture_t *fixture, const char *name, schedq_pod_t only)
{
    const schedq_result_t nothing = {0};
    schedq_stats_t before = fx_stats(fixture);
    schedq_result_t found = found_or_nothing(fixture, name), result;
    memset(&result, 0xff, sizeof result);
    assert_status(update_only(fixture, name, only, 4, 11, &result), SCHEDQ_NOT_FOUND);
    assert_memory_equal(&result, &nothing, sizeof result);
    assert_string_equal(schedq_worker_error(fx_worker(fixture)), "");
    schedq_stats_t after = fx_stats(fixture);
    assert_memory_equal(&after, &before, sizeof after);
    result = found_or_nothing(fixture, name);
    assert_memory_equal(&result, &found, sizeof result);
}

static void
not_found_and_nothing_changed(fixture_t *fixture, const char *name)
{
    not_this_pod_and_nothing_changed(fixture, name, (schedq_pod_t){0});
    assert_place(fx_place(fixture, name), SCHEDQ_NOWHERE);
}

static void
an_unknown_pod_is_not_added_if_only_existing_ones_are_meant(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/there", 0);
    not_found_and_nothing_changed(fixture, "ns/a");
    assert_ok(schedq_close(fx_queue(fixture)));
    not_found_and_nothing_changed(fixture, "ns/a");
}

static void
a_pod_that_left_is_unknown(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/done", 3);
    fx_add(fixture, "ns/deleted", 2);
    fx_add(fixture, "ns/deleted-in-flight", 1);
    schedq_popped_t done = fx_pop(fixture, "ns/done");
    fx_done(fixture, &done);
    assert_ok(schedq_delete_name(fx_worker(fixture), "ns/deleted", 10, NULL));
    schedq_popped_t popped = fx_pop(fixture, "ns/deleted-in-flight");
    assert_ok(schedq_delete(fx_worker(fixture), popped.pod, NULL));
    not_found_and_nothing_changed(fixture, "ns/done");
    not_found_and_nothing_changed(fixture, "ns/deleted");
    not_found_and_nothing_changed(fixture, "ns/deleted-in-flight");
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_GONE);
}

static void
an_update_of_existing_pods_is_an_update(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Pod", SCHEDQ_ACTION_UPDATE);
    schedq_result_t result;
    fx_park(fixture, "ns/parked", fit->bit);
    fx_add(fixture, "ns/active", 1);
    fx_advance(fixture, SEC(5));
    assert_ok(update_existing(fixture, "ns/active", 6, 11, &result));
    assert_int_equal(result.added, 0);
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_ok(update_existing(fixture, "ns/parked", 5, 12, &result));
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_ok(update_existing(fixture, "ns/active", 4, 13, &result));
    assert_int_equal(result.object, 11);
    fx_pop(fixture, "ns/parked");
    schedq_popped_t popped = fx_pop(fixture, "ns/active");
    assert_int_equal(popped.object, 13);
    assert_int_equal(popped.flags, SCHEDQ_POD_AFFINITY);
    assert_ok(update_existing(fixture, "ns/active", 4, 14, &result));
    assert_place(result.place, SCHEDQ_INFLIGHT);
    assert_int_equal(fx_info(fixture, popped.pod).flags, SCHEDQ_POD_AFFINITY);
    assert_int_equal(fx_stats(fixture).adds, 2);
}

static void
an_update_of_one_pod_reaches_it_all_its_life(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    schedq_result_t result;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    assert_ok(update_only(fixture, "ns/a", pod, 6, 11, &result));
    assert_place(result.place, SCHEDQ_ACTIVE);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(popped.object, 11);
    assert_ok(update_only(fixture, "ns/a", pod, 5, 12, &result));
    assert_place(result.place, SCHEDQ_INFLIGHT);
    assert_int_equal(result.object, 11);
    fx_fail(fixture, &popped, fit->bit, 0);
    assert_ok(update_only(fixture, "ns/a", pod, 4, 13, &result));
    assert_place(result.place, SCHEDQ_PARKED);
    assert_int_equal(result.object, 12);
    assert_true(result.pod.bits == pod.bits);
    assert_int_equal(fx_info(fixture, pod).object, 13);
}

static void
an_update_of_another_pod_than_has_the_name_changes_nothing(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t other = fx_add(fixture, "ns/other", 9);
    schedq_popped_t popped = fx_pop(fixture, "ns/other");
    fx_add(fixture, "ns/a", 0);
    not_this_pod_and_nothing_changed(fixture, "ns/a", other);
    not_this_pod_and_nothing_changed(fixture, "ns/a", (schedq_pod_t){UINT64_MAX});
    not_this_pod_and_nothing_changed(fixture, "ns/unknown", other);
    schedq_popped_t flying = fx_pop(fixture, "ns/a");
    not_this_pod_and_nothing_changed(fixture, "ns/a", other);
    fx_done(fixture, &flying);
    fx_done(fixture, &popped);
}

/* The record that a pod leaves is the first to be given out again. */
static void
an_update_of_a_pod_that_ended_does_not_reach_the_next_one_of_its_name(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t placed = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
    not_this_pod_and_nothing_changed(fixture, "ns/a", placed);
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;
    assert_ok(
        schedq_readd(fx_worker(fixture), "ns/a", 4, &spec, &popped.history, &failure, &result));
    assert_true(result.pod.bits != placed.bits);
    not_this_pod_and_nothing_changed(fixture, "ns/a", placed);

    schedq_pod_t readded = result.pod;
    assert_ok(schedq_delete(fx_worker(fixture), readded, NULL));
    fx_add(fixture, "ns/a", 0);
    not_this_pod_and_nothing_changed(fixture, "ns/a", readded);

    popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_delete(fx_worker(fixture), popped.pod, NULL));
    schedq_pod_t next = fx_add(fixture, "ns/a", 0);
    not_this_pod_and_nothing_changed(fixture, "ns/a", popped.pod);
    assert_ok(update_only(fixture, "ns/a", next, 4, 13, NULL));
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_GONE);
}

/* It is unknown before anything else is asked about it. */
static void
an_update_of_another_pod_may_have_another_profile(void **state)
{
    fixture_t *fixture = *state;
    schedq_profile_t profile;
    assert_ok(schedq_profile_define(fx_queue(fixture), "second", &profile, NULL, 0));
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_pod_spec_t spec = fx_spec(3);
    spec.profile = profile;
    spec.only.bits = pod.bits ^ 1;
    assert_status(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL),
                  SCHEDQ_NOT_FOUND);
    spec.only = pod;
    assert_status(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL),
                  SCHEDQ_INVALID);
}

static void
an_active_pod_is_replaced_in_place(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 1);
    uint64_t replaced = fx_info(fixture, pod).object;
    fx_advance(fixture, SEC(1));
    fx_add(fixture, "ns/b", 2);
    fx_advance(fixture, SEC(1));
    schedq_result_t result = update(fixture, "ns/a", 3, 11, 0);
    assert_true(result.pod.bits == pod.bits);
    assert_int_equal(result.added, 0);
    assert_int_equal(result.to_active, 0);
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_int_equal(result.object, replaced);
    assert_int_equal(fx_find(fixture, "ns/a").object, 11);
    assert_ns_equal(result.timestamp_ns, FX_START);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(popped.object, 11);
    assert_int_equal(popped.priority, 3);
    assert_ns_equal(popped.history.timestamp_ns, FX_START);
    fx_pop(fixture, "ns/b");
}

static void
a_lower_priority_takes_effect_at_once(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 9);
    fx_add(fixture, "ns/b", 5);
    update(fixture, "ns/a", 1, 11, 0);
    fx_pop(fixture, "ns/b");
    fx_pop(fixture, "ns/a");
}

static void
an_update_of_an_active_pod_asks_no_hint_and_no_gate(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_ALL);
    fx_add(fixture, "ns/a", 0);
    gate->refuses = true;
    unsigned asked = gate->gate_calls;
    assert_place(update(fixture, "ns/a", 0, 11, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL).place,
                 SCHEDQ_ACTIVE);
    assert_int_equal(gate->gate_calls, asked);
    assert_int_equal(gate->hint_calls, 0);
    fx_pop(fixture, "ns/a");
}

static void
a_pod_that_backs_off_is_replaced_in_place(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pods[2];
    pods[0] = fx_err(fixture, "ns/error");
    pods[1] = fx_back_off(fixture, "ns/backoff", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    fx_advance(fixture, MS(200));
    int64_t expiry = fx_info(fixture, pods[0]).backoff_expiry_ns;
    schedq_result_t result =
        update(fixture, "ns/error", 3, 11, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL);
    assert_place(result.place, SCHEDQ_ERROR_BACKOFF);
    result = update(fixture, "ns/backoff", 4, 12, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL);
    assert_place(result.place, SCHEDQ_BACKOFF);
    assert_int_equal(result.unschedulable, fit->bit);
    assert_int_equal(result.to_active + result.to_backoff, 0);
    for (int i = 0; i < 2; i++) {
        schedq_pod_info_t info = fx_info(fixture, pods[i]);
        assert_int_equal(info.object, 11 + i);
        assert_int_equal(info.priority, 3 + i);
        assert_ns_equal(info.backoff_expiry_ns, expiry);
        assert_ns_equal(info.history.timestamp_ns, FX_START);
        assert_int_equal(info.history.attempts, 1);
    }
}

static void
a_parked_pod_without_events_stays(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Pod", SCHEDQ_ACTION_ALL);
    schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
    fx_advance(fixture, SEC(60));
    schedq_result_t result = update(fixture, "ns/a", 6, 11, 0);
    assert_place(result.place, SCHEDQ_PARKED);
    assert_int_equal(result.unschedulable, fit->bit);
    assert_int_equal(result.to_active + result.to_backoff + result.to_parked + result.to_gated, 0);
    assert_int_equal(fit->hint_calls, 0);
    assert_int_equal(fx_info(fixture, pod).object, 11);
    assert_int_equal(fx_info(fixture, pod).priority, 6);
}

static void
a_parked_pod_is_tried_again_if_an_event_helps(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Pod", SCHEDQ_ACTION_UPDATE_POD_LABEL);
    schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
    fx_advance(fixture, SEC(60));
    schedq_result_t result =
        update(fixture, "ns/a", 6, 11, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL);
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_int_equal(result.to_active, 1);
    assert_int_equal(result.poppable, 1);
    assert_int_equal(result.unschedulable, fit->bit);
    assert_ns_equal(result.timestamp_ns, FX_START);
    assert_int_equal(fit->hint_pod, 11);
    assert_int_equal(fit->hint_old, 7);
    assert_int_equal(fit->hint_new, 11);
    assert_ns_equal(fx_info(fixture, pod).history.timestamp_ns, FX_START);
    assert_int_equal(fx_pop(fixture, "ns/a").priority, 6);
}

static void
a_parked_pod_that_is_backing_off_goes_to_backoff(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Pod", SCHEDQ_ACTION_UPDATE_POD_LABEL);
    fx_park(fixture, "ns/a", fit->bit);
    schedq_result_t result =
        update(fixture, "ns/a", 0, 11, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL);
    assert_place(result.place, SCHEDQ_BACKOFF);
    assert_int_equal(result.to_backoff, 1);
    assert_int_equal(result.poppable, 1);
}

static void
a_parked_pod_stays_if_no_event_helps(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Pod", SCHEDQ_ACTION_UPDATE_POD_LABEL);
    fx_park(fixture, "ns/a", fit->bit);
    assert_place(
        update(fixture, "ns/a", 0, 11, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_DOWN).place,
        SCHEDQ_PARKED);
    assert_int_equal(fit->hint_calls, 0);
    fit->hint = SCHEDQ_HINT_SKIP;
    assert_place(update(fixture, "ns/a", 0, 11, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL).place,
                 SCHEDQ_PARKED);
    assert_int_equal(fit->hint_calls, 1);
}

static void
the_first_event_that_moves_a_pod_ends_the_deciding(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit =
        fx_plugin(fixture, "Fit", "Pod",
                  SCHEDQ_ACTION_UPDATE_POD_LABEL | SCHEDQ_ACTION_UPDATE_POD_TOLERATION);
    fx_park(fixture, "ns/a", fit->bit);
    const schedq_event_t events[] = {SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_DOWN,
                                     SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL,
                                     SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_TOLERATION};
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_result_t result;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, events, 3, &result));
    assert_place(result.place, SCHEDQ_BACKOFF);
    assert_int_equal(result.to_backoff, 1);
    assert_int_equal(fit->hint_calls, 1);
}

static void
a_gated_pod_is_asked_for_by_events_of_its_rejectors(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED);
    gate->refuses = true;
    fx_add(fixture, "ns/a", 0);
    gate->refuses = false;
    assert_place(update(fixture, "ns/a", 0, 11, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE).place,
                 SCHEDQ_GATED);
    assert_int_equal(gate->gate_calls, 1);
    schedq_result_t result =
        update(fixture, "ns/a", 0, 12, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED);
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_int_equal(result.to_active, 1);
    assert_int_equal(result.gate, 0);
    assert_int_equal(gate->gate_pod, 12);
}

static void
a_gated_pod_that_is_refused_again_stays_gated(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED);
    gate->refuses = true;
    fx_add(fixture, "ns/a", 0);
    schedq_result_t result =
        update(fixture, "ns/a", 0, 12, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED);
    assert_place(result.place, SCHEDQ_GATED);
    assert_int_equal(result.gate, gate->gate);
    assert_int_equal(result.to_active, 0);
    assert_int_equal(gate->gate_calls, 2);
}

/*
 * The first event passes for the rejector that is pending, at once and so to the gate; the second
 * for the gate, to backoff.
 */
static void
backoff_keeps_the_gate_that_an_earlier_event_of_the_update_led_to(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.pop_from_backoff = 0;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Pod", SCHEDQ_ACTION_UPDATE_POD_LABEL);
    fx_plugin_t *other = fx_plugin(fixture, "Other", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Pod", SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED);
    const schedq_event_t events[] = {SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL,
                                     SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED};
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_result_t result;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, other->bit, fit->bit);
    gate->refuses = true;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, events, 2, &result));
    assert_place(result.place, SCHEDQ_BACKOFF);
    assert_int_equal(result.to_gated, 1);
    assert_int_equal(result.to_backoff, 1);
    assert_int_equal(result.gate, gate->gate);
}

/* ---- in flight ---- */

static void
the_holder_keeps_what_it_popped_and_others_see_the_update(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_result_t result = update(fixture, "ns/a", 6, 11, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE);
    assert_place(result.place, SCHEDQ_INFLIGHT);
    assert_true(result.pod.bits == pod.bits);
    assert_int_equal(result.added, 0);
    assert_int_equal(result.object, popped.object);
    assert_ok(schedq_token_alive(fx_worker(fixture), popped.token));
    assert_int_equal(fx_info(fixture, pod).object, 11);
    assert_int_equal(fx_info(fixture, pod).priority, 6);
    assert_place(fx_info(fixture, pod).place, SCHEDQ_INFLIGHT);
    fx_pop_nothing(fixture);
    fx_done(fixture, &popped);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
}

static void
the_holder_keeps_what_it_popped_and_the_pod_returns_as_updated(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_result_t result = update(fixture, "ns/a", 6, 11, 0);
    assert_place(result.place, SCHEDQ_INFLIGHT);
    assert_true(result.pod.bits == pod.bits);
    assert_int_equal(result.added, 0);
    assert_ok(schedq_token_alive(fx_worker(fixture), popped.token));
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
    assert_int_equal(fx_info(fixture, pod).object, 11);
    assert_int_equal(fx_info(fixture, pod).priority, 6);
    fx_add(fixture, "ns/b", 5);
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    fx_pop(fixture, "ns/a");
}

static void
the_newest_description_of_the_failure_beats_the_update(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    update(fixture, "ns/a", 6, 11, 0);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = fit->bit;
    schedq_pod_spec_t newest = SCHEDQ_POD_SPEC_INIT;
    failure.newest = &newest;
    newest.object = 12;
    newest.priority = 7;
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL));
    assert_int_equal(fx_info(fixture, pod).object, 12);
    assert_int_equal(fx_info(fixture, pod).priority, 7);
}

static void
the_events_of_an_update_in_flight_count_when_the_pod_fails(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Pod", SCHEDQ_ACTION_UPDATE_POD_LABEL);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    update(fixture, "ns/a", 0, 11, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL);
    assert_int_equal(fit->hint_calls, 0);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_BACKOFF);
    assert_int_equal(fit->hint_calls, 1);
    assert_int_equal(fit->hint_old, 7);
    assert_int_equal(fit->hint_new, 11);
}

static void
an_update_in_flight_that_no_hint_wants_does_not_retry(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Pod", SCHEDQ_ACTION_UPDATE_POD_LABEL);
    fit->hint = SCHEDQ_HINT_SKIP;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    update(fixture, "ns/a", 0, 11, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
    assert_int_equal(fit->hint_calls, 1);
}

static void
in_kube_1_34_every_pod_in_flight_sees_the_update_of_one(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Pod", SCHEDQ_ACTION_UPDATE_POD_LABEL);
    fx_add(fixture, "ns/a", 1);
    fx_add(fixture, "ns/b", 0);
    fx_pop(fixture, "ns/a");
    schedq_popped_t b = fx_pop(fixture, "ns/b");
    update(fixture, "ns/a", 1, 11, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL);
    assert_place(fx_fail(fixture, &b, fit->bit, 0).place, SCHEDQ_BACKOFF);
    assert_int_equal(fit->hint_pod, b.object);
    assert_int_equal(fit->hint_new, 11);
}

static void
in_kube_1_26_an_update_in_flight_retries_nothing(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Pod", SCHEDQ_ACTION_ALL);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    update(fixture, "ns/a", 0, 11, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE);
    schedq_result_t result = fx_fail(fixture, &popped, fit->bit, 0);
    assert_place(result.place, SCHEDQ_PARKED);
    assert_int_equal(fx_info(fixture, result.pod).object, 11);
}

static void
in_kube_1_26_an_update_with_events_moves_a_parked_pod(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    fx_park(fixture, "ns/a", fit->bit);
    assert_place(update(fixture, "ns/a", 0, 11, 0).place, SCHEDQ_PARKED);
    assert_place(update(fixture, "ns/a", 0, 11, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE).place,
                 SCHEDQ_BACKOFF);
    fx_park(fixture, "ns/b", fit->bit);
    fx_advance(fixture, SEC(10));
    assert_place(update(fixture, "ns/b", 0, 11, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE).place,
                 SCHEDQ_ACTIVE);
}

static void
another_profile_is_refused_and_changes_nothing(void **state)
{
    fixture_t *fixture = *state;
    schedq_profile_t profile;
    assert_ok(schedq_profile_define(fx_queue(fixture), "batch", &profile, NULL, 0));
    schedq_pod_t pod = fx_add(fixture, "ns/a", 1);
    uint64_t object = fx_info(fixture, pod).object;
    schedq_pod_spec_t spec = fx_spec(9);
    spec.profile = profile;
    assert_status(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL),
                  SCHEDQ_INVALID);
    assert_contains(schedq_worker_error(fx_worker(fixture)), "profile");
    assert_int_equal(fx_info(fixture, pod).priority, 1);
    assert_int_equal(fx_info(fixture, pod).object, object);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(an_unknown_pod_is_added),
        fx_test(an_unknown_pod_is_not_added_after_close),
        fx_test(an_unknown_pod_is_not_added_if_only_existing_ones_are_meant),
        fx_test(a_pod_that_left_is_unknown),
        fx_test(an_update_of_existing_pods_is_an_update),
        fx_test(an_update_of_one_pod_reaches_it_all_its_life),
        fx_test(an_update_of_another_pod_than_has_the_name_changes_nothing),
        fx_test(an_update_of_a_pod_that_ended_does_not_reach_the_next_one_of_its_name),
        fx_test(an_update_of_another_pod_may_have_another_profile),
        fx_test(an_active_pod_is_replaced_in_place),
        fx_test(a_lower_priority_takes_effect_at_once),
        fx_test(the_holder_keeps_what_it_popped_and_others_see_the_update),
        fx_test(an_unknown_pod_may_be_gated),
        fx_test(an_update_of_an_active_pod_asks_no_hint_and_no_gate),
        fx_test(a_pod_that_backs_off_is_replaced_in_place),
        fx_test(a_parked_pod_without_events_stays),
        fx_test(a_parked_pod_is_tried_again_if_an_event_helps),
        fx_test(a_parked_pod_that_is_backing_off_goes_to_backoff),
        fx_test(a_parked_pod_stays_if_no_event_helps),
        fx_test(the_first_event_that_moves_a_pod_ends_the_deciding),
        fx_test(a_gated_pod_is_asked_for_by_events_of_its_rejectors),
        fx_test(a_gated_pod_that_is_refused_again_stays_gated),
        fx_test(backoff_keeps_the_gate_that_an_earlier_event_of_the_update_led_to),
        fx_test(the_holder_keeps_what_it_popped_and_the_pod_returns_as_updated),
        fx_test(the_newest_description_of_the_failure_beats_the_update),
        fx_test(the_events_of_an_update_in_flight_count_when_the_pod_fails),
        fx_test(an_update_in_flight_that_no_hint_wants_does_not_retry),
        fx_test_1_34(in_kube_1_34_every_pod_in_flight_sees_the_update_of_one),
        fx_test_1_26(in_kube_1_26_an_update_in_flight_retries_nothing),
        fx_test_1_26(in_kube_1_26_an_update_with_events_moves_a_parked_pod),
        fx_test(another_profile_is_refused_and_changes_nothing),
    };
    return fx_run_tests(argc, argv, tests);
}
