/* Calls for pods that wait: failures, events, time, nominations, and looks at all of them. */
#include "actor_calls.h"

#include "cluster.h"
#include "trace.h"
#include "world.h"

#include <string.h>

#define EVERY UINT64_MAX

static struct ledger *const ledger = &world.ledger;

/* ---- failures -------------------------------------------------------------------------------- */

static bool
failed(struct actor *actor, struct life *life, schedq_status_t status,
       const schedq_result_t *result, moment ended)
{
    if (status == SCHEDQ_NOMEM) {
        ledger_fail_refused(life, false);
        return false;
    }
    act_let_go(actor);
    if (status == SCHEDQ_GONE) {
        ledger_fail_refused(life, true);
        return false;
    }
    trace_note(actor->number, schedq_place_name((schedq_place_t)result->place), life->key);
    SIM_CHECK(result->pod.bits == life->handle,
              "add_unschedulable of pod %u tells of handle 0x%llx", life->key,
              (unsigned long long)result->pod.bits);
    SIM_CHECK(result->place != SCHEDQ_INFLIGHT && result->place != SCHEDQ_NOWHERE,
              "pod %u failed, and is %s", life->key,
              schedq_place_name((schedq_place_t)result->place));
    ledger_failed(ledger, life, (schedq_place_t)result->place, ended);
    return true;
}

static bool
fail(struct actor *actor, uint64_t rejectors, bool for_own_reasons)
{
    schedq_popped_t *held = &actor->held[0];
    schedq_failure_t failure;
    op_t op = {.kind = OP_FAIL, .tokens = &held->token, .failure = &failure};
    uint32_t key = world_key(held->name, held->name_length);
    struct life *life = ledger_life(ledger, held->pod.bits, key);
    moment began =
        act_begin(actor, "fail pod",
                  (struct open_call){.kind = CALL_FAIL, .handle = held->pod.bits, .key = key});

    failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
    failure.unschedulable = rejectors;
    failure.own_reasons = for_own_reasons;
    ledger_fail_begins(life, rejectors, began);
    schedq_status_t status = op_run(actor->worker, &op);
    moment ended = act_end(actor, status);
    act_check(actor, &op, 0);
    return failed(actor, life, status, &op.result, ended);
}

bool
actor_fail(struct actor *actor, uint64_t rejectors)
{
    return fail(actor, rejectors, false);
}

bool
actor_fail_alone(struct actor *actor, uint64_t rejectors)
{
    return fail(actor, rejectors, true);
}

bool
actor_pop_and_fail(struct actor *actor, uint64_t rejectors)
{
    return actor_pop(actor) && actor_fail(actor, rejectors);
}

bool
actor_readd(struct actor *actor, uint64_t rejectors)
{
    const schedq_popped_t *last = &actor->last;
    const struct attempt *former = ledger_attempt_of(ledger, last->object);
    schedq_failure_t failure;
    uint32_t key = former->key;
    op_t op = {.kind = OP_READD, .history = &last->history, .failure = &failure};
    op.name = world_name(key, &op.name_length);
    moment began = act_begin(actor, "readd pod", (struct open_call){.kind = CALL_ADD, .key = key});
    uint64_t object = ledger_attempt(
        ledger, (struct attempt){.key = key, .priority = former->priority, .began = began});
    schedq_pod_spec_t spec = act_spec(actor, object);

    ledger->any_history = true;
    failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
    failure.unschedulable = rejectors;
    op.spec = &spec;
    schedq_status_t status = op_run(actor->worker, &op);
    schedq_result_t result = op.result;
    moment ended = act_end(actor, status);
    act_check(actor, &op, 0);
    act_attempt_ends(ledger_attempt_of(ledger, object), status, ended);
    if (status == SCHEDQ_OK) {
        struct life *life = ledger_added_life(ledger, result.pod.bits, key);

        if (life->pops == 0) { /* else its pop has told */
            life->attempts = last->history.attempts;
        }
        SIM_CHECK(result.place != SCHEDQ_PARKED && result.place != SCHEDQ_INFLIGHT,
                  "readd says place %s", schedq_place_name((schedq_place_t)result.place));
        act_attempt_added(ledger_attempt_of(ledger, object), (schedq_place_t)result.place,
                          result.pod.bits, began, ended);
    } else if (status == SCHEDQ_EXISTS) {
        ledger_told(ledger, ledger_life(ledger, result.pod.bits, key), (schedq_place_t)result.place,
                    began, ended);
    }
    return status == SCHEDQ_OK;
}

/* ---- events ---------------------------------------------------------------------------------- */

