/*
 * Walks over many pods: snapshot, in any order; nominated_pods, in that of their nominations; peek
 * and peek_many, in that of pops. And how many are before one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "both.h"
#include "compare.h"
#include "nest.h"
#include "operation.h"

#define NODES 4

struct walk {
    world_t *world;
    schedq_pod_info_t *infos;
    size_t count, capacity;
    unsigned side;
};

/* Names are good during the visit only. */
static int
take_info(void *ctx, const schedq_pod_info_t *info)
{
    struct walk *walk = ctx;
    side_t *side = &walk->world->sides[walk->side];

    nest_call(side, true);
    if (nest_has_guest(side, info->pod)) {
        return 1;
    }
    if (walk->count == walk->capacity) {
        return 0;
    }
    walk->infos[walk->count] = *info;
    if (object_slot(info->object) == NAMES_MAX * OBJECT_VARIANTS) {
        (void)differ(walk->world, "info.object: no object of any pod");
    } else {
        (void)compare_name(walk->world, object_name(info->object), walk->side, info->name,
                           info->name_length);
    }
    walk->count++;
    return !walk->world->different;
}

static bool
walks_open(world_t *world, struct walk walks[SIDES])
{
    for (unsigned side = 0; side < SIDES; side++) {
        size_t capacity = world->settings.names + world->open_count + 1U;

        walks[side] = (struct walk){.world = world, .capacity = capacity, .side = side};
        walks[side].infos = malloc(capacity * sizeof *walks[side].infos);
    }
    return walks[0].infos != NULL && walks[1].infos != NULL;
}

/*
 * By name; of those with one name, at most one is not deleted, and the others were popped one after
 * another.
 */
static int
order_infos(const void *left, const void *right)
{
    const schedq_pod_info_t *a = left, *b = right;
    uint32_t names[2] = {object_name(a->object), object_name(b->object)};

    if (names[0] != names[1]) {
        return names[0] < names[1] ? -1 : 1;
    }
    if (a->deleted != b->deleted) {
        return a->deleted < b->deleted ? -1 : 1;
    }
    return a->pop_order < b->pop_order ? -1 : a->pop_order > b->pop_order;
}

static void
compare_info_of_walk(world_t *world, schedq_pod_info_t infos[SIDES])
{
    char text[NAME_ROOM];
    uint32_t name = object_name(infos[0].object);
    schedq_pod_t pods[SIDES] = {infos[0].pod, infos[1].pod};

    name_write(world_is_kube(world), name, text);
    infos[0].name = infos[1].name = text;
    if (compare_infos(world, name, infos) && !infos[0].deleted) {
        (void)compare_pods(world, world_named(world, name), pods);
    }
}

static void
compare_walks(world_t *world, struct walk walks[SIDES], bool in_order)
{
    for (unsigned side = 0; side < SIDES && !in_order; side++) {
        qsort(walks[side].infos, walks[side].count, sizeof *walks[side].infos, order_infos);
    }
    if (plant_due(world, OTHER_VISITS)) {
        walks[1].count++;
    }
    if (walks[0].count != walks[1].count) {
        (void)differ(world, "visits: mutex %zu, %s %zu", walks[0].count, world->sides[1].engine,
                     walks[1].count);
    }
    for (size_t i = 0; i < walks[0].count && !world->different; i++) {
        compare_info_of_walk(world,
                             (schedq_pod_info_t[SIDES]){walks[0].infos[i], walks[1].infos[i]});
    }
}

/*
 * In the kube presets an event nominates each pod that it moves, if its label is that of an add;
 * the pods of one event come in no order that anybody promised.
 */
static bool
moves_nominate(const world_t *world)
{
    return world->settings.config.kube_minor != 0;
}

static void
walk_both(world_t *world, op_kind_t kind, uint64_t node, size_t count)
{
    struct walk walks[SIDES];
    both_t both = {0};
    bool in_order = kind == OP_NOMINATED_PODS ? !moves_nominate(world) : kind != OP_SNAPSHOT;

    if (!walks_open(world, walks)) {
        (void)differ(world, "no memory for a walk");
        return;
    }
    BOTH(&both, .kind = kind, .node = node, .count = count, .visit = take_info,
         .ctx = &walks[side]);
    if (both_run(world, &both)) {
        compare_walks(world, walks, in_order);
        if (kind == OP_NOMINATED_PODS && walks[0].count > 1) {
            world_mark(world, MARK_NOMINATED_SEVERAL);
        }
    }
    free(walks[0].infos);
    free(walks[1].infos);
}

void
run_snapshot(world_t *world, const operation_t *operation)
{
    (void)operation;
    SHOW(world, "schedq_snapshot\n");
    walk_both(world, OP_SNAPSHOT, 0, 0);
}

void
run_nominated(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    uint64_t node = 1 + chance_below(&chance, NODES);

    SHOW(world, "schedq_nominated_pods of node %u\n", (unsigned)node);
    walk_both(world, OP_NOMINATED_PODS, node, 0);
}

/* ---- the line -------------------------------------------------------------------------------- */

void
run_peek(world_t *world, const operation_t *operation)
{
    (void)operation;
    SHOW(world, "schedq_peek\n");
    walk_both(world, OP_PEEK, 0, 0);
}

void
run_peek_many(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    size_t count = chance_below(&chance, OP_PODS_MAX);

    SHOW(world, "schedq_peek_many of %zu\n", count);
    walk_both(world, OP_PEEK_MANY, 0, count);
}

/* At rest both bounds are the same, but for pods with equal keys, which count in both engines. */
void
run_position(world_t *world, const operation_t *operation)
{
    const life_t *life = world_life(world, operation->targets[0]);
    both_t both = {0};

    if (life == NULL) {
        return;
    }
    BOTH(&both, .kind = OP_POSITION, .pods = &life->handles[side]);
    if (!both_call(world, &both, " of pod %" PRIu32 "\n", life->name)) {
        return;
    }
    if (plant_due(world, OTHER_POSITION)) {
        both.ops[1].lower++;
    }
    if (both.ops[0].lower != both.ops[1].lower || both.ops[0].upper != both.ops[1].upper) {
        (void)differ(world, "position: mutex %" PRIu64 "..%" PRIu64 ", %s %" PRIu64 "..%" PRIu64,
                     both.ops[0].lower, both.ops[0].upper, world->sides[1].engine,
                     both.ops[1].lower, both.ops[1].upper);
    }
}
