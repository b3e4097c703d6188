/* What calls make of pods, debts and workers that a call which stopped left half done. */
#include <pthread.h>
#include <schedq/watch.h>
#include <string.h>

#include "host.h"
#include "lockfree/calls/add.h"
#include "lockfree/moves/gather_record.h"
#include "lockfree/moves/hold.h"
#include "lockfree/moves/stray.h"

#include "gang.h" /* its `group` is a parameter in engine headers */

/* A thread stops behind the record of its pod, or, `named`, behind the commit of its name. */
static uint64_t
stop_in_add(fixture_t *fixture, schedq_worker_t *base, const struct incoming_pod *pod, bool named)
{
    struct worker *worker = (struct worker *)base;
    struct queue *queue = queue_of_base(fx_queue(fixture));
    const struct hashed_name name = {"ns/a", 4, hash_text(queue->base.seed, "ns/a", 4)};
    struct arrival arrival = {.hash = name.hash};
    schedq_result_t result = {0};
    struct index_found present;
    struct index_ticket ticket;
    const struct index_caller caller = index_caller(worker);
    section_begin(worker);
    assert_ok(add_admit(worker, &name, pod, fx_now(fixture), &arrival, &present, &result));
    if (named)
        assert_int_equal(
            index_insert(&queue->index, &caller, &name, arrival.ref, &ticket, &present),
            INDEX_DONE);
    section_leave(worker);
    return arrival.ref;
}

/* A thread stops behind the commit of its pod's name, before it publishes the pod. */
static void
stop_behind_the_name(fixture_t *fixture, schedq_worker_t *base, const struct incoming_pod *pod)
{
    (void)stop_in_add(fixture, base, pod, true);
    /* the index grows, and the housekeeper, which has no lanes, meets the pod */
    assert_ok(schedq_reserve(fixture->queue, 20000, 0, 0, NULL, 0));
}

static void
what_find_says_backs_off_is_active_when_its_backoff_is_over(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_worker_t *other;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    int64_t next;
    (void)fx_worker(fixture);
    assert_ok(schedq_worker_register(fixture->queue, &other, NULL, 0));
    const schedq_history_t history = {
        .timestamp_ns = fx_now(fixture), .initial_attempt_ns = fx_now(fixture), .attempts = 1};
    const struct incoming_pod pod = {
        .spec = &spec, .history = &history, .failure = &failure, .label = LABEL_FAILURE};
    stop_behind_the_name(fixture, other, &pod);
    schedq_result_t result = fx_find(fixture, "ns/a");
    assert_place(result.place, SCHEDQ_ERROR_BACKOFF);
    schedq_pod_info_t info = fx_info(fixture, result.pod);
    fx_advance(fixture, info.backoff_expiry_ns + SEC(1) - fx_now(fixture));
    assert_ok(schedq_tick(fx_worker(fixture), &next, NULL));
    assert_ok(schedq_worker_unregister(other));
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
}

/* [host] The add of a gated pod stops there. What a host asks for is what it was told of. */
static void
what_find_says_is_gated_is_a_candidate(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.engine = SCHEDQ_ENGINE_LOCKFREE;
    fx_plugin_t *gate = fx_plugin(fixture, "Gate", NULL, 0);
    schedq_worker_t *other;
    schedq_candidate_t out[16];
    schedq_pod_spec_t spec = fx_spec(0);
    const struct incoming_pod pod = {.spec = &spec, .label = LABEL_POD_ADD};
    spec.gate = (uint8_t)gate->gate;
    (void)fx_worker(fixture);
    assert_ok(schedq_worker_register(fixture->queue, &other, NULL, 0));
    stop_behind_the_name(fixture, other, &pod);
    assert_place(fx_find(fixture, "ns/a").place, SCHEDQ_GATED);
    size_t count = hx_collect(fixture, hx_query(0, gate->bit), out, 16, 4);
    assert_ok(schedq_worker_unregister(other));
    assert_int_equal(count, 1);
}

