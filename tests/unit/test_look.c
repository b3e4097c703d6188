/*
 * Looking at the queue: find, get, snapshot, the pending text, stats, names of statuses and places.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

static void
find_tells_place_handle_object_and_sets(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *wait = fx_plugin(fixture, "Wait", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 44;
    schedq_pod_t pod = fx_add_spec(fixture, "ns/a", &spec).pod;
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit, wait->bit);
    schedq_result_t result;
    memset(&result, 0xff, sizeof result);
    assert_ok(schedq_find(fx_worker(fixture), "ns/abc", 4, &result));
    assert_true(result.pod.bits == pod.bits);
    assert_int_equal(result.object, 44);
    assert_int_equal(result.unschedulable, fit->bit);
    assert_int_equal(result.pending, wait->bit);
    assert_place(result.place, SCHEDQ_PARKED);
    assert_ns_equal(result.timestamp_ns, FX_START);
    assert_int_equal(result.to_active + result.to_backoff + result.to_parked + result.to_gated, 0);
    assert_int_equal(result.gate, 0);
    assert_status(schedq_find(fx_worker(fixture), "ns/abc", 6, &result), SCHEDQ_NOT_FOUND);
    assert_int_equal(result.pod.bits, 0);
    assert_ok(schedq_find(fx_worker(fixture), "ns/a", 4, NULL));
}

static void
get_shows_everything_about_a_pod(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(-3);
    spec.object = 44;
    spec.flags = SCHEDQ_POD_AFFINITY;
    spec.timestamp_ns = SEC(5);
    schedq_pod_t pod = fx_add_spec(fixture, "ns/a", &spec).pod;
    fx_seen_t seen = {.visits = 0};
    assert_ok(schedq_get(fx_worker(fixture), pod, fx_see, &seen));
    assert_int_equal(seen.visits, 1);
    assert_string_equal(seen.text, "ns/a");
    assert_int_equal(seen.info.struct_size, sizeof(schedq_pod_info_t));
    assert_int_equal(seen.info.name_length, 4);
    assert_int_equal(seen.info.object, 44);
    assert_int_equal(seen.info.priority, -3);
    assert_int_equal(seen.info.flags, SCHEDQ_POD_AFFINITY);
    assert_int_equal(seen.info.profile, 0);
    assert_int_equal(seen.info.deleted, 0);
    assert_place(seen.info.place, SCHEDQ_ACTIVE);
    assert_ns_equal(seen.info.history.timestamp_ns, SEC(5));
    assert_ns_equal(seen.info.history.initial_attempt_ns, FX_START);
    assert_int_equal(seen.info.history.attempts, 0);
    assert_ns_equal(seen.info.backoff_expiry_ns, 0);
    assert_int_equal(seen.info.gate, 0);
    assert_int_equal(seen.info.pop_order, 0);
    assert_int_equal(seen.info.nominated_node, 0);
    assert_int_equal(seen.info.nomination, 0);
    assert_true(seen.info.pod.bits == pod.bits);
}

static void
get_shows_a_nomination(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    spec.nominated_node = 6;
    schedq_pod_info_t info = fx_info(fixture, fx_add_spec(fixture, "ns/a", &spec).pod);
    assert_int_equal(info.nominated_node, 6);
    assert_true(info.nomination != 0);
}

static void
find_tells_of_active_and_flying_pods(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 44;
    schedq_pod_t pod = fx_add_spec(fixture, "ns/a", &spec).pod;
    static const schedq_place_t places[] = {SCHEDQ_ACTIVE, SCHEDQ_INFLIGHT};
    for (int i = 0; i < 2; i++) {
        schedq_result_t result;
        memset(&result, 0xff, sizeof result);
        assert_ok(schedq_find(fx_worker(fixture), "ns/abc", 4, &result));
        assert_true(result.pod.bits == pod.bits);
        assert_int_equal(result.object, 44);
        assert_int_equal(result.unschedulable | result.pending, 0);
        assert_place(result.place, places[i]);
        assert_ns_equal(result.timestamp_ns, FX_START);
        assert_int_equal(result.to_active + result.to_backoff + result.to_parked + result.to_gated,
                         0);
        assert_int_equal(result.gate, 0);
        assert_status(schedq_find(fx_worker(fixture), "ns/abc", 6, &result), SCHEDQ_NOT_FOUND);
        assert_int_equal(result.pod.bits, 0);
        if (i == 0)
            fx_pop(fixture, "ns/a");
    }
}

static void
get_finds_pods_in_flight_and_no_others_than_those_that_live(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_place(fx_info(fixture, pod).place, SCHEDQ_INFLIGHT);
    assert_true(fx_info(fixture, pod).pop_order != 0);
    fx_done(fixture, &popped);
    fx_seen_t seen = {.visits = 0};
    assert_status(schedq_get(fx_worker(fixture), pod, fx_see, &seen), SCHEDQ_NOT_FOUND);
    assert_status(schedq_get(fx_worker(fixture), (schedq_pod_t){0}, fx_see, &seen),
                  SCHEDQ_NOT_FOUND);
    assert_status(schedq_get(fx_worker(fixture), (schedq_pod_t){UINT64_MAX}, fx_see, &seen),
                  SCHEDQ_NOT_FOUND);
    assert_int_equal(seen.visits, 0);
}

/* ---- snapshot ---- */

