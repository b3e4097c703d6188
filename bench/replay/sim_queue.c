/*
 * The queue of a simulation: its configuration, two plugins, and the hints that judge cluster
 * events.
 */
#include "sim_preempt.h"

/* More pods than this are not reserved at once; the queue grows as it does for any user. */
enum { RESERVE_PODS_MAX = 1 << 20 };

static schedq_hint_t
fits(const sim_t *sim, uint64_t node, uint64_t object)
{
    return cluster_fits(sim->cluster, (uint32_t)sim_number(node),
                        sim_recorded(sim, sim_number(object)))
               ? SCHEDQ_HINT_QUEUE
               : SCHEDQ_HINT_SKIP;
}

/* A pod ended on the node that is the old object: does `object` fit there? */
static schedq_hint_t
hint_pod_ended(void *ctx, uint64_t object, uint64_t old_object, uint64_t new_object)
{
    (void)new_object;
    return fits(ctx, old_object, object);
}

/* A node joined: does `object` fit there? */
static schedq_hint_t
hint_node_joined(void *ctx, uint64_t object, uint64_t old_object, uint64_t new_object)
{
    (void)old_object;
    return fits(ctx, new_object, object);
}

/* A node joined: kube compares with all that it has, whatever has been placed there since. */
static schedq_hint_t
hint_node_joined_as_kube(void *ctx, uint64_t object, uint64_t old_object, uint64_t new_object)
{
    const sim_t *sim = ctx;
    uint32_t node = (uint32_t)sim_number(new_object);

    (void)old_object;
    return cluster_node_ever_fits(sim->cluster, node, sim_recorded(sim, sim_number(object)))
               ? SCHEDQ_HINT_QUEUE
               : SCHEDQ_HINT_SKIP;
}

static bool
register_plugin(sim_t *sim, const char *name, uint64_t *bit)
{
    const bool kube = sim->options->hints == HINTS_KUBE;
    const schedq_interest_t interests[] = {
        {.resource = "AssignedPod",
         .actions = SCHEDQ_ACTION_DELETE,
         .hint = kube ? NULL : hint_pod_ended},
        {.resource = "Node",
         .actions = SCHEDQ_ACTION_ADD,
         .hint = kube ? hint_node_joined_as_kube : hint_node_joined},
    };
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    char why[200];

    plugin.name = name;
    plugin.interests = interests;
    plugin.interest_count = sizeof interests / sizeof interests[0];
    plugin.ctx = sim;
    schedq_status_t status = schedq_plugin_register(sim->queue, &plugin, bit, why, sizeof why);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_plugin_register(%s): %s: %s", name, schedq_status_name(status), why);
    }
    return status == SCHEDQ_OK;
}

static bool
create_queue(sim_t *sim)
{
    const simulate_options_t *options = sim->options;
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    char why[200];

    schedq_status_t status = schedq_config_preset(&config, options->preset);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_config_preset(%d): %s", (int)options->preset,
                 schedq_status_name(status));
        return false;
    }
    config.engine = options->engine;
    config.max_pods = 0;
    config.external_clock = 1;
    config.start_ns = SIM_CLOCK_OFFSET_NS;
    if (options->max_parked_ns != 0) {
        config.max_parked_ns = options->max_parked_ns;
    }
    sim->max_parked_ns = config.max_parked_ns;
    config.class_patience_ns = options->classes ? config.max_parked_ns : 0;
    sim->max_backoff_ns = config.max_backoff_ns;
    status = schedq_create(&config, &sim->queue, why, sizeof why);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_create: %s: %s", schedq_status_name(status), why);
        return false;
    }
    sim->words = schedq_words(sim->queue);
    return true;
}

static bool
reserve(sim_t *sim)
{
    size_t pods = sim->scenario->pod_count;
    char why[200];

    schedq_status_t status = schedq_reserve(
        sim->queue, pods < RESERVE_PODS_MAX ? (uint32_t)pods : RESERVE_PODS_MAX,
        (uint32_t)sim->scenario->workload->classes.count, sim->worker_count, why, sizeof why);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_reserve: %s: %s", schedq_status_name(status), why);
    }
    return status == SCHEDQ_OK;
}

static bool
register_workers(sim_t *sim)
{
    char why[200];

    for (unsigned i = 0; i < sim->worker_count; i++) {
        schedq_status_t status =
            schedq_worker_register(sim->queue, &sim->workers[i].queue, why, sizeof why);
        if (status != SCHEDQ_OK) {
            sim_fail(sim, "schedq_worker_register, worker %u: %s: %s", i,
                     schedq_status_name(status), why);
            return false;
        }
    }
    return true;
}

bool
sim_queue_open(sim_t *sim)
{
    return create_queue(sim) && register_plugin(sim, "NodeResourcesFit", &sim->resources_bit) &&
           register_plugin(sim, "GpuShare", &sim->gpus_bit) && sim_preempt_register(sim) &&
           reserve(sim) && register_workers(sim);
}

void
sim_queue_close(sim_t *sim)
{
    for (unsigned i = 0; i < sim->worker_count; i++) {
        if (sim->workers[i].queue != NULL) {
            schedq_worker_unregister(sim->workers[i].queue);
            sim->workers[i].queue = NULL;
        }
    }
    schedq_status_t status = schedq_destroy_with_pods(sim->queue, NULL, 0);
    if (status != SCHEDQ_OK) {
        sim_fail(sim, "schedq_destroy: %s", schedq_status_name(status));
    }
    sim->queue = NULL;
}
