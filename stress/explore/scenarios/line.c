/* Questions about the line while it changes: position and peek. Who asks is the last thread. */
#include "cluster.h"
#include "scenarios.h"
#include "world.h"

/* Gates are asked of a batch, and no bound: it is admitted as a whole, then let in. */
static void
use_gates(schedq_config_t *config)
{
    cluster_use(config);
    config->max_bands = 0;
}

/* ---- before ---------------------------------------------------------------------------------- */

static void
prepare_band(struct actor *actor)
{
    for (uint32_t i = 0; i < 4; i++) {
        (void)actor_add(actor, i, 5);
    }
}

static void
prepare_bands(struct actor *actor)
{
    (void)actor_add(actor, 0, 7);
    (void)actor_add(actor, 1, 6);
    (void)actor_add(actor, 2, 5);
    (void)actor_add(actor, 3, 5);
}

/* A ref in the middle of the lane stays behind. */
static void
prepare_hole(struct actor *actor)
{
    prepare_band(actor);
    (void)actor_delete(actor, 1);
}

/* The same, of a pod that is held; another pod is behind pod 3. */
static void
prepare_hole_of_held(struct actor *actor)
{
    prepare_band(actor);
    actor_hold(actor, 1);
    (void)actor_add(actor, 4, 1);
}

/* More holes than a call that is at work could explain, behind all pods but the last. */
static void
prepare_holes(struct actor *actor)
{
    for (uint32_t i = 0; i < 12; i++) {
        (void)actor_add(actor, i, 5);
    }
    for (uint32_t i = 4; i < 12; i++) {
        (void)actor_delete(actor, i);
    }
}

/* A ref that a deletion left behind, before pod 3, and pods behind it that are the first of their
   bands. */
static void
prepare_behind(struct actor *actor)
{
    (void)actor_add(actor, 0, 7);
    (void)actor_add(actor, 1, 7);
    (void)actor_add(actor, 2, 7);
    (void)actor_add(actor, 3, 5);
    (void)actor_add(actor, 4, 3);
    (void)actor_add(actor, 5, 1);
    (void)actor_delete(actor, 1);
}

/* Band 9 exists, and is empty. */
static void
prepare_above(struct actor *actor)
{
    (void)actor_add(actor, 1, 9);
    actor_consume(actor, 1);
    (void)actor_add(actor, 2, 7);
    (void)actor_add(actor, 3, 5);
    (void)actor_add(actor, 4, 1);
}

static void
prepare_held(struct actor *actor)
{
    prepare_bands(actor);
    (void)actor_pop(actor);
}

static void
prepare_parked(struct actor *actor)
{
    prepare_bands(actor);
    (void)actor_pop_and_fail(actor, PLAIN);
    (void)actor_pop_and_fail(actor, PLAIN);
}

/* Band 7 exists, and is empty. */
static void
prepare_way_up(struct actor *actor)
{
    (void)actor_add(actor, 0, 7);
    actor_consume(actor, 1);
    (void)actor_add(actor, 0, 6);
    (void)actor_add(actor, 1, 5);
}

/* ---- who asks -------------------------------------------------------------------------------- */

static void
ask_3(struct actor *actor)
{
    actor_position(actor, 3);
    actor_position(actor, 3);
}

static void
ask_0(struct actor *actor)
{
    actor_position(actor, 0);
    actor_position(actor, 0);
}

static void
ask_3_once(struct actor *actor)
{
    actor_position(actor, 3);
}

static void
peek_twice(struct actor *actor)
{
    actor_peek(actor, 1);
    actor_peek(actor, 1);
}

static void
peek_many(struct actor *actor)
{
    actor_peek(actor, 3);
    actor_peek(actor, 8);
}

/* ---- who changes the line -------------------------------------------------------------------- */

static void
pop_twice(struct actor *actor)
{
    actor_consume(actor, 2);
}

static void
pop_two(struct actor *actor)
{
    (void)actor_pop_many(actor, 2);
    (void)actor_done_all(actor);
}

static void
pop_and_add(struct actor *actor)
{
    actor_consume(actor, 1);
    (void)actor_add(actor, 12, 9);
}

static void
pop_and_add_more(struct actor *actor)
{
    actor_consume(actor, 1);
    (void)actor_add(actor, 12, 9);
    (void)actor_add(actor, 13, 9);
}

static void
add_around(struct actor *actor)
{
    (void)actor_add(actor, 12, 9);
    (void)actor_add(actor, 13, 1);
    (void)actor_add(actor, 14, 5);
}

static void
add_above(struct actor *actor)
{
    (void)actor_add(actor, 12, 9);
}

static void
add_batch_behind(struct actor *actor)
{
    (void)actor_add_many(actor, 12, 4, 3);
}

static void
lower_2(struct actor *actor)
{
    (void)actor_update(actor, 2, 1);
}

static void
delete_4(struct actor *actor)
{
    (void)actor_delete(actor, 4);
}

static void
delete_5(struct actor *actor)
{
    (void)actor_delete(actor, 5);
}

static void
raise_and_lower(struct actor *actor)
{
    (void)actor_update(actor, 2, 9);
    (void)actor_update(actor, 0, 1);
}

