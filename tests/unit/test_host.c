/* A host that decides for itself: sequences, stamps, RETRY, gates, time. */
#include <pthread.h>
#include <string.h>

#include "host.h"

static void
sequences_grow_and_are_readable_without_a_call(void **state)
{
    fixture_t *fixture = *state;
    uint64_t before = schedq_words(fx_queue(fixture))->event_sequence;
    uint64_t first = hx_begin(fixture), second = hx_begin(fixture);
    assert_true(first > before && second > first);
    assert_true(schedq_words(fx_queue(fixture))->event_sequence == second);
}

static void
a_stamp_of_a_rejector_forces_a_newer_judgement(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    uint64_t sequence = hx_event(fixture, fit->bit);
    assert_true(sequence > popped.seen);
    schedq_result_t result;
    schedq_token_t token = popped.token;
    assert_status(hx_fail(fixture, &token, SCHEDQ_PARKED, fit->bit, popped.seen, &result),
                  SCHEDQ_RETRY);
    assert_true(result.sequence >= sequence);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_INFLIGHT);
    assert_ok(schedq_token_alive(fx_worker(fixture), token));
    assert_ok(hx_fail(fixture, &token, SCHEDQ_PARKED, fit->bit, result.sequence, &result));
    assert_place(result.place, SCHEDQ_PARKED);
    assert_int_equal(fx_info(fixture, popped.pod).history.rejections, 1);
}

