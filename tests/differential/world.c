/* Both queues, and the tables of pods and tokens. */
#include "world.h"

#include <err.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "compare.h"
#include "nest.h"
#include "plugins.h"
#include "run.h"
#include "spec.h"

#define SLOTS (NAMES_MAX * OBJECT_VARIANTS)

/*
 * Round lengths are unlike each other by three decades; clearing what the longest needs would cost
 * more than a short one.
 */
#define SET_SLOTS_MAX (4 * LIVES_MAX)

static void *
room(size_t count, size_t size)
{
    void *memory = calloc(count, size);

    if (memory == NULL) {
        errx(1, "no memory: %zu bytes", count * size);
    }
    return memory;
}

void
world_make(world_t *world)
{
    *world = (world_t){0};
    world->lives = room(LIVES_MAX, sizeof *world->lives);
    world->cycles = room(LIVES_MAX, sizeof *world->cycles);
    world->open = room(LIVES_MAX, sizeof *world->open);
    world->life_of_name = room(NAMES_MAX, sizeof *world->life_of_name);
    world->lives_of_operation = room(ROUND_OPERATIONS_MAX + 1, sizeof *world->lives_of_operation);
    world->cycles_of_operation = room(ROUND_OPERATIONS_MAX + 1, sizeof *world->cycles_of_operation);
    world->references = room(SLOTS, sizeof *world->references);
    world->gangs = room(GROUPS_MAX, sizeof *world->gangs);
    for (unsigned i = 0; i < SIDES; i++) {
        world->sides[i].account.held = room(SLOTS, sizeof(uint32_t));
        world->sides[i].handles.slots = room(SET_SLOTS_MAX, sizeof(uint64_t));
        world->sides[i].tokens.slots = room(SET_SLOTS_MAX, sizeof(uint64_t));
    }
}

/* ---- a round begins and ends ----------------------------------------------------------------- */

static void
forget(world_t *world, const settings_t *settings)
{
    uint32_t set_slots = 4096;

    while (set_slots < 4 * settings->length && set_slots < SET_SLOTS_MAX) {
        set_slots *= 2;
    }
    world->settings = *settings;
    world->life_count = world->cycle_count = world->open_count = world->pods = 0;
    memset(world->life_of_name, 0xff, settings->names * sizeof *world->life_of_name);
    memset(world->lives_of_operation, 0xff, (settings->length + 1) * sizeof(uint32_t));
    memset(world->cycles_of_operation, 0xff, (settings->length + 1) * sizeof(uint32_t));
    memset(world->references, 0, settings->names * OBJECT_VARIANTS * sizeof *world->references);
    memset(world->gangs, 0, GROUPS_MAX * sizeof *world->gangs);
    world->reference_sum = (references_t){0};
    world->closed = world->different = false;
    world->gate_epoch = world->lent_count = 0;
    world->event_count = SCHEDQ_EVENT_FIRST_FREE;
    world->difference[0] = '\0';
    for (unsigned i = 0; i < SIDES; i++) {
        side_t *side = &world->sides[i];

        memset(side->account.held, 0,
               settings->names * OBJECT_VARIANTS * sizeof *side->account.held);
        side->account.sum = 0;
        side->account.wrong = false;
        side->world = world;
        side->heard = 0;
        side->queue = NULL;
        memset(side->workers, 0, sizeof side->workers);
        side->gone = NULL;
        side->watch = (schedq_watch_t)SCHEDQ_WATCH_INIT;
        bits_set_clear(&side->handles, set_slots);
        bits_set_clear(&side->tokens, set_slots);
    }
}

/* Less than 0 counts as 0. */
static int64_t
clock_read(void *ctx)
{
    const world_t *world = ctx;

    return world->now == 0 && settings_have(&world->settings, FEATURE_ENDS) ? INT64_MIN
                                                                            : world->now;
}

static void
retain(void *ctx, uint64_t object)
{
    side_t *side = ctx;

    account_retain(&side->account, object);
    nest_call(side, false);
}

static void
release(void *ctx, uint64_t object)
{
    side_t *side = ctx;

    account_release(&side->account, object);
    nest_call(side, false);
}

static void
wake(void *ctx)
{
    side_t *side = ctx;

    side->woken = true;
    nest_call(side, false);
}

