/* By name or handle: find, get, delete, activate, and handles that are none. */
#include <inttypes.h>
#include <string.h>

#include "compare.h"
#include "nest.h"
#include "operation.h"
#include "run.h"

/* ---- find ------------------------------------------------------------------------------------ */

bool
find_both(world_t *world, uint32_t name, both_t *both)
{
    char text[NAME_ROOM];
    uint32_t length = name_write(world_is_kube(world), name, text);

    text[length] = 'x';
    BOTH(both, .kind = OP_FIND, .name = text, .name_length = length);
    return both_call(world, both, " of pod %" PRIu32 "\n", name);
}

void
run_find(world_t *world, const operation_t *operation)
{
    both_t both = {0};

    if (find_both(world, operation->name, &both)) {
        bool found = both.ops[0].status == SCHEDQ_OK;

        (void)compare_referred(world, found ? world_named(world, operation->name) : NULL,
                               both.results);
    }
}

/* ---- get ------------------------------------------------------------------------------------- */

struct visit {
    side_t *side;
    schedq_pod_info_t info;
    size_t count;
    char name[NAME_ROOM];
};

static int
visit(void *ctx, const schedq_pod_info_t *info)
{
    struct visit *visit = ctx;
    size_t length = info->name_length < NAME_ROOM ? info->name_length + 1 : NAME_ROOM;

    nest_call(visit->side, true);
    visit->info = *info;
    memcpy(visit->name, info->name, length);
    visit->info.name = visit->name;
    visit->count++;
    return 1;
}

static void
take_visits(world_t *world, const life_t *life, schedq_status_t status, struct visit visits[SIDES])
{
    if (plant_due(world, OTHER_VISITS)) {
        visits[1].count++;
    }
    for (unsigned side = 0; side < SIDES; side++) {
        if (visits[side].count != (status == SCHEDQ_OK ? 1 : 0)) {
            (void)differ(world, "schedq_get: %s visited %zu pods", world->sides[side].engine,
                         visits[side].count);
            return;
        }
    }
    if (status == SCHEDQ_OK) {
        schedq_pod_info_t infos[SIDES] = {visits[0].info, visits[1].info};
        schedq_pod_t pods[SIDES] = {infos[0].pod, infos[1].pod};

        if (compare_pods(world, life, pods)) {
            (void)compare_infos(world, life->name, infos);
        }
    }
}

void
run_get(world_t *world, const operation_t *operation)
{
    const life_t *life = world_life(world, operation->targets[0]);
    both_t both = {0};
    struct visit visits[SIDES];

    if (life == NULL) {
        return;
    }
    for (unsigned side = 0; side < SIDES; side++) {
        visits[side] = (struct visit){.side = &world->sides[side]};
    }
    BOTH(&both, .kind = OP_GET, .pods = &life->handles[side], .visit = visit, .ctx = &visits[side]);
    if (both_call(world, &both, " of pod %" PRIu32 "\n", life->name)) {
        take_visits(world, life, both.ops[0].status, visits);
    }
}

/* ---- delete ---------------------------------------------------------------------------------- */

static void
take_deleted(world_t *world, life_t *life, both_t *both)
{
    schedq_status_t status = both->ops[0].status;
    bool with_result = !both->ops[0].terse;

    if (status == SCHEDQ_OK && (life == NULL || world_named(world, life->name) != life)) {
        (void)differ(world, "status: SCHEDQ_OK for a pod that is not there");
        return;
    }
    if (with_result && !compare_results(world, status == SCHEDQ_OK ? life : NULL, both->results)) {
        return;
    }
    if (status == SCHEDQ_OK) {
        schedq_place_t place = (schedq_place_t)both->results[0].place;

        if (with_result && life->in_flight != (place == SCHEDQ_INFLIGHT)) {
            (void)differ(world, "result.place: %s", schedq_place_name(place));
            return;
        }
        world_deleted(world, life);
    }
}

void
delete_both(world_t *world, uint32_t name, bool terse, const char *how)
{
    char text[NAME_ROOM];
    uint32_t length = name_write(world_is_kube(world), name, text);
    both_t both = {0};

    text[length] = 'x';
    BOTH(&both, .kind = OP_DELETE, .name = text, .name_length = length, .terse = terse);
    if (both_call(world, &both, " of pod %" PRIu32 "%s\n", name, how)) {
        take_deleted(world, world_named(world, name), &both);
    }
}

void
run_delete_name(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);

    delete_both(world, operation->name, chance_one_in(&chance, 8), " by name");
}

void
run_delete_handle(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    bool terse = chance_one_in(&chance, 8);
    life_t *life = world_life(world, operation->targets[0]);
    both_t both = {0};

    if (life == NULL) {
        return;
    }
    BOTH(&both, .kind = OP_DELETE, .pods = &life->handles[side], .terse = terse);
    if (both_call(world, &both, " of pod %" PRIu32 " by handle\n", life->name)) {
        take_deleted(world, life, &both);
    }
}

/* ---- handles --------------------------------------------------------------------------------- */

void
run_forged_handle(world_t *world, const operation_t *operation)
{
    both_t both = {0};
    schedq_pod_t pods[SIDES];
    struct visit unseen[SIDES];

    for (unsigned side = 0; side < SIDES; side++) {
        chance_t chance = operation_chance(operation);
        op_kind_t kind = chance_one_in(&chance, 2) ? OP_DELETE : OP_GET;
        uint64_t bits =
            world->life_count > 0
                ? world->lives[chance_below(&chance, world->life_count)].handles[side].bits
                : 0;
        /* A life or an index so far from those in use does not come about in a round. */
        uint32_t bit = chance_one_in(&chance, 4) ? 27 : 52 + chance_below(&chance, 12);

        pods[side].bits = bits ^ UINT64_C(1) << bit;
        unseen[side].side = &world->sides[side];
        both.ops[side] =
            (op_t){.kind = kind, .pods = &pods[side], .visit = visit, .ctx = &unseen[side]};
        SHOW(world, "schedq_%s of a forged handle 0x%" PRIx64 "\n", op_name(kind), pods[side].bits);
    }
    if (both_run(world, &both) && both.ops[0].kind == OP_DELETE) {
        (void)compare_results(world, NULL, both.results);
    }
}

/* Handles that name nothing are ignored. */
void
run_activate(world_t *world, const operation_t *operation)
{
    both_t both = {0};
    schedq_pod_t pods[SIDES][TARGETS_MAX + 1];
    size_t count = 0;

    SHOW(world, "schedq_activate of pods");
    for (size_t i = 0; i < operation->target_count; i++) {
        const life_t *life = world_life(world, operation->targets[i]);

        if (life != NULL) {
            SHOW(world, " %" PRIu32, life->name);
            pods[0][count] = life->handles[0];
            pods[1][count++] = life->handles[1];
            if (life->in_flight) {
                world_mark(world, MARK_ACTIVATE_IN_FLIGHT);
            }
        }
    }
    if (operation->random % 8 == 0) {
        pods[0][count].bits = pods[1][count].bits = 0;
        count++;
    }
    SHOW(world, ", %zu handles\n", count);
    BOTH(&both, .kind = OP_ACTIVATE, .count = count, .pods = pods[side]);
    if (both_run(world, &both)) {
        (void)compare_sums(world, both.results);
    }
}
