/*
 * Calls of actor.h. Each is a point, records its beginning, calls, empties the store buffer
 * (sim_call_ends), and records its end.
 */
#include "actor_calls.h"

#include "cluster.h"
#include "platform.h"
#include "trace.h"
#include "world.h"

#include "engine.h"
#include "platform/words.h"

#include <string.h>

#define BATCH_MAX 16
#define ANOTHER_THREAD 1000000

static struct ledger *const ledger = &world.ledger;

moment
act_begin(struct actor *actor, const char *text, struct open_call call)
{
    sim_point();
    trace_note(actor->number, text, call.key);
    return ledger_begin(ledger, actor->number, call);
}

moment
act_end(struct actor *actor, schedq_status_t status)
{
    sim_call_ends();
    trace_note(actor->number, schedq_status_name(status), 0);
    return ledger_end(ledger, actor->number);
}

void
act_check(struct actor *actor, const op_t *op, uint32_t legal)
{
    legal = op_legal(op, ledger->closing != NEVER, legal | world.refusals);
    for (size_t i = 0; i < op_elements(op); i++) {
        schedq_status_t status = op_element(op, i);

        SIM_CHECK((legal >> status & 1) != 0, "%s returns %s: %s", op_name(op->kind),
                  schedq_status_name(status), schedq_worker_error(actor->worker));
    }
}

struct span
act_run(struct actor *actor, op_t *op, struct open_call call, uint32_t legal)
{
    moment began = act_begin(actor, op_name(op->kind), call);
    schedq_status_t status = op_run(actor->worker, op);
    moment ended = act_end(actor, status);

    act_check(actor, op, legal);
    return (struct span){began, ended};
}

/* ---- workers --------------------------------------------------------------------------------- */

void
actor_register(struct actor *actor)
{
    char why[200];

    (void)act_begin(actor, "register", (struct open_call){.kind = CALL_WORKER});
    schedq_status_t status = schedq_worker_register(world.queue, &actor->worker, why, sizeof why);
    (void)act_end(actor, status);
    SIM_CHECK(status == SCHEDQ_OK, "worker_register returns %s: %s", schedq_status_name(status),
              why);
}

void
actor_unregister(struct actor *actor)
{
    (void)act_begin(actor, "unregister", (struct open_call){.kind = CALL_WORKER});
    schedq_status_t status = schedq_worker_unregister(actor->worker);
    (void)act_end(actor, status);
    SIM_CHECK(status == SCHEDQ_OK, "worker_unregister returns %s", schedq_status_name(status));
    actor->worker = NULL;
}

bool
actor_adopt(struct actor *actor, const struct actor *frozen)
{
    const struct open_call *last = &ledger->calls[frozen->number];

    (void)act_begin(actor, "adopt the worker of thread",
                    (struct open_call){.kind = CALL_WORKER, .key = frozen->number});
    schedq_status_t status = schedq_worker_adopt(world.queue, frozen->worker);
    (void)act_end(actor, status);
    SIM_CHECK(status == SCHEDQ_OK ||
                  (status == SCHEDQ_INVALID && last->open && last->kind == CALL_WORKER),
              "worker_adopt returns %s", schedq_status_name(status));
    if (status == SCHEDQ_OK) {
        actor->worker = frozen->worker;
    }
    return status == SCHEDQ_OK;
}

/* The worker of a thread that stopped while it registered, or the reverse, may be another's. */
static struct actor *
find_frozen(void)
{
    for (unsigned i = 0; i < SIM_THREADS_MAX; i++) {
        const struct open_call *last = &ledger->calls[i];

        if (sim_is_frozen(i) && world.actors[i].worker != NULL &&
            !(last->open && last->kind == CALL_WORKER)) {
            return &world.actors[i];
        }
    }
    return NULL;
}

