/*
 * lockfree/signals/nominator.h: the pods of a node are those whose newest description says so, in
 * the order of their nominations; hints that were dropped are never missed.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "ground.h"
#include "lockfree/signals/nominator.h"
#include "mailbox.h"
#include "rounds.h"

enum { PODS = 300, WORKERS = 4, ROOM = 400 };

typedef struct pod {
    uint32_t record;
    uint64_t life;
} pod_t;

struct world {
    struct ground ground;
    struct slab_cache records, descriptions;
    struct nominator nominator;
    pod_t pods[PODS];
};

/*
 * A pod's life begins, as adding does it: the description lies in the record, and has no
 * nomination.
 */
static void
begin(world_t *world, unsigned pod)
{
    struct entry *entry = entry_at(&world->ground.entries, world->pods[pod].record);
    uint64_t life = version_next(state_version(entry_state(entry)));
    world->pods[pod].life = life;
    u64_store(&entry->life, life);
    u64_store(&entry->word.high, 0);
    u64_store_release(&entry->word.low, state_make(life, 0, PLACE_ACTIVE));
}

static bool
open_nominator(struct nominator *nominator, struct memory *memory, const struct entries *entries)
{
    nominator_open(nominator, memory, entries, HINTS_OF_NODES);
    return nominator_make(nominator);
}

static int
setup(void **state)
{
    world_t *world = ground_make(sizeof *world);
    assert_true(open_nominator(&world->nominator, &world->ground.memory, &world->ground.entries));
    for (unsigned i = 0; i < PODS; i++) {
        world->pods[i].record = slab_take(&world->ground.entries.records, &world->records);
        begin(world, i);
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
    nominator_close(&world->nominator);
    ground_free(world);
    return 0;
}

/* ---- helpers --------------------------------------------------------------------------------- */

static struct entry *
entry_of(world_t *world, unsigned pod)
{
    return entry_at(&world->ground.entries, world->pods[pod].record);
}

static bool
insert(world_t *world, unsigned pod, uint64_t node, uint64_t nomination)
{
    return nominator_insert(&world->nominator, world->ground.record, node, world->pods[pod].record,
                            world->pods[pod].life, nomination);
}

/*
 * Makes a new description the pod's. False: another one was faster or is newer, or the pod's life
 * ended.
 */
static bool
install(world_t *world, struct slab_cache *cache, const pod_t *pod, uint64_t node,
        uint64_t nomination)
{
    struct entry *entry = entry_at(&world->ground.entries, pod->record);
    uint64_t state = entry_state(entry);
    struct description description;
    uint64_t desc = entry_description(&world->ground.entries, entry, &description);
    uint64_t replacement;
    bool done = false;
    bool is_newer = description.nomination > nomination;
    description.nominated_node = node;
    description.nomination = nomination;
    replacement = description_make(&world->ground.entries, cache, &description, NULL);
    if (replacement != 0 && !is_newer && state_is_pod(state) &&
        u64_load_acquire(&entry->life) == pod->life) {
        done = entry_describe(entry, state, desc, state, replacement);
    }
    description_give(&world->ground.entries, cache, done ? desc : replacement);
    return done;
}

/* Without other threads. */
static uint64_t
nominate(world_t *world, unsigned pod, uint64_t node)
{
    uint64_t nomination = nominator_draw(&world->nominator);
    assert_true(node == 0 || insert(world, pod, node, nomination));
    assert_true(install(world, &world->descriptions, &world->pods[pod], node, nomination));
    return nomination;
}

static void
end(world_t *world, unsigned pod)
{
    struct entry *entry = entry_of(world, pod);
    uint64_t desc = u64_load(&entry->word.high);
    (void)u64_exchange(&entry->word.low, state_switched(entry_state(entry), 0, PLACE_DEAD));
    description_give(&world->ground.entries, &world->descriptions, desc);
}

/* Another place, or the same again. */
static void
move(world_t *world, unsigned pod, enum place place)
{
    struct entry *entry = entry_of(world, pod);
    (void)u64_exchange(&entry->word.low, state_switched(entry_state(entry), 0, place));
}

/* The pods of a node are these, with rising nominations. */
static void
assert_pods(world_t *world, uint64_t node, unsigned count, const unsigned *pods)
{
    struct nominated out[ROOM];
    assert_int_equal(nominator_read(&world->nominator, world->ground.record, node, out, ROOM),
                     count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(out[i].record, world->pods[pods[i]].record);
        assert_int_equal(out[i].life, world->pods[pods[i]].life);
        assert_true(i == 0 || out[i].nomination > out[i - 1].nomination);
    }
}

#define ASSERT_PODS(world, node, ...)                                                        \
    assert_pods((world), (node), sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned), \
                (const unsigned[]){__VA_ARGS__})

