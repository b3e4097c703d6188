/* The cycle: pops, the use of tokens, and tokens that are none. */
#include <inttypes.h>
#include <string.h>

#include "compare.h"
#include "operation.h"
#include "run.h"

#define CAPACITY_MAX 9

/* ---- pop ------------------------------------------------------------------------------------- */

static void
mark_popped(const world_t *world, const schedq_popped_t *popped)
{
    if (popped->from_backoff) {
        bool early = popped->backoff_expiry_ns > world->now;

        world_mark(world, early ? MARK_POP_FROM_BACKOFF_EARLY : MARK_POP_FROM_BACKOFF);
    }
    if (popped->unschedulable != 0) {
        world_mark(world, MARK_POP_REJECTED);
    }
    if (popped->pending != 0) {
        world_mark(world, MARK_POP_PENDING);
    }
    if (popped->nominated_node != 0) {
        world_mark(world, MARK_POP_NOMINATED);
    }
}

bool
take_popped(world_t *world, uint32_t element, schedq_popped_t popped[SIDES])
{
    SHOW(world,
         "    popped pod %" PRIu32 " (priority %" PRId32 "), pod %" PRIu32 " (priority %" PRId32
         ")\n",
         object_name(popped[0].object), popped[0].priority, object_name(popped[1].object),
         popped[1].priority);
    if (!compare_popped(world, popped)) {
        return false;
    }
    life_t *life = world_named(world, object_name(popped[0].object));
    schedq_pod_t pods[SIDES] = {popped[0].pod, popped[1].pod};

    if (life == NULL) {
        return differ(world, "popped: pod %" PRIu32 " is not in the queue",
                      object_name(popped[0].object));
    }
    if (!compare_pods(world, life, pods)) {
        return false;
    }
    world_popped(world, element, life, popped);
    mark_popped(world, &popped[0]);
    return !world->different;
}

/* The call was shown. */
static schedq_status_t
pop_both(world_t *world, uint32_t element, op_kind_t kind, int64_t time)
{
    both_t both = {0};
    schedq_popped_t popped[SIDES];

    memset(popped, UNTOUCHED, sizeof popped);
    BOTH(&both, .kind = kind, .deadline_ns = time, .wait_ns = time, .popped = &popped[side]);
    if (!both_run(world, &both)) {
        return both.ops[0].status;
    }
    if (both.ops[0].status == SCHEDQ_OK) {
        (void)take_popped(world, element, popped);
    } else {
        (void)compare_untouched(world, "out", popped, sizeof popped[0]);
    }
    return both.ops[0].status;
}

schedq_status_t
try_pop_both(world_t *world, uint32_t element)
{
    SHOW(world, "schedq_try_pop\n");
    return pop_both(world, element, OP_TRY_POP, 0);
}

void
run_try_pop(world_t *world, const operation_t *operation)
{
    (void)operation;
    (void)try_pop_both(world, 0);
}

static bool
something_is_poppable(const world_t *world)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    (void)schedq_stats(world->sides[0].queue, &stats);
    /* their class may keep all that are active back */
    if (settings_have(&world->settings, FEATURE_CLASSES) &&
        world->settings.config.class_patience_ns != 0) {
        return world->closed;
    }
    /* members of an active group count as active, and no pop of pods takes them */
    return stats.active > stats.members_at[SCHEDQ_ACTIVE] || world->closed;
}

void
serve_before_pop(world_t *world)
{
    enum { SLICE = 256 };
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    (void)schedq_stats(world->sides[0].queue, &stats);
    if (stats.backoff + stats.error_backoff + stats.held + stats.parked + stats.gated > SLICE) {
        SHOW(world, "first, for there may be more than a slice: ");
        tick_both(world);
    }
}

/* At the end of time the clock shows what is no deadline. */
int64_t
deadline_now(const world_t *world)
{
    return world->now == SCHEDQ_NO_DEADLINE ? world->now - 1 : world->now;
}