void
actor_succeed(struct actor *actor)
{
    struct actor *frozen = find_frozen();

    if (frozen != NULL) {
        const struct actor dead = *frozen;

        frozen->worker = NULL; /* its successor has it now */
        sim_drain();
        actor_unregister(actor);
        (void)actor_adopt(actor, &dead);
    }
}

/* ---- describing pods ------------------------------------------------------------------------- */

schedq_pod_spec_t
act_spec(const struct actor *actor, uint64_t object)
{
    const struct attempt *attempt = ledger_attempt_of(ledger, object);
    schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;

    trace_note(actor->number, "  object", (int64_t)object);
    trace_note(actor->number, "  priority", attempt->priority);
    if (attempt->keyed) {
        trace_note(actor->number, "  order key", attempt->order_key);
    }

    spec.object = object;
    spec.priority = attempt->priority;
    spec.order_key = attempt->order_key;
    spec.not_before_ns = attempt->not_before_ns;
    spec.label = attempt->label;
    spec.class_id = attempt->class_id;
    spec.flags = attempt->keyed ? SCHEDQ_POD_ORDER_KEY : 0;
    return spec;
}

static void
drop_reference(struct attempt *attempt)
{
    attempt->references--;
}

void
act_attempt_ends(struct attempt *attempt, schedq_status_t status, moment ended)
{
    attempt->status = (int)status;
    attempt->ended = ended;
    drop_reference(attempt);
}

void
act_attempt_added(struct attempt *attempt, schedq_place_t place, uint64_t handle, moment began,
                  moment ended)
{
    attempt->added = true;
    attempt->handle = handle;
    struct life *life = ledger_added_life(ledger, handle, attempt->key);

    ledger->sums.adds++;
    life->add_began = began;
    ledger_told(ledger, life, place, began, ended);
}

static void
note_time(uint64_t handle, const struct attempt *attempt, moment ended)
{
    if (attempt->not_before_ns != 0) {
        ledger_keep(ledger, (struct keep){.handle = handle,
                                          .is_time = true,
                                          .until = attempt->not_before_ns,
                                          .began = attempt->began})
            ->ended = ended;
    }
}

static bool
add(struct actor *actor, struct attempt wanted)
{
    op_t op = {.kind = OP_ADD};
    op.name = world_name(wanted.key, &op.name_length);
    moment began = act_begin(actor, "add", (struct open_call){.kind = CALL_ADD, .key = wanted.key});

    wanted.began = began;
    uint64_t object = ledger_attempt(ledger, wanted);
    schedq_pod_spec_t spec = act_spec(actor, object);
    op.spec = &spec;
    schedq_status_t status = op_run(actor->worker, &op);
    moment ended = act_end(actor, status);
    act_check(actor, &op, 0);
    act_attempt_ends(ledger_attempt_of(ledger, object), status, ended);
    if (status == SCHEDQ_OK) {
        SIM_CHECK(op.result.place == SCHEDQ_ACTIVE ||
                      (op.result.place == SCHEDQ_GATED && cluster_has_gates()) ||
                      (op.result.place == SCHEDQ_HELD && wanted.not_before_ns != 0),
                  "add says place %s", schedq_place_name((schedq_place_t)op.result.place));
        act_attempt_added(ledger_attempt_of(ledger, object), (schedq_place_t)op.result.place,
                          op.result.pod.bits, began, ended);
        note_time(op.result.pod.bits, &wanted, ended);
    } else if (status == SCHEDQ_EXISTS) {
        ledger_told(ledger, ledger_life(ledger, op.result.pod.bits, wanted.key),
                    (schedq_place_t)op.result.place, began, ended);
    }
    return status == SCHEDQ_OK;
}

bool
actor_add(struct actor *actor, uint32_t key, int32_t priority)
{
    return add(actor, (struct attempt){.key = key, .priority = priority});
}

bool
actor_add_labelled(struct actor *actor, uint32_t key, int32_t priority, uint64_t label)
{
    return add(actor, (struct attempt){.key = key, .priority = priority, .label = label});
}

