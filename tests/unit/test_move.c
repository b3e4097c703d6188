/*
 * Cluster events: which pods they reach, what hints are asked, where the pods go. Matching is SPEC
 * 8.3.
 */
#include <stdio.h>

#include "fixture.h"

static schedq_result_t
move_with(fixture_t *fixture, schedq_event_t event, uint64_t old_object, uint64_t new_object,
          schedq_pod_t target)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_result_t result;
    change.event = event;
    change.old_object = old_object;
    change.new_object = new_object;
    change.target = target;
    assert_ok(schedq_notify(fx_worker(fixture), &change, &result));
    return result;
}

static schedq_event_t
define(fixture_t *fixture, const char *resource, uint32_t actions)
{
    schedq_event_t event = 0;
    assert_ok(schedq_event_define(fx_queue(fixture), resource, actions, NULL, &event, NULL, 0));
    return event;
}

static void
an_event_moves_the_pods_that_its_plugin_rejected(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *volume = fx_plugin(fixture, "Volume", "PersistentVolume", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/fit", fit->bit);
    fx_park(fixture, "ns/volume", volume->bit);
    fx_park(fixture, "ns/both", fit->bit | volume->bit);
    fx_advance(fixture, SEC(60));
    schedq_result_t result = fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_int_equal(result.to_active, 2);
    assert_int_equal(result.to_backoff + result.to_parked + result.to_gated, 0);
    assert_int_equal(result.poppable, 1);
    assert_place(fx_place(fixture, "ns/fit"), SCHEDQ_ACTIVE);
    assert_place(fx_place(fixture, "ns/both"), SCHEDQ_ACTIVE);
    assert_place(fx_place(fixture, "ns/volume"), SCHEDQ_PARKED);
    assert_int_equal(volume->hint_calls, 0);
    assert_int_equal(fx_stats(fixture).moves, 2);
    assert_int_equal(fx_stats(fixture).events, 1);
}

static void
an_event_that_concerns_no_plugin_changes_nothing(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    schedq_result_t result = fx_move(fixture, SCHEDQ_EVENT_NODE_DELETE);
    assert_int_equal(result.to_active + result.to_backoff, 0);
    assert_int_equal(result.poppable, 0);
    assert_int_equal(fit->hint_calls, 0);
    assert_int_equal(fx_stats(fixture).events, 0);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
}

static void
a_moved_pod_backs_off_while_its_backoff_lasts(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    fx_advance(fixture, SEC(1) - 1);
    schedq_result_t result = fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_int_equal(result.to_backoff, 1);
    assert_int_equal(result.poppable, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_BACKOFF);

    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit, 0);
    fx_advance(fixture, SEC(2));
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 1);
}

static void
a_moved_pod_keeps_its_timestamp_and_its_counters(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
    fx_advance(fixture, SEC(60));
    fx_add(fixture, "ns/younger", 0);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    schedq_pod_info_t info = fx_info(fixture, pod);
    assert_ns_equal(info.history.timestamp_ns, FX_START);
    assert_int_equal(info.history.attempts, 1);
    assert_int_equal(info.unschedulable, fit->bit);
    fx_pop(fixture, "ns/a");
    fx_pop(fixture, "ns/younger");
}

/* ---- hints ---- */

static void
a_hint_gets_the_pod_and_the_objects_of_the_event(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fit->hint = SCHEDQ_HINT_SKIP;
    uint64_t object = fx_info(fixture, fx_park(fixture, "ns/a", fit->bit)).object;
    schedq_result_t result = move_with(fixture, SCHEDQ_EVENT_NODE_ADD, 21, 22, (schedq_pod_t){0});
    assert_int_equal(result.to_active + result.to_backoff, 0);
    assert_int_equal(fit->hint_calls, 1);
    assert_int_equal(fit->hint_pod, object);
    assert_int_equal(fit->hint_old, 21);
    assert_int_equal(fit->hint_new, 22);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    assert_int_equal(fx_stats(fixture).hint_calls, 1);
}

static void
a_hint_that_fails_or_answers_nonsense_counts_as_queue(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    static const int answers[] = {SCHEDQ_HINT_ERROR, 3, 77};
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
        fit->hint = (schedq_hint_t)answers[i];
        schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
        assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_backoff, 1);
        assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    }
}

