/*
 * lockfree/memory/slab.h: every object belongs to one at a time, numbers and memory come back,
 * versions never repeat; with threads and a trimmer too. The accounting allocator finds leaks and
 * frees of the wrong size.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "ground.h"
#include "lockfree/memory/slab.h"
#include "mailbox.h"

#define PAGE_BITS 7
#define PAGE (1u << PAGE_BITS)

typedef struct object {
    atomic_u64 version;
    atomic_u64 owner; /* 0: none; a test's own mark */
    atomic_u64 link, magazine_link;
    uint64_t plain; /* only its owner's: ThreadSanitizer watches */
} object_t;

static void
object_prepare(void *memory, uint64_t floor)
{
    object_t *object = memory;
    u64_store(&object->version, floor + 1);
}

static uint64_t
object_version(const void *memory)
{
    const object_t *object = memory;
    return u64_load(&object->version);
}

static const struct slab_kind kind = {.memory = MEMORY_ENTRIES,
                                      .bytes = sizeof(object_t),
                                      .page_bits = PAGE_BITS,
                                      .link = offsetof(object_t, link),
                                      .magazine_link = offsetof(object_t, magazine_link),
                                      .prepare = object_prepare,
                                      .version = object_version};

struct world {
    struct ground ground;
    struct slab slab;
};

static int
setup(void **state)
{
    world_t *world = ground_make(sizeof *world);
    slab_open(&world->slab, &kind, &world->ground.memory);
    *state = world;
    return 0;
}

static int
teardown(void **state)
{
    world_t *world = *state;
    slab_close(&world->slab);
    ground_free(world);
    return 0;
}

static object_t *
at(world_t *world, uint32_t number)
{
    return slab_at(&world->slab, number);
}

static void
trim(world_t *world)
{
    epoch_enter(world->ground.record);
    slab_trim(&world->slab, world->ground.record);
    epoch_leave(world->ground.record);
    epoch_poll(world->ground.record);
}

static uint64_t
slab_bytes(world_t *world)
{
    return memory_bytes(&world->ground.memory, MEMORY_ENTRIES);
}

static void
take_many(world_t *world, struct slab_cache *cache, uint32_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        numbers[i] = slab_take(&world->slab, cache);
        assert_int_not_equal(numbers[i], 0);
    }
}

static void
give_many(world_t *world, struct slab_cache *cache, const uint32_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        slab_give(&world->slab, cache, numbers[i]);
}

static void
objects_are_distinct_and_do_not_overlap(void **state)
{
    world_t *world = *state;
    enum { COUNT = 5 * PAGE + 3 };
    struct slab_cache cache = {0};
    static uint32_t numbers[COUNT];
    take_many(world, &cache, numbers, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_true(numbers[i] > 0 && numbers[i] < slab_end(&world->slab));
        assert_int_equal((uintptr_t)at(world, numbers[i]) % sizeof(uint64_t), 0);
        memset((void *)at(world, numbers[i]), (int)(i % 255), sizeof(object_t));
    }
    for (unsigned i = 0; i < COUNT; i++) {
        const unsigned char *bytes = (const unsigned char *)at(world, numbers[i]);
        for (size_t byte = 0; byte < sizeof(object_t); byte++)
            assert_int_equal(bytes[byte], i % 255);
    }
}

static void
what_was_given_last_is_taken_first(void **state)
{
    world_t *world = *state;
    struct slab_cache cache = {0};
    uint32_t numbers[5];
    take_many(world, &cache, numbers, 5);
    give_many(world, &cache, numbers, 5);
    for (unsigned i = 5; i-- > 0;)
        assert_int_equal(slab_take(&world->slab, &cache), numbers[i]);
}

static void
no_object_at_numbers_without_a_page(void **state)
{
    world_t *world = *state;
    assert_null(at(world, 1));
    assert_true(slab_reserve(&world->slab, 1));
    assert_non_null(at(world, 1));
    assert_null(at(world, PAGE));
    assert_null(at(world, (1u << 20) - 1));
}

