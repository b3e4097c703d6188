/* The life of bands: cleared in two phases, put to sleep with their leaf, filled again, dropped. */
#include "arena.h"
#include "scenarios.h"
#include "world.h"

#include "lockfree/refs/band.h"

#include <string.h>

#define LOW 1
#define HIGH 9

/* The high band is shown and empty: who passes it next takes its bit. */
static void
prepare_passed(struct actor *actor)
{
    (void)actor_add(actor, 0, HIGH);
    actor_consume(actor, 1);
    for (uint32_t key = 2; key < 6; key++) {
        (void)actor_add(actor, key, LOW);
    }
}

static void
add_high(struct actor *actor)
{
    (void)actor_add(actor, 6, HIGH);
    (void)actor_add(actor, 0, HIGH);
}

static void
update_high(struct actor *actor)
{
    (void)actor_update(actor, 5, HIGH);
}

/* The first thread has drawn a key since, so an older pod that it moves goes into its lane. */
static void
prepare_passed_and_drawn(struct actor *actor)
{
    prepare_passed(actor);
    (void)actor_add(world_actor(0), 7, LOW);
}

static void
consume_3(struct actor *actor)
{
    actor_consume(actor, 3);
}

static void
consume_4(struct actor *actor)
{
    actor_consume(actor, 4);
}

/* Both bands are shown and empty: pops take their bits, then the leaf's. */
static void
prepare_empty(struct actor *actor)
{
    (void)actor_add(actor, 0, HIGH);
    (void)actor_add(actor, 1, LOW);
    actor_consume(actor, 2);
}

/* The leaf sleeps. */
static void
prepare_asleep(struct actor *actor)
{
    prepare_empty(actor);
    for (unsigned i = 0; i < 4; i++) {
        (void)actor_pop(actor);
    }
}

static void
add_both(struct actor *actor)
{
    (void)actor_add(actor, 2, LOW);
    (void)actor_add(actor, 3, HIGH);
}

/* Two leaves sleep. */
static void
prepare_two_asleep(struct actor *actor)
{
    (void)actor_add(actor, 0, 20);
    (void)actor_add(actor, 1, 21);
    actor_consume(actor, 2);
    prepare_asleep(actor);
}

/* Into the upper leaf: the lower one is in the new table too, whose top shows it. */
static void
add_another(struct actor *actor)
{
    (void)actor_add(actor, 4, 22);
    actor_consume(actor, 1);
}

static void
two_bands_at_most(schedq_config_t *config)
{
    config->max_bands = 2;
}

static void
three_bands_at_most(schedq_config_t *config)
{
    config->max_bands = 3;
}

/* Both bands are used up, and empty. */
static void
prepare_used_up(struct actor *actor)
{
    world_allow(SCHEDQ_FULL);
    (void)actor_add(actor, 0, 1);
    (void)actor_add(actor, 1, 2);
    actor_consume(actor, 2);
}

static void
add_new_band(struct actor *actor)
{
    (void)actor_add(actor, 0, 3);
    (void)actor_add(actor, 1, 4);
}

static void
add_old_band(struct actor *actor)
{
    (void)actor_add(actor, 2, 1);
    (void)actor_add(actor, 3, 2);
}

static void
add_and_update_band(struct actor *actor)
{
    (void)actor_add(actor, 4, 1);
    (void)actor_update(actor, 4, 5);
}

static void
pop_twice(struct actor *actor)
{
    actor_consume(actor, 2);
}

/*
 * Each thread has at most one pod at a time in the queue, so three bands are enough for three
 * threads.
 */
static void
one_at_a_time(struct actor *actor)
{
    for (int32_t i = 0; i < 2; i++) {
        (void)actor_add(actor, actor->number * 10 + (uint32_t)i, (int32_t)actor->number * 10 + i);
        while (!actor_pop(actor)) {
            sim_spin();
        }
        (void)actor_done_all(actor);
    }
}

/* ---- leaving --------------------------------------------------------------------------------- */

/* The high band is in the table, and has no pods. */
static void
prepare_left(struct actor *actor)
{
    (void)actor_add(actor, 0, HIGH);
    (void)actor_add(actor, 1, LOW);
    actor_consume(actor, 1);
}