static void
an_interest_without_a_hint_wants_every_such_event(void **state)
{
    fixture_t *fixture = *state;
    const schedq_interest_t interest = {.resource = "Node", .actions = SCHEDQ_ACTION_ADD};
    fx_plugin_t *fit = fx_plugin_full(fixture, 0, "Fit", 0, &interest, 1, false);
    fx_park(fixture, "ns/a", fit->bit);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_backoff, 1);
    assert_int_equal(fx_stats(fixture).hint_calls, 0);
}

static void
one_of_several_rejectors_is_enough(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *no = fx_plugin(fixture, "No", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *yes = fx_plugin(fixture, "Yes", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *never_asked = fx_plugin(fixture, "NeverAsked", "Node", SCHEDQ_ACTION_ADD);
    no->hint = SCHEDQ_HINT_SKIP;
    fx_park(fixture, "ns/a", no->bit | yes->bit);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_backoff, 1);
    assert_int_equal(yes->hint_calls, 1);
    assert_int_equal(never_asked->hint_calls, 0);
}

static void
a_plugin_that_waits_skips_the_backoff(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *wait = fx_plugin(fixture, "Wait", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, 0, wait->bit);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 1);
}

static void
each_pod_is_judged_for_itself(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    char name[] = "ns/0";
    uint64_t chosen = 0;
    for (char i = '0'; i <= '9'; i++) {
        name[3] = i;
        uint64_t object = fx_info(fixture, fx_park(fixture, name, fit->bit)).object;
        if (i == '6')
            chosen = object;
    }
    fit->only_object = chosen;
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_backoff, 1);
    assert_int_equal(fit->hint_calls, 10);
    assert_place(fx_place(fixture, "ns/6"), SCHEDQ_BACKOFF);
    fx_assert_counts(fixture, 0, 1, 0, 9, 0, 0);
}

/* ---- matching ---- */

/*
 * Does an event {resource, actions} move a pod rejected by a plugin that registered {registered,
 * bits}?
 */
static void
check_match(const char *registered, uint32_t bits, const char *resource, uint32_t actions,
            bool expected)
{
    fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
    fx_plugin_t *plugin = fx_plugin(fixture, "Plugin", registered, bits);
    schedq_event_t event = define(fixture, resource, actions);
    fx_park(fixture, "ns/a", plugin->bit);
    schedq_result_t result = fx_move(fixture, event);
    if ((result.to_backoff == 1) != expected)
        print_error("registered %s:%x, incoming %s:%x, expected %d\n", registered, bits, resource,
                    actions, expected);
    assert_int_equal(result.to_backoff, expected);
    assert_int_equal(plugin->hint_calls, expected);
    fx_free(fixture);
}

static void
an_event_matches_by_resource_and_bits(void **state)
{
    (void)state;
    check_match("Node", SCHEDQ_ACTION_ADD, "Node", SCHEDQ_ACTION_ADD, true);
    check_match("Node", SCHEDQ_ACTION_ADD, "Node", SCHEDQ_ACTION_DELETE, false);
    check_match("Node", SCHEDQ_ACTION_ADD, "Pod", SCHEDQ_ACTION_ADD, false);
    check_match("Node", SCHEDQ_ACTION_ALL, "Node", SCHEDQ_ACTION_UPDATE_NODE_TAINT, true);
    check_match("Node", SCHEDQ_ACTION_ADD | SCHEDQ_ACTION_UPDATE_NODE_LABEL, "Node",
                SCHEDQ_ACTION_UPDATE_NODE_LABEL, true);
    check_match("leases.v1.example.org", SCHEDQ_ACTION_UPDATE, "leases.v1.example.org",
                SCHEDQ_ACTION_UPDATE, true);
    check_match("leases.v1.example.org", SCHEDQ_ACTION_UPDATE, "leases.v1.example.com",
                SCHEDQ_ACTION_UPDATE, false);
}

static void
the_resource_star_matches_every_resource(void **state)
{
    (void)state;
    check_match("*", SCHEDQ_ACTION_ADD, "Node", SCHEDQ_ACTION_ADD, true);
    check_match("*", SCHEDQ_ACTION_ADD, "AssignedPod", SCHEDQ_ACTION_ADD, true);
    check_match("*", SCHEDQ_ACTION_ADD, "Node", SCHEDQ_ACTION_DELETE, false);
    check_match("*", SCHEDQ_ACTION_ALL, "Node", SCHEDQ_ACTION_DELETE, true);
}