typedef struct census {
    unsigned total, deleted;
    unsigned by_place[SCHEDQ_HELD + 1];
    char names[4096];
    unsigned limit; /* stops after so many; 0: none */
} census_t;

static int
count_pod(void *ctx, const schedq_pod_info_t *pod)
{
    census_t *census = ctx;
    char name[SCHEDQ_NAME_MAX + 3];
    snprintf(name, sizeof name, "[%s]", pod->name);
    assert_int_equal(strlen(pod->name), pod->name_length);
    assert_null(strstr(census->names, name));
    if (strlen(census->names) + strlen(name) < sizeof census->names)
        strcat(census->names, name);
    assert_true(pod->place >= SCHEDQ_ACTIVE && pod->place <= SCHEDQ_HELD);
    census->by_place[pod->place]++;
    census->deleted += pod->deleted;
    census->total++;
    return census->limit == 0 || census->total < census->limit;
}

static void
a_snapshot_visits_every_pod_once_in_its_place(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    fx_wait_everywhere(fixture, fit, gate);
    fx_add(fixture, "ns/flying", 0);
    fx_pop(fixture, "ns/flying");
    schedq_pod_t doomed = fx_add(fixture, "ns/doomed", 0);
    fx_pop(fixture, "ns/doomed");
    assert_ok(schedq_delete(fx_worker(fixture), doomed, NULL));
    fx_add(fixture, "ns/active", 0);

    census_t census;
    memset(&census, 0, sizeof census);
    assert_ok(schedq_snapshot(fx_worker(fixture), count_pod, &census));
    assert_int_equal(census.total, 7);
    assert_int_equal(census.deleted, 1);
    for (unsigned place = SCHEDQ_ACTIVE; place <= SCHEDQ_GATED; place++)
        assert_int_equal(census.by_place[place], 1);
    assert_int_equal(census.by_place[SCHEDQ_INFLIGHT], 2);
}

static void
a_snapshot_of_an_empty_queue_visits_nothing(void **state)
{
    fixture_t *fixture = *state;
    census_t census;
    memset(&census, 0, sizeof census);
    assert_ok(schedq_snapshot(fx_worker(fixture), count_pod, &census));
    assert_int_equal(census.total, 0);
}

static void
a_visitor_may_end_the_walk(void **state)
{
    fixture_t *fixture = *state;
    char name[] = "ns/0";
    for (; name[3] <= '9'; name[3]++)
        fx_add(fixture, name, 0);
    census_t census;
    memset(&census, 0, sizeof census);
    census.limit = 4;
    assert_ok(schedq_snapshot(fx_worker(fixture), count_pod, &census));
    assert_int_equal(census.total, 4);
}

