/*
 * What kube-scheduler 1.37 does otherwise than 1.34: wildcards and leftovers try gated pods again,
 * a pop tells of a flush, an update that adds is an add, nominations at the add, names, entities.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

/* A pod behind a gate that no event of the cluster reaches. */
static fx_plugin_t *
gate_one(fixture_t *fixture, const char *name)
{
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    gate->refuses = true;
    fx_add(fixture, name, 0);
    assert_place(fx_place(fixture, name), SCHEDQ_GATED);
    return gate;
}

static long
incoming(fixture_t *fixture, const char *what, const char *queue, const char *event)
{
    char sample[160];
    bool entities = strcmp(what, "entities") == 0;
    snprintf(sample, sizeof sample,
             "scheduler_queue_incoming_%s_total{queue=\"%s\",event=\"%s\"%s}", what, queue, event,
             entities ? ",type=\"pod\"" : "");
    return fx_metric(fixture, sample);
}

static void
a_wildcard_asks_the_gate_again(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = gate_one(fixture, "ns/a");
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_WILDCARD).to_active, 0);
    assert_int_equal(gate->gate_calls, 2);
    assert_int_equal(incoming(fixture, "pods", "unschedulable", "*All"), 1);
    gate->refuses = false;
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 0);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_WILDCARD).to_active, 1);
}

static void
a_gated_leftover_is_tried_once_per_limit(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_parked_ns = SEC(60);
    fx_plugin_t *gate = gate_one(fixture, "ns/a");
    fx_pass(fixture, SEC(60));
    assert_int_equal(gate->gate_calls, 1);
    fx_pass(fixture, 1);
    assert_int_equal(gate->gate_calls, 2);
    fx_pass(fixture, SEC(60));
    assert_int_equal(gate->gate_calls, 2);
    gate->refuses = false;
    assert_int_equal(fx_pass(fixture, 1).to_active, 1);
    assert_ns_equal(fx_pop(fixture, "ns/a").history.timestamp_ns, FX_START);
}

/* Only a flush begins a new wait: after a wildcard the limit still counts from the Timestamp. */
static void
a_wildcard_does_not_put_the_limit_off(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_parked_ns = SEC(60);
    fx_plugin_t *gate = gate_one(fixture, "ns/a");
    fx_advance(fixture, SEC(30));
    fx_move(fixture, SCHEDQ_EVENT_WILDCARD);
    assert_int_equal(gate->gate_calls, 2);
    fx_pass(fixture, SEC(30) + 1);
    assert_int_equal(gate->gate_calls, 3);
}

/* The gate that refuses a leftover may be another one than before: the flush counts for it too. */
static void
another_gate_counts_from_the_flush(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_parked_ns = SEC(60);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *other = fx_gate(fixture, "Other", NULL, 0);
    gate->refuses = true;
    fx_add(fixture, "ns/a", 0);
    fx_pass(fixture, SEC(60) + 1);
    assert_int_equal(gate->gate_calls, 2);
    gate->refuses = false;
    other->refuses = true;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_int_equal(fx_find(fixture, "ns/a").gate, other->gate);
    unsigned calls = other->gate_calls;
    fx_pass(fixture, SEC(60));
    assert_int_equal(other->gate_calls, calls);
    fx_pass(fixture, 1);
    assert_int_equal(other->gate_calls, calls + 1);
}

/* Without pops from backoff the gates come behind it; the limit counts from the flush even then. */
static void
a_leftover_that_backs_off_first_counts_from_the_flush(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.pop_from_backoff = 0;
    fixture->config.max_parked_ns = SEC(60);
    fixture->config.initial_backoff_ns = SEC(80);
    fixture->config.max_backoff_ns = SEC(80);
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    fx_park(fixture, "ns/a", fit->bit);
    assert_int_equal(fx_pass(fixture, SEC(61)).to_backoff, 1);
    gate->refuses = true;
    assert_int_equal(fx_pass(fixture, SEC(21)).to_gated, 1);
    unsigned calls = gate->gate_calls;
    fx_pass(fixture, SEC(39));
    assert_int_equal(gate->gate_calls, calls);
    gate->refuses = false;
    assert_int_equal(fx_pass(fixture, 1).to_active, 1);
}

static void
a_pop_tells_of_the_flush_until_the_next_failure(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_parked_ns = SEC(60);
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    assert_int_equal(fx_pass(fixture, SEC(61)).to_active, 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(popped.flushed, 1);
    fx_fail(fixture, &popped, fit->bit, 0);
    fx_advance(fixture, SEC(5));
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 1);
    popped = fx_pop(fixture, "ns/a");
    assert_int_equal(popped.flushed, 0);
    fx_fail(fixture, &popped, 0, 0);
    fx_pass(fixture, SEC(20));
    assert_int_equal(fx_pop(fixture, "ns/a").flushed, 0);
}

