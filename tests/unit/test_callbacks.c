/*
 * No callback may call the queue that runs it: every function but done and done_many
 * (test_ends.c) says BUSY (or 0, or NULL), and nothing has changed.
 */
#include <pthread.h>
#include <string.h>

#include "every_call.h"
#include "fixture.h"
#include "mailbox.h"

/*
 * What a callback tries its luck on: a second worker of the same queue, and a live token and pod.
 */
typedef struct intruder {
    fixture_t *fixture;
    schedq_worker_t *other;
    schedq_token_t token;
    schedq_pod_t pod;
    unsigned intrusions; /* how often the callback ran */
    unsigned answers;    /* how many calls did not answer BUSY */
    const char *first;   /* the first of them */
} intruder_t;

static intruder_t intruder;

static void
note(const char *call, bool refused)
{
    if (refused)
        return;
    intruder.answers++;
    if (intruder.first == NULL)
        intruder.first = call;
}

/* As every_call_fn. */
static void
expect_busy(void *ctx, const char *call, schedq_status_t status, const char *words)
{
    (void)ctx;
    note(call, status == SCHEDQ_BUSY && (words == NULL || strstr(words, "called from ") != NULL));
}

static void
intrude_with(schedq_worker_t *worker)
{
    const every_call_t calls = {.queue = intruder.fixture->queue,
                                .worker = worker,
                                .token = intruder.token,
                                .pod = intruder.pod};
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_result_t result, zero;
    memset(&zero, 0, sizeof zero);
    memset(&result, 0xff, sizeof result);
    (void)schedq_add(worker, "ns/x", 4, &spec, &result);
    note("the result is zero", memcmp(&result, &zero, sizeof zero) == 0);
    every_call_make(&calls, SCHEDQ_BUSY, expect_busy, NULL);
}

static void
intrude(void)
{
    intruder.intrusions++;
    intrude_with(intruder.fixture->worker);
    intrude_with(intruder.other);
}

/* ---- the callbacks ---- */

static schedq_hint_t
intruding_hint(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx;
    (void)pod;
    (void)old_object;
    (void)new_object;
    intrude();
    return SCHEDQ_HINT_SKIP;
}

static int
intruding_check(void *ctx, uint64_t pod)
{
    (void)ctx;
    (void)pod;
    if (intruder.other != NULL)
        intrude();
    return 1;
}

static int
intruding_affinity(void *ctx, uint64_t pod, uint64_t assigned)
{
    (void)ctx;
    (void)pod;
    (void)assigned;
    intrude();
    return 1;
}

static void
intruding_count(void *ctx, uint64_t object)
{
    (void)ctx;
    (void)object;
    if (intruder.other != NULL)
        intrude();
}

static int
intruding_visit(void *ctx, const schedq_pod_info_t *pod)
{
    (void)ctx;
    (void)pod;
    intrude();
    return 0;
}

static int
intruding_write(void *ctx, const char *text, size_t length)
{
    (void)ctx;
    (void)text;
    (void)length;
    intrude();
    return 0;
}

static void
intruding_wake(void *ctx)
{
    (void)ctx;
    if (intruder.other != NULL)
        intrude();
}

static fx_plugin_t *
prepare(fixture_t *fixture, schedq_hint_fn hint, schedq_pre_enqueue_fn gate)
{
    memset(&intruder, 0, sizeof intruder);
    intruder.fixture = fixture;
    fx_plugin_t *mine = &fixture->plugins[fixture->plugin_count++];
    const schedq_interest_t interest = {
        .resource = "*", .actions = SCHEDQ_ACTION_ADD, .hint = hint};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    plugin.name = "Intruder";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    plugin.pre_enqueue = gate;
    assert_ok(schedq_plugin_register(fx_queue(fixture), &plugin, &mine->bit, NULL, 0));
    return mine;
}

/* From here on callbacks intrude, on this pod and on one in flight. */
static schedq_popped_t
arm_with(fixture_t *fixture, schedq_pod_t pod, int32_t priority)
{
    schedq_worker_t *other;
    fx_add(fixture, "ns/flying", priority);
    schedq_popped_t popped = fx_pop(fixture, "ns/flying");
    assert_ok(schedq_worker_register(fx_queue(fixture), &other, NULL, 0));
    intruder.fixture = fixture;
    intruder.token = popped.token;
    intruder.pod = pod;
    intruder.other = other;
    return popped;
}

