/*
 * What a host reads without a call, and the clock that it drives: schedq_words, external_clock,
 * INVALID functions.
 */
#include <string.h>

#include "fixture.h"

static void
words_count_the_pods_of_each_waiting_place(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    const schedq_words_t *words = schedq_words(fx_queue(fixture));
    assert_non_null(words);
    assert_int_equal(words->parked + words->gated + words->backoff + words->error_backoff +
                         words->nominations,
                     0);
    assert_int_equal(words->closed, 0);
    assert_int_equal(words->poppable, 0);
    schedq_pod_t parked = fx_wait_everywhere(fixture, fit, gate).parked;
    assert_ok(schedq_nominate(fx_worker(fixture), parked, 9));
    assert_int_equal(words->backoff, 1);
    assert_int_equal(words->error_backoff, 1);
    assert_int_equal(words->parked, 1);
    assert_int_equal(words->gated, 1);
    assert_int_equal(words->nominations, 1);
    assert_int_equal(words->poppable, 1);
    assert_ns_equal(words->next_deadline_ns, FX_START + SEC(1));
    assert_ok(schedq_delete(fx_worker(fixture), parked, NULL));
    assert_int_equal(words->parked, 0);
    assert_int_equal(words->nominations, 0);
    assert_ptr_equal(schedq_words(fx_queue(fixture)), words);
}

static void
words_say_when_the_queue_is_closed(void **state)
{
    fixture_t *fixture = *state;
    const schedq_words_t *words = schedq_words(fx_queue(fixture));
    assert_ok(schedq_close(fx_queue(fixture)));
    assert_int_equal(words->closed, 1);
}

static void
words_say_whether_something_may_be_popped(void **state)
{
    fixture_t *fixture = *state;
    const schedq_words_t *words = schedq_words(fx_queue(fixture));
    fx_add(fixture, "ns/a", 0);
    assert_int_equal(words->poppable, 1);
    fx_pop(fixture, "ns/a");
    fx_pop_nothing(fixture);
    assert_int_equal(words->poppable, 0);
}

static void
moves_draw_sequences_too(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    const schedq_words_t *words = schedq_words(fx_queue(fixture));
    uint64_t before = words->event_sequence;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_true(words->event_sequence > before);
}

static void
the_callbacks_way_and_the_hosts_way_exclude_each_other(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    uint64_t sequence;
    schedq_query_t query = SCHEDQ_QUERY_INIT;
    schedq_candidate_t candidate;
    schedq_decision_t decision = SCHEDQ_DECISION_INIT;
    size_t count;
    decision.ref = 1;
    decision.place = SCHEDQ_ACTIVE;
    assert_status(schedq_event_begin(worker, &sequence), SCHEDQ_INVALID);
    assert_contains(schedq_worker_error(worker), "decide");
    assert_status(schedq_event_stamp(worker, 0, 0, UINT64_MAX), SCHEDQ_INVALID);
    assert_status(schedq_candidates(worker, &query, &candidate, 1, &count), SCHEDQ_INVALID);
    assert_status(schedq_apply(worker, &decision, NULL), SCHEDQ_INVALID);
    assert_status(schedq_apply_many(worker, &decision, 1, NULL, NULL, NULL), SCHEDQ_INVALID);

    fixture_t *host = fx_new(SCHEDQ_PRESET_DEFAULT);
    host->config.decide = SCHEDQ_DECIDE_HOST;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    assert_status(schedq_notify(fx_worker(host), &change, NULL), SCHEDQ_INVALID);
    assert_contains(schedq_worker_error(fx_worker(host)), "decide");
    assert_status(schedq_assigned_pod_added(fx_worker(host), &change, "ns", 2, NULL),
                  SCHEDQ_INVALID);
    assert_status(schedq_assigned_pod_updated(fx_worker(host), &change, "ns", 2, NULL),
                  SCHEDQ_INVALID);
    fx_free(host);
}

static void
a_host_registers_no_callbacks(void **state)
{
    fixture_t *fixture = *state;
    schedq_interest_t interest = {
        .resource = "Node", .actions = SCHEDQ_ACTION_ADD, .hint = fx_hint};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    uint64_t bit;
    char why[200];
    plugin.name = "Fit";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    assert_status(schedq_plugin_register(fx_queue(fixture), &plugin, &bit, why, sizeof why),
                  SCHEDQ_INVALID);
    assert_contains(why, "hint");
    interest.hint = NULL;
    assert_ok(schedq_plugin_register(fx_queue(fixture), &plugin, &bit, why, sizeof why));
}

/* ---- external clock ---- */

static void
use_external_clock(fixture_t *fixture)
{
    memset(&fixture->config.clock, 0, sizeof fixture->config.clock);
    fixture->config.external_clock = 1;
    fixture->config.start_ns = SEC(50);
}

static void
an_external_clock_is_a_word_that_the_host_raises(void **state)
{
    fixture_t *fixture = *state;
    use_external_clock(fixture);
    const schedq_words_t *words = schedq_words(fx_queue(fixture));
    assert_ns_equal(words->now_ns, SEC(50));
    assert_ns_equal(fx_find(fixture, (fx_add(fixture, "ns/a", 0), "ns/a")).timestamp_ns, SEC(50));
    assert_ok(schedq_clock_advance(fx_queue(fixture), SEC(70)));
    assert_ns_equal(words->now_ns, SEC(70));
    assert_ok(schedq_clock_advance(fx_queue(fixture), SEC(60)));
    assert_ns_equal(words->now_ns, SEC(70));
    fx_add(fixture, "ns/b", 0);
    assert_ns_equal(fx_find(fixture, "ns/b").timestamp_ns, SEC(70));
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, 0, 0);
    assert_ok(schedq_clock_advance(fx_queue(fixture), SEC(71)));
    assert_int_equal(fx_tick(fixture).to_active, 1);
}

static void
the_host_may_raise_the_word_itself(void **state)
{
    fixture_t *fixture = *state;
    use_external_clock(fixture);
    schedq_words_t *words = schedq_words(fx_queue(fixture));
    fx_err(fixture, "ns/a");
    words->now_ns = SEC(51);
    assert_int_equal(fx_tick(fixture).to_active, 1);
}

static void
only_an_external_clock_can_be_advanced(void **state)
{
    fixture_t *fixture = *state;
    assert_status(schedq_clock_advance(fx_queue(fixture), SEC(2000)), SCHEDQ_INVALID);
}

static void
with_an_external_clock_no_timer_thread_runs(void **state)
{
    fixture_t *fixture = *state;
    use_external_clock(fixture);
    assert_status(schedq_run(fx_queue(fixture), fixture->why, sizeof fixture->why), SCHEDQ_INVALID);
    assert_contains(fixture->why, "clock");
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(words_count_the_pods_of_each_waiting_place),
        fx_test(words_say_when_the_queue_is_closed),
        fx_test(words_say_whether_something_may_be_popped),
        fx_test(moves_draw_sequences_too),
        fx_test(the_callbacks_way_and_the_hosts_way_exclude_each_other),
        fx_test_host(a_host_registers_no_callbacks),
        fx_test(an_external_clock_is_a_word_that_the_host_raises),
        fx_test(the_host_may_raise_the_word_itself),
        fx_test(only_an_external_clock_can_be_advanced),
        fx_test(with_an_external_clock_no_timer_thread_runs),
    };
    return fx_run_tests(argc, argv, tests);
}
