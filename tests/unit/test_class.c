/*
 * Classes: while one pod of a class waits, rejected, the others of it are kept back untried; what
 * ends that, and what a class does not touch.
 */
#include "host.h"

#include <stdio.h>
#include <string.h>

#define CLASS 77

static schedq_pod_t
add(fixture_t *fixture, const char *name, int32_t priority, uint64_t class_id)
{
    schedq_pod_spec_t spec = fx_spec(priority);

    spec.class_id = class_id;
    return fx_add_spec(fixture, name, &spec).pod;
}

static fx_plugin_t *
fit_of(fixture_t *fixture)
{
    return fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
}

/* Adds `count` pods of the class, "ns/0" first, whose first one is rejected and parked. */
static void
shut(fixture_t *fixture, const fx_plugin_t *fit, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char name[16];

        (void)snprintf(name, sizeof name, "ns/%u", i);
        add(fixture, name, 0, CLASS);
    }
    schedq_popped_t popped = fx_pop(fixture, "ns/0");
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
}

static void
assert_kept_back(fixture_t *fixture, const char *name)
{
    schedq_pod_info_t info = fx_info(fixture, fx_find(fixture, name).pod);

    assert_place(info.place, SCHEDQ_HELD);
    assert_int_equal(info.held, 0);
    assert_int_equal(info.history.attempts, 0);
}

static void
a_rejected_pod_keeps_the_others_of_its_class_back_untried(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);

    shut(fixture, fit, 4);
    fx_pop_nothing(fixture);
    fx_assert_counts(fixture, 0, 0, 0, 1, 0, 0);
    assert_int_equal(fx_stats(fixture).held, 3);
    assert_int_equal(fx_stats(fixture).class_hides, 3);
    assert_int_equal(fx_stats(fixture).pops, 1);
    assert_kept_back(fixture, "ns/1");
    assert_kept_back(fixture, "ns/3");
    /* one that comes later too */
    add(fixture, "ns/late", 0, CLASS);
    fx_pop_nothing(fixture);
    assert_kept_back(fixture, "ns/late");
}

static void
others_are_popped_past_a_class_that_is_shut(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);

    shut(fixture, fit, 4);
    fx_add(fixture, "ns/plain", 0);
    add(fixture, "ns/other", 0, CLASS + 1);
    fx_pop(fixture, "ns/plain");
    fx_pop(fixture, "ns/other");
    fx_pop_nothing(fixture);
    assert_int_equal(fx_stats(fixture).held, 3);
}

static void
an_event_wakes_one_and_a_rejection_parks_all_again(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);

    shut(fixture, fit, 1000);
    for (schedq_popped_t popped; schedq_try_pop(fx_worker(fixture), &popped) == SCHEDQ_OK;)
        assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_HELD);
    assert_int_equal(fx_stats(fixture).held, 999);
    fx_advance(fixture, SEC(30));
    const uint64_t pops = fx_stats(fixture).pops;
    for (unsigned round = 0; round < 3; round++) {
        assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 1);
        schedq_popped_t popped = fx_pop(fixture, "ns/0");
        assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
        fx_pop_nothing(fixture);
        fx_advance(fixture, SEC(30));
    }
    assert_int_equal(fx_stats(fixture).pops, pops + 3);
    assert_int_equal(fx_stats(fixture).held, 999);
}

/* Tries what comes, all in vain, until nothing does. Returns how many that were. */
static uint64_t
try_all(fixture_t *fixture, const fx_plugin_t *fit)
{
    uint64_t attempts = 0;

    for (schedq_popped_t popped; schedq_try_pop(fx_worker(fixture), &popped) == SCHEDQ_OK;) {
        (void)fx_fail(fixture, &popped, fit->bit, 0);
        attempts++;
    }
    return attempts;
}

static void
of_100000_parked_pods_an_event_has_1_tried(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);

    shut(fixture, fit, 100000);
    /* a pop keeps 256 back, then takes one, which is kept back when it is rejected */
    assert_int_equal(try_all(fixture, fit), 99999 / 257);
    assert_int_equal(fx_stats(fixture).held, 99999);
    assert_int_equal(fx_stats(fixture).parked, 1);
    for (unsigned round = 0; round < 10; round++) {
        fx_advance(fixture, SEC(20));
        assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 1);
        assert_int_equal(try_all(fixture, fit), 1);
        assert_int_equal(fx_stats(fixture).held, 99999);
        assert_int_equal(fx_stats(fixture).parked, 1);
    }
}

