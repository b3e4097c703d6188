/*
 * Groups below groups, and pods in no group among them: programs drawn at random.
 *
 * Each name belongs to one group, or to none, for an episode. So does the parent of each group,
 * except in episodes that are wild.
 *
 * Claims
 *   a pop of pods returns no member; a pop of groups returns members of one root, of each group as
 *     many as some quorum that it may have had wants, and of so many groups that the root is
 *     complete; a group is in one cycle at a time, and a pod in one flight
 *   no pod that gates hold is popped before they were open
 *   if no thread is frozen, after one tick: the words, and `waiting` of each group, are what a walk
 *     counts, and no record of a complete root is aside
 *   in the drain: no complete group, and no record that is active, is left by pops; with a quorum
 *     of 1 nothing is left
 */
#include "actor_calls.h"
#include "cluster.h"
#include "release.h"
#include "scenarios.h"
#include "world.h"

#include <schedq/group.h>
#include <schedq/hold.h>

enum { GROUPS = 4, MEMBERS = 5, PODS = 7, CALLS = 6, ROOM = 16, QUORUMS = 2 };
enum { FLIGHTS = 64, SETTINGS = 256, CLASS = 3, NO_THREAD = SIM_THREADS_MAX + 1 };
enum { ALLOCATIONS_A_FAILURE = 4, PATIENCE_NS = 8 * BACKOFF_NS, LONG_NS = 1000 * BACKOFF_NS };

/* A call that gives a group a quorum; of an end of its declaration: ENDED. */
struct setting {
    uint64_t group;
    uint32_t quorum;
    bool is_void; /* it changed nothing */
    moment began, ended;
};
#define ENDED UINT32_MAX

static struct {
    bool wild;
    uint64_t group_of[PODS];
    uint64_t parents[GROUPS + 1];
    unsigned holders[GROUPS + 1];
    bool placed[GROUPS + 1]; /* perhaps */
    uint64_t flights[FLIGHTS];
    struct setting settings[SETTINGS];
    uint32_t setting_count;
    uint64_t were_open;   /* gates, at some time */
    bool described[PODS]; /* an update may have changed its priority while no gate was asked */
} family;

static uint32_t
draw(uint32_t limit)
{
    return random_below(sim_random(), limit);
}

static void
family_begin(const struct scenario *scenario)
{
    family.wild = draw(4) == 0;
    family.setting_count = 0;
    family.were_open = 0;
    for (uint32_t i = 0; i < FLIGHTS; i++) {
        family.flights[i] = 0;
    }
    for (uint32_t key = 0; key < PODS; key++) {
        family.group_of[key] = key < MEMBERS ? 1 + draw(GROUPS) : 0;
        family.described[key] = false;
    }
    for (uint32_t group = 1; group <= GROUPS; group++) {
        family.parents[group] = draw(4) == 0 || group == 1 ? 0 : 1 + draw(group - 1);
        family.holders[group] = NO_THREAD;
        family.placed[group] = false;
    }
    queue_harness.begin(scenario);
}

/* ---- calls ----------------------------------------------------------------------------------- */

static moment
begin(struct actor *actor, const char *text, uint32_t number)
{
    return act_begin(actor, text, (struct open_call){.kind = CALL_OTHER, .key = number});
}

/* `legal`: besides OK. */
static moment
ends(struct actor *actor, const char *text, schedq_status_t status, uint32_t legal)
{
    moment ended = act_end(actor, status);

    SIM_CHECK(status == SCHEDQ_OK || ((legal | world.refusals) >> status & 1) != 0,
              "%s returns %s: %s", text, schedq_status_name(status),
              schedq_worker_error(actor->worker));
    return ended;
}

static uint64_t
some_parent(uint64_t group)
{
    return family.wild && draw(4) == 0 ? (group + draw(GROUPS)) % (GROUPS + 1)
                                       : family.parents[group];
}

static uint32_t
may_be_wild(void)
{
    return family.wild ? OP_LEGAL(SCHEDQ_INVALID) : 0;
}

static struct setting *
set(uint64_t group, uint32_t quorum)
{
    SIM_CHECK(family.setting_count < SETTINGS, "more settings than %u", SETTINGS);
    struct setting *setting = &family.settings[family.setting_count++];

    *setting = (struct setting){.group = group, .quorum = quorum, .ended = NEVER};
    return setting;
}

