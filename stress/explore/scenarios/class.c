/*
 * Pods that their class keeps back. The pods 0..5 are of one class; a patience that no scenario
 * waits for, but the end of one with frozen threads.
 *
 * Claims
 *   a pod has one holder at a time
 *   behind it, nobody frozen: events, backoffs and ticks bring out all pods, one success after the
 *     other, long before their patience ends: nobody waits without a scout
 *   somebody frozen, or a holder that never reports: the patience does, but for pods that a frozen
 *     thread may have, and what that holder has
 */
#include "actor_calls.h"
#include "cluster.h"
#include "release.h"
#include "scenarios.h"
#include "world.h"

#include <schedq/hold.h>

enum { CLASS = 9, OTHER_CLASS = 10, PODS = 6 };
enum { KEYS = 4, CALLS = 5 }; /* of programs drawn at random */

#define PATIENCE_NS (INT64_C(3600) * 1000000000)
#define ALLOCATIONS_A_FAILURE 3

/* UNSURE: a call about it runs, or never ends. */
enum whereabouts { NOWHERE, WAITS, FLIES, UNSURE };

static struct {
    enum whereabouts where[PODS];
    unsigned holder[PODS];
    schedq_popped_t flying; /* of pod 3, where it is in flight before the threads begin */
    unsigned lost;          /* pods whose holder never reports */
} class;

static void
class_begin(const struct scenario *scenario)
{
    for (unsigned i = 0; i < PODS; i++) {
        class.where[i] = NOWHERE;
    }
    class.lost = 0;
    queue_harness.begin(scenario);
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
add(struct actor *actor, uint32_t key)
{
    size_t length;
    const char *name = world_name(key, &length);
    uint64_t object = ledger_attempt(&world.ledger, (struct attempt){.key = key});
    schedq_pod_spec_t spec = act_spec(actor, object);

    spec.class_id = CLASS;
    class.where[key] = UNSURE;
    begin(actor, "add", key);
    schedq_status_t status = schedq_add(actor->worker, name, length, &spec, NULL);

    act_attempt_ends(ledger_attempt_of(&world.ledger, object), status,
                     ends(actor, "add", status, status == SCHEDQ_OK));
    class.where[key] = class.where[key] == UNSURE ? WAITS : class.where[key];
}

/* False: there was none. */
static bool
pop(struct actor *actor, schedq_popped_t *popped, uint32_t *key)
{
    begin(actor, "try_pop", 0);
    schedq_status_t status = schedq_try_pop(actor->worker, popped);

    (void)ends(actor, "try_pop", status, status == SCHEDQ_OK || status == SCHEDQ_EMPTY);
    if (status != SCHEDQ_OK) {
        return false;
    }
    *key = world_key(popped->name, popped->name_length);
    SIM_CHECK(*key < PODS, "pod %u is popped, and was never added", *key);
    SIM_CHECK(class.where[*key] != FLIES, "pod %u is popped by %u and by %u", *key,
              class.holder[*key], actor->number);
    class.where[*key] = FLIES;
    class.holder[*key] = actor->number;
    return true;
}

static bool
pop_and_place(struct actor *actor)
{
    schedq_popped_t popped;
    uint32_t key;

    if (!pop(actor, &popped, &key)) {
        return false;
    }
    class.where[key] = UNSURE;
    begin(actor, "done", key);
    schedq_status_t status = schedq_done(actor->worker, popped.token);

    (void)ends(actor, "done", status, status == SCHEDQ_OK || status == SCHEDQ_GONE);
    class.where[key] = NOWHERE;
    return true;
}

static void
reject(struct actor *actor, schedq_token_t token, uint32_t key, bool for_own_reasons)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    failure.unschedulable = PLAIN;
    failure.own_reasons = for_own_reasons;
    class.where[key] = UNSURE;
    begin(actor, "fail", key);
    schedq_status_t status = schedq_fail(actor->worker, &token, &failure, NULL);

    (void)ends(actor, "fail", status, status == SCHEDQ_OK || status == SCHEDQ_GONE);
    if (class.where[key] == UNSURE) {
        class.where[key] = status == SCHEDQ_OK ? WAITS : NOWHERE;
    }
}

static void
pop_and_reject(struct actor *actor, bool for_own_reasons)
{
    schedq_popped_t popped;
    uint32_t key;

    if (pop(actor, &popped, &key)) {
        reject(actor, popped.token, key, for_own_reasons);
    }
}

