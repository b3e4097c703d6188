/*
 * usage: metrics_text ENGINE one | several
 *
 * Prints the metrics of a queue that has pods in every place and all that can be switched on; or of
 * that one and one with the rules of kube 1.37, in one text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <schedq/schedq.h>

static void
must(schedq_status_t status, const char *what)
{
    if (status != SCHEDQ_OK) {
        fprintf(stderr, "%s: %s\n", what, schedq_status_name(status));
        exit(EXIT_FAILURE);
    }
}

static schedq_pre_hint_t
concerns_all(void *ctx, uint64_t old_object, uint64_t new_object, schedq_pod_list_t *pods)
{
    (void)ctx;
    (void)old_object;
    (void)new_object;
    (void)pods;
    return SCHEDQ_PRE_HINT_ALL;
}

static int
keeps_gated(void *ctx, uint64_t object)
{
    (void)ctx;
    return object != 1;
}

static schedq_t *
create(schedq_config_t *config, uint64_t *cores)
{
    static const schedq_pre_hint_fn pre_hints[] = {concerns_all};
    const schedq_interest_t node = {.resource = "Node", .actions = SCHEDQ_ACTION_ADD};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    schedq_t *queue;
    uint64_t gate;

    must(schedq_create(config, &queue, NULL, 0), "schedq_create");
    plugin.name = "cores \"of\" a\\b";
    plugin.interests = &node;
    plugin.interest_count = 1;
    plugin.pre_hints = config->pre_queueing_hints != 0 ? pre_hints : NULL;
    must(schedq_plugin_register(queue, &plugin, cores, NULL, 0), "schedq_plugin_register");
    plugin = (schedq_plugin_t)SCHEDQ_PLUGIN_INIT;
    plugin.name = "gate";
    plugin.pre_enqueue = keeps_gated;
    must(schedq_plugin_register(queue, &plugin, &gate, NULL, 0), "schedq_plugin_register");
    return queue;
}

static schedq_pod_t
add(schedq_worker_t *worker, const char *name, uint64_t object)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    schedq_result_t result;

    spec.object = object;
    schedq_status_t status = schedq_add(worker, name, strlen(name), &spec, &result);

    must(status, schedq_worker_error(worker));
    return result.pod;
}

static schedq_popped_t
pop(schedq_worker_t *worker)
{
    schedq_popped_t popped;

    must(schedq_try_pop(worker, &popped), "schedq_try_pop");
    return popped;
}

/* A pod in each place. */
static void
fill(schedq_t *queue, uint64_t cores)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_worker_t *worker;
    schedq_popped_t popped;

    must(schedq_worker_get(queue, &worker, NULL, 0), "schedq_worker_get");
    add(worker, "ns/gated", 1);
    must(schedq_hold(worker, add(worker, "ns/held", 0), NULL), "schedq_hold");
    change.event = SCHEDQ_EVENT_NODE_ADD;
    for (int i = 0; i < 2; i++) {
        add(worker, i == 0 ? "ns/backoff" : "ns/parked", 0);
        popped = pop(worker);
        failure.unschedulable = cores;
        must(schedq_fail(worker, &popped.token, &failure, NULL), "schedq_fail");
        if (i == 0) {
            must(schedq_notify(worker, &change, NULL), "schedq_notify");
        }
    }
    add(worker, "ns/error", 0);
    popped = pop(worker);
    failure.unschedulable = 0;
    must(schedq_fail(worker, &popped.token, &failure, NULL), "schedq_fail");
    add(worker, "ns/done", 0);
    must(schedq_done(worker, pop(worker).token), "schedq_done");
    add(worker, "ns/inflight", 0);
    (void)pop(worker);
    add(worker, "ns/active", 0);
}

static int
print(void *ctx, const char *text, size_t length)
{
    (void)ctx;
    return fwrite(text, 1, length, stdout) == length;
}

int
main(int argc, char **argv)
{
    schedq_named_queue_t queues[2] = {{NULL, "own"}, {NULL, "kube/1.37"}};
    size_t count = argc == 3 && strcmp(argv[2], "several") == 0 ? 2 : 1;

    if (argc != 3) {
        fprintf(stderr, "usage: metrics_text ENGINE one | several\n");
        return 2;
    }
    for (size_t i = 0; i < count; i++) {
        schedq_config_t config = SCHEDQ_CONFIG_INIT;
        uint64_t cores;

        if (i == 0) {
            config.sample_calls = 1;
            config.pre_queueing_hints = 1;
        } else {
            schedq_config_kube_1_37(&config);
        }
        config.engine =
            strcmp(argv[1], "mutex") == 0 ? SCHEDQ_ENGINE_MUTEX : SCHEDQ_ENGINE_LOCKFREE;
        queues[i].queue = create(&config, &cores);
        fill(queues[i].queue, cores);
    }
    must(count == 1 ? schedq_metrics_write(queues[0].queue, print, NULL)
                    : schedq_metrics_write_named(queues, count, print, NULL, NULL, 0),
         "metrics");
    for (size_t i = 0; i < count; i++) {
        must(schedq_destroy_with_pods(queues[i].queue, NULL, 0), "schedq_destroy_with_pods");
    }
    return EXIT_SUCCESS;
}
