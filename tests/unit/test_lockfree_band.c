/*
 * lockfree/refs/band.h: the table is in order and has what has pods; its summary says where to
 * look; what has no pods gives back its row, its memory and its id.
 */
#include <pthread.h>
#include <string.h>

#include "ground.h"
#include "help.h"
#include "lockfree/refs/band.h"
#include "mailbox.h"
#include "rounds.h"

struct world {
    struct ground ground;
    struct slab_cache cache;
    struct run_pool pool;
    atomic_u64 reorder;
    struct bin_caller caller;
    struct bands *bands;
    uint64_t version; /* of the pods that the test puts */
};

static int
setup(void **state)
{
    world_t *world = ground_make(sizeof *world);
    run_pool_open(&world->pool, &world->ground.memory);
    world->bands =
        memory_alloc(&world->ground.memory, MEMORY_OTHER, sizeof *world->bands, CACHE_LINE);
    assert_non_null(world->bands);
    assert_true(
        bands_open(world->bands, &world->ground.memory, &world->ground.entries, &world->pool));
    world->caller = (struct bin_caller){.memory = &world->ground.memory,
                                        .epoch = world->ground.record,
                                        .pool = &world->pool,
                                        .help = help_bin,
                                        .ctx = &world->reorder};
    world->version = 5;
    epoch_enter(world->ground.record);
    *state = world;
    return 0;
}

/* Some grace periods. */
static void
pass_time(world_t *world)
{
    for (unsigned i = 0; i < 5; i++) {
        epoch_leave(world->ground.record);
        epoch_poll(world->ground.record);
        epoch_enter(world->ground.record);
        do
            bands_sweep(world->bands, world->ground.record);
        while (u32_load(&world->bands->due) != 0 && u64_load(&world->bands->waits) == 0);
    }
}

/* Gives back all that it can, in the end. */
static void
trim(world_t *world)
{
    bands_trim(world->bands, world->ground.record);
    pass_time(world);
}

static int
teardown(void **state)
{
    world_t *world = *state;
    pass_time(world);
    epoch_leave(world->ground.record);
    bands_close(world->bands);
    memory_free(&world->ground.memory, MEMORY_OTHER, world->bands, sizeof *world->bands);
    run_pool_close(&world->pool);
    ground_free(world);
    return 0;
}

/* ---- helpers --------------------------------------------------------------------------------- */

static struct band *
get(world_t *world, int32_t priority)
{
    struct band_spot spot = {0};
    struct band *band = bands_get(world->bands, world->ground.record, priority, &spot);
    assert_non_null(band);
    assert_int_equal(band->priority, priority);
    assert_ptr_equal(bands_at(world->bands, band->id), band);
    return band;
}

static void
set_word(world_t *world, uint32_t record, uint64_t word)
{
    (void)u64_exchange(&entry_at(&world->ground.entries, record)->word.low, word);
}

/* A pod that is active in the band; its record. */
static uint32_t
put_pod(world_t *world, struct band *band)
{
    uint32_t record = slab_take(&world->ground.entries.records, &world->cache);
    uint64_t version = world->version++;
    set_word(world, record, state_make(version, band->id, PLACE_ACTIVE));
    assert_true(bin_prepare(&band->bin, &world->caller, 1));
    struct lane *lane = bin_lane(&band->bin, 0);
    lane_put(lane, ref_make(version, record), lane->last_key + 1);
    lane_publish(lane);
    atomic_fence();
    assert_true(bin_mark(&band->bin));
    return record;
}

static void
take_pod(world_t *world, uint32_t record)
{
    set_word(world, record, state_make(world->version++, 0, PLACE_DEAD));
}

/* Highest first, each once; tops and counts are what they say. */
static bool
is_in_order(const struct band_table *table)
{
    int64_t last = INT64_MAX;
    uint32_t rows = 0;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct band_leaf *leaf = table->leaves[i].leaf;
        if (leaf->count == 0 || leaf->count > BAND_ROWS ||
            table->leaves[i].top != leaf->rows[0].priority)
            return false;
        for (uint32_t j = 0; j < leaf->count; j++) {
            if (leaf->rows[j].priority >= last ||
                leaf->rows[j].priority != leaf->rows[j].band->priority)
                return false;
            last = leaf->rows[j].priority;
        }
        rows += leaf->count;
    }
    return rows == table->rows;
}

static void
assert_table(world_t *world, const int32_t *priorities, uint32_t count)
{
    const struct band_table *table = bands_table(world->bands);
    uint32_t seen = 0;
    assert_true(is_in_order(table));
    assert_int_equal(table->rows, count);
    for (uint32_t i = 0; i < table->count; i++) {
        for (uint32_t j = 0; j < table->leaves[i].leaf->count; j++)
            assert_int_equal(table->leaves[i].leaf->rows[j].priority, priorities[seen++]);
    }
}

