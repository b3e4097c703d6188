/* Decisions and evictions of sim_preempt.h. */
#include "sim_preempt.h"

#include "alloc.h"
#include "hash.h"

#include <schedq/eviction.h>
#include <schedq/preemption.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (INT64_C(1) << 20)
/* The recordings say nothing of slots for pods. */
#define SLOTS INT64_C(1000000)

/* Objects of the pods that a decision names: carrying it out changes the snapshot. */
typedef struct plan {
    uint64_t *victims;
    uint64_t *clears;
    size_t victim_capacity, clear_capacity;
} plan_t;

typedef struct task {
    void (*run)(void *argument);
    void *argument;
} task_t;

struct sim_preemption {
    schedq_cluster_t *snapshot;
    schedq_preemption_config_t config;
    schedq_evictor_t *evictor;
    schedq_preemption_t *workspace;
    cluster_trial_t *trial;
    plan_t plan;
    uint8_t *statuses;         /* of nodes */
    schedq_running_t *running; /* of pods */
    uint32_t *nominated;       /* of pods: 1 + node, or 0 */
    task_t *tasks;             /* of decisions for later, at most one for each worker */
    size_t task_count;
    sim_worker_t *hand; /* that moves time on: its handle of the queue is used */
};

static int32_t
priority_of(const sim_t *sim, size_t pod)
{
    return sim->options->priority[sim_recorded(sim, pod)->qos];
}

static void
must(sim_t *sim, schedq_status_t status, const char *operation, size_t pod, const char *words)
{
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "%s(%s): %s: %s", operation, sim_recorded(sim, pod)->name,
                 schedq_status_name(status), words);
    }
}

static schedq_amounts_t
requests_of(const sim_t *sim, size_t pod)
{
    const workload_pod_t *recorded = sim_recorded(sim, pod);

    return (schedq_amounts_t){.cpu_milli = recorded->cpu_milli,
                              .memory_bytes = recorded->memory_mib * MIB};
}

/* ---- what the snapshot is asked -------------------------------------------------------------- */

/* A pod that is looked at, and where the filter looks at it. */
typedef struct look {
    sim_t *sim;
    size_t pod;
    cluster_trial_t *trial;
    schedq_preemptor_t *description;
} look_t;

/* GPUs are shared in a way that sums do not show. */
static schedq_fit_t
fits_gpus(void *ctx, const schedq_filter_question_t *question)
{
    const look_t *look = ctx;
    const sim_t *sim = look->sim;
    schedq_running_view_t view;

    cluster_trial_begin(look->trial, sim->cluster, question->node);
    for (uint32_t i = 0; i < question->removed_count; i++) {
        if (schedq_cluster_pod(question->cluster, question->removed[i], &view) != SCHEDQ_OK) {
            return SCHEDQ_FIT_ERROR;
        }
        size_t number = sim_number(view.object);
        cluster_trial_release(look->trial, sim_recorded(sim, number), sim->pods[number].gpus);
    }
    for (uint32_t i = 0; i < question->nominated_count; i++) {
        const workload_pod_t *nominated = sim_recorded(sim, sim_number(question->nominated[i]));
        if (cluster_trial_lacks(look->trial, nominated) != 0) {
            return SCHEDQ_FIT_UNSCHEDULABLE;
        }
        cluster_trial_reserve(look->trial, nominated);
    }
    return cluster_trial_lacks(look->trial, sim_recorded(sim, look->pod)) == 0
               ? SCHEDQ_FIT_YES
               : SCHEDQ_FIT_UNSCHEDULABLE;
}

/* As the snapshot is asked for a place, and for victims. */
static void
describe(sim_t *sim, size_t pod, const char *name, look_t *look, schedq_preemptor_t *preemptor)
{
    const struct sim_preemption *preemption = sim->preemption;

    *look = (look_t){.sim = sim, .pod = pod, .trial = preemption->trial, .description = preemptor};
    *preemptor = (schedq_preemptor_t)SCHEDQ_PREEMPTOR_INIT;
    preemptor->priority = priority_of(sim, pod);
    preemptor->name = name;
    preemptor->object = sim_object(pod);
    preemptor->requests = requests_of(sim, pod);
    preemptor->now_ns = sim->now_ns + SIM_CLOCK_OFFSET_NS;
    preemptor->filter = sim_recorded(sim, pod)->gpus > 0 ? fits_gpus : NULL;
    preemptor->filter_ctx = look;
}

/* ---- a place beside nominated pods ----------------------------------------------------------- */

