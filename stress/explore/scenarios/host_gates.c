/*
 * A host that asks gates itself: it adds, fails and applies pods behind gates that open meanwhile.
 * Pods with negative priorities are held by closed gates. A refusal is applied with what the queue
 * said before the gates were asked.
 */
#include "actor_calls.h"
#include "cluster.h"
#include "scenarios.h"
#include "world.h"

#define GATE_NUMBER_A 3 /* 1 + number of the plugin, as cluster.h registers them */
#define GATE_NUMBER_B 4
#define CANDIDATES 2

static struct ledger *const ledger = &world.ledger;

/* PreEnqueue: the first gate that holds the pod; 0: none. */
static uint8_t
ask_gates(uint64_t object)
{
    if (ledger_attempt_of(ledger, object)->priority >= 0) {
        return 0;
    }
    sim_point();
    if (cluster_opened(GATE_A) == NEVER) {
        return GATE_NUMBER_A;
    }
    sim_point();
    return cluster_opened(GATE_B) == NEVER ? GATE_NUMBER_B : 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

static schedq_status_t
apply_once(struct actor *actor, uint64_t ref, uint64_t object, schedq_result_t *result)
{
    schedq_decision_t decision = {.struct_size = sizeof(schedq_decision_t),
                                  .ref = ref,
                                  .event = SCHEDQ_EVENT_WILDCARD,
                                  .judged_up_to = actor_host_newest()};

    decision.gate = ask_gates(object);
    decision.place = decision.gate != 0 ? SCHEDQ_GATED : SCHEDQ_ACTIVE;
    schedq_status_t status =
        act_apply(actor, &decision, OP_LEGAL(SCHEDQ_CHANGED) | OP_LEGAL(SCHEDQ_RETRY), result);
    SIM_CHECK(status != SCHEDQ_OK ||
                  (result->place == decision.place && result->gate == decision.gate),
              "apply of place %u gate %u says place %u gate %u", decision.place, decision.gate,
              result->place, result->gate);
    return status;
}

static void
apply(struct actor *actor, uint64_t ref, uint64_t object)
{
    schedq_result_t result;
    schedq_status_t status = SCHEDQ_RETRY;

    while (status == SCHEDQ_RETRY || status == SCHEDQ_CHANGED) {
        status = apply_once(actor, ref, object, &result);
        if (status == SCHEDQ_CHANGED) {
            SIM_CHECK(result.ref != 0, "apply says CHANGED and gives no ref");
            ref = result.ref;
            object = result.object;
        }
    }
}

static void
apply_all(struct actor *actor, schedq_query_t *query)
{
    schedq_candidate_t found[CANDIDATES];
    size_t count;

    while ((count = act_candidates(actor, query, found, CANDIDATES)) > 0) {
        for (size_t i = 0; i < count; i++) {
            apply(actor, found[i].ref, found[i].object);
        }
    }
}

static void
event(struct actor *actor, schedq_event_t number)
{
    struct occasion reach = cluster_reach(number);
    schedq_query_t query;
    struct occasion *occasion = act_event(actor, number, reach, reach.reached | reach.gates);

    if (act_anybody_waits()) {
        query = (schedq_query_t)SCHEDQ_QUERY_INIT;
        query.rejectors = reach.reached;
        query.gates = reach.gates;
        apply_all(actor, &query);
    }
    occasion->ended = ++ledger->now;
}

/* ---- bodies ---------------------------------------------------------------------------------- */

static void
event_plain(struct actor *actor)
{
    event(actor, EVENT_PLAIN);
}

static void
open_a(struct actor *actor)
{
    cluster_open(GATE_A);
    event(actor, EVENT_GATE_A);
}

static void
open_b(struct actor *actor)
{
    cluster_open(GATE_B);
    event(actor, EVENT_GATE_B);
}

static void
open_both(struct actor *actor)
{
    open_a(actor);
    open_b(actor);
}

static void
add_gated(struct actor *actor)
{
    uint64_t object = 0;
    schedq_status_t status = SCHEDQ_RETRY;

    while (status == SCHEDQ_RETRY) {
        op_t op = {.kind = OP_ADD};
        op.name = world_name(0, &op.name_length);
        moment began = act_begin(actor, "add", (struct open_call){.kind = CALL_ADD, .key = 0});

        object = ledger_attempt(ledger, (struct attempt){.key = 0, .priority = -1, .began = began});
        schedq_pod_spec_t spec = act_spec(actor, object);

        spec.judged_up_to = actor_host_newest();
        spec.gate = ask_gates(object);
        op.spec = &spec;
        status = op_run(actor->worker, &op);
        moment ended = act_end(actor, status);
        act_check(actor, &op, OP_LEGAL(SCHEDQ_RETRY));
        act_attempt_ends(ledger_attempt_of(ledger, object), status, ended);
        if (status == SCHEDQ_OK) {
            act_attempt_added(ledger_attempt_of(ledger, object), (schedq_place_t)op.result.place,
                              op.result.pod.bits, began, ended);
        }
    }
}

static void
readd_gated(struct actor *actor)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_status_t status = SCHEDQ_RETRY;

    ledger->any_history = true;
    failure.unschedulable = PLAIN;
    while (status == SCHEDQ_RETRY) {
        moment began =
            act_begin(actor, "readd pod", (struct open_call){.kind = CALL_ADD, .key = 0});
        uint64_t object =
            ledger_attempt(ledger, (struct attempt){.key = 0, .priority = -1, .began = began});
        schedq_pod_spec_t spec = act_spec(actor, object);
        op_t op = {
            .kind = OP_READD, .spec = &spec, .history = &actor->last.history, .failure = &failure};
        op.name = world_name(0, &op.name_length);

        failure.judged_up_to = actor_host_newest();
        failure.gate = ask_gates(object);
        failure.place = failure.gate != 0 ? SCHEDQ_GATED : SCHEDQ_BACKOFF;
        status = op_run(actor->worker, &op);
        moment ended = act_end(actor, status);
        act_check(actor, &op, OP_LEGAL(SCHEDQ_RETRY));
        act_attempt_ends(ledger_attempt_of(ledger, object), status, ended);
        if (status == SCHEDQ_OK) {
            struct life *life = ledger_life(ledger, op.result.pod.bits, 0);

            life->attempts = actor->last.history.attempts;
            act_attempt_added(ledger_attempt_of(ledger, object), (schedq_place_t)op.result.place,
                              op.result.pod.bits, began, ended);
        }
    }
}

