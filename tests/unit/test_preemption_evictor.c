/*
 * schedq/eviction.h: what is done in which order, what a failure leaves undone, and whom PreEnqueue
 * has to refuse meanwhile.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "expect.h"
#include "mailbox.h"
#include "schedq/eviction.h"

enum { PREEMPTOR = 100, OTHER = 101, HELD_MAX = 4 };

/* The steps as words: "evict 1 held;", so that a test compares the whole course. */
typedef struct world {
    account_t account;
    schedq_evictor_t *evictor;
    char course[512];
    uint64_t fails, gone, not_cleared; /* objects */
    bool all_gone;
    bool spawn_refuses;
    void (*task)(void *argument);
    void *argument;
} world_t;

static void
note(world_t *world, const char *step, uint64_t object)
{
    size_t length = strlen(world->course);
    snprintf(world->course + length, sizeof world->course - length, "%s %u%s;", step,
             (unsigned)object, schedq_evictor_holds(world->evictor, PREEMPTOR) ? " held" : "");
}

static int
evict(void *ctx, uint64_t victim, uint64_t preemptor)
{
    world_t *world = ctx;
    (void)preemptor;
    note(world, "evict", victim);
    if (victim == world->fails)
        return SCHEDQ_DELETE_FAILED;
    return world->all_gone || victim == world->gone ? SCHEDQ_DELETE_GONE : SCHEDQ_DELETE_SENT;
}

static int
clear(void *ctx, uint64_t nominated, uint64_t preemptor)
{
    world_t *world = ctx;
    assert_int_equal(preemptor, PREEMPTOR);
    note(world, "clear", nominated);
    return nominated == world->not_cleared ? -1 : 0;
}

static void
activate(void *ctx, uint64_t preemptor)
{
    note(ctx, "activate", preemptor);
}

static int
spawn(void *ctx, void (*task)(void *argument), void *argument)
{
    world_t *world = ctx;
    if (world->spawn_refuses)
        return -1;
    world->task = task;
    world->argument = argument;
    return 0;
}

static schedq_evictor_config_t
config_of(world_t *world)
{
    schedq_evictor_config_t config = SCHEDQ_EVICTOR_CONFIG_INIT;
    config.max_held = HELD_MAX;
    config.allocator = account_allocator(&world->account);
    config.evict = evict;
    config.clear = clear;
    config.activate = activate;
    config.spawn = spawn;
    config.ctx = world;
    return config;
}

static int
setup(void **state)
{
    world_t *world = calloc(1, sizeof *world);
    char why[200];
    account_init(&world->account);
    const schedq_evictor_config_t config = config_of(world);
    assert_status(schedq_evictor_create(&config, &world->evictor, why, sizeof why), SCHEDQ_OK);
    *state = world;
    return 0;
}

static int
teardown(void **state)
{
    world_t *world = *state;
    assert_status(schedq_evictor_destroy(world->evictor), SCHEDQ_OK);
    assert_int_equal(atomic_load(&world->account.blocks), 0);
    assert_int_equal(atomic_load(&world->account.faults), 0);
    free(world);
    return 0;
}

static const uint64_t victims[] = {1, 2, 3};
static const uint64_t clears[] = {11, 12};

static schedq_eviction_t
eviction(uint32_t later)
{
    return (schedq_eviction_t){.struct_size = sizeof(schedq_eviction_t),
                               .preemptor = PREEMPTOR,
                               .victims = victims,
                               .victim_count = 3,
                               .clears = clears,
                               .clear_count = 2,
                               .later = later};
}

static void
run_task(world_t *world)
{
    assert_non_null(world->task);
    world->task(world->argument);
    world->task = NULL;
}

/* ---- now ------------------------------------------------------------------------------------- */

static void
now_deletes_the_victims_in_order_and_then_clears(void **state)
{
    world_t *world = *state;
    const schedq_eviction_t what = eviction(0);
    schedq_evicted_t evicted;
    world->gone = 2;
    assert_status(schedq_evictor_evict(world->evictor, &what, &evicted), SCHEDQ_OK);
    assert_string_equal(world->course, "evict 1;evict 2;evict 3;clear 11;clear 12;");
    assert_int_equal(evicted.sent, 2);
    assert_int_equal(evicted.gone, 1);
    assert_int_equal(evicted.failed, 0);
}

static void
now_stops_at_the_first_deletion_that_fails(void **state)
{
    world_t *world = *state;
    const schedq_eviction_t what = eviction(0);
    schedq_evicted_t evicted;
    world->fails = 2;
    assert_status(schedq_evictor_evict(world->evictor, &what, &evicted), SCHEDQ_OK);
    assert_string_equal(world->course, "evict 1;evict 2;");
    assert_int_equal(evicted.failed, 2);
    assert_int_equal(evicted.sent, 1);
}

