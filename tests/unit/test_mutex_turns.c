/*
 * A mutex engine that gives its lock away during an event: an event brings back every pod that
 * waited when it began, also those that others update, delete and add again meanwhile.
 *
 * Whether it gives turns is not an option of the configuration: schedq-bench compares with it.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <schedq/schedq.h>

#include "expect.h"
#include "mutex/queue.h"
#include "platform/words.h"

#include <pthread.h>
#include <sched.h>

enum { PODS = 400, EVENTS = 60, SETS = 8, APART = 50 };

typedef struct world {
    schedq_t *queue;
    schedq_worker_t *worker; /* of the thread that sends events */
    schedq_worker_t *meddler;
    uint64_t fit;
    uint64_t sets[SETS];
    atomic_uint updates;
    atomic_bool over;
    atomic_bool failed;
} world_t;

/* Now and then somebody shall wait for the lock, which is held here. */
static schedq_hint_t
wait_for_company(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    const world_t *world = ctx;
    const struct mutex_queue *queue = mutex_queue(world->queue);

    (void)old_object;
    (void)new_object;
    while (pod % APART == 0 && __atomic_load_n(&queue->waiting, __ATOMIC_RELAXED) == 0) {
        sched_yield();
    }
    return SCHEDQ_HINT_QUEUE;
}

static uint64_t
make_plugin(world_t *world, const char *name)
{
    const schedq_interest_t interest = {
        .resource = "Node", .actions = SCHEDQ_ACTION_ADD, .hint = wait_for_company};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    uint64_t bit = 0;

    plugin.name = name;
    plugin.interests = &interest;
    plugin.interest_count = 1;
    plugin.ctx = world;
    assert_int_equal(schedq_plugin_register(world->queue, &plugin, &bit, NULL, 0), SCHEDQ_OK);
    return bit;
}

static schedq_pod_spec_t
describe(unsigned number, char *name, size_t size)
{
    snprintf(name, size, "ns/%u", number);
    return (schedq_pod_spec_t){.struct_size = sizeof(schedq_pod_spec_t), .object = number + 1};
}

static void
open_world(world_t *world)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    char name[32];

    memset(world, 0, sizeof *world);
    config.engine = SCHEDQ_ENGINE_MUTEX;
    config.max_backoff_ns = 0;
    assert_int_equal(schedq_create(&config, &world->queue, NULL, 0), SCHEDQ_OK);
    mutex_queue(world->queue)->yields = true;
    world->fit = make_plugin(world, "Fit");
    for (unsigned i = 0; i < SETS; i++) {
        snprintf(name, sizeof name, "Set%u", i);
        world->sets[i] = make_plugin(world, name);
    }
    assert_int_equal(schedq_worker_register(world->queue, &world->worker, NULL, 0), SCHEDQ_OK);
    assert_int_equal(schedq_worker_register(world->queue, &world->meddler, NULL, 0), SCHEDQ_OK);
    for (unsigned i = 0; i < PODS; i++) {
        schedq_pod_spec_t spec = describe(i, name, sizeof name);

        assert_int_equal(schedq_add(world->worker, name, strlen(name), &spec, NULL), SCHEDQ_OK);
    }
}

static void
close_world(world_t *world)
{
    assert_int_equal(schedq_worker_unregister(world->worker), SCHEDQ_OK);
    assert_int_equal(schedq_worker_unregister(world->meddler), SCHEDQ_OK);
    assert_int_equal(schedq_destroy_with_pods(world->queue, NULL, 0), SCHEDQ_OK);
}

/* What it adds again is active: the event need not bring that back. */
static void *
meddle(void *ctx)
{
    world_t *world = ctx;
    char name[32];

    for (unsigned i = 0; !atomic_load(&world->over); i++) {
        schedq_pod_spec_t spec = describe(i * 7 % PODS, name, sizeof name);

        /* Its flag names another lot. */
        spec.flags = i % 2 == 0 ? SCHEDQ_POD_AFFINITY : 0;
        schedq_status_t status =
            schedq_update(world->meddler, name, strlen(name), &spec, 0, NULL, 0, NULL);
        if (i % 16 == 0) {
            (void)schedq_delete_name(world->meddler, name, strlen(name), NULL);
            status = schedq_add(world->meddler, name, strlen(name), &spec, NULL);
        }
        if (status != SCHEDQ_OK) {
            atomic_store(&world->failed, true);
        }
        atomic_fetch_add(&world->updates, 1);
    }
    return NULL;
}

static void
park_all(world_t *world)
{
    schedq_popped_t popped;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    while (schedq_try_pop(world->worker, &popped) == SCHEDQ_OK) {
        failure.unschedulable = world->fit | world->sets[popped.object % SETS];
        schedq_status_t status = schedq_fail(world->worker, &popped.token, &failure, NULL);
        assert_true(status == SCHEDQ_OK || status == SCHEDQ_GONE);
    }
}

static void
an_event_brings_back_what_others_change_meanwhile(void **state)
{
    world_t world;
    pthread_t thread;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    unsigned turns = 0;
    (void)state;

    open_world(&world);
    change.event = SCHEDQ_EVENT_NODE_ADD;
    assert_int_equal(pthread_create(&thread, NULL, meddle, &world), 0);
    for (unsigned i = 0; i < EVENTS; i++) {
        park_all(&world);
        unsigned before = atomic_load(&world.updates);
        assert_int_equal(schedq_notify(world.worker, &change, NULL), SCHEDQ_OK);
        assert_int_equal(word_load(&schedq_words(world.queue)->parked), 0);
        turns += atomic_load(&world.updates) - before;
    }
    atomic_store(&world.over, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(atomic_load(&world.failed));
    print_message("%u updates during %u events\n", turns, EVENTS);
    assert_true(turns > 0);
    close_world(&world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_brings_back_what_others_change_meanwhile),
    };
    return cmocka_run_group_tests_name("a mutex engine that gives turns", tests, NULL, NULL);
}
