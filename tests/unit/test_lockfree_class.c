/*
 * A class that another thread opens while a pop keeps a pod of it back: the pop cannot let the pod
 * go, and leaves that to a tick.
 */
#include <pthread.h>
#include <schedq/wait.h>
#include <string.h>

#include "fixture.h"
#include "mailbox.h"

#define CLASS 77

static struct {
    schedq_worker_t *worker; /* the other thread's */
    pthread_t popper;
    bool opens; /* at the popper's next look at the clock */
    mailbox_t mailbox;
} meanwhile;

static void *
delete_the_scout(void *unused)
{
    (void)unused;
    mailbox_check(&meanwhile.mailbox,
                  schedq_delete_name(meanwhile.worker, "ns/scout", 8, NULL) == SCHEDQ_OK);
    return NULL;
}

static int64_t
read_and_open(void *ctx)
{
    pthread_t thread;
    if (pthread_equal(pthread_self(), meanwhile.popper) && meanwhile.opens) {
        meanwhile.opens = false;
        assert_int_equal(pthread_create(&thread, NULL, delete_the_scout, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    return atomic_load(&((fixture_t *)ctx)->now_ns);
}

static void
add(fixture_t *fixture, const char *name, int32_t priority, uint64_t class_id)
{
    schedq_pod_spec_t spec = fx_spec(priority);
    spec.class_id = class_id;
    (void)fx_add_spec(fixture, name, &spec);
}

static void
a_pop_that_keeps_a_pod_of_an_open_class_back_makes_a_tick_due(void **state)
{
    fixture_t *fixture = *state;
    schedq_popped_t popped;
    memset(&meanwhile, 0, sizeof meanwhile);
    meanwhile.popper = pthread_self();
    mailbox_init(&meanwhile.mailbox);
    fixture->config.clock.now_ns = read_and_open;
    fx_plugin_t *fit = fx_plugin(fixture, "Fit", "Node", SCHEDQ_ACTION_ADD);
    assert_ok(schedq_worker_register(fx_queue(fixture), &meanwhile.worker, NULL, 0));
    add(fixture, "ns/scout", 1, CLASS);
    popped = fx_pop(fixture, "ns/scout");
    assert_place(fx_fail(fixture, &popped, fit->bit, 0).place, SCHEDQ_PARKED);
    add(fixture, "ns/kept", 1, CLASS);
    add(fixture, "ns/other", 0, 0);
    meanwhile.opens = true;
    (void)fx_pop(fixture, "ns/other");
    assert_false(meanwhile.opens);
    assert_place(fx_place(fixture, "ns/kept"), SCHEDQ_HELD);
    assert_int_equal(schedq_next_deadline(fixture->queue), fx_now(fixture));
    assert_int_equal(fx_tick(fixture).poppable, 1);
    assert_true(schedq_next_deadline(fixture->queue) > fx_now(fixture));
    (void)fx_pop(fixture, "ns/kept");
    mailbox_assert_empty(&meanwhile.mailbox);
    assert_ok(schedq_worker_unregister(meanwhile.worker));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fx_test_lockfree(a_pop_that_keeps_a_pod_of_an_open_class_back_makes_a_tick_due),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
