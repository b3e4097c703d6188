/*
 * Host code in the middle of a call of the lock-free engine, while another thread calls: what a
 * mover that lost leaves behind, how often anything is asked, and what the others may give back
 * meanwhile.
 */
#include <pthread.h>
#include <string.h>

#include <schedq/group.h>

#include "fixture.h"

enum { NEVER = 1 << 30 };

/*
 * A callback stops the call that it is in for `jobs` jobs of another thread, each done before it
 * goes on.
 */
typedef struct scene {
    fixture_t *fixture;
    schedq_worker_t *other; /* the thread's */
    void (*job)(struct scene *scene);
    unsigned jobs, done;
    unsigned asked; /* PreEnqueue */
    unsigned asked_meanwhile;
    unsigned hinted;   /* hints */
    unsigned opens_at; /* the job after which the gate lets pass */
    bool refuses;
    bool second_passes; /* a gate that stops no call */
    schedq_hint_t hint;
    uint64_t fit, gate, fit_of_second;
    uint8_t gate_number;
    schedq_profile_t second;
    schedq_pod_t pod;
    schedq_status_t status;
    schedq_result_t result;
    int64_t grown; /* bytes */
} scene_t;

static scene_t scene;
static _Thread_local bool interrupted;

static void *
do_job(void *unused)
{
    (void)unused;
    interrupted = true; /* no jobs within a job */
    scene.job(&scene);
    return NULL;
}

static void
interrupt(void)
{
    pthread_t thread;
    if (interrupted || scene.jobs == 0)
        return;
    scene.jobs--;
    scene.done++;
    if (scene.done >= scene.opens_at)
        scene.refuses = false;
    assert_int_equal(pthread_create(&thread, NULL, do_job, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static int
gate(void *ctx, uint64_t pod)
{
    (void)ctx;
    (void)pod;
    if (interrupted) {
        scene.asked_meanwhile++;
        return !scene.refuses;
    }
    scene.asked++;
    bool refuses = scene.refuses;
    interrupt();
    return !refuses;
}

static schedq_hint_t
hint(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx;
    (void)pod;
    (void)old_object;
    (void)new_object;
    scene.hinted++;
    if (scene.job != NULL && scene.gate == 0)
        interrupt();
    return scene.hint;
}

static uint64_t
add_plugin(fixture_t *fixture, schedq_profile_t profile, const char *name, uint32_t actions,
           schedq_pre_enqueue_fn pre_enqueue)
{
    schedq_interest_t interest = {.resource = "Node", .actions = actions, .hint = hint};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    uint64_t bit;
    plugin.profile = profile;
    plugin.name = name;
    plugin.interests = &interest;
    plugin.interest_count = 1;
    plugin.pre_enqueue = pre_enqueue;
    assert_ok(schedq_plugin_register(fx_queue(fixture), &plugin, &bit, NULL, 0));
    return bit;
}

/* "Fit" hears of new nodes, "Gate" of deleted ones; a second profile has a "Fit" of its own. */
static void
set_scene(fixture_t *fixture, bool gated)
{
    memset(&scene, 0, sizeof scene);
    scene.fixture = fixture;
    scene.opens_at = NEVER;
    scene.hint = SCHEDQ_HINT_QUEUE;
    scene.fit = add_plugin(fixture, 0, "Fit", SCHEDQ_ACTION_ADD, NULL);
    for (unsigned i = 0; gated && i < 5; i++) {
        char name[] = "Other0";
        name[5] = (char)('0' + i);
        add_plugin(fixture, 0, name, SCHEDQ_ACTION_ADD, NULL);
    }
    if (gated) {
        scene.gate = add_plugin(fixture, 0, "Gate", SCHEDQ_ACTION_DELETE, gate);
        scene.gate_number = 7;
    }
    assert_ok(schedq_profile_define(fx_queue(fixture), "second", &scene.second, NULL, 0));
    scene.fit_of_second = add_plugin(fixture, scene.second, "Fit", SCHEDQ_ACTION_ADD, NULL);
    fx_worker(fixture);
    assert_ok(schedq_worker_register(fixture->queue, &scene.other, NULL, 0));
}

static void
end_scene(void)
{
    assert_int_equal(scene.jobs, 0);
    assert_ok(schedq_worker_unregister(scene.other));
}

static schedq_result_t
move_with(schedq_worker_t *worker, schedq_event_t event, schedq_precheck_fn precheck)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_result_t result;
    change.event = event;
    change.precheck = precheck;
    assert_ok(schedq_notify(worker, &change, &result));
    return result;
}

static int
refuse_all(void *ctx, uint64_t pod)
{
    (void)ctx;
    (void)pod;
    return 0;
}

static schedq_popped_t
pop_with(schedq_worker_t *worker)
{
    schedq_popped_t popped;
    assert_ok(schedq_try_pop(worker, &popped));
    return popped;
}

static schedq_result_t
fail_with(schedq_worker_t *worker, schedq_token_t token, uint64_t rejectors)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;
    failure.unschedulable = rejectors;
    assert_ok(schedq_fail(worker, &token, &failure, &result));
    return result;
}

/* ---- what a mover that lost leaves behind ---- */

static void
activate_and_park_with_an_error(scene_t *own)
{
    schedq_result_t result;
    own->refuses = false;
    assert_ok(schedq_activate(own->other, &own->pod, 1, &result));
    assert_int_equal(result.to_active, 1);
    assert_place(fail_with(own->other, pop_with(own->other).token, 0).place, SCHEDQ_PARKED);
}

static void
a_mover_that_lost_leaves_no_rejector_on_the_same_pod(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.engine = SCHEDQ_ENGINE_LOCKFREE;
    fixture->config.max_backoff_ns = 0;
    set_scene(fixture, true);
    scene.pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_place(fail_with(fx_worker(fixture), popped.token, 0).place, SCHEDQ_PARKED);
    scene.job = activate_and_park_with_an_error;
    scene.refuses = true;
    scene.jobs = 1;
    fx_move(fixture, SCHEDQ_EVENT_NODE_DELETE);
    end_scene();
    /* the event helps any pod that failed with an error */
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    assert_int_equal(fx_find(fixture, "ns/a").unschedulable, 0);
}

static void
replace_by_a_pod_of_another_profile(scene_t *own)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.profile = own->second;
    assert_ok(schedq_delete(own->other, own->pod, NULL));
    assert_ok(schedq_add(own->other, "ns/b", 4, &spec, &own->result));
    fail_with(own->other, pop_with(own->other).token, own->fit_of_second);
}

