/*
 * What a worker thread does: calls chosen by weight, each noted before it begins and entered in the
 * account when it is over. Whoever is stopped between the two leaves an `intent` that says which
 * names are open.
 */
#define _GNU_SOURCE /* gettid */
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "plugins.h"
#include "run.h"

#define POP_DEADLINE_NS INT64_C(1000000)

/* ---- random numbers and specs ---- */

unsigned
actor_roll(actor_t *actor, unsigned below)
{
    actor->random ^= actor->random << 13;
    actor->random ^= actor->random >> 7;
    actor->random ^= actor->random << 17;
    return (unsigned)((actor->random >> 16) % below);
}

void
actor_prepare(actor_t *actor, run_t *run, unsigned number)
{
    memset(actor, 0, sizeof *actor);
    actor->run = run;
    actor->number = number;
    actor->random =
        (run->seed + 1) * UINT64_C(0x9e3779b97f4a7c15) + number * UINT64_C(0xbf58476d1ce4e5b9);
    actor->random |= 1;
}

static void
describe(actor_t *actor, schedq_pod_spec_t *spec, unsigned index)
{
    *spec = (schedq_pod_spec_t)SCHEDQ_POD_SPEC_INIT;
    spec->object = index + 1;
    spec->priority = (int32_t)actor_roll(actor, 5) - 2;
    if (actor_roll(actor, 8) == 0) {
        spec->flags = SCHEDQ_POD_ORDER_KEY;
        spec->order_key = clock_now() - (int64_t)actor_roll(actor, 1000000);
    }
}

/* ---- the frame of a call ---- */

static void
count(atomic_uint_fast64_t *counter, size_t more)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

static void
take(actor_t *actor, const op_t *op)
{
    for (size_t i = 0; i < op->got; i++) {
        const schedq_popped_t *popped = &op->popped[i];
        unsigned index = tally_index(popped->name), held = atomic_load(&actor->held_count);
        TALLY_CHECK(&actor->run->tally, popped->object == index + 1,
                    "%s was popped with object %llu", popped->name,
                    (unsigned long long)popped->object);
        actor->held[held] = (held_t){popped->token, index};
        atomic_store(&actor->held_count, held + 1);
    }
    atomic_fetch_add_explicit(&actor->pods, op->got, memory_order_relaxed);
}

/*
 * `indices` are of the names whose account is open meanwhile, `ends` so many of the pods in hand
 * that are gone afterwards, the last ones.
 */
static schedq_status_t
make(actor_t *actor, op_t *op, const unsigned *indices, unsigned names, unsigned ends)
{
    for (unsigned i = 0; i < names; i++)
        actor->intent_index[i] = indices[i];
    actor->intent_count = names;
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&actor->intent, op->kind, memory_order_relaxed);
    ice_enter(&actor->ice, op->kind);
    (void)op_run(actor->worker, op);
    ice_leave(&actor->ice);
    count(&actor->calls, 1);
    /* the queue is closed when those that never sleep have ended: others may be late */
    bool late = actor->number >= FIRST_SLEEPER && actor->number < ACTORS_MAX;
    bool closes = (late || op->popped != NULL) && atomic_load(&actor->run->phase) == PHASE_DRAINING;
    unsigned works = tally_op(&actor->run->tally, actor->worker, op, indices, closes);
    count(&actor->works, works);
    take(actor, op);
    atomic_store(&actor->held_count, atomic_load(&actor->held_count) - ends);
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&actor->intent, OP_NONE, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    return op->status;
}

/* ---- calls for a name ---- */

static schedq_status_t
describe_and(actor_t *actor, op_t op, unsigned index)
{
    char name[32];
    schedq_pod_spec_t spec;
    describe(actor, &spec, index);
    spec.flags |= op.kind == OP_UPDATE ? SCHEDQ_POD_ADD : 0;
    op.name = name;
    op.name_length = tally_name(index, name);
    op.spec = &spec;
    op.old_object = spec.object;
    return make(actor, &op, &index, 1, 0);
}

schedq_status_t
actor_add_named(actor_t *actor, unsigned index)
{
    return describe_and(actor, (op_t){.kind = OP_ADD}, index);
}

static void
update(actor_t *actor)
{
    const schedq_event_t event = SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED;
    (void)describe_and(actor, (op_t){.kind = OP_UPDATE, .events = &event, .event_count = 1},
                       actor_roll(actor, TALLY_NAMES));
}

schedq_status_t
actor_readd_named(actor_t *actor, unsigned index)
{
    const schedq_history_t history = {0};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    return describe_and(actor, (op_t){.kind = OP_READD, .history = &history, .failure = &failure},
                        index);
}

static void
add_many(actor_t *actor)
{
    char names[BATCH * 32];
    schedq_add_item_t items[BATCH];
    unsigned indices[BATCH];
    op_t op = {.kind = OP_ADD_MANY,
               .count = BATCH,
               .names = names,
               .names_length = sizeof names,
               .items = items};
    for (unsigned i = 0; i < BATCH; i++) {
        indices[i] = actor_roll(actor, TALLY_NAMES);
        items[i].name_offset = i * 32;
        items[i].name_length = tally_name(indices[i], names + items[i].name_offset);
        describe(actor, &items[i].spec, indices[i]);
    }
    (void)make(actor, &op, indices, BATCH, 0);
}

schedq_status_t
actor_delete_named(actor_t *actor, unsigned index)
{
    char name[32];
    op_t op = {.kind = OP_DELETE, .name = name, .name_length = tally_name(index, name)};
    return make(actor, &op, &index, 1, 0);
}