static void
has_set(struct setting *setting, schedq_status_t status, moment ended)
{
    setting->is_void = status != SCHEDQ_OK;
    setting->ended = ended;
}

static schedq_group_spec_t
some_spec(uint32_t quorum)
{
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;

    spec.quorum = quorum;
    spec.priority = (int32_t)draw(3);
    return spec;
}

static void
declare(struct actor *actor, uint64_t group, uint32_t quorum)
{
    struct setting *setting = set(group, quorum);
    schedq_group_spec_t spec = some_spec(quorum);

    spec.parent = some_parent(group);
    setting->began = begin(actor, "group_add", (uint32_t)group);
    schedq_status_t status = schedq_group_add(actor->worker, group, &spec, NULL);

    has_set(setting, status,
            ends(actor, "group_add", status, OP_LEGAL(SCHEDQ_EXISTS) | may_be_wild()));
}

static void
undeclare(struct actor *actor, uint64_t group)
{
    struct setting *setting = set(group, ENDED);

    setting->began = begin(actor, "group_delete", (uint32_t)group);
    schedq_status_t status = schedq_group_delete(actor->worker, group, NULL);

    has_set(setting, status, ends(actor, "group_delete", status, OP_LEGAL(SCHEDQ_NOT_FOUND)));
}

static void
update(struct actor *actor, uint64_t group, uint64_t parent, uint32_t quorum)
{
    struct setting *setting = set(group, quorum);
    schedq_group_spec_t spec = some_spec(quorum);

    spec.parent = parent;
    setting->began = begin(actor, "group_update", (uint32_t)group);
    schedq_status_t status = schedq_group_update(actor->worker, group, &spec, NULL);

    has_set(setting, status,
            ends(actor, "group_update", status, OP_LEGAL(SCHEDQ_NOT_FOUND) | may_be_wild()));
}

static void
activate_group(struct actor *actor, uint64_t group)
{
    begin(actor, "group_activate", (uint32_t)group);
    schedq_status_t status = schedq_group_activate(actor->worker, group, NULL);

    (void)ends(actor, "group_activate", status, OP_LEGAL(SCHEDQ_NOT_FOUND));
}

static bool
look_at_group(struct actor *actor, uint64_t group, schedq_group_info_t *info)
{
    *info = (schedq_group_info_t)SCHEDQ_GROUP_INFO_INIT;
    begin(actor, "group_get", (uint32_t)group);
    schedq_status_t status = schedq_group_get(actor->worker, group, info);

    (void)ends(actor, "group_get", status, OP_LEGAL(SCHEDQ_NOT_FOUND));
    return status == SCHEDQ_OK;
}

/* ---- pods ------------------------------------------------------------------------------------ */

static uint64_t
object_of(uint32_t key)
{
    int32_t priority = cluster_has_gates() && draw(4) == 0 ? -1 : (int32_t)draw(3);
    struct attempt attempt = {.key = key, .priority = priority};

    attempt.class_id = draw(3) == 0 ? CLASS : 0;
    attempt.not_before_ns = draw(8) == 0 ? cluster_now() + BACKOFF_NS : 0;
    return ledger_attempt(&world.ledger, attempt);
}

static void
come(struct actor *actor, uint32_t key)
{
    size_t length;
    const char *name = world_name(key, &length);
    uint64_t object = object_of(key);
    schedq_pod_spec_t spec = act_spec(actor, object);
    schedq_result_t result;

    spec.group = family.group_of[key];
    spec.nominated_node = draw(4) == 0 ? 1 + draw(2) : 0;
    begin(actor, "add", key);
    schedq_status_t status = schedq_add(actor->worker, name, length, &spec, &result);

    act_attempt_ends(ledger_attempt_of(&world.ledger, object), status,
                     ends(actor, "add", status, OP_LEGAL(SCHEDQ_EXISTS)));
    SIM_CHECK(status != SCHEDQ_OK || result.place == SCHEDQ_HELD ||
                  (result.place == SCHEDQ_ASIDE) == (spec.group != 0),
              "add of pod %u, of group %llu, says place %s", key, (unsigned long long)spec.group,
              schedq_place_name((schedq_place_t)result.place));
}

