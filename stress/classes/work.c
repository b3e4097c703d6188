/*
 * What threads do at random: they add pods, pop them, end some and fail the others, for reasons
 * that their class shares, for their own, or with an error; delete, hold, release, update, notify.
 *
 * The clock is the round's, so that a backoff is over when a tick says so, and a patience never is
 * before the drain lets it be.
 */
#include "book.h"

#include "history/stamp.h"

#include <schedq/hold.h>

enum { IN_HAND_MAX = 8, ROUNDS_OF_A_DRAIN = 4 * PODS, ROUNDS_UNTIL_ALL_FLY = 4 };

/* ---- pods come and go ------------------------------------------------------------------------ */

static void
add(actor_t *actor)
{
    uint32_t pod = next_pod(actor);
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    if (pod >= PODS)
        return;
    spec.class_id = class_of(pod);
    (void)add_pod(actor, pod, &spec);
}

static void
update(actor_t *actor, bool wanders)
{
    uint32_t pod = some_pod(actor);
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
    char name[16];
    spec.object = pod;
    spec.class_id = wanders ? 0 : class_of(pod);
    uint64_t begin = stamp_begin();
    schedq_status_t status =
        schedq_update(actor->worker, name, (size_t)name_of(name, pod), &spec, 0, NULL, 0, NULL);
    if (must_or(actor, "update", status, SCHEDQ_NOT_FOUND))
        (void)note(actor, wanders ? CALL_WANDER : CALL_TOUCH, begin, pod);
}

/* Looks the pod up by its name: {0}: it is not there. */
static schedq_pod_t
find(actor_t *actor, uint32_t pod)
{
    schedq_result_t result;
    char name[16];
    schedq_status_t status = schedq_find(actor->worker, name, (size_t)name_of(name, pod), &result);
    return must_or(actor, "find", status, SCHEDQ_NOT_FOUND) ? result.pod : (schedq_pod_t){0};
}

static void
release(actor_t *actor, uint32_t number)
{
    schedq_pod_t pod = find(actor, number);
    if (pod.bits == 0)
        return;
    uint64_t begin = stamp_begin();
    if (must_or(actor, "release", schedq_release(actor->worker, pod, NULL), SCHEDQ_NOT_FOUND))
        (void)note(actor, CALL_TOUCH, begin, number);
}

static void
hold(actor_t *actor)
{
    uint32_t number = some_pod(actor);
    schedq_pod_t pod = find(actor, number);
    if (pod.bits == 0)
        return;
    uint64_t begin = stamp_begin();
    if (must_or(actor, "hold", schedq_hold(actor->worker, pod, NULL), SCHEDQ_NOT_FOUND))
        (void)note(actor, CALL_HOLD, begin, number);
}

static void
tick_after(actor_t *actor, int64_t ns)
{
    int64_t now = atomic_fetch_add(&actor->round->now, ns) + ns;
    uint64_t begin = stamp_begin();
    must(actor, "clock_advance", schedq_clock_advance(actor->round->queue, now));
    tick(actor);
    (void)note(actor, CALL_SERVE, begin, NO_POD);
}

/* ---- cycles ---------------------------------------------------------------------------------- */

static bool
pop(actor_t *actor)
{
    schedq_popped_t popped;
    uint64_t begin = stamp_begin();
    schedq_status_t status = schedq_try_pop(actor->worker, &popped);
    if (!must_or(actor, "try_pop", status, SCHEDQ_EMPTY)) {
        (void)note(actor, CALL_SERVE, begin, NO_POD);
        return false;
    }
    record_t *record = note(actor, CALL_POP, begin, number_of(popped.name));
    record->token = popped.token.bits;
    record->attempts = popped.history.attempts;
    actor->in_hand[actor->in_hand_count++] = *record;
    return true;
}

static record_t
take_in_hand(actor_t *actor)
{
    uint32_t which = roll(actor, actor->in_hand_count);
    const record_t pop = actor->in_hand[which];
    actor->in_hand[which] = actor->in_hand[--actor->in_hand_count];
    return pop;
}

static void
place_one(actor_t *actor)
{
    const record_t pop = take_in_hand(actor);
    uint64_t begin = stamp_begin();
    schedq_status_t status = schedq_done(actor->worker, (schedq_token_t){pop.token});
    (void)must_or(actor, "done", status, SCHEDQ_GONE);
    record_t *record = note(actor, CALL_DONE, begin, pop.pod);
    record->token = pop.token;
    record->status = (uint8_t)status;
}

