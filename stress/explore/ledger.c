/* Recording, and what can be said at once. */
#include "ledger.h"

#include "cluster.h"
#include "scheduler.h"

#include <assert.h>

void
ledger_reset(struct ledger *ledger)
{
    ledger->now = 0;
    ledger->attempt_count = ledger->life_count = ledger->look_count = ledger->occasion_count = 0;
    ledger->question_count = ledger->keep_count = ledger->cancel_count = 0;
    for (unsigned i = 0; i < OPEN_CALLS_MAX; i++) {
        ledger->calls[i].open = false;
    }
    ledger->relaxed = ledger->still_clock = ledger->moving_clock = false;
    ledger->backoff_pops = ledger->any_history = false;
    ledger->closing = NEVER;
    ledger->sums.adds = ledger->sums.pops = ledger->sums.dones = 0;
    ledger->sums.failures = ledger->sums.deletes = ledger->sums.updates = 0;
}

moment
ledger_begin(struct ledger *ledger, unsigned actor, struct open_call call)
{
    call.open = true;
    call.began = ++ledger->now;
    ledger->calls[actor] = call;
    return call.began;
}

moment
ledger_end(struct ledger *ledger, unsigned actor)
{
    ledger->calls[actor].open = false;
    return ++ledger->now;
}

uint64_t
ledger_attempt(struct ledger *ledger, struct attempt attempt)
{
    assert(ledger->attempt_count < ATTEMPTS_MAX);
    attempt.ended = NEVER;
    attempt.status = -1;
    attempt.references = 1; /* the caller's */
    ledger->attempts[ledger->attempt_count++] = attempt;
    return ledger->attempt_count;
}

struct attempt *
ledger_attempt_of(struct ledger *ledger, uint64_t object)
{
    if (object == 0 || object > ledger->attempt_count) {
        sim_fail("object %llu was never passed to the queue", (unsigned long long)object);
    }
    return &ledger->attempts[object - 1];
}

static struct life *
new_life(struct ledger *ledger, uint64_t handle, uint32_t key)
{
    assert(ledger->life_count < LIVES_MAX);
    struct life *life = &ledger->lives[ledger->life_count++];

    *life = (struct life){.handle = handle,
                          .key = key,
                          .add_began = NEVER,
                          .exists = NEVER,
                          .active = NEVER,
                          .poppable = NEVER,
                          .pop_began = NEVER,
                          .pop_ended = NEVER,
                          .end_began = NEVER,
                          .end_ended = NEVER,
                          .fail_began = NEVER,
                          .fail_ended = NEVER,
                          .flight_began = NEVER,
                          .due = INT64_MAX};
    return life;
}

struct life *
ledger_life(struct ledger *ledger, uint64_t handle, uint32_t key)
{
    SIM_CHECK(handle != 0, "pod %u has the handle 0", key);
    for (uint32_t i = ledger->life_count; i-- > 0;) {
        struct life *life = &ledger->lives[i];

        if (life->handle == handle) {
            SIM_CHECK(life->key == key, "handle 0x%llx named pod %u and names pod %u",
                      (unsigned long long)handle, life->key, key);
            return life;
        }
    }
    return new_life(ledger, handle, key);
}

struct life *
ledger_added_life(struct ledger *ledger, uint64_t handle, uint32_t key)
{
    struct life *life = ledger_life(ledger, handle, key);

    for (uint32_t i = 0; i < ledger->life_count; i++) {
        if (ledger->lives[i].handle == handle) {
            return &ledger->lives[i];
        }
    }
    return life;
}

struct life *
ledger_waiting(struct ledger *ledger, struct life *life)
{
    if (life->fail_began == NEVER) {
        return life;
    }
    if (life->next == 0) {
        struct life *next = new_life(ledger, life->handle, life->key);

        next->add_began = life->fail_began;
        next->attempts = life->attempts + 1;
        next->flight_began = life->pop_ended;
        next->rejectors = life->fail_rejectors;
        life->next = ledger->life_count;
    }
    return &ledger->lives[life->next - 1];
}

static moment
earlier(moment one, moment other)
{
    return one < other ? one : other;
}

void
ledger_told(struct ledger *ledger, struct life *life, schedq_place_t place, moment began,
            moment when)
{
    SIM_CHECK(place != SCHEDQ_NOWHERE, "pod %u is said to be nowhere", life->key);
    bool certain = life->add_began <= began || life->add_began == NEVER;

    if (place != SCHEDQ_INFLIGHT && life->fail_began != NEVER) {
        certain = life->pop_ended < began;
        life = certain ? ledger_waiting(ledger, life) : life;
    }
    SIM_CHECK(!sim_is_settled() || life->end_ended == NEVER || life->end_ended > began,
              "pod %u is said to be there: handle 0x%llx had ended before the call", life->key,
              (unsigned long long)life->handle);
    life->exists = earlier(life->exists, when);
    if (!certain && (life->attempts > 0 || life->fail_began != NEVER)) {
        return; /* true of an earlier flight, perhaps */
    }
    if (place == SCHEDQ_ACTIVE) {
        life->active = earlier(life->active, when);
    }
    if (place == SCHEDQ_ACTIVE || (place == SCHEDQ_BACKOFF && ledger->backoff_pops)) {
        life->poppable = earlier(life->poppable, when);
    }
}

