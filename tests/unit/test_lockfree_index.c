/*
 * lockfree/index/index.h: a name is there at most once, is found as long as its pod lives, whoever
 * stops where, and whatever the table does meanwhile; with threads, records that are used again at
 * once, and tables that begin with one line.
 *
 * TEST_SEED=number in the environment repeats the choices of the tests with threads.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ground.h"
#include "lockfree/index/index_table.h"
#include "mailbox.h"
#include "rounds.h"

#define RECORDS 70000

struct world {
    struct ground ground;
    struct names names;
    struct index index;
    atomic_u32 settled;            /* calls */
    bool refuses;                  /* to settle */
    atomic_u64 published[RECORDS]; /* the last life with a ref */
    mailbox_t mailbox;
    uint64_t seed;
    uint64_t hashes; /* seed of them */
};

/* What a thread needs to be a worker. */
typedef struct actor {
    world_t *world;
    struct index_caller caller;
    struct slab_cache records;
    struct names_cache names;
    uint64_t random;
} actor_t;

typedef struct pod {
    uint32_t record;
    uint64_t life;
    uint32_t hash;
} pod_t;

static void
publish(world_t *world, uint32_t record, uint64_t life)
{
    (void)u64_max(&world->published[record], life);
}

static bool
settle(void *ctx, uint32_t record, uint64_t life)
{
    actor_t *actor = ctx;
    if (actor->world->refuses)
        return false;
    (void)u32_add(&actor->world->settled, 1);
    publish(actor->world, record, life);
    return true;
}

static void
actor_init(actor_t *actor, world_t *world, unsigned number)
{
    *actor =
        (actor_t){.world = world, .random = world->seed + number * UINT64_C(0x9e3779b97f4a7c15)};
    actor->caller =
        (struct index_caller){.epoch = epoch_record_make(world->ground.epoch), .ctx = actor};
}

static uint64_t
draw(actor_t *actor)
{
    uint64_t x = (actor->random += UINT64_C(0x9e3779b97f4a7c15));
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* The hash is the same in every run. */
static void
open_index(world_t *world, uint32_t lines)
{
    index_open(&world->index, &world->ground.memory, &world->ground.entries, &world->names, settle,
               64);
    assert_true(index_make(&world->index, lines));
    world->hashes = 1;
}

static int
setup(void **state)
{
    world_t *world = ground_make(sizeof *world);
    names_open(&world->names, &world->ground.memory);
    mailbox_init(&world->mailbox);
    const char *seed = getenv("TEST_SEED");
    world->seed = seed != NULL ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL);
    *state = world;
    return 0;
}

static int
teardown(void **state)
{
    world_t *world = *state;
    index_close(&world->index);
    names_close(&world->names);
    ground_free(world);
    return 0;
}

static struct entry *
at(world_t *world, uint32_t record)
{
    return entry_at(&world->ground.entries, record);
}

static struct hashed_name
key_of(world_t *world, const char *name)
{
    uint32_t length = (uint32_t)strlen(name);
    return (struct hashed_name){name, length, hash_text(world->hashes, name, length)};
}

/* A record with this name and a state word, as an adder fills it. */
static pod_t
prepare(actor_t *actor, const char *name)
{
    world_t *world = actor->world;
    struct hashed_name key = key_of(world, name);
    uint32_t record = slab_take(&world->ground.entries.records, &actor->records);
    struct entry *entry = at(world, record);
    uint64_t life = version_next(state_version(entry_state(entry)));
    uint32_t cell = entry_keep_name(&world->names, &actor->names, entry, record, name, key.length);
    assert_int_not_equal(cell, 0);
    u64_store(&entry->life, life);
    u64_store(&entry->name, (uint64_t)key.hash << 32 | cell);
    u64_store_release(&entry->word.low, state_make(life, 0, PLACE_ACTIVE));
    return (pod_t){record, life, key.hash};
}

/* The pod's state word says DEAD. */
static void
give_back(actor_t *actor, pod_t pod)
{
    world_t *world = actor->world;
    struct entry *entry = at(world, pod.record);
    names_give(&world->names, &actor->names, (uint32_t)u64_load(&entry->name));
    slab_give(&world->ground.entries.records, &actor->records, pod.record);
}

