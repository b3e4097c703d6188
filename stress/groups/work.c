/*
 * What threads do at random: they add members and pods in no group, declare groups, pop both, end
 * some and fail the others, delete, notify, update and activate.
 */
#include "work.h"

#include "history/stamp.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 64, ROUNDS_OF_A_DRAIN = 20000 };

static uint32_t
roll(actor_t *actor, uint32_t sides)
{
    actor->dice = actor->dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(actor->dice >> 33) % sides;
}

/* Ends the program: the header does not allow this answer here. */
static void
must(const actor_t *actor, const char *call, schedq_status_t status)
{
    fprintf(stdout, "%s answers %s: %s\n", call, schedq_status_name(status),
            schedq_worker_error(actor->worker));
    fflush(stdout);
    _Exit(1);
}

static record_t *
take_record(actor_t *actor)
{
    if (actor->count == sizeof actor->records / sizeof *actor->records) {
        fprintf(stderr, "schedq-group-history: more than %zu calls in a round\n", actor->count);
        _Exit(1);
    }
    record_t *record = &actor->records[actor->count++];
    *record = (record_t){.thread = (uint8_t)actor->number, .late = actor->late};
    return record;
}

static void
note(actor_t *actor, book_call_t call, uint64_t begin, uint32_t pod, uint32_t group)
{
    record_t *record = take_record(actor);
    record->call = (uint8_t)call;
    record->begin = begin;
    record->end = stamp_settled();
    record->pod = pod;
    record->group = group;
}

/* ---- pods come and go ------------------------------------------------------------------------ */

static int
name_of(char name[16], uint32_t pod)
{
    return snprintf(name, 16, "p%u", pod);
}

static void
add(actor_t *actor)
{
    uint32_t pod = atomic_fetch_add(&actor->round->pods_added, 1);
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    char name[16];
    if (pod >= PODS)
        return;
    spec.object = pod;
    spec.group = group_of(pod);
    spec.priority = (int32_t)roll(actor, 4);
    uint64_t begin = stamp_begin();
    schedq_status_t status =
        schedq_add(actor->worker, name, (size_t)name_of(name, pod), &spec, NULL);
    if (status != SCHEDQ_OK)
        must(actor, "add", status);
    note(actor, CALL_ADD, begin, pod, group_of(pod));
}

static void delete (actor_t *actor)
{
    uint32_t added = atomic_load(&actor->round->pods_added);
    uint32_t pod = roll(actor, added > 0 && added < PODS ? added : PODS);
    char name[16];
    uint64_t begin = stamp_begin();
    schedq_status_t status =
        schedq_delete_name(actor->worker, name, (size_t)name_of(name, pod), NULL);
    if (status == SCHEDQ_OK)
        note(actor, CALL_DELETE, begin, pod, group_of(pod));
    else if (status != SCHEDQ_NOT_FOUND)
        must(actor, "delete", status);
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
    schedq_status_t status = schedq_group_add(actor->worker, group, &spec, NULL);
    if (status != SCHEDQ_OK)
        must(actor, "group_add", status);
    note(actor, CALL_DECLARE, begin, 0, group);
}

static void
update(actor_t *actor, uint32_t group)
{
    const schedq_group_spec_t spec = describe(actor, group);
    schedq_status_t status = schedq_group_update(actor->worker, group, &spec, NULL);
    if (status != SCHEDQ_OK && status != SCHEDQ_NOT_FOUND)
        must(actor, "group_update", status);
}

static void
activate(actor_t *actor, uint32_t group)
{
    schedq_status_t status = schedq_group_activate(actor->worker, group, NULL);
    if (status != SCHEDQ_OK && status != SCHEDQ_NOT_FOUND)
        must(actor, "group_activate", status);
}

static void
notify(actor_t *actor)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_NODE_ADD;
    schedq_status_t status = schedq_notify(actor->worker, &change, NULL);
    if (status != SCHEDQ_OK)
        must(actor, "notify", status);
}

static void
tick(actor_t *actor)
{
    schedq_status_t status = schedq_tick(actor->worker, NULL, NULL);
    if (status != SCHEDQ_OK)
        must(actor, "tick", status);
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
    if (status != SCHEDQ_OK && status != SCHEDQ_GONE)
        must(actor, done ? "done" : "fail", status);
    note(actor, done ? CALL_DONE : CALL_FAIL, begin, pop->pod, pop->group);
    actor->records[actor->count - 1].token = pop->token;
    actor->records[actor->count - 1].status = (uint8_t)status;
    return done && status == SCHEDQ_OK;
}

static void
end_one_in_hand(actor_t *actor)
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
    schedq_status_t status = schedq_group_done(actor->worker, &token, &end, NULL);
    if (status != SCHEDQ_OK)
        must(actor, "group_done", status);
    note(actor, CALL_END, begin, 0, (uint32_t)group->group);
    actor->records[actor->count - 1].token = group->token.bits;
    actor->records[actor->count - 1].outcome = end.outcome;
}

/* The records of what a pop returned. */
static void
note_pops(actor_t *actor, book_call_t call, uint64_t begin, const schedq_popped_group_t *group,
          const schedq_popped_t *pods, size_t count, record_t pops[ROOM])
{
    uint64_t end = stamp_settled();
    for (size_t i = 0; i < count; i++) {
        record_t *record = take_record(actor);
        record->call = (uint8_t)call;
        record->begin = begin;
        record->end = end;
        record->pod = (uint32_t)strtoul(pods[i].name + 1, NULL, 10);
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
    if (status == SCHEDQ_EMPTY)
        return false;
    if (status != SCHEDQ_OK)
        must(actor, "try_pop_group", status);
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
    if (status == SCHEDQ_EMPTY)
        return;
    if (status != SCHEDQ_OK)
        must(actor, "try_pop", status);
    note_pops(actor, CALL_PLAIN_POP, begin, &none, &pod, 1, pops);
    end_pods(actor, pops, 1);
}

/* ---- a round --------------------------------------------------------------------------------- */

static void
act(actor_t *actor)
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
        delete (actor);
    else if (chance < 92)
        notify(actor);
    else if (chance < 94)
        tick(actor);
    else if (chance < 95)
        activate(actor, 1 + roll(actor, GROUPS));
    else if (chance < 96)
        update(actor, 1 + roll(actor, GROUPS));
    else
        end_one_in_hand(actor);
}

void
work(actor_t *actor)
{
    for (unsigned i = 0; i < actor->round->calls; i++) {
        act(actor);
        atomic_fetch_add_explicit(&actor->round->made, 1, memory_order_relaxed);
    }
    while (actor->in_hand_count > 0)
        end_one_in_hand(actor);
}

/* A pod that no pop finds stays behind: RULE_LOST reports it. */
void
work_drain(actor_t *actor)
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
        for (uint32_t group = 1; group <= GROUPS; group++)
            activate(actor, group);
        while (pop_group(actor))
            continue;
        (void)schedq_stats(actor->round->queue, &stats);
        if (stats.aside + stats.active + stats.backoff + stats.error_backoff + stats.parked == 0)
            return;
    }
}
