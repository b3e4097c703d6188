/* Failures and nominations: add_unschedulable, readd, nominate. */
#include <inttypes.h>
#include <string.h>

#include "compare.h"
#include "operation.h"
#include "plugins.h"
#include "run.h"
#include "spec.h"

#define NODES 4

/* ---- failures -------------------------------------------------------------------------------- */

/* [host] A verdict; sometimes one that is refused. */
static void
draw_verdict(const world_t *world, chance_t *chance, uint64_t seen, schedq_failure_t *failure)
{
    static const uint8_t places[] = {SCHEDQ_PARKED, SCHEDQ_PARKED, SCHEDQ_BACKOFF, SCHEDQ_ACTIVE,
                                     SCHEDQ_GATED};

    failure->place = CHANCE_OF(chance, places);
    failure->gate = failure->place == SCHEDQ_GATED ? plugins_gate(chance) : 0;
    failure->judged_up_to = plugins_judgement(world, chance, seen);
    if (chance_one_in(chance, 40)) {
        failure->gate ^= 60;
    }
}

static void
draw_failure(const world_t *world, chance_t *chance, uint32_t name, uint64_t seen,
             schedq_failure_t *failure)
{
    schedq_failure_init(failure);
    if (settings_have(&world->settings, FEATURE_EVENTS) && !chance_one_in(chance, 5)) {
        failure->unschedulable = plugins_set(world, chance, profile_of(name));
        failure->pending =
            chance_one_in(chance, 3) ? plugins_set(world, chance, profile_of(name)) : 0;
    }
    if (chance_one_in(chance, 60)) {
        /* Most often it was never given out; a late name may have it. */
        failure->unschedulable |= UINT64_C(1) << (40 + chance_below(chance, 23));
    }
    if (world->settings.host) {
        draw_verdict(world, chance, seen, failure);
    }
}

static void
mark_failure(const world_t *world, const cycle_t *cycle, const schedq_failure_t *failure)
{
    uint64_t rejectors = failure->unschedulable | failure->pending;
    uint64_t events = world->sides[0].words->event_sequence - cycle->sequence;

    if (events > world->settings.config.event_log) {
        world_mark(world, MARK_FAIL_LOG_OVERFLOW);
    }
    if (failure->has_newest) {
        world_mark(world, MARK_FAIL_NEWEST);
    }
    if (rejectors == 0) {
        world_mark(world, MARK_FAIL_NO_REJECTOR);
    }
    if ((rejectors & ~SCHEDQ_REJECTOR_OTHERS) >> PLUGINS_REGISTERED != 0) {
        world_mark(world, MARK_FAIL_LATE_NAME);
    }
    if ((rejectors & SCHEDQ_REJECTOR_OTHERS) != 0) {
        world_mark(world, MARK_FAIL_OTHERS);
    }
    if (failure->unschedulable == 0 && failure->pending != 0) {
        world_mark(world, MARK_FAIL_PENDING_ALONE);
    }
}

/* The Timestamp is the clock's from here on. */
static void
take_failed(world_t *world, cycle_t *cycle, const schedq_failure_t *failure)
{
    life_t *life = &world->lives[cycle->life];

    mark_failure(world, cycle, failure);
    if (failure->has_newest) {
        world_described(world, life, &failure->newest);
    }
    life->own_time = false;
    world_flown(world, cycle, false);
}

/* [host] The token that was passed is used up. */
static void
take_retried(world_t *world, cycle_t *cycle, const schedq_token_t tokens[SIDES])
{
    schedq_status_t statuses[SIDES];

    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] =
            schedq_token_alive(world_worker(world, side), (schedq_token_t){cycle->tokens[side]});
    }
    SHOW(world, "schedq_token_alive of the token that was passed\n");
    if (compare_status(world, statuses)) {
        world_retried(world, cycle, tokens);
    }
}

