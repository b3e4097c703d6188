/*
 * What the lock-free engine promises less than the other, as the header says: memory, workers that
 * left.
 */
#include <string.h>

#include "fixture.h"

/*
 * A failed call draws an order key for the newest description; the old one is ordered by its own.
 */
static void
a_failure_without_memory_leaves_the_order_key(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;
    fixture->config.max_backoff_ns = 0;
    spec.flags = SCHEDQ_POD_ORDER_KEY;
    spec.order_key = 5;
    fx_add_spec(fixture, "ns/keyed", &spec);
    schedq_popped_t popped = fx_pop(fixture, "ns/keyed");
    schedq_pod_spec_t newest = SCHEDQ_POD_SPEC_INIT;
    failure.newest = &newest;
    newest.priority = 4711;
    atomic_store(&fixture->memory.fail_all, true);
    assert_status(schedq_fail(fx_worker(fixture), &popped.token, &failure, NULL), SCHEDQ_NOMEM);
    account_heal(&fixture->memory);
    fx_fail(fixture, &popped, 0, 0);
    spec.order_key = 6;
    fx_add_spec(fixture, "ns/later", &spec);
    fx_pop(fixture, "ns/keyed");
    fx_pop(fixture, "ns/later");
}

/* Its memory stays until destroy, so this is defined, though nobody should do it. */
static void
a_worker_that_was_unregistered_is_refused(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *former;
    schedq_popped_t out;
    fx_add(fixture, "ns/flying", 1);
    fx_add(fixture, "ns/active", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/flying");
    assert_ok(schedq_worker_register(fx_queue(fixture), &former, NULL, 0));
    assert_ok(schedq_worker_unregister(former));
    schedq_pod_spec_t spec = fx_spec(0);
    size_t count;
    assert_status(schedq_add(former, "ns/new", 6, &spec, NULL), SCHEDQ_BUSY);
    assert_status(
        schedq_add_many(former, "ns/new", 6, &(schedq_add_item_t){0, 6, spec}, 1, NULL, NULL, NULL),
        SCHEDQ_BUSY);
    assert_status(schedq_try_pop(former, &out), SCHEDQ_BUSY);
    assert_status(schedq_pop(former, &out), SCHEDQ_BUSY);
    assert_status(schedq_try_pop_many(former, &out, 1, &count), SCHEDQ_BUSY);
    assert_status(schedq_token_alive(former, popped.token), SCHEDQ_BUSY);
    assert_status(schedq_find(former, "ns/active", 9, NULL), SCHEDQ_BUSY);
    assert_status(schedq_update(former, "ns/active", 9, &spec, 0, NULL, 0, NULL), SCHEDQ_BUSY);
    assert_status(schedq_delete(former, popped.pod, NULL), SCHEDQ_BUSY);
    assert_status(schedq_tick(former, NULL, NULL), SCHEDQ_BUSY);
    assert_status(schedq_worker_unregister(former), SCHEDQ_BUSY);
    assert_status(schedq_worker_adopt(fx_queue(fixture), former), SCHEDQ_INVALID);
    assert_status(schedq_try_pop(former, &out), SCHEDQ_BUSY);
    fx_assert_counts(fixture, 1, 0, 0, 0, 0, 1);
    assert_int_equal(fx_stats(fixture).workers, 1);
    fx_done(fixture, &popped);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fx_test_lockfree(a_failure_without_memory_leaves_the_order_key),
        fx_test_lockfree(a_worker_that_was_unregistered_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
