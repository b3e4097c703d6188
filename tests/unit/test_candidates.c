/* schedq_candidates: which waiting pods a host gets, in pieces, while things move. */
#include <stdio.h>
#include <string.h>

#include "host.h"

static void
candidates_are_the_parked_pods_whose_rejectors_meet_the_mask(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *other = fx_plugin(fixture, "Other", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = hx_park(fixture, "ns/a", 5, fit->bit);
    hx_park(fixture, "ns/b", 6, other->bit);
    hx_park(fixture, "ns/c", 7, other->bit | fit->bit);
    fx_add(fixture, "ns/active", 0);
    schedq_candidate_t out[16];
    assert_int_equal(hx_collect(fixture, hx_query(fit->bit, 0), out, 16, 8), 2);
    const schedq_candidate_t *mine = out[0].object == 5 ? &out[0] : &out[1];
    assert_int_equal(mine->object, 5);
    assert_int_equal((mine == out ? out[1] : out[0]).object, 7);
    assert_true(mine->pod.bits == pod.bits);
    assert_true(mine->ref != 0);
    assert_int_equal(mine->unschedulable, fit->bit);
    assert_int_equal(mine->pending, 0);
    assert_ns_equal(mine->timestamp_ns, FX_START);
    assert_ns_equal(mine->expiry_ns, FX_START + SEC(1));
    assert_int_equal(mine->backing_off, 1);
    assert_place(mine->place, SCHEDQ_PARKED);
    assert_int_equal(mine->gate, 0);
    assert_int_equal(hx_collect(fixture, hx_query(0, 0), out, 16, 8), 0);
    fx_advance(fixture, SEC(1));
    assert_int_equal(hx_collect(fixture, hx_query(fit->bit | other->bit, 0), out, 16, 8), 3);
    assert_int_equal(out[0].backing_off, 0);
}

static void
candidates_are_the_gated_pods_of_some_gates(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *one = fx_plugin(fixture, "One", NULL, 0);
    fx_plugin_t *two = fx_plugin(fixture, "Two", NULL, 0);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.gate = (uint8_t)one->gate;
    fx_add_spec(fixture, "ns/a", &spec);
    spec.gate = (uint8_t)two->gate;
    schedq_pod_t pod = fx_add_spec(fixture, "ns/b", &spec).pod;
    schedq_candidate_t out[8];
    assert_int_equal(hx_collect(fixture, hx_query(0, two->bit), out, 8, 4), 1);
    assert_true(out[0].pod.bits == pod.bits);
    assert_place(out[0].place, SCHEDQ_GATED);
    assert_int_equal(out[0].gate, two->gate);
    assert_int_equal(out[0].backing_off, 0);
    assert_int_equal(hx_collect(fixture, hx_query(UINT64_MAX, 0), out, 8, 4), 0);
    assert_int_equal(hx_collect(fixture, hx_query(0, one->bit | two->bit), out, 8, 4), 2);
}

static void
candidates_in_backoff_come_on_demand_and_by_expiry(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.pop_from_backoff = 0;
    schedq_result_t result;
    schedq_candidate_t out[8];
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(hx_fail(fixture, &popped.token, SCHEDQ_BACKOFF, fit->bit, popped.seen, &result));
    fx_advance(fixture, MS(500));
    fx_add(fixture, "ns/b", 0);
    popped = fx_pop(fixture, "ns/b");
    assert_ok(hx_fail(fixture, &popped.token, SCHEDQ_BACKOFF, 0, popped.seen, &result));
    assert_int_equal(hx_collect(fixture, hx_query(UINT64_MAX, UINT64_MAX), out, 8, 4), 0);
    schedq_query_t query = hx_query(0, 0);
    query.backoff = 1;
    assert_int_equal(hx_collect(fixture, query, out, 8, 4), 2);
    query.not_after_ns = FX_START + SEC(1);
    assert_int_equal(hx_collect(fixture, query, out, 8, 4), 1);
    assert_place(out[0].place, SCHEDQ_BACKOFF);
    assert_ns_equal(out[0].expiry_ns, FX_START + SEC(1));
    assert_int_equal(out[0].backing_off, 1);
    assert_int_equal(fx_tick(fixture).left, 0);
    int64_t next;
    fx_advance(fixture, MS(500));
    assert_ok(schedq_tick(fx_worker(fixture), &next, &result));
    assert_int_equal(result.left, 1);
    assert_true(next <= fx_now(fixture));
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_BACKOFF);
    assert_int_equal(hx_collect(fixture, query, out, 8, 4), 1);
    assert_int_equal(out[0].backing_off, 0);
    assert_ok(hx_apply(fixture, out[0].ref, SCHEDQ_BACKOFF, 0, 0, &result));
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_int_equal(result.poppable, 1);
    fx_pop(fixture, "ns/a");
}