static struct band_leaf *
leaf_at(world_t *world, uint32_t i)
{
    return bands_table(world->bands)->leaves[i].leaf;
}

/* What a walk does with a leaf in which it found nothing. */
static void
look_for_rest(world_t *world, uint32_t i)
{
    bands_clear(world->bands, leaf_at(world, i), SUMMARY_ROWS);
}

/* The rows that walks look at, of a table of one leaf. */
static uint64_t
shown(world_t *world)
{
    const struct band_table *table = bands_table(world->bands);
    assert_int_equal(table->count, 1);
    return summary_bits(&table->tops[0]) == 0 ? 0 : summary_bits(&leaf_at(world, 0)->summary);
}

static bool
is_leaving(world_t *world, uint32_t row)
{
    return leaf_at(world, 0)->rows[row].leaving;
}

/* ---- order ----------------------------------------------------------------------------------- */

static void
the_table_is_in_order_however_priorities_come(void **state)
{
    world_t *world = *state;
    static const int32_t ordered[] = {INT32_MAX, 1, 0, -1, INT32_MIN};
    for (unsigned permutation = 0; permutation < 5 * 5 * 5 * 5; permutation++) {
        uint32_t known = 0;
        struct band *bands[5] = {NULL};
        for (unsigned step = 0, code = permutation; step < 9; step++, code /= 5) {
            unsigned i = step < 4 ? code % 5 : step - 4;
            struct band *band = get(world, ordered[i]);
            if ((known >> i & 1) != 0)
                assert_ptr_equal(band, bands[i]);
            bands[i] = band;
            known |= 1u << i;
            assert_true(is_in_order(bands_table(world->bands)));
        }
        assert_table(world, ordered, 5);
        trim(world);
        assert_table(world, NULL, 0);
    }
    assert_true(u32_load(&world->bands->drawn) <= 10); /* ids are used again */
}

static void
thousands_of_priorities_lie_in_leaves_that_split(void **state)
{
    world_t *world = *state;
    enum { COUNT = 5000 };
    struct band **bands = calloc(COUNT, sizeof *bands);
    assert_non_null(bands);
    for (int32_t i = 0; i < COUNT; i++) {
        int32_t priority = i * 7919 % COUNT;
        bands[priority] = get(world, priority);
        (void)put_pod(world, bands[priority]);
        if (i % 512 == 0)
            assert_true(is_in_order(bands_table(world->bands)));
    }
    assert_true(is_in_order(bands_table(world->bands)));
    assert_int_equal(bands_table(world->bands)->rows, COUNT);
    assert_true(bands_table(world->bands)->count <= COUNT / (BAND_ROWS / 2) + 1);
    for (int32_t i = 0; i < COUNT; i++)
        assert_ptr_equal(get(world, i), bands[i]);
    free(bands);
}

static void
bring_two(world_t *world)
{
    (void)get(world, 2);
}

static void
bring_three(world_t *world)
{
    (void)get(world, 3);
}

static void
priorities_that_come_at_the_same_time_are_all_there(void **state)
{
    world_t *world = *state;
    static const int32_t expected[] = {3, 2}, three_of_them[] = {4, 3, 2};
    world->ground.hook = bring_two;
    struct band *three = get(world, 3);
    assert_null(world->ground.hook);
    assert_table(world, expected, 2);
    assert_ptr_equal(get(world, 3), three);
    world->ground.hook = bring_three;
    (void)get(world, 4);
    assert_table(world, three_of_them, 3);
}

static void
of_two_who_bring_the_same_priority_both_get_the_same_band(void **state)
{
    world_t *world = *state;
    static const int32_t expected[] = {3, 2};
    (void)get(world, 2);
    world->ground.hook = bring_three;
    struct band *three = get(world, 3);
    assert_table(world, expected, 2);
    assert_ptr_equal(bands_table(world->bands)->leaves[0].leaf->rows[0].band, three);
    pass_time(world);
    assert_true(get(world, 4)->id <= 3); /* what was made for nothing is used */
}

/* ---- the summaries --------------------------------------------------------------------------- */

static void
rows_without_pods_lose_their_bits_and_producers_set_them_again(void **state)
{
    world_t *world = *state;
    (void)get(world, 1);
    struct band *band = get(world, 2);
    (void)get(world, 3);
    assert_int_equal(shown(world), 7); /* a copy begins with all */
    look_for_rest(world, 0);
    assert_int_equal(shown(world), 0);
    uint32_t record = put_pod(world, band);
    assert_int_equal(shown(world), 2);
    uint64_t version = summary_see(&leaf_at(world, 0)->summary).high;
    uint32_t other = put_pod(world, band);
    assert_true(summary_see(&leaf_at(world, 0)->summary).high == version); /* not touched */
    take_pod(world, other);
    look_for_rest(world, 0);
    assert_int_equal(shown(world), 2);
    take_pod(world, record);
    bands_clear(world->bands, leaf_at(world, 0), 1); /* not this row */
    assert_int_equal(shown(world), 2);
    look_for_rest(world, 0);
    assert_int_equal(shown(world), 0);
}