static void
nobody_starves_behind_a_scout_that_is_tried_for_ever(void **state)
{
    fixture_t *fixture = *state;
    const unsigned count = 500;
    unsigned seconds = 0;

    fixture->config.class_patience_ns = SEC(60);
    fx_plugin_t *fit = fit_of(fixture);
    shut(fixture, fit, count);
    (void)try_all(fixture, fit);
    for (uint64_t attempts = 0; seconds < 60; seconds += 20, attempts = try_all(fixture, fit)) {
        assert_in_range(attempts, 0, 1);
        fx_pass(fixture, SEC(20));
        (void)fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    }
    for (unsigned i = 0; i < count; i++) {
        char name[16];

        (void)snprintf(name, sizeof name, "ns/%u", i);
        assert_true(fx_info(fixture, fx_find(fixture, name).pod).history.attempts >= 1);
    }
}

static void
a_success_releases_the_next_and_that_one_is_the_scout(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);

    shut(fixture, fit, 4);
    fx_pop_nothing(fixture);
    fx_advance(fixture, SEC(30));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    schedq_popped_t popped = fx_pop(fixture, "ns/0");
    fx_pop_nothing(fixture);
    fx_done(fixture, &popped);
    fx_assert_counts(fixture, 1, 0, 0, 0, 0, 0);
    popped = fx_pop(fixture, "ns/1");
    fx_pop_nothing(fixture);
    fx_done(fixture, &popped);
    popped = fx_pop(fixture, "ns/2");
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
    fx_pop_nothing(fixture);
    assert_kept_back(fixture, "ns/3");
    fx_advance(fixture, SEC(30));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    popped = fx_pop(fixture, "ns/2");
    fx_done(fixture, &popped);
    popped = fx_pop(fixture, "ns/3");
    fx_done(fixture, &popped);
    /* nobody waits: the class is open */
    add(fixture, "ns/a", 0, CLASS);
    add(fixture, "ns/b", 0, CLASS);
    fx_pop(fixture, "ns/a");
    fx_pop(fixture, "ns/b");
}

static void
one_that_was_in_flight_is_kept_back_when_it_is_rejected_too(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);

    add(fixture, "ns/0", 0, CLASS);
    add(fixture, "ns/1", 0, CLASS);
    schedq_popped_t first = fx_pop(fixture, "ns/0"), second = fx_pop(fixture, "ns/1");
    assert_place(fx_fail(fixture, &first, fit->bit, 0).place, SCHEDQ_PARKED);
    assert_place(fx_fail(fixture, &second, fit->bit, 0).place, SCHEDQ_HELD);
    fx_advance(fixture, SEC(30));
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 1);
    first = fx_pop(fixture, "ns/0");
    fx_done(fixture, &first);
    second = fx_pop(fixture, "ns/1");
    assert_int_equal(second.history.attempts, 2);
    assert_int_equal(second.history.rejections, 1);
}

static void
who_waits_longer_than_the_patience_is_tried_itself(void **state)
{
    fixture_t *fixture = *state;

    fixture->config.class_patience_ns = SEC(40);
    fx_plugin_t *fit = fit_of(fixture);
    shut(fixture, fit, 3);
    fx_pop_nothing(fixture);
    fx_pass(fixture, SEC(40) - 1);
    fx_pop_nothing(fixture);
    fx_pass(fixture, 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/1");
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_HELD);
    popped = fx_pop(fixture, "ns/2");
    fx_done(fixture, &popped);
    fx_pop_nothing(fixture);
    /* again, from its failure on */
    fx_pass(fixture, SEC(39));
    fx_pop_nothing(fixture);
    fx_pass(fixture, SEC(1));
    fx_pop(fixture, "ns/1");
}

static void
a_scout_whose_holder_never_reports_hides_nobody_for_longer(void **state)
{
    fixture_t *fixture = *state;
    const unsigned count = 600;

    fixture->config.class_patience_ns = SEC(40);
    fx_plugin_t *fit = fit_of(fixture);
    shut(fixture, fit, count);
    (void)try_all(fixture, fit);
    fx_pass(fixture, SEC(20));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    fx_pop(fixture, "ns/0");
    const uint64_t held = fx_stats(fixture).held;
    assert_int_equal(held, count - 1);
    for (unsigned round = 0; round < 3; round++) {
        const uint64_t pops = fx_stats(fixture).pops;

        fx_pass(fixture, SEC(40));
        assert_int_equal(try_all(fixture, fit), held);
        assert_int_equal(fx_stats(fixture).pops, pops + held);
        assert_int_equal(fx_stats(fixture).held, held);
    }
}

