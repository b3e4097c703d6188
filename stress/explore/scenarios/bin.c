/* The containers of one band: lanes that grow and are rebuilt, runs that are merged. */
#include "scenarios.h"
#include "world.h"

#include "lockfree/memory/sizes.h"

#define SEGMENT SEGMENT_SLOTS_MIN /* slots of a lane's first segment; one stays free */
#define RUNS BIN_RUNS             /* run slots of a band */

static void
prepare_almost_full(struct actor *actor)
{
    for (uint32_t key = 0; key < SEGMENT - 2; key++) {
        (void)actor_add(actor, key, 1);
    }
}

/* The ring is full, and most of it is stale: its head stands on a pod that is there. */
static void
prepare_full_of_stale(struct actor *actor)
{
    for (uint32_t key = 0; key < SEGMENT - 1; key++) {
        (void)actor_add(actor, key, 1);
    }
    for (uint32_t key = 2; key < SEGMENT - 2; key++) {
        (void)actor_delete(actor, key);
    }
}

/* Several segments, of which those in the middle are empty. */
static void
prepare_chain(struct actor *actor)
{
    for (uint32_t key = 0; key < 12; key++) {
        (void)actor_add(actor, key, 1);
    }
    for (uint32_t key = 2; key < 10; key++) {
        (void)actor_delete(actor, key);
    }
}

static void
add_4_more(struct actor *actor)
{
    for (uint32_t key = 20; key < 24; key++) {
        (void)actor_add(actor, key, 1);
    }
}

static void
consume_3(struct actor *actor)
{
    actor_consume(actor, 3);
}

static void
prepare_two(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_add(actor, 1, 1);
}

/* The lane's ring is used again while others look into it. */
static void
add_and_pop(struct actor *actor, uint32_t key)
{
    for (uint32_t i = 0; i < 3; i++) {
        (void)actor_add(actor, key + 2 * i, 1);
        (void)actor_add(actor, key + 2 * i + 1, 1);
        actor_consume(actor, 2);
    }
}

static void
add_pop_a(struct actor *actor)
{
    add_and_pop(actor, 20);
}

static void
add_pop_b(struct actor *actor)
{
    add_and_pop(actor, 40);
}

static void
delete_0(struct actor *actor)
{
    (void)actor_delete(actor, 0);
    (void)actor_update(actor, 1, 2);
}

/* Each pod ranks before the one that was added before it, so each makes a run of its own. */
static void
prepare_runs(struct actor *actor)
{
    for (uint32_t key = 0; key < RUNS - 1; key++) {
        (void)actor_add_at(actor, key, 1, 1000 - (int64_t)key);
    }
}

static void
add_runs_a(struct actor *actor)
{
    for (uint32_t i = 0; i < 3; i++) {
        (void)actor_add_at(actor, 20 + i, 1, 500 - (int64_t)i);
    }
}

static void
add_runs_b(struct actor *actor)
{
    for (uint32_t i = 0; i < 3; i++) {
        (void)actor_add_at(actor, 30 + i, 1, 700 - 100 * (int64_t)i);
    }
}

static void
move_runs(struct actor *actor)
{
    (void)actor_update_at(actor, 3, 1, 2000);
    (void)actor_update_at(actor, 4, 1, 3);
    (void)actor_delete(actor, 5);
}

static void
order_out_of_order(struct actor *actor)
{
    (void)actor_add_at(actor, 40, 1, 30);
    (void)actor_add_at(actor, 41, 1, 10);
    (void)actor_add_at(actor, 42, 1, 20);
}

static void
order_with_time(struct actor *actor)
{
    (void)actor_add(actor, 43, 1);
    (void)actor_add_at(actor, 44, 1, 15);
}

const struct scenario bin_scenarios[] = {
    SCENARIO("lane_growth", "a lane grows under its consumers", NULL, prepare_almost_full,
             add_4_more, consume_3, consume_3),
    SCENARIO("lane_rebuild",
             "a lane full of stale refs is rebuilt under a consumer, a deletion and an update",
             NULL, prepare_full_of_stale, add_4_more, consume_3, delete_0),
    SCENARIO("lane_chain_consume",
             "two consumers go along a chain of segments, while its owner adds and tidies", NULL,
             prepare_chain, add_4_more, consume_3, consume_3),
    SCENARIO("lane_fronts",
             "two workers add to one band and pop from both lanes, and a third pops: slots are "
             "used again",
             NULL, prepare_two, add_pop_a, add_pop_b, consume_3),
    SCENARIO("order_keys", "order keys out of order, from two threads, against pops", NULL, NULL,
             order_out_of_order, order_with_time, consume_3),
    SCENARIO("runs", "runs are merged by two threads, against pops", NULL, prepare_runs, add_runs_a,
             add_runs_b, consume_3),
    SCENARIO("runs_move", "runs are merged while their pods are moved, deleted and popped", NULL,
             prepare_runs, add_runs_a, move_runs, consume_3),
    {.name = NULL},
};
