/*
 * As many threads as a queue may have workers, each with one of its own.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "mailbox.h"
#include "rounds.h"

/* The fixture's own worker is one more. */
enum { ALL = 512, MOST = ALL - 1 };

typedef struct crowd {
    schedq_t *queue;
    mailbox_t mailbox;
    pthread_barrier_t all_have_one;
    bool waits;
} crowd_t;

typedef struct member {
    crowd_t *crowd;
    unsigned number;
} member_t;

/* Its own worker; all have one at the same time, or they come as others go. */
static void *
member_main(void *argument)
{
    const member_t *member = argument;
    crowd_t *crowd = member->crowd;
    schedq_worker_t *worker;
    schedq_pod_spec_t spec = fx_spec((int32_t)(member->number % 3));
    char name[24];
    bool got = schedq_worker_get(crowd->queue, &worker, NULL, 0) == SCHEDQ_OK;
    mailbox_check(&crowd->mailbox, got);
    if (crowd->waits)
        (void)pthread_barrier_wait(&crowd->all_have_one);
    for (unsigned i = 0; i < 2 && got; i++) {
        schedq_popped_t popped;
        snprintf(name, sizeof name, "ns/%u-%u", member->number, i);
        mailbox_check(&crowd->mailbox,
                      schedq_add(worker, name, strlen(name), &spec, NULL) == SCHEDQ_OK);
        /*
         * There are as many pods as threads that take one. EMPTY says that none of them was active
         * during the whole call: others may have taken one and added one meanwhile.
         */
        schedq_status_t status;
        while ((status = schedq_try_pop(worker, &popped)) == SCHEDQ_EMPTY)
            ;
        mailbox_check(&crowd->mailbox, status == SCHEDQ_OK);
        mailbox_check(&crowd->mailbox, schedq_done(worker, popped.token) == SCHEDQ_OK);
    }
    return NULL;
}

static void
run_crowd(fixture_t *fixture, unsigned threads, unsigned rounds, bool waits)
{
    static pthread_t ids[MOST];
    static member_t members[MOST];
    crowd_t crowd = {.queue = fx_queue(fixture), .waits = waits};
    pthread_attr_t small;
    mailbox_init(&crowd.mailbox);
    assert_int_equal(pthread_barrier_init(&crowd.all_have_one, NULL, threads), 0);
    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, 256 * 1024), 0);
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < threads; i++) {
            members[i] = (member_t){.crowd = &crowd, .number = i};
            assert_int_equal(pthread_create(&ids[i], &small, member_main, &members[i]), 0);
        }
        for (unsigned i = 0; i < threads; i++)
            assert_int_equal(pthread_join(ids[i], NULL), 0);
        mailbox_assert_empty(&crowd.mailbox);
        fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
    }
    pthread_attr_destroy(&small);
    pthread_barrier_destroy(&crowd.all_have_one);
}

static void
as_many_threads_have_a_worker_of_their_own_at_once(void **state)
{
    fixture_t *fixture = *state;
    const unsigned rounds = rounds_of(2);
    run_crowd(fixture, MOST, rounds, true);
    assert_int_equal(fx_stats(fixture).workers, 0);
    assert_int_equal(fx_stats(fixture).dones, rounds * 2 * MOST);
}

static void
threads_come_and_go(void **state)
{
    fixture_t *fixture = *state;
    const unsigned rounds = rounds_of(4);
    run_crowd(fixture, MOST, rounds, false);
    assert_int_equal(fx_stats(fixture).workers, 0);
    assert_int_equal(fx_stats(fixture).dones, rounds * 2 * MOST);
}

static int
setup(void **state)
{
    int status = fx_setup(state);
    ((fixture_t *)*state)->config.max_workers = ALL;
    return status;
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(as_many_threads_have_a_worker_of_their_own_at_once, setup,
                                        fx_teardown),
        cmocka_unit_test_setup_teardown(threads_come_and_go, setup, fx_teardown),
    };
    return fx_run_tests(argc, argv, tests);
}
