/*
 * Nominations: a node that a pod is meant for, in the order in which the pods were nominated. SPEC
 * 10.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

typedef struct list {
    char text[512];
    uint64_t last;
    uint64_t node;
} list_t;

static int
append(void *ctx, const schedq_pod_info_t *pod)
{
    list_t *list = ctx;
    size_t used = strlen(list->text);
    snprintf(list->text + used, sizeof list->text - used, "%s%s", used != 0 ? "," : "", pod->name);
    assert_true(pod->nominated_node == list->node);
    assert_true(pod->nomination > list->last);
    list->last = pod->nomination;
    return 1;
}

static void
expect_nominated(fixture_t *fixture, uint64_t node, const char *names)
{
    list_t list;
    memset(&list, 0, sizeof list);
    list.node = node;
    assert_ok(schedq_nominated_pods(fx_worker(fixture), node, append, &list));
    assert_string_equal(list.text, names);
}

static schedq_pod_t
add_nominated(fixture_t *fixture, const char *name, uint64_t node)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.nominated_node = node;
    return fx_add_spec(fixture, name, &spec).pod;
}

static void
pods_are_listed_in_the_order_of_their_nominations(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t a = fx_add(fixture, "ns/a", 0), b = fx_add(fixture, "ns/b", 9),
                 c = fx_add(fixture, "ns/c", 5);
    expect_nominated(fixture, 7, "");
    assert_ok(schedq_nominate(fx_worker(fixture), b, 7));
    assert_ok(schedq_nominate(fx_worker(fixture), a, 7));
    assert_ok(schedq_nominate(fx_worker(fixture), c, UINT64_MAX));
    expect_nominated(fixture, 7, "ns/b,ns/a");
    expect_nominated(fixture, UINT64_MAX, "ns/c");
    expect_nominated(fixture, 8, "");
    assert_int_equal(schedq_words(fx_queue(fixture))->nominations, 3);
    assert_int_equal(fx_stats(fixture).nominated, 3);
    assert_int_equal(fx_info(fixture, b).nominated_node, 7);
}

static void
another_node_replaces_the_first_and_zero_clears(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t a = fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_nominate(fx_worker(fixture), a, 7));
    assert_ok(schedq_nominate(fx_worker(fixture), a, 8));
    expect_nominated(fixture, 7, "");
    expect_nominated(fixture, 8, "ns/a");
    assert_int_equal(fx_stats(fixture).nominated, 1);
    assert_ok(schedq_nominate(fx_worker(fixture), a, 0));
    expect_nominated(fixture, 8, "");
    assert_int_equal(fx_stats(fixture).nominated, 0);
    assert_ok(schedq_nominate(fx_worker(fixture), a, 0));
    assert_int_equal(fx_info(fixture, a).nominated_node, 0);
    assert_int_equal(fx_info(fixture, a).nomination, 0);
}

static void
a_pod_that_is_nominated_again_goes_to_the_end(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t a = fx_add(fixture, "ns/a", 0), b = fx_add(fixture, "ns/b", 0);
    assert_ok(schedq_nominate(fx_worker(fixture), a, 7));
    assert_ok(schedq_nominate(fx_worker(fixture), b, 7));
    assert_ok(schedq_nominate(fx_worker(fixture), a, 7));
    expect_nominated(fixture, 7, "ns/b,ns/a");
}

static void
a_nomination_in_the_spec_counts_from_the_add_on(void **state)
{
    fixture_t *fixture = *state;
    add_nominated(fixture, "ns/a", 7);
    add_nominated(fixture, "ns/b", 7);
    expect_nominated(fixture, 7, "ns/a,ns/b");
    assert_int_equal(fx_pop(fixture, "ns/a").nominated_node, 7);
    expect_nominated(fixture, 7, "ns/a,ns/b");
}

static void
a_gated_pod_may_be_nominated_by_its_spec(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    gate->refuses = true;
    add_nominated(fixture, "ns/a", 7);
    expect_nominated(fixture, 7, "ns/a");
}

static void
in_kube_1_34_the_spec_of_a_gated_pod_nominates_nothing(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    gate->refuses = true;
    add_nominated(fixture, "ns/a", 7);
    expect_nominated(fixture, 7, "");
    assert_int_equal(fx_stats(fixture).nominated, 0);
}

static void
a_nomination_lasts_through_every_place(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    add_nominated(fixture, "ns/a", 7);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_fail(fixture, &popped, fit->bit, 0);
    expect_nominated(fixture, 7, "ns/a");
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    expect_nominated(fixture, 7, "ns/a");
    popped = fx_pop(fixture, "ns/a");
    assert_int_equal(popped.nominated_node, 7);
    fx_done(fixture, &popped);
    expect_nominated(fixture, 7, "");
    assert_int_equal(fx_stats(fixture).nominated, 0);
}

static void
deletion_ends_a_nomination(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t waiting = add_nominated(fixture, "ns/a", 7);
    assert_ok(schedq_delete(fx_worker(fixture), waiting, NULL));
    expect_nominated(fixture, 7, "");
    schedq_pod_t flying = add_nominated(fixture, "ns/b", 7);
    schedq_popped_t popped = fx_pop(fixture, "ns/b");
    assert_ok(schedq_delete(fx_worker(fixture), flying, NULL));
    expect_nominated(fixture, 7, "");
    assert_int_equal(fx_stats(fixture).nominated, 0);
    assert_status(schedq_done(fx_worker(fixture), popped.token), SCHEDQ_GONE);
    assert_int_equal(fx_stats(fixture).nominated, 0);
}

static void
the_newest_description_of_a_failure_may_nominate(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = fit->bit;
    schedq_pod_spec_t newest = SCHEDQ_POD_SPEC_INIT;
    failure.newest = &newest;
    newest.nominated_node = 9;
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL));
    expect_nominated(fixture, 9, "ns/a");
}

static void
update_to(fixture_t *fixture, const char *name, uint64_t node)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.nominated_node = node;
    assert_ok(schedq_update(fx_worker(fixture), name, strlen(name), &spec, 0, NULL, 0, NULL));
}

static void
an_update_moves_or_drops_a_nomination_of_the_spec(void **state)
{
    fixture_t *fixture = *state;
    add_nominated(fixture, "ns/a", 7);
    update_to(fixture, "ns/a", 8);
    expect_nominated(fixture, 7, "");
    expect_nominated(fixture, 8, "ns/a");
    update_to(fixture, "ns/a", 0);
    expect_nominated(fixture, 8, "");
    update_to(fixture, "ns/a", 9);
    expect_nominated(fixture, 9, "ns/a");
}

static void
an_update_that_says_nothing_keeps_a_nomination_made_by_a_call(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t a = fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_nominate(fx_worker(fixture), a, 7));
    update_to(fixture, "ns/a", 0);
    expect_nominated(fixture, 7, "ns/a");
    update_to(fixture, "ns/a", 8);
    expect_nominated(fixture, 8, "ns/a");
    expect_nominated(fixture, 7, "");
}

static void
a_pod_in_flight_can_be_nominated(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t a = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_nominate(fx_worker(fixture), a, 7));
    expect_nominated(fixture, 7, "ns/a");
    fx_done(fixture, &popped);
    assert_status(schedq_nominate(fx_worker(fixture), a, 7), SCHEDQ_NOT_FOUND);
    expect_nominated(fixture, 7, "");
}

static void
unknown_pods_cannot_be_nominated(void **state)
{
    fixture_t *fixture = *state;
    assert_status(schedq_nominate(fx_worker(fixture), (schedq_pod_t){0}, 7), SCHEDQ_NOT_FOUND);
    assert_status(schedq_nominate(fx_worker(fixture), (schedq_pod_t){UINT64_MAX}, 7),
                  SCHEDQ_NOT_FOUND);
    assert_status(schedq_nominate(fx_worker(fixture), (schedq_pod_t){77}, 0), SCHEDQ_NOT_FOUND);
    expect_nominated(fixture, 7, "");
}

static int
stop_at_once(void *ctx, const schedq_pod_info_t *pod)
{
    unsigned *visits = ctx;
    (void)pod;
    ++*visits;
    return 0;
}

static void
a_visitor_may_stop_the_walk(void **state)
{
    fixture_t *fixture = *state;
    add_nominated(fixture, "ns/a", 7);
    add_nominated(fixture, "ns/b", 7);
    unsigned visits = 0;
    assert_ok(schedq_nominated_pods(fx_worker(fixture), 7, stop_at_once, &visits));
    assert_int_equal(visits, 1);
}

static void
node_zero_is_no_node(void **state)
{
    fixture_t *fixture = *state;
    unsigned visits = 0;
    assert_status(schedq_nominated_pods(fx_worker(fixture), 0, stop_at_once, &visits),
                  SCHEDQ_INVALID);
    assert_contains(schedq_worker_error(fx_worker(fixture)), "node");
    assert_status(schedq_nominated_pods(fx_worker(fixture), 7, NULL, NULL), SCHEDQ_INVALID);
}

static void
many_nodes_and_nominations_are_kept_apart(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pods[300];
    char name[16];
    for (unsigned i = 0; i < 300; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        pods[i] = add_nominated(fixture, name, 1 + (uint64_t)(i % 100) * UINT64_C(0x100000001));
    }
    expect_nominated(fixture, 1 + 5 * UINT64_C(0x100000001), "ns/5,ns/105,ns/205");
    for (unsigned i = 0; i < 300; i += 3)
        assert_ok(schedq_nominate(fx_worker(fixture), pods[i], 0));
    expect_nominated(fixture, 1 + 5 * UINT64_C(0x100000001), "ns/5,ns/205");
    assert_int_equal(fx_stats(fixture).nominated, 200);
}

/* A node that is promised once: no later nomination comes by what is known of it. */
static void
trim_leaves_nothing_of_nominations_that_ended(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pods[50];
    uint64_t few = 0;
    char name[16];
    for (uint64_t round = 0; round < 200; round++) {
        for (unsigned i = 0; i < 50; i++) {
            snprintf(name, sizeof name, "ns/%u", i);
            pods[i] = add_nominated(fixture, name, 1000 + round);
        }
        for (unsigned i = 0; i < 50; i++)
            assert_ok(schedq_delete(fx_worker(fixture), pods[i], NULL));
        schedq_trim(fx_queue(fixture));
        schedq_stats_t stats = fx_stats(fixture);
        if (round == 20)
            few = stats.bytes_other + stats.bytes_queues;
        if (round > 20)
            assert_true(stats.bytes_other + stats.bytes_queues <= few + 4096);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(pods_are_listed_in_the_order_of_their_nominations),
        fx_test(another_node_replaces_the_first_and_zero_clears),
        fx_test(a_pod_that_is_nominated_again_goes_to_the_end),
        fx_test(a_nomination_in_the_spec_counts_from_the_add_on),
        fx_test(a_gated_pod_may_be_nominated_by_its_spec),
        fx_test_1_34(in_kube_1_34_the_spec_of_a_gated_pod_nominates_nothing),
        fx_test(a_nomination_lasts_through_every_place),
        fx_test(deletion_ends_a_nomination),
        fx_test(the_newest_description_of_a_failure_may_nominate),
        fx_test(an_update_moves_or_drops_a_nomination_of_the_spec),
        fx_test(an_update_that_says_nothing_keeps_a_nomination_made_by_a_call),
        fx_test(a_pod_in_flight_can_be_nominated),
        fx_test(unknown_pods_cannot_be_nominated),
        fx_test(a_visitor_may_stop_the_walk),
        fx_test(node_zero_is_no_node),
        fx_test(many_nodes_and_nominations_are_kept_apart),
        fx_test(trim_leaves_nothing_of_nominations_that_ended),
    };
    return fx_run_tests(argc, argv, tests);
}
