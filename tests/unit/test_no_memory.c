/*
 * The allocator fails at every site in turn: NOMEM changes nothing, and some calls may not fail at
 * all.
 */
#include <stdio.h>
#include <string.h>

#include "host.h"

/*
 * Everything that a failed call must leave as it was: counts, and the one pod there is, with place,
 * sets and history.
 */
typedef struct digest {
    schedq_stats_t stats;
    uint64_t pod;
} digest_t;

typedef struct trial {
    fixture_t *fixture;
    fx_plugin_t *fit, *gate;
    uint64_t node; /* what items nominate */
    uint64_t ref;
    schedq_pod_t pod;
    schedq_popped_t popped;
} trial_t;

static int
add_to_digest(void *ctx, const schedq_pod_info_t *pod)
{
    digest_t *digest = ctx;
    uint64_t fields[] = {pod->pod.bits,
                         pod->place,
                         pod->object,
                         (uint64_t)pod->priority,
                         (uint64_t)pod->history.timestamp_ns,
                         pod->history.attempts,
                         pod->history.rejections,
                         pod->history.errors,
                         (uint64_t)pod->backoff_expiry_ns,
                         pod->unschedulable,
                         pod->pending,
                         pod->gate,
                         pod->nominated_node};
    uint64_t hash = UINT64_C(1469598103934665603);
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        hash = (hash ^ fields[i]) * UINT64_C(1099511628211);
    digest->pod = hash;
    return 1;
}

static digest_t
digest_of(const trial_t *trial)
{
    digest_t digest;
    memset(&digest, 0, sizeof digest);
    digest.stats = fx_stats(trial->fixture);
    digest.stats.bytes_entries = digest.stats.bytes_names = digest.stats.bytes_index = 0;
    digest.stats.bytes_queues = digest.stats.bytes_other = digest.stats.membarriers = 0;
    /* may run for a decision that is discarded */
    digest.stats.hint_calls = digest.stats.pre_enqueue_calls = 0;
    if (trial->pod.bits != 0)
        assert_ok(schedq_get(fx_worker(trial->fixture), trial->pod, add_to_digest, &digest));
    return digest;
}

static void
assert_same(const digest_t *a, const digest_t *b)
{
    assert_memory_equal(&a->stats, &b->stats, sizeof a->stats);
    assert_true(a->pod == b->pod);
}

typedef void (*prepare_fn)(trial_t *trial);
typedef schedq_status_t (*operation_fn)(trial_t *trial);

/*
 * Runs `operation` with the first, second, ... allocation failing, until it needs no more of them.
 */
static void
fail_each_site(const char *name, prepare_fn prepare, operation_fn operation)
{
    unsigned sites = 0;
    for (int64_t site = 0;; site++) {
        trial_t trial;
        memset(&trial, 0, sizeof trial);
        trial.fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
        if (prepare != NULL)
            prepare(&trial);
        fx_worker(trial.fixture);
        digest_t before = digest_of(&trial);
        account_fail_after(&trial.fixture->memory, site);
        schedq_status_t status = operation(&trial);
        bool happened = account_heal(&trial.fixture->memory);
        if (!happened) {
            assert_status(status, SCHEDQ_OK);
            fx_free(trial.fixture);
            break;
        }
        if (status != SCHEDQ_OK) {
            assert_status(status, SCHEDQ_NOMEM);
            digest_t after = digest_of(&trial);
            assert_same(&before, &after);
            assert_string_equal(schedq_worker_error(fx_worker(trial.fixture)), "");
            assert_ok(operation(&trial));
            sites++;
        }
        fx_free(trial.fixture);
    }
    print_message("%s: %u sites\n", name, sites);
}

static schedq_status_t
do_add(trial_t *trial)
{
    char name[300];
    memset(name, 'n', sizeof name);
    name[100] = '/';
    schedq_pod_spec_t spec = fx_spec(777);
    spec.nominated_node = trial->node;
    return schedq_add(fx_worker(trial->fixture), name, sizeof name, &spec, NULL);
}

static schedq_status_t
do_add_many(trial_t *trial)
{
    schedq_add_item_t items[2] = {fx_item(0, 4, 1), fx_item(5, 4, 2)};
    uint8_t statuses[2];
    schedq_status_t status =
        schedq_add_many(fx_worker(trial->fixture), "ns/a ns/b", 9, items, 2, NULL, statuses, NULL);
    if (status != SCHEDQ_OK) {
        assert_true(statuses[0] == SCHEDQ_OK || statuses[0] == SCHEDQ_NOMEM);
        assert_true(statuses[1] == SCHEDQ_OK || statuses[1] == SCHEDQ_NOMEM);
    }
    return status;
}

