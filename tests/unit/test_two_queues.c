/*
 * Two queues with the same pods, of one program: a token or a handle that one gave is none of the
 * other, and the other's pods stay where they are.
 */
#include <schedq/group.h>
#include <stdio.h>

#include "fixture.h"

enum { PODS = 100, GROUP = 7 };

struct half {
    schedq_t *queue;
    schedq_worker_t *worker;
    schedq_popped_t popped[PODS]; /* in flight */
    schedq_pod_t waiting[PODS];
    schedq_popped_group_t group; /* in its cycle */
};

static struct half halves[2];

static void
fill(struct half *half)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    config.engine = fx_engine();
    assert_ok(schedq_create(&config, &half->queue, NULL, 0));
    assert_ok(schedq_worker_register(half->queue, &half->worker, NULL, 0));
    for (unsigned i = 0; i < 2 * PODS; i++) {
        char name[16];
        schedq_pod_spec_t spec = fx_spec(0);
        schedq_result_t result;
        int length = snprintf(name, sizeof name, "ns/%u", i);
        assert_ok(schedq_add(half->worker, name, (size_t)length, &spec, &result));
        if (i < PODS)
            assert_ok(schedq_try_pop(half->worker, &half->popped[i]));
        else
            half->waiting[i - PODS] = result.pod;
    }
    schedq_group_spec_t gang = SCHEDQ_GROUP_SPEC_INIT;
    schedq_pod_spec_t member = fx_spec(0);
    schedq_popped_t taken;
    size_t count;
    gang.priority = 1;
    assert_ok(schedq_group_add(half->worker, GROUP, &gang, NULL));
    member.group = GROUP;
    assert_ok(schedq_add(half->worker, "ns/member", 9, &member, NULL));
    assert_ok(schedq_try_pop_group(half->worker, &half->group, &taken, 1, &count));
    assert_int_equal(half->group.group, GROUP);
}

static int
setup(void **state)
{
    (void)state;
    fill(&halves[0]);
    fill(&halves[1]);
    return 0;
}

static int
teardown(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        assert_ok(schedq_worker_unregister(halves[i].worker));
        assert_ok(schedq_destroy_with_pods(halves[i].queue, NULL, 0));
    }
    return 0;
}

static void
assert_untouched(const struct half *half)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    assert_ok(schedq_stats(half->queue, &stats));
    assert_int_equal(stats.inflight, PODS + 1);
    assert_int_equal(stats.active, PODS);
    assert_int_equal(stats.dones + stats.failures + stats.deletes, 0);
}

static void
a_token_of_another_queue_is_stale(void **state)
{
    (void)state;
    struct half *one = &halves[0], *other = &halves[1];
    schedq_group_end_t end = SCHEDQ_GROUP_END_INIT;
    for (unsigned i = 0; i < PODS; i++) {
        schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
        schedq_token_t token = one->popped[i].token;
        assert_status(schedq_token_alive(other->worker, token), SCHEDQ_STALE);
        assert_status(schedq_done(other->worker, token), SCHEDQ_STALE);
        assert_status(schedq_fail(other->worker, &token, &failure, NULL), SCHEDQ_STALE);
    }
    assert_status(schedq_group_done(other->worker, &one->group.token, &end, NULL), SCHEDQ_STALE);
    assert_untouched(other);
    for (unsigned i = 0; i < PODS; i++)
        assert_ok(schedq_token_alive(one->worker, one->popped[i].token));
}

static void
a_handle_of_another_queue_names_no_pod(void **state)
{
    (void)state;
    struct half *one = &halves[0], *other = &halves[1];
    schedq_explanation_t explanation = SCHEDQ_EXPLANATION_INIT;
    for (unsigned i = 0; i < PODS; i++) {
        schedq_pod_t pods[] = {one->waiting[i], one->popped[i].pod};
        for (unsigned j = 0; j < 2; j++) {
            assert_status(schedq_delete(other->worker, pods[j], NULL), SCHEDQ_NOT_FOUND);
            assert_status(schedq_nominate(other->worker, pods[j], 3), SCHEDQ_NOT_FOUND);
            assert_status(schedq_explain(other->worker, pods[j], &explanation), SCHEDQ_NOT_FOUND);
        }
    }
    assert_untouched(other);
}

int
main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_token_of_another_queue_is_stale, setup, teardown),
        cmocka_unit_test_setup_teardown(a_handle_of_another_queue_names_no_pod, setup, teardown),
    };
    return fx_run_tests(argc, argv, tests);
}
