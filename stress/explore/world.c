/* The queue of an episode: see world.h. */
#include "world.h"

#include "arena.h"
#include "cluster.h"
#include "release.h"
#include "trace.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES 100
#define LONG_NAME_KEY 7 /* every eighth pod has a name of 80 bytes: another class of cells */
#define REUSED_KEYS 8
#define TICKS 4
#define FROZEN_MAX 2 /* so many sleepers that ticks wake may stop: a further tick wakes one more */

struct world world;

static uint8_t engine;

void
world_use_engine(uint8_t number)
{
    engine = number;
}

struct actor *
world_actor(unsigned thread)
{
    return &world.actors[thread];
}

void
world_allow(schedq_status_t refusal)
{
    world.refusals |= UINT32_C(1) << refusal;
}

void
world_lacks_memory(uint32_t one_in)
{
    world_allow(SCHEDQ_NOMEM);
    arena_fail(one_in);
}

void
world_has_memory(void)
{
    arena_fail(0);
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *
world_name(uint32_t key, size_t *length)
{
    static char names[KEYS_MAX][NAME_BYTES];
    static uint32_t lengths[KEYS_MAX];

    SIM_CHECK(key < KEYS_MAX, "pod %u: 0..%u", key, KEYS_MAX - 1);
    if (lengths[key] == 0) {
        int wide = key % 8 == LONG_NAME_KEY ? 74 : 3;

        lengths[key] = (uint32_t)snprintf(names[key], NAME_BYTES, "ns/p%0*u", wide, key);
    }
    if (length != NULL) {
        *length = lengths[key];
    }
    world.keys = key >= world.keys ? key + 1 : world.keys;
    return names[key];
}

uint32_t
world_key(const char *name, uint32_t length)
{
    uint32_t key = 0;
    size_t expected_length;

    for (uint32_t i = (uint32_t)strlen("ns/p"); i < length && name[i] >= '0' && name[i] <= '9';
         i++) {
        key = key * 10 + (uint32_t)(name[i] - '0');
    }
    SIM_CHECK(key < KEYS_MAX, "the queue gives a name that nobody passed to it: \"%.*s\"",
              (int)length, name);
    const char *expected = world_name(key, &expected_length);
    SIM_CHECK(length == expected_length && memcmp(name, expected, length) == 0 &&
                  name[length] == '\0',
              "the queue gives a name that nobody passed to it: \"%.*s\"", (int)length, name);
    return key;
}

/* ---- counted objects ------------------------------------------------------------------------- */

static void
retain(void *ctx, uint64_t object)
{
    struct attempt *attempt = ledger_attempt_of(&world.ledger, object);

    (void)ctx;
    SIM_CHECK(attempt->references > 0, "object %llu is retained after its last release",
              (unsigned long long)object);
    attempt->references++;
}

static void
release(void *ctx, uint64_t object)
{
    struct attempt *attempt = ledger_attempt_of(&world.ledger, object);

    (void)ctx;
    SIM_CHECK(attempt->references > 0, "object %llu is released once too often",
              (unsigned long long)object);
    attempt->references--;
}

static void
check_references(void)
{
    for (uint32_t i = 0; i < world.ledger.attempt_count; i++) {
        SIM_CHECK(world.ledger.attempts[i].references == 0, "object %u has %lld references left",
                  i + 1, (long long)world.ledger.attempts[i].references);
    }
}

/* ---- begin ----------------------------------------------------------------------------------- */

static schedq_config_t
config_of(const struct scenario *scenario)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;

    config.engine = engine;
    config.max_workers = 8;
    config.max_bands = 16;
    config.max_pods = KEYS_MAX;
    config.event_log = 0;
    config.max_lots = 1;
    /* further than the scheduler's time goes: nobody wakes because of it alone */
    config.tick_ns = 1000000000;
    config.allocator = arena_allocator();
    if (scenario->configure != NULL) {
        scenario->configure(&config);
    }
    if (config.objects == SCHEDQ_OBJECTS_COUNTED) {
        config.retain = retain;
        config.release = release;
    }
    return config;
}

static void
world_begin(const struct scenario *scenario)
{
    char why[200];

    ledger_reset(&world.ledger);
    world.keys = 0;
    world.refusals = 0;
    cluster_reset();
    world.config = config_of(scenario);
    world.ledger.relaxed = world.config.order == SCHEDQ_ORDER_RELAXED;
    world.ledger.still_clock =
        world.config.external_clock != 0 || world.config.clock.is_virtual != 0;
    world.ledger.moving_clock = cluster_is_used();
    world.ledger.backoff_pops = world.config.pop_from_backoff != 0 && !cluster_has_gates();
    schedq_status_t status = schedq_create(&world.config, &world.queue, why, sizeof why);
    SIM_CHECK(status == SCHEDQ_OK, "create returns %s: %s", schedq_status_name(status), why);
    cluster_begin(world.queue);
    for (unsigned i = 0; i < scenario->threads; i++) {
        world.actors[i].number = i;
        world.actors[i].holds = 0;
        actor_register(&world.actors[i]);
    }
    world.actors[HEALTHY].number = HEALTHY;
    world.actors[HEALTHY].holds = 0;
    if (scenario->prepare != NULL) {
        scenario->prepare(&world.actors[0]);
    }
}

