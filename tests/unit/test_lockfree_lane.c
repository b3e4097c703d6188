/*
 * lockfree/lane.h: refs come in the order in which they were put, whatever happens to the segment below them.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "ground.h"
#include "lockfree/entry.h"
#include "mailbox.h"

/* Looking at the head is compiled into this test, with loads that let others go first: between its steps. */
static _Thread_local struct {
    void (*others)(void *); /* once */
    void *ctx;
    unsigned loads_before;
} interleave;

static inline uint64_t
load_after_others(const atomic_u64 *word)
{
    void (*others)(void *) = interleave.others;
    if (others != NULL && interleave.loads_before-- == 0) {
        interleave.others = NULL;
        others(interleave.ctx);
    }
    return u64_load_acquire(word);
}

#define u64_load_acquire load_after_others
#include "lockfree/lane.h"
#undef u64_load_acquire

enum { BAND = 1, PODS = 2000, FIRST_ROOM = 15 };

struct world {
    struct ground ground;
    struct slab_cache cache;
    atomic_u64 reorder;
    struct residence residence;
    struct lane *lane;
    uint32_t records[PODS];
};

static int
setup(void **state)
{
    world_t *world = ground_make(sizeof *world);
    epoch_enter(world->ground.record);
    for (unsigned i = 0; i < PODS; i++)
        world->records[i] = slab_take(&world->ground.entries.records, &world->cache);
    world->residence = (struct residence){
        .entries = &world->ground.entries, .place = PLACE_ACTIVE, .band = BAND, .reorder = &world->reorder};
    world->lane = lane_make(&world->ground.memory, 1);
    assert_non_null(world->lane);
    *state = world;
    return 0;
}

static int
teardown(void **state)
{
    world_t *world = *state;
    epoch_leave(world->ground.record);
    lane_free(&world->ground.memory, world->lane);
    ground_free(world);
    return 0;
}

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

static struct entry *
entry_of(world_t *world, unsigned pod)
{
    return entry_at(&world->ground.entries, world->records[pod]);
}

static void
set_word(world_t *world, unsigned pod, uint64_t version, uint32_t band, enum place place)
{
    (void)u64_exchange(&entry_of(world, pod)->word.low, state_make(version, band, place));
}

static bool
make_room(world_t *world, uint32_t count)
{
    return lane_make_room(world->lane, &world->residence, &world->ground.memory, world->ground.record, count);
}

static void
put(world_t *world, unsigned pod, uint64_t version)
{
    lane_put(world->lane, ref_make(version, world->records[pod]), (int64_t)pod);
}

/* Pods [first, end), active, with one publication. */
static void
add(world_t *world, unsigned first, unsigned end)
{
    assert_true(make_room(world, end - first));
    for (unsigned i = first; i < end; i++) {
        set_word(world, i, 5, BAND, PLACE_ACTIVE);
        put(world, i, 5);
    }
    lane_publish(world->lane);
}

static void
assert_next(world_t *world, unsigned pod)
{
    struct lane_head head = {0};
    assert_true(lane_peek(world->lane, &head));
    assert_int_equal(ref_record(head.ref), world->records[pod]);
    assert_ns_equal(head.key, (int64_t)pod);
    set_word(world, pod, 6, BAND, PLACE_INFLIGHT);
    lane_advance(&head);
}

static void
assert_empty(world_t *world)
{
    struct lane_head head = {0};
    assert_false(lane_peek(world->lane, &head));
}

static ck_ring_t *
ring_of(world_t *world)
{
    struct segment *segment = ptr_load(&world->lane->segment);
    return &segment->ring;
}

/* As if the segment had seen so many pushes. */
static void
count_from(world_t *world, uint32_t counter)
{
    ck_ring_t *ring = ring_of(world);
    u32_store(u32_of(&ring->c_head), counter);
    u32_store(u32_of(&ring->p_tail), counter);
    world->lane->tail = counter;
}

/* ---- one thread -------------------------------------------------------------------------------------------------- */

static void
refs_come_in_the_order_in_which_they_were_put(void **state)
{
    world_t *world = *state;
    assert_empty(world);
    add(world, 0, FIRST_ROOM);
    for (unsigned i = 0; i < FIRST_ROOM; i++)
        assert_next(world, i);
    assert_empty(world);
}

