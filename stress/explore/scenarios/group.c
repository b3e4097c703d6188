/*
 * Pods that are tried together. One group with a quorum of QUORUM; its members are the pods 0..5.
 *
 * The whereabouts of each member are noted between calls. Those of a member that a frozen thread's
 * call is about are not known.
 *
 * Claims
 *   a pop of pods returns no member; a pop of groups returns QUORUM at least, until a cycle ended
 *     in PLACED; each member has one holder, and the group is in one cycle at a time
 *   no member that a gate holds is popped before the gates were opened
 *   in the drain, if nobody holds the group: as many members as the quorum wants are popped
 *     together, all that surely wait among them, at the latest after a tick
 *   if nobody is frozen, nothing is left, and the counts of members are 0
 */
#include "actor_calls.h"
#include "cluster.h"
#include "platform.h"
#include "release.h"
#include "scenarios.h"
#include "world.h"

#include <schedq/group.h>
#include <schedq/hold.h>

enum { GANG = 7, OTHER_GANG = 8, QUORUM = 2, MEMBERS = 6, ROOM = 16, NOBODY = SIM_THREADS_MAX + 1 };
enum { KEYS = 4, CALLS = 5 }; /* of programs drawn at random */

/* UNSURE: a call about it runs, or never ends, or another ran meanwhile. */
enum whereabouts { NOWHERE, WAITS, FLIES, UNSURE };

struct member {
    enum whereabouts where;
    unsigned holder;
    schedq_token_t token;
    unsigned calls; /* about it, that run */
    bool mixed;     /* two of them ran at once */
};

static struct {
    struct member members[MEMBERS];
    schedq_token_t token; /* of the cycle */
    unsigned holder;      /* NOBODY: none is open */
    bool placed;          /* perhaps */
    bool declared;        /* surely */
    unsigned changes;     /* threads that declare it, or end that */
    moment popped;        /* when its latest pop ended */
    moment told;          /* when the latest EVENT_PLAIN began whose call is over; NEVER: none */
    bool opened;          /* both gates, and whom that concerns was told */
    bool thinned;         /* perhaps: members left, or were kept back, while it waited */
    uint64_t told_gates;  /* those that were opened, by calls that are over */
} gang;

static void
gang_begin(const struct scenario *scenario)
{
    for (unsigned i = 0; i < MEMBERS; i++) {
        gang.members[i] = (struct member){.where = NOWHERE};
    }
    gang.holder = NOBODY;
    gang.placed = gang.declared = false;
    gang.changes = 0;
    gang.popped = gang.told = NEVER;
    gang.opened = false;
    gang.told_gates = 0;
    gang.thinned = false;
    queue_harness.begin(scenario);
}

/* ---- whereabouts ----------------------------------------------------------------------------- */

static void
call_begins(struct member *member)
{
    member->where = member->where == FLIES ? FLIES : UNSURE;
    member->mixed = member->calls++ > 0;
}

