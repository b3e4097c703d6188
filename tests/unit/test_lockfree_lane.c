/*
 * lockfree/lane.h: refs come in the order in which they were put, whatever happens to the segment below them.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "expect.h"
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

typedef struct world {
    account_t account;
    struct memory memory;
    struct epoch *epoch;
    struct epoch_record *record;
    struct entries entries;
    struct slab_cache cache;
    atomic_u64 reorder;
    struct residence residence;
    struct lane *lane;
    uint32_t records[PODS];
} world_t;

static int
setup(void **state)
{
    world_t *world = NULL;
    if (posix_memalign((void **)&world, CACHE_LINE, sizeof *world) != 0)
        return -1;
    memset((void *)world, 0, sizeof *world);
    account_init(&world->account);
    const schedq_allocator_t allocator = account_allocator(&world->account);
    assert_true(memory_open(&world->memory, &allocator));
    world->epoch = epoch_open(&world->memory);
    world->record = epoch_record_make(world->epoch);
    records_open(&world->entries, &world->memory);
    epoch_enter(world->record);
    for (unsigned i = 0; i < PODS; i++)
        world->records[i] = slab_take(&world->entries.records, &world->cache);
    world->residence =
        (struct residence){.entries = &world->entries, .place = PLACE_ACTIVE, .band = BAND, .reorder = &world->reorder};
    world->lane = lane_make(&world->memory, 1);
    assert_non_null(world->lane);
    *state = world;
    return 0;
}

static int
teardown(void **state)
{
    world_t *world = *state;
    epoch_leave(world->record);
    lane_free(&world->memory, world->lane);
    records_close(&world->entries);
    epoch_close(world->epoch);
    for (unsigned i = 0; i < MEMORY_KINDS; i++)
        assert_int_equal(memory_bytes(&world->memory, i), 0);
    assert_int_equal(atomic_load(&world->account.blocks), 0);
    assert_int_equal(atomic_load(&world->account.faults), 0);
    memory_close(&world->memory);
    free(world);
    return 0;
}

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

static struct entry *
entry_of(world_t *world, unsigned pod)
{
    return entry_at(&world->entries, world->records[pod]);
}

static void
set_word(world_t *world, unsigned pod, uint64_t version, uint32_t band, enum place place)
{
    (void)u64_exchange(&entry_of(world, pod)->word.low, state_make(version, band, place));
}

static bool
make_room(world_t *world, uint32_t count)
{
    return lane_make_room(world->lane, &world->residence, &world->memory, world->record, count);
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
        struct lane *lane = lane_make(&world->memory, slots);
        const struct segment *segment = ptr_load(&lane->segment);
        assert_true(segment->ring.mask >= slots && segment->ring.mask + 1 == segment->ring.size);
        assert_true(segment->ring.size == 16 || segment->ring.mask / 2 < slots);
        lane_free(&world->memory, lane);
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
    atomic_store(&world->account.fail_all, true);
    assert_false(make_room(world, 1));
    lane_shrink(world->lane, &world->residence, &world->memory, world->record);
    (void)account_heal(&world->account);
    for (unsigned i = 0; i < FIRST_ROOM; i++)
        assert_next(world, i);
    assert_empty(world);
    for (int64_t successes = 0; successes < 2; successes++) {
        account_fail_after(&world->account, successes);
        assert_null(lane_make(&world->memory, 1));
        assert_true(account_heal(&world->account));
    }
}

static void
a_lane_shrinks_to_what_is_live(void **state)
{
    world_t *world = *state;
    add(world, 0, PODS);
    for (unsigned i = 0; i < PODS - 20; i++)
        assert_next(world, i);
    lane_shrink(world->lane, &world->residence, &world->memory, world->record);
    assert_int_equal(ring_of(world)->size, 32);
    const void *before = ptr_load(&world->lane->segment);
    lane_shrink(world->lane, &world->residence, &world->memory, world->record);
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
        assert_ptr_equal(lane_ahead(&head, &world->entries, i), entry_of(world, i));
    assert_null(lane_ahead(&head, &world->entries, 3));
    assert_next(world, 0);
    assert_next(world, 1);
    assert_true(lane_peek(world->lane, &head));
    assert_false(lane_has_more(&head));
    assert_null(lane_ahead(&head, &world->entries, 1));
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
        assert_ptr_equal(lane_ahead(&head, &world->entries, FIRST_ROOM - 1), entry_of(world, FIRST_ROOM - 1));
        assert_null(lane_ahead(&head, &world->entries, FIRST_ROOM));
        for (unsigned i = 0; i < FIRST_ROOM; i++)
            assert_next(world, i);
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

enum { CONSUMERS = 3, PUSHES = 300000 };

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
                      lane_make_room(world->lane, &world->residence, &world->memory, member->record, batch));
        unsigned end = key + batch < PUSHES ? key + batch : PUSHES;
        for (; key < end && state_place(entry_state(entry_of(world, key % PODS))) != PLACE_ACTIVE; key++)
            push(world, key);
        lane_publish(world->lane);
        if (key % 500 == 0)
            lane_shrink(world->lane, &world->residence, &world->memory, member->record);
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
    struct entry *entry = entry_at(&world->entries, ref_record(head.ref));
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

static void
consumers_see_each_ref_in_order_and_claim_it_once(void **state)
{
    world_t *world = *state;
    static team_t team;
    static member_t members[CONSUMERS + 1];
    memset((void *)&team, 0, sizeof team);
    team.world = world;
    mailbox_init(&team.mailbox);
    (void)u32_exchange(&team.producing, 1);
    count_from(world, (UINT32_C(1) << 30) - 2000); /* a replacement because of the counters is among the others */
    for (unsigned i = 0; i <= CONSUMERS; i++) {
        members[i] = (member_t){.team = &team, .record = epoch_record_make(world->epoch), .last = -1};
        assert_int_equal(pthread_create(&members[i].thread, NULL, i == 0 ? producer_main : consumer_main, &members[i]),
                         0);
    }
    for (unsigned i = 0; i <= CONSUMERS; i++)
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
        TEST(consumers_see_each_ref_in_order_and_claim_it_once),
#undef TEST
    };
    return cmocka_run_group_tests_name("lockfree_lane", tests, NULL, NULL);
}
