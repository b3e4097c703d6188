/*
 * Those who disturb: one deletes, updates, holds, activates and nominates, one sends events and
 * looks, one serves time.
 */
#include <stdlib.h>
#include <string.h>

#include "world.h"

/* ---- churn ---- */

/* Half of its pods were popped a moment ago: many of them are in flight. */
static unsigned
some_pod(actor_t *actor)
{
    return actor_roll(actor, 2) == 0 ? actor_recent(actor) : actor_index(actor);
}

/* By name, or by handle, if the pod that was found is still the one that has the name. */
static void
delete_some_pod(actor_t *actor)
{
    char name[32];
    unsigned index = some_pod(actor);
    op_t found = {.kind = OP_FIND, .name = name, .name_length = tally_name(index, name)};
    if (actor_roll(actor, 2) == 0)
        (void)actor_do(actor, &found, NULL);
    op_t op = {.kind = OP_DELETE,
               .name = found.result.pod.bits == 0 ? name : NULL,
               .name_length = found.name_length,
               .pods = &found.result.pod};
    if (actor_do(actor, &op, &index) == SCHEDQ_OK)
        TALLY_CHECK(&actor->world->tally, tally_object_is_of(op.result.object, index),
                    "delete of %s shows object %llu", name, (unsigned long long)op.result.object);
    if (actor_roll(actor, 2) == 0)
        producer_add(actor, index);
}

static void
update_some_pod(actor_t *actor)
{
    static const schedq_event_t events[] = {SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_LABEL,
                                            SCHEDQ_EVENT_UNSCHEDULED_POD_UPDATE_GATES_ELIMINATED};
    char name[32];
    uint64_t replaced;
    unsigned index = some_pod(actor);
    if (schedq_find(actor->worker, name, tally_name(index, name), NULL) != SCHEDQ_OK)
        return;
    if (actor_update(actor, index, events, actor_roll(actor, 3), &replaced) == SCHEDQ_OK)
        TALLY_CHECK(&actor->world->tally, replaced == 0 || tally_object_is_of(replaced, index),
                    "update of %s replaced object %llu", name, (unsigned long long)replaced);
}

static int
visit_nothing(void *ctx, const schedq_pod_info_t *pod)
{
    world_t *world = ctx;
    TALLY_CHECK(&world->tally, tally_object_is_of(pod->object, tally_index(pod->name)),
                "%s is shown with object %llu", pod->name, (unsigned long long)pod->object);
    return 1;
}

static void
touch_some_pod(actor_t *actor)
{
    char name[32];
    unsigned index = some_pod(actor);
    op_t found = {.kind = OP_FIND, .name = name, .name_length = tally_name(index, name)};
    if (actor_do(actor, &found, NULL) != SCHEDQ_OK)
        return;
    TALLY_CHECK(&actor->world->tally, tally_object_is_of(found.result.object, index),
                "find of %s shows object %llu", name, (unsigned long long)found.result.object);
    static const op_kind_t kinds[] = {OP_ACTIVATE, OP_NOMINATE, OP_GET};
    op_t op = {.kind = kinds[actor_roll(actor, 3)],
               .count = 1,
               .pods = &found.result.pod,
               .node = actor_roll(actor, 5),
               .visit = visit_nothing,
               .ctx = actor->world};
    (void)actor_do(actor, &op, NULL);
}

/* For a moment: what is held is released, by a call or by time. */
static void
hold_some_pod(actor_t *actor)
{
    char name[32];
    unsigned index = some_pod(actor);
    op_t found = {.kind = OP_FIND, .name = name, .name_length = tally_name(index, name)};
    if (actor_do(actor, &found, NULL) != SCHEDQ_OK)
        return;
    op_t op = {.kind = OP_HOLD, .pods = &found.result.pod};
    if (actor_roll(actor, 4) == 0) {
        op.kind = OP_NOT_BEFORE;
        op.deadline_ns = found.result.timestamp_ns + actor_roll(actor, 2000000);
    }
    if (actor_do(actor, &op, NULL) != SCHEDQ_OK || op.kind == OP_NOT_BEFORE)
        return;
    if (actor_roll(actor, 2) == 0)
        actor_nap(actor, 50);
    op.kind = OP_RELEASE;
    (void)actor_do(actor, &op, NULL);
}