static schedq_status_t
do_update_as_add(trial_t *trial)
{
    schedq_pod_spec_t spec = fx_spec(9);
    spec.flags = SCHEDQ_POD_ADD;
    return schedq_update(fx_worker(trial->fixture), "ns/new", 6, &spec, 0, NULL, 0, NULL);
}

static void
prepare_nominating(trial_t *trial)
{
    trial->node = 5;
}

static void
prepare_active(trial_t *trial)
{
    trial->pod = fx_add(trial->fixture, "ns/a", 0);
}

static void
prepare_active_nominating(trial_t *trial)
{
    prepare_active(trial);
    prepare_nominating(trial);
}

static void
prepare_flying(trial_t *trial)
{
    prepare_active(trial);
    trial->popped = fx_pop(trial->fixture, "ns/a");
}

static schedq_status_t
do_update_priority(trial_t *trial)
{
    schedq_pod_spec_t spec = fx_spec(12345);
    spec.object = 77;
    spec.nominated_node = trial->node;
    return schedq_update(fx_worker(trial->fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL);
}

static schedq_status_t
do_update_order_key(trial_t *trial)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 78;
    spec.flags = SCHEDQ_POD_ORDER_KEY;
    spec.order_key = -5;
    return schedq_update(fx_worker(trial->fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL);
}

static schedq_status_t
do_readd(trial_t *trial)
{
    schedq_pod_spec_t spec = fx_spec(9);
    schedq_history_t history = {0};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    return schedq_readd(fx_worker(trial->fixture), "ns/new", 6, &spec, &history, &failure, NULL);
}

static void
prepare_flying_with_plugin(trial_t *trial)
{
    trial->fit = fx_plugin(trial->fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    prepare_flying(trial);
}

/* The answer of a call that found no memory is all zero. */
static schedq_status_t
fail_it(trial_t *trial, const schedq_failure_t *failure)
{
    static const schedq_result_t zero;
    schedq_result_t result;
    memset(&result, 0xff, sizeof result);
    schedq_status_t status =
        schedq_fail(fx_worker(trial->fixture), &trial->popped.token, failure, &result);
    if (status == SCHEDQ_NOMEM)
        assert_memory_equal(&result, &zero, sizeof zero);
    return status;
}

static schedq_status_t
do_park(trial_t *trial)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = trial->fit->bit;
    schedq_pod_spec_t newest = SCHEDQ_POD_SPEC_INIT;
    failure.newest = &newest;
    newest.priority = 4711;
    newest.nominated_node = 8;
    return fail_it(trial, &failure);
}

static schedq_status_t
do_error(trial_t *trial)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    return fail_it(trial, &failure);
}

/* Fails with an error at once: it is active again, under a priority that nobody had. */
static void
prepare_flying_without_backoff(trial_t *trial)
{
    trial->fixture->config.max_backoff_ns = 0;
    prepare_flying(trial);
}

static schedq_status_t
do_error_with_newest(trial_t *trial)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_pod_spec_t newest = SCHEDQ_POD_SPEC_INIT;
    failure.newest = &newest;
    newest.object = 81;
    newest.priority = 4711;
    return fail_it(trial, &failure);
}

