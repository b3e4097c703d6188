/*
 * Performs operations: those on many pods, on time and on the queue itself are here, those on one
 * pod in pods.c. What surprises: a wildcard whose target the queue has never seen is a wildcard
 * with an object, which reaches nobody.
 */
#include "run.h"

#include "groups.h"
#include "pods.h"
#include "result.h"

#include <string.h>

#define PODS_MAX 64

static void
run_move(struct world *world, const struct operation *operation, FILE *result)
{
    const struct pod *target = NULL;
    struct number unseen = {.given = true};
    schedq_change_t change = SCHEDQ_CHANGE_INIT;

    if (!world_event(world, &operation->event, &change.event, result)) {
        return;
    }
    change.old_object = world_number_object(world, operation->old_number);
    change.new_object = world_number_object(world, operation->new_number);
    if (operation->group != NULL) {
        change.new_object = groups_object(world, operation->group, operation->min);
    }
    if (operation->old_group != NULL || operation->old_min.given) {
        change.old_object = groups_object(
            world, operation->old_group != NULL ? operation->old_group : operation->group,
            operation->old_min);
    }
    if (operation->moved_pod.name != NULL) {
        const struct pod *moved = world_find_pod(world, operation->moved_pod);

        change.new_object = moved != NULL ? object_bits(world_pod_object(world, moved->newest)) : 0;
    }
    if (operation->target.name != NULL) {
        target = world_find_pod(world, operation->target);
        if (target == NULL) {
            change.new_object = world_number_object(world, unseen);
        } else {
            change.target = target->handle;
        }
    }
    if (operation->precheck != NULL) {
        change.precheck = has_even_name;
    }
    write_status(world, schedq_notify(world->worker, &change, NULL), result);
}

static void
run_activate(struct world *world, const struct operation *operation, FILE *result)
{
    schedq_pod_t handles[PODS_MAX];
    size_t count = 0;

    if (operation->activated_count > PODS_MAX) {
        fprintf(result, "error %zu pods, expected at most %d", operation->activated_count,
                PODS_MAX);
        return;
    }
    for (size_t i = 0; i < operation->activated_count; i++) {
        const struct pod *pod = world_find_pod(world, operation->activated[i]);
        if (pod != NULL) {
            handles[count++] = pod->handle;
        }
    }
    write_status(world, schedq_activate(world->worker, handles, count, NULL), result);
}

/* Before queueing hints upstream had one resource for all pods. */
static struct event_text
assigned_event(const struct world *world, const struct operation *operation)
{
    bool added = operation->kind == OP_ASSIGNED_ADD;
    uint32_t actions = added ? SCHEDQ_ACTION_ADD : SCHEDQ_ACTION_UPDATE;

    if (operation->event.resource != NULL) {
        return operation->event;
    }
    if (world->script->release->hints) {
        return (struct event_text){"AssignedPod", actions, NULL};
    }
    return (struct event_text){"Pod", actions, added ? "AssignedPodAdd" : "AssignedPodUpdate"};
}

static void
run_assigned(struct world *world, const struct operation *operation, FILE *result)
{
    struct event_text event = assigned_event(world, operation);
    const char *ns = operation->ns == NULL ? NAMESPACE : operation->ns;
    struct object *assigned = keep(&world->script->memory, 1, sizeof *assigned);
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_status_t status;

    *assigned =
        (struct object){.ns = ns, .app = operation->app, .number = operation->new_number.value};
    if (!world_event(world, &event, &change.event, result)) {
        return;
    }
    change.old_object = world_number_object(world, operation->old_number);
    change.new_object = object_bits(assigned);
    if (operation->kind == OP_ASSIGNED_ADD) {
        status = schedq_assigned_pod_added(world->worker, &change, ns, (uint32_t)strlen(ns), NULL);
    } else {
        status =
            schedq_assigned_pod_updated(world->worker, &change, ns, (uint32_t)strlen(ns), NULL);
    }
    write_status(world, status, result);
}

static void
run_tick(struct world *world, const struct operation *operation, FILE *result)
{
    (void)operation;
    write_status(world, schedq_tick(world->worker, NULL, NULL), result);
}

struct get_visit {
    const struct profile *profile;
    FILE *result;
};

static int
write_pod(void *ctx, const schedq_pod_info_t *info)
{
    const struct get_visit *visit = ctx;
    FILE *result = visit->result;

    if (info->place == SCHEDQ_INFLIGHT) {
        fputs("absent", result);
        return 0;
    }
    write_identity(info->name + strlen(NAMESPACE "/"), object_at(info->object)->uid, result);
    write_history(&info->history, result);
    fputs(" plugins=", result);
    write_rejectors(visit->profile, info->unschedulable, result);
    fputs(" pending=", result);
    write_rejectors(visit->profile, info->pending, result);
    fputs(" gating=", result);
    write_rejectors(visit->profile, info->gate == 0 ? 0 : UINT64_C(1) << (info->gate - 1), result);
    return 0;
}

static void
run_get(struct world *world, const struct operation *operation, FILE *result)
{
    char name[FULL_NAME_SIZE];
    uint32_t length = world_full_name(name, operation->pod.id.name);
    struct get_visit visit = {.result = result};
    schedq_result_t found;
    schedq_status_t status = schedq_find(world->worker, name, length, &found);

    if (status == SCHEDQ_NOT_FOUND) {
        fputs("absent", result);
        return;
    }
    if (status == SCHEDQ_OK) {
        const struct pod_name id = {operation->pod.id.name, object_at(found.object)->uid};
        visit.profile = world_find_pod(world, id)->profile;
        status = schedq_get(world->worker, found.pod, write_pod, &visit);
    }
    if (status != SCHEDQ_OK) {
        write_status(world, status, result);
    }
}

static void
run_pending(struct world *world, const struct operation *operation, FILE *result)
{
    char text[128];

    (void)operation;
    (void)schedq_pending_text(world->queue, text, sizeof text);
    fputs(text, result);
}

static void
run_close(struct world *world, const struct operation *operation, FILE *result)
{
    (void)operation;
    write_status(world, schedq_close(world->queue), result);
}

void
run_operation(struct world *world, const struct operation *operation, FILE *result)
{
    static void (*const runners[OP_COUNT])(struct world *, const struct operation *, FILE *) = {
        [OP_ADD] = run_add,
        [OP_POP] = run_pop,
        [OP_FAIL] = run_fail,
        [OP_DONE] = run_done,
        [OP_MOVE] = run_move,
        [OP_UPDATE] = run_update,
        [OP_DELETE] = run_delete,
        [OP_ACTIVATE] = run_activate,
        [OP_ASSIGNED_ADD] = run_assigned,
        [OP_ASSIGNED_UPDATE] = run_assigned,
        [OP_NOMINATE] = run_nominate,
        [OP_DENOMINATE] = run_nominate,
        [OP_TICK] = run_tick,
        [OP_GET] = run_get,
        [OP_PENDING] = run_pending,
        [OP_CLOSE] = run_close,
        [OP_GROUP_ADD] = run_group_declare,
        [OP_GROUP_UPDATE] = run_group_declare,
        [OP_GROUP_DELETE] = run_group_delete,
        [OP_GROUP_DONE] = run_group_done,
        [OP_GROUP_GET] = run_group_get,
        [OP_COMPOSITE_ADD] = run_group_declare,
        [OP_COMPOSITE_UPDATE] = run_group_declare,
        [OP_COMPOSITE_DELETE] = run_group_delete,
    };

    world_set_time(world, operation->time_ms);
    world_pass_turn(world);
    runners[operation->kind](world, operation, result);
}