static void
describe(struct actor *actor, uint32_t key)
{
    size_t length;
    const char *name = world_name(key, &length);
    uint64_t object = object_of(key);
    schedq_pod_spec_t spec = act_spec(actor, object);
    const schedq_event_t event = draw(2) == 0 ? EVENT_PLAIN : EVENT_HINTED;

    spec.nominated_node = draw(4) == 0 ? 1 + draw(2) : 0;
    family.described[key] = true;
    begin(actor, "update", key);
    schedq_status_t status =
        schedq_update(actor->worker, name, length, &spec, 0, &event, draw(2), NULL);

    act_attempt_ends(ledger_attempt_of(&world.ledger, object), status,
                     ends(actor, "update", status, OP_LEGAL(SCHEDQ_NOT_FOUND)));
}

static void
leave(struct actor *actor, uint32_t key)
{
    size_t length;
    const char *name = world_name(key, &length);

    begin(actor, "delete", key);
    schedq_status_t status = schedq_delete_name(actor->worker, name, length, NULL);

    (void)ends(actor, "delete", status, OP_LEGAL(SCHEDQ_NOT_FOUND));
}

/* NOWHERE: not found. */
static schedq_place_t
find(struct actor *actor, uint32_t key, schedq_result_t *result)
{
    size_t length;
    const char *name = world_name(key, &length);

    begin(actor, "find", key);
    schedq_status_t status = schedq_find(actor->worker, name, length, result);

    (void)ends(actor, "find", status, OP_LEGAL(SCHEDQ_NOT_FOUND));
    return status == SCHEDQ_OK ? (schedq_place_t)result->place : SCHEDQ_NOWHERE;
}

static void
keep_back(struct actor *actor, uint32_t key)
{
    schedq_result_t result;
    schedq_status_t status;

    if (find(actor, key, &result) == SCHEDQ_NOWHERE) {
        return;
    }
    switch (draw(4)) {
    case 0:
        begin(actor, "hold", key);
        status = schedq_hold(actor->worker, result.pod, NULL);
        break;
    case 1:
        begin(actor, "release", key);
        status = schedq_release(actor->worker, result.pod, NULL);
        break;
    case 2:
        begin(actor, "nominate", key);
        status = schedq_nominate(actor->worker, result.pod, draw(3));
        break;
    default:
        begin(actor, "not_before", key);
        status = schedq_not_before(actor->worker, result.pod,
                                   draw(2) * (cluster_now() + BACKOFF_NS), NULL);
        break;
    }
    (void)ends(actor, "hold, release, nominate or not_before", status, OP_LEGAL(SCHEDQ_NOT_FOUND));
}

/* ---- what pops return ------------------------------------------------------------------------ */

static uint32_t
takes_off(const schedq_popped_t *popped)
{
    const struct attempt *attempt = ledger_attempt_of(&world.ledger, popped->object);
    uint32_t key = world_key(popped->name, popped->name_length), free = FLIGHTS;

    SIM_CHECK(key < PODS, "pod %u is popped, and was never added", key);
    SIM_CHECK(popped->priority >= 0 || family.described[key] ||
                  family.were_open == (GATE_A | GATE_B),
              "pod %u is popped, and no gate let it pass", key);
    SIM_CHECK(world.config.objects != SCHEDQ_OBJECTS_COUNTED || attempt->references > 0,
              "pod %u is popped with object %llu, which was released", key,
              (unsigned long long)popped->object);
    for (uint32_t i = 0; i < FLIGHTS; i++) {
        SIM_CHECK(family.flights[i] != popped->pod.bits, "pod %u is popped twice", key);
        free = family.flights[i] == 0 ? i : free;
    }
    SIM_CHECK(free < FLIGHTS, "more flights than %u", FLIGHTS);
    family.flights[free] = popped->pod.bits;
    return key;
}

static void
lands(const schedq_popped_t *popped)
{
    for (uint32_t i = 0; i < FLIGHTS; i++) {
        family.flights[i] = family.flights[i] == popped->pod.bits ? 0 : family.flights[i];
    }
}

static bool
was_replaced(const struct setting *old, moment before)
{
    for (uint32_t i = 0; i < family.setting_count; i++) {
        const struct setting *newer = &family.settings[i];

        if (newer->group == old->group && !newer->is_void && newer->ended < before &&
            newer->began > old->ended) {
            return true;
        }
    }
    return false;
}

