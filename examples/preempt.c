/*
 * A scheduler that evicts: one node, two pods that fill it, and one that is more important than
 * both.
 *
 * The holder of a pod asks schedq_cluster_first_fit for a node. For a pod that fits nowhere it asks
 * schedq_preempt for victims, nominates the pod to their node, hands the eviction over, and parks
 * the pod. The eviction runs later, here between two rounds: until the last victim is about to be
 * deleted PreEnqueue keeps the preemptor out, and that victim's event brings it back. No scheduling
 * call waits for it.
 *
 * The room that an eviction makes is promised to the preemptor, and to no other pod of its priority
 * or below: schedq_cluster_first_fit counts the pods that are nominated to a node as if they ran
 * there. A placement that forgets them gives the room to the victims, which queue again, before the
 * preemptor comes: they are evicted again, for ever.
 *
 * One thread does everything here. With threads three things differ. The snapshot needs a lock of
 * the caller's (or two snapshots in turns), which is held from the search for a place until
 * schedq_done. A pod's handle is taken from popped.pod, because the pod may be popped before its
 * add returns. And `spawn` hands the task to a thread that deletes pods through the API server.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <schedq/eviction.h>
#include <schedq/preemption.h>
#include <schedq/schedq.h>

#define NODE_CPU_MILLI 4000
#define IN_QUEUE 1 /* the queue's number of a node is the snapshot's + 1: there 0 is none */
#define EVICTIONS_MAX 16
#define VICTIMS_MAX 16

struct pod {
    const char *name;
    int32_t priority;
    int64_t cpu_milli;
    int64_t start_ns;
    uint32_t node;            /* that it runs on */
    schedq_pod_t waiting;     /* in the queue */
    schedq_running_t running; /* in the snapshot */
};

static struct pod pods[] = {
    {"default/batch", 0, 3000, 0, 0, {0}, {0, 0}},
    {"default/web", 10, 1000, 0, 0, {0}, {0, 0}},
    {"default/db", 100, 3500, 0, 0, {0}, {0, 0}},
};

static schedq_t *queue;
static schedq_worker_t *worker;
static schedq_cluster_t *cluster; /* the snapshot */
static schedq_preemption_t *workspace;
static schedq_preemption_config_t rules;
static schedq_evictor_t *evictor;
static uint64_t fit; /* the bit of the plugin "Fit" */

/* What was handed over and has not run. */
static struct task {
    void (*run)(void *argument);
    void *argument;
} tasks[EVICTIONS_MAX];
static unsigned task_count;

static uint64_t
object_of(const struct pod *pod)
{
    return (uint64_t)(uintptr_t)pod;
}