static void
pod_hears_of_assigned_and_of_unscheduled_pods(void **state)
{
    (void)state;
    check_match("Pod", SCHEDQ_ACTION_DELETE, "AssignedPod", SCHEDQ_ACTION_DELETE, true);
    check_match("Pod", SCHEDQ_ACTION_DELETE, "UnschedulablePod", SCHEDQ_ACTION_DELETE, true);
    check_match("Pod", SCHEDQ_ACTION_DELETE, "Pod", SCHEDQ_ACTION_DELETE, true);
    check_match("Pod", SCHEDQ_ACTION_DELETE, "AssignedPod", SCHEDQ_ACTION_ADD, false);
    check_match("AssignedPod", SCHEDQ_ACTION_DELETE, "UnschedulablePod", SCHEDQ_ACTION_DELETE,
                false);
    check_match("AssignedPod", SCHEDQ_ACTION_DELETE, "AssignedPod", SCHEDQ_ACTION_DELETE, true);
}

static void
a_shared_action_is_enough_but_a_generic_update_is_a_kind_of_its_own(void **state)
{
    (void)state;
    const uint32_t update = SCHEDQ_ACTION_UPDATE;
    check_match("Pod", update, "Pod", update, true);
    check_match("Pod", update | SCHEDQ_ACTION_DELETE, "Pod", update, true);
    check_match("Pod", update | SCHEDQ_ACTION_ADD, "Pod", update, true);
    check_match("Pod", SCHEDQ_ACTION_ALL, "Pod", update, true);
    check_match("Pod", SCHEDQ_ACTION_ADD | SCHEDQ_ACTION_UPDATE_POD_LABEL, "Pod", update, false);
    check_match("Pod", SCHEDQ_ACTION_UPDATE_POD_LABEL, "Pod", update, false);
    check_match("Pod", SCHEDQ_ACTION_UPDATE_POD_GENERATED_CLAIM, "Pod", update, false);
    check_match("Pod", SCHEDQ_ACTION_UPDATE_POD_TOLERATION, "Pod", SCHEDQ_ACTION_UPDATE_POD_LABEL,
                false);
    check_match("Pod", SCHEDQ_ACTION_UPDATE_POD_LABEL | SCHEDQ_ACTION_UPDATE_POD_TOLERATION, "Pod",
                SCHEDQ_ACTION_UPDATE_POD_LABEL, true);
    check_match("Pod", SCHEDQ_ACTION_UPDATE_POD_LABEL, "Pod",
                SCHEDQ_ACTION_UPDATE_POD_LABEL | SCHEDQ_ACTION_UPDATE_POD_TOLERATION, true);
    check_match("Pod", SCHEDQ_ACTION_ADD, "Pod", SCHEDQ_ACTION_ADD | SCHEDQ_ACTION_DELETE, true);
    check_match("Pod", SCHEDQ_ACTION_UPDATE_POD_LABEL, "Pod", SCHEDQ_ACTION_ALL, false);
    check_match("Pod", SCHEDQ_ACTION_ADD | SCHEDQ_ACTION_UPDATE_POD_TOLERATION, "Pod",
                SCHEDQ_ACTION_ADD | SCHEDQ_ACTION_UPDATE_POD_LABEL, true);
}

static void
a_late_rejector_hears_of_events_that_nobody_registered(void **state)
{
    fixture_t *fixture = *state;
    uint64_t late = schedq_rejector_bit(fx_queue(fixture), 0, "Latecomer", 9);
    assert_true(late != 0 && late != SCHEDQ_REJECTOR_OTHERS);
    assert_true(schedq_rejector_bit(fx_queue(fixture), 0, "Latecomer...", 9) == late);
    fx_park(fixture, "ns/late", late);
    fx_park(fixture, "ns/others", SCHEDQ_REJECTOR_OTHERS);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION).to_backoff, 2);
}

static void
a_name_without_a_bit_hears_of_events_that_nobody_registered(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", SCHEDQ_REJECTOR_OTHERS);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_UPDATE_ANNOTATION).to_backoff, 1);
}

static void
names_beyond_63_share_the_last_bit(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    assert_true(schedq_rejector_bit(fx_queue(fixture), 0, "Fit", 3) == fit->bit);
    uint64_t seen = fit->bit;
    char name[8];
    for (unsigned i = 0; i < 62; i++) {
        uint32_t length = (uint32_t)snprintf(name, sizeof name, "p%u", i);
        uint64_t bit = schedq_rejector_bit(fx_queue(fixture), 0, name, length);
        assert_true(bit != 0 && bit != SCHEDQ_REJECTOR_OTHERS);
        assert_true((bit & (bit - 1)) == 0 && (seen & bit) == 0);
        seen |= bit;
    }
    assert_true(seen == SCHEDQ_REJECTOR_OTHERS - 1);
    assert_true(schedq_rejector_bit(fx_queue(fixture), 0, "one more", 8) == SCHEDQ_REJECTOR_OTHERS);
    assert_true(schedq_rejector_bit(fx_queue(fixture), 0, "p7", 2) != SCHEDQ_REJECTOR_OTHERS);
}

