/* Those who disturb: one deletes, updates, activates and nominates, one sends events and looks, one serves time. */
#include <stdlib.h>
#include <string.h>

#include "world.h"

/* ---- churn ---- */

static void
delete_some_pod(actor_t *actor)
{
    char name[32];
    schedq_pod_spec_t spec;
    tally_t *tally = &actor->world->tally;
    unsigned index = actor_spec(actor, &spec, name);
    schedq_status_t status = schedq_delete(actor->worker, (schedq_pod_t){0}, name, spec.name_length, NULL);
    if (status == SCHEDQ_OK)
        atomic_fetch_add(&tally->deletes[index], 1);
    else
        TALLY_CHECK(tally, status == SCHEDQ_NOT_FOUND, "delete says %s", schedq_status_name(status));
}

static void
update_some_pod(actor_t *actor)
{
    static const schedq_event_t events[] = {SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL,
                                            SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED};
    char name[32];
    schedq_pod_spec_t spec;
    schedq_result_t result;
    tally_t *tally = &actor->world->tally;
    unsigned index = actor_spec(actor, &spec, name);
    if (schedq_find(actor->worker, name, spec.name_length, NULL) != SCHEDQ_OK)
        return;
    schedq_status_t status =
        schedq_update(actor->worker, name, &spec, spec.object, events, actor_roll(actor, 3), &result);
    TALLY_CHECK(tally, status == SCHEDQ_OK, "update says %s", schedq_status_name(status));
    if (status == SCHEDQ_OK && result.added)
        atomic_fetch_add(&tally->adds[index], 1);
}

static int
visit_nothing(void *ctx, const schedq_pod_info_t *pod)
{
    world_t *world = ctx;
    TALLY_CHECK(&world->tally, pod->object == tally_index(pod->name) + 1, "%s is shown with object %llu", pod->name,
                (unsigned long long)pod->object);
    return 1;
}

static void
touch_some_pod(actor_t *actor)
{
    char name[32];
    schedq_pod_spec_t spec;
    schedq_result_t found;
    actor_spec(actor, &spec, name);
    if (schedq_find(actor->worker, name, spec.name_length, &found) != SCHEDQ_OK)
        return;
    switch (actor_roll(actor, 3)) {
    case 0:
        schedq_activate(actor->worker, &found.pod, 1, NULL);
        break;
    case 1:
        schedq_nominate(actor->worker, found.pod, actor_roll(actor, 5));
        break;
    default:
        schedq_get(actor->worker, found.pod, visit_nothing, actor->world);
    }
}

void *
churn_run(void *argument)
{
    const start_t *start = argument;
    actor_t actor;
    actor_begin(&actor, start->world, start->number);
    while (world_is_running(start->world)) {
        switch (actor_roll(&actor, 3)) {
        case 0:
            delete_some_pod(&actor);
            break;
        case 1:
            update_some_pod(&actor);
            break;
        default:
            touch_some_pod(&actor);
        }
        if (actor_roll(&actor, 8) == 0)
            actor_nap(&actor, 50);
    }
    actor_end(&actor);
    return NULL;
}

/* ---- events ---- */

typedef struct handles {
    tally_t *tally;
    size_t count;
    uint64_t bits[4 * TALLY_NAMES];
} handles_t;

static int
collect_handle(void *ctx, const schedq_pod_info_t *pod)
{
    handles_t *handles = ctx;
    if (handles->count < sizeof handles->bits / sizeof *handles->bits)
        handles->bits[handles->count++] = pod->pod.bits;
    return 1;
}

static int
compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void
take_snapshot(actor_t *actor)
{
    static _Thread_local handles_t handles;
    handles.tally = &actor->world->tally;
    handles.count = 0;
    schedq_snapshot(actor->worker, collect_handle, &handles);
    qsort(handles.bits, handles.count, sizeof *handles.bits, compare);
    for (size_t i = 1; i < handles.count; i++)
        TALLY_CHECK(handles.tally, handles.bits[i - 1] != handles.bits[i], "a snapshot shows pod %llx twice",
                    (unsigned long long)handles.bits[i]);
}

static int
write_nothing(void *ctx, const char *text, size_t length)
{
    (void)ctx;
    (void)text;
    (void)length;
    return 1;
}

static int
check_some(void *ctx, uint64_t pod)
{
    (void)ctx;
    return pod % 3 != 0;
}

static void
send_event(actor_t *actor)
{
    schedq_move_t move;
    schedq_move_init(&move);
    move.event = (schedq_event_t)actor_roll(actor, SCHEDQ_EVENT_FIRST_FREE);
    if (move.event == SCHEDQ_EVENT_WILDCARD && actor_roll(actor, 8) != 0)
        move.event = SCHEDQ_EVENT_NODE_ADD;
    move.new_object = 1 + actor_roll(actor, TALLY_NAMES);
    move.precheck = actor_roll(actor, 4) == 0 ? check_some : NULL;
    schedq_status_t status;
    if (actor_roll(actor, 4) != 0)
        status = schedq_move_all(actor->worker, &move, NULL);
    else if (actor_roll(actor, 2) != 0)
        status = schedq_assigned_pod_added(actor->worker, &move, "s3", 2, NULL);
    else
        status = schedq_assigned_pod_updated(actor->worker, &move, "s4", 2, NULL);
    TALLY_CHECK(&actor->world->tally, status == SCHEDQ_OK, "a move says %s", schedq_status_name(status));
}

static void
look_around(actor_t *actor)
{
    char text[100];
    schedq_t *queue = actor->world->queue;
    switch (actor_roll(actor, 4)) {
    case 0:
        take_snapshot(actor);
        break;
    case 1:
        schedq_metrics_write(queue, write_nothing, NULL);
        break;
    case 2:
        schedq_nominated_pods(actor->worker, 1 + actor_roll(actor, 4), visit_nothing, actor->world);
        break;
    default:
        schedq_pending_text(queue, text, sizeof text);
        schedq_rejector_bit(queue, 0, text, 9);
        schedq_trim(queue);
    }
}

void *
events_run(void *argument)
{
    const start_t *start = argument;
    actor_t actor;
    actor_begin(&actor, start->world, start->number);
    while (world_is_running(start->world)) {
        send_event(&actor);
        if (actor_roll(&actor, 64) == 0)
            look_around(&actor);
        actor_nap(&actor, 200);
    }
    actor_end(&actor);
    return NULL;
}

/* ---- time ---- */

void *
ticks_run(void *argument)
{
    const start_t *start = argument;
    tally_t *tally = &start->world->tally;
    actor_t actor;
    actor_begin(&actor, start->world, start->number);
    while (world_is_running(start->world)) {
        schedq_status_t status = schedq_tick(actor.worker, NULL, NULL);
        TALLY_CHECK(tally, status == SCHEDQ_OK, "tick says %s", schedq_status_name(status));
        actor_nap(&actor, 3000);
        if (actor_roll(&actor, 50) != 0)
            continue;
        status = schedq_run(start->world->queue, NULL, 0);
        TALLY_CHECK(tally, status == SCHEDQ_OK, "run says %s", schedq_status_name(status));
        actor_nap(&actor, 10000);
        schedq_stop(start->world->queue);
    }
    actor_end(&actor);
    return NULL;
}