static void
a_cache_keeps_two_magazines_at_most(void **state)
{
    world_t *world = *state;
    enum { COUNT = 8 * PAGE - 1 };
    struct slab_cache mine = {0}, other = {0};
    static uint32_t numbers[COUNT], again[COUNT];
    take_many(world, &mine, numbers, COUNT);
    uint32_t made = slab_made(&world->slab);
    give_many(world, &mine, numbers, COUNT);
    take_many(world, &other, again, made - SLAB_CACHE_MAX);
    assert_int_equal(slab_made(&world->slab), made);
}

static void
flush_gives_everything_to_the_others(void **state)
{
    world_t *world = *state;
    struct slab_cache mine = {0}, other = {0};
    static uint32_t numbers[PAGE];
    static const unsigned counts[] = {1, 2, MAGAZINE - 1, MAGAZINE, MAGAZINE + 1, PAGE - 1};
    take_many(world, &mine, numbers, PAGE - 1);
    for (unsigned i = 0; i < sizeof counts / sizeof *counts; i++) {
        give_many(world, &mine, numbers, counts[i]);
        slab_flush(&world->slab, &mine);
        take_many(world, &other, numbers, counts[i]);
        assert_int_equal(slab_made(&world->slab), PAGE - 1);
        slab_flush(&world->slab, &other); /* nothing is there to be given */
    }
}

static void
reserved_objects_need_no_memory(void **state)
{
    world_t *world = *state;
    enum { COUNT = 10 * PAGE };
    struct slab_cache cache = {0};
    static uint32_t numbers[COUNT];
    assert_true(slab_reserve(&world->slab, COUNT));
    assert_true(slab_made(&world->slab) >= COUNT);
    uint64_t allocations = atomic_load(&world->ground.account.allocations);
    take_many(world, &cache, numbers, COUNT);
    assert_true(slab_reserve(&world->slab, COUNT)); /* used ones count */
    assert_int_equal(atomic_load(&world->ground.account.allocations), allocations);
}

static void
without_memory_there_is_no_object_and_no_number_is_lost(void **state)
{
    world_t *world = *state;
    enum { COUNT = 3 * PAGE };
    /* Allocations: page, leaf, then a page each. */
    for (int64_t successes = 0; successes < 4; successes++) {
        struct slab_cache cache = {0};
        unsigned taken = 0, refused = 0;
        account_fail_after(&world->ground.account, successes);
        for (unsigned i = 0; i < COUNT; i++) {
            if (slab_take(&world->slab, &cache) != 0)
                taken++;
            else
                refused++;
        }
        (void)account_heal(&world->ground.account);
        assert_int_equal(refused, 1);
        assert_int_equal(slab_end(&world->slab), (taken + 1 + PAGE - 1) / PAGE * PAGE);
        slab_close(&world->slab);
        slab_open(&world->slab, &kind, &world->ground.memory);
    }
    account_fail_after(&world->ground.account, 3);
    assert_false(slab_reserve(&world->slab, COUNT));
    (void)account_heal(&world->ground.account);
    assert_int_equal(slab_made(&world->slab), 2 * PAGE - 1);
    assert_true(slab_reserve(&world->slab, COUNT));
}

static void
after_the_last_number_there_is_no_object(void **state)
{
    world_t *world = *state;
    struct slab_cache cache = {0};
    uint32_t last = SLAB_ROOT * SLAB_LEAF - 1;
    u32_store(&world->slab.pages, last);
    for (unsigned i = 0; i < PAGE; i++)
        assert_int_equal(slab_take(&world->slab, &cache) >> PAGE_BITS, last);
    assert_int_equal(slab_take(&world->slab, &cache), 0);
    assert_false(slab_reserve(&world->slab, PAGE + 1));
    assert_int_equal(slab_made(&world->slab), PAGE);
    assert_int_equal(slab_end(&world->slab), (last + 1) << PAGE_BITS);
}

/* ---- trim ------------------------------------------------------------------------------------ */