static struct pod *
pod_of(uint64_t object)
{
    return (struct pod *)(uintptr_t)object;
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
worker_require(schedq_status_t status, const char *call)
{
    require(status, call, schedq_worker_error(worker));
}

static void
add(struct pod *pod)
{
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    schedq_result_t result;

    spec.object = object_of(pod);
    spec.priority = pod->priority;
    worker_require(schedq_add(worker, pod->name, strlen(pod->name), &spec, &result), "schedq_add");
    pod->waiting = result.pod;
}

/* ---- the evictor's callbacks ----------------------------------------------------------------- */

/*
 * Deletes a running pod: the snapshot changes first, then the queue is told. The pod's controller,
 * here add(), makes it anew.
 */
static int
evict(void *ctx, uint64_t victim, uint64_t preemptor)
{
    struct pod *pod = pod_of(victim);
    schedq_running_view_t view;
    schedq_change_t change = SCHEDQ_CHANGE_INIT;

    (void)ctx;
    if (schedq_cluster_pod(cluster, pod->running, &view) != SCHEDQ_OK) {
        return SCHEDQ_DELETE_GONE;
    }
    printf("%s: evicted for %s\n", pod->name, pod_of(preemptor)->name);
    require(schedq_cluster_remove_pod(cluster, pod->running), "schedq_cluster_remove_pod",
            schedq_cluster_error(cluster));
    change.event = SCHEDQ_EVENT_ASSIGNED_POD_DELETE;
    change.old_object = victim;
    worker_require(schedq_notify(worker, &change, NULL), "schedq_notify");
    add(pod);
    return SCHEDQ_DELETE_SENT;
}

/* Ends a nomination, in both places that know of it. */
static int
clear(void *ctx, uint64_t nominated, uint64_t preemptor)
{
    const struct pod *pod = pod_of(nominated);

    (void)ctx;
    (void)preemptor;
    (void)schedq_cluster_unnominate(cluster, pod->name, 0);
    return schedq_nominate(worker, pod->waiting, 0) == SCHEDQ_OK ? 0 : -1;
}

static void
activate(void *ctx, uint64_t preemptor)
{
    (void)ctx;
    require(schedq_activate(worker, &pod_of(preemptor)->waiting, 1, NULL), "schedq_activate", "");
}

static int
spawn(void *ctx, void (*run)(void *argument), void *argument)
{
    (void)ctx;
    if (task_count == EVICTIONS_MAX) {
        return -1;
    }
    tasks[task_count++] = (struct task){run, argument};
    return 0;
}

/* PreEnqueue of the plugin "Preemption": not while its victims are being evicted. */
static int
may_enter(void *ctx, uint64_t pod)
{
    (void)ctx;
    return schedq_evictor_holds(evictor, pod) == 0;
}

/* ---- a cycle --------------------------------------------------------------------------------- */

/* For both questions: where the pod fits, and which pods have to go if it fits nowhere. */
static schedq_preemptor_t
describe(const schedq_popped_t *popped)
{
    const struct pod *pod = pod_of(popped->object);
    schedq_preemptor_t preemptor = SCHEDQ_PREEMPTOR_INIT;

    preemptor.name = pod->name;
    preemptor.object = popped->object;
    preemptor.priority = pod->priority;
    preemptor.requests.cpu_milli = pod->cpu_milli;
    preemptor.nominated_node =
        popped->nominated_node != 0 ? (uint32_t)popped->nominated_node - IN_QUEUE : SCHEDQ_NO_NODE;
    return preemptor;
}

static schedq_running_spec_t
running_spec(const struct pod *pod)
{
    schedq_running_spec_t spec = SCHEDQ_RUNNING_SPEC_INIT;

    spec.name = pod->name;
    spec.object = object_of(pod);
    spec.node = pod->node;
    spec.priority = pod->priority;
    spec.start_ns = pod->start_ns;
    spec.requests.cpu_milli = pod->cpu_milli;
    return spec;
}

static void
bind(const schedq_popped_t *popped, uint32_t node)
{
    struct pod *pod = pod_of(popped->object);

    pod->start_ns = popped->history.timestamp_ns;
    pod->node = node;
    const schedq_running_spec_t spec = running_spec(pod);

    printf("%s: runs, attempt %" PRIu32 "\n", pod->name, popped->history.attempts);
    (void)schedq_cluster_unnominate(cluster, pod->name, 0); /* in the queue done ends it */
    require(schedq_cluster_add_pod(cluster, &spec, &pod->running), "schedq_cluster_add_pod",
            schedq_cluster_error(cluster));
    require(schedq_done(worker, popped->token), "schedq_done", "");
}

/* A decision that is made before the victim is gone sees that it is on its way out. */
static void
mark(const struct pod *victim)
{
    schedq_running_spec_t spec = running_spec(victim);

    spec.terminating = 1;
    spec.disruption_status = 1;
    spec.disruption_reason = "PreemptionByScheduler";
    require(schedq_cluster_update_pod(cluster, victim->running, &spec), "schedq_cluster_update_pod",
            schedq_cluster_error(cluster));
}

/* Carries out a decision for a pod that is still in flight. */
static void
act(struct pod *pod, const schedq_preemption_decision_t *decision)
{
    schedq_nominated_spec_t nomination = SCHEDQ_NOMINATED_SPEC_INIT;
    uint64_t victims[VICTIMS_MAX], clears[VICTIMS_MAX];

    if (decision->delete_count > VICTIMS_MAX || decision->clear_count > VICTIMS_MAX) {
        require(SCHEDQ_FULL, "schedq_preempt", "more victims than a node holds here");
    }
    nomination.name = pod->name;
    nomination.object = object_of(pod);
    nomination.node = decision->chosen;
    nomination.priority = pod->priority;
    nomination.requests.cpu_milli = pod->cpu_milli;
    nomination.expires_ns = decision->nomination_expires_ns;
    printf("%s: nominated, %" PRIu32 " to be evicted\n", pod->name, decision->delete_count);
    require(schedq_cluster_nominate(cluster, &nomination, NULL), "schedq_cluster_nominate",
            schedq_cluster_error(cluster));
    require(schedq_nominate(worker, pod->waiting, decision->chosen + IN_QUEUE), "schedq_nominate",
            "");
    for (uint32_t i = 0; i < decision->delete_count; i++) {
        schedq_running_view_t view;

        require(schedq_cluster_pod(cluster, decision->deletes[i], &view), "schedq_cluster_pod", "");
        victims[i] = view.object;
        mark(pod_of(view.object));
    }
    for (uint32_t i = 0; i < decision->clear_count; i++) {
        clears[i] = decision->clears[i].object;
    }
    schedq_eviction_t eviction = SCHEDQ_EVICTION_INIT;

    eviction.preemptor = object_of(pod);
    eviction.victims = victims;
    eviction.victim_count = decision->delete_count;
    eviction.clears = clears;
    eviction.clear_count = decision->clear_count;
    eviction.later = decision->holds;

    require(schedq_evictor_evict(evictor, &eviction, NULL), "schedq_evictor_evict", "");
}

static void
preempt(const schedq_popped_t *popped, const schedq_preemptor_t *preemptor)
{
    schedq_preemption_decision_t decision = SCHEDQ_PREEMPTION_DECISION_INIT;

    require(schedq_preempt(cluster, workspace, &rules, preemptor, &decision), "schedq_preempt",
            schedq_preemption_error(workspace));
    if (decision.nomination == SCHEDQ_NOMINATION_SET) {
        act(pod_of(popped->object), &decision);
    } else if (decision.nomination == SCHEDQ_NOMINATION_CLEAR) {
        (void)clear(NULL, popped->object, popped->object);
    }
}

static void
reject(schedq_popped_t *popped, const schedq_preemptor_t *preemptor)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;

    printf("%s: fits nowhere\n", preemptor->name);
    preempt(popped, preemptor);
    failure.unschedulable = fit;
    worker_require(schedq_fail(worker, &popped->token, &failure, &result), "schedq_fail");
}