static void
drop(actor_t *actor, pod_t pod)
{
    u64_store_release(&at(actor->world, pod.record)->word.low,
                      state_make(version_next(pod.life), 0, PLACE_DEAD));
    give_back(actor, pod);
}

/* Adds, up to the commit. */
static enum index_answer
commit(actor_t *actor, const char *name, pod_t *pod, struct index_ticket *ticket, uint32_t *found,
       uint64_t *life)
{
    struct hashed_name key = key_of(actor->world, name);
    *pod = prepare(actor, name);
    struct index_found present = {0};
    enum index_answer answer = index_insert(&actor->world->index, &actor->caller, &key,
                                            ref_make(pod->life, pod->record), ticket, &present);
    if (answer != INDEX_DONE)
        drop(actor, *pod);
    *found = present.record;
    *life = present.life;
    return answer;
}

static enum index_answer
add(actor_t *actor, const char *name, pod_t *pod)
{
    struct index_ticket ticket;
    uint32_t found;
    uint64_t life;
    epoch_enter(actor->caller.epoch);
    enum index_answer answer = commit(actor, name, pod, &ticket, &found, &life);
    if (answer == INDEX_DONE) {
        publish(actor->world, pod->record, pod->life);
        index_finish(&ticket);
    }
    epoch_leave(actor->caller.epoch);
    epoch_poll(actor->caller.epoch);
    return answer;
}

/* Adds, and stops after the commit. */
static pod_t
add_and_stop(actor_t *actor, const char *name)
{
    struct index_ticket ticket;
    uint32_t found;
    uint64_t life;
    pod_t pod;
    epoch_enter(actor->caller.epoch);
    assert_int_equal(commit(actor, name, &pod, &ticket, &found, &life), INDEX_DONE);
    epoch_leave(actor->caller.epoch);
    return pod;
}

static uint32_t
find(actor_t *actor, const char *name, uint64_t *life)
{
    struct hashed_name key = key_of(actor->world, name);
    epoch_enter(actor->caller.epoch);
    uint32_t record = index_find(&actor->world->index, &actor->caller, &key, life);
    epoch_leave(actor->caller.epoch);
    return record;
}

static uint32_t
find_any(actor_t *actor, const char *name)
{
    uint64_t life;
    return find(actor, name, &life);
}

/* Ends the pod's life; its cell stays. */
static void
die(actor_t *actor, pod_t pod)
{
    struct entry *entry = at(actor->world, pod.record);
    uint64_t state = entry_state(entry);
    assert_true(u64_cas(&entry->word.low, state, state_switched(state, 0, PLACE_DEAD)));
}

static void
remove_cell(actor_t *actor, pod_t pod)
{
    epoch_enter(actor->caller.epoch);
    index_remove(&actor->world->index, pod.hash, pod.record, pod.life);
    epoch_leave(actor->caller.epoch);
}

static void delete (actor_t *actor, pod_t pod)
{
    die(actor, pod);
    remove_cell(actor, pod);
    give_back(actor, pod);
}

static const char *
numbered(char *text, const char *prefix, unsigned number)
{
    sprintf(text, "%s/pod-%u", prefix, number);
    return text;
}

static void
a_name_is_found_from_its_add_to_its_end(void **state)
{
    world_t *world = *state;
    open_index(world, 64);
    actor_t actor;
    actor_init(&actor, world, 0);
    uint64_t life = 0;
    pod_t pod;
    assert_int_equal(find_any(&actor, "a/b"), 0);
    assert_int_equal(add(&actor, "a/b", &pod), INDEX_DONE);
    assert_int_equal(find(&actor, "a/b", &life), pod.record);
    assert_int_equal(life, pod.life);
    assert_int_equal(find_any(&actor, "a/c"), 0);
    delete (&actor, pod);
    assert_int_equal(find_any(&actor, "a/b"), 0);
}