static unsigned
refuse_for_nominated(void *ctx, uint32_t node)
{
    const look_t *look = ctx;
    const struct sim_preemption *preemption = look->sim->preemption;
    schedq_fit_t fit = SCHEDQ_FIT_ERROR;
    uint32_t resource = SCHEDQ_NO_RESOURCE;

    must(look->sim,
         schedq_cluster_fits(preemption->snapshot, preemption->workspace, &preemption->config,
                             look->description, node, &fit, &resource),
         "schedq_cluster_fits", look->pod, schedq_preemption_error(preemption->workspace));
    if (fit == SCHEDQ_FIT_YES) {
        return 0;
    }
    return resource != SCHEDQ_NO_RESOURCE ? CLUSTER_LACKS_RESOURCES : CLUSTER_LACKS_GPUS;
}

uint32_t
sim_preempt_find(sim_worker_t *worker, size_t pod, unsigned *lacks)
{
    sim_t *sim = worker->sim;
    const workload_pod_t *recorded = sim_recorded(sim, pod);
    char name[SCHEDQ_NAME_MAX + 1];
    schedq_preemptor_t description;
    look_t look;

    if (sim->preemption == NULL ||
        __atomic_load_n(&sim->words->nominations, __ATOMIC_ACQUIRE) == 0) {
        return verdicts_find(sim->verdicts, sim->cluster, recorded, lacks);
    }
    sim_pod_name(sim, pod, name);
    describe(sim, pod, name, &look, &description);
    return cluster_find_filtered(sim->cluster, recorded, refuse_for_nominated, &look, lacks);
}

/* ---- the snapshot follows -------------------------------------------------------------------- */

void
sim_preempt_node_joined(sim_t *sim, uint32_t node)
{
    struct sim_preemption *preemption = sim->preemption;
    uint32_t number = 0;

    if (preemption == NULL) {
        return;
    }
    const workload_node_t *recorded =
        &sim->scenario->workload->nodes[sim->scenario->nodes[node].node];
    const schedq_node_spec_t spec = {
        .struct_size = sizeof(schedq_node_spec_t),
        .name = recorded->name,
        .object = sim_object(node),
        .allocatable = {.cpu_milli = recorded->cpu_milli,
                        .memory_bytes = recorded->memory_mib * MIB},
        .pods = SLOTS,
    };
    schedq_status_t status = schedq_cluster_add_node(preemption->snapshot, &spec, &number);
    if (status != SCHEDQ_OK || number != node) {
        sim_fail(sim, "schedq_cluster_add_node(%s): %s: %s, number %" PRIu32 " of %" PRIu32,
                 recorded->name, schedq_status_name(status),
                 schedq_cluster_error(preemption->snapshot), number, node);
    }
}

/* As the snapshot is told of a pod on a node. */
static schedq_running_spec_t
running_spec(const sim_t *sim, size_t pod, const char *name)
{
    return (schedq_running_spec_t){
        .struct_size = sizeof(schedq_running_spec_t),
        .name = name,
        .object = sim_object(pod),
        .node = sim->pods[pod].node,
        .priority = priority_of(sim, pod),
        .start_ns = sim->now_ns + SIM_CLOCK_OFFSET_NS,
        .requests = requests_of(sim, pod),
        .is_protected = sim->pods[pod].place != SIM_RUNNING,
    };
}

/* Both nominators hear of it. */
static void
nominate(sim_t *sim, sim_worker_t *worker, size_t pod, uint32_t nominated)
{
    struct sim_preemption *preemption = sim->preemption;
    char name[SCHEDQ_NAME_MAX + 1];

    if (preemption->nominated[pod] == 0 && nominated == 0) {
        return;
    }
    sim_pod_name(sim, pod, name);
    must(sim, schedq_nominate(worker->queue, sim->pods[pod].handle, nominated), "schedq_nominate",
         pod, schedq_worker_error(worker->queue));
    const schedq_nominated_spec_t spec = {.struct_size = sizeof(schedq_nominated_spec_t),
                                          .name = name,
                                          .object = sim_object(pod),
                                          .node = nominated - 1,
                                          .priority = priority_of(sim, pod),
                                          .requests = requests_of(sim, pod),
                                          .expires_ns = SCHEDQ_NO_DEADLINE};
    schedq_status_t status = nominated != 0
                                 ? schedq_cluster_nominate(preemption->snapshot, &spec, NULL)
                                 : schedq_cluster_unnominate(preemption->snapshot, name, 0);
    must(sim, status, "schedq_cluster_nominate", pod, schedq_cluster_error(preemption->snapshot));
    preemption->nominated[pod] = nominated;
}

