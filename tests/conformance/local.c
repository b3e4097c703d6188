/*
 * The public API as a queue under test: operations are run.h's, the rest is asked of the queue
 * itself.
 */
#include "local.h"

#include "report.h"
#include "run.h"

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

static int
note(void *ctx, const schedq_pod_info_t *info)
{
    const struct look *look = ctx;
    const struct seen seen = {
        .name = name_of(look, info),
        .uid = object_at(info->object)->uid,
        .place = (schedq_place_t)info->place,
        .priority = info->priority,
        .timestamp_ns = world_since(info->history.timestamp_ns),
        .expiry_ns = world_since(info->backoff_expiry_ns),
        .pop_order = info->pop_order,
    };

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
