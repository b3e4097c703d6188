/* Sets up the queue and keeps the caller's records, see world.h. */
#include "world.h"

#include "groups.h"

#include "report.h"

#include <string.h>

#define WHY_SIZE 256
/* Virtual time 0: a whole second, far enough from 0 that no time looks like "not set". */
#define START_NS INT64_C(1000000000000000)

static int64_t
read_clock(void *ctx)
{
    const struct world *world = ctx;

    return world->now_ns;
}

int64_t
world_time(int64_t time_ms)
{
    return START_NS + time_ms * NS_PER_MS;
}

void
world_set_time(struct world *world, int64_t time_ms)
{
    world->now_ns = world_time(time_ms);
}

int64_t
world_since(int64_t time_ns)
{
    return time_ns - START_NS;
}

static void
configure(struct world *world, schedq_config_t *config, uint8_t engine)
{
    const struct config_line *line = &world->script->config;

    *config = (schedq_config_t)SCHEDQ_CONFIG_INIT;
    (void)schedq_config_preset(config, world->script->release->preset);
    config->engine = engine;
    config->objects = SCHEDQ_OBJECTS_STABLE;
    config->count_cycles = 1;
    config->clock = (schedq_clock_t){.now_ns = read_clock, .ctx = world, .is_virtual = 1};
    config->affinity_matches = affinity_matches;
    if (line->requeue != NULL) {
        config->requeue =
            strcmp(line->requeue, "hints") == 0 ? SCHEDQ_REQUEUE_HINTS : SCHEDQ_REQUEUE_MOVE_CYCLE;
    }
    if (line->pop_from_backoff.given) {
        config->pop_from_backoff = (uint8_t)line->pop_from_backoff.value;
        config->backoff_window = (uint8_t)line->pop_from_backoff.value;
    }
    if (line->initial_backoff_ms.given) {
        config->initial_backoff_ns = line->initial_backoff_ms.value * NS_PER_MS;
    }
    if (line->max_backoff_ms.given) {
        config->max_backoff_ns = line->max_backoff_ms.value * NS_PER_MS;
    }
    if (line->max_unschedulable_ms.given) {
        config->max_parked_ns = line->max_unschedulable_ms.value * NS_PER_MS;
    }
    /* the recorder called the flush itself, whenever the script said so */
    config->flush_ns = NS_PER_MS;
}

const struct profile *
world_profile(const struct world *world, const char *name)
{
    const struct profile *profile = world->profiles;

    while (profile != NULL && strcmp(profile->name, name) != 0) {
        profile = profile->next;
    }
    return profile;
}

static bool
define_profile(struct world *world, unsigned line, const char *name)
{
    struct profile *profile;
    char why[WHY_SIZE] = "";
    schedq_status_t status;

    if (world_profile(world, name) != NULL) {
        return true;
    }
    profile = keep(&world->script->memory, 1, sizeof *profile);
    profile->name = name;
    profile->next = world->profiles;
    world->profiles = profile;
    status = schedq_profile_define(world->queue, name, &profile->number, why, sizeof why);
    if (status != SCHEDQ_OK) {
        report(world->script->file, line, "profile \"%s\": %s: %s", name,
               schedq_status_name(status), why);
    }
    return status == SCHEDQ_OK;
}

/*
 * Since queueing hints one plugin is known by name: the one that spreads pods hears of every
 * assigned pod.
 */
static uint8_t
plugin_flags(const struct world *world, const char *name)
{
    bool spreads = world->script->release->hints && strcmp(name, "PodTopologySpread") == 0;

    return spreads ? SCHEDQ_PLUGIN_SPREAD : 0;
}

static bool
register_plugin(struct world *world, struct plugin_line *line)
{
    schedq_interest_t *interests =
        keep(&world->script->memory, line->interest_count, sizeof *interests);
    struct profile *profile;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    char why[WHY_SIZE] = "";
    schedq_status_t status;
    uint64_t bit = 0;

    if (!define_profile(world, line->line, line->profile)) {
        return false;
    }
    profile = (struct profile *)world_profile(world, line->profile);
    for (size_t i = 0; i < line->interest_count; i++) {
        interests[i].resource = line->interests[i].event.resource;
        interests[i].actions = line->interests[i].event.actions;
        interests[i].hint = line->interests[i].hint;
    }
    plugin.profile = profile->number;
    plugin.flags = plugin_flags(world, line->name);
    plugin.name = line->name;
    plugin.interests = line->interest_count == 0 ? NULL : interests;
    plugin.interest_count = line->interest_count;
    plugin.ctx = world; /* for hints of groups */
    if (line->gang) {
        plugin.pre_enqueue = groups_pass_gang;
    } else if (line->gate.given) {
        plugin.pre_enqueue = pass_gate;
        plugin.ctx = &line->gate.value;
    }
    status = schedq_plugin_register(world->queue, &plugin, &bit, why, sizeof why);
    if (status != SCHEDQ_OK) {
        report(world->script->file, line->line, "plugin \"%s\": %s: %s", line->name,
               schedq_status_name(status), why);
        return false;
    }
    profile->plugins[__builtin_ctzll(bit)] = line->name;
    return true;
}