static int
use_other_queue(void *ctx, const schedq_pod_info_t *pod)
{
    fixture_t *other = ctx;
    (void)pod;
    fx_add(other, "ns/other", 0);
    fx_pop(other, "ns/other");
    return 0;
}

static void
a_visitor_may_call_another_queue(void **state)
{
    fixture_t *fixture = *state;
    fixture_t *other = fx_new(SCHEDQ_PRESET_DEFAULT);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_get(fx_worker(fixture), pod, use_other_queue, other));
    fx_assert_counts(other, 0, 0, 0, 0, 0, 1);
    fx_free(other);
}

static void
a_visitor_of_a_snapshot_may_call_another_queue(void **state)
{
    fixture_t *fixture = *state;
    fixture_t *other = fx_new(SCHEDQ_PRESET_DEFAULT);
    fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_snapshot(fx_worker(fixture), use_other_queue, other));
    fx_assert_counts(other, 0, 0, 0, 0, 0, 1);
    fx_free(other);
}

/* ---- texts and counts ---- */

static void
the_pending_text_counts_the_queues_of_kube(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    char text[100];
    static const char empty[] = "activeQ:0; backoffQ:0; unschedulablePods:0";
    assert_int_equal(schedq_pending_text(fx_queue(fixture), text, sizeof text), strlen(empty));
    assert_string_equal(text, empty);
    fx_wait_everywhere(fixture, fit, gate);
    fx_add(fixture, "ns/flying", 0);
    fx_pop(fixture, "ns/flying");
    fx_add(fixture, "ns/active", 0);
    assert_int_equal(schedq_pending_text(fx_queue(fixture), text, sizeof text), strlen(empty));
    assert_string_equal(text, "activeQ:1; backoffQ:2; unschedulablePods:2");
}

static void
the_pending_text_counts_active_pods_and_none_in_flight(void **state)
{
    fixture_t *fixture = *state;
    char text[100];
    for (int i = 0; i < 12; i++) {
        snprintf(text, sizeof text, "ns/%d", i);
        fx_add(fixture, text, -i);
    }
    fx_pop(fixture, "ns/0");
    assert_int_equal(schedq_pending_text(fx_queue(fixture), text, sizeof text), 43);
    assert_string_equal(text, "activeQ:11; backoffQ:0; unschedulablePods:0");
}

static void
the_pending_text_is_cut_to_the_room_it_has(void **state)
{
    fixture_t *fixture = *state;
    char text[12];
    memset(text, '?', sizeof text);
    assert_int_equal(schedq_pending_text(fx_queue(fixture), text, 10), 42);
    assert_string_equal(text, "activeQ:0");
    assert_int_equal(text[10], '?');
    assert_int_equal(schedq_pending_text(fx_queue(fixture), text, 1), 42);
    assert_string_equal(text, "");
    assert_int_equal(schedq_pending_text(fx_queue(fixture), NULL, 0), 42);
}

