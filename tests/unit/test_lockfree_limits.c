/* What the lock-free engine cannot do is refused with words that name it, and changes nothing. Also: calls after the end. */
#include <string.h>

#include "fixture.h"

static void
expect_lacking(const char *words)
{
    assert_contains(words, "engine lockfree");
}

/* The worker's call is INVALID, its words name the engine. */
#define LACKS(fixture, call)                           \
    do {                                               \
        assert_status((call), SCHEDQ_INVALID);         \
        expect_lacking(words_of((fixture)));           \
        fx_assert_counts((fixture), 1, 0, 0, 0, 0, 1); \
    } while (0)

static const char *
words_of(fixture_t *fixture)
{
    return schedq_worker_error(fx_worker(fixture));
}

static int
visit_never(void *ctx, const schedq_pod_info_t *pod)
{
    (void)pod;
    ++*(unsigned *)ctx;
    return 1;
}

static int
write_never(void *ctx, const char *text, size_t length)
{
    (void)text;
    (void)length;
    ++*(unsigned *)ctx;
    return 1;
}

/* One pod active, one in flight. */
static schedq_popped_t
fill(fixture_t *fixture)
{
    fx_add(fixture, "ns/flying", 1);
    fx_add(fixture, "ns/active", 0);
    return fx_pop(fixture, "ns/flying");
}

static void
failures_are_refused_and_the_pod_stays_in_flight(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped = fill(fixture);
    schedq_token_t token = popped.token;
    schedq_result_t result, zero;
    schedq_failure_t failure;
    schedq_failure_init(&failure);
    memset(&zero, 0, sizeof zero);
    memset(&result, 0xff, sizeof result);
    LACKS(fixture, schedq_add_unschedulable(fx_worker(fixture), &token, &failure, &result));
    assert_memory_equal(&result, &zero, sizeof zero);
    failure.unschedulable = SCHEDQ_REJECTOR_OTHERS;
    LACKS(fixture, schedq_add_unschedulable(fx_worker(fixture), &token, &failure, NULL));
    assert_true(token.bits == popped.token.bits);
    fx_done(fixture, &popped);
}

static void
readd_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fill(fixture);
    schedq_pod_spec_t spec = fx_spec("ns/new", 0);
    schedq_history_t history = {0};
    schedq_failure_t failure;
    schedq_failure_init(&failure);
    LACKS(fixture, schedq_readd(fx_worker(fixture), "ns/new", &spec, &history, &failure, NULL));
    assert_place(fx_place(fixture, "ns/new"), SCHEDQ_NOWHERE);
}

static void
nominations_are_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped = fill(fixture);
    schedq_pod_t active = fx_find(fixture, "ns/active").pod;
    unsigned visits = 0;
    LACKS(fixture, schedq_nominate(fx_worker(fixture), active, 3));
    LACKS(fixture, schedq_nominate(fx_worker(fixture), popped.pod, 3));
    LACKS(fixture, schedq_nominated_pods(fx_worker(fixture), 3, visit_never, &visits));
    assert_int_equal(visits, 0);
}

static void
a_spec_with_a_nomination_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fill(fixture);
    schedq_pod_spec_t spec = fx_spec("ns/new", 0), there = fx_spec("ns/active", 9), flying = fx_spec("ns/flying", 9);
    uint8_t status = SCHEDQ_OK;
    spec.nominated_node = there.nominated_node = flying.nominated_node = 7;
    LACKS(fixture, schedq_add(fx_worker(fixture), "ns/new", &spec, NULL));
    LACKS(fixture, schedq_update(fx_worker(fixture), "ns/new", &spec, 0, NULL, 0, NULL));
    LACKS(fixture, schedq_update(fx_worker(fixture), "ns/active", &there, 0, NULL, 0, NULL));
    LACKS(fixture, schedq_update(fx_worker(fixture), "ns/flying", &flying, 0, NULL, 0, NULL));
    LACKS(fixture, schedq_add_many(fx_worker(fixture), "ns/new", &spec, 1, NULL, NULL, NULL));
    LACKS(fixture, schedq_add_many(fx_worker(fixture), "ns/new", &spec, 1, NULL, &status, NULL));
    assert_int_equal(status, SCHEDQ_INVALID);
    assert_place(fx_place(fixture, "ns/new"), SCHEDQ_NOWHERE);
    assert_int_equal(fx_info(fixture, fx_find(fixture, "ns/active").pod).priority, 0);
    assert_int_equal(fx_info(fixture, fx_find(fixture, "ns/flying").pod).priority, 1);
}

