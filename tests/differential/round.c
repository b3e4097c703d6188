/* Runs operations of a round. */
#include "round.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "generate.h"
#include "nest.h"

#define OPERATIONS_PER_LOOK 256
#define NAMES_LOOKED_AT 128

/* The pod that an operation is about; NULL: none is, or it is not in the queue by its name. */
static const life_t *
subject_of(const world_t *world, const operation_t *operation)
{
    const life_t *life = NULL;
    const cycle_t *cycle;

    switch (operation_kinds[operation->kind].targets) {
    case TARGETS_NAME:
        return world_named(world, operation->name);
    case TARGETS_LIFE:
        life = world_life(world, operation->targets[0]);
        break;
    case TARGETS_CYCLE:
        cycle = world_cycle(world, operation->targets[0]);
        life = cycle != NULL ? &world->lives[cycle->life] : NULL;
        break;
    default:
        break;
    }
    return life != NULL && world_named(world, life->name) == life ? life : NULL;
}

static uint8_t
place_of(const world_t *world, const life_t *life)
{
    char text[NAME_ROOM];
    schedq_result_t result = {0};

    if (life != NULL) {
        (void)schedq_find(world_worker(world, 0), text,
                          name_write(world_is_kube(world), life->name, text), &result);
    }
    return result.place;
}

static bool
is_about_one_pod(const operation_t *operation)
{
    enum targets targets = operation_kinds[operation->kind].targets;

    return targets == TARGETS_NAME || targets == TARGETS_LIFE || targets == TARGETS_CYCLE;
}

static void
run_kind(world_t *world, const operation_t *operation)
{
    uint8_t before = world->coverage != NULL ? place_of(world, subject_of(world, operation)) : 0;

    memset(&world->seen, 0, sizeof world->seen);
    nest_begin(world, operation);
    operation_kinds[operation->kind].run(world, operation);
    nest_end(world);
    if (!world->different && compare_cheap(world) && world->coverage != NULL) {
        world->seen.about_pod = is_about_one_pod(operation);
        world->seen.before = before;
        world->seen.after = place_of(world, subject_of(world, operation));
        coverage_count(world->coverage, operation->kind, &world->seen);
    }
}

static void
run(world_t *world, record_t *record, const operation_t *operation)
{
    world->operation = record->at = operation->number;
    world->worker = (uint8_t)(operation->worker % world->settings.workers);
    world->worker_said = false;
    world->lent_count = 0;
    world->sides[0].heard = world->sides[1].heard = 0;
    record->at_kind = operation->kind;
    SHOW(world, "%" PRIu32 " %s, worker %u\n", operation->number,
         operation_kinds[operation->kind].name, world->worker);
    run_kind(world, operation);
    if (world->different) {
        return;
    }
    if (world->careful || operation->number % OPERATIONS_PER_LOOK == OPERATIONS_PER_LOOK - 1) {
        if (compare_counters(world) && world->settings.names <= NAMES_LOOKED_AT) {
            (void)compare_accounts(world);
        }
    }
}

static bool
begin(world_t *world, record_t *record, const options_t *options)
{
    world->plant = options->plant != NULL ? plant_find(options->plant) : NULL;
    world->met = record->met;
    world->coverage = options->coverage ? &record->coverage : NULL;
    if (world_open(world, &record->settings, (uint8_t)options->engine->value,
                   options->engine->name)) {
        return true;
    }
    world_abandon(world);
    return false;
}

static bool
end(world_t *world, record_t *record)
{
    if (world->different) {
        world_abandon(world);
    } else {
        uint64_t held = world->sides[1].account.sum;

        if (held > world->reference_sum.owed &&
            held - world->reference_sum.owed > record->references_late) {
            record->references_late = held - world->reference_sum.owed;
        }
        record->most_pods = world->most_pods;
        record->at = record->settings.length;
        world_end(world);
    }
    memcpy(record->difference, world->difference, sizeof record->difference);
    return !world->different;
}

bool
round_run(world_t *world, record_t *record, const options_t *options)
{
    chance_t chance = {record->settings.seed};

    record->count = record->at = 0;
    world->careful = false;
    if (begin(world, record, options)) {
        while (record->count < record->settings.length && !world->different &&
               !world_is_full(world)) {
            operation_t *operation = &record->operations[record->count];

            generate(world, &chance, record->count++, operation);
            run(world, record, operation);
        }
        return end(world, record);
    }
    memcpy(record->difference, world->difference, sizeof record->difference);
    return false;
}

bool
round_replay(world_t *world, record_t *record, const options_t *options, const uint32_t *kept,
             uint32_t count, FILE *trace, uint32_t trace_from)
{
    world->careful = true;
    world->trace = NULL;
    if (!begin(world, record, options)) {
        return false;
    }
    for (uint32_t i = 0; i < count && !world->different; i++) {
        world->trace = i >= trace_from ? trace : NULL;
        run(world, record, &record->operations[kept[i]]);
    }
    world->trace = trace;
    return end(world, record);
}
