/* Pods that are kept back, against everything else that may happen to them. */
#include "cluster.h"
#include "scenarios.h"
#include "world.h"

/* ---- before ---------------------------------------------------------------------------------- */

static void
two_active(struct actor *actor)
{
    (void)actor_add(actor, 0, 3);
    (void)actor_add(actor, 1, 2);
}

static void
two_parked(struct actor *actor)
{
    for (uint32_t key = 0; key < 2; key++) {
        (void)actor_add(actor, key, 1);
        (void)actor_pop_and_fail(actor, PLAIN);
    }
}

static void
two_backing_off(struct actor *actor)
{
    two_parked(actor);
    actor_move(actor, EVENT_PLAIN);
}

static void
one_in_flight(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_pop(actor);
    (void)actor_add(actor, 1, 1);
}

static void
one_held(struct actor *actor)
{
    two_active(actor);
    actor_hold(actor, 0);
}

static void
two_gated(struct actor *actor)
{
    (void)actor_add(actor, 0, -1);
    (void)actor_add(actor, 1, -1);
}

static void
one_held_behind_a_gate(struct actor *actor)
{
    two_gated(actor);
    actor_hold(actor, 0);
}

static void
two_until(struct actor *actor)
{
    (void)actor_add_until(actor, 0, 2, BACKOFF_NS);
    (void)actor_add_until(actor, 1, 1, 2 * BACKOFF_NS);
}

/* ---- threads --------------------------------------------------------------------------------- */

static void
hold_0(struct actor *actor)
{
    actor_hold(actor, 0);
}

static void
hold_both(struct actor *actor)
{
    actor_hold(actor, 0);
    actor_hold(actor, 1);
}

static void
release_0(struct actor *actor)
{
    actor_release(actor, 0);
}

static void
hold_and_release_0(struct actor *actor)
{
    actor_hold(actor, 0);
    actor_release(actor, 0);
}

