/*
 * Training jobs that run whole or not at all: each is a group of pods, one for each GPU that it
 * needs. Two threads schedule them.
 *
 * The pods of all jobs come mixed, as from a slow network: no job is looked at before its last pod
 * is there. A thread takes all pods of a job in one pop. If the GPUs are enough for all of them,
 * the job runs, and gives them back; else it fails as a whole, and waits parked until GPUs come
 * back.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <schedq/schedq.h>

#define JOBS 6
#define GPUS 8
#define THREADS 2

static const uint32_t sizes[JOBS] = {4, 3, 8, 2, 6, 5};

static schedq_t *queue;
static uint64_t gpus_plugin; /* the bit of the check that rejects */
static schedq_event_t gpus_back;
static atomic_uint free_gpus; /* none until the machines are up */
static atomic_uint ran[JOBS]; /* pods that ran at once */
static atomic_int left = JOBS + 1;

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
take_gpus(uint32_t count)
{
    unsigned free_now = atomic_load(&free_gpus);

    while (free_now >= count) {
        if (atomic_compare_exchange_weak(&free_gpus, &free_now, free_now - count)) {
            return 1;
        }
    }
    return 0;
}

/* Gives the GPUs back first; then tells the queue. */
static void
give_gpus(schedq_worker_t *worker, uint32_t count)
{
    schedq_change_t change = SCHEDQ_CHANGE_INIT;

    atomic_fetch_add(&free_gpus, count);
    change.event = gpus_back;
    worker_must(worker, schedq_notify(worker, &change, NULL));
}

/* The hint: asked about the pods of a waiting job, one by one. One yes brings back all of them. */
static schedq_hint_t
enough_for_its_job(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx, (void)old_object, (void)new_object;
    return atomic_load(&free_gpus) >= sizes[pod] ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
}

static void
end_of_one(void)
{
    if (atomic_fetch_sub(&left, 1) == 1) {
        must(schedq_close(queue), "schedq_close"); /* the last one: every wait ends */
    }
}

static void
try_job(schedq_worker_t *worker, schedq_popped_group_t *job, schedq_popped_t *pods, size_t count)
{
    schedq_group_end_t end = SCHEDQ_GROUP_END_INIT;
    uint32_t size = (uint32_t)count;
    int fits = take_gpus(size);

    for (size_t i = 0; i < count; i++) {
        schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

        failure.unschedulable = gpus_plugin;
        worker_must(worker, fits ? schedq_done(worker, pods[i].token)
                                 : schedq_fail(worker, &pods[i].token, &failure, NULL));
    }
    end.outcome = fits ? SCHEDQ_GROUP_PLACED : SCHEDQ_GROUP_REJECTED;
    worker_must(worker, schedq_group_done(worker, &job->token, &end, NULL));
    if (fits) {
        atomic_fetch_add(&ran[job->object], size);
        sched_yield(); /* here it would run */
        give_gpus(worker, size);
        end_of_one();
    }
}

static void *
schedule(void *argument)
{
    schedq_worker_t *worker;
    schedq_popped_group_t job;
    schedq_popped_t pods[GPUS];
    size_t count;

    (void)argument;
    must(schedq_worker_get(queue, &worker, NULL, 0), "schedq_worker_get");
    while (schedq_pop_group_until(worker, SCHEDQ_NO_DEADLINE, &job, pods, GPUS, &count) ==
           SCHEDQ_OK) {
        if (job.group != 0) {
            try_job(worker, &job, pods, count);
        } else { /* a pod that is in no group comes by itself */
            worker_must(worker, schedq_done(worker, pods[0].token));
            end_of_one();
        }
    }
    return NULL;
}

static void
make_queue(void)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    const schedq_interest_t interest = {"GPU", SCHEDQ_ACTION_ADD, 0, enough_for_its_job};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    char why[200] = "";

    config.max_backoff_ns = 0; /* a job that failed may be tried again at once */
    must(schedq_create(&config, &queue, why, sizeof why), why);
    must(schedq_event_define(queue, "GPU", SCHEDQ_ACTION_ADD, NULL, &gpus_back, why, sizeof why),
         why);
    plugin.name = "GPUs";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    must(schedq_plugin_register(queue, &plugin, &gpus_plugin, why, sizeof why), why);
}

/* A job's group is 1 + its number. */
static void
add_jobs(schedq_worker_t *worker)
{
    schedq_group_spec_t group = SCHEDQ_GROUP_SPEC_INIT;
    schedq_pod_spec_t pod = SCHEDQ_POD_SPEC_INIT;
    char name[32];

    for (uint32_t job = 0; job < JOBS; job++) {
        group.quorum = sizes[job];
        group.object = job;
        worker_must(worker, schedq_group_add(worker, 1 + job, &group, NULL));
    }
    for (uint32_t rank = 0; rank < GPUS; rank++) {
        for (uint32_t job = 0; job < JOBS; job++) {
            if (rank < sizes[job]) {
                int length = snprintf(name, sizeof name, "job-%u/%u", job, rank);

                pod.object = job;
                pod.group = 1 + job;
                worker_must(worker, schedq_add(worker, name, (size_t)length, &pod, NULL));
            }
        }
    }
    pod.group = 0;
    worker_must(worker, schedq_add(worker, "report", 6, &pod, NULL));
}

int
main(void)
{
    pthread_t threads[THREADS];
    schedq_worker_t *worker;
    char why[200] = "";

    make_queue();
    must(schedq_worker_get(queue, &worker, why, sizeof why), why);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, schedule, NULL) != 0) {
            return 1;
        }
    }
    add_jobs(worker);
    /* Of a group that waits, one record counts. */
    while (__atomic_load_n(&schedq_words(queue)->parked, __ATOMIC_ACQUIRE) < JOBS) {
        sched_yield();
    }
    printf("%d jobs wait for GPUs\n", JOBS);
    give_gpus(worker, GPUS);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
    }
    for (int job = 0; job < JOBS; job++) {
        printf("job %d ran on %u GPUs at once\n", job, atomic_load(&ran[job]));
    }
    must(schedq_destroy_with_pods(queue, why, sizeof why), why);
    return 0;
}