bool
actor_add_of_class(struct actor *actor, uint32_t key, int32_t priority, uint64_t class_id)
{
    return add(actor, (struct attempt){.key = key, .priority = priority, .class_id = class_id});
}

bool
actor_add_at(struct actor *actor, uint32_t key, int32_t priority, int64_t order_key)
{
    return add(actor, (struct attempt){
                          .key = key, .priority = priority, .order_key = order_key, .keyed = true});
}

bool
actor_add_until(struct actor *actor, uint32_t key, int32_t priority, int64_t ns)
{
    return add(actor, (struct attempt){
                          .key = key, .priority = priority, .not_before_ns = cluster_now() + ns});
}

static unsigned
end_of_batch(const uint64_t *objects, const schedq_pod_t *pods, const uint8_t *statuses,
             uint32_t count, moment ended)
{
    unsigned existing = 0;

    for (uint32_t i = 0; i < count; i++) {
        struct attempt *attempt = ledger_attempt_of(ledger, objects[i]);

        act_attempt_ends(attempt, (schedq_status_t)statuses[i], ended);
        if (statuses[i] == SCHEDQ_OK) {
            act_attempt_added(attempt, SCHEDQ_ACTIVE, pods[i].bits, attempt->began, ended);
        }
        existing += statuses[i] == SCHEDQ_EXISTS;
    }
    return existing;
}

/* Each has a priority by `step` higher than the one before it. */
static unsigned
add_many(struct actor *actor, uint32_t first, uint32_t count, int32_t priority, int32_t step)
{
    char names[BATCH_MAX * (SCHEDQ_NAME_MAX + 1)];
    schedq_add_item_t items[BATCH_MAX];
    schedq_pod_t pods[BATCH_MAX];
    uint64_t objects[BATCH_MAX];
    uint32_t used = 0;
    op_t op = {.kind = OP_ADD_MANY,
               .count = count,
               .names = names,
               .names_length = sizeof names,
               .items = items,
               .added = pods};
    moment began =
        act_begin(actor, "add_many, first pod", (struct open_call){.kind = CALL_ADD, .key = first});

    SIM_CHECK(count <= BATCH_MAX, "a batch of %u", count);
    for (uint32_t i = 0; i < count; i++) {
        size_t length;
        const char *name = world_name(first + i, &length);

        objects[i] =
            ledger_attempt(ledger, (struct attempt){.key = first + i,
                                                    .priority = priority + (int32_t)i * step,
                                                    .began = began});
        items[i] = (schedq_add_item_t){used, (uint32_t)length, act_spec(actor, objects[i])};
        memcpy(names + used, name, length);
        used += (uint32_t)length;
    }
    schedq_status_t status = op_run(actor->worker, &op);
    moment ended = act_end(actor, status);
    act_check(actor, &op, 0);
    return end_of_batch(objects, pods, op.statuses, count, ended);
}

unsigned
actor_add_many(struct actor *actor, uint32_t first, uint32_t count, int32_t priority)
{
    return add_many(actor, first, count, priority, 0);
}

unsigned
actor_add_rising(struct actor *actor, uint32_t first, uint32_t count, int32_t priority)
{
    return add_many(actor, first, count, priority, 1);
}

static void
note_replaced(uint64_t object)
{
    struct attempt *attempt = ledger_attempt_of(ledger, object);

    SIM_CHECK(!attempt->replaced, "two updates say that they replaced object %llu",
              (unsigned long long)object);
    attempt->replaced = true;
}

/*
 * `event`: what the update is classified as; NULL: nothing that could help. `only`: the pod that is
 * meant; 0: whoever has the name.
 */
