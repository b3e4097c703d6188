/*
 * The public API as a queue under test: operations are run.h's, the rest is asked of the queue
 * itself.
 */
#include "local.h"

#include "groups.h"
#include "report.h"
#include "run.h"

#include <inttypes.h>
#include <string.h>

static struct local *
local_of(struct subject *subject)
{
    return (struct local *)subject;
}

static bool
open_world(struct subject *subject, struct script *script)
{
    struct local *local = local_of(subject);

    return world_open(&local->world, script, local->options.engine, local->options.workers);
}

static void
perform(struct subject *subject, const struct operation *operation, FILE *result)
{
    run_operation(&local_of(subject)->world, operation, result);
}

struct look {
    struct world *world;
    struct snapshot *snapshot;
    const char *node;
};

/* Without the namespace; the visit's string is gone after it. */
static const char *
name_of(const struct look *look, const schedq_pod_info_t *info)
{
    return keep_text(&look->world->script->memory, info->name + strlen(NAMESPACE "/"));
}

/* NULL: no group of the script. */
static const char *
group_name(const struct world *world, uint64_t number)
{
    const struct group *group = world->groups;

    while (group != NULL && group_number(group->name) != number) {
        group = group->next;
    }
    return group != NULL ? group->name : NULL;
}

/* As the queue has it. */
static const char *
root_of(const struct world *world, uint64_t number)
{
    schedq_group_info_t info = SCHEDQ_GROUP_INFO_INIT;

    return schedq_group_get(world->worker, number, &info) == SCHEDQ_OK && info.root != 0
               ? group_name(world, info.root)
               : NULL;
}

/* A visitor must not ask for the root: it is asked for afterwards. */
static void
note_roots(const struct world *world, struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->count; i++) {
        struct seen *seen = &snapshot->pods[i];

        if (seen->group != NULL) {
            seen->root = root_of(world, group_number(seen->group));
        }
    }
}

static void
note_records(const struct world *world, struct snapshot *snapshot)
{
    for (const struct group *group = world->groups; group != NULL; group = group->next) {
        schedq_group_info_t info = SCHEDQ_GROUP_INFO_INIT;

        if (schedq_group_get(world->worker, group_number(group->name), &info) != SCHEDQ_OK ||
            info.place == SCHEDQ_ASIDE ||
            (info.place == SCHEDQ_INFLIGHT && world->last_popped != group)) {
            continue;
        }
        const struct seen seen = {
            .name = group->name,
            .uid = group->name,
            .place = (schedq_place_t)info.place,
            .priority = info.priority,
            .timestamp_ns = world_since(info.history.timestamp_ns),
            .expiry_ns = snapshot_cut_to_ms(world_since(info.backoff_expiry_ns)),
            .group = group->name,
            .is_record = true,
        };

        snapshot_add(snapshot, &seen);
    }
}

static int
note(void *ctx, const schedq_pod_info_t *info)
{
    const struct look *look = ctx;
    struct seen seen = {
        .name = name_of(look, info),
        .uid = object_at(info->object)->uid,
        .place = (schedq_place_t)info->place,
        .priority = info->priority,
        .timestamp_ns = world_since(info->history.timestamp_ns),
        .expiry_ns = world_since(info->backoff_expiry_ns),
        .pop_order = info->pop_order,
        .attempts = info->history.attempts,
        .group = group_name(look->world, info->group),
    };
    const struct pod *pod = world_find_pod(look->world, (struct pod_name){seen.name, seen.uid});

    seen.position = pod != NULL ? pod->position : 0;

    snapshot_add(look->snapshot, &seen);
    return 1;
}

static int
note_nominated(void *ctx, const schedq_pod_info_t *info)
{
    const struct look *look = ctx;

    snapshot_nominate(look->snapshot, look->node, name_of(look, info));
    return 1;
}

static bool
look(struct subject *subject, struct snapshot *snapshot)
{
    struct world *world = &local_of(subject)->world;
    struct look look = {.world = world, .snapshot = snapshot};
    schedq_status_t status = schedq_snapshot(world->worker, note, &look);

    note_roots(world, snapshot);
    note_records(world, snapshot);
    for (const struct node *node = world->nodes; status == SCHEDQ_OK && node != NULL;
         node = node->next) {
        look.node = node->name;
        status = schedq_nominated_pods(world->worker, node->number, note_nominated, &look);
    }
    if (status != SCHEDQ_OK) {
        report(world->script->file, 1, "no state: %s", schedq_status_name(status));
    }
    return status == SCHEDQ_OK;
}

static int
append(void *ctx, const char *text, size_t length)
{
    return fwrite(text, 1, length, ctx) == length;
}

static bool
write_metrics(struct subject *subject, FILE *text)
{
    const struct world *world = &local_of(subject)->world;
    schedq_status_t status = schedq_metrics_write(world->queue, append, text);
    static const struct {
        schedq_place_t place;
        const char *queue;
    } queues[] = {{SCHEDQ_ACTIVE, "active"},
                  {SCHEDQ_ERROR_BACKOFF, "backoff"},
                  {SCHEDQ_GATED, "unschedulable"}};

    for (size_t i = 0; i < sizeof queues / sizeof queues[0]; i++) {
        if (world->phantoms[queues[i].place] > 0) {
            fprintf(text,
                    "scheduler_queue_incoming_pods_total{queue=\"%s\","
                    "event=\"UnscheduledPodAdd\"} %" PRIu64 "\n",
                    queues[i].queue, world->phantoms[queues[i].place]);
        }
    }

    if (status != SCHEDQ_OK) {
        report(world->script->file, 1, "no metrics: %s", schedq_status_name(status));
    }
    return status == SCHEDQ_OK;
}

static bool
close_world(struct subject *subject)
{
    struct world *world = &local_of(subject)->world;

    return world->queue == NULL || world_close(world);
}

void
local_init(struct local *local, const struct subject_options *options)
{
    *local = (struct local){
        .subject = {open_world, perform, look, write_metrics, close_world},
        .options = *options,
    };
}
