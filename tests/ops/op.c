/* One line a call. */
#include "ops/op.h"

#include <assert.h>
#include <string.h>

#define OK OP_LEGAL(SCHEDQ_OK)
#define TIMEDOUT OP_LEGAL(SCHEDQ_TIMEDOUT)
#define EXISTS OP_LEGAL(SCHEDQ_EXISTS)
#define EMPTY OP_LEGAL(SCHEDQ_EMPTY)
#define CLOSED OP_LEGAL(SCHEDQ_CLOSED)
#define GONE OP_LEGAL(SCHEDQ_GONE)
#define NOT_FOUND OP_LEGAL(SCHEDQ_NOT_FOUND)
#define NOMEM OP_LEGAL(SCHEDQ_NOMEM)
#define FULL (NOMEM | OP_LEGAL(SCHEDQ_FULL))
#define RETRY OP_LEGAL(SCHEDQ_RETRY)
#define CHANGED OP_LEGAL(SCHEDQ_CHANGED)
#define CANCELED OP_LEGAL(SCHEDQ_CANCELED)

static const struct {
    const char *name;
    uint32_t always, refusals;
} calls[OPS] = {
    [OP_NONE] = {"none", 0, 0},
    [OP_ADD] = {"add", OK | EXISTS, CLOSED | FULL | RETRY},
    [OP_ADD_MANY] = {"add_many", OK | EXISTS, CLOSED | FULL | RETRY},
    [OP_READD] = {"readd", OK | EXISTS, CLOSED | FULL | RETRY},
    [OP_UPDATE] = {"update", OK | NOT_FOUND, CLOSED | FULL | RETRY},
    [OP_TRY_POP] = {"try_pop", OK | EMPTY, CLOSED},
    [OP_POP] = {"pop", OK, CLOSED | CANCELED},
    [OP_POP_FOR] = {"pop_for", OK | TIMEDOUT, CLOSED | CANCELED},
    [OP_POP_UNTIL] = {"pop_until", OK, CLOSED | CANCELED},
    [OP_POP_MANY] = {"pop_many", OK, CLOSED | CANCELED},
    [OP_POP_MANY_FOR] = {"pop_many_for", OK | TIMEDOUT, CLOSED | CANCELED},
    [OP_POP_MANY_UNTIL] = {"pop_many_until", OK, CLOSED | CANCELED},
    [OP_TRY_POP_MANY] = {"try_pop_many", OK | EMPTY, CLOSED},
    [OP_DONE] = {"done", OK | GONE, 0},
    [OP_DONE_MANY] = {"done_many", OK | GONE, 0},
    [OP_TOKEN_ALIVE] = {"token_alive", OK | GONE, 0},
    [OP_FAIL] = {"fail", OK | GONE, NOMEM | RETRY},
    [OP_DELETE] = {"delete", OK | NOT_FOUND, 0},
    [OP_FIND] = {"find", OK | NOT_FOUND, 0},
    [OP_GET] = {"get", OK | NOT_FOUND, 0},
    [OP_ACTIVATE] = {"activate", OK, NOMEM},
    [OP_NOMINATE] = {"nominate", OK | NOT_FOUND, NOMEM},
    [OP_HOLD] = {"hold", OK | NOT_FOUND, NOMEM},
    [OP_RELEASE] = {"release", OK | NOT_FOUND, NOMEM},
    [OP_NOT_BEFORE] = {"not_before", OK | NOT_FOUND, NOMEM},
    [OP_LABEL_CANCEL] = {"label_cancel", OK, NOMEM},
    [OP_LABEL_HOLD] = {"label_hold", OK, NOMEM},
    [OP_LABEL_RELEASE] = {"label_release", OK, NOMEM},
    [OP_LABEL_COUNT] = {"label_count", OK, NOMEM},
    [OP_GROUP_ADD] = {"group_add", OK | EXISTS, CLOSED | FULL},
    [OP_GROUP_UPDATE] = {"group_update", OK | NOT_FOUND, NOMEM},
    [OP_GROUP_DELETE] = {"group_delete", OK | NOT_FOUND, NOMEM},
    [OP_GROUP_ACTIVATE] = {"group_activate", OK | NOT_FOUND, NOMEM},
    [OP_GROUP_GET] = {"group_get", OK | NOT_FOUND, 0},
    [OP_TRY_POP_GROUP] = {"try_pop_group", OK | EMPTY | OP_LEGAL(SCHEDQ_FULL), CLOSED | NOMEM},
    [OP_POP_GROUP_FOR] = {"pop_group_for", OK | TIMEDOUT | OP_LEGAL(SCHEDQ_FULL),
                          CLOSED | CANCELED | NOMEM},
    [OP_POP_GROUP_UNTIL] = {"pop_group_until", OK | TIMEDOUT | OP_LEGAL(SCHEDQ_FULL),
                            CLOSED | CANCELED | NOMEM},
    [OP_GROUP_DONE] = {"group_done", OK, NOMEM},
    [OP_NOTIFY] = {"notify", OK, NOMEM},
    [OP_TICK] = {"tick", OK, NOMEM},
    [OP_SNAPSHOT] = {"snapshot", OK, NOMEM},
    [OP_NOMINATED_PODS] = {"nominated_pods", OK, NOMEM},
    [OP_PEEK] = {"peek", OK | EMPTY, NOMEM},
    [OP_PEEK_MANY] = {"peek_many", OK | EMPTY, NOMEM},
    [OP_POSITION] = {"position", OK | GONE | NOT_FOUND, 0},
    [OP_EXPLAIN] = {"explain", OK | NOT_FOUND, NOMEM},
    [OP_COUNT_REASONS] = {"count_reasons", OK, 0},
    [OP_WATCH] = {"watch", OK, TIMEDOUT},
    [OP_ASSIGNED_POD_ADDED] = {"assigned_pod_added", OK, NOMEM},
    [OP_ASSIGNED_POD_UPDATED] = {"assigned_pod_updated", OK, NOMEM},
    [OP_EVENT_BEGIN] = {"event_begin", OK, 0},
    [OP_EVENT_STAMP] = {"event_stamp", OK, 0},
    [OP_CANDIDATES] = {"candidates", OK | EMPTY, 0},
    [OP_APPLY] = {"apply", OK | GONE, CHANGED | RETRY | NOMEM},
    [OP_APPLY_MANY] = {"apply_many", OK | GONE, CHANGED | RETRY | NOMEM},
    [OP_WAIT_CANCEL] = {"wait_cancel", OK, 0},
    [OP_CLOSE] = {"close", OK, 0},
};