/* An event reaches the pod while it flies, and a gate refuses it then. */
static void
prepare_flying_to_a_gate(trial_t *trial)
{
    trial->gate = fx_gate(trial->fixture, "Gate", "Node", SCHEDQ_ACTION_DELETE);
    trial->fit = fx_plugin(trial->fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    prepare_flying(trial);
    fx_move(trial->fixture, SCHEDQ_EVENT_NODE_ADD);
    trial->gate->refuses = true;
}

static void
prepare_parked(trial_t *trial)
{
    trial->fit = fx_plugin(trial->fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    trial->pod = fx_park(trial->fixture, "ns/a", trial->fit->bit);
}

static void
prepare_backing_off(trial_t *trial)
{
    trial->fit = fx_plugin(trial->fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    trial->pod = fx_back_off(trial->fixture, "ns/a", trial->fit->bit, SCHEDQ_EVENT_NODE_ADD);
}

static void
prepare_gated(trial_t *trial)
{
    trial->gate = fx_gate(trial->fixture, "Gate", "Node", SCHEDQ_ACTION_DELETE);
    trial->gate->refuses = true;
    trial->pod = fx_add(trial->fixture, "ns/a", 0);
    assert_place(fx_place(trial->fixture, "ns/a"), SCHEDQ_GATED);
}

static void
prepare_gated_and_open(trial_t *trial)
{
    prepare_gated(trial);
    trial->gate->refuses = false;
}

static schedq_status_t
do_activate(trial_t *trial)
{
    return schedq_activate(fx_worker(trial->fixture), &trial->pod, 1, NULL);
}

static schedq_status_t
do_nominate(trial_t *trial)
{
    return schedq_nominate(fx_worker(trial->fixture), trial->pod, 6);
}

static void
prepare_host_parked(trial_t *trial)
{
    trial->fixture->config.decide = SCHEDQ_DECIDE_HOST;
    trial->fit = fx_plugin(trial->fixture, "Fit", NULL, 0);
    trial->pod = hx_park(trial->fixture, "ns/a", 7, trial->fit->bit);
    trial->ref = fx_find(trial->fixture, "ns/a").ref;
}

static schedq_status_t
do_apply_active(trial_t *trial)
{
    return hx_apply(trial->fixture, trial->ref, SCHEDQ_ACTIVE, 0, 0, NULL);
}

static schedq_status_t
do_apply_backoff(trial_t *trial)
{
    return hx_apply(trial->fixture, trial->ref, SCHEDQ_BACKOFF, 0, 0, NULL);
}

static schedq_status_t
do_apply_gated(trial_t *trial)
{
    return hx_apply(trial->fixture, trial->ref, SCHEDQ_GATED, (uint8_t)trial->fit->gate, UINT64_MAX,
                    NULL);
}

static schedq_status_t
do_define_events(trial_t *trial)
{
    static const char *const names[] = {"A", "B", "C", "D", "E", "F", "G", "H", "I", "J"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        schedq_event_t event;
        schedq_status_t status = schedq_event_define(fx_queue(trial->fixture), names[i],
                                                     SCHEDQ_ACTION_ADD, NULL, &event, NULL, 0);
        if (status != SCHEDQ_OK)
            return status;
    }
    return SCHEDQ_OK;
}

static schedq_status_t
do_register_worker(trial_t *trial)
{
    schedq_worker_t *worker;
    schedq_status_t status = schedq_worker_register(fx_queue(trial->fixture), &worker, NULL, 0);
    if (status == SCHEDQ_OK)
        assert_ok(schedq_worker_unregister(worker));
    return status;
}

static schedq_status_t
do_reserve(trial_t *trial)
{
    return schedq_reserve(fx_queue(trial->fixture), 20000, 200, 8, NULL, 0);
}

static void
each_failing_allocation_changes_nothing(void **state)
{
    (void)state;
    fail_each_site("add", NULL, do_add);
    fail_each_site("update as add", NULL, do_update_as_add);
    fail_each_site("update to another priority", prepare_active, do_update_priority);
    fail_each_site("update to another order key", prepare_active, do_update_order_key);
    fail_each_site("update in flight to another priority", prepare_flying, do_update_priority);
    fail_each_site("worker_register", NULL, do_register_worker);
    fail_each_site("reserve", NULL, do_reserve);
    fail_each_site("reserve beside a pod", prepare_active, do_reserve);
}

static void
each_failing_allocation_of_waiting_pods_and_nominations_changes_nothing(void **state)
{
    (void)state;
    fail_each_site("add, nominated", prepare_nominating, do_add);
    fail_each_site("update to another priority, nominated", prepare_active_nominating,
                   do_update_priority);
    fail_each_site("readd", NULL, do_readd);
    fail_each_site("add_unschedulable, parked", prepare_flying_with_plugin, do_park);
    fail_each_site("add_unschedulable, error", prepare_flying, do_error);
    fail_each_site("add_unschedulable, active and newest", prepare_flying_without_backoff,
                   do_error_with_newest);
    fail_each_site("add_unschedulable, gated and newest", prepare_flying_to_a_gate, do_park);
    fail_each_site("event_define", NULL, do_define_events);
}

static void
each_failing_allocation_of_calls_on_waiting_pods_changes_nothing(void **state)
{
    (void)state;
    fail_each_site("update of a parked pod", prepare_parked, do_update_priority);
    fail_each_site("update of a gated pod", prepare_gated, do_update_priority);
    fail_each_site("update of a pod in backoff", prepare_backing_off, do_update_priority);
    fail_each_site("activate, parked", prepare_parked, do_activate);
    fail_each_site("activate, backing off", prepare_backing_off, do_activate);
    fail_each_site("activate, gated", prepare_gated_and_open, do_activate);
    fail_each_site("nominate", prepare_parked, do_nominate);
    fail_each_site("apply, active", prepare_host_parked, do_apply_active);
    fail_each_site("apply, backoff", prepare_host_parked, do_apply_backoff);
    fail_each_site("apply, gated", prepare_host_parked, do_apply_gated);
}

/* Parked, gated, and one in flight: whatever the call says, the next tick has moved them all. */
static void
expect_reached(fixture_t *fixture, const fx_plugin_t *fit, const fx_plugin_t *gate, unsigned pods,
               schedq_popped_t *flying)
{
    assert_place(fx_fail(fixture, flying, fit->bit | gate->bit, 0).place, SCHEDQ_BACKOFF);
    assert_int_equal(fx_stats(fixture).parked, 0);
    assert_int_equal(fx_stats(fixture).gated, 0);
    fx_pass(fixture, SEC(60));
    assert_int_equal(fx_stats(fixture).active, pods);
}

static void
an_event_without_memory_counts_for_every_pod(void **state)
{
    (void)state;
    enum { COUNT = 20 };
    char name[32];
    bool happened = true;
    for (int64_t site = 0; happened; site++) {
        fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
        schedq_change_t change;
        fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
        fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
        for (unsigned i = 0; i < COUNT; i++) {
            snprintf(name, sizeof name, "ns/parked%u", i);
            fx_park(fixture, name, fit->bit);
        }
        gate->refuses = true;
        for (unsigned i = 0; i < COUNT; i++) {
            snprintf(name, sizeof name, "ns/gated%u", i);
            fx_add(fixture, name, 0);
        }
        gate->refuses = false;
        fx_add(fixture, "ns/flying", 0);
        schedq_popped_t flying = fx_pop(fixture, "ns/flying");
        change = (schedq_change_t)SCHEDQ_CHANGE_INIT;
        change.event = SCHEDQ_EVENT_NODE_ADD;
        account_fail_after(&fixture->memory, site);
        schedq_status_t status = schedq_notify(fx_worker(fixture), &change, NULL);
        happened = account_heal(&fixture->memory);
        assert_true(status == SCHEDQ_OK || (happened && status == SCHEDQ_NOMEM));
        if (status == SCHEDQ_NOMEM)
            fx_tick(fixture);
        expect_reached(fixture, fit, gate, 2 * COUNT + 1, &flying);
        fx_free(fixture);
    }
}

static void
due_pods_without_memory_stay_due(void **state)
{
    (void)state;
    bool happened = true;
    for (int64_t site = 0; happened; site++) {
        fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
        int64_t next = 0;
        schedq_result_t result;
        fixture->config.pop_from_backoff = 0;
        fx_err(fixture, "ns/first");
        fx_advance(fixture, 1);
        fx_err(fixture, "ns/second");
        fx_advance(fixture, SEC(60));
        account_fail_after(&fixture->memory, site);
        schedq_status_t status = schedq_tick(fx_worker(fixture), &next, &result);
        happened = account_heal(&fixture->memory);
        assert_true(status == SCHEDQ_OK || (happened && status == SCHEDQ_NOMEM));
        assert_int_equal(fx_stats(fixture).active + fx_stats(fixture).error_backoff, 2);
        if (fx_stats(fixture).active < 2)
            assert_true(next <= fx_now(fixture));
        fx_tick(fixture);
        fx_pop(fixture, "ns/first");
        fx_pop(fixture, "ns/second");
        fx_free(fixture);
    }
}

/*
 * Nothing can be allocated from some moment on: what is there goes its way, and what comes gets in,
 * or NOMEM.
 */
static void
run_dry(fixture_t *fixture, unsigned pods)
{
    char name[32];
    schedq_popped_t popped;
    unsigned active = pods;
    atomic_store(&fixture->memory.fail_all, true);
    for (unsigned i = 0; i < pods; i++) {
        snprintf(name, sizeof name, "ns/new%u", i);
        schedq_pod_spec_t spec = fx_spec((int32_t)(i % 7));
        schedq_status_t status = schedq_add(fx_worker(fixture), name, strlen(name), &spec, NULL);
        assert_true(status == SCHEDQ_OK || status == SCHEDQ_NOMEM);
        assert_place(fx_place(fixture, name), status == SCHEDQ_OK ? SCHEDQ_ACTIVE : SCHEDQ_NOWHERE);
        active += status == SCHEDQ_OK;
        snprintf(name, sizeof name, "ns/%u", i);
        spec.priority = 8;
        schedq_result_t before = fx_find(fixture, name);
        schedq_pod_info_t info = fx_info(fixture, before.pod);
        status = schedq_update(fx_worker(fixture), name, strlen(name), &spec, 0, NULL, 0, NULL);
        assert_true(status == SCHEDQ_OK || status == SCHEDQ_NOMEM);
        assert_int_equal(fx_info(fixture, before.pod).priority,
                         status == SCHEDQ_OK ? 8 : info.priority);
        if (i % 5 == 0) {
            assert_ok(schedq_delete(fx_worker(fixture), before.pod, NULL));
            active--;
        }
    }
    assert_int_equal(fx_stats(fixture).active, active);
    for (int32_t last = INT32_MAX; active > 0; active--) {
        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
        assert_true(popped.priority <= last);
        last = popped.priority;
        fx_done(fixture, &popped);
    }
    fx_pop_nothing(fixture);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
    account_heal(&fixture->memory);
}

static void
without_memory_pods_are_still_popped_done_and_deleted(void **state)
{
    fixture_t *fixture = *state;
    static const unsigned sizes[] = {1, 7, 100, 3000};
    char name[32];
    for (size_t round = 0; round < sizeof sizes / sizeof *sizes; round++) {
        for (unsigned i = 0; i < sizes[round]; i++) {
            snprintf(name, sizeof name, "ns/%u", i);
            fx_add(fixture, name, (int32_t)(i % 5));
        }
        run_dry(fixture, sizes[round]);
        if (round % 2 != 0)
            assert_ok(schedq_trim(fx_queue(fixture)));
    }
    fx_add(fixture, "ns/after", 0);
    fx_pop(fixture, "ns/after");
}

static void
a_batch_without_memory_says_so_for_each_pod(void **state)
{
    (void)state;
    for (int64_t site = 0; site < 12; site++) {
        trial_t trial = {.fixture = fx_new(SCHEDQ_PRESET_DEFAULT)};
        fx_worker(trial.fixture);
        account_fail_after(&trial.fixture->memory, site);
        schedq_status_t status = do_add_many(&trial);
        account_heal(&trial.fixture->memory);
        int added = (fx_place(trial.fixture, "ns/a") != SCHEDQ_NOWHERE) +
                    (fx_place(trial.fixture, "ns/b") != SCHEDQ_NOWHERE);
        assert_int_equal(fx_stats(trial.fixture).active, added);
        assert_true(status == SCHEDQ_NOMEM || status == SCHEDQ_OK);
        assert_int_equal(status == SCHEDQ_OK, added == 2);
        fx_free(trial.fixture);
    }
}

/*
 * Names and priorities of their own, so that each kind of memory is wanted in the middle of the
 * batch.
 */
static void
a_large_batch_without_memory_adds_what_it_says(void **state)
{
    (void)state;
    enum { COUNT = 1500 };
    static char names[COUNT * 8 + 1];
    static schedq_add_item_t items[COUNT];
    static uint8_t statuses[COUNT];
    static schedq_pod_t pods[COUNT];
    bool happened = true;
    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(names + 8 * i, 9, "ns/%05u", i);
        items[i] = fx_item(8 * i, 8, (int32_t)(i % 40));
    }
    for (int64_t site = 0; happened; site++) {
        fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
        fx_worker(fixture);
        schedq_result_t result;
        account_fail_after(&fixture->memory, site);
        schedq_status_t status = schedq_add_many(fx_worker(fixture), names, sizeof names, items,
                                                 COUNT, pods, statuses, &result);
        happened = account_heal(&fixture->memory);
        unsigned added = 0, first_failure = SCHEDQ_OK;
        for (unsigned i = 0; i < COUNT; i++) {
            assert_true(statuses[i] == SCHEDQ_OK || (happened && statuses[i] == SCHEDQ_NOMEM));
            assert_int_equal(pods[i].bits != 0, statuses[i] == SCHEDQ_OK);
            assert_int_equal(schedq_find(fx_worker(fixture), names + 8 * i, 8, NULL),
                             statuses[i] == SCHEDQ_OK ? SCHEDQ_OK : SCHEDQ_NOT_FOUND);
            added += statuses[i] == SCHEDQ_OK;
            if (first_failure == SCHEDQ_OK)
                first_failure = statuses[i];
        }
        assert_int_equal(status, first_failure);
        assert_int_equal(result.to_active, added);
        assert_int_equal(fx_stats(fixture).active, added);
        schedq_popped_t popped;
        for (int32_t last = INT32_MAX; added > 0; added--) {
            assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
            assert_true(popped.priority <= last);
            last = popped.priority;
        }
        fx_pop_nothing(fixture);
        fx_free(fixture);
    }
}

static void
a_queue_that_cannot_be_made_leaves_nothing(void **state)
{
    (void)state;
    for (int64_t site = 0;; site++) {
        fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
        account_fail_after(&fixture->memory, site);
        schedq_t *queue = (schedq_t *)1;
        char why[64] = "x";
        schedq_status_t status = schedq_create(&fixture->config, &queue, why, sizeof why);
        bool happened = account_heal(&fixture->memory);
        if (status == SCHEDQ_OK) {
            fixture->queue = queue;
            fx_free(fixture);
            if (!happened)
                break;
            continue;
        }
        assert_status(status, SCHEDQ_NOMEM);
        assert_null(queue);
        assert_string_equal(why, "no memory for a queue: config.allocator.alloc returned NULL");
        fx_free(fixture);
    }
}

/* Two plugins that hear of everything, so that a failure has to be taken back from every event. */
static void
plugins_profiles_and_events_without_memory_change_nothing(void **state)
{
    (void)state;
    bool happened = true;
    for (int64_t site = 0; happened; site++) {
        fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
        schedq_t *queue = fx_queue(fixture);
        schedq_interest_t interests[] = {
            {.resource = "NewThing", .actions = SCHEDQ_ACTION_ADD, .hint = fx_hint},
            {.resource = "*", .actions = SCHEDQ_ACTION_ALL, .hint = fx_hint}};
        fx_plugin_t *first = fx_plugin_full(fixture, 0, "First", 0, interests, 2, false);
        schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
        schedq_profile_t profile = 0;
        schedq_event_t event;
        uint64_t bit = 0;
        plugin.name = "Second";
        plugin.interests = interests;
        plugin.interest_count = 2;
        plugin.ctx = first;
        uint64_t before = schedq_event_plugins(queue, 0, SCHEDQ_EVENT_NODE_ADD);

        account_fail_after(&fixture->memory, site);
        schedq_status_t status = schedq_plugin_register(queue, &plugin, &bit, NULL, 0);
        happened = account_heal(&fixture->memory);
        if (status == SCHEDQ_NOMEM) {
            assert_true(schedq_event_plugins(queue, 0, SCHEDQ_EVENT_NODE_ADD) == before);
            assert_ok(schedq_plugin_register(queue, &plugin, &bit, NULL, 0));
        }
        assert_int_equal(bit, 2);
        account_fail_after(&fixture->memory, site);
        if (schedq_profile_define(queue, "batch", &profile, NULL, 0) == SCHEDQ_NOMEM) {
            happened = true;
            account_heal(&fixture->memory);
            assert_ok(schedq_profile_define(queue, "batch", &profile, NULL, 0));
        }
        assert_int_equal(profile, 1);
        account_fail_after(&fixture->memory, site);
        if (schedq_event_define(queue, "NewThing", SCHEDQ_ACTION_ADD, NULL, &event, NULL, 0) ==
            SCHEDQ_NOMEM) {
            happened = true;
            account_heal(&fixture->memory);
            assert_ok(
                schedq_event_define(queue, "NewThing", SCHEDQ_ACTION_ADD, NULL, &event, NULL, 0));
        }
        account_heal(&fixture->memory);
        assert_int_equal(event, SCHEDQ_EVENT_FIRST_FREE);
        assert_true(schedq_event_plugins(queue, 0, event) == (SCHEDQ_REJECTOR_OTHERS | 3));

        fx_park(fixture, "ns/a", 1);
        fx_park(fixture, "ns/b", 2);
        assert_int_equal(fx_move(fixture, event).to_backoff, 2);
        assert_int_equal(first->hint_calls, 2);
        fx_free(fixture);
    }
}

static void
many_profiles_without_memory_change_nothing(void **state)
{
    fixture_t *fixture = *state;
    schedq_t *queue = fx_queue(fixture);
    char name[16];
    for (unsigned i = 1; i <= 40; i++) {
        schedq_profile_t profile = 0;
        snprintf(name, sizeof name, "profile%u", i);
        for (int64_t site = 0;; site++) {
            account_fail_after(&fixture->memory, site);
            schedq_status_t status = schedq_profile_define(queue, name, &profile, NULL, 0);
            account_heal(&fixture->memory);
            if (status == SCHEDQ_OK)
                break;
            assert_status(status, SCHEDQ_NOMEM);
        }
        assert_int_equal(profile, i);
    }
    schedq_pod_spec_t spec = fx_spec(0);
    spec.profile = 40;
    fx_add_spec(fixture, "ns/a", &spec);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_place(fx_fail(fixture, &popped, SCHEDQ_REJECTOR_OTHERS, 0).place, SCHEDQ_PARKED);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_backoff, 1);
}

static void
a_late_name_without_memory_gets_a_bit_all_the_same(void **state)
{
    fixture_t *fixture = *state;
    char name[100];
    fx_queue(fixture);
    atomic_store(&fixture->memory.fail_all, true);
    for (unsigned i = 0; i < 100; i++) {
        uint32_t length = (uint32_t)snprintf(name, sizeof name, "Late%095u", i);
        assert_true(schedq_rejector_bit(fixture->queue, 0, name, length) != 0);
    }
    account_heal(&fixture->memory);
}

static void
growing_by_thousands_of_pods_survives_failures_all_the_way(void **state)
{
    fixture_t *fixture = *state;
    char name[200];
    unsigned failures = 0;
    fx_worker(fixture);
    for (unsigned i = 0; i < 3000; i++) {
        int length = snprintf(name, sizeof name, "ns/%u", i);
        while (i % 3 == 0 && length < 150)
            name[length++] = 'x';
        schedq_pod_spec_t spec = fx_spec((int32_t)(i % 700));
        name[length] = '\0';
        for (int64_t site = 0;; site++) {
            account_fail_after(&fixture->memory, site);
            schedq_status_t status =
                schedq_add(fx_worker(fixture), name, strlen(name), &spec, NULL);
            account_heal(&fixture->memory);
            if (status == SCHEDQ_OK)
                break;
            failures++;
            assert_status(status, SCHEDQ_NOMEM);
            assert_place(fx_place(fixture, name), SCHEDQ_NOWHERE);
            assert_int_equal(fx_stats(fixture).active, i);
        }
    }
    assert_true(failures > 0);
    fx_assert_counts(fixture, 3000, 0, 0, 0, 0, 0);
}

static void
events_time_and_activation_need_no_memory(void **state)
{
    fixture_t *fixture = *state;
    enum { COUNT = 300 };
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_fill(fixture, fit, COUNT);
    schedq_pod_t pod = fx_find(fixture, "ns/parked7").pod;
    atomic_store(&fixture->memory.fail_all, true);
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_backoff, COUNT - 1);
    assert_int_equal(fx_pass(fixture, SEC(60)).to_active, 2 * COUNT - 1);
    assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    schedq_popped_t popped;
    for (unsigned i = 0; i < 3 * COUNT - 1; i++) {
        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
        assert_ok(schedq_done(fx_worker(fixture), popped.token));
    }
    fx_pop_nothing(fixture);
    account_heal(&fixture->memory);
}