static void
world_thread(const struct scenario *scenario, unsigned thread)
{
    scenario->bodies[thread](&world.actors[thread]);
}

/* ---- drain ----------------------------------------------------------------------------------- */

static void
look_for_all(struct actor *actor)
{
    for (uint32_t key = 0; key < world.keys; key++) {
        (void)actor_find(actor, key);
    }
}

/* Pods that a frozen thread may have popped without having been told. */
static unsigned
hidden_by_frozen(void)
{
    unsigned hidden = 0;

    for (unsigned i = 0; i < SIM_THREADS_MAX; i++) {
        const struct open_call *call = &world.ledger.calls[i];

        hidden += call->open && call->kind == CALL_POP ? call->capacity : 0;
    }
    return hidden;
}

static int
place_of(void *place, const schedq_pod_info_t *info)
{
    *(schedq_place_t *)place = info->deleted ? SCHEDQ_NOWHERE : (schedq_place_t)info->place;
    return 0;
}

/*
 * A life that did not end though somebody was told that it began. Returns 1 if only a frozen pop
 * explains it.
 */
static unsigned
account_for(struct actor *actor, const struct life *life)
{
    schedq_place_t place = SCHEDQ_NOWHERE;

    if (life->ends > 0 || life->gones > 0 || (life->pops > 0 && sim_is_frozen(life->holder))) {
        return 0;
    }
    (void)schedq_get(actor->worker, (schedq_pod_t){life->handle}, place_of, &place);
    if (place == SCHEDQ_NOWHERE) {
        SIM_CHECK(ledger_exists_until(&world.ledger, life) != NEVER,
                  "pod %u is lost: handle 0x%llx is nowhere", life->key,
                  (unsigned long long)life->handle);
        return 0;
    }
    SIM_CHECK(place == SCHEDQ_INFLIGHT && life->pops == 0, "pod %u is stranded: %s after the drain",
              life->key, schedq_place_name(place));
    return 1;
}

static void
account_for_all(struct actor *actor)
{
    unsigned hidden = 0;

    for (uint32_t i = 0; i < world.ledger.life_count; i++) {
        hidden += account_for(actor, &world.ledger.lives[i]);
    }
    SIM_CHECK(hidden <= hidden_by_frozen(), "%u pods are in flight, and nobody popped them",
              hidden);
}

/*
 * A frozen thread may have brought a pod into being that nobody has heard of; who hears of it now
 * can pop it.
 */
static bool
is_adding(void)
{
    bool adding = false;

    for (unsigned i = 0; i < SIM_THREADS_MAX; i++) {
        const struct open_call *call = &world.ledger.calls[i];

        adding = adding || (call->open && (call->kind == CALL_ADD || call->kind == CALL_UPDATE));
    }
    return adding;
}

static void
explain_refusal(struct actor *actor, uint32_t key)
{
    schedq_result_t result;
    size_t length;
    const char *name = world_name(key, &length);

    (void)schedq_find(actor->worker, name, length, &result);
    SIM_CHECK((world.refusals >> SCHEDQ_FULL & 1) != 0 ||
                  (result.place == SCHEDQ_INFLIGHT && sim_frozen() > 0) || is_adding(),
              "pod %u cannot be added again: it is said to be %s", key,
              schedq_place_name((schedq_place_t)result.place));
}

/* Every name can be used again, unless its pod is still there. */
static void
use_names_again(struct actor *actor)
{
    unsigned used = 0;

    for (uint32_t key = 0; key < world.keys && used < REUSED_KEYS && world.ledger.closing == NEVER;
         key++, used++) {
        if (!actor_add(actor, key, (int32_t)(key % 3))) {
            explain_refusal(actor, key);
        }
    }
    release_pop(actor);
}

/* Somebody who knows that a thread is dead may go on with its worker. */
static void
adopt_frozen(struct actor *healthy)
{
    for (unsigned i = 0; i < SIM_THREADS_MAX; i++) {
        if (sim_is_frozen(i) && world.actors[i].worker != NULL &&
            random_below(sim_random(), 2) == 0) {
            (void)actor_adopt(healthy, &world.actors[i]);
        }
    }
}