const char *
op_name(op_kind_t kind)
{
    return kind < OPS ? calls[kind].name : "?";
}

static schedq_status_t
call(schedq_worker_t *worker, op_t *op)
{
    const schedq_pod_t pod = op->pods != NULL ? op->pods[0] : (schedq_pod_t){0};
    uint8_t *statuses = op->terse ? NULL : op->statuses;

    switch (op->kind) {
    case OP_ADD:
        return schedq_add(worker, op->name, op->name_length, op->spec, &op->result);
    case OP_ADD_MANY:
        return schedq_add_many(worker, op->names, op->names_length, op->items, op->count, op->added,
                               statuses, &op->result);
    case OP_READD:
        return schedq_readd(worker, op->name, op->name_length, op->spec, op->history, op->failure,
                            &op->result);
    case OP_UPDATE:
        return schedq_update(worker, op->name, op->name_length, op->spec, op->old_object,
                             op->events, op->event_count, &op->result);
    case OP_TRY_POP:
        return schedq_try_pop(worker, op->popped);
    case OP_POP:
        return schedq_pop(worker, op->popped);
    case OP_POP_FOR:
        return schedq_pop_for(worker, op->wait_ns, op->popped);
    case OP_POP_UNTIL:
        return schedq_pop_until(worker, op->deadline_ns, op->popped);
    case OP_POP_MANY:
        return schedq_pop_many(worker, op->popped, op->count, &op->got);
    case OP_POP_MANY_FOR:
        return schedq_pop_many_for(worker, op->wait_ns, op->popped, op->count, &op->got);
    case OP_POP_MANY_UNTIL:
        return schedq_pop_many_until(worker, op->deadline_ns, op->popped, op->count, &op->got);
    case OP_TRY_POP_MANY:
        return schedq_try_pop_many(worker, op->popped, op->count, &op->got);
    case OP_DONE:
        return schedq_done(worker, op->tokens[0]);
    case OP_DONE_MANY:
        return schedq_done_many(worker, op->tokens, op->count, statuses);
    case OP_TOKEN_ALIVE:
        return schedq_token_alive(worker, op->tokens[0]);
    case OP_FAIL:
        return schedq_fail(worker, op->tokens, op->failure, &op->result);
    case OP_DELETE:
        return op->name == NULL ? schedq_delete(worker, pod, op->terse ? NULL : &op->result)
                                : schedq_delete_name(worker, op->name, op->name_length,
                                                     op->terse ? NULL : &op->result);
    case OP_FIND:
        return schedq_find(worker, op->name, op->name_length, &op->result);
    case OP_GET:
        return schedq_get(worker, pod, op->visit, op->ctx);
    case OP_ACTIVATE:
        return schedq_activate(worker, op->pods, op->count, &op->result);
    case OP_NOMINATE:
        return schedq_nominate(worker, pod, op->node);
    case OP_HOLD:
        return schedq_hold(worker, pod, &op->result);
    case OP_RELEASE:
        return schedq_release(worker, pod, &op->result);
    case OP_NOT_BEFORE:
        return schedq_not_before(worker, pod, op->deadline_ns, &op->result);
    case OP_LABEL_CANCEL:
        return schedq_label_cancel(worker, op->label, op->results, op->room, &op->got);
    case OP_LABEL_HOLD:
        return schedq_label_hold(worker, op->label, &op->got);
    case OP_LABEL_RELEASE:
        return schedq_label_release(worker, op->label, &op->got);
    case OP_LABEL_COUNT:
        return schedq_label_count(worker, op->label, &op->got);
    case OP_GROUP_ADD:
        return schedq_group_add(worker, op->group, op->group_spec, &op->result);
    case OP_GROUP_UPDATE:
        return schedq_group_update(worker, op->group, op->group_spec, &op->result);
    case OP_GROUP_DELETE:
        return schedq_group_delete(worker, op->group, &op->result);
    case OP_GROUP_ACTIVATE:
        return schedq_group_activate(worker, op->group, &op->result);
    case OP_GROUP_GET:
        return schedq_group_get(worker, op->group, op->group_info);
    case OP_TRY_POP_GROUP:
        return schedq_try_pop_group(worker, op->popped_group, op->popped, op->room, &op->got);
    case OP_POP_GROUP_FOR:
        return schedq_pop_group_for(worker, op->wait_ns, op->popped_group, op->popped, op->room,
                                    &op->got);
    case OP_POP_GROUP_UNTIL:
        return schedq_pop_group_until(worker, op->deadline_ns, op->popped_group, op->popped,
                                      op->room, &op->got);
    case OP_GROUP_DONE:
        return schedq_group_done(worker, op->tokens, op->group_end, &op->result);
    case OP_NOTIFY:
        return schedq_notify(worker, op->change, &op->result);
    case OP_TICK:
        return schedq_tick(worker, op->next_ns, &op->result);
    case OP_SNAPSHOT:
        return schedq_snapshot(worker, op->visit, op->ctx);
    case OP_NOMINATED_PODS:
        return schedq_nominated_pods(worker, op->node, op->visit, op->ctx);
    case OP_PEEK:
        return schedq_peek(worker, op->visit, op->ctx);
    case OP_PEEK_MANY:
        return schedq_peek_many(worker, op->count, op->visit, op->ctx);
    case OP_POSITION:
        return schedq_position(worker, pod, &op->lower, &op->upper);
    case OP_EXPLAIN:
        return schedq_explain(worker, pod, op->explanation);
    case OP_COUNT_REASONS:
        return schedq_count_reasons(worker, op->profile, op->reasons);
    case OP_WATCH:
        return schedq_watch(worker, op->watch, op->overdue, op->count, &op->got);
    case OP_ASSIGNED_POD_ADDED:
        return schedq_assigned_pod_added(worker, op->change, op->name, op->name_length,
                                         &op->result);
    case OP_ASSIGNED_POD_UPDATED:
        return schedq_assigned_pod_updated(worker, op->change, op->name, op->name_length,
                                           &op->result);
    case OP_EVENT_BEGIN:
        return schedq_event_begin(worker, &op->sequence);
    case OP_EVENT_STAMP:
        return schedq_event_stamp(worker, op->sequence, op->profile, op->rejectors);
    case OP_CANDIDATES:
        return schedq_candidates(worker, op->query, op->candidates, op->count, &op->got);
    case OP_APPLY:
        return schedq_apply(worker, op->decisions, &op->result);
    case OP_APPLY_MANY:
        return schedq_apply_many(worker, op->decisions, op->count, statuses, op->results,
                                 &op->result);
    case OP_WAIT_CANCEL:
        return schedq_wait_cancel(op->waits);
    case OP_CLOSE:
        return schedq_close(op->queue);
    default:
        return SCHEDQ_INVALID;
    }
}

