/*
 * Sleepers of the mutex engine, behind threads that stop for ever: the timer thread, and one that
 * died in its sleep. (Not for ThreadSanitizer: it delivers the signal later, when the thread has
 * the mutex again.)
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "mutex/queue.h"
#include "sleeper.h"

static int
setup(void **state)
{
    fixture_t *fixture = fx_new(SCHEDQ_PRESET_DEFAULT);
    fixture->config.engine = SCHEDQ_ENGINE_MUTEX;
    fx_use_real_clock(fixture);
    *state = fixture;
    return 0;
}

static uint32_t
sleeping(struct mutex_queue *queue)
{
    queue_lock(queue);
    uint32_t count = queue->sleepers.waiting;
    queue_unlock(queue);
    return count;
}

static void
wait_for_sleepers(struct mutex_queue *queue, uint32_t count)
{
    while (sleeping(queue) != count)
        sched_yield();
}

/* ---- the timer thread ---- */

/* There is none, though all believe that one runs. */
static void
believe_in_a_timer(struct mutex_queue *queue, bool running)
{
    queue_lock(queue);
    queue->timer.running = running;
    queue_unlock(queue);
}

/* The sleeper went to sleep when nothing waited, and trusted the thread. */
static void
a_sleeper_serves_time_if_the_timer_thread_stopped(void **state)
{
    fixture_t *fixture = *state;
    mailbox_t mailbox;
    sleeper_t sleeper;
    fixture->config.initial_backoff_ns = MS(20);
    mailbox_init(&mailbox);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    struct mutex_queue *queue = mutex_queue(fixture->queue);
    believe_in_a_timer(queue, true);
    sleeper_start(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    wait_for_sleepers(queue, 1);
    fx_fail(fixture, &popped, 0, 0);
    sleeper_join(&sleeper, SCHEDQ_OK);
    assert_string_equal(sleeper.name, "ns/a");
    believe_in_a_timer(queue, false);
}

/* ---- a thread that dies ---- */

static int the_end;

static void
end_thread(int signal)
{
    (void)signal;
    pthread_exit(&the_end);
}

static void *
wait_for_ever(void *worker)
{
    schedq_popped_t popped;
    (void)schedq_pop(worker, &popped);
    return NULL;
}

/* It does not have the mutex in its sleep. */
static void
let_a_sleeper_die(struct mutex_queue *queue, schedq_worker_t *worker)
{
    pthread_t thread;
    void *died = NULL;
    uint32_t others = sleeping(queue);
    assert_int_equal(pthread_create(&thread, NULL, wait_for_ever, worker), 0);
    wait_for_sleepers(queue, others + 1);
    assert_int_equal(pthread_kill(thread, SIGUSR1), 0);
    assert_int_equal(pthread_join(thread, &died), 0);
    assert_ptr_equal(died, &the_end);
}

/* Each pod is taken before the next one comes: a wake-up that a dead thread gets is missing. */
static void
a_thread_that_died_in_its_sleep_gets_no_wake_up(void **state)
{
    fixture_t *fixture = *state;
    struct sigaction ends = {.sa_handler = end_thread}, before;
    schedq_worker_t *worker;
    mailbox_t mailbox;
    sleeper_t sleeper;
    char name[] = "ns/?";
    mailbox_init(&mailbox);
    assert_ok(schedq_worker_register(fx_queue(fixture), &worker, NULL, 0));
    struct mutex_queue *queue = mutex_queue(fixture->queue);
    assert_int_equal(sigaction(SIGUSR1, &ends, &before), 0);
    for (char pod = 'a'; pod < 'f'; pod++) {
        name[3] = pod;
        let_a_sleeper_die(queue, worker);
        sleeper_start(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
        wait_for_sleepers(queue, 2);
        fx_add(fixture, name, 0);
        sleeper_join(&sleeper, SCHEDQ_OK);
        assert_string_equal(sleeper.name, name);
        assert_int_equal(sleeping(queue), 1);
        assert_ok(schedq_worker_adopt(fixture->queue, worker));
        assert_int_equal(sleeping(queue), 0);
    }
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    assert_ok(schedq_worker_unregister(worker));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_sleeper_serves_time_if_the_timer_thread_stopped, setup,
                                        fx_teardown),
        cmocka_unit_test_setup_teardown(a_thread_that_died_in_its_sleep_gets_no_wake_up, setup,
                                        fx_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
