/*
 * A million pods from two producers through one epoll loop: each arrives, and no wake-up is lost.
 *
 * The loop waits without a timeout: a wake-up that is lost ends the program by its patience
 * (schedq-patience), not by an answer. What it prints counts pods, waits and pops; system calls are
 * counted from outside (strace -c -f).
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <schedq/schedq.h>

#include "support/arguments.h"

#define PRODUCERS 2
#define BATCH 64

struct run {
    schedq_t *queue;
    uint64_t pods; /* of each producer */
};

struct counts {
    uint64_t pods, waits, idle; /* idle: waits after which there was nothing to pop */
};

static void
must(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "schedq-epoll: %s\n", what);
        exit(1);
    }
}

static void *
produce(void *argument)
{
    const struct run *run = argument;
    schedq_worker_t *worker;
    char why[200];

    must(schedq_worker_register(run->queue, &worker, why, sizeof why) == SCHEDQ_OK, why);
    for (uint64_t i = 0; i < run->pods; i++) {
        schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
        char name[64];
        int length = snprintf(name, sizeof name, "%p-%" PRIu64, (void *)worker, i);

        spec.priority = (int32_t)(i % 4);
        must(schedq_add(worker, name, (size_t)length, &spec, NULL) == SCHEDQ_OK,
             schedq_worker_error(worker));
    }
    schedq_worker_unregister(worker);
    return NULL;
}

static uint64_t
pop_all(schedq_worker_t *worker)
{
    schedq_popped_t popped[BATCH];
    schedq_token_t tokens[BATCH];
    uint64_t sum = 0;
    size_t count;

    while (schedq_try_pop_many(worker, popped, BATCH, &count) == SCHEDQ_OK) {
        for (size_t i = 0; i < count; i++) {
            tokens[i] = popped[i].token;
        }
        must(schedq_done_many(worker, tokens, count, NULL) == SCHEDQ_OK,
             schedq_worker_error(worker));
        sum += count;
    }
    return sum;
}

static struct counts
consume(schedq_t *queue, schedq_worker_t *worker, uint64_t pods)
{
    struct counts counts = {0};
    struct epoll_event event = {.events = EPOLLIN};
    int loop = epoll_create1(EPOLL_CLOEXEC), fd;
    char why[200];

    must(schedq_wait_fd(queue, &fd, why, sizeof why) == SCHEDQ_OK, why);
    must(loop >= 0 && epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event) == 0, "epoll");
    while (counts.pods < pods) {
        int ready = epoll_wait(loop, &event, 1, -1);

        must(ready == 1 || errno == EINTR, "epoll_wait");
        uint64_t got = pop_all(worker);

        counts.waits++;
        counts.idle += got == 0;
        counts.pods += got;
    }
    close(loop);
    return counts;
}

struct options {
    const argument_choice_t *engine;
    uint64_t pods;
};

static const argument_t table[] = {ARGUMENT_CHOICE(struct options, engine, "engine", 'e',
                                                   argument_engines, "lockfree (default) or mutex"),
                                   ARGUMENT_NUMBER(struct options, pods, "pods", 'p', PRODUCERS,
                                                   100000000,
                                                   "pods in all; 2..100000000, default 1000000"),
                                   ARGUMENTS_END};

int
main(int argc, char **argv)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    struct options options = {argument_engine_default(), 1000000};
    pthread_t producers[PRODUCERS];
    struct run run;
    schedq_worker_t *worker;
    char why[200];

    arguments_read(
        &(command_line_t){.table = table, .doc = "Send pods through an epoll loop of schedq."},
        argc, argv, &options);
    config.max_pods = 0;
    config.engine = (uint8_t)options.engine->value;
    must(schedq_create(&config, &run.queue, why, sizeof why) == SCHEDQ_OK, why);
    must(schedq_worker_register(run.queue, &worker, why, sizeof why) == SCHEDQ_OK, why);
    run.pods = options.pods / PRODUCERS;
    for (int i = 0; i < PRODUCERS; i++) {
        must(pthread_create(&producers[i], NULL, produce, &run) == 0, "no thread");
    }
    struct counts counts = consume(run.queue, worker, run.pods * PRODUCERS);

    for (int i = 0; i < PRODUCERS; i++) {
        pthread_join(producers[i], NULL);
    }
    must(pop_all(worker) == 0, "a pod was left");
    schedq_worker_unregister(worker);
    must(schedq_destroy(run.queue, why, sizeof why) == SCHEDQ_OK, why);
    printf("%" PRIu64 " pods, %" PRIu64 " waits, %" PRIu64 " of them for nothing\n", counts.pods,
           counts.waits, counts.idle);
    return 0;
}