static void
candidates_in_backoff_are_of_one_profile_and_come_in_pieces(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.pop_from_backoff = 0;
    schedq_profile_t batch;
    assert_ok(schedq_profile_define(fx_queue(fixture), "batch", &batch, NULL, 0));
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    fx_plugin_t *batch_fit = fx_plugin_full(fixture, batch, "Fit", 0, NULL, 0, false);
    char name[] = "ns/0";
    for (; name[3] <= '9'; name[3]++)
        hx_back_off(fixture, name, 0, name[3] % 2 == 0 ? fit->bit : 0);
    hx_back_off(fixture, "ns/batch", batch, batch_fit->bit);
    hx_back_off(fixture, "ns/batch-error", batch, 0);
    schedq_candidate_t out[32];
    schedq_query_t query = hx_query(0, 0);
    query.backoff = 1;
    for (size_t step = 1; step <= 3; step++)
        assert_int_equal(hx_collect(fixture, query, out, 32, step), 10);
    query.profile = batch;
    assert_int_equal(hx_collect(fixture, query, out, 32, 1), 2);
}

static void
a_walk_goes_on_when_the_pod_that_comes_next_has_left(void **state)
{
    fixture_t *fixture = *state;
    enum { PODS = 30 };
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    bool seen[PODS] = {false}, left[PODS] = {false};
    char name[16];
    for (unsigned i = 0; i < PODS; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        hx_park(fixture, name, i, fit->bit);
    }
    schedq_query_t query = hx_query(fit->bit, 0);
    schedq_candidate_t one;
    size_t count;
    while (schedq_candidates(fx_worker(fixture), &query, &one, 1, &count) == SCHEDQ_OK) {
        seen[one.object] = true;
        /* whatever the order of the walk, a neighbour of this pod comes next */
        for (unsigned i = one.object > 0 ? (unsigned)one.object - 1 : 0;
             i < PODS && i <= one.object + 1; i++) {
            snprintf(name, sizeof name, "ns/%u", i);
            if (i != one.object && i % 3 == 1) {
                left[i] = true;
                schedq_delete_name(fx_worker(fixture), name, strlen(name), NULL);
            }
        }
    }
    for (unsigned i = 0; i < PODS; i++)
        assert_true(seen[i] || left[i]);
}

static void
leftovers_are_candidates_by_timestamp(void **state)
{
    fixture_t *fixture = *state;
    schedq_candidate_t out[8];
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    hx_park(fixture, "ns/a", 5, fit->bit);
    fx_advance(fixture, SEC(60));
    hx_park(fixture, "ns/b", 6, fit->bit);
    fx_advance(fixture, SEC(250));
    assert_int_equal(fx_tick(fixture).to_active, 0);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    schedq_query_t query = hx_query(UINT64_MAX, UINT64_MAX);
    query.not_after_ns = fx_now(fixture) - SEC(300);
    assert_int_equal(hx_collect(fixture, query, out, 8, 4), 1);
    assert_int_equal(out[0].object, 5);
}

static void
candidates_come_in_pieces_of_any_size(void **state)
{
    fixture_t *fixture = *state;
    enum { PODS = 100 };
    fx_plugin_t *plugins[3];
    char name[16];
    static const char *const names[] = {"One", "Two", "Three"};
    for (unsigned i = 0; i < 3; i++)
        plugins[i] = fx_plugin(fixture, names[i], NULL, 0);
    for (unsigned i = 0; i < PODS; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        hx_park(fixture, name, i, plugins[i % 3]->bit | plugins[i % 2]->bit);
    }
    static schedq_candidate_t out[4 * PODS];
    for (size_t step = 1; step <= 70; step += 23) {
        bool seen[PODS] = {false};
        size_t total = hx_collect(fixture, hx_query(UINT64_MAX, 0), out, 4 * PODS, step);
        for (size_t i = 0; i < total; i++)
            seen[out[i].object] = true;
        for (unsigned i = 0; i < PODS; i++)
            assert_true(seen[i]);
    }
}

