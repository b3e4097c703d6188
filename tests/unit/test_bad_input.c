/*
 * Bad arguments of every public function: INVALID with words (argument, value, range), and nothing
 * has changed.
 */
#include <stdio.h>
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
refuse_name(fixture_t *fixture, const char *name, size_t length)
{
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_history_t history = {0};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_pod_spec_t spec = fx_spec(0);
    const schedq_add_item_t item = fx_item(0, (uint32_t)length, 0);
    schedq_result_t result;
    memset(&result, 0xff, sizeof result);
    REFUSED(fixture, schedq_add(worker, name, length, &spec, &result), "name");
    assert_int_equal(result.pod.bits | result.place | result.to_active, 0);
    REFUSED(fixture, schedq_add_many(worker, name, length, &item, 1, NULL, NULL, NULL), "name");
    REFUSED(fixture, schedq_update(worker, name, length, &spec, 0, NULL, 0, NULL), "name");
    REFUSED(fixture, schedq_readd(worker, name, length, &spec, &history, &failure, NULL), "name");
    REFUSED(fixture, schedq_find(worker, name, length, NULL), "name");
    REFUSED(fixture, schedq_delete_name(worker, name, length, NULL), "name");
}

static void
bad_names_are_refused_everywhere(void **state)
{
    fixture_t *fixture = *state;
    static char too_long[SCHEDQ_NAME_MAX + 2];
    memset(too_long, 'x', sizeof too_long - 1);
    too_long[2] = '/';
    const struct {
        const char *name;
        size_t length;
    } names[] = {{"", 0},
                 {"a/\0b", 4},
                 {"a/b\0", 4},
                 {"\0/b", 3},
                 {"\0", 1},
                 {too_long, SCHEDQ_NAME_MAX + 1},
                 {"a/b", UINT32_MAX}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        refuse_name(fixture, names[i].name, names[i].length);
    REFUSED(fixture, schedq_find(fx_worker(fixture), "a/b", SIZE_MAX, NULL), "name");
    REFUSED(fixture, schedq_find(fx_worker(fixture), "a/\0b", 4, NULL), "byte 2 of its 4 is NUL");
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

static void
a_kube_preset_wants_namespace_and_name(void **state)
{
    fixture_t *fixture = *state;
    static const char *const names[] = {"a", "ab", "abc", "/ab", "ab/", "a/b/c", "a//b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        refuse_name(fixture, names[i], strlen(names[i]));
    bad_names_are_refused_everywhere(state);
}

static void
any_bytes_but_nul_are_a_name(void **state)
{
    fixture_t *fixture = *state;
    static const char *const names[] = {"a",      "ab", "job-17", "/ab",  "ab/",
                                        "a/b//c", "/",  "a b\n",  "\xff", "\xc3\xa9t\xc3\xa9 17"};
    static char longest[SCHEDQ_NAME_MAX + 1];
    memset(longest, 'x', SCHEDQ_NAME_MAX);
    fx_add(fixture, longest, 0);
    fx_pop(fixture, longest);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        fx_add(fixture, names[i], 0);
        assert_place(fx_place(fixture, names[i]), SCHEDQ_ACTIVE);
        fx_pop(fixture, names[i]);
    }
}

static void
the_words_about_a_name_tell_its_length_and_the_range(void **state)
{
    fixture_t *fixture = *state;
    static char too_long[SCHEDQ_NAME_MAX + 2];
    memset(too_long, 'x', sizeof too_long - 1);
    REFUSED(fixture, schedq_find(fx_worker(fixture), too_long, SCHEDQ_NAME_MAX + 1, NULL),
            "name \"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...\": 318 bytes: 1..317");
    REFUSED(fixture, schedq_find(fx_worker(fixture), "a", 0, NULL), "name \"\": 0 bytes: 1..317");
    REFUSED(fixture, schedq_find(fx_worker(fixture), "a", SIZE_MAX, NULL),
            "name \"\": 18446744073709551615 bytes: 1..317");
    assert_ok(schedq_delete(fx_worker(fixture), fx_add(fixture, "ns/a", 0), NULL));
    assert_non_null(words_of(fixture));
}

static bool
is_name(const char *text, uint32_t length, bool kube)
{
    uint32_t slashes = 0, nuls = 0;
    for (uint32_t i = 0; i < length; i++) {
        slashes += text[i] == '/';
        nuls += text[i] == '\0';
    }
    return nuls == 0 && (!kube || (slashes == 1 && text[0] != '/' && text[length - 1] != '/'));
}

/* Wherever in a text a byte is that counts, or one that resembles it. */
static void
a_name_is_judged_by_its_bytes_alone(void **state)
{
    static const char letters[] = {'/', '.', '0', 'a', '\0', (char)0xaf, (char)0x80, (char)0xff};
    fixture_t *fixture = *state;
    bool kube = fixture->config.kube_minor != 0;
    schedq_worker_t *worker = fx_worker(fixture);
    char text[SCHEDQ_NAME_MAX];
    uint32_t random = 1, names = 0;
    for (uint32_t i = 0; i < 200000; i++) {
        uint32_t length = 1 + i % (i % 64 == 0 ? SCHEDQ_NAME_MAX : 30);
        memset(text, i % 2 == 0 ? 'x' : (char)0xc3, length);
        for (uint32_t j = 0; j < 1 + i % 4; j++) {
            random = random * 1664525 + 1013904223;
            text[(random >> 8) % length] = letters[j == 0 ? 0 : random >> 29];
        }
        bool expected = is_name(text, length, kube);
        names += expected;
        assert_status(schedq_find(worker, text, length, NULL),
                      expected ? SCHEDQ_NOT_FOUND : SCHEDQ_INVALID);
    }
    assert_true(names > 50000 && names < 190000);
    memset(text, '/', sizeof text);
    memset(text, 'a', 1);
    memset(text + 1 + 257, 'a', sizeof text - 258);
    assert_status(schedq_find(worker, text, sizeof text, NULL),
                  kube ? SCHEDQ_INVALID : SCHEDQ_NOT_FOUND);
}

static void
a_missing_name_is_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_pod_spec_t spec = fx_spec(0);
    const schedq_add_item_t item = fx_item(0, 4, 0);
    schedq_history_t history = {0};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    REFUSED(fixture, schedq_add(worker, NULL, 4, &spec, NULL), "name");
    REFUSED(fixture, schedq_add_many(worker, NULL, 4, &item, 1, NULL, NULL, NULL), "names");
    REFUSED(fixture, schedq_update(worker, NULL, 4, &spec, 0, NULL, 0, NULL), "name");
    REFUSED(fixture, schedq_readd(worker, NULL, 4, &spec, &history, &failure, NULL), "name");
    REFUSED(fixture, schedq_find(worker, NULL, 4, NULL), "name");
    REFUSED(fixture, schedq_delete_name(worker, NULL, 4, NULL), "name");
}

static void
an_item_lies_within_the_names(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    static const struct {
        uint32_t offset, length;
    } items[] = {{0, 10}, {1, 9}, {9, 1}, {10, 1}, {UINT32_MAX, 4}, {4, UINT32_MAX}, {5, 5}};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        const schedq_add_item_t item = fx_item(items[i].offset, items[i].length, 0);
        REFUSED(fixture, schedq_add_many(worker, "ns/abcdef", 9, &item, 1, NULL, NULL, NULL),
                "9 bytes of names");
    }
    const schedq_add_item_t second[] = {fx_item(0, 4, 0), fx_item(9, 1, 0)};
    REFUSED(fixture, schedq_add_many(worker, "ns/abcdef", 9, second, 2, NULL, NULL, NULL),
            "items[1]: name_offset 9, name_length 1: within the 9 bytes");
    const schedq_add_item_t last = fx_item(5, 4, 0);
    assert_ok(schedq_add_many(worker, "ns/abcdef", 9, &last, 1, NULL, NULL, NULL));
    fx_pop(fixture, "cdef");
}