/* An update, or a call about its time, lets a pod go that was kept back: it has waited enough. */
static void
one_that_was_kept_back_and_is_let_go_is_tried(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_pod_spec_t spec = fx_spec(0);

    spec.class_id = CLASS;
    shut(fixture, fit, 4);
    fx_pop_nothing(fixture);
    assert_ok(schedq_update(worker, "ns/2", 4, &spec, 0, NULL, 0, NULL));
    assert_place(fx_place(fixture, "ns/2"), SCHEDQ_ACTIVE);
    assert_ok(schedq_update(worker, "ns/2", 4, &spec, 0, NULL, 0, NULL));
    schedq_popped_t popped = fx_pop(fixture, "ns/2");
    fx_pop_nothing(fixture);
    /* it was tried: its class may keep it back again */
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_HELD);
    assert_ok(schedq_not_before(worker, fx_find(fixture, "ns/1").pod, 0, NULL));
    popped = fx_pop(fixture, "ns/1");
    fx_pop_nothing(fixture);
    assert_place(fx_fail(fixture, &popped, 0, 0).place, SCHEDQ_ERROR_BACKOFF);
    fx_pass(fixture, SEC(1));
    fx_pop_nothing(fixture);
    assert_true(fx_info(fixture, fx_find(fixture, "ns/1").pod).kept_by_class);
    /* a time of the caller's own is none of its class's */
    const int64_t later = fx_now(fixture) + SEC(3600);
    assert_ok(schedq_not_before(worker, fx_find(fixture, "ns/3").pod, later, NULL));
    const schedq_pod_info_t info = fx_info(fixture, fx_find(fixture, "ns/3").pod);
    assert_false(info.kept_by_class);
    assert_int_equal(info.not_before_ns, later);
}

/* It is in no class's turns any more, so its release must not leave it to them. */
static void
one_that_was_kept_back_and_is_held_is_tried_when_it_is_released(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);
    schedq_worker_t *worker = fx_worker(fixture);

    shut(fixture, fit, 3);
    fx_pop_nothing(fixture);
    const schedq_pod_t pod = fx_find(fixture, "ns/1").pod;
    assert_ok(schedq_hold(worker, pod, NULL));
    assert_false(fx_info(fixture, pod).kept_by_class);
    assert_int_equal(fx_info(fixture, pod).not_before_ns, 0);
    assert_ok(schedq_delete_name(worker, "ns/0", 4, NULL));
    assert_place(fx_place(fixture, "ns/1"), SCHEDQ_HELD);
    schedq_popped_t popped = fx_pop(fixture, "ns/2");
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
    assert_ok(schedq_release(worker, pod, NULL));
    popped = fx_pop(fixture, "ns/1");
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_HELD);
    assert_true(fx_info(fixture, pod).kept_by_class);
}

/* The scout is the first or the last of them that was added. */
static void
when_a_label_goes_none_of_its_pods_gets_a_turn_on_the_way(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);

    for (unsigned late = 0; late < 2; late++) {
        schedq_pod_spec_t spec = fx_spec(0);
        const uint64_t turns = fx_stats(fixture).class_turns;
        size_t count;

        spec.class_id = CLASS + late;
        for (unsigned i = 0; i < 9; i++) {
            char name[16];

            spec.timestamp_ns = fx_now(fixture) - (i == (late ? 7 : 0) ? 1 : 0);
            spec.label = i < 8 ? 5 : 0;
            (void)snprintf(name, sizeof name, "ns/%u", i);
            fx_add_spec(fixture, name, &spec);
        }
        schedq_popped_t popped = fx_pop(fixture, late ? "ns/7" : "ns/0");
        assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
        fx_pop_nothing(fixture);
        assert_int_equal(fx_stats(fixture).held, 8);
        assert_ok(schedq_label_cancel(fx_worker(fixture), 5, NULL, 0, &count));
        assert_int_equal(count, 8);
        assert_int_equal(fx_stats(fixture).class_turns, turns + 1);
        popped = fx_pop(fixture, "ns/8");
        assert_ok(schedq_done(fx_worker(fixture), popped.token));
    }
}

