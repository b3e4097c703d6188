/* Verbs of a host. */
#include "host.h"

#include <string.h>

uint64_t
hx_begin(fixture_t *fixture)
{
    uint64_t sequence = 0;
    assert_ok(schedq_event_begin(fx_worker(fixture), &sequence));
    return sequence;
}

uint64_t
hx_event(fixture_t *fixture, uint64_t plugins)
{
    uint64_t sequence = hx_begin(fixture);
    assert_ok(schedq_event_stamp(fx_worker(fixture), sequence, 0, plugins));
    return sequence;
}

schedq_status_t
hx_fail(fixture_t *fixture, schedq_token_t *token, schedq_place_t place, uint64_t rejectors,
        uint64_t judged_up_to, schedq_result_t *result)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.place = (uint8_t)place;
    failure.unschedulable = rejectors;
    failure.judged_up_to = judged_up_to;
    return schedq_fail(fx_worker(fixture), token, &failure, result);
}

schedq_pod_t
hx_park(fixture_t *fixture, const char *name, uint64_t object, uint64_t rejectors)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = object;
    schedq_pod_t pod = fx_add_spec(fixture, name, &spec).pod;
    schedq_popped_t popped = fx_pop(fixture, name);
    schedq_result_t result;
    assert_ok(hx_fail(fixture, &popped.token, SCHEDQ_PARKED, rejectors, popped.seen, &result));
    assert_place(result.place, SCHEDQ_PARKED);
    return pod;
}

schedq_status_t
hx_apply(fixture_t *fixture, uint64_t ref, schedq_place_t place, uint8_t gate,
         uint64_t judged_up_to, schedq_result_t *result)
{
    schedq_decision_t decision = SCHEDQ_DECISION_INIT;
    decision.ref = ref;
    decision.place = (uint8_t)place;
    decision.gate = gate;
    decision.judged_up_to = judged_up_to;
    decision.event = SCHEDQ_EVENT_NODE_ADD;
    return schedq_apply(fx_worker(fixture), &decision, result);
}

size_t
hx_collect(fixture_t *fixture, schedq_query_t query, schedq_candidate_t *out, size_t room,
           size_t step)
{
    size_t total = 0, count = 0;
    schedq_status_t status;
    while ((status = schedq_candidates(fx_worker(fixture), &query, out + total, step, &count)) ==
           SCHEDQ_OK) {
        assert_true(count >= 1 && count <= step);
        total += count;
        assert_true(total + step <= room);
    }
    assert_status(status, SCHEDQ_EMPTY);
    assert_int_equal(count, 0);
    return total;
}

schedq_query_t
hx_query(uint64_t rejectors, uint64_t gates)
{
    schedq_query_t query = SCHEDQ_QUERY_INIT;
    query.rejectors = rejectors;
    query.gates = gates;
    return query;
}

void
hx_back_off(fixture_t *fixture, const char *name, schedq_profile_t profile, uint64_t rejectors)
{
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_result_t result;
    spec.profile = profile;
    fx_add_spec(fixture, name, &spec);
    schedq_popped_t popped = fx_pop(fixture, name);
    assert_ok(hx_fail(fixture, &popped.token, SCHEDQ_BACKOFF, rejectors, popped.seen, &result));
}
