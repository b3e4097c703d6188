/*
 * Goes through every probe, on one engine (lockfree or mutex), for a debugger that looks. It prints
 * nothing. tests/probes/run knows what it does, by the names of its pods.
 */
#include <schedq/group.h>
#include <schedq/schedq.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECT_A 4711
#define OBJECT_B 4712
#define GROUP 7

static void
must(schedq_status_t status, schedq_status_t wanted, const char *what)
{
    if (status != wanted) {
        fprintf(stderr, "%s: %s\n", what, schedq_status_name(status));
        exit(EXIT_FAILURE);
    }
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

/* Lets all in but B. */
static int
gate(void *ctx, uint64_t pod)
{
    (void)ctx;
    return pod != OBJECT_B;
}

static schedq_t *
make(uint8_t engine, uint64_t *bit)
{
    const schedq_interest_t interest = {
        .resource = "Node", .actions = SCHEDQ_ACTION_ADD, .hint = hint};
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    schedq_t *queue;
    char why[200];

    config.engine = engine;
    must(schedq_create(&config, &queue, why, sizeof why), SCHEDQ_OK, "create");
    plugin.name = "Fit";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    plugin.pre_enqueue = gate;
    must(schedq_plugin_register(queue, &plugin, bit, why, sizeof why), SCHEDQ_OK, why);
    return queue;
}

static void
add(schedq_worker_t *worker, const char *name, uint64_t object)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;

    spec.object = object;
    must(schedq_add(worker, name, strlen(name), &spec, NULL), SCHEDQ_OK, "add");
}

static void
add_member(schedq_worker_t *worker, const char *name, uint64_t object)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;

    spec.object = object;
    spec.group = GROUP;
    must(schedq_add(worker, name, strlen(name), &spec, NULL), SCHEDQ_OK, "add of a member");
}

/* The group is active, and has one member. */
static void
park(schedq_worker_t *worker, const schedq_failure_t *failure)
{
    schedq_group_end_t end = SCHEDQ_GROUP_END_INIT;
    schedq_popped_group_t group;
    schedq_popped_t popped;
    schedq_result_t result;
    size_t count;

    end.outcome = SCHEDQ_GROUP_REJECTED;
    must(schedq_try_pop_group(worker, &group, &popped, 1, &count), SCHEDQ_OK, "pop of a group");
    must(schedq_fail(worker, &popped.token, failure, NULL), SCHEDQ_OK, "fail of a member");
    must(schedq_group_done(worker, &group.token, &end, &result), SCHEDQ_OK, "group_done");
    must(result.place == SCHEDQ_PARKED ? SCHEDQ_OK : SCHEDQ_INVALID, SCHEDQ_OK, "parking");
}

/* Each time the group's record leaves PARKED, and in the end GATED. */
static void
free_group(schedq_worker_t *worker, const schedq_failure_t *failure, const schedq_change_t *change)
{
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;

    must(schedq_group_add(worker, GROUP, &spec, NULL), SCHEDQ_OK, "group_add");
    add_member(worker, "ns/g", OBJECT_A);
    park(worker, failure);
    must(schedq_notify(worker, change, NULL), SCHEDQ_OK, "notify a group");
    park(worker, failure);
    must(schedq_group_activate(worker, GROUP, NULL), SCHEDQ_OK, "group_activate");
    park(worker, failure);
    add_member(worker, "ns/h", OBJECT_B);
    must(schedq_delete_name(worker, "ns/h", 4, NULL), SCHEDQ_OK, "delete of a member");
    must(schedq_delete_name(worker, "ns/g", 4, NULL), SCHEDQ_OK, "delete of the last member");
    must(schedq_group_delete(worker, GROUP, NULL), SCHEDQ_OK, "group_delete");
}

int
main(int argc, char **argv)
{
    bool lockfree = argc == 2 && strcmp(argv[1], "lockfree") == 0;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    schedq_worker_t *worker;
    schedq_popped_t popped;

    if (!lockfree && (argc != 2 || strcmp(argv[1], "mutex") != 0)) {
        fprintf(stderr, "usage: probes_walk lockfree|mutex\n");
        return 2;
    }
    schedq_t *queue =
        make(lockfree ? SCHEDQ_ENGINE_LOCKFREE : SCHEDQ_ENGINE_MUTEX, &failure.pending);

    must(schedq_worker_register(queue, &worker, NULL, 0), SCHEDQ_OK, "register");
    add(worker, "ns/a", OBJECT_A);
    must(schedq_try_pop(worker, &popped), SCHEDQ_OK, "pop");
    must(schedq_fail(worker, &popped.token, &failure, NULL), SCHEDQ_OK, "fail");
    change.event = SCHEDQ_EVENT_NODE_ADD;
    must(schedq_notify(worker, &change, NULL), SCHEDQ_OK, "notify");
    must(schedq_try_pop(worker, &popped), SCHEDQ_OK, "pop again");
    must(schedq_done(worker, popped.token), SCHEDQ_OK, "done");
    add(worker, "ns/b", OBJECT_B);
    spec.object = OBJECT_B;
    must(schedq_update(worker, "ns/b", 4, &spec, OBJECT_B, NULL, 0, NULL), SCHEDQ_OK, "update");
    must(schedq_delete_name(worker, "ns/b", 4, NULL), SCHEDQ_OK, "delete");
    must(schedq_pop_for(worker, 1000000, &popped), SCHEDQ_TIMEDOUT, "wait");
    free_group(worker, &failure, &change);
    must(schedq_worker_unregister(worker), SCHEDQ_OK, "unregister");
    must(schedq_destroy(queue, NULL, 0), SCHEDQ_OK, "destroy");
    return EXIT_SUCCESS;
}
