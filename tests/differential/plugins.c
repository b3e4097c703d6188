/* The plugins of plugins.h: with and without hints, gates, interests in everything and in nothing. */
#include "plugins.h"

#include "compare.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static schedq_hint_t
hint(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx;
    return (schedq_hint_t)(chance_mix(pod ^ old_object * 3 ^ new_object * 7) % 3);
}

static int
pre_enqueue(void *ctx, uint64_t pod)
{
    const world_t *world = ctx;

    return chance_mix(pod ^ world->gate_epoch) % 8 != 0;
}

int
plugins_precheck(void *ctx, uint64_t pod)
{
    (void)ctx;
    return chance_mix(pod + 11) % 4 != 0;
}

schedq_event_t
plugins_event(chance_t *chance)
{
    return (schedq_event_t)chance_below(chance, SCHEDQ_EVENT_FIRST_FREE);
}

static const schedq_interest_t nodes[] = {{.resource = "Node", .actions = SCHEDQ_ACTION_ALL, .hint = hint}};
static const schedq_interest_t pods[] = {{.resource = "Pod", .actions = SCHEDQ_ACTION_ADD | SCHEDQ_ACTION_DELETE}};
static const schedq_interest_t all[] = {{.resource = "*", .actions = SCHEDQ_ACTION_ALL, .hint = hint}};
static const schedq_interest_t taints[] = {
    {.resource = "Node", .actions = SCHEDQ_ACTION_UPDATE_NODE_TAINT, .hint = hint},
    {.resource = "AssignedPod", .actions = SCHEDQ_ACTION_ALL},
    {.resource = "UnschedulablePod", .actions = SCHEDQ_ACTION_UPDATE, .hint = hint}};

static const struct {
    const char *name;
    const schedq_interest_t *interests;
    size_t count;
    schedq_pre_enqueue_fn pre_enqueue;
    uint8_t flags;
} plugins[] = {
    {"Nodes", nodes, LENGTH(nodes), NULL, 0},
    {"Pods", pods, LENGTH(pods), NULL, SCHEDQ_PLUGIN_SPREAD},
    {"All", all, LENGTH(all), NULL, 0},
    {"Deaf", NULL, 0, NULL, 0},
    {"Gate", taints, LENGTH(taints), pre_enqueue, 0},
    {"DeafGate", NULL, 0, pre_enqueue, 0},
};

static bool
register_profile(world_t *world, side_t *side, schedq_profile_t profile)
{
    char why[256];

    side->rejectors[profile] = 0;
    for (size_t i = 0; i < LENGTH(plugins); i++) {
        schedq_plugin_t plugin;
        uint64_t bit;

        schedq_plugin_init(&plugin);
        plugin.profile = profile;
        plugin.flags = plugins[i].flags;
        plugin.name = plugins[i].name;
        plugin.interests = plugins[i].interests;
        plugin.interest_count = plugins[i].count;
        plugin.pre_enqueue = plugins[i].pre_enqueue;
        plugin.ctx = world;
        schedq_status_t status = schedq_plugin_register(side->queue, &plugin, &bit, why, sizeof why);
        if (status != SCHEDQ_OK || bit != UINT64_C(1) << i) {
            return differ(world, "schedq_plugin_register: %s %s: %s", side->engine, schedq_status_name(status), why);
        }
        side->rejectors[profile] |= bit;
    }
    return true;
}

bool
plugins_register(world_t *world, side_t *side)
{
    schedq_profile_t second;
    char why[256];
    schedq_status_t status = schedq_profile_define(side->queue, "second", &second, why, sizeof why);

    if (status != SCHEDQ_OK || second != 1) {
        return differ(world, "schedq_profile_define: %s %s: %s", side->engine, schedq_status_name(status), why);
    }
    return register_profile(world, side, 0) && register_profile(world, side, 1);
}
