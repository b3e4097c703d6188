/*
 * Waiting for a pod, and the timer thread. lock.c wakes.
 *
 * SERVING TIME. The timer thread serves it if it runs; a sleeper too, when it finds time a whole
 * tick late: the thread may have been stopped by its debugger or its scheduler. Without the thread,
 * every blocking pop that finds nothing serves time; and schedq_tick. A pop serves a slice
 * (time.h), then looks for its pod. What is left stays due: the next sleeper, which sleeps until
 * the same deadline at most, or the next blocking pop that finds nothing serves it. Behind a slice
 * that made nothing poppable the pop lets other calls have the lock. When it returns at its own
 * deadline, policy/slices.h says.
 *
 * A THREAD THAT DIES IN ITS SLEEP does not have the lock, and stops nobody: the kernel wakes those
 * that sleep on the word. A condition variable would count it among its waiters for ever.
 *
 * A CANCELLED WAIT takes nothing. Its thread may have been the one that a pod's signal woke, so it
 * signals another.
 *
 * Where only the host can end a backoff, a due pod waits for the host's call: neither the thread
 * nor a sleeper looks at that deadline.
 */
#include "mutex/sleep.h"

#include "mutex/class.h"
#include "mutex/cycle.h"
#include "mutex/deadline.h"
#include "mutex/group.h"
#include "mutex/time.h"
#include "mutex/workers.h"
#include "platform/inside.h"
#include "platform/words.h"
#include "policy/backoff.h"
#include "policy/slices.h"

#include <signal.h>
#include <time.h>