static void
a_mover_that_lost_leaves_no_rejector_on_the_records_next_pod(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_backoff_ns = 0;
    set_scene(fixture, true);
    scene.pod = fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fail_with(fx_worker(fixture), popped.token, scene.fit);
    scene.job = replace_by_a_pod_of_another_profile;
    scene.refuses = true;
    scene.jobs = 1;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    end_scene();
    assert_int_equal(fx_find(fixture, "ns/b").unschedulable, scene.fit_of_second);
}

/* A gate that the first pod passes and the second does not. */
static int
gate_of_the_second(void *ctx, uint64_t pod)
{
    (void)ctx;
    if (pod == 2)
        return 0;
    interrupt();
    return 1;
}

static void
replace_by_a_gated_pod(scene_t *own)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 2;
    assert_ok(schedq_delete(own->other, own->pod, NULL));
    fx_advance(own->fixture, SEC(3));
    assert_ok(schedq_add(own->other, "ns/b", 4, &spec, &own->result));
    own->pod = own->result.pod;
}

static void
a_mover_that_lost_leaves_no_first_attempt_on_the_records_next_pod(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_backoff_ns = 0;
    memset(&scene, 0, sizeof scene);
    scene.fixture = fixture;
    scene.opens_at = NEVER;
    scene.hint = SCHEDQ_HINT_QUEUE;
    scene.fit = add_plugin(fixture, 0, "Fit", SCHEDQ_ACTION_ADD, NULL);
    scene.gate = add_plugin(fixture, 0, "Gate", SCHEDQ_ACTION_ADD, gate_of_the_second);
    fx_worker(fixture);
    assert_ok(schedq_worker_register(fixture->queue, &scene.other, NULL, 0));
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 1;
    scene.pod = fx_add_spec(fixture, "ns/a", &spec).pod;
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fail_with(fx_worker(fixture), popped.token, scene.fit);
    scene.job = replace_by_a_gated_pod;
    scene.jobs = 1;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    end_scene();
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_GATED);
    assert_ns_equal(fx_info(fixture, scene.pod).history.initial_attempt_ns, 0);
}

/* ---- how often anything is asked ---- */

static void
report_a_node(scene_t *own)
{
    move_with(own->other, SCHEDQ_EVENT_NODE_ADD, refuse_all);
}

static void
report_a_deletion(scene_t *own)
{
    move_with(own->other, SCHEDQ_EVENT_NODE_DELETE, refuse_all);
}

static void
a_failure_judges_each_event_once(void **state)
{
    fixture_t *fixture = *state;
    enum { BEFORE = 100, MEANWHILE = 60 };
    set_scene(fixture, false);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    for (unsigned i = 0; i < BEFORE; i++)
        move_with(scene.other, SCHEDQ_EVENT_NODE_ADD, NULL);
    scene.hint = SCHEDQ_HINT_SKIP;
    scene.hinted = 0;
    scene.job = report_a_node;
    scene.jobs = MEANWHILE;
    assert_place(fail_with(fx_worker(fixture), popped.token, scene.fit).place, SCHEDQ_PARKED);
    end_scene();
    assert_int_equal(scene.hinted, BEFORE + MEANWHILE);
}

/* Each question of a gate is answered by an event that the gate hears of. */
static void
expect_questions(unsigned at_most)
{
    scene.jobs = 0;
    assert_in_range(scene.asked, 1, at_most);
    end_scene();
}

static void
an_add_asks_a_gate_thrice_at_most(void **state)
{
    fixture_t *fixture = *state;
    set_scene(fixture, true);
    scene.refuses = true;
    scene.job = report_a_deletion;
    scene.jobs = 1000;
    fx_add(fixture, "ns/a", 0);
    expect_questions(3);
}

