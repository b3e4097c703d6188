/*
 * Bad arguments of every public function: INVALID with words (argument, value, range), and nothing
 * has changed.
 */
#include <string.h>

#include "fixture.h"

static const char *
words_of(fixture_t *fixture)
{
    return schedq_worker_error(fx_worker(fixture));
}

#define REFUSED(fixture, call, part)              \
    do {                                          \
        assert_status((call), SCHEDQ_INVALID);    \
        assert_contains(words_of(fixture), part); \
    } while (0)

static void
bad_names_are_refused_everywhere(void **state)
{
    fixture_t *fixture = *state;
    static char too_long[SCHEDQ_NAME_MAX + 2];
    memset(too_long, 'x', sizeof too_long - 1);
    too_long[2] = '/';
    const struct {
        const char *name;
        uint32_t length;
    } names[] = {{"", 0},
                 {"a", 1},
                 {"ab", 2},
                 {"abc", 3},
                 {"/ab", 3},
                 {"ab/", 3},
                 {"a/b/c", 5},
                 {"a//b", 4},
                 {"a/\0b", 4},
                 {"a/b\0", 4},
                 {"\0/b", 3},
                 {too_long, SCHEDQ_NAME_MAX + 1},
                 {"a/b", UINT32_MAX}};
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_history_t history = {0};
    schedq_failure_t failure;
    schedq_failure_init(&failure);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = names[i].name;
        uint32_t length = names[i].length;
        schedq_pod_spec_t spec = fx_spec("", 0);
        spec.name_length = length;
        schedq_result_t result;
        memset(&result, 0xff, sizeof result);
        REFUSED(fixture, schedq_add(worker, name, &spec, &result), "name");
        assert_int_equal(result.pod.bits | result.place | result.to_active, 0);
        REFUSED(fixture, schedq_add_many(worker, name, &spec, 1, NULL, NULL, NULL), "name");
        REFUSED(fixture, schedq_update(worker, name, &spec, 0, NULL, 0, NULL), "name");
        REFUSED(fixture, schedq_readd(worker, name, &spec, &history, &failure, NULL), "name");
        REFUSED(fixture, schedq_find(worker, name, length, NULL), "name");
        REFUSED(fixture, schedq_delete(worker, (schedq_pod_t){0}, name, length, NULL), "name");
    }
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

static void
the_words_about_a_name_tell_its_length_and_the_range(void **state)
{
    fixture_t *fixture = *state;
    static char too_long[SCHEDQ_NAME_MAX + 2];
    memset(too_long, 'x', sizeof too_long - 1);
    REFUSED(fixture, schedq_find(fx_worker(fixture), too_long, SCHEDQ_NAME_MAX + 1, NULL), "318");
    assert_contains(words_of(fixture), "317");
    REFUSED(fixture, schedq_find(fx_worker(fixture), "a", 1, NULL), "3");
    assert_ok(schedq_delete(fx_worker(fixture), fx_add(fixture, "ns/a", 0), NULL, 0, NULL));
    assert_non_null(words_of(fixture));
}

static bool
is_name(const char *text, uint32_t length)
{
    uint32_t slashes = 0, nuls = 0;
    for (uint32_t i = 0; i < length; i++) {
        slashes += text[i] == '/';
        nuls += text[i] == '\0';
    }
    return slashes == 1 && nuls == 0 && text[0] != '/' && text[length - 1] != '/';
}

