/*
 * Events, profiles and plugins as a host sets them up: names, masks, and that setup ends with the
 * first worker.
 */
#include <string.h>

#include "fixture.h"

static uint64_t
name_plugin(fixture_t *fixture, schedq_profile_t profile, const char *name, uint32_t length)
{
    uint64_t bit = 0;
    assert_ok(schedq_plugin_name(fx_queue(fixture), profile, name, length, &bit, fixture->why,
                                 sizeof fixture->why));
    return bit;
}

static void
setup_ends_with_the_first_worker(void **state)
{
    fixture_t *fixture = *state;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    schedq_profile_t profile;
    schedq_event_t event;
    uint64_t bit;
    plugin.name = "Late";
    fx_worker(fixture);
    assert_status(schedq_plugin_register(fx_queue(fixture), &plugin, &bit, NULL, 0), SCHEDQ_BUSY);
    assert_status(schedq_plugin_name(fx_queue(fixture), 0, "Late", 4, &bit, NULL, 0), SCHEDQ_BUSY);
    assert_status(schedq_profile_define(fx_queue(fixture), "late", &profile, NULL, 0), SCHEDQ_BUSY);
    assert_ok(
        schedq_event_define(fx_queue(fixture), "Late", SCHEDQ_ACTION_ADD, NULL, &event, NULL, 0));
    assert_true(schedq_rejector_bit(fx_queue(fixture), 0, "Late", 4) != 0);
}

static void
a_plugin_may_be_a_mere_name(void **state)
{
    fixture_t *fixture = *state;
    assert_int_equal(name_plugin(fixture, 0, "Fit and more", 3), 1);
    assert_int_equal(name_plugin(fixture, 0, "Taint", 5), 2);
    uint64_t bit = 0;
    assert_status(schedq_plugin_name(fx_queue(fixture), 0, "Fit", 3, &bit, NULL, 0), SCHEDQ_EXISTS);
    assert_int_equal(bit, 1);
    assert_int_equal(schedq_rejector_bit(fx_queue(fixture), 0, "Taint", 5), 2);
    fx_park(fixture, "ns/a", 3);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_backoff, 0);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_WILDCARD).to_backoff, 1);
}

static void
bad_names_of_plugins_are_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_t *queue = fx_queue(fixture);
    char name[128];
    uint64_t bit;
    char *why = fixture->why;
    const size_t room = sizeof fixture->why;
    memset(name, 'x', sizeof name);
    assert_status(schedq_plugin_name(queue, 0, NULL, 3, &bit, why, room), SCHEDQ_INVALID);
    assert_contains(why, "name");
    assert_status(schedq_plugin_name(queue, 0, "Fit", 0, &bit, why, room), SCHEDQ_INVALID);
    assert_contains(why, "127");
    assert_status(schedq_plugin_name(queue, 0, name, 128, &bit, why, room), SCHEDQ_INVALID);
    assert_status(schedq_plugin_name(queue, 0, "a\0b", 3, &bit, why, room), SCHEDQ_INVALID);
    assert_status(schedq_plugin_name(queue, 1, "Fit", 3, &bit, why, room), SCHEDQ_INVALID);
    assert_contains(why, "profile");
    assert_status(schedq_plugin_name(queue, 0, "Fit", 3, NULL, why, room), SCHEDQ_INVALID);
    assert_contains(why, "bit");
    assert_status(schedq_plugin_name(NULL, 0, "Fit", 3, &bit, why, room), SCHEDQ_INVALID);
    assert_int_equal(name_plugin(fixture, 0, name, 127), 1);
}

