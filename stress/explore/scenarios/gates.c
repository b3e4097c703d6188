/* Gates that open while pods come to stand behind them. Pods with negative priorities are held. */
#include "actor_calls.h"
#include "cluster.h"
#include "scenarios.h"
#include "world.h"

static void
add_gated(struct actor *actor)
{
    (void)actor_add(actor, 0, -1);
}

static void
hold_one(struct actor *actor)
{
    (void)actor_add(actor, 0, 1);
    (void)actor_pop(actor);
}

static void
park_one(struct actor *actor)
{
    hold_one(actor);
    (void)actor_fail(actor, PLAIN);
}

static void
open_a(struct actor *actor)
{
    actor_open(actor, GATE_A);
}

static void
open_b(struct actor *actor)
{
    actor_open(actor, GATE_B);
}

static void
open_a_then_b(struct actor *actor)
{
    actor_open(actor, GATE_A);
    actor_move(actor, EVENT_GATE_B);
    actor_open(actor, GATE_B);
}

static void
open_both(struct actor *actor)
{
    actor_open(actor, GATE_A);
    actor_open(actor, GATE_B);
}

static void
activate_0(struct actor *actor)
{
    actor_activate(actor, 0);
}

static void
wildcard(struct actor *actor)
{
    actor_move(actor, SCHEDQ_EVENT_WILDCARD);
}

static void
move_plain(struct actor *actor)
{
    actor_move(actor, EVENT_PLAIN);
}

static void
update_0(struct actor *actor)
{
    (void)actor_update(actor, 0, -2);
}

static void
update_often(struct actor *actor)
{
    for (int32_t i = 2; i < 6; i++) {
        (void)actor_update(actor, 0, -i);
    }
}

static void
gate_0_by_update(struct actor *actor)
{
    (void)actor_update(actor, 0, -1);
}

static void
gate_0_and_move(struct actor *actor)
{
    (void)actor_update(actor, 0, -1);
    actor_move(actor, EVENT_PLAIN);
}

static void
add_1(struct actor *actor)
{
    (void)actor_add(actor, 1, -1);
}