static void
trim_gives_back_pages_that_nobody_uses(void **state)
{
    world_t *world = *state;
    struct slab_cache cache = {0};
    assert_true(slab_reserve(&world->slab, 1));
    uint64_t first_page = slab_bytes(world);
    assert_true(slab_reserve(&world->slab, 9 * PAGE));
    uint32_t kept = slab_take(&world->slab, &cache);
    uint32_t end = slab_end(&world->slab);
    slab_flush(&world->slab, &cache);
    trim(world);
    assert_int_equal(slab_made(&world->slab), kept < PAGE ? PAGE - 1 : PAGE);
    assert_int_equal(slab_bytes(world), first_page);
    assert_int_equal(slab_end(&world->slab), end);
    assert_non_null(at(world, kept));
    slab_give(&world->slab, &cache, kept);
    slab_flush(&world->slab, &cache);
    trim(world);
    assert_int_equal(slab_made(&world->slab), 0);
    assert_null(at(world, kept));
    trim(world);
}

static void
trimmed_numbers_are_used_again(void **state)
{
    world_t *world = *state;
    enum { COUNT = 6 * PAGE - 1 };
    struct slab_cache cache = {0};
    static uint32_t numbers[COUNT];
    take_many(world, &cache, numbers, COUNT);
    uint32_t end = slab_end(&world->slab);
    for (unsigned round = 0; round < 20; round++) {
        give_many(world, &cache, numbers, COUNT);
        slab_flush(&world->slab, &cache);
        trim(world);
        assert_int_equal(slab_made(&world->slab), 0);
        take_many(world, &cache, numbers, COUNT);
        assert_int_equal(slab_end(&world->slab), end);
        assert_int_equal(slab_made(&world->slab), COUNT);
    }
}

static void
free_objects_of_pages_in_use_survive_a_trim(void **state)
{
    world_t *world = *state;
    enum { COUNT = 6 * PAGE - 1 };
    struct slab_cache cache = {0};
    static uint32_t numbers[COUNT];
    take_many(world, &cache, numbers, COUNT);
    unsigned given = 0;
    for (unsigned i = 0; i < COUNT; i++) {
        if (numbers[i] % 5 != 0) { /* every page keeps some */
            slab_give(&world->slab, &cache, numbers[i]);
            given++;
        }
    }
    slab_flush(&world->slab, &cache);
    trim(world);
    assert_int_equal(slab_made(&world->slab), COUNT);
    take_many(world, &cache, numbers, given);
    assert_int_equal(slab_made(&world->slab), COUNT);
}

static void
trim_waits_for_the_sections_of_others(void **state)
{
    world_t *world = *state;
    struct epoch_record *reader = epoch_record_make(world->ground.epoch);
    assert_true(slab_reserve(&world->slab, PAGE));
    epoch_enter(reader);
    object_t *seen = at(world, 1);
    uint64_t version = object_version(seen);
    trim(world);
    for (unsigned i = 0; i < 8; i++)
        epoch_poll(world->ground.record);
    assert_int_equal(slab_made(&world->slab), 0);
    assert_int_equal(object_version(seen), version);
    uint64_t before = slab_bytes(world);
    epoch_leave(reader);
    for (unsigned i = 0; i < 8; i++)
        epoch_poll(world->ground.record);
    assert_true(slab_bytes(world) < before);
}

static void
trim_without_memory_loses_nothing(void **state)
{
    world_t *world = *state;
    enum { COUNT = 6 * PAGE - 1 };
    struct slab_cache cache = {0};
    static uint32_t numbers[COUNT];
    assert_true(slab_reserve(&world->slab, COUNT));
    atomic_store(&world->ground.account.fail_all, true);
    trim(world);
    take_many(world, &cache, numbers, COUNT);
    (void)account_heal(&world->ground.account);
    assert_int_equal(slab_made(&world->slab), COUNT);
}

static void
versions_of_a_new_page_are_above_those_of_trimmed_ones(void **state)
{
    world_t *world = *state;
    struct slab_cache cache = {0};
    uint32_t number = slab_take(&world->slab, &cache);
    assert_int_equal(object_version(at(world, number)), 1);
    u64_store(&at(world, number)->version, 1000);
    slab_give(&world->slab, &cache, number);
    slab_flush(&world->slab, &cache);
    trim(world);
    number = slab_take(&world->slab, &cache);
    assert_int_equal(object_version(at(world, number)), 1001);
    slab_give(&world->slab, &cache, number);
    slab_flush(&world->slab, &cache);
    trim(world);
    number = slab_take(&world->slab, &cache);
    assert_true(object_version(at(world, number)) > 1001);
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 40000, HELD_MAX = 300, NUMBERS = 64 * PAGE, SHELVES = 16 };

