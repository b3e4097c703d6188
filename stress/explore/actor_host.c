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
    op_t op = {.kind = OP_FAIL, .tokens = &held->token, .failure = &failure};
    schedq_status_t status = SCHEDQ_RETRY;
    moment ended = 0;

    failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
    failure.unschedulable = rejectors;
    while (status == SCHEDQ_RETRY) {
        failure.judged_up_to = actor_host_newest();
        judge(held, &failure);
        moment began =
            act_begin(actor, "fail pod",
                      (struct open_call){.kind = CALL_FAIL, .handle = held->pod.bits, .key = key});
        ledger_fail_begins(life, rejectors, began);
        status = op_run(actor->worker, &op);
        ended = act_end(actor, status);
        act_check(actor, &op, OP_LEGAL(SCHEDQ_RETRY));
        if (status != SCHEDQ_OK) {
            ledger_fail_refused(life, status == SCHEDQ_GONE);
        }
    }
    act_let_go(actor);
    if (status == SCHEDQ_OK) {
        ledger_failed(ledger, life, (schedq_place_t)op.result.place, ended);
    }
    return status == SCHEDQ_OK;
}

schedq_status_t
act_apply(struct actor *actor, const schedq_decision_t *decision, uint32_t legal,
          schedq_result_t *result)
{
    op_t op = {.kind = OP_APPLY, .decisions = decision};
    struct span span = act_run(actor, &op, (struct open_call){.kind = CALL_OTHER}, legal);

    *result = op.result;
    if (op.status == SCHEDQ_OK) {
        uint32_t key = ledger_attempt_of(ledger, result->object)->key;

        ledger_told(ledger, ledger_life(ledger, result->pod.bits, key),
                    (schedq_place_t)result->place, span.began, span.ended);
    }
    return op.status;
}

size_t
act_candidates(struct actor *actor, schedq_query_t *query, schedq_candidate_t *found, size_t room)
{
    op_t op = {.kind = OP_CANDIDATES, .count = room, .query = query, .candidates = found};

    (void)act_run(actor, &op, (struct open_call){.kind = CALL_OTHER}, 0);
    SIM_CHECK((op.status == SCHEDQ_OK) == (op.got > 0), "candidates returns %s and %zu",
              schedq_status_name(op.status), op.got);
    return op.got;
}

static void
apply_candidate(struct actor *actor, const schedq_candidate_t *candidate, schedq_place_t place,
                uint64_t reached)
{
    schedq_decision_t decision = {.struct_size = sizeof(schedq_decision_t),
                                  .ref = candidate->ref,
                                  .event = SCHEDQ_EVENT_WILDCARD,
                                  .place = (uint8_t)place};
    schedq_result_t result;

    while (act_apply(actor, &decision, OP_LEGAL(SCHEDQ_CHANGED), &result) == SCHEDQ_CHANGED &&
           ((result.unschedulable | result.pending) & reached) != 0) {
        decision.ref = result.ref;
        SIM_CHECK(decision.ref != 0, "apply says CHANGED and gives no ref");
    }
}

static void
apply_all(struct actor *actor, schedq_query_t *query, schedq_place_t place)
{
    schedq_candidate_t found[CANDIDATES];
    size_t count;

    while ((count = act_candidates(actor, query, found, CANDIDATES)) > 0) {
        for (size_t i = 0; i < count; i++) {
            apply_candidate(actor, &found[i], place, query->rejectors);
        }
    }
}

bool
act_anybody_waits(void)
{
    const schedq_words_t *words = schedq_words(world.queue);

    sim_point();
    uint64_t parked = __atomic_load_n(&words->parked, __ATOMIC_ACQUIRE);
    sim_point();
    return parked != 0 || __atomic_load_n(&words->gated, __ATOMIC_ACQUIRE) != 0;
}

struct occasion *
act_event(struct actor *actor, schedq_event_t event, struct occasion reach, uint64_t rejectors)
{
    const struct open_call call = {.kind = CALL_OTHER, .key = event};
    op_t op = {.kind = OP_EVENT_BEGIN};

    reach.began = act_run(actor, &op, call, 0).began;
    sim_point();
    reach.sequence = op.sequence;
    struct occasion *occasion = ledger_occasion(ledger, reach);

    op.kind = OP_EVENT_STAMP;
    op.rejectors = rejectors;
    (void)act_run(actor, &op, call, 0);
    return occasion;
}

void
actor_host_event(struct actor *actor, schedq_event_t event)
{
    struct occasion reach = cluster_reach(event);
    schedq_query_t query;

    reach.reached |= reach.hinted;
    struct occasion *occasion = act_event(actor, event, reach, reach.reached);
    if (act_anybody_waits()) {
        query = (schedq_query_t)SCHEDQ_QUERY_INIT;
        query.rejectors = reach.reached;
        apply_all(actor, &query, SCHEDQ_BACKOFF);
    }
    occasion->ended = ++ledger->now;
}

void
actor_host_release(struct actor *actor)
{
    schedq_query_t query = SCHEDQ_QUERY_INIT;

    query.rejectors = UINT64_MAX;
    query.gates = UINT64_MAX;
    query.backoff = 1;
    apply_all(actor, &query, SCHEDQ_ACTIVE);
}