static void
find_and_consume(struct actor *actor)
{
    (void)actor_find(actor, 1);
    actor_consume(actor, 2);
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

/* Parked, and gates would hold it. */
static void
park_one_to_gate(struct actor *actor)
{
    park_one(actor);
    (void)actor_update(actor, 0, -1);
}

/* It leaves its stay under whoever is about to gate it, and fails again. */
static void
open_and_fail_again(struct actor *actor)
{
    open_both(actor);
    actor_activate(actor, 0);
    (void)actor_pop_and_fail(actor, PLAIN);
}

/* The record is another pod's when it parks. */
static void
replace_and_fail(struct actor *actor)
{
    (void)actor_delete(actor, 0);
    (void)actor_add(actor, 1, 1);
    (void)actor_pop_and_fail(actor, HINTED);
}

/* Its lag is at its end, and gates would hold it. */
static void
end_lag_of_parked(struct actor *actor)
{
    park_one(actor);
    for (int i = 0; i < 3; i++) {
        (void)actor_update(actor, 0, -1);
    }
}

/* The first update moves it in the order of backoff, which ends a lag. */
static void
end_lag_of_backoff(struct actor *actor)
{
    hold_one(actor);
    (void)actor_fail(actor, 0);
    for (int i = 0; i < 4; i++) {
        (void)actor_update(actor, 0, -1);
    }
}

static void
update_is_plain_event(struct actor *actor)
{
    (void)actor_update_event(actor, 0, -1, EVENT_PLAIN);
}

static void
pass_limit_and_tick(struct actor *actor)
{
    actor_tick_after(actor, 2 * LIMIT_NS);
}

static void
look_for_0(struct actor *actor)
{
    (void)actor_find(actor, 0);
}

static void
move_plain_and_tick(struct actor *actor)
{
    actor_move(actor, EVENT_PLAIN);
    actor_tick(actor);
}

static void
pass_and_tick_often(struct actor *actor)
{
    actor_tick_after(actor, 2 * BACKOFF_NS);
    actor_tick_after(actor, 2 * BACKOFF_NS);
}

static void
as_kube(schedq_config_t *config, schedq_preset_t preset)
{
    schedq_config_t own = *config;

    (void)schedq_config_preset(config, preset);
    config->engine = own.engine;
    config->allocator = own.allocator;
    config->max_workers = own.max_workers;
    config->max_pods = own.max_pods;
    config->max_bands = own.max_bands;
    cluster_use(config);
    config->backoff_window = 0;
}

static void
as_kube_1_34(schedq_config_t *config)
{
    as_kube(config, SCHEDQ_PRESET_KUBE_1_34);
}

static void
as_kube_1_37(schedq_config_t *config)
{
    as_kube(config, SCHEDQ_PRESET_KUBE_1_37);
}

static void
narrowed_behind_gates(schedq_config_t *config)
{
    cluster_use(config);
    config->pre_queueing_hints = 1;
}

static void
gates_after_backoff(schedq_config_t *config)
{
    cluster_use(config);
    config->pop_from_backoff = 0;
}

static void
prepare_left(struct actor *actor)
{
    (void)actor_add(actor, 0, 9);
    (void)actor_add(actor, 1, 1);
    actor_consume(actor, 1);
}

static void
trim_often(struct actor *actor)
{
    for (unsigned i = 0; i < 4; i++) {
        actor_trim(actor);
    }
}

static void
add_many_high(struct actor *actor)
{
    (void)actor_add_many(actor, 2, 2, 9);
    SIM_CHECK(actor_pop(actor) && actor->held[0].priority == 9,
              "add_many of 2 pods with priority 9 returned, and the next pop gave none of them");
    SIM_CHECK(actor_pop(actor) && actor->held[1].priority == 9,
              "add_many of 2 pods with priority 9 returned, and the second pop gave none of them");
    (void)actor_done_all(actor);
}

static void
use_without_max_bands(schedq_config_t *config)
{
    cluster_use(config);
    config->max_bands = 0;
}

static void
park_eight(struct actor *actor)
{
    for (uint32_t i = 0; i < 8; i++) {
        (void)actor_add(actor, i, 1);
        (void)actor_pop_and_fail(actor, PLAIN);
        cluster_pass(1000);
    }
}

static void
gate_down(struct actor *actor, uint32_t from)
{
    for (uint32_t i = from + 4; i-- > from;) {
        (void)actor_update(actor, i, -1);
        actor_activate(actor, i);
    }
}

static void
gate_low(struct actor *actor)
{
    gate_down(actor, 0);
}

static void
gate_high(struct actor *actor)
{
    gate_down(actor, 4);
}

/* No event of a gate says that they are open, a wildcard does. */
static void
open_and_tell_all(struct actor *actor)
{
    cluster_open(GATE_A);
    cluster_open(GATE_B);
    actor_move(actor, SCHEDQ_EVENT_WILDCARD);
}

/* A thread that opened both gates and reported it: find must not say then that the pod is gated. */
static void
open_and_find(struct actor *actor)
{
    schedq_result_t result;

    open_both(actor);
    if (act_find(actor, 0, &result)) {
        SIM_CHECK(result.place != SCHEDQ_GATED,
                  "both gates were opened, and find says that pod 0 is gated");
    }
}

static uint64_t
questions(void)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    (void)schedq_stats(world.queue, &stats);
    return stats.pre_enqueue_calls;
}

/* An event asks about a pod ASKS_MAX times at most, however often the pod was looked for. */
static void
reserve_find_and_move(struct actor *actor)
{
    actor_reserve(actor, KEYS_MAX, 0, 0);
    for (unsigned i = 0; i < 8; i++) {
        (void)actor_find(actor, 0);
    }
    uint64_t before = questions();

    actor_move(actor, EVENT_GATE_A);
    SIM_CHECK(questions() - before <= 3, "an event asked %u times about one pod",
              (unsigned)(questions() - before));
}