static bool
cond_open(pthread_cond_t *cond)
{
    pthread_condattr_t attributes;

    if (pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    bool ok = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
              pthread_cond_init(cond, &attributes) == 0;

    (void)pthread_condattr_destroy(&attributes);
    return ok;
}

bool
sleep_open(struct mutex_queue *queue)
{
    if (pthread_mutex_init(&queue->lock, NULL) != 0) {
        return false;
    }
    if (!cond_open(&queue->timer.wake)) {
        (void)pthread_mutex_destroy(&queue->lock);
        return false;
    }
    word_store(&queue->base.words.next_deadline_ns, SCHEDQ_NO_DEADLINE);
    return true;
}

void
sleep_shut(struct mutex_queue *queue)
{
    (void)pthread_cond_destroy(&queue->timer.wake);
    (void)pthread_mutex_destroy(&queue->lock);
}

/* How long a thread relies on a caller's clock to pass as CLOCK_MONOTONIC does. */
#define LOOK_NS INT64_C(2000000000)

/*
 * `until` on CLOCK_MONOTONIC. A caller's clock may be another one: what is left on it is waited for
 * on CLOCK_MONOTONIC. The caller's clock may run ahead of that, as one does that counts a
 * suspension: so the wait is LOOK_NS at most, and then the clock is looked at again.
 */
static int64_t
monotonic_of(const struct mutex_queue *queue, int64_t until, int64_t now)
{
    const struct clock *clock = &queue->base.clock;
    int64_t left = time_add(until, -now);

    if (until == SCHEDQ_NO_DEADLINE || clock_is_virtual(clock)) {
        return FUTEX_NO_DEADLINE;
    }
    return time_add(clock_monotonic(),
                    clock->source.now_ns != NULL ? time_earlier(left, LOOK_NS) : left);
}

/* When the queue itself has to serve time. If only the host can end a backoff: never. */
static int64_t
own_deadline(struct mutex_queue *queue)
{
    return queue->base.rules.host_ends_backoff ? SCHEDQ_NO_DEADLINE : mutex_deadline_next(queue);
}

/* ---- pop ------------------------------------------------------------------------------------- */

/* What it served is announced before it plans: a callback may change the deadline then. */
static void
sleep_for_pod(schedq_worker_t *worker, int64_t deadline, int64_t now)
{
    struct mutex_queue *queue = queue_of(worker);

    queue_announce(queue);
    int64_t until = own_deadline(queue);

    if (queue->timer.running && until != SCHEDQ_NO_DEADLINE) {
        until = time_add(until, queue->base.rules.tick_ns);
    }
    until = monotonic_of(queue, until < deadline ? until : deadline, now);
    uint32_t sequence = u32_load(&queue->sleepers.sequence);

    queue->sleepers.waiting++;
    worker_sleeps(worker);
    (void)pthread_mutex_unlock(&queue->lock);
    futex_wait(&queue->sleepers.sequence, sequence, until, FUTEX_ANY);
    queue_lock(queue);
    worker_wakes(worker);
    queue->sleepers.waiting--;
}

void
sleep_ended(struct mutex_queue *queue, const schedq_worker_t *dead)
{
    if (inside_callback(&dead->inside) == CALLBACK_SLEEP) {
        queue->sleepers.waiting--;
        queue_wake_all(queue); /* it may have been woken for something */
    }
}

/* A sleeper leaves the serving of time to the timer thread until that is a tick late. */
static bool
serve_if_late(struct mutex_queue *queue, int64_t now)
{
    schedq_result_t unseen = {0};
    int64_t next = own_deadline(queue);
    int64_t patience = queue->timer.running ? queue->base.rules.tick_ns : 0;

    /* at the end of time a pod may be due though no deadline is */
    if (now < time_add(next, patience)) {
        return false;
    }
    return mutex_time_serve(queue, now, TIME_SLICE, &unseen);
}

/* A pop that does not wait found nothing: the next pod or group makes the descriptor readable. */
static void
arm(struct mutex_queue *queue)
{
    if (!queue->armed && notifier_is_used(&queue->base.notifier) && !queue->closed) {
        notifier_clear(&queue->base.notifier);
        queue->armed = true;
    }
}

/*
 * Called after pods were taken, if a class was ever shut. If none was found, there may be another
 * scout. If the last one says that there are more, all those may be kept back by now.
 */
COLD static void
take_behind_classes(struct mutex_queue *queue, schedq_popped_t *out, size_t capacity, size_t *count)
{
    if (*count == 0 && mutex_class_heals(queue)) {
        while (*count < capacity && cycle_pop(queue, &out[*count])) {
            ++*count;
        }
    }
    if (*count > 0) {
        out[*count - 1].more = is_poppable(queue);
    }
}

schedq_status_t
mutex_pop(schedq_worker_t *worker, schedq_popped_t *out, size_t capacity, size_t *count)
{
    struct mutex_queue *queue = queue_of(worker);
    schedq_status_t status = SCHEDQ_OK;

    *count = 0;
    queue_lock(queue);
    while (*count < capacity && cycle_pop(queue, &out[*count])) {
        ++*count;
    }
    if (queue->classes.slots != NULL) {
        take_behind_classes(queue, out, capacity, count);
    }
    if (*count == 0) {
        status = queue->closed ? SCHEDQ_CLOSED : SCHEDQ_EMPTY;
    }
    if (*count == 0) {
        arm(queue);
    }
    queue_unlock(queue);
    return status;
}

static bool
take_cancel(schedq_worker_t *worker)
{
    bool canceled = worker->canceled != 0;

    worker->canceled = 0;
    return canceled;
}

/* Takes what a waiting pop is for. SCHEDQ_EMPTY: there is nothing, it waits. */
typedef schedq_status_t take_fn(struct mutex_queue *queue, void *ctx);

/* take_fn */
static schedq_status_t
take_pod(struct mutex_queue *queue, void *ctx)
{
    return cycle_pop(queue, ctx) || (mutex_class_heals(queue) && cycle_pop(queue, ctx))
               ? SCHEDQ_OK
               : SCHEDQ_EMPTY;
}

/* take_fn */
static schedq_status_t
take_any(struct mutex_queue *queue, void *ctx)
{
    return mutex_group_take(queue, ctx);
}

/* True: it served a slice, look again. */
static bool
serve_slice(struct mutex_queue *queue, struct slices *slices, struct lock_stay *stay, int64_t now)
{
    if (!slices->serving) {
        lock_stay_begin(stay);
    }
    slices->serving = slices_go_on(slices, &now) && serve_if_late(queue, now);
    if (slices->serving && !is_poppable(queue)) {
        queue_let_others(queue, stay);
    }
    return slices->serving;
}

/* The first thing that a waiting pop takes. */
static schedq_status_t
wait_and_take(schedq_worker_t *worker, int64_t deadline, take_fn *take, void *ctx)
{
    struct mutex_queue *queue = queue_of(worker);
    struct slices slices = {.deadline = deadline};
    struct lock_stay stay;

    for (;;) {
        if (take_cancel(worker)) {
            return SCHEDQ_CANCELED;
        }
        schedq_status_t status = take(queue, ctx);

        if (status != SCHEDQ_EMPTY) {
            return status;
        }
        int64_t now = queue_now(queue);

        if (queue->closed) {
            return SCHEDQ_CLOSED;
        }
        if (serve_slice(queue, &slices, &stay, now)) {
            continue;
        }
        if (slices_are_late(&slices, now)) {
            return SCHEDQ_TIMEDOUT;
        }
        sleep_for_pod(worker, deadline, now);
    }
}

schedq_status_t
mutex_pop_waiting(schedq_worker_t *worker, int64_t deadline, schedq_popped_t *out, size_t capacity,
                  size_t *count)
{
    struct mutex_queue *queue = queue_of(worker);

    *count = 0;
    queue_lock(queue);
    schedq_status_t status = wait_and_take(worker, deadline, take_pod, out);

    if (status == SCHEDQ_OK) {
        do {
            ++*count;
        } while (*count < capacity && cycle_pop(queue, &out[*count]));
        if (queue->classes.slots != NULL) {
            take_behind_classes(queue, out, capacity, count);
        }
    } else if (status == SCHEDQ_CANCELED && is_poppable(queue)) {
        queue_wake_one(queue);
    }
    queue_unlock(queue);
    return status;
}

schedq_status_t
mutex_pop_group(schedq_worker_t *worker, bool waits, int64_t deadline, schedq_popped_group_t *group,
                schedq_popped_t *members, size_t room, size_t *count)
{
    struct mutex_queue *queue = queue_of(worker);
    struct group_pop pop = {.group = group, .members = members, .room = room};
    schedq_status_t status;

    queue_lock(queue);
    if (waits) {
        status = wait_and_take(worker, deadline, take_any, &pop);
    } else {
        status = mutex_group_take(queue, &pop);
    }
    if (status == SCHEDQ_EMPTY) {
        status = queue->closed ? SCHEDQ_CLOSED : SCHEDQ_EMPTY;
        arm(queue);
    }
    if (is_poppable_with_groups(queue) && status != SCHEDQ_OK) {
        queue_wake_all(queue); /* the wake-up may have been meant for another */
    }
    *count = status == SCHEDQ_OK || status == SCHEDQ_FULL ? pop.count : 0;
    queue_unlock(queue);
    return status;
}

void
mutex_wait_cancel(schedq_worker_t *worker)
{
    struct mutex_queue *queue = queue_of(worker);

    queue_lock(queue);
    worker->canceled = 1;
    queue_wake_all(queue);
    queue_unlock(queue);
}

void
mutex_tell_host(schedq_t *base)
{
    struct mutex_queue *queue = mutex_queue(base);

    queue_lock(queue);
    queue_tell_host(queue);
    queue_unlock(queue);
}

/* ---- tick ------------------------------------------------------------------------------------ */

schedq_status_t
mutex_tick(schedq_worker_t *worker, int64_t *next, schedq_result_t *result)
{
    struct mutex_queue *queue = queue_of(worker);

    queue_lock(queue);
    (void)mutex_time_serve(queue, queue_now(queue), TIME_ALL, result);
    *next = mutex_deadline_next(queue);
    result->poppable = is_poppable_with_groups(queue);
    if (clock_is_virtual(&queue->base.clock) && queue->sleepers.waiting > 0) {
        queue->sleepers.ticks++;
        queue_wake_all(queue);
    }
    queue_unlock(queue);
    return SCHEDQ_OK;
}

/* ---- the timer thread ------------------------------------------------------------------------ */

static void
wait_for_time(struct mutex_queue *queue, schedq_worker_t *worker, int64_t now)
{
    int64_t until = monotonic_of(queue, own_deadline(queue), now);
    const struct timespec deadline = {.tv_sec = (time_t)(until / 1000000000),
                                      .tv_nsec = (long)(until % 1000000000)};

    worker_sleeps(worker);
    if (until == FUTEX_NO_DEADLINE) {
        (void)pthread_cond_wait(&queue->timer.wake, &queue->lock);
    } else {
        (void)pthread_cond_timedwait(&queue->timer.wake, &queue->lock, &deadline);
    }
    worker_wakes(worker);
}

static void *
timer_main(void *argument)
{
    struct mutex_queue *queue = argument;
    schedq_worker_t *worker = queue->timer.worker;
    struct lock_stay stay;

    /* Gates run here too, and must not call the queue from here either. */
    inside_enter_again(&worker->inside);
    inside_settle(false);
    queue_lock(queue);
    lock_stay_begin(&stay);
    while (!queue->timer.stopping) {
        schedq_result_t unseen = {0};
        int64_t now = queue_now(queue);

        worker_anew(worker);
        if (now >= own_deadline(queue)) {
            (void)mutex_time_serve(queue, now, TIME_SLICE, &unseen);
            queue_let_others(queue, &stay);
            continue;
        }
        wait_for_time(queue, worker, now);
        lock_stay_begin(&stay);
    }
    worker_bar(worker);
    queue_unlock(queue);
    inside_leave(&worker->inside);
    return NULL;
}

/* All signals are the host's business. */
static int
start_thread(struct mutex_queue *queue)
{
    sigset_t all, old;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &old);
    int failed = pthread_create(&queue->timer.thread, NULL, timer_main, queue);
    (void)pthread_sigmask(SIG_SETMASK, &old, NULL);
    return failed;
}