static void
schedule(schedq_popped_t *popped)
{
    const schedq_preemptor_t preemptor = describe(popped);
    uint32_t node;
    schedq_status_t status =
        schedq_cluster_first_fit(cluster, workspace, &rules, &preemptor, &node);

    if (status == SCHEDQ_NOT_FOUND) {
        reject(popped, &preemptor);
        return;
    }
    require(status, "schedq_cluster_first_fit", schedq_preemption_error(workspace));
    bind(popped, node);
}

/*
 * Pops until nothing can be popped; then what was handed over runs. True: there was such a thing.
 */
static bool
round_of_scheduling(void)
{
    unsigned due;
    schedq_popped_t popped;

    require(schedq_tick(worker, NULL, NULL), "schedq_tick", "");
    while (schedq_try_pop(worker, &popped) == SCHEDQ_OK) {
        schedule(&popped);
    }
    due = task_count;
    task_count = 0;
    for (unsigned i = 0; i < due; i++) {
        tasks[i].run(tasks[i].argument);
    }
    return due > 0;
}

/* ---- setup ----------------------------------------------------------------------------------- */

static void
open_queue(void)
{
    const schedq_interest_t interest = {.resource = "AssignedPod", .actions = SCHEDQ_ACTION_DELETE};
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    uint64_t bit;
    char why[200] = "";

    require(schedq_create(&config, &queue, why, sizeof why), "schedq_create", why);
    plugin.name = "Fit";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    require(schedq_plugin_register(queue, &plugin, &fit, why, sizeof why), "schedq_plugin_register",
            why);
    plugin.name = "Preemption";
    plugin.pre_enqueue = may_enter;
    require(schedq_plugin_register(queue, &plugin, &bit, why, sizeof why), "schedq_plugin_register",
            why);
    require(schedq_worker_register(queue, &worker, why, sizeof why), "schedq_worker_register", why);
}

static void
open_preemption(void)
{
    schedq_node_spec_t node = SCHEDQ_NODE_SPEC_INIT;
    schedq_evictor_config_t config = SCHEDQ_EVICTOR_CONFIG_INIT;
    char why[200] = "";

    node.name = "node-a";
    node.allocatable.cpu_milli = NODE_CPU_MILLI;
    node.pods = 110;
    rules = (schedq_preemption_config_t)SCHEDQ_PREEMPTION_CONFIG_INIT;
    require(schedq_cluster_create(NULL, &cluster, why, sizeof why), "schedq_cluster_create", why);
    require(schedq_cluster_add_node(cluster, &node, NULL), "schedq_cluster_add_node",
            schedq_cluster_error(cluster));
    require(schedq_preemption_create(NULL, &workspace, why, sizeof why), "schedq_preemption_create",
            why);
    config.evict = evict;
    config.clear = clear;
    config.activate = activate;
    config.spawn = spawn;
    require(schedq_evictor_create(&config, &evictor, why, sizeof why), "schedq_evictor_create",
            why);
}

int
main(void)
{
    char why[200] = "";

    open_preemption();
    open_queue();
    add(&pods[0]);
    add(&pods[1]);
    (void)round_of_scheduling();
    add(&pods[2]);
    while (round_of_scheduling()) {
    }
    require(schedq_close(queue), "schedq_close", "");
    require(schedq_worker_unregister(worker), "schedq_worker_unregister", "");
    /* pods that fit nowhere are dropped */
    require(schedq_destroy_with_pods(queue, why, sizeof why), "schedq_destroy_with_pods", why);
    /* after the queue, whose PreEnqueue asks it */
    require(schedq_evictor_destroy(evictor), "schedq_evictor_destroy", "");
    schedq_preemption_destroy(workspace);
    schedq_cluster_destroy(cluster);
    return EXIT_SUCCESS;
}
