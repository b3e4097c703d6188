/*
 * Step 2: a job that fits nowhere is parked, and the end of another job brings it back.
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <schedq/schedq.h>

struct job {
    const char *name;
    int32_t priority;
    uint32_t cores;
};

/* One machine with eight cores. */
static struct job jobs[] = {{"compile", 5, 6}, {"render", 3, 4}, {"backup", 1, 2}, {"index", 2, 4}};
static uint32_t free_cores = 8;
static const struct job *running[4];
static size_t running_count;

static void
give_up(const char *call, const char *words)
{
    fprintf(stderr, "%s: %s\n", call, words);
    exit(EXIT_FAILURE);
}

/* The hint: would this end of a job help that parked job? The queue asks it for each parked job. */
static schedq_hint_t
fits_now(void *ctx, uint64_t pod, uint64_t old_object, uint64_t new_object)
{
    (void)ctx;
    (void)old_object;
    (void)new_object;
    return jobs[pod].cores <= free_cores ? SCHEDQ_HINT_QUEUE : SCHEDQ_HINT_SKIP;
}

/* Tells the queue which of our checks can reject a job, and which event could change its mind. */
static uint64_t
register_cores(schedq_t *queue, schedq_event_t *job_ended)
{
    const schedq_interest_t interest = {
        .resource = "Job", .actions = SCHEDQ_ACTION_DELETE, .hint = fits_now};
    schedq_plugin_t plugin = SCHEDQ_PLUGIN_INIT;
    uint64_t bit;
    char why[200];

    if (schedq_event_define(queue, "Job", SCHEDQ_ACTION_DELETE, NULL, job_ended, why, sizeof why) !=
        SCHEDQ_OK) {
        give_up("schedq_event_define", why);
    }
    plugin.name = "cores";
    plugin.interests = &interest;
    plugin.interest_count = 1;
    if (schedq_plugin_register(queue, &plugin, &bit, why, sizeof why) != SCHEDQ_OK) {
        give_up("schedq_plugin_register", why);
    }
    return bit;
}

/* Takes jobs until none is active. */
static void
schedule(schedq_worker_t *worker, uint64_t cores)
{
    schedq_popped_t popped;

    while (schedq_try_pop(worker, &popped) == SCHEDQ_OK) {
        const struct job *job = &jobs[popped.object];
        schedq_failure_t failure = SCHEDQ_FAILURE_INIT;

        if (job->cores <= free_cores) {
            free_cores -= job->cores;
            running[running_count++] = job;
            printf("%s starts, %" PRIu32 " cores are left\n", job->name, free_cores);
            schedq_done(worker, popped.token);
            continue;
        }
        printf("%s does not fit\n", job->name);
        failure.unschedulable = cores; /* the plugin that said no */
        if (schedq_fail(worker, &popped.token, &failure, NULL) != SCHEDQ_OK) {
            give_up("schedq_fail", schedq_worker_error(worker));
        }
    }
}

/* The change is made first; then the queue is told. */
static void
end_first(schedq_worker_t *worker, schedq_event_t job_ended)
{
    const struct job *job = running[0];
    schedq_change_t change = SCHEDQ_CHANGE_INIT;
    schedq_result_t result;

    memmove(&running[0], &running[1], --running_count * sizeof running[0]);
    free_cores += job->cores;
    change.event = job_ended;
    if (schedq_notify(worker, &change, &result) != SCHEDQ_OK) {
        give_up("schedq_notify", schedq_worker_error(worker));
    }
    printf("%s ends, %" PRIu32 " cores are free: %" PRIu32 " jobs are tried again\n", job->name,
           free_cores, result.to_active + result.to_backoff);
}

int
main(void)
{
    schedq_config_t config = SCHEDQ_CONFIG_INIT;
    schedq_event_t job_ended;
    schedq_worker_t *worker;
    schedq_t *queue;
    uint64_t cores;
    char why[200];

    if (schedq_create(&config, &queue, why, sizeof why) != SCHEDQ_OK) {
        give_up("schedq_create", why);
    }
    cores = register_cores(queue, &job_ended); /* before the first worker */
    if (schedq_worker_get(queue, &worker, why, sizeof why) != SCHEDQ_OK) {
        give_up("schedq_worker_get", why);
    }
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        schedq_pod_spec_t spec = SCHEDQ_POD_SPEC_INIT;

        spec.object = i;
        spec.priority = jobs[i].priority;
        if (schedq_add(worker, jobs[i].name, strlen(jobs[i].name), &spec, NULL) != SCHEDQ_OK) {
            give_up("schedq_add", schedq_worker_error(worker));
        }
    }
    schedule(worker, cores);
    while (running_count > 0) {
        end_first(worker, job_ended);
        schedule(worker, cores);
    }
    if (schedq_destroy(queue, why, sizeof why) != SCHEDQ_OK) {
        give_up("schedq_destroy", why);
    }
    return EXIT_SUCCESS;
}
