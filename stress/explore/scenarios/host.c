/* A host that decides: candidates, apply and stamps against failures and updates. */
#include "cluster.h"
#include "scenarios.h"
#include "world.h"

static void
hold_one(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_pop(actor);
}

static void
park_three(struct actor *actor)
{
    for (uint32_t key = 0; key < 3; key++) {
        (void)actor_add(actor, key, 1);
        (void)actor_pop(actor);
        (void)actor_host_fail(actor, PLAIN);
    }
}

static void
fail_plain(struct actor *actor)
{
    (void)actor_host_fail(actor, PLAIN);
}

static void
pop_and_fail(struct actor *actor)
{
    if (actor_pop(actor)) {
        (void)actor_host_fail(actor, PLAIN);
    }
}

static void
event_plain(struct actor *actor)
{
    actor_host_event(actor, EVENT_PLAIN);
}

static void
update_two(struct actor *actor)
{
    (void)actor_update(actor, 0, 2);
    (void)actor_update(actor, 1, 2);
}

static void
delete_and_add(struct actor *actor)
{
    (void)actor_delete(actor, 0);
    (void)actor_add(actor, 0, 1);
}

static void
tick_and_consume(struct actor *actor)
{
    actor_tick_after(actor, 2 * BACKOFF_NS);
    actor_consume(actor, 2);
}

static void
host_without_pop(schedq_config_t *config)
{
    cluster_use_host(config);
    config->pop_from_backoff = 0;
}

const struct scenario host_scenarios[] = {
    SLEEPING("host_park", "a host's event against its failure", cluster_use_host, hold_one,
             fail_plain, event_plain, pop_and_fail),
    SLEEPING("host_apply", "two events of a host over the same parked pods, and updates",
             cluster_use_host, park_three, event_plain, event_plain, update_two),
    SLEEPING("host_delete", "events of a host against a deletion and a new pod of that name",
             cluster_use_host, park_three, event_plain, delete_and_add, tick_and_consume),
    SLEEPING("host_gated_backoff", "the same where backoff is left to the host", host_without_pop,
             park_three, event_plain, update_two, tick_and_consume),
    {.name = NULL},
};
