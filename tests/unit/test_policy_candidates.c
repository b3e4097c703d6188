/* engine/policy/candidates.h: which waiting pods a host asks for. */
#include "expect.h"
#include "policy/candidates.h"

static schedq_query_t
query_of_profile(schedq_profile_t profile)
{
    schedq_query_t query = SCHEDQ_QUERY_INIT;
    query.profile = profile;
    return query;
}

static void
parked_pods_are_asked_for_by_what_rejected_them(void **state)
{
    (void)state;
    schedq_query_t query = query_of_profile(2);
    query.rejectors = 4;
    struct waiting_pod pod = {.place = SCHEDQ_PARKED, .profile = 2, .rejectors = 6};
    assert_true(candidates_wants(&query, 4, &pod));
    assert_false(candidates_wants(&query, 8, &pod));
    pod.rejectors = 8;
    assert_false(candidates_wants(&query, 4, &pod));
    assert_true(candidates_wants(&query, 4 | 8, &pod));
}

static void
a_pod_that_nothing_rejected_is_helped_by_any_event(void **state)
{
    (void)state;
    schedq_query_t query = query_of_profile(0);
    query.rejectors = 4;
    const struct waiting_pod pod = {.place = SCHEDQ_PARKED};
    assert_true(candidates_wants(&query, 4, &pod));
}

static void
who_asks_for_no_rejector_gets_no_parked_pod(void **state)
{
    (void)state;
    schedq_query_t query = query_of_profile(0);
    query.gates = UINT64_MAX;
    query.backoff = 1;
    struct waiting_pod pod = {.place = SCHEDQ_PARKED};
    assert_false(candidates_wants(&query, UINT64_MAX, &pod));
    pod.rejectors = 1;
    assert_false(candidates_wants(&query, UINT64_MAX, &pod));
}

static void
gated_pods_are_asked_for_by_their_gate_alone(void **state)
{
    (void)state;
    schedq_query_t query = query_of_profile(0);
    query.rejectors = UINT64_MAX;
    query.gates = 1 << 4;
    struct waiting_pod pod = {.place = SCHEDQ_GATED, .gate = 5, .rejectors = 1};
    assert_true(candidates_wants(&query, UINT64_MAX, &pod));
    pod.gate = 4;
    assert_false(candidates_wants(&query, UINT64_MAX, &pod));
    pod.gate = 0;
    assert_false(candidates_wants(&query, UINT64_MAX, &pod));
}

static void
pods_that_back_off_are_asked_for_together(void **state)
{
    (void)state;
    schedq_query_t query = query_of_profile(0);
    struct waiting_pod pods[] = {{.place = SCHEDQ_BACKOFF, .rejectors = 1},
                                 {.place = SCHEDQ_ERROR_BACKOFF}};
    for (unsigned i = 0; i < 2; i++) {
        query.backoff = 0;
        query.rejectors = query.gates = UINT64_MAX;
        assert_false(candidates_wants(&query, UINT64_MAX, &pods[i]));
        query.backoff = 1;
        query.rejectors = query.gates = 0;
        assert_true(candidates_wants(&query, SCHEDQ_REJECTOR_OTHERS, &pods[i]));
    }
}

static void
pods_that_do_not_wait_are_no_candidates(void **state)
{
    (void)state;
    static const schedq_place_t places[] = {SCHEDQ_NOWHERE, SCHEDQ_ACTIVE, SCHEDQ_INFLIGHT};
    schedq_query_t query = query_of_profile(0);
    query.rejectors = query.gates = UINT64_MAX;
    query.backoff = 1;
    for (unsigned i = 0; i < 3; i++) {
        const struct waiting_pod pod = {.place = places[i]};
        assert_false(candidates_wants(&query, UINT64_MAX, &pod));
    }
}

static void
only_pods_of_the_profile_that_came_up_to_the_time_are_candidates(void **state)
{
    (void)state;
    static const schedq_place_t places[] = {SCHEDQ_PARKED, SCHEDQ_GATED, SCHEDQ_BACKOFF,
                                            SCHEDQ_ERROR_BACKOFF};
    schedq_query_t query = query_of_profile(1);
    query.rejectors = query.gates = UINT64_MAX;
    query.backoff = 1;
    query.not_after_ns = 100;
    for (unsigned i = 0; i < 4; i++) {
        struct waiting_pod pod = {
            .place = places[i], .profile = 1, .gate = 1, .rejectors = 1, .time = 100};
        assert_true(candidates_wants(&query, 1, &pod));
        pod.time = 101;
        assert_false(candidates_wants(&query, 1, &pod));
        pod.time = INT64_MIN;
        assert_true(candidates_wants(&query, 1, &pod));
        pod.profile = 0;
        assert_false(candidates_wants(&query, 1, &pod));
    }
}

/* Whatever the pods' times: what may not be wanted is wanted at no time. */
static void
what_may_be_wanted_depends_on_all_but_the_time(void **state)
{
    (void)state;
    schedq_query_t query = query_of_profile(1);
    query.rejectors = 2;
    query.gates = 4;
    query.not_after_ns = INT64_MIN;
    assert_true(candidates_may_want(&query, 2, 1, 0, 2));
    assert_true(candidates_may_want(&query, 2, 1, 0, 0));
    assert_true(candidates_may_want(&query, 2, 1, 3, 1));
    assert_false(candidates_may_want(&query, 2, 1, 0, 1));
    assert_false(candidates_may_want(&query, 2, 1, 2, 2));
    assert_false(candidates_may_want(&query, 2, 0, 0, 2));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parked_pods_are_asked_for_by_what_rejected_them),
        cmocka_unit_test(a_pod_that_nothing_rejected_is_helped_by_any_event),
        cmocka_unit_test(who_asks_for_no_rejector_gets_no_parked_pod),
        cmocka_unit_test(gated_pods_are_asked_for_by_their_gate_alone),
        cmocka_unit_test(pods_that_back_off_are_asked_for_together),
        cmocka_unit_test(pods_that_do_not_wait_are_no_candidates),
        cmocka_unit_test(only_pods_of_the_profile_that_came_up_to_the_time_are_candidates),
        cmocka_unit_test(what_may_be_wanted_depends_on_all_but_the_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
