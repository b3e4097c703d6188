/*
 * lockfree/band.h and lockfree/charge.h: the table is in order, says FULL when as many priorities have pods as may have, and
 * retires what has none; ids are given once.
 */
#include <pthread.h>
#include <string.h>

#include "ground.h"
#include "lockfree/band.h"
#include "mailbox.h"

enum { WORKERS = 4 };

struct world {
    struct ground ground;
    struct slab_cache cache;
    struct run_pool pool;
    atomic_u64 reorder;
    atomic_ptr workers[WORKERS_MAX];
    atomic_u64 worker_count;
    struct charge_books books;
    struct charges *charges[WORKERS];
    struct bands *bands;
};

static void
open_bands(world_t *world, uint32_t max)
{
    world->bands = memory_alloc(&world->ground.memory, MEMORY_OTHER, sizeof *world->bands, CACHE_LINE);
    assert_non_null(world->bands);
    assert_true(bands_open(world->bands, &world->ground.memory, &world->ground.entries, &world->reorder, &world->pool,
                           &world->books, max));
}

static int
setup(void **state)
{
    world_t *world = ground_make(sizeof *world);
    run_pool_open(&world->pool, &world->ground.memory);
    u64_store(&world->worker_count, WORKERS_MAX);
    world->books = (struct charge_books){.workers = world->workers, .count = &world->worker_count};
    for (unsigned i = 0; i < WORKERS; i++) {
        world->charges[i] = memory_alloc(&world->ground.memory, MEMORY_OTHER, sizeof(struct charges), CACHE_LINE);
        ptr_store(&world->workers[i * 21], world->charges[i]); /* 0 to 63 */
    }
    epoch_enter(world->ground.record);
    *state = world;
    return 0;
}

static int
teardown(void **state)
{
    world_t *world = *state;
    epoch_leave(world->ground.record);
    bands_close(world->bands);
    memory_free(&world->ground.memory, MEMORY_OTHER, world->bands, sizeof *world->bands);
    for (unsigned i = 0; i < WORKERS; i++) {
        charges_free(world->charges[i], &world->ground.memory);
        memory_free(&world->ground.memory, MEMORY_OTHER, world->charges[i], sizeof(struct charges));
    }
    run_pool_close(&world->pool);
    ground_free(world);
    return 0;
}

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

static struct band *
get(world_t *world, int32_t priority)
{
    schedq_status_t status = SCHEDQ_OK;
    struct band *band = bands_get(world->bands, world->ground.record, priority, false, &status);
    if (band == NULL)
        fail_msg("priority %d: status %d", priority, status);
    else
        assert_int_equal(band->priority, priority);
    return band;
}

static void
assert_refused(world_t *world, int32_t priority, bool exceed, schedq_status_t expected)
{
    schedq_status_t status = SCHEDQ_OK;
    const struct band_table *before = bands_table(world->bands);
    assert_null(bands_get(world->bands, world->ground.record, priority, exceed, &status));
    assert_status(status, expected);
    assert_ptr_equal(bands_table(world->bands), before);
}

static void
enter(world_t *world, unsigned worker, struct band *band)
{
    charge_enter(world->charges[worker], &world->ground.memory, &band->charge, band->id);
}

static void
leave(world_t *world, unsigned worker, struct band *band)
{
    charge_leave(world->charges[worker], &world->ground.memory, &band->charge, band->id);
}

static struct band *
get_used(world_t *world, int32_t priority)
{
    struct band *band = get(world, priority);
    enter(world, 0, band);
    return band;
}

static int32_t
sum(world_t *world, const struct band *band)
{
    uint32_t entered = charge_entered(&world->books, &band->charge, band->id);
    return (int32_t)(entered - charge_left(&world->books, &band->charge, band->id));
}

static bool
is_retired(const struct band *band)
{
    return bin_phase(u64_load(band->bin.word)) == BIN_RETIRED;
}

