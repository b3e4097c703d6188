/* A watchdog of each queue: what is overdue, in any order, and in words. */
#include <inttypes.h>
#include <string.h>

#include "compare.h"
#include "operation.h"
#include "run.h"

#define ROOM OP_PODS_MAX

/* What was told of one, but for its handle; with its words, if the pod is still there. */
static uint64_t
sum_of(const world_t *world, unsigned side, const schedq_overdue_t *overdue)
{
    schedq_worker_t *worker = world_worker(world, side);
    uint64_t sum = chance_mix((uint64_t)overdue->kind << 16 | (uint64_t)overdue->profile << 8 |
                              overdue->plugin);
    uint64_t lower, upper;
    char text[512] = "";

    if (schedq_position(worker, overdue->pod, &lower, &upper) != SCHEDQ_NOT_FOUND) {
        (void)schedq_overdue_text(worker, overdue, text, sizeof text);
    }
    SHOW(world, "    %s: kind %u for %" PRId64 " rejectors 0x%" PRIx64 " gate %u %s\n",
         world->sides[side].engine, overdue->kind, overdue->for_ns, overdue->rejectors,
         overdue->plugin, text);
    for (const char *at = text; *at != '\0'; at++) {
        sum = chance_mix(sum ^ (uint8_t)*at);
    }
    return chance_mix(sum ^ overdue->rejectors) ^ chance_mix((uint64_t)overdue->for_ns);
}

static void
compare_overdue(world_t *world, op_t ops[SIDES])
{
    uint64_t sums[SIDES] = {0, 0};

    for (unsigned side = 0; side < SIDES; side++) {
        for (size_t i = 0; ops[0].got <= ROOM && i < ops[side].got; i++) {
            sums[side] += sum_of(world, side, &ops[side].overdue[i]);
        }
    }
    if (ops[0].got > 0 && plant_due(world, OTHER_OVERDUE)) {
        sums[1]++;
    }
    if (sums[0] != sums[1]) {
        (void)differ(world, "schedq_watch: %s names others, or in other words, than mutex",
                     world->sides[1].engine);
    }
}

static int64_t
some_limit(const world_t *world, chance_t *chance)
{
    const schedq_config_t *config = &world->settings.config;

    switch (chance_below(chance, 8)) {
    case 0:
        return chance_one_in(chance, 8) ? -1 : 0;
    case 1:
        return 1;
    case 2:
        return INT64_MAX;
    case 3:
        return config->max_parked_ns;
    default:
        return config->initial_backoff_ns >> chance_below(chance, 6);
    }
}

void
run_watch(world_t *world, const operation_t *operation)
{
    static schedq_overdue_t overdue[SIDES][ROOM];
    chance_t chance = operation_chance(operation);
    int64_t inflight = some_limit(world, &chance), gated = some_limit(world, &chance);
    uint32_t leftovers = chance_one_in(&chance, 4) ? 0 : 1;
    size_t room = chance_one_in(&chance, 8) ? 0 : ROOM;
    both_t both = {0};

    for (unsigned side = 0; side < SIDES; side++) {
        schedq_watch_t *watch = &world->sides[side].watch;

        watch->inflight_ns = inflight;
        watch->gated_ns = gated;
        watch->leftovers = leftovers;
    }
    BOTH(&both, .kind = OP_WATCH, .watch = &world->sides[side].watch, .overdue = overdue[side],
         .count = room);
    if (!both_call(world, &both, " in flight %" PRId64 " gated %" PRId64 " leftovers %" PRIu32 "\n",
                   inflight, gated, leftovers) ||
        both.ops[0].status != SCHEDQ_OK || !compare_got(world, both.ops) || room == 0) {
        return;
    }
    compare_overdue(world, both.ops);
    world->worker_said = false;
}