static bool
update(struct actor *actor, struct attempt wanted, const schedq_event_t *event, schedq_pod_t only)
{
    struct occasion *occasion = NULL;
    op_t op = {.kind = OP_UPDATE, .events = event, .event_count = event != NULL};
    op.name = world_name(wanted.key, &op.name_length);
    moment began =
        act_begin(actor, "update", (struct open_call){.kind = CALL_UPDATE, .key = wanted.key});

    wanted.began = began;
    wanted.is_update = true;
    uint64_t object = ledger_attempt(ledger, wanted);
    schedq_pod_spec_t spec = act_spec(actor, object);
    spec.only = only;
    spec.flags |= only.bits != 0 ? 0 : SCHEDQ_POD_ADD;
    if (event != NULL) {
        occasion = ledger_occasion(ledger, cluster_reach(*event));
        occasion->began = began;
        occasion->is_update = true;
    }
    op.spec = &spec;
    schedq_status_t status = op_run(actor->worker, &op);
    schedq_result_t result = op.result;
    moment ended = act_end(actor, status);
    act_check(actor, &op, 0);
    SIM_CHECK(only.bits == 0 || status != SCHEDQ_OK || result.pod.bits == only.bits,
              "an update of pod 0x%llx says that it updated 0x%llx", (unsigned long long)only.bits,
              (unsigned long long)result.pod.bits);
    struct attempt *attempt = ledger_attempt_of(ledger, object);
    act_attempt_ends(attempt, status, ended);
    if (status == SCHEDQ_OK && result.added) {
        act_attempt_added(attempt, (schedq_place_t)result.place, result.pod.bits, began, ended);
    } else if (status == SCHEDQ_OK) {
        if (occasion != NULL) {
            occasion->handle = result.pod.bits;
            occasion->ended = ended;
        }
        attempt->handle = result.pod.bits;
        attempt->instead_of = result.object;
        attempt->met_at = (schedq_place_t)result.place;
        ledger->sums.updates++;
        note_replaced(result.object);
        ledger_told(ledger, ledger_life(ledger, result.pod.bits, wanted.key),
                    (schedq_place_t)result.place, began, ended);
    }
    return status == SCHEDQ_OK;
}

bool
actor_update(struct actor *actor, uint32_t key, int32_t priority)
{
    return update(actor, (struct attempt){.key = key, .priority = priority}, NULL,
                  (schedq_pod_t){0});
}

bool
actor_update_event(struct actor *actor, uint32_t key, int32_t priority, schedq_event_t event)
{
    return update(actor, (struct attempt){.key = key, .priority = priority}, &event,
                  (schedq_pod_t){0});
}

bool
actor_update_of_class(struct actor *actor, uint32_t key, int32_t priority, uint64_t class_id)
{
    return update(actor, (struct attempt){.key = key, .priority = priority, .class_id = class_id},
                  NULL, (schedq_pod_t){0});
}

bool
actor_update_at(struct actor *actor, uint32_t key, int32_t priority, int64_t order_key)
{
    return update(
        actor,
        (struct attempt){.key = key, .priority = priority, .order_key = order_key, .keyed = true},
        NULL, (schedq_pod_t){0});
}

bool
actor_update_found(struct actor *actor, uint32_t key, int32_t priority)
{
    schedq_result_t found;

    return act_find(actor, key, &found) &&
           update(actor, (struct attempt){.key = key, .priority = priority}, NULL, found.pod);
}

/* ---- deleting, looking ----------------------------------------------------------------------- */

static bool
delete_pod(struct actor *actor, uint32_t key, schedq_pod_t pod)
{
    op_t op = {.kind = OP_DELETE, .pods = &pod};

    if (pod.bits == 0) {
        op.name = world_name(key, &op.name_length);
    }
    struct span span = act_run(actor, &op, (struct open_call){.kind = CALL_DELETE, .key = key}, 0);
    if (op.status == SCHEDQ_OK) {
        struct life *life = ledger_life(ledger, op.result.pod.bits, key);

        life = op.result.place == SCHEDQ_NOWHERE ? ledger_waiting(ledger, life) : life;
        SIM_CHECK(op.result.place == SCHEDQ_NOWHERE || op.result.place == SCHEDQ_INFLIGHT,
                  "delete says place %s", schedq_place_name((schedq_place_t)op.result.place));
        life->deleted_in_flight = op.result.place == SCHEDQ_INFLIGHT;
        ledger->sums.deletes++;
        ledger_ended(ledger, life, true, span.began, span.ended);
    } else if (pod.bits == 0) {
        ledger_look(ledger, false, key, span.began, span.ended);
    }
    return op.status == SCHEDQ_OK;
}

