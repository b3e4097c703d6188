/*
 * Makes the queue: counted objects, five plugins, short times. Callbacks answer at random until the
 * drain.
 */
#include "world.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS(n) ((n)*INT64_C(1000000))

static uint64_t
scramble(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static schedq_hint_t
random_hint(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    world_t *world = ctx;
    (void)pod;
    (void)old_object;
    (void)new_object;
    if (!world_is_running(world))
        return SCHEDQ_HINT_QUEUE;
    return scramble(TALLY_COUNT(world->dice)) % 3 == 0 ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
}

static int
random_gate(void *ctx, uint64_t pod)
{
    world_t *world = ctx;
    (void)pod;
    return !world_is_running(world) || scramble(TALLY_COUNT(world->dice)) % 8 != 0;
}

/*
 * Whoever gives an object to the queue holds it during the call (actor_hold), so one that is
 * retained is always held by somebody: by the caller, or by the queue itself. The yield is where an
 * engine must not let go of it.
 */
static void
retain(void *ctx, uint64_t object)
{
    world_t *world = ctx;
    if (scramble(TALLY_COUNT(world->dice)) % 64 == 0)
        sched_yield();
    TALLY_CHECK(&world->tally,
                object <= TALLY_OBJECTS && TALLY_READ(world->tally.references[object]) > 0,
                "retain of object %llu, which nobody holds", (unsigned long long)object);
    tally_retain(&world->tally, object);
}

static void
release(void *ctx, uint64_t object)
{
    world_t *world = ctx;
    tally_release(&world->tally, object);
}

static int
matches(void *ctx, uint64_t pod, uint64_t assigned)
{
    (void)ctx;
    return pod % 4 == assigned % 4;
}

static void
give_up(const char *call, schedq_status_t status, const char *why)
{
    fprintf(stderr, "schedq-stress: %s: %s %s\n", call, schedq_status_name(status), why);
    exit(1);
}

static void
register_plugins(world_t *world)
{
    static const struct {
        const char *name, *resource;
        uint32_t actions;
        uint8_t flags;
        bool gate;
    } plugins[WORLD_PLUGINS] = {
        {"Fit", "Node", SCHEDQ_ACTION_ADD | SCHEDQ_ACTION_UPDATE_NODE_ALLOCATABLE, 0, false},
        {"Spread", "Pod", SCHEDQ_ACTION_ALL, SCHEDQ_PLUGIN_SPREAD, false},
        {"Taint", "Node", SCHEDQ_ACTION_UPDATE_NODE_TAINT, 0, false},
        {"Gate", "Pod", SCHEDQ_ACTION_UPDATE_POD_GATES_ELIMINATED | SCHEDQ_ACTION_UPDATE_POD_LABEL,
         0, true},
        {"Deaf", NULL, 0, 0, false},
    };
    char why[200];
    for (unsigned i = 0; i < WORLD_PLUGINS; i++) {
        schedq_interest_t interest = {
            .resource = plugins[i].resource, .actions = plugins[i].actions, .hint = random_hint};
        schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
        plugin.name = plugins[i].name;
        plugin.flags = plugins[i].flags;
        plugin.interests = plugins[i].resource != NULL ? &interest : NULL;
        plugin.interest_count = plugins[i].resource != NULL;
        plugin.pre_enqueue = plugins[i].gate ? random_gate : NULL;
        plugin.ctx = world;
        schedq_status_t status =
            schedq_plugin_register(world->queue, &plugin, &world->bits[i], why, sizeof why);
        if (status != SCHEDQ_OK)
            give_up("schedq_plugin_register", status, why);
    }
}

void
world_open(world_t *world, const options_t *options)
{
    schedq_config_t config;
    char why[200];
    memset(world, 0, sizeof *world);
    world->options = options;
    atomic_store(&world->dice, options->seed);
    config = (schedq_config_t)SCHEDQ_CONFIG_INIT;
    schedq_config_preset(&config, (schedq_preset_t)options->preset->value);
    config.engine = (uint8_t)options->engine->value;
    config.objects = SCHEDQ_OBJECTS_COUNTED;
    config.object_ctx = world;
    config.retain = retain;
    config.release = release;
    config.affinity_matches = matches;
    config.event_log = 64;
    config.max_lots = 4;
    /* as by default, if they do */
    if (2 * options->threads + OTHER_THREADS >= config.max_workers)
        config.max_workers = 512;
    config.initial_backoff_ns = MS(1);
    if (config.max_backoff_ns != 0)
        config.max_backoff_ns = MS(8);
    config.max_parked_ns = MS(50);
    schedq_status_t status = schedq_create(&config, &world->queue, why, sizeof why);
    if (status != SCHEDQ_OK)
        give_up("schedq_create", status, why);
    register_plugins(world);
}

void
world_close(world_t *world)
{
    schedq_status_t status = schedq_destroy_with_pods(world->queue, NULL, 0);
    TALLY_CHECK(&world->tally, status == SCHEDQ_OK, "destroy says %s", schedq_status_name(status));
    tally_check_references(&world->tally);
}

static void
register_worker(actor_t *actor)
{
    char why[200];
    schedq_status_t status =
        schedq_worker_register(actor->world->queue, &actor->worker, why, sizeof why);
    if (status != SCHEDQ_OK)
        give_up("schedq_worker_register", status, why);
}

void
actor_begin(actor_t *actor, world_t *world, unsigned number)
{
    actor->world = world;
    actor->random = scramble(world->options->seed * 1000 + number);
    register_worker(actor);
}

void
actor_end(actor_t *actor)
{
    schedq_status_t status = schedq_worker_unregister(actor->worker);
    TALLY_CHECK(&actor->world->tally, status == SCHEDQ_OK, "unregister says %s",
                schedq_status_name(status));
}

void
actor_change_worker(actor_t *actor)
{
    if (actor_roll(actor, 4) == 0) {
        schedq_status_t status = schedq_worker_adopt(actor->world->queue, actor->worker);
        TALLY_CHECK(&actor->world->tally, status == SCHEDQ_OK, "adopt says %s",
                    schedq_status_name(status));
    } else {
        actor_end(actor);
        register_worker(actor);
    }
}

unsigned
actor_roll(actor_t *actor, unsigned below)
{
    actor->random = actor->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(scramble(actor->random) % below);
}

unsigned
actor_index(actor_t *actor)
{
    return actor_roll(actor, TALLY_NAMES);
}

unsigned
actor_recent(actor_t *actor)
{
    return TALLY_READ(actor->world->recent[actor_roll(actor, WORLD_RECENT)]);
}

/* Most pods share five priorities; the others' are rare ones, which come and go. */
static int32_t
some_priority(actor_t *actor)
{
    return actor_roll(actor, 16) != 0 ? (int32_t)actor_roll(actor, 5) - 2
                                      : (int32_t)actor_roll(actor, 600) - 300;
}

uint64_t
actor_hold(actor_t *actor, uint64_t object)
{
    tally_retain(&actor->world->tally, object);
    return object;
}

void
actor_let_go(actor_t *actor, uint64_t object)
{
    tally_release(&actor->world->tally, object);
}

size_t
actor_spec(actor_t *actor, unsigned index, schedq_pod_spec_t *spec, char *name)
{
    *spec = (schedq_pod_spec_t)SCHEDQ_POD_SPEC_INIT;
    spec->object = actor_hold(actor, tally_object(index, actor_roll(actor, TALLY_VARIANTS)));
    spec->priority = some_priority(actor);
    if (actor_roll(actor, 8) == 0)
        spec->nominated_node = 1 + actor_roll(actor, 4);
    if (actor_roll(actor, 4) == 0)
        spec->flags = SCHEDQ_POD_AFFINITY;
    if (actor_roll(actor, 4) == 0) {
        spec->flags |= SCHEDQ_POD_ORDER_KEY;
        spec->order_key = (int64_t)actor_roll(actor, 1000) - 500;
    }
    return tally_name(index, name);
}

schedq_status_t
actor_do(actor_t *actor, op_t *op, const unsigned *indices)
{
    (void)op_run(actor->worker, op);
    (void)tally_op(&actor->world->tally, actor->worker, op, indices, op->popped != NULL);
    return op->status;
}

schedq_status_t
actor_update(actor_t *actor, unsigned index, const schedq_event_t *events, size_t event_count,
             uint64_t *replaced)
{
    schedq_pod_spec_t spec;
    char name[32];
    size_t length = actor_spec(actor, index, &spec, name);
    spec.flags |= SCHEDQ_POD_ADD;
    op_t op = {.kind = OP_UPDATE,
               .name = name,
               .name_length = length,
               .spec = &spec,
               .old_object = spec.object,
               .events = events,
               .event_count = event_count};
    schedq_status_t status = actor_do(actor, &op, &index);
    actor_let_go(actor, spec.object);
    if (replaced != NULL)
        *replaced = op.result.added != 0 ? 0 : op.result.object;
    return status;
}

uint64_t
actor_rejectors(actor_t *actor)
{
    uint64_t rejectors = actor->world->bits[actor_roll(actor, WORLD_PLUGINS)];
    if (actor_roll(actor, 2) == 0)
        rejectors |= actor->world->bits[actor_roll(actor, WORLD_PLUGINS)];
    if (actor_roll(actor, 16) == 0)
        rejectors |= SCHEDQ_REJECTOR_OTHERS;
    return rejectors;
}

void
actor_nap(actor_t *actor, unsigned microseconds)
{
    struct timespec pause = {0, (long)(actor_roll(actor, microseconds) + 1) * 1000};
    nanosleep(&pause, NULL);
}