/* The smallest that the group may have had in this span. */
static uint32_t
smallest_quorum(uint64_t group, moment began, moment ended)
{
    uint32_t smallest = ENDED;

    for (uint32_t i = 0; i < family.setting_count; i++) {
        const struct setting *setting = &family.settings[i];

        if (setting->group == group && !setting->is_void && setting->began < ended &&
            setting->quorum < smallest && !was_replaced(setting, began)) {
            smallest = setting->quorum;
        }
    }
    return smallest == ENDED ? ENDED : family.placed[group] || smallest == 0 ? 1 : smallest;
}

/* By how many members each group has, and how many it needs. */
static bool
is_complete(uint64_t group, const uint32_t *here, const uint32_t *needs, const uint64_t *parents)
{
    uint32_t below = 0;

    for (uint64_t other = 1; other <= GROUPS; other++) {
        below += parents[other] == group && is_complete(other, here, needs, parents);
    }
    return here[group] >= needs[group] || below >= needs[group];
}

static bool
is_below(uint64_t group, uint64_t root, const uint64_t *parents)
{
    uint64_t at = group;

    for (unsigned i = 0; i < GROUPS && at != root && at != 0; i++) {
        at = parents[at];
    }
    return at == root;
}

static void
check_group(uint64_t root, const schedq_popped_t *popped, size_t count, struct span span)
{
    uint32_t here[GROUPS + 1] = {0}, needs[GROUPS + 1] = {0};

    for (size_t i = 0; i < count; i++) {
        uint64_t group = family.group_of[takes_off(&popped[i])];

        SIM_CHECK(group != 0, "a pod of no group is popped among %zu others", count);
        SIM_CHECK(family.wild || is_below(group, root, family.parents),
                  "a member of group %llu is popped with root %llu", (unsigned long long)group,
                  (unsigned long long)root);
        here[group]++;
    }
    for (uint64_t group = 1; group <= GROUPS; group++) {
        needs[group] = smallest_quorum(group, span.began, span.ended);
        SIM_CHECK(here[group] == 0 || here[group] >= needs[group],
                  "%u members of group %llu are popped, the quorum is %u", here[group],
                  (unsigned long long)group, needs[group]);
    }
    SIM_CHECK(count > 0 && (family.wild || is_complete(root, here, needs, family.parents)),
              "group %llu is popped, and is incomplete", (unsigned long long)root);
}

/* Returns how many were taken. */
static size_t
take(struct actor *actor, schedq_popped_group_t *group, schedq_popped_t *popped)
{
    struct span span;
    size_t count = 0;

    span.began = begin(actor, "try_pop_group", 0);
    schedq_status_t status = schedq_try_pop_group(actor->worker, group, popped, ROOM, &count);

    span.ended = ends(actor, "try_pop_group", status, OP_LEGAL(SCHEDQ_EMPTY));
    if (status != SCHEDQ_OK) {
        return 0;
    }
    if (group->group == 0) {
        SIM_CHECK(count == 1 && family.group_of[takes_off(popped)] == 0,
                  "%zu members are popped without a group", count);
        return count;
    }
    SIM_CHECK(group->group <= GROUPS && family.holders[group->group] == NO_THREAD,
              "group %llu is popped by %u and by %u", (unsigned long long)group->group,
              family.holders[group->group], actor->number);
    family.holders[group->group] = actor->number;
    check_group(group->group, popped, count, span);
    return count;
}

static void
end_pod(struct actor *actor, const schedq_popped_t *popped, bool fails)
{
    static const uint64_t sets[] = {PLAIN, PLAIN, HINTED, 0};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_token_t token = popped->token;
    schedq_status_t status;

    failure.unschedulable = sets[draw(4)];
    lands(popped);
    do {
        begin(actor, fails ? "fail" : "done", world_key(popped->name, popped->name_length));
        status = fails ? schedq_fail(actor->worker, &token, &failure, NULL)
                       : schedq_done(actor->worker, token);
        (void)ends(actor, fails ? "fail" : "done", status, OP_LEGAL(SCHEDQ_GONE));
    } while (status == SCHEDQ_NOMEM);
}

