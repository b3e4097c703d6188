/*
 * While a run drains hints and gates say yes; until then they answer by the pod and a counter that
 * all threads share.
 */
#include "plugins.h"

#include <stdio.h>
#include <stdlib.h>

const schedq_event_t plugins_free_all[2] = {SCHEDQ_EVENT_WILDCARD,
                                            SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED};

static bool
one_in(run_t *run, uint64_t pod, uint64_t count)
{
    uint64_t x = (pod + atomic_fetch_add_explicit(&run->answers, 1, memory_order_relaxed)) *
                 UINT64_C(0xd6e8feb86659fd93);
    return (x >> 40) % count == 0;
}

static schedq_hint_t
hint(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    run_t *run = ctx;
    (void)old_object;
    (void)new_object;
    return atomic_load(&run->phase) == PHASE_DRAINING || one_in(run, pod, 3) ? SCHEDQ_HINT_QUEUE
                                                                             : SCHEDQ_HINT_SKIP;
}

static int
gate(void *ctx, uint64_t pod)
{
    run_t *run = ctx;
    return atomic_load(&run->phase) == PHASE_DRAINING || !one_in(run, pod, 8);
}

static const struct {
    const char *name, *resource;
    uint32_t actions;
    bool gate;
} plugins[RUN_PLUGINS] = {
    {"Gate", "Pod", SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED, true},
    {"Fit", "Node", SCHEDQ_ACTION_ADD | SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE, false},
    {"Taint", "Node", SCHEDQ_ACTION_UPDATE_NODE_TAINT, false},
    {"Deaf", NULL, 0, false},
};

void
plugins_register(run_t *run)
{
    char why[200];
    for (unsigned i = 0; i < RUN_PLUGINS; i++) {
        schedq_interest_t interest = {
            .resource = plugins[i].resource, .actions = plugins[i].actions, .hint = hint};
        schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
        plugin.name = plugins[i].name;
        plugin.interests = plugins[i].resource != NULL ? &interest : NULL;
        plugin.interest_count = plugins[i].resource != NULL;
        plugin.pre_enqueue = plugins[i].gate ? gate : NULL;
        plugin.ctx = run;
        schedq_status_t status =
            schedq_plugin_register(run->queue, &plugin, &run->bits[i], why, sizeof why);
        if (status != SCHEDQ_OK) {
            fprintf(stderr, "schedq-freeze: schedq_plugin_register: %s %s\n",
                    schedq_status_name(status), why);
            exit(1);
        }
    }
}

uint64_t
plugins_rejectors(actor_t *actor)
{
    const run_t *run = actor->run;
    if (actor_roll(actor, 4) == 0)
        return 0;
    return run->bits[1 + actor_roll(actor, RUN_PLUGINS - 1)] |
           run->bits[1 + actor_roll(actor, RUN_PLUGINS - 1)];
}

schedq_event_t
plugins_event(actor_t *actor)
{
    static const schedq_event_t events[] = {
        SCHEDQ_EVENT_NODE_ADD, SCHEDQ_EVENT_NODE_UPDATE_ALLOCATABLE, SCHEDQ_EVENT_NODE_UPDATE_TAINT,
        SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED, SCHEDQ_EVENT_WILDCARD};
    return events[actor_roll(actor, sizeof events / sizeof *events)];
}
