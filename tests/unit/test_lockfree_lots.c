/*
 * lockfree/refs/lots.h: a key has one lot while a pod is there, and none for long when there is
 * none; a reader meets every pod that was published there before; whatever other threads make,
 * publish, drop, pass and give back meanwhile.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "ground.h"
#include "lockfree/refs/lots.h"
#include "mailbox.h"
#include "rounds.h"

enum { PODS = 3000, MAX_LOTS = 8, WORKERS = 4 };

struct world {
    struct ground ground;
    struct slab_cache cache;
    struct lots lots;
    struct bin_caller callers[WORKERS];
    int64_t insertions[WORKERS]; /* each worker's own */
    uint32_t records[PODS];
};

/* Grace periods pass, but for what another caller's section holds back. */
static void
pass_time(world_t *world)
{
    for (unsigned i = 0; i < 5; i++) {
        epoch_leave(world->callers[0].epoch);
        for (uint32_t worker = 0; worker < WORKERS; worker++)
            epoch_poll(world->callers[worker].epoch);
        epoch_enter(world->callers[0].epoch);
    }
}

static int
setup(void **state)
{
    world_t *world = ground_make(sizeof *world);
    lots_open(&world->lots, &world->ground.memory, &world->ground.entries, MAX_LOTS, WORKERS_MAX);
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
    pass_time(world);
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
    return lots_get(&world->lots, &world->callers[0], &key);
}

/* How many lots a walk for these plugins meets. */
static unsigned
count_for(world_t *world, uint64_t plugins)
{
    struct lots_walk walk;
    unsigned count = 0;
    lots_walk_begin(&walk, &world->lots, plugins, 0);
    while (lots_next(&walk) != NULL)
        count++;
    return count;
}

static unsigned
count_lots(world_t *world)
{
    return count_for(world, LOTS_ALL);
}

/* What can be given back is: a lot that was kept is open again, begins to leave, and leaves. */
static enum lot_phase
phase_of(const struct lot *lot)
{
    return lot_phase(u64_load(&lot->state));
}

static void
trim_once(world_t *world)
{
    const struct bin_caller *caller = &world->callers[0];
    lots_tend(&world->lots, caller->memory, caller->epoch, EVERY_WORKER);
    lots_trim(&world->lots, caller);
}

