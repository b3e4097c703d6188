/* Calls on all pods of a label. */
#include "actor_calls.h"

#include "world.h"

#define ROOM 32

static struct ledger *const ledger = &world.ledger;

static void
note_cancelled(const schedq_result_t *result, struct span span)
{
    const struct attempt *attempt = ledger_attempt_of(ledger, result->object);
    struct life *life = ledger_life(ledger, result->pod.bits, attempt->key);

    life = result->place == SCHEDQ_NOWHERE ? ledger_waiting(ledger, life) : life;
    life->deleted_in_flight = result->place == SCHEDQ_INFLIGHT;
    ledger->sums.deletes++;
    ledger_ended(ledger, life, true, span.began, span.ended);
}

void
actor_cancel_label(struct actor *actor, uint64_t label)
{
    schedq_result_t results[ROOM];
    op_t op = {.kind = OP_LABEL_CANCEL, .label = label, .results = results, .room = ROOM};
    struct cancel *cancel = ledger_cancel(ledger, (struct cancel){.label = label});

    cancel->began =
        act_begin(actor, op_name(op.kind), (struct open_call){.kind = CALL_DELETE, .key = ANY_KEY});
    schedq_status_t status = op_run(actor->worker, &op);
    struct span span = {cancel->began, act_end(actor, status)};

    act_check(actor, &op, 0);
    cancel->ended = status == SCHEDQ_OK ? span.ended : NEVER;
    for (size_t i = 0; i < op.got; i++) {
        note_cancelled(&results[i], span);
    }
}

void
actor_hold_label(struct actor *actor, uint64_t label)
{
    op_t op = {.kind = OP_LABEL_HOLD, .label = label};

    (void)act_run(actor, &op, (struct open_call){.kind = CALL_OTHER}, 0);
}
