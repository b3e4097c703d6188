/*
 * lockfree/refs/lane.h: refs come in the order in which they were put, whatever happens to the
 * segments below them; no call does more than one segment's work.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "ground.h"
#include "lockfree/pod/entry.h"
#include "mailbox.h"

/*
 * The lane is compiled into this test: with loads that let others go first, between its steps, and
 * with a count of judgements.
 */
static _Thread_local struct {
    void (*others)(void *); /* once */
    void *ctx;
    unsigned loads_before;
    unsigned loads;  /* of slots */
    unsigned judged; /* refs */
} probe;

static inline uint64_t
load_after_others(const atomic_u64 *word)
{
    void (*others)(void *) = probe.others;
    probe.loads++;
    if (others != NULL && probe.loads_before-- == 0) {
        probe.others = NULL;
        others(probe.ctx);
    }
    return u64_load_acquire(word);
}

static inline enum verdict
judge_and_count(uint64_t state, uint64_t ref, enum place place, uint32_t band)
{
    probe.judged++;
    return state_judge(state, ref, place, band);
}

/* Not those of the library. */
#define segment_pool_trim tested_pool_trim
#define lane_make tested_make
#define lane_free tested_free
#define lane_resume tested_resume
#define lane_make_room tested_make_room
#define lane_tidy tested_tidy
#define lane_shrink tested_shrink
#define lane_put tested_put
#define lane_publish tested_publish
#define lane_beyond tested_beyond
#define lane_read_begin tested_read_begin
#define lane_read_on tested_read_on
#define lane_pass tested_pass
#define lane_read_again tested_read_again
#define lane_read_from tested_read_from
#define lane_bookmark tested_bookmark
#define lane_read_at tested_read_at
#define u64_load_acquire load_after_others
#define state_judge judge_and_count
#include "lockfree/refs/lane.c"
#undef state_judge
#undef u64_load_acquire
#include "help.h"
#include "rounds.h"

enum { BAND = 1, PODS = 2000, FIRST_ROOM = 15 };

/* What a ring of that size takes again before another segment is made. */
enum { ROOM_AGAIN = 14 };

struct world {
    struct ground ground;
    struct slab_cache cache;
    atomic_u64 reorder;
    struct residence residence;
    struct lane_care care;
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
    world->residence =
        (struct residence){.entries = &world->ground.entries, .place = PLACE_ACTIVE, .band = BAND};
    world->care = (struct lane_care){.residence = &world->residence,
                                     .memory = &world->ground.memory,
                                     .epoch = world->ground.record};
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

/* ---- helpers --------------------------------------------------------------------------------- */

static struct entry *
entry_of(world_t *world, unsigned pod)
{
    return entry_at(&world->ground.entries, world->records[pod]);
}

static void
set_word(world_t *world, unsigned pod, uint64_t version, uint32_t band, enum place place)
{
    (void)u64_exchange(&entry_of(world, pod)->word.low,
                       state_make(version, place == PLACE_ACTIVE ? band : 0, place));
}

static bool
make_room(world_t *world, uint32_t count)
{
    return lane_make_room(world->lane, &world->care, count);
}

static void
put(world_t *world, unsigned pod, uint64_t version)
{
    lane_put(world->lane, ref_make(version, world->records[pod]), (int64_t)pod);
}

/* Pods [first, end), active, with one publication. */
static void
add_at_once(world_t *world, unsigned first, unsigned end)
{
    assert_true(make_room(world, end - first));
    for (unsigned i = first; i < end; i++) {
        set_word(world, i, 5, BAND, PLACE_ACTIVE);
        put(world, i, 5);
    }
    lane_publish(world->lane);
}

/* The same, each by itself. */
static void
add(world_t *world, unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++)
        add_at_once(world, i, i + 1);
}

static void
end_pods(world_t *world, unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++)
        set_word(world, i, 6, BAND, PLACE_DEAD);
}

static void
pass_all(struct lane *lane, const struct lane_care *care)
{
    uint32_t most = UINT32_MAX;
    lane_pass(lane, care, &most);
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

/* Past refs that are stale. */
static void
assert_next_after(world_t *world, unsigned pod)
{
    pass_all(world->lane, &world->care);
    assert_next(world, pod);
}

static void
assert_empty(world_t *world)
{
    struct lane_head head = {0};
    assert_false(lane_peek(world->lane, &head));
}

static void
assert_next_empty(world_t *world)
{
    pass_all(world->lane, &world->care);
    assert_empty(world);
}

static struct segment *
first_of(world_t *world)
{
    return ptr_load(&world->lane->first);
}

static struct segment *
last_of(world_t *world)
{
    return ptr_load(&world->lane->last);
}

static ck_ring_t *
ring_of(world_t *world)
{
    return &last_of(world)->ring;
}

static bool
is_deleted(const struct segment *segment)
{
    return ((uintptr_t)ptr_load(&segment->next) & 1) != 0;
}

static struct segment *
behind(const struct segment *segment)
{
    uintptr_t next = (uintptr_t)ptr_load(&segment->next);
    return (struct segment *)(next & ~(uintptr_t)1);
}

/* Segments that a walk meets. */
static unsigned
segments_of(world_t *world)
{
    unsigned count = 0;
    for (struct segment *segment = first_of(world); segment != NULL; segment = behind(segment))
        count++;
    return count;
}

/* Refs between the heads and the tails of all segments. */
static unsigned
refs_of(world_t *world)
{
    unsigned count = 0;
    for (struct segment *segment = first_of(world); segment != NULL; segment = behind(segment))
        count += u32_load(u32_of(&segment->ring.p_tail)) - u32_load(u32_of(&segment->ring.c_head));
    return count;
}

/* As if the segment had seen so many pushes. */
static void
count_from(world_t *world, uint32_t counter)
{
    ck_ring_t *ring = ring_of(world);
    u32_store(u32_of(&ring->c_head), counter);
    u32_store(u32_of(&ring->p_tail), counter);
    u32_store(segment_known(last_of(world)), counter);
    u32_store(segment_passed(last_of(world)), counter);
    world->lane->tail = counter;
    world->lane->limit = counter + ring->mask;
}

/* ---- one thread ------------------------------------------------------------------------------ */

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
        const struct segment *segment = ptr_load(&lane->first);
        assert_true(segment->ring.mask >= slots && segment->ring.mask + 1 == segment->ring.size);
        assert_true(segment->ring.size == 16 || segment->ring.mask / 2 < slots);
        lane_free(&world->ground.memory, lane);
    }
}

static void
a_full_lane_grows_by_segments_of_twice_the_size_up_to_the_bound_and_keeps_all_in_order(void **state)
{
    world_t *world = *state;
    uint32_t largest = 0;
    add(world, 0, PODS);
    for (struct segment *segment = first_of(world); segment != NULL; segment = behind(segment)) {
        assert_false(is_deleted(segment));
        assert_true(segment->ring.size == 2 * largest || segment->ring.size == SEGMENT_SLOTS_MAX ||
                    largest == 0);
        largest = segment->ring.size;
    }
    assert_int_equal(largest, SEGMENT_SLOTS_MAX);
    for (unsigned i = 0; i < PODS; i++)
        assert_next(world, i);
    assert_empty(world);
    assert_ptr_equal(first_of(world), last_of(world));
}