static void
end_cycle(struct actor *actor, const schedq_popped_group_t *group, schedq_group_outcome_t outcome)
{
    schedq_group_end_t how = SCHEDQ_GROUP_END_INIT;
    schedq_token_t token = group->token;
    schedq_status_t status;

    how.outcome = (uint8_t)outcome;
    for (uint64_t other = 1; other <= GROUPS; other++) {
        family.placed[other] |= outcome == SCHEDQ_GROUP_PLACED;
    }
    family.holders[group->group] = NO_THREAD;
    do {
        begin(actor, "group_done", (uint32_t)outcome);
        status = schedq_group_done(actor->worker, &token, &how, NULL);
        (void)ends(actor, "group_done", status, 0);
    } while (status == SCHEDQ_NOMEM);
}

/* Some members may end behind the cycle. */
static void
try_it(struct actor *actor)
{
    schedq_popped_group_t group;
    schedq_popped_t popped[ROOM];
    size_t count = take(actor, &group, popped);
    size_t behind = count > 0 && draw(3) == 0 ? draw((uint32_t)count) : count;
    bool fails = draw(3) > 0;

    for (size_t i = 0; i < behind; i++) {
        end_pod(actor, &popped[i], fails || draw(3) == 0);
    }
    if (count > 0 && group.group != 0) {
        end_cycle(actor, &group, draw(4) == 0 ? SCHEDQ_GROUP_PLACED : 1 + draw(2));
    }
    for (size_t i = behind; i < count; i++) {
        end_pod(actor, &popped[i], draw(2) == 0);
    }
}

static void
try_pod(struct actor *actor)
{
    schedq_popped_t popped;

    begin(actor, "try_pop", 0);
    schedq_status_t status = schedq_try_pop(actor->worker, &popped);

    (void)ends(actor, "try_pop", status, OP_LEGAL(SCHEDQ_EMPTY));
    if (status == SCHEDQ_OK) {
        uint32_t key = takes_off(&popped);

        SIM_CHECK(family.group_of[key] == 0, "a pop of pods returns member %u", key);
        end_pod(actor, &popped, draw(2) == 0);
    }
}

/* ---- what threads do ------------------------------------------------------------------------- */

static void
change(struct actor *actor)
{
    uint64_t group = 1 + draw(GROUPS);

    switch (draw(4)) {
    case 0:
        undeclare(actor, group);
        break;
    case 1:
        declare(actor, group, 1 + draw(QUORUMS));
        break;
    default:
        update(actor, group, some_parent(group), 1 + draw(QUORUMS));
        break;
    }
}

static void
turn_gate(struct actor *actor)
{
    uint64_t gate = draw(2) == 0 ? GATE_A : GATE_B;

    if (draw(3) == 0) {
        cluster_shut(gate);
    } else {
        family.were_open |= gate;
        actor_open(actor, gate);
    }
}

static void
bring(struct actor *actor)
{
    switch (draw(6)) {
    case 0:
        actor_tick_after(actor, draw(3) * BACKOFF_NS);
        break;
    case 1:
        activate_group(actor, 1 + draw(GROUPS));
        break;
    case 2:
        actor_move(actor, draw(2) == 0 ? EVENT_HINTED : SCHEDQ_EVENT_WILDCARD);
        break;
    case 3:
        turn_gate(actor);
        break;
    default:
        actor_move(actor, EVENT_PLAIN);
        break;
    }
}

static void
keep_up(struct actor *actor)
{
    schedq_group_info_t info;

    switch (draw(4)) {
    case 0:
        actor_trim(actor);
        break;
    case 1:
        actor_unregister(actor);
        actor_register(actor);
        break;
    case 2:
        actor_succeed(actor);
        break;
    default:
        (void)look_at_group(actor, 1 + draw(GROUPS), &info);
        break;
    }
}

static void
anything(struct actor *actor)
{
    for (unsigned i = 0; i < CALLS; i++) {
        uint32_t key = draw(PODS);

        switch (draw(12)) {
        case 0:
        case 1:
            come(actor, key);
            break;
        case 2:
            leave(actor, key);
            break;
        case 3:
            keep_back(actor, key);
            break;
        case 4:
        case 5:
            change(actor);
            break;
        case 6:
            bring(actor);
            break;
        case 7:
            describe(actor, key);
            break;
        case 8:
            keep_up(actor);
            break;
        case 9:
            try_pod(actor);
            break;
        default:
            try_it(actor);
            break;
        }
    }
}

static void
prepare(struct actor *actor)
{
    for (uint64_t group = 1; group <= GROUPS; group++) {
        if (draw(4) > 0) {
            declare(actor, group, 1 + draw(QUORUMS));
        }
    }
    for (uint32_t key = 0; key < PODS; key++) {
        if (draw(4) > 0) {
            come(actor, key);
        }
    }
    if (draw(2) == 0) {
        try_it(actor);
    }
}

