/*
 * words.poppable: a host that reads 0 may go to sleep, so while no thread is in a call it is not 0
 * if something can be popped. After a pop that found nothing it is 0 again, or a host would never
 * sleep.
 */
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "seed.h"
#include "squad.h"

static uint32_t
poppable(schedq_t *queue)
{
    return __atomic_load_n(&schedq_words(queue)->poppable, __ATOMIC_ACQUIRE);
}

static void
every_call_that_makes_something_poppable_says_so(void **state)
{
    fixture_t *fixture = *state;
    schedq_pod_spec_t spec = fx_spec(0);
    for (int way = 0; way < 3; way++) {
        fx_pop_nothing(fixture);
        if (way == 0)
            assert_ok(schedq_add(fx_worker(fixture), "ns/a", 4, &spec, NULL));
        else if (way == 1)
            assert_ok(schedq_add_many(fx_worker(fixture), "ns/a", 4,
                                      &(schedq_add_item_t){0, 4, spec}, 1, NULL, NULL, NULL));
        else {
            spec.flags = SCHEDQ_POD_ADD;
            assert_ok(schedq_update(fx_worker(fixture), "ns/a", 4, &spec, 0, NULL, 0, NULL));
        }
        assert_int_equal(poppable(fx_queue(fixture)), 1);
        schedq_popped_t popped = fx_pop(fixture, "ns/a");
        fx_done(fixture, &popped);
    }
}

static void
a_pod_that_stays_keeps_it_up(void **state)
{
    fixture_t *fixture = *state;
    fx_add(fixture, "ns/stays", 0);
    for (int i = 0; i < 200; i++) {
        schedq_pod_t pod = fx_add(fixture, "ns/a", 1 + i % 3);
        if (i % 2 == 0) {
            schedq_popped_t popped = fx_pop(fixture, "ns/a");
            fx_done(fixture, &popped);
        } else {
            assert_ok(schedq_delete(fx_worker(fixture), pod, NULL));
        }
        assert_int_equal(poppable(fx_queue(fixture)), 1);
    }
    fx_pop(fixture, "ns/stays");
}

static void
a_pop_that_finds_nothing_takes_it_back(void **state)
{
    fixture_t *fixture = *state;
    for (int i = 0; i < 3; i++) {
        fx_add(fixture, "ns/a", i);
        assert_int_equal(poppable(fx_queue(fixture)), 1);
        schedq_popped_t popped = fx_pop(fixture, "ns/a");
        fx_done(fixture, &popped);
        fx_pop_nothing(fixture);
        assert_int_equal(poppable(fx_queue(fixture)), 0);
    }
}

/* One call of each kind on few pods, so that the queue is empty, or nearly, most of the time. */
static void
random_call(soldier_t *soldier)
{
    char name[16];
    schedq_popped_t popped;
    schedq_popped_group_t group;
    size_t count;
    snprintf(name, sizeof name, "ns/%u", (unsigned)(seed_next(&soldier->seed) % 4));
    schedq_pod_spec_t spec = fx_spec((int32_t)(seed_next(&soldier->seed) % 3));
    switch (seed_next(&soldier->seed) % 5) {
    case 0:
        (void)schedq_add(soldier->worker, name, strlen(name), &spec, NULL);
        break;
    case 1:
        spec.flags = SCHEDQ_POD_ADD;
        (void)schedq_update(soldier->worker, name, strlen(name), &spec, 0, NULL, 0, NULL);
        break;
    case 2:
        (void)schedq_delete_name(soldier->worker, name, strlen(name), NULL);
        break;
    case 3:
        if (schedq_try_pop_group(soldier->worker, &group, &popped, 1, &count) == SCHEDQ_OK)
            mailbox_check(soldier->mailbox,
                          schedq_done(soldier->worker, popped.token) != SCHEDQ_STALE);
        break;
    default:
        if (schedq_try_pop(soldier->worker, &popped) == SCHEDQ_OK)
            mailbox_check(soldier->mailbox,
                          schedq_done(soldier->worker, popped.token) != SCHEDQ_STALE);
    }
}

static void
after_any_call_it_is_not_0_while_a_pod_is_active(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    mailbox_init(&mailbox);
    soldier_t alone = {.seed = seed_of("test_poppable"),
                       .queue = fx_queue(fixture),
                       .worker = fx_worker(fixture),
                       .mailbox = &mailbox};
    for (int step = 0; step < 20000; step++) {
        random_call(&alone);
        assert_true(poppable(alone.queue) == 1 || fx_stats(fixture).active == 0);
    }
    mailbox_assert_empty(&mailbox);
}

/* ---- with threads ---- */

typedef struct rounds {
    pthread_barrier_t barrier;
    unsigned count;
    unsigned zeros, ones; /* that were read where they had to be */
} rounds_t;

enum { THREADS = 4, CALLS = 40 };

static uint64_t
active_pods(schedq_t *queue)
{
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    (void)schedq_stats(queue, &stats);
    return stats.active;
}

/*
 * No other thread is in a call. The queue's own count, and a pop, have to agree with what a host
 * reads.
 */
static void
look(soldier_t *soldier)
{
    rounds_t *rounds = soldier->ctx;
    schedq_popped_t popped;
    bool read = poppable(soldier->queue) == 1, active = active_pods(soldier->queue) > 0;
    schedq_status_t status = schedq_try_pop(soldier->worker, &popped);
    mailbox_check(soldier->mailbox, status == (active ? SCHEDQ_OK : SCHEDQ_EMPTY));
    mailbox_check(soldier->mailbox, read || status == SCHEDQ_EMPTY);
    mailbox_check(soldier->mailbox, status == SCHEDQ_OK || poppable(soldier->queue) == 0);
    rounds->ones += status == SCHEDQ_OK;
    rounds->zeros += status == SCHEDQ_EMPTY;
    if (status == SCHEDQ_OK)
        mailbox_check(soldier->mailbox, schedq_done(soldier->worker, popped.token) == SCHEDQ_OK);
}

/* All call; then no thread is in a call, and one looks. */
static void
call_and_look(soldier_t *soldier)
{
    rounds_t *rounds = soldier->ctx;
    for (unsigned round = 0; round < rounds->count; round++) {
        for (unsigned i = 0; i < CALLS; i++)
            random_call(soldier);
        pthread_barrier_wait(&rounds->barrier);
        if (soldier->number == 0)
            look(soldier);
        pthread_barrier_wait(&rounds->barrier);
    }
}

static void
when_all_threads_are_out_of_calls_it_is_not_0_while_a_pod_is_active(void **state)
{
    fixture_t *fixture = *state;
    rounds_t rounds = {.count = 400};
    pthread_barrier_init(&rounds.barrier, NULL, THREADS);
    squad_run(fixture, THREADS, seed_of("test_poppable"), call_and_look, &rounds);
    pthread_barrier_destroy(&rounds.barrier);
    assert_true(rounds.ones > 0 && rounds.zeros > 0);
    schedq_popped_t popped;
    while (schedq_try_pop(fx_worker(fixture), &popped) == SCHEDQ_OK)
        fx_done(fixture, &popped);
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(every_call_that_makes_something_poppable_says_so),
        fx_test(a_pod_that_stays_keeps_it_up),
        fx_test(a_pop_that_finds_nothing_takes_it_back),
        fx_test(after_any_call_it_is_not_0_while_a_pod_is_active),
        fx_test(when_all_threads_are_out_of_calls_it_is_not_0_while_a_pod_is_active),
    };
    return fx_run_tests(argc, argv, tests);
}