static schedq_popped_t
arm(fixture_t *fixture, const fx_plugin_t *mine)
{
    return arm_with(fixture, fx_park(fixture, "ns/parked", mine->bit), 0);
}

static void
arm_without_plugin(fixture_t *fixture)
{
    memset(&intruder, 0, sizeof intruder);
    arm_with(fixture, fx_add(fixture, "ns/active", 0), 1);
}

static void
expect_all_refused(void)
{
    schedq_worker_t *other = intruder.other;
    intruder.other = NULL;
    if (intruder.answers != 0)
        print_error("%u calls were not refused, the first: %s\n", intruder.answers, intruder.first);
    assert_int_equal(intruder.answers, 0);
    assert_true(intruder.intrusions > 0);
    assert_int_equal(fx_stats(intruder.fixture).adds, 2);
    assert_int_equal(fx_stats(intruder.fixture).deletes, 0);
    assert_int_equal(schedq_words(intruder.fixture->queue)->closed, 0);
    assert_ok(schedq_worker_unregister(other));
}

static void
a_hint_asked_by_an_event_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *mine = prepare(fixture, intruding_hint, NULL);
    arm(fixture, mine);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    expect_all_refused();
    assert_place(fx_place(fixture, "ns/parked"), SCHEDQ_PARKED);
}

static void
a_hint_asked_by_a_failure_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *mine = prepare(fixture, intruding_hint, NULL);
    schedq_popped_t popped = arm(fixture, mine);
    schedq_pod_t parked = intruder.pod;
    assert_ok(schedq_activate(fx_worker(fixture), &parked, 1, NULL));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_int_equal(intruder.intrusions, 0);
    assert_place(fx_fail(fixture, &popped, mine->bit, 0).place, SCHEDQ_PARKED);
    expect_all_refused();
}

static void
a_hint_asked_by_an_update_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *mine = prepare(fixture, intruding_hint, NULL);
    arm(fixture, mine);
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_event_t event = SCHEDQ_EVENT_UNSCHEDULED_POD_ADD;
    assert_ok(schedq_update(fx_worker(fixture), "ns/parked", 9, &spec, 0, &event, 1, NULL));
    expect_all_refused();
}

static void
a_pre_enqueue_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *mine = prepare(fixture, NULL, intruding_check);
    arm(fixture, mine);
    assert_ok(schedq_activate(fx_worker(fixture), &intruder.pod, 1, NULL));
    expect_all_refused();
    assert_place(fx_place(fixture, "ns/parked"), SCHEDQ_ACTIVE);
}

static void
a_precheck_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *mine = prepare(fixture, NULL, NULL);
    arm(fixture, mine);
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_NODE_ADD;
    change.precheck = intruding_check;
    assert_ok(schedq_notify(fx_worker(fixture), &change, NULL));
    expect_all_refused();
}

static void
an_affinity_match_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.affinity_matches = intruding_affinity;
    fixture->config.requeue = SCHEDQ_REQUEUE_MOVE_CYCLE;
    fx_plugin_t *mine = prepare(fixture, NULL, NULL);
    arm(fixture, mine);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.flags = SCHEDQ_POD_AFFINITY;
    assert_ok(schedq_update(fx_worker(fixture), "ns/parked", 9, &spec, 0, NULL, 0, NULL));
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_ASSIGNED_POD_ADD;
    assert_ok(schedq_assigned_pod_added(fx_worker(fixture), &change, "ns", 2, NULL));
    expect_all_refused();
}

static void
a_reference_count_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.objects = SCHEDQ_OBJECTS_COUNTED;
    fixture->config.retain = fixture->config.release = intruding_count;
    arm_without_plugin(fixture);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 77;
    assert_ok(schedq_update(fx_worker(fixture), "ns/active", 9, &spec, 0, NULL, 0, NULL));
    assert_true(intruder.intrusions >= 2);
    expect_all_refused();
}

static void
a_visitor_of_one_pod_is_refused(void **state)
{
    fixture_t *fixture = *state;
    arm_without_plugin(fixture);
    assert_ok(schedq_get(fx_worker(fixture), intruder.pod, intruding_visit, NULL));
    assert_int_equal(intruder.intrusions, 1);
    expect_all_refused();
    assert_place(fx_place(fixture, "ns/active"), SCHEDQ_ACTIVE);
}

