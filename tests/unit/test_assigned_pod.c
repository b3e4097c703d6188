/*
 * A pod got a node, or changed on it: which parked pods hear of it through
 * schedq_assigned_pod_added and _updated.
 */
#include <pthread.h>
#include <string.h>

#include "fixture.h"

/* The pod's term matches the assigned pod if their objects end in the same digit. */
static int
same_digit(void *ctx, uint64_t pod, uint64_t assigned)
{
    unsigned *calls = ctx;
    (*calls)++;
    return pod % 10 == assigned % 10;
}

static void
park_pod(fixture_t *fixture, const char *name, uint64_t object, uint8_t flags, uint64_t rejectors)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = object;
    spec.flags = flags;
    fx_add_spec(fixture, name, &spec);
    schedq_popped_t popped = fx_pop(fixture, name);
    assert_place(fx_fail(fixture, &popped, rejectors, 0).place, SCHEDQ_PARKED);
}

static schedq_result_t
assigned(fixture_t *fixture, uint64_t object, const char *space)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_result_t result;
    change.event = SCHEDQ_EVENT_ASSIGNED_POD_ADD;
    change.new_object = object;
    assert_ok(schedq_assigned_pod_added(fx_worker(fixture), &change, space, (uint32_t)strlen(space),
                                        &result));
    return result;
}

static fx_plugin_t *
spread_plugin(fixture_t *fixture)
{
    const schedq_interest_t interest = {
        .resource = "Pod", .actions = SCHEDQ_ACTION_ALL, .hint = fx_hint};
    return fx_plugin_full(fixture, 0, "PodTopologySpread", SCHEDQ_PLUGIN_SPREAD, &interest, 1,
                          false);
}

static void
start_with_affinity(fixture_t *fixture, unsigned *calls)
{
    *calls = 0;
    fixture->config.affinity_matches = same_digit;
    fixture->config.object_ctx = calls;
}

static void
pods_whose_affinity_matches_are_tried_again(void **state)
{
    fixture_t *fixture = *state;
    unsigned calls;
    start_with_affinity(fixture, &calls);
    fixture->config.requeue = SCHEDQ_REQUEUE_MOVE_CYCLE;
    fx_plugin_t *affinity = fx_plugin(fixture, "InterPodAffinity", "Pod", SCHEDQ_ACTION_ALL);
    park_pod(fixture, "ns/match", 31, SCHEDQ_POD_AFFINITY, affinity->bit);
    park_pod(fixture, "other/match", 41, SCHEDQ_POD_AFFINITY, affinity->bit);
    park_pod(fixture, "ns/differs", 32, SCHEDQ_POD_AFFINITY, affinity->bit);
    park_pod(fixture, "ns/without", 51, 0, affinity->bit);
    schedq_result_t result = assigned(fixture, 61, "ns");
    assert_int_equal(result.to_backoff, 2);
    assert_int_equal(calls, 3);
    assert_place(fx_place(fixture, "ns/match"), SCHEDQ_BACKOFF);
    assert_place(fx_place(fixture, "other/match"), SCHEDQ_BACKOFF);
    assert_place(fx_place(fixture, "ns/differs"), SCHEDQ_PARKED);
    assert_place(fx_place(fixture, "ns/without"), SCHEDQ_PARKED);
}

static void
pods_of_its_namespace_that_a_spread_plugin_rejected_are_tried_again(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.requeue = SCHEDQ_REQUEUE_MOVE_CYCLE;
    fx_plugin_t *spread = spread_plugin(fixture);
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Pod", SCHEDQ_ACTION_ALL);
    park_pod(fixture, "ns/spread", 1, 0, spread->bit);
    park_pod(fixture, "ns/both", 2, 0, spread->bit | fit->bit);
    park_pod(fixture, "ns/fit", 3, 0, fit->bit);
    park_pod(fixture, "nsx/spread", 4, 0, spread->bit);
    park_pod(fixture, "n/spread", 5, 0, spread->bit);
    assert_int_equal(assigned(fixture, 61, "ns").to_backoff, 2);
    assert_place(fx_place(fixture, "ns/spread"), SCHEDQ_BACKOFF);
    assert_place(fx_place(fixture, "ns/both"), SCHEDQ_BACKOFF);
    assert_place(fx_place(fixture, "ns/fit"), SCHEDQ_PARKED);
    assert_place(fx_place(fixture, "nsx/spread"), SCHEDQ_PARKED);
    assert_place(fx_place(fixture, "n/spread"), SCHEDQ_PARKED);
}