void
sim_preempt_placed(sim_worker_t *worker, size_t pod)
{
    sim_t *sim = worker->sim;
    char name[SCHEDQ_NAME_MAX + 1];

    if (sim->preemption == NULL) {
        return;
    }
    nominate(sim, worker, pod, 0);
    sim_pod_name(sim, pod, name);
    const schedq_running_spec_t spec = running_spec(sim, pod, name);
    must(sim,
         schedq_cluster_add_pod(sim->preemption->snapshot, &spec, &sim->preemption->running[pod]),
         "schedq_cluster_add_pod", pod, schedq_cluster_error(sim->preemption->snapshot));
}

void
sim_preempt_bound(sim_t *sim, size_t pod)
{
    if (sim->preemption == NULL) {
        return;
    }
    const schedq_running_spec_t spec = running_spec(sim, pod, NULL);
    must(sim,
         schedq_cluster_update_pod(sim->preemption->snapshot, sim->preemption->running[pod], &spec),
         "schedq_cluster_update_pod", pod, schedq_cluster_error(sim->preemption->snapshot));
}

void
sim_preempt_ended(sim_t *sim, size_t pod)
{
    if (sim->preemption != NULL) {
        must(sim,
             schedq_cluster_remove_pod(sim->preemption->snapshot, sim->preemption->running[pod]),
             "schedq_cluster_remove_pod", pod, schedq_cluster_error(sim->preemption->snapshot));
    }
}

/* ---- carrying out ---------------------------------------------------------------------------- */

static int
evict(void *ctx, uint64_t victim, uint64_t preemptor)
{
    sim_t *sim = ctx;
    size_t number = sim_number(victim);

    (void)preemptor;
    /* It ended meanwhile; and perhaps began anew elsewhere, if it was evicted for another. */
    if (sim->pods[number].place != SIM_RUNNING) {
        return SCHEDQ_DELETE_GONE;
    }
    sim_evict(sim, sim->preemption->hand, (uint32_t)number);
    return SCHEDQ_DELETE_SENT;
}

static int
clear(void *ctx, uint64_t nominated, uint64_t preemptor)
{
    sim_t *sim = ctx;

    (void)preemptor;
    nominate(sim, sim->preemption->hand, sim_number(nominated), 0);
    return 0;
}

static void
activate(void *ctx, uint64_t preemptor)
{
    sim_t *sim = ctx;
    size_t number = sim_number(preemptor);
    sim_worker_t *hand = sim->preemption->hand;
    schedq_result_t result;

    schedq_status_t status = schedq_activate(hand->queue, &sim->pods[number].handle, 1, &result);
    must(sim, status, "schedq_activate", number, schedq_worker_error(hand->queue));
    if (result.poppable != 0) {
        sim_wake_idle(sim);
    }
}

static int
spawn(void *ctx, void (*run)(void *argument), void *argument)
{
    sim_t *sim = ctx;
    struct sim_preemption *preemption = sim->preemption;

    preemption->tasks[preemption->task_count++] = (task_t){.run = run, .argument = argument};
    return 0;
}

/* ---- deciding -------------------------------------------------------------------------------- */

static void
copy_objects(sim_t *sim, const schedq_preemption_decision_t *decision)
{
    struct sim_preemption *preemption = sim->preemption;
    plan_t *plan = &preemption->plan;
    schedq_running_view_t view;

    plan->victims = alloc_grow(plan->victims, &plan->victim_capacity, decision->delete_count,
                               sizeof *plan->victims);
    plan->clears = alloc_grow(plan->clears, &plan->clear_capacity, decision->clear_count,
                              sizeof *plan->clears);
    for (uint32_t i = 0; i < decision->delete_count; i++) {
        (void)schedq_cluster_pod(preemption->snapshot, decision->deletes[i], &view);
        plan->victims[i] = view.object;
    }
    for (uint32_t i = 0; i < decision->clear_count; i++) {
        plan->clears[i] = decision->clears[i].object;
    }
}

