/*
 * What callers are told of a pod whose gates another thread owes a question: the truth, after a
 * bounded number of questions.
 */
#include <pthread.h>
#include <schedq/group.h>
#include <schedq/hold.h>
#include <string.h>

#include "fixture.h"

enum { GATES = 2, BLOCKED = 1, FREE = 2, ENOUGH = 100 };

typedef struct scene {
    fixture_t *fixture;
    schedq_worker_t *teller, *other; /* of the threads */
    uint64_t fit;
    /* 0: refuses; `gate` counts from 0; the thread's number is `who` */
    int (*answer)(unsigned gate, uint64_t pod);
    void (*released)(uint64_t object);
    bool open[GATES];
    unsigned asked[3];         /* by thread */
    unsigned questions[GATES]; /* of the teller, by gate */
    schedq_result_t told;
    schedq_status_t status;
    int32_t priority, popped;
    schedq_pod_t blocked;
} scene_t;

static scene_t scene;
static _Thread_local unsigned who; /* 0: the main thread */

static int
gate(void *ctx, uint64_t pod)
{
    scene.asked[who]++;
    if (who == 1)
        scene.questions[(uintptr_t)ctx]++;
    return scene.answer((unsigned)(uintptr_t)ctx, pod);
}

static schedq_hint_t
hint(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx;
    (void)pod;
    (void)old_object;
    (void)new_object;
    return SCHEDQ_HINT_QUEUE;
}

static uint64_t
add_plugin(fixture_t *fixture, const char *name, const char *resource, uint32_t actions, void *ctx,
           schedq_pre_enqueue_fn pre_enqueue)
{
    schedq_interest_t interest = {.resource = resource, .actions = actions, .hint = hint};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    uint64_t bit;
    plugin.name = name;
    plugin.interests = &interest;
    plugin.interest_count = 1;
    plugin.pre_enqueue = pre_enqueue;
    plugin.ctx = ctx;
    assert_ok(schedq_plugin_register(fx_queue(fixture), &plugin, &bit, NULL, 0));
    return bit;
}

static int
as_set(unsigned number, uint64_t pod)
{
    return pod != BLOCKED || scene.open[number];
}

/* New nodes help what "Fit" rejected, deleted ones open gate A, new storage classes gate B. */
static void
set_scene(fixture_t *fixture)
{
    memset(&scene, 0, sizeof scene);
    scene.fixture = fixture;
    scene.answer = as_set;
    fixture->config.max_backoff_ns = 0;
    scene.fit = add_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD, NULL, NULL);
    add_plugin(fixture, "A", "Node", SCHEDQ_ACTION_DELETE, NULL, gate);
    add_plugin(fixture, "B", "Node", SCHEDQ_ACTION_UPDATE_NODE_TAINT, (void *)(uintptr_t)1, gate);
    fx_worker(fixture);
    assert_ok(schedq_worker_register(fixture->queue, &scene.teller, NULL, 0));
    assert_ok(schedq_worker_register(fixture->queue, &scene.other, NULL, 0));
}

static void
end_scene(void)
{
    scene.answer = as_set;
    assert_ok(schedq_worker_unregister(scene.teller));
    assert_ok(schedq_worker_unregister(scene.other));
}

struct job {
    void (*run)(void);
    unsigned who;
};

static void *
do_job(void *ctx)
{
    const struct job *job = ctx;
    who = job->who;
    job->run();
    return NULL;
}

/* Another thread's work, done before this one goes on. */
static void
let(unsigned number, void (*run)(void))
{
    struct job job = {.run = run, .who = number};
    pthread_t thread;
    if (pthread_create(&thread, NULL, do_job, &job) == 0)
        pthread_join(thread, NULL);
}

static void
report(schedq_worker_t *worker, schedq_event_t event)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = event;
    (void)schedq_notify(worker, &change, NULL);
}

static void
report_a(void)
{
    report(scene.other, SCHEDQ_EVENT_NODE_DELETE);
}

static void
report_b(void)
{
    report(scene.other, SCHEDQ_EVENT_NODE_UPDATE_TAINT);
}

static schedq_pod_spec_t
blocked_spec(int32_t priority)
{
    schedq_pod_spec_t spec = fx_spec(priority);
    spec.object = BLOCKED;
    return spec;
}

/* ---- how often gates are asked --------------------------------------------------------------- */

