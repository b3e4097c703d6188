/*
 * What an extender gives back: taken at its word where that makes sense; else it failed, and
 * nothing of it counts.
 */
#include "snapshot.h"

#include <string.h>

/* Changes the first candidate it gets. */
static int
change_first(void *ctx, const schedq_cluster_t *cluster, schedq_candidate_node_t *candidates,
             uint32_t count)
{
    void (*const *change)(schedq_candidate_node_t *) = ctx;

    (void)cluster;
    (*change)(&candidates[0]);
    return count > 0 ? SCHEDQ_EXTENDER_DONE : SCHEDQ_EXTENDER_UNINTERESTED;
}

static void
decide_with(snapshot_t *snapshot, void (*change)(schedq_candidate_node_t *), uint32_t ignorable)
{
    const schedq_extender_t extender = {
        .process = change_first, .ctx = &change, .ignorable = ignorable};

    snapshot->preemptor.extenders = &extender;
    snapshot->preemptor.extender_count = 1;
    snapshot_decide(snapshot);
    snapshot->preemptor.extenders = NULL;
    snapshot->preemptor.extender_count = 0;
}

/* Two nodes; on each two pods have to go. */
static void
fill(snapshot_t *snapshot)
{
    const char *nodes[] = {"n1", "n2"};
    const char *pods[] = {"ns/a", "ns/b", "ns/c", "ns/d"};

    for (int i = 0; i < 4; i++) {
        uint32_t node = i % 2 == 0 ? snapshot_node(snapshot, nodes[i / 2], 100) : (uint32_t)i / 2;

        (void)snapshot_pod(snapshot, pods[i], node, 1, 50);
    }
}

static void
name_one_twice(schedq_candidate_node_t *candidate)
{
    candidate->victims[1] = candidate->victims[0];
}

/* Else it would be deleted twice. */
static void
a_victim_named_twice_makes_no_sense(void **state)
{
    snapshot_t *snapshot = *state;

    fill(snapshot);
    decide_with(snapshot, name_one_twice, 0);
    assert_int_equal(snapshot->decision.outcome, SCHEDQ_PREEMPT_EXTENDER);
    decide_with(snapshot, name_one_twice, 1);
    assert_int_equal(snapshot->decision.outcome, SCHEDQ_PREEMPT_SUCCESS);
    assert_int_equal(snapshot->decision.chosen, 0);
    assert_int_equal(snapshot->decision.delete_count, 2);
    assert_int_not_equal(snapshot->decision.deletes[0].index, snapshot->decision.deletes[1].index);
}

static void
name_nobody(schedq_candidate_node_t *candidate)
{
    candidate->victims[1] = (schedq_running_t){7, 7};
}

static void
a_victim_that_is_not_there_makes_no_sense(void **state)
{
    snapshot_t *snapshot = *state;

    fill(snapshot);
    decide_with(snapshot, name_nobody, 0);
    assert_int_equal(snapshot->decision.outcome, SCHEDQ_PREEMPT_EXTENDER);
}

static void
raise_cost(schedq_candidate_node_t *candidate)
{
    candidate->cost = 1;
}

/* Costs are the configuration's. */
static void
an_extender_sets_no_cost(void **state)
{
    snapshot_t *snapshot = *state;

    fill(snapshot);
    decide_with(snapshot, raise_cost, 0);
    assert_int_equal(snapshot->decision.chosen, 0);
}

static uint32_t
cost_three(void *ctx, const schedq_cluster_t *cluster, schedq_running_t pod)
{
    (void)ctx;
    (void)cluster;
    (void)pod;
    return 3;
}

static void
expect_cost_and_spare_one(schedq_candidate_node_t *candidate)
{
    assert_int_equal(candidate->cost, 6);
    candidate->victim_count = 1;
}

/* What it leaves costs less. */
static void
costs_are_those_of_the_victims_at_hand(void **state)
{
    snapshot_t *snapshot = *state;

    fill(snapshot);
    snapshot->preemptor.offset = 1;
    snapshot->config.victim_cost = cost_three;
    decide_with(snapshot, expect_cost_and_spare_one, 0);
    assert_int_equal(snapshot->decision.chosen, 1);
    assert_int_equal(snapshot->decision.candidates[0].cost, 6);
    assert_int_equal(snapshot->decision.candidates[1].cost, 6);
}

static void
drop(schedq_candidate_node_t *candidate)
{
    candidate->dropped = 1;
}

static void
spare_one(schedq_candidate_node_t *candidate)
{
    candidate->victim_count = 1;
}

static void
count_a_violation(schedq_candidate_node_t *candidate)
{
    candidate->violations = 1;
}

static void
what_an_extender_may_change_decides(void **state)
{
    snapshot_t *snapshot = *state;

    fill(snapshot);
    decide_with(snapshot, drop, 0);
    assert_int_equal(snapshot->decision.chosen, 1);
    decide_with(snapshot, count_a_violation, 0);
    assert_int_equal(snapshot->decision.chosen, 1);
    decide_with(snapshot, spare_one, 0);
    assert_int_equal(snapshot->decision.chosen, 0);
    assert_int_equal(snapshot->decision.victim_count, 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        snapshot_test(a_victim_named_twice_makes_no_sense),
        snapshot_test(a_victim_that_is_not_there_makes_no_sense),
        snapshot_test(an_extender_sets_no_cost),
        snapshot_test(costs_are_those_of_the_victims_at_hand),
        snapshot_test(what_an_extender_may_change_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