static void
a_nominated_element_does_not_stop_its_batch_unless_statuses_are_missing(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t specs[3];
    uint8_t statuses[3];
    for (uint32_t i = 0; i < 3; i++) {
        specs[i] = fx_spec("ns/a", 0);
        specs[i].name_offset = 5 * i;
    }
    specs[1].nominated_node = 7;
    const char *names = "ns/a ns/b ns/c";
    assert_status(schedq_add_many(fx_worker(fixture), names, specs, 3, NULL, NULL, NULL), SCHEDQ_INVALID);
    expect_lacking(words_of(fixture));
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
    assert_status(schedq_add_many(fx_worker(fixture), names, specs, 3, NULL, statuses, NULL), SCHEDQ_INVALID);
    assert_int_equal(statuses[0], SCHEDQ_OK);
    assert_int_equal(statuses[1], SCHEDQ_INVALID);
    assert_int_equal(statuses[2], SCHEDQ_OK);
    fx_assert_counts(fixture, 2, 0, 0, 0, 0, 0);
}

static void
events_are_refused(void **state)
{
    fixture_t *fixture = *state;
    fill(fixture);
    schedq_move_t move;
    schedq_result_t result;
    schedq_move_init(&move);
    memset(&result, 0xff, sizeof result);
    LACKS(fixture, schedq_move_all(fx_worker(fixture), &move, &result));
    assert_int_equal(result.to_active + result.poppable, 0);
    move.event = SCHEDQ_EVENT_ASSIGNED_POD_ADD;
    LACKS(fixture, schedq_assigned_pod_added(fx_worker(fixture), &move, "ns", 2, NULL));
    LACKS(fixture, schedq_assigned_pod_updated(fx_worker(fixture), &move, "ns", 2, NULL));
    assert_int_equal(fx_stats(fixture).events, 0);
}

static void
setup_is_refused_before_and_after_the_first_worker(void **state)
{
    fixture_t *fixture = *state;
    schedq_t *queue = fx_queue(fixture);
    char *why = fixture->why;
    const size_t room = sizeof fixture->why;
    for (int round = 0; round < 2; round++) {
        schedq_event_t event = 77;
        schedq_profile_t profile = 77;
        uint64_t bit = 77;
        schedq_plugin_t plugin;
        schedq_plugin_init(&plugin);
        plugin.name = "Fit";
        assert_status(schedq_event_define(queue, "Thing", SCHEDQ_ACTION_ADD, NULL, &event, why, room), SCHEDQ_INVALID);
        expect_lacking(why);
        assert_status(schedq_profile_define(queue, "batch", &profile, why, room), SCHEDQ_INVALID);
        expect_lacking(why);
        assert_status(schedq_plugin_register(queue, &plugin, &bit, why, room), SCHEDQ_INVALID);
        expect_lacking(why);
        assert_status(schedq_plugin_name(queue, 0, "Fit", 3, &bit, why, room), SCHEDQ_INVALID);
        expect_lacking(why);
        assert_int_equal(event, 77);
        assert_int_equal(profile, 77);
        assert_int_equal(bit, 77);
        fx_worker(fixture);
    }
}

static void
a_late_name_shares_the_last_bit(void **state)
{
    fixture_t *fixture = *state;
    assert_true(schedq_rejector_bit(fx_queue(fixture), 0, "Late", 4) == SCHEDQ_REJECTOR_OTHERS);
    assert_true(schedq_rejector_bit(fx_queue(fixture), 0, "Later", 5) == SCHEDQ_REJECTOR_OTHERS);
}

static void
walks_are_refused(void **state)
{
    fixture_t *fixture = *state;
    fill(fixture);
    unsigned visits = 0;
    LACKS(fixture, schedq_snapshot(fx_worker(fixture), visit_never, &visits));
    assert_status(schedq_metrics_write(fx_queue(fixture), write_never, &visits), SCHEDQ_INVALID);
    assert_int_equal(visits, 0);
}

static void
no_timer_thread_runs(void **state)
{
    fixture_t *fixture = *state;
    fx_use_real_clock(fixture);
    assert_status(schedq_run(fx_queue(fixture), fixture->why, sizeof fixture->why), SCHEDQ_INVALID);
    expect_lacking(fixture->why);
    assert_ok(schedq_stop(fx_queue(fixture)));
    assert_int_equal(fx_stats(fixture).workers, 0);
}

