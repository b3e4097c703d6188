/* One line a call. */
#include "ops/op.h"

#include <assert.h>

#define OK OP_LEGAL(SCHEDQ_OK)
#define EXISTS OP_LEGAL(SCHEDQ_EXISTS)
#define EMPTY OP_LEGAL(SCHEDQ_EMPTY)
#define GONE OP_LEGAL(SCHEDQ_GONE)
#define NOT_FOUND OP_LEGAL(SCHEDQ_NOT_FOUND)

static const struct {
    const char *name;
    uint32_t legal;
} calls[OPS] = {
    [OP_NONE] = {"none", 0},
    [OP_ADD] = {"add", OK | EXISTS},
    [OP_ADD_MANY] = {"add_many", OK | EXISTS},
    [OP_READD] = {"readd", OK | EXISTS},
    [OP_UPDATE] = {"update", OK},
    [OP_TRY_POP] = {"try_pop", OK | EMPTY},
    [OP_POP] = {"pop", OK},
    [OP_POP_MANY] = {"pop_many", OK | EMPTY},
    [OP_DONE] = {"done", OK | GONE},
    [OP_DONE_MANY] = {"done_many", OK | GONE},
    [OP_TOKEN_ALIVE] = {"token_alive", OK | GONE},
    [OP_ADD_UNSCHEDULABLE] = {"add_unschedulable", OK | GONE},
    [OP_DELETE] = {"delete", OK | NOT_FOUND},
    [OP_FIND] = {"find", OK | NOT_FOUND},
    [OP_GET] = {"get", OK | NOT_FOUND},
    [OP_ACTIVATE] = {"activate", OK},
    [OP_NOMINATE] = {"nominate", OK | NOT_FOUND},
    [OP_MOVE_ALL] = {"move_all", OK},
    [OP_TICK] = {"tick", OK},
    [OP_SNAPSHOT] = {"snapshot", OK},
    [OP_NOMINATED_PODS] = {"nominated_pods", OK},
};

const char *
op_name(op_kind_t kind)
{
    return kind < OPS ? calls[kind].name : "?";
}

static schedq_status_t
call(schedq_worker_t *worker, op_t *op, size_t count)
{
    const schedq_pod_t pod = op->pods != NULL ? op->pods[0] : (schedq_pod_t){0};

    switch (op->kind) {
    case OP_ADD:
        return schedq_add(worker, op->names, op->specs, &op->result);
    case OP_ADD_MANY:
        return schedq_add_many(worker, op->names, op->specs, count, op->added, op->statuses,
                               &op->result);
    case OP_READD:
        return schedq_readd(worker, op->names, op->specs, op->history, op->failure, &op->result);
    case OP_UPDATE:
        return schedq_update(worker, op->names, op->specs, op->old_object, op->events,
                             op->event_count, &op->result);
    case OP_TRY_POP:
        return schedq_try_pop(worker, op->popped);
    case OP_POP:
        return schedq_pop(worker, op->deadline_ns, op->popped);
    case OP_POP_MANY:
        return schedq_pop_many(worker, op->popped, count, &op->got);
    case OP_DONE:
        return schedq_done(worker, op->tokens[0]);
    case OP_DONE_MANY:
        return schedq_done_many(worker, op->tokens, count, op->statuses);
    case OP_TOKEN_ALIVE:
        return schedq_token_alive(worker, op->tokens[0]);
    case OP_ADD_UNSCHEDULABLE:
        return schedq_add_unschedulable(worker, op->tokens, op->failure, &op->result);
    case OP_DELETE:
        return schedq_delete(worker, pod, op->names, op->name_length, &op->result);
    case OP_FIND:
        return schedq_find(worker, op->names, op->name_length, &op->result);
    case OP_GET:
        return schedq_get(worker, pod, op->visit, op->ctx);
    case OP_ACTIVATE:
        return schedq_activate(worker, op->pods, count, &op->result);
    case OP_NOMINATE:
        return schedq_nominate(worker, pod, op->node);
    case OP_MOVE_ALL:
        return schedq_move_all(worker, op->move, &op->result);
    case OP_TICK:
        return schedq_tick(worker, NULL, &op->result);
    case OP_SNAPSHOT:
        return schedq_snapshot(worker, op->visit, op->ctx);
    case OP_NOMINATED_PODS:
        return schedq_nominated_pods(worker, op->node, op->visit, op->ctx);
    default:
        return SCHEDQ_INVALID;
    }
}

schedq_status_t
op_run(schedq_worker_t *worker, op_t *op)
{
    size_t count = op->count == 0 ? 1 : op->count;

    assert(count <= OP_PODS_MAX);
    op->status = call(worker, op, count);
    if (op->kind == OP_TRY_POP || op->kind == OP_POP) {
        op->got = op->status == SCHEDQ_OK;
    }
    return op->status;
}

static bool
has_statuses(const op_t *op)
{
    return op->kind == OP_ADD_MANY || op->kind == OP_DONE_MANY;
}

size_t
op_elements(const op_t *op)
{
    return has_statuses(op) ? op->count : 1;
}

schedq_status_t
op_element(const op_t *op, size_t element)
{
    return has_statuses(op) ? (schedq_status_t)op->statuses[element] : op->status;
}

uint32_t
op_legal(const op_t *op)
{
    uint32_t legal = calls[op->kind].legal;

    if (op->kind == OP_POP && op->deadline_ns != SCHEDQ_NO_DEADLINE) {
        legal |= OP_LEGAL(SCHEDQ_TIMEDOUT);
    }
    if (op->kind == OP_UPDATE && (op->specs[0].flags & SCHEDQ_POD_EXISTING) != 0) {
        legal |= NOT_FOUND;
    }
    return legal;
}

bool
op_made(const op_t *op, size_t element)
{
    bool makes = op->kind == OP_ADD || op->kind == OP_ADD_MANY || op->kind == OP_READD ||
                 (op->kind == OP_UPDATE && op->result.added != 0);

    return makes && op_element(op, element) == SCHEDQ_OK;
}