static void
assert_none(world_t *world, uint64_t node)
{
    assert_pods(world, node, 0, NULL);
}

static uint64_t
held(const world_t *world)
{
    return memory_bytes(&world->ground.memory, MEMORY_OTHER);
}

/* ---- one thread ------------------------------------------------------------------------------ */

static void
numbers_begin_with_one(void **state)
{
    world_t *world = *state;
    for (uint64_t i = 1; i < 10; i++)
        assert_int_equal(nominator_draw(&world->nominator), i);
}

static void
a_node_has_the_pods_that_were_nominated_to_it_in_their_order(void **state)
{
    world_t *world = *state;
    assert_none(world, 1);
    (void)nominate(world, 3, 1);
    (void)nominate(world, 1, 1);
    (void)nominate(world, 4, 2);
    (void)nominate(world, 2, 1);
    ASSERT_PODS(world, 1, 3, 1, 2);
    ASSERT_PODS(world, 2, 4);
    assert_none(world, 3);
}

static void
a_pod_that_is_nominated_again_stands_behind_the_others(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < 3; i++)
        (void)nominate(world, i, 1);
    (void)nominate(world, 0, 1);
    ASSERT_PODS(world, 1, 1, 2, 0);
    (void)nominate(world, 1, 2);
    ASSERT_PODS(world, 1, 2, 0);
    ASSERT_PODS(world, 2, 1);
    (void)nominate(world, 1, 1);
    ASSERT_PODS(world, 1, 2, 0, 1);
    assert_none(world, 2);
}

static void
a_nomination_to_no_node_ends_one(void **state)
{
    world_t *world = *state;
    (void)nominate(world, 0, 1);
    (void)nominate(world, 1, 1);
    (void)nominate(world, 0, 0);
    ASSERT_PODS(world, 1, 1);
}

static void
a_nomination_counts_when_its_description_is_installed_and_is_kept_until_then(void **state)
{
    world_t *world = *state;
    uint64_t nomination = nominator_draw(&world->nominator);
    assert_true(insert(world, 0, 1, nomination));
    assert_none(world, 1);
    (void)nominate(world, 1, 1); /* copies */
    ASSERT_PODS(world, 1, 1);
    assert_true(install(world, &world->descriptions, &world->pods[0], 1, nomination));
    ASSERT_PODS(world, 1, 0, 1);
}

static void
nominations_that_come_out_of_order_are_read_in_order(void **state)
{
    world_t *world = *state;
    static const uint64_t numbers[] = {5, 2, 9, 1, 7};
    for (unsigned i = 0; i < 5; i++)
        assert_true(insert(world, i, 1, numbers[i]) &&
                    install(world, &world->descriptions, &world->pods[i], 1, numbers[i]));
    ASSERT_PODS(world, 1, 3, 1, 0, 4, 2);
}

static void
a_nomination_that_is_inserted_twice_is_there_once(void **state)
{
    world_t *world = *state;
    assert_true(insert(world, 0, 1, 7));
    (void)insert(world, 1, 1, 8);
    assert_true(insert(world, 0, 1, 7));
    assert_true(install(world, &world->descriptions, &world->pods[0], 1, 7));
    assert_true(insert(world, 0, 1, 7));
    ASSERT_PODS(world, 1, 0);
}

static void
a_number_that_was_installed_for_another_node_does_not_count_here(void **state)
{
    world_t *world = *state;
    assert_true(insert(world, 0, 1, 7) && insert(world, 0, 2, 7));
    assert_true(install(world, &world->descriptions, &world->pods[0], 2, 7));
    assert_none(world, 1);
    ASSERT_PODS(world, 2, 0);
}

static void
a_life_that_is_over_has_no_nomination_and_the_next_one_of_its_record_begins_without(void **state)
{
    world_t *world = *state;
    (void)nominate(world, 0, 1);
    (void)nominate(world, 1, 1);
    end(world, 0);
    ASSERT_PODS(world, 1, 1);
    begin(world, 0);
    ASSERT_PODS(world, 1, 1);
    (void)nominate(world, 0, 1);
    ASSERT_PODS(world, 1, 1, 0);
}