bool
actor_delete(struct actor *actor, uint32_t key)
{
    return delete_pod(actor, key, (schedq_pod_t){0});
}

bool
actor_delete_held(struct actor *actor, unsigned held)
{
    const schedq_popped_t *popped = &actor->held[held];

    return delete_pod(actor, world_key(popped->name, popped->name_length), popped->pod);
}

/* kube 1.26 parks a pod whose attempt ended in an error, so no rejector says why it is parked. */
static bool
parks_without_rejectors(void)
{
    return world.config.requeue == SCHEDQ_REQUEUE_MOVE_CYCLE;
}

bool
act_find(struct actor *actor, uint32_t key, schedq_result_t *result)
{
    op_t op = {.kind = OP_FIND};

    op.name = world_name(key, &op.name_length);
    struct span span = act_run(actor, &op, (struct open_call){.kind = CALL_FIND, .key = key}, 0);
    *result = op.result;
    if (op.status == SCHEDQ_OK) {
        const struct attempt *attempt = ledger_attempt_of(ledger, result->object);

        SIM_CHECK(attempt->key == key, "find of pod %u gives the object of pod %u", key,
                  attempt->key);
        SIM_CHECK(result->place != SCHEDQ_PARKED || parks_without_rejectors() ||
                      (result->unschedulable | result->pending) != 0,
                  "find says that pod %u is parked, and nothing rejected it", key);
        ledger_told(ledger, ledger_life(ledger, result->pod.bits, key),
                    (schedq_place_t)result->place, span.began, span.ended);
    } else {
        ledger_look(ledger, false, key, span.began, span.ended);
    }
    return op.status == SCHEDQ_OK;
}

bool
actor_find(struct actor *actor, uint32_t key)
{
    schedq_result_t result;

    return act_find(actor, key, &result);
}

struct visit {
    schedq_pod_t pod;
    uint32_t key;
    unsigned visits;
};

static int
visit_pod(void *ctx, const schedq_pod_info_t *info)
{
    struct visit *visit = ctx;
    const struct attempt *attempt = ledger_attempt_of(ledger, info->object);

    visit->visits++;
    SIM_CHECK(info->pod.bits == visit->pod.bits, "get of handle 0x%llx visits 0x%llx",
              (unsigned long long)visit->pod.bits, (unsigned long long)info->pod.bits);
    SIM_CHECK(world_key(info->name, info->name_length) == visit->key, "get of pod %u visits %s",
              visit->key, info->name);
    SIM_CHECK(attempt->key == visit->key && attempt->priority == info->priority,
              "get of pod %u gives an object of pod %u, priority %d with %d", visit->key,
              attempt->key, attempt->priority, info->priority);
    SIM_CHECK(world.config.objects != SCHEDQ_OBJECTS_COUNTED || attempt->references > 0,
              "get of pod %u gives an object that was released", visit->key);
    return 1;
}

bool
actor_get(struct actor *actor, uint32_t key)
{
    schedq_result_t result;

    if (!act_find(actor, key, &result)) {
        return false;
    }
    struct visit visit = {.pod = result.pod, .key = key};
    op_t op = {.kind = OP_GET, .pods = &result.pod, .visit = visit_pod, .ctx = &visit};

    (void)act_run(actor, &op, (struct open_call){.kind = CALL_FIND, .key = key}, 0);
    SIM_CHECK(visit.visits == (op.status == SCHEDQ_OK), "get of pod %u visits %u pods", key,
              visit.visits);
    return op.status == SCHEDQ_OK;
}