static void
an_event_asks_a_gate_thrice_at_most(void **state)
{
    fixture_t *fixture = *state;
    set_scene(fixture, true);
    fixture->config.max_backoff_ns = 0;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fail_with(fx_worker(fixture), popped.token, scene.fit);
    fx_advance(fixture, SEC(60));
    scene.refuses = true;
    scene.job = report_a_deletion;
    scene.jobs = 1000;
    scene.asked = 0;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_GATED);
    expect_questions(3);
}

static void
a_tick_asks_a_gate_thrice_at_most(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_parked_ns = SEC(60);
    set_scene(fixture, true);
    scene.refuses = true;
    fx_add(fixture, "ns/a", 0);
    scene.job = report_a_deletion;
    scene.jobs = 1000;
    scene.asked = 0;
    fx_advance(fixture, SEC(61));
    fx_tick(fixture);
    expect_questions(3);
}

static void
a_tick_asks_a_gate_thrice_at_most_after_backoff(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.engine = SCHEDQ_ENGINE_LOCKFREE;
    set_scene(fixture, true);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    move_with(scene.other, SCHEDQ_EVENT_NODE_ADD, NULL);
    assert_place(fail_with(fx_worker(fixture), popped.token, scene.fit).place, SCHEDQ_BACKOFF);
    scene.refuses = true;
    scene.job = report_a_deletion;
    scene.jobs = 1000;
    scene.asked = 0;
    fx_pass(fixture, SEC(61));
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_GATED);
    expect_questions(3);
}

static void
an_activation_asks_a_gate_thrice_at_most(void **state)
{
    fixture_t *fixture = *state;
    set_scene(fixture, true);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_pod_t pod = fail_with(fx_worker(fixture), popped.token, scene.fit).pod;
    scene.refuses = true;
    scene.job = report_a_deletion;
    scene.jobs = 1000;
    scene.asked = 0;
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_GATED);
    expect_questions(3);
}

static void
a_failure_asks_a_gate_thrice_at_most(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_backoff_ns = 0;
    set_scene(fixture, true);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    scene.refuses = true;
    scene.job = report_a_deletion;
    scene.jobs = 1000;
    scene.asked = 0;
    assert_place(fail_with(fx_worker(fixture), popped.token, 0).place, SCHEDQ_GATED);
    expect_questions(3);
}

static void
report_to_all(scene_t *own)
{
    move_with(own->other, SCHEDQ_EVENT_NODE_DELETE, NULL);
}

/*
 * The gate opens with the `last` event, which is missed by nobody: the pod gets in without another
 * one.
 */
static void
tick_often(scene_t *own)
{
    for (unsigned i = 0; i < 50; i++) {
        int64_t next;
        assert_ok(schedq_tick(own->other, &next, NULL));
    }
}

/* It is the last one that its group needs: each tick completes the group, if it is not. */
static void
ticks_ask_little_while_a_member_stops_in_its_gate(void **state)
{
    enum { MEMBERS = 10 };
    fixture_t *fixture = *state;
    set_scene(fixture, true);
    schedq_group_spec_t group = SCHEDQ_GROUP_SPEC_INIT;
    group.quorum = MEMBERS;
    assert_ok(schedq_group_add(fx_worker(fixture), 5, &group, NULL));
    scene.refuses = true;
    scene.job = tick_often;
    scene.jobs = 1;
    for (unsigned i = 0; i < MEMBERS; i++) {
        schedq_pod_spec_t spec = fx_spec(0);
        char name[] = "ns/0";
        name[3] = (char)('0' + i);
        spec.group = 5;
        (void)fx_add_spec(fixture, name, &spec);
    }
    assert_in_range(scene.asked_meanwhile, 1, 3 * MEMBERS);
    end_scene();
}

static void
no_event_is_missed_that_comes_while_a_gate_is_asked(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_backoff_ns = 0;
    set_scene(fixture, true);
    for (unsigned last = 1; last <= 4; last++) {
        char name[] = "ns/0";
        name[3] = (char)('0' + last);
        scene.refuses = false;
        scene.jobs = 0;
        fx_add(fixture, name, 0);
        schedq_popped_t popped = fx_pop(fixture, name);
        fail_with(fx_worker(fixture), popped.token, scene.fit);
        scene.refuses = true;
        scene.job = report_to_all;
        scene.done = 0;
        scene.opens_at = last;
        scene.jobs = last;
        fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
        unsigned left = scene.jobs;
        scene.jobs = 0;
        /* it was not asked so often: it is gated, and the events find it */
        for (; left > 0; left--) {
            scene.refuses = left > 1;
            move_with(scene.other, SCHEDQ_EVENT_NODE_DELETE, NULL);
        }
        assert_place(fx_place(fixture, name), SCHEDQ_ACTIVE);
        popped = fx_pop(fixture, name);
        fx_done(fixture, &popped);
    }
    end_scene();
}

static int
second_gate(void *ctx, uint64_t pod)
{
    (void)ctx;
    (void)pod;
    return scene.second_passes;
}

/*
 * An event, so that the gates have to be asked again; then, while they are, the pod passes them and
 * fails.
 */
