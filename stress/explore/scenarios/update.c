/* Updates that move a pod to another band, of active pods and of pods in flight. */
#include "scenarios.h"
#include "world.h"

/* Bands 3, 2 and 1 exist, each with a pod. */
static void
prepare_bands(struct actor *actor)
{
    (void)actor_add(actor, 0, 3);
    (void)actor_add(actor, 1, 2);
    (void)actor_add(actor, 2, 1);
}

/* Band 3 exists, and is empty. */
static void
prepare_way_up(struct actor *actor)
{
    (void)actor_add(actor, 0, 3);
    actor_consume(actor, 1);
    (void)actor_add(actor, 0, 2);
    (void)actor_add(actor, 1, 1);
}

static void
prepare_one(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
}

static void
prepare_held(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_pop(actor);
}

static void
raise_2(struct actor *actor)
{
    (void)actor_update(actor, 2, 3);
}

static void
raise_2_beyond(struct actor *actor)
{
    (void)actor_update(actor, 2, 7);
}

static void
raise_0(struct actor *actor)
{
    (void)actor_update(actor, 0, 3);
}

static void
describe_0(struct actor *actor)
{
    (void)actor_update(actor, 0, 1);
    (void)actor_update(actor, 0, 1);
}

static void
lower_0(struct actor *actor)
{
    (void)actor_update(actor, 0, 1);
}

static void
lower_0_below(struct actor *actor)
{
    (void)actor_update(actor, 0, -7);
}

static void
up_0(struct actor *actor)
{
    (void)actor_update(actor, 0, 5);
}

static void
down_0(struct actor *actor)
{
    (void)actor_update(actor, 0, -5);
}

static void
up_and_down_0(struct actor *actor)
{
    (void)actor_update(actor, 0, 5);
    (void)actor_update(actor, 0, 1);
}

static void
rekey_0(struct actor *actor)
{
    (void)actor_update_at(actor, 0, 3, 1);
    (void)actor_update_at(actor, 2, 3, 0);
}

static void
up_and_down_found_0(struct actor *actor)
{
    (void)actor_update_found(actor, 0, 5);
    (void)actor_update_found(actor, 0, -5);
}

static void
live_again_0(struct actor *actor)
{
    (void)actor_done_all(actor);
    (void)actor_add(actor, 0, 1);
    actor_consume(actor, 1);
    (void)actor_add(actor, 0, 1);
}

static void
pop_once(struct actor *actor)
{
    actor_consume(actor, 1);
}

static void
pop_twice(struct actor *actor)
{
    actor_consume(actor, 2);
}

static void
end_held(struct actor *actor)
{
    (void)actor_done_all(actor);
    actor_consume(actor, 1);
}

#define UPDATE_AGAINST_POP(title, text, body) \
    SCENARIO(title, text, NULL, prepare_bands, body, pop_twice, pop_once)

const struct scenario update_scenarios[] = {
    UPDATE_AGAINST_POP("update_raise", "a pod is raised into a band that exists, against pops",
                       raise_2),
    UPDATE_AGAINST_POP("update_lower", "a pod is lowered into a band that exists, against pops",
                       lower_0),
    UPDATE_AGAINST_POP("update_raise_new", "a pod is raised into a brand-new band, against pops",
                       raise_2_beyond),
    UPDATE_AGAINST_POP("update_lower_new", "a pod is lowered into a brand-new band, against pops",
                       lower_0_below),
    SCENARIO("update_passed",
             "a pod is raised to where a pop has looked already; it ranks first before and after",
             NULL, prepare_way_up, raise_0, pop_once),
    UPDATE_AGAINST_POP("update_order_key", "pods get other order keys, against pops", rekey_0),
    SCENARIO("update_same", "two threads describe a pod anew that stays where it is, against pops",
             NULL, prepare_one, describe_0, describe_0, pop_twice),
    SCENARIO("update_two", "two updates of one pod to different bands, and a pop", NULL,
             prepare_one, up_0, down_0, pop_twice),
    SCENARIO("update_twice", "a pod goes up and down again while another updates it, and a pop",
             NULL, prepare_one, up_and_down_0, down_0, pop_once),
    SCENARIO("update_in_flight", "updates of a pod in flight against its done; afterwards they add",
             NULL, prepare_held, end_held, up_and_down_0, down_0),
    SCENARIO("update_found",
             "updates of the pod that was found, against its end and others of its name", NULL,
             prepare_held, live_again_0, up_and_down_found_0, pop_once),
    {.name = NULL},
};