static void
a_living_name_exists(void **state)
{
    world_t *world = *state;
    open_index(world, 1);
    actor_t actor;
    actor_init(&actor, world, 0);
    struct index_ticket ticket;
    pod_t first, second;
    uint32_t found = 0;
    uint64_t life = 0;
    assert_int_equal(add(&actor, "a/b", &first), INDEX_DONE);
    epoch_enter(actor.caller.epoch);
    assert_int_equal(commit(&actor, "a/b", &second, &ticket, &found, &life), INDEX_EXISTS);
    epoch_leave(actor.caller.epoch);
    assert_int_equal(found, first.record);
    assert_int_equal(life, first.life);
}

static void
a_name_is_free_at_once_though_nobody_removed_its_cell(void **state)
{
    world_t *world = *state;
    open_index(world, 1);
    actor_t actor;
    actor_init(&actor, world, 0);
    char name[64];
    pod_t pod;
    for (unsigned i = 0; i < 1000; i++) {
        assert_int_equal(add(&actor, numbered(name, "same", i % 3), &pod), INDEX_DONE);
        assert_int_equal(find_any(&actor, name), pod.record);
        die(&actor, pod);
        assert_int_equal(find_any(&actor, name), 0);
        give_back(&actor, pod);
    }
    /* The cells of pods that are over were taken again: one line was enough. */
    assert_true(memory_bytes(&world->ground.memory, MEMORY_INDEX) < 16384);
}

static void
a_deleted_pod_in_flight_is_not_found(void **state)
{
    world_t *world = *state;
    open_index(world, 1);
    actor_t actor;
    actor_init(&actor, world, 0);
    pod_t pod, other;
    assert_int_equal(add(&actor, "a/b", &pod), INDEX_DONE);
    struct entry *entry = at(world, pod.record);
    uint64_t in_flight = state_switched(entry_state(entry), 0, PLACE_INFLIGHT);
    u64_store(&entry->word.low, in_flight);
    uint64_t life = 0;
    assert_int_equal(find(&actor, "a/b", &life), pod.record);
    assert_int_equal(life, pod.life);
    assert_true(u64_cas(&entry->word.low, in_flight, in_flight | FLAG_DELETED));
    assert_int_equal(find_any(&actor, "a/b"), 0);
    assert_int_equal(add(&actor, "a/b", &other), INDEX_DONE);
    assert_int_equal(find_any(&actor, "a/b"), other.record);
}

static void
the_first_to_meet_a_pod_whose_adder_stopped_settles_it(void **state)
{
    world_t *world = *state;
    open_index(world, 1);
    actor_t actor;
    actor_init(&actor, world, 0);
    pod_t stopped = add_and_stop(&actor, "a/stopped");
    assert_int_equal(find_any(&actor, "a/other"), 0);
    assert_int_equal(u32_load(&world->settled), 0);
    assert_int_equal(find_any(&actor, "a/stopped"), stopped.record);
    assert_int_equal(u32_load(&world->settled), 1);
    assert_int_equal(u64_load(&world->published[stopped.record]), stopped.life);
    assert_int_equal(find_any(&actor, "a/stopped"), stopped.record);
    assert_int_equal(u32_load(&world->settled), 1);
}

static void
a_pod_that_cannot_be_settled_is_not_there_and_stops_adds_into_its_line(void **state)
{
    world_t *world = *state;
    open_index(world, 1);
    actor_t actor;
    pod_t other;
    actor_init(&actor, world, 0);
    pod_t stopped = add_and_stop(&actor, "a/stopped");
    world->refuses = true;
    assert_int_equal(find_any(&actor, "a/stopped"), 0);
    assert_int_equal(add(&actor, "a/other", &other), INDEX_NOMEM);
    assert_int_equal(find_any(&actor, "a/other"), 0);
    world->refuses = false;
    assert_int_equal(find_any(&actor, "a/stopped"), stopped.record);
    assert_int_equal(add(&actor, "a/other", &other), INDEX_DONE);
}

