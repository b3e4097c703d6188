/*
 * What memory a queue holds: reserve, trim, the bytes of stats, and that churn does not add to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

/* WAITING_MAX: what may wait to be freed, less than eight bytes for each pod that passes. */
enum { PODS = 2000, BANDS = 50, WAITING_MAX = 65536 };

/* The mutex engine frees at once. */
static uint64_t
may_wait(const fixture_t *fixture)
{
    return fixture->config.engine == SCHEDQ_ENGINE_LOCKFREE ? WAITING_MAX : 0;
}

/* "0000.../...00017", as long as reserve makes room for. */
static void
longest_reserved_name(char name[64], unsigned i)
{
    snprintf(name, 64, "%063u", i);
    name[20] = '/';
}

/*
 * Adds, updates, deletes and pops all of them, by two workers; the calls draw on the same memory
 * every time.
 */
static void
use_reserved(fixture_t *fixture, schedq_worker_t *second)
{
    char name[64];
    for (unsigned i = 0; i < PODS; i++) {
        longest_reserved_name(name, i);
        schedq_pod_spec_t spec = fx_spec((int32_t)(i % BANDS));
        assert_ok(
            schedq_add(i % 2 != 0 ? second : fx_worker(fixture), name, strlen(name), &spec, NULL));
    }
    for (unsigned i = 0; i < PODS; i += 3) {
        longest_reserved_name(name, i);
        schedq_pod_spec_t spec = fx_spec((int32_t)((i + 1) % BANDS));
        assert_ok(schedq_update(i % 2 != 0 ? second : fx_worker(fixture), name, strlen(name), &spec,
                                0, NULL, 0, NULL));
    }
    for (unsigned i = 0; i < PODS; i += 8) {
        longest_reserved_name(name, i);
        assert_ok(schedq_delete_name(fx_worker(fixture), name, 63, NULL));
    }
    fx_tick(fixture);
    for (unsigned i = 0; i < PODS - PODS / 8; i++) {
        schedq_popped_t popped;
        assert_ok(schedq_try_pop(second, &popped));
        assert_ok(schedq_done(fx_worker(fixture), popped.token));
    }
    fx_pop_nothing(fixture);
}

/* After reserve, and `rounds` of use, no call allocates. */
static void
expect_enough_after(fixture_t *fixture, unsigned rounds)
{
    schedq_worker_t *second;
    fx_worker(fixture);
    assert_ok(schedq_worker_register(fx_queue(fixture), &second, NULL, 0));
    assert_ok(schedq_reserve(fx_queue(fixture), PODS, BANDS, 2, NULL, 0));
    for (unsigned i = 0; i < rounds; i++)
        use_reserved(fixture, second);
    uint64_t allocations = atomic_load(&fixture->memory.allocations);
    atomic_store(&fixture->memory.fail_all, true);
    for (unsigned i = 0; i < 3; i++)
        use_reserved(fixture, second);
    account_heal(&fixture->memory);
    assert_int_equal(atomic_load(&fixture->memory.allocations), allocations);
    assert_ok(schedq_worker_unregister(second));
}

static void
after_reserve_no_call_on_active_pods_allocates(void **state)
{
    expect_enough_after(*state, 0);
}

static void
after_reserve_and_some_use_no_call_on_active_pods_allocates(void **state)
{
    expect_enough_after(*state, 3);
}

/* Plugins, and two workers with room for PODS pods. */
typedef struct reserved {
    fixture_t *fixture;
    fx_plugin_t *fit, *others[8];
    schedq_worker_t *second;
    bool nominates;
} reserved_t;

static void
reserve_for_waiting(reserved_t *reserved, fixture_t *fixture)
{
    static const char *const names[] = {"P0", "P1", "P2", "P3", "P4", "P5", "P6", "P7"};
    memset(reserved, 0, sizeof *reserved);
    reserved->fixture = fixture;
    reserved->fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    for (unsigned i = 0; i < 8; i++)
        reserved->others[i] = fx_plugin(fixture, names[i], "Pod", SCHEDQ_ACTION_ADD);
    fx_worker(fixture);
    assert_ok(schedq_worker_register(fx_queue(fixture), &reserved->second, NULL, 0));
    assert_ok(schedq_reserve(fx_queue(fixture), PODS, BANDS, 2, NULL, 0));
}

