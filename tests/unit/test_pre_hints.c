/*
 * Pre-queueing hints: a change is judged only for waiting pods that are listed, if all who may
 * list do. Pods in flight hear of it as ever.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

/* What a pre-queueing hint answers, and what it was asked. */
typedef struct lister {
    fx_plugin_t *plugin;
    schedq_pre_hint_t answer;
    const char *names[4];
    unsigned calls;
    uint64_t old_object, new_object;
    schedq_status_t status; /* of the last name */
    schedq_worker_t *worker;
    schedq_status_t inside; /* of a call from the hint */
} lister_t;

/* A plugin's ctx is its fx_plugin_t; listers are found by it. */
static lister_t listers[2];

static schedq_pre_hint_t
list_pods(void *ctx, uint64_t old_object, uint64_t new_object, schedq_pod_list_t *pods)
{
    lister_t *lister = listers[0].plugin == ctx ? &listers[0] : &listers[1];
    lister->calls++;
    lister->old_object = old_object;
    lister->new_object = new_object;
    for (unsigned i = 0; i < 4 && lister->names[i] != NULL; i++)
        lister->status = schedq_pod_list_add(pods, lister->names[i], strlen(lister->names[i]));
    if (lister->worker != NULL)
        lister->inside = schedq_tick(lister->worker, NULL, NULL);
    return lister->answer;
}

/* "First" and "Second" want Node/Add and list pods, "Plain" wants it and does not. */
static fx_plugin_t *
start_switched(fixture_t *fixture, bool second, bool on)
{
    static const schedq_pre_hint_fn pre_hints[] = {list_pods};
    const schedq_interest_t interest = {
        .resource = "Node", .actions = SCHEDQ_ACTION_ADD, .hint = fx_hint};
    memset(listers, 0, sizeof listers);
    fixture->config.pre_queueing_hints = on;
    fixture->config.max_backoff_ns = 0;
    for (unsigned i = 0; i < (second ? 2 : 1); i++) {
        fx_plugin_t *made = &fixture->plugins[fixture->plugin_count++];
        schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
        *made = (fx_plugin_t){.fixture = fixture, .hint = SCHEDQ_HINT_QUEUE};
        plugin.name = i == 0 ? "First" : "Second";
        plugin.interests = &interest;
        plugin.interest_count = 1;
        plugin.pre_hints = pre_hints;
        plugin.ctx = made;
        assert_ok(schedq_plugin_register(fx_queue(fixture), &plugin, &made->bit, NULL, 0));
        listers[i] = (lister_t){.plugin = made, .answer = SCHEDQ_PRE_HINT_LISTED};
    }
    return fx_plugin(fixture, "Plain", "Node", SCHEDQ_ACTION_ADD);
}

static fx_plugin_t *
start(fixture_t *fixture, bool second)
{
    return start_switched(fixture, second, true);
}

static schedq_result_t
notify(fixture_t *fixture, schedq_event_t event, uint64_t new_object)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_result_t result = {0};
    change.event = event;
    change.new_object = new_object;
    assert_ok(schedq_notify(fx_worker(fixture), &change, &result));
    return result;
}

static void
only_listed_pods_are_tried_whoever_rejected_them(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *plain = start(fixture, false);
    uint64_t first = listers[0].plugin->bit;
    fx_park(fixture, "ns/a", first);
    fx_park(fixture, "ns/b", first);
    fx_park(fixture, "ns/c", plain->bit);
    fx_park(fixture, "ns/d", plain->bit);
    listers[0].names[0] = "ns/b";
    listers[0].names[1] = "ns/d";
    listers[0].names[2] = "ns/nobody";
    assert_int_equal(notify(fixture, SCHEDQ_EVENT_NODE_ADD, 77).to_active, 2);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_ACTIVE);
    assert_place(fx_place(fixture, "ns/c"), SCHEDQ_PARKED);
    assert_place(fx_place(fixture, "ns/d"), SCHEDQ_ACTIVE);
    assert_int_equal(listers[0].calls, 1);
    assert_int_equal(listers[0].new_object, 77);
    assert_int_equal(listers[0].old_object, 0);
    assert_int_equal(listers[0].plugin->hint_calls, 1);
}