static schedq_config_t
config_of(world_t *world, side_t *side)
{
    schedq_config_t config = world->settings.config;

    config.engine = side->number;
    if (config.external_clock) {
        config.start_ns = world->now;
    } else {
        config.clock = (schedq_clock_t){.now_ns = clock_read, .ctx = world, .is_virtual = 1};
    }
    if (config.objects == SCHEDQ_OBJECTS_COUNTED) {
        config.retain = retain;
        config.release = release;
    }
    config.object_ctx = side;
    if (world_lacks(world, side == &world->sides[1])) {
        config.allocator = lack_allocator(&side->memory);
    }
    if (!world->settings.host && !world->settings.alike) {
        config.affinity_matches = plugins_affinity;
    }
    return config;
}

static bool
side_open(world_t *world, side_t *side)
{
    schedq_config_t config = config_of(world, side);
    unsigned number = side == &world->sides[1];
    char why[256];
    schedq_status_t status;

    side->memory = (lack_t){.left = -1};
    WORLD_CALL(world, number, status, schedq_create(&config, &side->queue, why, sizeof why));
    if (status != SCHEDQ_OK) {
        return differ(world, "schedq_create: %s %s: %s", side->engine, schedq_status_name(status),
                      why);
    }
    side->words = schedq_words(side->queue);
    if (settings_have(&world->settings, FEATURE_EVENTS | FEATURE_GATES) &&
        !plugins_register(world, side)) {
        return false;
    }
    side->woken = true; /* at the beginning the host pops by itself */
    if (settings_have(&world->settings, FEATURE_NESTED)) {
        status = schedq_wait_callback(side->queue, wake, side, why, sizeof why);
        if (status != SCHEDQ_OK) {
            return differ(world, "schedq_wait_callback: %s %s: %s", side->engine,
                          schedq_status_name(status), why);
        }
    }
    for (uint32_t i = 0; i < world->settings.workers; i++) {
        WORLD_CALL(world, number, status,
                   schedq_worker_register(side->queue, &side->workers[i], why, sizeof why));
        if (status != SCHEDQ_OK) {
            return differ(world, "schedq_worker_register: %s %s: %s", side->engine,
                          schedq_status_name(status), why);
        }
    }
    return true;
}

static int64_t
first_reading(const settings_t *settings)
{
    static const int64_t second = 1000000000, hour = 3600 * second, day = 24 * hour;
    const int64_t ahead[] = {0, 1, second, second, second, hour, day, 365 * day};
    uint64_t seed = settings->seed;

    if (seed % 4 == 0) {
        return 0;
    }
    if (!settings_have(settings, FEATURE_ENDS)) {
        return (int64_t)(seed >> 30) << CLOCK_BITS;
    }
    int64_t now = (INT64_MAX >> (seed % 4 == 1 ? (seed >> 8) % 32 : 0)) -
                  ahead[(seed >> 16) % (sizeof ahead / sizeof *ahead)];

    return now > 0 ? now : 1;
}

bool
world_open(world_t *world, const settings_t *settings, uint8_t engine, const char *engine_name)
{
    forget(world, settings);
    world->sides[0].number = SCHEDQ_ENGINE_MUTEX;
    world->sides[0].engine = "mutex";
    world->sides[1].number = engine;
    world->sides[1].engine = engine == SCHEDQ_ENGINE_MUTEX ? "second mutex" : engine_name;
    world->now = first_reading(settings);
    return side_open(world, &world->sides[0]) && side_open(world, &world->sides[1]);
}

bool
world_is_full(const world_t *world)
{
    uint32_t room_left = (world->sides[0].handles.mask + 1) / 2;

    return world->life_count + BATCH_MAX > room_left || world->cycle_count + BATCH_MAX > room_left;
}

static void
side_shut(side_t *side)
{
    for (uint32_t i = 0; i < WORKERS_MAX; i++) {
        if (side->workers[i] != NULL) {
            (void)schedq_worker_unregister(side->workers[i]);
        }
    }
    (void)schedq_destroy_with_pods(side->queue, NULL, 0);
}

void
world_abandon(world_t *world)
{
    side_shut(&world->sides[0]);
    side_shut(&world->sides[1]);
}

static void
pop_and_end_all(world_t *world)
{
    while (!world->different && try_pop_both(world, 0) == SCHEDQ_OK) {
        world->worker = (uint8_t)((world->worker + 1U) % world->settings.workers);
    }
    while (!world->different && world->open_count > 0) {
        done_both(world, &world->cycles[world->open[world->open_count - 1]]);
    }
    end_groups_both(world);
}

static void
delete_all(world_t *world)
{
    for (uint32_t name = 0; name < world->settings.names && !world->different; name++) {
        if (world_named(world, name) != NULL) {
            delete_both(world, name, false, "");
        }
    }
}