/* All are added, fail, are moved by an event and by time, popped, done. */
static void
wait_and_go(reserved_t *reserved)
{
    fixture_t *fixture = reserved->fixture;
    uint64_t fit = reserved->fit->bit;
    schedq_popped_t popped;
    char name[64];
    for (unsigned i = 0; i < PODS; i++) {
        longest_reserved_name(name, i);
        schedq_pod_spec_t spec = fx_spec((int32_t)(i % BANDS));
        spec.nominated_node = reserved->nominates ? i : 0;
        assert_ok(schedq_add(i % 2 != 0 ? reserved->second : fx_worker(fixture), name, strlen(name),
                             &spec, NULL));
    }
    for (unsigned i = 0; i < PODS; i++) {
        assert_ok(schedq_try_pop(reserved->second, &popped));
        if (i % 4 == 0)
            fx_fail(fixture, &popped, 0, 0);
        else
            fx_fail(fixture, &popped, fit | reserved->others[i % 8]->bit,
                    i % 3 == 0 ? reserved->others[i % 5]->bit : 0);
    }
    fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
    fx_pass(fixture, SEC(60));
    for (unsigned i = 0; i < PODS; i++) {
        assert_ok(schedq_try_pop(reserved->second, &popped));
        assert_ok(schedq_done(reserved->second, popped.token));
    }
    fx_pop_nothing(fixture);
}

static void
expect_waiting_pods_to_find_room(fixture_t *fixture, unsigned rounds, bool nominates)
{
    reserved_t reserved;
    reserve_for_waiting(&reserved, fixture);
    reserved.nominates = nominates;
    for (unsigned i = 0; i < rounds; i++)
        wait_and_go(&reserved);
    uint64_t allocations = atomic_load(&fixture->memory.allocations);
    atomic_store(&fixture->memory.fail_all, true);
    for (unsigned i = 0; i < 3; i++)
        wait_and_go(&reserved);
    account_heal(&fixture->memory);
    assert_int_equal(atomic_load(&fixture->memory.allocations), allocations);
    assert_ok(schedq_worker_unregister(reserved.second));
}

static void
after_reserve_nothing_allocates(void **state)
{
    expect_waiting_pods_to_find_room(*state, 0, true);
}

static void
after_reserve_and_some_use_no_call_on_waiting_pods_allocates(void **state)
{
    /* what waits to be freed has to be there once, too */
    expect_waiting_pods_to_find_room(*state, 8, false);
}

static uint64_t
bytes_of(fixture_t *fixture)
{
    schedq_stats_t stats = fx_stats(fixture);
    return stats.bytes_entries + stats.bytes_names + stats.bytes_index + stats.bytes_queues +
           stats.bytes_other;
}

/* Also after growth, reserve and trim. */
static void
expect_every_byte_accounted(fixture_t *fixture)
{
    assert_int_equal(bytes_of(fixture), atomic_load(&fixture->memory.bytes));
    assert_ok(schedq_reserve(fx_queue(fixture), 10000, 10, 3, NULL, 0));
    assert_int_equal(bytes_of(fixture), atomic_load(&fixture->memory.bytes));
    assert_ok(schedq_trim(fx_queue(fixture)));
    assert_int_equal(bytes_of(fixture), atomic_load(&fixture->memory.bytes));
}

/* Each of the priorities that were reserved is there, and a pod goes to another one. */
static void
the_mutex_engine_finds_room_for_each_priority_that_was_reserved(void **state)
{
    enum { RESERVED = 32 };
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(RESERVED);
    char name[32];
    if (fx_engine() != SCHEDQ_ENGINE_MUTEX)
        skip();
    fixture->config.max_bands = 2 * RESERVED;
    assert_ok(schedq_reserve(fx_queue(fixture), 100, RESERVED, 1, NULL, 0));
    fx_worker(fixture);
    account_fail_after(&fixture->memory, 0);
    for (int32_t i = 0; i < RESERVED; i++) {
        snprintf(name, sizeof name, "ns/%d", i);
        fx_add(fixture, name, i);
    }
    fx_add(fixture, "ns/more", 0);
    assert_ok(schedq_update(fx_worker(fixture), "ns/7", 4, &spec, 0, NULL, 0, NULL));
    assert_false(account_heal(&fixture->memory));
}

