/*
 * Why is my pod not running: schedq_explain, its sentence, the names of rejectors, and the counts
 * of all pods by reason.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

static schedq_explanation_t
explain(fixture_t *fixture, schedq_pod_t pod)
{
    schedq_explanation_t explanation = SCHEDQ_EXPLANATION_INIT;
    assert_ok(schedq_explain(fx_worker(fixture), pod, &explanation));
    assert_true(explanation.pod.bits == pod.bits);
    assert_ns_equal(explanation.now_ns, fx_now(fixture));
    return explanation;
}

static void
assert_sentence(fixture_t *fixture, schedq_pod_t pod, const char *sentence)
{
    schedq_explanation_t explanation = explain(fixture, pod);
    char text[512];
    size_t length = schedq_explanation_text(fx_queue(fixture), &explanation, text, sizeof text);
    assert_string_equal(text, sentence);
    assert_int_equal(length, strlen(sentence));
}

static void
a_parked_pod_names_its_rejectors_and_when_time_tries_it(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *spread = fx_plugin(fixture, "Spread", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *claim = fx_plugin(fixture, "Claim", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit | spread->bit, claim->bit);
    fx_advance(fixture, MS(12300));
    schedq_explanation_t explanation = explain(fixture, pod);
    assert_place(explanation.place, SCHEDQ_PARKED);
    assert_int_equal(explanation.unschedulable, fit->bit | spread->bit);
    assert_int_equal(explanation.pending, claim->bit);
    assert_ns_equal(explanation.history.timestamp_ns, FX_START);
    assert_int_equal(explanation.history.attempts, 1);
    assert_int_equal(explanation.history.rejections, 1);
    assert_ns_equal(explanation.wake_ns, FX_START + SEC(300) + 1);
    assert_sentence(fixture, pod,
                    "parked, rejected by Fit, Spread, waits for Claim; came or failed 12.300 s "
                    "ago; time alone tries it again in 287.700 s; attempts 1, rejections 1, errors "
                    "0");
    fx_pass(fixture, explanation.wake_ns - fx_now(fixture) - 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    fx_pass(fixture, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
}

static void
a_pod_that_backs_off_tells_its_end(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_back_off(fixture, "ns/a", fit->bit, SCHEDQ_EVENT_NODE_ADD);
    schedq_pod_t error = fx_err(fixture, "ns/b");
    assert_ns_equal(explain(fixture, pod).wake_ns, FX_START + SEC(1));
    assert_ns_equal(explain(fixture, pod).backoff_expiry_ns, FX_START + SEC(1));
    assert_ok(schedq_nominate(fx_worker(fixture), pod, 7));
    assert_int_equal(explain(fixture, pod).nominated_node, 7);
    assert_sentence(fixture, pod,
                    "backs off, rejected by Fit; came or failed 0.000 s ago; time alone tries it "
                    "again in 1.000 s; attempts 1, rejections 1, errors 0; nominated to node 7");
    assert_sentence(fixture, error,
                    "backs off after an error; came or failed 0.000 s ago; time alone tries it "
                    "again in 1.000 s; attempts 1, rejections 0, errors 1");
    fx_advance(fixture, SEC(3)); /* and nobody serves time */
    assert_sentence(fixture, error,
                    "backs off after an error; came or failed 3.000 s ago; due for 2.000 s, until "
                    "a thread serves time; attempts 1, rejections 0, errors 1");
}

static void
a_pod_whose_backoff_only_the_host_ends_says_so(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.pop_from_backoff = 0;
    hx_back_off(fixture, "ns/a", 0, 0);
    fx_advance(fixture, SEC(2));
    assert_sentence(fixture, fx_find(fixture, "ns/a").pod,
                    "backs off after an error; came or failed 2.000 s ago; due for 1.000 s, until "
                    "the host applies it; attempts 1, rejections 0, errors 1");
}

static void
a_gated_pod_names_its_gate(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Quota", "Node", SCHEDQ_ACTION_ADD);
    gate->refuses = true;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    assert_int_equal(explain(fixture, pod).gate, gate->gate);
    assert_ns_equal(explain(fixture, pod).wake_ns, SCHEDQ_NO_DEADLINE);
    assert_sentence(fixture, pod,
                    "gated by Quota; came 0.000 s ago; attempts 0, rejections "
                    "0, errors 0");
}

