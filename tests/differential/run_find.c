/* By name or handle: find, get, delete, activate, and handles that are none. */
#include <inttypes.h>
#include <string.h>

#include "compare.h"
#include "operation.h"
#include "run.h"

/* ---- find ------------------------------------------------------------------------------------ */

schedq_status_t
find_both(world_t *world, uint32_t name, schedq_result_t results[SIDES])
{
    char text[NAME_ROOM];
    uint32_t length = name_write(name, text);
    schedq_status_t statuses[SIDES];

    text[length] = 'x';
    SHOW(world, "schedq_find of pod %" PRIu32 "\n", name);
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = schedq_find(world_worker(world, side), text, length, &results[side]);
    }
    (void)compare_status(world, statuses);
    return statuses[0];
}

void
run_find(world_t *world, const operation_t *operation)
{
    schedq_result_t results[SIDES];
    schedq_status_t status = find_both(world, operation->name, results);

    if (!world->different) {
        (void)compare_referred(
            world, status == SCHEDQ_OK ? world_named(world, operation->name) : NULL, results);
    }
}

/* ---- get ------------------------------------------------------------------------------------- */

struct visit {
    schedq_pod_info_t info;
    size_t count;
    char name[NAME_ROOM];
};

static int
visit(void *ctx, const schedq_pod_info_t *info)
{
    struct visit *visit = ctx;
    size_t length = info->name_length < NAME_ROOM ? info->name_length + 1 : NAME_ROOM;

    visit->info = *info;
    memcpy(visit->name, info->name, length);
    visit->info.name = visit->name;
    visit->count++;
    return 1;
}

static void
take_visits(world_t *world, const life_t *life, const schedq_status_t statuses[SIDES],
            struct visit visits[SIDES])
{
    if (!compare_status(world, statuses)) {
        return;
    }
    if (plant_due(world, OTHER_VISITS)) {
        visits[1].count++;
    }
    for (unsigned side = 0; side < SIDES; side++) {
        if (visits[side].count != (statuses[0] == SCHEDQ_OK ? 1 : 0)) {
            (void)differ(world, "schedq_get: %s visited %zu pods", world->sides[side].engine,
                         visits[side].count);
            return;
        }
    }
    if (statuses[0] == SCHEDQ_OK) {
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
    schedq_status_t statuses[SIDES];
    struct visit visits[SIDES];

    if (life == NULL) {
        return;
    }
    SHOW(world, "schedq_get of pod %" PRIu32 "\n", life->name);
    for (unsigned side = 0; side < SIDES; side++) {
        visits[side].count = 0;
        statuses[side] = schedq_get(world_worker(world, side), (schedq_pod_t){life->handles[side]},
                                    visit, &visits[side]);
    }
    take_visits(world, life, statuses, visits);
}

/* ---- delete ---------------------------------------------------------------------------------- */

static void
take_deleted(world_t *world, life_t *life, const schedq_status_t statuses[SIDES],
             schedq_result_t results[SIDES], bool with_result)
{
    schedq_status_t status = statuses[0];

    if (!compare_status(world, statuses)) {
        return;
    }
    if (status == SCHEDQ_OK && (life == NULL || world_named(world, life->name) != life)) {
        (void)differ(world, "status: SCHEDQ_OK for a pod that is not there");
        return;
    }
    if (with_result && !compare_results(world, status == SCHEDQ_OK ? life : NULL, results)) {
        return;
    }
    if (status == SCHEDQ_OK) {
        if (with_result && life->in_flight != (results[0].place == SCHEDQ_INFLIGHT)) {
            (void)differ(world, "result.place: %s",
                         schedq_place_name((schedq_place_t)results[0].place));
            return;
        }
        world_deleted(world, life);
    }
}

void
delete_both(world_t *world, life_t *life)
{
    char text[NAME_ROOM];
    uint32_t length = name_write(life->name, text);
    schedq_status_t statuses[SIDES];
    schedq_result_t results[SIDES];

    SHOW(world, "schedq_delete of pod %" PRIu32 "\n", life->name);
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = schedq_delete(world_worker(world, side), (schedq_pod_t){0}, text, length,
                                       &results[side]);
    }
    take_deleted(world, life, statuses, results, true);
}

void
run_delete_name(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    bool with_result = !chance_one_in(&chance, 8);
    char text[NAME_ROOM];
    uint32_t length = name_write(operation->name, text);
    schedq_status_t statuses[SIDES];
    schedq_result_t results[SIDES];

    text[length] = 'x';
    SHOW(world, "schedq_delete of pod %" PRIu32 " by name\n", operation->name);
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = schedq_delete(world_worker(world, side), (schedq_pod_t){0}, text, length,
                                       with_result ? &results[side] : NULL);
    }
    take_deleted(world, world_named(world, operation->name), statuses, results, with_result);
}

void
run_delete_handle(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    bool with_result = !chance_one_in(&chance, 8);
    life_t *life = world_life(world, operation->targets[0]);
    schedq_status_t statuses[SIDES];
    schedq_result_t results[SIDES];

    if (life == NULL) {
        return;
    }
    SHOW(world, "schedq_delete of pod %" PRIu32 " by handle\n", life->name);
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] =
            schedq_delete(world_worker(world, side), (schedq_pod_t){life->handles[side]}, NULL, 0,
                          with_result ? &results[side] : NULL);
    }
    take_deleted(world, life, statuses, results, with_result);
}

/* ---- handles --------------------------------------------------------------------------------- */

void
run_forged_handle(world_t *world, const operation_t *operation)
{
    schedq_status_t statuses[SIDES];
    schedq_result_t results[SIDES] = {0};
    struct visit unseen;

    for (unsigned side = 0; side < SIDES; side++) {
        chance_t chance = operation_chance(operation);
        bool deletes = chance_one_in(&chance, 2);
        uint64_t bits = world->life_count > 0
                            ? world->lives[chance_below(&chance, world->life_count)].handles[side]
                            : 0;
        /* A life or an index so far from those in use does not come about in a round. */
        uint32_t bit = chance_one_in(&chance, 4) ? 27 : 52 + chance_below(&chance, 12);
        schedq_pod_t pod = {bits ^ UINT64_C(1) << bit};

        SHOW(world, "%s of a forged handle 0x%" PRIx64 "\n",
             deletes ? "schedq_delete" : "schedq_get", pod.bits);
        statuses[side] =
            deletes ? schedq_delete(world_worker(world, side), pod, NULL, 0, &results[side])
                    : schedq_get(world_worker(world, side), pod, visit, &unseen);
    }
    if (compare_status(world, statuses)) {
        (void)compare_results(world, NULL, results);
    }
}

/* Handles that name nothing are ignored. */
void
run_activate(world_t *world, const operation_t *operation)
{
    schedq_status_t statuses[SIDES];
    schedq_result_t results[SIDES];
    schedq_pod_t pods[SIDES][TARGETS_MAX + 1];
    size_t count = 0;

    SHOW(world, "schedq_activate of pods");
    for (size_t i = 0; i < operation->target_count; i++) {
        const life_t *life = world_life(world, operation->targets[i]);

        if (life != NULL) {
            SHOW(world, " %" PRIu32, life->name);
            pods[0][count].bits = life->handles[0];
            pods[1][count++].bits = life->handles[1];
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
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] =
            schedq_activate(world_worker(world, side), pods[side], count, &results[side]);
    }
    if (compare_status(world, statuses)) {
        (void)compare_sums(world, results);
    }
}