static void
refuse_spec(fixture_t *fixture, schedq_pod_spec_t spec, const char *part)
{
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_history_t history = {0};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    uint8_t status = SCHEDQ_OK;
    REFUSED(fixture, schedq_add(worker, "ns/a", 4, &spec, NULL), part);
    REFUSED(fixture,
            schedq_add_many(worker, "ns/a", 4, &(schedq_add_item_t){0, 4, spec}, 1, NULL, &status,
                            NULL),
            part);
    assert_int_equal(status, SCHEDQ_INVALID);
    REFUSED(fixture, schedq_update(worker, "ns/a", 4, &spec, 0, NULL, 0, NULL), part);
    REFUSED(fixture, schedq_readd(worker, "ns/a", 4, &spec, &history, &failure, NULL), part);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
}

static void
only_an_update_can_ask_to_add(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_history_t history = {0};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    uint8_t status = SCHEDQ_OK;
    spec.flags = SCHEDQ_POD_ADD;
    const schedq_add_item_t item = {0, 4, spec};
    REFUSED(fixture, schedq_add(worker, "ns/a", 4, &spec, NULL), "SCHEDQ_POD_ADD");
    REFUSED(fixture, schedq_add_many(worker, "ns/a", 4, &item, 1, NULL, &status, NULL),
            "SCHEDQ_POD_ADD");
    assert_int_equal(status, SCHEDQ_INVALID);
    REFUSED(fixture, schedq_readd(worker, "ns/a", 4, &spec, &history, &failure, NULL),
            "SCHEDQ_POD_ADD");
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
}