bool
op_waits(op_kind_t kind)
{
    return kind == OP_POP || kind == OP_POP_FOR || kind == OP_POP_UNTIL;
}

bool
op_pops_one(op_kind_t kind)
{
    return kind == OP_TRY_POP || op_waits(kind);
}

schedq_status_t
op_run(schedq_worker_t *worker, op_t *op)
{
    assert(op->count <= OP_PODS_MAX);
    op->status = call(worker, op);
    if (op_pops_one(op->kind)) {
        op->got = op->status == SCHEDQ_OK;
    }
    return op->status;
}

bool
op_has_statuses(const op_t *op)
{
    return !op->terse &&
           (op->kind == OP_ADD_MANY || op->kind == OP_DONE_MANY || op->kind == OP_APPLY_MANY);
}

size_t
op_elements(const op_t *op)
{
    return op_has_statuses(op) ? op->count : 1;
}

schedq_status_t
op_element(const op_t *op, size_t element)
{
    return op_has_statuses(op) ? (schedq_status_t)op->statuses[element] : op->status;
}

uint32_t
op_legal(const op_t *op, bool closes, uint32_t refusals)
{
    uint32_t legal = calls[op->kind].always;
    bool adds = op->kind == OP_UPDATE && (op->spec->flags & SCHEDQ_POD_ADD) != 0;
    bool never_adds = op->kind == OP_UPDATE && !adds;

    legal |= calls[op->kind].refusals & (refusals | (closes && !never_adds ? CLOSED : 0));
    if ((op->kind == OP_POP_UNTIL || op->kind == OP_POP_MANY_UNTIL) &&
        op->deadline_ns != SCHEDQ_NO_DEADLINE) {
        legal |= TIMEDOUT;
    }
    return adds ? legal & ~NOT_FOUND : legal;
}

bool
op_made(const op_t *op, size_t element)
{
    bool makes = op->kind == OP_ADD || op->kind == OP_ADD_MANY || op->kind == OP_READD ||
                 (op->kind == OP_UPDATE && op->result.added != 0);

    return makes && op_element(op, element) == SCHEDQ_OK;
}