static void
the_plugins_of_an_event_are_those_whose_interests_match(void **state)
{
    fixture_t *fixture = *state;
    schedq_profile_t batch;
    schedq_event_t volume;
    schedq_t *queue = fx_queue(fixture);
    assert_ok(schedq_profile_define(queue, "batch", &batch, NULL, 0));
    assert_ok(
        schedq_event_define(queue, "PersistentVolume", SCHEDQ_ACTION_ADD, NULL, &volume, NULL, 0));
    const schedq_interest_t any = {.resource = "*", .actions = SCHEDQ_ACTION_ADD};
    uint64_t node = fx_plugin(fixture, "Node", "Node", SCHEDQ_ACTION_ADD)->bit;
    uint64_t both = fx_plugin(fixture, "Both", "*", SCHEDQ_ACTION_ADD)->bit;
    uint64_t deaf = fx_plugin(fixture, "Deaf", NULL, 0)->bit;
    uint64_t in_batch = fx_plugin_full(fixture, batch, "Any", 0, &any, 1, false)->bit;
    const uint64_t others = SCHEDQ_REJECTOR_OTHERS;
    assert_true(schedq_event_plugins(queue, 0, SCHEDQ_EVENT_NODE_ADD) == (node | both | others));
    assert_true(schedq_event_plugins(queue, 0, volume) == (both | others));
    assert_true(schedq_event_plugins(queue, 0, SCHEDQ_EVENT_NODE_DELETE) == others);
    assert_true(schedq_event_plugins(queue, batch, volume) == (in_batch | others));
    uint64_t late = schedq_rejector_bit(queue, 0, "Late", 4);
    assert_true(schedq_event_plugins(queue, 0, SCHEDQ_EVENT_NODE_DELETE) == (late | others));
    uint64_t all = schedq_event_plugins(queue, 0, SCHEDQ_EVENT_WILDCARD);
    assert_true((all & (node | both | deaf | late | others)) ==
                (node | both | deaf | late | others));
    assert_int_equal(schedq_event_plugins(queue, 7, SCHEDQ_EVENT_NODE_ADD), 0);
    assert_int_equal(schedq_event_plugins(queue, 0, 999), 0);
    assert_int_equal(schedq_event_plugins(NULL, 0, SCHEDQ_EVENT_NODE_ADD), 0);
}

static void
an_event_defined_after_its_plugin_matches_too(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *lease = fx_plugin(fixture, "Lease", "leases.v1.example.org", SCHEDQ_ACTION_ADD);
    schedq_event_t event;
    fx_park(fixture, "ns/a", lease->bit);
    assert_ok(schedq_event_define(fx_queue(fixture), "leases.v1.example.org", SCHEDQ_ACTION_ADD,
                                  "LeaseCame", &event, NULL, 0));
    assert_true(schedq_event_plugins(fx_queue(fixture), 0, event) ==
                (lease->bit | SCHEDQ_REJECTOR_OTHERS));
    assert_int_equal(fx_move(fixture, event).to_backoff, 1);
}

static void
a_wildcard_under_another_label_is_a_wildcard(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *deaf = fx_plugin(fixture, "Deaf", NULL, 0);
    schedq_event_t force;
    assert_ok(
        schedq_event_define(fx_queue(fixture), "*", SCHEDQ_ACTION_ALL, "Force", &force, NULL, 0));
    assert_true(force != SCHEDQ_EVENT_WILDCARD);
    fx_park(fixture, "ns/a", deaf->bit);
    assert_int_equal(fx_move(fixture, force).to_backoff, 1);
    assert_int_equal(
        fx_metric(fixture,
                  "scheduler_queue_incoming_pods_total{queue=\"backoff\",event=\"Force\"}"),
        1);
    schedq_pod_t target = fx_park(fixture, "ns/b", deaf->bit);
    fx_park(fixture, "ns/c", deaf->bit);
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_result_t result;
    change.event = force;
    change.target = target;
    assert_ok(schedq_notify(fx_worker(fixture), &change, &result));
    assert_int_equal(result.to_backoff, 1);
    assert_place(fx_place(fixture, "ns/c"), SCHEDQ_PARKED);
}

static void
only_a_wildcard_can_have_a_target(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.target = fx_park(fixture, "ns/a", fit->bit);
    change.event = SCHEDQ_EVENT_NODE_ADD;
    assert_status(schedq_notify(fx_worker(fixture), &change, NULL), SCHEDQ_INVALID);
    assert_contains(schedq_worker_error(fx_worker(fixture)), "target");
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(setup_ends_with_the_first_worker),
        fx_test(a_plugin_may_be_a_mere_name),
        fx_test(bad_names_of_plugins_are_refused),
        fx_test(the_plugins_of_an_event_are_those_whose_interests_match),
        fx_test(an_event_defined_after_its_plugin_matches_too),
        fx_test(a_wildcard_under_another_label_is_a_wildcard),
        fx_test(only_a_wildcard_can_have_a_target),
    };
    return fx_run_tests(argc, argv, tests);
}