/* Its name may be another pod's, so that its add is refused. */
static void
a_pod_that_was_never_inserted_is_not_moved(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_worker_t *other;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_popped_t popped;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    (void)fx_worker(fixture);
    assert_ok(schedq_worker_register(fixture->queue, &other, NULL, 0));
    const schedq_history_t history = {
        .timestamp_ns = fx_now(fixture), .initial_attempt_ns = fx_now(fixture), .attempts = 1};
    const struct incoming_pod pod = {
        .spec = &spec, .history = &history, .failure = &failure, .label = LABEL_FAILURE};
    uint64_t ref = stop_in_add(fixture, other, &pod, false);
    const schedq_pod_t guess = {ref};
    assert_ok(schedq_activate(fx_worker(fixture), &guess, 1, NULL));
    change.event = SCHEDQ_EVENT_WILDCARD;
    change.target = guess;
    assert_ok(schedq_notify(fx_worker(fixture), &change, NULL));
    assert_status(schedq_try_pop(fx_worker(fixture), &popped), SCHEDQ_EMPTY);
    add_give_up((struct worker *)other, ref, PLACE_ERROR_BACKOFF);
    assert_ok(schedq_worker_unregister(other));
}

/* A watchdog meets a gated pod whose add stopped behind its name: no tick pays for that anew. */
static void
a_gate_is_not_asked_at_each_tick_behind_a_look(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *gate = fx_gate(fixture, "Gate", NULL, 0);
    schedq_pod_spec_t spec = fx_spec(0);
    const struct incoming_pod pod = {.spec = &spec, .label = LABEL_POD_ADD};
    schedq_worker_t *adder, *watchdog;
    schedq_watch_t watch = SCHEDQ_WATCH_INIT;
    schedq_overdue_t overdue[1];
    size_t found;
    int64_t next;
    gate->refuses = true;
    (void)fx_worker(fixture);
    assert_ok(schedq_worker_register(fixture->queue, &adder, NULL, 0));
    assert_ok(schedq_worker_register(fixture->queue, &watchdog, NULL, 0));
    (void)stop_in_add(fixture, adder, &pod, true);
    unsigned asked = gate->gate_calls;
    assert_ok(schedq_watch(watchdog, &watch, overdue, 1, &found));
    for (unsigned i = 0; i < 10; i++)
        assert_ok(schedq_tick(fx_worker(fixture), &next, NULL));
    assert_in_range(gate->gate_calls, asked, asked + 1);
    assert_place(fx_find(fixture, "ns/a").place, SCHEDQ_GATED);
    assert_ok(schedq_worker_unregister(watchdog));
    assert_ok(schedq_worker_unregister(adder));
}

/* What could not be judged for want of memory comes to backoff by a tick, behind its plan. */
static void
a_tick_says_when_it_is_wanted_again(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    int64_t next;
    fx_park(fixture, "ns/a", fit->bit);
    change.event = SCHEDQ_EVENT_NODE_ADD;
    atomic_store(&fixture->memory.fail_all, true);
    assert_status(schedq_notify(fx_worker(fixture), &change, NULL), SCHEDQ_NOMEM);
    (void)account_heal(&fixture->memory);
    assert_ok(schedq_tick(fx_worker(fixture), &next, NULL));
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_BACKOFF);
    assert_ns_equal(next, schedq_words(fixture->queue)->next_deadline_ns);
}

/* ---- a thread that died in a precheck -------------------------------------------------------- */

static schedq_worker_t *mortal;

static int
die(void *ctx, uint64_t pod)
{
    (void)pod;
    pthread_exit(ctx);
}

static void *
move_and_die(void *ctx)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_ASSIGNED_POD_ADD;
    change.precheck = die;
    change.precheck_ctx = ctx;
    (void)schedq_notify(mortal, &change, NULL);
    return NULL;
}

static void
an_adopted_worker_is_not_outside(void **state)
{
    fixture_t *fixture = *state;
    const schedq_interest_t interest = {.resource = "Pod", .actions = SCHEDQ_ACTION_ALL};
    pthread_t thread;
    void *died = NULL;
    fixture->config.requeue = SCHEDQ_REQUEUE_MOVE_CYCLE;
    fx_plugin_t *spread =
        fx_plugin_full(fixture, 0, "PodTopologySpread", SCHEDQ_PLUGIN_SPREAD, &interest, 1, false);
    fx_park(fixture, "ns/a", spread->bit);
    assert_ok(schedq_worker_register(fixture->queue, &mortal, NULL, 0));
    assert_int_equal(pthread_create(&thread, NULL, move_and_die, fixture), 0);
    assert_int_equal(pthread_join(thread, &died), 0);
    assert_ptr_equal(died, fixture);
    assert_ok(schedq_worker_adopt(fixture->queue, mortal));
    bool outside = ((struct worker *)mortal)->outside;
    assert_ok(schedq_worker_unregister(mortal));
    assert_false(outside);
}