typedef struct team {
    world_t *world;
    mailbox_t mailbox;
    atomic_u64 last_version[NUMBERS]; /* the highest with which somebody took this number */
    atomic_u64 shelf[SHELVES];        /* objects that change hands */
    atomic_u32 stop;
} team_t;

typedef struct member {
    pthread_t thread;
    team_t *team;
    struct epoch_record *record;
    struct slab_cache cache;
    uint32_t held[HELD_MAX], count;
    uint64_t mark;
    unsigned seed;
} member_t;

static unsigned
draw(member_t *member, unsigned below)
{
    member->seed = member->seed * 1103515245u + 12345u;
    return (member->seed >> 8) % below;
}

static void
own(member_t *member, uint32_t number)
{
    team_t *team = member->team;
    object_t *object = at(team->world, number);
    if (!mailbox_check(&team->mailbox, number != 0 && number < NUMBERS && object != NULL))
        return;
    mailbox_check(&team->mailbox, u64_cas(&object->owner, 0, member->mark));
    object->plain = member->mark;
    uint64_t version = object_version(object) + 1;
    u64_store(&object->version, version);
    mailbox_check(&team->mailbox, u64_max(&team->last_version[number], version) < version);
    member->held[member->count++] = number;
}

static uint32_t
disown(member_t *member)
{
    uint32_t which = draw(member, member->count), number = member->held[which];
    object_t *object = at(member->team->world, number);
    member->held[which] = member->held[--member->count];
    mailbox_check(&member->team->mailbox, object->plain == member->mark);
    mailbox_check(&member->team->mailbox, u64_cas(&object->owner, member->mark, 0));
    return number;
}

/* Gives to another cache than it took from, as consumers do. */
static void
swap_with_shelf(member_t *member)
{
    atomic_u64 *place = &member->team->shelf[draw(member, SHELVES)];
    uint32_t mine = member->count > 0 ? disown(member) : 0;
    uint32_t other = (uint32_t)u64_exchange(place, mine);
    if (other != 0)
        slab_give(&member->team->world->slab, &member->cache, other);
}

static void
look_at_a_stranger(member_t *member)
{
    const struct slab *slab = &member->team->world->slab;
    uint32_t end = slab_end(slab);
    const object_t *object = end != 0 ? slab_at(slab, draw(member, end)) : NULL;
    if (object != NULL)
        mailbox_check(&member->team->mailbox, u64_load(&object->owner) <= THREADS);
}

static void
step(member_t *member)
{
    struct slab *slab = &member->team->world->slab;
    unsigned what = draw(member, 1000);
    if (what < 450 && member->count < HELD_MAX)
        own(member, slab_take(slab, &member->cache));
    else if (what < 850 && member->count > 0)
        slab_give(slab, &member->cache, disown(member));
    else if (what < 900)
        swap_with_shelf(member);
    else if (what < 980)
        look_at_a_stranger(member);
    else if (what < 985)
        slab_flush(slab, &member->cache);
    else if (what < 987)
        slab_trim(slab, member->record);
    else if (what < 988)
        mailbox_check(&member->team->mailbox, slab_reserve(slab, 10 * PAGE));
}

static void
member_leave(member_t *member)
{
    struct slab *slab = &member->team->world->slab;
    epoch_enter(member->record);
    while (member->count > 0)
        slab_give(slab, &member->cache, disown(member));
    slab_flush(slab, &member->cache);
    epoch_leave(member->record);
}

static void *
member_main(void *argument)
{
    member_t *member = argument;
    for (unsigned round = 0; round < ROUNDS; round++) {
        epoch_enter(member->record);
        step(member);
        /* Long phases of giving let pages become free. */
        while (round % 2048 == 0 && member->count > 0)
            slab_give(&member->team->world->slab, &member->cache, disown(member));
        epoch_leave(member->record);
        epoch_poll(member->record);
    }
    member_leave(member);
    return NULL;
}

/*
 * Nearly every take and give exchanges a list with the others: what is on top of the stack changes
 * and comes back.
 */
