/*
 * What threads do at random: they add members and pods in no group, declare groups, pop both, end
 * some and fail the others, delete, notify, update and activate.
 */
#include "book.h"

#include "history/stamp.h"

enum { IN_HAND_MAX = 64, ROOM = 64, ROUNDS_OF_A_DRAIN = 20000 };

/* ---- pods come and go ------------------------------------------------------------------------ */

static void
add(actor_t *actor)
{
    uint32_t pod = next_pod(actor);
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    if (pod >= PODS)
        return;
    spec.group = group_of(pod);
    spec.priority = (int32_t)roll(actor, 4);
    add_pod(actor, pod, &spec)->group = group_of(pod);
}

static void
delete_some(actor_t *actor)
{
    uint32_t pod = some_pod(actor);
    record_t *record = delete_pod(actor, pod);
    if (record != NULL)
        record->group = group_of(pod);
}

static schedq_group_spec_t
describe(actor_t *actor, uint32_t group)
{
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;
    spec.quorum = actor->late ? 1 : quorum_of(group);
    spec.priority = (int32_t)roll(actor, 4);
    spec.object = group;
    return spec;
}

static void
declare(actor_t *actor)
{
    uint32_t group = 1 + atomic_fetch_add(&actor->round->groups_declared, 1);
    if (group > GROUPS)
        return;
    const schedq_group_spec_t spec = describe(actor, group);
    uint64_t begin = stamp_begin();
    must(actor, "group_add", schedq_group_add(actor->worker, group, &spec, NULL));
    note(actor, CALL_DECLARE, begin, 0)->group = group;
}

static void
update(actor_t *actor, uint32_t group)
{
    const schedq_group_spec_t spec = describe(actor, group);
    (void)must_or(actor, "group_update", schedq_group_update(actor->worker, group, &spec, NULL),
                  SCHEDQ_NOT_FOUND);
}

static void
activate(actor_t *actor, uint32_t group)
{
    (void)must_or(actor, "group_activate", schedq_group_activate(actor->worker, group, NULL),
                  SCHEDQ_NOT_FOUND);
}

/* ---- cycles ---------------------------------------------------------------------------------- */

static bool
end_pod(actor_t *actor, const record_t *pop, bool done)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_token_t token = {pop->token};
    if (roll(actor, 2) == 0)
        failure.unschedulable = actor->round->plugin;
    uint64_t begin = stamp_begin();
    schedq_status_t status = done ? schedq_done(actor->worker, token)
                                  : schedq_fail(actor->worker, &token, &failure, NULL);
    (void)must_or(actor, done ? "done" : "fail", status, SCHEDQ_GONE);
    record_t *record = note(actor, done ? CALL_DONE : CALL_FAIL, begin, pop->pod);
    record->group = pop->group;
    record->token = pop->token;
    record->status = (uint8_t)status;
    return done && status == SCHEDQ_OK;
}

void
group_end_one(actor_t *actor)
{
    if (actor->in_hand_count > 0)
        end_pod(actor, &actor->in_hand[--actor->in_hand_count], actor->late || roll(actor, 2) == 0);
}

/* Keeps some in hand, which end after the group's cycle. Returns whether one was placed. */
static bool
end_pods(actor_t *actor, const record_t *pops, size_t count)
{
    bool placed = false;
    uint32_t luck = roll(actor, 4);
    for (size_t i = 0; i < count; i++) {
        const record_t pop = pops[i];
        if (!actor->late && roll(actor, 8) == 0 && actor->in_hand_count < IN_HAND_MAX)
            actor->in_hand[actor->in_hand_count++] = pop;
        else
            placed = end_pod(actor, &pop, actor->late || luck > roll(actor, 4)) || placed;
    }
    return placed;
}

