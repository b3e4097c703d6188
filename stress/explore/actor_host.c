/*
 * A host that judges events itself. Its log are the ledger's occasions: one is there from when its
 * sequence was noted, and an event that was drawn and is not there counts as one that helps.
 */
#include "actor_calls.h"

#include "cluster.h"
#include "trace.h"
#include "world.h"

#define CANDIDATES 2 /* at once: a cursor is used in between */

static struct ledger *const ledger = &world.ledger;

static const struct occasion *
logged(uint64_t sequence)
{
    for (uint32_t i = 0; i < ledger->occasion_count; i++) {
        if (ledger->occasions[i].sequence == sequence) {
            return &ledger->occasions[i];
        }
    }
    return NULL;
}

static bool
helped(uint64_t seen, uint64_t up_to, uint64_t rejectors)
{
    for (uint64_t i = seen + 1; i <= up_to; i++) {
        const struct occasion *occasion = logged(i);

        if (occasion == NULL || (occasion->reached & rejectors) != 0) {
            return true;
        }
    }
    return false;
}

uint64_t
actor_host_newest(void)
{
    sim_point();
    return __atomic_load_n(&schedq_words(world.queue)->event_sequence, __ATOMIC_ACQUIRE);
}

/* By its log alone: nothing is behind a gate. */
static void
judge_by_log(const schedq_popped_t *held, schedq_failure_t *failure)
{
    bool helps = helped(held->seen, failure->judged_up_to, failure->unschedulable);

    failure->place = helps ? SCHEDQ_BACKOFF : SCHEDQ_PARKED;
}

bool
actor_host_fail(struct actor *actor, uint64_t rejectors)
{
    return actor_host_fail_judged(actor, rejectors, judge_by_log);
}

bool
actor_host_fail_judged(struct actor *actor, uint64_t rejectors, actor_host_judge *judge)
{
    schedq_popped_t *held = &actor->held[0];
    uint32_t key = world_key(held->name, held->name_length);
    struct life *life = ledger_life(ledger, held->pod.bits, key);
    schedq_failure_t failure;
    schedq_result_t result;
    schedq_status_t status = SCHEDQ_RETRY;
    moment ended = 0;

    schedq_failure_init(&failure);
    failure.unschedulable = rejectors;
    while (status == SCHEDQ_RETRY) {
        failure.judged_up_to = actor_host_newest();
        judge(held, &failure);
        moment began =
            act_begin(actor, "fail pod",
                      (struct open_call){.kind = CALL_FAIL, .handle = held->pod.bits, .key = key});
        ledger_fail_begins(life, rejectors, began);
        status = schedq_add_unschedulable(actor->worker, &held->token, &failure, &result);
        ended = act_end(actor, status);
        act_check(actor, "add_unschedulable", status,
                  LEGAL(SCHEDQ_OK) | LEGAL(SCHEDQ_RETRY) | LEGAL(SCHEDQ_GONE) | world.refusals);
        if (status != SCHEDQ_OK) {
            ledger_fail_refused(life, status == SCHEDQ_GONE);
        }
    }
    act_let_go(actor);
    if (status == SCHEDQ_OK) {
        ledger_failed(ledger, life, (schedq_place_t)result.place, ended);
    }
    return status == SCHEDQ_OK;
}

static schedq_status_t
apply(struct actor *actor, uint64_t ref, schedq_place_t place, schedq_result_t *result)
{
    const schedq_decision_t decision = {
        .ref = ref, .event = SCHEDQ_EVENT_WILDCARD, .place = (uint8_t)place};
    moment began = act_begin(actor, "apply", (struct open_call){.kind = CALL_OTHER});
    schedq_status_t status = schedq_apply(actor->worker, &decision, result);
    moment ended = act_end(actor, status);

    act_check(actor, "apply", status,
              LEGAL(SCHEDQ_OK) | LEGAL(SCHEDQ_CHANGED) | LEGAL(SCHEDQ_GONE) | world.refusals);
    if (status == SCHEDQ_OK) {
        struct life *life =
            ledger_life(ledger, result->pod.bits, ledger_attempt_of(ledger, result->object)->key);

        ledger_told(ledger, life, (schedq_place_t)result->place, began, ended);
    }
    return status;
}

static void
apply_candidate(struct actor *actor, const schedq_candidate_t *candidate, schedq_place_t place,
                uint64_t reached)
{
    schedq_result_t result;
    uint64_t ref = candidate->ref;

    while (apply(actor, ref, place, &result) == SCHEDQ_CHANGED &&
           ((result.unschedulable | result.pending) & reached) != 0) {
        ref = result.ref;
        SIM_CHECK(ref != 0, "apply says CHANGED and gives no ref");
    }
}

static void
apply_all(struct actor *actor, schedq_query_t *query, schedq_place_t place)
{
    schedq_candidate_t found[CANDIDATES];
    schedq_status_t status = SCHEDQ_OK;
    size_t count;

    while (status == SCHEDQ_OK) {
        (void)act_begin(actor, "candidates", (struct open_call){.kind = CALL_OTHER});
        status = schedq_candidates(actor->worker, query, found, CANDIDATES, &count);
        (void)act_end(actor, status);
        act_check(actor, "candidates", status, LEGAL(SCHEDQ_OK) | LEGAL(SCHEDQ_EMPTY));
        SIM_CHECK((status == SCHEDQ_OK) == (count > 0), "candidates returns %s and %zu",
                  schedq_status_name(status), count);
        for (size_t i = 0; i < count; i++) {
            apply_candidate(actor, &found[i], place, query->rejectors);
        }
    }
}

/* What hosts look at before they look for candidates. */
static bool
anybody_waits(void)
{
    const schedq_words_t *words = schedq_words(world.queue);

    sim_point();
    return __atomic_load_n(&words->parked, __ATOMIC_ACQUIRE) != 0 ||
           __atomic_load_n(&words->gated, __ATOMIC_ACQUIRE) != 0;
}

void
actor_host_event(struct actor *actor, schedq_event_t event)
{
    uint64_t sequence;
    struct occasion reach = cluster_reach(event);
    schedq_query_t query;
    moment began =
        act_begin(actor, "event_begin", (struct open_call){.kind = CALL_OTHER, .key = event});

    reach.reached |= reach.hinted;
    (void)schedq_event_begin(actor->worker, &sequence);
    (void)act_end(actor, SCHEDQ_OK);
    sim_point();
    reach.sequence = sequence;
    reach.began = began;
    struct occasion *occasion = ledger_occasion(ledger, reach);

    (void)act_begin(actor, "event_stamp", (struct open_call){.kind = CALL_OTHER, .key = event});
    schedq_status_t status = schedq_event_stamp(actor->worker, sequence, 0, reach.reached);
    (void)act_end(actor, status);
    act_check(actor, "event_stamp", status, LEGAL(SCHEDQ_OK));
    if (anybody_waits()) {
        schedq_query_init(&query);
        query.rejectors = reach.reached;
        apply_all(actor, &query, SCHEDQ_BACKOFF);
    }
    occasion->ended = ++ledger->now;
}

void
actor_host_release(struct actor *actor)
{
    schedq_query_t query;

    schedq_query_init(&query);
    query.rejectors = UINT64_MAX;
    query.gates = UINT64_MAX;
    query.backoff = 1;
    apply_all(actor, &query, SCHEDQ_ACTIVE);
}
