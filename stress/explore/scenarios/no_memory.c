/*
 * Allocations that fail: a call answers NOMEM and nothing changed, or it did all that it says. What
 * could not be published for lack of memory is published later (stray.h), though nobody asks for it
 * by its name.
 */
#include "bodies.h"
#include "scenarios.h"
#include "world.h"

#include "lockfree/moves/stray.h"
#include "lockfree/queue.h"

#define EVERY 1 /* world_lacks_memory: each allocation fails */
#define SOME 3

#define CALLS 6
#define KEYS 4
#define PRIORITIES 4
#define ORDER_KEYS 8

static void
consume_2(struct actor *actor)
{
    actor_consume(actor, 2);
}

/* ---- settling -------------------------------------------------------------------------------- */

/*
 * Thread 0 has a lane, so its add needs no memory; thread 1 has none, and would need one to settle
 * that pod.
 */
static void
prepare_lane(struct actor *actor)
{
    (void)actor_add(actor, 1, 1);
    actor_consume(actor, 1);
}

static void
find_and_pop(struct actor *actor)
{
    world_lacks_memory(EVERY);
    bool found = actor_find(actor, 0);
    bool popped = actor_pop(actor);

    world_has_memory();
    SIM_CHECK(popped || !found, "find said that pod 0 is there, and the next pop found nothing");
    (void)actor_done_all(actor);
}

static void
find_without_memory(struct actor *actor)
{
    world_lacks_memory(EVERY);
    (void)actor_find(actor, 0);
    world_has_memory();
}

/* ---- bands ----------------------------------------------------------------------------------- */

static void
one_band(schedq_config_t *config)
{
    config->max_bands = 1;
}

/* Both threads have lanes in the one band that there may be. */
static void
prepare_band(struct actor *actor)
{
    world_allow(SCHEDQ_FULL);
    (void)actor_add(actor, 3, 1);
    actor_consume(actor, 1);
    (void)actor_add(world_actor(1), 4, 1);
    actor_consume(world_actor(1), 1);
}

static void
add_1_and_lack_memory(struct actor *actor)
{
    (void)actor_add(actor, 1, 2);
    world_lacks_memory(EVERY);
}

static void
add_0_to_the_end(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    world_has_memory();
}

/* ---- gathering ------------------------------------------------------------------------------- */

/* As if a pod had not been published: the next pop that finds nothing gathers. */
static void
prepare_note(struct actor *actor)
{
    (void)actor;
    if (world.config.engine == SCHEDQ_ENGINE_LOCKFREE) {
        stray_leave(queue_of_base(world.queue), STRAY_UNPUBLISHED);
    }
}

static void
add_both(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_add(actor, 1, 1);
}

/* ---- anything -------------------------------------------------------------------------------- */

static uint32_t
draw(uint32_t limit)
{
    return random_below(sim_random(), limit);
}

static void
describe(struct actor *actor, uint32_t key)
{
    int32_t priority = (int32_t)draw(PRIORITIES);

    switch (draw(6)) {
    case 0:
    case 1:
        (void)actor_add(actor, key, priority);
        break;
    case 2:
        (void)actor_add_at(actor, key, priority, draw(ORDER_KEYS));
        break;
    case 3:
    case 4:
        (void)actor_update(actor, key, priority);
        break;
    default:
        (void)actor_update_at(actor, key, priority, draw(ORDER_KEYS));
        break;
    }
}

static void
anything(struct actor *actor)
{
    for (unsigned i = 0; i < CALLS; i++) {
        uint32_t key = draw(KEYS);

        switch (draw(9)) {
        case 0:
            actor_consume(actor, 1);
            break;
        case 1:
            (void)actor_delete(actor, key);
            break;
        case 2:
            actor_trim(actor);
            break;
        default:
            describe(actor, key);
            break;
        }
    }
}

/* Pages and lanes of some size, with a few pods in them. */
static void
prepare_any(struct actor *actor)
{
    uint32_t end = KEYS + draw(3) * 12;

    for (uint32_t key = KEYS; key < end; key++) {
        (void)actor_add(actor, key, (int32_t)draw(PRIORITIES));
    }
    for (uint32_t key = KEYS; key < end; key++) {
        (void)actor_delete(actor, key);
    }
    for (uint32_t i = draw(4); i > 0; i--) {
        (void)actor_add(actor, draw(KEYS), (int32_t)draw(PRIORITIES));
    }
    world_lacks_memory(SOME);
}

static void
batches(struct actor *actor)
{
    (void)actor_add_many(actor, draw(KEYS), 1 + draw(4), (int32_t)draw(PRIORITIES));
    actor_consume(actor, draw(2));
    (void)actor_add_many(actor, draw(KEYS), 1 + draw(4), (int32_t)draw(PRIORITIES));
}

const struct scenario no_memory_scenarios[] = {
    SCENARIO("no_memory_find",
             "find meets a pod that is just being added, without memory: it tells of what pops "
             "find, or of nothing",
             NULL, prepare_lane, add_0, find_and_pop),
    SCENARIO("no_memory_find_pop", "the same, and another pops when memory is back", NULL,
             prepare_lane, add_0, find_without_memory, consume_2),
    SCENARIO("no_memory_retired",
             "a band is retired under an add, which then lacks the memory for another one",
             one_band, prepare_band, add_0_to_the_end, add_1_and_lack_memory),
    SCENARIO("no_memory_gather",
             "pods that could not be published are gathered while others are added under the same "
             "names",
             NULL, prepare_note, add_both, consume_2, add_both),
    SCENARIO("no_memory_mixed", "any calls while one allocation out of three fails", NULL,
             prepare_any, anything, anything, anything),
    SCENARIO("no_memory_batches", "batches while one allocation out of three fails", NULL,
             prepare_any, batches, anything, batches),
    {.name = NULL},
};
