/* add, add_many, update: what makes pods and describes them. */
#include <inttypes.h>
#include <string.h>

#include "compare.h"
#include "operation.h"
#include "plugins.h"
#include "run.h"
#include "spec.h"

#define UNTOUCHED 0x77
#define EVENTS_MAX 5

/* ---- add ------------------------------------------------------------------------------------- */

/* What a call that may make one pod answered. */
static void
take_added(world_t *world, uint32_t name, const schedq_pod_spec_t *spec, schedq_status_t status,
           schedq_result_t results[SIDES])
{
    if (status != SCHEDQ_OK) {
        (void)compare_referred(world, status == SCHEDQ_EXISTS ? world_named(world, name) : NULL,
                               results);
    } else if (compare_born(world, results)) {
        world_born(world, 0, name, spec,
                   (const schedq_pod_t[SIDES]){results[0].pod, results[1].pod});
        world_referred(world_named(world, name),
                       (const uint64_t[SIDES]){results[0].ref, results[1].ref});
    }
}

static void
add(world_t *world, uint32_t name, const schedq_pod_spec_t *spec, name_text_t *names)
{
    schedq_status_t statuses[SIDES];
    schedq_result_t results[SIDES];

    SHOW(world, "schedq_add\n");
    spec_show(world, name, spec);
    world_lend(world, spec->object);
    for (unsigned side = 0; side < SIDES; side++) {
        schedq_pod_spec_t copy = spec_for_side(world, side, spec);

        statuses[side] = schedq_add(world_worker(world, side), names->text, &copy, &results[side]);
    }
    name_text_scribble(names);
    if (compare_status(world, statuses)) {
        take_added(world, name, spec, statuses[0], results);
    }
}

void
run_add(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    name_text_t names = {.used = chance_below(&chance, 16)};
    schedq_pod_spec_t spec;

    spec_draw(world, &chance, operation->name, &names, &spec);
    add(world, operation->name, &spec, &names);
}

/* ---- add_many -------------------------------------------------------------------------------- */

struct batch {
    name_text_t names;
    uint32_t numbers[BATCH_MAX];
    schedq_pod_spec_t specs[BATCH_MAX];
    schedq_pod_t pods[SIDES][BATCH_MAX];
    uint8_t statuses[SIDES][BATCH_MAX];
    size_t count;
    bool with_statuses, with_pods;
};

static void
draw_batch(world_t *world, chance_t *chance, struct batch *batch)
{
    uint32_t bad_one_in = batch->with_statuses ? 10 : 80;

    for (size_t i = 0; i < batch->count; i++) {
        batch->numbers[i] = chance_below(chance, world->settings.names);
        spec_draw(world, chance, batch->numbers[i], &batch->names, &batch->specs[i]);
        if (chance_one_in(chance, bad_one_in)) {
            spec_spoil(chance, batch->numbers[i], &batch->names, &batch->specs[i]);
        }
        spec_show(world, batch->numbers[i], &batch->specs[i]);
        world_lend(world, batch->specs[i].object);
    }
}

static schedq_status_t
call_add_many(const world_t *world, struct batch *batch, unsigned side, schedq_result_t *result)
{
    schedq_pod_spec_t specs[BATCH_MAX];

    for (size_t i = 0; i < batch->count; i++) {
        specs[i] = spec_for_side(world, side, &batch->specs[i]);
    }
    return schedq_add_many(world_worker(world, side), batch->names.text, specs, batch->count,
                           batch->with_pods ? batch->pods[side] : NULL,
                           batch->with_statuses ? batch->statuses[side] : NULL, result);
}

/* Handles of what was added, when the call did not give them. */
static bool
find_pods(world_t *world, struct batch *batch)
{
    for (size_t i = 0; i < batch->count; i++) {
        schedq_result_t results[SIDES];

        if (batch->statuses[0][i] != SCHEDQ_OK) {
            batch->pods[0][i].bits = batch->pods[1][i].bits = 0;
            continue;
        }
        if (find_both(world, batch->numbers[i], results) != SCHEDQ_OK || world->different) {
            return differ(world, "schedq_find: NOT_FOUND after schedq_add_many added it");
        }
        batch->pods[0][i] = results[0].pod;
        batch->pods[1][i] = results[1].pod;
    }
    return true;
}