/* Unless it was popped meanwhile. */
static void
call_ends(struct member *member, enum whereabouts where)
{
    if (member->where == UNSURE && !member->mixed) {
        member->where = where;
    }
    member->mixed = --member->calls > 0;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static void
begin(struct actor *actor, const char *text, uint32_t key)
{
    (void)act_begin(actor, text, (struct open_call){.kind = CALL_OTHER, .key = key});
}

static moment
ends(struct actor *actor, const char *text, schedq_status_t status, bool legal)
{
    moment ended = act_end(actor, status);

    SIM_CHECK(legal, "%s returns %s: %s", text, schedq_status_name(status),
              schedq_worker_error(actor->worker));
    return ended;
}

static void
declare(struct actor *actor, uint32_t quorum)
{
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;

    spec.quorum = quorum;
    gang.changes++;
    begin(actor, "group_add", 0);
    schedq_status_t status = schedq_group_add(actor->worker, GANG, &spec, NULL);

    (void)ends(actor, "group_add", status, status == SCHEDQ_OK || status == SCHEDQ_EXISTS);
    gang.changes--;
    gang.declared = gang.changes == 0;
}

static void
undeclare(struct actor *actor)
{
    gang.declared = false;
    gang.changes++;
    begin(actor, "group_delete", 0);
    schedq_status_t status = schedq_group_delete(actor->worker, GANG, NULL);

    (void)ends(actor, "group_delete", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
    gang.changes--;
}

static void
update(struct actor *actor, int32_t priority, uint32_t quorum)
{
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;

    spec.priority = priority;
    spec.quorum = quorum;
    begin(actor, "group_update", 0);
    schedq_status_t status = schedq_group_update(actor->worker, GANG, &spec, NULL);

    (void)ends(actor, "group_update", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
}

static void
activate(struct actor *actor)
{
    begin(actor, "group_activate", 0);
    schedq_status_t status = schedq_group_activate(actor->worker, GANG, NULL);

    (void)ends(actor, "group_activate", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
}

static void
join(struct actor *actor, uint32_t key, int32_t priority)
{
    size_t length;
    const char *name = world_name(key, &length);
    uint64_t object =
        ledger_attempt(&world.ledger, (struct attempt){.key = key, .priority = priority});
    schedq_pod_spec_t spec = act_spec(actor, object);
    schedq_result_t result;

    spec.group = GANG;
    call_begins(&gang.members[key]);
    begin(actor, "add", key);
    schedq_status_t status = schedq_add(actor->worker, name, length, &spec, &result);

    act_attempt_ends(ledger_attempt_of(&world.ledger, object), status,
                     ends(actor, "add", status, status == SCHEDQ_OK));
    SIM_CHECK(result.place == SCHEDQ_ASIDE, "add of a member says place %s",
              schedq_place_name((schedq_place_t)result.place));
    call_ends(&gang.members[key], WAITS);
}

static bool
drop(struct actor *actor, uint32_t key)
{
    struct member *member = &gang.members[key];
    size_t length;
    const char *name = world_name(key, &length);

    call_begins(member);
    begin(actor, "delete", key);
    schedq_status_t status = schedq_delete_name(actor->worker, name, length, NULL);

    (void)ends(actor, "delete", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
    call_ends(member, NOWHERE);
    return status == SCHEDQ_OK;
}

static void
keep_for_a_while(struct actor *actor, uint32_t key)
{
    struct member *member = &gang.members[key];
    schedq_result_t result;
    size_t length;
    const char *name = world_name(key, &length);

    begin(actor, "find", key);
    schedq_status_t status = schedq_find(actor->worker, name, length, &result);

    (void)ends(actor, "find", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
    if (status != SCHEDQ_OK) {
        return;
    }
    const schedq_pod_t pod = result.pod;

    call_begins(member);
    begin(actor, "hold", key);
    status = schedq_hold(actor->worker, pod, &result);
    (void)ends(actor, "hold", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
    begin(actor, "release", key);
    status = schedq_release(actor->worker, pod, &result);
    (void)ends(actor, "release", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
    call_ends(member, UNSURE);
}

static void
note_taken(struct actor *actor, const schedq_popped_t *popped)
{
    uint32_t key = world_key(popped->name, popped->name_length);
    struct member *member = &gang.members[key];

    SIM_CHECK(key < MEMBERS, "pod %u is a member, and was never added as one", key);
    SIM_CHECK(popped->priority >= 0 ||
                  (cluster_opened(GATE_A) != NEVER && cluster_opened(GATE_B) != NEVER),
              "member %u is popped, and no gate let it pass", key);
    SIM_CHECK(member->where != FLIES, "member %u is popped by %u and by %u", key, member->holder,
              actor->number);
    member->where = FLIES;
    member->holder = actor->number;
    member->token = popped->token;
}

static void
note_group(struct actor *actor, const schedq_popped_group_t *group, const schedq_popped_t *popped,
           size_t count, moment ended)
{
    gang.popped = ended;
    SIM_CHECK(group->group == GANG, "group %llu is popped", (unsigned long long)group->group);
    SIM_CHECK(gang.holder == NOBODY, "the group is popped by %u and by %u", gang.holder,
              actor->number);
    SIM_CHECK(count >= QUORUM || gang.placed, "%zu members are popped, the quorum is %u", count,
              QUORUM);
    gang.holder = actor->number;
    gang.token = group->token;
    for (size_t i = 0; i < count; i++) {
        note_taken(actor, &popped[i]);
    }
}

/* Returns how many were popped. */
static size_t
pop(struct actor *actor)
{
    schedq_popped_group_t group;
    schedq_popped_t popped[ROOM];
    size_t count = 0;

    begin(actor, "try_pop_group", 0);
    schedq_status_t status = schedq_try_pop_group(actor->worker, &group, popped, ROOM, &count);

    moment ended = ends(actor, "try_pop_group", status,
                        status == SCHEDQ_OK || status == SCHEDQ_EMPTY ||
                            (status == SCHEDQ_CLOSED && world.ledger.closing != NEVER));
    if (status != SCHEDQ_OK) {
        return 0;
    }
    note_group(actor, &group, popped, count, ended);
    return count;
}

/* Waits for a group, or a pod of none, which ends here. False: CLOSED. */
static bool
pop_waiting(struct actor *actor, size_t *count)
{
    schedq_popped_group_t group;
    schedq_popped_t popped[ROOM];

    begin(actor, "pop_group_until", 0);
    schedq_status_t status =
        schedq_pop_group_until(actor->worker, SCHEDQ_NO_DEADLINE, &group, popped, ROOM, count);

    moment ended =
        ends(actor, "pop_group_until", status, status == SCHEDQ_OK || status == SCHEDQ_CLOSED);
    if (status == SCHEDQ_OK && group.group == 0) {
        *count = 0;
        begin(actor, "done", 0);
        status = schedq_done(actor->worker, popped[0].token);
        (void)ends(actor, "done", status, status == SCHEDQ_OK);
    } else if (status == SCHEDQ_OK) {
        note_group(actor, &group, popped, *count, ended);
    }
    return status == SCHEDQ_OK;
}

static void
pop_pods(struct actor *actor)
{
    schedq_popped_t popped;

    begin(actor, "try_pop", 0);
    schedq_status_t status = schedq_try_pop(actor->worker, &popped);

    (void)ends(actor, "try_pop", status, status == SCHEDQ_OK || status == SCHEDQ_EMPTY);
    SIM_CHECK(status == SCHEDQ_EMPTY, "a pop of pods returns member %u",
              world_key(popped.name, popped.name_length));
}

static void
end_member(struct actor *actor, uint32_t key, bool fails, uint64_t rejectors)
{
    struct member *member = &gang.members[key];
    schedq_token_t token = member->token;
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;

    member->where = UNSURE;
    call_begins(member);
    failure.unschedulable = rejectors;
    begin(actor, fails ? "fail" : "done", key);
    schedq_status_t status = fails ? schedq_fail(actor->worker, &token, &failure, &result)
                                   : schedq_done(actor->worker, token);

    (void)ends(actor, fails ? "fail" : "done", status,
               status == SCHEDQ_OK || status == SCHEDQ_GONE);
    call_ends(member, status == SCHEDQ_OK && fails ? WAITS : NOWHERE);
}

static void
end_cycle(struct actor *actor, schedq_group_outcome_t outcome)
{
    schedq_group_end_t how = SCHEDQ_GROUP_END_INIT;
    schedq_token_t token = gang.token;

    how.outcome = (uint8_t)outcome;
    gang.placed |= outcome == SCHEDQ_GROUP_PLACED;
    gang.holder = NOBODY;
    begin(actor, "group_done", (uint32_t)outcome);
    schedq_status_t status = schedq_group_done(actor->worker, &token, &how, NULL);

    (void)ends(actor, "group_done", status, status == SCHEDQ_OK);
}

static void
end_members(struct actor *actor, bool fails, uint64_t rejectors)
{
    for (uint32_t key = 0; key < MEMBERS; key++) {
        if (gang.members[key].where == FLIES && gang.members[key].holder == actor->number) {
            end_member(actor, key, fails, rejectors);
        }
    }
}

static bool
pop_and_end(struct actor *actor, bool fails, uint64_t rejectors, schedq_group_outcome_t outcome)
{
    if (pop(actor) == 0) {
        return false;
    }
    end_members(actor, fails, rejectors);
    end_cycle(actor, outcome);
    return true;
}

/* ---- drain ----------------------------------------------------------------------------------- */

/* No other thread runs: what a look says is sure. */
static void
look_for_the_unsure(struct actor *healthy)
{
    for (uint32_t key = 0; key < MEMBERS; key++) {
        struct member *member = &gang.members[key];
        schedq_result_t result;
        size_t length;
        const char *name = world_name(key, &length);

        if (member->where == UNSURE &&
            schedq_find(healthy->worker, name, length, &result) == SCHEDQ_OK &&
            result.place == SCHEDQ_ASIDE) {
            member->where = WAITS;
        }
    }
}

static unsigned
sure_to_wait(void)
{
    unsigned count = 0;

    for (uint32_t key = 0; key < MEMBERS; key++) {
        count += gang.members[key].where == WAITS;
    }
    return count;
}

/*
 * Before anything brings it out: what is parked was popped behind the last event that helps it, and
 * what is gated has a gate that is closed, or whose opening was not told.
 */
static schedq_place_t
look_at_record(struct actor *healthy)
{
    schedq_group_info_t info = SCHEDQ_GROUP_INFO_INIT;

    begin(healthy, "group_get", 0);
    schedq_status_t status = schedq_group_get(healthy->worker, GANG, &info);

    (void)ends(healthy, "group_get", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
    if (status != SCHEDQ_OK) {
        return SCHEDQ_NOWHERE;
    }
    SIM_CHECK(info.place != SCHEDQ_PARKED || gang.told == NEVER || gang.popped == NEVER ||
                  gang.popped > gang.told,
              "parked by a cycle since whose pop an event came that helps");
    SIM_CHECK(info.place != SCHEDQ_GATED || !gang.opened, "gated, and both gates are open");
    return (schedq_place_t)info.place;
}

/* A record may back off, be parked, or be gated: time, and a call, bring it. */
static void
bring_out(struct actor *healthy)
{
    cluster_open(GATE_A);
    cluster_open(GATE_B);
    actor_tick(healthy);
    release_rest(healthy);
    actor_tick_after(healthy, BACKOFF_NS * 100);
    release_rest(healthy);
    activate(healthy);
}

static void
settle(struct actor *healthy)
{
    actor_tick(healthy);
    release_rest(healthy);
    /* who stopped in a pop holds the group only if it is in flight */
    bool blocked = look_at_record(healthy) == SCHEDQ_INFLIGHT;

    /* the quorum's latest word is QUORUM */
    if (gang.changes > 0 || !gang.declared) {
        declare(healthy, QUORUM);
    }
    update(healthy, 0, QUORUM);
    bring_out(healthy);
    look_for_the_unsure(healthy);
    for (unsigned round = 0; !blocked && round < MEMBERS; round++) {
        unsigned sure = sure_to_wait();

        if (pop(healthy) > 0) {
            SIM_CHECK(sure_to_wait() == 0, "%u members wait, and were not popped with the others",
                      sure_to_wait());
            end_members(healthy, false, 0);
            end_cycle(healthy, SCHEDQ_GROUP_PLACED);
        } else {
            SIM_CHECK(sure < QUORUM, "%u members wait, and no pop finds their group", sure);
            break;
        }
    }
    pop_pods(healthy);
    if (sim_frozen() > 0) {
        return;
    }
    for (uint32_t key = 0; key < MEMBERS; key++) {
        (void)drop(healthy, key);
    }
    undeclare(healthy);
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    SIM_CHECK(schedq_stats(world.queue, &stats) == SCHEDQ_OK, "stats fails");
    SIM_CHECK(stats.aside == 0 && stats.inflight == 0 && stats.active == 0 && stats.groups == 0,
              "left over: %llu aside, %llu in flight, %llu active, %llu groups",
              (unsigned long long)stats.aside, (unsigned long long)stats.inflight,
              (unsigned long long)stats.active, (unsigned long long)stats.groups);
}

static void
gang_drain(const struct scenario *scenario)
{
    (void)scenario;
    world_check_poppable();
    actor_register(&world.actors[HEALTHY]);
    settle(&world.actors[HEALTHY]);
}

/* Nobody opens a gate: the member behind it has left. A tick finishes for a stopped thread. */
static void
ungated_drain(const struct scenario *scenario)
{
    struct actor *healthy = &world.actors[HEALTHY];

    (void)scenario;
    world_check_poppable();
    actor_register(healthy);
    actor_tick(healthy);
    release_rest(healthy);
    if (gang.members[0].where == NOWHERE) {
        unsigned sure = sure_to_wait();

        if (pop(healthy) > 0) {
            end_members(healthy, false, 0);
            end_cycle(healthy, SCHEDQ_GROUP_PLACED);
        } else {
            SIM_CHECK(sure < QUORUM, "%u members wait behind the gate of one that is gone", sure);
        }
    }
    settle(healthy);
}

static void
gang_thread(const struct scenario *scenario, unsigned thread)
{
    queue_harness.thread(scenario, thread);
}

static void
gang_end(const struct scenario *scenario)
{
    queue_harness.end(scenario);
}

static const struct harness gang_harness = {gang_begin, gang_thread, gang_drain, gang_end};
static const struct harness ungated_harness = {gang_begin, gang_thread, ungated_drain, gang_end};

/* ---- what threads do ------------------------------------------------------------------------- */

static void
declared(struct actor *actor)
{
    declare(actor, QUORUM);
}

static void
one_waits(struct actor *actor)
{
    declare(actor, QUORUM);
    join(actor, 0, 1);
}

static void
two_wait(struct actor *actor)
{
    one_waits(actor);
    join(actor, 1, 1);
}

/* As many as the quorum wants: one more than QUORUM. */
static void
three_wait(struct actor *actor)
{
    declare(actor, QUORUM + 1);
    join(actor, 0, 1);
    join(actor, 1, 1);
    join(actor, 2, 1);
}

static void
two_wait_undeclared(struct actor *actor)
{
    join(actor, 0, 1);
    join(actor, 1, 1);
}

static void
one_is_gated(struct actor *actor)
{
    declare(actor, QUORUM);
    join(actor, 0, -1);
}

static void
two_are_parked(struct actor *actor)
{
    two_wait(actor);
    (void)pop_and_end(actor, true, PLAIN, SCHEDQ_GROUP_REJECTED);
}

static void
join_1(struct actor *actor)
{
    join(actor, 1, 1);
}

static void
join_2(struct actor *actor)
{
    join(actor, 2, 1);
}

static void
join_2_then_1(struct actor *actor)
{
    join(actor, 2, 1);
    join(actor, 1, 1);
}

static void
join_2_and_3(struct actor *actor)
{
    join(actor, 2, 1);
    join(actor, 3, -1);
}

static void
join_4_gated(struct actor *actor)
{
    join(actor, 4, -1);
}

static void
place_twice(struct actor *actor)
{
    pop_pods(actor);
    (void)pop_and_end(actor, false, 0, SCHEDQ_GROUP_PLACED);
    (void)pop_and_end(actor, false, 0, SCHEDQ_GROUP_PLACED);
}

static void
break_once(struct actor *actor)
{
    (void)pop_and_end(actor, true, 0, SCHEDQ_GROUP_ERROR);
}

static void
reject_once(struct actor *actor)
{
    (void)pop_and_end(actor, true, PLAIN, SCHEDQ_GROUP_REJECTED);
}

static void
fail_and_place(struct actor *actor)
{
    (void)pop_and_end(actor, true, HINTED, SCHEDQ_GROUP_PLACED);
}

static void
drop_0(struct actor *actor)
{
    (void)drop(actor, 0);
}

static void
drop_0_and_join(struct actor *actor)
{
    (void)drop(actor, 0);
    join(actor, 5, 1);
}

static void
keep_0(struct actor *actor)
{
    keep_for_a_while(actor, 0);
}

static void
open_a(struct actor *actor)
{
    actor_open(actor, GATE_A);
    actor_open(actor, GATE_B);
    gang.opened = true;
}

static void
plain_event(struct actor *actor)
{
    moment began = world.ledger.now;

    actor_move(actor, EVENT_PLAIN);
    gang.told = began;
}

static void
tick_and_activate(struct actor *actor)
{
    actor_tick_after(actor, BACKOFF_NS * 100);
    activate(actor);
}

static void
declare_it(struct actor *actor)
{
    declare(actor, QUORUM);
}

static void
undeclare_and_declare(struct actor *actor)
{
    undeclare(actor);
    declare(actor, QUORUM);
}

/* Another group gets the record that the gang had, and the gang another one. */
static void
rename_it(struct actor *actor)
{
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;

    undeclare(actor);
    begin(actor, "group_add", 0);
    schedq_status_t status = schedq_group_add(actor->worker, OTHER_GANG, &spec, NULL);

    (void)ends(actor, "group_add", status, status == SCHEDQ_OK);
    declare(actor, QUORUM);
    begin(actor, "group_delete", 0);
    status = schedq_group_delete(actor->worker, OTHER_GANG, NULL);
    (void)ends(actor, "group_delete", status, status == SCHEDQ_OK);
}

/* Object, quorum and priority of one update say the same number. */
static void
look_at_it(struct actor *actor)
{
    schedq_group_info_t info = SCHEDQ_GROUP_INFO_INIT;

    begin(actor, "group_get", 0);
    schedq_status_t status = schedq_group_get(actor->worker, GANG, &info);

    (void)ends(actor, "group_get", status, status == SCHEDQ_OK);
    SIM_CHECK(info.object == info.quorum && info.priority == (int32_t)info.quorum,
              "priority %d, quorum %u, object %llu: of two updates", info.priority, info.quorum,
              (unsigned long long)info.object);
}

static void
update_to(struct actor *actor, uint32_t number)
{
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;

    spec.object = spec.quorum = number;
    spec.priority = (int32_t)number;
    begin(actor, "group_update", 0);
    schedq_status_t status = schedq_group_update(actor->worker, GANG, &spec, NULL);

    (void)ends(actor, "group_update", status, status == SCHEDQ_OK);
    look_at_it(actor);
}

static void
update_to_2(struct actor *actor)
{
    update_to(actor, 2);
}

static void
update_to_3(struct actor *actor)
{
    update_to(actor, 3);
}

static void
declared_as_2(struct actor *actor)
{
    schedq_group_spec_t spec = SCHEDQ_GROUP_SPEC_INIT;

    spec.object = spec.quorum = 2;
    spec.priority = 2;
    schedq_status_t status = schedq_group_add(actor->worker, GANG, &spec, NULL);

    SIM_CHECK(status == SCHEDQ_OK, "group_add returns %s", schedq_status_name(status));
    gang.declared = true;
}

static void
three_wait_as_2(struct actor *actor)
{
    declared_as_2(actor);
    join(actor, 0, 1);
    join(actor, 1, 1);
    join(actor, 2, 1);
}

static void
lower_it(struct actor *actor)
{
    update(actor, 0, QUORUM);
}

static void
change_it(struct actor *actor)
{
    update(actor, 5, 3);
    update(actor, -5, QUORUM);
}

static void
count_objects(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    config->objects = SCHEDQ_OBJECTS_COUNTED;
}

static void
count_objects_behind_gates(schedq_config_t *config)
{
    cluster_use(config);
    config->objects = SCHEDQ_OBJECTS_COUNTED;
}

/* ---- programs drawn at random ---------------------------------------------------------------- */

/*
 * A member may be deleted in flight, and another of its name be there at once: what threads note of
 * names says little, so the drain looks.
 */

static uint32_t
draw(uint32_t limit)
{
    return random_below(sim_random(), limit);
}

static uint64_t
some_rejectors(void)
{
    static const uint64_t sets[] = {PLAIN, PLAIN, HINTED, 0};

    return sets[draw(4)];
}

static void
come(struct actor *actor, uint32_t key)
{
    size_t length;
    const char *name = world_name(key, &length);
    int32_t priority = cluster_has_gates() && draw(4) == 0 ? -1 : (int32_t)draw(4);
    uint64_t object =
        ledger_attempt(&world.ledger, (struct attempt){.key = key, .priority = priority});
    schedq_pod_spec_t spec = act_spec(actor, object);
    schedq_result_t result;

    spec.group = GANG;
    begin(actor, "add", key);
    schedq_status_t status = schedq_add(actor->worker, name, length, &spec, &result);

    act_attempt_ends(ledger_attempt_of(&world.ledger, object), status,
                     ends(actor, "add", status, status == SCHEDQ_OK || status == SCHEDQ_EXISTS));
    SIM_CHECK(status != SCHEDQ_OK || result.place == SCHEDQ_ASIDE, "add of a member says place %s",
              schedq_place_name((schedq_place_t)result.place));
}

static void
describe(struct actor *actor, uint32_t key)
{
    size_t length;
    const char *name = world_name(key, &length);
    int32_t priority = cluster_has_gates() && draw(4) == 0 ? -1 : (int32_t)draw(4);
    uint64_t object =
        ledger_attempt(&world.ledger, (struct attempt){.key = key, .priority = priority});
    schedq_pod_spec_t spec = act_spec(actor, object);
    const schedq_event_t event = draw(2) == 0 ? EVENT_PLAIN : EVENT_HINTED;

    begin(actor, "update", key);
    schedq_status_t status =
        schedq_update(actor->worker, name, length, &spec, 0, &event, draw(2), NULL);

    act_attempt_ends(
        ledger_attempt_of(&world.ledger, object), status,
        ends(actor, "update", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND));
}

static void
leave(struct actor *actor, uint32_t key)
{
    size_t length;
    const char *name = world_name(key, &length);

    gang.thinned = true;
    begin(actor, "delete", key);
    schedq_status_t status = schedq_delete_name(actor->worker, name, length, NULL);

    (void)ends(actor, "delete", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
}

static void
keep_back(struct actor *actor, uint32_t key)
{
    size_t length;
    const char *name = world_name(key, &length);
    uint32_t what = draw(3);
    schedq_result_t result;

    if (schedq_find(actor->worker, name, length, &result) != SCHEDQ_OK) {
        return;
    }
    gang.thinned = true;
    begin(actor, what == 0 ? "hold" : what == 1 ? "release" : "not_before", key);
    schedq_status_t status = what == 0 ? schedq_hold(actor->worker, result.pod, NULL)
                             : what == 1
                                 ? schedq_release(actor->worker, result.pod, NULL)
                                 : schedq_not_before(actor->worker, result.pod,
                                                     draw(2) * (cluster_now() + BACKOFF_NS), NULL);

    (void)ends(actor, "hold, release or not_before", status,
               status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
}

static void
change(struct actor *actor)
{
    switch (draw(4)) {
    case 0:
        undeclare(actor);
        break;
    case 1:
        declare(actor, QUORUM);
        break;
    default:
        update(actor, (int32_t)draw(3), QUORUM + draw(2));
        break;
    }
}

static void
end_one(struct actor *actor, schedq_token_t token, bool fails)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    failure.unschedulable = some_rejectors();
    begin(actor, fails ? "fail" : "done", 0);
    schedq_status_t status = fails ? schedq_fail(actor->worker, &token, &failure, NULL)
                                   : schedq_done(actor->worker, token);

    (void)ends(actor, fails ? "fail" : "done", status,
               status == SCHEDQ_OK || status == SCHEDQ_GONE);
}

static void
check_taken(const schedq_popped_t *popped)
{
    SIM_CHECK(world.config.objects != SCHEDQ_OBJECTS_COUNTED ||
                  ledger_attempt_of(&world.ledger, popped->object)->references > 0,
              "a member is popped with object %llu, which was released",
              (unsigned long long)popped->object);
    SIM_CHECK(popped->name_length > 0 && world_key(popped->name, popped->name_length) < MEMBERS,
              "a member is popped that was never added");
}

/* Some members may end behind the cycle. */
static void
try_it(struct actor *actor)
{
    schedq_popped_group_t group;
    schedq_popped_t popped[ROOM];
    size_t count = 0, behind;

    begin(actor, "try_pop_group", 0);
    schedq_status_t status = schedq_try_pop_group(actor->worker, &group, popped, ROOM, &count);

    moment ended =
        ends(actor, "try_pop_group", status, status == SCHEDQ_OK || status == SCHEDQ_EMPTY);
    if (status != SCHEDQ_OK) {
        return;
    }
    SIM_CHECK(group.group == GANG, "group %llu is popped", (unsigned long long)group.group);
    SIM_CHECK(gang.holder == NOBODY, "the group is popped by %u and by %u", gang.holder,
              actor->number);
    SIM_CHECK(count >= QUORUM || (count > 0 && gang.placed),
              "%zu members are popped, the quorum is %u", count, QUORUM);
    gang.popped = ended;
    gang.holder = actor->number;
    gang.token = group.token;
    for (size_t i = 0; i < count; i++) {
        check_taken(&popped[i]);
    }
    behind = draw(3) == 0 ? draw((uint32_t)count) : count;
    bool fails = draw(3) > 0;
    for (size_t i = 0; i < behind; i++) {
        end_one(actor, popped[i].token, fails || draw(3) == 0);
    }
    end_cycle(actor, draw(3));
    for (size_t i = behind; i < count; i++) {
        end_one(actor, popped[i].token, draw(2) == 0);
    }
}

static void
open_one(struct actor *actor, uint64_t gate)
{
    actor_open(actor, gate);
    gang.told_gates |= gate;
    gang.opened = gang.told_gates == (GATE_A | GATE_B);
}

static void
bring(struct actor *actor)
{
    switch (draw(6)) {
    case 0:
        actor_tick_after(actor, draw(3) * BACKOFF_NS);
        break;
    case 1:
        activate(actor);
        break;
    case 2:
        actor_move(actor, draw(2) == 0 ? EVENT_HINTED : SCHEDQ_EVENT_WILDCARD);
        break;
    case 3:
        open_one(actor, draw(2) == 0 ? GATE_A : GATE_B);
        break;
    default:
        plain_event(actor);
        break;
    }
}

static void
look_or_trim(struct actor *actor)
{
    schedq_group_info_t info = SCHEDQ_GROUP_INFO_INIT;

    switch (draw(3)) {
    case 0:
        actor_trim(actor);
        break;
    case 1:
        pop_pods(actor);
        break;
    default:
        begin(actor, "group_get", 0);
        schedq_status_t status = schedq_group_get(actor->worker, GANG, &info);

        (void)ends(actor, "group_get", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
        break;
    }
}

static void
anything(struct actor *actor)
{
    for (unsigned i = 0; i < CALLS; i++) {
        uint32_t key = draw(KEYS);

        switch (draw(10)) {
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
            change(actor);
            break;
        case 5:
            bring(actor);
            break;
        case 6:
            if (draw(2) == 0) {
                look_or_trim(actor);
            } else {
                describe(actor, key);
            }
            break;
        default:
            try_it(actor);
            break;
        }
    }
}

static void
prepare_any(struct actor *actor)
{
    if (draw(4) > 0) {
        declare(actor, QUORUM);
    }
    for (uint32_t key = 0; key < KEYS; key++) {
        if (draw(4) > 0) {
            come(actor, key);
        }
    }
    if (draw(3) == 0) {
        try_it(actor);
    }
}

/* What a find says of a member that waits is so for all calls behind it. */
static void
look_for_members(struct actor *healthy)
{
    for (uint32_t key = 0; key < MEMBERS; key++) {
        schedq_result_t result;
        size_t length;
        const char *name = world_name(key, &length);
        bool found = schedq_find(healthy->worker, name, length, &result) == SCHEDQ_OK;

        if (found && result.place == SCHEDQ_HELD) {
            (void)schedq_not_before(healthy->worker, result.pod, 0, NULL);
            (void)schedq_release(healthy->worker, result.pod, &result);
        }
        SIM_CHECK(!found || result.place == SCHEDQ_ASIDE ||
                      (result.place == SCHEDQ_INFLIGHT && sim_frozen() > 0),
                  "member %u is %s", key, schedq_place_name((schedq_place_t)result.place));
        gang.members[key] =
            (struct member){.where = found && result.place == SCHEDQ_ASIDE ? WAITS : NOWHERE};
    }
}

/*
 * An event helps by one rejector only, and a record only by a member that waits: where one left or
 * was kept back, it may have been the one that was rejected so.
 */
static void
check_missed(struct actor *healthy)
{
    schedq_group_info_t info = SCHEDQ_GROUP_INFO_INIT;
    bool found = schedq_group_get(healthy->worker, GANG, &info) == SCHEDQ_OK;

    SIM_CHECK(!found || info.place != SCHEDQ_PARKED || gang.thinned ||
                  (info.unschedulable & PLAIN) == 0 || gang.told == NEVER || gang.popped == NEVER ||
                  gang.popped > gang.told,
              "parked by a cycle since whose pop an event came that helps");
    gang.told = NEVER;
}

static void
any_drain(const struct scenario *scenario)
{
    struct actor *healthy = &world.actors[HEALTHY];

    (void)scenario;
    world_check_poppable();
    actor_register(healthy);
    actor_tick(healthy);
    release_rest(healthy);
    gang.declared = false; /* for sure */
    check_missed(healthy);
    look_for_members(healthy);
    settle(healthy);
}

static const struct harness any_harness = {gang_begin, gang_thread, any_drain, gang_end};

#define ANY(title, text, settings)                                                             \
    SCENARIO_OF(&any_harness, true, 0, title, text, settings, prepare_any, anything, anything, \
                anything)

#define GROUP(...) SCENARIO_OF(&gang_harness, true, 0, __VA_ARGS__)

/* words.poppable says 1 for nothing: the group was active, and one of its members has left. */
static void
one_waits_one_left(struct actor *actor)
{
    declared(actor);
    join(actor, 0, 1);
    join(actor, 1, 1);
    (void)drop(actor, 1);
}

static void
pop_pods_twice(struct actor *actor)
{
    pop_pods(actor);
    pop_pods(actor);
}

/* What hosts read when no other call is under way. */
static void
look_at_poppable(struct actor *actor)
{
    (void)sim_wait_for_quiet();
    sim_drain();
    bool said = schedq_words(world.queue)->poppable != 0;

    SIM_CHECK(!pop_and_end(actor, false, 0, SCHEDQ_GROUP_PLACED) || said || sim_frozen() > 0,
              "words.poppable is 0 beside a group");
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void
wait_and_place(struct actor *actor)
{
    size_t count;

    while (pop_waiting(actor, &count)) {
        if (count > 0) {
            end_members(actor, false, 0);
            end_cycle(actor, SCHEDQ_GROUP_PLACED);
        }
    }
}

static void
wait_for_pods(struct actor *actor)
{
    while (actor_pop_wait(actor)) {
        (void)actor_done_all(actor);
    }
}

static void
add_pods(struct actor *actor)
{
    (void)actor_add(actor, MEMBERS, 2);
    (void)actor_add(actor, MEMBERS + 1, 0);
}

static void
wait_elsewhere(struct actor *actor)
{
    int fd;

    one_waits(actor);
    SIM_CHECK(schedq_wait_fd(world.queue, &fd, NULL, 0) == SCHEDQ_OK, "no descriptor");
    (void)pop(actor);
}

static void
loop(struct actor *actor)
{
    bool closed = false;

    while (!closed) {
        platform_poll();
        closed = schedq_words(world.queue)->closed != 0;
        while (pop(actor) > 0) {
            end_members(actor, false, 0);
            end_cycle(actor, SCHEDQ_GROUP_PLACED);
        }
    }
}

static void
place_once(struct actor *actor)
{
    (void)pop_and_end(actor, false, 0, SCHEDQ_GROUP_PLACED);
}

static void
join_1_drop_0_and_join(struct actor *actor)
{
    join(actor, 1, 1);
    (void)drop(actor, 0);
    join(actor, 2, 1);
}

/* As world_heal, of a group. Thread 0 takes groups. */
static void
heal(struct actor *actor)
{
    for (unsigned i = 0; i < SIM_THREADS_MAX; i++) {
        if (sim_wait_for_quiet()) {
            return;
        }
        SIM_CHECK(sim_frozen() > 0 || (pop(actor) == 0 && !actor_pop(actor)),
                  "lost wake-up: a thread sleeps beside a group, or a pod");
        if (i == SIM_THREADS_MAX - 1) {
            sim_drain();
        }
        actor_tick(actor);
    }
    if (!sim_wait_for_quiet()) {
        SIM_CHECK(sim_is_frozen(0) || pop(actor) == 0,
                  "a thread sleeps beside a group, and ticks do not wake it");
        actor_close(actor);
    }
}

/* The queue may be closed: what could be popped was. */
static void
wait_drain(const struct scenario *scenario)
{
    struct actor *healthy = &world.actors[HEALTHY];
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    (void)scenario;
    actor_register(healthy);
    SIM_CHECK(schedq_stats(world.queue, &stats) == SCHEDQ_OK, "stats fails");
    SIM_CHECK(stats.active == 0 || sim_frozen() > 0, "%llu pods are active, and nobody waits",
              (unsigned long long)stats.active);
}

static const struct harness wait_harness = {gang_begin, gang_thread, wait_drain, gang_end};

const struct scenario group_scenarios[] = {
    GROUP("group_join", "members join, and the group is popped", cluster_use_without_gates,
          declared, join_1, join_2, place_twice),
    GROUP("group_pops", "two pop while a third member joins", cluster_use_without_gates, two_wait,
          join_2, place_twice, fail_and_place),
    GROUP("group_error", "a cycle ends with an error while members join", cluster_use_without_gates,
          two_wait, break_once, join_2, tick_and_activate),
    GROUP("group_reject", "the same, rejected, and an event comes", cluster_use_without_gates,
          two_wait, reject_once, join_2, plain_event),
    GROUP("group_parked", "a parked group: an event, a newcomer, a pop", cluster_use_without_gates,
          two_are_parked, plain_event, join_2, place_twice),
    GROUP("group_delete", "a member is deleted while its group is popped",
          cluster_use_without_gates, two_wait, drop_0, place_twice, join_2),
    GROUP("group_leave", "one leaves, one comes, one is held", cluster_use_without_gates, two_wait,
          drop_0_and_join, keep_0, fail_and_place),
    GROUP("group_flight", "a member is deleted, or held, in the cycle", cluster_use_without_gates,
          two_wait, fail_and_place, drop_0, keep_0),
    GROUP("group_gate", "gates open while members come to stand behind them", cluster_use,
          one_is_gated, join_1, open_a, place_twice),
    GROUP("group_gates", "a gated member joins a group that is active", cluster_use, two_wait,
          join_4_gated, open_a, fail_and_place),
    GROUP("group_newcomer", "a gated member joins while its group is popped", cluster_use, two_wait,
          join_4_gated, place_twice, join_2),
    GROUP("group_ungate", "the member that gates its group is deleted", cluster_use, one_is_gated,
          join_2_and_3, drop_0_and_join, place_twice),
    SCENARIO_OF(&ungated_harness, true, 0, "group_gone",
                "the same while its group is asked, and no gate opens", cluster_use, one_is_gated,
                join_1, drop_0, join_2),
    GROUP("group_declare", "a group is declared while members come", cluster_use_without_gates,
          two_wait_undeclared, declare_it, drop_0_and_join, place_twice),
    GROUP("group_undeclare", "a declaration ends, and comes again, while the group is popped",
          cluster_use_without_gates, two_wait, undeclare_and_declare, fail_and_place, join_2),
    GROUP("group_declares", "two declare and end that", cluster_use_without_gates, two_wait,
          undeclare_and_declare, undeclare_and_declare, drop_0_and_join),
    GROUP("group_renamed", "another group gets the record while members come",
          cluster_use_without_gates, declared, join_2_then_1, rename_it, place_twice),
    GROUP("group_update", "quorum and priority change while the group is popped",
          cluster_use_without_gates, two_wait, change_it, join_2, fail_and_place),
    GROUP("group_lowered", "the quorum falls while the group is popped, and a member leaves",
          cluster_use_without_gates, three_wait, place_twice, drop_0, lower_it),
    GROUP("group_updates", "two updates at once, and a look", cluster_use_without_gates,
          three_wait_as_2, update_to_2, update_to_3, look_at_it),
    GROUP("group_activate", "an activation in the cycle", cluster_use_without_gates, two_wait,
          reject_once, tick_and_activate, place_twice),
    GROUP("group_counted", "members whose objects are counted leave while their group is popped",
          count_objects, two_wait, drop_0_and_join, place_twice, reject_once),
    SCENARIO_OF(&gang_harness, true, 1, "group_poppable",
                "what words.poppable says behind pops of pods that pass a group by",
                cluster_use_without_gates, one_waits_one_left, join_2, pop_pods_twice,
                look_at_poppable),
    SCENARIO_OF(&wait_harness, true, 1, "group_sleep",
                "two sleepers of groups, one whose wake-up is another's, and one who joins",
                cluster_use_without_gates, one_waits, wait_and_place, wait_and_place, join_2, heal),
    SCENARIO_OF(&wait_harness, true, 1, "group_sleep_leave",
                "a sleeper of groups beside one of pods while members come and leave",
                cluster_use_without_gates, one_waits, wait_and_place, wait_for_pods,
                join_1_drop_0_and_join, heal),
    {.name = "group_sleep_pods",
     .about = "sleepers of groups and of pods, a group and pods that come: none sleeps beside one",
     .harness = &wait_harness,
     .threads = 5,
     .steady = 1,
     .never_frozen = true,
     .sleeps = true,
     .configure = cluster_use_without_gates,
     .prepare = one_waits,
     .bodies = {wait_and_place, wait_for_pods, join_2, add_pods, heal}},
    SCENARIO_OF(&wait_harness, true, 1, "group_elsewhere",
                "loops that wait for the descriptor take groups, against a pop and a join",
                cluster_use_without_gates, wait_elsewhere, loop, join_2, place_once, heal),
    ANY("group_any", "any calls, of members of a group", cluster_use_without_gates),
    ANY("group_any_counted", "the same with counted objects", count_objects),
    ANY("group_any_gated", "the same behind gates", count_objects_behind_gates),
    GROUP("group_asked", "the same, while their gates are asked", count_objects_behind_gates,
          one_is_gated, drop_0_and_join, open_a, join_2_and_3),
    {.name = NULL},
};
