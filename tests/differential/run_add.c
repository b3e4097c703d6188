/* add, add_many, update: what makes pods and describes them. */
#include <inttypes.h>
#include <string.h>

#include "compare.h"
#include "operation.h"
#include "plugins.h"
#include "run.h"
#include "spec.h"

#define EVENTS_MAX 5

/* ---- add ------------------------------------------------------------------------------------- */

void
take_added(world_t *world, uint32_t name, const schedq_pod_spec_t *spec, both_t *both)
{
    schedq_result_t *results = both->results;
    schedq_status_t status = both->ops[0].status;

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

void
run_add(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    name_text_t names = {.used = chance_below(&chance, 16)};
    both_t both = {.names = &names};
    schedq_add_item_t item;

    spec_draw(world, &chance, operation->name, &names, &item);
    world_lend(world, item.spec.object);
    BOTH(&both, .kind = OP_ADD, .name = names.text + item.name_offset,
         .name_length = item.name_length, .spec = &item.spec);
    if (both_call(world, &both, "\n")) {
        take_added(world, operation->name, &item.spec, &both);
    }
}

/* ---- add_many -------------------------------------------------------------------------------- */

struct batch {
    name_text_t names;
    uint32_t numbers[BATCH_MAX];
    schedq_add_item_t items[BATCH_MAX];
    schedq_pod_t pods[SIDES][BATCH_MAX];
    size_t count;
    bool with_statuses, with_pods;
};

static void
draw_batch(world_t *world, chance_t *chance, struct batch *batch)
{
    uint32_t bad_one_in = batch->with_statuses ? 10 : 80;

    for (size_t i = 0; i < batch->count; i++) {
        batch->numbers[i] = chance_below(chance, world->settings.names);
        spec_draw(world, chance, batch->numbers[i], &batch->names, &batch->items[i]);
        if (chance_one_in(chance, bad_one_in)) {
            spec_spoil(world, chance, batch->numbers[i], &batch->names, &batch->items[i]);
        }
        world_lend(world, batch->items[i].spec.object);
    }
}

/* Handles of what was added, when the call did not give them. */
static bool
find_pods(world_t *world, struct batch *batch, const op_t *added)
{
    for (size_t i = 0; i < batch->count; i++) {
        both_t found = {0};

        if (op_element(added, i) != SCHEDQ_OK) {
            batch->pods[0][i].bits = batch->pods[1][i].bits = 0;
            continue;
        }
        if (!find_both(world, batch->numbers[i], &found) || found.ops[0].status != SCHEDQ_OK) {
            return differ(world, "schedq_find: NOT_FOUND after schedq_add_many added it");
        }
        batch->pods[0][i] = found.results[0].pod;
        batch->pods[1][i] = found.results[1].pod;
    }
    return true;
}

static void
take_batch(world_t *world, struct batch *batch, const op_t *added)
{
    if (!batch->with_pods && !find_pods(world, batch, added)) {
        return;
    }
    for (size_t i = 0; i < batch->count && !world->different; i++) {
        schedq_pod_t pods[SIDES] = {batch->pods[0][i], batch->pods[1][i]};

        if (pods[0].bits != 0) {
            world_born(world, (uint32_t)i, batch->numbers[i], &batch->items[i].spec, pods);
        } else {
            (void)compare_pods(world, NULL, pods);
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
    both_t both = {.names = &batch.names};

    batch.with_pods = !batch.with_statuses || !chance_one_in(&chance, 4);
    memset(batch.pods, UNTOUCHED, sizeof batch.pods);
    draw_batch(world, &chance, &batch);
    BOTH(&both, .kind = OP_ADD_MANY, .names = batch.names.text, .names_length = batch.names.used,
         .items = batch.items, .count = batch.count,
         .added = batch.with_pods ? batch.pods[side] : NULL, .terse = !batch.with_statuses);
    if (!both_call(world, &both, " count %zu%s%s\n", batch.count,
                   batch.with_statuses ? "" : " without statuses",
                   batch.with_pods ? "" : " without pods") ||
        !compare_sums(world, both.results)) {
        return;
    }
    schedq_status_t status = both.ops[0].status;

    /*
     * Whether the words tell of an element behind the first one that was refused, the header does
     * not say.
     */
    world->worker_said = status == SCHEDQ_OK || status == SCHEDQ_INVALID || status == SCHEDQ_FULL;
    if (status == SCHEDQ_INVALID && !batch.with_statuses) {
        (void)compare_untouched(world, "pods", batch.pods, sizeof batch.pods[0]);
    } else {
        take_batch(world, &batch, &both.ops[0]);
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
        /* nobody defined it */
        update->events[update->count++] = chance_one_in(chance, 2) ? SCHEDQ_EVENT_NONE : 60000;
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
take_updated(world_t *world, uint32_t name, const schedq_pod_spec_t *spec, both_t *both)
{
    life_t *life = world_named(world, name);

    if (both->ops[0].status != SCHEDQ_OK || life == NULL) {
        take_added(world, name, spec, both);
    } else if (compare_referred(world, life, both->results)) {
        world_described(world, life, spec);
    }
}

/*
 * The pod that has the name, one that had it or another one, a guess; or whoever has the name: 0.
 */
static void
draw_only(const world_t *world, chance_t *chance, const life_t *life, schedq_pod_t only[SIDES])
{
    uint32_t which = chance_below(chance, 6);
    uint64_t flipped = 0;

    if (which < 2 || world->life_count == 0) {
        return;
    }
    if (which == 2 || life == NULL) {
        life = &world->lives[chance_below(chance, world->life_count)];
    }
    if (which == 3) {
        /* A life or an index so far from those in use does not come about in a round. */
        flipped = UINT64_C(1) << (chance_one_in(chance, 4) ? 27 : 52 + chance_below(chance, 12));
    }
    for (unsigned side = 0; side < SIDES; side++) {
        only[side].bits = life->handles[side].bits ^ flipped;
    }
}

void
run_update(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    name_text_t names = {.used = chance_below(&chance, 16)};
    both_t both = {.names = &names};
    const life_t *life = world_named(world, operation->name);
    struct update update = {0};
    schedq_pod_t only[SIDES] = {{0}, {0}};
    schedq_add_item_t item;
    schedq_pod_spec_t spec, specs[SIDES];

    spec_draw(world, &chance, operation->name, &names, &item);
    spec = item.spec;
    spec_for_life(world, &chance, life, operation->name, &spec);
    draw_update(world, &chance, life, &update);
    if (chance_one_in(&chance, 40)) {
        spec.profile ^= 1; /* not the pod's, or not even a profile */
        spec.gate = 0;
    }
    if (chance_one_in(&chance, 3)) {
        draw_only(world, &chance, life, only);
    } else {
        spec.flags |= SCHEDQ_POD_ADD;
    }
    for (unsigned side = 0; side < SIDES; side++) {
        specs[side] = spec;
        specs[side].only = only[side];
    }
    world_lend(world, spec.object);
    world_lend(world, update.old_object);
    if (life != NULL && life->in_flight && update.count > 0) {
        world_mark(world, MARK_UPDATE_IN_FLIGHT);
    }
    BOTH(&both, .kind = OP_UPDATE, .name = names.text + item.name_offset,
         .name_length = item.name_length, .spec = &specs[side], .old_object = update.old_object,
         .events = update.events, .event_count = update.count);
    bool agree = both_call(world, &both, " with %zu events%s\n", update.count,
                           only[0].bits != 0 ? " of one pod" : "");

    if (only[0].bits != 0 && life != NULL) {
        world_mark(world, both.ops[0].status == SCHEDQ_OK ? MARK_UPDATE_ONLY : MARK_UPDATE_ANOTHER);
    }
    if (agree) {
        take_updated(world, operation->name, &spec, &both);
    }
}

/* ---- what is refused ------------------------------------------------------------------------- */

/* A bad spec in a call that takes one; only its name counts in those that take a name. */
void
run_bad_spec(world_t *world, const operation_t *operation)
{
    static const op_kind_t kinds[] = {OP_UPDATE, OP_FIND, OP_DELETE, OP_ADD};
    chance_t chance = operation_chance(operation);
    op_kind_t kind = CHANCE_OF(&chance, kinds);
    name_text_t names = {0};
    both_t both = {.names = &names};
    schedq_add_item_t item;

    spec_draw(world, &chance, operation->name, &names, &item);
    if (kind == OP_FIND || kind == OP_DELETE) {
        item.name_length =
            name_write_bad(world_is_kube(world), &chance, operation->name, names.text);
        names.used = sizeof names.text;
    } else if (kind == OP_ADD && chance_one_in(&chance, 4)) {
        item.spec.flags |= SCHEDQ_POD_ADD;
    } else {
        spec_spoil(world, &chance, operation->name, &names, &item);
    }
    BOTH(&both, .kind = kind, .name = names.text, .name_length = item.name_length,
         .spec = &item.spec);
    if (both_call(world, &both, " with bad input\n")) {
        (void)compare_results(world, NULL, both.results);
    }
}