static void
move_3(struct actor *actor)
{
    (void)actor_update(actor, 3, 9);
    (void)actor_add(actor, 12, 6);
    (void)actor_add(actor, 13, 6);
}

static void
move_0(struct actor *actor)
{
    (void)actor_update(actor, 0, 1);
    (void)actor_update(actor, 0, 7);
}

static void
raise_0(struct actor *actor)
{
    (void)actor_update(actor, 0, 7);
}

static void
delete_and_add(struct actor *actor)
{
    (void)actor_delete(actor, 1);
    (void)actor_add(actor, 1, 9);
}

static void
delete_two(struct actor *actor)
{
    (void)actor_delete(actor, 0);
    (void)actor_delete(actor, 2);
}

static void
hold_4(struct actor *actor)
{
    actor_hold(actor, 4);
}

static void
delete_3_and_add(struct actor *actor)
{
    (void)actor_delete(actor, 3);
    (void)actor_add(actor, 12, 9);
    (void)actor_add(actor, 13, 9);
}

static void
fail_held(struct actor *actor)
{
    (void)actor_fail(actor, PLAIN);
    (void)actor_pop_and_fail(actor, PLAIN);
}

static void
fail_and_end(struct actor *actor)
{
    (void)actor_pop_and_fail(actor, PLAIN);
    actor_consume(actor, 1);
}

static void
bring_back(struct actor *actor)
{
    actor_move(actor, EVENT_PLAIN);
    actor_tick_after(actor, BACKOFF_NS);
}

#define LINE(title, text, ...) SCENARIO_OF(&queue_harness, false, 1, title, text, NULL, __VA_ARGS__)
#define LINE_OF_CLUSTER(title, text, ...) \
    SCENARIO_OF(&queue_harness, true, 1, title, text, cluster_use_without_gates, __VA_ARGS__)

const struct scenario line_scenarios[] = {
    LINE("position_pop", "position against pops, and an add before the pod", prepare_bands,
         pop_and_add, pop_two, ask_3),
    LINE("position_add", "position against adds before the pod and behind it", prepare_band,
         add_around, pop_twice, ask_3),
    LINE("position_update", "position while one comes before the pod, and one leaves",
         prepare_bands, raise_and_lower, pop_and_add, ask_3),
    LINE("position_delete", "position against deletions, and a name that comes back", prepare_bands,
         delete_and_add, delete_two, ask_3),
    LINE("position_hole", "position beside a ref that a deletion left behind", prepare_hole,
         add_around, pop_and_add, ask_3),
    LINE("position_behind", "position with a hole before the pod, while those behind it leave",
         prepare_behind, delete_4, delete_5, ask_3_once),
    LINE("position_lowered", "position while one comes before the pod, then another goes behind it",
         prepare_above, add_above, lower_2, ask_3_once),
    SCENARIO_OF(&queue_harness, true, 1, "position_batch",
                "position with holes before the pod, while a batch comes behind it", use_gates,
                prepare_behind, add_batch_behind, ask_3_once),
    LINE("position_records", "position by records, while a pod leaves and others come",
         prepare_holes, pop_and_add_more, delete_two, ask_3),
    LINE("position_popped", "position of the pod that is popped; others come then", prepare_bands,
         pop_and_add_more, pop_twice, ask_0),
    LINE_OF_CLUSTER("position_held",
                    "position with a hole before the pod, while one behind it is held",
                    prepare_hole_of_held, hold_4, ask_3_once),
    LINE("position_deleted", "position of a pod that is deleted; others come then", prepare_bands,
         delete_3_and_add, pop_twice, ask_3),
    LINE("position_moved", "position of a pod that is moved; others come then", prepare_bands,
         move_3, pop_twice, ask_3),
    LINE_OF_CLUSTER("position_fail", "position against failures, an event and time", prepare_held,
                    fail_held, bring_back, ask_3),
    LINE_OF_CLUSTER("position_move", "position while events bring pods back before it",
                    prepare_parked, bring_back, fail_and_end, ask_3),
    LINE("peek_pop", "peek against pops and an add", prepare_bands, pop_and_add, pop_twice,
         peek_twice),
    LINE("peek_update", "peek while the first goes behind and comes back", prepare_bands, move_0,
         raise_and_lower, peek_twice),
    SCENARIO_OF(&queue_harness, false, 1, "peek_passed",
                "a pod is raised to where peek has looked already; it is first before and after",
                NULL, prepare_way_up, raise_0, peek_twice),
    LINE("peek_delete", "peek against deletions, and a name that comes back", prepare_bands,
         delete_and_add, delete_two, peek_twice),
    LINE_OF_CLUSTER("peek_move", "peek while events bring pods back", prepare_parked, bring_back,
                    fail_and_end, peek_twice),
    LINE("peek_many_pop", "peek_many against pops and adds", prepare_band, add_around, pop_two,
         peek_many),
    LINE("peek_many_update", "peek_many while pods are moved", prepare_bands, move_0,
         raise_and_lower, peek_many),
    LINE_OF_CLUSTER("peek_many_move", "peek_many while events bring pods back", prepare_parked,
                    bring_back, fail_and_end, peek_many),
    {.name = NULL},
};