/* Until they are gone: who decides next sees that they are on their way out. */
static void
mark_victims(sim_t *sim, uint32_t count)
{
    struct sim_preemption *preemption = sim->preemption;

    for (uint32_t i = 0; i < count; i++) {
        size_t number = sim_number(preemption->plan.victims[i]);
        schedq_running_spec_t spec = running_spec(sim, number, NULL);

        spec.start_ns = sim->pods[number].bound_ns + SIM_CLOCK_OFFSET_NS;
        spec.terminating = 1;
        spec.disruption_status = 1;
        spec.disruption_reason = "PreemptionByScheduler";
        must(sim,
             schedq_cluster_update_pod(preemption->snapshot, preemption->running[number], &spec),
             "schedq_cluster_update_pod", number, schedq_cluster_error(preemption->snapshot));
    }
}

static void
evict_victims(sim_t *sim, size_t pod, const schedq_preemption_decision_t *decision)
{
    struct sim_preemption *preemption = sim->preemption;
    const schedq_eviction_t eviction = {
        .struct_size = sizeof(schedq_eviction_t),
        .preemptor = sim_object(pod),
        .victims = preemption->plan.victims,
        .victim_count = decision->delete_count,
        .clears = preemption->plan.clears,
        .clear_count = decision->clear_count,
        .later = preemption->config.asynchronous,
    };

    if (eviction.later) {
        mark_victims(sim, decision->delete_count);
    }
    must(sim, schedq_evictor_evict(preemption->evictor, &eviction, NULL), "schedq_evictor_evict",
         pod, "");
}

/* What nodes say to a pod that fits nowhere, and what it was promised. */
static void
describe_refusals(sim_t *sim, size_t pod, schedq_preemptor_t *preemptor)
{
    const struct sim_preemption *preemption = sim->preemption;

    preemptor->nominated_node =
        preemption->nominated[pod] != 0 ? preemption->nominated[pod] - 1 : SCHEDQ_NO_NODE;
    preemptor->statuses = preemption->statuses;
    preemptor->status_count = (uint32_t)sim->next_node;
    preemptor->offset = (uint32_t)hash_mix(sim->result->attempts);
    for (uint32_t i = 0; i < preemptor->status_count; i++) {
        preemption->statuses[i] = cluster_node_ever_fits(sim->cluster, i, sim_recorded(sim, pod))
                                      ? SCHEDQ_NODE_UNSCHEDULABLE
                                      : SCHEDQ_NODE_UNRESOLVABLE;
    }
}

void
sim_preempt_decide(sim_t *sim, sim_worker_t *worker, sim_worker_t *ending)
{
    struct sim_preemption *preemption = sim->preemption;

    if (preemption == NULL || ending->rejectors == 0) {
        return;
    }
    size_t pod = sim_number(ending->popped.object);
    schedq_preemption_decision_t decision = SCHEDQ_PREEMPTION_DECISION_INIT;
    schedq_preemptor_t preemptor;
    look_t look;
    char name[SCHEDQ_NAME_MAX + 1];

    sim_pod_name(sim, pod, name);
    describe(sim, pod, name, &look, &preemptor);
    describe_refusals(sim, pod, &preemptor);
    preemption->hand = worker;
    uint64_t start = costs_now();
    schedq_status_t status = schedq_preempt(preemption->snapshot, preemption->workspace,
                                            &preemption->config, &preemptor, &decision);
    costs_record(&worker->costs, COST_PREEMPT, start);
    must(sim, status, "schedq_preempt", pod, schedq_preemption_error(preemption->workspace));
    if (status != SCHEDQ_OK || decision.nomination == SCHEDQ_NOMINATION_KEEP) {
        return;
    }
    /*
     * The pod is in flight, so that nobody else has it: whoever looks from now on counts with its
     * nomination.
     */
    if (decision.nomination == SCHEDQ_NOMINATION_CLEAR) {
        nominate(sim, worker, pod, 0);
        return;
    }
    copy_objects(sim, &decision);
    nominate(sim, worker, pod, decision.chosen + 1);
    evict_victims(sim, pod, &decision);
    sim->result->preemptions++;
}

void
sim_preempt_describe(const sim_worker_t *worker, schedq_failure_t *failure,
                     schedq_pod_spec_t *newest)
{
    sim_t *sim = worker->sim;

    if (sim->preemption == NULL) {
        return;
    }
    pthread_mutex_lock(&sim->lock);
    *newest = (schedq_pod_spec_t)SCHEDQ_POD_SPEC_INIT;
    newest->object = worker->popped.object;
    newest->priority = worker->popped.priority;
    failure->newest = newest;
    newest->nominated_node = sim->preemption->nominated[sim_number(worker->popped.object)];
    if (newest->nominated_node == 0) { /* one that has a node to itself fails alone */
        newest->class_id = sim_class(sim, sim_number(worker->popped.object));
    }
    pthread_mutex_unlock(&sim->lock);
}

