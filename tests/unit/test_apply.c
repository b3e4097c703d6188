/* schedq_apply and schedq_apply_many: a decision stands only for the version that was judged. */
#include <string.h>

#include "host.h"

static void
applying_gated_asks_for_a_newer_judgement_too(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_plugin(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = hx_park(fixture, "ns/a", 5, gate->bit);
    uint64_t judged = schedq_words(fx_queue(fixture))->event_sequence;
    uint64_t ref = fx_find(fixture, "ns/a").ref;
    uint64_t sequence = hx_event(fixture, gate->bit);
    schedq_result_t result;
    assert_status(hx_apply(fixture, ref, SCHEDQ_GATED, (uint8_t)gate->gate, judged, &result),
                  SCHEDQ_RETRY);
    assert_true(result.sequence >= sequence);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    ref = fx_find(fixture, "ns/a").ref;
    assert_ok(hx_apply(fixture, ref, SCHEDQ_GATED, (uint8_t)gate->gate, result.sequence, &result));
    assert_place(result.place, SCHEDQ_GATED);
    assert_int_equal(result.to_gated, 1);
    assert_int_equal(fx_info(fixture, pod).gate, gate->gate);
}

static void
a_pod_that_stays_gated_gets_a_new_ref(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *one = fx_plugin(fixture, "One", NULL, 0);
    fx_plugin_t *two = fx_plugin(fixture, "Two", NULL, 0);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.gate = (uint8_t)one->gate;
    schedq_pod_t pod = fx_add_spec(fixture, "ns/a", &spec).pod;
    uint64_t first = fx_find(fixture, "ns/a").ref;
    schedq_result_t result;
    assert_ok(hx_apply(fixture, first, SCHEDQ_GATED, (uint8_t)two->gate, 0, &result));
    uint64_t second = fx_find(fixture, "ns/a").ref;
    assert_true(first != second);
    assert_status(hx_apply(fixture, first, SCHEDQ_ACTIVE, 0, 0, &result), SCHEDQ_CHANGED);
    assert_true(result.ref == second);
    schedq_pod_info_t info = fx_info(fixture, pod);
    assert_int_equal(info.gate, two->gate);
    assert_int_equal(info.unschedulable, one->bit | two->bit);
    assert_ok(hx_apply(fixture, second, SCHEDQ_ACTIVE, 0, 0, &result));
    fx_pop(fixture, "ns/a");
}

static long
gated_by_node_add(fixture_t *fixture)
{
    return fx_metric(
        fixture, "scheduler_queue_incoming_pods_total{queue=\"unschedulable\",event=\"NodeAdd\"}");
}

/*
 * An event takes a pod out and puts it back; an update or an activation that is in vain leaves it
 * where it is.
 */
static void
a_pod_that_is_gated_again_comes_in_again_only_if_it_is_counted(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_plugin(fixture, "Gate", NULL, 0);
    hx_park(fixture, "ns/a", 5, gate->bit);
    schedq_decision_t decision = SCHEDQ_DECISION_INIT;
    schedq_result_t result;
    decision.ref = fx_find(fixture, "ns/a").ref;
    decision.event = SCHEDQ_EVENT_NODE_ADD;
    decision.place = SCHEDQ_GATED;
    decision.gate = (uint8_t)gate->gate;
    decision.uncounted = 1;
    assert_ok(schedq_apply(fx_worker(fixture), &decision, &result));
    assert_place(result.place, SCHEDQ_GATED);
    assert_int_equal(result.to_gated, 1);
    decision.ref = result.ref;
    assert_ok(schedq_apply(fx_worker(fixture), &decision, &result));
    assert_int_equal(result.to_gated, 0);
    assert_int_equal(gated_by_node_add(fixture), -1); /* no such line */
    decision.ref = result.ref;
    decision.uncounted = 0;
    assert_ok(schedq_apply(fx_worker(fixture), &decision, &result));
    assert_int_equal(result.to_gated, 1);
    assert_int_equal(gated_by_node_add(fixture), 1);
}

static void
apply_moves_a_pod_where_it_is_told(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    schedq_pod_t pod = hx_park(fixture, "ns/a", 5, fit->bit);
    hx_park(fixture, "ns/b", 6, fit->bit);
    schedq_result_t result;
    assert_ok(hx_apply(fixture, fx_find(fixture, "ns/a").ref, SCHEDQ_ACTIVE, 0, 0, &result));
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_int_equal(result.to_active, 1);
    assert_int_equal(result.poppable, 1);
    assert_int_equal(result.unschedulable, fit->bit);
    assert_true(result.pod.bits == pod.bits);
    assert_int_equal(fx_info(fixture, pod).object, 5);
    assert_ns_equal(fx_info(fixture, pod).history.timestamp_ns, FX_START);
    assert_ok(hx_apply(fixture, fx_find(fixture, "ns/b").ref, SCHEDQ_BACKOFF, 0, 0, &result));
    assert_place(result.place, SCHEDQ_BACKOFF);
    assert_int_equal(result.to_backoff, 1);
    assert_int_equal(
        fx_metric(fixture,
                  "scheduler_queue_incoming_pods_total{queue=\"active\",event=\"NodeAdd\"}"),
        1);
    assert_int_equal(
        fx_metric(fixture,
                  "scheduler_queue_incoming_pods_total{queue=\"backoff\",event=\"NodeAdd\"}"),
        1);
}

static void
an_update_meanwhile_makes_a_decision_void(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    hx_park(fixture, "ns/a", 5, fit->bit);
    uint64_t old = fx_find(fixture, "ns/a").ref;
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 6;
    schedq_result_t result;
    schedq_event_t label = SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 5, &label, 1, &result));
    assert_place(result.place, SCHEDQ_PARKED);
    uint64_t ref = result.ref;
    assert_true(ref != 0 && ref != old);
    assert_status(hx_apply(fixture, old, SCHEDQ_ACTIVE, 0, 0, &result), SCHEDQ_CHANGED);
    assert_true(result.ref == ref);
    assert_int_equal(result.object, 6);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    assert_ok(hx_apply(fixture, ref, SCHEDQ_ACTIVE, 0, 0, &result));
}