/* Wherever in a text a byte is that counts, or one that resembles it. */
static void
a_name_is_judged_by_its_bytes_alone(void **state)
{
    static const char letters[] = {'/', '.', '0', 'a', '\0', (char)0xaf, (char)0x80, (char)0xff};
    schedq_worker_t *worker = fx_worker(*state);
    char text[SCHEDQ_NAME_MAX];
    uint32_t random = 1, names = 0;
    for (uint32_t i = 0; i < 200000; i++) {
        uint32_t length = 3 + i % (i % 64 == 0 ? SCHEDQ_NAME_MAX - 2 : 30);
        memset(text, i % 2 == 0 ? 'x' : (char)0xc3, length);
        for (uint32_t j = 0; j < 1 + i % 4; j++) {
            random = random * 1664525 + 1013904223;
            text[(random >> 8) % length] = letters[j == 0 ? 0 : random >> 29];
        }
        bool expected = is_name(text, length);
        names += expected;
        assert_status(schedq_find(worker, text, length, NULL),
                      expected ? SCHEDQ_NOT_FOUND : SCHEDQ_INVALID);
    }
    assert_true(names > 50000);
    memset(text, '/', sizeof text);
    memset(text, 'a', 1);
    memset(text + 1 + 257, 'a', sizeof text - 258);
    assert_status(schedq_find(worker, text, sizeof text, NULL), SCHEDQ_INVALID);
}

static void
a_missing_name_is_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_pod_spec_t spec = fx_spec("ns/a", 0);
    schedq_history_t history = {0};
    schedq_failure_t failure;
    schedq_failure_init(&failure);
    REFUSED(fixture, schedq_add(worker, NULL, &spec, NULL), "names");
    REFUSED(fixture, schedq_add_many(worker, NULL, &spec, 1, NULL, NULL, NULL), "names");
    REFUSED(fixture, schedq_update(worker, NULL, &spec, 0, NULL, 0, NULL), "names");
    REFUSED(fixture, schedq_readd(worker, NULL, &spec, &history, &failure, NULL), "names");
    REFUSED(fixture, schedq_find(worker, NULL, 4, NULL), "name");
    REFUSED(fixture, schedq_delete(worker, (schedq_pod_t){0}, NULL, 0, NULL), "name");
}

static void
refuse_spec(fixture_t *fixture, schedq_pod_spec_t spec, const char *part)
{
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_history_t history = {0};
    schedq_failure_t failure;
    uint8_t status = SCHEDQ_OK;
    schedq_failure_init(&failure);
    REFUSED(fixture, schedq_add(worker, "ns/a", &spec, NULL), part);
    REFUSED(fixture, schedq_add_many(worker, "ns/a", &spec, 1, NULL, &status, NULL), part);
    assert_int_equal(status, SCHEDQ_INVALID);
    REFUSED(fixture, schedq_update(worker, "ns/a", &spec, 0, NULL, 0, NULL), part);
    REFUSED(fixture, schedq_readd(worker, "ns/a", &spec, &history, &failure, NULL), part);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
}

static void
only_an_update_can_mean_existing_pods(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_pod_spec_t spec = fx_spec("ns/a", 0);
    schedq_history_t history = {0};
    schedq_failure_t failure;
    uint8_t status = SCHEDQ_OK;
    schedq_failure_init(&failure);
    spec.flags = SCHEDQ_POD_EXISTING;
    REFUSED(fixture, schedq_add(worker, "ns/a", &spec, NULL), "SCHEDQ_POD_EXISTING");
    REFUSED(fixture, schedq_add_many(worker, "ns/a", &spec, 1, NULL, &status, NULL),
            "SCHEDQ_POD_EXISTING");
    assert_int_equal(status, SCHEDQ_INVALID);
    REFUSED(fixture, schedq_readd(worker, "ns/a", &spec, &history, &failure, NULL),
            "SCHEDQ_POD_EXISTING");
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
}