static void
an_add_settles_the_pod_before_it_in_the_line(void **state)
{
    world_t *world = *state;
    open_index(world, 1);
    actor_t actor;
    actor_init(&actor, world, 0);
    pod_t stopped = add_and_stop(&actor, "a/stopped");
    pod_t other;
    assert_int_equal(add(&actor, "a/stopped", &other), INDEX_EXISTS);
    assert_int_equal(u64_load(&world->published[stopped.record]), stopped.life);
    stopped = add_and_stop(&actor, "a/stopped-too");
    assert_int_equal(add(&actor, "a/other", &other), INDEX_DONE);
    assert_int_equal(u64_load(&world->published[stopped.record]), stopped.life);
    assert_int_equal(find_any(&actor, "a/stopped-too"), stopped.record);
}

static void
a_pod_can_be_removed_while_its_adder_has_not_finished(void **state)
{
    world_t *world = *state;
    open_index(world, 1);
    actor_t actor;
    actor_init(&actor, world, 0);
    struct index_ticket ticket;
    pod_t pod, next;
    uint32_t found;
    uint64_t life;
    epoch_enter(actor.caller.epoch);
    assert_int_equal(commit(&actor, "a/b", &pod, &ticket, &found, &life), INDEX_DONE);
    die(&actor, pod);
    index_remove(&world->index, pod.hash, pod.record, pod.life);
    give_back(&actor, pod);
    epoch_leave(actor.caller.epoch);
    assert_int_equal(add(&actor, "a/b", &next), INDEX_DONE);
    index_finish(&ticket); /* late: the only table is still there */
    assert_int_equal(find_any(&actor, "a/b"), next.record);
    assert_int_equal(u32_load(&world->settled), 0);
}

static void
every_name_is_found_while_tables_grow(void **state)
{
    world_t *world = *state;
    open_index(world, 1);
    actor_t actor;
    actor_init(&actor, world, 0);
    enum { COUNT = 20000 };
    static pod_t pods[COUNT];
    char name[64];
    for (unsigned i = 0; i < COUNT; i++) {
        numbered(name, "grow", i);
        if (i % 7 == 0)
            pods[i] = add_and_stop(&actor, name);
        else
            assert_int_equal(add(&actor, name, &pods[i]), INDEX_DONE);
        assert_int_equal(find_any(&actor, numbered(name, "grow", i / 2)), pods[i / 2].record);
    }
    for (unsigned i = 0; i < COUNT; i++) {
        pod_t again;
        numbered(name, "grow", i);
        assert_int_equal(find_any(&actor, name), pods[i].record);
        assert_int_equal(u64_load(&world->published[pods[i].record]), pods[i].life);
        if (i % 3 == 0)
            assert_int_equal(add(&actor, name, &again), INDEX_EXISTS);
        delete (&actor, pods[i]);
        assert_int_equal(find_any(&actor, name), 0);
    }
}

/*
 * White box: what a thread leaves that took all lines to move them, froze one in two, and stopped.
 */
static void
lines_that_a_stopped_mover_left_are_moved_by_others(void **state)
{
    world_t *world = *state;
    open_index(world, 64);
    actor_t actor;
    actor_init(&actor, world, 0);
    enum { COUNT = 600 };
    static pod_t pods[COUNT];
    char name[64];
    unsigned added = 0;
    struct index_table *table = ptr_load(&world->index.table);
    while (ptr_load(&table->next) == NULL) {
        assert_int_equal(add(&actor, numbered(name, "left", added), &pods[added]), INDEX_DONE);
        added++;
    }
    (void)u64_add(&table->cursor, table_lines(table));
    for (uint32_t i = 0; i < table_lines(table); i += 2) {
        atomic_u64 *control = &table->lines[i].word[HOME_CONTROL];
        uint64_t found = u64_load(control);
        if ((found & CONTROL_FROZEN) == 0)
            u64_store(control, control_next(found, CONTROL_FROZEN));
    }
    for (unsigned i = 0; i < added; i++)
        assert_int_equal(find_any(&actor, numbered(name, "left", i)), pods[i].record);
    for (; added < COUNT; added++)
        assert_int_equal(add(&actor, numbered(name, "left", added), &pods[added]), INDEX_DONE);
    assert_ptr_not_equal(ptr_load(&world->index.table), table);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(find_any(&actor, numbered(name, "left", i)), pods[i].record);
}