static void
report_then_back_off(scene_t *own)
{
    schedq_result_t result;
    if (own->done == 1) {
        report_to_all(own);
        return;
    }
    assert_ok(schedq_find(own->other, "ns/a", 4, &result));
    assert_ok(schedq_activate(own->other, &result.pod, 1, NULL));
    assert_place(fail_with(own->other, pop_with(own->other).token, 0).place, SCHEDQ_ERROR_BACKOFF);
    own->second_passes = false;
}

/* Gates are asked before backoff. */
static void
a_question_that_an_add_owes_is_not_asked_in_backoff(void **state)
{
    fixture_t *fixture = *state;
    add_plugin(fixture, 0, "SecondGate", SCHEDQ_ACTION_DELETE, second_gate);
    set_scene(fixture, true);
    scene.second_passes = true;
    scene.refuses = true;
    scene.opens_at = 1;
    scene.job = report_then_back_off;
    scene.jobs = 2;
    fx_add(fixture, "ns/a", 0);
    end_scene();
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ERROR_BACKOFF);
}

/* Two gates, of which one refuses; which, the other thread decides. */
static bool first_refuses;

static int
first_of_two(void *ctx, uint64_t pod)
{
    (void)ctx;
    (void)pod;
    bool refuses = first_refuses && !scene.second_passes;
    if (refuses)
        interrupt();
    return !refuses;
}

static int
second_of_two(void *ctx, uint64_t pod)
{
    (void)ctx;
    (void)pod;
    bool refuses = !first_refuses && !scene.second_passes;
    if (refuses)
        interrupt();
    return !refuses;
}

/* The gate that refuses opens and says so, the other one shuts; with the last job both are open. */
static void
open_one_and_shut_the_other(scene_t *own)
{
    const schedq_event_t event = first_refuses ? SCHEDQ_EVENT_NODE_DELETE : SCHEDQ_EVENT_NODE_ADD;
    first_refuses = !first_refuses;
    own->second_passes = own->jobs == 0;
    move_with(own->other, event, NULL);
}

/* The event that opened the last gate came before the pod was behind that gate. */
static void
a_pod_that_was_asked_about_often_enough_makes_a_tick_due(void **state)
{
    fixture_t *fixture = *state;
    add_plugin(fixture, 0, "First", SCHEDQ_ACTION_DELETE, first_of_two);
    add_plugin(fixture, 0, "Second", SCHEDQ_ACTION_ADD, second_of_two);
    set_scene(fixture, false);
    for (unsigned jobs = 1; jobs <= 8; jobs++) {
        char name[] = "ns/0";
        name[3] = (char)('0' + jobs);
        first_refuses = true;
        scene.second_passes = false;
        scene.job = open_one_and_shut_the_other;
        scene.jobs = jobs;
        fx_add(fixture, name, 0);
        if (scene.jobs > 0) { /* it was not asked so often: the next event finds it */
            scene.jobs = 0;
            open_one_and_shut_the_other(&scene);
        }
        if (fx_stats(fixture).active < jobs) { /* a look at the pod itself would ask its gates */
            assert_true(schedq_next_deadline(fx_queue(fixture)) <= fx_now(fixture));
            fx_tick(fixture);
        }
        assert_place(fx_place(fixture, name), SCHEDQ_ACTIVE);
    }
    end_scene();
}

/* A tick asks about a pod whose time has come, too, and then plans the next tick. */
static void
a_tick_that_asked_often_enough_leaves_no_pod_unasked(void **state)
{
    fixture_t *fixture = *state;
    add_plugin(fixture, 0, "First", SCHEDQ_ACTION_DELETE, first_of_two);
    add_plugin(fixture, 0, "Second", SCHEDQ_ACTION_ADD, second_of_two);
    set_scene(fixture, false);
    for (unsigned jobs = 1; jobs <= 8; jobs++) {
        char name[] = "ns/0";
        name[3] = (char)('0' + jobs);
        schedq_pod_spec_t spec = fx_spec(0);
        spec.object = jobs;
        spec.not_before_ns = fx_now(fixture) + SEC(1);
        scene.second_passes = true;
        first_refuses = true;
        fx_add_spec(fixture, name, &spec);
        scene.second_passes = false;
        scene.job = open_one_and_shut_the_other;
        scene.jobs = jobs;
        fx_pass(fixture, SEC(1));
        if (scene.jobs > 0) { /* it was not asked so often: the next event finds it */
            scene.jobs = 0;
            open_one_and_shut_the_other(&scene);
        }
        if (fx_stats(fixture).active < jobs) { /* a look at the pod itself would ask its gates */
            assert_true(schedq_next_deadline(fx_queue(fixture)) <= fx_now(fixture));
            fx_tick(fixture);
        }
        assert_place(fx_place(fixture, name), SCHEDQ_ACTIVE);
    }
    end_scene();
}

