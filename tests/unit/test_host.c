/* A host that decides for itself: event sequences and stamps, candidates, apply, RETRY and CHANGED. */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

static uint64_t
begin(fixture_t *fixture)
{
    uint64_t sequence = 0;
    assert_ok(schedq_event_begin(fx_worker(fixture), &sequence));
    return sequence;
}

static uint64_t
event(fixture_t *fixture, uint64_t plugins)
{
    uint64_t sequence = begin(fixture);
    assert_ok(schedq_event_stamp(fx_worker(fixture), sequence, 0, plugins));
    return sequence;
}

static schedq_status_t
fail_to(fixture_t *fixture, schedq_token_t *token, schedq_place_t place, uint64_t rejectors, uint64_t judged_up_to,
        schedq_result_t *result)
{
    schedq_failure_t failure;
    schedq_failure_init(&failure);
    failure.place = (uint8_t)place;
    failure.unschedulable = rejectors;
    failure.judged_up_to = judged_up_to;
    return schedq_add_unschedulable(fx_worker(fixture), token, &failure, result);
}

static schedq_pod_t
park(fixture_t *fixture, const char *name, uint64_t object, uint64_t rejectors)
{
    schedq_pod_spec_t spec = fx_spec(name, 0);
    spec.object = object;
    schedq_pod_t pod = fx_add_spec(fixture, name, &spec).pod;
    schedq_popped_t popped = fx_pop(fixture, name);
    schedq_result_t result;
    assert_ok(fail_to(fixture, &popped.token, SCHEDQ_PARKED, rejectors, popped.seen, &result));
    assert_place(result.place, SCHEDQ_PARKED);
    return pod;
}

static schedq_status_t
apply(fixture_t *fixture, uint64_t ref, schedq_place_t place, uint8_t gate, uint64_t judged_up_to,
      schedq_result_t *result)
{
    schedq_decision_t decision;
    memset(&decision, 0, sizeof decision);
    decision.ref = ref;
    decision.place = (uint8_t)place;
    decision.gate = gate;
    decision.judged_up_to = judged_up_to;
    decision.event = SCHEDQ_EVENT_NODE_ADD;
    return schedq_apply(fx_worker(fixture), &decision, result);
}

static size_t
collect(fixture_t *fixture, schedq_query_t query, schedq_candidate_t *out, size_t room, size_t step)
{
    size_t total = 0, count = 0;
    schedq_status_t status;
    while ((status = schedq_candidates(fx_worker(fixture), &query, out + total, step, &count)) == SCHEDQ_OK) {
        assert_true(count >= 1 && count <= step);
        total += count;
        assert_true(total + step <= room);
    }
    assert_status(status, SCHEDQ_EMPTY);
    assert_int_equal(count, 0);
    return total;
}

static schedq_query_t
query_of(uint64_t rejectors, uint64_t gates)
{
    schedq_query_t query;
    schedq_query_init(&query);
    query.rejectors = rejectors;
    query.gates = gates;
    return query;
}

/* ---- sequences, stamps and failures ---- */

static void
sequences_grow_and_are_readable_without_a_call(void **state)
{
    fixture_t *fixture = *state;
    uint64_t before = schedq_words(fx_queue(fixture))->event_sequence;
    uint64_t first = begin(fixture), second = begin(fixture);
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
    uint64_t sequence = event(fixture, fit->bit);
    assert_true(sequence > popped.seen);
    schedq_result_t result;
    schedq_token_t token = popped.token;
    assert_status(fail_to(fixture, &token, SCHEDQ_PARKED, fit->bit, popped.seen, &result), SCHEDQ_RETRY);
    assert_true(result.sequence >= sequence);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_INFLIGHT);
    assert_ok(schedq_token_alive(fx_worker(fixture), token));
    assert_ok(fail_to(fixture, &token, SCHEDQ_PARKED, fit->bit, result.sequence, &result));
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
    event(fixture, other->bit);
    schedq_result_t result;
    assert_ok(fail_to(fixture, &popped.token, SCHEDQ_PARKED, fit->bit, popped.seen, &result));
}