static void
bad_specs_are_refused(void **state)
{
    fixture_t *fixture = *state;
    const schedq_pod_spec_t good = fx_spec("ns/a", 0);
    schedq_pod_spec_t spec = good;
    spec.timestamp_ns = -1;
    refuse_spec(fixture, spec, "timestamp_ns");
    spec = good;
    spec.profile = 1;
    refuse_spec(fixture, spec, "profile");
    spec = good;
    spec.flags = 8;
    refuse_spec(fixture, spec, "flags");
    spec = good;
    spec.reserved = 1;
    refuse_spec(fixture, spec, "reserved");
    spec = good;
    spec.only.bits = 0x1f;
    refuse_spec(fixture, spec, "spec.only 0x1f");
    spec = good;
    spec.gate = 1;
    refuse_spec(fixture, spec, "gate");
    schedq_worker_t *worker = fx_worker(fixture);
    REFUSED(fixture, schedq_add(worker, "ns/a", NULL, NULL), "spec");
    REFUSED(fixture, schedq_update(worker, "ns/a", NULL, 0, NULL, 0, NULL), "spec");
    REFUSED(fixture, schedq_add_many(worker, "ns/a", NULL, 1, NULL, NULL, NULL), "spec");
}

static void
a_hosts_gate_must_be_a_plugin_of_the_profile(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_plugin(fixture, "Gate", NULL, 0);
    schedq_pod_spec_t spec = fx_spec("ns/a", 0);
    spec.gate = (uint8_t)(gate->gate + 1);
    REFUSED(fixture, schedq_add(fx_worker(fixture), "ns/a", &spec, NULL), "gate");
    spec.gate = 65;
    REFUSED(fixture, schedq_add(fx_worker(fixture), "ns/a", &spec, NULL), "gate");
    spec.gate = (uint8_t)gate->gate;
    assert_ok(schedq_add(fx_worker(fixture), "ns/a", &spec, NULL));
}

static void
bad_failures_are_refused_and_the_pod_stays_in_flight(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_token_t token = popped.token;
    schedq_failure_t failure;

    schedq_failure_init(&failure);
    failure.unschedulable = fit->bit << 1;
    REFUSED(fixture, schedq_add_unschedulable(worker, &token, &failure, NULL), "rejector");
    assert_contains(words_of(fixture), "0x2");
    schedq_failure_init(&failure);
    failure.pending = fit->bit << 7;
    REFUSED(fixture, schedq_add_unschedulable(worker, &token, &failure, NULL), "rejector");
    assert_contains(words_of(fixture), "0x80");
    schedq_failure_init(&failure);
    failure.place = SCHEDQ_PARKED;
    REFUSED(fixture, schedq_add_unschedulable(worker, &token, &failure, NULL), "place");
    schedq_failure_init(&failure);
    failure.struct_size = 4;
    REFUSED(fixture, schedq_add_unschedulable(worker, &token, &failure, NULL), "struct_size");
    schedq_failure_init(&failure);
    failure.has_newest = 2;
    REFUSED(fixture, schedq_add_unschedulable(worker, &token, &failure, NULL), "has_newest");
    schedq_failure_init(&failure);
    failure.reserved = 1;
    REFUSED(fixture, schedq_add_unschedulable(worker, &token, &failure, NULL), "reserved");
    schedq_failure_init(&failure);
    failure.has_newest = 1;
    failure.newest.flags = 0x80;
    REFUSED(fixture, schedq_add_unschedulable(worker, &token, &failure, NULL), "flags");
    failure.newest.flags = SCHEDQ_POD_EXISTING;
    REFUSED(fixture, schedq_add_unschedulable(worker, &token, &failure, NULL),
            "SCHEDQ_POD_EXISTING");
    failure.newest.flags = 0;
    failure.newest.only = popped.pod;
    REFUSED(fixture, schedq_add_unschedulable(worker, &token, &failure, NULL), "spec.only");
    REFUSED(fixture, schedq_add_unschedulable(worker, &token, NULL, NULL), "failure");
    schedq_failure_init(&failure);
    REFUSED(fixture, schedq_add_unschedulable(worker, NULL, &failure, NULL), "token");

    assert_true(token.bits == popped.token.bits);
    assert_ok(schedq_token_alive(worker, token));
    assert_int_equal(fx_info(fixture, popped.pod).history.errors, 0);
    fx_done(fixture, &popped);
}