static void
bad_specs_are_refused(void **state)
{
    fixture_t *fixture = *state;
    const schedq_pod_spec_t good = fx_spec(0);
    schedq_pod_spec_t spec = good;
    spec.struct_size = 0;
    refuse_spec(fixture, spec, "spec.struct_size 0: 96");
    spec.struct_size = 88;
    refuse_spec(fixture, spec, "spec.struct_size 88: 96");
    spec = good;
    spec.timestamp_ns = -1;
    refuse_spec(fixture, spec, "timestamp_ns");
    spec = good;
    spec.profile = 1;
    refuse_spec(fixture, spec, "profile");
    spec = good;
    spec.flags = 8;
    refuse_spec(fixture, spec, "flags");
    for (size_t i = 0; i < sizeof spec.reserved; i++) {
        spec = good;
        spec.reserved[i] = 7;
        char part[32];
        snprintf(part, sizeof part, "spec.reserved[%zu] 7: 0", i);
        refuse_spec(fixture, spec, part);
    }
    spec = good;
    spec.not_before_ns = -1;
    refuse_spec(fixture, spec, "not_before_ns -1");
    spec = good;
    spec = good;
    spec.gate = 1;
    refuse_spec(fixture, spec, "gate");
    schedq_worker_t *worker = fx_worker(fixture);
    REFUSED(fixture, schedq_add(worker, "ns/a", 4, NULL, NULL), "spec");
    REFUSED(fixture, schedq_update(worker, "ns/a", 4, NULL, 0, NULL, 0, NULL), "spec");
    REFUSED(fixture, schedq_add_many(worker, "ns/a", 4, NULL, 1, NULL, NULL, NULL), "items");
}

static void
only_an_update_that_does_not_add_means_one_pod(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_history_t history = {0};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_pod_spec_t spec = fx_spec(0);
    spec.only.bits = 0x1f;
    REFUSED(fixture, schedq_add(worker, "ns/a", 4, &spec, NULL), "spec.only 0x1f");
    REFUSED(fixture, schedq_readd(worker, "ns/a", 4, &spec, &history, &failure, NULL),
            "spec.only 0x1f");
    spec.flags = SCHEDQ_POD_ADD;
    REFUSED(fixture, schedq_update(worker, "ns/a", 4, &spec, 0, NULL, 0, NULL), "spec.only 0x1f");
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
}