static void
stats_account_for_every_byte_of_active_pods(void **state)
{
    fixture_t *fixture = *state;
    char name[32];
    fx_worker(fixture);
    expect_every_byte_accounted(fixture);
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        fx_add(fixture, name, (int32_t)(i % 100));
    }
    expect_every_byte_accounted(fixture);
}

static void
stats_account_for_every_byte(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fx_worker(fixture);
    assert_int_equal(bytes_of(fixture), atomic_load(&fixture->memory.bytes));
    fx_fill(fixture, fit, 1000);
    expect_every_byte_accounted(fixture);
}

/*
 * All but ten of 20,000 pods are done, by a worker that has left; trim. What stays works, and there
 * is room again.
 */
static void
grow_and_trim(fixture_t *fixture, schedq_stats_t *full, schedq_stats_t *trimmed)
{
    enum { MANY = 20000 };
    schedq_worker_t *worker;
    char name[32];
    assert_ok(schedq_worker_register(fx_queue(fixture), &worker, NULL, 0));
    for (unsigned i = 0; i < MANY; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        schedq_pod_spec_t spec = fx_spec(0);
        assert_ok(schedq_add(worker, name, strlen(name), &spec, NULL));
    }
    *full = fx_stats(fixture);
    schedq_popped_t popped;
    for (unsigned i = 0; i < MANY - 10; i++) {
        assert_ok(schedq_try_pop(worker, &popped));
        assert_ok(schedq_done(worker, popped.token));
    }
    assert_ok(schedq_worker_unregister(worker));
    assert_ok(schedq_trim(fx_queue(fixture)));
    *trimmed = fx_stats(fixture);
    for (unsigned i = MANY - 10; i < MANY; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        assert_place(fx_place(fixture, name), SCHEDQ_ACTIVE);
    }
    for (unsigned i = 0; i < 1000; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        fx_add(fixture, name, 0);
    }
    fx_assert_counts(fixture, 1010, 0, 0, 0, 0, 0);
}

static void
trim_gives_back_what_holds_no_pod(void **state)
{
    schedq_stats_t full, trimmed;
    grow_and_trim(*state, &full, &trimmed);
    assert_true(trimmed.bytes_entries < full.bytes_entries / 10);
    assert_true(trimmed.bytes_names < full.bytes_names / 10);
    assert_true(trimmed.bytes_queues < full.bytes_queues / 2);
}

/* They were there together; no other call is under way. */
static void
one_trim_gives_back_what_priorities_needed(void **state)
{
    fixture_t *fixture = *state;
    enum { PRIORITIES = 2000 };
    char name[32];
    for (int32_t i = 0; i < PRIORITIES; i++) {
        snprintf(name, sizeof name, "ns/%d", i);
        fx_add(fixture, name, i);
    }
    for (unsigned i = 0; i < PRIORITIES; i++) {
        schedq_popped_t popped;
        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
        assert_ok(schedq_done(fx_worker(fixture), popped.token));
    }
    uint64_t full = fx_stats(fixture).bytes_queues;
    assert_ok(schedq_trim(fx_queue(fixture)));
    assert_true(fx_stats(fixture).bytes_queues < full / 10);
}

/* The worker that added them is there, and does nothing any more. One pod stays. */
static void
trim_gives_back_where_pods_of_an_idle_worker_waited(void **state)
{
    fixture_t *fixture = *state;
    enum { MANY = 20000 };
    schedq_worker_t *idle;
    char name[32];
    assert_ok(schedq_worker_register(fx_queue(fixture), &idle, NULL, 0));
    uint64_t empty = fx_stats(fixture).bytes_queues;
    for (unsigned i = 0; i < MANY; i++) {
        schedq_pod_spec_t spec = fx_spec(0);
        snprintf(name, sizeof name, "ns/%u", i);
        assert_ok(schedq_add(idle, name, strlen(name), &spec, NULL));
    }
    for (unsigned i = 1; i < MANY; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        assert_ok(schedq_delete_name(fx_worker(fixture), name, strlen(name), NULL));
    }
    assert_ok(schedq_trim(fx_queue(fixture)));
    assert_true(fx_stats(fixture).bytes_queues <= empty + 32768);
    fx_pop(fixture, "ns/0");
    assert_ok(schedq_worker_unregister(idle));
}