/*
 * Its slot is what the thread needs: it makes no public call. The handle is the thread's for as
 * long as it runs, and barred until then.
 */
static schedq_status_t
timer_worker_add(struct mutex_queue *queue)
{
    schedq_status_t status = mutex_workers_add(queue, &queue->timer.worker);

    if (status == SCHEDQ_OK) {
        worker_bar(queue->timer.worker);
    }
    return status;
}

static void
timer_worker_remove(struct mutex_queue *queue)
{
    mutex_workers_remove(queue, queue->timer.worker);
    queue->timer.worker = NULL;
}

schedq_status_t
mutex_run(schedq_t *base)
{
    struct mutex_queue *queue = mutex_queue(base);
    schedq_status_t status = SCHEDQ_OK;

    queue_lock(queue);
    if (queue->timer.running) {
        status = SCHEDQ_EXISTS;
    } else if (queue->closed) {
        status = SCHEDQ_CLOSED;
    } else {
        status = timer_worker_add(queue);
    }
    if (status == SCHEDQ_OK) {
        queue->timer.stopping = false;
        queue->timer.running = start_thread(queue) == 0;
        if (!queue->timer.running) {
            timer_worker_remove(queue);
            status = SCHEDQ_NOMEM;
        }
    }
    queue_unlock(queue);
    return status;
}

void
mutex_stop(schedq_t *base)
{
    struct mutex_queue *queue = mutex_queue(base);

    queue_lock(queue);
    bool mine = queue->timer.running && !queue->timer.stopping;
    if (mine) {
        queue->timer.stopping = true;
        (void)pthread_cond_signal(&queue->timer.wake);
    }
    queue_unlock(queue);
    if (!mine) {
        return;
    }
    (void)pthread_join(queue->timer.thread, NULL);
    queue_lock(queue);
    queue->timer.running = false;
    queue->timer.stopping = false;
    timer_worker_remove(queue);
    /* Sleepers and the host relied on the thread: they have to plan anew. */
    queue_wake_all(queue);
    if (queue->armed) {
        queue_tell_host(queue);
    }
    queue_unlock(queue);
}

void
mutex_close(schedq_t *base)
{
    struct mutex_queue *queue = mutex_queue(base);

    queue_lock(queue);
    queue->closed = true;
    word_store(&queue->base.words.closed, 1);
    queue_wake_all(queue);
    queue_tell_host(queue);
    queue_unlock(queue);
}
