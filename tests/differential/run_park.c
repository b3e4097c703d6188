/* Failures and what brings failed pods back (FEATURES_ALL): add_unschedulable, readd, moves, nominations. */
#include <inttypes.h>
#include <string.h>

#include "compare.h"
#include "operation.h"
#include "plugins.h"
#include "run.h"
#include "spec.h"

#define NODES 4

/* ---- failures ------------------------------------------------------------------------------------------------------------ */

static void
draw_failure(const world_t *world, chance_t *chance, uint32_t name, schedq_failure_t *failure)
{
    uint64_t known = world->sides[0].rejectors[name & 1];

    schedq_failure_init(failure);
    if (!chance_one_in(chance, 5)) {
        failure->unschedulable = chance_next(chance) & chance_next(chance) & known;
        failure->pending = chance_one_in(chance, 4) ? chance_next(chance) & known : 0;
    }
    if (chance_one_in(chance, 40)) {
        failure->unschedulable |= UINT64_C(1) << 40; /* was never given out */
    }
}

/* The Timestamp is the clock's from here on. */
static void
take_failed(world_t *world, cycle_t *cycle, const schedq_failure_t *failure)
{
    life_t *life = &world->lives[cycle->life];

    if (failure->has_newest) {
        world_described(world, life, &failure->newest);
    }
    life->own_time = false;
    world_flown(world, cycle, false);
}

void
run_fail(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    cycle_t *cycle = world_cycle(world, operation->targets[0]);
    schedq_failure_t failure;
    schedq_status_t statuses[SIDES];
    schedq_result_t results[SIDES];

    if (cycle == NULL || !compare_kept_names(world, cycle)) {
        return;
    }
    life_t *life = &world->lives[cycle->life];
    draw_failure(world, &chance, life->name, &failure);
    if (chance_one_in(&chance, 3)) {
        name_text_t names = {0};
        life_t clocked = *life;

        failure.has_newest = 1;
        clocked.own_time = false;
        spec_draw(world, &chance, life->name, &names, &failure.newest);
        spec_for_life(world, &chance, &clocked, life->name, &failure.newest);
    }
    SHOW(world, "schedq_add_unschedulable of pod %" PRIu32 ", unschedulable 0x%" PRIx64 " pending 0x%" PRIx64 "\n",
         life->name, failure.unschedulable, failure.pending);
    if (failure.has_newest) {
        spec_show(world, life->name, &failure.newest);
    }
    for (unsigned side = 0; side < SIDES; side++) {
        schedq_token_t token = {cycle->tokens[side]};

        statuses[side] = schedq_add_unschedulable(world_worker(world, side), &token, &failure, &results[side]);
    }
    if (!compare_status(world, statuses) || !compare_results(world, statuses[0] == SCHEDQ_OK ? life : NULL, results)) {
        return;
    }
    if (statuses[0] == SCHEDQ_OK) {
        take_failed(world, cycle, &failure);
    } else if (statuses[0] == SCHEDQ_GONE) {
        world_flown(world, cycle, true);
    }
}

static void
draw_history(const world_t *world, chance_t *chance, schedq_history_t *history)
{
    *history = (schedq_history_t){.timestamp_ns = world->now,
                                  .initial_attempt_ns = chance_one_in(chance, 4) ? 0 : world->now,
                                  .attempts = chance_below(chance, 8),
                                  .rejections = chance_below(chance, 4),
                                  .errors = chance_below(chance, 4)};
    if (chance_one_in(chance, 32)) {
        history->attempts = history->rejections = history->errors = UINT32_MAX;
    }
}