/* One is rejected, and the others of its class are kept back; all are deleted, that one first. */
static void
trim_gives_back_where_pods_of_a_class_waited(void **state)
{
    fixture_t *fixture = *state;
    enum { CLASSES = 4, MANY = 8000 };
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    static schedq_pod_t pods[MANY];
    char name[32];
    uint64_t empty = fx_stats(fixture).bytes_queues;
    for (unsigned number = 1; number <= CLASSES; number++) {
        for (unsigned i = 0; i < MANY; i++) {
            schedq_pod_spec_t spec = fx_spec(0);
            spec.class_id = number;
            snprintf(name, sizeof name, "ns/%u", i);
            pods[i] = fx_add_spec(fixture, name, &spec).pod;
        }
        schedq_popped_t popped;
        while (schedq_try_pop(fx_worker(fixture), &popped) == SCHEDQ_OK)
            (void)fx_fail(fixture, &popped, fit->bit, 0);
        for (unsigned i = 0; i < MANY; i++)
            assert_ok(schedq_delete(fx_worker(fixture), pods[i], NULL));
    }
    assert_ok(schedq_trim(fx_queue(fixture)));
    assert_true(fx_stats(fixture).bytes_queues <= empty + CLASSES * 65536);
}

static void
trim_shrinks_the_index(void **state)
{
    schedq_stats_t full, trimmed;
    grow_and_trim(*state, &full, &trimmed);
    assert_true(trimmed.bytes_index < full.bytes_index / 10);
}

static void
holes_that_trim_left_are_filled_again(void **state)
{
    fixture_t *fixture = *state;
    enum { MANY = 3000 };
    char name[32];
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "ns/%u-%u", round, i);
            fx_add(fixture, name, 0);
        }
        /* of each round a few pods stay, at another end of what was allocated */
        for (unsigned i = 0; i < MANY; i++) {
            snprintf(name, sizeof name, "ns/%u-%u", round, i);
            if (i / 100 != round * 9)
                assert_ok(schedq_delete_name(fx_worker(fixture), name, strlen(name), NULL));
        }
        assert_ok(schedq_trim(fx_queue(fixture)));
        assert_int_equal(fx_stats(fixture).active, 100 * (round + 1));
    }
    for (unsigned i = 0; i < 400; i++) {
        snprintf(name, sizeof name, "ns/%u-%u", i / 100, i / 100 * 900 + i % 100);
        schedq_popped_t popped = fx_pop(fixture, name);
        fx_done(fixture, &popped);
    }
    fx_pop_nothing(fixture);
}

static void
metrics_walk_over_the_holes_that_trim_left(void **state)
{
    fixture_t *fixture = *state;
    char name[32];
    for (unsigned i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        fx_add(fixture, name, 0);
    }
    for (unsigned i = 0; i < 3000; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        if (i / 100 != 17)
            assert_ok(schedq_delete_name(fx_worker(fixture), name, strlen(name), NULL));
    }
    assert_ok(schedq_trim(fx_queue(fixture)));
    free(fx_metrics(fixture));
    assert_int_equal(fx_stats(fixture).active, 100);
}

/* Each way a pod can go: 20,000 of them come and go, among 200 that stay. */
static void
memory_does_not_grow_with_churn_of_active_pods(void **state)
{
    fixture_t *fixture = *state;
    char name[32];
    for (unsigned i = 0; i < 200; i++) {
        snprintf(name, sizeof name, "ns/stays%u", i);
        fx_add(fixture, name, 0);
    }
    uint64_t after_half = 0;
    for (unsigned i = 0; i < 20000; i++) {
        snprintf(name, sizeof name, "ns/churn%u", i);
        schedq_pod_t pod = fx_add(fixture, name, 1 + (int32_t)(i % 3));
        schedq_pod_spec_t spec = fx_spec(1 + (int32_t)(i % 5));
        if (i % 2 == 0)
            assert_ok(
                schedq_update(fx_worker(fixture), name, strlen(name), &spec, 0, NULL, 0, NULL));
        if (i % 3 != 0) {
            schedq_popped_t popped = fx_pop(fixture, name);
            if (i % 3 == 1)
                assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
            assert_status(schedq_done(fx_worker(fixture), popped.token),
                          i % 3 == 1 ? SCHEDQ_GONE : SCHEDQ_OK);
        } else {
            assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
        }
        if (i == 9999)
            after_half = atomic_load(&fixture->memory.bytes);
    }
    assert_true(atomic_load(&fixture->memory.bytes) <= after_half + may_wait(fixture));
    fx_assert_counts(fixture, 200, 0, 0, 0, 0, 0);
}