static void
prepare_without_memory(struct actor *actor)
{
    prepare(actor);
    world_lacks_memory(ALLOCATIONS_A_FAILURE);
}

/* Group 1 is the root of 2 and 3. Pod 0 is of group 2, pod 1 of group 3. */
static void
small_family(void)
{
    family.wild = false;
    family.parents[1] = 0;
    family.parents[2] = family.parents[3] = 1;
    family.group_of[0] = 2;
    family.group_of[1] = 3;
}

/* Complete by group 3 alone. */
static void
one_of_two_waits(struct actor *actor)
{
    small_family();
    declare(actor, 1, 1);
    declare(actor, 2, 2);
    declare(actor, 3, 1);
    come(actor, 0);
    come(actor, 1);
}

static void
without_a_root(struct actor *actor)
{
    (void)actor;
    small_family();
}

/* What group 2 had is used again. */
static void
undeclare_2(struct actor *actor)
{
    undeclare(actor, 2);
    describe(actor, 1);
}

static void
declare_2(struct actor *actor)
{
    declare(actor, 2, 2);
}

static void
come_0(struct actor *actor)
{
    come(actor, 0);
}

/* ---- drain ----------------------------------------------------------------------------------- */

/* No other thread runs. */
struct walk {
    uint64_t aside, held, nominated;
    schedq_group_info_t infos[GROUPS + 1];
    bool there[GROUPS + 1];
    uint32_t here[GROUPS + 1], needs[GROUPS + 1];
    uint64_t parents[GROUPS + 1];
};

static int
count_pod(void *ctx, const schedq_pod_info_t *info)
{
    struct walk *walk = ctx;
    uint32_t key = world_key(info->name, info->name_length);

    SIM_CHECK(key < PODS && info->group == family.group_of[key], "pod %u is of group %llu", key,
              (unsigned long long)info->group);
    walk->aside += info->place == SCHEDQ_ASIDE;
    walk->held += info->place == SCHEDQ_HELD;
    walk->nominated += info->nominated_node != 0;
    walk->here[info->group] += info->place == SCHEDQ_ASIDE;
    return 1;
}

/* What a find says of a pod is so for all calls behind it. */
static void
look(struct actor *healthy, struct walk *walk)
{
    schedq_result_t result;

    *walk = (struct walk){0};
    for (uint32_t key = 0; key < PODS; key++) {
        (void)find(healthy, key, &result);
    }
    SIM_CHECK(schedq_snapshot(healthy->worker, count_pod, walk) == SCHEDQ_OK, "snapshot fails");
    for (uint64_t group = 1; group <= GROUPS; group++) {
        schedq_group_info_t *info = &walk->infos[group];

        walk->there[group] = look_at_group(healthy, group, info);
        walk->needs[group] = !walk->there[group] ? ENDED : info->quorum == 0 ? 1 : info->quorum;
        /* those in a circle have no root */
        walk->parents[group] = walk->there[group] && info->root != 0 ? info->parent : 0;
    }
}

static void
check_waiting(const struct walk *walk, uint64_t group)
{
    const schedq_group_info_t *info = &walk->infos[group];
    uint64_t waiting = 0;

    for (uint64_t other = 1; other <= GROUPS; other++) {
        bool counts = info->root == 0 ? other == group : is_below(other, group, walk->parents);

        waiting += counts ? walk->here[other] : 0;
    }
    SIM_CHECK(info->waiting == waiting, "of group %llu %llu members wait, it is said that %llu do",
              (unsigned long long)group, (unsigned long long)waiting,
              (unsigned long long)info->waiting);
}

/* A record that is queued may be incomplete until a pop looks at it. */
static void
check_record(const struct walk *walk, uint64_t group)
{
    SIM_CHECK(walk->infos[group].place != SCHEDQ_ASIDE ||
                  !is_complete(group, walk->here, walk->needs, walk->parents),
              "group %llu is complete, and aside", (unsigned long long)group);
}

static void
check_word(const char *name, uint64_t word, uint64_t there)
{
    SIM_CHECK(word == there, "words say %s %llu, there are %llu", name, (unsigned long long)word,
              (unsigned long long)there);
}

