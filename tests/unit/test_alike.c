/*
 * Pods that are alike, where no host is asked about them: what an event means to one, it means to
 * the next. One that is not alike gets an answer of its own, also right behind some that were.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

enum { KINDS_MAX = 4, RUN = 3, PODS_MAX = KINDS_MAX * KINDS_MAX * RUN };

/* How a pod's description gets another priority and object. */
enum change { UNCHANGED, BY_FAILURE, BY_UPDATE };

typedef struct kind {
    schedq_profile_t profile;
    uint64_t unschedulable, pending;
    enum change change;
    schedq_place_t place; /* where Node/Add brings it while its backoff lasts */
} kind_t;

typedef struct pod {
    char name[16];
    schedq_pod_t handle;
    const kind_t *kind;
    int32_t priority;
    uint64_t object;
} pod_t;

typedef struct world {
    fixture_t *fixture;
    fx_plugin_t *adds, *deletes, *waits, *other; /* other's is the bit of `adds` */
    schedq_profile_t second;
    pod_t pods[PODS_MAX];
    unsigned count;
} world_t;

/* Nobody asks a host: no hint, no gate, no affinity. */
static fx_plugin_t *
wants(fixture_t *fixture, schedq_profile_t profile, const char *name, uint32_t actions)
{
    const schedq_interest_t interest = {.resource = "Node", .actions = actions};
    return fx_plugin_full(fixture, profile, name, 0, &interest, 1, false);
}

static void
open_world(world_t *world)
{
    fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
    *world = (world_t){.fixture = fixture};
    fixture->config.max_lots = 1;
    fixture->config.pop_from_backoff = 0;
    assert_ok(schedq_profile_define(fx_queue(fixture), "second", &world->second, NULL, 0));
    world->adds = wants(fixture, 0, "Adds", SCHEDQ_ACTION_ADD);
    world->deletes = wants(fixture, 0, "Deletes", SCHEDQ_ACTION_DELETE);
    world->waits = wants(fixture, 0, "Waits", SCHEDQ_ACTION_ADD);
    fx_plugin_t *first = wants(fixture, 0, "First", SCHEDQ_ACTION_DELETE);
    world->other = wants(fixture, world->second, "Deletes", SCHEDQ_ACTION_DELETE);
    assert_true(world->other->bit == world->adds->bit);
    /* has the one lot that a set can have for itself: all others share one */
    fx_park(fixture, "ns/first", first->bit);
}

static void
update(fixture_t *fixture, const pod_t *pod, const schedq_pod_spec_t *spec)
{
    schedq_result_t result;
    assert_ok(
        schedq_update(fx_worker(fixture), pod->name, strlen(pod->name), spec, 0, NULL, 0, &result));
}

static void
park(world_t *world, const kind_t *kind, int32_t priority)
{
    fixture_t *fixture = world->fixture;
    pod_t *pod = &world->pods[world->count++];
    schedq_pod_spec_t spec = fx_spec(priority);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    schedq_result_t result;
    spec.profile = kind->profile;
    spec.object = world->count;
    snprintf(pod->name, sizeof pod->name, "ns/%u", world->count);
    fx_advance(fixture, 1);
    pod->handle = fx_add_spec(fixture, pod->name, &spec).pod;
    schedq_popped_t popped = fx_pop(fixture, pod->name);
    pod->kind = kind;
    if (kind->change != UNCHANGED) {
        spec.priority = 1 - priority;
        spec.object += PODS_MAX;
    }
    pod->priority = spec.priority;
    pod->object = spec.object;
    failure.unschedulable = kind->unschedulable;
    failure.pending = kind->pending;
    failure.newest = kind->change == BY_FAILURE ? &spec : NULL;
    assert_ok(schedq_fail(fx_worker(fixture), &popped.token, &failure, &result));
    assert_place(result.place, SCHEDQ_PARKED);
    if (kind->change == BY_UPDATE)
        update(fixture, pod, &spec);
}

/* Two of one kind, then one of another, for all pairs; both priorities for each kind. */
static void
park_all(world_t *world, const kind_t *kinds, unsigned count)
{
    for (unsigned first = 0; first < count; first++) {
        for (unsigned next = 0; next < count; next++) {
            int32_t priority = (int32_t)((first + next) % 2);
            park(world, &kinds[first], priority);
            park(world, &kinds[first], priority);
            park(world, &kinds[next], priority);
        }
    }
}

static schedq_place_t
place_after(const pod_t *pod, bool late)
{
    return pod->kind->place == SCHEDQ_BACKOFF && late ? SCHEDQ_ACTIVE : pod->kind->place;
}