/* A tick that found no memory to ask says so, and that another is due. */
static void
a_question_that_finds_no_memory_is_not_answered_ok(void **state)
{
    fixture_t *fixture = *state;
    unsigned found_none = 0;
    add_plugin(fixture, 0, "First", SCHEDQ_ACTION_DELETE, first_of_two);
    add_plugin(fixture, 0, "Second", SCHEDQ_ACTION_ADD, second_of_two);
    set_scene(fixture, false);
    for (unsigned site = 0; site < 10; site++) {
        char name[] = "ns/0";
        name[3] = (char)('0' + site);
        schedq_pod_spec_t spec = fx_spec((int32_t)site); /* a band that has no memory yet */
        first_refuses = true;
        scene.second_passes = false;
        scene.job = open_one_and_shut_the_other;
        scene.jobs = 3;
        spec.object = site + 1;
        fx_add_spec(fixture, name, &spec);
        assert_true(schedq_next_deadline(fx_queue(fixture)) <= fx_now(fixture));
        account_fail_after(&fixture->memory, site);
        int64_t next = SCHEDQ_NO_DEADLINE;
        schedq_status_t status = schedq_tick(fx_worker(fixture), &next, NULL);
        (void)account_heal(&fixture->memory);
        if (status != SCHEDQ_OK) {
            found_none++;
            assert_status(status, SCHEDQ_NOMEM);
            assert_true(next <= fx_now(fixture) + MS(500));
            assert_true(schedq_next_deadline(fx_queue(fixture)) <= next);
            fx_tick(fixture);
        }
        assert_place(fx_place(fixture, name), SCHEDQ_ACTIVE);
        assert_true(schedq_next_deadline(fx_queue(fixture)) > fx_now(fixture));
    }
    assert_true(found_none > 0);
    end_scene();
}

static void
open_the_first_and_shut_the_second(scene_t *own)
{
    first_refuses = false;
    move_with(own->other, SCHEDQ_EVENT_NODE_DELETE, NULL);
}

/* The pod is behind the first gate when the second one refuses it, and there is no memory. */
static void
a_tick_without_memory_forgets_no_question(void **state)
{
    fixture_t *fixture = *state;
    unsigned found_none = 0;
    add_plugin(fixture, 0, "First", SCHEDQ_ACTION_DELETE, first_of_two);
    add_plugin(fixture, 0, "Second", SCHEDQ_ACTION_ADD, second_of_two);
    set_scene(fixture, false);
    for (unsigned site = 0; site < 16; site++) {
        char name[] = "ns/a";
        name[3] = (char)('a' + site);
        schedq_pod_spec_t spec = fx_spec(0);
        spec.object = site + 1;
        spec.not_before_ns = fx_now(fixture) + SEC(1);
        scene.second_passes = true;
        fx_add_spec(fixture, name, &spec);
        scene.second_passes = false;
        first_refuses = true;
        scene.job = open_the_first_and_shut_the_second;
        scene.jobs = 1;
        fx_advance(fixture, SEC(1));
        account_fail_after(&fixture->memory, site);
        schedq_status_t status = schedq_tick(fx_worker(fixture), NULL, NULL);
        (void)account_heal(&fixture->memory);
        if (status != SCHEDQ_OK) {
            found_none++;
            assert_status(status, SCHEDQ_NOMEM);
            fx_advance(fixture, MS(500));
            fx_tick(fixture);
        }
        scene.second_passes = true;
        move_with(scene.other, SCHEDQ_EVENT_NODE_ADD, NULL);
        fx_pop(fixture, name);
        assert_ok(schedq_delete_name(fx_worker(fixture), name, sizeof name - 1, NULL));
        assert_ok(schedq_trim(fixture->queue));
    }
    assert_true(found_none > 0);
    end_scene();
}

/*
 * Each job but the last changes the pod, and the gate that refuses it; the last but one opens both.
 * The last one looks for pods, and so for notes.
 */
static void
change_the_pod_then_look_for_pods(scene_t *own)
{
    schedq_popped_t popped;
    if (own->jobs == 0) {
        assert_status(schedq_try_pop(own->other, &popped), SCHEDQ_EMPTY);
        return;
    }
    first_refuses = !first_refuses;
    own->second_passes = own->jobs == 1;
    assert_ok(schedq_nominate(own->other, own->pod, own->jobs));
}

/* While the call that asked often enough leaves its note: the only wake-up behind the changes. */
static void
interrupting_wake(void *ctx)
{
    (void)ctx;
    if (scene.jobs == 1)
        interrupt();
}

/* Neither gate ever heard of an event. */
static void
a_note_that_is_taken_before_the_pod_is_gated_is_left_again(void **state)
{
    fixture_t *fixture = *state;
    add_plugin(fixture, 0, "First", SCHEDQ_ACTION_DELETE, first_of_two);
    add_plugin(fixture, 0, "Second", SCHEDQ_ACTION_ADD, second_of_two);
    assert_ok(schedq_wait_callback(fx_queue(fixture), interrupting_wake, NULL, NULL, 0));
    set_scene(fixture, false);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.not_before_ns = fx_now(fixture) + SEC(1);
    first_refuses = true;
    scene.second_passes = true;
    scene.pod = fx_add_spec(fixture, "ns/a", &spec).pod;
    fx_pop_nothing(fixture);
    scene.second_passes = false;
    scene.job = change_the_pod_then_look_for_pods;
    scene.jobs = 4;
    fx_pass(fixture, SEC(1));
    assert_true(schedq_next_deadline(fx_queue(fixture)) <= fx_now(fixture));
    fx_tick(fixture);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    end_scene();
}

/* ---- what the others may give back ---- */