static void
check_all(struct actor *healthy)
{
    const schedq_words_t *words = schedq_words(world.queue);
    struct walk walk;

    look(healthy, &walk);
    for (uint64_t group = 1; group <= GROUPS; group++) {
        if (walk.there[group]) {
            check_waiting(&walk, group);
        }
        if (walk.there[group] && walk.infos[group].root == group) {
            check_record(&walk, group);
        }
    }
    check_word("aside", words->aside, walk.aside);
    check_word("held", words->held, walk.held);
    check_word("nominations", words->nominations, walk.nominated);
}

/* Nothing keeps pods or records back any more, but quorums. */
static void
bring_out(struct actor *healthy)
{
    schedq_result_t result;

    for (uint32_t key = 0; key < PODS; key++) {
        if (find(healthy, key, &result) != SCHEDQ_NOWHERE) {
            (void)schedq_not_before(healthy->worker, result.pod, 0, NULL);
            (void)schedq_release(healthy->worker, result.pod, NULL);
        }
    }
    family.were_open = GATE_A | GATE_B;
    actor_open(healthy, GATE_A);
    actor_open(healthy, GATE_B);
    actor_move(healthy, SCHEDQ_EVENT_WILDCARD);
    actor_tick_after(healthy, LONG_NS);
    release_rest(healthy);
    for (uint64_t group = 1; group <= GROUPS; group++) {
        activate_group(healthy, group);
    }
    actor_tick_after(healthy, LONG_NS);
    release_rest(healthy);
}

static void
take_all(struct actor *healthy, schedq_group_outcome_t outcome)
{
    schedq_popped_group_t group;
    schedq_popped_t popped[ROOM];
    size_t count;

    while ((count = take(healthy, &group, popped)) > 0) {
        for (size_t i = 0; i < count; i++) {
            end_pod(healthy, &popped[i], false);
        }
        if (group.group != 0) {
            end_cycle(healthy, &group, outcome);
        }
    }
}

static void
check_no_complete_left(struct actor *healthy)
{
    struct walk walk;

    look(healthy, &walk);
    for (uint64_t group = 1; group <= GROUPS; group++) {
        SIM_CHECK(!walk.there[group] || walk.infos[group].root != group ||
                      walk.infos[group].place == SCHEDQ_INFLIGHT ||
                      (walk.infos[group].place != SCHEDQ_ACTIVE &&
                       !is_complete(group, walk.here, walk.needs, walk.parents)),
                  "group %llu is complete, or active, %s, and no pop finds it",
                  (unsigned long long)group,
                  schedq_place_name((schedq_place_t)walk.infos[group].place));
    }
}

/* Each group is declared, with a quorum of 1. */
static void
ask_little(struct actor *healthy)
{
    schedq_group_info_t info;
    bool wild = family.wild;

    if (wild && sim_frozen() == 0) {
        for (uint64_t group = 1; group <= GROUPS; group++) {
            undeclare(healthy, group);
        }
        family.wild = false;
    }
    for (uint64_t group = 1; group <= GROUPS; group++) {
        declare(healthy, group, 1);
        update(healthy, group,
               look_at_group(healthy, group, &info) ? info.parent : family.parents[group], 1);
    }
    family.wild = wild;
}

static bool
may_be_blocked(const struct walk *walk, uint64_t group)
{
    const schedq_group_info_t *info = &walk->infos[group];

    return sim_frozen() > 0 && (!walk->there[group] || info->root == 0 ||
                                walk->infos[info->root].place == SCHEDQ_INFLIGHT);
}

static void
check_nothing_left(struct actor *healthy)
{
    struct walk walk;
    schedq_result_t result;

    look(healthy, &walk);
    for (uint32_t key = 0; key < PODS; key++) {
        schedq_place_t place = find(healthy, key, &result);

        SIM_CHECK(place == SCHEDQ_NOWHERE || (place == SCHEDQ_INFLIGHT && sim_frozen() > 0) ||
                      (family.group_of[key] != 0 && may_be_blocked(&walk, family.group_of[key])),
                  "pod %u, of group %llu, is %s, and no pop finds it", key,
                  (unsigned long long)family.group_of[key], schedq_place_name(place));
    }
}