/* Their descriptions are alike, for the sake of the test. */
static void
an_old_life_is_not_taken_for_the_one_with_the_same_nomination(void **state)
{
    world_t *world = *state;
    uint64_t nomination = nominate(world, 0, 1);
    end(world, 0);
    begin(world, 0);
    assert_true(install(world, &world->descriptions, &world->pods[0], 1, nomination));
    assert_none(world, 1);
}

static void
a_pod_in_flight_that_was_deleted_is_nominated_no_more(void **state)
{
    world_t *world = *state;
    (void)nominate(world, 0, 1);
    move(world, 0, PLACE_INFLIGHT);
    ASSERT_PODS(world, 1, 0);
    struct entry *entry = entry_of(world, 0);
    (void)u64_exchange(&entry->word.low, entry_state(entry) | FLAG_DELETED);
    assert_none(world, 1);
}

static void
a_pod_stays_nominated_where_it_goes_and_what_it_is_updated_to(void **state)
{
    world_t *world = *state;
    static const enum place places[] = {PLACE_BACKOFF, PLACE_ERROR_BACKOFF, PLACE_PARKED,
                                        PLACE_GATED,   PLACE_INFLIGHT,      PLACE_ACTIVE};
    uint64_t nomination = nominate(world, 0, 1);
    for (unsigned i = 0; i < 6; i++) {
        move(world, 0, places[i]);
        ASSERT_PODS(world, 1, 0);
        assert_true(install(world, &world->descriptions, &world->pods[0], 1, nomination));
        (void)nominate(world, 1, 1); /* copies */
        ASSERT_PODS(world, 1, 0, 1);
        (void)nominate(world, 1, 0);
    }
}

static void
a_pod_may_be_nominated_before_its_life_begins(void **state)
{
    world_t *world = *state;
    end(world, 0);
    struct entry *entry = entry_of(world, 0);
    uint64_t life = version_next(state_version(entry_state(entry)));
    assert_true(nominator_insert(&world->nominator, world->ground.record, 1, world->pods[0].record,
                                 life, 7));
    assert_none(world, 1);
    (void)u64_exchange(&entry->life, life);
    assert_true(insert(world, 1, 1, 8)); /* copies */
    begin(world, 0);
    assert_int_equal(world->pods[0].life, life);
    assert_none(world, 1);
    assert_true(install(world, &world->descriptions, &world->pods[0], 1, 7));
    ASSERT_PODS(world, 1, 0);
}

static void
a_record_whose_page_is_gone_has_no_nomination(void **state)
{
    world_t *world = *state;
    assert_true(nominator_insert(&world->nominator, world->ground.record, 1, REF_INDEX_MASK, 1, 1));
    (void)nominate(world, 0, 1);
    ASSERT_PODS(world, 1, 0);
}

static void
how_many_there_are_is_said_beyond_the_room_too(void **state)
{
    world_t *world = *state;
    struct nominated out[3] = {{0}};
    for (unsigned i = 0; i < 5; i++)
        (void)nominate(world, i, 1);
    assert_int_equal(nominator_read(&world->nominator, world->ground.record, 1, NULL, 0), 5);
    assert_int_equal(nominator_read(&world->nominator, world->ground.record, 1, out, 2), 5);
    assert_int_equal(out[2].record, 0);
}

static void
nodes_that_share_a_bucket_are_told_apart(void **state)
{
    world_t *world = *state;
    static uint64_t numbers[5000];
    for (uint64_t node = 1; node < 5000; node++)
        numbers[node] = nominate(world, (unsigned)node % PODS, node);
    for (uint64_t node = 1; node < 5000; node++) {
        struct nominated out;
        bool is_last = node + PODS >= 5000;
        assert_int_equal(nominator_read(&world->nominator, world->ground.record, node, &out, 1),
                         is_last ? 1 : 0);
        assert_true(!is_last || out.nomination == numbers[node]);
    }
}

static void
any_number_is_a_node(void **state)
{
    world_t *world = *state;
    static const uint64_t nodes[] = {1, UINT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 32};
    for (unsigned i = 0; i < 4; i++)
        (void)nominate(world, i, nodes[i]);
    for (unsigned i = 0; i < 4; i++)
        assert_pods(world, nodes[i], 1, &i);
}