/* A thread that finds nothing to pop stops before it looks once more: words.poppable is 0. */
static void
stop_in_pop(fixture_t *fixture)
{
    for (unsigned i = 0; i < 100; i++)
        fx_pop_nothing(fixture);
    u32_store(u32_of(&queue_of_base(fixture->queue)->base.words.poppable), 0);
}

static void
what_backs_off_is_popped_though_another_stopped_in_pop(void **state)
{
    fixture_t *fixture = *state;
    const schedq_interest_t interest = {.resource = "Node", .actions = SCHEDQ_ACTION_ALL};
    fx_plugin_t *fit = fx_plugin_full(fixture, 0, "NodeResourcesFit", 0, &interest, 1, false);
    fx_park(fixture, "ns/a", fit->bit);
    stop_in_pop(fixture);
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    u32_store(u32_of(&queue_of_base(fixture->queue)->base.words.poppable), 0);
    assert_int_equal(fx_pop(fixture, "ns/a").from_backoff, 1);
}

static void
a_pop_that_finds_nothing_gathers_though_another_stopped_in_pop(void **state)
{
    fixture_t *fixture = *state;
    struct queue *queue = queue_of_base(fx_queue(fixture));
    stop_in_pop(fixture);
    stray_leave(queue, STRAY_UNPUBLISHED);
    fx_pop_nothing(fixture);
    assert_int_equal(u64_load(&queue->strays) & STRAY_UNPUBLISHED, 0);
}

/* As another thread does while a pass asks a gate. */
static int
note_in_passing(void *ctx, uint64_t pod)
{
    fixture_t *fixture = ctx;
    (void)pod;
    struct queue *queue = queue_of_base(fx_queue(fixture));
    if (!stray_is_noted(queue, STRAY_NOTES))
        return 0;
    stray_leave(queue, STRAY_UNJUDGED);
    return 0;
}

/* The pass did not come to what that note is about. */
static void
a_note_that_comes_in_a_pass_makes_another_tick_due(void **state)
{
    fixture_t *fixture = *state;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    uint64_t bit;
    plugin.name = "Gate";
    plugin.pre_enqueue = note_in_passing;
    plugin.ctx = fixture;
    assert_ok(schedq_plugin_register(fx_queue(fixture), &plugin, &bit, NULL, 0));
    fx_add(fixture, "ns/a", 0);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_GATED);
    stray_leave(queue_of_base(fx_queue(fixture)), STRAY_UNJUDGED);
    fx_tick(fixture);
    assert_true(schedq_next_deadline(fx_queue(fixture)) <= fx_now(fixture));
}

/* A thread stops in schedq_not_before, or in a pop that keeps a pod back, before its exchange. */
static void
stop_in_not_before(schedq_worker_t *base, schedq_pod_t pod, int64_t time)
{
    struct worker *worker = (struct worker *)base;
    const struct way way = {.place = PLACE_HELD};
    struct transfer transfer;
    struct view view;
    section_begin(worker);
    assert_true(report_handle(queue_of(worker), pod, &view));
    description_set_time(&view.description, time);
    assert_true(transfer_prepare(worker, ref_record(pod.bits), &view, &way, 0, &transfer));
    transfer_publish(worker, &transfer, CAUSE_NONE);
    section_leave(worker);
}

/* A thread stops in schedq_fail, before it hands the pod back. */
static void
stop_in_fail(schedq_worker_t *base, schedq_pod_t pod, int64_t now)
{
    struct worker *worker = (struct worker *)base;
    const struct way way = {.place = PLACE_ERROR_BACKOFF};
    struct transfer transfer;
    struct view view;
    section_begin(worker);
    assert_true(report_handle(queue_of(worker), pod, &view));
    assert_true(transfer_prepare(worker, ref_record(pod.bits), &view, &way, now, &transfer));
    transfer_publish(worker, &transfer, CAUSE_NONE);
    section_leave(worker);
}

static void
a_host_is_told_of_a_pod_whose_failure_stopped(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *other;
    schedq_result_t result;
    fixture->config.decide = SCHEDQ_DECIDE_HOST;
    fixture->config.pop_from_backoff = 0;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    fx_pop(fixture, "ns/a");
    assert_ok(schedq_worker_register(fixture->queue, &other, NULL, 0));
    stop_in_fail(other, pod, fx_now(fixture));
    fx_advance(fixture, SEC(100));
    assert_ok(schedq_tick(fx_worker(fixture), NULL, &result));
    assert_ok(schedq_worker_unregister(other));
    assert_int_equal(result.left, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ERROR_BACKOFF);
}

