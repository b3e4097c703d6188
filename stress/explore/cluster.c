/*
 * The small world of cluster.h. Callbacks are points before and after they look: a call may take
 * its time in them.
 */
#include "cluster.h"

#include "world.h"

#include <string.h>

#define BEGINNING_NS 1000

static struct {
    bool used, gated, hinted, real_time;
    int64_t now;
    moment opened[2];
} cluster;

void
cluster_reset(void)
{
    cluster.used = cluster.gated = cluster.real_time = false;
    cluster.hinted = true;
    cluster.now = BEGINNING_NS;
    cluster.opened[0] = cluster.opened[1] = NEVER;
}

bool
cluster_is_used(void)
{
    return cluster.used;
}

bool
cluster_has_gates(void)
{
    return cluster.gated;
}

/* ---- time ------------------------------------------------------------------------------------ */

int64_t
cluster_now(void)
{
    return cluster.real_time ? sim_now() : cluster.now;
}

void
cluster_pass(int64_t ns)
{
    if (cluster.real_time) {
        sim_pass(ns);
    } else {
        cluster.now += ns;
    }
}

static int64_t
read_clock(void *ctx)
{
    (void)ctx;
    return cluster.now;
}

void
cluster_use_without_gates(schedq_config_t *config)
{
    cluster.used = true;
    config->clock = (schedq_clock_t){.now_ns = read_clock, .is_virtual = 1};
    config->initial_backoff_ns = BACKOFF_NS;
    config->max_backoff_ns = 4 * BACKOFF_NS;
    config->max_parked_ns = LIMIT_NS;
    config->event_log = 4;
    config->max_lots = 2;
}

void
cluster_use(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    cluster.gated = true;
    config->max_lots = 4;
}

void
cluster_use_without_hints(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    cluster.hinted = false;
}

void
cluster_use_real_time(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    memset(&config->clock, 0, sizeof config->clock);
    cluster.real_time = true;
}

void
cluster_use_host(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    config->decide = SCHEDQ_DECIDE_HOST;
}

/* ---- gates and hints ------------------------------------------------------------------------- */

static unsigned
number_of(uint64_t gate)
{
    return gate == GATE_B ? 1 : 0;
}

void
cluster_open(uint64_t gate)
{
    cluster.opened[number_of(gate)] = ++world.ledger.now;
}

void
cluster_shut(uint64_t gate)
{
    cluster.opened[number_of(gate)] = NEVER;
}

moment
cluster_opened(uint64_t gate)
{
    return cluster.opened[number_of(gate)];
}

static int
is_open(void *ctx, uint64_t pod)
{
    bool free = ledger_attempt_of(&world.ledger, pod)->priority >= 0;

    sim_point();
    bool open = *(const moment *)ctx != NEVER;
    sim_point();
    return free || open;
}

bool
cluster_wants(int32_t priority)
{
    return !cluster.hinted || priority >= WANTED;
}

static schedq_hint_t
hint(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    const struct attempt *attempt = ledger_attempt_of(&world.ledger, pod);

    (void)ctx;
    (void)old_object;
    (void)new_object;
    sim_point();
    SIM_CHECK(world.config.objects != SCHEDQ_OBJECTS_COUNTED || attempt->references > 0,
              "a hint gets object %llu, which was released", (unsigned long long)pod);
    return cluster_wants(attempt->priority) ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
}

/* All pods there are, by their names: what came later is not concerned by the change. */
static schedq_pre_hint_t
pre_hint(void *ctx, uint64_t old_object, uint64_t new_object, schedq_pod_list_t *pods)
{
    uint32_t keys = world.keys;

    (void)ctx;
    (void)old_object;
    (void)new_object;
    sim_point();
    for (uint32_t key = 0; key < keys; key++) {
        size_t length;
        const char *name = world_name(key, &length);
        schedq_status_t status = schedq_pod_list_add(pods, name, length);

        SIM_CHECK(status == SCHEDQ_OK || status == SCHEDQ_NOMEM, "pod_list_add of pod %u: %s", key,
                  schedq_status_name(status));
    }
    sim_point();
    return SCHEDQ_PRE_HINT_LISTED;
}

/* ---- registering ----------------------------------------------------------------------------- */

static void
add_plugin(schedq_t *queue, const char *name, uint32_t actions, bool hinted, moment *gate,
           uint64_t expected)
{
    bool host = world.config.decide == SCHEDQ_DECIDE_HOST;
    const schedq_interest_t interest = {.resource = "Node",
                                        .actions = actions,
                                        .hint = hinted && cluster.hinted && !host ? hint : NULL};
    const schedq_pre_hint_fn lists = pre_hint;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    uint64_t bit = 0;
    char why[200];

    plugin.name = name;
    plugin.interests = &interest;
    plugin.interest_count = 1;
    plugin.pre_hints = !host && world.config.pre_queueing_hints != 0 ? &lists : NULL;
    plugin.pre_enqueue = gate != NULL && cluster.gated && !host ? is_open : NULL;
    plugin.ctx = gate;
    schedq_status_t status = schedq_plugin_register(queue, &plugin, &bit, why, sizeof why);
    SIM_CHECK(status == SCHEDQ_OK && bit == expected, "plugin_register of %s: %s, bit %llu: %s",
              name, schedq_status_name(status), (unsigned long long)bit, why);
}

void
cluster_begin(schedq_t *queue)
{
    if (!cluster.used) {
        return;
    }
    add_plugin(queue, "Hinted", SCHEDQ_ACTION_ADD, true, NULL, HINTED);
    add_plugin(queue, "Plain", SCHEDQ_ACTION_UPDATE_NODE_LABEL, false, NULL, PLAIN);
    add_plugin(queue, "GateA", SCHEDQ_ACTION_DELETE, false, &cluster.opened[0], GATE_A);
    add_plugin(queue, "GateB", SCHEDQ_ACTION_UPDATE_NODE_TAINT, false, &cluster.opened[1], GATE_B);
}

struct occasion
cluster_reach(schedq_event_t event)
{
    bool all = event == SCHEDQ_EVENT_WILDCARD;

    return (struct occasion){.reached = all ? UINT64_MAX
                                            : LATE | (event == EVENT_PLAIN ? PLAIN : 0) |
                                                  (event == EVENT_GATE_A ? GATE_A : 0) |
                                                  (event == EVENT_GATE_B ? GATE_B : 0),
                             .hinted = event == EVENT_HINTED ? HINTED : 0,
                             .gates = (all && world.config.gates_see_wildcards ? UINT64_MAX : 0) |
                                      (event == EVENT_GATE_A ? GATE_A : 0) |
                                      (event == EVENT_GATE_B ? GATE_B : 0)};
}