static void
fail_both(world_t *world, cycle_t *cycle, const schedq_failure_t *failure)
{
    life_t *life = &world->lives[cycle->life];
    schedq_token_t tokens[SIDES] = {{cycle->tokens[0]}, {cycle->tokens[1]}};
    schedq_status_t statuses[SIDES];
    schedq_result_t results[SIDES];

    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = schedq_add_unschedulable(world_worker(world, side), &tokens[side], failure,
                                                  &results[side]);
    }
    if (!compare_status(world, statuses)) {
        return;
    }
    bool told = statuses[0] == SCHEDQ_OK || statuses[0] == SCHEDQ_RETRY;

    if (!compare_referred(world, told ? life : NULL, results)) {
        return;
    }
    if (statuses[0] == SCHEDQ_OK) {
        take_failed(world, cycle, failure);
    } else if (statuses[0] == SCHEDQ_GONE) {
        world_flown(world, cycle, true);
    } else if (statuses[0] == SCHEDQ_RETRY) {
        take_retried(world, cycle, tokens);
    } else if (tokens[0].bits != cycle->tokens[0] || tokens[1].bits != cycle->tokens[1]) {
        (void)differ(world, "token: it changed with %s", schedq_status_name(statuses[0]));
    }
}

void
run_fail(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    cycle_t *cycle = world_cycle(world, operation->targets[0]);
    schedq_failure_t failure;

    if (cycle == NULL || !compare_kept_names(world, cycle)) {
        return;
    }
    const life_t *life = &world->lives[cycle->life];
    draw_failure(world, &chance, life->name, cycle->seen, &failure);
    if (chance_one_in(&chance, 3)) {
        name_text_t names = {0};
        life_t clocked = *life;

        failure.has_newest = 1;
        clocked.own_time = false;
        spec_draw(world, &chance, life->name, &names, &failure.newest);
        spec_for_life(world, &chance, &clocked, life->name, &failure.newest);
        world_lend(world, failure.newest.object);
    }
    SHOW(world,
         "schedq_add_unschedulable of pod %" PRIu32 ", unschedulable 0x%" PRIx64
         " pending 0x%" PRIx64,
         life->name, failure.unschedulable, failure.pending);
    SHOW(world, " place %u gate %u judged_up_to %" PRIu64 "\n", failure.place, failure.gate,
         failure.judged_up_to);
    if (failure.has_newest) {
        spec_show(world, life->name, &failure.newest);
    }
    fail_both(world, cycle, &failure);
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
        /* it orders the pod */
        history.timestamp_ns += (INT64_C(1) << (CLOCK_BITS - 1)) + operation->name;
    }
    spec.gate = 0;
    world_lend(world, spec.object);
    draw_failure(world, &chance, operation->name, 0, &failure);
    if (failure.place == SCHEDQ_PARKED && !chance_one_in(&chance, 16)) {
        failure.place = SCHEDQ_BACKOFF; /* a readd never parks */
    }
    SHOW(world, "schedq_readd, unschedulable 0x%" PRIx64 " pending 0x%" PRIx64 "\n",
         failure.unschedulable, failure.pending);
    spec_show(world, operation->name, &spec);
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = schedq_readd(world_worker(world, side), names.text, &spec, &history,
                                      &failure, &results[side]);
    }
    name_text_scribble(&names);
    if (!compare_status(world, statuses)) {
        return;
    }
    if (statuses[0] != SCHEDQ_OK) {
        (void)compare_referred(
            world, statuses[0] == SCHEDQ_EXISTS ? world_named(world, operation->name) : NULL,
            results);
    } else if (compare_born(world, results)) {
        world_born(world, 0, operation->name, &spec,
                   (const schedq_pod_t[SIDES]){results[0].pod, results[1].pod});
        world_referred(world_named(world, operation->name),
                       (const uint64_t[SIDES]){results[0].ref, results[1].ref});
    }
}

/* ---- nominations ----------------------------------------------------------------------------- */

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
        statuses[side] =
            schedq_nominate(world_worker(world, side), (schedq_pod_t){life->handles[side]}, node);
    }
    (void)compare_status(world, statuses);
}
