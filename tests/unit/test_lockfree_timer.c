/*
 * The timer thread stops for ever, as far as anybody can see: blocking pops serve time by
 * themselves. It never came to run: the host serves time. Another thread plans beside a tick.
 */
#include <poll.h>
#include <string.h>
#include <time.h>

#include "lockfree/queue.h"
#include "sleeper.h"

/*
 * A clock in which the timer thread can be held: the first thread that reads it, other than the one
 * that made it.
 */
typedef struct held_clock {
    pthread_t maker, timer;
    atomic_bool timer_is_known;
    atomic_bool holds;
    atomic_bool held;          /* the timer thread is in it */
    atomic_int_fast64_t ahead; /* of CLOCK_MONOTONIC */
} held_clock_t;

static void
pause_shortly(void)
{
    struct timespec pause = {0, 1000000};
    nanosleep(&pause, NULL);
}

static int64_t
held_now(void *ctx)
{
    held_clock_t *clock = ctx;
    struct timespec now;
    if (!atomic_load(&clock->timer_is_known) && !pthread_equal(pthread_self(), clock->maker)) {
        clock->timer = pthread_self();
        atomic_store(&clock->timer_is_known, true);
    }
    while (atomic_load(&clock->holds) && pthread_equal(pthread_self(), clock->timer)) {
        atomic_store(&clock->held, true);
        pause_shortly();
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    return SEC(now.tv_sec) + now.tv_nsec + (int64_t)atomic_load(&clock->ahead);
}

static void
use_held_clock(fixture_t *fixture, held_clock_t *clock)
{
    memset(clock, 0, sizeof *clock);
    clock->maker = pthread_self();
    fixture->config.clock = (schedq_clock_t){.now_ns = held_now, .ctx = clock};
    fixture->config.initial_backoff_ns = MS(20);
}

static void
begin_with_timer(fixture_t *fixture, held_clock_t *clock)
{
    use_held_clock(fixture, clock);
    fx_worker(fixture);
    assert_ok(schedq_run(fx_queue(fixture), NULL, 0));
    while (!atomic_load(&clock->timer_is_known))
        pause_shortly();
}

static void
hold(held_clock_t *clock)
{
    atomic_store(&clock->holds, true);
    while (!atomic_load(&clock->held))
        pause_shortly();
}

/* Before anything is asserted: the thread has to end with the queue. */
static void
let_go(fixture_t *fixture, held_clock_t *clock)
{
    atomic_store(&clock->holds, false);
    assert_ok(schedq_stop(fx_queue(fixture)));
}

static void
a_pop_that_begins_later_serves_what_is_due(void **state)
{
    fixture_t *fixture = *state;
    held_clock_t clock;
    schedq_popped_t popped;
    begin_with_timer(fixture, &clock);
    hold(&clock);
    fx_err(fixture, "ns/a");
    schedq_status_t status = schedq_pop(fx_worker(fixture), &popped);
    let_go(fixture, &clock);
    assert_status(status, SCHEDQ_OK);
    assert_string_equal(popped.name, "ns/a");
    assert_int_equal(popped.from_backoff, 0);
}

/* If nothing serves time, the test sleeps on until schedq-patience ends it. */
static void
wait_for_a_done(fixture_t *fixture)
{
    while (fx_stats(fixture).dones == 0)
        pause_shortly();
}

/* The sleeper went to sleep when nothing waited, and trusted the thread. */
static void
a_pop_that_slept_before_serves_what_is_due(void **state)
{
    fixture_t *fixture = *state;
    held_clock_t clock;
    mailbox_t mailbox;
    sleeper_t sleeper;
    mailbox_init(&mailbox);
    begin_with_timer(fixture, &clock);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    sleeper_start(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    sleeper_pause();
    hold(&clock);
    fx_fail(fixture, &popped, 0, 0);
    wait_for_a_done(fixture);
    let_go(fixture, &clock);
    sleeper_join(&sleeper, SCHEDQ_OK);
    assert_string_equal(sleeper.name, "ns/a");
}

static void
a_parked_pod_is_tried_again_though_the_thread_stopped(void **state)
{
    fixture_t *fixture = *state;
    held_clock_t clock;
    schedq_popped_t popped;
    fixture->config.max_parked_ns = MS(20);
    begin_with_timer(fixture, &clock);
    hold(&clock);
    fx_park(fixture, "ns/a", SCHEDQ_REJECTOR_OTHERS);
    schedq_status_t status = schedq_pop(fx_worker(fixture), &popped);
    let_go(fixture, &clock);
    assert_status(status, SCHEDQ_OK);
    assert_string_equal(popped.name, "ns/a");
}

/* ---- one pod after the other ----------------------------------------------------------------- */

enum { PODS = 10 };

static void
wait_for_sleepers(struct queue *queue, uint32_t count)
{
    while (sleepers_waiting(&queue->sleepers) != count)
        pause_shortly();
    sleeper_pause();
}

static uint32_t
wake_ups(struct queue *queue)
{
    return (uint32_t)(u64_load(&queue->sleepers.word) >> 32);
}

/*
 * A sleeper pops a pod that fails meanwhile. Was a sleeper woken by the failure? Else the pod waits
 * until one looks by itself. `dead` are counted as sleepers, and sleep no more.
 */
static bool
wakes_a_sleeper(fixture_t *fixture, held_clock_t *clock, uint32_t dead, int64_t ahead)
{
    struct queue *queue = queue_of_base(fx_queue(fixture));
    mailbox_t mailbox;
    sleeper_t sleeper;
    mailbox_init(&mailbox);
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    sleeper_start(&sleeper, fixture, &mailbox, SCHEDQ_NO_DEADLINE);
    wait_for_sleepers(queue, dead + 1);
    atomic_fetch_add(&clock->ahead, ahead);
    uint32_t before = wake_ups(queue);
    fx_fail(fixture, &popped, 0, 0);
    bool woken = wake_ups(queue) != before;
    sleeper_join(&sleeper, SCHEDQ_OK);
    return woken;
}

static void
without_the_thread_no_pod_waits_for_a_sleeper_to_look(void **state)
{
    fixture_t *fixture = *state;
    held_clock_t clock;
    unsigned overlooked = 0;
    begin_with_timer(fixture, &clock);
    hold(&clock);
    for (unsigned i = 0; i < PODS; i++)
        overlooked += wakes_a_sleeper(fixture, &clock, 0, 0) ? 0 : 1;
    let_go(fixture, &clock);
    assert_int_equal(overlooked, 0);
}

/* It sleeps until a time that passes, and is not seen again. */
static void
a_watcher_that_stopped_is_overtaken(void **state)
{
    fixture_t *fixture = *state;
    held_clock_t clock;
    unsigned overlooked = 0;
    use_held_clock(fixture, &clock);
    struct queue *queue = queue_of_base(fx_queue(fixture));
    int64_t tick = fixture->config.tick_ns;
    int64_t now = held_now(&clock);
    (void)sleepers_prepare(&queue->sleepers);
    for (unsigned i = 0; i < PODS; i++) {
        assert_true(sleepers_watch(&queue->sleepers, now + SEC(1000), now, tick));
        overlooked += wakes_a_sleeper(fixture, &clock, 1, SEC(2000)) ? 0 : 1;
        now = held_now(&clock);
    }
    sleepers_cancel(&queue->sleepers);
    assert_int_equal(overlooked, 0);
}

/* ---- a timer thread that comes to nothing ---------------------------------------------------- */

/* Holds the thread that starts it, where the thread's worker needs memory; then there is none. */
static struct {
    schedq_allocator_t inner;
    schedq_t *queue;
    pthread_t starter;
    atomic_bool starts, held, goes_on;
    schedq_status_t answer;
} start;

static void *
alloc_or_hold(void *ctx, size_t size, size_t align)
{
    (void)ctx;
    if (!atomic_load(&start.starts) || !pthread_equal(pthread_self(), start.starter))
        return start.inner.alloc(start.inner.ctx, size, align);
    atomic_store(&start.held, true);
    while (!atomic_load(&start.goes_on))
        pause_shortly();
    return NULL;
}

static void
free_memory(void *ctx, void *memory, size_t size)
{
    (void)ctx;
    start.inner.free(start.inner.ctx, memory, size);
}

static void *
start_in_vain(void *unused)
{
    (void)unused;
    start.starter = pthread_self();
    atomic_store(&start.starts, true);
    start.answer = schedq_run(start.queue, NULL, 0);
    return NULL;
}

/* The host waits in poll, and no timer thread runs before, then or after. */
static void
a_deadline_is_told_though_a_timer_thread_is_about_to_start(void **state)
{
    fixture_t *fixture = *state;
    struct pollfd wanted = {.events = POLLIN};
    pthread_t thread;
    memset(&start, 0, sizeof start);
    start.inner = fixture->config.allocator;
    fixture->config.allocator =
        (schedq_allocator_t){.alloc = alloc_or_hold, .free = free_memory, .ctx = NULL};
    fx_use_real_clock(fixture);
    start.queue = fx_queue(fixture);
    assert_ok(schedq_wait_fd(start.queue, &wanted.fd, NULL, 0));
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    fx_pop_nothing(fixture);
    assert_int_equal(poll(&wanted, 1, 0), 0);
    assert_int_equal(pthread_create(&thread, NULL, start_in_vain, NULL), 0);
    while (!atomic_load(&start.held))
        pause_shortly();
    fx_fail(fixture, &popped, 0, 0);
    atomic_store(&start.goes_on, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    atomic_store(&start.starts, false);
    assert_status(start.answer, SCHEDQ_NOMEM);
    assert_int_equal(poll(&wanted, 1, 0), 1);
}

/* ---- a tick beside a thread that plans ------------------------------------------------------- */

static void
plan_beside(void *ctx)
{
    struct queue *queue = ctx;
    (void)deadline_begin(&queue->deadline);
}

/* Callers take their clock's reading from it. */
static void
a_tick_answers_with_a_reading_of_the_clock(void **state)
{
    fixture_t *fixture = *state;
    struct queue *queue = queue_of_base(fx_queue(fixture));
    int64_t next = -1;
    assert_ok(schedq_wait_callback(fx_queue(fixture), plan_beside, queue, NULL, 0));
    fx_add(fixture, "ns/a", 0);
    (void)sleepers_prepare(&queue->sleepers); /* somebody waits, so the host is told */
    assert_ok(schedq_tick(fx_worker(fixture), &next, NULL));
    assert_true(deadline_read(&queue->deadline) < 0);
    assert_int_equal(next, 0);
    sleepers_cancel(&queue->sleepers);
    assert_ok(schedq_tick(fx_worker(fixture), &next, NULL));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        fx_test_lockfree(a_pop_that_begins_later_serves_what_is_due),
        fx_test_lockfree(a_pop_that_slept_before_serves_what_is_due),
        fx_test_lockfree(a_parked_pod_is_tried_again_though_the_thread_stopped),
        fx_test_lockfree(without_the_thread_no_pod_waits_for_a_sleeper_to_look),
        fx_test_lockfree(a_watcher_that_stopped_is_overtaken),
        fx_test_lockfree(a_deadline_is_told_though_a_timer_thread_is_about_to_start),
        fx_test_lockfree(a_tick_answers_with_a_reading_of_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
