/* Where a pod fits as things are: schedq_cluster_fits, schedq_cluster_first_fit. */
#include "snapshot.h"

#include <stdio.h>
#include <string.h>

#define NODES 200

static schedq_fit_t
fit_on(snapshot_t *snapshot, uint32_t node)
{
    schedq_fit_t fit = SCHEDQ_FIT_ERROR;

    assert_ok(schedq_cluster_fits(snapshot->cluster, snapshot->preemption, &snapshot->config,
                                  &snapshot->preemptor, node, &fit, NULL));
    return fit;
}

static uint32_t
short_of(snapshot_t *snapshot, uint32_t node)
{
    uint32_t resource = 77;
    schedq_fit_t fit;

    assert_ok(schedq_cluster_fits(snapshot->cluster, snapshot->preemption, &snapshot->config,
                                  &snapshot->preemptor, node, &fit, &resource));
    return resource;
}

static uint32_t
first_fit(snapshot_t *snapshot)
{
    uint32_t node = 77;
    schedq_status_t status = schedq_cluster_first_fit(
        snapshot->cluster, snapshot->preemption, &snapshot->config, &snapshot->preemptor, &node);

    assert_status(status, node == SCHEDQ_NO_NODE ? SCHEDQ_NOT_FOUND : SCHEDQ_OK);
    return node;
}

static void
nominate(snapshot_t *snapshot, const char *name, uint32_t node, int32_t priority, int64_t cpu_milli)
{
    const schedq_nominated_spec_t spec = {.struct_size = sizeof(schedq_nominated_spec_t),
                                          .name = name,
                                          .object = (uint64_t)priority,
                                          .node = node,
                                          .priority = priority,
                                          .requests.cpu_milli = cpu_milli,
                                          .expires_ns = SCHEDQ_NO_DEADLINE};

    assert_ok(schedq_cluster_nominate(snapshot->cluster, &spec, NULL));
}

/* ---- resources ------------------------------------------------------------------------------- */

static void
a_pod_fits_while_there_is_room(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = snapshot_node(snapshot, "n1", 300);

    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_YES);
    assert_int_equal(short_of(snapshot, node), SCHEDQ_NO_RESOURCE);
    (void)snapshot_pod(snapshot, "ns/a", node, 1, 200);
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_YES);

    schedq_running_t b = snapshot_pod(snapshot, "ns/b", node, 1, 1);

    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_UNSCHEDULABLE);
    assert_int_equal(short_of(snapshot, node), SCHEDQ_RESOURCE_CPU);
    assert_ok(schedq_cluster_remove_pod(snapshot->cluster, b));
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_YES);
}

static void
each_resource_that_is_asked_for_counts(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t gpu;

    assert_ok(schedq_cluster_resource(snapshot->cluster, "gpu", &gpu));
    const schedq_amount_t two = {.resource = gpu, .amount = 2};
    const schedq_amount_t one = {.resource = gpu, .amount = 1};
    const schedq_node_spec_t spec = {
        .struct_size = sizeof(schedq_node_spec_t),
        .name = "n1",
        .allocatable = {.memory_bytes = 10, .extended = &two, .extended_count = 1},
        .pods = 2};
    schedq_running_spec_t running = snapshot_pod_spec("ns/a", 0, 1, 0);
    uint32_t node;

    assert_ok(schedq_cluster_add_node(snapshot->cluster, &spec, &node));
    snapshot->preemptor.requests.cpu_milli = 0;
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_YES);
    running.requests = (schedq_amounts_t){.cpu_milli = 5, .memory_bytes = 4, .extended = &two};
    running.requests.extended_count = 1;
    assert_ok(schedq_cluster_add_pod(snapshot->cluster, &running, NULL));
    /* cpu is overcommitted, and not asked for */
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_YES);
    snapshot->preemptor.requests.memory_bytes = 7;
    assert_int_equal(short_of(snapshot, node), SCHEDQ_RESOURCE_MEMORY);
    snapshot->preemptor.requests.memory_bytes = 6;
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_YES);
    snapshot->preemptor.requests.extended = &one;
    snapshot->preemptor.requests.extended_count = 1;
    assert_int_equal(short_of(snapshot, node), gpu);
    snapshot->preemptor.requests.extended_count = 0;
    (void)snapshot_pod(snapshot, "ns/b", node, 1, 0);
    assert_int_equal(short_of(snapshot, node), SCHEDQ_RESOURCE_PODS);
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_UNSCHEDULABLE);
}

