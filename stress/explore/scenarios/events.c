/* Events, activations and updates against pods that are being parked, or are parked. */
#include "cluster.h"
#include "scenarios.h"
#include "world.h"

#define MANY 6 /* more than a mover collects (MOVER_BATCH) */

/* ---- before ---------------------------------------------------------------------------------- */

static void
hold_wanted(struct actor *actor)
{
    (void)actor_add(actor, 0, WANTED);
    (void)actor_pop(actor);
}

/* The third thread holds one too. */
static void
hold_two(struct actor *actor)
{
    hold_wanted(actor);
    (void)actor_add(world_actor(2), 1, WANTED);
    (void)actor_pop(world_actor(2));
}

/* Two whose lanes are in a bank (banks.c) hold one each. */
static void
hold_in_bank(struct actor *actor)
{
    (void)actor;
    for (unsigned i = 2; i < 4; i++) {
        (void)actor_add(world_actor(i), i, WANTED);
        (void)actor_pop(world_actor(i));
    }
}

static void
hold_unwanted(struct actor *actor)
{
    (void)actor_add(actor, 0, WANTED - 1);
    (void)actor_pop(actor);
}

static void
park_one(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_pop_and_fail(actor, PLAIN);
}

static void
park_unwanted(struct actor *actor)
{
    (void)actor_add(actor, 0, WANTED - 1);
    (void)actor_pop_and_fail(actor, HINTED);
}

static void
park_many(struct actor *actor)
{
    for (uint32_t key = 0; key < MANY; key++) {
        (void)actor_add(actor, key, (int32_t)(key % 2) + 1);
    }
    for (uint32_t key = 0; key < MANY; key++) {
        (void)actor_pop_and_fail(actor, PLAIN);
    }
}

/* None backs off any more. */
static void
park_many_for_long(struct actor *actor)
{
    park_many(actor);
    cluster_pass(8 * BACKOFF_NS);
}

/* More than a pass reads at once (MOVER_REFS), for a hint that wants every other one. */
static void
park_many_hinted(struct actor *actor)
{
    for (uint32_t key = 0; key < MANY; key++) {
        (void)actor_add(actor, key, WANTED - (int32_t)(key % 2));
    }
    for (uint32_t key = 0; key < MANY; key++) {
        (void)actor_pop_and_fail(actor, HINTED);
    }
}

#define CHAIN 12 /* refs that fill a chain of segments */

/* One lot, several segments; the hint does not want the first pod. */
static void
park_chain(struct actor *actor)
{
    for (uint32_t key = 0; key < CHAIN; key++) {
        (void)actor_add(actor, key, key == 0 ? WANTED - 1 : WANTED);
        (void)actor_pop_and_fail(actor, HINTED);
    }
}

/* Only the first is left, and what it stands in front of. */
static void
park_chain_of_stale(struct actor *actor)
{
    park_chain(actor);
    for (uint32_t key = 1; key < CHAIN; key++) {
        (void)actor_delete(actor, key);
    }
}

/* Segments and pages go while a pass is between two sections. */
static void
delete_and_trim(struct actor *actor)
{
    (void)actor_delete(actor, 1);
    (void)actor_delete(actor, 2);
    actor_trim(actor);
    (void)actor_delete(actor, 5);
    actor_trim(actor);
}

static void
add_and_park(struct actor *actor)
{
    (void)actor_add(actor, 1, WANTED);
    (void)actor_pop_and_fail(actor, HINTED);
    (void)actor_add(actor, 2, WANTED);
    (void)actor_pop_and_fail(actor, HINTED);
}

/* Different sets, more of them than there are lots. */
static void
park_in_lots(struct actor *actor)
{
    const uint64_t sets[] = {PLAIN, HINTED | PLAIN, HINTED, GATE_A | PLAIN};

    for (uint32_t key = 0; key < 4; key++) {
        (void)actor_add(actor, key, WANTED);
        (void)actor_pop_and_fail(actor, sets[key]);
    }
}

/* A pod waits by this set, and goes. */
static void
come_and_go(struct actor *actor, uint32_t key, uint64_t rejectors)
{
    (void)actor_add(actor, key, WANTED);
    (void)actor_pop_and_fail(actor, rejectors);
    (void)actor_delete(actor, key);
}

/* Lots without pods, one of them for the pod that is held. */
static void
hold_beside_empty_lots(struct actor *actor)
{
    come_and_go(actor, 1, HINTED);
    come_and_go(actor, 2, PLAIN);
    hold_wanted(actor);
}

/* The same, and they have begun to leave. */
static void
hold_beside_leaving_lots(struct actor *actor)
{
    hold_beside_empty_lots(actor);
    actor_trim(actor);
}