static void
a_host_must_say_where_a_failed_pod_goes(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    static const int places[] = {SCHEDQ_NOWHERE, SCHEDQ_ERROR_BACKOFF, SCHEDQ_INFLIGHT, 99};
    schedq_failure_t failure;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        schedq_failure_init(&failure);
        failure.unschedulable = fit->bit;
        failure.place = (uint8_t)places[i];
        REFUSED(fixture,
                schedq_add_unschedulable(fx_worker(fixture), &popped.token, &failure, NULL),
                "place");
    }
    schedq_failure_init(&failure);
    failure.place = SCHEDQ_GATED;
    failure.gate = 0;
    REFUSED(fixture, schedq_add_unschedulable(fx_worker(fixture), &popped.token, &failure, NULL),
            "gate");
    failure.gate = 9;
    REFUSED(fixture, schedq_add_unschedulable(fx_worker(fixture), &popped.token, &failure, NULL),
            "gate");
    assert_ok(schedq_token_alive(fx_worker(fixture), popped.token));
}

static void
expect_invented_tokens_stale(fixture_t *fixture,
                             schedq_status_t (*end)(fixture_t *fixture, schedq_token_t token))
{
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    const uint64_t tokens[] = {0,
                               1,
                               UINT64_MAX,
                               popped.token.bits + 1,
                               popped.token.bits - 1,
                               popped.token.bits ^ (UINT64_C(1) << 40),
                               popped.pod.bits ^ UINT64_C(0xf00000000)};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        schedq_token_t token = {tokens[i]};
        assert_status(end(fixture, token), SCHEDQ_STALE);
        assert_status(schedq_token_alive(fx_worker(fixture), token), SCHEDQ_STALE);
    }
    fx_done(fixture, &popped);
}

static schedq_status_t
end_by_done(fixture_t *fixture, schedq_token_t token)
{
    return schedq_done(fx_worker(fixture), token);
}

static schedq_status_t
end_by_failure(fixture_t *fixture, schedq_token_t token)
{
    schedq_failure_t failure;
    schedq_failure_init(&failure);
    return schedq_add_unschedulable(fx_worker(fixture), &token, &failure, NULL);
}

static void
invented_tokens_are_stale(void **state)
{
    expect_invented_tokens_stale(*state, end_by_done);
}

static void
invented_tokens_of_failures_are_stale(void **state)
{
    expect_invented_tokens_stale(*state, end_by_failure);
}

static void
pops_need_room(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    size_t count;
    fx_add(fixture, "ns/a", 0);
    schedq_worker_t *worker = fx_worker(fixture);
    REFUSED(fixture, schedq_try_pop(worker, NULL), "out");
    REFUSED(fixture, schedq_pop(worker, 0, NULL), "out");
    REFUSED(fixture, schedq_pop_many(worker, NULL, 1, &count), "out");
    REFUSED(fixture, schedq_pop_many(worker, &popped, 1, NULL), "count");
    REFUSED(fixture, schedq_pop_many(worker, &popped, 0, &count), "capacity");
    assert_contains(words_of(fixture), "0");
    REFUSED(fixture, schedq_done_many(worker, NULL, 1, NULL), "tokens");
    fx_pop(fixture, "ns/a");
}

static void
a_history_is_needed_and_checked(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec("ns/a", 0);
    schedq_history_t history = {0};
    schedq_failure_t failure;
    schedq_failure_init(&failure);
    schedq_worker_t *worker = fx_worker(fixture);
    REFUSED(fixture, schedq_readd(worker, "ns/a", &spec, NULL, &failure, NULL), "history");
    REFUSED(fixture, schedq_readd(worker, "ns/a", &spec, &history, NULL, NULL), "failure");
    REFUSED(fixture, schedq_readd(worker, "ns/a", NULL, &history, &failure, NULL), "spec");
    history.reserved = 1;
    REFUSED(fixture, schedq_readd(worker, "ns/a", &spec, &history, &failure, NULL), "reserved");
    history.reserved = 0;
    history.timestamp_ns = -1;
    REFUSED(fixture, schedq_readd(worker, "ns/a", &spec, &history, &failure, NULL), "timestamp_ns");
    history.timestamp_ns = 0;
    history.initial_attempt_ns = -7;
    REFUSED(fixture, schedq_readd(worker, "ns/a", &spec, &history, &failure, NULL), "-7");
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
}

