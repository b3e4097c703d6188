/* Adding and popping inside one band, and claims. */
#include "scenarios.h"
#include "world.h"

static void
add_4(struct actor *actor)
{
    for (uint32_t i = 0; i < 4; i++) {
        (void)actor_add(actor, i, 5);
    }
}

static void
consume_3(struct actor *actor)
{
    actor_consume(actor, 3);
}

static void
consume_2(struct actor *actor)
{
    actor_consume(actor, 2);
}

static void
prepare_3(struct actor *actor)
{
    for (uint32_t i = 0; i < 3; i++) {
        (void)actor_add(actor, i, 5);
    }
}

static void
add_key_0_look(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_find(actor, 0);
}

static void
add_key_0_again(struct actor *actor)
{
    if (!actor_add(actor, 0, 2)) {
        (void)actor_add(actor, 0, 2);
    }
}

static void
add_two_bands(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_add(actor, 1, 9);
    (void)actor_add(actor, 2, 5);
}

static void
add_two_bands_down(struct actor *actor)
{
    (void)actor_add(actor, 3, 9);
    (void)actor_add(actor, 4, 1);
}

static void
find_all(struct actor *actor)
{
    for (uint32_t i = 0; i < 3; i++) {
        (void)actor_get(actor, i);
    }
}

/* Above all others, while they are taken; then below them. */
static void
add_urgent_take(struct actor *actor)
{
    (void)actor_add(actor, 4, 9);
    actor_consume(actor, 1);
    (void)actor_add(actor, 5, 5);
    actor_consume(actor, 1);
}

/* words.poppable says 1 for nothing then. */
static void
take_the_last(struct actor *actor)
{
    (void)actor_add(actor, 4, 1);
    actor_consume(actor, 1);
}

static void
add_two(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_add(actor, 1, 1);
}

static void
take_as_a_group(struct actor *actor)
{
    if (actor_pop_or_group(actor)) {
        (void)actor_done_all(actor);
    }
}

/* What hosts read when no other call is under way. */
static void
look_at_poppable(struct actor *actor)
{
    (void)sim_wait_for_quiet();
    sim_drain();
    bool said = schedq_words(world.queue)->poppable != 0;

    SIM_CHECK(!actor_pop(actor) || said || sim_frozen() > 0, "words.poppable is 0 beside a pod");
    (void)actor_done_all(actor);
}

static void
relax(schedq_config_t *config)
{
    config->order = SCHEDQ_ORDER_RELAXED;
}

const struct scenario pop_scenarios[] = {
    SCENARIO("push_pop", "pushes against pops, one band", NULL, NULL, add_4, consume_3, consume_2),
    SCENARIO("claim", "three consumers and three pods", NULL, prepare_3, consume_2, consume_2,
             consume_2),
    SCENARIO("urgent",
             "a more urgent pod comes, and one behind, while consumers pass what they took", NULL,
             add_4, consume_3, consume_2, add_urgent_take),
    SCENARIO("add_one_key", "two adders of one key, and a consumer", NULL, NULL, add_key_0_look,
             add_key_0_again, consume_2),
    SCENARIO("bands", "pods of three bands, added in both directions, against pops", NULL, NULL,
             add_two_bands, add_two_bands_down, consume_3),
    SCENARIO("find_told", "what find reports is reached, though its adder stops", NULL, NULL,
             add_two_bands, find_all, consume_2),
    SCENARIO("relaxed", "as push_pop, relaxed order", relax, NULL, add_4, add_two_bands_down,
             consume_3),
    SCENARIO_OF(&queue_harness, true, 1, "poppable", "what words.poppable says behind pops", NULL,
                take_the_last, consume_2, add_two, consume_2, look_at_poppable),
    SCENARIO_OF(&queue_harness, true, 1, "poppable_group",
                "the same behind pops of groups, which take pods", NULL, take_the_last,
                take_as_a_group, add_two, take_as_a_group, look_at_poppable),
    {.name = NULL},
};