static void
a_walk_goes_on_while_its_pods_are_applied(void **state)
{
    fixture_t *fixture = *state;
    enum { PODS = 50 };
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    char name[16];
    for (unsigned i = 0; i < PODS; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        hx_park(fixture, name, i, fit->bit);
    }
    fx_advance(fixture, SEC(60));
    schedq_query_t query = hx_query(fit->bit, 0);
    schedq_candidate_t one[3];
    size_t count, moved = 0;
    while (schedq_candidates(fx_worker(fixture), &query, one, 3, &count) == SCHEDQ_OK) {
        for (size_t i = 0; i < count; i++) {
            schedq_result_t result;
            schedq_status_t status = hx_apply(fixture, one[i].ref, SCHEDQ_ACTIVE, 0, 0, &result);
            assert_true(status == SCHEDQ_OK || status == SCHEDQ_GONE);
            moved += status == SCHEDQ_OK;
        }
    }
    assert_int_equal(moved, PODS);
    fx_assert_counts(fixture, PODS, 0, 0, 0, 0, 0);
}

static void
pods_of_late_names_are_candidates_of_every_query_for_parked_pods(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    uint64_t late = schedq_rejector_bit(fx_queue(fixture), 0, "Late", 4);
    hx_park(fixture, "ns/late", 5, late);
    hx_park(fixture, "ns/others", 6, SCHEDQ_REJECTOR_OTHERS);
    schedq_candidate_t out[8];
    assert_int_equal(hx_collect(fixture, hx_query(fit->bit, 0), out, 8, 4), 2);
    assert_int_equal(hx_collect(fixture, hx_query(0, UINT64_MAX), out, 8, 4), 0);
}

static void
a_pod_that_is_updated_during_a_walk_is_given_all_the_same(void **state)
{
    fixture_t *fixture = *state;
    enum { PODS = 40 };
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    bool seen[PODS] = {false};
    char name[16];
    for (unsigned i = 0; i < PODS; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        hx_park(fixture, name, i, fit->bit);
    }
    schedq_query_t query = hx_query(fit->bit, 0);
    schedq_candidate_t one[3];
    size_t count;
    for (unsigned step = 0;
         schedq_candidates(fx_worker(fixture), &query, one, 3, &count) == SCHEDQ_OK; step++) {
        for (size_t i = 0; i < count; i++)
            seen[one[i].object % 100] = true;
        if (step > 2 * PODS)
            fail();
        unsigned other = (step * 17 + 20) % PODS;
        snprintf(name, sizeof name, "ns/%u", other);
        schedq_pod_spec_t spec = fx_spec(0);
        spec.object = 100 + other;
        assert_ok(schedq_update(fx_worker(fixture), name, strlen(name), &spec, 0, NULL, 0, NULL));
    }
    for (unsigned i = 0; i < PODS; i++)
        assert_true(seen[i]);
}

static void
one_query_may_ask_for_everything(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    fx_plugin_t *gate = fx_plugin(fixture, "Gate", NULL, 0);
    char name[16];
    for (unsigned i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "ns/parked%u", i);
        hx_park(fixture, name, i, fit->bit);
        snprintf(name, sizeof name, "ns/gated%u", i);
        schedq_pod_spec_t spec = fx_spec(0);
        spec.gate = (uint8_t)gate->gate;
        fx_add_spec(fixture, name, &spec);
    }
    for (unsigned i = 0; i < 8; i++) {
        snprintf(name, sizeof name, "ns/backoff%u", i);
        hx_back_off(fixture, name, 0, i % 2 != 0 ? fit->bit : 0);
    }
    for (unsigned i = 8; i < 12; i++) {
        snprintf(name, sizeof name, "ns/parked%u", i);
        schedq_pod_spec_t spec = fx_spec(1);
        fx_add_spec(fixture, name, &spec);
        schedq_popped_t popped = fx_pop(fixture, name);
        schedq_result_t result;
        assert_ok(hx_fail(fixture, &popped.token, SCHEDQ_PARKED, fit->bit, popped.seen, &result));
    }
    schedq_candidate_t out[64];
    schedq_query_t query = hx_query(fit->bit, gate->bit);
    query.backoff = 1;
    for (size_t step = 1; step <= 5; step += 2)
        assert_int_equal(hx_collect(fixture, query, out, 64, step), 12 + 8 + 8);
}