static void
take_batch(world_t *world, struct batch *batch)
{
    if (batch->with_statuses && !compare_statuses(world, batch->statuses, batch->count)) {
        return;
    }
    if (!batch->with_pods && !find_pods(world, batch)) {
        return;
    }
    for (size_t i = 0; i < batch->count && !world->different; i++) {
        schedq_pod_t pods[SIDES] = {batch->pods[0][i], batch->pods[1][i]};

        if (pods[0].bits != 0) {
            world_born(world, (uint32_t)i, batch->numbers[i], &batch->specs[i], pods);
        } else {
            (void)compare_pods(world, NULL, pods);
        }
    }
}

static void
compare_untouched(world_t *world, const struct batch *batch)
{
    for (unsigned side = 0; side < SIDES; side++) {
        for (size_t i = 0; i < sizeof batch->pods[side]; i++) {
            if (((const uint8_t *)batch->pods[side])[i] != UNTOUCHED) {
                (void)differ(world, "pods: %s wrote there and answered SCHEDQ_INVALID",
                             world->sides[side].engine);
                return;
            }
        }
    }
}

void
run_add_many(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    struct batch batch = {.count =
                              chance_below(&chance, chance_one_in(&chance, 4) ? BATCH_MAX + 1 : 5),
                          .with_statuses = !chance_one_in(&chance, 3)};
    schedq_status_t statuses[SIDES];
    schedq_result_t results[SIDES];

    batch.with_pods = !batch.with_statuses || !chance_one_in(&chance, 4);
    memset(batch.pods, UNTOUCHED, sizeof batch.pods);
    SHOW(world, "schedq_add_many count %zu%s%s\n", batch.count,
         batch.with_statuses ? "" : " without statuses", batch.with_pods ? "" : " without pods");
    draw_batch(world, &chance, &batch);
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = call_add_many(world, &batch, side, &results[side]);
    }
    name_text_scribble(&batch.names);
    if (!compare_status(world, statuses) || !compare_sums(world, results)) {
        return;
    }
    /*
     * Whether the words tell of an element behind the first one that was refused, the header does
     * not say.
     */
    world->worker_said =
        statuses[0] == SCHEDQ_OK || statuses[0] == SCHEDQ_INVALID || statuses[0] == SCHEDQ_FULL;
    if (statuses[0] == SCHEDQ_INVALID && !batch.with_statuses) {
        compare_untouched(world, &batch);
    } else {
        take_batch(world, &batch);
    }
}

/* ---- update ---------------------------------------------------------------------------------- */

struct update {
    uint64_t old_object;
    schedq_event_t events[EVENTS_MAX];
    size_t count;
};

static void
draw_update(const world_t *world, chance_t *chance, const life_t *life, struct update *update)
{
    update->old_object = life != NULL && !chance_one_in(chance, 8) ? life->object : 0;
    if (chance_one_in(chance, 64)) {
        update->events[update->count++] = 60000; /* nobody defined it */
    } else if (settings_have(&world->settings, FEATURE_EVENTS)) {
        update->count = chance_below(chance, chance_one_in(chance, 4) ? EVENTS_MAX + 1 : 3);
        for (size_t i = 0; i < update->count; i++) {
            update->events[i] = chance_one_in(chance, 8) ? SCHEDQ_EVENT_WILDCARD
                                : chance_one_in(chance, 3)
                                    ? plugins_event(world, chance)
                                    : (schedq_event_t)(SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE +
                                                       chance_below(chance, 6));
        }
    }
}

static void
take_updated(world_t *world, uint32_t name, const schedq_pod_spec_t *spec, schedq_status_t status,
             schedq_result_t results[SIDES])
{
    life_t *life = world_named(world, name);

    if (status != SCHEDQ_OK || life == NULL) {
        take_added(world, name, spec, status, results);
    } else if (compare_referred(world, life, results)) {
        world_described(world, life, spec);
    }
}

/*
 * The pod that has the name, one that had it or another one, a guess; or whoever has the name: 0.
 */