static void
a_batch_becomes_visible_at_once(void **state)
{
    world_t *world = *state;
    add(world, 0, 3);
    add_at_once(world, 3, 200);
    for (unsigned i = 0; i < 200; i++)
        assert_next(world, i);
    assert_empty(world);
}

/* A queue that is filled and drained needs no memory, and no other segment. */
static void
a_lane_that_is_drained_as_it_is_filled_stays_as_it_is(void **state)
{
    world_t *world = *state;
    const void *before = first_of(world);
    atomic_store(&world->ground.account.fail_all, true);
    for (unsigned i = 0; i < PODS; i++) {
        add(world, i, i + 1);
        if (i >= 5)
            assert_next(world, i - 5);
    }
    (void)account_heal(&world->ground.account);
    assert_ptr_equal(first_of(world), before);
    assert_ptr_equal(last_of(world), before);
}

/* They are claimed, and no consumer advances the head: or one stands at it that stays. */
static void
a_lane_of_which_little_is_live_does_not_grow(void **state)
{
    world_t *world = *state;
    for (unsigned stays = 0; stays < 2; stays++) {
        world->lane->last_key = INT64_MIN;
        add(world, 0, 1);
        for (unsigned i = 1; i < PODS; i++) {
            add(world, i, i + 1);
            if (i >= 5 + stays)
                set_word(world, i - 5, 6, BAND, PLACE_INFLIGHT);
            assert_true(segments_of(world) <= 2);
        }
        assert_int_equal(ring_of(world)->size, 16);
        end_pods(world, 0, PODS);
        pass_all(world->lane, &world->care);
        assert_empty(world);
    }
}

static void
a_copy_has_what_lives_and_early_refs_in_their_order(void **state)
{
    world_t *world = *state;
    add(world, 0, 13);
    /*
     * 0: live; 1: in another band; 2: dead; 3: another pod's record by now; 4: early; 5:
     * lagging; 6: its page is gone
     */
    end_pods(world, 7, 13);
    set_word(world, 1, 5, BAND + 1, PLACE_ACTIVE);
    set_word(world, 2, 6, BAND, PLACE_DEAD);
    set_word(world, 3, 9, BAND, PLACE_ACTIVE);
    set_word(world, 4, 4, BAND + 1, PLACE_ACTIVE);
    (void)u64_exchange(&entry_of(world, 5)->word.low,
                       state_described(state_make(5, BAND, PLACE_ACTIVE)));
    uint64_t early = entry_state(entry_of(world, 4));
    const struct segment *before = last_of(world);
    assert_true(make_room(world, 3));
    assert_true(is_deleted(before) && behind(before) == last_of(world));
    assert_ptr_equal(first_of(world), last_of(world));
    assert_int_equal(ring_of(world)->size, 16);
    assert_int_equal(u32_load(u32_of(&ring_of(world)->p_tail)), 4);
    assert_true(entry_state(entry_of(world, 4)) == early);
    assert_int_equal(u64_load(&world->reorder), 0);
    assert_next(world, 0);
    for (unsigned i = 4; i < 7; i++)
        assert_next(world, i);
    assert_empty(world);
}

static void
without_memory_nothing_changes(void **state)
{
    world_t *world = *state;
    add(world, 0, FIRST_ROOM - 1);
    atomic_store(&world->ground.account.fail_all, true);
    assert_true(make_room(world, 1)); /* the room that there is */
    add(world, FIRST_ROOM - 1, FIRST_ROOM);
    assert_false(make_room(world, 1));
    end_pods(world, 1, FIRST_ROOM - 1);
    assert_false(make_room(world, 1));
    lane_shrink(world->lane, &world->care);
    (void)account_heal(&world->ground.account);
    assert_next(world, 0);
    assert_next_after(world, FIRST_ROOM - 1);
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
    lane_shrink(world->lane, &world->care);
    assert_int_equal(segments_of(world), 1);
    assert_int_equal(ring_of(world)->size, 32);
    const void *before = last_of(world);
    lane_shrink(world->lane, &world->care);
    assert_ptr_equal(last_of(world), before);
    for (unsigned i = PODS - 20; i < PODS; i++)
        assert_next(world, i);
    assert_empty(world);
}