static void
a_stamp_of_another_plugin_forces_nothing(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *other = fx_plugin(fixture, "Other", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    hx_event(fixture, other->bit);
    schedq_result_t result;
    assert_ok(hx_fail(fixture, &popped.token, SCHEDQ_PARKED, fit->bit, popped.seen, &result));
}

static void
every_stamp_reaches_late_names(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    hx_event(fixture, 0);
    schedq_result_t result;
    assert_status(hx_fail(fixture, &popped.token, SCHEDQ_PARKED, SCHEDQ_REJECTOR_OTHERS,
                          popped.seen, &result),
                  SCHEDQ_RETRY);
    assert_ok(hx_fail(fixture, &popped.token, SCHEDQ_PARKED, SCHEDQ_REJECTOR_OTHERS,
                      result.sequence, &result));
}

static void
a_stamp_reaches_a_late_name_that_came_after_it(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    hx_event(fixture, 0);
    uint64_t late = schedq_rejector_bit(fx_queue(fixture), 0, "Late", 4);
    schedq_result_t result;
    assert_status(hx_fail(fixture, &popped.token, SCHEDQ_PARKED, late, popped.seen, &result),
                  SCHEDQ_RETRY);
    assert_ok(hx_fail(fixture, &popped.token, SCHEDQ_PARKED, late, result.sequence, &result));
}

static void
a_stamp_never_goes_back(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    uint64_t older = hx_begin(fixture), newer = hx_begin(fixture);
    assert_ok(schedq_event_stamp(fx_worker(fixture), newer, 0, UINT64_MAX));
    assert_ok(schedq_event_stamp(fx_worker(fixture), older, 0, fit->bit));
    schedq_result_t result;
    assert_status(hx_fail(fixture, &popped.token, SCHEDQ_PARKED, fit->bit, older, &result),
                  SCHEDQ_RETRY);
    assert_true(result.sequence >= newer);
}

static void
a_failure_that_is_retried_needs_no_judgement(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_result_t result;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    hx_event(fixture, fit->bit);
    assert_ok(hx_fail(fixture, &popped.token, SCHEDQ_BACKOFF, fit->bit, popped.seen, &result));
    assert_place(result.place, SCHEDQ_BACKOFF);
    popped = fx_pop(fixture, "ns/a");
    hx_event(fixture, fit->bit);
    assert_ok(hx_fail(fixture, &popped.token, SCHEDQ_ACTIVE, fit->bit, popped.seen, &result));
    assert_place(result.place, SCHEDQ_ACTIVE);
    popped = fx_pop(fixture, "ns/a");
    assert_ok(hx_fail(fixture, &popped.token, SCHEDQ_BACKOFF, 0, popped.seen, &result));
    assert_place(result.place, SCHEDQ_ERROR_BACKOFF);
}

static void
an_activation_in_flight_forces_a_retry(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    schedq_result_t result;
    assert_status(hx_fail(fixture, &popped.token, SCHEDQ_PARKED, fit->bit, popped.seen, &result),
                  SCHEDQ_RETRY);
    assert_ok(hx_fail(fixture, &popped.token, SCHEDQ_BACKOFF, fit->bit, result.sequence, &result));
    assert_place(result.place, SCHEDQ_BACKOFF);
}

/* Another thread's event, while a call has memory allocated. */
static struct {
    schedq_allocator_t allocator;
    schedq_worker_t *worker;
    uint64_t plugin, sequence;
    schedq_status_t begun, stamped;
} meanwhile;

static void *
stamp_meanwhile(void *unused)
{
    (void)unused;
    meanwhile.begun = schedq_event_begin(meanwhile.worker, &meanwhile.sequence);
    meanwhile.stamped =
        schedq_event_stamp(meanwhile.worker, meanwhile.sequence, 0, meanwhile.plugin);
    return NULL;
}

static void *
alloc_meanwhile(void *ctx, size_t bytes, size_t align)
{
    pthread_t thread;
    if (meanwhile.plugin != 0) {
        assert_int_equal(pthread_create(&thread, NULL, stamp_meanwhile, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        meanwhile.plugin = 0;
    }
    return meanwhile.allocator.alloc(ctx, bytes, align);
}

static void
a_retry_tells_of_the_pod_whenever_the_event_came(void **state)
{
    fixture_t *fixture = *state;
    if (fixture->config.engine == SCHEDQ_ENGINE_MUTEX)
        skip(); /* it allocates with the lock held: no event comes meanwhile */
    meanwhile.allocator = fixture->config.allocator;
    fixture->config.allocator.alloc = alloc_meanwhile;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 7);
    assert_ok(schedq_worker_register(fx_queue(fixture), &meanwhile.worker, NULL, 0));
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_pod_spec_t newest = fx_spec(7);
    newest.object = 5;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.place = SCHEDQ_PARKED;
    failure.unschedulable = meanwhile.plugin = fit->bit;
    failure.judged_up_to = popped.seen;
    failure.newest = &newest;
    schedq_result_t result;
    assert_status(schedq_fail(fx_worker(fixture), &popped.token, &failure, &result), SCHEDQ_RETRY);
    assert_ok(meanwhile.begun);
    assert_ok(meanwhile.stamped);
    assert_true(result.sequence >= meanwhile.sequence);
    assert_true(result.pod.bits == popped.pod.bits);
    assert_place(result.place, SCHEDQ_INFLIGHT);
    failure.judged_up_to = result.sequence;
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, &result));
    assert_place(result.place, SCHEDQ_PARKED);
    assert_ok(schedq_worker_unregister(meanwhile.worker));
}

static void
activate_leaves_waiting_pods_to_the_host(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = hx_park(fixture, "ns/a", 5, fit->bit);
    schedq_result_t result;
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, &result));
    assert_int_equal(result.to_active, 0);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
}