static void (*teller)(void);

/*
 * While a thread is told, each gate lets pass the first time, and refuses the second time, and
 * hears of an event meanwhile.
 */
static int
in_turns(unsigned number, uint64_t pod)
{
    if (pod != BLOCKED)
        return 1;
    if (who == 1)
        let(2, number == 0 ? report_a : report_b);
    if (who != 0)
        return who == 1 && (scene.asked[who] > ENOUGH || scene.asked[who] % 2 != 0);
    if (scene.asked[0] == 1)
        let(2, report_a); /* the add owes a question */
    else if (scene.asked[0] == 2)
        let(1, teller); /* it is asked meanwhile */
    return 0;
}

static void
expect_few_questions(fixture_t *fixture, void (*call)(void))
{
    schedq_pod_spec_t spec = blocked_spec(0);
    set_scene(fixture);
    teller = call;
    scene.answer = in_turns;
    fx_add_spec(fixture, "ns/p", &spec);
    end_scene();
    assert_ok(scene.status);
    assert_in_range(scene.asked[1], 1, ENOUGH);
    for (unsigned i = 0; i < GATES; i++)
        assert_in_range(scene.questions[i], 0, 3);
}

static void
find(void)
{
    scene.status = schedq_find(scene.teller, "ns/p", 4, &scene.told);
}

static void
a_find_asks_a_gate_thrice_at_most(void **state)
{
    expect_few_questions(*state, find);
}

static int
ignore(void *ctx, const schedq_pod_info_t *info)
{
    (void)ctx;
    (void)info;
    return 1;
}

static void
snapshot(void)
{
    scene.status = schedq_snapshot(scene.teller, ignore, NULL);
}

static void
a_snapshot_asks_a_gate_thrice_at_most(void **state)
{
    expect_few_questions(*state, snapshot);
}

static void
add_again(void)
{
    schedq_pod_spec_t spec = blocked_spec(0);
    scene.status = schedq_add(scene.teller, "ns/p", 4, &spec, &scene.told) == SCHEDQ_EXISTS
                       ? SCHEDQ_OK
                       : SCHEDQ_INVALID;
}

static void
an_add_of_a_pod_that_exists_asks_a_gate_thrice_at_most(void **state)
{
    expect_few_questions(*state, add_again);
}

static void
update(void)
{
    const schedq_event_t event = SCHEDQ_EVENT_NODE_DELETE;
    schedq_pod_spec_t spec = blocked_spec(0);
    scene.status = schedq_update(scene.teller, "ns/p", 4, &spec, 0, &event, 1, &scene.told);
}

static void
an_update_asks_a_gate_thrice_at_most(void **state)
{
    expect_few_questions(*state, update);
}

/* ---- a debt that another one replaces -------------------------------------------------------- */

enum { LOSER = 3, LOSER_UPDATED = 4 };

static unsigned asked_of_blocked, asked_of_loser;
static schedq_pod_t loser;

static void
open_a(void)
{
    scene.open[0] = true;
    report_a();
}

/* Both that the event is about to move change. */
static void
change_both(void)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = LOSER_UPDATED;
    (void)schedq_update(scene.other, "ns/l", 4, &spec, 0, NULL, 0, NULL);
    (void)schedq_nominate(scene.other, scene.blocked, 1);
}

static void
tick_and_find(void)
{
    int64_t next;
    (void)schedq_tick(scene.other, &next, NULL);
    scene.status = schedq_find(scene.other, "ns/p", 4, &scene.told);
}

static bool ticks;

static int
of_two(unsigned number, uint64_t pod)
{
    if (who != 0)
        return as_set(number, pod);
    if (pod == BLOCKED && number == 0) {
        asked_of_blocked++;
        if (asked_of_blocked == 1) {
            let(2, open_a);
            return 0;
        }
        if (asked_of_blocked == 2)
            let(2, change_both);
    }
    if (pod == LOSER_UPDATED && number == 1) {
        asked_of_loser++;
        if (asked_of_loser == 1) {
            let(2, report_b);
            return 0;
        }
        if (asked_of_loser == 2)
            let(2, ticks ? tick_and_find : find);
    }
    return 1;
}