static void
its_class_and_its_scout_say_why_a_pod_waits(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);
    schedq_explanation_t why = SCHEDQ_EXPLANATION_INIT;
    char text[256];

    shut(fixture, fit, 3);
    const schedq_pod_t scout = fx_find(fixture, "ns/0").pod, next = fx_find(fixture, "ns/1").pod;
    schedq_pod_info_t info = fx_info(fixture, next);
    assert_int_equal(info.class_id, CLASS);
    assert_int_equal(info.scout.bits, scout.bits);
    assert_false(info.kept_by_class);
    fx_pop_nothing(fixture);
    const int64_t until = fx_now(fixture) + fixture->config.class_patience_ns;
    info = fx_info(fixture, next);
    assert_true(info.kept_by_class);
    assert_int_equal(info.not_before_ns, until);
    assert_ok(schedq_explain(fx_worker(fixture), next, &why));
    assert_true(why.kept_by_class);
    assert_int_equal(why.class_id, CLASS);
    assert_int_equal(why.scout.bits, scout.bits);
    assert_int_equal(why.wake_ns, until);
    (void)schedq_explanation_text(fx_queue(fixture), &why, text, sizeof text);
    assert_string_equal(text, "held back since another pod of its class was rejected; came 0.000 s "
                              "ago; time alone tries it again in 300.000 s; attempts 0, "
                              "rejections 0, errors 0");
    assert_ok(schedq_explain(fx_worker(fixture), scout, &why));
    assert_false(why.kept_by_class);
    (void)schedq_explanation_text(fx_queue(fixture), &why, text, sizeof text);
    assert_non_null(strstr(text, "parked, rejected by Fit;"));
    assert_non_null(strstr(text, "; others of its class wait until it is tried again"));
    assert_int_equal(fx_stats(fixture).class_turns, 0);
    assert_ok(schedq_delete(fx_worker(fixture), scout, NULL));
    assert_int_equal(fx_stats(fixture).class_turns, 1);
    assert_int_equal(fx_stats(fixture).class_hides, 2);
    info = fx_info(fixture, next);
    assert_int_equal(info.scout.bits, next.bits);
    assert_int_equal(info.not_before_ns, 0);
    /* without a class */
    info = fx_info(fixture, fx_add(fixture, "ns/plain", 0));
    assert_int_equal(info.class_id | info.scout.bits | info.kept_by_class, 0);
}

static void
an_error_or_reasons_of_its_own_do_not_shut_a_class(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    for (unsigned i = 0; i < 3; i++)
        add(fixture, (const char *[]){"ns/0", "ns/1", "ns/2"}[i], 0, CLASS);
    schedq_popped_t popped = fx_pop(fixture, "ns/0");
    fx_fail(fixture, &popped, 0, 0);
    popped = fx_pop(fixture, "ns/1");
    failure.unschedulable = fit->bit;
    failure.own_reasons = 1;
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL));
    assert_place(fx_place(fixture, "ns/1"), SCHEDQ_PARKED);
    fx_pop(fixture, "ns/2");
}

static void
a_scout_that_is_rejected_for_reasons_of_its_own_hands_over(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    shut(fixture, fit, 3);
    fx_pop_nothing(fixture);
    fx_advance(fixture, SEC(30));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    schedq_popped_t popped = fx_pop(fixture, "ns/0");
    failure.unschedulable = fit->bit;
    failure.own_reasons = 1;
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL));
    popped = fx_pop(fixture, "ns/1");
    fx_pop_nothing(fixture);
}

static void
a_scout_that_fails_with_an_error_stays_it(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);

    shut(fixture, fit, 2);
    fx_pop_nothing(fixture);
    fx_advance(fixture, SEC(30));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    schedq_popped_t popped = fx_pop(fixture, "ns/0");
    assert_place(fx_fail(fixture, &popped, 0, 0).place, SCHEDQ_ERROR_BACKOFF);
    fx_pop_nothing(fixture);
    fx_pass(fixture, SEC(30));
    fx_pop(fixture, "ns/0");
    fx_pop_nothing(fixture);
}

/* What makes a scout leave while it waits. */
static void
leave(fixture_t *fixture, schedq_pod_t scout, unsigned how)
{
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_result_t result;

    switch (how) {
    case 0:
        assert_ok(schedq_delete(worker, scout, NULL));
        break;
    case 1:
        assert_ok(schedq_hold(worker, scout, NULL));
        break;
    case 2:
        assert_ok(schedq_not_before(worker, scout, fx_now(fixture) + SEC(3600), NULL));
        break;
    case 3: /* another class */
        spec.class_id = CLASS + 1;
        assert_ok(schedq_update(worker, "ns/0", 4, &spec, 0, NULL, 0, &result));
        break;
    case 4: /* another priority */
        spec.priority = -1;
        spec.class_id = CLASS;
        assert_ok(schedq_update(worker, "ns/0", 4, &spec, 0, NULL, 0, &result));
        break;
    default:
        assert_ok(schedq_update(worker, "ns/0", 4, &spec, 0, NULL, 0, &result));
        break;
    }
}

