/*
 * lockfree/pod/entry.h: a description reaches exactly the life and the version that it was meant
 * for, and nobody reads half of one; with updates, ends of lives and readers in threads too.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "ground.h"
#include "lockfree/pod/entry.h"
#include "mailbox.h"

struct world {
    struct ground ground;
    struct slab_cache records, descriptions;
};

static int
setup(void **state)
{
    world_t *world = ground_make(sizeof *world);
    epoch_enter(world->ground.record);
    *state = world;
    return 0;
}

static int
teardown(void **state)
{
    world_t *world = *state;
    epoch_leave(world->ground.record);
    ground_free(world);
    return 0;
}

/* ---- helpers --------------------------------------------------------------------------------- */

enum { BAND = 7, OTHER_BAND = 9 };

static uint32_t
take(world_t *world)
{
    uint32_t record = slab_take(&world->ground.entries.records, &world->records);
    assert_int_not_equal(record, 0);
    return record;
}

static uint64_t
desc_of(const struct entry *entry)
{
    return u64_load_acquire(&entry->word.high);
}

/* A pod's life begins, as adding does it: the description lies in the record. */
static uint64_t
begin(struct entry *entry, const struct description *description)
{
    uint64_t life = version_next(state_version(entry_state(entry)));
    uint64_t attributes = attributes_pack(description->priority, 11, 3, description->flags);
    u64_store(&entry->life, life);
    u64_store(&entry->word.high, 0);
    u64_store(&entry->object, description->object);
    time_store(&entry->order_key, description->order_key);
    u64_store(&entry->attributes, attributes);
    u64_store_release(&entry->word.low, state_make(life, BAND, PLACE_ACTIVE));
    return life;
}

static uint64_t
take_description(world_t *world, const struct description *description)
{
    uint64_t desc =
        description_make(&world->ground.entries, &world->descriptions, description, NULL);
    assert_true(desc != 0);
    return desc;
}

static void
assert_described(world_t *world, const struct entry *entry, const struct description *expected,
                 uint64_t desc)
{
    struct description got;
    assert_true(entry_description(&world->ground.entries, entry, &got) == desc);
    assert_true(got.object == expected->object);
    assert_ns_equal(got.order_key, expected->order_key);
    assert_int_equal(got.priority, expected->priority);
    assert_int_equal(got.flags, expected->flags);
    assert_true(got.described_node == expected->described_node);
    assert_true(got.nominated_node == expected->nominated_node);
    assert_true(got.nomination == expected->nomination);
    assert_int_equal(got.marks, expected->marks);
    assert_ns_equal(description_time(&got), description_time(expected));
}

static const struct description first = {
    .object = UINT64_MAX, .order_key = INT64_MIN, .priority = INT32_MIN, .flags = 255};

static const struct description second = {.object = 77,
                                          .order_key = INT64_MAX,
                                          .priority = INT32_MAX,
                                          .flags = 0,
                                          .marks = MARK_OWN_KEY,
                                          .described_node = UINT64_MAX,
                                          .nominated_node = UINT64_MAX - 1,
                                          .nomination = UINT64_MAX - 2};

/* ---- words ----------------------------------------------------------------------------------- */

static void
attributes_give_back_what_they_were_packed_from(void **unused)
{
    (void)unused;
    static const int32_t priorities[] = {INT32_MIN, -1, 0, 1, INT32_MAX};
    static const uint32_t lengths[] = {0, 1, 317, 65535};
    for (unsigned i = 0; i < 5; i++) {
        for (unsigned j = 0; j < 4; j++) {
            for (unsigned k = 0; k < 256; k += 51) {
                uint64_t packed =
                    attributes_pack(priorities[i], lengths[j], (uint8_t)k, (uint8_t)~k);
                assert_int_equal(attributes_priority(packed), priorities[i]);
                assert_int_equal(attributes_name_length(packed), lengths[j]);
                assert_int_equal(attributes_profile(packed), k);
                assert_int_equal(attributes_flags(packed), 255 - k);
            }
        }
    }
}

static void
a_handle_is_the_life_and_the_record(void **unused)
{
    (void)unused;
    schedq_pod_t pod = entry_handle(5, 9);
    assert_int_equal(ref_record(pod.bits), 5);
    assert_int_equal(ref_version(pod.bits), 9);
}

/* ---- describing ------------------------------------------------------------------------------ */