/* Of the pops that wait, one that returns at once. */
void
run_pop(world_t *world, const operation_t *operation)
{
    static const int64_t before[] = {0, 1, 1000000000};
    chance_t chance = operation_chance(operation);
    int64_t deadline =
        chance_one_in(&chance, 8) ? INT64_MIN : deadline_now(world) - CHANCE_OF(&chance, before);

    serve_before_pop(world);
    if (world->different) {
        return;
    }
    if (something_is_poppable(world) && chance_one_in(&chance, 2)) {
        static const op_kind_t kinds[] = {OP_POP, OP_POP, OP_POP_FOR, OP_POP_UNTIL};
        op_kind_t kind = CHANCE_OF(&chance, kinds);

        SHOW(world, "schedq_%s, for ever\n", op_name(kind));
        (void)pop_both(world, 0, kind, INT64_MAX);
    } else if (chance_one_in(&chance, 3)) {
        SHOW(world, "schedq_pop_for 0, or a time that there was never\n");
        (void)pop_both(world, 0, OP_POP_FOR, chance_one_in(&chance, 4) ? -1 : 0);
    } else {
        SHOW(world, "schedq_pop_until %" PRId64 "\n", deadline);
        (void)pop_both(world, 0, OP_POP_UNTIL, deadline);
    }
}

/* One that does not wait, or returns at once. */
static op_kind_t
some_batch(const world_t *world, chance_t *chance)
{
    if (chance_one_in(chance, 2)) {
        return OP_TRY_POP_MANY;
    }
    if (something_is_poppable(world) && chance_one_in(chance, 2)) {
        return OP_POP_MANY;
    }
    return chance_one_in(chance, 2) ? OP_POP_MANY_FOR : OP_POP_MANY_UNTIL;
}

void
run_pop_many(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    size_t capacity = chance_below(&chance, CAPACITY_MAX + 1);
    op_kind_t kind = some_batch(world, &chance);
    int64_t wait = chance_one_in(&chance, 8) ? -1 : 0;
    both_t both = {0};
    schedq_popped_t popped[SIDES][CAPACITY_MAX];

    if (kind != OP_TRY_POP_MANY) {
        serve_before_pop(world);
    }
    if (world->different) {
        return;
    }
    BOTH(&both, .kind = kind, .count = capacity, .popped = popped[side], .wait_ns = wait,
         .deadline_ns = deadline_now(world));
    if (!both_call(world, &both, " of %zu\n", capacity) || !compare_got(world, both.ops)) {
        return;
    }
    for (uint32_t i = 0; both.ops[0].status == SCHEDQ_OK && i < both.ops[0].got; i++) {
        if (!take_popped(world, i, (schedq_popped_t[SIDES]){popped[0][i], popped[1][i]})) {
            return;
        }
    }
}

/* ---- tokens ---------------------------------------------------------------------------------- */

bool
compare_kept_names(world_t *world, const cycle_t *cycle)
{
    if (cycle->slot == NOTHING) {
        return true;
    }
    char expected[NAME_ROOM];
    uint32_t length = name_write(world_is_kube(world), world->lives[cycle->life].name, expected);

    if (plant_due(world, OTHER_NAME_KEPT)) {
        expected[0] = '!';
    }
    for (unsigned side = 0; side < SIDES; side++) {
        if (memcmp(cycle->names[side], expected, length + 1) != 0) {
            return differ(
                world,
                "popped.name: it changed before its token was used: %s \"%.*s\", it was \"%s\"",
                world->sides[side].engine, (int)length, cycle->names[side], expected);
        }
    }
    return true;
}

void
take_done(world_t *world, cycle_t *cycle, schedq_status_t status)
{
    if (status == SCHEDQ_STALE) {
        if (cycle->slot != NOTHING) {
            (void)differ(world, "status: SCHEDQ_STALE for a token that was not used");
        }
    } else if (cycle->slot == NOTHING) {
        (void)differ(world, "status: %s for a token that was used", schedq_status_name(status));
    } else {
        world_flown(world, cycle, true);
    }
}