static void
gating_during_an_event_needs_no_memory(void **state)
{
    fixture_t *fixture = *state;
    enum { COUNT = 300 };
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_plugin_t *gate = fx_gate(fixture, "Gate", "Node", SCHEDQ_ACTION_DELETE);
    fx_fill(fixture, fit, COUNT);
    gate->refuses = true;
    atomic_store(&fixture->memory.fail_all, true);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_gated, COUNT);
    gate->refuses = false;
    fx_advance(fixture, SEC(60));
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_DELETE).to_active, COUNT);
    account_heal(&fixture->memory);
}

static void
nominating_needs_no_memory(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_t pods[100];
    char name[32];
    for (unsigned i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        pods[i] = fx_add(fixture, name, 0);
    }
    atomic_store(&fixture->memory.fail_all, true);
    for (unsigned i = 0; i < 100; i++)
        assert_ok(schedq_nominate(fx_worker(fixture), pods[i], 1 + i / 2));
    assert_int_equal(fx_stats(fixture).nominated, 100);
    account_heal(&fixture->memory);
}

static void
looking_without_memory_says_so_or_works(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/a", 0);
    schedq_pod_t pod = fx_find(fixture, "ns/a").pod;
    assert_ok(schedq_nominate(fx_worker(fixture), pod, 5));
    atomic_store(&fixture->memory.fail_all, true);
    const schedq_status_t answers[] = {
        schedq_get(fx_worker(fixture), pod, fx_visit_nothing, NULL),
        schedq_snapshot(fx_worker(fixture), fx_visit_nothing, NULL),
        schedq_nominated_pods(fx_worker(fixture), 5, fx_visit_nothing, NULL),
    };
    account_heal(&fixture->memory);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        assert_true(answers[i] == SCHEDQ_OK || answers[i] == SCHEDQ_NOMEM);
    assert_int_equal(fx_stats(fixture).active, 1);
}