static void
check_count(const char *name, uint64_t told, uint64_t counted)
{
    SIM_CHECK(told == counted, "stats say %s %llu, counted %llu", name, (unsigned long long)told,
              (unsigned long long)counted);
}

static void
check_stats(void)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    SIM_CHECK(schedq_stats(world.queue, &stats) == SCHEDQ_OK, "stats fails");
    check_count("active", stats.active, 0);
    check_count("inflight", stats.inflight, 0);
    check_count("parked", stats.parked, 0);
    check_count("gated", stats.gated, 0);
    check_count("backoff", stats.backoff, 0);
    check_count("error_backoff", stats.error_backoff, 0);
    check_count("nominated", stats.nominated, 0);
    check_count("failures", stats.failures, world.ledger.sums.failures);
    check_count("adds", stats.adds, world.ledger.sums.adds);
    check_count("pops", stats.pops, world.ledger.sums.pops);
    check_count("dones", stats.dones, world.ledger.sums.dones);
    check_count("deletes", stats.deletes, world.ledger.sums.deletes);
    check_count("updates", stats.updates, world.ledger.sums.updates);
}

void
world_check_poppable(void)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;

    /* what stopped, or lacks memory, a tick finds */
    if (sim_frozen() > 0 || (world.refusals >> SCHEDQ_NOMEM & 1) != 0) {
        return;
    }
    SIM_CHECK(schedq_stats(world.queue, &stats) == SCHEDQ_OK, "stats fails");
    SIM_CHECK(stats.active == 0 || schedq_words(world.queue)->poppable != 0,
              "words.poppable is 0, and %llu pods are active", (unsigned long long)stats.active);
}

static void
world_drain(const struct scenario *scenario)
{
    struct actor *healthy = &world.actors[HEALTHY];

    (void)scenario;
    world_check_poppable();
    world_has_memory();
    world.refusals &= ~(UINT32_C(1) << SCHEDQ_NOMEM);
    actor_register(healthy);
    if (cluster_is_used()) {
        release_check(healthy);
    }
    if (random_below(sim_random(), 2) == 0) {
        look_for_all(healthy);
    }
    if (cluster_is_used()) {
        release_all(healthy);
    } else {
        release_pop(healthy);
    }
    account_for_all(healthy);
    adopt_frozen(healthy);
    use_names_again(healthy);
    account_for_all(healthy);
    ledger_verdict(&world.ledger, sim_is_settled());
    if (sim_frozen() == 0) {
        check_stats();
    }
}

/* ---- end ------------------------------------------------------------------------------------- */

static void
destroy(const struct scenario *scenario)
{
    for (unsigned i = 0; i < scenario->threads; i++) {
        if (world.actors[i].worker != NULL) {
            actor_unregister(&world.actors[i]);
        }
    }
    schedq_status_t status = schedq_destroy_with_pods(world.queue, NULL, 0);
    SIM_CHECK(status == SCHEDQ_OK, "destroy returns %s", schedq_status_name(status));
    if (world.config.objects == SCHEDQ_OBJECTS_COUNTED && sim_frozen() == 0) {
        check_references();
    }
}

static void
world_end(const struct scenario *scenario)
{
    actor_unregister(&world.actors[HEALTHY]);
    destroy(scenario);
}

const struct harness queue_harness = {world_begin, world_thread, world_drain, world_end};

/* ---- destroy instead of a drain -------------------------------------------------------------- */

static void
adopt_and_destroy(const struct scenario *scenario)
{
    for (unsigned i = 0; i < scenario->threads; i++) {
        if (sim_is_frozen(i) && world.actors[i].worker != NULL) {
            (void)actor_adopt(&world.actors[i], &world.actors[i]);
        }
    }
    destroy(scenario);
}

static void
nothing_is_left(const struct scenario *scenario)
{
    (void)scenario;
}

const struct harness destroy_harness = {world_begin, world_thread, adopt_and_destroy,
                                        nothing_is_left};

/* ---- sleepers -------------------------------------------------------------------------------- */

void
world_heal(struct actor *actor)
{
    for (unsigned i = 0; i < TICKS; i++) {
        if (sim_wait_for_quiet()) {
            return;
        }
        SIM_CHECK(sim_frozen() > 0 || !actor_pop(actor),
                  "lost wake-up: a thread sleeps beside a pod");
        if (i == TICKS - 1 - FROZEN_MAX) {
            sim_drain(); /* what is visible later than the last ticks is not for them to find */
        }
        actor_tick(actor);
    }
    if (!sim_wait_for_quiet()) {
        SIM_CHECK(!actor_pop(actor), "a thread sleeps beside a pod, and ticks do not wake it");
        actor_close(actor);
    }
}