static void
stats_count_what_happened(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_gate(fixture, "Gate", NULL, 0);
    fx_add(fixture, "ns/a", 5);
    fx_add(fixture, "ns/b", 4);
    schedq_pod_t doomed = fx_add(fixture, "ns/c", 3);
    schedq_popped_t a = fx_pop(fixture, "ns/a"), b = fx_pop(fixture, "ns/b");
    fx_fail(fixture, &a, fit->bit, 0);
    fx_done(fixture, &b);
    schedq_pod_spec_t spec = fx_spec(9);
    assert_ok(schedq_update(fx_worker(fixture), "ns/c", 4, &spec, 0, NULL, 0, NULL));
    assert_ok(schedq_delete(fx_worker(fixture), doomed, NULL));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    fx_move(fixture, SCHEDQ_EVENT_NODE_DELETE);
    schedq_stats_t stats = fx_stats(fixture);
    assert_int_equal(stats.struct_size, sizeof stats);
    assert_int_equal(stats.workers, 1);
    assert_int_equal(stats.adds, 3);
    assert_int_equal(stats.pops, 2);
    assert_int_equal(stats.dones, 1);
    assert_int_equal(stats.failures, 1);
    assert_int_equal(stats.deletes, 1);
    assert_int_equal(stats.updates, 1);
    assert_int_equal(stats.moves, 1);
    assert_int_equal(stats.events, 1);
    assert_int_equal(stats.hint_calls, 1);
    assert_int_equal(stats.pre_enqueue_calls, 4);
    assert_int_equal(stats.active + stats.backoff + stats.parked + stats.gated + stats.inflight, 1);
    assert_true(stats.bytes_entries > 0 && stats.bytes_names > 0 && stats.bytes_index > 0 &&
                stats.bytes_queues > 0);
}

static void
stats_count_what_happened_to_active_pods(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 5);
    fx_add(fixture, "ns/b", 4);
    schedq_pod_t doomed = fx_add(fixture, "ns/c", 3);
    schedq_popped_t a = fx_pop(fixture, "ns/a");
    fx_pop(fixture, "ns/b");
    fx_done(fixture, &a);
    schedq_pod_spec_t spec = fx_spec(9), new = fx_spec(9);
    new.flags = SCHEDQ_POD_ADD;
    assert_ok(schedq_update(fx_worker(fixture), "ns/c", 4, &spec, 0, NULL, 0, NULL));
    assert_ok(schedq_update(fx_worker(fixture), "ns/d", 4, &new, 0, NULL, 0, NULL));
    assert_ok(schedq_delete(fx_worker(fixture), doomed, NULL));
    assert_status(schedq_delete(fx_worker(fixture), doomed, NULL), SCHEDQ_NOT_FOUND);
    assert_status(schedq_done(fx_worker(fixture), a.token), SCHEDQ_STALE);
    schedq_stats_t stats = fx_stats(fixture);
    assert_int_equal(stats.struct_size, sizeof stats);
    assert_int_equal(stats.workers, 1);
    assert_int_equal(stats.adds, 4);
    assert_int_equal(stats.pops, 2);
    assert_int_equal(stats.dones, 1);
    assert_int_equal(stats.failures, 0);
    assert_int_equal(stats.deletes, 1);
    assert_int_equal(stats.updates, 1);
    assert_int_equal(stats.moves + stats.events + stats.hint_calls + stats.pre_enqueue_calls, 0);
    fx_assert_counts(fixture, 1, 0, 0, 0, 0, 1);
    assert_true(stats.bytes_entries > 0 && stats.bytes_names > 0 && stats.bytes_index > 0 &&
                stats.bytes_queues > 0);
}

static void
a_pod_deleted_in_flight_counts_as_in_flight_until_its_holder_is_told(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    assert_int_equal(fx_stats(fixture).inflight, 1);
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_GONE);
    assert_int_equal(fx_stats(fixture).inflight, 0);
}

