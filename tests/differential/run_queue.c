/* What concerns a queue as a whole: its clock, its workers, its memory, its end. */
#include <inttypes.h>

#include "compare.h"
#include "operation.h"
#include "run.h"
#include "spec.h"

#define RESERVE_PODS_MAX 4096
#define RESERVE_BANDS_MAX 512

/* ---- time ------------------------------------------------------------------------------------ */

static int64_t
some_step(const world_t *world, chance_t *chance)
{
    int64_t ticks = 1 + chance_below(chance, 64);

    if (settings_have(&world->settings, FEATURE_TIME)) {
        /* backoff, and leftovers */
        ticks *= chance_one_in(chance, 64) ? 8192 : chance_one_in(chance, 3) ? 64 : 1;
    }
    return ticks * (INT64_C(1) << CLOCK_BITS);
}

/*
 * The latest reading that spec.h allows to be taken for `now`, but not before what the clock shows.
 */
static int64_t
allowed_reading(const world_t *world, int64_t now)
{
    int64_t unit = INT64_C(1) << CLOCK_BITS;

    if (!settings_have(&world->settings, FEATURE_ENDS) && (now & (unit - 1)) >= CLOCK_READINGS) {
        now += unit - (now & (unit - 1));
    }
    return now > world->now ? now : world->now;
}

static void
set_clock(world_t *world, int64_t now, bool advances)
{
    schedq_status_t statuses[SIDES];

    SHOW(world, "the clock shows %" PRId64 "%s\n", now, advances ? ", schedq_clock_advance" : "");
    if (now > world->now) {
        world->now = now;
    }
    if (!advances) {
        return;
    }
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = schedq_clock_advance(world->sides[side].queue, now);
    }
    (void)compare_status(world, statuses);
    world->worker_said = false;
}

/*
 * With an external clock it may be told to go back: it stays where it is. Else advancing it is
 * refused.
 */
void
run_clock(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    int64_t now = time_after(world->now, some_step(world, &chance));
    bool ends = settings_have(&world->settings, FEATURE_ENDS);
    int64_t past = ends ? INT64_MIN : world->now - 1;

    if (ends && chance_one_in(&chance, 24)) {
        now = INT64_MAX; /* and nobody ticks */
    }
    if (world->settings.config.external_clock) {
        set_clock(world, chance_one_in(&chance, 8) ? past : now, true);
    } else {
        set_clock(world, now, chance_one_in(&chance, 32));
    }
}

/*
 * To where something becomes due, or just before; into the second of a window; over the leftover
 * limit; to the end of time, or near it.
 */
static int64_t
some_jump(const world_t *world, chance_t *chance)
{
    int64_t deadline = world->sides[0].words->next_deadline_ns;
    int64_t second = INT64_C(1000000000);
    bool soon = deadline < time_after(world->now, INT64_C(1) << 50);

    if (settings_have(&world->settings, FEATURE_ENDS) && chance_one_in(chance, 12)) {
        world_mark(world, MARK_CLOCK_END);
        return INT64_MAX - (chance_one_in(chance, 2) ? 0 : chance_below(chance, 1U << 31));
    }
    switch (chance_below(chance, 8)) {
    case 0:
    case 1:
    case 2:
        world_mark(world, MARK_CLOCK_EXACT);
        return soon ? deadline : world->now;
    case 3:
        world_mark(world, MARK_CLOCK_BEFORE);
        return soon ? deadline - 1 : world->now;
    case 4:
        world_mark(world, MARK_CLOCK_WINDOW);
        return time_after(world->now - world->now % second,
                          (1 + (int64_t)chance_below(chance, 3)) * second);
    case 5:
        if (!chance_one_in(chance, 4)) {
            return world->now;
        }
        world_mark(world, MARK_CLOCK_LEFTOVER);
        return time_after(world->now,
                          world->settings.config.max_parked_ns + chance_below(chance, 3));
    default:
        return time_after(world->now, chance_below(chance, 1U << 30));
    }
}

void
leave_time_behind(world_t *world)
{
    const schedq_config_t *config = &world->settings.config;

    set_clock(
        world,
        allowed_reading(world, time_after(world->now, config->max_parked_ns +
                                                          config->max_backoff_ns + 2000000000)),
        config->external_clock != 0);
}

void
run_jump(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);

    set_clock(world, allowed_reading(world, some_jump(world, &chance)),
              world->settings.config.external_clock != 0);
    if (!world->different && !chance_one_in(&chance, 4)) {
        tick_both(world);
    }
}

static bool
next_agrees(const world_t *world, const int64_t next[SIDES])
{
    return next[0] == next[1] || (plans_in_vain(world) && next[0] < next[1]);
}

void
tick_both(world_t *world)
{
    both_t both = {0};
    int64_t next[SIDES];

    BOTH(&both, .kind = OP_TICK, .next_ns = &next[side]);
    if (!both_call(world, &both, "\n") || !compare_sums(world, both.results)) {
        return;
    }
    const schedq_result_t *results = both.results;

    if (plant_due(world, OTHER_NEXT)) {
        next[1]--;
    }
    if (!next_agrees(world, next)) {
        (void)differ(world, "next_ns: mutex %" PRId64 ", %s %" PRId64, next[0],
                     world->sides[1].engine, next[1]);
    } else if (results[0].left != results[1].left) {
        (void)differ(world, "result.left: mutex %u, %s %u", results[0].left, world->sides[1].engine,
                     results[1].left);
    }
}

void
run_tick(world_t *world, const operation_t *operation)
{
    (void)operation;
    tick_both(world);
}