static void
an_event_reaches_only_the_profiles_whose_plugins_want_it(void **state)
{
    fixture_t *fixture = *state;
    schedq_profile_t batch;
    assert_ok(schedq_profile_define(fx_queue(fixture), "batch", &batch, NULL, 0));
    const schedq_interest_t node = {
        .resource = "Node", .actions = SCHEDQ_ACTION_ADD, .hint = fx_hint};
    const schedq_interest_t pod = {
        .resource = "Pod", .actions = SCHEDQ_ACTION_ALL, .hint = fx_hint};
    fx_plugin_t *first = fx_plugin_full(fixture, 0, "Fit", 0, &node, 1, false);
    fx_plugin_t *second = fx_plugin_full(fixture, batch, "Fit", 0, &pod, 1, false);
    assert_true(first->bit == second->bit);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.profile = batch;
    fx_add_spec(fixture, "ns/batch", &spec);
    schedq_popped_t popped = fx_pop(fixture, "ns/batch");
    assert_int_equal(popped.profile, batch);
    fx_fail(fixture, &popped, second->bit, 0);
    fx_park(fixture, "ns/default", first->bit);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_backoff, 1);
    assert_place(fx_place(fixture, "ns/default"), SCHEDQ_BACKOFF);
    assert_place(fx_place(fixture, "ns/batch"), SCHEDQ_PARKED);
    assert_int_equal(second->hint_calls, 0);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_ASSIGNED_POD_DELETE).to_backoff, 1);
    assert_int_equal(first->hint_calls, 1);
}

/* ---- preCheck ---- */

typedef struct precheck {
    uint64_t passes; /* object that passes */
    unsigned calls;
} precheck_t;

static int
passes_one(void *ctx, uint64_t pod)
{
    precheck_t *check = ctx;
    check->calls++;
    return pod == check->passes;
}

static void
a_precheck_keeps_pods_out(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    precheck_t check = {fx_info(fixture, fx_park(fixture, "ns/b", fit->bit)).object, 0};
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_result_t result;
    change.precheck = passes_one;
    change.precheck_ctx = &check;
    change.event = SCHEDQ_EVENT_NODE_DELETE;
    assert_ok(schedq_notify(fx_worker(fixture), &change, &result));
    assert_int_equal(check.calls, 0);
    change.event = SCHEDQ_EVENT_NODE_ADD;
    assert_ok(schedq_notify(fx_worker(fixture), &change, &result));
    assert_int_equal(result.to_backoff, 1);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_BACKOFF);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    assert_int_equal(fit->hint_calls, 1);
}

static void
an_event_whose_precheck_refuses_everybody_still_counts_for_pods_in_flight(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/parked", fit->bit);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    precheck_t check = {0, 0};
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.precheck = passes_one;
    change.precheck_ctx = &check;
    change.event = SCHEDQ_EVENT_NODE_ADD;
    assert_ok(schedq_notify(fx_worker(fixture), &change, NULL));
    assert_place(fx_place(fixture, "ns/parked"), SCHEDQ_PARKED);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_BACKOFF);
}

/* ---- wildcards ---- */

static void
a_wildcard_moves_every_parked_pod(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *deaf = fx_plugin(fixture, "Deaf", NULL, 0);
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fit->hint = SCHEDQ_HINT_SKIP;
    fx_park(fixture, "ns/a", deaf->bit);
    fx_park(fixture, "ns/b", fit->bit);
    fx_park(fixture, "ns/c", SCHEDQ_REJECTOR_OTHERS);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_WILDCARD).to_backoff, 3);
    assert_int_equal(fit->hint_calls, 0);
}