void
run_readd(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    name_text_t names = {0};
    schedq_pod_spec_t spec;
    schedq_history_t history;
    schedq_failure_t failure;
    schedq_status_t statuses[SIDES];
    schedq_result_t results[SIDES];

    spec_draw(world, &chance, operation->name, &names, &spec);
    spec.timestamp_ns = 0;
    draw_history(world, &chance, &history);
    if (world->settings.config.keep_order && (spec.flags & SCHEDQ_POD_ORDER_KEY) == 0) {
        history.timestamp_ns += (INT64_C(1) << (CLOCK_BITS - 1)) + operation->name; /* it orders the pod */
    }
    draw_failure(world, &chance, operation->name, &failure);
    SHOW(world, "schedq_readd, unschedulable 0x%" PRIx64 " pending 0x%" PRIx64 "\n", failure.unschedulable,
         failure.pending);
    spec_show(world, operation->name, &spec);
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = schedq_readd(world_worker(world, side), names.text, &spec, &history, &failure, &results[side]);
    }
    name_text_scribble(&names);
    if (!compare_status(world, statuses)) {
        return;
    }
    if (statuses[0] != SCHEDQ_OK) {
        (void)compare_results(world, statuses[0] == SCHEDQ_EXISTS ? world_named(world, operation->name) : NULL,
                              results);
    } else if (compare_born(world, results)) {
        world_born(world, 0, operation->name, &spec, (const schedq_pod_t[SIDES]){results[0].pod, results[1].pod});
    }
}

/* ---- events ----------------------------------------------------------------------------------------------------------------- */

static schedq_status_t
call_move(const world_t *world, unsigned side, uint32_t call, const schedq_move_t *move, schedq_result_t *result)
{
    schedq_worker_t *worker = world_worker(world, side);

    switch (call) {
    case 0:
        return schedq_assigned_pod_added(worker, move, "0", 1, result);
    case 1:
        return schedq_assigned_pod_updated(worker, move, "0", 1, result);
    default:
        return schedq_move_all(worker, move, result);
    }
}

void
run_move(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    uint32_t call = chance_below(&chance, 8);
    const life_t *target = chance_one_in(&chance, 8) ? world_named(world, operation->name) : NULL;
    schedq_move_t move;
    schedq_status_t statuses[SIDES];
    schedq_result_t results[SIDES];

    schedq_move_init(&move);
    move.event = chance_one_in(&chance, 12) ? SCHEDQ_EVENT_WILDCARD : plugins_event(&chance);
    move.old_object = chance_one_in(&chance, 2) ? 0 : object_of(chance_below(&chance, world->settings.names), 0);
    move.new_object = chance_one_in(&chance, 2) ? 0 : object_of(chance_below(&chance, world->settings.names), 0);
    move.precheck = chance_one_in(&chance, 4) ? plugins_precheck : NULL;
    SHOW(world, "%s event %u%s\n",
         call == 0   ? "schedq_assigned_pod_added"
         : call == 1 ? "schedq_assigned_pod_updated"
                     : "schedq_move_all",
         move.event, target != NULL ? " with a target" : "");
    for (unsigned side = 0; side < SIDES; side++) {
        move.target.bits = target != NULL ? target->handles[side] : 0;
        statuses[side] = call_move(world, side, call, &move, &results[side]);
    }
    if (compare_status(world, statuses)) {
        (void)compare_sums(world, results);
    }
}

/* From here on PreEnqueue says something else. */
void
run_gates(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);

    world->gate_epoch = chance_below(&chance, 4);
    SHOW(world, "PreEnqueue answers by rule %" PRIu32 "\n", world->gate_epoch);
}

/* ---- nominations ------------------------------------------------------------------------------------------------------------ */

void
run_nominate(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    const life_t *life = world_life(world, operation->targets[0]);
    uint64_t node = chance_below(&chance, NODES + 1);
    schedq_status_t statuses[SIDES];

    if (life == NULL) {
        return;
    }
    SHOW(world, "schedq_nominate of pod %" PRIu32 " to %" PRIu64 "\n", life->name, node);
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = schedq_nominate(world_worker(world, side), (schedq_pod_t){life->handles[side]}, node);
    }
    (void)compare_status(world, statuses);
}