static bool
register_workers(struct world *world, size_t count)
{
    char why[WHY_SIZE] = "";

    while (world->worker_count < count) {
        schedq_status_t status = schedq_worker_register(
            world->queue, &world->workers[world->worker_count], why, sizeof why);
        if (status != SCHEDQ_OK) {
            report(world->script->file, 1, "no worker %zu: %s: %s", world->worker_count + 1,
                   schedq_status_name(status), why);
            return false;
        }
        world->worker_count++;
    }
    world->worker = world->workers[0];
    return true;
}

/* Profiles and plugins; a profile that only pods name has no plugins. */
static bool
set_up(struct world *world)
{
    for (struct plugin_line *line = world->script->plugins; line != NULL; line = line->next) {
        if (!register_plugin(world, line)) {
            return false;
        }
    }
    for (const struct step *step = world->script->steps; step != NULL; step = step->next) {
        const char *profile = step->operation.pod.profile;
        if (profile != NULL && !define_profile(world, step->operation.line, profile)) {
            return false;
        }
    }
    return true;
}

bool
world_open(struct world *world, struct script *script, uint8_t engine, size_t workers)
{
    schedq_config_t config;
    char why[WHY_SIZE] = "";
    schedq_status_t status;

    *world = (struct world){.script = script};
    world_set_time(world, 0);
    configure(world, &config, engine);
    status = schedq_create(&config, &world->queue, why, sizeof why);
    if (status != SCHEDQ_OK) {
        report(script->file, script->config.line, "no queue: %s: %s", schedq_status_name(status),
               why);
        return false;
    }
    return set_up(world) && register_workers(world, workers);
}

bool
world_close(struct world *world)
{
    schedq_status_t status = SCHEDQ_OK;

    for (size_t i = 0; i < world->worker_count && status == SCHEDQ_OK; i++) {
        status = schedq_worker_unregister(world->workers[i]);
    }
    if (status == SCHEDQ_OK) {
        status = schedq_destroy_with_pods(world->queue, NULL, 0);
    }
    if (status != SCHEDQ_OK) {
        report(world->script->file, 1, "the queue is not destroyed: %s",
               schedq_status_name(status));
    }
    return status == SCHEDQ_OK;
}

void
world_pass_turn(struct world *world)
{
    world->turn = (world->turn + 1) % world->worker_count;
    world->worker = world->workers[world->turn];
}

struct pod *
world_find_pod(const struct world *world, struct pod_name id)
{
    struct pod *pod = world->pods;

    while (pod != NULL &&
           (strcmp(pod->id.name, id.name) != 0 || strcmp(pod->id.uid, id.uid) != 0)) {
        pod = pod->next;
    }
    return pod;
}

struct pod *
world_pod(struct world *world, struct pod_name id)
{
    struct pod *pod = world_find_pod(world, id);

    if (pod == NULL) {
        pod = keep(&world->script->memory, 1, sizeof *pod);
        pod->id = id;
        pod->next = world->pods;
        world->pods = pod;
    }
    return pod;
}

uint32_t
world_full_name(char name[FULL_NAME_SIZE], const char *pod)
{
    return (uint32_t)snprintf(name, FULL_NAME_SIZE, "%s/%s", NAMESPACE, pod);
}

uint64_t
world_node(struct world *world, const char *name)
{
    struct node **place = &world->nodes;
    struct node *node;

    if (name == NULL) {
        return 0;
    }
    while (*place != NULL && strcmp((*place)->name, name) < 0) {
        place = &(*place)->next;
    }
    if (*place == NULL || strcmp((*place)->name, name) != 0) {
        node = keep(&world->script->memory, 1, sizeof *node);
        *node = (struct node){.next = *place, .name = name, .number = ++world->node_count};
        *place = node;
    }
    return (*place)->number;
}

bool
world_rejectors(const struct profile *profile, const struct list *names, uint64_t *set,
                FILE *result)
{
    *set = 0;
    for (size_t i = 0; i < names->count; i++) {
        size_t bit = 0;
        while (bit < PLUGINS_MAX && (profile->plugins[bit] == NULL ||
                                     strcmp(profile->plugins[bit], names->item[i]) != 0)) {
            bit++;
        }
        if (bit == PLUGINS_MAX) {
            fprintf(result, "error plugin \"%s\" has no plugin line for profile \"%s\"",
                    names->item[i], profile->name);
            return false;
        }
        *set |= UINT64_C(1) << bit;
    }
    return true;
}

bool
world_event(const struct world *world, const struct event_text *text, schedq_event_t *event,
            FILE *result)
{
    char why[WHY_SIZE] = "";
    schedq_status_t status = schedq_event_define(world->queue, text->resource, text->actions,
                                                 text->label, event, why, sizeof why);

    if (status != SCHEDQ_OK) {
        fprintf(result, "error %s: %s", schedq_status_name(status), why);
    }
    return status == SCHEDQ_OK;
}

struct object *
world_pod_object(struct world *world, const struct pod_text *text)
{
    struct object *object = keep(&world->script->memory, 1, sizeof *object);

    *object = (struct object){
        .uid = text->id.uid,
        .ns = NAMESPACE,
        .affinity = text->affinity,
        .number = text->need.value,
        .name_number = text->name_number,
        .gate = text->gate.value,
        .group = text->group,
    };
    return object;
}

uint64_t
world_number_object(struct world *world, struct number number)
{
    struct object *object;

    if (!number.given) {
        return 0;
    }
    object = keep(&world->script->memory, 1, sizeof *object);
    *object = (struct object){.ns = NAMESPACE, .number = number.value};
    return object_bits(object);
}