static void
nothing_is_seen_before_it_is_published_and_then_all_of_it(void **state)
{
    world_t *world = *state;
    assert_true(make_room(world, 3));
    for (unsigned i = 0; i < 3; i++) {
        set_word(world, i, 5, BAND, PLACE_ACTIVE);
        put(world, i, 5);
        assert_empty(world);
    }
    lane_publish(world->lane);
    for (unsigned i = 0; i < 3; i++)
        assert_next(world, i);
}

static void
a_lane_is_made_with_the_room_that_was_asked(void **state)
{
    world_t *world = *state;
    for (uint32_t slots = 1; slots < 200; slots++) {
        struct lane *lane = lane_make(&world->ground.memory, slots);
        const struct segment *segment = ptr_load(&lane->segment);
        assert_true(segment->ring.mask >= slots && segment->ring.mask + 1 == segment->ring.size);
        assert_true(segment->ring.size == 16 || segment->ring.mask / 2 < slots);
        lane_free(&world->ground.memory, lane);
    }
}

static void
a_full_lane_grows_and_keeps_all_in_order(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < PODS; i++)
        add(world, i, i + 1);
    for (unsigned i = 0; i < PODS; i++)
        assert_next(world, i);
    assert_empty(world);
}

static void
room_for_many_is_made_at_once(void **state)
{
    world_t *world = *state;
    add(world, 0, 3);
    add(world, 3, 1000);
    for (unsigned i = 0; i < 1000; i++)
        assert_next(world, i);
    assert_empty(world);
}

static void
a_new_segment_has_room_for_twice_what_is_live(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < PODS; i++) {
        const void *before = ptr_load(&world->lane->segment);
        assert_true(make_room(world, 1));
        if (before != ptr_load(&world->lane->segment))
            assert_true(ring_of(world)->mask >= 2 * i);
        add(world, i, i + 1);
    }
}

static void
a_full_lane_of_which_more_than_half_is_live_grows(void **state)
{
    world_t *world = *state;
    add(world, 0, FIRST_ROOM);
    for (unsigned i = 0; i < 5; i++)
        set_word(world, i, 6, BAND, PLACE_INFLIGHT);
    add(world, FIRST_ROOM, FIRST_ROOM + 1);
    assert_int_equal(ring_of(world)->size, 32);
    for (unsigned i = 5; i <= FIRST_ROOM; i++)
        assert_next(world, i);
    assert_empty(world);
}

/* A queue that is drained as it is filled stays as small as it is. */
static void
a_lane_of_which_little_is_live_does_not_grow(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < PODS; i++) {
        add(world, i, i + 1);
        if (i >= 5)
            set_word(world, i - 5, 6, BAND, PLACE_INFLIGHT); /* claimed; nobody advanced the head */
    }
    assert_int_equal(ring_of(world)->size, 16);
}

static void
a_replacement_drops_what_is_stale_and_keeps_early_refs_and_the_order(void **state)
{
    world_t *world = *state;
    add(world, 0, 12);
    /* 0: goes on; 1: in another band; 2: dead; 3: another pod's record by now; 4: early; 5: lagging; 6: its page is gone */
    set_word(world, 0, 6, BAND, PLACE_ACTIVE);
    set_word(world, 1, 5, BAND + 1, PLACE_ACTIVE);
    set_word(world, 2, 6, BAND, PLACE_DEAD);
    set_word(world, 3, 9, BAND, PLACE_ACTIVE);
    set_word(world, 4, 4, BAND + 1, PLACE_ACTIVE);
    (void)u64_exchange(&entry_of(world, 5)->word.low, state_described(state_make(5, BAND, PLACE_ACTIVE)));
    lane_put(world->lane, ref_make(5, REF_INDEX_MASK), 12);
    lane_publish(world->lane);
    uint64_t early = entry_state(entry_of(world, 4));
    const void *before = ptr_load(&world->lane->segment);
    assert_true(make_room(world, 5));
    assert_ptr_not_equal(ptr_load(&world->lane->segment), before);
    assert_int_equal(u32_load(u32_of(&ring_of(world)->p_tail)), 8);
    assert_true(entry_state(entry_of(world, 4)) == early);
    assert_int_equal(u64_load(&world->reorder), 0);
    for (unsigned i = 4; i < 12; i++)
        assert_next(world, i);
    assert_empty(world);
}

static void
without_memory_nothing_changes(void **state)
{
    world_t *world = *state;
    add(world, 0, FIRST_ROOM);
    atomic_store(&world->ground.account.fail_all, true);
    assert_false(make_room(world, 1));
    lane_shrink(world->lane, &world->residence, &world->ground.memory, world->ground.record);
    (void)account_heal(&world->ground.account);
    for (unsigned i = 0; i < FIRST_ROOM; i++)
        assert_next(world, i);
    assert_empty(world);
    for (int64_t successes = 0; successes < 2; successes++) {
        account_fail_after(&world->ground.account, successes);
        assert_null(lane_make(&world->ground.memory, 1));
        assert_true(account_heal(&world->ground.account));
    }
}