static void
without_a_callback_no_affinity_matches(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.requeue = SCHEDQ_REQUEUE_MOVE_CYCLE;
    fx_plugin_t *affinity = fx_plugin(fixture, "InterPodAffinity", "Pod", SCHEDQ_ACTION_ALL);
    park_pod(fixture, "ns/a", 31, SCHEDQ_POD_AFFINITY, affinity->bit);
    assert_int_equal(assigned(fixture, 61, "ns").to_backoff, 0);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
}

static void
a_candidate_still_has_to_match_the_event(void **state)
{
    fixture_t *fixture = *state;
    unsigned calls;
    start_with_affinity(fixture, &calls);
    fixture->config.requeue = SCHEDQ_REQUEUE_MOVE_CYCLE;
    fx_plugin_t *affinity = fx_plugin(fixture, "InterPodAffinity", "Pod", SCHEDQ_ACTION_ALL);
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ALL);
    park_pod(fixture, "ns/affinity", 31, SCHEDQ_POD_AFFINITY, affinity->bit);
    park_pod(fixture, "ns/fit", 41, SCHEDQ_POD_AFFINITY, fit->bit);
    assert_int_equal(assigned(fixture, 61, "ns").to_backoff, 1);
    assert_place(fx_place(fixture, "ns/fit"), SCHEDQ_PARKED);
}

static void
with_hints_they_decide_among_the_candidates(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *spread = spread_plugin(fixture);
    park_pod(fixture, "ns/a", 1, 0, spread->bit);
    park_pod(fixture, "ns/b", 2, 0, spread->bit);
    park_pod(fixture, "other/b", 3, 0, spread->bit);
    spread->only_object = 2;
    assert_int_equal(assigned(fixture, 61, "ns").to_backoff, 1);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_BACKOFF);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    assert_int_equal(spread->hint_calls, 2);
}

static void
an_assigned_pod_counts_for_pods_in_flight(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Pod", SCHEDQ_ACTION_ALL);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assigned(fixture, 61, "ns");
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_BACKOFF);
}

static void
a_scale_down_of_an_assigned_pod_moves_as_move_all_does(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.requeue = SCHEDQ_REQUEUE_MOVE_CYCLE;
    fx_plugin_t *spread = spread_plugin(fixture);
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Pod", SCHEDQ_ACTION_ALL);
    park_pod(fixture, "ns/fit", 1, 0, fit->bit);
    park_pod(fixture, "other/spread", 2, 0, spread->bit);
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_result_t result;
    change.event = SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_LABEL;
    assert_ok(schedq_assigned_pod_updated(fx_worker(fixture), &change, "ns", 2, &result));
    assert_int_equal(result.to_backoff, 0);
    change.event = SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_DOWN;
    assert_ok(schedq_assigned_pod_added(fx_worker(fixture), &change, "ns", 2, &result));
    assert_int_equal(result.to_backoff, 0);
    assert_ok(schedq_assigned_pod_updated(fx_worker(fixture), &change, "ns", 2, &result));
    assert_int_equal(result.to_backoff, 2);
}

static int
refuse_all(void *ctx, uint64_t pod)
{
    (void)pod;
    ++*(unsigned *)ctx;
    return 0;
}

static void
an_assigned_pod_is_not_prechecked(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.requeue = SCHEDQ_REQUEUE_MOVE_CYCLE;
    fx_plugin_t *spread = spread_plugin(fixture);
    park_pod(fixture, "ns/a", 1, 0, spread->bit);
    park_pod(fixture, "other/a", 2, 0, spread->bit);
    unsigned calls = 0;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_result_t result;
    change.event = SCHEDQ_EVENT_ASSIGNED_POD_ADD;
    change.precheck = refuse_all;
    change.precheck_ctx = &calls;
    assert_ok(schedq_assigned_pod_added(fx_worker(fixture), &change, "ns", 2, &result));
    assert_int_equal(result.to_backoff, 1);
    change.event = SCHEDQ_EVENT_ASSIGNED_POD_UPDATE_SCALE_DOWN;
    assert_ok(schedq_assigned_pod_updated(fx_worker(fixture), &change, "ns", 2, &result));
    assert_int_equal(result.to_backoff, 1);
    assert_int_equal(calls, 0);
}

static void
in_kube_1_26_an_assigned_pod_retries_every_pod_in_flight(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Pod", SCHEDQ_ACTION_ADD);
    fx_plugin_t *deaf = fx_plugin(fixture, "Deaf", NULL, 0);
    (void)fit;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assigned(fixture, 61, "ns");
    assert_place(fx_fail(fixture, &popped, deaf->bit, 0).place, SCHEDQ_BACKOFF);
}

/*
 * PreEnqueue refuses the pod when an update has already changed it: nothing comes of the refusal.
 */