static void
without_memory_names_are_added_as_long_as_there_is_a_cell(void **state)
{
    world_t *world = *state;
    open_index(world, 2);
    actor_t actor;
    actor_init(&actor, world, 0);
    enum { COUNT = 400 };
    static pod_t pods[COUNT];
    char name[64];
    assert_true(slab_reserve(&world->ground.entries.records, COUNT + 1));
    atomic_store(&world->ground.account.fail_all, true);
    unsigned added = 0;
    while (added < COUNT && add(&actor, numbered(name, "full", added), &pods[added]) == INDEX_DONE)
        added++;
    assert_in_range(added, 12, COUNT - 1);
    pod_t more;
    assert_int_equal(add(&actor, numbered(name, "full", added), &more), INDEX_NOMEM);
    assert_int_equal(find_any(&actor, name), 0);
    assert_int_equal(add(&actor, numbered(name, "full", 0), &more), INDEX_EXISTS);
    for (unsigned i = 0; i < added; i++)
        assert_int_equal(find_any(&actor, numbered(name, "full", i)), pods[i].record);
    delete (&actor, pods[0]);
    assert_int_equal(add(&actor, numbered(name, "full", 0), &pods[0]), INDEX_DONE);
    (void)account_heal(&world->ground.account);
    assert_int_equal(add(&actor, numbered(name, "full", added), &pods[added]), INDEX_DONE);
    for (unsigned i = 0; i <= added; i++)
        assert_int_equal(find_any(&actor, numbered(name, "full", i)), pods[i].record);
}

static void
reserved_names_need_no_memory(void **state)
{
    world_t *world = *state;
    open_index(world, 64);
    actor_t actor;
    actor_init(&actor, world, 0);
    enum { COUNT = 50000 };
    static pod_t pods[COUNT];
    char name[64];
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(add(&actor, numbered(name, "some", i), &pods[i]), INDEX_DONE);
    epoch_enter(actor.caller.epoch);
    assert_true(index_reserve(&world->index, &actor.caller, COUNT));
    epoch_leave(actor.caller.epoch);
    epoch_poll(actor.caller.epoch);
    uint64_t bytes = memory_bytes(&world->ground.memory, MEMORY_INDEX);
    for (unsigned i = 100; i < COUNT; i++)
        assert_int_equal(add(&actor, numbered(name, "some", i), &pods[i]), INDEX_DONE);
    assert_true(memory_bytes(&world->ground.memory, MEMORY_INDEX) <= bytes);
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(find_any(&actor, numbered(name, "some", i)), pods[i].record);
}

static void
reserve_without_memory_changes_nothing(void **state)
{
    world_t *world = *state;
    open_index(world, 64);
    actor_t actor;
    actor_init(&actor, world, 0);
    pod_t pod;
    assert_int_equal(add(&actor, "a/b", &pod), INDEX_DONE);
    uint64_t bytes = memory_bytes(&world->ground.memory, MEMORY_INDEX);
    atomic_store(&world->ground.account.fail_all, true);
    epoch_enter(actor.caller.epoch);
    assert_false(index_reserve(&world->index, &actor.caller, 100000));
    epoch_leave(actor.caller.epoch);
    (void)account_heal(&world->ground.account);
    assert_int_equal(memory_bytes(&world->ground.memory, MEMORY_INDEX), bytes);
    assert_int_equal(find_any(&actor, "a/b"), pod.record);
}

static void
a_million_names_need_42_bytes_each(void **state)
{
    world_t *world = *state;
    open_index(world, 64);
    actor_t actor;
    actor_init(&actor, world, 0);
    epoch_enter(actor.caller.epoch);
    assert_true(index_reserve(&world->index, &actor.caller, 1000000));
    epoch_leave(actor.caller.epoch);
    epoch_poll(actor.caller.epoch);
    assert_in_range(memory_bytes(&world->ground.memory, MEMORY_INDEX), 1, 42 * 1000000 + 65536);
}