static void
now_counts_nominations_that_could_not_be_ended(void **state)
{
    world_t *world = *state;
    const schedq_eviction_t what = eviction(0);
    schedq_evicted_t evicted;
    world->not_cleared = 11;
    assert_status(schedq_evictor_evict(world->evictor, &what, &evicted), SCHEDQ_OK);
    assert_int_equal(evicted.not_cleared, 1);
    assert_string_equal(world->course, "evict 1;evict 2;evict 3;clear 11;clear 12;");
}

/* ---- later ----------------------------------------------------------------------------------- */

static void
later_lets_go_before_the_last_victim(void **state)
{
    world_t *world = *state;
    const schedq_eviction_t what = eviction(1);
    schedq_evicted_t evicted;
    assert_int_equal(schedq_evictor_holds(world->evictor, PREEMPTOR), 0);
    assert_status(schedq_evictor_evict(world->evictor, &what, &evicted), SCHEDQ_OK);
    assert_string_equal(world->course, "");
    assert_int_equal(schedq_evictor_holds(world->evictor, PREEMPTOR), 1);
    assert_int_equal(schedq_evictor_holds(world->evictor, OTHER), 0);
    assert_status(schedq_evictor_destroy(world->evictor), SCHEDQ_BUSY);
    run_task(world);
    assert_string_equal(world->course,
                        "clear 11 held;clear 12 held;evict 1 held;evict 2 held;evict 3;");
    assert_int_equal(schedq_evictor_holds(world->evictor, PREEMPTOR), 0);
}

static void
later_deletes_the_last_victim_after_a_failure_and_activates(void **state)
{
    world_t *world = *state;
    const schedq_eviction_t what = eviction(1);
    world->fails = 1;
    assert_status(schedq_evictor_evict(world->evictor, &what, NULL), SCHEDQ_OK);
    run_task(world);
    assert_string_equal(
        world->course,
        "clear 11 held;clear 12 held;evict 1 held;evict 2 held;evict 3;activate 100;");
}

static void
later_activates_when_no_event_will_come(void **state)
{
    world_t *world = *state;
    const schedq_eviction_t what = eviction(1);
    world->all_gone = true;
    assert_status(schedq_evictor_evict(world->evictor, &what, NULL), SCHEDQ_OK);
    run_task(world);
    assert_string_equal(
        world->course,
        "clear 11 held;clear 12 held;evict 1 held;evict 2 held;evict 3;activate 100;");
}

/* The events of the others came while the preemptor was held. */
static void
later_activates_when_the_last_victim_is_gone(void **state)
{
    world_t *world = *state;
    const schedq_eviction_t what = eviction(1);
    world->gone = 3;
    assert_status(schedq_evictor_evict(world->evictor, &what, NULL), SCHEDQ_OK);
    run_task(world);
    assert_string_equal(
        world->course,
        "clear 11 held;clear 12 held;evict 1 held;evict 2 held;evict 3;activate 100;");
}

static void
later_needs_no_activation_when_another_is_gone(void **state)
{
    world_t *world = *state;
    const schedq_eviction_t what = eviction(1);
    world->gone = 1;
    assert_status(schedq_evictor_evict(world->evictor, &what, NULL), SCHEDQ_OK);
    run_task(world);
    assert_string_equal(world->course,
                        "clear 11 held;clear 12 held;evict 1 held;evict 2 held;evict 3;");
}

static void
later_activates_when_a_nomination_could_not_be_ended(void **state)
{
    world_t *world = *state;
    const schedq_eviction_t what = eviction(1);
    world->not_cleared = 12;
    assert_status(schedq_evictor_evict(world->evictor, &what, NULL), SCHEDQ_OK);
    run_task(world);
    assert_string_equal(
        world->course,
        "clear 11 held;clear 12 held;evict 1 held;evict 2 held;evict 3;activate 100;");
}

static void
later_does_nothing_without_victims(void **state)
{
    world_t *world = *state;
    schedq_eviction_t what = eviction(1);
    what.victim_count = 0;
    assert_status(schedq_evictor_evict(world->evictor, &what, NULL), SCHEDQ_OK);
    assert_null(world->task);
    assert_int_equal(schedq_evictor_holds(world->evictor, PREEMPTOR), 0);
}

static void
a_preemptor_is_held_once(void **state)
{
    world_t *world = *state;
    const schedq_eviction_t what = eviction(1);
    assert_status(schedq_evictor_evict(world->evictor, &what, NULL), SCHEDQ_OK);
    assert_status(schedq_evictor_evict(world->evictor, &what, NULL), SCHEDQ_EXISTS);
    run_task(world);
    assert_status(schedq_evictor_evict(world->evictor, &what, NULL), SCHEDQ_OK);
    run_task(world);
}

