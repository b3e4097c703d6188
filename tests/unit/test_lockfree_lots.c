/*
 * lockfree/refs/lots.h: a key has one lot, and who reads it meets every pod that was published
 * there before; whatever other threads make, publish, drop and pass meanwhile.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "ground.h"
#include "lockfree/refs/lots.h"
#include "mailbox.h"

enum { PODS = 3000, MAX_LOTS = 8, WORKERS = 4 };

struct world {
    struct ground ground;
    struct slab_cache cache;
    struct lots lots;
    struct bin_caller callers[WORKERS];
    int64_t insertions[WORKERS]; /* each worker's own */
    uint32_t records[PODS];
};

static bool
open_lots(struct lots *lots, struct memory *memory, const struct entries *entries, uint32_t max)
{
    lots_open(lots, memory, entries, max);
    return lots_make(lots);
}

static int
setup(void **state)
{
    world_t *world = ground_make(sizeof *world);
    assert_true(open_lots(&world->lots, &world->ground.memory, &world->ground.entries, MAX_LOTS));
    for (unsigned i = 0; i < PODS; i++)
        world->records[i] = slab_take(&world->ground.entries.records, &world->cache);
    for (uint32_t i = 0; i < WORKERS; i++)
        world->callers[i] = (struct bin_caller){.worker = i,
                                                .memory = &world->ground.memory,
                                                .epoch = epoch_record_make(world->ground.epoch)};
    epoch_enter(world->callers[0].epoch);
    *state = world;
    return 0;
}

static int
teardown(void **state)
{
    world_t *world = *state;
    epoch_leave(world->callers[0].epoch);
    lots_close(&world->lots);
    ground_free(world);
    return 0;
}

/* ---- helpers --------------------------------------------------------------------------------- */

static struct lot_key
key_of(unsigned number)
{
    return (struct lot_key){.unschedulable = number};
}

static struct lot *
get(world_t *world, unsigned number)
{
    const struct lot_key key = key_of(number);
    return lots_get(&world->lots, &key);
}

static unsigned
count_lots(const world_t *world)
{
    uint32_t cursor = 0;
    unsigned count = 0;
    while (lots_next(&world->lots, &cursor) != NULL)
        count++;
    return count;
}

static struct entry *
entry_of(world_t *world, unsigned pod)
{
    return entry_at(&world->ground.entries, world->records[pod]);
}

static void
set_word(world_t *world, unsigned pod, uint64_t version, enum place place)
{
    (void)u64_exchange(&entry_of(world, pod)->word.low, state_make(version, 0, place));
}

static bool
publish(world_t *world, struct lot *lot, uint32_t worker, unsigned pod, uint64_t version)
{
    if (!lot_prepare(lot, &world->callers[worker], 1))
        return false;
    lot_publish(lot, worker, ref_make(version, world->records[pod]), ++world->insertions[worker]);
    return true;
}

static void
park(world_t *world, struct lot *lot, uint32_t worker, unsigned pod, uint64_t version)
{
    assert_true(publish(world, lot, worker, pod, version));
    set_word(world, pod, version, PLACE_PARKED);
}

/* How often each record is met; `capacity` at once. */
static unsigned
read_lot(world_t *world, struct lot *lot, size_t capacity, unsigned *met)
{
    uint64_t refs[64];
    struct lot_reader reader;
    size_t count;
    unsigned sum = 0;
    memset(met, 0, PODS * sizeof *met);
    lot_read_begin(&reader, lot, &world->callers[0], INT64_MAX);
    while ((count = lot_read(&reader, refs, capacity)) > 0) {
        assert_true(count <= capacity);
        sum += (unsigned)count;
        for (size_t i = 0; i < count; i++) {
            const struct entry *entry = entry_at(&world->ground.entries, ref_record(refs[i]));
            if (state_judge(entry_state(entry), refs[i], lot->residence.place,
                            lot->residence.band) == VERDICT_STALE)
                lot_found_stale(&reader, 1);
            for (unsigned pod = 0; pod < PODS; pod++)
                met[pod] += world->records[pod] == ref_record(refs[i]) ? 1 : 0;
        }
    }
    assert_int_equal(lot_read(&reader, refs, capacity), 0);
    return sum;
}