/* ---- popping --------------------------------------------------------------------------------- */

static void
check_held_object(const schedq_popped_t *popped)
{
    const struct attempt *attempt = ledger_attempt_of(ledger, popped->object);

    SIM_CHECK(world.config.objects != SCHEDQ_OBJECTS_COUNTED || attempt->references > 0,
              "object %llu is popped, and was released", (unsigned long long)popped->object);
}

static void
took(struct actor *actor, moment began, moment ended)
{
    const schedq_popped_t *popped = &actor->held[actor->holds++];
    uint32_t key = world_key(popped->name, popped->name_length);

    trace_note(actor->number, "  has pod", key);
    check_held_object(popped);
    ledger_popped(ledger, actor->number, popped, key, began, ended);
}

/*
 * The look that a sleeper's answer implies began when it was called: only its last part is sure,
 * which is no help.
 */
static unsigned
pop(struct actor *actor, op_kind_t kind, unsigned capacity, int64_t deadline_ns)
{
    schedq_popped_group_t group;
    op_t op = {.kind = kind,
               .count = capacity,
               .room = capacity,
               .popped = &actor->held[actor->holds],
               .popped_group = &group,
               .deadline_ns = deadline_ns};

    SIM_CHECK(actor->holds + capacity <= HELD_MAX, "actor %u holds %u pods", actor->number,
              actor->holds);
    struct span span =
        act_run(actor, &op, (struct open_call){.kind = CALL_POP, .capacity = capacity}, 0);
    SIM_CHECK((op.status == SCHEDQ_OK) == (op.got > 0) && op.got <= capacity,
              "%s returns %s and %zu pods", op_name(kind), schedq_status_name(op.status), op.got);
    for (size_t i = 0; i < op.got; i++) {
        took(actor, span.began, span.ended);
    }
    if (op.got == 0 && op.status != SCHEDQ_CANCELED) {
        ledger_look(ledger, true, 0, span.began, span.ended);
    }
    return (unsigned)op.got;
}

bool
actor_pop(struct actor *actor)
{
    return pop(actor, OP_TRY_POP, 1, 0) == 1;
}

bool
actor_pop_or_group(struct actor *actor)
{
    return pop(actor, OP_TRY_POP_GROUP, 1, 0) == 1;
}

bool
actor_pop_wait(struct actor *actor)
{
    return pop(actor, OP_POP, 1, 0) == 1;
}

bool
actor_pop_until(struct actor *actor, int64_t after_ns)
{
    return pop(actor, OP_POP_UNTIL, 1, sim_now() + after_ns) == 1;
}

unsigned
actor_pop_many(struct actor *actor, unsigned capacity)
{
    return pop(actor, OP_TRY_POP_MANY, capacity, 0);
}

unsigned
actor_pop_many_wait(struct actor *actor, unsigned capacity)
{
    return pop(actor, OP_POP_MANY_UNTIL, capacity, SCHEDQ_NO_DEADLINE);
}

void
actor_wait_cancel(struct actor *actor, unsigned number)
{
    op_t op = {.kind = OP_WAIT_CANCEL, .waits = world.actors[number].worker};

    (void)act_run(actor, &op, (struct open_call){.kind = CALL_OTHER, .key = number}, 0);
}

bool
actor_poll_and_pop(struct actor *actor, unsigned pops)
{
    bool closed;

    platform_poll();
    do {
        closed = schedq_words(world.queue)->closed != 0;
        if (!actor_pop(actor)) {
            return !closed;
        }
    } while (--pops > 0);
    return true;
}

/* ---- using tokens ---------------------------------------------------------------------------- */