/*
 * Overflow lines stay with the line that once needed them; a fresh table of the same size sheds
 * them.
 */
static void
turnover_at_constant_load_does_not_grow_the_table(void **state)
{
    world_t *world = *state;
    open_index(world, 64);
    actor_t actor;
    actor_init(&actor, world, 0);
    enum { LIVE = 120, ROUNDS = 200000 };
    static pod_t pods[LIVE];
    static unsigned numbers[LIVE];
    char name[64];
    uint64_t bytes = memory_bytes(&world->ground.memory, MEMORY_INDEX);
    const void *table = ptr_load(&world->index.table);
    unsigned tables = 1;
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (i >= LIVE) {
            assert_int_equal(find_any(&actor, numbered(name, "turn", numbers[i % LIVE])),
                             pods[i % LIVE].record);
            delete (&actor, pods[i % LIVE]);
        }
        numbers[i % LIVE] = i;
        assert_int_equal(add(&actor, numbered(name, "turn", i), &pods[i % LIVE]), INDEX_DONE);
        tables += ptr_load(&world->index.table) != table;
        table = ptr_load(&world->index.table);
    }
    assert_in_range(memory_bytes(&world->ground.memory, MEMORY_INDEX), 1, 2 * bytes);
    assert_true(tables > 2); /* and all but the first were as large as that */
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 4, SHARED = 24, OWN = 150 };

typedef struct team {
    world_t *world;
    unsigned rounds;
    atomic_u64 holder[SHARED]; /* who has claimed the pod with this name */
    atomic_u64 added[SHARED], ended[SHARED];
    pthread_barrier_t barrier;
    pod_t pods[THREADS];
    atomic_u32 winners;
} team_t;

typedef struct member {
    team_t *team;
    unsigned number;
    actor_t actor;
    pthread_t thread;
} member_t;

