/*
 * A missing worker or queue is INVALID (0 or NULL from what returns no status), in every function.
 */
#include <string.h>

#include "fixture.h"

static int
visit_nothing(void *ctx, const schedq_pod_info_t *pod)
{
    (void)ctx;
    (void)pod;
    return 1;
}

static int
write_nothing(void *ctx, const char *text, size_t length)
{
    (void)ctx;
    (void)text;
    (void)length;
    return 1;
}

#define REFUSED(call) assert_status((call), SCHEDQ_INVALID)

static void
a_missing_worker_is_refused(void **state)
{
    (void)state;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_popped_t popped;
    schedq_result_t result, zero;
    schedq_history_t history = {0};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_query_t query = SCHEDQ_QUERY_INIT;
    schedq_candidate_t candidate;
    schedq_decision_t decision = SCHEDQ_DECISION_INIT;
    schedq_token_t token = {1};
    schedq_pod_t pod = {1};
    uint64_t sequence;
    size_t count;
    memset(&zero, 0, sizeof zero);
    memset(&result, 0xff, sizeof result);
    REFUSED(schedq_add(NULL, "ns/a", 4, &spec, &result));
    assert_memory_equal(&result, &zero, sizeof zero);
    REFUSED(
        schedq_add_many(NULL, "ns/a", 4, &(schedq_add_item_t){0, 4, spec}, 1, NULL, NULL, NULL));
    REFUSED(schedq_try_pop(NULL, &popped));
    REFUSED(schedq_pop(NULL, &popped));
    REFUSED(schedq_try_pop_many(NULL, &popped, 1, &count));
    REFUSED(schedq_done(NULL, token));
    REFUSED(schedq_done_many(NULL, &token, 1, NULL));
    REFUSED(schedq_token_alive(NULL, token));
    REFUSED(schedq_fail(NULL, &token, &failure, NULL));
    REFUSED(schedq_readd(NULL, "ns/a", 4, &spec, &history, &failure, NULL));
    REFUSED(schedq_find(NULL, "ns/a", 4, NULL));
    REFUSED(schedq_update(NULL, "ns/a", 4, &spec, 0, NULL, 0, NULL));
    REFUSED(schedq_delete(NULL, pod, NULL));
    REFUSED(schedq_activate(NULL, &pod, 1, NULL));
    REFUSED(schedq_nominate(NULL, pod, 1));
    REFUSED(schedq_notify(NULL, &change, NULL));
    REFUSED(schedq_assigned_pod_added(NULL, &change, "ns", 2, NULL));
    REFUSED(schedq_assigned_pod_updated(NULL, &change, "ns", 2, NULL));
    REFUSED(schedq_event_begin(NULL, &sequence));
    REFUSED(schedq_event_stamp(NULL, 1, 0, 1));
    REFUSED(schedq_candidates(NULL, &query, &candidate, 1, &count));
    REFUSED(schedq_apply(NULL, &decision, NULL));
    REFUSED(schedq_apply_many(NULL, &decision, 1, NULL, NULL, NULL));
    REFUSED(schedq_get(NULL, pod, visit_nothing, NULL));
    REFUSED(schedq_peek(NULL, visit_nothing, NULL));
    REFUSED(schedq_peek_many(NULL, 1, visit_nothing, NULL));
    REFUSED(schedq_position(NULL, pod, &sequence, &sequence));
    REFUSED(schedq_snapshot(NULL, visit_nothing, NULL));
    REFUSED(schedq_nominated_pods(NULL, 1, visit_nothing, NULL));
    REFUSED(schedq_tick(NULL, NULL, NULL));
    REFUSED(schedq_worker_unregister(NULL));
}

static void
a_missing_queue_is_refused(void **state)
{
    (void)state;
    schedq_worker_t *worker;
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    schedq_event_t event;
    schedq_profile_t profile;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    uint64_t bit;
    char text[64];
    plugin.name = "Fit";
    REFUSED(schedq_reserve(NULL, 1, 1, 1, text, sizeof text));
    REFUSED(schedq_trim(NULL));
    REFUSED(schedq_clock_advance(NULL, 1));
    REFUSED(schedq_event_define(NULL, "Thing", SCHEDQ_ACTION_ADD, NULL, &event, text, sizeof text));
    REFUSED(schedq_profile_define(NULL, "late", &profile, text, sizeof text));
    REFUSED(schedq_plugin_register(NULL, &plugin, &bit, text, sizeof text));
    REFUSED(schedq_plugin_name(NULL, 0, "Fit", 3, &bit, text, sizeof text));
    REFUSED(schedq_worker_register(NULL, &worker, text, sizeof text));
    REFUSED(schedq_worker_adopt(NULL, NULL));
    REFUSED(schedq_run(NULL, text, sizeof text));
    REFUSED(schedq_stop(NULL));
    REFUSED(schedq_close(NULL));
    REFUSED(schedq_stats(NULL, &stats));
    REFUSED(schedq_metrics_write(NULL, write_nothing, NULL));
    assert_int_equal(schedq_rejector_bit(NULL, 0, "Fit", 3), 0);
    assert_int_equal(schedq_event_plugins(NULL, 0, 0), 0);
    assert_int_equal(schedq_pending_text(NULL, text, sizeof text), 0);
    assert_null(schedq_words(NULL));
    assert_ok(schedq_destroy_with_pods(NULL, NULL, 0));
}

static void
a_worker_without_an_error_has_empty_words(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    assert_string_equal(schedq_worker_error(worker), "");
    assert_status(schedq_try_pop(worker, NULL), SCHEDQ_INVALID);
    assert_true(strlen(schedq_worker_error(worker)) > 0);
    fx_add(fixture, "ns/a", 0);
    assert_string_equal(schedq_worker_error(worker), "");
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_worker_is_refused),
        cmocka_unit_test(a_missing_queue_is_refused),
        fx_test(a_worker_without_an_error_has_empty_words),
    };
    return fx_run_tests(argc, argv, tests);
}
