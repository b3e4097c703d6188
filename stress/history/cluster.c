/* The plugins, and their callbacks. */
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "objects.h"

static const struct {
    const char *name;
    schedq_event_t event;
    uint8_t hearers; /* without PLUGIN_OTHERS */
} kinds[KINDS] = {
    [KIND_WILDCARD] = {"wildcard", SCHEDQ_EVENT_WILDCARD, UINT8_MAX},
    [KIND_FIT] = {"fit", SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE, 1u << PLUGIN_FIT},
    [KIND_TAINT] = {"taint", SCHEDQ_EVENT_NODE_UPDATE_TAINT, 1u << PLUGIN_TAINT},
    [KIND_LABEL] = {"label", SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL, 1u << PLUGIN_LABEL},
    [KIND_GATES] = {"gates", SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED,
                    1u << PLUGIN_GATE},
    [KIND_UNHEARD] = {"unheard", SCHEDQ_EVENT_NODE_UPDATE_CONDITION, 0},
};

/* ---- objects --------------------------------------------------------------------------------- */

static uint64_t
scramble(uint64_t object)
{
    object *= UINT64_C(0x9e3779b97f4a7c15);
    object ^= object >> 32;
    return object * UINT64_C(0xd6e8feb86659fd93);
}

unsigned
object_class(uint64_t object)
{
    return (unsigned)(scramble(object) >> 40) % CLASSES;
}

/* One object in four has a gate. */
unsigned
object_gate(uint64_t object)
{
    unsigned number = (unsigned)(scramble(object) >> 48) % (4 * GATES);
    return number < GATES ? number : NO_GATE;
}

/* ---- kinds ----------------------------------------------------------------------------------- */

schedq_event_t
kind_event(uint8_t kind)
{
    return kinds[kind].event;
}

uint8_t
kind_hearers(uint8_t kind)
{
    return (uint8_t)(kinds[kind].hearers | 1u << PLUGIN_OTHERS);
}

bool
kind_is_registered(uint8_t kind)
{
    return kinds[kind].hearers != 0;
}

const char *
kind_name(uint8_t kind)
{
    return kind < KINDS ? kinds[kind].name : "?";
}

/* ---- callbacks ------------------------------------------------------------------------------- */

static schedq_hint_t
fits(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx;
    (void)old_object;
    objects_handed_out(pod);
    return object_class(pod) + 1 == new_object ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
}

static int
may_enter(void *ctx, uint64_t pod)
{
    cluster_t *cluster = ctx;
    unsigned gate = object_gate(pod);
    objects_handed_out(pod);
    return gate == NO_GATE || !atomic_load(&cluster->shut[gate]);
}

/* ---- the queue ------------------------------------------------------------------------------- */

static uint64_t
register_plugin(schedq_t *queue, const char *name, const schedq_interest_t *interest,
                schedq_pre_enqueue_fn gate, void *ctx)
{
    char why[200];
    uint64_t bit = 0;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    plugin.name = name;
    plugin.interests = interest;
    plugin.interest_count = interest != NULL;
    plugin.pre_enqueue = gate;
    plugin.ctx = ctx;
    schedq_status_t status = schedq_plugin_register(queue, &plugin, &bit, why, sizeof why);
    if (status != SCHEDQ_OK) {
        fprintf(stderr, "schedq-history: schedq_plugin_register: %s %s\n",
                schedq_status_name(status), why);
        exit(1);
    }
    return bit;
}

void
cluster_open(cluster_t *cluster, schedq_t *queue, bool host)
{
    const schedq_interest_t gates = {.resource = "UnschedulablePod",
                                     .actions = SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED};
    const schedq_interest_t fit = {.resource = "Node",
                                   .actions = SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE,
                                   .hint = host ? NULL : fits};
    const schedq_interest_t taint = {.resource = "Node",
                                     .actions = SCHEDQ_ACTION_UPDATE_NODE_TAINT};
    const schedq_interest_t label = {.resource = "UnschedulablePod",
                                     .actions = SCHEDQ_ACTION_UPDATE_POD_LABEL};
    cluster->bits[PLUGIN_GATE] =
        register_plugin(queue, "Gate", &gates, host ? NULL : may_enter, cluster);
    cluster->bits[PLUGIN_FIT] = register_plugin(queue, "Fit", &fit, NULL, NULL);
    cluster->bits[PLUGIN_TAINT] = register_plugin(queue, "Taint", &taint, NULL, NULL);
    cluster->bits[PLUGIN_LABEL] = register_plugin(queue, "Label", &label, NULL, NULL);
    cluster->bits[PLUGIN_DEAF] = register_plugin(queue, "Deaf", NULL, NULL, NULL);
    cluster->bits[PLUGIN_OTHERS] = SCHEDQ_REJECTOR_OTHERS;
}

uint64_t
cluster_rejectors(const cluster_t *cluster, uint8_t plugins)
{
    uint64_t rejectors = 0;
    for (unsigned i = 0; i < PLUGINS; i++)
        rejectors |= (plugins >> i & 1) != 0 ? cluster->bits[i] : 0;
    return rejectors;
}

uint8_t
cluster_plugins(const cluster_t *cluster, uint64_t rejectors)
{
    unsigned plugins = 0;
    for (unsigned i = 0; i < PLUGINS; i++)
        plugins |= (rejectors & cluster->bits[i]) != 0 ? 1u << i : 0;
    return (uint8_t)plugins;
}

/* ---- a host ---------------------------------------------------------------------------------- */

void
cluster_log(cluster_t *cluster, uint64_t sequence, kind_t kind, unsigned class)
{
    atomic_store(&cluster->log[sequence % HOST_LOG],
                 sequence << 16 | (uint64_t)kind << 8 | (uint64_t) class);
}

bool
cluster_helps(const cluster_t *cluster, kind_t kind, unsigned class, uint64_t object,
              uint64_t rejectors)
{
    uint64_t reached = rejectors & cluster_rejectors(cluster, kind_hearers((uint8_t)kind));
    bool asks = kind == KIND_FIT && reached == cluster->bits[PLUGIN_FIT];
    return reached != 0 && (!asks || object_class(object) == class);
}

/*
 * An event that is not in the log, yet or any more, counts as one that helps; so does each that
 * reaches the pod, since an update may have given it another object than its holder got.
 */
bool
cluster_helped(const cluster_t *cluster, uint64_t seen, uint64_t up_to, uint64_t rejectors)
{
    for (uint64_t i = seen + 1; i <= up_to; i++) {
        uint64_t entry = atomic_load(&cluster->log[i % HOST_LOG]);
        uint8_t kind = (uint8_t)(entry >> 8);
        if (entry >> 16 != i || (rejectors & cluster_rejectors(cluster, kind_hearers(kind))) != 0)
            return true;
    }
    return false;
}