/* Ticks at a time at which leftovers are tried; as often as it finds no memory. */
static bool
flush_without_memory(fixture_t *fixture, int64_t site)
{
    fx_advance(fixture, SEC(3600));
    account_fail_after(&fixture->memory, site);
    schedq_status_t status = schedq_tick(fx_worker(fixture), NULL, NULL);
    bool happened = account_heal(&fixture->memory);
    assert_true(status == SCHEDQ_OK || (happened && status == SCHEDQ_NOMEM));
    if (status == SCHEDQ_NOMEM)
        fx_tick(fixture);
    return happened;
}

static void
a_leftover_that_finds_no_memory_is_told_to_be_one(void **state)
{
    bool happened = true;
    (void)state;
    for (int64_t site = 0; happened; site++) {
        fixture_t *fixture = fx_new(SCHEDQ_PRESET_KUBE_1_37);
        fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
        fx_park(fixture, "ns/a", fit->bit);
        happened = flush_without_memory(fixture, site);
        fx_pass(fixture, SEC(60));
        assert_int_equal(fx_pop(fixture, "ns/a").flushed, 1);
        fx_free(fixture);
    }
}

static void
a_gated_leftover_that_finds_no_memory_is_tried_by_the_next_tick(void **state)
{
    bool happened = true;
    (void)state;
    for (int64_t site = 0; happened; site++) {
        fixture_t *fixture = fx_new(SCHEDQ_PRESET_KUBE_1_37);
        fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
        gate->refuses = true;
        fx_add(fixture, "ns/a", 0);
        gate->refuses = false;
        happened = flush_without_memory(fixture, site);
        assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
        fx_free(fixture);
    }
}

