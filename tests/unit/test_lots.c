/*
 * Pods by what they wait for: whatever sets of rejectors there are, and however many are kept
 * apart, an event reaches those that it concerns, each once, and no others. */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "seed.h"

enum { PLUGINS = 10, PODS = 150, EVENTS = 3 };

static const char *const names[PLUGINS] = {"P0", "P1", "P2", "P3", "P4",
                                           "P5", "P6", "P7", "P8", "P9"};
static const schedq_event_t events[EVENTS] = {SCHEDQ_EVENT_NODE_ADD, SCHEDQ_EVENT_NODE_DELETE,
                                              SCHEDQ_EVENT_ASSIGNED_POD_DELETE};

typedef struct world {
    fixture_t *fixture;
    uint64_t seed;
    fx_plugin_t *plugins[PLUGINS];
    fx_plugin_t *gate;
    uint64_t hears[EVENTS]; /* whom events[i] concerns */
    struct {
        uint64_t rejectors;
        bool gated;
    } pods[PODS];
} world_t;

static void
set_up_plugins(world_t *world)
{
    static const struct {
        const char *resource;
        uint32_t actions;
    } interests[] = {
        {"Node", SCHEDQ_ACTION_ADD}, {"Node", SCHEDQ_ACTION_DELETE}, {"Pod", SCHEDQ_ACTION_DELETE}};
    memset(world->hears, 0, sizeof world->hears);
    for (unsigned i = 0; i < PLUGINS; i++) {
        unsigned which = (unsigned)(seed_next(&world->seed) % EVENTS);
        world->plugins[i] = fx_plugin(world->fixture, names[i], interests[which].resource,
                                      interests[which].actions);
        world->hears[which] |= world->plugins[i]->bit;
    }
    world->gate = fx_gate(world->fixture, "Gate", "Node", SCHEDQ_ACTION_ADD);
    world->hears[0] |= world->gate->bit;
}

static uint64_t
draw_rejectors(world_t *world)
{
    uint64_t rejectors = 0;
    while (rejectors == 0)
        rejectors =
            seed_next(&world->seed) & ((UINT64_C(1) << PLUGINS) - 1) & seed_next(&world->seed);
    return rejectors;
}

/* Parks it, some rejectors as those that only wait; or has it gated. */
static void
put(world_t *world, unsigned number)
{
    fixture_t *fixture = world->fixture;
    char name[32];
    snprintf(name, sizeof name, "ns/%u", number);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.object = number;
    world->pods[number].gated = seed_next(&world->seed) % 8 == 0;
    if (world->pods[number].gated) {
        world->gate->refuses = true;
        world->pods[number].rejectors = world->gate->bit;
        assert_place(fx_add_spec(fixture, name, &spec).place, SCHEDQ_GATED);
        world->gate->refuses = false;
        return;
    }
    uint64_t rejectors = draw_rejectors(world), pending = rejectors & seed_next(&world->seed);
    world->pods[number].rejectors = rejectors;
    fx_add_spec(fixture, name, &spec);
    schedq_popped_t popped = fx_pop(fixture, name);
    assert_place(fx_fail(fixture, &popped, rejectors & ~pending, pending).place, SCHEDQ_PARKED);
}

/* Everything that is active goes back, so that the next event finds it. */
static unsigned
put_back(world_t *world)
{
    unsigned count = 0;
    schedq_popped_t popped;
    while (schedq_try_pop(fx_worker(world->fixture), &popped) == SCHEDQ_OK) {
        unsigned number = (unsigned)popped.object;
        world->pods[number].gated = false;
        world->pods[number].rejectors = draw_rejectors(world);
        assert_place(fx_fail(world->fixture, &popped, world->pods[number].rejectors, 0).place,
                     SCHEDQ_PARKED);
        count++;
    }
    return count;
}

static void
expect_reached(world_t *world, unsigned which)
{
    char name[32];
    unsigned reached = 0;
    for (unsigned i = 0; i < PODS; i++)
        reached += (world->pods[i].rejectors & world->hears[which]) != 0;
    schedq_result_t moved = fx_move(world->fixture, events[which]);
    assert_int_equal(moved.to_active, reached);
    for (unsigned i = 0; i < PODS; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        schedq_place_t stays = world->pods[i].gated ? SCHEDQ_GATED : SCHEDQ_PARKED;
        bool hears = (world->pods[i].rejectors & world->hears[which]) != 0;
        assert_place(fx_place(world->fixture, name), hears ? SCHEDQ_ACTIVE : stays);
    }
    assert_int_equal(put_back(world), reached);
}

static void
check_lots(uint32_t max_lots)
{
    world_t world = {.seed = seed_of("test_lots")};
    for (unsigned round = 0; round < 6; round++) {
        world.fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
        world.fixture->config.max_lots = max_lots;
        world.fixture->config.max_backoff_ns = 0;
        set_up_plugins(&world);
        for (unsigned i = 0; i < PODS; i++)
            put(&world, i);
        for (unsigned i = 0; i < 30; i++)
            expect_reached(&world, (unsigned)(seed_next(&world.seed) % EVENTS));
        fx_free(world.fixture);
    }
}

static void
one_lot_for_all_sets_reaches_the_right_pods(void **state)
{
    (void)state;
    check_lots(1);
}

static void
a_few_lots_and_the_rest_in_one_reach_the_right_pods(void **state)
{
    (void)state;
    check_lots(5);
}