static void
every_stamp_reaches_late_names(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    event(fixture, 0);
    schedq_result_t result;
    assert_status(
        fail_to(fixture, &popped.token, SCHEDQ_PARKED, SCHEDQ_REJECTOR_OTHERS, popped.seen, &result),
        SCHEDQ_RETRY);
    assert_ok(fail_to(fixture, &popped.token, SCHEDQ_PARKED, SCHEDQ_REJECTOR_OTHERS, result.sequence, &result));
}

static void
a_stamp_never_goes_back(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    uint64_t older = begin(fixture), newer = begin(fixture);
    assert_ok(schedq_event_stamp(fx_worker(fixture), newer, 0, UINT64_MAX));
    assert_ok(schedq_event_stamp(fx_worker(fixture), older, 0, fit->bit));
    schedq_result_t result;
    assert_status(fail_to(fixture, &popped.token, SCHEDQ_PARKED, fit->bit, older, &result), SCHEDQ_RETRY);
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
    event(fixture, fit->bit);
    assert_ok(fail_to(fixture, &popped.token, SCHEDQ_BACKOFF, fit->bit, popped.seen, &result));
    assert_place(result.place, SCHEDQ_BACKOFF);
    popped = fx_pop(fixture, "ns/a");
    event(fixture, fit->bit);
    assert_ok(fail_to(fixture, &popped.token, SCHEDQ_ACTIVE, fit->bit, popped.seen, &result));
    assert_place(result.place, SCHEDQ_ACTIVE);
    popped = fx_pop(fixture, "ns/a");
    assert_ok(fail_to(fixture, &popped.token, SCHEDQ_BACKOFF, 0, popped.seen, &result));
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
    assert_status(fail_to(fixture, &popped.token, SCHEDQ_PARKED, fit->bit, popped.seen, &result), SCHEDQ_RETRY);
    assert_ok(fail_to(fixture, &popped.token, SCHEDQ_BACKOFF, fit->bit, result.sequence, &result));
    assert_place(result.place, SCHEDQ_BACKOFF);
}

static void
activate_leaves_waiting_pods_to_the_host(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = park(fixture, "ns/a", 5, fit->bit);
    schedq_result_t result;
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, &result));
    assert_int_equal(result.to_active, 0);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
}

/* ---- gates ---- */