static void
memory_does_not_grow_with_events_or_churn(void **state)
{
    fixture_t *fixture = *state;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    fit->hint = SCHEDQ_HINT_SKIP;
    fx_fill(fixture, fit, 50);
    fx_add(fixture, "ns/flying", INT32_MAX);
    fx_pop(fixture, "ns/flying");
    uint64_t after_first = 0;
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < 1000; i++) {
            fx_move(fixture, SCHEDQ_EVENT_NODE_ADD);
            schedq_pod_t pod = fx_add(fixture, "ns/churn", INT32_MAX - 1 - (int32_t)(i % 3));
            schedq_popped_t popped = fx_pop(fixture, "ns/churn");
            fx_fail(fixture, &popped, 0, 0);
            assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
        }
        if (round == 9)
            after_first = atomic_load(&fixture->memory.bytes);
    }
    assert_true(atomic_load(&fixture->memory.bytes) <= after_first + may_wait(fixture));
}

/* Adds `count` pods in one call, then pops and ends them. */
static void
pass_batch(fixture_t *fixture, uint32_t count)
{
    char(*names)[16] = calloc(count, sizeof *names);
    schedq_add_item_t *items = calloc(count, sizeof *items);
    for (uint32_t i = 0; i < count; i++) {
        int length = snprintf(names[i], sizeof *names, "ns/%u", i);
        items[i] = fx_item((uint32_t)(i * sizeof *names), (uint32_t)length, 0);
    }
    assert_ok(schedq_add_many(fx_worker(fixture), *names, count * sizeof *names, items, count, NULL,
                              NULL, NULL));
    for (uint32_t i = 0; i < count; i++) {
        schedq_popped_t popped = fx_pop(fixture, names[i]);
        fx_done(fixture, &popped);
    }
    free(items);
    free(names);
}

/* Names, records and queues are others' tests. */
static void
a_large_batch_leaves_no_memory_of_its_own(void **state)
{
    fixture_t *fixture = *state;
    pass_batch(fixture, 8);
    uint64_t before = fx_stats(fixture).bytes_other;
    pass_batch(fixture, 20000);
    assert_true(fx_stats(fixture).bytes_other <= before + 65536);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(trim_gives_back_where_pods_of_an_idle_worker_waited),
        fx_test(trim_gives_back_where_pods_of_a_class_waited),
        fx_test(after_reserve_and_some_use_no_call_on_active_pods_allocates),
        fx_test(the_mutex_engine_finds_room_for_each_priority_that_was_reserved),
        fx_test(stats_account_for_every_byte_of_active_pods),
        fx_test(memory_does_not_grow_with_churn_of_active_pods),
        fx_test(trim_gives_back_what_holds_no_pod),
        fx_test(one_trim_gives_back_what_priorities_needed),
        fx_test(holes_that_trim_left_are_filled_again),
        fx_test(after_reserve_and_some_use_no_call_on_waiting_pods_allocates),
        fx_test(stats_account_for_every_byte),
        fx_test(memory_does_not_grow_with_events_or_churn),
        fx_test(metrics_walk_over_the_holes_that_trim_left),
        fx_test(a_large_batch_leaves_no_memory_of_its_own),
    };
    const struct CMUnitTest with_full_reserve[] = {
        fx_test(after_reserve_no_call_on_active_pods_allocates),
        fx_test(after_reserve_nothing_allocates),
    };
    const struct CMUnitTest with_full_trim[] = {
        fx_test(trim_shrinks_the_index),
    };
    const fx_group_t groups[] = {
        fx_group(tests, FX_ANY_ENGINE),
        fx_group(with_full_reserve, FX_FULL_RESERVE),
        fx_group(with_full_trim, FX_FULL_TRIM),
    };
    return fx_run_groups(argc, argv, groups);
}