static void
a_pod_has_its_own_description_until_an_update_replaces_it(void **state)
{
    world_t *world = *state;
    struct entry *entry = entry_at(&world->ground.entries, take(world));
    (void)begin(entry, &first);
    assert_described(world, entry, &first, 0);
    uint64_t word = entry_state(entry), desc = take_description(world, &second);
    assert_described(world, entry, &first, 0);
    assert_true(entry_describe(entry, word, 0, word, desc));
    assert_described(world, entry, &second, desc);
    assert_true(entry_state(entry) == word);
    uint64_t newest = take_description(world, &first);
    assert_true(entry_describe(entry, word, desc, state_described(word), newest));
    assert_described(world, entry, &first, newest);
    assert_true(entry_state(entry) == state_described(word));
    description_give(&world->ground.entries, &world->descriptions, desc);
}

/*
 * What must not have changed since the description was decided on: the word, all of it, and the
 * description.
 */
static void
a_description_is_installed_on_what_it_was_decided_on_and_on_nothing_else(void **state)
{
    world_t *world = *state;
    struct entry *entry = entry_at(&world->ground.entries, take(world));
    (void)begin(entry, &first);
    uint64_t word = entry_state(entry);
    uint64_t desc = take_description(world, &second), other = take_description(world, &first);
    uint64_t words[] = {
        state_switched(word, BAND, PLACE_INFLIGHT), state_switched(word, OTHER_BAND, PLACE_ACTIVE),
        state_switched(word, BAND, PLACE_DEAD), state_described(word), word | FLAG_DELETED};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
        (void)u64_exchange(&entry->word.low, words[i]);
        assert_false(entry_describe(entry, word, 0, word, desc));
        assert_false(entry_describe(entry, word, 0, state_described(word), desc));
        assert_true(entry_state(entry) == words[i]);
        assert_true(desc_of(entry) == 0);
    }
    (void)u64_exchange(&entry->word.low, word);
    assert_true(entry_describe(entry, word, 0, word, other));
    assert_false(entry_describe(entry, word, 0, word, desc));
    assert_described(world, entry, &first, other);
}

static void
a_pod_that_was_described_anew_is_not_switched_by_who_did_not_see_it(void **state)
{
    world_t *world = *state;
    struct entry *entry = entry_at(&world->ground.entries, take(world));
    (void)begin(entry, &first);
    uint64_t word = entry_state(entry), desc = take_description(world, &second);
    uint64_t flight = state_switched(word, BAND, PLACE_INFLIGHT);
    assert_true(entry_describe(entry, word, 0, word, desc));
    assert_false(entry_switch(entry, word, 0, flight));
    assert_true(entry_state(entry) == word);
    assert_false(entry_switch(entry, flight, desc, flight));
    assert_true(entry_switch(entry, word, desc, flight));
    assert_true(entry_state(entry) == flight);
    assert_described(world, entry, &second, desc);
}

static void
a_flag_is_set_in_the_flight_that_was_seen(void **state)
{
    world_t *world = *state;
    struct entry *entry = entry_at(&world->ground.entries, take(world));
    (void)begin(entry, &first);
    uint64_t flight = state_switched(entry_state(entry), BAND, PLACE_INFLIGHT);
    (void)u64_exchange(&entry->word.low, flight);
    assert_true(entry_switch(entry, flight, 0, flight | FLAG_ACTIVATED));
    assert_false(entry_switch(entry, flight, 0, flight | FLAG_DELETED));
    assert_true(state_is_pod(entry_state(entry)));
    assert_false(entry_switch(entry, entry_state(entry), 5, entry_state(entry) | FLAG_DELETED));
    assert_true(entry_switch(entry, entry_state(entry), 0, entry_state(entry) | FLAG_DELETED));
    assert_false(state_is_pod(entry_state(entry)));
    assert_true(entry_state(entry) == (flight | FLAG_DELETED | FLAG_ACTIVATED));
}

/*
 * A thread that decided in one life, and comes in the next one, with the same place, band and
 * description word.
 */