static void
what_is_too_much_for_the_whole_node_is_unresolvable(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = snapshot_node(snapshot, "n1", 99);

    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_UNRESOLVABLE);
    assert_int_equal(short_of(snapshot, node), SCHEDQ_RESOURCE_CPU);
}

/* ---- nominations ----------------------------------------------------------------------------- */

static void
nominated_pods_of_at_least_its_priority_take_their_room(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = snapshot_node(snapshot, "n1", 100);

    nominate(snapshot, "ns/q", node, 99, 1);
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_YES);
    nominate(snapshot, "ns/q", node, 100, 1);
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_UNSCHEDULABLE);
    assert_int_equal(short_of(snapshot, node), SCHEDQ_RESOURCE_CPU);
    assert_int_equal(first_fit(snapshot), SCHEDQ_NO_NODE);
    nominate(snapshot, "ns/q", node, 101, 1);
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_UNSCHEDULABLE);
    assert_ok(schedq_cluster_unnominate(snapshot->cluster, "ns/q", 0));
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_YES);
    assert_int_equal(first_fit(snapshot), node);
}

static void
a_nominated_pod_takes_a_slot(void **state)
{
    snapshot_t *snapshot = *state;
    const schedq_node_spec_t spec = {.struct_size = sizeof(schedq_node_spec_t),
                                     .name = "n1",
                                     .allocatable.cpu_milli = 100,
                                     .pods = 1};
    uint32_t node;

    assert_ok(schedq_cluster_add_node(snapshot->cluster, &spec, &node));
    nominate(snapshot, "ns/q", node, 100, 0);
    assert_int_equal(short_of(snapshot, node), SCHEDQ_RESOURCE_PODS);
}

static void
its_own_nomination_does_not_count(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = snapshot_node(snapshot, "n1", 100);

    nominate(snapshot, "ns/q", node, 100, 100);
    snapshot->preemptor.name = "ns/q";
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_YES);
    snapshot->preemptor.name = "ns/p";
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_UNSCHEDULABLE);
    snapshot->preemptor.name = NULL;
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_UNSCHEDULABLE);
}

static void
with_leases_a_nomination_counts_until_its_own_is_over(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = snapshot_node(snapshot, "n1", 100);
    const schedq_nominated_spec_t spec = {.struct_size = sizeof(schedq_nominated_spec_t),
                                          .name = "ns/q",
                                          .node = node,
                                          .priority = 100,
                                          .requests.cpu_milli = 1,
                                          .expires_ns = 50};

    assert_ok(schedq_cluster_nominate(snapshot->cluster, &spec, NULL));
    snapshot->preemptor.now_ns = 50;
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_UNSCHEDULABLE);
    snapshot->config.nomination_lease_ns = 10;
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_YES);
    snapshot->preemptor.now_ns = 49;
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_UNSCHEDULABLE);
}

/* ---- the filter ------------------------------------------------------------------------------ */

struct asked {
    schedq_fit_t answers[2]; /* with the nominated pods, without */
    unsigned questions, nominated;
    uint64_t first;
};

static schedq_fit_t
answer(void *ctx, const schedq_filter_question_t *question)
{
    struct asked *asked = ctx;

    assert_int_equal(question->removed_count, 0);
    assert_int_equal(question->preemptor, 7);
    asked->questions++;
    if (question->nominated_count > 0) {
        asked->nominated = question->nominated_count;
        asked->first = question->nominated[0];
        return asked->answers[0];
    }
    return asked->answers[1];
}

static void
a_filter_is_asked_with_the_nominated_pods_and_without(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = snapshot_node(snapshot, "n1", 1000);
    struct asked asked = {.answers = {SCHEDQ_FIT_YES, SCHEDQ_FIT_YES}};

    snapshot->preemptor.filter = answer;
    snapshot->preemptor.filter_ctx = &asked;
    snapshot->preemptor.object = 7;
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_YES);
    assert_int_equal(asked.questions, 1);
    nominate(snapshot, "ns/q", node, 100, 1);
    nominate(snapshot, "ns/r", node, 105, 1);
    nominate(snapshot, "ns/s", node, 99, 1);
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_YES);
    assert_int_equal(asked.questions, 3);
    assert_int_equal(asked.nominated, 2);
    assert_int_equal(asked.first, 100);
    asked.answers[0] = SCHEDQ_FIT_UNSCHEDULABLE;
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_UNSCHEDULABLE);
    assert_int_equal(short_of(snapshot, node), SCHEDQ_NO_RESOURCE);
    asked.answers[0] = SCHEDQ_FIT_YES;
    asked.answers[1] = SCHEDQ_FIT_UNRESOLVABLE;
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_UNRESOLVABLE);
    asked.answers[1] = SCHEDQ_FIT_ERROR;
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_ERROR);
    asked.answers[1] = (schedq_fit_t)99;
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_ERROR);
    asked.questions = 0;
    snapshot->preemptor.requests.cpu_milli = 999;
    assert_int_equal(short_of(snapshot, node), SCHEDQ_RESOURCE_CPU);
    assert_int_equal(asked.questions, 0);
}

