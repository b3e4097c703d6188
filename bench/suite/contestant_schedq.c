/* schedq's engines as contestants, through the public API and nothing else. */
#include "contestant_schedq.h"
#include <string.h>

#include "mutex/queue.h"

void
config_for(schedq_config_t *config, const contestant_t *contestant)
{
    *config = (schedq_config_t)SCHEDQ_CONFIG_INIT;
    config->engine = contestant->engine;
    config->max_pods = 0;
}

schedq_t *
queue_create(const contestant_t *contestant, const schedq_config_t *config, uint32_t pods,
             unsigned workers)
{
    char why[256] = "";
    schedq_t *queue = NULL;

    schedq_status_t status = schedq_create(config, &queue, why, sizeof why);
    if (status != SCHEDQ_OK) {
        bench_fail("schedq_create returned %s %s", schedq_status_name(status), why);
    }
    if (contestant->yields) {
        mutex_queue(queue)->yields = true;
    }
    status = schedq_reserve(queue, pods, 16, workers, why, sizeof why);
    if (status != SCHEDQ_OK) {
        bench_fail("schedq_reserve returned %s %s", schedq_status_name(status), why);
    }
    return queue;
}

void
queue_destroy(schedq_t *queue)
{
    must(schedq_destroy_with_pods(queue, NULL, 0), "schedq_destroy");
}

uint64_t
plugin_create(schedq_t *queue, const char *name, const char *resource, uint32_t actions,
              schedq_hint_fn hint, void *ctx)
{
    schedq_interest_t interest = {.resource = resource, .actions = actions, .hint = hint};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    char why[256] = "";
    uint64_t bit = 0;

    plugin.name = name;
    plugin.interests = &interest;
    plugin.interest_count = 1;
    plugin.ctx = ctx;
    schedq_status_t status = schedq_plugin_register(queue, &plugin, &bit, why, sizeof why);
    if (status != SCHEDQ_OK) {
        bench_fail("schedq_plugin_register returned %s %s", schedq_status_name(status), why);
    }
    return bit;
}

schedq_worker_t *
worker_create(schedq_t *queue)
{
    char why[256] = "";
    schedq_worker_t *worker = NULL;

    schedq_status_t status = schedq_worker_register(queue, &worker, why, sizeof why);
    if (status != SCHEDQ_OK) {
        bench_fail("schedq_worker_register returned %s %s", schedq_status_name(status), why);
    }
    return worker;
}

void
worker_end(schedq_worker_t *worker)
{
    must(schedq_worker_unregister(worker), "schedq_worker_unregister");
}

void
worker_add(schedq_worker_t *worker, uint64_t object, int32_t priority)
{
    pod_name_t name;
    pod_name_make(&name, object);
    schedq_ops.add(worker, &name, priority, object);
}

static void *
open_queue(const contestant_t *contestant, const room_t *room)
{
    schedq_config_t config;
    config_for(&config, contestant);
    config.order = room->relaxed ? SCHEDQ_ORDER_RELAXED : SCHEDQ_ORDER_STRICT;
    return queue_create(contestant, &config, room->pods, room->workers);
}

static void
close_queue(void *queue)
{
    queue_destroy(queue);
}

static void *
join(void *queue)
{
    return worker_create(queue);
}

static void
leave(void *worker)
{
    worker_end(worker);
}

static void
add(void *worker, const pod_name_t *name, int32_t priority, uint64_t object)
{
    schedq_pod_spec_t spec = {
        .struct_size = sizeof(schedq_pod_spec_t), .object = object, .priority = priority};
    must(schedq_add(worker, name->text, name->length, &spec, NULL), "schedq_add");
}

static void
take(taken_t *out, const schedq_popped_t *popped)
{
    out->token = popped->token.bits;
    out->object = popped->object;
    out->name = popped->name;
}

static bool
try_pop(void *worker, taken_t *out)
{
    schedq_popped_t popped;
    schedq_status_t status = schedq_try_pop(worker, &popped);
    if (status == SCHEDQ_EMPTY) {
        return false;
    }
    must(status, "schedq_try_pop");
    take(out, &popped);
    return true;
}

static void
pop(void *worker, taken_t *out)
{
    schedq_popped_t popped;
    must(schedq_pop(worker, &popped), "schedq_pop");
    take(out, &popped);
}

static void
done(void *worker, uint64_t token)
{
    must(schedq_done(worker, (schedq_token_t){token}), "schedq_done");
}

static void
update(void *worker, const pod_name_t *name, int32_t priority, uint64_t object)
{
    schedq_pod_spec_t spec = {
        .struct_size = sizeof(schedq_pod_spec_t), .object = object, .priority = priority};
    must(schedq_update(worker, name->text, name->length, &spec, object, NULL, 0, NULL),
         "schedq_update");
}

static void
delete_pod(void *worker, const pod_name_t *name)
{
    must(schedq_delete_name(worker, name->text, name->length, NULL), "schedq_delete");
}

static uint64_t
find(void *worker, const pod_name_t *name)
{
    schedq_result_t result;

    must(schedq_find(worker, name->text, name->length, &result), "schedq_find");
    return result.object;
}

/* The batch itself is the text that the names stand in. */
static void
add_many(void *worker, const fresh_t *pods, unsigned count)
{
    schedq_add_item_t items[BATCH];
    uint8_t statuses[BATCH];
    const char *names = (const char *)pods;

    for (unsigned i = 0; i < count; i++) {
        items[i] = (schedq_add_item_t){.name_offset = (uint32_t)(pods[i].name.text - names),
                                       .name_length = pods[i].name.length,
                                       .spec = {.struct_size = sizeof(schedq_pod_spec_t),
                                                .object = pods[i].object,
                                                .priority = pods[i].priority}};
    }
    must(schedq_add_many(worker, names, count * sizeof *pods, items, count, NULL, statuses, NULL),
         "schedq_add_many");
}

static unsigned
pop_many(void *worker, taken_t *out, unsigned capacity)
{
    schedq_popped_t popped[BATCH];
    size_t count = 0;
    schedq_status_t status = schedq_try_pop_many(worker, popped, capacity, &count);

    if (status == SCHEDQ_EMPTY) {
        return 0;
    }
    must(status, "schedq_try_pop_many");
    for (size_t i = 0; i < count; i++) {
        take(&out[i], &popped[i]);
    }
    return (unsigned)count;
}

static void
done_many(void *worker, const taken_t *pods, unsigned count)
{
    schedq_token_t tokens[BATCH];

    for (unsigned i = 0; i < count; i++) {
        tokens[i] = (schedq_token_t){pods[i].token};
    }
    must(schedq_done_many(worker, tokens, count, NULL), "schedq_done_many");
}

const queue_ops_t schedq_ops = {
    .open = open_queue,
    .close = close_queue,
    .join = join,
    .leave = leave,
    .add = add,
    .try_pop = try_pop,
    .pop = pop,
    .done = done,
    .update = update,
    .delete_pod = delete_pod,
    .find = find,
    .add_many = add_many,
    .pop_many = pop_many,
    .done_many = done_many,
};