static void
check_empty(struct actor *healthy)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    for (uint64_t group = 1; group <= GROUPS; group++) {
        undeclare(healthy, group);
    }
    SIM_CHECK(schedq_stats(world.queue, &stats) == SCHEDQ_OK, "stats fails");
    SIM_CHECK(stats.aside + stats.inflight + stats.active + stats.held + stats.gated +
                      stats.parked + stats.backoff + stats.error_backoff + stats.nominated +
                      stats.groups ==
                  0,
              "left over: %llu aside, %llu in flight, %llu active, %llu groups",
              (unsigned long long)stats.aside, (unsigned long long)stats.inflight,
              (unsigned long long)stats.active, (unsigned long long)stats.groups);
    check_all(healthy);
}

static void
family_drain(const struct scenario *scenario)
{
    struct actor *healthy = &world.actors[HEALTHY];

    (void)scenario;
    world_check_poppable();
    world_has_memory();
    world.refusals = 0;
    actor_register(healthy);
    actor_tick(healthy);
    release_rest(healthy);
    if (sim_frozen() == 0) {
        check_all(healthy);
    }
    bring_out(healthy);
    take_all(healthy, SCHEDQ_GROUP_ERROR);
    check_no_complete_left(healthy);
    ask_little(healthy);
    bring_out(healthy);
    take_all(healthy, SCHEDQ_GROUP_PLACED);
    check_nothing_left(healthy);
    if (sim_frozen() == 0) {
        check_empty(healthy);
    }
}

/* Wherever threads stopped: what a pop takes behind a tick, the tick has told of. */
static void
told_drain(const struct scenario *scenario)
{
    struct actor *healthy = &world.actors[HEALTHY];
    schedq_popped_group_t group;
    schedq_popped_t popped[ROOM];

    (void)scenario;
    world_check_poppable();
    actor_register(healthy);
    sim_drain();
    actor_tick(healthy);
    release_rest(healthy);
    bool said = schedq_words(world.queue)->poppable != 0;

    SIM_CHECK(take(healthy, &group, popped) == 0 || said,
              "words.poppable is 0 behind a tick, and a pop takes pods");
}

static void
family_thread(const struct scenario *scenario, unsigned thread)
{
    queue_harness.thread(scenario, thread);
}

static void
family_end(const struct scenario *scenario)
{
    queue_harness.end(scenario);
}

static const struct harness family_harness = {family_begin, family_thread, family_drain,
                                              family_end};
static const struct harness told_harness = {family_begin, family_thread, told_drain, family_end};

/* ---- configurations -------------------------------------------------------------------------- */

static void
plain(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    config->class_patience_ns = PATIENCE_NS;
}

static void
counted(schedq_config_t *config)
{
    plain(config);
    config->objects = SCHEDQ_OBJECTS_COUNTED;
}

static void
gated(schedq_config_t *config)
{
    cluster_use(config);
    config->class_patience_ns = PATIENCE_NS;
    config->objects = SCHEDQ_OBJECTS_COUNTED;
    config->gates_see_wildcards = (uint8_t)draw(2);
}

#define FAMILY(title, text, settings, before)                                                \
    SCENARIO_OF(&family_harness, true, 0, title, text, settings, before, anything, anything, \
                anything)

const struct scenario family_scenarios[] = {
    SCENARIO_OF(&family_harness, true, 0, "family_undeclared",
                "a group below a root is undeclared while the root is popped", plain,
                one_of_two_waits, try_it, undeclare_2),
    SCENARIO_OF(&family_harness, true, 0, "family_counted",
                "a group without a root is declared while a member comes", plain, without_a_root,
                declare_2, come_0),
    FAMILY("family_any", "any calls, of pods of groups below groups, and of none", plain, prepare),
    SCENARIO_OF(&told_harness, true, 0, "family_any_told",
                "any calls; what is poppable then a tick tells of", plain, prepare, anything,
                anything, anything),
    SCENARIO_OF(&told_harness, true, 0, "family_any_gated_told",
                "the same behind gates that open and shut", gated, prepare, anything, anything,
                anything),
    FAMILY("family_any_counted", "the same with counted objects", counted, prepare),
    FAMILY("family_any_gated", "the same behind gates that open and shut", gated, prepare),
    FAMILY("family_any_no_memory", "the same while one allocation out of four fails", counted,
           prepare_without_memory),
    FAMILY("family_any_gated_no_memory", "the same behind gates that open and shut", gated,
           prepare_without_memory),
    {.name = NULL},
};