static void
a_held_pod_tells_when_time_releases_it(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_result_t result;
    assert_ok(schedq_not_before(fx_worker(fixture), pod, FX_START + SEC(3), &result));
    assert_ns_equal(explain(fixture, pod).wake_ns, FX_START + SEC(3));
    assert_sentence(fixture, pod,
                    "held until its time; came 0.000 s ago; time alone tries it again in 3.000 s; "
                    "attempts 0, rejections 0, errors 0");
    assert_ok(schedq_hold(fx_worker(fixture), pod, &result));
    assert_ns_equal(explain(fixture, pod).wake_ns, SCHEDQ_NO_DEADLINE);
    assert_sentence(fixture, pod,
                    "held until it is released; came 0.000 s ago; attempts 0, rejections 0, errors "
                    "0");
}

static void
assert_freed_by(fixture_t *fixture, schedq_pod_t pod, const char *name)
{
    schedq_explanation_t explanation = explain(fixture, pod);
    char text[512];
    (void)schedq_explanation_text(fx_queue(fixture), &explanation, text, sizeof text);
    if (name == NULL) {
        assert_null(explanation.freed_by);
        assert_null(strstr(text, "freed last"));
        return;
    }
    char words[64];
    snprintf(words, sizeof words, "; freed last by %s", name);
    assert_string_equal(explanation.freed_by, name);
    assert_non_null(strstr(text, words));
}

static void
what_freed_a_pod_last_is_told(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
    assert_freed_by(fixture, pod, NULL);
    (void)fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_BACKOFF);
    assert_freed_by(fixture, pod, "NodeAdd");
    fx_pass(fixture, SEC(2)); /* the end of the backoff frees nothing */
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    assert_freed_by(fixture, pod, "NodeAdd");
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_freed_by(fixture, pod, "NodeAdd");
    fx_fail(fixture, &popped, fit->bit, 0);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    assert_freed_by(fixture, pod, "NodeAdd");
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    assert_freed_by(fixture, pod, "ForceActivate");
    popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit, 0);
    fx_pass(fixture, SEC(1000));
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    assert_freed_by(fixture, pod, "UnschedulableTimeout");
}

static void
an_event_that_opens_a_gate_frees_its_pods(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Quota", "Node", SCHEDQ_ACTION_ADD);
    gate->refuses = true;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    (void)fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_freed_by(fixture, pod, NULL);
    gate->refuses = false;
    (void)fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    assert_freed_by(fixture, pod, "NodeAdd");
}

static void
the_next_pod_of_a_record_was_not_freed(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    for (int i = 0; i < 5; i++) {
        schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
        assert_freed_by(fixture, pod, NULL);
        assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
        assert_freed_by(fixture, pod, "ForceActivate");
        assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    }
}

/* More than the bits that note the version at which a pod was freed can tell apart. */
static void
the_next_pod_of_a_record_was_not_freed_either_after_a_million_updates(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_park(fixture, "ns/a", fit->bit);
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    pod = fx_add(fixture, "ns/a", 0);
    for (int32_t i = 0; i < 1 << 20; i++) {
        schedq_pod_spec_t spec = fx_spec(i % 2);
        if (schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL) != SCHEDQ_OK) {
            fail_msg("update %d", i);
        }
    }
    assert_freed_by(fixture, pod, NULL);
}

static void
active_pods_and_those_in_flight_are_told_of(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    fx_advance(fixture, SEC(2));
    assert_sentence(fixture, pod,
                    "waits for its turn to be popped; came 2.000 s ago; attempts 0, rejections 0, "
                    "errors 0");
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_sentence(fixture, pod,
                    "popped, and its cycle has not ended; came or failed 2.000 s ago; attempts 1, "
                    "rejections 0, errors 0");
    fx_done(fixture, &popped);
    schedq_explanation_t explanation = SCHEDQ_EXPLANATION_INIT, before = explanation;
    assert_status(schedq_explain(fx_worker(fixture), pod, &explanation), SCHEDQ_NOT_FOUND);
    assert_memory_equal(&explanation, &before, sizeof before);
}

