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
    *failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
    if (settings_have(&world->settings, FEATURE_EVENTS) && !chance_one_in(chance, 5)) {
        failure->unschedulable = plugins_set(world, chance, profile_of(name));
        failure->pending =
            chance_one_in(chance, 3) ? plugins_set(world, chance, profile_of(name)) : 0;
    }
    if (chance_one_in(chance, 60)) {
        /* Most often it was never given out; a late name may have it. */
        failure->unschedulable |= UINT64_C(1) << (40 + chance_below(chance, 23));
    }
    if (settings_have(&world->settings, FEATURE_CLASSES)) {
        failure->own_reasons = chance_one_in(chance, 6) ? 1 : 0;
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
    if (failure->newest != NULL) {
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
    if (failure->newest != NULL) {
        world_described(world, life, failure->newest);
    }
    life->own_time = false;
    world_flown(world, cycle, false);
}

/* [host] The token that was passed is used up. */
static void
take_retried(world_t *world, cycle_t *cycle, const schedq_token_t tokens[SIDES])
{
    both_t both = {0};

    BOTH(&both, .kind = OP_TOKEN_ALIVE, .tokens = &cycle->tokens[side]);
    if (both_call(world, &both, " of the token that was passed\n")) {
        world_retried(world, cycle, tokens);
    }
}

static void
fail_both(world_t *world, cycle_t *cycle, const schedq_failure_t *failure)
{
    life_t *life = &world->lives[cycle->life];
    schedq_token_t tokens[SIDES] = {cycle->tokens[0], cycle->tokens[1]};
    both_t both = {0};

    BOTH(&both, .kind = OP_FAIL, .tokens = &tokens[side], .failure = failure);
    if (!both_call(world, &both,
                   " of pod %" PRIu32 ", unschedulable 0x%" PRIx64 " pending 0x%" PRIx64
                   " place %u gate %u judged_up_to %" PRIu64 " own %u\n",
                   life->name, failure->unschedulable, failure->pending, failure->place,
                   failure->gate, failure->judged_up_to, failure->own_reasons)) {
        return;
    }
    schedq_status_t status = both.ops[0].status;
    bool told = status == SCHEDQ_OK || status == SCHEDQ_RETRY;

    if (!compare_referred(world, told ? life : NULL, both.results)) {
        return;
    }
    if (status == SCHEDQ_OK) {
        take_failed(world, cycle, failure);
    } else if (status == SCHEDQ_GONE) {
        world_flown(world, cycle, true);
    } else if (status == SCHEDQ_RETRY) {
        take_retried(world, cycle, tokens);
    } else if (memcmp(tokens, cycle->tokens, sizeof tokens) != 0) {
        (void)differ(world, "token: it changed with %s", schedq_status_name(status));
    }
}

void
run_fail(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    cycle_t *cycle = world_cycle(world, operation->targets[0]);
    schedq_failure_t failure;
    schedq_add_item_t newest;

    if (cycle == NULL || !compare_kept_names(world, cycle)) {
        return;
    }
    const life_t *life = &world->lives[cycle->life];
    draw_failure(world, &chance, life->name, cycle->seen, &failure);
    if (chance_one_in(&chance, world->settings.alike ? 16 : 3)) {
        name_text_t names = {0};
        life_t clocked = *life;

        clocked.own_time = false;
        spec_draw(world, &chance, life->name, &names, &newest);
        spec_for_life(world, &chance, &clocked, life->name, &newest.spec);
        failure.newest = &newest.spec;
        world_lend(world, newest.spec.object);
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
    if (settings_have(&world->settings, FEATURE_ENDS)) {
        history->timestamp_ns = chance_one_in(chance, 40) ? -1 : spec_any_time(world, chance);
        history->initial_attempt_ns =
            chance_one_in(chance, 40) ? INT64_MIN : spec_any_time(world, chance);
    }
    if (chance_one_in(chance, 32)) {
        history->attempts = history->rejections = history->errors = UINT32_MAX;
    }
}

void
run_readd(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    name_text_t names = {0};
    both_t both = {.names = &names};
    schedq_add_item_t item;
    schedq_pod_spec_t *spec = &item.spec;
    schedq_history_t history;
    schedq_failure_t failure;

    spec_draw(world, &chance, operation->name, &names, &item);
    draw_history(world, &chance, &history);
    if (world->settings.config.keep_order && (spec->flags & SCHEDQ_POD_ORDER_KEY) == 0 &&
        world->settings.priorities != PRIORITIES_OWN) {
        /* it orders the pod */
        history.timestamp_ns += (INT64_C(1) << (CLOCK_BITS - 1)) + operation->name;
    }
    spec->gate = 0;
    world_lend(world, spec->object);
    draw_failure(world, &chance, operation->name, 0, &failure);
    if (failure.place == SCHEDQ_PARKED && !chance_one_in(&chance, 16)) {
        failure.place = SCHEDQ_BACKOFF; /* a readd never parks */
    }
    BOTH(&both, .kind = OP_READD, .name = names.text + item.name_offset,
         .name_length = item.name_length, .spec = spec, .history = &history, .failure = &failure);
    if (both_call(world, &both, ", unschedulable 0x%" PRIx64 " pending 0x%" PRIx64 "\n",
                  failure.unschedulable, failure.pending)) {
        spec->timestamp_ns = 0; /* it is ignored */
        take_added(world, operation->name, spec, &both);
    }
}

/* ---- nominations ----------------------------------------------------------------------------- */

void
run_nominate(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    const life_t *life = world_life(world, operation->targets[0]);
    uint64_t node = chance_below(&chance, NODES + 1);
    both_t both = {0};

    if (life != NULL) {
        BOTH(&both, .kind = OP_NOMINATE, .pods = &life->handles[side], .node = node);
        (void)both_call(world, &both, " of pod %" PRIu32 " to %" PRIu64 "\n", life->name, node);
    }
}