static void
a_scout_that_leaves_makes_the_next_one_scout(void **state)
{
    for (unsigned how = 0; how < 6; how++) {
        for (unsigned flies = 0; flies < 2; flies++) {
            fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
            fx_plugin_t *fit = fit_of(fixture);
            schedq_popped_t popped;

            shut(fixture, fit, 3);
            fx_pop_nothing(fixture);
            const schedq_pod_t scout = fx_find(fixture, "ns/0").pod;
            fx_advance(fixture, SEC(30));
            if (flies != 0) {
                fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
                popped = fx_pop(fixture, "ns/0");
            }
            leave(fixture, scout, how);
            if (flies != 0) {
                schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

                failure.unschedulable = fit->bit;
                (void)schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL);
            }
            popped = fx_pop(fixture, "ns/1");
            fx_pop_nothing(fixture);
            assert_kept_back(fixture, "ns/2");
            fx_done(fixture, &popped);
            fx_pop(fixture, "ns/2");
            fx_free(fixture);
        }
    }
    (void)state;
}

static void
a_scout_that_its_gate_stops_hands_over_at_the_next_tick(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);

    shut(fixture, fit, 3);
    fx_pop_nothing(fixture);
    fx_advance(fixture, SEC(30));
    gate->refuses = true;
    assert_true(schedq_next_deadline(fx_queue(fixture)) > schedq_now(fx_queue(fixture)));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_place(fixture, "ns/0"), SCHEDQ_GATED);
    gate->refuses = false;
    /* a pop that sleeps, and a timer thread, serve time when it is due */
    assert_true(schedq_next_deadline(fx_queue(fixture)) <= schedq_now(fx_queue(fixture)));
    fx_tick(fixture);
    assert_true(schedq_next_deadline(fx_queue(fixture)) > schedq_now(fx_queue(fixture)));
    fx_pop(fixture, "ns/1");
    fx_pop_nothing(fixture);
    assert_kept_back(fixture, "ns/2");
}

static void
one_that_is_kept_back_may_be_touched_like_any_held_pod(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);
    schedq_worker_t *worker = fx_worker(fixture);

    shut(fixture, fit, 6);
    fx_pop_nothing(fixture);
    /* deleted: passed over when its turn comes */
    assert_ok(schedq_delete(worker, fx_find(fixture, "ns/1").pod, NULL));
    /* held: too */
    assert_ok(schedq_hold(worker, fx_find(fixture, "ns/2").pod, NULL));
    /* another class: it is let go, and tried */
    schedq_pod_spec_t spec = fx_spec(0);
    spec.class_id = CLASS + 1;
    assert_ok(schedq_update(worker, "ns/3", 4, &spec, 0, NULL, 0, NULL));
    fx_pop(fixture, "ns/3");
    /* a higher priority is a class of its own */
    spec.class_id = CLASS;
    spec.priority = 1;
    assert_ok(schedq_update(worker, "ns/4", 4, &spec, 0, NULL, 0, NULL));
    fx_pop(fixture, "ns/4");
    fx_pop_nothing(fixture);
    assert_ok(schedq_delete(worker, fx_find(fixture, "ns/0").pod, NULL));
    fx_pop(fixture, "ns/5");
    fx_pop_nothing(fixture);
    fx_pass(fixture, SEC(301));
    fx_pop_nothing(fixture);
}

static void
a_class_is_of_one_profile(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);
    schedq_profile_t profile;
    schedq_pod_spec_t spec = fx_spec(0);

    assert_ok(schedq_profile_define(fx_queue(fixture), "other", &profile, NULL, 0));
    shut(fixture, fit, 2);
    spec.profile = profile;
    spec.class_id = CLASS;
    fx_add_spec(fixture, "ns/other", &spec);
    fx_pop(fixture, "ns/other");
    fx_pop_nothing(fixture);
}