static void
run(team_t *team, void *(*body)(void *))
{
    static member_t members[THREADS];
    team->world->hashes = team->world->seed;
    print_message("TEST_SEED=%llu\n", (unsigned long long)team->world->seed);
    pthread_barrier_init(&team->barrier, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        members[i] = (member_t){.team = team, .number = i};
        actor_init(&members[i].actor, team->world, i + 1);
        assert_int_equal(pthread_create(&members[i].thread, NULL, body, &members[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(members[i].thread, NULL);
    pthread_barrier_destroy(&team->barrier);
    mailbox_assert_empty(&team->world->mailbox);
}

#define CHECK(member, good) mailbox_check(&(member)->team->world->mailbox, (good))

/* One name per round: all add it at once. */
static void *
race(void *argument)
{
    member_t *member = argument;
    team_t *team = member->team;
    actor_t *actor = &member->actor;
    for (unsigned round = 0; round < team->rounds; round++) {
        struct index_ticket ticket;
        char name[64];
        uint32_t found = 0;
        uint64_t life = 0;
        pod_t pod;
        pthread_barrier_wait(&team->barrier);
        numbered(name, "race", round);
        epoch_enter(actor->caller.epoch);
        enum index_answer answer = commit(actor, name, &pod, &ticket, &found, &life);
        if (answer == INDEX_DONE) {
            (void)u32_add(&team->winners, 1);
            team->pods[0] = pod;
            found = pod.record;
            /* One in four adders stops here for ever. */
            if (draw(actor) % 4 != 0) {
                publish(actor->world, pod.record, pod.life);
                index_finish(&ticket);
            }
        } else {
            CHECK(member, answer == INDEX_EXISTS);
            CHECK(member, u64_load(&actor->world->published[found]) >=
                              u64_load(&at(actor->world, found)->life));
        }
        epoch_leave(actor->caller.epoch);
        pthread_barrier_wait(&team->barrier);
        CHECK(member, u32_load(&team->winners) == round + 1);
        CHECK(member, found == team->pods[0].record);
        CHECK(member, find_any(actor, name) == found);
        pthread_barrier_wait(&team->barrier);
        if (round % THREADS == member->number && draw(actor) % 2 == 0)
            delete (actor, team->pods[0]);
    }
    return NULL;
}

static void
of_threads_that_add_one_name_exactly_one_succeeds(void **state)
{
    team_t team = {.world = *state, .rounds = rounds_of(4000)};
    open_index(team.world, 1);
    run(&team, race);
}

static void
add_shared(member_t *member, unsigned number, const char *name)
{
    team_t *team = member->team;
    actor_t *actor = &member->actor;
    struct index_ticket ticket;
    uint32_t found = 0;
    uint64_t life = 0;
    pod_t pod;
    epoch_enter(actor->caller.epoch);
    enum index_answer answer = commit(actor, name, &pod, &ticket, &found, &life);
    CHECK(member, answer != INDEX_NOMEM);
    if (answer == INDEX_DONE) {
        (void)u64_add(&team->added[number], 1);
        if (draw(actor) % 8 != 0) {
            publish(actor->world, pod.record, pod.life);
            index_finish(&ticket);
        }
    } else {
        CHECK(member, found != 0 && life != 0);
    }
    epoch_leave(actor->caller.epoch);
}

/* Claims the pod as a pop would, ends it, gives its record back at once. */
static void
end_shared(member_t *member, unsigned number, const char *name)
{
    team_t *team = member->team;
    actor_t *actor = &member->actor;
    world_t *world = actor->world;
    struct hashed_name key = key_of(world, name);
    uint64_t life = 0;
    epoch_enter(actor->caller.epoch);
    uint32_t record = index_find(&world->index, &actor->caller, &key, &life);
    struct entry *entry = record != 0 ? at(world, record) : NULL;
    uint64_t word = entry != NULL ? entry_state(entry) : 0;
    if (entry != NULL && u64_load_acquire(&entry->life) != life)
        entry = NULL; /* over, and its record has another pod */
    uint64_t claimed = state_switched(word, 0, PLACE_INFLIGHT);
    if (entry != NULL && state_place(word) == PLACE_ACTIVE &&
        u64_cas(&entry->word.low, word, claimed)) {
        pod_t pod = {record, u64_load(&entry->life), key.hash};
        uint32_t cell = (uint32_t)u64_load(&entry->name);
        CHECK(member, names_equal(entry_words(&world->names, entry, record, cell, key.length),
                                  key.text, key.length));
        CHECK(member, u64_load(&world->published[record]) >= pod.life);
        CHECK(member, u64_exchange(&team->holder[number], member->number + 1) == 0);
        CHECK(member, u64_exchange(&team->holder[number], 0) == member->number + 1);
        (void)u64_add(&team->ended[number], 1);
        u64_store_release(&entry->word.low, state_switched(claimed, 0, PLACE_DEAD));
        if (draw(actor) % 4 != 0)
            index_remove(&world->index, pod.hash, pod.record, pod.life);
        give_back(actor, pod);
    }
    epoch_leave(actor->caller.epoch);
}

/* Names that only this thread adds and deletes, in the lines of all others. */
static void
turn_own(member_t *member, pod_t *own, unsigned number)
{
    actor_t *actor = &member->actor;
    char prefix[16], name[64];
    sprintf(prefix, "own-%u", member->number);
    numbered(name, prefix, number);
    if (own[number].record == 0) {
        CHECK(member, find_any(actor, name) == 0);
        CHECK(member, add(actor, name, &own[number]) == INDEX_DONE);
        CHECK(member, find_any(actor, name) == own[number].record);
    } else {
        pod_t again;
        CHECK(member, find_any(actor, name) == own[number].record);
        CHECK(member, add(actor, name, &again) == INDEX_EXISTS);
        struct entry *entry = at(actor->world, own[number].record);
        uint64_t word = entry_state(entry);
        CHECK(member, u64_cas(&entry->word.low, word, state_switched(word, 0, PLACE_DEAD)));
        if (draw(actor) % 4 != 0)
            remove_cell(actor, own[number]);
        CHECK(member, find_any(actor, name) == 0);
        give_back(actor, own[number]);
        own[number] = (pod_t){0};
    }
}

static void *
churn(void *argument)
{
    member_t *member = argument;
    actor_t *actor = &member->actor;
    static pod_t all[THREADS][OWN];
    pod_t *own = all[member->number];
    memset(own, 0, sizeof all[0]);
    for (unsigned round = 0; round < member->team->rounds; round++) {
        unsigned number = (unsigned)(draw(actor) % SHARED);
        char name[64];
        numbered(name, "shared", number);
        if (draw(actor) % 2 == 0)
            add_shared(member, number, name);
        else
            end_shared(member, number, name);
        turn_own(member, own, (unsigned)(draw(actor) % (1 + round % OWN)));
        epoch_poll(actor->caller.epoch);
    }
    for (unsigned i = 0; i < OWN; i++) {
        if (own[i].record != 0)
            turn_own(member, own, i);
    }
    return NULL;
}

static void
churn_with(world_t *world, uint32_t lines)
{
    team_t team = {.world = world, .rounds = rounds_of(30000)};
    open_index(world, lines);
    run(&team, churn);
    actor_t actor;
    actor_init(&actor, world, 0);
    for (unsigned i = 0; i < SHARED; i++) {
        char name[64];
        uint64_t live = u64_load(&team.added[i]) - u64_load(&team.ended[i]);
        assert_in_range(live, 0, 1);
        assert_int_equal(find_any(&actor, numbered(name, "shared", i)) != 0, live);
    }
}

static void
threads_turn_names_over_while_the_table_grows_from_one_line(void **state)
{
    churn_with(*state, 1);
}

static void
threads_turn_names_over_in_a_table_that_suffices(void **state)
{
    churn_with(*state, 1024);
}

enum { GROW = 12000 };

static void *
grow(void *argument)
{
    member_t *member = argument;
    actor_t *actor = &member->actor;
    static pod_t all[THREADS][GROW];
    pod_t *pods = all[member->number];
    char prefix[16], name[64];
    sprintf(prefix, "grow-%u", member->number);
    for (unsigned i = 0; i < GROW; i++) {
        CHECK(member, add(actor, numbered(name, prefix, i), &pods[i]) == INDEX_DONE);
        unsigned earlier = (unsigned)(draw(actor) % (i + 1));
        CHECK(member, find_any(actor, numbered(name, prefix, earlier)) == pods[earlier].record);
        CHECK(member, find_any(actor, numbered(name, prefix, i + 1)) == 0);
    }
    for (unsigned i = 0; i < GROW; i++)
        CHECK(member, find_any(actor, numbered(name, prefix, i)) == pods[i].record);
    return NULL;
}

static void
threads_find_all_they_added_while_tables_grow(void **state)
{
    team_t team = {.world = *state};
    open_index(team.world, 1);
    run(&team, grow);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_name_is_found_from_its_add_to_its_end, setup, teardown),
        cmocka_unit_test_setup_teardown(a_living_name_exists, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_is_free_at_once_though_nobody_removed_its_cell,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_deleted_pod_in_flight_is_not_found, setup, teardown),
        cmocka_unit_test_setup_teardown(the_first_to_meet_a_pod_whose_adder_stopped_settles_it,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_pod_that_cannot_be_settled_is_not_there_and_stops_adds_into_its_line, setup,
            teardown),
        cmocka_unit_test_setup_teardown(an_add_settles_the_pod_before_it_in_the_line, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_pod_can_be_removed_while_its_adder_has_not_finished,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(every_name_is_found_while_tables_grow, setup, teardown),
        cmocka_unit_test_setup_teardown(lines_that_a_stopped_mover_left_are_moved_by_others, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(without_memory_names_are_added_as_long_as_there_is_a_cell,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(reserved_names_need_no_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(reserve_without_memory_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(a_million_names_need_42_bytes_each, setup, teardown),
        cmocka_unit_test_setup_teardown(turnover_at_constant_load_does_not_grow_the_table, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(of_threads_that_add_one_name_exactly_one_succeeds, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(threads_turn_names_over_while_the_table_grows_from_one_line,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(threads_turn_names_over_in_a_table_that_suffices, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(threads_find_all_they_added_while_tables_grow, setup,
                                        teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