static void
a_lane_shrinks_to_what_is_live(void **state)
{
    world_t *world = *state;
    add(world, 0, PODS);
    for (unsigned i = 0; i < PODS - 20; i++)
        assert_next(world, i);
    lane_shrink(world->lane, &world->residence, &world->ground.memory, world->ground.record);
    assert_int_equal(ring_of(world)->size, 32);
    const void *before = ptr_load(&world->lane->segment);
    lane_shrink(world->lane, &world->residence, &world->ground.memory, world->ground.record);
    assert_ptr_equal(ptr_load(&world->lane->segment), before);
    for (unsigned i = PODS - 20; i < PODS; i++)
        assert_next(world, i);
    assert_empty(world);
}

static void
a_consumer_of_a_replaced_segment_may_finish_on_it(void **state)
{
    world_t *world = *state;
    struct lane_head head = {0};
    add(world, 0, FIRST_ROOM);
    assert_true(lane_peek(world->lane, &head));
    add(world, FIRST_ROOM, FIRST_ROOM + 1);
    assert_ptr_not_equal(ptr_load(&world->lane->segment), head.segment);
    lane_advance(&head); /* of the old one: says nothing about the new one */
    for (unsigned i = 0; i <= FIRST_ROOM; i++)
        assert_next(world, i);
}

static void
an_advance_that_comes_late_moves_nothing(void **state)
{
    world_t *world = *state;
    struct lane_head old = {0};
    add(world, 0, 3);
    assert_true(lane_peek(world->lane, &old));
    assert_next(world, 0);
    lane_advance(&old);
    assert_next(world, 1);
    lane_advance(&old);
    assert_next(world, 2);
    lane_advance(&old);
    assert_empty(world);
}

static void
hints_of_what_is_behind_the_head_are_right_when_nobody_interferes(void **state)
{
    world_t *world = *state;
    struct lane_head head = {0};
    add(world, 0, 3);
    assert_true(lane_peek(world->lane, &head));
    assert_true(lane_has_more(&head));
    for (uint32_t i = 0; i < 3; i++)
        assert_ptr_equal(lane_ahead(&head, &world->ground.entries, i), entry_of(world, i));
    assert_null(lane_ahead(&head, &world->ground.entries, 3));
    assert_next(world, 0);
    assert_next(world, 1);
    assert_true(lane_peek(world->lane, &head));
    assert_false(lane_has_more(&head));
    assert_null(lane_ahead(&head, &world->ground.entries, 1));
}

/* All are claimed, and others stand in their slots. */
static void
use_all_slots_again(void *ctx)
{
    world_t *world = ctx;
    for (unsigned i = 0; i < FIRST_ROOM; i++)
        assert_next(world, i);
    add(world, FIRST_ROOM, 2 * FIRST_ROOM);
}