static unsigned met[PODS];

/* ---- keys ------------------------------------------------------------------------------------ */

static void
equal_keys_have_one_lot_and_each_difference_makes_another(void **state)
{
    world_t *world = *state;
    static const struct lot_key keys[] = {{0},
                                          {.unschedulable = 1},
                                          {.pending = 1},
                                          {.profile = 1},
                                          {.gate = 1},
                                          {.unschedulable = UINT64_C(1) << 63}};
    struct lot *lots[6];
    for (unsigned i = 0; i < 6; i++) {
        lots[i] = lots_get(&world->lots, &keys[i]);
        assert_false(lots[i]->catch_all);
        assert_memory_equal(&lots[i]->key, &keys[i], sizeof keys[i]);
        for (unsigned j = 0; j < i; j++)
            assert_ptr_not_equal(lots[i], lots[j]);
    }
    for (unsigned i = 0; i < 6; i++)
        assert_ptr_equal(lots_get(&world->lots, &keys[i]), lots[i]);
    assert_int_equal(count_lots(world), 7);
}

/* In a table of two cells. */
static void
keys_that_meet_in_the_table_are_told_apart(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < 50; i++) {
        static struct lots lots;
        const struct lot_key known = key_of(i);
        struct lot_key others[4] = {known, known, known, known};
        others[0].unschedulable = i + 1;
        others[1].pending = 1;
        others[2].profile = 1;
        others[3].gate = 1;
        memset((void *)&lots, 0, sizeof lots);
        assert_true(open_lots(&lots, &world->ground.memory, &world->ground.entries, 1));
        assert_false(lots_get(&lots, &known)->catch_all);
        for (unsigned j = 0; j < 4; j++)
            assert_true(lots_get(&lots, &others[j])->catch_all);
        lots_close(&lots);
    }
}

static void
keys_beyond_the_maximum_share_the_catch_all_and_known_ones_do_not(void **state)
{
    world_t *world = *state;
    struct lot *first = get(world, 0);
    for (unsigned i = 1; i < MAX_LOTS; i++)
        assert_false(get(world, i)->catch_all);
    for (unsigned i = MAX_LOTS; i < 100; i++)
        assert_ptr_equal(get(world, i), &world->lots.catch_all);
    assert_true(world->lots.catch_all.catch_all);
    assert_ptr_equal(get(world, 0), first);
    assert_int_equal(count_lots(world), MAX_LOTS + 1);
}

static void
without_memory_a_new_key_gets_the_catch_all_and_later_a_lot(void **state)
{
    world_t *world = *state;
    struct lot *known = get(world, 0);
    atomic_store(&world->ground.account.fail_all, true);
    assert_ptr_equal(get(world, 1), &world->lots.catch_all);
    assert_ptr_equal(get(world, 0), known);
    (void)account_heal(&world->ground.account);
    assert_false(get(world, 1)->catch_all);
    assert_int_equal(count_lots(world), 3);
}

static void
lots_that_could_not_be_opened_can_be_closed(void **state)
{
    world_t *world = *state;
    for (int64_t successes = 0; successes < 2; successes++) {
        static struct lots lots;
        memset((void *)&lots, 0, sizeof lots);
        account_fail_after(&world->ground.account, successes);
        assert_false(open_lots(&lots, &world->ground.memory, &world->ground.entries, 5));
        assert_true(account_heal(&world->ground.account));
        lots_close(&lots);
    }
}