static void
members_of_groups_have_no_class(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);
    schedq_group_spec_t group = SCHEDQ_GROUP_SPEC_INIT;
    schedq_pod_spec_t spec = fx_spec(0);

    shut(fixture, fit, 2);
    group.quorum = 2;
    assert_ok(schedq_group_add(fx_worker(fixture), 5, &group, NULL));
    spec.class_id = CLASS;
    spec.group = 5;
    fx_add_spec(fixture, "ns/a", &spec);
    fx_add_spec(fixture, "ns/b", &spec);
    schedq_popped_group_t popped;
    schedq_popped_t members[4];
    size_t count;
    assert_ok(schedq_try_pop_group(fx_worker(fixture), &popped, members, 4, &count));
    assert_int_equal(count, 2);
    assert_kept_back(fixture, "ns/1");
}

static void
a_patience_of_0_and_the_kube_presets_know_no_classes(void **state)
{
    const schedq_preset_t presets[] = {SCHEDQ_PRESET_DEFAULT, SCHEDQ_PRESET_KUBE_1_37,
                                       SCHEDQ_PRESET_KUBE_1_12};

    for (unsigned i = 0; i < 3; i++) {
        fixture_t *fixture = fx_new(presets[i]);

        if (i == 0)
            fixture->config.class_patience_ns = 0;
        assert_int_equal(fixture->config.class_patience_ns, 0);
        fx_plugin_t *fit = fit_of(fixture);
        shut(fixture, fit, 3);
        fx_pop(fixture, "ns/1");
        fx_pop(fixture, "ns/2");
        fx_free(fixture);
    }
    (void)state;
}

static void
a_batch_passes_a_shut_class(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);
    schedq_popped_t popped[8];
    size_t count;

    shut(fixture, fit, 5);
    fx_add(fixture, "ns/a", 0);
    fx_add(fixture, "ns/b", 0);
    assert_ok(schedq_try_pop_many(fx_worker(fixture), popped, 8, &count));
    assert_int_equal(count, 2);
    assert_int_equal(fx_stats(fixture).held, 4);
}

static void
references_come_out_even(void **state)
{
    fixture_t *fixture = *state;

    fx_count_objects(fixture);
    fx_plugin_t *fit = fit_of(fixture);
    shut(fixture, fit, 5);
    fx_pop_nothing(fixture);
    fx_advance(fixture, SEC(30));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    for (unsigned i = 0; i < 5; i++) {
        schedq_popped_t popped;

        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
        fx_done(fixture, &popped);
    }
    fx_pop_nothing(fixture);
}

static void
a_host_shuts_a_class_by_parking(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    for (unsigned i = 0; i < 3; i++)
        add(fixture, (const char *[]){"ns/0", "ns/1", "ns/2"}[i], 0, CLASS);
    schedq_popped_t popped = fx_pop(fixture, "ns/0"), second = fx_pop(fixture, "ns/1");
    failure.place = SCHEDQ_PARKED;
    failure.unschedulable = fit->bit;
    failure.judged_up_to = popped.seen;
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL));
    assert_ok(schedq_fail(fx_worker(fixture), &second.token, &failure, NULL));
    assert_place(fx_place(fixture, "ns/0"), SCHEDQ_PARKED);
    assert_place(fx_place(fixture, "ns/1"), SCHEDQ_HELD);
    fx_pop_nothing(fixture);
    assert_place(fx_place(fixture, "ns/2"), SCHEDQ_HELD);
    assert_ok(schedq_delete_name(fx_worker(fixture), "ns/0", 4, NULL));
    assert_int_equal(fx_stats(fixture).held, 1);
}

/* The allocator fails from `site` on, of `count` pods. False: it was not asked so often. */
static bool
let_the_next_go_without_memory(unsigned count, int64_t site)
{
    fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
    fx_plugin_t *fit = fit_of(fixture);

    shut(fixture, fit, count);
    fx_pop_nothing(fixture);
    assert_int_equal(fx_stats(fixture).held, count - 1);
    account_fail_after(&fixture->memory, site);
    assert_ok(schedq_delete_name(fx_worker(fixture), "ns/0", 4, NULL));
    bool happened = account_heal(&fixture->memory);
    (void)fx_tick(fixture);
    fx_pop(fixture, "ns/1");
    fx_pop_nothing(fixture);
    assert_int_equal(fx_stats(fixture).held, count - 2);
    fx_free(fixture);
    return happened;
}

static void
a_turn_for_which_memory_is_missing_comes_with_the_next_tick(void **unused)
{
    (void)unused;
    for (unsigned count = 3; count < 100; count++) { /* descriptions use up a page */
        for (int64_t site = 0; let_the_next_go_without_memory(count, site); site++) {
        }
    }
}

