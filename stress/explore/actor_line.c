/* Questions about the line: who is next, and how many are before one. Judged at the end: line.c. */
#include "actor_calls.h"

#include "trace.h"
#include "world.h"

static struct ledger *const ledger = &world.ledger;

static bool
others_are_at_work(unsigned self)
{
    bool open = false;

    for (unsigned i = 0; i < OPEN_CALLS_MAX; i++) {
        open = open || (i != self && ledger->calls[i].open);
    }
    return open;
}

/* The call begins and ends at these moments; each call's beginning and end is one. */
static void
note(struct actor *actor, struct question *question, struct span span)
{
    question->quiet = span.ended == span.began + 1 && !others_are_at_work(actor->number);
    question->began = span.began;
    question->ended = span.ended;
    ledger_question(ledger, question);
}

static uint64_t
handle_of(uint32_t key)
{
    for (uint32_t i = ledger->life_count; i-- > 0;) {
        if (ledger->lives[i].key == key) {
            return ledger->lives[i].handle;
        }
    }
    return 0;
}

void
actor_position(struct actor *actor, uint32_t key)
{
    struct question question = {.handle = handle_of(key)};
    schedq_pod_t pod = {question.handle};
    op_t op = {.kind = OP_POSITION, .pods = &pod};

    SIM_CHECK(pod.bits != 0, "nobody was told of pod %u", key);
    struct span span = act_run(actor, &op, (struct open_call){.kind = CALL_OTHER, .key = key}, 0);
    question.status = (int)op.status;
    question.lower = op.lower;
    question.upper = op.upper;
    trace_note(actor->number, "  lower", (int64_t)op.lower);
    trace_note(actor->number, "  upper", (int64_t)op.upper);
    note(actor, &question, span);
}

static int
show(void *ctx, const schedq_pod_info_t *info)
{
    struct question *question = ctx;
    uint32_t key = world_key(info->name, info->name_length);
    const struct attempt *attempt = ledger_attempt_of(ledger, info->object);

    SIM_CHECK(attempt->key == key && attempt->priority == info->priority,
              "pod %u is shown with an object of pod %u, priority %d with %d", key, attempt->key,
              attempt->priority, info->priority);
    SIM_CHECK(question->count < question->room, "more than %zu pods are shown", question->room);
    SIM_CHECK(info->place == SCHEDQ_ACTIVE ||
                  (info->place == SCHEDQ_BACKOFF && world.config.pop_from_backoff != 0),
              "pod %u is shown as the next, and is %s", key,
              schedq_place_name((schedq_place_t)info->place));
    (void)ledger_life(ledger, info->pod.bits, key);
    question->objects[question->count] = info->object;
    question->shown[question->count++] = info->pod.bits;
    return 1;
}

void
actor_peek(struct actor *actor, unsigned count)
{
    struct question question = {.room = count};
    op_t op = {.kind = count == 1 ? OP_PEEK : OP_PEEK_MANY,
               .count = count,
               .visit = show,
               .ctx = &question};

    SIM_CHECK(count <= SHOWN_MAX, "%u pods are looked at", count);
    struct span span = act_run(actor, &op, (struct open_call){.kind = CALL_OTHER}, 0);
    question.status = (int)op.status;
    for (size_t i = 0; i < question.count; i++) {
        trace_note(actor->number, "  shows handle", (int64_t)question.shown[i]);
    }
    SIM_CHECK((op.status == SCHEDQ_OK) == (question.count > 0), "%s returns %s and shows %zu pods",
              op_name(op.kind), schedq_status_name(op.status), question.count);
    if (op.status == SCHEDQ_EMPTY) {
        ledger_look(ledger, true, 0, span.began, span.ended);
    }
    note(actor, &question, span);
}