static void
whoever_is_refused_is_not_held(void **state)
{
    world_t *world = *state;
    const schedq_eviction_t what = eviction(1);
    world->spawn_refuses = true;
    assert_status(schedq_evictor_evict(world->evictor, &what, NULL), SCHEDQ_BUSY);
    assert_int_equal(schedq_evictor_holds(world->evictor, PREEMPTOR), 0);
    /* an event that came meanwhile has put it behind its gate */
    assert_string_equal(world->course, "activate 100;");
    world->course[0] = '\0';
    account_fail_after(&world->account, 0);
    assert_status(schedq_evictor_evict(world->evictor, &what, NULL), SCHEDQ_NOMEM);
    assert_true(account_heal(&world->account));
    assert_int_equal(schedq_evictor_holds(world->evictor, PREEMPTOR), 0);
    assert_string_equal(world->course, "");
}

static void
no_more_are_held_than_configured(void **state)
{
    world_t *world = *state;
    void *arguments[HELD_MAX];
    schedq_eviction_t what = eviction(1);
    what.clear_count = 0;
    for (unsigned i = 0; i < HELD_MAX; i++) {
        what.preemptor = OTHER + i;
        assert_status(schedq_evictor_evict(world->evictor, &what, NULL), SCHEDQ_OK);
        arguments[i] = world->argument;
    }
    what.preemptor = PREEMPTOR;
    assert_status(schedq_evictor_evict(world->evictor, &what, NULL), SCHEDQ_FULL);
    assert_int_equal(schedq_evictor_holds(world->evictor, PREEMPTOR), 0);
    for (unsigned i = 0; i < HELD_MAX; i++)
        assert_int_equal(schedq_evictor_holds(world->evictor, OTHER + i), 1);
    for (unsigned i = 0; i < HELD_MAX; i++)
        world->task(arguments[i]);
}

/* ---- bad input ------------------------------------------------------------------------------- */

static void
refused(world_t *world, const schedq_evictor_config_t *config, const char *words)
{
    schedq_evictor_t *evictor = world->evictor;
    char why[200];
    assert_status(schedq_evictor_create(config, &evictor, why, sizeof why), SCHEDQ_INVALID);
    assert_null(evictor);
    assert_string_equal(why, words);
}

static void
a_bad_configuration_is_refused_with_words(void **state)
{
    world_t *world = *state;
    char expected[100];
    schedq_evictor_config_t config = config_of(world);
    config.struct_size = 1;
    snprintf(expected, sizeof expected,
             "config.struct_size 1: %zu, as SCHEDQ_EVICTOR_CONFIG_INIT sets it", sizeof config);
    refused(world, &config, expected);
    config = config_of(world);
    config.max_held = 0;
    refused(world, &config, "config.max_held 0: 1..65536");
    config.max_held = 65537;
    refused(world, &config, "config.max_held 65537: 1..65536");
    config = config_of(world);
    config.allocator.free = NULL;
    refused(world, &config, "config.allocator: alloc and free, or neither");
    config = config_of(world);
    config.allocator.reserved = 1;
    refused(world, &config, "config.allocator.reserved 1: 0, as its initializer sets it");
    config = config_of(world);
    config.evict = NULL;
    refused(world, &config, "config.evict NULL: a function");
    config = config_of(world);
    config.clear = NULL;
    refused(world, &config, "config.clear NULL: a function");
    config = config_of(world);
    config.activate = NULL;
    refused(world, &config, "config.activate NULL: a function, because there is a spawn");
    refused(world, NULL, "config NULL: a pointer");
}

static void
a_bad_eviction_is_refused_and_nothing_is_done(void **state)
{
    world_t *world = *state;
    static const uint64_t with_zero[] = {1, 0, 3};
    schedq_eviction_t bad[7];
    for (unsigned i = 0; i < 7; i++)
        bad[i] = eviction(i & 1);
    bad[0].preemptor = 0;
    bad[1].later = 2;
    bad[2].struct_size = 0;
    bad[3].victims = NULL;
    bad[4].victims = with_zero;
    bad[5].clears = NULL;
    bad[6].clears = with_zero;
    for (unsigned i = 0; i < 7; i++)
        assert_status(schedq_evictor_evict(world->evictor, &bad[i], NULL), SCHEDQ_INVALID);
    assert_status(schedq_evictor_evict(NULL, &bad[0], NULL), SCHEDQ_INVALID);
    assert_status(schedq_evictor_evict(world->evictor, NULL, NULL), SCHEDQ_INVALID);
    assert_string_equal(world->course, "");
    assert_null(world->task);
    assert_int_equal(schedq_evictor_holds(NULL, PREEMPTOR), 0);
    assert_int_equal(schedq_evictor_holds(world->evictor, 0), 0);
}