/* What has no pods begins to leave; a grace period later it leaves, another later it is freed. */
static void
trim_3(struct actor *actor)
{
    for (unsigned i = 0; i < 3; i++) {
        actor_trim(actor);
    }
}

static void
add_high_twice(struct actor *actor)
{
    (void)actor_add(actor, 2, HIGH);
    (void)actor_add(actor, 3, HIGH);
}

static void
consume_and_add(struct actor *actor)
{
    actor_consume(actor, 2);
    (void)actor_add(actor, 4, HIGH);
}

static void
raise_1(struct actor *actor)
{
    (void)actor_update(actor, 1, HIGH);
    (void)actor_update(actor, 1, LOW);
    (void)actor_update(actor, 1, HIGH);
}

/* Other priorities come, so that adds and pops replace leaves and sweep. */
static void
add_others(struct actor *actor)
{
    for (uint32_t i = 0; i < 4; i++) {
        (void)actor_add(actor, 5 + i, (int32_t)(20 + i));
        actor_consume(actor, 1);
    }
}

/* ---- the summaries alone --------------------------------------------------------------------- */

#define LOWEST 1
#define UPPER 20

/* A table of two leaves that sleep; the upper one has room for another row. */
static struct {
    struct memory memory;
    struct entries entries;
    struct run_pool pool;
    struct bands bands;
    struct epoch *epoch;
    struct epoch_record *epochs[2]; /* of each thread */
    struct band *lowest;
    struct band_spot spot;
} parts;

static struct band *
parts_get(unsigned thread, int32_t priority, struct band_spot *spot)
{
    struct band *band = bands_get(&parts.bands, parts.epochs[thread], priority, spot);

    SIM_CHECK(band != NULL, "priority %d has no band", priority);
    return band;
}

/* The last leaf of the table is the lowest band's. */
static void
parts_rest(void)
{
    struct band_table *table = bands_table(&parts.bands);

    bands_rest(&parts.bands, table, 0, UINT64_C(1) << (table->count - 1));
}

static void
parts_begin(const struct scenario *scenario)
{
    const schedq_allocator_t allocator = arena_allocator();
    struct band_spot spot = {0};

    (void)scenario;
    memset(&parts, 0, sizeof parts);
    memory_open(&parts.memory, &allocator);
    records_open(&parts.entries, &parts.memory, 0);
    run_pool_open(&parts.pool, &parts.memory);
    parts.epoch = epoch_open(&parts.memory, true);
    for (unsigned i = 0; i < 2; i++) {
        parts.epochs[i] = epoch_record_make(parts.epoch);
    }
    (void)bands_open(&parts.bands, &parts.memory, &parts.entries, &parts.pool);
    for (int32_t priority = LOWEST + BAND_ROWS - 1; priority > LOWEST; priority--) {
        (void)parts_get(0, priority, &spot);
    }
    (void)parts_get(0, LOWEST, &spot);
    (void)parts_get(0, UPPER, &spot);
    parts.lowest = parts_get(0, LOWEST, &parts.spot);
    struct band_table *table = bands_table(&parts.bands);
    SIM_CHECK(table->count == 2, "the table has %u leaves", table->count);
    bands_clear(&parts.bands, table->leaves[1].leaf, SUMMARY_ROWS);
    parts_rest();
}

/* The first marks the lowest band; the other replaces the table, and puts that leaf to sleep. */
static void
parts_thread(const struct scenario *scenario, unsigned thread)
{
    struct band_spot spot = {0};

    (void)scenario;
    epoch_enter(parts.epochs[thread]);
    if (thread == 0) {
        (void)band_mark(parts.lowest, &parts.spot);
    } else {
        (void)parts_get(thread, UPPER + 1, &spot);
        parts_rest();
    }
    epoch_leave(parts.epochs[thread]);
}

static void
parts_drain(const struct scenario *scenario)
{
    const struct band_table *table = bands_table(&parts.bands);
    const struct band_leaf *leaf = table->leaves[table->count - 1].leaf;
    const struct summary *top = &table->tops[0];

    (void)scenario;
    SIM_CHECK(sim_frozen() > 0 || (summary_bits(top) >> (table->count - 1) == 1 &&
                                   summary_shows(&leaf->summary, leaf->count - 1)),
              "the lowest band is marked, and not shown");
}