static void
a_gated_add_is_retried_if_the_gate_has_a_newer_stamp(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_plugin(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *other = fx_plugin(fixture, "Other", "Node", SCHEDQ_ACTION_ADD);
    fx_worker(fixture);
    schedq_pod_spec_t spec = fx_spec("ns/a", 0);
    spec.gate = (uint8_t)gate->gate;
    spec.judged_up_to = schedq_words(fx_queue(fixture))->event_sequence;
    uint64_t sequence = event(fixture, gate->bit);
    schedq_result_t result;
    assert_status(schedq_add(fx_worker(fixture), "ns/a", &spec, &result), SCHEDQ_RETRY);
    assert_true(result.sequence >= sequence);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
    spec.judged_up_to = result.sequence;
    event(fixture, other->bit);
    assert_ok(schedq_add(fx_worker(fixture), "ns/a", &spec, &result));
    assert_place(result.place, SCHEDQ_GATED);
    assert_int_equal(result.gate, gate->gate);
    schedq_result_t found = fx_find(fixture, "ns/a");
    assert_int_equal(found.unschedulable, gate->bit);
    assert_true(found.ref != 0);
}

static void
applying_gated_asks_for_a_newer_judgement_too(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_plugin(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = park(fixture, "ns/a", 5, gate->bit);
    uint64_t judged = schedq_words(fx_queue(fixture))->event_sequence;
    uint64_t ref = fx_find(fixture, "ns/a").ref;
    uint64_t sequence = event(fixture, gate->bit);
    schedq_result_t result;
    assert_status(apply(fixture, ref, SCHEDQ_GATED, (uint8_t)gate->gate, judged, &result), SCHEDQ_RETRY);
    assert_true(result.sequence >= sequence);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    ref = fx_find(fixture, "ns/a").ref;
    assert_ok(apply(fixture, ref, SCHEDQ_GATED, (uint8_t)gate->gate, result.sequence, &result));
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
    schedq_pod_spec_t spec = fx_spec("ns/a", 0);
    spec.gate = (uint8_t)one->gate;
    schedq_pod_t pod = fx_add_spec(fixture, "ns/a", &spec).pod;
    uint64_t first = fx_find(fixture, "ns/a").ref;
    schedq_result_t result;
    assert_ok(apply(fixture, first, SCHEDQ_GATED, (uint8_t)two->gate, 0, &result));
    uint64_t second = fx_find(fixture, "ns/a").ref;
    assert_true(first != second);
    assert_status(apply(fixture, first, SCHEDQ_ACTIVE, 0, 0, &result), SCHEDQ_CHANGED);
    assert_true(result.ref == second);
    schedq_pod_info_t info = fx_info(fixture, pod);
    assert_int_equal(info.gate, two->gate);
    assert_int_equal(info.unschedulable, one->bit | two->bit);
    assert_ok(apply(fixture, second, SCHEDQ_ACTIVE, 0, 0, &result));
    fx_pop(fixture, "ns/a");
}

/* ---- candidates ---- */

static void
candidates_are_the_parked_pods_whose_rejectors_meet_the_mask(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *other = fx_plugin(fixture, "Other", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = park(fixture, "ns/a", 5, fit->bit);
    park(fixture, "ns/b", 6, other->bit);
    park(fixture, "ns/c", 7, other->bit | fit->bit);
    fx_add(fixture, "ns/active", 0);
    schedq_candidate_t out[16];
    assert_int_equal(collect(fixture, query_of(fit->bit, 0), out, 16, 8), 2);
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
    assert_int_equal(collect(fixture, query_of(0, 0), out, 16, 8), 0);
    fx_advance(fixture, SEC(1));
    assert_int_equal(collect(fixture, query_of(fit->bit | other->bit, 0), out, 16, 8), 3);
    assert_int_equal(out[0].backing_off, 0);
}

static void
candidates_are_the_gated_pods_of_some_gates(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *one = fx_plugin(fixture, "One", NULL, 0);
    fx_plugin_t *two = fx_plugin(fixture, "Two", NULL, 0);
    schedq_pod_spec_t spec = fx_spec("ns/a", 0);
    spec.gate = (uint8_t)one->gate;
    fx_add_spec(fixture, "ns/a", &spec);
    spec.gate = (uint8_t)two->gate;
    schedq_pod_t pod = fx_add_spec(fixture, "ns/b", &spec).pod;
    schedq_candidate_t out[8];
    assert_int_equal(collect(fixture, query_of(0, two->bit), out, 8, 4), 1);
    assert_true(out[0].pod.bits == pod.bits);
    assert_place(out[0].place, SCHEDQ_GATED);
    assert_int_equal(out[0].gate, two->gate);
    assert_int_equal(out[0].backing_off, 0);
    assert_int_equal(collect(fixture, query_of(UINT64_MAX, 0), out, 8, 4), 0);
    assert_int_equal(collect(fixture, query_of(0, one->bit | two->bit), out, 8, 4), 2);
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
    assert_ok(fail_to(fixture, &popped.token, SCHEDQ_BACKOFF, fit->bit, popped.seen, &result));
    fx_advance(fixture, MS(500));
    fx_add(fixture, "ns/b", 0);
    popped = fx_pop(fixture, "ns/b");
    assert_ok(fail_to(fixture, &popped.token, SCHEDQ_BACKOFF, 0, popped.seen, &result));
    assert_int_equal(collect(fixture, query_of(UINT64_MAX, UINT64_MAX), out, 8, 4), 0);
    schedq_query_t query = query_of(0, 0);
    query.backoff = 1;
    assert_int_equal(collect(fixture, query, out, 8, 4), 2);
    query.not_after_ns = FX_START + SEC(1);
    assert_int_equal(collect(fixture, query, out, 8, 4), 1);
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
    assert_int_equal(collect(fixture, query, out, 8, 4), 1);
    assert_int_equal(out[0].backing_off, 0);
    assert_ok(apply(fixture, out[0].ref, SCHEDQ_BACKOFF, 0, 0, &result));
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_int_equal(result.poppable, 1);
    fx_pop(fixture, "ns/a");
}

static void
back_off(fixture_t *fixture, const char *name, schedq_profile_t profile, uint64_t rejectors)
{
    schedq_pod_spec_t spec = fx_spec(name, 0);
    schedq_result_t result;
    spec.profile = profile;
    fx_add_spec(fixture, name, &spec);
    schedq_popped_t popped = fx_pop(fixture, name);
    assert_ok(fail_to(fixture, &popped.token, SCHEDQ_BACKOFF, rejectors, popped.seen, &result));
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
        back_off(fixture, name, 0, name[3] % 2 == 0 ? fit->bit : 0);
    back_off(fixture, "ns/batch", batch, batch_fit->bit);
    back_off(fixture, "ns/batch-error", batch, 0);
    schedq_candidate_t out[32];
    schedq_query_t query = query_of(0, 0);
    query.backoff = 1;
    for (size_t step = 1; step <= 3; step++)
        assert_int_equal(collect(fixture, query, out, 32, step), 10);
    query.profile = batch;
    assert_int_equal(collect(fixture, query, out, 32, 1), 2);
}

static void
tick_moves_due_backoff_that_pop_could_take(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    back_off(fixture, "ns/a", 0, fit->bit);
    back_off(fixture, "ns/b", 0, 0);
    schedq_result_t result = fx_pass(fixture, SEC(1));
    assert_int_equal(result.to_active, 2);
    assert_int_equal(result.left, 0);
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
        park(fixture, name, i, fit->bit);
    }
    schedq_query_t query = query_of(fit->bit, 0);
    schedq_candidate_t one;
    size_t count;
    while (schedq_candidates(fx_worker(fixture), &query, &one, 1, &count) == SCHEDQ_OK) {
        seen[one.object] = true;
        /* whatever the order of the walk, a neighbour of this pod comes next */
        for (unsigned i = one.object > 0 ? (unsigned)one.object - 1 : 0; i < PODS && i <= one.object + 1; i++) {
            snprintf(name, sizeof name, "ns/%u", i);
            if (i != one.object && i % 3 == 1) {
                left[i] = true;
                schedq_delete(fx_worker(fixture), (schedq_pod_t){0}, name, (uint32_t)strlen(name), NULL);
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
    park(fixture, "ns/a", 5, fit->bit);
    fx_advance(fixture, SEC(60));
    park(fixture, "ns/b", 6, fit->bit);
    fx_advance(fixture, SEC(250));
    assert_int_equal(fx_tick(fixture).to_active, 0);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    schedq_query_t query = query_of(UINT64_MAX, UINT64_MAX);
    query.not_after_ns = fx_now(fixture) - SEC(300);
    assert_int_equal(collect(fixture, query, out, 8, 4), 1);
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
        park(fixture, name, i, plugins[i % 3]->bit | plugins[i % 2]->bit);
    }
    static schedq_candidate_t out[4 * PODS];
    for (size_t step = 1; step <= 70; step += 23) {
        bool seen[PODS] = {false};
        size_t total = collect(fixture, query_of(UINT64_MAX, 0), out, 4 * PODS, step);
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
        park(fixture, name, i, fit->bit);
    }
    fx_advance(fixture, SEC(60));
    schedq_query_t query = query_of(fit->bit, 0);
    schedq_candidate_t one[3];
    size_t count, moved = 0;
    while (schedq_candidates(fx_worker(fixture), &query, one, 3, &count) == SCHEDQ_OK) {
        for (size_t i = 0; i < count; i++) {
            schedq_result_t result;
            schedq_status_t status = apply(fixture, one[i].ref, SCHEDQ_ACTIVE, 0, 0, &result);
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
    park(fixture, "ns/late", 5, late);
    park(fixture, "ns/others", 6, SCHEDQ_REJECTOR_OTHERS);
    schedq_candidate_t out[8];
    assert_int_equal(collect(fixture, query_of(fit->bit, 0), out, 8, 4), 2);
    assert_int_equal(collect(fixture, query_of(0, UINT64_MAX), out, 8, 4), 0);
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
        park(fixture, name, i, fit->bit);
    }
    schedq_query_t query = query_of(fit->bit, 0);
    schedq_candidate_t one[3];
    size_t count;
    for (unsigned step = 0; schedq_candidates(fx_worker(fixture), &query, one, 3, &count) == SCHEDQ_OK; step++) {
        for (size_t i = 0; i < count; i++)
            seen[one[i].object % 100] = true;
        if (step > 2 * PODS)
            fail();
        unsigned other = (step * 17 + 20) % PODS;
        snprintf(name, sizeof name, "ns/%u", other);
        schedq_pod_spec_t spec = fx_spec(name, 0);
        spec.object = 100 + other;
        assert_ok(schedq_update(fx_worker(fixture), name, &spec, 0, NULL, 0, NULL));
    }
    for (unsigned i = 0; i < PODS; i++)
        assert_true(seen[i]);
}

static void
one_malformed_decision_stops_all_of_them(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    park(fixture, "ns/a", 5, fit->bit);
    schedq_decision_t decisions[2];
    memset(decisions, 0, sizeof decisions);
    decisions[0].ref = decisions[1].ref = fx_find(fixture, "ns/a").ref;
    decisions[0].place = SCHEDQ_ACTIVE;
    decisions[1].place = SCHEDQ_INFLIGHT;
    schedq_result_t sum;
    assert_status(schedq_apply_many(fx_worker(fixture), decisions, 2, NULL, NULL, &sum), SCHEDQ_INVALID);
    assert_int_equal(sum.to_active, 0);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
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
    event(fixture, fit->bit);
    assert_status(fail_to(fixture, &popped.token, SCHEDQ_PARKED, 0, popped.seen, &result), SCHEDQ_RETRY);
    assert_ok(fail_to(fixture, &popped.token, SCHEDQ_PARKED, 0, result.sequence, &result));
    assert_place(result.place, SCHEDQ_PARKED);
    schedq_candidate_t out[8];
    assert_int_equal(collect(fixture, query_of(fit->bit, 0), out, 8, 4), 1);
}

static void
candidates_are_of_one_profile(void **state)
{
    fixture_t *fixture = *state;
    schedq_profile_t batch;
    assert_ok(schedq_profile_define(fx_queue(fixture), "batch", &batch, NULL, 0));
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    fx_plugin_t *batch_fit = fx_plugin_full(fixture, batch, "Fit", 0, NULL, 0, false);
    park(fixture, "ns/a", 5, fit->bit);
    schedq_pod_spec_t spec = fx_spec("ns/b", 0);
    spec.profile = batch;
    spec.object = 6;
    fx_add_spec(fixture, "ns/b", &spec);
    schedq_popped_t popped = fx_pop(fixture, "ns/b");
    schedq_result_t result;
    assert_ok(fail_to(fixture, &popped.token, SCHEDQ_PARKED, batch_fit->bit, popped.seen, &result));
    schedq_candidate_t out[8];
    schedq_query_t query = query_of(UINT64_MAX, 0);
    assert_int_equal(collect(fixture, query, out, 8, 4), 1);
    assert_int_equal(out[0].object, 5);
    query.profile = batch;
    assert_int_equal(collect(fixture, query, out, 8, 4), 1);
    assert_int_equal(out[0].object, 6);
    assert_int_equal(out[0].profile, batch);
}

/* ---- apply ---- */

static void
apply_moves_a_pod_where_it_is_told(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    schedq_pod_t pod = park(fixture, "ns/a", 5, fit->bit);
    park(fixture, "ns/b", 6, fit->bit);
    schedq_result_t result;
    assert_ok(apply(fixture, fx_find(fixture, "ns/a").ref, SCHEDQ_ACTIVE, 0, 0, &result));
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_int_equal(result.to_active, 1);
    assert_int_equal(result.poppable, 1);
    assert_int_equal(result.unschedulable, fit->bit);
    assert_true(result.pod.bits == pod.bits);
    assert_int_equal(fx_info(fixture, pod).object, 5);
    assert_ns_equal(fx_info(fixture, pod).history.timestamp_ns, FX_START);
    assert_ok(apply(fixture, fx_find(fixture, "ns/b").ref, SCHEDQ_BACKOFF, 0, 0, &result));
    assert_place(result.place, SCHEDQ_BACKOFF);
    assert_int_equal(result.to_backoff, 1);
    assert_int_equal(fx_metric(fixture, "scheduler_queue_incoming_pods_total{queue=\"active\",event=\"NodeAdd\"}"), 1);
    assert_int_equal(fx_metric(fixture, "scheduler_queue_incoming_pods_total{queue=\"backoff\",event=\"NodeAdd\"}"), 1);
}

static void
an_update_meanwhile_makes_a_decision_void(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    park(fixture, "ns/a", 5, fit->bit);
    uint64_t old = fx_find(fixture, "ns/a").ref;
    schedq_pod_spec_t spec = fx_spec("ns/a", 0);
    spec.object = 6;
    schedq_result_t result;
    schedq_event_t label = SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", &spec, 5, &label, 1, &result));
    assert_place(result.place, SCHEDQ_PARKED);
    uint64_t ref = result.ref;
    assert_true(ref != 0 && ref != old);
    assert_status(apply(fixture, old, SCHEDQ_ACTIVE, 0, 0, &result), SCHEDQ_CHANGED);
    assert_true(result.ref == ref);
    assert_int_equal(result.object, 6);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    assert_ok(apply(fixture, ref, SCHEDQ_ACTIVE, 0, 0, &result));
}

static void
a_pod_that_left_its_waiting_place_is_gone(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    schedq_result_t result;
    park(fixture, "ns/a", 5, fit->bit);
    uint64_t ref = fx_find(fixture, "ns/a").ref;
    assert_ok(apply(fixture, ref, SCHEDQ_ACTIVE, 0, 0, &result));
    assert_status(apply(fixture, ref, SCHEDQ_ACTIVE, 0, 0, &result), SCHEDQ_GONE);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_status(apply(fixture, ref, SCHEDQ_BACKOFF, 0, 0, &result), SCHEDQ_GONE);
    fx_done(fixture, &popped);
    assert_status(apply(fixture, ref, SCHEDQ_BACKOFF, 0, 0, &result), SCHEDQ_GONE);
    schedq_pod_t pod = park(fixture, "ns/b", 5, fit->bit);
    ref = fx_find(fixture, "ns/b").ref;
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL, 0, NULL));
    park(fixture, "ns/c", 5, fit->bit);
    assert_status(apply(fixture, ref, SCHEDQ_ACTIVE, 0, 0, &result), SCHEDQ_GONE);
    assert_place(fx_place(fixture, "ns/c"), SCHEDQ_PARKED);
}

static void
apply_many_answers_for_each_decision(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", NULL, 0);
    park(fixture, "ns/a", 5, fit->bit);
    park(fixture, "ns/b", 6, fit->bit);
    schedq_pod_t doomed = park(fixture, "ns/c", 7, fit->bit);
    schedq_decision_t decisions[3];
    memset(decisions, 0, sizeof decisions);
    decisions[0].ref = fx_find(fixture, "ns/a").ref;
    decisions[0].place = SCHEDQ_ACTIVE;
    decisions[1].ref = fx_find(fixture, "ns/c").ref;
    decisions[1].place = SCHEDQ_ACTIVE;
    decisions[2].ref = fx_find(fixture, "ns/b").ref;
    decisions[2].place = SCHEDQ_BACKOFF;
    assert_ok(schedq_delete(fx_worker(fixture), doomed, NULL, 0, NULL));
    uint8_t statuses[3];
    schedq_result_t results[3], sum;
    assert_status(schedq_apply_many(fx_worker(fixture), decisions, 3, statuses, results, &sum), SCHEDQ_GONE);
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

static void
a_bound_pod_that_failed_is_readded_where_the_host_says(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_plugin(fixture, "Gate", NULL, 0);
    fx_worker(fixture);
    schedq_history_t history = {.attempts = 2, .errors = 1};
    schedq_failure_t failure;
    schedq_failure_init(&failure);
    static const struct {
        schedq_place_t asked, got;
    } cases[] = {{SCHEDQ_ACTIVE, SCHEDQ_ACTIVE},
                 {SCHEDQ_BACKOFF, SCHEDQ_ERROR_BACKOFF},
                 {SCHEDQ_GATED, SCHEDQ_GATED}};
    char name[] = "ns/0";
    for (size_t i = 0; i < 3; i++) {
        name[3] = (char)('0' + i);
        schedq_pod_spec_t spec = fx_spec(name, 0);
        schedq_result_t result;
        failure.place = (uint8_t)cases[i].asked;
        failure.gate = cases[i].asked == SCHEDQ_GATED ? (uint8_t)gate->gate : 0;
        assert_ok(schedq_readd(fx_worker(fixture), name, &spec, &history, &failure, &result));
        assert_place(result.place, cases[i].got);
    }
    schedq_pod_spec_t spec = fx_spec("ns/parked", 0);
    failure.place = SCHEDQ_PARKED;
    failure.gate = 0;
    assert_status(schedq_readd(fx_worker(fixture), "ns/parked", &spec, &history, &failure, NULL), SCHEDQ_INVALID);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fx_test_host(sequences_grow_and_are_readable_without_a_call),
        fx_test_host(a_stamp_of_a_rejector_forces_a_newer_judgement),
        fx_test_host(a_stamp_of_another_plugin_forces_nothing),
        fx_test_host(every_stamp_reaches_late_names),
        fx_test_host(a_stamp_never_goes_back),
        fx_test_host(a_failure_that_is_retried_needs_no_judgement),
        fx_test_host(an_activation_in_flight_forces_a_retry),
        fx_test_host(activate_leaves_waiting_pods_to_the_host),
        fx_test_host(a_gated_add_is_retried_if_the_gate_has_a_newer_stamp),
        fx_test_host(applying_gated_asks_for_a_newer_judgement_too),
        fx_test_host(a_pod_that_stays_gated_gets_a_new_ref),
        fx_test_host(candidates_are_the_parked_pods_whose_rejectors_meet_the_mask),
        fx_test_host(candidates_are_the_gated_pods_of_some_gates),
        fx_test_host(candidates_in_backoff_come_on_demand_and_by_expiry),
        fx_test_host(candidates_in_backoff_are_of_one_profile_and_come_in_pieces),
        fx_test_host(tick_moves_due_backoff_that_pop_could_take),
        fx_test_host(a_walk_goes_on_when_the_pod_that_comes_next_has_left),
        fx_test_host(leftovers_are_candidates_by_timestamp),
        fx_test_host(candidates_come_in_pieces_of_any_size),
        fx_test_host(a_walk_goes_on_while_its_pods_are_applied),
        fx_test_host(pods_of_late_names_are_candidates_of_every_query_for_parked_pods),
        fx_test_host(a_pod_that_is_updated_during_a_walk_is_given_all_the_same),
        fx_test_host(one_malformed_decision_stops_all_of_them),
        fx_test_host(a_host_parks_an_error_only_if_it_judged_every_event),
        fx_test_host(candidates_are_of_one_profile),
        fx_test_host(apply_moves_a_pod_where_it_is_told),
        fx_test_host(an_update_meanwhile_makes_a_decision_void),
        fx_test_host(a_pod_that_left_its_waiting_place_is_gone),
        fx_test_host(apply_many_answers_for_each_decision),
        fx_test_host(a_bound_pod_that_failed_is_readded_where_the_host_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
