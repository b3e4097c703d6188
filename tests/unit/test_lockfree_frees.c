/* Who frees what waited for a grace period: calls that may allocate, and no others. */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "lockfree/queue.h"

static uint64_t
frees(fixture_t *fixture)
{
    return atomic_load(&fixture->memory.allocations) - atomic_load(&fixture->memory.blocks);
}

/*
 * Adds "ns/0", "ns/1" ... while another worker is inside a call, so that what is outgrown waits.
 * Returns how many.
 */
static unsigned
add_and_outgrow(fixture_t *fixture, unsigned pods)
{
    schedq_worker_t *other;
    char name[16];
    fx_worker(fixture);
    assert_ok(schedq_worker_register(fx_queue(fixture), &other, NULL, 0));
    section_begin(worker_of(other));
    for (unsigned i = 0; i < pods; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        fx_add(fixture, name, 0);
    }
    section_leave(worker_of(other));
    assert_ok(schedq_worker_unregister(other));
    return pods;
}

static void
pop_done_find_and_delete_do_not_enter_the_allocator(void **state)
{
    fixture_t *fixture = *state;
    char name[16];
    schedq_result_t result;
    unsigned pods = add_and_outgrow(fixture, 900);
    uint64_t allocations = atomic_load(&fixture->memory.allocations), freed = frees(fixture);
    for (unsigned i = 0; i < pods; i += 3) {
        snprintf(name, sizeof name, "ns/%u", i);
        schedq_popped_t popped = fx_pop(fixture, name);
        fx_done(fixture, &popped);
        snprintf(name, sizeof name, "ns/%u", i + 1);
        assert_ok(schedq_find(fx_worker(fixture), name, strlen(name), &result));
        assert_ok(schedq_delete_name(fx_worker(fixture), name, strlen(name), NULL));
        assert_ok(schedq_try_pop(fx_worker(fixture), &popped));
        assert_ok(schedq_token_alive(fx_worker(fixture), popped.token));
        assert_ok(schedq_done_many(fx_worker(fixture), &popped.token, 1, NULL));
    }
    fx_pop_nothing(fixture);
    assert_int_equal(atomic_load(&fixture->memory.allocations), allocations);
    assert_int_equal(frees(fixture), freed);
}

/* Once in a while, however many calls that free nothing stand between. */
static void
adds_give_back_what_waits(void **state)
{
    fixture_t *fixture = *state;
    add_and_outgrow(fixture, 900);
    uint64_t freed = frees(fixture);
    for (unsigned i = 0; i < 2 * EPOCH_DUE; i++) {
        schedq_popped_t popped;
        fx_add(fixture, "ns/more", 1);
        popped = fx_pop(fixture, "ns/more");
        fx_done(fixture, &popped);
    }
    assert_true(frees(fixture) > freed);
}

static void
the_end_of_a_worker_gives_back_what_waits(void **state)
{
    fixture_t *fixture = *state;
    add_and_outgrow(fixture, 900);
    uint64_t freed = frees(fixture);
    assert_ok(schedq_worker_unregister(fixture->worker));
    fixture->worker = NULL;
    assert_true(frees(fixture) > freed);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fx_test_lockfree(pop_done_find_and_delete_do_not_enter_the_allocator),
        fx_test_lockfree(adds_give_back_what_waits),
        fx_test_lockfree(the_end_of_a_worker_gives_back_what_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