static void
release_and_hold_0(struct actor *actor)
{
    actor_release(actor, 0);
    actor_hold(actor, 0);
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
raise_0(struct actor *actor)
{
    (void)actor_update(actor, 0, 5);
    (void)actor_update(actor, 0, 1);
}

static void
update_and_consume(struct actor *actor)
{
    (void)actor_update(actor, 0, 5);
    actor_consume(actor, 2);
}

static void
delete_0(struct actor *actor)
{
    (void)actor_delete(actor, 0);
    (void)actor_add(actor, 0, 1);
}

static void
move_plain(struct actor *actor)
{
    actor_move(actor, EVENT_PLAIN);
}

static void
activate_0(struct actor *actor)
{
    actor_activate(actor, 0);
}

static void
activate_and_consume(struct actor *actor)
{
    actor_activate(actor, 0);
    actor_consume(actor, 2);
}

static void
fail_it(struct actor *actor)
{
    (void)actor_fail(actor, PLAIN);
}

static void
fail_with_error(struct actor *actor)
{
    (void)actor_fail(actor, 0);
}

static void
pass_and_tick(struct actor *actor)
{
    actor_tick_after(actor, 2 * BACKOFF_NS);
}

static void
pass_a_bit_and_consume(struct actor *actor)
{
    actor_tick_after(actor, BACKOFF_NS);
    actor_consume(actor, 2);
}

static void
pass_and_consume(struct actor *actor)
{
    actor_tick_after(actor, 2 * BACKOFF_NS);
    actor_tick(actor);
    actor_consume(actor, 2);
}

static void
look_at_1(struct actor *actor)
{
    (void)actor_find(actor, 1);
}

static void
later_0(struct actor *actor)
{
    actor_not_before(actor, 0, 3 * BACKOFF_NS);
    actor_not_before(actor, 0, BACKOFF_NS);
}

static void
later_and_never_0(struct actor *actor)
{
    actor_not_before(actor, 0, 2 * BACKOFF_NS);
    actor_not_before(actor, 0, 0);
}

static void
add_until_and_find(struct actor *actor)
{
    (void)actor_add_until(actor, 2, 4, BACKOFF_NS);
    (void)actor_find(actor, 2);
}

static void
find_2_and_hold(struct actor *actor)
{
    actor_hold(actor, 2);
    (void)actor_find(actor, 2);
}

static void
open_a(struct actor *actor)
{
    actor_open(actor, GATE_A);
    actor_open(actor, GATE_B);
}

static void
tick_and_ask(struct actor *actor)
{
    actor_tick(actor);
    actor_move(actor, EVENT_GATE_A);
    actor_tick(actor);
    actor_move(actor, EVENT_GATE_A);
}

static void
ask_gate_a(struct actor *actor)
{
    actor_move(actor, EVENT_GATE_A);
    actor_move(actor, EVENT_GATE_A);
}

static void
look(struct actor *actor)
{
    actor_snapshot(actor);
    (void)actor_get(actor, 0);
}

static void
host_event(struct actor *actor)
{
    actor_host_event(actor, EVENT_PLAIN);
}

static void
not_from_backoff(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    config->pop_from_backoff = 0;
}

static void
counted(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    config->objects = SCHEDQ_OBJECTS_COUNTED;
}

static void
two_active_without_memory(struct actor *actor)
{
    two_active(actor);
    world_lacks_memory(3);
}

const struct scenario hold_scenarios[] = {
    SLEEPING("hold_pop", "an active pod is held against pops", cluster_use_without_gates,
             two_active, hold_0, consume_2, consume_2),
    SLEEPING("hold_release_pop", "two hold and release a pod, and one pops",
             cluster_use_without_gates, two_active, hold_and_release_0, release_and_hold_0,
             consume_3),
    SLEEPING("hold_update", "a pod is held while updates move it in the order",
             cluster_use_without_gates, two_active, hold_0, raise_0, consume_2),
    SLEEPING("hold_held_update", "a held pod is released while it is updated",
             cluster_use_without_gates, one_held, release_0, raise_0, consume_3),
    SLEEPING("hold_move", "parked pods are held against an event", cluster_use_without_gates,
             two_parked, hold_both, move_plain, update_and_consume),
    SLEEPING("hold_activate", "parked pods are held against activations", cluster_use_without_gates,
             two_parked, hold_and_release_0, activate_0, activate_and_consume),
    SLEEPING("hold_backoff", "pods that back off are held against time, and pops from there",
             cluster_use_without_gates, two_backing_off, hold_both, pass_and_tick, consume_2),
    SLEEPING("hold_tick", "the same where only time takes them out", not_from_backoff,
             two_backing_off, hold_and_release_0, pass_and_tick, consume_2),
    SLEEPING("hold_fail", "a pod in flight is held while it fails", cluster_use_without_gates,
             one_in_flight, fail_it, hold_0, move_plain),
    SLEEPING("hold_fail_backoff", "the same, for a backoff that ends meanwhile", not_from_backoff,
             one_in_flight, fail_with_error, hold_0, pass_and_consume),
    SLEEPING("hold_release_alone", "a held pod is released, and nobody else comes by",
             not_from_backoff, one_held, release_0, look_at_1, look_at_1),
    SLEEPING("hold_fail_release", "a pod in flight is held and released while it fails",
             not_from_backoff, one_in_flight, fail_with_error, hold_and_release_0, pass_and_tick),
    SLEEPING("hold_delete", "a pod is held while it is deleted and comes again",
             cluster_use_without_gates, two_active, hold_and_release_0, delete_0, consume_2),
    SLEEPING("hold_gate", "a pod is held and released while its gates open", cluster_use, two_gated,
             hold_and_release_0, open_a, consume_2),
    SLEEPING("hold_gate_release", "a held pod is released behind a gate that opens", cluster_use,
             one_held_behind_a_gate, release_and_hold_0, open_a, release_0),
    SLEEPING("hold_gate_events",
             "a held pod is released behind a gate that is asked again and again", cluster_use,
             one_held_behind_a_gate, release_0, ask_gate_a, tick_and_ask),
    SLEEPING("hold_look", "a pod is held and released while it is looked at",
             cluster_use_without_gates, two_active, hold_and_release_0, look, consume_2),
    SLEEPING("hold_counted", "the same with counted objects, and updates", counted, two_active,
             hold_and_release_0, raise_0, consume_2),
    SLEEPING("hold_host", "a host's events against a hold and a release", cluster_use_host,
             two_active, hold_and_release_0, host_event, consume_2),
    SLEEPING("hold_until", "times end while they change, against pops", cluster_use_without_gates,
             two_until, later_0, pass_and_tick, consume_3),
    SLEEPING("hold_until_never", "times begin and end against ticks", not_from_backoff, two_active,
             later_and_never_0, pass_a_bit_and_consume, pass_and_tick),
    SLEEPING("hold_until_add", "a pod comes with a time, and is held", cluster_use_without_gates,
             two_until, add_until_and_find, find_2_and_hold, pass_a_bit_and_consume),
    SLEEPING("hold_no_memory", "a pod is held and released without memory",
             cluster_use_without_gates, two_active_without_memory, hold_and_release_0,
             later_and_never_0, consume_2),
    {.name = NULL},
};
