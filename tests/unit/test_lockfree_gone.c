/*
 * Memory that another thread gave back while the host's code ran in the middle of a call: the call
 * does not read it again. Here memory that is given back cannot be read any more.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "fixture.h"

enum { GROUP = 77, MEMBERS = 2, OTHERS = 254 }; /* a page of records: the group and the others */

typedef struct scene {
    schedq_t *queue;
    schedq_worker_t *other; /* the thread's */
    void (*job)(struct scene *scene);
    unsigned at, asked; /* the job comes when a gate is asked for this time; 0: never */
    schedq_pod_t members[MEMBERS];
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

static int
gate(void *ctx, uint64_t pod)
{
    pthread_t thread;
    (void)ctx;
    (void)pod;
    if (scene.at != 0 && ++scene.asked == scene.at) {
        assert_int_equal(pthread_create(&thread, NULL, do_job, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    return 0;
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

static void
begin(fixture_t *fixture, uint32_t quorum, void (*job)(scene_t *))
{
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    schedq_group_spec_t group = SCHEDQ_GROUP_SPEC_INIT;
    schedq_result_t result;
    uint64_t bit;
    scene = (scene_t){.job = job};
    fixture->config.allocator = (schedq_allocator_t){.alloc = take_pages, .free = give_pages};
    scene.queue = fx_queue(fixture);
    plugin.name = "Gate";
    plugin.pre_enqueue = gate;
    assert_int_equal(
        schedq_plugin_register(scene.queue, &plugin, &bit, fixture->why, sizeof fixture->why),
        SCHEDQ_OK);
    (void)fx_worker(fixture);
    assert_int_equal(
        schedq_worker_register(scene.queue, &scene.other, fixture->why, sizeof fixture->why),
        SCHEDQ_OK);
    group.quorum = quorum;
    assert_int_equal(schedq_group_add(scene.other, GROUP, &group, &result), SCHEDQ_OK);
}

static void
end(void)
{
    assert_true(scene.asked >= scene.at);
    assert_int_equal(schedq_worker_unregister(scene.other), SCHEDQ_OK);
}

static void
add(const char *name, uint64_t group, schedq_pod_t *pod)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    schedq_result_t result;
    spec.group = group;
    assert_int_equal(schedq_add(scene.other, name, strlen(name), &spec, &result), SCHEDQ_OK);
    *pod = result.pod;
}

static void
add_members(void)
{
    char name[32];
    for (unsigned i = 0; i < MEMBERS; i++) {
        (void)snprintf(name, sizeof name, "ns/member-%u", i);
        add(name, GROUP, &scene.members[i]);
    }
}

static void
members_that_end_while_gates_are_asked_are_not_read_again(void **state)
{
    fixture_t *fixture = *state;
    schedq_group_spec_t group = SCHEDQ_GROUP_SPEC_INIT;
    schedq_result_t result;
    char name[32];
    begin(fixture, MEMBERS + 1, delete_members);
    for (unsigned i = 0; i < OTHERS; i++) {
        schedq_pod_t other;
        (void)snprintf(name, sizeof name, "ns/other-%u", i);
        add(name, 0, &other);
    }
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

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fx_test_lockfree(members_that_end_while_gates_are_asked_are_not_read_again),
        fx_test_lockfree(a_group_that_ends_while_gates_are_asked_is_not_read_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