static void
trim(world_t *world)
{
    for (unsigned i = 0; i < 3; i++) {
        trim_once(world);
        pass_time(world);
    }
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
    struct lane_ref refs[64];
    struct lot_reader reader;
    size_t count;
    unsigned sum = 0;
    memset(met, 0, PODS * sizeof *met);
    lot_read_begin(&reader, lot, &world->callers[0], INT64_MAX);
    while ((count = lot_read(&reader, refs, capacity)) > 0) {
        assert_true(count <= capacity);
        sum += (unsigned)count;
        for (size_t i = 0; i < count; i++) {
            const struct entry *entry = entry_at(&world->ground.entries, ref_record(refs[i].ref));
            if (state_judge(entry_state(entry), refs[i].ref, lot->residence.place,
                            lot->residence.band) == VERDICT_STALE)
                lot_found_stale(&reader, 1);
            for (unsigned pod = 0; pod < PODS; pod++)
                met[pod] += world->records[pod] == ref_record(refs[i].ref) ? 1 : 0;
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
        lots[i] = lots_get(&world->lots, &world->callers[0], &keys[i]);
        assert_false(lots[i]->catch_all);
        assert_memory_equal(&lots[i]->key, &keys[i], sizeof keys[i]);
        for (unsigned j = 0; j < i; j++)
            assert_ptr_not_equal(lots[i], lots[j]);
    }
    for (unsigned i = 0; i < 6; i++)
        assert_ptr_equal(lots_get(&world->lots, &world->callers[0], &keys[i]), lots[i]);
    assert_int_equal(count_lots(world), 6);
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
    assert_int_equal(count_lots(world), MAX_LOTS + 1); /* with the catch-all */
}

static void
without_memory_a_new_key_gets_the_catch_all_and_later_a_lot(void **state)
{
    world_t *world = *state;
    for (unsigned known = 0; known < 2; known++) { /* also without cells */
        struct lot *lot = known != 0 ? get(world, 0) : NULL;
        atomic_store(&world->ground.account.fail_all, true);
        assert_ptr_equal(get(world, 1 + known), &world->lots.catch_all);
        if (known != 0)
            assert_ptr_equal(get(world, 0), lot);
        (void)account_heal(&world->ground.account);
        assert_false(get(world, 1 + known)->catch_all);
    }
    for (unsigned i = 3; i < MAX_LOTS; i++)
        assert_false(get(world, i)->catch_all);
    assert_true(get(world, 99)->catch_all);
}

static void
the_smallest_maximum_is_one_lot(void **state)
{
    world_t *world = *state;
    world->lots.max = 1;
    struct lot *lot = get(world, 1);
    assert_false(lot->catch_all);
    assert_true(get(world, 2)->catch_all);
    assert_ptr_equal(get(world, 1), lot);
}

static void
there_are_as_many_lots_as_the_maximum_says_in_any_number_of_groups(void **state)
{
    world_t *world = *state;
    static const uint32_t maxima[] = {63, 64, 65, 127, 128, 129, 200};
    for (unsigned i = 0; i < 7; i++) {
        world->lots.max = maxima[i];
        for (unsigned key = 0; key < maxima[i]; key++)
            assert_false(get(world, key)->catch_all);
        assert_true(get(world, 999)->catch_all);
        for (unsigned key = 0; key < maxima[i]; key++)
            assert_int_equal(get(world, key)->key.unschedulable, key);
        assert_int_equal(count_lots(world), maxima[i] + 1);
        trim(world);
        assert_int_equal(count_lots(world), 1);
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

/* Behind the allocation of the cells. */
static void
make_while(world_t *world, void (*hook)(world_t *world))
{
    (void)get(world, 100);
    world->ground.hook = hook;
}

static void
of_two_that_make_the_same_lot_later_ones_get_one_and_the_other_leaves(void **state)
{
    world_t *world = *state;
    make_while(world, make_the_same);
    struct lot *lot = get(world, 7);
    assert_null(world->ground.hook);
    assert_int_equal(lot->key.unschedulable, 7);
    assert_ptr_equal(get(world, 7), lot);
    assert_int_equal(count_lots(world), 3);
    park(world, lot, 0, 0, 5);
    trim(world);
    assert_ptr_equal(get(world, 7), lot);
    assert_int_equal(count_lots(world), 1);
}

static void
of_two_that_make_different_lots_each_gets_its_own(void **state)
{
    world_t *world = *state;
    make_while(world, make_another);
    struct lot *lot = get(world, 7);
    assert_null(world->ground.hook);
    assert_int_equal(lot->key.unschedulable, 7);
    assert_int_equal(get(world, 1)->key.unschedulable, 1);
    assert_ptr_equal(get(world, 7), lot);
    assert_int_equal(count_lots(world), 3);
}

static void
a_maker_that_stopped_keeps_its_cell_and_no_more(void **state)
{
    world_t *world = *state;
    struct lot *lot = get(world, 0);
    u64_or(&lot->group->taken, 2); /* claimed, and nothing else was done */
    for (unsigned i = 1; i < MAX_LOTS - 1; i++)
        assert_false(get(world, i)->catch_all);
    assert_true(get(world, 99)->catch_all);
    assert_int_equal(count_lots(world), MAX_LOTS);
    trim(world);
    assert_int_equal(count_lots(world), 1);
}

/* ---- walks ----------------------------------------------------------------------------------- */

/* Does a walk for these plugins look at groups? */
static bool
looks_at_groups(world_t *world, uint64_t plugins)
{
    struct lots_walk walk;
    lots_walk_begin(&walk, &world->lots, plugins, 0);
    while (lots_next(&walk) != NULL)
        ;
    return walk.group != NULL;
}

static void
a_walk_for_plugins_that_no_lot_has_looks_at_no_group_whatever_there_is_or_was(void **state)
{
    world_t *world = *state;
    world->lots.max = 300;
    assert_false(looks_at_groups(world, 1));
    for (unsigned i = 1; i < 256; i++)
        (void)get(world, i);
    assert_false(looks_at_groups(world, 256));
    for (unsigned bit = 1; bit < 256; bit *= 2)
        assert_true(looks_at_groups(world, bit | 256));
    park(world, get(world, 0), 0, 0, 5); /* of none: every event concerns it */
    assert_true(looks_at_groups(world, 256));
    trim(world);
    for (unsigned bit = 1; bit < 256; bit *= 2)
        assert_int_equal(count_for(world, bit), 1);
    set_word(world, 0, 6, PLACE_DEAD);
    trim(world);
    for (unsigned bit = 1; bit < 512; bit *= 2)
        assert_false(looks_at_groups(world, bit));
    assert_false(looks_at_groups(world, 0));
    (void)get(world, 4);
    assert_true(looks_at_groups(world, 4));
    assert_false(looks_at_groups(world, 8));
}

static void
a_walk_meets_all_lots_from_a_position_on(void **state)
{
    world_t *world = *state;
    world->lots.max = 150;
    struct lot *lots[150];
    for (unsigned i = 0; i < 150; i++)
        lots[i] = get(world, 200 - i);
    assert_true(get(world, 999)->catch_all);
    for (uint32_t from = 0; from < 152; from++) {
        struct lots_walk walk;
        lots_walk_begin(&walk, &world->lots, LOTS_ALL, from);
        for (uint32_t position = from; position <= 150; position++) {
            assert_ptr_equal(lots_next(&walk),
                             position == 0 ? &world->lots.catch_all : lots[position - 1]);
            assert_int_equal(walk.position, position);
            assert_true(lots_again(&walk));
        }
        assert_null(lots_next(&walk));
        assert_null(lots_next(&walk));
    }
}

static void
a_walk_for_plugins_meets_lots_with_one_of_them_or_none_at_all(void **state)
{
    world_t *world = *state;
    world->lots.max = 40;
    for (unsigned i = 1; i < 32; i++)
        (void)get(world, i);
    const struct lot_key pending = {.pending = 64};
    (void)lots_get(&world->lots, &world->callers[0], &pending);
    for (uint64_t plugins = 1; plugins < 128; plugins++) {
        unsigned wanted = (plugins & 64) != 0 ? 1 : 0;
        for (unsigned i = 1; i < 32; i++)
            wanted += (i & plugins) != 0 ? 1 : 0;
        assert_int_equal(count_for(world, plugins), wanted);
    }
    (void)get(world, 0);
    assert_int_equal(count_for(world, 32), 1);
    trim(world);
    assert_int_equal(count_for(world, 1), 0);
}

static void
the_catch_all_is_met_by_a_walk_for_plugins_that_came_to_it(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < MAX_LOTS; i++)
        park(world, get(world, 1024u << i), 0, i, 5);
    assert_int_equal(count_for(world, 1), 0);
    (void)get(world, 1);
    assert_int_equal(count_for(world, 1), 1);
    assert_int_equal(count_for(world, 2), 0);
    (void)get(world, 6);
    assert_int_equal(count_for(world, 2), 1);
    assert_int_equal(count_for(world, 8), 0);
    (void)get(world, 0); /* nothing rejected it */
    assert_int_equal(count_for(world, 8), 1);
}

/* ---- leaving --------------------------------------------------------------------------------- */

static void
take_away(world_t *world, unsigned pod)
{
    set_word(world, pod, 6, PLACE_ACTIVE);
}

static void
lots_without_pods_are_given_back(void **state)
{
    world_t *world = *state;
    (void)get(world, 0);
    trim(world);
    uint64_t bytes = memory_bytes(&world->ground.memory, MEMORY_QUEUES); /* the cells */
    for (unsigned i = 0; i < MAX_LOTS; i++) {
        park(world, get(world, i), 0, i, 5);
        park(world, get(world, i), 1, 100 + i, 5);
    }
    trim(world);
    assert_int_equal(count_lots(world), MAX_LOTS);
    for (unsigned i = 0; i < MAX_LOTS; i++) {
        take_away(world, i);
        trim(world);
        assert_int_equal(count_lots(world), MAX_LOTS - i);
        take_away(world, 100 + i);
        trim(world);
        assert_int_equal(count_lots(world), MAX_LOTS - 1 - i);
    }
    assert_int_equal(memory_bytes(&world->ground.memory, MEMORY_QUEUES), bytes);
}

static void
sets_that_come_and_go_have_lots_of_their_own_for_ever(void **state)
{
    world_t *world = *state;
    park(world, get(world, 0), 0, 0, 5);
    for (unsigned i = 1; i < 1000; i++) {
        struct lot *lot = get(world, i);
        assert_int_equal(lot->key.unschedulable, i);
        park(world, lot, 0, 1 + i % 2, 5 + i);
        assert_int_equal(read_lot(world, get(world, 0), 64, met), 1);
        set_word(world, 1 + i % 2, 6 + i, PLACE_ACTIVE);
        pass_time(world);
    }
    assert_true(count_lots(world) < MAX_LOTS);
    assert_int_equal(u64_load(&world->lots.caught), 0);
}

/* A lot is large: what waits for grace periods is judged by that, as calls poll. */
static void
few_lots_wait_for_grace_periods_while_sets_come_and_go(void **state)
{
    world_t *world = *state;
    struct epoch_record *epoch = world->callers[0].epoch;
    world->lots.max = 1024;
    for (unsigned i = 1; i < 2000; i++) {
        park(world, get(world, i), 0, 1, 5 + i);
        set_word(world, 1, 6 + i, PLACE_ACTIVE);
        epoch_leave(epoch);
        epoch_poll_seldom(epoch);
        epoch_enter(epoch);
    }
    assert_true(count_lots(world) < 150);
}

static void
a_pod_that_is_about_to_wait_keeps_its_lot(void **state)
{
    world_t *world = *state;
    struct lot *lot = get(world, 1);
    assert_true(publish(world, lot, 0, 0, 5));
    set_word(world, 0, 4, PLACE_INFLIGHT);
    trim(world);
    assert_ptr_equal(get(world, 1), lot);
    set_word(world, 0, 5, PLACE_INFLIGHT); /* what was published is stale */
    trim(world);
    assert_int_equal(count_lots(world), 0);
}

static void
a_call_that_found_a_lot_keeps_it_until_its_section_ends(void **state)
{
    world_t *world = *state;
    const struct lot_key key = key_of(1);
    epoch_enter(world->callers[1].epoch);
    struct lot *lot = lots_get(&world->lots, &world->callers[1], &key);
    trim(world);
    park(world, lot, 1, 0, 5);
    epoch_leave(world->callers[1].epoch);
    trim(world);
    assert_int_equal(read_lot(world, get(world, 1), 64, met), 1);
    assert_ptr_equal(get(world, 1), lot);
}

static void
a_lot_that_is_found_while_it_leaves_stays_and_may_leave_later(void **state)
{
    world_t *world = *state;
    struct lot *lot = get(world, 1);
    lots_trim(&world->lots, &world->callers[0]); /* it begins */
    assert_int_equal(phase_of(lot), LOT_LEAVING);
    epoch_enter(world->callers[1].epoch);
    const struct lot_key key = key_of(1);
    assert_ptr_equal(lots_get(&world->lots, &world->callers[1], &key), lot);
    assert_ptr_equal(lots_get(&world->lots, &world->callers[1], &key), lot);
    epoch_leave(world->callers[1].epoch);
    pass_time(world);
    (void)get(world, 2);
    assert_ptr_equal(get(world, 1), lot);
    trim(world);
    assert_int_equal(count_lots(world), 0);
}

static void
a_lot_that_got_a_pod_before_it_began_to_leave_is_open_again(void **state)
{
    world_t *world = *state;
    struct lot *lot = get(world, 1);
    lots_trim(&world->lots, &world->callers[0]);
    park(world, lot, 0, 0, 5); /* by a call that had found it open */
    pass_time(world);
    lots_trim(&world->lots, &world->callers[0]);
    assert_int_equal(phase_of(lot), LOT_OPEN);
    assert_int_equal(read_lot(world, lot, 64, met), 1);
}

/* What an event does with each lot in which it met no ref; so many events. */
static void
meet(world_t *world, struct lot *lot, unsigned times)
{
    for (unsigned i = 0; i < times; i++) {
        lots_look(&world->lots, lot, &world->callers[0]);
        epoch_leave(world->callers[0].epoch);
        epoch_poll_seldom(world->callers[0].epoch);
        epoch_enter(world->callers[0].epoch);
    }
}

static void
a_lot_without_pods_leaves_after_looks_that_pay_for_its_grace_period(void **state)
{
    enum { LOOKS = EPOCH_DUE / EPOCH_BLOCK * 3 / 2 };
    world_t *world = *state;
    struct lot *lot = get(world, 1), *other = get(world, 2);
    park(world, other, 0, 0, 5);
    meet(world, lot, LOOKS / 4);
    assert_int_equal(phase_of(lot), LOT_LEAVING);
    assert_ptr_equal(get(world, 1), lot); /* still in time: it is kept */
    assert_int_equal(phase_of(lot), LOT_OPEN);
    meet(world, lot, 1);
    assert_int_equal(phase_of(lot), LOT_LEAVING); /* again */
    unsigned looks = 0;
    for (; count_lots(world) == 2 && looks < LOOKS; looks++)
        meet(world, lot, 1);
    assert_int_equal(count_lots(world), 1);
    assert_true(looks > LOOKS / 2);
    meet(world, other, LOOKS);
    assert_int_equal(phase_of(other), LOT_OPEN);
    assert_int_equal(read_lot(world, get(world, 2), 64, met), 1);
}

static void
a_walk_goes_on_where_its_lot_is_gone_or_another_is_there(void **state)
{
    world_t *world = *state;
    for (unsigned other = 0; other < 2; other++) {
        struct lots_walk walk;
        for (unsigned i = 0; i < 4; i++)
            (void)get(world, i);
        for (unsigned i = 2; i < 4; i++)
            park(world, get(world, i), 0, i, 5);
        lots_walk_begin(&walk, &world->lots, LOTS_ALL, 0);
        while (lots_next(&walk)->key.unschedulable != 1)
            ;
        trim(world); /* a section ends */
        if (other == 1)
            park(world, get(world, 77), 0, 7, 5);
        assert_false(lots_again(&walk));
        assert_int_equal(lots_next(&walk)->key.unschedulable, 2);
        pass_time(world);
        assert_true(lots_again(&walk));
        assert_int_equal(lots_next(&walk)->key.unschedulable, 3);
        assert_null(lots_next(&walk));
    }
}

static void
one_step_of_a_sweep_judges_few_refs_and_trim_all_of_them(void **state)
{
    world_t *world = *state;
    struct lot *lot = get(world, 1);
    for (unsigned i = 0; i < 1000; i++)
        park(world, lot, 0, i, 5);
    for (unsigned i = 0; i < 1000; i++)
        take_away(world, i);
    (void)get(world, 2);
    assert_int_equal(phase_of(lot), LOT_OPEN);
    trim(world);
    assert_int_equal(count_lots(world), 0);
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
    struct lane_ref refs[8];
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
    struct lane_ref refs[8];
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

/* If it looked for its place from the front on, it would miss what is behind it. */
static void
a_reader_goes_on_at_its_bookmark_in_another_section(void **state)
{
    world_t *world = *state;
    struct lot *lot = get(world, 1);
    struct lot_reader reader;
    struct lane_ref refs[8];
    for (unsigned i = 0; i < PODS; i++)
        park(world, lot, 0, i, 5);
    struct lane *lane = bank_first_lane(&lot->bank, 0);
    struct segment *first = ptr_load(&lane->first);
    unsigned count = 0;
    lot_read_begin(&reader, lot, &world->callers[0], INT64_MAX);
    while (count < PODS / 2)
        count += (unsigned)lot_read(&reader, refs, 8);
    uint64_t number = first->number;
    first->number = UINT64_MAX; /* it counts as behind all others */
    lot_read_again(&reader);
    for (size_t read = 0; (read = lot_read(&reader, refs, 8)) > 0;)
        count += (unsigned)read;
    first->number = number;
    assert_int_equal(count, PODS);
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
    lot_pass(lot, &world->callers[0], UINT32_MAX);
    assert_int_equal(read_lot(world, lot, 64, met), 40);
    for (unsigned i = 0; i < 40; i++)
        set_word(world, i, 6, PLACE_ACTIVE);
    set_word(world, 20, 5, PLACE_GATED);
    set_word(world, 31, 4, PLACE_INFLIGHT); /* early */
    lot_pass(lot, &world->callers[0], UINT32_MAX);
    /* of a segment of 15 each; all others are empty */
    assert_int_equal(read_lot(world, lot, 64, met), 5 + 5);
    assert_int_equal(met[20], 1);
    assert_int_equal(met[31], 1);
    assert_true(state_place(entry_state(entry_of(world, 31))) == PLACE_INFLIGHT);
    set_word(world, 20, 6, PLACE_ACTIVE);
    set_word(world, 31, 6, PLACE_ACTIVE);
    lot_pass(lot, &world->callers[0], UINT32_MAX);
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
    lot_pass(lot, &world->callers[0], UINT32_MAX);
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
    struct lane *lanes[] = {lot_lane(lot, 2), lot_lane(&world->lots.catch_all, 2)};
    for (unsigned i = 0; i < 2; i++)
        /* and he died */
        lane_put(lanes[i], ref_make(5, world->records[10 + i]), world->insertions[2]);
    u64_or(&world->lots.caught, 1);
    lots_tend(&world->lots, &world->ground.memory, NULL, 2);
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
    u64_or(&world->lots.caught, 1);
    lots_tend(&world->lots, &world->ground.memory, world->callers[0].epoch, 1);
    lots_tend(&world->lots, &world->ground.memory, world->callers[0].epoch, 3); /* it has none */
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
    unsigned moves; /* of each mover, at least OWN */
    atomic_u32 working;
    uint64_t met[PODS]; /* the reader's: by record's pod, the word at which it was met */
    uint64_t readings;
} team_t;

typedef struct member {
    pthread_t thread;
    team_t *team;
    uint32_t worker;
    world_t *world;
    atomic_u32 *waiting; /* members that have not come yet */
    uint64_t random;
    unsigned moves;
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
    const struct bin_caller *caller = &member->world->callers[member->worker];
    (void)u32_add(member->waiting, UINT32_MAX);
    while (u32_load_acquire(member->waiting) != 0)
        (void)sched_yield();
    epoch_enter(caller->epoch);
    for (unsigned i = 0; i < KEYS; i++) {
        /* two come to each key at once */
        unsigned number = (i * 5 + member->worker / 2 * 3) % KEYS;
        const struct lot_key key = key_of(number);
        struct lot *lot = lots_get(&member->world->lots, caller, &key);
        mailbox_check(&member->team->mailbox, lot->catch_all || lot->key.unschedulable == number);
    }
    epoch_leave(caller->epoch);
    return NULL;
}

static void
threads_that_make_lots_at_once_get_no_more_than_the_maximum(void **state)
{
    world_t *world = *state;
    static team_t team;
    static member_t members[WORKERS];
    static atomic_u32 waiting;
    mailbox_init(&team.mailbox);
    const unsigned rounds = rounds_of(ROUNDS);
    for (unsigned round = 0; round < rounds; round++) {
        epoch_leave(world->callers[0].epoch);
        (void)u32_exchange(&waiting, WORKERS);
        for (uint32_t i = 0; i < WORKERS; i++) {
            members[i] =
                (member_t){.world = world, .team = &team, .waiting = &waiting, .worker = i};
            assert_int_equal(pthread_create(&members[i].thread, NULL, get_all, &members[i]), 0);
        }
        for (unsigned i = 0; i < WORKERS; i++)
            assert_int_equal(pthread_join(members[i].thread, NULL), 0);
        epoch_enter(world->callers[0].epoch);
        assert_int_equal(count_lots(world), MAX_LOTS + 1);
        trim(world);
        assert_int_equal(count_lots(world), 1);
    }
    mailbox_assert_empty(&team.mailbox);
}

enum { MOVERS = WORKERS - 1, OWN = PODS / MOVERS, STANDING = 3 };

/*
 * Publish, then switch, as parking does; the first few of each worker are parked once and stay. Of
 * the sets more come and go than there are lots.
 */
static void
park_again(member_t *member, unsigned pod)
{
    world_t *world = member->team->world;
    struct bin_caller *caller = &world->callers[member->worker];
    struct entry *entry = entry_of(world, pod);
    uint64_t state = state_switched(entry_state(entry), 0, PLACE_INFLIGHT);
    const struct lot_key key = key_of((unsigned)draw(member) % (2 + member->moves / 64 % 16));
    struct lot *lot = lots_get(&world->lots, caller, &key);
    member->moves++;
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
    for (unsigned i = 0; i < member->team->moves; i++) {
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
    struct lots_walk walk;
    struct lane_ref refs[32];
    struct lot *lot;
    lots_walk_begin(&walk, &team->world->lots, LOTS_ALL, 0);
    while ((lot = lots_next(&walk)) != NULL) {
        struct lot_reader reader;
        size_t count;
        lot_read_begin(&reader, lot, &team->world->callers[0], INT64_MAX);
        while ((count = lot_read(&reader, refs, 32)) > 0) {
            for (size_t i = 0; i < count; i++)
                note(team, pods, lot, &reader, refs[i].ref);
        }
        lot_pass(lot, &team->world->callers[0], UINT32_MAX);
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
    team.moves = rounds_of(MOVES);
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
        if (team.readings % 2 == 0)
            trim_once(world);
        epoch_leave(world->callers[0].epoch);
        epoch_poll(world->callers[0].epoch);
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
        TEST(keys_beyond_the_maximum_share_the_catch_all_and_known_ones_do_not),
        TEST(without_memory_a_new_key_gets_the_catch_all_and_later_a_lot),
        TEST(the_smallest_maximum_is_one_lot),
        TEST(there_are_as_many_lots_as_the_maximum_says_in_any_number_of_groups),
        TEST(of_two_that_make_the_same_lot_later_ones_get_one_and_the_other_leaves),
        TEST(of_two_that_make_different_lots_each_gets_its_own),
        TEST(a_maker_that_stopped_keeps_its_cell_and_no_more),
        TEST(a_walk_meets_all_lots_from_a_position_on),
        TEST(a_walk_for_plugins_that_no_lot_has_looks_at_no_group_whatever_there_is_or_was),
        TEST(a_walk_for_plugins_meets_lots_with_one_of_them_or_none_at_all),
        TEST(the_catch_all_is_met_by_a_walk_for_plugins_that_came_to_it),
        TEST(lots_without_pods_are_given_back),
        TEST(sets_that_come_and_go_have_lots_of_their_own_for_ever),
        TEST(few_lots_wait_for_grace_periods_while_sets_come_and_go),
        TEST(a_pod_that_is_about_to_wait_keeps_its_lot),
        TEST(a_call_that_found_a_lot_keeps_it_until_its_section_ends),
        TEST(a_lot_that_is_found_while_it_leaves_stays_and_may_leave_later),
        TEST(a_lot_that_got_a_pod_before_it_began_to_leave_is_open_again),
        TEST(a_lot_without_pods_leaves_after_looks_that_pay_for_its_grace_period),
        TEST(a_walk_goes_on_where_its_lot_is_gone_or_another_is_there),
        TEST(one_step_of_a_sweep_judges_few_refs_and_trim_all_of_them),
        TEST(reading_meets_what_every_worker_published_and_takes_nothing),
        TEST(the_catch_all_holds_refs_like_any_lot),
        TEST(what_is_published_behind_a_reader_is_left_for_the_next_one),
        TEST(a_reader_does_not_meet_what_it_published_itself_since_it_began),
        TEST(a_reader_goes_on_at_its_bookmark_in_another_section),
        TEST(a_lot_may_have_affinity_from_the_first_such_pod_on),
        TEST(parked_and_gated_pods_are_valid_in_a_lot_and_others_are_not),
        TEST(without_memory_nothing_is_prepared_and_what_was_there_stays),
        TEST(passing_drops_stale_refs_of_all_workers_up_to_a_live_or_early_one),
        TEST(an_old_pod_that_stays_does_not_keep_the_refs_of_those_that_went),
        TEST(a_worker_goes_on_where_its_last_owner_published),
        TEST(the_lanes_of_a_worker_shrink_to_what_is_live_and_those_of_others_stay),
        TEST(threads_that_make_lots_at_once_get_no_more_than_the_maximum),
        TEST(no_pod_that_was_parked_before_a_reading_and_stays_is_missed_by_it),
#undef TEST
    };
    return cmocka_run_group_tests_name("lockfree_lots", tests, NULL, NULL);
}
