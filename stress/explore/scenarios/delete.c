/* Deletions of active pods and of pods in flight, and the next life of their names. */
#include "scenarios.h"
#include "world.h"

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
delete_and_add(struct actor *actor)
{
    (void)actor_delete(actor, 0);
    (void)actor_add(actor, 0, 1);
}

static void
add_delete_add(struct actor *actor)
{
    (void)actor_add(actor, 0, 2);
    (void)actor_delete(actor, 0);
    (void)actor_add(actor, 0, 2);
}

static void
delete_twice(struct actor *actor)
{
    (void)actor_delete(actor, 0);
    (void)actor_delete(actor, 0);
}

static void
update_0(struct actor *actor)
{
    (void)actor_update(actor, 0, 3);
}

static void
pop_twice(struct actor *actor)
{
    actor_consume(actor, 2);
}

static void
end_held(struct actor *actor)
{
    actor_token_alive(actor);
    (void)actor_done_all(actor);
    actor_consume(actor, 1);
}

static void
end_held_as_guest(struct actor *actor)
{
    actor->guest = true;
    (void)actor_done_all(actor);
    actor->guest = false;
    actor_consume(actor, 1);
}

static void
trim(struct actor *actor)
{
    actor_trim(actor);
}

static void
tick_and_end(struct actor *actor)
{
    actor_consume(actor, 1);
    actor_tick(actor);
}

static void
prepare_held_counted(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_pop(actor);
    (void)actor_add(actor, 1, 1);
}

static void
count_objects(schedq_config_t *config)
{
    config->objects = SCHEDQ_OBJECTS_COUNTED;
}

static void
pop_and_delete(struct actor *actor)
{
    if (actor_pop(actor)) {
        (void)actor_delete_held(actor, 0);
        (void)actor_done_all(actor);
    }
}

/*
 * max_pods is the number of threads, and each has at most one pod at a time, whose add and deletion
 * are its own calls.
 */
static void
three_pods_at_most(schedq_config_t *config)
{
    config->max_pods = 3;
}

static void
one_pod_at_a_time(struct actor *actor)
{
    for (unsigned i = 0; i < 3; i++) {
        (void)actor_add(actor, actor->number, 1);
        (void)actor_delete(actor, actor->number);
    }
}

const struct scenario delete_scenarios[] = {
    SCENARIO("delete_readd", "add, delete and add again, against delete and add", NULL, NULL,
             add_delete_add, delete_and_add, pop_twice),
    SCENARIO("delete_pop", "a deletion, an update and a pop of one pod", NULL, prepare_one,
             delete_and_add, update_0, pop_twice),
    SCENARIO("delete_in_flight", "a deletion in flight against done, and the name is added again",
             NULL, prepare_held, end_held, delete_and_add, delete_twice),
    SCENARIO("done_guest_deleted",
             "done without a worker against a deletion, and the name is added again", NULL,
             prepare_held, end_held_as_guest, delete_and_add, delete_twice),
    SCENARIO("done_guest_updated", "done without a worker against an update and trim", NULL,
             prepare_held, end_held_as_guest, update_0, trim),
    SCENARIO("done_guest_counted",
             "counted objects: done without a worker against an update, and ends with workers",
             count_objects, prepare_held_counted, end_held_as_guest, update_0, tick_and_end),
    SCENARIO("delete_held", "holders delete what they hold, others delete and add the name", NULL,
             prepare_one, pop_and_delete, delete_and_add, pop_and_delete),
    {.name = "delete_exact",
     .about = "as many pods at once as max_pods allows are never FULL",
     .harness = &queue_harness,
     .threads = 3,
     .never_frozen = true,
     .configure = three_pods_at_most,
     .bodies = {one_pod_at_a_time, one_pod_at_a_time, one_pod_at_a_time}},
    {.name = NULL},
};