static void
a_pod_that_left_its_waiting_place_is_gone(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    schedq_result_t result;
    hx_park(fixture, "ns/a", 5, fit->bit);
    uint64_t ref = fx_find(fixture, "ns/a").ref;
    assert_ok(hx_apply(fixture, ref, SCHEDQ_ACTIVE, 0, 0, &result));
    assert_status(hx_apply(fixture, ref, SCHEDQ_ACTIVE, 0, 0, &result), SCHEDQ_GONE);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_status(hx_apply(fixture, ref, SCHEDQ_BACKOFF, 0, 0, &result), SCHEDQ_GONE);
    fx_done(fixture, &popped);
    assert_status(hx_apply(fixture, ref, SCHEDQ_BACKOFF, 0, 0, &result), SCHEDQ_GONE);
    schedq_pod_t pod = hx_park(fixture, "ns/b", 5, fit->bit);
    ref = fx_find(fixture, "ns/b").ref;
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    hx_park(fixture, "ns/c", 5, fit->bit);
    assert_status(hx_apply(fixture, ref, SCHEDQ_ACTIVE, 0, 0, &result), SCHEDQ_GONE);
    assert_place(fx_place(fixture, "ns/c"), SCHEDQ_PARKED);
}

static schedq_status_t
apply_if_backing_off(fixture_t *fixture, uint64_t ref, schedq_result_t *result)
{
    schedq_decision_t decision = SCHEDQ_DECISION_INIT;
    decision.ref = ref;
    decision.place = SCHEDQ_BACKOFF;
    decision.event = SCHEDQ_EVENT_WILDCARD;
    decision.if_backing_off = 1;
    return schedq_apply(fx_worker(fixture), &decision, result);
}

/* Its gates are asked when its backoff ends. */
static uint64_t
park_behind_backoff(fixture_t *fixture, uint8_t *gate)
{
    fixture->config.pop_from_backoff = fixture->config.backoff_window = 0;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    *gate = (uint8_t)fit->gate;
    hx_park(fixture, "ns/a", 5, fit->bit);
    return fx_find(fixture, "ns/a").ref;
}