static void
a_queue_whose_host_decides_is_not_made(void **state)
{
    fixture_t *fixture = *state;
    schedq_t *queue = (schedq_t *)1;
    fixture->config.decide = SCHEDQ_DECIDE_HOST;
    assert_status(schedq_create(&fixture->config, &queue, fixture->why, sizeof fixture->why), SCHEDQ_INVALID);
    assert_null(queue);
    assert_contains(fixture->why, "decide");
    assert_contains(fixture->why, "SCHEDQ_ENGINE_LOCKFREE");
    fixture->config.decide = SCHEDQ_DECIDE_CALLBACKS;
}

static void
what_only_a_deciding_host_calls_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fill(fixture);
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_query_t query;
    schedq_candidate_t candidate;
    schedq_decision_t decision;
    uint64_t sequence = 77;
    size_t count = 77;
    schedq_query_init(&query);
    memset(&decision, 0, sizeof decision);
    decision.place = SCHEDQ_ACTIVE;
    const schedq_status_t answers[] = {
        schedq_event_begin(worker, &sequence),
        schedq_event_stamp(worker, 0, 0, 1),
        schedq_candidates(worker, &query, &candidate, 1, &count),
        schedq_apply(worker, &decision, NULL),
        schedq_apply_many(worker, &decision, 1, NULL, NULL, NULL),
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        assert_status(answers[i], SCHEDQ_INVALID);
    assert_contains(words_of(fixture), "SCHEDQ_DECIDE_HOST");
    assert_int_equal(sequence, 77);
    assert_int_equal(count, 77);
    fx_assert_counts(fixture, 1, 0, 0, 0, 0, 1);
}

/* Its memory stays until destroy, so this is defined, though nobody should do it. */
static void
a_worker_that_was_unregistered_is_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *former;
    schedq_popped_t popped = fill(fixture), out;
    assert_ok(schedq_worker_register(fx_queue(fixture), &former, NULL, 0));
    assert_ok(schedq_worker_unregister(former));
    schedq_pod_spec_t spec = fx_spec("ns/new", 0);
    size_t count;
    assert_status(schedq_add(former, "ns/new", &spec, NULL), SCHEDQ_BUSY);
    assert_status(schedq_add_many(former, "ns/new", &spec, 1, NULL, NULL, NULL), SCHEDQ_BUSY);
    assert_status(schedq_try_pop(former, &out), SCHEDQ_BUSY);
    assert_status(schedq_pop(former, SCHEDQ_NO_DEADLINE, &out), SCHEDQ_BUSY);
    assert_status(schedq_pop_many(former, &out, 1, &count), SCHEDQ_BUSY);
    assert_status(schedq_done(former, popped.token), SCHEDQ_BUSY);
    assert_status(schedq_token_alive(former, popped.token), SCHEDQ_BUSY);
    assert_status(schedq_find(former, "ns/active", 9, NULL), SCHEDQ_BUSY);
    assert_status(schedq_update(former, "ns/active", &spec, 0, NULL, 0, NULL), SCHEDQ_BUSY);
    assert_status(schedq_delete(former, popped.pod, NULL, 0, NULL), SCHEDQ_BUSY);
    assert_status(schedq_tick(former, NULL, NULL), SCHEDQ_BUSY);
    assert_status(schedq_worker_unregister(former), SCHEDQ_BUSY);
    assert_status(schedq_worker_adopt(fx_queue(fixture), former), SCHEDQ_INVALID);
    assert_status(schedq_try_pop(former, &out), SCHEDQ_BUSY);
    fx_assert_counts(fixture, 1, 0, 0, 0, 0, 1);
    assert_int_equal(fx_stats(fixture).workers, 1);
    fx_done(fixture, &popped);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fx_test_lockfree(failures_are_refused_and_the_pod_stays_in_flight),
        fx_test_lockfree(readd_is_refused),
        fx_test_lockfree(nominations_are_refused),
        fx_test_lockfree(a_spec_with_a_nomination_is_refused),
        fx_test_lockfree(a_nominated_element_does_not_stop_its_batch_unless_statuses_are_missing),
        fx_test_lockfree(events_are_refused),
        fx_test_lockfree(setup_is_refused_before_and_after_the_first_worker),
        fx_test_lockfree(a_late_name_shares_the_last_bit),
        fx_test_lockfree(walks_are_refused),
        fx_test_lockfree(no_timer_thread_runs),
        fx_test_lockfree(a_queue_whose_host_decides_is_not_made),
        fx_test_lockfree(what_only_a_deciding_host_calls_is_refused),
        fx_test_lockfree(a_worker_that_was_unregistered_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
