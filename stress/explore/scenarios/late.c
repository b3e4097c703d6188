/*
 * What an event finds out while it runs: a name that comes late, and pods whose description gets an
 * affinity. Events of assigned pods reach those with an affinity, wherever their update met them.
 */
#include "actor_calls.h"
#include "cluster.h"
#include "scenarios.h"
#include "world.h"

static struct ledger *const ledger = &world.ledger;

/* ---- names ----------------------------------------------------------------------------------- */

static uint32_t moved; /* by the event, pods that wait */

static void
hold_two(struct actor *actor)
{
    struct actor *other = world_actor(2);

    moved = 0;
    (void)actor_add(actor, 0, 2);
    (void)actor_pop(actor);
    (void)actor_add(other, 1, 2);
    (void)actor_pop(other);
}

static void
fail_late(struct actor *actor)
{
    (void)schedq_rejector_bit(world.queue, 0, LATE_NAME, sizeof LATE_NAME - 1);
    (void)actor_fail(actor, LATE);
}

static void
move_nobody(struct actor *actor)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_result_t result;

    (void)act_begin(actor, "notify, event",
                    (struct open_call){.kind = CALL_OTHER, .key = EVENT_OF_NOBODY});
    change.event = EVENT_OF_NOBODY;
    schedq_status_t status = schedq_notify(actor->worker, &change, &result);
    (void)act_end(actor, status);
    moved = result.to_active + result.to_backoff;
}

/* The event either came before the name, or it reached all that was rejected by it. */
static void
all_or_none(const struct scenario *scenario)
{
    struct actor *healthy = &world.actors[HEALTHY];
    schedq_result_t result;
    uint32_t parked = 0;

    actor_register(healthy);
    for (uint32_t key = 0; key < 2; key++) {
        parked += act_find(healthy, key, &result) && result.place == SCHEDQ_PARKED ? 1 : 0;
    }
    actor_unregister(healthy);
    SIM_CHECK(moved == 0 || parked == 0 || sim_frozen() > 0,
              "an event moved %u pods, and %u that were in flight when it came are parked", moved,
              parked);
    destroy_harness.drain(scenario);
}

static void
late_begin(const struct scenario *scenario)
{
    queue_harness.begin(scenario);
}

static void
late_thread(const struct scenario *scenario, unsigned thread)
{
    queue_harness.thread(scenario, thread);
}

static void
late_end(const struct scenario *scenario)
{
    destroy_harness.end(scenario);
}

static const struct harness late_harness = {late_begin, late_thread, all_or_none, late_end};

static void
by_move_cycle(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    config->requeue = SCHEDQ_REQUEUE_MOVE_CYCLE;
    config->pop_from_backoff = 0;
}

/* ---- affinity -------------------------------------------------------------------------------- */

static int
always(void *ctx, uint64_t pod, uint64_t assigned)
{
    (void)ctx;
    (void)pod;
    (void)assigned;
    sim_point();
    return 1;
}

static void
with_affinity(schedq_config_t *config)
{
    by_move_cycle(config);
    config->affinity_matches = always;
}

static void
with_affinity_and_hints(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    config->affinity_matches = always;
}

static void
get_affinity(struct actor *actor)
{
    schedq_result_t result;
    moment began =
        act_begin(actor, "update pod", (struct open_call){.kind = CALL_UPDATE, .key = 0});
    uint64_t object = ledger_attempt(
        ledger, (struct attempt){.key = 0, .priority = 2, .is_update = true, .began = began});
    schedq_pod_spec_t spec = act_spec(actor, object);

    spec.flags |= SCHEDQ_POD_AFFINITY;
    size_t length;
    const char *name = world_name(0, &length);
    schedq_status_t status = schedq_update(actor->worker, name, length, &spec, 0, NULL, 0, &result);
    moment ended = act_end(actor, status);
    struct attempt *attempt = ledger_attempt_of(ledger, object);

    SIM_CHECK(status == SCHEDQ_OK, "update returns %s", schedq_status_name(status));
    act_attempt_ends(attempt, status, ended);
    attempt->handle = result.pod.bits;
    ledger->sums.updates++;
    ledger_told(ledger, ledger_life(ledger, result.pod.bits, 0), (schedq_place_t)result.place,
                began, ended);

    const struct occasion reach = {.handle = result.pod.bits, .reached = PLAIN};
    struct occasion *occasion = ledger_occasion(ledger, reach);
    schedq_change_t change;

    op_t op = {
        .kind = OP_ASSIGNED_POD_ADDED, .change = &change, .name = "elsewhere", .name_length = 9};

    change = (schedq_change_t)SCHEDQ_CHANGE_INIT;
    change.event = EVENT_PLAIN;
    occasion->began = act_begin(actor, op_name(op.kind), (struct open_call){.kind = CALL_OTHER});
    status = op_run(actor->worker, &op);
    occasion->ended = act_end(actor, status);
    act_check(actor, &op, 0);
}

static void
hold_one(struct actor *actor)
{
    (void)actor_add(actor, 0, 2);
    (void)actor_pop(actor);
}

static void
park_one(struct actor *actor)
{
    hold_one(actor);
    (void)actor_fail(actor, PLAIN);
}

/* Held by the thread that fails it. */
static void
hold_for_1(struct actor *actor)
{
    (void)actor;
    hold_one(world_actor(1));
}

static void
fail_plain(struct actor *actor)
{
    (void)actor_fail(actor, PLAIN);
}

static void
move_plain(struct actor *actor)
{
    actor_move(actor, EVENT_PLAIN);
}

static void
activate_and_fail(struct actor *actor)
{
    actor_activate(actor, 0);
    (void)actor_pop_and_fail(actor, PLAIN);
}

static void
tick_and_fail(struct actor *actor)
{
    actor_tick_after(actor, 2 * BACKOFF_NS);
    (void)actor_pop_and_fail(actor, PLAIN);
}

const struct scenario late_scenarios[] = {
    SCENARIO_OF(
        &late_harness, true, 0, "event_late_cycle",
        "an event that nobody asked for against two failures by a name that is new, by move "
        "cycles",
        by_move_cycle, hold_two, fail_late, move_nobody, fail_late),
    SLEEPING("affinity_fail",
             "a pod in flight gets an affinity, and an assigned pod comes, against its failure",
             with_affinity, hold_for_1, get_affinity, fail_plain, tick_and_fail),
    SLEEPING(
        "affinity_parked",
        "a parked pod gets an affinity, and an assigned pod comes, while it is moved and fails",
        with_affinity, park_one, get_affinity, activate_and_fail, tick_and_fail),
    SLEEPING("affinity_hints", "the same with hints, against an event", with_affinity_and_hints,
             park_one, get_affinity, activate_and_fail, move_plain),
    {.name = NULL},
};