static void
drop(struct actor *actor, uint32_t key)
{
    size_t length;
    const char *name = world_name(key, &length);

    class.where[key] = class.where[key] == FLIES ? FLIES : UNSURE;
    begin(actor, "delete", key);
    schedq_status_t status = schedq_delete_name(actor->worker, name, length, NULL);

    (void)ends(actor, "delete", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
    class.where[key] = class.where[key] == UNSURE ? NOWHERE : class.where[key];
}

static void
change_class(struct actor *actor, uint32_t key, uint64_t number)
{
    size_t length;
    const char *name = world_name(key, &length);
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;

    spec.class_id = number;
    begin(actor, "update", key);
    schedq_status_t status = schedq_update(actor->worker, name, length, &spec, 0, NULL, 0, NULL);

    (void)ends(actor, "update", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
}

/* {0}: it is not there. */
static schedq_pod_t
find(struct actor *actor, uint32_t key)
{
    schedq_result_t result;
    size_t length;
    const char *name = world_name(key, &length);
    bool found = schedq_find(actor->worker, name, length, &result) == SCHEDQ_OK;

    return found ? result.pod : (schedq_pod_t){0};
}

static void
release(struct actor *actor, uint32_t key, schedq_pod_t pod)
{
    begin(actor, "release", key);
    schedq_status_t status = schedq_release(actor->worker, pod, NULL);
    (void)ends(actor, "release", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
}

static void
hold_for_a_while(struct actor *actor, uint32_t key)
{
    const schedq_pod_t pod = find(actor, key);

    if (pod.bits == 0) {
        return;
    }
    begin(actor, "hold", key);
    schedq_status_t status = schedq_hold(actor->worker, pod, NULL);
    (void)ends(actor, "hold", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
    release(actor, key, pod);
}

static void
keep_until(struct actor *actor, uint32_t key, int64_t time)
{
    const schedq_pod_t pod = find(actor, key);

    if (pod.bits == 0) {
        return;
    }
    begin(actor, "not_before", key);
    schedq_status_t status = schedq_not_before(actor->worker, pod, time, NULL);
    (void)ends(actor, "not_before", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
}

/* ---- behind all ------------------------------------------------------------------------------ */

static int
note_place(void *ctx, const schedq_pod_info_t *info)
{
    *(schedq_pod_info_t *)ctx = *info;
    return 0;
}

/* Is the pod there, and nobody's? */
static bool
is_left(struct actor *healthy, uint32_t key, schedq_pod_info_t *info)
{
    schedq_result_t result;
    size_t length;
    const char *name = world_name(key, &length);

    return schedq_find(healthy->worker, name, length, &result) == SCHEDQ_OK &&
           schedq_get(healthy->worker, result.pod, note_place, info) == SCHEDQ_OK &&
           info->place != SCHEDQ_INFLIGHT;
}

static void
class_drain(const struct scenario *scenario)
{
    struct actor *healthy = &world.actors[HEALTHY];
    bool frozen = sim_frozen() > 0;

    (void)scenario;
    world_check_poppable();
    actor_register(healthy);
    for (unsigned round = 0; round < 3 * PODS; round++) {
        actor_move(healthy, EVENT_PLAIN);
        actor_tick_after(healthy, 100 * BACKOFF_NS);
        release_rest(healthy);
        while (pop_and_place(healthy)) {
        }
    }
    if (frozen || class.lost > 0) {
        for (unsigned round = 0; round < PODS; round++) {
            actor_tick_after(healthy, 2 * PATIENCE_NS);
            release_rest(healthy);
            while (pop_and_place(healthy)) {
            }
        }
    }
    for (uint32_t key = 0; key < PODS; key++) {
        schedq_pod_info_t info = {.place = SCHEDQ_NOWHERE};
        bool left = is_left(healthy, key, &info);

        SIM_CHECK(!left || (frozen && (info.held != 0 || class.where[key] == UNSURE)),
                  "pod %u waits, and nothing brings it out: %s", key,
                  schedq_place_name((schedq_place_t)info.place));
    }
    if (!frozen) {
        schedq_stats_t stats = SCHEDQ_STATS_INIT;

        SIM_CHECK(schedq_stats(world.queue, &stats) == SCHEDQ_OK, "stats fails");
        SIM_CHECK(stats.held == 0 && stats.inflight == class.lost && stats.active == 0 &&
                      stats.parked == 0,
                  "left over: %llu held, %llu in flight, %llu active, %llu parked",
                  (unsigned long long)stats.held, (unsigned long long)stats.inflight,
                  (unsigned long long)stats.active, (unsigned long long)stats.parked);
    }
}

static void
class_thread(const struct scenario *scenario, unsigned thread)
{
    queue_harness.thread(scenario, thread);
}

static void
class_end(const struct scenario *scenario)
{
    queue_harness.end(scenario);
}

static const struct harness class_harness = {class_begin, class_thread, class_drain, class_end};

/* ---- what threads do ------------------------------------------------------------------------- */

static void
three_active(struct actor *actor)
{
    for (uint32_t key = 0; key < 3; key++) {
        add(actor, key);
    }
}

/* Pod 0 is the scout; pods 1 and 2 are active. */
static void
one_scouts(struct actor *actor)
{
    three_active(actor);
    pop_and_reject(actor, false);
}

/* The same, and pod 3 is in flight. */
static void
one_scouts_one_flies(struct actor *actor)
{
    uint32_t key;

    add(actor, 3);
    (void)pop(actor, &class.flying, &key);
    one_scouts(actor);
}

/* Pods 1 and 2 are kept back behind pod 0. */
static void
two_wait(struct actor *actor)
{
    one_scouts(actor);
    (void)pop_and_place(actor);
}

/* Pods 1 and 2 are kept back behind pod 0, and pod 3 is in flight. */
static void
two_wait_one_flies(struct actor *actor)
{
    one_scouts_one_flies(actor);
    (void)pop_and_place(actor);
}

/* Pods 1 and 2 are kept back behind pod 0, which is active. */
static void
scout_is_active(struct actor *actor)
{
    two_wait(actor);
    actor_move(actor, EVENT_PLAIN);
}

static void
place_one(struct actor *actor)
{
    (void)pop_and_place(actor);
}

static void
place_two(struct actor *actor)
{
    (void)pop_and_place(actor);
    (void)pop_and_place(actor);
}

/* Its holder never reports. */
static void
lose_one(struct actor *actor)
{
    schedq_popped_t popped;
    uint32_t key;

    class.lost += pop(actor, &popped, &key) ? 1 : 0;
}

static void
reject_one(struct actor *actor)
{
    pop_and_reject(actor, false);
}

static void
reject_3(struct actor *actor)
{
    reject(actor, class.flying.token, 3, false);
}

static void
place_one_drop_3(struct actor *actor)
{
    (void)pop_and_place(actor);
    drop(actor, 3);
}

static void
reject_alone(struct actor *actor)
{
    pop_and_reject(actor, true);
}

static void
wake(struct actor *actor)
{
    actor_move(actor, EVENT_PLAIN);
}

static void
wake_and_place(struct actor *actor)
{
    actor_move(actor, EVENT_PLAIN);
    (void)pop_and_place(actor);
}

static void
drop_0(struct actor *actor)
{
    drop(actor, 0);
}

static void
drop_1(struct actor *actor)
{
    drop(actor, 1);
}

static void
drop_3(struct actor *actor)
{
    drop(actor, 3);
}

static void
release_0(struct actor *actor)
{
    const schedq_pod_t pod = find(actor, 0);

    if (pod.bits != 0) {
        release(actor, 0, pod);
    }
}

static void
hold_0(struct actor *actor)
{
    hold_for_a_while(actor, 0);
}

static void
hold_1(struct actor *actor)
{
    hold_for_a_while(actor, 1);
}

static void
keep_1_until(struct actor *actor)
{
    keep_until(actor, 1, cluster_now() + BACKOFF_NS);
    keep_until(actor, 1, 0);
}

static void
tick_twice(struct actor *actor)
{
    actor_tick_after(actor, BACKOFF_NS);
    actor_tick_after(actor, BACKOFF_NS);
}

static void
change_0(struct actor *actor)
{
    change_class(actor, 0, OTHER_CLASS);
    change_class(actor, 0, CLASS);
}

static void
change_1(struct actor *actor)
{
    change_class(actor, 1, CLASS);
    change_class(actor, 1, OTHER_CLASS);
}

static void
add_3_and_pop(struct actor *actor)
{
    add(actor, 3);
    (void)pop_and_place(actor);
}

static void
tick(struct actor *actor)
{
    actor_tick_after(actor, 2 * PATIENCE_NS);
}

/* Pods 0 and 1 in a page of worker 1: the scout is parked, the other active. */
static void
one_scouts_of_worker_1(struct actor *actor)
{
    (void)actor;
    add(world_actor(1), 0);
    pop_and_reject(world_actor(1), false);
    add(world_actor(1), 1);
}

static void
look_at_1(struct actor *actor)
{
    schedq_pod_info_t info;
    const schedq_pod_t pod = find(actor, 1);

    for (unsigned i = 0; pod.bits != 0 && i < 3; i++) {
        begin(actor, "get", 1);
        schedq_status_t status = schedq_get(actor->worker, pod, note_place, &info);
        (void)ends(actor, "get", status, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND);
    }
}

static void
drop_both_and_trim(struct actor *actor)
{
    drop(actor, 1);
    drop(actor, 0);
    actor_unregister(actor);
    actor_trim(actor);
    actor_register(actor);
}

static void
configure(schedq_config_t *config)
{
    cluster_use_without_gates(config);
    config->class_patience_ns = PATIENCE_NS;
}

static void
counted(schedq_config_t *config)
{
    configure(config);
    config->objects = SCHEDQ_OBJECTS_COUNTED;
}

/* ---- programs drawn at random ---------------------------------------------------------------- */

/*
 * What can be said of them is the ledger's; and behind them, if nobody is frozen, events, backoffs
 * and ticks bring out all that nobody holds, long before the patience ends.
 */

static uint32_t
draw(uint32_t limit)
{
    return random_below(sim_random(), limit);
}

static uint64_t
some_class(void)
{
    static const uint64_t classes[] = {CLASS, CLASS, CLASS, OTHER_CLASS, 0};

    return classes[draw(5)];
}

/* Mostly of one priority: a class is one of a priority. */
static int32_t
some_priority(void)
{
    return draw(4) == 0 ? 2 : 1;
}

static void
come(struct actor *actor, uint32_t key)
{
    switch (draw(4)) {
    case 0:
        (void)actor_update_of_class(actor, key, some_priority(), some_class());
        break;
    case 1:
        (void)actor_add_of_class(actor, key, some_priority(), some_class());
        break;
    default:
        (void)actor_add_of_class(actor, key, 1, CLASS);
        break;
    }
}

static void
try_one(struct actor *actor)
{
    if (!actor_pop(actor)) {
        return;
    }
    switch (draw(6)) {
    case 0:
        (void)actor_done(actor);
        break;
    case 1:
        (void)actor_fail_alone(actor, PLAIN);
        break;
    case 2:
        (void)actor_fail(actor, draw(2) == 0 ? HINTED : 0);
        break;
    default:
        (void)actor_fail(actor, PLAIN);
        break;
    }
}

static void
bring_out(struct actor *actor, uint32_t key)
{
    switch (draw(5)) {
    case 0:
        actor_tick_after(actor, draw(8) == 0 ? 2 * PATIENCE_NS : BACKOFF_NS);
        break;
    case 1:
        actor_activate(actor, key);
        break;
    case 2:
        actor_move(actor, SCHEDQ_EVENT_WILDCARD);
        break;
    default:
        actor_move(actor, draw(3) == 0 ? EVENT_HINTED : EVENT_PLAIN);
        break;
    }
}

static void
look_or_trim(struct actor *actor, uint32_t key)
{
    switch (draw(4)) {
    case 0:
        actor_snapshot(actor);
        break;
    case 1:
        actor_trim(actor);
        break;
    default:
        (void)actor_get(actor, key);
        break;
    }
}

static void
anything(struct actor *actor)
{
    for (unsigned i = 0; i < CALLS; i++) {
        uint32_t key = draw(KEYS);

        switch (draw(8)) {
        case 0:
        case 1:
        case 2:
            try_one(actor);
            break;
        case 3:
            come(actor, key);
            break;
        case 4:
            (void)actor_delete(actor, key);
            break;
        case 5:
            actor_keep_back(actor, key);
            break;
        case 6:
            bring_out(actor, key);
            break;
        default:
            look_or_trim(actor, key);
            break;
        }
    }
    (void)actor_done_all(actor);
}

/* Often one is the scout, and others are kept back. */
static void
prepare_any(struct actor *actor)
{
    for (uint32_t key = 0; key < KEYS; key++) {
        if (draw(4) > 0) {
            (void)actor_add_of_class(actor, key, 1, draw(4) == 0 ? some_class() : CLASS);
        }
    }
    for (uint32_t i = draw(3); i > 0; i--) {
        try_one(actor);
    }
    (void)actor_done_all(actor);
}

static void
prepare_any_without_memory(struct actor *actor)
{
    prepare_any(actor);
    world_lacks_memory(ALLOCATIONS_A_FAILURE);
}

static int
fail_for_one_left(void *ctx, const schedq_pod_info_t *info)
{
    (void)ctx;
    SIM_CHECK(info->place == SCHEDQ_INFLIGHT, "pod %u waits, and nothing brings it out: %s%s",
              world_key(info->name, info->name_length),
              schedq_place_name((schedq_place_t)info->place),
              info->kept_by_class ? ", kept back by its class" : "");
    return 1;
}

/* Pod 0 is the scout; thread 0 has pod 1. */
static void
scout_and_flight(struct actor *actor)
{
    (void)actor_add_of_class(actor, 0, 1, CLASS);
    (void)actor_pop_and_fail(actor, PLAIN);
    (void)actor_add_of_class(actor, 1, 1, 0);
    (void)actor_pop(actor);
    (void)actor_update_of_class(actor, 1, 1, CLASS);
}

static void
fail_1(struct actor *actor)
{
    (void)actor_fail(actor, PLAIN);
}

static void
not_before_1(struct actor *actor)
{
    actor_not_before(actor, 1, BACKOFF_NS);
}

static void
delete_0_and_pop(struct actor *actor)
{
    (void)actor_delete(actor, 0);
    if (actor_pop(actor)) {
        (void)actor_done(actor);
    }
}

/* Thread 0 has the scout, pod 0; pod 1 is of its class, and before pod 2, which is of none. */
static void
scout_flies_before_two(struct actor *actor)
{
    (void)actor_add_of_class(actor, 0, 2, CLASS);
    (void)actor_pop_and_fail(actor, PLAIN);
    actor_move(actor, EVENT_PLAIN);
    (void)actor_pop(actor);
    (void)actor_add_of_class(actor, 1, 2, CLASS);
    (void)actor_add_of_class(actor, 2, 1, 0);
}

static void
place_it(struct actor *actor)
{
    (void)actor_done_all(actor);
}

static void
consume_1(struct actor *actor)
{
    actor_consume(actor, 1);
}

/* What hosts read when no other call is under way. */
static void
look_at_time(struct actor *actor)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    (void)actor;
    (void)sim_wait_for_quiet();
    sim_drain();
    SIM_CHECK(schedq_stats(world.queue, &stats) == SCHEDQ_OK, "stats fails");
    SIM_CHECK(stats.held == 0 || sim_frozen() > 0 ||
                  schedq_words(world.queue)->next_deadline_ns <= cluster_now(),
              "a pod is kept back without a scout, and time is wanted at %lld",
              (long long)schedq_words(world.queue)->next_deadline_ns);
}

static void
bring_all_out(struct actor *healthy)
{
    for (uint32_t key = 0; key < KEYS; key++) {
        actor_release(healthy, key);
    }
    for (unsigned round = 0; round < 3 * KEYS; round++) {
        actor_move(healthy, SCHEDQ_EVENT_WILDCARD);
        actor_tick_after(healthy, sim_frozen() > 0 ? 2 * PATIENCE_NS : 100 * BACKOFF_NS);
        release_rest(healthy);
        while (actor_pop(healthy)) {
            (void)actor_done(healthy);
        }
    }
    SIM_CHECK(sim_frozen() > 0 ||
                  schedq_snapshot(healthy->worker, fail_for_one_left, NULL) == SCHEDQ_OK,
              "snapshot fails");
}

static void
any_drain(const struct scenario *scenario)
{
    struct actor *healthy = &world.actors[HEALTHY];

    world_check_poppable();
    /* of a scout in the hands of a frozen thread the others wait for their patience */
    if (sim_frozen() > 0 || draw(2) == 0) {
        actor_register(healthy);
        bring_all_out(healthy);
        actor_unregister(healthy);
    }
    queue_harness.drain(scenario);
}

/* What was left with a note, for lack of memory, a tick finds. */
static void
any_drain_of_lack(const struct scenario *scenario)
{
    struct actor *healthy = &world.actors[HEALTHY];

    world_has_memory();
    actor_register(healthy);
    actor_tick(healthy);
    release_rest(healthy);
    actor_unregister(healthy);
    any_drain(scenario);
}

static const struct harness any_harness = {class_begin, class_thread, any_drain, class_end};

static const struct harness lack_harness = {class_begin, class_thread, any_drain_of_lack,
                                            class_end};

#define ANY(title, text, settings)                                                             \
    SCENARIO_OF(&any_harness, true, 0, title, text, settings, prepare_any, anything, anything, \
                anything)

#define CLASSES(...) SCENARIO_OF(&class_harness, true, 0, __VA_ARGS__)

const struct scenario class_scenarios[] = {
    CLASSES("class_shut", "a class is shut while others of it are popped", configure, three_active,
            reject_one, place_one, reject_one),
    CLASSES("class_reject", "three of a class are rejected at once", configure, three_active,
            reject_one, reject_one, reject_one),
    CLASSES("class_open", "a scout succeeds while others are kept back", configure, one_scouts,
            wake_and_place, place_one, add_3_and_pop),
    CLASSES("class_next", "scouts succeed one after the other, against new pods", configure,
            scout_is_active, place_two, add_3_and_pop, place_one),
    CLASSES("class_delete", "a scout is deleted while others are kept back", configure, one_scouts,
            drop_0, place_one, add_3_and_pop),
    CLASSES("class_delete_next", "the next scout is deleted too", configure, two_wait, drop_0,
            drop_1, place_one),
    CLASSES("class_late", "a scout is deleted, one that would be it is too", configure,
            one_scouts_one_flies, drop_0, place_one_drop_3, reject_3),
    CLASSES("class_late_next", "the same, while others are kept back already", configure,
            two_wait_one_flies, drop_0, drop_3, reject_3),
    CLASSES("class_release", "a scout is released while it is held and others are met", configure,
            one_scouts, hold_0, release_0, place_one),
    CLASSES("class_hold", "a scout is held and released while others are kept back", configure,
            one_scouts, hold_0, place_one, reject_one),
    CLASSES("class_hold_next", "the next scout is held while the first one leaves", configure,
            two_wait, drop_0, hold_1, place_one),
    CLASSES("class_until", "a pod gets times of its caller's while its class keeps it back",
            configure, one_scouts, keep_1_until, place_one, tick_twice),
    CLASSES("class_until_next", "the next scout gets times while the first one leaves", configure,
            two_wait, drop_0, keep_1_until, tick_twice),
    CLASSES("class_update", "a scout changes its class and back", configure, one_scouts, change_0,
            place_one, reject_one),
    CLASSES("class_update_next", "one that is kept back is described anew", configure, two_wait,
            drop_0, change_1, place_one),
    CLASSES("class_alone", "a scout is rejected for reasons of its own", configure, scout_is_active,
            reject_alone, add_3_and_pop, place_one),
    CLASSES("class_wake", "a scout is woken while it is rejected", configure, one_scouts, wake,
            reject_one, wake_and_place),
    CLASSES("class_patience", "the patience ends while the scout leaves", configure, two_wait, tick,
            drop_0, reject_one),
    CLASSES("class_lost", "a scout's holder never reports", configure, scout_is_active, lose_one,
            add_3_and_pop, reject_one),
    CLASSES("class_look_trim", "a pod is looked at while its scout ends, and the page goes",
            configure, one_scouts_of_worker_1, look_at_1, drop_both_and_trim),
    CLASSES("class_counted", "a scout is held with counted objects", counted, one_scouts, hold_0,
            wake_and_place, reject_one),
    SCENARIO_OF(&any_harness, true, 0, "class_kept",
                "a pod gets a time of its caller's while it fails into its class", configure,
                scout_and_flight, fail_1, not_before_1, delete_0_and_pop),
    SCENARIO_OF(&any_harness, true, 1, "class_due",
                "a scout succeeds while one of its class is kept back by a pop that takes another",
                configure, scout_flies_before_two, place_it, consume_1, look_at_time),
    ANY("class_any", "any calls, of pods whose class keeps them back", configure),
    ANY("class_any_counted", "the same with counted objects", counted),
    SCENARIO_OF(&lack_harness, true, 0, "class_any_no_memory",
                "the same while one allocation out of three fails", counted,
                prepare_any_without_memory, anything, anything, anything),
    {.name = NULL},
};
