/*
 * Housekeeping against work: trim takes the page of a pod that somebody works on, workers register
 * while a slot is borrowed, queues are destroyed with pods in them.
 */
#include "cluster.h"
#include "scenarios.h"
#include "world.h"

#define RETURNS 4 /* of a worker while others keep house */

static void
add_by_1(struct actor *actor)
{
    (void)actor;
    (void)actor_add(world_actor(1), 0, 1);
}

/* ---- a page goes ----------------------------------------------------------------------------- */

/* A worker that leaves gives its free records back, and with them trim has a whole page. */
static void
trim_all(struct actor *actor)
{
    actor_unregister(actor);
    actor_trim(actor);
    actor_register(actor);
}

static void
delete_and_trim(struct actor *actor)
{
    (void)actor_delete(actor, 0);
    trim_all(actor);
}

static void
consume_and_trim(struct actor *actor)
{
    actor_consume(actor, 1);
    trim_all(actor);
}

static void
update_0(struct actor *actor)
{
    (void)actor_update(actor, 0, 3);
}

static void
delete_0(struct actor *actor)
{
    (void)actor_delete(actor, 0);
}

static void
get_0(struct actor *actor)
{
    (void)actor_get(actor, 0);
}

/* Pod 0 has the only band that there may be. */
static void
one_band(schedq_config_t *config)
{
    config->max_bands = 1;
}

static void
add_by_1_of_one_band(struct actor *actor)
{
    world_allow(SCHEDQ_FULL);
    add_by_1(actor);
}

static void
add_of_another_priority(struct actor *actor)
{
    (void)actor_add(actor, 1, 2);
}

/* Not popped from there, so a tick has to move it. */
static void
without_pops_from_backoff(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    config->pop_from_backoff = 0;
}

static void
back_off_by_1(struct actor *actor)
{
    add_by_1(actor);
    (void)actor_pop_and_fail(world_actor(1), 0);
    cluster_pass(2 * BACKOFF_NS);
}

static void
pop_and_end(struct actor *actor)
{
    actor_consume(actor, 3);
}

static void
two_bands_one_pod(struct actor *actor)
{
    (void)actor;
    (void)actor_add(world_actor(1), 1, 3);
    actor_consume(world_actor(1), 1);
    (void)actor_add(world_actor(1), 0, 1);
}

static void
tick(struct actor *actor)
{
    actor_tick(actor);
}

/* ---- slots ----------------------------------------------------------------------------------- */

static void
three_workers(schedq_config_t *config)
{
    config->max_workers = 3;
}

static void
come_back(struct actor *actor)
{
    for (unsigned i = 0; i < RETURNS; i++) {
        actor_unregister(actor);
        actor_register(actor);
    }
}

static void
trim(struct actor *actor)
{
    actor_trim(actor);
}

static void
reserve(struct actor *actor)
{
    actor_reserve(actor, 1, 0, 3);
}

/* Leaves its slot to whoever drains, and to nobody before. */
static void
leave_last(struct actor *actor)
{
    (void)sim_wait_for_quiet();
    actor_unregister(actor);
}

/* Has a slot that nobody had before. */
static void
come_late(struct actor *actor)
{
    struct actor late = {.number = actor->number};

    actor_register(&late);
    actor_unregister(&late);
}

/* ---- destroy --------------------------------------------------------------------------------- */

static void
counted(schedq_config_t *config)
{
    config->objects = SCHEDQ_OBJECTS_COUNTED;
}

/* Pod 1 has the record of a pod that was popped. */
static void
prepare_second_life(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    actor_consume(actor, 1);
    (void)actor_add(actor, 1, 1);
}

static void
pop_and_keep(struct actor *actor)
{
    (void)actor_pop(actor);
}

static void
add_2_and_pop(struct actor *actor)
{
    (void)actor_add(actor, 2, 1);
    (void)actor_pop(actor);
    (void)actor_add(actor, 3, 1);
    (void)actor_done_all(actor);
}

#define TRIM(title, text, ...) SCENARIO(title, text, NULL, add_by_1, __VA_ARGS__)

#define REGISTER(title, text, upkeep)                                                          \
    SCENARIO_OF(&queue_harness, false, 1, title, text, three_workers, NULL, come_back, upkeep, \
                leave_last)

const struct scenario upkeep_scenarios[] = {
    TRIM("upkeep_update", "an update finds a pod; it is deleted, and trim takes its page", update_0,
         delete_and_trim),
    TRIM("upkeep_update_done",
         "an update finds a pod; it is popped and ended, and trim takes its page", update_0,
         consume_and_trim),
    TRIM("upkeep_delete", "a deletion finds a pod; another deletes it, and trim takes its page",
         delete_0, delete_and_trim),
    TRIM("upkeep_get", "a look at a pod that is deleted, and trim takes its page", get_0,
         delete_and_trim),
    SCENARIO("upkeep_tick",
             "a tick finds a pod that is due; it is deleted, and trim takes its page",
             without_pops_from_backoff, back_off_by_1, tick, delete_and_trim),
    SCENARIO("upkeep_walk_help",
             "a walk meets a pod that an update moves; it is deleted, and trim takes its page",
             NULL, two_bands_one_pod, update_0, delete_and_trim, pop_and_end),
    SCENARIO("upkeep_full",
             "an add that may be too many looks for the pods of other bands; one is deleted, and "
             "trim takes its page",
             one_band, add_by_1_of_one_band, add_of_another_priority, delete_and_trim),
    REGISTER("upkeep_register_trim", "a worker registers in the last slot while trim borrows one",
             trim),
    REGISTER("upkeep_register_reserve",
             "a worker registers in the last slot while reserve borrows one", reserve),
    {.name = "upkeep_register_first",
     .about = "a worker registers in a slot that reserve is just making",
     .harness = &queue_harness,
     .threads = 2,
     .never_frozen = true,
     .configure = three_workers,
     .bodies = {come_late, reserve}},
    SCENARIO_OF(&destroy_harness, false, 0, "upkeep_destroy",
                "counted objects: a queue is destroyed with a pod in it whose holder may have "
                "stopped in its pop",
                counted, prepare_second_life, pop_and_keep, add_2_and_pop),
    {.name = NULL},
};