/* ---- the first node -------------------------------------------------------------------------- */

static void
the_first_node_that_fits_is_the_nominated_one_or_the_lowest(void **state)
{
    snapshot_t *snapshot = *state;
    char name[16];

    assert_int_equal(first_fit(snapshot), SCHEDQ_NO_NODE);
    for (uint32_t i = 0; i < NODES; i++) {
        (void)snprintf(name, sizeof name, "n%u", (unsigned)i);
        assert_int_equal(snapshot_node(snapshot, name, i % 67 == 66 ? 100 : 50), i);
    }
    assert_int_equal(first_fit(snapshot), 66);
    snapshot->preemptor.nominated_node = 133;
    assert_int_equal(first_fit(snapshot), 133);
    nominate(snapshot, "ns/q", 133, 100, 1);
    assert_int_equal(first_fit(snapshot), 66);
    nominate(snapshot, "ns/r", 66, 100, 1);
    assert_int_equal(first_fit(snapshot), SCHEDQ_NO_NODE);
    snapshot->preemptor.nominated_node = SCHEDQ_NO_NODE;
    snapshot->preemptor.requests.cpu_milli = 50;
    assert_int_equal(first_fit(snapshot), 0);
    assert_ok(schedq_cluster_remove_node(snapshot->cluster, 0));
    assert_int_equal(first_fit(snapshot), 1);
}

static void
statuses_of_another_search_are_not_read(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = snapshot_node(snapshot, "n1", 100);
    const uint8_t statuses[] = {SCHEDQ_NODE_UNRESOLVABLE};

    snapshot->preemptor.statuses = statuses;
    snapshot->preemptor.status_count = 1;
    assert_int_equal(first_fit(snapshot), node);
}

/* ---- beside decisions ------------------------------------------------------------------------ */

/* After the eviction that a decision asks for it fits, and then a decision is an error. */
static void
it_agrees_with_decisions(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = snapshot_node(snapshot, "n1", 100);
    schedq_running_t a = snapshot_pod(snapshot, "ns/a", node, 1, 30);
    schedq_verdict_t verdict;

    nominate(snapshot, "ns/q", node, 99, 100);
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_UNSCHEDULABLE);
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.chosen, node);
    assert_ok(schedq_cluster_remove_pod(snapshot->cluster, a));
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_YES);
    (void)snapshot_pod(snapshot, "ns/b", node, 1, 0);
    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.outcome, SCHEDQ_PREEMPT_NODE_ERRORS);
    assert_ok(schedq_preemption_verdict(snapshot->preemption, node, &verdict));
    assert_int_equal(verdict.reason, SCHEDQ_REASON_FITS);
}

static void
lists_of_the_last_decision_stay_and_its_verdicts_go(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = snapshot_node(snapshot, "n1", 100);
    schedq_running_t a = snapshot_pod(snapshot, "ns/a", node, 1, 100);
    schedq_verdict_t verdict;

    snapshot_decide(snapshot);
    assert_int_equal(snapshot->decision.delete_count, 1);
    assert_int_equal(first_fit(snapshot), SCHEDQ_NO_NODE);
    assert_int_equal(fit_on(snapshot, node), SCHEDQ_FIT_UNSCHEDULABLE);
    assert_int_equal(snapshot->decision.candidates[0].node, node);
    assert_memory_equal(&snapshot->decision.deletes[0], &a, sizeof a);
    assert_memory_equal(&snapshot->decision.victims[0], &a, sizeof a);
    assert_status(schedq_preemption_verdict(snapshot->preemption, node, &verdict), SCHEDQ_INVALID);
    snapshot_decide(snapshot);
    assert_ok(schedq_preemption_verdict(snapshot->preemption, node, &verdict));
}