static void
the_next_life_of_a_record_is_not_described_by_who_saw_the_last_one(void **state)
{
    world_t *world = *state;
    struct entry *entry = entry_at(&world->ground.entries, take(world));
    uint64_t life = begin(entry, &first);
    uint64_t word = entry_state(entry), desc = take_description(world, &second);
    assert_true(entry_switch(entry, word, 0, state_switched(word, BAND, PLACE_DEAD)));
    assert_true(begin(entry, &first) > life);
    assert_false(entry_describe(entry, word, 0, word, desc));
    assert_false(entry_switch(entry, word, 0, state_switched(word, BAND, PLACE_DEAD)));
    assert_described(world, entry, &first, 0);
}

/* ---- records of descriptions ----------------------------------------------------------------- */

static void
desc_words_do_not_repeat(void **state)
{
    world_t *world = *state;
    enum { COUNT = 2000 };
    static uint64_t seen[COUNT];
    for (unsigned i = 0; i < COUNT; i++) {
        seen[i] = description_make(&world->ground.entries, &world->descriptions, &first, NULL);
        assert_true(seen[i] != 0);
        if (i % 3 != 0)
            description_give(&world->ground.entries, &world->descriptions, seen[i]);
        for (unsigned j = 0; j < i; j++)
            assert_true(seen[j] != seen[i]);
    }
    description_give(&world->ground.entries, &world->descriptions, 0);
}

static void
trim(world_t *world, struct slab *slab, struct slab_cache *cache)
{
    slab_flush(slab, cache);
    slab_trim(slab, world->ground.record);
    assert_int_equal(slab_made(slab), 0);
}

static void
desc_words_do_not_repeat_when_their_page_comes_back(void **state)
{
    world_t *world = *state;
    uint64_t last = 0;
    for (unsigned round = 0; round < 10; round++) {
        for (unsigned i = 0; i < 10; i++) {
            uint64_t desc =
                description_make(&world->ground.entries, &world->descriptions, &first, NULL);
            assert_true(ref_version(desc) > last);
            last = ref_version(desc);
            description_give(&world->ground.entries, &world->descriptions, desc);
        }
        trim(world, &world->ground.entries.descriptions, &world->descriptions);
    }
}

/* A ref of the version after the last one may have been published, for a switch that never came. */
static void
a_record_whose_page_comes_back_has_a_life_above_every_ref_to_it(void **state)
{
    world_t *world = *state;
    uint64_t published = 0;
    for (unsigned round = 0; round < 5; round++) {
        uint32_t record = take(world);
        struct entry *entry = entry_at(&world->ground.entries, record);
        assert_int_equal(state_place(entry_state(entry)), PLACE_FREE);
        uint64_t life = begin(entry, &first);
        assert_true(life > published);
        (void)u64_exchange(&entry->word.low, state_make(life + 1000, BAND, PLACE_DEAD));
        published = life + 1001;
        slab_give(&world->ground.entries.records, &world->records, record);
        trim(world, &world->ground.entries.records, &world->records);
        assert_null(entry_at(&world->ground.entries, record));
    }
}

/* How many versions come after `from` up to `to`; they go round. */
static uint64_t
way(uint64_t from, uint64_t to)
{
    return (to - from) & STATE_VERSION_MASK;
}

static void
lives_go_on_where_versions_go_round_though_pages_come_and_go(void **state)
{
    world_t *world = *state;
    uint64_t last = STATE_VERSION_MASK - 50;
    uint32_t record = take(world);
    u64_store(&entry_at(&world->ground.entries, record)->word.low, state_make(last, 0, PLACE_FREE));
    for (unsigned round = 0; round < 8; round++) {
        slab_give(&world->ground.entries.records, &world->records, record);
        trim(world, &world->ground.entries.records, &world->records);
        record = take(world);
        struct entry *entry = entry_at(&world->ground.entries, record);
        uint64_t life = begin(entry, &first);
        /* a ref of the version after the last may be about */
        assert_in_range(way(last, life), 2, 4);
        last = (life + 20) & STATE_VERSION_MASK;
        (void)u64_exchange(&entry->word.low, state_make(last, BAND, PLACE_DEAD));
    }
}

static void
descriptions_go_on_where_tags_go_round_though_pages_come_and_go(void **state)
{
    world_t *world = *state;
    uint64_t last = STATE_VERSION_MASK - 50;
    for (unsigned round = 0; round < 8; round++) {
        uint64_t desc =
            description_make(&world->ground.entries, &world->descriptions, &first, NULL);
        if (round > 0)
            assert_in_range(way(last, ref_version(desc)), 1, 3);
        struct description_record *taken =
            slab_at(&world->ground.entries.descriptions, ref_record(desc));
        last = ((round == 0 ? last : ref_version(desc)) + 20) & STATE_VERSION_MASK;
        u64_store(&taken->tag, last);
        description_give(&world->ground.entries, &world->descriptions, desc);
        trim(world, &world->ground.entries.descriptions, &world->descriptions);
    }
}