static void
lose_a_debt(fixture_t *fixture)
{
    set_scene(fixture);
    scene.open[0] = scene.open[1] = true;
    asked_of_blocked = asked_of_loser = 0;
    schedq_pod_spec_t first = fx_spec(0), second = blocked_spec(0);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = scene.fit;
    first.object = LOSER;
    loser = fx_add_spec(fixture, "ns/l", &first).pod;
    schedq_popped_t popped = fx_pop(fixture, "ns/l");
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL));
    scene.blocked = fx_add_spec(fixture, "ns/p", &second).pod;
    popped = fx_pop(fixture, "ns/p");
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL));
    scene.open[0] = false;
    scene.answer = of_two;
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    end_scene();
    assert_int_equal(asked_of_blocked, 2);
    assert_in_range(asked_of_loser, 2, 3);
    assert_ok(scene.status);
}

/* A mover that owes one pod a question comes to owe another, before the first has left its gate. */
static void
who_opened_a_gate_is_not_told_of_a_pod_behind_it(void **state)
{
    ticks = false;
    lose_a_debt(*state);
    assert_int_not_equal(scene.told.place, SCHEDQ_GATED);
}

static void
a_tick_asks_about_both_pods_that_a_mover_owes_a_question(void **state)
{
    ticks = true;
    lose_a_debt(*state);
    assert_int_not_equal(scene.told.place, SCHEDQ_GATED);
}

/* ---- a pod that becomes active while its gates are asked ------------------------------------- */

enum { LOW = 1, MID = 3, HIGH = 5 };

static pthread_t updater;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static bool described, goes_on;

static void
retain(void *ctx, uint64_t object)
{
    (void)ctx;
    (void)object;
}

static _Thread_local bool updates;