static uint64_t
bytes_of(const fixture_t *fixture)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    assert_ok(schedq_stats(fixture->queue, &stats));
    return stats.bytes_entries + stats.bytes_names + stats.bytes_index + stats.bytes_queues +
           stats.bytes_other;
}

/*
 * Nominations replace arrays, parked pods that are deleted fill segments: both wait for a grace
 * period.
 */
static void
work(scene_t *own, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++) {
        schedq_pod_spec_t spec = fx_spec(1000);
        schedq_result_t result;
        spec.object = 77;
        assert_ok(schedq_add(own->other, "work/pod", 8, &spec, &result));
        assert_ok(schedq_nominate(own->other, result.pod, 1 + i % 3));
        fail_with(own->other, pop_with(own->other).token, own->fit);
        assert_ok(schedq_delete(own->other, result.pod, NULL));
    }
}

static void
work_long(scene_t *own)
{
    work(own, 2000); /* what is needed once is there then */
    uint64_t before = bytes_of(own->fixture);
    work(own, 20000);
    own->grown = (int64_t)(bytes_of(own->fixture) - before);
}

/* The next callback does not return before the other thread has worked. */
static void
stop_in_callback(void)
{
    scene.hinted = scene.asked = 0;
    scene.grown = INT64_MAX;
    scene.job = work_long;
    scene.jobs = 1;
}

static void
expect_flat(void)
{
    assert_int_equal(scene.jobs, 0);
    assert_in_range(scene.grown + (1 << 16), 0, 1 << 17);
}

static void
memory_is_flat_while_a_gate_is_asked(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.max_parked_ns = SEC(60);
    set_scene(fixture, true);
    stop_in_callback();
    fx_add(fixture, "ns/a", 0); /* add */
    expect_flat();
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    schedq_pod_t pod = fail_with(fx_worker(fixture), popped.token, scene.fit).pod;
    stop_in_callback();
    assert_ok(schedq_activate(fx_worker(fixture), &pod, 1, NULL));
    expect_flat();
    popped = fx_pop(fixture, "ns/a");
    fail_with(fx_worker(fixture), popped.token, scene.fit);
    stop_in_callback();
    fx_advance(fixture, SEC(30));
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    expect_flat();
    popped = fx_pop(fixture, "ns/a");
    fail_with(fx_worker(fixture), popped.token, scene.fit);
    stop_in_callback();
    fx_pass(fixture, SEC(61)); /* the limit */
    expect_flat();
    end_scene();
}

static void
memory_is_flat_while_a_hint_is_asked(void **state)
{
    fixture_t *fixture = *state;
    set_scene(fixture, false);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    move_with(scene.other, SCHEDQ_EVENT_NODE_ADD, NULL);
    scene.hint = SCHEDQ_HINT_SKIP;
    stop_in_callback();
    fail_with(fx_worker(fixture), popped.token, scene.fit);
    expect_flat();
    stop_in_callback();
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    expect_flat();
    end_scene();
}

static int
precheck_that_stops(void *ctx, uint64_t pod)
{
    (void)ctx;
    (void)pod;
    interrupt();
    return 0;
}

static void
memory_is_flat_while_a_precheck_is_asked(void **state)
{
    fixture_t *fixture = *state;
    set_scene(fixture, false);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fail_with(fx_worker(fixture), popped.token, scene.fit);
    stop_in_callback();
    move_with(fx_worker(fixture), SCHEDQ_EVENT_NODE_ADD, precheck_that_stops);
    expect_flat();
    end_scene();
}

/* ---- memory that is used again meanwhile ---- */

/* Blocks that were given back, the last one first: what is made next has their addresses. */
typedef struct kept {
    struct kept *next;
    size_t bytes;
} kept_t;

static schedq_allocator_t source;
static kept_t *kept;
static bool keeps;

static void *
alloc_again(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    kept_t **at = &kept;
    while (*at != NULL && (*at)->bytes != bytes)
        at = &(*at)->next;
    kept_t *found = *at;
    if (found == NULL)
        return source.alloc(source.ctx, bytes, align);
    *at = found->next;
    return found;
}

static void
keep_block(void *ctx, void *memory, size_t bytes)
{
    (void)ctx;
    kept_t *block = memory;
    if (!keeps || memory == NULL || bytes < sizeof *block) {
        source.free(source.ctx, memory, bytes);
        return;
    }
    block->bytes = bytes;
    block->next = kept;
    kept = block;
}

static void
keep_what_is_given_back(fixture_t *fixture)
{
    source = fixture->config.allocator;
    fixture->config.allocator = (schedq_allocator_t){.alloc = alloc_again, .free = keep_block};
    keeps = true;
}

static void
keep_nothing(void)
{
    keeps = false;
    while (kept != NULL) {
        kept_t *block = kept;
        kept = block->next;
        source.free(source.ctx, block, block->bytes);
    }
}

/* A priority that no pod has leaves in two trims, and its memory after a third. */
static void
trim_often(schedq_t *queue)
{
    for (unsigned i = 0; i < 4; i++)
        assert_ok(schedq_trim(queue));
}