static void
a_bit_is_not_taken_after_a_producer_marked_its_band(void **state)
{
    world_t *world = *state;
    struct band *band = get(world, 1);
    struct summary *summary = &leaf_at(world, 0)->summary;
    uint64_t doubt;
    assert_true(summary_doubt(summary, summary_see(summary), 1, &doubt));
    (void)put_pod(world, band); /* the bit was set all the time */
    summary_clear(summary, doubt, 1);
    assert_int_equal(shown(world), 1);
}

static void
a_leaf_without_bits_sleeps_until_a_producer_wakes_it(void **state)
{
    world_t *world = *state;
    struct band *band = get(world, 1);
    struct band_table *table = bands_table(world->bands);
    bands_rest(world->bands, table, 0, 1); /* it has a bit */
    assert_int_equal(shown(world), 1);
    for (unsigned i = 0; i < 3; i++) {
        look_for_rest(world, 0);
        bands_rest(world->bands, table, 0, 1);
        assert_int_equal(summary_bits(&table->tops[0]), 0);
        bands_rest(world->bands, table, 0, 1); /* it sleeps already */
        uint32_t record = put_pod(world, band);
        assert_int_equal(summary_bits(&table->tops[0]), 1);
        assert_int_equal(shown(world), 1);
        take_pod(world, record);
    }
}

/* A producer that saw the leaf asleep, and noted it, and a consumer that reads the top since. */
static void
a_leaf_that_was_noted_is_not_hidden_by_a_look_from_before(void **state)
{
    world_t *world = *state;
    (void)get(world, 1);
    struct band_table *table = bands_table(world->bands);
    look_for_rest(world, 0);
    const struct pair before = summary_see(&table->tops[0]);
    assert_true(summary_sleep(&leaf_at(world, 0)->summary));
    const struct pair asleep = summary_see(&leaf_at(world, 0)->summary);
    summary_note(&table->tops[0], 0);
    summary_take(&table->tops[0], before, 1);
    assert_int_equal(summary_bits(&table->tops[0]), 1);
    bands_rest(world->bands, table, 0, 1); /* another consumer, after that */
    assert_int_equal(summary_bits(&table->tops[0]), 0);
    assert_false(summary_set(&leaf_at(world, 0)->summary, asleep, 0)); /* so it notes again */
}

static void
a_copy_shows_everything_though_its_leaf_slept(void **state)
{
    world_t *world = *state;
    (void)get(world, 1);
    look_for_rest(world, 0);
    bands_rest(world->bands, bands_table(world->bands), 0, 1);
    (void)get(world, 2);
    assert_int_equal(shown(world), 3);
    look_for_rest(world, 0);
    assert_int_equal(shown(world), 0);
    bands_rest(world->bands, bands_table(world->bands), 0, 1);
    for (int32_t i = 3; i <= BAND_ROWS + 1; i++)
        (void)get(world, i); /* the last one splits the leaf off */
    assert_int_equal(bands_table(world->bands)->count, 2);
    assert_int_equal(summary_bits(&bands_table(world->bands)->tops[0]), 3);
}

/* Its spot may be another's, or nobody's, or of a table that has been replaced since. */
static void
a_band_is_marked_wherever_it_was_found_last(void **state)
{
    world_t *world = *state;
    const struct band_spot none = {0};
    struct band_spot spot = {0}, other = {0};
    struct band *band = bands_get(world->bands, world->ground.record, 5, &spot);
    assert_int_equal(spot.number, 0); /* it was not there before */
    assert_ptr_equal(bands_get(world->bands, world->ground.record, 5, &spot), band);
    assert_ptr_equal(spot.band, band);
    (void)get(world, 7);
    (void)bands_get(world->bands, world->ground.record, 6, &other);
    (void)bands_get(world->bands, world->ground.record, 6, &other);
    const struct band_spot *const spots[] = {&spot, &other, &none};
    for (unsigned i = 0; i < 3; i++) {
        look_for_rest(world, 0);
        assert_true(band_mark(band, spots[i]));
        assert_int_equal(shown(world), 4);
    }
    assert_ptr_equal(bands_get(world->bands, world->ground.record, 5, &spot), band);
    look_for_rest(world, 0);
    assert_true(band_mark(band, &spot));
    assert_int_equal(shown(world), 4);
}

/* ---- what is not used leaves ----------------------------------------------------------------- */