/* Of the description that an update replaced: the pod has not moved so far. */
static void
release(void *ctx, uint64_t object)
{
    (void)ctx;
    if (!updates || object != BLOCKED)
        return;
    updates = false;
    pthread_mutex_lock(&lock);
    described = true;
    pthread_cond_broadcast(&changed);
    while (!goes_on)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void *
activate_and_update(void *unused)
{
    schedq_pod_spec_t spec = blocked_spec(HIGH);
    schedq_result_t result;
    (void)unused;
    who = 2;
    spec.object = FREE;
    (void)schedq_find(scene.other, "ns/p", 4, &result); /* it passes its gates */
    updates = true;
    (void)schedq_update(scene.other, "ns/p", 4, &spec, 0, NULL, 0, &result);
    updates = false;
    return NULL;
}

static int
note_priority(void *ctx, const schedq_pod_info_t *info)
{
    (void)ctx;
    if (memcmp(info->name, "ns/p", 4) == 0 && info->place == SCHEDQ_ACTIVE)
        scene.priority = info->priority;
    return 1;
}

static void
look_and_pop(void)
{
    schedq_popped_t popped;
    (void)schedq_snapshot(scene.teller, note_priority, NULL);
    if (schedq_try_pop(scene.teller, &popped) == SCHEDQ_OK) {
        scene.popped = popped.priority;
        (void)schedq_done(scene.teller, popped.token);
    }
}

static int
while_asked(unsigned number, uint64_t pod)
{
    if (pod != BLOCKED || number != 0)
        return 1;
    if (who == 0 && scene.asked[0] == 1) {
        let(2, report_a);
        return 0;
    }
    if (who == 0) {
        scene.asked[1] = 0;
        scene.open[0] = true;
        let(1, look_and_pop);
        return 1;
    }
    if (who == 1 && !described) {
        pthread_create(&updater, NULL, activate_and_update, NULL);
        pthread_mutex_lock(&lock);
        while (!described)
            pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
    }
    return 1;
}

/* A pod that an update describes while its gates are asked is moved before its priority is told. */
static void
what_is_told_of_a_pod_that_became_active_is_what_pops_go_by(void **state)
{
    fixture_t *fixture = *state;
    fixture->config.objects = SCHEDQ_OBJECTS_COUNTED;
    fixture->config.retain = retain;
    fixture->config.release = release;
    set_scene(fixture);
    described = goes_on = false;
    scene.open[0] = scene.open[1] = true;
    schedq_pod_spec_t mid = fx_spec(MID), low = blocked_spec(LOW);
    mid.object = FREE;
    fx_add_spec(fixture, "ns/m", &mid);
    scene.asked[0] = 0;
    scene.answer = while_asked;
    fx_add_spec(fixture, "ns/p", &low);
    pthread_mutex_lock(&lock);
    goes_on = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    assert_true(described);
    pthread_join(updater, NULL);
    end_scene();
    if (scene.priority == HIGH)
        assert_int_equal(scene.popped, HIGH);
}

/* ---- a pod that is held while its gates are asked -------------------------------------------- */

static void
keep_for_long(void)
{
    schedq_result_t found;
    (void)schedq_find(scene.other, "ns/p", 4, &found);
    (void)schedq_not_before(scene.other, found.pod, FX_START + SEC(1000), NULL);
}

/* Says nothing of a time. */
static void
update_without_time(void)
{
    schedq_pod_spec_t spec = blocked_spec(0);
    scene.status = schedq_update(scene.teller, "ns/p", 4, &spec, 0, NULL, 0, &scene.told);
}

/* Gate A refuses the pod. The add owes a question, so the update asks first. */
static int
while_it_is_held(unsigned number, uint64_t pod)
{
    if (pod != BLOCKED || number != 0)
        return 1;
    if (who == 0 && scene.asked[0] == 1)
        let(2, report_a);
    else if (who == 0 && scene.asked[0] == 2)
        let(1, update_without_time);
    else if (who == 1 && scene.asked[1] == 1)
        let(2, keep_for_long);
    return 0;
}

static void
an_update_of_a_pod_that_is_held_meanwhile_lets_it_go(void **state)
{
    fixture_t *fixture = *state;
    set_scene(fixture);
    schedq_pod_spec_t spec = blocked_spec(0);
    scene.answer = while_it_is_held;
    fx_add_spec(fixture, "ns/p", &spec);
    end_scene();
    assert_ok(scene.status);
    assert_place(scene.told.place, SCHEDQ_GATED);
    assert_place(fx_place(fixture, "ns/p"), SCHEDQ_GATED);
}

/* ---- a group whose gates events overtake ----------------------------------------------------- */

enum { GANG = 9 };

/* Each asking is overtaken by an event of the gate, which refuses by what it knew before. */
static int
while_events_come(unsigned number, uint64_t pod)
{
    if (pod != BLOCKED || number != 0 || who != 0 || scene.asked[0] > ENOUGH)
        return as_set(number, pod);
    let(2, open_a);
    return 0;
}

static void
a_join_asks_no_gate_for_ever_and_a_tick_asks_once_more(void **state)
{
    fixture_t *fixture = *state;
    set_scene(fixture);
    scene.open[1] = true;
    schedq_group_spec_t group = SCHEDQ_GROUP_SPEC_INIT;
    schedq_pod_spec_t spec = blocked_spec(0);
    schedq_popped_group_t popped;
    schedq_popped_t member;
    size_t count;
    int64_t next;
    spec.group = GANG;
    assert_ok(schedq_group_add(fx_worker(fixture), GANG, &group, NULL));
    scene.asked[0] = 0;
    scene.answer = while_events_come;
    fx_add_spec(fixture, "ns/p", &spec);
    assert_in_range(scene.asked[0], 1, ENOUGH / 2);
    scene.answer = as_set;
    assert_ok(schedq_tick(fx_worker(fixture), &next, NULL));
    assert_ok(schedq_try_pop_group(fx_worker(fixture), &popped, &member, 1, &count));
    assert_int_equal(popped.group, GANG);
    end_scene();
}

/* ---- an event while others have the same gates asked ----------------------------------------- */

/* Each asking is overtaken by an event of another worker, which publishes the pod anew. */
static int
while_others_ask(unsigned number, uint64_t pod)
{
    if (pod != BLOCKED || number != 0 || who != 0 || scene.asked[0] > ENOUGH)
        return as_set(number, pod);
    let(2, report_a);
    return 0;
}

static void
an_event_ends_while_others_come(void **state)
{
    fixture_t *fixture = *state;
    set_scene(fixture);
    schedq_pod_spec_t spec = blocked_spec(0);
    fx_add_spec(fixture, "ns/p", &spec);
    report(scene.other, SCHEDQ_EVENT_NODE_DELETE); /* it lies in the other's lane */
    scene.asked[0] = 0;
    scene.answer = while_others_ask;
    fx_move(fixture, SCHEDQ_EVENT_NODE_DELETE);
    assert_in_range(scene.asked[0], 1, ENOUGH / 2);
    end_scene();
}

/* ---- a pod that is not added yet ------------------------------------------------------------- */

enum { NODE = 7, RARE = 12345, HELPLESS = 6, SECOND = 8 };

static unsigned nominated, doubles;
static bool has_note;

static int
count_nominated(void *ctx, const schedq_pod_info_t *info)
{
    (void)ctx;
    (void)info;
    nominated++;
    return 1;
}

/*
 * Another thread adds a pod of the first one's name, looks at the pods of the node, and pops all
 * there are.
 */
static void
add_look_and_pop(void)
{
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_popped_t popped[8];
    size_t count = 0;
    scene.open[0] = true;
    if (has_note) {
        atomic_store(&scene.fixture->memory.fail_all, true);
        report(scene.other, SCHEDQ_EVENT_NODE_UPDATE_TAINT);
        (void)account_heal(&scene.fixture->memory);
    }
    spec.object = FREE;
    scene.status = schedq_add(scene.teller, "ns/p", 4, &spec, &scene.told);
    (void)schedq_nominated_pods(scene.teller, NODE, count_nominated, NULL);
    while (count < 8 && schedq_try_pop(scene.teller, &popped[count]) == SCHEDQ_OK)
        count++;
    for (size_t i = 0; i < count; i++)
        doubles += popped[i].name_length == 4 && memcmp(popped[i].name, "ns/p", 4) == 0;
    for (size_t i = 0; i < count; i++)
        (void)schedq_done(scene.teller, popped[i].token);
}

/* The last of a batch: the others have records, and are not added so far. */
static int
of_a_batch(unsigned number, uint64_t pod)
{
    if (who == 0 && pod == SECOND && number == 0)
        let(1, add_look_and_pop);
    if (pod == HELPLESS)
        return number == 0 || scene.open[0];
    return as_set(number, pod);
}

static void
add_a_batch(fixture_t *fixture)
{
    set_scene(fixture);
    nominated = doubles = 0;
    scene.open[1] = true;
    schedq_pod_spec_t helpless = fx_spec(RARE);
    helpless.object = HELPLESS;
    scene.answer = of_a_batch;
    fx_add_spec(fixture, "ns/h", &helpless);
    static const char names[] = "ns/pns/q";
    schedq_add_item_t items[2] = {fx_item(0, 4, 0), fx_item(4, 4, 0)};
    items[0].spec.object = BLOCKED;
    items[0].spec.nominated_node = NODE;
    items[1].spec.object = SECOND;
    uint8_t statuses[2] = {SCHEDQ_OK, SCHEDQ_OK};
    (void)schedq_add_many(fx_worker(fixture), names, sizeof names, items, 2, NULL, statuses, NULL);
    end_scene();
    assert_ok(scene.status);
}

static void
a_pod_is_not_shown_before_it_is_added(void **state)
{
    has_note = false;
    add_a_batch(*state);
    assert_int_equal(nominated, 0);
}

static void
two_pods_of_one_name_are_never_popped(void **state)
{
    has_note = true;
    add_a_batch(*state);
    assert_int_equal(doubles, 1);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test_lockfree(a_find_asks_a_gate_thrice_at_most),
        fx_test_lockfree(a_snapshot_asks_a_gate_thrice_at_most),
        fx_test_lockfree(an_add_of_a_pod_that_exists_asks_a_gate_thrice_at_most),
        fx_test_lockfree(an_update_asks_a_gate_thrice_at_most),
        fx_test_lockfree(who_opened_a_gate_is_not_told_of_a_pod_behind_it),
        fx_test_lockfree(a_tick_asks_about_both_pods_that_a_mover_owes_a_question),
        fx_test_lockfree(what_is_told_of_a_pod_that_became_active_is_what_pops_go_by),
        fx_test_lockfree(an_update_of_a_pod_that_is_held_meanwhile_lets_it_go),
        fx_test_lockfree(a_join_asks_no_gate_for_ever_and_a_tick_asks_once_more),
        fx_test_lockfree(an_event_ends_while_others_come),
        fx_test_lockfree(a_pod_is_not_shown_before_it_is_added),
        fx_test_lockfree(two_pods_of_one_name_are_never_popped),
    };
    return fx_run_tests(argc, argv, tests);
}
