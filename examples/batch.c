/*
 * A batch from beginning to end: threads, a check that rejects jobs, an event that brings them
 * back, errors that are tried again, and a way to know when all is done.
 *
 * Each job needs the one license for a moment. A thread that finds it taken rejects its job, which
 * is parked until another thread gives the license back. The first attempt of each tenth job is an
 * error: the job backs off.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <schedq/schedq.h>

#define JOBS 1000
#define THREADS 4

static schedq_t *queue;
static uint64_t no_license; /* the bit of the check that rejects */
static schedq_event_t license_back;
static atomic_int licenses = 1;
static atomic_int left = JOBS;

static void
must(schedq_status_t status, const char *words)
{
    if (status != SCHEDQ_OK) {
        fprintf(stderr, "%s: %s\n", schedq_status_text(status), words);
        exit(1);
    }
}

/* Asks for the words here, after the call: of two arguments C may evaluate either one first. */
static void
worker_must(schedq_worker_t *worker, schedq_status_t status)
{
    must(status, schedq_worker_error(worker));
}

static int
take_license(void)
{
    int free_ones = atomic_load(&licenses);

    while (free_ones > 0) {
        if (atomic_compare_exchange_weak(&licenses, &free_ones, free_ones - 1)) {
            return 1;
        }
    }
    return 0;
}

/* Gives the license back first; then tells the queue. */
static void
give_license_back(schedq_worker_t *worker)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;

    atomic_fetch_add(&licenses, 1);
    change.event = license_back;
    worker_must(worker, schedq_notify(worker, &change, NULL));
}

static void
try_job(schedq_worker_t *worker, schedq_popped_t *job)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    if (job->object % 10 == 0 && job->history.attempts == 1) {
        worker_must(worker, schedq_fail(worker, &job->token, &failure, NULL));
        return; /* no check rejected it: an error, it backs off */
    }
    if (!take_license()) {
        failure.unschedulable = no_license;
        worker_must(worker, schedq_fail(worker, &job->token, &failure, NULL));
        return; /* parked */
    }
    sched_yield(); /* here it would run */
    worker_must(worker, schedq_done(worker, job->token));
    give_license_back(worker);
    if (atomic_fetch_sub(&left, 1) == 1) {
        must(schedq_close(queue), "schedq_close"); /* the last one: every wait ends */
    }
}

/* A pop answers CLOSED if no job is active: so close the queue when the last job has ended. */
static void *
run_jobs(void *unused)
{
    schedq_worker_t *worker;
    schedq_popped_t job;
    char why[200];

    (void)unused;
    must(schedq_worker_get(queue, &worker, why, sizeof why), why);
    while (schedq_pop(worker, &job) == SCHEDQ_OK) {
        try_job(worker, &job);
    }
    return NULL;
}

static void
make_queue(void)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    schedq_interest_t interest = {.resource = "License", .actions = SCHEDQ_ACTION_ADD};
    char why[200];

    config.initial_backoff_ns = 1000000;
    config.max_backoff_ns = 1000000;
    must(schedq_create(&config, &queue, why, sizeof why), why);
    must(schedq_event_define(queue, "License", SCHEDQ_ACTION_ADD, NULL, &license_back, why,
                             sizeof why),
         why);
    plugin.name = "license";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    must(schedq_plugin_register(queue, &plugin, &no_license, why, sizeof why), why);
}

static void
add_jobs(void)
{
    schedq_worker_t *worker;
    char why[200];

    must(schedq_worker_get(queue, &worker, why, sizeof why), why);
    for (int i = 0; i < JOBS; i++) {
        schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
        char name[16];
        int length = snprintf(name, sizeof name, "job-%d", i);

        spec.object = (uint64_t)i;
        spec.priority = i % 3;
        worker_must(worker, schedq_add(worker, name, (size_t)length, &spec, NULL));
    }
}

int
main(void)
{
    pthread_t threads[THREADS];
    char why[200];

    make_queue();
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, run_jobs, NULL) != 0) {
            must(SCHEDQ_NOMEM, "pthread_create");
        }
    }
    add_jobs();
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    must(schedq_destroy(queue, why, sizeof why), why); /* refuses while there are jobs */
    printf("%d jobs done, %d left\n", JOBS, atomic_load(&left));
    return 0;
}