static void
a_flush_is_told_behind_a_backoff_too(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_parked_ns = SEC(60);
    fixture->config.initial_backoff_ns = fixture->config.max_backoff_ns = SEC(80);
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    fx_park(fixture, "ns/a", fit->bit);
    assert_int_equal(fx_pass(fixture, SEC(61)).to_backoff, 1);
    assert_int_equal(fx_pass(fixture, SEC(30)).to_active, 1);
    assert_int_equal(fx_pop(fixture, "ns/a").flushed, 1);
}

static void
what_a_gate_refuses_or_a_call_holds_was_not_flushed(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_parked_ns = SEC(60);
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    gate->refuses = true;
    assert_int_equal(fx_pass(fixture, SEC(61)).to_gated, 1);
    gate->refuses = false;
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 1);
    assert_int_equal(fx_pop(fixture, "ns/a").flushed, 0);

    schedq_pod_t pod = fx_park(fixture, "ns/b", fit->bit);
    assert_int_equal(fx_pass(fixture, SEC(61)).to_active, 1);
    assert_ok(schedq_hold(fx_worker(fixture), pod, NULL));
    assert_ok(schedq_release(fx_worker(fixture), pod, NULL));
    assert_int_equal(fx_pop(fixture, "ns/b").flushed, 0);
}

static void
an_event_with_the_label_of_a_flush_is_none(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    schedq_event_t event;
    assert_ok(schedq_event_define(fx_queue(fixture), "*", SCHEDQ_ACTION_ALL, "UnschedulableTimeout",
                                  &event, NULL, 0));
    fx_park(fixture, "ns/a", fit->bit);
    fx_advance(fixture, SEC(5));
    assert_int_equal(fx_move(fixture, event).to_active, 1);
    assert_int_equal(fx_pop(fixture, "ns/a").flushed, 0);
}

static void
an_update_that_adds_counts_as_an_add(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_result_t result;
    spec.flags = SCHEDQ_POD_ADD;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, &result));
    assert_int_equal(result.added, 1);
    assert_int_equal(incoming(fixture, "pods", "active", "UnscheduledPodAdd"), 1);
    assert_int_equal(incoming(fixture, "pods", "active", "UnscheduledPodUpdate"), -1);
}

static unsigned
nominated(fixture_t *fixture)
{
    return (unsigned)fx_stats(fixture).nominated;
}

static void
an_add_nominates_before_the_gate(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    schedq_pod_spec_t spec = fx_spec(0);
    gate->refuses = true;
    spec.nominated_node = 5;
    assert_place(fx_add_spec(fixture, "ns/a", &spec).place, SCHEDQ_GATED);
    assert_int_equal(nominated(fixture), 1);
    spec.nominated_node = 0;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL));
    assert_int_equal(nominated(fixture), 0);
}

/* As upstream: its caller nominates then. */
static void
what_is_in_flight_or_comes_back_is_not_nominated(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    schedq_pod_spec_t spec = fx_spec(0);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    spec.nominated_node = 5;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL));
    assert_int_equal(nominated(fixture), 0);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = fit->bit;
    failure.newest = &spec;
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL));
    assert_int_equal(nominated(fixture), 0);
    const schedq_history_t history = {.attempts = 1};
    failure.newest = NULL;
    assert_ok(schedq_readd(fx_worker(fixture), "ns/b", 4, &spec, &history, &failure, NULL));
    assert_int_equal(nominated(fixture), 0);
}

static void
the_summary_counts_entities(void **state)
{
    fixture_t *fixture = *state;
    char text[128];
    fx_add(fixture, "ns/a", 0);
    schedq_pending_text(fx_queue(fixture), text, sizeof text);
    assert_string_equal(text, "activeQ:1; backoffQ:0; unschedulableEntities:0");
}

/* A pod that backs off passed its gates, where pops take from there: nobody asks them again. */
static void
an_activation_out_of_backoff_asks_no_gate(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    schedq_pod_t pod = fx_err(fixture, "ns/a");
    unsigned calls = gate->gate_calls;
    gate->refuses = true;
    schedq_result_t result = {0};
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, &result));
    assert_int_equal(result.to_active, 1);
    assert_int_equal(gate->gate_calls, calls);
}

static void
without_pops_from_backoff_it_asks(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.pop_from_backoff = 0;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    schedq_pod_t pod = fx_err(fixture, "ns/a");
    gate->refuses = true;
    schedq_result_t result = {0};
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, &result));
    assert_int_equal(result.to_gated, 1);
}