static void
parts_end(const struct scenario *scenario)
{
    (void)scenario;
    for (unsigned i = 0; i < 2; i++) {
        epoch_poll(parts.epochs[i]);
    }
    bands_close(&parts.bands);
    run_pool_close(&parts.pool);
    records_close(&parts.entries);
    epoch_close(parts.epoch);
    memory_close(&parts.memory);
}

/* The rows of the table are leaving, by either thread. */
static void
parts_leave(const struct scenario *scenario, unsigned thread)
{
    (void)scenario;
    for (unsigned i = 0; i < 3; i++) {
        epoch_enter(parts.epochs[thread]);
        if (i == 0) {
            bands_trim(&parts.bands, parts.epochs[thread]);
        } else {
            bands_sweep(&parts.bands, parts.epochs[thread]);
        }
        epoch_leave(parts.epochs[thread]);
        epoch_poll(parts.epochs[thread]);
    }
}

/* Whoever began, the calls of one thread end it. */
static void
parts_left(const struct scenario *scenario)
{
    (void)scenario;
    for (unsigned i = 0; i < 6; i++) {
        epoch_enter(parts.epochs[0]);
        bands_sweep(&parts.bands, parts.epochs[0]);
        epoch_leave(parts.epochs[0]);
        epoch_poll(parts.epochs[0]);
    }
    SIM_CHECK(sim_frozen() > 0 || bands_table(&parts.bands)->rows == 0,
              "%u rows without pods have not left", bands_table(&parts.bands)->rows);
}

static const struct harness parts_harness = {parts_begin, parts_thread, parts_drain, parts_end};
static const struct harness leave_harness = {parts_begin, parts_leave, parts_left, parts_end};

const struct scenario band_scenarios[] = {
    SCENARIO("band_clear", "an empty band is cleared while pods are added to it, and moved into it",
             NULL, prepare_passed, add_high, consume_3, update_high),
    SCENARIO("band_clear_update", "a band is cleared while a pod is moved into it, through a lane",
             NULL, prepare_passed_and_drawn, update_high, consume_3),
    SCENARIO("band_clear_two", "two consumers clear a band, one adder sets it", NULL,
             prepare_passed, add_high, consume_4, consume_4),
    SCENARIO("band_sleep",
             "two consumers take all bits of a leaf, and put it to sleep, while pods are added",
             NULL, prepare_empty, add_both, consume_4, consume_4),
    SCENARIO("band_wake", "a leaf that sleeps is woken by two adders, and put to sleep again", NULL,
             prepare_asleep, add_both, add_high, consume_4),
    SCENARIO("band_wake_copy", "a leaf that sleeps is woken while the table is replaced", NULL,
             prepare_two_asleep, add_both, add_another, consume_4),
    {.name = "band_mark_table",
     .about = "a band is marked while its table is replaced, and its leaf put to sleep once more",
     .harness = &parts_harness,
     .threads = 2},
    SCENARIO("band_retire",
             "max_bands 2: other priorities take the place of two while pods are added and moved",
             two_bands_at_most, prepare_used_up, add_new_band, add_old_band, add_and_update_band,
             pop_twice),
    {.name = "band_retire_exact",
     .about = "as many priorities at once as max_bands allows are never FULL",
     .harness = &queue_harness,
     .threads = 3,
     .never_frozen = true,
     .configure = three_bands_at_most,
     .bodies = {one_at_a_time, one_at_a_time, one_at_a_time}},
    SCENARIO("band_leave", "a band leaves while pods of its priority are added and popped", NULL,
             prepare_left, trim_3, add_high_twice, consume_and_add),
    SCENARIO("band_leave_two", "two threads make a band leave while pods of its priority are added",
             NULL, prepare_left, trim_3, add_high_twice, trim_3),
    SCENARIO("band_leave_update",
             "a band leaves while a pod is moved into it, out of it, and into it", NULL,
             prepare_left, trim_3, raise_1, pop_twice),
    {.name = "band_leave_all",
     .about = "rows that two threads make leave at once are gone when one thread has made calls",
     .harness = &leave_harness,
     .threads = 2},
    SCENARIO("band_leave_sweep", "bands leave by the sweeps of adds, while pods of one are added",
             NULL, prepare_left, add_others, add_high_twice, add_others),
    {.name = NULL},
};