/* ---- errors ---------------------------------------------------------------------------------- */

/* Both calls, with one thing wrong. */
static void
refuse(snapshot_t *snapshot, const char *part)
{
    schedq_fit_t fit = SCHEDQ_FIT_ERROR;
    uint32_t resource = 77, found = 77;

    assert_status(schedq_cluster_fits(snapshot->cluster, snapshot->preemption, &snapshot->config,
                                      &snapshot->preemptor, 0, &fit, &resource),
                  SCHEDQ_INVALID);
    assert_contains(schedq_preemption_error(snapshot->preemption), part);
    assert_int_equal(fit, SCHEDQ_FIT_ERROR);
    assert_int_equal(resource, 77);
    assert_status(schedq_cluster_first_fit(snapshot->cluster, snapshot->preemption,
                                           &snapshot->config, &snapshot->preemptor, &found),
                  SCHEDQ_INVALID);
    assert_contains(schedq_preemption_error(snapshot->preemption), part);
    assert_int_equal(found, SCHEDQ_NO_NODE);
}

#define REFUSES(snapshot, field, value, part)   \
    do {                                        \
        snapshot_t good = *(snapshot);          \
        (snapshot)->field = (value);            \
        refuse((snapshot), (part));             \
        (snapshot)->config = good.config;       \
        (snapshot)->preemptor = good.preemptor; \
    } while (0)

static void
bad_questions_are_refused_in_words(void **state)
{
    snapshot_t *snapshot = *state;

    (void)snapshot_node(snapshot, "n1", 100);
    REFUSES(snapshot, config.struct_size, 1, "config.struct_size 1");
    REFUSES(snapshot, preemptor.struct_size, 1, "preemptor.struct_size 1");
    REFUSES(snapshot, preemptor.name, "x", "preemptor.name \"x\"");
    REFUSES(snapshot, preemptor.requests.cpu_milli, -1, "cpu_milli -1: 0..");
    REFUSES(snapshot, preemptor.now_ns, -1, "now_ns -1: 0..");
    REFUSES(snapshot, preemptor.filter_first, 2, "filter_first 2: 0..1");
    assert_int_equal(fit_on(snapshot, 0), SCHEDQ_FIT_YES);
    assert_string_equal(schedq_preemption_error(snapshot->preemption), "");
}