/* The scout of `count` pods ends, and no call gets memory. */
static fixture_t *
end_the_scout_without_memory(unsigned count, bool real_clock)
{
    fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);

    if (real_clock)
        fx_use_real_clock(fixture);
    shut(fixture, fit_of(fixture), count);
    fx_pop_nothing(fixture);
    atomic_store(&fixture->memory.fail_all, true);
    assert_ok(schedq_delete_name(fx_worker(fixture), "ns/0", 4, NULL));
    return fixture;
}

/* True: a tick found no memory for the turn. */
static bool
tick_without_memory(unsigned count)
{
    fixture_t *fixture = end_the_scout_without_memory(count, false);
    int64_t next = 0;
    schedq_status_t status = schedq_tick(fx_worker(fixture), &next, NULL);

    const bool waits = status != SCHEDQ_OK && next != fx_now(fixture);

    if (waits) {
        assert_status(status, SCHEDQ_NOMEM);
        fx_pop_nothing(fixture);
        assert_true(next > fx_now(fixture) && next <= fx_now(fixture) + MS(500));
        assert_true(schedq_next_deadline(fx_queue(fixture)) == next);
    }
    (void)account_heal(&fixture->memory);
    (void)fx_tick(fixture);
    fx_pop(fixture, "ns/1");
    fx_free(fixture);
    return waits;
}

static void
a_tick_without_memory_for_a_turn_is_due_again_later(void **unused)
{
    unsigned without = 0;

    (void)unused;
    for (unsigned count = 3; count < 40; count++)
        without += tick_without_memory(count);
    assert_true(without > 0 || fx_engine() == SCHEDQ_ENGINE_MUTEX);
}

static void
a_wait_ends_though_memory_is_missing_for_a_turn(void **unused)
{
    unsigned without = 0;

    (void)unused;
    for (unsigned count = 3; count < 40; count++) {
        fixture_t *fixture = end_the_scout_without_memory(count, true);
        schedq_popped_t popped;
        schedq_status_t status = schedq_pop_for(fx_worker(fixture), MS(1), &popped);

        (void)account_heal(&fixture->memory);
        if (status != SCHEDQ_OK) {
            assert_status(status, SCHEDQ_TIMEDOUT);
            (void)fx_tick(fixture);
            fx_pop(fixture, "ns/1");
            without++;
        }
        fx_free(fixture);
    }
    assert_true(without > 0 || fx_engine() == SCHEDQ_ENGINE_MUTEX);
}

static void
the_answer_to_the_end_of_a_scout_says_that_the_next_is_poppable(void **state)
{
    fixture_t *fixture = *state;
    schedq_result_t result;

    shut(fixture, fit_of(fixture), 3);
    fx_pop_nothing(fixture);
    assert_ok(schedq_delete_name(fx_worker(fixture), "ns/0", 4, &result));
    assert_place(fx_place(fixture, "ns/1"), SCHEDQ_ACTIVE);
    assert_int_equal(result.poppable, 1);
    assert_ok(schedq_delete_name(fx_worker(fixture), "ns/2", 4, &result));
    assert_int_equal(result.poppable, 0);
}

/* Beside so many pods of other priorities. False: the update did not ask the allocator so often. */
static bool
update_one_that_is_kept_back_without_memory(unsigned others, int64_t site)
{
    fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
    schedq_pod_spec_t spec = fx_spec(0);

    fixture->config.max_bands = 1000;
    spec.class_id = CLASS;
    shut(fixture, fit_of(fixture), 3);
    fx_pop_nothing(fixture);
    for (unsigned i = 0; i < others; i++) {
        char name[24];

        (void)snprintf(name, sizeof name, "ns/other%u", i);
        fx_add(fixture, name, -1 - (int)i);
    }
    account_fail_after(&fixture->memory, site);
    schedq_status_t status = schedq_update(fx_worker(fixture), "ns/1", 4, &spec, 0, NULL, 0, NULL);
    bool happened = account_heal(&fixture->memory);
    assert_true(status == SCHEDQ_OK || (happened && status == SCHEDQ_NOMEM));
    if (status == SCHEDQ_NOMEM) {
        assert_kept_back(fixture, "ns/1");
        assert_ok(schedq_delete_name(fx_worker(fixture), "ns/0", 4, NULL));
        assert_place(fx_place(fixture, "ns/1"), SCHEDQ_ACTIVE);
        assert_place(fx_place(fixture, "ns/2"), SCHEDQ_HELD);
    }
    fx_free(fixture);
    return happened;
}