static void
a_gated_add_is_retried_if_the_gate_has_a_newer_stamp(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_plugin(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *other = fx_plugin(fixture, "Other", "Node", SCHEDQ_ACTION_ADD);
    fx_worker(fixture);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.gate = (uint8_t)gate->gate;
    spec.judged_up_to = schedq_words(fx_queue(fixture))->event_sequence;
    uint64_t sequence = hx_event(fixture, gate->bit);
    schedq_result_t result;
    assert_status(schedq_add(fx_worker(fixture), "ns/a", 4, &spec, &result), SCHEDQ_RETRY);
    assert_true(result.sequence >= sequence);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
    spec.judged_up_to = result.sequence;
    hx_event(fixture, other->bit);
    assert_ok(schedq_add(fx_worker(fixture), "ns/a", 4, &spec, &result));
    assert_place(result.place, SCHEDQ_GATED);
    assert_int_equal(result.gate, gate->gate);
    schedq_result_t found = fx_find(fixture, "ns/a");
    assert_int_equal(found.unschedulable, gate->bit);
    assert_true(found.ref != 0);
}

static void
tick_moves_due_backoff_that_pop_could_take(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    hx_back_off(fixture, "ns/a", 0, fit->bit);
    hx_back_off(fixture, "ns/b", 0, 0);
    schedq_result_t result = fx_pass(fixture, SEC(1));
    assert_int_equal(result.to_active, 2);
    assert_int_equal(result.left, 0);
}

static void
a_host_parks_an_error_only_if_it_judged_every_event(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.errors_park = 1;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    schedq_result_t result;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    hx_event(fixture, fit->bit);
    assert_status(hx_fail(fixture, &popped.token, SCHEDQ_PARKED, 0, popped.seen, &result),
                  SCHEDQ_RETRY);
    assert_ok(hx_fail(fixture, &popped.token, SCHEDQ_PARKED, 0, result.sequence, &result));
    assert_place(result.place, SCHEDQ_PARKED);
    schedq_candidate_t out[8];
    assert_int_equal(hx_collect(fixture, hx_query(fit->bit, 0), out, 8, 4), 1);
}

static void
a_bound_pod_that_failed_is_readded_where_the_host_says(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_plugin(fixture, "Gate", NULL, 0);
    fx_worker(fixture);
    schedq_history_t history = {.attempts = 2, .errors = 1};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    static const struct {
        schedq_place_t asked, got;
    } cases[] = {{SCHEDQ_ACTIVE, SCHEDQ_ACTIVE},
                 {SCHEDQ_BACKOFF, SCHEDQ_ERROR_BACKOFF},
                 {SCHEDQ_GATED, SCHEDQ_GATED}};
    char name[] = "ns/0";
    for (size_t i = 0; i < 3; i++) {
        name[3] = (char)('0' + i);
        schedq_pod_spec_t spec = fx_spec(0);
        schedq_result_t result;
        failure.place = (uint8_t)cases[i].asked;
        failure.gate = cases[i].asked == SCHEDQ_GATED ? (uint8_t)gate->gate : 0;
        assert_ok(schedq_readd(fx_worker(fixture), name, strlen(name), &spec, &history, &failure,
                               &result));
        assert_place(result.place, cases[i].got);
    }
    schedq_pod_spec_t spec = fx_spec(0);
    failure.place = SCHEDQ_PARKED;
    failure.gate = 0;
    assert_status(schedq_readd(fx_worker(fixture), "ns/parked", 9, &spec, &history, &failure, NULL),
                  SCHEDQ_INVALID);
}

/* What result->backing_off says, the one candidate that there is says too. */
static void
assert_backs_off(fixture_t *fixture, const schedq_result_t *result, int backing_off)
{
    schedq_query_t query = hx_query(UINT64_MAX, UINT64_MAX);
    schedq_candidate_t out[2];
    query.backoff = 1;
    assert_int_equal(hx_collect(fixture, query, out, 2, 1), 1);
    assert_true(result->ref == out[0].ref);
    assert_int_equal(result->backing_off, backing_off);
    assert_int_equal(out[0].backing_off, backing_off);
}

static void
a_ref_comes_with_whether_its_pod_backs_off(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_result_t result = fx_add_spec(fixture, "ns/a", &spec);
    assert_int_equal(result.backing_off, 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_int_equal(fx_find(fixture, "ns/a").backing_off, 0);
    assert_ok(hx_fail(fixture, &popped.token, SCHEDQ_PARKED, fit->bit, popped.seen, &result));
    assert_backs_off(fixture, &result, 1);
    uint64_t old = result.ref;
    result = fx_find(fixture, "ns/a");
    assert_backs_off(fixture, &result, 1);
    assert_status(schedq_add(fx_worker(fixture), "ns/a", 4, &spec, &result), SCHEDQ_EXISTS);
    assert_backs_off(fixture, &result, 1);
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, &result));
    assert_backs_off(fixture, &result, 1);
    assert_status(hx_apply(fixture, old, SCHEDQ_ACTIVE, 0, 0, &result), SCHEDQ_CHANGED);
    assert_backs_off(fixture, &result, 1);
    fx_advance(fixture, SEC(1));
    assert_status(hx_apply(fixture, old, SCHEDQ_ACTIVE, 0, 0, &result), SCHEDQ_CHANGED);
    assert_backs_off(fixture, &result, 0);
    result = fx_find(fixture, "ns/a");
    assert_backs_off(fixture, &result, 0);
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, &result));
    assert_backs_off(fixture, &result, 0);
}