static void
missing_arguments_and_nodes_are_refused_in_words(void **state)
{
    snapshot_t *snapshot = *state;
    schedq_cluster_t *cluster = snapshot->cluster;
    schedq_preemption_t *of = snapshot->preemption;
    const schedq_preemption_config_t *config = &snapshot->config;
    const schedq_preemptor_t *pod = &snapshot->preemptor;
    schedq_fit_t fit;
    uint32_t node;

    (void)snapshot_node(snapshot, "n1", 100);
    assert_status(schedq_cluster_fits(cluster, of, config, pod, 1, &fit, NULL), SCHEDQ_NOT_FOUND);
    assert_contains(schedq_preemption_error(of), "node 1: the number of a node, below 1");
    assert_status(schedq_cluster_fits(cluster, of, config, pod, 0, NULL, NULL), SCHEDQ_INVALID);
    assert_contains(schedq_preemption_error(of), "fit NULL");
    assert_status(schedq_cluster_fits(NULL, of, config, pod, 0, &fit, NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_fits(cluster, NULL, config, pod, 0, &fit, NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_fits(cluster, of, NULL, pod, 0, &fit, NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_fits(cluster, of, config, NULL, 0, &fit, NULL), SCHEDQ_INVALID);
    assert_status(schedq_cluster_first_fit(cluster, of, config, pod, NULL), SCHEDQ_INVALID);
    assert_contains(schedq_preemption_error(of), "node NULL");
    assert_status(schedq_cluster_first_fit(NULL, of, config, pod, &node), SCHEDQ_INVALID);
    assert_status(schedq_cluster_first_fit(cluster, NULL, config, pod, &node), SCHEDQ_INVALID);
    snapshot->preemptor.nominated_node = 1;
    assert_status(schedq_cluster_first_fit(cluster, of, config, pod, &node), SCHEDQ_INVALID);
    assert_contains(schedq_preemption_error(of), "nominated_node 1");
}

static void
without_memory_nothing_is_told_and_the_next_call_succeeds(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t node = snapshot_node(snapshot, "n1", 1000);
    struct asked asked = {.answers = {SCHEDQ_FIT_YES, SCHEDQ_FIT_YES}};
    schedq_status_t status = SCHEDQ_NOMEM;
    schedq_fit_t fit = SCHEDQ_FIT_ERROR;
    uint64_t failures = 0;
    uint32_t found;

    nominate(snapshot, "ns/q", node, 100, 1);
    snapshot->preemptor.filter = answer;
    snapshot->preemptor.filter_ctx = &asked;
    snapshot->preemptor.object = 7;
    while (status == SCHEDQ_NOMEM) {
        /* what was allocated before a failure is kept */
        account_fail_after(&snapshot->account, failures > 0);
        status = schedq_cluster_fits(snapshot->cluster, snapshot->preemption, &snapshot->config,
                                     &snapshot->preemptor, node, &fit, NULL);
        (void)account_heal(&snapshot->account);
        if (status == SCHEDQ_NOMEM) {
            failures++;
            assert_int_equal(fit, SCHEDQ_FIT_ERROR);
            assert_string_equal(schedq_preemption_error(snapshot->preemption), "");
        }
    }
    assert_ok(status);
    assert_int_equal(fit, SCHEDQ_FIT_YES);
    assert_int_equal(failures, 3); /* needs, room, nominated pods */
    account_fail_after(&snapshot->account, 0);
    status = schedq_cluster_first_fit(snapshot->cluster, snapshot->preemption, &snapshot->config,
                                      &snapshot->preemptor, &found);
    (void)account_heal(&snapshot->account);
    assert_status(status, SCHEDQ_NOMEM);
    assert_int_equal(found, SCHEDQ_NO_NODE);
    assert_int_equal(first_fit(snapshot), node);
}

/* Each allocation of a decision in turn finds no memory, in lists of victims too. */
static void
a_decision_without_memory_leaves_nothing_to_the_next_question(void **state)
{
    snapshot_t *snapshot = *state;
    uint32_t full = snapshot_node(snapshot, "n1", 100);
    uint32_t empty = snapshot_node(snapshot, "n2", 100);
    schedq_status_t status = SCHEDQ_NOMEM;
    schedq_fit_t fit = SCHEDQ_FIT_ERROR;
    uint64_t failures = 0;

    (void)snapshot_pod(snapshot, "ns/a", full, 1, 100);
    while (status == SCHEDQ_NOMEM) {
        /* what was allocated before a failure is kept */
        account_fail_after(&snapshot->account, failures > 0);
        status = schedq_preempt(snapshot->cluster, snapshot->preemption, &snapshot->config,
                                &snapshot->preemptor, &snapshot->decision);
        (void)account_heal(&snapshot->account);
        failures += status == SCHEDQ_NOMEM;
        assert_ok(schedq_cluster_fits(snapshot->cluster, snapshot->preemption, &snapshot->config,
                                      &snapshot->preemptor, empty, &fit, NULL));
        assert_int_equal(fit, SCHEDQ_FIT_YES);
        assert_int_equal(first_fit(snapshot), empty);
    }
    assert_ok(status);
    assert_true(failures > 1);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        snapshot_test(a_pod_fits_while_there_is_room),
        snapshot_test(each_resource_that_is_asked_for_counts),
        snapshot_test(what_is_too_much_for_the_whole_node_is_unresolvable),
        snapshot_test(nominated_pods_of_at_least_its_priority_take_their_room),
        snapshot_test(a_nominated_pod_takes_a_slot),
        snapshot_test(its_own_nomination_does_not_count),
        snapshot_test(with_leases_a_nomination_counts_until_its_own_is_over),
        snapshot_test(a_filter_is_asked_with_the_nominated_pods_and_without),
        snapshot_test(the_first_node_that_fits_is_the_nominated_one_or_the_lowest),
        snapshot_test(statuses_of_another_search_are_not_read),
        snapshot_test(it_agrees_with_decisions),
        snapshot_test(lists_of_the_last_decision_stay_and_its_verdicts_go),
        snapshot_test(bad_questions_are_refused_in_words),
        snapshot_test(missing_arguments_and_nodes_are_refused_in_words),
        snapshot_test(without_memory_nothing_is_told_and_the_next_call_succeeds),
        snapshot_test(a_decision_without_memory_leaves_nothing_to_the_next_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