/* Neither clock is one that a timer thread could sleep on. */
void
run_timer(world_t *world, const operation_t *operation)
{
    schedq_status_t statuses[SIDES];
    bool starts = operation->random % 2 == 0;

    SHOW(world, "%s\n", starts ? "schedq_run" : "schedq_stop");
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = starts ? schedq_run(world->sides[side].queue, NULL, 0)
                                : schedq_stop(world->sides[side].queue);
    }
    (void)compare_status(world, statuses);
    world->worker_said = false;
}

/* ---- counts ---------------------------------------------------------------------------------- */

void
run_stats(world_t *world, const operation_t *operation)
{
    (void)operation;
    SHOW(world, "schedq_stats, schedq_pending_text\n");
    (void)compare_counters(world);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static uint32_t
some_reserve(chance_t *chance, uint32_t cap, uint32_t most, uint32_t width)
{
    uint32_t limit = cap == 0 || cap > most ? most : cap;

    if (chance_one_in(chance, 16)) {
        return (cap == 0 ? width : cap) + 1;
    }
    return chance_below(chance, limit + 1);
}

void
run_reserve(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    const schedq_config_t *config = &world->settings.config;
    uint32_t pods = some_reserve(&chance, config->max_pods, RESERVE_PODS_MAX, (1U << 28) - 1);
    uint32_t bands = some_reserve(&chance, config->max_bands, RESERVE_BANDS_MAX, UINT16_MAX);
    uint32_t workers = some_reserve(&chance, config->max_workers, WORKERS_MAX, 64);
    schedq_status_t statuses[SIDES];
    char why[SIDES][256];

    SHOW(world, "schedq_reserve %" PRIu32 " pods, %" PRIu32 " bands, %" PRIu32 " workers\n", pods,
         bands, workers);
    for (unsigned side = 0; side < SIDES; side++) {
        WORLD_CALL(world, side, statuses[side],
                   schedq_reserve(world->sides[side].queue, pods, bands, workers, why[side],
                                  sizeof why[side]));
    }
    if (compare_status(world, statuses) && (why[0][0] == '\0') != (why[1][0] == '\0')) {
        (void)differ(world, "why: mutex \"%s\", %s \"%s\"", why[0], world->sides[1].engine, why[1]);
    }
    world->worker_said = false;
}

void
run_trim(world_t *world, const operation_t *operation)
{
    schedq_status_t statuses[SIDES];

    (void)operation;
    SHOW(world, "schedq_trim\n");
    for (unsigned side = 0; side < SIDES; side++) {
        WORLD_CALL(world, side, statuses[side], schedq_trim(world->sides[side].queue));
    }
    (void)compare_status(world, statuses);
    world->worker_said = false;
}

/* ---- workers --------------------------------------------------------------------------------- */

static void
register_both(world_t *world, uint32_t slot)
{
    schedq_status_t statuses[SIDES];

    SHOW(world, "schedq_worker_register\n");
    for (unsigned i = 0; i < SIDES; i++) {
        side_t *side = &world->sides[i];

        WORLD_CALL(world, i, statuses[i],
                   schedq_worker_register(side->queue, &side->workers[slot], NULL, 0));
        if (statuses[i] != SCHEDQ_OK && side->workers[slot] != NULL) {
            (void)differ(world, "*worker: %s left something there, which is no worker",
                         side->engine);
            side->workers[slot] = NULL;
        }
    }
    (void)compare_status(world, statuses);
    world->worker_said = false;
}

static void
unregister_both(world_t *world, uint32_t slot)
{
    schedq_status_t statuses[SIDES];

    SHOW(world, "schedq_worker_unregister\n");
    for (unsigned i = 0; i < SIDES; i++) {
        side_t *side = &world->sides[i];

        statuses[i] = schedq_worker_unregister(side->workers[slot]);
        side->workers[slot] = NULL;
    }
    (void)compare_status(world, statuses);
    world->worker_said = false;
}

void
run_reregister(world_t *world, const operation_t *operation)
{
    (void)operation;
    world->sides[0].gone = NULL;
    unregister_both(world, world->worker);
    if (!world->different) {
        register_both(world, world->worker);
    }
}

/* One worker more than there are; max_workers may forbid it. */
void
run_extra_worker(world_t *world, const operation_t *operation)
{
    uint32_t extra = world->settings.workers;

    (void)operation;
    world->sides[0].gone = NULL; /* it may be the same one */
    register_both(world, extra);
    if (!world->different && world->sides[0].workers[extra] != NULL) {
        schedq_worker_t *workers[SIDES] = {world->sides[0].workers[extra],
                                           world->sides[1].workers[extra]};
        uint8_t worker = world->worker;

        world->worker = (uint8_t)extra;
        (void)try_pop_both(world, 0);
        world->worker = worker;
        if (!world->different) {
            unregister_both(world, extra);
            world->sides[0].gone = workers[0];
            world->sides[1].gone = workers[1];
        }
    }
}

void
run_adopt(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    bool known = chance_one_in(&chance, 2);
    schedq_status_t statuses[SIDES];

    SHOW(world, "schedq_worker_adopt of %s\n", known ? "a worker" : "another queue's worker");
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = schedq_worker_adopt(world->sides[side].queue,
                                             world_worker(world, known ? side : SIDES - 1 - side));
    }
    (void)compare_status(world, statuses);
    world->worker_said = false;
}

/* ---- the end --------------------------------------------------------------------------------- */

void
run_close(world_t *world, const operation_t *operation)
{
    both_t both = {0};

    (void)operation;
    BOTH(&both, .kind = OP_CLOSE, .queue = world->sides[side].queue);
    (void)both_call(world, &both, "\n");
    world->closed = true;
    world->worker_said = false;
}