static void
a_sentence_is_cut_to_its_room(void **state)
{
    fixture_t *fixture = *state;
    schedq_explanation_t explanation = explain(fixture, fx_add(fixture, "ns/a", 0));
    char text[16] = "untouched";
    size_t length = schedq_explanation_text(fx_queue(fixture), &explanation, NULL, 0);
    assert_int_equal(schedq_explanation_text(fx_queue(fixture), &explanation, text, 10), length);
    assert_string_equal(text, "waits for");
    assert_int_equal(schedq_explanation_text(fx_queue(fixture), NULL, text, 10), 0);
    assert_int_equal(schedq_explanation_text(NULL, &explanation, text, 10), 0);
    assert_int_equal(schedq_explanation_text(fx_queue(fixture), &explanation, NULL, 10), 0);
}

static void
bits_have_names(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_t *queue = fx_queue(fixture);
    uint64_t late = schedq_rejector_bit(queue, 0, "Late", 4);
    assert_string_equal(schedq_rejector_name(queue, 0, fit->bit), "Fit");
    assert_string_equal(schedq_rejector_name(queue, 0, late), "Late");
    assert_string_equal(schedq_rejector_name(queue, 0, SCHEDQ_REJECTOR_OTHERS), "others");
    assert_null(schedq_rejector_name(queue, 0, fit->bit | late));
    assert_null(schedq_rejector_name(queue, 0, 0));
    assert_null(schedq_rejector_name(queue, 0, UINT64_C(1) << 40));
    assert_null(schedq_rejector_name(queue, 1, fit->bit));
    assert_null(schedq_rejector_name(NULL, 0, fit->bit));
}

static void
pods_are_counted_by_reason(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *spread = fx_plugin(fixture, "Spread", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Quota", "Node", SCHEDQ_ACTION_DELETE);
    char name[32];
    for (int i = 0; i < 30; i++) {
        snprintf(name, sizeof name, "ns/%d", i);
        fx_park(fixture, name, fit->bit | (i % 3 == 0 ? spread->bit : 0));
    }
    fx_err(fixture, "ns/error");
    gate->refuses = true;
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "ns/gated%d", i);
        fx_add(fixture, name, 0);
    }
    gate->refuses = false;
    schedq_reasons_t reasons = SCHEDQ_REASONS_INIT;
    assert_ok(schedq_count_reasons(fx_worker(fixture), 0, &reasons));
    assert_int_equal(reasons.parked, 30);
    assert_int_equal(reasons.gated, 5);
    assert_int_equal(reasons.error_backoff, 1);
    assert_int_equal(reasons.backoff, 0);
    for (unsigned i = 0; i < 64; i++) {
        uint64_t bit = UINT64_C(1) << i;
        assert_int_equal(reasons.parked_by[i], bit == fit->bit ? 30 : bit == spread->bit ? 10 : 0);
        assert_int_equal(reasons.gated_by[i], i + 1 == gate->gate ? 5 : 0);
    }
    assert_status(schedq_count_reasons(fx_worker(fixture), 1, &reasons), SCHEDQ_INVALID);
    reasons.struct_size = 0;
    assert_status(schedq_count_reasons(fx_worker(fixture), 0, &reasons), SCHEDQ_INVALID);
    assert_status(schedq_count_reasons(fx_worker(fixture), 0, NULL), SCHEDQ_INVALID);
    assert_status(schedq_explain(fx_worker(fixture), (schedq_pod_t){1}, NULL), SCHEDQ_INVALID);
    assert_int_equal(reasons.parked, 30);
}

int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        fx_test(a_parked_pod_names_its_rejectors_and_when_time_tries_it),
        fx_test(a_pod_that_backs_off_tells_its_end),
        cmocka_unit_test_setup_teardown(a_pod_whose_backoff_only_the_host_ends_says_so,
                                        fx_setup_host, fx_teardown),
        fx_test(a_gated_pod_names_its_gate),
        fx_test(a_held_pod_tells_when_time_releases_it),
        fx_test(what_freed_a_pod_last_is_told),
        fx_test(an_event_that_opens_a_gate_frees_its_pods),
        fx_test(the_next_pod_of_a_record_was_not_freed),
        fx_test(the_next_pod_of_a_record_was_not_freed_either_after_a_million_updates),
        fx_test(active_pods_and_those_in_flight_are_told_of),
        fx_test(a_sentence_is_cut_to_its_room),
        fx_test(bits_have_names),
        fx_test(pods_are_counted_by_reason),
    };
    return fx_run_tests(argc, argv, tests);
}