bool
sim_preempt_is_due(const sim_t *sim)
{
    return sim->preemption != NULL && sim->preemption->task_count > 0;
}

void
sim_preempt_carry_out(sim_t *sim, sim_worker_t *worker)
{
    struct sim_preemption *preemption = sim->preemption;

    if (preemption == NULL) {
        return;
    }
    preemption->hand = worker;
    for (size_t i = 0; i < preemption->task_count; i++) {
        preemption->tasks[i].run(preemption->tasks[i].argument);
    }
    preemption->task_count = 0;
}

/* ---- the plugin ------------------------------------------------------------------------------ */

/* Not while its victims are being evicted. */
static int
pre_enqueue(void *ctx, uint64_t pod)
{
    const sim_t *sim = ctx;

    return schedq_evictor_holds(sim->preemption->evictor, pod) == 0;
}

bool
sim_preempt_register(sim_t *sim)
{
    static const schedq_interest_t interest = {.resource = "AssignedPod",
                                               .actions = SCHEDQ_ACTION_DELETE};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    char why[200];
    uint64_t bit;

    if (sim->preemption == NULL || sim->preemption->config.asynchronous == 0) {
        return true;
    }
    plugin.name = "DefaultPreemption";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    plugin.pre_enqueue = pre_enqueue;
    plugin.ctx = sim;
    schedq_status_t status = schedq_plugin_register(sim->queue, &plugin, &bit, why, sizeof why);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_plugin_register(%s): %s: %s", plugin.name, schedq_status_name(status),
                 why);
    }
    return status == SCHEDQ_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool
open_evictor(sim_t *sim)
{
    schedq_evictor_config_t config = SCHEDQ_EVICTOR_CONFIG_INIT;
    char why[200];

    config.evict = evict;
    config.clear = clear;
    config.activate = activate;
    config.spawn = spawn;
    config.ctx = sim;
    schedq_status_t status =
        schedq_evictor_create(&config, &sim->preemption->evictor, why, sizeof why);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_evictor_create: %s: %s", schedq_status_name(status), why);
    }
    return status == SCHEDQ_OK;
}

bool
sim_preempt_open(sim_t *sim)
{
    char why[200];

    if (sim->options->preemption == SIMULATE_NO_PREEMPTION) {
        return true;
    }
    struct sim_preemption *preemption = alloc_array(1, sizeof *preemption);

    sim->preemption = preemption;
    preemption->trial = cluster_trial_new();
    preemption->tasks = alloc_array(sim->worker_count, sizeof *preemption->tasks);
    preemption->statuses = alloc_array(sim->scenario->node_count, sizeof *preemption->statuses);
    preemption->running = alloc_array(sim->scenario->pod_count, sizeof *preemption->running);
    preemption->nominated = alloc_array(sim->scenario->pod_count, sizeof *preemption->nominated);
    preemption->config = (schedq_preemption_config_t)SCHEDQ_PREEMPTION_CONFIG_INIT;
    schedq_status_t status = schedq_preemption_config_preset(
        &preemption->config, (schedq_preset_t)sim->options->preemption);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_preemption_config_preset(%d): %s", sim->options->preemption,
                 schedq_status_name(status));
        return false;
    }
    status = schedq_cluster_create(NULL, &preemption->snapshot, why, sizeof why);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_cluster_create: %s: %s", schedq_status_name(status), why);
        return false;
    }
    status = schedq_preemption_create(NULL, &preemption->workspace, why, sizeof why);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_preemption_create: %s: %s", schedq_status_name(status), why);
        return false;
    }
    return open_evictor(sim);
}

void
sim_preempt_close(sim_t *sim)
{
    struct sim_preemption *preemption = sim->preemption;

    if (preemption == NULL) {
        return;
    }
    if (schedq_evictor_destroy(preemption->evictor) != SCHEDQ_OK && !sim->failed &&
        !sim->result->interrupted) {
        sim_fail(sim, "schedq_evictor_destroy: an eviction has not ended");
    }
    schedq_preemption_destroy(preemption->workspace);
    schedq_cluster_destroy(preemption->snapshot);
    cluster_trial_free(preemption->trial);
    free(preemption->plan.victims);
    free(preemption->plan.clears);
    free(preemption->tasks);
    free(preemption->statuses);
    free(preemption->running);
    free(preemption->nominated);
    free(preemption);
    sim->preemption = NULL;
}
