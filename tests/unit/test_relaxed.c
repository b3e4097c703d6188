/* SCHEDQ_ORDER_RELAXED: the order inside a priority is free, everything else stays. */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "seed.h"
#include "squad.h"

enum { WORKERS = 4, PODS_EACH = 500, PRIORITIES = 3 };

static void
add_numbered(schedq_worker_t *worker, unsigned number, int32_t priority, mailbox_t *mailbox)
{
    char name[32];
    schedq_pod_spec_t spec = {
        .struct_size = sizeof(schedq_pod_spec_t), .priority = priority, .object = number};
    snprintf(name, sizeof name, "ns/pod-%u", number);
    (void)mailbox_check(mailbox, schedq_add(worker, name, strlen(name), &spec, NULL) == SCHEDQ_OK);
}

/* Pops everything; every pod once, priorities never rising. */
static void
drain(fixture_t *fixture, unsigned expected)
{
    static uint8_t seen[WORKERS * PODS_EACH];
    schedq_popped_t popped;
    int32_t last = INT32_MAX;
    unsigned count = 0;

    memset(seen, 0, sizeof seen);
    while (schedq_try_pop(fx_worker(fixture), &popped) == SCHEDQ_OK) {
        assert_true(popped.priority <= last);
        last = popped.priority;
        assert_int_equal(seen[popped.object]++, 0);
        assert_ok(schedq_done(fx_worker(fixture), popped.token));
        count++;
    }
    assert_int_equal(count, expected);
}

static void
each_adds_its_share(soldier_t *soldier)
{
    for (unsigned i = 0; i < PODS_EACH; i++) {
        unsigned number = soldier->number * PODS_EACH + i;

        add_numbered(soldier->worker, number, (int32_t)(seed_next(&soldier->seed) % PRIORITIES),
                     soldier->mailbox);
    }
}

static void
priorities_are_kept_over_pods_of_many_workers(void **state)
{
    fixture_t *fixture = *state;

    fixture->config.order = SCHEDQ_ORDER_RELAXED;
    squad_run(fixture, WORKERS, seed_of("test_relaxed"), each_adds_its_share, NULL);
    drain(fixture, WORKERS * PODS_EACH);
}

static void
pods_with_keys_out_of_order_are_popped_too(void **state)
{
    fixture_t *fixture = *state;
    unsigned number = 0;

    fixture->config.order = SCHEDQ_ORDER_RELAXED;
    for (; number < PODS_EACH; number++) {
        char name[32];
        schedq_pod_spec_t spec = {.struct_size = sizeof(schedq_pod_spec_t),
                                  .priority = (int32_t)(number % 2),
                                  .object = number,
                                  .flags = SCHEDQ_POD_ORDER_KEY,
                                  .order_key = -(int64_t)number};
        snprintf(name, sizeof name, "ns/pod-%u", number);
        assert_ok(schedq_add(fx_worker(fixture), name, strlen(name), &spec, NULL));
    }
    drain(fixture, number);
}

/* Adds one, takes one: whatever it is. */
static void
each_adds_and_takes(soldier_t *soldier)
{
    for (unsigned i = 0; i < PODS_EACH; i++) {
        schedq_popped_t popped;

        add_numbered(soldier->worker, soldier->number * PODS_EACH + i, (int32_t)(i % PRIORITIES),
                     soldier->mailbox);
        if (!mailbox_check(soldier->mailbox,
                           schedq_try_pop(soldier->worker, &popped) == SCHEDQ_OK) ||
            !mailbox_check(soldier->mailbox,
                           schedq_done(soldier->worker, popped.token) == SCHEDQ_OK)) {
            return;
        }
    }
}

/* There are never fewer pods than threads that have one to take. */
static void
who_added_a_pod_never_finds_the_queue_empty(void **state)
{
    fixture_t *fixture = *state;

    fixture->config.order = SCHEDQ_ORDER_RELAXED;
    squad_run(fixture, WORKERS, seed_of("test_relaxed"), each_adds_and_takes, NULL);
    drain(fixture, 0);
}

/*
 * Two workers add in turns; each takes the other's older pod only when it has none itself. A strict
 * queue takes the oldest.
 */
static void
expect_first(fixture_t *fixture, uint8_t order, unsigned first)
{
    schedq_worker_t *other;
    schedq_popped_t popped;
    mailbox_t mailbox;

    mailbox_init(&mailbox);
    fixture->config.order = order;
    add_numbered(fx_worker(fixture), 0, 0, &mailbox);
    assert_ok(schedq_worker_register(fx_queue(fixture), &other, NULL, 0));
    add_numbered(other, 1, 0, &mailbox);
    assert_ok(schedq_try_pop(other, &popped));
    assert_int_equal(popped.object, first);
    assert_ok(schedq_done(other, popped.token));
    assert_ok(schedq_try_pop(other, &popped));
    assert_int_equal(popped.object, 1 - first);
    assert_ok(schedq_done(other, popped.token));
    assert_ok(schedq_worker_unregister(other));
    mailbox_assert_empty(&mailbox);
}

static void
a_worker_takes_its_own_pods_first(void **state)
{
    expect_first(*state, SCHEDQ_ORDER_RELAXED, 1);
}

static void
where_the_order_is_strict_it_takes_the_oldest(void **state)
{
    expect_first(*state, SCHEDQ_ORDER_STRICT, 0);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(priorities_are_kept_over_pods_of_many_workers),
        fx_test(pods_with_keys_out_of_order_are_popped_too),
        fx_test_lockfree(a_worker_takes_its_own_pods_first),
        fx_test(where_the_order_is_strict_it_takes_the_oldest),
        fx_test(who_added_a_pod_never_finds_the_queue_empty),
    };
    return fx_run_tests(argc, argv, tests);
}
