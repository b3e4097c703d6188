/* What concerns a queue as a whole: its clock, its workers, its memory, its end. */
#include <inttypes.h>

#include "compare.h"
#include "operation.h"
#include "run.h"
#include "spec.h"

#define RESERVE_PODS_MAX 4096
#define RESERVE_BANDS_MAX 512

/* ---- time ------------------------------------------------------------------------------------------------------------------ */

static int64_t
some_step(const world_t *world, chance_t *chance)
{
    int64_t ticks = 1 + chance_below(chance, 64);

    if (world->settings.features == FEATURES_ALL) {
        ticks *= chance_one_in(chance, 64) ? 8192 : chance_one_in(chance, 3) ? 64 : 1; /* backoff, and leftovers */
    }
    return ticks << CLOCK_BITS;
}

void
run_clock(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    int64_t now = world->now + some_step(world, &chance);
    schedq_status_t statuses[SIDES];

    SHOW(world, "the clock shows %" PRId64 "\n", now);
    if (!world->settings.config.external_clock) {
        world->now = now;
        if (!chance_one_in(&chance, 32)) {
            return;
        }
    } else if (chance_one_in(&chance, 8)) {
        now = world->now - 1; /* it stays where it is */
    } else {
        world->now = now;
    }
    SHOW(world, "schedq_clock_advance %" PRId64 "\n", now);
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = schedq_clock_advance(world->sides[side].queue, now);
    }
    (void)compare_status(world, statuses);
    world->worker_said = false;
}

void
run_tick(world_t *world, const operation_t *operation)
{
    schedq_status_t statuses[SIDES];
    schedq_result_t results[SIDES];
    int64_t next[SIDES];

    (void)operation;
    SHOW(world, "schedq_tick\n");
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = schedq_tick(world_worker(world, side), &next[side], &results[side]);
    }
    if (plant_due(world, OTHER_NEXT)) {
        next[1]--;
    }
    if (!compare_status(world, statuses) || !compare_sums(world, results)) {
        return;
    }
    if (next[0] != next[1]) {
        (void)differ(world, "next_ns: mutex %" PRId64 ", %s %" PRId64, next[0], world->sides[1].engine, next[1]);
    }
}

/* ---- counts ----------------------------------------------------------------------------------------------------------------- */

void
run_stats(world_t *world, const operation_t *operation)
{
    (void)operation;
    SHOW(world, "schedq_stats, schedq_pending_text\n");
    (void)compare_counters(world);
}

/* ---- memory ----------------------------------------------------------------------------------------------------------------- */

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

    SHOW(world, "schedq_reserve %" PRIu32 " pods, %" PRIu32 " bands, %" PRIu32 " workers\n", pods, bands, workers);
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = schedq_reserve(world->sides[side].queue, pods, bands, workers, why[side], sizeof why[side]);
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
        statuses[side] = schedq_trim(world->sides[side].queue);
    }
    (void)compare_status(world, statuses);
    world->worker_said = false;
}

/* ---- workers ---------------------------------------------------------------------------------------------------------------- */

static void
register_both(world_t *world, uint32_t slot)
{
    schedq_status_t statuses[SIDES];

    SHOW(world, "schedq_worker_register\n");
    for (unsigned i = 0; i < SIDES; i++) {
        side_t *side = &world->sides[i];

        statuses[i] = schedq_worker_register(side->queue, &side->workers[slot], NULL, 0);
        if (statuses[i] != SCHEDQ_OK && side->workers[slot] != NULL) {
            (void)differ(world, "*worker: %s left something there, which is no worker", side->engine);
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
    register_both(world, extra);
    if (!world->different && world->sides[0].workers[extra] != NULL) {
        uint8_t worker = world->worker;

        world->worker = (uint8_t)extra;
        (void)try_pop_both(world, 0);
        world->worker = worker;
        if (!world->different) {
            unregister_both(world, extra);
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
        statuses[side] =
            schedq_worker_adopt(world->sides[side].queue, world_worker(world, known ? side : SIDES - 1 - side));
    }
    (void)compare_status(world, statuses);
    world->worker_said = false;
}

/* ---- the end ------------------------------------------------------------------------------------------------------------------ */

void
run_close(world_t *world, const operation_t *operation)
{
    schedq_status_t statuses[SIDES];

    (void)operation;
    SHOW(world, "schedq_close\n");
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = schedq_close(world->sides[side].queue);
    }
    (void)compare_status(world, statuses);
    world->closed = true;
    world->worker_said = false;
}