const struct scenario gate_scenarios[] = {
    SLEEPING("event_gate", "a gate opens while a pod is put behind it again", cluster_use,
             add_gated, open_both, activate_0, wildcard),
    SLEEPING("event_gate_next", "two gates open, each by its own thread", cluster_use, add_gated,
             open_a, open_b, activate_0),
    SLEEPING("event_gate_add", "gates open while a pod is added, and looked for", cluster_use, NULL,
             open_both, add_1, find_and_consume),
    SLEEPING("event_gate_told",
             "gates open while a pod is added, and its finder knows that they did", cluster_use,
             NULL, add_gated, open_and_find, look_for_0),
    SLEEPING("event_gate_reserve",
             "an adder stops before it publishes a gated pod, and reserve and find meet that pod",
             as_kube_1_34, NULL, add_gated, reserve_find_and_move),
    SLEEPING("event_gate_fail", "gates open while a pod fails into them", cluster_use, hold_one,
             fail_with_error, gate_0_by_update, open_both),
    SLEEPING("event_gate_move", "gates open while an event moves a parked pod behind them",
             cluster_use, park_one, gate_0_and_move, move_plain, open_both),
    SLEEPING("event_gate_loser",
             "a pod that an event would gate becomes active, and is parked again", cluster_use,
             park_one_to_gate, move_plain, open_and_fail_again, look_for_0),
    SLEEPING("event_gate_next_pod",
             "a pod that an event would gate is deleted, and the record's next pod is parked",
             cluster_use, park_one_to_gate, move_plain, replace_and_fail, look_for_0),
    SLEEPING("event_gate_often", "two events would gate a pod while its gates open one by one",
             cluster_use, park_one_to_gate, move_plain, open_a_then_b, move_plain_and_tick),
    SLEEPING("event_gate_update", "a gated pod is updated while its gates open", cluster_use,
             add_gated, open_both, update_0, activate_0),
    SLEEPING("event_gate_lag", "a gated pod is updated often while its gates open", cluster_use,
             add_gated, open_both, update_often, activate_0),
    SLEEPING("event_gate_tick", "gates stand behind backoff, and open while it ends",
             gates_after_backoff, hold_one, fail_with_error, gate_0_by_update, pass_and_tick),
    SLEEPING("event_gate_lag_move",
             "an event moves a pod at the end of its lag behind gates that open", cluster_use,
             end_lag_of_parked, move_plain, open_both, look_for_0),
    SLEEPING("event_gate_lag_healed", "the same, and a tick gathers what was left", cluster_use,
             end_lag_of_parked, move_plain_and_tick, open_both, look_for_0),
    SLEEPING("event_gate_lag_activate",
             "a pod at the end of its lag is activated while its gates open", cluster_use,
             end_lag_of_parked, activate_0, open_both, look_for_0),
    SLEEPING("event_gate_lag_update",
             "an update helps a pod at the end of its lag while its gates open", cluster_use,
             end_lag_of_parked, update_is_plain_event, open_both, look_for_0),
    SLEEPING("event_gate_lag_tick",
             "backoff ends for a pod at the end of its lag while its gates open",
             gates_after_backoff, end_lag_of_backoff, pass_and_tick, open_both, look_for_0),
    SLEEPING("event_gate_lag_ticks", "the same, and another tick", gates_after_backoff,
             end_lag_of_backoff, pass_and_tick_often, open_both, look_for_0),
    SLEEPING("event_gate_lag_leftover",
             "the limit of waiting ends for a pod at the end of its lag while its gates open",
             gates_after_backoff, end_lag_of_parked, pass_limit_and_tick, open_both, look_for_0),
    SLEEPING("event_gate_kube_1_34", "gates of kube 1.34 open while a pod is put behind them",
             as_kube_1_34, add_gated, open_both, activate_0, update_0),
    SLEEPING("event_gate_kube_1_37", "gates of kube 1.37 open, of which a wildcard tells",
             as_kube_1_37, add_gated, open_and_tell_all, activate_0, update_0),
    SLEEPING("event_gate_flush", "flushes of kube 1.37 try a gated pod while its gates open",
             as_kube_1_37, add_gated, pass_limit_and_tick, open_both, update_0),
    SLEEPING("event_gate_flush_parked",
             "a flush of kube 1.37 puts a parked pod behind gates that open", as_kube_1_37,
             park_one_to_gate, pass_limit_and_tick, open_both, pass_limit_and_tick),
    SLEEPING("event_gate_narrow", "gates open, by events that list pods, while a pod comes there",
             narrowed_behind_gates, park_one_to_gate, move_plain, open_a_then_b, activate_0),
    SLEEPING("event_gate_narrow_add", "the same while a pod is added", narrowed_behind_gates, NULL,
             add_gated, open_and_find, look_for_0),
    SLEEPING("event_ages_merge", "runs of the bin of gated pods by age are merged", as_kube_1_34,
             park_eight, gate_low, gate_high, look_for_0),
    SLEEPING("batch_band_leaves",
             "a band leaves while a gate is asked about the next pod of a batch",
             use_without_max_bands, prepare_left, trim_often, add_many_high),
    {.name = NULL},
};
