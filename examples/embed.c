/*
 * A scheduler in one file: two pods, a node that is too small for one of them, and a second node
 * that joins later.
 *
 * It runs on one thread, without a timer: each round calls schedq_tick and pops until nothing is
 * left. A scheduler with threads registers one worker per thread, starts schedq_run, and waits in
 * schedq_pop; the calls stay the same.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <schedq/schedq.h>

struct pod {
    const char *name;
    int32_t priority;
    int64_t cpu_milli;
};

struct node {
    const char *name;
    int64_t free_milli;
};

static struct pod pods[] = {{"default/web", 0, 2000}, {"default/db", 100, 6000}};
static struct node nodes[] = {{"node-a", 4000}, {"node-b", 8000}};
static size_t node_count = 1; /* node-b has not joined yet */

/*
 * The queue is given 64-bit objects and never looks into them: here they are pointers that outlive
 * it.
 */
static uint64_t
object_of(const void *thing)
{
    return (uint64_t)(uintptr_t)thing;
}

static const void *
thing_of(uint64_t object)
{
    return (const void *)(uintptr_t)object;
}

static void
require(schedq_status_t status, const char *call, const char *why)
{
    if (status != SCHEDQ_OK) {
        fprintf(stderr, "%s: %s %s\n", call, schedq_status_name(status), why);
        exit(EXIT_FAILURE);
    }
}

/* Asks for the words here, after the call: of two arguments C may evaluate either one first. */
static void
worker_require(schedq_worker_t *worker, schedq_status_t status, const char *call)
{
    require(status, call, schedq_worker_error(worker));
}

/*
 * The hint of the plugin "Fit": a node that joins is worth another attempt if the pod fits on it.
 */
static schedq_hint_t
fits_on_new_node(void *ctx, uint64_t pod_object, uint64_t old_object, uint64_t new_object)
{
    const struct pod *pod = thing_of(pod_object);
    const struct node *node = thing_of(new_object);

    (void)ctx;
    (void)old_object;
    return node->free_milli >= pod->cpu_milli ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
}

static schedq_t *
create_queue(uint64_t *fit)
{
    char why[200] = "";
    schedq_t *queue;
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    const schedq_interest_t interest = {
        .resource = "Node", .actions = SCHEDQ_ACTION_ADD, .hint = fits_on_new_node};

    require(schedq_create(&config, &queue, why, sizeof why), "schedq_create", why);

    plugin.name = "Fit";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    require(schedq_plugin_register(queue, &plugin, fit, why, sizeof why), "schedq_plugin_register",
            why);
    return queue;
}

static void
add_pod(schedq_worker_t *worker, const struct pod *pod)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;

    spec.object = object_of(pod);
    spec.priority = pod->priority;
    worker_require(worker, schedq_add(worker, pod->name, strlen(pod->name), &spec, NULL),
                   "schedq_add");
}

static struct node *
find_node(const struct pod *pod)
{
    for (size_t i = 0; i < node_count; i++) {
        if (nodes[i].free_milli >= pod->cpu_milli) {
            return &nodes[i];
        }
    }
    return NULL;
}

static void
bind(schedq_worker_t *worker, const schedq_popped_t *popped, struct node *node)
{
    const struct pod *pod = thing_of(popped->object);
    schedq_status_t status;

    node->free_milli -= pod->cpu_milli;
    printf("%s: bound to %s, attempt %" PRIu32 "\n", popped->name, node->name,
           popped->history.attempts);
    status = schedq_done(worker, popped->token);
    if (status == SCHEDQ_GONE) { /* the pod was deleted during its cycle */
        node->free_milli += pod->cpu_milli;
        return;
    }
    require(status, "schedq_done", "");
}

static void
reject(schedq_worker_t *worker, schedq_popped_t *popped, uint64_t plugins)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;
    schedq_status_t status;

    printf("%s: fits on no node\n", popped->name); /* the name is valid until the token is used */
    failure.unschedulable = plugins;
    status = schedq_fail(worker, &popped->token, &failure, &result);
    if (status == SCHEDQ_GONE) {
        return;
    }
    worker_require(worker, status, "schedq_fail");
    printf("it is %s until an event helps\n", schedq_place_name((schedq_place_t)result.place));
}

/* Pops until nothing can be popped at the moment. */
static void
schedule(schedq_worker_t *worker, uint64_t fit)
{
    schedq_popped_t popped;
    schedq_status_t status;

    require(schedq_tick(worker, NULL, NULL), "schedq_tick", "");
    while ((status = schedq_try_pop(worker, &popped)) == SCHEDQ_OK) {
        struct node *node = find_node(thing_of(popped.object));

        if (node != NULL) {
            bind(worker, &popped, node);
        } else {
            reject(worker, &popped, fit);
        }
    }
    if (status != SCHEDQ_EMPTY) {
        require(status, "schedq_try_pop", "");
    }
}

/* The queue hears of a change after schedulers can see it. */
static void
node_joins(schedq_worker_t *worker)
{
    const struct node *node = &nodes[node_count++];
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_result_t result;

    change.event = SCHEDQ_EVENT_NODE_ADD;
    change.new_object = object_of(node);
    worker_require(worker, schedq_notify(worker, &change, &result), "schedq_notify");
    printf("%s joined: %" PRIu32 " pod is tried again\n", node->name,
           result.to_active + result.to_backoff);
}

int
main(void)
{
    char why[200] = "";
    uint64_t fit = 0;
    schedq_t *queue = create_queue(&fit);
    schedq_worker_t *worker;

    require(schedq_worker_register(queue, &worker, why, sizeof why), "schedq_worker_register", why);
    for (size_t i = 0; i < sizeof pods / sizeof pods[0]; i++) {
        add_pod(worker, &pods[i]);
    }
    schedule(worker, fit);
    node_joins(worker);
    schedule(worker, fit); /* nothing is active: pop takes the pod before its backoff is over */

    require(schedq_close(queue), "schedq_close", "");
    require(schedq_worker_unregister(worker), "schedq_worker_unregister", "");
    require(schedq_destroy(queue, why, sizeof why), "schedq_destroy", why);
    return EXIT_SUCCESS;
}