schedq_status_t
actor_find_named(actor_t *actor, unsigned index, schedq_result_t *result)
{
    char name[32];
    op_t op = {.kind = OP_FIND, .name = name, .name_length = tally_name(index, name)};
    schedq_status_t status = make(actor, &op, NULL, 0, 0);
    *result = op.result;
    if (status == SCHEDQ_OK)
        TALLY_CHECK(&actor->run->tally, result->object == index + 1, "find %s: object %llu", name,
                    (unsigned long long)result->object);
    return status;
}

static int
visit(void *ctx, const schedq_pod_info_t *pod)
{
    run_t *run = ctx;
    TALLY_CHECK(&run->tally, pod->object == tally_index(pod->name) + 1, "get: %s has object %llu",
                pod->name, (unsigned long long)pod->object);
    return 1;
}

/* get or activate, of a pod that is there */
static void
touch(actor_t *actor, op_kind_t kind)
{
    schedq_result_t found;
    if (actor_find_named(actor, actor_roll(actor, TALLY_NAMES), &found) != SCHEDQ_OK)
        return;
    op_t op = {.kind = kind, .count = 1, .pods = &found.pod, .visit = visit, .ctx = actor->run};
    (void)make(actor, &op, NULL, 0, 0);
}

/* ---- events and time ---- */

void
actor_notify(actor_t *actor, schedq_event_t event)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = event;
    (void)make(actor, &(op_t){.kind = OP_NOTIFY, .change = &change}, NULL, 0, 0);
}

void
actor_tick(actor_t *actor)
{
    (void)make(actor, &(op_t){.kind = OP_TICK}, NULL, 0, 0);
}

/* ---- pops and what ends them ---- */

static schedq_status_t
pop(actor_t *actor, op_kind_t kind, int64_t deadline_ns)
{
    schedq_popped_t popped[BATCH];
    op_t op = {.kind = kind, .count = BATCH, .popped = popped, .deadline_ns = deadline_ns};
    return make(actor, &op, NULL, 0, 0);
}

schedq_status_t
actor_try_pop(actor_t *actor)
{
    return pop(actor, OP_TRY_POP, 0);
}

/* Ends the last pods in hand; `failure`: of add_unschedulable. */
static void
end(actor_t *actor, op_kind_t kind, unsigned pods, const schedq_failure_t *failure)
{
    schedq_token_t tokens[BATCH];
    unsigned indices[BATCH];
    const held_t *first = &actor->held[atomic_load(&actor->held_count) - pods];
    op_t op = {.kind = kind, .count = pods, .tokens = tokens, .failure = failure};
    for (unsigned i = 0; i < pods; i++) {
        tokens[i] = first[i].token;
        indices[i] = first[i].index;
    }
    (void)make(actor, &op, indices, pods, pods);
}

static void
fail(actor_t *actor)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.unschedulable = plugins_rejectors(actor);
    failure.pending = actor_roll(actor, 4) == 0 ? plugins_rejectors(actor) : 0;
    end(actor, OP_FAIL, 1, &failure);
}

void
actor_finish_held(actor_t *actor)
{
    bool fails = atomic_load(&actor->run->phase) == PHASE_RUNNING;
    unsigned held;
    while ((held = atomic_load(&actor->held_count)) > 0) {
        if (fails && actor_roll(actor, 3) == 0)
            fail(actor);
        else if (actor_roll(actor, 4) == 0)
            end(actor, OP_DONE_MANY, held < BATCH ? held : BATCH, NULL);
        else
            end(actor, OP_DONE, 1, NULL);
    }
}

/* ---- the thread ---- */

static void
pop_blocking(actor_t *actor)
{
    bool sleeper = actor->number >= FIRST_SLEEPER && actor_roll(actor, 2) == 0;
    (void)pop(actor, sleeper ? OP_POP : OP_POP_UNTIL, clock_now() + POP_DEADLINE_NS);
}

static op_kind_t
choose(actor_t *actor)
{
    const options_t *options = actor->run->options;
    unsigned roll = actor_roll(actor, options->weight_sum), kind = OP_NONE + 1;
    while (roll >= options->weights[kind])
        roll -= options->weights[kind++];
    return kind;
}

static void
do_one(actor_t *actor)
{
    schedq_result_t found;
    op_kind_t kind = choose(actor);
    switch (kind) {
    case OP_ADD:
        (void)actor_add_named(actor, actor_roll(actor, TALLY_NAMES));
        break;
    case OP_ADD_MANY:
        add_many(actor);
        break;
    case OP_TRY_POP:
    case OP_TRY_POP_MANY:
        (void)pop(actor, kind, 0);
        break;
    case OP_POP_UNTIL:
        pop_blocking(actor);
        break;
    case OP_DELETE:
        (void)actor_delete_named(actor, actor_roll(actor, TALLY_NAMES));
        break;
    case OP_UPDATE:
        update(actor);
        break;
    case OP_FIND:
        (void)actor_find_named(actor, actor_roll(actor, TALLY_NAMES), &found);
        break;
    case OP_GET:
    case OP_ACTIVATE:
        touch(actor, kind);
        break;
    case OP_NOTIFY:
        actor_notify(actor, plugins_event(actor));
        break;
    default:
        actor_tick(actor);
    }
}

void *
actor_main(void *argument)
{
    actor_t *actor = argument;
    run_t *run = actor->run;
    run_enter_thread();
    ice_take(&actor->ice);
    atomic_store(&actor->tid, (int)gettid());
    while (atomic_load(&run->phase) == PHASE_RUNNING) {
        do_one(actor);
        if (atomic_load(&actor->held_count) > HELD_MAX - BATCH || actor_roll(actor, 3) != 0)
            actor_finish_held(actor);
    }
    actor_finish_held(actor);
    while (actor->number >= FIRST_SLEEPER && pop(actor, OP_POP, 0) == SCHEDQ_OK)
        actor_finish_held(actor);
    return NULL;
}