typedef struct disturbance {
    fixture_t *fixture;
    fx_plugin_t *gate;
    bool due;
} disturbance_t;

static void *
update_elsewhere(void *argument)
{
    disturbance_t *disturbance = argument;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_worker_t *worker;
    char why[200];
    spec.object = 32;
    assert_ok(schedq_worker_register(fx_queue(disturbance->fixture), &worker, why, sizeof why));
    assert_ok(schedq_update(worker, "ns/a", 4, &spec, 0, NULL, 0, NULL));
    assert_ok(schedq_worker_unregister(worker));
    return NULL;
}

static int
refuse_too_late(void *ctx, uint64_t pod)
{
    disturbance_t *disturbance = ctx;
    pthread_t thread;
    (void)pod;
    if (!disturbance->due)
        return 1;
    disturbance->due = false;
    assert_int_equal(pthread_create(&thread, NULL, update_elsewhere, disturbance), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return 0;
}

static void
an_affinity_that_comes_after_a_refusal_in_vain_is_heeded(void **state)
{
    fixture_t *fixture = *state;
    unsigned calls;
    if (fixture->config.engine != SCHEDQ_ENGINE_LOCKFREE)
        skip(); /* the other holds its lock while it asks */
    start_with_affinity(fixture, &calls);
    disturbance_t disturbance = {.fixture = fixture};
    schedq_plugin_t gate = SCHEDQ_PLUGIN_INIT;
    uint64_t bit;
    char why[200];
    const schedq_interest_t interests[] = {
        {.resource = "AssignedPod", .actions = SCHEDQ_ACTION_ADD, .hint = fx_hint},
        {.resource = "Node", .actions = SCHEDQ_ACTION_ADD, .hint = fx_hint}};
    fx_plugin_t *affinity = fx_plugin_full(fixture, 0, "InterPodAffinity", 0, interests, 2, false);
    gate.name = "Gate";
    gate.pre_enqueue = refuse_too_late;
    gate.ctx = &disturbance;
    assert_ok(schedq_plugin_register(fx_queue(fixture), &gate, &bit, why, sizeof why));
    park_pod(fixture, "ns/a", 31, 0, affinity->bit);
    affinity->only_object = 31;
    disturbance.due = true;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_NODE_ADD;
    assert_ok(schedq_notify(fx_worker(fixture), &change, NULL));
    assert_false(disturbance.due);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_PARKED);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 33;
    spec.flags = SCHEDQ_POD_AFFINITY;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL));
    affinity->only_object = 33;
    assert_int_equal(assigned(fixture, 63, "ns").to_backoff, 1);
}

static void
bad_namespaces_are_refused(void **state)
{
    fixture_t *fixture = *state;
    char long_name[300];
    memset(long_name, 'n', sizeof long_name);
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_ASSIGNED_POD_ADD;
    schedq_worker_t *worker = fx_worker(fixture);
    assert_status(schedq_assigned_pod_added(worker, &change, NULL, 2, NULL), SCHEDQ_INVALID);
    assert_status(schedq_assigned_pod_added(worker, &change, "ns", 0, NULL), SCHEDQ_INVALID);
    assert_status(schedq_assigned_pod_added(worker, &change, long_name, 254, NULL), SCHEDQ_INVALID);
    assert_contains(schedq_worker_error(worker), "254");
    assert_contains(schedq_worker_error(worker), "253");
    assert_ok(schedq_assigned_pod_added(worker, &change, long_name, 253, NULL));
    assert_status(schedq_assigned_pod_updated(worker, &change, long_name, 254, NULL),
                  SCHEDQ_INVALID);
    assert_status(schedq_assigned_pod_updated(worker, NULL, "ns", 2, NULL), SCHEDQ_INVALID);
    assert_status(schedq_assigned_pod_added(worker, NULL, "ns", 2, NULL), SCHEDQ_INVALID);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(pods_whose_affinity_matches_are_tried_again),
        fx_test(pods_of_its_namespace_that_a_spread_plugin_rejected_are_tried_again),
        fx_test(without_a_callback_no_affinity_matches),
        fx_test(a_candidate_still_has_to_match_the_event),
        fx_test(with_hints_they_decide_among_the_candidates),
        fx_test(an_assigned_pod_counts_for_pods_in_flight),
        fx_test(a_scale_down_of_an_assigned_pod_moves_as_move_all_does),
        fx_test(an_assigned_pod_is_not_prechecked),
        fx_test_1_26(in_kube_1_26_an_assigned_pod_retries_every_pod_in_flight),
        fx_test(an_affinity_that_comes_after_a_refusal_in_vain_is_heeded),
        fx_test(bad_namespaces_are_refused),
    };
    return fx_run_tests(argc, argv, tests);
}