static void
the_smallest_maximum_is_one_lot(void **state)
{
    world_t *world = *state;
    static struct lots lots;
    const struct lot_key one = key_of(1), two = key_of(2);
    memset((void *)&lots, 0, sizeof lots);
    assert_true(open_lots(&lots, &world->ground.memory, &world->ground.entries, 1));
    assert_false(lots_get(&lots, &one)->catch_all);
    assert_true(lots_get(&lots, &two)->catch_all);
    assert_ptr_equal(lots_get(&lots, &one), lots_get(&lots, &one));
    lots_close(&lots);
}

static void
an_iteration_meets_the_catch_all_and_then_all_lots_in_the_order_of_their_making(void **state)
{
    world_t *world = *state;
    uint32_t cursor = 0;
    assert_ptr_equal(lots_next(&world->lots, &cursor), &world->lots.catch_all);
    assert_null(lots_next(&world->lots, &cursor));
    for (unsigned i = 0; i < MAX_LOTS; i++) {
        struct lot *lot = get(world, 100 - i);
        assert_ptr_equal(lots_next(&world->lots, &cursor), lot); /* also one that came meanwhile */
        assert_null(lots_next(&world->lots, &cursor));
    }
}

static void
make_another(world_t *world)
{
    (void)get(world, 1);
}

static void
make_the_same(world_t *world)
{
    (void)get(world, 7);
}

static void
of_two_that_make_the_same_lot_one_gets_that_of_the_other(void **state)
{
    world_t *world = *state;
    world->ground.hook = make_the_same;
    struct lot *lot = get(world, 7);
    assert_null(world->ground.hook);
    assert_false(lot->catch_all);
    assert_ptr_equal(get(world, 7), lot);
    assert_int_equal(count_lots(world), 2);
}

static void
of_two_that_make_different_lots_each_gets_its_own(void **state)
{
    world_t *world = *state;
    world->ground.hook = make_another;
    struct lot *lot = get(world, 7);
    assert_null(world->ground.hook);
    assert_int_equal(lot->key.unschedulable, 7);
    assert_int_equal(get(world, 1)->key.unschedulable, 1);
    assert_ptr_equal(get(world, 7), lot);
    assert_int_equal(count_lots(world), 3);
}

static void
two_that_make_different_lots_do_not_exceed_the_maximum(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < MAX_LOTS - 1; i++)
        (void)get(world, 100 + i);
    world->ground.hook = make_another;
    assert_ptr_equal(get(world, 7), &world->lots.catch_all);
    assert_null(world->ground.hook);
    assert_int_equal(get(world, 1)->key.unschedulable, 1);
    assert_int_equal(count_lots(world), MAX_LOTS + 1);
}

/* Its maker stopped before he put it into the table. */
static struct lot *
leave_half_made(world_t *world, unsigned number)
{
    struct lot *lot = memory_alloc(&world->ground.memory, MEMORY_QUEUES, sizeof *lot, CACHE_LINE);
    lot->key = key_of(number);
    lot->residence = world->lots.catch_all.residence;
    atomic_ptr *order = ptr_load(&world->lots.order);
    (void)ptr_exchange(&order[u32_load(&world->lots.indexed)], lot);
    return lot;
}

static void
a_lot_whose_maker_stopped_is_met_and_found_and_others_are_made_behind_it(void **state)
{
    world_t *world = *state;
    for (unsigned other = 0; other < 2; other++) {
        struct lot *lot = leave_half_made(world, 50 + other);
        assert_int_equal(count_lots(world), 2 + 2 * other);
        if (other == 0)
            assert_int_equal(get(world, 60)->key.unschedulable, 60);
        assert_ptr_equal(get(world, 50 + other), lot);
        if (other == 1)
            assert_int_equal(get(world, 61)->key.unschedulable, 61);
        assert_int_equal(count_lots(world), 3 + 2 * other);
    }
    for (unsigned i = 4; i < MAX_LOTS; i++)
        assert_false(get(world, i)->catch_all);
    assert_true(get(world, 99)->catch_all);
}

