/*
 * words.poppable behind a pop that found nothing, took the word back, and found something then: two
 * pods that came meanwhile. Another thread adds them while the pop keeps a pod of a class back, in
 * a band that the pop has passed.
 */
#include <pthread.h>
#include <schedq/group.h>
#include <string.h>

#include "fixture.h"
#include "mailbox.h"

#define CLASS 77

static struct {
    fixture_t *fixture;
    schedq_worker_t *worker; /* the other thread's */
    pthread_t popper;
    bool adds; /* at the popper's next look at the clock */
    mailbox_t mailbox;
} meanwhile;

static void *
add_two(void *unused)
{
    const schedq_add_item_t two[] = {fx_item(0, 4, 9), fx_item(4, 4, 9)};
    (void)unused;
    mailbox_check(&meanwhile.mailbox, schedq_add_many(meanwhile.worker, "ns/ans/b", 8, two, 2, NULL,
                                                      NULL, NULL) == SCHEDQ_OK);
    return NULL;
}

static int64_t
read_and_add(void *ctx)
{
    pthread_t adder;
    if (pthread_equal(pthread_self(), meanwhile.popper) && meanwhile.adds) {
        meanwhile.adds = false;
        assert_int_equal(pthread_create(&adder, NULL, add_two, NULL), 0);
        assert_int_equal(pthread_join(adder, NULL), 0);
    }
    return atomic_load(&((fixture_t *)ctx)->now_ns);
}

static schedq_result_t
add(const char *name)
{
    schedq_pod_spec_t spec = fx_spec(0);
    spec.class_id = CLASS;
    return fx_add_spec(meanwhile.fixture, name, &spec);
}

/* A pod of a class that is shut is active; two come while it is met. */
static void
begin(fixture_t *fixture)
{
    memset(&meanwhile, 0, sizeof meanwhile);
    meanwhile.fixture = fixture;
    meanwhile.popper = pthread_self();
    mailbox_init(&meanwhile.mailbox);
    fixture->config.clock.now_ns = read_and_add;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    assert_ok(schedq_worker_register(fx_queue(fixture), &meanwhile.worker, NULL, 0));
    (void)add("ns/scout");
    schedq_popped_t popped = fx_pop(fixture, "ns/scout");
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
    (void)add("ns/kept");
    meanwhile.adds = true;
}

static void
end(fixture_t *fixture, const char *name)
{
    assert_string_equal(name, "ns/a");
    assert_false(meanwhile.adds);
    assert_place(fx_place(fixture, "ns/kept"), SCHEDQ_HELD);
    assert_int_equal(schedq_words(fixture->queue)->poppable, 1);
    fx_pop(fixture, "ns/b");
    mailbox_assert_empty(&meanwhile.mailbox);
    assert_ok(schedq_worker_unregister(meanwhile.worker));
}

static void
a_pop_of_pods_says_that_one_is_left(void **state)
{
    schedq_popped_t popped;
    begin(*state);
    assert_ok(schedq_try_pop(fx_worker(*state), &popped));
    end(*state, popped.name);
}

static void
a_pop_of_groups_says_that_one_is_left(void **state)
{
    schedq_popped_group_t group;
    schedq_popped_t popped;
    size_t count;
    begin(*state);
    assert_ok(schedq_try_pop_group(fx_worker(*state), &group, &popped, 1, &count));
    end(*state, popped.name);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fx_test_lockfree(a_pop_of_pods_says_that_one_is_left),
        fx_test_lockfree(a_pop_of_groups_says_that_one_is_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