/* A pod of a union is judged without the plugins whose own list it is not on. */
static void
a_plugin_is_asked_only_about_its_own_list(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *plain = start(fixture, true);
    uint64_t first = listers[0].plugin->bit, second = listers[1].plugin->bit;
    fx_park(fixture, "ns/a", first);
    fx_park(fixture, "ns/b", second);
    fx_park(fixture, "ns/c", second | plain->bit);
    listers[0].names[0] = "ns/b";
    listers[0].names[1] = "ns/c";
    listers[1].names[0] = "ns/a";
    assert_int_equal(notify(fixture, SCHEDQ_EVENT_NODE_ADD, 1).to_active, 1);
    assert_place(fx_place(fixture, "ns/c"), SCHEDQ_ACTIVE);
    assert_int_equal(listers[0].plugin->hint_calls + listers[1].plugin->hint_calls, 0);
    assert_int_equal(plain->hint_calls, 1);
    listers[1].names[1] = "ns/b";
    assert_int_equal(notify(fixture, SCHEDQ_EVENT_NODE_ADD, 1).to_active, 1);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_ACTIVE);
}

static void
one_that_answers_all_widens_for_everybody(void **state)
{
    fixture_t *fixture = *state;
    start(fixture, true);
    fx_park(fixture, "ns/a", listers[0].plugin->bit);
    listers[1].answer = SCHEDQ_PRE_HINT_ALL;
    assert_int_equal(notify(fixture, SCHEDQ_EVENT_NODE_ADD, 1).to_active, 1);
    fx_pop(fixture, "ns/a");
    fx_park(fixture, "ns/b", listers[0].plugin->bit);
    listers[1].answer = (schedq_pre_hint_t)7;
    assert_int_equal(notify(fixture, SCHEDQ_EVENT_NODE_ADD, 1).to_active, 1);
    assert_int_equal(fx_metric(fixture, "scheduler_pre_queueing_hint_evaluations_total{plugin="
                                        "\"Second\",result=\"all_pods\"}"),
                     2);
    assert_int_equal(fx_metric(fixture, "scheduler_pre_queueing_hint_evaluations_total{plugin="
                                        "\"First\",result=\"narrowed\"}"),
                     2);
}

static void
nobody_is_asked_about_wildcards_or_without_an_object(void **state)
{
    fixture_t *fixture = *state;
    start(fixture, false);
    fx_park(fixture, "ns/a", listers[0].plugin->bit);
    assert_int_equal(notify(fixture, SCHEDQ_EVENT_NODE_ADD, 0).to_active, 1);
    fx_pop(fixture, "ns/a");
    fx_park(fixture, "ns/b", listers[0].plugin->bit);
    assert_int_equal(notify(fixture, SCHEDQ_EVENT_WILDCARD, 0).to_active, 1);
    assert_int_equal(listers[0].calls, 0);
}

static void
without_the_switch_nobody_is_asked(void **state)
{
    fixture_t *fixture = *state;
    start_switched(fixture, false, false);
    fx_park(fixture, "ns/a", listers[0].plugin->bit);
    assert_int_equal(notify(fixture, SCHEDQ_EVENT_NODE_ADD, 1).to_active, 1);
    assert_int_equal(listers[0].calls, 0);
}

/* The record of the event is not narrowed: its failure asks the hint. */
static void
a_pod_in_flight_hears_of_it_all_the_same(void **state)
{
    fixture_t *fixture = *state;
    start(fixture, false);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(notify(fixture, SCHEDQ_EVENT_NODE_ADD, 1).to_active, 0);
    assert_int_equal(listers[0].calls, 1);
    assert_place(fx_fail(fixture, &popped, listers[0].plugin->bit, 0).place, SCHEDQ_ACTIVE);
    assert_int_equal(listers[0].plugin->hint_calls, 1);
}