static void
a_held_pod_is_not_due_by_a_call_that_stopped(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *other;
    int64_t next;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_worker_register(fixture->queue, &other, NULL, 0));
    stop_in_not_before(other, pod, fx_now(fixture) + SEC(1));
    assert_ok(schedq_hold(fx_worker(fixture), pod, NULL));
    fx_advance(fixture, SEC(2));
    assert_ok(schedq_tick(fx_worker(fixture), &next, NULL));
    assert_ok(schedq_tick(fx_worker(fixture), &next, NULL));
    assert_ok(schedq_worker_unregister(other));
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_HELD);
    assert_ns_equal(next, SCHEDQ_NO_DEADLINE);
}

static void
a_pod_is_not_due_by_a_call_that_stopped(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *other;
    int64_t next;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    assert_ok(schedq_worker_register(fixture->queue, &other, NULL, 0));
    stop_in_not_before(other, pod, fx_now(fixture) + SEC(1));
    fx_advance(fixture, SEC(1));
    assert_ok(schedq_tick(fx_worker(fixture), &next, NULL));
    assert_ok(schedq_worker_unregister(other));
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    assert_ns_equal(next, SCHEDQ_NO_DEADLINE);
}

static void
a_pod_in_flight_is_not_due_by_a_failure_that_stopped(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *other;
    int64_t next;
    schedq_pod_t pod = fx_add(fixture, "ns/a", 0);
    fx_pop(fixture, "ns/a");
    assert_ok(schedq_worker_register(fixture->queue, &other, NULL, 0));
    stop_in_not_before(other, pod, fx_now(fixture) + SEC(1));
    fx_advance(fixture, SEC(1));
    assert_ok(schedq_tick(fx_worker(fixture), &next, NULL));
    assert_ok(schedq_worker_unregister(other));
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_INFLIGHT);
    assert_true(next > fx_now(fixture));
}

/* A thread stops that was about to let it go: others must not hold it anew, behind its class. */
/* The class 77 is shut; the scout. */
static schedq_pod_t
shut_class(fixture_t *fixture, schedq_pod_spec_t *spec)
{
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    spec->class_id = 77;
    schedq_pod_t scout = fx_add_spec(fixture, "ns/a", spec).pod;
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
    return scout;
}

static void
a_pod_that_its_class_keeps_back_has_its_turn_though_another_stopped(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *other;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_pod_t scout = shut_class(fixture, &spec);
    schedq_pod_t pod = fx_add_spec(fixture, "ns/b", &spec).pod;
    fx_pop_nothing(fixture);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_HELD);
    assert_ok(schedq_worker_register(fixture->queue, &other, NULL, 0));
    stop_in_not_before(other, pod, fx_now(fixture));
    assert_ok(schedq_tick(fx_worker(fixture), NULL, NULL));
    assert_ok(schedq_delete(fx_worker(fixture), scout, NULL));
    fx_pop(fixture, "ns/b");
    assert_ok(schedq_worker_unregister(other));
}

static void
nothing_is_due(fixture_t *fixture)
{
    int64_t next;
    for (unsigned i = 0; i < 3; i++)
        assert_ok(schedq_tick(fx_worker(fixture), &next, NULL));
    assert_true(next > fx_now(fixture));
}

static void
a_pod_whose_turn_began_and_stopped_is_not_due_for_ever(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *other;
    schedq_pod_spec_t spec = fx_spec(0);
    (void)shut_class(fixture, &spec);
    schedq_pod_t pod = fx_add_spec(fixture, "ns/b", &spec).pod;
    fx_pop_nothing(fixture);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_HELD);
    assert_ok(schedq_worker_register(fixture->queue, &other, NULL, 0));
    stop_in_not_before(other, pod, fx_now(fixture));
    nothing_is_due(fixture);
    fx_pop_nothing(fixture);
    nothing_is_due(fixture);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_HELD);
    assert_ok(schedq_worker_unregister(other));
}

static void
a_pod_that_its_class_keeps_back_is_not_due_by_a_call_that_stopped(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *other;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_pod_t scout = shut_class(fixture, &spec);
    schedq_pod_t pod = fx_add_spec(fixture, "ns/b", &spec).pod;
    assert_ok(schedq_worker_register(fixture->queue, &other, NULL, 0));
    stop_in_not_before(other, pod, fx_now(fixture) + SEC(1));
    fx_pop_nothing(fixture);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_HELD);
    fx_advance(fixture, SEC(1));
    nothing_is_due(fixture);
    fx_pop_nothing(fixture);
    nothing_is_due(fixture);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_HELD);
    assert_ok(schedq_delete(fx_worker(fixture), scout, NULL));
    fx_pop(fixture, "ns/b");
    assert_ok(schedq_worker_unregister(other));
}

