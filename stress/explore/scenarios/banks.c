/*
 * Workers whose lanes are in banks behind a bin or a lot: under this scheduler those of the third
 * thread, and of those after it (BANK_LANES).
 */
#include "scenarios.h"
#include "world.h"

static void
consume_2(struct actor *actor)
{
    actor_consume(actor, 2);
}

static void
consume_4(struct actor *actor)
{
    actor_consume(actor, 4);
}

/* A lane of the bin, and none in a bank. */
static void
prepare_near(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
}

/* A lane of the bin, one in a bank. */
static void
prepare_both(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_add(world_actor(2), 1, 1);
}

/* A lane of the bin, several segments long, and one in a bank, whose pods rank between. */
static void
prepare_mixed(struct actor *actor)
{
    for (uint32_t key = 0; key < 8; key++) {
        (void)actor_add(world_actor(key % 3 == 0 ? 2 : actor->number), key, 1);
    }
}

/* The bin has no pod: the first pop after this finds lanes that are empty. */
static void
prepare_emptied(struct actor *actor)
{
    prepare_both(actor);
    actor_consume(actor, 2);
}

static void
add_2_from(struct actor *actor, uint32_t key)
{
    (void)actor_add(actor, key, 1);
    (void)actor_add(actor, key + 1, 1);
}

static void
add_10(struct actor *actor)
{
    add_2_from(actor, 10);
}

static void
add_20(struct actor *actor)
{
    add_2_from(actor, 20);
}

static void
add_30(struct actor *actor)
{
    add_2_from(actor, 30);
}

/* Each ranks before all that was added before it: a run of its own. */
static void
add_early(struct actor *actor)
{
    (void)actor_add_at(actor, 40, 1, 3);
    (void)actor_add_at(actor, 41, 1, 2);
    (void)actor_add(actor, 42, 1);
}

static void
add_and_consume(struct actor *actor, uint32_t key)
{
    for (uint32_t i = 0; i < 3; i++) {
        add_2_from(actor, key + 2 * i);
        actor_consume(actor, 2);
    }
}

static void
add_pop_50(struct actor *actor)
{
    add_and_consume(actor, 50);
}

static void
add_pop_60(struct actor *actor)
{
    add_and_consume(actor, 60);
}

static void
look_at_all(struct actor *actor)
{
    actor_peek(actor, 1);
    actor_peek(actor, 4);
    actor_position(actor, 0);
    actor_position(actor, 1);
}

/* The slot's next owner goes on in its lanes. */
static void
come_back(struct actor *actor)
{
    (void)actor_add(actor, 70, 1);
    actor_unregister(actor);
    actor_register(actor);
    (void)actor_add(actor, 71, 1);
}

static void
relax(schedq_config_t *config)
{
    config->order = SCHEDQ_ORDER_RELAXED;
}

const struct scenario bank_scenarios[] = {
    SCENARIO("banks_first", "the first refs of a bank, by two workers of it at once, against pops",
             NULL, prepare_near, consume_4, consume_2, add_10, add_20),
    SCENARIO("banks_two", "two banks are linked at once, against pops", NULL, NULL, consume_4,
             consume_2, add_10, consume_2, add_20),
    SCENARIO("banks_near", "a bank comes while the bin's own lane is popped and filled", NULL,
             prepare_near, add_10, consume_4, add_30),
    SCENARIO("banks_fronts",
             "a worker of the bin and one of a bank add and pop: fronts of both rise", NULL,
             prepare_both, add_pop_50, consume_2, add_pop_60),
    SCENARIO("banks_mixed",
             "pods of the bin's lane and of a bank's rank among each other, against three pops",
             NULL, prepare_mixed, consume_4, consume_2, consume_4),
    SCENARIO("banks_runs", "runs come to a bin that has a bank, and to one that gets one", NULL,
             prepare_near, add_early, consume_4, add_10, consume_2),
    SCENARIO("banks_clear", "the bits of a band are taken while a worker of a bank adds to it",
             NULL, prepare_emptied, consume_4, consume_4, add_10),
    SCENARIO("banks_relaxed", "as banks_first, relaxed order", relax, prepare_near, consume_4,
             consume_2, add_10, add_20),
    SCENARIO("banks_look", "peek, peek_many and position while a bank comes and is popped", NULL,
             prepare_both, look_at_all, consume_2, add_10, add_20),
    SCENARIO("banks_again",
             "a worker of a bank is unregistered, and its slot used again, against pops", NULL,
             prepare_near, consume_4, consume_2, come_back),
    {.name = NULL},
};
