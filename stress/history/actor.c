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

/* The header has one call for what the checker tells apart. */
static uint8_t
call_of(const op_t *op)
{
    if (op->kind == OP_DELETE && op->name == NULL)
        return CALL_DELETE_POD;
    if (op->kind == OP_NOTIFY && op->change->target.bits != 0)
        return CALL_TARGET;
    return (uint8_t)op->kind;
}

static uint64_t
enter(actor_t *actor, const op_t *op)
{
    atomic_store_explicit(&actor->doing, call_of(op), memory_order_relaxed);
    return stamp_begin();
}

static record_t *
note(actor_t *actor, uint8_t call, uint64_t begin, uint64_t end)
{
    record_t *record = book_take(actor->book, actor->number);
    memset(record, 0, sizeof *record);
    record->begin = begin;
    record->end = record->settled = end;
    record->call = call;
    record->thread = (uint8_t)actor->number;
    record->name = NO_NAME;
    return record;
}

/* It says itself of how many pods it tells. */
static bool
tells_count(op_kind_t kind)
{
    return kind == OP_TRY_POP_MANY || kind == OP_LABEL_CANCEL || kind == OP_PEEK_MANY;
}

/* A record for each pod of the call; returns the first, the others follow it in memory. */
static record_t *
leave(actor_t *actor, uint64_t begin, const op_t *op)
{
    uint64_t end = stamp_end();
    uint64_t settled = actor->book->settings.max_pods != 0 ? stamp_settled() : end;
    size_t count = tells_count(op->kind) ? op->got : op->count;
    record_t *first = NULL;
    atomic_store_explicit(&actor->doing, OP_NONE, memory_order_relaxed);
    atomic_store_explicit(&actor->calls,
                          atomic_load_explicit(&actor->calls, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    for (size_t i = 0; i < count || i == 0; i++) {
        record_t *record = note(actor, call_of(op), begin, end);
        record->settled = settled;
        record->status = (uint8_t)op_element(op, i);
        record->element = (uint16_t)i;
        record->pod = op->pods != NULL ? op->pods[i].bits : 0;
        record->token = op->tokens != NULL ? op->tokens[i].bits : 0;
        first = i == 0 ? record : first;
    }
    return first;
}

static record_t *
run(actor_t *actor, op_t *op)
{
    uint64_t begin = enter(actor, op);
    op_run(actor->worker, op);
    return leave(actor, begin, op);
}

static void
note_description(record_t *record, const description_t *what, uint64_t object)
{
    record->name = what->name;
    record->label = what->label;
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
    *spec = (schedq_pod_spec_t)SCHEDQ_POD_SPEC_INIT;
    spec->object = next_object(actor, what);
    spec->priority = what->priority;
    spec->label = what->label;
    if (what->keyed) {
        spec->flags = SCHEDQ_POD_ORDER_KEY;
        spec->order_key = what->key;
    }
}

/* add, readd, update */
static record_t *
run_described(actor_t *actor, op_t op, const description_t *what)
{
    schedq_pod_spec_t spec;
    make_spec(actor, what, &spec);
    spec.flags |= op.kind == OP_UPDATE ? SCHEDQ_POD_ADD : 0;
    op.name = names_text(what->name);
    op.name_length = names_length(what->name);
    op.spec = &spec;
    record_t *record = run(actor, &op);
    objects_give_back(spec.object);
    note_description(record, what, spec.object);
    if (op.status == SCHEDQ_EXISTS)
        record->object = op.result.object;
    if (op.status == SCHEDQ_OK || op.status == SCHEDQ_EXISTS)
        note_result(record, &op.result);
    if (op.status == SCHEDQ_OK && op.kind == OP_UPDATE) {
        record->added = op.result.added != 0;
        record->replaced = record->added ? 0 : op.result.object;
    }
    return record;
}

uint64_t
actor_add(actor_t *actor, const description_t *what)
{
    record_t *record = run_described(actor, (op_t){.kind = OP_ADD}, what);
    if (record->status == SCHEDQ_OK || record->status == SCHEDQ_EXISTS) {
        actor->last_timestamp = record->timestamp_ns;
        share_pod(actor, record->pod);
    }
    return record->pod;
}

void
actor_add_many(actor_t *actor, const description_t *what, size_t count)
{
    schedq_add_item_t items[MANY];
    schedq_pod_t pods[MANY];
    char names[MANY * (SCHEDQ_NAME_MAX + 1)];
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        make_spec(actor, &what[i], &items[i].spec);
        items[i].name_offset = (uint32_t)length;
        items[i].name_length = names_length(what[i].name);
        memcpy(names + length, names_text(what[i].name), items[i].name_length);
        length += items[i].name_length;
    }
    op_t op = {.kind = OP_ADD_MANY,
               .count = count,
               .names = names,
               .names_length = length,
               .items = items,
               .added = pods};
    record_t *records = run(actor, &op);
    for (size_t i = 0; i < count; i++) {
        objects_give_back(items[i].spec.object);
        note_description(&records[i], &what[i], items[i].spec.object);
        records[i].pod = pods[i].bits;
        share_pod(actor, pods[i].bits);
    }
}

void
actor_update(actor_t *actor, const description_t *what, unsigned kind)
{
    bool with_event = kind != KINDS;
    schedq_event_t event = with_event ? kind_event((uint8_t)kind) : SCHEDQ_EVENT_NONE;
    op_t op = {.kind = OP_UPDATE, .events = &event, .event_count = with_event};
    record_t *record = run_described(actor, op, what);
    record->with_event = with_event;
    record->kind = (uint8_t)kind;
}

void
actor_readd(actor_t *actor, const description_t *what)
{
    const schedq_history_t history = {0};
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    failure.place = actor->book->settings.host ? SCHEDQ_BACKOFF : 0;
    op_t op = {.kind = OP_READD, .history = &history, .failure = &failure};
    record_t *record = run_described(actor, op, what);
    record->errors = record->status == SCHEDQ_OK;
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

static schedq_status_t
pop(actor_t *actor, op_kind_t kind, size_t capacity, int64_t deadline_ns)
{
    schedq_popped_t popped[MANY];
    op_t op = {.kind = kind, .count = capacity, .popped = popped, .deadline_ns = deadline_ns};
    record_t *records = run(actor, &op);
    for (size_t i = 0; i < op.got; i++)
        note_popped(actor, &records[i], &popped[i]);
    return op.status;
}

schedq_status_t
actor_try_pop(actor_t *actor)
{
    return pop(actor, OP_TRY_POP, 1, 0);
}

schedq_status_t
actor_pop(actor_t *actor, int64_t deadline_ns)
{
    return pop(actor, deadline_ns == SCHEDQ_NO_DEADLINE ? OP_POP : OP_POP_UNTIL, 1, deadline_ns);
}

schedq_status_t
actor_pop_many(actor_t *actor, size_t capacity)
{
    return pop(actor, OP_TRY_POP_MANY, capacity, 0);
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
use(actor_t *actor, op_kind_t kind, uint64_t token)
{
    return run(actor, &(op_t){.kind = kind, .tokens = &(schedq_token_t){token}});
}

void
actor_done(actor_t *actor, uint64_t token)
{
    use(actor, OP_DONE, token);
}

void
actor_alive(actor_t *actor, uint64_t token)
{
    use(actor, OP_TOKEN_ALIVE, token);
}

void
actor_done_in_hand(actor_t *actor, unsigned which)
{
    in_hand_t held = actor->in_hand[which];
    bool garbled = is_garbled(&held);
    forget_in_hand(actor, which);
    record_t *record = use(actor, OP_DONE, held.token);
    record->name = held.index;
    record->garbled = garbled;
}

void
actor_done_many(actor_t *actor, size_t count)
{
    schedq_token_t tokens[MANY];
    uint32_t names[MANY];
    bool garbled[MANY];
    for (size_t i = 0; i < count; i++) {
        const in_hand_t *held = &actor->in_hand[actor->in_hand_count - 1];
        tokens[i].bits = held->token;
        names[i] = held->index;
        garbled[i] = is_garbled(held);
        forget_in_hand(actor, actor->in_hand_count - 1);
    }
    record_t *records = run(actor, &(op_t){.kind = OP_DONE_MANY, .count = count, .tokens = tokens});
    for (size_t i = 0; i < count; i++) {
        records[i].name = names[i];
        records[i].garbled = garbled[i];
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
static void
fail_judged(actor_t *actor, op_t *op, schedq_failure_t *failure, const in_hand_t *held)
{
    uint64_t rejectors = failure->unschedulable | failure->pending;
    do {
        failure->judged_up_to = newest_event(actor);
        failure->place = SCHEDQ_PARKED;
        if (held == NULL || rejectors == 0 ||
            cluster_helped(actor->cluster, held->seen, failure->judged_up_to, rejectors))
            failure->place = SCHEDQ_BACKOFF;
    } while (op_run(actor->worker, op) == SCHEDQ_RETRY);
}

/* `held`: NULL: the token is not in hand. */
static record_t *
fail(actor_t *actor, uint64_t bits, const in_hand_t *held, rejection_t why)
{
    schedq_token_t token = {bits};
    schedq_failure_t failure;
    op_t op = {.kind = OP_FAIL, .tokens = &token, .failure = &failure};
    failure = (schedq_failure_t)SCHEDQ_FAILURE_INIT;
    failure.unschedulable = cluster_rejectors(actor->cluster, why.unschedulable);
    failure.pending = cluster_rejectors(actor->cluster, why.pending);
    uint64_t begin = enter(actor, &op);
    if (actor->book->settings.host)
        fail_judged(actor, &op, &failure, held);
    else
        op_run(actor->worker, &op);
    record_t *record = leave(actor, begin, &op);
    record->token = bits; /* RETRY gives another */
    record->unschedulable = why.unschedulable;
    record->pending = why.pending;
    if (op.status == SCHEDQ_OK)
        note_result(record, &op.result);
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

/* ---- events, time, gates --------------------------------------------------------------------- */

/* The pod comes back from wherever it waits by now, if the event still helps it. */
static void
apply(actor_t *actor, const schedq_candidate_t *candidate, kind_t kind, unsigned class)
{
    schedq_decision_t decision = {.struct_size = sizeof(schedq_decision_t),
                                  .ref = candidate->ref,
                                  .event = kind_event((uint8_t)kind),
                                  .place = SCHEDQ_BACKOFF};
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
    schedq_query_t query = SCHEDQ_QUERY_INIT;
    uint64_t sequence;
    size_t count;
    uint64_t reached = cluster_rejectors(actor->cluster, kind_hearers((uint8_t)kind));
    schedq_status_t status = schedq_event_begin(actor->worker, &sequence);
    if (status != SCHEDQ_OK)
        return status;
    cluster_log(actor->cluster, sequence, kind, class);
    status = schedq_event_stamp(actor->worker, sequence, 0, reached);
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
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = kind_event((uint8_t)kind);
    change.new_object = kind == KIND_WILDCARD ? 0 : class + 1;
    op_t op = {.kind = OP_NOTIFY, .change = &change};
    uint64_t begin = enter(actor, &op);
    if (actor->book->settings.host)
        op.status = event_by_host(actor, kind, class);
    else
        op_run(actor->worker, &op);
    record_t *record = leave(actor, begin, &op);
    record->kind = (uint8_t)kind;
    record->class = (uint8_t) class;
}

void
actor_target(actor_t *actor, uint64_t pod)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = kind_event(KIND_WILDCARD);
    change.target.bits = pod;
    run(actor, &(op_t){.kind = OP_NOTIFY, .change = &change})->pod = pod;
}

void
actor_activate(actor_t *actor, const uint64_t *pods, size_t count)
{
    schedq_pod_t handles[MANY];
    for (size_t i = 0; i < count; i++)
        handles[i].bits = pods[i];
    run(actor, &(op_t){.kind = OP_ACTIVATE, .count = count, .pods = handles});
}

void
actor_tick(actor_t *actor)
{
    int64_t now = (int64_t)stamp_monotonic();
    run(actor, &(op_t){.kind = OP_TICK})->key = now;
}

/* The pod, if the call told of one, is in no other list. */
static void
keep(actor_t *actor, op_kind_t kind, uint64_t pod)
{
    op_t op = {.kind = kind, .pods = &(schedq_pod_t){pod}};
    record_t *record = run(actor, &op);
    record->place = op.status == SCHEDQ_OK ? op.result.place : 0;
}

void
actor_hold(actor_t *actor, uint64_t pod)
{
    if (actor->kept_count == KEPT_MAX)
        actor_release(actor);
    actor->kept[actor->kept_count++] = pod;
    keep(actor, OP_HOLD, pod);
}

void
actor_release(actor_t *actor)
{
    if (actor->kept_count == 0)
        return;
    unsigned which = dice_roll(&actor->dice, actor->kept_count);
    uint64_t pod = actor->kept[which];
    actor->kept[which] = actor->kept[--actor->kept_count];
    keep(actor, OP_RELEASE, pod);
}

/* The records of a call on the pods of a label: the first, of one that tells of no pods. */
static record_t *
run_label(actor_t *actor, op_t *op, uint32_t label)
{
    op->label = label;
    record_t *records = run(actor, op);
    for (size_t i = 0; i == 0 || (tells_count(op->kind) && i < op->got); i++) {
        records[i].label = label;
        records[i].count = (uint32_t)op->got;
        records[i].room = (uint32_t)op->room;
    }
    return records;
}

void
actor_label_hold(actor_t *actor, uint32_t label)
{
    if (actor->kept_label_count == KEPT_MAX)
        actor_label_release(actor);
    actor->kept_labels[actor->kept_label_count++] = label;
    run_label(actor, &(op_t){.kind = OP_LABEL_HOLD}, label);
}

void
actor_label_release(actor_t *actor)
{
    if (actor->kept_label_count == 0)
        return;
    unsigned which = dice_roll(&actor->dice, actor->kept_label_count);
    uint32_t label = actor->kept_labels[which];
    actor->kept_labels[which] = actor->kept_labels[--actor->kept_label_count];
    run_label(actor, &(op_t){.kind = OP_LABEL_RELEASE}, label);
}

void
actor_label_cancel(actor_t *actor, uint32_t label, size_t room)
{
    schedq_result_t results[MANY];
    op_t op = {.kind = OP_LABEL_CANCEL, .results = results, .room = room};
    record_t *records = run_label(actor, &op, label);
    for (size_t i = 0; i < op.got; i++) {
        note_result(&records[i], &results[i]);
        records[i].object = results[i].object;
    }
}

void
actor_label_count(actor_t *actor, uint32_t label)
{
    run_label(actor, &(op_t){.kind = OP_LABEL_COUNT}, label);
}

void
actor_nominate(actor_t *actor, uint64_t pod, unsigned node)
{
    op_t op = {.kind = OP_NOMINATE, .pods = &(schedq_pod_t){pod}, .node = node};
    run(actor, &op)->node = (uint8_t)node;
}

void
actor_gate(actor_t *actor, unsigned gate, bool shut)
{
    uint64_t begin = stamp_begin();
    atomic_store(&actor->cluster->shut[gate], shut);
    uint64_t end = stamp_end();
    record_t *record = note(actor, CALL_GATE, begin, end);
    record->gate = (uint8_t)gate;
    record->shut = shut;
}

/* ---- look, delete, close --------------------------------------------------------------------- */

static record_t *
find(actor_t *actor, uint32_t name)
{
    op_t op = {.kind = OP_FIND, .name = names_text(name), .name_length = names_length(name)};
    record_t *record = run(actor, &op);
    record->name = name;
    if (op.status == SCHEDQ_OK) {
        note_result(record, &op.result);
        record->object = op.result.object;
        record->unschedulable = cluster_plugins(actor->cluster, op.result.unschedulable);
        record->pending = cluster_plugins(actor->cluster, op.result.pending);
        share_pod(actor, record->pod);
    }
    return record;
}

uint64_t
actor_find(actor_t *actor, uint32_t name)
{
    return find(actor, name)->pod;
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

/* What a visitor saw; its fields are those of the record. */
static void
note_seen(record_t *record, const record_t *seen)
{
    record->name = seen->name;
    record->pod = seen->pod;
    record->object = seen->object;
    record->priority = seen->priority;
    record->place = seen->place;
    record->timestamp_ns = seen->timestamp_ns;
    record->node = seen->node;
    record->tells_node = true;
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
    record_t seen;
    op_t op = {.kind = OP_GET, .pods = &(schedq_pod_t){pod}, .visit = copy_info, .ctx = &seen};
    record_t *record = run(actor, &op);
    if (op.status == SCHEDQ_OK)
        note_seen(record, &seen);
}

typedef struct line {
    record_t pods[MANY];
    size_t count;
} line_t;

static int
copy_next(void *ctx, const schedq_pod_info_t *info)
{
    line_t *line = ctx;
    return line->count < MANY ? copy_info(&line->pods[line->count++], info) : 0;
}

static void
peek(actor_t *actor, op_kind_t kind, size_t count)
{
    line_t line = {.count = 0};
    op_t op = {.kind = kind, .count = count, .visit = copy_next, .ctx = &line};
    uint64_t begin = enter(actor, &op);
    op_run(actor->worker, &op);
    op.got = line.count;
    record_t *records = leave(actor, begin, &op);
    for (size_t i = 0; i < line.count; i++) {
        note_seen(&records[i], &line.pods[i]);
        records[i].from_backoff = records[i].place == SCHEDQ_BACKOFF;
        records[i].count = (uint32_t)line.count;
        records[i].room = (uint32_t)count;
    }
}

void
actor_peek(actor_t *actor)
{
    peek(actor, OP_PEEK, 1);
}

void
actor_peek_many(actor_t *actor, size_t count)
{
    peek(actor, OP_PEEK_MANY, count);
}

void
actor_position(actor_t *actor, uint64_t pod)
{
    op_t op = {.kind = OP_POSITION, .pods = &(schedq_pod_t){pod}};
    record_t *record = run(actor, &op);
    if (op.status == SCHEDQ_OK) {
        record->place = SCHEDQ_ACTIVE;
        record->lower = op.lower;
        record->upper = op.upper;
    }
}

static void
run_delete(actor_t *actor, op_t op, uint32_t name)
{
    record_t *record = run(actor, &op);
    record->name = name;
    if (op.status == SCHEDQ_OK) {
        note_result(record, &op.result);
        record->object = op.result.object;
    }
}

void
actor_delete_name(actor_t *actor, uint32_t name)
{
    op_t op = {.kind = OP_DELETE, .name = names_text(name), .name_length = names_length(name)};
    run_delete(actor, op, name);
}

void
actor_delete_pod(actor_t *actor, uint64_t pod)
{
    run_delete(actor, (op_t){.kind = OP_DELETE, .pods = &(schedq_pod_t){pod}}, NO_NAME);
}

void
actor_close(actor_t *actor)
{
    run(actor, &(op_t){.kind = OP_CLOSE, .queue = actor->queue});
}
