/*
 * What the classes of calls are good for at the edges of a process's life (LIVES in the header): in
 * a signal handler, in a child after fork, in a destructor of thread-local data, and what a thread
 * leaves that ends. test_own_workers.c has what belongs to threads.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "every_call.h"
#include "fixture.h"
#include "mailbox.h"

/* ---- a child after fork ---- */

#define CHILD(good)                                                   \
    do {                                                              \
        if (!(good)) {                                                \
            fprintf(stderr, "child: line %d: %s\n", __LINE__, #good); \
            _exit(1);                                                 \
        }                                                             \
    } while (0)

static bool
refused(const schedq_worker_t *worker, schedq_status_t status)
{
    return status == SCHEDQ_INVALID && strstr(schedq_worker_error(worker), "child") != NULL;
}

/* As every_call_fn. */
static void
expect_child(void *ctx, const char *call, schedq_status_t status, const char *words)
{
    (void)ctx;
    if (status == SCHEDQ_INVALID && (words == NULL || strstr(words, "child") != NULL))
        return;
    fprintf(stderr, "child: %s: %s '%s'\n", call, schedq_status_name(status),
            words != NULL ? words : "");
    _exit(1);
}

static void
use_what_is_the_parents(fixture_t *fixture, const schedq_popped_t *popped)
{
    schedq_worker_t *worker = fixture->worker;
    const every_call_t calls = {
        .queue = fixture->queue, .worker = worker, .token = popped->token, .pod = popped->pod};
    for (int round = 0; round < 2; round++) {
        every_call_make(&calls, SCHEDQ_INVALID, expect_child, NULL);
        CHILD(refused(worker, schedq_done(worker, popped->token)));
        CHILD(refused(worker, schedq_done_many(worker, &popped->token, 1, NULL)));
        CHILD(schedq_now(fixture->queue) == FX_START);
    }
}

static void *
use_own_queue(void *argument)
{
    const schedq_config_t *config = argument;
    schedq_t *queue;
    schedq_worker_t *worker;
    schedq_pod_spec_t spec = fx_spec(0);
    schedq_popped_t popped;
    char why[200];
    CHILD(schedq_create(config, &queue, why, sizeof why) == SCHEDQ_OK);
    CHILD(schedq_run(queue, why, sizeof why) == SCHEDQ_OK);
    CHILD(schedq_worker_get(queue, &worker, why, sizeof why) == SCHEDQ_OK);
    for (int i = 0; i < 100; i++) {
        CHILD(schedq_add(worker, "ns/a", 4, &spec, NULL) == SCHEDQ_OK);
        CHILD(schedq_pop(worker, &popped) == SCHEDQ_OK);
        CHILD(schedq_try_pop(worker, NULL) == SCHEDQ_INVALID);
        CHILD(strstr(schedq_worker_error(worker), "out") != NULL);
        CHILD(schedq_done(worker, popped.token) == SCHEDQ_OK);
        CHILD(schedq_worker_error(worker)[0] == '\0');
    }
    CHILD(schedq_stop(queue) == SCHEDQ_OK);
    CHILD(schedq_destroy(queue, NULL, 0) == SCHEDQ_OK);
    return NULL;
}

/* What the program was linked with may not have threads in a child; a queue's timer is one. */
static void
live_as_child(fixture_t *fixture, const schedq_popped_t *popped)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    config.engine = fixture->config.engine;
    CHILD(schedq_version() != 0);
    CHILD(strcmp(schedq_status_name(SCHEDQ_OK), "SCHEDQ_OK") == 0);
    use_what_is_the_parents(fixture, popped);
    (void)use_own_queue(&config);
    use_what_is_the_parents(fixture, popped);
    pthread_t thread;
    CHILD(pthread_create(&thread, NULL, use_own_queue, &config) == 0);
    CHILD(pthread_join(thread, NULL) == 0);
    _exit(0);
}

static void
a_child_has_no_use_for_its_parents_queues(void **state)
{
    fixture_t *fixture = *state;
    schedq_worker_t *own;
    int status;
    fx_add(fixture, "ns/a", 0);
    schedq_popped_t popped = fx_pop(fixture, "ns/a");
    assert_ok(schedq_worker_get(fixture->queue, &own, NULL, 0));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        live_as_child(fixture, &popped);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    fx_done(fixture, &popped);
    assert_string_equal(schedq_worker_error(fx_worker(fixture)), "");
    fx_assert_counts(fixture, 0, 0, 0, 0, 0, 0);
}

/* ---- a signal handler ---- */

static struct {
    schedq_t *queue;
    schedq_worker_t *worker;
    schedq_token_t token;
    schedq_pod_t pod;
    volatile sig_atomic_t armed;
    unsigned calls;
    const char *answered; /* the first call that was not refused */
    schedq_status_t done, done_many;
    bool any_is_good;
} handled;

/* As every_call_fn. */
static void
expect_handler(void *ctx, const char *call, schedq_status_t status, const char *words)
{
    (void)ctx;
    handled.calls++;
    if (handled.answered == NULL &&
        (status != SCHEDQ_BUSY || (words != NULL && strstr(words, "a signal handler") == NULL)))
        handled.answered = call;
}

static void
handle(int number)
{
    const every_call_t calls = {.queue = handled.queue,
                                .worker = handled.worker,
                                .token = handled.token,
                                .pod = handled.pod};
    (void)number;
    every_call_make(&calls, SCHEDQ_BUSY, expect_handler, NULL);
    handled.done = schedq_done(handled.worker, handled.token);
    handled.done_many = schedq_done_many(handled.worker, &handled.token, 1, NULL);
    handled.any_is_good = schedq_version() != 0 && schedq_place_name(SCHEDQ_ACTIVE) != NULL;
}