static void
an_update_that_finds_no_memory_takes_no_turn_away(void **unused)
{
    (void)unused;
    for (unsigned others = 0; others < 70; others++) { /* the room for priorities is used up */
        for (int64_t site = 0; update_one_that_is_kept_back_without_memory(others, site); site++) {
        }
    }
}

/* Nothing but the scout is in the memory that the trim gives back. */
static void
a_trim_forgets_a_scout_that_ended_without_a_worker(void **state)
{
    enum { BEFORE = 1023 };
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fit_of(fixture);
    schedq_pod_spec_t last = fx_spec(0);
    schedq_worker_t *gone;

    last.class_id = CLASS;
    last.flags = SCHEDQ_POD_ORDER_KEY;
    last.order_key = INT64_MAX;
    fx_add_spec(fixture, "ns/kept", &last);
    for (unsigned i = 0; i < BEFORE; i++) {
        char name[16];

        (void)snprintf(name, sizeof name, "ns/p%u", i);
        fx_add(fixture, name, -1);
    }
    shut(fixture, fit, 1);
    fx_pop(fixture, "ns/p0");
    assert_kept_back(fixture, "ns/kept");
    fx_advance(fixture, SEC(30));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    schedq_popped_t scout = fx_pop(fixture, "ns/0");

    assert_ok(schedq_worker_register(fx_queue(fixture), &gone, NULL, 0));
    assert_ok(schedq_worker_unregister(gone));
    assert_ok(schedq_done(gone, scout.token));
    assert_ok(schedq_trim(fx_queue(fixture)));
    assert_kept_back(fixture, "ns/kept");
    fx_tick(fixture);
    fx_pop(fixture, "ns/kept");
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(a_rejected_pod_keeps_the_others_of_its_class_back_untried),
        fx_test(others_are_popped_past_a_class_that_is_shut),
        fx_test(an_event_wakes_one_and_a_rejection_parks_all_again),
        fx_test(of_100000_parked_pods_an_event_has_1_tried),
        fx_test(nobody_starves_behind_a_scout_that_is_tried_for_ever),
        fx_test(a_success_releases_the_next_and_that_one_is_the_scout),
        fx_test(one_that_was_in_flight_is_kept_back_when_it_is_rejected_too),
        fx_test(who_waits_longer_than_the_patience_is_tried_itself),
        fx_test(a_scout_whose_holder_never_reports_hides_nobody_for_longer),
        fx_test(one_that_was_kept_back_and_is_let_go_is_tried),
        fx_test(one_that_was_kept_back_and_is_held_is_tried_when_it_is_released),
        fx_test(its_class_and_its_scout_say_why_a_pod_waits),
        fx_test(an_error_or_reasons_of_its_own_do_not_shut_a_class),
        fx_test(a_scout_that_is_rejected_for_reasons_of_its_own_hands_over),
        fx_test(a_scout_that_fails_with_an_error_stays_it),
        cmocka_unit_test(a_scout_that_leaves_makes_the_next_one_scout),
        fx_test(when_a_label_goes_none_of_its_pods_gets_a_turn_on_the_way),
        fx_test(a_scout_that_its_gate_stops_hands_over_at_the_next_tick),
        fx_test(one_that_is_kept_back_may_be_touched_like_any_held_pod),
        fx_test(a_class_is_of_one_profile),
        fx_test(members_of_groups_have_no_class),
        cmocka_unit_test(a_patience_of_0_and_the_kube_presets_know_no_classes),
        fx_test(a_batch_passes_a_shut_class),
        fx_test(references_come_out_even),
        cmocka_unit_test(a_turn_for_which_memory_is_missing_comes_with_the_next_tick),
        cmocka_unit_test(a_tick_without_memory_for_a_turn_is_due_again_later),
        cmocka_unit_test(a_wait_ends_though_memory_is_missing_for_a_turn),
        cmocka_unit_test(an_update_that_finds_no_memory_takes_no_turn_away),
        fx_test(the_answer_to_the_end_of_a_scout_says_that_the_next_is_poppable),
        fx_test(a_trim_forgets_a_scout_that_ended_without_a_worker),
        fx_test_host(a_host_shuts_a_class_by_parking),
    };
    return fx_run_tests(argc, argv, tests);
}