static void
every_status_and_place_has_its_name(void **state)
{
    (void)state;
    static const char *const statuses[] = {
        "SCHEDQ_OK",      "SCHEDQ_EMPTY",     "SCHEDQ_CLOSED",    "SCHEDQ_TIMEDOUT",
        "SCHEDQ_EXISTS",  "SCHEDQ_NOT_FOUND", "SCHEDQ_STALE",     "SCHEDQ_GONE",
        "SCHEDQ_FULL",    "SCHEDQ_NOMEM",     "SCHEDQ_BUSY",      "SCHEDQ_RETRY",
        "SCHEDQ_CHANGED", "SCHEDQ_INVALID",   "SCHEDQ_NOT_EMPTY", "SCHEDQ_CANCELED"};
    static const char *const places[] = {"nowhere", "active", "backoff",  "error-backoff",
                                         "parked",  "gated",  "inflight", "held"};
    for (int i = 0; i <= SCHEDQ_CANCELED; i++) {
        const char *text = schedq_status_text((schedq_status_t)i);
        assert_string_equal(schedq_status_name((schedq_status_t)i), statuses[i]);
        assert_true(strlen(text) > 5);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(text, schedq_status_text((schedq_status_t)j));
    }
    assert_string_equal(schedq_status_name((schedq_status_t)(SCHEDQ_CANCELED + 1)),
                        "SCHEDQ_UNKNOWN");
    assert_string_equal(schedq_status_text((schedq_status_t)(SCHEDQ_CANCELED + 1)),
                        "unknown status");
    assert_string_equal(schedq_status_text((schedq_status_t)-1), "unknown status");
    assert_string_equal(schedq_status_name((schedq_status_t)-1), "SCHEDQ_UNKNOWN");
    for (int i = 0; i <= SCHEDQ_HELD; i++)
        assert_string_equal(schedq_place_name((schedq_place_t)i), places[i]);
    assert_non_null(schedq_place_name((schedq_place_t)99));
    assert_int_equal(schedq_version(),
                     SCHEDQ_VERSION_MAJOR << 16 | SCHEDQ_VERSION_MINOR << 8 | SCHEDQ_VERSION_PATCH);
}

static void
frozen_layouts_have_the_sizes_that_the_header_names(void **state)
{
    (void)state;
    assert_int_equal(sizeof(schedq_result_t), 80);
    assert_int_equal(sizeof(schedq_clock_t), 32);
    assert_int_equal(sizeof(schedq_allocator_t), 32);
    assert_int_equal(sizeof(schedq_interest_t), 24);
    assert_int_equal(sizeof(schedq_quantity_t), 16);
    assert_int_equal(sizeof(schedq_pod_facts_t), 32);
    assert_int_equal(sizeof(schedq_node_facts_t), 48);
    assert_int_equal(sizeof(schedq_pod_spec_t), 96);
    assert_int_equal(offsetof(schedq_pod_spec_t, object), 16);
    assert_int_equal(offsetof(schedq_pod_spec_t, only), 56);
    assert_int_equal(sizeof(schedq_add_item_t), 104);
    assert_int_equal(sizeof(schedq_history_t), 32);
    assert_int_equal(sizeof(schedq_popped_t), 128);
    assert_int_equal(sizeof(schedq_popped_group_t), 112);
    assert_int_equal(sizeof(schedq_candidate_t), 64);
    assert_int_equal(sizeof(schedq_decision_t), 32);
    assert_int_equal(offsetof(schedq_decision_t, if_backing_off), 9);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(get_shows_everything_about_a_pod),
        fx_test(find_tells_of_active_and_flying_pods),
        fx_test(the_pending_text_counts_active_pods_and_none_in_flight),
        fx_test(stats_count_what_happened_to_active_pods),
        fx_test(get_finds_pods_in_flight_and_no_others_than_those_that_live),
        fx_test(a_visitor_may_call_another_queue),
        fx_test(the_pending_text_is_cut_to_the_room_it_has),
        fx_test(a_pod_deleted_in_flight_counts_as_in_flight_until_its_holder_is_told),
        cmocka_unit_test(every_status_and_place_has_its_name),
        cmocka_unit_test(frozen_layouts_have_the_sizes_that_the_header_names),
        fx_test(find_tells_place_handle_object_and_sets),
        fx_test(the_pending_text_counts_the_queues_of_kube),
        fx_test(stats_count_what_happened),
        fx_test(get_shows_a_nomination),
        fx_test(a_snapshot_of_an_empty_queue_visits_nothing),
        fx_test(a_visitor_may_end_the_walk),
        fx_test(a_visitor_of_a_snapshot_may_call_another_queue),
        fx_test(a_snapshot_visits_every_pod_once_in_its_place),
    };
    return fx_run_tests(argc, argv, tests);
}