static void
without_memory_there_is_no_evictor(void **state)
{
    world_t *world = *state;
    const schedq_evictor_config_t config = config_of(world);
    for (int64_t i = 0; i < 2; i++) {
        schedq_evictor_t *evictor = NULL;
        account_fail_after(&world->account, i);
        assert_status(schedq_evictor_create(&config, &evictor, NULL, 0), SCHEDQ_NOMEM);
        assert_true(account_heal(&world->account));
        assert_null(evictor);
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

enum { THREADS = 4, ROUNDS = 3000 };

typedef struct crowd {
    schedq_evictor_t *evictor;
    mailbox_t mailbox;
} crowd_t;

typedef struct member {
    crowd_t *crowd;
    pthread_t thread;
    uint64_t preemptor;
    bool last_seen; /* its last victim was deleted, and it was not held then */
} member_t;

/* The preemptor tells whose it is: objects are addresses here. */
static int
crowd_evict(void *ctx, uint64_t victim, uint64_t preemptor)
{
    crowd_t *crowd = ctx;
    member_t *member = (member_t *)(uintptr_t)preemptor;
    bool held = schedq_evictor_holds(crowd->evictor, preemptor) != 0;
    mailbox_check(&crowd->mailbox, held == (victim != 3));
    member->last_seen = victim == 3;
    return SCHEDQ_DELETE_SENT;
}

static int
crowd_clear(void *ctx, uint64_t nominated, uint64_t preemptor)
{
    crowd_t *crowd = ctx;
    (void)nominated;
    mailbox_check(&crowd->mailbox, schedq_evictor_holds(crowd->evictor, preemptor) != 0);
    return 0;
}

static void
crowd_activate(void *ctx, uint64_t preemptor)
{
    crowd_t *crowd = ctx;
    (void)preemptor;
    mailbox_complain(&crowd->mailbox, "activated without a failure");
}

static int
crowd_spawn(void *ctx, void (*task)(void *argument), void *argument)
{
    (void)ctx;
    task(argument);
    return 0;
}

static void *
hold_and_let_go(void *argument)
{
    member_t *member = argument;
    crowd_t *crowd = member->crowd;
    schedq_eviction_t what = eviction(1);
    what.preemptor = (uint64_t)(uintptr_t)member;
    for (unsigned i = 0; i < ROUNDS; i++) {
        member->last_seen = false;
        schedq_status_t status = schedq_evictor_evict(crowd->evictor, &what, NULL);
        if (status == SCHEDQ_FULL) {
            sched_yield();
            continue;
        }
        mailbox_check(&crowd->mailbox, status == SCHEDQ_OK);
        mailbox_check(&crowd->mailbox, member->last_seen);
        mailbox_check(&crowd->mailbox, schedq_evictor_holds(crowd->evictor, what.preemptor) == 0);
    }
    return NULL;
}

/* Fewer words than threads, so that words change hands. */
static void
threads_hold_their_own_preemptors_only(void **state)
{
    world_t *world = *state;
    crowd_t crowd = {.evictor = NULL};
    member_t members[THREADS];
    schedq_evictor_config_t config = config_of(world);
    config.max_held = THREADS - 1;
    config.evict = crowd_evict;
    config.clear = crowd_clear;
    config.activate = crowd_activate;
    config.spawn = crowd_spawn;
    config.ctx = &crowd;
    mailbox_init(&crowd.mailbox);
    assert_status(schedq_evictor_create(&config, &crowd.evictor, NULL, 0), SCHEDQ_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        members[i] = (member_t){.crowd = &crowd};
        assert_int_equal(pthread_create(&members[i].thread, NULL, hold_and_let_go, &members[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(members[i].thread, NULL), 0);
    mailbox_assert_empty(&crowd.mailbox);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(schedq_evictor_holds(crowd.evictor, (uint64_t)(uintptr_t)&members[i]), 0);
    assert_status(schedq_evictor_destroy(crowd.evictor), SCHEDQ_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int
main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(now_deletes_the_victims_in_order_and_then_clears),
        TEST(now_stops_at_the_first_deletion_that_fails),
        TEST(now_counts_nominations_that_could_not_be_ended),
        TEST(later_lets_go_before_the_last_victim),
        TEST(later_deletes_the_last_victim_after_a_failure_and_activates),
        TEST(later_activates_when_no_event_will_come),
        TEST(later_activates_when_the_last_victim_is_gone),
        TEST(later_needs_no_activation_when_another_is_gone),
        TEST(later_activates_when_a_nomination_could_not_be_ended),
        TEST(later_does_nothing_without_victims),
        TEST(a_preemptor_is_held_once),
        TEST(whoever_is_refused_is_not_held),
        TEST(no_more_are_held_than_configured),
        TEST(a_bad_configuration_is_refused_with_words),
        TEST(a_bad_eviction_is_refused_and_nothing_is_done),
        TEST(without_memory_there_is_no_evictor),
        TEST(threads_hold_their_own_preemptors_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