static void
a_hosts_gate_must_be_a_plugin_of_the_profile(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_plugin(fixture, "Gate", NULL, 0);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.gate = (uint8_t)(gate->gate + 1);
    REFUSED(fixture, schedq_add(fx_worker(fixture), "ns/a", 4, &spec, NULL), "gate");
    spec.gate = 65;
    REFUSED(fixture, schedq_add(fx_worker(fixture), "ns/a", 4, &spec, NULL), "gate");
    spec.gate = (uint8_t)gate->gate;
    assert_ok(schedq_add(fx_worker(fixture), "ns/a", 4, &spec, NULL));
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
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    failure.unschedulable = fit->bit << 1;
    REFUSED(fixture, schedq_fail(worker, &token, &failure, NULL), "rejector");
    assert_contains(words_of(fixture), "0x2");
    failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
    failure.pending = fit->bit << 7;
    REFUSED(fixture, schedq_fail(worker, &token, &failure, NULL), "rejector");
    assert_contains(words_of(fixture), "0x80");
    failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
    failure.place = SCHEDQ_PARKED;
    REFUSED(fixture, schedq_fail(worker, &token, &failure, NULL), "place");
    failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
    failure.struct_size = 4;
    REFUSED(fixture, schedq_fail(worker, &token, &failure, NULL), "struct_size");
    failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
    failure.reserved = 1;
    REFUSED(fixture, schedq_fail(worker, &token, &failure, NULL), "reserved");
    failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
    failure.own_reasons = 2;
    REFUSED(fixture, schedq_fail(worker, &token, &failure, NULL), "own_reasons 2: 0 or 1");
    failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
    schedq_pod_spec_t newest = SCHEDQ_POD_SPEC_INIT;
    failure.newest = &newest;
    newest.flags = 0x80;
    REFUSED(fixture, schedq_fail(worker, &token, &failure, NULL), "flags");
    newest.flags = SCHEDQ_POD_ADD;
    REFUSED(fixture, schedq_fail(worker, &token, &failure, NULL), "SCHEDQ_POD_ADD");
    newest.flags = 0;
    newest.only = popped.pod;
    REFUSED(fixture, schedq_fail(worker, &token, &failure, NULL), "failure.newest.only");
    newest.only.bits = 0;
    newest.struct_size = 0;
    REFUSED(fixture, schedq_fail(worker, &token, &failure, NULL), "failure.newest.struct_size 0");
    REFUSED(fixture, schedq_fail(worker, &token, NULL, NULL), "failure");
    failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
    REFUSED(fixture, schedq_fail(worker, NULL, &failure, NULL), "token");

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
        failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
        failure.unschedulable = fit->bit;
        failure.place = (uint8_t)places[i];
        REFUSED(fixture, schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL), "place");
    }
    failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
    failure.place = SCHEDQ_GATED;
    failure.gate = 0;
    REFUSED(fixture, schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL), "gate");
    failure.gate = 9;
    REFUSED(fixture, schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL), "gate");
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
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    return schedq_fail(fx_worker(fixture), &token, &failure, NULL);
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
    REFUSED(fixture, schedq_pop(worker, NULL), "out");
    REFUSED(fixture, schedq_pop_until(worker, 0, NULL), "out");
    REFUSED(fixture, schedq_pop_for(worker, 0, NULL), "out");
    REFUSED(fixture, schedq_pop_for(worker, -1, &popped), "wait_ns -1: 0..");
    REFUSED(fixture, schedq_try_pop_many(worker, NULL, 1, &count), "out");
    REFUSED(fixture, schedq_try_pop_many(worker, &popped, 1, NULL), "count");
    REFUSED(fixture, schedq_try_pop_many(worker, &popped, 0, &count), "capacity");
    assert_contains(words_of(fixture), "0");
    REFUSED(fixture, schedq_done_many(worker, NULL, 1, NULL), "tokens");
    fx_pop(fixture, "ns/a");
}

static void
a_history_is_needed_and_checked(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_history_t history = {0};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_worker_t *worker = fx_worker(fixture);
    REFUSED(fixture, schedq_readd(worker, "ns/a", 4, &spec, NULL, &failure, NULL), "history");
    REFUSED(fixture, schedq_readd(worker, "ns/a", 4, &spec, &history, NULL, NULL), "failure");
    REFUSED(fixture, schedq_readd(worker, "ns/a", 4, NULL, &history, &failure, NULL), "spec");
    history.reserved = 1;
    REFUSED(fixture, schedq_readd(worker, "ns/a", 4, &spec, &history, &failure, NULL), "reserved");
    history.reserved = 0;
    history.timestamp_ns = -1;
    REFUSED(fixture, schedq_readd(worker, "ns/a", 4, &spec, &history, &failure, NULL),
            "timestamp_ns");
    history.timestamp_ns = 0;
    history.initial_attempt_ns = -7;
    REFUSED(fixture, schedq_readd(worker, "ns/a", 4, &spec, &history, &failure, NULL), "-7");
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
}

static void
unknown_events_are_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_FIRST_FREE;
    REFUSED(fixture, schedq_notify(worker, &change, NULL), "event");
    assert_contains(words_of(fixture), "35");
    change.event = SCHEDQ_EVENT_NONE;
    REFUSED(fixture, schedq_notify(worker, &change, NULL), "change.event 0 (SCHEDQ_EVENT_NONE)");
    change.event = UINT16_MAX;
    REFUSED(fixture, schedq_notify(worker, &change, NULL), "65535");
    REFUSED(fixture, schedq_assigned_pod_added(worker, &change, "ns", 2, NULL), "event");
    REFUSED(fixture, schedq_assigned_pod_updated(worker, &change, "ns", 2, NULL), "event");
    change = (schedq_change_t)SCHEDQ_CHANGE_INIT;
    change.struct_size = 8;
    REFUSED(fixture, schedq_notify(worker, &change, NULL), "struct_size");
    change = (schedq_change_t)SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_NODE_ADD;
    change.reserved[0] = 1;
    REFUSED(fixture, schedq_notify(worker, &change, NULL), "reserved");
    REFUSED(fixture, schedq_notify(worker, NULL, NULL), "change");

    schedq_pod_spec_t spec = fx_spec(0);
    const schedq_event_t events[] = {SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE, SCHEDQ_EVENT_FIRST_FREE};
    REFUSED(fixture, schedq_update(worker, "ns/a", 4, &spec, 0, events, 2, NULL),
            "events[1] 36: 1..35");
    REFUSED(fixture, schedq_update(worker, "ns/a", 4, &spec, 0, NULL, 2, NULL), "events NULL");
    const schedq_event_t none = SCHEDQ_EVENT_NONE;
    REFUSED(fixture, schedq_update(worker, "ns/a", 4, &spec, 0, &none, 1, NULL), "NONE");
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
    assert_int_equal(fx_stats(fixture).events, 0);
}