static void
unknown_events_are_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_move_t move;
    schedq_move_init(&move);
    move.event = SCHEDQ_EVENT_FIRST_FREE;
    REFUSED(fixture, schedq_move_all(worker, &move, NULL), "event");
    assert_contains(words_of(fixture), "24");
    move.event = UINT16_MAX;
    REFUSED(fixture, schedq_move_all(worker, &move, NULL), "65535");
    REFUSED(fixture, schedq_assigned_pod_added(worker, &move, "ns", 2, NULL), "event");
    REFUSED(fixture, schedq_assigned_pod_updated(worker, &move, "ns", 2, NULL), "event");
    schedq_move_init(&move);
    move.struct_size = 8;
    REFUSED(fixture, schedq_move_all(worker, &move, NULL), "struct_size");
    schedq_move_init(&move);
    move.reserved[0] = 1;
    REFUSED(fixture, schedq_move_all(worker, &move, NULL), "reserved");
    REFUSED(fixture, schedq_move_all(worker, NULL, NULL), "move");

    schedq_pod_spec_t spec = fx_spec("ns/a", 0);
    const schedq_event_t events[] = {SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE, SCHEDQ_EVENT_FIRST_FREE};
    REFUSED(fixture, schedq_update(worker, "ns/a", &spec, 0, events, 2, NULL), "event");
    REFUSED(fixture, schedq_update(worker, "ns/a", &spec, 0, NULL, 2, NULL), "events");
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
    assert_int_equal(fx_stats(fixture).events, 0);
}

static void
bad_host_arguments_are_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_query_t query;
    schedq_candidate_t candidate;
    schedq_decision_t decision;
    uint64_t sequence;
    size_t count;
    REFUSED(fixture, schedq_event_begin(worker, NULL), "sequence");
    assert_ok(schedq_event_begin(worker, &sequence));
    REFUSED(fixture, schedq_event_stamp(worker, sequence + 1, 0, 1), "sequence");
    REFUSED(fixture, schedq_event_stamp(worker, sequence, 1, 1), "profile");
    assert_ok(schedq_event_stamp(worker, sequence, 0, 1));
    schedq_query_init(&query);
    REFUSED(fixture, schedq_candidates(worker, NULL, &candidate, 1, &count), "query");
    REFUSED(fixture, schedq_candidates(worker, &query, NULL, 1, &count), "out");
    REFUSED(fixture, schedq_candidates(worker, &query, &candidate, 0, &count), "capacity");
    REFUSED(fixture, schedq_candidates(worker, &query, &candidate, 1, NULL), "count");
    query.struct_size = 1;
    REFUSED(fixture, schedq_candidates(worker, &query, &candidate, 1, &count), "struct_size");
    schedq_query_init(&query);
    query.profile = 3;
    REFUSED(fixture, schedq_candidates(worker, &query, &candidate, 1, &count), "profile");
    schedq_query_init(&query);
    query.backoff = 2;
    REFUSED(fixture, schedq_candidates(worker, &query, &candidate, 1, &count), "backoff");

    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_failure_t failure;
    schedq_result_t result;
    schedq_failure_init(&failure);
    failure.place = SCHEDQ_PARKED;
    failure.unschedulable = SCHEDQ_REJECTOR_OTHERS;
    failure.judged_up_to = sequence;
    assert_ok(schedq_add_unschedulable(worker, &popped.token, &failure, &result));
    memset(&decision, 0, sizeof decision);
    decision.ref = fx_find(fixture, "ns/a").ref;
    REFUSED(fixture, schedq_apply(worker, &decision, NULL), "place");
    decision.place = SCHEDQ_PARKED;
    REFUSED(fixture, schedq_apply(worker, &decision, NULL), "place");
    decision.place = SCHEDQ_GATED;
    REFUSED(fixture, schedq_apply(worker, &decision, NULL), "gate");
    decision.gate = 9;
    REFUSED(fixture, schedq_apply(worker, &decision, NULL), "gate");
    decision.gate = 1;
    decision.uncounted = 2;
    REFUSED(fixture, schedq_apply(worker, &decision, NULL), "uncounted");
    decision.gate = 0;
    decision.place = SCHEDQ_ACTIVE;
    decision.uncounted = 1;
    REFUSED(fixture, schedq_apply(worker, &decision, NULL), "uncounted");
    decision.uncounted = 0;
    decision.if_backing_off = 1;
    REFUSED(fixture, schedq_apply(worker, &decision, NULL),
            "if_backing_off 1: 0, since place is not BACKOFF");
    decision.place = SCHEDQ_GATED;
    decision.gate = 1;
    REFUSED(fixture, schedq_apply(worker, &decision, NULL), "if_backing_off");
    decision.gate = 0;
    decision.place = SCHEDQ_BACKOFF;
    decision.if_backing_off = 2;
    REFUSED(fixture, schedq_apply(worker, &decision, NULL), "if_backing_off 2: 0..1");
    decision.if_backing_off = 0;
    decision.place = SCHEDQ_ACTIVE;
    decision.event = 999;
    REFUSED(fixture, schedq_apply(worker, &decision, NULL), "event");
    REFUSED(fixture, schedq_apply(worker, NULL, NULL), "decision");
    REFUSED(fixture, schedq_apply_many(worker, NULL, 1, NULL, NULL, NULL), "decisions");
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
}