/* Something happened that helps: PreEnqueue has the last word. */
static void
judge_by_gates(const schedq_popped_t *held, schedq_failure_t *failure)
{
    failure->gate = ask_gates(held->object);
    failure->place = failure->gate != 0 ? SCHEDQ_GATED : SCHEDQ_BACKOFF;
}

/* Rejected by PLAIN. */
static void
fail_gated(struct actor *actor)
{
    (void)actor_host_fail_judged(actor, PLAIN, judge_by_gates);
}

static void
hold_one(struct actor *actor)
{
    (void)actor_add(actor, 0, -1);
    (void)actor_pop(actor);
}

static void
park_one(struct actor *actor)
{
    hold_one(actor);
    (void)actor_host_fail(actor, PLAIN);
}

static void
end_lag_of_parked(struct actor *actor)
{
    park_one(actor);
    for (int i = 0; i < 3; i++) {
        (void)actor_update(actor, 0, -1);
    }
}

static void
end_lag_of_gated(struct actor *actor)
{
    add_gated(actor);
    for (int i = 0; i < 3; i++) {
        (void)actor_update(actor, 0, -1);
    }
}

static void
update_0(struct actor *actor)
{
    (void)actor_update(actor, 0, -2);
}

static void
tick(struct actor *actor)
{
    actor_tick_after(actor, 2 * BACKOFF_NS);
}

static void
event_a(struct actor *actor)
{
    event(actor, EVENT_GATE_A);
}

static void
end_one(struct actor *actor)
{
    hold_one(actor);
    (void)actor_done(actor);
}

/* Nobody else changes the pod: the answer is OK, or RETRY and nothing changed. */
static void
gate_alone(struct actor *actor)
{
    schedq_result_t before, result, after;

    (void)act_find(actor, 0, &before);
    schedq_status_t status = apply_once(actor, before.ref, before.object, &result);

    SIM_CHECK(status != SCHEDQ_CHANGED, "apply says CHANGED, and nobody changed the pod");
    (void)act_find(actor, 0, &after);
    SIM_CHECK(status != SCHEDQ_RETRY || after.place == before.place,
              "apply says RETRY, and the pod was %s and is %s",
              schedq_place_name((schedq_place_t)before.place),
              schedq_place_name((schedq_place_t)after.place));
}

/* As long as a gate is not opened, its events change nothing that the gate says. */
static void
stamp_a(struct actor *actor)
{
    uint64_t sequence;

    (void)act_begin(actor, "event_begin and stamp", (struct open_call){.kind = CALL_OTHER});
    (void)schedq_event_begin(actor->worker, &sequence);
    (void)schedq_event_stamp(actor->worker, sequence, 0, GATE_A);
    (void)act_end(actor, SCHEDQ_OK);
}

static void
look_for_0(struct actor *actor)
{
    (void)actor_find(actor, 0);
}

/*
 * Not frozen: who stops in an add, after an event that his gate has to be asked about, leaves that
 * pod to the next event.
 */
#define HOST_GATES(title, text, before, ...)                                                       \
    {                                                                                              \
        .name = (title), .about = (text), .harness = &queue_harness, .threads = 3, .sleeps = true, \
        .never_frozen = true, .configure = cluster_use_host, .prepare = (before), .bodies = {      \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

const struct scenario host_gate_scenarios[] = {
    HOST_GATES("host_gate", "a host's event moves a parked pod behind gates that open", park_one,
               event_plain, open_both, update_0),
    HOST_GATES("host_gate_next", "two gates of a host open, each by its own thread", add_gated,
               open_a, open_b, update_0),
    HOST_GATES("host_gate_add", "gates of a host open while a pod is added", NULL, add_gated,
               open_both, tick),
    HOST_GATES("host_gate_add_apply", "the same, and an event judges the pod", NULL, add_gated,
               open_a, event_a),
    HOST_GATES("host_gate_readd", "gates of a host open while a pod comes back", end_one,
               readd_gated, open_both, tick),
    HOST_GATES("host_gate_fail", "gates of a host open while a pod fails into them", hold_one,
               fail_gated, open_both, update_0),
    HOST_GATES("host_gate_lag",
               "a host's event moves a pod at the end of its lag behind gates that open",
               end_lag_of_parked, event_plain, open_both, look_for_0),
    HOST_GATES("host_gate_retry",
               "a pod that nobody changes is gated while the gate hears of events", park_one,
               gate_alone, stamp_a, look_for_0),
    HOST_GATES("host_lag_update",
               "an update ends the lag of a parked pod while a host's event looks for it",
               end_lag_of_parked, update_0, event_plain, look_for_0),
    HOST_GATES("host_gate_lag_next", "two gates of a host open before a pod at the end of its lag",
               end_lag_of_gated, open_a, open_b, update_0),
    {.name = NULL},
};
