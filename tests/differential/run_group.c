/* Groups: declarations, looks, pops of groups, and the ends of their cycles. */
#include <inttypes.h>
#include <string.h>

#include "compare.h"
#include "operation.h"
#include "run.h"

/* Another one that may have the same root, of either profile; or itself. */
static uint64_t
some_parent(chance_t *chance, uint32_t group)
{
    return group - (group - 1) % GROUPS_AT_ONCE + chance_below(chance, GROUPS_AT_ONCE);
}

/* Every other group of a profile is below the one that is left of it by up to three. */
static uint64_t
parent_of(uint32_t group)
{
    uint32_t index = (group - 1) / 2;

    return index % 2 == 0 || index % 4 == 0 ? 0 : group - 2 * (index % 4);
}

static schedq_group_spec_t
describe(const world_t *world, chance_t *chance, uint32_t group)
{
    static const uint32_t quorums[] = {0, 1, 1, 2, 2, 3, 5, 17};
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    bool profiles = settings_have(&world->settings, FEATURE_EVENTS | FEATURE_GATES);

    spec.priority = (int32_t)chance_below(chance, 4);
    spec.quorum = CHANCE_OF(chance, quorums);
    spec.profile = profiles ? profile_of(group - 1) : 0;
    spec.object = group + (uint64_t)chance_below(chance, 4) * 100000;
    spec.parent = parent_of(group);
    if (world->settings.priorities == PRIORITIES_OWN) {
        spec.priority = -(int32_t)group;
    }
    if (chance_one_in(chance, 24)) {
        switch (chance_below(chance, 5)) {
        case 0:
            spec.parent = group;
            break;
        case 1:
            spec.parent = some_parent(chance, group);
            break;
        case 2:
            spec.profile = 7;
            break;
        case 3:
            spec.reserved[chance_below(chance, sizeof spec.reserved)] = 1;
            break;
        default:
            spec.struct_size ^= UINT32_C(1) << chance_below(chance, 32);
        }
    }
    return spec;
}

static bool
compare_place(world_t *world, both_t *both)
{
    uint64_t places[SIDES] = {both->results[0].place, both->results[1].place};

    return compare_sums(world, both->results) && compare_bits(world, "result.place", places);
}

static void
look(world_t *world, uint32_t group)
{
    schedq_group_info_t infos[SIDES];
    both_t both = {0};

    memset(infos, UNTOUCHED, sizeof infos);
    infos[0].struct_size = infos[1].struct_size = sizeof infos[0];
    BOTH(&both, .kind = OP_GROUP_GET, .group = group, .group_info = &infos[side]);
    if (both_call(world, &both, " %" PRIu32 "\n", group) && both.ops[0].status == SCHEDQ_OK) {
        (void)compare_table(world, &gang_table, &infos[0], &infos[1]);
    }
}

void
run_group(world_t *world, const operation_t *operation)
{
    static const op_kind_t kinds[] = {OP_GROUP_ADD,    OP_GROUP_ADD,    OP_GROUP_ADD,
                                      OP_GROUP_UPDATE, OP_GROUP_UPDATE, OP_GROUP_DELETE,
                                      OP_GROUP_GET,    OP_GROUP_GET,    OP_GROUP_ACTIVATE};
    chance_t chance = operation_chance(operation);
    op_kind_t kind = CHANCE_OF(&chance, kinds);
    uint32_t group = group_of(operation->name);
    const schedq_group_spec_t spec = describe(world, &chance, group);
    both_t both = {0};

    if (chance_one_in(&chance, 40)) {
        group = 0;
    }
    if (kind == OP_GROUP_GET) {
        look(world, group);
        return;
    }
    BOTH(&both, .kind = kind, .group = group, .group_spec = &spec);
    if (both_call(world, &both,
                  " %" PRIu32 ": quorum %" PRIu32 " priority %" PRId32 " parent %" PRIu64 "\n",
                  group, spec.quorum, spec.priority, spec.parent)) {
        (void)compare_place(world, &both);
    }
}