static void
a_pod_that_was_moved_tells_whether_it_backs_off(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    schedq_result_t result;
    hx_park(fixture, "ns/a", 5, fit->bit);
    assert_ok(hx_apply(fixture, fx_find(fixture, "ns/a").ref, SCHEDQ_GATED, (uint8_t)fit->gate, 0,
                       &result));
    assert_backs_off(fixture, &result, 1);
    assert_ok(hx_apply(fixture, result.ref, SCHEDQ_BACKOFF, 0, 0, &result));
    assert_place(result.place, SCHEDQ_BACKOFF);
    assert_backs_off(fixture, &result, 1);
    assert_ok(hx_apply(fixture, result.ref, SCHEDQ_ACTIVE, 0, 0, &result));
    assert_int_equal(result.ref, 0);
    assert_int_equal(result.backing_off, 0);
}

static void
a_pod_that_comes_in_gated_tells_whether_it_backs_off(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.gate = (uint8_t)fit->gate;
    schedq_result_t result = fx_add_spec(fixture, "ns/a", &spec);
    assert_backs_off(fixture, &result, 0);
    assert_ok(schedq_delete(fx_worker(fixture), result.pod, NULL));
    schedq_history_t history = {.attempts = 1};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.place = SCHEDQ_GATED;
    failure.gate = (uint8_t)fit->gate;
    failure.unschedulable = fit->bit;
    spec.gate = 0;
    assert_ok(schedq_readd(fx_worker(fixture), "ns/a", 4, &spec, &history, &failure, &result));
    assert_backs_off(fixture, &result, 1);
    assert_ok(schedq_delete(fx_worker(fixture), result.pod, &result));
    assert_int_equal(result.backing_off, 0);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test_host(sequences_grow_and_are_readable_without_a_call),
        fx_test_host(a_stamp_of_a_rejector_forces_a_newer_judgement),
        fx_test_host(a_stamp_of_another_plugin_forces_nothing),
        fx_test_host(every_stamp_reaches_late_names),
        fx_test_host(a_stamp_reaches_a_late_name_that_came_after_it),
        fx_test_host(a_stamp_never_goes_back),
        fx_test_host(a_failure_that_is_retried_needs_no_judgement),
        fx_test_host(an_activation_in_flight_forces_a_retry),
        fx_test_host(a_retry_tells_of_the_pod_whenever_the_event_came),
        fx_test_host(activate_leaves_waiting_pods_to_the_host),
        fx_test_host(a_gated_add_is_retried_if_the_gate_has_a_newer_stamp),
        fx_test_host(tick_moves_due_backoff_that_pop_could_take),
        fx_test_host(a_host_parks_an_error_only_if_it_judged_every_event),
        fx_test_host(a_bound_pod_that_failed_is_readded_where_the_host_says),
        fx_test_host(a_ref_comes_with_whether_its_pod_backs_off),
        fx_test_host(a_pod_that_was_moved_tells_whether_it_backs_off),
        fx_test_host(a_pod_that_comes_in_gated_tells_whether_it_backs_off),
    };
    return fx_run_tests(argc, argv, tests);
}