/* The signal comes in the middle of a call. */
static void *
interrupted_alloc(void *ctx, size_t bytes, size_t align)
{
    void *memory = NULL;
    (void)ctx;
    if (handled.armed) {
        handled.armed = 0;
        raise(SIGUSR1);
    }
    return posix_memalign(&memory, align < sizeof(void *) ? sizeof(void *) : align, bytes) == 0
               ? memory
               : NULL;
}

static void
plain_free(void *ctx, void *memory, size_t bytes)
{
    (void)ctx;
    (void)bytes;
    free(memory);
}

static void
a_handler_that_interrupts_a_call_is_refused(void **state)
{
    fixture_t *fixture = *state;
    const struct sigaction action = {.sa_handler = handle};
    struct sigaction before;
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_popped_t popped;
    char name[16];
    config.engine = fixture->config.engine;
    config.allocator =
        (schedq_allocator_t){.alloc = interrupted_alloc, .free = plain_free, .ctx = NULL};
    assert_ok(schedq_create(&config, &handled.queue, NULL, 0));
    assert_ok(schedq_worker_register(handled.queue, &handled.worker, NULL, 0));
    schedq_pod_spec_t spec = fx_spec(0);
    assert_ok(schedq_add(handled.worker, "ns/fly", 6, &spec, NULL));
    assert_ok(schedq_try_pop(handled.worker, &popped));
    handled.token = popped.token;
    handled.pod = popped.pod;
    assert_int_equal(sigaction(SIGUSR1, &action, &before), 0);
    handled.armed = 1;
    for (unsigned i = 0; handled.armed && i < 100000; i++) {
        snprintf(name, sizeof name, "ns/%u", i);
        assert_ok(schedq_add(handled.worker, name, strlen(name), &spec, NULL));
    }
    assert_int_equal(sigaction(SIGUSR1, &before, NULL), 0);
    assert_int_equal(handled.armed, 0);
    assert_true(handled.calls > 0);
    assert_null(handled.answered);
    assert_status(handled.done, SCHEDQ_INVALID);
    assert_status(handled.done_many, SCHEDQ_INVALID);
    assert_true(handled.any_is_good);
    assert_ok(schedq_done(handled.worker, popped.token));
    assert_string_equal(schedq_worker_error(handled.worker), "");
    assert_ok(schedq_worker_unregister(handled.worker));
    assert_ok(schedq_destroy_with_pods(handled.queue, NULL, 0));
}

/* ---- a destructor of thread-local data, a thread that ends ---- */

typedef struct ending {
    fixture_t *fixture;
    schedq_worker_t *worker;
    schedq_popped_t popped, left;
    mailbox_t mailbox;
    pthread_key_t key;
} ending_t;

/* Calls of every class but setup and alone. */
static void
destruct(void *value)
{
    ending_t *ending = value;
    schedq_stats_t stats = SCHEDQ_STATS_INIT;
    mailbox_t *mailbox = &ending->mailbox;
    schedq_pod_spec_t spec = fx_spec(0);
    mailbox_check(mailbox, schedq_version() != 0);
    mailbox_check(mailbox, schedq_stats(ending->fixture->queue, &stats) == SCHEDQ_OK);
    mailbox_check(mailbox, schedq_add(ending->worker, "ns/last", 7, &spec, NULL) == SCHEDQ_OK);
    mailbox_check(mailbox, schedq_done(ending->worker, ending->popped.token) == SCHEDQ_OK);
}

static void *
end_without_unregistering(void *argument)
{
    ending_t *ending = argument;
    mailbox_t *mailbox = &ending->mailbox;
    mailbox_check(mailbox, schedq_worker_register(ending->fixture->queue, &ending->worker, NULL,
                                                  0) == SCHEDQ_OK);
    mailbox_check(mailbox, schedq_try_pop(ending->worker, &ending->popped) == SCHEDQ_OK);
    mailbox_check(mailbox, schedq_try_pop(ending->worker, &ending->left) == SCHEDQ_OK);
    mailbox_check(mailbox, pthread_setspecific(ending->key, ending) == 0);
    return NULL;
}

static void
a_registered_worker_outlives_its_thread(void **state)
{
    fixture_t *fixture = *state;
    ending_t ending = {.fixture = fixture};
    pthread_t thread;
    schedq_popped_t popped;
    mailbox_init(&ending.mailbox);
    assert_int_equal(pthread_key_create(&ending.key, destruct), 0);
    fx_add(fixture, "ns/a", 1);
    fx_add(fixture, "ns/b", 0);
    assert_int_equal(pthread_create(&thread, NULL, end_without_unregistering, &ending), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    mailbox_assert_empty(&ending.mailbox);
    pthread_key_delete(ending.key);
    assert_int_equal(fx_stats(fixture).workers, 2);
    fx_assert_counts(fixture, 1, 0, 0, 0, 0, 1);
    fx_done(fixture, &ending.left);
    assert_ok(schedq_try_pop(ending.worker, &popped));
    assert_string_equal(popped.name, "ns/last");
    assert_ok(schedq_done(ending.worker, popped.token));
    assert_ok(schedq_worker_unregister(ending.worker));
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        fx_test(a_child_has_no_use_for_its_parents_queues),
        fx_test(a_handler_that_interrupts_a_call_is_refused),
        fx_test(a_registered_worker_outlives_its_thread),
    };
    return fx_run_tests(argc, argv, tests);
}