/* Highest first, each once; the rows are what they say. */
static bool
is_in_order(const struct band_table *table)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const struct band_row *row = &table->rows[i];
        if (row->priority != row->band->priority || row->word != row->band->bin.word)
            return false;
        if (i > 0 && table->rows[i - 1].priority <= row->priority)
            return false;
    }
    return table->count <= table->capacity;
}

static void
assert_table(world_t *world, const int32_t *priorities, uint32_t count)
{
    const struct band_table *table = bands_table(world->bands);
    assert_true(is_in_order(table));
    assert_int_equal(table->count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(table->rows[i].priority, priorities[i]);
}

static void
poll(world_t *world)
{
    epoch_leave(world->ground.record);
    epoch_poll(world->ground.record);
    epoch_enter(world->ground.record);
}

/* ---- order ------------------------------------------------------------------------------------------------------- */

static void
the_table_is_in_order_however_priorities_come(void **state)
{
    world_t *world = *state;
    static const int32_t ordered[] = {INT32_MAX, 1, 0, -1, INT32_MIN};
    for (unsigned permutation = 0; permutation < 5 * 5 * 5 * 5; permutation++) {
        uint32_t known = 0;
        struct band *bands[5];
        open_bands(world, 100);
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
        bands_close(world->bands);
        memory_free(&world->ground.memory, MEMORY_OTHER, world->bands, sizeof *world->bands);
        poll(world);
    }
    open_bands(world, 1);
}

static void
ids_begin_at_one_and_name_their_band(void **state)
{
    world_t *world = *state;
    open_bands(world, 1000);
    for (int32_t i = 0; i < 300; i++) {
        struct band *band = get(world, i * 7919 % 300 - 150);
        assert_int_equal(band->id, i + 1);
        assert_int_equal(band->bin.residence.band, band->id);
        assert_int_equal(band->bin.residence.place, PLACE_ACTIVE);
        assert_ptr_equal(bands_at(world->bands, band->id), band);
    }
    assert_int_equal(bands_table(world->bands)->count, 300);
    assert_true(is_in_order(bands_table(world->bands)));
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
    static const int32_t expected[] = {3, 2};
    open_bands(world, 10);
    assert_true(bands_reserve(world->bands, 5)); /* then only the table is allocated */
    world->ground.hook = bring_two;
    struct band *three = get(world, 3);
    assert_null(world->ground.hook);
    assert_table(world, expected, 2);
    assert_ptr_equal(get(world, 3), three);
    world->ground.hook = bring_three;
    (void)get(world, 4);
    assert_ptr_equal(get(world, 3), three);
}

static void
bring_two_at_the_next_allocation(world_t *world)
{
    world->ground.hook = bring_two;
}

/* The first band needs room for bands: the other one has made it when this one comes with his. */
static void
of_two_who_bring_the_first_priorities_each_gets_a_band(void **state)
{
    world_t *world = *state;
    static const int32_t expected[] = {3, 2};
    open_bands(world, 10);
    world->ground.hook = bring_two_at_the_next_allocation;
    struct band *three = get(world, 3);
    assert_null(world->ground.hook);
    assert_int_equal(three->id, 2);
    assert_ptr_equal(bands_at(world->bands, 2), three);
    assert_table(world, expected, 2);
}

static void
of_two_who_bring_the_same_priority_both_get_the_same_band(void **state)
{
    world_t *world = *state;
    static const int32_t expected[] = {3, 2};
    open_bands(world, 10);
    (void)get(world, 2);
    assert_true(bands_reserve(world->bands, 5));
    world->ground.hook = bring_three;
    struct band *three = get(world, 3);
    assert_table(world, expected, 2);
    assert_ptr_equal(bands_table(world->bands)->rows[0].band, three);
    (void)get(world, 4);
    (void)get(world, 5);
    (void)get(world, 6);
    assert_int_equal(u32_load(&world->bands->ids), 5); /* what was made for nothing is used */
}

/* ---- as many as there may be ------------------------------------------------------------------------------------- */

static void
when_max_priorities_have_pods_another_is_full_unless_it_may_exceed(void **state)
{
    world_t *world = *state;
    static const int32_t expected[] = {9, 3, 2, 1};
    schedq_status_t status;
    open_bands(world, 3);
    assert_false(bands_crowded(world->bands));
    for (int32_t i = 1; i <= 3; i++)
        (void)get_used(world, i);
    assert_true(bands_crowded(world->bands));
    assert_refused(world, 9, false, SCHEDQ_FULL);
    for (int32_t i = 1; i <= 3; i++)
        (void)get(world, i);
    assert_non_null(bands_get(world->bands, world->ground.record, 9, true, &status));
    assert_table(world, expected, 4);
    /* Nobody uses it yet: who may not exceed may not bring a fourth. */
    assert_refused(world, 9, false, SCHEDQ_FULL);
    assert_refused(world, 8, false, SCHEDQ_FULL);
}

static void
a_priority_without_pods_makes_room_and_comes_back_as_another_band(void **state)
{
    world_t *world = *state;
    static const int32_t swapped[] = {9, 3, 1}, back[] = {9, 2, 1};
    open_bands(world, 3);
    struct band *bands[4] = {NULL};
    for (int32_t i = 1; i <= 3; i++)
        bands[i] = get_used(world, i);
    assert_true(bin_mark(&bands[2]->bin));
    leave(world, 0, bands[2]);
    (void)get_used(world, 9);
    assert_true(is_retired(bands[2]));
    assert_false(bin_mark(&bands[2]->bin));
    assert_table(world, swapped, 3);
    assert_refused(world, 2, false, SCHEDQ_FULL);
    leave(world, 0, bands[3]);
    struct band *again = get_used(world, 2);
    assert_ptr_not_equal(again, bands[2]);
    assert_true(again->id > bands[2]->id);
    assert_true(bin_mark(&again->bin));
    assert_table(world, back, 3);
    assert_ptr_equal(bands_at(world->bands, bands[2]->id), bands[2]); /* words that name it still may */
}

static void
the_first_band_without_pods_is_enough(void **state)
{
    world_t *world = *state;
    open_bands(world, 5);
    struct band *bands[5];
    for (int32_t i = 0; i < 5; i++)
        bands[i] = get(world, i);
    (void)get(world, 9);
    unsigned retired = 0;
    for (unsigned i = 0; i < 5; i++)
        retired += is_retired(bands[i]) ? 1 : 0;
    assert_int_equal(retired, 1);
    assert_int_equal(bands_table(world->bands)->count, 5);
}

/* Sums may be wrong for a moment; the bin knows. */
static void
a_band_with_a_ref_in_it_is_not_retired_though_nobody_is_counted(void **state)
{
    world_t *world = *state;
    open_bands(world, 1);
    struct band *band = get(world, 1);
    uint32_t record = slab_take(&world->ground.entries.records, &world->cache);
    const struct bin_caller caller = {
        .memory = &world->ground.memory, .epoch = world->ground.record, .pool = &world->pool};
    (void)u64_exchange(&entry_at(&world->ground.entries, record)->word.low, state_make(5, band->id, PLACE_ACTIVE));
    assert_true(bin_prepare(&band->bin, &caller, 1));
    lane_put(bin_lane(&band->bin, 0), ref_make(5, record), 1);
    lane_publish(bin_lane(&band->bin, 0));
    assert_true(bin_mark(&band->bin));
    (void)get(world, 2);
    assert_false(is_retired(band));
    (void)u64_exchange(&entry_at(&world->ground.entries, record)->word.low, state_make(6, band->id, PLACE_DEAD));
    (void)get(world, 3);
    assert_true(is_retired(band));
}

static void
what_exceeded_is_given_back_when_there_is_room(void **state)
{
    world_t *world = *state;
    static const int32_t expected[] = {9, 5};
    schedq_status_t status;
    open_bands(world, 2);
    struct band *bands[6];
    for (int32_t i = 0; i < 6; i++) {
        bands[i] = bands_get(world->bands, world->ground.record, i, true, &status);
        enter(world, 0, bands[i]);
    }
    assert_int_equal(bands_table(world->bands)->count, 6);
    for (unsigned i = 0; i < 5; i++)
        leave(world, 0, bands[i]);
    (void)get(world, 9);
    assert_table(world, expected, 2);
}

static void
a_queue_has_65535_bands_in_its_life(void **state)
{
    world_t *world = *state;
    open_bands(world, 1);
    for (int32_t i = 1; i <= BANDS_MAX; i++) {
        struct band *band = get(world, i);
        if (band->id != (uint32_t)i)
            fail_msg("priority %d has id %u", i, band->id);
        if (i % 64 == 0)
            poll(world);
    }
    struct band *last = get(world, BANDS_MAX);
    assert_int_equal(last->id, BANDS_MAX);
    enter(world, 0, last);
    assert_refused(world, 0, true, SCHEDQ_FULL);
    assert_refused(world, 0, false, SCHEDQ_FULL);
    assert_ptr_equal(get(world, BANDS_MAX), last);
    assert_false(is_retired(last));
    assert_false(bands_reserve(world->bands, BANDS_MAX + 1));
    assert_true(bands_reserve(world->bands, BANDS_MAX));
}

/* ---- charges ----------------------------------------------------------------------------------------------------- */

static void
pods_are_counted_over_all_workers(void **state)
{
    world_t *world = *state;
    open_bands(world, 2);
    struct band *first = get(world, 1), *second = get(world, 2);
    for (unsigned i = 0; i < 30; i++)
        enter(world, i % WORKERS, first);
    for (unsigned i = 0; i < 29; i++)
        leave(world, WORKERS - 1, first); /* others take out what one brought in */
    enter(world, 3, second);
    assert_int_equal(sum(world, first), 1);
    assert_int_equal(sum(world, second), 1);
    assert_refused(world, 3, false, SCHEDQ_FULL);
    leave(world, 2, first);
    assert_int_equal(sum(world, first), 0);
    (void)get(world, 3);
    assert_true(is_retired(first));
    assert_int_equal(sum(world, second), 1);
}

static void
each_change_of_a_count_raises_one_of_two_sums(void **state)
{
    world_t *world = *state;
    open_bands(world, 2);
    struct band *band = get(world, 1);
    for (uint32_t i = 0; i < 40; i++) {
        assert_int_equal(sum(world, band), (int)(i % 2));
        assert_int_equal(charge_entered(&world->books, &band->charge, band->id), (i + 1) / 2);
        assert_int_equal(charge_left(&world->books, &band->charge, band->id), i / 2);
        if (i % 2 == 0)
            enter(world, i % WORKERS, band);
        else
            leave(world, i / 2 % WORKERS, band);
    }
}

static void
a_worker_without_memory_for_its_counts_counts_in_the_band(void **state)
{
    world_t *world = *state;
    open_bands(world, 2);
    struct band *band = get(world, 1);
    atomic_store(&world->ground.account.fail_all, true);
    for (unsigned i = 0; i < 3; i++)
        enter(world, i, band);
    leave(world, 0, band);
    (void)account_heal(&world->ground.account);
    assert_int_equal(sum(world, band), 2);
    leave(world, 1, band);
    leave(world, 2, band);
    assert_int_equal(sum(world, band), 0);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void
reserved_bands_are_used_before_others_are_made(void **state)
{
    world_t *world = *state;
    open_bands(world, 1000);
    assert_true(bands_reserve(world->bands, 100));
    assert_int_equal(u32_load(&world->bands->ids), 100);
    assert_true(bands_reserve(world->bands, 50));
    assert_int_equal(u32_load(&world->bands->ids), 100);
    assert_int_equal(bands_table(world->bands)->count, 0);
    uint32_t seen[101] = {0};
    for (int32_t i = 0; i < 100; i++)
        seen[get(world, i)->id]++;
    for (unsigned i = 1; i <= 100; i++)
        assert_int_equal(seen[i], 1);
    assert_int_equal(get(world, 100)->id, 101);
}

static void
without_memory_there_is_no_band_and_no_id_is_lost(void **state)
{
    world_t *world = *state;
    open_bands(world, 1000);
    /* Allocations: the band, its chunk, the table. */
    for (int64_t successes = 0; successes < 3; successes++) {
        account_fail_after(&world->ground.account, successes);
        assert_refused(world, 5, successes % 2 == 0, SCHEDQ_NOMEM);
        assert_true(account_heal(&world->ground.account));
    }
    atomic_store(&world->ground.account.fail_all, true);
    assert_refused(world, 5, false, SCHEDQ_NOMEM); /* the band is there, the table is not */
    assert_false(bands_reserve(world->bands, 2));
    (void)account_heal(&world->ground.account);
    assert_int_equal(get(world, 5)->id, 1);
    assert_int_equal(get(world, 6)->id, 2);
    struct bands *open = world->bands;
    struct bands *other = memory_alloc(&world->ground.memory, MEMORY_OTHER, sizeof *other, CACHE_LINE);
    atomic_store(&world->ground.account.fail_all, true);
    assert_false(bands_open(other, &world->ground.memory, &world->ground.entries, &world->reorder, &world->pool,
                            &world->books, 1));
    (void)account_heal(&world->ground.account);
    bands_close(other);
    memory_free(&world->ground.memory, MEMORY_OTHER, other, sizeof *other);
    assert_ptr_equal(world->bands, open);
}

/* ---- lanes of a worker ------------------------------------------------------------------------------------------- */

static void
the_lanes_of_a_slot_go_on_in_all_bands_and_shrink(void **state)
{
    world_t *world = *state;
    enum { BANDS = 130, PUT = 100 };
    open_bands(world, 1000);
    for (int32_t i = 0; i < BANDS; i++) {
        struct band *band = get(world, i);
        const struct bin_caller caller = {.worker = (uint32_t)i % 2,
                                          .memory = &world->ground.memory,
                                          .epoch = world->ground.record,
                                          .pool = &world->pool};
        struct lane *lane;
        assert_true(bin_prepare(&band->bin, &caller, PUT));
        lane = bin_lane(&band->bin, caller.worker);
        lane_put(lane, ref_make(5, 1), 1);
        lane_publish(lane);
        lane_put(lane, ref_make(6, 1), 2); /* and its owner died */
    }
    bands_resume(world->bands, 1);
    bands_shrink(world->bands, world->ground.record, 1);
    for (uint32_t id = 1; id <= BANDS; id++) {
        const struct bin *bin = &bands_at(world->bands, id)->bin;
        const struct lane *lane = bin_lane(bin, 1 - id % 2);
        const struct segment *segment = ptr_load(&lane->last);
        bool mine = id % 2 == 0;
        assert_null(bin_lane(bin, id % 2));
        assert_int_equal(lane->tail, mine ? 0 : 2); /* the record was never a pod: stale, and left out */
        assert_int_equal(segment->ring.size, mine ? 16 : 128);
    }
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

enum { THREADS = 3, ROUNDS = 4000, PRIORITIES = 8, MAX = 4 };

typedef struct team {
    world_t *world;
    mailbox_t mailbox;
    atomic_u32 retired, refused;
} team_t;

typedef struct member {
    pthread_t thread;
    team_t *team;
    struct epoch_record *record;
    unsigned worker;
    uint64_t seed;
} member_t;

static uint32_t
draw(member_t *member, uint32_t below)
{
    member->seed = member->seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(member->seed >> 33) % below;
}

/* Counts a pod to a band that it may use, as adding does, and off it. */
static void
use(member_t *member)
{
    team_t *team = member->team;
    world_t *world = team->world;
    int32_t priority = (int32_t)draw(member, PRIORITIES) - PRIORITIES / 2;
    schedq_status_t status = SCHEDQ_OK;
    struct band *band = bands_get(world->bands, member->record, priority, draw(member, 10) == 0, &status);
    mailbox_check(&team->mailbox, is_in_order(bands_table(world->bands)));
    if (band == NULL) {
        mailbox_check(&team->mailbox, status == SCHEDQ_FULL);
        (void)u32_add(&team->refused, 1);
        return;
    }
    mailbox_check(&team->mailbox, band->priority == priority && bands_at(world->bands, band->id) == band);
    charge_enter(world->charges[member->worker], &world->ground.memory, &band->charge, band->id);
    atomic_fence();
    if (!bin_mark(&band->bin))
        (void)u32_add(&team->retired, 1);
    charge_leave(world->charges[member->worker], &world->ground.memory, &band->charge, band->id);
}

static void *
member_main(void *argument)
{
    member_t *member = argument;
    for (unsigned round = 0; round < ROUNDS; round++) {
        epoch_enter(member->record);
        use(member);
        epoch_leave(member->record);
        epoch_poll(member->record);
    }
    return NULL;
}

static void
threads_that_bring_and_retire_priorities_see_a_table_in_order(void **state)
{
    world_t *world = *state;
    static team_t team;
    static member_t members[THREADS];
    memset((void *)&team, 0, sizeof team);
    team.world = world;
    mailbox_init(&team.mailbox);
    open_bands(world, MAX);
    for (unsigned i = 0; i < THREADS; i++) {
        members[i] =
            (member_t){.team = &team, .worker = i, .seed = i, .record = epoch_record_make(world->ground.epoch)};
        assert_int_equal(pthread_create(&members[i].thread, NULL, member_main, &members[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    mailbox_assert_empty(&team.mailbox);
    uint32_t ids = u32_load(&world->bands->ids);
    assert_true(ids > PRIORITIES);
    /* Every object is in the table, was retired, or is there to be used. */
    uint32_t live = 0, retired = 0, spare = 0;
    for (uint32_t id = 1; id <= ids; id++)
        retired += is_retired(bands_at(world->bands, id)) ? 1 : 0;
    for (uint32_t id = ref_record(u64_load(&world->bands->spare)); id != 0; spare++)
        id = (uint32_t)u64_load(&bands_at(world->bands, id)->next_spare);
    const struct band_table *table = bands_table(world->bands);
    for (uint32_t i = 0; i < table->count; i++)
        live += is_retired(table->rows[i].band) ? 0 : 1;
    assert_int_equal(live + retired + spare, ids);
    for (uint32_t id = 1; id <= ids; id++)
        assert_int_equal(sum(world, bands_at(world->bands, id)), 0);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(the_table_is_in_order_however_priorities_come),
        TEST(ids_begin_at_one_and_name_their_band),
        TEST(priorities_that_come_at_the_same_time_are_all_there),
        TEST(of_two_who_bring_the_first_priorities_each_gets_a_band),
        TEST(of_two_who_bring_the_same_priority_both_get_the_same_band),
        TEST(when_max_priorities_have_pods_another_is_full_unless_it_may_exceed),
        TEST(a_priority_without_pods_makes_room_and_comes_back_as_another_band),
        TEST(the_first_band_without_pods_is_enough),
        TEST(a_band_with_a_ref_in_it_is_not_retired_though_nobody_is_counted),
        TEST(what_exceeded_is_given_back_when_there_is_room),
        TEST(a_queue_has_65535_bands_in_its_life),
        TEST(pods_are_counted_over_all_workers),
        TEST(each_change_of_a_count_raises_one_of_two_sums),
        TEST(a_worker_without_memory_for_its_counts_counts_in_the_band),
        TEST(reserved_bands_are_used_before_others_are_made),
        TEST(without_memory_there_is_no_band_and_no_id_is_lost),
        TEST(the_lanes_of_a_slot_go_on_in_all_bands_and_shrink),
        TEST(threads_that_bring_and_retire_priorities_see_a_table_in_order),
#undef TEST
    };
    return cmocka_run_group_tests_name("lockfree_band", tests, NULL, NULL);
}