static void
bad_host_arguments_are_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *worker = fx_worker(fixture);
    schedq_query_t query = SCHEDQ_QUERY_INIT;
    schedq_candidate_t candidate;
    schedq_decision_t decision;
    uint64_t sequence;
    size_t count;
    REFUSED(fixture, schedq_event_begin(worker, NULL), "sequence");
    assert_ok(schedq_event_begin(worker, &sequence));
    REFUSED(fixture, schedq_event_stamp(worker, sequence + 1, 0, 1), "sequence");
    REFUSED(fixture, schedq_event_stamp(worker, sequence, 1, 1), "profile");
    assert_ok(schedq_event_stamp(worker, sequence, 0, 1));
    REFUSED(fixture, schedq_candidates(worker, NULL, &candidate, 1, &count), "query");
    REFUSED(fixture, schedq_candidates(worker, &query, NULL, 1, &count), "out");
    REFUSED(fixture, schedq_candidates(worker, &query, &candidate, 0, &count), "capacity");
    REFUSED(fixture, schedq_candidates(worker, &query, &candidate, 1, NULL), "count");
    query.struct_size = 1;
    REFUSED(fixture, schedq_candidates(worker, &query, &candidate, 1, &count), "struct_size");
    query = (schedq_query_t)SCHEDQ_QUERY_INIT;
    query.profile = 3;
    REFUSED(fixture, schedq_candidates(worker, &query, &candidate, 1, &count), "profile");
    query = (schedq_query_t)SCHEDQ_QUERY_INIT;
    query.backoff = 2;
    REFUSED(fixture, schedq_candidates(worker, &query, &candidate, 1, &count), "backoff");

    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;
    failure.place = SCHEDQ_PARKED;
    failure.unschedulable = SCHEDQ_REJECTOR_OTHERS;
    failure.judged_up_to = sequence;
    assert_ok(schedq_fail(worker, &popped.token, &failure, &result));
    decision = (schedq_decision_t)SCHEDQ_DECISION_INIT;
    decision.ref = fx_find(fixture, "ns/a").ref;
    decision.place = SCHEDQ_ACTIVE;
    REFUSED(fixture, schedq_apply(worker, &decision, NULL), "decision.event 0 (SCHEDQ_EVENT_NONE)");
    decision.event = SCHEDQ_EVENT_NODE_ADD;
    decision.struct_size = 0;
    REFUSED(fixture, schedq_apply(worker, &decision, NULL), "decision.struct_size 0: 32");
    decision.struct_size = sizeof decision;
    decision.place = SCHEDQ_NOWHERE;
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
    stats = (schedq_stats_t)SCHEDQ_STATS_INIT;
    stats.struct_size = 3;
    assert_status(schedq_stats(queue, &stats), SCHEDQ_INVALID);
    assert_status(schedq_metrics_write(queue, NULL, NULL), SCHEDQ_INVALID);
    assert_status(schedq_worker_register(queue, NULL, NULL, 0), SCHEDQ_INVALID);
    assert_status(schedq_worker_register(NULL, &worker, NULL, 0), SCHEDQ_INVALID);
    assert_ok(schedq_destroy_with_pods(NULL, NULL, 0));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(bad_names_are_refused_everywhere),
        fx_test_1_34(a_kube_preset_wants_namespace_and_name),
        fx_test(any_bytes_but_nul_are_a_name),
        fx_test(an_item_lies_within_the_names),
        fx_test(the_words_about_a_name_tell_its_length_and_the_range),
        fx_test(a_name_is_judged_by_its_bytes_alone),
        fx_test_1_26(a_name_is_judged_by_its_bytes_alone),
        fx_test(a_missing_name_is_refused),
        fx_test(bad_specs_are_refused),
        fx_test(only_an_update_can_ask_to_add),
        fx_test(only_an_update_that_does_not_add_means_one_pod),
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