static void *
exchanger_main(void *argument)
{
    member_t *member = argument;
    struct slab *slab = &member->team->world->slab;
    while (u32_load(&member->team->stop) == 0) {
        epoch_enter(member->record);
        if (member->count < 3)
            own(member, slab_take(slab, &member->cache));
        else
            slab_give(slab, &member->cache, disown(member));
        if (draw(member, 8) != 0)
            slab_flush(slab, &member->cache);
        if (draw(member, 200) == 0)
            slab_trim(slab, member->record);
        epoch_leave(member->record);
        epoch_poll(member->record);
    }
    member_leave(member);
    return NULL;
}

static void
nap(int signal)
{
    const struct timespec time = {.tv_nsec = 200000};
    int error = errno;
    (void)signal;
    (void)nanosleep(&time, NULL);
    errno = error;
}

/* Stops one after the other wherever it is, while the others go on. */
static void
disturb(member_t *members, unsigned times)
{
    const struct timespec pause = {.tv_nsec = 100000};
    struct sigaction action = {.sa_handler = nap, .sa_flags = SA_RESTART};
    assert_int_equal(sigaction(SIGUSR1, &action, NULL), 0);
    for (unsigned i = 0; i < times; i++) {
        (void)nanosleep(&pause, NULL);
        assert_int_equal(pthread_kill(members[i % THREADS].thread, SIGUSR1), 0);
    }
}

static team_t *
run_team(world_t *world, void *(*body)(void *), unsigned disturbances)
{
    static team_t team;
    static member_t members[THREADS];
    memset(&team, 0, sizeof team);
    team.world = world;
    mailbox_init(&team.mailbox);
    for (unsigned i = 0; i < THREADS; i++) {
        members[i] = (member_t){.team = &team, .mark = i + 1, .seed = 77 * i + 1};
        members[i].record = epoch_record_make(world->ground.epoch);
        assert_int_equal(pthread_create(&members[i].thread, NULL, body, &members[i]), 0);
    }
    disturb(members, disturbances);
    u32_store(&team.stop, 1);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    mailbox_assert_empty(&team.mailbox);
    return &team;
}

static void
assert_everything_came_back(world_t *world)
{
    trim(world);
    assert_int_equal(slab_made(&world->slab), 0);
    assert_int_equal(u32_load(&world->slab.holes), u32_load(&world->slab.pages));
}

static void
threads_share_objects_while_pages_come_and_go(void **state)
{
    world_t *world = *state;
    team_t *team = run_team(world, member_main, 0);
    struct slab_cache cache = {0};
    for (unsigned i = 0; i < SHELVES; i++) {
        if (u64_load(&team->shelf[i]) != 0)
            slab_give(&world->slab, &cache, (uint32_t)u64_load(&team->shelf[i]));
    }
    slab_flush(&world->slab, &cache);
    assert_everything_came_back(world);
}

static void
threads_exchange_lists_and_stop_anywhere(void **state)
{
    world_t *world = *state;
    (void)run_team(world, exchanger_main, 2000);
    assert_everything_came_back(world);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(objects_are_distinct_and_do_not_overlap, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_given_last_is_taken_first, setup, teardown),
        cmocka_unit_test_setup_teardown(no_object_at_numbers_without_a_page, setup, teardown),
        cmocka_unit_test_setup_teardown(a_cache_keeps_two_magazines_at_most, setup, teardown),
        cmocka_unit_test_setup_teardown(flush_gives_everything_to_the_others, setup, teardown),
        cmocka_unit_test_setup_teardown(reserved_objects_need_no_memory, setup, teardown),
        cmocka_unit_test_setup_teardown(without_memory_there_is_no_object_and_no_number_is_lost,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(after_the_last_number_there_is_no_object, setup, teardown),
        cmocka_unit_test_setup_teardown(trim_gives_back_pages_that_nobody_uses, setup, teardown),
        cmocka_unit_test_setup_teardown(trimmed_numbers_are_used_again, setup, teardown),
        cmocka_unit_test_setup_teardown(free_objects_of_pages_in_use_survive_a_trim, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(trim_waits_for_the_sections_of_others, setup, teardown),
        cmocka_unit_test_setup_teardown(trim_without_memory_loses_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(versions_of_a_new_page_are_above_those_of_trimmed_ones,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(threads_share_objects_while_pages_come_and_go, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(threads_exchange_lists_and_stop_anywhere, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