static void
a_slot_that_is_used_again_while_it_is_read_is_not_taken_for_the_old_one(void **state)
{
    world_t *world = *state;
    for (unsigned loads = 0; loads < 2; loads++) { /* the key, the ref */
        struct lane_head head = {0};
        world->lane->last_key = INT64_MIN;
        for (unsigned i = 0; i < 2 * FIRST_ROOM; i++)
            set_word(world, i, 4, BAND, PLACE_DEAD);
        add(world, 0, FIRST_ROOM);
        interleave.loads_before = loads;
        interleave.ctx = world;
        interleave.others = use_all_slots_again;
        assert_true(lane_peek(world->lane, &head));
        assert_null(interleave.others);
        assert_ns_equal(head.key, FIRST_ROOM);
        assert_int_equal(ref_record(head.ref), world->records[FIRST_ROOM]);
        for (unsigned i = FIRST_ROOM; i < 2 * FIRST_ROOM; i++)
            assert_next(world, i);
        assert_empty(world);
    }
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

static struct lane_reader
reader_of(world_t *world)
{
    struct lane_reader reader;
    lane_read_begin(&reader, world->lane);
    return reader;
}

/* The next refs up to `limit` are those of the pods [first, end). */
static void
assert_reads(world_t *world, struct lane_reader *reader, int64_t limit, unsigned first, unsigned end)
{
    static struct lane_ref refs[PODS];
    assert_int_equal(lane_read(reader, limit, refs, PODS), end - first);
    for (unsigned i = first; i < end; i++) {
        assert_int_equal(ref_record(refs[i - first].ref), world->records[i]);
        assert_ns_equal(refs[i - first].key, (int64_t)i);
    }
}

static void
reading_meets_all_refs_in_order_and_takes_none(void **state)
{
    world_t *world = *state;
    struct lane_reader reader = reader_of(world);
    assert_reads(world, &reader, INT64_MAX, 0, 0);
    add(world, 0, FIRST_ROOM);
    set_word(world, 3, 6, BAND, PLACE_DEAD); /* refs are not judged */
    for (unsigned i = 0; i < 2; i++) {
        reader = reader_of(world);
        assert_reads(world, &reader, INT64_MAX, 0, FIRST_ROOM);
        assert_reads(world, &reader, INT64_MAX, FIRST_ROOM, FIRST_ROOM);
    }
    assert_next(world, 0);
    reader = reader_of(world);
    assert_reads(world, &reader, INT64_MAX, 1, FIRST_ROOM);
}

static void
reading_goes_on_where_it_had_no_more_room(void **state)
{
    world_t *world = *state;
    struct lane_ref refs[4];
    add(world, 0, 10);
    struct lane_reader reader = reader_of(world);
    for (unsigned i = 0; i < 10; i += 4) {
        assert_int_equal(lane_read(&reader, INT64_MAX, refs, 4), i < 8 ? 4 : 2);
        assert_int_equal(ref_record(refs[0].ref), world->records[i]);
    }
    assert_int_equal(lane_read(&reader, INT64_MAX, refs, 4), 0);
}

static void
reading_stops_at_the_first_key_beyond_its_limit(void **state)
{
    world_t *world = *state;
    add(world, 0, 10);
    struct lane_reader reader = reader_of(world);
    assert_reads(world, &reader, -1, 0, 0);
    assert_reads(world, &reader, 3, 0, 4);
    assert_reads(world, &reader, 3, 4, 4);
    assert_reads(world, &reader, 9, 4, 10);
}

static void
reading_ends_at_the_tail_that_was_there_when_it_began(void **state)
{
    world_t *world = *state;
    add(world, 0, 3);
    struct lane_reader reader = reader_of(world);
    add(world, 3, 5);
    assert_reads(world, &reader, INT64_MAX, 0, 3);
    reader = reader_of(world);
    assert_reads(world, &reader, INT64_MAX, 0, 5);
}

static void
a_reader_of_a_replaced_segment_finishes_on_it(void **state)
{
    world_t *world = *state;
    add(world, 0, FIRST_ROOM);
    struct lane_reader reader = reader_of(world);
    assert_int_equal(lane_read(&reader, 4, (struct lane_ref[5]){{0}}, 5), 5);
    add(world, FIRST_ROOM, FIRST_ROOM + 1);
    assert_ptr_not_equal(ptr_load(&world->lane->segment), reader.segment);
    assert_next(world, 0);
    assert_reads(world, &reader, INT64_MAX, 5, FIRST_ROOM);
}

static void
a_slot_that_is_used_again_while_it_is_read_is_left_out(void **state)
{
    world_t *world = *state;
    for (unsigned loads = 0; loads < 4; loads++) { /* the first slot's key, ref; the second's, after one was read */
        world->lane->last_key = INT64_MIN;
        for (unsigned i = 0; i < 2 * FIRST_ROOM; i++)
            set_word(world, i, 4, BAND, PLACE_DEAD);
        add(world, 0, FIRST_ROOM);
        struct lane_reader reader = reader_of(world);
        interleave.loads_before = loads;
        interleave.ctx = world;
        interleave.others = use_all_slots_again;
        /* Whatever is left out had been claimed; of what came later nothing is told. */
        struct lane_ref ref;
        unsigned read = 0;
        for (; lane_next(&reader, FIRST_ROOM - 1, &ref); read++) {
            assert_ns_equal(ref.key, read);
            assert_int_equal(ref_record(ref.ref), world->records[read]);
        }
        assert_null(interleave.others);
        assert_int_equal(read, loads / 2);
        assert_int_equal(reader.position, reader.end);
        for (unsigned i = FIRST_ROOM; i < 2 * FIRST_ROOM; i++)
            assert_next(world, i);
    }
}

static void
reading_goes_on_at_the_head_when_that_is_further(void **state)
{
    world_t *world = *state;
    add(world, 0, 10);
    struct lane_reader reader = reader_of(world);
    assert_reads(world, &reader, 1, 0, 2);
    for (unsigned i = 0; i < 5; i++)
        assert_next(world, i);
    assert_reads(world, &reader, INT64_MAX, 5, 10);
}

static void
passing_goes_over_stale_refs_up_to_the_first_live_or_early_one(void **state)
{
    world_t *world = *state;
    add(world, 0, 10);
    for (unsigned i = 0; i < 9; i++)
        set_word(world, i, 6, BAND, PLACE_INFLIGHT);
    set_word(world, 4, 4, BAND, PLACE_INFLIGHT); /* early */
    lane_pass(world->lane, &world->residence);
    struct lane_head head = {0};
    assert_true(lane_peek(world->lane, &head));
    assert_ns_equal(head.key, 4);
    assert_true(state_place(entry_state(entry_of(world, 4))) == PLACE_INFLIGHT); /* and is not helped */
    set_word(world, 4, 6, BAND, PLACE_INFLIGHT);
    lane_pass(world->lane, &world->residence);
    assert_next(world, 9);
    lane_pass(world->lane, &world->residence);
    assert_empty(world);
}

/* ---- lanes that a live ref keeps from being passed ---------------------------------------------------------------- */

/* `refs` of which the first and the last `live` - 1 are live; read to the end, with the count of the stale ones. */
static struct lane_reader
read_mostly_stale(world_t *world, unsigned refs, unsigned live)
{
    add(world, 0, refs);
    for (unsigned i = 1; i <= refs - live; i++)
        set_word(world, i, 6, BAND, PLACE_INFLIGHT);
    struct lane_reader reader = reader_of(world);
    assert_reads(world, &reader, INT64_MAX, 0, refs);
    lane_found_stale(&reader, refs - live);
    lane_pass(world->lane, &world->residence);
    return reader;
}

static void
assert_holds(world_t *world, unsigned refs)
{
    assert_int_equal(u32_load(u32_of(&ring_of(world)->p_tail)) - u32_load(u32_of(&ring_of(world)->c_head)), refs);
}

static void
the_owner_of_a_crowded_lane_drops_what_is_stale_although_there_is_room(void **state)
{
    world_t *world = *state;
    struct lane_reader reader = read_mostly_stale(world, 1000, 3);
    assert_true(make_room(world, 1));
    assert_holds(world, 1000); /* nobody has said that it is crowded */
    lane_read_end(&reader);
    assert_holds(world, 1000);
    assert_true(make_room(world, 1));
    assert_holds(world, 3);
    assert_int_equal(ring_of(world)->size, 16);
    const void *before = ptr_load(&world->lane->segment);
    add(world, 1000, 1001);
    assert_ptr_equal(ptr_load(&world->lane->segment), before);
    reader = reader_of(world);
    struct lane_ref refs[5];
    assert_int_equal(lane_read(&reader, INT64_MAX, refs, 5), 4);
    assert_ns_equal(refs[0].key, 0);
    assert_ns_equal(refs[1].key, 998);
    assert_ns_equal(refs[3].key, 1000);
}

static void
a_lane_of_which_half_is_live_or_that_is_small_is_not_crowded(void **state)
{
    world_t *world = *state;
    static const unsigned cases[][2] = {{1000, 500}, {LANE_CROWD, 1}};
    for (unsigned i = 0; i < 2; i++) {
        world->lane->last_key = INT64_MIN;
        struct lane_reader reader = read_mostly_stale(world, cases[i][0], cases[i][1]);
        lane_read_end(&reader);
        assert_int_equal(u32_load(&world->lane->crowded), 0);
        for (unsigned pod = 0; pod < PODS; pod++)
            set_word(world, pod, 7, BAND, PLACE_DEAD);
        lane_pass(world->lane, &world->residence);
        assert_empty(world);
    }
    world->lane->last_key = INT64_MIN;
    struct lane_reader reader = read_mostly_stale(world, LANE_CROWD + 1, LANE_CROWD / 2);
    lane_read_end(&reader);
    assert_int_equal(u32_load(&world->lane->crowded), 1);
}

static void
the_owner_of_a_lane_that_is_crowded_no_more_leaves_it_as_it_is(void **state)
{
    world_t *world = *state;
    struct lane_reader reader = read_mostly_stale(world, 1000, 3);
    lane_read_end(&reader);
    world->lane->last_key = INT64_MIN;
    for (unsigned i = 0; i < 1000; i++)
        set_word(world, i, 5, BAND, PLACE_ACTIVE);
    const void *before = ptr_load(&world->lane->segment);
    assert_true(make_room(world, 1));
    assert_ptr_equal(ptr_load(&world->lane->segment), before);
    assert_int_equal(u32_load(&world->lane->crowded), 0);
}

static void
the_owner_of_a_crowded_lane_leaves_it_as_it_is_when_little_is_left(void **state)
{
    world_t *world = *state;
    struct lane_reader reader = read_mostly_stale(world, 1000, 3);
    lane_read_end(&reader);
    set_word(world, 0, 6, BAND, PLACE_INFLIGHT);
    lane_pass(world->lane, &world->residence);
    const void *before = ptr_load(&world->lane->segment);
    set_word(world, 998, 6, BAND, PLACE_INFLIGHT);
    set_word(world, 999, 6, BAND, PLACE_INFLIGHT);
    assert_true(make_room(world, 1));
    assert_ptr_equal(ptr_load(&world->lane->segment), before);
}

static void
a_reader_of_a_replaced_segment_does_not_call_its_lane_crowded(void **state)
{
    world_t *world = *state;
    struct lane_reader reader = read_mostly_stale(world, 1000, 3);
    lane_shrink(world->lane, &world->residence, &world->ground.memory, world->ground.record);
    lane_read_end(&reader);
    assert_int_equal(u32_load(&world->lane->crowded), 0);
}

static void
a_crowded_lane_without_memory_has_the_room_that_it_has(void **state)
{
    world_t *world = *state;
    struct lane_reader reader = read_mostly_stale(world, 1000, 3);
    lane_read_end(&reader);
    atomic_store(&world->ground.account.fail_all, true);
    assert_true(make_room(world, 1));
    (void)account_heal(&world->ground.account);
    reader = reader_of(world);
    assert_reads(world, &reader, INT64_MAX, 0, 1000);
}

/* ---- the counters of 32 bits ------------------------------------------------------------------------------------- */

static void
counters_may_pass_their_end(void **state)
{
    world_t *world = *state;
    for (uint32_t before = 0; before <= FIRST_ROOM; before++) {
        count_from(world, UINT32_MAX - before);
        for (unsigned i = 0; i < FIRST_ROOM; i++) {
            set_word(world, i, 5, BAND, PLACE_ACTIVE);
            world->lane->last_key = INT64_MIN;
            put(world, i, 5);
            lane_publish(world->lane);
        }
        struct lane_head head = {0};
        assert_true(lane_peek(world->lane, &head));
        assert_true(lane_has_more(&head));
        assert_ptr_equal(lane_ahead(&head, &world->ground.entries, FIRST_ROOM - 1), entry_of(world, FIRST_ROOM - 1));
        assert_null(lane_ahead(&head, &world->ground.entries, FIRST_ROOM));
        struct lane_reader reader = reader_of(world);
        assert_reads(world, &reader, 7, 0, 8);
        for (unsigned i = 0; i < FIRST_ROOM; i++) {
            assert_next(world, i);
            if (i == 9)
                assert_reads(world, &reader, INT64_MAX, 10, FIRST_ROOM);
        }
        assert_empty(world);
    }
}

static void
a_segment_is_replaced_long_before_its_counters_come_round(void **state)
{
    world_t *world = *state;
    static const uint32_t counters[] = {UINT32_C(1) << 30, UINT32_C(1) << 31, UINT32_MAX - 40, UINT32_MAX - 20};
    for (unsigned round = 0; round < 4; round++) {
        count_from(world, counters[round]);
        world->lane->last_key = INT64_MIN;
        for (unsigned i = 0; i < 10; i++) {
            set_word(world, i, 5, BAND, PLACE_ACTIVE);
            put(world, i, 5);
        }
        lane_publish(world->lane);
        assert_next(world, 0);
        const void *before = ptr_load(&world->lane->segment);
        assert_true(make_room(world, 1));
        assert_ptr_not_equal(ptr_load(&world->lane->segment), before);
        assert_int_equal(u32_load(u32_of(&ring_of(world)->p_tail)), 9);
        for (unsigned i = 1; i < 10; i++)
            assert_next(world, i);
        assert_empty(world);
    }
    count_from(world, 1000);
    const void *before = ptr_load(&world->lane->segment);
    assert_true(make_room(world, 1));
    assert_ptr_equal(ptr_load(&world->lane->segment), before);
}

/* ---- an owner that stopped --------------------------------------------------------------------------------------- */

static void
the_next_owner_goes_on_behind_what_was_published(void **state)
{
    world_t *world = *state;
    add(world, 0, 4);
    for (unsigned i = 10; i < 13; i++) {
        set_word(world, i, 5, BAND, PLACE_ACTIVE);
        put(world, i, 5); /* and he died */
    }
    lane_resume(world->lane);
    add(world, 20, 22);
    for (unsigned i = 0; i < 4; i++)
        assert_next(world, i);
    assert_next(world, 20);
    assert_next(world, 21);
    assert_empty(world);
    lane_resume(world->lane);
    assert_empty(world);
}

/* ---- threads ----------------------------------------------------------------------------------------------------- */

enum { CONSUMERS = 3, READERS = 1, PUSHES = 300000 };

typedef struct team {
    world_t *world;
    mailbox_t mailbox;
    atomic_u32 producing;
    atomic_u32 taken[PUSHES]; /* by key: how often it was claimed */
} team_t;

typedef struct member {
    pthread_t thread;
    team_t *team;
    struct epoch_record *record;
    int64_t last; /* key */
    uint64_t claims;
} member_t;

/* Each record is pushed again as soon as it was claimed; its object is the key. */
static void
push(world_t *world, unsigned key)
{
    struct entry *entry = entry_of(world, key % PODS);
    uint64_t next = state_switched(entry_state(entry), BAND, PLACE_ACTIVE);
    (void)u64_exchange(&entry->object, key);
    (void)u64_exchange(&entry->word.low, next);
    lane_put(world->lane, ref_make(state_version(next), world->records[key % PODS]), (int64_t)key);
}

static void *
producer_main(void *argument)
{
    member_t *member = argument;
    world_t *world = member->team->world;
    unsigned key = 0;
    while (key < PUSHES) {
        unsigned batch = key % 7 + 1;
        epoch_enter(member->record);
        while (state_place(entry_state(entry_of(world, (key + batch - 1) % PODS))) == PLACE_ACTIVE ||
               state_place(entry_state(entry_of(world, key % PODS))) == PLACE_ACTIVE)
            (void)sched_yield();
        mailbox_check(&member->team->mailbox,
                      lane_make_room(world->lane, &world->residence, &world->ground.memory, member->record, batch));
        unsigned end = key + batch < PUSHES ? key + batch : PUSHES;
        for (; key < end && state_place(entry_state(entry_of(world, key % PODS))) != PLACE_ACTIVE; key++)
            push(world, key);
        lane_publish(world->lane);
        if (key % 500 == 0)
            lane_shrink(world->lane, &world->residence, &world->ground.memory, member->record);
        epoch_leave(member->record);
        epoch_poll(member->record);
    }
    u32_store_release(&member->team->producing, 0);
    return NULL;
}

/* True: there was something. */
static bool
consume(member_t *member)
{
    world_t *world = member->team->world;
    struct lane_head head = {0};
    uint64_t state;
    if (!lane_peek(world->lane, &head))
        return false;
    struct entry *entry = entry_at(&world->ground.entries, ref_record(head.ref));
    uint64_t object = u64_load_acquire(&entry->object);
    enum verdict verdict = state_help(&entry->word.low, head.ref, PLACE_ACTIVE, BAND, &world->reorder, &state);
    if (verdict == VERDICT_VALID && u64_cas(&entry->word.low, state, state_switched(state, BAND, PLACE_INFLIGHT))) {
        mailbox_check(&member->team->mailbox, head.key > member->last);
        mailbox_check(&member->team->mailbox, object == (uint64_t)head.key);
        member->last = head.key;
        member->claims++;
        (void)u32_add(&member->team->taken[head.key], 1);
        verdict = VERDICT_STALE;
    }
    if (verdict == VERDICT_STALE)
        lane_advance(&head);
    return true;
}

static void *
consumer_main(void *argument)
{
    member_t *member = argument;
    bool producing = true;
    for (;;) {
        producing = u32_load_acquire(&member->team->producing) != 0;
        epoch_enter(member->record);
        bool found = consume(member);
        epoch_leave(member->record);
        if (!found && !producing)
            return NULL;
        if (!found)
            (void)sched_yield();
    }
}

/* No ref is met with another's key, or twice, or out of order. */
static void
read_all(member_t *member)
{
    world_t *world = member->team->world;
    struct lane_reader reader;
    struct lane_ref ref;
    int64_t last = -1;
    lane_read_begin(&reader, world->lane);
    while (lane_next(&reader, INT64_MAX, &ref)) {
        mailbox_check(&member->team->mailbox, ref.key > last);
        mailbox_check(&member->team->mailbox, ref_record(ref.ref) == world->records[ref.key % PODS]);
        last = ref.key;
    }
    lane_read_end(&reader);
    lane_pass(world->lane, &world->residence);
}

static void *
reader_main(void *argument)
{
    member_t *member = argument;
    while (u32_load_acquire(&member->team->producing) != 0) {
        epoch_enter(member->record);
        read_all(member);
        epoch_leave(member->record);
        (void)sched_yield();
    }
    return NULL;
}

static void
consumers_see_each_ref_in_order_and_claim_it_once_and_readers_see_whole_ones(void **state)
{
    world_t *world = *state;
    static team_t team;
    static member_t members[CONSUMERS + READERS + 1];
    memset((void *)&team, 0, sizeof team);
    team.world = world;
    mailbox_init(&team.mailbox);
    (void)u32_exchange(&team.producing, 1);
    count_from(world, (UINT32_C(1) << 30) - 2000); /* a replacement because of the counters is among the others */
    for (unsigned i = 0; i <= CONSUMERS + READERS; i++) {
        void *(*main_of)(void *) = i == 0 ? producer_main : i <= CONSUMERS ? consumer_main : reader_main;
        members[i] = (member_t){.team = &team, .record = epoch_record_make(world->ground.epoch), .last = -1};
        assert_int_equal(pthread_create(&members[i].thread, NULL, main_of, &members[i]), 0);
    }
    for (unsigned i = 0; i <= CONSUMERS + READERS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    mailbox_assert_empty(&team.mailbox);
    for (unsigned i = 0; i < PUSHES; i++) {
        if (u32_load(&team.taken[i]) != 1)
            fail_msg("ref %u was claimed %u times", i, u32_load(&team.taken[i]));
    }
    assert_empty(world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(refs_come_in_the_order_in_which_they_were_put),
        TEST(nothing_is_seen_before_it_is_published_and_then_all_of_it),
        TEST(a_lane_is_made_with_the_room_that_was_asked),
        TEST(a_full_lane_grows_and_keeps_all_in_order),
        TEST(room_for_many_is_made_at_once),
        TEST(a_new_segment_has_room_for_twice_what_is_live),
        TEST(a_full_lane_of_which_more_than_half_is_live_grows),
        TEST(a_lane_of_which_little_is_live_does_not_grow),
        TEST(a_replacement_drops_what_is_stale_and_keeps_early_refs_and_the_order),
        TEST(without_memory_nothing_changes),
        TEST(a_lane_shrinks_to_what_is_live),
        TEST(a_consumer_of_a_replaced_segment_may_finish_on_it),
        TEST(an_advance_that_comes_late_moves_nothing),
        TEST(hints_of_what_is_behind_the_head_are_right_when_nobody_interferes),
        TEST(a_slot_that_is_used_again_while_it_is_read_is_not_taken_for_the_old_one),
        TEST(counters_may_pass_their_end),
        TEST(a_segment_is_replaced_long_before_its_counters_come_round),
        TEST(the_next_owner_goes_on_behind_what_was_published),
        TEST(reading_meets_all_refs_in_order_and_takes_none),
        TEST(reading_goes_on_where_it_had_no_more_room),
        TEST(reading_stops_at_the_first_key_beyond_its_limit),
        TEST(reading_ends_at_the_tail_that_was_there_when_it_began),
        TEST(a_reader_of_a_replaced_segment_finishes_on_it),
        TEST(a_slot_that_is_used_again_while_it_is_read_is_left_out),
        TEST(reading_goes_on_at_the_head_when_that_is_further),
        TEST(passing_goes_over_stale_refs_up_to_the_first_live_or_early_one),
        TEST(the_owner_of_a_crowded_lane_drops_what_is_stale_although_there_is_room),
        TEST(a_lane_of_which_half_is_live_or_that_is_small_is_not_crowded),
        TEST(the_owner_of_a_lane_that_is_crowded_no_more_leaves_it_as_it_is),
        TEST(the_owner_of_a_crowded_lane_leaves_it_as_it_is_when_little_is_left),
        TEST(a_reader_of_a_replaced_segment_does_not_call_its_lane_crowded),
        TEST(a_crowded_lane_without_memory_has_the_room_that_it_has),
        TEST(consumers_see_each_ref_in_order_and_claim_it_once_and_readers_see_whole_ones),
#undef TEST
    };
    return cmocka_run_group_tests_name("lockfree_lane", tests, NULL, NULL);
}