/*
 * What is left at the end of a round goes through the same comparisons as in its course. Events and
 * time bring back what waits; what does not come is deleted.
 */
static void
drain(world_t *world)
{
    pop_and_end_all(world);
    if (world->settings.features == FEATURE_PODS || world->different) {
        return;
    }
    if (!world->settings.host && settings_have(&world->settings, FEATURE_EVENTS)) {
        move_everything(world);
    }
    if (!world->different && settings_have(&world->settings, FEATURE_TIME)) {
        leave_time_behind(world);
        tick_both(world);
    }
    pop_and_end_all(world);
    delete_all(world);
    for (unsigned i = 0; i < SIDES && !world->different; i++) {
        const side_t *side = &world->sides[i];

        if (side->number == SCHEDQ_ENGINE_MUTEX && side->account.sum != 0) {
            (void)differ(world, "objects: mutex holds %" PRIu64 " references without a pod",
                         side->account.sum);
        }
    }
}

static bool
compare_ends(world_t *world)
{
    for (unsigned i = 0; i < SIDES; i++) {
        side_t *side = &world->sides[i];

        if (i == 1 && world->plant == &plant_others[OTHER_BLOCKS]) {
            side->memory.blocks++;
        }
        if (side->memory.blocks != 0) {
            return differ(world, "memory: %" PRIu64 " blocks are left after schedq_destroy of %s",
                          side->memory.blocks, side->engine);
        }
        if (i == 1 && world->plant == &plant_others[OTHER_OBJECTS_LEFT]) {
            side->account.sum++;
        }
        if (side->account.sum != 0 || side->account.wrong) {
            return differ(world,
                          "objects: %" PRIu64 " references are left after schedq_destroy of %s%s",
                          side->account.sum, side->engine,
                          side->account.wrong ? ", some given back twice" : "");
        }
    }
    return true;
}

void
world_end(world_t *world)
{
    world->operation = world->settings.length;
    world->worker = 0;
    world->worker_said = false;
    world->sides[0].heard = world->sides[1].heard = 0;
    SHOW(world, "%u end of the round%s\n", world->operation,
         world->settings.drains ? ": drain" : "");
    if (world->settings.drains) {
        drain(world);
    }
    if (world->different || !compare_cheap(world) || !compare_counters(world) ||
        !compare_accounts(world)) {
        world_abandon(world);
        return;
    }
    schedq_status_t statuses[SIDES];
    for (unsigned side = 0; side < SIDES; side++) {
        statuses[side] = schedq_destroy_with_pods(world->sides[side].queue, NULL, 0);
    }
    SHOW(world, "schedq_destroy with workers\n");
    (void)compare_status(world, statuses);
    world_abandon(world);
    (void)compare_ends(world);
}

/* ---- references and what they mean ----------------------------------------------------------- */

life_t *
world_life(const world_t *world, uint32_t reference)
{
    uint32_t first =
        reference == NOTHING ? NOTHING : world->lives_of_operation[reference / BATCH_MAX];

    for (uint32_t i = first; i < world->life_count && i - first < BATCH_MAX; i++) {
        if (world->lives[i].reference == reference) {
            return &world->lives[i];
        }
    }
    return NULL;
}

cycle_t *
world_cycle(const world_t *world, uint32_t reference)
{
    uint32_t first =
        reference == NOTHING ? NOTHING : world->cycles_of_operation[reference / BATCH_MAX];

    for (uint32_t i = first; i < world->cycle_count && i - first < BATCH_MAX; i++) {
        if (world->cycles[i].reference == reference) {
            return &world->cycles[i];
        }
    }
    return NULL;
}

life_t *
world_named(const world_t *world, uint32_t name)
{
    uint32_t life = world->life_of_name[name];

    return life == NOTHING ? NULL : &world->lives[life];
}

/* ---- objects that the queues have to hold ---------------------------------------------------- */

static void
owe(world_t *world, uint64_t object, uint64_t change)
{
    world->references[object_slot(object)].owed += change;
    world->reference_sum.owed += change;
}

static void
owe_optionally(world_t *world, uint64_t object, uint64_t change)
{
    world->references[object_slot(object)].optional += change;
    world->reference_sum.optional += change;
}

/* ---- what answers tell ----------------------------------------------------------------------- */

static bool
is_new(world_t *world, bits_set_t *set, side_t *side, uint64_t bits, const char *what,
       enum other plant)
{
    bool fresh = bits != 0 && bits_set_add(set, bits);