static void
fail_one(actor_t *actor)
{
    const record_t pop = take_in_hand(actor);
    uint32_t luck = roll(actor, 16);
    schedq_token_t token = {pop.token};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result = {0};
    failure.unschedulable = luck > 0 ? actor->round->plugin : 0;
    failure.own_reasons = luck == 1;
    uint64_t begin = stamp_begin();
    schedq_status_t status = schedq_fail(actor->worker, &token, &failure, &result);
    (void)must_or(actor, "fail", status, SCHEDQ_GONE);
    record_t *record = note(actor, CALL_FAIL, begin, pop.pod);
    record->token = pop.token;
    record->status = (uint8_t)status;
    record->place = status == SCHEDQ_OK ? result.place : SCHEDQ_NOWHERE;
    record->shares = luck > 1;
}

void
class_end_one(actor_t *actor)
{
    if (actor->in_hand_count == 0)
        return;
    if (roll(actor, 4) == 0)
        place_one(actor);
    else
        fail_one(actor);
}

/* ---- a round --------------------------------------------------------------------------------- */

void
class_act(actor_t *actor)
{
    uint32_t chance = roll(actor, 100);
    if (chance < 20)
        add(actor);
    else if (chance < 50 && actor->in_hand_count < IN_HAND_MAX)
        (void)pop(actor);
    else if (chance < 80)
        class_end_one(actor);
    else if (chance < 82)
        (void)delete_pod(actor, some_pod(actor));
    else if (chance < 92)
        notify(actor);
    else if (chance < 96)
        tick_after(actor, BACKOFF_NS / 4);
    else if (chance < 97)
        hold(actor);
    else if (chance < 98)
        release(actor, some_pod(actor));
    else
        update(actor, roll(actor, 8) == 0);
}

/* ---- when all is quiet ----------------------------------------------------------------------- */

static int
copy_info(void *ctx, const schedq_pod_info_t *info)
{
    *(schedq_pod_info_t *)ctx = *info;
    return 0;
}

static bool
get(actor_t *actor, schedq_pod_t pod, schedq_pod_info_t *info)
{
    return pod.bits != 0 && schedq_get(actor->worker, pod, copy_info, info) == SCHEDQ_OK;
}

/* The scout that is told, if it will be tried. */
static uint32_t
good_scout(actor_t *actor, schedq_pod_t scout)
{
    schedq_pod_info_t info;
    if (!get(actor, scout, &info) || info.kept_by_class != 0 || info.place == SCHEDQ_HELD ||
        info.place == SCHEDQ_GATED)
        return NO_POD;
    return (uint32_t)info.object;
}

static void
look(actor_t *actor)
{
    for (uint32_t pod = 0; pod < PODS; pod++) {
        schedq_pod_info_t info;
        uint64_t begin = stamp_begin();
        if (!get(actor, find(actor, pod), &info))
            continue;
        record_t *record = note(actor, CALL_LOOK, begin, pod);
        record->place = info.place;
        record->kept = info.kept_by_class != 0;
        record->scout = good_scout(actor, info.scout);
    }
}

static void
place_all(actor_t *actor)
{
    do {
        while (actor->in_hand_count > 0)
            place_one(actor);
    } while (pop(actor));
}

/* Brings out all that may be popped; nobody reports. */
static void
pop_all(actor_t *actor)
{
    for (int i = 0; i < ROUNDS_UNTIL_ALL_FLY; i++) {
        notify(actor);
        tick_after(actor, 2 * BACKOFF_NS);
        while (pop(actor))
            continue;
    }
}

static bool
is_empty(const actor_t *actor)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    (void)schedq_stats(actor->round->queue, &stats);
    return stats.held + stats.active + stats.backoff + stats.error_backoff + stats.parked +
               stats.inflight ==
           0;
}

static void
release_all(actor_t *actor)
{
    for (uint32_t pod = 0; pod < PODS; pod++) {
        schedq_pod_info_t info;
        if (get(actor, find(actor, pod), &info) && info.held != 0)
            release(actor, pod);
    }
}

/* A pod that no pop finds stays behind: RULE_LOST reports it. */
void
class_drain(actor_t *actor)
{
    release_all(actor);
    tick_after(actor, 0);
    rest(actor);
    look(actor);
    if (actor->round->number % 2 == 1) {
        pop_all(actor);
        look(actor);
        tick_after(actor, PATIENCE_NS + BACKOFF_NS);
        actor->late = true;
        look(actor);
        pop_all(actor);
    }
    for (int i = 0; i < ROUNDS_OF_A_DRAIN && !is_empty(actor); i++) {
        place_all(actor);
        notify(actor);
        tick_after(actor, 2 * BACKOFF_NS);
        rest(actor);
    }
}