static void
candidates_are_of_one_profile(void **state)
{
    fixture_t *fixture = *state;
    schedq_profile_t batch;
    assert_ok(schedq_profile_define(fx_queue(fixture), "batch", &batch, NULL, 0));
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    fx_plugin_t *batch_fit = fx_plugin_full(fixture, batch, "Fit", 0, NULL, 0, false);
    hx_park(fixture, "ns/a", 5, fit->bit);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.profile = batch;
    spec.object = 6;
    fx_add_spec(fixture, "ns/b", &spec);
    schedq_popped_t popped = fx_pop(fixture, "ns/b");
    schedq_result_t result;
    assert_ok(hx_fail(fixture, &popped.token, SCHEDQ_PARKED, batch_fit->bit, popped.seen, &result));
    schedq_candidate_t out[8];
    schedq_query_t query = hx_query(UINT64_MAX, 0);
    assert_int_equal(hx_collect(fixture, query, out, 8, 4), 1);
    assert_int_equal(out[0].object, 5);
    query.profile = batch;
    assert_int_equal(hx_collect(fixture, query, out, 8, 4), 1);
    assert_int_equal(out[0].object, 6);
    assert_int_equal(out[0].profile, batch);
}

/* A walk found nothing where pods came since: another one meets them. */
static void
a_walk_meets_what_came_after_a_walk_that_met_nothing(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    schedq_candidate_t out[256];
    char name[16];
    schedq_pod_t pod = hx_park(fixture, "ns/first", 0, fit->bit);
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(hx_collect(fixture, hx_query(fit->bit, 0), out, 256, 8), 0);
    for (unsigned i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        hx_park(fixture, name, i, fit->bit);
    }
    assert_int_equal(hx_collect(fixture, hx_query(fit->bit, 0), out, 256, 8), 100);
}

/* The other worker had a walk of its own to the end before. */
static void
a_walk_goes_on_with_a_worker_whose_walk_came_to_the_end_before(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    schedq_candidate_t out[256];
    schedq_worker_t *other;
    size_t count, met = 0;
    char name[16];
    assert_ok(schedq_worker_register(fx_queue(fixture), &other, NULL, 0));
    for (unsigned i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        hx_park(fixture, name, i, fit->bit);
    }
    schedq_query_t query = hx_query(fit->bit, 0);
    while (schedq_candidates(other, &query, out, 8, &count) == SCHEDQ_OK)
        met += count;
    assert_int_equal(met, 3);
    for (unsigned i = 3; i < 100; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        hx_park(fixture, name, i, fit->bit);
    }
    query = hx_query(fit->bit, 0);
    assert_ok(schedq_candidates(fx_worker(fixture), &query, out, 5, &count));
    met = count;
    while (schedq_candidates(other, &query, out, 8, &count) == SCHEDQ_OK)
        met += count;
    assert_int_equal(met, 100);
    assert_ok(schedq_worker_unregister(other));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test_host(candidates_are_the_parked_pods_whose_rejectors_meet_the_mask),
        fx_test_host(candidates_are_the_gated_pods_of_some_gates),
        fx_test_host(candidates_in_backoff_come_on_demand_and_by_expiry),
        fx_test_host(candidates_in_backoff_are_of_one_profile_and_come_in_pieces),
        fx_test_host(a_walk_goes_on_when_the_pod_that_comes_next_has_left),
        fx_test_host(leftovers_are_candidates_by_timestamp),
        fx_test_host(candidates_come_in_pieces_of_any_size),
        fx_test_host(a_walk_goes_on_while_its_pods_are_applied),
        fx_test_host(pods_of_late_names_are_candidates_of_every_query_for_parked_pods),
        fx_test_host(a_pod_that_is_updated_during_a_walk_is_given_all_the_same),
        fx_test_host(one_query_may_ask_for_everything),
        fx_test_host(candidates_are_of_one_profile),
        fx_test_host(a_walk_meets_what_came_after_a_walk_that_met_nothing),
        fx_test_host(a_walk_goes_on_with_a_worker_whose_walk_came_to_the_end_before),
    };
    return fx_run_tests(argc, argv, tests);
}
