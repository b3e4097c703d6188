/* A host that decides: candidates, apply and stamps against failures and updates. */
#include "cluster.h"
#include "scenarios.h"
#include "world.h"

enum { KEYS = 3, CALLS = 4 }; /* of programs drawn at random */

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

/* ---- programs drawn at random ---------------------------------------------------------------- */

static uint32_t
draw(uint32_t limit)
{
    return random_below(sim_random(), limit);
}

static uint64_t
rejectors(void)
{
    static const uint64_t sets[] = {PLAIN, PLAIN, HINTED, PLAIN | HINTED};

    return sets[draw(4)];
}

static void
come(struct actor *actor, uint32_t key)
{
    int32_t priority = (int32_t)draw(3);

    switch (draw(4)) {
    case 0:
        (void)actor_add_until(actor, key, priority, BACKOFF_NS);
        break;
    case 1:
        (void)actor_update(actor, key, priority);
        break;
    default:
        (void)actor_add(actor, key, priority);
        break;
    }
}

static void
try_one(struct actor *actor)
{
    if (!actor_pop(actor)) {
        return;
    }
    if (draw(4) > 0) {
        (void)actor_host_fail(actor, rejectors());
    } else {
        (void)actor_done(actor);
    }
}

static void
happen(struct actor *actor)
{
    switch (draw(4)) {
    case 0:
        actor_tick_after(actor, draw(3) * BACKOFF_NS);
        break;
    case 1:
        actor_host_release(actor);
        break;
    default:
        actor_host_event(actor, draw(2) == 0 ? EVENT_PLAIN : EVENT_HINTED);
        break;
    }
}

static void
look_or_leave(struct actor *actor, uint32_t key)
{
    switch (draw(4)) {
    case 0:
        (void)actor_get(actor, key);
        break;
    case 1:
        actor_trim(actor);
        break;
    default:
        (void)actor_delete(actor, key);
        break;
    }
}

static void
anything(struct actor *actor)
{
    for (unsigned i = 0; i < CALLS; i++) {
        uint32_t key = draw(KEYS);

        switch (draw(8)) {
        case 0:
        case 1:
            come(actor, key);
            break;
        case 2:
            actor_keep_back(actor, key);
            break;
        case 3:
            look_or_leave(actor, key);
            break;
        case 4:
        case 5:
            happen(actor);
            break;
        default:
            try_one(actor);
            break;
        }
    }
    (void)actor_done_all(actor);
}

static void
prepare_any(struct actor *actor)
{
    for (uint32_t key = 0; key < KEYS; key++) {
        (void)actor_add(actor, key, (int32_t)draw(3));
    }
    for (uint32_t i = draw(KEYS); i > 0; i--) {
        if (actor_pop(actor)) {
            (void)actor_host_fail(actor, rejectors());
        }
    }
    actor_keep_back(actor, draw(KEYS));
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
    SLEEPING("host_any", "any calls of a host", cluster_use_host, prepare_any, anything, anything,
             anything),
    SLEEPING("host_any_backoff", "the same where backoff is left to the host", host_without_pop,
             prepare_any, anything, anything, anything),
    {.name = NULL},
};