static unsigned
cells_of(const struct lots *lots, const struct lot *lot)
{
    unsigned cells = 0;
    atomic_ptr *table = ptr_load(&lots->table);
    for (uint32_t i = 0; i <= lots->mask; i++)
        cells += ptr_load(&table[i]) == (const void *)lot ? 1 : 0;
    return cells;
}

static void
a_lot_whose_maker_stopped_behind_the_table_is_not_put_there_twice(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < MAX_LOTS; i += 2) {
        struct lot *lot = get(world, i);
        (void)u32_exchange(&world->lots.indexed, i); /* he did not say so */
        assert_ptr_equal(get(world, i), lot);
        assert_int_equal(get(world, i + 1)->key.unschedulable, i + 1);
        assert_int_equal(cells_of(&world->lots, lot), 1);
    }
    assert_int_equal(count_lots(world), MAX_LOTS + 1);
}

/* ---- refs ------------------------------------------------------------------------------------ */

static void
reading_meets_what_every_worker_published_and_takes_nothing(void **state)
{
    world_t *world = *state;
    struct lot *lot = get(world, 1);
    assert_int_equal(read_lot(world, lot, 64, met), 0);
    for (unsigned i = 0; i < 200; i++)
        park(world, lot, i % WORKERS, i, 5);
    park(world, get(world, 2), 0, 200, 5);
    for (size_t capacity = 1; capacity <= 64; capacity *= 4) {
        assert_int_equal(read_lot(world, lot, capacity, met), 200);
        for (unsigned i = 0; i < PODS; i++)
            assert_int_equal(met[i], i < 200 ? 1 : 0);
    }
}

static void
the_catch_all_holds_refs_like_any_lot(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < 20; i++)
        park(world, &world->lots.catch_all, i % WORKERS, i, 5);
    assert_int_equal(read_lot(world, &world->lots.catch_all, 7, met), 20);
}

static void
what_is_published_behind_a_reader_is_left_for_the_next_one(void **state)
{
    world_t *world = *state;
    struct lot *lot = get(world, 1);
    struct lot_reader reader;
    uint64_t refs[8];
    park(world, lot, 0, 0, 5);
    lot_read_begin(&reader, lot, &world->callers[0], INT64_MAX);
    assert_int_equal(lot_read(&reader, refs, 8), 1);
    park(world, lot, 0, 1, 5);
    assert_int_equal(lot_read(&reader, refs, 8), 0);
    assert_int_equal(read_lot(world, lot, 8, met), 2);
}

static void
a_reader_does_not_meet_what_it_published_itself_since_it_began(void **state)
{
    world_t *world = *state;
    struct lot *lot = get(world, 1);
    struct lot_reader reader;
    uint64_t refs[8];
    park(world, lot, 1, 0, 5);
    park(world, lot, 1, 1, 5);
    int64_t newest = world->insertions[1];
    park(world, lot, 1, 2, 5);
    park(world, lot, 0, 3, 5);
    park(world, lot, 0, 4, 5);
    park(world, lot, 0, 5, 5);
    lot_read_begin(&reader, lot, &world->callers[1], newest);
    unsigned count = 0;
    for (size_t read = 0; (read = lot_read(&reader, refs, 8)) > 0;)
        count += (unsigned)read;
    assert_int_equal(count, 5); /* of the others all */
    lot_read_begin(&reader, lot, &world->callers[2], 0);
    for (count = 0; lot_read(&reader, refs, 1) > 0;)
        count++;
    assert_int_equal(count, 6);
}

static void
a_lot_may_have_affinity_from_the_first_such_pod_on(void **state)
{
    world_t *world = *state;
    struct lot *lot = get(world, 1);
    assert_false(lot_may_have_affinity(lot));
    for (unsigned i = 0; i < 2; i++) {
        lot_note_affinity(lot);
        assert_true(lot_may_have_affinity(lot));
    }
    assert_false(lot_may_have_affinity(get(world, 2)));
}