static void
end_group(actor_t *actor, const schedq_popped_group_t *group, bool placed)
{
    schedq_group_end_t end = SCHEDQ_GROUP_END_INIT;
    schedq_token_t token = group->token;
    end.outcome = (uint8_t)(placed                ? SCHEDQ_GROUP_PLACED
                            : roll(actor, 2) == 0 ? SCHEDQ_GROUP_REJECTED
                                                  : SCHEDQ_GROUP_ERROR);
    uint64_t begin = stamp_begin();
    must(actor, "group_done", schedq_group_done(actor->worker, &token, &end, NULL));
    record_t *record = note(actor, CALL_END, begin, 0);
    record->group = (uint32_t)group->group;
    record->token = group->token.bits;
    record->outcome = end.outcome;
}

/* The records of what a pop returned. */
static void
note_pops(actor_t *actor, unsigned call, uint64_t begin, const schedq_popped_group_t *group,
          const schedq_popped_t *pods, size_t count, record_t pops[ROOM])
{
    uint64_t end = stamp_settled();
    for (size_t i = 0; i < count; i++) {
        record_t *record = note(actor, call, begin, number_of(pods[i].name));
        record->end = end;
        record->token = pods[i].token.bits;
        record->attempts = pods[i].history.attempts;
        record->group = (uint32_t)group->group;
        record->cycle = group->token.bits;
        pops[i] = *record;
    }
}

static bool
pop_group(actor_t *actor)
{
    schedq_popped_t pods[ROOM];
    schedq_popped_group_t group;
    record_t pops[ROOM];
    size_t count;
    uint64_t begin = stamp_begin();
    schedq_status_t status = schedq_try_pop_group(actor->worker, &group, pods, ROOM, &count);
    if (!must_or(actor, "try_pop_group", status, SCHEDQ_EMPTY))
        return false;
    note_pops(actor, CALL_POP, begin, &group, pods, count, pops);
    bool placed = end_pods(actor, pops, count);
    if (group.group != 0)
        end_group(actor, &group, placed);
    return true;
}

static void
pop(actor_t *actor)
{
    const schedq_popped_group_t none = {0};
    schedq_popped_t pod;
    record_t pops[ROOM];
    uint64_t begin = stamp_begin();
    schedq_status_t status = schedq_try_pop(actor->worker, &pod);
    if (!must_or(actor, "try_pop", status, SCHEDQ_EMPTY))
        return;
    note_pops(actor, CALL_PLAIN_POP, begin, &none, &pod, 1, pops);
    end_pods(actor, pops, 1);
}

/* ---- a round --------------------------------------------------------------------------------- */

void
group_act(actor_t *actor)
{
    uint32_t chance = roll(actor, 100);
    if (chance < 35)
        add(actor);
    else if (chance < 42)
        declare(actor);
    else if (chance < 82)
        (void)pop_group(actor);
    else if (chance < 86)
        pop(actor);
    else if (chance < 89)
        delete_some(actor);
    else if (chance < 92)
        notify(actor);
    else if (chance < 94)
        tick(actor);
    else if (chance < 95)
        activate(actor, 1 + roll(actor, GROUPS));
    else if (chance < 96)
        update(actor, 1 + roll(actor, GROUPS));
    else
        group_end_one(actor);
}

/* A pod that no pop finds stays behind: RULE_LOST reports it. */
void
group_drain(actor_t *actor)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    actor->late = true;
    while (atomic_load(&actor->round->groups_declared) < GROUPS)
        declare(actor);
    for (uint32_t group = 1; group <= GROUPS; group++)
        update(actor, group);
    for (int i = 0; i < ROUNDS_OF_A_DRAIN; i++) {
        notify(actor);
        tick(actor);
        rest(actor);
        for (uint32_t group = 1; group <= GROUPS; group++)
            activate(actor, group);
        while (pop_group(actor))
            continue;
        (void)schedq_stats(actor->round->queue, &stats);
        if (stats.aside + stats.active + stats.backoff + stats.error_backoff + stats.parked == 0)
            return;
    }
}
