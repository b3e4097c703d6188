/*
 * An end in the middle: threads stop soon, and no job is lost. What was not done is kept, wherever
 * it waited.
 *
 * 1 A flag says that no thread takes another job. schedq_close ends the waits, and refuses adds.
 * 2 Each thread ends the job that it has, by schedq_done or schedq_fail. Then nothing is in flight.
 * 3 A snapshot names all that are left: active, backing off, parked. They are stored, and deleted.
 * 4 schedq_destroy would refuse if a job were left.
 *
 * Each third job is rejected and parked, the first attempt of each fifth is an error and backs off.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <schedq/schedq.h>

#define JOBS 1000
#define THREADS 4
#define ENOUGH 200 /* so many are done when the program is told to stop */

enum { UNKNOWN, DONE, KEPT };

static schedq_t *queue;
static uint64_t too_large; /* the bit of the check that rejects */
static atomic_int stopping, done;
static atomic_int became[JOBS];

/* What is left, to be stored: a later run would add it again. */
static struct {
    int count;
    schedq_pod_t pods[JOBS];
    uint64_t objects[JOBS];
} kept;

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

static void
note(uint64_t job, int what)
{
    if (atomic_exchange(&became[job], what) != UNKNOWN) {
        must(SCHEDQ_INVALID, "a job was done twice, or done and kept");
    }
}

/* In a signal handler only the flag may be set: some thread then closes the queue. */
static void
stop(void)
{
    atomic_store(&stopping, 1);
    must(schedq_close(queue), "schedq_close");
}

static void
try_job(schedq_worker_t *worker, schedq_popped_t *job)
{
    schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

    failure.unschedulable = job->object % 3 == 0 ? too_large : 0;
    if (failure.unschedulable != 0 || (job->object % 5 == 0 && job->history.attempts == 1)) {
        worker_must(worker, schedq_fail(worker, &job->token, &failure, NULL));
        return;
    }
    worker_must(worker, schedq_done(worker, job->token));
    note(job->object, DONE);
    if (atomic_fetch_add(&done, 1) + 1 == ENOUGH) {
        stop();
    }
}

/* After schedq_close pops go on while there are active jobs: so the flag is asked first. */
static void *
run_jobs(void *unused)
{
    schedq_worker_t *worker;
    schedq_popped_t job;
    char why[200];

    (void)unused;
    must(schedq_worker_get(queue, &worker, why, sizeof why), why);
    while (!atomic_load(&stopping) && schedq_pop(worker, &job) == SCHEDQ_OK) {
        try_job(worker, &job);
    }
    return NULL;
}

static void
make_queue(void)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    char why[200];

    must(schedq_create(&config, &queue, why, sizeof why), why);
    plugin.name = "size";
    must(schedq_plugin_register(queue, &plugin, &too_large, why, sizeof why), why);
}

/* CLOSED: the program was told to stop while it was adding. That job, and what follows, is kept. */
static void
add_jobs(schedq_worker_t *worker)
{
    for (uint64_t i = 0; i < JOBS; i++) {
        schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
        char name[16];
        int length = snprintf(name, sizeof name, "job-%d", (int)i);

        spec.object = i;
        schedq_status_t status = schedq_add(worker, name, (size_t)length, &spec, NULL);

        if (status == SCHEDQ_CLOSED) {
            note(i, KEPT);
        } else {
            worker_must(worker, status);
        }
    }
}

/* A visitor must not call the queue. */
static int
keep(void *ctx, const schedq_pod_info_t *pod)
{
    (void)ctx;
    kept.pods[kept.count] = pod->pod;
    kept.objects[kept.count++] = pod->object;
    return 1;
}

static void
keep_what_is_left(schedq_worker_t *worker)
{
    worker_must(worker, schedq_snapshot(worker, keep, NULL));
    for (int i = 0; i < kept.count; i++) {
        note(kept.objects[i], KEPT);
        worker_must(worker, schedq_delete(worker, kept.pods[i], NULL));
    }
}

int
main(void)
{
    pthread_t threads[THREADS];
    schedq_worker_t *worker;
    char why[200];
    int ended[3] = {0, 0, 0};

    make_queue();
    must(schedq_worker_get(queue, &worker, why, sizeof why), why);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, run_jobs, NULL) != 0) {
            must(SCHEDQ_NOMEM, "pthread_create");
        }
    }
    add_jobs(worker);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    keep_what_is_left(worker);
    must(schedq_destroy(queue, why, sizeof why), why); /* refuses while there are jobs */
    for (int i = 0; i < JOBS; i++) {
        ended[atomic_load(&became[i])]++;
    }
    printf("%d jobs: %d are neither done nor kept\n", ended[DONE] + ended[KEPT], ended[UNKNOWN]);
    return 0;
}