static void
the_resources_have_the_names_of_1_37(void **state)
{
    fixture_t *fixture = *state;
    schedq_event_t event;
    schedq_t *queue = fx_queue(fixture);
    assert_ok(schedq_event_define(queue, "UnscheduledPod", SCHEDQ_ACTION_UPDATE_POD_SCALE_UP, NULL,
                                  &event, NULL, 0));
    assert_int_equal(event, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_UP);
    assert_ok(schedq_event_define(queue, "TargetPod", SCHEDQ_ACTION_UPDATE_POD_LABEL, NULL, &event,
                                  NULL, 0));
    assert_int_equal(event, SCHEDQ_EVENT_TARGET_POD_UPDATE_LABEL);
    assert_ok(
        schedq_event_define(queue, "UnschedulablePod", SCHEDQ_ACTION_ADD, NULL, &event, NULL, 0));
    assert_true(event >= SCHEDQ_EVENT_FIRST_FREE);
}

static void
a_plugin_that_registered_pod_hears_of_all_three_resources(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *any = fx_plugin(fixture, "Any", "Pod", SCHEDQ_ACTION_UPDATE_POD_SCALE_UP);
    fx_plugin_t *own = fx_plugin(fixture, "Own", "TargetPod", SCHEDQ_ACTION_UPDATE_POD_SCALE_UP);
    schedq_t *queue = fx_queue(fixture);
    assert_int_equal(schedq_event_plugins(queue, 0, SCHEDQ_EVENT_TARGET_POD_UPDATE_SCALE_UP) &
                         (any->bit | own->bit),
                     any->bit | own->bit);
    assert_int_equal(schedq_event_plugins(queue, 0, SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_UP) &
                         (any->bit | own->bit),
                     any->bit);
    assert_int_equal(schedq_event_plugins(queue, 0, SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_SCALE_UP) &
                         (any->bit | own->bit),
                     any->bit);
}

/* 5.2 of upstream's behaviour: an arrival where the verdict pointed is no new entity there. */
static void
entities_count_where_no_verdict_pointed(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *wait = fx_plugin(fixture, "Wait", "Node", SCHEDQ_ACTION_ADD);
    fx_park(fixture, "ns/a", fit->bit);
    assert_int_equal(incoming(fixture, "entities", "active", "UnscheduledPodAdd"), 1);
    assert_int_equal(incoming(fixture, "pods", "unschedulable", "ScheduleAttemptFailure"), 1);
    assert_int_equal(incoming(fixture, "entities", "unschedulable", "ScheduleAttemptFailure"), -1);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_backoff, 1);
    assert_int_equal(incoming(fixture, "pods", "backoff", "NodeAdd"), 1);
    assert_int_equal(incoming(fixture, "entities", "backoff", "NodeAdd"), -1);
    fx_pass(fixture, SEC(3));
    assert_int_equal(incoming(fixture, "entities", "active", "BackoffComplete"), 1);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit, 0);
    popped = (fx_add(fixture, "ns/b", 0), fx_pop(fixture, "ns/b"));
    fx_fail(fixture, &popped, 0, wait->bit);
    fx_advance(fixture, SEC(9));
    /* a's backoff is over: to active, though AFTER_BACKOFF; b's plugin was waited for: at once */
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 2);
    assert_int_equal(incoming(fixture, "pods", "active", "NodeAdd"), 2);
    assert_int_equal(incoming(fixture, "entities", "active", "NodeAdd"), 1);
    assert_int_equal(fx_metric(fixture, "scheduler_queued_entities{queue=\"active\",type=\"pod\"}"),
                     2);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test_1_37(a_wildcard_asks_the_gate_again),
        fx_test_1_37(a_gated_leftover_is_tried_once_per_limit),
        fx_test_1_37(a_wildcard_does_not_put_the_limit_off),
        fx_test_1_37(another_gate_counts_from_the_flush),
        fx_test_1_37(a_leftover_that_backs_off_first_counts_from_the_flush),
        fx_test_1_37(a_pop_tells_of_the_flush_until_the_next_failure),
        fx_test_1_37(a_flush_is_told_behind_a_backoff_too),
        fx_test_1_37(what_a_gate_refuses_or_a_call_holds_was_not_flushed),
        fx_test_1_37(an_event_with_the_label_of_a_flush_is_none),
        fx_test_1_37(an_update_that_adds_counts_as_an_add),
        fx_test_1_37(an_add_nominates_before_the_gate),
        fx_test_1_37(what_is_in_flight_or_comes_back_is_not_nominated),
        fx_test_1_37(the_summary_counts_entities),
        fx_test_1_37(an_activation_out_of_backoff_asks_no_gate),
        fx_test_1_37(without_pops_from_backoff_it_asks),
        fx_test_1_37(the_resources_have_the_names_of_1_37),
        fx_test_1_37(a_plugin_that_registered_pod_hears_of_all_three_resources),
        fx_test_1_37(entities_count_where_no_verdict_pointed),
    };
    return fx_run_tests(argc, argv, tests);
}
