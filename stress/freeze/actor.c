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

/* Names lie 32 bytes apart in `names`. */
static void
describe(actor_t *actor, schedq_pod_spec_t *spec, char *names, unsigned index, unsigned position)
{
    memset(spec, 0, sizeof *spec);
    spec->name_offset = position * 32;
    spec->name_length = tally_name(index, names + spec->name_offset);
    spec->object = index + 1;
    spec->priority = (int32_t)actor_roll(actor, 5) - 2;
    if (actor_roll(actor, 8) == 0) {
        spec->flags = SCHEDQ_POD_ORDER_KEY;
        spec->order_key = clock_now() - (int64_t)actor_roll(actor, 1000000);
    }
}

/* ---- the frame of a call ---- */

static void
begin(actor_t *actor, call_t call, const unsigned *indices, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        actor->intent_index[i] = indices[i];
    actor->intent_count = count;
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&actor->intent, call, memory_order_relaxed);
    ice_enter(&actor->ice, call);
}

static void
end(actor_t *actor)
{
    ice_leave(&actor->ice);
    atomic_store_explicit(&actor->calls,
                          atomic_load_explicit(&actor->calls, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* The call that is over changed something. */
static void
worked(actor_t *actor)
{
    atomic_store_explicit(&actor->works,
                          atomic_load_explicit(&actor->works, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static void
entered(actor_t *actor)
{
    atomic_signal_fence(memory_order_seq_cst);
    atomic_store_explicit(&actor->intent, CALL_NONE, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
}

static void
expect(actor_t *actor, bool good, call_t call, schedq_status_t status)
{
    TALLY_CHECK(&actor->run->tally, good, "%s says %s: %s", call_name(call),
                schedq_status_name(status),
                actor->worker != NULL ? schedq_worker_error(actor->worker) : "");
}

/* ---- adds, updates, deletes, looks ---- */

schedq_status_t
actor_add_named(actor_t *actor, unsigned index)
{
    char name[32];
    schedq_pod_spec_t spec;
    describe(actor, &spec, name, index, 0);
    begin(actor, CALL_ADD, &index, 1);
    schedq_status_t status = schedq_add(actor->worker, name, &spec, NULL);
    end(actor);
    if (status == SCHEDQ_OK) {
        atomic_fetch_add(&actor->run->tally.adds[index], 1);
        worked(actor);
    }
    entered(actor);
    expect(actor, status == SCHEDQ_OK || status == SCHEDQ_EXISTS, CALL_ADD, status);
    return status;
}

static void
add_many(actor_t *actor)
{
    char names[BATCH * 32];
    schedq_pod_spec_t specs[BATCH];
    unsigned indices[BATCH];
    uint8_t statuses[BATCH];
    for (unsigned i = 0; i < BATCH; i++) {
        indices[i] = actor_roll(actor, TALLY_NAMES);
        describe(actor, &specs[i], names, indices[i], i);
    }
    begin(actor, CALL_ADD_MANY, indices, BATCH);
    (void)schedq_add_many(actor->worker, names, specs, BATCH, NULL, statuses, NULL);
    end(actor);
    for (unsigned i = 0; i < BATCH; i++) {
        if (statuses[i] == SCHEDQ_OK) {
            atomic_fetch_add(&actor->run->tally.adds[indices[i]], 1);
            worked(actor);
        }
    }
    entered(actor);
    for (unsigned i = 0; i < BATCH; i++)
        expect(actor, statuses[i] == SCHEDQ_OK || statuses[i] == SCHEDQ_EXISTS, CALL_ADD_MANY,
               (schedq_status_t)statuses[i]);
}

static void
update(actor_t *actor)
{
    char name[32];
    schedq_pod_spec_t spec;
    schedq_result_t result;
    const schedq_event_t event = SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED;
    unsigned index = actor_roll(actor, TALLY_NAMES);
    describe(actor, &spec, name, index, 0);
    begin(actor, CALL_UPDATE, &index, 1);
    schedq_status_t status = schedq_update(actor->worker, name, &spec, spec.object, &event,
                                           run_waits(actor->run), &result);
    end(actor);
    if (status == SCHEDQ_OK && result.added)
        atomic_fetch_add(&actor->run->tally.adds[index], 1);
    else if (status == SCHEDQ_OK)
        atomic_fetch_add(&actor->run->updates, 1);
    if (status == SCHEDQ_OK)
        worked(actor);
    entered(actor);
    expect(actor, status == SCHEDQ_OK, CALL_UPDATE, status);
}

schedq_status_t
actor_delete_named(actor_t *actor, unsigned index)
{
    char name[32];
    schedq_result_t result;
    uint32_t length = tally_name(index, name);
    begin(actor, CALL_DELETE, &index, 1);
    schedq_status_t status = schedq_delete(actor->worker, (schedq_pod_t){0}, name, length, &result);
    end(actor);
    if (status == SCHEDQ_OK) {
        atomic_fetch_add(&actor->run->tally.deletes[index], 1);
        worked(actor);
        if (result.place == SCHEDQ_INFLIGHT)
            atomic_fetch_add(&actor->run->deletes_in_flight, 1);
    }
    entered(actor);
    expect(actor, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND, CALL_DELETE, status);
    return status;
}

schedq_status_t
actor_find_named(actor_t *actor, unsigned index, schedq_result_t *result)
{
    char name[32];
    uint32_t length = tally_name(index, name);
    begin(actor, CALL_FIND, NULL, 0);
    schedq_status_t status = schedq_find(actor->worker, name, length, result);
    end(actor);
    entered(actor);
    expect(actor, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND, CALL_FIND, status);
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

static void
get(actor_t *actor)
{
    schedq_result_t found;
    if (actor_find_named(actor, actor_roll(actor, TALLY_NAMES), &found) != SCHEDQ_OK)
        return;
    begin(actor, CALL_GET, NULL, 0);
    schedq_status_t status = schedq_get(actor->worker, found.pod, visit, actor->run);
    end(actor);
    entered(actor);
    expect(actor, status == SCHEDQ_OK || status == SCHEDQ_NOT_FOUND, CALL_GET, status);
}

schedq_status_t
actor_readd_named(actor_t *actor, unsigned index)
{
    const schedq_history_t history = {0};
    char name[32];
    schedq_pod_spec_t spec;
    schedq_failure_t failure;
    describe(actor, &spec, name, index, 0);
    schedq_failure_init(&failure);
    begin(actor, CALL_READD, &index, 1);
    schedq_status_t status = schedq_readd(actor->worker, name, &spec, &history, &failure, NULL);
    end(actor);
    if (status == SCHEDQ_OK)
        atomic_fetch_add(&actor->run->tally.adds[index], 1);
    entered(actor);
    expect(actor, status == SCHEDQ_OK || status == SCHEDQ_EXISTS, CALL_READD, status);
    return status;
}

void
actor_move_all(actor_t *actor, schedq_event_t event)
{
    schedq_move_t move;
    schedq_move_init(&move);
    move.event = event;
    begin(actor, CALL_MOVE_ALL, NULL, 0);
    schedq_status_t status = schedq_move_all(actor->worker, &move, NULL);
    end(actor);
    entered(actor);
    expect(actor, status == SCHEDQ_OK, CALL_MOVE_ALL, status);
}

static void
activate(actor_t *actor)
{
    schedq_result_t found;
    if (actor_find_named(actor, actor_roll(actor, TALLY_NAMES), &found) != SCHEDQ_OK)
        return;
    begin(actor, CALL_ACTIVATE, NULL, 0);
    schedq_status_t status = schedq_activate(actor->worker, &found.pod, 1, NULL);
    end(actor);
    entered(actor);
    expect(actor, status == SCHEDQ_OK, CALL_ACTIVATE, status);
}

void
actor_tick(actor_t *actor)
{
    begin(actor, CALL_TICK, NULL, 0);
    schedq_status_t status = schedq_tick(actor->worker, NULL, NULL);
    end(actor);
    entered(actor);
    expect(actor, status == SCHEDQ_OK, CALL_TICK, status);
}

/* ---- pops and what ends them ---- */

static void
take(actor_t *actor, const schedq_popped_t *popped, size_t count)
{
    run_t *run = actor->run;
    for (size_t i = 0; i < count; i++) {
        unsigned index = tally_index(popped[i].name), held = atomic_load(&actor->held_count);
        TALLY_CHECK(&run->tally, popped[i].object == index + 1, "%s was popped with object %llu",
                    popped[i].name, (unsigned long long)popped[i].object);
        actor->held[held] = (held_t){popped[i].token, index};
        atomic_store(&actor->held_count, held + 1);
        atomic_fetch_add(&run->pops, 1);
        worked(actor);
    }
    atomic_fetch_add_explicit(&actor->pods, count, memory_order_relaxed);
}

schedq_status_t
actor_try_pop(actor_t *actor)
{
    schedq_popped_t popped;
    begin(actor, CALL_TRY_POP, NULL, 0);
    schedq_status_t status = schedq_try_pop(actor->worker, &popped);
    end(actor);
    if (status == SCHEDQ_OK)
        take(actor, &popped, 1);
    entered(actor);
    expect(actor, status == SCHEDQ_OK || status == SCHEDQ_EMPTY || status == SCHEDQ_CLOSED,
           CALL_TRY_POP, status);
    return status;
}

static schedq_status_t
pop(actor_t *actor, int64_t deadline_ns)
{
    schedq_popped_t popped;
    begin(actor, CALL_POP, NULL, 0);
    schedq_status_t status = schedq_pop(actor->worker, deadline_ns, &popped);
    end(actor);
    if (status == SCHEDQ_OK)
        take(actor, &popped, 1);
    entered(actor);
    bool in_time = status == SCHEDQ_TIMEDOUT && deadline_ns != SCHEDQ_NO_DEADLINE;
    expect(actor, status == SCHEDQ_OK || status == SCHEDQ_CLOSED || in_time, CALL_POP, status);
    return status;
}

static void
pop_many(actor_t *actor)
{
    schedq_popped_t popped[BATCH];
    size_t count = 0;
    begin(actor, CALL_POP_MANY, NULL, 0);
    schedq_status_t status = schedq_pop_many(actor->worker, popped, BATCH, &count);
    end(actor);
    if (status == SCHEDQ_OK)
        take(actor, popped, count);
    entered(actor);
    expect(actor, status == SCHEDQ_OK || status == SCHEDQ_EMPTY, CALL_POP_MANY, status);
}

static void
count_end(actor_t *actor, const held_t *held, schedq_status_t status, call_t call)
{
    if (status == SCHEDQ_OK)
        atomic_fetch_add(&actor->run->tally.dones[held->index], 1);
    else if (status == SCHEDQ_GONE)
        atomic_fetch_add(&actor->run->gones, 1);
    else
        expect(actor, false, call, status); /* STALE: another thread got the same token */
    worked(actor);
}

static void
done(actor_t *actor)
{
    unsigned left = atomic_load(&actor->held_count) - 1;
    held_t *held = &actor->held[left];
    begin(actor, CALL_DONE, &held->index, 1);
    schedq_status_t status = schedq_done(actor->worker, held->token);
    end(actor);
    count_end(actor, held, status, CALL_DONE);
    atomic_store(&actor->held_count, left);
    entered(actor);
}

static void
fail(actor_t *actor)
{
    unsigned left = atomic_load(&actor->held_count) - 1;
    held_t *held = &actor->held[left];
    schedq_token_t token = held->token;
    schedq_failure_t failure;
    schedq_failure_init(&failure);
    failure.unschedulable = plugins_rejectors(actor);
    failure.pending = actor_roll(actor, 4) == 0 ? plugins_rejectors(actor) : 0;
    begin(actor, CALL_ADD_UNSCHEDULABLE, &held->index, 1);
    schedq_status_t status = schedq_add_unschedulable(actor->worker, &token, &failure, NULL);
    end(actor);
    if (status == SCHEDQ_OK) {
        atomic_fetch_add(&actor->run->failures, 1);
        worked(actor);
    } else {
        count_end(actor, held, status, CALL_ADD_UNSCHEDULABLE);
    }
    atomic_store(&actor->held_count, left);
    entered(actor);
}

static void
done_many(actor_t *actor)
{
    schedq_token_t tokens[BATCH];
    unsigned indices[BATCH];
    uint8_t statuses[BATCH];
    unsigned held = atomic_load(&actor->held_count), count = held < BATCH ? held : BATCH;
    const held_t *first = &actor->held[held - count];
    for (unsigned i = 0; i < count; i++) {
        tokens[i] = first[i].token;
        indices[i] = first[i].index;
    }
    begin(actor, CALL_DONE_MANY, indices, count);
    (void)schedq_done_many(actor->worker, tokens, count, statuses);
    end(actor);
    for (unsigned i = 0; i < count; i++)
        count_end(actor, &first[i], (schedq_status_t)statuses[i], CALL_DONE_MANY);
    atomic_store(&actor->held_count, held - count);
    entered(actor);
}

void
actor_finish_held(actor_t *actor)
{
    bool fails = run_waits(actor->run) && atomic_load(&actor->run->phase) == PHASE_RUNNING;
    while (atomic_load(&actor->held_count) > 0) {
        if (fails && actor_roll(actor, 3) == 0)
            fail(actor);
        else if (actor_roll(actor, 4) == 0)
            done_many(actor);
        else
            done(actor);
    }
}

/* ---- the thread ---- */

static void
pop_blocking(actor_t *actor)
{
    bool sleeper = actor->number >= FIRST_SLEEPER && actor_roll(actor, 2) == 0;
    (void)pop(actor, sleeper ? SCHEDQ_NO_DEADLINE : clock_now() + POP_DEADLINE_NS);
}

static call_t
choose(actor_t *actor)
{
    const options_t *options = actor->run->options;
    unsigned roll = actor_roll(actor, options->weight_sum), call = CALL_NONE + 1;
    while (roll >= options->weights[call])
        roll -= options->weights[call++];
    return call;
}

static void
do_one(actor_t *actor)
{
    schedq_result_t found;
    switch (choose(actor)) {
    case CALL_ADD:
        (void)actor_add_named(actor, actor_roll(actor, TALLY_NAMES));
        break;
    case CALL_ADD_MANY:
        add_many(actor);
        break;
    case CALL_TRY_POP:
        (void)actor_try_pop(actor);
        break;
    case CALL_POP:
        pop_blocking(actor);
        break;
    case CALL_POP_MANY:
        pop_many(actor);
        break;
    case CALL_DELETE:
        (void)actor_delete_named(actor, actor_roll(actor, TALLY_NAMES));
        break;
    case CALL_UPDATE:
        update(actor);
        break;
    case CALL_FIND:
        (void)actor_find_named(actor, actor_roll(actor, TALLY_NAMES), &found);
        break;
    case CALL_GET:
        get(actor);
        break;
    case CALL_MOVE_ALL:
        actor_move_all(actor, plugins_event(actor));
        break;
    case CALL_ACTIVATE:
        activate(actor);
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
    while (actor->number >= FIRST_SLEEPER && pop(actor, SCHEDQ_NO_DEADLINE) == SCHEDQ_OK)
        actor_finish_held(actor);
    return NULL;
}