static void
a_gated_pod_is_tried_if_it_is_listed(void **state)
{
    fixture_t *fixture = *state;
    start(fixture, false);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    gate->refuses = true;
    fx_add(fixture, "ns/a", 0);
    gate->refuses = false;
    assert_int_equal(notify(fixture, SCHEDQ_EVENT_NODE_ADD, 1).to_active, 0);
    listers[0].names[0] = "ns/a";
    assert_int_equal(notify(fixture, SCHEDQ_EVENT_NODE_ADD, 1).to_active, 1);
}

static void
bad_names_are_refused_and_no_call_of_the_queue_works_inside(void **state)
{
    fixture_t *fixture = *state;
    start(fixture, false);
    fx_park(fixture, "ns/a", listers[0].plugin->bit);
    listers[0].names[0] = "";
    listers[0].worker = fx_worker(fixture);
    notify(fixture, SCHEDQ_EVENT_NODE_ADD, 1);
    assert_status(listers[0].status, SCHEDQ_INVALID);
    assert_status(listers[0].inside, SCHEDQ_BUSY);
    assert_status(schedq_pod_list_add(NULL, "ns/a", 4), SCHEDQ_INVALID);
}

/* So many that the list grows, and twice the same. */
static void
long_lists_are_searched_by_name(void **state)
{
    fixture_t *fixture = *state;
    start(fixture, false);
    char names[4][16] = {"ns/0", "ns/0", "ns/2", "ns/3"};
    for (unsigned i = 0; i < 4; i++)
        listers[0].names[i] = names[i];
    for (unsigned i = 0; i < 200; i++) {
        char name[16];
        snprintf(name, sizeof name, "ns/%u", i);
        fx_park(fixture, name, listers[0].plugin->bit);
    }
    assert_int_equal(notify(fixture, SCHEDQ_EVENT_NODE_ADD, 1).to_active, 3);
    assert_int_equal(listers[0].plugin->hint_calls, 3);
}

/* A list that there is no memory for narrows nothing. */
static void
without_memory_all_are_tried(void **state)
{
    fixture_t *fixture = *state;
    start(fixture, false);
    schedq_pod_t pod = fx_park(fixture, "ns/a", listers[0].plugin->bit);
    listers[0].names[0] = "ns/nobody";
    assert_int_equal(notify(fixture, SCHEDQ_EVENT_NODE_ADD, 1).to_active, 0);
    for (unsigned i = 0; i < 4; i++) { /* each of the four that a list needs */
        account_fail_after(&fixture->memory, i);
        schedq_result_t result = notify(fixture, SCHEDQ_EVENT_NODE_ADD, 1);
        assert_true(account_heal(&fixture->memory));
        assert_int_equal(result.to_active, 1);
        schedq_popped_t popped = fx_pop(fixture, "ns/a");
        fx_fail(fixture, &popped, listers[0].plugin->bit, 0);
    }
    assert_place(fx_info(fixture, pod).place, SCHEDQ_PARKED);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(only_listed_pods_are_tried_whoever_rejected_them),
        fx_test(a_plugin_is_asked_only_about_its_own_list),
        fx_test(one_that_answers_all_widens_for_everybody),
        fx_test(nobody_is_asked_about_wildcards_or_without_an_object),
        fx_test(without_the_switch_nobody_is_asked),
        fx_test(a_pod_in_flight_hears_of_it_all_the_same),
        fx_test(a_gated_pod_is_tried_if_it_is_listed),
        fx_test(bad_names_are_refused_and_no_call_of_the_queue_works_inside),
        fx_test(long_lists_are_searched_by_name),
        fx_test(without_memory_all_are_tried),
    };
    return fx_run_tests(argc, argv, tests);
}