/* However long ago that was. */
static void
what_was_said_in_another_stay_counts_for_nothing(void **unused)
{
    (void)unused;
    static const uint64_t ages[] = {1, 2, UINT64_C(1) << 34, UINT64_C(1) << 35, UINT64_C(3) << 34};
    const uint64_t began = 1000;
    const struct gating said = {.refused = 64, .stay = stay_word(began, 7), .first = 5};
    for (unsigned i = 0; i < sizeof ages / sizeof ages[0]; i++) {
        uint64_t version = (began + ages[i]) & STATE_VERSION_MASK;
        uint64_t state = state_make(version, 0, PLACE_GATED);
        struct gating gating = said;
        gating_judge(&gating, stay_word(version, 3), state);
        assert_int_equal(gating.refused, 0);
        assert_int_equal(gating_gate(&gating, state, true), 3);
    }
}

static void
what_was_said_in_this_stay_counts_where_it_means_something(void **unused)
{
    (void)unused;
    static const enum place places[] = {PLACE_GATED, PLACE_BACKOFF, PLACE_PARKED, PLACE_ACTIVE,
                                        PLACE_INFLIGHT};
    static const unsigned gates[] = {7, 7, 0, 0, 0}, refused[] = {64, 64, 64, 64, 0};
    for (unsigned i = 0; i < 5; i++) {
        uint64_t state = state_make(1005, 0, places[i]);
        struct gating gating = {.refused = 64, .stay = stay_word(1000, 7), .first = 5};
        gating_judge(&gating, stay_word(1000, 3), state);
        assert_int_equal(gating.refused, refused[i]);
        assert_int_equal(gating_gate(&gating, state, true), gates[i]);
        assert_int_equal(gating_gate(&gating, state, false), places[i] == PLACE_GATED ? 7 : 0);
        assert_int_equal(gating.first, places[i] == PLACE_ACTIVE ? 5 : 0);
    }
}

static void
what_the_record_knows_of_a_stay_is_not_in_the_description_too(void **unused)
{
    (void)unused;
    const struct gating nothing = {.stay = stay_word(1000, 7)};
    assert_false(gating_says(&nothing));
    const struct gating said[] = {{.stay = stay_word(1000, 7), .refused = 1},
                                  {.stay = stay_word(1000, 7), .first = 1},
                                  {.stay = stay_word(1000, 0) | STAY_UNGATED},
                                  {.stay = stay_word(1000, 7) | STAY_ATTEMPTED}};
    for (unsigned i = 0; i < sizeof said / sizeof said[0]; i++)
        assert_true(gating_says(&said[i]));
}

/* Memory is used again at once, with what its last description left in it. */
static void
a_description_tells_nothing_of_the_one_whose_memory_it_has(void **state)
{
    world_t *world = *state;
    struct entries *entries = &world->ground.entries;
    struct entry *entry = entry_at(entries, take(world));
    struct description full = second, got;
    struct gating gating = {.refused = 1, .stay = 2 | STAY_UNGATED, .first = 3};
    full.marks |= MARK_HELD;
    description_set_time(&full, 99);
    uint64_t desc = description_make(entries, &world->descriptions, &full, &gating);
    entry_copy(entries, entry, desc, &got, &gating);
    assert_true(gating.refused == 1 && gating.stay == (2 | STAY_UNGATED) && gating.first == 3);
    assert_true(description_is_held(&got));
    assert_ns_equal(description_time(&got), 99);
    uint32_t memory = ref_record(desc);
    description_give(entries, &world->descriptions, desc);
    desc = description_make(entries, &world->descriptions, &first, NULL);
    assert_int_equal(ref_record(desc), memory);
    entry_copy(entries, entry, desc, &got, &gating);
    assert_true(got.described_node == 0 && got.nominated_node == 0 && got.nomination == 0);
    assert_false(description_is_held(&got));
    assert_ns_equal(description_time(&got), 0);
    assert_true(gating.refused == 0 && gating.stay == 0 && gating.first == 0);
    description_give(entries, &world->descriptions, desc);
}