/* A thread stops in a registration, behind the exchange that puts its epoch record in the list. */
static void
a_worker_that_joined_unnoted_is_freed_once(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *other;
    assert_ok(schedq_worker_register(fx_queue(fixture), &other, NULL, 0));
    assert_ok(schedq_worker_unregister(other));
    ((struct worker *)other)->joined = false;
}

/* As after many descriptions, and then a thread stops that was about to make the record READY. */
static void
stop_in_group_activate(schedq_worker_t *base)
{
    struct worker *worker = (struct worker *)base;
    const struct way way = {.place = PLACE_READY};
    struct transfer transfer;
    struct group_found found;
    section_begin(worker);
    assert_true(gather_find(worker, GANG, &found));
    uint64_t state = entry_state(found.view.entry);
    while (!state_lag_is_at_end(state))
        state = state_described(state);
    u64_store(&found.view.entry->word.low, state);
    assert_true(gather_find(worker, GANG, &found));
    assert_true(transfer_prepare(worker, found.record, &found.view, &way, 0, &transfer));
    transfer_publish(worker, &transfer, CAUSE_NONE);
    section_leave(worker);
}

static void
a_described_record_is_not_made_active_by_a_call_that_stopped(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *other;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    schedq_result_t result;
    form(fixture, 2, "ab");
    pop(fixture, GANG, "ab");
    fail_all(fixture, fit->bit);
    assert_place(end(fixture, SCHEDQ_GROUP_REJECTED).place, SCHEDQ_PARKED);
    assert_ok(schedq_worker_register(fixture->queue, &other, NULL, 0));
    stop_in_group_activate(other);
    spec.quorum = 2;
    spec.object = GANG * 100 + 1;
    assert_ok(schedq_group_update(fx_worker(fixture), GANG, &spec, &result));
    assert_place(result.place, SCHEDQ_PARKED);
    pop_none(fixture);
    assert_place(look(fixture, GANG).place, SCHEDQ_PARKED);
    assert_true(look(fixture, GANG).object == spec.object);
    assert_int_equal(fx_stats(fixture).groups_at[SCHEDQ_PARKED], 1);
    fx_advance(fixture, SEC(60));
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 1);
    assert_ok(try_pop(fixture));
    assert_int_equal(taken_count, 2);
    assert_ok(schedq_worker_unregister(other));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test_lockfree(a_pod_in_flight_is_not_due_by_a_failure_that_stopped),
        fx_test_lockfree(a_described_record_is_not_made_active_by_a_call_that_stopped),
        fx_test_lockfree(a_held_pod_is_not_due_by_a_call_that_stopped),
        fx_test_lockfree(a_pod_is_not_due_by_a_call_that_stopped),
        fx_test_lockfree(what_find_says_backs_off_is_active_when_its_backoff_is_over),
        fx_test_host(what_find_says_is_gated_is_a_candidate),
        fx_test_lockfree(a_pod_that_was_never_inserted_is_not_moved),
        fx_test_lockfree(a_gate_is_not_asked_at_each_tick_behind_a_look),
        fx_test_lockfree(a_tick_says_when_it_is_wanted_again),
        fx_test_lockfree(an_adopted_worker_is_not_outside),
        fx_test_lockfree(what_backs_off_is_popped_though_another_stopped_in_pop),
        fx_test_lockfree(a_pop_that_finds_nothing_gathers_though_another_stopped_in_pop),
        fx_test_lockfree(a_note_that_comes_in_a_pass_makes_another_tick_due),
        fx_test_lockfree(a_worker_that_joined_unnoted_is_freed_once),
        fx_test_lockfree(a_pod_that_its_class_keeps_back_has_its_turn_though_another_stopped),
        fx_test_lockfree(a_host_is_told_of_a_pod_whose_failure_stopped),
        fx_test_lockfree(a_pod_whose_turn_began_and_stopped_is_not_due_for_ever),
        fx_test_lockfree(a_pod_that_its_class_keeps_back_is_not_due_by_a_call_that_stopped),
    };
    return fx_run_tests(argc, argv, tests);
}