static void
missing_arguments_of_the_rest_are_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_t *queue = fx_queue(fixture);
    schedq_stats_t stats;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    REFUSED(fixture, schedq_activate(worker, NULL, 1, NULL), "pods");
    REFUSED(fixture, schedq_get(worker, pod, NULL, NULL), "visit");
    REFUSED(fixture, schedq_snapshot(worker, NULL, NULL), "visit");
    assert_status(schedq_stats(queue, NULL), SCHEDQ_INVALID);
    assert_status(schedq_stats(NULL, &stats), SCHEDQ_INVALID);
    schedq_stats_init(&stats);
    stats.struct_size = 3;
    assert_status(schedq_stats(queue, &stats), SCHEDQ_INVALID);
    assert_status(schedq_metrics_write(queue, NULL, NULL), SCHEDQ_INVALID);
    assert_status(schedq_worker_register(queue, NULL, NULL, 0), SCHEDQ_INVALID);
    assert_status(schedq_worker_register(NULL, &worker, NULL, 0), SCHEDQ_INVALID);
    assert_ok(schedq_destroy(NULL));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(bad_names_are_refused_everywhere),
        fx_test(the_words_about_a_name_tell_its_length_and_the_range),
        fx_test(a_name_is_judged_by_its_bytes_alone),
        fx_test(a_missing_name_is_refused),
        fx_test(bad_specs_are_refused),
        fx_test(only_an_update_can_mean_existing_pods),
        fx_test(invented_tokens_are_stale),
        fx_test(pops_need_room),
        fx_test(a_history_is_needed_and_checked),
        fx_test(unknown_events_are_refused),
        fx_test(missing_arguments_of_the_rest_are_refused),
        fx_test(bad_failures_are_refused_and_the_pod_stays_in_flight),
        fx_test(invented_tokens_of_failures_are_stale),
        fx_test_host(a_hosts_gate_must_be_a_plugin_of_the_profile),
        fx_test_host(a_host_must_say_where_a_failed_pod_goes),
        fx_test_host(bad_host_arguments_are_refused),
    };
    return fx_run_tests(argc, argv, tests);
}
