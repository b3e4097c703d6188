/*
 * Step 1: a queue, and threads that take jobs from it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <schedq/schedq.h>

enum { JOBS = 1000, THREADS = 4 };

struct runner {
    pthread_t thread;
    schedq_t *queue;
    unsigned jobs;
};

static void
give_up(const char *call, const char *words)
{
    fprintf(stderr, "%s: %s\n", call, words);
    exit(EXIT_FAILURE);
}

/* Takes jobs until the queue is closed and nothing is left. */
static void *
run(void *argument)
{
    struct runner *runner = argument;
    schedq_worker_t *worker;
    schedq_popped_t job;
    char why[200];

    /* the thread's own; it goes back by itself when the thread ends */
    if (schedq_worker_get(runner->queue, &worker, why, sizeof why) != SCHEDQ_OK) {
        give_up("schedq_worker_get", why);
    }
    while (schedq_pop(worker, &job) == SCHEDQ_OK) { /* waits for a job */
        runner->jobs++;
        schedq_done(worker, job.token); /* the job leaves the queue */
    }
    return NULL;
}

static void
add_jobs(schedq_t *queue)
{
    schedq_worker_t *worker;
    char why[200];

    if (schedq_worker_get(queue, &worker, why, sizeof why) != SCHEDQ_OK) {
        give_up("schedq_worker_get", why);
    }
    for (unsigned i = 0; i < JOBS; i++) {
        schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;
        char name[32];
        int length = snprintf(name, sizeof name, "job-%u", i);

        spec.object = i;                 /* 64 bits of ours, which pop returns */
        spec.priority = (int32_t)i % 10; /* the higher one is taken first */
        if (schedq_add(worker, name, (size_t)length, &spec, NULL) != SCHEDQ_OK) {
            give_up("schedq_add", schedq_worker_error(worker));
        }
    }
}

int
main(void)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    struct runner runners[THREADS];
    schedq_t *queue;
    char why[200];
    unsigned jobs = 0;

    if (schedq_create(&config, &queue, why, sizeof why) != SCHEDQ_OK) {
        give_up("schedq_create", why);
    }
    for (int i = 0; i < THREADS; i++) {
        runners[i] = (struct runner){.queue = queue};
        if (pthread_create(&runners[i].thread, NULL, run, &runners[i]) != 0) {
            give_up("pthread_create", "no thread");
        }
    }
    add_jobs(queue);
    schedq_close(queue); /* pops take what is left, then answer CLOSED */
    for (int i = 0; i < THREADS; i++) {
        pthread_join(runners[i].thread, NULL);
        jobs += runners[i].jobs;
    }
    printf("%d threads took %u jobs, each once\n", THREADS, jobs);
    if (schedq_destroy(queue, why, sizeof why) != SCHEDQ_OK) {
        give_up("schedq_destroy", why);
    }
    return EXIT_SUCCESS;
}