/* One verdict finds none; the others are told as they are. */
static void
each_verdict_of_a_batch_says_whether_it_found_memory(void **state)
{
    enum { COUNT = 4 };
    static const char *const names[COUNT] = {"ns/a", "ns/b", "ns/c", "ns/d"};
    bool happened = true;
    (void)state;
    for (int64_t site = 0; happened; site++) {
        trial_t trial = {.fixture = fx_new(SCHEDQ_PRESET_DEFAULT)};
        schedq_decision_t decisions[COUNT];
        uint8_t statuses[COUNT];
        schedq_result_t results[COUNT];
        prepare_host_parked(&trial);
        for (unsigned i = 0; i < COUNT; i++) {
            if (i > 0)
                hx_park(trial.fixture, names[i], 7, trial.fit->bit);
            decisions[i] = (schedq_decision_t){.struct_size = sizeof decisions[i],
                                               .ref = fx_find(trial.fixture, names[i]).ref,
                                               .place = SCHEDQ_GATED,
                                               .gate = (uint8_t)trial.fit->gate,
                                               .event = SCHEDQ_EVENT_NODE_ADD,
                                               .judged_up_to = UINT64_MAX};
        }
        account_fail_after(&trial.fixture->memory, site);
        (void)schedq_apply_many(fx_worker(trial.fixture), decisions, COUNT, statuses, results,
                                NULL);
        happened = account_heal(&trial.fixture->memory);
        for (unsigned i = 0; i < COUNT; i++) {
            assert_true(statuses[i] == SCHEDQ_OK || (happened && statuses[i] == SCHEDQ_NOMEM));
            assert_place(fx_place(trial.fixture, names[i]),
                         statuses[i] == SCHEDQ_OK ? SCHEDQ_GATED : SCHEDQ_PARKED);
        }
        fx_free(trial.fixture);
    }
}