static void
a_new_record_is_nobodys(void **state)
{
    world_t *world = *state;
    const struct entry *entry = entry_at(&world->ground.entries, take(world));
    assert_int_equal(state_place(entry_state(entry)), PLACE_FREE);
    assert_true(desc_of(entry) == 0);
    assert_false(state_is_pod(entry_state(entry)));
}

static void
without_memory_there_is_no_description(void **state)
{
    world_t *world = *state;
    atomic_store(&world->ground.account.fail_all, true);
    assert_true(description_make(&world->ground.entries, &world->descriptions, &first, NULL) == 0);
    (void)account_heal(&world->ground.account);
    assert_true(description_make(&world->ground.entries, &world->descriptions, &first, NULL) != 0);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { UPDATERS = 2, READERS = 2, PODS = 3, LIVES = 10000, UPDATES = 20, READS = 20 };

/* A description is made of one number; its object holds the life that it is meant for, too. */
static struct description
description_of(uint64_t life, uint32_t number)
{
    return (struct description){.object = life << 32 | number,
                                .order_key = -(int64_t)(number * UINT64_C(2654435761)),
                                .priority = (int32_t)(number ^ 0x5a5a5a5au),
                                .flags = (uint8_t)number,
                                .marks = MARK_OWN_KEY | (number % 3 == 0 ? 0 : MARK_NOT_BEFORE),
                                .described_node = number % 2 == 0 ? 0 : number * UINT64_C(40503),
                                .not_before = (int64_t)number + 1};
}

static bool
is_whole(const struct description *got, uint64_t life, bool is_inline)
{
    struct description expected = description_of(life, (uint32_t)got->object);
    return got->object >> 32 == (life & UINT32_MAX) && got->order_key == expected.order_key &&
           got->priority == expected.priority && got->flags == expected.flags &&
           got->described_node == (is_inline ? 0 : expected.described_node) &&
           description_time(got) == (is_inline ? 0 : description_time(&expected));
}

typedef struct team {
    world_t *world;
    mailbox_t mailbox;
    struct entry *pods[PODS];
    atomic_u32 living;
    atomic_u64 updates, reads;
} team_t;

typedef struct member {
    pthread_t thread;
    team_t *team;
    struct slab_cache descriptions;
    uint32_t number;
} member_t;

/* One try, on what was read. True: installed. */
static bool
try_update(member_t *member, struct entry *entry)
{
    struct entries *entries = &member->team->world->ground.entries;
    struct description old;
    uint64_t state = entry_state(entry), life = u64_load_acquire(&entry->life);
    uint64_t desc = entry_description(entries, entry, &old);
    if (!state_is_pod(state) || entry_state(entry) != state)
        return false;
    mailbox_check(&member->team->mailbox, is_whole(&old, life, desc == 0));
    member->number += UPDATERS;
    struct description description = description_of(life, member->number);
    uint64_t replacement = description_make(entries, &member->descriptions, &description, NULL);
    if (!mailbox_check(&member->team->mailbox, replacement != 0))
        return false;
    bool moves = member->number % 3 == 0 && !state_lag_is_at_end(state);
    if (entry_describe(entry, state, desc, moves ? state_described(state) : state, replacement)) {
        description_give(entries, &member->descriptions, desc);
        return true;
    }
    description_give(entries, &member->descriptions, replacement);
    return false;
}

static void *
updater_main(void *argument)
{
    member_t *member = argument;
    team_t *team = member->team;
    for (unsigned i = 0; u32_load(&team->living) != 0; i++) {
        if (try_update(member, team->pods[i % PODS]))
            (void)u64_add(&team->updates, 1);
    }
    slab_flush(&team->world->ground.entries.descriptions, &member->descriptions);
    return NULL;
}

static void *
reader_main(void *argument)
{
    member_t *member = argument;
    team_t *team = member->team;
    for (unsigned i = 0; u32_load(&team->living) != 0; i++) {
        const struct entry *entry = team->pods[i % PODS];
        struct description got;
        uint64_t state = entry_state(entry), life = u64_load_acquire(&entry->life);
        uint64_t desc = entry_description(&team->world->ground.entries, entry, &got);
        if (!state_is_pod(state) || entry_state(entry) != state)
            continue;
        mailbox_check(&team->mailbox, is_whole(&got, life, desc == 0));
        (void)u64_add(&team->reads, 1);
    }
    return NULL;
}

/*
 * Ends a life like done and delete do, from whatever the updates made of it, and begins the next
 * one in the same record.
 */
static void
recycle(team_t *team, struct slab_cache *cache, struct entry *entry, uint32_t number)
{
    struct entries *entries = &team->world->ground.entries;
    struct description last;
    uint64_t state, desc;
    do {
        state = entry_state(entry);
        desc = entry_description(entries, entry, &last);
    } while (!entry_switch(entry, state, desc, state_switched(state, BAND, PLACE_DEAD)));
    assert_true(is_whole(&last, u64_load(&entry->life), desc == 0));
    description_give(entries, cache, desc);
    struct description next =
        description_of(version_next(state_version(entry_state(entry))), number);
    (void)begin(entry, &next);
}

static void
updates_never_reach_another_life_and_nobody_reads_half_of_one(void **state)
{
    world_t *world = *state;
    static team_t team;
    static member_t members[UPDATERS + READERS];
    memset((void *)&team, 0, sizeof team);
    team.world = world;
    mailbox_init(&team.mailbox);
    for (unsigned i = 0; i < PODS; i++) {
        team.pods[i] = entry_at(&world->ground.entries, take(world));
        struct description description =
            description_of(version_next(state_version(entry_state(team.pods[i]))), i);
        (void)begin(team.pods[i], &description);
    }
    (void)u32_exchange(&team.living, 1);
    for (unsigned i = 0; i < UPDATERS + READERS; i++) {
        members[i] = (member_t){.team = &team, .number = i};
        assert_int_equal(pthread_create(&members[i].thread, NULL,
                                        i < UPDATERS ? updater_main : reader_main, &members[i]),
                         0);
    }
    for (unsigned life = 0; life < LIVES; life++) {
        uint64_t updates = u64_load(&team.updates) + UPDATES, reads = u64_load(&team.reads) + READS;
        while (life % 200 == 0 &&
               (u64_load(&team.updates) < updates || u64_load(&team.reads) < reads))
            (void)sched_yield();
        recycle(&team, &world->descriptions, team.pods[life % PODS], life);
    }
    (void)u32_exchange(&team.living, 0);
    for (unsigned i = 0; i < UPDATERS + READERS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    mailbox_assert_empty(&team.mailbox);
    for (unsigned i = 0; i < PODS; i++)
        description_give(&world->ground.entries, &world->descriptions, desc_of(team.pods[i]));
    /* every description came back, once */
    trim(world, &world->ground.entries.descriptions, &world->descriptions);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(attributes_give_back_what_they_were_packed_from),
        TEST(a_handle_is_the_life_and_the_record),
        TEST(a_pod_has_its_own_description_until_an_update_replaces_it),
        TEST(a_description_is_installed_on_what_it_was_decided_on_and_on_nothing_else),
        TEST(a_pod_that_was_described_anew_is_not_switched_by_who_did_not_see_it),
        TEST(a_flag_is_set_in_the_flight_that_was_seen),
        TEST(the_next_life_of_a_record_is_not_described_by_who_saw_the_last_one),
        TEST(desc_words_do_not_repeat),
        TEST(desc_words_do_not_repeat_when_their_page_comes_back),
        TEST(a_record_whose_page_comes_back_has_a_life_above_every_ref_to_it),
        cmocka_unit_test(what_was_said_in_another_stay_counts_for_nothing),
        cmocka_unit_test(what_was_said_in_this_stay_counts_where_it_means_something),
        cmocka_unit_test_setup_teardown(
            lives_go_on_where_versions_go_round_though_pages_come_and_go, setup, teardown),
        cmocka_unit_test_setup_teardown(
            descriptions_go_on_where_tags_go_round_though_pages_come_and_go, setup, teardown),
        cmocka_unit_test(what_the_record_knows_of_a_stay_is_not_in_the_description_too),
        TEST(a_description_tells_nothing_of_the_one_whose_memory_it_has),
        TEST(a_new_record_is_nobodys),
        TEST(without_memory_there_is_no_description),
        TEST(updates_never_reach_another_life_and_nobody_reads_half_of_one),
#undef TEST
    };
    return cmocka_run_group_tests_name("lockfree_entry", tests, NULL, NULL);
}