static void
back_off_one(struct actor *actor)
{
    park_one(actor);
    actor_move(actor, EVENT_PLAIN);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void
fail_hinted(struct actor *actor)
{
    (void)actor_fail(actor, HINTED);
}

static void
fail_plain(struct actor *actor)
{
    (void)actor_fail(actor, PLAIN);
}

/* What begins to leave in one leaves in a later one. */
static void
trim_often(struct actor *actor)
{
    for (unsigned i = 0; i < 3; i++) {
        actor_trim(actor);
    }
}

static void
come_and_go_often(struct actor *actor)
{
    const uint64_t sets[] = {HINTED, HINTED | PLAIN, PLAIN};

    for (uint32_t i = 0; i < 3; i++) {
        come_and_go(actor, 10 + i, sets[i]);
    }
}

static void
park_4_more(struct actor *actor)
{
    for (uint32_t key = 20; key < 24; key++) {
        (void)actor_add(actor, key, WANTED);
        (void)actor_pop_and_fail(actor, HINTED);
    }
}

static void
delete_most(struct actor *actor)
{
    for (uint32_t key = 1; key < CHAIN - 1; key++) {
        (void)actor_delete(actor, key);
    }
}

static void
move_hinted_twice(struct actor *actor)
{
    actor_move(actor, EVENT_HINTED);
    actor_move(actor, EVENT_HINTED);
}

static void
fail_both_twice(struct actor *actor)
{
    (void)actor_fail(actor, HINTED | PLAIN);
    (void)actor_pop_and_fail(actor, PLAIN);
}

static void
move_hinted(struct actor *actor)
{
    actor_move(actor, EVENT_HINTED);
}

static void
move_plain(struct actor *actor)
{
    actor_move(actor, EVENT_PLAIN);
}

static void
move_often(struct actor *actor)
{
    for (unsigned i = 0; i < 5; i++) {
        actor_move(actor, EVENT_OF_NOBODY);
    }
    actor_move(actor, EVENT_HINTED);
}

/* Enough for lots without pods to be met, to begin to leave, and to leave. */
static void
move_plain_often(struct actor *actor)
{
    for (unsigned i = 0; i < 5; i++) {
        actor_move(actor, EVENT_PLAIN);
    }
}

static void
move_wildcard(struct actor *actor)
{
    actor_move(actor, SCHEDQ_EVENT_WILDCARD);
}

static void
move_both(struct actor *actor)
{
    actor_move(actor, EVENT_HINTED);
    actor_move(actor, EVENT_PLAIN);
}

static void
pop_and_fail_plain(struct actor *actor)
{
    (void)actor_pop_and_fail(actor, PLAIN);
}

static void
pop_and_fail_hinted(struct actor *actor)
{
    (void)actor_pop_and_fail(actor, HINTED);
}

/* Once the pod is one that the hint wants, an event comes. */
static void
update_then_move(struct actor *actor)
{
    (void)actor_update(actor, 0, WANTED);
    actor_move(actor, EVENT_HINTED);
}

static void
update_is_event(struct actor *actor)
{
    (void)actor_update_event(actor, 0, WANTED, EVENT_HINTED);
}

static void
update_is_plain_event(struct actor *actor)
{
    (void)actor_update_event(actor, 0, 5, EVENT_PLAIN);
}

static void
update_and_delete(struct actor *actor)
{
    (void)actor_update(actor, 2, 7);
    (void)actor_delete(actor, 3);
}

static void
update_up(struct actor *actor)
{
    (void)actor_update(actor, 0, 5);
}

static void
update_often(struct actor *actor)
{
    for (int32_t i = 0; i < 4; i++) {
        (void)actor_update(actor, 0, WANTED + i);
    }
}

/* The first who is rejected by that name. */
static void
fail_late(struct actor *actor)
{
    uint64_t bit = schedq_rejector_bit(world.queue, 0, LATE_NAME, sizeof LATE_NAME - 1);

    SIM_CHECK(bit == LATE, "the bit of a late name is %llu", (unsigned long long)bit);
    (void)actor_fail(actor, bit);
}

static void
move_nobody(struct actor *actor)
{
    actor_move(actor, EVENT_OF_NOBODY);
}

static void
activate_0(struct actor *actor)
{
    actor_activate(actor, 0);
}

static void
delete_0(struct actor *actor)
{
    (void)actor_delete(actor, 0);
}

static void
consume_2(struct actor *actor)
{
    actor_consume(actor, 2);
}

static void
consume_3(struct actor *actor)
{
    actor_consume(actor, 3);
}

static void
look_around(struct actor *actor)
{
    actor_snapshot(actor);
    (void)actor_get(actor, 0);
}

static void
add_0_again(struct actor *actor)
{
    (void)actor_delete(actor, 0);
    (void)actor_add(actor, 0, 1);
}

static void
done_and_readd(struct actor *actor)
{
    (void)actor_done(actor);
    (void)actor_readd(actor, PLAIN);
}

static void
done_again(struct actor *actor)
{
    if (actor_pop(actor)) {
        (void)actor_done(actor);
        (void)actor_readd(actor, 0);
    }
}

/* ---- nominations ----------------------------------------------------------------------------- */

static void
add_two(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_add(actor, 1, 2);
}

static void
nominate_here(struct actor *actor)
{
    actor_nominate(actor, 0, 1);
    actor_nominate(actor, 1, 1);
    actor_nominate(actor, 0, 3);
}

static void
nominate_and_update(struct actor *actor)
{
    (void)actor_update(actor, 0, 2);
    actor_nominate(actor, 0, 3);
    actor_nominated(actor, 1);
}

static void
fail_and_look(struct actor *actor)
{
    (void)actor_pop_and_fail(actor, PLAIN);
    actor_nominated(actor, 3);
    actor_nominate(actor, 1, 0);
}

static void
find_often(struct actor *actor)
{
    for (unsigned i = 0; i < 3; i++) {
        (void)actor_find(actor, 0);
    }
}

static void
activate_and_end(struct actor *actor)
{
    actor_activate(actor, 0);
    actor_consume(actor, 1);
}

static void
counted(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    config->objects = SCHEDQ_OBJECTS_COUNTED;
}

static void
narrowed(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    config->pre_queueing_hints = 1;
}

static void
as_kube_1_26(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    config->requeue = SCHEDQ_REQUEUE_MOVE_CYCLE;
    config->pop_from_backoff = 0;
}

static void
park_by_1(struct actor *actor)
{
    (void)actor;
    (void)actor_add(world_actor(1), 0, WANTED);
    (void)actor_pop_and_fail(world_actor(1), PLAIN);
}

static void
delete_leave_and_trim(struct actor *actor)
{
    (void)actor_delete(actor, 0);
    actor_unregister(actor);
    actor_trim(actor);
    actor_register(actor);
}

#define PLAIN_EVENTS(title, text, ...) SLEEPING(title, text, cluster_use_without_gates, __VA_ARGS__)

const struct scenario event_scenarios[] = {
    SLEEPING("event_name_trim", "a listed pod ends and its page goes while its hint is asked",
             narrowed, park_by_1, move_plain, delete_leave_and_trim),
    PLAIN_EVENTS("event_park", "an event against a failure that it helps, by its hint", hold_wanted,
                 fail_hinted, move_hinted, pop_and_fail_plain),
    PLAIN_EVENTS("event_park_late",
                 "an event that nobody asked for against a failure by a name that is new",
                 hold_wanted, fail_late, move_nobody, move_nobody),
    PLAIN_EVENTS("event_park_plain", "two events without a hint against a failure", hold_wanted,
                 fail_plain, move_plain, move_plain),
    PLAIN_EVENTS("event_park_both", "two failures of one pod against events of both plugins",
                 hold_wanted, fail_both_twice, move_both, pop_and_fail_hinted),
    PLAIN_EVENTS("event_park_twins", "an event against two failures that make the same lot",
                 hold_two, fail_plain, move_plain, fail_plain),
    PLAIN_EVENTS("event_park_skip",
                 "an event that the hint does not want, and a wildcard, against a failure",
                 hold_unwanted, fail_hinted, move_hinted, move_wildcard),
    PLAIN_EVENTS("event_park_update", "the pod becomes one that the event helps while it fails",
                 hold_unwanted, fail_hinted, update_then_move, pop_and_fail_hinted),
    PLAIN_EVENTS("event_update", "an update that is an event against a failure", hold_unwanted,
                 fail_hinted, update_is_event, pop_and_fail_hinted),
    PLAIN_EVENTS("event_log", "more events than the log holds against a failure", hold_wanted,
                 fail_hinted, move_often, move_plain),
    SLEEPING("event_counted", "an update and an event against a failure, objects counted", counted,
             hold_unwanted, fail_hinted, update_then_move, pop_and_fail_hinted),
    SLEEPING("event_kube_1_26", "an event against a failure without hints", as_kube_1_26,
             hold_unwanted, fail_hinted, move_plain, update_up),
    SLEEPING("event_narrow", "an event that lists pods against failures of these", narrowed,
             hold_two, fail_hinted, move_hinted, fail_plain),
    SLEEPING("event_narrow_twice", "two events that list pods, and an update, against a failure",
             narrowed, hold_unwanted, fail_hinted, update_then_move, move_both),
    PLAIN_EVENTS("event_lots", "events that share lots, and a pod that comes to them", park_in_lots,
                 move_both, move_plain, consume_3),
    PLAIN_EVENTS("event_lots_leave", "a lot leaves while a pod comes to it, against an event",
                 hold_beside_leaving_lots, fail_plain, trim_often, move_plain),
    PLAIN_EVENTS("event_lots_met",
                 "events that meet lots without pods, to one of which a pod comes",
                 hold_beside_empty_lots, fail_plain, move_plain_often, move_plain_often),
    PLAIN_EVENTS("event_lots_again", "sets that come and go against a failure and events",
                 hold_beside_empty_lots, fail_both_twice, come_and_go_often, move_both),
    PLAIN_EVENTS("activate_fail", "an activation against a failure", hold_wanted, fail_plain,
                 activate_0, pop_and_fail_plain),
    PLAIN_EVENTS("activate_parked", "two activations and an event of a parked pod", park_one,
                 activate_0, activate_0, move_plain),
    SLEEPING("banks_park",
             "an event against failures by two workers of a bank, which comes to the lot by them",
             cluster_use_without_gates, hold_in_bank, move_plain, move_both, fail_plain,
             fail_plain),
    SLEEPING("find_parked", "looks for a parked pod while it is activated and popped",
             cluster_use_without_gates, park_one, find_often, activate_and_end),
    PLAIN_EVENTS("update_parked", "an update that is an event, against an event and pops", park_one,
                 update_is_plain_event, move_plain, consume_2),
    PLAIN_EVENTS("update_unwanted", "a parked pod becomes one that the event helps", park_unwanted,
                 update_then_move, update_up, move_hinted),
    PLAIN_EVENTS("update_backoff",
                 "an update of a pod that backs off, against an activation and pops", back_off_one,
                 update_up, activate_0, consume_2),
    PLAIN_EVENTS("delete_fail", "a deletion and a new pod of that name against a failure",
                 hold_wanted, fail_plain, add_0_again, move_plain),
    PLAIN_EVENTS("delete_parked", "a deletion and a new pod of that name against an event",
                 park_one, move_plain, add_0_again, consume_2),
    PLAIN_EVENTS("delete_flight_readd", "a deletion in flight against done and readd", hold_wanted,
                 done_and_readd, add_0_again, done_again),
    PLAIN_EVENTS("batch_moves", "two moves of more pods than one batch, against pops", park_many,
                 move_plain, move_plain, consume_3),
    PLAIN_EVENTS("batch_losers", "a move of many pods, some of which change", park_many, move_plain,
                 update_and_delete, consume_3),
    PLAIN_EVENTS("batch_look", "a look at all pods while many are moved", park_many, move_plain,
                 look_around, consume_3),
    SLEEPING("batch_alike", "two moves of more pods than one batch, which back off, against pops",
             cluster_use_without_hints, park_many, move_plain, move_plain, consume_3),
    SLEEPING("batch_alike_active", "the same of pods that are active at once",
             cluster_use_without_hints, park_many_for_long, move_plain, move_plain, consume_3),
    SLEEPING("batch_alike_losers", "a move of many such pods, some of which change",
             cluster_use_without_hints, park_many_for_long, move_plain, update_and_delete,
             consume_3),
    PLAIN_EVENTS("event_pass_trim",
                 "an event asks about many pods, and between its sections trim gives back",
                 park_many_hinted, move_hinted, delete_and_trim, add_and_park),
    PLAIN_EVENTS("lane_chain_read", "events read a chain of segments that grows, and that empties",
                 park_chain, park_4_more, move_hinted, delete_most),
    PLAIN_EVENTS(
        "lane_chain_thin",
        "two events leave out what is stale, or a copy of what lives, while the owner goes on",
        park_chain_of_stale, park_4_more, move_hinted_twice, move_hinted_twice),
    PLAIN_EVENTS("lag_end", "updates of a parked pod against an event", park_unwanted, update_often,
                 update_then_move, move_hinted),
    PLAIN_EVENTS("lag_end_fail", "updates against a failure, an event and a deletion",
                 hold_unwanted, fail_hinted, update_often, delete_0),
    PLAIN_EVENTS("nominate_update", "nominations against updates, a failure and looks", add_two,
                 nominate_here, nominate_and_update, fail_and_look),
    {.name = NULL},
};