/* Frees what waits. */
static void
pass_grace(world_t *world)
{
    epoch_leave(world->ground.record);
    for (unsigned poll = 0; poll < 4; poll++)
        epoch_poll(world->ground.record);
    epoch_enter(world->ground.record);
}

/*
 * What is kept after many nominations is what is kept after a few. `lives`: each pod is nominated
 * once in a life.
 */
static void
nominate_often(world_t *world, bool lives)
{
    uint64_t after_few = 0;
    for (unsigned i = 0; i < 10000; i++) {
        (void)nominate(world, i % 7, 1);
        if (lives) {
            end(world, i % 7);
            begin(world, i % 7);
        }
        if (i % 100 == 99) {
            pass_grace(world);
            after_few = i < 1000 ? held(world) : after_few;
        }
    }
    assert_true(held(world) <= after_few + 4096);
}

static void
nominations_that_were_replaced_take_no_memory(void **state)
{
    nominate_often(*state, false);
}

static void
nominations_of_lives_that_are_over_take_no_memory(void **state)
{
    nominate_often(*state, true);
}

enum { CROWD = 250 };

/* Work is counted in allocations: a hint that is copied is one. */
static uint64_t
allocations(world_t *world)
{
    return atomic_load(&world->ground.account.allocations);
}

static void
a_nomination_costs_the_same_however_many_are_nominated_there(void **state)
{
    world_t *world = *state;
    uint64_t most = 0;
    for (unsigned i = 0; i < 40 * CROWD; i++) {
        uint64_t before = allocations(world);
        assert_true(insert(world, i % CROWD, 1, i + 1));
        uint64_t made = allocations(world) - before;
        most = made > most ? made : most;
        assert_true(install(world, &world->descriptions, &world->pods[i % CROWD], 1, i + 1));
        if (i % CROWD == 0)
            pass_grace(world);
    }
    assert_true(most <= 4); /* a page of description records may be one */
    pass_grace(world);
    assert_true(held(world) < 3 * CROWD * (uint64_t)128 + 65536);
    assert_int_equal(nominator_read(&world->nominator, world->ground.record, 1, NULL, 0), CROWD);
}

/* Then only what is nominated is there to be read. */
static void
a_reading_drops_what_ended(void **state)
{
    world_t *world = *state;
    struct nominated out[ROOM];
    for (unsigned i = 0; i < CROWD; i++)
        (void)nominate(world, i, 1);
    pass_grace(world);
    uint64_t crowded = held(world);
    for (unsigned i = 3; i < CROWD; i++)
        (void)nominate(world, i, 0);
    assert_int_equal(nominator_read(&world->nominator, world->ground.record, 1, out, ROOM), 3);
    pass_grace(world);
    assert_true(held(world) + (CROWD - 3) * 3 * sizeof(uint64_t) < crowded);
    ASSERT_PODS(world, 1, 0, 1, 2);
    uint64_t before = allocations(world);
    ASSERT_PODS(world, 1, 0, 1, 2);
    assert_int_equal(allocations(world), before);
}

static void
a_reading_without_memory_drops_nothing_and_tells_all(void **state)
{
    world_t *world = *state;
    for (unsigned i = 0; i < 20; i++)
        (void)nominate(world, i, 1);
    for (unsigned i = 2; i < 20; i++)
        (void)nominate(world, i, 0);
    atomic_store(&world->ground.account.fail_all, true);
    ASSERT_PODS(world, 1, 0, 1);
    (void)account_heal(&world->ground.account);
    ASSERT_PODS(world, 1, 0, 1);
}

static void
without_memory_nothing_is_inserted_and_nothing_is_lost(void **state)
{
    world_t *world = *state;
    (void)nominate(world, 0, 1);
    atomic_store(&world->ground.account.fail_all, true);
    assert_false(insert(world, 1, 1, nominator_draw(&world->nominator)));
    (void)account_heal(&world->ground.account);
    ASSERT_PODS(world, 1, 0);
    (void)nominate(world, 1, 1);
    ASSERT_PODS(world, 1, 0, 1);
}

static void
one_that_could_not_be_opened_can_be_closed(void **state)
{
    world_t *world = *state;
    struct nominator nominator;
    memset((void *)&nominator, 0, sizeof nominator);
    atomic_store(&world->ground.account.fail_all, true);
    assert_false(open_nominator(&nominator, &world->ground.memory, &world->ground.entries));
    (void)account_heal(&world->ground.account);
    nominator_close(&nominator);
}