static void
changed_since_its_backoff_is_over(fixture_t *fixture, uint64_t ref)
{
    schedq_result_t before = fx_find(fixture, "ns/a"), result;
    schedq_stats_t stats = fx_stats(fixture);
    assert_true(before.ref == ref && before.backing_off == 0);
    assert_status(apply_if_backing_off(fixture, ref, &result), SCHEDQ_CHANGED);
    assert_memory_equal(&result, &before, sizeof result);
    result = fx_find(fixture, "ns/a");
    assert_memory_equal(&result, &before, sizeof result);
    schedq_stats_t after = fx_stats(fixture);
    assert_memory_equal(&after, &stats, sizeof after);
}

static void
a_decision_for_a_pod_that_backs_off_stands_until_the_backoff_is_over(void **state)
{
    fixture_t *fixture = *state;
    uint8_t gate;
    uint64_t ref = park_behind_backoff(fixture, &gate);
    schedq_result_t result;
    fx_advance(fixture, fixture->config.initial_backoff_ns - 1);
    assert_ok(apply_if_backing_off(fixture, ref, &result));
    assert_place(result.place, SCHEDQ_BACKOFF);
    ref = result.ref;
    assert_int_equal(result.backing_off, 1);
    fx_advance(fixture, 1);
    changed_since_its_backoff_is_over(fixture, ref);
    assert_ok(hx_apply(fixture, ref, SCHEDQ_BACKOFF, 0, 0, &result));
    assert_place(result.place, SCHEDQ_ACTIVE);
}

static void
a_parked_or_gated_pod_whose_backoff_is_over_stays_there(void **state)
{
    fixture_t *fixture = *state;
    uint8_t gate;
    uint64_t ref = park_behind_backoff(fixture, &gate);
    schedq_result_t result;
    fx_advance(fixture, fixture->config.initial_backoff_ns);
    changed_since_its_backoff_is_over(fixture, ref);
    assert_ok(hx_apply(fixture, ref, SCHEDQ_GATED, gate, 0, &result));
    changed_since_its_backoff_is_over(fixture, result.ref);
    assert_ok(hx_apply(fixture, result.ref, SCHEDQ_ACTIVE, 0, 0, &result));
    assert_status(apply_if_backing_off(fixture, ref, &result), SCHEDQ_GONE);
}

static void
an_update_and_the_end_of_the_backoff_are_told_at_once(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_result_t result;
    hx_park(fixture, "ns/a", 5, fit->bit);
    uint64_t ref = fx_find(fixture, "ns/a").ref;
    spec.object = 6;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 5, NULL, 0, NULL));
    fx_advance(fixture, SEC(2));
    assert_status(apply_if_backing_off(fixture, ref, &result), SCHEDQ_CHANGED);
    assert_true(result.ref != ref && result.ref == fx_find(fixture, "ns/a").ref);
    assert_int_equal(result.object, 6);
    assert_int_equal(result.backing_off, 0);
}

static void
apply_many_answers_for_each_decision(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    hx_park(fixture, "ns/a", 5, fit->bit);
    hx_park(fixture, "ns/b", 6, fit->bit);
    schedq_pod_t doomed = hx_park(fixture, "ns/c", 7, fit->bit);
    schedq_decision_t decisions[3];
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++) {
        decisions[i] = (schedq_decision_t)SCHEDQ_DECISION_INIT;
        decisions[i].event = SCHEDQ_EVENT_WILDCARD;
    }
    decisions[0].ref = fx_find(fixture, "ns/a").ref;
    decisions[0].place = SCHEDQ_ACTIVE;
    decisions[1].ref = fx_find(fixture, "ns/c").ref;
    decisions[1].place = SCHEDQ_ACTIVE;
    decisions[2].ref = fx_find(fixture, "ns/b").ref;
    decisions[2].place = SCHEDQ_BACKOFF;
    assert_ok(schedq_delete(fx_worker(fixture), doomed, NULL));
    uint8_t statuses[3];
    schedq_result_t results[3], sum;
    assert_status(schedq_apply_many(fx_worker(fixture), decisions, 3, statuses, results, &sum),
                  SCHEDQ_GONE);
    assert_int_equal(statuses[0], SCHEDQ_OK);
    assert_int_equal(statuses[1], SCHEDQ_GONE);
    assert_int_equal(statuses[2], SCHEDQ_OK);
    assert_int_equal(sum.to_active, 1);
    assert_int_equal(sum.to_backoff, 1);
    assert_int_equal(sum.poppable, 1);
    assert_place(results[0].place, SCHEDQ_ACTIVE);
    assert_place(results[2].place, SCHEDQ_BACKOFF);
    assert_ok(schedq_apply_many(fx_worker(fixture), NULL, 0, NULL, NULL, NULL));
}