/* While the gate is asked about the second pod. */
static void
replace_the_band_of_the_first(scene_t *own)
{
    if (own->done < 2)
        return;
    schedq_pod_spec_t spec = fx_spec(30);
    trim_often(fx_queue(own->fixture));
    assert_ok(schedq_add(own->other, "ns/high-2", 9, &spec, NULL));
}

static void
a_band_at_the_address_of_one_that_left_is_another(void **state)
{
    fixture_t *fixture = *state;
    keep_what_is_given_back(fixture);
    set_scene(fixture, true);
    const schedq_pod_t pods[] = {fx_park(fixture, "ns/low", scene.fit),
                                 fx_park(fixture, "ns/high-1", scene.fit)};
    schedq_pod_spec_t low = fx_spec(10), high = fx_spec(30);
    assert_ok(schedq_update(fx_worker(fixture), "ns/low", 6, &low, 0, NULL, 0, NULL));
    assert_ok(schedq_update(fx_worker(fixture), "ns/high-1", 9, &high, 0, NULL, 0, NULL));
    trim_often(fx_queue(fixture));
    scene.job = replace_the_band_of_the_first;
    scene.jobs = 2;
    assert_ok(schedq_activate(fx_worker(fixture), pods, 2, NULL));
    end_scene();
    fx_add(fixture, "ns/middle", 20);
    fx_pop(fixture, "ns/high-1");
    fx_pop(fixture, "ns/high-2");
    fx_pop(fixture, "ns/middle");
    fx_pop(fixture, "ns/low");
    keep_nothing();
}

/* ---- a nomination between a hint's answer and the move ---- */

/* The first pod's hint said yes, the second one's is asked; from now on all say no. */
static void
nominate_at_the_second_hint(scene_t *own)
{
    if (own->done == 2) {
        assert_ok(schedq_nominate(own->other, own->pod, 1));
        own->hint = SCHEDQ_HINT_SKIP;
    }
}

/* What the event told of the pod is what becomes of it: no later look brings it elsewhere. */
static void
a_pod_that_is_nominated_while_it_moves_is_where_the_event_left_it(void **state)
{
    fixture_t *fixture = *state;
    set_scene(fixture, false);
    scene.pod = fx_add(fixture, "ns/a", 0);
    fail_with(fx_worker(fixture), fx_pop(fixture, "ns/a").token, scene.fit);
    fx_add(fixture, "ns/b", 0);
    fail_with(fx_worker(fixture), fx_pop(fixture, "ns/b").token, scene.fit);
    fx_advance(fixture, SEC(60));
    scene.job = nominate_at_the_second_hint;
    scene.jobs = 2;
    schedq_result_t result = fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    end_scene();
    assert_int_equal(result.to_active, 1);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
    fx_pop(fixture, "ns/a");
    fx_pop_nothing(fixture);
}

static void
nominate_and_shut(scene_t *own)
{
    own->refuses = true;
    assert_ok(schedq_nominate(own->other, own->pod, 1));
}

static void
a_pod_that_is_nominated_while_its_gate_is_asked_is_let_in(void **state)
{
    fixture_t *fixture = *state;
    const schedq_event_t event = SCHEDQ_EVENT_NODE_DELETE;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_result_t result;
    fixture->config.max_backoff_ns = 0;
    set_scene(fixture, true);
    scene.pod = fx_park(fixture, "ns/a", scene.fit);
    scene.refuses = true;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_GATED);
    scene.refuses = false;
    scene.job = nominate_and_shut;
    scene.jobs = 1;
    assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, &event, 1, &result));
    end_scene();
    assert_place(result.place, SCHEDQ_ACTIVE);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_ACTIVE);
}

/* ---- [host] an event while a pod is added ---- */

typedef schedq_status_t (*add_fn)(const schedq_pod_spec_t *spec, schedq_result_t *result);

static void *
alloc_and_interrupt(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    interrupt();
    return source.alloc(source.ctx, bytes, align);
}

static void
stamp_the_gate(scene_t *own)
{
    uint64_t sequence;
    assert_ok(schedq_event_begin(own->other, &sequence));
    assert_ok(schedq_event_stamp(own->other, sequence, 0, own->fit));
}

/*
 * The first allocation of `add` comes when the stamp of the gate was looked at, before the pod is
 * there.
 */
static void
stamp_a_gate_during(fixture_t *fixture, add_fn add)
{
    memset(&scene, 0, sizeof scene);
    scene.fixture = fixture;
    fixture->config.decide = SCHEDQ_DECIDE_HOST;
    source = fixture->config.allocator;
    fixture->config.allocator =
        (schedq_allocator_t){.alloc = alloc_and_interrupt, .free = keep_block};
    scene.fit = fx_plugin(fixture, "Gate", "Node", SCHEDQ_ACTION_ADD)->bit;
    scene.gate_number = 1;
    fx_worker(fixture);
    assert_ok(schedq_worker_register(fixture->queue, &scene.other, NULL, 0));
    scene.job = stamp_the_gate;
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = 7;
    spec.gate = scene.gate_number;
    stamp_the_gate(&scene);
    schedq_result_t result;
    assert_status(add(&spec, &result), SCHEDQ_RETRY); /* at once; its room is taken by now */
    spec.judged_up_to = result.sequence;
    scene.jobs = 1;
    assert_status(add(&spec, &result), SCHEDQ_RETRY);
    assert_int_equal(scene.done, 1);
    assert_true(result.sequence > spec.judged_up_to);
    const schedq_result_t expected = {.sequence = result.sequence};
    assert_memory_equal(&result, &expected, sizeof result);
    assert_place(fx_place(fixture, "ns/a"), SCHEDQ_NOWHERE);
    assert_place(fx_place(fixture, "ns/b"), SCHEDQ_NOWHERE);
    spec.judged_up_to = result.sequence;
    assert_ok(add(&spec, &result));
    assert_true(result.to_gated > 0);
    assert_int_equal(fx_stats(fixture).gated, result.to_gated);
    end_scene();
}

