/* Workers that come and go, trim, batches, counted objects. */
#include "scenarios.h"
#include "world.h"

#include "lockfree/memory/sizes.h"

#define PAGE (1 << RECORD_PAGE_BITS) /* pods whose memory trim can give back together */

static void
consume_2(struct actor *actor)
{
    actor_consume(actor, 2);
}

static void
prepare_2(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_add(actor, 1, 2);
}

/* ---- workers --------------------------------------------------------------------------------- */

static void
come_back_and_add(struct actor *actor)
{
    (void)actor_add(actor, 2, 1);
    actor_unregister(actor);
    actor_register(actor);
    (void)actor_add(actor, 3, 1);
}

static void
come_back_and_pop(struct actor *actor)
{
    actor_unregister(actor);
    actor_register(actor);
    actor_consume(actor, 2);
}

/* ---- trim ------------------------------------------------------------------------------------ */

static void
prepare_freed(struct actor *actor)
{
    for (uint32_t key = 0; key < 3 * PAGE; key++) {
        (void)actor_add(actor, key, 1);
    }
    for (uint32_t key = 0; key < 3 * PAGE - 2; key++) {
        (void)actor_delete(actor, key);
    }
}

static void
trim(struct actor *actor)
{
    actor_trim(actor);
    (void)actor_add(actor, 3, 1);
}

static void
add_and_find(struct actor *actor)
{
    (void)actor_add(actor, 1, 1);
    (void)actor_find(actor, 0);
    (void)actor_delete(actor, 1);
}

#define GROWN 20 /* refs that make a lane grow */

static void
prepare_grown(struct actor *actor)
{
    for (uint32_t key = 0; key < GROWN; key++) {
        (void)actor_add(actor, key, 1);
    }
    actor_consume(actor, GROWN - 2);
}

static void
trim_only(struct actor *actor)
{
    actor_trim(actor);
}

/* ---- batches --------------------------------------------------------------------------------- */

static void
add_batch_low(struct actor *actor)
{
    (void)actor_add_many(actor, 0, 4, 1);
}

static void
add_batch_high(struct actor *actor)
{
    (void)actor_add_many(actor, 2, 3, 2);
}

static void
pop_batches(struct actor *actor)
{
    (void)actor_pop_many(actor, 3);
    (void)actor_done_many(actor);
    (void)actor_pop_many(actor, 2);
    (void)actor_done_many(actor);
}

/* ---- objects --------------------------------------------------------------------------------- */

static void
counted(schedq_config_t *config)
{
    config->objects = SCHEDQ_OBJECTS_COUNTED;
}

static void
update_0_twice(struct actor *actor)
{
    (void)actor_update(actor, 0, 1);
    (void)actor_update(actor, 0, 3);
}

static void
update_and_delete(struct actor *actor)
{
    (void)actor_update(actor, 1, 1);
    (void)actor_delete(actor, 0);
    (void)actor_update(actor, 0, 1);
}

static void
get_both(struct actor *actor)
{
    (void)actor_get(actor, 0);
    (void)actor_get(actor, 1);
    actor_consume(actor, 1);
}

const struct scenario life_scenarios[] = {
    SCENARIO("workers",
             "workers are unregistered and registered again, against pops from their lanes", NULL,
             prepare_2, come_back_and_add, come_back_and_pop, consume_2),
    SCENARIO("trim", "memory is given back while pods are added, found and popped", NULL,
             prepare_freed, trim, add_and_find, consume_2),
    SCENARIO("trim_lanes", "lanes of workers that come and go shrink while they are popped from",
             NULL, prepare_grown, come_back_and_add, trim_only, consume_2),
    SCENARIO("batches", "add_many, pop_many and done_many of overlapping batches", NULL, NULL,
             add_batch_low, add_batch_high, pop_batches),
    SCENARIO("batches_pop", "two batches of pops against one of adds", NULL, NULL, add_batch_low,
             pop_batches, pop_batches),
    SCENARIO("counted_update", "counted objects: updates against a look and a pop", counted,
             prepare_2, update_0_twice, get_both, consume_2),
    SCENARIO("counted_delete", "counted objects: updates and deletions against a look and a pop",
             counted, prepare_2, update_and_delete, get_both, consume_2),
    {.name = NULL},
};