static void
parked_and_gated_pods_are_valid_in_a_lot_and_others_are_not(void **state)
{
    world_t *world = *state;
    struct lot *lot = get(world, 1);
    const struct residence *residence = &lot->residence;
    static const struct {
        enum place place;
        uint64_t version;
        enum verdict verdict;
    } cases[] = {{PLACE_PARKED, 5, VERDICT_VALID},   {PLACE_GATED, 5, VERDICT_VALID},
                 {PLACE_ACTIVE, 5, VERDICT_STALE},   {PLACE_BACKOFF, 5, VERDICT_STALE},
                 {PLACE_INFLIGHT, 5, VERDICT_STALE}, {PLACE_INFLIGHT, 4, VERDICT_FUTURE},
                 {PLACE_PARKED, 6, VERDICT_STALE}};
    for (unsigned i = 0; i < 7; i++) {
        set_word(world, 0, cases[i].version, cases[i].place);
        assert_int_equal(state_judge(entry_state(entry_of(world, 0)),
                                     ref_make(5, world->records[0]), residence->place,
                                     residence->band),
                         cases[i].verdict);
    }
}

static void
without_memory_nothing_is_prepared_and_what_was_there_stays(void **state)
{
    world_t *world = *state;
    struct lot *lot = get(world, 1);
    atomic_store(&world->ground.account.fail_all, true);
    assert_false(publish(world, lot, 0, 0, 5));
    (void)account_heal(&world->ground.account);
    unsigned parked = 0;
    park(world, lot, 0, parked++, 5);
    atomic_store(&world->ground.account.fail_all, true);
    while (publish(world, lot, 0, parked, 5))
        set_word(world, parked++, 5, PLACE_PARKED);
    (void)account_heal(&world->ground.account);
    assert_int_equal(read_lot(world, lot, 64, met), parked);
}

static void
passing_drops_stale_refs_of_all_workers_up_to_a_live_or_early_one(void **state)
{
    world_t *world = *state;
    struct lot *lot = get(world, 1);
    for (unsigned i = 0; i < 40; i++)
        park(world, lot, i % 2, i, 5);
    lot_pass(lot, &world->callers[0]);
    assert_int_equal(read_lot(world, lot, 64, met), 40);
    for (unsigned i = 0; i < 40; i++)
        set_word(world, i, 6, PLACE_ACTIVE);
    set_word(world, 20, 5, PLACE_GATED);
    set_word(world, 31, 4, PLACE_INFLIGHT); /* early */
    lot_pass(lot, &world->callers[0]);
    /* of a segment of 15 each; all others are empty */
    assert_int_equal(read_lot(world, lot, 64, met), 5 + 5);
    assert_int_equal(met[20], 1);
    assert_int_equal(met[31], 1);
    assert_true(state_place(entry_state(entry_of(world, 31))) == PLACE_INFLIGHT);
    set_word(world, 20, 6, PLACE_ACTIVE);
    set_word(world, 31, 6, PLACE_ACTIVE);
    lot_pass(lot, &world->callers[0]);
    assert_int_equal(read_lot(world, lot, 64, met), 0);
}

static void
an_old_pod_that_stays_does_not_keep_the_refs_of_those_that_went(void **state)
{
    world_t *world = *state;
    struct lot *lot = get(world, 1);
    for (unsigned i = 0; i < 1000; i++)
        park(world, lot, 0, i, 5);
    for (unsigned i = 1; i < 1000; i++)
        set_word(world, i, 6, PLACE_ACTIVE);
    lot_pass(lot, &world->callers[0]);
    assert_true(read_lot(world, lot, 64, met) < SEGMENT_SLOTS_MIN); /* although its owner is idle */
    park(world, lot, 0, 1000, 5);
    assert_true(read_lot(world, lot, 64, met) <= SEGMENT_SLOTS_MIN);
    assert_int_equal(met[0] + met[1000], 2);
}