/* The pod was activated in flight: a failure that had no memory leaves that to the next one. */
static void
an_activation_in_flight_outlives_a_failure_without_memory(void **state)
{
    (void)state;
    unsigned sites = 0;
    for (int64_t site = 0;; site++) {
        trial_t trial;
        memset(&trial, 0, sizeof trial);
        trial.fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
        prepare_flying_with_plugin(&trial);
        assert_ok(schedq_activate(fx_worker(trial.fixture), &trial.popped.pod, 1, NULL));
        account_fail_after(&trial.fixture->memory, site);
        schedq_status_t status = do_park(&trial);
        bool happened = account_heal(&trial.fixture->memory);
        if (status == SCHEDQ_NOMEM) {
            sites++;
            assert_ok(do_park(&trial));
        } else {
            assert_ok(status);
        }
        assert_place(fx_place(trial.fixture, "ns/a"), SCHEDQ_BACKOFF);
        fx_free(trial.fixture);
        if (!happened)
            break;
    }
    print_message("%u sites\n", sites);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_verdict_of_a_batch_says_whether_it_found_memory),
        cmocka_unit_test(a_leftover_that_finds_no_memory_is_told_to_be_one),
        cmocka_unit_test(a_gated_leftover_that_finds_no_memory_is_tried_by_the_next_tick),
        cmocka_unit_test(an_activation_in_flight_outlives_a_failure_without_memory),
        cmocka_unit_test(each_failing_allocation_changes_nothing),
        fx_test(without_memory_pods_are_still_popped_done_and_deleted),
        cmocka_unit_test(a_batch_without_memory_says_so_for_each_pod),
        cmocka_unit_test(a_large_batch_without_memory_adds_what_it_says),
        cmocka_unit_test(a_queue_that_cannot_be_made_leaves_nothing),
        fx_test(a_late_name_without_memory_gets_a_bit_all_the_same),
        fx_test(growing_by_thousands_of_pods_survives_failures_all_the_way),
        cmocka_unit_test(each_failing_allocation_of_waiting_pods_and_nominations_changes_nothing),
        cmocka_unit_test(each_failing_allocation_of_calls_on_waiting_pods_changes_nothing),
        cmocka_unit_test(an_event_without_memory_counts_for_every_pod),
        cmocka_unit_test(due_pods_without_memory_stay_due),
        cmocka_unit_test(plugins_profiles_and_events_without_memory_change_nothing),
        fx_test(many_profiles_without_memory_change_nothing),
        fx_test(looking_without_memory_says_so_or_works),
    };
    const struct CMUnitTest with_moves_in_place[] = {
        fx_test(events_time_and_activation_need_no_memory),
        fx_test(gating_during_an_event_needs_no_memory),
        fx_test(nominating_needs_no_memory),
    };
    const fx_group_t groups[] = {
        fx_group(tests, FX_ANY_ENGINE),
        fx_group(with_moves_in_place, FX_MOVES_IN_PLACE),
    };
    return fx_run_groups(argc, argv, groups);
}