void *
churn_run(void *argument)
{
    const start_t *start = argument;
    actor_t actor;
    actor_begin(&actor, start->world, start->number);
    while (world_is_running(start->world)) {
        switch (actor_roll(&actor, 4)) {
        case 3:
            hold_some_pod(&actor);
            break;
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
        if (actor_roll(&actor, 256) == 0)
            actor_change_worker(&actor);
    }
    actor_end(&actor);
    return NULL;
}

/* ---- the host: events, looks, memory ---- */

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
        TALLY_CHECK(handles.tally, handles.bits[i - 1] != handles.bits[i],
                    "a snapshot shows pod %llx twice", (unsigned long long)handles.bits[i]);
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
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = (schedq_event_t)(1 + actor_roll(actor, SCHEDQ_EVENT_FIRST_FREE - 1));
    if (change.event == SCHEDQ_EVENT_WILDCARD && actor_roll(actor, 8) != 0)
        change.event = SCHEDQ_EVENT_NODE_ADD;
    change.new_object = actor_hold(actor, tally_object(actor_index(actor), 0));
    change.precheck = actor_roll(actor, 4) == 0 ? check_some : NULL;
    schedq_status_t status;
    if (actor_roll(actor, 4) != 0)
        status = schedq_notify(actor->worker, &change, NULL);
    else if (actor_roll(actor, 2) != 0)
        status = schedq_assigned_pod_added(actor->worker, &change, "s3", 2, NULL);
    else
        status = schedq_assigned_pod_updated(actor->worker, &change, "s4", 2, NULL);
    actor_let_go(actor, change.new_object);
    TALLY_CHECK(&actor->world->tally, status == SCHEDQ_OK, "a move says %s",
                schedq_status_name(status));
}

static void
change_memory(actor_t *actor)
{
    char why[200];
    schedq_t *queue = actor->world->queue;
    if (actor_roll(actor, 4) == 0) {
        schedq_status_t status =
            schedq_reserve(queue, actor_roll(actor, 4000), actor_roll(actor, 20),
                           actor_roll(actor, 5), why, sizeof why);
        TALLY_CHECK(&actor->world->tally, status == SCHEDQ_OK, "reserve says %s %s",
                    schedq_status_name(status), why);
    } else {
        schedq_trim(queue);
    }
}

static void
look_at_numbers(actor_t *actor)
{
    char text[100];
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    schedq_t *queue = actor->world->queue;
    schedq_stats(queue, &stats);
    schedq_pending_text(queue, text, sizeof text);
    schedq_rejector_bit(queue, 0, text, 9);
}

static void
look_around(actor_t *actor)
{
    switch (actor_roll(actor, 5)) {
    case 0:
        take_snapshot(actor);
        break;
    case 1:
        schedq_metrics_write(actor->world->queue, write_nothing, NULL);
        break;
    case 2:
        schedq_nominated_pods(actor->worker, 1 + actor_roll(actor, 4), visit_nothing, actor->world);
        break;
    case 3:
        look_at_numbers(actor);
        break;
    default:
        change_memory(actor);
    }
}

void *
host_run(void *argument)
{
    const start_t *start = argument;
    actor_t actor;
    actor_begin(&actor, start->world, start->number);
    while (world_is_running(start->world)) {
        if (actor_roll(&actor, 65) == 0)
            look_around(&actor);
        else
            send_event(&actor);
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
        (void)actor_do(&actor, &(op_t){.kind = OP_TICK}, NULL);
        actor_nap(&actor, 3000);
        if (actor_roll(&actor, 8) != 0)
            continue;
        schedq_status_t status = schedq_run(start->world->queue, NULL, 0);
        TALLY_CHECK(tally, status == SCHEDQ_OK, "run says %s", schedq_status_name(status));
        actor_nap(&actor, 30000);
        schedq_stop(start->world->queue);
    }
    actor_end(&actor);
    return NULL;
}