static void
a_worker_goes_on_where_its_last_owner_published(void **state)
{
    world_t *world = *state;
    struct lot *lot = get(world, 1);
    park(world, lot, 2, 0, 5);
    park(world, &world->lots.catch_all, 2, 1, 5);
    struct lane *lanes[] = {ptr_load(&lot->lanes[2]), ptr_load(&world->lots.catch_all.lanes[2])};
    for (unsigned i = 0; i < 2; i++)
        /* and he died */
        lane_put(lanes[i], ref_make(5, world->records[10 + i]), world->insertions[2]);
    lots_resume(&world->lots, 2);
    park(world, lot, 2, 2, 5);
    park(world, &world->lots.catch_all, 2, 3, 5);
    assert_int_equal(read_lot(world, lot, 64, met), 2);
    assert_int_equal(met[0] + met[2], 2);
    assert_int_equal(read_lot(world, &world->lots.catch_all, 64, met), 2);
    assert_int_equal(met[1] + met[3], 2);
}

static void
the_lanes_of_a_worker_shrink_to_what_is_live_and_those_of_others_stay(void **state)
{
    world_t *world = *state;
    struct lot *lots[] = {get(world, 1), &world->lots.catch_all};
    for (unsigned i = 0; i < 400; i++)
        park(world, lots[i % 2], i / 2 % 2, i, 5);
    for (unsigned i = 4; i < 400; i++)
        set_word(world, i, 6, PLACE_ACTIVE);
    lots_shrink(&world->lots, &world->ground.memory, world->callers[0].epoch, 1);
    lots_shrink(&world->lots, &world->ground.memory, world->callers[0].epoch, 3); /* it has none */
    for (unsigned i = 0; i < 2; i++) {
        assert_true(read_lot(world, lots[i], 64, met) < 100 + SEGMENT_SLOTS_MIN);
        assert_int_equal(met[i] + met[2 + i], 2);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { KEYS = 12, ROUNDS = 1000, MOVES = 40000 };

typedef struct team {
    world_t *world;
    mailbox_t mailbox;
    atomic_u32 working;
    uint64_t met[PODS]; /* the reader's: by record's pod, the word at which it was met */
    uint64_t readings;
} team_t;

typedef struct member {
    pthread_t thread;
    team_t *team;
    uint32_t worker;
    struct lots *lots;
    atomic_u32 *waiting; /* members that have not come yet */
    struct lot *got[KEYS];
    uint64_t random;
} member_t;

static uint64_t
draw(member_t *member)
{
    member->random = member->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return member->random >> 33;
}

static void *
get_all(void *argument)
{
    member_t *member = argument;
    (void)u32_add(member->waiting, UINT32_MAX);
    while (u32_load_acquire(member->waiting) != 0)
        (void)sched_yield();
    for (unsigned i = 0; i < KEYS; i++) {
        /* two come to each key at once */
        unsigned number = (i * 5 + member->worker / 2 * 3) % KEYS;
        const struct lot_key key = key_of(number);
        member->got[number] = lots_get(member->lots, &key);
    }
    return NULL;
}

static void
check_got(const struct lots *lots, const member_t *members)
{
    unsigned own = 0;
    uint32_t cursor = 0;
    for (unsigned key = 0; key < KEYS; key++) {
        const struct lot *lot = members[0].got[key];
        for (unsigned i = 0; i < WORKERS; i++)
            lot = members[i].got[key]->catch_all ? lot : members[i].got[key];
        for (unsigned i = 0; i < WORKERS; i++)
            assert_true(members[i].got[key] == lot || members[i].got[key]->catch_all);
        assert_true(lot->catch_all || lot->key.unschedulable == key);
        own += lot->catch_all ? 0 : 1;
    }
    assert_int_equal(own, MAX_LOTS);
    for (own = 0; lots_next(lots, &cursor) != NULL;)
        own++;
    assert_int_equal(own, MAX_LOTS + 1);
}

static void
threads_that_make_lots_at_once_get_the_same_and_no_more_than_the_maximum(void **state)
{
    world_t *world = *state;
    static member_t members[WORKERS];
    static atomic_u32 waiting;
    for (unsigned round = 0; round < ROUNDS; round++) {
        static struct lots lots;
        memset((void *)&lots, 0, sizeof lots);
        assert_true(open_lots(&lots, &world->ground.memory, &world->ground.entries, MAX_LOTS));
        (void)u32_exchange(&waiting, WORKERS);
        for (uint32_t i = 0; i < WORKERS; i++) {
            members[i] = (member_t){.lots = &lots, .waiting = &waiting, .worker = i};
            assert_int_equal(pthread_create(&members[i].thread, NULL, get_all, &members[i]), 0);
        }
        for (unsigned i = 0; i < WORKERS; i++)
            assert_int_equal(pthread_join(members[i].thread, NULL), 0);
        check_got(&lots, members);
        lots_close(&lots);
    }
}

enum { MOVERS = WORKERS - 1, OWN = PODS / MOVERS, STANDING = 3 };

/* Publish, then switch, as parking does; the first few of each worker are parked once and stay. */
static void
park_again(member_t *member, unsigned pod)
{
    world_t *world = member->team->world;
    struct bin_caller *caller = &world->callers[member->worker];
    struct entry *entry = entry_of(world, pod);
    uint64_t state = state_switched(entry_state(entry), 0, PLACE_INFLIGHT);
    const struct lot_key key = key_of((unsigned)draw(member) % 2);
    struct lot *lot = lots_get(&world->lots, &key);
    (void)u64_exchange(&entry->word.low, state);
    if (!mailbox_check(&member->team->mailbox, lot_prepare(lot, caller, 1)))
        return;
    uint64_t next = state_switched(state, 0, PLACE_PARKED);
    lot_publish(lot, member->worker, ref_make(state_version(next), world->records[pod]),
                ++world->insertions[member->worker]);
    atomic_fence();
    (void)u64_exchange(&entry->word.low, next);
}

static void *
mover_main(void *argument)
{
    member_t *member = argument;
    unsigned first = (member->worker - 1) * OWN;
    for (unsigned i = 0; i < MOVES; i++) {
        struct epoch_record *epoch = member->team->world->callers[member->worker].epoch;
        unsigned pod = i < OWN ? i : STANDING + (unsigned)draw(member) % (OWN - STANDING);
        epoch_enter(epoch);
        park_again(member, first + pod);
        epoch_leave(epoch);
        epoch_poll(epoch);
    }
    (void)u32_add(&member->team->working, UINT32_MAX);
    return NULL;
}

static void
note(team_t *team, const uint32_t *pods, struct lot *lot, struct lot_reader *reader, uint64_t ref)
{
    uint64_t state = entry_state(entry_at(&team->world->ground.entries, ref_record(ref)));
    if (state_judge(state, ref, lot->residence.place, lot->residence.band) == VERDICT_VALID)
        team->met[pods[ref_record(ref)]] = state;
    else
        lot_found_stale(reader, 1);
}

static void
read_all_lots(team_t *team, const uint32_t *pods)
{
    uint32_t cursor = 0;
    uint64_t refs[32];
    struct lot *lot;
    while ((lot = lots_next(&team->world->lots, &cursor)) != NULL) {
        struct lot_reader reader;
        size_t count;
        lot_read_begin(&reader, lot, &team->world->callers[0], INT64_MAX);
        while ((count = lot_read(&reader, refs, 32)) > 0) {
            for (size_t i = 0; i < count; i++)
                note(team, pods, lot, &reader, refs[i]);
        }
        lot_pass(lot, &team->world->callers[0]);
    }
    team->readings++;
}

/*
 * A pod that is parked at the same version before a reading and after it was met at that version.
 */
static void
read_and_check(team_t *team, const uint32_t *pods)
{
    static uint64_t before[PODS];
    for (unsigned i = 0; i < PODS; i++)
        before[i] = entry_state(entry_of(team->world, i));
    atomic_fence();
    read_all_lots(team, pods);
    for (unsigned i = 0; i < PODS; i++) {
        bool stood = state_place(before[i]) == PLACE_PARKED &&
                     entry_state(entry_of(team->world, i)) == before[i];
        mailbox_check(&team->mailbox, !stood || team->met[i] == before[i]);
    }
}

static void
no_pod_that_was_parked_before_a_reading_and_stays_is_missed_by_it(void **state)
{
    world_t *world = *state;
    static team_t team;
    static member_t members[MOVERS];
    static uint32_t pods[4 * PODS];
    memset((void *)&team, 0, sizeof team);
    team.world = world;
    mailbox_init(&team.mailbox);
    (void)u32_exchange(&team.working, MOVERS);
    for (unsigned i = 0; i < PODS; i++) {
        assert_true(world->records[i] < 4 * PODS);
        pods[world->records[i]] = i;
    }
    epoch_leave(world->callers[0].epoch);
    for (uint32_t i = 0; i < MOVERS; i++) {
        members[i] = (member_t){.team = &team, .worker = i + 1, .random = i};
        assert_int_equal(pthread_create(&members[i].thread, NULL, mover_main, &members[i]), 0);
    }
    while (u32_load_acquire(&team.working) != 0) {
        epoch_enter(world->callers[0].epoch);
        read_and_check(&team, pods);
        epoch_leave(world->callers[0].epoch);
    }
    for (unsigned i = 0; i < MOVERS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    epoch_enter(world->callers[0].epoch);
    read_and_check(&team, pods);
    mailbox_assert_empty(&team.mailbox);
    for (unsigned i = 0; i < PODS; i++)
        assert_true(state_place(team.met[i]) == PLACE_PARKED);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(equal_keys_have_one_lot_and_each_difference_makes_another),
        TEST(keys_that_meet_in_the_table_are_told_apart),
        TEST(keys_beyond_the_maximum_share_the_catch_all_and_known_ones_do_not),
        TEST(without_memory_a_new_key_gets_the_catch_all_and_later_a_lot),
        TEST(lots_that_could_not_be_opened_can_be_closed),
        TEST(the_smallest_maximum_is_one_lot),
        TEST(an_iteration_meets_the_catch_all_and_then_all_lots_in_the_order_of_their_making),
        TEST(of_two_that_make_the_same_lot_one_gets_that_of_the_other),
        TEST(of_two_that_make_different_lots_each_gets_its_own),
        TEST(two_that_make_different_lots_do_not_exceed_the_maximum),
        TEST(a_lot_whose_maker_stopped_is_met_and_found_and_others_are_made_behind_it),
        TEST(a_lot_whose_maker_stopped_behind_the_table_is_not_put_there_twice),
        TEST(reading_meets_what_every_worker_published_and_takes_nothing),
        TEST(the_catch_all_holds_refs_like_any_lot),
        TEST(what_is_published_behind_a_reader_is_left_for_the_next_one),
        TEST(a_reader_does_not_meet_what_it_published_itself_since_it_began),
        TEST(a_lot_may_have_affinity_from_the_first_such_pod_on),
        TEST(parked_and_gated_pods_are_valid_in_a_lot_and_others_are_not),
        TEST(without_memory_nothing_is_prepared_and_what_was_there_stays),
        TEST(passing_drops_stale_refs_of_all_workers_up_to_a_live_or_early_one),
        TEST(an_old_pod_that_stays_does_not_keep_the_refs_of_those_that_went),
        TEST(a_worker_goes_on_where_its_last_owner_published),
        TEST(the_lanes_of_a_worker_shrink_to_what_is_live_and_those_of_others_stay),
        TEST(threads_that_make_lots_at_once_get_the_same_and_no_more_than_the_maximum),
        TEST(no_pod_that_was_parked_before_a_reading_and_stays_is_missed_by_it),
#undef TEST
    };
    return cmocka_run_group_tests_name("lockfree_lots", tests, NULL, NULL);
}