/* Calls that found it before may use it: it leaves a grace period later, if none did. */
static void
a_band_without_pods_leaves_unless_a_call_keeps_it(void **state)
{
    world_t *world = *state;
    struct band *band = get(world, 2);
    uint32_t record = put_pod(world, band);
    trim(world);
    assert_ptr_equal(get(world, 2), band); /* a pod keeps it */
    take_pod(world, record);
    bands_trim(world->bands, world->ground.record);
    assert_true(is_leaving(world, 0));
    assert_ptr_equal(get(world, 2), band); /* so does a call */
    assert_false(is_leaving(world, 0));
    pass_time(world);
    assert_ptr_equal(get(world, 2), band);
    bands_trim(world->bands, world->ground.record);
    record = put_pod(world, band); /* by a call that had found it before */
    assert_true(is_leaving(world, 0));
    pass_time(world);
    assert_false(is_leaving(world, 0));
    assert_ptr_equal(get(world, 2), band);
    take_pod(world, record);
    trim(world);
    assert_table(world, NULL, 0);
}

/* A call that finds one of them wakes the leaf; what is added beside it does not. */
static void
rows_that_are_leaving_stay_so_beside_others(void **state)
{
    world_t *world = *state;
    static const int32_t left[] = {3};
    for (int32_t i = 1; i <= 2; i++)
        (void)get(world, i);
    bands_trim(world->bands, world->ground.record);
    uint32_t record = put_pod(world, get(world, 3));
    assert_false(is_leaving(world, 0));
    assert_true(is_leaving(world, 1));
    assert_true(is_leaving(world, 2));
    pass_time(world);
    assert_table(world, left, 1);
    take_pod(world, record);
    trim(world);
    assert_table(world, NULL, 0);
}

static void
pass_period(world_t *world)
{
    epoch_leave(world->ground.record);
    for (unsigned i = 0; i < 5; i++)
        epoch_poll(world->ground.record);
    epoch_enter(world->ground.record);
}

static void
a_band_that_is_kept_and_leaves_again_waits_again(void **state)
{
    world_t *world = *state;
    struct band *band = get(world, 2);
    bands_trim(world->bands, world->ground.record);
    pass_period(world);
    assert_ptr_equal(get(world, 2), band);
    assert_true(bands_sweep_is_due(world->bands));
    struct band_table *first = ptr_exchange(&world->bands->leaving, NULL);
    bands_trim(world->bands, world->ground.record);
    first->next_leaving = ptr_exchange(&world->bands->leaving, first);
    u64_store(&world->bands->waits, first->mark); /* what passed is the first wait */
    bands_sweep(world->bands, world->ground.record);
    assert_ptr_equal(get(world, 2), band);
    trim(world);
    assert_table(world, NULL, 0);
}

static void
rows_that_an_idle_worker_made_leave_go_by_the_calls_of_others(void **state)
{
    world_t *world = *state;
    struct epoch_record *idle = epoch_record_make(world->ground.epoch);
    for (int32_t i = 0; i < 3; i++)
        (void)get(world, i);
    epoch_enter(idle);
    bands_trim(world->bands, idle);
    epoch_leave(idle); /* and makes no further call */
    for (unsigned i = 0; i < 10000 && bands_table(world->bands)->count > 0; i++) {
        if (bands_sweep_is_due(world->bands))
            bands_sweep(world->bands, world->ground.record);
        epoch_leave(world->ground.record);
        epoch_poll_seldom(world->ground.record);
        epoch_enter(world->ground.record);
    }
    assert_table(world, NULL, 0);
}

/* Each has a pressure of its own, so that together they bring many before a mark passes. */
static void
rows_leave_as_fast_as_many_workers_bring_new_ones(void **state)
{
    enum { WORKERS = 32, LIVES = 20000 };
    world_t *world = *state;
    struct epoch_record *workers[WORKERS];
    uint32_t most = 0;
    for (unsigned i = 0; i < WORKERS; i++)
        workers[i] = epoch_record_make(world->ground.epoch);
    epoch_leave(world->ground.record);
    for (int32_t i = 0; i < LIVES; i++) {
        struct epoch_record *own = workers[i % WORKERS];
        struct band_spot spot = {0};
        epoch_enter(own);
        if (bands_sweep_is_due(world->bands))
            bands_sweep(world->bands, own);
        assert_non_null(bands_get(world->bands, own, i, &spot));
        most = bands_table(world->bands)->rows > most ? bands_table(world->bands)->rows : most;
        epoch_leave(own);
        epoch_poll_seldom(own);
    }
    epoch_enter(world->ground.record);
    assert_true(most <= LIVES / 4);
    for (unsigned i = 0; i < WORKERS; i++)
        epoch_poll(workers[i]);
}

