/*
 * The lives of life.h: the second of two equal ones is looked at, so that what is made once is
 * there.
 */
#include "life.h"

#include "clock.h"

#include <schedq/schedq.h>

#include <stdio.h>
#include <stdlib.h>

enum { NAME_LENGTH = 13 };

#define BACKOFF_OVER_NS INT64_C(2000000000)

void life_watched(schedq_worker_t *worker, uint64_t rejector, bool short_one);

static void
must(schedq_status_t status, const char *call)
{
    if (status != SCHEDQ_OK) {
        fprintf(stderr, "schedq-cost: %s returned %s\n", call, schedq_status_name(status));
        exit(1);
    }
}

static void
park_and_help(schedq_worker_t *worker, uint64_t rejector, schedq_popped_t *popped)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;

    failure.unschedulable = rejector;
    must(schedq_fail(worker, &popped->token, &failure, &result), "schedq_fail");
    clock_pass(BACKOFF_OVER_NS);
    change.event = SCHEDQ_EVENT_NODE_ADD;
    must(schedq_notify(worker, &change, &result), "schedq_notify");
    must(schedq_try_pop(worker, popped), "schedq_try_pop");
}

static void
live(schedq_worker_t *worker, uint64_t rejector, bool short_one)
{
    schedq_pod_spec_t spec = {.struct_size = sizeof(schedq_pod_spec_t), .object = 1};
    schedq_popped_t popped;

    must(schedq_add(worker, "default/pod-1", 13, &spec, NULL), "schedq_add");
    must(schedq_try_pop(worker, &popped), "schedq_try_pop");
    if (!short_one) {
        park_and_help(worker, rejector, &popped);
    }
    must(schedq_done(worker, popped.token), "schedq_done");
}

__attribute__((noinline)) void
life_watched(schedq_worker_t *worker, uint64_t rejector, bool short_one)
{
    live(worker, rejector, short_one);
}

void
play_life(bool mutex, bool short_one)
{
    const schedq_interest_t interest = {.resource = "Node", .actions = SCHEDQ_ACTION_ADD};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_worker_t *worker;
    schedq_t *queue;
    uint64_t rejector;

    config.engine = mutex ? SCHEDQ_ENGINE_MUTEX : SCHEDQ_ENGINE_LOCKFREE;
    must(schedq_create(&config, &queue, NULL, 0), "schedq_create");
    plugin.name = "Fit";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    must(schedq_plugin_register(queue, &plugin, &rejector, NULL, 0), "schedq_plugin_register");
    must(schedq_worker_register(queue, &worker, NULL, 0), "schedq_worker_register");
    live(worker, rejector, short_one);
    life_watched(worker, rejector, short_one);
    must(schedq_worker_unregister(worker), "schedq_worker_unregister");
    must(schedq_destroy_with_pods(queue, NULL, 0), "schedq_destroy");
}
