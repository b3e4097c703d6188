/* Calls and their records. Between the two stamps of a call there is nothing but the call. */
#include "actor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"
#include "objects.h"
#include "plan.h"
#include "stamp.h"

void
actor_register(actor_t *actor)
{
    char why[200];
    schedq_status_t status = schedq_worker_register(actor->queue, &actor->worker, why, sizeof why);
    if (status != SCHEDQ_OK) {
        fprintf(stderr, "schedq-history: schedq_worker_register: %s %s\n",
                schedq_status_name(status), why);
        exit(1);
    }
}

void
actor_unregister(actor_t *actor)
{
    schedq_status_t status = schedq_worker_unregister(actor->worker);
    if (status != SCHEDQ_OK) {
        fprintf(stderr, "schedq-history: schedq_worker_unregister: %s\n",
                schedq_status_name(status));
        exit(1);
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static uint64_t
enter(actor_t *actor, call_t call)
{
    atomic_store_explicit(&actor->doing, call, memory_order_relaxed);
    return stamp_begin();
}

static void
leave(actor_t *actor)
{
    atomic_store_explicit(&actor->doing, CALL_NOTHING, memory_order_relaxed);
    atomic_store_explicit(&actor->calls,
                          atomic_load_explicit(&actor->calls, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

static record_t *
note(actor_t *actor, call_t call, uint64_t begin, uint64_t end, schedq_status_t status)
{
    record_t *record = book_take(actor->book, actor->number);
    memset(record, 0, sizeof *record);
    record->begin = begin;
    record->end = end;
    record->call = (uint8_t)call;
    record->status = (uint8_t)status;
    record->thread = (uint8_t)actor->number;
    record->name = NO_NAME;
    return record;
}

static void
note_description(record_t *record, const description_t *what, uint64_t object)
{
    record->name = what->name;
    record->priority = what->priority;
    record->keyed = what->keyed;
    record->key = what->key;
    record->object = object;
}

static void
note_result(record_t *record, const schedq_result_t *result)
{
    record->pod = result->pod.bits;
    record->place = result->place;
    record->timestamp_ns = result->timestamp_ns;
}

/* Most pods are looked at by somebody else soon. */
static void
share_pod(actor_t *actor, uint64_t pod)
{
    uint32_t slot = dice_roll(&actor->dice, 4 * SHARED_SLOTS);
    if (slot < SHARED_SLOTS && pod != 0)
        atomic_store_explicit(&actor->shared->pods[slot], pod, memory_order_relaxed);
}

/* ---- add, update ----------------------------------------------------------------------------- */

static uint64_t
next_object(actor_t *actor, const description_t *what)
{
    for (;;) {
        uint64_t object = objects_next(actor->number);
        unsigned gate = object_gate(object);
        bool never_gated = what->never_gated || actor->book->settings.host;
        if (what->gated ? gate == what->gate : gate == NO_GATE || !never_gated)
            return object;
        objects_give_back(object);
    }
}

static void
make_spec(actor_t *actor, const description_t *what, schedq_pod_spec_t *spec)
{
    memset(spec, 0, sizeof *spec);
    spec->object = next_object(actor, what);
    spec->name_length = names_length(what->name);
    spec->priority = what->priority;
    if (what->keyed) {
        spec->flags = SCHEDQ_POD_ORDER_KEY;
        spec->order_key = what->key;
    }
}

uint64_t
actor_add(actor_t *actor, const description_t *what)
{
    schedq_pod_spec_t spec;
    schedq_result_t result;
    make_spec(actor, what, &spec);
    uint64_t begin = enter(actor, CALL_ADD);
    schedq_status_t status = schedq_add(actor->worker, names_text(what->name), &spec, &result);
    uint64_t end = stamp_end();
    leave(actor);
    objects_give_back(spec.object);
    record_t *record = note(actor, CALL_ADD, begin, end, status);
    note_description(record, what, spec.object);
    if (status == SCHEDQ_EXISTS)
        record->object = result.object;
    if (status == SCHEDQ_OK || status == SCHEDQ_EXISTS) {
        note_result(record, &result);
        actor->last_timestamp = result.timestamp_ns;
        share_pod(actor, result.pod.bits);
    }
    return record->pod;
}

void
actor_add_many(actor_t *actor, const description_t *what, size_t count)
{
    schedq_pod_spec_t specs[MANY];
    schedq_pod_t pods[MANY];
    uint8_t statuses[MANY];
    char names[MANY * (SCHEDQ_NAME_MAX + 1)];
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        make_spec(actor, &what[i], &specs[i]);
        specs[i].name_offset = (uint32_t)length;
        memcpy(names + length, names_text(what[i].name), specs[i].name_length);
        length += specs[i].name_length;
    }
    uint64_t begin = enter(actor, CALL_ADD_MANY);
    schedq_add_many(actor->worker, names, specs, count, pods, statuses, NULL);
    uint64_t end = stamp_end();
    leave(actor);
    for (size_t i = 0; i < count; i++) {
        record_t *record = note(actor, CALL_ADD_MANY, begin, end, (schedq_status_t)statuses[i]);
        objects_give_back(specs[i].object);
        note_description(record, &what[i], specs[i].object);
        record->element = (uint16_t)i;
        record->pod = pods[i].bits;
        share_pod(actor, pods[i].bits);
    }
}

void
actor_update(actor_t *actor, const description_t *what, unsigned kind)
{
    schedq_pod_spec_t spec;
    schedq_result_t result;
    bool with_event = kind != KINDS;
    schedq_event_t event = with_event ? kind_event((uint8_t)kind) : 0;
    make_spec(actor, what, &spec);
    uint64_t begin = enter(actor, CALL_UPDATE);
    schedq_status_t status =
        schedq_update(actor->worker, names_text(what->name), &spec, 0, &event, with_event, &result);
    uint64_t end = stamp_end();
    leave(actor);
    objects_give_back(spec.object);
    record_t *record = note(actor, CALL_UPDATE, begin, end, status);
    note_description(record, what, spec.object);
    record->with_event = with_event;
    record->kind = (uint8_t)kind;
    if (status == SCHEDQ_OK) {
        note_result(record, &result);
        record->added = result.added != 0;
        record->replaced = record->added ? 0 : result.object;
    }
}

void
actor_readd(actor_t *actor, const description_t *what)
{
    const schedq_history_t history = {0};
    schedq_failure_t failure;
    schedq_pod_spec_t spec;
    schedq_result_t result;
    make_spec(actor, what, &spec);
    schedq_failure_init(&failure);
    failure.place = actor->book->settings.host ? SCHEDQ_BACKOFF : 0;
    uint64_t begin = enter(actor, CALL_READD);
    schedq_status_t status =
        schedq_readd(actor->worker, names_text(what->name), &spec, &history, &failure, &result);
    uint64_t end = stamp_end();
    leave(actor);
    objects_give_back(spec.object);
    record_t *record = note(actor, CALL_READD, begin, end, status);
    note_description(record, what, spec.object);
    if (status == SCHEDQ_EXISTS)
        record->object = result.object;
    if (status == SCHEDQ_OK || status == SCHEDQ_EXISTS)
        note_result(record, &result);
    record->errors = status == SCHEDQ_OK;
}

/* ---- pop ------------------------------------------------------------------------------------- */

static void
note_popped(actor_t *actor, record_t *record, const schedq_popped_t *popped)
{
    record->name = names_index(popped->name, popped->name_length);
    record->pod = popped->pod.bits;
    record->token = popped->token.bits;
    record->object = popped->object;
    record->priority = popped->priority;
    record->timestamp_ns = popped->history.timestamp_ns;
    record->attempts = popped->history.attempts;
    record->rejections = popped->history.rejections;
    record->errors = popped->history.errors;
    record->from_backoff = popped->from_backoff != 0;
    record->node = (uint8_t)popped->nominated_node;
    record->tells_node = true;
    objects_handed_out(popped->object);
    actor->in_hand[actor->in_hand_count++] = (in_hand_t){
        popped->token.bits, popped->name, popped->name_length, record->name, popped->seen};
}

schedq_status_t
actor_try_pop(actor_t *actor)
{
    schedq_popped_t popped;
    uint64_t begin = enter(actor, CALL_TRY_POP);
    schedq_status_t status = schedq_try_pop(actor->worker, &popped);
    uint64_t end = stamp_end();
    leave(actor);
    record_t *record = note(actor, CALL_TRY_POP, begin, end, status);
    if (status == SCHEDQ_OK)
        note_popped(actor, record, &popped);
    return status;
}

schedq_status_t
actor_pop(actor_t *actor, int64_t deadline_ns)
{
    schedq_popped_t popped;
    call_t call = deadline_ns == SCHEDQ_NO_DEADLINE ? CALL_WAIT : CALL_POP;
    uint64_t begin = enter(actor, call);
    schedq_status_t status = schedq_pop(actor->worker, deadline_ns, &popped);
    uint64_t end = stamp_end();
    leave(actor);
    record_t *record = note(actor, call, begin, end, status);
    if (status == SCHEDQ_OK)
        note_popped(actor, record, &popped);
    return status;
}

schedq_status_t
actor_pop_many(actor_t *actor, size_t capacity)
{
    schedq_popped_t popped[MANY];
    size_t count = 0;
    uint64_t begin = enter(actor, CALL_POP_MANY);
    schedq_status_t status = schedq_pop_many(actor->worker, popped, capacity, &count);
    uint64_t end = stamp_end();
    leave(actor);
    if (status != SCHEDQ_OK)
        note(actor, CALL_POP_MANY, begin, end, status);
    for (size_t i = 0; i < count; i++) {
        record_t *record = note(actor, CALL_POP_MANY, begin, end, status);
        record->element = (uint16_t)i;
        note_popped(actor, record, &popped[i]);
    }
    return status;
}

/* ---- tokens ---------------------------------------------------------------------------------- */

static void
forget_in_hand(actor_t *actor, unsigned which)
{
    actor->used[dice_roll(&actor->dice, USED_TOKENS)] = actor->in_hand[which].token;
    actor->in_hand[which] = actor->in_hand[--actor->in_hand_count];
}

uint64_t
actor_give_away(actor_t *actor, unsigned which)
{
    uint64_t token = actor->in_hand[which].token;
    forget_in_hand(actor, which);
    return token;
}

/* The name that pop gave must stay as it was until the token is used. */
static bool
is_garbled(const in_hand_t *held)
{
    return held->index == NO_NAME || names_index(held->name, held->name_length) != held->index;
}

static record_t *
done(actor_t *actor, uint64_t token)
{
    uint64_t begin = enter(actor, CALL_DONE);
    schedq_status_t status = schedq_done(actor->worker, (schedq_token_t){token});
    uint64_t end = stamp_end();
    leave(actor);
    record_t *record = note(actor, CALL_DONE, begin, end, status);
    record->token = token;
    return record;
}

void
actor_done(actor_t *actor, uint64_t token)
{
    done(actor, token);
}

void
actor_done_in_hand(actor_t *actor, unsigned which)
{
    in_hand_t held = actor->in_hand[which];
    bool garbled = is_garbled(&held);
    forget_in_hand(actor, which);
    record_t *record = done(actor, held.token);
    record->name = held.index;
    record->garbled = garbled;
}

void
actor_done_many(actor_t *actor, size_t count)
{
    schedq_token_t tokens[MANY];
    uint8_t statuses[MANY];
    uint32_t names[MANY];
    bool garbled[MANY];
    for (size_t i = 0; i < count; i++) {
        const in_hand_t *held = &actor->in_hand[actor->in_hand_count - 1];
        tokens[i].bits = held->token;
        names[i] = held->index;
        garbled[i] = is_garbled(held);
        forget_in_hand(actor, actor->in_hand_count - 1);
    }
    uint64_t begin = enter(actor, CALL_DONE_MANY);
    schedq_done_many(actor->worker, tokens, count, statuses);
    uint64_t end = stamp_end();
    leave(actor);
    for (size_t i = 0; i < count; i++) {
        record_t *record = note(actor, CALL_DONE_MANY, begin, end, (schedq_status_t)statuses[i]);
        record->element = (uint16_t)i;
        record->token = tokens[i].bits;
        record->name = names[i];
        record->garbled = garbled[i];
    }
}

static uint64_t
newest_event(const actor_t *actor)
{
    return __atomic_load_n(&schedq_words(actor->queue)->event_sequence, __ATOMIC_ACQUIRE);
}

/*
 * A host's failure: judged until the queue agrees. Of a token that is not in hand it knows nothing,
 * so that pod backs off.
 */
static schedq_status_t
fail_judged(actor_t *actor, schedq_token_t *token, const in_hand_t *held, schedq_failure_t *failure,
            schedq_result_t *result)
{
    uint64_t rejectors = failure->unschedulable | failure->pending;
    schedq_status_t status = SCHEDQ_RETRY;
    while (status == SCHEDQ_RETRY) {
        failure->judged_up_to = newest_event(actor);
        failure->place = SCHEDQ_PARKED;
        if (held == NULL || rejectors == 0 ||
            cluster_helped(actor->cluster, held->seen, failure->judged_up_to, rejectors))
            failure->place = SCHEDQ_BACKOFF;
        status = schedq_add_unschedulable(actor->worker, token, failure, result);
    }
    return status;
}

/* `held`: NULL: the token is not in hand. */
static record_t *
fail(actor_t *actor, uint64_t bits, const in_hand_t *held, rejection_t why)
{
    schedq_token_t token = {bits};
    schedq_failure_t failure;
    schedq_result_t result;
    schedq_failure_init(&failure);
    failure.unschedulable = cluster_rejectors(actor->cluster, why.unschedulable);
    failure.pending = cluster_rejectors(actor->cluster, why.pending);
    uint64_t begin = enter(actor, CALL_FAIL);
    schedq_status_t status =
        actor->book->settings.host
            ? fail_judged(actor, &token, held, &failure, &result)
            : schedq_add_unschedulable(actor->worker, &token, &failure, &result);
    uint64_t end = stamp_end();
    leave(actor);
    record_t *record = note(actor, CALL_FAIL, begin, end, status);
    record->token = bits;
    record->unschedulable = why.unschedulable;
    record->pending = why.pending;
    if (status == SCHEDQ_OK)
        note_result(record, &result);
    return record;
}

void
actor_fail(actor_t *actor, uint64_t token, rejection_t why)
{
    fail(actor, token, NULL, why);
}

void
actor_fail_in_hand(actor_t *actor, unsigned which, rejection_t why)
{
    in_hand_t held = actor->in_hand[which];
    bool garbled = is_garbled(&held);
    forget_in_hand(actor, which);
    record_t *record = fail(actor, held.token, &held, why);
    record->name = held.index;
    record->garbled = garbled;
}

void
actor_alive(actor_t *actor, uint64_t token)
{
    uint64_t begin = enter(actor, CALL_ALIVE);
    schedq_status_t status = schedq_token_alive(actor->worker, (schedq_token_t){token});
    uint64_t end = stamp_end();
    leave(actor);
    note(actor, CALL_ALIVE, begin, end, status)->token = token;
}

/* ---- events, time, gates --------------------------------------------------------------------- */

/* The pod comes back from wherever it waits by now, if the event still helps it. */
static void
apply(actor_t *actor, const schedq_candidate_t *candidate, kind_t kind, unsigned class)
{
    schedq_decision_t decision = {
        .ref = candidate->ref, .event = kind_event((uint8_t)kind), .place = SCHEDQ_BACKOFF};
    uint64_t object = candidate->object;
    uint64_t rejectors = candidate->unschedulable | candidate->pending;
    schedq_status_t status = SCHEDQ_CHANGED;
    while (status == SCHEDQ_CHANGED &&
           cluster_helps(actor->cluster, kind, class, object, rejectors)) {
        schedq_result_t result;
        status = schedq_apply(actor->worker, &decision, &result);
        decision.ref = result.ref;
        object = result.object;
        rejectors = result.unschedulable | result.pending;
    }
}

/* Draws, logs, stamps; then whom it helps comes back. */
static schedq_status_t
event_by_host(actor_t *actor, kind_t kind, unsigned class)
{
    schedq_candidate_t found[MANY];
    schedq_query_t query;
    uint64_t sequence;
    size_t count;
    uint64_t reached = cluster_rejectors(actor->cluster, kind_hearers((uint8_t)kind));
    schedq_status_t status = schedq_event_begin(actor->worker, &sequence);
    if (status != SCHEDQ_OK)
        return status;
    cluster_log(actor->cluster, sequence, kind, class);
    status = schedq_event_stamp(actor->worker, sequence, 0, reached);
    schedq_query_init(&query);
    query.rejectors = reached;
    while (status == SCHEDQ_OK &&
           schedq_candidates(actor->worker, &query, found, MANY, &count) == SCHEDQ_OK) {
        for (size_t i = 0; i < count; i++)
            apply(actor, &found[i], kind, class);
    }
    return status;
}

void
actor_event(actor_t *actor, kind_t kind, unsigned class)
{
    schedq_move_t move;
    schedq_move_init(&move);
    move.event = kind_event((uint8_t)kind);
    move.new_object = kind == KIND_WILDCARD ? 0 : class + 1;
    uint64_t begin = enter(actor, CALL_EVENT);
    schedq_status_t status = actor->book->settings.host
                                 ? event_by_host(actor, kind, class)
                                 : schedq_move_all(actor->worker, &move, NULL);
    uint64_t end = stamp_end();
    leave(actor);
    record_t *record = note(actor, CALL_EVENT, begin, end, status);
    record->kind = (uint8_t)kind;
    record->class = (uint8_t) class;
}

void
actor_target(actor_t *actor, uint64_t pod)
{
    schedq_move_t move;
    schedq_move_init(&move);
    move.event = kind_event(KIND_WILDCARD);
    move.target.bits = pod;
    uint64_t begin = enter(actor, CALL_TARGET);
    schedq_status_t status = schedq_move_all(actor->worker, &move, NULL);
    uint64_t end = stamp_end();
    leave(actor);
    note(actor, CALL_TARGET, begin, end, status)->pod = pod;
}

void
actor_activate(actor_t *actor, const uint64_t *pods, size_t count)
{
    schedq_pod_t handles[MANY];
    for (size_t i = 0; i < count; i++)
        handles[i].bits = pods[i];
    uint64_t begin = enter(actor, CALL_ACTIVATE);
    schedq_status_t status = schedq_activate(actor->worker, handles, count, NULL);
    uint64_t end = stamp_end();
    leave(actor);
    for (size_t i = 0; i < count; i++) {
        record_t *record = note(actor, CALL_ACTIVATE, begin, end, status);
        record->element = (uint16_t)i;
        record->pod = pods[i];
    }
}

void
actor_tick(actor_t *actor)
{
    int64_t now = (int64_t)stamp_monotonic();
    uint64_t begin = enter(actor, CALL_TICK);
    schedq_status_t status = schedq_tick(actor->worker, NULL, NULL);
    uint64_t end = stamp_end();
    leave(actor);
    note(actor, CALL_TICK, begin, end, status)->key = now;
}

void
actor_nominate(actor_t *actor, uint64_t pod, unsigned node)
{
    uint64_t begin = enter(actor, CALL_NOMINATE);
    schedq_status_t status = schedq_nominate(actor->worker, (schedq_pod_t){pod}, node);
    uint64_t end = stamp_end();
    leave(actor);
    record_t *record = note(actor, CALL_NOMINATE, begin, end, status);
    record->pod = pod;
    record->node = (uint8_t)node;
}

void
actor_gate(actor_t *actor, unsigned gate, bool shut)
{
    uint64_t begin = stamp_begin();
    atomic_store(&actor->cluster->shut[gate], shut);
    uint64_t end = stamp_end();
    record_t *record = note(actor, CALL_GATE, begin, end, SCHEDQ_OK);
    record->gate = (uint8_t)gate;
    record->shut = shut;
}

/* ---- look, delete, close --------------------------------------------------------------------- */

static record_t *
find(actor_t *actor, uint32_t name)
{
    schedq_result_t result;
    uint64_t begin = enter(actor, CALL_FIND);
    schedq_status_t status =
        schedq_find(actor->worker, names_text(name), names_length(name), &result);
    uint64_t end = stamp_end();
    leave(actor);
    record_t *record = note(actor, CALL_FIND, begin, end, status);
    record->name = name;
    if (status == SCHEDQ_OK) {
        note_result(record, &result);
        record->object = result.object;
        record->unschedulable = cluster_plugins(actor->cluster, result.unschedulable);
        record->pending = cluster_plugins(actor->cluster, result.pending);
        share_pod(actor, result.pod.bits);
    }
    return record;
}

schedq_place_t
actor_find(actor_t *actor, uint32_t name)
{
    return (schedq_place_t)find(actor, name)->place;
}

static int
copy_history(void *ctx, const schedq_pod_info_t *info)
{
    record_t *record = ctx;
    record->attempts = info->history.attempts;
    record->rejections = info->history.rejections;
    record->errors = info->history.errors;
    record->node = (uint8_t)info->nominated_node;
    record->tells_node = true;
    return 1;
}

void
actor_look(actor_t *actor, uint32_t name)
{
    record_t *record = find(actor, name);
    if (record->status == SCHEDQ_OK)
        schedq_get(actor->worker, (schedq_pod_t){record->pod}, copy_history, record);
}

static int
copy_info(void *ctx, const schedq_pod_info_t *info)
{
    record_t *seen = ctx;
    seen->name = names_index(info->name, info->name_length);
    seen->pod = info->pod.bits;
    seen->object = info->object;
    seen->priority = info->priority;
    seen->place = info->place;
    seen->timestamp_ns = info->history.timestamp_ns;
    seen->node = (uint8_t)info->nominated_node;
    return 1;
}

void
actor_get(actor_t *actor, uint64_t pod)
{
    record_t seen = {.name = NO_NAME};
    uint64_t begin = enter(actor, CALL_GET);
    schedq_status_t status = schedq_get(actor->worker, (schedq_pod_t){pod}, copy_info, &seen);
    uint64_t end = stamp_end();
    leave(actor);
    record_t *record = note(actor, CALL_GET, begin, end, status);
    record->pod = pod;
    if (status == SCHEDQ_OK) {
        record->name = seen.name;
        record->pod = seen.pod;
        record->object = seen.object;
        record->priority = seen.priority;
        record->place = seen.place;
        record->timestamp_ns = seen.timestamp_ns;
        record->node = seen.node;
        record->tells_node = true;
    }
}

static void delete (actor_t *actor, call_t call, uint64_t pod, uint32_t name)
{
    schedq_result_t result;
    const char *text = name != NO_NAME ? names_text(name) : NULL;
    uint32_t length = name != NO_NAME ? names_length(name) : 0;
    uint64_t begin = enter(actor, call);
    schedq_status_t status =
        schedq_delete(actor->worker, (schedq_pod_t){pod}, text, length, &result);
    uint64_t end = stamp_end();
    leave(actor);
    record_t *record = note(actor, call, begin, end, status);
    record->name = name;
    record->pod = pod;
    if (status == SCHEDQ_OK) {
        record->pod = result.pod.bits;
        record->object = result.object;
        record->place = result.place;
        record->timestamp_ns = result.timestamp_ns;
    }
}

void
actor_delete_name(actor_t *actor, uint32_t name)
{
    delete (actor, CALL_DELETE_NAME, 0, name);
}

void
actor_delete_pod(actor_t *actor, uint64_t pod)
{
    delete (actor, CALL_DELETE_POD, pod, NO_NAME);
}

void
actor_close(actor_t *actor)
{
    uint64_t begin = enter(actor, CALL_CLOSE);
    schedq_status_t status = schedq_close(actor->queue);
    uint64_t end = stamp_end();
    leave(actor);
    note(actor, CALL_CLOSE, begin, end, status);
}