void
ledger_popped(struct ledger *ledger, unsigned actor, const schedq_popped_t *popped, uint32_t key,
              moment began, moment ended)
{
    struct life *life = ledger_waiting(ledger, ledger_life(ledger, popped->pod.bits, key));
    const struct attempt *attempt = ledger_attempt_of(ledger, popped->object);

    SIM_CHECK(life->pops == 0, "pod %u is popped twice: handle 0x%llx, object %llu", key,
              (unsigned long long)life->handle, (unsigned long long)popped->object);
    SIM_CHECK(attempt->key == key, "pod %u is popped with the object of pod %u", key, attempt->key);
    SIM_CHECK(attempt->priority == popped->priority,
              "pod %u is popped with priority %d; its object has %d", key, popped->priority,
              attempt->priority);
    SIM_CHECK(attempt->keyed == ((popped->flags & SCHEDQ_POD_ORDER_KEY) != 0),
              "pod %u is popped with flags %u", key, popped->flags);
    SIM_CHECK(popped->history.attempts == life->attempts + 1 ||
                  (ledger->any_history && life->add_began == NEVER),
              "pod %u is popped with %u attempts, and was popped %u times before", key,
              popped->history.attempts, life->attempts);
    life->attempts = popped->history.attempts - 1;
    life->pops++;
    life->pop_began = began;
    life->pop_ended = ended;
    life->popped_at = cluster_is_used() ? cluster_now() : 0;
    life->object = popped->object;
    life->priority = popped->priority;
    life->timestamp = attempt->keyed ? attempt->order_key : popped->history.timestamp_ns;
    life->holder = actor;
    life->from_backoff = popped->from_backoff != 0;
    life->exists = earlier(life->exists, ended);
    ledger->sums.pops++;
}

void
ledger_ended(struct ledger *ledger, struct life *life, bool by_delete, moment began, moment ended)
{
    (void)ledger;
    SIM_CHECK(life->ends == 0, "pod %u ends twice: handle 0x%llx", life->key,
              (unsigned long long)life->handle);
    life->ends++;
    life->ended_by_delete = by_delete;
    life->end_began = began;
    life->end_ended = ended;
}

void
ledger_look(struct ledger *ledger, bool is_pop, uint32_t key, moment began, moment ended)
{
    if (ledger->look_count < LOOKS_MAX) {
        ledger->looks[ledger->look_count++] =
            (struct look){.is_pop = is_pop, .key = key, .began = began, .ended = ended};
    }
}

void
ledger_question(struct ledger *ledger, const struct question *question)
{
    assert(ledger->question_count < QUESTIONS_MAX);
    ledger->questions[ledger->question_count++] = *question;
}

void
ledger_fail_begins(struct life *life, uint64_t rejectors, moment began)
{
    life->fail_began = began;
    life->fail_rejectors = rejectors;
}

void
ledger_failed(struct ledger *ledger, struct life *life, schedq_place_t place, moment ended)
{
    life->fail_ended = ended;
    life->ends++;
    ledger->sums.failures++;
    ledger_told(ledger, life, place, life->fail_began, ended);
}

void
ledger_fail_refused(struct life *life, bool gone)
{
    SIM_CHECK(life->next == 0,
              "the failure of pod %u is refused, and it was seen elsewhere meanwhile", life->key);
    life->fail_began = NEVER;
    life->gones += gone ? 1 : 0;
}

struct cancel *
ledger_cancel(struct ledger *ledger, struct cancel cancel)
{
    assert(ledger->cancel_count < CANCELS_MAX);
    cancel.ended = NEVER;
    ledger->cancels[ledger->cancel_count] = cancel;
    return &ledger->cancels[ledger->cancel_count++];
}

struct keep *
ledger_keep(struct ledger *ledger, struct keep keep)
{
    assert(ledger->keep_count < KEEPS_MAX);
    keep.ended = NEVER;
    ledger->keeps[ledger->keep_count] = keep;
    return &ledger->keeps[ledger->keep_count++];
}

struct occasion *
ledger_occasion(struct ledger *ledger, struct occasion occasion)
{
    assert(ledger->occasion_count < OCCASIONS_MAX);
    occasion.ended = NEVER;
    ledger->occasions[ledger->occasion_count] = occasion;
    return &ledger->occasions[ledger->occasion_count++];
}