static schedq_status_t
add_one(const schedq_pod_spec_t *spec, schedq_result_t *result)
{
    return schedq_add(fx_worker(scene.fixture), "ns/a", 4, spec, result);
}

static schedq_status_t
add_by_update(const schedq_pod_spec_t *spec, schedq_result_t *result)
{
    schedq_pod_spec_t own = *spec;
    own.flags = SCHEDQ_POD_ADD;
    return schedq_update(fx_worker(scene.fixture), "ns/a", 4, &own, 0, NULL, 0, result);
}

static schedq_status_t
add_again(const schedq_pod_spec_t *spec, schedq_result_t *result)
{
    const schedq_history_t history = {.attempts = 1};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_pod_spec_t own = *spec;
    own.gate = 0;
    failure.place = SCHEDQ_GATED;
    failure.gate = spec->gate;
    failure.judged_up_to = spec->judged_up_to;
    return schedq_readd(fx_worker(scene.fixture), "ns/a", 4, &own, &history, &failure, result);
}

static schedq_status_t
add_two(const schedq_pod_spec_t *spec, schedq_result_t *result)
{
    schedq_add_item_t items[2] = {fx_item(0, 4, 0), fx_item(5, 4, 0)};
    items[0].spec = items[1].spec = *spec;
    return schedq_add_many(fx_worker(scene.fixture), "ns/a ns/b", 9, items, 2, NULL, NULL, result);
}

static void
a_pod_that_is_taken_back_is_not_told_of(void **state)
{
    stamp_a_gate_during(*state, add_one);
}

static void
nor_is_one_that_an_update_adds(void **state)
{
    stamp_a_gate_during(*state, add_by_update);
}

static void
nor_is_one_that_comes_back(void **state)
{
    stamp_a_gate_during(*state, add_again);
}

static void
nor_are_those_of_a_batch(void **state)
{
    stamp_a_gate_during(*state, add_two);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test_1_26(a_mover_that_lost_leaves_no_rejector_on_the_same_pod),
        fx_test_lockfree(a_mover_that_lost_leaves_no_rejector_on_the_records_next_pod),
        fx_test_lockfree(a_mover_that_lost_leaves_no_first_attempt_on_the_records_next_pod),
        fx_test_lockfree(a_failure_judges_each_event_once),
        fx_test_lockfree(an_add_asks_a_gate_thrice_at_most),
        fx_test_lockfree(an_event_asks_a_gate_thrice_at_most),
        fx_test_lockfree(a_tick_asks_a_gate_thrice_at_most),
        fx_test_1_26(a_tick_asks_a_gate_thrice_at_most_after_backoff),
        fx_test_lockfree(an_activation_asks_a_gate_thrice_at_most),
        fx_test_lockfree(a_failure_asks_a_gate_thrice_at_most),
        fx_test_lockfree(ticks_ask_little_while_a_member_stops_in_its_gate),
        fx_test_lockfree(no_event_is_missed_that_comes_while_a_gate_is_asked),
        fx_test_lockfree(a_question_that_an_add_owes_is_not_asked_in_backoff),
        fx_test_lockfree(a_pod_that_was_asked_about_often_enough_makes_a_tick_due),
        fx_test_lockfree(a_tick_that_asked_often_enough_leaves_no_pod_unasked),
        fx_test_lockfree(a_question_that_finds_no_memory_is_not_answered_ok),
        fx_test_lockfree(a_tick_without_memory_forgets_no_question),
        fx_test_lockfree(a_note_that_is_taken_before_the_pod_is_gated_is_left_again),
        fx_test_lockfree(memory_is_flat_while_a_gate_is_asked),
        fx_test_lockfree(memory_is_flat_while_a_hint_is_asked),
        fx_test_lockfree(memory_is_flat_while_a_precheck_is_asked),
        fx_test_lockfree(a_band_at_the_address_of_one_that_left_is_another),
        fx_test_lockfree(a_pod_that_is_nominated_while_it_moves_is_where_the_event_left_it),
        fx_test_lockfree(a_pod_that_is_nominated_while_its_gate_is_asked_is_let_in),
        fx_test_lockfree(a_pod_that_is_taken_back_is_not_told_of),
        fx_test_lockfree(nor_is_one_that_an_update_adds),
        fx_test_lockfree(nor_is_one_that_comes_back),
        fx_test_lockfree(nor_are_those_of_a_batch),
    };
    return fx_run_tests(argc, argv, tests);
}