static void
a_lot_for_each_set_reaches_the_right_pods(void **state)
{
    (void)state;
    check_lots(1024);
}

/* The sets are numbered by each profile: equal bits of two profiles are not the same plugins. */
static void
one_lot_for_all_profiles_keeps_them_apart(void **state)
{
    fixture_t *fixture = *state;
    schedq_profile_t other;
    fixture->config.max_lots = 1;
    fx_plugin_t *here = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    assert_ok(schedq_profile_define(fx_queue(fixture), "other", &other, NULL, 0));
    schedq_interest_t interest = {
        .resource = "Node", .actions = SCHEDQ_ACTION_DELETE, .hint = fx_hint};
    fx_plugin_t *there = fx_plugin_full(fixture, other, "Fit", 0, &interest, 1, false);
    assert_true(here->bit == there->bit);
    schedq_pod_spec_t spec = fx_spec(0);
    spec.profile = other;
    fx_park(fixture, "ns/here", here->bit);
    fx_add_spec(fixture, "ns/there", &spec);
    schedq_popped_t popped = fx_pop(fixture, "ns/there");
    assert_place(fx_fail(fixture, &popped, there->bit, 0).place, SCHEDQ_PARKED);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_DELETE).to_backoff, 1);
    assert_place(fx_place(fixture, "ns/here"), SCHEDQ_PARKED);
    assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_backoff, 1);
    assert_place(fx_place(fixture, "ns/here"), SCHEDQ_BACKOFF);
}

/* Of these the first alone hears of new nodes. */
static void
make_plugins(fixture_t *fixture, fx_plugin_t *plugins[8])
{
    for (unsigned i = 0; i < 8; i++)
        plugins[i] =
            fx_plugin(fixture, names[i], "Node", i == 0 ? SCHEDQ_ACTION_ADD : SCHEDQ_ACTION_DELETE);
}

/* Their memory is what can be seen of them. */
static void
sets_without_pods_are_forgotten_by_the_events_that_concern_them(void **state)
{
    enum { SETS = 100, ENOUGH = 200 };
    fixture_t *fixture = *state;
    fx_plugin_t *plugins[8];
    make_plugins(fixture, plugins);
    fx_park(fixture, "ns/stays", plugins[1]->bit);
    uint64_t before = fx_stats(fixture).bytes_queues;
    for (unsigned set = 0; set < SETS; set++) {
        uint64_t rejectors = plugins[0]->bit;
        for (unsigned i = 0; i < 7; i++)
            rejectors |= set >> i & 1 ? plugins[i + 1]->bit : 0;
        schedq_pod_t pod = fx_park(fixture, "ns/goes", rejectors);
        assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
    }
    for (unsigned i = 0; i < ENOUGH; i++)
        assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 0);
    for (unsigned i = 0; i < 3; i++)
        (void)fx_tick(fixture);
    assert_true(fx_stats(fixture).bytes_queues < before + 4096);
}

/* The one whose events found them empty makes no more calls; another's events go on. */
static void
sets_without_pods_are_forgotten_if_who_found_them_is_idle(void **state)
{
    enum { SETS = 120, ROUNDS = 6, ENOUGH = 100 };
    fixture_t *fixture = *state;
    fx_plugin_t *plugins[8];
    schedq_pod_t pods[SETS];
    schedq_worker_t *finder;
    make_plugins(fixture, plugins);
    fx_park(fixture, "ns/stays", plugins[1]->bit);
    uint64_t before = fx_stats(fixture).bytes_queues;
    for (unsigned set = 0; set < SETS; set++) {
        char name[32];
        uint64_t rejectors = plugins[0]->bit;
        snprintf(name, sizeof name, "ns/%u", set);
        for (unsigned i = 0; i < 7; i++)
            rejectors |= set >> i & 1 ? plugins[i + 1]->bit : 0;
        pods[set] = fx_park(fixture, name, rejectors);
    }
    for (unsigned set = 0; set < SETS; set++)
        assert_ok(schedq_delete(fx_worker(fixture), pods[set], NULL));
    assert_ok(schedq_worker_register(fx_queue(fixture), &finder, NULL, 0));
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    change.event = SCHEDQ_EVENT_NODE_ADD;
    for (unsigned i = 0; i < 2; i++)
        assert_ok(schedq_notify(finder, &change, NULL));
    for (unsigned round = 0; round < ROUNDS; round++) {
        for (unsigned i = 0; i < ENOUGH; i++)
            assert_int_equal(fx_move(fixture, SCHEDQ_EVENT_NODE_ADD).to_active, 0);
        (void)fx_tick(fixture);
    }
    assert_true(fx_stats(fixture).bytes_queues < before + (uint64_t)48 * 1024);
    assert_ok(schedq_worker_unregister(finder));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_lot_for_all_sets_reaches_the_right_pods),
        cmocka_unit_test(a_few_lots_and_the_rest_in_one_reach_the_right_pods),
        cmocka_unit_test(a_lot_for_each_set_reaches_the_right_pods),
        fx_test(one_lot_for_all_profiles_keeps_them_apart),
        fx_test(sets_without_pods_are_forgotten_by_the_events_that_concern_them),
        fx_test(sets_without_pods_are_forgotten_if_who_found_them_is_idle),
    };
    return fx_run_tests(argc, argv, tests);
}
