/*
 * Calls that are timed (config.sample_calls): which, how many, and what is told of the pods that
 * they popped.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

static long
calls(fixture_t *fixture, const char *call)
{
    char sample[80];
    snprintf(sample, sizeof sample, "schedq_call_seconds_count{call=\"%s\"}", call);
    return fx_metric(fixture, sample);
}

static void
nothing_is_told_unless_it_is_switched_on(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    assert_int_equal(fx_metric(fixture, "schedq_sample_calls"), -1);
    assert_int_equal(calls(fixture, "add"), -1);
}

static void
with_1_every_call_is_timed(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.sample_calls = 1;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    fx_add(fixture, "ns/b", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit, 0);
    popped = fx_pop(fixture, "ns/b");
    fx_done(fixture, &popped);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    fx_tick(fixture);
    schedq_pod_spec_t spec = fx_spec(1);
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL));
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    assert_int_equal(fx_metric(fixture, "schedq_sample_calls"), 1);
    assert_int_equal(calls(fixture, "add"), 2);
    assert_int_equal(calls(fixture, "pop"), 2);
    assert_int_equal(calls(fixture, "fail"), 1);
    assert_int_equal(calls(fixture, "done"), 1);
    assert_int_equal(calls(fixture, "notify"), 1);
    assert_int_equal(calls(fixture, "tick"), 1);
    assert_int_equal(calls(fixture, "update"), 1);
    assert_int_equal(calls(fixture, "delete"), 1);
    assert_int_equal(calls(fixture, "add_many"), 0);
    assert_int_equal(calls(fixture, "done_many"), 0);
}

static void
batches_are_calls_of_their_own(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.sample_calls = 1;
    const schedq_add_item_t items[] = {fx_item(0, 1, 0), fx_item(1, 1, 0), fx_item(2, 1, 0)};
    uint8_t statuses[3];
    schedq_pod_t pods[3];
    assert_ok(schedq_add_many(fx_worker(fixture), "abc", 3, items, 3, pods, statuses, NULL));
    schedq_popped_t popped[3];
    size_t count;
    assert_ok(schedq_try_pop_many(fx_worker(fixture), popped, 3, &count));
    assert_int_equal(count, 3);
    const schedq_token_t tokens[] = {popped[0].token, popped[1].token, popped[2].token};
    assert_ok(schedq_done_many(fx_worker(fixture), tokens, 3, statuses));
    assert_int_equal(calls(fixture, "add_many"), 1);
    assert_int_equal(calls(fixture, "pop"), 1);
    assert_int_equal(calls(fixture, "done_many"), 1);
    assert_int_equal(fx_metric(fixture, "schedq_popped_wait_seconds_count"), 3);
}

static void
pops_that_find_nothing_do_not_count(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.sample_calls = 1;
    fx_pop_nothing(fixture);
    assert_int_equal(calls(fixture, "pop"), 0);
}

static void
popped_pods_are_told_by_their_wait_and_their_attempts(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.sample_calls = 1;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    fx_advance(fixture, SEC(7));
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit, 0);
    fx_advance(fixture, SEC(20));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    popped = fx_pop(fixture, "ns/a");
    fx_done(fixture, &popped);
    assert_int_equal(fx_metric(fixture, "schedq_popped_wait_seconds_bucket{le=\"5\"}"), 0);
    assert_int_equal(fx_metric(fixture, "schedq_popped_wait_seconds_bucket{le=\"10\"}"), 1);
    assert_int_equal(fx_metric(fixture, "schedq_popped_wait_seconds_bucket{le=\"30\"}"), 2);
    assert_int_equal(fx_metric(fixture, "schedq_popped_wait_seconds_count"), 2);
    assert_int_equal(fx_metric(fixture, "schedq_popped_wait_seconds_sum"), 27);
    assert_int_equal(fx_metric(fixture, "schedq_popped_attempts_bucket{le=\"1\"}"), 1);
    assert_int_equal(fx_metric(fixture, "schedq_popped_attempts_bucket{le=\"2\"}"), 2);
    assert_int_equal(fx_metric(fixture, "schedq_popped_attempts_sum"), 3);
}

static void
a_pop_that_waits_is_not_timed_and_its_pod_counts(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.sample_calls = 1;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped;
    assert_ok(schedq_pop(fx_worker(fixture), &popped));
    assert_int_equal(calls(fixture, "pop"), 0);
    assert_int_equal(fx_metric(fixture, "schedq_popped_wait_seconds_count"), 1);
    fx_done(fixture, &popped);
}

static void
members_that_a_pop_of_groups_took_count_one_by_one(void **state)
{
    fixture_t *fixture = *state;
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    schedq_pod_spec_t pod = fx_spec(0);
    schedq_popped_group_t group;
    schedq_popped_t members[4];
    size_t count;

    fixture->config.sample_calls = 1;
    spec.quorum = 2;
    assert_ok(schedq_group_add(fx_worker(fixture), 7, &spec, NULL));
    pod.group = 7;
    assert_ok(schedq_add(fx_worker(fixture), "ns/a", 4, &pod, NULL));
    assert_ok(schedq_add(fx_worker(fixture), "ns/b", 4, &pod, NULL));
    assert_ok(schedq_try_pop_group(fx_worker(fixture), &group, members, 4, &count));
    assert_int_equal(count, 2);
    assert_int_equal(calls(fixture, "pop"), 1);
    assert_int_equal(fx_metric(fixture, "schedq_popped_wait_seconds_count"), 2);
    fx_add(fixture, "ns/c", 0);
    assert_ok(
        schedq_pop_group_until(fx_worker(fixture), SCHEDQ_NO_DEADLINE, &group, members, 4, &count));
    assert_int_equal(calls(fixture, "pop"), 1);
    assert_int_equal(fx_metric(fixture, "schedq_popped_wait_seconds_count"), 3);
}

static void
of_a_host_what_it_asks_and_applies_is_timed(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.sample_calls = 1;
    schedq_query_t query = SCHEDQ_QUERY_INIT;
    schedq_candidate_t out[1];
    size_t count;
    query.rejectors = UINT64_MAX;
    schedq_status_t status = schedq_candidates(fx_worker(fixture), &query, out, 1, &count);
    assert_true(status == SCHEDQ_OK || status == SCHEDQ_EMPTY);
    assert_ok(schedq_apply_many(fx_worker(fixture), NULL, 0, NULL, NULL, NULL));
    assert_int_equal(calls(fixture, "candidates"), 1);
    assert_int_equal(calls(fixture, "apply"), 1);
}

static void
workers_are_added_up_and_stay_when_they_go(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.sample_calls = 1;
    fx_add(fixture, "ns/a", 0);
    schedq_worker_t *second;
    assert_ok(schedq_worker_register(fx_queue(fixture), &second, NULL, 0));
    schedq_pod_spec_t spec = fx_spec(0);
    assert_ok(schedq_add(second, "ns/b", 4, &spec, NULL));
    assert_ok(schedq_worker_unregister(second));
    assert_int_equal(calls(fixture, "add"), 2);
    long sum = 0;
    char *text = fx_metrics(fixture);
    const char *bucket = strstr(text, "\nschedq_call_seconds_bucket{call=\"add\",le=\"+Inf\"} ");
    assert_non_null(bucket);
    sum = strtol(strchr(bucket, ' ') + 1, NULL, 10);
    assert_int_equal(sum, 2);
    free(text);
}

static void
of_n_about_one_is_timed(void **state)
{
    enum { ADDS = 4000, OF = 4 };
    fixture_t *fixture = *state;
    fixture->config.sample_calls = OF;
    for (unsigned i = 0; i < ADDS; i++) {
        char name[32];
        snprintf(name, sizeof name, "ns/%u", i);
        fx_add(fixture, name, 0);
    }
    long timed = calls(fixture, "add");
    /* ten standard deviations: the draws differ from run to run */
    if (timed < ADDS / OF - 280 || timed > ADDS / OF + 280)
        print_error("%ld of %d calls were timed\n", timed, ADDS);
    assert_in_range(timed, ADDS / OF - 280, ADDS / OF + 280);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(nothing_is_told_unless_it_is_switched_on),
        fx_test(with_1_every_call_is_timed),
        fx_test(batches_are_calls_of_their_own),
        fx_test(pops_that_find_nothing_do_not_count),
        fx_test(popped_pods_are_told_by_their_wait_and_their_attempts),
        fx_test(a_pop_that_waits_is_not_timed_and_its_pod_counts),
        fx_test(members_that_a_pop_of_groups_took_count_one_by_one),
        fx_test_host(of_a_host_what_it_asks_and_applies_is_timed),
        fx_test(workers_are_added_up_and_stay_when_they_go),
        fx_test(of_n_about_one_is_timed),
    };
    return fx_run_tests(argc, argv, tests);
}