/* Those that the event brought to `place`: all that are popped, by priority and by age. */
static void
expect_popped(const world_t *world, schedq_place_t place, bool late)
{
    for (int32_t priority = 1; priority >= 0; priority--) {
        for (unsigned i = 0; i < world->count; i++) {
            const pod_t *pod = &world->pods[i];
            if (pod->priority != priority || place_after(pod, late) != place)
                continue;
            schedq_popped_t popped = fx_pop(world->fixture, pod->name);
            assert_int_equal(popped.priority, priority);
            assert_int_equal(popped.object, pod->object);
            fx_done(world->fixture, &popped);
        }
    }
    fx_pop_nothing(world->fixture);
}

static void
expect_moved(const world_t *world, schedq_result_t moved, bool late)
{
    unsigned in[SCHEDQ_PARKED + 1] = {0};
    for (unsigned i = 0; i < world->count; i++) {
        const pod_t *pod = &world->pods[i];
        schedq_place_t place = place_after(pod, late);
        in[place]++;
        assert_place(fx_place(world->fixture, pod->name), place);
        assert_int_equal(fx_info(world->fixture, pod->handle).priority, pod->priority);
    }
    assert_int_equal(moved.to_active, in[SCHEDQ_ACTIVE]);
    assert_int_equal(moved.to_backoff, in[SCHEDQ_BACKOFF]);
    /* and "ns/first" */
    fx_assert_counts(world->fixture, in[SCHEDQ_ACTIVE], in[SCHEDQ_BACKOFF], 0,
                     in[SCHEDQ_PARKED] + 1, 0, 0);
}

/* While their backoff lasts, or late, when it is over. */
static void
check(world_t *world, const kind_t *kinds, unsigned count, bool late)
{
    park_all(world, kinds, count);
    fx_advance(world->fixture, late ? SEC(60) : 0);
    expect_moved(world, fx_move(world->fixture, SCHEDQ_EVENT_NODE_ADD), late);
    expect_popped(world, SCHEDQ_ACTIVE, late);
    (void)fx_pass(world->fixture, SEC(60));
    expect_popped(world, SCHEDQ_BACKOFF, late);
    fx_free(world->fixture);
}

static void
an_event_leaves_those_that_others_rejected(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        world_t world;
        open_world(&world);
        const uint64_t adds = world.adds->bit, deletes = world.deletes->bit;
        const kind_t kinds[] = {
            {.unschedulable = adds, .place = SCHEDQ_BACKOFF},
            {.unschedulable = deletes, .place = SCHEDQ_PARKED},
            {.unschedulable = adds | deletes, .place = SCHEDQ_BACKOFF},
        };
        check(&world, kinds, 3, late == 1);
    }
}

static void
those_that_wait_for_it_skip_their_backoff_and_others_do_not(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        world_t world;
        open_world(&world);
        const uint64_t adds = world.adds->bit, deletes = world.deletes->bit,
                       waits = world.waits->bit;
        const kind_t kinds[] = {
            {.unschedulable = adds, .place = SCHEDQ_BACKOFF},
            {.unschedulable = adds, .pending = waits, .place = SCHEDQ_ACTIVE},
            {.unschedulable = deletes, .pending = waits, .place = SCHEDQ_ACTIVE},
            {.unschedulable = deletes, .place = SCHEDQ_PARKED},
        };
        check(&world, kinds, 4, late == 1);
    }
}

/* The sets are numbered by each profile: equal bits of two profiles are not the same plugins. */
static void
an_event_leaves_those_of_a_profile_that_does_not_want_it(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        world_t world;
        open_world(&world);
        const kind_t kinds[] = {
            {.unschedulable = world.adds->bit, .place = SCHEDQ_BACKOFF},
            {.profile = world.second, .unschedulable = world.other->bit, .place = SCHEDQ_PARKED},
        };
        check(&world, kinds, 2, late == 1);
    }
}

static void
those_that_were_described_anew_move_as_that_says(void **state)
{
    (void)state;
    for (int late = 0; late < 2; late++) {
        world_t world;
        open_world(&world);
        const uint64_t adds = world.adds->bit;
        const kind_t kinds[] = {
            {.unschedulable = adds, .place = SCHEDQ_BACKOFF},
            {.unschedulable = adds, .change = BY_FAILURE, .place = SCHEDQ_BACKOFF},
            {.unschedulable = adds, .change = BY_UPDATE, .place = SCHEDQ_BACKOFF},
        };
        check(&world, kinds, 3, late == 1);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_leaves_those_that_others_rejected),
        cmocka_unit_test(those_that_wait_for_it_skip_their_backoff_and_others_do_not),
        cmocka_unit_test(an_event_leaves_those_of_a_profile_that_does_not_want_it),
        cmocka_unit_test(those_that_were_described_anew_move_as_that_says),
    };
    return fx_run_tests(argc, argv, tests);
}