void
actor_move(struct actor *actor, schedq_event_t event)
{
    schedq_change_t change;
    op_t op = {.kind = OP_NOTIFY, .change = &change};
    struct occasion *occasion = ledger_occasion(ledger, cluster_reach(event));

    change = (schedq_change_t)SCHEDQ_CHANGE_INIT;
    change.event = event;
    /* without an object no pre-queueing hint is asked; with one a wildcard reaches nobody */
    change.new_object = event != SCHEDQ_EVENT_WILDCARD && world.config.pre_queueing_hints != 0;
    occasion->began =
        act_begin(actor, "notify, event", (struct open_call){.kind = CALL_OTHER, .key = event});
    schedq_status_t status = op_run(actor->worker, &op);
    occasion->ended = act_end(actor, status);
    act_check(actor, &op, 0);
}

void
actor_open(struct actor *actor, uint64_t gate)
{
    cluster_open(gate);
    trace_note(actor->number, "opens gate", (int64_t)gate);
    actor_move(actor, gate == GATE_A ? EVENT_GATE_A : EVENT_GATE_B);
}

/* What waits is active or gated by then; what was in flight is not parked when it fails. */
void
actor_activate(struct actor *actor, uint32_t key)
{
    schedq_result_t result;

    if (!act_find(actor, key, &result)) {
        return;
    }
    op_t op = {.kind = OP_ACTIVATE, .count = 1, .pods = &result.pod};
    struct span span = act_run(actor, &op, (struct open_call){.kind = CALL_OTHER, .key = key}, 0);

    if (op.status == SCHEDQ_OK) {
        struct occasion *occasion = ledger_occasion(
            ledger,
            (struct occasion){
                .began = span.began, .handle = result.pod.bits, .reached = EVERY, .gates = EVERY});

        occasion->ended = span.ended;
    }
}

/* ---- time ------------------------------------------------------------------------------------ */

void
actor_tick(struct actor *actor)
{
    (void)act_run(actor, &(op_t){.kind = OP_TICK}, (struct open_call){.kind = CALL_OTHER}, 0);
}

void
actor_tick_after(struct actor *actor, int64_t ns)
{
    cluster_pass(ns);
    trace_note(actor->number, "time passes", ns);
    actor_tick(actor);
}

/* ---- nominations ----------------------------------------------------------------------------- */

void
actor_nominate(struct actor *actor, uint32_t key, uint64_t node)
{
    schedq_result_t result;

    if (!act_find(actor, key, &result)) {
        return;
    }
    op_t op = {.kind = OP_NOMINATE, .pods = &result.pod, .node = node};

    (void)act_run(actor, &op, (struct open_call){.kind = CALL_OTHER, .key = key}, 0);
}

/* ---- looking at all -------------------------------------------------------------------------- */

struct walk {
    uint64_t node; /* 0: any */
    uint64_t nomination;
    uint32_t visits;
    uint64_t handles[LIVES_MAX];
};

static int
visit(void *ctx, const schedq_pod_info_t *info)
{
    struct walk *walk = ctx;
    uint32_t key = world_key(info->name, info->name_length);

    SIM_CHECK(ledger_attempt_of(ledger, info->object)->key == key,
              "pod %u is shown with another's object", key);
    SIM_CHECK(walk->node == 0 || (info->nominated_node == walk->node && info->nomination != 0),
              "pod %u is shown as nominated to node %llu", key,
              (unsigned long long)info->nominated_node);
    for (uint32_t i = 0; i < walk->visits; i++) {
        SIM_CHECK(walk->handles[i] != info->pod.bits, "pod %u is shown twice", key);
    }
    SIM_CHECK(walk->node == 0 || info->nomination > walk->nomination,
              "pod %u is shown out of order", key);
    walk->nomination = info->nomination;
    walk->handles[walk->visits++] = info->pod.bits;
    return 1;
}

static bool
is_among(const struct walk *walk, uint64_t handle)
{
    uint32_t i = 0;

    while (i < walk->visits && walk->handles[i] != handle) {
        i++;
    }
    return i < walk->visits;
}

void
actor_snapshot(struct actor *actor)
{
    struct walk walk = {.node = 0};
    op_t op = {.kind = OP_SNAPSHOT, .visit = visit, .ctx = &walk};
    struct span span = act_run(actor, &op, (struct open_call){.kind = CALL_OTHER}, 0);

    for (uint32_t i = 0; i < ledger->life_count && sim_is_settled(); i++) {
        const struct life *life = &ledger->lives[i];

        SIM_CHECK(life->exists > span.began || ledger_exists_until(ledger, life) < span.ended ||
                      is_among(&walk, life->handle),
                  "a snapshot does not show pod %u, which was there all along", life->key);
    }
}

void
actor_nominated(struct actor *actor, uint64_t node)
{
    struct walk walk = {.node = node};

    op_t op = {.kind = OP_NOMINATED_PODS, .node = node, .visit = visit, .ctx = &walk};

    (void)act_run(actor, &op, (struct open_call){.kind = CALL_OTHER, .key = (uint32_t)node}, 0);
}