static void
a_wildcard_with_an_object_reaches_nobody(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    fx_add(fixture, "ns/b", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/b");
    schedq_result_t result = move_with(fixture, SCHEDQ_EVENT_WILDCARD, 0, 5, (schedq_pod_t){0});
    assert_int_equal(result.to_active + result.to_backoff, 0);
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
}

static void
a_targeted_wildcard_reaches_its_target_only(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    schedq_pod_t target = fx_park(fixture, "ns/b", fit->bit);
    schedq_result_t result = move_with(fixture, SCHEDQ_EVENT_WILDCARD, 0, 0, target);
    assert_int_equal(result.to_backoff, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_BACKOFF);
}

static void
a_targeted_wildcard_reaches_its_target_in_flight_only(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 1);
    schedq_pod_t target = fx_add(fixture, "ns/b", 0);
    schedq_popped_t a = fx_pop(fixture, "ns/a"), b = fx_pop(fixture, "ns/b");
    move_with(fixture, SCHEDQ_EVENT_WILDCARD, 0, 0, target);
    assert_place(fx_fail(fixture, &a, fit->bit, 0).place, SCHEDQ_PARKED);
    assert_place(fx_fail(fixture, &b, fit->bit, 0).place, SCHEDQ_BACKOFF);
}

static void
a_target_that_is_gone_or_active_is_ignored(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t gone = fx_park(fixture, "ns/gone", fit->bit);
    assert_ok(schedq_delete(fx_worker(fixture), gone, NULL));
    fx_park(fixture, "ns/a", fit->bit);
    schedq_pod_t active = fx_add(fixture, "ns/active", 0);
    assert_int_equal(move_with(fixture, SCHEDQ_EVENT_WILDCARD, 0, 0, gone).to_backoff, 0);
    assert_int_equal(move_with(fixture, SCHEDQ_EVENT_WILDCARD, 0, 0, active).to_active, 0);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
}

static void
active_and_backing_off_pods_do_not_hear_of_events(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_back_off(fixture, "ns/backoff", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    fx_err(fixture, "ns/error");
    fx_add(fixture, "ns/active", 0);
    unsigned asked = fit->hint_calls;
    schedq_result_t result = fx_move(fixture, SCHEDQ_EVENT_WILDCARD);
    assert_int_equal(result.to_active + result.to_backoff, 0);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_int_equal(fit->hint_calls, asked);
    fx_assert_counts(fixture, 1, 1, 1, 0, 0, 0);
}

static void
many_parked_pods_move_in_one_event_and_keep_their_order(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    char name[16];
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "ns/%d", i);
        fx_park(fixture, name, fit->bit);
        fx_advance(fixture, 1);
    }
    fx_advance(fixture, SEC(60));
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 500);
    for (int i = 0; i < 500; i++) {
        snprintf(name, sizeof name, "ns/%d", i);
        fx_pop(fixture, name);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(an_event_moves_the_pods_that_its_plugin_rejected),
        fx_test(an_event_that_concerns_no_plugin_changes_nothing),
        fx_test(a_moved_pod_backs_off_while_its_backoff_lasts),
        fx_test(a_moved_pod_keeps_its_timestamp_and_its_counters),
        fx_test(a_hint_gets_the_pod_and_the_objects_of_the_event),
        fx_test(a_hint_that_fails_or_answers_nonsense_counts_as_queue),
        fx_test(an_interest_without_a_hint_wants_every_such_event),
        fx_test(one_of_several_rejectors_is_enough),
        fx_test(a_plugin_that_waits_skips_the_backoff),
        fx_test(each_pod_is_judged_for_itself),
        cmocka_unit_test(an_event_matches_by_resource_and_bits),
        cmocka_unit_test(the_resource_star_matches_every_resource),
        cmocka_unit_test(pod_hears_of_assigned_and_of_unscheduled_pods),
        cmocka_unit_test(a_shared_action_is_enough_but_a_generic_update_is_a_kind_of_its_own),
        fx_test(a_late_rejector_hears_of_events_that_nobody_registered),
        fx_test(a_name_without_a_bit_hears_of_events_that_nobody_registered),
        fx_test(names_beyond_63_share_the_last_bit),
        fx_test(an_event_reaches_only_the_profiles_whose_plugins_want_it),
        fx_test(a_precheck_keeps_pods_out),
        fx_test(an_event_whose_precheck_refuses_everybody_still_counts_for_pods_in_flight),
        fx_test(a_wildcard_moves_every_parked_pod),
        fx_test(a_wildcard_with_an_object_reaches_nobody),
        fx_test(a_targeted_wildcard_reaches_its_target_only),
        fx_test(a_targeted_wildcard_reaches_its_target_in_flight_only),
        fx_test(a_target_that_is_gone_or_active_is_ignored),
        fx_test(active_and_backing_off_pods_do_not_hear_of_events),
        fx_test(many_parked_pods_move_in_one_event_and_keep_their_order),
    };
    return fx_run_tests(argc, argv, tests);
}