    if (!fresh || (side == &world->sides[1] && plant_due(world, plant))) {
        return differ(world, "%s: %s gave 0x%" PRIx64 " %s", what, side->engine, bits,
                      bits == 0 ? "" : "twice");
    }
    return true;
}

void
world_born(world_t *world, uint32_t element, uint32_t name, const schedq_pod_spec_t *spec,
           const schedq_pod_t pods[SIDES])
{
    uint32_t number = world->life_count++;
    life_t *life = &world->lives[number];

    *life = (life_t){.object = spec->object,
                     .reference = reference_of(world->operation, element),
                     .name = name,
                     .own_time = spec->timestamp_ns != 0,
                     .order_key = (spec->flags & SCHEDQ_POD_ORDER_KEY) != 0,
                     .classed = spec->class_id != 0};
    for (unsigned i = 0; i < SIDES; i++) {
        side_t *side = &world->sides[i];

        life->handles[i] = pods[i];
        (void)is_new(world, &side->handles, side, pods[i].bits, "handle", OTHER_HANDLE_REUSED);
    }
    if (world->lives_of_operation[world->operation] == NOTHING) {
        world->lives_of_operation[world->operation] = number;
    }
    world->life_of_name[name] = number;
    world->pods++;
    world->most_pods = world->pods > world->most_pods ? world->pods : world->most_pods;
    owe(world, life->object, 1);
}

void
world_described(world_t *world, life_t *life, const schedq_pod_spec_t *spec)
{
    owe(world, spec->object, 1);
    owe(world, life->object, UINT64_MAX);
    life->object = spec->object;
    life->order_key = (spec->flags & SCHEDQ_POD_ORDER_KEY) != 0;
    life->classed = spec->class_id != 0;
}

void
world_deleted(world_t *world, life_t *life)
{
    world->life_of_name[life->name] = NOTHING;
    owe(world, life->object, UINT64_MAX);
    if (life->in_flight) {
        owe_optionally(world, life->object, 1);
    } else {
        world->pods--;
    }
}

void
world_popped(world_t *world, uint32_t element, life_t *life, const schedq_popped_t popped[SIDES])
{
    uint32_t number = world->cycle_count++;
    cycle_t *cycle = &world->cycles[number];

    *cycle = (cycle_t){.object = popped[0].object,
                       .seen = popped[0].seen,
                       .sequence = world->sides[0].words->event_sequence,
                       .reference = reference_of(world->operation, element),
                       .life = (uint32_t)(life - world->lives),
                       .slot = world->open_count};
    for (unsigned i = 0; i < SIDES; i++) {
        side_t *side = &world->sides[i];

        cycle->tokens[i] = popped[i].token;
        cycle->names[i] = popped[i].name;
        (void)is_new(world, &side->tokens, side, popped[i].token.bits, "token", OTHER_TOKEN_REUSED);
    }
    if (world->cycles_of_operation[world->operation] == NOTHING) {
        world->cycles_of_operation[world->operation] = number;
    }
    world->open[world->open_count++] = number;
    life->in_flight = true;
    life->waits = false;
    owe(world, cycle->object, 1);
}

void
world_referred(life_t *life, const uint64_t refs[SIDES])
{
    ref_t ref = {{refs[0], refs[1]}};

    life->waits = refs[0] != 0;
    if (refs[0] == 0 || life->refs[0].bits[0] == refs[0]) {
        return;
    }
    for (unsigned i = REFS_KEPT - 1; i > 0; i--) {
        life->refs[i] = life->refs[i - 1];
    }
    life->refs[0] = ref;
}

void
world_retried(world_t *world, cycle_t *cycle, const schedq_token_t tokens[SIDES])
{
    for (unsigned i = 0; i < SIDES; i++) {
        side_t *side = &world->sides[i];

        cycle->tokens[i] = tokens[i];
        (void)is_new(world, &side->tokens, side, tokens[i].bits, "token", OTHER_TOKEN_REUSED);
    }
}

void
world_flown(world_t *world, cycle_t *cycle, bool life_ends)
{
    life_t *life = &world->lives[cycle->life];
    uint32_t last = world->open[--world->open_count];

    world->open[cycle->slot] = last;
    world->cycles[last].slot = cycle->slot;
    cycle->slot = NOTHING;
    life->in_flight = false;
    owe(world, cycle->object, UINT64_MAX);
    if (!life_ends) {
        return;
    }
    world->pods--;
    if (world_named(world, life->name) == life) {
        world->life_of_name[life->name] = NOTHING;
        owe(world, life->object, UINT64_MAX);
    } else {
        owe_optionally(world, life->object, UINT64_MAX);
    }
}