/* It would make each priority that is used again cost a copy, which waits as long. */
static void
while_a_thread_stands_in_a_call_only_few_rows_are_leaving(void **state)
{
    enum { PRIORITIES = 1000, LIVES = 20000 };
    world_t *world = *state;
    struct epoch_record *stands = epoch_record_make(world->ground.epoch);
    uint64_t random = 1;
    for (int32_t i = 0; i < PRIORITIES; i++)
        (void)get(world, i);
    pass_time(world);
    epoch_enter(stands);
    uint64_t number = bands_table(world->bands)->number;
    for (unsigned i = 0; i < LIVES; i++) {
        random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
        (void)u32_add(&world->bands->due, 1);
        bands_sweep(world->bands, world->ground.record);
        take_pod(world, put_pod(world, get(world, (int32_t)(random >> 33) % PRIORITIES)));
        epoch_leave(world->ground.record);
        epoch_poll_seldom(world->ground.record);
        epoch_enter(world->ground.record);
    }
    /* each was brought once, at most, and two leaves began */
    assert_true(bands_table(world->bands)->number - number <= PRIORITIES + 1 + 2 * BAND_ROWS);
    epoch_leave(stands);
    u32_store(&world->bands->due, 0);
}

/*
 * Its producer found the band, published, and stopped for ever; its section was ended by an
 * adoption.
 */
static void
a_pod_whose_producer_died_before_it_marked_the_band_is_shown(void **state)
{
    world_t *world = *state;
    struct band *band = get(world, 2);
    bands_trim(world->bands, world->ground.record);
    look_for_rest(world, 0);
    uint32_t record = put_pod(world, band);
    uint64_t doubt;
    struct summary *summary = &leaf_at(world, 0)->summary;
    assert_true(summary_doubt(summary, summary_see(summary), 1, &doubt));
    summary_clear(summary, doubt, 1); /* as if it had not marked it */
    assert_int_equal(shown(world), 0);
    pass_time(world);
    assert_ptr_equal(get(world, 2), band);
    assert_int_equal(shown(world), 1);
    take_pod(world, record);
}

static void
an_id_is_used_again_when_no_section_can_name_it(void **state)
{
    world_t *world = *state;
    struct band *band = get(world, 2);
    uint32_t id = band->id;
    bands_trim(world->bands, world->ground.record);
    pass_period(world);
    bands_sweep(world->bands, world->ground.record);
    assert_table(world, NULL, 0);
    /* gone, but this section may have read words that name it */
    assert_null(bands_at(world->bands, id));
    assert_false(bin_mark(&band->bin));
    assert_false(band_mark(band, &(struct band_spot){.number = 0}));
    assert_int_not_equal(get(world, 2)->id, id);
    assert_false(bin_mark(&band->bin)); /* the row is another band's */
    pass_time(world);
    assert_int_equal(get(world, 7)->id, id);
}

static void
leaves_without_bits_leave_the_table_but_for_a_few(void **state)
{
    world_t *world = *state;
    enum { LEAVES = BAND_LEAVES_KEPT + 40, COUNT = LEAVES * BAND_ROWS };
    static uint32_t records[COUNT];
    for (int32_t i = 0; i < COUNT; i++)
        records[i] = put_pod(world, get(world, i));
    pass_time(world); /* what the splits owe */
    assert_int_equal(bands_table(world->bands)->rows, COUNT);
    for (int32_t i = 0; i < COUNT; i++)
        take_pod(world, records[i]);
    pass_time(world);
    assert_true(bands_table(world->bands)->count > BAND_LEAVES_KEPT);
    for (unsigned round = 0; round < 20; round++) {
        struct band_table *table = bands_table(world->bands);
        for (uint32_t i = 0; i < table->count; i++)
            bands_clear(world->bands, table->leaves[i].leaf, SUMMARY_ROWS);
        for (uint32_t i = 0; i < table->top_count; i++)
            bands_rest(world->bands, table, i, summary_bits(&table->tops[i]));
        pass_time(world);
    }
    uint32_t count = bands_table(world->bands)->count;
    assert_true(count <= BAND_LEAVES_KEPT && count >= BAND_LEAVES_KEPT / 2);
    assert_true(is_in_order(bands_table(world->bands)));
    trim(world);
    assert_table(world, NULL, 0);
}

/*
 * One priority after the other, each with a pod that leaves before the next comes; no walk ever
 * passes the old ones.
 */
static void
priorities_that_no_walk_passes_do_not_pile_up(void **state)
{
    world_t *world = *state;
    for (int way = 0; way < 3; way++) {
        for (int32_t i = 0; i < 20000; i++) {
            int32_t priority = way == 0 ? i : way == 1 ? -i : i * 7919 % 20011;
            if (bands_sweep_is_due(world->bands))
                bands_sweep(world->bands, world->ground.record);
            take_pod(world, put_pod(world, get(world, priority)));
            pass_time(world);
            assert_true(bands_table(world->bands)->rows <= 10 * BAND_ROWS);
        }
    }
    assert_true(u32_load(&world->bands->drawn) <= 20 * BAND_ROWS);
}

