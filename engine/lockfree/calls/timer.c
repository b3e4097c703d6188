/* The thread of timer.h, which has the essay. */
#include "lockfree/calls/timer.h"

#include "lockfree/calls/ops.h"
#include "lockfree/calls/serve.h"
#include "lockfree/calls/workers.h"
#include "policy/backoff.h"

enum phase { PHASE_NONE, PHASE_STARTING, PHASE_RUNNING, PHASE_STOPPING };

static enum phase
phase_of(const struct queue *queue)
{
    return (enum phase)u32_load_acquire(
        &queue->timer.phase); /* of timer_run's and timer_stop's exchanges */
}

bool
timer_is_running(const struct queue *queue)
{
    return phase_of(queue) == PHASE_RUNNING;
}

void
timer_wake(struct queue *queue)
{
    enum phase phase = phase_of(queue);

    if (phase == PHASE_STARTING || phase == PHASE_RUNNING) {
        (void)u32_add(&queue->timer.wakes, 1);
        futex_wake(&queue->timer.wakes, 1);
    }
    if (phase != PHASE_RUNNING) { /* a thread that starts may come to nothing */
        readiness_signal(&queue->sleepers, &queue->base.notifier);
    }
    serve_wake_sleeper(queue);
}

struct worker *
timer_worker(const struct queue *queue)
{
    return ptr_load(&queue->timer.worker);
}

/*
 * The queue's clock need not be CLOCK_MONOTONIC: the time that is left on the one is added to the
 * other.
 */
static void
sleep_until(struct queue *queue, uint32_t wakes, int64_t until, int64_t now)
{
    schedq_worker_t *worker = &timer_worker(queue)->base;

    if (until > now) {
        worker_sleeps(worker);
        futex_wait(&queue->timer.wakes, wakes, time_add(clock_monotonic(), until - now), FUTEX_ANY);
        worker_wakes(worker);
    }
}

static void *
timer_main(void *argument)
{
    struct queue *queue = argument;
    int64_t tick = queue->base.rules.tick_ns;
    int64_t kept = queue_now(queue), pause = tick;
    schedq_worker_t *worker = &timer_worker(queue)->base;
    struct server server;

    /* Gates run here too, and must not call the queue from here either. */
    inside_enter_again(&worker->inside);
    inside_settle(false);
    server_begin(&server, timer_worker(queue));
    for (;;) {
        uint32_t wakes = u32_load_acquire(
            &queue->timer.wakes); /* timer_main:A, before the phase and the deadline */

        /*
         * Read after `wakes`: a stop that this read misses changes the word that the sleep below
         * compares.
         */
        if (phase_of(queue) == PHASE_STOPPING) {
            break;
        }
        worker_anew(worker);
        if (server_serve(&server, serve_due(queue), queue_now(queue))) {
            continue;
        }
        int64_t now = queue_now(queue);

        if (now >= time_add(kept, tick)) {
            schedq_result_t unseen = {0};

            kept = now;
            pause = serve_upkeep(server.worker, &unseen) ? tick : serve_pause(pause);
        }
        int64_t due = serve_due(queue);
        int64_t next = due > server.again ? due : server.again;

        sleep_until(queue, wakes, time_earlier(next, time_add(now, pause)), now);
    }
    worker_bar(worker);
    inside_leave(&worker->inside);
    return NULL;
}

static schedq_status_t
start(struct queue *queue)
{
    struct timer *timer = &queue->timer;
    struct worker *worker;
    schedq_status_t status = workers_take(queue, &worker);

    if (status != SCHEDQ_OK) {
        return status;
    }
    ptr_store(&timer->worker, worker);
    if (!thread_start(&timer->thread, timer_main, queue)) {
        ptr_store(&timer->worker, NULL);
        workers_give(worker);
        return SCHEDQ_NOMEM;
    }
    return SCHEDQ_OK;
}

schedq_status_t
timer_run(struct queue *queue)
{
    struct timer *timer = &queue->timer;

    if (phase_of(queue) != PHASE_NONE || !u32_cas(&timer->phase, PHASE_NONE, PHASE_STARTING)) {
        return SCHEDQ_EXISTS;
    }
    schedq_status_t status = queue_is_closed(queue) ? SCHEDQ_CLOSED : start(queue);

    (void)u32_exchange(&timer->phase, status == SCHEDQ_OK ? PHASE_RUNNING : PHASE_NONE);
    return status;
}

/* Sleepers and the host relied on the thread: they have to plan anew. */
void
timer_stop(struct queue *queue)
{
    struct timer *timer = &queue->timer;

    if (!u32_cas(&timer->phase, PHASE_RUNNING, PHASE_STOPPING)) {
        return;
    }
    (void)u32_add(&timer->wakes, 1);
    futex_wake(&timer->wakes, 1);
    thread_join(&timer->thread);
    struct worker *worker = timer_worker(queue);

    ptr_store(&timer->worker, NULL);
    workers_give(worker);
    (void)u32_exchange(&timer->phase, PHASE_NONE);
    sleepers_wake_all(&queue->sleepers);
    readiness_signal(&queue->sleepers, &queue->base.notifier);
}
