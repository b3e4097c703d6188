/*
 * A scheduler in an event loop: epoll waits for the queue, for its time, and for whatever else the
 * program has, on one thread. Another thread adds pods.
 *
 * There is nothing to arm or to drain: the pop that says EMPTY does it. The deadline is read behind
 * that pop: if it becomes sooner later, the queue's descriptor becomes readable. A turn takes some
 * pods only, so that the timer and the program's other descriptors are heard while there are many:
 * the queue's descriptor stays readable until a pop says EMPTY.
 */
#include <inttypes.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "producer.h"

#define AT_ONCE 64

/* ---- the loop -------------------------------------------------------------------------------- */

/* The first attempt of each fails: its backoff is what the timer is for. */
static int
work_on(schedq_worker_t *worker, schedq_popped_t *popped)
{
    if (popped->history.attempts > 1) {
        schedq_done(worker, popped->token);
        return 1;
    }
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    worker_must(worker, schedq_fail(worker, &popped->token, &failure, NULL) == SCHEDQ_OK);
    return 0;
}

/* CLOCK_MONOTONIC is the queue's clock. A time of 0 would stop the timer. */
static void
set_timer(int timer)
{
    int64_t next = schedq_next_deadline(queue);
    struct itimerspec at = {.it_value = {0, 0}};

    if (next != SCHEDQ_NO_DEADLINE) {
        at.it_value.tv_sec = next / 1000000000;
        at.it_value.tv_nsec = next % 1000000000;
    }
    must(timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL) == 0, "timerfd_settime");
}

static void
watch(int loop, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    must(epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event) == 0, "epoll_ctl");
}

static int
run_loop(schedq_worker_t *worker, int pods, int timer)
{
    int loop = epoll_create1(EPOLL_CLOEXEC), attempts = 0, placed = 0;
    schedq_popped_t popped;

    watch(loop, pods);
    watch(loop, timer);
    while (placed < PODS) {
        struct epoll_event events[2];
        int count = epoll_wait(loop, events, 2, -1);

        for (int i = 0; i < count; i++) {
            uint64_t times;

            if (events[i].data.fd == timer && read(timer, &times, sizeof times) > 0) {
                worker_must(worker, schedq_tick(worker, NULL, NULL) == SCHEDQ_OK);
            }
        }
        for (int i = 0; i < AT_ONCE && schedq_try_pop(worker, &popped) == SCHEDQ_OK; i++) {
            attempts++;
            placed += work_on(worker, &popped);
        }
        set_timer(timer); /* behind the pop that said EMPTY */
    }
    close(loop);
    return attempts;
}

int
main(void)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_worker_t *worker;
    pthread_t producer;
    char why[200];
    int pods, timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

    config.initial_backoff_ns = 20000000;
    must(timer >= 0, "timerfd_create");
    must(schedq_create(&config, &queue, why, sizeof why) == SCHEDQ_OK, why);
    must(schedq_wait_fd(queue, &pods, why, sizeof why) == SCHEDQ_OK, why);
    must(schedq_worker_register(queue, &worker, why, sizeof why) == SCHEDQ_OK, why);
    must(pthread_create(&producer, NULL, add_pods, NULL) == 0, "pthread_create");

    int attempts = run_loop(worker, pods, timer);

    pthread_join(producer, NULL);
    schedq_worker_unregister(worker);
    close(timer);
    must(schedq_destroy(queue, why, sizeof why) == SCHEDQ_OK, why);
    printf("%d pods placed in %d attempts\n", PODS, attempts);
    return 0;
}
