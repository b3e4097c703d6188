/*
 * Memory that another thread gave back while the host's code ran in the middle of a call: the call
 * does not read it again. Here memory that is given back cannot be read any more.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "fixture.h"

enum { CLASS = 9, VERSION_SHIFT = 28 };
enum { GROUP = 77, MEMBERS = 2, OTHERS = 254 }; /* a page of records: the group and the others */

typedef struct scene {
    schedq_t *queue;
    schedq_worker_t *other; /* the thread's */
    void (*job)(struct scene *scene);
    unsigned at, asked; /* the job comes when the host is asked for this time; 0: never */
    schedq_pod_t members[MEMBERS], others[OTHERS];
    schedq_token_t flying;
} scene_t;

static scene_t scene;

static void *
take_pages(void *ctx, size_t bytes, size_t align)
{
    (void)ctx;
    (void)align;
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return memory != MAP_FAILED ? memory : NULL;
}

static void
give_pages(void *ctx, void *memory, size_t bytes)
{
    (void)ctx;
    assert_int_equal(mprotect(memory, bytes, PROT_NONE), 0); /* its address is used no more */
}

static void *
do_job(void *unused)
{
    (void)unused;
    scene.job(&scene);
    return NULL;
}

static void
let_come(void)
{
    pthread_t thread;
    if (scene.at != 0 && ++scene.asked == scene.at) {
        assert_int_equal(pthread_create(&thread, NULL, do_job, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
}

static int
gate(void *ctx, uint64_t pod)
{
    (void)ctx;
    (void)pod;
    let_come();
    return 0;
}

static schedq_hint_t
says_no(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx;
    (void)pod;
    (void)old_object;
    (void)new_object;
    let_come();
    return SCHEDQ_HINT_SKIP;
}

static void
give_all_back(scene_t *given)
{
    char why[200];
    int64_t next;
    schedq_result_t result;
    assert_int_equal(schedq_worker_unregister(given->other), SCHEDQ_OK);
    assert_int_equal(schedq_worker_register(given->queue, &given->other, why, sizeof why),
                     SCHEDQ_OK);
    for (unsigned i = 0; i < 40; i++) {
        assert_int_equal(schedq_trim(given->queue), SCHEDQ_OK);
        assert_int_equal(schedq_tick(given->other, &next, &result), SCHEDQ_OK);
    }
}

static void
delete_members(scene_t *given)
{
    schedq_result_t result;
    for (unsigned i = 0; i < MEMBERS; i++)
        assert_int_equal(schedq_delete(given->other, given->members[i], &result), SCHEDQ_OK);
    give_all_back(given);
}

/* Nobody was given that token. */
static void
guess_a_token(scene_t *given)
{
    const schedq_token_t next = {given->flying.bits + (UINT64_C(1) << VERSION_SHIFT)};
    schedq_result_t result;
    (void)schedq_done(given->other, next);
    for (unsigned i = 0; i < OTHERS; i++)
        assert_int_equal(schedq_delete(given->other, given->others[i], &result), SCHEDQ_OK);
    give_all_back(given);
}

/* Blocks of groups are freed when there were enough of them. */
static void
delete_group(scene_t *given)
{
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    schedq_result_t result;
    (void)schedq_group_delete(given->other, GROUP, &result);
    for (unsigned i = 0; i < 4000; i++) {
        assert_int_equal(schedq_group_add(given->other, 1000 + i, &spec, &result), SCHEDQ_OK);
        assert_int_equal(schedq_group_delete(given->other, 1000 + i, &result), SCHEDQ_OK);
    }
    give_all_back(given);
}

/* Returns the plugin's bit. */
static uint64_t
begin_with(fixture_t *fixture, const schedq_plugin_t *plugin, void (*job)(scene_t *))
{
    uint64_t bit;
    scene = (scene_t){.job = job};
    fixture->config.allocator = (schedq_allocator_t){.alloc = take_pages, .free = give_pages};
    scene.queue = fx_queue(fixture);
    assert_int_equal(
        schedq_plugin_register(scene.queue, plugin, &bit, fixture->why, sizeof fixture->why),
        SCHEDQ_OK);
    (void)fx_worker(fixture);
    assert_int_equal(
        schedq_worker_register(scene.queue, &scene.other, fixture->why, sizeof fixture->why),
        SCHEDQ_OK);
    return bit;
}

static void
begin(fixture_t *fixture, uint32_t quorum, void (*job)(scene_t *))
{
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    schedq_group_spec_t group = SCHEDQ_GROUP_SPEC_INIT;
    schedq_result_t result;
    plugin.name = "Gate";
    plugin.pre_enqueue = gate;
    (void)begin_with(fixture, &plugin, job);
    group.quorum = quorum;
    assert_int_equal(schedq_group_add(scene.other, GROUP, &group, &result), SCHEDQ_OK);
}

static void
end(void)
{
    assert_true(scene.asked >= scene.at);
    assert_int_equal(schedq_worker_unregister(scene.other), SCHEDQ_OK);
}

static schedq_pod_t
add_spec(const char *name, const schedq_pod_spec_t *spec)
{
    schedq_result_t result;
    assert_int_equal(schedq_add(scene.other, name, strlen(name), spec, &result), SCHEDQ_OK);
    return result.pod;
}

/* Behind all others. */
static void
add_others(void)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    char name[32];
    spec.priority = -1;
    for (unsigned i = 0; i < OTHERS; i++) {
        (void)snprintf(name, sizeof name, "ns/other-%u", i);
        scene.others[i] = add_spec(name, &spec);
    }
}

static void
add_members(void)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    char name[32];
    spec.group = GROUP;
    for (unsigned i = 0; i < MEMBERS; i++) {
        (void)snprintf(name, sizeof name, "ns/member-%u", i);
        scene.members[i] = add_spec(name, &spec);
    }
}

static void
members_that_end_while_gates_are_asked_are_not_read_again(void **state)
{
    fixture_t *fixture = *state;
    schedq_group_spec_t group = SCHEDQ_GROUP_SPEC_INIT;
    schedq_result_t result;
    begin(fixture, MEMBERS + 1, delete_members);
    add_others();
    add_members();
    group.quorum = scene.at = MEMBERS; /* the last of them */
    (void)schedq_group_update(fixture->worker, GROUP, &group, &result);
    end();
}

static void
a_group_that_ends_while_gates_are_asked_is_not_read_again(void **state)
{
    fixture_t *fixture = *state;
    schedq_group_spec_t group = SCHEDQ_GROUP_SPEC_INIT;
    schedq_result_t result;
    fixture->config.gates_see_wildcards = 0;
    begin(fixture, MEMBERS, delete_group);
    add_members();
    scene.at = 1;
    group.quorum = 1;
    (void)schedq_group_update(fixture->worker, GROUP, &group, &result);
    end();
}

/* The first of a page, which goes, and the scout of their class. */
static void
a_flight_that_ends_while_hints_are_asked_is_not_written_again(void **state)
{
    fixture_t *fixture = *state;
    const schedq_interest_t interest = {
        .resource = "Node", .actions = SCHEDQ_ACTION_ADD, .hint = says_no};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_popped_t first, scout;
    plugin.name = "Fit";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    fixture->config.class_patience_ns = SEC(3600);
    failure.unschedulable = begin_with(fixture, &plugin, guess_a_token);
    add_others();
    spec.class_id = CLASS;
    (void)add_spec("ns/first", &spec);
    (void)add_spec("ns/scout", &spec);
    assert_int_equal(schedq_try_pop(fixture->worker, &first), SCHEDQ_OK);
    assert_int_equal(schedq_try_pop(fixture->worker, &scout), SCHEDQ_OK);
    assert_int_equal(schedq_fail(fixture->worker, &scout.token, &failure, NULL), SCHEDQ_OK);
    change.event = SCHEDQ_EVENT_NODE_ADD;
    assert_int_equal(schedq_notify(scene.other, &change, NULL), SCHEDQ_OK);
    scene.flying = first.token;
    scene.asked = 0;
    scene.at = 1;
    assert_int_equal(schedq_fail(fixture->worker, &first.token, &failure, NULL), SCHEDQ_STALE);
    end();
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fx_test_lockfree(members_that_end_while_gates_are_asked_are_not_read_again),
        fx_test_lockfree(a_group_that_ends_while_gates_are_asked_is_not_read_again),
        fx_test_lockfree(a_flight_that_ends_while_hints_are_asked_is_not_written_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
