/*
 * The lock, the words, and which threads an unlock wakes.
 *
 * SLEEPING. Blocking pops sleep on sleepers.sequence, which they read with the lock, and which is
 * changed with it; the timer thread on timer.wake. So a pod that was made poppable before a sleeper
 * looked is seen by it, and one made poppable after wakes it: no wake-up is lost.
 *
 * GIVING UP THE LOCK. An unlock, and a pop that goes to sleep: first all that the call changed is
 * announced (queue_announce), to threads that read words or sleep, and to a host that waits
 * elsewhere.
 *
 * WAKING. A call that made pods poppable wakes one sleeper for one pod, all for more. One that
 * brought the next deadline forward wakes all sleepers, and the timer thread if it runs: each has
 * to plan anew, sleepers too, since the thread may have stopped for ever (sleep.c). With a virtual
 * clock no thread can sleep until a deadline: each schedq_tick wakes all sleepers.
 *
 * TELLING THE HOST that waits elsewhere (notifier.h). A pop that finds nothing and does not wait
 * arms (sleep.c); the next call that made pods poppable, or brought the next deadline forward while
 * no timer thread runs, tells it once. Armed and the descriptor change together, with
 * the lock: so the descriptor is readable or armed, and not both.
 */
#include "mutex/admit.h"
#include "mutex/deadline.h"
#include "mutex/queue.h"
#include "platform/words.h"

#include <sched.h>
#include <time.h>

static void
word_update(uint64_t *word, uint64_t value)
{
    if (*word != value) {
        word_store(word, value);
    }
}

static void
publish_words(struct mutex_queue *queue)
{
    schedq_words_t *words = &queue->base.words;
    uint32_t poppable = is_poppable_with_groups(queue);

    word_update(&words->parked, queue->parked.count);
    word_update(&words->gated, queue->gated.count);
    word_update(&words->backoff, queue->backoff.count);
    word_update(&words->error_backoff, queue->error_backoff.count);
    word_update(&words->nominations, queue->nominator.count);
    word_update(&words->event_sequence, queue->log.newest);
    if (words->poppable != poppable) {
        word_store(&words->poppable, poppable);
    }
}

void
queue_tell_host(struct mutex_queue *queue)
{
    queue->armed = false;
    notifier_tell(&queue->base.notifier);
}

/* The callback may end cycles. Ends: it runs once, nothing is armed then. */
COLD static void
tell_armed_host(struct mutex_queue *queue)
{
    queue_tell_host(queue);
    if (queue->ended != NO_ENTRY) {
        queue_announce(queue);
    }
}

static void
wake_for_time(struct mutex_queue *queue)
{
    int64_t next = mutex_deadline_next(queue);
    bool sooner = next < queue->base.words.next_deadline_ns;

    queue->time_changed = false;
    word_store(&queue->base.words.next_deadline_ns, next);
    if (sooner && queue->timer.running) {
        (void)pthread_cond_signal(&queue->timer.wake);
    }
    if (sooner && queue->sleepers.waiting > 0) {
        queue_wake_all(queue);
    }
    if (sooner && queue->armed && !queue->timer.running) {
        tell_armed_host(queue);
    }
}

/* Out of line: only a queue that gives turns needs it. */
__attribute__((noinline)) static void
lock_as_one_who_waits(struct mutex_queue *queue)
{
    if (pthread_mutex_trylock(&queue->lock) != 0) {
        (void)__atomic_fetch_add(&queue->waiting, 1, __ATOMIC_RELAXED);
        (void)pthread_mutex_lock(&queue->lock);
        (void)__atomic_fetch_sub(&queue->waiting, 1, __ATOMIC_RELAXED);
    }
}

void
queue_lock(struct mutex_queue *queue)
{
    if (__builtin_expect(queue->yields, 0)) {
        lock_as_one_who_waits(queue);
    } else {
        (void)pthread_mutex_lock(&queue->lock);
    }
}

COLD bool
queue_try_lock_for(struct mutex_queue *queue, int64_t wait_ns)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now); /* of pthread_mutex_timedlock */
    int64_t until = time_add((int64_t)now.tv_nsec, wait_ns);
    const struct timespec deadline = {.tv_sec = now.tv_sec + (time_t)(until / BACKOFF_SECOND_NS),
                                      .tv_nsec = (long)(until % BACKOFF_SECOND_NS)};

    (void)__atomic_fetch_add(&queue->waiting, 1, __ATOMIC_RELAXED);
    bool locked = pthread_mutex_timedlock(&queue->lock, &deadline) == 0;
    (void)__atomic_fetch_sub(&queue->waiting, 1, __ATOMIC_RELAXED);
    return locked;
}

static void
wake_for_pods(struct mutex_queue *queue)
{
    uint32_t made_poppable = queue->made_poppable;

    queue->made_poppable = 0;
    if (made_poppable == 1 && queue->sleepers.waiting > 0) {
        queue_wake_one(queue);
    } else if (queue->sleepers.waiting > 0) {
        queue_wake_all(queue);
    }
    if (queue->armed) {
        tell_armed_host(queue);
    }
}

void
queue_announce(struct mutex_queue *queue)
{
    if (__builtin_expect(queue->ended != NO_ENTRY, 0)) {
        admit_end_ended(queue);
    }
    if (__builtin_expect(queue->yields, 0)) {
        __atomic_store_n(&queue->turns, queue->turns + 1, __ATOMIC_RELAXED);
    }
    publish_words(queue);
    if (queue->time_changed) {
        wake_for_time(queue);
    }
    if (queue->made_poppable > 0) {
        wake_for_pods(queue);
    }
}

void
queue_unlock(struct mutex_queue *queue)
{
    queue_announce(queue);
    (void)pthread_mutex_unlock(&queue->lock);
}

/*
 * The lock is not fair: the thread that gave it away would mostly be the one that gets it. So it
 * waits until another has had it, but not for long: the thread that waited may have been stopped.
 */
void
queue_give_turn(struct mutex_queue *queue)
{
    const int64_t patience_ns = 100000;
    const int64_t begin_ns = clock_monotonic();
    uint32_t turns = queue->turns + 1; /* with the unlock here */

    queue_unlock(queue);
    while (__atomic_load_n(&queue->turns, __ATOMIC_RELAXED) == turns &&
           clock_monotonic() - begin_ns < patience_ns) {
        (void)sched_yield();
    }
    queue_lock(queue);
}

void
lock_stay_begin(struct lock_stay *stay)
{
    stay->since = clock_monotonic();
}

/*
 * The lock is not fair: the server of time would take it again before a caller that waits for it
 * has woken up. So after a long stay the server sleeps for as long as a caller needs to wake up.
 */
void
queue_let_others(struct mutex_queue *queue, struct lock_stay *stay)
{
    const int64_t long_ns = 1000000;
    const struct timespec away = {.tv_nsec = 100000};
    bool was_long = clock_monotonic() - stay->since >= long_ns;

    queue_unlock(queue);
    if (was_long) {
        (void)nanosleep(&away, NULL);
    }
    queue_lock(queue);
    if (was_long) {
        lock_stay_begin(stay);
    }
}