static ref_t
draw_only(const world_t *world, chance_t *chance, const life_t *life)
{
    uint32_t which = chance_below(chance, 6);
    ref_t only = {{0, 0}};

    if (which < 2 || world->life_count == 0) {
        return only;
    }
    if (which == 2 || life == NULL) {
        life = &world->lives[chance_below(chance, world->life_count)];
    }
    memcpy(only.bits, life->handles, sizeof only.bits);
    if (which == 3) {
        /* A life or an index so far from those in use does not come about in a round. */
        uint64_t bit = UINT64_C(1)
                       << (chance_one_in(chance, 4) ? 27 : 52 + chance_below(chance, 12));

        only.bits[0] ^= bit;
        only.bits[1] ^= bit;
    }
    return only;
}

void
run_update(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    name_text_t names = {.used = chance_below(&chance, 16)};
    const life_t *life = world_named(world, operation->name);
    struct update update = {0};
    ref_t only = {{0, 0}};
    schedq_pod_spec_t spec;
    schedq_status_t statuses[SIDES];
    schedq_result_t results[SIDES];

    spec_draw(world, &chance, operation->name, &names, &spec);
    spec_for_life(world, &chance, life, operation->name, &spec);
    draw_update(world, &chance, life, &update);
    if (chance_one_in(&chance, 40)) {
        spec.profile ^= 1; /* not the pod's, or not even a profile */
        spec.gate = 0;
    }
    if (chance_one_in(&chance, 3)) {
        spec.flags |= SCHEDQ_POD_EXISTING;
        only = draw_only(world, &chance, life);
    }
    SHOW(world, "schedq_update with %zu events%s\n", update.count,
         only.bits[0] != 0 ? " of one pod" : "");
    spec_show(world, operation->name, &spec);
    world_lend(world, spec.object);
    world_lend(world, update.old_object);
    if (life != NULL && life->in_flight && update.count > 0) {
        world_mark(world, MARK_UPDATE_IN_FLIGHT);
    }
    for (unsigned side = 0; side < SIDES; side++) {
        schedq_pod_spec_t copy = spec_for_side(world, side, &spec);

        copy.only.bits = only.bits[side];
        statuses[side] =
            schedq_update(world_worker(world, side), names.text, &copy, update.old_object,
                          update.events, update.count, &results[side]);
    }
    name_text_scribble(&names);
    if (only.bits[0] != 0 && life != NULL) {
        world_mark(world, statuses[0] == SCHEDQ_OK ? MARK_UPDATE_ONLY : MARK_UPDATE_ANOTHER);
    }
    if (compare_status(world, statuses)) {
        take_updated(world, operation->name, &spec, statuses[0], results);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

static schedq_status_t
call_with_bad_spec(const world_t *world, unsigned side, uint32_t call, const char *names,
                   const schedq_pod_spec_t *spec, schedq_result_t *result)
{
    schedq_worker_t *worker = world_worker(world, side);
    const char *name = names + spec->name_offset;

    switch (call) {
    case 0:
        return schedq_update(worker, names, spec, 0, NULL, 0, result);
    case 1:
        return schedq_find(worker, name, spec->name_length, result);
    case 2:
        return schedq_delete(worker, (schedq_pod_t){0}, name, spec->name_length, result);
    default:
        return schedq_add(worker, names, spec, result);
    }
}

/* A bad spec in a call that takes one; only its name counts in those that take a name. */
void
run_bad_spec(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    uint32_t call = chance_below(&chance, 4);
    name_text_t names = {0};
    schedq_pod_spec_t spec;
    schedq_status_t statuses[SIDES];
    schedq_result_t results[SIDES];

    spec_draw(world, &chance, operation->name, &names, &spec);
    if (call == 1 || call == 2) {
        spec.name_length = name_write_bad(&chance, operation->name, names.text);
        names.used = sizeof names.text;
    } else if (call == 3 && chance_one_in(&chance, 4)) {
        spec.flags |= SCHEDQ_POD_EXISTING;
    } else {
        spec_spoil(&chance, operation->name, &names, &spec);
    }
    SHOW(
        world, "%s with bad input\n",
        (const char *const[]){"schedq_update", "schedq_find", "schedq_delete", "schedq_add"}[call]);
    spec_show(world, operation->name, &spec);
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = call_with_bad_spec(world, side, call, names.text, &spec, &results[side]);
    }
    name_text_scribble(&names);
    if (compare_status(world, statuses)) {
        (void)compare_results(world, NULL, results);
    }
}