/* The last reference may have been this one: the object is not looked at any more. */
static bool
done_ends(const schedq_popped_t *done, schedq_status_t status, struct span span)
{
    struct life *life =
        ledger_life(ledger, done->pod.bits, ledger_attempt_of(ledger, done->object)->key);

    if (status == SCHEDQ_OK) {
        ledger->sums.dones++;
        ledger_ended(ledger, life, false, span.began, span.ended);
    } else {
        life->gones++;
    }
    return status == SCHEDQ_OK;
}

void
act_let_go(struct actor *actor)
{
    actor->last = actor->held[0];
    actor->holds--;
    memmove(&actor->held[0], &actor->held[1], actor->holds * sizeof actor->held[0]);
}

bool
actor_done(struct actor *actor)
{
    schedq_popped_t done = actor->held[0];
    op_t op = {.kind = OP_DONE, .tokens = &done.token};

    if (actor->guest) {
        word_store(&actor->worker->busy, (uint64_t)ANOTHER_THREAD);
    }
    struct span span =
        act_run(actor, &op,
                (struct open_call){
                    .kind = CALL_DONE, .handle = done.pod.bits, .key = (uint32_t)done.object},
                0);

    if (actor->guest) {
        worker_give_back(actor->worker);
    }
    act_let_go(actor);
    return done_ends(&done, op.status, span);
}

bool
actor_done_all(struct actor *actor)
{
    bool all = true;

    while (actor->holds > 0) {
        all = actor_done(actor) && all;
    }
    return all;
}

bool
actor_done_many(struct actor *actor)
{
    schedq_token_t tokens[HELD_MAX];
    unsigned count = actor->holds;
    op_t op = {.kind = OP_DONE_MANY, .count = count, .tokens = tokens};
    bool all = true;

    for (unsigned i = 0; i < count; i++) {
        tokens[i] = actor->held[i].token;
    }
    struct span span = act_run(actor, &op, (struct open_call){.kind = CALL_DONE, .key = count}, 0);
    for (unsigned i = 0; i < count; i++) {
        all = done_ends(&actor->held[i], op_element(&op, i), span) && all;
    }
    actor->holds = 0;
    return all;
}

void
actor_consume(struct actor *actor, unsigned pops)
{
    for (unsigned i = 0; i < pops; i++) {
        if (actor_pop(actor)) {
            (void)actor_done(actor);
        }
    }
}

void
actor_token_alive(struct actor *actor)
{
    op_t op = {.kind = OP_TOKEN_ALIVE, .tokens = &actor->held[0].token};

    (void)act_run(actor, &op, (struct open_call){.kind = CALL_OTHER}, 0);
}

/* ---- the rest -------------------------------------------------------------------------------- */

void
actor_close(struct actor *actor)
{
    moment began = act_begin(actor, "close", (struct open_call){.kind = CALL_OTHER});

    if (ledger->closing == NEVER) {
        ledger->closing = began;
    }
    schedq_status_t status = schedq_close(world.queue);
    (void)act_end(actor, status);
    SIM_CHECK(status == SCHEDQ_OK, "close returns %s", schedq_status_name(status));
}

void
actor_trim(struct actor *actor)
{
    (void)act_begin(actor, "trim", (struct open_call){.kind = CALL_OTHER});
    schedq_status_t status = schedq_trim(world.queue);
    (void)act_end(actor, status);
    SIM_CHECK(status == SCHEDQ_OK, "trim returns %s", schedq_status_name(status));
}

void
actor_reserve(struct actor *actor, uint32_t pods, uint32_t bands, uint32_t workers)
{
    char why[200];

    (void)act_begin(actor, "reserve", (struct open_call){.kind = CALL_OTHER, .key = pods});
    schedq_status_t status = schedq_reserve(world.queue, pods, bands, workers, why, sizeof why);
    (void)act_end(actor, status);
    SIM_CHECK(status == SCHEDQ_OK, "reserve returns %s: %s", schedq_status_name(status), why);
}
