/*
 * A scheduler in a libuv loop, woken by a callback: uv_async_send may be called from any thread.
 * Another thread adds pods. cc libuv.c $(pkg-config --cflags --libs schedq libuv)
 *
 * The callback comes again only after a pop said EMPTY, so each turn pops until then.
 */
#include <inttypes.h>
#include <pthread.h>
#include <uv.h>

#include "producer.h"

static schedq_worker_t *worker;
static uv_async_t wake;
static uv_timer_t timer;
static int attempts, placed;

/* Inside of the call that made something poppable: it only wakes the loop. */
static void
wake_loop(void *context)
{
    uv_async_send(context);
}

/* The first attempt of each fails: its backoff is what the timer is for. */
static void
work_on(schedq_popped_t *popped)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    attempts++;
    if (popped->history.attempts > 1) {
        schedq_done(worker, popped->token);
        placed++;
    } else {
        worker_must(worker, schedq_fail(worker, &popped->token, &failure, NULL) == SCHEDQ_OK);
    }
}

static void turn(void);

static void
on_timer(uv_timer_t *handle)
{
    (void)handle;
    worker_must(worker, schedq_tick(worker, NULL, NULL) == SCHEDQ_OK);
    turn();
}

static void
on_wake(uv_async_t *handle)
{
    (void)handle;
    turn();
}

/* libuv's timers count milliseconds: rounded up, so that none comes too early. */
static void
turn(void)
{
    schedq_popped_t popped;

    while (schedq_try_pop(worker, &popped) == SCHEDQ_OK) {
        work_on(&popped);
    }
    if (placed == PODS) {
        uv_close((uv_handle_t *)&wake, NULL);
        uv_close((uv_handle_t *)&timer, NULL);
        return;
    }
    int64_t next = schedq_next_deadline(queue);

    if (next != SCHEDQ_NO_DEADLINE) {
        int64_t wait_ns = next - schedq_now(queue);

        uv_timer_start(&timer, on_timer, wait_ns > 0 ? (uint64_t)(wait_ns + 999999) / 1000000 : 0,
                       0);
    }
}

int
main(void)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    uv_loop_t *loop = uv_default_loop();
    pthread_t producer;
    char why[200];

    config.initial_backoff_ns = 20000000;
    must(uv_async_init(loop, &wake, on_wake) == 0, "uv_async_init");
    must(uv_timer_init(loop, &timer) == 0, "uv_timer_init");
    must(schedq_create(&config, &queue, why, sizeof why) == SCHEDQ_OK, why);
    must(schedq_wait_callback(queue, wake_loop, &wake, why, sizeof why) == SCHEDQ_OK, why);
    must(schedq_worker_register(queue, &worker, why, sizeof why) == SCHEDQ_OK, why);
    turn(); /* until EMPTY, once at the beginning */
    must(pthread_create(&producer, NULL, add_pods, NULL) == 0, "pthread_create");
    uv_run(loop, UV_RUN_DEFAULT);

    pthread_join(producer, NULL);
    schedq_worker_unregister(worker);
    must(schedq_destroy(queue, why, sizeof why) == SCHEDQ_OK, why);
    uv_loop_close(loop);
    printf("%d pods placed in %d attempts\n", PODS, attempts);
    return 0;
}