static void
nominate_the_second(world_t *world)
{
    (void)nominate(world, 2, 1);
}

static void
of_two_that_insert_at_once_none_is_lost(void **state)
{
    world_t *world = *state;
    (void)nominate(world, 0, 1);
    world->ground.hook = nominate_the_second;
    (void)nominate(world, 1, 1);
    assert_null(world->ground.hook);
    ASSERT_PODS(world, 1, 0, 1, 2);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { STEPS = 5000, NODES = 2, STANDING = 20, OWN = 60 };

typedef struct team {
    world_t *world;
    mailbox_t mailbox;
    unsigned steps;
    atomic_u32 working;
} team_t;

typedef struct member {
    pthread_t thread;
    team_t *team;
    unsigned number;
    struct epoch_record *epoch;
    struct slab_cache descriptions;
    uint64_t random;
} member_t;

static uint64_t
draw(member_t *member)
{
    member->random = member->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return member->random >> 33;
}

/* As the rules of nominator.h want it, for others nominate the same pods. Returns the number. */
static uint64_t
nominate_among_others(member_t *member, const pod_t *pod, uint64_t node)
{
    world_t *world = member->team->world;
    const struct entry *entry = entry_at(&world->ground.entries, pod->record);
    for (;;) {
        struct description newest;
        uint64_t nomination = nominator_draw(&world->nominator);
        mailbox_check(&member->team->mailbox,
                      node == 0 || nominator_insert(&world->nominator, member->epoch, node,
                                                    pod->record, pod->life, nomination));
        if (draw(member) % 4 == 0)
            /* it is read while it is not installed, and installed while it is read */
            (void)sched_yield();
        do {
            if (install(world, &member->descriptions, pod, node, nomination))
                return nomination;
            (void)entry_description(&world->ground.entries, entry, &newest);
        } while (newest.nomination < nomination);
    }
}

static void
live_again(member_t *member, pod_t *pod)
{
    struct entry *entry = entry_at(&member->team->world->ground.entries, pod->record);
    uint64_t state = entry_state(entry);
    uint64_t desc = u64_load(&entry->word.high);
    mailbox_check(&member->team->mailbox,
                  entry_switch(entry, state, desc, state_switched(state, 0, PLACE_DEAD)));
    description_give(&member->team->world->ground.entries, &member->descriptions, desc);
    begin(member->team->world, (unsigned)(pod - member->team->world->pods));
}

/* How often a pod is there, with this nomination or with any (0). */
static unsigned
count_of(const struct nominated *out, size_t count, const pod_t *pod, uint64_t nomination)
{
    unsigned found = 0;
    for (size_t i = 0; i < count; i++)
        found +=
            out[i].record == pod->record && (nomination == 0 || out[i].nomination == nomination)
                ? 1
                : 0;
    return found;
}

/* A pod of this thread's only: what it did, it finds. */
static void
step_with_own(member_t *member, unsigned pod)
{
    world_t *world = member->team->world;
    struct nominated out[ROOM];
    uint64_t node = draw(member) % (NODES + 1);
    if (draw(member) % 4 == 0)
        live_again(member, &world->pods[pod]);
    uint64_t nomination = nominate_among_others(member, &world->pods[pod], node);
    for (uint64_t i = 1; i <= NODES; i++) {
        size_t count = nominator_read(&world->nominator, member->epoch, i, out, ROOM);
        mailbox_check(&member->team->mailbox,
                      count_of(out, count, &world->pods[pod], 0) == (i == node ? 1 : 0));
        mailbox_check(&member->team->mailbox,
                      i != node || count_of(out, count, &world->pods[pod], nomination) == 1);
    }
}

static void *
nominating_main(void *argument)
{
    member_t *member = argument;
    for (unsigned i = 0; i < member->team->steps; i++) {
        epoch_enter(member->epoch);
        (void)nominate_among_others(member, &member->team->world->pods[draw(member) % STANDING], 1);
        step_with_own(member, STANDING + member->number * OWN + (unsigned)draw(member) % OWN);
        epoch_leave(member->epoch);
        epoch_poll(member->epoch);
    }
    (void)u32_add(&member->team->working, UINT32_MAX);
    return NULL;
}

/* Pods that are nominated to the node all the time, though again and again, are there once. */
static void
read_and_check(team_t *team)
{
    struct nominated out[ROOM];
    size_t count =
        nominator_read(&team->world->nominator, team->world->ground.record, 1, out, ROOM);
    mailbox_check(&team->mailbox, count <= ROOM);
    for (size_t i = 1; i < count; i++)
        mailbox_check(&team->mailbox, out[i].nomination > out[i - 1].nomination);
    for (unsigned i = 0; i < STANDING; i++)
        mailbox_check(&team->mailbox, count_of(out, count, &team->world->pods[i], 0) == 1);
}

static void
assert_as_described(world_t *world, uint64_t node)
{
    struct nominated out[ROOM];
    size_t count = nominator_read(&world->nominator, world->ground.record, node, out, ROOM);
    size_t expected = 0;
    for (unsigned i = 0; i < PODS; i++) {
        struct description description;
        (void)entry_description(&world->ground.entries, entry_of(world, i), &description);
        bool is_there = description.nominated_node == node;
        expected += is_there ? 1 : 0;
        assert_int_equal(count_of(out, count, &world->pods[i], description.nomination),
                         is_there ? 1 : 0);
    }
    assert_int_equal(count, expected);
}

static void
no_nomination_is_missed_or_met_twice_while_others_nominate(void **state)
{
    world_t *world = *state;
    static team_t team;
    static member_t members[WORKERS];
    memset((void *)&team, 0, sizeof team);
    team.world = world;
    team.steps = rounds_of(STEPS);
    mailbox_init(&team.mailbox);
    (void)u32_exchange(&team.working, WORKERS - 1);
    for (unsigned i = 0; i < STANDING; i++)
        (void)nominate(world, i, 1);
    epoch_leave(world->ground.record);
    for (unsigned i = 0; i < WORKERS - 1; i++) {
        members[i] = (member_t){.team = &team,
                                .number = i,
                                .epoch = epoch_record_make(world->ground.epoch),
                                .random = UINT64_C(7) << i};
        assert_int_equal(pthread_create(&members[i].thread, NULL, nominating_main, &members[i]), 0);
    }
    while (u32_load_acquire(&team.working) != 0) {
        epoch_enter(world->ground.record);
        read_and_check(&team);
        epoch_leave(world->ground.record);
    }
    for (unsigned i = 0; i < WORKERS - 1; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    epoch_enter(world->ground.record);
    mailbox_assert_empty(&team.mailbox);
    for (uint64_t node = 1; node <= NODES; node++)
        assert_as_described(world, node);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
        TEST(numbers_begin_with_one),
        TEST(a_node_has_the_pods_that_were_nominated_to_it_in_their_order),
        TEST(a_pod_that_is_nominated_again_stands_behind_the_others),
        TEST(a_nomination_to_no_node_ends_one),
        TEST(a_nomination_counts_when_its_description_is_installed_and_is_kept_until_then),
        TEST(nominations_that_come_out_of_order_are_read_in_order),
        TEST(a_nomination_that_is_inserted_twice_is_there_once),
        TEST(a_number_that_was_installed_for_another_node_does_not_count_here),
        TEST(a_life_that_is_over_has_no_nomination_and_the_next_one_of_its_record_begins_without),
        TEST(an_old_life_is_not_taken_for_the_one_with_the_same_nomination),
        TEST(a_pod_in_flight_that_was_deleted_is_nominated_no_more),
        TEST(a_pod_stays_nominated_where_it_goes_and_what_it_is_updated_to),
        TEST(a_pod_may_be_nominated_before_its_life_begins),
        TEST(a_record_whose_page_is_gone_has_no_nomination),
        TEST(how_many_there_are_is_said_beyond_the_room_too),
        TEST(nodes_that_share_a_bucket_are_told_apart),
        TEST(any_number_is_a_node),
        TEST(nominations_that_were_replaced_take_no_memory),
        TEST(nominations_of_lives_that_are_over_take_no_memory),
        TEST(a_nomination_costs_the_same_however_many_are_nominated_there),
        TEST(a_reading_drops_what_ended),
        TEST(a_reading_without_memory_drops_nothing_and_tells_all),
        TEST(without_memory_nothing_is_inserted_and_nothing_is_lost),
        TEST(one_that_could_not_be_opened_can_be_closed),
        TEST(of_two_that_insert_at_once_none_is_lost),
        TEST(no_nomination_is_missed_or_met_twice_while_others_nominate),
#undef TEST
    };
    return cmocka_run_group_tests_name("lockfree_nominator", tests, NULL, NULL);
}