void
done_both(world_t *world, cycle_t *cycle)
{
    both_t both = {0};

    BOTH(&both, .kind = OP_DONE, .tokens = &cycle->tokens[side]);
    if (compare_kept_names(world, cycle) &&
        both_call(world, &both, " of pod %" PRIu32 "\n", world->lives[cycle->life].name)) {
        take_done(world, cycle, both.ops[0].status);
    }
}

void
run_done(world_t *world, const operation_t *operation)
{
    cycle_t *cycle = world_cycle(world, operation->targets[0]);

    if (cycle != NULL) {
        done_both(world, cycle);
    }
}

/* With a worker that is not registered any more: the cycle ends all the same. */
void
run_done_alone(world_t *world, const operation_t *operation)
{
    cycle_t *cycle = world_cycle(world, operation->targets[0]);
    schedq_status_t statuses[SIDES];

    if (cycle == NULL || world->sides[0].gone == NULL || !compare_kept_names(world, cycle)) {
        return;
    }
    SHOW(world, "schedq_done of pod %" PRIu32 " without a worker\n",
         world->lives[cycle->life].name);
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = schedq_done(world->sides[side].gone, cycle->tokens[side]);
    }
    if (compare_status(world, statuses)) {
        take_done(world, cycle, statuses[0]);
    }
    world->worker_said = false;
}

/*
 * A token that neither queue gave: versions so far from those in use do not come about in a round.
 */
static uint64_t
forged(const world_t *world, chance_t *chance, unsigned side)
{
    uint64_t bits = world->cycle_count > 0
                        ? world->cycles[chance_below(chance, world->cycle_count)].tokens[side].bits
                        : UINT64_C(1) << 28;

    switch (chance_below(chance, 5)) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    case 2:
        return chance_next(chance) | UINT64_C(1) << 62;
    case 3:
        return bits ^ UINT64_C(1) << 27;
    default:
        return bits ^ UINT64_C(1) << (52 + chance_below(chance, 12));
    }
}

void
run_done_many(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    schedq_token_t tokens[SIDES][TARGETS_MAX + 1];
    cycle_t *cycles[TARGETS_MAX + 1];
    both_t both = {0};
    bool with_statuses = !chance_one_in(&chance, 8);
    size_t count = 0;

    for (size_t i = 0; i < operation->target_count; i++) {
        cycle_t *cycle = world_cycle(world, operation->targets[i]);

        if (cycle != NULL && compare_kept_names(world, cycle)) {
            cycles[count] = cycle;
            tokens[0][count] = cycle->tokens[0];
            tokens[1][count++] = cycle->tokens[1];
        }
    }
    if (world->different || (!with_statuses && count > 1)) {
        count = count > 0 ? 1 : 0; /* without statuses nobody knows what became of several */
    }
    BOTH(&both, .kind = OP_DONE_MANY, .count = count, .tokens = tokens[side],
         .terse = !with_statuses);
    if (!both_call(world, &both, " of %zu\n", count)) {
        return;
    }
    for (size_t i = 0; i < count && !world->different; i++) {
        take_done(world, cycles[i], op_element(&both.ops[0], i));
    }
}

void
run_token_alive(world_t *world, const operation_t *operation)
{
    cycle_t *cycle = world_cycle(world, operation->targets[0]);
    both_t both = {0};

    if (cycle != NULL) {
        BOTH(&both, .kind = OP_TOKEN_ALIVE, .tokens = &cycle->tokens[side]);
        (void)both_call(world, &both, " of pod %" PRIu32 "\n", world->lives[cycle->life].name);
    }
}

void
run_forged_token(world_t *world, const operation_t *operation)
{
    both_t both = {0};
    schedq_token_t tokens[SIDES];

    for (unsigned side = 0; side < SIDES; side++) {
        chance_t chance = operation_chance(operation);
        op_kind_t kind = chance_one_in(&chance, 2) ? OP_DONE : OP_TOKEN_ALIVE;

        tokens[side].bits = forged(world, &chance, side);
        both.ops[side] = (op_t){.kind = kind, .tokens = &tokens[side]};
        SHOW(world, "schedq_%s of a forged token 0x%" PRIx64 "\n", op_name(kind),
             tokens[side].bits);
    }
    (void)both_run(world, &both);
}