static void
visitors_of_many_pods_are_refused(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *mine = prepare(fixture, NULL, NULL);
    arm(fixture, mine);
    assert_ok(schedq_nominate(fx_worker(fixture), intruder.pod, 3));
    assert_ok(schedq_snapshot(fx_worker(fixture), intruding_visit, NULL));
    assert_int_equal(intruder.intrusions, 1);
    assert_ok(schedq_nominated_pods(fx_worker(fixture), 3, intruding_visit, NULL));
    assert_int_equal(intruder.intrusions, 2);
    expect_all_refused();
}

static void
a_writer_of_metrics_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *mine = prepare(fixture, NULL, NULL);
    arm(fixture, mine);
    assert_ok(schedq_metrics_write(fx_queue(fixture), intruding_write, NULL));
    expect_all_refused();
}

static void
a_callback_that_wakes_is_refused(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *mine = prepare(fixture, NULL, NULL);
    assert_ok(schedq_wait_callback(fx_queue(fixture), intruding_wake, NULL, NULL, 0));
    schedq_popped_t popped = arm(fixture, mine);
    fx_pop_nothing(fixture);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD); /* a pod */
    assert_int_equal(intruder.intrusions, 1);
    fx_pop(fixture, "ns/parked");
    fx_pop_nothing(fixture);
    fx_tick(fixture);                /* nothing is due any more */
    fx_fail(fixture, &popped, 0, 0); /* a deadline */
    assert_int_equal(intruder.intrusions, 2);
    expect_all_refused();
}

/* ---- what is allowed ---- */

typedef struct helper {
    fixture_t *fixture;
    mailbox_t mailbox;
} helper_t;

static void *
add_from_another_thread(void *argument)
{
    helper_t *helper = argument;
    schedq_worker_t *worker;
    schedq_pod_spec_t spec = fx_spec(0);
    mailbox_t *mailbox = &helper->mailbox;
    if (mailbox_check(mailbox, schedq_worker_register(helper->fixture->queue, &worker, NULL, 0) ==
                                   SCHEDQ_OK)) {
        mailbox_check(mailbox, schedq_add(worker, "ns/new", 6, &spec, NULL) == SCHEDQ_OK);
        mailbox_check(mailbox, schedq_worker_unregister(worker) == SCHEDQ_OK);
    }
    return NULL;
}

static int
wait_for_another_thread(void *ctx, const schedq_pod_info_t *pod)
{
    pthread_t thread;
    (void)pod;
    assert_int_equal(pthread_create(&thread, NULL, add_from_another_thread, ctx), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return 0;
}

static void
during_a_visit_other_threads_use_the_queue(void **state)
{
    helper_t helper = {.fixture = *state};
    mailbox_init(&helper.mailbox);
    schedq_pod_t pod = fx_add(helper.fixture, "ns/a", 0);
    assert_ok(schedq_get(fx_worker(helper.fixture), pod, wait_for_another_thread, &helper));
    mailbox_assert_empty(&helper.mailbox);
    assert_place(fx_place(helper.fixture, "ns/new"), SCHEDQ_ACTIVE);
}

static void
during_a_snapshot_other_threads_use_the_queue(void **state)
{
    helper_t helper = {.fixture = *state};
    mailbox_init(&helper.mailbox);
    fx_add(helper.fixture, "ns/a", 0);
    assert_ok(schedq_snapshot(fx_worker(helper.fixture), wait_for_another_thread, &helper));
    mailbox_assert_empty(&helper.mailbox);
    assert_place(fx_place(helper.fixture, "ns/new"), SCHEDQ_ACTIVE);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(a_reference_count_is_refused),
        fx_test(a_visitor_of_one_pod_is_refused),
        fx_test(during_a_visit_other_threads_use_the_queue),
        fx_test(a_hint_asked_by_an_event_is_refused),
        fx_test(a_hint_asked_by_a_failure_is_refused),
        fx_test(a_hint_asked_by_an_update_is_refused),
        fx_test(a_pre_enqueue_is_refused),
        fx_test(a_precheck_is_refused),
        fx_test(an_affinity_match_is_refused),
        fx_test(visitors_of_many_pods_are_refused),
        fx_test(a_writer_of_metrics_is_refused),
        fx_test(a_callback_that_wakes_is_refused),
        fx_test(during_a_snapshot_other_threads_use_the_queue),
    };
    return fx_run_tests(argc, argv, tests);
}