static void
a_consumer_of_a_replaced_segment_goes_on_in_its_copy(void **state)
{
    world_t *world = *state;
    struct lane_head head = {0};
    add(world, 0, FIRST_ROOM);
    assert_true(lane_peek(world->lane, &head));
    end_pods(world, 1, 12);
    add(world, FIRST_ROOM, FIRST_ROOM + 1);
    assert_ptr_not_equal(first_of(world), head.segment);
    lane_advance(&head); /* of the old one: says nothing about the new one */
    assert_next(world, 0);
    for (unsigned i = 12; i <= FIRST_ROOM; i++)
        assert_next(world, i);
    assert_empty(world);
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

static uint32_t
head_position(const struct lane_head *head)
{
    return u32_load(u32_of(&head->segment->ring.c_head));
}

static void
consumers_begin_behind_what_was_passed_and_the_head_follows(void **state)
{
    world_t *world = *state;
    struct lane_head old = {0}, head = {0};
    add(world, 0, PASSED_LAG + 2);
    assert_true(lane_peek(world->lane, &old));
    for (unsigned i = 0; i < PASSED_LAG; i++) {
        assert_true(lane_peek(world->lane, &head));
        assert_int_equal(ref_record(head.ref), world->records[i]);
        assert_int_equal(head_position(&head), 0);
        lane_pass_one(&head);
    }
    assert_int_equal(head_position(&head), PASSED_LAG);
    lane_pass_one(&old); /* comes late: is behind the head */
    assert_true(lane_peek(world->lane, &head));
    assert_int_equal(ref_record(head.ref), world->records[PASSED_LAG]);
    lane_pass_one(&head);
    assert_true(lane_peek(world->lane, &head));
    assert_int_equal(ref_record(head.ref), world->records[PASSED_LAG + 1]);
    lane_pass_one(&head); /* nothing is behind it */
    assert_int_equal(head_position(&head), PASSED_LAG + 2);
    assert_false(lane_peek(world->lane, &head));
    assert_empty(world);
}

static void
a_late_pass_shows_stale_refs_once_more(void **state)
{
    world_t *world = *state;
    struct lane_head old = {0}, head = {0};
    add(world, 0, 4);
    assert_true(lane_peek(world->lane, &old));
    for (unsigned i = 0; i < 3; i++) {
        assert_true(lane_peek(world->lane, &head));
        lane_pass_one(&head);
    }
    lane_pass_one(&old);
    for (unsigned i = 1; i < 4; i++)
        assert_next(world, i);
    assert_empty(world);
}

static void
a_consumer_goes_from_ref_to_ref_as_far_as_it_saw(void **state)
{
    world_t *world = *state;
    struct lane_head head = {0};
    add(world, 0, 3);
    assert_true(lane_peek(world->lane, &head));
    add(world, 3, 4);
    for (unsigned i = 1; i < 3; i++) {
        lane_pass_one(&head);
        assert_true(lane_peek_next(&head));
        assert_int_equal(ref_record(head.ref), world->records[i]);
    }
    assert_false(lane_peek_next(&head));
    for (unsigned i = 2; i < 4; i++)
        assert_next(world, i);
    assert_empty(world);
}

static void
hints_of_what_is_behind_the_head_are_right_when_nobody_interferes(void **state)
{
    world_t *world = *state;
    struct lane_head head = {0};
    add(world, 0, 3);
    assert_true(lane_peek(world->lane, &head));
    assert_int_equal(lane_left(&head), 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(lane_ahead(&head, i), world->records[i]);
    assert_next(world, 0);
    assert_next(world, 1);
    assert_true(lane_peek(world->lane, &head));
    assert_int_equal(lane_left(&head), 1);
}

/* All are claimed, and others stand in their slots. */
static void
use_all_slots_again(void *ctx)
{
    world_t *world = ctx;
    for (unsigned i = 0; i < ROOM_AGAIN; i++)
        assert_next(world, i);
    add(world, ROOM_AGAIN, 2 * ROOM_AGAIN);
}

static void
a_slot_that_is_used_again_while_it_is_read_is_not_taken_for_the_old_one(void **state)
{
    world_t *world = *state;
    for (unsigned loads = 0; loads < 2; loads++) { /* the key, the ref */
        struct lane_head head = {0};
        world->lane->last_key = INT64_MIN;
        for (unsigned i = 0; i < 2 * ROOM_AGAIN; i++)
            set_word(world, i, 4, BAND, PLACE_DEAD);
        add(world, 0, ROOM_AGAIN);
        probe.loads_before = loads;
        probe.ctx = world;
        probe.others = use_all_slots_again;
        assert_true(lane_peek(world->lane, &head));
        assert_null(probe.others);
        assert_ns_equal(head.key, ROOM_AGAIN);
        assert_int_equal(ref_record(head.ref), world->records[ROOM_AGAIN]);
        for (unsigned i = ROOM_AGAIN; i < 2 * ROOM_AGAIN; i++)
            assert_next(world, i);
        assert_empty(world);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

static struct lane_reader
reader_of(world_t *world)
{
    struct lane_reader reader;
    lane_read_begin(&reader, world->lane);
    return reader;
}

static bool
next_ref(struct lane_reader *reader, int64_t limit, const struct lane_care *care,
         struct lane_ref *ref)
{
    while (lane_next(reader, limit, ref, 1) == 0) {
        if (!lane_read_on(reader, care))
            return false;
    }
    return true;
}

/* The next refs up to `limit` are those of the pods [first, end). */
static void
assert_reads(world_t *world, struct lane_reader *reader, int64_t limit, unsigned first,
             unsigned end)
{
    struct lane_ref ref = {0};
    for (unsigned i = first; i < end; i++) {
        assert_true(next_ref(reader, limit, NULL, &ref));
        assert_int_equal(ref_record(ref.ref), world->records[i]);
        assert_ns_equal(ref.key, (int64_t)i);
    }
    assert_false(next_ref(reader, limit, NULL, &ref));
}

static void
reading_leaves_out_what_consumers_passed(void **state)
{
    world_t *world = *state;
    struct lane_head head = {0};
    add(world, 0, 2);
    struct lane_reader early = reader_of(world);
    add(world, 2, PASSED_LAG + 1);
    for (unsigned i = 1; i < PASSED_LAG; i++) {
        assert_true(lane_peek(world->lane, &head));
        lane_pass_one(&head);
        assert_int_equal(u32_load(u32_of(&first_of(world)->ring.c_head)), 0);
        struct lane_reader reader = reader_of(world);
        lane_read_passed(&reader);
        assert_reads(world, &reader, INT64_MAX, i, PASSED_LAG + 1);
    }
    lane_read_passed(&early); /* of a time when only two were there */
    assert_reads(world, &early, INT64_MAX, 0, 0);
}

static void
reading_meets_all_refs_in_order_and_takes_none(void **state)
{
    world_t *world = *state;
    struct lane_reader reader = reader_of(world);
    assert_reads(world, &reader, INT64_MAX, 0, 0);
    add(world, 0, PODS);
    set_word(world, 3, 6, BAND, PLACE_DEAD); /* refs are not judged */
    for (unsigned i = 0; i < 2; i++) {
        reader = reader_of(world);
        assert_reads(world, &reader, INT64_MAX, 0, PODS);
        assert_reads(world, &reader, INT64_MAX, PODS, PODS);
    }
    assert_next(world, 0);
    reader = reader_of(world);
    assert_reads(world, &reader, INT64_MAX, 1, PODS);
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
reading_ends_in_the_segment_that_was_the_last_when_it_began(void **state)
{
    world_t *world = *state;
    add(world, 0, 3);
    struct lane_reader reader = reader_of(world);
    add(world, 3, 5);
    assert_reads(world, &reader, INT64_MAX, 0, 3);
    reader = reader_of(world);
    add(world, 5, 500);
    assert_reads(world, &reader, INT64_MAX, 0, 5);
    reader = reader_of(world);
    assert_reads(world, &reader, INT64_MAX, 0, 500);
}

/* The last one may be replaced again and again while it is read: there is an end. */
static void
reading_ends_although_the_last_segment_is_replaced_behind_each_ref(void **state)
{
    world_t *world = *state;
    struct lane_ref ref = {0};
    unsigned read = 0, next = 5;
    add(world, 0, 5);
    struct lane_reader reader = reader_of(world);
    for (; next_ref(&reader, INT64_MAX, NULL, &ref); read++) {
        assert_true(read < 100);
        end_pods(world, 1, next);
        world->lane->last_key = INT64_MIN;
        for (unsigned i = 0; i < 10; i++, next++)
            add(world, next, next + 1);
    }
    assert_true(next > 50 && read <= 20);
}

static void
a_reader_of_a_replaced_segment_finishes_on_it_and_meets_no_ref_twice(void **state)
{
    world_t *world = *state;
    struct lane_ref ref = {0};
    unsigned met[PODS] = {0};
    add(world, 0, FIRST_ROOM);
    end_pods(world, 3, 12);
    struct lane_reader reader = reader_of(world);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(lane_next(&reader, INT64_MAX, &ref, 1), 1);
        met[ref.key]++;
    }
    add(world, FIRST_ROOM, FIRST_ROOM + 1);
    assert_ptr_not_equal(first_of(world), reader.segment);
    assert_next(world, 0);
    while (next_ref(&reader, INT64_MAX, NULL, &ref))
        met[ref.key]++;
    for (unsigned i = 1; i < FIRST_ROOM; i++)
        assert_int_equal(met[i], 1);
}

static void
a_slot_that_is_used_again_while_it_is_read_is_left_out(void **state)
{
    world_t *world = *state;
    for (unsigned loads = 0; loads < 4;
         loads++) { /* the first slot's key, ref; the second's, after one was read */
        world->lane->last_key = INT64_MIN;
        for (unsigned i = 0; i < 2 * ROOM_AGAIN; i++)
            set_word(world, i, 4, BAND, PLACE_DEAD);
        add(world, 0, ROOM_AGAIN);
        struct lane_reader reader = reader_of(world);
        probe.loads_before = loads;
        probe.ctx = world;
        probe.others = use_all_slots_again;
        /* Whatever is left out had been claimed; of what came later nothing is told. */
        struct lane_ref ref = {0};
        unsigned read = 0;
        for (; lane_next(&reader, ROOM_AGAIN - 1, &ref, 1) > 0; read++) {
            assert_ns_equal(ref.key, read);
            assert_int_equal(ref_record(ref.ref), world->records[read]);
        }
        assert_null(probe.others);
        assert_int_equal(read, loads / 2);
        assert_int_equal(reader.position, reader.end);
        for (unsigned i = ROOM_AGAIN; i < 2 * ROOM_AGAIN; i++)
            assert_next(world, i);
    }
}

static void
slots_that_are_used_again_while_several_are_read_are_left_out(void **state)
{
    world_t *world = *state;
    for (unsigned loads = 0; loads < 2 * ROOM_AGAIN; loads++) {
        world->lane->last_key = INT64_MIN;
        for (unsigned i = 0; i < 2 * ROOM_AGAIN; i++)
            set_word(world, i, 4, BAND, PLACE_DEAD);
        add(world, 0, ROOM_AGAIN);
        struct lane_reader reader = reader_of(world);
        struct lane_ref refs[ROOM_AGAIN];
        probe.loads_before = loads;
        probe.ctx = world;
        probe.others = use_all_slots_again;
        assert_int_equal(lane_next(&reader, INT64_MAX, refs, ROOM_AGAIN), 0);
        assert_null(probe.others);
        assert_int_equal(reader.position, reader.end);
        for (unsigned i = ROOM_AGAIN; i < 2 * ROOM_AGAIN; i++)
            assert_next(world, i);
    }
}

static void
several_are_read_up_to_a_limit_and_behind_the_head(void **state)
{
    world_t *world = *state;
    struct lane_ref refs[8] = {{0}};
    add(world, 0, 8);
    struct lane_reader reader = reader_of(world);
    assert_next(world, 0);
    assert_int_equal(lane_next(&reader, 2, refs, 8), 2);
    assert_ns_equal(refs[0].key, 1);
    assert_ns_equal(refs[1].key, 2);
    assert_int_equal(lane_next(&reader, 2, refs, 8), 0);
    assert_int_equal(lane_next(&reader, INT64_MAX, refs, 3), 3);
    assert_ns_equal(refs[2].key, 5);
    assert_int_equal(lane_next(&reader, INT64_MAX, refs, 0), 0);
    assert_int_equal(lane_next(&reader, INT64_MAX, refs, 8), 2);
    assert_int_equal(reader.read, 7);
}

/*
 * The last one is replaced, in the middle of the chain, and stays linked: what lives in it is met
 * in its copy only.
 */
static void
a_deleted_segment_that_is_linked_is_passed_over(void **state)
{
    world_t *world = *state;
    struct lane_ref ref = {0};
    unsigned read = 0;
    add(world, 0, FIRST_ROOM + 1); /* the second segment is the last */
    struct segment *middle = last_of(world);
    add(world, FIRST_ROOM + 1, 40);
    end_pods(world, FIRST_ROOM + 1, 39);
    add(world, 40, 50);
    assert_true(is_deleted(middle) && behind(first_of(world)) == middle);
    struct lane_reader reader = reader_of(world);
    for (int64_t last = -1; next_ref(&reader, INT64_MAX, NULL, &ref); read++) {
        assert_true(ref.key > last);
        last = ref.key;
    }
    assert_true(read < 50);
    reader = reader_of(world);
    while (next_ref(&reader, INT64_MAX, &world->care, &ref))
        ;
    assert_ptr_not_equal(behind(first_of(world)), middle);
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
    pass_all(world->lane, &world->care);
    struct lane_head head = {0};
    assert_true(lane_peek(world->lane, &head));
    assert_ns_equal(head.key, 4);
    assert_true(state_place(entry_state(entry_of(world, 4))) ==
                PLACE_INFLIGHT); /* and is not helped */
    set_word(world, 4, 6, BAND, PLACE_INFLIGHT);
    pass_all(world->lane, &world->care);
    assert_next(world, 9);
    pass_all(world->lane, &world->care);
    assert_empty(world);
}

static void
a_search_goes_past_whole_segments_and_a_reading_goes_on_in_another_section(void **state)
{
    world_t *world = *state;
    struct lane_ref ref = {0};
    add(world, 0, PODS);
    for (int64_t from = 0; from <= PODS; from += 37) {
        struct lane_reader reader = reader_of(world);
        unsigned passed = 0;
        lane_read_from(&reader, from, 0, NULL);
        bool found = lane_next(&reader, INT64_MAX, &ref, 1) > 0;
        for (; found && ref.key < from; passed++)
            found = lane_next(&reader, INT64_MAX, &ref, 1) > 0;
        assert_true(found == (from < PODS) && passed < SEGMENT_SLOTS_MAX);
        assert_true(!found || ref.key == from);
        if (found) {
            lane_read_again(&reader, ref.key, NULL, MARK_OF_EVENTS);
            assert_reads(world, &reader, INT64_MAX, (unsigned)from + 1, PODS);
        }
    }
}

static void
a_search_looks_at_no_slot_of_the_segments_far_before(void **state)
{
    world_t *world = *state;
    add(world, 0, PODS);
    assert_true(segments_of(world) > 6);
    struct lane_reader reader = reader_of(world);
    probe.loads = 0;
    lane_read_from(&reader, PODS - 1, PODS - 1, NULL);
    assert_true(probe.loads <= 2);
    assert_true(reader.segment == last_of(world));
}

/* More refs than a segment has may have one key. */
static void
a_search_passes_none_of_the_refs_with_its_key(void **state)
{
    world_t *world = *state;
    enum { ALIKE = 300 };
    for (unsigned i = 0; i < PODS; i++) {
        assert_true(make_room(world, 1));
        set_word(world, i, 5, BAND, PLACE_ACTIVE);
        lane_put(world->lane, ref_make(5, world->records[i]), i / ALIKE);
        lane_publish(world->lane);
    }
    for (unsigned from = 0; from <= PODS / ALIKE; from++) {
        struct lane_reader reader = reader_of(world);
        struct lane_ref ref = {.key = INT64_MIN};
        lane_read_from(&reader, from, from, NULL);
        while (ref.key < from)
            assert_true(next_ref(&reader, INT64_MAX, NULL, &ref));
        assert_int_equal(ref_record(ref.ref), world->records[from * ALIKE]);
    }
}

/* ---- what lives in front of what does not ---------------------------------------------------- */

/* An event: all is read and judged, then heads are passed. Returns the refs that were read. */
static unsigned
read_as_an_event(world_t *world)
{
    struct lane_reader reader = reader_of(world);
    struct lane_ref ref = {0};
    unsigned read = 0;
    for (; next_ref(&reader, INT64_MAX, &world->care, &ref); read++) {
        const struct entry *entry = entry_at(&world->ground.entries, ref_record(ref.ref));
        lane_found_stale(&reader, state_judge(entry_state(entry), ref.ref, PLACE_ACTIVE, BAND) ==
                                      VERDICT_STALE);
    }
    pass_all(world->lane, &world->care);
    return read;
}

/* A host's walk: reads a part, and takes out all of its pods but each `stays`th; and so on. */
static void
a_reading_in_parts_leaves_nothing_behind_and_no_part_has_much_to_tidy(void **state)
{
    world_t *world = *state;
    enum { PART = SEGMENT_SLOTS_MAX / 2 };
    static const unsigned stays[] = {PODS, 100, 3};
    for (unsigned i = 0; i < 3; i++) {
        int64_t before = 0, from = 0;
        unsigned live = 0, most_judged = 0;
        struct lane_ref ref = {0};
        world->lane->last_key = INT64_MIN;
        add(world, 0, PODS);
        for (unsigned read = PART; read == PART;) {
            struct lane_reader reader = reader_of(world);
            int64_t begin = from;
            probe.judged = 0;
            lane_read_from(&reader, from, before, &world->care);
            most_judged = probe.judged > most_judged ? probe.judged : most_judged;
            before = begin;
            for (read = 0; read < PART && next_ref(&reader, INT64_MAX, NULL, &ref);) {
                unsigned pod = (unsigned)ref.key;
                if (ref.key < from)
                    continue;
                from = ref.key + 1;
                read++;
                if (pod % stays[i] == stays[i] - 1)
                    live++;
                else
                    end_pods(world, pod, pod + 1);
            }
        }
        assert_true(most_judged <= 2 * SEGMENT_SLOTS_MAX);
        /* and the last one, which is its owner's */
        assert_true(refs_of(world) <= 2 * live + SEGMENT_SLOTS_MAX);
        end_pods(world, 0, PODS);
        assert_next_empty(world);
    }
}

/* The segment is open: its owner goes on, and others pass what comes too. */
static void
a_reading_in_parts_tidies_nothing_where_others_passed_all_that_it_found(void **state)
{
    world_t *world = *state;
    uint32_t most = UINT32_MAX;
    add(world, 0, 8);
    struct lane_reader reader = reader_of(world);
    end_pods(world, 0, 8);
    add(world, 8, 16);
    end_pods(world, 8, 12);
    lane_pass(world->lane, &world->care, &most);
    probe.judged = 0;
    lane_read_from(&reader, PODS, INT64_MIN, &world->care);
    assert_int_equal(probe.judged, 0);
}

/* ---- bookmarks ------------------------------------------------------------------------------- */

/* The section ends, and another one begins: what was retired meanwhile is free. */
static void
section_anew(world_t *world)
{
    epoch_leave(world->ground.record);
    epoch_poll(world->ground.record);
    epoch_poll(world->ground.record);
    epoch_enter(world->ground.record);
}

/* Reads on to the first ref of a segment, but for the first one, and leaves a bookmark there. */
static struct lane_reader
bookmarked_reader(world_t *world, unsigned least, struct lane_ref *ref)
{
    struct lane_reader reader = reader_of(world);
    const struct segment *segment = NULL;
    do {
        segment = reader.segment;
        assert_true(next_ref(&reader, INT64_MAX, NULL, ref));
    } while (ref->key < least || reader.segment == segment);
    assert_true(lane_bookmark(&reader, world->ground.record, MARK_OF_EVENTS));
    return reader;
}

static void
a_reading_goes_on_at_its_bookmark_and_looks_at_nothing_before_it(void **state)
{
    world_t *world = *state;
    struct lane_ref ref = {0};
    add(world, 0, PODS);
    struct lane_reader reader = bookmarked_reader(world, PODS / 2, &ref);
    section_anew(world);
    struct segment *first = first_of(world);
    uint64_t number = first->number;
    first->number = UINT64_MAX; /* it counts as behind all others */
    lane_read_again(&reader, ref.key, world->ground.record, MARK_OF_EVENTS);
    assert_reads(world, &reader, INT64_MAX, (unsigned)ref.key + 1, PODS);
    reader = reader_of(world);
    lane_read_at(&reader, world->ground.record, MARK_OF_EVENTS);
    assert_reads(world, &reader, INT64_MAX, (unsigned)ref.key, PODS);
    first->number = number;
}

/* What is before it goes, and is freed: by consumers, or by a reader that leaves out ended pods. */
static void
a_bookmark_of_a_segment_that_goes_is_taken_away(void **state)
{
    world_t *world = *state;
    for (unsigned middle = 0; middle < 2; middle++) {
        struct lane_ref ref = {0};
        world->lane->last_key = INT64_MIN;
        add(world, 0, PODS);
        struct lane_reader reader = bookmarked_reader(world, PODS / 2, &ref);
        unsigned next = (unsigned)ref.key;
        end_pods(world, middle, next);
        if (middle == 0)
            pass_all(world->lane, &world->care);
        else
            (void)read_as_an_event(world);
        section_anew(world);
        assert_null(epoch_bookmarked(world->ground.record, MARK_OF_EVENTS));
        lane_read_again(&reader, ref.key, world->ground.record, MARK_OF_EVENTS);
        assert_reads(world, &reader, INT64_MAX, next + 1, PODS);
        end_pods(world, 0, PODS);
        assert_next_empty(world);
    }
}

/* It is deleted, and linked still, or its retirer has looked for bookmarks already. */
static void
no_bookmark_is_left_of_a_segment_that_is_deleted(void **state)
{
    world_t *world = *state;
    struct lane_ref ref = {0};
    add(world, 0, PODS);
    struct lane_reader reader = bookmarked_reader(world, PODS / 2, &ref);
    epoch_bookmark(world->ground.record, MARK_OF_EVENTS, NULL);
    end_pods(world, 0, (unsigned)ref.key);
    pass_all(world->lane, &world->care);
    assert_true(is_deleted(reader.before));
    assert_false(lane_bookmark(&reader, world->ground.record, MARK_OF_EVENTS));
    assert_null(epoch_bookmarked(world->ground.record, MARK_OF_EVENTS));
}

/* Its word leads to what may be free. */
static void
a_bookmark_that_is_deleted_and_not_yet_retired_is_not_followed(void **state)
{
    world_t *world = *state;
    struct lane_ref ref = {0};
    add(world, 0, PODS);
    struct lane_reader reader = bookmarked_reader(world, PODS / 2, &ref);
    struct segment *deleted = reader.before, *before = first_of(world);
    while (behind(before) != deleted)
        before = behind(before);
    ptr_store(&before->next, reader.segment);
    ptr_store(&deleted->next, (char *)last_of(world) + GONE);
    lane_read_again(&reader, ref.key, world->ground.record, MARK_OF_EVENTS);
    assert_reads(world, &reader, INT64_MAX, (unsigned)ref.key + 1, PODS);
    ptr_store(&deleted->next, behind(before));
    ptr_store(&before->next, deleted);
}

/* ---- passing --------------------------------------------------------------------------------- */

/* Passing does so much and no more, and goes on the next time. */
static void
passing_judges_as_many_refs_as_it_may(void **state)
{
    world_t *world = *state;
    add(world, 0, PODS);
    end_pods(world, 0, PODS);
    for (unsigned times = 0; times < PODS / 100; times++) {
        uint32_t most = 100;
        probe.judged = 0;
        lane_pass(world->lane, &world->care, &most);
        assert_int_equal(most, 0);
        assert_int_equal(probe.judged, 100);
    }
    assert_empty(world);
}

/* Its owner never comes back. */
static void
after_the_others_left_an_event_meets_what_lives_and_a_bounded_rest(void **state)
{
    world_t *world = *state;
    static const unsigned stays[] = {0, 700, PODS - 1};
    for (unsigned i = 0; i < 3; i++) {
        world->lane->last_key = INT64_MIN;
        add(world, 0, PODS);
        end_pods(world, 0, stays[i]);
        end_pods(world, stays[i] + 1, PODS);
        assert_true(read_as_an_event(world) >= PODS);
        (void)read_as_an_event(world);
        assert_true(read_as_an_event(world) <= SEGMENT_SLOTS_MAX);
        assert_true(segments_of(world) <= 2 && refs_of(world) <= SEGMENT_SLOTS_MAX);
        assert_next_after(world, stays[i]);
        assert_next_empty(world);
    }
}

static void
a_closed_segment_of_which_most_is_live_stays_as_it_is(void **state)
{
    world_t *world = *state;
    add(world, 0, PODS);
    const struct segment *segment = first_of(world);
    for (unsigned i = 0; segment->ring.size < SEGMENT_SLOTS_MAX; i++)
        segment = behind(segment);
    unsigned first = (unsigned)u64_load(&segment->slots[0].key);
    end_pods(world, first + 1, first + 1 + SEGMENT_SLOTS_MAX / 2 - 20);
    lane_tidy(world->lane, &world->care);
    assert_false(is_deleted(segment));
    end_pods(world, first + 1, first + 1 + SEGMENT_SLOTS_MAX / 2 + 20);
    unsigned before = segments_of(world);
    lane_tidy(world->lane, &world->care);
    assert_true(is_deleted(segment));
    assert_int_equal(segments_of(world), before);
    struct lane_reader reader = reader_of(world);
    struct lane_ref ref = {0};
    int64_t last = -1;
    for (unsigned i = 0; next_ref(&reader, INT64_MAX, NULL, &ref); i++) {
        assert_true(ref.key > last);
        last = ref.key;
    }
    assert_ns_equal(last, PODS - 1);
}

/* Nobody reads it, and its oldest pod stays: its owner keeps it small. */
static void
an_owner_that_goes_on_leaves_out_what_ended_in_the_middle(void **state)
{
    world_t *world = *state;
    unsigned most = 0;
    add(world, 0, 1);
    for (unsigned round = 0; round < 20; round++) {
        world->lane->last_key = INT64_MIN;
        for (unsigned i = 1; i < PODS; i++) {
            assert_true(make_room(world, 1));
            set_word(world, i, 6 + round, BAND,
                     PLACE_ACTIVE); /* its ref of the last round is stale then */
            put(world, i, 6 + round);
            lane_publish(world->lane);
        }
        unsigned segments = segments_of(world);
        most = segments > most ? segments : most;
    }
    assert_true(most <= 4 * PODS / SEGMENT_SLOTS_MAX);
    assert_next(world, 0);
    assert_next_after(world, 1);
    end_pods(world, 1, PODS);
    assert_next_empty(world);
}

/*
 * The same with pods that end in any order, so many that what lives in a full segment is put apart,
 * and is thinned out again and again.
 */
static void
an_owner_keeps_up_with_pods_that_end_in_any_order(void **state)
{
    world_t *world = *state;
    enum { LIVE = 150, PUTS = 400000 };
    uint32_t random = 1;
    add(world, 0, 1);
    for (unsigned i = 0; i < PUTS; i++) {
        random = random * 1664525 + 1013904223;
        unsigned pod = 1 + (random >> 16) % LIVE;
        assert_true(make_room(world, 1));
        set_word(world, pod, 6 + i, BAND, PLACE_ACTIVE);
        lane_put(world->lane, ref_make(6 + i, world->records[pod]), (int64_t)i + 1);
        lane_publish(world->lane);
    }
    assert_true(segments_of(world) <= 40);
    assert_next(world, 0);
}

static void
without_memory_thin_segments_stay(void **state)
{
    world_t *world = *state;
    add(world, 0, PODS);
    end_pods(world, 1, PODS);
    set_word(world, 300, 5, BAND, PLACE_ACTIVE);
    atomic_store(&world->ground.account.fail_all, true);
    (void)read_as_an_event(world);
    (void)read_as_an_event(world);
    lane_tidy(world->lane, &world->care);
    (void)account_heal(&world->ground.account);
    assert_next(world, 0);
    assert_next_after(world, 300);
    assert_next_empty(world);
}

/*
 * Two readers stand on the same segments; each takes out what it can, and none twice (the ground
 * counts).
 */
static void
two_that_leave_out_the_same_segments_do_it_once(void **state)
{
    world_t *world = *state;
    struct lane_ref ref = {0};
    add(world, 0, PODS);
    struct lane_reader readers[2] = {reader_of(world), reader_of(world)};
    end_pods(world, 1, PODS - 1);
    bool more[2] = {true, true};
    while (more[0] || more[1]) {
        for (unsigned i = 0; i < 2; i++) {
            while (lane_next(&readers[i], INT64_MAX, &ref, 1) > 0)
                lane_found_stale(&readers[i], ref.key > 0 && ref.key < PODS - 1);
            more[i] = more[i] && lane_read_on(&readers[i], &world->care);
        }
    }
    pass_all(world->lane, &world->care);
    assert_true(segments_of(world) <= 2);
    assert_next(world, 0);
    assert_next_after(world, PODS - 1);
    assert_empty(world);
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static void
what_lies_below_a_bound_is_passed_unjudged_and_the_head_follows_later(void **state)
{
    world_t *world = *state;
    struct lane_head head = {0};
    int64_t bound = INT64_MIN;
    add(world, 0, FIRST_ROOM);
    probe.judged = 0;
    for (unsigned pod = 0; pod + 1 < FIRST_ROOM; pod++) {
        assert_true(lane_peek_from(world->lane, bound, &head));
        assert_ns_equal(head.key, (int64_t)pod);
        assert_true(head.position - head.head < HEAD_LAG);
        assert_true(lane_pass_by(&head, &bound));
        assert_ns_equal(bound, lane_bound((int64_t)pod + 1));
    }
    assert_true(lane_peek_from(world->lane, bound, &head));
    assert_false(lane_pass_by(&head, &bound));
    assert_ns_equal(bound, lane_bound(FIRST_ROOM - 1));
    assert_false(lane_peek_from(world->lane, bound, &head));
    assert_empty(world);
    assert_int_equal(probe.judged, 0);
}

static void
the_head_stays_behind_a_bound_only_if_the_bound_is_greater(void **state)
{
    world_t *world = *state;
    struct lane_head head = {0};
    int64_t bound;
    add(world, 2, 8); /* 2 and 3 have one bound, 4 another */
    assert_true(lane_peek(world->lane, &head));
    assert_true(lane_pass_by(&head, &bound));
    assert_ns_equal(bound, 2);
    assert_int_equal(u32_load(u32_of(&ring_of(world)->c_head)), 1);
    assert_true(lane_peek_from(world->lane, bound, &head));
    assert_ns_equal(head.key, 3);
    assert_true(lane_pass_by(&head, &bound));
    assert_ns_equal(bound, 4);
    assert_int_equal(u32_load(u32_of(&ring_of(world)->c_head)), 1);
    assert_true(lane_peek_from(world->lane, bound, &head));
    assert_ns_equal(head.key, 4);
}

static void
a_key_in_a_slot_that_was_used_again_is_no_bound(void **state)
{
    world_t *world = *state;
    struct lane_head head = {0};
    int64_t bound = 0;
    add(world, 0, ROOM_AGAIN);
    assert_true(lane_peek(world->lane, &head));
    probe.loads_before = 0;
    probe.ctx = world;
    probe.others = use_all_slots_again;
    (void)lane_pass_by(&head, &bound);
    assert_null(probe.others);
    assert_ns_equal(bound, lane_bound(0));
    for (unsigned i = ROOM_AGAIN; i < 2 * ROOM_AGAIN; i++)
        assert_next(world, i);
    assert_empty(world);
}

static void
a_tail_that_a_consumer_saw_serves_the_others(void **state)
{
    world_t *world = *state;
    struct lane_head head = {0};
    atomic_u32 *known = segment_known(first_of(world));
    add(world, 0, KNOWN_MIN - 1);
    assert_true(lane_peek(world->lane, &head));
    assert_int_equal(u32_load(known), 0); /* not worth it */
    add(world, KNOWN_MIN - 1, KNOWN_MIN);
    assert_true(lane_peek(world->lane, &head));
    assert_int_equal(u32_load(known), KNOWN_MIN);
    add(world, KNOWN_MIN, 2 * KNOWN_MIN);
    for (unsigned i = 0; i < 2 * KNOWN_MIN; i++) {
        assert_true(lane_peek(world->lane, &head));
        assert_int_equal(head.end, i < KNOWN_MIN ? KNOWN_MIN : 2 * KNOWN_MIN);
        assert_next(world, i);
    }
    u32_store(known, 1); /* of a consumer that comes late */
    add(world, 2 * KNOWN_MIN, 2 * KNOWN_MIN + 1);
    assert_next(world, 2 * KNOWN_MIN);
    assert_empty(world);
}

/* ---- the longest call ------------------------------------------------------------------------ */

static void
no_call_of_an_owner_does_more_than_one_segments_work(void **state)
{
    world_t *world = *state;
    uint64_t before = memory_bytes(&world->ground.memory, MEMORY_QUEUES), most = 0;
    unsigned most_judged = 0;
    for (unsigned key = 0; key < 1000000; key++) {
        unsigned pod = key % PODS;
        set_word(world, pod, 5, BAND, PLACE_ACTIVE);
        probe.judged = 0;
        assert_true(make_room(world, 1));
        most_judged = probe.judged > most_judged ? probe.judged : most_judged;
        uint64_t bytes = memory_bytes(&world->ground.memory, MEMORY_QUEUES);
        most = bytes - before > most ? bytes - before : most;
        before = bytes;
        lane_put(world->lane, ref_make(5, world->records[pod]), (int64_t)key);
        lane_publish(world->lane);
    }
    assert_true(most <= sizeof(struct segment) + SEGMENT_SLOTS_MAX * sizeof(struct slot));
    assert_true(segments_of(world) >= 1000000 / SEGMENT_SLOTS_MAX);
    assert_true(most_judged <= 32);
    /* All but the first end: each call looks at one segment. */
    end_pods(world, 1, PODS);
    most_judged = 0;
    for (unsigned key = 1000000; key < 1100000; key++) {
        probe.judged = 0;
        assert_true(make_room(world, 1));
        most_judged = probe.judged > most_judged ? probe.judged : most_judged;
        lane_put(world->lane, ref_make(5, world->records[0]), (int64_t)key);
        lane_publish(world->lane);
    }
    assert_true(most_judged > 16 && most_judged < SEGMENT_SLOTS_MAX + 32);
    lane_tidy(world->lane, &world->care);
    end_pods(world, 0, 1);
    assert_next_empty(world);
}

/* ---- the counters of 32 bits ----------------------------------------------------------------- */

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
        assert_int_equal(lane_left(&head), FIRST_ROOM);
        assert_int_equal(lane_ahead(&head, FIRST_ROOM - 1), world->records[FIRST_ROOM - 1]);
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
a_segment_is_closed_long_before_its_counters_come_round(void **state)
{
    world_t *world = *state;
    static const uint32_t counters[] = {UINT32_C(1) << 30, UINT32_C(1) << 31, UINT32_MAX - 40,
                                        UINT32_MAX - 20};
    for (unsigned round = 0; round < 4; round++) {
        count_from(world, counters[round]);
        world->lane->last_key = INT64_MIN;
        for (unsigned i = 0; i < 10; i++) {
            set_word(world, i, 5, BAND, PLACE_ACTIVE);
            put(world, i, 5);
        }
        lane_publish(world->lane);
        assert_next(world, 0);
        const void *before = last_of(world);
        world->lane->limit = world->lane->tail;
        assert_true(make_room(world, 1));
        assert_ptr_not_equal(last_of(world), before);
        assert_int_equal(world->lane->tail, 0);
        for (unsigned i = 1; i < 10; i++)
            assert_next(world, i);
        assert_empty(world);
    }
    count_from(world, 1000);
    const void *before = last_of(world);
    world->lane->limit = world->lane->tail;
    assert_true(make_room(world, 1));
    assert_ptr_equal(last_of(world), before);
}

/* ---- an owner that stopped ------------------------------------------------------------------- */

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

/* Between the link of a segment and its store in the lane: the lane still names the one before. */
static void
the_next_owner_finds_the_segment_that_was_linked_and_not_stored(void **state)
{
    world_t *world = *state;
    for (unsigned copies = 0; copies < 2; copies++) {
        world->lane->last_key = INT64_MIN;
        lane_shrink(world->lane, &world->care);
        add(world, 0, ROOM_AGAIN);
        if (copies == 1)
            end_pods(world, 1, ROOM_AGAIN - 1);
        struct segment *before = last_of(world);
        world->lane->limit = world->lane->tail;
        assert_true(make_room(world, 2));
        struct segment *after = last_of(world);
        assert_true(after != before && is_deleted(before) == (copies == 1));
        ptr_store(&world->lane->last, before); /* and it died */
        world->lane->tail = ROOM_AGAIN;
        lane_resume(world->lane);
        assert_ptr_equal(last_of(world), after);
        add(world, 20, 21);
        for (unsigned i = 0; i < ROOM_AGAIN; i++) {
            if (copies == 0 || i == 0 || i == ROOM_AGAIN - 1)
                assert_next(world, i);
        }
        assert_next(world, 20);
        assert_empty(world);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { CONSUMERS = 3, READERS = 2, PUSHES = 300000 };

typedef struct team {
    world_t *world;
    mailbox_t mailbox;
    unsigned pushes;
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
    struct lane_care care = {
        .residence = &world->residence, .memory = &world->ground.memory, .epoch = member->record};
    unsigned key = 0;
    const unsigned pushes = member->team->pushes;
    while (key < pushes) {
        unsigned batch = key % 7 + 1;
        epoch_enter(member->record);
        while (state_place(entry_state(entry_of(world, (key + batch - 1) % PODS))) ==
                   PLACE_ACTIVE ||
               state_place(entry_state(entry_of(world, key % PODS))) == PLACE_ACTIVE)
            (void)sched_yield();
        mailbox_check(&member->team->mailbox, lane_make_room(world->lane, &care, batch));
        unsigned end = key + batch < pushes ? key + batch : pushes;
        for (; key < end && state_place(entry_state(entry_of(world, key % PODS))) != PLACE_ACTIVE;
             key++)
            push(world, key);
        lane_publish(world->lane);
        if (key % 500 == 0)
            lane_shrink(world->lane, &care);
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
    enum verdict verdict =
        help_word(&entry->word.low, head.ref, PLACE_ACTIVE, BAND, &world->reorder, &state);
    if (verdict == VERDICT_VALID &&
        u64_cas(&entry->word.low, state, state_switched(state, BAND, PLACE_INFLIGHT))) {
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

/* No ref is met with another's key, or out of order in its segment; then the reader tidies. */
static void
read_all(member_t *member)
{
    world_t *world = member->team->world;
    const struct lane_care care = {
        .residence = &world->residence, .memory = &world->ground.memory, .epoch = member->record};
    struct lane_reader reader;
    struct lane_ref ref = {0};
    lane_read_begin(&reader, world->lane);
    do {
        int64_t last = -1;
        while (lane_next(&reader, INT64_MAX, &ref, 1) > 0) {
            mailbox_check(&member->team->mailbox, ref.key > last);
            mailbox_check(&member->team->mailbox,
                          ref_record(ref.ref) == world->records[ref.key % PODS]);
            last = ref.key;
            const struct entry *entry = entry_at(&world->ground.entries, ref_record(ref.ref));
            lane_found_stale(&reader, state_judge(entry_state(entry), ref.ref, PLACE_ACTIVE,
                                                  BAND) == VERDICT_STALE);
        }
    } while (lane_read_on(&reader, &care));
    if (++member->claims % 2 == 0)
        pass_all(world->lane, &care);
    else
        lane_tidy(world->lane, &care);
}

static void *
reader_main(void *argument)
{
    member_t *member = argument;
    while (u32_load_acquire(&member->team->producing) != 0) {
        epoch_enter(member->record);
        read_all(member);
        epoch_leave(member->record);
        epoch_poll(member->record);
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
    team.pushes = rounds_of(PUSHES);
    mailbox_init(&team.mailbox);
    (void)u32_exchange(&team.producing, 1);
    count_from(world, (UINT32_C(1) << 30) -
                          2000); /* a segment closed because of the counters is among the others */
    for (unsigned i = 0; i <= CONSUMERS + READERS; i++) {
        void *(*main_of)(void *) = i == 0           ? producer_main
                                   : i <= CONSUMERS ? consumer_main
                                                    : reader_main;
        members[i] =
            (member_t){.team = &team, .record = epoch_record_make(world->ground.epoch), .last = -1};
        assert_int_equal(pthread_create(&members[i].thread, NULL, main_of, &members[i]), 0);
    }
    for (unsigned i = 0; i <= CONSUMERS + READERS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    mailbox_assert_empty(&team.mailbox);
    for (unsigned i = 0; i < team.pushes; i++) {
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
        TEST(
            a_full_lane_grows_by_segments_of_twice_the_size_up_to_the_bound_and_keeps_all_in_order),
        TEST(a_batch_becomes_visible_at_once),
        TEST(a_lane_that_is_drained_as_it_is_filled_stays_as_it_is),
        TEST(a_lane_of_which_little_is_live_does_not_grow),
        TEST(a_copy_has_what_lives_and_early_refs_in_their_order),
        TEST(without_memory_nothing_changes),
        TEST(a_lane_shrinks_to_what_is_live),
        TEST(a_consumer_of_a_replaced_segment_goes_on_in_its_copy),
        TEST(an_advance_that_comes_late_moves_nothing),
        TEST(consumers_begin_behind_what_was_passed_and_the_head_follows),
        TEST(a_late_pass_shows_stale_refs_once_more),
        TEST(a_consumer_goes_from_ref_to_ref_as_far_as_it_saw),
        TEST(hints_of_what_is_behind_the_head_are_right_when_nobody_interferes),
        TEST(what_lies_below_a_bound_is_passed_unjudged_and_the_head_follows_later),
        TEST(the_head_stays_behind_a_bound_only_if_the_bound_is_greater),
        TEST(a_key_in_a_slot_that_was_used_again_is_no_bound),
        TEST(a_tail_that_a_consumer_saw_serves_the_others),
        TEST(a_slot_that_is_used_again_while_it_is_read_is_not_taken_for_the_old_one),
        TEST(reading_leaves_out_what_consumers_passed),
        TEST(reading_meets_all_refs_in_order_and_takes_none),
        TEST(reading_stops_at_the_first_key_beyond_its_limit),
        TEST(reading_ends_in_the_segment_that_was_the_last_when_it_began),
        TEST(reading_ends_although_the_last_segment_is_replaced_behind_each_ref),
        TEST(a_reader_of_a_replaced_segment_finishes_on_it_and_meets_no_ref_twice),
        TEST(a_slot_that_is_used_again_while_it_is_read_is_left_out),
        TEST(slots_that_are_used_again_while_several_are_read_are_left_out),
        TEST(several_are_read_up_to_a_limit_and_behind_the_head),
        TEST(a_deleted_segment_that_is_linked_is_passed_over),
        TEST(reading_goes_on_at_the_head_when_that_is_further),
        TEST(passing_goes_over_stale_refs_up_to_the_first_live_or_early_one),
        TEST(a_search_goes_past_whole_segments_and_a_reading_goes_on_in_another_section),
        TEST(a_search_looks_at_no_slot_of_the_segments_far_before),
        TEST(a_search_passes_none_of_the_refs_with_its_key),
        TEST(a_reading_goes_on_at_its_bookmark_and_looks_at_nothing_before_it),
        TEST(a_bookmark_of_a_segment_that_goes_is_taken_away),
        TEST(no_bookmark_is_left_of_a_segment_that_is_deleted),
        TEST(a_bookmark_that_is_deleted_and_not_yet_retired_is_not_followed),
        TEST(a_reading_in_parts_leaves_nothing_behind_and_no_part_has_much_to_tidy),
        TEST(a_reading_in_parts_tidies_nothing_where_others_passed_all_that_it_found),
        TEST(passing_judges_as_many_refs_as_it_may),
        TEST(after_the_others_left_an_event_meets_what_lives_and_a_bounded_rest),
        TEST(a_closed_segment_of_which_most_is_live_stays_as_it_is),
        TEST(an_owner_that_goes_on_leaves_out_what_ended_in_the_middle),
        TEST(an_owner_keeps_up_with_pods_that_end_in_any_order),
        TEST(without_memory_thin_segments_stay),
        TEST(two_that_leave_out_the_same_segments_do_it_once),
        TEST(no_call_of_an_owner_does_more_than_one_segments_work),
        TEST(counters_may_pass_their_end),
        TEST(a_segment_is_closed_long_before_its_counters_come_round),
        TEST(the_next_owner_goes_on_behind_what_was_published),
        TEST(the_next_owner_finds_the_segment_that_was_linked_and_not_stored),
        TEST(consumers_see_each_ref_in_order_and_claim_it_once_and_readers_see_whole_ones),
#undef TEST
    };
    return cmocka_run_group_tests_name("lockfree_lane", tests, NULL, NULL);
}