/* The first one's ref is the pod's, the second one's was. */
static void
two_decisions_about_one_pod_take_effect_in_their_order(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *one = fx_plugin(fixture, "One", NULL, 0);
    fx_plugin_t *two = fx_plugin(fixture, "Two", NULL, 0);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.gate = (uint8_t)one->gate;
    (void)fx_add_spec(fixture, "ns/a", &spec);
    uint64_t before = fx_find(fixture, "ns/a").ref;
    schedq_result_t result;
    assert_ok(hx_apply(fixture, before, SCHEDQ_GATED, (uint8_t)two->gate, 0, &result));
    schedq_decision_t decisions[2];
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++) {
        decisions[i] = (schedq_decision_t)SCHEDQ_DECISION_INIT;
        decisions[i].event = SCHEDQ_EVENT_WILDCARD;
    }
    decisions[0].ref = fx_find(fixture, "ns/a").ref;
    decisions[1].ref = before;
    decisions[0].place = decisions[1].place = SCHEDQ_ACTIVE;
    uint8_t statuses[2];
    schedq_result_t sum;
    assert_status(schedq_apply_many(fx_worker(fixture), decisions, 2, statuses, NULL, &sum),
                  SCHEDQ_GONE);
    assert_int_equal(statuses[0], SCHEDQ_OK);
    assert_int_equal(statuses[1], SCHEDQ_GONE);
    assert_int_equal(sum.to_active, 1);
}

static void
one_malformed_decision_stops_all_of_them(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    hx_park(fixture, "ns/a", 5, fit->bit);
    schedq_decision_t decisions[2];
    for (size_t i = 0; i < sizeof decisions / sizeof *decisions; i++) {
        decisions[i] = (schedq_decision_t)SCHEDQ_DECISION_INIT;
        decisions[i].event = SCHEDQ_EVENT_WILDCARD;
    }
    decisions[0].ref = decisions[1].ref = fx_find(fixture, "ns/a").ref;
    decisions[0].place = SCHEDQ_ACTIVE;
    decisions[1].place = SCHEDQ_INFLIGHT;
    schedq_result_t sum;
    assert_status(schedq_apply_many(fx_worker(fixture), decisions, 2, NULL, NULL, &sum),
                  SCHEDQ_INVALID);
    assert_int_equal(sum.to_active, 0);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test_host(applying_gated_asks_for_a_newer_judgement_too),
        fx_test_host(a_pod_that_stays_gated_gets_a_new_ref),
        fx_test_host(a_pod_that_is_gated_again_comes_in_again_only_if_it_is_counted),
        fx_test_host(apply_moves_a_pod_where_it_is_told),
        fx_test_host(an_update_meanwhile_makes_a_decision_void),
        fx_test_host(a_pod_that_left_its_waiting_place_is_gone),
        fx_test_host(a_decision_for_a_pod_that_backs_off_stands_until_the_backoff_is_over),
        fx_test_host(a_parked_or_gated_pod_whose_backoff_is_over_stays_there),
        fx_test_host(an_update_and_the_end_of_the_backoff_are_told_at_once),
        fx_test_host(apply_many_answers_for_each_decision),
        fx_test_host(two_decisions_about_one_pod_take_effect_in_their_order),
        fx_test_host(one_malformed_decision_stops_all_of_them),
    };
    return fx_run_tests(argc, argv, tests);
}