static void
take_group(world_t *world, const schedq_popped_group_t groups[SIDES])
{
    uint64_t number = groups[0].group;

    if (number == 0) {
        return;
    }
    if (number >= GROUPS_MAX || world->gangs[number].flies) {
        (void)differ(world, "popped_group: group %" PRIu64 " is none, or in its cycle", number);
        return;
    }
    world->gangs[number] = (gang_t){.tokens = {groups[0].token, groups[1].token}, .flies = true};
}

/* One that does not wait, or returns at once. */
void
run_pop_group(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    op_kind_t kind = !chance_one_in(&chance, 4)  ? OP_TRY_POP_GROUP
                     : chance_one_in(&chance, 2) ? OP_POP_GROUP_FOR
                                                 : OP_POP_GROUP_UNTIL;
    size_t room = chance_one_in(&chance, 40)  ? 0
                  : chance_one_in(&chance, 3) ? 1 + chance_below(&chance, BATCH_MAX)
                                              : BATCH_MAX;
    schedq_popped_t popped[SIDES][BATCH_MAX];
    schedq_popped_group_t groups[SIDES];
    both_t both = {0};

    if (kind != OP_TRY_POP_GROUP) {
        serve_before_pop(world);
    }
    if (world->different) {
        return;
    }
    BOTH(&both, .kind = kind, .deadline_ns = deadline_now(world), .popped_group = &groups[side],
         .popped = popped[side], .room = room);
    if (!both_call(world, &both, " with room for %zu\n", room) || !compare_got(world, both.ops) ||
        both.ops[0].status != SCHEDQ_OK) {
        return;
    }
    SHOW(world, "    popped group %" PRIu64 ", group %" PRIu64 "\n", groups[0].group,
         groups[1].group);
    if (!compare_table(world, &group_table, &groups[0], &groups[1])) {
        return;
    }
    take_group(world, groups);
    for (uint32_t i = 0; i < both.ops[0].got && !world->different; i++) {
        (void)take_popped(world, i, (schedq_popped_t[SIDES]){popped[0][i], popped[1][i]});
    }
}

/* Most often of the group of that name, or of one near by, which is in its cycle. */
static uint32_t
some_flight(const world_t *world, uint32_t name)
{
    uint32_t first = group_of(name);

    for (uint32_t i = 0; i < 64; i++) {
        uint32_t group = 1 + (first - 1 + i) % group_of(world->settings.names);

        if (world->gangs[group].flies) {
            return group;
        }
    }
    return first;
}

static void
end_cycle(world_t *world, uint32_t group, const schedq_group_end_t *end)
{
    gang_t *gang = &world->gangs[group];
    both_t both = {0};

    BOTH(&both, .kind = OP_GROUP_DONE, .tokens = &gang->tokens[side], .group_end = end);
    if (!both_call(world, &both, " of group %" PRIu32 ", outcome %u\n", group, end->outcome)) {
        return;
    }
    if (both.ops[0].status == SCHEDQ_OK && !gang->flies) {
        (void)differ(world, "status: SCHEDQ_OK for a token that was used");
    } else if (both.ops[0].status == SCHEDQ_STALE && gang->flies) {
        (void)differ(world, "status: SCHEDQ_STALE for a token that was not used");
    } else if (both.ops[0].status == SCHEDQ_OK) {
        gang->flies = false;
        (void)compare_place(world, &both);
    }
}

void
run_group_done(world_t *world, const operation_t *operation)
{
    chance_t chance = operation_chance(operation);
    uint32_t group =
        chance_one_in(&chance, 8) ? group_of(operation->name) : some_flight(world, operation->name);
    schedq_group_end_t end = SCHEDQ_GROUP_END_INIT;

    end.outcome = (uint8_t)(chance_one_in(&chance, 24) ? 3 : chance_below(&chance, 3));
    end_cycle(world, group, &end);
}

void
end_groups_both(world_t *world)
{
    const schedq_group_end_t end = SCHEDQ_GROUP_END_INIT;

    for (uint32_t group = 0; group < GROUPS_MAX && !world->different; group++) {
        if (world->gangs[group].flies) {
            end_cycle(world, group, &end);
        }
    }
}
