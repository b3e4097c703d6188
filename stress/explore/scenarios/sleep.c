/* Sleepers: no wake-up is lost, whoever stops. */
#include "bodies.h"
#include "scenarios.h"
#include "world.h"

static void
pop_until_closed(struct actor *actor)
{
    while (actor_pop_wait(actor)) {
        (void)actor_done_all(actor);
    }
}

static void
wait_for_one(struct actor *actor)
{
    if (actor_pop_wait(actor)) {
        (void)actor_done_all(actor);
    }
}

static void
wait_with_deadline(struct actor *actor)
{
    if (actor_pop_until(actor, 1000)) {
        (void)actor_done_all(actor);
    }
}

static void
add_two(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_add(actor, 1, 1);
}

static void
add_batch(struct actor *actor)
{
    (void)actor_add_many(actor, 0, 3, 1);
}

/* By the first thread: its lanes are the bands' own, so a pop can take a pod at once. */
static void
add_rising(struct actor *actor)
{
    (void)actor_add_rising(actor, 0, 3, 1);
}

static void
add_and_close(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    actor_close(actor);
    (void)actor_add(actor, 1, 1);
}

static void
tick_on(struct actor *actor)
{
    actor_tick(actor);
    actor_tick(actor);
}

static int64_t
read_virtual(void *ctx)
{
    (void)ctx;
    return 1000;
}

static void
virtual_clock(schedq_config_t *config)
{
    config->clock = (schedq_clock_t){.now_ns = read_virtual, .is_virtual = 1};
}

const struct scenario sleep_scenarios[] = {
    {.name = "sleep_exact",
     .about = "two sleepers and two adders: each sleeper gets a pod",
     .harness = &queue_harness,
     .threads = 4,
     .never_frozen = true,
     .sleeps = true,
     .bodies = {wait_for_one, wait_for_one, add_0, add_1}},
    {.name = "sleep_pass_on",
     .about = "one adder of two pods, two sleepers: the wake-up is passed on",
     .harness = &queue_harness,
     .threads = 3,
     .never_frozen = true,
     .sleeps = true,
     .bodies = {wait_for_one, wait_for_one, add_two}},
    {.name = "sleep_batch",
     .about = "a batch for three sleepers",
     .harness = &queue_harness,
     .threads = 4,
     .never_frozen = true,
     .sleeps = true,
     .bodies = {wait_for_one, wait_for_one, wait_for_one, add_batch}},
    {.name = "sleep_bands",
     .about = "a batch for three sleepers, each pod in a band of its own",
     .harness = &queue_harness,
     .threads = 4,
     .never_frozen = true,
     .sleeps = true,
     .bodies = {add_rising, wait_for_one, wait_for_one, wait_for_one}},
    SCENARIO_OF(&queue_harness, true, 1, "sleep_frozen",
                "sleepers and adders, some of them frozen: ticks wake who is left", NULL, NULL,
                pop_until_closed, pop_until_closed, add_0, add_1, world_heal),
    SCENARIO_OF(&queue_harness, true, 1, "sleep_deadline",
                "deadlines pass while a wake-up is on its way", NULL, NULL, wait_with_deadline,
                pop_until_closed, wait_with_deadline, add_two, world_heal),
    SCENARIO_OF(&queue_harness, true, 1, "sleep_virtual",
                "a virtual clock: sleepers are untimed and look again at every tick", virtual_clock,
                NULL, pop_until_closed, pop_until_closed, add_two, tick_on, world_heal),
    SCENARIO_OF(&queue_harness, true, 1, "close", "close against adds and sleepers", NULL, NULL,
                add_and_close, pop_until_closed, add_1, pop_until_closed, world_heal),
    {.name = NULL},
};