static void
trim_gives_all_memory_back(void **state)
{
    world_t *world = *state;
    uint32_t records[1000];
    trim(world);
    for (int32_t i = 0; i < 1000; i++)
        records[i] = put_pod(world, get(world, i));
    uint64_t most = memory_bytes(&world->ground.memory, MEMORY_QUEUES);
    for (int32_t i = 0; i < 1000; i++)
        take_pod(world, records[i]);
    trim(world);
    pass_time(world);
    assert_true(memory_bytes(&world->ground.memory, MEMORY_QUEUES) < most / 20);
}

static void
runs_of_a_band_that_leaves_go_back_to_their_pool(void **state)
{
    world_t *world = *state;
    struct band *band = get(world, 1);
    struct run *run = run_take(&world->pool, 1);
    /* stale */
    run_put(run, ref_make(4, slab_take(&world->ground.entries.records, &world->cache)), 1);
    assert_true(bin_publish_run(&band->bin, &world->caller, run));
    u32_store(&band->bin.slots, 0); /* no scan comes to drop it */
    trim(world);
    assert_table(world, NULL, 0);
    pass_time(world);
    assert_ptr_equal(run_take(&world->pool, 1), run);
    run_give(&world->pool, run);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static void
assert_full(world_t *world, int32_t priority, uint32_t max, schedq_status_t expected)
{
    assert_status(bands_is_full(world->bands, &world->caller, priority, max), expected);
}

static void
a_priority_is_refused_if_max_others_have_active_pods(void **state)
{
    world_t *world = *state;
    uint32_t records[4];
    assert_full(world, 9, 1, SCHEDQ_OK);
    for (int32_t i = 0; i < 4; i++)
        records[i] = put_pod(world, get(world, i));
    assert_full(world, 9, 5, SCHEDQ_OK);
    assert_full(world, 9, 4, SCHEDQ_FULL);
    assert_full(world, 9, 1, SCHEDQ_FULL);
    assert_full(world, 2, 1, SCHEDQ_OK);
    take_pod(world, records[2]);
    assert_full(world, 9, 4, SCHEDQ_OK); /* the row is there, its pod is not */
    assert_full(world, 2, 4, SCHEDQ_OK);
    assert_full(world, 2, 3, SCHEDQ_FULL);
    atomic_store(&world->ground.account.fail_all, true);
    assert_full(world, 9, 3, SCHEDQ_NOMEM);
    (void)account_heal(&world->ground.account);
}

static void
without_ids_there_is_no_band(void **state)
{
    world_t *world = *state;
    (void)get(world, 1);
    uint32_t drawn = u32_load(&world->bands->drawn);
    assert_false(bands_are_out(world->bands));
    u32_store(&world->bands->drawn, BANDS_MAX);
    struct band_spot spot = {0};
    assert_null(bands_get(world->bands, world->ground.record, 2, &spot));
    assert_true(bands_are_out(world->bands));
    u32_store(&world->bands->drawn, drawn);
    (void)get(world, 2);
    assert_true(bands_reserve(world->bands, 100000));
}

static void
without_memory_there_is_no_band_and_no_id_is_lost(void **state)
{
    world_t *world = *state;
    static const int32_t expected[] = {6, 5};
    /* The band; the band, the cells of ids; the table, then the leaf, when the cells are there. */
    static const int64_t successes[] = {0, 1, 2, 2};
    for (unsigned i = 0; i < 4; i++) {
        account_fail_after(&world->ground.account, successes[i]);
        struct band_spot spot = {0};
        assert_null(bands_get(world->bands, world->ground.record, 5, &spot));
        assert_false(bands_are_out(world->bands));
        assert_true(account_heal(&world->ground.account));
        assert_table(world, NULL, 0);
        pass_time(world);
    }
    assert_int_equal(get(world, 5)->id, 1);
    assert_int_equal(get(world, 6)->id, 2);
    atomic_store(&world->ground.account.fail_all, true);
    trim(world);
    assert_false(bands_reserve(world->bands, 100));
    (void)account_heal(&world->ground.account);
    assert_table(world, expected, 2);
    trim(world);
    assert_table(world, NULL, 0);
    struct bands *other =
        memory_alloc(&world->ground.memory, MEMORY_OTHER, sizeof *other, CACHE_LINE);
    atomic_store(&world->ground.account.fail_all, true);
    assert_false(bands_open(other, &world->ground.memory, &world->ground.entries, &world->pool));
    (void)account_heal(&world->ground.account);
    bands_close(other);
    memory_free(&world->ground.memory, MEMORY_OTHER, other, sizeof *other);
}

/* ---- lanes of a worker ----------------------------------------------------------------------- */

static void
the_lanes_of_a_slot_go_on_in_all_bands_and_shrink(void **state)
{
    world_t *world = *state;
    enum { BANDS = 130, PUT = 100 };
    for (int32_t i = 0; i < BANDS; i++) {
        struct band *band = get(world, i);
        struct bin_caller caller = world->caller;
        struct lane *lane;
        caller.worker = (uint32_t)i % 2;
        assert_true(bin_prepare(&band->bin, &caller, PUT));
        lane = bin_lane(&band->bin, caller.worker);
        lane_put(lane, ref_make(5, 1), 1);
        lane_publish(lane);
        lane_put(lane, ref_make(6, 1), 2); /* and its owner died */
    }
    bands_tend(world->bands, NULL, 1);
    bands_tend(world->bands, world->ground.record, 1);
    for (int32_t i = 0; i < BANDS; i++) {
        const struct bin *bin = &get(world, i)->bin;
        const struct lane *lane = bin_lane(bin, (uint32_t)i % 2);
        const struct segment *segment = ptr_load(&lane->last);
        bool mine = i % 2 == 1;
        assert_null(bin_lane(bin, 1 - (uint32_t)i % 2));
        /* the record was never a pod: stale, and left out */
        assert_int_equal(lane->tail, mine ? 0 : 2);
        assert_int_equal(segment->ring.size, mine ? 16 : 128);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 3, ROUNDS = 4000, PRIORITIES = 200, RECORDS = 20 };

typedef struct team {
    world_t *world;
    mailbox_t mailbox;
    unsigned rounds;
} team_t;

typedef struct member {
    pthread_t thread;
    team_t *team;
    struct epoch_record *record;
    uint64_t seed;
    uint32_t number;
    uint64_t version;
    uint32_t records[RECORDS];
} member_t;

static uint32_t
draw(member_t *member, uint32_t below)
{
    member->seed = member->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(member->seed >> 33) % below;
}

/* Would a walk that begins now look into the band? */
static bool
is_shown(world_t *world, const struct band *band)
{
    const struct band_table *table = bands_table(world->bands);
    for (uint32_t i = 0; i < table->count; i++) {
        const struct band_leaf *leaf = table->leaves[i].leaf;
        for (uint32_t j = 0; j < leaf->count; j++) {
            if (leaf->rows[j].band == band)
                return (summary_bits(&table->tops[i / SUMMARY_ROWS]) >> i % SUMMARY_ROWS & 1) !=
                           0 &&
                       (summary_bits(&leaf->summary) >> j & 1) != 0;
        }
    }
    return false;
}

/* After it marked a band that has a pod, each thread finds it shown. */
static void
use(member_t *member)
{
    world_t *world = member->team->world;
    int32_t priority = (int32_t)draw(member, PRIORITIES) - PRIORITIES / 2;
    struct band_spot spot = {0};
    struct band *band = bands_get(world->bands, member->record, priority, &spot);
    mailbox_check(&member->team->mailbox, is_in_order(bands_table(world->bands)));
    mailbox_check(&member->team->mailbox, band != NULL && band->priority == priority);
    if (band != NULL) {
        uint32_t record = member->records[draw(member, RECORDS)];
        uint64_t version = ++member->version;
        struct bin_caller caller = world->caller;
        caller.worker = member->number;
        caller.epoch = member->record;
        set_word(world, record, state_make(version, band->id, PLACE_ACTIVE));
        mailbox_check(&member->team->mailbox, bin_prepare(&band->bin, &caller, 1));
        struct lane *lane = bin_lane(&band->bin, member->number);
        lane_put(lane, ref_make(version, record), lane->last_key + 1);
        lane_publish(lane);
        atomic_fence();
        mailbox_check(&member->team->mailbox, band_mark(band, &spot));
        mailbox_check(&member->team->mailbox, is_shown(world, band));
        if (draw(member, 4) != 0)
            set_word(world, record, state_make(++member->version, 0, PLACE_DEAD));
    }
}

static void
rest_or_sweep(member_t *member)
{
    world_t *world = member->team->world;
    struct band_table *table = bands_table(world->bands);
    switch (draw(member, 40)) {
    case 0:
        bands_trim(world->bands, member->record);
        break;
    case 1:
        (void)u32_add(&world->bands->due, 1);
        bands_sweep(world->bands, member->record);
        break;
    default:
        for (uint32_t i = 0; i < table->count; i++)
            bands_clear(world->bands, table->leaves[i].leaf, 1 + draw(member, SUMMARY_ROWS));
        for (uint32_t i = 0; i < table->top_count; i++)
            bands_rest(world->bands, table, i, summary_bits(&table->tops[i]));
    }
}

static void *
member_main(void *argument)
{
    member_t *member = argument;
    for (unsigned round = 0; round < member->team->rounds; round++) {
        epoch_enter(member->record);
        if (draw(member, 4) == 0)
            rest_or_sweep(member);
        else
            use(member);
        epoch_leave(member->record);
        epoch_poll(member->record);
    }
    return NULL;
}

static void
threads_that_bring_mark_and_retire_priorities_agree(void **state)
{
    world_t *world = *state;
    static team_t team;
    static member_t members[THREADS];
    memset((void *)&team, 0, sizeof team);
    team.world = world;
    team.rounds = rounds_of(ROUNDS);
    mailbox_init(&team.mailbox);
    epoch_leave(world->ground.record);
    for (unsigned i = 0; i < THREADS; i++) {
        members[i] =
            (member_t){.team = &team, .seed = i, .record = epoch_record_make(world->ground.epoch)};
        members[i].number = i;
        members[i].version = world->version;
        for (unsigned j = 0; j < RECORDS; j++)
            members[i].records[j] = slab_take(&world->ground.entries.records, &world->cache);
        assert_int_equal(pthread_create(&members[i].thread, NULL, member_main, &members[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    epoch_enter(world->ground.record);
    mailbox_assert_empty(&team.mailbox);
    assert_true(is_in_order(bands_table(world->bands)));
    for (unsigned i = 0; i < THREADS * RECORDS; i++)
        set_word(world, members[i / RECORDS].records[i % RECORDS],
                 state_make(members[i / RECORDS].version + 1, 0, PLACE_DEAD));
    for (unsigned i = 0; i < 20; i++) {
        pass_time(world);
        for (unsigned j = 0; j < THREADS; j++)
            epoch_poll(members[j].record);
    }
    trim(world);
    for (unsigned i = 0; i < 20; i++) {
        pass_time(world);
        for (unsigned j = 0; j < THREADS; j++)
            epoch_poll(members[j].record);
    }
    assert_table(world, NULL, 0);
    /* Each id is free. */
    uint32_t free_ids = 0;
    for (uint64_t top = u64_load(&world->bands->ids); ref_record(top) != 0; free_ids++) {
        uint32_t id = ref_record(top);
        assert_null(bands_at(world->bands, id));
        uint32_t chunk = 31 - (uint32_t)__builtin_clz(id / BAND_CHUNK_FIRST + 1);
        const struct band_cell *cells = ptr_load(&world->bands->chunks[chunk]);
        top = u64_load(&cells[id - BAND_CHUNK_FIRST * ((1u << chunk) - 1)].next);
    }
    assert_int_equal(free_ids, u32_load(&world->bands->drawn));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(the_table_is_in_order_however_priorities_come),
        TEST(thousands_of_priorities_lie_in_leaves_that_split),
        TEST(priorities_that_come_at_the_same_time_are_all_there),
        TEST(of_two_who_bring_the_same_priority_both_get_the_same_band),
        TEST(rows_without_pods_lose_their_bits_and_producers_set_them_again),
        TEST(a_bit_is_not_taken_after_a_producer_marked_its_band),
        TEST(a_leaf_without_bits_sleeps_until_a_producer_wakes_it),
        TEST(a_leaf_that_was_noted_is_not_hidden_by_a_look_from_before),
        TEST(a_copy_shows_everything_though_its_leaf_slept),
        TEST(a_band_is_marked_wherever_it_was_found_last),
        TEST(a_band_without_pods_leaves_unless_a_call_keeps_it),
        TEST(rows_that_are_leaving_stay_so_beside_others),
        TEST(a_band_that_is_kept_and_leaves_again_waits_again),
        TEST(rows_that_an_idle_worker_made_leave_go_by_the_calls_of_others),
        TEST(rows_leave_as_fast_as_many_workers_bring_new_ones),
        TEST(while_a_thread_stands_in_a_call_only_few_rows_are_leaving),
        TEST(a_pod_whose_producer_died_before_it_marked_the_band_is_shown),
        TEST(an_id_is_used_again_when_no_section_can_name_it),
        TEST(leaves_without_bits_leave_the_table_but_for_a_few),
        TEST(priorities_that_no_walk_passes_do_not_pile_up),
        TEST(trim_gives_all_memory_back),
        TEST(runs_of_a_band_that_leaves_go_back_to_their_pool),
        TEST(a_priority_is_refused_if_max_others_have_active_pods),
        TEST(without_ids_there_is_no_band),
        TEST(without_memory_there_is_no_band_and_no_id_is_lost),
        TEST(the_lanes_of_a_slot_go_on_in_all_bands_and_shrink),
        TEST(threads_that_bring_mark_and_retire_priorities_agree),
#undef TEST
    };
    return cmocka_run_group_tests_name("lockfree_band", tests, NULL, NULL);
}
